"""Hostile calls of batches as rows: shapes, types and masks that are not what they should be."""

import numpy as np
import torch

from course_lib.auditing_loaders.batch_rows import read_batch

ROWS = [[4, 5, 6], [7, 8, 9]]
TAKES_NO_DATA = {"BatchRows": "read_batch makes it, from what it has checked"}


def of_pair(inputs=ROWS, targets=ROWS):
    return read_batch((inputs, targets)).inputs


def of_mapping(**more):
    return read_batch({"input_ids": ROWS, **more})


CALLS = {
    "of_pair([4], [5])": np.array([[4, -1]]),
    "of_pair(torch.tensor(ROWS), np.array(ROWS, dtype=np.uint16))": np.array([[4, 5, 6, -1], [7, 8, 9, -1]]),
    "of_pair([[4, 5], [6]], [[5, 6], [7]])": np.array([[4, 5, -1], [6, -1, -1]]),
    "of_pair(np.zeros((0, 3), dtype=int), np.zeros((0, 3), dtype=int))": ValueError("the shape (B, T), got (0, 3)"),
    "of_pair(ROWS, [[5, 6], [8, 9]])": ValueError("must have a label for each input, got inputs of 2 rows of 3 ids"),
    "of_pair(ROWS, ROWS[:1])": ValueError("must have a label for each input"),
    "of_pair([[4, 5], [6]], [[5, 6], [7, 8]])": ValueError("must have a label for each input"),
    "of_pair([[]], [[]])": TypeError("inputs must hold integers"),
    "of_pair(np.zeros((2, 0), dtype=int), np.zeros((2, 0), dtype=int))": ValueError(
        "inputs must have the shape (B, T)"
    ),
    "of_pair([ROWS], [ROWS])": ValueError("inputs must have rows of ids"),
    "of_pair(np.zeros((1, 2, 3), dtype=int))": ValueError("inputs must have the shape (B, T), got (1, 2, 3)"),
    "of_pair(np.array(ROWS) / 2)": TypeError("inputs must hold integers"),
    "of_pair(ROWS, [['a', 'b', 'c']] * 2)": TypeError("targets must hold integers"),
    "of_pair(torch.tensor(ROWS).to_sparse())": TypeError("Sparse layout"),
    "of_pair({'input_ids': ROWS, 'labels': ROWS})": TypeError("must be a pair (inputs, targets)"),
    "of_pair(ROWS, {'labels': ROWS})": TypeError("must be a pair (inputs, targets)"),
    "read_batch(ROWS[0])": TypeError("must be a pair (inputs, targets), or a mapping"),
    "read_batch(torch.tensor(ROWS))": TypeError("got Tensor of torch.int64, shape (2, 3)"),
    "read_batch({'tokens': ROWS})": TypeError("got dict with tokens"),
    "read_batch({})": TypeError("got dict with nothing"),
    "read_batch({'input_ids': None})": TypeError("got dict with input_ids"),
    "read_batch(None)": TypeError("got NoneType"),
    "of_mapping(labels=None, attention_mask=None, position_ids=None).labels": None,
    "of_mapping(labels=[[4, 5, -100]] * 2).scored": np.array([[True, True, False]] * 2),
    "of_mapping(labels=ROWS[:1])": ValueError("must have a label for each input"),
    "of_mapping(attention_mask=[[1, 1, 0]] * 2).is_kept": np.array([[True, True, False]] * 2),
    "of_mapping(attention_mask=torch.ones(2, 3, 2))": ValueError(
        "attention_mask must have the shape (B, L), (B, L, L)"
    ),
    "of_mapping(attention_mask=[1, 0])": ValueError("with B, L = 2, 3, got (2,)"),
    "read_batch({'input_ids': [4, 5], 'attention_mask': [1, 0]}).is_kept": np.array([[True, False]]),
    "of_mapping(position_ids=[0, 1, 0]).begins": np.array([[False, False, True]] * 2),
    "of_mapping(position_ids=[[0.5, 1.5, 0.5]] * 2)": TypeError("position_ids must hold integers"),
    "of_mapping(position_ids=[[0, 1]] * 2)": ValueError("position_ids must"),
    "of_mapping(position_ids=[[0, 1, 2]] * 3)": ValueError("position_ids must"),
}
