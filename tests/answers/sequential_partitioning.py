"""Answers to the exercises of lesson 4: right ones, and wrong ones with words of what they are told."""

import numpy as np
import torch

from course_lib.exercises.sequential_partitioning import continues, fold, reach, start_in_stream
from course_lib.teaching.checker import FAILED, PASSED


def with_reshape(ids, num_rows):
    length = len(ids) // num_rows
    return np.array(ids[: length * num_rows], dtype=int).reshape(num_rows, length)


def taken_from_the_front(ids, num_rows):
    length, rest, rows = len(ids) // num_rows, list(ids), []
    for _ in range(num_rows):
        rows.append(rest[:length])
        rest = rest[length:]
    return rows


def reshaped_to_columns(ids, num_rows):
    length = len(ids) // num_rows
    return np.array(ids[: length * num_rows], dtype=int).reshape(length, num_rows)


def by_counting_on(batch, row, num_steps, length, offset):
    place = offset
    for _ in range(row):
        place += length
    for _ in range(batch):
        place += num_steps
    return place


def windows_in_order(batch, row, num_steps, length, offset):
    windows_a_row = length // num_steps
    return offset + (row * windows_a_row + batch) * num_steps


def with_tensors(X, Y, following):
    return torch.equal(torch.tensor(following)[:, 0], torch.tensor(Y)[:, -1])


def found_no_jump(X, Y, following):
    jumps = 0
    for number in range(len(X)):
        if following[number][0] != Y[number][-1]:
            jumps += 1
    return jumps == 0


def only_the_first_row(X, Y, following):
    for number in range(len(X)):
        return following[number][0] == Y[number][-1]


def after_the_inputs(X, Y, following):
    return [row[0] for row in following] == [row[-1] for row in X]


def read_step_by_step(batch, position, num_steps, carried):
    seen = reached = 0
    for b in range(batch + 1):
        reached = 0
        if not carried:
            seen = 0
        for _ in range(num_steps if b < batch else position + 1):
            seen += 1
            reached += 1
    return seen, reached


def whole_windows(batch, position, num_steps, carried):
    return ((batch + 1) * num_steps if carried else num_steps), num_steps


def rest_in_the_last_row(ids, num_rows):
    length = len(ids) // num_rows
    rows = [ids[row * length : (row + 1) * length] for row in range(num_rows - 1)]
    return [*rows, ids[(num_rows - 1) * length :]]


def room_for_a_target(ids, num_rows):
    length = max(0, len(ids) - 1) // num_rows
    return [ids[row * length : row * length + length] for row in range(num_rows)]


def rows_with_a_target(batch, row, num_steps, length, offset):
    start_of_row = offset + row * (length + 1)
    return start_of_row + batch * num_steps


def as_one_text(X, Y, following):
    last_row = Y[len(Y) - 1]
    return following[0][0] == last_row[-1]


def the_same_as_the_targets(X, Y, following):
    return all(asked == read for asked, read in zip(Y, following, strict=True))


def one_batch_too_many(batch, position, num_steps, carried):
    seen = (batch + 1) * num_steps + position + 1 if carried else position + 1
    return seen, position + 1


def gradient_of_one_input(batch, position, num_steps, carried):
    seen = position + 1
    if carried:
        seen += batch * num_steps
    return seen, 1


ANSWERS = [
    (fold, with_reshape, PASSED),
    (fold, taken_from_the_front, PASSED),
    (fold, lambda ids, n: [ids[len(ids) // n * i :][: len(ids) // n] for i in range(n)], PASSED),
    (fold, reshaped_to_columns, "pieces of `num_rows` ids"),
    (fold, lambda ids, n: [ids[i : len(ids) // n * n : n] for i in range(n)], "like cards"),
    (
        fold,
        lambda ids, n: [ids[i : i + len(ids) // n] for i in range(0, len(ids), len(ids) // n)],
        "not through the rows",
    ),
    (fold, lambda ids, n: [] if n > len(ids) else fold(ids, n), "fewer ids than rows"),
    (fold, lambda ids, n: [ids[i : i + len(ids) // n] for i in range(n)], FAILED),
    (start_in_stream, by_counting_on, PASSED),
    (start_in_stream, lambda batch, row, T, n, o: range(o + row * n, o + (row + 1) * n + 1, T)[batch], PASSED),
    (start_in_stream, windows_in_order, "still lie between"),
    (start_in_stream, lambda batch, row, T, n, o: n * row + T * batch, "forget the offset"),
    (start_in_stream, lambda batch, row, T, n, o: o + T * row + n * batch, "swap row and batch"),
    (start_in_stream, lambda batch, row, T, n, o: o + T * batch + (n + o) * row, "only once, before row 0"),
    (start_in_stream, lambda batch, row, T, n, o: o + row * T + batch * T, FAILED),
    (continues, with_tensors, PASSED),
    (continues, found_no_jump, PASSED),
    (continues, lambda X, Y, Z: [y[-1:] for y in Y] == [z[:1] for z in Z], PASSED),
    (continues, after_the_inputs, "the last *input*"),
    (continues, only_the_first_row, "check all rows"),
    (continues, lambda X, Y, Z: all(z[0] - y[-1] == 1 for y, z in zip(Y, Z, strict=True)), "one larger"),
    (continues, lambda X, Y, Z: all(z[0] == y[0] for y, z in zip(Y, Z, strict=True)), "the wrong ends"),
    (continues, lambda X, Y, Z: X != Z, FAILED),
    (reach, read_step_by_step, PASSED),
    (reach, lambda b, p, T, carried: (int(carried) * b * T + p + 1, p + 1), PASSED),
    (reach, lambda b, p, T, carried: (b * T + p + 1 if carried else p + 1,) * 2, "cross windows"),
    (reach, lambda b, p, T, carried: (b * T * carried + p, p), "position 0 already sees"),
    (reach, whole_windows, "the whole window"),
    (reach, lambda b, p, T, carried: (b * T + p + 1, p + 1), "ignore `carried`"),
    (reach, lambda b, p, T, carried: (p + 1, b * T + p + 1), FAILED),
    (fold, rest_in_the_last_row, "rows of different lengths"),
    (fold, room_for_a_target, "one id back"),
    (start_in_stream, rows_with_a_target, "room for an extra target"),
    (continues, as_one_text, "as if a batch were one text"),
    (continues, the_same_as_the_targets, "with all the targets"),
    (reach, one_batch_too_many, "miscount the batches before"),
    (reach, gradient_of_one_input, "the gradient too early"),
]
