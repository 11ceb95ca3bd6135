"""Counts, starts, batches of windows, and the loader: orders, ranks, workers, resuming."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import pickle
import re
import tracemalloc
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from course_lib.experiments import sliding_windows as experiments
from course_lib.foundation import CharTokenizer, ConvolutionModel, FileOrder, RandomOrder, token_ledger
from course_lib.next_token_shifting import next_token_loss
from course_lib.sliding_windows import (
    OneScreenLoader,
    SlidingWindowDataset,
    WindowLoader,
    count_windows,
    gather_windows,
    loading,
    make_dataloader,
    window_starts,
    workers,
)
from course_lib.teaching import evaluate, train


def naive_starts(num_tokens: int, context_length: int, stride: int) -> list[int]:
    starts, start = [], 0
    while start + context_length + 1 <= num_tokens:
        starts.append(start)
        start += stride
    return starts


def naive_batch(ids, starts, context_length: int) -> tuple[list[list[int]], list[list[int]]]:
    inputs = [[int(ids[s + t]) for t in range(context_length)] for s in starts]
    targets = [[int(ids[s + t + 1]) for t in range(context_length)] for s in starts]
    return inputs, targets


# count_windows, window_starts


@given(st.integers(0, 80), st.integers(1, 30), st.integers(1, 40))
@settings(max_examples=300)
def test_count_and_starts_are_those_of_walking_along_the_stream(num_tokens, context_length, stride):
    expected = naive_starts(num_tokens, context_length, stride)
    assert count_windows(num_tokens, context_length, stride) == len(expected)
    starts = window_starts(num_tokens, context_length, stride)
    assert starts.tolist() == expected
    assert starts.dtype == np.int64


def test_counts_and_starts_of_the_largest_numbers_do_not_overflow():
    assert count_windows(10**18 + 1, 1) == 10**18
    assert count_windows(100_000, np.int8(127), np.int8(127)) == 787
    assert window_starts(10, 2, 2**63).tolist() == [0]
    assert window_starts(5, 2).tolist() == [0, 1, 2]
    assert window_starts(0, 2, 2**63).tolist() == []
    assert SlidingWindowDataset(range(20), 4, 2**70).starts.tolist() == [0]


# gather_windows, make_pairs


@given(st.data())
def test_a_batch_is_what_slicing_token_by_token_gives(data):
    ids = data.draw(st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=40))
    context_length = data.draw(st.integers(1, len(ids) - 1))
    starts = data.draw(st.lists(st.integers(0, len(ids) - context_length - 1), max_size=10))
    inputs, targets = gather_windows(ids, starts, context_length)
    assert (inputs.tolist(), targets.tolist()) == naive_batch(ids, starts, context_length)
    assert inputs.dtype == targets.dtype == torch.int64
    assert inputs.shape == targets.shape == (len(starts), context_length)
    assert torch.equal(SlidingWindowDataset(np.array(ids), context_length)[starts][1], targets)


@pytest.mark.parametrize("shape", [(), (1,), (6,), (2, 3), (2, 3, 1), (0,), (0, 3), (3, 0)])
def test_starts_may_have_any_shape(shape):
    starts = (np.arange(np.prod(shape, dtype=int)) * 2).reshape(shape)
    inputs, targets = gather_windows(np.arange(20), starts, 4)
    assert inputs.shape == targets.shape == (*shape, 4)
    assert np.array_equal(inputs.numpy(), starts[..., None] + np.arange(4))
    assert np.array_equal(targets.numpy(), starts[..., None] + np.arange(1, 5))


MAKERS = {
    "gather": lambda ids: gather_windows(ids, [3, 5, 3], 4),
    "one start": lambda ids: gather_windows(ids, 3, 4),
    "no start": lambda ids: gather_windows(ids, [], 4),
    "one window": lambda ids: SlidingWindowDataset(ids, 4)[3],
    "neighbors": lambda ids: SlidingWindowDataset(ids, 4)[2:9],
    "backward": lambda ids: SlidingWindowDataset(ids, 4)[::-2],
    "windows": lambda ids: SlidingWindowDataset(ids, 4)[[3, 5, 3]],
    "loader": lambda ids: next(iter(make_dataloader(SlidingWindowDataset(ids, 4), 3, base_seed=0))),
}


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int64])
@pytest.mark.parametrize("make", MAKERS)
def test_writing_into_targets_changes_neither_inputs_nor_stream(make, dtype):
    ids = np.arange(20, dtype=dtype)
    inputs, targets = MAKERS[make](ids)
    before = inputs.clone()
    targets[...] = -100
    assert torch.equal(inputs, before)
    assert ids.tolist() == list(range(20))
    assert inputs.is_contiguous()
    assert targets.is_contiguous()
    again, fresh = MAKERS[make](ids)  # nor any other batch
    inputs += 1
    assert torch.equal(again, before)
    assert torch.equal(fresh, before + 1)


@pytest.mark.parametrize(
    ("ids", "starts", "context_length", "words"),
    [
        (range(20), [0, 16], 4, "must lie in 0 ... 15: 5 ids"),
        (range(20), [-1, 3], 4, "got -1 ... 3"),
        (range(4), [0], 4, "must lie in nothing at all"),
        (range(20), [0], 2**63 - 1, "must lie in nothing at all"),
    ],
)
def test_windows_beyond_the_stream_are_refused(ids, starts, context_length, words):
    with pytest.raises(ValueError, match=rf"^starts .*{re.escape(words)}"):
        gather_windows(ids, starts, context_length)


def test_negative_ids_are_refused_and_what_is_not_needed_is_not_read(tmp_path):
    np.array([5, 1, 3, -2]).tofile(tmp_path / "ids.bin")
    ids = np.memmap(tmp_path / "ids.bin", dtype=np.int64, mode="r")
    assert gather_windows(ids, 0, 2)[1].tolist() == [1, 3]
    dataset = SlidingWindowDataset(ids, 2)  # a memory map has not been read yet
    for call in (
        lambda: gather_windows(ids, [0, 1], 2),
        lambda: dataset[1],
        lambda: list(make_dataloader(dataset, 2, base_seed=0)),
        lambda: SlidingWindowDataset([5, -2, 3], 2),
    ):
        with pytest.raises(ValueError, match=r"^ids must .*got -2"):
            call()


# OneScreenLoader


@given(st.integers(5, 60), st.integers(1, 4), st.integers(1, 6), st.integers(1, 20), st.integers(0, 9))
def test_the_loader_on_one_screen_yields_what_the_real_one_yields(num_tokens, context_length, stride, size, seed):
    small = OneScreenLoader(np.arange(num_tokens), context_length, stride, batch_size=size, base_seed=seed)
    windows_ = SlidingWindowDataset(np.arange(num_tokens), context_length, stride)
    loader = make_dataloader(windows_, size, base_seed=seed)
    for _ in range(3):  # epoch after epoch
        assert len(small) == len(loader)
        for got, wanted in zip(small, loader, strict=True):
            assert all(map(torch.equal, got, wanted))


def test_the_loader_on_one_screen_goes_on_where_it_or_the_real_one_was_left():
    make = lambda: OneScreenLoader(np.arange(54), 1, 1, batch_size=5, base_seed=7)
    for delivered in range(11):
        first = make()
        before = [starts_of(batch) for batch in itertools.islice(first, delivered)]
        state = json.loads(json.dumps(first.state_dict()))
        real = small_loader(0, delivered)
        second = make()
        second.load_state_dict(state)
        assert len(second) == 11 - delivered
        rest = windows(second)
        assert before + rest == epoch(53, 5)
        assert windows(second) == epoch(53, 5, 1)
        assert windows(real) == rest
        if delivered:
            assert real.sampler.position.begin == (1, 0)


def test_the_loader_on_one_screen_loses_nothing_by_a_peek_or_a_break():
    one_screen = lambda: OneScreenLoader(np.arange(54), 1, 1, batch_size=5, base_seed=7)
    loaders = one_screen(), small_loader()
    for each in loaders:  # a peek before the loop, and one within it
        assert starts_of(next(iter(each))) == epoch(53, 5)[0]
        got = []
        for batch in each:
            got.append(starts_of(batch))
            if len(got) == 4:
                next(iter(each))
        assert got == epoch(53, 5)
    for stop in (3, 11):  # a break, even after the last batch, doesn't end the epoch, as nobody has seen its end
        assert [windows(itertools.islice(each, stop)) for each in loaders] == [epoch(53, 5, 1)[:stop]] * 2
        small, real = (each.state_dict() for each in loaders)
        assert small == {name: real[name] for name in small}
        assert small == (at(1, 3) if stop == 3 else at(2, 0))
        again = one_screen()
        again.load_state_dict(small)
        assert windows(again) == windows(resumed(real))
    assert [windows(each) for each in loaders] == [epoch(53, 5, 1)] * 2
    assert [len(each) for each in loaders] == [11, 11]


# SlidingWindowDataset: windows


@given(st.integers(2, 60), st.integers(1, 20), st.integers(1, 25))
def test_the_data_set_holds_exactly_the_windows_at_its_starts(num_tokens, context_length, stride):
    expected = naive_starts(num_tokens, context_length, stride)
    ids = list(range(100, 100 + num_tokens))
    if not expected:
        with pytest.raises(
            ValueError, match=rf"^ids must hold at least {context_length + 1} tokens.*got {num_tokens}$"
        ):
            SlidingWindowDataset(ids, context_length, stride)
        return
    dataset = SlidingWindowDataset(ids, context_length, stride)
    assert len(dataset) == len(expected)
    assert dataset.starts.tolist() == expected
    inputs, targets = naive_batch(ids, expected, context_length)
    assert [dataset[i][0].tolist() for i in range(len(dataset))] == inputs
    assert [dataset[i][1].tolist() for i in range(len(dataset))] == targets
    assert dataset[:][0].tolist() == inputs


def test_indices_work_as_in_a_list():
    dataset, starts = SlidingWindowDataset(range(20), 3, 2), np.arange(0, 17, 2)
    assert len(dataset) == len(starts) == 9
    one = (0, 8, -9, np.int64(2), torch.tensor(-2))
    cuts = (slice(2, 5), slice(None), slice(-3, None), slice(None, None, -2), slice(5, 5), slice(7, 100))
    several = ([3, 0, 3, -1], torch.tensor([8, 1]), range(3), [], np.array([[0, 1], [2, 3]]))
    for index in (*one, *cuts, *several):
        inputs, targets = map(torch.Tensor.numpy, dataset[index])
        first = starts[index if isinstance(index, slice) else np.asarray(index, dtype=int)]
        assert np.array_equal(inputs, first[..., None] + np.arange(3))
        assert np.array_equal(targets, inputs + 1)


@pytest.mark.parametrize("index", [16, -17, [0, 16], None, [True, False]])
def test_an_index_that_a_list_would_refuse_is_refused(index):
    dataset = SlidingWindowDataset(range(20), 4)
    for windows_ in (dataset, dataset.as_rows()):
        with pytest.raises((IndexError, TypeError), match=r"^index must (lie within the 16 windows|be)"):
            windows_[index]


@pytest.mark.parametrize("name", ["stream", "context_length", "stride", "starts"])
def test_what_the_windows_depend_on_cannot_be_set_later(name):
    with pytest.raises(AttributeError, match=name):
        setattr(SlidingWindowDataset(range(20), 4), name, 2)


# SlidingWindowDataset: memory and pickles


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, ">u2", np.uint32])
def test_a_compact_stream_is_not_copied(dtype):
    ids = np.arange(200).astype(dtype)
    dataset = SlidingWindowDataset(ids, 4, 3)
    assert np.shares_memory(dataset.stream, ids)
    with pytest.raises(ValueError, match="read-only"):
        dataset.stream[:][0] = 1


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.int64])
def test_a_memory_map_is_not_copied_whatever_its_dtype(tmp_path, dtype):
    np.arange(1000, dtype=dtype).tofile(tmp_path / "ids.bin")
    ids = np.memmap(tmp_path / "ids.bin", dtype=dtype, mode="r")
    dataset = SlidingWindowDataset(ids, 4, 3)
    assert np.shares_memory(dataset.stream, ids)
    for inputs, _ in (dataset[[0, 331]], gather_windows(ids, [0, 993], 4)):
        assert inputs[:, 0].tolist() == [0, 993]


@contextlib.contextmanager
def memory_below(num_bytes: int):
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < num_bytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("stride", [1, 256])
def test_windows_cost_no_memory_whatever_the_stride(stride):
    ids = np.zeros(1_000_000, dtype=np.uint16)
    with memory_below(1_000_000):  # less than the stream's 2 MB, and far from the 8 MB of one int64 per window
        dataset = SlidingWindowDataset(ids, 256, stride)
        next(iter(make_dataloader(dataset, 8, base_seed=0, shuffle=False)))
    assert len(dataset) == count_windows(1_000_000, 256, stride)


def test_a_shuffled_epoch_stores_no_list_of_its_windows():
    loader = make_dataloader(SlidingWindowDataset(np.zeros(4_000_000, dtype=np.uint16), 256), 8, base_seed=0)
    with memory_below(4_000_000):  # one int64 per window would be 32 MB
        next(iter(loader))


def test_pickling_writes_the_stream_once_and_nothing_else():
    dataset = SlidingWindowDataset(np.arange(10_000, dtype=np.uint16), 64)
    written = pickle.dumps(dataset)
    assert len(written) < 20_000 + 1_000
    for restored in (pickle.loads(written), copy.deepcopy(dataset)):
        assert len(restored) == len(dataset)
        assert torch.equal(restored[[0, -1]][1], dataset[[0, -1]][1])
        assert (restored.context_length, restored.stride) == (64, 1)


@pytest.fixture(params=["whole", "behind a header", "slice", "of int64"])
def mapped(request, tmp_path) -> tuple[np.ndarray, int]:
    """A memory map, and the id that it begins with."""
    dtype = np.int64 if request.param == "of int64" else np.uint16
    np.arange(60_000, dtype=dtype).tofile(tmp_path / "ids.bin")
    offset = 2 * 5_000 if request.param == "behind a header" else 0
    ids = np.memmap(tmp_path / "ids.bin", dtype=dtype, mode="r", offset=offset)
    return (ids[300:-7], 300) if request.param == "slice" else (ids, offset // 2)


def test_a_memory_map_is_pickled_as_the_name_of_its_file(mapped):
    ids, first = mapped
    dataset = SlidingWindowDataset(ids, 64, 3)
    written = pickle.dumps(dataset)
    assert len(written) < 1_500
    restored = pickle.loads(written)
    assert len(restored) == len(dataset)
    assert restored.stream.dtype == ids.dtype
    assert restored[0][0][0].item() == first
    assert torch.equal(restored[:][1], dataset[:][1])
    assert restored.fingerprint == dataset.fingerprint
    assert len(pickle.dumps(restored)) < 1_500  # and again


@pytest.mark.parametrize("change", [lambda ids: ids[::2], lambda ids: np.array(ids)])
def test_what_a_file_alone_cannot_bring_back_is_pickled_itself(mapped, change):
    ids = change(mapped[0])
    restored = pickle.loads(pickle.dumps(SlidingWindowDataset(ids, 64)))
    assert np.array_equal(restored.stream, ids)


def test_a_private_map_is_pickled_with_what_was_written_into_it(tmp_path):
    np.arange(100, dtype=np.uint16).tofile(tmp_path / "ids.bin")
    ids = np.memmap(tmp_path / "ids.bin", dtype=np.uint16, mode="c")
    ids[0] = 7
    assert pickle.loads(pickle.dumps(SlidingWindowDataset(ids, 4))).stream[0] == 7


# SlidingWindowDataset: the padded tail, and rows for transformers


def naive_padded(num_tokens: int, context_length: int, stride: int) -> list[int]:
    """The starts of whole windows, and the next one if it has a target and ids that no other window has."""
    starts = naive_starts(num_tokens, context_length, stride)
    reached = starts[-1] + context_length + 1 if starts else 0
    following = starts[-1] + stride if starts else 0
    return starts + [following] * (reached < num_tokens and following + 2 <= num_tokens)


@given(st.integers(0, 60), st.integers(1, 20), st.integers(1, 25))
def test_a_padded_tail_adds_the_one_window_that_is_missing(num_tokens, context_length, stride):
    ids = list(range(100, 100 + num_tokens))
    expected = naive_padded(num_tokens, context_length, stride)
    if not expected:
        with pytest.raises(ValueError, match=rf"^ids must hold at least 2 tokens for one window.*got {num_tokens}$"):
            SlidingWindowDataset(ids, context_length, stride, pad_tail=True)
        return
    dataset = SlidingWindowDataset(ids, context_length, stride, pad_tail=True)
    assert dataset.starts.tolist() == expected
    whole = naive_starts(num_tokens, context_length, stride)
    inputs, targets = (half[: len(whole)] for half in dataset[:])
    assert (inputs.tolist(), targets.tolist()) == naive_batch(ids, whole, context_length)
    for start, inputs, targets in zip(expected, *map(torch.Tensor.tolist, dataset[:]), strict=True):
        real = ids[start : start + context_length + 1]
        assert inputs == (real + [0] * context_length)[:context_length]
        assert targets == (real[1:] + [-100] * context_length)[:context_length]
    if stride <= context_length:  # so every token but the first is a target
        assert set(dataset[:][1].flatten().tolist()) - {-100} == set(ids[1:])
    ledger = token_ledger(dataset.starts, num_tokens, dataset.context_lengths)
    assert ledger.used + sum(ledger.dropped.values()) == num_tokens
    assert ledger.as_target.sum() == (dataset[:][1] != -100).sum()
    assert "tail" not in ledger.dropped or stride > context_length


def padded(**settings) -> SlidingWindowDataset:
    return SlidingWindowDataset(np.arange(1, 32), 4, 4, pad_tail=True, **settings)  # 7 whole windows, and ids 29 to 31


def test_padded_rows_for_transformers_predict_what_the_pairs_predict():
    rows = padded().as_rows()
    assert len(rows) == 8
    assert {name: ids.tolist() for name, ids in rows[-1].items()} == {
        "input_ids": [29, 30, 31, 0, 0],
        "labels": [-100, 30, 31, -100, -100],
    }
    inputs, targets = padded()[:]
    assert torch.equal(rows[:]["labels"][:, 1:], targets)
    assert torch.equal(rows[:]["input_ids"][:, :-1], inputs)
    assert (rows.starts == padded().starts).all()


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("workers", [{}, {"num_workers": 2}, {"num_workers": 1, "multiprocessing_context": "spawn"}])
def test_the_loader_delivers_a_padded_window_with_and_without_workers(workers, rows):
    dataset = padded().as_rows() if rows else padded()
    loader = make_dataloader(dataset, 3, base_seed=7, **workers)
    for number, batch in enumerate(loader):
        windows_ = loader.sampler.order_of(0)[3 * number + np.arange(len(batch["labels" if rows else 0]))]
        wanted = dataset[windows_]
        pairs = zip(batch.values(), wanted.values(), strict=True) if rows else zip(batch, wanted, strict=True)
        assert all(torch.equal(*pair) for pair in pairs)
    state = loader.state_dict()
    plain = make_dataloader(SlidingWindowDataset(np.arange(1, 32), 4, 4), 3, base_seed=7)
    with pytest.raises(ValueError, match="saved with num_windows=8, but this loader has num_windows=7"):
        plain.load_state_dict(state)


# SlidingWindowDataset.fingerprint


@pytest.mark.parametrize("num_tokens", [2, 1000, 2**16 + 1, 300_000])
def test_the_fingerprint_tells_texts_apart_and_not_their_dtypes(num_tokens):
    ids = np.random.default_rng(0).integers(0, 200, num_tokens)
    fingerprint = SlidingWindowDataset(ids, 1).fingerprint
    for same in (ids.tolist(), ids.astype(np.uint8), ids.astype(">u4"), torch.from_numpy(ids.copy())):
        assert SlidingWindowDataset(same, 1).fingerprint == fingerprint
    others = [np.roll(ids, 1), ids + 1]
    for position_ in (0, -1):
        others.append(ids.copy())
        others[-1][position_] += 1
    assert fingerprint not in {SlidingWindowDataset(other, 1).fingerprint for other in others}


@pytest.fixture(params=["in memory", "in a file"])
def mapped_in(request, tmp_path) -> Callable[[np.ndarray], np.ndarray]:
    """Holds ids in memory, or in a file each."""
    names = map(str, itertools.count())

    def hold(ids: np.ndarray) -> np.ndarray:
        if request.param == "in memory":
            return ids
        path = tmp_path / next(names)
        ids.tofile(path)
        return np.memmap(path, ids.dtype, "r")

    return hold


@pytest.mark.parametrize("dtype", [np.uint16, np.int64])
def test_a_text_is_known_by_all_of_its_ids(mapped_in, dtype):
    ids = np.arange(300_000, dtype=dtype) % 50_000
    fingerprints = [SlidingWindowDataset(mapped_in(ids), 8).fingerprint]
    for position_ in (1_500, 150_000, 299_999):  # between the 64 places that were once looked at, too
        changed = ids.copy()
        changed[position_] += 1
        fingerprints.append(SlidingWindowDataset(mapped_in(changed), 8).fingerprint)
    half = ids.copy()
    for begin in range(0, len(ids), 4_096):
        half[begin + 1_024 : begin + 3_072] = 7
    fingerprints += [SlidingWindowDataset(mapped_in(half), 8).fingerprint]
    fingerprints += [SlidingWindowDataset(ids[::2], 8).fingerprint, SlidingWindowDataset(ids + 50_000, 8).fingerprint]
    assert len(set(fingerprints)) == 7
    loaders = [make_dataloader(SlidingWindowDataset(each, 8, 8), 4, base_seed=7) for each in (ids, half)]
    with pytest.raises(ValueError, match="saved with fingerprint="):
        loaders[1].load_state_dict(loaders[0].state_dict())


def test_the_fingerprint_is_computed_once_in_little_memory():
    dataset = SlidingWindowDataset(np.zeros(10_000_000, dtype=np.uint8), 8)
    with memory_below(2_000_000):
        assert len(dataset.fingerprint) == 16
    with patch("hashlib.sha256", side_effect=AssertionError):
        for same in (dataset, dataset.as_rows(), SlidingWindowDataset(dataset.stream, 4)):
            assert same.fingerprint == dataset.fingerprint


# make_dataloader


def indexed(num_windows: int) -> SlidingWindowDataset:
    """A data set whose window i begins with id i, so that a batch tells which windows it holds."""
    return SlidingWindowDataset(np.arange(num_windows + 1), 1)


def starts_of(batch) -> list[int]:
    return batch[0][:, 0].tolist()


def windows(loader) -> list[list[int]]:
    return [starts_of(batch) for batch in loader]


def flat(batches: list[list[int]]) -> list[int]:
    return [window for batch in batches for window in batch]


def epoch(num_windows: int, batch_size: int, number: int = 0, **settings) -> list[list[int]]:
    loader = make_dataloader(indexed(num_windows), batch_size, **({"base_seed": 7} | settings))
    loader.sampler.set_epoch(number)
    batches = windows(loader)
    assert len(batches) == len(loader)
    return batches


def test_the_loader_is_a_torch_dataloader_of_int64_batches():
    loader = make_dataloader(SlidingWindowDataset(range(20), 4, 3), 2, base_seed=0, shuffle=False)
    assert isinstance(loader, DataLoader)
    assert (len(loader), len(loader.dataset), loader.sampler.batch_size) == (3, 6, 2)
    batches = list(loader)
    assert batches[1][0].tolist() == [[6, 7, 8, 9], [9, 10, 11, 12]]
    assert batches[1][1].tolist() == [[7, 8, 9, 10], [10, 11, 12, 13]]
    assert batches[1][0].dtype == batches[1][1].dtype == torch.int64


@given(st.integers(1, 60), st.integers(1, 20), st.booleans(), st.booleans(), st.integers(0, 5))
def test_an_epoch_covers_every_window_exactly_once(num_windows, batch_size, shuffle, drop_last, number):
    if drop_last and num_windows < batch_size:
        return
    batches = epoch(num_windows, batch_size, number, shuffle=shuffle, drop_last=drop_last)
    full, rest = divmod(num_windows, batch_size)
    sizes = [batch_size] * full + ([rest] if rest and not drop_last else [])
    assert [len(batch) for batch in batches] == sizes
    seen = flat(batches)
    assert len(set(seen)) == len(seen) == sum(sizes)
    assert set(seen) <= set(range(num_windows))
    if not shuffle:
        assert seen == list(range(sum(sizes)))


@pytest.mark.parametrize("number", [1, 10])
@pytest.mark.parametrize("shuffle", [True, False])
def test_how_many_indices_are_made_together_changes_nothing(monkeypatch, number, shuffle):
    expected = epoch(53, 5, shuffle=shuffle)
    monkeypatch.setattr(loading, "INDICES_PER_BLOCK", number)
    for num_workers in (0, 2):
        loader = make_dataloader(indexed(53), 5, base_seed=7, shuffle=shuffle, num_workers=num_workers)
        delivered = [(batch, position(loader)) for batch in map(starts_of, loader)]
        assert delivered == [(batch, place(0, number)) for number, batch in enumerate(expected, start=1)]


# In large batches where there are many windows, since it is the batches that take long.
@pytest.mark.parametrize(("num_windows", "size", "other_size"), [(103, 10, 17), (70_001, 1_000, 1_700)])
def test_the_order_is_a_function_of_base_seed_plus_epoch_alone(num_windows, size, other_size):
    assert epoch(num_windows, size, 1, base_seed=7) == epoch(num_windows, size, 0, base_seed=8)
    first = epoch(num_windows, size, 0)
    np.random.seed(3)  # noqa: NPY002 - the global generators are what must not matter
    torch.manual_seed(3)
    assert epoch(num_windows, size, 0) == first
    assert flat(epoch(num_windows, other_size, 0)) == flat(first)
    # ... nor of what ran before
    loader = make_dataloader(indexed(num_windows), size, base_seed=7)
    for number in (0, 3, 1, 1):
        loader.sampler.set_epoch(number)
        assert windows(loader) == epoch(num_windows, size, number)


@pytest.mark.parametrize("num_bytes", [1, 3 * 5 * 2 * 2, 2**30])  # a batch, three of them, all
def test_how_many_batches_travel_together_changes_nothing(monkeypatch, num_bytes):
    monkeypatch.setattr(workers, "BYTES_PER_MESSAGE", num_bytes)
    loader = make_dataloader(indexed(53), 5, base_seed=7, num_workers=2)
    assert len(loader._messages) == {1: 11, 60: 4, 2**30: 1}[num_bytes]
    for number in range(2):
        delivered = [(batch, position(loader)) for batch in map(starts_of, loader)]
        wanted = enumerate(epoch(53, 5, number), start=1)
        assert delivered == [(batch, place(number, count)) for count, batch in wanted]


@pytest.mark.parametrize("num_workers", [1, 2])
def test_workers_change_nothing(num_workers):
    for settings_ in ({}, {"shuffle": False}, {"drop_last": True}, {"rank": 1, "world_size": 2}):
        assert epoch(53, 4, 2, num_workers=num_workers, **settings_) == epoch(53, 4, 2, **settings_)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_loading_leaves_the_global_generators_alone(num_workers):
    torch_state = torch.random.get_rng_state()
    numpy_state = np.random.get_state()[1].tolist()  # noqa: NPY002
    epoch(53, 4, num_workers=num_workers)
    assert torch.equal(torch.random.get_rng_state(), torch_state)
    assert np.random.get_state()[1].tolist() == numpy_state  # noqa: NPY002


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"batch_size": 17, "drop_last": True}, "needs at least 17 windows for one batch, got 16"),
        ({"batch_size": 9, "drop_last": True, "world_size": 2}, "needs at least 18 windows"),
        ({"world_size": 17}, "needs at least 17 windows"),
        ({"rank": 1}, "rank must be an integer of at least 0 and at most 0, got 1"),
        ({"shuffle": False, "order": RandomOrder}, "shuffle must be left out where order"),
        ({"order": lambda size, seed: np.zeros(size, dtype=int)}, "order must hold each window once"),
        ({"drop": [], "in_order": False}, "got drop, in_order: the others would change the batches"),
        ({"pin_memory": "no"}, "pin_memory must be True or False, got 'no'"),
        ({"persistent_workers": 1}, "persistent_workers must be True or False"),
        ({"num_workers": 1, "prefetch_factor": 0}, "prefetch_factor must be"),
        ({"num_workers": 1, "timeout": -1}, "timeout must be"),
    ],
)
def test_a_loader_that_could_not_be_read_as_asked_is_refused(settings, words):
    settings = {"batch_size": 2, "base_seed": 0} | settings
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        make_dataloader(SlidingWindowDataset(range(20), 4), **settings)


# make_dataloader: ranks


@given(st.integers(1, 80), st.integers(1, 9), st.integers(1, 5), st.booleans(), st.booleans(), st.integers(0, 3))
def test_ranks_share_out_one_process_batch_by_batch(num_windows, batch_size, world_size, shuffle, drop_last, number):
    if num_windows < (batch_size * world_size if drop_last else world_size):
        return
    common = {"shuffle": shuffle, "drop_last": drop_last}
    ranks = [epoch(num_windows, batch_size, number, rank=r, world_size=world_size, **common) for r in range(world_size)]
    alone = epoch(num_windows, batch_size * world_size, number, **common)
    # as long as one another, batch by batch
    assert len({tuple(len(batch) for batch in rank) for rank in ranks}) == 1
    # the k-th batches together are the k-th batch of one process, but for what cannot be shared out evenly
    together = [flat(list(batches)) for batches in zip(*ranks, strict=True)]
    full = num_windows // (batch_size * world_size)
    assert together[:full] == alone[:full]
    for share, batch in zip(together[full:], alone[full:], strict=False):
        assert share == batch[: len(share)]
    # disjoint, and complete but for fewer windows than ranks
    seen = flat(together)
    assert len(set(seen)) == len(seen)
    left_out = num_windows - len(seen)
    assert left_out < (batch_size * world_size if drop_last else world_size)


def test_what_ranks_leave_out_differs_from_epoch_to_epoch():
    def left_out(number):
        ranks = [epoch(20, 2, number, rank=r, world_size=3) for r in range(3)]
        return set(range(20)) - set(flat(ranks[0]) + flat(ranks[1]) + flat(ranks[2]))

    assert all(len(left_out(number)) == 2 for number in range(6))
    assert len({frozenset(left_out(number)) for number in range(6)}) > 1


def test_each_rank_resumes_its_own_share():
    whole = epoch(53, 4, rank=1, world_size=3)
    loader = make_dataloader(indexed(53), 4, base_seed=7, rank=1, world_size=3)
    loader.load_state_dict(loader.state_dict() | {"windows_delivered": 2 * 4 * 3})
    assert windows(loader) == whole[2:]


# WindowLoader.state_dict, .load_state_dict


def position(loader) -> tuple[int, int]:
    state = loader.state_dict()
    return state["epoch"], state["windows_delivered"] // 5


def place(number: int, delivered: int, of: int = 11) -> tuple[int, int]:
    """Where a reader stands; behind the last batch, at the beginning of the next epoch."""
    return (number, delivered) if delivered < of else (number + 1, 0)


def at(number: int, delivered: int) -> dict[str, int]:
    """The entries of a state behind so many batches of 5 of 53 windows."""
    return {"epoch": number, "windows_delivered": min(53, 5 * delivered)}


def small_loader(number: int = 0, delivered: int = 0, **settings) -> WindowLoader:
    """A loader of 53 windows in 11 batches that goes on in an epoch behind the batches delivered."""
    loader = make_dataloader(indexed(53), 5, **({"base_seed": 7} | settings))
    loader.set_epoch(number)  # whose order is in the state
    loader.load_state_dict(loader.state_dict() | at(number, delivered))
    return loader


def resumed(state: dict, **settings) -> WindowLoader:
    loader = small_loader(**settings)
    loader.load_state_dict(state)
    return loader


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("shuffle", [True, False])
def test_resuming_after_any_batch_yields_exactly_the_rest(shuffle, drop_last):
    settings_ = {"shuffle": shuffle, "drop_last": drop_last}
    whole, after = epoch(53, 5, 3, **settings_), epoch(53, 5, 4, **settings_)
    for delivered in range(len(whole) + 1):
        loader = make_dataloader(indexed(53), 5, base_seed=7, **settings_)
        loader.sampler.set_epoch(3)
        batches = iter(loader)
        before = [starts_of(next(batches)) for _ in range(delivered)]
        state = json.loads(json.dumps(loader.state_dict()))
        rest = whole[delivered:] or after  # never an empty epoch
        assert (before, windows(resumed(state, **settings_))) == (whole[:delivered], rest)
    of_the_epoch = small_loader(3, **settings_).state_dict()
    for delivered in range(len(whole) + 1):  # a state that somebody has changed, to skip batches
        assert windows(resumed(of_the_epoch | at(3, delivered), **settings_)) == (whole[delivered:] or after)


@pytest.mark.parametrize("saving_workers", [0, 2])
@pytest.mark.parametrize("delivered", [0, 4, 11])
def test_resuming_counts_what_reached_the_reader_not_what_workers_fetched_ahead(saving_workers, delivered):
    loader = small_loader(num_workers=saving_workers)
    batches = iter(loader)
    for _ in range(delivered):
        next(batches)
    rest = epoch(53, 5)[delivered:] or epoch(53, 5, 1)
    assert windows(resumed(loader.state_dict(), num_workers=2 - saving_workers)) == rest


@pytest.mark.parametrize("num_workers", [0, 2])
def test_after_a_resumed_epoch_the_next_one_is_whole(num_workers):
    loader = small_loader(2, 4, num_workers=num_workers)
    loader.sampler.set_epoch(2)  # as a training loop does at the head of each epoch: it goes on
    assert len(loader) == 7
    assert windows(loader) == epoch(53, 5, 2)[4:]
    assert len(loader) == 11
    assert windows(loader) == epoch(53, 5, 3)
    loader = small_loader(2, 4, num_workers=num_workers)
    loader.sampler.set_epoch(3)
    assert windows(loader) == epoch(53, 5, 3)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("base_seed", {"base_seed": 8}),
        ("order", {"shuffle": False}),
        ("num_tokens", {"dataset": indexed(54)}),
        ("fingerprint", {"dataset": SlidingWindowDataset(range(1, 55), 1)}),
        ("context_length", {"dataset": SlidingWindowDataset(range(54), 2)}),
        ("stride", {"dataset": SlidingWindowDataset(range(54), 1, 2)}),
    ],
)
def test_a_state_of_another_loader_is_refused_by_what_differs(name, changes):
    arguments = {"dataset": indexed(53), "batch_size": 5, "base_seed": 7}
    state = make_dataloader(**arguments).state_dict()
    loader = make_dataloader(**(arguments | changes))
    with pytest.raises(ValueError, match=rf"^state was saved with {name}=.*, but this loader has {name}="):
        loader.load_state_dict(state)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"windows_delivered": 54}, r"windows_delivered must be .*0 .*53"),
        ({"windows_delivered": -1}, "windows_delivered must be"),
        ({"epoch": -1}, "epoch must be"),
        ({"stride": np.array([1])}, "state was saved with stride=array"),
    ],
)
def test_a_state_that_nobody_saved_is_refused_and_changes_nothing(entry, words):
    loader = small_loader(2, 4)
    before = loader.state_dict()
    with pytest.raises((TypeError, ValueError), match=rf"^{words}"):
        loader.load_state_dict(before | entry)
    assert loader.state_dict() == before


# WindowLoader.set_epoch, and several iterators: the position belongs to the one that acted last


@pytest.mark.parametrize("num_workers", [0, 2])
def test_epoch_follows_epoch_unless_another_is_set(num_workers):
    loader = small_loader(num_workers=num_workers)
    assert [windows(loader), windows(loader)] == [epoch(53, 5, 0), epoch(53, 5, 1)]
    next(iter(loader))  # which has not reached its end
    for _ in zip(range(11), loader, strict=False):  # nor has this one
        pass
    assert windows(loader) == epoch(53, 5, 2)
    loader.set_epoch(2)  # of the loader itself, for those who know it by that name
    assert [windows(loader), windows(loader)] == [epoch(53, 5, 2), epoch(53, 5, 3)]


def test_an_epoch_before_that_of_a_loaded_state_is_refused():
    loader = small_loader(3, 4)
    with pytest.raises(ValueError, match=r"epoch must .*got 0"):
        loader.sampler.set_epoch(0)
    loader.sampler.set_epoch(3)
    loader.sampler.set_epoch(0)  # from now on it is as any other
    assert windows(loader) == epoch(53, 5, 0)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_peek_does_not_move_the_loop_that_runs(num_workers):
    whole = epoch(53, 5, 2)
    loader = small_loader(num_workers=num_workers)
    loader.sampler.set_epoch(2)
    got = []
    for number, batch in enumerate(loader, start=1):
        got.append(starts_of(batch))
        assert position(loader) == place(2, number)
        assert windows(resumed(loader.state_dict())) == (whole[number:] or epoch(53, 5, 3))
        if number in (3, 7):
            assert starts_of(next(iter(loader))) == whole[0]
            assert position(loader) == (2, 1)  # until the loop goes on
    assert got == whole
    assert position(loader) == (3, 0)


def test_a_peek_after_loading_keeps_the_loaded_position():
    whole = epoch(53, 5, 2)
    loader = small_loader(2, 4)
    assert position(loader) == (2, 4)  # before the first batch, too
    for _ in range(2):  # each iteration begins there, until one has come to the end
        assert starts_of(next(iter(loader))) == whole[4]
        assert position(loader) == (2, 5)
    loader.sampler.set_epoch(2)
    assert windows(loader) == whole[4:]
    assert windows(loader) == epoch(53, 5, 3)


@pytest.mark.filterwarnings("ignore:.*pin_memory.*")  # nothing to pin it for
@pytest.mark.parametrize("how", [{}, {"num_workers": 2}, {"pin_memory": True}, {"num_workers": 2, "pin_memory": True}])
def test_an_iteration_that_has_not_delivered_yet_has_begun(how):
    loader = small_loader(**how)
    batches = iter(loader)
    loader.sampler.set_epoch(1)
    assert starts_of(next(batches)) == epoch(53, 5)[0]
    assert position(loader) == (0, 1)
    assert windows(loader) == epoch(53, 5, 1)


def test_setting_the_epoch_does_not_move_a_loop_that_runs():
    loader = small_loader()
    batches = iter(loader)
    got = [starts_of(next(batches)) for _ in range(3)]
    loader.sampler.set_epoch(1)
    assert position(loader) == (1, 0)
    got.append(starts_of(next(batches)))
    assert position(loader) == (0, 4)
    assert windows(resumed(loader.state_dict())) == epoch(53, 5)[4:]
    got += [starts_of(batch) for batch in batches]
    assert got == epoch(53, 5)
    assert windows(loader) == epoch(53, 5, 1)
    assert position(loader) == (2, 0)


# The experiments: the same loops as a reader would write them, on texts that are short and for few steps.

TEXT = "".join(chr(97 + (i * i + i // 50) % 13) for i in range(3_000))
SEEDS = (3, 5)
HOW = {"num_updates": 2, "learning_rate": 0.02, "seeds": SEEDS}


def parts_by_hand(text: str, run: int) -> tuple[np.ndarray, np.ndarray, int]:
    """The text of a run to train on, the tenth that is held out, and the size of the vocabulary."""
    tokenizer = CharTokenizer(text, max_characters=256)
    ids = tokenizer.encode(text)
    turned = np.roll(ids, -(run * len(ids) // len(SEEDS)))
    return *np.split(turned, [int(0.9 * len(ids))]), tokenizer.vocab_size


def model_by_hand(batches, vocab_size: int, seed: int) -> ConvolutionModel:
    torch.manual_seed(seed)
    model = ConvolutionModel(vocab_size)
    train(model, batches, num_updates=2, learning_rate=0.02, progress=False)
    return model


def backward(size: int, seed: int) -> np.ndarray:
    return np.arange(size)[::-1].copy()


def test_orders_are_compared_as_by_hand():
    orders = {"in order": (1, FileOrder), "shuffled": (5, RandomOrder), "backward": (5, backward)}
    losses = experiments.compare_orders({"a": TEXT, "b": TEXT[::-1]}, orders, 5, 4, **HOW)
    assert list(losses) == ["a", "b"]
    assert list(losses["a"]) == list(orders)
    for run, seed in enumerate(SEEDS):
        training, held_out, vocab_size = parts_by_hand(TEXT, run)
        for name, (stride, _) in orders.items():
            starts = np.arange(2 * 4) * stride  # the windows of two batches, each of them once
            if name == "shuffled":
                starts = starts[RandomOrder(8, 1000 * seed)[np.arange(8)]]
            if name == "backward":
                starts = starts[::-1]
            batches = [gather_windows(training, batch, 5) for batch in np.reshape(starts, (2, 4))]
            model = model_by_hand(batches, vocab_size, seed)
            assert losses["a"][name][run] == evaluate(model, held_out, 5).bits_per_token
    found = [loss for of_text in losses.values() for values in of_text.values() for loss in values]
    assert len(set(found)) == len(found)


def test_crops_come_from_what_windows_of_stride_t_would_read():
    losses = experiments.train_on_crops(TEXT, 5, 4, **HOW)
    for run, seed in enumerate(SEEDS):
        training, held_out, vocab_size = parts_by_hand(TEXT, run)
        generator = np.random.default_rng(seed)
        starts = [generator.integers(2 * 4 * 5, size=4) for _ in range(2)]
        batches = [gather_windows(training, batch, 5) for batch in starts]
        assert losses[run] == evaluate(model_by_hand(batches, vocab_size, seed), held_out, 5).bits_per_token


def test_gradients_are_compared_as_by_hand():
    similar = experiments.gradient_similarity(TEXT, (0, 1, 9), 5, 4, **HOW)
    assert similar[0] == pytest.approx([1, 1])  # a window and itself
    for run, seed in enumerate(SEEDS):
        training, _, vocab_size = parts_by_hand(TEXT, run)
        windows = SlidingWindowDataset(training[: 2 * 4 + 5], 5, 1)
        model = model_by_hand(make_dataloader(windows, 4, base_seed=1000 * seed), vocab_size, seed)

        def gradient(start: int, model=model, training=training) -> torch.Tensor:
            inputs, targets = gather_windows(training, [start], 5)
            loss = next_token_loss(model(inputs), targets)
            return torch.cat([each.flatten() for each in torch.autograd.grad(loss, list(model.parameters()))])

        starts = np.random.default_rng(seed).integers(len(training) - 5 - 9, size=experiments.STARTS)
        for distance in (1, 9):
            each = [torch.cosine_similarity(gradient(s), gradient(s + distance), dim=0).item() for s in starts]
            assert similar[distance][run] == pytest.approx(np.mean(each))
            assert abs(similar[distance][run]) < 0.999
