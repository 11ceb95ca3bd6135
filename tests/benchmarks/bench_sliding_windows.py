"""How fast windows are gathered, beside the usual ways: `pytest tests/benchmarks/bench_*.py`.

Speeds differ from machine to machine, and on one machine from minute to minute. So each test runs its
contenders in turn, round by round, and only ratios within one run are asserted.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from measuring import Contender, compare, over
from torch.utils.data import DataLoader, Dataset

from course_lib.sliding_windows import SlidingWindowDataset, gather_windows, make_dataloader

CONTEXT_LENGTH = T = 256
BATCH_SIZE = B = 64
NUM_TOKENS = 20_000_000
BATCHES = 50  # in each round: long enough to time, short enough that contenders share the weather


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> np.memmap:
    """The ids in a file, mapped into memory, and read once so that the disk plays no part."""
    path = tmp_path_factory.mktemp("stream") / "ids.bin"
    np.random.default_rng(0).integers(0, 50_000, NUM_TOKENS, dtype=np.uint16).tofile(path)
    ids = np.memmap(path, dtype=np.uint16, mode="r")
    ids.max()
    return ids


@pytest.fixture(scope="module")
def random_batches() -> list[np.ndarray]:
    """Starts of stride 1, which are also indices of windows."""
    return list(np.random.default_rng(1).integers(0, NUM_TOKENS - T, (BATCHES, B)))


def speed(seconds: float, batches: int = BATCHES) -> str:
    return f"{batches * B * T / seconds / 1e6:,.0f} M tokens/s"


def memory_map_and_stack(stream: np.memmap, starts: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """The common recipe: a slice, a cast and a tensor for each row, and all of it again for the targets."""
    inputs = torch.stack([torch.from_numpy(stream[i : i + T].astype(np.int64)) for i in starts])
    targets = torch.stack([torch.from_numpy(stream[i + 1 : i + 1 + T].astype(np.int64)) for i in starts])
    return inputs, targets


def streaming_copy(stream: np.ndarray, batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The best that can be hoped for: windows that follow each other, so one slice and one cast are a batch."""
    block = stream[batch * B * (T + 1) : (batch + 1) * B * (T + 1)].astype(np.int64).reshape(B, T + 1)
    return torch.from_numpy(block[:, :-1]), torch.from_numpy(block[:, 1:])


class OneWindowAtATime(Dataset):
    """What tutorials show: an index is one window, sliced and cast alone."""

    def __init__(self, stream: np.ndarray):
        self.stream = stream

    def __len__(self) -> int:
        return len(self.stream) - T

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        window = torch.from_numpy(self.stream[index : index + T + 1].astype(np.int64))
        return window[:-1], window[1:]


def take(batches: Iterator, number: int) -> None:
    for _ in itertools.islice(batches, number):
        pass


def test_all_contenders_make_the_same_batches(stream, random_batches):
    starts = random_batches[0]
    expected = memory_map_and_stack(stream, starts)
    loader = DataLoader(OneWindowAtATime(stream), batch_size=B, sampler=starts.tolist())
    for got in (SlidingWindowDataset(stream, T)[starts], gather_windows(stream, starts, T), next(iter(loader))):
        assert torch.equal(got[0], expected[0])
        assert torch.equal(got[1], expected[1])
    consecutive = gather_windows(stream, np.arange(B, 2 * B) * (T + 1), T)
    assert all(map(torch.equal, streaming_copy(stream, 1), consecutive))


def test_batches_of_random_windows(benchmark, stream, random_batches, report):
    dataset, plain = SlidingWindowDataset(stream, T), np.asarray(stream)
    size = B * (T + 1)
    contenders = {
        "dataset": over(random_batches, lambda indices: dataset[indices]),
        "gather": over(random_batches, lambda starts: gather_windows(stream, starts, T)),
        "streaming": over(range(BATCHES), lambda batch: streaming_copy(plain, batch)),
        "cast": over(range(BATCHES), lambda batch: plain[batch * size : (batch + 1) * size].astype(np.int64)),
        "recipe": over(random_batches, lambda starts: memory_map_and_stack(stream, starts)),
    }
    seconds = compare(benchmark, contenders)
    over_recipe = {name: seconds["recipe"] / seconds[name] for name in ("dataset", "gather", "streaming")}
    over_streaming = seconds["streaming"] / seconds["dataset"]
    over_cast = seconds["cast"] / seconds["dataset"]
    report("memory map and stack, random windows", speed(seconds["recipe"]), "1.0x")
    comparison = f"{over_recipe['dataset']:.1f}x, {over_streaming:.2f}x streaming, {over_cast:.2f}x bare cast"
    report("SlidingWindowDataset[array], random windows", speed(seconds["dataset"]), comparison)
    report("gather_windows with its checks, random windows", speed(seconds["gather"]), f"{over_recipe['gather']:.1f}x")
    report("streaming copy, consecutive windows", speed(seconds["streaming"]), f"{over_recipe['streaming']:.1f}x")
    report("bare cast of as many ids", speed(seconds["cast"]), "the ceiling")
    assert over_recipe["dataset"] >= 12
    assert over_recipe["gather"] >= 8
    assert over_streaming >= 0.5


def test_a_shuffled_epoch(benchmark, stream, report):
    ours, usual = 4_000, 500  # batches
    dataset = SlidingWindowDataset(stream, T)
    # Indices that are there already: what is timed is one window at a time, and not the shuffling.
    indices = np.random.default_rng(2).integers(0, len(dataset), usual * B).tolist()
    default = DataLoader(OneWindowAtATime(np.asarray(stream)), batch_size=B, sampler=indices)
    loader = make_dataloader(dataset, B, base_seed=0)
    epochs = itertools.count()

    def ours_once() -> None:
        loader.sampler.set_epoch(next(epochs))
        take(iter(loader), ours)

    seconds = compare(benchmark, {"ours": ours_once, "default": lambda: take(iter(default), usual)}, rounds=7)
    ratio = (seconds["default"] / usual) / (seconds["ours"] / ours)
    report("default DataLoader, one window at a time", speed(seconds["default"], usual), "1.0x")
    report("make_dataloader, shuffled, 0 workers", speed(seconds["ours"], ours), f"{ratio:.1f}x")
    assert ratio >= 8


def test_workers_are_measured_but_not_judged(benchmark, stream, report):
    batches = 2_000
    loaders = {n: make_dataloader(SlidingWindowDataset(stream, T), B, base_seed=0, num_workers=n) for n in (0, 2)}

    def running(num_workers: int) -> Contender:
        iterator = iter(loaders[num_workers])
        next(iterator)  # the workers have started
        return lambda: take(iterator, batches)

    seconds = compare(benchmark, {"0": running(0), "2": running(2)}, rounds=5)
    report("make_dataloader, shuffled, 0 workers, once started", speed(seconds["0"], batches), "1.00x")
    ratio = seconds["0"] / seconds["2"]
    report("make_dataloader, shuffled, 2 workers, once started", speed(seconds["2"], batches), f"{ratio:.2f}x")


def test_the_first_batch_of_a_hundred_million_windows(benchmark, report):
    ids = np.zeros(100_000_000, dtype=np.uint16)
    loader = make_dataloader(SlidingWindowDataset(ids, T), B, base_seed=0)
    default = DataLoader(OneWindowAtATime(ids), batch_size=B, shuffle=True)

    def first_of_ours() -> None:
        next(iter(loader))

    begin = time.perf_counter()
    next(iter(default))  # makes a list of a hundred million Python integers first
    waited = time.perf_counter() - begin
    benchmark.pedantic(first_of_ours, rounds=1)
    ours = benchmark.stats.stats.median
    report("default DataLoader(shuffle=True), first of 100 M", f"{waited:,.2f} s", "1x")
    report("make_dataloader, first of 100 M", f"{ours * 1e3:,.2f} ms", f"1/{waited / ours:,.0f}")
    assert ours <= waited / 100
