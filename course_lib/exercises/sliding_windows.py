"""Exercises of lesson 02: count, place, gather, share out and resume windows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from random import Random

import torch
from torch.utils.data import DataLoader

from course_lib.sliding_windows import count_windows, window_starts
from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false


def _streams(random: Random) -> Iterator[Case]:
    for context_length in (1, 2, 4):
        for stride in (1, 2, 3, 5):
            yield from (
                (num_tokens, context_length, stride) for num_tokens in range(12)
            )
    for _ in range(50):
        yield random.randrange(1, 500), random.randrange(1, 40), random.randrange(1, 60)


@exercise(
    cases=_streams,
    hints=(
        "The last window ends T + 1 ids after its start. How many ids come after that?",
        "Where does the last of `count_windows(N, T, S)` windows start, and how far "
        "does it reach? Treat the stream apart in which not even one fits.",
    ),
)
def tokens_in_tail(num_tokens: int, context_length: int, stride: int) -> int:
    """Return how many ids at the end no window reaches; all of them if none fits."""
    windows = count_windows(num_tokens, context_length, stride)
    if windows == 0:
        return num_tokens
    return num_tokens - ((windows - 1) * stride + context_length + 1)


@tokens_in_tail.mistake(
    "windows of T ids. The last target needs one id more, so a tail is one id shorter."
)
def forgets_the_last_target(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return (
        num_tokens - ((windows - 1) * stride + context_length)
        if windows
        else num_tokens
    )


@tokens_in_tail.mistake(
    "the stream is too short for a window, and the tail comes out wrong: treat 0 "
    "windows apart."
)
def forgets_short_streams(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return num_tokens - ((windows - 1) * stride + context_length + 1)


@tokens_in_tail.mistake(
    "the remainder of N divided by S. It ignores that the last window is longer than "
    "its stride."
)
def remainder_of_stride(num_tokens, context_length, stride):
    return num_tokens % stride


@tokens_in_tail.mistake(
    "windows are counted as if they lay end to end, whatever the stride."
)
def ignores_the_stride(num_tokens, context_length, stride):
    return num_tokens % (context_length + 1)


@tokens_in_tail.mistake(
    "right if a window fits. If none does, all ids are tail: treat 0 windows apart."
)
def remainder_of_formula(num_tokens, context_length, stride):
    return (num_tokens - context_length - 1) % stride


@tokens_in_tail.mistake(
    "if no window fits, nothing is used: then *all* ids are tail, not none."
)
def no_window_no_tail(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return num_tokens - ((windows - 1) * stride + context_length + 1) if windows else 0


@tokens_in_tail.mistake(
    "n windows reach over (n - 1) strides and one whole window, not over n strides."
)
def count_times_stride(num_tokens, context_length, stride):
    return num_tokens - count_windows(num_tokens, context_length, stride) * stride


@tokens_in_tail.mistake(
    "windows may overlap: don't take T + 1 ids off for each of them."
)
def count_times_window(num_tokens, context_length, stride):
    return num_tokens - count_windows(num_tokens, context_length, stride) * (
        context_length + 1
    )


@tokens_in_tail.mistake(
    "windows of T ids, counted and laid without the last target. A window reaches one "
    "id further."
)
def windows_of_inputs(num_tokens, context_length, stride):
    windows = max(0, 1 + (num_tokens - context_length) // stride)
    if windows == 0:
        return num_tokens
    return num_tokens - ((windows - 1) * stride + context_length)


@tokens_in_tail.mistake(
    "all ids that no window reaches. A stride longer than a window leaves gaps between "
    "windows as well, and these are not at the end."
)
def counts_gaps(num_tokens, context_length, stride):
    starts = window_starts(num_tokens, context_length, stride).tolist()
    reached = {s + t for s in starts for t in range(context_length + 1)}
    return num_tokens - len(reached)


@tokens_in_tail.mistake(
    "right only where the stride is T: n windows end to end reach over n * S + 1 ids. "
    "In general their last reaches T + 1 ids from its start."
)
def as_if_stride_were_context(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return num_tokens - (windows * stride + 1) if windows else num_tokens


@tokens_in_tail.mistake(
    "windows of T ids laid end to end: `N % T`. Neither the stride nor the last target "
    "is in it."
)
def remainder_of_context(num_tokens, context_length, stride):
    return num_tokens % context_length


@tokens_in_tail.mistake(
    "what lies behind the last *start*. The window itself, T + 1 ids, is reached."
)
def behind_the_last_start(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return num_tokens - (windows - 1) * stride if windows else num_tokens


@tokens_in_tail.mistake(
    "windows counted as if they lay end to end, T inputs each, and one id more at the "
    "very end: the stride is not in it."
)
def ignores_the_stride_but_shares(num_tokens, context_length, stride):
    if num_tokens <= context_length:
        return num_tokens
    return (num_tokens - 1) % context_length


@tokens_in_tail.mistake(
    "one id too many is taken for reached: the window that starts at s holds the T + 1 "
    "ids s to s + T, so N - (s + T + 1) are behind it."
)
def counts_the_last_id(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    if windows == 0:
        return num_tokens
    return num_tokens - ((windows - 1) * stride + context_length + 2)


@tokens_in_tail.mistake(
    "right except where N is T + 1: then exactly one window fits, and nothing is left."
)
def exact_fit_is_none(num_tokens, context_length, stride):
    if num_tokens <= context_length + 1:
        return num_tokens
    return (num_tokens - context_length - 1) % stride


@tokens_in_tail.mistake(
    "a stride too many: n windows are n - 1 strides from the first start to the last, "
    "and then one whole window."
)
def strides_and_a_window(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return (
        num_tokens - (windows * stride + context_length + 1) if windows else num_tokens
    )


@tokens_in_tail.mistake("context length and stride are exchanged.")
def exchanged_lengths(num_tokens, context_length, stride):
    if num_tokens <= stride:
        return num_tokens
    return (num_tokens - stride - 1) % context_length


@tokens_in_tail.mistake(
    "the last window is not seen where it ends with the stream: N - T - 1 is a start "
    "as well."
)
def last_exact_window_missing(num_tokens, context_length, stride):
    end = 0
    for start in range(0, num_tokens - context_length - 1, stride):
        end = start + context_length + 1
    return num_tokens - end


@tokens_in_tail.mistake(
    "n windows reach over (n - 1) strides and one whole window, not over n strides; "
    "`max(0, ...)` only hides where that takes off too much."
)
def count_times_stride_clipped(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return max(0, num_tokens - windows * stride)


@tokens_in_tail.mistake(
    "windows of T ids, and no case of its own for a stream in which none fits. A "
    "window reaches one id further."
)
def remainder_without_target(num_tokens, context_length, stride):
    return (num_tokens - context_length) % stride


@tokens_in_tail.mistake(
    "T ids are taken off for each window. Windows overlap, or have gaps between them: "
    "only where the last one ends matters."
)
def without_the_inputs(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return num_tokens - windows * context_length


def _positions(random: Random) -> Iterator[Case]:
    for num_tokens in (2, 3, 4, 6, 7, 9, 14):
        for context_length in (1, 2, 4, 5, 8):
            for position in range(num_tokens):
                yield position, num_tokens, context_length


@exercise(
    cases=_positions,
    hints=(
        "Token p is a target of the windows that start at p - 1, p - 2, ... p - T. "
        "Which of these starts exist?",
        "Which starts does the stream have at all? Two ranges of starts overlap: count "
        "what they have in common, which may be nothing.",
    ),
)
def turns_as_target(position: int, num_tokens: int, context_length: int) -> int:
    """Return in how many stride-1 windows the token at `position` is a target."""
    first = max(0, position - context_length)
    last = min(position - 1, num_tokens - context_length - 1)
    return max(0, last - first + 1)


@turns_as_target.mistake(
    "as an input. A target stands one position later, so the count at both ends "
    "differs."
)
def turns_as_input(position, num_tokens, context_length):
    first = max(0, position - context_length + 1)
    last = min(position, num_tokens - context_length - 1)
    return max(0, last - first + 1)


@turns_as_target.mistake(
    "T everywhere. That holds in the middle; near both ends there are fewer windows."
)
def always_the_context_length(position, num_tokens, context_length):
    return context_length


@turns_as_target.mistake(
    "the beginning is right, but the end of the stream has fewer windows too."
)
def forgets_the_end(position, num_tokens, context_length):
    return min(position, context_length)


@turns_as_target.mistake(
    "one start too many: a window that starts at N - T has no id left for its last "
    "target."
)
def one_start_too_many(position, num_tokens, context_length):
    first = max(0, position - context_length)
    last = min(position - 1, num_tokens - context_length)
    return max(0, last - first + 1)


@turns_as_target.mistake(
    "three limits, but a short stream sets a fourth: it has only N - T windows in all, "
    "or none."
)
def forgets_short_streams_here(position, num_tokens, context_length):
    return min(position, context_length, num_tokens - position)


@turns_as_target.mistake(
    "windows that *contain* the token: a window's first id is in it, but never its "
    "target."
)
def windows_around(position, num_tokens, context_length):
    first = max(0, position - context_length)
    last = min(position, num_tokens - context_length - 1)
    return max(0, last - first + 1)


@turns_as_target.mistake(
    "right if a window fits. In a stream of T ids or fewer there is none, and no count "
    "is below 0."
)
def negative_without_windows(position, num_tokens, context_length):
    windows = num_tokens - context_length
    return min(position, context_length, windows, num_tokens - position)


@turns_as_target.mistake(
    "the end is right, but the beginning has fewer windows too: nothing comes before "
    "the first token."
)
def forgets_the_beginning(position, num_tokens, context_length):
    return max(0, min(context_length, num_tokens - position))


@turns_as_target.mistake(
    "at the end one too few: the very last token is the last target of one window."
)
def last_is_no_target(position, num_tokens, context_length):
    behind = num_tokens - 1 - position
    return max(0, min(position, context_length, num_tokens - context_length, behind))


@turns_as_target.mistake(
    "windows of T ids, with T - 1 targets each. There is one more id in a window."
)
def one_target_too_few(position, num_tokens, context_length):
    starts = range(max(0, num_tokens - context_length + 1))
    return sum(s < position < s + context_length for s in starts)


@turns_as_target.mistake(
    "all windows, N - T of them. Only those that hold the token behind their first id "
    "count."
)
def all_windows(position, num_tokens, context_length):
    return max(0, num_tokens - context_length)


@turns_as_target.mistake(
    "*whether* it is a target, as 0 or 1. Windows overlap: count how often."
)
def once_or_never(position, num_tokens, context_length):
    return int(position > 0 and num_tokens > context_length)


@turns_as_target.mistake(
    "at the beginning one too many: before position p there are p starts, not p + 1. "
    "The first token of all is never a target."
)
def first_is_a_target(position, num_tokens, context_length):
    windows, ahead = num_tokens - context_length, num_tokens - position
    return max(0, min(position + 1, context_length, windows, ahead))


@turns_as_target.mistake(
    "at the beginning one too many: before position p there are p starts, not p + 1. "
    "And a short stream has only N - T windows in all, or none."
)
def first_is_a_target_short(position, num_tokens, context_length):
    return min(position + 1, context_length, num_tokens - position)


@turns_as_target.mistake(
    "at the end one too few: the very last token is the last target of one window. "
    "And a short stream has only N - T windows in all, or none."
)
def last_is_no_target_short(position, num_tokens, context_length):
    return min(position, context_length, num_tokens - 1 - position)


@turns_as_target.mistake(
    "the *last* target of each window alone. A window has T targets: all but its first "
    "id."
)
def last_targets_alone(position, num_tokens, context_length):
    return int(context_length <= position < num_tokens)


@turns_as_target.mistake(
    "the position is counted from 1. It is counted from 0, as the starts are."
)
def position_from_one(position, num_tokens, context_length):
    return turns_as_target.reference(position - 1, num_tokens, context_length)


@turns_as_target.mistake(
    "*whether* the token follows another one, as 0 or 1. Windows overlap: count how "
    "many there are."
)
def follows_another(position, num_tokens, context_length):
    return int(position > 0)


@turns_as_target.mistake(
    "all windows that start before the token. Those that start more than T before it "
    "end too soon."
)
def all_that_start_before(position, num_tokens, context_length):
    return max(0, min(position, num_tokens - context_length))


@turns_as_target.mistake(
    "one start too few: a window that starts at N - T - 1 ends with the last id."
)
def one_start_too_few(position, num_tokens, context_length):
    first = max(0, position - context_length)
    last = min(position - 1, num_tokens - context_length - 2)
    return max(0, last - first + 1)


@turns_as_target.mistake(
    "the last target of each window is not counted: the targets of a window at s are "
    "s + 1 to s + T, with s + T included."
)
def without_the_last_target(position, num_tokens, context_length):
    starts = range(max(0, num_tokens - context_length))
    return sum(s < position < s + context_length for s in starts)


@turns_as_target.mistake(
    "right, but for the end: the last tokens are in fewer windows again."
)
def without_the_end(position, num_tokens, context_length):
    return max(0, min(position, context_length, num_tokens - context_length))


@turns_as_target.mistake(
    "the two ends are there, but no more than T windows ever hold a token as a target."
)
def without_the_context_length(position, num_tokens, context_length):
    return min(position, num_tokens - position)


def _overlaps(random: Random) -> Iterator[Case]:
    for context_length in (2, 3, 5, 8):
        for num_tokens in (0, context_length, context_length + 1, 12, 20, 31):
            yield from (
                (num_tokens, context_length, overlap)
                for overlap in sorted({0, 1, context_length // 2, context_length - 1})
            )


@exercise(
    cases=_overlaps,
    hints=(
        "The stride is the step from one start to the next. How far do you step if "
        "`overlap` of T inputs stay?",
        "What of T is not overlap is the step. Then think of the last window: all of "
        "its T + 1 ids must fit.",
    ),
)
def starts_with_overlap(
    num_tokens: int, context_length: int, overlap: int
) -> list[int]:
    """Return the starts of windows whose neighbors share `overlap` < T inputs."""
    stride = context_length - overlap
    return list(range(0, num_tokens - context_length, stride))


@starts_with_overlap.mistake(
    "the overlap is taken for the stride. The stride is the step, T - overlap."
)
def overlap_as_stride(num_tokens, context_length, overlap):
    return list(range(0, num_tokens - context_length, max(1, overlap)))


@starts_with_overlap.mistake(
    "the overlap is taken for the stride: the step is T - overlap. With an overlap of "
    "0 there is no step at all."
)
def overlap_as_step(num_tokens, context_length, overlap):
    return list(range(0, num_tokens - context_length, overlap))


@starts_with_overlap.mistake(
    "the last start is missing: N - T - 1 is still a start. (A `range` stops before "
    "its end.)"
)
def stops_too_early(num_tokens, context_length, overlap):
    return list(range(0, num_tokens - context_length - 1, context_length - overlap))


@starts_with_overlap.mistake(
    "an inclusive bound: the window at N - T has T inputs, but no id for its last "
    "target."
)
def inclusive_bound(num_tokens, context_length, overlap):
    return list(range(0, num_tokens - context_length + 1, context_length - overlap))


@starts_with_overlap.mistake(
    "the step counts all T + 1 ids of a window. Two windows then share one input less."
)
def stride_from_window(num_tokens, context_length, overlap):
    return list(range(0, num_tokens - context_length, context_length + 1 - overlap))


@starts_with_overlap.mistake("no overlap at all: the step is T.")
def no_overlap(num_tokens, context_length, overlap):
    return list(range(0, num_tokens - context_length, context_length))


@starts_with_overlap.mistake(
    "the step is one too short: T - overlap, and no 1 less. The last target has no "
    "part in the overlap of inputs."
)
def step_one_too_short(num_tokens, context_length, overlap):
    return list(range(0, num_tokens - context_length, context_length - overlap - 1))


@starts_with_overlap.mistake(
    "the overlap is added. It takes away from the step: the more overlap, the shorter."
)
def adds_the_overlap(num_tokens, context_length, overlap):
    return list(range(0, num_tokens - context_length, context_length + overlap))


@starts_with_overlap.mistake(
    "starts up to the end of the stream. The last ones have no T + 1 ids left."
)
def runs_over_the_end(num_tokens, context_length, overlap):
    return list(range(0, num_tokens, context_length - overlap))


@starts_with_overlap.mistake(
    "the bound is one step before the end. It is N - T: a window needs T + 1 ids, "
    "whatever the step."
)
def bound_by_the_step(num_tokens, context_length, overlap):
    stride = context_length - overlap
    return list(range(0, num_tokens - stride, stride))


@starts_with_overlap.mistake(
    "every start there is, whatever the overlap: the step is 1."
)
def every_start(num_tokens, context_length, overlap):
    return list(range(max(0, num_tokens - context_length)))


@starts_with_overlap.mistake(
    "one start more, so that the last window ends with the stream. It has more than "
    "`overlap` inputs in common with its neighbor: the tail is left out here."
)
def reaches_the_end(num_tokens, context_length, overlap):
    starts = starts_with_overlap.reference(num_tokens, context_length, overlap)
    last = num_tokens - context_length - 1
    return starts + [last] * (bool(starts) and starts[-1] != last)


@starts_with_overlap.mistake(
    "the windows begin at `overlap`. The first one begins at 0."
)
def begins_at_the_overlap(num_tokens, context_length, overlap):
    return list(range(overlap, num_tokens - context_length, context_length - overlap))


@starts_with_overlap.mistake(
    "the bound is T + 1 for N: the stop of the `range` is taken for a length."
)
def without_the_length(num_tokens, context_length, overlap):
    return list(range(0, context_length + 1, context_length - overlap))


@starts_with_overlap.mistake(
    "the step is one too short. T - overlap is at least 1 by itself: `max(1, ...)` "
    "hides that 1 is taken off too many."
)
def step_one_too_short_clipped(num_tokens, context_length, overlap):
    step = max(1, context_length - overlap - 1)
    return list(range(0, num_tokens - context_length, step))


@starts_with_overlap.mistake(
    "the windows' numbers 0, 1, 2, ... A start is a number times the step."
)
def numbers_of_windows(num_tokens, context_length, overlap):
    return list(
        range(count_windows(num_tokens, context_length, context_length - overlap))
    )


@starts_with_overlap.mistake(
    "two slips: the step counts all T + 1 ids of a window (it is T - overlap), and the "
    "start N - T has no id left for its last target."
)
def window_step_and_inclusive_bound(num_tokens, context_length, overlap):
    step = context_length + 1 - overlap
    return list(range(0, num_tokens - context_length + 1, step))


@starts_with_overlap.mistake(
    "where the windows *end*. What is asked for is where they start."
)
def ends_for_starts(num_tokens, context_length, overlap):
    return list(range(context_length, num_tokens, context_length - overlap))


@starts_with_overlap.mistake(
    "right if a window fits. If the stream is too short for one, there is no start, "
    "not even 0."
)
def zero_in_any_case(num_tokens, context_length, overlap):
    starts = starts_with_overlap.reference(num_tokens, context_length, overlap)
    return starts or [0]


@starts_with_overlap.mistake(
    "a number times the *overlap*. From start to start it is T - overlap."
)
def multiples_of_the_overlap(num_tokens, context_length, overlap):
    starts = starts_with_overlap.reference(num_tokens, context_length, overlap)
    return [number * overlap for number in range(len(starts))]


@starts_with_overlap.mistake(
    "as many starts as strides fit. The last ones have no T + 1 ids left."
)
def as_many_as_strides(num_tokens, context_length, overlap):
    stride = context_length - overlap
    return [number * stride for number in range(num_tokens // stride)]


@starts_with_overlap.mistake(
    "two numbers for each window, its start and its end. The starts alone are wanted."
)
def starts_and_ends(num_tokens, context_length, overlap):
    step = context_length - overlap
    starts = range(0, num_tokens - context_length, step)
    return [(start, start + context_length) for start in starts]


def _gathers(random: Random) -> Iterator[Case]:
    for context_length in (1, 2, 3, 5):
        for num_windows in (1, 2, 4):
            for _ in range(3):
                num_tokens = context_length + 2 + random.randrange(8)
                starts = [
                    random.randrange(num_tokens - context_length)
                    for _ in range(num_windows)
                ]
                yield (
                    [random.randrange(100) for _ in range(num_tokens)],
                    starts,
                    context_length,
                )
            yield list(range(context_length + 1)), [0] * num_windows, context_length


@exercise(
    cases=_gathers,
    hints=(
        "One row of inputs and one row of targets for each start.",
        "`ids[s : s + T]` is a row of inputs. Where does its row of targets begin, and "
        "where does it end?",
    ),
)
def gather_rows(
    ids: list[int], starts: list[int], context_length: int
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the rows of inputs, and the rows of targets: one of each per start."""
    inputs = [ids[start : start + context_length] for start in starts]
    targets = [ids[start + 1 : start + 1 + context_length] for start in starts]
    return inputs, targets


@gather_rows.mistake("no shift: the targets are the inputs.")
def no_shift(ids, starts, context_length):
    rows = [ids[start : start + context_length] for start in starts]
    return rows, rows


@gather_rows.mistake("a double shift: the targets are two ids ahead of the inputs.")
def double_shift(ids, starts, context_length):
    return (
        [ids[start : start + context_length] for start in starts],
        [ids[start + 2 : start + 2 + context_length] for start in starts],
    )


@gather_rows.mistake("whole windows. The T + 1st id belongs to the targets alone.")
def whole_windows(ids, starts, context_length):
    return (
        [ids[start : start + context_length + 1] for start in starts],
        [ids[start + 1 : start + 1 + context_length] for start in starts],
    )


@gather_rows.mistake(
    "the starts are sorted first. The order of the starts is the order of the batch: "
    "keep it."
)
def sorted_starts(ids, starts, context_length):
    return gather_rows.reference(ids, sorted(starts), context_length)


@gather_rows.mistake(
    "one pair for each start. It is the other way round: all inputs, and then all "
    "targets."
)
def list_of_pairs(ids, starts, context_length):
    return [
        (
            ids[start : start + context_length],
            ids[start + 1 : start + 1 + context_length],
        )
        for start in starts
    ]


@gather_rows.mistake(
    "the targets are one short: if their slice begins one later, it must end one "
    "later as well."
)
def targets_one_short(ids, starts, context_length):
    return (
        [ids[start : start + context_length] for start in starts],
        [ids[start + 1 : start + context_length] for start in starts],
    )


@gather_rows.mistake(
    "columns for rows: row number i belongs to start number i, and holds T ids."
)
def columns(ids, starts, context_length):
    inputs, targets = gather_rows.reference(ids, starts, context_length)
    return (
        [list(column) for column in zip(*inputs, strict=True)],
        [list(column) for column in zip(*targets, strict=True)],
    )


@gather_rows.mistake("all rows in one long list: keep them apart, one list for each.")
def one_long_list(ids, starts, context_length):
    inputs, targets = gather_rows.reference(ids, starts, context_length)
    return [i for row in inputs for i in row], [i for row in targets for i in row]


@gather_rows.mistake("the first start alone.")
def first_start(ids, starts, context_length):
    return gather_rows.reference(ids, starts[:1], context_length)


@gather_rows.mistake("a single row, without the list of rows around it.")
def first_row(ids, starts, context_length):
    (inputs,), (targets,) = gather_rows.reference(ids, starts[:1], context_length)
    return inputs, targets


@gather_rows.mistake(
    "each start is taken once. A start that comes twice is two rows of the batch."
)
def without_repeats(ids, starts, context_length):
    return gather_rows.reference(ids, list(dict.fromkeys(starts)), context_length)


@gather_rows.mistake("the number of a start in the list is taken for the start itself.")
def numbers_for_starts(ids, starts, context_length):
    return gather_rows.reference(ids, list(range(len(starts))), context_length)


@gather_rows.mistake(
    "the start is taken for the number of a window, and multiplied by T."
)
def times_context(ids, starts, context_length):
    return gather_rows.reference(
        ids, [start * context_length for start in starts], context_length
    )


@gather_rows.mistake("windows of T + 1 ids, not yet cut into inputs and targets.")
def not_cut(ids, starts, context_length):
    return [ids[start : start + context_length + 1] for start in starts]


@gather_rows.mistake(
    "a roll: behind the last input comes the first one again, not the id that follows "
    "in the text."
)
def rolled(ids, starts, context_length):
    inputs = [ids[start : start + context_length] for start in starts]
    return inputs, [row[1:] + row[:1] for row in inputs]


@gather_rows.mistake("one target a row, that of its last input. Every input has one.")
def last_target_alone(ids, starts, context_length):
    inputs = [ids[start : start + context_length] for start in starts]
    return inputs, [[ids[start + context_length]] for start in starts]


@gather_rows.mistake(
    "one target a row, as a bare id. Every input has its own: a row of them."
)
def bare_target(ids, starts, context_length):
    inputs = [ids[start : start + context_length] for start in starts]
    return inputs, [ids[start + context_length] for start in starts]


@gather_rows.mistake("the targets begin behind the window, instead of one id later.")
def next_window(ids, starts, context_length):
    return (
        [ids[start : start + context_length] for start in starts],
        [ids[start + context_length :][:context_length] for start in starts],
    )


@gather_rows.mistake(
    "inputs and targets both have T + 1 ids: an inclusive bound. Rows have T."
)
def rows_one_too_long(ids, starts, context_length):
    return (
        [ids[start : start + context_length + 1] for start in starts],
        [ids[start + 1 : start + context_length + 2] for start in starts],
    )


@gather_rows.mistake("`context_length` is taken for where a row ends: it is a length.")
def end_for_length(ids, starts, context_length):
    return (
        [ids[start:context_length] for start in starts],
        [ids[start + 1 : context_length + 1] for start in starts],
    )


@gather_rows.mistake("the targets are computed, not read: id + 1 is another character.")
def computed(ids, starts, context_length):
    inputs = [ids[start : start + context_length] for start in starts]
    return inputs, [[token + 1 for token in row] for row in inputs]


@gather_rows.mistake("the targets look back: they are the ids *before* the inputs.")
def looks_back(ids, starts, context_length):
    inputs = [ids[start : start + context_length] for start in starts]
    return inputs, [ids[start - 1 : start - 1 + context_length] for start in starts]


@gather_rows.mistake(
    "the row of the first start, again and again. Each start has a row of its own."
)
def first_row_repeated(ids, starts, context_length):
    return gather_rows.reference(ids, starts[:1] * len(starts), context_length)


@gather_rows.mistake(
    "the last target of each row is made up. It is the id that follows the inputs in "
    "the text."
)
def filled_with_zero(ids, starts, context_length):
    inputs = [ids[start : start + context_length] for start in starts]
    return inputs, [[*row[1:], 0] for row in inputs]


@gather_rows.mistake(
    "positions in the stream. What is asked for are the ids that stand there."
)
def positions_for_ids(ids, starts, context_length):
    return gather_rows.reference(list(range(len(ids))), starts, context_length)


@gather_rows.mistake("the last start alone: is a list begun anew in every round?")
def last_start(ids, starts, context_length):
    return gather_rows.reference(ids, starts[-1:], context_length)


@gather_rows.mistake(
    "rows of T - 1 ids. A window has T + 1, so that both halves have T."
)
def rows_one_too_short(ids, starts, context_length):
    return gather_rows.reference(ids, starts, context_length - 1)


@gather_rows.mistake(
    "all windows begin one id too early: a start is the position of its first input."
)
def one_id_too_early(ids, starts, context_length):
    rows = [ids[start - 1 : start - 1 + context_length] for start in starts]
    return rows, [ids[start : start + context_length] for start in starts]


@gather_rows.mistake(
    "the targets are one too many: their slice begins one later, and ends two later "
    "instead of one."
)
def targets_one_too_many(ids, starts, context_length):
    return (
        [ids[start : start + context_length] for start in starts],
        [ids[start + 1 : start + context_length + 2] for start in starts],
    )


@gather_rows.mistake(
    "one list for all rows: each row goes on with the ids of the others. Begin a new "
    "list in each round."
)
def never_a_new_row(ids, starts, context_length):
    inputs = [i for start in starts for i in ids[start : start + context_length]]
    targets = [i for s in starts for i in ids[s + 1 : s + context_length + 1]]
    return [inputs] * len(starts), [targets] * len(starts)


def _wanted_windows(random: Random) -> Iterator[Case]:
    for num_windows in (0, 1, 2, 7):
        yield from (
            (num_windows, context_length, stride)
            for context_length in (1, 3, 8)
            for stride in (1, 2, 8, 11)
        )


@exercise(
    cases=_wanted_windows,
    hints=(
        "Where does the last of n windows start, and how many ids does it need from "
        "there?",
        "From the first start to the last there are n - 1 steps; the last window is as "
        "long as any. And what do no windows need?",
    ),
)
def smallest_stream(num_windows: int, context_length: int, stride: int) -> int:
    """Return the smallest number of ids in which `num_windows` windows fit."""
    if num_windows == 0:
        return 0
    return (num_windows - 1) * stride + context_length + 1


@smallest_stream.mistake("the last target is missing: a window needs T + 1 ids.")
def without_last_target(num_windows, context_length, stride):
    return (num_windows - 1) * stride + context_length if num_windows else 0


@smallest_stream.mistake(
    "a fence has one post more than gaps: between n starts there are n - 1 strides."
)
def one_stride_too_many(num_windows, context_length, stride):
    return num_windows * stride + context_length + 1 if num_windows else 0


@smallest_stream.mistake("the stride is ignored: windows need not lie end to end.")
def end_to_end(num_windows, context_length, stride):
    return num_windows * (context_length + 1)


@smallest_stream.mistake("right for one window or more. No window needs no id: 0.")
def no_window(num_windows, context_length, stride):
    return (num_windows - 1) * stride + context_length + 1


@smallest_stream.mistake(
    "n windows make n - 1 strides between their starts; and for no window there is "
    "nothing to hold."
)
def strides_for_all(num_windows, context_length, stride):
    return num_windows * stride + context_length + 1


@smallest_stream.mistake(
    "right for one window or more. For none, one is still held: no window needs no id."
)
def one_window_at_least(num_windows, context_length, stride):
    return max(0, num_windows - 1) * stride + context_length + 1


@smallest_stream.mistake(
    "right for one window or more. For none it is less than 0: no window needs no id."
)
def too_short_for_one(num_windows, context_length, stride):
    return (num_windows - 1) * stride + (context_length + 1) * (num_windows > 0)


@smallest_stream.mistake(
    "right for one window or more. T ids are too few for a window, but 0 is smaller."
)
def largest_without_window(num_windows, context_length, stride):
    return (
        (num_windows - 1) * stride + context_length + 1
        if num_windows
        else context_length
    )


@smallest_stream.mistake(
    "the *largest* stream that holds no more than n windows: one id more and there are "
    "n + 1."
)
def largest(num_windows, context_length, stride):
    return num_windows * stride + context_length


@smallest_stream.mistake(
    "the stride is taken for 1: from start to start it is S steps."
)
def stride_one(num_windows, context_length, stride):
    return num_windows + context_length if num_windows else 0


@smallest_stream.mistake(
    "right only where the stride is T: windows end to end share the one id where they "
    "meet."
)
def stride_context(num_windows, context_length, stride):
    return num_windows * context_length + 1 if num_windows else 0


@smallest_stream.mistake(
    "the last window is as long as a stride here. It is T + 1 ids long, whatever the "
    "stride."
)
def as_if_stride_were_window(num_windows, context_length, stride):
    return num_windows * stride + 1 if num_windows else 0


@smallest_stream.mistake("n strides. The last window is T + 1 ids long, not a stride.")
def strides_alone(num_windows, context_length, stride):
    return num_windows * stride


@smallest_stream.mistake("the stride is taken for a gap *between* windows.")
def stride_as_gap(num_windows, context_length, stride):
    if num_windows == 0:
        return 0
    return num_windows * (context_length + 1) + (num_windows - 1) * stride


@smallest_stream.mistake(
    "the stride is taken for the overlap. It is the step from start to start."
)
def stride_as_overlap(num_windows, context_length, stride):
    if num_windows == 0:
        return 0
    return (num_windows - 1) * (context_length - stride) + context_length + 1


@smallest_stream.mistake(
    "T + 1 *positions* on from the last start: it is one id too many, since the start "
    "itself is the first of them."
)
def one_id_too_many(num_windows, context_length, stride):
    return (num_windows - 1) * stride + context_length + 2 if num_windows else 0


@smallest_stream.mistake(
    "the last target is missing, and no window still needs something here: 0."
)
def without_last_target_for_all(num_windows, context_length, stride):
    return (num_windows - 1) * stride + context_length


@smallest_stream.mistake(
    "n strides and T ids. From the first start to the last there are n - 1 strides, "
    "and the last window has T + 1 ids."
)
def strides_and_inputs(num_windows, context_length, stride):
    return num_windows * stride + context_length if num_windows else 0


@smallest_stream.mistake(
    "inputs and targets are counted apart. They are the same ids, one on, and the "
    "windows share the stream."
)
def inputs_and_targets_apart(num_windows, context_length, stride):
    return 2 * num_windows * context_length


@smallest_stream.mistake(
    "2 T ids for the last window. Its inputs and its targets share all but one: T + 1."
)
def two_context_lengths(num_windows, context_length, stride):
    return (num_windows - 1) * stride + 2 * context_length if num_windows else 0


@smallest_stream.mistake("context length and stride are exchanged.")
def lengths_exchanged(num_windows, context_length, stride):
    return (num_windows - 1) * context_length + stride + 1 if num_windows else 0


@smallest_stream.mistake(
    "how many windows n ids hold. It is asked the other way round: how many ids n "
    "windows need."
)
def forwards(num_windows, context_length, stride):
    return count_windows(num_windows, context_length, stride)


@smallest_stream.mistake(
    "right for one window or more. For none the formula says T + 1 - S, which "
    "`max(0, ...)` turns to 0 only if it is below."
)
def clipped_at_zero(num_windows, context_length, stride):
    return max(0, (num_windows - 1) * stride + context_length + 1)


@smallest_stream.mistake(
    "right except for a single window: that one needs T + 1 ids as well."
)
def none_for_one(num_windows, context_length, stride):
    return (num_windows - 1) * stride + context_length + 1 if num_windows > 1 else 0


@smallest_stream.mistake(
    "right for one window or more. No window needs no id, not even one: 0."
)
def one_id_for_none(num_windows, context_length, stride):
    return (num_windows - 1) * stride + context_length + 1 if num_windows else 1


def _shares(random: Random) -> Iterator[Case]:
    for world_size in (1, 2, 3, 4):
        for size in sorted({0, world_size - 1, world_size, world_size + 1, 7, 12}):
            order = random.sample(range(100), size)
            yield from ((order, rank, world_size) for rank in range(world_size))


@exercise(
    cases=_shares,
    hints=(
        "Like dealing cards: every `world_size`-th one, beginning with card number "
        "`rank`.",
        "Every machine gets `len(order) // world_size` entries. What is left over must "
        "go, before you deal or after.",
    ),
)
def rank_share(order: list[int], rank: int, world_size: int) -> list[int]:
    """Return what machine number `rank` gets when all get the same number in turn."""
    dealt = len(order) // world_size * world_size
    return order[rank:dealt:world_size]


@rank_share.mistake(
    "some ranks get one entry more. They would wait for the others forever at the "
    "next step."
)
def uneven(order, rank, world_size):
    return order[rank::world_size]


@rank_share.mistake(
    "every rank gets the same entries: the same gradient, computed world_size times."
)
def all_the_same(order, rank, world_size):
    return order[: len(order) // world_size]


@rank_share.mistake(
    "blocks instead of dealing: the shares are disjoint, but not those that were "
    "asked for."
)
def blocks(order, rank, world_size):
    share = len(order) // world_size
    return order[rank * share : (rank + 1) * share]


@rank_share.mistake(
    "the rest is filled up with entries from the beginning, which are then used twice."
)
def padded(order, rank, world_size):
    missing = -len(order) % world_size
    return (order + order[:missing])[rank::world_size]


@rank_share.mistake(
    "`order[:-0]` is empty: if nothing is left over, this cuts everything away."
)
def cuts_everything(order, rank, world_size):
    return order[: -(len(order) % world_size)][rank::world_size]


@rank_share.mistake(
    "ranks are counted from 0: this is the share of the one before, and 0 has that of "
    "the last."
)
def ranks_from_one(order, rank, world_size):
    dealt = len(order) // world_size * world_size
    return order[:dealt][rank - 1 :: world_size]


@rank_share.mistake(
    "positions in the order. What is asked for are the entries that stand there."
)
def positions(order, rank, world_size):
    dealt = len(order) // world_size * world_size
    return list(range(rank, dealt, world_size))


@rank_share.mistake(
    "everything that can be dealt, to each rank: the same gradient, computed "
    "world_size times."
)
def everything(order, rank, world_size):
    return order[: len(order) // world_size * world_size]


@rank_share.mistake("the whole order, to each rank, dealt to nobody.")
def whole_order(order, rank, world_size):
    return list(order)


@rank_share.mistake(
    "a block of `world_size` entries. That is one round of dealing: each rank gets one "
    "of them."
)
def one_round(order, rank, world_size):
    return order[rank * world_size : (rank + 1) * world_size]


@rank_share.mistake(
    "blocks, and some are one entry longer: they would wait for the others forever. "
    "And nothing is dealt in turn."
)
def uneven_blocks(order, rank, world_size):
    share, extra = divmod(len(order), world_size)
    first = rank * share + min(rank, extra)
    return order[first : first + share + (rank < extra)]


@rank_share.mistake(
    "blocks, and the last rank gets what is left over as well: it has more than the "
    "others, and they are not dealt in turn."
)
def rest_to_the_last(order, rank, world_size):
    share = len(order) // world_size
    return order[rank * share : None if rank == world_size - 1 else (rank + 1) * share]


@rank_share.mistake(
    "blocks of the size rounded up: the last one is short, and nothing is dealt in "
    "turn."
)
def blocks_rounded_up(order, rank, world_size):
    share = -(-len(order) // world_size)
    return order[rank * share : (rank + 1) * share]


@rank_share.mistake(
    "the order is sorted first. That undoes the shuffle: deal the entries as they come."
)
def sorted_first(order, rank, world_size):
    return rank_share.reference(sorted(order), rank, world_size)


@rank_share.mistake(
    "the entries are taken by their *value*. They are dealt by their position in the "
    "order."
)
def by_value(order, rank, world_size):
    return [entry for entry in order if entry % world_size == rank]


@rank_share.mistake(
    "a round too few: if nothing is left over, the last round is dealt as well."
)
def one_round_too_few(order, rank, world_size):
    dealt = max(0, len(order) - 1) // world_size * world_size
    return order[rank:dealt:world_size]


@rank_share.mistake(
    "`world_size` and `rank` are exchanged in the slice: begin at `rank`, and step by "
    "`world_size`."
)
def exchanged(order, rank, world_size):
    return order[world_size :: max(1, rank)]


@rank_share.mistake(
    "the stop is the size of a share. It belongs to the order: `world_size` shares."
)
def stop_at_a_share(order, rank, world_size):
    return order[rank : len(order) // world_size : world_size]


@rank_share.mistake(
    "the *first* entries are left out. Deal from the beginning: what is left over "
    "stands at the end."
)
def drops_the_first(order, rank, world_size):
    return order[len(order) % world_size :][rank::world_size]


@rank_share.mistake(
    "ranks are counted from 0: here 0 gets nothing, and rank 1 what belongs to rank 0."
)
def nothing_for_rank_zero(order, rank, world_size):
    return rank_share.reference(order, rank - 1, world_size) if rank else []


@rank_share.mistake(
    "as many entries as a share has, but taken by their *value*. They are dealt by "
    "their position in the order."
)
def share_by_value(order, rank, world_size):
    share = len(order) // world_size
    return [entry for entry in order if entry % world_size == rank][:share]


@rank_share.mistake(
    "the stop `len(order) - world_size` is too early: the last full round is dealt as "
    "well."
)
def stops_a_round_early(order, rank, world_size):
    return order[rank : len(order) - world_size : world_size]


@rank_share.mistake(
    "the shares of all ranks. Only that of number `rank` was asked for."
)
def shares_of_all(order, rank, world_size):
    return [rank_share.reference(order, r, world_size) for r in range(world_size)]


@rank_share.mistake(
    "the last entry of each share goes, needed or not: only what is left over behind "
    "the last full round goes."
)
def always_one_less(order, rank, world_size):
    return order[rank::world_size][:-1]


@rank_share.mistake("`rank` is ignored: every machine gets the share of rank 0.")
def everybody_is_rank_0(order, rank, world_size):
    return order[: len(order) // world_size * world_size : world_size]


def _interruptions(random: Random) -> Iterator[Case]:
    for size in (1, 4, 5, 9):
        order = random.sample(range(100), size)
        for batch_size in (1, 2, 4):
            batches = -(-size // batch_size)
            yield from (
                (order, batch_size, delivered) for delivered in range(batches + 1)
            )


@exercise(
    cases=_interruptions,
    hints=(
        "How many entries of the order have been used after `batches_delivered` "
        "batches?",
        "Cut what is left as you would cut a whole order: in steps of `batch_size`, "
        "with a slice that may come out short at the end.",
    ),
)
def batches_left(
    order: list[int], batch_size: int, batches_delivered: int
) -> list[list[int]]:
    """Return the batches of an epoch that are still to come, a short last one
    included."""
    first = batches_delivered * batch_size
    return [order[i : i + batch_size] for i in range(first, len(order), batch_size)]


@batches_left.mistake(
    "`batches_delivered` entries are skipped. That many *batches* were delivered: skip "
    "`batches_delivered * batch_size` entries."
)
def skips_windows(order, batch_size, batches_delivered):
    return [
        order[i : i + batch_size]
        for i in range(batches_delivered, len(order), batch_size)
    ]


@batches_left.mistake("the epoch starts over: batches that were delivered come again.")
def starts_over(order, batch_size, batches_delivered):
    return [order[i : i + batch_size] for i in range(0, len(order), batch_size)]


@batches_left.mistake("the short last batch is dropped.")
def drops_the_last(order, batch_size, batches_delivered):
    return [
        batch
        for batch in batches_left.reference(order, batch_size, batches_delivered)
        if len(batch) == batch_size
    ]


@batches_left.mistake(
    "one batch too few: the batch after the last delivered one is skipped."
)
def one_too_few(order, batch_size, batches_delivered):
    return batches_left.reference(order, batch_size, batches_delivered)[1:]


@batches_left.mistake(
    "an empty batch at the end, where the batches fill the order exactly."
)
def trailing_empty(order, batch_size, batches_delivered):
    return [
        order[k * batch_size : (k + 1) * batch_size]
        for k in range(batches_delivered, len(order) // batch_size + 1)
    ]


@batches_left.mistake("the entries that are left, not cut into batches.")
def not_cut_into_batches(order, batch_size, batches_delivered):
    return order[batches_delivered * batch_size :]


@batches_left.mistake("all that is left, as one batch: cut it by `batch_size`.")
def one_batch(order, batch_size, batches_delivered):
    rest = order[batches_delivered * batch_size :]
    return [rest] if rest else []


@batches_left.mistake("all that is left as one batch, even where nothing is left.")
def one_batch_even_if_empty(order, batch_size, batches_delivered):
    return [order[batches_delivered * batch_size :]]


@batches_left.mistake("the batches that *were* delivered, instead of those to come.")
def delivered_ones(order, batch_size, batches_delivered):
    return batches_left.reference(order, batch_size, 0)[:batches_delivered]


@batches_left.mistake("the next batch alone. All that are left were asked for.")
def next_one(order, batch_size, batches_delivered):
    return batches_left.reference(order, batch_size, batches_delivered)[:1]


@batches_left.mistake("the next batch alone, without the list of batches around it.")
def next_one_bare(order, batch_size, batches_delivered):
    first = batches_delivered * batch_size
    return order[first : first + batch_size]


@batches_left.mistake(
    "the short last batch is filled up from the beginning of the order, so that some "
    "windows come twice."
)
def filled_up(order, batch_size, batches_delivered):
    batches = batches_left.reference(order, batch_size, batches_delivered)
    return [(batch + order)[:batch_size] for batch in batches]


@batches_left.mistake(
    "a batch too few at the end: the stop `len(order) - batch_size` of a `range` "
    "leaves the last one out, full or short."
)
def stops_too_soon(order, batch_size, batches_delivered):
    first = batches_delivered * batch_size
    stop = len(order) - batch_size
    return [order[i : i + batch_size] for i in range(first, stop, batch_size)]


@batches_left.mistake(
    "one batch too many: the last delivered one comes again. After k batches, batch "
    "number k (from 0) is the next."
)
def one_too_many(order, batch_size, batches_delivered):
    return batches_left.reference(order, batch_size, max(0, batches_delivered - 1))


@batches_left.mistake(
    "batches counted from the end of the order: it is cut from its beginning, so that "
    "the *last* batch is the short one."
)
def short_one_first(order, batch_size, batches_delivered):
    rest = order[batches_delivered * batch_size :]
    short = len(rest) % batch_size
    batches = [rest[i : i + batch_size] for i in range(short, len(rest), batch_size)]
    return ([rest[:short]] if short else []) + batches


@batches_left.mistake(
    "the rest is dealt out in turn. A batch is a run of neighbors in the order."
)
def dealt_out(order, batch_size, batches_delivered):
    rest = order[batches_delivered * batch_size :]
    number = -(-len(rest) // batch_size)
    return [rest[k::number] for k in range(number)]


@batches_left.mistake(
    "slices of the whole stream's numbers: the batches hold positions, not the entries "
    "that stand there."
)
def positions_of_batches(order, batch_size, batches_delivered):
    numbers = list(range(len(order)))
    return batches_left.reference(numbers, batch_size, batches_delivered)


@batches_left.mistake(
    "`batches_delivered` is added to the place, not multiplied: it counts batches."
)
def moved_by_batches(order, batch_size, batches_delivered):
    return [
        order[i + batches_delivered : i + batches_delivered + batch_size]
        for i in range(0, len(order), batch_size)
    ]


@batches_left.mistake(
    "the short last batch is filled up with a number that is no entry of the order. It "
    "stays short."
)
def filled_with_zeros(order, batch_size, batches_delivered):
    batches = batches_left.reference(order, batch_size, batches_delivered)
    return [(batch + [0] * batch_size)[:batch_size] for batch in batches]


@batches_left.mistake(
    "the next batch alone, even where it is empty. All that are left were asked for, "
    "none of them empty."
)
def next_one_even_if_empty(order, batch_size, batches_delivered):
    first = batches_delivered * batch_size
    return [order[first : first + batch_size]]


@batches_left.mistake(
    "`[-k:]` keeps the *last* k batches, as many as were delivered. Leave out the "
    "first k: `[k:]`."
)
def as_many_from_the_end(order, batch_size, batches_delivered):
    return batches_left.reference(order, batch_size, 0)[-batches_delivered:]


@batches_left.mistake(
    "`[:-k]` leaves out the *last* k batches, and everything for k = 0. The first k "
    "were delivered: `[k:]`."
)
def leaves_out_the_last(order, batch_size, batches_delivered):
    return batches_left.reference(order, batch_size, 0)[:-batches_delivered]


@batches_left.mistake("the last k batches are left out. The first k were delivered.")
def leaves_out_the_last_unless_none(order, batch_size, batches_delivered):
    batches = batches_left.reference(order, batch_size, 0)
    return batches[: len(batches) - batches_delivered]


@batches_left.mistake(
    "the short batch is cut off first, at the beginning of the epoch. It is the last "
    "one."
)
def short_one_first_of_all(order, batch_size, batches_delivered):
    short = len(order) % batch_size
    full = batches_left.reference(order[short:], batch_size, batches_delivered)
    return ([order[:short]] if short else []) + full


@batches_left.mistake(
    "the entries of the short last batch stand by themselves among the batches: put "
    "them into a list of their own."
)
def loose_entries(order, batch_size, batches_delivered):
    full = drops_the_last(order, batch_size, batches_delivered)
    return full + order[len(order) // batch_size * batch_size :]


@batches_left.mistake(
    "the batches overlap: from one to the next it is `batch_size` entries, not one."
)
def overlapping_batches(order, batch_size, batches_delivered):
    first = batches_delivered * batch_size
    return [order[i : i + batch_size] for i in range(first, len(order))]


@batches_left.mistake(
    "the places where the batches begin. What is asked for are their entries."
)
def places_of_batches(order, batch_size, batches_delivered):
    return list(range(batches_delivered * batch_size, len(order), batch_size))


@batches_left.mistake(
    "the order is sorted first. That undoes the shuffle, and gives other batches than "
    "those of the run that was interrupted."
)
def sorted_order(order, batch_size, batches_delivered):
    return batches_left.reference(sorted(order), batch_size, batches_delivered)


@batches_left.mistake(
    "parts of about equal size. All batches are full, but for the last one, which "
    "takes what remains."
)
def equal_parts(order, batch_size, batches_delivered):
    number = -(-len(order) // batch_size)
    size, longer = divmod(len(order), number)
    ends = [k * size + min(k, longer) for k in range(number + 1)]
    batches = [order[a:b] for a, b in pairwise(ends)]
    return batches[batches_delivered:]


@batches_left.mistake(
    "what is left when the last batch has been put together is put behind it, even "
    "where that is nothing: no batch is empty."
)
def appends_the_rest(order, batch_size, batches_delivered):
    batches = batches_left.reference(order, batch_size, batches_delivered)
    if batches and len(batches[-1]) < batch_size:
        return batches
    return [*batches, []]


@batches_left.mistake(
    "each batch has one entry too many, which comes again in the next one."
)
def batches_one_too_long(order, batch_size, batches_delivered):
    first = batches_delivered * batch_size
    return [order[i : i + batch_size + 1] for i in range(first, len(order), batch_size)]


@batches_left.mistake(
    "each batch has one entry too few: the stop of a slice is not part of it."
)
def batches_one_too_short(order, batch_size, batches_delivered):
    first = batches_delivered * batch_size
    return [order[i : i + batch_size - 1] for i in range(first, len(order), batch_size)]


@batches_left.mistake("`batch_size` is taken for where a batch ends: it is a length.")
def batch_end_for_length(order, batch_size, batches_delivered):
    first = batches_delivered * batch_size
    return [order[i:batch_size] for i in range(first, len(order), batch_size)]


@batches_left.mistake(
    "an empty batch where nothing is left. All batches were delivered then: the list "
    "is empty."
)
def at_least_one_batch(order, batch_size, batches_delivered):
    rest = order[batches_delivered * batch_size :]
    starts = range(0, max(1, len(rest)), batch_size)
    return [rest[i : i + batch_size] for i in starts]


# Bug or not?


def all_starts(num_tokens: int, context_length: int, stride: int) -> list[int]:
    return window_starts(num_tokens, context_length, stride).tolist()


@bug_or_not(
    purpose="To return the starts of all windows of T inputs *and* T targets, S apart.",
    reference=all_starts,
    cases=_streams,
    explanation=(
        "`N - T + 1` counts windows of T ids. With the last target a window has T + "
        "1, so the start N - T is one too many: its last input has no target, and the "
        "row comes out short or wraps around. Stride > 1 hides it on most lengths."
    ),
)
def starts_from_range(num_tokens: int, context_length: int, stride: int) -> list[int]:
    return list(range(0, num_tokens - context_length + 1, stride))


def _context_lengths(random: Random) -> Iterator[Case]:
    for num_tokens in range(2, 12):
        yield from ((num_tokens, T) for T in range(1, num_tokens))


def possible_starts(num_tokens: int, context_length: int) -> list[int]:
    return [s for s in range(num_tokens) if s + context_length + 1 <= num_tokens]


@bug_or_not(
    purpose="To return all starts that `torch.randint(N - T, ...)`, in the loader of a "
    "well-known small GPT, can draw. Each must leave room for T inputs and T targets, "
    "and none that does may be missing.",
    reference=possible_starts,
    cases=_context_lengths,
    explanation=(
        "The upper end of `randint` is exclusive, as that of a `range`. So the largest "
        "start is N - T - 1: the last one that leaves room for T + 1 ids. A `- 1` for "
        "the last target, added out of care, would lose a start for ever."
    ),
)
def drawn_starts(num_tokens: int, context_length: int) -> list[int]:
    draws = torch.randint(num_tokens - context_length, (2000,), generator=_seeded())
    return sorted(set(draws.tolist()))


def _seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def _resumed_runs(random: Random) -> Iterator[Case]:
    for size in (1, 2, 5, 8):
        for epoch in range(4):
            yield from ((size, epoch, first) for first in range(epoch + 1))


def order_without_interruption(size: int, epoch: int, first_epoch: int) -> list[int]:
    return shuffles_again.snippet(size, epoch, 0)


@bug_or_not(
    purpose="To return the order of windows in `epoch`, in a run that was started, or "
    "resumed, at the beginning of `first_epoch`. A resumed run must go on as if it had "
    "never stopped.",
    reference=order_without_interruption,
    cases=_resumed_runs,
    explanation=(
        "Each epoch shuffles what the epoch before has left, so its order depends on "
        "how many shuffles came before. A resumed run has done fewer: the same seed, "
        "another order. Resumed in the middle of an epoch, it would see some windows "
        "twice and others never. Found in pytorch/torchtitan (issue 2864). The cure: "
        "shuffle a fresh `range(size)`, by seed and epoch alone."
    ),
)
def shuffles_again(size: int, epoch: int, first_epoch: int) -> list[int]:
    order = list(range(size))
    for e in range(first_epoch, epoch + 1):
        Random(e).shuffle(order)  # seed + epoch, as it should be
    return order


def _rows_to_deliver(random: Random) -> Iterator[Case]:
    for num_rows in (1, 2, 4, 6):
        for length in (1, 3):
            yield (
                [
                    [random.randrange(50) for _ in range(length)]
                    for _ in range(num_rows)
                ],
            )


def sum_of_each_row(rows: list[list[int]]) -> list[int]:
    return [sum(row) for row in rows]


@bug_or_not(
    purpose="To deliver row after row to a step that is done with one (here it adds it "
    "up) before it asks for the next, without taking new memory for each.",
    reference=sum_of_each_row,
    cases=_rows_to_deliver,
    explanation=(
        "One buffer is filled again and again, as in the loader of a well-known chat "
        "model. That is fast, and right as long as nobody keeps a row: "
        "`list(deliver())` would hold the last row, many times. The loader of this "
        "lesson gives each batch memory of its own; if yours does not, write it into "
        "its docstring."
    ),
)
def one_buffer(rows: list[list[int]]) -> list[int]:
    buffer = [0] * len(rows[0])

    def deliver():
        for row in rows:
            buffer[:] = row
            yield buffer

    return [sum(row) for row in deliver()]


def _sizes(random: Random) -> Iterator[Case]:
    yield from (
        (size, batch_size) for size in (4, 7, 10, 50) for batch_size in (2, 3, 8)
    )


def default_batches(size: int, batch_size: int) -> list[list[int]]:
    return [batch.tolist() for batch in DataLoader(range(size), batch_size=batch_size)]


@true_or_false(
    claim="“If you give a PyTorch `DataLoader` no sampler and set nothing but "
    "`batch_size`, its default sampler picks the samples at random”.",
    reference=default_batches,
    cases=_sizes,
    explanation=(
        "The default is `shuffle=False`: a `SequentialSampler`, in the order of the "
        "data set. With overlapping windows that is the worst order there is (section "
        "8). A random one takes `shuffle=True`."
    ),
)
def default_sampler(size: int, batch_size: int) -> list[list[int]]:
    loader = DataLoader(
        range(size), batch_size=batch_size, shuffle=True, generator=_seeded()
    )
    return [batch.tolist() for batch in loader]


def _streams_to_window(random: Random) -> Iterator[Case]:
    yield from ((num_tokens,) for num_tokens in (33, 40, 100, 1000, 20_000))


def examples_with_32(num_tokens: int) -> int:
    return count_windows(num_tokens, 32, 1)


@true_or_false(
    claim="“With a context of 32 instead of 16 and stride 1, a stream of 20,000 ids "
    "makes 16 examples fewer, not half as many”.",
    reference=examples_with_32,
    cases=_streams_to_window,
    explanation=(
        "N - T: 19,984 examples become 19,968. The count halves only if the stride "
        "grows with the context, as it does with S = T: 1,249 become 624. Each example "
        "then holds twice as many predictions."
    ),
)
def longer_context(num_tokens: int) -> int:
    return count_windows(num_tokens, 16, 1) - 16


# With other numbers by seed.


@numbers(
    ask="A stream has {num_tokens:,} ids. How many windows of T = {context_length} "
    "inputs, each with its targets, start {stride} apart in it?",
    draw=lambda rng: {
        "num_tokens": rng.randrange(2_000, 9_000),
        "context_length": rng.randrange(16, 65),
        "stride": rng.randrange(3, 15),
    },
    hints=(
        "How many ids does a window take, the last target included?",
        "One window, and one more for each whole stride that is left behind it.",
    ),
)
def windows_of_stream(num_tokens: int, context_length: int, stride: int) -> int:
    return count_windows(num_tokens, context_length, stride)


@windows_of_stream.mistake("without the first window: so many strides fit *behind* it.")
def without_the_first(num_tokens, context_length, stride):
    return (num_tokens - context_length - 1) // stride


@windows_of_stream.mistake(
    "all multiples of the stride: does a window fit at each of them?"
)
def every_stride(num_tokens, context_length, stride):
    return num_tokens // stride


@windows_of_stream.mistake("windows end to end, T + 1 ids each. These start S apart.")
def windows_end_to_end(num_tokens, context_length, stride):
    return num_tokens // (context_length + 1)


@windows_of_stream.mistake("the stride is taken for an overlap: the step is S itself.")
def stride_for_overlap(num_tokens, context_length, stride):
    return count_windows(num_tokens, context_length, context_length - stride)


@numbers(
    ask="All windows of a stream of {num_tokens:,} ids, T = {context_length}, "
    "S = {stride}, come in batches of {batch_size}; a short last batch is kept. How "
    "many batches has an epoch?",
    draw=lambda rng: {
        "num_tokens": rng.randrange(9_000, 30_000),
        "context_length": (length := rng.randrange(16, 65)),
        "stride": rng.randrange(3, length),
        "batch_size": rng.randrange(8, 33),
    },
    hints=("First the windows, then how many batches hold them all.",),
)
def batches_of_epoch(
    num_tokens: int, context_length: int, stride: int, batch_size: int
) -> int:
    return math.ceil(count_windows(num_tokens, context_length, stride) / batch_size)


@batches_of_epoch.mistake("the short last batch is left out: here it is kept.")
def full_batches(num_tokens, context_length, stride, batch_size):
    return count_windows(num_tokens, context_length, stride) // batch_size


@batches_of_epoch.mistake("windows, not batches.")
def windows_alone(num_tokens, context_length, stride, batch_size):
    return count_windows(num_tokens, context_length, stride)


@batches_of_epoch.mistake("as if windows lay end to end: the stride is not in it.")
def batches_without_stride(num_tokens, context_length, stride, batch_size):
    return math.ceil(num_tokens / (context_length + 1) / batch_size)


@numbers(
    ask="Windows lie in a stream of {num_tokens:,} ids, T = {context_length}, "
    "S = {stride}. How many ids at the end does none of them reach, neither with an "
    "input nor with a target?",
    draw=lambda rng: {
        "num_tokens": rng.randrange(500, 2_000),
        "context_length": rng.randrange(10, 30),
        "stride": rng.randrange(30, 70),
    },
    hints=("Where does the last window start, and which is the last id it holds?",),
)
def unreached_ids(num_tokens: int, context_length: int, stride: int) -> int:
    last = (count_windows(num_tokens, context_length, stride) - 1) * stride
    return num_tokens - (last + context_length + 1)


@unreached_ids.mistake("windows of T ids: the last target reaches one id further.")
def unreached_by_inputs(num_tokens, context_length, stride):
    last = (count_windows(num_tokens, context_length, stride) - 1) * stride
    return num_tokens - (last + context_length)


@unreached_ids.mistake("what `N % S` leaves. A window is not as long as its stride.")
def left_by_the_stride(num_tokens, context_length, stride):
    return num_tokens % stride


@unreached_ids.mistake("all that is behind the last *start*.")
def behind_the_start(num_tokens, context_length, stride):
    last = (count_windows(num_tokens, context_length, stride) - 1) * stride
    return num_tokens - last
