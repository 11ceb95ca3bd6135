"""Lesson 04: what a class answers."""

# ruff: noqa: SIM103, SIM110 (a class writes loops)

from __future__ import annotations

import math

import numpy as np
import torch

from course_lib.foundation import token_ledger
from course_lib.sequential_partitioning import partition_starts, row_length
from wrong_answers import refused, right, wrong

# inputs_per_row

wrong("inputs_per_row", "the last target is forgotten")(lambda n, b, o: max(0, (n - o) // b))
wrong("inputs_per_row", "not fewer")(lambda n, b, o: (n - o - 1) // b)
wrong("inputs_per_row", "not fewer")(lambda n, b, o: int((n - o - 1) / b))
wrong("inputs_per_row", "neither the offset nor the last target")(lambda n, b, o: n // b)
wrong("inputs_per_row", "the offset is not taken off")(lambda n, b, o: max(0, (n - 1) // b))
wrong("inputs_per_row", "one target for each row")(lambda n, b, o: max(0, (n - o - b) // b))
wrong("inputs_per_row", "one target for each row")(lambda n, b, o: (n - o) // b - 1)
wrong("inputs_per_row", "rounded to the nearest")(lambda n, b, o: max(0, round((n - o - 1) / b)))
wrong("inputs_per_row", "rounded up")(lambda n, b, o: max(0, math.ceil((n - o - 1) / b)))
wrong("inputs_per_row", "use parentheses")(lambda n, b, o: max(0, n - o - 1 // b))
wrong("inputs_per_row", "use parentheses")(lambda n, b, o: n - o - 1 // b)
wrong("inputs_per_row", "share them out")(lambda n, b, o: max(0, n - o - 1))
wrong("inputs_per_row", "all rows together")(lambda n, b, o: max(0, (n - o - 1) // b * b))
wrong("inputs_per_row", "a float where")(lambda n, b, o: max(0, (n - o - 1) / b))
wrong("inputs_per_row", "one id is added")(lambda n, b, o: max(0, (n - o + 1) // b))
wrong("inputs_per_row", "off each row")(lambda n, b, o: max(0, (n - 1) // b - o))
wrong("inputs_per_row", "the division comes first")(lambda n, b, o: n // b - o - 1)
wrong("inputs_per_row", "and the last target not at all")(lambda n, b, o: n // b - o)
wrong("inputs_per_row", "and the offset not at all")(lambda n, b, o: n // b - 1)
wrong("inputs_per_row", "nothing is to be added")(lambda n, b, o: (n - o - 1) // b + 1)
wrong("inputs_per_row", "exactly one too small")(lambda n, b, o: max(0, (n - o) // b) - 1)
wrong("inputs_per_row", "no `return`")(lambda n, b, o: (n - o - 1) // b if n > o else None)
wrong("inputs_per_row", "what is left over")(lambda n, b, o: max(0, (n - o - 1) % b))
wrong("inputs_per_row", "the sign is taken away")(lambda n, b, o: abs(n - o - 1) // b)
wrong("inputs_per_row", "the last target is forgotten")(lambda n, b, o: (n - o) // b if n > o else 0)


@wrong("inputs_per_row", "The call below did not end", ends=False, natural=False)
def counts_without_end(num_tokens, batch_size, offset):
    length = 0
    while length * batch_size != num_tokens - offset - 1:
        length += 1
    return length


right("inputs_per_row")(lambda n, b, o: (n - o - 1) // b if n > o else 0)
right("inputs_per_row")(row_length)
right("inputs_per_row")(lambda n, b, o: np.int64(max(0, n - o - 1)) // b)


@right("inputs_per_row")
def deals_them_out(num_tokens, batch_size, offset):
    left, length = num_tokens - offset - 1, 0
    while left >= batch_size:
        left, length = left - batch_size, length + 1
    return length


refused("inputs_per_row", "a float where")(lambda n, b, o: float(max(0, (n - o - 1) // b)))

wrong("inputs_per_row", "the offset is added")(lambda n, b, o: (n + o - 1) // b)
wrong("inputs_per_row", "the offset is added")(lambda n, b, o: max(0, (n + o - 1) // b))
wrong("inputs_per_row", "exactly one too large")(lambda n, b, o: max(1, (n - o - 1) // b))
right("inputs_per_row")(lambda n, b, o: len(range(o, n - 1)) // b)

# fold

wrong("fold", "dealt out like cards")(lambda ids, r: [ids[i::r][: len(ids) // r] for i in range(r)])
wrong("fold", "dealt out like cards, and not cut")(lambda ids, r: [ids[i::r] for i in range(r)])
wrong("fold", "dealt out like cards")(
    lambda ids, r: (
        np.array(ids[: len(ids) // r * r], dtype=int).reshape(-1, r).T.tolist() if len(ids) >= r else [[]] * r
    )
)
wrong("fold", "rows and columns are exchanged")(
    lambda ids, r: np.array(ids[: len(ids) // r * r], dtype=int).reshape(len(ids) // r, r)
)
wrong("fold", "rows and columns are exchanged")(lambda ids, r: [ids[i : i + r] for i in range(0, len(ids), r)])
wrong("fold", "rows and columns are exchanged")(
    lambda ids, r: np.array(ids[: len(ids) // r * r], dtype=int).reshape(r, -1).T
)
wrong("fold", "too many rows")(lambda ids, r: [ids[i : i + len(ids) // r] for i in range(0, len(ids), len(ids) // r)])
wrong("fold", "steps of 0")(
    lambda ids, r: [ids[i : i + len(ids) // r] for i in range(0, len(ids) // r * r, len(ids) // r)]
)
wrong("fold", "as many rows as fit")(
    lambda ids, r: [ids[i : i + len(ids) // r] for i in range(0, len(ids) - len(ids) // r + 1, len(ids) // r)]
)
wrong("fold", "rounded up")(
    lambda ids, r: [ids[i * math.ceil(len(ids) / r) : (i + 1) * math.ceil(len(ids) / r)] for i in range(r)]
)
wrong("fold", "kept back for the last target")(
    lambda ids, r: [ids[i * ((len(ids) - 1) // r) : (i + 1) * ((len(ids) - 1) // r)] for i in range(r)]
)
wrong("fold", "not folded")(lambda ids, r: ids[: len(ids) // r * r])
wrong("fold", "one id too long")(
    lambda ids, r: [ids[i * (len(ids) // r) : (i + 1) * (len(ids) // r) + 1] for i in range(r)]
)
wrong("fold", "one id too short")(
    lambda ids, r: [ids[i * (len(ids) // r) : max(0, (i + 1) * (len(ids) // r) - 1)] for i in range(r)]
)
wrong("fold", "the last row is missing")(
    lambda ids, r: [ids[i * (len(ids) // r) : (i + 1) * (len(ids) // r)] for i in range(r - 1)]
)
wrong("fold", "shared out")(lambda ids, r: [row.tolist() for row in np.array_split(ids, r)])
wrong("fold", "left out at the beginning")(
    lambda ids, r: np.array(ids[len(ids) % r :], dtype=int).reshape(r, len(ids) // r)
)
wrong("fold", "`num_rows` empty rows, not no rows")(
    lambda ids, r: [ids[i * (len(ids) // r) : (i + 1) * (len(ids) // r)] for i in range(r)] if len(ids) >= r else []
)


@wrong("fold", "the last row is longer")
def the_rest_to_the_last(ids, num_rows):
    length = len(ids) // num_rows
    rows = [ids[i * length : (i + 1) * length] for i in range(num_rows - 1)]
    rows.append(ids[(num_rows - 1) * length :])
    return rows


@wrong("fold", "changes its arguments")
def pops(ids, num_rows):
    length = len(ids) // num_rows
    return [[ids.pop(0) for _ in range(length)] for _ in range(num_rows)]


@wrong("fold", "did not end", ends=False, natural=False)
def cuts_until_nothing_is_left(ids, num_rows):
    rows, length, start = [], len(ids) // num_rows, 0
    while start + length <= len(ids):
        rows.append(ids[start : start + length])
        start += length
    return rows[:num_rows]


@right("fold")
def with_torch(ids, num_rows):
    length = len(ids) // num_rows
    return torch.tensor(ids[: num_rows * length], dtype=torch.int64).view(num_rows, length)


@right("fold")
def with_a_loop(ids, num_rows):
    rows = []
    for row in range(num_rows):
        rows.append([])
        for column in range(len(ids) // num_rows):
            rows[-1].append(ids[row * (len(ids) // num_rows) + column])
    return rows


right("fold")(lambda ids, r: np.resize(np.array(ids, dtype=int), (r, len(ids) // r)))
right("fold")(lambda ids, r: tuple(tuple(ids[i * (len(ids) // r) :][: len(ids) // r]) for i in range(r)))


@wrong("fold", "too many rows")
def in_steps(ids, num_rows):
    length = len(ids) // num_rows
    return [ids[i : i + length] for i in range(0, len(ids), length)]


@wrong("fold", "an end of -1 counts from the end")
def ends_one_early(ids, num_rows):
    length = len(ids) // num_rows
    return [ids[i * length : (i + 1) * length - 1] for i in range(num_rows)]


wrong("fold", "row i begins at i * length")(lambda ids, b: [ids[i : i + len(ids) // b] for i in range(b)])
wrong("fold", "not a single one")(
    lambda ids, b: [ids[i * (len(ids) // b) :][: len(ids) // b] for i in range(b)] if len(ids) >= b else [[]]
)
wrong("fold", "the length is 0, not 1")(
    lambda ids, b: [ids[i * max(1, len(ids) // b) : (i + 1) * max(1, len(ids) // b)] for i in range(b)]
)
wrong("fold", None)(lambda ids, b: [piece.tolist() for piece in torch.tensor(ids).chunk(b)])


@wrong("fold", "`[:-0]` is `[:0]`")
def cut_from_behind(ids, num_rows):
    whole = ids[: -(len(ids) % num_rows)]
    length = len(whole) // num_rows
    return [whole[i * length : (i + 1) * length] for i in range(num_rows)]


# start_in_stream: batch, row, num_steps, length, offset

wrong("start_in_stream", "row and batch are exchanged")(lambda k, i, t, n, o: o + k * n + i * t)
wrong("start_in_stream", "row and batch are exchanged, and the offset")(lambda k, i, t, n, o: k * n + i * t)
wrong("start_in_stream", "the offset is missing")(lambda k, i, t, n, o: i * n + k * t)
wrong("start_in_stream", "not by one")(lambda k, i, t, n, o: o + i * n + k)
wrong("start_in_stream", "windows share no input")(lambda k, i, t, n, o: o + i * n + k * (t + 1))
wrong("start_in_stream", "the remainder of each row")(lambda k, i, t, n, o: o + i * (n // t) * t + k * t)
wrong("start_in_stream", "no id stands between them")(lambda k, i, t, n, o: o + i * (n + 1) + k * t)
wrong("start_in_stream", "not in every row")(lambda k, i, t, n, o: (i + 1) * o + i * n + k * t)
wrong("start_in_stream", "row 0 already")(lambda k, i, t, n, o: i * (o + n) + k * t)
wrong("start_in_stream", "not T: between two rows")(lambda k, i, t, n, o: o + (i + k) * t)
wrong("start_in_stream", "they share no input")(lambda k, i, t, n, o: o + i * (n - 1) + k * t)
wrong("start_in_stream", "`length` ids on, not one")(lambda k, i, t, n, o: o + k * t + i)
wrong("start_in_stream", None)(lambda k, i, t, n, o: o + i * t + k)
wrong("start_in_stream", "not by `length`")(lambda k, i, t, n, o: o + (i + k) * n)
wrong("start_in_stream", "whatever T is")(lambda k, i, t, n, o: o + i * n * t + k * t)
wrong("start_in_stream", "batches count from 0")(lambda k, i, t, n, o: o + i * n + (k - 1) * t)
wrong("start_in_stream", "rows count from 0")(lambda k, i, t, n, o: o + (i - 1) * n + k * t)
wrong("start_in_stream", "rows and batches count from 0")(lambda k, i, t, n, o: o + (i - 1) * n + (k - 1) * t)
wrong("start_in_stream", "one id too far")(lambda k, i, t, n, o: o + i * n + k * t + 1)
wrong("start_in_stream", "where the window ends")(lambda k, i, t, n, o: o + i * n + k * t + t)
wrong("start_in_stream", "rows above this one are missing")(lambda k, i, t, n, o: o + k * t)
wrong("start_in_stream", "a float where")(lambda k, i, t, n, o: o + i * n + k * t / 1)
wrong("start_in_stream", "several values")(lambda k, i, t, n, o: [o + i * n + k * t])
wrong("start_in_stream", None, natural=False)(lambda k, i, t, n, o: o + i * n + k * t if k else o)

right("start_in_stream")(lambda k, i, t, n, o: int(o + np.arange(n)[k * t] + i * n))
right("start_in_stream")(lambda k, i, t, n, o: torch.tensor([1, i, k]) @ torch.tensor([o, n, t]))


@right("start_in_stream")
def walks(batch, row, num_steps, length, offset):
    position = offset
    for _ in range(row):
        position += length
    for _ in range(batch):
        position += num_steps
    return position


wrong("start_in_stream", "not of windows")(lambda k, i, t, n, o: o * t + i * n + k * t)
wrong("start_in_stream", "not T - 1")(lambda k, i, t, n, o: o + i * n + k * (t - 1))
wrong("start_in_stream", "behind the offset: nothing more")(lambda k, i, t, n, o: o + i * (n - o) + k * t)
wrong("start_in_stream", "not rounded up")(lambda k, i, t, n, o: o + i * math.ceil(n / t) * t + k * t)
right("start_in_stream")(lambda k, i, t, n, o: np.dot([k, i, 1], [t, n, o]))

# continues

wrong("continues", "the last *input*")(lambda X, Y, f: all(b[0] == a[-1] for a, b in zip(X, f, strict=True)))
wrong("continues", "the *last* id of the next")(lambda X, Y, f: all(b[-1] == a[-1] for a, b in zip(Y, f, strict=True)))
wrong("continues", "the *first* target")(lambda X, Y, f: all(b[0] == a[0] for a, b in zip(Y, f, strict=True)))
wrong("continues", "first and last are exchanged")(
    lambda X, Y, f: all(b[-1] == a[0] for a, b in zip(Y, f, strict=True))
)
wrong("continues", "as a whole")(lambda X, Y, f: f == Y)
wrong("continues", "as a whole")(lambda X, Y, f: np.array_equal(f, Y))
wrong("continues", "only the first row")(lambda X, Y, f: f[0][0] == Y[0][-1])
wrong("continues", "row 0 of the next batch")(lambda X, Y, f: f[0][0] == Y[-1][-1])
wrong("continues", "one row is enough")(lambda X, Y, f: any(b[0] == a[-1] for a, b in zip(Y, f, strict=True)))
wrong("continues", "as if the rows of a batch were one text")(
    lambda X, Y, f: all(f[i + 1 if i + 1 < len(f) else 0][0] == Y[i][-1] for i in range(len(Y)))
)
wrong("continues", "without regard to their rows")(lambda X, Y, f: sorted(b[0] for b in f) == sorted(a[-1] for a in Y))
wrong("continues", "without regard to their rows")(lambda X, Y, f: {b[0] for b in f} == {a[-1] for a in Y})
wrong("continues", "anywhere in the next row")(lambda X, Y, f: all(a[-1] in b for a, b in zip(Y, f, strict=True)))
wrong("continues", "rows are taken for columns")(lambda X, Y, f: f[0] == Y[-1])
wrong("continues", "never `True`")(lambda X, Y, f: f[0] == Y[-1][-1])
wrong("continues", "rows are taken for columns")(lambda X, Y, f: f[0] == [row[-1] for row in Y])
wrong("continues", "always `True`")(lambda X, Y, f: len(f) == len(Y))
wrong("continues", None, natural=False)(
    lambda X, Y, f: all(b[0] == a[-1] != c[-1] for a, b, c in zip(Y, f, X, strict=True))
)
wrong("continues", "on the integers 0, 1, 2")(lambda X, Y, f: all(b[0] == a[-1] + 1 for a, b in zip(X, f, strict=True)))
wrong("continues", "one larger than the last target")(
    lambda X, Y, f: all(b[0] == a[-1] + 1 for a, b in zip(Y, f, strict=True))
)
wrong("continues", "the wrong way round")(lambda X, Y, f: any(b[0] != a[-1] for a, b in zip(Y, f, strict=True)))
wrong("continues", "where `True` or `False` is wanted")(
    lambda X, Y, f: sum(b[0] == a[-1] for a, b in zip(Y, f, strict=True))
)
wrong("continues", "several values")(lambda X, Y, f: [b[0] == a[-1] for a, b in zip(Y, f, strict=True)])
wrong("continues", "no array")(lambda X, Y, f: (f[:, 0] == Y[:, -1]).all())


@wrong("continues", "only the last row decides")
def keeps_the_last_verdict(X, Y, following):
    for row, next_row in zip(Y, following, strict=True):
        verdict = next_row[0] == row[-1]
    return verdict


@wrong("continues", "only the first row")
def returns_in_the_first_round(X, Y, following):
    for row, next_row in zip(Y, following, strict=True):
        if next_row[0] == row[-1]:
            return True
        return False


@wrong("continues", "one row is enough")
def returns_true_too_early(X, Y, following):
    for row, next_row in zip(Y, following, strict=True):
        if next_row[0] == row[-1]:
            return True
    return False


@wrong("continues", "no `return`")
def forgets_the_good_end(X, Y, following):
    for row, next_row in zip(Y, following, strict=True):
        if next_row[0] != row[-1]:
            return False


right("continues")(lambda X, Y, f: (np.array(f)[:, 0] == np.array(Y)[:, -1]).all())
right("continues")(lambda X, Y, f: (torch.tensor(f)[:, 0] == torch.tensor(Y)[:, -1]).all())
right("continues")(lambda X, Y, f: np.array(np.array_equal(np.array(f)[:, 0], np.array(Y)[:, -1])))
right("continues")(lambda X, Y, f: [row[0] for row in f] == [row[-1] for row in Y])


@right("continues")
def row_by_row(X, Y, following):
    for i in range(len(Y)):
        if following[i][0] != Y[i][-1]:
            return False
    return True


wrong("continues", "the row of the same number")(
    lambda X, Y, following: all(Y[i][-1] == following[i + 1][0] for i in range(len(Y) - 1))
)
wrong("continues", "the last row is not compared")(
    lambda X, Y, following: all(Y[i][-1] == following[i][0] for i in range(len(Y) - 1))
)
wrong("continues", "the first row is not compared")(
    lambda X, Y, following: all(Y[i][-1] == following[i][0] for i in range(1, len(Y)))
)
wrong("continues", "as many rows are compared as a row has ids")(
    lambda X, Y, following: all(Y[i][-1] == following[i][0] for i in range(len(X[0])))
)
wrong("continues", "most of the rows", natural=False)(
    lambda X, Y, following: 2 * sum(y[-1] == f[0] for y, f in zip(Y, following, strict=True)) >= len(Y)
)
wrong("continues", None, natural=False)(
    lambda X, Y, following: all(x[-1] < f[0] for x, f in zip(X, following, strict=True))
)
right("continues")(lambda X, Y, following: [*zip(*Y, strict=True)][-1] == next(zip(*following, strict=True)))

wrong("continues", "one object")(lambda X, Y, following: all(y[-1] is f[0] for y, f in zip(Y, following, strict=True)))

# reach: batch, position, num_steps, carried

wrong("reach", "the gradient crosses windows too")(
    lambda k, p, t, c: (k * t + p + 1, k * t + p + 1) if c else (p + 1, p + 1)
)
wrong("reach", "even without a carried state")(lambda k, p, t, c: (k * t + p + 1 if c else p + 1, k * t + p + 1))
wrong("reach", "in both numbers")(lambda k, p, t, c: (k * t + p + 1, k * t + p + 1))
wrong("reach", "to the last one alone")(lambda k, p, t, c: (k * t * c + p + 1, 1))
wrong("reach", "an off-by-one, as the input")(lambda k, p, t, c: (k * t + p, k * t + p) if c else (p, p))
wrong("reach", "without a carried state too")(lambda k, p, t, c: (k * t + p + 1, p + 1) if c else (t, t))
wrong("reach", "not inside it")(lambda k, p, t, c: (k * t + p + 1 if c else p + 1, 0))
wrong("reach", "as far as without")(lambda k, p, t, c: (k * t + p + 1, 0) if c else (p + 1, p + 1))
wrong("reach", "as far as with a carried one")(lambda k, p, t, c: (k * t + p + 1, p + 1) if c else (p + 1, 0))
wrong("reach", "an off-by-one")(lambda k, p, t, c: (k * t + p if c else p, p))
wrong("reach", "the first number is off by one")(lambda k, p, t, c: (k * t * c + p, p + 1))
wrong("reach", "the second number is off by one")(lambda k, p, t, c: (k * t * c + p + 1, p))
wrong("reach", "the batches before count")(lambda k, p, t, c: (p + 1, p + 1))
wrong("reach", "nothing of the batches before")(lambda k, p, t, c: (k * t + p + 1, p + 1))
wrong("reach", "the wrong way round")(lambda k, p, t, c: (p + 1, k * t + p + 1 if c else p + 1))
wrong("reach", "does not reach inputs")(lambda k, p, t, c: (k * t + p + 1 if c else p + 1, t))
wrong("reach", "count for neither")(lambda k, p, t, c: ((k + 1) * t if c else t, t))
wrong("reach", "are not seen")(lambda k, p, t, c: ((k + 1) * t if c else t, p + 1))
wrong("reach", "not only the last one")(lambda k, p, t, c: (t + p + 1 if c and k else p + 1, p + 1))
wrong("reach", "one too many")(lambda k, p, t, c: (k * t + t + p + 1 if c else p + 1, p + 1))
wrong("reach", "one too few")(lambda k, p, t, c: ((k - 1) * t + p + 1 if c else p + 1, p + 1))
wrong("reach", "carried and not carried are exchanged")(lambda k, p, t, c: (p + 1 if c else k * t + p + 1, p + 1))
wrong("reach", "T inputs to a row, not one")(lambda k, p, t, c: (k + p + 1 if c else p + 1, p + 1))
wrong("reach", "counts the window too")(lambda k, p, t, c: (k * t if c else p + 1, p + 1))
wrong("reach", "one value where several")(lambda k, p, t, c: k * t + p + 1 if c else p + 1)
wrong("reach", "has no order", natural=False)(lambda k, p, t, c: {k * t * c + p + 1, p + 1})
wrong("reach", "the gradient crosses windows too")(lambda k, p, t, c: [k * t * c + p + 1] * 2)

right("reach")(lambda k, p, t, c: (c * k * t + p + 1, p + 1))
right("reach")(lambda k, p, t, c: [len(range(0 if c else k * t, k * t + p + 1)), p + 1])
right("reach")(lambda k, p, t, c: np.array([k * t * c, 0]) + p + 1)

wrong("reach", "too, the gradient ends at `position`")(lambda k, p, t, c: (k * t + p + 1, t) if c else (p + 1, p + 1))
wrong("reach", "not T + 1")(lambda k, p, t, c: (k * (t + 1) + p + 1 if c else p + 1, p + 1))
wrong("reach", "it ends where the window begins")(
    lambda k, p, t, c: (k * t + p + 1, min(t, k * t + p + 1)) if c else (p + 1, p + 1)
)
wrong("reach", "and not b - 1")(lambda k, p, t, c: (max(0, k - 1) * t * c + p + 1, p + 1))
wrong("reach", None, natural=False)(lambda k, p, t, c: (k * t * p + 1 if c else p + 1, p + 1))
right("reach")(lambda k, p, t, c: np.array([k * t * c, 0]) + p + 1)

# never_a_target: num_tokens, batch_size, num_steps, offset

wrong("never_a_target", "multiplies first")(
    lambda num_tokens, batch_size, num_steps, offset: (
        num_tokens - max(0, (num_tokens - offset - 1) // batch_size) * batch_size // num_steps * num_steps
    )
)
wrong("never_a_target", "more tokens than there are")(lambda n, b, t, o: n - b * ((n - o - 1) // b // t) * t)
wrong("never_a_target", "more tokens than there are")(lambda n, b, t, o: n - (n - o - 1) // (b * t) * b * t)
wrong("never_a_target", "a remainder of its own")(lambda n, b, t, o: n - b * max(0, (n - o - 1) // b))
wrong("never_a_target", "only the rows' remainders")(lambda n, b, t, o: b * (max(0, (n - o - 1) // b) % t))
wrong("never_a_target", "the offset and the very first input")(lambda n, b, t, o: max(0, n - o - 1) % (b * t))
wrong("never_a_target", "what does not go round")(lambda n, b, t, o: o + 1 + b * (max(0, n - o - 1) // b % t))
wrong("never_a_target", "neither the very first input")(lambda n, b, t, o: o + b * ((n - o - 1) // b % t))
wrong("never_a_target", "the very first input is no target")(
    lambda n, b, t, o: o + (n - o - 1) % b + b * ((n - o - 1) // b % t)
)
wrong("never_a_target", "counted for each row")(lambda n, b, t, o: o + b + b * ((n - o - 1) // b % t))
wrong("never_a_target", "not one")(lambda n, b, t, o: n - (n - o - 1) // b // t)
wrong("never_a_target", "N, not 0")(lambda n, b, t, o: n - (n - o - 1) // b // t * t * b if n - o > b * t else 0)
wrong("never_a_target", "take it off first")(lambda n, b, t, o: n - (n - 1) // b // t * t * b)
wrong("never_a_target", "one id is kept")(lambda n, b, t, o: n - (n - o) // b // t * t * b)
wrong("never_a_target", "a remainder of its own")(lambda n, b, t, o: n - (n - o - 1) // b * b)
wrong("never_a_target", "exactly one too small")(
    lambda n, b, t, o: min(n, o + (n - o - 1) % (b * t)) if n > o else max(0, n - 1)
)
wrong("never_a_target", "that is the number of targets")(lambda n, b, t, o: max(0, (n - o - 1) // b) // t * b * t)
wrong("never_a_target", "of one row only are counted")(lambda n, b, t, o: n - max(0, (n - o - 1) // b) // t * t)
wrong("never_a_target", "predictions, not B")(lambda n, b, t, o: n - max(0, (n - o - 1) // b) // t * b)
wrong("never_a_target", "one id is kept")(lambda n, b, t, o: n - max(0, (n - o) // b) // t * b * t)
wrong("never_a_target", "take it off first")(lambda n, b, t, o: n - max(0, (n - 1) // b) // t * b * t)
wrong("never_a_target", "neither the offset nor the last target")(lambda n, b, t, o: n - n // b // t * b * t)
wrong("never_a_target", "first input is counted as no target")(
    lambda n, b, t, o: n - max(0, n - o - 1) // (b * t) * b * t + (b - 1 if n - o - 1 >= b * t else 0)
)
wrong("never_a_target", "a float where")(lambda n, b, t, o: n - max(0, (n - o - 1) / b) / t * b * t)
wrong("never_a_target", "the remainder of one row only")(
    lambda n, b, t, o: n - b * max(0, (n - o - 1) // b) + max(0, (n - o - 1) // b) % t
)
wrong("never_a_target", "neither the offset nor the last target", natural=False)(lambda n, b, t, o: n % (b * t))


@wrong("never_a_target", "never *used*")
def adds_up_what_is_dropped(num_tokens, batch_size, num_steps, offset):
    starts = partition_starts(num_tokens, batch_size, num_steps, offset)
    return sum(token_ledger(starts, num_tokens, num_steps).dropped.values())


@wrong("never_a_target", "that is the number of targets")
def counts_them(num_tokens, batch_size, num_steps, offset):
    starts = partition_starts(num_tokens, batch_size, num_steps, offset)
    return token_ledger(starts, num_tokens, num_steps).targets


@right("never_a_target")
def from_the_ledger(num_tokens, batch_size, num_steps, offset):
    starts = partition_starts(num_tokens, batch_size, num_steps, offset)
    return num_tokens - token_ledger(starts, num_tokens, num_steps).targets


@right("never_a_target")
def marks_them(num_tokens, batch_size, num_steps, offset):
    is_target = np.zeros(num_tokens, dtype=bool)
    for start in partition_starts(num_tokens, batch_size, num_steps, offset).ravel():
        is_target[start + 1 : start + num_steps + 1] = True
    return (~is_target).sum()


right("never_a_target")(lambda n, b, t, o: n - max(0, n - o - 1) // (b * t) * b * t)


def rows_of(n, b, o):
    return max(0, n - o - 1) // b


right("never_a_target")(lambda n, b, t, o: n - rows_of(n, t, o) // b * b * t)
wrong("never_a_target", "the skipped ids are taken off")(lambda n, b, t, o: n - o - rows_of(n, b, o) // t * b * t)
wrong("never_a_target", "only that of row 0")(lambda n, b, t, o: n - rows_of(n, b, o) // t * b * t + b - 1)
wrong("never_a_target", "one id of each row")(lambda n, b, t, o: n - max(0, (n - o) // b - 1) // t * b * t)
wrong("never_a_target", "ends inside the offset")(lambda n, b, t, o: o + 1 + max(0, n - o - 1) % (b * t))
wrong("never_a_target", "only begun")(lambda n, b, t, o: n - math.ceil(rows_of(n, b, o) / t) * b * t)
wrong("never_a_target", "not T + 1")(lambda n, b, t, o: n - max(0, n - o) // b // (t + 1) * b * t)
wrong("never_a_target", "not T - 1")(lambda n, b, t, o: n - rows_of(n, b, o) // t * b * (t - 1))
wrong("never_a_target", None)(lambda n, b, t, o: o + 1 + max(0, n - o - 1) % b + rows_of(n, b, o) % t)

# -- a class that had not seen the mistakes -------------------------------------------

wrong("start_in_stream", "the offset is multiplied by the length")(lambda b, r, t, length, o: (o + r) * length + b * t)
wrong("start_in_stream", None)(lambda b, r, t, length, o: o + b * t * length + r * t)
wrong("reach", None)(lambda b, p, t, carried: (b * t + p if carried else p + 1, p + 1))


def targets(n, b, t, o):
    return max(0, n - 1 - o) // b // t * t * b


right("never_a_target")(lambda n, b, t, o: n - targets(n, b, t, o))
wrong("never_a_target", "the first input of each row is counted")(lambda n, b, t, o: n - targets(n, b, t, o) + b)
wrong("never_a_target", "as in random sampling")(lambda n, b, t, o: n - max(0, n - 1 - o) // t * t)
wrong("never_a_target", "counts as a whole batch")(
    lambda n, b, t, o: max(0, n - -(-(max(0, n - 1 - o) // b) // t) * t * b)
)
wrong("never_a_target", None)(lambda n, b, t, o: o + 1)


wrong("continues", "the first row of the next batch")(lambda X, Y, following: following[0][0] == X[-1][-1])
