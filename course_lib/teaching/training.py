"""Short training loops, and evaluation in units that can be compared.

`evaluate` adds up losses while it reads, so a stream may lie in files. Lesson 5's
`strided_losses` keeps the loss of each token. At stride T, both have the same mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import nn

from course_lib.foundation import (
    AnyStream,
    AtLeast,
    Finite,
    Length,
    Several,
    adam_with_linear_decay,
    check_callable,
    check_model,
    checked,
    evaluation_mode,
    learn,
    one_thread,
    progress_bar,
)
from course_lib.next_token_shifting import bits_per_byte, next_token_loss
from course_lib.sliding_windows import WindowLoader, gather_windows, window_starts

TrainingBatch = tuple[torch.Tensor | Mapping[str, torch.Tensor], torch.Tensor]
LossFunction = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
WINDOWS_AT_ONCE = 256  # in an evaluation: a matter of memory, not of the result


@checked
def repeat_epochs(loader: WindowLoader) -> Iterator[TrainingBatch]:
    """Yield the batches of one epoch after another, without end, beginning with those
    that are left of the epoch in which the loader's reader is."""
    return _epochs(loader)


def _epochs(loader: WindowLoader) -> Iterator[TrainingBatch]:
    # Iterated again, a loader begins its epoch again, unless it is resumed.
    loader.load_state_dict(loader.state_dict())
    while True:
        yield from loader


@checked
@one_thread()
def train(
    model: nn.Module,
    batches: Annotated[Iterable[TrainingBatch], Several("pairs of inputs and targets")],
    *,
    num_updates: Annotated[int, AtLeast(1, 10**9)],
    learning_rate: Annotated[float, Finite(above=0)] = 1e-2,
    loss_function: Annotated[LossFunction, check_callable] = next_token_loss,
    progress: bool | None = None,
) -> list[float]:
    """Train with Adam for `num_updates` batches, at a rate that falls linearly.

    PyTorch uses one thread meanwhile: for models so small, a second one mostly waits.

    Args:
        model: maps inputs (B, T) to logits (B, T, V); left in training mode.
        batches: pairs of inputs and targets, at least `num_updates`. A `WindowLoader`
            goes on where its reader is, epoch after epoch. Inputs of several parts come
            as a mapping: the model's arguments by name.
        num_updates: optimizer steps, at least 1.
        learning_rate: of the first step; it falls towards zero.
        loss_function: from logits and targets to a scalar.
        progress: show a progress bar; by default unless `COURSE_PROGRESS=0`.

    Returns the loss of each batch before its step, nats per token. Batches that end too
    early, or a loss that is not finite, are a ValueError.
    """
    source = (
        repeat_epochs(batches) if isinstance(batches, WindowLoader) else iter(batches)
    )
    optimizer, schedule = adam_with_linear_decay(model, learning_rate, num_updates)
    losses: list[float] = []
    model.train()
    for step in progress_bar(
        range(num_updates), "training", unit="step", progress=progress
    ):
        batch = next(source, None)
        if batch is None:
            wanted = f"{num_updates} for as many steps"
            raise ValueError(f"batches must hold {wanted}, but ended after {step}")
        if not isinstance(batch, tuple | list) or len(batch) != 2:
            kind = type(batch).__name__
            raise TypeError(f"batches must be pairs of inputs and targets, got {kind}")
        inputs, targets = batch
        read = model(**inputs) if isinstance(inputs, Mapping) else model(inputs)
        loss = loss_function(read, targets)
        losses.append(learn(loss, optimizer, schedule, step))
    return losses


@dataclass(frozen=True)
class Evaluation:
    """The mean loss of a model on a stream, every token after the first scored once."""

    nats_per_token: float
    num_targets: int
    bits_per_byte: float | None = None

    @property
    def bits_per_token(self) -> float:
        return self.nats_per_token / math.log(2)

    @property
    def perplexity(self) -> float:
        try:
            return math.exp(self.nats_per_token)
        except OverflowError:  # from 710 nats on
            return math.inf


@checked
@one_thread()
@torch.no_grad()
def evaluate(
    model: nn.Module,
    ids: AnyStream,
    context_length: Length,
    *,
    num_bytes: int | None = None,
) -> Evaluation:
    """Score every token of `ids` but the first, once, in windows laid end to end.

    The last window is as short as the stream leaves it. Meanwhile the model is in
    evaluation mode, and PyTorch on one thread.

    Args:
        model: maps inputs (B, T) to logits (B, T, V).
        ids: the stream, at least 2 ids.
        context_length: T, how many tokens a window reads.
        num_bytes: UTF-8 length of the scored text, for `bits_per_byte`.
    """
    check_model(model)
    num_targets = len(ids) - 1
    if num_targets < 1:
        wanted = "at least 2 tokens, a context and its target"
        raise ValueError(f"ids must hold {wanted}, got {len(ids)}")
    context_length = min(context_length, num_targets)
    starts = window_starts(len(ids), context_length, stride=context_length)
    chunks = [
        (starts[i : i + WINDOWS_AT_ONCE], context_length)
        for i in range(0, len(starts), WINDOWS_AT_ONCE)
    ]
    scored = len(starts) * context_length
    if rest := num_targets - scored:
        chunks.append(([scored], rest))
    # A mean of batch means would weigh the short last batch like a full one.
    nats = 0.0
    with evaluation_mode(model):
        for chunk, length in chunks:
            inputs, targets = gather_windows(ids, chunk, length)
            nats += next_token_loss(model(inputs), targets).item() * targets.numel()
    mean = nats / num_targets
    if num_bytes is None:
        return Evaluation(mean, num_targets)
    per_byte = bits_per_byte(mean, num_targets, num_bytes)
    return Evaluation(mean, num_targets, per_byte)
