"""Lesson 01: inputs, targets, and the loss between them.

The contract of the whole course: a batch is two int64 tensors of shape (B, T), and
`targets[b, t]` is the token that comes right after `inputs[b, t]` in the stream.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Annotated, TypeVar

import numpy as np
import torch
import torch.nn.functional as F

from course_lib.foundation import (
    AtLeast,
    Count,
    Finite,
    Ids,
    Length,
    as_ids,
    as_integers,
    as_numbers,
    check_batch,
    check_callable,
    check_range,
    checked,
)

Window = TypeVar("Window", np.ndarray, torch.Tensor)
Model = Callable[[torch.Tensor], torch.Tensor]
Leak = tuple[int, int]  # the input that was changed, and the earlier one that noticed

Int64 = Annotated[int, AtLeast(-(2**63) + 1, 2**63 - 1)]  # what fits into a tensor
LARGEST_TABLE = 10_000  # ids, for which a table V x V takes 800 MB
# A move that is this small, next to how far a usual id moves, may be rounding: in a
# mixture of experts, another token changes how earlier ones are grouped and added up.
LEAK_TOLERANCE = 5e-6


def as_window(name: str, window: object) -> np.ndarray | torch.Tensor:
    """Return integers, at least 2 in the last dimension; a list becomes a tensor."""
    array = as_integers(name, window)
    if array.ndim == 0 or array.shape[-1] < 2:
        raise ValueError(
            f"{name} must have at least 2 ids in its last dimension, got shape "
            f"{array.shape}"
        )
    if isinstance(window, np.ndarray | torch.Tensor):
        return window
    return torch.from_numpy(array.astype(np.int64))


@checked
def shift_by_one(window: Annotated[Window, as_window]) -> tuple[Window, Window]:
    """Split windows of T + 1 ids into T inputs and T targets.

    Args:
        window: integers, shape (..., T + 1), T at least 1. A list becomes a tensor.

    Returns inputs and targets, shape (..., T) each: `targets[..., t]` is the id at t +
    1 of the window. Both are views of `window`, so writing into one may change the
    other. Work on a copy, `targets.clone()`, if you want to write.
    """
    return window[..., :-1], window[..., 1:]


def context_target_pairs(ids: Ids) -> Iterator[tuple[np.ndarray, int]]:
    """List the N - 1 predictions that N ids ask for: a context, and the id after it.

    Returns an iterator over pairs, one for each t = 1 ... N - 1: the ids before
    position t, shape (t,), as a read-only view, and the id at t.
    """
    stream = as_predictable_stream(ids)
    return ((stream[:t], int(stream[t])) for t in range(1, len(stream)))


def as_predictable_stream(ids: Ids, name: str = "ids") -> np.ndarray:
    """View `ids` as a stream, shape (N,), in which there is something to predict."""
    stream = as_ids(name, ids)
    if len(stream) < 2:
        needed = "at least 2 tokens, a context and its target"
        raise ValueError(f"{name} must hold {needed}, got {len(stream)}")
    return stream


def next_token_loss(
    logits: torch.Tensor, targets: torch.Tensor, ignore_index: Int64 = -100
) -> torch.Tensor:
    """Mean cross-entropy of the next token, in nats per scored token.

    Args:
        logits: scores for every id of the vocabulary, floating point, shape (..., V).
        targets: the ids that came, integers, shape (...).
        ignore_index: targets with this value are neither scored nor counted.

    Returns a scalar tensor that you can call `.backward()` on. Raises ValueError if no
    target is left to score, because the mean of none would be NaN, which poisons every
    average that it enters.
    """
    targets, ignore_index = _check_scored(logits, targets, ignore_index)
    rows = logits.reshape(-1, logits.shape[-1])
    if rows.dtype.itemsize < 4:  # in bfloat16, a loss of 12 moves in steps of 1/16
        rows = rows.float()
    return F.cross_entropy(rows, targets.reshape(-1), ignore_index=ignore_index)


@checked
def _check_scored(
    logits: torch.Tensor, targets: torch.Tensor, ignore_index: Int64
) -> tuple[torch.Tensor, int]:
    """Return targets as int64, if there is one to score and all of these are ids, and
    the id that isn't scored."""
    targets = check_targets(logits, targets)
    scored = targets[targets != ignore_index]
    if scored.numel() == 0:
        raise ValueError(
            f"targets hold no token to score: all {targets.numel()} are {ignore_index}"
        )
    check_range("targets", as_integers("targets", scored), logits.shape[-1])
    return targets, ignore_index


def smooth_losses(losses: object) -> tuple[np.ndarray, np.ndarray]:
    """Average neighboring losses, for a curve: 50 to 100 points of a long run.

    Args:
        losses: of every step, shape (steps,) or (runs, steps).

    Returns steps, shape (points,), and means, shape (points,) or (runs, points). The
    first point is the first loss itself, at step 0, because a mean would hide where a
    run starts. Losses at the end that are too few for a mean are left out.
    """
    losses = as_numbers("losses", losses)
    if losses.ndim not in (1, 2) or not losses.size:
        wanted = "shape (steps,) or (runs, steps)"
        raise ValueError(f"losses must have {wanted}, got {losses.shape}")
    width = max(1, losses.shape[-1] // 50)
    count = losses.shape[-1] // width
    whole = losses[..., : count * width].reshape(*losses.shape[:-1], count, width)
    steps = np.append(0, np.arange(count) * width + width / 2)
    return steps, np.concatenate([losses[..., :1], whole.mean(axis=-1)], axis=-1)


def check_targets(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return targets as int64, if they are integers, one for each row of logits.

    The caller decides whether they are ids, or mark places that may not be scored.
    """
    for name, value in (("logits", logits), ("targets", targets)):
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(value).__name__}")
    if not logits.is_floating_point():
        raise TypeError(f"logits must be floating point, got {logits.dtype}")
    as_integers("targets", targets)
    if logits.shape[:-1] != targets.shape or logits.ndim == 0:
        raise ValueError(
            f"logits must have the shape of targets and one more dimension, (..., V); "
            f"got logits {tuple(logits.shape)} for targets {tuple(targets.shape)}"
        )
    return targets.long()  # in uint8, -100 would become 156


@checked
def bits_per_byte(
    nats_per_token: Annotated[float, Finite(minimum=0)],
    num_tokens: Length,
    num_bytes: Length,
) -> float:
    """Turn nats per token into bits per byte, a unit that no tokenizer can change.

    Args:
        nats_per_token: mean loss over `num_tokens` predictions, at least 0.
        num_tokens: how many tokens were predicted.
        num_bytes: length of the text that these tokens spell, in UTF-8 bytes.
    """
    return nats_per_token / math.log(2) * num_tokens / num_bytes


@torch.no_grad()
def find_leak(model: Model, inputs: torch.Tensor, vocab_size: int) -> Leak | None:
    """Change one input at a time, and see whether an *earlier* prediction moves.

    Args:
        model: maps inputs (B, T) to logits (B, T, V), or to an output with `logits`, as
            a model of `transformers` does. Put a module into evaluation mode first,
            because dropout also moves predictions. Parameters of a module that are all
            zero would hide what they multiply, as a head that begins at zero does, so
            they are drawn anew in a copy. Behind a function, they can't be seen.
        inputs: ids to try the model on, shape (B, T), B at least 1 and T at least 2.
        vocab_size: V, at least 2.

    Returns None if no earlier prediction moved by more than rounding does. Otherwise
    `(changed, moved)`: the logits at position `moved` react to the input at the later
    position `changed`. Raises ValueError if the model returns logits of another shape,
    or NaN, or if no prediction depends on any input, because then nothing can be seen.
    A logit may be infinite.
    """
    model = _without_zeros(model)
    before = _logits(model, inputs, vocab_size)
    # The first prediction that each change has moved, and how far a usual id moves.
    earliest, largest = [], 0.0
    for changed in range(inputs.shape[1]):
        altered = inputs.long().clone()  # ids of 8 bits might not have room for + 1
        altered[:, changed] = (altered[:, changed] + 1) % vocab_size
        after = _logits(model, altered, vocab_size)
        moved, largest = _first_moved(before, after, largest)
        if moved < changed:
            return changed, moved
        earliest.append(moved)
    _check_depends(earliest)
    return None


def _first_moved(
    before: torch.Tensor, after: torch.Tensor, largest: float
) -> tuple[int | float, float]:
    """Return the first position at which logits differ by more than rounding, infinity
    if there is none, and the largest move of a usual id so far."""
    # Equal infinities have not moved, though their difference is NaN.
    moves = (after - before).abs().masked_fill(after == before, 0).amax(dim=0)
    # The median id, because a model may hide an id with a huge number of its own.
    of_ids = moves.amax(dim=0)
    largest = max(largest, of_ids.masked_fill(of_ids.isinf(), 0).median().item())
    moved = (moves.amax(dim=1) > LEAK_TOLERANCE * largest).nonzero()
    return int(moved[0]) if len(moved) else math.inf, largest


def _check_depends(earliest: list[int | float]) -> None:
    """Refuse a model in which no change of an input has moved a prediction."""
    if min(earliest) == math.inf:
        raise ValueError(
            "model must depend on its inputs, but no change of one moved a prediction: "
            "do its parameters begin at zero? Draw them anew first"
        )


def _without_zeros(model: Model) -> Model:
    """Return a module, or a copy whose parameters are drawn anew where all are zero."""
    check_callable("model", model)
    if not isinstance(model, torch.nn.Module):
        return model
    is_zero = [bool(each.numel()) and not each.any() for each in model.parameters()]
    if not any(is_zero):
        return model
    model = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(0)
    for each, zero in zip(model.parameters(), is_zero, strict=True):
        if zero:
            width = each.shape[-1] if each.ndim else 1
            each.copy_(torch.randn(each.shape, generator=generator) / width**0.5)
    return model


@checked
def _logits(
    model: Model, inputs: torch.Tensor, vocab_size: Annotated[int, AtLeast(2)]
) -> torch.Tensor:
    """Return a model's logits for a batch, if both are what they must be."""
    inputs = check_batch(inputs, vocab_size)
    if inputs.shape[0] < 1 or inputs.shape[1] < 2:
        raise ValueError(
            "inputs must have shape (B, T) with B at least 1 and T at least 2, got "
            f"{tuple(inputs.shape)}"
        )
    # a copy, because the model may keep its inputs, or write into them
    output = model(inputs.clone())
    logits = getattr(output, "logits", output)
    if not isinstance(logits, torch.Tensor):
        raise TypeError(f"model must return a tensor, got {type(logits).__name__}")
    if logits.shape != (*inputs.shape, vocab_size):
        raise ValueError(
            f"model must return logits {(*inputs.shape, vocab_size)} for inputs "
            f"{tuple(inputs.shape)}, got {tuple(logits.shape)}"
        )
    # NaN equals nothing, not even itself, so no comparison could clear the model.
    if logits.isnan().any():
        position = int(logits.isnan().any(dim=2).any(dim=0).nonzero()[0])
        raise ValueError(f"model must return no NaN, got one at position {position}")
    return logits.clone()  # the model may use this memory again


# What no model that sees one token can beat


@checked
def count_followers(
    ids: Ids,
    vocab_size: Annotated[int, AtLeast(1, LARGEST_TABLE)],
    distance: Count = 1,
) -> np.ndarray:
    """Count how often id j comes `distance` tokens after id i, int64, shape (V, V).

    Args:
        ids: the stream, N integers in 0 ... V - 1, more than `distance`.
        vocab_size: V, at most 10,000, because the table has V squared entries.
        distance: 1 for neighbors, 0 for each token with itself.
    """
    if len(ids) <= distance:
        raise ValueError(
            f"ids must hold more than {distance} tokens for a pair, got {len(ids)}"
        )
    ids = check_range("ids", ids, vocab_size).astype(np.int64)
    first, second = ids[: len(ids) - distance], ids[distance:]
    counts = np.bincount(first * vocab_size + second, minlength=vocab_size**2)
    return counts.reshape(vocab_size, vocab_size)


def conditional_entropy(counts: np.ndarray) -> float:
    """Return H(second | first), nats per pair: the floor of every bigram model's loss.

    No model that sees only the first of two tokens can have a smaller mean loss on the
    text with these counts, shape (V, V), as from `count_followers`.
    """
    counts = _check_counts(counts)
    total = counts.sum()
    if total == 0:
        raise ValueError("counts must hold at least one pair")
    rows = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
    seen = counts > 0
    return float((counts[seen] * np.log(rows[seen] / counts[seen])).sum() / total)


def _check_counts(counts: object) -> np.ndarray:
    """Return a table of counts as float64, or say what is wrong with it."""
    table = as_numbers("counts", counts)  # in float64, their sums cannot overflow
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:
        raise ValueError(f"counts must be a table (V, V), got shape {table.shape}")
    if not (table.min() >= 0 and table.max() <= 2**63):  # written so that NaN fails
        raise ValueError(
            f"counts must lie in 0 ... 2**63, got {table.min()} ... {table.max()}"
        )
    return table
