"""Hostile calls of training on many ranks."""

import atexit
import itertools
import tempfile
from math import nan
from pathlib import Path

import numpy as np
import torch

from course_lib.foundation import CharTokenizer, ConvolutionModel
from course_lib.many_machines.rank_training import (
    backward_by_ranks,
    backward_by_targets,
    fingerprint,
    sum_over_ranks,
    train_on_shards,
    train_rank,
)
from course_lib.token_shards import write_shards

ROOM = tempfile.TemporaryDirectory(prefix="course-hostile-")
atexit.register(ROOM.cleanup)
NUMBERS = itertools.count()
ROWS = torch.zeros(4, 3, dtype=torch.int64)
UNSCORED = torch.full((4, 3), -100)


def train(inputs=ROWS, targets=ROWS, vocab_size=4, batch_size=2, num_updates=1, **options):
    report = train_rank(inputs, targets, vocab_size, batch_size=batch_size, num_updates=num_updates, **options)
    return len(report.losses)


def on_shards(out_dir=None, vocab_size=4, last_step=3, context_length=2, batch_size=2, **options):
    if out_dir is None:
        out_dir = Path(ROOM.name) / str(next(NUMBERS))
        write_shards(["ab", "abcabcabcabc"], CharTokenizer("abc"), out_dir, progress=False)
    how = {"context_length": context_length, "batch_size": batch_size, "progress": False, **options}
    return len(train_on_shards(out_dir, vocab_size, last_step=last_step, **how).losses)


def trained(**changed):
    return train_rank(ROWS, ROWS, 4, batch_size=2, num_updates=1).state | changed


def forged(**memory):
    """A state in which Adam's memory of the first weight is changed."""
    state = trained()
    state["optimizer"]["state"][0] |= memory
    return state


def backward(function, scored, loss=1.0):
    model = ConvolutionModel(3, hidden_size=2)
    sum_of_all = model(torch.zeros(1, 2, dtype=torch.int64)).sum() * 0 + loss
    return function(model, sum_of_all, scored)


OTHER_MODEL = ValueError("state must hold finite weights of this model")
CALLS = {
    "rank_and_size()": (0, 1),
    "rank_and_size(2)": TypeError("takes 0 positional arguments"),
    "on_shards()": 3,
    "on_shards(batch_size=1, last_step=2)": 2,
    "on_shards(out_dir='nowhere')": FileNotFoundError("no shards here"),
    "on_shards(vocab_size=2)": ValueError("inputs must lie in 0 ... 1"),
    "on_shards(last_step=0)": ValueError("last_step must be"),
    "on_shards(context_length=10**6)": ValueError("ids must hold at least"),
    "on_shards(batch_size=10**6)": ValueError("batch_size 1000000"),
    "on_shards(save_every=0)": ValueError("save_every must be"),
    "take_steps([True])": TypeError("steps_of_ranks must be"),
    "take_steps([-1])": ValueError("steps_of_ranks must be"),
    "train(targets=ROWS[:2])": ValueError("inputs and targets must have one shape"),
    "train(inputs=ROWS + 4)": ValueError("inputs must lie in 0 ... 3"),
    "train(inputs=ROWS.float())": TypeError("inputs must be integers"),
    "train(targets=ROWS - 1)": ValueError("targets must lie in 0 ... 3"),
    "sum_over_ranks(torch.ones(2))": [1, 1],
    "sum_over_ranks(torch.ones(0))": [],
    "backward(backward_by_targets, 4)": 0.25,
    "backward(backward_by_targets, 0)": ValueError("no rank has a target to score"),
    "backward(backward_by_ranks, 4)": 0.25,
    "train()": 1,
    "train(num_updates=5)": 5,
    "train(batch_size=5)": ValueError("batch_size 5"),
    "train(targets=UNSCORED)": ValueError("no rank has a target to score"),
    "train_rank(ROWS, ROWS, 4, batch_size=4, num_updates=1).rows.__len__()": 4,
    "train(state={})": ValueError("state must have the keys"),
    "train(state=trained(), batch_size=4)": 1,
    "train(state=trained(), base_seed=1)": ValueError("saved with base_seed=0, but this run has base_seed=1"),
    "train(state=trained(), inputs=ROWS ^ 1)": ValueError("saved with rows="),
    "train(state=trained(), vocab_size=5)": ValueError("saved with vocab_size=4, but this run has vocab_size=5"),
    "train(state=trained(model={}))": OTHER_MODEL,
    "train(state=trained(model=None))": OTHER_MODEL,
    "train(state=trained(model=trained()['model'] | {'more': torch.ones(1)}))": OTHER_MODEL,
    "train(state=trained(optimizer={}))": OTHER_MODEL,
    "train(state=trained(optimizer=trained()['optimizer'] | {'state': {}}))": OTHER_MODEL,
    "train(state=forged(exp_avg=torch.zeros(2)))": OTHER_MODEL,
    "train(state=forged(exp_avg=None))": OTHER_MODEL,
    "train(state=forged(exp_avg=forged()['model']['embedding.weight'] * nan))": OTHER_MODEL,
    "train(state=forged(exp_avg_sq=-forged()['model']['embedding.weight'].abs()))": OTHER_MODEL,
    "train(state=forged(step=torch.tensor(0.0)))": OTHER_MODEL,
    "train(state=forged(step=3))": OTHER_MODEL,
    "train(state=trained(epoch=-1))": ValueError("epoch must be"),
    "train(state=trained(epoch=0.0))": TypeError("epoch must be"),
    "train(state=trained(rows_delivered=10**6))": ValueError("rows_delivered must be"),
    "len(fingerprint())": 16,
    "fingerprint(ROWS) == fingerprint(ROWS.clone())": True,
    "fingerprint(ROWS) == fingerprint(ROWS.int())": False,
    "fingerprint(ROWS) == fingerprint(ROWS[:, :-1], ROWS[:, -1:])": False,
    "fingerprint(ROWS.T) == fingerprint(ROWS.T.contiguous())": True,
    "take_steps([0])": 0,
    "take_steps([1, 2])": ValueError("one number for each of 1 ranks, got 2"),
}

TAKES_NO_DATA = {"RankReport": "what train_rank returns"}
