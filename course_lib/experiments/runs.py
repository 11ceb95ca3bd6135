"""What the experiments of several lessons share: the parts of a text that a run gets,
its batches, and a small model trained on them.

An experiment is repeated, once for each of its `seeds`. Run i reads part i of the text,
and its seed fixes all that is drawn at random. So run i of one setting and run i of
another differ in the setting alone, and may be compared in pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, NamedTuple

import numpy as np
import torch

from course_lib.foundation import (
    CharTokenizer,
    ConvolutionModel,
    Count,
    Ids,
    Length,
    Seed,
    Several,
    check_integer,
    checked,
    progress_bar,
)
from course_lib.random_sampling import seq_data_iter_random
from course_lib.sliding_windows import (
    SlidingWindowDataset,
    WindowLoader,
    gather_windows,
    make_dataloader,
)
from course_lib.teaching import train

Batch = tuple[torch.Tensor, torch.Tensor]
Batches = WindowLoader | Iterable[Batch]
Seeds = Annotated[Sequence[int], Several("integers, one for each run")]


class Losses(NamedTuple):
    """Bits per token of trained models, one number for each run."""

    training: np.ndarray  #: on the text that the model has trained on
    validation: np.ndarray  #: on text that it hasn't seen


def each_run(
    seeds: Sequence[int], description: str = "runs"
) -> Iterator[tuple[int, int]]:
    """Yield the number and the seed of each run, with a progress bar."""
    yield from progress_bar(list(enumerate(seeds)), description, unit="run")


# What a run reads


def character_ids(text: str) -> tuple[np.ndarray, int]:
    """Return the characters of a text as ids, and the size of their vocabulary."""
    tokenizer = CharTokenizer(text, max_characters=256)
    return tokenizer.encode(text), tokenizer.vocab_size


@checked
def parts_of_run(
    ids: Ids, run: Count, num_runs: Length, num_held_out: Count
) -> tuple[np.ndarray, np.ndarray]:
    """Give each run other parts of one stream: a text to train on, and a new one.

    The stream turns like a wheel, by run / num_runs of its length. Then its last
    `num_held_out` ids are the new text, and all before them is the one to train on.
    """
    check_integer("run", run, minimum=0, maximum=num_runs - 1)
    check_integer("num_held_out", num_held_out, minimum=0, maximum=len(ids))
    turned = np.roll(ids, -(run * len(ids) // num_runs))
    training_ids, new_ids = np.split(turned, [len(ids) - num_held_out])
    return training_ids, new_ids


# Its batches


def shuffled_windows(
    ids: Ids,
    context_length: int,
    stride: int,
    batch_size: int,
    seed: int,
    *,
    drop_last: bool = False,
) -> WindowLoader:
    """Return batches of windows at a stride, in another order in each epoch.

    The seeds of two runs are 1,000 apart, since an epoch adds its number to them.
    """
    windows = SlidingWindowDataset(ids, context_length, stride)
    return make_dataloader(
        windows, batch_size, base_seed=1000 * seed, drop_last=drop_last
    )


def random_offsets(
    ids: Ids, context_length: int, batch_size: int, seed: int
) -> Iterator[Batch]:
    """Yield batches without end, at an offset that is new in each epoch."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield from seq_data_iter_random(
            ids, batch_size, context_length, generator=generator
        )


def random_crops(
    ids: Ids, context_length: int, batch_size: int, seed: int
) -> Iterator[Batch]:
    """Yield batches without end, each start drawn from all starts of the text."""
    generator = np.random.default_rng(seed)
    while True:
        starts = generator.integers(len(ids) - context_length, size=batch_size)
        yield gather_windows(ids, starts, context_length)


# Its model


@checked
def train_convolution(
    batches: Annotated[Batches, Several("pairs of inputs and targets")],
    vocab_size: Length,
    seed: Seed,
    *,
    num_updates: Length,
    learning_rate: float,
    kernel_size: Length = 5,
) -> ConvolutionModel:
    """Train a model that predicts a token from the `kernel_size` tokens before it."""
    torch.manual_seed(seed)
    model = ConvolutionModel(vocab_size, kernel_size=kernel_size)
    train(
        model,
        batches,
        num_updates=num_updates,
        learning_rate=learning_rate,
        progress=False,
    )
    return model
