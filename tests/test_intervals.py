"""The interval by which all lessons judge a difference."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.foundation import Interval, confidence_interval
from course_lib.foundation.intervals import t_quantile

# t_quantile


@pytest.mark.parametrize("degrees", [*range(1, 33), 60, 1000])
def test_quantiles_of_student_leave_five_percent_outside(degrees):
    # The density of Student's t, integrated by the trapezoidal rule.
    quantile = t_quantile(degrees)
    t = np.linspace(-quantile, quantile, 200_001)
    factor = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    density = factor * (1 + t**2 / degrees) ** (-(degrees + 1) / 2)
    assert np.trapezoid(density, t) == pytest.approx(0.95, abs=2e-5)


# confidence_interval, Interval


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=40))
def test_an_interval_is_the_one_of_the_textbook(values):
    mean, half_width = confidence_interval(values)
    assert mean == pytest.approx(statistics.mean(values), abs=1e-9)
    expected = t_quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    assert half_width == pytest.approx(expected, abs=1e-9)


def test_an_interval_is_written_as_in_the_lessons():
    assert f"{confidence_interval([3.1, 3.3, 3.2]):.2f}" == "3.20 [2.95, 3.45]"
    assert f"{Interval(0.5, 0.25):+.1f}" == "+0.5 [+0.2, +0.8]"
    assert f"{Interval(-0.001, 0.2):.2f}" == "0.00 [-0.20, 0.20]"  # and not -0.00


@pytest.mark.parametrize(
    ("interval", "clear"),
    [((0.2, 0.1), True), ((-0.2, 0.1), True), ((0.1, 0.1), False), ((0.1, 0.2), False), ((0, 0), False)],
)
def test_a_difference_is_clear_where_the_interval_excludes_zero(interval, clear):
    assert Interval(*interval).excludes_zero == clear


@pytest.mark.parametrize("value", [0.1, -3.7, 1e6])
def test_equal_values_are_not_clear(value):
    # They come from runs with the same seed, and say nothing about others.
    assert not confidence_interval([value] * 3).excludes_zero
    assert confidence_interval([value, value, value * 1.001]).excludes_zero


def test_ninety_five_of_a_hundred_intervals_hold_the_mean_that_they_estimate():
    runs = np.random.default_rng(0).normal(7, 2, size=(4000, 5))
    held = [abs(mean - 7) <= half_width for mean, half_width in map(confidence_interval, runs)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.015)


def test_in_pairs_what_the_runs_have_in_common_cancels():
    common = np.random.default_rng(1).normal(0, 10, 8)
    ours, theirs = common + 0.5, common + np.linspace(0, 0.1, 8)
    assert confidence_interval(ours - theirs).excludes_zero
    assert confidence_interval(ours).half_width > 5


def test_integers_of_8_bits_do_not_overflow():
    assert confidence_interval(np.array([250, 252], np.uint8)).mean == 251


@pytest.mark.parametrize(
    "values", [[1.0], [[1.0, 2.0]], 3.0, [1.0, math.nan], [1.0, -math.inf], ["1", "2"], [True, False], [None, 1.0]]
)
def test_an_interval_takes_finite_numbers_of_at_least_two_runs(values):
    with pytest.raises(
        (TypeError, ValueError), match=r"^values must be (one number for each of at least 2 runs|finite|numbers)"
    ):
        confidence_interval(values)
