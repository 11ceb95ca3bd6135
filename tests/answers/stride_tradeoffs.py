"""Answers to the exercises of lesson 5: right ones, and wrong ones with words of what
they are told."""

import math

import numpy as np

from course_lib.exercises.stride_tradeoffs import (
    context_when_scored,
    effective_size,
    plan_from_the_end,
    split_starts,
)
from course_lib.sliding_windows import count_windows
from course_lib.stride_tradeoffs import scored_windows
from course_lib.teaching.checker import FAILED, PASSED


def size_by_marking(num_tokens, context_length, stride):
    is_target = [False] * num_tokens
    for start in range(0, num_tokens - context_length, stride):
        for i in range(context_length):
            is_target[start + 1 + i] = True
    return is_target.count(True)


def size_by_adding(num_tokens, context_length, stride):
    size, end = 0, 0  # the last target so far
    for start in range(0, num_tokens - context_length, stride):
        size += start + context_length - max(start, end)
        end = start + context_length
    return size


def size_of_unique(num_tokens, context_length, stride):
    n = count_windows(num_tokens, context_length, stride)
    targets = np.arange(n)[:, None] * stride + 1 + np.arange(context_length)
    return len(np.unique(targets))


def plan_by_recursion(num_tokens, context_length, stride):
    last = num_tokens - 1
    if last <= context_length:
        return [(0, last, last)]
    rest = plan_by_recursion(num_tokens - stride, context_length, stride)
    return [*rest, (last - context_length, context_length, stride)]


def plan_by_counting(num_tokens, context_length, stride):
    more = max(0, math.ceil((num_tokens - 1 - context_length) / stride))
    first = num_tokens - 1 - more * stride
    plan = [(0, first, first)]
    for i in range(1, more + 1):
        plan.append((first + i * stride - context_length, context_length, stride))
    return plan


def plan_without_order(num_tokens, context_length, stride):
    plan, end = [], num_tokens - 1
    while end > context_length:
        plan.append((end - context_length, context_length, stride))
        end = end - stride
    plan.append((0, end, end))
    return plan


def plan_until_nothing_is_left(num_tokens, context_length, stride):
    plan = []
    end = num_tokens - 1
    while end > 0:
        start = max(end - context_length, 0)
        scored = end if start == 0 else stride
        plan.insert(0, (start, end - start, scored))
        end -= stride
    return plan


def plan_with_s_in_the_first(num_tokens, context_length, stride):
    plan, end, start = [], num_tokens - 1, 1
    while start > 0:
        start = max(end - context_length, 0)
        plan.insert(0, (start, end - start, stride))
        end -= stride
    return plan


def plan_from_the_last_id(num_tokens, context_length, stride):
    plan, end = [], num_tokens
    while end > context_length:
        plan.insert(0, (end - context_length, context_length, stride))
        end -= stride
    return [(0, end, end), *plan]


def earliest_window(position, context_length, stride):
    start = 0
    while start + context_length < position:
        start += stride
    return position - start


def context_in_a_plan(position, context_length, stride):
    for start, length, scored in scored_windows(10 * position, context_length, stride):
        if start + length - scored < position <= start + length:
            return position - start


def context_without_floats(position, context_length, stride):
    steps = -((context_length - position) // stride)
    return position - max(0, steps) * stride


def latest_window(position, context_length, stride):
    starts = [s for s in range(0, position, stride) if s < position]
    return position - starts[-1]


def window_that_ends_before(position, context_length, stride):
    start = (position - context_length) // stride * stride
    return position - max(start, 0)


def parts_one_by_one(num_tokens, cut, context_length, stride):
    parts = []
    for begin, end in ((0, cut), (cut, num_tokens)):
        starts, start = [], begin
        while start + context_length + 1 <= end:
            starts.append(start)
            start += stride
        parts.append(starts)
    return tuple(parts)


def counted_in_each_part(num_tokens, cut, context_length, stride):
    train = count_windows(cut, context_length, stride)
    validation = count_windows(num_tokens - cut, context_length, stride)
    return (
        [i * stride for i in range(train)],
        [cut + i * stride for i in range(validation)],
    )


def validation_from_zero(num_tokens, cut, context_length, stride):
    train = [i * stride for i in range(count_windows(cut, context_length, stride))]
    rest = count_windows(num_tokens - cut, context_length, stride)
    return train, [i * stride for i in range(rest)]


def shared_out_by_start(num_tokens, cut, context_length, stride):
    train, validation = [], []
    for start in range(0, num_tokens - context_length, stride):
        (train if start < cut else validation).append(start)
    return train, validation


def up_to_the_cut(num_tokens, cut, context_length, stride):
    train = list(range(0, cut, stride))
    validation = list(range(cut, num_tokens - context_length, stride))
    return train, validation


def windows_of_t_ids(num_tokens, cut, context_length, stride):
    train = [s for s in range(0, cut, stride) if s + context_length <= cut]
    rest = range(cut, num_tokens, stride)
    return train, [s for s in rest if s + context_length <= num_tokens]


def one_window_too_few(num_tokens, cut, context_length, stride):
    train = [s for s in range(0, cut, stride) if s + context_length < cut - 1]
    rest = range(cut, num_tokens, stride)
    return train, [s for s in rest if s + context_length < num_tokens - 1]


def at_least_one_window(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    new = min(stride, context_length)
    return context_length + (windows - 1) * new


def new_ones_in_each_window(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return windows * min(stride, context_length)


def all_of_each_window(num_tokens, context_length, stride):
    plan, last = [], num_tokens - 1
    while True:
        start = max(0, last - context_length)
        plan.append((start, last - start, last - start))
        if start == 0:
            return plan[::-1]
        last -= stride


def planned_from_the_beginning(num_tokens, context_length, stride):
    return list(scored_windows(num_tokens, context_length, stride))


def a_window_too_many(num_tokens, context_length, stride):
    plan, end = [], num_tokens - 1
    while end - context_length >= 0:
        plan.insert(0, (end - context_length, context_length, stride))
        end -= stride
    plan.insert(0, (0, end, end))
    return plan


def never_as_the_last_target(position, context_length, stride):
    start = 0
    while start + context_length <= position:
        start += stride
    return position - start


def windows_laid_end_to_end(position, context_length, stride):
    start = (position - 1) // context_length * context_length
    return position - start


def context_from_the_training_text(num_tokens, cut, context_length, stride):
    train = list(range(0, cut - context_length, stride))
    first = max(0, cut - context_length)
    validation = list(range(first, num_tokens - context_length, stride))
    return train, validation


ANSWERS = [
    (effective_size, size_by_marking, PASSED),
    (effective_size, size_by_adding, PASSED),
    (effective_size, size_of_unique, PASSED),
    (
        effective_size,
        lambda N, T, S: sum(T for start in range(0, N - T, S)),
        "predictions",
    ),
    (
        effective_size,
        lambda N, T, S: N - 1 if N > 0 else 0,
        "every token but the first",
    ),
    (
        effective_size,
        lambda N, T, S: 0 if N <= T else (N - T - 1) // S * S + T,
        "between two windows",
    ),
    (
        effective_size,
        lambda N, T, S: len({s + i for s in range(0, N - T, S) for i in range(T + 1)}),
        "only an input",
    ),
    (effective_size, lambda N, T, S: count_windows(N, T, S), FAILED),
    (plan_from_the_end, plan_by_recursion, PASSED),
    (plan_from_the_end, plan_by_counting, PASSED),
    (plan_from_the_end, plan_without_order, "in the wrong order"),
    (plan_from_the_end, plan_until_nothing_is_left, "you keep going after"),
    (plan_from_the_end, plan_with_s_in_the_first, "score only S targets"),
    (plan_from_the_end, plan_from_the_last_id, "only a target"),
    (
        plan_from_the_end,
        lambda N, T, S: [(s, min(T, N - 1 - s), min(S, N - 1 - s)) for s in range(0, N - 1, S)],
        FAILED,
    ),
    (context_when_scored, earliest_window, PASSED),
    (context_when_scored, context_in_a_plan, PASSED),
    (context_when_scored, context_without_floats, PASSED),
    (context_when_scored, latest_window, "has already scored it"),
    (context_when_scored, window_that_ends_before, "round up"),
    (
        context_when_scored,
        lambda p, T, S: p if p < T else T,
        "as much context as a window can hold",
    ),
    (
        context_when_scored,
        lambda p, T, S: p + (T - p) // S * S,
        "never below 0",
    ),
    (context_when_scored, lambda p, T, S: min(p, T - S + 1), FAILED),
    (split_starts, parts_one_by_one, PASSED),
    (split_starts, counted_in_each_part, PASSED),
    (split_starts, validation_from_zero, "from the cut"),
    (split_starts, shared_out_by_start, "the steps of training"),
    (split_starts, up_to_the_cut, "reach across the cut"),
    (split_starts, windows_of_t_ids, "windows of T ids"),
    (split_starts, one_window_too_few, "it still fits"),
    (split_starts, lambda N, cut, T, S: ([], []), FAILED),
    (effective_size, at_least_one_window, "no window at all"),
    (effective_size, new_ones_in_each_window, "in the first one all T are new"),
    (plan_from_the_end, all_of_each_window, "score all of its targets"),
    (plan_from_the_end, planned_from_the_beginning, "from the beginning, as the lesson does"),
    (plan_from_the_end, a_window_too_many, "one window too many"),
    (context_when_scored, never_as_the_last_target, "begins at position - T"),
    (context_when_scored, windows_laid_end_to_end, "the windows end to end"),
    (split_starts, context_from_the_training_text, "before the cut"),
]
