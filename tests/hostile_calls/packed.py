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
    "packed_batch({})": TypeError("batch must be a PackingCollator's, with input_ids, labels, position_ids, got dict"),
    "first(shuffled_batches(None, 1, torch.Generator()))": TypeError("batch must be inputs by name and targets"),
    "first(shuffled_batches(BATCH, 1, torch.Generator()))": TypeError("as of packed_batch, got dict"),
    "first(shuffled_batches([{}], 1, torch.Generator()))": TypeError("got list"),
    "first(shuffled_batches(({}, None), 1, torch.Generator()))": TypeError("batch must be inputs by name and targets"),
    "first(shuffled_batches((PAIR[0], ROWS[:0]), 1, torch.Generator()))": TypeError("with as many rows"),
    "packed_loss(model(), None)": TypeError("batch must be inputs by name and targets"),
    "packed_loss(model(), 5)": TypeError("got int"),
    "packed_loss(model(), [{}])": TypeError("got list"),
    "packed_loss(model(), (part for part in PAIR))[1]": 4,
    "packed_loss(model(), (ROWS, ROWS))": TypeError("batch must be inputs by name and targets"),
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
