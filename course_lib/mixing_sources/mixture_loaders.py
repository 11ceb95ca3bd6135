"""The windows of several sources, and a loader that reads them as a mixture says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from torch.utils.data import Dataset

from course_lib.foundation import (
    Count,
    Length,
    as_places,
    check_range,
    check_type,
    checked,
    identity_of,
    some_positions,
)
from course_lib.mixing_sources.mixtures import StagedMixture
from course_lib.sliding_windows import SlidingWindowDataset
from course_lib.sliding_windows.loading import (
    Batch,
    BatchOrder,
    WindowLoader,
)


class MixedWindows(Dataset):
    """The windows of several sources, counted through one source after another.

    Args:
        sources: a data set of windows for each name, all of one context length.
    """

    @checked
    def __init__(self, sources: Mapping[str, SlidingWindowDataset]):
        self.sources = {
            check_type("each name of sources", name, str): check_type(
                f"sources[{name!r}]", source, SlidingWindowDataset
            )
            for name, source in sources.items()
        }
        kinds = {(s.make_batch, s.context_length) for s in self.sources.values()}
        if len(kinds) != 1:
            lengths = [source.context_length for source in self.sources.values()]
            raise ValueError(
                "sources must hold at least one data set, all of one kind and one "
                f"context_length, got {lengths}"
            )
        first = next(iter(self.sources.values()))
        self.context_length, self.make_batch = first.context_length, first.make_batch
        self.num_windows = {name: len(s) for name, s in self.sources.items()}
        self._borders = np.cumsum([0, *self.num_windows.values()])
        self._dtype = np.result_type(*(s.stream.dtype for s in self.sources.values()))

    def __len__(self) -> int:
        return int(self._borders[-1])

    def __getitem__(self, index: object) -> Batch:
        return self.make_batch(*self.cut(index))

    def locate(self, windows: object) -> tuple[np.ndarray, np.ndarray]:
        """Return the source number of each window, and its number in that source."""
        windows = check_range("windows", windows, len(self), IndexError)
        windows = windows.astype(np.int64, copy=False)  # int8 would overflow below
        sources = np.searchsorted(self._borders, windows, side="right") - 1
        return sources, windows - self._borders[sources]

    def cut(self, index: object) -> tuple[np.ndarray, np.ndarray]:
        """Return windows as they are in their streams, T + 1 compact ids each, and how
        many of these are real; see `Stream.cut`."""
        sources, places = self.locate(as_places(index, len(self), "windows"))
        ids = np.empty((*places.shape, self.context_length + 1), dtype=self._dtype)
        lengths = np.empty(places.shape, dtype=np.int64)
        for number, source in enumerate(self.sources.values()):
            if (mine := sources == number).any():
                ids[mine], lengths[mine] = source.cut(places[mine])
        return ids, lengths


@checked
def make_mixture_loader(
    sources: MixedWindows,
    mixture: StagedMixture,
    batch_size: Length,
    *,
    drop_last: bool = False,
    num_workers: Count = 0,
    rank: Count = 0,
    world_size: Length = 1,
    **loader_options: object,
) -> WindowLoader:
    """Make a loader that reads several sources in the order of a mixture.

    Use it like that of `make_dataloader`. Its state says how many windows all ranks
    together have read, so it is the same on all ranks, and it survives a change of the
    batch size or the number of ranks. A mixture is read once, and its sources have
    epochs of their own: after the last batch, only a longer mixture goes on.

    A state can be loaded into a mixture with other plans for what comes next: other
    weights after the end of a block, another stage, a new source. It is refused if what
    has been read so far would have been different.

    Args:
        sources: the windows of all sources.
        mixture: a `MixtureOrder` or `StagedMixture` of the same sources, in the same
            order.
        batch_size: B, the number of windows in a batch of each rank.
        drop_last, num_workers, rank, world_size, loader_options: as for
            `make_dataloader`.

    Returns a loader of (inputs, targets), torch.int64, shape (B, T) each.
    """
    if list(mixture.num_windows.items()) != list(sources.num_windows.items()):
        raise ValueError(
            f"mixture must be of the sources {sources.num_windows}, in this order, got "
            f"{mixture.num_windows}"
        )
    batches = BatchOrder(
        len(mixture),
        batch_size,
        base_seed=mixture.base_seed,
        order=lambda num_windows, seed: mixture,
        num_epochs=1,
        drop_last=drop_last,
        rank=rank,
        world_size=world_size,
    )
    depends_on = partial(_settings, sources, mixture)
    return WindowLoader(sources, batches, num_workers, loader_options, depends_on)


def _settings(
    sources: MixedWindows, mixture: StagedMixture, _: int, windows_read: int
) -> dict[str, object]:
    """Say what the first windows of a mixture depend on, ready for JSON."""
    stages = mixture.history(windows_read)
    drawn = {name for _, weights in stages for name, _ in weights}
    return {
        "context_length": sources.context_length,
        "stages": stages,
        "sources": {
            name: {**source.identity, "num_windows": len(source)}
            for name, source in sources.sources.items()
            if name in drawn
        },
        "base_seed": mixture.base_seed,
        "block_size": mixture.block_size,
        **identity_of(mixture.order, _some_windows(sources, mixture, stages)),
    }


def _some_windows(
    sources: MixedWindows, mixture: StagedMixture, stages: list[list]
) -> list[list]:
    """Return some windows of the blocks begun, which `history` counts: the name of a
    source, and the number in it, which stay the same if a source is added."""
    begun = sum(draws for draws, _ in stages)
    numbers, windows = sources.locate(mixture[some_positions(begun)])
    names = list(sources.sources)
    pairs = zip(numbers.tolist(), windows.tolist(), strict=True)
    return [[names[number], window] for number, window in pairs]
