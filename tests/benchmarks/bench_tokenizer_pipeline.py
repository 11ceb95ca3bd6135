"""How fast texts become ids, beside what comes after: `pytest tests/benchmarks/bench_*.py`.

Encoding is what the whole pipeline waits for. It is timed text by text, which is one core's work, and in batches,
which is that of all cores; and its speed on one core is set against the gathering of windows from the ids it makes.
Contenders run in turn, round by round; only ratios within one run are asserted.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from measuring import compare
from tokenizers import Tokenizer

from course_lib.foundation import encode_corpus, load_documents, load_text
from course_lib.sliding_windows import gather_windows
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
