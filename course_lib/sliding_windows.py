"""Lesson 02: how many windows, where they start, and a whole batch of them at once.

A sampling scheme chooses starts; `gather_windows` turns starts into batches. A data set
of windows is one stream and one rule for its starts, so it costs the memory of the
stream, whatever the stride.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from itertools import chain

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Sampler, get_worker_info

from course_lib.foundation import (
    FileOrder,
    Ids,
    RandomOrder,
    as_integers,
    as_stream,
    check_epoch,
    check_flag,
    check_index,
    check_integer,
    check_number,
    check_state,
    check_type,
    compact,
    end_with_parent,
)
from course_lib.next_token_shifting import shift_by_one

INDICES_PER_BLOCK = 2**14
BYTES_PER_MESSAGE, BATCHES_PER_MESSAGE = 2**19, 64  # from a worker: what comes first
FINGERPRINT_RUNS, FINGERPRINT_RUN = 64, 1024
LOADER_OPTIONS = {  # of PyTorch's, those that change no batch, and our checks of them
    "multiprocessing_context": None,
    "persistent_workers": check_flag,
    "pin_memory": check_flag,
    "prefetch_factor": partial(check_integer, minimum=1),
    "timeout": partial(check_number, minimum=0),
    "worker_init_fn": None,
}

Batch = tuple[torch.Tensor, torch.Tensor] | dict[str, torch.Tensor]


def count_windows(num_tokens: int, context_length: int, stride: int = 1) -> int:
    """Count the windows that fit: max(0, 1 + (N - (T + 1)) // S).

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
    """Return the starts 0, S, 2S, ... of all windows that fit, int64, in order."""
    windows = count_windows(num_tokens, context_length, stride)
    num_tokens = check_integer("num_tokens", num_tokens, minimum=0, maximum=2**63 - 1)
    # A stride beyond the stream leaves the start 0 alone, and may not fit into int64.
    step = min(check_integer("stride", stride, minimum=1), max(1, num_tokens))
    return np.arange(windows, dtype=np.int64) * step


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
        inputs and targets, torch.int64, shape (..., T) each, of their own memory: write
        into them what you like.

    Raises:
        TypeError: something is not an integer.
        ValueError: a window would begin before the stream or reach over its end, or
            holds a negative id.
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
            f"1) are needed from each on, in a stream of {len(stream)}; got "
            f"{starts.min()} ... {starts.max()}"
        )
    if not isinstance(stream, np.ndarray):  # lesson 11: it lies in several files
        return _widen(stream.cut_windows(starts, context_length))
    return _widen(_all_windows(stream, context_length)[starts])


def _all_windows(stream: np.ndarray, context_length: int) -> np.ndarray:
    """View the stream as the table of all its windows, shape (N - T, T + 1).

    Row s starts at token s. Neighboring rows are the same memory, one step on: the
    table costs nothing. `sliding_window_view` makes the same one, but takes half as
    long as a whole batch to check what the callers have checked already.
    """
    (step,) = stream.strides
    shape = (len(stream) - context_length, context_length + 1)
    return np.lib.stride_tricks.as_strided(stream, shape, (step, step), writeable=False)


def _widen(windows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Copy windows (..., T + 1) to int64, last of all: inputs, and targets apart.

    One copy of the whole window, with both halves as views, would be cheaper. But then
    `targets[mask] = -100` would write into the inputs.
    """
    # A memory map was not read until now; a compact stream cannot hold such an id.
    if windows.dtype.kind == "i" and windows.min(initial=0) < 0:
        raise ValueError(f"ids must not be negative, got {windows.min()}")
    inputs, targets = (
        half.astype(np.int64, order="C") for half in shift_by_one(windows)
    )
    return torch.from_numpy(inputs), torch.from_numpy(targets)


class SlidingWindowDataset(Dataset):
    """All windows of a stream at a stride, without storing any.

    `dataset[i]` is one pair of shape (T,); `dataset[array]` and `dataset[a:b]` are a
    whole batch, (B, T). Indices count windows, not tokens; negative ones count from the
    end, as in a list. What comes out is yours: writing into targets changes neither
    inputs nor stream.

    Args:
        ids: the stream, N integers; kept compact (uint16 if they fit). A memory map or
            an array that is compact already is not copied.
        context_length: T.
        stride: S, the step between starts; the overlap of neighbors is T - S inputs.

    Pickled, as for a worker that is spawned, a memory map travels as the name of its
    file, and is opened again there.

    Raises:
        TypeError, ValueError: a wrong argument, or a stream too short for a single
            window.
    """

    count_windows = staticmethod(count_windows)

    def __init__(self, ids: Ids, context_length: int, stride: int = 1):
        self._stream = compact(ids)
        self._context_length = check_integer(
            "context_length", context_length, minimum=1
        )
        self._stride = check_integer("stride", stride, minimum=1)
        if len(self._stream) <= self._context_length:
            raise ValueError(
                f"ids must hold at least {self._context_length + 1} tokens for one "
                f"window (context_length + 1), got {len(self._stream)}"
            )
        self._windows = self._view_windows()
        if not len(self._windows):  # of a stream in pieces, each may be too short
            raise ValueError(
                f"ids must hold a piece of at least {self._context_length + 1} tokens "
                "for one window (context_length + 1), got none"
            )

    def _view_windows(self) -> np.ndarray:
        # A stride longer than the stream leaves one window, and so does its length.
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
        """Return a batch of compact windows; from a worker, what arrives as one."""
        return (
            self.widen(windows)
            if get_worker_info() is None
            else _Compact(self.widen, windows)
        )

    def as_rows(self) -> WindowRows:
        """Return the same windows as rows for `transformers`: mappings of `input_ids`
        and `labels`, T + 1 ids each, which the model shifts itself."""
        return WindowRows(self.stream, self.context_length, self.stride)

    def cut(self, index: object) -> np.ndarray:
        """Return windows as they lie in the stream: inputs and last target, compact."""
        return self._windows[check_index(index)]

    # Read-only: a stride set later would change the starts, and not the windows.
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
        """The start of every window, int64, shape (len(self),): made when asked for."""
        if not isinstance(self.stream, np.ndarray):
            return self._windows.starts
        return window_starts(len(self.stream), self.context_length, self.stride)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of up to 65,536 of the ids, whatever their dtype: it names the stream.

        A longer stream is sampled in 64 runs from its beginning to its end: an edit
        between them goes unnoticed, another text does not.
        """
        if not isinstance(self.stream, np.ndarray):
            return self.stream.fingerprint
        spread = np.linspace(0, len(self.stream) - FINGERPRINT_RUN, FINGERPRINT_RUNS)
        runs = [self.stream[int(s) : int(s) + FINGERPRINT_RUN] for s in spread]
        short = len(self.stream) <= FINGERPRINT_RUN * FINGERPRINT_RUNS
        sample = self.stream if short else np.concatenate(runs)
        return hashlib.sha256(sample.astype("<i8").tobytes()).hexdigest()[:16]

    # Pickled as it is, the view would be written out window by window, T + 1 times the
    # stream.
    def __getstate__(self) -> dict:
        state = {name: v for name, v in self.__dict__.items() if name != "_windows"}
        return state | {"_stream": _file_of(self.stream) or self.stream}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        if isinstance(self._stream, dict):
            self._stream = as_stream(np.memmap(**self._stream))
        self._windows = self._view_windows()


def _file_of(stream: np.ndarray) -> dict | None:
    """Say which part of which file a memory map shows, as arguments of `np.memmap`.

    None if the stream is no memory map, or not one that a file alone can bring back.
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
        # of a slice too: `memmap.offset` is that of the whole map
        "offset": source.offset + start - first,
        "shape": stream.shape,
    }


class WindowRows(SlidingWindowDataset):
    """The same windows as `transformers` wants them; `dataset.as_rows()` makes it."""

    @staticmethod
    def widen(windows: np.ndarray) -> dict[str, torch.Tensor]:
        """Copy windows (..., T + 1) to int64: inputs, and labels that stand where the
        inputs stand. The model shifts them itself, so each row makes T predictions."""
        inputs, targets = _widen(windows)
        input_ids = torch.cat([inputs, targets[..., -1:]], dim=-1)
        return {"input_ids": input_ids, "labels": input_ids.clone()}


class BatchOrder(Sampler):
    """Which windows make up which batch: a list of indices each, as PyTorch wants it.

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
        self.shuffle = check_flag("shuffle", shuffle)
        self.drop_last = check_flag("drop_last", drop_last)
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
        """Choose the epoch to iterate over. A resumed epoch goes on where it was; any
        other starts at batch 0.

        Raises:
            ValueError: a state of a later epoch was loaded, so a loop (or a library)
                that counts from 0 would begin the run anew.
        """
        epoch = check_epoch(epoch, self.resumed_at)
        self.resumed_at = 0
        if epoch != self.epoch:
            self.stand_at(epoch)

    def stand_at(self, epoch: int, windows: int = 0, *, resumed: bool = False) -> None:
        """Let each iteration begin after `windows` of the epoch, of all ranks, until
        one reaches its end."""
        self.begin = self.position_after(epoch, windows)
        # the reader's: the epoch, and how many of its windows have been delivered
        self.position: tuple[int, int] | None = self.begin
        self.resumed_at = self.epoch if resumed else 0

    def position_after(self, epoch: int, windows: int) -> tuple[int, int]:
        """Say where a reader stands that has got so many windows: behind the last
        batch of an epoch, at the beginning of the next."""
        return (epoch, windows) if self.count_from(windows) else (epoch + 1, 0)

    def count_from(self, windows: int) -> int:
        """Count the batches that are left of an epoch behind so many windows."""
        full, rest = divmod(max(0, self.num_windows - windows), self.step)
        return full + (not self.drop_last and rest >= self.world_size)

    def __len__(self) -> int:
        return self.count_from(self.begin[1])

    def order_of(self, epoch: int) -> RandomOrder | FileOrder:
        """Which window stands at which position of an epoch."""
        order = RandomOrder if self.shuffle else FileOrder
        return order(self.num_windows, self.base_seed + epoch)

    def __iter__(self) -> Iterator[list[int]]:
        # Read now, not when the first batch is asked for: a generator would see a later
        # epoch's settings.
        epoch, first = self.begin
        self.position = None  # of a reader that does not tell
        return self._batches(self.order_of(epoch), first)

    def _batches(self, order: object, first: int) -> Iterator[list[int]]:
        full, rest = divmod(self.num_windows - first, self.step)
        # Many batches at once, since NumPy takes as long for 64 numbers as for a
        # thousand.
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
        """What orders it: itself. Who asks wants to deal its batches out to ranks.

        Raises:
            ValueError: it is one rank's share already.
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

    `make_dataloader` makes it. Its position is that of the iterator that acted last:
    that began, or delivered a batch. So you may look at a first batch with
    `next(iter(loader))` at any time: the loop that runs, or runs next, takes the
    position back with its next batch. When an iterator has reached its end, the next
    one reads the next epoch; `set_epoch` chooses another, for iterators that begin
    later. A loaded state counts for all of them, until one has reached the end of its
    epoch.

    Others who build a loader of its parts get the same batches, but it cannot see how
    far they read: then `state_dict` is refused.
    """

    def __init__(
        self,
        dataset: SlidingWindowDataset,
        order: BatchOrder,
        num_workers: int,
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
        num_workers = check_integer("num_workers", num_workers, minimum=0)
        # A generator of its own: without one, each epoch draws the workers' seeds from
        # the global generator.
        options = {"generator": torch.Generator(), "num_workers": num_workers} | options
        options["worker_init_fn"] = partial(_begin, options.get("worker_init_fn"))
        super().__init__(
            _Batches(dataset, order),
            batch_sampler=order,
            collate_fn=dataset.send,
            **options,
        )
        # Between processes every message costs, and every byte. So batches travel
        # together and compact, and the reader's process widens them to int64, eight
        # times as large. What PyTorch is to pin travels as what it is in the end.
        self._messages = None
        if num_workers and not self.pin_memory:
            window_bytes = (dataset.context_length + 1) * dataset.stream.itemsize
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
        """PyTorch sets one of single windows, which nobody uses."""

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch to iterate over: `sampler.set_epoch` by another name."""
        self.sampler.set_epoch(epoch)

    def __iter__(self) -> Iterator[Batch]:
        if self._messages is not None:
            messages = chain.from_iterable(self._messages)
            batches = map(self.windows.widen, messages)
        elif self.num_workers or self.pin_memory:
            batches = super().__iter__()
        else:  # in this process PyTorch's machinery is of no use
            batches = map(self.windows.__getitem__, map(np.asarray, self.sampler))
        self.sampler.position = self.sampler.begin
        return self._deliver(batches, self.sampler.begin)

    def _deliver(self, batches: Iterator, begin: tuple[int, int]) -> Iterator[Batch]:
        order, (epoch, windows) = self.sampler, begin
        for batch in batches:
            # Counted when the reader gets a batch, not when a worker, which is ahead,
            # cuts it; by now every rank has got as many.
            windows += order.step
            order.position = order.position_after(epoch, windows)
            yield batch
        # Unless another epoch was set, or another state loaded, meanwhile.
        if order.begin is begin:
            order.stand_at(epoch + 1)

    _counted = "batches_delivered"

    @property
    def _unit(self) -> int:
        """How many windows, of all ranks together, a state counts as one."""
        return self.sampler.step

    def state_dict(self) -> dict[str, int | bool | str]:
        """Say where the reader is: the epoch, the batches delivered, and what their
        order depends on. Plain values, ready for JSON.

        Raises:
            ValueError: somebody else has read the order since.
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
        """Go on from `state`: the next iteration yields exactly the batches that were
        left of its epoch.

        Raises:
            TypeError: `state` is not what `state_dict` returns.
            ValueError: the loader differs from the one that saved the state, in what is
                named, so the batches would differ too.
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
    """The same, several batches at once."""

    def __getitems__(self, batches: list[list[int]]) -> list[np.ndarray]:
        return [self[indices] for indices in batches]


class _Compact:
    """Windows that leave a worker: what arrives is what `widen` makes of them."""

    def __init__(self, widen: Callable, windows: np.ndarray):
        self.parts = widen, (windows,)

    def __reduce__(self) -> tuple:
        return self.parts


def _begin(worker_init_fn: Callable[[int], None] | None, worker: int) -> None:
    """Begin a worker. A reader that is killed reads no more messages, and a worker that
    wants to send one would wait for ever."""
    end_with_parent()
    if worker_init_fn is not None:
        worker_init_fn(worker)


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
    **loader_options: object,
) -> WindowLoader:
    """Make a seeded `DataLoader` over windows, whose epochs can be repeated, resumed
    and shared out.

    Epoch follows epoch, or `loader.sampler.set_epoch(e)` chooses one: its order is a
    function of `base_seed + e` alone, so epoch 1 of base seed 7 is epoch 0 of base seed
    8: keep base seeds further apart than epochs are many.

    `loader.state_dict()` and `loader.load_state_dict(state)` resume in the middle of an
    epoch. The position belongs to the iterator that began or delivered last. A state is
    refused where it would mean other batches: with another stream, context length,
    stride, batch size, seed, order or rank.

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
        loader_options: for PyTorch's `DataLoader`: pin_memory, prefetch_factor (of
            messages, which hold several batches unless memory is pinned),
            persistent_workers, multiprocessing_context, worker_init_fn, timeout.

    Returns:
        a loader of (inputs, targets), torch.int64, shape (B, T) each, or of mappings if
        the data set is one `as_rows`. They share no memory: `targets[mask] = -100` is
        safe, with workers and without.

    Raises:
        TypeError, ValueError: a wrong argument, or too few windows for a single batch.
    """
    check_type("dataset", dataset, SlidingWindowDataset)
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
