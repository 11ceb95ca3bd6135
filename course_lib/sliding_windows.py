"""Lesson 02: how many windows there are, where they start, and how to get a batch.

A sampling scheme chooses starts, and `gather_windows` turns starts into batches. A data
set of windows is one stream and one rule for its starts, so it costs the memory of the
stream, whatever the stride.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from itertools import chain
from typing import Annotated

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Sampler, get_worker_info

from course_lib.foundation import (
    AtLeast,
    Count,
    FileOrder,
    Ids,
    Integers,
    Length,
    RandomOrder,
    Seed,
    as_stream,
    check_epoch,
    check_flag,
    check_index,
    check_integer,
    check_number,
    check_state,
    checked,
    compact,
    end_with_parent,
)
from course_lib.next_token_shifting import shift_by_one

INDICES_PER_BLOCK = 2**14
BYTES_PER_MESSAGE, BATCHES_PER_MESSAGE = 2**19, 64  # from a worker, at most
FINGERPRINT_RUNS, FINGERPRINT_RUN = 64, 1024
LOADER_OPTIONS = {  # those of PyTorch's that change no batch, and our checks of them
    "multiprocessing_context": None,
    "persistent_workers": check_flag,
    "pin_memory": check_flag,
    "prefetch_factor": partial(check_integer, minimum=1),
    "timeout": partial(check_number, minimum=0),
    "worker_init_fn": None,
}

Batch = tuple[torch.Tensor, torch.Tensor] | dict[str, torch.Tensor]


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
    num_tokens: Annotated[int, AtLeast(0, 2**63 - 1)],
    context_length: Length,
    stride: Length = 1,
) -> np.ndarray:
    """Return the starts 0, S, 2S, ... of all windows that fit, int64, in order."""
    windows = count_windows(num_tokens, context_length, stride)
    # A stride beyond the stream leaves only the start 0, and may not fit into int64.
    step = min(stride, max(1, num_tokens))
    return np.arange(windows, dtype=np.int64) * step


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
        return _widen(np.empty((*starts.shape, context_length + 1), dtype=ids.dtype))
    last_start = len(ids) - context_length - 1
    if starts.min() < 0 or starts.max() > last_start:
        allowed = f"0 ... {last_start}" if last_start >= 0 else "nothing at all"
        raise ValueError(
            f"starts must lie in {allowed}: {context_length + 1} ids (context_length + "
            f"1) are needed from each on, in a stream of {len(ids)}; got "
            f"{starts.min()} ... {starts.max()}"
        )
    if not isinstance(ids, np.ndarray):  # lesson 11: a stream in several files
        return _widen(ids.cut_windows(starts, context_length))
    return _widen(_all_windows(ids, context_length)[starts])


def _all_windows(stream: np.ndarray, context_length: int) -> np.ndarray:
    """View the stream as the table of all its windows, shape (N - T, T + 1).

    Row s starts at token s. Neighboring rows share their memory, one step further, so
    the table costs nothing. `sliding_window_view` makes the same table, but spends half
    the time of a whole batch on checks that the callers have already made.
    """
    (step,) = stream.strides
    shape = (len(stream) - context_length, context_length + 1)
    return np.lib.stride_tricks.as_strided(stream, shape, (step, step), writeable=False)


def _widen(windows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
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

    @checked
    def __init__(self, ids: Ids, context_length: Length, stride: Length = 1):
        self._stream, self._context_length = compact(ids), context_length
        self._stride = stride
        if len(self._stream) <= context_length:
            raise ValueError(
                f"ids must hold at least {context_length + 1} tokens for one window "
                f"(context_length + 1), got {len(self._stream)}"
            )
        self._windows = self._view_windows()
        if not len(self._windows):  # in a stream of pieces, each may be too short
            raise ValueError(
                f"ids must hold a piece of at least {context_length + 1} tokens for "
                "one window (context_length + 1), got none"
            )

    def _view_windows(self) -> np.ndarray:
        # A stride longer than the stream leaves one window, as does a stride of N.
        step = min(self.stride, len(self.stream))
        if not isinstance(self.stream, np.ndarray):  # lesson 11: in several files
            return self.stream.windows(self.context_length, step)
        return _all_windows(self.stream, self.context_length)[::step]

    def __len__(self) -> int:
        return len(self._windows)

    def __getitem__(self, index: object) -> tuple[torch.Tensor, torch.Tensor]:
        return self.widen(self.cut(index))

    widen = staticmethod(_widen)

    def send(self, windows: np.ndarray) -> object:
        """Widen compact windows to a batch, or, in a worker, let them arrive as one."""
        in_worker = get_worker_info() is not None
        return _Compact(self.widen, windows) if in_worker else self.widen(windows)

    def as_rows(self) -> WindowRows:
        """Return the same windows as rows for `transformers`; see `WindowRows`."""
        return WindowRows(self.stream, self.context_length, self.stride)

    def cut(self, index: object) -> np.ndarray:
        """Return windows as they are in the stream, T + 1 compact ids each."""
        return self._windows[check_index(index)]

    # Read-only, because a stride set later would change the starts, not the windows.
    @property
    def stream(self) -> np.ndarray:
        """The ids, shape (N,), in their smallest dtype."""
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
    def starts(self) -> np.ndarray:
        """The start of every window, int64, shape (len(self),), made when asked for."""
        if not isinstance(self.stream, np.ndarray):
            return self._windows.starts
        return window_starts(len(self.stream), self.context_length, self.stride)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of up to 65,536 of the ids, whatever their dtype: it names the stream.

        A longer stream is sampled in 64 runs from its beginning to its end. An edit
        between two runs goes unnoticed, while another text does not.
        """
        if not isinstance(self.stream, np.ndarray):
            return self.stream.fingerprint
        spread = np.linspace(0, len(self.stream) - FINGERPRINT_RUN, FINGERPRINT_RUNS)
        runs = [self.stream[int(s) : int(s) + FINGERPRINT_RUN] for s in spread]
        short = len(self.stream) <= FINGERPRINT_RUN * FINGERPRINT_RUNS
        sample = self.stream if short else np.concatenate(runs)
        return hashlib.sha256(sample.astype("<i8").tobytes()).hexdigest()[:16]

    # Pickle would write the view out window by window, T + 1 times the stream.
    def __getstate__(self) -> dict:
        state = {name: v for name, v in self.__dict__.items() if name != "_windows"}
        return state | {"_stream": _file_of(self.stream) or self.stream}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        if isinstance(self._stream, dict):
            self._stream = as_stream("ids", np.memmap(**self._stream))
        self._windows = self._view_windows()


def _file_of(stream: np.ndarray) -> dict | None:
    """Say which part of which file a memory map shows, as arguments of `np.memmap`.

    None if the stream is not a memory map, or if its file alone cannot restore it.
    """
    source = stream
    while isinstance(source, np.ndarray) and not isinstance(source.base, mmap.mmap):
        source = source.base
    if not isinstance(source, np.memmap) or not stream.flags.c_contiguous:
        return None
    if source.filename is None or source.mode == "c":
        return None
    first, start = (a.__array_interface__["data"][0] for a in (source, stream))
    return {
        "filename": source.filename,
        "dtype": stream.dtype,
        "mode": "r",
        # for a slice as well, because `memmap.offset` is that of the whole map
        "offset": source.offset + start - first,
        "shape": stream.shape,
    }


class WindowRows(SlidingWindowDataset):
    """The windows as rows for `transformers`: T + 1 `input_ids`, and as many `labels`.

    The model shifts the labels itself, so each row makes T predictions.
    """

    @staticmethod
    def widen(windows: np.ndarray) -> dict[str, torch.Tensor]:
        """Copy windows (..., T + 1) to int64, as inputs and labels that are aligned."""
        inputs, targets = _widen(windows)
        input_ids = torch.cat([inputs, targets[..., -1:]], dim=-1)
        return {"input_ids": input_ids, "labels": input_ids.clone()}


class BatchOrder(Sampler):
    """Which windows make up which batch: a list of indices for each, as PyTorch wants.

    The order of epoch e depends on `base_seed + e` alone, neither on the number of
    workers nor on what ran before. All ranks together take `world_size * batch_size`
    windows of that order at a time, and each rank takes its own slice of them, so the
    ranks get equally many batches, and never the same window. At the end, the windows
    that cannot be shared out evenly, fewer than `world_size`, are left out. In each
    shuffled epoch these are other windows.
    """

    @checked
    def __init__(
        self,
        num_windows: Length,
        batch_size: Length,
        *,
        base_seed: Seed,
        shuffle: bool = True,
        drop_last: bool = False,
        rank: Count = 0,
        world_size: Length = 1,
    ):
        self.num_windows = num_windows
        self.batch_size = batch_size
        self.base_seed = base_seed
        self.world_size = world_size
        self.rank = check_integer("rank", rank, minimum=0, maximum=self.world_size - 1)
        self.shuffle = shuffle
        self.drop_last = drop_last
        if not self.count_from(0):
            needed = self.world_size * (self.batch_size if self.drop_last else 1)
            raise ValueError(
                f"batch_size {self.batch_size} (world_size {self.world_size}, "
                f"drop_last={self.drop_last}) needs at least {needed} windows for one "
                f"batch, got {self.num_windows}: the mean loss of no batches is NaN"
            )
        self.stand_at(0)

    @property
    def step(self) -> int:
        """Windows that all ranks together take for one batch each."""
        return self.batch_size * self.world_size

    @property
    def epoch(self) -> int:
        """The epoch that the next iteration reads."""
        return self.begin[0]

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch to iterate over.

        A resumed epoch goes on where it was, and any other starts at batch 0. An epoch
        before that of a loaded state is a ValueError, because a loop that counts from 0
        would begin the whole run again.
        """
        epoch = check_epoch(epoch, self.resumed_at)
        self.resumed_at = 0
        if epoch != self.epoch:
            self.stand_at(epoch)

    def stand_at(self, epoch: int, windows: int = 0, *, resumed: bool = False) -> None:
        """Let iterations begin after so many `windows`, of all ranks, of the epoch."""
        self.begin = self.position_after(epoch, windows)
        # of the reader: the epoch, and how many of its windows have been delivered
        self.position: tuple[int, int] | None = self.begin
        self.resumed_at = self.epoch if resumed else 0

    def position_after(self, epoch: int, windows: int) -> tuple[int, int]:
        """Return the position after so many windows, which may be in the next epoch."""
        return (epoch, windows) if self.count_from(windows) else (epoch + 1, 0)

    def count_from(self, windows: int) -> int:
        """Count the batches that are left of an epoch after so many windows."""
        full, rest = divmod(max(0, self.num_windows - windows), self.step)
        return full + (not self.drop_last and rest >= self.world_size)

    def __len__(self) -> int:
        return self.count_from(self.begin[1])

    def order_of(self, epoch: int) -> RandomOrder | FileOrder:
        """Which window is at which position of an epoch."""
        order = RandomOrder if self.shuffle else FileOrder
        return order(self.num_windows, self.base_seed + epoch)

    def __iter__(self) -> Iterator[list[int]]:
        # Read now: a generator would see the settings at the time of the first batch.
        epoch, first = self.begin
        self.position = None  # this reader does not say how far it reads
        return self._batches(self.order_of(epoch), first)

    def _batches(self, order: object, first: int) -> Iterator[list[int]]:
        full, rest = divmod(self.num_windows - first, self.step)
        # Many batches at once, because NumPy takes as long for 64 numbers as for 1,000.
        per_block = max(1, INDICES_PER_BLOCK // self.batch_size)
        for block in range(0, full, per_block):
            batches = np.arange(block, min(block + per_block, full))[:, None]
            mine = first + self.rank * self.batch_size + np.arange(self.batch_size)
            yield from order[batches * self.step + mine].tolist()
        if not self.drop_last and rest >= self.world_size:
            share = rest // self.world_size
            begin = first + full * self.step + self.rank * share
            yield order[begin + np.arange(share)].tolist()

    @property
    def sampler(self) -> BatchOrder:
        """The order itself, for programs that deal its batches out to ranks.

        Raises ValueError if it is one rank's share already.
        """
        if self.world_size > 1:
            raise ValueError(
                f"world_size must be 1 where another program (accelerate) prepares the "
                f"loader and deals its batches out, got {self.world_size}: leave rank "
                "and world_size out, or use the loader as it is"
            )
        return self


class WindowLoader(DataLoader):
    """A `DataLoader` of whole batches that knows how far its reader has come.

    `make_dataloader` makes it. Its position is that of the iterator that last began or
    delivered a batch. So you may look at a first batch with `next(iter(loader))` at any
    time, because the loop that runs, or runs next, takes the position back with its
    next batch. After an iterator has reached its end, the next one reads the next
    epoch, unless `set_epoch` chooses another. A loaded state counts for all iterators,
    until one of them has reached the end of its epoch.

    Another program that builds a loader from the parts of this one gets the same
    batches. But this one cannot see how far it reads, so it refuses `state_dict`.
    """

    @checked
    def __init__(
        self,
        dataset: Dataset,
        order: BatchOrder,
        num_workers: Count,
        options: Mapping[str, object],
    ):
        if unknown := options.keys() - LOADER_OPTIONS:
            raise TypeError(
                f"loader_options must be of {', '.join(LOADER_OPTIONS)}, got "
                f"{', '.join(sorted(unknown))}: the others would change the batches"
            )
        options = dict(options)
        for name, value in options.items():
            if value is not None and (check := LOADER_OPTIONS[name]):
                options[name] = check(name, value)
        self.windows = dataset
        # Otherwise, each epoch draws the workers' seeds from the global generator.
        options = {"generator": torch.Generator(), "num_workers": num_workers} | options
        options["worker_init_fn"] = partial(_begin, options.get("worker_init_fn"))
        super().__init__(
            _Batches(dataset, order),
            batch_sampler=order,
            collate_fn=dataset.send,
            **options,
        )
        # Between processes, every message and every byte costs time. So batches travel
        # together and compact, up to an eighth of int64, unless PyTorch pins them.
        self._messages = None
        if num_workers and not self.pin_memory:
            window_bytes = dataset.cut(slice(0, 1)).nbytes
            batches = BYTES_PER_MESSAGE // (order.batch_size * window_bytes)
            batches = min(max(1, batches), BATCHES_PER_MESSAGE)
            options |= {"batch_size": batches, "collate_fn": list}
            self._messages = DataLoader(_Messages(dataset), sampler=order, **options)

    @property
    def sampler(self) -> BatchOrder:
        """The order of the batches."""
        return self.batch_sampler

    @sampler.setter
    def sampler(self, _: object) -> None:
        """PyTorch sets a sampler of single windows, which nobody uses."""

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch to iterate over: `sampler.set_epoch` by another name."""
        self.sampler.set_epoch(epoch)

    def __iter__(self) -> Iterator[Batch]:
        if self._messages is not None:
            messages = chain.from_iterable(self._messages)
            batches = map(self.windows.widen, messages)
        elif self.num_workers or self.pin_memory:
            batches = super().__iter__()
        else:  # within this process, we don't need PyTorch's machinery
            batches = map(self.windows.__getitem__, map(np.asarray, self.sampler))
        self.sampler.position = self.sampler.begin
        return self._deliver(batches, self.sampler.begin)

    def _deliver(self, batches: Iterator, begin: tuple[int, int]) -> Iterator[Batch]:
        order, (epoch, windows) = self.sampler, begin
        for batch in batches:
            # Count a batch when the reader gets it, because workers are ahead.
            windows += order.step
            order.position = order.position_after(epoch, windows)
            yield batch
        # Unless another epoch was set, or another state was loaded, in the meantime.
        if order.begin is begin:
            order.stand_at(epoch + 1)

    _counted = "batches_delivered"

    @property
    def _unit(self) -> int:
        """How many windows, of all ranks together, a state counts as one."""
        return self.sampler.step

    def state_dict(self) -> dict[str, int | bool | str]:
        """Return where the reader is, and what its order depends on, ready for JSON.

        Raises ValueError if another program has read the order in the meantime.
        """
        if self.sampler.position is None:
            raise ValueError(
                "state_dict must be asked of a loader that is read itself: another one "
                "(of accelerate?) has read its order, and how far is not known here"
            )
        epoch, windows = self.sampler.position
        delivered = windows // self._unit
        return {"epoch": epoch, self._counted: delivered, **self._settings()}

    def load_state_dict(self, state: Mapping[str, int | bool | str]) -> None:
        """Go on from `state`: the next iteration yields what was left of its epoch.

        Raises TypeError if `state` is not what `state_dict` returns, and ValueError if
        this loader differs from the one that saved it, in the setting that is named.
        """
        position, settings = ("epoch", self._counted), self._settings()
        state = check_state(state, settings, position, owner="loader")
        epoch = check_integer("epoch", state["epoch"], minimum=0)
        most = -(-self.sampler.num_windows // self._unit)
        delivered = check_integer(
            self._counted, state[self._counted], minimum=0, maximum=most
        )
        self.sampler.stand_at(epoch, delivered * self._unit, resumed=True)

    def _settings(self) -> dict[str, int | bool | str]:
        order, windows = self.sampler, self.windows
        return {
            "num_tokens": len(windows.stream),
            "context_length": windows.context_length,
            "stride": windows.stride,
            "num_windows": order.num_windows,
            "batch_size": order.batch_size,
            "base_seed": order.base_seed,
            "shuffle": order.shuffle,
            "drop_last": order.drop_last,
            "rank": order.rank,
            "world_size": order.world_size,
            "fingerprint": windows.fingerprint,
        }


class _Batches(Dataset):
    """A data set as its loader reads it: a whole batch at an index, compact."""

    def __init__(self, dataset: SlidingWindowDataset, order: BatchOrder | None = None):
        self.dataset, self.order = dataset, order

    def __reduce__(self) -> tuple:  # no worker needs the order
        return type(self), (self.dataset,)

    def set_epoch(self, epoch: int) -> None:
        """For accelerate, where it skips batches of one rank, and finds no sampler."""
        self.order.set_epoch(epoch)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, indices: list[int]) -> np.ndarray:
        return self.dataset.cut(np.asarray(indices))

    __getitems__ = __getitem__


class _Messages(_Batches):
    """The same data set, read several batches at once."""

    def __getitems__(self, batches: list[list[int]]) -> list[np.ndarray]:
        return [self[indices] for indices in batches]


class _Compact:
    """Windows that leave a worker. They arrive as what `widen` makes of them."""

    def __init__(self, widen: Callable, windows: np.ndarray):
        self.parts = widen, (windows,)

    def __reduce__(self) -> tuple:
        return self.parts


def _begin(worker_init_fn: Callable[[int], None] | None, worker: int) -> None:
    """Begin a worker that ends with its reader; otherwise it would wait to send
    forever."""
    end_with_parent()
    if worker_init_fn is not None:
        worker_init_fn(worker)


@checked
def make_dataloader(
    dataset: SlidingWindowDataset,
    batch_size: Length,
    *,
    base_seed: Seed,
    shuffle: bool = True,
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
    epoch; see `WindowLoader`. A state is refused if it would mean other batches: with
    another stream, context length, stride, batch size, seed, order or rank.

    Args:
        dataset: the windows.
        batch_size: B, windows in a batch, of each rank.
        base_seed: a non-negative integer.
        shuffle: take the windows in random order instead of the stream's.
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
    order = BatchOrder(
        len(dataset),
        batch_size,
        base_seed=base_seed,
        shuffle=shuffle,
        drop_last=drop_last,
        rank=rank,
        world_size=world_size,
    )
    return WindowLoader(dataset, order, num_workers, loader_options)
