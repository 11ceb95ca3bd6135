"""Ids that tell where they come from, beside a dictionary of all runs of neighbors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.auditing_loaders.coded_stream import RESERVED, CodedStream
from planted_loaders import Bytes


def runs(ids, k):
    return [tuple(ids[at : at + k]) for at in range(len(ids) - k + 1)]


def naive_positions(stream, row):
    """A place is told if all runs around it that occur in the stream agree."""
    k = stream.neighbors
    place_of = {run: at for at, run in enumerate(runs(stream.ids.tolist(), k))}
    told = [set() for _ in row]
    for begin, run in enumerate(runs(row, k)):
        for step in range(k if run in place_of else 0):
            told[begin + step].add(place_of[run] + step)
    return [places.pop() if len(places) == 1 else -1 for places in told]


some_streams = st.lists(st.integers(1, 4), min_size=2, max_size=40).map(CodedStream)


@settings(max_examples=200)
@given(some_streams, st.data())
def test_rows_are_told_as_a_dictionary_of_runs_tells_them(stream, data):
    cuts = st.tuples(st.integers(0, len(stream)), st.integers(0, 9)).map(lambda c: stream.ids[c[0] : sum(c)].tolist())
    noise = st.lists(st.integers(0, 5), max_size=4)
    row = [id for piece in data.draw(st.lists(cuts | noise, min_size=1, max_size=4)) for id in piece]
    both = stream.positions(np.array([row, row[::-1]], dtype=np.int64))
    assert both.tolist() == [naive_positions(stream, row), naive_positions(stream, row[::-1])]


@given(some_streams)
def test_neighbors_are_as_few_as_tell_and_all_of_the_stream_is_told(stream):
    ids = stream.ids.tolist()
    is_told = [len(set(runs(ids, k))) == len(ids) - k + 1 for k in range(1, stream.neighbors + 1)]
    assert is_told == [False] * (stream.neighbors - 1) + [True]
    assert stream.positions(stream.ids[None]).tolist() == [list(range(len(ids)))]
    values = np.arange(-1, 7)
    assert stream.is_handed_out(values).tolist() == [value in ids for value in values.tolist()]


@pytest.mark.parametrize(("vocab_size", "num_tokens", "neighbors"), [(16, 300, 8), (256, 4_000, 4), (50_257, 4_000, 2)])
def test_small_ids_are_told_by_few_neighbors_and_hold_no_padding(vocab_size, num_tokens, neighbors):
    stream = CodedStream.below(vocab_size, num_tokens)
    assert len(stream) == num_tokens
    assert stream.neighbors <= neighbors
    assert 0 <= stream.ids.min() <= stream.ids.max() < vocab_size
    assert not np.isin(stream.ids, RESERVED).any()
    assert np.array_equal(stream.ids, CodedStream.below(vocab_size, num_tokens).ids)


@pytest.mark.parametrize(
    ("vocab_size", "narrow"),
    [(50_257, ["int16"]), (65_536, ["int16"]), (65_600, ["int16", "uint16"]), (128_256, ["int16", "uint16"])],
)
def test_ids_of_a_large_vocabulary_show_which_dtypes_are_too_narrow(vocab_size, narrow):
    stream = CodedStream.below(vocab_size, 400)
    assert 0.98 * vocab_size < stream.ids.max() < vocab_size - 1  # the last few may be a tokenizer's own
    assert [name for name in stream.narrowed if "16" in name] == narrow
    assert not {"int16", "uint16"} & set(CodedStream.below(32_000, 400).narrowed)
    assert not CodedStream.of_positions(40_000).narrowed
    for name in stream.narrowed:
        kept = stream.ids.astype(name).astype(int)
        assert not np.isin(kept[kept != stream.ids], (*RESERVED, -100, -1)).any() or "8" in name
        if "16" in name:
            assert stream.narrowed[name].count(kept[None]) == np.count_nonzero(kept != stream.ids)
            assert stream.narrowed[name].restore(kept[None]).tolist() == [stream.ids.tolist()]
    assert all(each.count(stream.ids[None]) == 0 for name, each in stream.narrowed.items() if "16" in name)


@pytest.mark.parametrize(("num_tokens", "first"), [(2, 1_000), (30_000, 1_000), (30_001, 1_000_000)])
def test_an_id_for_each_position_tells_it_alone(num_tokens, first):
    stream = CodedStream.of_positions(num_tokens)
    assert stream.neighbors == 1
    assert stream.positions([[first + num_tokens - 1, first - 1, first, first + num_tokens]]).tolist() == [
        [num_tokens - 1, -1, 0, -1]
    ]


def test_texts_are_as_long_as_they_say_and_their_tokens_are_the_stream():
    stream, texts, lengths = CodedStream.of_texts(Bytes(), 3_000)
    encoded = [Bytes().encode(text) for text in texts]
    assert [len(ids) for ids in encoded] == lengths
    assert stream.ids.tolist() == [id for ids in encoded for id in ids]
    assert 3_000 <= len(stream) < 3_000 + max(lengths)
    assert len(set(lengths)) > 1


class Constant:
    def encode(self, text):
        return [7] * len(text)


def test_few_neighbors_or_other_ids_tell_nothing():
    stream = CodedStream([5, 6, 5, 7])
    assert stream.positions([[5, 7], [7, 5]]).tolist() == [[2, 3], [-1, -1]]
    assert stream.positions([[5]]).tolist() == [[-1]]
    assert stream.positions(np.zeros((0, 3), dtype=int)).shape == (0, 3)
    assert stream.positions([[2**62, -(2**62)]]).tolist() == [[-1, -1]]
    assert set(CodedStream.below(6, 10).ids.tolist()) == {4, 5}
    assert CodedStream.below(2**100, 10).neighbors == 1


def test_a_stream_that_counts_tells_what_a_search_would_tell():
    counted, searched = CodedStream.of_positions(40), CodedStream(1_000 + np.arange(40))
    rows = np.array([[999, 1_000, 1_039, 1_040], [-1, 0, 2**62, 1_005]])
    assert counted.positions(rows).tolist() == searched.positions(rows).tolist()
    assert counted.is_handed_out(rows).tolist() == searched.is_handed_out(rows).tolist()


def test_a_stream_that_cannot_tell_is_refused():
    for make in (lambda: CodedStream([7] * 200), lambda: CodedStream.of_texts(Constant(), 500)):
        with pytest.raises(ValueError, match=r"ids must have .*64"):
            make()
    for tokenizer in (Constant, "abc", None):
        with pytest.raises(TypeError, match="tokenizer must have a method encode"):
            CodedStream.of_texts(tokenizer, 500)
