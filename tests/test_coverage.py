"""What is read again and what overlaps, beside loops that count tokens one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.auditing_loaders.coverage import CHANCE, epochs_to_decide, find_overlaps, find_repeats, log_orders
from course_lib.auditing_loaders.findings import Findings
from course_lib.auditing_loaders.loader_calls import Documents, read_epoch
from readings import LENGTH, call_of, reading_at

NO_DOCUMENTS = Documents(np.array([0]), False)


def targets_of(starts) -> Counter:
    return Counter(start + 1 + t for start in starts for t in range(LENGTH))


some_starts = st.lists(st.integers(0, 55), min_size=1, max_size=12)


@settings(max_examples=200)
@given(some_starts)
def test_nothing_is_repeated_that_is_a_target_once_and_equal_windows_are(starts):
    found = Findings()
    find_repeats([reading_at(starts)], NO_DOCUMENTS, found, {})
    if max(targets_of(starts).values()) == 1:
        assert not found
    if len(set(starts)) < len(starts):
        assert found["repeated"].count >= 1
    assert set(found) <= {"repeated"}


@pytest.mark.parametrize("stride", range(1, 6))
@pytest.mark.parametrize("order", [0, 1])
def test_windows_a_stride_apart_overlap_by_design_also_where_some_are_missing(stride, order):
    starts = np.arange(0, 400, stride)
    starts = np.delete(starts, [3, len(starts) // 2])
    starts = np.random.default_rng(order).permutation(starts) if order else starts
    for ranks in (1, 2, 3):
        readings = [reading_at(starts[rank::ranks], num_tokens=420, rank=rank) for rank in range(ranks)]
        found = Findings()
        find_repeats(readings, NO_DOCUMENTS, found, {})
        assert not found, (stride, ranks)


@given(st.integers(4, 7), st.integers(1, 3), st.sets(st.integers(0, 19), min_size=1))
def test_windows_between_those_of_a_stride_are_counted_token_by_token(stride, by, which):
    if 2 * by == stride:  # many of them would be a stride of half of it
        which = sorted(which)[:8]
    starts = stride * np.arange(20)
    extra = [stride * number + by for number in sorted(which)]
    found = Findings()
    find_repeats([reading_at([*starts, *extra], num_tokens=200)], NO_DOCUMENTS, found, {})
    several = targets_of([*starts, *extra])
    assert found["repeated"].count == sum(count - 1 for count in several.values())


def test_a_stride_with_a_dropped_window_and_windows_too_many_look_alike_among_few():
    few = [0, 2, 4, 8]  # a stride of 2 without the window from 6 on, or one of 4 with a window too many
    for starts, size, names, is_open in (
        (few, 2, [], True),
        (few, 1, ["repeated"], False),  # one rank and one row: no step drops a window
        ([*few, 9], 2, ["repeated"], True),  # one that fits neither is not by design
        ([*few, 8], 2, ["repeated"], True),  # a copy is never by design
        ([0, 2, 4, 6, 10], 2, [], False),  # three of four
        (range(0, 9, 4), 2, [], False),
    ):
        found, undecided = Findings(), {}
        find_repeats([reading_at(list(starts), size)], NO_DOCUMENTS, found, undecided)
        assert (list(found), "repeated" in undecided) == (names, is_open), starts
    assert "a stride of 2," in find_open(few)


def find_open(starts):
    undecided = {}
    find_repeats([reading_at(starts, 2)], NO_DOCUMENTS, Findings(), undecided)
    return undecided["repeated"]


@pytest.mark.parametrize("max_batches", [None, 3])
def test_windows_of_other_lengths_may_begin_together(max_batches):
    def make_loader(ids):
        for length in (4, 6, 4):
            at = np.arange(3)[:, None] * 10 + np.arange(length)
            yield ids[at], ids[at + 1]

    call = call_of(make_loader, max_batches=max_batches)
    found = Findings()
    find_repeats([read_epoch(call, call())], NO_DOCUMENTS, found, {})  # a warning would be an error
    assert found["repeated"].count == 3 * (4 + 4)


def test_a_window_moved_back_to_the_end_of_its_document_repeats_nothing():
    documents = Documents(np.array([0, 10, 21]), True)
    starts = [0, 4, 5, 10, 14, 16, 21, 25]  # the last targets of documents are 9, 20 and 29
    for known, names in ((documents, []), (NO_DOCUMENTS, ["repeated"])):
        found = Findings()
        find_repeats([reading_at(starts, num_tokens=30)], known, found, {})
        assert list(found) == names


@settings(max_examples=200)
@given(some_starts, some_starts)
def test_ranks_overlap_in_tokens_that_several_read_more_often_than_one_alone(one, other):
    readings = [reading_at(starts, rank=rank) for rank, starts in enumerate((one, other))]
    counts = [targets_of(one), targets_of(other)]
    for alone in (None, np.full(60, 2)):
        allowed = 1 if alone is None else 2
        wanted = [p for p in range(60) if all(c[p] for c in counts) and sum(c[p] for c in counts) > allowed]
        found = Findings()
        find_overlaps(readings, alone, found)
        assert (found["ranks_overlap"].count if found else 0) == len(wanted)
        if wanted:
            assert f"position {wanted[0]} is a target in" in found["ranks_overlap"].evidence


def test_so_many_epochs_decide_that_no_row_is_dropped_by_chance_in_all_of_them():
    reading = reading_at(np.arange(400), size=100, num_tokens=420)
    epochs = epochs_to_decide([reading])
    dropped, rows = 100, 400
    assert rows * (dropped / rows) ** epochs <= CHANCE < rows * (dropped / rows) ** (epochs - 1)


def test_so_many_epochs_decide_that_a_random_offset_is_not_the_same_in_all_of_them():
    for stride, offsets in ((2, 2), (3, 3), (1, LENGTH)):  # a stride of 1 leaves the offsets below T
        epochs = epochs_to_decide([reading_at(stride * np.arange(100), size=1, num_tokens=400)])
        assert offsets * (1 / offsets) ** epochs <= CHANCE < offsets * (1 / offsets) ** (epochs - 1)


def test_rows_that_look_like_tracks_have_so_many_orders():
    reading = reading_at(10 * np.arange(5), size=2)  # three rows at one place of the batch, two at the other
    assert np.exp(log_orders([reading])) == pytest.approx(6 * 2)
    assert np.exp(log_orders([reading, reading])) == pytest.approx(12 * 12)
