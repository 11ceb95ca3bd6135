"""The loader whose mistakes lesson 14 measures: right, or wrong in the number of tokens that targets are ahead; and the
experiments that measure them."""

import random
from functools import partial

import numpy as np
import pytest
import torch

from course_lib.auditing_loaders import audit_loader
from course_lib.auditing_loaders.costs import pairs_ahead
from course_lib.bpe import train_byte_level_bpe
from course_lib.experiments import auditing_loaders as experiments
from course_lib.foundation import AttentionModel
from course_lib.sliding_windows import gather_windows, window_starts
from course_lib.teaching import evaluate, train


@pytest.mark.parametrize(("ahead", "names"), [(0, ("wrong_shift",)), (1, ()), (2, ("wrong_shift",))])
def test_the_audit_says_what_is_wrong_with_it(ahead, names):
    audit = audit_loader(partial(pairs_ahead, ahead=ahead))
    assert audit.names == names
    assert not audit.undecided


def test_all_ways_read_the_same_windows_and_targets_are_as_far_ahead_as_asked():
    ids = np.arange(70_000, 70_300).astype(np.uint32)
    ways = [list(pairs_ahead(ids, 3, ahead=ahead, context_length=8, batch_size=4)) for ahead in (0, 1, 2)]
    for batches in zip(*ways, strict=True):
        for ahead, (inputs, targets) in enumerate(batches):
            assert inputs.dtype == targets.dtype == torch.int64
            assert torch.equal(inputs, batches[0][0])
            assert torch.equal(targets, inputs + ahead)


def test_epochs_differ_and_a_stream_that_is_too_short_has_no_batch():
    ids = range(300)
    first, again, second = (torch.cat([x for x, _ in pairs_ahead(ids, e, context_length=8)]) for e in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, second)
    for short in ([], [1], range(33)):
        assert not list(pairs_ahead(short))
    assert len(list(pairs_ahead(range(34), batch_size=1))) == 1


@pytest.mark.parametrize("wrong", [{"ahead": 3}, {"ahead": -1}, {"context_length": 0}, {"batch_size": 1.5}])
def test_what_it_cannot_be(wrong):
    with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
        list(pairs_ahead(range(99), **wrong))


# The experiments: the same loops as a reader would write them, on a text that is short and for few steps.

TEXT = "".join(f"{i * i % 97} äpfel, " for i in range(1_000))
HOW = {"learning_rate": 0.01, "seeds": (3, 5)}


def test_each_way_is_trained_and_judged_as_by_hand():
    tokenizer = train_byte_level_bpe([TEXT], vocab_size=300)
    two_ahead = partial(pairs_ahead, ahead=2, batch_size=4)
    ways = {"right": (pairs_ahead, tokenizer), "two ahead": (two_ahead, tokenizer)}
    measured = experiments.train_each_way(TEXT, ways, 16, vocab_size=300, num_updates=12, **HOW)
    assert list(measured) == list(ways)
    half = len(TEXT) // 2
    for run, (seed, text) in enumerate(zip((3, 5), (TEXT, TEXT[half:] + TEXT[:half]), strict=True)):
        border = len(text) * 9 // 10
        known, new = (np.array(tokenizer.encode(part).ids) for part in (text[:border], text[border:]))
        torch.manual_seed(seed)
        model = AttentionModel(300, positions="rotary")
        batches = [batch for n in range(9) for batch in two_ahead(known, 1_000 * seed + n)]
        curve = train(model, batches, num_updates=12, learning_rate=0.01, progress=False)
        costs = measured["two ahead"]
        assert costs.training[run] == pytest.approx(np.mean(curve[2:]))
        num_bytes = len(text[border:].encode())
        assert costs.new_text[run] == pytest.approx(evaluate(model, new, 16, num_bytes=num_bytes).bits_per_byte)
    assert not np.array_equal(measured["right"].new_text, measured["two ahead"].new_text)


def test_ranks_read_the_files_of_their_shares_and_make_equally_many_steps():
    ids, asked = np.arange(6_000) * 7 % 50, []

    def share_of(files, rank, seed):
        asked.append((rank, seed))
        mixed = random.Random(seed).sample(files, len(files))
        return mixed[rank::3] if rank else mixed[:9]  # rank 0 reads more

    sizes = {"num_ranks": 3, "context_length": 8, "batch_size": 4, "num_files": 20, "num_epochs": 2}
    losses = experiments.train_on_ranks(ids, 50, {"one": share_of}, **sizes, **HOW)["one"]
    assert asked == [(rank, 100 * seed) for seed in (3, 5) for rank in range(3)]
    for run, seed in enumerate((3, 5)):
        turned = np.roll(ids, -(run * 3_000))
        files = np.array_split(window_starts(5_400, 8, 8), 20)
        read = [np.concatenate(share_of(files, rank, 100 * seed)) for rank in range(3)]
        num_steps = min(map(len, read)) // 4
        assert len(read[0]) // 4 > num_steps
        batches = []
        for step in range(num_steps):
            starts = np.concatenate([rank[4 * step : 4 * step + 4] for rank in read])
            batches.append(gather_windows(turned[:5_400], starts, 8))
        torch.manual_seed(seed)
        model = AttentionModel(50, positions="rotary")
        curve = train(model, batches * 2, num_updates=2 * num_steps, learning_rate=0.01, progress=False)
        assert losses.training[run] == pytest.approx(np.mean(curve[-10:]) / np.log(2))
        assert losses.validation[run] == pytest.approx(evaluate(model, turned[5_400:], 8).bits_per_token)
