"""Exercises of lesson 05: what a stride covers and costs, strided evaluation, honest
means and honest splits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

from course_lib.sliding_windows import count_windows
from course_lib.stride_tradeoffs import scored_windows
from course_lib.teaching import Case, bug_or_not, exercise


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
        "The first window brings T targets. How many new ones does each later window "
        "bring, if S is at most T?",
        "A later window brings min(S, T) new targets: S if windows overlap, all T of "
        "its own if they do not.",
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
    "with S > T the tokens between two windows are counted too, and nobody predicts "
    "them."
)
def counts_gaps(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return context_length + (windows - 1) * stride if windows else 0


@effective_size.mistake(
    "every token but the first. The tail, and any gap, is never a target."
)
def forgets_the_tail(num_tokens, context_length, stride):
    return max(0, num_tokens - 1)


@effective_size.mistake(
    "no window has no target: the formula is for one window or more."
)
def forgets_no_window(num_tokens, context_length, stride):
    windows = count_windows(num_tokens, context_length, stride)
    return context_length + (windows - 1) * min(stride, context_length)


@effective_size.mistake(
    "a window brings min(S, T) new targets, but the first one brings all T of its own."
)
def first_window_as_others(num_tokens, context_length, stride):
    return count_windows(num_tokens, context_length, stride) * min(
        stride, context_length
    )


@effective_size.mistake(
    "every token but the first, and fewer than none in an empty stream: the tail is "
    "no target."
)
def one_less(num_tokens, context_length, stride):
    return num_tokens - 1


def _budgets(random: Random) -> Iterator[Case]:
    for context_length in (1, 2, 4, 8):
        for num_tokens in (context_length + 1, 12, 40):
            # Never a budget of just one window: a search that is strict by mistake
            # would not end.
            yield from (
                (num_tokens, context_length, 4, seconds) for seconds in (3, 5, 6, 20)
            )
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
        "Try the strides 1, 2, 3, ... and return the first whose `count_windows(...) "
        "* context_length` is affordable.",
    ),
)
def smallest_affordable_stride(
    num_tokens: int, context_length: int, tokens_per_second: int, seconds: int
) -> int:
    """Return the smallest stride whose epoch takes at most `seconds`; a single window
    always fits."""
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
    "a formula without the ends: only whole windows count, max(0, 1 + (N - T - 1) // "
    "S)."
)
def formula_without_ends(num_tokens, context_length, tokens_per_second, seconds):
    return max(
        1, math.ceil(num_tokens * context_length / (tokens_per_second * seconds))
    )


@smallest_affordable_stride.mistake(
    "with a small budget the stride may have to be larger than T."
)
def never_beyond_t(num_tokens, context_length, tokens_per_second, seconds):
    answer = smallest_affordable_stride.reference(
        num_tokens, context_length, tokens_per_second, seconds
    )
    return min(answer, context_length)


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
        "Keep the last target that was scored. A window scores what lies between "
        "that and its own last target.",
        "A window at `start` ends with the target min(start + T, N - 1). Stop when "
        "that is N - 1.",
    ),
)
def plan_evaluation(
    num_tokens: int, context_length: int, stride: int
) -> list[tuple[int, int, int]]:
    """Return (start, length, scored) for each window of a strided evaluation.

    Windows begin at 0, S, 2S, ... (S at most T) and have `length` inputs: T, or what
    the end of the stream leaves. Each scores its last `scored` targets: those that no
    window before it has reached. All but token 0 get scored.
    """
    windows = []
    start = last_scored = 0
    while last_scored < num_tokens - 1:
        last = min(start + context_length, num_tokens - 1)
        windows.append((start, last - start, last - last_scored))
        last_scored = last
        start += stride
    return windows


@plan_evaluation.mistake(
    "every window scores all of its targets, so tokens in an overlap are scored "
    "several times."
)
def scores_all_targets(num_tokens, context_length, stride):
    return [
        (start, length, length)
        for start, length, _ in plan_evaluation.reference(
            num_tokens, context_length, stride
        )
    ]


@plan_evaluation.mistake(
    "the short last window is missing: the tokens at the end go unscored."
)
def forgets_the_last_window(num_tokens, context_length, stride):
    return [
        w
        for w in plan_evaluation.reference(num_tokens, context_length, stride)
        if w[1] == context_length
    ]


@plan_evaluation.mistake(
    "windows go on to the end of the stream, though every token has been scored before."
)
def goes_on_too_long(num_tokens, context_length, stride):
    windows, last_scored = [], 0
    for start in range(0, num_tokens - 1, stride):
        last = min(start + context_length, num_tokens - 1)
        windows.append((start, last - start, last - last_scored))
        last_scored = last
    return windows


@plan_evaluation.mistake(
    "the first window scores only S targets. Nobody scored the ones before: it scores "
    "all T."
)
def first_window_scores_a_stride(num_tokens, context_length, stride):
    plan = plan_evaluation.reference(num_tokens, context_length, stride)
    return [(start, length, min(scored, stride)) for start, length, scored in plan]


@plan_evaluation.mistake(
    "one id too many: the last id of the stream is only a target, never an input."
)
def reads_the_last_id(num_tokens, context_length, stride):
    plan = plan_evaluation.reference(num_tokens + 1, context_length, stride)
    return plan


@plan_evaluation.mistake(
    "the last window has fewer *new* targets than S: don't score others again."
)
def always_a_stride(num_tokens, context_length, stride):
    plan = plan_evaluation.reference(num_tokens, context_length, stride)
    return [(s, length, scored if s == 0 else stride) for s, length, scored in plan]


@plan_evaluation.mistake(
    "the last window is as long as the stream leaves it, and not always T."
)
def always_full_length(num_tokens, context_length, stride):
    plan = plan_evaluation.reference(num_tokens, context_length, stride)
    return [(s, context_length, scored) for s, _, scored in plan]


def _scored_positions(random: Random) -> Iterator[Case]:
    for context_length in (1, 2, 4, 6):
        for stride in {1, context_length // 2 or 1, context_length}:
            yield from ((position, context_length, stride) for position in range(1, 16))


@exercise(
    cases=_scored_positions,
    hints=(
        "Which of the starts 0, S, 2S, ... is the earliest from which a window of T "
        "still reaches this token?",
        "The start must be at least p - T: round that up to a multiple of S, and "
        "never below 0.",
    ),
)
def context_when_scored(position: int, context_length: int, stride: int) -> int:
    """Return how many tokens of left context the token at `position` (at least 1) has
    in a strided evaluation."""
    start = max(0, math.ceil((position - context_length) / stride) * stride)
    return position - start


@context_when_scored.mistake(
    "always all the context there is. Only S = 1 gives that to every token."
)
def always_the_most(position, context_length, stride):
    return min(position, context_length)


@context_when_scored.mistake(
    "as in windows end to end: the context begins anew with each T, whatever the "
    "stride."
)
def as_end_to_end(position, context_length, stride):
    return (position - 1) % context_length + 1


@context_when_scored.mistake(
    "the context begins anew with each stride. The overlap is there to be read."
)
def begins_anew_with_each_stride(position, context_length, stride):
    return (position - 1) % stride + 1


@context_when_scored.mistake(
    "rounded down instead of up: that window ends before the token, or is longer than "
    "T."
)
def rounds_down(position, context_length, stride):
    return position - max(0, (position - context_length) // stride * stride)


@context_when_scored.mistake(
    "near the beginning the start would be negative: it is never below 0."
)
def negative_start(position, context_length, stride):
    return position - math.ceil((position - context_length) / stride) * stride


@context_when_scored.mistake(
    "that is the least. A window scores S tokens, each with one more token of context."
)
def always_the_least(position, context_length, stride):
    return position if position <= context_length else context_length - stride + 1


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
        "First the standard deviation of the runs, then that of their mean.",
        "s² is the sum of the squared deviations divided by n - 1; the half-width is "
        "t · s / √n.",
    ),
)
def half_width(values: list[float], quantile: float) -> float:
    """Return the half-width of the confidence interval of the mean of `values`, given
    the quantile t."""
    n = len(values)
    mean = sum(values) / n
    variance = sum((value - mean) ** 2 for value in values) / (n - 1)
    return quantile * math.sqrt(variance / n)


@half_width.mistake(
    "the deviation is divided by n. The mean was fitted to the same runs: n - 1."
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
    "both ends of the interval: the half-width is the distance from the mean to one "
    "of them."
)
def whole_width(values, quantile):
    return 2 * half_width.reference(values, quantile)


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


@half_width.mistake("the root is missing: that is t times the *variance* of the mean.")
def variance_of_the_mean(values, quantile):
    return half_width.reference(values, quantile) ** 2 / quantile


@half_width.mistake("that is the standard error. The half-width is t times as large.")
def standard_error(values, quantile):
    return half_width.reference(values, quantile) / quantile


def _cuts(random: Random) -> Iterator[Case]:
    for context_length in (1, 3, 4):
        for stride in (1, 2, context_length):
            yield from (
                (num_tokens, cut, context_length, stride)
                for num_tokens, cut in ((12, 6), (15, 9), (20, 13))
            )
    yield 9, 2, 4, 1
    yield 9, 7, 4, 1


@exercise(
    cases=_cuts,
    hints=(
        "Each part is a stream of its own: one of `cut` ids, one of `num_tokens - "
        "cut`. Where does the second begin?",
        "Starts in the whole stream: `range(0, cut - T, S)` for one, `range(cut, "
        "num_tokens - T, S)` for the other.",
    ),
)
def split_starts(
    num_tokens: int, cut: int, context_length: int, stride: int
) -> tuple[list[int], list[int]]:
    """Return the starts of training and of validation windows, both counted in the
    whole stream.

    The stream is cut before the id at `cut`. Each part has windows of its own: the
    first ones start at 0 and at `cut`, and no window, its last target included, reaches
    across.
    """
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


def each_target_once(num_tokens: int, context_length: int) -> list[int]:
    starts = range(0, num_tokens - context_length, context_length)
    return [start + t + 1 for start in starts for t in range(context_length)]


def _lengths(random: Random) -> Iterator[Case]:
    yield from (
        (num_tokens, context_length)
        for context_length in (1, 2, 3, 5)
        for num_tokens in range(14)
    )


@bug_or_not(
    reference=each_target_once,
    cases=_lengths,
    explanation=(
        "Blocks of T + 1 ids, laid end to end, share nothing, so the first id of each "
        "block is an input and never a target: one token in T + 1 is never learned "
        "from. Windows must share the one id where they meet, S = T."
    ),
)
def targets_of_blocks(num_tokens: int, context_length: int) -> list[int]:
    block = context_length + 1
    starts = range(0, num_tokens - context_length, block)
    return [start + t + 1 for start in starts for t in range(context_length)]


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
    reference=inside_training_part,
    cases=_parts,
    explanation=(
        "A window that begins before the cut may end behind it: the last T of these "
        "windows train on ids that validation is scored on. Cut the stream first, and "
        "window the parts: nothing can reach across."
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
