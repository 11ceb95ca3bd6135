"""The table of what was handed out, beside loops over windows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.auditing_loaders.handed_out import PLACE, count_turns, goes_forward, ledger_of
from course_lib.auditing_loaders.loader_reading import read_epoch
from course_lib.foundation import token_ledger
from test_loader_reading import call_of, reading_of

some_batches = st.lists(st.lists(st.integers(0, 55), min_size=1, max_size=3), min_size=1, max_size=5)


@settings(max_examples=100)
@given(some_batches)
def test_windows_and_their_uses_are_those_of_the_starts(batches):
    reading = reading_of(batches)
    starts = [start for batch in batches for start in batch]
    assert reading.starts.tolist() == reading.firsts.tolist() == starts
    assert reading.lasts.tolist() == [start + 4 for start in starts]
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
    assert [reading.place_of(row) for row in range(len(starts))] == places


@given(some_batches)
def test_each_place_of_each_row_has_a_record(batches):
    table = reading_of(batches, rank=2, world_size=3).table
    assert table.dtype == PLACE
    told = zip(*(table[name].tolist() for name in ("rank", "batch", "row", "place", "position", "label")), strict=True)
    wanted = [
        (2, batch, row, place, start + place, start + place if place else -1)
        for batch, starts in enumerate(batches)
        for row, start in enumerate(starts)
        for place in range(5)
    ]
    assert list(told) == wanted
    assert table["context"][table["scored"]].tolist() == [1, 2, 3, 4] * (len(wanted) // 5)
    assert table["opens"].tolist() == (table["place"] == 0).tolist()


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
def test_turns_begin_where_all_rows_have_come(cut):
    batches = [[0, 4], [8, 12], [16, 20], [24, 28]] * 3
    reading = reading_of(batches, max_batches=cut)
    count_turns([[reading]])
    assert np.asarray(reading.turns).tolist() == [batch // 4 for batch in range(cut) for _ in range(2)]
