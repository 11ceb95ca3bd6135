"""Inputs and targets, the loss between them, and the detector of models that peek."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.foundation import ConvolutionModel
from course_lib.next_token_shifting import (
    bits_per_byte,
    context_target_pairs,
    find_leak,
    next_token_loss,
    shift_by_one,
)


@given(st.lists(st.integers(0, 2**40), min_size=2, max_size=20))
@settings(deadline=None)
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


def test_array_stays_array_tensor_stays_tensor_and_a_list_becomes_one():
    assert all(half.dtype == np.uint16 for half in shift_by_one(np.arange(3, dtype=np.uint16)))
    assert all(half.dtype == torch.int32 for half in shift_by_one(torch.arange(3, dtype=torch.int32)))
    assert all(half.dtype == torch.int64 for half in shift_by_one([0, 1, 2]))


@pytest.mark.parametrize("window", [[], [7], 7, np.zeros((3, 1), dtype=int), torch.zeros(3, 0, dtype=torch.int64)])
def test_a_window_without_a_pair_is_refused(window):
    with pytest.raises(ValueError, match=r"^window must have at least 2 ids in its last dimension, got shape"):
        shift_by_one(window)


@pytest.mark.parametrize(
    ("window", "got"),
    [("text", "text"), ([0.5, 1.5], "float64"), (torch.zeros(3), "float32"), (np.zeros(3, dtype=bool), "bool")],
)
def test_a_window_of_anything_but_integers_is_refused(window, got):
    with pytest.raises(TypeError, match=f"^window must be integers, got .*{got}"):
        shift_by_one(window)


@given(st.lists(st.integers(0, 100), min_size=2, max_size=12))
@settings(deadline=None)
def test_the_pairs_are_every_prefix_with_the_id_after_it(ids):
    expected = [(ids[:t], ids[t]) for t in range(1, len(ids))]
    assert [(context.tolist(), target) for context, target in context_target_pairs(ids)] == expected


def test_a_context_cannot_be_written_into():
    ids = np.arange(5)
    contexts = [context for context, _ in context_target_pairs(ids)]
    assert all(np.shares_memory(context, ids) for context in contexts)
    for context in contexts:
        with pytest.raises(ValueError, match="read-only"):
            context[0] = 7


def test_pairs_are_told_at_the_call_that_they_need_two_ids():
    for ids in ([], [5]):
        with pytest.raises(ValueError, match=f"^ids must hold at least 2 tokens.*got {len(ids)}$"):
            context_target_pairs(ids)  # nobody has to ask for the first pair
    with pytest.raises(ValueError, match=r"^ids must be one-dimensional, got shape \(2, 2\)$"):
        context_target_pairs([[1, 2], [3, 4]])
    with pytest.raises(TypeError, match=r"^ids must be integers, got text"):
        context_target_pairs("text")


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


def test_equal_logits_cost_the_logarithm_of_the_vocabulary():
    assert next_token_loss(torch.zeros(2, 3, 50), torch.ones(2, 3, dtype=torch.int64)).item() == pytest.approx(
        math.log(50)
    )


def test_ignored_targets_get_no_gradient():
    logits = torch.zeros(3, 4, requires_grad=True)
    next_token_loss(logits, torch.tensor([1, -100, 2])).backward()
    assert (logits.grad.abs().sum(dim=1) > 0).tolist() == [True, False, True]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.uint16, torch.int32, torch.int64])
def test_targets_of_any_integer_dtype_are_scored_alike(dtype):
    # 156 is what -100 turns into in eight bits: it must not count as "ignore"
    targets = torch.tensor([156, 3, 156]).to(dtype)
    assert next_token_loss(torch.zeros(3, 200), targets).item() == pytest.approx(math.log(200))


@pytest.mark.parametrize(
    ("logits", "targets", "error", "message"),
    [
        (torch.zeros(2, 3, dtype=torch.int64), torch.tensor([0, 1]), TypeError, "logits must be floating .*int64"),
        (torch.zeros(2, 3), torch.zeros(2), TypeError, "targets must be integers, got torch.float32"),
        (torch.zeros(2, 3), torch.tensor([True, False]), TypeError, "targets must be integers, got torch.bool"),
        ([[0.0, 0.0]], torch.tensor([0]), TypeError, "logits must be a tensor, got list"),
        (torch.zeros(2, 3), [0, 1], TypeError, "targets must be a tensor, got list"),
        (torch.zeros(2, 3), torch.tensor([0, 1, 2]), ValueError, r"got logits \(2, 3\) for targets \(3,\)"),
        (torch.zeros(2, 4, 3), torch.zeros(2, 3, dtype=int), ValueError, r"got logits \(2, 4, 3\) for targets"),
        (torch.zeros(()), torch.tensor(0), ValueError, r"got logits \(\) for targets \(\)"),
        (torch.zeros(2, 3), torch.tensor([-100, -100]), ValueError, "targets hold no token to score: all 2 are -100"),
        (torch.zeros(0, 3), torch.zeros(0, dtype=int), ValueError, "targets hold no token to score: all 0"),
        (torch.zeros(2, 3), torch.tensor([0, 3]), ValueError, r"targets must lie in 0 \.\.\. 2, got 0 \.\.\. 3"),
        (torch.zeros(2, 3), torch.tensor([-1, 0]), ValueError, r"targets must lie in 0 \.\.\. 2, got -1 \.\.\. 0"),
    ],
)
def test_what_cannot_be_scored_is_refused(logits, targets, error, message):
    with pytest.raises(error, match=message):
        next_token_loss(logits, targets)


def test_bits_per_byte_spreads_the_bits_of_all_tokens_over_the_bytes():
    assert bits_per_byte(math.log(2), 10, 10) == pytest.approx(1)
    assert bits_per_byte(math.log(256), 7, 7) == pytest.approx(8)
    assert bits_per_byte(3 * math.log(2), 10, 40) == pytest.approx(30 / 40)


@pytest.mark.parametrize(("name", "arguments"), [("num_tokens", (1.0, 0, 5)), ("num_bytes", (1.0, 5, 0))])
def test_bits_per_byte_needs_tokens_and_bytes(name, arguments):
    with pytest.raises(ValueError, match=f"^{name} must be an integer of at least 1, got 0$"):
        bits_per_byte(*arguments)
    with pytest.raises(TypeError, match=r"^num_tokens must be .*got 2.5"):
        bits_per_byte(1.0, 2.5, 5)


def one_hot(inputs: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.one_hot(inputs, 4).float()


@pytest.mark.parametrize("ahead", [1, 2, 3])
def test_a_model_that_looks_ahead_is_caught_with_both_positions(ahead):
    leak = find_leak(lambda inputs: one_hot(inputs).roll(-ahead, dims=1), torch.zeros(2, 6, dtype=torch.int64), 4)
    assert leak == (ahead, 0)


def test_a_leak_at_a_single_late_position_is_caught():
    def model(inputs):
        logits = one_hot(inputs)
        logits[:, 2] += logits[:, 4]
        return logits

    assert find_leak(model, torch.zeros(1, 5, dtype=torch.int64), 4) == (4, 2)


def test_models_that_see_their_past_alone_are_not_accused():
    inputs = torch.tensor([[0, 3, 2, 1, 3]])
    assert find_leak(one_hot, inputs, 4) is None
    assert find_leak(lambda inputs: one_hot(inputs).cumsum(dim=1), inputs, 4) is None
    assert inputs.tolist() == [[0, 3, 2, 1, 3]]


def test_looking_for_leaks_builds_no_graph():
    model, seen = ConvolutionModel(4), []

    def watched(inputs):
        logits = model(inputs)
        seen.append(logits.requires_grad)
        return logits

    assert find_leak(watched, torch.zeros(1, 4, dtype=torch.int64), 4) is None
    assert not any(seen)


@pytest.mark.parametrize("shape", [(5,), (2, 1), (2, 3, 4), (0, 3)])
def test_a_leak_needs_a_window_of_two_positions(shape):
    with pytest.raises(ValueError, match=r"^inputs must have shape \(B, T\) with B at least 1 and T at .*, got \("):
        find_leak(one_hot, torch.zeros(shape, dtype=torch.int64), 4)


def test_a_leak_is_found_though_logits_are_infinite():
    def counted(inputs):  # an id that never follows gets minus infinity
        return torch.where(one_hot(inputs) > 0, 0.0, -math.inf)

    inputs = torch.tensor([[0, 1, 2, 3]])
    assert find_leak(counted, inputs, 4) is None
    assert find_leak(lambda inputs: counted(inputs).roll(-1, dims=1), inputs, 4) == (1, 0)
    assert find_leak(lambda inputs: counted(inputs).roll(-3, dims=1), inputs, 4) == (3, 0)


def test_a_model_of_nans_is_not_cleared():
    def broken_behind(inputs):
        logits = one_hot(inputs)
        logits[:, 2] = math.nan
        return logits

    with pytest.raises(ValueError, match=r"^model must return no NaN, got one at position 2$"):
        find_leak(broken_behind, torch.zeros(1, 4, dtype=torch.int64), 4)


@pytest.mark.parametrize("by", [2e-6, 1e-3])
def test_a_small_leak_is_one_and_rounding_is_none(by):
    def whispers(inputs):
        return one_hot(inputs) + by * one_hot(inputs).roll(-1, dims=1)

    inputs = torch.zeros(1, 4, dtype=torch.int64)
    assert find_leak(whispers, inputs, 4) == (1, 0)
    assert find_leak(lambda inputs: one_hot(inputs) + 5e-7 * one_hot(inputs).roll(-1, dims=1), inputs, 4) is None


def test_a_leak_in_one_row_of_the_batch_is_caught():
    def model(inputs):
        logits = one_hot(inputs)
        logits[1, 0] += logits[1, 2]
        return logits

    assert find_leak(model, torch.zeros(3, 4, dtype=torch.int64), 4) == (2, 0)


def test_ids_of_few_bits_do_not_overflow_and_a_model_that_reuses_its_memory_is_caught():
    memory = torch.empty(1, 3, 256)

    def peeks(inputs):
        memory.copy_(torch.nn.functional.one_hot(inputs, 256).float().roll(-1, dims=1))
        return memory

    assert find_leak(peeks, torch.full((1, 3), 255, dtype=torch.uint8), 256) == (1, 0)


@pytest.mark.parametrize(
    ("model", "inputs", "error", "message"),
    [
        (one_hot, [[0, 1]], TypeError, "^inputs must be a tensor of ids, got list"),
        (one_hot, torch.zeros(1, 2), TypeError, "^inputs must be integers, got Tensor of float32"),
        (one_hot, torch.tensor([[0, 4]]), ValueError, r"^inputs must lie in 0 \.\.\. 3, got 0 \.\.\. 4"),
        (one_hot, torch.tensor([[-1, 0]]), ValueError, r"^inputs must lie in 0 \.\.\. 3, got -1 \.\.\. 0"),
        (lambda inputs: None, torch.tensor([[0, 1]]), TypeError, "^model must return a tensor, got NoneType"),
        (lambda inputs: one_hot(inputs)[:, -1], torch.tensor([[0, 1]]), ValueError, r"\(1, 2, 4\) .*, got \(1, 4\)"),
    ],
)
def test_what_is_no_batch_or_no_model_is_refused_by_name(model, inputs, error, message):
    with pytest.raises(error, match=message):
        find_leak(model, inputs, 4)


def test_a_leak_needs_two_ids_to_choose_from():
    with pytest.raises(ValueError, match=r"^vocab_size must be an integer of at least 2, got 1$"):
        find_leak(one_hot, torch.zeros(1, 3, dtype=torch.int64), 1)
