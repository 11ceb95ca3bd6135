"""How fast texts become ids, beside what comes after: `pytest tests/benchmarks/bench_*.py`.

Encoding is what the whole pipeline waits for. It is timed text by text, which is one core's work, and in batches,
which is that of all cores; and its speed on one core is set against the gathering of windows from the ids it makes.
Contenders run in turn, round by round; only ratios within one run are asserted.

What the course adds to the library is measured without it: its answers are played back. On a busy machine its own CPU
time varies from run to run by more than what is asked about.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from measuring import compare
from tokenizers import Tokenizer

from course_lib.foundation import InThisProcess, encode_corpus, load_documents, load_text, python_sources
from course_lib.foundation.tokenizing import id_dtype
from course_lib.many_machines import tokenize_files
from course_lib.many_machines.inputs import plan_tasks
from course_lib.sliding_windows import gather_windows
from course_lib.token_shards import write_shards
from course_lib.tokenizer_pipeline import build_tokenizer, training_texts, wrap_tokenizer

CONTEXT_LENGTH, BATCH_SIZE = 256, 64
ROUNDS = 7


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """The bundled documents and the story, which is cut at its chapters' size, so that all cores have work."""
    story = load_text()
    pieces = [story[i : i + 5_000] for i in range(0, len(story), 5_000)]
    return [document.text for document in load_documents()] + pieces


@pytest.fixture(scope="module")
def tokenizer(texts) -> Tokenizer:
    return build_tokenizer([*training_texts(load_documents()), load_text()], vocab_size=4_000, progress=False)


def test_encoding_is_what_the_pipeline_waits_for(benchmark, report, texts, tokenizer):
    stream = encode_corpus(texts, tokenizer, progress=False)
    starts = np.random.default_rng(0).integers(0, len(stream) - CONTEXT_LENGTH, (50, BATCH_SIZE))
    gathered = starts.size * CONTEXT_LENGTH

    def gather() -> None:
        for batch in starts:
            gather_windows(stream, batch, CONTEXT_LENGTH)

    wrapped = wrap_tokenizer(tokenizer, model_max_length=1_000_000)
    contenders = {
        "encode_corpus": lambda: encode_corpus(texts, tokenizer, progress=False),
        "gather": gather,
        "one by one": lambda: [tokenizer.encode(text).ids for text in texts],
        "transformers": lambda: wrapped(texts)["input_ids"],
        "normalize": lambda: [tokenizer.normalizer.normalize_str(text) for text in texts],
        "cut": lambda: [tokenizer.pre_tokenizer.pre_tokenize_str(text) for text in texts],
        "decode": lambda: tokenizer.decode(stream.tolist()),
    }
    seconds = compare(benchmark, contenders, ROUNDS)
    names = {
        "one by one": "tokenizer.encode, text by text: one core",
        "encode_corpus": f"encode_corpus, {os.cpu_count()} cores",
        "transformers": f"wrapped(texts), {os.cpu_count()} cores",
        "normalize": "the normalizer alone, one core",
        "cut": "the pre-tokenizer alone, called from Python",
        "decode": "decode, the way back",
    }
    for name, label in names.items():
        speed = len(stream) / seconds[name]
        report(label, f"{speed / 1e6:,.2f} M tokens/s", f"{seconds['one by one'] / seconds[name]:.2f}x")
    ratio = (seconds["one by one"] / len(stream)) / (seconds["gather"] / gathered)
    report("gather_windows, random windows", f"{gathered / seconds['gather'] / 1e6:,.0f} M tokens/s", f"{ratio:,.0f}x")
    assert ratio >= 50


def test_training_takes_a_sample(benchmark, report, texts):
    size = sum(len(text.encode()) for text in texts)
    benchmark.pedantic(lambda: build_tokenizer(texts, vocab_size=4_000, progress=False), rounds=3)
    report(
        "build_tokenizer, 4,000 tokens", f"{size / benchmark.stats.stats.median / 1e6:,.2f} MB/s", "once, on a sample"
    )


class Replay:
    """A tokenizer that answers at once what another one has answered before."""

    def __init__(self, tokenizer: Tokenizer, texts: list[str]):
        encodings = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        self.known = {text: SimpleNamespace(ids=each.ids) for text, each in zip(texts, encodings, strict=True)}
        self.tokenizer = tokenizer

    def __getattr__(self, name: str):
        return getattr(self.tokenizer, name)

    def encode_batch_fast(self, texts: list[str], **_) -> list[SimpleNamespace]:
        return [self.known[text] for text in texts]


def test_what_is_added_to_the_library_is_little(report, tokenizer, tmp_path, monkeypatch):
    sources = [document.text for document in python_sources()]
    source_file, folders = tmp_path / "sources.jsonl", count()
    source_file.write_text("\n".join(json.dumps({"text": text}) for text in sources), encoding="utf-8")
    replay = Replay(tokenizer, sources)
    monkeypatch.setattr(Replay, "from_str", lambda _: replay, raising=False)
    dtype, ids_file = id_dtype(tokenizer), tmp_path / "ids.bin"

    def alone() -> None:
        with ids_file.open("wb") as file:
            for first in range(0, len(sources), 1000):
                for encoding in tokenizer.encode_batch_fast(sources[first : first + 1000]):
                    file.write(np.array(encoding.ids, dtype=dtype).data)

    def tasks() -> None:
        folder = tmp_path / str(next(folders))
        tokenize_files([source_file], replay, folder, make_executor=InThisProcess, progress=False)

    contenders = {
        "encode_batch_fast alone, ids to a file": alone,
        "encode_corpus": lambda: encode_corpus(sources, replay, progress=False),
        "write_shards": lambda: write_shards(sources, replay, tmp_path / str(next(folders)), progress=False),
        "tokenize_files, in this process": tasks,
    }
    seconds = dict.fromkeys(contenders, np.inf)
    for _ in range(3):
        for name, contender in contenders.items():
            begin = time.process_time()
            contender()
            seconds[name] = min(seconds[name], time.process_time() - begin)
    (_, library), *others = seconds.items()
    size = sum(map(len, sources)) / 1e6
    report(f"encode_batch_fast alone, ids to a file, {size:.0f} MB", f"{library:.1f} s of CPU")
    for name, value in others:
        report(f"what {name} adds", f"{value:.2f} s of CPU", f"{value / library:+.1%}")
        assert value < 0.08 * library


MEMORY = """
import sys
from tokenizers import Tokenizer
from course_lib.foundation import CharTokenizer, InThisProcess
from course_lib.many_machines import tokenize_files

name, source, out_dir = sys.argv[1:]
tokenizer = CharTokenizer(open(source).read(100_000), max_characters=20)
if name:
    tokenizer = Tokenizer.from_file(name)
tokenize_files([source], tokenizer, out_dir, make_executor=InThisProcess, task_bytes=2**22, progress=False)
print([line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")][0])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
@pytest.mark.parametrize(("kind", "megabytes"), [("one token a character", (20, 200)), ("BPE", (3, 30))])
def test_ten_times_the_corpus_takes_no_more_memory(report, texts, tokenizer, tmp_path, kind, megabytes):
    """Of tasks of one size: a shard is written from whole tasks, two copies of whose ids it holds for a moment."""
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    name, peaks = "", []
    if kind == "BPE":
        tokenizer.save(name := str(tmp_path / "tokenizer.json"))
    for size in megabytes:
        source = tmp_path / f"{size}.jsonl"
        with source.open("w", encoding="utf-8") as file:
            while file.tell() < size * 1e6:
                file.write(lines)
        command = [sys.executable, "-c", MEMORY, name, str(source), str(tmp_path / f"shards-{size}")]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(run.stdout) / 2**10)
        report(f"tokenize_files, {kind}, {size} MB", f"peak {peaks[-1]:,.0f} MiB", f"{peaks[-1] / peaks[0]:.2f}x")
    assert peaks[1] < 1.2 * peaks[0]


def test_a_hundred_thousand_files_are_planned_in_about_a_second(report, tmp_path):
    seconds = {}
    for num_files in (10_000, 100_000):
        folder = tmp_path / str(num_files)
        for number in range(num_files):
            if number % 1000 == 0:
                (folder / f"{number:06}").mkdir(parents=True)
                inside = str(folder / f"{number:06}")
            os.close(os.open(f"{inside}/{number}.txt", os.O_CREAT | os.O_WRONLY))
        rounds = {"plan": [], "walk": []}
        for _ in range(3):
            begin = time.process_time()
            (task,) = plan_tasks([folder])
            middle = time.process_time()
            sizes = [
                os.stat(os.path.join(place, name)).st_size for place, _, names in os.walk(folder) for name in names
            ]
            rounds["plan"].append(middle - begin)
            rounds["walk"].append(time.process_time() - middle)
        assert len(task.pieces) == len(sizes) == num_files
        seconds[num_files], bare = min(rounds["plan"]), min(rounds["walk"])
        ratio = seconds[num_files] / bare
        report(f"plan_tasks, {num_files:,} files", f"{seconds[num_files]:.2f} s of CPU", f"{ratio:.1f}x a bare os.walk")
    assert ratio < 8
    assert seconds[100_000] < 20 * seconds[10_000]
