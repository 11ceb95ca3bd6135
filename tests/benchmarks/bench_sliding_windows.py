"""How fast windows are gathered, beside the usual ways: `pytest -n 0 tests/benchmarks/bench_*.py`.

Speeds differ from machine to machine, and on one machine from minute to minute. So each test runs its
contenders in turn, round by round, and only ratios within one run are asserted: with a wide margin, at
about half of what a quiet machine shows, since a busy one takes from some contenders more than from others.
The figures that were measured are reported, and are what counts.
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

from course_lib.sliding_windows import SlidingWindowDataset, count_windows, gather_windows, make_dataloader

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


def views_of_one_block(windows: np.ndarray, _: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """One copy of T + 1 ids a window, and both halves as views: faster, but to write into one writes into the other."""
    block = torch.from_numpy(windows.astype(np.int64))
    return block[..., :-1], block[..., 1:]


def streaming_copy(stream: np.ndarray, batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The best that can be hoped for: windows that follow each other, so one slice and one cast are a batch."""
    block = stream[batch * B * (T + 1) : (batch + 1) * B * (T + 1)].astype(np.int64).reshape(B, T + 1)
    return torch.from_numpy(block[:, :-1]), torch.from_numpy(block[:, 1:])


class OneWindowAtATime(Dataset):
    """What tutorials show: an index is one window, sliced and cast alone."""

    def __init__(self, stream: np.ndarray, context_length: int = T):
        self.stream, self.context_length = stream, context_length

    def __len__(self) -> int:
        return len(self.stream) - self.context_length

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        window = torch.from_numpy(self.stream[index : index + self.context_length + 1].astype(np.int64))
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
        "views": over(random_batches, lambda indices: views_of_one_block(*dataset.cut(indices))),
        "streaming": over(range(BATCHES), lambda batch: streaming_copy(plain, batch)),
        "cast": over(range(BATCHES), lambda batch: plain[batch * size : (batch + 1) * size].astype(np.int64)),
        "recipe": over(random_batches, lambda starts: memory_map_and_stack(stream, starts)),
    }
    seconds = compare(benchmark, contenders)
    over_recipe = {name: seconds["recipe"] / seconds[name] for name in ("dataset", "gather", "streaming")}
    over_streaming = seconds["streaming"] / seconds["dataset"]
    over_cast = seconds["cast"] / seconds["dataset"]
    report("the same as views of one block", speed(seconds["views"]), f"{seconds['recipe'] / seconds['views']:.1f}x")
    report("memory map and stack, random windows", speed(seconds["recipe"]), "1.0x")
    comparison = f"{over_recipe['dataset']:.1f}x, {over_streaming:.2f}x streaming, {over_cast:.2f}x bare cast"
    report("SlidingWindowDataset[array], random windows", speed(seconds["dataset"]), comparison)
    report("gather_windows with its checks, random windows", speed(seconds["gather"]), f"{over_recipe['gather']:.1f}x")
    report("streaming copy, consecutive windows", speed(seconds["streaming"]), f"{over_recipe['streaming']:.1f}x")
    report("bare cast of as many ids", speed(seconds["cast"]), "the ceiling")
    assert over_recipe["dataset"] >= 5
    assert over_recipe["gather"] >= 4
    assert over_streaming >= 0.15


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
    assert ratio >= 5


def test_what_a_checked_call_costs(benchmark, stream, random_batches, report):
    """Beside the function without its checks, and beside one batch, which is what an argument check must not slow."""
    calls, plain = 1_000, count_windows.__wrapped__

    def often(function) -> Contender:
        return lambda: [function(NUM_TOKENS, T, 7) for _ in range(calls)]

    contenders = {
        "checked": often(count_windows),
        "plain": often(plain),
        "batches": over(random_batches, lambda starts: gather_windows(stream, starts, T)),
    }
    seconds = compare(benchmark, contenders, 9)
    each = (seconds["checked"] - seconds["plain"]) / calls
    batch = seconds["batches"] / len(random_batches)
    report(
        "the checks of a call with three numbers", f"{each * 1e6:.2f} us", f"{each / batch:.1%} of gathering a batch"
    )
    assert each < batch / 10


def test_targets_that_may_be_written_into_cost_little(benchmark, stream, report):
    batches = 1_000
    datasets = {way: SlidingWindowDataset(stream, T) for way in ("safe", "views")}
    datasets["views"]._make_batch = views_of_one_block
    iterators = {way: iter(make_dataloader(dataset, B, base_seed=0)) for way, dataset in datasets.items()}
    seconds = compare(benchmark, {way: lambda way=way: take(iterators[way], batches) for way in iterators}, 15)
    ratio = seconds["views"] / seconds["safe"]
    report("make_dataloader, targets as views of the inputs' block", speed(seconds["views"], batches), "1.00x")
    report("make_dataloader, targets apart (as it is)", speed(seconds["safe"], batches), f"{ratio:.2f}x")
    assert ratio >= 0.7


def test_workers(benchmark, stream, report):
    """Two workers beside two of a default loader, over the same windows; and beside none, which is not judged."""
    ours, usual = 2_000, 150  # batches
    dataset, plain = SlidingWindowDataset(stream, T), OneWindowAtATime(np.asarray(stream))
    loader = make_dataloader(dataset, B, base_seed=0)
    indices = np.concatenate(list(itertools.islice(loader.sampler, 8 * usual))).tolist()
    iterators = {
        n: (
            iter(make_dataloader(dataset, B, base_seed=0, num_workers=n)),
            iter(DataLoader(plain, batch_size=B, sampler=indices, num_workers=n)),
        )
        for n in (0, 2)
    }
    for pair in iterators.values():  # the workers have started, and deliver the same
        assert all(map(torch.equal, *map(next, pair)))
    contenders = {f"ours {n}": lambda n=n: take(iterators[n][0], ours) for n in iterators}
    contenders |= {f"default {n}": lambda n=n: take(iterators[n][1], usual) for n in iterators}
    seconds = compare(benchmark, contenders, rounds=5)
    each = {name: value / (ours if name.startswith("ours") else usual) for name, value in seconds.items()}
    for name, value in each.items():
        name_of = "make_dataloader" if name.startswith("ours") else "default DataLoader"
        comparison = f"{each['default 2'] / value:.1f}x"
        report(f"{name_of}, {name[-1]} workers, once started", speed(value, 1), comparison)
    assert each["default 2"] / each["ours 2"] >= 3


class SlowWindows(SlidingWindowDataset):
    """Windows that take some milliseconds a batch to cut, as where a disk is slow or texts are tokenized."""

    def cut(self, index: object) -> tuple[np.ndarray, np.ndarray]:
        time.sleep(0.004)
        return super().cut(index)


def test_workers_where_cutting_is_slow(benchmark, stream, report):
    """What workers are for: the batches wait for something, and two wait at the same time."""
    batches, dataset = 100, SlowWindows(stream, T)
    loaders = {n: make_dataloader(dataset, B, base_seed=0, num_workers=n) for n in (0, 2)}
    iterators = {n: iter(loader) for n, loader in loaders.items()}
    assert all(map(torch.equal, *map(next, iterators.values())))
    contenders = {f"{n} workers": lambda n=n: take(iterators[n], batches) for n in iterators}
    seconds = compare(benchmark, contenders, rounds=3)
    for name, value in seconds.items():
        comparison = f"{seconds['0 workers'] / value:.1f}x"
        report(f"make_dataloader, 4 ms a batch to cut, {name}", speed(value, batches), comparison)
    assert seconds["0 workers"] / seconds["2 workers"] >= 1.3


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
