"""Hostile calls of packed rows as batches."""

import torch

from course_lib.foundation import AttentionModel, BigramModel

ROWS = torch.tensor([[1, 2, 3, 4]])
BATCH = {"input_ids": ROWS, "labels": ROWS, "position_ids": torch.tensor([[0, 1, 0, 1]])}
PAIR = ({"inputs": ROWS}, ROWS)
NONE_SCORED = ({"inputs": ROWS}, torch.full_like(ROWS, -100))


def first(batches):
    return next(batches)[1].shape[0]


def model():
    return AttentionModel(5)


CALLS = {
    "packed_batch(BATCH)[0]['mask'][0]": torch.tensor([[1, 0, 0], [1, 1, 0], [0, 0, 1]]).bool().numpy(),
    "len(packed_batch(BATCH, masked=np.False_, reset=np.False_)[0])": 1,
    "packed_batch(BATCH, masked='no')": TypeError("masked must be True or False, got 'no'"),
    "packed_batch(BATCH, reset=None)": TypeError("reset must be True or False, got None"),
    "packed_batch(BATCH, masked=1)": TypeError("masked must be True or False, got 1"),
    "packed_batch({})": KeyError("position_ids"),
    "first(shuffled_batches(PAIR, np.int8(1), torch.Generator()))": 1,
    "first(shuffled_batches(PAIR, 2, torch.Generator()))": ValueError("batch_size must be"),
    "first(shuffled_batches(PAIR, 0, torch.Generator()))": ValueError("batch_size must be"),
    "first(shuffled_batches(PAIR, True, torch.Generator()))": TypeError("batch_size must be"),
    "packed_loss(model(), PAIR)[1]": 4,
    "packed_loss(model(), NONE_SCORED)": (0.0, 0),
    "packed_loss(AttentionModel, PAIR)": TypeError("model must be a torch.nn.Module, got type"),
    "packed_loss(None, PAIR)": TypeError("model must be a torch.nn.Module, got NoneType"),
    "packed_loss(BigramModel(4), PAIR)": ValueError("inputs must lie in 0 ... 3"),
}
