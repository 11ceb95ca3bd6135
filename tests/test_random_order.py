"""The shuffled order: a permutation, the same everywhere, and as random as a shuffle should be."""

import functools
import math
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.foundation import RandomOrder, orders
from course_lib.foundation.orders import STORED_UP_TO

SMALL, LARGE = 1_000, 65_539  # an order that is stored, and about the smallest one that is computed


@functools.lru_cache(maxsize=64)
def whole(size: int, seed: int) -> np.ndarray:
    order = RandomOrder(size, seed)[np.arange(size)]
    order.flags.writeable = False  # it is kept for other tests
    return order


# RandomOrder: a permutation, any part of which can be asked for alone


@pytest.mark.parametrize("size", [0, 1, 2, 3, 10, 65_535, 65_536, 65_537, 100_003, 2**17, 300**2, 300**2 + 1])
@pytest.mark.parametrize("seed", [0, 2**80])
def test_it_is_a_permutation(size, seed):
    order = whole(size, seed)
    assert order.dtype == np.int64
    assert np.array_equal(np.sort(order), np.arange(size))


@given(st.integers(0, 300), st.integers(0, 2**70))
@settings(deadline=None, max_examples=60)
def test_the_computed_order_is_a_permutation_at_every_size(size, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(orders, "STORED_UP_TO", -1)  # small orders are computed, too
        assert sorted(whole.__wrapped__(size, seed).tolist()) == list(range(size))


def test_the_largest_order_is_one_to_one_where_it_is_looked_at():
    positions = np.concatenate([np.arange(10_000), 2**62 - 1 - np.arange(10_000)])
    entries = RandomOrder(2**62, 3)[positions]
    assert len(np.unique(entries)) == len(positions)
    assert entries.min() >= 0
    assert entries.max() < 2**62


def test_the_order_is_the_same_on_every_machine_and_release():
    # Written down once. Whoever changes them changes every shuffled epoch that was ever run.
    assert whole(10, 7).tolist() == [6, 2, 3, 7, 8, 0, 1, 5, 4, 9]
    assert RandomOrder(1_000_000, 7)[[0, 1, 2, 3, 999_999]].tolist() == [459615, 496832, 638679, 741807, 33152]
    assert RandomOrder(2**62, 7)[[0, 2**62 - 1]].tolist() == [11927267090127051, 3344219957515587908]


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_it_depends_on_the_seed_alone(size):
    np.random.seed(0)  # noqa: NPY002 - the global generator is what must not matter
    first = whole.__wrapped__(size, 5)
    np.random.seed(1)  # noqa: NPY002
    assert np.array_equal(whole.__wrapped__(size, 5), first)
    assert not np.array_equal(whole(size, 6), first)


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_any_part_of_it_can_be_asked_for_alone(size):
    order, everything = RandomOrder(size, 11), whole(size, 11)
    for positions in (np.array([[5, 0], [7, 5]]), np.array([], dtype=np.int64), [size - 1, 0], np.array([3], np.uint8)):
        got = order[positions]
        assert got.shape == np.shape(positions)
        assert got.tolist() == everything[np.asarray(positions, dtype=np.int64)].tolist()


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_a_single_position_gives_a_single_entry_and_no_warning(size):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        entry = RandomOrder(size, 11)[5]
    assert np.ndim(entry) == 0
    assert int(entry) == whole(size, 11)[5]


@pytest.mark.parametrize("size", [0, 1, SMALL, LARGE])
def test_positions_outside_are_refused(size):
    order = RandomOrder(size, 0)
    assert len(order) == size
    for position in (-1, size):
        with pytest.raises(IndexError, match=rf"positions must lie in 0 \.\.\. {size - 1}, got {position}"):
            order[position]
    # one bad position among good ones, too
    for positions in ([-1, size // 2], [size // 2, size]):
        with pytest.raises(IndexError, match=rf"positions must lie in .*got {positions[0]} \.\.\. {positions[1]}"):
            order[positions]
    with pytest.raises(TypeError, match="positions must be integers"):
        order[[0.5]]


@pytest.mark.parametrize("positions", [[True, 2], slice(0, 3), None, "3", 2**64, np.array([2**63], dtype=np.uint64)])
def test_positions_are_integers_of_64_bits(positions):
    with pytest.raises((TypeError, ValueError), match=r"^positions must (be integers|fit into 64-bit)"):
        RandomOrder(SMALL, 0)[positions]


def test_the_two_regimes_meet_at_65536():
    assert STORED_UP_TO == 65_536
    assert RandomOrder(65_536, 0)._stored is not None
    assert RandomOrder(65_537, 0)._stored is None


# RandomOrder: as random as a shuffle. Seeds are fixed, so each of these passes always or never; the bounds are five
# standard deviations wide, which a fair shuffle leaves once in two million tests.


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize("position", [0, 1, 500])
def test_each_entry_is_uniform_over_seeds(size, position):
    bins, seeds = 10, 2_000
    entries = np.array([int(RandomOrder(size, seed)[position]) for seed in range(seeds)])
    counts = np.bincount(entries * bins // size, minlength=bins)
    chi_square = ((counts - seeds / bins) ** 2 / (seeds / bins)).sum()
    assert chi_square < bins - 1 + 5 * math.sqrt(2 * (bins - 1))


def test_all_orders_of_three_are_equally_likely():
    counts = Counter(tuple(whole(3, seed).tolist()) for seed in range(3_000))
    expected = 3_000 / 6
    assert len(counts) == 6
    assert all(abs(count - expected) < 5 * math.sqrt(expected) for count in counts.values())


@pytest.mark.parametrize("size", [SMALL, LARGE, 2**20])
@pytest.mark.parametrize("seed", range(3))
def test_position_and_entry_are_not_correlated(size, seed):
    order = whole(size, seed)
    bound = 5 / math.sqrt(size)
    assert abs(np.corrcoef(np.arange(size), order)[0, 1]) < bound
    assert abs(np.corrcoef(order[:-1], order[1:])[0, 1]) < bound


@pytest.mark.parametrize("stored_up_to", [STORED_UP_TO, -1])
def test_about_one_entry_stays_in_its_place(stored_up_to, monkeypatch):
    monkeypatch.setattr(orders, "STORED_UP_TO", stored_up_to)  # with -1 the order is computed, however small
    size, seeds = 5_003, 200
    fixed = [int((whole.__wrapped__(size, seed) == np.arange(size)).sum()) for seed in range(seeds)]
    assert abs(np.mean(fixed) - 1) < 5 / math.sqrt(seeds)
    assert abs(np.var(fixed) - 1) < 5 * math.sqrt(3 / seeds)  # the variance of a Poisson(1) sample's variance is 3/n
    assert 0.25 < np.mean(np.equal(fixed, 0)) < 0.5  # 1/e


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_neighbors_in_the_order_are_rarely_neighbors_in_the_stream(size):
    seeds = 50
    together = sum(int((np.abs(np.diff(whole(size, seed))) == 1).sum()) for seed in range(seeds))
    assert abs(together - 2 * seeds) < 5 * math.sqrt(2 * seeds)  # a shuffle has two such pairs on average


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_orders_of_neighboring_seeds_are_unrelated(size):
    seeds = 50
    same = sum(int((whole(size, seed) == whole(size, seed + 1)).sum()) for seed in range(seeds))
    assert abs(same - seeds) < 5 * math.sqrt(seeds)
