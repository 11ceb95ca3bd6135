"""Exercises of lesson 03: offsets, alignments, and what an epoch covers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false


def _streams(random: Random) -> Iterator[Case]:
    for num_steps in (1, 2, 5):
        for offset in range(num_steps):
            yield from (
                (num_tokens, num_steps, offset)
                for num_tokens in (0, 1, 2, 5, 6, 7, 11, 35)
            )
    for _ in range(20):
        num_steps = random.randrange(2, 20)
        yield random.randrange(200), num_steps, random.randrange(num_steps)


def _lengths_and_steps(random: Random) -> Iterator[Case]:
    for num_steps in (1, 2, 5, 8):
        lengths = {0, 1, 2, 4, 5, 6, 7, 8, 9, 12, 16, 17, 33, 35, 36, 40}
        yield from ((num_tokens, num_steps) for num_tokens in sorted(lengths))
    for _ in range(20):
        yield random.randrange(20, 200), random.randrange(2, 20)


@exercise(
    cases=_lengths_and_steps,
    hints=(
        "Take T = 5 and 33 ids, and count the subsequences at offset 0, at offset 1, "
        "and so on. Where does the count change?",
        "At offset 0 some ids behind the last target are left over. As long as an "
        "offset skips no more than so many, it costs nothing. And where not even "
        "offset 0 has a subsequence, is there one to lose?",
    ),
)
def offsets_that_lose(num_tokens: int, num_steps: int) -> int:
    """Return how many of the offsets leave fewer subsequences than offset 0."""
    whole, spare = divmod(num_tokens - 1, num_steps)
    return num_steps - 1 - spare if whole > 0 else 0


@offsets_that_lose.mistake(
    "the offsets that cost *nothing* are counted, offset 0 among them."
)
def offsets_that_keep(num_tokens, num_steps):
    whole, spare = divmod(num_tokens - 1, num_steps)
    return spare + 1 if whole > 0 else num_steps


@offsets_that_lose.mistake(
    "the ids that offset 0 leaves over are counted. An offset that skips no more than "
    "these loses nothing; the others do."
)
def ids_left_over(num_tokens, num_steps):
    return (num_tokens - 1) % num_steps


@offsets_that_lose.mistake(
    "the id for the last target is forgotten: of N ids N - 1 can be inputs."
)
def without_the_last_target(num_tokens, num_steps):
    whole, spare = divmod(num_tokens, num_steps)
    return num_steps - 1 - spare if whole > 0 else 0


@offsets_that_lose.mistake(
    "the id for the last target is forgotten, and a stream too short for any "
    "subsequence, which has none to lose."
)
def without_the_last_target_and_short(num_tokens, num_steps):
    return num_steps - 1 - num_tokens % num_steps


@offsets_that_lose.mistake(
    "right, except for a stream too short for any subsequence: it has none to lose."
)
def short_streams_lose(num_tokens, num_steps):
    return num_steps - 1 - (num_tokens - 1) % num_steps


@offsets_that_lose.mistake(
    "one too many. An offset that skips just the ids left over loses nothing; and the "
    "offsets stop at T - 1: T cuts like 0."
)
def skipping_the_spare_loses(num_tokens, num_steps):
    whole, spare = divmod(num_tokens - 1, num_steps)
    return num_steps - spare if whole > 0 else 0


@offsets_that_lose.mistake(
    "one too many: an offset that skips just the ids left over loses nothing; and a "
    "stream too short for any subsequence has none to lose."
)
def skipping_the_spare_loses_and_short(num_tokens, num_steps):
    return num_steps - (num_tokens - 1) % num_steps


@offsets_that_lose.mistake(
    "one too few. The offsets are 0 ... T - 1: the largest is T - 1."
)
def largest_offset_forgotten(num_tokens, num_steps):
    whole, spare = divmod(num_tokens - 1, num_steps)
    return max(0, num_steps - 2 - spare) if whole > 0 else 0


@offsets_that_lose.mistake(
    "all offsets but 0. A small one may skip only ids that offset 0 leaves unused."
)
def all_but_offset_0(num_tokens, num_steps):
    return num_steps - 1


@offsets_that_lose.mistake(
    "the most that an offset can cost, which is one subsequence. Count the offsets "
    "that cost it."
)
def lost_at_most(num_tokens, num_steps):
    counts = [max(0, (num_tokens - o - 1) // num_steps) for o in range(num_steps)]
    return counts[0] - counts[-1]


@offsets_that_lose.mistake(
    "the subsequences at offset 0 are counted, not the offsets that have fewer."
)
def subsequences_at_offset_0(num_tokens, num_steps):
    return max(0, (num_tokens - 1) // num_steps)


@offsets_that_lose.mistake(
    "the subsequences of all offsets are counted, not the offsets that have fewer."
)
def subsequences_of_all_offsets(num_tokens, num_steps):
    return max(0, num_tokens - num_steps)


@offsets_that_lose.mistake(
    "one extra id for each subsequence. Neighbors share it: only the last one needs "
    "one more."
)
def one_id_more_each(num_tokens, num_steps):
    counts = [max(0, (num_tokens - o) // (num_steps + 1)) for o in range(num_steps)]
    return sum(count < counts[0] for count in counts)


@offsets_that_lose.mistake(
    "the offsets that leave *as many* are counted with those that leave fewer: compare "
    "with `<`."
)
def not_strictly_fewer(num_tokens, num_steps):
    return num_steps


@offsets_that_lose.mistake(
    "windows of stride 1, of which every offset leaves fewer. Subsequences are T apart."
)
def windows_of_stride_1(num_tokens, num_steps):
    counts = [max(0, num_tokens - o - num_steps) for o in range(num_steps)]
    return sum(count < counts[0] for count in counts)


def _epochs(random: Random) -> Iterator[Case]:
    for batch_size in (1, 2, 3, 5):
        for num_steps in (2, 3, 5):
            lengths = {0, 1, 4, num_steps * (batch_size + 1), 33, 35, 40}
            for num_tokens in sorted(lengths):
                yield from (
                    (num_tokens, batch_size, num_steps, offset)
                    for offset in range(num_steps)
                )


@exercise(
    cases=_epochs,
    hints=(
        "Count the subsequences first, then the batches they fill.",
        "What happens to subsequences that do not fill a batch, and what does `//` do "
        "with a negative number? Try (0, 1, 5, 3).",
    ),
)
def num_batches(num_tokens: int, batch_size: int, num_steps: int, offset: int) -> int:
    """Return how many full batches an epoch has at this offset."""
    return max(0, (num_tokens - offset - 1) // num_steps) // batch_size


@num_batches.mistake(
    "a stream with no id behind the offset gives a negative count: // rounds down."
)
def negative_batches(num_tokens, batch_size, num_steps, offset):
    return (num_tokens - offset - 1) // num_steps // batch_size


@num_batches.mistake("a batch that is not full counts as one. Here it is dropped.")
def keeps_the_last(num_tokens, batch_size, num_steps, offset):
    return -(-max(0, (num_tokens - offset - 1) // num_steps) // batch_size)


@num_batches.mistake(
    "a batch that is not full counts as one, and a stream that is too short has a "
    "negative count."
)
def keeps_the_last_and_less_than_0(num_tokens, batch_size, num_steps, offset):
    return -(-((num_tokens - offset - 1) // num_steps) // batch_size)


@num_batches.mistake(
    "rounded up twice: neither a short subsequence nor a batch that is not full counts."
)
def rounded_up_twice(num_tokens, batch_size, num_steps, offset):
    return max(
        0, math.ceil(math.ceil((num_tokens - offset - 1) / num_steps) / batch_size)
    )


@num_batches.mistake(
    "one more than fit. What does not fill a batch is dropped, and counts as none."
)
def one_batch_more(num_tokens, batch_size, num_steps, offset):
    return max(0, (num_tokens - offset - 1) // num_steps) // batch_size + 1


@num_batches.mistake(
    "rounded to the nearest number: half a batch counts as one. Round down."
)
def rounded_batches(num_tokens, batch_size, num_steps, offset):
    return max(0, round((num_tokens - offset - 1) // num_steps / batch_size))


@num_batches.mistake(
    "the offset is not taken off: the number of batches does depend on it."
)
def offset_ignored(num_tokens, batch_size, num_steps, offset):
    return max(0, (num_tokens - 1) // num_steps) // batch_size


@num_batches.mistake("subsequences are counted, not batches of them.")
def counts_subsequences(num_tokens, batch_size, num_steps, offset):
    return max(0, (num_tokens - offset - 1) // num_steps)


@num_batches.mistake("batches of B ids, not of B subsequences: divide by T as well.")
def batches_of_ids(num_tokens, batch_size, num_steps, offset):
    return max(0, (num_tokens - offset - 1) // batch_size)


@num_batches.mistake(
    "the last target is forgotten: one id must be left behind the last subsequence."
)
def last_target_forgotten(num_tokens, batch_size, num_steps, offset):
    return max(0, (num_tokens - offset) // num_steps) // batch_size


@num_batches.mistake(
    "the last target is forgotten, and a stream with no id behind the offset gives a "
    "negative count."
)
def last_target_and_zero_forgotten(num_tokens, batch_size, num_steps, offset):
    return (num_tokens - offset) // num_steps // batch_size


@num_batches.mistake(
    "one extra id for each row of a batch. All subsequences together need one more, "
    "wherever they stand."
)
def one_id_for_each_row(num_tokens, batch_size, num_steps, offset):
    return max(0, (num_tokens - offset - batch_size) // num_steps) // batch_size


@num_batches.mistake(
    "one extra id for each subsequence. Neighbors share it: only the last one needs "
    "one more."
)
def one_id_for_each_subsequence(num_tokens, batch_size, num_steps, offset):
    return max(0, (num_tokens - offset) // (num_steps + 1)) // batch_size


@num_batches.mistake("a count is a whole number: divide with `//`.")
def not_a_whole_number(num_tokens, batch_size, num_steps, offset):
    return (num_tokens - offset - 1) / num_steps / batch_size


@num_batches.mistake(
    "that is what is left over: `%` gives the remainder, `//` the number of batches."
)
def left_over(num_tokens, batch_size, num_steps, offset):
    return max(0, (num_tokens - offset - 1) // num_steps) % batch_size


@num_batches.mistake(
    "one batch is taken off for what is dropped. `//` drops it already."
)
def one_batch_less(num_tokens, batch_size, num_steps, offset):
    return max(0, max(0, (num_tokens - offset - 1) // num_steps) // batch_size - 1)


@num_batches.mistake(
    "the numbers are multiplied. B subsequences are one batch: divide."
)
def multiplied(num_tokens, batch_size, num_steps, offset):
    return max(0, (num_tokens - offset - 1) // num_steps) * batch_size


@num_batches.mistake(
    "those are batches of windows of stride 1, which overlap. Disjoint subsequences "
    "are T apart."
)
def batches_of_windows(num_tokens, batch_size, num_steps, offset):
    return max(0, num_tokens - offset - num_steps) // batch_size


@num_batches.mistake(
    "the offset is taken off the number of batches. It is a number of ids: take it off "
    "before you divide."
)
def offset_off_the_batches(num_tokens, batch_size, num_steps, offset):
    return max(0, (num_tokens - 1) // num_steps // batch_size - offset)


@num_batches.mistake(
    "one extra id for each batch. Batches are made of shuffled subsequences: all of "
    "them together need one more."
)
def one_id_for_each_batch(num_tokens, batch_size, num_steps, offset):
    return max(0, num_tokens - offset) // (batch_size * num_steps + 1)


@num_batches.mistake(
    "never fewer than one. A stream that is too short, or a batch short, has 0."
)
def at_least_one_batch(num_tokens, batch_size, num_steps, offset):
    return max(1, (num_tokens - offset - 1) // num_steps // batch_size)


@num_batches.mistake(
    "two ids are kept back. The offset takes off its own ids, and the last target one."
)
def two_ids_kept_back(num_tokens, batch_size, num_steps, offset):
    return max(0, (num_tokens - offset - 2) // num_steps) // batch_size


@num_batches.mistake(
    "one subsequence is kept back. The last target is one *id*, and is taken off once."
)
def one_subsequence_kept_back(num_tokens, batch_size, num_steps, offset):
    subsequences = max(0, (num_tokens - offset - 1) // num_steps)
    return max(0, (subsequences - 1) // batch_size)


@num_batches.mistake(
    "right, but for a stream with no id behind the offset: `int` rounds towards 0, "
    "which hides most negative counts, and not all."
)
def cut_off_batches(num_tokens, batch_size, num_steps, offset):
    return int((num_tokens - offset - 1) / num_steps / batch_size)


def _shuffled_epochs(random: Random) -> Iterator[Case]:
    for num_steps in (1, 3, 5, 8):
        for offset in range(num_steps):
            starts = [offset + k * num_steps for k in range(7)]
            random.shuffle(starts)
            # the others did not fill a batch: the smallest may be among them
            yield starts[:4], num_steps
            yield starts[4:], num_steps
    yield [22], 5
    yield [9, 6], 3


@exercise(
    cases=_shuffled_epochs,
    hints=(
        "Take T = 5 and the offset 2, and write down the first five starts. Which "
        "number do they share that the starts of offset 3 do not have?",
        "The starts 2, 7, 12, 17 are 2 + 0 * 5, 2 + 1 * 5, 2 + 2 * 5, … So 17 = 2 + 3 "
        "* 5. Which operation takes the 3 * 5 away again?",
    ),
)
def offset_of(starts: list[int], num_steps: int) -> int:
    """Return the offset of an epoch from the shuffled starts of its full batches."""
    return starts[0] % num_steps


@offset_of.mistake(
    "the smallest start. It is the offset only if its subsequence was not dropped "
    "with the last batch."
)
def smallest(starts, num_steps):
    return min(starts)


@offset_of.mistake("the first start. After shuffling it can be any of them.")
def first(starts, num_steps):
    return starts[0]


@offset_of.mistake("the last start. After shuffling it can be any of them.")
def last(starts, num_steps):
    return starts[-1]


@offset_of.mistake("divided, not remaindered: that is the number of the subsequence.")
def quotient(starts, num_steps):
    return starts[0] // num_steps


@offset_of.mistake(
    "the smallest start, divided: that is the number of its subsequence. The offset is "
    "the remainder."
)
def quotient_of_the_smallest(starts, num_steps):
    return min(starts) // num_steps


@offset_of.mistake(
    "the remainder of the division by the number of starts. The starts are T apart."
)
def remainder_by_the_number_of_starts(starts, num_steps):
    return starts[0] % len(starts)


@offset_of.mistake(
    "what is missing to the next multiple of T. The offset is what lies above the last "
    "one."
)
def missing_to_the_next(starts, num_steps):
    return -starts[0] % num_steps


@offset_of.mistake(
    "what is missing to the next multiple of T, and T for none. The offset is what "
    "lies above the last one."
)
def missing_to_the_next_or_t(starts, num_steps):
    return num_steps - starts[0] % num_steps


@offset_of.mistake(
    "divided the wrong way round: T % start. The start is what is divided."
)
def exchanged_remainder(starts, num_steps):
    return num_steps % starts[0]


@offset_of.mistake(
    "the distance of two starts in the list. It is a multiple of T, whatever the "
    "offset."
)
def distance(starts, num_steps):
    return abs(starts[1] - starts[0])


@offset_of.mistake(
    "the distance of the two smallest starts. It is a multiple of T, whatever the "
    "offset."
)
def smallest_distance(starts, num_steps):
    smallest_two = sorted(starts)[:2]
    return smallest_two[1] - smallest_two[0]


@offset_of.mistake(
    "the sum of the starts. Its remainder is the number of starts times the offset: "
    "one start is enough."
)
def remainder_of_the_sum(starts, num_steps):
    return sum(starts) % num_steps


@offset_of.mistake(
    "a remainder for each start. They are all the same number: return it once."
)
def all_remainders(starts, num_steps):
    return [start % num_steps for start in starts]


@offset_of.mistake(
    "the greatest common divisor of the starts. Starts that are T apart share a "
    "remainder, not a divisor."
)
def common_divisor(starts, num_steps):
    return math.gcd(*starts)


@offset_of.mistake(
    "a single T is taken off the smallest start. It may lie several T above the offset."
)
def one_t_taken_off(starts, num_steps):
    return min(starts) - num_steps if min(starts) >= num_steps else min(starts)


@offset_of.mistake("T is taken off the smallest start, needed or not.")
def smallest_less_t(starts, num_steps):
    return min(starts) - num_steps


@offset_of.mistake("the remainder of the division by T + 1. The starts are T apart.")
def remainder_of_t_plus_1(starts, num_steps):
    return starts[0] % (num_steps + 1)


@offset_of.mistake("the remainder of the division by T - 1. The starts are T apart.")
def remainder_of_t_minus_1(starts, num_steps):
    return starts[0] % (num_steps - 1)


@offset_of.mistake(
    "T comes out for the offset 0: take T off as long as it goes, down to 0."
)
def t_for_zero(starts, num_steps):
    offset = min(starts)
    while offset > num_steps:
        offset -= num_steps
    return offset


@offset_of.mistake(
    "the remainder of a start less one. Starts and offset are both counted from 0: "
    "take nothing off."
)
def remainder_of_one_less(starts, num_steps):
    return (starts[0] - 1) % num_steps


@offset_of.mistake(
    "an offset is counted from 0: it is the remainder itself, and not one more."
)
def offset_from_one(starts, num_steps):
    return starts[0] % num_steps + 1


@offset_of.mistake(
    "the first start, found by counting back from the largest. But starts are missing "
    "from the log, whichever they were."
)
def counted_back(starts, num_steps):
    return max(starts) - (len(starts) - 1) * num_steps


@offset_of.mistake(
    "as if none were missing: the largest start less T for each start. Starts are "
    "missing, whichever they were."
)
def counted_back_too_far(starts, num_steps):
    return max(starts) - len(starts) * num_steps


@offset_of.mistake(
    "the mean of the starts. It need not be a start itself, nor lie a multiple of T "
    "above the offset: one start is enough."
)
def remainder_of_the_mean(starts, num_steps):
    return sum(starts) // len(starts) % num_steps


@offset_of.mistake(
    "the greatest common divisor of the starts, and its remainder. Starts that are T "
    "apart share a remainder themselves."
)
def remainder_of_the_divisor(starts, num_steps):
    return math.gcd(*starts) % num_steps


@offset_of.mistake(
    "the largest start. The offset is what remains of any start when it is divided by "
    "T."
)
def largest_start(starts, num_steps):
    return max(starts)


def _targets(random: Random) -> Iterator[Case]:
    for num_steps in (1, 2, 3, 5):
        for offset in range(num_steps):
            yield from ((position, offset, num_steps) for position in range(13))


@exercise(
    cases=_targets,
    hints=(
        "Draw the first two subsequences behind an offset of 2 with T = 3. The first "
        "target has a context of 1 token. The one after it?",
        "Which positions are targets of the *second* subsequence, and how much context "
        "has its first one? Write the contexts in a row: they repeat. Where does the "
        "row begin?",
    ),
)
def left_context(position: int, offset: int, num_steps: int) -> int:
    """Return how much context the token at `position` has as a target, or 0."""
    if position <= offset:
        return 0
    return (position - offset - 1) % num_steps + 1


@left_context.mistake(
    "an off-by-one. The token at offset + T has the longest context, T, and not 0."
)
def wraps_too_early(position, offset, num_steps):
    return 0 if position <= offset else (position - offset) % num_steps


@left_context.mistake(
    "the context starts at 1: the first target has its input to its left."
)
def starts_at_zero(position, offset, num_steps):
    return 0 if position <= offset else (position - offset - 1) % num_steps


@left_context.mistake(
    "an off-by-one. The first target, at offset + 1, has a context of 1; this row "
    "begins with 2."
)
def starts_at_two(position, offset, num_steps):
    return 0 if position <= offset else (position - offset) % num_steps + 1


@left_context.mistake(
    "an off-by-one. The row of contexts 1, 2, …, T begins at offset + 1, and not at "
    "the offset, which is no target."
)
def starts_at_the_offset(position, offset, num_steps):
    return 0 if position < offset else (position - offset) % num_steps + 1


@left_context.mistake(
    "the first input is no target: at the offset itself the context is 0."
)
def the_offset_is_a_target(position, offset, num_steps):
    return 0 if position < offset else (position - offset - 1) % num_steps + 1


@left_context.mistake("the offset is ignored: it moves all cuts.")
def fixed_cuts(position, offset, num_steps):
    return 0 if position <= 0 else (position - 1) % num_steps + 1


@left_context.mistake(
    "the offset is ignored where it counts: the tokens before it are left out, but the "
    "cuts stay where they are."
)
def fixed_cuts_behind_the_offset(position, offset, num_steps):
    return 0 if position <= offset else (position - 1) % num_steps + 1


@left_context.mistake(
    "the offset is added. A position counts from the offset on: take it off."
)
def offset_added(position, offset, num_steps):
    return 0 if position <= offset else (position + offset - 1) % num_steps + 1


@left_context.mistake(
    "tokens up to the offset are never a target; there the context is 0."
)
def before_the_offset(position, offset, num_steps):
    return (position - offset - 1) % num_steps + 1


@left_context.mistake(
    "two things: the token at offset + T has the context T, not 0, and what lies "
    "before the offset has none."
)
def plain_remainder(position, offset, num_steps):
    return (position - offset) % num_steps


@left_context.mistake(
    "the context begins anew at every cut: it does not grow to T and stay there."
)
def grows_once(position, offset, num_steps):
    return max(0, min(num_steps, position - offset))


@left_context.mistake(
    "the context begins anew at every cut: it does not grow without end."
)
def grows_without_end(position, offset, num_steps):
    return max(0, position - offset)


@left_context.mistake(
    "the wrong way round: the context grows from cut to cut, 1, 2, …, T."
)
def shrinks(position, offset, num_steps):
    return 0 if position <= offset else num_steps - (position - offset - 1) % num_steps


@left_context.mistake(
    "divided, not remaindered: that is the number of the subsequence."
)
def number_of_the_subsequence(position, offset, num_steps):
    return 0 if position <= offset else (position - offset - 1) // num_steps + 1


@left_context.mistake(
    "T for every target. Only the last target of a subsequence has that much."
)
def always_the_longest(position, offset, num_steps):
    return 0 if position <= offset else num_steps


@left_context.mistake(
    "the length of the window of stride 1 that ends there. Here the context begins "
    "anew at every cut."
)
def as_if_windows_slid(position, offset, num_steps):
    return min(position, num_steps)


@left_context.mistake(
    "the contexts come again after T tokens, and not after T + 1: 1, 2, …, T, and then "
    "1."
)
def period_of_t_plus_1(position, offset, num_steps):
    return (position - offset) % (num_steps + 1) if position > offset else 0


@left_context.mistake(
    "position and offset are exchanged: the offset is taken off the position."
)
def position_from_offset(position, offset, num_steps):
    return (offset - position - 1) % num_steps + 1 if offset > position else 0


@left_context.mistake(
    "the token at offset + 1 is the first target already: it has one token of context."
)
def first_target_left_out(position, offset, num_steps):
    return (position - offset - 1) % num_steps + 1 if position > offset + 1 else 0


@left_context.mistake("-1 for a token that is never a target. The task wants 0.")
def minus_one_for_none(position, offset, num_steps):
    return (position - offset - 1) % num_steps + 1 if position > offset else -1


@left_context.mistake("`None` for a token that is never a target. The task wants 0.")
def none_for_none(position, offset, num_steps):
    return (position - offset - 1) % num_steps + 1 if position > offset else None


@left_context.mistake(
    "the token itself is counted as well. Its context is what stands to its left."
)
def counts_itself(position, offset, num_steps):
    return (position - offset - 1) % num_steps + 2 if position > offset else 0


@left_context.mistake(
    "the first subsequence is left out. Its tokens have the contexts 1, 2, …, T, as "
    "those of all others."
)
def first_subsequence_left_out(position, offset, num_steps):
    if position < offset + num_steps:
        return 0
    return (position - offset - 1) % num_steps + 1


@left_context.mistake(
    "the offset is ignored, and so is that the first input is no target: 0 for T."
)
def remainder_of_the_position(position, offset, num_steps):
    return position % num_steps


@left_context.mistake(
    "the position from its cut on, counted from 1, and without the offset."
)
def remainder_of_the_position_and_1(position, offset, num_steps):
    return position % num_steps + 1


@left_context.mistake(
    "two slips: the contexts 1, 2, …, T begin at offset + 1, and not at the offset; "
    "and before that no token is a target, so that the context is 0."
)
def one_later_without_zero(position, offset, num_steps):
    return (position - offset) % num_steps + 1


def _highest_offsets(random: Random) -> Iterator[Case]:
    for num_steps in (1, 2, 3, 5, 8):
        yield from (
            (highest, num_steps)
            for highest in sorted(
                {0, num_steps // 2, num_steps - 1, num_steps, num_steps + 1}
                | {2 * num_steps - 1, 2 * num_steps, 3 * num_steps + 1}
            )
        )


@exercise(
    cases=_highest_offsets,
    hints=(
        "Two offsets make the same cuts if they differ by a multiple of T.",
        "For each of 0 ... highest, take the remainder divided by T, and count how "
        "often each one comes.",
    ),
)
def alignment_counts(highest: int, num_steps: int) -> list[int]:
    """Return how many of the offsets 0 ... `highest` fall on each alignment."""
    counts = [0] * num_steps
    for offset in range(highest + 1):
        counts[offset % num_steps] += 1
    return counts


def _counts(offsets, num_steps):
    return [sum(o % num_steps == a for o in offsets) for a in range(num_steps)]


@alignment_counts.mistake(
    "`highest` itself is one of the offsets: a `range` stops before its end."
)
def exclusive(highest, num_steps):
    return _counts(range(highest), num_steps)


@alignment_counts.mistake("0 is one of the offsets: count from 0, not from 1.")
def without_zero(highest, num_steps):
    return _counts(range(1, highest + 1), num_steps)


@alignment_counts.mistake("an offset too many: `highest` is the last one.")
def one_offset_too_many(highest, num_steps):
    return _counts(range(highest + 2), num_steps)


@alignment_counts.mistake(
    "an alignment that never occurs has the count 0: there are T entries, always."
)
def without_those_that_never_occur(highest, num_steps):
    return [count for count in _counts(range(highest + 1), num_steps) if count]


@alignment_counts.mistake(
    "one count for each alignment, T of them, and not one for each offset."
)
def one_for_each_offset(highest, num_steps):
    return [1] * (highest + 1)


@alignment_counts.mistake(
    "those are the alignments themselves. Count how often each one comes."
)
def alignments_themselves(highest, num_steps):
    return [offset % num_steps for offset in range(highest + 1)]


@alignment_counts.mistake(
    "the offsets beyond T - 1 are left out. They repeat alignments, which is the point."
)
def clipped(highest, num_steps):
    return [int(a <= highest) for a in range(num_steps)]


@alignment_counts.mistake(
    "the counts need not be equal: what is left of (highest + 1) / T goes to the "
    "first alignments."
)
def all_equal(highest, num_steps):
    return [(highest + 1) // num_steps] * num_steps


@alignment_counts.mistake(
    "the counts need not be equal: an offset falls on one alignment, not on a part of "
    "each."
)
def equal_shares(highest, num_steps):
    return [(highest + 1) / num_steps] * num_steps


@alignment_counts.mistake(
    "only alignment 0 can come more often here. What is left of (highest + 1) / T goes "
    "to several, one each."
)
def the_rest_on_the_first(highest, num_steps):
    share, rest = divmod(highest + 1, num_steps)
    return [share + rest] + [share] * (num_steps - 1)


@alignment_counts.mistake(
    "what is left of (highest + 1) / T goes to the *first* alignments, not to the last."
)
def the_rest_on_the_last(highest, num_steps):
    return _counts(range(highest + 1), num_steps)[::-1]


@alignment_counts.mistake(
    "shares, which add up to 1. Return the counts, which add up to highest + 1."
)
def shares(highest, num_steps):
    counts = _counts(range(highest + 1), num_steps)
    return [count / (highest + 1) for count in counts]


@alignment_counts.mistake(
    "`//` numbers the blocks of T offsets. Two offsets cut alike if `%` gives the same."
)
def counts_of_quotients(highest, num_steps):
    counts = [0] * num_steps
    for offset in range(highest + 1):
        if offset // num_steps < num_steps:
            counts[offset // num_steps] += 1
    return counts


@alignment_counts.mistake(
    "T + 1 entries. The alignments are 0 … T - 1; an offset of T is alignment 0."
)
def one_alignment_too_many(highest, num_steps):
    return [*_counts(range(highest + 1), num_steps), 0]


@alignment_counts.mistake(
    "the remainder of the division by T + 1. Offset 0 and offset T cut alike."
)
def remainders_of_t_plus_1(highest, num_steps):
    return [
        sum(offset % (num_steps + 1) == a for offset in range(highest + 1))
        for a in range(num_steps)
    ]


@alignment_counts.mistake(
    "the same count for each, rounded up. Only some alignments get what is left of "
    "(highest + 1) / T."
)
def rounded_up_for_all(highest, num_steps):
    return [highest // num_steps + 1] * num_steps


@alignment_counts.mistake(
    "T + 1 counts. There are T alignments, 0 … T - 1: T cuts like 0."
)
def one_alignment_more(highest, num_steps):
    return [len(range(k, highest + 1, num_steps + 1)) for k in range(num_steps + 1)]


@alignment_counts.mistake(
    "all that is left of (highest + 1) / T goes to the last alignment here."
)
def rest_to_the_last(highest, num_steps):
    each, rest = divmod(highest + 1, num_steps)
    return [each] * (num_steps - 1) + [each + rest]


@alignment_counts.mistake("the offsets themselves, alignment by alignment. Count them.")
def offsets_by_alignment(highest, num_steps):
    return [list(range(k, highest + 1, num_steps)) for k in range(num_steps)]


@alignment_counts.mistake("the offsets 1 … highest + 1. They are 0 … highest.")
def offsets_from_one(highest, num_steps):
    offsets = range(1, highest + 2)
    return [sum(o % num_steps == k for o in offsets) for k in range(num_steps)]


@alignment_counts.mistake(
    "what is missing to the next multiple of T. Two offsets cut alike if what lies "
    "above the last one is the same."
)
def missing_to_a_multiple(highest, num_steps):
    offsets = range(highest + 1)
    return [sum(-o % num_steps == k for o in offsets) for k in range(num_steps)]


@alignment_counts.mistake(
    "a `dict` from alignment to count. A list is wanted, in which the count of "
    "alignment k stands at k, and 0 for those that never occur."
)
def counts_by_alignment(highest, num_steps):
    counts = {}
    for offset in range(highest + 1):
        counts[offset % num_steps] = counts.get(offset % num_steps, 0) + 1
    return counts


@alignment_counts.mistake("running totals. Each alignment has a count of its own.")
def running_totals(highest, num_steps):
    counts = [len(range(k, highest + 1, num_steps)) for k in range(num_steps)]
    return [sum(counts[: k + 1]) for k in range(num_steps)]


@alignment_counts.mistake(
    "`highest // num_steps` for each. There are highest + 1 offsets, and the remainder "
    "goes to the first alignments."
)
def quotient_of_the_highest(highest, num_steps):
    return [highest // num_steps] * num_steps


def _coverages(random: Random) -> Iterator[Case]:
    for num_steps in (1, 2, 5, 10):
        yield from ((num_epochs, num_steps) for num_epochs in (0, 1, 2, 3, 5, 50))


def _seen(share: float, num_epochs: int) -> float:
    """Return how likely comes at least once what an epoch has with chance `share`."""
    return 1 - (1 - share) ** num_epochs


@exercise(
    cases=_coverages,
    hints=(
        "Take one token. Each alignment gives it another context. How likely does an "
        "epoch have alignment 0, and how likely each of the others?",
        "The formula of section 6 holds for each context on its own, with the chance "
        "of its alignment in place of 1 / T. Which mean of these is the share?",
    ),
)
def inclusive_coverage(num_epochs: int, num_steps: int) -> float:
    """Return the expected share of the pairs seen, for offsets from 0 ... T."""
    likely = 1 - (1 - 2 / (num_steps + 1)) ** num_epochs
    others = 1 - (1 - 1 / (num_steps + 1)) ** num_epochs
    return (likely + (num_steps - 1) * others) / num_steps


@inclusive_coverage.mistake(
    "as if all alignments were equally likely. Here two of the offsets, 0 and T, give "
    "alignment 0."
)
def all_equally_likely(num_epochs, num_steps):
    return _seen(1 / num_steps, num_epochs)


@inclusive_coverage.mistake(
    "as if T + 1 offsets made T + 1 alignments. Offset T cuts like offset 0, whose "
    "chance is 2 / (T + 1)."
)
def each_offset_an_alignment(num_epochs, num_steps):
    return _seen(1 / (num_steps + 1), num_epochs)


@inclusive_coverage.mistake(
    "that is alignment 0 alone. The T - 1 others are less likely: take the mean of all."
)
def alignment_0_alone(num_epochs, num_steps):
    return _seen(2 / (num_steps + 1), num_epochs)


@inclusive_coverage.mistake(
    "the mean of two numbers. Alignment 0 is one of T, and T - 1 are of the other kind."
)
def mean_of_two(num_epochs, num_steps):
    shares = (1 / (num_steps + 1), 2 / (num_steps + 1))
    return sum(_seen(share, num_epochs) for share in shares) / 2


@inclusive_coverage.mistake(
    "weighted by how likely the alignments are. The share counts pairs, and each "
    "alignment brings equally many: all weigh 1 / T."
)
def weighted_by_chance(num_epochs, num_steps):
    likely, other = 2 / (num_steps + 1), 1 / (num_steps + 1)
    return likely * _seen(likely, num_epochs) + (num_steps - 1) * other * _seen(
        other, num_epochs
    )


@inclusive_coverage.mistake(
    "divided by T + 1. There are T contexts, 1 ... T, and so T alignments."
)
def divided_by_offsets(num_epochs, num_steps):
    likely = _seen(2 / (num_steps + 1), num_epochs)
    others = _seen(1 / (num_steps + 1), num_epochs)
    return (likely + (num_steps - 1) * others) / (num_steps + 1)


@inclusive_coverage.mistake(
    "one alignment too many: beside alignment 0 there are T - 1, not T."
)
def one_context_too_many(num_epochs, num_steps):
    likely = _seen(2 / (num_steps + 1), num_epochs)
    others = _seen(1 / (num_steps + 1), num_epochs)
    return (likely + num_steps * others) / (num_steps + 1)


@inclusive_coverage.mistake(
    "the sum over the alignments: how many contexts of a token are seen. Divide by T."
)
def sum_of_alignments(num_epochs, num_steps):
    likely = _seen(2 / (num_steps + 1), num_epochs)
    return likely + (num_steps - 1) * _seen(1 / (num_steps + 1), num_epochs)


@inclusive_coverage.mistake(
    "the chances are 2/T and 1/T: more than 1 in all. There are T + 1 offsets."
)
def chances_over_t(num_epochs, num_steps):
    likely = _seen(2 / num_steps, num_epochs)
    return (likely + (num_steps - 1) * _seen(1 / num_steps, num_epochs)) / num_steps


@inclusive_coverage.mistake("that is the share that is still missing.")
def still_missing(num_epochs, num_steps):
    return 1 - inclusive_coverage.reference(num_epochs, num_steps)


@inclusive_coverage.mistake(
    "that is one epoch. Each further one misses a pair with the same chance: multiply."
)
def one_epoch(num_epochs, num_steps):
    return 1 / num_steps


@inclusive_coverage.mistake(
    "epochs repeat one another by chance: the shares of two epochs overlap, so they "
    "don't add up."
)
def adds_up(num_epochs, num_steps):
    return min(1.0, num_epochs / num_steps)


@inclusive_coverage.mistake(
    "a share cannot pass 1: the pairs of several epochs overlap."
)
def beyond_one(num_epochs, num_steps):
    return num_epochs / num_steps


@inclusive_coverage.mistake("a share lies between 0 and 1: these are percents.")
def percents(num_epochs, num_steps):
    return 100 * inclusive_coverage.reference(num_epochs, num_steps)


@inclusive_coverage.mistake("rounded. Return the share as it is.")
def rounded_share(num_epochs, num_steps):
    return round(inclusive_coverage.reference(num_epochs, num_steps), 2)


@inclusive_coverage.mistake("one epoch too few: the first one counts as well.")
def one_epoch_less(num_epochs, num_steps):
    return inclusive_coverage.reference(max(0, num_epochs - 1), num_steps)


@inclusive_coverage.mistake(
    "one epoch is counted twice: after no epoch nothing has been seen."
)
def one_epoch_too_many(num_epochs, num_steps):
    return inclusive_coverage.reference(num_epochs + 1, num_steps)


@inclusive_coverage.mistake(
    "that is the chance that *every* epoch shows a pair. One of them is enough."
)
def seen_in_all(num_epochs, num_steps):
    likely, other = 2 / (num_steps + 1), 1 / (num_steps + 1)
    return (likely**num_epochs + (num_steps - 1) * other**num_epochs) / num_steps


@inclusive_coverage.mistake(
    "the alignments are taken together before the power. Each has a chance of its own "
    "to be missed by all epochs: take the power first, then the mean."
)
def mean_before_power(num_epochs, num_steps):
    chances = [2 / (num_steps + 1)] + [1 / (num_steps + 1)] * (num_steps - 1)
    return _seen(math.fsum(chance**2 for chance in chances), num_epochs)


# -- Bug or not? ----------------------------------------------------------------------


def _lengths(random: Random) -> Iterator[Case]:
    yield from ((num_steps,) for num_steps in range(1, 12))


def each_alignment_once(num_steps: int) -> list[int]:
    return list(range(num_steps))


@bug_or_not(
    purpose="To list the alignments of all offsets that a loader can draw. It draws "
    "them with `random.randint(0, num_steps)`, and each alignment is to be equally "
    "likely, so each has to stand in the list once.",
    reference=each_alignment_once,
    cases=_lengths,
    explanation=(
        "`random.randint` includes both of its ends (`torch.randint` and `range` "
        "don't). An offset of T cuts where an offset of 0 cuts, so alignment 0 comes "
        "twice as often as any other. Readers of *Dive into Deep Learning* reported "
        "it in its loaders (topic 118 of its forum; d2l-zh, pull requests 1302 and "
        "1337, for the one of lesson 4)."
    ),
)
def alignments_of_randint(num_steps: int) -> list[int]:
    # all values that random.randint(0, num_steps) can return
    offsets = range(0, num_steps + 1)
    return [offset % num_steps for offset in offsets]


def starts_in_stream(num_tokens: int, num_steps: int, offset: int) -> list[int]:
    return [
        offset + k * num_steps
        for k in range(max(0, (num_tokens - offset - 1) // num_steps))
    ]


@bug_or_not(
    purpose="To return the ids at which the subsequences behind an offset start, in a "
    "stream whose ids are their own positions, 0, 1, 2, …. Each subsequence needs all "
    "of its targets.",
    reference=starts_in_stream,
    cases=_streams,
    explanation=(
        "Cutting the stream first moves the positions, not the windows: position 0 of "
        "the rest is position `offset` of the stream. The - 1 still keeps an id for "
        "the last target, and a range of a negative number is empty. (The copy costs "
        "memory, though: a view would not.)"
    ),
)
def sliced_before_counting(num_tokens: int, num_steps: int, offset: int) -> list[int]:
    stream = list(range(num_tokens))
    rest = stream[offset:]
    count = (len(rest) - 1) // num_steps
    return [rest[k * num_steps] for k in range(count)]


def _orders(random: Random) -> Iterator[Case]:
    for num_tokens, num_steps in ((7, 3), (11, 5), (20, 4), (60, 8)):
        order = list(range((num_tokens - 1) // num_steps))
        for _ in range(3):
            random.shuffle(order)
            yield num_tokens, num_steps, list(order)


def contexts_in_order(num_tokens: int, num_steps: int, order: list[int]) -> list[int]:
    contexts = [0] * num_tokens
    for target in range(1, (num_tokens - 1) // num_steps * num_steps + 1):
        contexts[target] = (target - 1) % num_steps + 1
    return contexts


def contexts_as_shuffled(
    num_tokens: int, num_steps: int, order: list[int]
) -> list[int]:
    contexts = [0] * num_tokens
    for number in order:
        for step in range(num_steps):
            contexts[number * num_steps + step + 1] = step + 1
    return contexts


@true_or_false(
    claim="The cuts of stride T give some tokens a short context in every epoch. "
    "*Shuffling the starts* reduces this position bias: in the new order, some tokens "
    "have another context than before.",
    reference=lambda *case: contexts_as_shuffled(*case) != contexts_in_order(*case),
    cases=_orders,
    explanation=(
        "Shuffling changes *when* a window comes, not what stands in it: each token "
        "keeps its place in its window, and so its context. Only another offset moves "
        "the cuts. (Shuffling is good for something else: neighboring batches are "
        "less alike.)"
    ),
)
def shuffling_changes_contexts(
    num_tokens: int, num_steps: int, order: list[int]
) -> bool:
    return True


def all_on_one_alignment(starts: list[int], num_steps: int) -> bool:
    return len({start % num_steps for start in starts}) == 1


def _examples_of_starts(random: Random) -> Iterator[Case]:
    yield from (([3, 10, 6], num_steps) for num_steps in range(1, 12))


@true_or_false(
    claim="A textbook gives 3, 10 and 6 as an example of the random starts of one "
    "epoch, and says that such windows overlap. With the scheme of this lesson, all "
    "three are starts of one epoch *only if T = 1*, where no two inputs overlap.",
    reference=all_on_one_alignment,
    cases=_examples_of_starts,
    explanation=(
        "The starts of one epoch differ by multiples of T. Here they differ by 3, 4 "
        "and 7, whose only common divisor is 1. What that text describes is another "
        "scheme: starts drawn independently, which do overlap, and which reach a token "
        "several times in an epoch or not at all."
    ),
)
def starts_only_if_t_is_1(starts: list[int], num_steps: int) -> bool:
    return num_steps == 1


def _seeds(random: Random) -> Iterator[Case]:
    yield from ((seed, num_epochs) for seed in (0, 1, 7) for num_epochs in (2, 3, 5))


def one_generator_for_all_epochs(seed: int, num_epochs: int) -> list[int]:
    generator = Random(seed)
    return [generator.randrange(1000) for _ in range(num_epochs)]


@bug_or_not(
    purpose="To draw the offsets of the epochs of a run with T = 1000, so that the run "
    "can be repeated with the same seed, and the epochs are independent of each other.",
    reference=one_generator_for_all_epochs,
    cases=_seeds,
    explanation=(
        "A generator that is made anew in each epoch, from the same seed, draws the "
        "same offset and order again: the random scheme has become a fixed one. Make "
        "the generator once, or derive its seed from the epoch."
    ),
)
def offsets_of_a_run(seed: int, num_epochs: int) -> list[int]:
    offsets = []
    for _ in range(num_epochs):
        generator = Random(seed)
        offsets.append(generator.randrange(1000))
    return offsets


# With other numbers by seed.


@numbers(
    ask="A stream has {num_tokens:,} ids. The offset of this epoch is {offset}, "
    "T = {num_steps}, {batch_size} subsequences make a batch, and a batch that is not "
    "full is dropped. How many ids are an input in this epoch?",
    draw=lambda rng: {
        "num_tokens": rng.randrange(2_000, 9_000),
        "num_steps": (num_steps := rng.randrange(12, 40)),
        "offset": rng.randrange(1, num_steps),
        "batch_size": rng.randrange(5, 20),
    },
    hints=(
        "How many subsequences fit behind the offset, how many full batches do they "
        "make, and how many inputs has a batch?",
    ),
)
def inputs_of_epoch(
    num_tokens: int, num_steps: int, offset: int, batch_size: int
) -> int:
    subsequences = (num_tokens - offset - 1) // num_steps
    return subsequences // batch_size * batch_size * num_steps


@inputs_of_epoch.mistake("with the batch that is not full. It is dropped.")
def with_partial_batch(num_tokens, num_steps, offset, batch_size):
    return (num_tokens - offset - 1) // num_steps * num_steps


@inputs_of_epoch.mistake("all ids behind the offset, the tail included.")
def all_behind_offset(num_tokens, num_steps, offset, batch_size):
    return num_tokens - offset - 1


@inputs_of_epoch.mistake("subsequences, not inputs: each has T of them.")
def subsequences_of_epoch(num_tokens, num_steps, offset, batch_size):
    subsequences = (num_tokens - offset - 1) // num_steps
    return subsequences // batch_size * batch_size


@inputs_of_epoch.mistake("batches, not inputs: each has B times T of them.")
def batches_for_inputs(num_tokens, num_steps, offset, batch_size):
    return (num_tokens - offset - 1) // num_steps // batch_size


@numbers(
    ask="Offset {offset}, T = {num_steps}. The token at position {position}, counted "
    "from 0, is a target: of how many inputs is its context?",
    draw=lambda rng: {
        "num_steps": (num_steps := rng.randrange(8, 40)),
        "offset": rng.randrange(1, num_steps),
        "position": rng.randrange(100, 900),
    },
    hints=(
        "The first target behind the offset has a context of 1. Which position is it?",
    ),
)
def context_of_target(num_steps: int, offset: int, position: int) -> int:
    return (position - offset - 1) % num_steps + 1


@context_of_target.mistake(
    "its place as an input. As a target it belongs to the place before."
)
def place_as_input(num_steps, offset, position):
    return (position - offset) % num_steps + 1


@context_of_target.mistake("the offset is not in it: the cuts are moved by it.")
def without_the_offset(num_steps, offset, position):
    return (position - 1) % num_steps + 1


@context_of_target.mistake("one too few: the first target has a context of 1, not 0.")
def context_from_zero(num_steps, offset, position):
    return (position - offset - 1) % num_steps


@numbers(
    ask="T = {num_steps}, and each of {num_epochs} epochs draws a new offset. Which "
    "share of the pairs of a token and a length of its context, 1 to T, is expected to "
    "have come at least once, far from both ends?",
    draw=lambda rng: {
        "num_steps": rng.randrange(8, 33),
        "num_epochs": rng.randrange(4, 30),
    },
    hints=("A pair comes in an epoch with probability 1 / T. When has it never come?",),
)
def share_of_pairs(num_steps: int, num_epochs: int) -> float:
    return 1 - (1 - 1 / num_steps) ** num_epochs


@share_of_pairs.mistake("as if no pair came twice: offsets are drawn independently.")
def never_twice(num_steps, num_epochs):
    return num_epochs / num_steps


@share_of_pairs.mistake("the share of those that have *not* come.")
def share_not_seen(num_steps, num_epochs):
    return (1 - 1 / num_steps) ** num_epochs


@share_of_pairs.mistake("the share of a single epoch.")
def share_of_one_epoch(num_steps, num_epochs):
    return 1 / num_steps
