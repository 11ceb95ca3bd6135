"""Counts, starts, batches of windows, and the loader: orders, ranks, workers, resuming."""

from __future__ import annotations

import copy
import json
import pickle
import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from course_lib import sliding_windows
from course_lib.sliding_windows import (
    BatchOrder,
    SlidingWindowDataset,
    count_windows,
    gather_windows,
    make_dataloader,
    window_starts,
)

# Naive twins, straight from the definitions.


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


# Counting and starts


@given(st.integers(0, 80), st.integers(1, 30), st.integers(1, 40))
@settings(deadline=None, max_examples=300)
def test_count_and_starts_are_those_of_walking_along_the_stream(num_tokens, context_length, stride):
    expected = naive_starts(num_tokens, context_length, stride)
    assert count_windows(num_tokens, context_length, stride) == len(expected)
    starts = window_starts(num_tokens, context_length, stride)
    assert starts.tolist() == expected
    assert starts.dtype == np.int64


@pytest.mark.parametrize("num_tokens", [0, 1, 3, 4])
def test_a_stream_too_short_for_one_window_counts_zero(num_tokens):
    assert count_windows(num_tokens, 4, 3) == 0
    assert window_starts(num_tokens, 4, 3).shape == (0,)


def test_the_shortest_stream_has_one_window():
    assert count_windows(5, 4) == count_windows(5, 4, 1000) == 1


def test_stride_one_makes_as_many_windows_as_tokens_that_can_be_a_last_target():
    assert count_windows(100, 10) == 90


def test_counts_are_exact_far_beyond_what_floats_can_tell_apart():
    assert count_windows(10**18 + 1, 1, 1) == 10**18


@pytest.mark.parametrize("function", [count_windows, window_starts, SlidingWindowDataset.count_windows])
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((-1, 4, 1), ValueError, "num_tokens must be an integer of at least 0, got -1"),
        ((10, 0, 1), ValueError, "context_length must be an integer of at least 1, got 0"),
        ((10, -4, 1), ValueError, "context_length must be an integer of at least 1, got -4"),
        ((10, 4, 0), ValueError, "stride must be an integer of at least 1, got 0"),
        ((10, 4, -1), ValueError, "stride must be an integer of at least 1, got -1"),
        ((10.0, 4, 1), TypeError, r"num_tokens must be .*got 10\.0 \(float\)"),
        ((10, 4.0, 1), TypeError, r"context_length must be .*got 4\.0 \(float\)"),
        ((10, 4, 1.0), TypeError, r"stride must be .*got 1\.0 \(float\)"),
        ((10, 4, True), TypeError, r"stride must be .*got True \(bool\)"),
        (([0, 1, 2], 4, 1), TypeError, r"num_tokens must be .*got \[0, 1, 2\] \(list\)"),
        (("10", 4, 1), TypeError, r"num_tokens must be .*got '10' \(str\)"),
    ],
)
def test_counting_refuses_bad_arguments_by_name(function, arguments, error, message):
    with pytest.raises(error, match=f"^{message}"):
        function(*arguments)


# Gathering


@given(st.data())
@settings(deadline=None)
def test_a_batch_is_what_slicing_token_by_token_gives(data):
    ids = data.draw(st.lists(st.integers(0, 70_000), min_size=2, max_size=40))
    context_length = data.draw(st.integers(1, len(ids) - 1))
    starts = data.draw(st.lists(st.integers(0, len(ids) - context_length - 1), max_size=10))
    inputs, targets = gather_windows(ids, starts, context_length)
    assert (inputs.tolist(), targets.tolist()) == naive_batch(ids, starts, context_length)
    assert inputs.dtype == targets.dtype == torch.int64
    assert inputs.shape == targets.shape == (len(starts), context_length)


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


def test_a_batch_is_a_copy_of_the_stream():
    ids = np.arange(20)
    inputs, _ = gather_windows(ids, [0], 4)
    inputs += 100
    assert ids.tolist() == list(range(20))


STREAMS = {
    "list": lambda ids: ids.tolist(),
    "tuple": lambda ids: tuple(ids.tolist()),
    "uint16": lambda ids: ids.astype(np.uint16),
    "big-endian uint16": lambda ids: ids.astype(">u2"),
    "uint32": lambda ids: ids.astype(np.uint32),
    "big-endian int64": lambda ids: ids.astype(">i8"),
    "uint64": lambda ids: ids.astype(np.uint64),
    "every third of an array": lambda ids: np.repeat(ids, 3)[::3],
    "backward": lambda ids: ids[::-1].copy()[::-1],
    "column": lambda ids: np.stack([ids, ids + 7], axis=1)[:, 0],
    "read-only": lambda ids: np.frombuffer(ids.tobytes(), dtype=ids.dtype),
    "torch int32": lambda ids: torch.from_numpy(ids).to(torch.int32),
    "torch int64": lambda ids: torch.from_numpy(ids),
    "torch uint16": lambda ids: torch.from_numpy(ids).to(torch.uint16),
    "every second of a tensor": lambda ids: torch.from_numpy(np.repeat(ids, 2))[::2],
}


@pytest.mark.parametrize("kind", STREAMS)
def test_streams_of_every_kind_give_the_same_batches(kind):
    ids = np.random.default_rng(0).integers(0, 65_536, 50)
    stream = STREAMS[kind](ids)
    expected = naive_batch(ids, [0, 7, 39], 10)
    for inputs, targets in (gather_windows(stream, [0, 7, 39], 10), SlidingWindowDataset(stream, 10)[[0, 7, 39]]):
        assert (inputs.tolist(), targets.tolist()) == expected
        assert inputs.dtype == targets.dtype == torch.int64


def test_eight_bit_tensors_are_streams_of_bytes():
    stream = torch.tensor([0, 255, 128, 1], dtype=torch.uint8)
    assert gather_windows(stream, [0], 3)[1].tolist() == [[255, 128, 1]]
    assert SlidingWindowDataset(stream, 3)[0][1].tolist() == [255, 128, 1]


@pytest.mark.parametrize("kind", [list, np.array, torch.tensor, lambda ids: np.array(ids, dtype=np.uint32)])
def test_70000_stays_70000(kind):
    ids = kind([65_535, 65_536, 70_000, 2**31, 2**32 - 1])
    expected = [65_535, 65_536, 70_000, 2**31]
    assert gather_windows(ids, 0, 4)[0].tolist() == expected
    assert SlidingWindowDataset(ids, 4)[0][0].tolist() == expected


@pytest.fixture
def memory_map(tmp_path) -> np.memmap:
    np.arange(1000, dtype=np.uint16).tofile(tmp_path / "ids.bin")
    return np.memmap(tmp_path / "ids.bin", dtype=np.uint16, mode="r")


def test_a_read_only_memory_map_is_read_in_place(memory_map):
    inputs, targets = gather_windows(memory_map, [0, 989], 10)
    assert inputs[:, 0].tolist() == [0, 989]
    assert targets[:, -1].tolist() == [10, 999]
    inputs += 1  # the batch itself is writable
    assert memory_map[0] == 0


@pytest.mark.parametrize("starts", [[5], 5, (5,), np.array([5], dtype=np.uint8), torch.tensor([5]), range(5, 6)])
def test_starts_may_be_any_integers(starts):
    assert gather_windows(range(20), starts, 2)[0].flatten().tolist() == [5, 6]
    assert gather_windows(range(20), np.array([5], dtype=np.uint64), 2)[0].tolist() == [[5, 6]]


@pytest.mark.parametrize(
    ("ids", "starts", "context_length", "error", "message"),
    [
        (range(10), [0, 6], 4, ValueError, r"starts must lie in 0 \.\.\. 5: 5 ids .* stream of 10; got 0 \.\.\. 6"),
        (range(10), [-1, 2], 4, ValueError, r"starts must lie in 0 \.\.\. 5: .*got -1 \.\.\. 2"),
        (range(10), -1, 4, ValueError, r"starts must lie in .*got -1 \.\.\. -1"),
        (range(4), [0], 4, ValueError, "starts must lie in nothing at all: 5 ids .* stream of 4"),
        ([], [0], 4, ValueError, "starts must lie in nothing at all: 5 ids .* stream of 0"),
        (range(10), [0], 2**63 - 1, ValueError, "starts must lie in nothing at all"),
        (range(10), [2**63], 4, ValueError, f"starts must fit into 64-bit signed integers, got {2**63}"),
        (range(10), [0], 0, ValueError, "context_length must be an integer of at least 1, got 0"),
        (range(10), [0], 2.0, TypeError, r"context_length must be .*got 2\.0"),
        (range(10), [0.0], 4, TypeError, "starts must be integers, got list of float64"),
        (range(10), [True], 4, TypeError, "starts must be integers, got list of bool"),
        (range(10), None, 4, TypeError, "starts must be integers, got NoneType"),
        (range(10), "0", 4, TypeError, "starts must be integers, got text"),
        (range(10), [[0, 1], [2]], 4, ValueError, "starts must be a regular array"),
        ("text", [0], 2, TypeError, "ids must be integers, got text"),
        (np.zeros((3, 4), dtype=int), [0], 2, ValueError, r"ids must be one-dimensional, got shape \(3, 4\)"),
        (np.zeros(9), [0], 2, TypeError, "ids must be integers, got ndarray of float64"),
        (np.array([2**64 - 1] * 9, dtype=np.uint64), [0], 2, ValueError, "ids must fit into 64-bit .*got 184467440"),
    ],
)
def test_gathering_refuses_bad_arguments_by_name(ids, starts, context_length, error, message):
    with pytest.raises(error, match=f"^{message}"):
        gather_windows(ids, starts, context_length)


# The data set


@given(st.integers(2, 60), st.integers(1, 20), st.integers(1, 25))
@settings(deadline=None)
def test_the_data_set_holds_exactly_the_windows_at_its_starts(num_tokens, context_length, stride):
    expected = naive_starts(num_tokens, context_length, stride)
    ids = list(range(100, 100 + num_tokens))
    if not expected:
        with pytest.raises(ValueError, match=f"^ids must hold at least {context_length + 1} tokens.*got {num_tokens}$"):
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
    dataset = SlidingWindowDataset(range(20), 3, 2)
    starts = list(range(0, 17, 2))
    assert len(dataset) == len(starts) == 9
    for index in (0, 4, 8, -1, -9, np.int64(2), torch.tensor(5), torch.tensor(-2)):
        inputs, targets = dataset[index]
        first = starts[int(index)]
        assert (inputs.tolist(), targets.tolist()) == ([first, first + 1, first + 2], [first + 1, first + 2, first + 3])
    for cut in (slice(2, 5), slice(None), slice(-3, None), slice(None, None, -2), slice(5, 5), slice(7, 100)):
        assert dataset[cut][0][:, 0].tolist() == starts[cut]
    for indices in ([3, 0, 3, -1], np.array([3, 0]), torch.tensor([8, 1]), range(3), np.array([], dtype=int), []):
        assert dataset[indices][0][:, 0].tolist() == [starts[int(i)] for i in indices]
    assert dataset[np.array([[0, 1], [2, 3]])][0].shape == (2, 2, 3)


@pytest.mark.parametrize("index", [9, -10, 10**6, [0, 9], np.array([-10]), torch.tensor(9)])
def test_an_index_outside_is_an_index_error(index):
    with pytest.raises(IndexError, match=r"out of bounds .*size 9"):
        SlidingWindowDataset(range(20), 3, 2)[index]


@pytest.mark.parametrize("index", [True, 1.0, None, ..., "0", (0, 1), np.array([0.5]), [True, False]])
def test_an_index_that_is_no_integer_is_a_type_error(index):
    with pytest.raises(TypeError, match=r"^index must be"):
        SlidingWindowDataset(range(20), 3, 2)[index]


def test_iterating_over_the_data_set_ends():
    assert [inputs[0].item() for inputs, _ in SlidingWindowDataset(range(20), 3, 5)] == [0, 5, 10, 15]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([], 4, 1), ValueError, r"ids must hold at least 5 tokens for one window .*got 0"),
        ((range(4), 4, 1), ValueError, "ids must hold at least 5 tokens .*got 4"),
        ((range(20), 0, 1), ValueError, "context_length must be .*got 0"),
        ((range(20), -3, 1), ValueError, "context_length must be .*got -3"),
        ((range(20), 3.0, 1), TypeError, r"context_length must be .*got 3\.0"),
        ((range(20), True, 1), TypeError, "context_length must be .*got True"),
        ((range(20), 3, 0), ValueError, "stride must be .*got 0"),
        ((range(20), 3, -1), ValueError, "stride must be .*got -1"),
        ((range(20), 3, 0.5), TypeError, r"stride must be .*got 0\.5"),
        (("text", 3, 1), TypeError, "ids must be integers, got text"),
        (([0.0] * 20, 3, 1), TypeError, "ids must be integers, got list of float64"),
        ((np.zeros((20, 2), dtype=int), 3, 1), ValueError, r"ids must be one-dimensional, got shape \(20, 2\)"),
        (([5, -1, 3, 2], 3, 1), ValueError, "ids must not be negative, got -1 at position 1"),
        (([5, 2**32, 3, 2], 3, 1), ValueError, "ids must fit into 32 bits, got 4294967296 at position 1"),
        ((np.array([2**63] * 9, dtype=np.uint64), 3, 1), ValueError, "ids must fit into 64-bit signed integers"),
    ],
)
def test_the_data_set_refuses_bad_arguments_by_name(arguments, error, message):
    with pytest.raises(error, match=f"^{message}"):
        SlidingWindowDataset(*arguments)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, ">u2", np.uint32])
def test_a_compact_stream_is_not_copied(dtype):
    ids = np.arange(200).astype(dtype)
    dataset = SlidingWindowDataset(ids, 4, 3)
    assert np.shares_memory(dataset.stream, ids)
    assert np.shares_memory(dataset._windows, ids)


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.int64])
def test_a_memory_map_is_not_copied_whatever_its_dtype(tmp_path, dtype):
    np.arange(1000, dtype=dtype).tofile(tmp_path / "ids.bin")
    ids = np.memmap(tmp_path / "ids.bin", dtype=dtype, mode="r")
    dataset = SlidingWindowDataset(ids, 4, 3)
    assert np.shares_memory(dataset.stream, ids)
    assert dataset[[0, 331]][0][:, 0].tolist() == [0, 993]


def test_a_wide_stream_is_kept_in_the_smallest_dtype():
    assert SlidingWindowDataset([0, 65_535], 1).stream.dtype == np.uint16
    assert SlidingWindowDataset([0, 65_536], 1).stream.dtype == np.uint32
    assert SlidingWindowDataset(torch.tensor([0, 1]), 1).stream.dtype == np.uint16


@pytest.mark.parametrize("stride", [1, 256])
def test_windows_cost_no_memory_whatever_the_stride(stride):
    ids = np.zeros(1_000_000, dtype=np.uint16)
    tracemalloc.start()
    try:
        dataset = SlidingWindowDataset(ids, 256, stride)
        loader = make_dataloader(dataset, 8, base_seed=0, shuffle=False)
        next(iter(loader))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(dataset) == count_windows(1_000_000, 256, stride)
    assert peak < 1_000_000  # less than the stream's 2 MB, and far from the 8 MB of one int64 per window


def test_a_shuffled_epoch_stores_no_list_of_its_windows():
    loader = make_dataloader(SlidingWindowDataset(np.zeros(4_000_000, dtype=np.uint16), 256), 8, base_seed=0)
    tracemalloc.start()
    try:
        next(iter(loader))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000  # one int64 per window would be 32 MB


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


@pytest.mark.parametrize("name", ["stride", "context_length", "stream", "starts"])
def test_what_the_windows_were_made_of_cannot_be_set(name):
    dataset = SlidingWindowDataset(range(20), 4, 3)
    with pytest.raises(AttributeError):
        setattr(dataset, name, 2)
    assert dataset.starts.tolist() == dataset[:][0][:, 0].tolist()


@pytest.mark.parametrize("stride", [2**62, 2**63, 2**70, np.uint64(2**63)])
def test_a_stride_beyond_all_integers_leaves_one_window(stride):
    assert window_starts(10, 2, stride).tolist() == [0]
    assert window_starts(2, 2, stride).tolist() == window_starts(0, 2, stride).tolist() == []
    dataset = SlidingWindowDataset(range(10), 2, stride)
    assert dataset[:][0].tolist() == [[0, 1]]
    assert dataset.starts.tolist() == [0]


def test_small_numpy_integers_do_not_overflow():
    assert count_windows(100_000, np.int8(64), np.int8(127)) == count_windows(100_000, 64, 127)
    assert window_starts(100_000, np.int8(64), np.int8(127))[-1] == window_starts(100_000, 64, 127)[-1]
    dataset = SlidingWindowDataset(np.arange(500), np.uint8(200), np.uint8(250))
    assert dataset.starts.tolist() == [0, 250]
    loader = make_dataloader(indexed(1000), np.int8(100), base_seed=np.int8(7), rank=np.int8(1), world_size=np.int8(2))
    assert windows(loader) == epoch(1000, 100, rank=1, world_size=2)
    json.dumps(loader.state_dict())


def test_stride_t_uses_every_target_once_and_stride_t_plus_one_loses_some():
    def targets(stride):
        return SlidingWindowDataset(range(21), 4, stride)[:][1].flatten().tolist()

    assert targets(4) == list(range(1, 21))
    assert targets(5) == [t for t in range(1, 20) if t % 5 != 0]


# The loader


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
    return windows(loader)


def test_the_loader_is_a_torch_dataloader_of_int64_batches():
    loader = make_dataloader(SlidingWindowDataset(range(20), 4, 3), 2, base_seed=0, shuffle=False)
    assert isinstance(loader, DataLoader)
    assert len(loader) == 3
    batches = list(loader)
    assert [tuple(inputs.shape) for inputs, _ in batches] == [(2, 4), (2, 4), (2, 4)]
    assert batches[1][0].tolist() == [[6, 7, 8, 9], [9, 10, 11, 12]]
    assert batches[1][1].tolist() == [[7, 8, 9, 10], [10, 11, 12, 13]]
    assert batches[1][0].dtype == batches[1][1].dtype == torch.int64
    assert loader.batch_size == 2  # and not the number of batches in a message
    assert len(loader.dataset) == 6
    assert loader.windows.stride == 3


@given(st.integers(1, 60), st.integers(1, 20), st.booleans(), st.booleans(), st.integers(0, 5))
@settings(deadline=None)
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


@pytest.mark.parametrize("num_windows", [70_000, 2**16 + 1])
def test_large_epochs_are_complete_too(num_windows):
    assert sorted(flat(epoch(num_windows, 64))) == list(range(num_windows))


def test_a_batch_larger_than_a_block_of_indices_is_one_batch(monkeypatch):
    expected = epoch(103, 30), epoch(103, 30, shuffle=False)
    monkeypatch.setattr(sliding_windows, "INDICES_PER_BLOCK", 16)
    assert (epoch(103, 30), epoch(103, 30, shuffle=False)) == expected
    assert [len(batch) for batch in expected[0]] == [30, 30, 30, 13]


def test_an_order_shuffles_unless_told_otherwise():
    order = [batch.tolist() for batch in BatchOrder(100, 10, base_seed=7)]
    assert order == [batch.tolist() for batch in BatchOrder(100, 10, base_seed=7, shuffle=True)]
    assert order == epoch(100, 10)
    assert flat(order) != sorted(flat(order)) == list(range(100))


@pytest.mark.parametrize("batches", [1, 3, 1000])
def test_how_many_batches_travel_together_changes_nothing(monkeypatch, batches):
    expected = epoch(53, 5)
    monkeypatch.setattr(sliding_windows, "BATCHES_PER_MESSAGE", batches)
    loader = make_dataloader(indexed(53), 5, base_seed=7)
    assert len(loader) == len(expected) == 11
    delivered = [(batch, loader.state_dict()["batches_delivered"]) for batch in map(starts_of, loader)]
    assert delivered == [(batch, number) for number, batch in enumerate(expected, start=1)]


def test_a_batch_larger_than_a_message_is_one_message(monkeypatch):
    monkeypatch.setattr(sliding_windows, "BYTES_PER_MESSAGE", 1)
    assert epoch(53, 5) == epoch(53, 5, num_workers=0)
    assert len(epoch(53, 5)) == 11


def test_epochs_that_are_fetched_in_several_blocks_are_complete(monkeypatch):
    expected = epoch(103, 4), epoch(103, 4, shuffle=False)
    monkeypatch.setattr(sliding_windows, "INDICES_PER_BLOCK", 10)
    assert (epoch(103, 4), epoch(103, 4, shuffle=False)) == expected


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
    for number in (0, 3, 1):
        loader.sampler.set_epoch(number)
        assert windows(loader) == epoch(num_windows, size, number)


def test_consecutive_epochs_differ_and_so_do_seeds():
    orders = [flat(epoch(103, 10, number)) for number in range(5)]
    orders += [flat(epoch(103, 10, 0, base_seed=seed)) for seed in (100, 101)]
    assert len({tuple(order) for order in orders}) == len(orders)
    assert all(sum(a == b for a, b in zip(orders[i], orders[i + 1], strict=True)) < 15 for i in range(6))
    assert all(order != sorted(order) for order in orders)


def test_an_epoch_that_is_not_advanced_repeats_itself():
    loader = make_dataloader(indexed(50), 8, base_seed=7)
    assert windows(loader) == windows(loader)


def test_unshuffled_epochs_all_follow_the_stream():
    assert flat(epoch(23, 5, 0, shuffle=False)) == flat(epoch(23, 5, 9, shuffle=False)) == list(range(23))


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


def test_a_batch_larger_than_the_corpus_is_one_smaller_batch():
    assert sorted(flat(epoch(5, 64))) == [0, 1, 2, 3, 4]
    assert len(epoch(5, 64)) == 1


@pytest.mark.parametrize(("num_windows", "batch_size", "world_size"), [(5, 6, 1), (5, 3, 2), (5, 100, 1)])
def test_dropping_the_only_batch_is_an_error(num_windows, batch_size, world_size):
    message = f"batch_size {batch_size} .*drop_last=True.* needs at least {batch_size * world_size} windows .*got 5"
    with pytest.raises(ValueError, match=message):
        make_dataloader(indexed(num_windows), batch_size, base_seed=0, drop_last=True, world_size=world_size)


def test_more_ranks_than_windows_is_an_error():
    with pytest.raises(ValueError, match=r"world_size 6.* needs at least 6 windows for one batch, got 5"):
        make_dataloader(indexed(5), 1, base_seed=0, world_size=6)


@pytest.mark.parametrize(
    ("settings_", "error", "message"),
    [
        ({"batch_size": 0}, ValueError, "batch_size must be .*got 0"),
        ({"batch_size": -2}, ValueError, "batch_size must be .*got -2"),
        ({"batch_size": 2.0}, TypeError, r"batch_size must be .*got 2\.0"),
        ({"batch_size": True}, TypeError, "batch_size must be .*got True"),
        ({"batch_size": None}, TypeError, "batch_size must be .*got None"),
        ({"base_seed": -1}, ValueError, "base_seed must be .*got -1"),
        ({"base_seed": None}, TypeError, "base_seed must be .*got None"),
        ({"base_seed": 0.5}, TypeError, r"base_seed must be .*got 0\.5"),
        ({"num_workers": -1}, ValueError, "num_workers must be .*got -1"),
        ({"num_workers": 1.5}, TypeError, r"num_workers must be .*got 1\.5"),
        ({"world_size": 0}, ValueError, "world_size must be .*got 0"),
        ({"rank": -1}, ValueError, "rank must be .*got -1"),
        ({"rank": 1}, ValueError, "rank must be .*at most 0, got 1"),
        ({"rank": 2, "world_size": 2}, ValueError, "rank must be .*at most 1, got 2"),
        ({"shuffle": "False"}, TypeError, "shuffle must be True or False, got 'False'"),
        ({"shuffle": 1}, TypeError, "shuffle must be True or False, got 1"),
        ({"drop_last": float("nan")}, TypeError, "drop_last must be True or False, got nan"),
        ({"drop_last": None}, TypeError, "drop_last must be True or False, got None"),
        ({"dataset": [1, 2, 3]}, TypeError, "dataset must be a SlidingWindowDataset, got list"),
    ],
)
def test_the_loader_refuses_bad_arguments_by_name(settings_, error, message):
    arguments = {"dataset": indexed(20), "batch_size": 4, "base_seed": 0} | settings_
    with pytest.raises(error, match=f"^{message}"):
        make_dataloader(**arguments)


@pytest.mark.parametrize(("number", "error"), [(-1, ValueError), (1.0, TypeError), (True, TypeError)])
def test_an_epoch_is_a_count(number, error):
    with pytest.raises(error, match=f"^epoch must be .*got {number}"):
        make_dataloader(indexed(20), 4, base_seed=0).sampler.set_epoch(number)


# Resuming


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("shuffle", [True, False])
def test_resuming_after_any_batch_yields_exactly_the_rest(shuffle, drop_last):
    settings_ = {"base_seed": 7, "shuffle": shuffle, "drop_last": drop_last}
    whole = epoch(53, 5, 3, **settings_)
    for delivered in range(len(whole) + 1):
        loader = make_dataloader(indexed(53), 5, **settings_)
        loader.sampler.set_epoch(3)
        batches = iter(loader)
        before = [next(batches)[0][:, 0].tolist() for _ in range(delivered)]
        state = pickle.loads(pickle.dumps(loader.state_dict()))
        resumed = make_dataloader(indexed(53), 5, **settings_)
        resumed.load_state_dict(state)
        assert before + windows(resumed) == whole


@pytest.mark.parametrize("saving_workers", [0, 2])
@pytest.mark.parametrize("delivered", [0, 1, 4, 10, 11])
def test_resuming_counts_what_reached_the_reader_not_what_workers_fetched_ahead(saving_workers, delivered):
    whole = epoch(53, 5)
    loader = make_dataloader(indexed(53), 5, base_seed=7, num_workers=saving_workers)
    batches = iter(loader)
    for _ in range(delivered):
        next(batches)
    resumed = make_dataloader(indexed(53), 5, base_seed=7, num_workers=2 - saving_workers)
    resumed.load_state_dict(loader.state_dict())
    assert windows(resumed) == whole[delivered:]


@pytest.mark.parametrize("num_workers", [0, 2])
def test_after_a_resumed_epoch_the_next_one_is_whole(num_workers):
    state = make_dataloader(indexed(53), 5, base_seed=7).state_dict() | {"epoch": 2, "batches_delivered": 4}
    loader = make_dataloader(indexed(53), 5, base_seed=7, num_workers=num_workers)
    loader.load_state_dict(state)
    assert windows(loader) == epoch(53, 5, 2)[4:]
    assert windows(loader) == epoch(53, 5, 2)
    loader.load_state_dict(state)
    loader.sampler.set_epoch(3)
    assert windows(loader) == epoch(53, 5, 3)


def test_naming_the_epoch_again_after_loading_does_not_start_it_over():
    loader = make_dataloader(indexed(53), 5, base_seed=7)
    loader.load_state_dict(loader.state_dict() | {"epoch": 2, "batches_delivered": 4})
    loader.sampler.set_epoch(2)  # as a training loop does at the head of each epoch
    assert windows(loader) == epoch(53, 5, 2)[4:]


def test_a_state_saved_at_the_end_of_an_epoch_leaves_nothing_of_it():
    loader = make_dataloader(indexed(53), 5, base_seed=7)
    windows(loader)
    assert loader.state_dict()["batches_delivered"] == len(loader) == 11
    resumed = make_dataloader(indexed(53), 5, base_seed=7)
    resumed.load_state_dict(loader.state_dict())
    assert windows(resumed) == []
    resumed.sampler.set_epoch(1)
    assert windows(resumed) == epoch(53, 5, 1)


def test_the_state_is_right_at_every_moment():
    loader = make_dataloader(indexed(53), 5, base_seed=7)
    delivered = lambda: loader.state_dict()["batches_delivered"]
    assert delivered() == 0
    for number, _ in enumerate(loader, start=1):
        assert delivered() == number
        if number == 4:
            break
    assert delivered() == 4
    loader.load_state_dict(loader.state_dict())
    assert delivered() == 4  # before the first batch, too
    for _ in range(2):  # each iteration begins there, until one has come to the end
        next(iter(loader))
        assert delivered() == 5
    windows(loader)
    assert delivered() == 11
    next(iter(loader))
    assert delivered() == 1
    loader.sampler.set_epoch(1)
    assert (delivered(), loader.state_dict()["epoch"]) == (0, 1)


# Two iterators of one loader: the position belongs to the one that acted last.


def position(loader) -> tuple[int, int]:
    state = loader.state_dict()
    return state["epoch"], state["batches_delivered"]


def left_after(state, num_windows: int = 53, batch_size: int = 5) -> list[list[int]]:
    """What a new loader yields that goes on from `state`."""
    loader = make_dataloader(indexed(num_windows), batch_size, base_seed=7)
    loader.load_state_dict(state)
    return windows(loader)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_peek_does_not_move_the_loop_that_runs(num_workers):
    whole = epoch(53, 5, 2)
    loader = make_dataloader(indexed(53), 5, base_seed=7, num_workers=num_workers)
    loader.sampler.set_epoch(2)
    got = []
    for number, batch in enumerate(loader, start=1):
        got.append(starts_of(batch))
        assert position(loader) == (2, number)
        assert left_after(loader.state_dict()) == whole[number:]
        if number in (3, 7):
            assert starts_of(next(iter(loader))) == whole[0]
            assert position(loader) == (2, 1)  # until the loop goes on
    assert got == whole
    assert position(loader) == (2, 11)


def test_a_peek_before_the_loop_is_forgotten_when_the_loop_begins():
    loader = make_dataloader(indexed(53), 5, base_seed=7)
    next(iter(loader))
    batches = iter(loader)
    assert position(loader) == (0, 0)
    assert left_after(loader.state_dict()) == epoch(53, 5) == [starts_of(batch) for batch in batches]


def test_a_peek_after_loading_keeps_the_loaded_position():
    whole = epoch(53, 5, 2)
    loader = make_dataloader(indexed(53), 5, base_seed=7)
    loader.load_state_dict(loader.state_dict() | {"epoch": 2, "batches_delivered": 4})
    for _ in range(2):
        assert starts_of(next(iter(loader))) == whole[4]
    loader.sampler.set_epoch(2)
    assert windows(loader) == whole[4:]
    assert windows(loader) == whole  # its end has been reached: from now on the epoch begins at its beginning


def test_a_loader_zipped_with_itself_counts_each_batch_once():
    loader = make_dataloader(indexed(53), 5, base_seed=7)
    for number, (one, other) in enumerate(zip(loader, loader, strict=True), start=1):
        assert starts_of(one) == starts_of(other)
        assert position(loader) == (0, number)
    assert position(loader) == (0, 11)


def test_setting_the_epoch_does_not_move_a_loop_that_runs():
    loader = make_dataloader(indexed(53), 5, base_seed=7)
    batches = iter(loader)
    got = [starts_of(next(batches)) for _ in range(3)]
    loader.sampler.set_epoch(1)
    assert position(loader) == (1, 0)
    got.append(starts_of(next(batches)))
    assert position(loader) == (0, 4)
    assert left_after(loader.state_dict()) == epoch(53, 5)[4:]
    got += [starts_of(batch) for batch in batches]
    assert got == epoch(53, 5)
    assert windows(loader) == epoch(53, 5, 1)
    assert position(loader) == (1, 11)


@pytest.mark.parametrize("number", [0, 3])
def test_the_end_of_an_older_loop_does_not_undo_a_loaded_state(number):
    loader = make_dataloader(indexed(53), 5, base_seed=7)
    old = iter(loader)
    next(old)
    loader.load_state_dict(loader.state_dict() | {"epoch": number, "batches_delivered": 6})
    list(old)
    assert windows(loader) == epoch(53, 5, number)[6:]


def test_loading_its_own_state_makes_a_loader_go_on_where_it_was_left():
    loader = make_dataloader(indexed(53), 5, base_seed=7)
    batches = iter(loader)
    got = [starts_of(next(batches)) for _ in range(4)]
    loader.load_state_dict(loader.state_dict())
    assert got + windows(loader) == epoch(53, 5)


def test_resuming_twice_in_one_epoch_goes_on_where_the_second_stopped():
    whole, got = epoch(53, 5), []
    state = make_dataloader(indexed(53), 5, base_seed=7).state_dict()
    for _ in range(4):
        loader = make_dataloader(indexed(53), 5, base_seed=7)
        loader.load_state_dict(state)
        for batch, _ in zip(loader, range(3), strict=False):
            got.append(batch[0][:, 0].tolist())
            state = loader.state_dict()
    assert got == whole


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("batch_size", {"batch_size": 6}),
        ("base_seed", {"base_seed": 8}),
        ("shuffle", {"shuffle": False}),
        ("drop_last", {"drop_last": True}),
        ("rank", {"rank": 1, "world_size": 2}),
        ("world_size", {"rank": 0, "world_size": 2}),
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
    with pytest.raises(ValueError, match=f"^state was saved with {name}=.*, but this loader has {name}="):
        loader.load_state_dict(state)


def test_a_state_of_another_number_of_workers_is_welcome():
    state = make_dataloader(indexed(53), 5, base_seed=7, num_workers=2).state_dict()
    make_dataloader(indexed(53), 5, base_seed=7).load_state_dict(state)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"batches_delivered": 12}, ValueError, "batches_delivered must be .*at most 11, got 12"),
        ({"batches_delivered": -1}, ValueError, "batches_delivered must be .*got -1"),
        ({"batches_delivered": 1.0}, TypeError, r"batches_delivered must be .*got 1\.0"),
        ({"epoch": -1}, ValueError, "epoch must be .*got -1"),
        ({"batches_delivered": True}, TypeError, "batches_delivered must be .*got True"),
        ({"surprise": 1}, ValueError, "state must have the keys .*surprise"),
        ({7: 1}, ValueError, "state must have the keys .*7"),
        ({"rank": 0.0}, ValueError, r"state was saved with rank=0\.0"),
        ({"shuffle": 1}, ValueError, r"state was saved with shuffle=1"),
        ({"num_windows": np.array([53])}, ValueError, r"state was saved with num_windows=array"),
        ({"fingerprint": None}, ValueError, r"state was saved with fingerprint=None"),
    ],
)
def test_a_damaged_state_is_refused_and_changes_nothing(changes, error, message):
    loader = make_dataloader(indexed(53), 5, base_seed=7)
    before = loader.state_dict()
    with pytest.raises(error, match=f"^{message}"):
        loader.load_state_dict(before | changes)
    with pytest.raises(ValueError, match=r"^state must have the keys"):
        loader.load_state_dict({"epoch": 0})
    assert loader.state_dict() == before
    assert windows(loader) == epoch(53, 5)


@pytest.mark.parametrize("state", [None, [], "state", 3])
def test_a_state_that_is_no_dict_is_refused(state):
    with pytest.raises(TypeError, match=f"^state must be a dict .*got {type(state).__name__}"):
        make_dataloader(indexed(53), 5, base_seed=7).load_state_dict(state)


def test_a_state_survives_json():
    loader = make_dataloader(indexed(53), 5, base_seed=7)
    loader.load_state_dict(loader.state_dict() | {"epoch": 2, "batches_delivered": 4})
    assert left_after(json.loads(json.dumps(loader.state_dict()))) == epoch(53, 5, 2)[4:]


@pytest.mark.parametrize("num_tokens", [2, 1000, 2**16 + 1, 300_000])
def test_the_fingerprint_tells_texts_apart_and_not_their_dtypes(num_tokens):
    ids = np.random.default_rng(0).integers(0, 200, num_tokens)
    fingerprint = SlidingWindowDataset(ids, 1).fingerprint
    for same in (ids.tolist(), ids.astype(np.uint8), ids.astype(">u4"), torch.from_numpy(ids.copy())):
        assert SlidingWindowDataset(same, 1).fingerprint == fingerprint
    others = [np.roll(ids, 1) if len(set(ids.tolist())) > 1 else ids + 1, ids + 1]
    for position_ in (0, -1):
        others.append(ids.copy())
        others[-1][position_] += 1
    assert fingerprint not in {SlidingWindowDataset(other, 1).fingerprint for other in others}


def test_the_fingerprint_of_a_long_stream_reads_little_of_it():
    ids = np.zeros(10_000_000, dtype=np.uint8)
    tracemalloc.start()
    try:
        assert len(SlidingWindowDataset(ids, 8).fingerprint) == 16
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


# Ranks


@given(st.integers(1, 80), st.integers(1, 9), st.integers(1, 5), st.booleans(), st.booleans(), st.integers(0, 3))
@settings(deadline=None)
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
    loader.load_state_dict(loader.state_dict() | {"batches_delivered": 2})
    assert windows(loader) == whole[2:]


def test_the_order_announces_its_length():
    for num_windows in range(1, 30):
        for batch_size in range(1, 6):
            order = BatchOrder(num_windows, batch_size, base_seed=0)
            assert len(list(order)) == len(order)
