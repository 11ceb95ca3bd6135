"""Experiments of lesson 01: where the curve of a small model ends, if its targets are
shifted in one way or another, or if it sees what it's asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from torch import nn

from course_lib.experiments.runs import Batch, Seeds, shuffled_windows
from course_lib.foundation import (
    BigramModel,
    ConvolutionModel,
    Ids,
    Length,
    checked,
)
from course_lib.teaching import repeat_epochs, train

Pairing = Callable[[torch.Tensor, torch.Tensor], Batch]


class Run(NamedTuple):
    """A trained model, and the loss of each batch before its step, in nats."""

    model: nn.Module
    losses: list[float]


@checked
def train_bigrams(
    ids: Ids,
    vocab_size: Length,
    pair_up: Pairing,
    context_length: Length,
    batch_size: Length,
    *,
    num_updates: Length,
    learning_rate: float,
    seeds: Seeds,
) -> list[Run]:
    """Train a bigram model on a stream for each seed, which orders the windows.

    Args:
        ids, vocab_size: the stream, and V.
        pair_up: takes a batch of inputs and targets, shifted once, and returns what to
            train on instead.
        context_length, batch_size: T, which is the stride, too, and B.
        num_updates, learning_rate: optimizer steps, and the rate of the first one.
        seeds: a seed for each run.
    """
    trained = []
    for seed in seeds:
        windows = (context_length, context_length)  # T, and the stride
        loader = shuffled_windows(ids, *windows, batch_size, seed)
        batches: Iterable[Batch] = (pair_up(*batch) for batch in repeat_epochs(loader))
        how = {"num_updates": num_updates, "learning_rate": learning_rate}
        model = BigramModel(vocab_size)
        trained.append(Run(model, train(model, batches, **how, progress=False)))
    return trained


@checked
def train_convolutions(
    ids: Ids,
    vocab_size: Length,
    context_length: Length,
    batch_size: Length,
    *,
    causal: bool,
    num_updates: Length,
    learning_rate: float,
    seeds: Seeds,
) -> list[Run]:
    """Train a convolution on a stream for each seed. Unless it's causal, it sees the
    next token."""
    trained = []
    for seed in seeds:
        windows = (context_length, context_length)  # T, and the stride
        batches = shuffled_windows(ids, *windows, batch_size, seed)
        how = {"num_updates": num_updates, "learning_rate": learning_rate}
        torch.manual_seed(seed)
        model = ConvolutionModel(vocab_size, causal=causal)
        trained.append(Run(model, train(model, batches, **how, progress=False)))
    return trained
