"""Short training loops, and evaluation in units that can be compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import nn

from course_lib.foundation import Ids, as_stream, check_integer, progress_bar
from course_lib.next_token_shifting import bits_per_byte, next_token_loss
from course_lib.sliding_windows import WindowLoader, gather_windows, window_starts

Batch = tuple[torch.Tensor, torch.Tensor]


def repeat_epochs(loader: WindowLoader) -> Iterator[Batch]:
    """Yield the batches of one epoch after another without end, each in its own order;
    a resumed one first."""
    epoch = loader.sampler.epoch
    while True:
        loader.sampler.set_epoch(epoch)
        yield from loader
        epoch += 1


def train(
    model: nn.Module,
    batches: Iterable[Batch],
    *,
    num_steps: int,
    learning_rate: float = 1e-2,
    loss_function: Callable[
        [torch.Tensor, torch.Tensor], torch.Tensor
    ] = next_token_loss,
    progress: bool | None = None,
) -> list[float]:
    """Train with Adam for `num_steps` batches, the learning rate falling linearly to
    zero.

    Args:
        model: maps inputs (B, T) to logits (B, T, V).
        batches: pairs of inputs and targets, at least `num_steps`; a `WindowLoader`
            starts a new epoch by itself when one ends.
        num_steps: optimizer steps, at least 1.
        learning_rate: of the first step.
        loss_function: from logits and targets to a scalar.
        progress: show a progress bar; by default unless `COURSE_PROGRESS=0`.

    Returns:
        the loss of each batch before its step, nats per token.

    Raises:
        ValueError: the batches end too early, or a loss is not finite.
    """
    num_steps = check_integer("num_steps", num_steps, minimum=1)
    if not learning_rate > 0:
        raise ValueError(f"learning_rate must be positive, got {learning_rate}")
    source = (
        repeat_epochs(batches) if isinstance(batches, WindowLoader) else iter(batches)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    schedule = torch.optim.lr_scheduler.LinearLR(
        optimizer, 1.0, 1.0 / num_steps, total_iters=num_steps
    )
    losses: list[float] = []
    model.train()
    for step in progress_bar(
        range(num_steps), "training", unit="step", progress=progress
    ):
        try:
            inputs, targets = next(source)
        except StopIteration:
            raise ValueError(
                f"batches must hold {num_steps} for as many steps, but ended after "
                f"{step}"
            ) from None
        loss = loss_function(model(inputs), targets)
        losses.append(loss.item())
        if not math.isfinite(losses[-1]):
            raise ValueError(
                f"the loss became {losses[-1]} in step {step}: try a smaller "
                "learning_rate"
            )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
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
        return math.exp(self.nats_per_token)


@torch.no_grad()
def evaluate(
    model: nn.Module,
    ids: Ids,
    context_length: int,
    *,
    num_bytes: int | None = None,
    batch_size: int = 256,
) -> Evaluation:
    """Score every token of `ids` but the first, once, in windows of `context_length`
    laid end to end.

    The last window is as short as the stream leaves it, so that no target is dropped or
    scored twice.

    Args:
        model: maps inputs (B, T) to logits (B, T, V).
        ids: the stream, at least 2 ids.
        context_length: T.
        num_bytes: UTF-8 length of the text that the scored tokens spell, for
            `bits_per_byte`.
        batch_size: windows at a time; it changes the speed, not the result.
    """
    stream = as_stream(ids)
    if len(stream) < 2:
        raise ValueError(
            "ids must hold at least 2 tokens, a context and its target, got "
            f"{len(stream)}"
        )
    batch_size = check_integer("batch_size", batch_size, minimum=1)
    starts = window_starts(len(stream), context_length, stride=context_length)
    chunks = [
        (starts[i : i + batch_size], context_length)
        for i in range(0, len(starts), batch_size)
    ]
    scored = len(starts) * context_length
    if rest := len(stream) - 1 - scored:
        chunks.append(([scored], rest))
    was_training = model.training
    model.eval()
    # A sum of nats, divided once: a mean of batch means would weigh the short last
    # batch like a full one.
    nats = 0.0
    for chunk, length in chunks:
        inputs, targets = gather_windows(stream, chunk, length)
        nats += next_token_loss(model(inputs), targets).item() * targets.numel()
    model.train(was_training)
    num_targets = len(stream) - 1
    mean = nats / num_targets
    per_byte = (
        None if num_bytes is None else bits_per_byte(mean, num_targets, num_bytes)
    )
    return Evaluation(mean, num_targets, per_byte)
