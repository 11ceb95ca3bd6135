"""How fast an epoch of random sampling is, beside the textbook generator: `pytest -n 0 tests/benchmarks/bench_*.py`."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from measuring import Contender, compare, over

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


def epoch_of(scheme, corpus) -> Contender:
    return over([corpus], lambda ids: [None for _ in scheme(ids, BATCH_SIZE, NUM_STEPS)])


def compare_epochs(benchmark, corpus, rounds: int) -> tuple[float, float]:
    """The seconds of an epoch as it is usually written, and of ours."""
    contenders = {
        "ours": epoch_of(seq_data_iter_random, corpus),
        "usual": epoch_of(slices_of_a_list, corpus),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says itself that tensors of lists of arrays are slow
        seconds = compare(benchmark, contenders, rounds)
    return seconds["usual"], seconds["ours"]


def test_an_epoch_of_an_array(benchmark, report):
    ids = np.random.default_rng(0).integers(0, 50_000, 4_000_000, dtype=np.uint16)
    usual, ours = compare_epochs(benchmark, ids, rounds=2)
    report("random sampling, array of 4 M, textbook", f"{4 / usual:,.0f} M tokens/s", "1x")
    report("random sampling, array of 4 M", f"{4 / ours:,.0f} M tokens/s", f"{usual / ours:,.0f}x")
    assert usual / ours >= 50  # far more on a quiet machine


def test_an_epoch_of_a_list_conversion_included(benchmark, report):
    ids = np.random.default_rng(0).integers(0, 50_000, 2_000_000).tolist()
    usual, ours = compare_epochs(benchmark, ids, rounds=5)
    report("random sampling, list of 2 M, textbook", f"{2 / usual:,.0f} M tokens/s", "1x")
    report("random sampling, list of 2 M", f"{2 / ours:,.0f} M tokens/s", f"{usual / ours:,.1f}x")
    assert usual / ours >= 2
