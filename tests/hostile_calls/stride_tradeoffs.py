"""Hostile calls of lesson 05."""

import numpy as np
import torch

IDS = np.arange(12) % 5
LARGE = np.array([70_000] * 6)


def flat(inputs):
    """A model that knows nothing: the same logits for 5 ids everywhere."""
    return torch.zeros(*inputs.shape, 5)


def lost(inputs):
    return torch.full((*inputs.shape, 5), float("nan"))


def certain_of_0(inputs):
    logits = torch.full((*inputs.shape, 5), float("-inf"))
    logits[..., 0] = 0.0
    return logits


def one_row_short(inputs):
    return torch.zeros(inputs.shape[0], inputs.shape[1] - 1, 5)


def last_position_only(inputs):
    return torch.zeros(inputs.shape[0], 5)


def pair(*shape):
    return torch.zeros(shape, dtype=torch.int64)


def writable(array):
    return array.flags.writeable


def counted(cost):
    return (cost.windows, cost.steps, cost.tokens_processed, cost.effective_size)


def kinds(plan):
    return [type(value).__name__ for value in vars(plan).values()]


def on_disk(path="/dev/zero"):
    return np.memmap(path, dtype=np.uint16, mode="r", shape=(10,))


PLAN = ["int", "int", "int", "float"]

CALLS = {
    # what a plan looks like
    "scored_rows([(0, 2, 2), (1, 2, 1)], 5)": {
        "stream": [(0, 1, "lost", 0), (1, 1, "plain", 1), (2, 1, "plain", 2), (3, 1, "plain", 3), (4, 1, "lost", 4)],
        "": [],
        "start 0": [(0, 1, "plain2"), (1, 2, "targets")],
        "start 1": [(1, 2, "plain2"), (3, 1, "targets")],
    },
    "scored_rows([0, 2, 2], 5)": ValueError("windows must be (start, length, scored) of each window"),
    # costs, from starts
    "counted(epoch_cost([], 0, 4, 2))": (0, 0, 0, 0),
    "counted(epoch_cost([0], 5, 4, 1000))": (1, 1, 4, 4),
    "counted(epoch_cost([0, 0], np.int16(5), np.int8(4), np.uint8(2)))": (2, 1, 8, 4),
    "epoch_cost(np.zeros(20_000, np.uint8), np.int16(30_000), np.int16(2), 8).tokens_processed": 40_000,
    "epoch_cost(np.array([0, 4], np.uint64), 9, 4, 1).continued": 1.0,
    "set(vars(epoch_cost([], 0, 4, 2)).values())": {0},
    "set(vars(epoch_cost(window_starts(4, 4), 4, 4, 2)).values())": {0},
    "epoch_cost([5], 9, 4, 1)": ValueError("starts must lie in 0 ... 4"),
    "epoch_cost([-1], 9, 4, 1)": ValueError("starts must lie in 0 ... 4"),
    "epoch_cost([0], 4, 4, 1)": ValueError("starts must lie in nothing at all"),
    "usual_strides(np.int8(100))": [1, 25, 50, 100, 101, 200],
    "usual_strides(1)": [1, 2],
    "usual_strides(2)": [1, 2, 3, 4],
    "usual_strides(3)": [1, 3, 4, 6],
    "stride_costs(nan, 4, 2)": TypeError("num_tokens must be"),
    "stride_costs(4, 4, 2)[1].windows": 0,
    "cost_table({})[0]": ["windows"],
    "cost_table({None: epoch_cost([], 0, 4, 2)})[4]": ["mean context", "0.00"],
    # losses
    "prediction_losses(flat, pair(0, 3), pair(0, 3)).shape": (0, 3),
    "prediction_losses(certain_of_0, pair(1, 2), torch.tensor([[0, 1]]))": np.array([[0.0, np.inf]]),
    "prediction_losses(lost, pair(1, 1), pair(1, 1))": np.array([[np.nan]]),
    "prediction_losses(flat, pair(2, 3), pair(1, 3))": ValueError("got logits (2, 3, 5) for targets (1, 3)"),
    "prediction_losses(flat, pair(2, 3), pair(2, 2))": ValueError("got logits (2, 3, 5) for targets (2, 2)"),
    "prediction_losses(flat, pair(2, 3), pair(6))": ValueError("got logits (2, 3, 5) for targets (6,)"),
    "prediction_losses(flat, pair(2, 3), [[0, 1, 2]])": TypeError("targets must be a tensor, got list"),
    "prediction_losses(flat, pair(2, 3), pair(2, 3) / 2)": TypeError("targets must be integers, got Tensor of float32"),
    "prediction_losses(one_row_short, pair(2, 3), pair(2, 3))": ValueError("logits must have the shape of targets"),
    "prediction_losses(last_position_only, pair(2, 3), pair(2, 3))": ValueError("got logits (2, 5) for targets (2, 3)"),
    "prediction_losses(str, pair(2, 3), pair(2, 3))": TypeError("logits must be a tensor, got str"),
    "prediction_losses(flat, pair(1, 2), torch.tensor([[0, -100]]))": ValueError("targets must lie in 0 ... 4"),
    "prediction_losses(flat, pair(1, 2), torch.tensor([[0, 5]]))": ValueError(
        "targets must lie in 0 ... 4, got 0 ... 5"
    ),
    # strided evaluation
    "scored_windows(2, 4, 3)": [(0, 1, 1)],
    "scored_windows(np.int8(127), np.int8(100), np.int8(100))": [(0, 100, 100), (100, 26, 26)],
    "scored_windows(9, 4, 5)": ValueError("stride must be at most context_length = 4, got 5"),
    "strided_losses(flat, [], 4, 2)": ValueError("ids must hold at least 2 tokens"),
    "strided_losses(flat, [1], 4, 2)": ValueError("ids must hold at least 2 tokens"),
    "strided_losses(flat, IDS, 4, 5)": ValueError("stride must be at most context_length = 4"),
    "strided_losses(flat, IDS, 0, 1)": ValueError("context_length must be"),
    "strided_losses(flat, [True, 2, 3], 2, 1)": TypeError("ids must be integers"),
    "strided_losses(flat, bytearray(b'abc'), 2, 1)": TypeError("ids must be integers"),
    "strided_losses(flat, LARGE, 3, 1)": ValueError("targets must lie in 0 ... 4, got 70000"),
    "strided_losses(one_row_short, IDS, 3, 1)": ValueError("logits must have the shape of targets"),
    "np.round(strided_losses(flat, on_disk(), 4, np.uint8(3)), 4)": np.full(9, 1.6094),
    "np.isnan(strided_losses(lost, IDS, 4, 3)).all()": True,
    "strided_evaluation(flat, IDS, np.int16(4), np.int16(2)).tokens_processed": 19,
    "type(strided_evaluation(flat, IDS, 4, np.int16(2)).stride).__name__": "int",
    "strided_evaluation(lost, IDS, 4, 2).bits_per_token": float("nan"),
    # splits
    "[part.tolist() for part in split_stream([1, 2, 3, 4], np.float16(0.5))]": [[1, 2], [3, 4]],
    "[writable(part) for part in split_stream(np.arange(9), 0.5)]": [False, False],
    "[part.tolist() for part in split_stream(torch.arange(4), 0.5)]": [[0, 1], [2, 3]],
    "[len(part) for part in split_stream(on_disk(), 0.2)]": [8, 2],
    "split_stream([1, 2, 3], 0.5)": ValueError("ids must leave at least 2 tokens for each part"),
    "split_stream([], 0.5)": ValueError("ids must leave at least 2 tokens for each part"),
    "split_stream(IDS, 1)": ValueError("ids must leave at least 2 tokens for each part, got 0 and 12"),
    "split_stream(IDS, 1.1)": ValueError("validation_fraction must be"),
    "split_stream(IDS, 0)": ValueError("validation_fraction must be"),
    "split_stream(IDS, -0.1)": ValueError("validation_fraction must be"),
    "vars(split_overlap([], [], 0, 4))": {
        "validation_tokens": 0,
        "shared_tokens": 0,
        "validation_targets": 0,
        "shared_targets": 0,
    },
    "split_overlap(np.array([0], np.uint8), [[4]], np.int8(9), 4).shared_tokens": 1,
    "split_overlap([0], [5], 9, 4)": ValueError("starts must lie in 0 ... 4"),
    "split_overlap([0.0], [0], 9, 4)": TypeError("starts must be integers"),
    "split_overlap([0], None, 9, 4)": TypeError("starts must be integers"),
    # plans
    "plan_epoch(3_000_000, np.int32(1024), 1, 8, 1e6).tokens_processed": 3_070_951_424,
    "plan_epoch(np.int32(2**31 - 1), 1024, np.int16(1), np.int8(8), np.float16(8)).windows": 2**31 - 1025,
    "kinds(plan_epoch(np.int16(9), np.int16(4), np.int16(1), np.int16(2), np.float32(2)))": PLAN,
    "plan_epoch(4, 4, 1, 2, 1e6).seconds": 0.0,
    "plan_epoch(9, 4, 1, 1000, 10).steps": 1,
}

TAKES_NO_DATA = {
    "EpochCost": "a record that epoch_cost fills",
    "EpochPlan": "a record that plan_epoch fills",
    "StridedEvaluation": "a record that strided_evaluation fills",
    "SplitOverlap": "a record that split_overlap fills",
}
