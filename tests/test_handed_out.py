"""The columns of what was handed out, beside loops over windows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.auditing_loaders.handed_out import count_passes, goes_forward, ledger_of
from course_lib.auditing_loaders.loader_reading import read_epoch
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
