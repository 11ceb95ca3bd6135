"""Lesson 03: counts, starts and epochs of random sampling, against twins written from the definition."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.experiments import random_sampling as experiments
from course_lib.foundation import CharTokenizer, ConvolutionModel
from course_lib.random_sampling import (
    count_subsequences,
    draw_offset,
    random_starts,
    seq_data_iter_random,
    subsequence_starts,
)
from course_lib.sliding_windows import SlidingWindowDataset, gather_windows, make_dataloader, window_starts
from course_lib.teaching import evaluate, train


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


# The experiments: the same loops as a reader would write them, on a text that is short and for few steps.

TEXT = "".join(chr(97 + (i * i + i // 50) % 13) for i in range(14_000))
SEEDS = (3, 5)
T, B = 128, 4  # 512 inputs, as in each batch of the experiments


def fixed(ids, seed):
    return make_dataloader(SlidingWindowDataset(ids, T, T), B, base_seed=1000 * seed, drop_last=True)


def moving(ids, seed):
    generator = seeded(seed)
    while True:
        yield from seq_data_iter_random(ids, B, T, generator=generator)


def anywhere(ids, seed):
    generator = np.random.default_rng(seed)
    while True:
        yield gather_windows(ids, generator.integers(len(ids) - T, size=B), T)


def one_order(ids, seed):
    batches = list(fixed(ids, seed))
    while True:
        yield from batches


BY_HAND = {
    experiments.fixed_alignment: fixed,
    experiments.random_offsets: moving,
    experiments.random_crops: anywhere,
    experiments.same_order: one_order,
}


def by_hand(batches_of, num_characters: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Three losses of a model for each seed, and the training loss of each of its updates."""
    tokenizer = CharTokenizer(TEXT, max_characters=256)
    ids, evaluated, losses = tokenizer.encode(TEXT), [], []
    for run, seed in enumerate(SEEDS):
        turned = np.roll(ids, -(run * len(ids) // len(SEEDS)))
        seen, new_text = turned[:num_characters], turned[-6_000:]
        torch.manual_seed(seed)
        model = ConvolutionModel(tokenizer.vocab_size, kernel_size=5)
        batches = batches_of(seen, seed)
        losses.append(train(model, batches, num_updates=steps, learning_rate=0.02, progress=False))
        judged = evaluate(model, new_text, 64), evaluate(model, seen, T), evaluate(model, seen[T // 2 :], T)
        evaluated.append([judge.bits_per_token for judge in judged])
    return np.array(evaluated), np.array(losses)


@pytest.mark.parametrize("loader", BY_HAND, ids=lambda loader: loader.__name__)
def test_a_loader_is_tried_as_by_hand(loader):
    how = {"learning_rate": 0.02, "seeds": SEEDS}
    sizes = (1_200, 5, T)  # two batches in an epoch
    evaluated, losses = by_hand(BY_HAND[loader], *sizes[:2])
    runs = experiments.compare_loaders(TEXT, {"it": loader}, {"short": sizes}, **how)
    assert np.array_equal(np.array(runs["short", "it"]).T, evaluated)
    assert len(set(evaluated.ravel())) == evaluated.size
    assert np.array_equal(experiments.training_losses(TEXT, {"it": loader}, *sizes, **how)["it"], losses)


def test_the_loaders_differ_in_what_they_promise():
    ids, epoch = np.arange(1_200), 2
    starts = {}
    for loader in BY_HAND:
        batches = loader(ids, T, B, 1)
        firsts = [] if loader is experiments.fixed_alignment else [next(batches)[0][:, 0] for _ in range(2 * epoch)]
        if not firsts:
            for number in range(2):
                batches.sampler.set_epoch(number)
                firsts += [X[:, 0] for X, _ in batches]
        starts[loader.__name__] = torch.stack(firsts).reshape(2, -1).tolist()
    for name in ("fixed_alignment", "same_order"):
        assert not np.any(np.array(starts[name]) % T)
    assert starts["same_order"][0] == starts["same_order"][1]
    assert starts["fixed_alignment"][0] != starts["fixed_alignment"][1]
    offsets = [{start % T for start in epoch} for epoch in starts["random_offsets"]]
    assert [len(offset) for offset in offsets] == [1, 1]
    assert offsets[0] != offsets[1]
    assert len({start % T for start in starts["random_crops"][0]}) > 1


def test_a_fall_is_five_steps_before_minus_five_from_there():
    losses = np.array([[9.0] * 10 + [4.0] * 10 + [3.0] * 10, [1.0] * 30])
    assert experiments.falls_at(losses, np.array([10, 20])).tolist() == [3.0, 0.0]
    assert experiments.falls_at(losses, np.array([12])).tolist() == [(3 * 9 + 2 * 4) / 5 - 4, 0.0]
