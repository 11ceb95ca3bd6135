"""Exercises of lesson 04: rows, continuations, and how far a state and its gradient
reach."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np

from course_lib.teaching.checker import Case, bug_or_not, exercise, true_or_false


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
        "Each row is one piece of the text, without gaps. How long is a row?",
        "A floor division gives you the length of a row. Row 0 begins at id 0, and row "
        "1 begins one length later. So where does row i begin, and where does it end?",
    ),
)
def fold(ids: list[int], num_rows: int) -> list[list[int]]:
    """Fold a stream into `num_rows` rows of equal length, each one piece of it."""
    length = len(ids) // num_rows
    return [ids[row * length : (row + 1) * length] for row in range(num_rows)]


def _pieces(ids: list[int], length: int, rows: int) -> list[list[int]]:
    return [ids[row * length : (row + 1) * length] for row in range(rows)]


fold.mistake(
    "you deal the ids out like cards, so neighbors in a row are no longer neighbors "
    "in the text.",
    lambda ids, rows: [ids[row::rows][: len(ids) // rows] for row in range(rows)],
    lambda ids, rows: [ids[row::rows] for row in range(rows)],
)
fold.mistake(
    "you cut pieces of `num_rows` ids each, but there should be `num_rows` pieces.",
    lambda ids, rows: _pieces(ids, rows, len(ids) // rows),
    lambda ids, rows: np.array(ids[: len(ids) // rows * rows], dtype=int).reshape(
        -1, rows
    ),
)
fold.mistake(
    "you make rows of different lengths. Leave out the ids that remain at the end.",
    lambda ids, rows: _pieces(ids, -(-len(ids) // rows), rows),
    lambda ids, rows: [*fold(ids, rows)[:-1], ids[(rows - 1) * (len(ids) // rows) :]],
)
fold.mistake(
    "you keep one id back for the last target, but there are no targets in this "
    "exercise. Fold all the ids.",
    lambda ids, rows: fold(ids[:-1], rows),
)
fold.mistake(
    "you step through the ids, not through the rows. So the ids that remain become an "
    "extra row, and with fewer ids than rows, your step is 0.",
    lambda ids, rows: [
        ids[i : i + len(ids) // rows] for i in range(0, len(ids), len(ids) // rows)
    ],
)
fold.mistake(
    "when there are fewer ids than rows, you return no row, or just one. Even then, "
    "return `num_rows` rows, all of them empty.",
    lambda ids, rows: fold(ids, rows) if len(ids) >= rows else [],
    lambda ids, rows: fold(ids, rows) if len(ids) >= rows else [[]],
)


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
        "Walk there from the beginning of the stream. What do you pass on the way?",
        "First you pass the offset, then all the rows above yours, and then, within "
        "your row, the batches before yours. How many ids do you pass each time?",
    ),
)
def start_in_stream(
    batch: int, row: int, num_steps: int, length: int, offset: int
) -> int:
    """Return where row `row` of batch `batch` starts in the stream."""
    return offset + row * length + batch * num_steps


start_in_stream.mistake(
    "you forget the offset. The first row starts right after the skipped ids.",
    lambda batch, row, T, length, offset: row * length + batch * T,
)
start_in_stream.mistake(
    "you swap row and batch. The next row is `length` ids further on, and the next "
    "batch only T.",
    lambda batch, row, T, length, offset: offset + batch * length + row * T,
)
start_in_stream.mistake(
    "you make your rows a whole number of windows long. But the inputs that are left "
    "over at the end of a row still lie between it and the next one.",
    lambda batch, row, T, length, offset: offset + row * (length // T * T) + batch * T,
    lambda batch, row, T, length, offset: offset + (row * (length // T) + batch) * T,
)
start_in_stream.mistake(
    "you skip the offset in every row. Skip it only once, before row 0.",
    lambda batch, row, T, length, offset: row * (length + offset) + batch * T + offset,
)
start_in_stream.mistake(
    "you leave room for an extra target, but a row's last target is the next row's "
    "first id, and a window's last target is the next window's first input.",
    lambda batch, row, T, length, offset: offset + row * (length + 1) + batch * T,
    lambda batch, row, T, length, offset: offset + row * length + batch * (T + 1),
)


def _neighboring_batches(random: Random) -> Iterator[Case]:
    for B in (1, 2, 3):
        for T in (1, 2, 4):
            text = [random.sample(range(100), 2 * T + 1) for _ in range(B)]
            X, Y, Z = ([row[a : a + T] for row in text] for a in (0, 1, T))
            yield X, Y, Z
            for row in range(B):  # one row alone is wrong, then one alone is right
                yield (
                    X,
                    Y,
                    [[id + 200 * (r == row) for id in z] for r, z in enumerate(Z)],
                )
                yield (
                    X,
                    Y,
                    [[id + 200 * (r != row) for id in z] for r, z in enumerate(Z)],
                )
            for rows in (X, Y, Z):  # right ids, at the wrong places
                yield X, Y, rows
                yield X, Y, [row[::-1] for row in rows]
                yield X, Y, [[row[-1]] * T for row in rows]
            yield X, Y, Z[1:] + Z[:1]
            yield X, Y, Z[::-1]
            yield X, Y, [[x[-1] + 1, *z[1:]] for x, z in zip(X, Z, strict=True)]
            yield X, Y, [[y[-1] + 1, *z[1:]] for y, z in zip(Y, Z, strict=True)]
            yield X, Y, [[y[0], *z[1:]] for y, z in zip(Y, Z, strict=True)]
    yield [[0, 0], [0, 0]], [[0, 0], [0, 0]], [[0, 1], [0, 1]]
    yield [[0, 0], [0, 0]], [[0, 0], [0, 1]], [[0, 1], [0, 0]]
    # Equal ids that are not one object: `is` will not do.
    yield [[1001, 1002]], [[1002, 1003]], [[int("1003"), 1004]]
    # Rows that also continue one another, as in a text that repeats itself.
    yield [[1, 2], [3, 4]], [[2, 3], [4, 5]], [[3, 5], [5, 7]]
    yield [[1, 2], [1, 2]], [[2, 3], [2, 3]], [[3, 9], [3, 8]]


@exercise(
    cases=_neighboring_batches,
    hints=(
        "The last target of a row is the token that comes next. Where does it have to "
        "be in the next batch?",
        "Compare one id in each row of `following` with one id in the same row of `Y`, "
        "and ask whether `all` of them agree.",
    ),
)
def continues(
    X: list[list[int]], Y: list[list[int]], following: list[list[int]]
) -> bool:
    """Return whether each row of `following` continues where that row of Y ended."""
    return all(
        next_row[0] == row[-1] for next_row, row in zip(following, Y, strict=True)
    )


def _go_on(following: list[list[int]], ends: list[int]) -> bool:
    return [row[0] for row in following] == ends


continues.mistake(
    "you compare with the last *input*, but the next batch begins with the token "
    "after it, which is the last target.",
    lambda X, Y, following: _go_on(following, [x[-1] for x in X]),
)
continues.mistake(
    "you expect an id that's one larger, but ids aren't positions. The last target "
    "*is* the next id.",
    lambda X, Y, following: _go_on(following, [x[-1] + 1 for x in X]),
    lambda X, Y, following: _go_on(following, [y[-1] + 1 for y in Y]),
)
continues.mistake(
    "you compare the wrong ends. A row ends with its *last* target, and continues with "
    "the *first* input of the next batch.",
    lambda X, Y, following: _go_on(following, [y[0] for y in Y]),
    lambda X, Y, following: all(
        after[-1] == y[0] for after, y in zip(following, Y, strict=True)
    ),
)
continues.mistake(
    "you don't check all rows, but a single one that jumps makes the answer False.",
    lambda X, Y, following: any(
        after[0] == y[-1] for after, y in zip(following, Y, strict=True)
    ),
    lambda X, Y, following: following[0][0] == Y[0][-1],
)
continues.mistake(
    "you let a row continue in another row, as if a batch were one text. Row i "
    "continues in row i.",
    lambda X, Y, following: _go_on(following[1:] + following[:1], [y[-1] for y in Y]),
    lambda X, Y, following: following[0][0] == Y[-1][-1],
)
continues.mistake(
    "you compare the next inputs with all the targets. But targets are one place ahead "
    "of their inputs, and the next inputs are T places ahead. Compare just one id in "
    "each row.",
    lambda X, Y, following: following == Y,
)


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
        "Inside its own window, how many inputs does position 0 see, and how many does "
        "position 1 see? Then add the inputs of the batches before, but only to the "
        "number that can include them.",
    ),
)
def reach(batch: int, position: int, num_steps: int, carried: bool) -> tuple[int, int]:
    """Return how many inputs of its row a prediction sees, and how many its gradient
    reaches."""
    inside = position + 1
    return (batch * num_steps + inside if carried else inside), inside


reach.mistake(
    "you let the gradient cross windows together with the values, but `detach` stops "
    "it between them, and only the values get across.",
    lambda batch, p, T, carried: (reach(batch, p, T, carried)[0],) * 2,
    lambda batch, p, T, carried: (reach(batch, p, T, carried)[0], batch * T + p + 1),
)
reach.mistake(
    "you count one input too few. Even position 0 already sees one input, and its "
    "gradient reaches it.",
    lambda batch, p, T, carried: reach(batch, p - 1, T, carried),
    lambda batch, p, T, carried: (reach(batch, p, T, carried)[0], p),
)
reach.mistake(
    "you count the whole window, but the model is causal, so the inputs after "
    "`position` count for neither number.",
    lambda batch, p, T, carried: reach(batch, T - 1, T, carried),
    lambda batch, p, T, carried: (reach(batch, p, T, carried)[0], T),
)
reach.mistake(
    "you ignore `carried`, or have it the wrong way around. It decides whether the "
    "batches before are seen, but makes no difference to the gradient.",
    lambda batch, p, T, carried: reach(batch, p, T, True),
    lambda batch, p, T, carried: reach(batch, p, T, not carried),
)
reach.mistake(
    "you miscount the batches before. There are b of them before batch b, and a "
    "carried state has read them all.",
    lambda batch, p, T, carried: reach(batch + 1, p, T, carried),
    lambda batch, p, T, carried: reach(min(batch, 1), p, T, carried),
)
reach.mistake(
    "you stop the gradient too early. `detach` cuts it off where the window begins, "
    "but within the window it reaches every input up to `position`.",
    lambda batch, p, T, carried: (reach(batch, p, T, carried)[0], 0),
    lambda batch, p, T, carried: (reach(batch, p, T, carried)[0], 1),
)


# Bug or not?


def columns_of_text(ids: list[int], num_rows: int) -> list[list[int]]:
    rows = fold(ids, num_rows)
    return [list(column) for column in zip(*rows, strict=True)]


@bug_or_not(
    purpose=(
        "Return the stream as a table for a model that wants time first: `num_rows` "
        "columns of equal length, each one piece of the text, to be read downwards."
    ),
    reference=columns_of_text,
    cases=_folds,
    explanation=(
        "The stream is folded into rows first, and then the table is transposed, so "
        "each column is one piece of the text. The language model among PyTorch's "
        "examples folds in the same way, with `view(B, -1).t()`. The bug would be the "
        "shortcut to the same shape, `reshape(length, num_rows)`, because it deals the "
        "text out like cards, and a state would remember nonsense."
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
        "Cut rows that end inside the stream, even at the largest offset that can be "
        "drawn. The function tells whether the last target of the last row is inside. "
        "As long as the stream has room for a batch, it should be."
    ),
    reference=stays_inside,
    cases=_corpora,
    explanation=(
        "The rows are measured before the offset is skipped. At offset 0 everything is "
        "right, but at larger offsets the last row may run past the end of the stream. "
        "There, a slice just comes out short, and a reshape fails."
    ),
)
def rows_measured_first(num_tokens: int, batch_size: int, num_steps: int) -> bool:
    length = (num_tokens - 1) // batch_size
    offset = num_steps  # the largest that can be drawn
    last_target = offset + batch_size * length
    return last_target <= num_tokens - 1


@bug_or_not(
    purpose=(
        "Do the same in a loader that draws its offset with Python's "
        "`random.randint(0, num_steps)`, which includes both ends."
    ),
    reference=stays_inside,
    cases=_corpora,
    explanation=(
        "The rows are cut from what *follows* the offset, so even the largest offset "
        "leaves room for all targets. It can still be a waste. If the rows are as long "
        "as at offset 0, an offset of T makes the same cuts, but for one window in "
        "each row. With a single row, T always cuts like 0, but for the first window. "
        "(Readers of *Dive into Deep Learning* proposed stopping at T - 1: d2l-zh, "
        "pull requests 1302 and 1337.)"
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
        "To carry a state from batch to batch, it is enough to take windows of stride "
        "T in the order of the text, B at a time: `DataLoader(windows, batch_size, "
        "shuffle=False)`. Then each row of batch 1 continues where it ended in batch 0."
    ),
    reference=second_batch_in_order,
    cases=_batch_shapes,
    explanation=(
        "It's enough only with a single row. Taken in order, the rows of a batch "
        "follow one another. So row i of batch 1 begins B windows after row i of batch "
        "0, not one window after it, and a carried state meets a different place in "
        "the text. You have to fold the stream into rows first."
    ),
)
def order_is_enough(batch_size: int, num_steps: int) -> list[int]:
    first_batch = range(0, batch_size * num_steps, num_steps)
    return [start + num_steps for start in first_batch]
