"""Chunks of a long document: how many there are, where they start, what they hold."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from course_lib.foundation import (
    AtLeast,
    Count,
    Ids,
    Integers,
    Length,
    checked,
)

LONGEST = 2**62  # beyond it, starts might not fit into 64 bits


@checked
def count_chunks(
    num_tokens: Annotated[int, AtLeast(0, LONGEST)],
    max_length: Length,
    overlap: Count = 0,
) -> int:
    """Count the chunks of a document: 1 + ceil((N - L) / step), or 0 if N is 0.

    Args:
        num_tokens, max_length: N, at least 0, and L, the most tokens in a chunk.
        overlap: tokens that two neighbors share. The step is L - overlap.
    """
    max_length, step = check_step(max_length, overlap)
    # -(-a // b) is a / b, rounded up.
    more = -(-max(0, num_tokens - max_length) // step)
    return 1 + more if num_tokens else 0


def chunk_starts(num_tokens: int, max_length: int, overlap: int = 0) -> np.ndarray:
    """Return the starts of all chunks, int64, shape (count_chunks(...),).

    The last chunk ends with the document, so it may be shorter than the others. It is
    never wholly inside the one before it.
    """
    count = count_chunks(num_tokens, max_length, overlap)
    _, step = check_step(max_length, overlap)
    return np.arange(count, dtype=np.int64) * step


@checked
def chunk_ids(ids: Ids, max_length: Length, overlap: Count = 0) -> list[np.ndarray]:
    """Cut a document into chunks of at most `max_length` ids: views, not copies.

    The overlap is the number of ids that a chunk shares with the one before it. The
    `stride` of `transformers` means this overlap, not the step.

    A model can't predict the first id of a chunk. With an overlap of 0, the default,
    that loses a target at each cut. With 1 or more, the chunk before predicts it.
    """
    starts = chunk_starts(len(ids), max_length, overlap)
    return [ids[start : start + max_length] for start in starts]


@checked
def chunk_rows(
    starts: Integers, num_tokens: Length, max_length: Length
) -> dict[str, list[tuple]]:
    """Name the chunks of a document, for `plot_rows`: what each of them predicts.

    Args:
        starts: where chunks begin, shape (num_chunks,), the first at 0.
        num_tokens, max_length: N and L. Tokens after the last chunk are lost.
    """
    if not starts.size or starts.min() < 0 or starts.max() >= num_tokens:
        wanted = f"one or more of 0 ... {num_tokens - 1}"
        raise ValueError(f"starts must be {wanted}, got {starts.tolist()!r:.60}")
    rows, known = {}, 0  # tokens that earlier chunks hold
    for start in starts.ravel().tolist():
        end = min(start + max_length, num_tokens)
        first = max(known, start + 1)
        # without an overlap, nothing predicts a chunk's first token
        before = "plain2" if start < known else "lost"
        rows[f"start {start}"] = [(start, first - start, before)]
        rows[f"start {start}"].append((first, end - first, "inputs"))
        known = end
    if known < num_tokens:
        rows[f"start {start}"].append((known, num_tokens - known, "lost"))
    return rows


@checked
def check_step(
    max_length: Annotated[int, AtLeast(1, LONGEST)], overlap: Count
) -> tuple[int, int]:
    """Return the length and the step, or say why there is no step."""
    if overlap >= max_length:
        raise ValueError(
            f"overlap must be less than max_length {max_length}, or no chunk comes "
            f"nearer to the end; got {overlap}"
        )
    return max_length, max_length - overlap
