"""Streams: what every one of them promises, in an array or in pieces, and what is wrapped as one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.foundation import CharTokenizer, Stream
from course_lib.foundation.streams import ArrayStream, as_stream
from course_lib.random_sampling import seq_data_iter_random
from course_lib.sliding_windows import SlidingWindowDataset, gather_windows, make_dataloader
from course_lib.token_shards import ShardedStream, write_shards


class InPieces(ArrayStream):
    """An array that windows read in pieces."""

    def __init__(self, ids: np.ndarray, *lengths: int):
        super().__init__(ids)
        self.borders = np.cumsum([0, *lengths])
        assert self.borders[-1] == len(ids)

    def compacted(self):
        return self


@given(st.data())
def test_a_cut_is_what_slicing_piece_by_piece_gives(data):
    pieces = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any))
    ids = np.arange(100, 100 + sum(pieces), dtype=np.uint16)
    stream = InPieces(ids, *pieces)
    starts = data.draw(st.lists(st.integers(0, len(ids) - 1), max_size=8))
    length = data.draw(st.integers(1, 12))
    windows, lengths = stream.cut(np.array(starts, dtype=int), length)
    assert (windows.shape, lengths.shape) == ((len(starts), length), (len(starts),))
    assert windows.dtype == np.uint16
    for start, window, found in zip(starts, windows.tolist(), lengths.tolist(), strict=True):
        end = next(border for border in stream.borders.tolist() if border > start)
        real = ids[start : min(end, start + length)].tolist()
        assert found == len(real)
        assert window == real + [0] * (length - len(real))


@pytest.mark.parametrize("shape", [(), (2, 3), (0,), (2, 0)])
def test_starts_of_a_cut_may_have_any_shape(shape):
    starts = np.full(shape, 7, dtype=np.uint8)
    ids, lengths = as_stream("ids", range(10)).cut(starts, 5)
    assert ids.shape == (*shape, 5)
    assert lengths.shape == shape
    assert (lengths == 3).all()


def test_a_window_across_the_border_of_two_pieces_is_refused_and_a_piece_may_be_too_short():
    stream = InPieces(np.arange(6), 3, 3)
    assert gather_windows(stream, [0, 3], 2)[0].tolist() == [[0, 1], [3, 4]]
    with pytest.raises(
        ValueError, match=r"^starts must leave each window in one piece of the stream, but the one at 1 "
    ):
        gather_windows(stream, [0, 1], 2)
    with pytest.raises(ValueError, match=r"^ids must .*got none"):
        SlidingWindowDataset(stream, 3)


@pytest.mark.parametrize("starts", [[-1], [10], [0, -(2**62)], [3, 2**62]])
def test_a_start_outside_is_refused_and_never_wraps_around(starts):
    with pytest.raises(ValueError, match=r"^starts must lie in 0 \.\.\. 9, got"):
        as_stream("ids", range(10)).cut(np.array(starts), 1)


class Series:
    """As polars has it: a column of a table that NumPy can read, and that has a method `cut` of its own."""

    def __init__(self, ids):
        self.ids = np.asarray(ids)

    def __len__(self) -> int:
        return len(self.ids)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return self.ids

    def cut(self, breaks, labels=None):
        raise AssertionError("bins are no windows")


def test_what_merely_has_a_method_cut_is_read_as_an_array():
    ids = np.arange(40)
    column = Series(ids)
    assert all(map(torch.equal, gather_windows(column, [3, 5], 4), gather_windows(ids, [3, 5], 4)))
    assert all(map(torch.equal, SlidingWindowDataset(column, 4)[:], SlidingWindowDataset(ids, 4)[:]))
    assert len(list(seq_data_iter_random(column, 2, 4))) > 2
    assert CharTokenizer("abc").decode(Series([0, 2])) == "ac"
    with pytest.raises(TypeError, match="ids must be integers, got Series of <U1"):
        SlidingWindowDataset(Series(["a", "b"]), 1)


def test_an_array_is_wrapped_uncopied_and_a_stream_stays_what_it_is():
    ids = np.arange(9, dtype=np.uint16)
    stream = as_stream("ids", ids)
    assert np.shares_memory(np.asarray(stream), ids)
    assert as_stream("ids", stream) is stream
    assert (len(stream), stream.dtype) == (9, np.uint16)
    assert stream[2:4].tolist() == [2, 3]
    assert stream.compacted().dtype == np.uint16
    assert as_stream("ids", [5, 70_000]).compacted().dtype == np.uint32
    with pytest.raises(ValueError, match=r"^corpus must be one-dimensional"):
        as_stream("corpus", [[1]])


def test_a_stream_of_ones_own_needs_no_more_than_the_base_class_asks(tmp_path):
    class Counting(Stream):
        """The ids 0, 1, 2, ..., stored nowhere."""

        dtype, fingerprint = np.dtype(np.uint32), "counting"

        def __init__(self, size: int):
            self.borders = np.array([0, size])

        def __getitem__(self, index):
            return np.arange(len(self))[index]

        def __array__(self, dtype=None, copy=None):
            return np.arange(len(self), dtype=dtype)

        def copy_whole(self, starts, length):
            return (starts[..., None] + np.arange(length)).astype(np.uint32)

    loader = make_dataloader(SlidingWindowDataset(Counting(10**12), 4, 4), 3, base_seed=0)
    inputs, targets = next(iter(loader))
    assert torch.equal(inputs + 1, targets)
    assert (inputs[:, 0] % 4 == 0).all()
    assert loader.state_dict()["fingerprint"] == "counting"


def test_shards_are_a_stream(tmp_path):
    write_shards(["abcabc", "abc"], CharTokenizer("abc"), tmp_path, shard_size=5, progress=False)
    stream = ShardedStream(tmp_path, "train")
    assert isinstance(stream, Stream)
    assert as_stream("ids", stream) is stream.compacted() is stream
    assert stream.borders.tolist() == [0, 11]
    assert ShardedStream(tmp_path, "train", cross=False).borders.tolist() == [0, 5, 10, 11]
