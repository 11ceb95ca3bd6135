"""How fast BPE is trained and applied: `pytest tests/benchmarks/bench_*.py`.

As in the other benchmarks, contenders run in turn and only ratios within one run are asserted.

The megabyte: the bundled texts are a quarter of one. Repeated four times they would have no new words, and distinct
words are what training works on. So in each repetition the letters are shifted along the alphabet by one more: as many
words again, spelled differently, with the frequencies of real ones. A real megabyte of one kind of text has fewer
distinct words than that, a mixed one may have more; so the plain repetition is measured as well.
"""

from __future__ import annotations

import string
import time
from itertools import cycle, islice

import numpy as np
import pytest
from tokenizers import Tokenizer

from course_lib.bpe import (
    BPETokenizer,
    count_words,
    learn_merges,
    learn_merges_by_rescanning,
    merge_history,
    merge_word,
    spell,
    train_byte_level_bpe,
)
from course_lib.foundation import load_documents, load_text
from course_lib.sliding_windows import gather_windows

MEGABYTE = 1_000_000
NUM_MERGES = 1_000
ROUNDS = 5


def shifted(text: str, by: int) -> str:
    """Move each ASCII letter along the alphabet."""
    lower, upper = string.ascii_lowercase, string.ascii_uppercase
    return text.translate(str.maketrans(lower + upper, lower[by:] + lower[:by] + upper[by:] + upper[:by]))


def megabyte(shift: bool) -> str:
    texts = "\n\n".join([load_text(), *(document.text for document in load_documents())])
    copies = "".join(shifted(texts, number if shift else 0) for number in range(1 + MEGABYTE // len(texts.encode())))
    return copies.encode()[:MEGABYTE].decode("utf-8", "ignore")


def timed(work) -> tuple[float, object]:
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


@pytest.mark.parametrize("kind", ["letters shifted in each repetition", "plain repetition"])
def test_learning_a_thousand_merges_from_a_megabyte(benchmark, report, kind):
    text = megabyte(shift=kind.startswith("letters"))

    def incremental() -> dict:
        return learn_merges(count_words([text]), NUM_MERGES)  # cutting and counting the words included

    learned = benchmark.pedantic(incremental, rounds=ROUNDS, warmup_rounds=1)
    seconds = benchmark.stats.stats.median
    words = count_words([text])
    rescanning, expected = timed(lambda: learn_merges_by_rescanning(words, NUM_MERGES))
    library, _ = timed(lambda: train_byte_level_bpe([text], vocab_size=256 + NUM_MERGES, special_tokens=[]))
    assert list(learned.items()) == list(expected.items())
    assert len(learned) == NUM_MERGES
    report(f"1 MB, {kind}", f"{len(words):,} words", f"{NUM_MERGES:,} merges")
    report("  rescanning the distinct words", f"{rescanning:,.2f} s", "1.0x")
    report("  incremental, with cutting and counting", f"{seconds:,.2f} s", f"{rescanning / seconds:,.0f}x")
    report("  tokenizers, all cores", f"{library:,.2f} s", f"{rescanning / library:,.0f}x")
    assert rescanning / seconds >= 20


def test_encoding_a_long_word(benchmark, report):
    tokenizer = BPETokenizer.train(load_text(), 2000)
    letters = "".join(islice(cycle(c for c in load_text() if c.isalpha()), 128_000))
    words = {length: spell(letters[:length])[:length] for length in (2_000, 16_000, 128_000)}

    def encode_longest() -> list[int]:
        return merge_word(words[128_000], tokenizer.merges)

    benchmark.pedantic(encode_longest, rounds=ROUNDS, warmup_rounds=1)
    heap, stages = {}, {}
    for length, word in words.items():
        heap[length] = min(timed(lambda w=word: merge_word(w, tokenizer.merges))[0] for _ in range(5))
        if length < 100_000:
            stages[length] = timed(lambda w=word: merge_history(w, tokenizer.merges))[0]
    for length, seconds in heap.items():
        compared = f"{stages[length] / seconds:,.0f}x merge_history" if length in stages else ""
        report(f"merge_word, {length:,} bytes", f"{seconds / length * 1e6:,.2f} us a byte", compared)
    # n log n predicts 64 times 1.5, n squared 64 times 64. Memory that no cache holds any more comes on top.
    assert heap[128_000] / heap[2_000] < 64 * 8


def encode_on_one_core(tokenizer: Tokenizer, texts: list[str]) -> int:
    return sum(len(tokenizer.encode(text).ids) for text in texts)


def test_encoding_is_the_bottleneck(benchmark, report, monkeypatch):
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    texts = [document.text for document in load_documents()]
    library = train_byte_level_bpe(texts, vocab_size=4000)
    by_hand = BPETokenizer.train(texts, 4000)
    num_tokens = encode_on_one_core(library, texts)
    num_bytes = sum(len(text.encode()) for text in texts)
    stream = np.concatenate([by_hand.encode(text) for text in texts])
    starts = np.random.default_rng(0).integers(0, len(stream) - 257, (20, 64))
    benchmark.pedantic(encode_on_one_core, (library, texts), rounds=ROUNDS * 3, warmup_rounds=2)
    encoding = num_tokens / benchmark.stats.stats.median
    hand = num_tokens / min(timed(lambda: [by_hand.encode(text) for text in texts])[0] for _ in range(ROUNDS))
    gather = min(timed(lambda: [gather_windows(stream, batch, 256) for batch in starts])[0] for _ in range(ROUNDS * 3))
    gathering = starts.size * 256 / gather
    training = timed(lambda: train_byte_level_bpe([megabyte(shift=False)] * 8, vocab_size=32_000))[0]
    compression = f"{num_bytes / num_tokens:.2f} bytes a token"
    report("tokenizers, encoding, one core", f"{encoding / 1e6:,.2f} M tokens/s", compression)
    report("BPETokenizer, encoding, words cached", f"{hand / 1e6:,.2f} M tokens/s", f"{hand / encoding:.2f}x")
    report("gather_windows, stream in cache", f"{gathering / 1e6:,.0f} M tokens/s", f"{gathering / encoding:,.0f}x")
    report("10 billion tokens, encoding, one core", f"{1e10 / encoding / 3600:,.1f} h")
    minutes = 1000 / (8 / training) / 60
    report("tokenizers, training, 8 MB, one core", f"{8 / training:,.1f} MB/s", f"1 GB: {minutes:,.0f} min, if linear")
    assert gathering / encoding >= 20
