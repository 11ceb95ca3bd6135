"""How batches come from other processes, and how loaders of others read ours.

Between processes every message and every byte costs time. So batches travel several at
a time, and ids travel compact: a quarter of int64, or an eighth, where input and target
are the same id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Sampler, get_worker_info

from course_lib.foundation import (
    check_flag,
    check_integer,
    check_number,
    end_with_parent,
)

BYTES_PER_MESSAGE = 2**19  # twice as many are no faster, and the first batch is later
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


class CutBatches(Dataset):
    """A data set whose item at a list of indices is a whole batch, as it was cut."""

    def __init__(self, dataset: Dataset):
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, indices: list[int]) -> tuple[np.ndarray, np.ndarray]:
        return self.dataset.cut(np.asarray(indices))


def in_messages(dataset: Dataset, order: Sampler, options: Mapping) -> DataLoader:
    """Make the loader of messages: each is a list of the next batches of the order."""
    window, _ = dataset.cut([0])
    size = max(1, BYTES_PER_MESSAGE // (window.nbytes * order.batch_size))
    make_batches = partial(_collate_each, dataset.make_batch)
    batches = CutBatches(dataset)
    return DataLoader(batches, size, sampler=order, collate_fn=make_batches, **options)


def _collate_each(make_batch: Callable, cuts: list[tuple]) -> list:
    return [collate(make_batch, cut) for cut in cuts]


class WholeBatches(CutBatches):
    """The same data set for programs of others, which read it batch by batch."""

    def __init__(self, dataset: Dataset, order: Sampler | None = None):
        super().__init__(dataset)
        self.order = order

    def __reduce__(self) -> tuple:
        # A worker gets the data set alone: the order would be sent with it otherwise.
        return type(self), (self.dataset,)

    def __len__(self) -> int:
        # accelerate takes from it how much of the last batch is real: of a mixture, an
        # epoch reads more or fewer windows than its data set has.
        return len(self.dataset) if self.order is None else self.order.num_windows

    def set_epoch(self, epoch: int) -> None:
        """For accelerate, where it skips batches of one rank, and finds no sampler."""
        self.order.set_epoch(epoch)

    def __getitems__(self, indices: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """The same by the name under which PyTorch asks for a whole batch: it would ask
        `dataset[i]` for one index after another otherwise."""
        return self[indices]


def collate(make_batch: Callable, cut: tuple[np.ndarray, np.ndarray]) -> object:
    """Make a batch of what was cut; in a worker, let that be done where it arrives."""
    return make_batch(*cut) if get_worker_info() is None else _Compact(make_batch, cut)


class _Compact:
    """What leaves a worker: ids as they were cut, which arrive as a batch.

    To send an object, `pickle` asks `__reduce__` for a function and its arguments. It
    sends these, and the process that receives them makes the object by this call. Here
    the call is `make_batch(ids, lengths)`, so 2 bytes travel for each id, and not the
    16 of an input and a target.
    """

    def __init__(self, make_batch: Callable, cut: tuple[np.ndarray, np.ndarray]):
        self.make_batch, self.cut = make_batch, cut

    def __reduce__(self) -> tuple[Callable, tuple[np.ndarray, np.ndarray]]:
        return self.make_batch, self.cut


class ForAccelerate:
    """What accelerate, and with it `Trainer`, looks for in an order of batches."""

    @property
    def sampler(self) -> ForAccelerate:
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
