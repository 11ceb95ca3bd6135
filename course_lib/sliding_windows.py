"""Lesson 02: how many windows, where they start, and how a whole batch of them is
fetched at once.

A sampling scheme chooses starts; `gather_windows` turns starts into batches. A data set
of windows is one stream and one rule for its starts, so it costs the memory of the
stream, whatever the stride.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from course_lib.foundation import (
    Ids,
    RandomOrder,
    as_integers,
    as_stream,
    check_integer,
    compact,
)
from course_lib.next_token_shifting import shift_by_one

INDICES_PER_BLOCK = 2**14


def count_windows(num_tokens: int, context_length: int, stride: int = 1) -> int:
    """Count the windows of `context_length` + 1 ids that fit: max(0, 1 + (N - (T + 1))
    // S).

    The + 1 is the last target: with stride 1 there are N - T windows, not the N - T + 1
    of inputs alone.

    Args:
        num_tokens: N, at least 0.
        context_length: T, at least 1.
        stride: S, the step from one start to the next, at least 1.
    """
    num_tokens = check_integer("num_tokens", num_tokens, minimum=0)
    context_length = check_integer("context_length", context_length, minimum=1)
    stride = check_integer("stride", stride, minimum=1)
    # Floor division rounds down, so a short stream makes the quotient negative: max()
    # is part of the formula.
    return max(0, 1 + (num_tokens - (context_length + 1)) // stride)


def window_starts(num_tokens: int, context_length: int, stride: int = 1) -> np.ndarray:
    """Return the starts 0, S, 2S, ... of all windows that fit, int64, shape
    (count_windows(...),)."""
    return (
        np.arange(count_windows(num_tokens, context_length, stride), dtype=np.int64)
        * stride
    )


def gather_windows(
    ids: Ids, starts: object, context_length: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Turn starts into a batch: the one function that cuts windows out of a stream.

    Args:
        ids: the stream, N integers. An array or tensor is read in place, a list is
            converted at each call.
        starts: integers of any shape (...), each in 0 ... N - T - 1.
        context_length: T.

    Returns:
        inputs and targets, torch.int64, shape (..., T) each: the two halves of one
            block of T + 1 ids a window.

    Raises:
        TypeError: something is not an integer.
        ValueError: a window would begin before the stream or reach over its end.
    """
    stream = as_stream(ids)
    context_length = check_integer("context_length", context_length, minimum=1)
    starts = as_integers("starts", starts)
    if starts.size == 0:
        return _widen(np.empty((*starts.shape, context_length + 1), dtype=stream.dtype))
    last_start = len(stream) - context_length - 1
    if starts.min() < 0 or starts.max() > last_start:
        allowed = f"0 ... {last_start}" if last_start >= 0 else "nothing at all"
        raise ValueError(
            f"starts must lie in {allowed}: {context_length + 1} ids (context_length + "
            f"1) must follow each in a stream of {len(stream)}; got {starts.min()} ... "
            f"{starts.max()}"
        )
    return _widen(_all_windows(stream, context_length)[starts])


def _all_windows(stream: np.ndarray, context_length: int) -> np.ndarray:
    """View the stream as the table of all its windows, shape (N - T, T + 1): row s
    starts at token s.

    Neighboring rows are the same memory, one step on: the table costs nothing.
    `sliding_window_view` makes the same one, but takes half as long as a whole batch to
    check what the callers have checked already.
    """
    (step,) = stream.strides
    shape = (len(stream) - context_length, context_length + 1)
    return np.lib.stride_tricks.as_strided(stream, shape, (step, step), writeable=False)


def _widen(windows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Copy windows (..., T + 1) to int64, last of all and only once; inputs and targets
    are views of the copy."""
    inputs, targets = shift_by_one(windows.astype(np.int64))
    return torch.from_numpy(inputs), torch.from_numpy(targets)


class SlidingWindowDataset(Dataset):
    """All windows of a stream at a stride, without storing any.

    `dataset[i]` is one pair of shape (T,); `dataset[array]` and `dataset[a:b]` are a
    whole batch, (B, T). Indices count windows, not tokens; negative ones count from the
    end, as in a list.

    Args:
        ids: the stream, N integers; kept compact (uint16 if they fit). A memory map or
            an array that is compact already is not copied.
        context_length: T.
        stride: S, the step between starts; the overlap of neighbors is T - S inputs.

    Raises:
        TypeError, ValueError: a wrong argument, or a stream too short for a single
            window.
    """

    count_windows = staticmethod(count_windows)

    def __init__(self, ids: Ids, context_length: int, stride: int = 1):
        self.stream = compact(ids)
        self.context_length = check_integer("context_length", context_length, minimum=1)
        self.stride = check_integer("stride", stride, minimum=1)
        if not count_windows(len(self.stream), context_length, stride):
            raise ValueError(
                f"ids must hold at least {context_length + 1} tokens for one window "
                f"(context_length + 1), got {len(self.stream)}"
            )
        self._windows = self._view_windows()

    def _view_windows(self) -> np.ndarray:
        return _all_windows(self.stream, self.context_length)[:: self.stride]

    def __len__(self) -> int:
        return len(self._windows)

    def __getitem__(self, index: object) -> tuple[torch.Tensor, torch.Tensor]:
        if isinstance(index, tuple):
            raise TypeError(
                "index must be an integer, a slice or an array of integers, got "
                f"{index!r}"
            )
        if not isinstance(index, slice):
            index = as_integers("index", index)
        return _widen(self._windows[index])

    @property
    def starts(self) -> np.ndarray:
        """The start of every window, int64, shape (len(self),): made when asked for,
        not kept."""
        return window_starts(len(self.stream), self.context_length, self.stride)

    # Pickled as it is, the view would be written out window by window, T + 1 times the
    # stream.
    def __getstate__(self) -> dict:
        return {
            name: value for name, value in self.__dict__.items() if name != "_windows"
        }

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self._windows = self._view_windows()


class BatchOrder(Sampler):
    """Which windows make up which batch: arrays of int64 indices, one a batch.

    Epoch e is ordered by `base_seed + e` alone: not by the number of workers, nor by
    what ran before. All ranks together take `world_size * batch_size` windows of that
    order at a time, and each its own slice of them, so that their batches number the
    same and never meet. What cannot be shared out evenly at the end, fewer than
    `world_size` windows, is left out, other ones in each shuffled epoch.
    """

    def __init__(
        self,
        num_windows: int,
        batch_size: int,
        *,
        base_seed: int,
        shuffle: bool = True,
        drop_last: bool = False,
        rank: int = 0,
        world_size: int = 1,
    ):
        self.num_windows = check_integer("num_windows", num_windows, minimum=1)
        self.batch_size = check_integer("batch_size", batch_size, minimum=1)
        self.base_seed = check_integer("base_seed", base_seed, minimum=0)
        self.world_size = check_integer("world_size", world_size, minimum=1)
        self.rank = check_integer("rank", rank, minimum=0, maximum=self.world_size - 1)
        self.shuffle = bool(shuffle)
        self.drop_last = bool(drop_last)
        self.epoch = 0
        self.first_batch = (
            0  # where the next iteration starts: after 0 only in a resumed epoch
        )
        self.delivered = 0  # batches of this epoch that have reached the reader
        if len(self) == 0:
            needed = self.batch_size * self.world_size if drop_last else self.world_size
            raise ValueError(
                f"batch_size {batch_size} (world_size {world_size}, "
                f"drop_last={drop_last}) needs at least {needed} windows for one "
                f"batch, got {num_windows}: the mean loss of no batches is NaN"
            )

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch to iterate over. A resumed epoch goes on where it was; any
        other starts at batch 0."""
        epoch = check_integer("epoch", epoch, minimum=0)
        if epoch != self.epoch:
            self.epoch, self.first_batch, self.delivered = epoch, 0, 0

    def __len__(self) -> int:
        full, rest = divmod(self.num_windows, self.batch_size * self.world_size)
        return full + (not self.drop_last and rest >= self.world_size)

    def __iter__(self) -> Iterator[np.ndarray]:
        # Read now, not when the first batch is asked for: a generator would see a later
        # epoch's settings.
        first = self.first_batch
        order = (
            RandomOrder(self.num_windows, self.base_seed + self.epoch)
            if self.shuffle
            else None
        )
        return self._batches(order, first)

    def _batches(self, order: RandomOrder | None, first: int) -> Iterator[np.ndarray]:
        step = self.batch_size * self.world_size
        full = self.num_windows // step
        # Many batches at once, since NumPy takes as long for 64 numbers as for a
        # thousand.
        per_block = max(1, INDICES_PER_BLOCK // self.batch_size)
        for block in range(first, full, per_block):
            batches = np.arange(block, min(block + per_block, full))[:, None]
            positions = (
                batches * step
                + self.rank * self.batch_size
                + np.arange(self.batch_size)
            )
            yield from positions if order is None else order[positions]
        if first < len(self) and len(self) > full:
            share = (self.num_windows - full * step) // self.world_size
            positions = full * step + self.rank * share + np.arange(share)
            yield positions if order is None else order[positions]


class WindowLoader(DataLoader):
    """A `DataLoader` of whole batches that knows how far its reader has come; see
    `make_dataloader`."""

    def __init__(
        self, dataset: SlidingWindowDataset, order: BatchOrder, num_workers: int = 0
    ):
        # batch_size=None: the sampler's array of indices goes to the data set as one
        # index. A generator of its own: without one, each epoch draws the workers'
        # seeds from the global generator.
        super().__init__(
            dataset,
            batch_size=None,
            sampler=order,
            num_workers=num_workers,
            collate_fn=_keep,
            generator=torch.Generator(),
        )

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        self.sampler.delivered = self.sampler.first_batch
        batches = super().__iter__()
        # Only now: with workers, it asks the sampler for its batches twice, and uses
        # the second answer.
        self.sampler.first_batch = 0
        return self._count(batches)

    def _count(self, batches: Iterator) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        # Counted when the reader gets a batch, not when a worker, which is ahead, asks
        # for its indices.
        for batch in batches:
            self.sampler.delivered += 1
            yield batch

    def state_dict(self) -> dict[str, int | bool]:
        """Say where the reader is: the epoch, the batches delivered, and what their
        order depends on."""
        order = self.sampler
        return {
            "epoch": order.epoch,
            "batches_delivered": order.delivered,
            **self._settings(),
        }

    def load_state_dict(self, state: dict[str, int | bool]) -> None:
        """Go on from `state`: the next iteration yields exactly the batches that were
        left of its epoch.

        Raises:
            ValueError: the loader differs from the one that saved the state, so the
                batches would differ too.
        """
        settings = self._settings()
        wanted = {"epoch", "batches_delivered", *settings}
        if set(state) != wanted:
            raise ValueError(
                f"state must have the keys {sorted(wanted)}, got {sorted(state)}"
            )
        for name, value in settings.items():
            if state[name] != value:
                raise ValueError(
                    f"state was saved with {name}={state[name]}, but this loader has "
                    f"{name}={value}"
                )
        epoch = check_integer("epoch", state["epoch"], minimum=0)
        delivered = check_integer(
            "batches_delivered",
            state["batches_delivered"],
            minimum=0,
            maximum=len(self),
        )
        self.sampler.set_epoch(epoch)
        self.sampler.first_batch = self.sampler.delivered = delivered

    def _settings(self) -> dict[str, int | bool]:
        order, dataset = self.sampler, self.dataset
        names = (
            "num_windows",
            "batch_size",
            "base_seed",
            "shuffle",
            "drop_last",
            "rank",
            "world_size",
        )
        windows = {
            "num_tokens": len(dataset.stream),
            "context_length": dataset.context_length,
        }
        return (
            windows
            | {"stride": dataset.stride}
            | {name: getattr(order, name) for name in names}
        )


def make_dataloader(
    dataset: SlidingWindowDataset,
    batch_size: int,
    *,
    base_seed: int,
    shuffle: bool = True,
    drop_last: bool = False,
    num_workers: int = 0,
    rank: int = 0,
    world_size: int = 1,
) -> WindowLoader:
    """Make a seeded `DataLoader` over windows, whose epochs can be repeated, resumed
    and shared out.

    Call `loader.sampler.set_epoch(e)` before each epoch: its order is a function of
    `base_seed + e` alone, so
    epoch 1 of base seed 7 is epoch 0 of base seed 8: keep base seeds further apart than
    epochs are many. `loader.state_dict()` and `loader.load_state_dict(state)` resume in
    the middle of an epoch.

    Args:
        dataset: the windows.
        batch_size: B, windows in a batch, of each rank.
        base_seed: a non-negative integer.
        shuffle: take the windows in random order instead of the stream's.
        drop_last: leave out the last batch if it is smaller than B.
        num_workers: processes that gather batches ahead; the batches are the same for
            any number.
        rank, world_size: which share of the windows this process takes, of how many
            equally long ones.

    Returns:
        a loader of (inputs, targets), torch.int64, shape (B, T) each.

    Raises:
        TypeError, ValueError: a wrong argument, or too few windows for a single batch.
    """
    if not isinstance(dataset, SlidingWindowDataset):
        raise TypeError(
            f"dataset must be a SlidingWindowDataset, got {type(dataset).__name__}"
        )
    num_workers = check_integer("num_workers", num_workers, minimum=0)
    order = BatchOrder(
        len(dataset),
        batch_size,
        base_seed=base_seed,
        shuffle=shuffle,
        drop_last=drop_last,
        rank=rank,
        world_size=world_size,
    )
    return WindowLoader(dataset, order, num_workers)


def _keep(
    batch: tuple[torch.Tensor, torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor]:
    return batch
