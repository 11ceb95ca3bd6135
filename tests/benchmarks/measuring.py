"""Time contenders in turn, round by round, so that they share the machine's moods and only their ratio is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import pytest

ROUNDS = 25

Contender = Callable[[], None]


def compare(benchmark, contenders: dict[str, Contender], rounds: int = ROUNDS) -> dict[str, float]:
    """Time all contenders in turn in each round, and return the seconds of each one's best round.

    The best, not the median: other programs on the machine only ever add time, and to some rounds more than to
    others. The first is the one that pytest-benchmark times; the others run in its setup, which it does not.
    """
    if benchmark.disabled:  # as it is by pytest-xdist
        pytest.skip("several processes would time each other: add `-n 0`")
    (_, first), *others = contenders.items()
    seconds: dict[str, list[float]] = {name: [] for name, _ in others}

    def run_others() -> None:
        for name, contender in others:
            begin = time.perf_counter()
            contender()
            seconds[name].append(time.perf_counter() - begin)

    benchmark.pedantic(first, setup=run_others, rounds=rounds, warmup_rounds=2)
    best = {name: min(times[2:]) for name, times in seconds.items()}  # without the warm-up
    return {next(iter(contenders)): benchmark.stats.stats.min, **best}


def interleave(contenders: dict[str, Contender], rounds: Iterable[int]) -> dict[str, list[float]]:
    """The CPU seconds of this process for each contender in each round, in which all run in turn; after a warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for contender in contenders.values():
        contender()
    for _ in rounds:
        for name, contender in contenders.items():
            begin = time.process_time()
            contender()
            seconds[name].append(time.process_time() - begin)
    return seconds


def over(items: Iterable, make_batch: Callable) -> Contender:
    """Make one batch of each item; each is let go of at once, as in training, so that its memory is used again."""

    def run() -> None:
        for item in items:
            make_batch(item)

    return run
