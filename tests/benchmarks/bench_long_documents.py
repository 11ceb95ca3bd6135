"""What cutting, streaming and padding add to what must be done anyway: `pytest tests/benchmarks/bench_*.py`.

A stream waits for its tokenizer, so it is set against encoding alone and against encoding text by text; the collator
against `tokenizer.pad`. Contenders run in turn, round by round; only ratios within one run are asserted.
"""

from __future__ import annotations

from collections.abc import Iterator

import datasets
import numpy as np
import pytest
import torch
from measuring import compare, over
from tokenizers import Tokenizer

from course_lib.foundation import encode_corpus, load_documents
from course_lib.long_documents import PaddingCollator, StreamingTextDataset, chunk_ids
from course_lib.tokenizer_pipeline import build_tokenizer, wrap_tokenizer

MAX_LENGTH, OVERLAP = 256, 16
BATCH_SIZE = 32
ROUNDS = 7


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [document.text for document in load_documents()] * 5


@pytest.fixture(scope="module")
def tokenizer(texts) -> Tokenizer:
    return build_tokenizer(texts[::5], vocab_size=4_000, progress=False)


@pytest.fixture(scope="module")
def on_disk(texts, tmp_path_factory) -> Iterator[datasets.Dataset]:
    folder = tmp_path_factory.mktemp("arrow") / "texts"
    datasets.Dataset.from_dict({"text": texts}).save_to_disk(folder)
    return datasets.load_from_disk(folder)


def test_a_stream_takes_little_more_than_its_tokenizer(benchmark, report, texts, tokenizer, on_disk):
    stream = StreamingTextDataset(on_disk, tokenizer, max_length=MAX_LENGTH, overlap=OVERLAP, base_seed=0)
    num_chunks = sum(1 for _ in stream)
    wrapped = wrap_tokenizer(tokenizer, model_max_length=MAX_LENGTH)
    cut = {"truncation": True, "max_length": MAX_LENGTH, "stride": OVERLAP, "return_overflowing_tokens": True}

    def one_by_one() -> None:
        for row in range(len(on_disk)):
            for chunk in chunk_ids(tokenizer.encode(on_disk[row]["text"]).ids, MAX_LENGTH, OVERLAP):
                torch.from_numpy(chunk.astype(np.int64))

    contenders = {
        "stream": lambda: [None for _ in stream],
        "encode": lambda: encode_corpus(texts, tokenizer, progress=False),
        "one by one": one_by_one,
        "library": lambda: [torch.tensor(ids) for text in texts for ids in wrapped(text, **cut)["input_ids"]],
    }
    seconds = compare(benchmark, contenders, ROUNDS)
    names = {
        "stream": "StreamingTextDataset, shuffled",
        "one by one": "row by row: read, encode, cut",
        "library": "return_overflowing_tokens, text by text",
        "encode": "encode_corpus alone, nothing read or cut",
    }
    for name, label in names.items():
        ratio = seconds["stream"] / seconds[name]
        report(label, f"{num_chunks / seconds[name]:,.0f} chunks/s", f"{ratio:.2f}x the stream's speed")
    assert seconds["stream"] < 2 * seconds["encode"]
    assert seconds["stream"] < 1.1 * seconds["one by one"]


def test_cutting_is_nothing_beside_encoding(benchmark, report, texts, tokenizer):
    text = "\n".join(texts[:200])
    ids = np.array(tokenizer.encode(text).ids, dtype=np.uint16)
    contenders = {
        "cut": lambda: chunk_ids(ids, MAX_LENGTH, OVERLAP),
        "encode": lambda: tokenizer.encode(text),
    }
    seconds = compare(benchmark, contenders, ROUNDS)
    ratio = seconds["encode"] / seconds["cut"]
    report(
        "chunk_ids, one long document", f"{len(ids) / seconds['cut'] / 1e6:,.0f} M tokens/s", f"{ratio:,.0f}x encode"
    )
    assert ratio >= 50


def test_the_collator_beside_tokenizer_pad(benchmark, report, tokenizer, on_disk):
    wrapped = wrap_tokenizer(tokenizer, model_max_length=MAX_LENGTH)
    stream = StreamingTextDataset(on_disk, tokenizer, max_length=MAX_LENGTH, base_seed=0)
    rows = [{"input_ids": item["input_ids"]} for item in stream]
    batches = [rows[i : i + BATCH_SIZE] for i in range(0, len(rows) - BATCH_SIZE, BATCH_SIZE)]
    collate = PaddingCollator(wrapped)

    def library(batch: list[dict]) -> None:
        padded = wrapped.pad(batch, return_tensors="pt")
        padded["labels"] = padded["input_ids"].masked_fill(padded["attention_mask"] == 0, -100)

    contenders = {"collator": over(batches, collate), "library": over(batches, library)}
    seconds = compare(benchmark, contenders, ROUNDS)
    num_rows = len(batches) * BATCH_SIZE
    for name, label in (("collator", "PaddingCollator"), ("library", "tokenizer.pad, and labels by its mask")):
        ratio = seconds["library"] / seconds[name]
        report(label, f"{num_rows / seconds[name]:,.0f} rows/s", f"{ratio:.1f}x")
    assert seconds["collator"] < seconds["library"]
