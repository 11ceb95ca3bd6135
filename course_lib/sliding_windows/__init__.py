"""Lesson 02: how many windows there are, where they start, and how to get a batch.

A sampling scheme chooses starts, and `gather_windows` turns starts into batches. A data
set of windows is one stream and one rule for its starts, so it costs the memory of the
stream, whatever the stride.

`loading` holds the loader that `make_dataloader` makes: the order of its batches, and
how far it has been read. `workers` makes it fast where other processes gather ahead.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from torch.utils.data import Dataset

from course_lib.foundation import (
    Count,
    FileOrder,
    Ids,
    Integers,
    Length,
    RandomOrder,
    Seed,
    check_index,
    checked,
)
from course_lib.foundation.arguments import Count64
from course_lib.foundation.tokenizing import compact
from course_lib.next_token_shifting import shift_by_one
from course_lib.sliding_windows.loading import Batch, BatchOrder, WindowLoader
from course_lib.sliding_windows.workers import file_of, open_file

FINGERPRINT_RUNS, FINGERPRINT_RUN = 64, 1024


# How many windows, and where?


@checked
def count_windows(num_tokens: Count, context_length: Length, stride: Length = 1) -> int:
    """Count the windows that fit: max(0, 1 + (N - (T + 1)) // S).

    The T + 1 includes the last target. So with stride 1 there are N - T windows, while
    windows of inputs alone would be N - T + 1.

    Args:
        num_tokens, context_length: N, at least 0, and T, at least 1.
        stride: S, the step from one start to the next, at least 1.
    """
    # Without max(), a short stream would give a negative number, rounded down.
    return max(0, 1 + (num_tokens - (context_length + 1)) // stride)


@checked
def window_starts(
    num_tokens: Count64, context_length: Length, stride: Length = 1
) -> np.ndarray:
    """Return the starts 0, S, 2S, ... of all windows that fit, int64, in order."""
    windows = count_windows(num_tokens, context_length, stride)
    # A stride beyond the stream leaves only the start 0, and may not fit into int64.
    return np.arange(windows, dtype=np.int64) * min(stride, max(1, num_tokens))


# From starts to batches.


@checked
def gather_windows(
    ids: Ids, starts: Integers, context_length: Length
) -> tuple[torch.Tensor, torch.Tensor]:
    """Turn starts into a batch: the one function that cuts windows out of a stream.

    Args:
        ids: the stream, N integers. An array or tensor is read in place, a list is
            converted at each call.
        starts: integers of any shape (...), each in 0 ... N - T - 1.
        context_length: T.

    Returns inputs and targets, torch.int64, shape (..., T) each, of their own memory:
    write into them as you like. Raises ValueError if a window would begin before the
    stream or reach beyond its end, or holds a negative id.
    """
    if starts.size == 0:
        return widen(np.empty((*starts.shape, context_length + 1), dtype=ids.dtype))
    last_start = len(ids) - context_length - 1
    if starts.min() < 0 or starts.max() > last_start:
        allowed = f"0 ... {last_start}" if last_start >= 0 else "nothing at all"
        raise ValueError(
            f"starts must lie in {allowed}: {context_length + 1} ids (context_length + "
            f"1) are needed from each on, in a stream of {len(ids)}; got "
            f"{starts.min()} ... {starts.max()}"
        )
    return widen(stream_of(ids).cut(starts, context_length + 1))


def widen(windows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Copy windows (..., T + 1) to int64, as separate inputs and targets.

    One copy of the whole window, with both halves as views, would be cheaper. But then
    `targets[mask] = -100` would write into the inputs.
    """
    # A memory map has not been read until now. A compact stream cannot hold such an id.
    if windows.dtype.kind == "i" and windows.min(initial=0) < 0:
        raise ValueError(f"ids must not be negative, got {windows.min()}")
    halves = shift_by_one(windows)
    inputs, targets = (half.astype(np.int64, order="C") for half in halves)
    return torch.from_numpy(inputs), torch.from_numpy(targets)


# What windows are cut from.


class Stream(Protocol):
    """What windows are cut from: an array here, and files in lesson 11."""

    ids: Ids  #: what reads as an array of all ids, shape (N,)

    @property
    def fingerprint(self) -> str:
        """A name for the ids, the same in every process."""

    def cut(self, starts: np.ndarray, length: int) -> np.ndarray:
        """Return `length` ids from each start on, shape (..., length)."""

    def windows(self, context_length: int, stride: int) -> object:
        """A table of all windows, with a length, an index, and their `starts`."""


def stream_of(ids: Ids) -> Stream:
    """Return what windows of these ids are cut from."""
    return ids if hasattr(ids, "cut") else ArrayStream(ids)


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


class ArrayStream:
    """A stream whose ids lie in one array, in memory or in a file that is mapped."""

    def __init__(self, ids: np.ndarray):
        self.ids = ids

    def __len__(self) -> int:
        return len(self.ids)

    def cut(self, starts: np.ndarray, length: int) -> np.ndarray:
        return table_of_windows(self.ids, length)[starts]

    def windows(self, context_length: int, stride: int) -> ArrayWindows:
        return ArrayWindows(self, context_length, stride)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of up to 65,536 of the ids, whatever their dtype: it names the stream.

        A longer stream is sampled in 64 runs from its beginning to its end. An edit
        between two runs goes unnoticed, while another text does not.
        """
        spread = np.linspace(0, len(self.ids) - FINGERPRINT_RUN, FINGERPRINT_RUNS)
        runs = [self.ids[int(s) : int(s) + FINGERPRINT_RUN] for s in spread]
        short = len(self.ids) <= FINGERPRINT_RUN * FINGERPRINT_RUNS
        sample = self.ids if short else np.concatenate(runs)
        return hashlib.sha256(sample.astype("<i8").tobytes()).hexdigest()[:16]

    def __reduce__(self) -> tuple:
        """Travel to a spawned worker as the name of a file, if there is one."""
        file = file_of(self.ids)
        return (_mapped, (file,)) if file else (ArrayStream, (self.ids,))


def _mapped(file: dict) -> ArrayStream:
    return ArrayStream(open_file(file))


class ArrayWindows:
    """All windows of an array at a stride, as rows of a table that copies nothing."""

    def __init__(self, stream: ArrayStream, context_length: int, stride: int):
        self._counted = len(stream), context_length, stride
        # A stride longer than the stream leaves one window, as does a stride of N.
        step = min(stride, len(stream))
        self._rows = table_of_windows(stream.ids, context_length + 1)[::step]

    @property
    def starts(self) -> np.ndarray:
        """The start of every window, int64, made when asked for."""
        return window_starts(*self._counted)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: object) -> np.ndarray:
        return self._rows[index]


class SlidingWindowDataset(Dataset):
    """All windows of a stream at a stride, without storing any of them.

    `dataset[i]` is one pair of shape (T,), while `dataset[array]` and `dataset[a:b]`
    are a whole batch, (B, T). Indices count windows, not tokens, and negative ones
    count from the end, as in a list. A batch is yours: writing into its targets changes
    neither its inputs nor the stream.

    Args:
        ids: the stream, N integers, kept compact (uint16 if they fit). A memory map or
            an array that is already compact is not copied. For a worker that is
            spawned, a memory map travels as the name of its file.
        context_length: T.
        stride: S, the step between starts. Neighbors overlap by T - S inputs.

    Raises ValueError if the stream is too short for a single window.
    """

    count_windows = staticmethod(count_windows)
    widen = staticmethod(widen)

    @checked
    def __init__(self, ids: Ids, context_length: Length, stride: Length = 1):
        self._source = ids if hasattr(ids, "cut") else ArrayStream(compact(ids))
        self._context_length, self._stride = context_length, stride
        if len(self._source) <= context_length:
            raise ValueError(
                f"ids must hold at least {context_length + 1} tokens for one window "
                f"(context_length + 1), got {len(self._source)}"
            )
        self._windows = self._source.windows(context_length, stride)
        if not len(self._windows):  # in a stream of pieces, each may be too short
            raise ValueError(
                f"ids must hold a piece of at least {context_length + 1} tokens for "
                "one window (context_length + 1), got none"
            )

    def __len__(self) -> int:
        return len(self._windows)

    def __getitem__(self, index: object) -> Batch:
        return self.widen(self.cut(index))

    def cut(self, index: object) -> np.ndarray:
        """Return windows as they are in the stream, T + 1 compact ids each."""
        return self._windows[check_index(index)]

    # Read-only, because a stride set later would change the starts, not the windows.
    @property
    def stream(self) -> Ids:
        """The ids, shape (N,), in their smallest dtype."""
        return self._source.ids

    @property
    def context_length(self) -> int:
        """T."""
        return self._context_length

    @property
    def stride(self) -> int:
        """S."""
        return self._stride

    @property
    def starts(self) -> np.ndarray:
        """The start of every window, int64, shape (len(self),)."""
        return self._windows.starts

    @property
    def fingerprint(self) -> str:
        """A name for the stream, the same in every process; see `Stream`."""
        return self._source.fingerprint

    @property
    def identity(self) -> dict[str, object]:
        """What the windows depend on, by name: a state is of no use without them."""
        return {
            **getattr(self._source, "identity", {}),
            "num_tokens": len(self._source),
            "fingerprint": self.fingerprint,
            "context_length": self.context_length,
            "stride": self.stride,
        }

    def as_rows(self) -> WindowRows:
        """Return the same windows as rows for `transformers`; see `WindowRows`."""
        return WindowRows(self._source, self.context_length, self.stride)

    # Pickle would write the table of windows out, T + 1 times the stream.
    def __reduce__(self) -> tuple:
        return type(self), (self._source, self.context_length, self.stride)


class WindowRows(SlidingWindowDataset):
    """The windows as rows for `transformers`: T + 1 `input_ids`, and as many `labels`.

    The model shifts the labels itself, so each row makes T predictions.
    """

    @staticmethod
    def widen(windows: np.ndarray) -> dict[str, torch.Tensor]:
        """Copy windows (..., T + 1) to int64, as inputs and labels that are aligned."""
        inputs, targets = widen(windows)
        input_ids = torch.cat([inputs, targets[..., -1:]], dim=-1)
        return {"input_ids": input_ids, "labels": input_ids.clone()}


@checked
def make_dataloader(
    dataset: SlidingWindowDataset,
    batch_size: Length,
    *,
    base_seed: Seed,
    shuffle: bool = True,
    order: Callable[[int, int], object] | None = None,
    drop_last: bool = False,
    num_workers: Count = 0,
    rank: Count = 0,
    world_size: Length = 1,
    **loader_options: object,
) -> WindowLoader:
    """Make a seeded `DataLoader` over windows, whose epochs you can repeat, resume and
    share out.

    Epochs follow one another, unless `loader.sampler.set_epoch(e)` chooses one. The
    order of epoch e is a function of `base_seed + e` alone, so epoch 1 of base seed 7
    is epoch 0 of base seed 8. Keep base seeds further apart than a run has epochs.

    `loader.state_dict()` and `loader.load_state_dict(state)` resume in the middle of an
    epoch; see `WindowLoader`. The state counts windows that all ranks together have
    delivered, so the batch size, the workers and the ranks may change. It is refused if
    it would mean other windows: with another stream, context length, stride, seed or
    order.

    Args:
        dataset: the windows.
        batch_size: B, windows in a batch, of each rank.
        base_seed: a non-negative integer.
        shuffle: take the windows in random order instead of the stream's.
        order: makes the order of an epoch from a size and a seed. By default it is
            `RandomOrder`, or `FileOrder` without `shuffle`. Lesson 11 has others.
        drop_last: leave out the last batch if it is smaller than B.
        num_workers: processes that gather batches ahead, which does not change the
            batches.
        rank, world_size: the number of this process, counted from 0, and the number of
            processes that share the windows evenly.
        loader_options: for PyTorch's `DataLoader`: pin_memory, prefetch_factor (of
            messages, which hold several batches unless memory is pinned),
            persistent_workers, multiprocessing_context, worker_init_fn, timeout.

    Returns a loader of (inputs, targets), torch.int64, shape (B, T) each, or of
    mappings if the data set comes from `as_rows`. Inputs and targets share no memory,
    so `targets[mask] = -100` is safe, with workers and without. Raises ValueError if
    there are too few windows for a single batch.
    """
    if order is not None and not shuffle:
        raise ValueError("shuffle must be left out where order says how to mix")
    batches = BatchOrder(
        len(dataset),
        batch_size,
        base_seed=base_seed,
        order=order or (RandomOrder if shuffle else FileOrder),
        drop_last=drop_last,
        rank=rank,
        world_size=world_size,
    )
    if len(np.unique(some := batches.some_windows)) < len(some):
        raise ValueError("order must hold each window once, but some come twice")
    return WindowLoader(dataset, batches, num_workers, loader_options)
