"""Answers to the exercises of lesson 05."""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch

from course_lib.sliding_windows import count_windows, window_starts
from course_lib.stride_tradeoffs import scored_windows
from wrong_answers import refused, right, wrong

# effective_size


@right("effective_size")
def by_sets(num_tokens, context_length, stride):
    starts = range(0, num_tokens - context_length, stride)
    return len({start + t for start in starts for t in range(1, context_length + 1)})


@right("effective_size")
def by_numpy(num_tokens, context_length, stride):
    starts = window_starts(num_tokens, context_length, stride)
    return np.unique(starts[:, None] + 1 + np.arange(context_length)).size


@right("effective_size")
def by_sum(num_tokens, context_length, stride):
    new = [context_length] + [min(stride, context_length)] * (num_tokens + 1)
    return sum(new[: count_windows(num_tokens, context_length, stride)])


@refused("effective_size", "float")
def as_float(num_tokens, context_length, stride):
    n = count_windows(num_tokens, context_length, stride)
    return float(context_length + (n - 1) * min(stride, context_length)) if n else 0.0


@right("effective_size")
def size_by_recursion(num_tokens, context_length, stride):
    if num_tokens <= context_length:
        return 0
    rest = size_by_recursion(num_tokens - stride, context_length, stride)
    return min(stride, context_length) + rest if rest else context_length


@right("effective_size")
def size_by_torch(num_tokens, context_length, stride):
    starts = torch.arange(count_windows(num_tokens, context_length, stride)) * stride
    return torch.unique(starts[:, None] + torch.arange(context_length)).numel()


@wrong("effective_size", "that ends exactly with the stream")
def range_ends_too_early(num_tokens, context_length, stride):
    starts = range(0, num_tokens - context_length - 1, stride)
    return len({start + t for start in starts for t in range(1, context_length + 1)})


wrong("effective_size", None)(
    lambda num_tokens, context_length, stride: (
        num_tokens - 1 - max(0, count_windows(num_tokens, context_length, stride) - 1) * max(0, stride - context_length)
    )
)


# smallest_affordable_stride


@right("smallest_affordable_stride")
def by_formula(num_tokens, context_length, tokens_per_second, seconds):
    windows = tokens_per_second * seconds // context_length
    return max(1, (num_tokens - context_length - 1) // windows + 1)


@right("smallest_affordable_stride")
def by_next(num_tokens, context_length, tokens_per_second, seconds):
    return next(
        stride
        for stride in itertools.count(1)
        if count_windows(num_tokens, context_length, stride) * context_length / tokens_per_second <= seconds
    )


@right("smallest_affordable_stride")
def by_bisection(num_tokens, context_length, tokens_per_second, seconds):
    low, high = 1, num_tokens
    while low < high:
        middle = (low + high) // 2
        if count_windows(num_tokens, context_length, middle) * context_length <= tokens_per_second * seconds:
            high = middle
        else:
            low = middle + 1
    return low


@refused("smallest_affordable_stride", "float")
def stride_as_float(num_tokens, context_length, tokens_per_second, seconds):
    return float(by_formula(num_tokens, context_length, tokens_per_second, seconds))


@wrong("smallest_affordable_stride", "did not end", ends=False)
def without_the_speed(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while count_windows(num_tokens, context_length, stride) * context_length > seconds:
        stride += 1
    return stride


@wrong("smallest_affordable_stride", "did not end", ends=False)
def reversed_test(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while count_windows(num_tokens, context_length, stride) * context_length <= tokens_per_second * seconds:
        stride += 1
    return stride


@wrong("smallest_affordable_stride", "did not end", ends=False)
def forgets_to_step(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while count_windows(num_tokens, context_length, stride) * context_length > tokens_per_second * seconds:
        pass
    return stride


@right("smallest_affordable_stride")
def by_formula_alone(num_tokens, context_length, tokens_per_second, seconds):
    return (num_tokens - context_length - 1) // (tokens_per_second * seconds // context_length) + 1


@right("smallest_affordable_stride")
def by_halving(num_tokens, context_length, tokens_per_second, seconds):
    low, high = 1, num_tokens
    while low < high:
        middle = (low + high) // 2
        if count_windows(num_tokens, context_length, middle) * context_length <= tokens_per_second * seconds:
            high = middle
        else:
            low = middle + 1
    return low


@right("smallest_affordable_stride")
def by_argmax(num_tokens, context_length, tokens_per_second, seconds):
    strides = np.arange(1, num_tokens + 1)
    windows = (num_tokens - context_length - 1) // strides + 1
    return strides[np.argmax(windows * context_length <= tokens_per_second * seconds)]


def first_that(fits):
    def answer(num_tokens, context_length, tokens_per_second, seconds):
        for stride in range(1, num_tokens + 1):
            tokens = count_windows(num_tokens, context_length, stride) * context_length
            if fits(tokens, tokens_per_second, seconds, stride, context_length):
                return stride
        return num_tokens

    return answer


wrong("smallest_affordable_stride", None)(first_that(lambda tokens, speed, seconds, *_: tokens <= speed / seconds))


# plan_from_the_end


@right("plan_from_the_end")
def by_ends(num_tokens, context_length, stride):
    ends = list(range(num_tokens - 1, context_length, -stride))
    windows = [(last - context_length, context_length, stride) for last in ends]
    first = (ends[-1] if ends else num_tokens - 1 + stride) - stride
    return [(0, first, first), *reversed(windows)]


@right("plan_from_the_end")
def by_recursion(num_tokens, context_length, stride):
    if num_tokens - 1 <= context_length:
        return [(0, num_tokens - 1, num_tokens - 1)]
    window = (num_tokens - 1 - context_length, context_length, stride)
    return [*by_recursion(num_tokens - stride, context_length, stride), window]


@right("plan_from_the_end")
def as_array(num_tokens, context_length, stride):
    return np.array(by_ends(num_tokens, context_length, stride))


@right("plan_from_the_end")
def mirrored(num_tokens, context_length, stride):
    starts = [0, *reversed(range(num_tokens - 1 - context_length, 0, -stride))]
    ends = [num_tokens - 1 - stride * k for k in reversed(range(len(starts)))]
    first = [ends[0]] + [stride] * (len(ends) - 1)
    return [(start, end - start, scored) for start, end, scored in zip(starts, ends, first, strict=True)]


@wrong("plan_from_the_end", "did not end", ends=False)
def never_reaches_zero(num_tokens, context_length, stride):
    plan, last = [], num_tokens - 1
    while last != 0:
        start = max(0, last - context_length)
        plan.append((start, last - start, stride))
        last -= stride
    return plan[::-1]


@right("plan_from_the_end")
def plan_by_formula(num_tokens, context_length, stride):
    later = max(0, -(-(num_tokens - 1 - context_length) // stride))
    first = num_tokens - 1 - later * stride
    ends = first + stride * np.arange(1, later + 1)
    rest = [(end - context_length, context_length, stride) for end in ends]
    return torch.tensor([(0, first, first), *rest])


def laid_back(*, last_of=lambda n: n - 1, start_of=lambda last, t: last - t, step_of=lambda t, s: s, zero_too=False):
    def answer(num_tokens, context_length, stride):
        plan, last = [], last_of(num_tokens)
        while (start := start_of(last, context_length)) > 0 or (zero_too and start == 0):
            plan.append((start, context_length, stride))
            last -= step_of(context_length, stride)
        return [(0, last, last), *reversed(plan)]

    return answer


rightly_laid = right("plan_from_the_end")(laid_back())


def relaid(change):
    return lambda num_tokens, context_length, stride: change(
        rightly_laid(num_tokens, context_length, stride), num_tokens, context_length, stride
    )


wrong("plan_from_the_end", "another order")(relaid(lambda plan, n, t, s: plan[1:] + plan[:1]))


@wrong("plan_from_the_end", None)
def first_up_to_the_second(num_tokens, context_length, stride):
    starts = range(num_tokens - 1 - context_length, 0, -stride)
    rest = [(start, context_length, stride) for start in starts]
    first = rest[-1][0] if rest else num_tokens - 1
    return [(0, first, first), *reversed(rest)]


wrong("plan_from_the_end", None, natural=False)(relaid(lambda plan, n, t, s: [(a + 1, b, c) for a, b, c in plan]))


# context_when_scored


@right("context_when_scored")
def by_trying(position, context_length, stride):
    return max(position - s for s in range(0, position, stride) if s + context_length >= position)


@right("context_when_scored")
def by_remainder(position, context_length, stride):
    if position <= context_length:
        return position
    return context_length - (context_length - position) % stride


@right("context_when_scored")
def by_the_plan(position, context_length, stride):
    plan = scored_windows(position + context_length + 1, context_length, stride)
    return next(position - s for s, length, count in plan if s + length - count < position <= s + length)


@refused("context_when_scored", "float")
def context_as_float(position, context_length, stride):
    return position - max(0.0, np.ceil((position - context_length) / stride) * stride)


@right("context_when_scored")
def context_by_recursion(position, context_length, stride):
    if position <= context_length:
        return position
    return context_by_recursion(position - stride, context_length, stride)


right("context_when_scored")(
    lambda position, context_length, stride: next(
        position - start for start in np.arange(0, position, stride) if start + context_length >= position
    )
)
wrong("context_when_scored", None)(
    lambda position, context_length, stride: (
        position if position <= context_length else context_length - position % stride
    )
)


# purge


@right("purge")
def by_distances(starts, held_out, context_length):
    distances = np.abs(np.subtract.outer(np.array(starts), np.array(held_out, dtype=int)))
    return np.array(starts)[(distances > context_length).all(axis=1)]


@right("purge")
def by_overlap(starts, held_out, context_length):
    free = []
    for start in starts:
        for other in held_out:
            if max(start, other) <= min(start, other) + context_length:
                break
        else:
            free.append(start)
    return free


@right("purge")
def by_nearest(starts, held_out, context_length):
    return [s for s in starts if min((abs(s - h) for h in held_out), default=math.inf) > context_length]


@refused("purge", "float")
def purged_as_floats(starts, held_out, context_length):
    return [float(start) for start in by_nearest(starts, held_out, context_length)]


@wrong("purge", "the last target of one")
def shares_no_target(starts, held_out, context_length):
    targets = {other + 1 + t for other in held_out for t in range(context_length)}
    return [start for start in starts if not targets & {start + 1 + t for t in range(context_length)}]


@wrong("purge", "begins inside a held-out one")
def ends_before(starts, held_out, context_length):
    taken = set(held_out)
    return [start for start in starts if not taken & set(range(start, start + context_length + 1))]


@wrong("purge", "reaches into it")
def begins_in_no_held_out_window(starts, held_out, context_length):
    taken = {other + i for other in held_out for i in range(context_length + 1)}
    return [start for start in starts if start not in taken]


@wrong("purge", "themselves")
def by_set_difference(starts, held_out, context_length):
    return [start for start in starts if start not in held_out]


@wrong("purge", None)
def a_set_of_them(starts, held_out, context_length):
    return [start for start in starts if not held_out or start > max(held_out) + 2 * context_length]


# split_starts


@right("split_starts")
def by_window_starts(num_tokens, cut, context_length, stride):
    validation = cut + window_starts(num_tokens - cut, context_length, stride)
    return window_starts(cut, context_length, stride), validation


@right("split_starts")
def by_ranges(num_tokens, cut, context_length, stride):
    return range(0, cut - context_length, stride), range(cut, num_tokens - context_length, stride)


@right("split_starts")
def by_tensors(num_tokens, cut, context_length, stride):
    train, validation = by_window_starts(num_tokens, cut, context_length, stride)
    return torch.from_numpy(train), torch.from_numpy(validation)


@wrong("split_starts", None)
def cut_counts_windows(num_tokens, cut, context_length, stride):
    starts = window_starts(num_tokens, context_length, stride)
    return starts[:cut], starts[cut:]


def ranges(training, validation):
    def answer(num_tokens, cut, context_length, stride):
        return tuple(list(range(*part(num_tokens, cut, context_length, stride))) for part in (training, validation))

    return answer


def to_the_cut(n, cut, t, s):
    return 0, cut - t, s


def from_the_cut(n, cut, t, s):
    return cut, n - t, s


right("split_starts")(ranges(to_the_cut, from_the_cut))
right("split_starts")(
    lambda num_tokens, cut, context_length, stride: [
        torch.arange(0, max(0, cut - context_length), stride),
        torch.arange(cut, max(cut, num_tokens - context_length), stride),
    ]
)


# -- a class that had not seen the mistakes -------------------------------------------

wrong("effective_size", "exactly one too small")(
    lambda n, t, s: (count_windows(n, t, s) - 1) * min(s, t) + t - 1 if n > t else 0
)
wrong("effective_size", None)(lambda n, t, s: ((n - t - 1) // s - 1) * min(s, t) + t if n > t else 0)


@wrong("plan_from_the_end", None)
def the_first_window_one_longer(num_tokens, context_length, stride):
    plan, last = [], num_tokens - 1
    while last - context_length > 1:
        plan.insert(0, (last - context_length, context_length, stride))
        last -= stride
    return [(0, last, last), *plan]
