"""Exercises of lesson 05: what a stride covers and costs, strided evaluation, honest
means and honest splits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

from course_lib.foundation import token_ledger
from course_lib.sliding_windows import count_windows, gather_windows, window_starts
from course_lib.stride_tradeoffs import confidence_interval, scored_windows
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
        "The first window brings T targets. Draw the second one under it, once with "
        "S < T and once with S > T: which of its targets are new?",
        "Write down how many targets a later window adds if S is at most T, and how "
        "many if S is larger. One expression covers both. And if no window fits?",
    ),
)
def effective_size(num_tokens: int, context_length: int, stride: int) -> int:
    """Return how many tokens are a target at least once in an epoch of this stride."""
    windows = count_windows(num_tokens, context_length, stride)
    if windows == 0:
        return 0
    return context_length + (windows - 1) * min(stride, context_length)


@effective_size.mistake(
    "predictions are counted, not tokens: windows that overlap predict a token "
    "several times."
)
def counts_predictions(num_tokens, context_length, stride):
    return count_windows(num_tokens, context_length, stride) * context_length


@effective_size.mistake(
    "predictions are counted, not tokens, and a stream without a window has a negative "
    "number of them."
)
def counts_predictions_below_zero(num_tokens, context_length, stride):
    return (1 + (num_tokens - context_length - 1) // stride) * context_length


@effective_size.mistake(
    "predictions are counted, and cut off at N - 1. With an overlap that hides the "
    "tail, which is never a target."
)
def caps_predictions(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return max(0, min(windows * context_length, num_tokens - 1))


@effective_size.mistake(
    "windows are counted, not tokens: each window has T targets, some of them new."
)
def counts_windows(num_tokens, context_length, stride):
    return count_windows(num_tokens, context_length, stride)


@effective_size.mistake(
    "with S > T the tokens between two windows are counted too, and nobody predicts "
    "them."
)
def counts_gaps(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return context_length + (windows - 1) * stride if windows else 0


@effective_size.mistake(
    "two slips. Nobody predicts the tokens between two windows if S > T; and without "
    "any window there is no target."
)
def counts_gaps_and_no_window(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return context_length + (windows - 1) * stride


@effective_size.mistake(
    "every token but the first. The tail, and any gap, is never a target."
)
def forgets_the_tail(num_tokens, context_length, stride):
    return max(0, num_tokens - 1)


@effective_size.mistake(
    "every token but the first, and fewer than none in an empty stream: the tail is "
    "no target."
)
def one_less(num_tokens, context_length, stride):
    return num_tokens - 1


@effective_size.mistake(
    "if no window fits there is no target: the formula holds for one window or more."
)
def forgets_no_window(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return context_length + (windows - 1) * min(stride, context_length)


@effective_size.mistake(
    "a later window brings min(S, T) new targets, but the first one brings all T of "
    "its own."
)
def first_window_as_others(num_tokens, context_length, stride):
    return count_windows(num_tokens, context_length, stride) * min(
        stride, context_length
    )


@effective_size.mistake(
    "the tokens that are used, as an input or as a target. The first id of the stream, "
    "and of each window behind a gap, is an input only."
)
def counts_used_tokens(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    later = (windows - 1) * min(stride, context_length + 1)
    return context_length + 1 + later if windows else 0


@effective_size.mistake(
    "one window too many: a window takes T + 1 ids, the last target included."
)
def one_window_too_many(num_tokens, context_length, stride):
    windows = max(0, 1 + (num_tokens - context_length) // stride)
    return (
        context_length + (windows - 1) * min(stride, context_length) if windows else 0
    )


@effective_size.mistake(
    "all tokens are counted. The first is never a target, nor is any in a gap or in "
    "the tail."
)
def every_token(num_tokens, context_length, stride):
    return num_tokens


@effective_size.mistake(
    "each window is given S new targets. It has no more than T, and the first one has "
    "all of its T."
)
def a_stride_for_each_window(num_tokens, context_length, stride):
    return count_windows(num_tokens, context_length, stride) * stride


@effective_size.mistake(
    "one window too few: the first one counts too, 1 + (N - T - 1) // S."
)
def one_window_too_few(num_tokens, context_length, stride):
    windows = max(0, (num_tokens - context_length - 1) // stride)
    return (
        context_length + (windows - 1) * min(stride, context_length) if windows else 0
    )


@effective_size.mistake(
    "the window that ends exactly with the stream is left out: N - T - 1 is a start "
    "too, and `range` stops before its end."
)
def without_an_exact_fit(num_tokens, context_length, stride):
    windows = len(range(0, num_tokens - context_length - 1, stride))
    return (
        context_length + (windows - 1) * min(stride, context_length) if windows else 0
    )


@effective_size.mistake(
    "with an overlap there is a tail too: behind the last target of the last window up "
    "to S - 1 tokens are never a target."
)
def a_tail_with_gaps_alone(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    if windows == 0:
        return 0
    return num_tokens - 1 if stride <= context_length else windows * context_length


@effective_size.mistake(
    "T and S have changed places where the windows are counted: `count_windows` wants "
    "(num_tokens, context_length, stride)."
)
def counts_with_t_and_s_exchanged(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, stride, context_length)
    return (
        context_length + (windows - 1) * min(stride, context_length) if windows else 0
    )


@effective_size.mistake(
    "the larger of S and T is added for each later window. It brings the smaller one: "
    "no more than it has, and no more than it moves on."
)
def the_larger_of_both(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return (
        context_length + (windows - 1) * max(stride, context_length) if windows else 0
    )


@effective_size.mistake(
    "up to T + 1 new targets are given to a later window. It has T: the first of its T "
    "+ 1 ids is an input only."
)
def a_target_too_many_behind_gaps(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    later = (windows - 1) * min(stride, context_length + 1)
    return context_length + later if windows else 0


@effective_size.mistake(
    "the ids up to the end of the last window. The first id is never a target, and "
    "with S > T those in a gap are not either."
)
def all_but_the_tail(num_tokens, context_length, stride):
    room = num_tokens - context_length - 1
    return num_tokens - room % stride if room >= 0 else 0


def _budgets(random: Random) -> Iterator[Case]:
    # A second always pays for more than one window: a search that is strict by mistake,
    # or forgets the seconds, ends all the same, and can be told what it does.
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
        "The cost falls as the stride grows. So in which order do you try strides, and "
        "what is so special about the first one that fits?",
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


@smallest_affordable_stride.mistake(
    "a window costs one token. It costs T: all of its inputs go through the model."
)
def a_window_is_a_token(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while (
        count_windows(num_tokens, context_length, stride) > tokens_per_second * seconds
    ):
        stride += 1
    return stride


@smallest_affordable_stride.mistake(
    "a window costs T + 1 tokens. The last target is never an input: it costs T."
)
def a_window_costs_its_target(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while (
        count_windows(num_tokens, context_length, stride) > 1
        and count_windows(num_tokens, context_length, stride) * (context_length + 1)
        > tokens_per_second * seconds
    ):
        stride += 1
    return stride


@smallest_affordable_stride.mistake(
    "strict where it should not be: an epoch of exactly `seconds` still fits."
)
def strictly_less(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while (
        count_windows(num_tokens, context_length, stride) * context_length
        >= tokens_per_second * seconds
    ):
        stride += 1
    return stride


@smallest_affordable_stride.mistake(
    "the budget of a single second. The machine has `seconds` of them."
)
def forgets_the_seconds(num_tokens, context_length, tokens_per_second, seconds):
    return smallest_affordable_stride.reference(
        num_tokens, context_length, tokens_per_second, 1
    )


@smallest_affordable_stride.mistake(
    "an epoch is taken for N tokens. That is stride T; stride 1 costs T times as much."
)
def an_epoch_is_the_stream(num_tokens, context_length, tokens_per_second, seconds):
    return max(1, math.ceil(num_tokens / (tokens_per_second * seconds)))


@smallest_affordable_stride.mistake(
    "the overlap is returned. The stride is the step, T - overlap."
)
def returns_the_overlap(num_tokens, context_length, tokens_per_second, seconds):
    return context_length - smallest_affordable_stride.reference(
        num_tokens, context_length, tokens_per_second, seconds
    )


@smallest_affordable_stride.mistake(
    "one too large: the stride before this one fits already. Is it raised once more "
    "after the test?"
)
def one_too_large(num_tokens, context_length, tokens_per_second, seconds):
    return 1 + smallest_affordable_stride.reference(
        num_tokens, context_length, tokens_per_second, seconds
    )


@smallest_affordable_stride.mistake(
    "one too small: that is the last stride that does *not* fit."
)
def one_too_small(num_tokens, context_length, tokens_per_second, seconds):
    return (
        smallest_affordable_stride.reference(
            num_tokens, context_length, tokens_per_second, seconds
        )
        - 1
    )


@smallest_affordable_stride.mistake(
    "only the strides 1, 2, 4, 8, ... are tried. A smaller one may fit between two of "
    "them."
)
def only_powers_of_two(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while (
        count_windows(num_tokens, context_length, stride) * context_length
        > tokens_per_second * seconds
    ):
        stride *= 2
    return stride


@smallest_affordable_stride.mistake(
    "N * T / stride tokens, ends left out. Only whole windows count: max(0, 1 + (N - T "
    "- 1) // S)."
)
def formula_without_ends(num_tokens, context_length, tokens_per_second, seconds):
    return max(
        1, math.ceil(num_tokens * context_length / (tokens_per_second * seconds))
    )


@smallest_affordable_stride.mistake(
    "N // S windows. Count those of T + 1 ids that fit, with `count_windows`."
)
def windows_by_division(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while num_tokens // stride * context_length > tokens_per_second * seconds:
        stride += 1
    return stride


@smallest_affordable_stride.mistake(
    "one window too many is counted: a window takes T + 1 ids, the last target "
    "included."
)
def one_window_more(num_tokens, context_length, tokens_per_second, seconds):
    return smallest_affordable_stride.reference(
        num_tokens + 1, context_length, tokens_per_second, seconds
    )


@smallest_affordable_stride.mistake(
    "with a small budget the stride may have to be larger than T."
)
def never_beyond_t(num_tokens, context_length, tokens_per_second, seconds):
    answer = smallest_affordable_stride.reference(
        num_tokens, context_length, tokens_per_second, seconds
    )
    return min(answer, context_length)


@smallest_affordable_stride.mistake(
    "strides up to T only, and nothing beyond: with a small budget the stride may have "
    "to be larger than T."
)
def gives_up_beyond_t(num_tokens, context_length, tokens_per_second, seconds):
    answer = smallest_affordable_stride.reference(
        num_tokens, context_length, tokens_per_second, seconds
    )
    return answer if answer <= context_length else None


@smallest_affordable_stride.mistake(
    "the time of an epoch is rounded down before it is compared: 2.8 seconds do not "
    "fit into 2."
)
def rounds_the_time_down(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while (
        count_windows(num_tokens, context_length, stride)
        * context_length
        // tokens_per_second
        > seconds
    ):
        stride += 1
    return stride


@smallest_affordable_stride.mistake(
    "the budget is divided by T without rounding: it pays for whole windows only, "
    "rounded down."
)
def broken_windows(num_tokens, context_length, tokens_per_second, seconds):
    windows = tokens_per_second * seconds / context_length
    return max(1, int((num_tokens - context_length - 1) // windows) + 1)


@smallest_affordable_stride.mistake(
    "the windows that the budget pays for are rounded to the nearest whole number. The "
    "last one must be paid for in full."
)
def rounds_the_windows(num_tokens, context_length, tokens_per_second, seconds):
    windows = round(tokens_per_second * seconds / context_length)
    return max(1, (num_tokens - context_length - 1) // windows + 1)


@smallest_affordable_stride.mistake(
    "each token is paid for once. A token in several windows goes through the model as "
    "many times: windows * T."
)
def pays_for_each_token_once(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while (
        effective_size.reference(num_tokens, context_length, stride)
        > tokens_per_second * seconds
    ):
        stride += 1
    return stride


@smallest_affordable_stride.mistake(
    "strides below T are never tried. With enough time a smaller one fits, down to 1."
)
def never_below_t(num_tokens, context_length, tokens_per_second, seconds):
    answer = smallest_affordable_stride.reference(
        num_tokens, context_length, tokens_per_second, seconds
    )
    return max(answer, context_length)


@smallest_affordable_stride.mistake(
    "the largest stride of all fits always: a larger stride only makes an epoch "
    "cheaper. Wanted is the smallest."
)
def the_largest(num_tokens, context_length, tokens_per_second, seconds):
    return num_tokens


@smallest_affordable_stride.mistake(
    "one window too few is counted, (N - T - 1) // S: the one at 0 costs T tokens too."
)
def forgets_the_window_at_0(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while (
        num_tokens - context_length - 1
    ) // stride * context_length > tokens_per_second * seconds:
        stride += 1
    return stride


@smallest_affordable_stride.mistake(
    "(N - T) // S windows are counted. That is right only where S divides N - T: there "
    "are 1 + (N - T - 1) // S."
)
def windows_if_divisible(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while (
        num_tokens - context_length
    ) // stride * context_length > tokens_per_second * seconds:
        stride += 1
    return stride


@smallest_affordable_stride.mistake(
    "T and S have changed places where the windows are counted: `count_windows` wants "
    "(num_tokens, context_length, stride)."
)
def t_and_s_have_changed(num_tokens, context_length, tokens_per_second, seconds):
    stride = 1
    while (
        count_windows(num_tokens, stride, context_length) * context_length
        > tokens_per_second * seconds
    ):
        stride += 1
    return stride


@smallest_affordable_stride.mistake(
    "stride 1 is never tried. With a large budget it fits."
)
def begins_with_2(num_tokens, context_length, tokens_per_second, seconds):
    stride = smallest_affordable_stride.reference(
        num_tokens, context_length, tokens_per_second, seconds
    )
    return max(2, stride)


@smallest_affordable_stride.mistake(
    "(N - T - 1) / n is rounded down, where n windows are paid for. At that stride one "
    "window more fits: it is the last that is too small."
)
def rounded_down(num_tokens, context_length, tokens_per_second, seconds):
    paid = tokens_per_second * seconds // context_length
    return max(1, (num_tokens - context_length - 1) // paid)


@smallest_affordable_stride.mistake(
    "(N - T - 1) / n is rounded up, where n windows are paid for. If it is a whole "
    "number, a window more fits exactly: the stride must be one larger then."
)
def rounded_up(num_tokens, context_length, tokens_per_second, seconds):
    paid = tokens_per_second * seconds // context_length
    return max(1, -(-(num_tokens - context_length - 1) // paid))


@smallest_affordable_stride.mistake(
    "(N - T - 1) / (n - 1): the last of n windows then ends with the stream. With a "
    "smaller stride there is a tail, and still no window more."
)
def without_a_tail(num_tokens, context_length, tokens_per_second, seconds):
    paid = tokens_per_second * seconds // context_length
    return max(1, -(-(num_tokens - context_length - 1) // max(1, paid - 1)))


@smallest_affordable_stride.mistake(
    "N / n, rounded up, where n windows are paid for. The last window is T + 1 ids "
    "long, and not a stride: N - T - 1 counts, and not N."
)
def the_stream_in_equal_parts(num_tokens, context_length, tokens_per_second, seconds):
    paid = tokens_per_second * seconds // context_length
    return max(1, -(-num_tokens // paid))


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
        "Begin with the last target, N - 1. Where does its window begin, if it has T "
        "inputs? And if fewer ids than that stand before it?",
        "Go down from the target N - 1 in steps of S. Each window is decided by its "
        "last target alone, `max` included; only the one that begins at 0 scores "
        "something else than S. Put them in order last.",
    ),
)
def plan_from_the_end(
    num_tokens: int, context_length: int, stride: int
) -> list[tuple[int, int, int]]:
    """Return (start, length, scored) of each window of an evaluation laid from the
    end of the stream, in the order of their starts."""
    windows = []
    last = num_tokens - 1
    while True:
        start = max(0, last - context_length)
        windows.append((start, last - start, stride if start else last))
        if start == 0:
            return windows[::-1]
        last -= stride


@plan_from_the_end.mistake(
    "that is the plan of the lesson, from the beginning. Here the last window is a "
    "full one, and the first may be short."
)
def from_the_beginning(num_tokens, context_length, stride):
    return scored_windows(num_tokens, context_length, stride)


@plan_from_the_end.mistake(
    "the windows are right, but they come last one first: put them in the order of "
    "their starts."
)
def last_one_first(num_tokens, context_length, stride):
    return plan_from_the_end.reference(num_tokens, context_length, stride)[::-1]


@plan_from_the_end.mistake(
    "every window scores all of its targets, so tokens in an overlap are scored "
    "several times."
)
def scores_all_targets(num_tokens, context_length, stride):
    plan = plan_from_the_end.reference(num_tokens, context_length, stride)
    return [(start, length, length) for start, length, _ in plan]


@plan_from_the_end.mistake(
    "the first window scores only S targets. Nobody else scores the ones before: it "
    "scores all of its own."
)
def first_window_scores_a_stride(num_tokens, context_length, stride):
    plan = plan_from_the_end.reference(num_tokens, context_length, stride)
    return [(start, length, stride) for start, length, _ in plan]


@plan_from_the_end.mistake(
    "the first window scores only S targets, or its length if that is less. It scores "
    "all of its own."
)
def first_window_scores_a_stride_at_most(num_tokens, context_length, stride):
    plan = plan_from_the_end.reference(num_tokens, context_length, stride)
    return [(start, length, min(stride, length)) for start, length, _ in plan]


@plan_from_the_end.mistake(
    "windows go on though one of them begins at 0 already: every token has been "
    "scored by then."
)
def goes_on_too_long(num_tokens, context_length, stride):
    windows = []
    for last in range(num_tokens - 1, 0, -stride):
        start = max(0, last - context_length)
        windows.append((start, last - start, min(stride, last)))
    return windows[::-1]


@plan_from_the_end.mistake(
    "a window of T inputs that begins at 0 exactly is the first one: it scores all of "
    "its targets, and no other comes before it."
)
def one_more_after_an_exact_fit(num_tokens, context_length, stride):
    windows = []
    last = num_tokens - 1
    while last > context_length:
        windows.append((last - context_length, context_length, stride))
        last -= stride
    if last == context_length and last > stride:
        windows.append((0, last, stride))
        last -= stride
    return [*windows, (0, last, last)][::-1]


@plan_from_the_end.mistake(
    "the window at the beginning is missing: the tokens that it alone could score go "
    "unscored."
)
def forgets_the_first_window(num_tokens, context_length, stride):
    plan = plan_from_the_end.reference(num_tokens, context_length, stride)
    return [window for window in plan if window[1] == context_length]


@plan_from_the_end.mistake(
    "only windows that begin behind 0 are there. The one at 0 scores the first tokens "
    "of all."
)
def forgets_the_window_at_zero(num_tokens, context_length, stride):
    plan = plan_from_the_end.reference(num_tokens, context_length, stride)
    return [window for window in plan if window[0] > 0]


@plan_from_the_end.mistake(
    "the first window would begin before the stream: a start is never below 0, and the "
    "window is shorter instead."
)
def negative_start(num_tokens, context_length, stride):
    plan = plan_from_the_end.reference(num_tokens, context_length, stride)
    return [
        (start + length - context_length, context_length, scored)
        for start, length, scored in plan
    ]


@plan_from_the_end.mistake(
    "the first window is as long as the beginning of the stream leaves it, and not "
    "always T."
)
def always_full_length(num_tokens, context_length, stride):
    plan = plan_from_the_end.reference(num_tokens, context_length, stride)
    return [(start, context_length, scored) for start, _, scored in plan]


@plan_from_the_end.mistake(
    "one id too many: the last id of the stream is only a target, never an input."
)
def reads_the_last_id(num_tokens, context_length, stride):
    return plan_from_the_end.reference(num_tokens + 1, context_length, stride)


@plan_from_the_end.mistake(
    "`length` counts inputs alone: the window that ends with the target `last` has "
    "last - start of them."
)
def counts_the_target_too(num_tokens, context_length, stride):
    plan = plan_from_the_end.reference(num_tokens, context_length, stride)
    return [(start, length + 1, scored) for start, length, scored in plan]


@plan_from_the_end.mistake(
    "the step is T - S. S is the step from one window to the next, not their overlap."
)
def stride_for_overlap(num_tokens, context_length, stride):
    step = max(1, context_length - stride)
    return plan_from_the_end.reference(num_tokens, context_length, step)


@plan_from_the_end.mistake(
    "a window of T inputs that begins at 0 exactly is not taken for the first one. So "
    "it scores S targets only, and with S = T an empty window comes before it."
)
def one_more_even_if_empty(num_tokens, context_length, stride):
    windows = []
    last = num_tokens - 1
    while last >= context_length:
        windows.append((last - context_length, context_length, stride))
        last -= stride
    return [*windows, (0, last, last)][::-1]


@plan_from_the_end.mistake(
    "the plan ends one token too early: the last target is the last token, N - 1."
)
def ends_one_too_early(num_tokens, context_length, stride):
    return plan_from_the_end.reference(num_tokens - 1, context_length, stride)


@plan_from_the_end.mistake(
    "windows of T - 1 inputs: before the target `last` stand the T inputs last - T ... "
    "last - 1."
)
def one_input_too_few(num_tokens, context_length, stride):
    windows = []
    last = num_tokens - 1
    while True:
        start = max(0, last - context_length + 1)
        windows.append((start, last - start, stride if start else last))
        if start == 0:
            return windows[::-1]
        last -= stride


@plan_from_the_end.mistake(
    "windows begin one id too late: T inputs from last - T + 1 on would hold the last "
    "target too."
)
def starts_one_too_late(num_tokens, context_length, stride):
    windows = []
    last = num_tokens - 1
    while last - context_length + 1 > 0:
        windows.append((last - context_length + 1, context_length, stride))
        last -= stride
    return [*windows, (0, last, last)][::-1]


@plan_from_the_end.mistake(
    "that is the plan of the lesson in a mirror, whose last window scores all T. Here "
    "it scores its last S, as others do; the first one scores all."
)
def in_a_mirror(num_tokens, context_length, stride):
    plan = scored_windows(num_tokens, context_length, stride)
    return [(num_tokens - 1 - start - n, n, scored) for start, n, scored in plan][::-1]


@plan_from_the_end.mistake(
    "the last window scores all of its targets, though the windows before it have "
    "scored some of them already: it scores its last S."
)
def last_window_scores_all(num_tokens, context_length, stride):
    plan = plan_from_the_end.reference(num_tokens, context_length, stride)
    start, length, _ = plan.pop()
    return [*plan, (start, length, length)]


@plan_from_the_end.mistake(
    "windows end T apart, and score S each: the tokens in between go unscored. S is "
    "the step."
)
def steps_of_a_window(num_tokens, context_length, stride):
    plan = plan_from_the_end.reference(num_tokens, context_length, context_length)
    return [plan[0], *((start, length, stride) for start, length, _ in plan[1:])]


@plan_from_the_end.mistake(
    "windows end to end, as if the stride were T: the last targets lie S apart."
)
def end_to_end(num_tokens, context_length, stride):
    return plan_from_the_end.reference(num_tokens, context_length, context_length)


@plan_from_the_end.mistake(
    "length and scored have changed places: the order is (start, length, scored)."
)
def scored_before_length(num_tokens, context_length, stride):
    plan = plan_from_the_end.reference(num_tokens, context_length, stride)
    return [(start, scored, length) for start, length, scored in plan]


@plan_from_the_end.mistake(
    "the second entry is where the window ends. It should be the number of its inputs."
)
def ends_for_lengths(num_tokens, context_length, stride):
    plan = plan_from_the_end.reference(num_tokens, context_length, stride)
    return [(start, start + length, scored) for start, length, scored in plan]


@plan_from_the_end.mistake(
    "the window at 0 is given T inputs wherever the stream is long enough. It has as "
    "many as stand before its last target."
)
def full_length_where_there_is_room(num_tokens, context_length, stride):
    plan = plan_from_the_end.reference(num_tokens, context_length, stride)
    length = min(context_length, num_tokens - 1)
    return [(start, length, scored) for start, _, scored in plan]


@plan_from_the_end.mistake(
    "the first window is given T inputs and T targets always. It ends with its own "
    "last target, and so do its inputs and what it scores."
)
def first_window_is_full(num_tokens, context_length, stride):
    plan = plan_from_the_end.reference(num_tokens, context_length, stride)
    return [(0, context_length, context_length), *plan[1:]]


@plan_from_the_end.mistake(
    "every window has T inputs, wherever it ends: those that end near the beginning "
    "start before it, at positions below 0."
)
def starts_below_0(num_tokens, context_length, stride):
    ends = range(num_tokens - 1, 0, -stride)
    return [(last - context_length, context_length, stride) for last in ends][::-1]


def _plan(first, later, num_tokens, context_length, stride):
    """The plan, with what is returned for its first window and for each later one."""
    windows, last = [], num_tokens - 1
    while last > context_length:
        windows.append(later(last, context_length, stride))
        last -= stride
    return [first(last, context_length, stride), *windows[::-1]]


def first_otherwise(first, *arguments):
    return _plan(first, lambda last, t, s: (last - t, t, s), *arguments)


def later_otherwise(later, *arguments):
    return _plan(lambda last, t, s: (0, last, last), later, *arguments)


FIRST_WINDOW = {
    "the first window is given T inputs, however few stand before its last target": (
        lambda last, t, s: (0, t, last)
    ),
    "the first window scores T targets, however few it has": (
        lambda last, t, s: (0, last, t)
    ),
    "the last target of the first window is counted among its inputs": (
        lambda last, t, s: (0, last + 1, last)
    ),
    "the first window scores no more than S targets": (
        lambda last, t, s: (0, last, min(last, s))
    ),
    "the first window is given T inputs and S targets, as if it were any other": (
        lambda last, t, s: (0, t, s)
    ),
}
LATER_WINDOWS = {
    "all windows but the first start one id too late: at last - T + 1": (
        lambda last, t, s: (last - t + 1, t, s)
    ),
    "the last target is counted among the inputs of all windows but the first": (
        lambda last, t, s: (last - t, t + 1, s)
    ),
    "all windows but the first have T - 1 inputs": (
        lambda last, t, s: (last - t + 1, t - 1, s)
    ),
    "all windows score all of their targets": lambda last, t, s: (last - t, t, t),
}
plan_from_the_end.combine(first_otherwise, FIRST_WINDOW)
plan_from_the_end.combine(later_otherwise, LATER_WINDOWS)
plan_from_the_end.combine(_plan, FIRST_WINDOW, LATER_WINDOWS)


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
        "Which of the starts 0, S, 2S, ... is the earliest from which a window of T "
        "still reaches this token?",
        "A window at `start` reaches the targets up to start + T. So the start is at "
        "least position - T, it is a multiple of S, and it is not negative.",
    ),
)
def context_when_scored(position: int, context_length: int, stride: int) -> int:
    """Return how many tokens stand before the token at `position` in the window that
    scores it."""
    start = max(0, math.ceil((position - context_length) / stride) * stride)
    return position - start


@context_when_scored.mistake(
    "always all the context there is. Only S = 1 gives that to every token."
)
def always_the_most(position, context_length, stride):
    return min(position, context_length)


@context_when_scored.mistake(
    "always T. A token near the beginning has fewer tokens before it, and S > 1 leaves "
    "some of the others less."
)
def always_t(position, context_length, stride):
    return context_length


@context_when_scored.mistake(
    "as in windows end to end: the context begins anew with each T, whatever the "
    "stride."
)
def as_end_to_end(position, context_length, stride):
    return (position - 1) % context_length + 1


@context_when_scored.mistake(
    "windows end to end, and the last token of each is given no context at all: "
    "position % T is 0 where it should be T. And S is ignored."
)
def remainder_by_t(position, context_length, stride):
    return position % context_length


@context_when_scored.mistake(
    "the *latest* window that reaches the token. It was scored before, by the earliest."
)
def begins_anew_with_each_stride(position, context_length, stride):
    return (position - 1) % stride + 1


@context_when_scored.mistake(
    "position % S: counted from the latest start up to the token. The earliest window "
    "that reaches it scores it."
)
def remainder_by_s(position, context_length, stride):
    return position % stride


@context_when_scored.mistake(
    "rounded down instead of up: that window ends before the token, or is longer than "
    "T."
)
def rounds_down(position, context_length, stride):
    return position - max(0, (position - context_length) // stride * stride)


@context_when_scored.mistake(
    "one window too late for a token that is the last target of its window: "
    "position - T may be a multiple of S already."
)
def always_the_next_multiple(position, context_length, stride):
    if position <= context_length:
        return position
    return position - ((position - context_length) // stride + 1) * stride


@context_when_scored.mistake(
    "position - T + 1: the window at `start` has its last target at start + T, not at "
    "start + T - 1."
)
def forgets_the_last_target(position, context_length, stride):
    start = math.ceil((position - context_length + 1) / stride) * stride
    return position - max(0, start)


@context_when_scored.mistake(
    "no more than T - S + 1, as with starts that are not rounded to multiples of S. "
    "That is the least behind T, and up to T a token has all before it."
)
def one_too_little(position, context_length, stride):
    return position - max(0, position - context_length + stride - 1)


@context_when_scored.mistake(
    "near the beginning the start would be negative: it is never below 0."
)
def start_below_zero(position, context_length, stride):
    return position - math.ceil((position - context_length) / stride) * stride


@context_when_scored.mistake(
    "that is the least. A window scores S tokens, each with one more token of context."
)
def always_the_least(position, context_length, stride):
    return position if position <= context_length else context_length - stride + 1


@context_when_scored.mistake(
    "the new targets are counted from the beginning of the stream. They begin behind "
    "T: only where S divides T is that the same."
)
def new_targets_from_the_beginning(position, context_length, stride):
    if position <= context_length:
        return position
    return context_length - stride + 1 + (position - 1) % stride


@context_when_scored.mistake(
    "that is where the window begins. Its context is what lies between that and the "
    "token."
)
def returns_the_start(position, context_length, stride):
    return position - context_when_scored.reference(position, context_length, stride)


@context_when_scored.mistake(
    "one too many: the token itself does not belong to its context."
)
def counts_the_token(position, context_length, stride):
    return 1 + context_when_scored.reference(position, context_length, stride)


@context_when_scored.mistake(
    "one too few: from `start` up to the token before p there are p - start tokens."
)
def one_too_few(position, context_length, stride):
    return context_when_scored.reference(position, context_length, stride) - 1


@context_when_scored.mistake(
    "the step is T - S. S is the step from one window to the next, not their overlap."
)
def overlap_for_stride(position, context_length, stride):
    step = max(1, context_length - stride)
    return context_when_scored.reference(position, context_length, step)


@context_when_scored.mistake(
    "T and S have changed places: windows of T tokens begin S apart."
)
def t_and_s_exchanged(position, context_length, stride):
    return position - max(0, math.ceil((position - stride) / context_length)) * (
        context_length
    )


@context_when_scored.mistake(
    "the number of the window is taken for its start. It begins at S times that."
)
def number_for_start(position, context_length, stride):
    return position - max(0, math.ceil((position - context_length) / stride))


@context_when_scored.mistake(
    "rounded to the nearest window. That one may end before the token: round up."
)
def rounds_to_the_nearest(position, context_length, stride):
    return position - max(0, round((position - context_length) / stride) * stride)


@context_when_scored.mistake(
    "the remainder runs the wrong way round: of the new targets of a window, each has "
    "one token of context more than the one before, up to T."
)
def counts_down(position, context_length, stride):
    if position <= context_length:
        return position
    return context_length - (position - context_length) % stride


@context_when_scored.mistake(
    "the start is a multiple of S less T: right only where S divides T. Take T off "
    "first, then round up to a multiple of S."
)
def rounds_before_t(position, context_length, stride):
    return position - max(0, math.ceil(position / stride) * stride - context_length)


@context_when_scored.mistake(
    "the first new token behind T is the one at T + 1: the remainder is that of "
    "position - T - 1."
)
def remainder_from_t(position, context_length, stride):
    if position <= context_length:
        return position
    return context_length - stride + 1 + (position - context_length) % stride


@context_when_scored.mistake(
    "T - S behind the first window. The first token that a window scores has one more, "
    "T - S + 1 before it, and each further one more again, up to T."
)
def the_overlap_alone(position, context_length, stride):
    return position if position <= context_length else context_length - stride


def _runs(random: Random) -> Iterator[Case]:
    yield from (
        ([1.0, 3.0], 12.7062),
        ([2.0, 2.0, 2.0], 4.3027),
        ([0.0, 1.0, 2.0, 5.0], 3.1824),
    )
    for size in (2, 3, 5, 5, 8, 12):
        yield [round(random.gauss(3, 0.5), 3) for _ in range(size)], 2.5


@exercise(
    cases=_runs,
    hints=(
        "First the standard deviation s of the runs, then that of their mean, then t "
        "times that.",
        "The mean was fitted to the same runs, so s² divides by one less than their "
        "number. How many times less than one run does a mean of n runs spread?",
    ),
)
def half_width(values: list[float], quantile: float) -> float:
    """Return the half-width of the confidence interval of the mean of `values`."""
    n = len(values)
    mean = sum(values) / n
    variance = sum((value - mean) ** 2 for value in values) / (n - 1)
    return quantile * math.sqrt(variance / n)


@half_width.mistake(
    "the deviation is divided by n. The mean was fitted to the same runs: n - 1. (For "
    "NumPy that is `ddof=1`.)"
)
def divides_by_n(values, quantile):
    n, mean = len(values), sum(values) / len(values)
    return quantile * math.sqrt(sum((value - mean) ** 2 for value in values) / n / n)


@half_width.mistake(
    "this is the spread of single runs. The mean of n runs spreads √n times less."
)
def forgets_the_root(values, quantile):
    return half_width.reference(values, quantile) * math.sqrt(len(values))


@half_width.mistake(
    "t times the deviation of single runs, with n instead of n - 1. s² divides by n - "
    "1, and the mean of n runs spreads √n times less."
)
def plain_deviation(values, quantile):
    return divides_by_n(values, quantile) * math.sqrt(len(values))


@half_width.mistake(
    "n - 1 stands at both places. s² divides by n - 1; the mean of n runs spreads "
    "√n times less."
)
def one_less_twice(values, quantile):
    n = len(values)
    return half_width.reference(values, quantile) * math.sqrt(n / (n - 1))


@half_width.mistake(
    "both ends of the interval: the half-width is the distance from the mean to one "
    "of them."
)
def whole_width(values, quantile):
    return 2 * half_width.reference(values, quantile)


@half_width.mistake(
    "the quantile was for both sides already: don't halve what it gives."
)
def halves_it(values, quantile):
    return half_width.reference(values, quantile) / 2


@half_width.mistake(
    "1.96 is the quantile of the normal distribution. With few runs it promises too "
    "much."
)
def normal_quantile(values, quantile):
    return half_width.reference(values, 1.96)


@half_width.mistake(
    "√n, not n: the mean of n runs spreads √n times less than one of them."
)
def divides_by_count(values, quantile):
    return half_width.reference(values, quantile) / math.sqrt(len(values))


@half_width.mistake(
    "the variance stands for the deviation: take the root of s² first, then divide by "
    "√n."
)
def variance_for_deviation(values, quantile):
    variance = (half_width.reference(values, 1.0) ** 2) * len(values)
    return quantile * variance / math.sqrt(len(values))


@half_width.mistake(
    "the variance stands for the deviation, and it divides by n instead of n - 1."
)
def plain_variance_for_deviation(values, quantile):
    n = len(values)
    return variance_for_deviation(values, quantile) * (n - 1) / n


@half_width.mistake("the root is missing: that is t times the *variance* of the mean.")
def variance_of_the_mean(values, quantile):
    return half_width.reference(values, 1.0) ** 2 * quantile


@half_width.mistake("that is the standard error. The half-width is t times as large.")
def standard_error(values, quantile):
    return half_width.reference(values, 1.0)


@half_width.mistake(
    "half of the range. A single odd run decides it; take the standard deviation."
)
def half_the_range(values, quantile):
    return (max(values) - min(values)) / 2


@half_width.mistake(
    "t times half of the range. A single odd run decides it; take the standard error."
)
def half_the_range_times_t(values, quantile):
    return quantile * (max(values) - min(values)) / 2


@half_width.mistake(
    "the distances from the mean are averaged. s is the root of the mean of their "
    "*squares*, with n - 1; and the mean of n runs spreads √n times less."
)
def mean_distance(values, quantile):
    mean = sum(values) / len(values)
    return quantile * sum(abs(value - mean) for value in values) / len(values)


@half_width.mistake(
    "√n is right, but the distances from the mean are averaged. s is the root of the "
    "mean of their *squares*, with n - 1."
)
def mean_distance_by_root(values, quantile):
    return mean_distance(values, quantile) / math.sqrt(len(values))


@half_width.mistake(
    "`quantile` is not used: the function of the lesson looks up one of its own, for "
    "95 %."
)
def quantile_of_the_lesson(values, quantile):
    return confidence_interval(values)[1]


@half_width.mistake(
    "that is the upper end of the interval. The half-width is its distance from the "
    "mean."
)
def upper_end(values, quantile):
    return sum(values) / len(values) + half_width.reference(values, quantile)


@half_width.mistake(
    "that is the lower end of the interval. The half-width is its distance from the "
    "mean."
)
def lower_end(values, quantile):
    return sum(values) / len(values) - half_width.reference(values, quantile)


@half_width.mistake("rounded to two decimals: return it as it is.")
def two_decimals(values, quantile):
    return round(half_width.reference(values, quantile), 2)


@half_width.mistake(
    "the mean is not subtracted: the spread is that of the distances from the mean."
)
def forgets_the_mean(values, quantile):
    n = len(values)
    return quantile * math.sqrt(sum(value**2 for value in values) / (n - 1) / n)


@half_width.mistake(
    "the quantile and the root are missing: that is the variance of the mean alone."
)
def bare_variance_of_the_mean(values, quantile):
    return half_width.reference(values, 1.0) ** 2


@half_width.mistake(
    "two slips. s² divides by n - 1, which NumPy calls `ddof=1`; and the half-width is "
    "t times the standard error."
)
def plain_standard_error(values, quantile):
    return divides_by_n(values, 1.0)


@half_width.mistake(
    "that is the deviation s of single runs alone. Divided by √n it is that of their "
    "mean, and the half-width is t times as large."
)
def deviation_alone(values, quantile):
    return forgets_the_root(values, 1.0)


@half_width.mistake(
    "that is the deviation of single runs alone, with n instead of n - 1. Then divide "
    "by √n, and take it t times."
)
def plain_deviation_alone(values, quantile):
    return plain_deviation(values, 1.0)


@half_width.mistake(
    "two slips. s² divides by n - 1 (for NumPy `ddof=1`), and s by √n, not by n."
)
def plain_and_by_count(values, quantile):
    return divides_by_n(values, quantile) / math.sqrt(len(values))


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
        "cut`. Where does the second begin?",
        "A window at `start` takes the ids start ... start + T. Which is the largest "
        "id that a training window may take? And a validation window?",
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


@split_starts.mistake(
    "windows that begin before the cut reach across it: their last ids belong to "
    "validation."
)
def reaches_across(num_tokens, cut, context_length, stride):
    return list(
        range(0, min(cut, num_tokens - context_length), stride)
    ), split_starts.reference(num_tokens, cut, context_length, stride)[1]


@split_starts.mistake(
    "validation starts are counted from the cut. In the whole stream they begin at "
    "`cut`."
)
def counted_from_the_cut(num_tokens, cut, context_length, stride):
    train, validation = split_starts.reference(num_tokens, cut, context_length, stride)
    return train, [start - cut for start in validation]


@split_starts.mistake(
    "windows of T ids: with the last target they have T + 1, so the last one overruns "
    "its part."
)
def without_last_target(num_tokens, cut, context_length, stride):
    train = list(range(0, cut - context_length + 1, stride))
    return train, list(range(cut, num_tokens - context_length + 1, stride))


@split_starts.mistake(
    "the last validation window overruns the stream: it takes T + 1 ids, its last "
    "target included."
)
def validation_overruns(num_tokens, cut, context_length, stride):
    train = split_starts.reference(num_tokens, cut, context_length, stride)[0]
    return train, list(range(cut, num_tokens - context_length + 1, stride))


@split_starts.mistake(
    "validation windows begin at every id up to the end, and overrun the stream."
)
def validation_to_the_end(num_tokens, cut, context_length, stride):
    train = split_starts.reference(num_tokens, cut, context_length, stride)[0]
    return train, list(range(cut, num_tokens, stride))


@split_starts.mistake(
    "windows begin anywhere in their part, so the last ones overrun it. A window needs "
    "T ids behind its first."
)
def both_to_the_end(num_tokens, cut, context_length, stride):
    return list(range(0, cut, stride)), list(range(cut, num_tokens, stride))


@split_starts.mistake(
    "validation starts end at num_tokens - cut - T. They are counted in the whole "
    "stream, whose end is num_tokens."
)
def ends_as_a_part(num_tokens, cut, context_length, stride):
    train = split_starts.reference(num_tokens, cut, context_length, stride)[0]
    return train, list(range(cut, num_tokens - cut - context_length, stride))


@split_starts.mistake(
    "the windows of the whole stream are dealt out by their starts. Cut the stream, "
    "then window."
)
def deals_out_windows(num_tokens, cut, context_length, stride):
    starts = range(0, num_tokens - context_length, stride)
    return [s for s in starts if s < cut], [s for s in starts if s >= cut]


@split_starts.mistake(
    "windows begin before the cut and end behind it: training must stop at cut - T."
)
def ends_at_the_cut(num_tokens, cut, context_length, stride):
    return list(range(0, cut, stride)), list(
        range(cut, num_tokens - context_length, stride)
    )


@split_starts.mistake("the last training window has its last target behind the cut.")
def last_target_across(num_tokens, cut, context_length, stride):
    validation = split_starts.reference(num_tokens, cut, context_length, stride)[1]
    return list(range(0, cut - context_length + 1, stride)), validation


@split_starts.mistake(
    "validation goes on with the grid of the training windows. Its first window "
    "begins at `cut`."
)
def one_grid_for_both(num_tokens, cut, context_length, stride):
    starts = range(0, num_tokens - context_length, stride)
    return [s for s in starts if s + context_length < cut], [
        s for s in starts if s >= cut
    ]


@split_starts.mistake(
    "one too careful: the window whose last target is the id at cut - 1 still fits."
)
def one_too_careful(num_tokens, cut, context_length, stride):
    validation = split_starts.reference(num_tokens, cut, context_length, stride)[1]
    return list(range(0, cut - context_length - 1, stride)), validation


@split_starts.mistake(
    "one too careful, in both parts: the window whose last target is the last id of "
    "its part still fits."
)
def both_too_careful(num_tokens, cut, context_length, stride):
    return list(range(0, cut - context_length - 1, stride)), list(
        range(cut, num_tokens - context_length - 1, stride)
    )


@split_starts.mistake(
    "the first validation window begins behind the cut: the id at `cut` belongs to "
    "validation."
)
def begins_behind_the_cut(num_tokens, cut, context_length, stride):
    train = split_starts.reference(num_tokens, cut, context_length, stride)[0]
    return train, list(range(cut + 1, num_tokens - context_length, stride))


@split_starts.mistake(
    "validation windows begin before the cut, to have context for its first ids: these "
    "are ids that training uses."
)
def borrows_context(num_tokens, cut, context_length, stride):
    train = split_starts.reference(num_tokens, cut, context_length, stride)[0]
    first = max(0, cut - context_length)
    return train, list(range(first, num_tokens - context_length, stride))


@split_starts.mistake(
    "validation comes first. Training starts, then validation starts."
)
def validation_first(num_tokens, cut, context_length, stride):
    return split_starts.reference(num_tokens, cut, context_length, stride)[::-1]


@split_starts.mistake(
    "validation windows begin at every id. S is the step in both parts."
)
def validation_at_every_id(num_tokens, cut, context_length, stride):
    train = split_starts.reference(num_tokens, cut, context_length, stride)[0]
    return train, list(range(cut, num_tokens - context_length))


@split_starts.mistake("the stride is forgotten: windows of both parts begin S apart.")
def forgets_the_stride(num_tokens, cut, context_length, stride):
    return split_starts.reference(num_tokens, cut, context_length, 1)


@split_starts.mistake(
    "windows end to end in both parts: they begin S apart, and not T."
)
def end_to_end_in_both(num_tokens, cut, context_length, stride):
    return split_starts.reference(num_tokens, cut, context_length, context_length)


@split_starts.mistake("T and S have changed places: windows of T ids begin S apart.")
def exchanges_t_and_s(num_tokens, cut, context_length, stride):
    return split_starts.reference(num_tokens, cut, stride, context_length)


@split_starts.mistake(
    "training windows go on to the end of the stream, over all of the validation part."
)
def trains_on_everything(num_tokens, cut, context_length, stride):
    validation = split_starts.reference(num_tokens, cut, context_length, stride)[1]
    return list(range(0, num_tokens - context_length, stride)), validation


@split_starts.mistake(
    "all starts stand in one list. Return two: those of training, those of validation."
)
def in_one_list(num_tokens, cut, context_length, stride):
    train, validation = split_starts.reference(num_tokens, cut, context_length, stride)
    return train + validation


@split_starts.mistake(
    "a part too short for a window gets one all the same. Its list should be empty."
)
def at_least_one_window(num_tokens, cut, context_length, stride):
    train, validation = split_starts.reference(num_tokens, cut, context_length, stride)
    return train or [0], validation or [cut]


@split_starts.mistake(
    "as many validation windows as the whole stream would have. Its part holds "
    "num_tokens - cut ids."
)
def as_many_as_in_the_stream(num_tokens, cut, context_length, stride):
    train = split_starts.reference(num_tokens, cut, context_length, stride)[0]
    windows = count_windows(num_tokens, context_length, stride)
    return train, [cut + number * stride for number in range(windows)]


@split_starts.mistake(
    "one window is missing in each part: a part of n ids has 1 + (n - T - 1) // S of "
    "them."
)
def one_window_less(num_tokens, cut, context_length, stride):
    train, validation = split_starts.reference(num_tokens, cut, context_length, stride)
    return train[:-1], validation[:-1]


@split_starts.mistake(
    "a part of n ids is given (n - T) // S windows. That is right only where S divides "
    "n - T: there are 1 + (n - T - 1) // S."
)
def right_if_divisible(num_tokens, cut, context_length, stride):
    parts = (0, cut), (cut, num_tokens - cut)
    train, validation = (
        [first + i * stride for i in range(max(0, (n - context_length) // stride))]
        for first, n in parts
    )
    return train, validation


@split_starts.mistake(
    "one too careful in validation: a window whose last target is the last id of all "
    "still fits."
)
def validation_too_careful(num_tokens, cut, context_length, stride):
    train = split_starts.reference(num_tokens, cut, context_length, stride)[0]
    return train, list(range(cut, num_tokens - context_length - 1, stride))


@split_starts.mistake("how many windows each part has. Their starts are wanted.")
def counts_of_both(num_tokens, cut, context_length, stride):
    return tuple(
        count_windows(size, context_length, stride) for size in (cut, num_tokens - cut)
    )


@split_starts.mistake(
    "the windows are numbered 0, 1, 2, ... in each part. Window number i begins i "
    "strides behind the first one."
)
def numbers_for_starts(num_tokens, cut, context_length, stride):
    training = count_windows(cut, context_length, stride)
    validation = count_windows(num_tokens - cut, context_length, stride)
    return list(range(training)), list(range(cut, cut + validation))


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
        "The ids from `cut` on validate. Return the starts of all windows of stride 1 "
        "that train: none of their T + 1 ids may belong to validation."
    ),
    reference=inside_training_part,
    cases=_parts,
    explanation=(
        "A window that begins before the cut may end behind it. The last T of these "
        "windows hold ids of the validation part, and the last T - 1 train on ids that "
        "validation is scored on: the id at `cut` is its first input, and not scored. "
        "Cut the stream first, and window the parts: nothing can reach across."
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
        "Return (token, context) for a strided evaluation: each token but the first "
        "once, in order, with as many tokens of context as windows of T at this stride "
        "can give it."
    ),
    reference=each_token_by_its_earliest_window,
    cases=_evaluations,
    explanation=(
        "`end - scored` targets are new in each window, also in the short last one, "
        "and `break` stops when nothing is left. Every token but the first is scored "
        "once, with the most context that a window of T at this stride can give it. "
        "The two usual slips are to leave out the `break`, and to score `stride` "
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


def mean_over_tokens(losses: list[float], context_length: int, stride: int) -> float:
    return sum(losses) / len(losses)


def _losses(random: Random) -> Iterator[Case]:
    for size in (2, 4, 5, 7, 9, 12):
        for context_length, stride in ((2, 1), (4, 4), (4, 2)):
            yield (
                [round(random.uniform(1, 5), 2) for _ in range(size)],
                context_length,
                stride,
            )


@bug_or_not(
    purpose=(
        "`losses` are those of all scored tokens, in the order of the stream. Return "
        "the mean loss of a token, from the windows of a strided evaluation."
    ),
    reference=mean_over_tokens,
    cases=_losses,
    explanation=(
        "A mean of means weighs a window that scores one token like one that scores "
        "T. Add up the losses of all tokens, and divide once. It is right only if all "
        "windows score the same number of tokens, which the first and the last seldom "
        "do."
    ),
)
def mean_of_window_means(
    losses: list[float], context_length: int, stride: int
) -> float:
    means, done = [], 0
    for _, _, scored in scored_windows(len(losses) + 1, context_length, stride):
        means.append(sum(losses[done : done + scored]) / scored)
        done += scored
    return sum(means) / len(means)


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
        "At the same batch size, a batch at stride 1 takes more memory than one at a "
        "larger stride, because its windows overlap: so stride 1 uses a GPU badly."
    ),
    reference=batch_at_stride_1_is_larger,
    cases=_batches,
    explanation=(
        "A batch is B rows of T inputs and T targets, whatever the stride: the same "
        "bytes, and the same work for the same device. What a small stride multiplies "
        "is the *number* of batches in an epoch, and with it the time."
    ),
)
def a_batch_at_stride_1(
    num_tokens: int, context_length: int, batch_size: int, stride: int
) -> bool:
    return stride > 1


def read_but_never_predicted(num_tokens: int, context_length: int) -> int:
    starts = window_starts(num_tokens, context_length, context_length + 1)
    ledger = token_ledger(starts, num_tokens, context_length)
    return ledger.used - ledger.targets


def _lengths(random: Random) -> Iterator[Case]:
    yield from (
        (num_tokens, context_length)
        for context_length in (1, 2, 3, 5)
        for num_tokens in range(14)
    )


@true_or_false(
    claim=(
        "Cut a text into blocks of T + 1 ids that share nothing, and make one window "
        "of each: no id is in two windows, but one in T + 1 is never predicted, in any "
        "epoch."
    ),
    reference=read_but_never_predicted,
    cases=_lengths,
    explanation=(
        "The first id of each block is an input and no target: the block before it "
        "ends one id too early to predict it, and the same ids are first in every "
        "epoch. Windows must share the one id where they meet, S = T."
    ),
)
def blocks_that_share_nothing(num_tokens: int, context_length: int) -> int:
    blocks = num_tokens // (context_length + 1)
    return blocks  # one id each


# With other numbers by seed.


@numbers(
    ask="A stream of {num_tokens:,} ids, T = {context_length}, stride {stride}. How "
    "many input ids go through the model in one epoch, repeats counted?",
    draw=lambda rng: {
        "num_tokens": rng.randrange(5_000, 20_000),
        "context_length": (length := rng.randrange(24, 97)),
        "stride": rng.randrange(4, length - 4),
    },
    hints=("How many windows, and how many inputs in each?",),
)
def ids_fed(num_tokens: int, context_length: int, stride: int) -> int:
    return count_windows(num_tokens, context_length, stride) * context_length


@ids_fed.mistake("each id once. Windows that overlap feed it several times.")
def each_id_once(num_tokens, context_length, stride):
    return num_tokens


@ids_fed.mistake("windows times stride: what is new in them. All T of each are fed.")
def only_what_is_new(num_tokens, context_length, stride):
    return count_windows(num_tokens, context_length, stride) * stride


@ids_fed.mistake("T + 1 a window. The last target is not fed.")
def with_last_targets(num_tokens, context_length, stride):
    return count_windows(num_tokens, context_length, stride) * (context_length + 1)


@ids_fed.mistake("as many windows as at stride 1.")
def fed_at_stride_1(num_tokens, context_length, stride):
    return count_windows(num_tokens, context_length, 1) * context_length


@numbers(
    ask="A strided evaluation, T = {context_length}, S = {stride}: windows start at 0, "
    "S, 2S, …, and each scores what no window before it has scored. How many tokens "
    "stand before the token at position {position}, counted from 0, in the window that "
    "scores it?",
    draw=lambda rng: {
        "context_length": (length := rng.randrange(30, 100)),
        "stride": rng.randrange(7, length - 7),
        "position": rng.randrange(300, 900),
    },
    hints=(
        "Which is the first start s whose targets reach the position? Targets are "
        "s + 1 to s + T.",
    ),
)
def context_at_score(context_length: int, stride: int, position: int) -> int:
    start = math.ceil((position - context_length) / stride) * stride
    return position - start


@context_at_score.mistake("T for every token: only the last target of a window has T.")
def always_full_context(context_length, stride, position):
    return context_length


@context_at_score.mistake("windows end to end: the stride is not in it.")
def context_of_blocks(context_length, stride, position):
    return (position - 1) % context_length + 1


@context_at_score.mistake(
    "the *last* window that holds the token. The first one has scored it already."
)
def in_the_last_window(context_length, stride, position):
    return (position - 1) % stride + 1


@numbers(
    ask="{num_seeds} seeds gave losses with a standard deviation of {deviation} nats. "
    "The quantile for the interval is {quantile}. What is the half-width of the "
    "confidence interval of their mean?",
    draw=lambda rng: {
        "num_seeds": rng.randrange(4, 13),
        "deviation": rng.randrange(20, 90) / 1000,
        "quantile": rng.randrange(220, 320) / 100,
    },
    hints=("By how much less does a mean vary than a single one?",),
)
def half_width_of_mean(num_seeds: int, deviation: float, quantile: float) -> float:
    return quantile * deviation / math.sqrt(num_seeds)


@half_width_of_mean.mistake("the spread of single seeds, not of their mean.")
def spread_of_one(num_seeds, deviation, quantile):
    return quantile * deviation


@half_width_of_mean.mistake("divided by n: it is the variance of the mean that is.")
def divided_by_n(num_seeds, deviation, quantile):
    return quantile * deviation / num_seeds


@half_width_of_mean.mistake("the standard error alone: the quantile is not in it.")
def without_quantile(num_seeds, deviation, quantile):
    return deviation / math.sqrt(num_seeds)


@half_width_of_mean.mistake("the whole width, from one end to the other.")
def from_end_to_end(num_seeds, deviation, quantile):
    return 2 * quantile * deviation / math.sqrt(num_seeds)
