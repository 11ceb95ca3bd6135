"""Exercises of lesson 05: what a stride covers and costs, strided evaluation, leaks and
honest splits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise  # noqa: F401, for the tables
from random import Random

from course_lib.sliding_windows import count_windows, gather_windows, window_starts
from course_lib.stride_tradeoffs import scored_windows  # noqa: F401, for the tables
from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false


def _streams(random: Random) -> Iterator[Case]:
    for context_length in (1, 2, 4):
        for stride in (1, 2, 3, 5, 9):
            yield from (
                (num_tokens, context_length, stride) for num_tokens in range(13)
            )
    for _ in range(40):
        yield random.randrange(1, 300), random.randrange(1, 30), random.randrange(1, 60)


@exercise(
    cases=_streams,
    hints=(
        "The first window adds T targets. Draw the second window below it, once with "
        "S < T and once with S > T. Which of its targets are new?",
        "Write down how many targets a later window adds if S is at most T, and how "
        "many if S is larger. One expression covers both. And what if no window fits?",
    ),
)
def effective_size(num_tokens: int, context_length: int, stride: int) -> int:
    """Return how many tokens are a target at least once in an epoch of this stride."""
    windows = count_windows(num_tokens, context_length, stride)
    if windows == 0:
        return 0
    return context_length + (windows - 1) * min(stride, context_length)


effective_size.slips("""
    (windows - 1) * min(stride, context_length) => (windows - 1) * stride
        with S > T the tokens between two windows are counted, although no window
        predicts them.
    (windows - 1) * min(stride, context_length) => (windows - 1) * context_length
        predictions are counted, not tokens. Windows that overlap predict the same token
        several times.
    min(stride, context_length) => max(stride, context_length)
        each later window adds the larger of S and T. It adds the smaller one, because
        it has T targets and moves on by S.
    min(stride, context_length) => min(stride, context_length + 1)
        a later window is given up to T + 1 new targets. It has T, because the first of
        its T + 1 ids is only an input.
    return context_length + (windows - 1) * => return windows *
        a later window adds min(S, T) new targets, but the first window adds all T of
        its own.
    context_length + (windows - 1) * min(stride, context_length) => windows * stride
        each window is given S new targets. It has no more than T, and all T targets of
        the first one are new.
    context_length + (windows - 1) * min(stride, context_length) => \
    context_length + 1 + (windows - 1) * min(stride, context_length + 1)
        these are the tokens that are used, as an input or as a target. The first id of
        the stream, and of each window after a gap, is only an input.
    return context_length + => return context_length + 1 +
        the first id of the stream is counted, although it is never a target.
    windows == 0 => False
        the case of no window is missing: then nothing is a target. The formula holds
        for one window or more.
    windows == 0 => False ; count_windows(num_tokens, context_length, stride) => \
    (num_tokens - context_length - 1) // stride + 1
        the case of a stream too short for a window is missing. The division gives 0 or
        fewer windows there, and nothing is a target.
    count_windows(num_tokens, => count_windows(num_tokens + 1,
        windows of T ids are counted. A window takes T + 1, because its last target
        needs one more.
    count_windows(num_tokens, => count_windows(num_tokens - 1,
        the window that ends exactly with the stream is left out. N - T - 1 is also a
        start, and `range` stops before its end.
    count_windows(num_tokens, context_length, stride) => \
    count_windows(num_tokens, stride, context_length)
        T and S have changed places where the windows are counted. `count_windows` takes
        (num_tokens, context_length, stride).
    count_windows(num_tokens, context_length, stride) => \
    max(0, (num_tokens - context_length - 1) // stride)
        one window too few is counted. The first one counts as well: 1 + (N - T - 1) //
        S.
""")


@effective_size.right_way("""
    num_tokens - context_length, => num_tokens - context_length + 1,
        windows of T ids are counted…
    num_tokens - context_length, => num_tokens - context_length - 1,
        the window that ends exactly with the stream…
    start + context_length + 1)) => start + context_length))
        the last target of each window is left out.
    range(start + 1, => range(start,
        these are the tokens that are used, as…
    targets = set() => targets = [] ; targets.update => targets.extend
        predictions are counted, not tokens. Windows that…
""")
def in_a_set(num_tokens, context_length, stride):
    targets = set()
    for start in range(0, num_tokens - context_length, stride):
        targets.update(range(start + 1, start + context_length + 1))
    return len(targets)


effective_size.answers("""
    (num_tokens - 1) // stride * stride
        whole strides are counted, not targets. A window has T targets, whatever its
        stride.
    (1 + (num_tokens - context_length - 1) // stride) * context_length
        predictions are counted, not tokens, and a stream without a window gets a
        negative number of them.
    max(0, min(count_windows(num_tokens, context_length, stride) * context_length, \
    num_tokens - 1))
        predictions are counted, and limited to N - 1. If windows overlap, that hides
        the tail, which is never a target.
    count_windows(num_tokens, context_length, stride)
        windows are counted, not tokens. Each window has T targets, and some of them are
        new.
    max(0, num_tokens - 1)
        every token but the first is counted. The tokens of the tail, and of a gap, are
        never targets.
    num_tokens - 1
        every token but the first is counted, which is -1 for an empty stream. The
        tokens of the tail are never targets.
    num_tokens
        all tokens are counted. The first one is never a target, and neither are those
        in a gap or in the tail.
    (num_tokens - 1 if stride <= context_length else \
    count_windows(num_tokens, context_length, stride) * context_length) \
    if num_tokens > context_length else 0
        a stream can have a tail even if windows overlap. After the last target of the
        last window, up to S - 1 tokens are never targets.
    num_tokens - (num_tokens - context_length - 1) % stride \
    if num_tokens > context_length else 0
        the ids up to the end of the last window are counted. The first id is never a
        target, and with S > T neither are those in a gap.
""")


def _budgets(random: Random) -> Iterator[Case]:
    # A second always pays for more than one window. So a search that is strict by
    # mistake, or forgets the seconds, also ends, and can be told what it does.
    for context_length in (1, 2, 4, 8):
        for num_tokens in (context_length + 1, 12, 23, 40):
            yield from (
                (num_tokens, context_length, context_length + 1, seconds)
                for seconds in (1, 2, 3, 5, 20)
            )
            yield num_tokens, context_length, 3 * context_length, 2
    for _ in range(20):
        yield (
            random.randrange(60, 400),
            random.randrange(1, 20),
            random.randrange(20, 60),
            random.randrange(1, 40),
        )


@exercise(
    cases=_budgets,
    hints=(
        "An epoch costs windows * T tokens. How many tokens does the budget pay for?",
        "The cost falls as the stride grows. In which order do you try the strides, "
        "and what do you know about the first one that fits?",
    ),
)
def smallest_affordable_stride(
    num_tokens: int, context_length: int, tokens_per_second: int, seconds: int
) -> int:
    """Return the smallest stride whose epoch takes at most `seconds`."""
    affordable = tokens_per_second * seconds
    stride = 1
    while (
        count_windows(num_tokens, context_length, stride) * context_length > affordable
    ):
        stride += 1
    return stride


smallest_affordable_stride.slips("""
    stride) * context_length > => stride) >
        a window costs one token here. It costs T, because all of its inputs go through
        the model.
    stride) * context_length > => stride) * (context_length + 1) >
        a window costs T + 1 tokens here. It costs T, because its last target is never
        an input.
    > affordable => >= affordable
        the comparison is too strict. An epoch of exactly `seconds` still fits.
    affordable = tokens_per_second * seconds => affordable = tokens_per_second
        this is the budget of a single second. The machine has `seconds` of them.
    count_windows(num_tokens, => count_windows(num_tokens + 1,
        windows of T ids are counted. A window takes T + 1, because its last target
        needs one more.
    count_windows(num_tokens, context_length, stride) => ((num_tokens - 1) // stride)
        (N - 1) // S windows are counted. A window needs T ids after its first one, not
        1.
    count_windows(num_tokens, context_length, stride) => (num_tokens // stride)
        N // S windows are counted. Count the windows of T + 1 ids that fit, with
        `count_windows`.
    count_windows(num_tokens, context_length, stride) => \
    ((num_tokens - context_length - 1) // stride)
        one window too few is counted, (N - T - 1) // S. The window at 0 also costs T
        tokens.
    count_windows(num_tokens, context_length, stride) => \
    ((num_tokens - context_length) // stride)
        (N - T) // S windows are counted. That is right only if S divides N - T: there
        are 1 + (N - T - 1) // S.
    count_windows(num_tokens, context_length, stride) => \
    count_windows(num_tokens, stride, context_length)
        T and S have changed places where the windows are counted. `count_windows` takes
        (num_tokens, context_length, stride).
    count_windows(num_tokens, context_length, stride) * context_length => \
    effective_size.reference(num_tokens, context_length, stride)
        each token is paid for once. A token in several windows goes through the model
        several times, so an epoch costs windows * T.
    stride) * context_length > affordable => \
    stride) > tokens_per_second // context_length * seconds
        the windows of one second are rounded down before they are multiplied by
        `seconds`. Multiply first.
    stride) * context_length > affordable => \
    stride) * context_length // tokens_per_second > seconds
        the time of an epoch is rounded down before it is compared. But 2.8 seconds do
        not fit into 2.
    stride = 1 => stride = 2
        stride 1 is never tried. It fits if the budget is large.
    stride += 1 => stride *= 2
        only the strides 1, 2, 4, 8, ... are tried. A smaller stride may fit between two
        of them.
    return stride => return stride + 1
        the stride before this one already fits. Do you raise it once more after the
        test?
    return stride => return stride - 1
        that is the last stride that does *not* fit.
    return stride => return context_length - stride
        this is the overlap. The stride is the step, T - overlap.
    return stride => return min(stride, context_length)
        the answer never goes beyond T. With a small budget the stride may have to be
        larger.
    return stride => return max(stride, context_length)
        strides below T are never tried. With enough time a smaller one fits, down to 1.
""")


@smallest_affordable_stride.right_way("""
    // context_length => // 1
        a window costs one token…
    // context_length => // (context_length + 1)
        a window costs T + 1 tokens…
    // paid + 1 => // paid
        that is the last stride…
    tokens_per_second * seconds // => tokens_per_second //
        this is the budget of a single second…
    - 1) // paid => ) // paid
        windows of T ids are counted…
    tokens_per_second * seconds // context_length => \
    (tokens_per_second // context_length * seconds)
        the windows of one second…
    tokens_per_second * seconds // context_length => \
    round(tokens_per_second * seconds / context_length)
        the number of windows that the budget pays for is rounded to the nearest
        integer. The last window must be paid for in full.
    (num_tokens - context_length - 1) // paid + 1 => \
    max(1, (num_tokens - context_length - 1) // paid)
        (N - T - 1) / n is rounded down, where n windows are paid for. One window more
        still fits at that stride, which is the last one that is too small.
    (num_tokens - context_length - 1) // paid + 1 => \
    max(1, -(-(num_tokens - context_length - 1) // paid))
        (N - T - 1) / n is rounded up, where n windows are paid for. If it is an
        integer, one window more fits exactly, so the stride must be one larger.
    (num_tokens - context_length - 1) // paid + 1 => \
    max(1, -(-(num_tokens - context_length - 1) // max(1, paid - 1)))
        this is (N - T - 1) / (n - 1), where the last of n windows ends with the stream.
        A smaller stride leaves a tail, and still no window more.
    // paid + 1 => // max(1, paid - 1) + 1
        n windows are paid for, and there are n - 1 strides between their starts. But
        the next window must not fit, and that takes n strides.
    (num_tokens - context_length - 1) // paid + 1 => max(1, -(-num_tokens // paid))
        this is N / n, rounded up, where n windows are paid for. The last window takes T
        + 1 ids and not a stride, so use N - T - 1 and not N.
""")
def by_division(num_tokens, context_length, tokens_per_second, seconds):
    paid = tokens_per_second * seconds // context_length
    return (num_tokens - context_length - 1) // paid + 1


smallest_affordable_stride.answers("""
    stride if (stride := smallest_affordable_stride.reference(num_tokens, \
    context_length, tokens_per_second, seconds)) <= context_length else None
        only strides up to T are tried. With a small budget the stride may have to be
        larger than T.
    max(1, math.ceil(num_tokens / (tokens_per_second * seconds)))
        an epoch is taken to cost N tokens. That holds for stride T, but stride 1 costs
        T times as much.
    max(1, math.ceil(num_tokens * context_length / (tokens_per_second * seconds)))
        this takes N * T / stride tokens for an epoch, as if windows could be parts.
        Only whole windows count: max(0, 1 + (N - T - 1) // S).
    int((num_tokens - context_length - 1) // (tokens_per_second * seconds / \
    context_length)) + 1
        the budget is divided by T without rounding. It pays for whole windows only, so
        round down.
    num_tokens
        the largest stride always fits, because a larger stride only makes an epoch
        cheaper. Return the smallest one that fits.
""")


def _evaluations(random: Random) -> Iterator[Case]:
    for context_length in (1, 2, 3, 5):
        for stride in range(1, context_length + 1):
            yield from (
                (num_tokens, context_length, stride)
                for num_tokens in (2, 3, 6, 9, 11, 14)
            )


@exercise(
    cases=_evaluations,
    hints=(
        "Begin with the last target, N - 1. Where does its window begin if it has T "
        "inputs? And where if there are fewer than T ids before that target?",
        "Go down from the target N - 1 in steps of S. The last target of a window "
        "decides everything about it: `max` gives you its start, and only the window "
        "that begins at 0 scores something other than S. Put them in order at the end.",
    ),
)
def plan_from_the_end(
    num_tokens: int, context_length: int, stride: int
) -> list[tuple[int, int, int]]:
    """Return (start, length, scored) of each window of an evaluation planned from the
    end of the stream, in the order of their starts."""
    windows = []
    last = num_tokens - 1
    while True:
        start = max(0, last - context_length)
        windows.append((start, last - start, stride if start else last))
        if start == 0:
            return windows[::-1]
        last -= stride


plan_from_the_end.slips("""
    return windows[::-1] => return windows
        the last window comes first. Put the windows in the order of their starts.
    stride if start else last => last - start
        every window scores all of its targets, so tokens in an overlap are scored
        several times.
    stride if start else last => stride
        the first window scores only S targets. No other window scores those before
        them, so it scores all of its own.
    stride if start else last => min(stride, last - start)
        the first window scores only S targets, or its length if that is less. It scores
        all of its own.
    if start == 0 => if last <= stride
    if start == 0 => if last <= stride ; stride if start else last => min(stride, last)
        the plan goes on after a window that begins at 0. By then every token has been
        scored.
    last = num_tokens - 1 => last = num_tokens
        the last id of the stream is used as an input. It is only a target.
    last = num_tokens - 1 => last = num_tokens - 2
        the plan ends one token too early. The last target is the last token, N - 1.
    last - start, => last - start + 1,
        `length` counts inputs alone. The window that ends with the target `last` has
        last - start of them.
    last - start, => last,
        the second entry is where the window ends. Return the number of its inputs
        there.
    last - start, => min(context_length, num_tokens - 1),
        the window at 0 is given T inputs if the stream is long enough. Its inputs are
        the tokens before its last target.
    last - start, stride if start else last => stride if start else last, last - start
        length and scored have changed places. The order is (start, length, scored).
    last - context_length) => last - context_length + 1)
        windows have T - 1 inputs. Before the target `last` come the T inputs last - T
        ... last - 1.
    stride if start => max(1, context_length - stride) if start ; \
    last -= stride => last -= max(1, context_length - stride)
        the step is T - S. S is the step from one window to the next, not their overlap.
""")


@plan_from_the_end.right_way("""
    while last > context_length => while last >= context_length
        a window of T inputs that begins exactly at 0 is not taken as the first one. So
        it scores only S targets, and with S = T an empty window comes before it.
    while last > context_length => \
    while last > context_length or last == context_length > stride
        a window of T inputs that begins exactly at 0 is already the first one. It
        scores all of its targets, and no other window comes before it.
    while last > context_length => while last >= context_length ; \
    last - context_length, context_length, => last - context_length + 1, context_length,
    while last > context_length => while last >= context_length ; \
    last - context_length, context_length, => \
    last - context_length + 1, context_length, ; \
    [(0, last, last), *windows[::-1]] => [(0, last, last)][: last > 0] + windows[::-1]
        windows begin one id too late. T inputs from last - T + 1 on would include the
        last target.
    num_tokens - 1 => num_tokens
        the last id of the stream is used…
    (0, last, last) => (0, context_length, last)
        the first window is given T inputs, even if there are fewer tokens before its
        last target.
    (0, last, last) => (0, last, context_length)
        the first window scores T targets, even if it has fewer.
    (0, last, last) => (0, last + 1, last)
        the last target of the first window is counted among its inputs.
    (0, last, last) => (0, last, min(last, stride))
        the first window scores only S targets, or…
    (0, last, last) => (0, context_length, stride)
        the first window is given T inputs and S targets, as if it were any other.
    (0, last, last) => (0, context_length, context_length)
        the first window is always given T inputs and T targets. It ends with its own
        last target, so its inputs and its scored targets may be fewer.
    (0, last, last) => (last - context_length, context_length, last)
        the first window would begin before the stream. A start is never below 0, so
        that window is shorter instead.
    [(0, last, last), *windows[::-1]] => windows[::-1]
        only the windows that begin after 0 are returned. The window at 0 scores the
        first tokens of all.
    [(0, last, last), *windows[::-1]] => \
    [(0, last, last)][: last == context_length] + windows[::-1]
        the short window at the beginning is missing. No other window scores its tokens.
    last - context_length, context_length, => last - context_length + 1, context_length,
        all windows but the first begin one id too late, at last - T + 1.
    last - context_length, context_length, => last - context_length, context_length + 1,
        the last target is counted among the inputs of all windows but the first.
    last - context_length, context_length, => \
    last - context_length + 1, context_length - 1,
        all windows but the first have T - 1 inputs.
    context_length, stride)) => context_length, context_length))
        every window scores all of its targets…
    last -= stride => last -= context_length
        windows end T apart, and score S targets each. The tokens in between are never
        scored: S is the step.
    last -= stride => last -= context_length ; \
    context_length, stride)) => context_length, context_length))
        windows lie end to end, as if the stride were T. Their last targets are S apart.
""")
def full_ones_first(num_tokens, context_length, stride):
    windows, last = [], num_tokens - 1
    while last > context_length:
        windows.append((last - context_length, context_length, stride))
        last -= stride
    return [(0, last, last), *windows[::-1]]


plan_from_the_end.answers("""
    scored_windows(num_tokens, context_length, stride)
        that is the plan of the lesson, from the beginning. Here the last window is a
        full one, and the first may be short.
    [(num_tokens - 1 - start - length, length, scored) for start, length, scored in \
    scored_windows(num_tokens, context_length, stride)][::-1]
        that is the plan of the lesson in a mirror, where the last window scores all T
        targets. Here it scores its last S, like the others, and the first window scores
        all of its own.
    [(max(0, last - context_length), min(last, context_length), last - before)
    for before, last in pairwise(
    [0, *range(context_length, num_tokens - 1, stride), num_tokens - 1])]
        the windows are planned from the beginning, and only the last one is moved back,
        so it may score fewer than S. Begin with the last target, and go down.
    [*(plan := plan_from_the_end.reference(num_tokens, context_length, stride))[:-1], \
    (*plan[-1][:2], plan[-1][1])]
        the last window scores all of its targets, although the windows before it have
        scored some of them. It scores its last S.
    [(last - context_length, context_length, stride) for last in \
    range(num_tokens - 1, 0, -stride)][::-1]
        every window has T inputs, wherever it ends. So the windows that end near the
        beginning start before it, at positions below 0.
""")


def _scored_positions(random: Random) -> Iterator[Case]:
    for context_length, strides in {
        1: (1,),
        2: (1, 2),
        4: (1, 2, 4),
        5: (2, 3, 4),
        6: (1, 3, 4, 6),
        7: (3, 5),
    }.items():
        for stride in strides:
            yield from ((position, context_length, stride) for position in range(1, 19))


@exercise(
    cases=_scored_positions,
    hints=(
        "Which of the starts 0, S, 2S, ... is the earliest whose window of T inputs "
        "still reaches this token?",
        "A window at `start` reaches the targets up to start + T. So its start is at "
        "least position - T, and it is a multiple of S that is not negative.",
    ),
)
def context_when_scored(position: int, context_length: int, stride: int) -> int:
    """Return how many tokens come before the token at `position` in the window that
    scores it."""
    start = max(0, math.ceil((position - context_length) / stride) * stride)
    return position - start


context_when_scored.slips("""
    max(0, ...) => (...)
        near the beginning the start would be negative. It is never below 0.
    math.ceil((position - context_length) / stride) * stride => \
    position - context_length
        every token is given T tokens of context. Only S = 1 gives that to every token.
    math.ceil((position - context_length) / stride) => \
    ((position - context_length) // stride)
        the start is rounded down instead of up. That window ends before the token, or
        is longer than T.
    math.ceil((position - context_length) / stride) => \
    round((position - context_length) / stride)
        the start is rounded to the nearest window. That window may end before the
        token, so round up.
    math.ceil((position - context_length) / stride) * stride => \
    (position - context_length + stride - 1)
        the context is never more than T - S + 1, as if starts were not rounded up to
        multiples of S. That is the least after the first T tokens, and each of those
        has everything before it.
    math.ceil((position - context_length) / stride) * stride => \
    math.ceil(position / stride) * stride - context_length
        the start is a multiple of S minus T, which is right only if S divides T.
        Subtract T first, then round up to a multiple of S.
    math.ceil((position - context_length) / stride) => \
    ((position - context_length) // stride + 1)
    (position - context_length) / => (position - context_length + 1) /
        the window that starts at position - T is passed over, although the token is its
        last target.
    (position - context_length) / => (position - context_length - 1) /
        the window that starts at position - T - 1 is taken. It ends one token too
        early.
    math.ceil((position - context_length) / stride) => (position // stride)
        the latest start up to the token is taken. The earliest window that reaches the
        token scores it.
    / stride) * stride => / stride)
        the number of the window is used as its start. The window begins at S times that
        number.
    - context_length) / stride) * stride => - stride) / context_length) * context_length
        T and S have changed places. Windows of T tokens begin S apart.
    / stride) * stride => \
    / max(1, context_length - stride)) * max(1, context_length - stride)
        the step is T - S. S is the step from one window to the next, not their overlap.
    return position - start => return start
        that is where the window begins. The context is everything from there up to the
        token.
    return position - start => return position - start + 1
        the token itself is counted. It is not part of its own context.
    return position - start => return position - start - 1
        one token too few is counted. From `start` up to the token before p there are p
        - start tokens.
""")


@context_when_scored.right_way("""
    position <= context_length => False
        near the beginning the start…
    (position - context_length - 1) % => (position - 1) %
        the new targets are counted from the beginning of the stream. They begin after
        the first T, which is the same only if S divides T.
    (position - context_length - 1) % => (position - context_length) %
        the first new token after the first T is the one at T + 1, so take the remainder
        of position - T - 1.
    context_length - stride + 1 + (position - context_length - 1) % stride => \
    context_length - stride + 1
        that is the least. A window scores S tokens, and each has one token of context
        more than the one before it.
    context_length - stride + 1 + (position - context_length - 1) % stride => \
    context_length - stride
        every token after the first window is given T - S. The first token that a window
        scores has T - S + 1 before it, and each further one has one more, up to T.
    context_length - stride + 1 + (position - context_length - 1) % stride => \
    context_length - (position - context_length) % stride
        the remainder runs the wrong way. Each new target of a window has one token of
        context more than the one before it, up to T.
    context_length - stride + 1 + (position - context_length - 1) % stride => \
    context_length - stride + (position - context_length) % stride
        the window that starts at position - T is passed…
    + 1 + (position - context_length - 1) % => + position %
        p % S counts from a multiple of S. The new targets of a window begin after the
        first T.
    - stride + 1 + => - stride +
        one token too few is counted. The first token that a window scores has T - S + 1
        before it, not T - S.
""")
def from_the_remainder(position, context_length, stride):
    if position <= context_length:
        return position
    return context_length - stride + 1 + (position - context_length - 1) % stride


context_when_scored.answers("""
    min(position, stride)
        S is how many targets a window scores, not how many tokens come before one.
    context_length
        every token is given T tokens of context. A token near the beginning has fewer
        before it, and S > 1 leaves fewer to some of the others.
    (position - 1) % context_length + 1
        this is right for windows end to end. Here the context does not begin again
        after every T tokens, because windows begin S apart.
    position % context_length
        this takes windows end to end and ignores S. And position % T is 0 for the last
        token of each, where it should be T.
    (position - 1) % stride + 1
        this is the *latest* window that reaches the token. The earliest one has already
        scored it.
    position % stride
        the latest start up to…
""")


def _held_out(random: Random) -> Iterator[Case]:
    yield list(range(10)), [4], 3
    yield list(range(9)), [], 2
    yield [0, 3, 6, 9, 12], [6], 3
    yield [12, 0, 6, 9, 3], [0, 12], 2
    for context_length in (1, 2, 3, 4):
        for num_held_out in (1, 2):
            for stride in (1, 2):
                starts = list(range(0, 14 * stride, stride))
                random.shuffle(starts)
                yield starts, starts[:num_held_out], context_length


@exercise(
    cases=_held_out,
    hints=(
        "Take one window at `start` and one held-out window at `other`. Write down the "
        "ids of both, the last target included. How far apart must the two starts be?",
        "The distance counts in both directions, and it must be large enough for every "
        "held-out window, not for one of them. Mind the case where they share one id.",
    ),
)
def purge(starts: list[int], held_out: list[int], context_length: int) -> list[int]:
    """Return the starts of the windows that share no id with a held-out window."""
    may_train = []
    for start in starts:
        if all(abs(start - other) > context_length for other in held_out):
            may_train.append(start)
    return may_train


purge.slips("""
    > context_length for => >= context_length for
        windows T apart still share one id, because the last target of one is the first
        input of the other.
    > context_length for => > context_length + 1 for
        windows T + 1 apart are taken out, although they share nothing. A window takes T
        + 1 ids.
    abs(start - other) > context_length => start != other
        only the held-out windows themselves are taken out. Their neighbors overlap
        them, and share most of their targets.
    abs(start - other) => (start - other)
        a window that begins before a held-out one is always taken out, even if it ends
        long before it. Measure the distance in both directions.
    abs(start - other) => (other - start)
        a window that begins after a held-out one is always taken out, even if it begins
        long after its end. Measure the distance in both directions.
    abs(start - other) > context_length => \
    not other <= start <= other + context_length
        a window that begins before a held-out one and reaches into it may still train
        here. Its last ids belong to validation.
    abs(start - other) > context_length => \
    not start <= other <= start + context_length
        a window that begins inside a held-out one may still train here. Its first ids
        belong to validation.
    if all( => if any(
        it is enough here that one held-out window is far away. A window that trains
        must be far from all of them.
    if all( => if not all(
        these are the windows that may *not* train, because they share ids with a
        held-out one.
    return may_train => return sorted(may_train)
        the starts are sorted. Keep them in the order of `starts`.
    return may_train => return len(may_train)
        this is how many windows may train. Return their starts.
    may_train.append(start) => may_train.append(start // context_length)
        the starts are changed. Return each of them as it was given.
""")


@purge.right_way("""
    for i in range(context_length + 1)} => for i in range(context_length)}
        the last target of the held-out windows is left out. Each of them takes T + 1
        ids.
    for i in range(context_length + 1)} => for i in range(context_length + 2)}
        the held-out windows are given T + 2 ids. Each of them takes T + 1.
    start + context_length + 1)) => start + context_length))
        the last target of the training window is left out. Its T + 1 ids must all be
        free.
    start + context_length + 1)) => start + context_length + 2))
        the training window is given T + 2 ids. It takes T + 1.
    set(range(start, start + context_length + 1)) => {start}
        a window that begins before a held-out one and reaches…
    if not taken => if taken
        these are the windows that may *not* train…
""")
def by_ids(starts, held_out, context_length):
    taken = {start + i for start in held_out for i in range(context_length + 1)}
    return [
        start
        for start in starts
        if not taken & set(range(start, start + context_length + 1))
    ]


purge.answers("""
    [s for s in starts if not held_out or s + context_length < min(held_out) \
    or s - context_length > max(held_out)]
        everything between the first and the last held-out window is taken out.
    starts
        nothing is taken out: the held-out windows would train, and so would their
        neighbors.
    held_out
        these are the windows that validate. Return those that may train.
    [start for start in starts if not held_out or abs(start - held_out[0]) > \
    context_length]
        only the first held-out window is compared. Compare all of them.
    [start for start in starts if not held_out or abs(start - held_out[-1]) > \
    context_length]
        only the last held-out window is compared. Compare all of them.
    [start for number, start in enumerate(starts) if start not in held_out and \
    not set(starts[max(0, number - 1) : number + 2]) & set(held_out)]
        only the windows next to a held-out one in the list are taken out. Others may
        overlap it as much, so compare the starts.
""")


def _cuts(random: Random) -> Iterator[Case]:
    for context_length in (1, 3, 4):
        for stride in (1, 2, context_length):
            yield from (
                (num_tokens, cut, context_length, stride)
                for num_tokens, cut in ((12, 6), (15, 9), (20, 13), (16, 5))
            )
    yield 9, 2, 4, 1
    yield 9, 7, 4, 1


@exercise(
    cases=_cuts,
    hints=(
        "Each part is a stream of its own: one of `cut` ids, one of `num_tokens - "
        "cut`. Where does the second one begin?",
        "A window at `start` takes the ids start ... start + T. What is the last id "
        "that a training window may take? And a validation window?",
    ),
)
def split_starts(
    num_tokens: int, cut: int, context_length: int, stride: int
) -> tuple[list[int], list[int]]:
    """Return the starts of training and of validation windows, both counted in the
    whole stream."""
    train = list(range(0, cut - context_length, stride))
    validation = list(range(cut, num_tokens - context_length, stride))
    return train, validation


split_starts.slips("""
    cut - context_length, => cut - context_length + 1, ; \
    num_tokens - context_length, => num_tokens - context_length + 1,
        windows of T ids are used. With the last target a window takes T + 1, so the
        last one overruns its part.
    cut - context_length, => cut - context_length - 1, ; \
    num_tokens - context_length, => num_tokens - context_length - 1,
        in both parts the window whose last target is the last id is left out, although
        it still fits.
    cut - context_length, => cut - context_length + 1,
        the last target of the last training window is after the cut.
    cut - context_length, => cut - context_length - 1,
        the training window whose last target is the id at cut - 1 is left out, although
        it still fits.
    cut - context_length, => cut,
        training windows that begin before the cut and end after it are kept. The
        training starts end before cut - T.
    cut - context_length, => min(cut, num_tokens - context_length),
        windows that begin before the cut reach across it. Their last ids belong to
        validation.
    cut - context_length, => num_tokens - context_length,
        training windows go on to the end of the stream, through the whole validation
        part.
    num_tokens - context_length, => num_tokens - context_length + 1,
        the last validation window overruns the stream. It takes T + 1 ids, because its
        last target needs one more.
    num_tokens - context_length, => num_tokens - context_length - 1,
        the validation window whose last target is the last id of all is left out,
        although it still fits.
    num_tokens - context_length, => num_tokens,
        validation windows begin at every id up to the end, and overrun the stream.
    num_tokens - context_length, => num_tokens - cut - context_length,
        validation starts end at num_tokens - cut - T. They are counted in the whole
        stream, so its end is num_tokens.
    range(cut, num_tokens - context_length, => \
    range(0, num_tokens - cut - context_length,
        validation starts are counted from the cut. In the whole stream they begin at
        `cut`.
    range(cut, => range(cut + context_length,
        validation windows begin T ids after the cut. The ids before that also belong to
        validation.
    range(cut, => range(cut + 1,
        the first validation window begins after the cut. The id at `cut` belongs to
        validation.
    range(cut, => range(max(0, cut - context_length),
        validation windows begin before the cut, to give context to its first ids. But
        training uses those ids.
    range(cut, => range(-(-cut // stride) * stride,
        validation goes on with the grid of the training windows. Its first window
        begins at `cut`.
    cut - context_length, => min(cut, num_tokens - context_length), ; \
    range(cut, => range(-(-cut // stride) * stride,
        the windows of the whole stream are shared out by their starts. Cut the stream
        first, then make windows.
    num_tokens - context_length, stride => num_tokens - context_length
        validation windows begin at every id. S is the step in both parts.
    cut - context_length, stride => cut - context_length, 1 ; \
    num_tokens - context_length, stride => num_tokens - context_length, 1
        the stride is missing. The windows of both parts begin S apart.
    cut - context_length, stride => cut - context_length, context_length ; \
    num_tokens - context_length, stride => num_tokens - context_length, context_length
        the windows lie end to end in both parts. They begin S apart, not T.
    cut - context_length, stride => cut - stride, context_length ; \
    num_tokens - context_length, stride => num_tokens - stride, context_length
        T and S have changed places. Windows of T inputs begin S apart.
    return train, validation => return validation, train
        validation comes first. Return the training starts, then the validation starts.
    return train, validation => return train + validation
        all starts are in one list. Return two lists, one for training and one for
        validation.
    return train, validation => return train or [0], validation or [cut]
        a part too short for a window is given one. Its list should be empty.
    return train, validation => return train[:-1], validation[:-1]
        the last window of each part is missing. A part of n ids has 1 + (n - T - 1) //
        S of them.
    return train, validation => return len(train), len(validation)
        this is how many windows each part has. Return their starts.
    return train, validation => \
    return list(range(len(train))), list(range(cut, cut + len(validation)))
        the windows are numbered 0, 1, 2, ... in each part. Window number i begins i
        strides after the first one.
    num_tokens - context_length, => \
    cut + stride * count_windows(num_tokens, context_length, stride),
        there are as many validation windows as the whole stream would have. The
        validation part holds num_tokens - cut ids.
    cut - context_length, => (cut - context_length) // stride * stride, ; \
    num_tokens - context_length, => \
    cut + (num_tokens - cut - context_length) // stride * stride,
        a part of n ids is given (n - T) // S windows. That is right only if S divides n
        - T: there are 1 + (n - T - 1) // S.
""")


def inside_training_part(num_tokens: int, cut: int, context_length: int) -> list[int]:
    starts = range(num_tokens - context_length)
    return [start for start in starts if start + context_length < cut]


def _parts(random: Random) -> Iterator[Case]:
    for context_length in (1, 2, 4):
        yield from (
            (num_tokens, cut, context_length)
            for num_tokens in (8, 12, 20)
            for cut in (5, 6, num_tokens)
        )


@bug_or_not(
    purpose=(
        "The ids from `cut` on are for validation. Return the starts of all windows of "
        "stride 1 that may train, because none of their T + 1 ids belongs to "
        "validation."
    ),
    reference=inside_training_part,
    cases=_parts,
    explanation=(
        "A window that begins before the cut may end after it. The last T of these "
        "windows contain ids of the validation part. The last T - 1 even train on ids "
        "that validation scores (the id at `cut` is validation's first input, so it "
        "is not scored). If you cut the stream first and then make windows of each "
        "part, nothing can reach across."
    ),
)
def training_windows(num_tokens: int, cut: int, context_length: int) -> list[int]:
    starts = range(num_tokens - context_length)
    return [start for start in starts if start < cut]


def each_token_by_its_earliest_window(
    num_tokens: int, context_length: int, stride: int
) -> list[tuple[int, int]]:
    scored = []
    for token in range(1, num_tokens):
        reaching = [
            start
            for start in range(0, token, stride)
            if start + context_length >= token
        ]
        scored.append((token, token - min(reaching)))
    return scored


@bug_or_not(
    purpose=(
        "Return (token, context) for each token but the first, once and in order, as a "
        "strided evaluation scores it. `context` is how many tokens come before it, as "
        "many as a window of T inputs at this stride can give it."
    ),
    reference=each_token_by_its_earliest_window,
    cases=_evaluations,
    explanation=(
        "In each window `end - scored` targets are new, even in the short last one, "
        "and `break` stops when nothing is left. So every token but the first is "
        "scored once, with the most context that a window of T at this stride can give "
        "it. The two usual slips are leaving out the `break`, and scoring `stride` "
        "targets in the last window."
    ),
)
def score_what_is_new(
    num_tokens: int, context_length: int, stride: int
) -> list[tuple[int, int]]:
    tokens_and_contexts = []
    scored = 0
    for begin in range(0, num_tokens - 1, stride):
        end = min(begin + context_length, num_tokens - 1)
        tokens_and_contexts += [
            (token, token - begin) for token in range(scored + 1, end + 1)
        ]
        scored = end
        if end == num_tokens - 1:
            break
    return tokens_and_contexts


def batch_at_stride_1_is_larger(
    num_tokens: int, context_length: int, batch_size: int, stride: int
) -> bool:
    def size_of_a_batch(stride: int) -> int:
        starts = window_starts(num_tokens, context_length, stride)[:batch_size]
        batch = gather_windows([7] * num_tokens, starts, context_length)
        return sum(half.numel() * half.element_size() for half in batch)

    return size_of_a_batch(1) > size_of_a_batch(stride)


def _batches(random: Random) -> Iterator[Case]:
    for context_length in (2, 4, 8, 16):
        for batch_size in (1, 2, 8):
            num_tokens = context_length * batch_size + 1
            yield num_tokens, context_length, batch_size, context_length
            yield 2 * num_tokens, context_length, batch_size, context_length // 2


@true_or_false(
    claim=(
        "At the same batch size, a batch at stride 1 takes more memory than a batch at "
        "a larger stride, because its windows overlap."
    ),
    reference=batch_at_stride_1_is_larger,
    cases=_batches,
    explanation=(
        "A batch is B rows of T inputs and T targets, whatever the stride. It has the "
        "same bytes, and it is the same work for the device. A small stride multiplies "
        "the *number* of batches in an epoch, and with that number the time."
    ),
)
def a_batch_at_stride_1(
    num_tokens: int, context_length: int, batch_size: int, stride: int
) -> bool:
    return stride > 1


# With other numbers by seed.


@numbers(
    ask="A stream of {num_tokens:,} ids, T = {context_length}, stride {stride}. How "
    "many input ids go through the model in one epoch, if you count repeats?",
    draw=lambda rng: {
        "num_tokens": rng.randrange(5_000, 20_000),
        "context_length": (length := rng.randrange(24, 97)),
        "stride": rng.randrange(4, length - 4),
    },
    hints=("How many windows are there, and how many inputs does each of them have?",),
)
def ids_fed(num_tokens: int, context_length: int, stride: int) -> int:
    return count_windows(num_tokens, context_length, stride) * context_length


ids_fed.answers("""
    num_tokens
        each id is counted once. Windows that overlap feed it several times.
    count_windows(num_tokens, context_length, stride) * stride
        windows times stride is what is new in them. All T inputs of each are fed.
    count_windows(num_tokens, context_length, stride) * (context_length + 1)
        a window is given T + 1 inputs. Its last target is not fed.
    count_windows(num_tokens, context_length, 1) * context_length
        these are as many windows as at stride 1.
""")


@numbers(
    ask="A strided evaluation, T = {context_length}, S = {stride}: windows start at 0, "
    "S, 2S, …, and each scores what no window before it has scored. How many tokens "
    "come before the token at position {position}, counted from 0, in the window that "
    "scores it?",
    draw=lambda rng: {
        "context_length": (length := rng.randrange(30, 100)),
        "stride": rng.randrange(7, length - 7),
        "position": rng.randrange(300, 900),
    },
    hints=(
        "What is the first start s whose targets reach the position? Its targets are "
        "s + 1 to s + T.",
    ),
)
def context_at_score(context_length: int, stride: int, position: int) -> int:
    start = math.ceil((position - context_length) / stride) * stride
    return position - start


context_at_score.answers("""
    context_length
        every token is given T tokens of context. Only the last target of a window has
        T.
    (position - 1) % context_length + 1
        this is right for windows end to end: the stride is missing.
    (position - 1) % stride + 1
        this is the *last* window that holds the token. The first one has already scored
        it.
""")


@numbers(
    ask="{num_seeds} seeds gave losses with a standard deviation of {deviation} nats. "
    "The quantile for the interval is {quantile}. What is the half-width of the "
    "confidence interval of their mean?",
    draw=lambda rng: {
        "num_seeds": rng.randrange(4, 13),
        "deviation": rng.randrange(20, 90) / 1000,
        "quantile": rng.randrange(220, 320) / 100,
    },
    hints=("How much less does a mean of n seeds vary than a single seed?",),
)
def half_width_of_mean(num_seeds: int, deviation: float, quantile: float) -> float:
    return quantile * deviation / math.sqrt(num_seeds)


half_width_of_mean.answers("""
    quantile * deviation
        this is the spread of single seeds, not of their mean.
    quantile * deviation / num_seeds
        this divides by n. The variance of the mean has n in it, its standard deviation
        has √n.
    deviation / math.sqrt(num_seeds)
        this is the standard error alone. The quantile is missing.
    2 * quantile * deviation / math.sqrt(num_seeds)
        this is the whole width, from one end of the interval to the other.
""")
