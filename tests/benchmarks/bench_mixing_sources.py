"""How fast sources are drawn, beside others' ways: `pytest -n 0 tests/benchmarks/bench_mixing_sources.py`.

Contenders run in turn, round by round, and only ratios within one run are asserted.
"""

from __future__ import annotations

import time
import tracemalloc
from functools import partial

import datasets
import numpy as np
from measuring import compare

from course_lib.mixing_sources import MixtureOrder, StagedMixture, draw_sources
from course_lib.sliding_windows import BatchOrder

WEIGHTS = [0.5, 0.3, 0.15, 0.05]
DRAWS = 20_000
ROUNDS = 9


def rate(seconds: float, draws: int = DRAWS) -> str:
    return f"{draws / seconds / 1e6:,.2f} M draws/s"


def blended(weights: np.ndarray, num_draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Megatron's `build_blending_indices`, in NumPy: the source most behind, and the number of its next sample."""
    sources, samples = np.empty(num_draws, dtype=np.int16), np.empty(num_draws, dtype=np.int64)
    drawn = np.zeros(len(weights), dtype=np.int64)
    for draw in range(num_draws):
        source = np.argmax(weights * max(draw, 1) - drawn)
        sources[draw], samples[draw] = source, drawn[source]
        drawn[source] += 1
    return sources, samples


def test_draws_a_second(benchmark, report):
    each = DRAWS // len(WEIGHTS)
    rows = [datasets.Dataset.from_dict({"row": np.arange(each)}) for _ in WEIGHTS]
    streams = [one.to_iterable_dataset() for one in rows]
    drawn = {}

    def interleaved() -> None:
        mixed = datasets.interleave_datasets(rows, probabilities=WEIGHTS, seed=0)
        drawn["datasets, map-style"] = len(mixed)

    def streamed() -> None:
        mixed = datasets.interleave_datasets(streams, probabilities=WEIGHTS, seed=0)
        drawn["datasets, streamed"] = sum(1 for _ in mixed)

    sizes = dict(zip("abcd", [10**9] * 4, strict=True))
    order = MixtureOrder(sizes, dict(zip("abcd", WEIGHTS, strict=True)), DRAWS)
    contenders = {
        "blocks": lambda: draw_sources(WEIGHTS, DRAWS),
        "random": lambda: draw_sources(WEIGHTS, DRAWS, method="random"),
        "largest_error": lambda: draw_sources(WEIGHTS, DRAWS, method="largest_error"),
        "MixtureOrder, windows too": lambda: order[np.arange(DRAWS)],
        "Megatron in NumPy": lambda: blended(np.array(WEIGHTS), DRAWS),
        "datasets, map-style": interleaved,
        "datasets, streamed": streamed,
    }
    seconds = compare(benchmark, contenders, ROUNDS)
    per_draw = {name: value / drawn.get(name, DRAWS) for name, value in seconds.items()}
    for name, value in per_draw.items():
        ratios = [f"{per_draw[other] / value:,.1f}x {other}" for other in list(contenders)[-3:]]
        report(name, rate(value, 1), ", ".join(ratios))
    assert per_draw["blocks"] < per_draw["Megatron in NumPy"] / 5
    assert per_draw["random"] < per_draw["Megatron in NumPy"] / 20
    assert per_draw["largest_error"] < 4 * per_draw["Megatron in NumPy"]
    assert per_draw["MixtureOrder, windows too"] < per_draw["Megatron in NumPy"] / 2
    assert per_draw["blocks"] < per_draw["datasets, map-style"]
    assert per_draw["blocks"] < per_draw["datasets, streamed"] / 5


def test_any_position_costs_the_same(benchmark, report):
    weights = {"a": 0.7, "b": 0.2, "c": 0.1}
    order = MixtureOrder({"a": 10**12, "b": 10**9, "c": 1_000}, weights, 10**13)
    random = np.random.default_rng(0)

    def batch(first: int) -> None:  # each in a block that has not been seen
        order[first + random.integers(10**9) + np.arange(64)]

    def one(first: int) -> None:
        order[first + random.integers(10**9)]

    contenders = {
        f"{name} near {first:.0e}": partial(read, first)
        for first in (0, 10**12)
        for name, read in (("batch of 64", batch), ("one draw", one))
    }
    seconds = compare(benchmark, contenders, 60)
    for name, value in seconds.items():
        report(f"MixtureOrder of 10**13 draws, {name}", f"{value * 1e6:,.0f} us", "")
    for name in ("batch of 64", "one draw"):
        assert seconds[f"{name} near 1e+12"] < 4 * seconds[f"{name} near 0e+00"]


def test_growth_with_the_number_of_sources(benchmark, report):
    def order_of(sources: int) -> StagedMixture:
        names = [f"source {k}" for k in range(sources)]
        return MixtureOrder(dict.fromkeys(names, 10**6), {n: 1 / (k + 1) for k, n in enumerate(names)}, 10**10)

    draws, numbers = 2**14, (1, 10, 100, 1_000)
    orders = {sources: order_of(sources) for sources in numbers}
    positions = np.arange(10**9, 10**9 + draws)
    contenders = {f"{sources} sources": partial(lambda o: o[positions], orders[sources]) for sources in numbers}
    contenders |= {f"blocks alone, {s}": partial(draw_sources, [1] * s, draws) for s in numbers}
    seconds = compare(benchmark, contenders, ROUNDS)
    for name, value in seconds.items():
        report(f"{name}, {draws:,} draws", f"{value * 1e3:,.1f} ms", rate(value, draws))
    for sources in numbers:
        begin = time.perf_counter()
        order_of(sources)
        report(f"making an order of {sources} sources", f"{(time.perf_counter() - begin) * 1e3:,.1f} ms", "")
    assert seconds["1000 sources"] < 60 * seconds["10 sources"]
    assert seconds["blocks alone, 1000"] < 10 * seconds["blocks alone, 1"]


def test_memory_of_many_small_sources(benchmark, report):
    """An order of up to 65,536 windows is stored while its epoch is read."""
    names = [f"source {k}" for k in range(1_000)]
    tracemalloc.start()
    order = MixtureOrder(dict.fromkeys(names, 2**16), dict.fromkeys(names, 1), 10**9)
    made = tracemalloc.get_traced_memory()[0]
    order[np.arange(10_000)]
    read = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    report("1,000 sources of 65,536 windows", f"{made / 2**20:,.1f} MiB made", f"{read / 2**20:,.0f} MiB once read")
    benchmark.pedantic(lambda: None, rounds=1)


def test_batches_of_a_mixture_wait_for_nothing(benchmark, report):
    """The first batch of 64, as a loader asks for it: 16,384 draws at once."""
    order = MixtureOrder({"a": 10**9, "b": 10**9}, {"a": 3, "b": 1}, 10**13)
    plain = BatchOrder(10**13, 64, base_seed=0)

    class Mixed(BatchOrder):
        def order_of(self, epoch: int) -> StagedMixture:
            return order

    mixed = Mixed(10**13, 64, base_seed=0)
    contenders = {"a mixture": lambda: next(iter(mixed)), "a shuffle": lambda: next(iter(plain))}
    seconds = compare(benchmark, contenders, ROUNDS)
    for name, value in seconds.items():
        report(f"first batch of {name} of 10**13", f"{value * 1e3:.1f} ms", "")
    assert seconds["a mixture"] < 30 * seconds["a shuffle"]
