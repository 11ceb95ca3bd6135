"""A mixture is an order: which window of which source is at a position of the run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np

from course_lib.foundation import (
    Finite,
    Length,
    RandomOrder,
    Seed,
    Several,
    check_integer,
    check_range,
    check_type,
    checked,
    named_elsewhere,
)
from course_lib.mixing_sources.draws import DrawBlocks, check_weights, seed_of


def check_window_counts(name: str, counts: object) -> dict[str, int]:
    """Return how many windows each source has, at least one, by name."""
    counts = check_type(name, counts, Mapping)
    if not counts:
        raise ValueError(f"{name} must hold at least one source, got none")
    return {
        check_type(f"each name of {name}", source, str): check_integer(
            f"{name}[{source!r}]", number, minimum=1, maximum=2**62
        )
        for source, number in counts.items()
    }


WindowCounts: TypeAlias = Annotated[Mapping[str, int], check_window_counts]
MANY_EPOCHS = 4  # "up to 4", Muennighoff and others (2023), arXiv 2305.16264


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
        num_windows: WindowCounts,
        stages: Annotated[Iterable[tuple[Mapping[str, float], int]], Several()],
        *,
        base_seed: Seed = 0,
        block_size: Length = 1_000,
        max_epochs: Annotated[float, Finite(above=0)] | None = None,
        order: Callable[[int, int], object] = RandomOrder,
    ):
        self.order = order
        self.num_windows = num_windows
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

    @named_elsewhere
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
