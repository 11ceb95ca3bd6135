"""Which source next, and how often: shares to within one draw, and weights by temperature or under a cap."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.exercises.mixing_sources import next_source
from course_lib.experiments import mixing_sources as experiments
from course_lib.foundation import AttentionModel, match_probability
from course_lib.mixing_sources import (
    MixedWindows,
    MixtureOrder,
    capped_weights,
    draw_sources,
    make_mixture_loader,
    temperature_weights,
)
from course_lib.sliding_windows import SlidingWindowDataset
from course_lib.teaching import evaluate, train

NAMES = "abcdef"
some_weights = st.lists(st.integers(0, 9) | st.floats(0, 1), min_size=1, max_size=6).filter(any)


def shares_of(weights: list[float]) -> np.ndarray:
    return np.array(weights, dtype=float) / math.fsum(weights)


def blocks_of(draws: np.ndarray, size: int) -> list[np.ndarray]:
    return [draws[begin : begin + size] for begin in range(0, len(draws), size)]


# Which source next?


@settings(max_examples=80)
@given(some_weights, st.integers(0, 300), st.integers(1, 40), st.integers(0, 3))
def test_each_block_holds_its_shares_to_within_one(weights, num_draws, block_size, seed):
    draws = draw_sources(weights, num_draws, block_size=block_size, base_seed=seed)
    assert draws.dtype == np.int64
    assert draws.shape == (num_draws,)
    for block in blocks_of(draws, block_size):
        counts = np.bincount(block, minlength=len(weights))
        assert np.all(np.abs(counts - shares_of(weights) * len(block)) < 1 + 1e-9)
        assert not counts[np.array(weights) == 0].any()


def test_rounding_is_not_the_same_in_all_blocks():
    weights = [0.0004, 0.4, 0.5996]
    counts = np.bincount(draw_sources(weights, 10**6))
    assert np.all(np.abs(counts - np.array(weights) * 10**6) <= 12)
    # and a share of less than one draw in a block comes in 2 blocks of 5, never long before or after its turn
    rare = [int((block == 0).sum()) for block in blocks_of(draw_sources(weights, 10**6), 1_000)]
    assert set(rare) == {0, 1}
    assert np.abs(np.cumsum(rare) - 0.4 * np.arange(1, 1_001)).max() < 5


def test_draws_are_shuffled_inside_a_block_and_differ_by_block_and_seed():
    draws = blocks_of(draw_sources([1, 1], 4_000), 1_000)
    assert len({block.tobytes() for block in draws}) == 4
    assert all(440 < (np.diff(block) != 0).sum() < 560 for block in draws)  # as tosses of a coin
    assert not np.array_equal(draw_sources([1, 1], 99), draw_sources([1, 1], 99, base_seed=1))


def test_random_draws_are_independent():
    draws = draw_sources([0, 3, 1, 0], 40_000, method="random", base_seed=5)
    assert set(draws.tolist()) == {1, 2}
    spread = math.sqrt(40_000 * 3 / 16)
    assert abs((draws == 2).sum() - 10_000) < 4 * spread
    assert abs(((draws[1:] == 2) & (draws[:-1] == 2)).sum() - 2_500) < 4 * 50
    counts = [(block == 2).sum() for block in blocks_of(draws, 1_000)]
    assert max(counts) - min(counts) > 10  # which blocks would not allow


def largest_lag(sources: int) -> float:
    """1/2 + 1/3 + ... + 1/S, the bound of any lag: call f(k) = 1/(k+1) + ... + 1/S a bound of the mean lag of any k.

    It holds for all S, whose lags add up to 0. If a draw takes one of the k, their sum does not grow. If it takes
    another, that one lagged at least as much as each of them, so their mean is at most that of all k + 1 before it was
    taken, f(k + 1) + 1/(k + 1) = f(k).
    """
    return sum(1 / k for k in range(2, sources + 1))


@settings(max_examples=80)
@given(some_weights, st.integers(0, 200))
def test_largest_error_takes_the_source_most_behind(weights, num_draws):
    draws, shares = draw_sources(weights, num_draws, method="largest_error"), shares_of(weights)
    got = [0.0] * len(weights)
    for number, source in enumerate(draws.tolist(), start=1):
        behind = [share * number - mine for share, mine in zip(shares, got, strict=True)]
        assert behind[source] >= max(behind) - 1e-9
        got[source] += 1
        assert max(np.array(got) - shares * number) <= 1
        assert max(shares * number - np.array(got)) <= largest_lag(len(weights)) + 1e-9  # below 2, up to 10 sources


@pytest.mark.parametrize("weights", [[6, 3, 1], [4, 1, 1], [1, 1, 1]])
def test_ties_go_to_the_first_source_as_in_the_exercise(weights):
    counts, by_whole_numbers = [0] * len(weights), []
    for _ in range(2_000):
        by_whole_numbers.append(next_source(weights, counts))
        counts[by_whole_numbers[-1]] += 1
    assert draw_sources(weights, 2_000, method="largest_error").tolist() == by_whole_numbers


# Found by hill climbing: 4 and 33 sources, rare ones among frequent ones, whose turns come at the worst time.
FOUR = [0.492527053, 0.492527053, 0.000679710204, 0.014266184]
MANY = """0.48713027 0.000558776069 1.87400531e-05 0.0166132014 0.00301091018 0.48713027 1.87261994e-05 0.000559417095
1.72116423e-05 0.000559655734 1.88137786e-05 0.000559340899 0.000102399466 1.87918655e-05 1.88315785e-05 0.000103224318
0.000101877223 0.000103224069 0.00301029168 0.000102167668 1.88160418e-05 1.90402648e-05 1.87088409e-05 1.8623186e-05
1.87003197e-05 1.88472233e-05 1.79951992e-05 1.88472233e-05 1.90866248e-05 1.88668758e-05 1.87209764e-05 1.88657171e-05
1.87396778e-05"""


@pytest.mark.parametrize(
    ("weights", "num_draws", "lag"), [(FOUR, 400, 1.07), ([*map(float, MANY.split())], 38_100, 2.15)], ids=["4", "33"]
)
def test_largest_error_never_leads_by_more_than_one_but_may_lag_by_more(weights, num_draws, lag):
    draws, shares = draw_sources(weights, num_draws, method="largest_error"), shares_of(weights)
    ahead = np.cumsum(draws[:, None] == np.arange(len(weights)), axis=0)
    ahead = ahead - shares * np.arange(1, num_draws + 1)[:, None]
    assert ahead.max() <= 1
    assert lag < -ahead.min() <= largest_lag(len(weights))


# How often?


@given(st.dictionaries(st.sampled_from(NAMES), st.integers(0, 10**30), min_size=1).filter(lambda s: any(s.values())))
def test_temperature_weights(sizes):
    total = sum(sizes.values())
    assert temperature_weights(sizes, 1) == pytest.approx({name: size / total for name, size in sizes.items()})
    present = [name for name in sizes if sizes[name]]
    level = temperature_weights(sizes, 1e12)
    assert level == pytest.approx({name: (sizes[name] > 0) / len(present) for name in sizes})
    for temperature in (0.3, 2, 3.3):
        weights = temperature_weights(sizes, temperature)
        assert sum(weights.values()) == pytest.approx(1)
        for one, other in product(present, present):
            wanted = (math.log(sizes[one]) - math.log(sizes[other])) / temperature
            if weights[one] > 1e-300 and weights[other] > 1e-300:
                assert math.log(weights[one] / weights[other]) == pytest.approx(wanted, abs=1e-6)


@given(
    sizes=st.dictionaries(st.text(max_size=3), st.integers(1, 50), min_size=1, max_size=6),
    cap=st.integers(1, 5),
    part=st.floats(0.01, 1),
)
def test_capped_weights_are_equal_up_to_the_cap(sizes, cap, part):
    num_draws = max(1, int(part * cap * sum(sizes.values())))
    weights = capped_weights(sizes, num_draws, cap)
    assert list(weights) == list(sizes)
    assert sum(weights.values()) == pytest.approx(1)
    draws = {name: weight * num_draws for name, weight in weights.items()}
    assert all(draws[name] <= cap * sizes[name] + 1e-6 for name in sizes)
    free = [draws[name] for name in sizes if draws[name] < cap * sizes[name] - 1e-6]
    # who is not full has the same as the others that are not, and no less than any that is
    assert free == pytest.approx([max(draws.values())] * len(free))


# What is refused

REFUSED = {
    "sizes of nothing": (lambda: temperature_weights({"a": 0}, 1), "sizes must hold at least one number above 0"),
    "a size below 0": (lambda: temperature_weights({"a": -1}, 1), "each of sizes must be"),
    "more than the cap allows": (lambda: capped_weights({"a": 10, "b": 1}, 12, 1), "num_draws must be at most 11"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_weights_that_say_nothing_are_refused(what):
    call, words = REFUSED[what]
    with pytest.raises(ValueError, match=words):
        call()


# The experiments: the same loops as a reader would write them, on short texts.

V, T, B = 50, 8, 4


def test_a_source_is_repeated_as_by_hand():
    ids = np.arange(3000) * 7 % V
    others, source, new_text = {"one": ids[:900], "two": ids[900:1500]}, ids[1500:2461], ids[2500:2700]
    readings = {"often": (10, 4, 1 / 2), "once": (20, 1, 1 / 4)}
    how = {"vocab_size": V, "learning_rate": 0.02, "seeds": (3, 5)}
    found = experiments.train_with_repeats(others, source, new_text, readings, T, B, **how)
    # 10 of 120 windows: every twelfth, and the second run begins with window 1.
    # Read 4 times, they are half of 80 draws, or 20 steps.
    few = SlidingWindowDataset(source[T:], T, 12 * T)
    assert len(few) == 10
    mixed = MixedWindows({**{name: SlidingWindowDataset(each, T, T) for name, each in others.items()}, "repeated": few})
    mixture = MixtureOrder(mixed.num_windows, {"one": 1, "two": 1, "repeated": 2}, 80, base_seed=5)
    assert mixture.report()["repeated"].epochs == 4
    torch.manual_seed(5)
    model = AttentionModel(V, positions="rotary")
    train(model, make_mixture_loader(mixed, mixture, B), num_updates=20, learning_rate=0.02, progress=False)
    assert found["often"].new_text[1] == pytest.approx(evaluate(model, new_text, T).bits_per_token)
    losses = [evaluate(model, source[start:][: T + 1], T).bits_per_token for start in T * np.arange(1, 120, 12)]
    assert found["often"].seen[1] == pytest.approx(np.mean(losses))


def test_two_readings_are_compared_run_by_run():
    losses = lambda *new_text: experiments.Losses(np.array(new_text), np.array(new_text) - 1)
    # The runs differ far more than the readings do, so only the differences between pairs of runs can tell.
    runs = {"once": losses(5.0, 7.0, 9.0), "often": losses(5.4, 7.5, 9.6), "either": losses(6.0, 6.0, 9.0)}
    found = experiments.compare_readings(runs, "once", "often")
    assert found.change.mean == pytest.approx(0.5)
    assert found.change.half_width == pytest.approx(4.303 * 0.1 / math.sqrt(3), abs=1e-3)
    assert found.rows == [["once", "7.00", "6.00", ""], ["often", "7.50", "6.50", f"{found.change:+.2f}"]]
    asked = {("once", "often"): "rises", ("often", "once"): "falls", ("once", "either"): "not clear"}
    assert {pair: experiments.compare_readings(runs, *pair).verdict for pair in asked} == asked


def test_pairs_are_found_as_often_as_the_formula_says():
    found = experiments.share_of_pairs_found([0, 40, 60], 32, num_pairs=100)
    assert found[0] == 0
    assert found[1] == pytest.approx(match_probability(np.array([0.5]), rows=4, num_bands=32)[0], abs=0.12)
    assert found[2] == 1
