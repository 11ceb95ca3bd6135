"""Exercises of lesson 13: epochs, lags, blocks, documents and tokens, bands of
signatures, exams in the training text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from random import Random

import numpy as np

from course_lib.mixing_sources import draw_sources
from course_lib.teaching.checker import Case, bug_or_not, exercise, true_or_false


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
        "A source has been read once when it has had as many draws as it has windows.",
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


epochs_of_sources.mistake(
    "you don't divide the weights by their sum, but they needn't add up to 1.",
    lambda weights, sizes, n: [n * w / s for w, s in zip(weights, sizes, strict=True)],
    lambda weights, sizes, n: [
        n * w / 100 / s for w, s in zip(weights, sizes, strict=True)
    ],
    lambda weights, sizes, n: [
        n * w / len(weights) / s for w, s in zip(weights, sizes, strict=True)
    ],
)
epochs_of_sources.mistake(
    "you return the *draws* of each source. Divide them by its windows.",
    lambda weights, sizes, n: [n * w / sum(weights) for w in weights],
)
epochs_of_sources.mistake(
    "you divide the draws by the windows of *all* sources, not by the source's own.",
    lambda weights, sizes, n: [n * w / sum(weights) / sum(sizes) for w in weights],
)
epochs_of_sources.mistake(
    "you don't use the weights, which say how often each source is drawn.",
    lambda weights, sizes, n: [n / len(sizes) / size for size in sizes],
    lambda weights, sizes, n: [n / sum(sizes)] * len(sizes),
    lambda weights, sizes, n: [n * size / sum(sizes) for size in sizes],
)
epochs_of_sources.mistake(
    "you round somewhere, but half an epoch is 0.5.",
    lambda weights, sizes, n: [
        n * w // sum(weights) // s for w, s in zip(weights, sizes, strict=True)
    ],
    lambda weights, sizes, n: [
        float(round(e)) for e in epochs_of_sources(weights, sizes, n)
    ],
    lambda weights, sizes, n: [
        round(e, 2) for e in epochs_of_sources(weights, sizes, n)
    ],
    lambda weights, sizes, n: [
        round(n * w / sum(weights)) / s for w, s in zip(weights, sizes, strict=True)
    ],
)
epochs_of_sources.mistake(
    "you forget how many draws the run has. A longer run reads each source more often.",
    lambda weights, sizes, n: epochs_of_sources(weights, sizes, 1),
)


# Which source next?


def _lags(random: Random) -> Iterator[Case]:
    yield from (([1], [0]), ([1], [5]), ([1, 1], [0, 0]), ([1, 1], [1, 0]))
    yield from (([3, 1], [0, 0]), ([3, 1], [1, 0]), ([3, 1], [2, 0]), ([3, 1], [2, 1]))
    yield from (([1, 3], [0, 0]), ([1, 3], [0, 1]), ([2, 2], [3, 3]), ([1, 2], [1, 2]))
    yield from (([0, 1], [0, 0]), ([0, 4], [0, 3]), ([5, 0, 3], [1, 0, 0]))
    yield from (([1, 1, 2], [1, 1, 1]), ([4, 2, 2], [2, 0, 0]), ([1, 3], [0, 2]))
    yield from (([7, 1], [4, 0]), ([2, 6], [2, 4]), ([2, 5, 1], [4, 9, 2]))
    # equal lags, which floats tell apart
    yield from (([4, 1, 1], [1, 0, 0]), ([1, 4, 1], [0, 1, 0]), ([5, 2, 2], [4, 1, 1]))
    yield from (([2, 2, 5], [0, 1, 1]), ([1, 5], [0, 2]), ([1, 2, 3], [0, 1, 1]))
    for count in (2, 3, 3, 4, 4, 5, 5, 6):
        for lead in (0, 1, 3):
            weights = random.choices(range(1, 9), k=count)
            yield weights, [w * lead // 3 + random.randrange(3) for w in weights]


@exercise(
    cases=_lags,
    hints=(
        "How many draws should each source have after one more draw, and how many "
        "does it have?",
        "With n draws so far, a source should have (n + 1) * weight / total. Subtract "
        "its count, and look for the first of the largest differences. If you multiply "
        "all of it by `total`, the numbers are whole.",
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


def _largest(weights, counts, lag: Callable) -> int:
    """Return the first source whose lag is the largest, as a function of w and c."""
    lags = [lag(w, c) for w, c in zip(weights, counts, strict=True)]
    return lags.index(max(lags))


next_source.mistake(
    "you divide with `/`, which makes floats, and then a rounding error decides "
    "between equal lags. Multiply by the sum of the weights instead, and compare whole "
    "numbers.",
    lambda weights, counts: _largest(
        weights, counts, lambda w, c: w / sum(weights) * (sum(counts) + 1) - c
    ),
    lambda weights, counts: _largest(
        weights, counts, lambda w, c: w * (sum(counts) + 1) / sum(weights) - c
    ),
    lambda weights, counts: _largest(
        weights, counts, lambda w, c: w / sum(weights) - c / (sum(counts) + 1)
    ),
)
next_source.mistake(
    "you divide counts by weights, but a lag is a *difference*.",
    lambda weights, counts: _largest(weights, counts, lambda w, c: -c / w),
    lambda weights, counts: _largest(
        weights, counts, lambda w, c: -c / w if w else -math.inf
    ),
    lambda weights, counts: _largest(
        weights, counts, lambda w, c: -(c + 1) / w if w else -math.inf
    ),
)
next_source.mistake(
    "you leave out the draw that's about to be made. Compare the shares as they are "
    "after it.",
    lambda weights, counts: _largest(
        weights, counts, lambda w, c: w * sum(counts) - c * sum(weights)
    ),
    lambda weights, counts: _largest(
        weights, counts, lambda w, c: w / sum(weights) * sum(counts) - c
    ),
    lambda weights, counts: _largest(
        weights, counts, lambda w, c: w / sum(weights) - c / max(1, sum(counts))
    ),
)
next_source.mistake(
    "you give a tie to the last source, but the first one should get it.",
    lambda weights, counts: len(weights) - 1 - next_source(weights[::-1], counts[::-1]),
)
next_source.mistake(
    "you subtract counts from bare weights, but a weight has to be turned into draws "
    "first. How many should this source have by now?",
    lambda weights, counts: _largest(weights, counts, lambda w, c: w - c),
    lambda weights, counts: _largest(
        weights, counts, lambda w, c: w / sum(weights) - c
    ),
)
next_source.mistake(
    "you compare only the counts, or only the weights, but a lag needs both.",
    lambda weights, counts: counts.index(min(counts)),
    lambda weights, counts: weights.index(max(weights)),
)


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
        "Each whole block has `block.count(source)` draws of the source. How many does "
        "the last block, which isn't whole, have before that place?",
    ),
)
def drawn_before(position: int, block: list[int]) -> int:
    """Return how often the source at `position` has been drawn before it."""
    blocks, place = divmod(position, len(block))
    source = block[place]
    return blocks * block.count(source) + block[:place].count(source)


drawn_before.mistake(
    "you count the draw at `position` itself along with those before it.",
    lambda position, block: drawn_before(position, block) + 1,
)
drawn_before.mistake(
    "you forget the whole blocks before this one, but they've drawn the source, too.",
    lambda position, block: drawn_before(position % len(block), block),
)
drawn_before.mistake(
    "your slice ends with the first block, but the block repeats.",
    lambda position, block: block[:position].count(block[position % len(block)]),
)
drawn_before.mistake(
    "you count only whole blocks, but the position's own block may have drawn the "
    "source before, too.",
    lambda position, block: (
        position // len(block) * block.count(block[position % len(block)])
    ),
)
drawn_before.mistake(
    "you count the block of `position` whole, not just what comes before it.",
    lambda position, block: (
        (position // len(block) + 1) * block.count(block[position % len(block)])
    ),
)
drawn_before.mistake(
    "you assume that the source is spread evenly over a block. Look where it really "
    "is.",
    lambda position, block: (
        position * block.count(block[position % len(block)]) // len(block)
    ),
)


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
        "If the documents of one source are twice as long, you need half as many of "
        "them for the same number of tokens.",
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


def _normalized(rates: list[float]) -> list[float]:
    return [rate / sum(rates) for rate in rates]


document_weights.mistake(
    "you multiply the shares by the lengths, but a source of long documents needs "
    "*fewer* draws.",
    lambda shares, means: _normalized(
        [s * m for s, m in zip(shares, means, strict=True)]
    ),
)
document_weights.mistake(
    "you don't use the lengths, but a long document gives more tokens in a single "
    "draw.",
    lambda shares, means: shares,
)
document_weights.mistake(
    "you return numbers that are in proportion, but that don't add up to 1. Divide "
    "them by their sum.",
    lambda shares, means: [s / m for s, m in zip(shares, means, strict=True)],
    lambda shares, means: [
        s / m / len(means) for s, m in zip(shares, means, strict=True)
    ],
    lambda shares, means: [
        s / m * sum(means) / len(means) for s, m in zip(shares, means, strict=True)
    ],
)


@document_weights.mistake(
    "you take the sum again after each division, when some of the numbers are already "
    "divided. Take it once, before the first division."
)
def _divided_in_place(shares: list[float], means: list[float]) -> list[float]:
    rates = [s / m for s, m in zip(shares, means, strict=True)]
    for source in range(len(rates)):
        rates[source] /= sum(rates)
    return rates


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
    yield [1, 2, 3, 4, 5, 6], [9, 2, 3, 4, 8, 7], 3
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


def _bands(signature: list[int], rows: int) -> list[list[int]]:
    return [signature[i : i + rows] for i in range(0, len(signature), rows)]


share_a_band.mistake(
    "you want *every* band to agree, but one is enough.",
    lambda a, b, rows: a == b,
)
share_a_band.mistake(
    "you look at `rows` numbers from each place on, but bands don't overlap.",
    lambda a, b, rows: any(
        a[i : i + rows] == b[i : i + rows] for i in range(len(a) - rows + 1)
    ),
    lambda a, b, rows: any(a[i : i + rows] == b[i : i + rows] for i in range(len(a))),
)
share_a_band.mistake(
    "you're content with a single number, but a whole band must agree.",
    lambda a, b, rows: any(x == y for x, y in zip(a, b, strict=True)),
    lambda a, b, rows: any(a[i] == b[i] for i in range(0, len(a), rows)),
)
share_a_band.mistake(
    "you accept `rows` numbers that agree anywhere, but they must all be in one band.",
    lambda a, b, rows: sum(x == y for x, y in zip(a, b, strict=True)) >= rows,
    lambda a, b, rows: len(set(a) & set(b)) >= rows,
)
share_a_band.mistake(
    "you take `rows` for the number of bands, but it says how many numbers a band has.",
    lambda a, b, rows: share_a_band(a, b, len(a) // rows),
)
share_a_band.mistake(
    "you compare each band with *every* band of the other signature, not only with "
    "the one at its own place.",
    lambda a, b, rows: any(band in _bands(b, rows) for band in _bands(a, rows)),
)


# Is the exam in the text?


def _exams(random: Random) -> Iterator[Case]:
    page = "so the old cat sat down on the red mat and slept"
    yield from (([], ["a b c"], 2), (["a b c"], [], 2), (["a b c"], ["a b c"], 3))
    yield [page], ["the old cat sat down", "the old dog sat up", "mat and slept"], 3
    yield [page], ["who saw that the old cat sat there", "cat sat", "sat cat"], 4
    yield [page], ["The OLD Cat sat", "a red mat", "THE RED MAT"], 3
    yield (
        ["one\ntwo three\nfour five"],
        ["two three four", "one\ntwo", "three\tfour"],
        3,
    )
    yield ["one two three four"], ["two\nthree\nfour", "zero one\ntwo", "four one"], 3
    yield ["a b", "c d"], ["a b c d", "b c", "c d", "a b"], 2
    yield ["a b c", "d e f"], ["b c d", "x c d e f", "f a"], 3
    yield ["bobcat sat downtown"], ["cat sat down", "bobcat sat", "cat", "town"], 2
    yield ["the cats sat"], ["cat", "the", "cats", "at"], 3
    yield ["a b a b"], ["b a b", "a a b b", "b b a"], 3
    yield ["a x b y c"], ["a b c", "c y b", "x b y"], 3
    yield ["yes no"], ["yes", "no", "yes no maybe", "maybe"], 5
    yield ["the old cat. sat"], ["old cat sat", "cat. sat", "cat"], 2
    yield ["a b"], [*"cccacccca"], 2  # a set has 8 before 3
    for n in (1, 2, 3, 3, 4, 4):
        texts = [" ".join(random.choices("abcdefg", k=19)) for _ in range(3)]
        exam = [random.choices("abcdefg", k=random.randrange(1, 8)) for _ in range(4)]
        yield texts, ["\n".join(words) for words in exam], n


@exercise(
    cases=_exams,
    hints=(
        "`text.lower().split()` gives the words of a text, whatever lies between them. "
        "Which runs of n words does a question have?",
        "For each question, collect its runs as tuples in a set, and for each training "
        "text the runs of the same length. Do the two sets share one?",
    ),
)
def contaminated(train: list[str], exam: list[str], n: int) -> list[int]:
    """Return which questions of `exam`, by number, share a run of `n` words with a text
    of `train`."""

    def runs(text, size):
        words = text.lower().split()
        return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}

    found = []
    for number, question in enumerate(exam):
        size = min(n, len(question.split()))
        if any(runs(question, size) & runs(text, size) for text in train):
            found.append(number)
    return found


def _runs(text: str, size: int, words: Callable) -> set[str]:
    found = words(text)
    return {" ".join(found[i : i + size]) for i in range(len(found) - size + 1)}


def _sharing(
    train: list[str],
    exam: list[str],
    n: int,
    words: Callable = lambda text: text.lower().split(),
    agree: Callable = lambda question, text: not question.isdisjoint(text),
) -> list[int]:
    """Return the questions whose runs of words agree with those of a text."""
    found = []
    for number, question in enumerate(exam):
        size = min(n, len(words(question)))
        own = _runs(question, size, words)
        if any(agree(own, _runs(text, size, words)) for text in train):
            found.append(number)
    return found


def _lines(texts: list[str]) -> list[str]:
    return [line for text in texts for line in text.splitlines()]


contaminated.mistake(
    "you put the training texts together, and find runs that begin in one text and end "
    "in the next.",
    lambda train, exam, n: contaminated([" ".join(train)], exam, n),
)
contaminated.mistake(
    "you look at each line by itself, but a run may continue in the next line. A line "
    "end is whitespace like any other.",
    lambda train, exam, n: contaminated(_lines(train), exam, n),
    lambda train, exam, n: [
        number
        for number, question in enumerate(exam)
        if contaminated(_lines(train), _lines([question]), n)
    ],
    lambda train, exam, n: _sharing(train, exam, n, lambda t: t.lower().split(" ")),
)
contaminated.mistake(
    "you want *all* runs of the question to be in the training text, but one is "
    "enough.",
    lambda train, exam, n: _sharing(train, exam, n, agree=set.issubset),
    lambda train, exam, n: contaminated(train, exam, 10**9),
)
contaminated.mistake(
    "you treat upper and lower case as different, but here they don't matter.",
    lambda train, exam, n: _sharing(train, exam, n, str.split),
)
contaminated.mistake(
    "you never find a question of fewer than n words, but it's a single run, all of "
    "it.",
    lambda train, exam, n: [
        number
        for number in contaminated(train, exam, n)
        if len(exam[number].split()) >= n
    ],
)


@contaminated.mistake(
    "you look inside words, but `cat sat` isn't a run of words in `bobcat sat`."
)
def _inside_words(train: list[str], exam: list[str], n: int) -> list[int]:
    texts = [" ".join(text.lower().split()) for text in train]
    found = []
    for number, words in enumerate(question.lower().split() for question in exam):
        size = min(n, len(words))
        runs = [" ".join(words[i : i + size]) for i in range(len(words) - size + 1)]
        if any(run in text for text in texts for run in runs):
            found.append(number)
    return found


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
        "source, or in one epoch, nothing happens. This one comes from "
        "allenai/OLMo-core, which shuffles source i by `seed + epoch + i`. A list, "
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
        "configuration are still right. This happened in pytorch/torchtitan. Filter "
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
        "much of the other sources is left. With tables of 6, 1 and 3 rows, 3 of 10 "
        "rows are read (datasets 5.2; of streams, only 2). Tables of equal size are "
        'all read to their ends, which hides it. `"all_exhausted"` keeps going until '
        "each source has been read, and repeats the short ones."
    ),
)
def interleave_ends_early(sizes: list[int]) -> list[int]:
    return [min(sizes)] * len(sizes)
