"""Lesson 10: several documents in one row, without one of them seeing another.

Everything follows from where documents begin: positions, masks and labels. Those starts
are written down when documents are packed; what looks for them in the ids afterwards
can be wrong where a document was cut, or where its end is also the pad or a part of the
text.

Forgather by Jason dinAlt (https://github.com/jdinalt/forgather) does it in this way:
`document_starts`, `packed_sequences`, and looking for ends of texts only as a fallback
are names and ideas of its `DataCollatorForCausalLM`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import nn

from course_lib.foundation import (
    IGNORED,
    Ids,
    Length,
    check_integer,
    check_pad_token,
    check_rows,
    check_starts,
    checked,
    document_marks,
    evaluation_mode,
    one_thread,
)
from course_lib.next_token_shifting import next_token_loss

PackedBatch = tuple[dict[str, torch.Tensor], torch.Tensor]
"""The arguments of a model by name, and the targets."""

ROWS_AT_ONCE = 32  # in `packed_loss`: a matter of memory, not of the result

NO_STARTS = (
    "a row has no document_starts, so all of it counts as one document. Were they "
    "dropped on the way, for example by remove_unused_columns=True of a Trainer? "
    "Otherwise packed_sequences=True looks for documents in the ids, and False says "
    "that each row is one"
)

# Positions and masks: all of them follow from where documents start.


def position_ids_from_starts(document_starts: Ids, length: int) -> torch.Tensor:
    """Count positions from 0 in each document, int64, shape (L,).

    Args:
        document_starts: where each begins, shape (pieces,); the first is 0.
        length: L, ids of the row.
    """
    starts, length = check_starts(document_starts, length)
    positions = np.arange(length, dtype=np.int64)
    return torch.from_numpy(positions - starts[_segments(starts, length)])


@checked
def position_ids_from_tokens(
    input_ids: Ids, eos_token_id: int | None = None, bos_token_id: int | None = None
) -> torch.Tensor:
    """Count positions from 0 after each end of a text, int64, shape (L,).

    A fallback for rows whose starts nobody wrote down. It can be wrong where a text
    holds that id itself, where a document was cut before its end, and where padding is
    the same id.

    Args:
        input_ids: L ids.
        eos_token_id, bos_token_id: those that end and begin each text, or None.
    """
    if not input_ids.size:
        raise ValueError("input_ids must hold at least one id, got none")
    eos_token_id, bos_token_id = _check_marks(eos_token_id, bos_token_id)
    begins = np.append(True, input_ids[:-1] == eos_token_id) | (
        input_ids == bos_token_id
    )
    return position_ids_from_starts(np.flatnonzero(begins), len(input_ids))


def _check_marks(eos_token_id: int | None, bos_token_id: int | None) -> list[int]:
    """Return both, with -1 for one that is not given."""
    given = {"eos_token_id": eos_token_id, "bos_token_id": bos_token_id}
    marks = [
        -1 if mark is None else check_integer(name, mark, minimum=0, maximum=2**32 - 1)
        for name, mark in given.items()
    ]
    if marks[0] == marks[1]:
        raise ValueError(
            "eos_token_id or bos_token_id must be given, and they must differ, or "
            f"nothing tells an end from a beginning; got {eos_token_id!r} and "
            f"{bos_token_id!r}"
        )
    return marks


def document_mask(document_starts: Ids, length: int) -> torch.Tensor:
    """Who sees whom, bool, shape (L, L): row q may look at column k where it is True.

    The mask is causal within a document and closed across. Padding is a document like
    any other: the caller appends its start.
    """
    starts, length = check_starts(document_starts, length)
    segments = torch.from_numpy(_segments(starts, length))
    return (segments[:, None] == segments).tril()


def cu_seqlens(document_starts: Ids, length: int) -> torch.Tensor:
    """Where documents begin and the last one ends, int32, shape (pieces + 1,).

    Kernels for rows of several lengths take them as "cumulative sequence lengths".
    """
    starts, length = check_starts(document_starts, length)
    return torch.from_numpy(np.append(starts, length).astype(np.int32))


def _segments(starts: np.ndarray, length: int) -> np.ndarray:
    """Return the number of the document that each place belongs to, shape (L,)."""
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=length))


class PackingCollator:
    """Make batches of packed rows: ids, labels, and positions that begin again.

    There is no `attention_mask`, because with its default attention, `transformers`
    tells documents apart by their positions only where no mask is given. Labels are
    aligned with their inputs. They are -100 on padding and on the first id of each
    document, which nothing before it may predict.

    Args:
        tokenizer: the wrapped one of lesson 07, which has a pad token.
        packed_sequences: None: a row is packed if it has `document_starts`, and the
            first that has none gives a warning. True: every row is packed, and without
            `document_starts` documents are told apart by what the tokenizer puts before
            or after each. False: each row is one document.
        max_length: fill batches up to this length, or with None up to their longest
            row.
        flatten: make one row of all, without padding, because with flash attention,
            `transformers` infers documents from positions only in a batch of one row.
        cu_seq_lens: add what kernels for rows of several lengths need to be told.
    """

    @checked
    def __init__(
        self,
        tokenizer: object,
        packed_sequences: bool | None = None,
        *,
        max_length: Length | None = None,
        flatten: bool = False,
        cu_seq_lens: bool = False,
    ):
        if flatten and max_length is not None:
            raise ValueError(
                "max_length must be None with flatten=True, which leaves no row to "
                f"fill, got {max_length}"
            )
        self.packed_sequences = packed_sequences
        self.max_length = max_length
        self.flatten = flatten
        self.cu_seq_lens = cu_seq_lens
        self._has_warned = False
        # A single row needs no padding.
        self.pad_token_id = 0 if flatten else check_pad_token(tokenizer)
        if packed_sequences:
            self.bos_token_id, self.eos_token_id = document_marks(tokenizer)
            _check_marks(self.eos_token_id, self.bos_token_id)

    def __call__(self, rows: Sequence[Mapping[str, object]]) -> dict[str, torch.Tensor]:
        """Make one batch.

        Args:
            rows: packs, or mappings with `input_ids`, integers, shape (n,), n at least
                1, perhaps with `document_starts`, and perhaps with `labels` of the same
                shape as the ids, -100 where nothing is to be scored.

        Returns `input_ids`, `labels` and `position_ids`, int64, shape (B, L) each,
        where L is `max_length` or the length of the longest row, or (1, ids of all
        rows) if flattened.
        With `cu_seq_lens` also `cu_seq_lens_q` and `cu_seq_lens_k`, int32: where the
        documents of all rows, laid end to end, begin and the last one ends. And
        `max_length_q` and `max_length_k`, the length of the longest document.
        """
        optional = () if self.packed_sequences is False else ("document_starts",)
        columns = check_rows(rows, "labels", *optional)
        streams = [ids.astype(np.int64) for ids in columns["input_ids"]]
        longest_row = max(map(len, streams))
        length = self.max_length or longest_row
        if longest_row > length:
            raise ValueError(
                f"input_ids must be no longer than max_length {length}, got "
                f"{longest_row}: pack documents into rows of {length}"
            )
        scored = [ids.astype(np.int64) for ids in columns["labels"] or streams]
        written = columns.get("document_starts") or [None] * len(streams)
        lacking = self.packed_sequences is None and written[0] is None  # all or none
        if lacking and not self._has_warned:
            self._has_warned = True
            warnings.warn(NO_STARTS, stacklevel=2)
        starts = [self._starts(*row) for row in zip(streams, written, strict=True)]
        if self.flatten:
            begins = np.cumsum([0, *map(len, streams[:-1])])
            moved = [each + begin for each, begin in zip(starts, begins, strict=True)]
            streams, scored, starts = (
                [np.concatenate(each)] for each in (streams, scored, moved)
            )
            length = len(streams[0])
        shape = len(streams), length
        input_ids = torch.full(shape, self.pad_token_id)
        labels = torch.full(shape, IGNORED)
        position_ids = torch.empty(shape, dtype=torch.int64)
        for i, ids in enumerate(streams):
            if len(ids) < length:  # padding is a document like any other
                starts[i] = np.append(starts[i], len(ids))
            position_ids[i] = position_ids_from_starts(starts[i], length)
            input_ids[i, : len(ids)] = torch.from_numpy(ids)
            labels[i, : len(ids)] = torch.from_numpy(scored[i])
        labels[position_ids == 0] = IGNORED
        batch = {"input_ids": input_ids, "labels": labels, "position_ids": position_ids}
        if self.cu_seq_lens:
            begins = torch.nonzero(position_ids.flatten() == 0).flatten()
            ends = cu_seqlens(begins, position_ids.numel())
            longest = int(ends.diff().max())
            for side in ("q", "k"):
                batch |= {f"cu_seq_lens_{side}": ends, f"max_length_{side}": longest}
        return batch

    def _starts(self, ids: np.ndarray, written: np.ndarray | None) -> np.ndarray:
        if written is not None:
            return check_starts(written, len(ids))[0]
        if not self.packed_sequences:
            return np.zeros(1, dtype=np.int64)
        positions = position_ids_from_tokens(ids, self.eos_token_id, self.bos_token_id)
        return np.flatnonzero(positions.numpy() == 0)


# Batches of packed rows for the small models, and their loss over all scored ids.


@checked
def packed_batch(
    batch: Mapping[str, torch.Tensor], *, masked: bool = True, reset: bool = True
) -> PackedBatch:
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


def _check_batch(batch: PackedBatch) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
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
    batch: PackedBatch, batch_size: int, generator: torch.Generator
) -> Iterator[PackedBatch]:
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
def packed_loss(model: nn.Module, batch: PackedBatch) -> tuple[float, int]:
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


def __getattr__(name: str) -> None:
    if name == "audit_chat_template":  # was here while this lesson had chats in it
        raise ImportError(f"{name} is in course_lib.scored_tokens, which is lesson 15")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
