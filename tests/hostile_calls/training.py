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


ONE = {"num_steps": 1, "progress": False}
CALLS = {
    "len(train(model(), [BATCH], **ONE))": 1,
    "len(train(model(), [BATCH], progress=False, num_steps=np.int8(1)))": 1,
    "len(train(model(), [BATCH], learning_rate=torch.tensor(0.1), **ONE))": 1,
    "len(train(model(), loader(), num_steps=9, progress=False))": 9,
    "train(model(), [BATCH], learning_rate=inf, **ONE)": ValueError("learning_rate must be a finite number"),
    "train(model(), [BATCH], learning_rate=nan, **ONE)": ValueError("above 0, got nan"),
    "train(model(), [BATCH], learning_rate=0, **ONE)": ValueError("above 0, got 0"),
    "train(model(), [BATCH], learning_rate='0.1', **ONE)": TypeError("learning_rate must be"),
    "train(model(), [BATCH], learning_rate=True, **ONE)": TypeError("learning_rate must be"),
    "train(model(), [BATCH], progress=False, num_steps=0)": ValueError("num_steps must be"),
    "train(model(), [BATCH], progress=False, num_steps=2.0)": TypeError("num_steps must be"),
    "train(model(), [BATCH], progress=False, num_steps=2**64)": ValueError(
        "num_steps must be an integer of at least 1 and at most 1000000000"
    ),
    "train(model(), [BATCH], loss_function=answer, **ONE)": [42],
    "train(model(), [], **ONE)": ValueError("batches must hold 1 for as many steps, but ended after 0"),
    "train(model(), [BATCH] * 3, num_steps=4, progress=False)": ValueError("but ended after 3"),
    "train(model(), None, **ONE)": TypeError("batches must be several pairs of inputs and targets, got None"),
    "train(model(), 'text', **ONE)": TypeError("batches must be several pairs of inputs and targets, got 'text'"),
    "train(model(), [BATCH], loss_function=None, **ONE)": TypeError("loss_function must be callable, got None"),
    "train(model(), [BATCH[0]], **ONE)": TypeError("batches must be pairs of inputs and targets, got Tensor"),
    "train(model(), [BATCH], loss_function=nans, **ONE)": ValueError("the loss became nan in step 0"),
    "train(model(), [BATCH], num_steps=1, progress='no')": TypeError("progress must be True or False"),
    "train(BigramModel, [BATCH], **ONE)": TypeError("model must be a torch.nn.Module, got type"),
    "train(lambda inputs: inputs, [BATCH], **ONE)": TypeError("model must be a torch.nn.Module, got function"),
    "train(nn.Identity(), [BATCH], **ONE)": ValueError("model must have at least one weight to train, got none"),
    "evaluate(model(), [0, 1], np.int16(1)).num_targets": 1,
    "evaluate(model(), [0, 1] * 40_000, np.int16(16)).num_targets": 79_999,
    "evaluate(model(), [0, 1, 2], 2**64).num_targets": 2,
    "evaluate(model(), np.array([4, 4, 4], dtype=np.uint8), 2, num_bytes=np.int8(2)).num_targets": 2,
    "evaluate(model(), [], 2)": ValueError("ids must hold at least 2 tokens"),
    "evaluate(model(), [3], 2)": ValueError("ids must hold at least 2 tokens"),
    "evaluate(model(), [0, 1, V], 2)": ValueError("targets must lie in 0 ... 4"),
    "evaluate(model(), [V, 0, 1], 2)": ValueError("inputs must lie in 0 ... 4, got 0 ... 5"),
    "evaluate(model(), [0, 1, True], 2)": TypeError("ids must be integers"),
    "evaluate(model(), [[0, 1], [2, 3]], 2)": ValueError("ids must be one-dimensional"),
    "evaluate(model(), 'text', 2)": TypeError("ids must be integers, got text"),
    "evaluate(model(), [0, 1, 2], 0)": ValueError("context_length must be"),
    "evaluate(model(), [0, 1, 2], 2.0)": TypeError("context_length must be"),
    "evaluate(model(), [0, 1, 2], True)": TypeError("context_length must be"),
    "evaluate(model(), [0, 1, 2], 2, num_bytes=0)": ValueError("num_bytes must be"),
    "evaluate(BigramModel, [0, 1, 2], 2)": TypeError("model must be a torch.nn.Module, got type"),
    "Evaluation(1000.0, 1).perplexity": math.inf,
    "Evaluation(nan, 1).perplexity": math.nan,
    "Evaluation(inf, 1).bits_per_token": math.inf,
    "repeat_epochs([BATCH])": TypeError("loader must be a WindowLoader, got list"),
    "repeat_epochs(None)": TypeError("loader must be a WindowLoader, got NoneType"),
}
