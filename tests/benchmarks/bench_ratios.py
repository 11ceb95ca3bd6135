"""Five ratios that the course's claims of speed rest on: `pytest -n 0 tests/benchmarks/bench_ratios.py`.

Contenders run in turn, round by round, and each one's best round counts. A bound is about half of what a quiet machine
shows. The page in `results` has more contenders, and figures.
"""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

sys.path.append(str(Path(__file__).parent))

from speed import MAX_LENGTH, B, OneWindowAtATime, draw_ids, draw_lengths, encode_alone, interleave, megabyte, take

from course_lib.bpe import BPETokenizer, train_byte_level_bpe
from course_lib.bpe.one_screen import OneScreenBPE
from course_lib.document_packing import assign_packs
from course_lib.foundation import one_thread
from course_lib.sliding_windows import SlidingWindowDataset, make_dataloader
from course_lib.token_shards import write_shards

pytestmark = pytest.mark.skipif("PYTEST_XDIST_WORKER" in os.environ, reason="processes time each other: add `-n 0`")


@one_thread()
def times_as_long(usual: Callable, ours: Callable, rounds: int, clock: Callable = time.process_time) -> float:
    seconds = interleave({"usual": usual, "ours": ours}, range(rounds), clock)
    ratio = min(seconds["usual"]) / min(seconds["ours"])
    print(f"{ratio:.3g} times as long")  # `-s` shows it
    return ratio


@pytest.mark.parametrize(("num_workers", "bound"), [(0, 4), (2, 8)])
def test_shuffled_windows_beside_a_default_loader(num_workers, bound, tmp_path):
    draw_ids(20_000_000).tofile(tmp_path / "ids.bin")
    ids, length, (few, many) = np.memmap(tmp_path / "ids.bin", dtype=np.uint16, mode="r"), 256, (100, 1_000)
    loader = make_dataloader(SlidingWindowDataset(ids, length), B, base_seed=0, num_workers=num_workers)
    order = list(itertools.islice(loader.sampler, 10 * few))
    usual = DataLoader(
        OneWindowAtATime(ids, length), B, sampler=np.concatenate(order).tolist(), num_workers=num_workers
    )
    theirs, ours = iter(usual), iter(loader)  # workers have started once the first batch is there
    assert all(map(torch.equal, next(theirs), next(ours)))
    clock = time.perf_counter if num_workers else time.process_time
    ratio = times_as_long(lambda: take(theirs, few), lambda: take(ours, many), 5, clock)
    assert ratio * many / few >= bound


def test_packing_beside_a_scan_over_all_packs():
    lengths = draw_lengths(20_000)

    def scan() -> list[int]:
        rooms: list[int] = []
        for length in sorted(lengths.tolist(), reverse=True):
            best = min((room for room in rooms if room >= length), default=None)
            if best is None:
                rooms.append(best := MAX_LENGTH)
            rooms[rooms.index(best)] -= length
        return rooms

    assert len(scan()) == len(assign_packs(lengths, MAX_LENGTH))
    assert times_as_long(scan, lambda: assign_packs(lengths, MAX_LENGTH), 1) >= 20


def test_the_real_tokenizer_beside_the_one_screen():
    text = megabyte()[:300_000]
    assert OneScreenBPE(text, 306).merges == BPETokenizer.train(text, 306).merges
    ratio = times_as_long(lambda: OneScreenBPE(text, 456), lambda: BPETokenizer.train(text, 456), 1)
    assert ratio >= 5  # both cut the text into words first


def test_writing_shards_beside_the_tokenizer_alone(tmp_path):
    text = megabyte()
    texts = [text[i : i + 4_000] for i in range(0, len(text), 4_000)]
    tokenizer, folders = train_byte_level_bpe(texts, vocab_size=8_192, progress=False), itertools.count()
    written = tokenizer.to_str()

    def shards() -> None:
        write_shards(texts, tokenizer, tmp_path / str(next(folders)), end_of_text_id=0, progress=False)

    assert times_as_long(lambda: encode_alone(written, texts), shards, 3) >= 0.6
