"""Lesson 05: what a stride costs and buys, in training, in evaluation, in a split.

Costs are counted from starts alone, so that every scheme of the earlier lessons fits
into the same table. Losses are measured with any function from ids to logits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch

from course_lib.foundation import (
    AtLeast,
    Count,
    Finite,
    Ids,
    Integers,
    Length,
    Seed,
    as_integers,
    check_callable,
    check_number,
    check_range,
    checked,
    one_thread,
    token_ledger,
)
from course_lib.next_token_shifting import as_predictable_stream, check_targets
from course_lib.sliding_windows import count_windows, gather_windows, window_starts

Model = Callable[[torch.Tensor], torch.Tensor]
"""Maps inputs (B, T) to logits (B, T, V). A module should be in evaluation mode."""

WINDOWS_AT_A_TIME = 256  # in an evaluation: a matter of speed, not of the result


# What an epoch costs


@dataclass(frozen=True)
class EpochCost:
    """What one epoch of windows costs and covers: a column of `cost_table`."""

    windows: int  #: number of starts
    steps: int  #: optimizer steps, one for each batch, including a short last batch
    #: inputs that go through the model, windows * T. There are as many predictions.
    tokens_processed: int
    #: tokens that are a target at least once. Others give this name to the number of
    #: windows, which counts repetitions.
    effective_size: int
    #: mean left context of a prediction, in tokens, or 0 if there are no predictions
    mean_context: float
    boundaries: int  #: different places where a window begins, and a context with it
    #: share of rows that begin where the same row of the previous batch ended
    continued: float


@checked
def epoch_cost(
    starts: Integers, num_tokens: Count, context_length: Length, batch_size: Length
) -> EpochCost:
    """Count what an epoch costs and covers, from its starts alone.

    Args:
        starts: integers in the order of the epoch, of shape (num_windows,), or
            (num_batches, B) as iterators yield them.
        num_tokens, context_length, batch_size: N, T and B. The last batch may be short.
    """
    starts = starts.astype(np.int64).ravel()
    ledger = token_ledger(starts, num_tokens, context_length)
    follows = starts[batch_size:] == starts[:-batch_size] + context_length
    return EpochCost(
        windows=starts.size,
        steps=math.ceil(starts.size / batch_size),
        tokens_processed=starts.size * context_length,
        effective_size=ledger.targets,
        mean_context=ledger.mean_context if starts.size else 0.0,
        boundaries=np.unique(starts).size,
        continued=float(follows.mean()) if follows.size else 0.0,
    )


@checked
def usual_strides(context_length: Length) -> list[int]:
    """Return 1, T/4, T/2, T, T + 1 and 2T, rounded down, each once, in order."""
    parts = {max(1, context_length // 4), max(1, context_length // 2)}
    return sorted({1, context_length, context_length + 1, 2 * context_length} | parts)


def stride_costs(
    num_tokens: int, context_length: int, batch_size: int
) -> dict[int, EpochCost]:
    """Count what one epoch of N tokens in order costs, for each of `usual_strides`."""
    costs = {}
    for stride in usual_strides(context_length):
        starts = window_starts(num_tokens, context_length, stride)
        costs[stride] = epoch_cost(starts, num_tokens, context_length, batch_size)
    return costs


@checked
def cost_table(costs: Mapping[object, EpochCost]) -> list[list[str]]:
    """Lay out costs in rows, one for each field of `EpochCost`: name, then cells."""
    table = []
    for field in EpochCost.__dataclass_fields__:
        values = [getattr(cost, field) for cost in costs.values()]
        cells = [f"{v:,.2f}" if isinstance(v, float) else f"{v:,}" for v in values]
        table.append([field.replace("_", " "), *cells])
    return table


# The loss of every prediction


@one_thread()  # for models this small, a second thread mostly waits
@torch.no_grad()
def prediction_losses(
    model: Model, inputs: torch.Tensor, targets: torch.Tensor
) -> np.ndarray:
    """Return -ln p(target) of every prediction, float64, shape (B, T)."""
    logits = check_callable("model", model)(inputs)
    targets = check_targets(logits, targets)
    check_range("targets", as_integers("targets", targets), logits.shape[-1])
    # float64 would cost as much as the model, and 16 bits have too few digits
    logits = logits.float() if logits.dtype.itemsize < 4 else logits
    log_probabilities = logits.log_softmax(dim=-1)
    return -log_probabilities.gather(-1, targets[..., None])[..., 0].double().numpy()


# Evaluation has a stride too


def scored_windows(
    num_tokens: Annotated[int, AtLeast(2)], context_length: Length, stride: Length
) -> list[tuple[int, int, int]]:
    """Plan a strided evaluation: which window scores which tokens.

    Windows begin at 0, S, 2S, ... The first one scores all of its targets. Each later
    one scores only those that no window before it has reached, which are its last S,
    and the ids before them are context. The last window may be shorter, and score
    fewer. So every token but the first is scored exactly once, by the earliest window
    that reaches it, which gives it the most context.

    Args:
        num_tokens, context_length: N, at least 2, and T, the largest number of inputs.
        stride: S, at most T, since a larger stride would leave tokens unscored.

    Returns (start, length, scored) for each window: its first input, its number of
    inputs, and how many of its targets, counted from its end, it scores.
    """
    num_tokens, context_length, stride = _check_plan(num_tokens, context_length, stride)
    windows, last_scored = [], 0
    for start in range(0, num_tokens - 1, stride):
        last = min(start + context_length, num_tokens - 1)
        windows.append((start, last - start, last - last_scored))
        last_scored = last
        if last == num_tokens - 1:
            break
    return windows


@checked
def _check_plan(
    num_tokens: Annotated[int, AtLeast(2)], context_length: Length, stride: Length
) -> tuple[int, int, int]:
    """Return N, T and S, if the windows of a plan leave nothing out between them."""
    if stride > context_length:
        raise ValueError(
            f"stride must be at most context_length = {context_length}, got {stride}: "
            "the tokens between two windows would go unscored"
        )
    return num_tokens, context_length, stride


@checked
def scored_rows(windows: Integers, num_tokens: Length) -> dict[str, list[tuple]]:
    """Name the windows of such a plan, for `plot_rows`, below the stream.

    Args:
        windows: (start, length, scored) of each, shape (num_windows, 3).
        num_tokens: N.
    """
    if windows.ndim != 2 or windows.shape[1] != 3:
        wanted = "(start, length, scored) of each window"
        raise ValueError(f"windows must be {wanted}, got shape {windows.shape}")
    rows: dict[str, list[tuple]] = {"stream": [], "": []}
    scored_tokens: set[int] = set()
    for start, length, scored in windows.tolist():
        first = start + length + 1 - scored
        scored_tokens |= set(range(first, first + scored))
        context = (start, first - start, "plain2")
        rows[f"start {start}"] = [context, (first, scored, "targets")]
    rows["stream"] = [
        (token, 1, "plain" if token in scored_tokens else "lost", token)
        for token in range(num_tokens)
    ]
    return rows


def strided_losses(
    model: Model, ids: Ids, context_length: int, stride: int
) -> np.ndarray:
    """Score every token but the first, once, with the most context this stride allows.

    S = T is the cheapest way, with windows end to end. S = 1 gives T tokens of context
    to every token that has as many before it, at T times the cost. The idea comes from
    the page on perplexity in the documentation of Hugging Face's transformers.

    Args:
        model: maps inputs (B, T) to logits (B, T, V).
        ids: the stream, at least 2 ids.
        context_length, stride: T, and S, at most T.

    Returns nats, float64, shape (N - 1,): entry p - 1 is -ln p(token p | context).
    """
    stream = as_predictable_stream(ids)
    losses = np.empty(len(stream) - 1)
    windows = np.array(scored_windows(len(stream), context_length, stride))
    # All windows but the first and the last look alike, so they make batches together.
    for length, scored in np.unique(windows[:, 1:], axis=0).tolist():
        alike = windows[(windows[:, 1:] == (length, scored)).all(axis=1), 0]
        for starts in _batches(alike):
            batch = gather_windows(stream, starts, length)
            tokens = starts[:, None] + length - np.arange(scored)[::-1]
            scores = prediction_losses(model, *batch)
            losses[tokens - 1] = scores[:, length - scored :]
    return losses


@dataclass(frozen=True)
class StridedEvaluation:
    """The mean loss at one evaluation stride, and what it cost."""

    stride: int  #: S
    nats_per_token: float  #: mean over all tokens but the first
    num_targets: int  #: N - 1
    mean_context: float  #: mean left context of a prediction, in tokens
    tokens_processed: int  #: inputs that went through the model

    @property
    def bits_per_token(self) -> float:
        """Bits per character, if tokens are characters."""
        return self.nats_per_token / math.log(2)


@checked
def strided_evaluation(
    model: Model, ids: Ids, context_length: Length, stride: Length
) -> StridedEvaluation:
    """Return the mean of `strided_losses`, same arguments, and its cost in tokens.

    No lesson calls it any more. It stays until 0.2, since notebooks of readers may.
    """
    losses = strided_losses(model, ids, context_length, stride)
    windows = scored_windows(len(losses) + 1, context_length, stride)
    # A window's last token has all inputs as context, the one before it one fewer, ...
    context = sum(
        scored * length - scored * (scored - 1) // 2 for _, length, scored in windows
    )
    processed = sum(length for _, length, _ in windows)
    return StridedEvaluation(
        stride, float(losses.mean()), len(losses), context / len(losses), processed
    )


# Training and validation


@checked
def split_stream(ids: Ids, validation_fraction: float) -> tuple[np.ndarray, np.ndarray]:
    """Cut the stream once, before there are windows: first training, then validation.

    The `validation_fraction` lies between 0 and 1, and the cut is rounded to the
    nearest token. Returns two arrays, which are read-only views of the stream. No token
    is in both, and no window can reach across. Raises ValueError if a part has fewer
    than 2 ids, which leaves nothing to predict.

    No lesson calls it any more. It stays until 0.2, since notebooks of readers may.
    """
    name = "validation_fraction"
    fraction = check_number(name, validation_fraction, above=0, maximum=1)
    rest = round(len(ids) * fraction)
    cut = len(ids) - rest
    if min(cut, rest) < 2:
        raise ValueError(
            f"ids must leave at least 2 tokens for each part, got {cut} and {rest}"
        )
    return ids[:cut], ids[cut:]


@checked
def hold_out_windows(
    starts: Integers,
    fraction: Annotated[float, Finite(above=0, maximum=1)],
    seed: Seed,
) -> tuple[np.ndarray, np.ndarray]:
    """Split *windows* at random, as one shouldn't: the starts kept, and those held out.

    The number held out is fraction * len(starts), rounded down.
    """
    shuffled = starts[np.random.default_rng(seed).permutation(len(starts))]
    held_out, kept = np.split(shuffled, [int(len(shuffled) * fraction)])
    return kept, held_out


@checked
def draw_batches(
    ids: Ids, starts: Integers, context_length: Length, batch_size: Length, seed: Seed
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yield batches of these windows without end, each drawn without repetition.

    A batch is inputs and targets, shape (B, T) each. Raises ValueError if there are
    fewer than B starts.
    """
    if batch_size > len(starts):
        raise ValueError(
            f"batch_size must be at most the {len(starts)} starts, got {batch_size}"
        )
    return _draw_batches(ids, starts, context_length, batch_size, seed)


@dataclass(frozen=True)
class SplitOverlap:
    """What validation windows share with training windows, in tokens of the stream."""

    validation_tokens: int  #: tokens that validation uses
    shared_tokens: int  #: those of them that training also uses
    validation_targets: int  #: tokens that validation scores
    shared_targets: int  #: those of them that are targets in training


def split_overlap(
    train_starts: object,
    validation_starts: object,
    num_tokens: int,
    context_length: int,
) -> SplitOverlap:
    """Measure a leak by comparing the ledgers of both sides, token by token.

    The starts are integers of any shape, counted in one stream of N tokens.
    """
    train = token_ledger(train_starts, num_tokens, context_length)
    validation = token_ledger(validation_starts, num_tokens, context_length)
    used = (validation.as_input + validation.as_target) > 0
    also_used = (train.as_input + train.as_target) > 0
    scored, also_scored = validation.as_target > 0, train.as_target > 0
    masks = (used, used & also_used, scored, scored & also_scored)
    return SplitOverlap(*(int(mask.sum()) for mask in masks))


# How long an epoch takes


@dataclass(frozen=True)
class EpochPlan:
    """The size of one epoch, and its time at a given throughput."""

    windows: int
    steps: int
    tokens_processed: int
    seconds: float


@checked
def plan_epoch(
    num_tokens: Count,
    context_length: Length,
    stride: Length,
    batch_size: Length,
    tokens_per_second: Annotated[float, Finite(above=0)],
) -> EpochPlan:
    """Answer "how long is an epoch?" before it begins.

    No lesson calls it any more. It stays until 0.2, since notebooks of readers may.

    Args:
        num_tokens, context_length, stride, batch_size: N, T, S and B.
        tokens_per_second: inputs that the machine trains on in a second, as measured.
    """
    windows = count_windows(num_tokens, context_length, stride)
    tokens = windows * context_length
    return EpochPlan(
        windows, -(-windows // batch_size), tokens, tokens / tokens_per_second
    )


def _draw_batches(
    ids: np.ndarray, starts: np.ndarray, context_length: int, batch_size: int, seed: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    generator = np.random.default_rng(seed)
    while True:
        batch = generator.choice(starts, batch_size, replace=False)
        yield gather_windows(ids, batch, context_length)


def _batches(starts: np.ndarray) -> Iterator[np.ndarray]:
    places = range(0, len(starts), WINDOWS_AT_A_TIME)
    return (starts[i : i + WINDOWS_AT_A_TIME] for i in places)
