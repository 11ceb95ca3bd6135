"""Exercises of lesson 02: count, place, gather, share out and resume windows."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from course_lib.sliding_windows import count_windows, window_starts
from course_lib.teaching import Case, bug_or_not, exercise


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
        "With n = count_windows(N, T, S) windows the last start is (n - 1) * S. And "
        "if n is 0, all ids are tail.",
    ),
)
def tokens_in_tail(num_tokens: int, context_length: int, stride: int) -> int:
    """Return how many ids at the end of the stream no window reaches: all of them if
    none fits."""
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


def _positions(random: Random) -> Iterator[Case]:
    for num_tokens in (2, 3, 6, 7, 9, 14):
        for context_length in (1, 2, 4, 5):
            if num_tokens > context_length:
                yield from (
                    (position, num_tokens, context_length)
                    for position in range(num_tokens)
                )


@exercise(
    cases=_positions,
    hints=(
        "Token p is a target of the windows that start at p - 1, p - 2, ... p - T. "
        "Which of these starts exist?",
        "Starts lie in 0 ... N - T - 1. Count the overlap of that range with p - T "
        "... p - 1.",
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
    "three limits, but a short stream sets a fourth: it has only N - T windows in all."
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


def _overlaps(random: Random) -> Iterator[Case]:
    for context_length in (2, 3, 5, 8):
        for num_tokens in (0, context_length, context_length + 1, 12, 20, 31):
            yield from (
                (num_tokens, context_length, overlap)
                for overlap in {0, 1, context_length // 2}
            )


@exercise(
    cases=_overlaps,
    hints=(
        "The stride is the step from one start to the next. How far do you step if "
        "`overlap` of T inputs stay?",
        "stride = context_length - overlap. Then start at 0 and stop before N - T.",
    ),
)
def starts_with_overlap(
    num_tokens: int, context_length: int, overlap: int
) -> list[int]:
    """Return the starts of windows whose neighbors have `overlap` inputs in common
    (less than T)."""
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
    "the last start is missing: a `range` stops before its end, and N - T - 1 is "
    "still a start."
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
        "`[ids[s : s + T] for s in starts]` are the inputs. The targets are the "
        "same, one id later.",
    ),
)
def gather_rows(
    ids: list[int], starts: list[int], context_length: int
) -> tuple[list[list[int]], list[list[int]]]:
    """Return inputs and targets as lists of rows, one row of `context_length` ids for
    each start."""
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
        "(n - 1) * S + T + 1, and no id at all for no window.",
    ),
)
def smallest_stream(num_windows: int, context_length: int, stride: int) -> int:
    """Return the smallest number of ids that hold `num_windows` windows: the inverse of
    `count_windows`."""
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


@smallest_stream.mistake(
    "no window needs no id: the formula is for one window or more."
)
def no_window(num_windows, context_length, stride):
    return (num_windows - 1) * stride + context_length + 1


@smallest_stream.mistake(
    "n windows make n - 1 strides between their starts, for no window there is "
    "nothing to hold."
)
def strides_for_all(num_windows, context_length, stride):
    return num_windows * stride + context_length + 1


def _shares(random: Random) -> Iterator[Case]:
    for world_size in (1, 2, 3, 4):
        for size in (world_size, world_size + 1, 7, 12):
            order = random.sample(range(size), size)
            yield from ((order, rank, world_size) for rank in range(world_size))


@exercise(
    cases=_shares,
    hints=(
        "Like dealing cards: every `world_size`-th one, beginning with card number "
        "`rank`.",
        "First cut the order to a multiple of `world_size`; then slice it with a step.",
    ),
)
def rank_share(order: list[int], rank: int, world_size: int) -> list[int]:
    """Return the entries of `order` for machine number `rank`, counted from 0, of
    `world_size` machines.

    They are dealt out in turn, the same number to each; what cannot be dealt out evenly
    is left out.
    """
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


def _interruptions(random: Random) -> Iterator[Case]:
    for size in (1, 4, 5, 9):
        order = random.sample(range(size), size)
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
        "Go on at `batches_delivered * batch_size`, in steps of `batch_size`; the "
        "last batch may be short.",
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
    "batches are taken for windows: skip `batches_delivered * batch_size` entries."
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


def all_starts(num_tokens: int, context_length: int, stride: int) -> list[int]:
    return window_starts(num_tokens, context_length, stride).tolist()


@bug_or_not(
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


@bug_or_not(
    reference=all_starts,
    cases=_streams,
    explanation=(
        "The end of a `range` is exclusive, so this one stops at N - T - 1: the last "
        "start that leaves room for T + 1 ids. For the same reason "
        "`torch.randint(len(data) - block_size, ...)` is right. And a `range` with a "
        "negative end is empty, where a formula may need `max(0, ...)`."
    ),
)
def starts_from_shorter_range(
    num_tokens: int, context_length: int, stride: int
) -> list[int]:
    return list(range(0, num_tokens - context_length, stride))


@bug_or_not(
    reference=count_windows,
    cases=_streams,
    explanation=(
        "Right, as long as one window fits. On a stream that is too short the "
        "quotient is negative, and `//` rounds it down, away from zero: the count "
        "becomes negative, and a list of that many entries is an error far away from "
        "its cause. `max(0, ...)` belongs to the formula."
    ),
)
def count_by_formula(num_tokens: int, context_length: int, stride: int) -> int:
    return 1 + (num_tokens - (context_length + 1)) // stride
