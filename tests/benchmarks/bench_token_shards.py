"""What shards cost to write, and how fast they are read: `pytest -n 0 tests/benchmarks/bench_token_shards.py`.

Contenders run in turn, round by round, and only ratios within one run are asserted. What depends on the disk of
the machine, cold reads above all, is reported and not judged.
"""

from __future__ import annotations

import os
import time
from functools import partial
from itertools import islice
from pathlib import Path

import datasets
import numpy as np
import pytest
import torch
from measuring import compare, over
from tokenizers import Tokenizer

from course_lib import token_shards
from course_lib.foundation import BlockOrder, CharTokenizer, FileOrder, RandomOrder, encode_each, load_documents
from course_lib.sliding_windows import SlidingWindowDataset, gather_windows, make_dataloader
from course_lib.token_shards import ShardedStream, write_shards
from course_lib.token_shards.shard_files import Manifest, Shard, ShardSettings, shard_path, starts_path, write_manifest
from course_lib.tokenizer_pipeline import build_tokenizer

CONTEXT_LENGTH = T = 1024
BATCH_SIZE = B = 64
NUM_TOKENS = 42_000_000
BATCHES = 40
ROUNDS = 15


def speed(seconds: float, batches: int = BATCHES) -> str:
    return f"{batches * B * T / seconds / 1e6:,.0f} M tokens/s"


def sharded(folder: Path, ids: np.ndarray, shard_size: int) -> ShardedStream:
    """Lay ids out as `write_shards` does, without its checks of every text."""
    folder.mkdir()
    settings = ShardSettings("uint16", "none", None, shard_size, 10**9, None)
    shards = []
    for k, first in enumerate(range(0, len(ids), shard_size)):
        part = ids[first : first + shard_size]
        part.tofile(shard_path(folder, "train", k))
        np.zeros(1, dtype=np.int64).tofile(starts_path(folder, "train", k))
        shards.append(Shard(len(part), 1, "", ""))
    write_manifest(folder, Manifest(settings, "", {"train": tuple(shards), "val": ()}))
    return ShardedStream(folder, "train")


@pytest.fixture(scope="module")
def streams(tmp_path_factory) -> dict[int, ShardedStream]:
    """The same ids in 1, 21 and 82 shards, read once so that the disk plays no part."""
    room = tmp_path_factory.mktemp("shards")
    ids = np.random.default_rng(0).integers(0, 50_000, NUM_TOKENS, dtype=np.uint16)
    made = {n: sharded(room / str(n), ids, -(-len(ids) // n)) for n in (1, 21, 82)}
    for stream in made.values():
        assert int(np.asarray(stream).max()) == int(ids.max())
    return made


@pytest.fixture(scope="module")
def random_batches() -> list[np.ndarray]:
    return list(np.random.default_rng(1).integers(0, NUM_TOKENS - T, (BATCHES, B)))


def recipe(path: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """The common recipe as it is written: a map a batch, random offsets, a slice, a cast and a tensor for each row."""
    data = np.memmap(path, dtype=np.uint16, mode="r")
    ix = torch.randint(len(data) - T, (B,))
    inputs = torch.stack([torch.from_numpy(data[i : i + T].astype(np.int64)) for i in ix])
    targets = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + T].astype(np.int64)) for i in ix])
    return inputs, targets


def bare_recipe(data: np.ndarray, starts: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """The same with one map, and with starts that are there already."""
    inputs = torch.stack([torch.from_numpy(data[i : i + T].astype(np.int64)) for i in starts])
    targets = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + T].astype(np.int64)) for i in starts])
    return inputs, targets


def by_shard(stream: ShardedStream, starts: np.ndarray) -> torch.Tensor:
    """One index a shard over the rows that lie in it: what one thinks of first. Crossing windows are left out."""
    shards = np.searchsorted(stream.shard_borders, starts, side="right") - 1
    rows = np.empty((len(starts), T + 1), dtype=np.uint16)
    maps = stream._mapped(shards.tolist())
    for shard in np.unique(shards):
        chosen = shards == shard
        windows = np.lib.stride_tricks.sliding_window_view(maps[shard], T + 1)
        rows[chosen] = windows[np.minimum(starts[chosen] - stream.shard_borders[shard], len(windows) - 1)]
    return torch.from_numpy(rows.astype(np.int64))


def test_random_windows(benchmark, streams, random_batches, report):
    path = shard_path(streams[1].folder, "train", 0)
    mapped = np.memmap(path, dtype=np.uint16, mode="r")
    expected = bare_recipe(mapped, random_batches[0])
    for stream in streams.values():
        assert all(map(torch.equal, gather_windows(stream, random_batches[0], T), expected))
    contenders = {
        f"shards {n}": over(random_batches, partial(gather_windows, stream, context_length=T))
        for n, stream in streams.items()
    }
    contenders |= {
        "array": over(random_batches, partial(gather_windows, mapped, context_length=T)),
        "grouped": over(random_batches, partial(by_shard, streams[21])),
        "bare recipe": over(random_batches, partial(bare_recipe, mapped)),
        "recipe": over(random_batches, lambda _: recipe(path)),
    }
    seconds = compare(benchmark, contenders, ROUNDS)
    for name in contenders:
        ratios = (
            f"{seconds['recipe'] / seconds[name]:.1f}x the recipe, {seconds['shards 1'] / seconds[name]:.2f} of one"
        )
        report(f"T = {T}, B = {B}: {name}", speed(seconds[name]), ratios)
    assert seconds["recipe"] / seconds["shards 1"] >= 5
    assert seconds["shards 1"] / seconds["shards 21"] >= 0.5


def test_a_shuffled_epoch_beside_datasets_in_numpy_format(benchmark, streams, report, tmp_path):
    rows = np.asarray(streams[1])[: 20_000 * (T + 1)].reshape(-1, T + 1)
    datasets.Dataset.from_dict({"ids": rows.astype(np.int32)}).save_to_disk(tmp_path / "arrow")
    theirs = datasets.load_from_disk(tmp_path / "arrow").with_format("numpy")
    order = np.random.default_rng(0).permutation(len(theirs))[: BATCHES * B].reshape(BATCHES, B)

    def from_arrow(indices: np.ndarray) -> None:
        block = torch.from_numpy(theirs[indices.tolist()]["ids"].astype(np.int64))
        block[:, :-1].contiguous(), block[:, 1:].contiguous()

    def ours(make, stream) -> None:
        for _ in islice(iter(make(SlidingWindowDataset(stream, T, T), B, base_seed=0)), BATCHES):
            pass

    contenders = {
        "make_dataloader, 21 shards": partial(ours, make_dataloader, streams[21]),
        "datasets in numpy format": over(order, from_arrow),
    }
    seconds = compare(benchmark, contenders, ROUNDS)
    for name in contenders:
        report(name, speed(seconds[name]), f"{seconds['datasets in numpy format'] / seconds[name]:.1f}x datasets")
    assert seconds["make_dataloader, 21 shards"] < seconds["datasets in numpy format"]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [document.text for document in load_documents()] * 12


@pytest.fixture(scope="module")
def tokenizer(texts) -> Tokenizer:
    return build_tokenizer(texts[:196], vocab_size=4_000, progress=False)


def test_writing_costs_little_beside_encoding(benchmark, report, texts, tokenizer, tmp_path):
    folders = (tmp_path / str(k) for k in range(10**6))

    def encode() -> None:
        for _ in encode_each(texts, tokenizer):
            pass

    def write(shard_size: int) -> None:
        write_shards(iter(texts), tokenizer, next(folders), shard_size=shard_size, progress=False)

    contenders = {
        "write_shards, one shard": lambda: write(100_000_000),
        "write_shards, many shards": lambda: write(50_000),
        "encode_each alone": encode,
    }
    seconds = compare(benchmark, contenders, rounds=9)
    characters = sum(map(len, texts))
    for name in contenders:
        rate = f"{characters / seconds[name] / 1e6:.2f} M characters/s"
        report(name, rate, f"{seconds[name] / seconds['encode_each alone'] - 1:+.1%} over encoding")
    assert seconds["write_shards, one shard"] < 1.2 * seconds["encode_each alone"]


def test_bytes_on_disk(benchmark, report, texts, tokenizer, tmp_path):
    manifest = benchmark.pedantic(
        lambda: write_shards(texts, tokenizer, tmp_path / "shards", val_every=10**9, progress=False), rounds=1
    )
    tokens = manifest.num_tokens("train")
    arrow = datasets.Dataset.from_generator(
        lambda: ({"ids": ids.astype(np.int32)} for ids in encode_each(texts, tokenizer)), cache_dir=str(tmp_path / "c")
    )
    arrow.save_to_disk(tmp_path / "arrow")
    sizes = {
        "shards, uint16, with starts": sum(p.stat().st_size for p in (tmp_path / "shards").glob("*.bin")),
        "int64": 8 * tokens,
        "text, UTF-8": sum(len(text.encode()) for text in texts),
        "Arrow, lists of int32": sum(p.stat().st_size for p in (tmp_path / "arrow").glob("*.arrow")),
    }
    for name, size in sizes.items():
        report(name, f"{size:,} bytes", f"{size / tokens:.2f} a token")
    assert min(sizes, key=sizes.get) == "shards, uint16, with starts"


def forget(stream: ShardedStream) -> None:
    """Ask the system to drop a stream's pages, so that the next read is cold."""
    stream._maps = [None] * len(stream._maps)
    for k in range(len(stream._maps)):
        handle = os.open(shard_path(stream.folder, stream.split, k), os.O_RDONLY)
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="nothing drops the pages of a file here")
def test_cold_and_warm_reads_by_order(benchmark, streams, report):
    stream, found = streams[21], {}
    blocks = partial(BlockOrder, block_size=128, blocks_at_a_time=16)
    for order, name in ((FileOrder, "file order"), (blocks, "blocks"), (RandomOrder, "full shuffle")):
        for state in ("cold", "warm"):
            if state == "cold":
                forget(stream)
            loader = make_dataloader(SlidingWindowDataset(stream, T, T), B, base_seed=0, order=order)
            begin = time.perf_counter()
            for _ in islice(iter(loader), 200):
                pass
            found[name, state] = time.perf_counter() - begin
            report(f"{name}, {state}", speed(found[name, state], 200), f"{found[name, state]:.3f} s for 200 batches")
    benchmark.pedantic(lambda: None, rounds=1)


def test_the_first_batch_of_a_million_million_windows(benchmark, report, tmp_path, monkeypatch):
    """1,000 shards of 10**9 ids, 2 TB if they were there: one id stands in for all, so no disk is waited for."""
    tokens, shards = 10**9, 1_000
    ids = np.broadcast_to(np.uint16(1), (tokens,))
    monkeypatch.setattr(token_shards, "_map", lambda *_: ids)
    monkeypatch.setattr("course_lib.token_shards.shard_files.check_files", lambda *_, **__: None)
    settings = ShardSettings("uint16", "none", None, tokens, 10**9, None)
    manifest = Manifest(settings, "", {"train": (Shard(tokens, 0, "", ""),) * shards, "val": ()})
    write_manifest(tmp_path, manifest)
    dataset = SlidingWindowDataset(ShardedStream(tmp_path, "train"), T)
    assert len(dataset) == 10**12 - T
    for name, order in (("full shuffle", RandomOrder), ("blocks", BlockOrder)):
        waits = []
        for seed in range(15):
            loader = make_dataloader(dataset, B, base_seed=seed, order=order)
            loader.sampler.go_to(seed, windows=seed * 10**10)
            begin = time.perf_counter()
            next(iter(loader))
            waits.append(time.perf_counter() - begin)
        report(
            f"first batch of 10**12 windows, {name}",
            f"{min(waits) * 1e3:.1f} ms",
            f"median {np.median(waits) * 1e3:.1f}",
        )
        assert min(waits) < 0.010
    benchmark.pedantic(lambda: next(iter(make_dataloader(dataset, B, base_seed=99))), rounds=3)


def test_a_reader_does_not_grow_but_for_the_page_cache(report, streams, benchmark):
    """Resident memory counts the pages of a map that are in the page cache; what belongs to the process alone stays."""
    status = Path("/proc/self/smaps_rollup")
    if not status.exists():
        pytest.skip("this system does not tell")

    def memory() -> tuple[int, int]:
        fields = dict(line.split(":") for line in status.read_text().splitlines()[1:])
        kib = {name: int(value.split()[0]) for name, value in fields.items()}
        return kib["Rss"], kib["Anonymous"]

    stream = ShardedStream(streams[21].folder, "train")
    dataset = SlidingWindowDataset(stream, T, T)
    dataset[:B]
    before = memory()
    for inputs, _ in make_dataloader(dataset, B, base_seed=0):
        del inputs
    after = memory()
    resident, own = ((b - a) / 1024 for a, b in zip(before, after, strict=True))
    report("resident memory after an epoch", f"{resident:+.0f} MiB", f"of the process alone {own:+.1f} MiB")
    assert resident > 10 * abs(own)
    benchmark.pedantic(lambda: None, rounds=1)


def test_the_characters_of_the_course_are_written_as_fast_as_they_are_encoded(benchmark, report, texts, tmp_path):
    """The course's own tokenizer encodes text by text, and fast: so here writing shows."""
    tokenizer, folders = CharTokenizer("".join(texts[:196])), (tmp_path / str(k) for k in range(10**6))
    contenders = {
        "write": lambda: write_shards(texts, tokenizer, next(folders), progress=False),
        "encode": lambda: [None for _ in encode_each(texts, tokenizer)],
    }
    seconds = compare(benchmark, contenders, rounds=5)
    each = {name: value / len(texts) * 1e6 for name, value in seconds.items()}
    report("CharTokenizer, a document", f"encode {each['encode']:.0f} us", f"write {each['write']:.0f} us")
