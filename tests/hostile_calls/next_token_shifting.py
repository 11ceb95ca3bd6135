"""Hostile calls of lesson 01."""

import math

import numpy as np
import torch

NOTHING = torch.tensor([-100, -100])


def halves(window):
    from course_lib.next_token_shifting import shift_by_one

    return [half.tolist() for half in shift_by_one(window)]


def contexts(ids):
    from course_lib.next_token_shifting import context_target_pairs

    return [(context.tolist(), target) for context, target in context_target_pairs(ids)]


def one_hot(inputs, ahead=0):
    return torch.nn.functional.one_hot(inputs, 3).float().roll(-ahead, dims=1)


def counted(ahead=0):
    return lambda inputs: torch.where(one_hot(inputs, ahead) > 0, 0.0, -math.inf)


def all_nan(inputs):
    return one_hot(inputs) * math.nan


def nan_at_the_end(inputs):
    logits = one_hot(inputs)
    logits[:, -1] = math.nan
    return logits


def writes_into_its_inputs(inputs):
    logits = one_hot(inputs)
    inputs[:] = 0
    return logits


def of_256(inputs):
    """A model that looks ahead, for more ids than 8 bits can count up to."""
    return torch.nn.functional.one_hot(inputs, 256).float().roll(-1, dims=1)


def kept(inputs, memory=torch.zeros(1, 3, 3)):  # noqa: B008
    return memory.copy_(one_hot(inputs, 1))


INPUTS = torch.tensor([[0, 1, 2]])

CALLS = {
    # curves of losses
    "smooth_losses([3.0, 1.0])[1]": np.array([3.0, 3.0, 1.0]),
    "smooth_losses(torch.ones(2, 200))[1].shape": (2, 51),
    "smooth_losses(np.arange(100))[1][:3]": np.array([0, 0.5, 2.5]),
    "smooth_losses(np.arange(100))[0][-1]": 99.0,
    "smooth_losses([])": ValueError("losses must have shape (steps,) or (runs, steps), got (0,)"),
    "smooth_losses('abc')": TypeError("losses must be numbers"),
    # shift_by_one
    "halves([3, 70_000])": [[3], [70_000]],
    "halves(range(3))": [[0, 1], [1, 2]],
    "halves(np.array([250, 255], dtype=np.uint8))": [[250], [255]],
    "halves(torch.tensor([[1, 2]], dtype=torch.int8))": [[[1]], [[2]]],
    "halves(np.zeros((0, 3), dtype=int))": [[], []],
    "shift_by_one([])": ValueError("window must have at least 2 ids in its last dimension, got shape (0,)"),
    "shift_by_one(5)": ValueError("window must have at least 2 ids in its last dimension, got shape ()"),
    "shift_by_one(np.zeros((2, 1), dtype=int))": ValueError("got shape (2, 1)"),
    "shift_by_one(torch.zeros(3, 0, dtype=int))": ValueError("window must have at least 2 ids in its last dimension"),
    "shift_by_one('text')": TypeError("window must be integers, got text"),
    "shift_by_one(None)": TypeError("window must be integers"),
    "shift_by_one([0.5, 1.0])": TypeError("window must be integers, got list of float64"),
    "shift_by_one([True, 2])": TypeError("with True or False in it"),
    "shift_by_one(np.zeros(3, dtype=bool))": TypeError("window must be integers, got ndarray of bool"),
    "shift_by_one(torch.tensor([nan, 1.0]))": TypeError("window must be integers, got Tensor of float32"),
    "shift_by_one([[1, 2], [3]])": ValueError("window must be a regular array"),
    "shift_by_one([2**64, 1])": TypeError("oversized"),
    "shift_by_one(np.ma.masked_array([1, 2], mask=[True, False]))": TypeError("MaskedArray"),
    # context_target_pairs
    "contexts([7, 8, 9])": [([7], 8), ([7, 8], 9)],
    "contexts(np.array([1, 70_000], dtype=np.uint32))": [([1], 70_000)],
    "next(context_target_pairs(np.arange(3)))[0].flags.writeable": False,
    "context_target_pairs([])": ValueError("ids must hold at least 2 tokens, a context and its target, got 0"),
    "context_target_pairs([1])": ValueError("got 1"),
    "context_target_pairs([[1, 2]])": ValueError("ids must be one-dimensional, got shape (1, 2)"),
    "context_target_pairs(b'ab')": TypeError("ids must be integers, got text"),
    "context_target_pairs(5)": ValueError("ids must be one-dimensional, got shape ()"),
    "as_predictable_stream(range(2), 'corpus')": np.array([0, 1]),
    "as_predictable_stream([1], 'corpus')": ValueError("corpus must hold at least 2 tokens, a context and its target"),
    "as_predictable_stream(None, 'corpus')": TypeError("corpus must be integers, got NoneType"),
    # next_token_loss
    "round(next_token_loss(torch.zeros(2, 4), torch.tensor([3, -100])).item(), 5)": round(math.log(4), 5),
    "next_token_loss(torch.tensor([[0.0, -inf]]), torch.tensor([1])).item()": math.inf,
    "next_token_loss(torch.tensor([[0.0, nan]]), torch.tensor([0])).item()": math.nan,
    "round(next_token_loss(torch.zeros(1, 3), torch.tensor([2], dtype=torch.uint8)).item(), 5)": round(math.log(3), 5),
    "next_token_loss(torch.zeros(2, 3), NOTHING)": ValueError("no token to score: all 2 are -100"),
    "next_token_loss(torch.zeros(0, 3), torch.tensor([], dtype=int))": ValueError("no token to score: all 0"),
    "next_token_loss(torch.zeros(1, 0), torch.tensor([0]))": ValueError("targets must lie in 0 ... -1, got 0 ... 0"),
    "next_token_loss(torch.zeros(1, 3), torch.tensor([3]))": ValueError("targets must lie in 0 ... 2, got 3 ... 3"),
    "next_token_loss(torch.zeros(1, 3), torch.tensor([-1]))": ValueError("targets must lie in 0 ... 2, got -1 ... -1"),
    "next_token_loss(torch.zeros(3), torch.tensor([0]))": ValueError("got logits (3,) for targets (1,)"),
    "next_token_loss(torch.zeros(2, 4, 3), torch.zeros(2, 3, dtype=int))": ValueError(
        "got logits (2, 4, 3) for targets"
    ),
    "next_token_loss(torch.zeros(()), torch.tensor(0))": ValueError("got logits () for targets ()"),
    "next_token_loss(torch.zeros(1, 3, dtype=int), torch.tensor([0]))": TypeError("logits must be floating point"),
    "next_token_loss(torch.zeros(1, 3), torch.tensor([True]))": TypeError("targets must be integers"),
    "next_token_loss(torch.zeros(2, 3), torch.zeros(2))": TypeError("targets must be integers, got Tensor of float32"),
    "check_targets(torch.zeros(2, 3), torch.tensor([2, 156], dtype=torch.uint8))": np.array([2, 156]),
    "check_targets(torch.zeros(2, 3), NOTHING)": np.array([-100, -100]),
    "check_targets(torch.zeros(0, 3), torch.tensor([], dtype=int))": np.array([], dtype=int),
    "check_targets(None, NOTHING)": TypeError("logits must be a tensor, got NoneType"),
    "check_targets(torch.zeros(3, 2), NOTHING)": ValueError("one more dimension, (..., V); got logits (3, 2)"),
    # bits_per_byte
    "bits_per_byte(math.log(2), np.int8(100), np.int8(100))": 1.0,
    "bits_per_byte(torch.tensor(0.0), 1, 1)": 0.0,
    # find_leak
    "find_leak(counted(), INPUTS, 3)": None,
    "find_leak(counted(ahead=1), INPUTS, 3)": (1, 0),
    "find_leak(counted(ahead=2), INPUTS, np.int8(3))": (2, 0),
    "find_leak(kept, INPUTS, 3)": (1, 0),
    "find_leak(writes_into_its_inputs, INPUTS, 3)": None,
    "find_leak(of_256, torch.full((1, 3), 255, dtype=torch.uint8), 256)": (1, 0),
    "find_leak(one_hot, INPUTS.to(torch.uint8), 3)": None,
    "INPUTS.tolist()": [[0, 1, 2]],  # none of the models has changed them
    "find_leak(all_nan, INPUTS, 3)": ValueError("model must return no NaN, got one at position 0"),
    "find_leak(nan_at_the_end, INPUTS, 3)": ValueError("model must return no NaN, got one at position 2"),
    "find_leak(one_hot, [[0, 1]], 3)": TypeError("inputs must be a tensor, got list"),
    "find_leak(one_hot, None, 3)": TypeError("inputs must be a tensor, got NoneType"),
    "find_leak(one_hot, INPUTS[:0], 3)": ValueError("with B at least 1 and T at least 2, got (0, 3)"),
    "find_leak(one_hot, INPUTS[:, :1], 3)": ValueError("with B at least 1 and T at least 2, got (1, 1)"),
    "find_leak(one_hot, INPUTS[0], 3)": ValueError("inputs must have shape (B, T), got (3,)"),
    "find_leak(one_hot, torch.zeros(2, 3, 4, dtype=int), 3)": ValueError("inputs must have shape (B, T)"),
    "find_leak(one_hot, INPUTS / 2, 3)": TypeError("inputs must be integers, got Tensor of float32"),
    "find_leak(one_hot, INPUTS, 2)": ValueError("inputs must lie in 0 ... 1, got 0 ... 2"),
    "find_leak(one_hot, -INPUTS, 3)": ValueError("inputs must lie in 0 ... 2, got -2 ... 0"),
    "find_leak(one_hot, INPUTS, 1)": ValueError("vocab_size must be an integer of at least 2, got 1"),
    "find_leak(one_hot, INPUTS, 3.0)": TypeError("vocab_size must be an integer"),
    "find_leak(one_hot, INPUTS, 2**70)": ValueError("model must return logits (1, 3, 1180591620717411303424)"),
    "find_leak(lambda inputs: inputs, INPUTS, 3)": ValueError("model must return logits (1, 3, 3) for inputs (1, 3)"),
    "find_leak(lambda inputs: None, INPUTS, 3)": TypeError("model must return a tensor, got NoneType"),
}
