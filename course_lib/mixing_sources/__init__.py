"""Lesson 13: several sources in one run, each as often as its weight says.

A mixture is one more choice of starts: first the source, then one of its windows. Here
stands how often each source is drawn, and which comes next. A mixture is also an order,
as in lesson 11: `mixtures` computes the window at any position without those before it.
So the position alone says where a run is, and the loader of `mixture_loaders` is that
of a single source.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np

from course_lib.foundation import (
    AtLeast,
    Finite,
    Integers,
    Length,
    OneOf,
    Seed,
    Several,
    check_range,
    checked,
    progress_bar,
)
from course_lib.mixing_sources.draws import DrawBlocks, as_shares, check_weights
from course_lib.mixing_sources.mixture_loaders import MixedWindows, make_mixture_loader
from course_lib.mixing_sources.mixtures import (
    MANY_EPOCHS,
    MixtureOrder,
    SourceReport,
    StagedMixture,
    WindowCounts,
)

__all__ = [  # a front page: what stands beside it can be imported from here
    "MixedWindows",
    "MixtureOrder",
    "SourceReport",
    "StagedMixture",
    "at_random",
    "by_blocks",
    "capped_weights",
    "draw_rows",
    "draw_sources",
    "largest_error",
    "make_mixture_loader",
    "temperature_weights",
]

MOST_STORED = 2**32  # draws, 34 GB

# Which source next?


def by_blocks(
    shares: np.ndarray, num_draws: int, block_size: int, base_seed: int
) -> np.ndarray:
    """Give each source its share of a block, up to rounding, and shuffle the draws."""
    blocks = DrawBlocks(shares, num_draws, block_size, base_seed)
    sources = np.empty(num_draws, dtype=np.int64)
    for block in range(blocks.count):
        begin = block * blocks.size
        sources[begin : begin + blocks.size] = blocks.sources(block)
    return sources


def at_random(shares: np.ndarray, num_draws: int, _: int, base_seed: int) -> np.ndarray:
    """Draw each source with the probability of its share."""
    borders = DrawBlocks(shares, num_draws, 1).borders
    points = np.random.default_rng(base_seed).random(num_draws)
    return np.searchsorted(borders[1:], points, side="right")


def largest_error(shares: np.ndarray, num_draws: int, *_: int) -> np.ndarray:
    """Take the source that is furthest below its share."""
    sources, counts = np.empty(num_draws, dtype=np.int64), np.zeros(len(shares))
    for draw in progress_bar(range(num_draws), "drawing sources", unit="draw"):
        lags = shares * (draw + 1) - counts  # what each should have by now, and hasn't
        sources[draw] = np.argmax(lags.round(9))  # a tie goes to the first
        counts[sources[draw]] += 1
    return sources


METHODS = {"blocks": by_blocks, "random": at_random, "largest_error": largest_error}


@checked
def draw_sources(
    weights: Annotated[Sequence[float], as_shares],
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
    return METHODS[method](weights, num_draws, block_size, base_seed)


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


# How often?


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
    num_windows: WindowCounts,
    num_draws: Length,
    max_epochs: Annotated[float, Finite(above=0)] = MANY_EPOCHS,
) -> dict[str, float]:
    """Give all sources equal weights, but no source more than `max_epochs` readings.

    As water fills vessels of different height: a small source is full first, and what
    it cannot take is shared by the others. Returns weights whose sum is 1, for a
    `MixtureOrder`, so names must be strings. It rounds shares to whole draws, and so
    may need a `max_epochs` that allows one draw more. Raises ValueError if all sources
    together cannot fill `num_draws`.

    Source: Chung and others, "UniMax: Fairer and More Effective Language Sampling for
    Large-Scale Multilingual Pretraining" (2023), arXiv 2304.09151.
    """
    _check_enough(num_windows, num_draws, max_epochs)
    weights, left = {}, float(num_draws)
    for place, name in enumerate(sorted(num_windows, key=num_windows.get)):
        equal_share = left / (len(num_windows) - place)  # with those that are larger
        draws = min(equal_share, max_epochs * num_windows[name])
        weights[name] = draws / num_draws
        left -= draws
    return {name: weights[name] for name in num_windows}


def _check_enough(
    num_windows: Mapping[str, int], num_draws: int, max_epochs: float
) -> None:
    """Refuse more draws than all sources give if each is read `max_epochs` times."""
    most = max_epochs * sum(num_windows.values())
    if num_draws > most:
        raise ValueError(
            f"num_draws must be at most {most:,.0f}, which is max_epochs times all "
            f"windows, got {num_draws:,}"
        )
