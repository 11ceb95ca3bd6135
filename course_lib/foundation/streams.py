"""What windows are cut from: a stream of token ids, in one array or in many files.

`Stream` says what every stream can do. `ArrayStream` is the one whose ids lie in an
array; the one whose ids lie in files is lesson 11's. An array becomes a stream where it
comes in: `AnyStream` in a signature.
"""

from __future__ import annotations

import hashlib
import mmap
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, TypeAlias

import numpy as np
import torch

from course_lib.foundation.checks import as_ids, beyond_the_stream, largest_unsigned
from course_lib.foundation.dtypes import compact

IDS_AT_A_TIME = 2**17  # for a fingerprint, in a megabyte at most


class Stream(ABC):
    """N token ids, from which windows are cut.

    It has a length, reads like an array (`stream[i]`, `stream[a:b]`, `stream[array]`),
    and `np.asarray(stream)` gives all ids.
    """

    dtype: np.dtype  #: of the ids
    #: Windows don't cross from one piece into the next. Piece k of the stream has the
    #: ids borders[k] ... borders[k + 1] - 1, and an array is a single piece: [0, N].
    borders: np.ndarray

    def __len__(self) -> int:
        return int(self.borders[-1])

    @abstractmethod
    def __getitem__(self, index: object) -> np.ndarray: ...

    @abstractmethod
    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        """Return all ids, for NumPy."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A name for the ids, the same in every process."""

    @property
    def identity(self) -> dict[str, object]:
        """What else the ids depend on, by name, ready for JSON."""
        return {}

    def compacted(self) -> Stream:
        """Return the stream with its ids in their smallest dtype."""
        return self

    @abstractmethod
    def copy_whole(self, starts: np.ndarray, length: int) -> np.ndarray:
        """Copy `length` ids from each start on; the caller knows that they are there.

        Takes int64 of any shape (...), and returns shape (..., length).
        """

    def cut(self, starts: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
        """Copy up to `length` ids from each start on, and count them.

        Where a piece of the stream ends within a window, the rest of the window is 0.

        Args:
            starts: integers of any shape (...), each in 0 ... N - 1.
            length: how many ids a window has, at least 1.

        Returns ids, shape (..., length), and how many in each window are of the stream,
        int64, shape (...). Raises ValueError if a start is not in the stream.
        """
        starts = starts.astype(np.int64, copy=False)
        if not starts.size:
            return np.empty((*starts.shape, length), self.dtype), starts
        last = largest_unsigned(starts)
        if last >= len(self):
            found = f"{starts.min()} ... {starts.max()}"
            raise ValueError(f"starts must lie in 0 ... {len(self) - 1}, got {found}")
        if last + length <= self.borders[1]:  # as nearly always in an array
            return self.copy_whole(starts, length), np.full(starts.shape, length)
        ends = self.borders[np.searchsorted(self.borders, starts, side="right")]
        lengths = np.minimum(length, ends - starts)
        whole = lengths == length
        if whole.all():
            return self.copy_whole(starts, length), lengths
        ids = np.zeros((*starts.shape, length), self.dtype)
        ids[whole] = self.copy_whole(starts[whole], length)
        rows, starts, found = ids.reshape(-1, length), starts.ravel(), lengths.ravel()
        for row in np.flatnonzero(~whole).tolist():
            size = int(found[row])
            rows[row, :size] = self.copy_whole(starts[row], size)
        return ids, lengths

    def cut_whole(
        self, starts: np.ndarray, length: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Copy `length` ids from each start on; `cut`, but a shorter window is a
        ValueError."""
        starts = starts.astype(np.int64, copy=False)
        if starts.size and largest_unsigned(starts) > len(self) - length:
            raise beyond_the_stream(starts, length, len(self))
        windows, lengths = self.cut(starts, length)
        _check_whole(starts, lengths, length)
        return windows, lengths


def _check_whole(starts: np.ndarray, lengths: np.ndarray, length: int) -> None:
    """Refuse windows of fewer than `length` ids, as `Stream.cut` has found them."""
    if (short := lengths < length).any():
        start = int(starts[short].flat[0])
        raise ValueError(
            "starts must leave each window in one piece of the stream, but the one at "
            f"{start} crosses the border at {start + int(lengths[short].flat[0])}"
        )


class ArrayStream(Stream):
    """A stream whose ids lie in one array, in memory or in a file that is mapped."""

    def __init__(self, ids: np.ndarray):
        self.ids = ids
        self.dtype = ids.dtype
        self.borders = np.array([0, len(ids)])
        self._table: np.ndarray | None = None  # of windows as long as those cut last

    def __getitem__(self, index: object) -> np.ndarray:
        return self.ids[index]

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.ids, dtype=dtype, copy=copy)

    def compacted(self) -> ArrayStream:
        ids = compact(self.ids)
        # As it is, if it can be, and with the fingerprint that it may have.
        return self if ids.dtype == self.ids.dtype else ArrayStream(ids)

    def copy_whole(self, starts: np.ndarray, length: int) -> np.ndarray:
        if self._table is None or self._table.shape[1] != length:
            self._table = table_of_windows(self.ids, length)
        return self._table[starts]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all the ids, whatever their dtype: it names the stream.

        It takes 0.2 seconds for 10**8 ids of uint16, and what reading them from a disk
        takes if they are a file that isn't in memory. So it is computed when it is
        first asked for, once.
        """
        digest = hashlib.sha256()
        for begin in range(0, len(self), IDS_AT_A_TIME):
            ids = self.ids[begin : begin + IDS_AT_A_TIME]
            # By what they are and not by their dtype, and quickly if they are small.
            is_small = ids.min() >= 0 and ids.max() < 2**16
            digest.update(np.ascontiguousarray(ids, "<u2" if is_small else "<i8"))
        return digest.hexdigest()[:16]

    def __reduce__(self) -> tuple:
        """Travel to a spawned worker as the name of a file, if there is one."""
        file = file_of(self.ids)
        return (open_file, (file,)) if file else (ArrayStream, (self.ids,))


def table_of_windows(ids: np.ndarray, length: int) -> np.ndarray:
    """View an array as the table of all its windows of `length` ids, shape
    (N - length + 1, length).

    Row s begins at token s. Neighboring rows share their memory, one step further, so
    the table costs nothing. `sliding_window_view` makes the same table, but spends half
    the time of a whole batch on checks that were already made.
    """
    (step,) = ids.strides
    shape = (max(0, len(ids) - length + 1), length)
    return np.lib.stride_tricks.as_strided(ids, shape, (step, step), writeable=False)


def file_of(ids: np.ndarray) -> dict | None:
    """Say which part of which file a memory map shows, as arguments of `np.memmap`.

    None if the ids are not a memory map, or if its file alone cannot restore them.
    """
    source = ids
    while isinstance(source, np.ndarray) and not isinstance(source.base, mmap.mmap):
        source = source.base
    if not isinstance(source, np.memmap) or not ids.flags.c_contiguous:
        return None
    if source.filename is None or source.mode == "c":
        return None
    first, start = (a.__array_interface__["data"][0] for a in (source, ids))
    return {
        "filename": source.filename,
        "dtype": ids.dtype,
        "mode": "r",
        # for a slice as well, because `memmap.offset` is that of the whole map
        "offset": source.offset + start - first,
        "shape": ids.shape,
    }


def open_file(file: dict) -> ArrayStream:
    """Map what `file_of` describes."""
    return ArrayStream(as_ids("ids", np.memmap(**file)))


def as_stream(name: str, ids: object) -> Stream:
    """Return a stream as it is, and wrap an array, a list or a tensor, uncopied."""
    return ids if isinstance(ids, Stream) else ArrayStream(as_ids(name, ids))


AnyStream: TypeAlias = Annotated[
    Stream | Sequence[int] | np.ndarray | torch.Tensor, as_stream
]
"""The ids that windows are cut from: a `Stream`, or what `Ids` allows. The function
gets a `Stream`.
"""
