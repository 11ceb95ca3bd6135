"""Answers to the exercises of lesson 02, as a class gives them."""

import itertools
import random

import numpy as np
import torch

from course_lib.sliding_windows import count_windows, gather_windows, window_starts
from wrong_answers import refused, right, wrong

# -- tokens_in_tail -------------------------------------------------------------------


def tail(reach, if_none=lambda n: n):
    """The ids behind what `reach(windows, T, S)` says that windows reach."""

    def answer(num_tokens, context_length, stride):
        windows = count_windows(num_tokens, context_length, stride)
        return num_tokens - reach(windows, context_length, stride) if windows else if_none(num_tokens)

    return answer


wrong("tokens_in_tail", "windows of T ids.")(tail(lambda w, t, s: (w - 1) * s + t))
wrong("tokens_in_tail", "not over n strides")(lambda n, t, s: n - count_windows(n, t, s) * s)
wrong("tokens_in_tail", "don't take T + 1 ids off")(lambda n, t, s: n - count_windows(n, t, s) * (t + 1))
wrong("tokens_in_tail", "only where the stride is T")(tail(lambda w, t, s: w * s + 1))
wrong("tokens_in_tail", "*all* ids are tail, not none")(tail(lambda w, t, s: (w - 1) * s + t + 1, lambda n: 0))
wrong("tokens_in_tail", "treat 0 windows apart")(lambda n, t, s: n - ((count_windows(n, t, s) - 1) * s + t + 1))
wrong("tokens_in_tail", "N divided by S")(lambda n, t, s: n % s)
wrong("tokens_in_tail", "`N % T`")(lambda n, t, s: n % t)
wrong("tokens_in_tail", "as if they lay end to end")(lambda n, t, s: n % (t + 1))
wrong("tokens_in_tail", "If none does, all ids are tail")(lambda n, t, s: (n - t - 1) % s)
wrong("tokens_in_tail", "If none does, all ids are tail")(lambda n, t, s: (n - (t + 1)) - (n - (t + 1)) // s * s)
wrong("tokens_in_tail", "behind the last *start*")(tail(lambda w, t, s: (w - 1) * s))
wrong("tokens_in_tail", "a float where an integer")(tail(lambda w, t, s: (w - 1) * s + t + 1.0, float))
wrong("tokens_in_tail", "counted and laid without the last target")(lambda n, t, s: (n - t) % s if n >= t else n)
wrong("tokens_in_tail", "gaps between windows")(
    lambda n, t, s: n - len({i for a in range(0, n - t, s) for i in range(a, a + t + 1)})
)
wrong("tokens_in_tail", "one id more at the very end")(lambda n, t, s: (n - 1) % t if n > t else n)
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


def turns(holds, starts=lambda n, t: range(max(0, n - t))):
    """Count the starts of which `holds(p, start, T)` is true."""
    return lambda p, n, t: sum(holds(p, s, t) for s in starts(n, t))


wrong("turns_as_target", "as an input")(turns(lambda p, s, t: s <= p < s + t))
wrong("turns_as_target", "*contain* the token")(turns(lambda p, s, t: s <= p <= s + t))
wrong("turns_as_target", "one start too many")(turns(lambda p, s, t: s < p <= s + t, lambda n, t: range(n - t + 1)))
wrong("turns_as_target", "with T - 1 targets each")(turns(lambda p, s, t: s < p < s + t, lambda n, t: range(n - t + 1)))
wrong("turns_as_target", "with s + T included")(turns(lambda p, s, t: s < p < s + t))
wrong("turns_as_target", "T everywhere")(lambda p, n, t: t)
wrong("turns_as_target", "the end of the stream has fewer windows too")(lambda p, n, t: min(p, t))
wrong("turns_as_target", "the beginning has fewer windows too")(lambda p, n, t: min(t, n - p))
wrong("turns_as_target", "a short stream sets a fourth")(lambda p, n, t: min(p, t, n - p))
wrong("turns_as_target", "no count is below 0")(lambda p, n, t: min(p, t, n - t, n - p))
wrong("turns_as_target", "no count is below 0")(lambda p, n, t: min(p - 1, n - t - 1) - max(0, p - t) + 1)
wrong("turns_as_target", "the very last token is the last target")(lambda p, n, t: max(0, min(p, t, n - t, n - 1 - p)))
wrong("turns_as_target", "all windows")(lambda p, n, t: max(0, n - t))
wrong("turns_as_target", "as 0 or 1")(lambda p, n, t: 1 if p and n > t else 0)
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


def to_the_last(n, t, o):
    return n - t


def rest(t, o):
    return t - o


wrong("starts_with_overlap", "taken for the stride")(starts(to_the_last, lambda t, o: o))
wrong("starts_with_overlap", "taken for the stride")(starts(to_the_last, lambda t, o: max(1, o)))
wrong("starts_with_overlap", "taken for the stride")(lambda n, t, o: window_starts(n, t, o or 1).tolist())
wrong("starts_with_overlap", "the last start is missing")(starts(lambda n, t, o: n - t - 1, rest))
wrong("starts_with_overlap", "an inclusive bound")(starts(lambda n, t, o: n - t + 1, rest))
wrong("starts_with_overlap", "counts all T + 1 ids")(starts(to_the_last, lambda t, o: t + 1 - o))
wrong("starts_with_overlap", "one too short")(starts(to_the_last, lambda t, o: t - o - 1))
wrong("starts_with_overlap", "no overlap at all")(starts(to_the_last, lambda t, o: t))
wrong("starts_with_overlap", "the overlap is added")(starts(to_the_last, lambda t, o: t + o))
wrong("starts_with_overlap", "up to the end of the stream")(starts(lambda n, t, o: n, rest))
wrong("starts_with_overlap", "one step before the end")(starts(lambda n, t, o: n - (t - o), rest))
wrong("starts_with_overlap", "the step is 1")(lambda n, t, o: list(range(max(0, n - t))))
wrong("starts_with_overlap", "begin at `overlap`")(starts(to_the_last, rest, lambda t, o: o))
wrong("starts_with_overlap", "one value where several")(lambda n, t, o: count_windows(n, t, t - o))
wrong("starts_with_overlap", "a `set`")(lambda n, t, o: set(range(0, n - t, t - o)))


@wrong("starts_with_overlap", "did not end", ends=False)
def steps_by_the_overlap(num_tokens, context_length, overlap):
    found, start = [], 0
    while start + context_length < num_tokens:
        found = [*found[-100:], start]
        start += overlap
    return found


@wrong("starts_with_overlap", "so that the last window ends with the stream")
def tail_included(num_tokens, context_length, overlap):
    found = list(range(0, num_tokens - context_length, context_length - overlap))
    if found and found[-1] < num_tokens - context_length - 1:
        found.append(num_tokens - context_length - 1)
    return found


@wrong("starts_with_overlap", "the first entry is missing")
def steps_before_it_notes(num_tokens, context_length, overlap):
    found, start = [], context_length - overlap
    while start + context_length < num_tokens:
        found.append(start)
        start += context_length - overlap
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


def rows(inputs, targets):
    """A pair of lists of rows, each from a slice (from, to) behind the start."""

    def answer(ids, starts, length):
        return (
            [ids[s + inputs[0] : s + length + inputs[1]] for s in starts],
            [ids[s + targets[0] : s + length + targets[1]] for s in starts],
        )

    return answer


RIGHT_ROWS = rows((0, 0), (1, 1))

wrong("gather_rows", "no shift")(rows((0, 0), (0, 0)))
wrong("gather_rows", "a double shift")(rows((0, 0), (2, 2)))
wrong("gather_rows", "whole windows")(rows((0, 1), (1, 1)))
wrong("gather_rows", "an inclusive bound")(rows((0, 1), (1, 2)))
wrong("gather_rows", "the targets are one short")(rows((0, 0), (1, 0)))
wrong("gather_rows", "exchanged")(rows((1, 1), (0, 0)))
wrong("gather_rows", "sorted first")(lambda ids, starts, n: RIGHT_ROWS(ids, sorted(starts), n))
wrong("gather_rows", "one pair for each start")(lambda i, ss, n: [(i[s : s + n], i[s + 1 : s + n + 1]) for s in ss])
wrong("gather_rows", "one pair for each start")(lambda i, ss, n: list(zip(*RIGHT_ROWS(i, ss, n), strict=True)))
wrong("gather_rows", "columns for rows")(
    lambda i, ss, n: tuple([list(c) for c in zip(*half, strict=True)] for half in RIGHT_ROWS(i, ss, n))
)
wrong("gather_rows", "one long list")(
    lambda i, ss, n: tuple([x for row in half for x in row] for half in RIGHT_ROWS(i, ss, n))
)
wrong("gather_rows", "the first start alone")(lambda i, ss, n: RIGHT_ROWS(i, ss[:1], n))
wrong("gather_rows", "without the list of rows")(lambda i, ss, n: tuple(h[0] for h in RIGHT_ROWS(i, ss, n)))
wrong("gather_rows", "each start is taken once")(lambda i, ss, n: RIGHT_ROWS(i, list(dict.fromkeys(ss)), n))
wrong("gather_rows", "the number of a start")(lambda i, ss, n: RIGHT_ROWS(i, range(len(ss)), n))
wrong("gather_rows", "multiplied by T")(lambda i, ss, n: RIGHT_ROWS(i, [s * n for s in ss], n))
wrong("gather_rows", "not yet cut")(lambda i, ss, n: [i[s : s + n + 1] for s in ss])
wrong("gather_rows", "a roll")(
    lambda i, ss, n: ([i[s : s + n] for s in ss], [np.roll(i[s : s + n], -1).tolist() for s in ss])
)
wrong("gather_rows", "as a bare id")(lambda i, ss, n: ([i[s : s + n] for s in ss], [i[s + n] for s in ss]))
wrong("gather_rows", "it is a length")(lambda i, ss, n: ([i[s:n] for s in ss], [i[s + 1 : n + 1] for s in ss]))
wrong("gather_rows", "behind the window")(
    lambda i, ss, n: ([i[s : s + n] for s in ss], [i[s + n : s + n + n] for s in ss])
)
wrong("gather_rows", "look back")(lambda i, ss, n: ([i[s : s + n] for s in ss], [i[s - 1 : s + n - 1] for s in ss]))
wrong("gather_rows", None)(lambda i, ss, n: [i[s : s + n] for s in ss])


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

wrong("smallest_stream", "the last target is missing: a")(lambda w, t, s: (w - 1) * s + t if w else 0)
wrong("smallest_stream", "the last target is missing, and")(lambda w, t, s: (w - 1) * s + t)
wrong("smallest_stream", "one post more than gaps")(lambda w, t, s: w * s + t + 1 if w else 0)
wrong("smallest_stream", "n - 1 strides between")(lambda w, t, s: w * s + t + 1)
wrong("smallest_stream", "windows need not lie end to end")(lambda w, t, s: w * (t + 1))
wrong("smallest_stream", "No window needs no id")(lambda w, t, s: (w - 1) * s + t + 1)
wrong("smallest_stream", "one is still held")(lambda w, t, s: max(w - 1, 0) * s + t + 1)
wrong("smallest_stream", "but 0 is smaller")(lambda w, t, s: (w - 1) * s + t + 1 if w > 0 else t)
wrong("smallest_stream", "the *largest* stream")(lambda w, t, s: w * s + t)
wrong("smallest_stream", "the stride is taken for 1")(lambda w, t, s: w + t if w else 0)
wrong("smallest_stream", "only where the stride is T")(lambda w, t, s: w * t + 1 if w else 0)
wrong("smallest_stream", "as long as a stride")(lambda w, t, s: w * s + 1 if w else 0)
wrong("smallest_stream", "n strides")(lambda w, t, s: w * s)
wrong("smallest_stream", "a gap *between* windows")(lambda w, t, s: w * (t + 1) + (w - 1) * s if w else 0)
wrong("smallest_stream", "taken for the overlap")(lambda w, t, s: (w - 1) * (t - s) + t + 1 if w else 0)
wrong("smallest_stream", "one id too many")(lambda w, t, s: (w - 1) * s + t + 2 if w else 0)
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

wrong("rank_share", "some ranks get one entry more")(lambda order, r, w: order[r::w])
wrong("rank_share", "every rank gets the same")(lambda order, r, w: order[: len(order) // w])
wrong("rank_share", "blocks instead of dealing")(lambda order, r, w: order[r * (len(order) // w) :][: len(order) // w])
wrong("rank_share", "filled up with entries from the beginning")(
    lambda order, r, w: (order + order[: -len(order) % w])[r::w]
)
wrong("rank_share", "`order[:-0]` is empty")(lambda order, r, w: order[: -(len(order) % w)][r::w])
wrong("rank_share", "counted from 0")(lambda order, r, w: order[: len(order) // w * w][r - 1 :: w])
wrong("rank_share", "positions in the order")(lambda order, r, w: list(range(r, len(order) // w * w, w)))
wrong("rank_share", "everything that can be dealt")(lambda order, r, w: order[: len(order) // w * w])
wrong("rank_share", "the whole order")(lambda order, r, w: order)
wrong("rank_share", "one round of dealing")(lambda order, r, w: order[r * w : (r + 1) * w])
wrong("rank_share", "some are one entry longer")(lambda order, r, w: np.array_split(order, w)[r].astype(int).tolist())
wrong("rank_share", "the last rank gets what is left over")(
    lambda order, r, w: order[r * (len(order) // w) : (None if r + 1 == w else (r + 1) * (len(order) // w))]
)
wrong("rank_share", "rounded up")(lambda order, r, w: order[r * -(-len(order) // w) : (r + 1) * -(-len(order) // w)])
wrong("rank_share", "sorted first")(lambda order, r, w: sorted(order)[r : len(order) // w * w : w])
wrong("rank_share", "by their *value*")(lambda order, r, w: [x for x in order if x % w == r])
wrong("rank_share", "the stop is the size of a share")(lambda order, r, w: order[r : len(order) // w : w])
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


wrong("batches_left", "entries are skipped")(lambda o, b, d: batches(o, b, d))
wrong("batches_left", "the epoch starts over")(lambda o, b, d: batches(o, b))
wrong("batches_left", "the short last batch is dropped")(lambda o, b, d: [x for x in batches(o, b)[d:] if len(x) == b])
wrong("batches_left", "the short last batch is dropped")(
    lambda o, b, d: [o[k * b : (k + 1) * b] for k in range(d, len(o) // b)]
)
wrong("batches_left", "one batch too few")(lambda o, b, d: batches(o, b)[d + 1 :])
wrong("batches_left", "one batch too many")(lambda o, b, d: batches(o, b)[max(0, d - 1) :])
wrong("batches_left", "an empty batch at the end")(
    lambda o, b, d: [o[k * b : (k + 1) * b] for k in range(d, len(o) // b + 1)]
)
wrong("batches_left", "not cut into batches")(lambda o, b, d: o[d * b :])
wrong("batches_left", "as one batch: cut it")(lambda o, b, d: [o[d * b :]] if o[d * b :] else [])
wrong("batches_left", "even where nothing is left")(lambda o, b, d: [o[d * b :]])
wrong("batches_left", "*were* delivered")(lambda o, b, d: batches(o, b)[:d])
wrong("batches_left", "the next batch alone. All")(lambda o, b, d: batches(o, b)[d : d + 1])
wrong("batches_left", "the next batch alone, without")(lambda o, b, d: o[d * b : (d + 1) * b])
wrong("batches_left", "filled up from the beginning")(lambda o, b, d: [(x + o)[:b] for x in batches(o, b)[d:]])
wrong("batches_left", "a batch too few at the end")(lambda o, b, d: batches(o, b)[d:-1])
wrong("batches_left", "a batch too few at the end")(lambda o, b, d: [o[i : i + b] for i in range(d * b, len(o) - b, b)])
wrong("batches_left", "dealt out in turn")(
    lambda o, b, d: [o[d * b :][k :: -(-len(o[d * b :]) // b)] for k in range(-(-len(o[d * b :]) // b))]
)
wrong("batches_left", "positions, not the entries")(lambda o, b, d: batches(list(range(len(o))), b)[d:])
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


@wrong("tokens_in_tail", "one id too many is taken for reached")
def one_more_is_reached(num_tokens, context, stride):
    n = count_windows(num_tokens, context, stride)
    return num_tokens if n == 0 else num_tokens - 1 - ((n - 1) * stride + context + 1)


@wrong("tokens_in_tail", "right except where N is T + 1")
def no_exact_fit(num_tokens, context, stride):
    return num_tokens if num_tokens <= context + 1 else (num_tokens - context - 1) % stride


@wrong("tokens_in_tail", "a stride too many")
def strides_and_a_window(num_tokens, context, stride):
    n = count_windows(num_tokens, context, stride)
    return num_tokens - (n * stride + context + 1) if n else num_tokens


@wrong("tokens_in_tail", "context length and stride are exchanged")
def swaps_t_and_s(num_tokens, context, stride):
    return num_tokens if num_tokens < stride + 1 else (num_tokens - stride - 1) % context


@wrong("tokens_in_tail", "the last window is not seen where it ends with the stream")
def range_stops_before_an_exact_fit(num_tokens, context, stride):
    end = 0
    for s in range(0, num_tokens - context - 1, stride):
        end = s + context + 1
    return num_tokens - end


@wrong("tokens_in_tail", "n windows reach over (n - 1) strides and one whole window, not over n strides;")
def count_times_stride_clipped(num_tokens, context, stride):
    return max(0, num_tokens - count_windows(num_tokens, context, stride) * stride)


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

wrong("turns_as_target", "at the beginning one too many: before position p there are p starts, not p + 1. And a")(
    lambda p, n, t: min(p + 1, t, n - p)
)
wrong("turns_as_target", "at the end one too few: the very last token is the last target of one window. And a")(
    lambda p, n, t: min(p, t, n - p - 1)
)
wrong("turns_as_target", "one start too few")(lambda p, n, t: sum(1 for s in range(n - t - 1) if s < p <= s + t))
wrong("turns_as_target", "the *last* target of each window alone")(
    lambda p, n, t: sum(1 for s in range(n - t) if p == s + t)
)
wrong("turns_as_target", "the position is counted from 1")(
    lambda p, n, t: sum(1 for s in range(n - t) if s < p - 1 <= s + t)
)
wrong("turns_as_target", "the last target of each window is not counted")(
    lambda p, n, t: sum(1 for s in range(n - t) if p in range(s + 1, s + t))
)
wrong("turns_as_target", "at the end one too few: the very last token is the last target of one window. And a")(
    lambda p, n, t: max(0, min(p, n - 1 - p, t))
)
wrong("turns_as_target", "*whether* the token follows another one")(lambda p, n, t: int(0 < p < n))
wrong("turns_as_target", None, natural=False)(lambda p, n, t: max(0, min(n, t, p - n, p - t)))
wrong("turns_as_target", "all windows that start before the token")(lambda p, n, t: max(0, min(p, n - t)))
right("turns_as_target")(lambda p, n, t: max(0, min(p, t, n - p, n - t)))
right("turns_as_target")(lambda p, n, t: len(set(range(max(0, p - t), p)) & set(range(max(0, n - t)))))
right("turns_as_target")(
    lambda p, n, t: int((torch.arange(max(0, n - t))[:, None] + torch.arange(1, t + 1) == p).sum())
)

# -- starts_with_overlap: a second class --------------------

wrong("starts_with_overlap", "the step is one too short. T - overlap")(
    lambda n, t, overlap: list(range(0, n - t, max(1, t - overlap - 1)))
)
wrong("starts_with_overlap", "the windows' numbers 0")(
    lambda n, t, overlap: list(range(count_windows(n, t, t - overlap)))
)
wrong("starts_with_overlap", "two slips: the step counts all T + 1 ids of")(
    lambda n, t, overlap: list(range(0, n - t + 1, t + 1 - overlap))
)
wrong("starts_with_overlap", None)(lambda n, t, overlap: list(range(0, n - t, overlap + 1)))
wrong("starts_with_overlap", "where the windows *end*")(
    lambda n, t, overlap: [s + t for s in range(0, n - t, t - overlap)]
)
wrong("starts_with_overlap", "right if a window fits")(
    lambda n, t, overlap: [0, *list(range(t - overlap, n - t, t - overlap))]
)
right("starts_with_overlap")(lambda n, t, overlap: window_starts(n, t, t - overlap).tolist())
right("starts_with_overlap")(lambda n, t, overlap: torch.arange(0, max(0, n - t), t - overlap).tolist())
right("starts_with_overlap")(
    lambda n, t, overlap: (
        [i * (t - overlap) for i in range(max(0, (n - overlap - 1) // (t - overlap)))] if n > t else []
    )
)

# -- gather_rows: a second class --------------------


@wrong("gather_rows", "the row of the first start")
def same_list_repeated(ids, starts, context):
    return (
        (
            [ids[starts[0] : starts[0] + context]] * len(starts),
            [ids[starts[0] + 1 : starts[0] + context + 1]] * len(starts),
        )
        if starts
        else ([], [])
    )


wrong("gather_rows", "the last target of each row is made up")(
    lambda ids, starts, t: ([ids[s : s + t] for s in starts], [[*ids[s : s + t][1:], 0] for s in starts])
)
wrong("gather_rows", "positions in the stream")(
    lambda ids, starts, t: ([list(range(s, s + t)) for s in starts], [list(range(s + 1, s + t + 1)) for s in starts])
)


@right("gather_rows")
def gather_rows_otherwise(ids, starts, context):
    i = np.array(starts, dtype=int).reshape(-1, 1) + np.arange(context + 1)
    w = np.array(ids)[i] if len(starts) else np.zeros((0, context + 1), int)
    return (w[:, :-1].tolist(), w[:, 1:].tolist())


@right("gather_rows")
def gather_rows_otherwise_2(ids, starts, context):
    w = [ids[s : s + context + 1] for s in starts]
    return ([r[:-1] for r in w], [r[1:] for r in w])


@right("gather_rows")
def gather_rows_otherwise_3(ids, starts, context):
    if not len(starts):
        return ([], [])
    u = torch.tensor(ids).unfold(0, context + 1, 1)[torch.tensor(starts)]
    return (u[:, :context].tolist(), u[:, 1:].tolist())


# -- smallest_stream: a second class --------------------

wrong("smallest_stream", "n strides and T ids")(lambda n, t, stride: n * stride + t if n else 0)
wrong("smallest_stream", "inputs and targets are counted apart")(lambda n, t, stride: 2 * n * t)
wrong("smallest_stream", "context length and stride are exchanged")(
    lambda n, t, stride: (n - 1) * t + stride + 1 if n else 0
)
wrong("smallest_stream", "how many windows n ids hold")(lambda n, t, stride: count_windows(n, t, stride))
wrong("smallest_stream", "right for one window or more. No window needs no id,")(
    lambda n, t, stride: (n - 1) * stride + t + 1 if n else 1
)
wrong("smallest_stream", "right for one window or more. For none the")(
    lambda n, t, stride: max(0, (n - 1) * stride + t + 1)
)
wrong("smallest_stream", "right except for a single window")(
    lambda n, t, stride: (n - 1) * stride + t + 1 if n > 1 else 0
)
wrong("smallest_stream", None)(lambda n, t, stride: n * max(stride, t) + 1 if n else 0)
wrong("smallest_stream", "2 T ids for the last window")(lambda n, t, stride: (n - 1) * stride + 2 * t if n else 0)
right("smallest_stream")(lambda n, t, stride: next(N for N in range(10**6) if count_windows(N, t, stride) >= n))
right("smallest_stream")(lambda n, t, stride: bool(n) * ((n - 1) * stride + t + 1))

# -- rank_share: a second class --------------------

wrong("rank_share", "the *first* entries are left out")(
    lambda order, rank, world: order[len(order) % world :][rank::world]
)
wrong("rank_share", "ranks are counted from 0: here 0 gets")(
    lambda order, rank, world: order[: len(order) // world * world][rank - 1 :: world] if rank else []
)
wrong("rank_share", "as many entries as a share has")(
    lambda order, rank, world: [i for i in order if i % world == rank][: len(order) // world]
)
wrong("rank_share", "the last entry of each share goes")(lambda order, rank, world: order[rank::world][:-1])
wrong("rank_share", "the stop `len(order) - world_size` is too early")(
    lambda order, rank, world: order[rank : len(order) - world : world]
)
wrong("rank_share", "the shares of all ranks")(
    lambda order, rank, world: [order[k : len(order) // world * world : world] for k in range(world)]
)
right("rank_share")(
    lambda order, rank, world: (
        np.array(order, dtype=int)[: len(order) // world * world].reshape(-1, world)[:, rank].tolist()
    )
)
right("rank_share")(lambda order, rank, world: [order[i * world + rank] for i in range(len(order) // world)])
right("rank_share")(lambda order, rank, world: [row[rank] for row in zip(*[iter(order)] * world, strict=False)])

# -- batches_left: a second class --------------------

wrong("batches_left", "the short last batch is filled up with a number that is no")(
    lambda order, size, done: [(order[i : i + size] + [0] * size)[:size] for i in range(done * size, len(order), size)]
)
wrong("batches_left", "the next batch alone, even where")(
    lambda order, size, done: [order[done * size : (done + 1) * size]]
)
wrong("batches_left", "`[-k:]` keeps the *last* k batches")(
    lambda order, size, done: [order[i : i + size] for i in range(0, len(order), size)][-done:]
)
wrong("batches_left", "the last k batches are left out")(
    lambda order, size, done: (
        [order[i : i + size] for i in range(0, len(order), size)][:-done]
        if done
        else [order[i : i + size] for i in range(0, len(order), size)]
    )
)
wrong("batches_left", "the short batch is cut off first")(
    lambda order, size, done: (
        ([order[: len(order) % size]] if len(order) % size else [])
        + [order[i : i + size] for i in range(len(order) % size, len(order), size)][done:]
    )
)
wrong("batches_left", "the entries of the short last batch stand by themselves")(
    lambda order, size, done: (
        [order[i : i + size] for i in range(done * size, len(order) - size + 1, size)]
        + order[len(order) // size * size :]
    )
)
wrong("batches_left", "the batches overlap")(
    lambda order, size, done: [order[i : i + size] for i in range(done * size, len(order))]
)
wrong("batches_left", "the places where the batches begin")(
    lambda order, size, done: list(range(done * size, len(order), size))
)
wrong("batches_left", "the order is sorted first")(
    lambda order, size, done: [sorted(order)[i : i + size] for i in range(done * size, len(order), size)]
)
wrong("batches_left", None, natural=False)(
    lambda order, size, done: [order[i : i + done] for i in range(done * size, len(order), done)] if done else []
)
wrong("batches_left", "parts of about equal size")(
    lambda order, size, done: [x.tolist() for x in np.array_split(np.array(order), max(1, -(-len(order) // size)))][
        done:
    ]
)


@wrong("batches_left", "what is left when the last batch has been put together is")
def loop_appends_the_rest_even_if_empty(order, size, done):
    out = []
    cur = []
    for x in order[done * size :]:
        cur.append(x)
        if len(cur) == size:
            out.append(cur)
            cur = []
    return [*out, cur]


right("batches_left")(lambda order, size, done: [order[i : i + size] for i in range(0, len(order), size)][done:])
right("batches_left")(
    lambda order, size, done: (
        [t.tolist() for t in torch.tensor(order, dtype=torch.int64).split(size)][done:] if order else []
    )
)


# -- two slips, or one more -----------------------------------------------------------

wrong("tokens_in_tail", "no case of its own")(lambda n, t, s: (n - t) % s)
wrong("turns_as_target", "right, but for the end")(lambda p, n, t: max(0, min(p, t, n - t)))
wrong("turns_as_target", "no more than T windows")(lambda p, n, t: min(p, n - p))
wrong("turns_as_target", "exactly one too large")(lambda p, n, t: max(0, min(p, t, n - p, n - t)) + 1)
wrong("starts_with_overlap", "times the *overlap*")(lambda n, t, o: [k * o for k in range(count_windows(n, t, t - o))])
wrong("starts_with_overlap", "as strides fit")(lambda n, t, o: [k * (t - o) for k in range(n // (t - o))])
wrong("starts_with_overlap", "from back to front")(lambda n, t, o: list(range(0, n - t, t - o))[::-1])
wrong("gather_rows", "the last start alone")(lambda ids, s, t: ([ids[s[-1] :][:t]], [ids[s[-1] + 1 :][:t]]))
wrong("gather_rows", "rows of T - 1 ids")(
    lambda ids, s, t: ([ids[k : k + t - 1] for k in s], [ids[k + 1 : k + t] for k in s])
)
wrong("gather_rows", "one id too early")(
    lambda ids, s, t: ([ids[k - 1 : k - 1 + t] for k in s], [ids[k : k + t] for k in s])
)
wrong("gather_rows", "ends two later")(
    lambda ids, s, t: ([ids[k : k + t] for k in s], [ids[k + 1 : k + t + 2] for k in s])
)
wrong("batches_left", "one entry too many")(lambda o, b, d: [o[i : i + b + 1] for i in range(d * b, len(o), b)])
wrong("batches_left", "one entry too few")(lambda o, b, d: [o[i : i + b - 1] for i in range(d * b, len(o), b)])
wrong("batches_left", "taken for where a batch ends")(lambda o, b, d: [o[i:b] for i in range(d * b, len(o), b)])
wrong("smallest_stream", None)(lambda n, t, s: max(t + 1, n * s) if n else 0)
wrong("rank_share", None)(lambda order, rank, w: order[: len(order) // w * w][::-1][rank::w])

# -- a class that had not seen the mistakes -------------------------------------------

wrong("tokens_in_tail", "T ids are taken off for each window")(lambda n, t, s: n - count_windows(n, t, s) * t)
wrong("tokens_in_tail", None)(lambda n, t, s: n - max([k + t + 1 for k in range(0, n, s)], default=0))
wrong("turns_as_target", None)(lambda p, n, t: min(p + 1, t, n - p, n - t))
wrong("turns_as_target", "counted from 1")(lambda p, n, t: sum(k < p - 1 <= k + t for k in range(n - t)))
wrong("starts_with_overlap", "two numbers for each window")(
    lambda n, t, o: [(k, k + t) for k in range(0, n - t, t - o)]
)


@wrong("starts_with_overlap", "the last start is missing")
def a_window_that_must_not_touch_the_end(num_tokens, context_length, overlap):
    result, start = [], 0
    while start + context_length + 1 < num_tokens:
        result.append(start)
        start += context_length - overlap
    return result


@wrong("gather_rows", "one list for all rows")
def rows_that_go_on(ids, starts, context_length):
    inputs, targets, row, row_of_targets = [], [], [], []
    for start in starts:
        for i in range(start, start + context_length):
            row.append(ids[i])
            row_of_targets.append(ids[i + 1])
        inputs.append(row)
        targets.append(row_of_targets)
    return inputs, targets


wrong("smallest_stream", "2 T ids for the last window")(lambda n, t, s: (n - 1) * s + 2 * t if n else 0)
wrong("rank_share", "`rank` is ignored")(lambda order, rank, w: order[: len(order) // w * w][::w])
wrong("rank_share", None)(lambda order, rank, w: order[w::rank] if rank else order)
wrong("rank_share", "positions in the order")(lambda order, rank, w: list(range(rank, len(order) // w * w, w)))
wrong("batches_left", "an empty batch where nothing is left")(
    lambda o, b, d: [o[i : i + b] for i in range(d * b, max(d * b + 1, len(o)), b)]
)
wrong("batches_left", None)(
    lambda o, b, d: [p.tolist() for p in np.array_split(o[d * b :], max(1, -(-len(o[d * b :]) // b)))]
)
wrong("batches_left", None)(lambda o, b, d: [o[i : i + d] for i in range(d * b, len(o), max(1, d))])
