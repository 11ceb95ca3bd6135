"""Orders that lesson 11 accepts, and others; numbers and places in words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.auditing_loaders.findings import (
    FINDINGS,
    Findings,
    as_runs,
    counted,
    counted_targets,
    find_weak_shuffle,
    range_words,
    such_as,
)
from course_lib.foundation import AffineOrder, BlockOrder, RandomOrder
from planted_loaders import PLANTED
from readings import from_a_buffer, reading_at

SIZE = 400
ORDERS = {  # and whether an audit should say something
    "the stream's": (np.arange(SIZE), False),
    "a shuffle": (np.array(list(RandomOrder(SIZE, seed=1))), False),
    "blocks": (np.array(list(BlockOrder(SIZE, seed=1, block_size=20, blocks_at_a_time=1))), False),
    "blocks, several at a time": (np.array(list(BlockOrder(SIZE, seed=2, block_size=10, blocks_at_a_time=4))), False),
    "tracks in turn": (np.arange(SIZE).reshape(8, -1).T.ravel(), False),
    "a fixed step": (np.array(list(AffineOrder(SIZE, seed=1))), True),
    "a small fixed step": (7 * np.arange(SIZE + 1) % (SIZE + 1), True),
    "a buffer of 4": (from_a_buffer(SIZE, 4, seed=1), True),
    "a buffer of 40": (from_a_buffer(SIZE, 40, seed=1), True),
}


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("ranks", [1, 2])
def test_an_order_is_one_of_those_that_lesson_11_accepts_or_it_is_said(name, ranks):
    order, is_weak = ORDERS[name]
    found = Findings()
    find_weak_shuffle(reading_at(5 * order[::ranks], num_tokens=5 * SIZE + 20), found)
    assert list(found) == ["weak_shuffle"] * is_weak, found


@pytest.mark.parametrize("seed", range(40))
def test_a_shuffle_is_never_said_to_be_weak(seed):
    found = Findings()
    find_weak_shuffle(reading_at(np.random.default_rng(seed).permutation(50 + seed), num_tokens=100), found)
    assert not found


def test_places_and_numbers_are_written_as_one_says_them():
    assert such_as(np.array([5])) == ": position 5"
    assert such_as(np.array([1, 2, 3, 9, 20])) == ", such as positions 1 ... 3 and 9"
    assert counted_targets(np.array([0, 0, 1])) == "1 target: position 2"
    assert counted_targets(np.array([0, 2, 1])) == "3 targets, such as positions 1 ... 2"
    assert [counted(n, noun) for n in (1, 2_000) for noun in ("row", "batch")] == [
        "1 row", "1 batch", "2,000 rows", "2,000 batches",
    ]  # fmt: skip


@given(st.sets(st.integers(0, 30)))
def test_runs_are_those_of_neighbors(positions):
    told = [each.tolist() for each in as_runs(np.array(sorted(positions), dtype=np.int64))]
    assert [p for each in told for p in each] == sorted(positions)
    assert all(each == list(range(each[0], each[-1] + 1)) for each in told)
    assert all(after[0] > before[-1] + 1 for before, after in pairwise(told))
    assert (range_words([3]), range_words([3, 4, 5])) == ("3", "3 ... 5")


def test_each_finding_is_said_in_a_line_and_planted_three_times():
    planted = [name for case in PLANTED.values() for name in case.names]
    assert all("\n" not in line for line in FINDINGS.values())
    assert min(planted.count(name) for name in FINDINGS) >= 3
    assert set(planted) == set(FINDINGS)
