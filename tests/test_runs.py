"""What the experiments share, against the loops that a lesson would write by hand."""

import itertools

import numpy as np
import pytest
import torch

from course_lib.experiments import runs
from course_lib.foundation import CharTokenizer, ConvolutionModel
from course_lib.random_sampling import seq_data_iter_random
from course_lib.sliding_windows import SlidingWindowDataset, gather_windows, make_dataloader
from course_lib.teaching import train

TEXT = "".join(chr(97 + (i * i + i // 50) % 13) for i in range(1_000))
IDS = np.arange(1000)


def firsts(batches, count: int) -> list[list]:
    """Inputs and targets of the first batches, as lists."""
    return [[part.tolist() for part in batch] for batch in itertools.islice(batches, count)]


def test_characters_are_encoded_as_the_tokenizer_of_the_lessons_does():
    ids, vocab_size = runs.character_ids(TEXT)
    tokenizer = CharTokenizer(TEXT, max_characters=256)
    assert ids.tolist() == tokenizer.encode(TEXT).tolist()
    assert vocab_size == tokenizer.vocab_size


@pytest.mark.parametrize("num_held_out", [0, 30, 100, 1000])
def test_each_run_gets_other_parts_of_the_same_stream(num_held_out):
    news = []
    for run in range(10):
        training, new = runs.parts_of_run(IDS, run, 10, num_held_out)
        turned = np.roll(IDS, -(run * len(IDS) // 10))
        cut = len(IDS) - num_held_out
        assert training.tolist() == turned[:cut].tolist()
        assert new.tolist() == turned[cut:].tolist()
        news += new.tolist()
    if num_held_out <= 100:
        assert len(set(news)) == 10 * num_held_out  # no two runs are examined on the same text


def test_parts_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match=r"run must .*9, got 10"):
        runs.parts_of_run(IDS, 10, 10, 3)
    with pytest.raises(ValueError, match=r"num_held_out must be .* at most 1000, got 1001"):
        runs.parts_of_run(IDS, 0, 10, 1001)


@pytest.mark.parametrize("drop_last", [True, False])
def test_windows_are_shuffled_as_by_hand(drop_last):
    by_hand = make_dataloader(SlidingWindowDataset(IDS, 8, 3), 64, base_seed=1000 * 7, drop_last=drop_last)
    made = runs.shuffled_windows(IDS, 8, 3, 64, 7, drop_last=drop_last)
    assert firsts(made, 99) == firsts(by_hand, 99)
    assert firsts(made, 99) != firsts(runs.shuffled_windows(IDS, 8, 3, 64, 8, drop_last=drop_last), 99)


def test_random_offsets_go_on_after_an_epoch_as_by_hand():
    def by_hand():
        generator = torch.Generator().manual_seed(7)
        while True:
            yield from seq_data_iter_random(IDS, 4, 8, generator=generator)

    assert firsts(runs.random_offsets(IDS, 8, 4, 7), 70) == firsts(by_hand(), 70)  # an epoch has about 31


def test_random_crops_are_drawn_as_by_hand():
    def by_hand():
        generator = np.random.default_rng(7)
        while True:
            yield gather_windows(IDS, generator.integers(len(IDS) - 8, size=4), 8)

    assert firsts(runs.random_crops(IDS, 8, 4, 7), 70) == firsts(by_hand(), 70)


@pytest.mark.parametrize("kernel_size", [3, 5])
def test_a_convolution_is_trained_as_by_hand(kernel_size):
    ids, vocab_size = runs.character_ids(TEXT)
    torch.manual_seed(7)
    by_hand = ConvolutionModel(vocab_size, kernel_size=kernel_size)
    train(by_hand, runs.shuffled_windows(ids, 8, 1, 4, 7), num_updates=3, learning_rate=0.03, progress=False)
    batches = runs.shuffled_windows(ids, 8, 1, 4, 7)
    how = {"num_updates": 3, "learning_rate": 0.03, "kernel_size": kernel_size}
    made = runs.train_convolution(batches, vocab_size, 7, **how)
    assert all(map(torch.equal, made.state_dict().values(), by_hand.state_dict().values()))


def test_runs_are_numbered_beside_their_seeds():
    assert list(runs.each_run([7, 5])) == [(0, 7), (1, 5)]
