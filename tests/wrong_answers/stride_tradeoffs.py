"""Answers to the exercises of lesson 05."""

from __future__ import annotations

import itertools
import math
import statistics

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


@wrong("effective_size", None)
def by_turns(num_tokens, context_length, stride):
    return round(count_windows(num_tokens, context_length, stride) * stride)


@wrong("effective_size", None, natural=False)
def right_on_the_example(num_tokens, context_length, stride):
    return {(23, 4, 2): 22, (23, 4, 4): 20, (23, 4, 8): 12}.get((num_tokens, context_length, stride), num_tokens)


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


@wrong("smallest_affordable_stride", "one too small")
def by_formula_off_by_one(num_tokens, context_length, tokens_per_second, seconds):
    windows = tokens_per_second * seconds // context_length
    return max(1, math.ceil((num_tokens - context_length - 1) / windows))


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


@wrong("context_when_scored", "p % S")
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


@wrong("context_when_scored", "p - T + 1")
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


@wrong("context_when_scored", None, natural=False)
def rounded_to_the_nearest(position, context_length, stride):
    return position - max(0, round((position - context_length) / stride) * stride)


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


@wrong("half_width", None)
def mean_absolute(values, quantile):
    mean = sum(values) / len(values)
    return quantile * sum(abs(v - mean) for v in values) / len(values) / math.sqrt(len(values))


@wrong("half_width", None, natural=False)
def rounded(values, quantile):
    return round(by_statistics(values, quantile), 1)


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
