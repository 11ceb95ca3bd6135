"""Lesson 01: inputs, targets, and the loss between them.

The contract of the whole course: a batch is two int64 tensors of shape (B, T), and
`targets[b, t]` is the token that stands right after `inputs[b, t]` in the stream.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import torch
import torch.nn.functional as F

from course_lib.foundation import Ids, as_integers, as_stream, check_integer

Window = TypeVar("Window", np.ndarray, torch.Tensor)


def shift_by_one(window: Window) -> tuple[Window, Window]:
    """Split windows of T + 1 ids into T inputs and T targets.

    Args:
        window: integers, shape (..., T + 1), T at least 1. A list becomes a tensor.

    Returns:
        inputs and targets, shape (..., T) each, with `targets[..., t] == window[..., t
        + 1]`.
        Both are views: they share the memory of `window`.

    Raises:
        TypeError: `window` does not hold integers.
        ValueError: it has fewer than 2 ids, so there is nothing to predict.
    """
    array = as_integers("window", window)
    if array.ndim == 0 or array.shape[-1] < 2:
        raise ValueError(
            "window must have at least 2 ids in its last dimension, got shape "
            f"{array.shape}"
        )
    if not isinstance(window, np.ndarray | torch.Tensor):
        window = torch.from_numpy(array.astype(np.int64))
    return window[..., :-1], window[..., 1:]


def context_target_pairs(ids: Ids) -> Iterator[tuple[np.ndarray, int]]:
    """List the predictions that N ids ask for: all ids before position t, and the id at
    t, for t = 1 ... N-1.

    Returns:
        an iterator over N - 1 pairs of a context, shape (t,), and its target.

    Raises:
        TypeError, ValueError: `ids` are not a stream of integers, or fewer than 2.
    """
    stream = as_stream(ids)
    if len(stream) < 2:
        raise ValueError(
            "ids must hold at least 2 tokens, a context and its target, got "
            f"{len(stream)}"
        )
    return ((stream[:t], int(stream[t])) for t in range(1, len(stream)))


def next_token_loss(
    logits: torch.Tensor, targets: torch.Tensor, ignore_index: int = -100
) -> torch.Tensor:
    """Mean cross-entropy of the next token, in nats per scored token.

    Args:
        logits: scores for every id of the vocabulary, floating point, shape (..., V).
        targets: the ids that came, integers, shape (...).
        ignore_index: targets with this value are not scored, and not counted in the
            mean.

    Returns:
        a scalar tensor to call `.backward()` on.

    Raises:
        TypeError: the logits are not a floating point tensor, or the targets not one of
            integers.
        ValueError: the shapes do not fit, a target is no id of the vocabulary, or none
            is left to score (their mean would be NaN, and would spoil every parameter
            it reaches).
    """
    for name, value in (("logits", logits), ("targets", targets)):
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(value).__name__}")
    if not logits.is_floating_point():
        raise TypeError(f"logits must be floating point, got {logits.dtype}")
    if targets.is_floating_point() or targets.dtype == torch.bool:
        raise TypeError(f"targets must be integers, got {targets.dtype}")
    if logits.shape[:-1] != targets.shape or logits.ndim == 0:
        raise ValueError(
            f"logits must have the shape of targets and one more dimension, (..., V); "
            f"got logits {tuple(logits.shape)} for targets {tuple(targets.shape)}"
        )
    targets = targets.long()  # first of all: uint8 would compare -100 as 156
    scored = targets[targets != ignore_index]
    if scored.numel() == 0:
        raise ValueError(
            f"targets hold no token to score: all {targets.numel()} are {ignore_index}"
        )
    vocab_size = logits.shape[-1]
    if scored.min() < 0 or scored.max() >= vocab_size:
        raise ValueError(
            f"targets must lie in 0 ... {vocab_size - 1}, got {int(scored.min())} ... "
            f"{int(scored.max())}"
        )
    return F.cross_entropy(
        logits.reshape(-1, vocab_size), targets.reshape(-1), ignore_index=ignore_index
    )


def bits_per_byte(nats_per_token: float, num_tokens: int, num_bytes: int) -> float:
    """Turn a loss in nats per token into bits per UTF-8 byte, the unit that does not
    depend on the tokenizer.

    Args:
        nats_per_token: mean loss over `num_tokens` predictions.
        num_tokens: how many tokens were predicted.
        num_bytes: length of the text that these tokens spell, in UTF-8 bytes.
    """
    num_tokens = check_integer("num_tokens", num_tokens, minimum=1)
    num_bytes = check_integer("num_bytes", num_bytes, minimum=1)
    return nats_per_token / math.log(2) * num_tokens / num_bytes


@torch.no_grad()
def find_leak(
    model: Callable[[torch.Tensor], torch.Tensor], inputs: torch.Tensor, vocab_size: int
) -> tuple[int, int] | None:
    """Catch a model that peeks: change one input, and look whether an *earlier*
    prediction moves.

    Args:
        model: maps inputs (B, T) to logits (B, T, V); a module should be in evaluation
            mode.
        inputs: ids to try it on, shape (B, T).
        vocab_size: V, at least 2.

    Returns:
        None if every prediction depends on its own past alone; else `(changed, moved)`:
        the logits at position `moved` react to the input at the later position
        `changed`.
    """
    vocab_size = check_integer("vocab_size", vocab_size, minimum=2)
    if inputs.ndim != 2 or inputs.shape[1] < 2:
        raise ValueError(
            "inputs must have shape (B, T) with T at least 2, got "
            f"{tuple(inputs.shape)}"
        )
    honest = model(inputs)
    for changed in range(1, inputs.shape[1]):
        altered = inputs.clone()
        altered[:, changed] = (altered[:, changed] + 1) % vocab_size
        difference = (model(altered) - honest).abs().amax(dim=(0, 2))[:changed]
        if bool((difference > 1e-6).any()):
            return changed, int((difference > 1e-6).nonzero()[0])
    return None
