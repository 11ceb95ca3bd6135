"""How batches come from other processes fast, and how loaders of others read ours.

You can pass this by: without it a loader would give the same batches, only later.
Between processes, every message and every byte costs time. So batches travel several at
a time and compact, up to an eighth of int64, and a stream travels as the name of its
file.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Sampler, get_worker_info

from course_lib.foundation import as_stream, check_integer, check_number
from course_lib.foundation.arguments import check_flag
from course_lib.foundation.executors import end_with_parent

BYTES_PER_MESSAGE, BATCHES_PER_MESSAGE = 2**19, 64  # at most
LOADER_OPTIONS = {  # those of PyTorch's that change no batch, and our checks of them
    "multiprocessing_context": None,
    "persistent_workers": check_flag,
    "pin_memory": check_flag,
    "prefetch_factor": partial(check_integer, minimum=1),
    "timeout": partial(check_number, minimum=0),
    "worker_init_fn": None,
}


def check_options(options: Mapping[str, object]) -> dict[str, object]:
    """Return options for a `DataLoader` that change no batch; refuse all others."""
    if unknown := options.keys() - LOADER_OPTIONS:
        raise TypeError(
            f"loader_options must be of {', '.join(LOADER_OPTIONS)}, got "
            f"{', '.join(sorted(unknown))}: the others would change the batches"
        )
    # Without a generator, each epoch draws the workers' seeds from the global one.
    checked: dict[str, object] = {"generator": torch.Generator()}
    for name, value in options.items():
        check = None if value is None else LOADER_OPTIONS[name]
        checked[name] = value if check is None else check(name, value)
    return checked | {"worker_init_fn": partial(_begin, options.get("worker_init_fn"))}


def _begin(worker_init_fn: Callable[[int], None] | None, worker: int) -> None:
    """Begin a worker that ends with its loader; otherwise it would wait to send
    forever."""
    end_with_parent()
    if worker_init_fn is not None:
        worker_init_fn(worker)


# Batches on their way.


class WholeBatches(Dataset):
    """A data set as its loader reads it: a whole batch at an index, compact."""

    def __init__(self, dataset: Dataset, order: Sampler | None = None):
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


class _Messages(WholeBatches):
    """The same data set, read several batches at once."""

    def __getitems__(self, batches: list[list[int]]) -> list[np.ndarray]:
        return [self[indices] for indices in batches]


def in_messages(
    dataset: Dataset, order: Sampler, options: Mapping[str, object]
) -> DataLoader:
    """Make the loader whose items are messages: lists of batches, still compact."""
    window_bytes = dataset.cut(slice(0, 1)).nbytes
    batches = BYTES_PER_MESSAGE // (order.batch_size * window_bytes)
    batches = min(max(1, batches), BATCHES_PER_MESSAGE)
    return DataLoader(
        _Messages(dataset),
        sampler=order,
        batch_size=batches,
        collate_fn=list,
        **options,
    )


def send(widen: Callable[[np.ndarray], object], windows: np.ndarray) -> object:
    """Widen compact windows to a batch, or, in a worker, let them arrive as one."""
    return widen(windows) if get_worker_info() is None else _Compact(widen, windows)


class _Compact:
    """Windows that leave a worker. They arrive as what `widen` makes of them."""

    def __init__(self, widen: Callable, windows: np.ndarray):
        self.parts = widen, (windows,)

    def __reduce__(self) -> tuple:
        return self.parts


# Streams on their way.


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


def open_file(file: dict) -> np.ndarray:
    """Map what `file_of` describes."""
    return as_stream("ids", np.memmap(**file))


# Loaders of others.


class DealtByAccelerate:
    """What accelerate, and with it `Trainer`, looks for in an order of batches."""

    @property
    def sampler(self) -> DealtByAccelerate:
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
