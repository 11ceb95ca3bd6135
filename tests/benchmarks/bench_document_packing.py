"""Packing set against a library, against a scan over all packs, and against itself at other sizes.

`pytest -n 0 tests/benchmarks/bench_document_packing.py -s`; trl comes with the extra `bench`. Contenders run in turn,
round by round; only ratios within one run are asserted.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator

import datasets
import numpy as np
import pyarrow as pa
import pytest
from measuring import compare

from course_lib.document_packing import STRATEGIES, assign_packs, pack_documents, pack_stream

MAX_LENGTH = 2048
DOCUMENTS = 100_000
ROUNDS = 3


def draw_lengths(count: int) -> np.ndarray:
    """Log-normal, as lengths of documents are, and cut at the length of a pack."""
    return np.clip(np.random.default_rng(0).lognormal(5.5, 1.2, count), 1, MAX_LENGTH).astype(np.int64)


def draw_documents(lengths: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    stream = np.random.default_rng(1).integers(0, 50_000, lengths.sum(), dtype=np.uint16)
    return stream, np.split(stream, lengths.cumsum()[:-1])


def as_dataset(stream: np.ndarray, lengths: np.ndarray) -> datasets.Dataset:
    offsets = np.append(0, lengths.cumsum()).astype(np.int32)
    return datasets.Dataset(pa.table({"input_ids": pa.ListArray.from_arrays(offsets, pa.array(stream))}))


@pytest.fixture(scope="module")
def quiet() -> Iterator[None]:
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


@pytest.mark.usefixtures("quiet")
def test_best_fit_beside_trl(benchmark, report):
    trl = pytest.importorskip("trl", reason="the extra `bench` is not installed")
    lengths = draw_lengths(DOCUMENTS)
    stream, documents = draw_documents(lengths)
    dataset = as_dataset(stream, lengths)
    settings = {"keep_in_memory": True, "load_from_cache_file": False}

    def theirs(**more) -> datasets.Dataset:
        return trl.pack_dataset(dataset, MAX_LENGTH, strategy="bfd_split", map_kwargs={**settings, **more})

    contenders = {
        "assign": lambda: assign_packs(lengths, MAX_LENGTH),
        "pack": lambda: pack_documents(documents, MAX_LENGTH),
        "trl": lambda: theirs(batch_size=DOCUMENTS),
        "trl, by 1,000": theirs,
    }
    fills = {
        "assign": len(assign_packs(lengths, MAX_LENGTH)),
        "pack": len(pack_documents(documents, MAX_LENGTH)),
        "trl": len(theirs(batch_size=DOCUMENTS)),
        "trl, by 1,000": len(theirs()),
    }
    seconds = compare(benchmark, contenders, ROUNDS)
    names = {
        "assign": "assign_packs, lengths alone",
        "pack": "pack_documents, with the tokens",
        "trl": f"trl {trl.__version__}, all rows at once",
        "trl, by 1,000": f"trl {trl.__version__}, 1,000 rows at a time (default)",
    }
    for name, label in names.items():
        fill = lengths.sum() / fills[name] / MAX_LENGTH
        report(label, f"{seconds[name]:.2f} s, fill {fill:.5f}", f"{seconds['trl'] / seconds[name]:.1f}x")
    assert lengths.sum() / fills["assign"] / MAX_LENGTH >= 0.999
    fastest = min(seconds["trl"], seconds["trl, by 1,000"])
    assert fastest >= 5 * seconds["assign"]
    assert fastest >= 2 * seconds["pack"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_growth_is_no_faster_than_n_log_n(report, strategy):
    seconds = {}
    gc.disable()  # it looks at all lists again and again, and there are many
    for count in (10_000, 100_000, 1_000_000):
        lengths, rounds = draw_lengths(count), []
        for _ in range(3 if count < 1_000_000 else 2):
            begin = time.process_time()
            packs = assign_packs(lengths, MAX_LENGTH, strategy=strategy)
            rounds.append(time.process_time() - begin)
        seconds[count] = min(rounds)
        fill = lengths.sum() / len(packs) / MAX_LENGTH
        report(f"{strategy}, {count:,} documents", f"{seconds[count]:.2f} s", f"fill {fill:.5f}")
    gc.enable()
    # Ten times the documents: 12 times as long by N log N; and memory that no cache holds costs something, too.
    assert seconds[1_000_000] < 2 * 12 * seconds[100_000]


@pytest.mark.parametrize("strategy", ["best_fit", "first_fit"])
def test_long_rows_take_little_longer_than_short_ones(report, strategy):
    seconds = {}
    for max_length in (2048, 131_072, 1_048_576):
        lengths = np.random.default_rng(0).lognormal(5.5, 1.2, DOCUMENTS) * max_length / 2048
        lengths, rounds = np.clip(lengths, 1, max_length).astype(np.int64), []
        for _ in range(5):
            begin = time.process_time()
            packs = assign_packs(lengths, max_length, strategy=strategy)
            rounds.append(time.process_time() - begin)
        seconds[max_length] = min(rounds)
        compared = f"{seconds[max_length] / seconds[2048]:.1f}x"
        report(f"{strategy}, L = {max_length:,}, {len(packs):,} packs", f"{seconds[max_length]:.2f} s", compared)
    assert max(seconds.values()) < 5 * seconds[2048]


def test_a_scan_over_all_packs_is_what_the_sorted_list_spares(report):
    lengths = draw_lengths(20_000).tolist()

    def scan() -> int:
        rooms: list[int] = []
        for length in sorted(lengths, reverse=True):
            best = min((room for room in rooms if room >= length), default=None)
            if best is None:
                rooms.append(MAX_LENGTH - length)
            else:
                rooms[rooms.index(best)] -= length
        return len(rooms)

    begin = time.process_time()
    packs = assign_packs(lengths, MAX_LENGTH)
    middle = time.process_time()
    assert scan() == len(packs)
    ratio = (time.process_time() - middle) / (middle - begin)
    report("best fit, 20,000 documents, by a scan over all packs", "", f"{ratio:,.0f}x as long")
    assert ratio >= 20


def test_a_stream_packs_about_as_fast(report):
    lengths = draw_lengths(DOCUMENTS)
    _, documents = draw_documents(lengths)
    for buffer_size in (10, 100, 1_000, 10_000):
        begin = time.process_time()
        packs = sum(1 for _ in pack_stream(documents, MAX_LENGTH, buffer_size=buffer_size))
        seconds = time.process_time() - begin
        fill = lengths.sum() / packs / MAX_LENGTH
        report(f"pack_stream, buffer of {buffer_size:,}", f"{seconds:.2f} s", f"fill {fill:.4f}")
