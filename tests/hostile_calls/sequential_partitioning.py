"""Hostile calls of lesson 04."""

import contextlib
import itertools
import tempfile
from pathlib import Path

import numpy as np
import torch

from course_lib.foundation import GRUModel
from course_lib.random_sampling import seq_data_iter_random
from course_lib.sequential_partitioning import seq_data_iter_sequential, token_logits

MEMORY_MAP = np.memmap(Path(tempfile.mkdtemp()) / "ids.bin", dtype=np.uint32, mode="w+", shape=(50,))
MEMORY_MAP[:] = np.arange(70_000, 70_050)
MASKED = np.ma.masked_array([1, 2, 3, 4, 5, 6, 7, 8], mask=[0, 1, 0, 0, 0, 0, 0, 0])


def seeded():
    return torch.Generator().manual_seed(0)


def model(vocab_size=9):
    torch.manual_seed(0)
    return GRUModel(vocab_size, hidden_size=4)


def broken():
    """A model whose weights are NaN."""
    reader = model()
    torch.nn.init.constant_(reader.output.bias, float("nan"))
    return reader


def epoch(scheme, *arguments):
    """The batches of one epoch, as lists."""
    return [(X.tolist(), Y.tolist()) for X, Y in scheme(*arguments, generator=seeded())]


def last_target(scheme, *arguments):
    return epoch(scheme, *arguments)[-1][1][-1][-1]


def losses(trainer, corpus=range(9), scheme=seq_data_iter_sequential, learner=None, **settings):
    """The number of losses of a short training."""
    settings = {"num_updates": 3, "carry_state": True, "generator": seeded(), "progress": False} | settings
    return len(trainer(learner or model(), corpus, scheme, 1, 2, **settings))


def nothing(*_, **__):
    return iter(())


def endless(*_, **__):
    return itertools.repeat((torch.zeros(1, 2, dtype=torch.int64), torch.ones(1, 2, dtype=torch.int64)))


def first(count, endless_iterator):
    return list(itertools.islice(endless_iterator, count))


def modes_after(ids):
    """In which modes a model is left whose embedding alone was in evaluation mode."""
    reader = model()
    reader.embedding.eval()
    with contextlib.suppress(TypeError, ValueError):
        token_logits(reader, ids, 2, carry_state=False)
    return [part.training for part in (reader, reader.embedding, reader.output)]


TAKES_NO_DATA = {"RecallStream": "only make_recall_stream makes one"}
CALLS = {
    # what rows look like
    "track_rows([[1, 4]], 2, 3)": {
        "": [(0, 2, "plain", "batch 0")],
        "row 0": [(0, 1, "inputs", 1), (1, 1, "inputs", 2), (2, 1, "lost", 3)],
        "row 1": [(0, 1, "inputs", 4), (1, 1, "inputs", 5), (2, 1, "lost", 6)],
    },
    "track_rows([1, 4], 2, 3)": ValueError("starts must have shape (num_batches, B), got (2,)"),
    "track_rows([[1, 4]], 2, 1)": ValueError("starts must fit into rows of 1"),
    # row_length
    "row_length(0, 1, 0)": 0,
    "row_length(1, 1, 0)": 0,
    "row_length(2, 1, 0)": 1,
    "row_length(9, 4, 100)": 0,
    "row_length(9, 10**30, 0)": 0,
    "row_length(10**30, 1, 10**29)": 9 * 10**29 - 1,
    "row_length(np.int8(100), np.int8(1), np.int8(-0))": 99,
    "row_length(np.uint64(9), np.uint64(2), np.uint64(0))": 4,
    "row_length(np.uint8(3), 1, np.uint8(200))": 0,
    "row_length(torch.tensor(9), 2, 0)": 4,
    # partition_starts
    "partition_starts(0, 3, 4, 0).shape": (0, 3),
    "partition_starts(12, 3, 4, 0).shape": (0, 3),  # one token too few
    "partition_starts(13, 3, 4, 0)": [[0, 4, 8]],
    "partition_starts(9, 10**12, 1, 0).shape": (0, 10**12),  # no row is made of it
    "partition_starts(9, 1, 2**63, 2**64).shape": (0, 1),
    "partition_starts(31, np.int8(3), np.int8(4), np.int8(1))": [[1, 10, 19], [5, 14, 23]],
    "partition_starts(31, np.uint64(3), np.uint64(4), np.uint64(1)).dtype.name": "int64",
    "partition_starts(40_000, np.int16(2), np.int16(100), np.int16(100))[-1, -1]": 100 + 19_949 + 198 * 100,
    # sequential_starts
    "sequential_starts(0, 2, 5, generator=seeded()).shape": (0, 2),
    "sequential_starts(100, 2, np.int8(127), generator=seeded()).shape": (0, 2),
    "sequential_starts(1000, 2, np.int8(127), generator=seeded()).shape": (3, 2),
    # seq_data_iter_sequential
    "len(epoch(seq_data_iter_sequential, range(5), 1, 2))": 1,  # the smallest stream that is promised a batch
    "epoch(seq_data_iter_sequential, range(4), 1, 2)": ValueError(
        "corpus must hold at least (batch_size + 1) * num_steps + 1 = 5 ids"
    ),
    "epoch(seq_data_iter_sequential, [], 1, 1)": ValueError("got 0"),
    "epoch(seq_data_iter_sequential, range(9), 9, 1)": ValueError("= 11 ids"),
    "epoch(seq_data_iter_sequential, range(9), 10**20, 1)": ValueError("got 9"),
    "last_target(seq_data_iter_sequential, MEMORY_MAP, 2, 3)": 70_048,
    "last_target(seq_data_iter_sequential, np.arange(70_000, 70_050), 2, 3)": 70_048,
    "last_target(seq_data_iter_sequential, torch.arange(200, dtype=torch.uint8)[100:], 3, np.int8(5))": 196,
    "last_target(seq_data_iter_sequential, [5] * 9, 1, 2)": 5,
    "last_target(seq_data_iter_sequential, np.arange(9)[::-1], 1, 2)": 0,
    # row_remainders
    "row_remainders(31, 3, 4, 1)": [10, 19, 28],
    "row_remainders(0, 2, 5, 9).size": 0,
    "row_remainders(13, 3, 4, 0).size": 0,
    "row_remainders(9, 10**12, 3, 0).size": 0,
    "row_remainders(4, np.uint64(1), np.uint64(5), np.uint64(1))": [2, 3],
    "row_remainders(200, np.int8(1), np.int8(127), np.int8(0))[-1]": 199,
    # count_graph_nodes
    "count_graph_nodes(torch.zeros(1))": 0,
    "count_graph_nodes(torch.zeros(1, requires_grad=True) + 1)": 2,
    # epoch_after_epoch
    "next(epoch_after_epoch(nothing, range(9), 1, 2))": ValueError(
        "scheme must give at least one batch an epoch, got 0"
    ),
    "next(epoch_after_epoch(seq_data_iter_sequential, range(4), 1, 2))": ValueError("corpus must hold at least"),
    "[begins for begins, _ in first(5, epoch_after_epoch(seq_data_iter_sequential, range(4), 2, 1))]": [True] * 5,
    "[begins for begins, _ in first(3, epoch_after_epoch(endless, range(9), 1, 2))]": [True, False, False],
    # train_on_epochs
    "losses(train_on_epochs)": 3,
    "losses(train_on_epochs, num_updates=np.int8(100))": 100,
    "losses(train_on_epochs, scheme=seq_data_iter_random)": 3,
    "losses(train_on_epochs, scheme=endless)": 3,
    "losses(train_on_epochs, scheme=nothing)": ValueError("scheme must give at least one batch an epoch, got 0"),
    "losses(train_on_epochs, learner=broken())": ValueError("the loss became nan in step 0"),
    "losses(train_on_epochs, corpus=[])": ValueError("corpus must hold at least"),
    "losses(train_on_epochs, corpus=range(4, 20))": ValueError("corpus must lie in 0 ... 8"),
    "losses(train_on_epochs, corpus=[-100] * 9)": ValueError("corpus must lie in 0 ... 8"),
    # make_recall_stream
    "make_recall_stream(1, 1, generator=seeded()).ids.size": 4,
    "make_recall_stream(np.int8(100), np.int8(100), generator=seeded()).ids.dtype.name": "uint16",
    "make_recall_stream(1, 1, num_keys=70_000).ids[2]": 70_004,  # past 65,535
    "make_recall_stream(1, 1, num_keys=65_531).ids.dtype.name": "uint16",
    "make_recall_stream(1, 1, num_keys=65_532).ids.dtype.name": "uint32",
    "make_recall_stream(1, 1, num_keys=2**31 - 1, num_fillers=2**31 - 1).ids[2]": 2**32 - 2,
    "make_recall_stream(0, 4)": ValueError("num_records must be"),
    "make_recall_stream(4, 0)": ValueError("longest_filler must be"),
    "make_recall_stream(4, 4, num_keys=0)": ValueError("num_keys must be"),
    "make_recall_stream(4, 4, num_fillers=2**40)": ValueError("num_fillers must be"),
    "make_recall_stream(4, 2**63)": ValueError("longest_filler must be"),
    "make_recall_stream(4.0, 4)": TypeError("num_records must be"),
    "make_recall_stream(True, 4)": TypeError("num_records must be"),
    # token_logits and token_losses
    "token_logits(model(), [1, 2], 10**20, carry_state=False).shape": (1, 9),
    "token_logits(model(), np.arange(9, dtype=np.uint8), np.int8(4), carry_state=False).shape": (8, 9),
    "token_logits(model(), [1], 4, carry_state=True)": ValueError("ids must hold at least 2 tokens"),
    "token_logits(model(), [], 4, carry_state=True)": ValueError("got 0"),
    "token_logits(model(), [1, 9], 4, carry_state=True)": ValueError("ids must lie in 0 ... 8, got 1 ... 9"),
    "token_logits(model(), [-1, 2], 4, carry_state=True)": ValueError("got -1 ... 2"),
    "modes_after([1, 2, 3])": [True, False, True],
    "modes_after([1, 99])": [True, False, True],
    "token_losses(model(), [1, 2, 3], 2, carry_state=True).shape": (2,),
    "token_losses(model(), [1, -100, 3], 2, carry_state=True)": ValueError("ids must lie in 0 ... 8"),
    "token_losses(model(), [1, 2, -100], 2, carry_state=True)": ValueError("ids must lie in 0 ... 8"),
    "token_losses(model(), [1], 2, carry_state=False)": ValueError("ids must hold at least 2 tokens"),
    "token_losses(broken(), [1, 2, 3], 2, carry_state=True)": [float("nan")] * 2,
    # states and the models that have them
    "detached(torch.ones(2, requires_grad=True)).requires_grad": False,
    "[part.requires_grad for part in detached((torch.ones(1, requires_grad=True),) * 2)]": [False, False],
    "check_recurrent('model', model()).training": True,
    "check_recurrent('model', torch.nn.Linear(2, 2))": TypeError("model must be a module with an `embedding`"),
    "check_recurrent('model', GRUModel)": TypeError("got type"),
}
