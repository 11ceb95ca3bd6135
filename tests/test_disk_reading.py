"""What a disk reads: the pages that an order needs, and a buffer that reads from the front."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.foundation import BlockOrder, RandomOrder
from course_lib.token_shards.disk_reading import pages_read, through_a_buffer
from readings import from_a_buffer

# through_a_buffer


@given(st.integers(0, 60), st.integers(1, 70), st.integers(0, 3))
def test_a_buffer_hands_out_everything_once_and_nothing_more_than_its_size_early(size, buffer_size, seed):
    came = from_a_buffer(size, buffer_size, seed).tolist()
    assert sorted(came) == list(range(size))
    assert all(item - place < buffer_size for place, item in enumerate(came))
    assert came == list(through_a_buffer(iter(range(size)), buffer_size, seed=seed))
    if buffer_size == 1:
        assert came == list(range(size))


def test_a_buffer_of_all_is_a_shuffle_and_a_small_one_is_late_at_times():
    came = np.array([from_a_buffer(6, 6, seed) for seed in range(3_000)])
    assert abs((came == np.arange(6)).mean() - 1 / 6) < 0.02
    late = np.arange(2_000) - from_a_buffer(2_000, 10, 0)
    assert late.min() == -9
    assert 30 < late.max() < 200


def test_a_buffer_reads_no_further_than_it_must():
    read = []
    shuffled = through_a_buffer((read.append(number) or number for number in range(100)), 10)
    assert not read
    next(shuffled)
    assert len(read) == 11
    assert list(through_a_buffer([], 3)) == []


# pages_read


def test_pages_are_read_once_in_the_order_of_the_file_and_over_and_over_in_a_shuffle():
    context_length, windows = 1_023, 4_096  # of 1,024 ids, 2 KiB: two windows are a page
    starts = np.arange(windows) * (context_length + 1)
    read = partial(pages_read, context_length=context_length, cached_pages=256)
    assert read(starts) == (windows // 2, 1)
    full = starts[RandomOrder(windows, 1)[np.arange(windows)]]
    assert 0.8 * windows < read(full)[0] <= windows
    blocks = starts[BlockOrder(windows, 1, block_size=64, blocks_at_a_time=4)[np.arange(windows)]]
    pages, jumps = read(blocks)
    # a block that begins in the middle of a page shares it with the one before
    assert windows // 2 <= pages <= windows // 2 + windows // 64
    assert jumps <= pages
    assert pages_read(full, context_length, cached_pages=10**6)[0] == windows // 2
    assert pages_read([0, 4_095], 1, cached_pages=1, bytes_per_id=1) == (2, 1)  # over the end of a page
    assert pages_read([], 1, cached_pages=1) == (0, 0)


def test_pages_of_the_largest_files_do_not_overflow():
    assert pages_read([0, 2**40], 4, cached_pages=1) == (2, 2)
    assert pages_read([2**62 - 5], 4, cached_pages=2**64) == (1, 1)
    narrow = {"cached_pages": 9, "bytes_per_id": 1, "page_bytes": 100}
    assert pages_read(np.array([120], dtype=np.int8), 100, **narrow) == (2, 1)


@pytest.mark.parametrize(
    ("starts", "context_length", "settings_", "words"),
    [
        ([-1], 4, {}, "starts must not be negative"),
        ([2**62], 4, {}, "starts must .* whose bytes can be counted in 64 bits"),
        ([2**63 - 1], 1, {"bytes_per_id": 1}, "starts must .* whose bytes can be counted in 64 bits"),
        ([0], 2**40, {}, ".* at most 100,000,000 pages"),
        ([], 2**63, {}, "context_length must be"),
        ([0], 4, {"bytes_per_id": 2**63}, "bytes_per_id must be"),
        ([0], 4, {"page_bytes": 0}, "page_bytes must be"),
        ([0], 4, {"page_bytes": 2**63}, "page_bytes must be"),
    ],
)
def test_pages_that_cannot_be_counted_are_refused(starts, context_length, settings_, words):
    with pytest.raises(ValueError, match=rf"^{words}"):
        pages_read(starts, context_length, cached_pages=1, **settings_)
