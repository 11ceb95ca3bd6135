"""Exercises of lesson 04: rows, continuations, and how far a state and its gradient
reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import numpy as np

from course_lib.random_sampling import count_subsequences
from course_lib.sequential_partitioning import partition_starts
from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false


def _streams(random: Random) -> Iterator[Case]:
    for batch_size in (1, 2, 3):
        for offset in (0, 1, 4):
            yield from (
                (num_tokens, batch_size, offset)
                for num_tokens in (0, 1, 2, 4, 7, 10, 16, 35)
            )


@exercise(
    cases=_streams,
    hints=(
        "Which ids can be inputs at all? Not those of the offset, and not the very "
        "last one of the stream, which can only be a target.",
        "Count the ids that can be inputs, share them out evenly, and round down. "
        "Then try your formula on a stream that ends inside the offset.",
    ),
)
def inputs_per_row(num_tokens: int, batch_size: int, offset: int) -> int:
    """Return how many inputs each of `batch_size` equally long rows has."""
    return max(0, (num_tokens - offset - 1) // batch_size)


def _and_below_zero(diagnosis: str) -> Callable[[Callable], Callable]:
    """Register a wrong formula twice: as it stands, and cut off at 0."""

    def register(formula: Callable) -> Callable:
        def cut_off(num_tokens, batch_size, offset):
            return max(0, formula(num_tokens, batch_size, offset))

        cut_off.__name__ = formula.__name__
        formula.__name__ += "_below_zero"
        inputs_per_row.mistake(diagnosis)(cut_off)
        inputs_per_row.mistake(
            f"{diagnosis} And where no input is left, rows have 0 inputs, not fewer."
        )(formula)
        return formula

    return register


@_and_below_zero(
    "the last target is forgotten. The last row needs one id behind its last input."
)
def forgets_the_last_target(num_tokens, batch_size, offset):
    return (num_tokens - offset) // batch_size


@_and_below_zero(
    "one target for each row is kept back. A row finds its last target in the first "
    "id of the next; only the last row needs an id more."
)
def one_target_each(num_tokens, batch_size, offset):
    return (num_tokens - offset) // batch_size - 1


@_and_below_zero(
    "the offset is not taken off before the rows are cut: they would overrun the "
    "stream."
)
def ignores_the_offset(num_tokens, batch_size, offset):
    return (num_tokens - 1) // batch_size


@inputs_per_row.mistake("neither the offset nor the last target is taken off.")
def takes_nothing_off(num_tokens, batch_size, offset):
    return num_tokens // batch_size


@_and_below_zero(
    "the offset is taken off each row. It is skipped once, before the rows are cut."
)
def offset_off_each_row(num_tokens, batch_size, offset):
    return (num_tokens - 1) // batch_size - offset


@_and_below_zero(
    "the division comes first here: offset and last target are taken off each row. "
    "Take them off the stream, then share out what is left."
)
def divides_first(num_tokens, batch_size, offset):
    return num_tokens // batch_size - offset - 1


@_and_below_zero(
    "the offset is taken off each row, and the last target not at all. Both come off "
    "the stream, before the rows are cut."
)
def divides_first_without_target(num_tokens, batch_size, offset):
    return num_tokens // batch_size - offset


@_and_below_zero(
    "one target is taken off each row, and the offset not at all. Both come off the "
    "stream, before the rows are cut."
)
def divides_first_without_offset(num_tokens, batch_size, offset):
    return num_tokens // batch_size - 1


@_and_below_zero("nothing is to be added: what is left is shared out and rounded down.")
def adds_one_to_each(num_tokens, batch_size, offset):
    return (num_tokens - offset - 1) // batch_size + 1


@_and_below_zero(
    "that is the number of inputs of all rows together: divide by the number of rows."
)
def all_rows(num_tokens, batch_size, offset):
    return (num_tokens - offset - 1) // batch_size * batch_size


@_and_below_zero(
    "these are all ids that can be inputs: share them out among the rows, and round "
    "down."
)
def not_shared_out(num_tokens, batch_size, offset):
    return num_tokens - offset - 1


@_and_below_zero(
    "all ids that can be inputs are counted, not those of one row. (Does a `//` stand "
    "behind a `-`? It comes first: use parentheses.)"
)
def divides_only_the_one(num_tokens, batch_size, offset):
    return num_tokens - offset - 1 // batch_size


@_and_below_zero("rounded to the nearest. What does not fill all rows is left out.")
def rounded(num_tokens, batch_size, offset):
    return round((num_tokens - offset - 1) / batch_size)


@_and_below_zero(
    "rounded up. What does not fill all rows is left out: there would not be enough "
    "ids for the last row."
)
def rounded_up(num_tokens, batch_size, offset):
    return -(-(num_tokens - offset - 1) // batch_size)


@_and_below_zero("one id is added where one should be taken off.")
def one_more(num_tokens, batch_size, offset):
    return (num_tokens - offset + 1) // batch_size


@_and_below_zero("one id too many is taken off: only the last target is kept back.")
def one_less(num_tokens, batch_size, offset):
    return (num_tokens - offset - 2) // batch_size


@inputs_per_row.mistake(
    "a stream that is too short has rows of 0 inputs, not fewer: // rounds down."
)
def negative_rows(num_tokens, batch_size, offset):
    return (num_tokens - offset - 1) // batch_size


@inputs_per_row.mistake(
    "a stream that ends inside the offset has rows of 0 inputs, not fewer."
)
def negative_rows_cut_short(num_tokens, batch_size, offset):
    return int((num_tokens - offset - 1) / batch_size)


@_and_below_zero("the offset is added. It is skipped: that many ids fewer are left.")
def adds_the_offset(num_tokens, batch_size, offset):
    return (num_tokens + offset - 1) // batch_size


@inputs_per_row.mistake(
    "`%` gives what is left over. The length of a row is the quotient, `//`."
)
def what_is_left_over(num_tokens, batch_size, offset):
    return (num_tokens - offset - 1) % batch_size


@inputs_per_row.mistake(
    "the sign is taken away from a negative number. A stream that is too short has "
    "rows of 0 inputs."
)
def without_the_sign(num_tokens, batch_size, offset):
    return abs(num_tokens - 1 - offset) // batch_size


def _folds(random: Random) -> Iterator[Case]:
    for num_rows in (1, 2, 3, 4):
        for size in (0, 1, num_rows, num_rows + 1, 2 * num_rows - 1, 8, 11, 12):
            yield list(range(size)), num_rows
            yield [random.randrange(50) for _ in range(size)], num_rows
    yield [5, 6], 4
    yield [7, 7, 8], 5


@exercise(
    cases=_folds,
    hints=(
        "Each row is one piece of the text, without gaps. How long is it?",
        "The length is a floor division. Row 0 begins at id 0, row 1 one length later: "
        "where does row i begin, and where does it end?",
    ),
)
def fold(ids: list[int], num_rows: int) -> list[list[int]]:
    """Fold a stream into `num_rows` rows of equal length, each one piece of it."""
    length = len(ids) // num_rows
    return [ids[row * length : (row + 1) * length] for row in range(num_rows)]


@fold.mistake(
    "the ids are dealt out like cards. Neighbors in a row must be neighbors in the "
    "text."
)
def dealt_out(ids, num_rows):
    length = len(ids) // num_rows
    return [ids[row::num_rows][:length] for row in range(num_rows)]


@fold.mistake(
    "dealt out like cards, and not cut to one length. Neighbors in a row must be "
    "neighbors in the text."
)
def dealt_out_uncut(ids, num_rows):
    return [ids[row::num_rows] for row in range(num_rows)]


@fold.mistake(
    "the last row is longer than the others: what is over at the end is left out."
)
def keeps_the_rest(ids, num_rows):
    length = len(ids) // num_rows
    return [
        *(ids[row * length : (row + 1) * length] for row in range(num_rows - 1)),
        ids[(num_rows - 1) * length :],
    ]


@fold.mistake(
    "rows and columns are exchanged: these are pieces of `num_rows` ids each. You want "
    "`num_rows` pieces."
)
def transposed(ids, num_rows):
    length = len(ids) // num_rows
    return [ids[i * num_rows : (i + 1) * num_rows] for i in range(length)]


@fold.mistake(
    "rows and columns are exchanged in the shape: the array of rows has the shape "
    "(num_rows, length)."
)
def transposed_array(ids, num_rows):
    length = len(ids) // num_rows
    return np.array(ids[: num_rows * length], dtype=int).reshape(length, num_rows)


@fold.mistake(
    "rows and columns are exchanged, and the rest is kept: these are pieces of "
    "`num_rows` ids each. You want `num_rows` pieces."
)
def transposed_with_the_rest(ids, num_rows):
    return [ids[i : i + num_rows] for i in range(0, len(ids), num_rows)]


@fold.mistake("these are the right rows, but they stand in columns.")
def in_columns(ids, num_rows):
    rows = fold.reference(ids, num_rows)
    return [list(column) for column in zip(*rows, strict=True)]


@fold.mistake(
    "too many rows: what is over at the end became one of its own, or several."
)
def one_row_too_many(ids, num_rows):
    length = len(ids) // num_rows
    return [ids[i : i + length] for i in range(0, len(ids), length)]


@fold.mistake(
    "as many rows as fit. If as much as a row is over, or more, it still makes no "
    "further row: there are `num_rows` of them."
)
def as_many_as_fit(ids, num_rows):
    length = len(ids) // num_rows
    return [ids[i : i + length] for i in range(0, len(ids) - length + 1, length)]


@fold.mistake(
    "fewer ids than rows make rows of 0 ids, and a `range` cannot go in steps of 0. "
    "Count rows, not positions."
)
def steps_of_zero(ids, num_rows):
    length = len(ids) // num_rows
    return [ids[i : i + length] for i in range(0, num_rows * length, length)]


@fold.mistake("fewer ids than rows make `num_rows` empty rows, not no rows at all.")
def no_rows(ids, num_rows):
    return fold.reference(ids, num_rows) if len(ids) >= num_rows else []


@fold.mistake("rounded up: the last row is shorter, or empty. Rows have one length.")
def rounded_up_length(ids, num_rows):
    length = -(-len(ids) // num_rows)
    return [ids[row * length : (row + 1) * length] for row in range(num_rows)]


@fold.mistake(
    "one id is kept back for the last target. Here nothing is said of targets: you "
    "fold ids, all of them."
)
def one_kept_back(ids, num_rows):
    length = max(0, len(ids) - 1) // num_rows
    return [ids[row * length : (row + 1) * length] for row in range(num_rows)]


@fold.mistake("the stream is cut to length, but not folded: make a list for each row.")
def not_folded(ids, num_rows):
    return ids[: len(ids) // num_rows * num_rows]


@fold.mistake("each row is one id too long: it ends before the next one begins.")
def one_too_long(ids, num_rows):
    length = len(ids) // num_rows
    return [ids[row * length : (row + 1) * length + 1] for row in range(num_rows)]


@fold.mistake("each row is one id too short: a slice leaves out its end by itself.")
def one_too_short(ids, num_rows):
    return [row[:-1] for row in fold.reference(ids, num_rows)]


@fold.mistake("the last row is missing: `range` leaves out its end by itself.")
def without_the_last_row(ids, num_rows):
    return fold.reference(ids, num_rows)[:-1]


@fold.mistake("rows are counted from 0: the first piece of the text is missing.")
def rows_from_one(ids, num_rows):
    length = len(ids) // num_rows
    return [ids[row * length : (row + 1) * length] for row in range(1, num_rows + 1)]


@fold.mistake(
    "what is over is shared out among the first rows. Rows have one length: leave it "
    "out."
)
def rest_shared_out(ids, num_rows):
    return [piece.tolist() for piece in np.array_split(ids, num_rows)]


@fold.mistake("what is over is left out at the beginning. Leave it out at the end.")
def rest_at_the_beginning(ids, num_rows):
    return fold.reference(ids[len(ids) % num_rows :], num_rows)


@fold.mistake(
    "a slice leaves out its end by itself: with - 1 a row is one id too short. And in "
    "a row of 0 ids, an end of -1 counts from the end of the list."
)
def ends_with_minus_one(ids, num_rows):
    length = len(ids) // num_rows
    return [ids[i * length : (i + 1) * length - 1] for i in range(num_rows)]


@fold.mistake(
    "row i begins at i * length, not at i: these rows share nearly all of their ids."
)
def rows_begin_one_apart(ids, num_rows):
    length = len(ids) // num_rows
    return [ids[i : i + length] for i in range(num_rows)]


@fold.mistake("fewer ids than rows make `num_rows` empty rows, not a single one.")
def one_empty_row(ids, num_rows):
    return fold.reference(ids, num_rows) if len(ids) >= num_rows else [[]]


@fold.mistake(
    "with fewer ids than rows the length is 0, not 1: all rows are empty, so that all "
    "are equally long."
)
def at_least_one_id(ids, num_rows):
    length = max(1, len(ids) // num_rows)
    return [ids[i * length : (i + 1) * length] for i in range(num_rows)]


@fold.mistake(
    "where nothing is over, `[:-0]` is `[:0]` and cuts all ids off: count what stays, "
    "not what goes."
)
def cuts_all_off(ids, num_rows):
    return fold.reference(ids[: -(len(ids) % num_rows)], num_rows)


def _places(random: Random) -> Iterator[Case]:
    for num_steps in (1, 4):
        for length in (num_steps, 2 * num_steps + 1, 4 * num_steps):
            for row in (0, 1, 3):
                yield from (
                    (batch, row, num_steps, length, offset)
                    for batch in range(length // num_steps)
                    for offset in (0, 2)
                )


@exercise(
    cases=_places,
    hints=(
        "Walk there from the beginning of the stream: what do you pass on the way?",
        "First the offset, then all rows above, then the batches before this one, of "
        "this row alone. How many ids is each of the three?",
    ),
)
def start_in_stream(
    batch: int, row: int, num_steps: int, length: int, offset: int
) -> int:
    """Return where row `row` of batch `batch` starts in the stream."""
    return offset + row * length + batch * num_steps


@start_in_stream.mistake(
    "row and batch are exchanged. The next row is `length` ids on, the next batch only "
    "T."
)
def exchanged(batch, row, num_steps, length, offset):
    return offset + batch * length + row * num_steps


@start_in_stream.mistake(
    "row and batch are exchanged, and the offset is missing. The next row is `length` "
    "ids on, the next batch only T."
)
def exchanged_without_offset(batch, row, num_steps, length, offset):
    return batch * length + row * num_steps


@start_in_stream.mistake("the offset is missing.")
def without_offset(batch, row, num_steps, length, offset):
    return row * length + batch * num_steps


@start_in_stream.mistake("a batch moves every row on by T ids, not by one.")
def one_id_a_batch(batch, row, num_steps, length, offset):
    return offset + row * length + batch


@start_in_stream.mistake("a batch moves every row on by T ids: windows share no input.")
def one_more_a_batch(batch, row, num_steps, length, offset):
    return offset + row * length + batch * (num_steps + 1)


@start_in_stream.mistake(
    "rows are `length` apart: the remainder of each row stands between them."
)
def rows_without_remainder(batch, row, num_steps, length, offset):
    return offset + row * (length // num_steps * num_steps) + batch * num_steps


@start_in_stream.mistake(
    "rows are `length` apart. The last target of a row is the first id of the next: no "
    "id stands between them."
)
def one_target_between_rows(batch, row, num_steps, length, offset):
    return offset + row * (length + 1) + batch * num_steps


@start_in_stream.mistake("rows are `length` apart: they share no input.")
def rows_share_an_input(batch, row, num_steps, length, offset):
    return offset + row * (length - 1) + batch * num_steps


@start_in_stream.mistake("the next row is `length` ids on, not one.")
def rows_one_id_apart(batch, row, num_steps, length, offset):
    return offset + row + batch * num_steps


@start_in_stream.mistake(
    "rows are `length` apart, not T: between two rows stands all the text of the first."
)
def rows_close_together(batch, row, num_steps, length, offset):
    return offset + row * num_steps + batch * num_steps


@start_in_stream.mistake(
    "a batch moves a row on by T, not by `length`: it goes on where it ended."
)
def batches_far_apart(batch, row, num_steps, length, offset):
    return offset + row * length + batch * length


@start_in_stream.mistake(
    "a row is `length` ids long, whatever T is. Only batches go in steps of T."
)
def steps_of_both(batch, row, num_steps, length, offset):
    return offset + (row * length + batch) * num_steps


@start_in_stream.mistake(
    "the offset is skipped once, at the beginning, and not in every row."
)
def offset_in_every_row(batch, row, num_steps, length, offset):
    return offset + row * (length + offset) + batch * num_steps


@start_in_stream.mistake(
    "the offset is skipped once, before row 0, and row 0 already stands behind it."
)
def offset_by_row_only(batch, row, num_steps, length, offset):
    return row * (length + offset) + batch * num_steps


@start_in_stream.mistake("the rows above this one are missing.")
def rows_forgotten(batch, row, num_steps, length, offset):
    return offset + batch * num_steps


@start_in_stream.mistake("the batches before this one are missing.")
def batches_forgotten(batch, row, num_steps, length, offset):
    return offset + row * length


@start_in_stream.mistake("batches count from 0: batch 0 starts where its row does.")
def batches_from_one(batch, row, num_steps, length, offset):
    return offset + row * length + (batch - 1) * num_steps


@start_in_stream.mistake("rows count from 0: row 0 starts right behind the offset.")
def rows_from_one_here(batch, row, num_steps, length, offset):
    return offset + (row - 1) * length + batch * num_steps


@start_in_stream.mistake("rows and batches count from 0.")
def both_from_one(batch, row, num_steps, length, offset):
    return offset + (row - 1) * length + (batch - 1) * num_steps


@start_in_stream.mistake("that is where the window ends: it starts T ids before.")
def where_it_ends(batch, row, num_steps, length, offset):
    return offset + row * length + (batch + 1) * num_steps


@start_in_stream.mistake("one id too far: positions are counted from 0.")
def one_too_far(batch, row, num_steps, length, offset):
    return offset + row * length + batch * num_steps + 1


@start_in_stream.mistake("the offset is skipped, so starts move to the right by it.")
def offset_to_the_left(batch, row, num_steps, length, offset):
    return row * length + batch * num_steps - offset


@start_in_stream.mistake(
    "the offset is a number of ids, not of windows: it is not to be multiplied."
)
def offset_in_windows(batch, row, num_steps, length, offset):
    return offset * num_steps + row * length + batch * num_steps


@start_in_stream.mistake(
    "windows of a row share no id among their inputs: the next is T ids on, not T - 1."
)
def one_less_a_batch(batch, row, num_steps, length, offset):
    return offset + row * length + batch * (num_steps - 1)


@start_in_stream.mistake(
    "`length` is that of the rows behind the offset: nothing more is to be taken off."
)
def rows_shorter_by_the_offset(batch, row, num_steps, length, offset):
    return offset + row * (length - offset) + batch * num_steps


@start_in_stream.mistake(
    "rows are `length` apart: it is not rounded up to whole windows."
)
def rows_rounded_up(batch, row, num_steps, length, offset):
    return offset + row * (-(-length // num_steps) * num_steps) + batch * num_steps


@start_in_stream.mistake(
    "the offset is multiplied by the length, too: it is skipped once, in front of all "
    "rows."
)
def offset_as_a_row(batch, row, num_steps, length, offset):
    return (offset + row) * length + batch * num_steps


def _neighboring_batches(random: Random) -> Iterator[Case]:
    for num_rows in (1, 2, 3):
        for num_steps in (1, 2, 4):
            text = [
                random.sample(range(100), 2 * num_steps + 1) for _ in range(num_rows)
            ]
            X = [row[:num_steps] for row in text]
            Y = [row[1 : num_steps + 1] for row in text]
            following = [row[num_steps : 2 * num_steps] for row in text]
            yield X, Y, following
            for row in range(num_rows):  # one row alone is wrong, each in turn
                wrong = [list(other) for other in following]
                wrong[row][0] += 200
                yield X, Y, wrong
            if num_rows > 2:  # one row alone is right
                yield (
                    X,
                    Y,
                    [[i + 200 for i in row] for row in following[:-1]]
                    + [following[-1]],
                )
            for first in (X, Y, following):  # right ids, at the wrong places
                yield X, Y, [row[::-1] for row in first]
                yield X, Y, [[row[-1]] * num_steps for row in first]
            yield X, Y, X
            yield X, Y, Y
            for firsts in (
                [row[-1] for row in X],
                [row[-1] + 1 for row in X],
                [row[-1] + 1 for row in Y],
                [row[0] for row in Y],
            ):
                yield (
                    X,
                    Y,
                    [[i, *j[1:]] for i, j in zip(firsts, following, strict=True)],
                )
            if num_rows > 1:
                yield X, Y, following[1:] + following[:1]
                yield X, Y, following[::-1]
    yield [[0, 0], [0, 0]], [[0, 0], [0, 0]], [[0, 1], [0, 1]]
    yield [[0, 0], [0, 0]], [[0, 0], [0, 1]], [[0, 1], [0, 0]]
    # equal ids that are not one object: `is` will not do
    yield (
        [[i + 1000 for i in row] for row in X],
        [[i + 1000 for i in row] for row in Y],
        [[i + 1000 for i in row] for row in following],
    )
    # rows that also go on in one another, as in a text that repeats itself
    yield [[1, 2], [3, 4]], [[2, 3], [4, 5]], [[3, 5], [5, 7]]
    yield [[1, 2], [1, 2]], [[2, 3], [2, 3]], [[3, 9], [3, 8]]


@exercise(
    cases=_neighboring_batches,
    hints=(
        "The last target of a row is the token that comes next. Where must it stand "
        "in the next batch?",
        "Compare one id of each row of `following` with one id of the same row of `Y`, "
        "and ask for `all` of them.",
    ),
)
def continues(
    X: list[list[int]], Y: list[list[int]], following: list[list[int]]
) -> bool:
    """Return whether each row of `following` goes on where that row of (X, Y) ended."""
    return all(
        next_row[0] == row[-1] for next_row, row in zip(following, Y, strict=True)
    )


@continues.mistake(
    "compared with the last *input*. The next batch begins with the token after it: "
    "the last target."
)
def compares_inputs(X, Y, following):
    return all(
        next_row[0] == row[-1] for next_row, row in zip(following, X, strict=True)
    )


@continues.mistake(
    "the *last* id of the next inputs is compared. They go on with their first."
)
def last_with_last(X, Y, following):
    return all(
        next_row[-1] == row[-1] for next_row, row in zip(following, Y, strict=True)
    )


@continues.mistake(
    "first and last are exchanged: the next batch begins where this one *ended*."
)
def ends_exchanged(X, Y, following):
    return all(
        next_row[-1] == row[0] for next_row, row in zip(following, Y, strict=True)
    )


@continues.mistake(
    "compared with the *first* target. The batch ended with the last one."
)
def first_target(X, Y, following):
    return all(
        next_row[0] == row[0] for next_row, row in zip(following, Y, strict=True)
    )


@continues.mistake(
    "the next inputs are compared with the targets as a whole. Targets are inputs "
    "moved by one; the next inputs lie T further."
)
def equal_to_the_targets(X, Y, following):
    return following == Y


@continues.mistake("only the first row is compared.")
def first_row_only(X, Y, following):
    return following[0][0] == Y[0][-1]


@continues.mistake(
    "only the last row decides. (Is a result overwritten in each round of a loop?)"
)
def last_row_only(X, Y, following):
    return following[-1][0] == Y[-1][-1]


@continues.mistake(
    "the last *input* of the last row, and the first row of the next batch: compare "
    "the last target, and each row with the row of its own number."
)
def last_input_with_first_row(X, Y, following):
    return following[0][0] == X[-1][-1]


@continues.mistake("one row is enough for you; every row must go on.")
def any_row(X, Y, following):
    return any(
        next_row[0] == row[-1] for next_row, row in zip(following, Y, strict=True)
    )


@continues.mistake(
    "row i is compared with row i + 1: as if the rows of a batch were one text."
)
def next_row_instead(X, Y, following):
    return all(following[(i + 1) % len(Y)][0] == Y[i][-1] for i in range(len(Y)))


@continues.mistake(
    "row 0 of the next batch is compared with the last row of this one: as if the rows "
    "of a batch were one text."
)
def first_row_with_last_row(X, Y, following):
    return following[0][0] == Y[-1][-1]


@continues.mistake(
    "the ids are compared without regard to their rows: each row must go on in its own."
)
def without_rows(X, Y, following):
    return sorted(row[0] for row in following) == sorted(row[-1] for row in Y)


@continues.mistake(
    "the last target may stand anywhere in the next row for you: it must be its first."
)
def anywhere(X, Y, following):
    return all(row[-1] in next_row for next_row, row in zip(following, Y, strict=True))


@continues.mistake(
    "rows are taken for columns: the first *row* of `following` is compared, not the "
    "first id of each."
)
def columns(X, Y, following):
    return following[0] == Y[-1]


@continues.mistake(
    "that works on the integers 0, 1, 2, ... only: ids are no positions, and the next "
    "id is not one larger."
)
def one_larger(X, Y, following):
    return all(
        next_row[0] == row[-1] + 1 for next_row, row in zip(following, X, strict=True)
    )


@continues.mistake(
    "one larger than the last target: the last target *is* the next id, and ids are no "
    "positions."
)
def one_larger_than_target(X, Y, following):
    return all(
        next_row[0] == row[-1] + 1 for next_row, row in zip(following, Y, strict=True)
    )


@continues.mistake(
    "it is never `True`. Is a list compared with a number, or a row with an id?"
)
def never_true(X, Y, following):
    return False


@continues.mistake("it is always `True`: nothing is compared.")
def always_true(X, Y, following):
    return True


@continues.mistake("the wrong way round: True where a row does *not* go on.")
def wrong_way_round(X, Y, following):
    return not continues.reference(X, Y, following)


@continues.mistake(
    "row i of this batch is compared with row i + 1 of the next. Each row goes on in "
    "the row of the same number."
)
def one_row_further(X, Y, following):
    return all(Y[i][-1] == following[i + 1][0] for i in range(len(Y) - 1))


@continues.mistake("the last row is not compared: `range(n)` stops before n by itself.")
def all_but_the_last(X, Y, following):
    return all(Y[i][-1] == following[i][0] for i in range(len(Y) - 1))


@continues.mistake("the first row is not compared: rows are counted from 0.")
def all_but_the_first(X, Y, following):
    return all(Y[i][-1] == following[i][0] for i in range(1, len(Y)))


@continues.mistake(
    "as many rows are compared as a row has ids, len(X[0]). There are len(X) of them."
)
def as_many_as_ids(X, Y, following):
    return all(Y[i][-1] == following[i][0] for i in range(len(X[0])))


@continues.mistake("it is enough for you if most of the rows go on; every row must.")
def most_of_the_rows(X, Y, following):
    firsts = [row[0] for row in following]
    return 2 * sum(y[-1] == first for y, first in zip(Y, firsts, strict=True)) >= len(Y)


@continues.mistake(
    "`is` asks whether both are one object. Equal ids need not be: compare with `==`."
)
def one_object(X, Y, following):
    return all(y[-1] is row[0] for y, row in zip(Y, following, strict=True))


def _predictions(random: Random) -> Iterator[Case]:
    for num_steps in (1, 4, 7, 16):
        for batch in (0, 1, 2, 5):
            for position in sorted({0, 1, num_steps // 2, num_steps - 1}):
                if position < num_steps:
                    yield from (
                        (batch, position, num_steps, carried)
                        for carried in (True, False)
                    )


@exercise(
    cases=_predictions,
    hints=(
        "A carried state has read everything in its row so far. A gradient stops "
        "where the state was detached.",
        "Inside its own window, how many inputs does position 0 see, how many "
        "position 1? Then add what lies in the batches before, to the one number that "
        "can know of it.",
    ),
)
def reach(batch: int, position: int, num_steps: int, carried: bool) -> tuple[int, int]:
    """Return how many inputs of its row a prediction sees, and how many its gradient
    reaches."""
    inside = position + 1
    return (batch * num_steps + inside if carried else inside), inside


@reach.mistake(
    "the gradient crosses windows too. `detach` is there to stop it: values cross, "
    "gradients don't."
)
def gradient_crosses(batch, position, num_steps, carried):
    seen, _ = reach.reference(batch, position, num_steps, carried)
    return seen, seen


@reach.mistake(
    "the gradient crosses windows even without a carried state: it never leaves the "
    "window."
)
def gradient_always_crosses(batch, position, num_steps, carried):
    seen, inside = reach.reference(batch, position, num_steps, carried)
    return seen, batch * num_steps + inside


@reach.mistake(
    "all batches before count in both numbers. Without a carried state none of them is "
    "seen, and no gradient ever crosses."
)
def everything_crosses(batch, position, num_steps, carried):
    return (batch * num_steps + position + 1,) * 2


@reach.mistake(
    "the gradient goes back through the whole window: to all its inputs up to "
    "`position`, not to the last one alone."
)
def one_gradient(batch, position, num_steps, carried):
    return reach.reference(batch, position, num_steps, carried)[0], 1


@reach.mistake(
    "an off-by-one, as the input at `position` itself is seen too; and the gradient "
    "crosses windows: values cross, gradients don't."
)
def crosses_without_itself(batch, position, num_steps, carried):
    seen, _ = reach.reference(batch, position, num_steps, carried)
    return seen - 1, seen - 1


@reach.mistake(
    "`detach` cuts the gradient where the window begins, not inside it: it reaches "
    "the inputs of its own window."
)
def no_gradient(batch, position, num_steps, carried):
    return reach.reference(batch, position, num_steps, carried)[0], 0


@reach.mistake(
    "a carried state does not stop the gradient inside the window: it reaches as far "
    "as without."
)
def no_gradient_if_carried(batch, position, num_steps, carried):
    seen, inside = reach.reference(batch, position, num_steps, carried)
    return seen, 0 if carried else inside


@reach.mistake(
    "resetting the state does not stop the gradient inside the window: it reaches as "
    "far as with a carried one."
)
def no_gradient_if_reset(batch, position, num_steps, carried):
    seen, inside = reach.reference(batch, position, num_steps, carried)
    return seen, inside if carried else 0


@reach.mistake("an off-by-one: the input at `position` itself is seen too.")
def without_itself(batch, position, num_steps, carried):
    return (batch * num_steps + position if carried else position), position


@reach.mistake(
    "the first number is off by one: the input at `position` itself is seen too."
)
def sees_one_less(batch, position, num_steps, carried):
    seen, inside = reach.reference(batch, position, num_steps, carried)
    return seen - 1, inside


@reach.mistake(
    "the second number is off by one: the input at `position` itself gets a gradient "
    "too."
)
def one_gradient_less(batch, position, num_steps, carried):
    seen, inside = reach.reference(batch, position, num_steps, carried)
    return seen, inside - 1


@reach.mistake("one too many: positions count from 0, so position 0 sees one input.")
def one_too_many_each(batch, position, num_steps, carried):
    seen, inside = reach.reference(batch, position, num_steps, carried)
    return seen + 1, inside + 1


@reach.mistake(
    "batches count from 0: before batch 1 lies one batch. Here there is one too many."
)
def batches_from_one_seen(batch, position, num_steps, carried):
    seen, inside = reach.reference(batch, position, num_steps, carried)
    return seen + (num_steps if carried else 0), inside


@reach.mistake(
    "batches count from 0: before batch 1 lies one batch. Here there is one too few."
)
def one_batch_too_few(batch, position, num_steps, carried):
    seen, inside = reach.reference(batch, position, num_steps, carried)
    return seen - (num_steps if carried else 0), inside


@reach.mistake("a batch before adds T inputs to a row, not one.")
def one_input_a_batch(batch, position, num_steps, carried):
    inside = position + 1
    return (batch + inside if carried else inside), inside


@reach.mistake("the state is carried, so the batches before count.")
def forgets_the_past(batch, position, num_steps, carried):
    return position + 1, position + 1


@reach.mistake(
    "without carrying, each window begins with an empty state: nothing of the batches "
    "before is seen."
)
def always_carried(batch, position, num_steps, carried):
    return batch * num_steps + position + 1, position + 1


@reach.mistake(
    "without a carried state a window is still read: its own inputs are seen, and get "
    "a gradient."
)
def nothing_without_carrying(batch, position, num_steps, carried):
    return reach.reference(batch, position, num_steps, True) if carried else (0, 0)


@reach.mistake("carried and not carried are exchanged.")
def carried_exchanged(batch, position, num_steps, carried):
    return reach.reference(batch, position, num_steps, not carried)


@reach.mistake(
    "the pair is the wrong way round: first what is seen, then what gets the gradient."
)
def swapped(batch, position, num_steps, carried):
    return reach.reference(batch, position, num_steps, carried)[::-1]


@reach.mistake(
    "the model is causal: the gradient does not reach inputs of the window behind "
    "`position`."
)
def whole_window(batch, position, num_steps, carried):
    return reach.reference(batch, position, num_steps, carried)[0], num_steps


@reach.mistake(
    "the model is causal: inputs of the window behind `position` count for neither."
)
def whole_windows(batch, position, num_steps, carried):
    return ((batch + 1) * num_steps if carried else num_steps), num_steps


@reach.mistake(
    "the model is causal: inputs of the window behind `position` are not seen."
)
def sees_whole_windows(batch, position, num_steps, carried):
    return ((batch + 1) * num_steps if carried else num_steps), position + 1


@reach.mistake(
    "the gradient goes back from `position` to the beginning of the window, not on to "
    "its end."
)
def gradient_forward(batch, position, num_steps, carried):
    seen, _ = reach.reference(batch, position, num_steps, carried)
    return seen, num_steps - position


@reach.mistake(
    "a carried state holds *all* batches of the epoch before, not only the last one."
)
def one_batch_back(batch, position, num_steps, carried):
    return (min(batch, 1) * num_steps if carried else 0) + position + 1, position + 1


@reach.mistake("the first number counts the window too: with the batches before it.")
def only_the_past(batch, position, num_steps, carried):
    return (batch * num_steps if carried else position + 1), position + 1


@reach.mistake(
    "with a carried state too, the gradient ends at `position`: the rest of the window "
    "lies behind it."
)
def whole_window_if_carried(batch, position, num_steps, carried):
    seen, gradient = reach.reference(batch, position, num_steps, carried)
    return seen, num_steps if carried else gradient


@reach.mistake(
    "a batch before adds T inputs to a row, not T + 1: its last target is the first "
    "input of the next."
)
def one_more_a_batch_before(batch, position, num_steps, carried):
    seen, gradient = reach.reference(batch, position, num_steps, carried)
    return seen + batch if carried else seen, gradient


@reach.mistake(
    "the gradient does not go T inputs back from everywhere: it ends where the window "
    "begins, since the state is detached there."
)
def always_t_back(batch, position, num_steps, carried):
    seen, gradient = reach.reference(batch, position, num_steps, carried)
    return seen, min(num_steps, seen) if carried else gradient


@reach.mistake("batches count from 0: before batch b lie b of them, and not b - 1.")
def one_batch_too_few_from_the_second(batch, position, num_steps, carried):
    before = max(0, batch - 1) * num_steps if carried else 0
    return before + position + 1, position + 1


@reach.mistake(
    "without a carried state too, a prediction sees its window up to `position` only, "
    "and not all of its T inputs."
)
def whole_window_if_reset(batch, position, num_steps, carried):
    right = reach.reference(batch, position, num_steps, carried)
    return right if carried else (num_steps, num_steps)


def _partitions(random: Random) -> Iterator[Case]:
    yield from ((3, 2, 4, 4), (0, 1, 1, 0), (0, 3, 4, 1), (1, 2, 5, 5), (5, 3, 4, 4))
    for batch_size in (1, 2, 3):
        for num_steps in (1, 4):
            for offset in sorted({0, 1, num_steps}):
                first = batch_size * num_steps + num_steps + 1
                yield from (
                    (n, batch_size, num_steps, offset)
                    for n in (first - 1, first, first + 1, 35, 50, 64)
                )


@exercise(
    cases=_partitions,
    hints=(
        "How many predictions does an epoch make? Each token is a target at most once.",
        "An epoch makes (number of batches) · B · T predictions. How many batches does "
        "a row give, and what if the stream is too short for a row?",
    ),
)
def never_a_target(
    num_tokens: int, batch_size: int, num_steps: int, offset: int
) -> int:
    """Return how many of the stream's tokens are no target in an epoch."""
    length = max(0, (num_tokens - offset - 1) // batch_size)
    return num_tokens - batch_size * (length // num_steps) * num_steps


def _of_what_is_left(diagnosis: str) -> Callable[[Callable], Callable]:
    """Register a wrong formula of what is left behind the offset and the last target
    twice: left is at least 0, or may be below."""

    def register(formula: Callable) -> Callable:
        def cut_off(num_tokens, batch_size, num_steps, offset):
            left = max(0, num_tokens - offset - 1)
            return formula(num_tokens, batch_size, num_steps, offset, left)

        def below_zero(num_tokens, batch_size, num_steps, offset):
            left = num_tokens - offset - 1
            return formula(num_tokens, batch_size, num_steps, offset, left)

        cut_off.__name__ = formula.__name__
        below_zero.__name__ = f"{formula.__name__}_below_zero"
        never_a_target.mistake(diagnosis)(cut_off)
        never_a_target.mistake(
            f"{diagnosis} And where the stream is too short, nothing is left to fold: "
            "0 ids, not fewer."
        )(below_zero)
        return formula

    return register


@never_a_target.mistake(
    "more tokens than there are: where nothing is left to fold, // rounds down below "
    "0, and a row has 0 inputs."
)
def rows_below_zero(num_tokens, batch_size, num_steps, offset):
    length = (num_tokens - offset - 1) // batch_size
    return num_tokens - batch_size * (length // num_steps) * num_steps


@never_a_target.mistake(
    "`a * b // c` multiplies first: so the remainders of all rows are put together "
    "before they are divided. Each row drops a remainder of its own."
)
def multiplied_before_divided(num_tokens, batch_size, num_steps, offset):
    length = max(0, (num_tokens - offset - 1) // batch_size)
    return num_tokens - batch_size * length // num_steps * num_steps


@never_a_target.mistake(
    "where the stream is too short for a batch, all its tokens are no target: N, not 0."
)
def none_of_none(num_tokens, batch_size, num_steps, offset):
    found = never_a_target.reference(num_tokens, batch_size, num_steps, offset)
    return found if found < num_tokens else 0


@_of_what_is_left(
    "each row has a remainder of its own, shorter than T: it is dropped in every row."
)
def forgets_row_remainders(num_tokens, batch_size, num_steps, offset, left):
    return num_tokens - batch_size * (left // batch_size)


@_of_what_is_left(
    "only the rows' remainders are counted. The offset is no target either, nor the "
    "first input, nor what does not fill all rows."
)
def only_row_remainders(num_tokens, batch_size, num_steps, offset, left):
    return batch_size * (left // batch_size % num_steps)


@_of_what_is_left("the offset and the very first input are no targets either.")
def only_remainders(num_tokens, batch_size, num_steps, offset, left):
    return left % (batch_size * num_steps)


@_of_what_is_left("the very first input is no target either.")
def first_input_forgotten(num_tokens, batch_size, num_steps, offset, left):
    return offset + left % (batch_size * num_steps)


@_of_what_is_left("the tokens that the offset skips are no targets either.")
def skipped_forgotten(num_tokens, batch_size, num_steps, offset, left):
    return 1 + left % (batch_size * num_steps)


@_of_what_is_left(
    "what does not go round when the rows are cut, up to B - 1 ids behind the last "
    "row, is no target either."
)
def rest_of_the_rows_forgotten(num_tokens, batch_size, num_steps, offset, left):
    return offset + 1 + batch_size * (left // batch_size % num_steps)


@_of_what_is_left(
    "neither the very first input nor what does not go round when the rows are cut, up "
    "to B - 1 ids behind the last row, is a target."
)
def offset_and_row_remainders(num_tokens, batch_size, num_steps, offset, left):
    return offset + batch_size * (left // batch_size % num_steps)


@_of_what_is_left("that is the number of targets: you want the others.")
def counts_targets(num_tokens, batch_size, num_steps, offset, left):
    return batch_size * (left // batch_size // num_steps) * num_steps


@_of_what_is_left("the remainder of one row only: there are B of them.")
def one_remainder(num_tokens, batch_size, num_steps, offset, left):
    length = left // batch_size
    return num_tokens - batch_size * length + length % num_steps


@_of_what_is_left("a batch has B rows: the targets of one row only are counted.")
def one_row(num_tokens, batch_size, num_steps, offset, left):
    return num_tokens - left // batch_size // num_steps * num_steps


@_of_what_is_left("a batch makes B · T predictions, not B.")
def windows_for_targets(num_tokens, batch_size, num_steps, offset, left):
    return num_tokens - batch_size * (left // batch_size // num_steps)


@_of_what_is_left("a batch makes B · T predictions, not one.")
def batches_for_targets(num_tokens, batch_size, num_steps, offset, left):
    return num_tokens - left // batch_size // num_steps


@_of_what_is_left("the rows are cut behind the offset: take it off first.")
def offset_forgotten(num_tokens, batch_size, num_steps, offset, left):
    length = (left + offset) // batch_size
    return num_tokens - batch_size * (length // num_steps) * num_steps


@never_a_target.mistake("one id is kept for the last target before the rows are cut.")
def rows_cut_too_late(num_tokens, batch_size, num_steps, offset):
    length = max(0, num_tokens - offset) // batch_size
    return num_tokens - batch_size * (length // num_steps) * num_steps


@never_a_target.mistake(
    "one id is kept for the last target before the rows are cut. And where the stream "
    "ends inside the offset, nothing is left to fold: 0 ids, not fewer."
)
def rows_cut_too_late_below_zero(num_tokens, batch_size, num_steps, offset):
    length = (num_tokens - offset) // batch_size
    return num_tokens - batch_size * (length // num_steps) * num_steps


@never_a_target.mistake(
    "neither the offset nor the last target is taken off before the rows are cut."
)
def nothing_taken_off(num_tokens, batch_size, num_steps, offset):
    length = num_tokens // batch_size
    return num_tokens - batch_size * (length // num_steps) * num_steps


@_of_what_is_left(
    "each row's first input is counted as no target. It is the target of the last "
    "input of the row before, if that row has no remainder, and counted already if it "
    "has one."
)
def first_inputs_counted(num_tokens, batch_size, num_steps, offset, left):
    targets = batch_size * (left // batch_size // num_steps) * num_steps
    return num_tokens - targets + (batch_size - 1 if targets else 0)


@_of_what_is_left(
    "a first input is counted for each row, and what does not fill all rows is not. "
    "The first input of a row is the target of the last input of the row before."
)
def first_inputs_and_remainders(num_tokens, batch_size, num_steps, offset, left):
    return offset + batch_size + batch_size * (left // batch_size % num_steps)


@never_a_target.mistake(
    "more tokens than there are: where the stream ends inside the offset, all its "
    "tokens are no target, and there are N of them."
)
def offset_beyond_the_end(num_tokens, batch_size, num_steps, offset):
    left = max(0, num_tokens - offset - 1)
    return offset + 1 + left % (batch_size * num_steps)


@never_a_target.mistake(
    "the first inputs of rows are counted as dropped. The first input of a row is the "
    "last target of the row above: only that of row 0 is none."
)
def first_input_of_each_row(num_tokens, batch_size, num_steps, offset):
    right = never_a_target.reference(num_tokens, batch_size, num_steps, offset)
    return right + batch_size - 1


@never_a_target.mistake(
    "one id of each row is kept back for its last target. A row finds it in the first "
    "id of the next; only the last row needs one id more."
)
def one_id_of_each_row(num_tokens, batch_size, num_steps, offset):
    length = max(0, (num_tokens - offset) // batch_size - 1)
    return num_tokens - length // num_steps * num_steps * batch_size


@never_a_target.mistake(
    "a batch that is only begun is counted: what is left of a row behind its last "
    "whole window is in none."
)
def begun_batches(num_tokens, batch_size, num_steps, offset):
    length = max(0, num_tokens - offset - 1) // batch_size
    return num_tokens - -(-length // num_steps) * num_steps * batch_size


@never_a_target.mistake(
    "windows of a row begin T apart, not T + 1: the last target of one is the first "
    "input of the next."
)
def windows_of_one_more(num_tokens, batch_size, num_steps, offset):
    length = max(0, num_tokens - offset) // batch_size
    return num_tokens - length // (num_steps + 1) * num_steps * batch_size


@never_a_target.mistake("a window of T inputs has T targets, not T - 1.")
def one_target_less_a_window(num_tokens, batch_size, num_steps, offset):
    length = max(0, num_tokens - offset - 1) // batch_size
    return num_tokens - length // num_steps * (num_steps - 1) * batch_size


@never_a_target.mistake(
    "the skipped ids are taken off, though they are no targets either: count them with "
    "the others."
)
def skipped_ids_taken_off(num_tokens, batch_size, num_steps, offset):
    right = never_a_target.reference(num_tokens, batch_size, num_steps, offset)
    return right - offset


@never_a_target.mistake(
    "those are the tokens that are never *used*. The first inputs of rows can be used "
    "as inputs and still be no targets."
)
def never_used(num_tokens, batch_size, num_steps, offset):
    starts = partition_starts(num_tokens, batch_size, num_steps, offset).ravel()
    used = {start + step for start in starts for step in range(num_steps + 1)}
    return num_tokens - len(used)


@never_a_target.mistake(
    "the first input of each row is counted as well. It is the last target of the row "
    "before: only that of row 0 is none."
)
def first_of_each_row(num_tokens, batch_size, num_steps, offset):
    none = never_a_target.reference(num_tokens, batch_size, num_steps, offset)
    return none + batch_size


@never_a_target.mistake(
    "windows of T are cut from the stream as a whole, as in random sampling. Here it "
    "is cut into rows first, and each has a remainder of its own."
)
def as_random_sampling_cuts(num_tokens, batch_size, num_steps, offset):
    return num_tokens - max(0, num_tokens - 1 - offset) // num_steps * num_steps


@never_a_target.mistake(
    "the remainder of a row counts as a whole batch. Shorter than T, it is dropped."
)
def remainder_as_a_batch(num_tokens, batch_size, num_steps, offset):
    length = max(0, num_tokens - 1 - offset) // batch_size
    targets = -(-length // num_steps) * num_steps * batch_size
    return max(0, num_tokens - targets)


def columns_of_text(ids: list[int], num_rows: int) -> list[list[int]]:
    rows = fold.reference(ids, num_rows)
    return [list(column) for column in zip(*rows, strict=True)]


@bug_or_not(
    purpose=(
        "Return the stream as a table for a model that reads time first: `num_rows` "
        "columns of equal length, each one piece of the text, read downwards."
    ),
    reference=columns_of_text,
    cases=_folds,
    explanation=(
        "Folded into rows first, then turned: each column is one piece of the text. "
        "The language model among PyTorch's examples folds just so, with "
        "`view(B, -1).t()`. The bug would be the shortcut to the same shape, "
        "`reshape(length, num_rows)`: it deals the text out like cards, and a state "
        "would remember nonsense."
    ),
)
def time_first(ids: list[int], num_rows: int) -> list[list[int]]:
    length = len(ids) // num_rows
    rows = np.array(ids[: num_rows * length], dtype=int).reshape(num_rows, length)
    return rows.T.tolist()


def _corpora(random: Random) -> Iterator[Case]:
    for batch_size in (1, 2, 3, 7):
        for num_steps in (1, 2, 5):
            first = (batch_size + 1) * num_steps + 1
            yield from (
                (num_tokens, batch_size, num_steps)
                for num_tokens in (first, first + 1, first + 9)
            )


def stays_inside(num_tokens: int, batch_size: int, num_steps: int) -> bool:
    return True


@bug_or_not(
    purpose=(
        "Cut rows that end inside the stream, at every offset that can be drawn, the "
        "largest one included. It returns whether the last target of the last row "
        "does: that must be True for every stream that has room for a batch."
    ),
    reference=stays_inside,
    cases=_corpora,
    explanation=(
        "The rows are measured before the offset is skipped. At offset 0 all is "
        "right; at larger ones the last row may run over the end of the stream, where "
        "a slice comes out short without a word, and a reshape fails."
    ),
)
def rows_measured_first(num_tokens: int, batch_size: int, num_steps: int) -> bool:
    length = (num_tokens - 1) // batch_size
    offset = num_steps  # the largest that can be drawn
    last_target = offset + batch_size * length
    return last_target <= num_tokens - 1


@bug_or_not(
    purpose=(
        "The same, in a loader that draws its offset with Python's "
        "`random.randint(0, num_steps)`, which includes both ends."
    ),
    reference=stays_inside,
    cases=_corpora,
    explanation=(
        "The rows are cut from what is left *behind* the offset, so even the largest "
        "one leaves room for all targets. It is still a waste: with one row, an "
        "offset of T makes the cuts of offset 0."
    ),
)
def largest_closed_offset(num_tokens: int, batch_size: int, num_steps: int) -> bool:
    offset = num_steps  # randint can return it
    length = (num_tokens - offset - 1) // batch_size
    last_target = offset + batch_size * length
    return last_target <= num_tokens - 1


def _batch_shapes(random: Random) -> Iterator[Case]:
    yield from (
        (batch_size, num_steps) for batch_size in (1, 2, 4) for num_steps in (1, 3)
    )


def second_batch_in_order(batch_size: int, num_steps: int) -> list[int]:
    windows = np.arange(2 * batch_size) * num_steps
    return windows.reshape(2, batch_size)[1].tolist()


@true_or_false(
    claim=(
        "To carry a state from batch to batch it is enough to take the windows in the "
        "order of the text, stride T, B at a time: `DataLoader(windows, batch_size, "
        "shuffle=False)`. Then each row of batch 1 goes on where it ended in batch 0."
    ),
    reference=second_batch_in_order,
    cases=_batch_shapes,
    explanation=(
        "Only with a single row. Taken in order, the rows of one batch follow one "
        "another, and row i of batch 1 begins B windows behind row i of batch 0, not "
        "one: a carried state meets another place of the text. The stream must be "
        "folded into rows first."
    ),
)
def order_is_enough(batch_size: int, num_steps: int) -> list[int]:
    first_batch = range(0, batch_size * num_steps, num_steps)
    return [start + num_steps for start in first_batch]


def _both_schemes(random: Random) -> Iterator[Case]:
    for batch_size in (1, 2, 3, 5):
        for num_steps in (1, 4, 6):
            yield from (
                (num_tokens, batch_size, num_steps, offset)
                for num_tokens in (1, 9, 30, 31, 64, 100)
                for offset in sorted({0, 1, num_steps - 1})
            )


def sequential_batches(
    num_tokens: int, batch_size: int, num_steps: int, offset: int
) -> int:
    return len(partition_starts(num_tokens, batch_size, num_steps, offset))


@true_or_false(
    claim=(
        "At the same offset, sequential partitioning makes as many batches as random "
        "sampling does, although each of its B rows drops a remainder, and random "
        "sampling drops but one tail."
    ),
    reference=sequential_batches,
    cases=_both_schemes,
    explanation=(
        "With n = N - offset - 1, one scheme makes n // B // T batches and the other "
        "n // T // B, and both are n // (B · T). What the one drops in B remainders, "
        "the other drops in its last batch, which is not full."
    ),
)
def equally_many_batches(
    num_tokens: int, batch_size: int, num_steps: int, offset: int
) -> int:
    return count_subsequences(num_tokens, num_steps, offset) // batch_size


# With other numbers by seed.


@numbers(
    ask="A stream of {num_tokens:,} ids, B = {batch_size}, T = {num_steps}, offset "
    "{offset}. At which id of the stream does row {row} of batch {batch} start? Rows "
    "and batches count from 0.",
    draw=lambda rng: {
        "num_tokens": rng.randrange(4_000, 9_000),
        "batch_size": (batch_size := rng.randrange(4, 9)),
        "num_steps": (num_steps := rng.randrange(12, 33)),
        "offset": rng.randrange(1, num_steps),
        "row": rng.randrange(1, batch_size),
        "batch": rng.randrange(1, 12),
    },
    hints=(
        "How long is a row, if each is one piece of the stream, and the last target "
        "needs one id more?",
        "The offset, then whole rows, then whole windows.",
    ),
)
def start_of_row(
    num_tokens: int, batch_size: int, num_steps: int, offset: int, row: int, batch: int
) -> int:
    length = (num_tokens - offset - 1) // batch_size
    return offset + row * length + batch * num_steps


@start_of_row.mistake("the offset is forgotten: the first row starts there.")
def start_without_offset(num_tokens, batch_size, num_steps, offset, row, batch):
    return (
        start_of_row.reference(num_tokens, batch_size, num_steps, offset, row, batch)
        - offset
    )


@start_of_row.mistake("row and batch are exchanged.")
def row_for_batch(num_tokens, batch_size, num_steps, offset, row, batch):
    return start_of_row.reference(num_tokens, batch_size, num_steps, offset, batch, row)


@start_of_row.mistake(
    "windows dealt out one after the other. Then no row goes on where it ended."
)
def windows_in_turn(num_tokens, batch_size, num_steps, offset, row, batch):
    return offset + (batch * batch_size + row) * num_steps


@start_of_row.mistake(
    "rows of `N // B` ids: the offset and one id more come off first."
)
def rows_of_all_ids(num_tokens, batch_size, num_steps, offset, row, batch):
    return offset + row * (num_tokens // batch_size) + batch * num_steps


@numbers(
    ask="A stream of {num_tokens:,} ids, B = {batch_size}, T = {num_steps}, offset "
    "{offset}. How many of its ids are no target in this epoch?",
    draw=lambda rng: {
        "num_tokens": rng.randrange(3_000, 9_000),
        "batch_size": rng.randrange(4, 13),
        "num_steps": (num_steps := rng.randrange(20, 65)),
        "offset": rng.randrange(1, num_steps),
    },
    hints=("How many targets has a row? Count those of all rows, and take them off.",),
)
def ids_without_turn(
    num_tokens: int, batch_size: int, num_steps: int, offset: int
) -> int:
    length = (num_tokens - offset - 1) // batch_size
    return num_tokens - batch_size * (length // num_steps) * num_steps


@ids_without_turn.mistake(
    "without the rows' remainders: a row that is no multiple of T loses its end."
)
def no_remainders(num_tokens, batch_size, num_steps, offset):
    return num_tokens - batch_size * ((num_tokens - offset - 1) // batch_size)


@ids_without_turn.mistake("only one row's targets are taken off.")
def one_row_alone(num_tokens, batch_size, num_steps, offset):
    length = (num_tokens - offset - 1) // batch_size
    return num_tokens - length // num_steps * num_steps


@ids_without_turn.mistake("those that *are* a target.")
def ids_with_turn(num_tokens, batch_size, num_steps, offset):
    return num_tokens - ids_without_turn.reference(
        num_tokens, batch_size, num_steps, offset
    )


@numbers(
    ask="T = {num_steps}, and the state is carried from batch to batch. How many "
    "inputs of its row does the prediction at place {place} of batch {batch} rest on? "
    "Places and batches count from 0.",
    draw=lambda rng: {
        "num_steps": (num_steps := rng.randrange(8, 65)),
        "place": rng.randrange(1, num_steps - 1),
        "batch": rng.randrange(3, 30),
    },
    hints=("All batches before, and this one up to the place, the place included.",),
)
def inputs_seen(num_steps: int, place: int, batch: int) -> int:
    return batch * num_steps + place + 1


@inputs_seen.mistake(
    "as far as the *gradient* reaches. The state knows the batches before, too."
)
def within_the_window(num_steps, place, batch):
    return place + 1


@inputs_seen.mistake("one too few: the input at the place itself is seen.")
def without_its_own(num_steps, place, batch):
    return batch * num_steps + place


@inputs_seen.mistake("a batch too many: batches count from 0.")
def a_batch_too_many(num_steps, place, batch):
    return (batch + 1) * num_steps + place + 1
