"""Exercises of lesson 04: rows, continuations, and how far a state and its gradient
reach."""

from __future__ import annotations

from collections.abc import Iterator
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
        "Which ids can be inputs at all? Not those that the offset skips, and not the "
        "last id of the stream, which can only be a target.",
        "Count the ids that can be inputs, share them out evenly among the rows, and "
        "round down. Then try your formula on a stream that ends inside the offset.",
    ),
)
def inputs_per_row(num_tokens: int, batch_size: int, offset: int) -> int:
    """Return how many inputs each of `batch_size` equally long rows has."""
    return max(0, (num_tokens - offset - 1) // batch_size)


inputs_per_row.slips("""
    max(0, ...) => (...)
        a stream that is too short has rows of 0 inputs, not fewer, but // rounds down
        below 0.
    - 1) // => ) //
        the last target is forgotten. The last row needs one id after its last input.
    - offset =>
        the offset is not subtracted before the rows are cut, so they may overrun the
        stream.
    - offset => + offset
        the offset is added. But its ids are skipped, so fewer are left.
    - offset - 1) // batch_size => - 1) // batch_size - offset
        the offset is subtracted from each row. It is skipped only once, before the rows
        are cut.
    - offset - 1) // batch_size => ) // batch_size - offset - 1
        you divide first, so offset and last target are subtracted from each row.
        Subtract them from the stream, and then share out what is left.
    - offset - 1) // batch_size => ) // batch_size - offset
        the offset is subtracted from each row, and the last target not at all. Subtract
        both from the stream, before the rows are cut.
    - offset - 1) // batch_size => ) // batch_size - 1
        one target is subtracted from each row, and the offset not at all. Subtract both
        from the stream, before the rows are cut.
    - 1) // batch_size => ) // batch_size - 1
        one target is kept back for each row. But a row finds its last target in the
        first id of the next one, so only the last row needs an extra id.
    - 1) // => + 1) //
        one id is added where one should be subtracted.
    - 1) // => - 2) //
        one id too many is subtracted: only the last target is kept back.
    // batch_size => / batch_size
        `/` keeps a fraction. Rows have whole inputs, so round down with `//`.
    // batch_size => // batch_size + 1
        one is added at the end. Share out what is left, round down, and add nothing.
    // batch_size => // batch_size * batch_size
        this is the number of inputs in all rows together. Return that of one row.
    // batch_size =>
        these are all the ids that can be inputs. Share them out among the rows, and
        round down.
    (num_tokens - offset - 1) // batch_size => (num_tokens - offset - 1 // batch_size)
        all ids after the offset are counted, not those of one row. (Does a `//` follow
        a `-`? Python divides first, so use parentheses.)
    (num_tokens ...) // batch_size => round((num_tokens ...) / batch_size)
        rounded to the nearest number. Ids that do not fill all rows are left out, so
        round down.
    (num_tokens ...) // batch_size => -(-(num_tokens ...) // batch_size)
        rounded up, so there would not be enough ids for the last row. Ids that do not
        fill all rows are left out.
    // batch_size => % batch_size
        `%` gives the remainder. The length of a row is the quotient, `//`.
    max(0, ... // => (abs(...) //
        a negative number loses its sign. A stream that is too short has rows of 0
        inputs.
""")


inputs_per_row.answers("""
    num_tokens // batch_size
        neither the offset nor the last target is subtracted.
    int((num_tokens - offset - 1) / batch_size)
        a stream that ends inside the offset has rows of 0 inputs, not fewer.
    int((num_tokens - 1) / batch_size - offset)
        the offset is subtracted from each row, not once from the stream. A stream that
        ends inside the offset has rows of 0 inputs, not fewer.
    (num_tokens - offset - 1) % batch_size
        `%` gives the remainder…
""")


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
        "The length is a floor division. Row 0 begins at id 0, row 1 one length later: "
        "where does row i begin, and where does it end?",
    ),
)
def fold(ids: list[int], num_rows: int) -> list[list[int]]:
    """Fold a stream into `num_rows` rows of equal length, each one piece of it."""
    length = len(ids) // num_rows
    return [ids[row * length : (row + 1) * length] for row in range(num_rows)]


fold.slips("""
    ids[row * length : (row + 1) * length] => ids[row::num_rows][:length]
        the ids are dealt out like cards. But neighbors in a row must be neighbors in
        the text.
    ids[row * length : (row + 1) * length] => ids[row::num_rows]
        the ids are dealt out like cards, and the rows are not cut to one length.
        Neighbors in a row must be neighbors in the text.
    row * length : => row :
        row i begins at i * length, not at i.
    (row + 1) * length] => (row + 1) * length if row + 1 < num_rows else None]
        the last row is longer than the others. Ids that remain at the end are left out.
    (row + 1) * length] => (row + 1) * length + 1]
        each row is one id too long: it ends before the next one begins.
    (row + 1) * length] => (row + 1) * length - 1]
        a slice leaves out its end already, so with - 1 a row is one id too short. And
        for a row of 0 ids, an end of -1 counts from the end of the list.
    ids[...] for => ids[...][:-1] for
        each row is one id too short, because a slice leaves out its end already.
    len(ids) // num_rows => -(-len(ids) // num_rows)
        rounded up, so the last row is shorter, or empty. All rows have one length.
    len(ids) // num_rows => -(-len(ids) // num_rows) ; \
    return [...] => return [piece for piece in [...] if len(piece) == length]
        rounded up, and rows that come out short are left out. With the length rounded
        down, none of the `num_rows` rows is short.
    len(ids) // num_rows => -(-len(ids) // num_rows) ; \
    return [...] => return [piece for piece in [...] if piece]
        rounded up, so the last row may be shorter, and empty rows are left out. All
        `num_rows` rows have one length.
    len(ids) // => max(0, len(ids) - 1) //
        one id is kept back for the last target. But here nothing is said about targets:
        fold all the ids.
    len(ids) // num_rows => max(1, len(ids) // num_rows)
        with fewer ids than rows, the length is 0, not 1: all rows are equally long, so
        all are empty.
    range(num_rows) => range(num_rows - 1)
        the last row is missing: `range` leaves out its end already.
    range(num_rows) => range(1, num_rows + 1)
        rows count from 0, so here the first piece of the text is missing.
    range(num_rows) => range(1, num_rows)
        the first row is missing: rows count from 0.
    return [...] => return [...] if length else []
        no rows are returned. Fewer ids than rows make `num_rows` empty rows.
    return [...] => return [...] if length else [[]]
        a single empty row is returned. Fewer ids than rows make `num_rows` of them.
    return [...] => return [list(column) for column in zip(*[...], strict=True)]
        these are the right rows, but as columns.
""")


fold.answers("""
    [ids[i : i + len(ids) // num_rows] for i in range(num_rows)]
        row i begins at i * length, not at i: these rows share nearly all of their ids.
    [ids[i * num_rows : (i + 1) * num_rows] for i in range(len(ids) // num_rows)]
        rows and columns are exchanged: these are pieces of `num_rows` ids each. You
        want `num_rows` pieces.
    np.array(ids[: len(ids) // num_rows * num_rows], dtype=int).reshape(-1, num_rows)
        rows and columns are exchanged in the shape: an array of the rows has the shape
        (num_rows, length).
    [ids[i : i + num_rows] for i in range(0, len(ids), num_rows)]
        rows and columns are exchanged, and the remaining ids are kept: these are pieces
        of `num_rows` ids each. You want `num_rows` pieces.
    [ids[i : i + (k := len(ids) // num_rows)] for i in range(0, len(ids), \
    len(ids) // num_rows)]
        too many rows: the ids that remain at the end became one more row, or several.
    [ids[i : i + len(ids) // num_rows] for i in \
    range(0, len(ids) - len(ids) // num_rows + 1, len(ids) // num_rows)]
        as many rows as fit. Even if enough ids remain for one more row, there are only
        `num_rows` of them.
    [ids[i : i + len(ids) // num_rows] for i in \
    range(0, len(ids) // num_rows * num_rows, len(ids) // num_rows)]
        fewer ids than rows make rows of 0 ids, but a `range` cannot go in steps of 0.
        Count rows, not positions.
    ids[: len(ids) // num_rows * num_rows]
        the stream is cut to length, but not folded: make a list for each row.
    [piece.tolist() for piece in np.array_split(ids, num_rows)]
        the remaining ids are shared out among the first rows. But all rows have one
        length, so leave these ids out.
    fold.reference(ids[len(ids) % num_rows :], num_rows)
        the remaining ids are left out at the beginning. Leave them out at the end.
    fold.reference(ids[: -(len(ids) % num_rows)], num_rows)
        where no ids remain, `[:-0]` is `[:0]` and cuts off all ids: count the ids that
        stay, not those that go.
""")


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
        "First you pass the offset, then all the rows above, then the batches before "
        "this one, but only in this row. How many ids are there in each of the three?",
    ),
)
def start_in_stream(
    batch: int, row: int, num_steps: int, length: int, offset: int
) -> int:
    """Return where row `row` of batch `batch` starts in the stream."""
    return offset + row * length + batch * num_steps


start_in_stream.slips("""
    offset + =>
        the offset is missing.
    offset + row => -offset + row
        the offset is subtracted. But its ids are skipped, so starts move to the right:
        add it.
    offset + => offset * num_steps +
        the offset is a number of ids, not of windows: do not multiply it.
    offset + row * length => (offset + row) * length
        the offset is multiplied by the length. But it is skipped only once, before all
        rows.
    row * length + batch * num_steps => batch * length + row * num_steps
        row and batch are exchanged. The next row is `length` ids further on, and the
        next batch only T.
    row * => (row - 1) *
        rows count from 0: row 0 starts right after the offset.
    * length => * (length // num_steps * num_steps)
        rows are `length` apart, because the inputs that a row leaves over are between
        them.
    * length => * (length + 1)
        rows are `length` apart. The last target of a row is the first id of the next,
        so no extra id is between them.
    * length => * (length - 1)
        rows are `length` apart, because they share no input.
    * length => * (length + offset)
        the offset is skipped only once, at the beginning, and not in every row.
    * length => * (length - offset)
        the rows of `length` ids come after the offset: subtract nothing more.
    * length => * (-(-length // num_steps) * num_steps)
        rows are `length` apart. Do not round the length up to whole windows.
    * length =>
        the next row is `length` ids further on, not one.
    * length => * num_steps
        rows are `length` apart, not T: all the text of a row comes before the next.
    + row * length =>
        the rows above this one are missing.
    + batch * num_steps =>
        the batches before this one are missing.
    batch * num_steps => (batch - 1) * num_steps
        batches count from 0: batch 0 starts where its row does.
    batch * num_steps => (batch + 1) * num_steps
        this is where the window ends. It starts T ids before.
    batch * num_steps => batch
        each batch moves T ids on, not one.
    * num_steps => * (num_steps + 1)
        each batch moves T ids on, not T + 1: the last target of a window is the first
        input of the next one.
    * num_steps => * (num_steps - 1)
        windows of a row share no input, so the next one is T ids further on, not T - 1.
    * num_steps => * length
        each batch moves T ids on, not `length`: the row goes on where it ended.
    row * length + batch * num_steps => (row * length + batch) * num_steps
        a row has `length` ids, whatever T is. Only batches move in steps of T.
    * num_steps => * num_steps + 1
        one id too far: positions count from 0.
""")


start_in_stream.answers("""
    row * (length + offset) + batch * num_steps
        the offset is skipped only once, before row 0, and not before every row.
""")


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
        "The last target of a row is the token that comes next. Where must it be in "
        "the next batch?",
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


continues.slips("""
    following, Y => following, X
        compared with the last *input*. But the next batch begins with the token after
        it, which is the last target.
    next_row[0] => next_row[-1]
        the *last* id of the next inputs is compared. But they go on with their first.
    row[-1] for => row[0] for
        compared with the *first* target. But the batch ended with the last one.
    row[-1] for => row[-1] + 1 for
        you expect an id that is one larger. But ids are not positions, and the last
        target *is* the next id.
    next_row[0] == row[-1] => row[-1] in next_row
        you look for the last target anywhere in the next row. It must be its first id.
    next_row[0] == row[-1] => next_row[0] is row[-1]
        `is` asks whether both are one object, but equal ids need not be. Compare with
        `==`.
    all( => any(
        you return `True` if one row goes on. Every row must.
    return all => return not all
        the wrong way round: `True` where a row does *not* go on.
    zip(following, => zip(following[1:] + following[:1],
        row i is compared with row i + 1, as if the rows of a batch were one text.
    zip(following, Y, strict=True) => zip(following[1:], Y, strict=False)
        row i of this batch is compared with row i + 1 of the next one. But each row
        goes on in the row with its own number.
    strict=True) => strict=True) if row is not Y[0]
        the first row is not compared: rows count from 0.
    zip(following, Y, strict=True) => zip(following[:-1], Y, strict=False)
        the last row is not compared: `range(n)` already stops before n.
    zip(following, => zip(following[:1],
        only the first row is compared.
    zip(following, => zip(following[-1:],
        only the last row decides. (Do you overwrite the result in each round of the
        loop?)
""")


@continues.right_way("""
    for i in range(len(Y)) => for i in range(len(X[0]))
        you compare len(X[0]) rows, which is the number of ids in a row. There are
        len(X) rows.
    for i in range(len(Y)) => for i in range(len(Y) - 1)
        the last row is not compared…
    for i in range(len(Y)) => for i in range(1, len(Y))
        the first row is not compared…
    for i in range(len(Y)) => for i in range(1)
        only the first row is compared.
    for i in range(len(Y)) => for i in [-1]
        only the last row decides…
    Y[i][-1] => X[i][-1]
        compared with the last *input*…
    Y[i][-1] => Y[i][0]
        compared with the *first* target…
    following[i][0] => following[i][-1]
        the *last* id of the next…
""")
def row_by_row(X, Y, following):
    return all(following[i][0] == Y[i][-1] for i in range(len(Y)))


continues.answers("""
    all(after[-1] == row[0] for after, row in zip(following, Y, strict=True))
        first and last are exchanged: the next batch begins where this one *ended*.
    following == Y
        the next inputs are compared with the targets as a whole. But targets are the
        inputs moved by one, while the next inputs are T further on.
    following[0][0] == X[-1][-1]
        the last *input* of the last row is compared with the first row of the next
        batch. Compare last targets, and each row with the row of its own number.
    following[0][0] == Y[-1][-1]
        row 0 of the next batch is compared with the last row of this one, as if the
        rows of a batch were one text.
    sorted(row[0] for row in following) == sorted(row[-1] for row in Y)
        the ids are compared without regard to their rows. But each row must go on in
        the row with its own number.
    following[0] == Y[-1]
        rows are taken for columns: the first *row* of `following` is compared, not the
        first id of each.
    all(after[0] == row[-1] + 1 for after, row in zip(following, X, strict=True))
        this works only on the integers 0, 1, 2, …. But ids are not positions, and the
        next id need not be one larger.
    False
        the result is never `True`. Do you compare a list with a number, or a row with
        an id?
    True
        the result is always `True`: nothing is compared.
    2 * sum(y[-1] == after[0] for y, after in zip(Y, following, strict=True)) >= len(Y)
        you return `True` if most of the rows go on. Every row must.
""")


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
        "one number that can include them.",
    ),
)
def reach(batch: int, position: int, num_steps: int, carried: bool) -> tuple[int, int]:
    """Return how many inputs of its row a prediction sees, and how many its gradient
    reaches."""
    inside = position + 1
    return (batch * num_steps + inside if carried else inside), inside


reach.slips("""
    return (...), inside => return (...), batch * num_steps + inside
        the gradient crosses windows, even without a carried state. It never leaves its
        window.
    return (batch * num_steps + inside if carried else inside), inside => \
    seen = batch * num_steps + inside if carried else inside ⏎ return seen, seen
        the gradient crosses windows together with the values. `detach` stops it: values
        cross, and gradients don't.
    return (...), inside => return (...), 1
        the gradient goes back through its window, to all inputs up to `position`, not
        only to the last one.
    return (...), inside => return (...), 0
        `detach` cuts the gradient where the window begins, not inside it. The gradient
        reaches the inputs of its own window.
    return (...), inside => return (...), 0 if carried else inside
        a carried state does not stop the gradient inside the window. The gradient
        reaches as far as it does without one.
    return (...), inside => return (...), inside if carried else 0
        resetting the state does not stop the gradient inside the window. The gradient
        reaches as far as it does with a carried one.
    return (...), inside => return (...), num_steps
        the model is causal, so the gradient does not reach inputs of the window that
        come after `position`.
    return (...), inside => return (...), num_steps if carried else inside
        even with a carried state, the gradient does not reach inputs that come after
        `position`.
    return (...), inside => return (...), num_steps - position
        the gradient goes back from `position` to the beginning of the window, not
        forward to its end.
    return (...), inside => return (...), inside - 1
        the second number is off by one, because the input at `position` itself also
        gets a gradient.
    return (...), inside => return (...), min(num_steps, batch * num_steps + inside) \
    if carried else inside
        the gradient does not always go back T inputs. It ends where the window begins,
        because the state is detached there.
    position + 1 => position
        one too few: the input at `position` itself counts in both numbers.
    position + 1 => position + 2
        one too many: positions count from 0, so position 0 sees one input.
    position + 1 => num_steps
        the model is causal, so inputs of the window that come after `position` count
        for neither number.
    batch * => (batch + 1) *
        batches count from 0, so one batch comes before batch 1. You have one too many.
    batch * => (batch - 1) *
        batches count from 0, so one batch comes before batch 1. You have one too few.
    batch * => max(0, batch - 1) *
        batches count from 0, so b batches come before batch b, not b - 1.
    batch * => min(batch, 1) *
        a carried state has read *all* earlier batches of the epoch, not only the last.
    batch * num_steps => batch
        an earlier batch adds T inputs of the row, not one.
    batch * num_steps => batch * (num_steps + 1)
        an earlier batch adds T inputs of the row, not T + 1: its last target is the
        first input of the next batch.
    batch * num_steps + inside if carried else inside => inside
        the state is carried, so the batches before count.
    if carried else inside =>
        without carrying, each window begins with an empty state, so nothing of the
        batches before is seen.
    if carried else => if not carried else
        the cases carried and not carried are exchanged.
    + inside if carried => + inside - 1 if carried ; else inside => else inside - 1
        the first number is off by one: the prediction also sees the input at `position`
        itself.
    + inside if carried => + num_steps if carried ; else inside => else num_steps
        the model is causal: inputs of the window that come after `position` are not
        seen.
    + inside if carried => if carried
        the first number includes the window itself, not only the batches before it.
    return ..., inside => return inside, ...
        the pair is the wrong way round: first the inputs that are seen, and then those
        that get a gradient.
    return (...), inside => return ((...), inside) if carried else (0, 0)
        a window is also read without a carried state: its own inputs are seen, and they
        get a gradient.
    return (...), inside => \
    return ((...), inside) if carried else (num_steps, num_steps)
        even without a carried state, a prediction sees its window only up to
        `position`, not all of its T inputs.
""")


@reach.right_way("""
    , position + 1 => , before + position + 1
        the gradient crosses windows together…
    before + position + 1, => before + position,
        the first number is off by one…
    batch * => max(0, batch - 1) *
        batches count from 0, so b batches…
    if carried else 0 =>
        without carrying, each window…
""")
def those_before_first(batch, position, num_steps, carried):
    before = batch * num_steps if carried else 0
    return before + position + 1, position + 1


reach.answers("""
    (batch * num_steps + position + 1, batch * num_steps + position + 1)
        all earlier batches count in both numbers. But without a carried state none of
        them is seen, and a gradient never crosses.
""")


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
        "An epoch makes (number of batches) · B · T predictions. How many batches come "
        "out of a row, and what if the stream is too short for a row?",
    ),
)
def never_a_target(
    num_tokens: int, batch_size: int, num_steps: int, offset: int
) -> int:
    """Return how many of the stream's tokens are never a target in an epoch."""
    length = max(0, (num_tokens - offset - 1) // batch_size)
    return num_tokens - batch_size * (length // num_steps) * num_steps


never_a_target.slips("""
    max(0, ...) => (...)
        more tokens than there are. Where nothing is left to fold, a row has 0 inputs,
        but // rounds down below 0.
    (num_tokens - offset => (num_tokens
        the rows are cut from what follows the offset: subtract it first.
    - 1) // => ) //
        before the rows are cut, one id must be kept for the last target.
    - 1) // batch_size => ) // batch_size - 1
        one id is kept back for each row's last target. But a row finds that target in
        the first id of the next one, so only the last row needs an extra id.
    batch_size * (length // num_steps) * num_steps => \
    batch_size * length // num_steps * num_steps
        `a * b // c` multiplies first, so the remainders of all rows are put together
        before you divide. But each row has a remainder of its own.
    batch_size * (length // num_steps) * num_steps => batch_size * length
        each row has a remainder, shorter than T, that fills no batch. It is left over
        in every row.
    return num_tokens - => return
        this is the number of targets. Return the number of the other tokens.
    return num_tokens - => return num_tokens - offset -
    return num_tokens - => return max(0, num_tokens - offset) -
        the skipped ids are subtracted, although they are never targets either: count
        them with the others.
    return num_tokens - => return num_tokens - 1 -
        the very first input is never a target: count it with the others.
    - batch_size * => -
        a batch has B rows, but only the targets of one row are counted.
    (length // num_steps) * num_steps => (length // num_steps)
        a batch makes B · T predictions, not B.
    (length // num_steps) => -(-length // num_steps)
        a batch that is not full is counted. Inputs after the last whole window of a row
        are in no batch.
    (length // num_steps) => (length // (num_steps + 1))
        windows of a row begin T apart, not T + 1, because the last target of one is the
        first input of the next.
    (length // num_steps) * num_steps => (length // num_steps) * (num_steps - 1)
        a window of T inputs has T targets, not T - 1.
    return ... * num_steps => return ... * num_steps + batch_size - 1
        the first inputs of all rows below row 0 are added. But each of these is a
        target of the row above, or it is counted already.
    return ... * num_steps => return ... * num_steps + batch_size
        the first input of each row is added. But each of these is a target of the row
        above, or it is counted already, as that of row 0 is.
    return ... * num_steps => \
    return ... * num_steps + (batch_size - 1 if length >= num_steps else 0)
        the first input of each row below row 0 is added. If the row above has no
        remainder, that input is a target. If it has one, it is counted already.
    num_tokens - batch_size * (length // num_steps) * num_steps => \
    num_tokens - length // num_steps
        a batch makes B · T predictions, not one.
    num_tokens - batch_size * (length // num_steps) * num_steps => \
    num_tokens - batch_size * length + length % num_steps
        only one row's remainder is counted. There are B of them.
""")


@never_a_target.right_way("""
    left = max(0, ...) => left = (...)
        more tokens than there are. Where nothing is left to fold…
    num_tokens - left + left % => left %
        the tokens that the offset skips and the very first input are never targets
        either.
    num_tokens - left + left % => offset + left %
        the very first input is never a target…
    num_tokens - left + left % => 1 + left %
        the tokens that the offset skips are never targets: count them with the others.
    left % (batch_size * num_steps) => batch_size * (left // batch_size % num_steps)
        the ids that do not fill all rows, up to B - 1 at the end of the stream, are
        never targets either.
    left % (batch_size * num_steps) => left % num_steps
        you cut windows of T from the stream as a whole, as in random sampling. Here it
        is cut into rows first, and each row has a remainder of its own.
    num_tokens - left + left % => offset + 1 + left %
        more tokens than there are. Where the stream ends inside the offset, none of its
        N tokens is a target, and there are no others.
""")
def by_remainders(num_tokens, batch_size, num_steps, offset):
    left = max(0, num_tokens - offset - 1)
    return num_tokens - left + left % (batch_size * num_steps)


never_a_target.answers("""
    num_tokens - num_tokens // batch_size // num_steps * num_steps * batch_size
        neither the offset nor the last target is subtracted before the rows are cut.
    (num_tokens - offset - 1) // batch_size % num_steps * batch_size
    max(0, num_tokens - offset - 1) // batch_size % num_steps * batch_size
        only the rows' remainders are counted. Skipped ids are never targets either, nor
        is the very first input, nor are ids that do not fill all rows.
    offset + max(0, num_tokens - offset - 1) // batch_size % num_steps * batch_size
    offset + (num_tokens - offset - 1) // batch_size % num_steps * batch_size
        two things are missing: the very first input, and the ids that do not fill all
        rows, up to B - 1 at the end of the stream. They are never targets.
    offset + batch_size + \
    max(0, num_tokens - offset - 1) // batch_size % num_steps * batch_size
    offset + batch_size + \
    (num_tokens - offset - 1) // batch_size % num_steps * batch_size
        a first input is counted for each row, but the ids that do not fill all rows are
        not. Count only that of row 0: the others are targets, or are in a remainder.
""")


@never_a_target.mistake(
    "where the stream is too short for a batch, no token is a target, so the answer is "
    "N, not 0."
)
def none_of_none(num_tokens, batch_size, num_steps, offset):
    found = never_a_target.reference(num_tokens, batch_size, num_steps, offset)
    return found if found < num_tokens else 0


@never_a_target.mistake(
    "these are the tokens that are never *used*. A token can be used as an input and "
    "still never be a target, such as the first input of a row."
)
def never_used(num_tokens, batch_size, num_steps, offset):
    starts = partition_starts(num_tokens, batch_size, num_steps, offset).ravel()
    used = {start + step for start in starts for step in range(num_steps + 1)}
    return num_tokens - len(used)


@never_a_target.mistake(
    "the remainder of a row counts as a whole batch. But it is shorter than T, so it "
    "is left over."
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
        "Cut rows that end inside the stream, at every offset that can be drawn, "
        "including the largest. The function returns whether the last target of the "
        "last row is inside, which must be True for every stream that has room for a "
        "batch."
    ),
    reference=stays_inside,
    cases=_corpora,
    explanation=(
        "The rows are measured before the offset is skipped. At offset 0 everything "
        "is right, but at larger ones the last row may run over the end of the stream. "
        "There a slice comes out short without any message, and a reshape fails."
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
        "leaves room for all targets. It is still a waste, because with a single row "
        "an offset of T makes the same cuts as offset 0, except for the first. "
        "(Readers of *Dive into Deep Learning* proposed to stop at T - 1: d2l-zh, pull "
        "requests 1302 and 1337.)"
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
        "shuffle=False)`. Then each row of batch 1 goes on where it ended in batch 0."
    ),
    reference=second_batch_in_order,
    cases=_batch_shapes,
    explanation=(
        "It is enough only with a single row. Taken in order, the rows of one batch "
        "follow one another, so row i of batch 1 begins B windows after row i of batch "
        "0, not one, and a carried state meets a different place in the text. The "
        "stream must be folded into rows first."
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
        "At the same offset, sequential partitioning makes exactly as many batches as "
        "random sampling, although each of its B rows drops a remainder, while random "
        "sampling drops only one tail."
    ),
    reference=sequential_batches,
    cases=_both_schemes,
    explanation=(
        "With n = N - offset - 1, one scheme makes n // B // T batches and the other "
        "n // T // B, and both numbers are n // (B · T). Where one scheme drops B "
        "remainders, the other drops a batch that is not full."
    ),
)
def equally_many_batches(
    num_tokens: int, batch_size: int, num_steps: int, offset: int
) -> int:
    return count_subsequences(num_tokens, num_steps, offset) // batch_size


# With other numbers by seed.


@numbers(
    ask="A stream has {num_tokens:,} ids, B = {batch_size}, T = {num_steps}, and the "
    "offset is {offset}. At which id of the stream does row {row} of batch {batch} "
    "start? Rows and batches count from 0.",
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
        "needs an extra id?",
        "First comes the offset, then whole rows, and then whole windows.",
    ),
)
def start_of_row(
    num_tokens: int, batch_size: int, num_steps: int, offset: int, row: int, batch: int
) -> int:
    length = (num_tokens - offset - 1) // batch_size
    return offset + row * length + batch * num_steps


start_of_row.answers("""
    row * ((num_tokens - offset - 1) // batch_size) + batch * num_steps
        the offset is forgotten, but the first row starts there.
    offset + batch * ((num_tokens - offset - 1) // batch_size) + row * num_steps
        row and batch are exchanged.
    offset + (batch * batch_size + row) * num_steps
        the windows are dealt out in order. Then no row goes on where it ended.
    offset + row * (num_tokens // batch_size) + batch * num_steps
        these are rows of `N // B` ids. Subtract the offset and one more id first.
""")


@numbers(
    ask="A stream has {num_tokens:,} ids, B = {batch_size}, T = {num_steps}, and the "
    "offset is {offset}. How many of its ids are never a target in this epoch?",
    draw=lambda rng: {
        "num_tokens": rng.randrange(3_000, 9_000),
        "batch_size": rng.randrange(4, 13),
        "num_steps": (num_steps := rng.randrange(20, 65)),
        "offset": rng.randrange(1, num_steps),
    },
    hints=(
        "How many targets are there in a row? Count those of all rows, and subtract "
        "them.",
    ),
)
def ids_without_turn(
    num_tokens: int, batch_size: int, num_steps: int, offset: int
) -> int:
    length = (num_tokens - offset - 1) // batch_size
    return num_tokens - batch_size * (length // num_steps) * num_steps


ids_without_turn.answers("""
    num_tokens - batch_size * ((num_tokens - offset - 1) // batch_size)
        the rows' remainders are missing. A row whose length is not a multiple of T
        loses its end.
    num_tokens - (num_tokens - offset - 1) // batch_size // num_steps * num_steps
        only one row's targets are subtracted.
    batch_size * ((num_tokens - offset - 1) // batch_size // num_steps) * num_steps
        these are the ids that *are* a target.
""")


@numbers(
    ask="T = {num_steps}, and the state is carried from batch to batch. Take the "
    "prediction at place {place} of a row in batch {batch}, where places and batches "
    "count from 0. On how many inputs of its row does it rest?",
    draw=lambda rng: {
        "num_steps": (num_steps := rng.randrange(8, 65)),
        "place": rng.randrange(1, num_steps - 1),
        "batch": rng.randrange(3, 30),
    },
    hints=(
        "It rests on all earlier batches, and on this one up to the place, which is "
        "included.",
    ),
)
def inputs_seen(num_steps: int, place: int, batch: int) -> int:
    return batch * num_steps + place + 1


inputs_seen.answers("""
    place + 1
        this is as far as the *gradient* reaches. But the state has also read the
        earlier batches.
    batch * num_steps + place
        one too few: the input at the place itself is also seen.
    (batch + 1) * num_steps + place + 1
        one batch too many: batches count from 0.
""")
