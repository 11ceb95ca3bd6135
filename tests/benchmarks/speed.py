"""How fast the course is, beside what one would else take, and beside a limit for it; written down as a page.

    python tests/benchmarks/speed.py                        all of it: five minutes on two quiet cores
    python tests/benchmarks/speed.py --quick --out /tmp/x   smaller, in two minutes; the page goes elsewhere

It asks for `pip install --editable ".[test,bench]"`. Contenders run in turn, round by round, and CPU seconds are
counted, so that other programs on the machine trouble them little.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import itertools
import json
import multiprocessing
import os
import platform
import statistics
import string
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil
import torch
from tokenizers import Tokenizer
from torch.utils.data import DataLoader, Dataset

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))  # run by its path, it finds the course

from course_lib.bpe import GPT2_PATTERN, BPETokenizer, train_byte_level_bpe  # noqa: E402
from course_lib.document_packing import assign_packs, pack_documents  # noqa: E402
from course_lib.foundation import CharTokenizer, load_documents, load_text, one_thread, progress_bar  # noqa: E402
from course_lib.sliding_windows import SlidingWindowDataset, make_dataloader  # noqa: E402
from course_lib.token_shards import ShardedStream, shard_files, write_shards  # noqa: E402

RESULTS = Path(__file__).parent / "results"
PROSE = Path(__file__).parent / "page_of_speed.txt"
PEERS = ("torch", "numpy", "tokenizers", "transformers", "datasets")
PEERS += ("torchdata", "trl", "litdata", "tiktoken", "rustbpe", "ai2-olmo-core")
OURS, USUAL, LIMIT = "ours", "usual", "limit"
T, B = 1024, 64  # of windows
MAX_LENGTH = 2048  # of packs
VOCAB_SIZE = 8192


class Contender(NamedTuple):
    name: str
    role: str
    run: Callable[[], object]
    amount: float = 1  # how many units (million tokens, say) one run makes


class Topic(NamedTuple):
    short: str
    title: str
    unit: str  # CPU seconds for one of these
    contenders: list[Contender]
    note: str = ""


def interleave(contenders: dict, rounds: Iterable, clock: Callable = time.process_time) -> dict[str, list[float]]:
    """The seconds of each contender in each round, in which all run in turn, so that they share the machine's moods."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for run in contenders.values():  # a warm-up
        run()
    for _ in rounds:
        for name, run in contenders.items():
            begin = clock()
            run()
            seconds[name].append(clock() - begin)
    return seconds


def take(batches: Iterable, number: int) -> None:
    """Read so many batches; each is let go of at once, as in training, so that its memory is used again."""
    for _ in itertools.islice(batches, number):
        pass


# What is read, packed and encoded


def draw_ids(tokens: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 50_000, tokens, dtype=np.uint16)


def one_shard(folder: Path, ids: np.ndarray) -> ShardedStream:
    """Lay ids out as `write_shards` does, without tokenizing."""
    folder.mkdir()
    ids.tofile(shard_files.shard_path(folder, "train", 0))
    np.zeros(1, dtype=np.int64).tofile(shard_files.starts_path(folder, "train", 0))
    settings = shard_files.ShardSettings("uint16", "none", None, len(ids), 10**9, None)
    shard_files.write_manifest(
        folder, shard_files.Manifest(settings, "", {"train": (shard_files.Shard(len(ids), 1, "", ""),), "val": ()})
    )
    return ShardedStream(folder, "train")


class OneWindowAtATime(Dataset):
    """What tutorials show: an index is one window, sliced and cast alone."""

    def __init__(self, ids: np.ndarray, context_length: int):
        self.ids, self.context_length = ids, context_length

    def __len__(self) -> int:
        return len(self.ids) - self.context_length

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        window = torch.from_numpy(self.ids[index : index + self.context_length + 1].astype(np.int64))
        return window[:-1], window[1:]


def nanogpt_batches(path: Path) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Its recipe as it is written: a map a batch, random offsets, a slice, a cast and a tensor for each row."""
    while True:
        data = np.memmap(path, dtype=np.uint16, mode="r")
        ix = torch.randint(len(data) - T, (B,))
        inputs = torch.stack([torch.from_numpy(data[i : i + T].astype(np.int64)) for i in ix])
        targets = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + T].astype(np.int64)) for i in ix])
        yield inputs, targets


def draw_lengths(count: int) -> np.ndarray:
    """Log-normal, as lengths of documents are, and cut at the length of a pack."""
    return np.clip(np.random.default_rng(0).lognormal(5.5, 1.2, count), 1, MAX_LENGTH).astype(np.int64)


def draw_documents(lengths: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    stream = np.random.default_rng(1).integers(0, 50_000, lengths.sum(), dtype=np.uint16)
    return stream, np.split(stream, lengths.cumsum()[:-1])


def megabyte() -> str:
    """The bundled texts four times, the letters moved along the alphabet in each copy: training works on new words."""
    texts, copies = "\n\n".join([load_text(), *(document.text for document in load_documents())]), ""
    for by in range(1 + 10**6 // len(texts.encode())):
        moved = {case: case[by:] + case[:by] for case in (string.ascii_lowercase, string.ascii_uppercase)}
        copies += texts.translate(str.maketrans("".join(moved), "".join(moved.values())))
    return copies.encode()[: 10**6].decode("utf-8", "ignore")


# What is compared


def reading(room: Path, quick: bool) -> Iterator[Topic]:
    import datasets
    import litdata
    from litdata.streaming.item_loader import TokensLoader
    from torchdata.stateful_dataloader import StatefulDataLoader

    tokens = 4_000_000 if quick else 42_000_000
    ids, about = draw_ids(tokens), f"{tokens / 1e6:.0f} million tokens"
    stream = one_shard(room / "shards", ids)
    path = shard_files.shard_path(stream.folder, "train", 0)
    plain = OneWindowAtATime(np.memmap(path, dtype=np.uint16, mode="r"), T)
    rows = ids[: tokens // (T + 1) * (T + 1)].reshape(-1, T + 1)
    datasets.disable_progress_bars()
    datasets.Dataset.from_dict({"ids": rows}).save_to_disk(room / "arrow")
    arrow = datasets.load_from_disk(room / "arrow").with_format("torch")
    blocks = {"item_loader": TokensLoader(block_size=T + 1)}
    cache = litdata.streaming.Cache(str(room / "litdata"), chunk_bytes="64MB", **blocks)
    for number, row in enumerate(rows):
        cache[number] = torch.from_numpy(row.view(np.int16))  # PyTorch has few operations on uint16
    cache.done()
    cache.merge()
    optimized = litdata.StreamingDataset(str(room / "litdata"), shuffle=True, **blocks)
    peers = {
        "nanoGPT's get_batch, as it is written": lambda: nanogpt_batches(path),
        "torch DataLoader over single windows": lambda: DataLoader(plain, B, shuffle=True),
        "torchdata StatefulDataLoader": lambda: StatefulDataLoader(plain, B, shuffle=True),
        "datasets in torch format": lambda: DataLoader(arrow, B, shuffle=True),
        "litdata StreamingDataLoader": lambda: litdata.StreamingDataLoader(optimized, batch_size=B, num_workers=0),
    }

    def copy(batches: int) -> None:
        for block in ids[: batches * B * (T + 1)].reshape(batches, -1):
            block.astype(np.int64)

    ours = lambda: iter(make_dataloader(SlidingWindowDataset(stream, T), B, base_seed=0))
    (few, many), each, mine = (4, 40) if quick else (20, 400), B * T / 1e6, ours()
    endless = {name: itertools.chain.from_iterable(make() for _ in itertools.count()) for name, make in peers.items()}
    contenders = [
        Contender("a plain copy, widened", LIMIT, lambda: copy(many // 2), many // 2 * each),
        Contender("make_dataloader, shuffled", OURS, lambda: take(mine, many), many * each),
        *(Contender(name, USUAL, partial(take, batches, few), few * each) for name, batches in endless.items()),
    ]
    title = f"Read shuffled windows, T = {T}, B = {B}, from {about}, no workers"
    yield Topic("read", title, "a million tokens", contenders)
    first = [Contender("make_dataloader, shuffled", OURS, lambda: next(ours()))]
    first += [Contender(name, USUAL, lambda make=make: next(iter(make()))) for name, make in peers.items()]
    yield Topic("first batch", f"Wait for the first batch of {about}", "a first batch", first)


def packing(room: Path, quick: bool) -> Iterator[Topic]:
    import datasets
    import pyarrow as pa
    import trl
    from olmo_core.data.utils import InstancePacker

    lengths = draw_lengths(10_000 if quick else 100_000)
    stream, documents = draw_documents(lengths)
    ends, amount = lengths.cumsum(), lengths.sum() / 1e6
    places = np.stack([ends - lengths, ends], axis=1)
    offsets = np.append(0, ends).astype(np.int32)
    arrow = datasets.Dataset(pa.table({"input_ids": pa.ListArray.from_arrays(offsets, pa.array(stream))}))

    def by_trl(batch_size: int) -> None:
        settings = {"keep_in_memory": True, "load_from_cache_file": False, "batch_size": batch_size}
        trl.pack_dataset(arrow, MAX_LENGTH, strategy="bfd", map_kwargs=settings)

    olmo = lambda: InstancePacker(MAX_LENGTH).pack_documents(places)[0]
    about = f"{len(lengths):,} documents, {amount:.0f} million tokens, rows of {MAX_LENGTH}"
    contenders = [
        Contender("sorting the lengths", LIMIT, lambda: np.sort(lengths), amount),
        Contender("assign_packs", OURS, lambda: assign_packs(lengths, MAX_LENGTH), amount),
        Contender("OLMo-core InstancePacker", USUAL, olmo, amount),
    ]
    note = f"Rows: {len(assign_packs(lengths, MAX_LENGTH)):,} by `assign_packs`, {len(olmo()):,} by OLMo-core."
    yield Topic("rows", f"Choose who shares a row, best fit: {about}", "a million tokens", contenders, note)
    contenders = [
        Contender("joining all tokens in their order", LIMIT, lambda: np.concatenate(documents), amount),
        Contender("pack_documents", OURS, lambda: pack_documents(documents, MAX_LENGTH), amount),
        Contender("trl pack_dataset, 1,000 at a time", USUAL, lambda: by_trl(1000), amount),
        Contender("trl pack_dataset, all at once", USUAL, lambda: by_trl(len(lengths)), amount),
    ]
    yield Topic("pack", f"Pack, with the tokens: {about}", "a million tokens", contenders)


def encode_alone(written: str, texts: list[str]) -> None:
    """A fresh copy each time, as `write_shards` makes one: the cache of a used one is full, which costs a third."""
    tokenizer = Tokenizer.from_str(written)
    for first in range(0, len(texts), 32):  # all at once takes longer, since its results are many
        tokenizer.encode_batch_fast(texts[first : first + 32])


def encoding(room: Path, quick: bool) -> Iterator[Topic]:
    import datasets
    import rustbpe
    import tiktoken

    text = megabyte()
    texts = [text[i : i + 4_000] for i in range(0, len(text), 4_000)] * (1 if quick else 2)
    by_hand = BPETokenizer.train(texts, VOCAB_SIZE)
    library = train_byte_level_bpe(texts, vocab_size=VOCAB_SIZE, progress=False)
    ranks = {by_hand.decode_bytes([number]): number for number in range(VOCAB_SIZE)}
    theirs = tiktoken.Encoding("same", pat_str=GPT2_PATTERN, mergeable_ranks=ranks, special_tokens={})
    written, folders = library.to_str(), (room / str(number) for number in itertools.count())
    amount = sum(len(encoding.ids) for encoding in library.encode_batch(texts)) / 1e6

    def shards() -> None:
        write_shards(texts, library, next(folders), end_of_text_id=0, progress=False)

    def mapped() -> None:
        rows, tokenizer = datasets.Dataset.from_dict({"text": texts}), Tokenizer.from_str(written)
        how = {"batched": True, "remove_columns": "text", "cache_file_name": f"{next(folders)}.arrow"}
        rows.map(lambda batch: {"ids": [e.ids for e in tokenizer.encode_batch(batch["text"])]}, **how)

    contenders = [
        Contender("tokenizers encode_batch_fast alone", LIMIT, lambda: encode_alone(written, texts), amount),
        Contender("write_shards with it, onto the disk", OURS, shards, amount),
        Contender("datasets.map with it, onto the disk", USUAL, mapped, amount),
        Contender("BPETokenizer, in Python, its words cached", OURS, lambda: [*map(by_hand.encode, texts)], amount),
        Contender("tiktoken", USUAL, lambda: [*map(theirs.encode_ordinary, texts)], amount),
    ]
    same = all(theirs.encode_ordinary(text) == by_hand.encode(text).tolist() for text in texts[:200])
    note = f"The ids of tiktoken and `BPETokenizer` are {'the same' if same else 'NOT the same'}."
    title = f"Encode {len(texts):,} texts, {amount:.1f} million tokens, V = {VOCAB_SIZE:,}, one thread"
    yield Topic("encode", title, "a million tokens", contenders, note)

    def rust() -> None:
        rustbpe.Tokenizer().train_from_iterator(iter([text]), VOCAB_SIZE, pattern=GPT2_PATTERN)

    how = {"vocab_size": VOCAB_SIZE, "special_tokens": [], "progress": False}
    contenders = [
        Contender("BPETokenizer.train, in Python", OURS, lambda: BPETokenizer.train(text, VOCAB_SIZE)),
        Contender("tokenizers BpeTrainer", USUAL, partial(train_byte_level_bpe, [text], **how)),
        Contender("rustbpe", USUAL, rust),
    ]
    yield Topic("learn", f"Learn {VOCAB_SIZE - 256:,} merges from a megabyte", "a megabyte", contenders)


# How it grows


def windows_of(room: Path, tokens: int, stride: int = 1, batches: int = 1) -> Callable[[], object]:
    dataset = SlidingWindowDataset(one_shard(room / "shards", draw_ids(tokens)), T, stride)
    return lambda: take(make_dataloader(dataset, B, base_seed=0), batches)


def packs_of(room: Path, tokens: int) -> Callable[[], object]:
    lengths = draw_lengths(tokens // 100)
    _, documents = draw_documents(lengths[: np.searchsorted(lengths.cumsum(), tokens)])
    return lambda: pack_documents(documents, MAX_LENGTH)


def shards_of(room: Path, tokens: int) -> Callable[[], object]:
    texts = [document.text for document in load_documents()]
    tokenizer, folders = CharTokenizer("".join(texts)), (room / str(number) for number in itertools.count())
    documents = partial(itertools.islice, itertools.cycle(texts), tokens * len(texts) // sum(map(len, texts)))
    return lambda: write_shards(documents(), tokenizer, next(folders), progress=False)


GROWING = {
    "an epoch of windows": partial(windows_of, stride=T, batches=10**9),
    "the first batch": windows_of,
    "packs, with the tokens": packs_of,
    "shards of characters": shards_of,
}


def own_memory() -> int:
    """Bytes that belong to this process alone; pages of mapped files can be taken back at any time."""
    info = psutil.Process().memory_info()
    return info.rss - getattr(info, "shared", 0)


@one_thread()
def measure_growth(name: str, tokens: int) -> dict[str, float]:
    """In a process of its own: CPU seconds, the best of three, and the most memory that was in use."""
    with tempfile.TemporaryDirectory() as room:
        run = GROWING[name](Path(room), tokens)
        used, ended, seconds = [own_memory()], threading.Event(), []

        def watch() -> None:
            while not ended.wait(0.005):
                used.append(own_memory())

        watcher = threading.Thread(target=watch)
        watcher.start()
        while len(seconds) < 3 and sum(seconds) < 5:
            begin = time.thread_time()  # without the watcher
            run()
            seconds.append(time.thread_time() - begin)
        ended.set()
        watcher.join()
    return {"tokens": tokens, "seconds": min(seconds), "bytes": max(used) - used[0]}


def grow(quick: bool) -> dict[str, list[dict]]:
    found, sizes = {name: [] for name in GROWING}, [10**5, 10**6, 10**7] + [10**8] * (not quick)
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:  # each in a new process
        for name, tokens in progress_bar(list(itertools.product(GROWING, sizes)), "growth", unit="size"):
            found[name].append(pool.apply(measure_growth, (name, tokens)))
    return found


# Measure, and write it down


@one_thread()
def measure(quick: bool) -> dict:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    load, begin, topics, growth = os.getloadavg()[0], time.perf_counter(), [], grow(quick)
    for part in (reading, packing, encoding):
        with tempfile.TemporaryDirectory() as room:
            for topic in part(Path(room), quick):
                rounds = progress_bar(range(3 if quick else 7), topic.short, unit="round")
                found = interleave({each.name: each.run for each in topic.contenders}, rounds)
                contenders = [
                    {"name": name, "role": role, "seconds": [value / amount for value in found[name]]}
                    for name, role, _, amount in topic.contenders
                ]
                topics.append(topic._asdict() | {"contenders": contenders})
    return {
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "GiB": round(psutil.virtual_memory().total / 2**30),
            "system": platform.system(),
            "python": platform.python_version(),
            "date": time.strftime("%Y-%m-%d"),
        },
        "load": [round(number, 1) for number in (load, os.getloadavg()[0])],
        "minutes": round((time.perf_counter() - begin) / 60, 1),
        "quick": quick,
        "versions": {name: importlib.metadata.version(name) for name in PEERS},
        "topics": topics,
        "growth": growth,
    }


def processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())


def ours_of(topic: dict) -> dict:
    return next(contender for contender in topic["contenders"] if contender["role"] == OURS)


def ratios(contender: dict, topic: dict) -> list[float]:
    """How many times as long as ours, in each round."""
    return [theirs / ours for theirs, ours in zip(contender["seconds"], ours_of(topic)["seconds"], strict=True)]


def exponent(points: list[dict]) -> float:
    """The slope of log time over log size, from 10^6 tokens on: below, what is constant rules."""
    chosen = [point for point in points if point["tokens"] >= 10**6]
    x, y = (np.log([point[key] for point in chosen]) for key in ("tokens", "seconds"))
    return float(np.polyfit(x, y, 1)[0])


def amount_of(seconds: float) -> str:
    unit, size = next((u for u in (("s", 1), ("ms", 1e-3)) if seconds >= u[1]), ("µs", 1e-6))
    return f"{seconds / size:.3g} {unit}"


def memory_of(size: int) -> str:
    return "below 1 MB" if size < 1e6 else f"{size / 1e6:,.0f} MB"


def table(*head: str, rows: Iterable[Iterable[str]]) -> str:
    lines = ["| ".join(["", *(f"{cell} " if cell else "" for cell in head), ""]).rstrip(), "|---" * len(head) + "|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def section(topic: dict) -> str:
    ours, rows = ours_of(topic), []
    for contender in sorted(topic["contenders"], key=lambda each: statistics.median(each["seconds"])):
        name = f"**{contender['name']}**" if contender["role"] == OURS else contender["name"]
        found = ratios(contender, topic)
        ratio = f"{statistics.median(found):.3g} times ({min(found):.3g} … {max(found):.3g})"
        took = amount_of(statistics.median(contender["seconds"]))
        rows.append((name + " (the limit)" * (contender["role"] == LIMIT), took, "" if contender is ours else ratio))
    parts = [f"## {topic['title']}", table("", f"CPU time for {topic['unit']}", "as long as ours", rows=rows)]
    return "\n\n".join([*parts, *filter(None, [topic["note"]])])


def page(results: dict) -> str:
    """The page, as Markdown: its prose is in a file beside this one, and all its numbers are from the results."""
    topics, growth = results["topics"], results["growth"].items()
    better = [
        f"- {contender['name']}: {ratio:.2g} of our time ({topic['short']})."
        for topic in topics
        for contender in topic["contenders"]
        if contender["role"] == USUAL and (ratio := statistics.median(ratios(contender, topic))) < 0.95
    ]
    sizes = [f"{point['tokens']:,}" for point in next(iter(results["growth"].values()))]
    times = [(name, *(amount_of(p["seconds"]) for p in points), f"{exponent(points):.2f}") for name, points in growth]
    memory = [(name, *(memory_of(point["bytes"]) for point in points)) for name, points in growth]
    return PROSE.read_text(encoding="utf-8").format(
        **results,
        sections="\n\n".join(map(section, topics)),
        better="\n".join(better),
        times=table("CPU time for a number of tokens", *sizes, "exponent", rows=times),
        memory=table("most memory beside the data", *sizes, rows=memory),
        shared=" **It was shared with others.**" * (max(results["load"]) > 1.5),
        packages=", ".join(f"{name} {version}" for name, version in results["versions"].items()),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer tokens and rounds: to see that all contenders run")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder of the page (default: %(default)s)")
    options = parser.parse_args()
    results, out = measure(options.quick), options.out
    out.mkdir(parents=True, exist_ok=True)
    (out / "speed.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (out / "README.md").write_text(page(results), encoding="utf-8")
    print(f"{out / 'README.md'}, in {results['minutes']} minutes")


if __name__ == "__main__":
    main()
