"""Packed rows as batches for the small models, and their loss over all scored ids."""

from collections.abc import Iterator, Mapping

import torch
from torch import nn

from course_lib.document_boundaries import document_mask
from course_lib.foundation import (
    IGNORED,
    check_integer,
    checked,
    evaluation_mode,
    one_thread,
)
from course_lib.next_token_shifting import next_token_loss
from course_lib.teaching.training import TrainingBatch

ROWS_AT_ONCE = 32  # in `packed_loss`: a matter of memory, not of the result


@checked
def packed_batch(
    batch: Mapping[str, torch.Tensor], *, masked: bool = True, reset: bool = True
) -> TrainingBatch:
    """Turn what a `PackingCollator` makes into inputs and targets, shifted by one.

    Args:
        batch: `input_ids`, `labels` and `position_ids`, shape (B, L) each.
        masked: with a mask, so that no document sees another.
        reset: with positions that begin again in each document.

    Returns the arguments of an `AttentionModel` by name, and the targets, all of length
    L - 1. What is scored does not depend on `masked` or `reset`.
    """
    names = ("input_ids", "labels", "position_ids")
    if not set(names) <= set(batch):
        wanted = f"a PackingCollator's, with {', '.join(names)}"
        raise TypeError(f"batch must be {wanted}, got {type(batch).__name__}")
    positions = batch["position_ids"][:, :-1]
    inputs = {"inputs": batch["input_ids"][:, :-1]}
    if reset:
        inputs["position_ids"] = positions
    if masked:
        starts = [torch.nonzero(row == 0).flatten() for row in positions]
        masks = [document_mask(each, positions.shape[1]) for each in starts]
        inputs["mask"] = torch.stack(masks)
    return inputs, batch["labels"][:, 1:]


def _check_batch(batch: TrainingBatch) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Return inputs by name and their targets, if all have as many rows."""
    try:
        inputs, targets = batch
        parts = [targets, *inputs.values()] if isinstance(inputs, Mapping) else []
        rows = set(map(len, parts))
    except (TypeError, ValueError):
        rows = set()
    if len(rows) != 1:
        wanted = "inputs by name and targets with as many rows, as of packed_batch"
        raise TypeError(f"batch must be {wanted}, got {type(batch).__name__}")
    return inputs, targets


def shuffled_batches(
    batch: TrainingBatch, batch_size: int, generator: torch.Generator
) -> Iterator[TrainingBatch]:
    """Yield some rows of a large batch at a time, epoch after epoch, without end."""
    inputs, targets = _check_batch(batch)
    batch_size = check_integer(
        "batch_size", batch_size, minimum=1, maximum=len(targets)
    )
    while True:
        order = torch.randperm(len(targets), generator=generator)
        for rows in order.split(batch_size):
            yield {name: part[rows] for name, part in inputs.items()}, targets[rows]


@one_thread()
@torch.no_grad()
def packed_loss(model: nn.Module, batch: TrainingBatch) -> tuple[float, int]:
    """Return the nats of all scored targets, summed, and how many those are: sums can
    be added up over batches and divided once; means cannot."""
    inputs, targets = _check_batch(batch)
    nats, scored = 0.0, 0
    with evaluation_mode(model):
        for rows in torch.arange(len(targets)).split(ROWS_AT_ONCE):
            part = {name: values[rows] for name, values in inputs.items()}
            count = int((targets[rows] != IGNORED).sum())
            if count:
                nats += next_token_loss(model(**part), targets[rows]).item() * count
            scored += count
    return nats, scored
