"""A loader that is right, or wrong by one number, to measure what a mistake costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
import torch

from course_lib.foundation import AtLeast, Count, Ids, Length, checked
from course_lib.sliding_windows import window_starts


@checked
def pairs_ahead(
    ids: Ids,
    epoch: Count = 0,
    *,
    ahead: Annotated[int, AtLeast(0, 2)] = 1,
    context_length: Length = 32,
    batch_size: Length = 16,
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yield the windows of one epoch, shuffled; targets are `ahead` tokens ahead."""
    # as if all targets were two ahead, so that all see the same windows
    starts = window_starts(max(0, len(ids) - 1), context_length, context_length)
    shuffled = np.random.default_rng(epoch).permutation(starts)
    for at in range(0, len(starts) - batch_size + 1, batch_size):
        places = shuffled[at : at + batch_size, None] + np.arange(context_length + 2)
        rows = torch.from_numpy(ids[places].astype(np.int64))
        yield rows[:, :context_length], rows[:, ahead : ahead + context_length].clone()
