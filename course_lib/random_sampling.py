"""Lesson 03: cut the stream at different places in every epoch, by a random offset.

The scheme has five steps: draw an offset, count the subsequences after it, place their
starts T apart, shuffle the starts (never the tokens), and take them batch by batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
import torch

from course_lib.foundation import (
    AnyStream,
    AtLeast,
    Count,
    Count64,
    Length,
    Stream,
    checked,
    named_elsewhere,
)
from course_lib.sliding_windows import gather_windows

Length64 = Annotated[int, AtLeast(1, 2**63 - 1)]  # a length that fits into 64 bits


@checked
def draw_offset(
    num_offsets: Length64, *, generator: torch.Generator | None = None
) -> int:
    """Draw an integer from 0 ... num_offsets - 1, each equally likely."""
    return int(torch.randint(num_offsets, (1,), generator=generator))


@checked
def count_subsequences(num_tokens: Count, num_steps: Length, offset: Count) -> int:
    """Count the disjoint subsequences after an offset: (N - offset - 1) // T, or 0.

    The - 1 keeps one id for the last target. One is enough, because every other
    subsequence finds its last target in the first id of the next one. The offset says
    how many ids are skipped at the beginning.
    """
    return max(0, (num_tokens - offset - 1) // num_steps)


@checked
def subsequence_starts(
    num_tokens: Count64, num_steps: Length64, offset: Count64
) -> np.ndarray:
    """Return the starts offset, offset + T, offset + 2T, ..., as int64, in order."""
    count = count_subsequences(num_tokens, num_steps, offset)
    return offset + num_steps * np.arange(count, dtype=np.int64)


@checked
def random_starts(
    num_tokens: Count,
    batch_size: Length,
    num_steps: Length64,
    *,
    generator: torch.Generator | None = None,
) -> np.ndarray:
    """Return the starts of one epoch of random sampling, batch by batch.

    The offset is uniform on 0 ... T-1. If T could also be drawn, alignment 0 would come
    twice as often as any other, because an offset of T makes the same cuts as an offset
    of 0, except for the first.

    Args:
        num_tokens, num_steps: N and T.
        batch_size: B; the subsequences that do not fill a batch are left over, other
            ones in each epoch.
        generator: where the randomness comes from; by default PyTorch's global
            generator.

    Returns int64, shape (num_batches, B); no batch at all if the stream is too short
    for one after this offset.
    """
    offset = draw_offset(num_steps, generator=generator)
    starts = subsequence_starts(num_tokens, num_steps, offset)
    shuffled = starts[torch.randperm(len(starts), generator=generator).numpy()]
    num_batches = len(starts) // batch_size
    return shuffled[: num_batches * batch_size].reshape(num_batches, batch_size)


@checked
def check_leaves_a_batch(
    corpus: AnyStream, batch_size: Length, num_steps: Length, *, more_offsets: int = 0
) -> Stream:
    """Return a stream if every offset leaves B * T inputs and a last target.

    The offsets are 0 ... T - 1, and so many more.
    """
    largest_offset = num_steps - 1 + more_offsets
    needed = largest_offset + batch_size * num_steps + 1
    if len(corpus) < needed:
        raise ValueError(
            f"corpus must hold at least {needed} ids, so that every offset leaves a "
            f"batch (an offset of up to {largest_offset}, batch_size * num_steps = "
            f"{batch_size * num_steps} inputs, and a last target), got {len(corpus)}"
        )
    return corpus


@named_elsewhere
def seq_data_iter_random(
    corpus: AnyStream,
    batch_size: Length,
    num_steps: Length,
    *,
    generator: torch.Generator | None = None,
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Iterate over one epoch of subsequences at a random offset, in random order.

    The scheme and its name follow Zhang, Lipton, Li and Smola, "Dive into Deep
    Learning", edition 0.17, section 8.3; editions from 1.0 on leave it out.

    Args:
        corpus: the stream, N ids; a list is converted once.
        batch_size, num_steps: B and T.
        generator: where the randomness comes from; by default PyTorch's global
            generator.

    Returns an iterator over (X, Y), torch.int64, shape (B, T) each, with Y[b, t] the id
    right after X[b, t]. Every id is a target at most once. The number of batches may
    differ by one from epoch to epoch. Raises ValueError if the stream is too short to
    promise a batch at every offset: that takes (B + 1) * T ids.
    """
    corpus = check_leaves_a_batch(corpus, batch_size, num_steps)
    starts = random_starts(len(corpus), batch_size, num_steps, generator=generator)
    return (gather_windows(corpus, batch, num_steps) for batch in starts)
