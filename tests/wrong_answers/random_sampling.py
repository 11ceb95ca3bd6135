"""Answers to the exercises of lesson 03, as a class gives them."""

import math
import random
from collections import Counter

import numpy as np
import torch

from wrong_answers import right, wrong

# -- offsets_that_lose (N, T) ---------------------------------------------------------


def counts(n, t, last_target=1, floor=0):
    return [max(floor, (n - o - last_target) // t) for o in range(t)]


wrong("offsets_that_lose", "cost *nothing*")(lambda n, t: sum(c == counts(n, t)[0] for c in counts(n, t)))
wrong("offsets_that_lose", "the ids that offset 0 leaves over")(lambda n, t: (n - 1) % t)
wrong("offsets_that_lose", "the id for the last target is forgotten: of N")(
    lambda n, t: sum(c < counts(n, t, 0)[0] for c in counts(n, t, 0))
)
wrong("offsets_that_lose", "is forgotten, and a stream too short")(lambda n, t: t - 1 - n % t)
wrong("offsets_that_lose", "right, except for a stream too short")(lambda n, t: t - 1 - (n - 1) % t)
wrong("offsets_that_lose", "right, except for a stream too short")(
    lambda n, t: sum((n - o - 1) // t < (n - 1) // t for o in range(t))
)
wrong("offsets_that_lose", "one too many. An offset that skips just")(lambda n, t: t - (n - 1) % t if n > t else 0)
wrong("offsets_that_lose", "one too many: an offset that skips just")(lambda n, t: t - (n - 1) % t)
wrong("offsets_that_lose", "one too few. The offsets are")(
    lambda n, t: sum(c < counts(n, t)[0] for c in counts(n, t)[:-1])
)
wrong("offsets_that_lose", "the offsets stop at T - 1")(
    lambda n, t: sum(max(0, (n - o - 1) // t) < max(0, (n - 1) // t) for o in range(t + 1))
)
wrong("offsets_that_lose", "all offsets but 0")(lambda n, t: t - 1)
wrong("offsets_that_lose", "the most that an offset can cost")(lambda n, t: max(counts(n, t)) - min(counts(n, t)))
wrong("offsets_that_lose", "`True` or `False` where a number")(lambda n, t: min(counts(n, t)) < max(counts(n, t)))
wrong("offsets_that_lose", "the subsequences at offset 0")(lambda n, t: max(0, (n - 1) // t))
wrong("offsets_that_lose", "the subsequences of all offsets")(lambda n, t: sum(counts(n, t)))
wrong("offsets_that_lose", "one extra id for each subsequence")(
    lambda n, t: sum(max(0, (n - o) // (t + 1)) < max(0, n // (t + 1)) for o in range(t))
)
wrong("offsets_that_lose", "compare with `<`")(lambda n, t: sum(c <= counts(n, t)[0] for c in counts(n, t)))
wrong("offsets_that_lose", "windows of stride 1")(lambda n, t: sum(max(0, n - o - t) < max(0, n - t) for o in range(t)))
wrong("offsets_that_lose", "several values")(lambda n, t: [o for o in range(t) if counts(n, t)[o] < counts(n, t)[0]])
wrong("offsets_that_lose", None)(lambda n, t: sum(range((n - 1) % t + 1, t)))

right("offsets_that_lose")(lambda n, t: sum(c < counts(n, t)[0] for c in counts(n, t)))
right("offsets_that_lose")(lambda n, t: int(np.sum(np.array(counts(n, t)) < counts(n, t)[0])))


@right("offsets_that_lose")
def by_a_loop(num_tokens, num_steps):
    fewer = 0
    for offset in range(num_steps):
        fewer += len(range(offset, num_tokens - num_steps, num_steps)) < len(
            range(0, num_tokens - num_steps, num_steps)
        )
    return fewer


# -- num_batches (N, B, T, offset) ----------------------------------------------------


def count(n, t, o):
    return max(0, (n - o - 1) // t)


wrong("num_batches", "a negative count: //")(lambda n, b, t, o: (n - o - 1) // t // b)
wrong("num_batches", "a negative count: //")(lambda n, b, t, o: (n - 1 - o) // (t * b))
wrong("num_batches", "is not full counts as one. Here")(lambda n, b, t, o: math.ceil(count(n, t, o) / b))
wrong("num_batches", "counts as one, and a stream")(lambda n, b, t, o: math.ceil((n - o - 1) // t / b))
wrong("num_batches", "rounded up twice")(lambda n, b, t, o: max(0, math.ceil(math.ceil((n - o - 1) / t) / b)))
wrong("num_batches", "one more than fit")(lambda n, b, t, o: count(n, t, o) // b + 1)
wrong("num_batches", "to the nearest")(lambda n, b, t, o: round(count(n, t, o) / b))
wrong("num_batches", "the offset is not taken off")(lambda n, b, t, o: count(n, t, 0) // b)
wrong("num_batches", "subsequences are counted")(lambda n, b, t, o: count(n, t, o))
wrong("num_batches", "batches of B ids")(lambda n, b, t, o: count(n, b, o))
wrong("num_batches", "the last target is forgotten: one")(lambda n, b, t, o: max(0, (n - o) // t) // b)
wrong("num_batches", "the last target is forgotten, and")(lambda n, b, t, o: (n - o) // t // b)
wrong("num_batches", "for each row of a batch")(lambda n, b, t, o: max(0, (n - o - b) // t) // b)
wrong("num_batches", "one extra id for each subsequence")(lambda n, b, t, o: max(0, (n - o) // (t + 1)) // b)
wrong("num_batches", "a float")(lambda n, b, t, o: count(n, t, o) / b)
wrong("num_batches", "a count is a whole number")(lambda n, b, t, o: (n - o - 1) / t / b)
wrong("num_batches", "that is what is left over")(lambda n, b, t, o: count(n, t, o) % b)
wrong("num_batches", "taken off for what is dropped")(lambda n, b, t, o: max(0, count(n, t, o) // b - 1))

right("num_batches")(lambda n, b, t, o: max(0, n - o - 1) // (b * t))
right("num_batches")(lambda n, b, t, o: len(range(o, n - t, t)) // b)
right("num_batches")(lambda n, b, t, o: torch.tensor(n - o - 1).clamp(min=0) // t // b)

# -- offset_of (starts, T) ------------------------------------------------------------

wrong("offset_of", "the smallest start. It")(lambda starts, t: min(starts))
wrong("offset_of", "the smallest start. It")(lambda starts, t: sorted(starts)[0])
wrong("offset_of", "the first start")(lambda starts, t: starts[0])
wrong("offset_of", "the last start")(lambda starts, t: starts[len(starts) - 1])
wrong("offset_of", "divided, not remaindered")(lambda starts, t: starts[0] // t)
wrong("offset_of", "the smallest start, divided")(lambda starts, t: min(starts) // t)
wrong("offset_of", "by the number of starts")(lambda starts, t: starts[0] % len(starts))
wrong("offset_of", "to the next multiple of T. The")(lambda starts, t: (t - starts[0] % t) % t)
wrong("offset_of", "and T for none")(lambda starts, t: t - starts[0] % t)
wrong("offset_of", "divided the wrong way round")(lambda starts, t: t % starts[0] if starts else 0)
wrong("offset_of", "two starts in the list")(lambda starts, t: abs(starts[0] - starts[1]))
wrong("offset_of", "two smallest starts")(lambda starts, t: sorted(starts)[1] - sorted(starts)[0])
wrong("offset_of", "the sum of the starts")(lambda starts, t: sum(starts) % t)
wrong("offset_of", "a remainder for each start")(lambda starts, t: [s % t for s in starts])
wrong("offset_of", "greatest common divisor")(lambda starts, t: math.gcd(*starts))
wrong("offset_of", "a single T is taken off")(lambda starts, t: min(starts) - t if min(starts) >= t else min(starts))
wrong("offset_of", "which has no order")(lambda starts, t: {s % t for s in starts})
wrong("offset_of", "float")(lambda starts, t: starts[0] / t)


@right("offset_of")
def by_subtraction(starts, num_steps):
    start = min(starts)
    while start >= num_steps:
        start -= num_steps
    return start


right("offset_of")(lambda starts, t: starts[-1] - starts[-1] // t * t)
right("offset_of")(lambda starts, t: np.unique(np.array(starts) % t)[0])


@wrong("offset_of", "did not end", ends=False, natural=False)
def never_comes_down(starts, num_steps):
    start = starts[0]
    while start >= num_steps or num_steps == 1:
        start -= 0
    return start


# -- left_context (position, offset, T) -----------------------------------------------

wrong("left_context", "and not 0")(lambda p, o, t: (p - o) % t if p > o else 0)
wrong("left_context", "starts at 1")(lambda p, o, t: 0 if p <= o else (p - o - 1) % t)
wrong("left_context", "begins with 2")(lambda p, o, t: 0 if p <= o else (p - o) % t + 1)
wrong("left_context", "begins at offset + 1")(lambda p, o, t: 0 if p < o else (p - o) % t + 1)
wrong("left_context", "at the offset itself")(lambda p, o, t: (p - o - 1) % t + 1 if p >= o else 0)
wrong("left_context", "the offset is ignored: it")(lambda p, o, t: (p - 1) % t + 1 if p else 0)
wrong("left_context", "where it counts")(lambda p, o, t: (p - 1) % t + 1 if p > o else 0)
wrong("left_context", "the offset is added")(lambda p, o, t: 0 if p <= o else (p + o - 1) % t + 1)
wrong("left_context", "never a target")(lambda p, o, t: (p - o - 1) % t + 1)
wrong("left_context", "two things")(lambda p, o, t: (p - o) % t)
wrong("left_context", "stay there")(lambda p, o, t: min(max(p - o, 0), t))
wrong("left_context", "without end")(lambda p, o, t: max(p - o, 0))
wrong("left_context", "the wrong way round")(lambda p, o, t: 0 if p <= o else t - (p - o - 1) % t)
wrong("left_context", "number of the subsequence")(lambda p, o, t: 0 if p <= o else (p - o - 1) // t + 1)
wrong("left_context", "T for every target")(lambda p, o, t: t if p > o else 0)
wrong("left_context", "float")(lambda p, o, t: 0.0 if p <= o else math.fmod(p - o - 1, t) + 1)
wrong("left_context", None, natural=False)(lambda p, o, t: 0 if p <= o else (p % t) + o)

right("left_context")(lambda p, o, t: 0 if p <= o else (p - o) % t or t)


@right("left_context")
def from_the_starts(position, offset, num_steps):
    for start in range(offset, position, num_steps):
        if position <= start + num_steps:
            return position - start
    return 0


@right("left_context")
def by_counting(position, offset, num_steps):
    context = 0
    for _ in range(offset + 1, position + 1):
        context = context % num_steps + 1
    return context


# -- alignment_counts (highest, T) ----------------------------------------------------


def counted(offsets, t):
    return np.bincount(np.array(list(offsets), dtype=int) % t, minlength=t).tolist()


wrong("alignment_counts", "stops before its end")(lambda h, t: counted(range(h), t))
wrong("alignment_counts", "count from 0")(lambda h, t: counted(range(1, h + 1), t))
wrong("alignment_counts", "an offset too many")(lambda h, t: counted(range(h + 2), t))
wrong("alignment_counts", "never occurs")(lambda h, t: list(Counter(o % t for o in range(h + 1)).values()))
wrong("alignment_counts", "never occurs")(lambda h, t: np.bincount(np.arange(h + 1) % t))
wrong("alignment_counts", "not one for each offset")(lambda h, t: [1 for _ in range(h + 1)])
wrong("alignment_counts", "the alignments themselves")(lambda h, t: [o % t for o in range(h + 1)])
wrong("alignment_counts", "beyond T - 1 are left out")(lambda h, t: [1 if a <= h else 0 for a in range(t)])
wrong("alignment_counts", "goes to the first alignments")(lambda h, t: [(h + 1) // t for _ in range(t)])
wrong("alignment_counts", "not on a part of each")(lambda h, t: [(h + 1) / t for _ in range(t)])
wrong("alignment_counts", "only alignment 0")(lambda h, t: [(h + 1) // t + (a == 0) * ((h + 1) % t) for a in range(t)])
wrong("alignment_counts", "not to the last")(lambda h, t: counted(range(h + 1), t)[::-1])
wrong("alignment_counts", "shares")(lambda h, t: (np.array(counted(range(h + 1), t)) / (h + 1)).tolist())
wrong("alignment_counts", "blocks of T offsets")(
    lambda h, t: [sum(o // t == a for o in range(h + 1)) for a in range(t)]
)
wrong("alignment_counts", "T + 1 entries")(lambda h, t: np.bincount(np.arange(h + 1) % t, minlength=t + 1))
wrong("alignment_counts", "division by T + 1")(
    lambda h, t: [sum(o % (t + 1) == a for o in range(h + 1)) for a in range(t)]
)
wrong("alignment_counts", "`dict`")(lambda h, t: dict(enumerate(counted(range(h + 1), t))))
wrong("alignment_counts", "one value")(lambda h, t: (h + 1) // t)
wrong("alignment_counts", None, natural=False)(lambda h, t: [h] * t)

right("alignment_counts")(lambda h, t: torch.bincount(torch.arange(h + 1) % t, minlength=t))
right("alignment_counts")(lambda h, t: [(h - a) // t + 1 for a in range(t)])
right("alignment_counts")(lambda h, t: [(h + 1) // t + (a < (h + 1) % t) for a in range(t)])


# -- num_batches: a second class --------------------

right("num_batches")(lambda n, size, t, offset: (n - offset - 1) // (size * t) if n > offset else 0)
wrong("num_batches", "the numbers are multiplied")(lambda n, size, t, offset: count(n, t, offset) * size)
wrong("num_batches", "never fewer than one")(lambda n, size, t, offset: max(1, count(n, t, offset) // size))
wrong("num_batches", "those are batches of windows of stride 1")(
    lambda n, size, t, offset: max(0, n - offset - t) // size
)
wrong("num_batches", "the offset is taken off the number of batches")(
    lambda n, size, t, offset: max(0, (n - 1) // t // size - offset)
)
wrong("num_batches", "two ids are kept back")(lambda n, size, t, offset: count(n, t, offset + 1) // size)
wrong("num_batches", "one subsequence is kept back")(
    lambda n, size, t, offset: max(0, (count(n, t, offset) - 1) // size)
)
wrong("num_batches", "one extra id for each batch")(lambda n, size, t, offset: max(0, n - offset) // (size * t + 1))
wrong("num_batches", "right, but for a stream with no id behind the")(
    lambda n, size, t, offset: int((n - offset - 1) / t / size)
)
right("num_batches")(lambda n, size, t, offset: max(0, n - offset - 1) // (size * t))
right("num_batches")(lambda n, size, t, offset: len(range(offset, n - t, t)) // size)

# -- offset_of: a second class --------------------

wrong("offset_of", "T is taken off the smallest start, needed or")(lambda starts, t: min(starts) - t)
wrong("offset_of", "the remainder of the division by T + 1")(lambda starts, t: starts[0] % (t + 1))
wrong("offset_of", None)(lambda starts, t: min(starts) % (t - 1) if t > 1 else 0)
wrong("offset_of", "the greatest common divisor of the starts, and its")(lambda starts, t: math.gcd(*starts) % t)
wrong("offset_of", None)(lambda starts, t: sorted(starts)[1] - sorted(starts)[0] if len(starts) > 1 else starts[0])
wrong("offset_of", "the mean of the starts")(lambda starts, t: int(np.mean(starts)) % t)
wrong("offset_of", None, natural=False)(lambda starts, t: len(starts) % t)
wrong("offset_of", "an offset is counted from 0")(lambda starts, t: starts[0] % t + 1)


@wrong("offset_of", "T comes out for the offset 0")
def while_s_t_keeps_t(starts, context):
    m = min(starts)
    while m > context:
        m -= context
    return m


wrong("offset_of", "the first start, found by counting back from")(
    lambda starts, t: max(starts) - t * (len(starts) - 1)
)
wrong("offset_of", "as if none were missing")(lambda starts, t: max(starts) - len(starts) * t)
wrong("offset_of", "the remainder of a start less one")(lambda starts, t: (starts[-1] - 1) % t)
wrong("offset_of", None, natural=False)(lambda starts, t: starts[0] % 10)
right("offset_of")(lambda starts, t: starts[-1] % t)
right("offset_of")(lambda starts, t: min(x % t for x in starts))
right("offset_of")(lambda starts, t: int(np.remainder(np.array(starts), t)[0]))

# -- left_context: a second class --------------------

wrong("left_context", "the token at offset + 1 is the first target already")(
    lambda position, offset, t: (position - offset - 1) % t + 1 if position > offset + 1 else 0
)
wrong("left_context", "the length of the window of stride 1 that ends there")(
    lambda position, offset, t: min(position, t)
)
wrong("left_context", "the contexts come again after T tokens")(
    lambda position, offset, t: (position - offset) % (t + 1) if position > offset else 0
)
wrong("left_context", "`None` for a token that is never a target")(
    lambda position, offset, t: (position - offset - 1) % t + 1 if position > offset else None
)
wrong("left_context", "-1 for a token that is never a target")(
    lambda position, offset, t: (position - offset - 1) % t + 1 if position > offset else -1
)
wrong("left_context", "position and offset are exchanged")(
    lambda position, offset, t: (offset - position - 1) % t + 1 if offset > position else 0
)
wrong("left_context", "the token itself is counted as well")(
    lambda position, offset, t: (position - offset - 1) % t + 2 if position > offset else 0
)
wrong("left_context", None, natural=False)(
    lambda position, t, offset: (position - offset - 1) % t + 1 if position > offset and t else 0
)
wrong("left_context", "the first subsequence is left out")(
    lambda position, offset, t: (position - offset - 1) % t + 1 if position >= offset + t else 0
)
right("left_context")(lambda position, offset, t: (position - offset) % t or t if position > offset else 0)
right("left_context")(
    lambda position, offset, t: next((position - s for s in range(offset, position, t) if s < position <= s + t), 0)
)


@right("left_context")
def left_context_otherwise(position, offset, context):
    c = 0
    for _q in range(offset + 1, position + 1):
        c = c + 1 if c < context else 1
    return c


# -- alignment_counts: a second class --------------------

wrong("alignment_counts", "the same count for each")(lambda highest, t: [highest // t + 1] * t)
wrong("alignment_counts", "T + 1 counts. There are T alignments, 0 … T")(
    lambda highest, t: [sum(1 for o in range(highest + 1) if o % (t + 1) == k) for k in range(t + 1)]
)
wrong("alignment_counts", "a `dict` from alignment to count")(
    lambda highest, t: dict(Counter(o % t for o in range(highest + 1)))
)
wrong("alignment_counts", "the offsets 1 … highest + 1")(
    lambda highest, t: [sum(1 for o in range(1, highest + 2) if o % t == k) for k in range(t)]
)
wrong("alignment_counts", "all that is left of")(
    lambda highest, t: [(highest + 1) // t] * (t - 1) + [(highest + 1) // t + (highest + 1) % t]
)
wrong("alignment_counts", "what is missing to the next multiple of T")(
    lambda highest, t: [sum(1 for o in range(highest + 1) if -o % t == k) for k in range(t)]
)
wrong("alignment_counts", "running totals. Each alignment has a count")(
    lambda highest, t: np.cumsum([len(range(k, highest + 1, t)) for k in range(t)]).tolist()
)
wrong("alignment_counts", None, natural=False)(
    lambda highest, t: [sum(1 for o in range(t + 1) if o % max(1, highest) == k) for k in range(highest)]
)
wrong("alignment_counts", "the offsets themselves")(
    lambda highest, t: [list(range(k, highest + 1, t)) for k in range(t)]
)
right("alignment_counts")(lambda highest, t: [len(range(k, highest + 1, t)) for k in range(t)])
right("alignment_counts")(lambda highest, t: np.bincount(np.arange(highest + 1) % t, minlength=t).tolist())
right("alignment_counts")(lambda highest, t: [(highest - k) // t + 1 for k in range(t)])


# -- two slips, or one more -----------------------------------------------------------

wrong("left_context", "0 for T")(lambda p, o, t: p % t)
wrong("left_context", "counted from 1, and without")(lambda p, o, t: p % t + 1)
wrong("left_context", "two slips")(lambda p, o, t: (p - o) % t + 1)

# -- a class that had not seen the mistakes -------------------------------------------

wrong("offset_of", "the largest start")(lambda starts, t: max(starts))
wrong("offset_of", None)(lambda starts, t: abs(starts[1] - starts[0]) if len(starts) > 1 else starts[0])
wrong("alignment_counts", "`highest // num_steps` for each")(lambda highest, t: [highest // t] * t)
wrong("left_context", None)(lambda p, o, t: 0 if p <= t else (p - t - 1) % max(1, o) + 1)
wrong("num_batches", "exactly one too large")(lambda n, b, t, o: max(0, (n - 1 - o) // t // b + 1))


# -- inclusive_coverage (E, T) --------------------------------------------------------


def seen(chance, epochs):
    return 1 - (1 - chance) ** epochs


def inclusive(e, t):
    return (seen(2 / (t + 1), e) + (t - 1) * seen(1 / (t + 1), e)) / t


wrong("inclusive_coverage", "equally likely. Here two")(lambda e, t: 1 - (1 - 1 / t) ** e)
wrong("inclusive_coverage", "as if T + 1 offsets made")(lambda e, t: 1 - (t / (t + 1)) ** e)
wrong("inclusive_coverage", "alignment 0 alone")(lambda e, t: seen(2 / (t + 1), e))
wrong("inclusive_coverage", "the mean of two numbers")(lambda e, t: (seen(2 / (t + 1), e) + seen(1 / (t + 1), e)) / 2)
wrong("inclusive_coverage", "weighted by how likely")(
    lambda e, t: sum(seen(((a == 0) + 1) / (t + 1), e) * ((a == 0) + 1) / (t + 1) for a in range(t))
)
wrong("inclusive_coverage", "divided by T + 1")(lambda e, t: inclusive(e, t) * t / (t + 1))
wrong("inclusive_coverage", "one alignment too many")(
    lambda e, t: np.mean([seen(((a == 0) + 1) / (t + 1), e) for a in range(t + 1)])
)
wrong("inclusive_coverage", "the sum over the alignments")(lambda e, t: t * inclusive(e, t))
wrong("inclusive_coverage", "more than 1 in all")(lambda e, t: (seen(2 / t, e) + (t - 1) * seen(1 / t, e)) / t)
wrong("inclusive_coverage", "still missing")(
    lambda e, t: ((1 - 2 / (t + 1)) ** e + (t - 1) * (1 - 1 / (t + 1)) ** e) / t
)
wrong("inclusive_coverage", "that is one epoch")(lambda e, t: 1 / t)
wrong("inclusive_coverage", "don't add up")(lambda e, t: min(1, e / t))
wrong("inclusive_coverage", "cannot pass 1")(lambda e, t: e / t)
wrong("inclusive_coverage", "percents")(lambda e, t: 100 * inclusive(e, t))
wrong("inclusive_coverage", "rounded. Return the share as it")(lambda e, t: round(inclusive(e, t), 2))
wrong("inclusive_coverage", "the first one counts")(lambda e, t: inclusive(e - 1, t) if e else 0.0)
wrong("inclusive_coverage", "counted twice")(lambda e, t: inclusive(e + 1, t))
wrong("inclusive_coverage", "*every* epoch")(lambda e, t: ((2 / (t + 1)) ** e + (t - 1) / (t + 1) ** e) / t)
wrong("inclusive_coverage", "before the power")(lambda e, t: seen((4 + t - 1) / (t + 1) ** 2, e))


@wrong("inclusive_coverage", None)
def simulation(epochs, context):
    r = random.Random(0)
    return sum(len({r.randint(0, context) % context for _ in range(epochs)}) / context for _ in range(500)) / 500


right("inclusive_coverage")(inclusive)


@right("inclusive_coverage")
def mean_over_alignments(epochs, context):
    offsets = Counter(offset % context for offset in range(context + 1))
    return np.mean([1 - (1 - offsets[a] / (context + 1)) ** epochs for a in range(context)])


@right("inclusive_coverage")
def by_a_recursion(epochs, context):
    shares = [0.0] * context
    for _ in range(epochs):
        shares = [s + (1 - s) * (1 + (a == 0)) / (context + 1) for a, s in enumerate(shares)]
    return sum(shares) / context
