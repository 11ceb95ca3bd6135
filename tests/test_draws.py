"""Draws in blocks: counted at once as one by one, however far, and seeds that no release changes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.mixing_sources.draws import FRACTION_BITS, SHIFT, DrawBlocks, check_weights, seed_of

some_weights = st.lists(st.integers(0, 9) | st.floats(0, 1), min_size=1, max_size=8).filter(any)


def mirrored(number: int) -> int:
    return int(f"{number:0{FRACTION_BITS}b}"[::-1], 2)


@settings(max_examples=80)
@given(some_weights, st.integers(1, 2_000), st.integers(1, 50))
def test_draws_before_a_block_are_the_sum_of_its_counts(weights, num_draws, size):
    blocks = DrawBlocks(weights, num_draws, size, 0)
    counts = [blocks.counts(block) for block in range(blocks.count)]
    before = np.zeros(len(weights), dtype=np.int64)
    for block, mine in enumerate(counts):
        assert blocks.drawn_before(block).tolist() == before.tolist()
        assert mine.sum() == blocks.length(block)
        before += mine
    assert sum(map(blocks.length, range(blocks.count))) == before.sum() == num_draws
    wanted = check_weights(weights) * num_draws
    assert np.all(np.abs(before - wanted) < 2 + np.log2(blocks.count))  # the rounding evens out


@settings(max_examples=60)
@given(some_weights, st.integers(0, 2**62 - 100), st.integers(1, 60))
def test_however_far_a_block_begins_where_the_one_before_it_ends(weights, block, size):
    block = block // size
    blocks = DrawBlocks(weights, min(2**62, (block + 2) * size), size, 0)
    before, after = blocks.drawn_before(block), blocks.drawn_before(block + 1)
    assert (after - before).tolist() == blocks.counts(block).tolist()
    assert before.sum() == block * size
    assert np.all(np.abs(before - check_weights(weights) * block * size) <= 100 + block * size * 2.0**-50)


@settings(max_examples=40)
@given(some_weights, st.integers(1, 400), st.integers(1, 50))
def test_draws_are_numbered_as_a_loop_numbers_them(weights, num_draws, size):
    blocks, drawn = DrawBlocks(weights, num_draws, size, "seed", 3), [0] * len(weights)
    for block in range(blocks.count):
        sources, numbers = blocks.numbered(block)
        assert sources.tolist() == blocks.sources(block).tolist()
        assert np.bincount(sources, minlength=len(weights)).tolist() == blocks.counts(block).tolist()
        for source, number in zip(sources.tolist(), numbers.tolist(), strict=True):
            assert number == drawn[source]
            drawn[source] += 1


def test_a_block_rounds_at_points_that_fill_the_interval_evenly():
    points = np.array([mirrored(block) ^ SHIFT for block in range(256)]) / 2.0**FRACTION_BITS
    assert np.floor(np.sort(points) * 256).tolist() == list(range(256))
    blocks = DrawBlocks([0.37, 0.63], 256, 1, 0)
    assert [int(blocks.counts(block)[0]) for block in range(256)] == [int(point >= 0.63) for point in points]


def test_a_short_last_block_is_full_where_the_point_is_next_to_1():
    size = 2**20
    block = mirrored(~SHIFT & (2**FRACTION_BITS - 1)) % 2**41  # its point agrees with 1 in 41 digits
    blocks = DrawBlocks([1, 2, 4], block * size + size - 1, size, 0)
    counts = blocks.counts(block)
    assert blocks.count == block + 1
    assert counts.sum() == blocks.length(block) == size - 1
    assert np.all(np.abs(counts - check_weights([1, 2, 4]) * (size - 1)) < 1)


def test_shares_do_not_depend_on_weights_of_0_among_them():
    weights = [1 / (k + 3) for k in range(40)]
    with_zeros = check_weights([w for weight in weights for w in (weight, 0)])
    assert with_zeros[::2].tolist() == check_weights(weights).tolist()
    assert check_weights([3, 1]).tolist() == [0.75, 0.25]
    assert check_weights([1e308] * 4).tolist() == [0.25] * 4
    assert check_weights(iter([5e-324, 5e-324])).tolist() == [0.5, 0.5]


def test_a_seed_is_the_same_wherever_its_parts_come_from():
    assert seed_of(7, "source", "a", 0) == 6182532990781876778
    assert seed_of(np.int16(7), np.str_("source"), "a", np.uint64(0)) == seed_of(7, "source", "a", 0)
    assert len({seed_of(1, "a"), seed_of("1", "a"), seed_of("a", 1), seed_of(1, "a", 0), seed_of()}) == 5
    assert seed_of("\ud800") != seed_of("\udfff")  # a name that has no bytes in UTF-8
    with pytest.raises(TypeError, match="each part of a seed must be an integer"):
        seed_of(1.0)


@pytest.mark.parametrize(
    ("num_draws", "size", "ask", "words"),
    [
        (10, 4, lambda blocks: blocks.counts(3), r"block must .*2, got 3"),
        (10, 4, lambda blocks: blocks.drawn_before(3), "block must be"),
        (0, 4, lambda blocks: blocks.counts(0), "block must be"),
        (10**9, 10**12, None, r"block_size must be .*16,777,216"),
    ],
)
def test_a_block_that_is_not_there_or_fits_no_memory_is_refused(num_draws, size, ask, words):
    with pytest.raises(ValueError, match=words):
        ask(DrawBlocks([1, 3], num_draws, size))


def test_a_block_is_no_longer_than_all_draws():
    assert DrawBlocks([1, 3], 7, 10**12).size == 7
    assert DrawBlocks([1, 3], 0, 4).count == 0


@pytest.mark.parametrize("weights", [[], [0, -0.0], [1, float("nan")], [float("inf")], [1, -1], [10**400]])
def test_weights_that_are_no_shares_are_refused(weights):
    with pytest.raises(ValueError, match=r"at least one number above 0|each of weights must be"):
        check_weights(weights)
