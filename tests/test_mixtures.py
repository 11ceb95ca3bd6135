"""A mixture is an order: exact shares, sources read whole, any position at once, and plans that are refused."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tracemalloc
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.foundation import BlockOrder, FileOrder, RandomOrder
from course_lib.mixing_sources import MixtureOrder, StagedMixture, draw_sources

NAMES = "abcdef"
SIZES = {"a": 7, "b": 40, "c": 3}
WEIGHTS = {"a": 0.5, "b": 0.3, "c": 0.2}


def shares_of(weights: list[float]) -> np.ndarray:
    return np.array(weights, dtype=float) / math.fsum(weights)


def blocks_of(draws: np.ndarray, size: int) -> list[np.ndarray]:
    return [draws[begin : begin + size] for begin in range(0, len(draws), size)]


def by_source(order: StagedMixture) -> dict[str, list[int]]:
    """The windows that each source delivers, in order, counted from its own first."""
    positions = np.arange(len(order))
    sources, windows = order.sources_at(positions), order[positions]
    return {n: (windows[sources == k] - order.firsts[k]).tolist() for k, n in enumerate(order.names)}


# The window at a position


@st.composite
def mixtures(draw) -> tuple[dict[str, int], list, dict]:
    names = NAMES[: draw(st.integers(1, 4))]
    sizes = {name: draw(st.integers(1, 12)) for name in names}
    weights = st.lists(st.integers(0, 5) | st.floats(0, 1), min_size=len(names), max_size=len(names)).filter(any)
    lengths = draw(st.lists(st.integers(0, 80), min_size=1, max_size=3))
    stages = [(dict(zip(names, draw(weights), strict=True)), length) for length in lengths]
    return sizes, stages, {"block_size": draw(st.integers(1, 30)), "base_seed": draw(st.integers(0, 5))}


@settings(max_examples=80)
@given(mixtures(), st.data())
def test_a_source_is_read_whole_before_it_is_read_again_at_any_position(case, data):
    sizes, stages, options = case
    order = StagedMixture(sizes, stages, **options)
    assert len(order) == sum(length for _, length in stages)
    positions = np.arange(len(order))
    whole = order[positions]
    for name, windows in by_source(order).items():
        for epoch in blocks_of(np.array(windows), sizes[name]):
            assert len(set(epoch)) == len(epoch)
            assert set(epoch) <= set(range(sizes[name]))
    begin = 0
    for weights, length in stages:  # blocks begin anew with each stage
        for block in blocks_of(order.sources_at(positions[begin : begin + length]), options["block_size"]):
            wanted = shares_of([weights[name] for name in sizes]) * len(block)
            assert np.all(np.abs(np.bincount(block, minlength=len(sizes)) - wanted) < 1 + 1e-9)
        begin += length
    if len(order):
        some = data.draw(st.lists(st.integers(0, len(order) - 1), max_size=12))
        assert StagedMixture(sizes, stages, **options)[some].tolist() == whole[some].tolist()
        assert [int(order[position]) for position in some] == whole[some].tolist()
        assert np.array_equal(order[positions[::-1]], whole[::-1])


@settings(max_examples=80)
@given(mixtures())
def test_a_report_counts_as_a_loop_over_all_draws(case):
    sizes, stages, options = case
    order = StagedMixture(sizes, stages, **options)
    sources = order.sources_at(np.arange(len(order))).tolist()
    share_at = [shares_of([weights[name] for name in sizes]) for weights, length in stages for _ in range(length)]
    report = order.report()
    for number, (name, found) in enumerate(report.items()):
        assert found.draws == sources.count(number)
        assert found.epochs == found.draws / sizes[name]
        if sources:
            assert found.asked == pytest.approx(np.mean([share[number] for share in share_at]))
            assert found.got == found.draws / len(sources)
        else:
            assert found.got == 0
    assert sum(found.asked for found in report.values()) == pytest.approx(1)


def test_epochs_of_a_source_differ():
    order = MixtureOrder({"a": 50, "b": 9}, {"a": 1, "b": 0}, 200)
    epochs = blocks_of(order[np.arange(200)], 50)
    assert len({epoch.tobytes() for epoch in epochs}) == 4
    assert all(sorted(epoch) == list(range(50)) for epoch in epochs)


def test_windows_and_sources_count_in_the_order_of_num_windows():
    positions = np.arange(500)
    order = MixtureOrder(SIZES, WEIGHTS, 500)
    turned = MixtureOrder(SIZES, dict(reversed(WEIGHTS.items())), 500)
    assert np.array_equal(order[positions], turned[positions])
    assert np.array_equal(order.sources_at(positions), turned.sources_at(positions))
    firsts = np.array([0, 7, 47, 50])
    assert np.array_equal(np.searchsorted(firsts, order[positions], side="right") - 1, order.sources_at(positions))
    assert np.bincount(order.sources_at(positions)).tolist() == [250, 150, 100]
    doubled = MixtureOrder(SIZES, {name: 20 * weight for name, weight in WEIGHTS.items()}, 500)
    assert np.array_equal(order[positions], doubled[positions])


CHANGES = {
    "added before": ({"new": 5, **SIZES}, {**WEIGHTS, "new": 0.4}),
    "added with weight 0": ({**SIZES, "new": 5}, {**WEIGHTS, "new": 0}),
    "another renamed": ({"a": 7, "B": 40, "c": 3}, {"a": 0.5, "B": 0.3, "c": 0.2}),
    "another resized": ({**SIZES, "b": 400}, WEIGHTS),
    "reordered": (dict(reversed(SIZES.items())), WEIGHTS),
    "other weights": (SIZES, {"a": 0.1, "b": 0.7, "c": 0.2}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_happens_to_another_source_changes_nothing_within_one(change):
    before, after = (by_source(MixtureOrder(*case, 600)) for case in ((SIZES, WEIGHTS), CHANGES[change]))
    for name in ("a", "c"):
        assert len(before[name]) > 50
        assert all(x == y for x, y in zip(before[name], after[name], strict=False))
    assert by_source(MixtureOrder(SIZES, WEIGHTS, 600, base_seed=1))["a"] != before["a"]


PROGRAM = """if True:
    import numpy as np
    from course_lib.mixing_sources import MixtureOrder, draw_sources
    order = MixtureOrder({"ä": 10**9, "b": 3}, {"ä": 0.7, "b": 0.3}, 10**13, base_seed=4)
    print(order[[0, 1, 10**12, 10**13 - 1]].tolist(), draw_sources([1, 2], 9).tolist(), sep="\\n")
"""


def test_it_is_the_same_in_any_process():
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True)
    order = MixtureOrder({"ä": 10**9, "b": 3}, {"ä": 0.7, "b": 0.3}, 10**13, base_seed=4)
    windows = order[[0, 1, 10**12, 10**13 - 1]].tolist()
    assert done.stdout.decode().split("\n")[:2] == [str(windows), str(draw_sources([1, 2], 9).tolist())]


def test_a_long_order_stores_no_draws():
    tracemalloc.start()
    order = MixtureOrder({"a": 10**12, "b": 10**6}, {"a": 0.999, "b": 0.001}, 10**13)
    windows = order[10**12 + np.arange(1_000)]
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()
    assert len(order) == 10**13
    assert len(np.unique(windows)) == 1_000
    assert (windows >= 10**12).sum() == 1


def test_max_epochs_may_be_reached_and_not_exceeded():
    for most in (1, 2, 0.29, 3.7):
        draws = round(100 * most)
        assert MixtureOrder({"a": 100}, {"a": 1}, draws, max_epochs=most).report()["a"].epochs == most
        with pytest.raises(ValueError, match=rf"'a' would be read .* but max_epochs is {most}"):
            MixtureOrder({"b": 10**6, "a": 100}, {"b": 0, "a": 1}, draws + 1, max_epochs=most)


def test_draws_carry_over_from_stage_to_stage():
    flat, steep = {"a": 1, "b": 1}, {"a": 9, "b": 1}
    order = StagedMixture({"a": 30, "b": 30}, [(flat, 40), (steep, 0), (steep, 40)], block_size=10)
    windows = by_source(order)
    assert [len(windows[name]) for name in "ab"] == [56, 24]
    assert sorted(windows["a"][:30]) == list(range(30))  # 20 of the first stage, 10 of the last
    one = MixtureOrder({"a": 30, "b": 30}, flat, 40, block_size=10)
    assert np.array_equal(order[np.arange(40)], one[np.arange(40)])
    staged = StagedMixture({"a": 30, "b": 30}, [(flat, 40)], block_size=10)
    assert np.array_equal(staged[np.arange(40)], one[np.arange(40)])
    assert staged.history(40) == one.history(40) == [[40, [["a", 0.5], ["b", 0.5]]]]


def test_a_report_of_no_draws_asks_for_what_the_weights_do():
    report = StagedMixture({"a": 3, "b": 4}, [({"a": 1, "b": 3}, 0)]).report()
    assert {name: (one.asked, one.got, one.draws) for name, one in report.items()} == {
        "a": (0.25, 0, 0),
        "b": (0.75, 0, 0),
    }


def test_blocks_hold_a_thousand_draws_unless_told_otherwise():
    for mixture in (
        MixtureOrder({"a": 9, "b": 9}, {"a": 1, "b": 1}, 5_000),
        StagedMixture({"a": 9, "b": 9}, [({"a": 1, "b": 1}, 5_000)]),
    ):
        assert mixture.block_size == 1_000
        sources = mixture.sources_at(np.arange(5_000)).reshape(5, 1_000)
        assert set(sources.sum(axis=1).tolist()) == {500}


@pytest.mark.parametrize("order", [RandomOrder, FileOrder, partial(BlockOrder, block_size=4, blocks_at_a_time=2)])
def test_a_source_may_be_read_in_blocks_and_each_epoch_still_holds_it_whole(order):
    mixture = MixtureOrder({"a": 40, "b": 7}, {"a": 2, "b": 1}, 300, order=order, block_size=30)
    windows, sources = mixture[np.arange(300)], mixture.sources_at(np.arange(300))
    for number, size in enumerate((40, 7)):
        mine = windows[sources == number] - mixture.firsts[number]
        for begin in range(0, len(mine) - size, size):
            assert sorted(mine[begin : begin + size].tolist()) == list(range(size))
    steps = np.abs(np.diff(windows[sources == 0][:40]))
    assert (steps.mean() < 11) == (order is not RandomOrder)


def test_a_plan_that_reads_a_source_more_than_four_times_says_so_unless_a_cap_is_named():
    sizes, even = {"a": 100, "b": 1_000}, {"a": 1, "b": 1}
    with pytest.warns(
        UserWarning, match=r"'a' will be read 4\.01 times \(401 draws of 100 windows\): say by max_epochs"
    ):
        MixtureOrder(sizes, {"a": 401, "b": 401}, 802)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MixtureOrder(sizes, even, 800)
        MixtureOrder(sizes, even, 1_000, max_epochs=5)


# What is refused


SMALL, EVEN = {"a": 3, "b": 4}, {"a": 1, "b": 1}
REFUSED = {
    "as many draws as no number counts": (lambda: MixtureOrder(SMALL, EVEN, 2**62 + 1), "num_draws must be"),
    "too many in all stages": (lambda: StagedMixture(SMALL, [(EVEN, 2**62), (EVEN, 1)]), "num_draws must be"),
    "no source": (lambda: MixtureOrder({}, EVEN, 10), "num_windows must hold at least one source, got none"),
    "an empty source": (lambda: MixtureOrder({"a": 0, "b": 1}, EVEN, 10), "num_windows.'a'. must be"),
    "too many windows": (lambda: MixtureOrder({"a": 2**62, "b": 1}, EVEN, 10), "the sum of num_windows must be"),
    "weights of others": (lambda: MixtureOrder(SMALL, {"a": 1}, 10), "weights must have the names of num_windows"),
    "a weight more": (lambda: MixtureOrder(SMALL, {**EVEN, "c": 0}, 10), "weights must have the names"),
    "weights of nothing": (lambda: MixtureOrder(SMALL, {"a": 0, "b": 0}, 10), "at least one number above 0"),
    "blocks that fit no memory": (lambda: MixtureOrder(SMALL, EVEN, 10**9, block_size=10**12), "block_size must be"),
    "a cap that draws pass": (
        lambda: MixtureOrder(SMALL, EVEN, 10, max_epochs=1),
        r"'a' would be read 1.67 times \(5 draws of 3 windows\), but max_epochs is 1",
    ),
    "a cap that stages pass together": (
        lambda: StagedMixture(SMALL, [(EVEN, 2), (EVEN, 6)], max_epochs=1),
        "'a' would be read 1.33 times",
    ),
    "a cap that is no number": (lambda: MixtureOrder(SMALL, EVEN, 10, max_epochs=math.nan), "max_epochs must be"),
    "no stage": (lambda: StagedMixture(SMALL, []), "stages must hold at least one stage, got none"),
    "a history beyond the end": (lambda: MixtureOrder(SMALL, EVEN, 10).history(11), "position must be"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_plan_that_contradicts_itself_is_refused(what):
    call, words = REFUSED[what]
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("stage", [5, "a3", (EVEN, 3, 4), EVEN])
def test_what_is_no_stage_is_refused(stage):
    with pytest.raises(TypeError, match="each of stages must be a pair"):
        StagedMixture(SMALL, [stage])


@pytest.mark.parametrize("position", [10, -1])
def test_a_position_outside_of_the_order_is_refused(position):
    order = MixtureOrder(SMALL, EVEN, 10)
    for ask in (order.__getitem__, order.sources_at):
        with pytest.raises(IndexError, match=f"positions must lie in 0 ... 9, got {position}"):
            ask(position)
    assert order[[]].shape == (0,)
    assert order[np.zeros((2, 0, 3), dtype=np.uint8)].shape == (2, 0, 3)


def test_orders_of_many_windows_do_not_overflow():
    order = MixtureOrder({"a": 2**61, "b": 2**61}, EVEN, 2**62, block_size=1)
    assert len(order) == 2**62
    assert 0 <= order[2**62 - 1] < 2**62
