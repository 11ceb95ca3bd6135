"""Small language models, each a map from ids (B, T) to logits (B, T, V).

They train in seconds on a CPU. Beside them stands what training and evaluation
need from PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import LinearLR

from course_lib.foundation.arguments import Finite, Length, checked
from course_lib.foundation.checks import (
    as_integers,
    check_integer,
    check_range,
)

LARGEST_TABLE = 10_000  # ids, for which a V x V table takes 400 MB, or 800


@contextmanager
def one_thread() -> Iterator[None]:
    """Make PyTorch use one thread inside a `with`, or in a function decorated with it:
    with models so small, a second thread would spend most of its time waiting."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def check_model(model: object) -> nn.Module:
    """Return `model` if it is a model, and not, for example, the class of one."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    return model


@checked
def check_batch(
    inputs: object, vocab_size: Length, *, any_shape: bool = False
) -> torch.Tensor:
    """Return ids that a model can read, int64, shape (B, T), or of `any_shape`."""
    if not isinstance(inputs, torch.Tensor):
        raise TypeError(
            f"inputs must be a tensor of ids, got {type(inputs).__name__}: try "
            "torch.tensor(inputs)"
        )
    if inputs.ndim != 2 and not any_shape:
        raise ValueError(f"inputs must have shape (B, T), got {tuple(inputs.shape)}")
    check_range("inputs", as_integers("inputs", inputs), vocab_size)
    return inputs.long()


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode inside a `with`, then restore each part's mode.

    `model.train()` would not, if a part had been in evaluation mode on its own.
    """
    modes = [(module, module.training) for module in check_model(model).modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


@checked
def adam_with_linear_decay(
    model: nn.Module,
    learning_rate: Annotated[float, Finite(above=0)],
    num_updates: Length,
) -> tuple[torch.optim.Adam, LinearLR]:
    """Make Adam for all weights of a model, and a schedule that lowers its rate.

    A training loop calls `step()` on both, first on the optimizer. The rate falls
    linearly from `learning_rate` to near zero, where it stays after `num_updates`.
    """
    if not any(weight.requires_grad for weight in check_model(model).parameters()):
        raise ValueError("model must have at least one weight to train, got none")
    # fused: all weights in one call, which is the fastest way for models so small
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
    return optimizer, LinearLR(optimizer, 1.0, 1 / num_updates, total_iters=num_updates)


def learn(
    loss: torch.Tensor,
    optimizer: torch.optim.Optimizer,
    schedule: LinearLR,
    step: int,
) -> float:
    """Move the weights against the gradient of a loss, and return the loss.

    This is the one step of every loop in one process. Ranks have `step_on_rank`.

    One that is not finite is a ValueError with the number of the step, because no step
    after it could mend the weights.
    """
    value = loss.item()
    if not math.isfinite(value):
        what = f"the loss became {value} in step {step}"
        raise ValueError(f"{what}: try a smaller learning_rate")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    return value


class BigramModel(nn.Module):
    """Predict the next token from the current one alone, by a V x V table of logits.

    All logits are zero at the start, which is the uniform distribution, so the first
    loss is ln V. Time and memory grow with the square of V, which is 10,000 at most.
    """

    def __init__(self, vocab_size: int):
        super().__init__()
        vocab_size = _check_size("vocab_size", vocab_size, LARGEST_TABLE)
        self.table = nn.Parameter(torch.zeros(vocab_size, vocab_size))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        inputs = check_batch(inputs, len(self.table), any_shape=True)
        return F.embedding(inputs, self.table)


class ConvolutionModel(nn.Module):
    """Predict by one convolution over `kernel_size` tokens; `causal=False` peeks.

    The usual convolution for images is centered on its position, so it sees the next
    token, which is the answer. The causal convolution is the same one, but shifted,
    because all padding goes to the left.

    Args:
        vocab_size, hidden_size: V, and the width of embedding and hidden layer.
        kernel_size: how many tokens are seen at once, an odd number.
        causal: see only tokens up to the current one.
    """

    @checked
    def __init__(
        self,
        vocab_size: int,
        hidden_size: int = 32,
        kernel_size: int = 3,
        *,
        causal: bool = True,
    ):
        super().__init__()
        vocab_size, hidden_size = _check_sizes(vocab_size, hidden_size)
        kernel_size = _check_size("kernel_size", kernel_size, 999)
        if kernel_size % 2 == 0:
            raise ValueError(
                f"kernel_size must be odd, so it can be centered, got {kernel_size}"
            )
        left = kernel_size - 1 if causal else kernel_size // 2
        self.padding = (left, kernel_size - 1 - left)
        self.embedding = nn.Embedding(vocab_size, hidden_size)
        self.convolution = nn.Conv1d(hidden_size, hidden_size, kernel_size)
        self.output = nn.Linear(hidden_size, vocab_size)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        inputs = check_batch(inputs, self.embedding.num_embeddings)
        embedded = F.pad(self.embedding(inputs).transpose(1, 2), self.padding)
        return self.output(F.relu(self.convolution(embedded)).transpose(1, 2))


class GRUModel(nn.Module):
    """Read a window from left to right, with a state that can be carried to the next.
    The `hidden_size` is the width H of embedding and state."""

    def __init__(self, vocab_size: int, hidden_size: int = 64):
        super().__init__()
        vocab_size, hidden_size = _check_sizes(vocab_size, hidden_size)
        self.embedding = nn.Embedding(vocab_size, hidden_size)
        self.recurrence = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.output = nn.Linear(hidden_size, vocab_size)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Read every window from an empty state."""
        return self.read_on(inputs, None)[0]

    def read_on(
        self, inputs: torch.Tensor, state: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Read windows from a state (1, B, H) or None, and return logits and state."""
        inputs = check_batch(inputs, self.embedding.num_embeddings)
        hidden, state = self.recurrence(self.embedding(inputs), state)
        return self.output(hidden), state


class AttentionModel(nn.Module):
    """Read a row by attention: each token looks at the ones before it that it may see.

    It is a usual transformer, but small. You can say for every row which tokens each
    token sees, and which position each token has, so it can also read packed documents.

    Args:
        vocab_size: V.
        hidden_size: width H of embedding and layers, a multiple of `num_heads`.
        num_heads: parts of the width that attend separately. H / `num_heads` is even.
        num_layers: the number of layers.
        positions: with "learned", a vector for each position is added to the embedding.
            With "rotary", keys and queries are rotated by angles that grow with the
            position, so that only the distance between two tokens counts.
        max_length: the longest row, if positions are learned.
    """

    @checked
    def __init__(
        self,
        vocab_size: int,
        hidden_size: int = 32,
        *,
        num_heads: Length = 1,
        num_layers: int = 1,
        positions: Literal["learned", "rotary"] = "learned",
        max_length: Length = 1024,
    ):
        super().__init__()
        vocab_size, hidden_size = _check_sizes(vocab_size, hidden_size)
        num_layers = _check_size("num_layers", num_layers, 999)
        max_length = _check_size("max_length", max_length, 2**20)
        if hidden_size % (2 * num_heads):
            raise ValueError(
                f"hidden_size must be a multiple of twice num_heads {num_heads}, got "
                f"{hidden_size}"
            )
        self.embedding = nn.Embedding(vocab_size, hidden_size)
        rotary = positions == "rotary"
        self.places = None if rotary else nn.Embedding(max_length, hidden_size)
        self.layers = nn.ModuleList(
            _AttentionLayer(hidden_size, num_heads, rotary) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(hidden_size)
        self.output = nn.Linear(hidden_size, vocab_size)

    def forward(
        self,
        inputs: torch.Tensor,
        position_ids: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Predict what follows each token.

        Args:
            inputs: ids, int64, shape (B, T).
            position_ids: of each token, int64, shape (T,) or (B, T), by default 0 ... T
                - 1.
            mask: bool, shape (T, T) or (B, T, T). Token q may look at token k where
                `mask[..., q, k]` is True, by default at all tokens that are not later.
        """
        inputs = check_batch(inputs, self.embedding.num_embeddings)
        length = inputs.shape[1]
        if position_ids is None:
            position_ids = torch.arange(length)
        if self.places is not None:
            places = as_integers("position_ids", position_ids)
            check_range("position_ids", places, self.places.num_embeddings)
        if mask is None:
            mask = torch.ones(length, length, dtype=torch.bool).tril()
        mask = mask.unsqueeze(-3)  # for all heads
        hidden = self.embedding(inputs)
        if self.places is not None:
            hidden = hidden + self.places(position_ids)
        for layer in self.layers:
            hidden = layer(hidden, position_ids, mask)
        return self.output(self.norm(hidden))


class _AttentionLayer(nn.Module):
    """Attend to other tokens, then compute on the result."""

    def __init__(self, hidden_size: int, num_heads: int, rotary: bool):
        super().__init__()
        self.num_heads, self.rotary = num_heads, rotary
        self.norms = nn.ModuleList(nn.LayerNorm(hidden_size) for _ in range(2))
        self.qkv = nn.Linear(hidden_size, 3 * hidden_size, bias=False)
        self.attend = nn.Linear(hidden_size, hidden_size, bias=False)
        self.mlp = nn.Sequential(
            nn.Linear(hidden_size, 4 * hidden_size),
            nn.GELU(),
            nn.Linear(4 * hidden_size, hidden_size),
        )

    def forward(
        self, hidden: torch.Tensor, position_ids: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        size, length, width = hidden.shape
        qkv = self.qkv(self.norms[0](hidden))
        qkv = qkv.view(size, length, 3, self.num_heads, width // self.num_heads)
        queries, keys, values = qkv.permute(2, 0, 3, 1, 4)
        if self.rotary:
            queries, keys = _turn(queries, position_ids), _turn(keys, position_ids)
        seen = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        seen = seen.transpose(1, 2).reshape(size, length, width)
        hidden = hidden + self.attend(seen)
        return hidden + self.mlp(self.norms[1](hidden))


def _turn(vectors: torch.Tensor, position_ids: torch.Tensor) -> torch.Tensor:
    """Rotate each pair of entries, (B, heads, T, width), by its speed times place."""
    half = vectors.shape[-1] // 2
    speeds = 10_000.0 ** (-torch.arange(half) / half)
    angles = position_ids.unsqueeze(-2).unsqueeze(-1) * speeds
    first, second = vectors[..., :half], vectors[..., half:]
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def _check_sizes(vocab_size: object, hidden_size: object) -> tuple[int, int]:
    vocab_size = _check_size("vocab_size", vocab_size, 2**20)
    return vocab_size, _check_size("hidden_size", hidden_size, 2**14)


def _check_size(name: str, size: object, largest: int) -> int:
    return check_integer(name, size, minimum=1, maximum=largest)
