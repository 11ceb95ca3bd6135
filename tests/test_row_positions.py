"""Rows whose places are known, beside loops over their places."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.auditing_loaders.batch_rows import read_batch
from course_lib.auditing_loaders.coded_stream import CodedStream
from course_lib.auditing_loaders.row_positions import RowPositions, most_ahead, move_right
from course_lib.foundation import IGNORED

STREAM = CodedStream.of_positions(60)
PAD = 7  # never handed out


def ids_at(positions):
    return [PAD if position < 0 else 1_000 + position for position in positions]


def placed(positions, separator_ids=(), **more):
    batch = read_batch({"input_ids": [ids_at(positions)], **more})
    return RowPositions(batch, STREAM, separator_ids, document_starts=[0, 20])


anywhere, close = st.integers(-1, 59), st.sampled_from([-1, 20, 21, 22])
some_rows = st.lists(anywhere | close, min_size=1, max_size=9) | st.lists(close, min_size=1, max_size=9)


@settings(max_examples=200)
@given(some_rows, st.lists(st.booleans(), min_size=9, max_size=9))
def test_what_came_before_and_what_jumps_are_those_of_a_loop(positions, kept):
    labels = [id if keep else IGNORED for id, keep in zip(ids_at(positions), kept, strict=False)]
    rows = placed(positions, labels=[labels])
    last, before, announced, separated = -1, -1, False, False
    for place, here in enumerate(positions):
        dropped = labels[place] == IGNORED
        announced |= dropped  # also by the label at this place
        assert rows.tokens[0, place] == here
        assert rows.last[0, place] == last
        assert rows.before[0, place] == before
        assert rows.announced[0, place] == announced
        assert rows.separated[0, place] == separated
        jumps = here >= 0 and before >= 0 and here != before + 1
        assert rows.jumps[0, place] == jumps
        if here >= 0:
            begins = before < 0 or jumps or separated or (dropped and here in (0, 20))
            assert rows.opens[0, place] == begins
            last, before, announced, separated = place, here, False, False
        else:
            separated = True


@pytest.mark.parametrize(
    ("positions", "announced"),
    [
        ([0, 1, 2, 8, 9], True),  # as the tokens do
        ([5, 6, 7, 13, 14], True),
        ([0, 1, 2, 3, 4], False),
        ([0, 1, 2, 9, 10], False),
    ],
)
def test_positions_that_jump_as_the_tokens_do_announce_it_unless_the_label_crosses(positions, announced):
    at = [10, 11, 12, 18, 19]
    parts = RowPositions(
        read_batch({"inputs": [ids_at(at)], "targets": [ids_at([p + 1 for p in at])], "position_ids": [positions]}),
        STREAM,
    )
    assert parts.jumps_unannounced.any() != announced
    labels = [ids_at(at)]  # the model shifts, so the token after the jump is predicted from the one before it
    assert placed(at, labels=labels, position_ids=[positions]).jumps_unannounced.any()
    labels[0][3] = IGNORED
    assert placed(at, labels=labels, position_ids=[positions]).jumps_unannounced.any() != announced


@given(some_rows)
def test_what_is_never_handed_out_is_padding_unless_it_separates(positions):
    labels = [ids_at(positions)]
    is_pad = [position < 0 for position in positions]
    assert placed(positions, labels=labels).scores_filler.tolist() == [is_pad]
    assert not placed(positions, (PAD,), labels=labels).scores_filler.any()
    unscored = [[IGNORED if pad else label for pad, label in zip(is_pad, labels[0], strict=True)]]
    assert not placed(positions, labels=unscored).scores_filler.any()
    assert placed(positions, labels=unscored).dropped.tolist() == [is_pad]


@pytest.mark.parametrize("ahead", [-2, -1, 0, 1, 2])
def test_labels_that_are_too_far_ahead_are_told_in_pairs_and_in_mappings(ahead):
    at = np.arange(10, 18)
    pair = RowPositions(read_batch(([ids_at(at)], [ids_at(at + 1 + ahead)])), STREAM)
    mapping = placed(at, labels=[ids_at(at + ahead)])
    for rows in (pair, mapping):
        assert rows.ahead.tolist() == [ahead]
        assert rows.shifted_wrongly.tolist() == [ahead != 0]
        assert not rows.misplaced.any()


def test_one_label_of_another_place_is_misplaced():
    labels = ids_at([10, 11, 40, 13])
    assert placed([10, 11, 12, 13], labels=[labels]).misplaced.tolist() == [[False, False, True, False]]


def test_a_pair_ends_with_its_last_target():
    rows = RowPositions(read_batch(([ids_at([10, 11])], [ids_at([11, 12])])), STREAM)
    assert rows.tokens.tolist() == [[10, 11, 12]]
    assert rows.labels.tolist() == [[-1, 11, 12]]
    assert rows.scored.tolist() == [[False, True, True]]


@given(st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=1, max_size=8))
def test_the_error_of_most_labels_is_a_majority(row):
    ahead, known = (np.array([values]) for values in zip(*row, strict=True))
    (most,) = most_ahead(ahead, known)
    errors = [error for error, is_known in row if is_known]
    if not errors:
        assert np.isnan(most)
        return
    ((error, times),) = Counter(errors).most_common(1)
    assert most == (error if 2 * times > len(errors) and abs(error) <= len(row) else 0)


def test_a_row_that_wraps_round_the_stream_is_not_shifted_by_all_of_it():
    assert most_ahead(np.array([[-99, -99]]), np.array([[True, True]])).tolist() == [0.0]
    assert most_ahead(np.zeros((0, 3)), np.zeros((0, 3), dtype=bool)).tolist() == []


def test_a_row_moves_to_the_right():
    assert move_right(np.array([[1, 2, 3], [4, 5, 6]]), 0).tolist() == [[0, 1, 2], [0, 4, 5]]
