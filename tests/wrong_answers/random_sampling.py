"""Answers to the exercises of lesson 03, as a class gives them."""

import random
from collections import Counter

import numpy as np
import torch

from wrong_answers import right, wrong

# -- offsets_that_lose (N, T) ---------------------------------------------------------


def counts(n, t, last_target=1, floor=0):
    return [max(floor, (n - o - last_target) // t) for o in range(t)]


wrong("offsets_that_lose", "`True` or `False` where a number")(lambda n, t: min(counts(n, t)) < max(counts(n, t)))
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


wrong("num_batches", "a float")(lambda n, b, t, o: count(n, t, o) / b)

right("num_batches")(lambda n, b, t, o: max(0, n - o - 1) // (b * t))
right("num_batches")(lambda n, b, t, o: len(range(o, n - t, t)) // b)
right("num_batches")(lambda n, b, t, o: torch.tensor(n - o - 1).clamp(min=0) // t // b)

# -- offset_of (starts, T) ------------------------------------------------------------

wrong("offset_of", "which has no order")(lambda starts, t: {s % t for s in starts})
wrong("offset_of", "float")(lambda starts, t: starts[0] / t)


right("offset_of")(lambda starts, t: starts[-1] - starts[-1] // t * t)
right("offset_of")(lambda starts, t: np.unique(np.array(starts) % t)[0])


@wrong("offset_of", "did not end", ends=False, natural=False)
def never_comes_down(starts, num_steps):
    start = starts[0]
    while start >= num_steps or num_steps == 1:
        start -= 0
    return start


# -- left_context (position, offset, T) -----------------------------------------------

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


wrong("alignment_counts", "`dict`")(lambda h, t: dict(enumerate(counted(range(h + 1), t))))
wrong("alignment_counts", "one value")(lambda h, t: (h + 1) // t)
wrong("alignment_counts", None, natural=False)(lambda h, t: [h] * t)

right("alignment_counts")(lambda h, t: torch.bincount(torch.arange(h + 1) % t, minlength=t))
right("alignment_counts")(lambda h, t: [(h - a) // t + 1 for a in range(t)])
right("alignment_counts")(lambda h, t: [(h + 1) // t + (a < (h + 1) % t) for a in range(t)])


# -- num_batches: a second class --------------------

right("num_batches")(lambda n, size, t, offset: (n - offset - 1) // (size * t) if n > offset else 0)
right("num_batches")(lambda n, size, t, offset: max(0, n - offset - 1) // (size * t))
right("num_batches")(lambda n, size, t, offset: len(range(offset, n - t, t)) // size)

# -- offset_of: a second class --------------------

wrong("offset_of", "by T - 1")(lambda starts, t: min(starts) % (t - 1) if t > 1 else 0)
wrong("offset_of", None, natural=False)(lambda starts, t: len(starts) % t)


wrong("offset_of", None, natural=False)(lambda starts, t: starts[0] % 10)
right("offset_of")(lambda starts, t: starts[-1] % t)
right("offset_of")(lambda starts, t: min(x % t for x in starts))
right("offset_of")(lambda starts, t: int(np.remainder(np.array(starts), t)[0]))

# -- left_context: a second class --------------------

wrong("left_context", None, natural=False)(
    lambda position, t, offset: (position - offset - 1) % t + 1 if position > offset and t else 0
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

wrong("alignment_counts", None, natural=False)(
    lambda highest, t: [sum(1 for o in range(t + 1) if o % max(1, highest) == k) for k in range(highest)]
)
right("alignment_counts")(lambda highest, t: [len(range(k, highest + 1, t)) for k in range(t)])
right("alignment_counts")(lambda highest, t: np.bincount(np.arange(highest + 1) % t, minlength=t).tolist())
right("alignment_counts")(lambda highest, t: [(highest - k) // t + 1 for k in range(t)])


# -- two slips, or one more -----------------------------------------------------------


# -- a class that had not seen the mistakes -------------------------------------------

wrong("left_context", None)(lambda p, o, t: 0 if p <= t else (p - t - 1) % max(1, o) + 1)


# -- inclusive_coverage (E, T) --------------------------------------------------------


def seen(chance, epochs):
    return 1 - (1 - chance) ** epochs


def inclusive(e, t):
    return (seen(2 / (t + 1), e) + (t - 1) * seen(1 / (t + 1), e)) / t


wrong("inclusive_coverage", "don't add up")(lambda e, t: min(1, e / t))


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
