"""Answers to the exercises of lesson 05."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import torch

from course_lib.sliding_windows import count_windows, window_starts
from course_lib.stride_tradeoffs import confidence_interval, scored_windows
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


@wrong("effective_size", "predictions are counted")
def n_times_t(num_tokens, context_length, stride):
    n = count_windows(num_tokens, context_length, stride)
    return n * context_length


@wrong("effective_size", "predictions are counted")
def all_turns(num_tokens, context_length, stride):
    return sum(context_length for _ in range(0, num_tokens - context_length, stride))


@wrong("effective_size", "predictions are counted")
def n_times_t_by_hand(num_tokens, context_length, stride):
    n = (num_tokens - context_length - 1) // stride + 1
    return n * context_length


@wrong("effective_size", "cut off at N - 1")
def capped(num_tokens, context_length, stride):
    n = count_windows(num_tokens, context_length, stride)
    return max(0, min(n * context_length, num_tokens - 1))


@wrong("effective_size", "windows are counted")
def number_of_windows(num_tokens, context_length, stride):
    return len(range(0, num_tokens - context_length, stride))


@wrong("effective_size", "between two windows")
def reach_of_the_last(num_tokens, context_length, stride):
    starts = window_starts(num_tokens, context_length, stride)
    return int(starts[-1]) + context_length if len(starts) else 0


@wrong("effective_size", "two slips")
def without_min_and_zero(num_tokens, context_length, stride):
    n = count_windows(num_tokens, context_length, stride)
    return (n - 1) * stride + context_length


@wrong("effective_size", "The tail")
def all_but_the_first(num_tokens, context_length, stride):
    return num_tokens - 1 if num_tokens else 0


@wrong("effective_size", "the tail is no target")
def all_but_one(num_tokens, context_length, stride):
    return num_tokens - 1


@wrong("effective_size", "no window fits")
def without_zero(num_tokens, context_length, stride):
    n = count_windows(num_tokens, context_length, stride)
    return context_length + min(stride, context_length) * (n - 1)


@wrong("effective_size", "the first one brings all T")
def every_window_alike(num_tokens, context_length, stride):
    n = count_windows(num_tokens, context_length, stride)
    return n * stride if stride < context_length else n * context_length


@wrong("effective_size", "input only")
def inputs_and_targets(num_tokens, context_length, stride):
    starts = range(0, num_tokens - context_length, stride)
    return len({start + t for start in starts for t in range(context_length + 1)})


@wrong("effective_size", "one window too many")
def inclusive_bound(num_tokens, context_length, stride):
    starts = range(0, num_tokens - context_length + 1, stride)
    return len({start + t for start in starts for t in range(1, context_length + 1)})


@wrong("effective_size", "given S new targets")
def by_turns(num_tokens, context_length, stride):
    return round(count_windows(num_tokens, context_length, stride) * stride)


@wrong("effective_size", "all tokens are counted", natural=False)
def right_on_the_example(num_tokens, context_length, stride):
    return {(23, 4, 2): 22, (23, 4, 4): 20, (23, 4, 8): 12}.get((num_tokens, context_length, stride), num_tokens)


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


wrong("effective_size", "all tokens are counted")(lambda num_tokens, context_length, stride: num_tokens)
wrong("effective_size", None)(lambda num_tokens, context_length, stride: (num_tokens - 1) // stride * stride)


@wrong("effective_size", "one window too few")
def without_the_first_window(num_tokens, context_length, stride):
    n = max(0, (num_tokens - context_length - 1) // stride)
    return (n - 1) * min(stride, context_length) + context_length if n else 0


@wrong("effective_size", "that ends exactly with the stream")
def range_ends_too_early(num_tokens, context_length, stride):
    starts = range(0, num_tokens - context_length - 1, stride)
    return len({start + t for start in starts for t in range(1, context_length + 1)})


@wrong("effective_size", "with an overlap there is a tail too")
def everything_with_an_overlap(num_tokens, context_length, stride):
    n = count_windows(num_tokens, context_length, stride)
    if n == 0:
        return 0
    return num_tokens - 1 if stride <= context_length else n * context_length


@wrong("effective_size", "have changed places")
def exchanged_in_the_call(num_tokens, context_length, stride):
    n = count_windows(num_tokens, stride, context_length)
    return (n - 1) * min(stride, context_length) + context_length if n else 0


@wrong("effective_size", "brings the smaller one")
def branches_exchanged(num_tokens, context_length, stride):
    n = count_windows(num_tokens, context_length, stride)
    if n == 0:
        return 0
    return n * context_length if stride <= context_length else (n - 1) * stride + context_length


wrong("effective_size", "up to T + 1 new targets")(
    lambda num_tokens, context_length, stride: (
        context_length + (count_windows(num_tokens, context_length, stride) - 1) * min(stride, context_length + 1)
        if num_tokens > context_length
        else 0
    )
)
wrong("effective_size", "the tokens between two windows")(
    lambda num_tokens, context_length, stride: (
        (n := count_windows(num_tokens, context_length, stride)) * context_length
        - max(0, n - 1) * (context_length - stride)
    )
)
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


@wrong("smallest_affordable_stride", "a window costs one token")
def counts_windows_only(num_tokens, context_length, tokens_per_second, seconds):
    for stride in range(1, num_tokens + 1):
        if count_windows(num_tokens, context_length, stride) <= tokens_per_second * seconds:
            return stride


@wrong("smallest_affordable_stride", "T + 1 tokens")
def pays_for_targets(num_tokens, context_length, tokens_per_second, seconds):
    for stride in range(1, num_tokens + 1):
        windows = count_windows(num_tokens, context_length, stride)
        if windows * (context_length + 1) <= tokens_per_second * seconds:
            return stride


@wrong("smallest_affordable_stride", "exactly `seconds`")
def strict(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while count_windows(num_tokens, context_length, stride) * context_length / tokens_per_second >= seconds:
        stride = stride + 1
    return stride


@wrong("smallest_affordable_stride", "a single second")
def without_seconds(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while count_windows(num_tokens, context_length, stride) * context_length > tokens_per_second:
        stride += 1
    return stride


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


@wrong("smallest_affordable_stride", "taken for N tokens")
def one_reading(num_tokens, context_length, tokens_per_second, seconds):
    return max(1, -(-num_tokens // (tokens_per_second * seconds)))


@wrong("smallest_affordable_stride", "the overlap is returned")
def overlap(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while count_windows(num_tokens, context_length, stride) * context_length > tokens_per_second * seconds:
        stride += 1
    return context_length - stride


@wrong("smallest_affordable_stride", "one too large")
def steps_once_more(num_tokens, context_length, tokens_per_second, seconds):
    stride, cost = 1, math.inf
    while cost > tokens_per_second * seconds:
        cost = count_windows(num_tokens, context_length, stride) * context_length
        stride += 1
    return stride


@wrong("smallest_affordable_stride", "does *not* fit")
def last_unaffordable(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while count_windows(num_tokens, context_length, stride) * context_length > tokens_per_second * seconds:
        stride += 1
    return stride - 1


@wrong("smallest_affordable_stride", "1, 2, 4, 8")
def doubles(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while count_windows(num_tokens, context_length, stride) * context_length > tokens_per_second * seconds:
        stride = stride * 2
    return stride


@wrong("smallest_affordable_stride", "ends left out")
def turns_formula(num_tokens, context_length, tokens_per_second, seconds):
    return max(1, math.ceil(num_tokens * context_length / tokens_per_second / seconds))


@wrong("smallest_affordable_stride", "N // S")
def quotient(num_tokens, context_length, tokens_per_second, seconds):
    for stride in range(1, num_tokens + 1):
        if (num_tokens // stride) * context_length <= tokens_per_second * seconds:
            return stride


@wrong("smallest_affordable_stride", "one window too many")
def own_count(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while ((num_tokens - context_length) // stride + 1) * context_length > tokens_per_second * seconds:
        stride += 1
    return stride


@wrong("smallest_affordable_stride", "larger than T")
def at_most_t(num_tokens, context_length, tokens_per_second, seconds):
    for stride in range(1, context_length + 1):
        if count_windows(num_tokens, context_length, stride) * context_length <= tokens_per_second * seconds:
            return stride
    return context_length


@wrong("smallest_affordable_stride", "larger than T")
def nothing_beyond_t(num_tokens, context_length, tokens_per_second, seconds):
    for stride in range(1, context_length + 1):
        if count_windows(num_tokens, context_length, stride) * context_length <= tokens_per_second * seconds:
            return stride


@wrong("smallest_affordable_stride", "is rounded up")
def by_formula_off_by_one(num_tokens, context_length, tokens_per_second, seconds):
    windows = tokens_per_second * seconds // context_length
    return max(1, math.ceil((num_tokens - context_length - 1) / windows))


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


def from_windows(stride_for):
    def answer(num_tokens, context_length, tokens_per_second, seconds):
        return stride_for(num_tokens - context_length - 1, tokens_per_second * seconds / context_length)

    return answer


wrong("smallest_affordable_stride", "rounded down before it is compared")(
    first_that(lambda tokens, speed, seconds, *_: tokens // speed <= seconds)
)
wrong("smallest_affordable_stride", None)(first_that(lambda tokens, speed, seconds, *_: tokens <= speed / seconds))
wrong("smallest_affordable_stride", "never tried")(
    first_that(lambda tokens, speed, seconds, stride, window: stride >= window and tokens <= speed * seconds)
)
wrong("smallest_affordable_stride", "stride 1 is never tried")(
    first_that(lambda tokens, speed, seconds, stride, _: stride > 1 and tokens <= speed * seconds)
)
wrong("smallest_affordable_stride", "is rounded down")(from_windows(lambda room, k: max(1, room // int(k))))
wrong("smallest_affordable_stride", "is rounded up")(from_windows(lambda room, k: max(1, math.ceil(room / int(k)))))
wrong("smallest_affordable_stride", "one too small")(from_windows(lambda room, k: room // int(k)))
wrong("smallest_affordable_stride", "one window too many")(from_windows(lambda room, k: (room + 1) // int(k) + 1))
wrong("smallest_affordable_stride", "whole windows only")(from_windows(lambda room, k: int(room // k) + 1))
wrong("smallest_affordable_stride", "to the nearest whole number")(from_windows(lambda room, k: room // round(k) + 1))
wrong("smallest_affordable_stride", None)(from_windows(lambda room, k: room // max(1, int(k) - 1) + 1))


@wrong("smallest_affordable_stride", "largest stride of all")
def from_above(num_tokens, context_length, tokens_per_second, seconds):
    for stride in range(num_tokens, 0, -1):
        if count_windows(num_tokens, context_length, stride) * context_length <= tokens_per_second * seconds:
            return stride
    return 1


@wrong("smallest_affordable_stride", "paid for once")
def different_tokens(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while by_sum(num_tokens, context_length, stride) > tokens_per_second * seconds:
        stride += 1
    return stride


def first_with(windows):
    def answer(num_tokens, context_length, tokens_per_second, seconds):
        stride = 1
        while windows(num_tokens, context_length, stride) * context_length > tokens_per_second * seconds:
            stride += 1
        return stride

    return answer


wrong("smallest_affordable_stride", "(N - T - 1) // S")(first_with(lambda n, t, s: (n - t - 1) // s))
wrong("smallest_affordable_stride", "only where S divides")(first_with(lambda n, t, s: (n - t) // s))
wrong("smallest_affordable_stride", "changed places")(first_with(lambda n, t, s: count_windows(n, s, t)))
wrong("smallest_affordable_stride", None)(first_with(lambda n, t, s: (n - 1) // s))


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


@wrong("plan_from_the_end", "from the beginning")
def copied_from_the_lesson(num_tokens, context_length, stride):
    return scored_windows(num_tokens, context_length, stride)


@wrong("plan_from_the_end", "last one first")
def not_reversed(num_tokens, context_length, stride):
    plan, last = [], num_tokens - 1
    while last > context_length:
        plan.append((last - context_length, context_length, stride))
        last -= stride
    return [*plan, (0, last, last)]


@wrong("plan_from_the_end", "scored several times")
def all_of_them(num_tokens, context_length, stride):
    return [(s, length, length) for s, length, _ in by_ends(num_tokens, context_length, stride)]


@wrong("plan_from_the_end", "only S targets")
def a_stride_each(num_tokens, context_length, stride):
    return [(s, length, stride) for s, length, _ in by_ends(num_tokens, context_length, stride)]


@wrong("plan_from_the_end", "only S targets")
def a_stride_each_at_most(num_tokens, context_length, stride):
    return [(s, length, min(length, stride)) for s, length, _ in by_ends(num_tokens, context_length, stride)]


@wrong("plan_from_the_end", "go on though")
def down_to_token_1(num_tokens, context_length, stride):
    plan, last = [], num_tokens - 1
    while last > 0:
        start = max(last - context_length, 0)
        plan.append((start, last - start, min(stride, last)))
        last = last - stride
    return plan[::-1]


@wrong("plan_from_the_end", "begins at 0 exactly")
def two_at_zero(num_tokens, context_length, stride):
    plan, last = [], num_tokens - 1
    while last >= context_length:
        plan.insert(0, (last - context_length, context_length, min(stride, last)))
        last -= stride
    return [(0, last, last), *plan] if last > 0 else plan


@wrong("plan_from_the_end", "begins at 0 exactly")
def two_at_zero_unless_all_is_scored(num_tokens, context_length, stride):
    windows, last = [], num_tokens - 1
    while last - context_length >= 0:
        windows.append((last - context_length, context_length, stride))
        last -= stride
    if last:
        windows.append((0, last, last))
    return windows[::-1]


@wrong("plan_from_the_end", "window at the beginning is missing")
def full_windows_only(num_tokens, context_length, stride):
    return [w for w in by_ends(num_tokens, context_length, stride) if w[1] >= context_length]


@wrong("plan_from_the_end", "behind 0")
def stops_at_zero(num_tokens, context_length, stride):
    plan, last = [], num_tokens - 1
    while last - context_length > 0:
        plan.append((last - context_length, context_length, stride))
        last -= stride
    return plan[::-1]


@wrong("plan_from_the_end", "never below 0")
def begins_before_the_stream(num_tokens, context_length, stride):
    plan = by_ends(num_tokens, context_length, stride)
    return [(start + length - context_length, context_length, count) for start, length, count in plan]


@wrong("plan_from_the_end", "not always T")
def always_t_inputs(num_tokens, context_length, stride):
    return [(start, context_length, count) for start, _, count in by_ends(num_tokens, context_length, stride)]


@wrong("plan_from_the_end", "one id too many")
def n_for_the_last(num_tokens, context_length, stride):
    plan, last = [], num_tokens
    while last > context_length:
        plan.append((last - context_length, context_length, stride))
        last -= stride
    return [(0, last, last), *plan[::-1]]


@wrong("plan_from_the_end", "counts inputs alone")
def counts_ids(num_tokens, context_length, stride):
    return [(start, length + 1, count) for start, length, count in by_ends(num_tokens, context_length, stride)]


@wrong("plan_from_the_end", "the step is T - S", natural=False)
def steps_by_the_overlap(num_tokens, context_length, stride):
    return by_ends(num_tokens, context_length, (context_length - stride) or 1)


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


wrong("plan_from_the_end", "with S = T an empty window")(laid_back(zero_too=True))
wrong("plan_from_the_end", "one token too early")(laid_back(last_of=lambda n: n - 2))
wrong("plan_from_the_end", "one id too many")(laid_back(last_of=lambda n: n))
wrong("plan_from_the_end", "one id too late")(laid_back(start_of=lambda last, t: last - t + 1))
wrong("plan_from_the_end", "windows end T apart")(laid_back(step_of=lambda t, s: t))
wrong("plan_from_the_end", "last window scores all of its targets")(
    relaid(lambda plan, n, t, s: [*plan[:-1], (plan[-1][0], plan[-1][1], plan[-1][1])])
)
wrong("plan_from_the_end", "scored have changed places")(
    relaid(lambda plan, n, t, s: [(start, scored, length) for start, length, scored in plan])
)
wrong("plan_from_the_end", "where the window ends")(
    relaid(lambda plan, n, t, s: [(start, start + length, scored) for start, length, scored in plan])
)
wrong("plan_from_the_end", "wherever the stream is long enough")(
    relaid(lambda plan, n, t, s: [(0, min(t, n - 1), plan[0][2]), *plan[1:]])
)
wrong("plan_from_the_end", "in a mirror")(
    lambda num_tokens, context_length, stride: [
        (num_tokens - 1 - start - length, length, scored)
        for start, length, scored in reversed(scored_windows(num_tokens, context_length, stride))
    ]
)
wrong("plan_from_the_end", "another order")(relaid(lambda plan, n, t, s: plan[1:] + plan[:1]))


@wrong("plan_from_the_end", "windows of T - 1 inputs")
def one_input_less(num_tokens, context_length, stride):
    plan, last, start = [], num_tokens - 1, 1
    while start > 0:
        start = max(0, last - context_length + 1)
        plan.append((start, last - start, last if start == 0 else stride))
        last -= stride
    return plan[::-1]


@wrong("plan_from_the_end", None)
def first_up_to_the_second(num_tokens, context_length, stride):
    starts = range(num_tokens - 1 - context_length, 0, -stride)
    rest = [(start, context_length, stride) for start in starts]
    first = rest[-1][0] if rest else num_tokens - 1
    return [(0, first, first), *reversed(rest)]


wrong("plan_from_the_end", "T inputs and T targets")(relaid(lambda plan, n, t, s: [(0, t, t), *plan[1:]]))
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


@wrong("context_when_scored", "all the context there is")
def least_of_both(position, context_length, stride):
    return position if position < context_length else context_length


@wrong("context_when_scored", "always T")
def t(position, context_length, stride):
    return context_length


@wrong("context_when_scored", "with each T")
def end_to_end(position, context_length, stride):
    return position - (position - 1) // context_length * context_length


@wrong("context_when_scored", "no context at all")
def modulo_t(position, context_length, stride):
    return position % context_length


@wrong("context_when_scored", "*latest*")
def latest_window(position, context_length, stride):
    return position - (position - 1) // stride * stride


@wrong("context_when_scored", "position % S")
def modulo_s(position, context_length, stride):
    return position % stride


@wrong("context_when_scored", "rounded down")
def floor(position, context_length, stride):
    start = (position - context_length) // stride * stride
    return position - max(start, 0)


@wrong("context_when_scored", "rounded down")
def truncated(position, context_length, stride):
    return position - max(0, int((position - context_length) / stride) * stride)


@wrong("context_when_scored", "one window too late")
def plus_one(position, context_length, stride):
    start = 0
    while start + context_length <= position and position > context_length:
        start += stride
    return position - start


@wrong("context_when_scored", "position - T + 1")
def without_the_last_target(position, context_length, stride):
    reaching = [s for s in range(0, position + 1, stride) if s + context_length - 1 >= position]
    return position - reaching[0] if reaching else 0


@wrong("context_when_scored", "not rounded")
def unrounded(position, context_length, stride):
    return min(position, context_length - stride + 1)


@wrong("context_when_scored", "never below 0")
def without_max(position, context_length, stride):
    return position + (context_length - position) // stride * stride


@wrong("context_when_scored", "each with one more")
def the_least(position, context_length, stride):
    if position <= context_length:
        return position
    return context_length - stride + 1


@wrong("context_when_scored", "only where S divides T")
def cycle_from_zero(position, context_length, stride):
    if position <= context_length:
        return position
    return (position - 1) % stride + (context_length - stride) + 1


@wrong("context_when_scored", "where the window begins")
def its_start(position, context_length, stride):
    return position - by_trying(position, context_length, stride)


@wrong("context_when_scored", "the token itself")
def with_itself(position, context_length, stride):
    return by_trying(position, context_length, stride) + 1


@wrong("context_when_scored", "one too few")
def without_one(position, context_length, stride):
    return by_trying(position, context_length, stride) - 1


@wrong("context_when_scored", "to the nearest window")
def rounded_to_the_nearest(position, context_length, stride):
    return position - max(0, round((position - context_length) / stride) * stride)


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
wrong("context_when_scored", "T and S have changed places")(
    lambda position, context_length, stride: (
        position - max(0, math.ceil((position - stride) / context_length)) * context_length
    )
)
wrong("context_when_scored", "the number of the window")(
    lambda position, context_length, stride: position - max(0, math.ceil((position - context_length) / stride))
)
wrong("context_when_scored", "the wrong way round")(
    lambda position, context_length, stride: (
        position if position <= context_length else context_length - (position - context_length) % stride
    )
)
wrong("context_when_scored", None)(
    lambda position, context_length, stride: (
        position if position <= context_length else context_length - position % stride
    )
)
wrong("context_when_scored", "one window too late")(
    lambda position, context_length, stride: (
        position if position <= context_length else context_length - stride + (position - context_length) % stride
    )
)


def behind_t(context_of):
    return lambda position, context_length, stride: (
        position if position <= context_length else context_of(position, context_length, stride)
    )


wrong("context_when_scored", "only where S divides T")(
    lambda position, context_length, stride: (
        position - max(0, (position - 1) // stride * stride + stride - context_length)
    )
)
wrong("context_when_scored", "the one at T + 1")(behind_t(lambda p, t, s: t - s + 1 + (p - t) % s))
wrong("context_when_scored", None)(behind_t(lambda p, t, s: t - s + (p - 1) % s))
wrong("context_when_scored", "no more than T - S + 1")(
    lambda position, context_length, stride: min(position, context_length - stride + 1)
)


# half_width


@right("half_width")
def by_statistics(values, quantile):
    return quantile * statistics.stdev(values) / len(values) ** 0.5


@right("half_width")
def by_numpy_ddof_0(values, quantile):
    return quantile * np.std(values) / np.sqrt(len(values) - 1)  # the same number


@right("half_width")
def by_torch(values, quantile):
    values = torch.tensor(values, dtype=torch.float64)
    return quantile * values.std() / math.sqrt(len(values))


@wrong("half_width", "divided by n")
def numpy_std(values, quantile):
    return quantile * np.std(values) / np.sqrt(len(values))


@wrong("half_width", "divided by n")
def pstdev(values, quantile):
    return quantile * statistics.pstdev(values) / math.sqrt(len(values))


@wrong("half_width", "single runs")
def t_times_s(values, quantile):
    return quantile * np.std(values, ddof=1)


@wrong("half_width", "n instead of n - 1")
def t_times_numpy_std(values, quantile):
    return quantile * np.std(values)


@wrong("half_width", "both places")
def one_less_everywhere(values, quantile):
    return quantile * statistics.stdev(values) / math.sqrt(len(values) - 1)


@wrong("half_width", "both ends")
def whole_interval(values, quantile):
    return 2 * quantile * statistics.stdev(values) / math.sqrt(len(values))


@wrong("half_width", "both sides already")
def half_of_it(values, quantile):
    return quantile * statistics.stdev(values) / math.sqrt(len(values)) / 2


@wrong("half_width", "normal distribution")
def normal(values, quantile):
    return 1.96 * statistics.stdev(values) / math.sqrt(len(values))


@wrong("half_width", "√n, not n")
def by_n(values, quantile):
    return quantile * statistics.stdev(values) / len(values)


@wrong("half_width", "variance stands for the deviation")
def var_for_std(values, quantile):
    return quantile * np.var(values, ddof=1) / np.sqrt(len(values))


@wrong("half_width", "variance stands for the deviation")
def numpy_var_for_std(values, quantile):
    return quantile * np.var(values) / np.sqrt(len(values))


@wrong("half_width", "*variance* of the mean")
def without_a_root(values, quantile):
    return quantile * statistics.variance(values) / len(values)


@wrong("half_width", "standard error")
def without_t(values, quantile):
    return statistics.stdev(values) / math.sqrt(len(values))


@wrong("half_width", "n instead of n - 1")
def sum_of_squares(values, quantile):
    mean = sum(values) / len(values)
    return quantile * math.sqrt(sum((v - mean) ** 2 for v in values)) / math.sqrt(len(values))


@wrong("half_width", "half of the range")
def mid_range(values, quantile):
    return (max(values) - min(values)) / 2


@wrong("half_width", "√n is right")
def mean_absolute(values, quantile):
    mean = sum(values) / len(values)
    return quantile * sum(abs(v - mean) for v in values) / len(values) / math.sqrt(len(values))


@wrong("half_width", None, natural=False)
def rounded(values, quantile):
    return round(by_statistics(values, quantile), 1)


def by_deviation(combine):
    return lambda values, quantile: combine(np.std(values, ddof=1), len(values), quantile, np.asarray(values))


right("half_width")(by_deviation(lambda s, n, t, values: t * np.std(values) / np.sqrt(n - 1)))
wrong("half_width", "t times half of the range")(by_deviation(lambda s, n, t, values: t * np.ptp(values) / 2))
wrong("half_width", "from the mean are averaged")(
    by_deviation(lambda s, n, t, values: t * np.abs(values - values.mean()).mean())
)
wrong("half_width", "`quantile` is not used")(lambda values, quantile: confidence_interval(values)[1])
wrong("half_width", "upper end")(by_deviation(lambda s, n, t, values: values.mean() + t * s / n**0.5))
wrong("half_width", "lower end")(by_deviation(lambda s, n, t, values: values.mean() - t * s / n**0.5))
wrong("half_width", "rounded to two decimals")(by_deviation(lambda s, n, t, values: round(t * s / n**0.5, 2)))
wrong("half_width", "mean is not subtracted")(
    by_deviation(lambda s, n, t, values: t * math.sqrt((values**2).sum() / (n - 1) / n))
)
wrong("half_width", "variance of the mean alone")(by_deviation(lambda s, n, t, values: s**2 / n))
wrong("half_width", None)(by_deviation(lambda s, n, t, values: s**2 / n**0.5))
wrong("half_width", None, natural=False)(by_deviation(lambda s, n, t, values: t * s // n**0.5))
wrong("half_width", "several values")(
    by_deviation(lambda s, n, t, values: (values.mean() - t * s / n**0.5, values.mean() + t * s / n**0.5))
)


wrong("half_width", "two slips. s² divides by n - 1, which")(by_deviation(lambda s, n, t, v: np.std(v) / n**0.5))
wrong("half_width", "deviation s of single runs alone")(by_deviation(lambda s, n, t, v: s))
wrong("half_width", "alone, with n instead of n - 1")(by_deviation(lambda s, n, t, v: np.std(v)))
wrong("half_width", "by √n, not by n")(by_deviation(lambda s, n, t, v: t * np.std(v) / n))
wrong("half_width", None)(by_deviation(lambda s, n, t, v: t / n**0.5))


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


@wrong("split_starts", "counted from the cut")
def own_streams(num_tokens, cut, context_length, stride):
    return window_starts(cut, context_length, stride), window_starts(num_tokens - cut, context_length, stride)


@wrong("split_starts", "they have T + 1")
def windows_of_t(num_tokens, cut, context_length, stride):
    train = range(0, cut - context_length + 1, stride)
    return list(train), list(range(cut, num_tokens - context_length + 1, stride))


@wrong("split_starts", "last validation window overruns")
def only_validation_overruns(num_tokens, cut, context_length, stride):
    return list(range(0, cut - context_length, stride)), list(range(cut, num_tokens - context_length + 1, stride))


@wrong("split_starts", "up to the end")
def to_the_end(num_tokens, cut, context_length, stride):
    return list(range(0, cut - context_length, stride)), list(range(cut, num_tokens, stride))


@wrong("split_starts", "overrun it")
def plain_ranges(num_tokens, cut, context_length, stride):
    return list(range(0, cut, stride)), list(range(cut, num_tokens, stride))


@wrong("split_starts", "num_tokens - cut - T")
def stop_of_a_part(num_tokens, cut, context_length, stride):
    train = list(range(0, cut - context_length, stride))
    return train, list(range(cut, num_tokens - cut - context_length, stride))


@wrong("split_starts", "dealt out")
def dealt_out(num_tokens, cut, context_length, stride):
    starts = window_starts(num_tokens, context_length, stride)
    return starts[starts < cut], starts[starts >= cut]


@wrong("split_starts", "cut - T")
def trains_up_to_the_cut(num_tokens, cut, context_length, stride):
    return list(range(0, cut, stride)), list(range(cut, num_tokens - context_length, stride))


@wrong("split_starts", "last target behind the cut")
def one_training_window_more(num_tokens, cut, context_length, stride):
    train = list(range(0, cut - context_length + 1, stride))
    return train, list(range(cut, num_tokens - context_length, stride))


@wrong("split_starts", "grid of the training windows")
def one_grid(num_tokens, cut, context_length, stride):
    starts = window_starts(num_tokens, context_length, stride)
    return starts[starts + context_length < cut], starts[starts >= cut]


@wrong("split_starts", "cut - 1 still fits")
def one_window_less(num_tokens, cut, context_length, stride):
    train = list(range(0, cut - context_length - 1, stride))
    return train, list(range(cut, num_tokens - context_length, stride))


@wrong("split_starts", "in both parts")
def one_window_less_in_both(num_tokens, cut, context_length, stride):
    last = context_length + 1
    return list(range(0, cut - last, stride)), list(range(cut, num_tokens - last, stride))


@wrong("split_starts", "behind the cut")
def from_behind_the_cut(num_tokens, cut, context_length, stride):
    train = list(range(0, cut - context_length, stride))
    return train, list(range(cut + 1, num_tokens - context_length, stride))


@wrong("split_starts", "begin before the cut")
def with_context(num_tokens, cut, context_length, stride):
    train = list(range(0, cut - context_length, stride))
    return train, list(range(max(cut - context_length, 0), num_tokens - context_length, stride))


@wrong("split_starts", "validation comes first")
def the_other_way_round(num_tokens, cut, context_length, stride):
    return by_window_starts(num_tokens, cut, context_length, stride)[::-1]


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
wrong("split_starts", "validation windows begin at every id.")(ranges(to_the_cut, lambda n, cut, t, s: (cut, n - t)))
wrong("split_starts", "the stride is forgotten")(
    ranges(lambda n, cut, t, s: (cut - t,), lambda n, cut, t, s: (cut, n - t))
)
wrong("split_starts", "end to end")(ranges(lambda n, cut, t, s: (0, cut - t, t), lambda n, cut, t, s: (cut, n - t, t)))
wrong("split_starts", "have changed places")(
    ranges(lambda n, cut, t, s: (0, cut - s, t), lambda n, cut, t, s: (cut, n - s, t))
)
wrong("split_starts", "to the end of the stream")(ranges(lambda n, cut, t, s: (0, n - t, s), from_the_cut))
wrong("split_starts", "gets one all the same")(
    ranges(lambda n, cut, t, s: (0, max(1, cut - t), s), lambda n, cut, t, s: (cut, max(cut + 1, n - t), s))
)


@wrong("split_starts", "in one list")
def joined(num_tokens, cut, context_length, stride):
    training, validation = ranges(to_the_cut, from_the_cut)(num_tokens, cut, context_length, stride)
    return training + validation


def counted(windows_of):
    def answer(num_tokens, cut, context_length, stride):
        return tuple(
            [first + i * stride for i in range(windows_of(size, context_length, stride, num_tokens))]
            for first, size in ((0, cut), (cut, num_tokens - cut))
        )

    return answer


wrong("split_starts", "one window is missing")(counted(lambda n, t, s, _: max(0, (n - t - 1) // s)))
wrong("split_starts", "right only where S divides")(counted(lambda n, t, s, _: max(0, (n - t) // s)))


@wrong("split_starts", "as many validation windows")
def windows_of_the_stream(num_tokens, cut, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return window_starts(cut, context_length, stride), [cut + i * stride for i in range(windows)]


wrong("split_starts", "one too careful in validation")(ranges(to_the_cut, lambda n, cut, t, s: (cut, n - t - 1, s)))
wrong("split_starts", None)(ranges(to_the_cut, lambda n, cut, t, s: (cut + t, n - t, s)))

# -- a class that had not seen the mistakes -------------------------------------------

wrong("effective_size", "up to the end of the last window")(lambda n, t, s: n - (n - t - 1) % s if n > t else 0)
wrong("effective_size", "exactly one too small")(
    lambda n, t, s: (count_windows(n, t, s) - 1) * min(s, t) + t - 1 if n > t else 0
)
wrong("effective_size", None)(lambda n, t, s: ((n - t - 1) // s - 1) * min(s, t) + t if n > t else 0)
wrong("smallest_affordable_stride", "(N - T - 1) / (n - 1)")(
    from_windows(lambda room, k: max(1, math.ceil(room / max(1, int(k) - 1))))
)


def plan_with(first, later):
    def answer(num_tokens, context_length, stride):
        plan, last = [], num_tokens - 1
        while last > context_length:
            plan.insert(0, later(last, context_length, stride))
            last -= stride
        return [first(last, context_length, stride), *plan]

    return answer


def right_first(last, context_length, stride):
    return 0, last, last


def right_later(last, context_length, stride):
    return last - context_length, context_length, stride


wrong("plan_from_the_end", "the first window scores T targets")(plan_with(lambda e, t, s: (0, e, t), right_later))
wrong("plan_from_the_end", "of the first window is counted")(plan_with(lambda e, t, s: (0, e + 1, e), right_later))
wrong("plan_from_the_end", "start one id too late")(plan_with(right_first, lambda e, t, s: (e - t + 1, t, s)))
wrong("plan_from_the_end", "two things at once")(
    plan_with(lambda e, t, s: (0, e, t), lambda e, t, s: (e - t + 1, t, s))
)
wrong("plan_from_the_end", "at positions below 0")(
    lambda n, t, s: [(end - t, t, s) for end in range(n - 1, 0, -s)][::-1]
)
wrong("plan_from_the_end", "that is the plan of the lesson")(lambda n, t, s: scored_windows(n, t, s))


@wrong("plan_from_the_end", None)
def the_first_window_one_longer(num_tokens, context_length, stride):
    plan, last = [], num_tokens - 1
    while last - context_length > 1:
        plan.insert(0, (last - context_length, context_length, stride))
        last -= stride
    return [(0, last, last), *plan]


wrong("context_when_scored", "T - S behind the first window")(lambda p, t, s: p if p <= t else t - s)
wrong("split_starts", "how many windows each part has")(
    lambda n, c, t, s: (count_windows(c, t, s), count_windows(n - c, t, s))
)
wrong("split_starts", "numbered 0, 1, 2")(
    lambda n, c, t, s: (list(range(count_windows(c, t, s))), [c + i for i in range(count_windows(n - c, t, s))])
)
wrong("split_starts", None)(lambda n, c, t, s: (list(range(0, c - t, s)), list(range(c + t, n - t, s))))
wrong("smallest_affordable_stride", "N / n, rounded up")(
    lambda n, t, speed, seconds: max(1, math.ceil(n / (speed * seconds // t)))
)
wrong("plan_from_the_end", "as if it were any other")(plan_with(lambda e, t, s: (0, t, s), right_later))
wrong("context_when_scored", None)(lambda p, t, s: p if p <= t else t - s + p % s)
wrong("context_when_scored", None)(lambda p, t, s: min(p, s))
wrong("half_width", None)(lambda values, quantile: quantile * np.var(values) / len(values))
wrong("split_starts", None)(lambda n, c, t, s: (list(range(0, c - t, s)), list(range(0, n - c - t + 1, s))))
