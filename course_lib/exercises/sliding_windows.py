"""Exercises of lesson 02: count, place, gather, share out and resume windows."""

from __future__ import annotations

import math
from collections.abc import Iterator
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


tokens_in_tail.slips("""
    context_length + 1) => context_length)
        windows of T ids. The last target needs one id more, so that much less is tail.
    context_length + 1) => context_length + 2)
        one id more than the last window has is taken for reached: from its start s on
        it holds the T + 1 ids s to s + T.
    windows == 0 => False
        a stream that is too short for a window is not treated apart. All of its ids are
        tail.
    windows == 0: return num_tokens => windows == 0: return 0
        if no window fits, nothing is used: then *all* ids are tail, not none.
    (windows - 1) * stride => windows * stride
        n windows are n - 1 strides from the first start to the last, not n.
    (windows - 1) * stride + context_length + 1 => windows * stride
        n windows reach over (n - 1) strides and one whole window, not over n strides.
    (windows - 1) * stride + context_length + 1 => windows * (context_length + 1)
        windows may overlap: don't take T + 1 ids off for each of them.
    (windows - 1) * stride + context_length + 1 => windows * context_length
        T ids are taken off for each window. Windows overlap, or have gaps between them:
        only where the last one ends matters.
    (windows - 1) * stride + context_length + 1 => windows * stride + 1
        n windows reach over n * S + 1 ids only where the stride is T. In general the
        last reaches T + 1 ids from its start.
    ((windows - 1) * stride + context_length + 1) => (windows - 1) * stride
        what lies behind the last *start* is counted. The window itself, T + 1 ids, is
        reached.
    count_windows(num_tokens, => count_windows(num_tokens + 1,
        windows are counted without their last target: the start N - T is none.
    count_windows(num_tokens, => count_windows(num_tokens + 1, ; \
    context_length + 1) => context_length)
        windows of T ids, counted and laid without the last target. A window reaches one
        id further.
    count_windows(num_tokens, context_length, stride) => \
    count_windows(num_tokens, stride, context_length) ; \
    (windows - 1) * stride + context_length => (windows - 1) * context_length + stride
        context length and stride are exchanged.
""")


@tokens_in_tail.way("""
    num_tokens <= context_length => False
        a stream that is too short…
    num_tokens <= context_length => num_tokens <= context_length + 1
        in a stream of T + 1 ids exactly one window fits, and nothing is left.
    num_tokens <= context_length => num_tokens < context_length
        in a stream of T ids no window fits: its last input has no target.
    context_length: return num_tokens => context_length: return 0
        if no window fits, nothing is used…
    - 1) % => ) %
        windows of T ids. The…
    - 1) % => - 2) %
        one id more than the last window has…
    (num_tokens - context_length - 1) % stride => num_tokens % stride
        this is the remainder of N divided by S. It ignores that the last window is
        longer than its stride.
    - context_length - 1) % stride => - 1) % context_length
        windows are counted as if they lay end to end, T inputs each, and one id more at
        the very end: the stride is not in it.
    % stride => // stride
        `//` gives how many strides there are. What they leave is the remainder, `%`.
    <= context_length => <= stride ; \
    - context_length - 1) % stride => - stride - 1) % context_length
        context length and stride are exchanged.
""")
def by_remainder(num_tokens, context_length, stride):
    if num_tokens <= context_length:
        return num_tokens
    return (num_tokens - context_length - 1) % stride


@tokens_in_tail.way("""
    num_tokens - context_length, => num_tokens - context_length - 1,
        the last window is not seen where it ends with the stream: N - T - 1 is a start
        as well.
    num_tokens - context_length, => num_tokens - context_length + 1,
        windows are counted without their last target…
    num_tokens - context_length, => num_tokens,
        windows start up to the end of the stream. The last of them have no T + 1 ids.
    context_length + 1 => context_length
        windows of T ids. The…
    end = start + => end +=
        windows may overlap…
    end = 0 => end = num_tokens
        if no window fits, nothing is used…
""")
def by_walking(num_tokens, context_length, stride):
    end = 0
    for start in range(0, num_tokens - context_length, stride):
        end = start + context_length + 1
    return num_tokens - end


tokens_in_tail.answers("""
    num_tokens % stride
        this is the remainder of N divided by S…
    num_tokens % (context_length + 1)
        windows are counted as if they lay end to end, whatever the stride.
    num_tokens % context_length
        windows of T ids laid end to end: `N % T`. Neither the stride nor the last
        target is in it.
    max(0, num_tokens - count_windows(num_tokens, context_length, stride) * stride)
        n windows reach over (n - 1) strides and one whole window, not over n strides;
        `max(0, ...)` only hides where that takes off too much.
    num_tokens - len({s + t for s in range(0, num_tokens - context_length, stride) \
    for t in range(context_length + 1)})
        all ids are counted that no window reaches. A stride longer than a window leaves
        gaps between windows as well, and these are not at the end.
""")


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


turns_as_target.slips("""
    position - context_length) => position - context_length + 1) ; \
    position - 1, => position,
        the windows are counted in which the token is an input. As a target it stands
        one position later.
    position - 1, => position,
        windows that *contain* the token are counted: a window's first id is in it, but
        never its target.
    position - context_length) => position - context_length + 1)
        the last target of each window is not counted: the targets of a window at s are
        s + 1 to s + T, with s + T included.
    position - context_length) => position - context_length + 1) ; \
    num_tokens - context_length - 1) => num_tokens - context_length)
        windows of T ids are counted, with T - 1 targets each. There is one more id in a
        window.
    position - context_length) => position - context_length - 1)
        the window at p - T - 1 ends right before the token: its last target is at p -
        1.
    num_tokens - context_length - 1) => num_tokens - context_length)
        a window that starts at N - T has no id left for its last target.
    num_tokens - context_length - 1) => num_tokens - context_length - 2)
        a window that starts at N - T - 1 is left out: it ends with the last id.
    return max(0, ...) => return (...)
        in a stream of T ids or fewer there is no window, and no count is below 0.
    last - first + 1 => last - first
        from `first` to `last` there are last - first + 1 starts, both included.
    max(0, position - context_length) => (position - context_length)
        the beginning has fewer windows: none starts before the first token.
    min(position - 1, num_tokens - context_length - 1) => (position - 1)
        the end of the stream has fewer windows: none starts behind N - T - 1.
    min(position - 1, num_tokens - context_length - 1) => \
    (num_tokens - context_length - 1)
        windows that start at the token, or behind it, do not have it as a target.
    position - context_length) => position - 1 - context_length) ; \
    position - 1, => position - 2,
        the position is counted from 1. It is counted from 0, as the starts are.
""")


@turns_as_target.way("""
    max(0, ...) => (...)
        in a stream of T ids or fewer…
    min(position, context_length => min(context_length
        the beginning has fewer windows…
    min(position, context_length => min(position
        no more than T windows ever hold a token as a target.
    windows, num_tokens - position => num_tokens - position
        a short stream sets a limit of its own: it has only N - T windows in all, or
        none.
    , num_tokens - position)) => ))
        the last tokens are in fewer windows again: those that start at N - T or behind
        do not exist.
    min(position, => min(position + 1,
        before position p there are p starts, not p + 1. The first token of all is never
        a target.
    min(position, => min(position - 1,
        before position p there are p starts, 0 to p - 1: not p - 1.
    num_tokens - position => num_tokens - 1 - position
        the very last token is the last target of one window: its distance from the end
        is counted from 1.
    num_tokens - position => num_tokens - position + 1
        at N - p from the end there are N - p windows: one that starts at N - T has no
        last target.
    context_length, windows => context_length + 1, windows
        a window has T targets, not T + 1: its first id is none.
    context_length, windows => context_length - 1, windows
        a window has T targets, not T - 1.
    num_tokens - context_length => num_tokens - context_length + 1
        a stream has N - T windows: one that starts at N - T has no last target.
    num_tokens - context_length => num_tokens - context_length - 1
        a stream has N - T windows, not N - T - 1: they start at 0 to N - T - 1.
""")
def of_four_limits(position, num_tokens, context_length):
    windows = num_tokens - context_length
    return max(0, min(position, context_length, windows, num_tokens - position))


turns_as_target.answers("""
    context_length
        T everywhere. That holds in the middle; near both ends there are fewer windows.
    max(0, num_tokens - context_length)
        all windows are counted, N - T of them. Only those that hold the token behind
        their first id count.
    int(position > 0 and num_tokens > context_length)
        this says *whether* it is a target, as 0 or 1. Windows overlap: count how often.
    int(context_length <= position < num_tokens)
        only the *last* target of each window counts here. A window has T targets: all
        but its first id.
    int(position > 0)
        this says *whether* the token follows another one, as 0 or 1. Windows overlap:
        count how many there are.
    max(0, min(position, num_tokens - context_length))
        all windows that start before the token are counted. Those that start more than
        T before it end too soon.
""")


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


starts_with_overlap.slips("""
    context_length - overlap => max(1, overlap)
        the overlap is taken for the stride. The stride is the step, T - overlap.
    context_length - overlap => overlap
        the overlap is taken for the stride: the step is T - overlap. With an overlap of
        0 there is no step at all.
    context_length - overlap => overlap + 1
        the step is overlap + 1 here. It is T - overlap: the more overlap, the shorter.
    context_length - overlap => context_length + 1 - overlap
        the step counts all T + 1 ids of a window. The overlap is one of inputs, and of
        these a window has T.
    context_length - overlap => context_length
        neighbors have no overlap at all: the step is T.
    context_length - overlap => context_length - overlap - 1
        the step is T - overlap, and no 1 less. The last target has no part in the
        overlap of inputs.
    context_length - overlap => max(1, context_length - overlap - 1)
        1 is taken off the step, T - overlap, and `max(1, ...)` hides where nothing is
        left of it.
    context_length - overlap => context_length + overlap
        the overlap is added. It takes away from the step: the more overlap, the
        shorter.
    context_length - overlap => 1
        every start there is, whatever the overlap: the step is 1.
    num_tokens - context_length, => num_tokens - context_length - 1,
        N - T - 1 is left out, and is still a start. (A `range` stops before its end.)
    num_tokens - context_length, => num_tokens - context_length + 1,
        an inclusive bound: the window at N - T has T inputs, but no id for its last
        target.
    num_tokens - context_length, => num_tokens,
        starts up to the end of the stream. The last ones have no T + 1 ids left.
    num_tokens - context_length, => num_tokens - stride,
        the bound is one step before the end. It is N - T: a window needs T + 1 ids,
        whatever the step.
    num_tokens - context_length, => context_length + 1,
        the bound is T + 1 for N: the stop of the `range` is taken for a length.
    range(0, => range(overlap,
        the windows begin at `overlap`. The first one begins at 0.
    range(0, => range(1,
        the windows begin at 1. Positions are counted from 0.
    range(0, => range(stride,
        the first start, 0, is missing: the step comes before it is noted.
    range(0, num_tokens - context_length, => range(context_length, num_tokens,
    return list(...) => return [start + context_length for start in ...]
        this is where the windows *end*. What is asked for is where they start.
    return list(...) => return list(...) or [0]
        if the stream is too short for a window, there is no start, not even 0.
    return list(...) => return list(range(len(...)))
        the windows' numbers 0, 1, 2, ... are returned. A start is a number times the
        step.
    return list(...) => return [number * overlap for number in range(len(...))]
        a number times the *overlap* is returned. From start to start it is T - overlap.
    return list(...) => return [(start, start + context_length) for start in ...]
        two numbers for each window, its start and its end. The starts alone are wanted.
    return list(...) => return sorted({*..., \
    *range(max(0, num_tokens - context_length - 1), num_tokens - context_length)})
        there is one start more, so that the last window ends with the stream. It has
        more than `overlap` inputs in common with its neighbor: the tail is left out
        here.
    list(range(0, num_tokens - context_length, stride)) => \
    [number * stride for number in range(num_tokens // stride)]
        as many starts as strides fit. The last ones have no T + 1 ids left.
""")


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


gather_rows.slips("""
    start + 1 : start + 1 + => start : start +
        no shift: the targets are the inputs.
    start + 1 : start + 1 + => start + 2 : start + 2 +
        a double shift: the targets are two ids ahead of the inputs.
    start + 1 : start + 1 + => start - 1 : start - 1 +
        the targets look back: they are the ids *before* the inputs.
    start + 1 : start + 1 + => start + 1 : start +
        the targets' slice ends one id too soon: if it begins one later, it must end one
        later as well.
    start + 1 : start + 1 + => start + 1 : start + 2 +
        the targets' slice begins one later, and ends two later instead of one.
    start + 1 : start + 1 + => start + context_length : start + context_length +
        the targets begin behind the window, instead of one id later.
    start : start + context_length => start - 1 : start - 1 + context_length ; \
    start + 1 : start + 1 + => start : start +
        all windows begin one id too early: a start is the position of its first input.
    start : start + context_length => start : start + context_length + 1 ; \
    start + 1 : start + 1 + => start + 1 : start + 2 +
        inputs and targets both have T + 1 ids: an inclusive bound. Rows have T.
    ids[start + 1 : start + 1 + context_length] => [ids[start + context_length]]
        one target a row, that of its last input. Every input has one.
    ids[start + 1 : start + 1 + context_length] => ids[start + context_length]
        one target a row, as a bare id. Every input has its own: a row of them.
    ids[start + 1 : start + 1 + context_length] => \
    ids[start + 1 : start + context_length] + ids[start : start + 1]
        a roll: behind the last input comes the first one again, not the id that follows
        in the text.
    ids[start + 1 : start + 1 + context_length] => \
    ids[start + 1 : start + context_length] + [0]
        the last target of each row is made up. It is the id that follows the inputs in
        the text.
    ids[start + 1 : start + 1 + context_length] => \
    [token + 1 for token in ids[start : start + context_length]]
        the targets are computed, not read: id + 1 is another character.
    start : start + context_length => start : start + context_length + 1
        the inputs are whole windows. The T + 1st id belongs to the targets alone.
    start : start + context_length => start : start + context_length - 1
        the inputs are T - 1 ids: the stop of a slice is not part of it.
    start : start + context_length => start : context_length ; \
    : start + 1 + context_length => : 1 + context_length
        `context_length` is taken for where a row ends: it is a length.
    return inputs, targets => return targets, inputs
        inputs and targets are exchanged.
    return inputs, targets => return list(zip(inputs, targets))
        one pair for each start. It is the other way round: all inputs, and then all
        targets.
    return inputs, targets => \
    return [[list(column) for column in zip(*rows)] for rows in (inputs, targets)]
        columns for rows: row number i belongs to start number i, and holds T ids.
    return inputs, targets => return sum(inputs, []), sum(targets, [])
        all rows in one long list: keep them apart, one list for each.
    return inputs, targets => \
    return [sum(inputs, [])] * len(inputs), [sum(targets, [])] * len(targets)
        one list for all rows: each row goes on with the ids of the others. Begin a new
        list in each round.
    return inputs, targets => return inputs[0], targets[0]
        a single row, without the list of rows around it.
    return inputs, targets => \
    return inputs[:1] * len(inputs), targets[:1] * len(targets)
        the row of the first start, again and again. Each start has a row of its own.
    return inputs, targets => return inputs
        the inputs alone: the rows of targets are missing.
    return inputs, targets => return targets
        the targets alone: the rows of inputs are missing.
""")


@gather_rows.way("""
    in starts => in sorted(starts)
        the starts are sorted first. The order of the starts is the order of the batch:
        keep it.
    in starts => in list(dict.fromkeys(starts))
        each start is taken once. A start that comes twice is two rows of the batch.
    in starts => in range(len(starts))
        the number of a start in the list is taken for the start itself.
    in starts => in [start * context_length for start in starts]
        the start is taken for the number of a window, and multiplied by T.
    in starts => in starts[-1:] * len(starts)
        the row of the last start, again and again: begin a new list for each start.
    in starts => in starts[:1]
        the first start alone: each start has a row.
    in starts => in starts[-1:]
        the last start alone: is a list begun anew in every round?
    ids[start : start + context_length + 1] => \
    list(range(start, start + context_length + 1))
        positions in the stream. What is asked for are the ids that stand there.
    ids[start : start + context_length + 1] => ids[start - 1 : start + context_length]
        all windows begin one id too early…
    context_length + 1] => context_length]
        rows of T - 1 ids. A window has T + 1, so that both halves have T.
    context_length + 1] => context_length + 2]
        inputs and targets both have T + 1 ids…
    row[:-1] => row
        the inputs are whole windows…
    row[1:] => row
        the targets are whole windows. The first id of a window is an input alone.
    row[1:] => row[:-1]
        no shift…
    row[1:] => row[-1:]
        one target a row, that of its last input…
    row[1:] => row[-1]
        one target a row, as a bare id…
    return [row[:-1] for row in windows], [row[1:] for row in windows] => \
    return [row[1:] for row in windows], [row[:-1] for row in windows]
        inputs and targets are exchanged.
    return [row[:-1] for row in windows], [row[1:] for row in windows] => return windows
        windows of T + 1 ids, not yet cut into inputs and targets.
""")
def from_windows(ids, starts, context_length):
    windows = [ids[start : start + context_length + 1] for start in starts]
    return [row[:-1] for row in windows], [row[1:] for row in windows]


gather_rows.answers("""
    gather_rows.reference(ids, list(range(len(starts))), context_length)
        the number of a start…
    gather_rows.reference(ids, [s * context_length for s in starts], context_length)
        the start is taken for the number of a window…
""")


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


smallest_stream.slips("""
    context_length + 1 => context_length
        the last target is missing: a window needs T + 1 ids.
    context_length + 1 => context_length + 2
        T + 1 *positions* on from the last start are counted, and the start itself: it
        is the first of T + 1 ids.
    + context_length + 1 => + 2 * context_length
        2 T ids for the last window. Its inputs and its targets share all but one: T +
        1.
    (num_windows - 1) * => num_windows *
        a fence has one post more than gaps: between n starts there are n - 1 strides.
    * stride => * 1
        the stride is taken for 1: from start to start it is S steps.
    * stride => * (context_length - stride)
        the stride is taken for the overlap. It is the step from start to start.
    * stride => * (context_length + 1 + stride)
        the stride is taken for a gap *between* windows.
    * stride => * context_length
        windows stand T apart here. From start to start it is S steps.
    (num_windows - 1) * stride + context_length => \
    (num_windows - 1) * context_length + stride
        context length and stride are exchanged.
    (num_windows - 1) * stride + context_length + 1 => \
    num_windows * (context_length + 1)
        the stride is ignored: windows need not lie end to end.
    (num_windows - 1) * stride + context_length + 1 => num_windows * stride + 1
        the last window is as long as a stride here. It is T + 1 ids long, whatever the
        stride.
    (num_windows - 1) * stride + context_length + 1 => num_windows * stride
        n strides. The last window is T + 1 ids long, not a stride.
    (num_windows - 1) * stride + context_length + 1 => 2 * num_windows * context_length
        inputs and targets are counted apart. They are the same ids, one on, and the
        windows share the stream.
    (num_windows - 1) * stride + context_length + 1 => \
    num_windows * max(stride, context_length) + 1
        windows that overlap are taken to lie end to end: from start to start it is S
        steps, also where S is less than T.
    (num_windows - 1) * stride + context_length + 1 => \
    max(num_windows * stride, context_length + 1)
        n strides are taken for enough. The last window reaches T + 1 ids from its
        start.
    num_windows == 0 => False
        no window is not treated apart. No window needs no id: 0.
    num_windows == 0 => num_windows < 2
        a single window needs T + 1 ids as well, not 0.
    return 0 => return context_length + 1
        for no window, one is still held: no window needs no id.
    return 0 => return context_length
        T ids are too few for a window, but 0 is smaller.
    return 0 => return 1
        no window needs no id, not even one: 0.
    return 0 => return -stride
        for no window it is less than 0: no window needs no id.
    return 0 => return max(0, context_length + 1 - stride)
        for no window the formula says T + 1 - S, which `max(0, ...)` turns to 0 only if
        it is below.
""")


smallest_stream.answers("""
    count_windows(num_windows, context_length, stride)
        how many windows n ids hold. It is asked the other way round: how many ids n
        windows need.
    num_windows * stride + context_length
        this is the *largest* stream that holds no more than n windows: one id more and
        there are n + 1.
""")


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


rank_share.slips("""
    rank:dealt:world_size => rank::world_size
        some ranks get one entry more. They would wait for the others forever at the
        next step.
    len(order) // world_size * => -(-len(order) // world_size) *
        some ranks get one entry more…
    len(order) // => max(0, len(order) - 1) //
        a round too few: if nothing is left over, the last round is dealt as well.
    len(order) // world_size * world_size => len(order) // world_size
        the stop is the size of a share. It belongs to the order: `world_size` shares.
    len(order) // world_size * world_size => len(order) - world_size
        the stop `len(order) - world_size` is too early: the last full round is dealt as
        well.
    rank:dealt:world_size => : len(order) // world_size
        every rank gets the same entries: the same gradient, computed world_size times.
    rank:dealt:world_size => :dealt
        everything that can be dealt, to each rank: the same gradient, computed
        world_size times.
    rank:dealt:world_size => :
        the whole order, to each rank, dealt to nobody.
    rank:dealt: => :dealt:
        `rank` is ignored: every machine gets the share of rank 0.
    rank:dealt:world_size => \
    rank * dealt // world_size : (rank + 1) * dealt // world_size
        blocks instead of dealing: the shares are disjoint, but not those that were
        asked for.
    rank:dealt:world_size => rank * world_size : (rank + 1) * world_size
        a block of `world_size` entries. That is one round of dealing: each rank gets
        one of them.
    rank:dealt:world_size => world_size : dealt : max(1, rank)
    rank:dealt:world_size => world_size :: max(1, rank)
        `world_size` and `rank` are exchanged in the slice: begin at `rank`, and step by
        `world_size`.
    order[rank:dealt: => order[:dealt][rank - 1 ::
        ranks are counted from 0: this is the share of the one before, and 0 has that of
        the last.
    return order[...] => return order[...] if rank else [] ; \
    rank:dealt => rank - 1 : dealt
        ranks are counted from 0: here 0 gets nothing, and rank 1 what belongs to rank
        0.
    order[rank:dealt:world_size] => \
    (order + order[: -len(order) % world_size])[rank::world_size]
        the rest is filled up with entries from the beginning, which are then used
        twice.
    order[rank:dealt:world_size] => \
    order[: -(len(order) % world_size)][rank::world_size]
        `order[:-0]` is empty: if nothing is left over, this cuts everything away.
    order[rank:dealt:world_size] => order[len(order) % world_size :][rank::world_size]
        the *first* entries are left out. Deal from the beginning: what is left over
        stands at the end.
    order[rank:dealt:world_size] => order[rank::world_size][:-1]
        the last entry of each share goes, needed or not: only what is left over behind
        the last full round goes.
    order[rank:dealt: => order[:dealt][::-1][rank::
        it is dealt from the back. Card number `rank` is counted from the beginning.
    return order[ => return sorted(order)[
        the order is sorted first. That undoes the shuffle: deal the entries as they
        come.
    return order[...] => return list(range(len(order)))[...]
        positions in the order. What is asked for are the entries that stand there.
    order[rank:dealt:world_size] => [x for x in order if x % world_size == rank]
        the entries are taken by their *value*. They are dealt by their position in the
        order.
    order[rank:dealt:world_size] => \
    [x for x in order if x % world_size == rank][: dealt // world_size]
        as many entries as a share has, but taken by their *value*. They are dealt by
        their position in the order.
    return order[rank: => return [order[r: ; \
    :world_size] => :world_size] for r in range(world_size)]
        the shares of all ranks. Only that of number `rank` was asked for.
""")


rank_share.answers("""
    np.array_split(order, world_size)[rank].astype(int).tolist()
        blocks, and some are one entry longer: they would wait for the others forever.
        And nothing is dealt in turn.
    order[rank * (len(order) // world_size) : None if rank == world_size - 1 else \
    (rank + 1) * (len(order) // world_size)]
        blocks, and the last rank gets what is left over as well: it has more than the
        others, and they are not dealt in turn.
    order[world_size::rank] if rank else order
        `world_size` and `rank` are exchanged in the slice…
""")


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


batches_left.slips("""
    batches_delivered * batch_size => batches_delivered
        `batches_delivered` entries are skipped. That many *batches* were delivered:
        skip `batches_delivered * batch_size` entries.
    batches_delivered * batch_size => 0
        the epoch starts over: batches that were delivered come again.
    batches_delivered * => (batches_delivered + 1) *
        the batch after the last delivered one is skipped.
    batches_delivered * => max(0, batches_delivered - 1) *
        the last delivered batch comes again. After k batches, batch number k (from 0)
        is the next.
    range(first, len(order), => range(0, min(first, len(order)),
        the batches that *were* delivered, instead of those to come.
    order[i : i + batch_size] for i in range(first, => \
    order[i + batches_delivered :][:batch_size] for i in range(0,
        `batches_delivered` is added to the place, not multiplied: it counts batches.
    return [...] => return [batch for batch in [...] if len(batch) == batch_size]
        the short last batch is dropped.
    len(order), batch_size)] => len(order) - batch_size, batch_size)]
        the stop `len(order) - batch_size` of a `range` leaves the last batch out, full
        or short.
    len(order), batch_size)] => len(order) + 1, batch_size)]
        an empty batch at the end, where the batches fill the order exactly.
    len(order), batch_size)] => max(first, len(order)) + 1, batch_size)]
        what is left when the last batch has been put together is put behind it, even
        where that is nothing: no batch is empty.
    , batch_size)] => )]
        the batches overlap: from one to the next it is `batch_size` entries, not one.
    : i + batch_size] => : i + batches_delivered] ; \
    , batch_size)] => , max(1, batches_delivered))]
        a batch has `batch_size` entries, however many were delivered.
    i + batch_size] => i + batch_size + 1]
        each batch has one entry too many, which comes again in the next one.
    i + batch_size] => i + batch_size - 1]
        each batch has one entry too few: the stop of a slice is not part of it.
    : i + batch_size] => : batch_size]
        `batch_size` is taken for where a batch ends: it is a length.
    order[i : i + batch_size] => (order[i : i + batch_size] + order)[:batch_size]
        the short last batch is filled up from the beginning of the order, so that some
        windows come twice.
    order[i : i + batch_size] => \
    (order[i : i + batch_size] + [0] * batch_size)[:batch_size]
        the short last batch is filled up with a number that is no entry of the order.
        It stays short.
    order[i : => list(range(len(order)))[i :
        slices of the whole stream's numbers: the batches hold positions, not the
        entries that stand there.
    order[i : => sorted(order)[i :
        the order is sorted first. That undoes the shuffle, and gives other batches than
        those of the run that was interrupted.
    order[i : i + batch_size] => i
        the places where the batches begin. What is asked for are their entries.
    return [...] => return order[first:]
        the entries that are left, not cut into batches.
    return [...] => return [order[first:]] if order[first:] else []
        all that is left, as one batch: cut it by `batch_size`.
    return [...] => return [order[first:]]
        all that is left as one batch, even where nothing is left.
    return [...] => return [...][:1]
        the next batch alone. All that are left were asked for.
    return [...] => return order[first : first + batch_size]
        the next batch alone, without the list of batches around it.
    return [...] => return [order[first : first + batch_size]]
        the next batch alone, even where it is empty. All that are left were asked for,
        none of them empty.
    return [...] => return [...] or [[]]
        an empty batch where nothing is left. All batches were delivered then: the list
        is empty.
""")


@batches_left.way("""
    batches_delivered:] => -batches_delivered:]
        `[-k:]` keeps the *last* k batches, as many as were delivered. Leave out the
        first k: `[k:]`.
    batches_delivered:] => :-batches_delivered]
        `[:-k]` leaves out the *last* k batches, and everything for k = 0. The first k
        were delivered: `[k:]`.
    batches_delivered:] => : len(batches) - batches_delivered]
        the last k batches are left out. The first k were delivered.
    batches_delivered:] => :batches_delivered]
        the batches that *were* delivered…
    batches_delivered:] => batches_delivered + 1 :]
        the batch after the last…
    batches_delivered:] => batches_delivered - 1 :]
        the last delivered batch comes again…
    batches_delivered:] => batches_delivered:][:1]
        the next batch alone. All…
    batches_delivered:] => batches_delivered:-1]
        the stop `len(order) - batch_size`…
    len(order), batch_size)] => len(order) - batch_size + 1, batch_size)]
        the short last batch is dropped.
    len(order), batch_size)] => len(order) + 1, batch_size)]
        an empty batch at the end…
    , batch_size)] => )]
        the batches overlap…
""")
def all_then_cut(order, batch_size, batches_delivered):
    batches = [order[i : i + batch_size] for i in range(0, len(order), batch_size)]
    return batches[batches_delivered:]


batches_left.answers("""
    [order[max(i - batch_size, batches_delivered * batch_size) : i] for i in \
    range(len(order), batches_delivered * batch_size, -batch_size)][::-1]
        batches counted from the end of the order: it is cut from its beginning, so that
        the *last* batch is the short one.
    [x for x in [order[: len(order) % batch_size]] if x] + batches_left.reference( \
    order[len(order) % batch_size :], batch_size, batches_delivered)
    [order[max(0, i - batch_size) : i] for i in \
    range(len(order), 0, -batch_size)][::-1][batches_delivered:]
        the short batch is cut off first, at the beginning of the epoch. It is the last
        one.
    [order[i : i + batch_size] for i in range(batches_delivered * batch_size, \
    len(order) - batch_size + 1, batch_size)] + \
    order[len(order) // batch_size * batch_size :]
        the entries of the short last batch stand by themselves among the batches: put
        them into a list of their own.
    [order[batches_delivered * batch_size :][k :: \
    -(-len(order[batches_delivered * batch_size :]) // batch_size)] \
    for k in range(-(-len(order[batches_delivered * batch_size :]) // batch_size))]
        the rest is dealt out in turn. A batch is a run of neighbors in the order.
    [part.tolist() for part in \
    np.array_split(order, -(-len(order) // batch_size))][batches_delivered:]
    [part.tolist() for part in np.array_split(order[batches_delivered * batch_size :], \
    max(1, -(-len(order[batches_delivered * batch_size :]) // batch_size)))]
        parts of about equal size. All batches are full, but for the last one, which
        takes what remains.
""")


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


windows_of_stream.answers("""
    (num_tokens - context_length - 1) // stride
        without the first window: so many strides fit *behind* it.
    num_tokens // stride
        all multiples of the stride: does a window fit at each of them?
    num_tokens // (context_length + 1)
        windows end to end, T + 1 ids each. These start S apart.
    count_windows(num_tokens, context_length, context_length - stride)
        the stride is taken for an overlap: the step is S itself.
""")


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


batches_of_epoch.answers("""
    count_windows(num_tokens, context_length, stride) // batch_size
        the short last batch is left out: here it is kept.
    count_windows(num_tokens, context_length, stride)
        windows, not batches.
    math.ceil(num_tokens / (context_length + 1) / batch_size)
        as if windows lay end to end: the stride is not in it.
""")


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


unreached_ids.answers("""
    num_tokens - ((count_windows(num_tokens, context_length, stride) - 1) * stride + \
    context_length)
        windows of T ids: the last target reaches one id further.
    num_tokens % stride
        what `N % S` leaves. A window is not as long as its stride.
    num_tokens - (count_windows(num_tokens, context_length, stride) - 1) * stride
        all that is behind the last *start*.
""")
