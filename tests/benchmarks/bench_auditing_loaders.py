"""What an audit costs, beside reading the loader once: `pytest -n 0 tests/benchmarks/bench_auditing_loaders.py`.

Contenders run in turn, round by round, and only ratios within one run are asserted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from measuring import compare
from torch.utils.data import DataLoader

from course_lib.auditing_loaders import audit_loader
from course_lib.auditing_loaders.telling_ids import TellingIds
from course_lib.sliding_windows import SlidingWindowDataset, make_dataloader

TOKENS, T, B = 100_000, 32, 32
ROUNDS = 5
audit = partial(audit_loader, progress=False)


def ours(ids: np.ndarray) -> Iterable:
    return make_dataloader(SlidingWindowDataset(ids, T, T), B, base_seed=0)


def window_by_window(ids: np.ndarray) -> Iterable:
    """As most data sets are written: a window for each index, and batches are collated."""
    windows = SlidingWindowDataset(ids, T, T)
    return DataLoader([windows[i] for i in range(len(windows))], B)


def read(make_loader: Callable[[np.ndarray], Iterable], ids: np.ndarray) -> None:
    for _ in make_loader(ids):
        pass


def test_an_audit_beside_reading_the_loader(benchmark, report):
    """It reads about four epochs: two, the first once more, and two halves to resume."""
    ids = TellingIds.of_positions(TOKENS).ids
    contenders = {
        "reading, window by window": partial(read, window_by_window, ids),
        "an audit of it": partial(audit, window_by_window, num_tokens=TOKENS),
        "an audit of it, ids below 256": partial(audit, window_by_window, num_tokens=TOKENS, vocab_size=256),
        "reading, gathered": partial(read, ours, ids),
        "an audit of that": partial(audit, ours, num_tokens=TOKENS),
    }
    seconds = compare(benchmark, contenders, ROUNDS)
    once = seconds["reading, window by window"]
    for name, value in seconds.items():
        report(f"{name}, {TOKENS:,} tokens", f"{value * 1e3:,.1f} ms", f"{value / once:,.2f}x reading window by window")
    assert seconds["an audit of it"] < 60 * once
    assert seconds["an audit of it, ids below 256"] < 90 * once
    assert seconds["an audit of that"] < 90 * once


def test_growth_with_the_number_of_tokens(benchmark, report):
    numbers = (20_000, 100_000, 500_000)
    contenders = {f"{n:,} tokens": partial(audit, ours, num_tokens=n) for n in numbers}
    seconds = compare(benchmark, contenders, 3)
    for n, (name, value) in zip(numbers, seconds.items(), strict=True):
        report(f"an audit of {name}", f"{value * 1e3:,.0f} ms", f"{value / n * 1e6:,.1f} us a token")
    assert seconds["500,000 tokens"] < 4 * 25 * seconds["20,000 tokens"]
