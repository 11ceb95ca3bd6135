"""The loader of all lessons: which windows make up a batch, and how far it is read.

`BatchOrder` deals an order of windows out to batches and ranks, and counts those that
were delivered. `WindowLoader` reads them. Its state is that count, with what the
windows depend on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from itertools import chain, count
from typing import TypeVar

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from course_lib.foundation import (
    Position,
    RandomOrder,
    check_integer,
    check_state,
    identity_of,
    some_positions,
)
from course_lib.sliding_windows.workers import (
    ForAccelerate,
    WholeBatches,
    check_options,
    collate,
    in_messages,
)

INDICES_PER_BLOCK = 2**14
POSITION = ("epoch", "windows_delivered")  # in a state
ADVICE = {
    "context_length": ". Windows of another T are other windows, so their number means "
    "nothing here. Finish that epoch first, or let the new T read text that has not "
    "been read",
    "order_hash": ": some windows of the state's epoch come in another order, because "
    "the order or its settings differ, or `epoch` was changed in the state",
}

Batch = tuple[torch.Tensor, torch.Tensor] | dict[str, torch.Tensor]
Delivered = TypeVar("Delivered")


class BatchOrder(ForAccelerate, Sampler):
    """Which windows make up which batch: a list of indices for each, as PyTorch wants.

    The order of epoch e depends on `base_seed + e` alone, neither on the number of
    workers nor on what ran before. All ranks together take `world_size * batch_size`
    windows of that order at a time, and each rank takes its own slice of them, so the
    ranks get the same number of batches, and never the same window. At the end, the
    windows that cannot be shared out evenly, fewer than `world_size`, are left out. In
    each shuffled epoch these are other windows.

    The `order` makes that of an epoch from the number of windows and a seed:
    `RandomOrder`, `FileOrder`, `BlockOrder` or a `partial` of it.

    After an epoch comes the next one, without end, or until `num_epochs` are read.
    """

    def __init__(
        self,
        num_windows: int,
        batch_size: int,
        *,
        base_seed: int,
        order: Callable[[int, int], object] = RandomOrder,
        num_epochs: int | None = None,
        drop_last: bool = False,
        rank: int = 0,
        world_size: int = 1,
    ):
        if rank >= world_size:
            raise ValueError(
                f"rank must be an integer of at least 0 and at most {world_size - 1}, "
                f"got {rank}"
            )
        self.num_windows, self.batch_size = num_windows, batch_size
        self.base_seed, self.order, self.drop_last = base_seed, order, drop_last
        self.rank, self.world_size = rank, world_size
        self.last_epoch = None if num_epochs is None else num_epochs - 1
        if not self.count_from(0):
            needed = world_size * (batch_size if drop_last else 1)
            raise ValueError(
                f"batch_size {batch_size} (world_size {world_size}, "
                f"drop_last={drop_last}) needs at least {needed} windows for one "
                f"batch, got {num_windows}: the mean loss of no batches is NaN"
            )
        # a place is an epoch, and how many of its windows all ranks have taken
        self.position = Position((0, 0))
        self._known: tuple[int, dict[str, str]] | None = None  # the identity asked last

    @property
    def step(self) -> int:
        """Windows that all ranks together take for one batch each."""
        return self.batch_size * self.world_size

    @property
    def epoch(self) -> int:
        """The epoch that the next iteration reads."""
        return self.position.begin[0]

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch to iterate over.

        A resumed epoch goes on where it was, and any other starts at batch 0. An epoch
        before that of a loaded state is a ValueError, because a loop that counts from 0
        would begin the whole run again.
        """
        epoch = self.position.check_epoch(self.check_epoch(epoch))
        if epoch != self.epoch:
            self.go_to(epoch)

    def check_epoch(self, epoch: int) -> int:
        """Return the number of an epoch that this order has."""
        return check_integer("epoch", epoch, minimum=0, maximum=self.last_epoch)

    def place_of(
        self, state: object, delivered: str = "windows_delivered"
    ) -> tuple[int, int]:
        """Return the epoch of a state, and how many of its windows were `delivered`."""
        if not isinstance(state, Mapping) or not {"epoch", delivered} <= state.keys():
            return 0, 0  # `check_state` refuses it, and says what it lacks
        most = self.num_windows
        windows = check_integer(delivered, state[delivered], minimum=0, maximum=most)
        return self.check_epoch(state["epoch"]), windows

    def go_to(self, epoch: int, windows: int = 0, *, resumed: bool = False) -> None:
        """Let iterations begin after so many `windows`, of all ranks, of the epoch."""
        self.position.go_to(self.place_after(epoch, windows), resumed=resumed)

    def place_after(self, epoch: int, windows: int) -> tuple[int, int]:
        """Return the place after so many windows, which may be in the next epoch.

        In the last one it is behind its last batch, where a longer order goes on.
        """
        if self.count_from(windows):
            return epoch, windows
        if epoch != self.last_epoch:
            return epoch + 1, 0
        left_out = (self.num_windows - windows) % self.world_size
        return epoch, min(windows, self.num_windows - left_out)

    def counted(self, batches: Iterable[Delivered]) -> Iterator[Delivered]:
        """Yield batches that were made in this order, and count each when it is taken,
        because workers are ahead."""
        epoch, windows = self.position.begin
        places = (self.place_after(epoch, windows + k * self.step) for k in count(1))
        batches = zip(batches, places, strict=False)  # there are always more places
        after = self.place_after(epoch, windows + len(self) * self.step)
        return self.position.follow(batches, after)

    def count_from(self, windows: int) -> int:
        """Count the batches that are left of an epoch after so many windows."""
        full, rest = divmod(max(0, self.num_windows - windows), self.step)
        return full + (not self.drop_last and rest >= self.world_size)

    def __len__(self) -> int:
        """Count the batches of the next iteration, which may go on in mid-epoch."""
        return self.count_from(self.position.begin[1])

    def order_of(self, epoch: int) -> object:
        """Which window is at which position of an epoch."""
        return self.order(self.num_windows, self.base_seed + epoch)

    def __iter__(self) -> Iterator[list[int]]:
        # Read now: a generator would see the settings at the time of the first batch.
        epoch, first = self.position.begin
        if not len(self):
            raise ValueError(
                f"the order has been read to its end, {self.num_windows:,} windows: "
                "make it longer to go on"
            )
        self.position.now = None  # nobody counts, unless `counted` does
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

    def identity(self, epoch: int) -> dict[str, object]:
        """What the order of an epoch depends on, by name, ready for JSON.

        Of that epoch, because an order may be the same in one epoch and not in another,
        but not of how much was read: a state may skip windows.
        """
        own = {"num_windows": self.num_windows, "base_seed": self.base_seed}
        if self._known is None or self._known[0] != epoch:
            entries = self.order_of(epoch)[some_positions(self.num_windows)]
            entries = np.asarray(entries).tolist()
            self._known = epoch, identity_of(self.order, entries)
        return own | self._known[1]


class WindowLoader(DataLoader):
    """A `DataLoader` of whole batches that knows how far it has been read.

    `make_dataloader` makes it. Its position is that of the iterator that last began or
    delivered a batch. So you may look at a first batch with `next(iter(loader))` at any
    time, because the loop that runs, or runs next, takes the position back with its
    next batch. After an iterator has reached its end, the next one reads the next
    epoch, unless `set_epoch` chooses another. A loaded state counts for all iterators,
    until one of them has reached the end of its epoch.

    `len(loader)` is how many batches the next iteration yields, as PyTorch, accelerate
    and progress bars take it. So after a state was loaded it is what was left of that
    epoch, and for the next epoch it is the whole number again.

    Another program that builds a loader from the parts of this one gets the same
    batches. But this one cannot see how far it reads, so it refuses `state_dict`.

    A loader that knows better what the first k windows of an epoch depend on says it by
    `depends_on(epoch, k)`, ready for JSON.
    """

    def __init__(
        self,
        dataset: Dataset,
        order: BatchOrder,
        num_workers: int,
        options: Mapping[str, object],
        depends_on: Callable[[int, int], dict[str, object]] | None = None,
    ):
        self._depends_on = depends_on or self._data_and_order
        options = {"num_workers": num_workers, **check_options(options)}
        self.windows, self._options = dataset, options
        super().__init__(
            WholeBatches(dataset, order),
            batch_sampler=order,
            collate_fn=partial(collate, dataset.make_batch),
            **options,
        )

    @property
    def sampler(self) -> BatchOrder:
        """The order of the batches."""
        return self.batch_sampler

    @sampler.setter
    def sampler(self, _: object) -> None:
        """Ignore it: `DataLoader.__init__` assigns a sampler of single items here, but
        doesn't use it where it was given batches. What a loop and accelerate look for
        under this name is the order of the batches.
        """

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch to iterate over: `sampler.set_epoch` by another name."""
        self.sampler.set_epoch(epoch)

    @cached_property
    def _messages(self) -> DataLoader:
        return in_messages(self.windows, self.sampler, self._options)

    def __iter__(self) -> Iterator[Batch]:
        indices = iter(self.sampler)  # raises if there is no next epoch
        if self.num_workers:
            batches = chain.from_iterable(self._messages)
        elif self.pin_memory:
            batches = super().__iter__()
        else:  # within this process, we don't need PyTorch's machinery
            batches = map(self.windows.__getitem__, map(np.asarray, indices))
        return self.sampler.counted(batches)

    def _data_and_order(self, epoch: int, _: int) -> dict[str, object]:
        return self.windows.identity | self.sampler.identity(epoch)

    def state_dict(self) -> dict[str, object]:
        """Return how far it was read, and what its windows depend on, ready for JSON.

        It is the same on all ranks, so save it on one of them. Raises ValueError if
        another program has read the order in the meantime.
        """
        if self.sampler.position.now is None:
            raise ValueError(
                "state_dict must be asked of a loader that is read itself: another one "
                "(of accelerate?) has read its order, and how far is not known here"
            )
        now = self.sampler.position.now
        return dict(zip(POSITION, now, strict=True)) | self._depends_on(*now)

    def load_state_dict(self, state: Mapping[str, object]) -> None:
        """Go on from `state`: the next iteration yields what was left of its epoch.

        Raises TypeError if `state` is not what `state_dict` returns, and ValueError if
        this loader would have read other windows so far, with the setting that differs.
        """
        place = self.sampler.place_of(state)
        settings = self._depends_on(*place)
        check_state(state, settings, POSITION, owner="loader", advice=ADVICE)
        self.sampler.go_to(*place, resumed=True)
