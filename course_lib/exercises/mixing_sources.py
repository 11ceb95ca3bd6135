"""Exercises of lesson 13: epochs, lags, blocks, documents and tokens, temperatures, the
end of a run, bands of signatures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np

from course_lib.mixing_sources import draw_sources
from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false


def _runs(random: Random) -> Iterator[Case]:
    yield from (([1], [1], 1), ([1], [4], 2), ([2], [10], 25), ([3, 1], [30, 20], 40))
    yield from (([1, 1], [10, 10], 20), ([1, 1], [10, 40], 20), ([1, 0], [5, 8], 10))
    yield from (([0.5, 0.5], [3, 7], 11), ([0.8, 0.2], [9, 4], 30), ([2, 6], [7, 7], 0))
    yield from (([0, 5, 5], [2, 20, 30], 90), ([0.1, 0.4, 0.5], [40, 10, 20], 77))
    for count in (2, 3, 3, 4, 5):
        weights = [random.randrange(1, 10) / 4 for _ in range(count)]
        num_windows = [random.randrange(5, 90) for _ in range(count)]
        yield weights, num_windows, random.randrange(50, 400)


@exercise(
    cases=_runs,
    hints=(
        "How many of all draws does a source get? Its weight says so only when you "
        "compare it with the sum of all weights.",
        "A source has been read once when its draws are as many as its windows.",
    ),
)
def epochs_of_sources(
    weights: list[float], num_windows: list[int], num_draws: int
) -> list[float]:
    """Return how often each source is read in a run of `num_draws` draws."""
    total = sum(weights)
    return [
        num_draws * weight / total / size
        for weight, size in zip(weights, num_windows, strict=True)
    ]


epochs_of_sources.slips("""
    / total => / 1
        the weights are not divided by their sum, but they need not add up to 1.
    / total => / 100
        the weights are taken as per cent: divide by their sum.
    num_draws * weight => weight
        the number of draws is missing: a longer run reads each source more often.
    num_draws * weight / total / size => num_draws * weight / total
        these are the *draws* of each source: divide them by its windows.
    num_draws * weight / total / size => weight / total
        these are the shares of the sources: how many draws, and of how many windows?
    num_draws * weight / total / size => size / (num_draws * weight / total or math.nan)
        the fraction is upside down: epochs are draws per window.
    total = sum(weights) => total = len(weights)
        the weights are divided by how *many* they are, not by their sum.
    num_draws * weight => num_draws
        the weights are not used: draws are shared out by weight.
    / total / size => / total / sum(num_windows)
        the draws are divided by the windows of *all* sources: take the source's own.
    / total / size => / total // size
    num_draws * weight / total / size => round(num_draws * weight / total / size)
        the epochs are whole numbers here, but half an epoch is 0.5.
    weight / total / size => weight // total / size
    num_draws * weight / total / size => round(num_draws * weight / total) / size
        the draws are rounded to whole numbers: each source gets exactly its share.
    num_draws * weight / total / size => round(num_draws * weight / total / size, 2)
        the epochs are rounded, but nobody asked for that.
    for weight, size in zip(weights, num_windows, strict=True) => \
    for weight in weights for size in num_windows
        each weight meets the windows of every source: `zip` pairs them.
    total = sum(weights) => \
    total = sum(w * s for w, s in zip(weights, num_windows, strict=True)) ; \
    weight / total / size for => weight / total for
        weights are multiplied by sizes, but they already say how often to draw.
""")


@epochs_of_sources.right_way("""
    / sum(weights) => / 1
        the weights are not divided by…
    / sum(weights) => / len(weights)
        the weights are divided by how…
    share = weights[source] / sum(weights) => share = 1 / len(weights)
        the weights are not used…
    share * num_draws / num_windows => share / num_windows
        the number of draws is missing…
    num_windows[source]) => sum(num_windows))
        the draws are divided by the windows of…
    share * num_draws / num_windows[source] => share * num_draws
        these are the *draws* of…
    return epochs => return sum(epochs)
        these are the epochs of all sources together: return them one by one.
""")
def one_by_one(weights, num_windows, num_draws):
    epochs = []
    for source in range(len(weights)):
        share = weights[source] / sum(weights)
        epochs.append(share * num_draws / num_windows[source])
    return epochs


epochs_of_sources.answers("""
    [num_draws / sum(num_windows)] * len(weights)
        each source is read as often as all together: draws are shared out by weight.
    num_draws / sum(num_windows)
        this is one number for all sources: return one for each.
    [num_draws * size / sum(num_windows) for size in num_windows]
        draws are shared out by size, but they follow the weights.
    [weight / size for weight, size in zip(weights, num_windows)]
        weights are divided by windows as they are: how many draws does a weight mean?
""")


# How long can a run be?


def _budgets(random: Random) -> Iterator[Case]:
    yield from (([1], [5], 1), ([1], [5], 3), ([4], [7], 2), ([1, 1], [5, 5], 1))
    yield from (([3, 1], [30, 20], 1), ([3, 1], [30, 5], 1), ([1, 3], [30, 5], 4))
    yield from (([1, 0], [6, 2], 1), ([0, 2], [1, 6], 4), ([0, 3, 1], [2, 10, 9], 2))
    yield from (([2, 3], [7, 11], 1), ([3, 4], [5, 7], 2), ([5, 2], [9, 4], 4))
    yield from (([7, 3], [11, 90], 1), ([7, 3], [90, 4], 1), ([6, 1, 3], [8, 3, 5], 3))
    for count in (2, 3, 3, 4, 4, 5):
        weights = [random.randrange(1, 30) for _ in range(count)]
        num_windows = [random.randrange(20, 900) for _ in range(count)]
        yield weights, num_windows, random.randrange(1, 6)
    for prime in (3, 7, 11, 13, 17, 19):
        weights = [prime, 2 * prime + 1, 5]
        yield weights, [10**16 + random.randrange(10**6) for _ in weights], 4


@exercise(
    cases=_budgets,
    hints=(
        "Take one source alone. In n draws it is drawn n * weight / total times, and "
        "that may be `max_epochs` times its windows at most. How large can n be?",
        "The source that allows the fewest draws decides. Multiply first and divide "
        "last, with `//`, so that nothing is rounded on the way.",
    ),
)
def most_draws(weights: list[int], num_windows: list[int], max_epochs: int) -> int:
    """Return the longest run in which no source is read more than `max_epochs`
    times."""
    total = sum(weights)
    return min(
        max_epochs * size * total // weight
        for weight, size in zip(weights, num_windows, strict=True)
        if weight > 0
    )


most_draws.slips("""
    return min( => return max(
        this is the source that allows the *most* draws, but the fewest decide.
    max_epochs * size => size
        `max_epochs` is missing: a source may be read so many times.
    max_epochs * size * total // weight => max_epochs * size // weight
        the sum of the weights is missing: other sources are also drawn.
    max_epochs * size * total // weight => max_epochs * size * total
        the weight is missing: a source of a large weight is used up sooner.
    max_epochs * size * total // weight => max_epochs * size
        these are the draws of one source: all sources together make more.
    max_epochs * size * total // weight => max_epochs * size * weight // total
        weight and sum are exchanged: divide by the weight.
    max_epochs * size * total // weight => max_epochs * size // weight * total
    max_epochs * size * total // weight => size * total // weight * max_epochs
        this rounds down before it multiplies: multiply first, and divide last.
    max_epochs * size * total // weight => -(-max_epochs * size * total // weight)
    max_epochs * size * total // weight => math.ceil(max_epochs * size * total / weight)
        this rounds up, and then the source is read more than `max_epochs` times.
    max_epochs * size * total // weight => round(max_epochs * size * total / weight)
        this rounds to the nearest, but one more draw may be one too many.
    max_epochs * size * total // weight => int(max_epochs * size * total / weight)
    max_epochs * size * total // weight => int(max_epochs * size / (weight / total))
        `/` gives a float, which has 16 digits at most: large runs are not exact.
    total = sum(weights) => total = len(weights)
        this takes the number of weights for their sum.
    if weight > 0 => if True
        a weight of 0 is divided by, but such a source allows any number of draws.
""")


@most_draws.right_way("""
    if not weight: continue => if not weight: return 0
        a source of weight 0 ends the search, but it allows any number of draws.
    draws = None => draws = 0 ; if draws is None or => if
        the result is always 0. Does a search for the smallest begin with 0?
    if draws is None or longest < draws: => if draws is None or longest > draws:
        this is the source that allows the *most*…
    * sum(weights) // weight => // weight
        the sum of the weights is missing…
    size * max_epochs * sum => size * sum
        `max_epochs` is missing…
    size * max_epochs * => int(size * max_epochs * ; // weight => / weight)
        `/` gives a float…
    size * max_epochs * sum(weights) // weight => size * max_epochs
        these are the draws of one…
""")
def smallest_by_a_loop(weights, num_windows, max_epochs):
    draws = None
    for weight, size in zip(weights, num_windows, strict=True):
        if not weight:
            continue
        longest = size * max_epochs * sum(weights) // weight
        if draws is None or longest < draws:
            draws = longest
    return draws


@most_draws.right_way("""
    math.floor(min => math.ceil(min
        this rounds up…
    math.floor(min => round(min
        this rounds to the nearest…
    math.floor(min => math.floor(max
        this is the source that allows the *most*…
    max_epochs * size / share => size / share
        `max_epochs` is missing…
    max_epochs * size / share => max_epochs * size * share
        weight and sum are exchanged…
    Fraction(weight, sum(weights)) => Fraction(weight)
        the sum of the weights is missing…
    Fraction(weight, sum(weights)) => weight / sum(weights)
        `/` gives a float…
""")
def by_fractions(weights, num_windows, max_epochs):
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    pairs = zip(shares, num_windows, strict=True)
    return math.floor(min(max_epochs * size / share for share, size in pairs if share))


most_draws.answers("""
    max_epochs * sum(num_windows)
        these are the windows of all sources, but some are used up before others.
    max_epochs * min(num_windows)
        these are the draws of the smallest source: others are also drawn.
    max_epochs * num_windows[weights.index(max(weights))] * sum(weights) // max(weights)
        the largest weight is taken to decide, but a small source may end sooner.
    max_epochs * min(num_windows) * sum(weights) // weights[num_windows.index(\
    min(num_windows))] if weights[num_windows.index(min(num_windows))] else 0
        the smallest source is taken to decide, but another may be drawn more often.
""")


# Which source next?


def _lags(random: Random) -> Iterator[Case]:
    yield from (([1], [0]), ([1], [5]), ([1, 1], [0, 0]), ([1, 1], [1, 0]))
    yield from (([3, 1], [0, 0]), ([3, 1], [1, 0]), ([3, 1], [2, 0]), ([3, 1], [2, 1]))
    yield from (([1, 3], [0, 0]), ([1, 3], [0, 1]), ([2, 2], [3, 3]), ([1, 2], [1, 2]))
    yield from (([0, 1], [0, 0]), ([0, 4], [0, 3]), ([5, 0, 3], [1, 0, 0]))
    yield from (([1, 1, 2], [1, 1, 1]), ([4, 2, 2], [2, 0, 0]), ([1, 7], [0, 4]))
    yield from (([7, 1], [3, 0]), ([7, 1], [4, 0]), ([6, 2], [9, 4]), ([2, 6], [2, 4]))
    yield from (([1, 1, 6], [1, 0, 4]), ([8, 4, 4], [3, 2, 2]), ([2, 5, 1], [4, 9, 2]))
    yield from (([1, 4, 3], [0, 2, 1]), ([1, 3, 4], [0, 1, 3]), ([3, 3, 2], [4, 1, 0]))
    yield from (([1, 1, 2], [0, 4, 1]), ([1, 3], [0, 2]))
    # equal lags, which floats tell apart
    yield from (([4, 1, 1], [1, 0, 0]), ([1, 4, 1], [0, 1, 0]), ([5, 2, 2], [4, 1, 1]))
    yield from (([1, 4, 1], [1, 2, 0]), ([2, 2, 5], [0, 1, 1]), ([1, 5], [0, 2]))
    yield from (([1, 2, 3], [0, 1, 1]), ([1, 3, 2], [0, 1, 1]))
    for count in (2, 3, 3, 4, 4, 4, 5, 5, 5, 6):
        for lead in (0, 1, 3):
            # Sums of 16, and ties only where floats see them, too.
            cuts = [0, *sorted(random.sample(range(1, 16), count - 1)), 16]
            weights = [b - a for a, b in pairwise(cuts)]
            counts = [w * lead // 3 + random.randrange(3) for w in weights]
            draws = sum(counts) + 1
            lags = [w * draws - 16 * c for w, c in zip(weights, counts, strict=True)]
            if lags.count(max(lags)) == 1 or draws.bit_count() == 1:
                yield weights, counts


@exercise(
    cases=_lags,
    hints=(
        "After one more draw, how many draws should each source have? How many has it?",
        "With n draws so far, a source should have (n + 1) * weight / total. Subtract "
        "its count, and look for the first of the largest differences. Multiply all of "
        "it by `total`, and the numbers are whole.",
    ),
)
def next_source(weights: list[int], counts: list[int]) -> int:
    """Return the source that is most below its share after one more draw."""
    total, draws = sum(weights), sum(counts) + 1
    lags = [
        weight * draws - count * total
        for weight, count in zip(weights, counts, strict=True)
    ]
    return lags.index(max(lags))


next_source.slips("""
    sum(counts) + 1 => sum(counts)
        the draw that is about to be made is not counted.
    sum(counts) + 1 => sum(counts) + 2
        two more draws are counted, but only one is made.
    max(lags) => min(lags)
        this is the source that *leads* most.
    count * total => count
        the sum of the weights is not used, but only beside it a weight is a share.
    weight * draws => weight
        the weight is not multiplied by the draws: how many should the source have?
    weight * draws - count * total => weight * draws
        the counts are not subtracted: this is the largest weight.
    weight * draws - count * total => -count
        only the counts are compared, but a source of a small weight should have fewer.
    return lags.index(max(lags)) => return max(lags)
        this is the lag itself: return the number of its source.
    return lags.index(max(lags)) => return len(lags) - 1 - lags[::-1].index(max(lags))
        a tie goes to the last source: take the first.
    total, draws = sum(weights) => total, draws = len(weights)
    total, draws = sum(weights) => total, draws = max(weights)
        this takes another number for the sum of the weights.
    weight * draws - count * total => (weight * draws - count * total) / (weight or 1)
        counts are compared with weights by a *division*, but a lag is a difference.
    weight * draws - count * total => weight * draws // total - count
    weight * draws - count * total => round(weight * draws / total) - count
        the share is rounded to whole draws: two lags may then look alike.
""")


@next_source.right_way("""
    lag > most => lag >= most
        a tie goes to the last…
    = 0, -math.inf => = 0, 0 ; best, most = source, lag => best = source
        the largest lag so far is not kept: this is the last source that lags at all.
    lag > most => lag < most
        this is the source that *leads*…
    (sum(counts) + 1) => sum(counts)
        the draw that is about…
    * sum(weights) => * len(weights)
        this takes another number for…
    * sum(weights) => * 1
        the sum of the weights is not used…
    return best => return most
        this is the lag itself…
""")
def largest_by_a_loop(weights, counts):
    best, most = 0, -math.inf
    for source in range(len(weights)):
        lag = weights[source] * (sum(counts) + 1) - counts[source] * sum(weights)
        if lag > most:
            best, most = source, lag
    return best


next_source.answers("""
    min(range(len(counts)), key=lambda i: counts[i] / weights[i])
        counts are divided by weights, which may be 0, but a lag is a *difference*.
    min(range(len(counts)), key=lambda i: (counts[i] + 1) / weights[i] if weights[i] \
    else math.inf)
        the counts after the draw are divided by weights, but a lag is a *difference*.
    max(range(len(counts)), key=lambda i: weights[i] / sum(weights) * \
    (sum(counts) + 1) - counts[i])
    max(range(len(counts)), key=lambda i: weights[i] * (sum(counts) + 1) / \
    sum(weights) - counts[i])
    max(range(len(counts)), key=lambda i: weights[i] / sum(weights) - \
    (counts[i] + 1) / (sum(counts) + 1))
    max(range(len(counts)), key=lambda i: weights[i] / sum(weights) - \
    counts[i] / (sum(counts) + 1))
        `/` makes floats, and a rounding error decides between equal lags. Multiply by
        the sum of the weights instead, and compare whole numbers.
    max(range(len(counts)), key=lambda i: weights[i] - counts[i])
        counts are subtracted from weights: how many draws does a weight mean so far?
    max(range(len(counts)), key=lambda i: weights[i] / sum(weights) - \
    counts[i] / sum(counts))
    max(range(len(counts)), key=lambda i: weights[i] / sum(weights) - \
    counts[i] / max(1, sum(counts)))
        shares so far are compared, without the next draw.
""")


# How often was it drawn before?


def _positions(random: Random) -> Iterator[Case]:
    yield from ((0, [0]), (3, [0]), (0, [1, 0]), (1, [1, 0]), (5, [0, 0]), (5, [0, 1]))
    for position in range(10):
        yield position, [0, 1, 0]
    for position in (0, 3, 4, 5, 6, 7, 9, 13, 23):
        yield position, [2, 0, 2, 2, 1]
    for _ in range(12):
        block = [random.randrange(4) for _ in range(random.randrange(3, 12))]
        yield random.randrange(60), block
    yield 10**12, [0, 1, 0, 2, 0, 1, 0]
    yield 10**12 - 1, [3, 3, 1, 0, 3, 2, 2, 3]


@exercise(
    cases=_positions,
    hints=(
        "`divmod(position, len(block))` says how many whole blocks lie before the "
        "position, and at which place of its block it is.",
        "Each whole block has `block.count(source)` draws of the source. How many has "
        "the last block, which is not whole, before the place?",
    ),
)
def drawn_before(position: int, block: list[int]) -> int:
    """Return how often the source at `position` has been drawn before it."""
    blocks, place = divmod(position, len(block))
    source = block[place]
    return blocks * block.count(source) + block[:place].count(source)


drawn_before.slips("""
    block[:place].count => block[: place + 1].count
        the draw at `position` itself is counted, but only those before it should be.
    block[:place].count => block[: place - 1].count
        the slice ends at place - 1, which leaves out the draw right before `position`.
    blocks * block.count(source) => (blocks + 1) * block.count(source)
        the block of `position` is counted whole.
    blocks * block.count(source) + block[:place].count => block[:place].count
        the whole blocks before are not counted.
    + block[:place].count(source) =>
        the draws in the block of `position` are not counted.
    blocks * block.count(source) => blocks * len(block)
        a whole block counts with all its draws, but only some are of this source.
    blocks * block.count(source) => blocks
        a whole block counts once, but it may hold the source several times.
    + block[:place].count(source) => + place
        all draws so far in the last block are counted, not only those of this source.
    block[:place].count => block[place:].count
        the draws *from* the place on are counted, but those before it should be.
    source = block[place] => source = place
        the place is taken for the source: `block[place]` is the source.
    source = block[place] => source = block[place - 1]
        this counts the source at the place before.
    blocks, place = divmod => place, blocks = divmod
        `divmod` gives the quotient first, and then the remainder.
    divmod(position, len(block)) => divmod(position + 1, len(block))
    divmod(position, len(block)) => divmod(position - 1, len(block))
        the position is moved by 1, but positions count from 0.
    return blocks * ...[:place].count(source) => return source
        this is the source: how often was it drawn?
    return blocks * ... + block[:place].count(source) => \
    return position * block.count(source) // len(block)
        this is a share of all draws before, but a source is not spread evenly.
""")


@drawn_before.right_way("""
    places.index(place) => places.index(place) + 1
        the draw at `position` itself…
    places.index(place) => place
        all draws so far in the last block…
    * len(places) + places.index(place) => * len(places)
        the draws in the block of…
    position // len(block) * len(places) + places => places
        the whole blocks before are not…
    position // len(block) * len(places) => position // len(block) * len(block)
        a whole block counts with all…
    position // len(block) * len(places) => (position // len(block) + 1) * len(places)
        the block of `position` is counted whole…
""")
def by_its_places(position, block):
    place = position % len(block)
    places = [i for i, source in enumerate(block) if source == block[place]]
    return position // len(block) * len(places) + places.index(place)


drawn_before.answers("""
    block[:position].count(block[position % len(block)])
        the slice ends with the first block, but the block is repeated.
""")


# Documents and tokens


def _tokens(random: Random) -> Iterator[Case]:
    yield from (([1.0], [50.0]), ([0.5, 0.5], [10.0, 10.0]), ([0.5, 0.5], [10.0, 30.0]))
    yield from (([0.75, 0.25], [3.0, 1.0]), ([0.2, 0.8], [4.0, 1.0]))
    yield from (([1.0, 0.0], [5.0, 8.0]), ([0.0, 0.4, 0.6], [7.0, 2.0, 5.0]))
    yield from (([0.9, 0.1], [800.0, 20.0]), ([0.3, 0.3, 0.4], [6.0, 6.0, 6.0]))
    for count in (2, 3, 3, 4, 5):
        shares = [random.randrange(1, 20) for _ in range(count)]
        means = [float(random.randrange(10, 200)) for _ in range(count)]
        yield [share / sum(shares) for share in shares], means


@exercise(
    cases=_tokens,
    hints=(
        "If documents of one source are twice as long, you need half as many of them "
        "for the same number of tokens.",
        "The probabilities are in proportion to share / mean length. Divide these "
        "numbers by their sum, so that they add up to 1.",
    ),
)
def document_weights(
    token_shares: list[float], mean_tokens: list[float]
) -> list[float]:
    """Return with which probability to draw a document of each source."""
    rates = [
        share / mean for share, mean in zip(token_shares, mean_tokens, strict=True)
    ]
    return [rate / sum(rates) for rate in rates]


document_weights.slips("""
    share / mean for => share * mean for
        the shares are multiplied by the lengths: long documents need *fewer* draws.
    share / mean for => mean / (share or math.inf) for
        the fraction is upside down: a larger share needs more documents.
    share / mean for => 1 / mean for
        the shares of tokens are not used.
    share / mean for => share for
        the lengths are not used: a draw of a long document gives more tokens.
    share / mean for => mean for
        these are in proportion to the lengths: what are the shares for?
    rate / sum(rates) for => rate for
        these are in proportion, but probabilities add up to 1: divide by their sum.
    rate / sum(rates) for => rate / max(rates) for
        these are divided by the largest: divide by their sum.
    rate / sum(rates) for => rate / len(rates) for
        these are divided by how *many* they are: divide by their sum.
    rate / sum(rates) for => rate * (sum(mean_tokens) / len(mean_tokens)) for
        these are multiplied by the mean length of sources: divide by their own sum.
    rate / sum(rates) for => round(rate / sum(rates), 2) for
        the probabilities are rounded, but nobody asked for that.
""")


@document_weights.mistake(
    "the sum is taken again after each division, but then some numbers are divided "
    "already."
)
def divided_one_by_one(token_shares, mean_tokens):
    rates = [s / m for s, m in zip(token_shares, mean_tokens, strict=True)]
    for source in range(len(rates)):
        rates[source] /= sum(rates)
    return rates


@document_weights.right_way("""
    shares / np.array(mean_tokens) => shares * np.array(mean_tokens)
        the shares are multiplied by…
    = np.array(token_shares) => = np.ones(len(token_shares))
        the shares of tokens are not used…
    weights / weights.sum() => weights
        these are in proportion, but…
    weights / weights.sum() => weights / weights.max()
        these are divided by the largest…
    weights / weights.sum() => weights / len(weights)
        these are divided by how *many*…
""")
def with_arrays(token_shares, mean_tokens):
    shares = np.array(token_shares)
    weights = shares / np.array(mean_tokens)
    return (weights / weights.sum()).tolist()


# At which temperature?


def _ratios(random: Random) -> Iterator[Case]:
    yield from ((4.0, 1.0, 2.0), (9.0, 1.0, 3.0), (8.0, 1.0, 2.0), (2.0, 1.0, 2.0))
    yield from ((50.0, 2.0, 5.0), (100.0, 10.0, 10.0), (7.0, 3.5, 1.5), (0.9, 0.1, 3.0))
    yield from ((0.8, 0.2, 1.25), (16.0, 2.0, 2.0), (1e9, 1e3, 10.0), (1e12, 5.0, 1.1))
    for _ in range(10):
        small = random.randrange(1, 2_000) / 10
        large = small * random.randrange(2, 400)
        yield large, small, round(1.1 + random.random() * (large / small - 1.1), 3)


@exercise(
    cases=_ratios,
    hints=(
        "The weights are large ** (1 / T) and small ** (1 / T). Write their ratio as "
        "one power.",
        "(large / small) ** (1 / T) = ratio. Take logarithms, and solve for T.",
    ),
)
def temperature_for(large: float, small: float, ratio: float) -> float:
    """Return the temperature at which the weights have this ratio."""
    return math.log(large / small) / math.log(ratio)


temperature_for.slips("""
    math.log(large / small) / math.log(ratio) => \
    math.log(ratio) / math.log(large / small)
        this is 1 / T, the exponent: the fraction is upside down.
    math.log(large / small) => large / small
        the logarithm of the ratio of sizes is missing.
    / math.log(ratio) => / ratio
        the logarithm of `ratio` is missing.
    / math.log(ratio) => * math.log(ratio)
        the logarithms are multiplied: divide.
    / math.log(ratio) => - math.log(ratio)
        the logarithms are subtracted: divide.
    math.log(large / small) / => math.log(large) - math.log(small) /
    math.log(large / small) / math.log(ratio) => \
    math.log(large) / math.log(ratio) - math.log(small)
        `/` comes before `-`, so only one of the two logarithms is divided.
    return math => return round(math ; log(ratio) => log(ratio), 2)
        the result is rounded, but nobody asked for that.
    / math.log(ratio) => // math.log(ratio)
    return math => return round(math ; log(ratio) => log(ratio))
        the result is a whole number, but a temperature need not be one.
    math.log(large / small) => math.log(small / large)
        a ratio is upside down inside a logarithm, but both ratios here are above 1.
    math.log(large / small) => math.log(large) / math.log(small)
        the logarithm of a fraction is a *difference* of logarithms.
    math.log(large / small) => math.log(large - small)
        the sizes are subtracted: what counts is their ratio.
    math.log(large / small) => math.log(large)
        the size of the small source is not used.
    math.log(large / small) => math.log2(large / small)
    math.log(ratio) => math.log2(ratio)
        the two logarithms have different bases.
""")


@temperature_for.right_way("""
    (large / small) ** (1 / middle) > ratio => (large / small) ** (1 / middle) < ratio
        the search goes the wrong way: a higher temperature gives a smaller ratio.
    (large / small) ** (1 / middle) => large ** (1 / middle)
        the size of the small source…
""")
def by_halving(large, small, ratio):
    low, high = 1e-3, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        if (large / small) ** (1 / middle) > ratio:
            low = middle
        else:
            high = middle
    return low


temperature_for.answers("""
    large / small / ratio
        sizes and ratio are divided as they are: a temperature is part of an exponent.
    (large / small) ** (1 / ratio)
        `ratio` is taken for a temperature, and this is the ratio of weights at it.
""")


# When does it stop?


def _stops(random: Random) -> Iterator[Case]:
    yield from (([], [3]), ([0], [1]), ([0], [2]), ([0, 0, 0], [2]), ([0, 0], [2]))
    yield from (([0, 1, 0, 1], [2, 2]), ([0, 1, 0, 1], [5, 1]), ([0, 1, 0, 1], [5, 2]))
    yield from (([1, 1, 1, 0, 1], [2, 3]), ([1, 1, 0, 0], [3, 3]))
    yield [2, 0, 1], [1, 1, 2]
    yield from (([0, 1, 1, 0, 0], [3, 2]), ([0, 0, 1, 1, 1], [4, 3]), ([1], [1, 1]))
    yield from (([0, 1, 2, 0, 1, 2], [3, 3, 2]), ([0, 0, 0, 1, 2, 2], [4, 2, 2]))
    yield [1, 0, 2, 1, 0, 1], [1, 3, 9]
    yield from (([0] * 7, [size]) for size in range(1, 8))
    for count in (2, 2, 3, 3, 3, 4, 4):
        for most in (4, 12):
            sources = [random.randrange(count) for _ in range(random.randrange(5, 30))]
            yield sources, [random.randrange(1, most) for _ in range(count)]


@exercise(
    cases=_stops,
    hints=(
        "Keep a list of the windows that each source has left, a copy of "
        "`num_windows`. Each draw takes one of them.",
        "After each draw, look at the source that was drawn. If it has none left, "
        "return the number of draws so far, this one included.",
    ),
)
def draws_until_stop(sources: list[int], num_windows: list[int]) -> int:
    """Return how many draws are made until a source has given its last window."""
    left = list(num_windows)
    for draws, source in enumerate(sources, start=1):
        left[source] -= 1
        if left[source] == 0:
            return draws
    return len(sources)


draws_until_stop.slips("""
    start=1 => start=0
        the draw that takes the last window is not counted.
    left[source] == 0 => left[source] < 0
        the program goes on until it finds a source *empty*: stop at its last window.
    left[source] == 0 => left[source] < 0 ; start=1 => start=0
        the program stops at the draw without a window: stop where the last is taken.
    left[source] == 0 => left[source] == 1
        the program stops when a source has one window *left*.
    left[source] == 0 => max(left) <= 0
    left[source] == 0 => not any(left)
        the program stops when *every* source has ended: the first one decides.
    return len(sources) => return 0
    return len(sources) => return None
        if no source ends, all draws are made: return their number.
    return draws => return source
        this is the source that ends: how many draws are made?
""")


@draws_until_stop.right_way("""
    return min(ends) => return max(ends)
        all draws are made here, but a source may end before.
    enumerate(sources, 1) => enumerate(sources)
        the draw that takes the last…
    [size - 1 : size] => [size : size + 1]
        the program goes on until it finds…
    [size - 1 : size] => [size : size + 1] ; enumerate(sources, 1) => enumerate(sources)
        the program stops at the draw without…
    ends = [len(sources)] => ends = []
        if no source ends, there is no end to choose from: then all draws are made.
""")
def first_of_the_ends(sources, num_windows):
    ends = [len(sources)]
    for number, size in enumerate(num_windows):
        places = [draw for draw, source in enumerate(sources, 1) if source == number]
        ends += places[size - 1 : size]
    return min(ends)


draws_until_stop.answers("""
    next((d for d, s in enumerate(sources, 1) if d >= num_windows[s]), len(sources))
        *all* draws so far are compared with the windows of one source: count its own.
    1 if sources and num_windows[sources[0]] == 1 else len(sources)
        only the first draw is looked at: does the loop return in its first round?
    min(num_windows)
    min(len(sources), min(num_windows))
        these are the windows of the smallest source: others are drawn in between.
""")


# Candidates for near copies


def _signatures(random: Random) -> Iterator[Case]:
    yield from (([1], [1], 1), ([1], [2], 1), ([1, 2], [1, 2], 2), ([1, 2], [1, 3], 2))
    yield from (([1, 2], [1, 3], 1), ([1, 2], [2, 1], 2), ([1, 2], [2, 1], 1))
    yield from (([1, 2], [3, 1], 1), ([1, 2], [3, 2], 2), ([1, 4], [2, 3], 2))
    for b in ([9, 2, 3, 8], [1, 2, 8, 9], [8, 9, 3, 4], [1, 9, 3, 8], [3, 4, 1, 2]):
        yield [1, 2, 3, 4], b, 2
    for b, rows in (([1, 2, 3, 9], 4), ([1, 2, 3, 9], 2), ([2, 1, 4, 3], 2)):
        yield [1, 2, 3, 4], b, rows
    yield from (([1, 2, 3, 4], [7, 8, 9, 4], 1), ([5, 5, 5, 5], [5, 6, 6, 5], 2))
    yield from (([2, 4, 6, 8], [3, 3, 7, 7], 2), ([1, 1, 2, 2], [1, 2, 1, 2], 2))
    yield [4, 1, 2, 3, 0, 5], [9, 1, 2, 3, 8, 7], 3
    yield [1, 2, 3, 4, 5, 6], [1, 2, 9, 4, 5, 6], 3
    yield [1, 2, 3, 4, 5, 6], [1, 9, 3, 9, 5, 9], 2
    for rows, bands in ((1, 3), (2, 3), (2, 4), (3, 2), (3, 3), (3, 4), (4, 2), (4, 3)):
        for alike in (0.2, 0.5, 0.7, 0.7, 0.9):
            a = [random.randrange(100) for _ in range(rows * bands)]
            b = [x + (random.random() > alike) for x in a]
            yield a, b, rows


@exercise(
    cases=_signatures,
    hints=(
        "Bands begin at 0, rows, 2 * rows, ... Which slice of a signature is the band "
        "that begins at i?",
        "Compare the slices of both signatures from i to i + rows, for every i in "
        "`range(0, len(a), rows)`. One pair of equal slices is enough.",
    ),
)
def share_a_band(a: list[int], b: list[int], rows: int) -> bool:
    """Return whether the signatures agree in all numbers of at least one band."""
    return any(a[i : i + rows] == b[i : i + rows] for i in range(0, len(a), rows))


share_a_band.slips("""
    return any( => return all(
        *every* band has to agree here: one is enough.
    range(0, len(a), rows) => range(0, len(a) - rows + 1)
    range(0, len(a), rows) => range(0, len(a))
        this looks at a run of `rows` numbers from each place on: bands do not overlap.
    range(0, len(a), rows) => range(0, len(a) - rows, rows)
        the last band is left out.
    range(0, len(a), rows) => range(0, len(a) // rows)
        the *number* of a band is taken for its place: it begins at number * rows.
    range(0, len(a), rows) => range(0, len(a), len(a) // rows) ; \
    a[i : i + rows] == b[i : i + rows] => \
    a[i : i + len(a) // rows] == b[i : i + len(a) // rows]
        `rows` is taken for the number of bands, but it is the number of numbers in one.
    rows] == => rows - 1] == ; rows] for => rows - 1] for
        the last number of each band is not compared.
    a[i : i + rows] == b[i : i + rows] => a[i : i + rows + 1] == b[i : i + rows + 1]
        the first number of the next band also has to agree.
    a[i : i + rows] == b[i : i + rows] => a[i] == b[i]
        only the first number of each band is compared, but all of them must agree.
    a[i : i + rows] == b[i : i + rows] => a[i:rows] == b[i:rows]
        the slice ends at `rows`, and not `rows` after its start: later ones are empty.
    a[i : i + rows] == b[i : i + rows] => set(a[i : i + rows]) == set(b[i : i + rows])
        the order of the numbers in a band is not compared: each has its own place.
    a[i : i + rows] == b => set(a[i : i + rows]) & set(b ; rows] for => rows]) for
        one number in common is enough here, but all numbers of the band must agree.
    a[i : i + rows] == b[i : i + rows] for => \
    a[i : i + rows] == b[j : j + rows] for j in range(0, len(b), rows) for
        each band is compared with *every* band of the other: take the one at its place.
    return any( => return sum(
        this is how many bands agree: is there one?
""")


@share_a_band.right_way("""
    if agreeing == rows: => if agreeing >= 1:
        one number in common…
    agreeing = 0 => agreeing = agreeing if start else 0
        the count goes on from band to band: begin each one with 0.
    return False => return None
        if no band agrees, the function returns nothing: return `False`.
    range(0, len(a), rows) => range(0, len(a) - rows, rows)
        the last band is left out.
    range(0, len(a), rows) => range(len(a) - rows + 1)
        this looks at a run…
    range(rows) => range(rows - 1) ; == rows => == rows - 1
        the last number of each…
    if agreeing == rows: ⏎ return True => return agreeing == rows
        only the first band is compared.
""")
def counted_in_each(a, b, rows):
    for start in range(0, len(a), rows):
        agreeing = 0
        for row in range(rows):
            agreeing += a[start + row] == b[start + row]
        if agreeing == rows:
            return True
    return False


share_a_band.answers("""
    True
    False
        the answer is the same for all signatures: which of them agree in a band?
    a[-rows:] == b[-rows:]
        the last band alone decides, but an earlier one is enough.
    sum(x == y for x, y in zip(a, b)) >= rows
        `rows` numbers agree anywhere: they must all be in one band.
    any(x == y for x, y in zip(a, b))
        one number in common is enough here…
    len(set(a) & set(b)) >= rows
    bool(set(a) & set(b))
        numbers are looked for anywhere: they must agree at the same place, in one band.
    any(a[i::rows] == b[i::rows] for i in range(rows))
        every `rows`-th number is taken: a band has *neighbors*.
""")


# Bugs, and things that only look like bugs


def an_order_for_each(num_sources: int, num_epochs: int, base_seed: int) -> int:
    return num_sources * num_epochs


@bug_or_not(
    purpose=(
        "Several sources, of 50 windows each, are read in several epochs. Each source "
        "is to have an order of its own in each epoch. The function counts the "
        "different orders."
    ),
    reference=an_order_for_each,
    cases=lambda random: [
        (num_sources, num_epochs, base_seed)
        for num_sources in (1, 2, 3, 5)
        for num_epochs in (1, 2, 4)
        for base_seed in (0, 8)
    ],
    explanation=(
        "Seeds are added up, so source 1 in epoch 0 has the seed of source 0 in epoch "
        "1, and sources of the same size are then read in the same order. With one "
        "source, or in one epoch, nothing happens. It was found in allenai/OLMo-core, "
        "which shuffles source i by `seed + epoch + i`. A list, "
        "`default_rng([base_seed, epoch, source])`, keeps the three numbers apart."
    ),
)
def seeds_of_sources(num_sources: int, num_epochs: int, base_seed: int) -> int:
    orders = set()
    for epoch in range(num_epochs):
        for source in range(num_sources):
            rng = np.random.default_rng(base_seed + epoch + source)
            orders.add(tuple(rng.permutation(50).tolist()))
    return len(orders)


def filtered_before(
    weights: list[float], keep_every: list[int], num_rows: int
) -> list[int]:
    sources = draw_sources(weights, num_rows, block_size=4)
    return np.bincount(sources, minlength=len(weights)).tolist()


@bug_or_not(
    purpose=(
        "Rows pass through a filter: of source s, every `keep_every[s]`-th row is "
        "kept. `num_rows` rows are to be delivered, each source as often as its weight "
        "says. The function returns how many rows of each source are delivered."
    ),
    reference=filtered_before,
    cases=lambda random: [
        (weights, keep_every, num_rows)
        for weights in ([0.5, 0.5], [0.75, 0.25])
        for keep_every in ([1, 1], [1, 2], [3, 1])
        for num_rows in (4, 12, 40)
    ],
    explanation=(
        "The weights choose the source of each row that is *tried*. If the filter "
        "drops half of the rows of one source, that source delivers half as many, and "
        "the others get its share. Nobody is told, because the weights in the "
        "configuration are still right. It was found in pytorch/torchtitan. Filter "
        "each source *before* the mixture, so that every draw delivers a row."
    ),
)
def filtered_after(
    weights: list[float], keep_every: list[int], num_rows: int
) -> list[int]:
    tried, delivered = [0] * len(weights), [0] * len(weights)
    for source in draw_sources(weights, 9 * num_rows, block_size=4).tolist():
        if sum(delivered) < num_rows:
            tried[source] += 1
            delivered[source] += tried[source] % keep_every[source] == 0
    return delivered


def each_window_once(
    weights: list[float], num_draws: int, world_size: int
) -> list[tuple[int, int]]:
    counts = np.bincount(draw_sources(weights, num_draws, base_seed=7))
    return [(s, k) for s, count in enumerate(counts) for k in range(count)]


@bug_or_not(
    purpose=(
        "All ranks together are to read each draw of the mixture once. The k-th draw "
        "of a source reads its window k, where k counts from 0. The function returns "
        "what all ranks read, pairs of source and window, sorted."
    ),
    reference=each_window_once,
    cases=lambda random: [
        (weights, num_draws, world_size)
        for weights in ([1.0], [0.5, 0.5], [0.7, 0.2, 0.1])
        for num_draws in (1, 7, 30)
        for world_size in (1, 2, 4)
    ],
    explanation=(
        "The same seed on every rank looks like a mistake, because ranks that draw at "
        "random from the same seed read the same data. But here all ranks need the "
        "same list of draws, since each of them takes its own *slice* of that list. "
        "The windows are also numbered in the whole list, before the slice is taken. "
        "With seeds of their own, the ranks would cut slices from different lists."
    ),
)
def same_draws_everywhere(
    weights: list[float], num_draws: int, world_size: int
) -> list[tuple[int, int]]:
    read = []
    for rank in range(world_size):
        sources = draw_sources(weights, num_draws, base_seed=7).tolist()
        numbered = [(s, sources[:i].count(s)) for i, s in enumerate(sources)]
        read += numbered[rank::world_size]
    return sorted(read)


def rows_of_each(sizes: list[int]) -> list[int]:
    from datasets import Dataset, interleave_datasets

    sources = [Dataset.from_dict({"s": [s] * size}) for s, size in enumerate(sizes)]
    mixed = interleave_datasets(sources)
    return np.bincount(mixed["s"], minlength=len(sizes)).tolist()


@true_or_false(
    claim=(
        "With its defaults, `datasets.interleave_datasets` ends with its shortest "
        "source, however much is left of the others. The calls mix sources of these "
        "sizes, and count what is read of each."
    ),
    reference=rows_of_each,
    cases=lambda random: [([2, 2],), ([2, 5],), ([5, 2],), ([4, 4, 4],), ([6, 1, 3],)],
    explanation=(
        'The default is `stopping_strategy="first_exhausted"`, and nothing says how '
        "much of the other sources is left. With sources of 6, 1 and 3 rows, 3 of 10 "
        "rows are read. Sources of equal size are all read to their ends, which hides "
        'it. `"all_exhausted"` goes on until each source has been read, and repeats '
        "the short ones."
    ),
)
def interleave_ends_early(sizes: list[int]) -> list[int]:
    return [min(sizes)] * len(sizes)


# With other numbers by seed.


def _plan(rng: Random) -> dict[str, object]:
    return {
        "sizes": [1_000 * rng.randrange(20, 900) for _ in range(5)],
        "weights": [rng.randrange(5, 60) for _ in range(5)],
    }


@numbers(
    ask="Five sources have {sizes} windows and the weights {weights}. A run makes "
    "{budget:,} draws. How often is the second source read? Parts of an epoch "
    "also count.",
    draw=lambda rng: {**_plan(rng), "budget": 1_000_000 * rng.randrange(4, 20)},
    hints=(
        "What share of the draws does the second source get, and how many are that?",
    ),
)
def epochs_of_the_second(sizes: list[int], weights: list[int], budget: int) -> float:
    return budget * weights[1] / sum(weights) / sizes[1]


epochs_of_the_second.answers("""
    budget * weights[1] / sum(weights)
        these are draws: divide them by the windows of the source.
    budget * weights[1] / sizes[1]
    budget * weights[1] / 100 / sizes[1]
        the weight is not divided by the sum of all weights.
    budget / sum(sizes)
        each source is read as often as all together, as if drawn by its size.
    budget / len(sizes) / sizes[1]
        all sources get the same number of draws: share them out by weight.
    budget * weights[1] / sum(weights) / sum(sizes)
        the draws are divided by the windows of all sources.
    budget * weights[2] / sum(weights) / sizes[2]
    budget * weights[0] / sum(weights) / sizes[0]
        this is another source: the second comes right after the first.
""")


@numbers(
    ask="Five sources have {sizes} windows and the weights {weights}. A run goes on "
    "and on. One of the sources is first to be read more than 4 times. How many "
    "windows has that source?",
    draw=_plan,
    hints=(
        "Which source goes through its windows fastest? Compare weights with windows.",
    ),
)
def first_read_too_often(sizes: list[int], weights: list[int]) -> int:
    speeds = [weight / size for weight, size in zip(weights, sizes, strict=True)]
    return sizes[speeds.index(max(speeds))]


first_read_too_often.answers("""
    min(sizes)
        this is the smallest source, but another one has a larger weight for its size.
    sizes[weights.index(max(weights))]
        this is the source of the largest weight, but another has fewer windows for it.
    min(sizes, key=lambda size: weights[sizes.index(size)] / size)
        this is the source that is *last* to be read so often.
    sizes.index(max(sizes, key=lambda size: weights[sizes.index(size)] / size)) + 1
        this is the number of the source: how many windows has it?
""")
