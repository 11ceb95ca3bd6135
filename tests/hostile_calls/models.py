"""Hostile calls of the small models and of counting pairs."""

import contextlib
import math

import numpy as np
import torch

ONES = torch.zeros(2, 3, dtype=torch.int64)


def shape(model):
    return tuple(model(ONES).shape)


def frozen():
    """A model whose owner has set one part apart."""
    model = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.Dropout()).train()
    model[0].eval()
    return model


def modes(mode, model):
    """The modes of a model and its parts: inside, and after an error inside."""
    inside = []
    with contextlib.suppress(ArithmeticError), mode(model):
        inside += [part.training for part in model.modules()]
        raise ArithmeticError
    return inside, [part.training for part in model.modules()]


def rates(optimizer_and_schedule):
    """The learning rates of four steps."""
    optimizer, schedule = optimizer_and_schedule
    seen = []
    for _ in range(4):
        seen += schedule.get_last_lr()
        optimizer.step()
        schedule.step()
    return seen


CALLS = {
    "modes(evaluation_mode, frozen())": ([False, False, False], [True, False, True]),
    "modes(evaluation_mode, frozen().eval())": ([False, False, False], [False, False, False]),
    "modes(evaluation_mode, GRUModel)": TypeError("model must be a torch.nn.Module, got type"),
    "modes(evaluation_mode, None)": TypeError("model must be a torch.nn.Module, got NoneType"),
    "rates(adam_with_linear_decay(BigramModel(np.int8(2)), np.float32(0.5), np.int8(2)))": [0.5, 0.375, 0.25, 0.25],
    "rates(adam_with_linear_decay(BigramModel(2), 0.5, 1))": [0.5] * 4,
    "adam_with_linear_decay(torch.nn.Identity(), 0.1, 1)": ValueError("model must have at least one weight to train"),
    "adam_with_linear_decay(BigramModel(2).requires_grad_(False), 0.1, 1)": ValueError("weight to train, got none"),
    "check_model(BigramModel)": TypeError("model must be a torch.nn.Module, got type"),
    "check_model(lambda inputs: inputs)": TypeError("model must be a torch.nn.Module, got function"),
    "shape(BigramModel(np.int8(100)))": (2, 3, 100),
    "BigramModel(1)(ONES).sum()": 0.0,
    "BigramModel(0)": ValueError("vocab_size must be an integer of at least 1 and at most 10000, got 0"),
    "BigramModel(2**64)": ValueError("at most 10000, got 18446744073709551616"),
    "BigramModel(True)": TypeError("vocab_size must be"),
    "BigramModel(torch.tensor([3]))": TypeError("vocab_size must be"),
    "BigramModel('3')": TypeError("vocab_size must be"),
    "BigramModel(3)(ONES + 3)": ValueError("inputs must lie in 0 ... 2, got 3 ... 3"),
    "BigramModel(3)(ONES[0]).shape": (3, 3),
    "BigramModel(3)(ONES - 1)": ValueError("inputs must lie in 0 ... 2, got -1 ... -1"),
    "BigramModel(3)(ONES.float())": TypeError("inputs must be integers, got Tensor of float32"),
    "BigramModel(3)([[0, 1]])": TypeError("inputs must be a tensor of ids, got list: try torch.tensor(inputs)"),
    "ConvolutionModel(3)(ONES[0])": ValueError("inputs must have shape (B, T), got (3,)"),
    "ConvolutionModel(3)(ONES.to('meta'))": TypeError("inputs must be a dense tensor on a device with data"),
    "GRUModel(3)(None)": TypeError("inputs must be a tensor of ids, got NoneType"),
    "GRUModel(3).read_on(ONES + 3, None)": ValueError("inputs must lie in 0 ... 2, got 3 ... 3"),
    "AttentionModel(3)(ONES + 3)": ValueError("inputs must lie in 0 ... 2, got 3 ... 3"),
    "AttentionModel(3, max_length=3)(ONES, torch.arange(1, 4))": ValueError(
        "position_ids must lie in 0 ... 2, got 1 ... 3"
    ),
    "AttentionModel(3)(ONES, torch.rand(3))": TypeError("position_ids must be integers, got Tensor of float32"),
    "check_batch(torch.tensor([[0, 2]], dtype=torch.uint8), 3)": np.array([[0, 2]]),
    "check_batch(ONES[0, 0], 1)": ValueError("inputs must have shape (B, T), got ()"),
    "check_batch(np.zeros((2, 2), int), 1)": TypeError("inputs must be a tensor of ids, got ndarray"),
    "shape(ConvolutionModel(np.uint8(255), np.int8(3), np.int8(5)))": (2, 3, 255),
    "shape(ConvolutionModel(4, causal=np.False_))": (2, 3, 4),
    "ConvolutionModel(4, kernel_size=-1)": ValueError("kernel_size must be"),
    "ConvolutionModel(4, kernel_size=2)": ValueError("kernel_size must be odd"),
    "ConvolutionModel(4, kernel_size=2**63 - 1)": ValueError(
        "kernel_size must be an integer of at least 1 and at most"
    ),
    "ConvolutionModel(4, 0)": ValueError("hidden_size must be"),
    "ConvolutionModel(2**63)": ValueError("vocab_size must be"),
    "shape(GRUModel(np.int16(300), np.int8(100)))": (2, 3, 300),
    "GRUModel(5, 2**31)": ValueError("hidden_size must be"),
    "GRUModel(5, 8.0)": TypeError("hidden_size must be"),
    "GRUModel(nan)": TypeError("vocab_size must be"),
    "shape(AttentionModel(np.int16(300), np.int8(100), num_heads=np.int8(2)))": (2, 3, 300),
    "shape(AttentionModel(5, positions='rotary'))": (2, 3, 5),
    "shape(AttentionModel(5, max_length=3))": (2, 3, 5),
    "shape(AttentionModel(5, max_length=2))": ValueError("position_ids must lie in 0 ... 1, got 0 ... 2"),
    "AttentionModel(0)": ValueError("vocab_size must be"),
    "AttentionModel(5, 2**31)": ValueError("hidden_size must be"),
    "AttentionModel(5, 9)": ValueError("hidden_size must be a multiple of twice num_heads 1, got 9"),
    "AttentionModel(5, 6, num_heads=2)": ValueError("hidden_size must be a multiple of twice num_heads 2, got 6"),
    "AttentionModel(5, num_layers=0)": ValueError("num_layers must be"),
    "count_pairs([0, 1], 2)": np.array([[0, 1], [0, 0]]),
    "count_pairs(np.array([299, 0, 299], dtype=np.uint16), np.int16(300))[299, 0]": 1,
    "count_pairs([0], 1, 0)": np.array([[1]]),
    "count_pairs([0, 1], 2, 2**64)": ValueError("ids must hold more than 18446744073709551616 tokens"),
    "count_pairs([], 2, 0)": ValueError("ids must hold more than 0 tokens"),
    "count_pairs([0, 2], 2)": ValueError("ids must lie in 0 ... 1, got 0 ... 2"),
    "count_pairs([-1, 2], 5)": ValueError("ids must lie in 0 ... 4, got -1 ... 2"),
    "count_pairs([0, 1], 0)": ValueError("vocab_size must be"),
    "count_pairs([0, 1], 10_001)": ValueError("vocab_size must be an integer of at least 1 and at most 10000"),
    "conditional_entropy(np.full((2, 2), 2**62))": math.log(2),
    "conditional_entropy(np.full((2, 2), 100, dtype=np.int8))": math.log(2),
    "conditional_entropy(torch.ones(2, 2))": math.log(2),
    "conditional_entropy([[3]])": 0.0,
    "conditional_entropy([[0, 0], [0, 0]])": ValueError("counts must hold at least one pair"),
    "conditional_entropy([[2, -1], [1, 1]])": ValueError("counts must lie in 0 ... 2**63, got -1.0"),
    "conditional_entropy([[2, nan], [1, 1]])": ValueError("counts must lie in 0 ... 2**63, got nan"),
    "conditional_entropy(np.ones((1, 2)))": ValueError("counts must be a table (V, V), got shape (1, 2)"),
    "conditional_entropy([1, 2])": ValueError("counts must be a table (V, V), got shape (2,)"),
    "conditional_entropy('ab')": TypeError("counts must be numbers, got str"),
}
TAKES_NO_DATA = {"one_thread": "it has no arguments"}
