"""Experiments of lesson 02: what the order of the windows does to a model's loss.

Each experiment is repeated, once for each of its `seeds`. Run i reads part i of the
text (`parts_of_run`), of which the last tenth is held out, and its seed fixes all that
is drawn at random. So run i of one order and run i of another differ in the order
alone, and may be compared in pairs. Losses are arrays with one number for each run, in
bits per character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated

import numpy as np
import torch
from torch import nn

from course_lib.experiments.runs import (
    Seeds,
    character_ids,
    each_run,
    parts_of_run,
    random_crops,
    shuffled_windows,
    train_convolution,
)
from course_lib.foundation import Length, Several, Text, checked, one_thread
from course_lib.next_token_shifting import next_token_loss
from course_lib.sliding_windows import (
    SlidingWindowDataset,
    gather_windows,
    make_dataloader,
)
from course_lib.teaching import evaluate

Orders = Mapping[str, tuple[int, Callable]]
STARTS = 10  # of windows in a run, where gradients are compared
Distances = Annotated[Iterable[int], Several("distances between two windows")]


def tenth_held_out(ids: np.ndarray, run: int, num_runs: int) -> tuple[np.ndarray, ...]:
    """Return the text that a run trains on, and the tenth that is held out."""
    return parts_of_run(ids, run, num_runs, len(ids) - int(0.9 * len(ids)))


@checked
def compare_orders(
    texts: Mapping[str, str],
    orders: Orders,
    context_length: Length,
    batch_size: Length,
    *,
    num_updates: Length,
    learning_rate: float,
    seeds: Seeds,
) -> dict[str, dict[str, np.ndarray]]:
    """Train a small model on the windows of each text, in each order.

    The model sees three characters at a time. All orders of a stride hold the same
    windows, those at the beginning of the training text, and each window comes once.

    Args:
        texts: name to text, whose characters are the tokens.
        orders: name to a stride, and to what makes an order from the number of windows
            and a seed: an array, or an object such as `RandomOrder`.
        context_length, batch_size: T and B.
        num_updates, learning_rate: optimizer steps, and the size of the first one.
        seeds: a seed for each run.

    Returns the losses on the held-out tenths, by text and by order.
    """
    losses = {name: {order: np.zeros(len(seeds)) for order in orders} for name in texts}
    num_windows = num_updates * batch_size
    for name, text in texts.items():
        ids, vocab_size = character_ids(text)
        for run, seed in each_run(seeds, name):
            training_ids, new_ids = tenth_held_out(ids, run, len(seeds))
            for order, (stride, make_order) in orders.items():
                read = training_ids[: num_windows * stride + context_length]
                windows = SlidingWindowDataset(read, context_length, stride)
                loader = make_dataloader(
                    windows, batch_size, base_seed=1000 * seed, order=make_order
                )
                model = train_convolution(
                    loader,
                    vocab_size,
                    seed,
                    num_updates=num_updates,
                    learning_rate=learning_rate,
                    kernel_size=3,
                )
                found = evaluate(model, new_ids, context_length)
                losses[name][order][run] = found.bits_per_token
    return losses


@checked
def train_on_crops(
    text: Text,
    context_length: Length,
    batch_size: Length,
    *,
    num_updates: Length,
    learning_rate: float,
    seeds: Seeds,
) -> np.ndarray:
    """Train the model of `compare_orders` on windows whose starts are drawn at random.

    There are as many as it gets at stride T, from the same part of the text.
    """
    ids, vocab_size = character_ids(text)
    losses = []
    for run, seed in each_run(seeds, "crops"):
        training_ids, new_ids = tenth_held_out(ids, run, len(seeds))
        read = training_ids[: (num_updates * batch_size + 1) * context_length]
        model = train_convolution(
            random_crops(read, context_length, batch_size, seed),
            vocab_size,
            seed,
            num_updates=num_updates,
            learning_rate=learning_rate,
            kernel_size=3,
        )
        losses.append(evaluate(model, new_ids, context_length).bits_per_token)
    return np.array(losses)


@checked
@one_thread()
def gradient_similarity(
    text: Text,
    distances: Distances,
    context_length: Length,
    batch_size: Length,
    *,
    num_updates: Length,
    learning_rate: float,
    seeds: Seeds,
) -> dict[int, np.ndarray]:
    """Compare the gradients of two windows that start so many characters apart.

    The model of `compare_orders` is trained on shuffled windows of stride 1. Then each
    run takes `STARTS` windows from random places of its training text.

    Returns the mean cosine similarity of each distance, one number for each run: 1 if
    two windows ask for the same step, and 0 if their steps have nothing in common.
    """
    ids, vocab_size = character_ids(text)
    similar = {distance: [] for distance in distances}
    num_read = num_updates * batch_size + context_length
    for run, seed in each_run(seeds, "gradients"):
        training_ids, _ = tenth_held_out(ids, run, len(seeds))
        model = train_convolution(
            shuffled_windows(
                training_ids[:num_read], context_length, 1, batch_size, seed
            ),
            vocab_size,
            seed,
            num_updates=num_updates,
            learning_rate=learning_rate,
            kernel_size=3,
        )
        last = len(training_ids) - context_length - max(similar)
        for start in np.random.default_rng(seed).integers(last, size=STARTS):
            here = gradient_at(model, training_ids, start, context_length)
            for distance, found in similar.items():
                there = gradient_at(
                    model, training_ids, start + distance, context_length
                )
                found.append(torch.cosine_similarity(here, there, dim=0).item())
    return {
        distance: np.reshape(found, (len(seeds), STARTS)).mean(axis=1)
        for distance, found in similar.items()
    }


def gradient_at(
    model: nn.Module, ids: np.ndarray, start: int, context_length: int
) -> torch.Tensor:
    """Return the gradient of the loss of one window, as a flat vector."""
    inputs, targets = gather_windows(ids, [start], context_length)
    model.zero_grad()
    next_token_loss(model(inputs), targets).backward()
    return torch.cat([each.grad.flatten() for each in model.parameters()])
