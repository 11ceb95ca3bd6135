"""What counts as a stream of ids, and what a wrong argument is told."""

from __future__ import annotations

import array

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.foundation import as_integers, as_stream, check_flag, check_integer, check_number, check_state

INTEGER_DTYPES = ["u1", "i1", "<u2", ">u2", "<i2", "<u4", ">u4", "<i4", "<i8", ">i8", "<u8"]


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), torch.tensor(3), np.array(3)])
def test_every_kind_of_integer_is_one(value):
    number = check_integer("stride", value, minimum=1)
    assert number == 3
    assert type(number) is int


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (True, r"True \(bool\)"),
        (np.True_, r"True.* \(bool.*\)"),
        (2.0, r"2\.0 \(float\)"),
        (np.float32(2), r"2\.0.* \(float32\)"),
        ("2", r"'2' \(str\)"),
        (None, r"None \(NoneType\)"),
        ([2], r"\[2\] \(list\)"),
        (torch.tensor(2.0), r"tensor\(2\.\) \(Tensor\)"),
    ],
)
def test_what_is_no_integer_is_refused_by_name_and_value(value, shown):
    with pytest.raises(TypeError, match=rf"^stride must be an integer of at least 1, got .*{shown}$"):
        check_integer("stride", value, minimum=1)


@pytest.mark.parametrize("value", [0, -1, -(10**30)])
def test_an_integer_below_the_minimum_is_refused(value):
    with pytest.raises(ValueError, match=rf"^stride must be an integer of at least 1, got {value}$"):
        check_integer("stride", value, minimum=1)


def test_the_bounds_themselves_are_allowed_and_the_next_ones_are_not():
    assert [check_integer("rank", value, minimum=0, maximum=2) for value in (0, 1, 2)] == [0, 1, 2]
    with pytest.raises(ValueError, match=r"^rank must be an integer of at least 0 and at most 2, got 3$"):
        check_integer("rank", 3, minimum=0, maximum=2)


def test_a_long_value_is_not_repeated_in_full():
    with pytest.raises(TypeError, match=r"got \[0, 0, .{90,100}\.\.\. \(list\)$"):
        check_integer("stride", [0] * 1_000_000, minimum=1)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=100)
def test_a_number_between_its_bounds_comes_back_as_a_float(value, bound):
    assert check_number("rate", value) == value
    assert type(check_number("rate", np.float64(value))) is float
    for allowed, bounds in (
        (value >= bound, {"minimum": bound}),
        (value <= bound, {"maximum": bound}),
        (value > bound, {"above": bound}),
    ):
        if allowed:
            assert check_number("rate", value, **bounds) == value
        else:
            with pytest.raises(ValueError, match=r"^rate must be a finite number .*, got "):
                check_number("rate", value, **bounds)


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_])
def test_a_flag_comes_back_as_a_bool(value):
    assert check_flag("shuffle", value) is bool(value)


@pytest.mark.parametrize("dtype", INTEGER_DTYPES)
def test_an_integer_array_of_any_dtype_is_a_stream_and_is_not_copied(dtype):
    ids = np.arange(5).astype(dtype)
    assert as_stream(ids).tolist() == [0, 1, 2, 3, 4]
    assert np.shares_memory(as_stream(ids), ids)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.uint16, torch.int32, torch.int64])
def test_a_tensor_of_any_integer_dtype_is_a_stream_and_is_not_copied(dtype):
    ids = torch.tensor([0, 1, 2]).to(dtype)
    stream = as_stream(ids)
    assert stream.tolist() == [0, 1, 2]
    ids[0] = 7
    assert stream.tolist() == [7, 1, 2]


@pytest.mark.parametrize("ids", [[0, 1], np.arange(2), torch.arange(2), np.arange(4)[::2]])
def test_nobody_writes_into_the_ids_of_somebody_else(ids):
    with pytest.raises(ValueError, match="read-only"):
        as_stream(ids)[0] = 7
    assert as_integers("starts", ids).flags.writeable is False
    ids[0] = 7  # what was handed in is as writable as before


def test_a_memory_map_is_a_stream_and_is_not_read_into_memory(tmp_path):
    np.arange(5, dtype=np.uint16).tofile(tmp_path / "ids.bin")
    ids = np.memmap(tmp_path / "ids.bin", dtype=np.uint16, mode="r")
    assert np.shares_memory(as_stream(ids), ids)
    assert not as_stream(ids).flags.writeable


@pytest.mark.parametrize("ids", [[0, 1, 2], (0, 1, 2), range(3), array.array("H", [0, 1, 2]), np.arange(6)[:3]])
def test_sequences_of_integers_are_streams(ids):
    assert as_stream(ids).tolist() == [0, 1, 2]


@pytest.mark.parametrize("ids", [[], (), range(0), np.array([], dtype=np.uint16), torch.tensor([], dtype=torch.int64)])
def test_an_empty_stream_is_a_stream_of_integers(ids):
    stream = as_stream(ids)
    assert stream.shape == (0,)
    assert stream.dtype.kind in "iu"


def test_views_with_gaps_and_backward_views_keep_their_values():
    ids = np.arange(10, dtype=np.uint16)
    assert as_stream(ids[::3]).tolist() == [0, 3, 6, 9]
    assert as_stream(ids[::-1]).tolist() == list(range(9, -1, -1))
    assert as_stream(torch.arange(10)[::4]).tolist() == [0, 4, 8]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("text", r"ids must be integers, got text \(str\): encode it first"),
        (b"text", r"ids must be integers, got text \(bytes\)"),
        ([0.0, 1.0], "ids must be integers, got list of float64"),
        ([1, 2.5], "ids must be integers, got list of float64"),
        ([True, False], "ids must be integers, got list of bool"),
        (np.zeros(2, dtype=np.float32), "ids must be integers, got ndarray of float32"),
        (np.zeros(2, dtype=bool), "ids must be integers, got ndarray of bool"),
        (np.array([], dtype=np.float64), "ids must be integers, got ndarray of float64"),
        (torch.zeros(2), "ids must be integers, got Tensor of float32"),
        (torch.zeros(2, dtype=torch.bfloat16), "ids must be integers, got Tensor of bfloat16"),
        (torch.zeros(2, dtype=torch.bool), "ids must be integers, got .* of bool"),
        (["a", "b"], "ids must be integers, got list of <U1"),
        ([1, None], "ids must be integers, got list of mixed or oversized values"),
        ([2**70], "ids must be integers, got list of mixed or oversized values"),
        (None, "ids must be integers, got NoneType"),
        ({1, 2}, "ids must be integers, got set"),
        ((i for i in range(3)), "ids must be integers, got generator"),
    ],
)
def test_what_is_no_stream_of_integers_is_refused_by_type(ids, message):
    with pytest.raises(TypeError, match=f"^{message}"):
        as_stream(ids)


@pytest.mark.parametrize(
    ("ids", "shape"),
    [
        (np.zeros((2, 3), dtype=np.int64), r"\(2, 3\)"),
        (torch.zeros(2, 3, dtype=torch.int64), r"\(2, 3\)"),
        ([[1, 2], [3, 4]], r"\(2, 2\)"),
        ([[]], r"\(1, 0\)"),
        (5, r"\(\)"),
        (torch.tensor(5), r"\(\)"),
    ],
)
def test_a_stream_has_one_dimension(ids, shape):
    with pytest.raises(ValueError, match=rf"^ids must be one-dimensional, got shape {shape}$"):
        as_stream(ids)


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"^documents must be a regular array, got rows of different lengths$"):
        as_stream([[1, 2], [3]], "documents")


@pytest.mark.parametrize("largest", [2**63, 2**64 - 1])
def test_ids_beyond_the_64_bit_integers_of_a_batch_are_refused(largest):
    for ids in ([largest], np.array([0, largest], dtype=np.uint64)):
        with pytest.raises(ValueError, match=f"^ids must fit into 64-bit signed integers, got {largest}$"):
            as_stream(ids)


def test_the_largest_64_bit_id_is_allowed():
    assert as_stream(np.array([2**63 - 1], dtype=np.uint64)).tolist() == [2**63 - 1]


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3), max_size=4))
@settings(deadline=None, max_examples=50)
def test_integers_of_any_shape_keep_their_values(rows):
    assert as_integers("starts", rows).tolist() == rows
    assert as_integers("starts", torch.tensor(rows, dtype=torch.int64)).tolist() == rows


def test_a_state_is_returned_where_it_was_saved_with_the_same_settings():
    state = {"epoch": 3, "rank": 0, "base_seed": None}
    assert check_state(state, {"rank": 0, "base_seed": None}, ["epoch"], owner="loader") is state


@pytest.mark.parametrize("saved", [1, 0.0, False, None, "0", np.int64(0), np.array([0])])
def test_a_state_of_other_settings_is_refused_by_name(saved):
    with pytest.raises(ValueError, match=r"^state was saved with rank=.*, but this loader has rank=0$"):
        check_state({"epoch": 3, "rank": saved}, {"rank": 0}, ["epoch"], owner="loader")


@pytest.mark.parametrize(
    "state", [{}, {"rank": 0}, {"epoch": 0}, {"rank": 0, "epoch": 0, "more": 1}, {"rank": 0, 7: 1}]
)
def test_a_state_of_other_entries_is_refused(state):
    with pytest.raises(ValueError, match=r"^state must have the keys \['epoch', 'rank'\], got \["):
        check_state(state, {"rank": 0}, ["epoch"], owner="loader")


def test_a_state_that_is_no_dict_is_refused():
    with pytest.raises(TypeError, match=r"^state must be a dict that `state_dict` returned, got list$"):
        check_state([], {}, [], owner="loader")
