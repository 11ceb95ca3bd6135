"""Exercises of lesson 04: rows, continuations, and how far a state and its gradient
reach."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from course_lib.teaching import Case, bug_or_not, exercise


def _streams(random: Random) -> Iterator[Case]:
    for batch_size in (1, 2, 3):
        for offset in (0, 1, 4):
            yield from (
                (num_tokens, batch_size, offset)
                for num_tokens in (0, 1, 2, 6, 7, 10, 13, 35)
            )


@exercise(
    cases=_streams,
    hints=(
        "Behind the offset, one id is only a target. The rest is dealt out to B rows "
        "of equal length.",
        "(N - offset - 1) // B, but never below 0.",
    ),
)
def inputs_per_row(num_tokens: int, batch_size: int, offset: int) -> int:
    """Return how many inputs each of `batch_size` equally long rows has; 0 if the
    stream is too short."""
    return max(0, (num_tokens - offset - 1) // batch_size)


@inputs_per_row.mistake(
    "the last target. The last row needs one id behind its last input."
)
def forgets_the_last_target(num_tokens, batch_size, offset):
    return max(0, (num_tokens - offset) // batch_size)


@inputs_per_row.mistake(
    "one target for each row is kept back. A row finds its last target in the first "
    "id of the next."
)
def one_target_each(num_tokens, batch_size, offset):
    return max(0, (num_tokens - offset) // batch_size - 1)


@inputs_per_row.mistake(
    "the offset is not taken off before the rows are cut: they would overrun the "
    "stream."
)
def ignores_the_offset(num_tokens, batch_size, offset):
    return max(0, (num_tokens - 1) // batch_size)


@inputs_per_row.mistake(
    "that is the number of inputs of all rows together: divide by the number of rows."
)
def all_rows(num_tokens, batch_size, offset):
    return max(0, (num_tokens - offset - 1) // batch_size * batch_size)


@inputs_per_row.mistake(
    "a stream that is too short has rows of 0 inputs, not fewer: // rounds down."
)
def negative_rows(num_tokens, batch_size, offset):
    return (num_tokens - offset - 1) // batch_size


def _folds(random: Random) -> Iterator[Case]:
    for num_rows in (1, 2, 3, 4):
        for size in (num_rows, num_rows + 1, 8, 11):
            yield list(range(size)), num_rows
            yield [random.randrange(50) for _ in range(size)], num_rows


@exercise(
    cases=_folds,
    hints=(
        "Each row is one piece of the text, without gaps.",
        "Row i is `ids[i * length : (i + 1) * length]`, with length = len(ids) // "
        "num_rows.",
    ),
)
def fold(ids: list[int], num_rows: int) -> list[list[int]]:
    """Fold a stream into rows of equal length, each one piece of it; leave out what is
    over at the end."""
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
    "the last row is longer than the others: what is over at the end is left out."
)
def keeps_the_rest(ids, num_rows):
    length = len(ids) // num_rows
    return [
        *(ids[row * length : (row + 1) * length] for row in range(num_rows - 1)),
        ids[(num_rows - 1) * length :],
    ]


@fold.mistake("rows and columns are exchanged: pieces of `num_rows` ids each.")
def transposed(ids, num_rows):
    length = len(ids) // num_rows
    return [ids[i * num_rows : (i + 1) * num_rows] for i in range(length)]


@fold.mistake("one row too many: what is over at the end became a row of its own.")
def one_row_too_many(ids, num_rows):
    length = len(ids) // num_rows
    return [ids[i : i + length] for i in range(0, len(ids), length)]


@fold.mistake(
    "dealt out like cards, and not cut to one length. Neighbors in a row must be "
    "neighbors in the text."
)
def dealt_out_uncut(ids, num_rows):
    return [ids[row::num_rows] for row in range(num_rows)]


def _places(random: Random) -> Iterator[Case]:
    for num_steps in (1, 3, 5):
        for length in (num_steps, 2 * num_steps + 1, 4 * num_steps):
            for row in (0, 1, 3):
                yield from (
                    (batch, row, num_steps, length, offset)
                    for batch in range(length // num_steps)
                    for offset in (0, 1, num_steps)
                )


@exercise(
    cases=_places,
    hints=(
        "Walk: skip the offset, then whole rows, then whole batches of this row.",
        "offset + row * length + batch * num_steps",
    ),
)
def start_in_stream(
    batch: int, row: int, num_steps: int, length: int, offset: int
) -> int:
    """Return where row `row` of batch `batch` starts in the stream; rows are `length`
    ids long."""
    return offset + row * length + batch * num_steps


@start_in_stream.mistake(
    "the rows follow one another inside a batch. That is how other loaders cut, but "
    "no batch would continue."
)
def rows_inside_batches(batch, row, num_steps, length, offset):
    return offset + batch * length + row * num_steps


@start_in_stream.mistake("the offset is missing.")
def without_offset(batch, row, num_steps, length, offset):
    return row * length + batch * num_steps


@start_in_stream.mistake("a batch moves every row on by T ids, not by one.")
def one_id_a_batch(batch, row, num_steps, length, offset):
    return offset + row * length + batch


@start_in_stream.mistake(
    "rows are `length` apart: the remainder of each row stands between them."
)
def rows_without_remainder(batch, row, num_steps, length, offset):
    return offset + row * (length // num_steps * num_steps) + batch * num_steps


@start_in_stream.mistake(
    "the offset is skipped once, at the beginning, and not in every row."
)
def offset_in_every_row(batch, row, num_steps, length, offset):
    return offset + row * (length + offset) + batch * num_steps


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
            wrong = [list(row) for row in following]
            wrong[-1][0] += 200
            yield X, Y, wrong
            wrong = [list(row) for row in following]
            wrong[0][0] += 200
            yield X, Y, wrong
            yield X, Y, X
            yield (
                X,
                Y,
                [
                    [row[-1], *later[1:]]
                    for row, later in zip(X, following, strict=True)
                ],
            )
            yield (
                X,
                Y,
                [[row[0], *later[1:]] for row, later in zip(Y, following, strict=True)],
            )
            yield (
                X,
                Y,
                [
                    [row[-1] + 1, *later[1:]]
                    for row, later in zip(X, following, strict=True)
                ],
            )
            yield X, Y, Y
            if num_rows > 1:
                yield X, Y, following[1:] + following[:1]


@exercise(
    cases=_neighboring_batches,
    hints=(
        "The last target of a row is the token that comes next. Where must it stand "
        "in the next batch?",
        "`following[i][0] == Y[i][-1]`, for every row i.",
    ),
)
def continues(
    X: list[list[int]], Y: list[list[int]], following: list[list[int]]
) -> bool:
    """Return whether each row of the inputs `following` goes on where the same row of
    the batch (X, Y) ended."""
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


@continues.mistake("only the first row is compared.")
def first_row_only(X, Y, following):
    return following[0][0] == Y[0][-1]


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
    "compared with the *first* target. The batch ended with the last one."
)
def first_target(X, Y, following):
    return all(
        next_row[0] == row[0] for next_row, row in zip(following, Y, strict=True)
    )


@continues.mistake(
    "that works on the integers 0, 1, 2, ... only: ids are no positions, and the next "
    "id is not one larger."
)
def one_larger(X, Y, following):
    return all(
        next_row[0] == row[-1] + 1 for next_row, row in zip(following, X, strict=True)
    )


def _predictions(random: Random) -> Iterator[Case]:
    for num_steps in (1, 4, 16):
        for batch in (0, 1, 5):
            for position in {0, num_steps // 2, num_steps - 1}:
                yield from (
                    (batch, position, num_steps, carried) for carried in (True, False)
                )


@exercise(
    cases=_predictions,
    hints=(
        "A carried state has read everything in its row so far. A gradient stops "
        "where the state was detached.",
        "Values: batch * T + position + 1 if carried, else position + 1. Gradients: "
        "position + 1 in both cases.",
    ),
)
def reach(batch: int, position: int, num_steps: int, carried: bool) -> tuple[int, int]:
    """Return how many inputs the prediction at `position` of batch `batch` can see, and
    how many get its gradient.

    Batches and positions count from 0. With `carried`, the state of the batch before is
    carried over and detached.
    """
    inside = position + 1
    return (batch * num_steps + inside if carried else inside), inside


@reach.mistake(
    "the gradient crosses windows too. `detach` is there to stop it: values cross, "
    "gradients don't."
)
def gradient_crosses(batch, position, num_steps, carried):
    inside = position + 1
    seen = batch * num_steps + inside if carried else inside
    return seen, seen


@reach.mistake("an off-by-one: the input at `position` itself is seen too.")
def without_itself(batch, position, num_steps, carried):
    return (batch * num_steps + position if carried else position), position


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
    "the pair is the wrong way round: first what is seen, then what gets the gradient."
)
def swapped(batch, position, num_steps, carried):
    return reach.reference(batch, position, num_steps, carried)[::-1]


@reach.mistake(
    "the model is causal: inputs of the window behind `position` count for neither."
)
def whole_window(batch, position, num_steps, carried):
    return reach.reference(batch, position, num_steps, carried)[0], num_steps


@reach.mistake(
    "a carried state holds *all* batches of the epoch before, not only the last one."
)
def one_batch_back(batch, position, num_steps, carried):
    return (min(batch, 1) * num_steps if carried else 0) + position + 1, position + 1


def _partitions(random: Random) -> Iterator[Case]:
    for batch_size in (1, 2, 3):
        for num_steps in (1, 4, 5):
            for offset in (0, num_steps):
                first = batch_size * num_steps + num_steps + 1
                yield from (
                    (n, batch_size, num_steps, offset)
                    for n in (first, first + 1, 35, 50)
                )


@exercise(
    cases=_partitions,
    hints=(
        "How many predictions does an epoch make? Each token is a target at most once.",
        "N - B * (length // T) * T, with length = (N - offset - 1) // B.",
    ),
)
def never_a_target(
    num_tokens: int, batch_size: int, num_steps: int, offset: int
) -> int:
    """Return how many tokens are no target in an epoch of sequential partitioning at
    this offset."""
    length = (num_tokens - offset - 1) // batch_size
    return num_tokens - batch_size * (length // num_steps) * num_steps


@never_a_target.mistake(
    "each row has a remainder of its own, shorter than T: it is dropped in every row."
)
def forgets_row_remainders(num_tokens, batch_size, num_steps, offset):
    length = (num_tokens - offset - 1) // batch_size
    return num_tokens - batch_size * length


@never_a_target.mistake("the offset and the very first input are no targets either.")
def only_remainders(num_tokens, batch_size, num_steps, offset):
    length = (num_tokens - offset - 1) // batch_size
    return (num_tokens - offset - 1) - batch_size * (length // num_steps) * num_steps


@never_a_target.mistake("that is the number of targets: you want the others.")
def counts_targets(num_tokens, batch_size, num_steps, offset):
    length = (num_tokens - offset - 1) // batch_size
    return batch_size * (length // num_steps) * num_steps


@never_a_target.mistake("the remainder of one row only: there are B of them.")
def one_remainder(num_tokens, batch_size, num_steps, offset):
    length = (num_tokens - offset - 1) // batch_size
    return num_tokens - batch_size * length + length % num_steps


@never_a_target.mistake("one id is kept for the last target before the rows are cut.")
def rows_cut_too_late(num_tokens, batch_size, num_steps, offset):
    length = (num_tokens - offset) // batch_size
    return num_tokens - batch_size * (length // num_steps) * num_steps


@never_a_target.mistake("the rows are cut behind the offset: take it off first.")
def offset_forgotten(num_tokens, batch_size, num_steps, offset):
    length = (num_tokens - 1) // batch_size
    return num_tokens - batch_size * (length // num_steps) * num_steps


def rows_of_text(ids: list[int], num_rows: int) -> list[list[int]]:
    return fold.reference(ids, num_rows)


@bug_or_not(
    reference=rows_of_text,
    cases=_folds,
    explanation=(
        "The shapes are right, and no token is lost. But a row is made of every B-th "
        "token: that is no text, and its state remembers nonsense. `reshape(-1, B).T` "
        "makes the same mistake."
    ),
)
def rows_by_steps(ids: list[int], num_rows: int) -> list[list[int]]:
    length = len(ids) // num_rows
    return [ids[row : length * num_rows : num_rows] for row in range(num_rows)]


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
    reference=stays_inside,
    cases=_corpora,
    explanation=(
        "The rows are cut from what is left *behind* the offset, so even the largest "
        "one leaves room for all targets. It is still a waste: with one row, an "
        "offset of T makes the cuts of offset 0."
    ),
)
def largest_closed_offset(num_tokens: int, batch_size: int, num_steps: int) -> bool:
    offset = num_steps  # random.randint(0, num_steps) can return it
    length = (num_tokens - offset - 1) // batch_size
    last_target = offset + batch_size * length
    return last_target <= num_tokens - 1


@bug_or_not(
    reference=stays_inside,
    cases=_corpora,
    explanation=(
        "The rows are measured before the offset is skipped. At offset 0 all is "
        "right; at larger ones the last row runs over the end of the stream, where a "
        "slice comes out short without a word, and a reshape fails."
    ),
)
def rows_measured_first(num_tokens: int, batch_size: int, num_steps: int) -> bool:
    length = (num_tokens - 1) // batch_size
    offset = num_steps
    last_target = offset + batch_size * length
    return last_target <= num_tokens - 1
