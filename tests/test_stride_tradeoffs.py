"""Costs counted from starts, confidence intervals, strided evaluation and splits, each beside a naive twin."""

import math
import re
import statistics
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import stride_tradeoffs
from course_lib.experiments import stride_tradeoffs as experiments
from course_lib.foundation import CharTokenizer, ConvolutionModel, GRUModel
from course_lib.sliding_windows import (
    SlidingWindowDataset,
    count_windows,
    gather_windows,
    make_dataloader,
    window_starts,
)
from course_lib.stride_tradeoffs import (
    cost_table,
    draw_batches,
    epoch_cost,
    hold_out_windows,
    plan_epoch,
    prediction_losses,
    scored_rows,
    scored_windows,
    split_overlap,
    split_stream,
    stride_costs,
    strided_evaluation,
    strided_losses,
    usual_strides,
)
from course_lib.teaching import evaluate, train


def naive_contexts(starts, num_tokens: int, context_length: int) -> dict[int, list[int]]:
    """For each token but the first, its left contexts, one for each turn as a target."""
    contexts = {token: [] for token in range(1, num_tokens)}
    for start in starts:
        for t in range(context_length):
            contexts[start + t + 1].append(t + 1)
    return contexts


def naive_scored(num_tokens: int, context_length: int, stride: int) -> list[tuple[int, int]]:
    """(token, context) of each scored token: the earliest start 0, S, 2S, ... whose window reaches it."""
    scored = []
    for token in range(1, num_tokens):
        starts = [start for start in range(0, token, stride) if token - start <= context_length]
        scored.append((token, token - min(starts)))
    return scored


def reader(vocab_size: int = 7) -> GRUModel:
    """A model whose predictions depend on all of its context, and on where that begins."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return GRUModel(vocab_size, hidden_size=8).eval()


READER = reader()


@torch.no_grad()
def one_loss(ids, token: int, context: int) -> float:
    inputs = torch.as_tensor(ids[token - context : token])[None]
    return -math.log(READER(inputs)[0, -1].double().softmax(dim=0)[int(ids[token])])


def flat(inputs: torch.Tensor) -> torch.Tensor:
    """A model of 5 ids that knows nothing."""
    return torch.zeros(*inputs.shape, 5)


# epoch_cost


@given(st.data())
@settings(max_examples=150)
def test_a_cost_is_what_walking_over_every_window_counts(data):
    context_length = data.draw(st.integers(1, 8))
    num_tokens = data.draw(st.integers(context_length + 1, 50))
    starts = data.draw(st.lists(st.integers(0, num_tokens - context_length - 1), min_size=1, max_size=30))
    batch_size = data.draw(st.integers(1, 40))
    cost = epoch_cost(starts, num_tokens, context_length, batch_size)
    contexts = naive_contexts(starts, num_tokens, context_length)
    turns = [len(turns) for turns in contexts.values()]
    assert cost.windows == len(starts)
    assert cost.steps == len(range(0, len(starts), batch_size))
    assert cost.tokens_processed == sum(turns) == len(starts) * context_length
    assert cost.effective_size == sum(n > 0 for n in turns)
    assert cost.mean_context == pytest.approx(statistics.mean(c for all_of in contexts.values() for c in all_of))
    assert cost.boundaries == len(set(starts))
    followed = [starts[i + batch_size] == starts[i] + context_length for i in range(len(starts) - batch_size)]
    assert cost.continued == pytest.approx(statistics.mean(followed) if followed else 0)


def test_an_epoch_without_windows_costs_nothing():
    assert set(vars(epoch_cost([], 0, 4, 2)).values()) == {0}
    assert cost_table({"none": epoch_cost([], 0, 4, 2)})[4] == ["mean context", "0.00"]


def test_costs_of_narrow_integers_do_not_overflow():
    assert epoch_cost(np.zeros(20_000, np.uint8), np.int16(30_000), np.int16(2), 8).tokens_processed == 40_000
    assert plan_epoch(np.int32(2**31 - 1), 1024, np.int16(1), np.int8(8), 8).windows == 2**31 - 1025


@pytest.mark.parametrize("starts", [[5], [-1], [0, 5]])
def test_starts_beyond_the_stream_have_no_cost_and_no_overlap(starts):
    for call in (
        lambda: epoch_cost(starts, 9, 4, 1),
        lambda: split_overlap(starts, [0], 9, 4),
        lambda: split_overlap([0], starts, 9, 4),
    ):
        with pytest.raises(ValueError, match=r"^starts must lie in 0 ... 4"):
            call()


# usual_strides, stride_costs


@pytest.mark.parametrize(
    ("context_length", "strides"),
    [(100, [1, 25, 50, 100, 101, 200]), (3, [1, 3, 4, 6]), (2, [1, 2, 3, 4]), (1, [1, 2])],
)
def test_the_usual_strides_are_told_apart_however_short_the_context(context_length, strides):
    assert usual_strides(context_length) == strides
    costs = stride_costs(1_000, context_length, 2)
    assert list(costs) == strides
    assert all(
        costs[s] == epoch_cost(window_starts(1_000, context_length, s), 1_000, context_length, 2) for s in strides
    )


# prediction_losses


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_losses_of_16_bits_are_computed_in_32(dtype):
    logits = 9 * torch.randn(4, 16, 300, generator=torch.Generator().manual_seed(0)).to(dtype)
    inputs = torch.arange(64).view(4, 16)
    losses = stride_tradeoffs.prediction_losses(lambda _: logits, inputs, inputs)
    assert np.array_equal(losses, stride_tradeoffs.prediction_losses(lambda _: logits.float(), inputs, inputs))


@pytest.mark.parametrize(
    ("logits", "targets", "words"),
    [
        ((2, 3, 5), torch.zeros(1, 3, dtype=int), "got logits (2, 3, 5) for targets (1, 3)"),
        ((2, 2, 5), torch.zeros(2, 3, dtype=int), "logits must have the shape of targets"),
        ((2, 5), torch.zeros(2, 3, dtype=int), "got logits (2, 5) for targets (2, 3)"),
        ((1, 2, 5), torch.tensor([[0, 5]]), "targets must lie in 0 ... 4, got 0 ... 5"),
        ((1, 2, 5), torch.tensor([[0, -100]]), "targets must lie in 0 ... 4"),
        ((1, 2, 5), torch.zeros(1, 2), "targets must be integers"),
    ],
)
def test_targets_that_the_logits_cannot_score_are_refused(logits, targets, words):
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        prediction_losses(lambda _: torch.zeros(logits), torch.zeros(2, 3, dtype=int), targets)


# scored_windows, scored_rows


@given(st.integers(2, 60), st.integers(1, 15), st.data())
@settings(max_examples=200)
def test_each_token_is_scored_once_by_the_earliest_window_that_reaches_it(num_tokens, context_length, data):
    stride = data.draw(st.integers(1, context_length))
    windows = scored_windows(num_tokens, context_length, stride)
    scored = [
        (start + t + 1, t + 1) for start, length, count in windows for t in range(length - count, length)
    ]  # in order, so none is missing and none comes twice
    assert scored == naive_scored(num_tokens, context_length, stride)
    assert [start for start, _, _ in windows] == [stride * k for k in range(len(windows))]
    assert all(0 < count <= length <= context_length for _, length, count in windows)
    assert all(length == context_length for _, length, _ in windows[:-1])
    # the most context that this stride allows: never less than an overlap and one, once the first window is full
    assert all(context > context_length - stride for token, context in scored if token > context_length)
    if stride == 1:
        assert all(context == min(token, context_length) for token, context in scored)


def test_a_stride_that_skips_tokens_cannot_score_each_once():
    for call in (lambda: scored_windows(9, 4, 5), lambda: strided_losses(flat, [0] * 9, 4, 5)):
        with pytest.raises(ValueError, match=r"^stride must .*4, got 5"):
            call()


def test_scored_windows_are_drawn_as_context_and_targets():
    assert scored_rows([(0, 2, 2), (1, 2, 1)], 5) == {
        "stream": [(0, 1, "lost", 0), (1, 1, "plain", 1), (2, 1, "plain", 2), (3, 1, "plain", 3), (4, 1, "lost", 4)],
        "": [],
        "start 0": [(0, 1, "plain2"), (1, 2, "targets")],
        "start 1": [(1, 2, "plain2"), (3, 1, "targets")],
    }
    with pytest.raises(ValueError, match=r"^windows must be"):
        scored_rows([0, 2, 2], 5)


# strided_losses, strided_evaluation


@given(st.integers(2, 40), st.integers(1, 9), st.integers(1, 20), st.data())
@settings(max_examples=60)
def test_strided_losses_are_those_of_scoring_one_token_at_a_time(num_tokens, context_length, batch_size, data):
    stride = data.draw(st.integers(1, context_length))
    ids = np.random.default_rng(num_tokens).integers(0, 7, num_tokens)
    with mock.patch.object(stride_tradeoffs, "WINDOWS_AT_A_TIME", batch_size):
        losses = strided_losses(READER, ids, context_length, stride)
    scored = naive_scored(num_tokens, context_length, stride)
    assert losses == pytest.approx([one_loss(ids, *each) for each in scored], abs=1e-5)
    assert losses.shape == (num_tokens - 1,)
    result = strided_evaluation(READER, ids, context_length, stride)
    assert result.nats_per_token == pytest.approx(losses.mean())
    assert result.bits_per_token == pytest.approx(losses.mean() / math.log(2))
    assert result.num_targets == num_tokens - 1
    assert result.mean_context == pytest.approx(statistics.mean(context for _, context in scored))


def test_the_cost_is_the_inputs_that_the_model_has_seen():
    seen = []

    def counting(inputs):
        seen.append(inputs.numel())
        return READER(inputs)

    for stride in (1, 3, 8):
        seen.clear()
        result = strided_evaluation(counting, np.arange(100) % 7, 8, stride)
        assert result.tokens_processed == sum(seen)


def test_evaluation_leaves_the_global_seed_and_gradients_alone():
    before = torch.get_rng_state()
    strided_evaluation(READER, [1, 2, 3, 4, 5], 3, 1)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(parameter.grad is None for parameter in READER.parameters())


def test_a_loss_that_is_no_number_stays_visible():
    lost = lambda inputs: torch.full((*inputs.shape, 5), math.nan)
    assert math.isnan(strided_evaluation(lost, [0] * 9, 4, 2).bits_per_token)


@pytest.mark.parametrize("ids", [[], [1], [1, 70_000, 2]])
def test_ids_that_cannot_be_predicted_are_refused(ids):
    with pytest.raises(ValueError, match=r"^(ids must hold at least 2 tokens|targets must lie in 0 ... 4)"):
        strided_losses(flat, ids, 2, 1)


# split_stream, split_overlap


@given(st.integers(4, 300), st.floats(0.01, 0.99))
def test_a_split_is_two_views_that_make_up_the_stream(num_tokens, fraction):
    ids = np.arange(num_tokens)
    expected = round(num_tokens * fraction)
    if min(expected, num_tokens - expected) < 2:
        with pytest.raises(ValueError, match=r"^ids must leave .*2"):
            split_stream(ids, fraction)
        return
    train, validation = split_stream(ids, fraction)
    assert len(validation) == expected
    assert np.concatenate([train, validation]).tolist() == ids.tolist()
    for part in (train, validation):
        assert np.shares_memory(part, ids)
        assert not part.flags.writeable  # or writing into a part would change the stream


@pytest.mark.parametrize("fraction", [0, 1, 1.1, -0.1])
def test_a_part_of_nothing_or_of_more_than_all_is_refused(fraction):
    with pytest.raises(
        ValueError, match=r"^(ids must leave at least 2 tokens for each part|validation_fraction must be)"
    ):
        split_stream(range(12), fraction)


def test_each_run_gets_another_short_text_and_a_new_one_after_it():
    ids = np.arange(1000)
    texts = []
    for run in range(10):
        short, new = experiments.short_text_of_run(ids, run, 10, num_tokens=50)
        turned = np.roll(ids, -100 * run)
        assert new.tolist() == turned[970:].tolist()
        assert short.tolist() == turned[920:970].tolist()
        texts += [*short, *new]
    assert len(set(texts)) == 10 * 80  # no two runs share a token, as lesson 5 says of its ten
    with pytest.raises(ValueError, match=r"run must .*9, got 10"):
        experiments.short_text_of_run(ids, 10, 10, num_tokens=50)
    with pytest.raises(ValueError, match=r"num_tokens 971 .*got 970"):
        experiments.short_text_of_run(ids, 0, 10, num_tokens=971)


@given(st.integers(0, 60), st.floats(0.01, 1), st.integers(0, 2**32))
def test_windows_at_random_are_kept_or_held_out(num_starts, fraction, seed):
    starts = 3 * np.arange(num_starts)
    kept, held_out = hold_out_windows(starts, fraction, seed)
    assert len(held_out) == int(num_starts * fraction)
    assert sorted([*kept, *held_out]) == starts.tolist()


def test_other_seeds_hold_out_other_windows():
    held_out = {tuple(hold_out_windows(range(100), 0.1, seed)[1]) for seed in range(5)}
    assert len(held_out) == 5


def test_a_drawn_batch_holds_its_windows_once_each():
    ids, starts = np.arange(40), [0, 5, 7, 30]
    batches = draw_batches(ids, starts, 6, 3, seed=1)
    firsts = []
    for _ in range(8):
        inputs, targets = next(batches)
        assert torch.equal(targets, inputs + 1)
        assert len(set(inputs[:, 0].tolist())) == 3
        assert inputs.shape == (3, 6)
        firsts.append(tuple(inputs[:, 0].tolist()))
    assert {start for batch in firsts for start in batch} == set(starts)
    assert len(set(firsts)) > 1
    with pytest.raises(ValueError, match=r"^batch_size must .*4.*got 5"):
        draw_batches(ids, starts, 6, 5, seed=1)


@given(st.data())
def test_the_overlap_of_a_split_is_that_of_two_sets_of_tokens(data):
    context_length = data.draw(st.integers(1, 6))
    num_tokens = data.draw(st.integers(context_length + 1, 40))
    starts = st.lists(st.integers(0, num_tokens - context_length - 1), max_size=8)
    train, validation = data.draw(starts), data.draw(starts)

    def tokens(starts, first):
        return {start + t for start in starts for t in range(first, context_length + 1)}

    overlap = split_overlap(train, validation, num_tokens, context_length)
    assert overlap.validation_tokens == len(tokens(validation, 0))
    assert overlap.shared_tokens == len(tokens(validation, 0) & tokens(train, 0))
    assert overlap.validation_targets == len(tokens(validation, 1))
    assert overlap.shared_targets == len(tokens(validation, 1) & tokens(train, 1))


# plan_epoch


@given(st.integers(0, 200), st.integers(1, 20), st.integers(1, 9), st.integers(1, 50))
def test_a_stride_costs_what_the_formulas_say(num_tokens, context_length, batch_size, stride):
    cost = epoch_cost(window_starts(num_tokens, context_length, stride), num_tokens, context_length, batch_size)
    windows = count_windows(num_tokens, context_length, stride)
    plan = plan_epoch(num_tokens, context_length, stride, batch_size, tokens_per_second=10)
    assert cost.windows == plan.windows == windows
    assert cost.steps == plan.steps
    assert cost.tokens_processed == plan.tokens_processed == windows * context_length
    assert plan.seconds == windows * context_length / 10
    if windows:
        assert cost.effective_size == context_length + (windows - 1) * min(stride, context_length)
        assert cost.mean_context == (context_length + 1) / 2  # whatever the stride


# The experiments: the same loops as a reader would write them, on texts that are short and for few steps.

TEXT = "".join(chr(97 + (i * i + i // 50) % 13) for i in range(12_000))
SEEDS = (3, 5)
T, B = 8, 4


HOW = {"num_tokens": 2000, "learning_rate": 0.02, "seeds": SEEDS}


def models_by_hand(batches_of, steps: int):
    """Yield a short text, a new one, and a model that was trained on the short one, for each seed."""
    tokenizer = CharTokenizer(TEXT, max_characters=256)
    ids = tokenizer.encode(TEXT)
    for run, seed in enumerate(SEEDS):
        turned = np.roll(ids, -(run * len(ids) // len(SEEDS)))
        short_text, new_text = turned[-2360:-360], turned[-360:]  # 3% of 12,000
        batches = batches_of(short_text, seed)
        torch.manual_seed(seed)
        model = ConvolutionModel(tokenizer.vocab_size, kernel_size=5)
        train(model, batches, num_updates=steps, learning_rate=0.02, progress=False)
        yield short_text, new_text, model


def test_models_are_trained_on_parts_as_by_hand():
    def batches_of(ids, seed):
        return make_dataloader(SlidingWindowDataset(ids, T, 3), B, base_seed=1000 * seed)

    losses = experiments.train_on_parts(TEXT, batches_of, T, num_updates=4, **HOW)
    by_hand = [evaluate(model, new_text, T).bits_per_token for _, new_text, model in models_by_hand(batches_of, 4)]
    assert losses.tolist() == by_hand
    assert len(set(by_hand)) == len(SEEDS)


def test_an_exam_is_trained_on_its_first_starts_and_held_on_its_second():
    asked = []

    def split(seed):
        asked.append(seed)
        return np.arange(0, 1000), np.array([1200, 1500 + seed])

    exams = experiments.take_exams(TEXT, {"one": split, "two": split}, T, B, num_updates=2, **HOW)
    assert list(exams) == ["one", "two"]
    assert asked == [*SEEDS, *SEEDS]
    trained = models_by_hand(lambda ids, seed: draw_batches(ids, np.arange(1000), T, B, seed), 2)
    for run, (short_text, new_text, model) in enumerate(trained):
        assert exams["one"].new_text[run] == evaluate(model, new_text, T).bits_per_token
        starts = {"trained_on": range(1000), "held_out": [1200, 1500 + SEEDS[run]]}
        for name, windows in starts.items():
            losses = prediction_losses(model, *gather_windows(short_text, windows, T))
            assert getattr(exams["one"], name)[run] == losses.mean() / np.log(2)


def test_readers_are_evaluated_at_each_stride_on_text_they_have_not_seen():
    readers = [experiments.Reader(READER, np.arange(50) % 7), experiments.Reader(READER, np.arange(40) % 5)]
    bits = experiments.evaluate_at_strides(readers, T, [1, 8])
    for stride, losses in bits.items():
        expected = [strided_evaluation(*reader, T, stride).bits_per_token for reader in readers]
        assert losses == pytest.approx(expected)


@pytest.mark.slow
def test_readers_have_not_trained_on_what_they_are_evaluated_on():
    ids = CharTokenizer(TEXT, max_characters=256).encode(TEXT)
    readers = experiments.train_grus(TEXT, T, B, num_updates=3, learning_rate=0.03, seeds=SEEDS)
    for run, reader in enumerate(readers):
        assert reader.new_text.tolist() == np.roll(ids, -(run * 6000))[-360:].tolist()
        assert not reader.model.training
    copies = experiments.train_on_copies(16, 32, num_updates=200, learning_rate=0.02, seeds=range(2))
    bits = experiments.evaluate_at_strides(copies, 16, [1, 16])
    assert (bits[1] < bits[16]).all()  # with 11 tokens of context it copies
    assert copies[0].new_text.tolist() == experiments.text_of_copies(40, 1000).tolist()


def test_a_text_of_copies_repeats_blocks_of_eleven():
    blocks = experiments.text_of_copies(3, seed=1).reshape(3, 6, 11)
    assert (blocks == blocks[:, :1]).all()
    assert blocks.max() < 16
    assert not np.array_equal(blocks[0, 0], blocks[1, 0])
