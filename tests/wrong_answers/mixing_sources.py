"""Lesson 13: what a class answers."""

from __future__ import annotations

import math
from collections import Counter
from itertools import accumulate, cycle, islice

import numpy as np

from wrong_answers import refused, right, wrong

# epochs_of_sources: weights, num_windows, num_draws

right("epochs_of_sources")(lambda w, n, draws: np.multiply(w, draws / np.sum(w)) / n)
right("epochs_of_sources")(lambda w, n, draws: tuple(w[s] / sum(w) / n[s] * draws for s in range(len(w))))
wrong("epochs_of_sources", "prints its result")(
    lambda w, n, draws: print([draws * a / sum(w) / b for a, b in zip(w, n, strict=True)])
)
wrong("epochs_of_sources", "entries are missing")(
    lambda w, n, draws: [draws * a / sum(w) / b for a, b in zip(w, n, strict=True) if a]
)
wrong("epochs_of_sources", None, natural=False)(
    lambda w, n, draws: [draws * a / sum(w) / b for a, b in zip(sorted(w), sorted(n), strict=True)]
)
refused("epochs_of_sources", "a `dict` where none")(
    lambda w, n, draws: {s: draws * w[s] / sum(w) / n[s] for s in range(len(w))}
)


@wrong("epochs_of_sources", "one value where several are")
def returns_in_the_loop(weights, num_windows, num_draws):
    for weight, size in zip(weights, num_windows, strict=True):
        return num_draws * weight / sum(weights) / size


@wrong("epochs_of_sources", "changes its arguments")
def divides_in_place(weights, num_windows, num_draws):
    total = sum(weights)
    for source in range(len(weights)):
        weights[source] /= total
    return [num_draws * w / n for w, n in zip(weights, num_windows, strict=True)]


# most_draws: weights, num_windows, max_epochs


@right("most_draws")
def by_bisection(weights, num_windows, max_epochs):
    low, high = 0, 2**62
    while low < high:
        middle = (low + high + 1) // 2
        if all(middle * w <= max_epochs * n * sum(weights) for w, n in zip(weights, num_windows, strict=True)):
            low = middle
        else:
            high = middle - 1
    return low


@right("most_draws")
def with_numpy_integers(weights, num_windows, max_epochs):
    weights, num_windows = np.array(weights), np.array(num_windows)
    drawn = weights > 0
    return np.min(num_windows[drawn] * max_epochs * weights.sum() // weights[drawn])


@wrong("most_draws", "is too slow", ends=False)
def tries_every_length(weights, num_windows, max_epochs):
    draws = 0
    while all((draws + 1) * w <= max_epochs * n * sum(weights) for w, n in zip(weights, num_windows, strict=True)):
        draws += 1
    return draws


refused("most_draws", "a float")(
    lambda w, n, epochs: min(epochs * b * sum(w) / a for a, b in zip(w, n, strict=True) if a)
)
wrong("most_draws", "`/` gives a float")(
    lambda w, n, epochs: min(math.floor(epochs * b / (a / sum(w))) for a, b in zip(w, n, strict=True) if a)
)
wrong("most_draws", "is divided by")(
    lambda w, n, epochs: min(epochs * b * sum(w) // a for a, b in zip(w, n, strict=True))
)
wrong("most_draws", None, natural=False)(lambda w, n, epochs: epochs * sum(n) // len(w))

# next_source: weights, counts

right("next_source")(lambda w, c: int(np.argmax(np.array(w) * (sum(c) + 1) - np.array(c) * sum(w))))
right("next_source")(lambda w, c: min(range(len(w)), key=lambda i: (c[i] * sum(w) - w[i] * (sum(c) + 1), i)))
wrong("next_source", "a rounding error")(lambda w, c: int(np.argmax(np.array(w) / sum(w) * (sum(c) + 1) - c)))
wrong("next_source", "a rounding error")(
    lambda w, c: np.argmax([a / sum(w) - (b + 1) / (sum(c) + 1) for a, b in zip(w, c, strict=True)])
)
wrong("next_source", "a tie goes to the last source")(
    lambda w, c: max((a * (sum(c) + 1) - b * sum(w), i) for i, (a, b) in enumerate(zip(w, c, strict=True)))[1]
)
wrong("next_source", "several values where one")(
    lambda w, c: [a * (sum(c) + 1) / sum(w) - b for a, b in zip(w, c, strict=True)]
)
wrong("next_source", None)(lambda w, c: np.random.default_rng(0).choice(len(w), p=np.array(w) / sum(w)))


@right("next_source")
def begins_without_a_lag(weights, counts):
    best, most = None, 0  # one source always lags
    for source, (weight, count) in enumerate(zip(weights, counts, strict=True)):
        lag = weight * (sum(counts) + 1) - count * sum(weights)
        if lag > most:
            best, most = source, lag
    return best


# drawn_before: position, block


@right("drawn_before")
def by_sums(position, block):
    blocks, place = divmod(position, len(block))
    seen = [0, *accumulate(source == block[place] for source in block)]
    return blocks * seen[-1] + seen[place]


@right("drawn_before")
def by_a_counter(position, block):
    source = block[position % len(block)]
    return position // len(block) * Counter(block)[source] + Counter(block[: position % len(block)])[source]


@wrong("drawn_before", "is too slow", ends=False)
def walks_over_all_draws(position, block):
    count = 0
    for earlier in range(position):
        if block[earlier % len(block)] == block[position % len(block)]:
            count += 1
    return count


@wrong("drawn_before", "the draw at `position` itself", ends=False)
def walks_one_draw_too_far(position, block):
    source = block[position % len(block)]
    return sum(other == source for other in islice(cycle(block), position + 1))


wrong("drawn_before", "an index is beyond the end")(lambda p, b: b[:p].count(b[p]))
wrong("drawn_before", "several values where one")(lambda p, b: [p // len(b) * b.count(s) for s in b])
refused("drawn_before", "a float")(
    lambda p, b: p // len(b) * float(b.count(b[p % len(b)])) + b[: p % len(b)].count(b[p % len(b)])
)

# document_weights: token_shares, mean_tokens


@right("document_weights")
def from_the_mean_document(token_shares, mean_tokens):
    mean = 1 / sum(share / mean for share, mean in zip(token_shares, mean_tokens, strict=True))
    return [mean * share / length for share, length in zip(token_shares, mean_tokens, strict=True)]


@right("document_weights")
def documents_of_a_million_tokens(token_shares, mean_tokens):
    documents = [1e6 * share / mean for share, mean in zip(token_shares, mean_tokens, strict=True)]
    return [number / math.fsum(documents) for number in documents]


wrong("document_weights", "a `dict` where none")(lambda shares, means: dict(enumerate(document_weights(shares, means))))
wrong("document_weights", "entries are missing")(
    lambda shares, means: [p for p in document_weights(shares, means) if p]
)
wrong("document_weights", None, natural=False)(
    lambda shares, means: (np.divide(shares, means) / np.linalg.norm(np.divide(shares, means))).tolist()
)


def document_weights(shares, means):
    return from_the_mean_document(shares, means)


# temperature_for: large, small, ratio

right("temperature_for")(lambda large, small, ratio: math.log(large / small, ratio))
right("temperature_for")(lambda large, small, ratio: (np.log2(large) - np.log2(small)) / np.log2(ratio))
wrong("temperature_for", None)(lambda large, small, ratio: math.log(large / small) / math.log(ratio) + 1)
wrong("temperature_for", "several values where one")(
    lambda large, small, ratio: [math.log(large) / math.log(ratio), math.log(small) / math.log(ratio)]
)


@wrong("temperature_for", None)
def in_steps_of_a_tenth(large, small, ratio):
    temperature = 1.0
    while (large / small) ** (1 / temperature) > ratio:
        temperature += 0.1
    return temperature


# draws_until_stop: sources, num_windows


@right("draws_until_stop")
def by_a_growing_slice(sources, num_windows):
    for draws in range(1, len(sources) + 1):
        if sources[:draws].count(sources[draws - 1]) == num_windows[sources[draws - 1]]:
            return draws
    return len(sources)


@right("draws_until_stop")
def while_all_have_some(sources, num_windows):
    left, draws = list(num_windows), 0
    while draws < len(sources) and min(left) > 0:
        left[sources[draws]] -= 1
        draws += 1
    return draws


@wrong("draws_until_stop", "changes its arguments")
def takes_them_from_the_argument(sources, num_windows):
    for draws, source in enumerate(sources, 1):
        num_windows[source] -= 1
        if not num_windows[source]:
            return draws
    return len(sources)


@wrong("draws_until_stop", "the draw that takes the last window is not counted")
def breaks_before_it_counts(sources, num_windows):
    left, draws = list(num_windows), 0
    for source in sources:
        left[source] -= 1
        if left[source] == 0:
            break
        draws += 1
    return draws


@wrong("draws_until_stop", "an index is beyond the end")
def goes_on_after_the_last_draw(sources, num_windows):
    left, draws = list(num_windows), 0
    while min(left) > 0:
        left[sources[draws]] -= 1
        draws += 1
    return draws


# share_a_band: a, b, rows

right("share_a_band")(lambda a, b, rows: (np.reshape(a, (-1, rows)) == np.reshape(b, (-1, rows))).all(axis=1).any())
right("share_a_band")(lambda a, b, rows: rows in np.sum(np.reshape(a, (-1, rows)) == np.reshape(b, (-1, rows)), axis=1))
right("share_a_band")(
    lambda a, b, rows: any(list(a[rows * i :][:rows]) == list(b[rows * i :][:rows]) for i in range(len(a) // rows))
)
refused("share_a_band", "this is how many bands agree")(
    lambda a, b, rows: sum(a[i : i + rows] == b[i : i + rows] for i in range(0, len(a), rows))
)
wrong("share_a_band", "several values where one")(
    lambda a, b, rows: (np.reshape(a, (-1, rows)) == np.reshape(b, (-1, rows))).all(axis=1)
)
wrong("share_a_band", "a band has *neighbors*")(
    lambda a, b, rows: (np.reshape(a, (-1, rows)) == np.reshape(b, (-1, rows))).all(axis=0).any()
)
wrong("share_a_band", None, natural=False)(lambda a, b, rows: len({*a} & {*b}) >= len({*a} | {*b}) / 2)


@wrong("share_a_band", "only the first band is compared")
def returns_after_the_first(a, b, rows):
    for start in range(0, len(a), rows):
        return a[start : start + rows] == b[start : start + rows]


@wrong("share_a_band", "the last band alone decides")
def overwrites_the_verdict(a, b, rows):
    for start in range(0, len(a), rows):
        found = a[start : start + rows] == b[start : start + rows]
    return found


@wrong("share_a_band", "looks at a run of")
def longest_run(a, b, rows):
    run = 0
    for x, y in zip(a, b, strict=True):
        run = run + 1 if x == y else 0
        if run == rows:
            return True
    return False
