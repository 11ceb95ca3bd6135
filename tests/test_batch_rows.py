"""Batches as rows: the same from tensors, arrays and lists, and masks as a loop over places reads them."""

import re
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.auditing_loaders.batch_rows import NO_ID, Numbers, Table, read_batch, type_of_labels
from course_lib.foundation import IGNORED

shapes = st.tuples(st.integers(1, 4), st.integers(1, 7))
KINDS = (torch.from_numpy, np.asarray, np.ndarray.tolist, lambda rows: [torch.from_numpy(row) for row in rows])


def ids_of(shape, first=5):
    return first + np.arange(np.prod(shape)).reshape(shape)


@given(shapes, st.sampled_from(KINDS), st.sampled_from(KINDS))
def test_the_targets_of_a_pair_stand_one_place_further(shape, of_inputs, of_targets):
    inputs, targets = ids_of(shape), ids_of(shape, 500)
    batch = read_batch((of_inputs(inputs), of_targets(targets)))
    assert batch.is_pair
    named = {"inputs": of_inputs(inputs), "targets": of_targets(targets)}
    assert np.array_equal(read_batch(named).labels, batch.labels)
    masked = read_batch(named | {"attention_mask": inputs % 2})
    assert np.array_equal(masked.judged[:, 1:], inputs % 2), "what predicts a label is the input before"
    assert np.array_equal(batch.inputs[:, :-1], inputs)
    assert np.array_equal(batch.labels[:, 1:], targets)
    assert (batch.inputs[:, -1] == NO_ID).all()
    assert (batch.labels[:, 0] == IGNORED).all()
    assert batch.is_kept.all()
    assert not batch.begins.any()
    assert np.array_equal(batch.scored, batch.labels != IGNORED)


@given(shapes, st.sampled_from(KINDS))
def test_a_mapping_is_read_as_it_stands_with_labels_or_without(shape, kind):
    ids = ids_of(shape)
    alone = read_batch({"input_ids": kind(ids)})
    assert np.array_equal(alone.inputs, ids)
    assert alone.labels is None
    assert alone.scored.all()
    both = read_batch({"input_ids": kind(ids), "labels": kind(np.where(ids % 3, ids, IGNORED))})
    assert np.array_equal(both.scored, ids % 3 > 0)


@given(st.lists(st.integers(1, 6), min_size=2, max_size=4))
def test_rows_of_several_lengths_end_where_they_end(lengths):
    rows = [list(range(5, 5 + length)) for length in lengths]
    batch = read_batch((rows, rows))
    assert batch.inputs.shape == (len(rows), max(lengths) + 1)
    for row, inputs, labels, kept in zip(rows, batch.inputs, batch.labels, batch.is_kept, strict=True):
        assert inputs[inputs != NO_ID].tolist() == labels[labels != IGNORED].tolist() == row
        assert kept.tolist() == [place <= len(row) for place in range(len(kept))]


def numbered(numbers):
    """What masks tell of rows in which each place has the number of its document, and 0 is padding."""
    kept = [[number != 0 for number in row] for row in numbers]
    begins = [[t > 0 and row[t] != row[t - 1] for t in range(len(row))] for row in numbers]
    return kept, begins


@given(st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=1, max_size=3))
def test_a_mask_of_numbers_and_a_table_of_who_sees_whom_tell_the_same(numbers):
    of_rows = np.array(numbers)
    same = (of_rows[:, :, None] == of_rows[:, None, :]) & (of_rows[:, None, :] != 0) & np.tri(5, dtype=bool)
    masks = [of_rows, numbers, torch.from_numpy(same), same[:, None], np.where(same, 0.0, -1e9)[:, None]]
    kept, begins = numbered(numbers)
    inner = of_rows != 0  # of padding, a table cannot say which document it belongs to
    inner[:, 1:] &= of_rows[:, :-1] != 0
    for mask in masks:
        batch = read_batch({"input_ids": ids_of(of_rows.shape), "attention_mask": mask})
        assert batch.is_kept.tolist() == kept
        assert np.array_equal(batch.begins[inner], np.array(begins)[inner])


@given(st.lists(st.integers(0, 3), min_size=2, max_size=9))
def test_positions_that_do_not_rise_begin_a_document(positions):
    rises = [False, *(later <= earlier for earlier, later in pairwise(positions))]
    ids = ids_of((2, len(positions)))
    for given_positions in (positions, [positions], [positions] * 2):
        batch = read_batch({"input_ids": ids, "position_ids": given_positions})
        assert batch.begins.tolist() == [rises] * 2


def test_memory_is_the_loaders_own_and_what_is_read_is_a_copy():
    inputs, targets = torch.tensor([[5, 6, 7]]), np.array([[6, 7, 8]])
    batch = read_batch((inputs, targets))
    assert np.shares_memory(batch.memory[0], inputs.numpy())
    assert np.shares_memory(batch.memory[1], targets)
    inputs[:], targets[:] = 0, 0
    assert batch.inputs.tolist() == [[5, 6, 7, NO_ID]]
    assert batch.labels.tolist() == [[IGNORED, 6, 7, 8]]
    assert read_batch(([[5]], [[6]])).memory == []


TABLE = torch.zeros(2, 5, dtype=torch.int64)
ADVICE = {
    "({'input_ids': batch} for": TABLE,
    "({'inputs': batch[0], 'targets': batch[1]} for": [TABLE, TABLE, TABLE + 5],
    "((batch['x'], batch['y']) for batch in": {"y": TABLE, "more": 5, "x": TABLE},
    "((batch['x'], batch['y']) for": {"x": TABLE, "y": TABLE},
    "({'input_ids': batch['tokens']} for": {"tokens": TABLE},
}


@pytest.mark.parametrize("words", ADVICE)
def test_an_error_says_how_to_make_a_batch_of_a_common_form(words):
    with pytest.raises(TypeError, match=re.escape(words)):
        read_batch(ADVICE[words])


ROWS = [[4, 5, 6], [7, 8, 9]]
ONES = torch.ones(2, 3, 2)
REFUSED = {
    "labels of other lengths": ((ROWS, [[5, 6], [8, 9]]), "a label for each input, got inputs of 2 rows of 3 ids"),
    "fewer labels": ((ROWS, ROWS[:1]), "must have a label for each input"),
    "no rows": ((np.zeros((0, 3), dtype=int),) * 2, "the shape (B, T), got (0, 3)"),
    "no ids": ((np.zeros((2, 0), dtype=int),) * 2, "inputs must have the shape (B, T)"),
    "tables in rows": (([ROWS], [ROWS]), "inputs must have rows of ids"),
    "fractions": ((np.array(ROWS) / 2, ROWS), "inputs must hold integers"),
    "letters": ((ROWS, [["a", "b", "c"]] * 2), "targets must hold integers"),
    "mappings in a pair": (({"input_ids": ROWS}, {"labels": ROWS}), "must be a pair (inputs, targets)"),
    "a lone row": (ROWS[0], "must be a pair (inputs, targets), or a mapping"),
    "a lone tensor": (torch.tensor(ROWS), "got Tensor of torch.int64, shape (2, 3)"),
    "three parts": ([[[5]], [[6]], [[7]]], "got list of 3"),
    "a text": ("ab", "got str"),
    "nothing": ({}, "got dict with nothing"),
    "no input_ids": ({"input_ids": None}, "got dict with input_ids"),
    "a mask of L, L + 1": ({"input_ids": ROWS, "attention_mask": ONES}, "attention_mask must have the shape (B, L)"),
    "a flat mask": ({"input_ids": ROWS, "attention_mask": [1, 0]}, "with B, L = 2, 3, got (2,)"),
    "short positions": ({"input_ids": ROWS, "position_ids": [[0, 1]] * 2}, "position_ids must"),
    "positions of more rows": ({"input_ids": ROWS, "position_ids": [[0, 1, 2]] * 3}, "position_ids must"),
    "a loss mask of fewer": ({"input_ids": ROWS, "loss_mask": [[1, 1]] * 2}, "loss_mask must have the shape (2, 3)"),
    "ends that fall": ({"input_ids": ROWS, "cu_seqlens": [0, 4, 3]}, "cu_seqlens must rise from 0 to at most 6"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_batch_is_refused_with_words(what):
    batch, words = REFUSED[what]
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        read_batch(batch)


def remarks_of(**more) -> str:
    ids = ids_of((1, 6))
    given = {name: np.array([value]) for name, value in more.items()}
    return " ".join(read_batch({"input_ids": ids, "labels": ids, **given}).remarks)


RUNNING, ANEW = [0, 1, 2, 3, 4, 5], [0, 1, 2, 0, 1, 2]
TWO, ONE, LEFT = [1, 1, 1, 2, 2, 2], [1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1]
CONTRADICTIONS = {  # positions, what they contradict, and whether they do
    "run on over segments": (RUNNING, {"segment_ids": TWO}, "run on where a document begins"),
    "run on over a mask of numbers": (RUNNING, {"attention_mask": TWO}, "run on where a document begins"),
    "run on over lengths": (RUNNING, {"cu_seqlens": [0, 3, 6]}, "run on where a document begins"),
    "begin again in a segment": (ANEW, {"segment_ids": ONE}, "begin again where segment_ids goes on: harmless inside"),
    "begin again in a mask of all": (ANEW, {"attention_mask": np.tri(6, dtype=bool)}, "where attention_mask goes on"),
    "begin again beside a mask of padding": (ANEW, {"attention_mask": ONE}, "only where it gets no mask"),
    "count padding on the left": (RUNNING, {"attention_mask": LEFT}, "count the padding before a row"),
    "agree": (ANEW, {"segment_ids": TWO}, ""),
    "agree with lengths": (ANEW, {"cu_seqlens": [0, 3, 6]}, ""),
    "tell alone": (ANEW, {}, ""),
    "jump ahead": (
        [0, 1, 2, 100, 101, 102],
        {},
        "rise by more than 1: without a mask, the transformers library begins",
    ),
    "jump ahead beside a mask": ([0, 1, 2, 100, 101, 102], {"attention_mask": ONE}, ""),
    "jump ahead with segments": ([0, 1, 2, 100, 101, 102], {"segment_ids": TWO}, "run on where a document begins"),
    "go on in the middle": ([7, 8, 9, 0, 1, 2], {"segment_ids": TWO}, ""),
    "leave padding out": ([1, 1, 0, 1, 2, 3], {"attention_mask": LEFT}, ""),
    "stand still on padding": ([0, 1, 2, 0, 0, 0], {"segment_ids": TWO}, ""),
}


@pytest.mark.parametrize("how", CONTRADICTIONS)
def test_positions_that_contradict_segments_or_padding_are_told_with_what_it_means(how):
    positions, others, words = CONTRADICTIONS[how]
    told = remarks_of(position_ids=positions, **others)
    assert (words in told) if words else not told
    assert told.count("position_ids") == bool(words)


def test_labels_on_another_device_than_inputs_are_told():
    here, there = torch.zeros(1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64, device="meta")
    assert type_of_labels(here, here) == ("int64", "")
    kind, remark = type_of_labels(there, here)
    assert remark == "labels are on cpu, and inputs on meta"
    assert kind == "int64 on cpu, and inputs on meta"
    assert type_of_labels(here) == ("", "")


def test_who_sees_whom_is_what_a_loop_over_tokens_finds():
    random = np.random.default_rng(0)
    for _ in range(50):
        documents = random.integers(-1, 3, (2, 6))
        numbers, table = random.integers(0, 3, (2, 6)), random.random((2, 6, 6)) < 0.5
        for view in (Numbers("segment_ids", numbers), Table("attention_mask", table)):
            leaks = view.leaks(documents)
            hides = view.hides_before((2, 6))
            for row, place in np.ndindex(2, 6):
                sees = numbers[row] == numbers[row, place] if isinstance(view, Numbers) else table[row, place]
                earlier = [j for j in range(place) if sees[j] and documents[row, j] >= 0]
                others = [j for j in earlier if documents[row, j] != documents[row, place]]
                if isinstance(view, Numbers):  # who sees one another should be of the document of the first of them
                    others = earlier and documents[row, earlier[0]] != documents[row, place]
                assert leaks[row, place] == (documents[row, place] >= 0 and bool(others))
                assert hides[row, place] == (place > 0 and not sees[place - 1])


def test_how_far_a_token_sees_ahead_is_what_a_loop_over_paths_finds():
    random = np.random.default_rng(0)
    for _ in range(100):
        documents = random.integers(-1, 2, (2, 6))
        sees = random.random((2, 6, 6)) < random.choice([0.1, 0.2, 0.4])
        found = Table("attention_mask", sees).farthest_ahead(documents)
        for row, place in np.ndindex(2, 6):
            own, reached, more = documents[row], set(), {place}
            while more - reached:
                reached |= more
                steps = [(i, j) for i in reached for j in range(6) if sees[row, i, j]]
                more = {j for i, j in steps if own[i] == own[j] or -1 in (own[i], own[j])}
            ahead = [j for j in more if own[j] >= 0 and own[place] >= 0 and j > place]
            assert found[row, place] == max(ahead, default=-1)
    causal = Table("attention_mask", np.tri(6, dtype=bool)[None])
    assert (causal.farthest_ahead(np.ones((1, 6), int)) == -1).all()


@pytest.mark.parametrize(
    ("mask", "masks_hide", "is_noted"),
    [
        (np.tri(4)[None, None], False, True),  # floats of 0 and 1
        (np.tri(4, dtype=bool)[None, None], False, True),
        (np.where(np.tri(4), 0, -np.inf)[None, None], False, False),
        (1 - np.tri(4)[None, None], True, False),  # then it isn't read as 1 where a token sees
    ],
)
def test_a_mask_that_a_model_may_add_to_its_scores_is_noted(mask, masks_hide, is_noted):
    batch = {"input_ids": [[5, 6, 7, 8]], "labels": [[5, 6, 7, 8]], "attention_mask": mask}
    remarks = read_batch(batch, masks_hide=masks_hide).remarks
    assert any("so make it of 0 and -inf" in remark for remark in remarks) == is_noted


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        ([[0, 1, 1, 1]], ""),
        ([[True, True, True, False]], ""),
        (np.array([[-np.inf, 0, 0, 0]]), "hides what it should show"),
        ([[1, 1, 2, 2]], "hides no other document"),
        ([[-1, 1, 1, 1]], "hides no other document"),  # not even the padding
    ],
)
def test_a_mask_of_a_row_that_the_transformers_library_would_take_for_flags_is_noted(mask, words):
    batch = {"input_ids": [[5, 6, 7, 8]], "labels": [[5, 6, 7, 8]], "attention_mask": mask}
    said = [remark for remark in read_batch(batch).remarks if "of shape (B, L) for flags" in remark]
    assert [words in remark for remark in said] == [True] * bool(words)


@pytest.mark.parametrize("padding", [0, -1])
def test_padding_beside_numbers_of_documents_is_0_or_negative(padding):
    batch = {"input_ids": [[5, 6, 7, 8]], "attention_mask": [[1, 2, 2, padding]]}
    assert read_batch(batch).is_kept.tolist() == [[True, True, True, False]]


def test_what_any_head_sees_is_seen():
    mask = np.stack([np.tri(4, dtype=bool), np.ones((4, 4), bool)])[None]
    (view,) = read_batch({"input_ids": [[5, 6, 7, 8]], "labels": [[5, 6, 7, 8]], "attention_mask": mask}).views
    assert view.sees.all()


FLOAT_ZEROS = np.zeros((1, 4, 4), np.float32)


@pytest.mark.parametrize(
    ("mask", "shows"),
    [
        (FLOAT_ZEROS, True),
        (torch.from_numpy(FLOAT_ZEROS).bfloat16()[None], True),
        (FLOAT_ZEROS.astype(int), False),
        (FLOAT_ZEROS.astype(bool), False),
        (FLOAT_ZEROS[:, 0], False),  # of padding, flags may be floats
    ],
)
def test_a_mask_of_pairs_of_which_all_floats_are_zero_is_added_and_hides_nothing(mask, shows):
    ids = ids_of((1, 4))
    assert read_batch({"input_ids": ids, "attention_mask": mask}).is_kept.all() == shows
