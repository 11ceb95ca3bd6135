"""Lesson 02: how many windows there are, where they start, and how to get a batch.

A sampling scheme chooses starts, and one function turns starts into batches:
`gather_windows` does it for any starts, `SlidingWindowDataset` for the starts of a
stride. In both it is `Stream.cut` that cuts the windows, out of memory or out of files.
It returns ids and how many of each window are real; `make_pairs` makes a batch of them,
or `make_rows`. A data set of windows is one stream and one rule for its starts, so it
costs the memory of the stream, whatever the stride.

`OneScreenLoader` is a loader that is whole and small. `loading` holds the one that
`make_dataloader` makes, and `workers` what it needs where other processes gather ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch
from torch.utils.data import Dataset

from course_lib.foundation import (
    IGNORED,
    AnyStream,
    Count,
    Count64,
    FileOrder,
    Integers,
    Length,
    RandomOrder,
    Seed,
    Stream,
    as_places,
    checked,
    some_positions,
)
from course_lib.next_token_shifting import shift_by_one
from course_lib.sliding_windows.loading import Batch, BatchOrder, WindowLoader

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


def count_padded(num_tokens: int, context_length: int, stride: int) -> int:
    """Count the windows if the last one is padded where the stream ends within it.

    That is as many as if up to S - 1 ids more were there, but none without a target.
    """
    with_tail = count_windows(num_tokens + stride - 1, context_length, stride)
    return min(max(1, with_tail), count_windows(num_tokens, 1, stride))


# From starts to batches.


@checked
def gather_windows(
    ids: AnyStream, starts: Integers, context_length: Length
) -> tuple[torch.Tensor, torch.Tensor]:
    """Turn starts into a batch: inputs, and targets one place further on.

    The windows are cut by `Stream.cut`, like those of `SlidingWindowDataset`.

    Args:
        ids: the stream, N integers. An array or tensor is read in place, a list is
            converted at each call.
        starts: integers of any shape (...), each in 0 ... N - T - 1.
        context_length: T.

    Returns inputs and targets, torch.int64, shape (..., T) each, of their own memory:
    write into them as you like. Raises ValueError if a window would begin before the
    stream or reach beyond its end, or holds a negative id.
    """
    # Each window is whole, or this is a ValueError. So all lengths are T + 1.
    windows, lengths = ids.cut_whole(starts, context_length + 1)
    return make_pairs(windows, lengths)


def make_pairs(
    windows: np.ndarray, lengths: np.ndarray
) -> tuple[torch.Tensor, torch.Tensor]:
    """Make inputs and targets of what was cut: windows (..., T + 1), lengths (...).

    Each is a copy, int64, shape (..., T). One copy of the whole window, with both
    halves as views, would be cheaper. But then `targets[mask] = -100` would write into
    the inputs. A target that the stream doesn't have is -100.
    """
    # A memory map has not been read until now. A compact stream cannot hold such an id.
    if windows.dtype.kind == "i" and windows.min(initial=0) < 0:
        raise ValueError(f"ids must not be negative, got {windows.min()}")
    halves = shift_by_one(windows)
    inputs, targets = (half.astype(np.int64, order="C") for half in halves)
    if lengths.min(initial=windows.shape[-1]) < windows.shape[-1]:
        position = np.arange(1, windows.shape[-1])  # of each target in its window
        targets[position >= lengths[..., None]] = IGNORED
    return torch.from_numpy(inputs), torch.from_numpy(targets)


def make_rows(windows: np.ndarray, lengths: np.ndarray) -> dict[str, torch.Tensor]:
    """Make rows for `transformers` of what was cut: `input_ids` and aligned `labels`.

    Both have shape (..., T + 1). The model shifts the labels itself, so each row makes
    T predictions. The first label is -100, because nothing predicts it, and of models
    such as GPT-2, `Trainer` (transformers 5.24) would count it.
    """
    inputs, targets = make_pairs(windows, lengths)
    last = torch.from_numpy(windows[..., -1:].astype(np.int64))
    return {
        "input_ids": torch.cat([inputs, last], dim=-1),
        "labels": torch.cat([torch.full_like(last, IGNORED), targets], dim=-1),
    }


# A loader on one screen.


class OneScreenLoader:
    """Windows in a seeded order, in batches, and a count to go on from.

    That is all a loader has to do. It yields the batches of `make_dataloader`, and says
    where it is as that one does: `now` is the place of the iteration that last yielded
    a batch, while new iterations start at `begin`, which only the end of an epoch
    moves. So a look at the first batch, or a `break`, loses nothing.

    Args:
        ids, context_length, stride: the stream, T and S.
        batch_size: B; the last batch of an epoch may be smaller.
        base_seed: the order of epoch e depends on `base_seed + e` alone.
    """

    def __init__(
        self,
        ids: np.ndarray,
        context_length: int,
        stride: int,
        *,
        batch_size: int,
        base_seed: int,
    ):
        self.ids, self.context_length = ids, context_length
        # A window is known by its number: window k begins at starts[k].
        self.starts = window_starts(len(ids), context_length, stride)
        self.batch_size, self.base_seed = batch_size, base_seed
        # Each is an epoch, and how many windows of it are read: where the next loop
        # begins, and what a checkpoint saves, the place behind the last batch.
        self.begin = self.now = (0, 0)

    def __len__(self) -> int:
        # The batches of the next iteration: in mid-epoch, what is left of it.
        left = len(self.starts) - self.begin[1]
        return -(-left // self.batch_size)  # rounded up

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        # Every epoch has an order of its own, which can be made again at any time.
        epoch, first = self.begin
        order = RandomOrder(len(self.starts), self.base_seed + epoch)
        while first < len(order):
            # Take the next windows of the order. At the end, there may be fewer.
            end = min(first + self.batch_size, len(order))
            windows = order[np.arange(first, end)]
            # Note the place behind them before they are delivered, for `state_dict`.
            self.now = (epoch, end) if end < len(order) else (epoch + 1, 0)
            # Turn windows into starts, and starts into a batch.
            yield gather_windows(self.ids, self.starts[windows], self.context_length)
            first = end
        self.begin = (epoch + 1, 0)  # the next iteration reads the next epoch

    def state_dict(self) -> dict[str, int]:
        """Return how far it was read; save it with the weights."""
        epoch, windows_delivered = self.now
        return {"epoch": epoch, "windows_delivered": windows_delivered}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Go on from `state`: what was read is not read again."""
        self.begin = self.now = (state["epoch"], state["windows_delivered"])


# The data set and the loader of all lessons.


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
        pad_tail: let one more window hold what is left at the end of the stream, if
            that has a target at all. Its missing inputs are 0 and its missing targets
            -100. Where the stream is in pieces, each of them has such a window.
        make_batch: what makes a batch of what was cut: `make_pairs`, or `make_rows`.

    Raises ValueError if the stream is too short for a single window.
    """

    count_windows = staticmethod(count_windows)

    @checked
    def __init__(
        self,
        ids: AnyStream,
        context_length: Length,
        stride: Length = 1,
        *,
        pad_tail: bool = False,
        make_batch: Callable[[np.ndarray, np.ndarray], Batch] = make_pairs,
    ):
        self._stream = ids.compacted()
        self._context_length, self._stride = context_length, stride
        self._pad_tail, self._make_batch = pad_tail, make_batch
        needed = 2 if pad_tail else context_length + 1
        if len(ids) < needed:
            raise ValueError(
                f"ids must hold at least {needed} tokens for one window "
                f"({'an input and a target' if pad_tail else 'context_length + 1'}), "
                f"got {len(ids)}"
            )
        count = count_padded if pad_tail else count_windows
        pieces = np.diff(self._stream.borders).tolist()
        counts = [count(length, context_length, stride) for length in pieces]
        # of piece k, the first window has the number firsts[k]
        self._firsts = np.cumsum([0, *counts], dtype=np.int64)
        if not len(self):  # in a stream of pieces, each may be too short
            raise ValueError(
                f"ids must hold a piece of at least {needed} tokens for one window, "
                "got none"
            )

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def __getitem__(self, index: object) -> Batch:
        return self._make_batch(*self.cut(index))

    def cut(self, index: object) -> tuple[np.ndarray, np.ndarray]:
        """Return windows as they are in the stream, T + 1 compact ids each, and how
        many of these are real; see `Stream.cut`."""
        starts = self._starts_of(as_places(index, len(self), "windows"))
        return self._stream.cut(starts, self._context_length + 1)

    def _starts_of(self, windows: np.ndarray) -> np.ndarray:
        # A stride beyond the stream leaves one window, and may not fit into int64.
        step = min(self._stride, len(self._stream))
        if len(self._firsts) == 2:
            return windows * step
        piece = np.searchsorted(self._firsts, windows, side="right") - 1
        return self._stream.borders[piece] + (windows - self._firsts[piece]) * step

    # Read-only, because a stride set later would change the starts, not the windows.
    @property
    def stream(self) -> Stream:
        """The stream, with its ids in their smallest dtype."""
        return self._stream

    @property
    def context_length(self) -> int:
        """T."""
        return self._context_length

    @property
    def stride(self) -> int:
        """S."""
        return self._stride

    @property
    def make_batch(self) -> Callable[[np.ndarray, np.ndarray], Batch]:
        """Makes a batch of what `cut` returns."""
        return self._make_batch

    @property
    def starts(self) -> np.ndarray:
        """The start of every window, int64, shape (len(self),)."""
        return self._starts_of(np.arange(len(self)))

    @property
    def context_lengths(self) -> np.ndarray:
        """The number of targets of every window, for `token_ledger`: T, but for a
        padded one."""
        borders, starts = self._stream.borders, self.starts
        left = borders[np.searchsorted(borders, starts, side="right")] - starts - 1
        return np.minimum(left, self._context_length)

    @property
    def fingerprint(self) -> str:
        """A name for the stream, the same in every process; see `Stream`."""
        return self._stream.fingerprint

    @property
    def identity(self) -> dict[str, object]:
        """What the windows depend on, by name: a state is of no use without them."""
        return {
            **self._stream.identity,
            "num_tokens": len(self._stream),
            "fingerprint": self.fingerprint,
            "context_length": self.context_length,
            "stride": self.stride,
        }

    def as_rows(self) -> SlidingWindowDataset:
        """Return the same windows as rows for `transformers`; see `make_rows`."""
        return SlidingWindowDataset(
            self.stream,
            self.context_length,
            self.stride,
            pad_tail=self._pad_tail,
            make_batch=make_rows,
        )


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
            messages between processes, which hold several batches each),
            persistent_workers, multiprocessing_context, worker_init_fn, timeout.

    Returns a loader of (inputs, targets), torch.int64, shape (B, T) each, or of
    mappings if the data set comes from `as_rows`. Inputs and targets share no memory,
    so `targets[mask] = -100` is safe, with workers and without. The loader's length is
    the number of batches that the next iteration yields: right after `load_state_dict`,
    what was left of that epoch. So plan a learning rate by the length of a loader that
    is new. Raises ValueError if there are too few windows for a single batch.
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
    some = batches.order_of(0)[some_positions(len(dataset))]
    if len(np.unique(some)) < len(some):
        raise ValueError("order must hold each window once, but some come twice")
    return WindowLoader(dataset, batches, num_workers, loader_options)
