"""How fast the course is, beside what one would else take, and beside what nobody can beat; written down as a page.

    python tests/benchmarks/speed.py                        all of it: ten minutes on two quiet cores
    python tests/benchmarks/speed.py --quick --out /tmp/x   smaller, in two minutes; the page goes elsewhere

Peers come with `pip install --editable '.[test,bench]'`; those that are missing are left out, and named. Contenders run
in turn, round by round, and CPU seconds are counted, so that other programs on the machine trouble them little.
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
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import torch
from tokenizers import Tokenizer
from torch.utils.data import DataLoader

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(Path(__file__).parent), str(ROOT)]  # run by its path, it finds its neighbors and the course

from bench_bpe import megabyte  # noqa: E402
from bench_document_packing import as_dataset, draw_documents, draw_lengths  # noqa: E402
from bench_sliding_windows import OneWindowAtATime, take  # noqa: E402
from bench_token_shards import B, T, recipe, sharded  # noqa: E402
from measuring import interleave  # noqa: E402

from course_lib.bpe import GPT2_PATTERN, BPETokenizer, train_byte_level_bpe  # noqa: E402
from course_lib.document_packing import assign_packs, pack_documents  # noqa: E402
from course_lib.foundation import CharTokenizer, load_documents, progress_bar  # noqa: E402
from course_lib.sliding_windows import SlidingWindowDataset, make_dataloader  # noqa: E402
from course_lib.teaching.plots.style import (  # noqa: E402
    INK,
    WIDTH,
    LessonFigure,
    curve_style,
    in_words,
    styled,
)
from course_lib.token_shards import ShardedStream, write_shards  # noqa: E402
from course_lib.token_shards.shard_files import shard_path  # noqa: E402

DOTTED = {"color": INK, "linewidth": 1, "linestyle": ":"}
RESULTS = Path(__file__).parent / "results"
PEERS = ("torch", "numpy", "tokenizers", "transformers", "datasets")
PEERS += ("torchdata", "trl", "litdata", "tiktoken", "rustbpe", "ai2-olmo-core")
OURS, USUAL, LIMIT = "ours", "usual", "limit"
MAX_LENGTH = 2048  # of packs
VOCAB_SIZE = 8192


@dataclass
class Contender:
    name: str
    role: str
    run: Callable[[], object]
    amount: float = 1  # how many units (million tokens, say) one run makes


@dataclass
class Topic:
    short: str
    title: str
    unit: str  # CPU seconds for one of these
    contenders: list[Contender]
    note: str = ""


class Missing(list):
    """Peers that are not installed, or do not run."""

    def has(self, package: str) -> bool:
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            self.append(package)
            return False
        return True


# What is compared


def reading(room: Path, quick: bool, missing: Missing) -> Iterator[Topic]:
    tokens = 4_000_000 if quick else 42_000_000
    ids = np.random.default_rng(0).integers(0, 50_000, tokens, dtype=np.uint16)
    stream = sharded(room / "shards", ids, tokens)
    path = shard_path(stream.folder, "train", 0)
    plain = OneWindowAtATime(np.memmap(path, dtype=np.uint16, mode="r"), T)
    size = B * (T + 1)

    def copy(batches: int) -> None:
        for first in range(0, batches * size, size):
            ids[first : first + size].astype(np.int64)

    def ours() -> Iterator:
        return iter(make_dataloader(SlidingWindowDataset(stream, T), B, base_seed=0))

    makers: dict[str, Callable[[], Iterator]] = {
        "nanoGPT's get_batch, as it is written": lambda: (recipe(path) for _ in itertools.count()),
        "torch DataLoader over single windows": lambda: iter(DataLoader(plain, B, shuffle=True)),
    }
    if missing.has("torchdata"):
        from torchdata.stateful_dataloader import StatefulDataLoader

        makers["torchdata StatefulDataLoader"] = lambda: iter(StatefulDataLoader(plain, B, shuffle=True))
    rows = ids[: tokens // (T + 1) * (T + 1)].reshape(-1, T + 1)
    import datasets

    datasets.disable_progress_bars()
    datasets.Dataset.from_dict({"ids": rows}).save_to_disk(room / "arrow")
    arrow = datasets.load_from_disk(room / "arrow").with_format("torch")
    makers["datasets in torch format"] = lambda: iter(DataLoader(arrow, B, shuffle=True))
    if missing.has("litdata"):
        makers["litdata StreamingDataLoader"] = _litdata(room / "litdata", rows)

    few, many = (4, 40) if quick else (20, 400)
    running = {name: itertools.chain.from_iterable(make() for _ in itertools.count()) for name, make in makers.items()}
    mine = ours()
    contenders = [
        Contender("a plain copy, widened", LIMIT, lambda: copy(many // 2), many // 2 * B * T / 1e6),
        Contender("make_dataloader, shuffled", OURS, lambda: take(mine, many), many * B * T / 1e6),
    ]
    contenders += [Contender(n, USUAL, lambda i=i: take(i, few), few * B * T / 1e6) for n, i in running.items()]
    yield Topic(
        "read",
        f"Read shuffled windows, T = {T}, B = {B}, from {tokens / 1e6:.0f} million tokens, no workers",
        "a million tokens",
        contenders,
    )
    first = [Contender("make_dataloader, shuffled", OURS, lambda: next(ours()))]
    first += [Contender(name, USUAL, lambda make=make: next(make())) for name, make in makers.items()]
    yield Topic("first batch", f"Wait for the first batch of {tokens / 1e6:.0f} million tokens", "a first batch", first)


def _litdata(folder: Path, rows: np.ndarray) -> Callable[[], Iterator]:
    import litdata
    from litdata.streaming.item_loader import TokensLoader

    cache = litdata.streaming.Cache(str(folder), chunk_bytes="64MB", item_loader=TokensLoader(block_size=T + 1))
    for number, row in enumerate(rows):
        cache[number] = torch.from_numpy(row.view(np.int16))  # PyTorch has few operations on uint16
    cache.done()
    cache.merge()
    made = litdata.StreamingDataset(str(folder), item_loader=TokensLoader(block_size=T + 1), shuffle=True)
    return lambda: iter(litdata.StreamingDataLoader(made, batch_size=B, num_workers=0))


def packing(room: Path, quick: bool, missing: Missing) -> Iterator[Topic]:
    lengths = draw_lengths(10_000 if quick else 100_000)
    stream, documents = draw_documents(lengths)
    ends = lengths.cumsum()
    places = np.stack([ends - lengths, ends], axis=1)
    amount = lengths.sum() / 1e6
    about = f"{len(lengths):,} documents, {amount:.0f} million tokens, rows of {MAX_LENGTH}"
    contenders = [
        Contender("sorting the lengths", LIMIT, lambda: np.sort(lengths), amount),
        Contender("assign_packs", OURS, lambda: assign_packs(lengths, MAX_LENGTH), amount),
    ]
    note = ""
    if missing.has("ai2-olmo-core"):
        from olmo_core.data.utils import InstancePacker

        def theirs() -> list:
            return InstancePacker(MAX_LENGTH).pack_documents(places)[0]

        contenders.append(Contender("OLMo-core InstancePacker", USUAL, theirs, amount))
        ours = len(assign_packs(lengths, MAX_LENGTH))
        note = f"Rows: {ours:,} by `assign_packs`, {len(theirs()):,} by OLMo-core."
    yield Topic("rows", f"Choose who shares a row, best fit: {about}", "a million tokens", contenders, note)
    contenders = [
        Contender("joining all tokens in their order", LIMIT, lambda: np.concatenate(documents), amount),
        Contender("pack_documents", OURS, lambda: pack_documents(documents, MAX_LENGTH), amount),
    ]
    if missing.has("trl"):
        import trl

        dataset = as_dataset(stream, lengths)
        settings = {"keep_in_memory": True, "load_from_cache_file": False}
        run = partial(trl.pack_dataset, dataset, MAX_LENGTH, strategy="bfd")
        for name, size in (("1,000 at a time", 1000), ("all at once", len(lengths))):
            theirs = partial(run, map_kwargs={**settings, "batch_size": size})
            contenders.append(Contender(f"trl pack_dataset, {name}", USUAL, theirs, amount))
    yield Topic("pack", f"Pack, with the tokens: {about}", "a million tokens", contenders)


def encoding(room: Path, quick: bool, missing: Missing) -> Iterator[Topic]:
    copies = 1 if quick else 2
    text = megabyte(shift=True)
    texts = [text[i : i + 4_000] for i in range(0, len(text), 4_000)] * copies
    by_hand = BPETokenizer.train(texts, VOCAB_SIZE)
    library = train_byte_level_bpe(texts, vocab_size=VOCAB_SIZE, progress=False)
    written = library.to_str()
    amount = sum(len(encoding.ids) for encoding in library.encode_batch(texts)) / 1e6
    folders = (room / str(number) for number in itertools.count())

    def encode() -> None:
        for text in texts:
            by_hand.encode(text)

    def shards() -> None:
        write_shards(texts, library, next(folders), end_of_text_id=0, progress=False)

    def mapped() -> None:
        import datasets

        rows, tokenizer = datasets.Dataset.from_dict({"text": texts}), fresh()
        rows.map(
            lambda batch: {"ids": [e.ids for e in tokenizer.encode_batch(batch["text"])]},
            batched=True,
            remove_columns="text",
            cache_file_name=f"{next(folders)}.arrow",
        )

    def fresh() -> Tokenizer:
        """A copy for each run, as `write_shards` makes one: the cache of a used one is full, which costs a third."""
        return Tokenizer.from_str(written)

    def alone() -> None:
        tokenizer = fresh()
        for first in range(0, len(texts), 32):  # all at once takes longer, since its results are many
            tokenizer.encode_batch_fast(texts[first : first + 32])

    contenders = [
        Contender("tokenizers encode_batch_fast alone", LIMIT, alone, amount),
        Contender("write_shards with it, onto the disk", OURS, shards, amount),
        Contender("datasets.map with it, onto the disk", USUAL, mapped, amount),
        Contender("BPETokenizer, in Python, its words cached", OURS, encode, amount),
    ]
    note = ""
    if missing.has("tiktoken"):
        import tiktoken

        ranks = {by_hand.decode_bytes([number]): number for number in range(VOCAB_SIZE)}
        theirs = tiktoken.Encoding("same", pat_str=GPT2_PATTERN, mergeable_ranks=ranks, special_tokens={})
        contenders.append(
            Contender("tiktoken", USUAL, lambda: [theirs.encode_ordinary(text) for text in texts], amount)
        )
        same = all(theirs.encode_ordinary(text) == by_hand.encode(text).tolist() for text in texts[:200])
        note = f"The ids of tiktoken and `BPETokenizer` are {'the same' if same else 'NOT the same'}."
    yield Topic(
        "encode",
        f"Encode {len(texts):,} texts, {amount:.1f} million tokens, V = {VOCAB_SIZE:,}, one thread",
        "a million tokens",
        contenders,
        note,
    )
    contenders = [
        Contender("BPETokenizer.train, in Python", OURS, lambda: BPETokenizer.train(text, VOCAB_SIZE)),
        Contender(
            "tokenizers BpeTrainer",
            USUAL,
            lambda: train_byte_level_bpe([text], vocab_size=VOCAB_SIZE, special_tokens=[], progress=False),
        ),
    ]
    if missing.has("rustbpe"):
        import rustbpe

        def rust() -> None:
            rustbpe.Tokenizer().train_from_iterator(iter([text]), VOCAB_SIZE, pattern=GPT2_PATTERN)

        contenders.append(Contender("rustbpe", USUAL, rust))
    yield Topic("learn", f"Learn {VOCAB_SIZE - 256:,} merges from a megabyte", "a megabyte", contenders)


# How it grows


def an_epoch(room: Path, tokens: int) -> Callable[[], object]:
    stream = _stream(room, tokens)
    return lambda: take(iter(make_dataloader(SlidingWindowDataset(stream, T, T), B, base_seed=0)), tokens)


def a_first_batch(room: Path, tokens: int) -> Callable[[], object]:
    stream = _stream(room, tokens)
    return lambda: next(iter(make_dataloader(SlidingWindowDataset(stream, T), B, base_seed=0)))


def packs_of(room: Path, tokens: int) -> Callable[[], object]:
    lengths = draw_lengths(tokens // 100)
    _, documents = draw_documents(lengths[: np.searchsorted(lengths.cumsum(), tokens)])
    return lambda: pack_documents(documents, MAX_LENGTH)


def shards_of(room: Path, tokens: int) -> Callable[[], object]:
    texts = [document.text for document in load_documents()]
    tokenizer, folders = CharTokenizer("".join(texts)), (room / str(number) for number in itertools.count())
    each = sum(map(len, texts)) // len(texts)

    def write() -> None:
        documents = itertools.islice(itertools.cycle(texts), tokens // each)
        write_shards(documents, tokenizer, next(folders), progress=False)

    return write


def _stream(room: Path, tokens: int) -> ShardedStream:
    ids = np.random.default_rng(0).integers(0, 50_000, tokens, dtype=np.uint16)
    return sharded(room / "shards", ids, tokens)


GROWING = {
    "an epoch of windows": an_epoch,
    "the first batch": a_first_batch,
    "packs, with the tokens": packs_of,
    "shards of characters": shards_of,
}


def own_memory() -> int:
    """Bytes that belong to this process alone; pages of mapped files can be taken back at any time."""
    info = psutil.Process().memory_info()
    return info.rss - getattr(info, "shared", 0)


def measure_growth(name: str, tokens: int, send) -> None:
    """In a process of its own: CPU seconds, the best of three, and the most memory that was in use."""
    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    with tempfile.TemporaryDirectory() as room:
        run = GROWING[name](Path(room), tokens)
        before, most, ended = own_memory(), [0], threading.Event()

        def watch() -> None:
            while not ended.wait(0.005):
                most[0] = max(most[0], own_memory())

        watcher = threading.Thread(target=watch)
        watcher.start()
        begin = time.thread_time()  # without the watcher
        run()
        seconds = [time.thread_time() - begin]
        ended.set()
        watcher.join()
        while len(seconds) < 3 and sum(seconds) < 5:
            begin = time.thread_time()
            run()
            seconds.append(time.thread_time() - begin)
    send.send((min(seconds), max(0, most[0] - before)))


def grow(quick: bool, progress: bool | None) -> dict[str, list[dict]]:
    sizes = [10**5, 10**6, 10**7] + [10**8] * (not quick)
    spawn, found = multiprocessing.get_context("spawn"), {name: [] for name in GROWING}
    for name, tokens in progress_bar(list(itertools.product(GROWING, sizes)), "growth", unit="size", progress=progress):
        receive, send = spawn.Pipe(duplex=False)
        process = spawn.Process(target=measure_growth, args=(name, tokens, send))
        process.start()
        send.close()
        seconds, memory = receive.recv()
        process.join()
        found[name].append({"tokens": tokens, "seconds": seconds, "bytes": memory})
    return found


def exponent(points: list[dict]) -> float:
    """The slope of log time over log size, from 10^6 tokens on: below, what is constant rules."""
    chosen = [point for point in points if point["tokens"] >= 10**6]
    x, y = (np.log([point[key] for point in chosen]) for key in ("tokens", "seconds"))
    return float(np.polyfit(x, y, 1)[0])


# Measure, and write it down


def measure(quick: bool, progress: bool | None) -> dict:
    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    load, begin, missing, topics = os.getloadavg(), time.perf_counter(), Missing(), []
    growth = grow(quick, progress)
    with tempfile.TemporaryDirectory() as room:
        for number, part in enumerate((reading, packing, encoding)):
            place = Path(room, str(number))
            place.mkdir()
            for topic in part(place, quick, missing):
                runs = {contender.name: contender.run for contender in topic.contenders}
                rounds = progress_bar(range(3 if quick else 7), topic.short, unit="round", progress=progress)
                seconds = interleave(runs, rounds)
                topics.append(
                    {
                        "short": topic.short,
                        "title": topic.title,
                        "unit": topic.unit,
                        "note": topic.note,
                        "contenders": [
                            {
                                "name": contender.name,
                                "role": contender.role,
                                "seconds": [value / contender.amount for value in seconds[contender.name]],
                            }
                            for contender in topic.contenders
                        ],
                    }
                )
    return {
        "machine": machine(),
        "load": [round(number, 1) for number in (load[0], os.getloadavg()[0])],
        "minutes": round((time.perf_counter() - begin) / 60, 1),
        "quick": quick,
        "versions": versions(missing),
        "missing": sorted(set(missing)),
        "topics": topics,
        "growth": growth,
    }


def machine() -> dict[str, object]:
    info, name = Path("/proc/cpuinfo"), platform.processor()
    if info.is_file():
        lines = info.read_text(encoding="utf-8").splitlines()
        name = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), name)
    return {
        "processor": name,
        "cores": os.cpu_count(),
        "GiB": round(psutil.virtual_memory().total / 2**30),
        "system": platform.system(),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
    }


def versions(missing: Missing) -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in PEERS if name not in missing}


def median(contender: dict) -> float:
    return statistics.median(contender["seconds"])


def ours_of(topic: dict) -> dict:
    return next(contender for contender in topic["contenders"] if contender["role"] == OURS)


def ratios(contender: dict, topic: dict) -> list[float]:
    """How many times as long as ours, in each round."""
    pairs = zip(contender["seconds"], ours_of(topic)["seconds"], strict=True)
    return [theirs / ours for theirs, ours in pairs]


def find(results: dict, name: str, topic: str = "") -> tuple[float, dict]:
    """The median of a contender's ratios to ours."""
    for found in results["topics"]:
        for contender in found["contenders"]:
            if contender["name"].startswith(name) and found["title"].startswith(topic):
                return statistics.median(ratios(contender, found)), found
    raise KeyError(name)


def in_readme(results: dict) -> str:
    """The sentence of the README, with three numbers."""
    reads, _ = find(results, "nanoGPT")
    packs, _ = find(results, "OLMo-core")
    alone, _ = find(results, "tokenizers encode_batch_fast")
    return (
        f"Reading shuffled windows takes 1/{reads:.0f} of the CPU time of nanoGPT's loop, choosing who shares a row "
        f"1/{packs:.0f} of OLMo-core's, and writing shards {1 / alone - 1:.0%} more than the tokenizer alone"
    )


def amount_of(seconds: float) -> str:
    units = (("s", 1), ("ms", 1e-3), ("µs", 1e-6))
    unit, size = next((unit for unit in units if seconds >= unit[1]), units[-1])
    return f"{seconds / size:.3g} {unit}"


def memory_of(size: int) -> str:
    return "below 1 MB" if size < 1e6 else f"{size / 1e6:,.0f} MB"


def page(results: dict) -> str:
    """The page, as Markdown: all its numbers are from the results."""
    made, (first, last) = results["machine"], results["load"]
    lines = [
        "# A page of speed",
        "",
        "How much CPU time the course's own code takes, beside what one would else take, and beside a limit that",
        "nobody can beat: a plain copy, a sort, the tokenizer alone. Contenders ran in turn, round by round, on one",
        "thread. A ratio compares runs of the same round: it is the median, with the smallest and the largest. So",
        "other programs on the machine trouble the ratios little, although they trouble the seconds.",
        "",
        "![Dots: how many times as long as the course's code each contender takes. Lines: time against the number of",
        "tokens, from 100,000 to 100 million.](speed.png)",
        "",
    ]
    for topic in results["topics"]:
        lines += [f"## {topic['title']}", "", f"| | CPU time for {topic['unit']} | as long as ours |", "|---|---|---|"]
        ours = ours_of(topic)
        for contender in sorted(topic["contenders"], key=median):
            name = f"**{contender['name']}**" if contender["role"] == OURS else contender["name"]
            name += " (the limit)" * (contender["role"] == LIMIT)
            found = ratios(contender, topic)
            ratio = f"{statistics.median(found):.3g} times ({min(found):.3g} … {max(found):.3g})"
            lines.append(f"| {name} | {amount_of(median(contender))} | {'' if contender is ours else ratio} |")
        lines += [""] + [topic["note"], ""] * bool(topic["note"])
    lines += _better(results)
    sizes = [point["tokens"] for point in next(iter(results["growth"].values()))]
    head = " | ".join(f"{size:,}" for size in sizes)
    lines += ["## How it grows", "", f"| CPU time for a number of tokens | {head} | exponent |"]
    lines += ["|---" * (len(sizes) + 2) + "|"]
    for name, points in results["growth"].items():
        cells = " | ".join(amount_of(point["seconds"]) for point in points)
        lines.append(f"| {name} | {cells} | {exponent(points):.2f} |")
    lines += ["", f"| most memory beside the data | {head} |", "|---" * (len(sizes) + 1) + "|"]
    for name, points in results["growth"].items():
        lines.append(f"| {name} | {' | '.join(memory_of(point['bytes']) for point in points)} |")
    lines += [
        "",
        "An exponent of 1 is time that grows like the number of tokens, and of 0 time that does not grow. It is the",
        "slope from a million tokens on: below, what is constant rules. Memory is what belongs to the process alone,",
        "without the pages of mapped files, which the system may take back at any time.",
        "",
        "## How this was made",
        "",
        f"With `python tests/benchmarks/speed.py` on {made['date']}, in {results['minutes']} minutes, on",
        f"{made['cores']} cores ({made['processor']}, {made['GiB']} GiB, {made['system']}, Python {made['python']}).",
        f"The load of the machine was {first} at the beginning and {last} at the end; 1 is one busy core."
        + " **It was shared with others.**" * (max(first, last) > 1.5),
        "Packages: " + ", ".join(f"{name} {version}" for name, version in results["versions"].items()) + ".",
        "",
        "Not run: mosaicml-streaming, which asks for a NumPy before 2.2; minbpe, nanochat and nanoGPT, which are no",
        "packages, so that the loop of the last stands here as it is written there; reading from object stores; and",
        "anything on a GPU.",
    ]
    if results["missing"]:
        lines += ["", f"Not installed when this was made: {', '.join(results['missing'])}."]
    return "\n".join(lines) + "\n"


def _better(results: dict) -> list[str]:
    """Name each contender, the limits apart, that takes less time than ours."""
    found = [
        f"- {contender['name']}: {statistics.median(ratios(contender, topic)):.2g} of our time ({topic['short']})."
        for topic in results["topics"]
        for contender in topic["contenders"]
        if contender["role"] == USUAL and statistics.median(ratios(contender, topic)) < 0.95
    ]
    return ["## What others do better", "", *found, ""] if found else []


def picture(results: dict) -> bytes:
    """Above, each contender beside ours; below, how ours grows."""

    @styled
    def draw() -> LessonFigure:
        rows = [(t, c) for t in results["topics"] for c in t["contenders"] if c is not ours_of(t)]
        figure = LessonFigure(figsize=(WIDTH, 0.27 * len(rows) + 4.5), layout="constrained")
        above, below = figure.subplots(2, height_ratios=[0.27 * len(rows), 3.5])
        for place, (topic, contender) in enumerate(rows):
            values = ratios(contender, topic)
            above.plot([min(values), max(values)], [place] * 2, color=INK, linewidth=1)
            marker = {LIMIT: "|", OURS: "o", USUAL: "s"}[contender["role"]]
            above.plot(statistics.median(values), place, marker, color=INK, markersize=8)
        above.axvline(1, **DOTTED)
        above.set(xscale="log", xlabel="CPU time: times as long as the course's code (a stroke is a limit)")
        above.set_yticks(range(len(rows)), [f"{topic['short']}: {contender['name']}" for topic, contender in rows])
        above.invert_yaxis()
        for number, (name, points) in enumerate(results["growth"].items()):
            x, y = ([point[key] for point in points] for key in ("tokens", "seconds"))
            below.plot(x, y, **curve_style(number))
            below.annotate(f"{name}: {exponent(points):.2f}", (x[-1], y[-1]), (8, -4), textcoords="offset points")
        below.set(xscale="log", yscale="log", xlabel="tokens", ylabel="CPU seconds", title="Growth, and its exponent")
        below.set_xlim(right=below.get_xlim()[1] * 300)
        for axis in (above.xaxis, below.xaxis, below.yaxis):
            axis.set_major_formatter(in_words)
            axis.set_minor_formatter("")
        return figure

    return draw().png()


def write(results: dict, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "speed.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(page(results), encoding="utf-8")
    (folder / "speed.png").write_bytes(picture(results))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer tokens and rounds: to see that all contenders run")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder of the page (default: %(default)s)")
    parser.add_argument("--no-progress", action="store_false", dest="progress", default=None, help="no progress bars")
    options = parser.parse_args(arguments)
    results = measure(options.quick, options.progress)
    write(results, options.out)
    print(f"{options.out / 'README.md'}, in {results['minutes']} minutes. The README quotes of it:")
    print(in_readme(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
