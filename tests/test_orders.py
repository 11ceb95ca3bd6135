"""Orders of an epoch: each visits everything once, which says nothing about how well it mixes."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.foundation import (
    AffineOrder,
    BlockOrder,
    FileOrder,
    RandomOrder,
    measure_mixing,
)
from readings import from_a_buffer

ORDERS = [FileOrder, AffineOrder, BlockOrder, partial(BlockOrder, block_size=5, blocks_at_a_time=3), RandomOrder]

SIZE = 2**20

MEASURED = 2**13


# FileOrder, AffineOrder, BlockOrder


@settings(max_examples=25)
@given(st.integers(0, 400), st.integers(0, 2**40), st.integers(1, 50), st.integers(1, 9))
def test_every_order_visits_everything_once_and_any_position_alone(size, seed, block_size, blocks):
    for make in (FileOrder, AffineOrder, partial(BlockOrder, block_size=block_size, blocks_at_a_time=blocks)):
        order = make(size, seed)
        entries = order[np.arange(size)]
        assert len(order) == size
        assert entries.dtype == np.int64
        assert sorted(entries.tolist()) == list(range(size))
        some = np.arange(size)[::-3].reshape(1, -1)
        assert np.array_equal(make(size, seed)[some], entries[some])


@pytest.mark.parametrize("make", ORDERS)
def test_orders_far_beyond_memory(make):
    order, where = make(2**62, 5), np.array([0, 2**62 - 1, 3, 2**61])
    entries = order[where]
    assert len(set(entries.tolist())) == 4
    assert [int(order[int(position)]) for position in where] == entries.tolist()
    assert entries.min() >= 0
    with pytest.raises(IndexError, match="positions must lie in"):
        order[2**62]


@pytest.mark.parametrize("make", ORDERS)
@pytest.mark.parametrize("positions", [5, -1, [0, 5], 0.5, True, slice(0, 3)])
def test_positions_outside_are_refused(make, positions):
    with pytest.raises((IndexError, TypeError), match=r"^positions must (lie in 0 \.\.\. 4, got|be integers)"):
        make(5, 0)[positions]


def test_blocks_may_be_as_many_and_as_long_as_one_likes():
    for settings_ in ({"block_size": 10**30, "blocks_at_a_time": 10**30}, {"block_size": 1, "blocks_at_a_time": 1}):
        assert sorted(BlockOrder(10, 3, **settings_)[np.arange(10, dtype=np.int8)]) == list(range(10))
    assert len({*BlockOrder(2**62, 3, block_size=2**63, blocks_at_a_time=2**63)[np.arange(10)].tolist()}) == 10
    for make in (AffineOrder, BlockOrder):
        with pytest.raises(ValueError, match=r"^size must be"):
            make(2**63, 0)


def test_a_block_order_reads_a_few_blocks_at_a_time():
    size, block_size, blocks = 100_003, 50, 8
    order = BlockOrder(size, 3, block_size=block_size, blocks_at_a_time=blocks)
    entries, group = order[np.arange(size)], block_size * blocks
    for first in range(0, size - group, group):
        block = np.unique((entries[first : first + group] - order._shift) % size // block_size)
        assert len(block) == blocks
    inside = entries[:group]
    assert not np.array_equal(inside, np.sort(inside))


def test_what_a_block_order_leaves_for_the_end_differs_from_seed_to_seed():
    ends = {
        tuple(sorted(BlockOrder(103, seed, block_size=10, blocks_at_a_time=1)[np.arange(100, 103)]))
        for seed in range(20)
    }
    assert len(ends) > 10


# measure_mixing


def test_measures_of_mixing_tell_a_permutation_from_a_shuffle():
    positions = np.arange(MEASURED)
    found = {
        make.__name__: measure_mixing(make(SIZE, 4)[positions], SIZE)
        for make in (FileOrder, AffineOrder, BlockOrder, RandomOrder)
    }
    found["buffer"] = measure_mixing(from_a_buffer(SIZE, 1_000, seed=4)[:MEASURED], SIZE)
    shuffled = found["RandomOrder"]
    assert abs(shuffled.correlation) < 0.05
    assert abs(shuffled.distance - 1 / 3) < 0.02
    assert shuffled.distinct_steps > 0.98
    assert shuffled.predicted < 0.55
    assert abs(shuffled.together - MEASURED / SIZE) < 0.01
    affine = found["AffineOrder"]
    assert affine.distinct_steps == 1 / (MEASURED - 1)  # always the same step
    assert affine.predicted == 1  # of 2**20 entries
    assert found["FileOrder"].correlation > 0.999
    assert found["FileOrder"].together > 0.99
    assert found["buffer"].distance < 0.01
    blocks = found["BlockOrder"]
    assert abs(blocks.correlation) < 0.1
    assert blocks.together > 0.3  # half of the first group: a neighbor is there, too, every other time


def test_entries_that_are_few_or_equal_or_of_8_bits_are_measured():
    assert measure_mixing([0, 1, 2], 3).together == 2 / 3
    assert measure_mixing([0, 0, 0], 3).correlation == 1
    assert measure_mixing(np.array([100, 0, 100], dtype=np.int8), 101).distance == 100 / 101


@pytest.mark.parametrize("entries", [[0, 1], [[0, 1, 2]], [0, 1, 3], [0, 1, -1]])
def test_entries_are_three_or_more_of_those_there_are_in_one_row(entries):
    with pytest.raises(ValueError, match=r"^entries must (be three or more.* in one row|lie in 0 ... 2)"):
        measure_mixing(entries, 3)
