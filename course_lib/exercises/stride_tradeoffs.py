"""Exercises of lesson 05: what a stride covers, strided evaluation, honest splits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

from course_lib.sliding_windows import count_windows, gather_windows, window_starts
from course_lib.stride_tradeoffs import scored_windows
from course_lib.teaching.checker import Case, bug_or_not, exercise, true_or_false


def _streams(random: Random) -> Iterator[Case]:
    for T in (1, 2, 4):
        for S in (1, 2, 3, 5, 9):
            yield from ((N, T, S) for N in range(13))
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


effective_size.mistake(
    "with S > T, you also count the tokens between two windows, which no window "
    "predicts.",
    lambda N, T, S: T + (count_windows(N, T, S) - 1) * S if N > T else 0,
)
effective_size.mistake(
    "you count predictions, but windows that overlap predict the same token several "
    "times, and it's still one token.",
    lambda N, T, S: count_windows(N, T, S) * T,
    lambda N, T, S: max(0, min(count_windows(N, T, S) * T, N - 1)),
)
effective_size.mistake(
    "you count every id that a window uses, but the first id of the stream, and of "
    "each window after a gap, is only an input.",
    lambda N, T, S: (
        T + 1 + (count_windows(N, T, S) - 1) * min(S, T + 1) if N > T else 0
    ),
    lambda N, T, S: effective_size(N, T, S) + (N > T),
)
effective_size.mistake(
    "you forget that there may be no window at all, and then no token is a target.",
    lambda N, T, S: T + (count_windows(N, T, S) - 1) * min(S, T),
    lambda N, T, S: T + (N - T - 1) // S * min(S, T),
)
effective_size.mistake(
    "you give every window min(S, T) new targets, or S, but in the first one all T "
    "are new.",
    lambda N, T, S: count_windows(N, T, S) * min(S, T),
    lambda N, T, S: count_windows(N, T, S) * S,
)
effective_size.mistake(
    "you count every token but the first, even those in a gap or in the tail, which "
    "are never targets, either.",
    lambda N, T, S: N - 1,
    lambda N, T, S: max(0, N - 1),
)


def _evaluations(random: Random) -> Iterator[Case]:
    for T in (1, 2, 3, 5):
        for S in range(1, T + 1):
            yield from ((N, T, S) for N in (2, 3, 6, 9, 11, 14))


@exercise(
    cases=_evaluations,
    hints=(
        "Begin with the last target, N - 1. Where does its window begin if it has T "
        "inputs? And where if there are fewer than T ids before that target?",
        "Go down from target N - 1 in steps of S. Everything about a window follows "
        "from its last target. `max` gives you its start, and only the window that "
        "begins at 0 scores something other than S targets. At the end, put the "
        "windows in order.",
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


plan_from_the_end.mistake(
    "you let the first window score only S targets, but no other window scores the "
    "targets before those, so it has to score all of its own.",
    lambda N, T, S: [(s, n, S) for s, n, _ in plan_from_the_end(N, T, S)],
    lambda N, T, S: [(s, n, min(n, S)) for s, n, _ in plan_from_the_end(N, T, S)],
)
plan_from_the_end.mistake(
    "you let every window score all of its targets, so the tokens in an overlap are "
    "scored several times.",
    lambda N, T, S: [(s, n, n) for s, n, _ in plan_from_the_end(N, T, S)],
)
plan_from_the_end.mistake(
    "you use the last id of the stream as an input, but it's only a target.",
    lambda N, T, S: plan_from_the_end(N + 1, T, S),
)
plan_from_the_end.mistake(
    "you keep going after the window that begins at 0. It's the first one, so it "
    "scores all of its targets.",
    lambda N, T, S: [
        (max(0, last - T), min(last, T), S if last > T else last)
        for last in reversed(range(N - 1, 0, -S))
    ],
    lambda N, T, S: [
        (max(0, last - T), min(last, T), min(last, S))
        for last in reversed(range(N - 1, 0, -S))
    ],
)
plan_from_the_end.mistake(
    "you plan from the beginning, as the lesson does. Here the last window is full, "
    "and the first may be short.",
    scored_windows,
)


@plan_from_the_end.mistake(
    "you plan one window too many. The one whose T inputs begin exactly at 0 is "
    "already the first, and it scores all of its targets."
)
def one_window_too_many(N, T, S):
    windows, last = [], N - 1
    while last >= T:
        windows.append((last - T, T, S))
        last -= S
    return [(0, last, last), *windows[::-1]]


def _scored_positions(random: Random) -> Iterator[Case]:
    strides = {1: (1,), 2: (1, 2), 4: (1, 2, 4), 5: (2, 3, 4), 6: (3, 4, 6), 7: (3, 5)}
    for T, of_this in strides.items():
        for S in of_this:
            yield from ((position, T, S) for position in range(1, 19))


@exercise(
    cases=_scored_positions,
    hints=(
        "Which of the starts 0, S, 2S, ... is the earliest whose window of T inputs "
        "still reaches this token?",
        "A window at `start` reaches the targets up to start + T. So its start is at "
        "least position - T, and it's a multiple of S that isn't negative.",
    ),
)
def context_when_scored(position: int, context_length: int, stride: int) -> int:
    """Return how many tokens come before the token at `position` in the window that
    scores it."""
    start = max(0, math.ceil((position - context_length) / stride) * stride)
    return position - start


context_when_scored.mistake(
    "you let a window begin before the stream, but its start is never below 0.",
    lambda p, T, S: p - math.ceil((p - T) / S) * S,
)
context_when_scored.mistake(
    "you give every token as much context as a window can hold, but only a stride of "
    "1 does that, and only after the first T tokens.",
    lambda p, T, S: T,
    lambda p, T, S: min(p, T),
)
context_when_scored.mistake(
    "you take the latest window that reaches the token, but the earliest one has "
    "already scored it.",
    lambda p, T, S: (p - 1) % S + 1,
    lambda p, T, S: p % S,
)
context_when_scored.mistake(
    "you round the start down, or to the nearest, so the window may end before the "
    "token. You have to round up.",
    lambda p, T, S: p - max(0, (p - T) // S * S),
    lambda p, T, S: p - max(0, round((p - T) / S) * S),
)
context_when_scored.mistake(
    "you skip the window that begins at position - T, although the token is its last "
    "target.",
    lambda p, T, S: p - max(0, ((p - T) // S + 1) * S),
)
context_when_scored.mistake(
    "you lay the windows end to end, but they begin S apart.",
    lambda p, T, S: (p - 1) % T + 1,
    lambda p, T, S: p % T,
)


def _cuts(random: Random) -> Iterator[Case]:
    for T in (1, 3, 4):
        for S in (1, 2, T):
            for N, cut in ((12, 6), (15, 9), (20, 13), (16, 5)):
                yield N, cut, T, S
    yield from ((9, 2, 4, 1), (9, 7, 4, 1))  # a part too short for a window


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


def _starts(train: range, validation: range) -> tuple[list[int], list[int]]:
    return list(train), list(validation)


split_starts.mistake(
    "you let training windows reach across the cut, and so they train on ids that "
    "belong to validation.",
    lambda N, cut, T, S: _starts(range(0, cut, S), range(cut, N - T, S)),
    lambda N, cut, T, S: _starts(range(0, min(cut, N - T), S), range(cut, N - T, S)),
)
split_starts.mistake(
    "you make windows of T ids, but with its last target a window takes T + 1, so "
    "your last one overruns its part.",
    lambda N, cut, T, S: _starts(range(0, cut - T + 1, S), range(cut, N - T + 1, S)),
    lambda N, cut, T, S: _starts(range(0, cut - T + 1, S), range(cut, N - T, S)),
    lambda N, cut, T, S: _starts(range(0, cut - T, S), range(cut, N - T + 1, S)),
)
split_starts.mistake(
    "you leave out the window that ends exactly with its part, although it still fits.",
    lambda N, cut, T, S: _starts(range(0, cut - T - 1, S), range(cut, N - T - 1, S)),
    lambda N, cut, T, S: _starts(range(0, cut - T - 1, S), range(cut, N - T, S)),
    lambda N, cut, T, S: _starts(range(0, cut - T, S), range(cut, N - T - 1, S)),
)
split_starts.mistake(
    "you count validation starts from the cut, but in the whole stream validation "
    "begins at `cut` and ends at `num_tokens`.",
    lambda N, cut, T, S: _starts(range(0, cut - T, S), range(0, N - cut - T, S)),
    lambda N, cut, T, S: _starts(range(0, cut - T, S), range(cut, N - cut - T, S)),
)
split_starts.mistake(
    "you begin validation before the cut, to give its first ids some context, and so "
    "it holds ids that you train on.",
    lambda N, cut, T, S: _starts(
        range(0, cut - T, S), range(max(0, cut - T), N - T, S)
    ),
)
split_starts.mistake(
    "in validation, you carry on with the steps of training. Cut the stream first, and "
    "begin again at `cut`.",
    lambda N, cut, T, S: _starts(
        range(0, cut - T, S), range(-(-cut // S) * S, N - T, S)
    ),
    lambda N, cut, T, S: (
        [start for start in range(0, N - T, S) if start < cut],
        [start for start in range(0, N - T, S) if start >= cut],
    ),
)


# Bug or not? True or false?


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
        "isn't scored). If you cut the stream first and then make windows of each "
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
        "many as a window of T inputs at this stride can give it. The stride is at "
        "most T."
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
        "A batch is B rows of T inputs and T targets, whatever the stride. So it takes "
        "the same memory, and it's the same work for the device. A small stride "
        "multiplies the *number* of batches in an epoch, and the time along with it."
    ),
)
def a_batch_at_stride_1(
    num_tokens: int, context_length: int, batch_size: int, stride: int
) -> bool:
    return stride > 1
