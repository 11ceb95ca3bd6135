"""Exercises of lesson 02: count, place, gather, share out and resume windows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

import torch

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
        "There are `count_windows(N, T, S)` windows. Where does the last one start, "
        "and how far does it reach? A stream without any window is a case of its own.",
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
        these are windows of T ids. The last target needs one more id, so the tail is
        shorter by one.
    context_length + 1) => context_length + 2)
        one id too many counts as reached. A window that starts at s holds the T + 1 ids
        from s to s + T.
    windows == 0 => False
        a stream that is too short for a window needs a case of its own. All of its ids
        are tail.
    windows == 0: return num_tokens => windows == 0: return 0
        if no window fits, no id is used, so *all* ids are tail.
    (windows - 1) * stride => windows * stride
        from the first of n starts to the last there are n - 1 strides, not n.
    (windows - 1) * stride + context_length + 1 => windows * stride
        n windows reach over n - 1 strides and one whole window, not over n strides.
    (windows - 1) * stride + context_length + 1 => windows * (context_length + 1)
        windows may overlap, so don't subtract T + 1 ids for each of them.
    (windows - 1) * stride + context_length + 1 => windows * context_length
        T ids are subtracted for each window. But windows overlap, or leave gaps between
        them. Only the end of the last one matters.
    (windows - 1) * stride + context_length + 1 => windows * stride + 1
        n windows reach over n * S + 1 ids only if the stride is T. In general, the last
        one reaches T + 1 ids from its start.
    ((windows - 1) * stride + context_length + 1) => (windows - 1) * stride
        this counts everything from the last *start* on. But the last window itself, T +
        1 ids, is reached.
    count_windows(num_tokens, => count_windows(num_tokens + 1,
        windows are counted without their last target. No window can start at N - T.
    count_windows(num_tokens, => count_windows(num_tokens + 1, ; \
    context_length + 1) => context_length)
        windows are counted and placed without the last target. Each reaches one id
        further.
    count_windows(num_tokens, context_length, stride) => \
    count_windows(num_tokens, stride, context_length) ; \
    (windows - 1) * stride + context_length => (windows - 1) * context_length + stride
        context length and stride are swapped.
""")


@tokens_in_tail.right_way("""
    num_tokens <= context_length => False
        a stream that is too short…
    num_tokens <= context_length => num_tokens <= context_length + 1
        in a stream of T + 1 ids exactly one window fits, which leaves nothing.
    num_tokens <= context_length => num_tokens < context_length
        in a stream of T ids no window fits, because its last input would have no
        target.
    context_length: return num_tokens => context_length: return 0
        if no window fits, no id is used…
    - 1) % => ) %
        these are windows of T ids. The…
    - 1) % => - 2) %
        one id too many counts as reached…
    (num_tokens - context_length - 1) % stride => num_tokens % stride
        this is the remainder of N divided by S. It ignores the T + 1 ids of the last
        window.
    - context_length - 1) % stride => - 1) % context_length
        windows are counted as if they lay end to end, T inputs each, with one more id
        at the very end. The stride is ignored.
    % stride => // stride
        `//` is the number of strides. You want what they leave, the remainder `%`.
    <= context_length => <= stride ; \
    - context_length - 1) % stride => - stride - 1) % context_length
        context length and stride are swapped.
""")
def by_remainder(num_tokens, context_length, stride):
    if num_tokens <= context_length:
        return num_tokens
    return (num_tokens - context_length - 1) % stride


@tokens_in_tail.right_way("""
    num_tokens - context_length, => num_tokens - context_length - 1,
        a last window that ends with the stream is missed. N - T - 1 is also a start.
    num_tokens - context_length, => num_tokens - context_length + 1,
        windows are counted without their last target…
    num_tokens - context_length, => num_tokens,
        windows start up to the end of the stream, but the last of them don't have T + 1
        ids.
    context_length + 1 => context_length
        these are windows of T ids. The…
    end = start + => end +=
        windows may overlap…
    end = 0 => end = num_tokens
        if no window fits, no id is used…
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
        `N % T` lays windows of T ids end to end. It ignores the stride and the last
        target.
    max(0, num_tokens - count_windows(num_tokens, context_length, stride) * stride)
        n windows reach over n - 1 strides and one whole window, not over n strides. And
        `max(0, ...)` hides the cases in which that subtracts too much.
    num_tokens - len({s + t for s in range(0, num_tokens - context_length, stride) \
    for t in range(context_length + 1)})
        this counts all ids that no window reaches. But a stride longer than a window
        also leaves gaps between windows, and these are not at the end.
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
        "Which starts does the stream have at all? You have two ranges of starts. "
        "Count what they have in common, which may be nothing.",
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
        this counts the windows in which the token is an input. Targets are one position
        later.
    position - 1, => position,
        this counts the windows that *contain* the token. But the first id of a window
        is never its target.
    position - context_length) => position - context_length + 1)
        the last target of each window is not counted. The targets of a window at s are
        s + 1 to s + T, including s + T.
    position - context_length) => position - context_length + 1) ; \
    num_tokens - context_length - 1) => num_tokens - context_length)
        these are windows of T ids, with T - 1 targets each. A window has one more id.
    position - context_length) => position - context_length - 1)
        the window at p - T - 1 ends right before the token, because its last target is
        at p - 1.
    num_tokens - context_length - 1) => num_tokens - context_length)
        a window that starts at N - T has no id left for its last target.
    num_tokens - context_length - 1) => num_tokens - context_length - 2)
        the window that starts at N - T - 1 is left out, although it fits: it ends with
        the last id.
    return max(0, ...) => return (...)
        in a stream of T ids or fewer there is no window, and a count is never below 0.
    last - first + 1 => last - first
        from `first` to `last` there are last - first + 1 starts, since both are
        included.
    max(0, position - context_length) => (position - context_length)
        tokens near the beginning are in fewer windows, because none starts before the
        first token.
    min(position - 1, num_tokens - context_length - 1) => (position - 1)
        tokens near the end are in fewer windows, because none starts after N - T - 1.
    min(position - 1, num_tokens - context_length - 1) => \
    (num_tokens - context_length - 1)
        windows that start at the token, or after it, do not have it as a target.
    position - context_length) => position - 1 - context_length) ; \
    position - 1, => position - 2,
        the position is counted from 1 here. Positions count from 0, just as starts do.
""")


@turns_as_target.right_way("""
    max(0, ...) => (...)
        in a stream of T ids or fewer…
    min(position, context_length => min(context_length
        tokens near the beginning…
    min(position, context_length => min(position
        a token is a target of at most T windows.
    windows, num_tokens - position => num_tokens - position
        a short stream sets a limit of its own, because it has only N - T windows in
        all, or none.
    windows, num_tokens - position => num_tokens if windows > 0 else 0, \
    num_tokens - position
        a short stream sets a limit of its own, because it has only N - T windows in
        all, which may be fewer than T.
    , num_tokens - position)) => ))
        the last tokens are also in fewer windows, because no window starts at N - T or
        later.
    min(position, => min(position + 1,
        before position p there are p starts, not p + 1. The very first token is never a
        target.
    min(position, => min(position - 1,
        before position p there are p starts, from 0 to p - 1. This counts one too few.
    num_tokens - position => num_tokens - 1 - position
        the very last token is the last target of one window, so count its distance from
        the end from 1.
    num_tokens - position => num_tokens - position + 1
        near the end, position p is a target of N - p windows. One more would start at N
        - T and have no last target.
    context_length, windows => context_length + 1, windows
        a window has T targets, not T + 1. Its first id is not a target.
    context_length, windows => context_length - 1, windows
        a window has T targets, not T - 1.
    num_tokens - context_length => num_tokens - context_length + 1
        a stream has N - T windows. One more would start at N - T and have no last
        target.
    num_tokens - context_length => num_tokens - context_length - 1
        a stream has N - T windows, not N - T - 1. They start at 0 to N - T - 1.
""")
def of_four_limits(position, num_tokens, context_length):
    windows = num_tokens - context_length
    return max(0, min(position, context_length, windows, num_tokens - position))


turns_as_target.answers("""
    context_length
        T everywhere. That is right in the middle, but near both ends there are fewer
        windows.
    max(0, num_tokens - context_length)
        this counts all N - T windows. Count only those that hold the token after their
        first id.
    int(position > 0 and num_tokens > context_length)
        this says *whether* the token is a target, as 0 or 1. Windows overlap, so count
        how often.
    int(context_length <= position < num_tokens)
        this counts only the *last* target of each window. A window has T targets, all
        ids except its first.
    int(position > 0)
        this says *whether* another token comes before it, as 0 or 1. Windows overlap,
        so count them.
    max(0, min(position, num_tokens - context_length))
        this counts all windows that start before the token. But those that start more
        than T before it end too soon.
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
        "The step is the part of T that is not overlap. Then think of the last window: "
        "all of its T + 1 ids must fit.",
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
    context_length - overlap => overlap or context_length
        the overlap is taken for the stride. The stride is the step, which is T -
        overlap.
    context_length - overlap => overlap
        the overlap is taken for the stride, but the step is T - overlap. With an
        overlap of 0 you would never move.
    context_length - overlap => overlap + 1
        the step is overlap + 1 here. It should be T - overlap: the more overlap, the
        shorter the step.
    context_length - overlap => context_length + 1 - overlap
        the step counts all T + 1 ids of a window. But the overlap is about inputs, and
        a window has T of these.
    context_length - overlap => context_length
        neighbors have no overlap here, because the step is T.
    context_length - overlap => context_length - overlap - 1
        the step is T - overlap, not 1 less. The last target is not part of the overlap,
        which counts inputs.
    context_length - overlap => max(1, context_length - overlap - 1)
        1 is subtracted from the step, T - overlap, and `max(1, ...)` hides the cases in
        which nothing is left.
    context_length - overlap => context_length + overlap
        the overlap is added. It should shorten the step: the more overlap, the shorter
        the step.
    context_length - overlap => 1
        this returns every start, whatever the overlap, because the step is 1.
    num_tokens - context_length, => num_tokens - context_length - 1,
        N - T - 1 is left out, but it is a start. (A `range` stops before its end.)
    num_tokens - context_length, => num_tokens - context_length + 1,
        an inclusive bound: the window at N - T has T inputs, but no id for its last
        target.
    num_tokens - context_length, => num_tokens,
        these starts go up to the end of the stream, but the last ones don't have T + 1
        ids left.
    num_tokens - context_length, => num_tokens - stride,
        the bound is one step before the end. It should be N - T, because a window needs
        T + 1 ids, whatever the step.
    num_tokens - context_length, => context_length + 1,
        the bound is T + 1 instead of N - T. The stop of a `range` is not a length.
    range(0, => range(overlap,
        the windows begin at `overlap`. The first one begins at 0.
    context_length - overlap => context_length ; range(0, => range(overlap,
        the overlap only moves the first start, and the step is T. The first window
        begins at 0, and the step is T - overlap.
    range(0, => range(1,
        the windows begin at 1. Positions are counted from 0.
    range(0, => range(stride,
        the first start, 0, is missing. Note a start before you step.
    range(0, num_tokens - context_length, => range(context_length, num_tokens,
    return list(...) => return [start + context_length for start in ...]
        this is where the windows *end*. Return where they start.
    return list(...) => return list(...) or [0]
        if the stream is too short for a window, there is no start, not even 0.
    return list(...) => return list(range(len(...)))
        these are the numbers of the windows, 0, 1, 2, ... A start is such a number
        times the step.
    return list(...) => return [number * overlap for number in range(len(...))]
        this is a number times the *overlap*. From start to start it is T - overlap.
    return list(...) => return [(start, start + context_length) for start in ...]
        there are two numbers for each window, its start and its end. Return only the
        starts.
    return list(...) => return sorted({*..., \
    *range(max(0, num_tokens - context_length - 1), num_tokens - context_length)})
        there is one start more, so that the last window ends with the stream. But it
        shares more than `overlap` inputs with its neighbor. Leave the tail out.
    list(range(0, num_tokens - context_length, stride)) => \
    [number * stride for number in range(num_tokens // stride)]
        there are as many starts as strides fit, but the last ones don't have T + 1 ids
        left.
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
        "Each start gives one row of inputs and one row of targets.",
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
        the slice of the targets ends one id too soon. If it begins one later, it must
        also end one later.
    start + 1 : start + 1 + => start + 1 : start + 2 +
        the slice of the targets begins one later, but it ends two later instead of one.
    start + 1 : start + 1 + => start + context_length : start + context_length +
        the targets begin after the inputs, instead of one id later than they do.
    start : start + context_length => start - 1 : start - 1 + context_length ; \
    start + 1 : start + 1 + => start : start +
        all windows begin one id too early. A start is the position of the first input.
    start : start + context_length => start : start + context_length + 1 ; \
    start + 1 : start + 1 + => start + 1 : start + 2 +
        inputs and targets both have T + 1 ids, because the bound is inclusive. Rows
        have T ids.
    ids[start + 1 : start + 1 + context_length] => [ids[start + context_length]]
        there is one target a row, that of its last input. Every input has a target.
    ids[start + 1 : start + 1 + context_length] => ids[start + context_length]
        there is one target a row, as a bare id. Every input has a target, which makes a
        row of them.
    ids[start + 1 : start + 1 + context_length] => \
    ids[start + 1 : start + context_length] + ids[start : start + 1]
        a roll: after the last input the first one comes again, instead of the id that
        follows in the text.
    ids[start + 1 : start + 1 + context_length] => \
    ids[start + 1 : start + context_length] + [0]
        the last target of each row is made up. It should be the id that follows the
        inputs in the text.
    ids[start + 1 : start + 1 + context_length] => \
    [token + 1 for token in ids[start : start + context_length]]
        the targets are computed, not read. In a text, id + 1 is just some other
        character.
    start : start + context_length => start : start + context_length + 1
        the inputs are whole windows. The last of the T + 1 ids is only a target.
    start : start + context_length => start : start + context_length - 1
        the inputs are T - 1 ids, because the stop of a slice is not part of it.
    start : start + context_length => start : context_length ; \
    : start + 1 + context_length => : 1 + context_length
        `context_length` is used as the end of a row, but it is a length.
    start : start + context_length => start * context_length : \
    start * context_length + context_length ; start + 1 : start + 1 + => \
    start * context_length + 1 : start * context_length + 1 +
        the start is taken for the number of a window, and multiplied by T.
    return inputs, targets => return targets, inputs
        inputs and targets are swapped.
    return inputs, targets => return list(zip(inputs, targets))
        this is one pair for each start. Return all inputs first, and then all targets.
    return inputs, targets => \
    return [[list(column) for column in zip(*rows)] for rows in (inputs, targets)]
        these are columns instead of rows. Row number i belongs to start number i, and
        holds T ids.
    return inputs, targets => return sum(inputs, []), sum(targets, [])
        all rows are in one long list. Keep them apart, one list for each.
    return inputs, targets => \
    return [sum(inputs, [])] * len(inputs), [sum(targets, [])] * len(targets)
        there is one list for all rows, so each row also holds the ids of the others.
        Begin a new list in each round.
    return inputs, targets => return inputs[0], targets[0]
        this is a single row, without the list of rows around it.
    return inputs, targets => \
    return inputs[:1] * len(inputs), targets[:1] * len(targets)
        the row of the first start comes again and again. Each start has a row of its
        own.
    return inputs, targets => return inputs
        these are only the inputs. The rows of targets are missing.
    return inputs, targets => return targets
        these are only the targets. The rows of inputs are missing.
""")


@gather_rows.right_way("""
    in starts => in sorted(starts)
        the starts are sorted first. Keep their order, because it is the order of the
        batch.
    in starts => in sorted(set(starts))
        the starts are put into a set: keep their order, and those that come twice.
    in starts => in [s for s in starts if s + context_length + 1 < len(ids)]
        the window that ends with the last id is left out, although it fits.
    in starts => in [start * context_length for start in starts]
        the start is taken for the number of a window…
    row[1:] => row[1:-1]
        the slice of the targets ends one id too soon…
    in starts => in list(dict.fromkeys(starts))
        each start is used once. A start that comes twice makes two rows of the batch.
    in starts => in range(len(starts))
        the number of a start in the list is taken for the start itself.
    in starts => in starts[-1:] * len(starts)
        the row of the last start comes again and again. Begin a new list for each
        start.
    in starts => in starts[:1]
        only the first start is used. Each start has a row.
    in starts => in starts[-1:]
        only the last start is used. Do you begin the list of rows again in every round?
    ids[start : start + context_length + 1] => \
    list(range(start, start + context_length + 1))
        these are positions in the stream. Return the ids that you find there.
    ids[start : start + context_length + 1] => ids[start - 1 : start + context_length]
        all windows begin one id too early…
    context_length + 1] => context_length]
        these are rows of T - 1 ids. A window has T + 1 ids, so that both halves have T.
    context_length + 1] => context_length + 2]
        inputs and targets both have T + 1 ids…
    row[:-1] => row
        the inputs are whole windows…
    row[1:] => row
        the targets are whole windows. The first id of a window is only an input.
    row[1:] => row[:-1]
        no shift…
    row[1:] => row[-1:]
        there is one target a row, that of its last input…
    row[1:] => row[-1]
        there is one target a row, as a bare id…
    return [row[:-1] for row in windows], [row[1:] for row in windows] => \
    return [row[1:] for row in windows], [row[:-1] for row in windows]
        inputs and targets are swapped.
    return [row[:-1] for row in windows], [row[1:] for row in windows] => return windows
        these are windows of T + 1 ids, not yet cut into inputs and targets.
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
        "From the first start to the last there are n - 1 steps, and the last window "
        "is as long as any other. And how many ids do no windows need?",
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
        this counts T + 1 *positions* after the last start, and the start itself. But
        the start is the first of the T + 1 ids.
    + context_length + 1 => + 2 * context_length
        the last window has 2 T ids here. But its inputs and targets share all ids
        except one, which makes T + 1.
    (num_windows - 1) * => num_windows *
        a fence has one more post than it has gaps: between n starts there are n - 1
        strides.
    * stride => * 1
        the stride is taken to be 1. From start to start it is S.
    * stride => * (context_length - stride)
    * stride => * (context_length + 1 - stride)
        the stride is taken for the overlap. It is the step from start to start.
    * stride => * (context_length + 1 + stride)
        the stride is taken for a gap *between* windows.
    * stride => * min(stride, context_length)
        a stride of more than T is cut down to T. Windows may leave gaps.
    * stride => * max(stride, context_length)
        a stride of less than T is raised to T. Windows may overlap.
    * stride => * context_length
        windows are T apart here. From start to start it is S.
    (num_windows - 1) * stride + context_length => \
    (num_windows - 1) * context_length + stride
        context length and stride are swapped.
    (num_windows - 1) * stride + context_length + 1 => \
    num_windows * (context_length + 1)
        the stride is ignored. Windows need not lie end to end.
    (num_windows - 1) * stride + context_length + 1 => num_windows * stride + 1
        the last window is as long as a stride here. It has T + 1 ids, whatever the
        stride.
    (num_windows - 1) * stride + context_length + 1 => num_windows * stride
        these are n strides. The last window is T + 1 ids long, not a stride.
    (num_windows - 1) * stride + context_length + 1 => 2 * num_windows * context_length
        inputs and targets are counted separately. They are the same ids, one position
        later, and the windows share the stream.
    (num_windows - 1) * stride + context_length + 1 => \
    num_windows * max(stride, context_length) + 1
        windows that overlap are laid end to end. From start to start it is S, even if S
        is less than T.
    (num_windows - 1) * stride + context_length + 1 => \
    max(num_windows * stride, context_length + 1)
        n strides are not always enough, because the last window reaches T + 1 ids from
        its start.
    num_windows == 0 => False
        zero windows are a case of their own. They need no id, so return 0.
    num_windows == 0 => num_windows < 2
        a single window also needs T + 1 ids, not 0.
    return 0 => return context_length + 1
        for zero windows, you still make room for one. Zero windows need no id.
    return 0 => return context_length
        T ids hold no window, but 0 ids are fewer.
    return 0 => return 1
        zero windows need no id, not even one. Return 0.
    return 0 => return -stride
        for zero windows the result is below 0. Zero windows need no id, so return 0.
    return 0 => return max(0, context_length + 1 - stride)
        for zero windows the formula gives T + 1 - S, which `max(0, ...)` turns into 0
        only if it is negative.
""")


smallest_stream.answers("""
    count_windows(num_windows, context_length, stride)
        this is how many windows n ids hold. The question is the other way round: how
        many ids do n windows need?
    num_windows * stride + context_length if num_windows else 0
    num_windows * stride + context_length
        this is the *largest* stream that holds no more than n windows. With one more id
        there would be n + 1.
""")


def _shares(random: Random) -> Iterator[Case]:
    for world_size in (1, 2, 3, 4):
        for size in sorted({0, world_size - 1, world_size, world_size + 1, 7, 12}):
            order = random.sample(range(100), size)
            yield from ((order, rank, world_size) for rank in range(world_size))


@exercise(
    cases=_shares,
    hints=(
        "Think of dealing cards. A rank gets every `world_size`-th card, beginning "
        "with card number `rank`.",
        "Every machine gets `len(order) // world_size` entries. Remove what is left "
        "over, either before you deal or after.",
    ),
)
def rank_share(order: list[int], rank: int, world_size: int) -> list[int]:
    """Return what machine number `rank` gets when all get equally many entries."""
    dealt = len(order) // world_size * world_size
    return order[rank:dealt:world_size]


rank_share.slips("""
    rank:dealt:world_size => rank::world_size
        some ranks get one entry more. At their last step they would wait for the others
        forever.
    len(order) // world_size * => -(-len(order) // world_size) *
        some ranks get one entry more…
    len(order) // => max(0, len(order) - 1) //
        there is one round too few. If nothing is left over, the last round is also
        dealt.
    len(order) // world_size * world_size => len(order) // world_size
        the slice stops after the size of one share. It should stop after `world_size`
        shares.
    len(order) // world_size * world_size => len(order) - world_size
        the stop `len(order) - world_size` is too early. The last full round is also
        dealt.
    rank:dealt:world_size => : len(order) // world_size
        every rank gets the same entries, so that the same gradient is computed
        world_size times.
    rank:dealt:world_size => :dealt
        each rank gets everything that can be dealt, so that the same gradient is
        computed world_size times.
    rank:dealt:world_size => :
        each rank gets the whole order. Nothing is dealt.
    rank:dealt: => :dealt:
        `rank` is ignored, so every machine gets the share of rank 0.
    rank:dealt:world_size => \
    rank * dealt // world_size : (rank + 1) * dealt // world_size
        these are blocks. The shares don't overlap, but they are not dealt like cards.
    rank:dealt:world_size => rank * world_size : (rank + 1) * world_size
        this is a block of `world_size` entries, which is one round of dealing. Each
        rank gets one of them.
    rank:dealt:world_size => world_size : dealt : max(1, rank)
    rank:dealt:world_size => world_size :: max(1, rank)
        `world_size` and `rank` are swapped in the slice. Begin at `rank`, and step by
        `world_size`.
    rank:dealt => max(0, rank - 1) : dealt
        ranks count from 0. Here rank 1 gets the same entries as rank 0.
    order[rank:dealt: => order[:dealt][rank - 1 ::
        ranks count from 0. This is the share of the rank before, and rank 0 has that of
        the last.
    return order[...] => return order[...] if rank else [] ; \
    rank:dealt => rank - 1 : dealt
        ranks count from 0, but here rank 0 gets nothing, and rank 1 gets what belongs
        to rank 0.
    order[rank:dealt:world_size] => \
    (order + order[: -len(order) % world_size])[rank::world_size]
        the last round is filled up with entries from the beginning, which are then used
        twice.
    order[rank:dealt:world_size] => \
    order[: -(len(order) % world_size)][rank::world_size]
        `order[:-0]` is empty. If nothing is left over, this removes everything.
    order[rank:dealt:world_size] => order[len(order) % world_size :][rank::world_size]
        the *first* entries are left out. Deal from the beginning, so that the end is
        left over.
    order[rank:dealt:world_size] => order[rank::world_size][:-1]
        each share always loses its last entry. Remove only what is left over after the
        last full round.
    order[rank:dealt: => order[:dealt][::-1][rank::
        the order is dealt from the back. Count card number `rank` from the beginning.
    return order[ => return sorted(order)[
        the order is sorted first, which undoes the shuffle. Deal the entries as they
        come.
    return order[...] => return list(range(len(order)))[...]
        these are positions in the order. Return the entries that you find there.
    order[rank:dealt:world_size] => [x for x in order if x % world_size == rank]
        the entries are chosen by their *value*. Deal them by their position in the
        order.
    order[rank:dealt:world_size] => \
    [x for x in order if x % world_size == rank][: dealt // world_size]
        there are as many entries as a share has, but they are chosen by their *value*.
        Deal them by their position in the order.
    return order[rank: => return [order[r: ; \
    :world_size] => :world_size] for r in range(world_size)]
        these are the shares of all ranks. Return only that of number `rank`.
""")


rank_share.answers("""
    [order[i : i + world_size][-1 - rank if i // world_size % 2 else rank]
    for i in range(0, len(order) - world_size + 1, world_size)]
        every second round is dealt backwards. Each round begins with rank 0.
    np.array_split(order, world_size)[rank].astype(int).tolist()
        these are blocks, and some are one entry longer, so that their ranks would wait
        for the others forever. Deal the entries like cards instead.
    order[rank * (len(order) // world_size) : None if rank == world_size - 1 else \
    (rank + 1) * (len(order) // world_size)]
        these are blocks, and the last one also holds what is left over, so that its
        rank gets more than the others. Deal the entries like cards instead.
    order[world_size::rank] if rank else order
        `world_size` and `rank` are swapped in the slice…
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
        `batches_delivered` entries are skipped. But that many *batches* were delivered,
        so skip `batches_delivered * batch_size` entries.
    batches_delivered * batch_size => 0
        the epoch starts over, so batches that were already delivered come again.
    batches_delivered * => (batches_delivered + 1) *
        the batch after the last delivered one is skipped.
    batches_delivered * => max(0, batches_delivered - 1) *
        the last delivered batch comes again. After k batches, batch number k (from 0)
        is the next.
    range(first, len(order), => range(0, min(first, len(order)),
        these are the batches that *were* delivered, not those to come.
    order[i : i + batch_size] for i in range(first, => \
    order[i + batches_delivered :][:batch_size] for i in range(0,
        `batches_delivered` is added to the position. It counts batches, so multiply it
        by their size.
    return [...] => return [batch for batch in [...] if len(batch) == batch_size]
        the short last batch is dropped.
    len(order), batch_size)] => len(order) - batch_size, batch_size)]
        the stop `len(order) - batch_size` of the `range` leaves the last batch out,
        whether it is full or short.
    len(order), batch_size)] => len(order) + 1, batch_size)]
        there is an empty batch at the end if the batches fill the order exactly.
    len(order), batch_size)] => max(first, len(order)) + 1, batch_size)]
        after the last full batch, whatever is left is appended, even if nothing is
        left. No batch is empty.
    , batch_size)] => )]
        the batches overlap. From one to the next it is `batch_size` entries, not one.
    : i + batch_size] => : i + batches_delivered] ; \
    , batch_size)] => , max(1, batches_delivered))]
        a batch has `batch_size` entries, however many were delivered.
    i + batch_size] => i + batch_size + 1]
        each batch has one entry too many, which comes again in the next one.
    i + batch_size] => i + batch_size - 1]
        each batch has one entry too few, because the stop of a slice is not part of it.
    : i + batch_size] => : batch_size]
        `batch_size` is used as the end of a batch, but it is a length.
    order[i : i + batch_size] => (order[i : i + batch_size] + order)[:batch_size]
        the short last batch is filled up from the beginning of the order, so that some
        windows come twice.
    order[i : i + batch_size] => \
    (order[i : i + batch_size] + [0] * batch_size)[:batch_size]
        the short last batch is filled up with a number that is not an entry of the
        order. Leave it short.
    order[i : => list(range(len(order)))[i :
        the batches hold positions. Return the entries that you find there.
    order[i : => sorted(order)[i :
        the order is sorted first. That undoes the shuffle, so these are not the batches
        of the run that was interrupted.
    order[i : i + batch_size] => i
        these are the positions where the batches begin. Return their entries.
    return [...] => return order[first:]
        these are the entries that are left, but they are not cut into batches.
    return [...] => return [order[first:]] if order[first:] else []
        everything that is left is one batch. Cut it into batches of `batch_size`.
    return [...] => return [order[first:]]
        everything that is left is one batch, even if nothing is left.
    return [...] => return [...][:1]
        this is only the next batch. Return all that are left.
    return [...] => return order[first : first + batch_size]
        this is only the next batch, without a list of batches around it.
    return [...] => return [order[first : first + batch_size]]
        this is only the next batch, even if it is empty. Return all that are left, none
        of them empty.
    return [...] => return [...] or [[]]
        there is an empty batch if nothing is left. All batches were delivered then, so
        return an empty list.
""")


@batches_left.right_way("""
    batches_delivered:] => -batches_delivered:]
        `[-k:]` keeps the *last* k batches, as many as were delivered. Leave out the
        first k with `[k:]`.
    batches_delivered:] => batches_delivered - len(batches) :]
        `[-k:]` is the whole list if k is 0: where no batch is left, all come again.
    batches_delivered:] => :-batches_delivered]
        `[:-k]` leaves out the *last* k batches, and everything if k is 0. Leave out the
        first k with `[k:]`.
    batches_delivered:] => : len(batches) - batches_delivered]
        the last k batches are left out. The first k were delivered.
    batches_delivered:] => :batches_delivered]
        these are the batches that *were* delivered…
    batches_delivered:] => batches_delivered + 1 :]
        the batch after the last…
    batches_delivered:] => batches_delivered - 1 :]
        the last delivered batch comes again…
    batches_delivered:] => batches_delivered:][:1]
        this is only the next batch. Return all…
    batches_delivered:] => batches_delivered:-1]
        the stop `len(order) - batch_size`…
    len(order), batch_size)] => len(order) - batch_size + 1, batch_size)]
        the short last batch is dropped.
    len(order), batch_size)] => len(order) + 1, batch_size)]
        there is an empty batch at the end…
    , batch_size)] => )]
        the batches overlap…
""")
def all_then_cut(order, batch_size, batches_delivered):
    batches = [order[i : i + batch_size] for i in range(0, len(order), batch_size)]
    return batches[batches_delivered:]


@batches_left.right_way("""
    batches_delivered * batch_size :] => batches_delivered:]
        `batches_delivered` entries are skipped…
    * batch_size :] => * batch_size : len(order) // batch_size * batch_size]
        the short last batch is dropped.
    return [...] => return left
        these are the entries that are left, but…
    len(left), batch_size)] => len(order), batch_size)]
        there are empty batches at the end, because the loop runs to the length of the
        whole order, and not of what is left.
    len(left), batch_size)] => len(left) + 1, batch_size)]
        after the last full batch, whatever is left…
    order[batches_delivered * batch_size :] => order[: batches_delivered * batch_size]
        these are the batches that *were* delivered…
    in range(0, => in range(batches_delivered * batch_size,
        the delivered batches are skipped twice, once in the slice and once in the
        range.
""")
def left_then_cut(order, batch_size, batches_delivered):
    left = order[batches_delivered * batch_size :]
    return [left[i : i + batch_size] for i in range(0, len(left), batch_size)]


batches_left.answers("""
    [order[max(i - batch_size, batches_delivered * batch_size) : i] for i in \
    range(len(order), batches_delivered * batch_size, -batch_size)][::-1]
        the batches are cut from the end of the order. Cut from its beginning, so that
        the *last* batch is the short one.
    [x for x in [order[: len(order) % batch_size]] if x] + batches_left.reference( \
    order[len(order) % batch_size :], batch_size, batches_delivered)
    [order[max(0, i - batch_size) : i] for i in \
    range(len(order), 0, -batch_size)][::-1][batches_delivered:]
        the short batch comes first, at the beginning of the epoch. It should be the
        last one.
    [order[i : i + batch_size] for i in range(batches_delivered * batch_size, \
    len(order) - batch_size + 1, batch_size)] + \
    order[len(order) // batch_size * batch_size :]
        the entries of the short last batch are loose among the batches. Put them into a
        list of their own.
    [order[batches_delivered * batch_size :][k :: \
    -(-len(order[batches_delivered * batch_size :]) // batch_size)] \
    for k in range(-(-len(order[batches_delivered * batch_size :]) // batch_size))]
        the remaining entries are dealt like cards. A batch is a run of neighbors in the
        order.
    [part.tolist() for part in \
    np.array_split(order, -(-len(order) // batch_size))][batches_delivered:]
    [part.tolist() for part in np.array_split(order[batches_delivered * batch_size :], \
    max(1, -(-len(order[batches_delivered * batch_size :]) // batch_size)))]
        these are parts of about equal size. All batches are full except the last one,
        which takes what remains.
""")


# Bug or not?


def all_starts(num_tokens: int, context_length: int, stride: int) -> list[int]:
    return window_starts(num_tokens, context_length, stride).tolist()


@bug_or_not(
    purpose="To return the starts of all windows of T inputs *and* T targets, S apart.",
    reference=all_starts,
    cases=_streams,
    explanation=(
        "`N - T + 1` counts windows of T ids. With its last target, a window has T + 1 "
        "ids. The start N - T is therefore one too many, because its last input has no "
        "target. A stride above 1 hides the mistake on most lengths."
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
    purpose="To return all starts that `torch.randint(N - T, ...)` can draw in the "
    "loader of a well-known small GPT. Each must leave room for T inputs and T "
    "targets, and no start that does may be missing.",
    reference=possible_starts,
    cases=_context_lengths,
    explanation=(
        "The upper end of `randint` is left out, like that of a `range`. The largest "
        "start is therefore N - T - 1, the last one that leaves room for T + 1 ids. If "
        "you subtract 1 more, to be safe, you lose a start forever."
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
        "Each epoch shuffles the list that the epoch before has left, so its order "
        "depends on the number of shuffles before. A resumed run has done fewer "
        "shuffles, and gets another order from the same seed. If it is resumed in the "
        "middle of an epoch, it sees some windows twice and others never. This was "
        "found in pytorch/torchtitan (issue 2864). The cure is to shuffle a fresh "
        "`range(size)` in each epoch."
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
    purpose="To deliver one row after another, without new memory for each. The "
    "receiver finishes one row, here by adding it up, before it asks for the next.",
    reference=sum_of_each_row,
    cases=_rows_to_deliver,
    explanation=(
        "One buffer is filled again and again, as in the loader of a well-known chat "
        "model. This is fast, and it is right as long as nobody keeps a row. For "
        "example, `list(deliver())` would hold the last row many times. The loader of "
        "this lesson gives each batch memory of its own. If yours does not, say so in "
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


def _streams_to_window(random: Random) -> Iterator[Case]:
    yield from ((num_tokens,) for num_tokens in (33, 40, 100, 1000, 20_000))


def examples_with_32(num_tokens: int) -> int:
    return count_windows(num_tokens, 32, 1)


@true_or_false(
    claim="With a context of 32 instead of 16 and stride 1, a stream of 20,000 ids "
    "makes 16 examples fewer, not half as many.",
    reference=examples_with_32,
    cases=_streams_to_window,
    explanation=(
        "There are N - T windows, so 19,984 examples become 19,968. The count halves "
        "only if the stride grows with the context. With S = T, for example, 1,249 "
        "become 624, and each example then holds twice as many predictions."
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
        "How many ids does a window take, including its last target?",
        "Count one window, and one more for each whole stride that is left after it.",
    ),
)
def windows_of_stream(num_tokens: int, context_length: int, stride: int) -> int:
    return count_windows(num_tokens, context_length, stride)


windows_of_stream.answers("""
    (num_tokens - context_length - 1) // stride
        the first window is missing. This is how many strides fit *after* it.
    num_tokens // stride
        these are all multiples of the stride. Does a window fit at each of them?
    num_tokens // (context_length + 1)
        these are windows end to end, T + 1 ids each. Yours start S apart.
    count_windows(num_tokens, context_length, context_length - stride)
        the stride is taken for an overlap. The step is S itself.
""")


@numbers(
    ask="All windows of a stream of {num_tokens:,} ids, T = {context_length}, "
    "S = {stride}, come in batches of {batch_size}, and a short last batch is kept. "
    "How many batches are there in an epoch?",
    draw=lambda rng: {
        "num_tokens": rng.randrange(9_000, 30_000),
        "context_length": (length := rng.randrange(16, 65)),
        "stride": rng.randrange(3, length),
        "batch_size": rng.randrange(8, 33),
    },
    hints=("Count the windows first, and then the batches that hold them all.",),
)
def batches_of_epoch(
    num_tokens: int, context_length: int, stride: int, batch_size: int
) -> int:
    return math.ceil(count_windows(num_tokens, context_length, stride) / batch_size)


batches_of_epoch.answers("""
    count_windows(num_tokens, context_length, stride) // batch_size
        the short last batch is left out. Here it is kept.
    count_windows(num_tokens, context_length, stride)
        these are windows, not batches.
    math.ceil(num_tokens / (context_length + 1) / batch_size)
        this counts windows as if they lay end to end. The stride is ignored.
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
    hints=("Where does the last window start, and which id is the last one in it?",),
)
def unreached_ids(num_tokens: int, context_length: int, stride: int) -> int:
    last = (count_windows(num_tokens, context_length, stride) - 1) * stride
    return num_tokens - (last + context_length + 1)


unreached_ids.answers("""
    num_tokens - ((count_windows(num_tokens, context_length, stride) - 1) * stride + \
    context_length)
        these are windows of T ids. The last target reaches one id further.
    num_tokens % stride
        this is `N % S`, but a window is not as long as its stride.
    num_tokens - (count_windows(num_tokens, context_length, stride) - 1) * stride
        this is everything from the last *start* on.
""")
