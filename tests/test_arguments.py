"""What counts as a stream of ids, and what a wrong argument is told."""

import array

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.foundation import as_integers, as_ids, check_integer, check_number

INTEGER_DTYPES = ["u1", "i1", "<u2", ">u2", "<i2", "<u4", ">u4", "<i4", "<i8", ">i8", "<u8"]


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), torch.tensor(3), np.array(3)])
def test_every_kind_of_integer_is_one(value):
    number = check_integer("stride", value, minimum=1)
    assert number == 3
    assert type(number) is int


def test_a_long_value_is_not_repeated_in_full():
    with pytest.raises(TypeError, match=r"got \[0, 0, .{90,100}\.\.\. \(list\)$"):
        check_integer("stride", [0] * 1_000, minimum=1)


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


@pytest.mark.parametrize("dtype", INTEGER_DTYPES)
def test_an_integer_array_of_any_dtype_is_a_stream_and_is_not_copied(dtype):
    ids = np.arange(5).astype(dtype)
    assert as_ids("ids", ids).tolist() == [0, 1, 2, 3, 4]
    assert np.shares_memory(as_ids("ids", ids), ids)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.uint16, torch.int32, torch.int64])
def test_a_tensor_of_any_integer_dtype_is_a_stream_and_is_not_copied(dtype):
    ids = torch.tensor([0, 1, 2]).to(dtype)
    stream = as_ids("ids", ids)
    assert stream.tolist() == [0, 1, 2]
    ids[0] = 7
    assert stream.tolist() == [7, 1, 2]


@pytest.mark.parametrize("ids", [[0, 1], np.arange(2), torch.arange(2), np.arange(4)[::2]])
def test_nobody_writes_into_the_ids_of_somebody_else(ids):
    with pytest.raises(ValueError, match="read-only"):
        as_ids("ids", ids)[0] = 7
    assert as_integers("starts", ids).flags.writeable is False
    ids[0] = 7  # what was handed in is as writable as before


def test_a_memory_map_is_a_stream_and_is_not_read_into_memory(tmp_path):
    np.arange(5, dtype=np.uint16).tofile(tmp_path / "ids.bin")
    ids = np.memmap(tmp_path / "ids.bin", dtype=np.uint16, mode="r")
    assert np.shares_memory(as_ids("ids", ids), ids)
    assert not as_ids("ids", ids).flags.writeable


@pytest.mark.parametrize("ids", [[0, 1, 2], (0, 1, 2), range(3), array.array("H", [0, 1, 2]), np.arange(6)[:3]])
def test_sequences_of_integers_are_streams(ids):
    assert as_ids("ids", ids).tolist() == [0, 1, 2]


@pytest.mark.parametrize("ids", [[], (), range(0), np.array([], dtype=np.uint16), torch.tensor([], dtype=torch.int64)])
def test_an_empty_stream_is_a_stream_of_integers(ids):
    stream = as_ids("ids", ids)
    assert stream.shape == (0,)
    assert stream.dtype.kind in "iu"


def test_views_with_gaps_and_backward_views_keep_their_values():
    ids = np.arange(10, dtype=np.uint16)
    assert as_ids("ids", ids[::3]).tolist() == [0, 3, 6, 9]
    assert as_ids("ids", ids[::-1]).tolist() == list(range(9, -1, -1))
    assert as_ids("ids", torch.arange(10)[::4]).tolist() == [0, 4, 8]


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3), max_size=4))
@settings(deadline=None, max_examples=50)
def test_integers_of_any_shape_keep_their_values(rows):
    assert as_integers("starts", rows).tolist() == rows
    assert as_integers("starts", torch.tensor(rows, dtype=torch.int64)).tolist() == rows
