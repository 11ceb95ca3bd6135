"""Batches of rows of different lengths: what fills them up, and how much of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np
import torch

from course_lib.foundation import (
    IGNORED,
    Length,
    Pack,
    RandomOrder,
    Seed,
    Several,
    as_ids,
    check_integer,
    check_pad_token,
    check_range,
    check_rows,
    checked,
)

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase
else:
    PreTrainedTokenizerBase = object  # importing it takes seconds


class PaddingCollator:
    """Fill rows up to one length, and mark the padding in mask and labels.

    Each label has the position of its input, since `transformers` shifts them inside
    the model. The first of a row is -100, because nothing predicts it, and of models
    such as GPT-2, `Trainer` (transformers 5.24) would count it.

    Args:
        tokenizer: the wrapped one of lesson 07, with a pad token.
        max_length: fill batches up to this length, or with None up to their longest
            row.
    """

    @checked
    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, max_length: Length | None = None
    ):
        self.pad_token_id = check_pad_token(tokenizer)
        self.max_length = max_length

    def __call__(
        self, rows: Sequence[Mapping[str, object] | Pack]
    ) -> dict[str, torch.Tensor]:
        """Make one batch.

        Args:
            rows: each with `input_ids`, integers, shape (n,), n at least 1, and perhaps
                `labels` of the same shape, with -100 for what is not to be scored.

        Returns `input_ids`, `attention_mask` (1 for tokens, 0 for padding) and `labels`
        (-100 for padding and for the first of each row), each int64 of shape (B, L).
        """
        columns = check_rows(rows, "labels")
        streams = columns["input_ids"]
        lengths = np.array([len(stream) for stream in streams])
        length = int(lengths.max()) if self.max_length is None else self.max_length
        if lengths.max() > length:
            raise ValueError(
                f"input_ids must be no longer than max_length {length}, got "
                f"{lengths.max()} in row {lengths.argmax()}: cut documents into chunks"
            )
        # By place, never by id, because the pad may also be the end of a text.
        real = np.arange(length) < lengths[:, None]
        input_ids = np.full(real.shape, self.pad_token_id, dtype=np.int64)
        labels = np.full(real.shape, IGNORED, dtype=np.int64)
        input_ids[real] = np.concatenate(streams)
        labels[real] = np.concatenate(columns["labels"] or streams)
        labels[:, 0] = IGNORED
        batch = {
            "input_ids": input_ids,
            "attention_mask": real.astype(np.int64),
            "labels": labels,
        }
        return {name: torch.from_numpy(values) for name, values in batch.items()}


def as_lengths(name: str, lengths: object) -> np.ndarray:
    """Return how long rows are, int64: one number each, at least 1."""
    lengths = as_ids(name, lengths)
    if not lengths.size:
        raise ValueError(f"{name} must hold at least one length, got none")
    if lengths.min() < 1:
        raise ValueError(f"{name} must be at least 1, got {lengths.min()}")
    return lengths.astype(np.int64)


Lengths: TypeAlias = Annotated[Sequence[int] | np.ndarray | torch.Tensor, as_lengths]


@checked
def padding_share(
    lengths: Lengths,
    batches: Annotated[Iterable[Sequence[int]], Several("lists of rows")],
) -> float:
    """Return the share of padding if each batch is filled up to its longest row.

    Args:
        lengths: ids of each row, shape (rows,).
        batches: which rows make up which batch.
    """
    filled = real = 0
    for rows in batches:
        rows = check_range("batches", as_ids("batches", rows), len(lengths))
        batch = lengths[rows].tolist()  # sums of these are exact
        if not batch:
            raise ValueError("batches must hold at least one row each, got none")
        filled, real = filled + max(batch) * len(batch), real + sum(batch)
    if not filled:
        raise ValueError("batches must hold at least one batch, got none")
    return 1 - real / filled


@checked
def batches_by_length(
    lengths: Lengths, batch_size: Length, *, pool_size: int, seed: Seed
) -> list[np.ndarray]:
    """Choose batches of rows of similar length, in an order that is still random.

    Shuffle all rows, sort them within pools, cut the pools into batches, and shuffle
    the batches. The last batch of a pool may be smaller.

    Args:
        lengths: ids of each row, shape (rows,).
        batch_size: B.
        pool_size: how many rows are sorted together. With B, nothing is gained. With
            all rows, most is gained, but then length alone decides which rows meet.
        seed: of both shuffles.
    """
    batches = []
    for pool in _random_pools(len(lengths), pool_size, batch_size, seed):
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
    shuffled = RandomOrder(len(batches), seed + 1)[np.arange(len(batches))]
    return [batches[i] for i in shuffled]


def _random_pools(
    num_rows: int, pool_size: int, batch_size: int, seed: int
) -> Iterator[np.ndarray]:
    """Shuffle all rows, and cut them into pools that hold a batch at least."""
    pool_size = check_integer("pool_size", pool_size, minimum=batch_size)
    order = RandomOrder(num_rows, seed)[np.arange(num_rows)]
    for first in range(0, num_rows, pool_size):
        yield order[first : first + pool_size]
