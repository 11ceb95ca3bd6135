"""Hostile calls of the training loop and of evaluation."""

import math

import torch
from torch import nn

from course_lib.foundation import BigramModel
from course_lib.sliding_windows import SlidingWindowDataset, make_dataloader

V = 5
BATCH = (torch.tensor([[0, 1]]), torch.tensor([[1, 2]]))


def model():
    return BigramModel(V)


def answer(logits, targets):
    return logits.sum() * 0 + 42


def nans(logits, targets):
    return logits.sum() * math.nan


def loader():
    return make_dataloader(SlidingWindowDataset([0, 1, 2, 3, 4] * 3, 2), 4, base_seed=0)


ONE = {"num_updates": 1, "progress": False}
CALLS = {
    "len(train(model(), [BATCH], **ONE))": 1,
    "len(train(model(), [BATCH], progress=False, num_updates=np.int8(1)))": 1,
    "len(train(model(), [BATCH], learning_rate=torch.tensor(0.1), **ONE))": 1,
    "len(train(model(), loader(), num_updates=9, progress=False))": 9,
    "train(model(), [BATCH], loss_function=answer, **ONE)": [42],
    "train(model(), [], **ONE)": ValueError("batches must hold 1 for as many steps, but ended after 0"),
    "train(model(), [BATCH] * 3, num_updates=4, progress=False)": ValueError("but ended after 3"),
    "train(model(), [BATCH[0]], **ONE)": TypeError("batches must be pairs of inputs and targets, got Tensor"),
    "train(model(), [BATCH], loss_function=nans, **ONE)": ValueError("the loss became nan in step 0"),
    "train(nn.Identity(), [BATCH], **ONE)": ValueError("model must have at least one weight to train, got none"),
    "evaluate(model(), [0, 1], np.int16(1)).num_targets": 1,
    "evaluate(model(), [0, 1] * 40_000, np.int16(16)).num_targets": 79_999,
    "evaluate(model(), [0, 1, 2], 2**64).num_targets": 2,
    "evaluate(model(), np.array([4, 4, 4], dtype=np.uint8), 2, num_bytes=np.int8(2)).num_targets": 2,
    "evaluate(model(), [], 2)": ValueError("ids must hold at least 2 tokens"),
    "evaluate(model(), [3], 2)": ValueError("ids must hold at least 2 tokens"),
    "evaluate(model(), [0, 1, V], 2)": ValueError("targets must lie in 0 ... 4"),
    "evaluate(model(), [V, 0, 1], 2)": ValueError("inputs must lie in 0 ... 4, got 0 ... 5"),
    "evaluate(model(), [0, 1, 2], 2, num_bytes=0)": ValueError("num_bytes must be"),
    "Evaluation(1000.0, 1).perplexity": math.inf,
    "Evaluation(nan, 1).perplexity": math.nan,
    "Evaluation(inf, 1).bits_per_token": math.inf,
}
