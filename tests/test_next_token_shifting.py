"""Inputs and targets, the loss between them, and the detector of models that peek."""

import functools
import itertools
import math
import re
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.experiments import next_token_shifting as experiments
from course_lib.foundation import BigramModel, ConvolutionModel
from course_lib.next_token_shifting import (
    as_predictable_stream,
    bits_per_byte,
    check_targets,
    conditional_entropy,
    context_target_pairs,
    count_followers,
    find_leak,
    next_token_loss,
    shift_by_one,
    smooth_losses,
)
from course_lib.sliding_windows import SlidingWindowDataset, make_dataloader
from course_lib.teaching import repeat_epochs, train

# shift_by_one


@given(st.lists(st.integers(0, 2**40), min_size=2, max_size=20))
def test_each_target_is_the_id_after_its_input(ids):
    for window in (ids, np.array(ids), torch.tensor(ids)):
        inputs, targets = shift_by_one(window)
        assert inputs.tolist() == [ids[t] for t in range(len(ids) - 1)]
        assert targets.tolist() == [ids[t + 1] for t in range(len(ids) - 1)]


@pytest.mark.parametrize("shape", [(2,), (5,), (3, 5), (2, 3, 5)])
def test_only_the_last_dimension_is_shifted(shape):
    window = torch.arange(math.prod(shape)).reshape(shape)
    inputs, targets = shift_by_one(window)
    assert inputs.shape == targets.shape == (*shape[:-1], shape[-1] - 1)
    assert torch.equal(targets, inputs + 1)


def test_both_halves_are_views_of_the_window():
    window = torch.arange(6)
    inputs, targets = shift_by_one(window)
    assert inputs.data_ptr() == window.data_ptr()
    assert targets.data_ptr() == window.data_ptr() + window.element_size()
    array = np.arange(6, dtype=np.uint16)
    assert all(np.shares_memory(half, array) for half in shift_by_one(array))


def test_an_array_stays_an_array_a_tensor_a_tensor_and_a_list_becomes_one():
    for window in (np.arange(3, dtype=np.uint16), torch.arange(3, dtype=torch.int32)):
        assert all(half.dtype == window.dtype for half in shift_by_one(window))
    assert all(half.dtype == torch.int64 for half in shift_by_one([0, 1]))


@pytest.mark.parametrize("window", [[], 5, np.zeros((2, 1), dtype=int), torch.zeros(3, 0, dtype=int)])
def test_a_window_of_fewer_than_two_ids_has_no_target(window):
    with pytest.raises(ValueError, match=r"^window must .*got shape"):
        shift_by_one(window)


@pytest.mark.parametrize("window", ["text", None, [0.5, 1.0], [True, 2], torch.tensor([1.0, 2.0])])
def test_a_window_of_anything_but_integers_is_refused(window):
    with pytest.raises(TypeError, match=r"^window must be integers"):
        shift_by_one(window)


# context_target_pairs, as_predictable_stream


@given(st.lists(st.integers(0, 100), min_size=2, max_size=12))
def test_the_pairs_are_every_prefix_with_the_id_after_it(ids):
    expected = [(ids[:t], ids[t]) for t in range(1, len(ids))]
    assert [(context.tolist(), target) for context, target in context_target_pairs(ids)] == expected


def test_a_context_is_a_view_that_cannot_be_written_into():
    ids = np.arange(5)
    for context, _ in context_target_pairs(ids):
        assert np.shares_memory(context, ids)
        assert not context.flags.writeable


@pytest.mark.parametrize("ids", [[], [1]])
def test_fewer_than_two_ids_leave_nothing_to_predict(ids):
    with pytest.raises(ValueError, match=rf"^ids must hold at least 2 tokens, .* got {len(ids)}$"):
        context_target_pairs(ids)
    with pytest.raises(ValueError, match=rf"^corpus must hold at least 2 tokens, .* got {len(ids)}$"):
        as_predictable_stream(ids, "corpus")


@pytest.mark.parametrize("ids", [b"ab", None, [[1, 2]], 5])
def test_pairs_of_what_is_no_stream_are_refused(ids):
    with pytest.raises((TypeError, ValueError), match=r"^ids must be"):
        context_target_pairs(ids)


# next_token_loss, check_targets


def naive_loss(logits: torch.Tensor, targets: torch.Tensor, ignore_index: int) -> float:
    nats = []
    for scores, target in zip(logits.reshape(-1, logits.shape[-1]).tolist(), targets.flatten().tolist(), strict=True):
        if target != ignore_index:
            nats.append(math.log(sum(math.exp(score) for score in scores)) - scores[target])
    return sum(nats) / len(nats)


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (2, 3, 2)])
@pytest.mark.parametrize("ignore_index", [-100, 0])
def test_the_loss_is_the_mean_negative_log_probability_of_the_targets(shape, ignore_index):
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(*shape, 5, generator=generator)
    targets = torch.randint(1, 5, shape, generator=generator)
    if targets.numel() > 1:
        targets.view(-1)[0] = ignore_index
    loss = next_token_loss(logits, targets, ignore_index)
    assert loss.shape == ()
    assert loss.item() == pytest.approx(naive_loss(logits, targets, ignore_index), rel=1e-5)


def test_ignored_targets_get_no_gradient():
    logits = torch.zeros(3, 4, requires_grad=True)
    next_token_loss(logits, torch.tensor([1, -100, 2])).backward()
    assert (logits.grad.abs().sum(dim=1) > 0).tolist() == [True, False, True]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.uint16, torch.int32, torch.int64])
def test_targets_of_any_integer_dtype_are_scored_alike(dtype):
    # 156 is what -100 turns into in eight bits: it must not count as "ignore"
    targets = torch.tensor([156, 3, 156]).to(dtype)
    assert next_token_loss(torch.zeros(3, 200), targets).item() == pytest.approx(math.log(200))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_loss_of_16_bits_is_computed_in_32(dtype):
    logits = 9 * torch.randn(64, 300, generator=torch.Generator().manual_seed(0)).to(dtype)
    targets = torch.arange(64)
    loss = next_token_loss(logits, targets)
    assert loss.dtype == torch.float32
    assert loss == next_token_loss(logits.float(), targets)
    assert next_token_loss(logits.double(), targets).dtype == torch.float64


def test_an_impossible_target_costs_infinitely_much():
    assert next_token_loss(torch.tensor([[0.0, -math.inf]]), torch.tensor([1])).item() == math.inf


@pytest.mark.parametrize(
    ("logits", "targets", "words"),
    [
        (torch.zeros(2, 3), [-100, -100], "targets hold no token to score: all 2 are -100"),
        (torch.zeros(0, 3), [], "targets hold no token to score: all 0"),
        (torch.zeros(1, 3), [3], "targets must lie in 0 ... 2, got 3 ... 3"),
        (torch.zeros(1, 3), [-1], "targets must lie in 0 ... 2, got -1 ... -1"),
        (torch.zeros(1, 0), [0], "targets must lie in 0 ... -1, got 0 ... 0"),
        (torch.zeros(3), [0], "got logits (3,) for targets (1,)"),
        (torch.zeros(2, 4, 3), [[0] * 3] * 2, "got logits (2, 4, 3) for targets (2, 3)"),
        (torch.zeros(()), 0, "got logits () for targets ()"),
    ],
)
def test_targets_that_the_logits_cannot_score_are_refused(logits, targets, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        next_token_loss(logits, torch.tensor(targets, dtype=torch.int64))


@pytest.mark.parametrize(
    ("logits", "targets", "words"),
    [
        (torch.zeros(1, 3, dtype=int), torch.tensor([0]), r"logits must .*got torch.int64"),
        (torch.zeros(1, 3), torch.tensor([True]), "targets must be integers"),
        (torch.zeros(1, 3), torch.zeros(1), "targets must be integers, got Tensor of float32"),
        (None, torch.tensor([0]), r"logits must .*got NoneType"),
        (torch.zeros(1, 3), [0], r"targets must .*got list"),
    ],
)
def test_logits_are_floats_and_targets_integers(logits, targets, words):
    with pytest.raises(TypeError, match=rf"^{words}"):
        check_targets(logits, targets)


# smooth_losses


@pytest.mark.parametrize(
    ("losses", "steps", "means"),
    [
        ([3.0, 1.0], [0, 0.5, 1.5], [3, 3, 1]),
        (np.arange(100), [0, *range(1, 100, 2)], [0, *np.arange(0.5, 100, 2)]),
        (torch.ones(2, 200), [0, *range(2, 200, 4)], np.ones((2, 51))),
    ],
)
def test_a_curve_has_the_first_loss_and_the_means_of_about_fifty_groups(losses, steps, means):
    got_steps, got_means = smooth_losses(losses)
    assert got_steps.tolist() == list(steps)
    assert np.array_equal(got_means, means)


@pytest.mark.parametrize("losses", [[], 1.0, np.zeros((1, 2, 3)), "abc"])
def test_what_is_no_curve_of_losses_is_refused(losses):
    with pytest.raises((TypeError, ValueError), match=r"^losses must (have shape \(steps,\)|be numbers)"):
        smooth_losses(losses)


# bits_per_byte


def test_bits_per_byte_are_bits_per_token_times_tokens_per_byte():
    assert bits_per_byte(math.log(2), np.int8(100), np.int8(100)) == 1
    assert bits_per_byte(3 * math.log(2), 10, 40) == pytest.approx(0.75)


# find_leak


def one_hot(inputs: torch.Tensor, ahead: int = 0) -> torch.Tensor:
    return torch.nn.functional.one_hot(inputs, 4).float().roll(-ahead, dims=1)


def leaking(to: int, source: int, by: float = 1.0, row: int | slice = slice(None)):
    """A model whose prediction at position `to` knows the input at `source`."""

    def model(inputs):
        logits = one_hot(inputs)
        logits[row, to] += by * logits[row, source]
        return logits

    return model


def shifted_right(inputs: torch.Tensor) -> torch.Tensor:
    """Predictions that see only the inputs before them, so that the last input moves none."""
    logits = one_hot(inputs)
    return logits.cumsum(dim=1) - logits


@pytest.mark.parametrize(
    ("model", "leak"),
    [
        (one_hot, None),
        (lambda inputs: one_hot(inputs).cumsum(dim=1), None),
        (lambda inputs: one_hot(inputs, ahead=1), (1, 0)),
        (lambda inputs: one_hot(inputs, ahead=3), (3, 0)),
        (leaking(2, 4), (4, 2)),
        (leaking(0, 2, row=1), (2, 0)),
        (leaking(0, 1, by=1e-5), (1, 0)),
        (leaking(0, 1, by=2e-6), None),  # rounding may do as much
        (lambda inputs: 100 * leaking(0, 1, by=2e-6)(inputs), None),
        (lambda inputs: leaking(0, 1, by=1e-5)(inputs) / 100, (1, 0)),
        (lambda inputs: shifted_right(inputs) + 2e-6 * one_hot(inputs).sum(dim=1, keepdim=True), None),
        (lambda inputs: leaking(0, 1, by=1e-5)(inputs) + torch.tensor([0, 0, 0, -1e30]), (1, 0)),
    ],
)
def test_a_leak_is_the_input_that_changes_and_the_earlier_prediction_that_moves(model, leak):
    inputs = torch.tensor([[0, 3, 2, 1, 3], [1, 1, 1, 1, 1], [3, 2, 1, 0, 3]])
    before = inputs.clone()
    assert find_leak(model, inputs, 4) == leak
    assert torch.equal(inputs, before)


@pytest.mark.parametrize("hidden", [-1e6, -1e30, -math.inf])
def test_a_leak_is_found_in_a_model_that_never_repeats_a_token(hidden):
    table = torch.randn(50, 50, generator=torch.Generator().manual_seed(0))

    def model(inputs, peeks=True):
        logits = table[inputs] + (0.1 * table[inputs.roll(-1, dims=1)] if peeks else 0)
        return logits.scatter(2, inputs[..., None], hidden)

    inputs = torch.tensor([[3, 1, 4, 15, 9]])
    assert find_leak(model, inputs, 50) == (1, 0)
    assert find_leak(functools.partial(model, peeks=False), inputs, 50) is None


class Unmasked(torch.nn.Module):
    """Attends to all positions, later ones too, with a part that begins at zero."""

    def __init__(self, zero):
        super().__init__()
        self.embed = torch.nn.Embedding(4, 8)
        self.mix = torch.nn.Linear(8, 8, bias=False)
        self.gate = torch.nn.Parameter(torch.ones(()))
        self.head = torch.nn.Linear(8, 4)
        torch.nn.init.zeros_({"head": self.head.weight, "mix": self.mix.weight, "gate": self.gate}[zero])

    def forward(self, inputs):
        tokens = self.embed(inputs)
        return self.head(tokens + self.gate * self.mix(tokens.mean(dim=1, keepdim=True)))


@pytest.mark.parametrize("zero", ["head", "mix", "gate"])
def test_a_leak_is_found_behind_what_begins_at_zero(zero):
    torch.manual_seed(0)
    model, inputs = Unmasked(zero), torch.tensor([[0, 3, 2, 1]])
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert find_leak(model, inputs, 4) == (1, 0)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_model_of_transformers_is_taken_as_it_is():
    from transformers import BertConfig, BertLMHeadModel

    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    bert = BertLMHeadModel(BertConfig(vocab_size=6, is_decoder=False, **sizes)).eval()  # it looks both ways
    inputs = torch.tensor([[0, 3, 2, 1]])
    assert find_leak(bert, inputs, 6) == (1, 0)
    torch.nn.init.zeros_(bert.bert.encoder.layer[0].attention.output.dense.weight)
    assert find_leak(bert, inputs, 6) == (1, 0)


def test_rounding_in_a_mixture_of_experts_is_no_leak():
    """A later token changes which tokens an expert gets at once, and so their rounding."""
    from transformers import MixtralConfig, MixtralForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 16, "num_attention_heads": 4}
    model = MixtralForCausalLM(MixtralConfig(vocab_size=64, num_key_value_heads=2, **sizes)).eval()
    model.lm_head.weight.data *= 40  # to logits of 15, as in a trained model
    inputs = torch.randint(64, (4, 16))
    assert find_leak(model, inputs, 64) is None

    def peeking(inputs):
        logits = model(inputs).logits
        return logits + 1e-5 * logits.roll(-1, dims=1)

    assert find_leak(peeking, inputs, 64) == (1, 0)


def test_a_model_that_sees_no_input_shows_nothing_and_is_refused():
    constant = lambda inputs: torch.zeros(*inputs.shape, 4)
    with pytest.raises(ValueError, match="model must depend on its inputs, but no change of one moved a prediction"):
        find_leak(constant, torch.tensor([[0, 3, 2, 1]]), 4)
    last = lambda inputs: one_hot(inputs) * (torch.arange(inputs.shape[1]) == inputs.shape[1] - 1)[:, None]
    assert find_leak(last, torch.tensor([[0, 3, 2, 1]]), 4) is None


def test_looking_for_leaks_builds_no_graph():
    model, seen = ConvolutionModel(4), []

    def watched(inputs):
        logits = model(inputs)
        seen.append(logits.requires_grad)
        return logits

    assert find_leak(watched, torch.zeros(1, 4, dtype=torch.int64), 4) is None
    assert not any(seen)


def test_equal_infinities_have_not_moved():
    masked = lambda ahead: lambda inputs: torch.where(one_hot(inputs, ahead) > 0, 0.0, -math.inf)
    assert find_leak(masked(0), torch.tensor([[0, 1, 2]]), 4) is None
    assert find_leak(masked(1), torch.tensor([[0, 1, 2]]), 4) == (1, 0)


def test_a_model_may_write_into_its_inputs_and_use_its_memory_again():
    inputs, memory = torch.tensor([[0, 1, 2]]), torch.zeros(1, 3, 4)

    def forgetful(inputs):
        logits = one_hot(inputs)
        inputs[:] = 0
        return logits

    assert find_leak(forgetful, inputs, 4) is None
    assert inputs.tolist() == [[0, 1, 2]]
    assert find_leak(lambda inputs: memory.copy_(one_hot(inputs, ahead=1)), inputs, 4) == (1, 0)


def test_ids_of_8_bits_are_changed_without_overflow():
    ahead = lambda inputs: torch.nn.functional.one_hot(inputs, 256).float().roll(-1, dims=1)
    assert find_leak(ahead, torch.full((1, 3), 255, dtype=torch.uint8), 256) == (1, 0)


@pytest.mark.parametrize(
    ("inputs", "vocab_size", "words"),
    [
        (torch.zeros(0, 3, dtype=int), 4, "with B at least 1 and T at least 2, got (0, 3)"),
        (torch.zeros(1, 1, dtype=int), 4, "with B at least 1 and T at least 2, got (1, 1)"),
        (torch.zeros(3, dtype=int), 4, "inputs must have shape (B, T), got (3,)"),
        (torch.tensor([[0, 2]]), 2, "inputs must lie in 0 ... 1, got 0 ... 2"),
        (torch.zeros(1, 3), 4, "inputs must be integers, got Tensor of float32"),
        ([[0, 1]], 4, "inputs must be a tensor, got list"),
        (torch.tensor([[0, 1]]), 1, "vocab_size must be an integer of at least 2"),
    ],
)
def test_inputs_that_can_show_no_leak_are_refused(inputs, vocab_size, words):
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        find_leak(one_hot, inputs, vocab_size)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda inputs: one_hot(inputs) * math.nan, r"model must .*got one at position 0"),
        (lambda inputs: one_hot(inputs) / (inputs != 2)[..., None], r"model must .*got one at position 2"),
        (lambda inputs: inputs, r"model must .*got \(1, 3\)"),
        (lambda inputs: None, r"model must .*got NoneType"),
        (None, "model must be callable"),
    ],
)
def test_a_model_that_returns_no_logits_is_refused(model, words):
    with pytest.raises((TypeError, ValueError), match=words):
        find_leak(model, torch.tensor([[0, 1, 2]]), 4)


# count_followers


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(0, 6))
@settings(deadline=None)
def test_pairs_are_counted_one_by_one(ids, distance):
    if len(ids) <= distance:
        with pytest.raises(ValueError, match=rf"^ids must hold more than {distance} tokens.*got {len(ids)}$"):
            count_followers(ids, 5, distance)
        return
    naive = Counter((ids[p], ids[p + distance]) for p in range(len(ids) - distance))
    counts = count_followers(ids, 5, distance)
    assert counts.shape == (5, 5)
    assert counts.dtype == np.int64
    assert {(i, j): counts[i, j] for i, j in np.argwhere(counts)} == naive


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, ">u2", np.uint32, np.int32, np.int64, np.uint64])
def test_pairs_are_counted_in_every_dtype(dtype):
    ids = np.array([255, 254, 255, 0, 255, 254]).astype(dtype)
    counts = count_followers(ids, 256)
    assert (counts[255, 254], counts[254, 255], counts[255, 0], counts[0, 255]) == (2, 1, 1, 1)


@pytest.mark.parametrize("ids", [[0, 2], [-1, 1]])
def test_pairs_of_ids_outside_the_vocabulary_are_refused(ids):
    with pytest.raises(ValueError, match=r"^ids must lie in 0 ... 1, got"):
        count_followers(ids, 2)


def test_a_distance_beyond_64_bits_is_longer_than_the_stream():
    with pytest.raises(ValueError, match=r"^ids must hold .*18446744073709551616"):
        count_followers([0, 1], 2, 2**64)


# conditional_entropy


@given(st.lists(st.integers(0, 3), min_size=2, max_size=40))
@settings(deadline=None)
def test_conditional_entropy_is_the_mean_surprise_of_the_second_of_each_pair(ids):
    pairs = list(itertools.pairwise(ids))
    seen, firsts = Counter(pairs), Counter(first for first, _ in pairs)
    nats = [-math.log(seen[pair] / firsts[pair[0]]) for pair in pairs]
    assert conditional_entropy(count_followers(ids, 4)) == pytest.approx(sum(nats) / len(nats), abs=1e-12)


@pytest.mark.parametrize("counts", [np.full((2, 2), 2**62), np.full((2, 2), 100, dtype=np.int8), torch.ones(2, 2)])
def test_large_counts_do_not_overflow(counts):
    assert conditional_entropy(counts) == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([[0, 0], [0, 0]], "hold at least one pair"),
        ([[2, -1], [1, 1]], "lie in 0 ... 2..63, got -1.0"),
        ([[2, math.nan], [1, 1]], "lie in 0 ... 2..63, got nan"),
        (np.ones((1, 2)), r"be a table \(V, V\), got shape \(1, 2\)"),
        ([1, 2], r"be a table \(V, V\), got shape \(2,\)"),
        ("ab", "be numbers, got str"),
    ],
)
def test_what_counts_no_pairs_has_no_entropy(counts, words):
    with pytest.raises((TypeError, ValueError), match=rf"^counts must {words}"):
        conditional_entropy(counts)


# The experiments: the same loops as a reader would write them.


def windows_by_hand(ids: np.ndarray, seed: int):
    return make_dataloader(SlidingWindowDataset(ids, 8, 8), 4, base_seed=1000 * seed)


def test_bigrams_are_trained_as_by_hand():
    ids = np.arange(600) ** 2 % 11
    how = {"num_updates": 30, "learning_rate": 0.1}
    runs = experiments.train_bigrams(ids, 11, lambda inputs, _: (inputs, inputs), 8, 4, **how, seeds=[3, 5])
    for seed, (model, losses) in zip([3, 5], runs, strict=True):
        by_hand = BigramModel(11)
        batches = ((inputs, inputs) for inputs, _ in repeat_epochs(windows_by_hand(ids, seed)))  # 30 are more than one
        assert losses == train(by_hand, batches, **how, progress=False)
        assert all(map(torch.equal, model.state_dict().values(), by_hand.state_dict().values()))
    assert runs[0].losses != runs[1].losses


@pytest.mark.parametrize("causal", [True, False])
def test_convolutions_are_trained_as_by_hand(causal):
    ids = np.arange(600) ** 2 % 11
    how = {"num_updates": 30, "learning_rate": 0.02}
    runs = experiments.train_convolutions(ids, 11, 8, 4, causal=causal, **how, seeds=[3, 5])
    for seed, (model, losses) in zip([3, 5], runs, strict=True):
        torch.manual_seed(seed)
        by_hand = ConvolutionModel(11, causal=causal)
        assert losses == train(by_hand, windows_by_hand(ids, seed), **how, progress=False)
        assert all(map(torch.equal, model.state_dict().values(), by_hand.state_dict().values()))
    assert runs[0].losses != runs[1].losses
