"""Lesson 13: several sources in one run, each as often as its weight says.

A mixture is one more choice of starts: first the source, then one of its windows. Ours
is an order, as in lesson 11: it computes the window at any position without those
before it. So the position alone says where a run is, and loaders, ranks and resuming
work as they did for a single source.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from torch.utils.data import Dataset

from course_lib.foundation import (
    AtLeast,
    Count,
    Finite,
    Integers,
    Length,
    OneOf,
    RandomOrder,
    Seed,
    Several,
    check_index,
    check_integer,
    check_range,
    check_type,
    checked,
    progress_bar,
)
from course_lib.mixing_sources.draws import DrawBlocks, check_weights, seed_of
from course_lib.sliding_windows import SlidingWindowDataset
from course_lib.sliding_windows.loading import (
    Batch,
    BatchOrder,
    WindowLoader,
    name_of,
)

MANY_EPOCHS = 4  # "up to 4", Muennighoff and others (2023), arXiv 2305.16264
METHODS = "blocks", "random", "largest_error"
MOST_STORED = 2**32  # draws, 34 GB

# Which source next?


@checked
def draw_sources(
    weights: Sequence[float],
    num_draws: Annotated[int, AtLeast(0, MOST_STORED)],
    *,
    method: Annotated[str, OneOf(METHODS)] = "blocks",
    block_size: Length = 1_000,
    base_seed: Seed = 0,
) -> np.ndarray:
    """Choose a source for each draw, by weight.

    Args:
        weights: one number for each source, not negative. They are divided by their
            sum.
        num_draws: how many draws, at most 2**32, because they are stored. An order of
            any length is a `MixtureOrder`.
        method: "blocks" gives each source its exact share of every block, to within one
            draw, and shuffles the draws inside. "random" draws each one independently.
            "largest_error" always takes the source that lacks most of its share. With S
            sources, none ever leads by more than 1 draw, or lags by more than
            1/2 + 1/3 + ... + 1/S.
        block_size: draws in a block; the last block may be shorter. The other methods
            do not use it.
        base_seed: fixes "blocks" and "random".

    Returns the numbers of the sources, int64, shape (num_draws,).
    """
    shares = check_weights(weights)
    if method != "blocks":
        block_size = 1
    blocks = DrawBlocks(shares, num_draws, block_size, base_seed)
    if method == "random":
        draw = np.random.default_rng(base_seed).random(num_draws)
        return np.searchsorted(blocks.borders[1:], draw, side="right")
    sources = np.empty(num_draws, dtype=np.int64)
    if method == "blocks":
        for block in range(blocks.count):
            begin = block * blocks.size
            sources[begin : begin + blocks.size] = blocks.sources(block)
        return sources
    got = np.zeros(len(shares))
    for draw in progress_bar(range(num_draws), "drawing sources", unit="draw"):
        sources[draw] = chosen = np.argmax(shares * (draw + 1) - got)
        got[chosen] += 1
    return sources


@checked
def draw_rows(
    sources: Integers, names: Annotated[Sequence[str], Several("names")]
) -> dict[str, list[tuple]]:
    """Name sources, with their counts, for `plot_rows`: a box for each of their draws.

    Args:
        sources: the numbers of the sources, as `draw_sources` returns them.
        names: of all sources.
    """
    sources = check_range("sources", sources.ravel(), len(names))
    rows = {}
    for number, name in enumerate(names):
        draws = np.flatnonzero(sources == number).tolist()
        key = f"{name}, {len(draws)} of {len(sources)}"
        rows[key] = [(draw, 1, "inputs") for draw in draws]
    return rows


@checked
def temperature_weights(
    sizes: Mapping[str, float], temperature: Annotated[float, Finite(above=0)]
) -> dict[str, float]:
    """Turn sizes into weights, p ~ size ** (1 / temperature), whose sum is 1.

    With temperature 1, weights are in proportion to sizes. Above 1 small sources are
    lifted, and a very high temperature makes all alike. A source of size 0 gets 0.

    Source: Conneau and others, "Unsupervised Cross-lingual Representation Learning at
    Scale" (2020), with alpha = 1 / temperature.
    """
    names = list(sizes)
    check_weights(list(sizes.values()), "sizes")
    # In logarithms, because a power of a large size may not fit into a float.
    logs = [math.log(size) if size else -math.inf for size in sizes.values()]
    powers = np.exp([(log - max(logs)) / temperature for log in logs])
    return dict(zip(names, (powers / powers.sum()).tolist(), strict=True))


@checked
def capped_weights(
    num_windows: Mapping[str, int],
    num_draws: Length,
    max_epochs: Annotated[float, Finite(above=0)] = MANY_EPOCHS,
) -> dict[str, float]:
    """Give all sources equal weights, but no source more than `max_epochs` readings.

    As water fills vessels of different height: a small source is full first, and what
    it cannot take is shared by the others. Returns weights whose sum is 1. Raises
    ValueError if all sources together cannot fill `num_draws`.

    Source: Chung and others, "UniMax: Fairer and More Effective Language Sampling for
    Large-Scale Multilingual Pretraining" (2023), arXiv 2304.09151.
    """
    sizes = {
        name: check_integer(f"num_windows[{name!r}]", size, minimum=1, maximum=2**62)
        for name, size in num_windows.items()
    }
    if num_draws > max_epochs * sum(sizes.values()):
        raise ValueError(
            f"num_draws must be at most {max_epochs * sum(sizes.values()):,.0f}, which "
            f"is max_epochs times all windows, got {num_draws:,}"
        )
    weights, left = {}, float(num_draws)
    for place, name in enumerate(sorted(sizes, key=sizes.get)):
        share = min(left / (len(sizes) - place), max_epochs * sizes[name])
        weights[name] = share / num_draws
        left -= share
    return {name: weights[name] for name in sizes}


# A mixture is an order.


@dataclass(frozen=True)
class SourceReport:
    """What a mixture has drawn from one source.

    Attributes:
        asked: the share that the weights ask for.
        got: the share of the draws.
        draws: the number of draws.
        epochs: how often the source has been read, `draws` over its windows.
    """

    asked: float
    got: float
    draws: int
    epochs: float


class StagedMixture:
    """The order of a run whose weights change: `MixtureOrder` has a single stage.

    `order[positions]` gives the windows at any positions, int64. They are counted
    through the sources one after another, in the order of `num_windows`. Each source is
    read whole before it is read again, in another order each time. What it has read in
    one stage is not read again in the next.

    The order within a source depends on `base_seed` and the source's name alone. So a
    source that is added, renamed or resized changes nothing within the others.

    Args:
        num_windows: how many windows each source has, by name.
        stages: pairs of weights, by name, and a number of draws.
        base_seed: fixes all orders.
        block_size: each block of so many draws of a stage holds each source as often
            as its weight says, to within one draw. The last block of a stage may be
            shorter.
        max_epochs: how often a source may be read at most. By default more than
            `MANY_EPOCHS` times give a warning.
        order: makes the order of a source's windows, in each of its epochs, from a
            size and a seed: `RandomOrder`, or lesson 11's `BlockOrder` for files that
            are read best from front to back.

    Raises ValueError with the name of a source that would be read more than
    `max_epochs` times.
    """

    @checked
    def __init__(
        self,
        num_windows: Mapping[str, int],
        stages: Annotated[Iterable[tuple[Mapping[str, float], int]], Several()],
        *,
        base_seed: Seed = 0,
        block_size: Length = 1_000,
        max_epochs: Annotated[float, Finite(above=0)] | None = None,
        order: Callable[[int, int], object] = RandomOrder,
    ):
        self.order = order
        self.num_windows = {
            check_type("each name of num_windows", name, str): check_integer(
                f"num_windows[{name!r}]", number, minimum=1, maximum=2**62
            )
            for name, number in num_windows.items()
        }
        if not self.num_windows:
            raise ValueError("num_windows must hold at least one source, got none")
        self.names = list(self.num_windows)
        self.base_seed = base_seed
        self.block_size = block_size
        self.stages = [self._check_stage(s) for s in stages]
        if not self.stages:
            raise ValueError("stages must hold at least one stage, got none")
        self._sizes = np.array(list(self.num_windows.values()), dtype=object)
        if sum(self._sizes) > 2**62:
            raise ValueError(
                f"the sum of num_windows must be at most 2**62, got {num_windows}"
            )
        # of source s, the first window has the number firsts[s]
        self.firsts = np.cumsum([0, *self._sizes[:-1]], dtype=np.int64)
        self._sizes = self._sizes.astype(np.int64)
        self._blocks = [
            DrawBlocks(
                np.array(list(weights.values())), draws, block_size, base_seed, i
            )
            for i, (weights, draws) in enumerate(self.stages)
        ]
        # of stage i, the first draw, and the draws of each source before it
        self._begins, self._drawn = [0], [np.zeros(len(self.names), dtype=np.int64)]
        for blocks in self._blocks:
            drawn = self._drawn[-1]
            if blocks.count:
                last = blocks.count - 1
                drawn = drawn + blocks.drawn_before(last) + blocks.counts(last)
            self._begins.append(self._begins[-1] + blocks.num_draws)
            self._drawn.append(drawn)
        check_integer("num_draws", self._begins[-1], minimum=0, maximum=2**62)
        self._check_epochs(max_epochs)
        self._orders: dict[int, tuple[int, object]] = {}
        self._last: tuple[object, object] = None, None

    def _check_stage(self, stage: object) -> tuple[dict[str, float], int]:
        try:
            if isinstance(stage, Mapping | str):  # its names would be unpacked
                raise TypeError
            weights, num_draws = stage
        except (TypeError, ValueError):
            raise TypeError(
                f"each of stages must be a pair (weights, num_draws), got {stage!r}"
            ) from None
        check_type("weights", weights, Mapping)
        if set(weights) != set(self.names):
            raise ValueError(
                f"weights must have the names of num_windows, {self.names}, got "
                f"{list(weights)}"
            )
        shares = check_weights([weights[name] for name in self.names])
        num_draws = check_integer("num_draws", num_draws, minimum=0, maximum=2**62)
        return dict(zip(self.names, shares.tolist(), strict=True)), num_draws

    def _check_epochs(self, max_epochs: float | None) -> None:
        limit = MANY_EPOCHS if max_epochs is None else max_epochs
        for name, draws, size in zip(
            self.names, self._drawn[-1].tolist(), self._sizes.tolist(), strict=True
        ):
            if draws / size <= limit:  # limit * size may be rounded below draws
                continue
            many = f"{draws / size:.2f} times ({draws:,} draws of {size:,} windows)"
            if max_epochs is not None:
                raise ValueError(
                    f"{name!r} would be read {many}, but max_epochs is {limit:g}"
                )
            warnings.warn(
                f"{name!r} will be read {many}: say by max_epochs how often it may be",
                stacklevel=4,
            )

    def __len__(self) -> int:
        return self._begins[-1]

    def __getitem__(self, positions: object) -> np.ndarray:
        """Return the windows at `positions`, int64, in the shape of `positions`.

        Raises IndexError if a position lies outside 0 ... len(order) - 1.
        """
        sources, numbers = self._draws(positions)
        windows = np.empty_like(sources)
        for source in np.unique(sources).tolist():
            mine = sources == source
            epochs, places = np.divmod(numbers[mine], self._sizes[source])
            for epoch in np.unique(epochs).tolist():
                now = epochs == epoch
                places[now] = self._order_within(source, epoch)[places[now]]
            windows[mine] = self.firsts[source] + places
        return windows

    def sources_at(self, positions: object) -> np.ndarray:
        """Return the numbers of the sources at `positions`, int64, in the same shape.

        Sources are numbered from 0, in the order of `num_windows`.
        """
        return self._draws(positions)[0]

    def _draws(self, positions: object) -> tuple[np.ndarray, np.ndarray]:
        """Return the sources at positions, and how often each had been drawn before."""
        positions = check_range("positions", positions, len(self), IndexError)
        positions = positions.astype(np.int64)
        sources, numbers = np.empty_like(positions), np.empty_like(positions)
        stages = np.searchsorted(self._begins, positions, side="right") - 1
        for stage in np.unique(stages).tolist():
            size = self._blocks[stage].size
            blocks, inside = np.divmod(positions - self._begins[stage], size)
            for block in np.unique(blocks[stages == stage]).tolist():
                here = (stages == stage) & (blocks == block)
                in_block, counted = self._numbered(stage, block)
                sources[here] = in_block[inside[here]]
                numbers[here] = counted[inside[here]]
        return sources, numbers

    def _numbered(self, stage: int, block: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the draws of a block, and keep those of the last one."""
        if self._last[0] != (stage, block):
            sources, numbers = self._blocks[stage].numbered(block)
            numbers += self._drawn[stage][sources]
            self._last = (stage, block), (sources, numbers)
        return self._last[1]

    def _order_within(self, source: int, epoch: int) -> object:
        """Return the order of one epoch of a source, and keep the last one."""
        if source not in self._orders or self._orders[source][0] != epoch:
            seed = seed_of(self.base_seed, "source", self.names[source], epoch)
            self._orders[source] = epoch, self.order(int(self._sizes[source]), seed)
        return self._orders[source][1]

    def report(self) -> dict[str, SourceReport]:
        """Say what the weights ask for from each source, and what it gets."""
        draws, total = self._drawn[-1], len(self)  # of all stages
        asked = np.array(list(self.stages[0][0].values()))
        if total:
            lengths = [length / total for _, length in self.stages]
            weights = [list(weights.values()) for weights, _ in self.stages]
            asked = np.average(weights, axis=0, weights=lengths)
        columns = asked, draws / max(1, total), draws, draws / self._sizes
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return {
            name: SourceReport(*row) for name, row in zip(self.names, rows, strict=True)
        }

    def history(self, position: int) -> list[list]:
        """Say what the draws before a position depend on, ready for JSON.

        For each stage begun, it is the number of draws in its blocks so far, and pairs
        of a name and its weight, without weights of 0. Their order counts, because it
        decides which source a draw takes. Two plans with the same history have drawn
        the same so far, no matter what comes next.
        """
        position = check_integer("position", position, minimum=0, maximum=len(self))
        begun = []
        for (weights, _), blocks, begin in zip(
            self.stages, self._blocks, self._begins, strict=False
        ):
            if position > begin:
                touched = -(-(position - begin) // blocks.size) * blocks.size
                above = [[name, weight] for name, weight in weights.items() if weight]
                begun.append([min(touched, blocks.num_draws), above])
        return begun


class MixtureOrder(StagedMixture):
    """A mixture of sources by weight, as an order of their windows.

    `order[positions]` gives the windows at any positions, computed without those before
    them: neither draws nor counts are stored. `StagedMixture` says the rest.

    Args:
        num_windows: how many windows each source has, by name.
        weights: how often each source is drawn, by name. They are divided by their sum.
        num_draws: the length of the run in windows.
        base_seed, block_size, max_epochs, order: as for `StagedMixture`.
    """

    def __init__(
        self,
        num_windows: Mapping[str, int],
        weights: Mapping[str, float],
        num_draws: int,
        *,
        base_seed: int = 0,
        block_size: int = 1_000,
        max_epochs: float | None = None,
        order: Callable[[int, int], object] = RandomOrder,
    ):
        super().__init__(
            num_windows,
            [(weights, num_draws)],
            base_seed=base_seed,
            block_size=block_size,
            max_epochs=max_epochs,
            order=order,
        )


# From windows to batches.


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
        sources, places = self.locate(check_index(index, len(self), "windows"))
        ids = np.empty((*places.shape, self.context_length + 1), dtype=self._dtype)
        lengths = np.empty(places.shape, dtype=np.int64)
        for number, source in enumerate(self.sources.values()):
            if (mine := sources == number).any():
                ids[mine], lengths[mine] = source.cut(places[mine])
        return ids, lengths


class MixtureBatches(BatchOrder):
    """Lesson 2's order of batches, over the draws of a mixture.

    A mixture is read once, and its sources have epochs of their own. So after the last
    batch there is no next epoch.

    A state can be loaded into a mixture with other plans for what comes next: other
    weights after the end of a block, another stage, a new source. It is refused if
    what has been read so far would have been different.
    """

    last_epoch = 0

    def __init__(self, mixture: StagedMixture, batch_size: int, **settings: object):
        self.mixture = mixture
        super().__init__(
            len(mixture), batch_size, base_seed=mixture.base_seed, **settings
        )

    def order_of(self, epoch: int) -> StagedMixture:
        return self.mixture

    def place_after(self, epoch: int, windows: int) -> tuple[int, int]:
        # Batches are counted from where this loader began, which need not be 0.
        if epoch:
            step = self.step if self.drop_last else self.world_size
            left = self.num_windows - self.position.begin[1]
            return 0, self.num_windows - left % step
        if windows > self.num_windows:  # a last batch that was not full
            left_out = (self.num_windows - windows) % self.world_size
            return 0, self.num_windows - left_out
        return 0, windows

    def __iter__(self) -> Iterator[list[int]]:
        if not len(self):
            raise ValueError(
                f"the mixture has been read to its end, {self.num_windows:,} draws: "
                "add a stage to go on"
            )
        return super().__iter__()

    def settings(self, windows: MixedWindows, windows_read: int) -> dict[str, object]:
        stages = self.mixture.history(windows_read)
        drawn = {name for _, weights in stages for name, _ in weights}
        return {
            "stages": stages,
            "sources": {
                name: [len(source), source.stride, source.fingerprint]
                for name, source in windows.sources.items()
                if name in drawn
            },
            "context_length": windows.context_length,
            "base_seed": self.base_seed,
            "block_size": self.mixture.block_size,
            "order": name_of(self.mixture.order),
        }


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
    batch size or the number of ranks.

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
    order = MixtureBatches(
        mixture, batch_size, drop_last=drop_last, rank=rank, world_size=world_size
    )
    return WindowLoader(sources, order, num_workers, loader_options)
