"""Answers to the exercises of lesson 02, as a class gives them."""

import itertools
import random

import numpy as np
import torch

from course_lib.sliding_windows import count_windows, gather_windows, window_starts
from wrong_answers import refused, right, wrong

# -- tokens_in_tail -------------------------------------------------------------------


wrong("tokens_in_tail", None, natural=False)(lambda n, t, s: 0)


@wrong("tokens_in_tail", "several values")
def the_ids_themselves(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return list(range((windows - 1) * stride + context_length + 1 if windows else 0, num_tokens))


@right("tokens_in_tail")
def by_marking(num_tokens, context_length, stride):
    reached = np.zeros(num_tokens, dtype=bool)
    for start in range(0, num_tokens - context_length, stride):
        reached[start : start + context_length + 1] = True
    return num_tokens - 1 - np.flatnonzero(reached)[-1] if reached.any() else num_tokens


@right("tokens_in_tail")
def by_the_last_start(num_tokens, context_length, stride):
    starts = window_starts(num_tokens, context_length, stride)
    return num_tokens - (int(starts[-1]) + context_length + 1) if len(starts) else num_tokens


# -- turns_as_target ------------------------------------------------------------------


wrong("turns_as_target", "`True` or `False`")(lambda p, n, t: 0 < p < n and n > t)
wrong("turns_as_target", "several values")(lambda p, n, t: [s for s in range(max(0, n - t)) if s < p <= s + t])


@right("turns_as_target")
def by_trying(position, num_tokens, context_length):
    return sum(s + 1 <= position <= s + context_length for s in range(num_tokens - context_length))


@right("turns_as_target")
def by_four_limits(position, num_tokens, context_length):
    return max(0, min(position, context_length, num_tokens - context_length, num_tokens - position))


# -- starts_with_overlap --------------------------------------------------------------


def starts(stop, step, first=lambda t, o: 0):
    return lambda n, t, o: list(range(first(t, o), stop(n, t, o), step(t, o)))


def rest(t, o):
    return t - o


wrong("starts_with_overlap", "one value where several")(lambda n, t, o: count_windows(n, t, t - o))
wrong("starts_with_overlap", "a `set`")(lambda n, t, o: set(range(0, n - t, t - o)))


@wrong("starts_with_overlap", "did not end", ends=False)
def steps_by_the_overlap(num_tokens, context_length, overlap):
    found, start = [], 0
    while start + context_length < num_tokens:
        found = [*found[-100:], start]
        start += overlap
    return found


@right("starts_with_overlap")
def by_the_package(num_tokens, context_length, overlap):
    return window_starts(num_tokens, context_length, context_length - overlap)


@right("starts_with_overlap")
def by_walking(num_tokens, context_length, overlap):
    found, start = [], 0
    while start + context_length + 1 <= num_tokens:
        found.append(start)
        start += context_length - overlap
    return found


@right("starts_with_overlap")
def by_takewhile(num_tokens, context_length, overlap):
    steps = itertools.count(0, context_length - overlap)
    return tuple(itertools.takewhile(lambda start: start + context_length < num_tokens, steps))


# -- gather_rows ----------------------------------------------------------------------


@right("gather_rows")
def by_the_lesson(ids, starts, context_length):
    return gather_windows(ids, starts, context_length)


@right("gather_rows")
def in_numpy(ids, starts, context_length):
    windows = np.array(ids)[np.add.outer(starts, np.arange(context_length + 1))]
    return windows[:, :-1], windows[:, 1:]


@right("gather_rows")
def in_torch(ids, starts, context_length):
    block = torch.stack([torch.tensor(ids[s : s + context_length + 1]) for s in starts])
    return [block[:, :-1], block[:, 1:]]


# -- smallest_stream ------------------------------------------------------------------

wrong("smallest_stream", "a float where an integer")(lambda w, t, s: ((w - 1) * s + t + 1) / 1 if w else 0.0)


@wrong("smallest_stream", "did not end", ends=False)
def searches_for_ever(num_windows, context_length, stride):
    num_tokens = 0
    while count_windows(num_tokens, context_length, stride) != num_windows:
        num_tokens += context_length + 1  # jumps over the number that it looks for
    return num_tokens


@right("smallest_stream")
def by_searching(num_windows, context_length, stride):
    return next(n for n in itertools.count() if count_windows(n, context_length, stride) >= num_windows)


@right("smallest_stream")
def in_one_expression(num_windows, context_length, stride):
    return (num_windows > 0) * ((num_windows - 1) * stride + context_length + 1)


# -- rank_share -----------------------------------------------------------------------

wrong("rank_share", "one value where several")(lambda order, r, w: len(order) // w)
wrong("rank_share", None, natural=False)(lambda order, r, w: random.Random(r).sample(order, len(order) // w))


@wrong("rank_share", "changes its arguments")
def pops_the_rest(order, rank, world_size):
    while len(order) % world_size:
        order.pop()
    return order[rank::world_size]


@right("rank_share")
def in_rounds(order, rank, world_size):
    full = len(order) // world_size
    return [order[k * world_size + rank] for k in range(full)]


@right("rank_share")
def share_cut_afterwards(order, rank, world_size):
    return order[rank::world_size][: len(order) // world_size]


@right("rank_share")
def as_a_table(order, rank, world_size):
    full = len(order) // world_size
    return np.array(order, dtype=int)[: full * world_size].reshape(full, world_size)[:, rank]


# -- batches_left ---------------------------------------------------------------------


def batches(order, size, first=0):
    return [order[i : i + size] for i in range(first, len(order), size)]


wrong("batches_left", "one value where several")(lambda o, b, d: -(-len(o) // b) - d)


@wrong("batches_left", "changes its arguments")
def eats_the_order(order, batch_size, batches_delivered):
    del order[: batches_delivered * batch_size]
    return batches(order, batch_size)


@wrong("batches_left", "did not end", ends=False)
def never_moves_on(order, batch_size, batches_delivered):
    found, i = [], batches_delivered * batch_size
    while i < len(order):
        found = [order[i : i + batch_size]]
    return found


@right("batches_left")
def all_then_cut(order, batch_size, batches_delivered):
    return batches(order, batch_size)[batches_delivered:]


@right("batches_left")
def as_an_iterator(order, batch_size, batches_delivered):
    remaining = iter(order[batches_delivered * batch_size :])
    while batch := list(itertools.islice(remaining, batch_size)):
        yield batch


@right("batches_left")
def recursively(order, batch_size, batches_delivered):
    rest_of_it = order[batches_delivered * batch_size :]
    return [rest_of_it[:batch_size], *recursively(rest_of_it, batch_size, 1)] if rest_of_it else []


refused("smallest_stream", "a float where an integer")(lambda w, t, s: float((w - 1) * s + t + 1 if w else 0))
refused("starts_with_overlap", "a float where an integer is wanted")(
    lambda n, t, o: np.arange(0.0, max(0, n - t), t - o)
)


# -- tokens_in_tail: a second class --------------------


@right("tokens_in_tail")
def tokens_in_tail_otherwise(num_tokens, context, stride):
    return num_tokens if num_tokens <= context else (num_tokens - context - 1) % stride


@right("tokens_in_tail")
def tokens_in_tail_otherwise_2(num_tokens, context, stride):

    def rest(n):
        return n - context - 1 if n - stride <= context else rest(n - stride)

    return num_tokens if num_tokens <= context else rest(num_tokens)


@right("tokens_in_tail")
def tokens_in_tail_otherwise_3(num_tokens, context, stride):
    s = torch.arange(0, max(0, num_tokens - context), stride)
    return num_tokens - int((s + context + 1).max()) if len(s) else num_tokens


# -- turns_as_target: a second class --------------------

wrong("turns_as_target", None, natural=False)(lambda p, n, t: max(0, min(n, t, p - n, p - t)))
right("turns_as_target")(lambda p, n, t: max(0, min(p, t, n - p, n - t)))
right("turns_as_target")(lambda p, n, t: len(set(range(max(0, p - t), p)) & set(range(max(0, n - t)))))
right("turns_as_target")(
    lambda p, n, t: int((torch.arange(max(0, n - t))[:, None] + torch.arange(1, t + 1) == p).sum())
)

# -- starts_with_overlap: a second class --------------------

right("starts_with_overlap")(lambda n, t, overlap: window_starts(n, t, t - overlap).tolist())
right("starts_with_overlap")(lambda n, t, overlap: torch.arange(0, max(0, n - t), t - overlap).tolist())
right("starts_with_overlap")(
    lambda n, t, overlap: (
        [i * (t - overlap) for i in range(max(0, (n - overlap - 1) // (t - overlap)))] if n > t else []
    )
)

# -- gather_rows: a second class --------------------


@right("gather_rows")
def gather_rows_otherwise(ids, starts, context):
    i = np.array(starts, dtype=int).reshape(-1, 1) + np.arange(context + 1)
    w = np.array(ids)[i] if len(starts) else np.zeros((0, context + 1), int)
    return (w[:, :-1].tolist(), w[:, 1:].tolist())


@right("gather_rows")
def gather_rows_otherwise_3(ids, starts, context):
    if not len(starts):
        return ([], [])
    u = torch.tensor(ids).unfold(0, context + 1, 1)[torch.tensor(starts)]
    return (u[:, :context].tolist(), u[:, 1:].tolist())


# -- smallest_stream: a second class --------------------

right("smallest_stream")(lambda n, t, stride: next(N for N in range(10**6) if count_windows(N, t, stride) >= n))
right("smallest_stream")(lambda n, t, stride: bool(n) * ((n - 1) * stride + t + 1))

# -- rank_share: a second class --------------------

right("rank_share")(
    lambda order, rank, world: (
        np.array(order, dtype=int)[: len(order) // world * world].reshape(-1, world)[:, rank].tolist()
    )
)
right("rank_share")(lambda order, rank, world: [order[i * world + rank] for i in range(len(order) // world)])
right("rank_share")(lambda order, rank, world: [row[rank] for row in zip(*[iter(order)] * world, strict=False)])

# -- batches_left: a second class --------------------

wrong("batches_left", None, natural=False)(
    lambda order, size, done: [order[i : i + done] for i in range(done * size, len(order), done)] if done else []
)


right("batches_left")(lambda order, size, done: [order[i : i + size] for i in range(0, len(order), size)][done:])
right("batches_left")(
    lambda order, size, done: (
        [t.tolist() for t in torch.tensor(order, dtype=torch.int64).split(size)][done:] if order else []
    )
)


# -- two slips, or one more -----------------------------------------------------------

wrong("turns_as_target", "exactly one too large")(lambda p, n, t: max(0, min(p, t, n - p, n - t)) + 1)
wrong("starts_with_overlap", "from back to front")(lambda n, t, o: list(range(0, n - t, t - o))[::-1])

# -- a class that had not seen the mistakes -------------------------------------------
