"""What counts as a stream of ids, and what a wrong argument is told."""

import array
import math
import re
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.foundation import as_ids, as_integers, as_numbers, as_places, check_integer, check_number, check_range
from course_lib.foundation.checks import (
    check_callable,
    check_choice,
    check_dense,
    check_flag,
    check_iterable,
    check_path,
    check_type,
    check_unicode,
)

INTEGER_DTYPES = ["u1", "i1", "<u2", ">u2", "<i2", "<u4", ">u4", "<i4", "<i8", ">i8", "<u8"]

# check_integer


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), torch.tensor(3), np.array(3)])
def test_every_kind_of_integer_is_one(value):
    number = check_integer("stride", value, minimum=1)
    assert number == 3
    assert type(number) is int


def test_bounds_are_inclusive_and_no_integer_is_too_large_to_be_judged_and_told():
    assert [check_integer("rank", value, minimum=0, maximum=2) for value in (0, 1, 2)] == [0, 1, 2]
    assert check_integer("n", np.uint64(2**64 - 1), minimum=0) == 2**64 - 1
    for value, got in ((3, "3"), (2**64, "18446744073709551616")):
        with pytest.raises(ValueError, match=rf"^n must be an integer of at least 0 and at most 2, got {got}"):
            check_integer("n", value, minimum=0, maximum=2)


@pytest.mark.parametrize(
    "value", [np.array(3, dtype="M8[ns]"), torch.tensor(3, device="meta"), torch.tensor(True), np.array(True), ..., "5"]
)
def test_times_flags_and_tensors_without_data_are_no_integers(value):
    with pytest.raises(TypeError, match=r"^n must be .*0, got"):
        check_integer("n", value, minimum=0)


def test_a_long_value_is_not_repeated_in_full():
    with pytest.raises(TypeError, match=r"got \[0, 0, .{90,100}\.\.\. \(list\)$"):
        check_integer("stride", [0] * 1_000, minimum=1)


# check_number


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


@pytest.mark.parametrize(
    "value", [Fraction(1, 4), np.float16(0.25), torch.tensor(0.25, dtype=torch.bfloat16), np.array(0.25)]
)
def test_every_kind_of_real_number_is_one(value):
    assert check_number("x", value, minimum=0, maximum=1) == 0.25


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-0.0, "above 0, got -0.0"),
        (math.nan, "above 0, got nan"),
        (10**400, "above 0, got 1000"),
        (np.timedelta64(3, "ns"), "above 0, got .*timedelta64"),
        (torch.tensor(0.5, device="meta"), "above 0, got .*device='meta'"),
        (torch.tensor(True), "above 0, got tensor.True."),
        (Decimal("0.5"), "above 0, got Decimal"),
        (1j, "above 0, got 1j"),
    ],
)
def test_what_is_no_finite_number_is_told(value, words):
    with pytest.raises((TypeError, ValueError), match=rf"^x must be a finite number {words}"):
        check_number("x", value, above=0)


# check_choice, check_iterable, check_path


def test_a_choice_may_be_none_and_choices_may_be_read_once():
    assert check_choice("form", None, (None, "NFC")) is None
    assert check_choice("crop", np.str_("oldest"), iter(("shortest", "oldest"))) == "oldest"
    for value, error in (
        ("old", ValueError),
        (None, TypeError),
        ({}, TypeError),
        (np.array(["oldest", "a"]), TypeError),
    ):
        with pytest.raises(error, match=r"^crop must be .*got"):
            check_choice("crop", value, iter(("shortest", "oldest")))


def test_several_are_given_back_as_they_are():
    assert list(check_iterable("tasks", iter("ab"))) == ["a", "b"]
    with pytest.raises(TypeError, match=r"^tasks must .*got 'ab'"):
        check_iterable("tasks", "ab", "tasks")


def test_a_path_begins_at_home_if_it_says_so_and_somebody_lives_there():
    assert check_path("path", "~/a") == check_path("path", Path("~/a")) == Path.home() / "a"
    assert check_path("path", "~nouser/a") == Path("~nouser/a")


# check_flag, check_type, check_callable


@pytest.mark.parametrize(
    ("check", "value", "words"),
    [
        (check_flag, "False", "True or False, got 'False'"),
        (check_flag, 0, "True or False, got 0"),
        (check_callable, None, "callable, got None"),
        (partial(check_type, kind=str), b"a", "a str, got bytes"),
        (check_dense, [1.0], "a tensor, got list"),
        (check_unicode, b"a", "a str, got bytes"),
        (check_path, 5, "a path, a str or a Path, got 5"),
        (check_path, "", "a path of a file or folder, got ''"),
        (check_path, "a\0b", "a path of a file or folder, got 'a.x00b'"),
    ],
)
def test_what_is_of_another_kind_is_refused(check, value, words):
    with pytest.raises((TypeError, ValueError), match=rf"^x must be {words}"):
        check("x", value)


# check_unicode


def test_pairs_of_surrogates_are_characters_and_single_ones_are_refused():
    assert check_unicode("text", "a\U0010ffff") == "a\U0010ffff"
    assert check_unicode("text", "\ud83d\ude00b") == "\U0001f600b"
    for text, place in (("a\udc00", 1), ("\ud83d\ude00\ud83d", 1), ("\ude00\ud83d", 0)):
        with pytest.raises(ValueError, match=rf"^text must be Unicode, but character {place} is half of one"):
            check_unicode("text", text)


# check_dense


def test_a_tensor_has_its_data_at_hand():
    assert not check_dense("x", torch.ones(2, requires_grad=True)).requires_grad
    for tensor in (torch.ones(2, device="meta"), torch.ones(2).to_sparse()):
        for check in (check_dense, as_numbers):
            with pytest.raises(TypeError, match=r"^x must .*got one of"):
                check("x", tensor)
    with pytest.raises(TypeError, match=r"^n must be a dense tensor"):
        as_integers("n", torch.tensor([1], device="meta"))


# as_integers, check_range


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3), max_size=4))
@settings(deadline=None, max_examples=50)
def test_integers_of_any_shape_keep_their_values(rows):
    assert as_integers("starts", rows).tolist() == rows
    assert as_integers("starts", torch.tensor(rows, dtype=torch.int64)).tolist() == rows


def test_unsigned_integers_of_64_bits_among_others_do_not_become_floats():
    assert as_integers("n", [[np.uint64(5)], [-1]]).tolist() == [[5], [-1]]
    assert as_integers("n", 5).shape == ()


@pytest.mark.parametrize(
    "values",
    [
        [True, 2],
        (2, np.False_),
        [[1, 2], [True, 3]],
        [torch.tensor(True), 5],
        [np.array(True), 2],
        [[1], [np.True_]],
        [np.uint64(5), True],
    ],
)
def test_a_flag_among_integers_is_not_taken_for_0_or_1(values):
    with pytest.raises(TypeError, match=rf"^n must be integers, got {type(values).__name__} with True or False in it"):
        as_integers("n", values)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.ma.array([1, 2], mask=[0, 1]), "n must be integers, got MaskedArray: take the masked ones out"),
        (memoryview(b"ab"), "n must be integers, got text (memoryview): encode it first"),
        (np.array(["a"]), "n must be integers, got ndarray of <U1"),
        ([np.uint64(5), 1.0], "n must be integers, got list of float64"),
        (torch.ones(2, dtype=torch.bfloat16), "n must be integers, got Tensor of bfloat16"),
        (torch.tensor([1j]), "n must be integers, got Tensor of complex64"),
        (np.array([], dtype=np.float64), "n must be integers, got ndarray of float64"),
        (iter([1, 2]), "n must be integers, got list_iterator"),
        ([1, None], "n must be integers, got list of mixed or oversized values"),
        ([np.uint64(2**63), 1], "n must be integers, got list of mixed or oversized values"),
        ([2**64], "n must be integers, got list of mixed or oversized values"),
        ([2**63], "n must fit into 64-bit signed integers, got 9223372036854775808"),
        ([[1, 2], [3]], "n must be a regular array, got rows of different lengths"),
    ],
)
def test_what_are_no_integers_of_64_bits_is_told(values, words):
    with pytest.raises((TypeError, ValueError), match=rf"^{re.escape(words)}"):
        as_integers("n", values)


def test_a_range_holds_its_first_and_not_its_size():
    assert check_range("ids", np.array([255], dtype=np.uint8), 256).tolist() == [255]
    assert check_range("ids", [], 0).tolist() == []
    for values, found in (([0, 7], "0 ... 7"), ([[-1], [3]], "-1 ... 3")):
        with pytest.raises(IndexError, match=re.escape(f"ids must lie in 0 ... 6, got {found}")):
            check_range("ids", values, 7, IndexError)


# as_numbers


def test_numbers_become_floats_and_masked_ones_nan():
    assert as_numbers("x", np.array(2**63 - 1)) == 2.0**63
    assert as_numbers("x", torch.ones(2, dtype=torch.bfloat16)).tolist() == [1, 1]
    np.testing.assert_equal(as_numbers("x", np.ma.array([1, 2], mask=[0, 1])), [1, math.nan])
    assert as_numbers("x", [True, False], "b").tolist() == [1, 0]


@pytest.mark.parametrize(
    "values", [torch.ones(2, dtype=torch.complex64), [True, False], [[1], [1, 2]], np.timedelta64(3, "ns"), "ab"]
)
def test_what_are_no_real_numbers_is_refused(values):
    with pytest.raises((TypeError, ValueError), match=r"^x must be (numbers, got|a regular array)"):
        as_numbers("x", values)


# as_places


@pytest.mark.parametrize(
    "index", [slice(1, None), slice(None, None, -2), [0, -1], np.array([4, -5], dtype=np.int16), 3, []]
)
def test_an_index_picks_as_in_a_list(index):
    things = list(range(5))
    wanted = things[index] if isinstance(index, slice | int) else [things[i] for i in index]
    assert as_places(index, 5).tolist() == wanted
    assert as_places(index, 5).dtype == np.int64


def test_an_index_of_a_narrow_type_does_not_overflow():
    assert as_places(np.array([200, -1], dtype=np.int16), 300).tolist() == [200, 299]
    assert as_places(np.uint8(255), 256) == 255


@pytest.mark.parametrize("index", [5, -6, [0, 5], np.array([0, -6])])
def test_an_index_outside_is_refused(index):
    with pytest.raises(IndexError, match=r"^index must lie .*5"):
        as_places(index, 5, "windows")


@pytest.mark.parametrize("index", [(), (0, 1), None, 1.0, True])
def test_an_index_is_an_integer_a_slice_or_an_array(index):
    with pytest.raises(TypeError, match=r"^index must be"):
        as_places(index, 5)


# as_ids


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


@pytest.mark.parametrize("ids", [np.zeros((2, 3), dtype=int), torch.zeros(2, 3, dtype=int), [[]], 5, torch.tensor(3)])
def test_ids_stand_in_one_row(ids):
    with pytest.raises(ValueError, match=r"^corpus must be one-dimensional, got shape"):
        as_ids("corpus", ids)
