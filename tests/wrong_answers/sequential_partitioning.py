"""Lesson 04: what a class answers."""

# ruff: noqa: SIM110 (a class writes loops)

from __future__ import annotations

import numpy as np
import torch

from course_lib.foundation import token_ledger
from course_lib.sequential_partitioning import partition_starts, row_length
from wrong_answers import refused, right, wrong

# inputs_per_row

wrong("inputs_per_row", "exactly one too small")(lambda n, b, o: max(0, (n - o) // b) - 1)
wrong("inputs_per_row", "no `return`")(lambda n, b, o: (n - o - 1) // b if n > o else None)


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

wrong("inputs_per_row", "exactly one too large")(lambda n, b, o: max(1, (n - o - 1) // b))
right("inputs_per_row")(lambda n, b, o: len(range(o, n - 1)) // b)

# fold

wrong("fold", "rows and columns are exchanged")(
    lambda ids, r: np.array(ids[: len(ids) // r * r], dtype=int).reshape(r, -1).T
)


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


wrong("fold", None)(lambda ids, b: [piece.tolist() for piece in torch.tensor(ids).chunk(b)])


# start_in_stream: batch, row, num_steps, length, offset

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


right("start_in_stream")(lambda k, i, t, n, o: np.dot([k, i, 1], [t, n, o]))

# continues

wrong("continues", "rows are taken for columns")(lambda X, Y, f: f[0] == [row[-1] for row in Y])
wrong("continues", None, natural=False)(
    lambda X, Y, f: all(b[0] == a[-1] != c[-1] for a, b, c in zip(Y, f, X, strict=True))
)
wrong("continues", "where `True` or `False` is wanted")(
    lambda X, Y, f: sum(b[0] == a[-1] for a, b in zip(Y, f, strict=True))
)
wrong("continues", "several values")(lambda X, Y, f: [b[0] == a[-1] for a, b in zip(Y, f, strict=True)])


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


wrong("continues", None, natural=False)(
    lambda X, Y, following: all(x[-1] < f[0] for x, f in zip(X, following, strict=True))
)
right("continues")(lambda X, Y, following: [*zip(*Y, strict=True)][-1] == next(zip(*following, strict=True)))


# reach: batch, position, num_steps, carried

wrong("reach", "one value where several")(lambda k, p, t, c: k * t + p + 1 if c else p + 1)
wrong("reach", "has no order", natural=False)(lambda k, p, t, c: {k * t * c + p + 1, p + 1})

right("reach")(lambda k, p, t, c: (c * k * t + p + 1, p + 1))
right("reach")(lambda k, p, t, c: [len(range(0 if c else k * t, k * t + p + 1)), p + 1])
right("reach")(lambda k, p, t, c: np.array([k * t * c, 0]) + p + 1)

wrong("reach", None, natural=False)(lambda k, p, t, c: (k * t * p + 1 if c else p + 1, p + 1))
right("reach")(lambda k, p, t, c: np.array([k * t * c, 0]) + p + 1)

# never_a_target: num_tokens, batch_size, num_steps, offset

wrong("never_a_target", "the very first input")(
    lambda n, b, t, o: min(n, o + (n - o - 1) % (b * t)) if n > o else max(0, n - 1)
)
wrong("never_a_target", "a float where")(lambda n, b, t, o: n - max(0, (n - o - 1) / b) / t * b * t)


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
wrong("never_a_target", None)(lambda n, b, t, o: o + 1 + max(0, n - o - 1) % b + rows_of(n, b, o) % t)

# -- a class that had not seen the mistakes -------------------------------------------

wrong("start_in_stream", None)(lambda b, r, t, length, o: o + b * t * length + r * t)
wrong("reach", None)(lambda b, p, t, carried: (b * t + p if carried else p + 1, p + 1))


def targets(n, b, t, o):
    return max(0, n - 1 - o) // b // t * t * b


right("never_a_target")(lambda n, b, t, o: n - targets(n, b, t, o))
wrong("never_a_target", None)(lambda n, b, t, o: o + 1)
