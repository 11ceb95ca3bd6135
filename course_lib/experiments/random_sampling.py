"""Experiments of lesson 03: what a model gains if its text is cut at other places in
each epoch, and how its training loss falls.

Each experiment is repeated, once for each of its `seeds`. Run i reads part i of the
text (`parts_of_run`), whose last 6,000 characters are new to its models. So run i with
one loader and run i with another differ in the loader alone, and may be compared in
pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, NamedTuple

import numpy as np
import torch

from course_lib.experiments.runs import (
    Batch,
    Batches,
    Seeds,
    character_ids,
    each_run,
    parts_of_run,
    random_crops,
    random_offsets,
    shuffled_windows,
    train_convolution,
)
from course_lib.foundation import (
    ConvolutionModel,
    Finite,
    Length,
    Text,
    checked,
    progress_bar,
)
from course_lib.teaching import evaluate, train

__all__ = [
    "LoaderLosses",
    "character_ids",
    "compare_loaders",
    "falls_at",
    "fixed_alignment",
    "parts_of_run",
    "random_crops",
    "random_offsets",
    "training_losses",
]

NUM_HELD_OUT = 6_000
INPUTS_PER_BATCH = 512
Loader = Callable[[np.ndarray, int, int, int], Batches]
"""Takes ids, T, B and the seed of a run. Returns batches of inputs and targets."""


class LoaderLosses(NamedTuple):
    """Bits per character of the models of one loader, one number for each run."""

    new_text: np.ndarray  #: on text that they haven't seen, in windows of 64
    same_text: (
        np.ndarray
    )  #: on the text they trained on, in windows of T from its start
    cut_elsewhere: np.ndarray  #: on the same text, in windows that begin T // 2 later


# The loaders


def fixed_alignment(
    ids: np.ndarray, context_length: int, batch_size: int, seed: int
) -> Batches:
    """Return shuffled windows whose cuts are the same in each epoch."""
    return shuffled_windows(
        ids, context_length, context_length, batch_size, seed, drop_last=True
    )


def same_order(
    ids: np.ndarray, context_length: int, batch_size: int, seed: int
) -> Iterator[Batch]:
    """Yield the batches of one epoch of `fixed_alignment`, again and again."""
    batches = list(fixed_alignment(ids, context_length, batch_size, seed))
    while True:
        yield from batches


# The experiments


@checked
def compare_loaders(
    text: Text,
    loaders: Mapping[str, Loader],
    settings: Mapping[str, tuple[int, int, int]],
    *,
    learning_rate: Annotated[float, Finite(above=0)],
    seeds: Seeds,
) -> dict[tuple[str, str], LoaderLosses]:
    """Train a small model with each loader, once for each seed, and evaluate it.

    Args:
        text: its characters are the tokens.
        loaders: name to a function of ids, T, B and a seed that returns batches.
        settings: name to the characters to train on, the updates, and T. A batch has
            512 inputs, so B is 512 // T.
        learning_rate: of the first update; it falls linearly.
        seeds: a seed for each run.

    Returns the losses for each name of a setting and of a loader.
    """
    ids, vocab_size = character_ids(text)
    losses = {}
    for name in progress_bar(settings, "settings", unit="setting"):
        num_characters, num_updates, context_length = settings[name]
        for loader_name, loader in loaders.items():
            found = []
            for run, seed in enumerate(seeds):
                part, new_text = parts_of_run(ids, run, len(seeds), NUM_HELD_OUT)
                seen = part[:num_characters]
                batch_size = INPUTS_PER_BATCH // context_length
                model = train_convolution(
                    loader(seen, context_length, batch_size, seed),
                    vocab_size,
                    seed,
                    num_updates=num_updates,
                    learning_rate=learning_rate,
                )
                later = seen[context_length // 2 :]
                judged = [
                    evaluate(model, new_text, 64),
                    evaluate(model, seen, context_length),
                    evaluate(model, later, context_length),
                ]
                found.append([judge.bits_per_token for judge in judged])
            losses[name, loader_name] = LoaderLosses(*np.array(found).T)
    return losses


@checked
def training_losses(
    text: Text,
    loaders: Mapping[str, Loader],
    num_characters: Length,
    num_updates: Length,
    context_length: Length,
    *,
    learning_rate: Annotated[float, Finite(above=0)],
    seeds: Seeds,
) -> dict[str, np.ndarray]:
    """Train as `compare_loaders` does, and keep the training loss of each update.

    Returns arrays, shape (runs, num_updates), in nats per token.
    """
    ids, vocab_size = character_ids(text)
    losses = {}
    for name in loaders:
        runs = []
        for run, seed in each_run(seeds, name):
            part, _ = parts_of_run(ids, run, len(seeds), NUM_HELD_OUT)
            batches = loaders[name](
                part[:num_characters],
                context_length,
                INPUTS_PER_BATCH // context_length,
                seed,
            )
            torch.manual_seed(seed)
            model = ConvolutionModel(vocab_size, kernel_size=5)
            settings = {"num_updates": num_updates, "learning_rate": learning_rate}
            runs.append(train(model, batches, **settings, progress=False))
        losses[name] = np.array(runs)
    return losses


def falls_at(losses: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return how much the loss falls at these steps, on average, in each run.

    A fall is the mean loss of the five steps before, minus that of the five from there.
    """
    falls = [
        losses[:, step - 5 : step].mean(axis=1)
        - losses[:, step : step + 5].mean(axis=1)
        for step in steps
    ]
    return np.mean(falls, axis=0)
