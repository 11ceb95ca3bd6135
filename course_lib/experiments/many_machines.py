"""Experiments of lesson 12: what happens to a rank that is left alone, what a mean of
means does to a gradient, and a run that is killed and started again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from time import sleep
from typing import Annotated, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from course_lib.experiments.runs import Seeds
from course_lib.foundation import (
    IGNORED,
    AtLeast,
    ConvolutionModel,
    FilePath,
    Finite,
    Length,
    Several,
    checked,
    run_ranks,
)
from course_lib.many_machines.rank_training import take_steps

FATES = ("it takes its third step alone", "an error comes at once", "it waits")


@checked
def fate_of_rank_0(
    busy_seconds: Annotated[float, Finite(minimum=0, maximum=1e6)] = 0.0,
    *,
    time_limit: Annotated[float, Finite(minimum=0.01, maximum=1e6)] = 2.0,
) -> tuple[str, str]:
    """Give rank 0 three batches and rank 1 only two, in real processes.

    After its last step, rank 1 is busy for a while, and then its process ends. A rank
    waits for `time_limit` seconds. Returns one of `FATES`, and the error that says so.
    """
    try:
        steps = run_ranks(
            take_steps, 2, [3, 2], time_limit=time_limit, busy_seconds=busy_seconds
        )
    except RuntimeError as error:
        timed_out = "Timed out" in str(error)
        return FATES[2 if timed_out else 1], str(error)
    return FATES[0], str(steps)


def gradient_of(
    model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor, num_targets: int
) -> torch.Tensor:
    """Return the gradient of a sum of losses, divided by a number of targets."""
    logits, ids = model(inputs).flatten(0, 1), targets.flatten()
    model.zero_grad()
    (F.cross_entropy(logits, ids, reduction="sum") / num_targets).backward()
    return torch.cat([weight.grad.flatten() for weight in model.parameters()])


class GradientErrors(NamedTuple):
    """How far gradients are from the right one, as shares of its length.

    There is one number for each run.
    """

    one_sum: np.ndarray  #: each rank divides by the targets of all ranks
    mean_of_means: np.ndarray  #: each rank divides by its own targets


@checked
def compare_gradients(
    inputs: torch.Tensor,
    targets: torch.Tensor,
    vocab_size: Length,
    *,
    rows_in_a_step: Annotated[int, AtLeast(2)],
    seeds: Seeds,
) -> GradientErrors:
    """Share the rows of one step between two ranks, and join their gradients.

    Args:
        inputs, targets: shape (rows, T); a target of -100 is not scored. Each half of
            the rows of a step must have one to score.
        vocab_size: V.
        rows_in_a_step: how many rows are drawn; the first half is that of rank 0.
        seeds: for each run, what draws its rows, and the first weights of its model.
    """
    errors = []
    for seed in seeds:
        drawn = np.random.default_rng(seed).permutation(len(inputs))[:rows_in_a_step]
        torch.manual_seed(seed)
        model = ConvolutionModel(vocab_size, hidden_size=16)
        halves = np.array_split(drawn, 2)
        own = [int((targets[half] != IGNORED).sum()) for half in halves]
        right = gradient_of(model, inputs[drawn], targets[drawn], sum(own))
        one_sum, of_means = torch.zeros_like(right), torch.zeros_like(right)
        for half, num_targets in zip(halves, own, strict=True):
            of_rank = (model, inputs[half], targets[half])
            one_sum += gradient_of(*of_rank, sum(own))
            of_means += gradient_of(*of_rank, num_targets) / 2
        for joined in (one_sum, of_means):
            errors.append(float((joined - right).norm() / right.norm()))
    return GradientErrors(*np.reshape(errors, (len(seeds), 2)).T)


@checked
def kill_and_finish(
    command: Annotated[Sequence[str], Several("arguments")], checkpoint: FilePath
) -> tuple[int, dict]:
    """Kill a training command as soon as it has saved a checkpoint, and run it again.

    Returns the step at which the checkpoint was saved last, and what the second run
    printed: its JSON.
    """
    run = subprocess.Popen(command, stdout=subprocess.PIPE)
    while not Path(checkpoint).exists() and run.poll() is None:
        sleep(0.01)
    run.kill()
    run.communicate()
    begun = torch.load(checkpoint, weights_only=True)["steps"]
    again = subprocess.run(command, capture_output=True, check=True)
    return begun, json.loads(again.stdout)
