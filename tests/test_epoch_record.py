"""The columns of what was handed out, beside loops over windows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.auditing_loaders.epoch_record import (
    begin_of_wrap,
    count_passes,
    goes_forward,
    ledger_of,
    merges_tracks,
)
from course_lib.auditing_loaders.loader_calls import read_epoch
from course_lib.foundation import token_ledger
from readings import call_of, reading_of

some_batches = st.lists(st.lists(st.integers(0, 55), min_size=1, max_size=3), min_size=1, max_size=5)


@settings(max_examples=100)
@given(some_batches)
def test_windows_and_their_uses_are_those_of_the_starts(batches):
    reading = reading_of(batches)
    starts = [start for batch in batches for start in batch]
    assert reading.starts.tolist() == reading.rows.first.tolist() == starts
    assert reading.rows.last_target.tolist() == [start + 4 for start in starts]
    assert (reading.num_batches, reading.row_length) == (len(batches), 4)
    assert reading.batch_size == max(map(len, batches))
    assert reading.commonest_ahead == 0
    assert ledger_of([reading]) == token_ledger(starts, 60, 4)
    same = [[one == other for other in starts] for one in starts]
    assert (reading.order[:, None] == reading.order[None]).tolist() == same
    rows = [{"input_ids": 1_000 + np.array(batch)[:, None] + np.arange(5)} for batch in batches]
    call = call_of(lambda ids: [row | {"labels": row["input_ids"]} for row in rows])
    assert np.array_equal(read_epoch(call, call()).targets, reading.targets)  # as the model shifts
    places = [f"row {row} of batch {number}" for number, batch in enumerate(batches) for row in range(len(batch))]
    assert [reading.name_of(row) for row in range(len(starts))] == places


@given(some_batches)
def test_each_place_of_each_row_has_an_entry_in_each_column(batches):
    reading = reading_of(batches, rank=2, world_size=3)
    places, rows = reading.places, reading.rows
    starts = [start for batch in batches for start in batch]
    assert places.tokens.tolist() == [start + place for start in starts for place in range(5)]
    assert places.labels.tolist() == [start + place if place else -1 for start in starts for place in range(5)]
    assert places.context[places.is_target].tolist() == [1, 2, 3, 4] * len(starts)
    assert places.is_input.tolist() == [True, True, True, True, False] * len(starts)
    assert places.begins_window.tolist() == [True, False, False, False, False] * len(starts)
    assert rows.begin.tolist() == list(range(0, 5 * len(starts), 5))
    wanted = [(number, row) for number, batch in enumerate(batches) for row in range(len(batch))]
    assert list(zip(rows.batch.tolist(), rows.row.tolist(), strict=True)) == wanted
    windows = list(zip(reading.windows.first.tolist(), reading.windows.last.tolist(), strict=True))
    assert windows == [(start + 1, start + 4) for start in starts]


@given(some_batches)
def test_it_goes_forward_if_no_place_of_the_batch_goes_back(batches):
    columns = [[batch[place] for batch in batches if place < len(batch)] for place in range(3)]
    reading = reading_of(batches)
    forward = all(column == sorted(column) for column in columns)
    assert reading.goes_forward or not forward
    assert reading.goes_forward == forward or sum(map(len, batches)) >= 8  # then it may be in turn
    assert reading.tracks() == [(min(column), max(column) + 4) for column in columns if column]


@pytest.mark.parametrize("tracks", [2, 3, 5, 7])
def test_tracks_that_are_read_in_turn_go_forward_and_a_shuffle_does_not(tracks):
    in_turn = np.arange(60 * tracks).reshape(tracks, 60).T.ravel() * 16
    one_place = np.zeros(len(in_turn), dtype=int)
    assert goes_forward(in_turn, one_place)
    assert not goes_forward(np.random.default_rng(tracks).permutation(in_turn), one_place)
    assert not goes_forward(in_turn[::-1], one_place)


@pytest.mark.parametrize("seed", range(5))
def test_sources_that_take_turns_go_forward_and_blocks_or_a_shuffle_do_not(seed):
    random = np.random.default_rng(seed)
    source = random.permutation(np.repeat([0, 1, 2], [40, 20, 10]))
    sources = [iter(range(0, 40)), iter(range(40, 60)), iter(range(60, 70))]
    in_turn = np.array([next(sources[number]) for number in source])
    assert merges_tracks(in_turn, 8)
    assert not merges_tracks(in_turn, 2)
    assert not merges_tracks(np.append(in_turn, in_turn[0]), 8)
    assert not merges_tracks(random.permutation(70), 17)
    blocks = np.arange(70).reshape(7, 10)[[3, 1, 0, 6, 2, 5, 4]].ravel()
    assert not merges_tracks(blocks, 17)


def test_a_last_batch_that_goes_on_at_the_beginning_is_cut_off_there():
    order = np.arange(2, 22)
    for end, last_batch, begin in (
        ([0, 1, 2], 18, 20),
        ([0, 1, 2], 20, 20),
        ([2, 3], 18, 20),  # a rank may begin where the stream doesn't
        ([3, 4], 18, 22),  # in the middle
        ([0, 2, 1], 18, 23),  # in no order
        ([], 18, 20),
    ):
        rows = np.append(order, end).astype(int)
        assert begin_of_wrap(rows, last_batch) == begin, end
    assert begin_of_wrap(np.append(order[:5], [0, 1]), 4) == 7  # so few may have been shuffled


@given(st.lists(some_batches, min_size=2, max_size=3))
def test_ranks_are_summed_up(ranks):
    starts = [start for batches in ranks for batch in batches for start in batch]
    assert ledger_of([reading_of(batches) for batches in ranks]) == token_ledger(starts, 60, 4)


@pytest.mark.parametrize("cut", range(1, 12))
def test_passes_begin_where_all_rows_have_come(cut):
    batches = [[0, 4], [8, 12], [16, 20], [24, 28]] * 3
    reading = reading_of(batches, max_batches=cut)
    count_passes([[reading]])
    assert np.asarray(reading.passes).tolist() == [batch // 4 for batch in range(cut) for _ in range(2)]
