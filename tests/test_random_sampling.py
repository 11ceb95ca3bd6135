"""Lesson 03: counts, starts and epochs of random sampling, against twins written from the definition."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.random_sampling import (
    count_subsequences,
    draw_offset,
    random_starts,
    seq_data_iter_random,
    subsequence_starts,
)
from course_lib.sliding_windows import window_starts


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def naive_starts(num_tokens: int, num_steps: int, offset: int) -> list[int]:
    starts, start = [], offset
    while start + num_steps < num_tokens:  # the last target stands at start + num_steps
        starts.append(start)
        start += num_steps
    return starts


# draw_offset


def test_an_offset_is_any_of_those_below_as_often_as_the_others():
    assert draw_offset(1) == 0
    generator = seeded(3)
    counts = np.bincount([draw_offset(5, generator=generator) for _ in range(5_000)])
    assert len(counts) == 5
    assert np.abs(counts - 1_000).max() < 5 * np.sqrt(1_000)
    assert draw_offset(2**63 - 1, generator=generator) > 2**32


@pytest.mark.parametrize(
    "call",
    [
        lambda: draw_offset(2**63),
        lambda: subsequence_starts(2**63, 1, 0),
        lambda: subsequence_starts(10, 2**63, 0),
        lambda: subsequence_starts(10, 1, 2**63),
        lambda: random_starts(10, 1, 2**63),
    ],
)
def test_what_does_not_fit_into_64_bits_is_refused(call):
    with pytest.raises(ValueError, match=r"^num_.*|^offset must be an integer .* at most 9223372036854775807"):
        call()


# count_subsequences, subsequence_starts


@given(st.integers(0, 80), st.integers(1, 12), st.integers(0, 30))
def test_count_and_starts_agree_with_the_twin(num_tokens, num_steps, offset):
    expected = naive_starts(num_tokens, num_steps, offset)
    assert count_subsequences(num_tokens, num_steps, offset) == len(expected)
    assert subsequence_starts(num_tokens, num_steps, offset).tolist() == expected


@given(st.integers(0, 80), st.integers(1, 12))
def test_all_offsets_together_are_every_stride_1_start_exactly_once(num_tokens, num_steps):
    union = np.concatenate([subsequence_starts(num_tokens, num_steps, offset) for offset in range(num_steps)])
    assert sorted(union.tolist()) == window_starts(num_tokens, num_steps).tolist()


def test_subsequences_of_the_largest_numbers_do_not_overflow():
    assert count_subsequences(2**70, 1, 0) == 2**70 - 1
    assert subsequence_starts(10, 2**63 - 1, 2**63 - 1).tolist() == []
    assert subsequence_starts(300, np.int8(100), np.int8(90)).tolist() == [90, 190]


# random_starts


@given(st.integers(0, 120), st.integers(1, 5), st.integers(1, 9), st.integers(0, 2**31))
def test_random_starts_are_a_shuffled_part_of_one_alignment(num_tokens, batch_size, num_steps, seed):
    starts = random_starts(num_tokens, batch_size, num_steps, generator=seeded(seed))
    offset = draw_offset(num_steps, generator=seeded(seed))
    everything = naive_starts(num_tokens, num_steps, offset)
    assert starts.dtype == np.int64
    assert starts.shape == (len(everything) // batch_size, batch_size)
    assert len(set(starts.ravel().tolist())) == starts.size
    assert set(starts.ravel().tolist()) <= set(everything)
    assert starts.size > len(everything) - batch_size


def test_the_first_start_is_uniform_over_all_stride_1_starts():
    generator = seeded(3)
    firsts = [int(random_starts(33, 1, 4, generator=generator)[0, 0]) for _ in range(29_000)]
    counts = np.bincount(firsts, minlength=29)
    # Alignments of 8, 7, 7 and 7 subsequences: each alignment is equally likely, then each of its starts.
    expected = np.array([29_000 / 4 / len(naive_starts(33, 4, start % 4)) for start in range(29)])
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()


def test_one_generator_makes_epochs_that_differ_and_runs_that_repeat():
    def run(seed):
        generator = seeded(seed)
        return [random_starts(500, 4, 8, generator=generator).tolist() for _ in range(3)]

    assert run(1) == run(1)
    assert run(1) != run(2)
    first, second, third = run(1)
    assert first != second != third


# seq_data_iter_random


def naive_epoch(corpus: list[int], starts: np.ndarray, num_steps: int) -> list[tuple[list, list]]:
    return [
        ([corpus[s : s + num_steps] for s in row], [corpus[s + 1 : s + num_steps + 1] for s in row])
        for row in starts.tolist()
    ]


@given(st.integers(1, 4), st.integers(1, 7), st.integers(0, 60), st.integers(0, 2**31))
def test_an_epoch_agrees_with_slices_of_a_list(batch_size, num_steps, extra, seed):
    corpus = list(range(100, 100 + (batch_size + 1) * num_steps + extra))
    starts = random_starts(len(corpus), batch_size, num_steps, generator=seeded(seed))
    batches = list(seq_data_iter_random(corpus, batch_size, num_steps, generator=seeded(seed)))
    assert [(X.tolist(), Y.tolist()) for X, Y in batches] == naive_epoch(corpus, starts, num_steps)
    assert batches
    for X, Y in batches:
        assert X.dtype == Y.dtype == torch.int64
        assert X.shape == Y.shape == (batch_size, num_steps)


def test_one_token_less_than_every_offset_needs_for_a_batch_is_refused():
    with pytest.raises(ValueError, match=r"^corpus must hold at least 16 ids, .* got 15$"):
        seq_data_iter_random(range(15), 3, 4)


def test_a_generator_leaves_the_global_one_alone_and_without_one_that_decides():
    before = torch.random.get_rng_state()
    list(seq_data_iter_random(range(100), 2, 5, generator=seeded()))
    assert torch.equal(before, torch.random.get_rng_state())
    first = random_starts(100, 2, 5)
    torch.random.set_rng_state(before)
    assert (random_starts(100, 2, 5) == first).all()
