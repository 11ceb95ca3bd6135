"""How fast an epoch of random sampling is, beside the textbook's generator: `pytest tests/benchmarks/bench_*.py`."""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from course_lib.random_sampling import seq_data_iter_random

NUM_STEPS, BATCH_SIZE = 256, 64


def slices_of_a_list(corpus: Sequence[int], batch_size: int, num_steps: int) -> Iterator:
    """The usual generator: Python lists of starts, one slice a row, one tensor of a list of rows."""
    corpus = corpus[random.randint(0, num_steps - 1) :]
    starts = list(range(0, (len(corpus) - 1) // num_steps * num_steps, num_steps))
    random.shuffle(starts)
    for i in range(0, len(starts) // batch_size * batch_size, batch_size):
        chosen = starts[i : i + batch_size]
        X = [corpus[s : s + num_steps] for s in chosen]
        Y = [corpus[s + 1 : s + 1 + num_steps] for s in chosen]
        yield torch.tensor(X), torch.tensor(Y)


def seconds_of_an_epoch(scheme, corpus) -> float:
    begin = time.perf_counter()
    for _ in scheme(corpus, BATCH_SIZE, NUM_STEPS):
        pass
    return time.perf_counter() - begin


def test_an_epoch_of_20_million_ids_in_an_array(benchmark, report):
    ids = np.random.default_rng(0).integers(0, 50_000, 20_000_000, dtype=np.uint16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says itself that tensors of lists of arrays are slow
        usual = min(seconds_of_an_epoch(slices_of_a_list, ids) for _ in range(2))
    benchmark.pedantic(lambda: seconds_of_an_epoch(seq_data_iter_random, ids), rounds=5, warmup_rounds=1)
    ratio = usual / benchmark.stats.stats.median
    report("random sampling, array of 20 M, textbook", f"{20 / usual:,.0f} M tokens/s", "1x")
    report("random sampling, array of 20 M", f"{20 / benchmark.stats.stats.median:,.0f} M tokens/s", f"{ratio:,.0f}x")
    assert ratio >= 100


def test_an_epoch_of_2_million_ids_in_a_list_conversion_included(benchmark, report):
    ids = np.random.default_rng(0).integers(0, 50_000, 2_000_000).tolist()
    usual = min(seconds_of_an_epoch(slices_of_a_list, ids) for _ in range(3))
    benchmark.pedantic(lambda: seconds_of_an_epoch(seq_data_iter_random, ids), rounds=5, warmup_rounds=1)
    ratio = usual / benchmark.stats.stats.median
    report("random sampling, list of 2 M, textbook", f"{2 / usual:,.0f} M tokens/s", "1x")
    report("random sampling, list of 2 M", f"{2 / benchmark.stats.stats.median:,.0f} M tokens/s", f"{ratio:,.1f}x")
    assert ratio >= 5
