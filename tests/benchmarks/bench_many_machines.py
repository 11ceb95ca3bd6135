"""What it costs to cut the work into tasks, and what more workers give: `pytest -n 0 tests/benchmarks/bench_*.py`.

Ratios within one run. Speed-ups of processes depend on the machine's cores, so they are reported, not asserted.
"""

from __future__ import annotations

import itertools
import json
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from measuring import compare, over
from tokenizers import Tokenizer

from course_lib.foundation import (
    InThisProcess,
    encode_corpus,
    encode_each,
    load_documents,
    process_pool,
    run_in_order,
    write_durably,
)
from course_lib.many_machines import encoding_hours, tokenize_files
from course_lib.many_machines.devices import copy_to_device
from course_lib.token_shards import write_shards
from course_lib.token_shards.shard_files import ShardSettings, pieces_folder
from course_lib.token_shards.shard_tasks import (
    Job,
    TaskResult,
    TaskWriter,
    plan_shards,
    run_job,
    task_paths,
    write_shard,
)
from course_lib.tokenizer_pipeline import build_tokenizer

ROUNDS = 3
COPIES = 4


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [document.text for document in load_documents()] * COPIES


@pytest.fixture(scope="module")
def tokenizer(texts) -> Tokenizer:
    return build_tokenizer(texts[: len(texts) // COPIES], vocab_size=4_000, progress=False)


@pytest.fixture(scope="module")
def files(texts, tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("inputs")
    paths = [folder / f"{number}.jsonl" for number in range(4)]
    for number, path in enumerate(paths):
        path.write_text("\n".join(json.dumps({"text": text}) for text in texts[number::4]), encoding="utf-8")
    return paths


def test_tasks_and_their_files_cost_little_beside_encoding(benchmark, report, files, tokenizer, texts, tmp_path):
    # One thread for all contenders: else the library's threads are what is measured.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    folders = (tmp_path / str(number) for number in itertools.count())
    run = partial(tokenize_files, files, tokenizer, progress=False, task_bytes=2**20)
    contenders = {
        "tasks": lambda: run(next(folders), make_executor=InThisProcess),
        "write_shards": lambda: write_shards(texts, tokenizer, next(folders), progress=False),
        "encode": lambda: encode_corpus(texts, tokenizer, progress=False),
        "two": lambda: run(next(folders), make_executor=partial(process_pool, 2)),
    }
    seconds = compare(benchmark, contenders, ROUNDS)
    num_tokens = len(encode_corpus(texts, tokenizer, progress=False))
    names = {
        "tasks": "tokenize_files, in this process",
        "two": "tokenize_files, two processes (and starting them)",
        "write_shards": "write_shards",
        "encode": "encode_corpus alone, in memory",
    }
    for name, label in names.items():
        rate = num_tokens / seconds[name]
        hours = encoding_hours(15e12, rate, 1000)
        report(label, f"{rate / 1e6:.2f} M tokens/s", f"{hours:,.1f} h for 15 T tokens on 1,000 such machines")
    assert seconds["tasks"] < 2 * seconds["encode"]


def test_placing_is_much_faster_than_encoding(benchmark, report, texts, tokenizer, tmp_path):
    folders = (tmp_path / str(number) for number in itertools.count())
    settings = ShardSettings.of(tokenizer)
    documents = list(zip(texts, encode_each(texts, tokenizer), strict=True))

    def place() -> None:
        job = Job(next(folders), settings)

        def results():
            with TaskWriter(job, 0) as writer:
                for text, ids in documents:
                    writer.write(text, ids)
                yield writer.commit()

        run_job(job, tokenizer, [], results(), progress=False)

    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    contenders = {"place": place, "encode": lambda: encode_corpus(texts, tokenizer, progress=False)}
    seconds = compare(benchmark, contenders, ROUNDS)
    ratio = seconds["encode"] / seconds["place"]
    num_tokens = sum(len(ids) for _, ids in documents)
    report("placing", f"{num_tokens / seconds['place'] / 1e6:,.1f} M tokens/s", f"{ratio:.0f} x encoding")
    assert ratio > 3


DOCUMENTS, LENGTH, TASKS = 10_000, 1_000, 8


@pytest.fixture(scope="module")
def encoded(tmp_path_factory) -> tuple[Job, list[TaskResult]]:
    """What eight tasks have left, of ten million tokens each."""
    folder = tmp_path_factory.mktemp("encoded")
    settings = ShardSettings("uint16", "none", None, 10_000_000, 100, None)
    job = Job(folder / "out", settings)
    job.folder.mkdir()
    draw, results = np.random.default_rng(0), []
    tokens = tuple(len(range(k, DOCUMENTS, 100)) * LENGTH for k in range(100))
    for number in range(TASKS):
        ids_path, documents_path, _ = task_paths(job, number)
        rows = np.zeros(DOCUMENTS, dtype=[("digest", "V32"), ("length", "<i8")])
        rows["digest"] = np.frombuffer(draw.bytes(DOCUMENTS * 32), "V32")
        rows["length"] = LENGTH
        ids = draw.integers(0, 2**16, DOCUMENTS * LENGTH, dtype=np.uint16)
        sums = write_durably(ids_path, ids.tobytes()), write_durably(documents_path, rows.tobytes())
        results.append(TaskResult(number, "", DOCUMENTS, tokens, *sums))
    return job, results


def test_shards_are_written_by_any_worker(benchmark, report, encoded, tmp_path):
    """Two processes beside one."""
    job, results = encoded
    plans = plan_shards(results, job.settings)
    folders = (tmp_path / str(number) for number in itertools.count())

    def by_shards(make_executor) -> None:
        own = replace(job, out_dir=next(folders))
        own.out_dir.mkdir()
        pieces_folder(own.out_dir).symlink_to(job.folder)
        assert len(list(run_in_order(partial(write_shard, own), plans, make_executor))) == len(plans)

    with process_pool(2) as pool:
        contenders = {
            "by shards": lambda: by_shards(InThisProcess),
            "two": lambda: by_shards(pool),
            "plan": lambda: plan_shards(results, job.settings),
        }
        seconds = compare(benchmark, contenders, ROUNDS)
    num_tokens = DOCUMENTS * LENGTH * TASKS
    names = ("one process", "two processes", "what stays serial: the plan")
    for value, label in zip(seconds.values(), names, strict=True):
        hours = encoding_hours(15e12, num_tokens / value)
        report(label, f"{num_tokens / value / 1e6:,.0f} M tokens/s", f"{hours:,.1f} h for 15 T tokens at that rate")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no CUDA device here")
def test_copies_ahead_beside_copies_one_by_one(benchmark, report):
    batches = [(torch.randint(50_000, (64, 1025)),) for _ in range(64)]
    weights = torch.randn(4096, 4096, device="cuda")

    def work(_: object) -> None:
        for _ in range(4):
            weights @ weights

    def one_by_one() -> None:
        for batch in batches:
            work(batch[0].to("cuda"))
        torch.cuda.synchronize()

    def ahead() -> None:
        over(copy_to_device(batches, "cuda"), work)()
        torch.cuda.synchronize()

    seconds = compare(benchmark, {"ahead": ahead, "one by one": one_by_one}, 10)
    for name, value in seconds.items():
        report(name, f"{len(batches) / value:,.0f} batches/s", f"{seconds['one by one'] / value:.2f}x")
