"""Batches of any loader as rows: what the model reads, what it is judged by, and what
tells the documents of a row apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from course_lib.foundation.arguments import check_dense
from course_lib.foundation.models import IGNORED

PAIR = ("inputs", "targets")
NO_ID = -1  # fills up rows of different lengths
WANTED = (
    "a pair (inputs, targets), or a mapping with input_ids and perhaps labels, or with "
    "inputs and targets, and perhaps attention_mask and position_ids"
)


@dataclass(frozen=True)
class BatchRows:
    """The rows of one batch, as ids, shape (B, M).

    At each place stand a token and the label that it is as the next token, so a model
    predicts the label from the tokens before. This is how mappings come, with M = L. A
    pair of shape (B, T) has M = T + 1 places: the first has no label, and the last no
    input.
    """

    inputs: np.ndarray  #: int64, NO_ID where a row has no input
    labels: np.ndarray | None  #: int64, or None if the loader hands out no labels
    is_pair: bool
    is_kept: np.ndarray  #: False where a mask says padding, or the row has ended
    #: True where positions begin again, or a mask hides the token before
    begins: np.ndarray
    memory: list[np.ndarray]  #: of inputs and labels, where it is known

    @property
    def judged(self) -> np.ndarray:
        """Where no mask hides what predicts the label: in a pair, the input before."""
        kept = self.is_kept.copy()
        if self.is_pair:
            kept[:, 1:] = self.is_kept[:, :-1]
        return kept

    @property
    def scored(self) -> np.ndarray:
        """Where the loss counts, shape (B, M)."""
        if self.labels is None:
            return self.is_kept
        return self.labels != IGNORED


def read_batch(batch: object) -> BatchRows:
    """Read a batch: a pair, or a mapping, of tensors, arrays or lists.

    A mapping with `inputs` and `targets` is also a pair. Each has the shape (B, L), or
    (L,) for a single row. Raises TypeError or ValueError if it cannot be read.
    """
    if isinstance(batch, list | tuple) and len(batch) == 2:
        batch = dict(zip(PAIR, batch, strict=True))
    given = batch if isinstance(batch, Mapping) else {}
    is_pair = given.get("input_ids") is None
    names = PAIR if is_pair else ("input_ids", "labels")
    parts = {name: given[name] for name in names if given.get(name) is not None}
    if is_pair and len(parts) < 2:
        raise TypeError(f"must be {WANTED}, got {_kind(batch)}{_advice(batch)}")
    memory = [_memory(value) for value in parts.values()]
    parts = {name: _as_rows(name, value) for name, value in parts.items()}
    inputs, *labels = parts.values()
    lengths = [len(row) for row in inputs]
    if any([len(row) for row in rows] != lengths for rows in labels):
        shapes = " and ".join(f"{n} of {_shape(rows)}" for n, rows in parts.items())
        raise ValueError(f"must have a label for each input, got {shapes}")
    width = max(lengths, default=0) + is_pair
    is_kept = np.arange(width) < np.array(lengths, dtype=np.int64)[:, None] + is_pair
    begins = np.zeros(is_kept.shape, dtype=bool)
    places = np.s_[:, : width - is_pair]  # those of the inputs
    _read_positions(given.get("position_ids"), begins[places])
    _read_mask(given.get("attention_mask"), is_kept[places], begins[places])
    return BatchRows(
        inputs=_fill_up(inputs, width, NO_ID),
        labels=_fill_up(labels[0], width, IGNORED, is_pair) if labels else None,
        is_pair=is_pair,
        is_kept=is_kept,
        begins=begins,
        memory=[block for block in memory if block is not None],
    )


def _as_rows(name: str, value: object) -> np.ndarray | list[np.ndarray]:
    """Return integers of shape (B, L), or a list of rows of different lengths."""
    if isinstance(value, list | tuple) and any(np.ndim(row) for row in value):
        rows = [_as_integers(name, row) for row in value]
        if any(row.ndim != 1 for row in rows):
            raise ValueError(f"{name} must have rows of ids, got {_kind(value)}")
        return rows
    rows = np.atleast_2d(_as_integers(name, value))
    if rows.ndim > 2 or not rows.size:
        raise ValueError(f"{name} must have the shape (B, T), got {rows.shape}")
    return rows


def _as_integers(name: str, value: object) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        value = check_dense(name, value).numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, got {_kind(value)}")
    return array.astype(np.int64)  # a copy, because a loader may reuse its memory


def _fill_up(rows: Sequence, width: int, fill: int, first: int = 0) -> np.ndarray:
    """Put rows into an array of `width` places, from the place `first` on."""
    filled = np.full((len(rows), width), fill, dtype=np.int64)
    if isinstance(rows, np.ndarray):
        filled[:, first : first + rows.shape[1]] = rows
        return filled
    for number, row in enumerate(rows):
        filled[number, first : first + len(row)] = row
    return filled


def _read_positions(position_ids: object, begins: np.ndarray) -> None:
    if position_ids is not None:
        rows = _as_rows("position_ids", position_ids)
        count, width = begins.shape
        if len(rows) not in (1, count) or max(map(len, rows)) != width:
            shape = f"B, L = {count}, {width}, got {_shape(rows)}"
            raise ValueError(f"position_ids must have the shape (B, L), with {shape}")
        positions = _fill_up(rows, width, -1)
        begins[:, 1:] |= np.diff(np.broadcast_to(positions, begins.shape)) <= 0


def _read_mask(mask: object, is_kept: np.ndarray, begins: np.ndarray) -> None:
    """Read a mask of shape (B, L), (B, L, L) or (B, 1, L, L), of flags or numbers.

    A mask of shape (B, L) may number the documents. One with negative numbers is added
    to the attention, so its zeros are what can be seen.
    """
    if mask is None:
        return
    if isinstance(mask, list | tuple) and len({np.shape(row)[:1] for row in mask}) > 1:
        mask = _fill_up(_as_rows("attention_mask", mask), is_kept.shape[1], 0)
    if isinstance(mask, torch.Tensor):
        mask = check_dense("attention_mask", mask).double().numpy()
    mask = np.asarray(mask)
    rows, width = is_kept.shape
    if mask.ndim <= 2 and mask.size == rows * width:
        mask = np.where(is_kept, mask.reshape(rows, width), 0)
        is_kept &= mask != 0
        begins[:, 1:] |= np.diff(mask) != 0
    elif mask.ndim in (3, 4) and mask.shape[-2:] == (width, width):
        sees = mask == 0 if mask.min(initial=0) < 0 else mask != 0
        sees = sees if sees.ndim == 3 else sees[:, 0]
        is_kept &= np.diagonal(sees, axis1=1, axis2=2)
        begins[:, 1:] |= ~np.diagonal(sees, offset=-1, axis1=1, axis2=2)
    else:
        raise ValueError(
            "attention_mask must have the shape (B, L), (B, L, L) or (B, 1, L, L), "
            f"with B, L = {rows}, {width}, got {mask.shape}"
        )


def _memory(value: object) -> np.ndarray | None:
    """View the memory of a tensor or an array, or return None if it is not ours."""
    if isinstance(value, torch.Tensor) and value.device.type == "cpu":
        return value.detach().numpy()
    return value if isinstance(value, np.ndarray) else None


def _kind(value: object) -> str:
    shape = getattr(value, "shape", None)
    of = f" of {value.dtype}, shape {tuple(shape)}" if shape is not None else ""
    if isinstance(value, Mapping):
        of = f" with {', '.join(map(str, value)) or 'nothing'}"
    elif isinstance(value, list | tuple):
        of = f" of {len(value)}"
    return f"{type(value).__name__}{of}"


def _is_table(value: object) -> bool:
    return len(getattr(value, "shape", ())) == 2


def _advice(batch: object) -> str:
    """Say how to make a batch that can be read, if it is of a common form."""
    if isinstance(batch, Mapping) and len(batch) == 2:
        keys = [repr(key) for key in batch]
        words = f"(batch[{keys[0]}], batch[{keys[1]}])"
    elif isinstance(batch, Mapping) and len(batch) == 1:
        words = f"{{'input_ids': batch[{next(iter(batch))!r}]}}"
    elif _is_table(batch):
        words = "{'input_ids': batch}"  # halves of it would share its memory
    elif isinstance(batch, list | tuple) and len(batch) > 2 and _is_table(batch[0]):
        words = "batch[:2]"
    else:
        return ""
    return f": make_loader could return ({words} for batch in loader)"


def _shape(rows: np.ndarray | list[np.ndarray]) -> str:
    lengths = sorted({len(row) for row in rows})
    return f"{len(rows)} rows of {' and '.join(map(str, lengths[:3]))} ids"
