"""Train from the reader's loader, on one of several ranks."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Annotated

import torch

from course_lib.exercises.my_loader.judging import load
from course_lib.foundation import (
    AtLeast,
    ConvolutionModel,
    Ids,
    checked,
)
from course_lib.many_machines.rank_training import (
    fingerprint,
    rank_and_size,
    step_on_rank,
)


@checked
def train_on_rank(
    ids: Ids,
    vocab_size: int,
    *,
    num_updates: Annotated[int, AtLeast(1, 10**6)],
    seed: Annotated[int, AtLeast(0, 2**63 - 1)] = 0,
    file: Path | None = None,
) -> tuple[list[float], str]:
    """Train a small model from a loader, as one rank of many or as the only process.

    Every rank calls this function with the same arguments, and begins with the same
    weights. The gradients of a step are those of the mean over the targets of all
    ranks.

    Args:
        ids: the stream, N integers below vocab_size.
        vocab_size: V.
        num_updates: how many steps to take, over as many epochs as they need.
        seed: draws the first weights.
        file: of the loader; by default the reader's, or our solution if there is none.

    Returns the loss of each step in nats per token, which is the same on every rank,
    and a fingerprint of the weights at the end. Raises ValueError if an epoch is empty.
    """
    rank, world_size = rank_and_size()
    make_loader = load(file)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = ConvolutionModel(vocab_size)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses: list[float] = []
    for epoch in count():
        before, named = len(losses), {"rank": rank, "world_size": world_size}
        for batch in make_loader(ids, epoch=epoch, **named):
            loss, _ = step_on_rank(model, optimizer, batch)
            losses.append(loss)
            if len(losses) == num_updates:
                weights = [w.detach() for w in model.parameters()]
                return losses, fingerprint(*weights)
        if len(losses) == before:
            raise ValueError(f"epoch {epoch} of {len(ids)} ids has no batches")
