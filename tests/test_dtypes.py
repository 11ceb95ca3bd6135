"""Ids take as few bytes as they can, and no fewer."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from any_tokenizer import refuses
from course_lib.foundation import (
    smallest_dtype,
)
from course_lib.foundation.dtypes import compact, id_dtype

NUMBERS = SimpleNamespace(encode=lambda text: [int(text)], end_of_text_id=0)


def words(**ids: int) -> Tokenizer:
    return Tokenizer(models.WordLevel(ids, unk_token="?"))


# id_dtype, smallest_dtype and compact


def test_the_vocabulary_decides_the_dtype():
    def sized(size):
        return SimpleNamespace(encode=str.split, vocab_size=size)

    assert id_dtype(sized(2**16)) == id_dtype(words(a=0)) == np.uint16
    assert id_dtype(SimpleNamespace(n_vocab=6)) == np.uint16
    assert id_dtype(sized(np.int64(2**16 + 1))) == id_dtype(words(a=2**16)) == np.uint32
    for size in (3.7, True, 0, 2**32 + 1, "abc"):
        refuses((TypeError, ValueError), "vocab_size must be", id_dtype, sized(size))
    refuses(TypeError, "tokenizer must have a vocab_size", id_dtype, NUMBERS)
    refuses(ValueError, "tokenizer must have a vocabulary, got an empty one", id_dtype, words())


@pytest.mark.parametrize(
    ("largest", "dtype"), [(0, "u2"), (65_535, "u2"), (65_536, "u4"), (70_000, "u4"), (2**32 - 1, "u4")]
)
def test_the_smallest_dtype_holds_the_largest_id(largest, dtype):
    assert smallest_dtype(largest) == compact([0, largest]).dtype == np.dtype(dtype)


@given(st.lists(st.integers(0, 2**32 - 1)))
@settings(deadline=None)
def test_compact_ids_are_the_same_ids(ids):
    for given_ids in (ids, np.array(ids, dtype=np.int64), np.array(ids, dtype=">i8"), torch.tensor(ids).long()):
        stream = compact(given_ids)
        assert stream.tolist() == ids
        assert stream.dtype == smallest_dtype(max(ids, default=0))
        assert not stream.flags.writeable


def test_ids_that_are_none_are_refused_with_their_place():
    refuses(ValueError, "ids must not be negative, got -1 at position 1", compact, [0, -1])
    refuses(ValueError, "ids must fit into 32 bits, got 4294967296 at position 0", compact, [2**32])


@pytest.mark.parametrize("dtype", ["u1", "<u2", ">u2", "<u4", ">u4"])
def test_what_is_compact_already_is_not_copied(dtype):
    ids = np.arange(5).astype(dtype)
    assert np.shares_memory(compact(ids), ids)
    assert compact(ids).dtype == ids.dtype
    assert not compact(ids).flags.writeable


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.int64])
def test_a_memory_map_is_neither_copied_nor_read_but_what_is_calculated_from_it_is(tmp_path, dtype):
    np.array([5, 3, -3]).astype(dtype).tofile(tmp_path / "ids.bin")
    ids = np.memmap(tmp_path / "ids.bin", dtype=dtype, mode="r")
    for view in (ids, ids[1:], np.asarray(ids), np.asarray(ids)[::2]):
        assert np.shares_memory(compact(view), view)
        assert compact(view).dtype == dtype
    widened = ids[:2].astype(np.int64)
    assert isinstance(widened, np.memmap)
    assert compact(widened).dtype == np.uint16
    refuses(ValueError, "ids must not be negative, got -4 at position 1", compact, widened - 7)
