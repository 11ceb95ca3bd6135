"""Lesson 04: read the stream as parallel tracks, so that batches continue each other.

The stream is folded into B rows of equal length. Batch k takes the next T columns of
every row, so row i of batch k + 1 goes on where row i of batch k ended, and a recurrent
model may carry its state over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from torch import nn

from course_lib.foundation import (
    AnyStream,
    AtLeast,
    Count,
    Finite,
    Ids,
    Integers,
    Length,
    adam_with_linear_decay,
    check_callable,
    check_range,
    checked,
    evaluation_mode,
    learn,
    named_elsewhere,
    one_thread,
    progress_bar,
    smallest_dtype,
)
from course_lib.next_token_shifting import as_predictable_stream, next_token_loss
from course_lib.random_sampling import check_leaves_a_batch, draw_offset
from course_lib.sliding_windows import gather_windows, window_starts

# Rows and starts


@checked
def row_length(num_tokens: Count, batch_size: Length, offset: Count) -> int:
    """Return how many inputs each of the B rows has: (N - offset - 1) // B, at least 0.

    The - 1 keeps one id for the last target of the last row. The offset says how many
    ids are skipped at the beginning.
    """
    return max(0, (num_tokens - offset - 1) // batch_size)


@checked
def partition_starts(
    num_tokens: Count, batch_size: Length, num_steps: Length, offset: Count
) -> np.ndarray:
    """Return the starts of a partition at an offset, int64, shape (num_batches, B).

    `starts[k, i]` is offset + i * row_length + k * T. Inputs after the last full T of a
    row are left over, so rows shorter than T give no batch at all.

    Args:
        num_tokens, batch_size, num_steps: N, B, the number of rows, and T.
        offset: ids skipped at the beginning.
    """
    length = row_length(num_tokens, batch_size, offset)
    batch_size, offset = int(batch_size), int(offset)
    num_batches = length // num_steps
    if num_batches == 0:  # B may be anything then: make no row of it
        return np.empty((0, batch_size), dtype=np.int64)
    rows = offset + np.arange(batch_size) * length
    columns = np.arange(num_batches) * num_steps
    return columns[:, None] + rows


@checked
def track_rows(
    starts: Integers, num_steps: Length, row_length: Length
) -> dict[str, list[tuple]]:
    """Name the rows of a partition, for `plot_rows`: a box for each of their ids.

    Args:
        starts: of the batches, shape (num_batches, B).
        num_steps, row_length: T, and the inputs of a row.
    """
    if starts.ndim != 2 or not starts.size:
        wanted = "shape (num_batches, B)"
        raise ValueError(f"starts must have {wanted}, got {starts.shape}")
    used = len(starts) * num_steps
    if used > row_length:
        got = f"{len(starts)} batches of {num_steps} steps"
        raise ValueError(f"starts must fit into rows of {row_length}, got {got}")
    kinds = [("inputs", "inputs2")[c // num_steps % 2] for c in range(used)]
    kinds += ["lost"] * (row_length - used)
    batches = [
        (number * num_steps, num_steps, "plain", f"batch {number}")
        for number in range(len(starts))
    ]
    return {"": batches} | {
        f"row {row}": [(c, 1, kinds[c], first + c) for c in range(row_length)]
        for row, first in enumerate(starts[0].tolist())
    }


@checked
def sequential_starts(
    num_tokens: Count,
    batch_size: Length,
    num_steps: Length,
    *,
    generator: torch.Generator | None = None,
) -> np.ndarray:
    """Return the starts of one epoch, in order, at a random offset.

    The offset is uniform on 0 ... T, both ends included. The rows cannot overrun the
    stream, because they are cut from what *follows* the offset. With a single row, an
    offset of T makes the same cuts as an offset of 0, except for the first.

    Args:
        num_tokens, batch_size, num_steps: N, B and T.
        generator: where the randomness comes from; by default PyTorch's global
            generator.

    Returns int64, shape (num_batches, B); no batch at all if the rows after this offset
    are shorter than T.
    """
    offset = draw_offset(num_steps + 1, generator=generator)
    return partition_starts(num_tokens, batch_size, num_steps, offset)


@named_elsewhere
def seq_data_iter_sequential(
    corpus: AnyStream,
    batch_size: Length,
    num_steps: Length,
    *,
    generator: torch.Generator | None = None,
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Iterate over one epoch of B parallel tracks, T ids of each at a time.

    The scheme and its name follow Zhang, Lipton, Li and Smola, "Dive into Deep
    Learning", edition 0.17, section 8.3; editions from 1.0 on leave it out.

    Args:
        corpus: the stream, N ids; a list is converted once.
        batch_size, num_steps: B and T.
        generator: where the randomness comes from; by default PyTorch's global
            generator.

    Returns an iterator over (X, Y), torch.int64, shape (B, T) each, with Y[b, t] the id
    right after X[b, t]. Row i of one batch goes on in row i of the next; row i does not
    go on in row i + 1 of the same batch. Raises ValueError if the stream is too short
    to promise a batch at every offset: that takes (B + 1) * T + 1 ids.
    """
    corpus = check_leaves_a_batch(corpus, batch_size, num_steps, more_offsets=1)
    starts = sequential_starts(len(corpus), batch_size, num_steps, generator=generator)
    return (gather_windows(corpus, batch, num_steps) for batch in starts)


@checked
def row_remainders(
    num_tokens: Count, batch_size: Length, num_steps: Length, offset: Count
) -> np.ndarray:
    """Return the *targets* after the last full T of each row: positions for the ledger.

    Takes the arguments of `partition_starts`. Returns int64, shape (B * (row_length %
    T),).
    """
    length = row_length(num_tokens, batch_size, offset)
    batch_size, offset = int(batch_size), int(offset)
    left_over = length % num_steps
    if left_over == 0:
        return np.empty(0, dtype=np.int64)
    ends = offset + np.arange(1, batch_size + 1) * length
    return (ends[:, None] - np.arange(left_over)[::-1]).ravel()


# A state that is carried from batch to batch


@checked
def count_graph_nodes(tensor: torch.Tensor) -> int:
    """Count the operations that a backward pass from `tensor` would visit."""
    seen: set = set()
    waiting = [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting.extend(previous for previous, _ in node.next_functions)
    return len(seen)


State = torch.Tensor | tuple["State", ...]


def detached(state: State) -> State:
    """Cut a state off from its history: a tensor, or several as an LSTM has them."""
    if isinstance(state, torch.Tensor):
        return state.detach()
    return tuple(detached(part) for part in state)


def check_recurrent(name: str, model: object) -> nn.Module:
    """Return `model` if it reads on from a state, as `GRUModel` does."""
    reads_on = callable(getattr(model, "read_on", None))
    knows_ids = isinstance(getattr(model, "embedding", None), nn.Embedding)
    if not (isinstance(model, nn.Module) and reads_on and knows_ids):
        raise TypeError(
            f"{name} must be a module with an `embedding` and `read_on(inputs, state)`,"
            f" such as GRUModel, got {type(model).__name__}"
        )
    return model


Recurrent = Annotated[nn.Module, check_recurrent]
InputsAndTargets = tuple[torch.Tensor, torch.Tensor]
Scheme = Callable[..., Iterator[InputsAndTargets]]


@checked
def epoch_after_epoch(
    scheme: Annotated[Scheme, check_callable],
    corpus: object,
    batch_size: Length,
    num_steps: Length,
    *,
    generator: torch.Generator | None = None,
) -> Iterator[tuple[bool, InputsAndTargets]]:
    """Yield the batches of a scheme forever, and whether each begins an epoch.

    Args:
        scheme: `seq_data_iter_sequential` or another of its kind.
        corpus, batch_size, num_steps, generator: of the scheme.
    """
    while True:
        begins = True
        for batch in scheme(corpus, batch_size, num_steps, generator=generator):
            yield begins, batch
            begins = False
        if begins:
            raise ValueError("scheme must give at least one batch an epoch, got 0")


def losses_on(
    model: Recurrent,
    batches: Iterable[tuple[bool, InputsAndTargets]],
    *,
    carry_state: bool,
) -> Iterator[torch.Tensor]:
    """Yield the loss of each batch, read with the state carried over or reset.

    The batches are those of `epoch_after_epoch`. Each epoch begins with an empty state,
    because its first windows continue nothing.
    """
    state = None
    for begins_epoch, (inputs, targets) in batches:
        if begins_epoch or not carry_state:
            state = None
        logits, state = model.read_on(inputs, state)
        state = detached(state)
        yield next_token_loss(logits, targets)


@checked
@one_thread()
def train_on_epochs(
    model: Recurrent,
    corpus: Ids,
    scheme: Scheme,
    batch_size: Length,
    num_steps: Length,
    *,
    num_updates: Annotated[int, AtLeast(1, 10**9)],
    carry_state: bool,
    learning_rate: Annotated[float, Finite(above=0)] = 1e-2,
    generator: torch.Generator | None = None,
    progress: bool | None = None,
) -> list[float]:
    """Train on epoch after epoch of a scheme, with the state carried over or reset.

    With `carry_state` a window begins with the state in which the window before it
    ended, cut off from its history (`detach`): truncated backpropagation through time.
    Values cross from window to window, gradients do not. Each epoch begins with an
    empty state, because its first window continues nothing.

    Args:
        model: has an `embedding`, and maps inputs and a state to logits and the next
            state, by `read_on`: `GRUModel`, or one of your own.
        corpus: the stream, ids of the model's vocabulary.
        scheme: `seq_data_iter_sequential`, or, to see it go wrong,
            `seq_data_iter_random`.
        batch_size, num_steps, generator: of the scheme.
        num_updates: optimizer steps; Adam, with a learning rate that falls linearly.
        carry_state: carry the state, or begin each window with an empty one.
        learning_rate: of the first step.
        progress: show a progress bar; by default unless `COURSE_PROGRESS=0`.

    Returns the loss of each batch, nats per token. Raises ValueError if an epoch has no
    batch, or a loss is not finite.
    """
    corpus = _check_ids("corpus", corpus, model)
    optimizer, schedule = adam_with_linear_decay(model, learning_rate, num_updates)
    batches = epoch_after_epoch(
        scheme, corpus, batch_size, num_steps, generator=generator
    )
    losses = losses_on(model.train(), batches, carry_state=carry_state)
    steps = progress_bar(range(num_updates), "training", unit="step", progress=progress)
    return [learn(next(losses), optimizer, schedule, step) for step in steps]


# A test that only a model with memory can pass

Few = Annotated[int, AtLeast(1, 2**31 - 1)]


@dataclass(frozen=True)
class RecallStream:
    """A made-up stream of records: a key, some filler, a query, and the key again."""

    #: shape (N,), in the smallest dtype: keys are 0 ... num_keys - 1, fillers come
    #: next, the query is the last id.
    ids: np.ndarray
    vocab_size: int  #: V
    #: where each record's key is, int64, shape (num_records,)
    key_positions: np.ndarray
    #: where its answer is; the answer equals the key, and follows the query
    answer_positions: np.ndarray


@checked
def make_recall_stream(
    num_records: Few,
    longest_filler: Few,
    *,
    num_keys: Few = 4,
    num_fillers: Few = 4,
    generator: torch.Generator | None = None,
) -> RecallStream:
    """Make a stream whose answers are known only to a model that remembers the key.

    Args:
        num_records: how many records.
        longest_filler: the filler has a random length, uniform on 1 ... longest_filler.
        num_keys: different keys, equally likely: a guess is right once in `num_keys`.
        num_fillers: different filler ids.
        generator: where the randomness comes from.
    """

    def draw(low: int, high: int, count: int) -> np.ndarray:
        return torch.randint(low, high, (count,), generator=generator).numpy()

    keys = draw(0, num_keys, num_records)
    lengths = draw(1, longest_filler + 1, num_records)
    key_positions = np.concatenate([[0], np.cumsum(lengths + 3)[:-1]])
    answer_positions = key_positions + lengths + 2
    query = num_keys + num_fillers
    ids = draw(num_keys, query, int(answer_positions[-1]) + 1)
    ids[key_positions] = ids[answer_positions] = keys
    ids[answer_positions - 1] = query
    ids = ids.astype(smallest_dtype(query))
    return RecallStream(ids, query + 1, key_positions, answer_positions)


# Two ways of reading, compared on the same tokens


@checked
@one_thread()
@torch.no_grad()
def token_logits(
    model: Recurrent, ids: Ids, num_steps: Length, *, carry_state: bool
) -> torch.Tensor:
    """Return what a model predicts for every token of a stream except the first.

    The stream is read as one track. Carrying the state from window to window amounts to
    reading one long window, so no window is cut at all. Without it, all windows are
    independent and can be read side by side. Either way the same tokens are predicted,
    so that two models, or two ways of reading, can be compared fairly.

    Args:
        ids: the stream, N ids of the model's vocabulary, at least 2.
        num_steps: T, if the state is not carried; the last window may be shorter.
        carry_state: go on with the state of the window before, or begin each window
            with an empty one.

    Returns logits, shape (N - 1, V): row t predicts token t + 1.
    """
    stream = _check_ids("ids", ids, model)
    length = len(stream) - 1 if carry_state else min(num_steps, len(stream) - 1)
    starts = window_starts(len(stream), length, stride=length)
    read = len(starts) * length
    with evaluation_mode(model):
        pieces = [model(gather_windows(stream, starts, length)[0]).flatten(0, 1)]
        if rest := len(stream) - 1 - read:
            pieces.append(model(gather_windows(stream, [read], rest)[0])[0])
    return torch.cat(pieces)


@checked
def token_losses(
    model: Recurrent, ids: Ids, num_steps: int, *, carry_state: bool
) -> torch.Tensor:
    """Return the loss of each prediction of `token_logits`, in nats, shape (N - 1,)."""
    logits = token_logits(model, ids, num_steps, carry_state=carry_state)
    targets = torch.from_numpy(ids[1:].astype(np.int64))
    return torch.nn.functional.cross_entropy(logits, targets, reduction="none")


def _check_ids(name: str, ids: Ids, model: Recurrent) -> np.ndarray:
    stream = as_predictable_stream(ids, name)
    return check_range(name, stream, model.embedding.num_embeddings)
