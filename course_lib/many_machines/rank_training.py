"""Training on many ranks: one loss for all, and one checkpoint to go on from.

torchrun --nproc-per-node 2 -m course_lib.many_machines.rank_training --help
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import io
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from pickle import UnpicklingError
from typing import Annotated, Any

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import Dataset, TensorDataset

from course_lib.foundation import (
    IGNORED,
    AtLeast,
    ConvolutionModel,
    Count,
    FilePath,
    Finite,
    Length,
    OneOf,
    Several,
    as_integers,
    check_integer,
    check_range,
    check_state,
    checked,
    durable,
    one_thread,
    process_group,
    progress_bar,
)
from course_lib.sliding_windows import BatchOrder, SlidingWindowDataset
from course_lib.token_shards import ShardedStream
from course_lib.token_shards.hashing import tokenizer_hash
from course_lib.token_shards.shard_files import open_manifest

# in a state of training
POSITION = ("model", "optimizer", "steps", "epoch", "rows_delivered")
Rows = torch.Tensor  # integers, shape (rows, T)
Factor = Annotated[float, Finite(above=0)]
VocabSize = Annotated[int, AtLeast(1, 2**20)]
TrainingSeed = Annotated[int, AtLeast(0, 2**63 - 1)]


def rank_and_size() -> tuple[int, int]:
    """Return this rank's number and the number of ranks; (0, 1) without a group."""
    if not distributed.is_initialized():
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()


@checked
def sum_over_ranks(tensor: torch.Tensor) -> torch.Tensor:
    """Sum a tensor over all ranks, in place; every rank must take part."""
    if distributed.is_initialized():
        distributed.all_reduce(tensor)
    return tensor


@checked
def backward_by_targets(
    model: nn.Module, loss_sum: torch.Tensor, num_scored: Count
) -> float:
    """Give every parameter the gradient of the mean loss over the targets of all ranks.

    Each rank divides its sum by the number of targets of *all* ranks, and then the
    gradients are added up. `DistributedDataParallel` takes the mean of the gradients
    instead, so there the loss must first be multiplied by the number of ranks. Returns
    the mean loss, the same on every rank.
    """
    nats, scored = _totals_of_ranks(loss_sum, num_scored)
    (loss_sum / scored).backward()
    for gradient in _gradients(model):
        sum_over_ranks(gradient)
    return nats / scored


def _totals_of_ranks(loss_sum: torch.Tensor, num_scored: int) -> tuple[float, float]:
    """Sum the loss and the targets of all ranks; refuse a step without any target."""
    own = [float(loss_sum.detach()), float(num_scored)]
    # where the loss is, because a group of GPUs sums nothing else
    totals = torch.tensor(own, dtype=torch.float64, device=loss_sum.device)
    nats, scored = sum_over_ranks(totals).tolist()
    if not scored:
        raise ValueError("no rank has a target to score in this step")
    return nats, scored


@checked
def backward_by_ranks(
    model: nn.Module, loss_sum: torch.Tensor, num_scored: Length
) -> float:
    """The naive twin: the gradient of the mean of the ranks' means, which it returns.

    The fewer targets a rank has, the more each of them counts.
    """
    _, world_size = rank_and_size()
    mean = loss_sum / num_scored
    mean.backward()
    for gradient in _gradients(model):
        sum_over_ranks(gradient)
        gradient /= world_size
    return float(sum_over_ranks(mean.detach().clone())) / world_size


def step_on_rank(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: tuple[torch.Tensor, torch.Tensor],
    backward: Callable[[nn.Module, torch.Tensor, int], float] = backward_by_targets,
) -> tuple[float, int]:
    """Move the weights once, by the batches of all ranks, of which this is one.

    It isn't `foundation.learn`, because something happens between the gradients of this
    rank and the step: `backward` adds up those of all ranks.

    Returns the loss, which is the same on every rank, and how many targets this rank
    had.
    """
    inputs, targets = batch
    logits, ids = model(inputs).flatten(0, 1), targets.flatten()
    loss_sum = F.cross_entropy(logits, ids, reduction="sum")  # without IGNORED
    num_scored = int((ids != IGNORED).sum())
    optimizer.zero_grad()
    loss = backward(model, loss_sum, num_scored)
    optimizer.step()
    return loss, num_scored


def _gradients(model: nn.Module) -> Iterator[torch.Tensor]:
    """Yield the gradients of all weights that some rank has used, as on every rank.

    A rank that has not used a weight brings zeros, since it must not miss a sum.
    """
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    used = [weight.grad is not None for weight in weights]
    used = torch.tensor(used, dtype=torch.int32, device=weights[0].device)
    for weight, is_used in zip(weights, sum_over_ranks(used).tolist(), strict=True):
        if is_used:
            if weight.grad is None:
                weight.grad = torch.zeros_like(weight)
            yield weight.grad


def _check_rows(
    inputs: torch.Tensor, targets: torch.Tensor, vocab_size: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows and their targets as int64, shape (rows, T), if they fit a model."""
    inputs, targets = (
        torch.from_numpy(as_integers(name, ids).astype(np.int64))
        for name, ids in (("inputs", inputs), ("targets", targets))
    )
    if inputs.ndim != 2 or inputs.shape != targets.shape:
        raise ValueError(
            "inputs and targets must have one shape (rows, T), got "
            f"{tuple(inputs.shape)} and {tuple(targets.shape)}"
        )
    check_range("inputs", inputs.numpy(), vocab_size)
    check_range("targets", targets[targets != IGNORED].numpy(), vocab_size)
    return inputs, targets


def _model_of(vocab_size: int, seed: int) -> ConvolutionModel:
    """Draw the first weights of a small model, beside all other random numbers."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return ConvolutionModel(vocab_size, hidden_size=16)


def _rows_to_score(inputs: Rows, targets: Rows, vocab_size: int) -> tuple:
    """Return rows that fit a model, and how many of all their targets are scored."""
    inputs, targets = _check_rows(inputs, targets, vocab_size)
    scored = int((targets != IGNORED).sum())
    if not scored:
        raise ValueError("targets must hold one to score, but all of them are -100")
    return inputs, targets, scored


@checked
@one_thread()
def gradient_by_ddp(
    inputs: Rows, targets: Rows, vocab_size: VocabSize, *, factor: Factor = 1.0
) -> torch.Tensor:
    """Return the gradient that `DistributedDataParallel` leaves on this rank.

    Rank r reads the rows r, r + world_size, ..., and divides the sum of its losses by
    the targets of *all* ranks. `DistributedDataParallel` averages gradients over the
    ranks, so the result is the gradient of the mean loss over all targets only if
    `factor` is the number of ranks. That ranks draw different first weights changes
    nothing, because those of rank 0 are copied to the others.

    Args:
        inputs, targets: the rows of all ranks, shape (rows, T); a target of -100 is not
            scored.
        vocab_size: V.
        factor: what each rank multiplies its loss by.

    Returns float32, shape (parameters,), the same on every rank. Raises ValueError
    outside of a process group, or if no row has a target to score.
    """
    inputs, targets, scored = _rows_to_score(inputs, targets, vocab_size)
    rank, world_size = rank_and_size()
    model = DistributedDataParallel(_model_of(vocab_size, seed=rank))
    logits, own = model(inputs[rank::world_size]), targets[rank::world_size]
    loss_sum = F.cross_entropy(logits.flatten(0, 1), own.flatten(), reduction="sum")
    (factor * loss_sum / scored).backward()
    return torch.cat([weight.grad.flatten() for weight in model.parameters()])


LOSSES = {"global": backward_by_targets, "mean of means": backward_by_ranks}


@dataclass(frozen=True)
class RankReport:
    """What a rank has done."""

    losses: list[float]  #: the loss of each step, the same on every rank
    rows: list[int]  #: the rows that this rank has read, in order
    scored: list[int]  #: how many targets this rank had in each step
    state: dict[str, Any]  #: the position to go on from, on any number of ranks

    @property
    def weights(self) -> torch.Tensor:
        """All parameters of the model, in one row."""
        return torch.cat([w.flatten() for w in self.state["model"].values()])


@checked
@one_thread()  # or sums would depend on how many cores a machine has
def train_rank(
    inputs: torch.Tensor,
    targets: torch.Tensor,
    vocab_size: VocabSize,
    *,
    batch_size: Length,
    num_updates: Annotated[int, AtLeast(1, 10**9)],
    base_seed: TrainingSeed = 0,
    loss: Annotated[str, OneOf(LOSSES)] = "global",
    state: Mapping[str, Any] | None = None,
) -> RankReport:
    """Train a small model on rows, as one rank of many or as the only process.

    Every rank calls this function with the same arguments. All ranks begin with the
    same weights, take the same number of steps, and read different rows of one order,
    which is new in each epoch. Rows at the end of an epoch that do not fill a step are
    left out.

    Args:
        inputs, targets: shape (rows, T); a target of -100 is not scored.
        vocab_size: V.
        batch_size: rows in a step of all ranks together, a multiple of their number.
        num_updates: how many steps to take now.
        base_seed: orders the rows, and draws the first weights.
        loss: "global", the mean over the targets of all ranks, or "mean of means".
        state: that of a report, to go on from there, of the same rows, vocabulary and
            seed. The number of ranks and of rows in a step may differ. It is not
            changed.
    """
    inputs, targets = _check_rows(inputs, targets, vocab_size)
    training = _Training(
        TensorDataset(inputs, targets),
        {"rows": fingerprint(inputs, targets)},
        vocab_size,
        batch_size=batch_size,
        base_seed=base_seed,
        loss=LOSSES[loss],
        state=state,
    )
    for _ in range(num_updates):
        training.step()
    return training.report()


@checked
@one_thread()  # or sums would depend on how many cores a machine has
def train_on_shards(
    out_dir: FilePath,
    vocab_size: VocabSize,
    *,
    context_length: Length,
    batch_size: Length,
    last_step: Annotated[int, AtLeast(1, 10**9)],
    base_seed: TrainingSeed = 0,
    checkpoint: FilePath | None = None,
    save_every: Length = 100,
    progress: bool | None = None,
) -> RankReport:
    """Train a small model on shards, as one rank of many, and save it on the way.

    Every rank maps the files of `train` and reads its own windows of one order. After
    every `save_every` steps, and after the last one, the first rank saves weights,
    optimizer and position together, in one file that replaces the one before at once.
    So a run that was killed, at any moment, goes on from that file when it is called
    again, on as many ranks as there are then.

    Args:
        out_dir: what `write_shards` or `tokenize_files` wrote.
        vocab_size: V, that of the tokenizer.
        context_length: T. Windows lie end to end.
        batch_size: windows in a step of all ranks together, a multiple of their number.
        last_step: when to end, counted from the beginning of the run.
        base_seed: orders the windows, and draws the first weights.
        checkpoint: the file to go on from, if it exists, and to save in. The first rank
            alone reads and writes it.
        save_every: steps between two times of saving.
        progress: show a progress bar on the first rank.

    Returns a report of the steps that were taken now. Raises ValueError if the file is
    no checkpoint, or one of other shards, settings or seed.
    """
    rank, _ = rank_and_size()
    # One rank looks at the size of every file; there may be thousands of both.
    stream = ShardedStream(out_dir, "train", check_sizes=rank == 0)
    windows = SlidingWindowDataset(stream, context_length, context_length)
    training = _Training(
        windows,
        windows.identity,
        vocab_size,
        batch_size=batch_size,
        base_seed=base_seed,
        loss=backward_by_targets,
        state=_from_first_rank(partial(_load, checkpoint)),
    )
    steps = range(training.steps + 1, last_step + 1)
    show = progress if rank == 0 else False
    for step in progress_bar(steps, "training", unit="step", progress=show):
        training.step()
        is_due = step % save_every == 0 or step == last_step
        if checkpoint is not None and rank == 0 and is_due:
            _save(checkpoint, training.state())
    return training.report()


def _load(checkpoint: Path | None) -> Mapping[str, Any] | None:
    if checkpoint is None or not checkpoint.exists():
        return None
    try:
        return torch.load(checkpoint, weights_only=True)
    except (RuntimeError, UnpicklingError, EOFError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{checkpoint} is not a checkpoint ({reason})") from None


def _save(checkpoint: Path, state: Mapping[str, Any]) -> None:
    file = io.BytesIO()
    torch.save(state, file)
    durable.write_durably(checkpoint, file.getvalue())


def _from_first_rank(read: Callable[[], Any]) -> Any:
    """Return on every rank what the first one reads: no other needs to see the file."""
    rank, world_size = rank_and_size()
    found = [read() if rank == 0 else None]
    if world_size > 1:
        distributed.broadcast_object_list(found)
    return found[0]


class _Training:
    """A model, its optimizer and a position in one order, on this rank."""

    def __init__(
        self,
        windows: Dataset,
        identity: Mapping[str, Any],
        vocab_size: int,
        *,
        batch_size: int,
        base_seed: int,
        loss: Callable[[nn.Module, torch.Tensor, int], float],
        state: Mapping[str, Any] | None,
    ):
        rank, world_size = rank_and_size()
        if batch_size % world_size:
            raise ValueError(
                f"batch_size must be a multiple of the {world_size} ranks, got "
                f"{batch_size}"
            )
        self.windows, self.backward = windows, loss
        self.order = BatchOrder(
            len(windows),
            batch_size // world_size,
            base_seed=base_seed,
            drop_last=True,
            rank=rank,
            world_size=world_size,
        )
        self.model = _model_of(vocab_size, base_seed)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)
        self.identity = dict(identity)
        self.steps, place = 0, (0, 0)
        if state is not None:
            place = self.order.place_of(state, "rows_delivered")
            check_state(state, self._settings(place[0]), POSITION, owner="run")
            self.steps = check_integer("steps", state["steps"], minimum=0)
            self._load(state["model"], state["optimizer"])
        self.losses: list[float] = []
        self.rows: list[int] = []
        self.scored: list[int] = []
        self.order.go_to(*place)
        self.batches = self._batches()

    def _settings(self, epoch: int) -> dict[str, Any]:
        """What the run depends on, in this epoch."""
        vocab_size = self.model.embedding.num_embeddings
        return self.identity | self.order.identity(epoch) | {"vocab_size": vocab_size}

    def _batches(self) -> Iterator[list[int]]:
        """Yield the rows of each step of this rank, epoch after epoch."""
        while True:
            yield from self.order.counted(self.order)

    def step(self) -> None:
        """Read the next rows, and move the model."""
        batch = next(self.batches)
        windows = self.windows[np.asarray(batch)]
        found = step_on_rank(self.model, self.optimizer, windows, self.backward)
        self.losses.append(found[0])
        self.scored.append(found[1])
        self.rows += batch
        self.steps += 1

    def _load(self, weights: Any, optimizer: Any) -> None:
        """Take over weights and Adam's memory of them, which is compared with them:
        without it, or with that of others, a run would go on in another way."""
        try:
            self.model.load_state_dict(weights)
            # A copy, since steps change its tensors in place.
            memory = {"state": copy.deepcopy(optimizer["state"])}
            self.optimizer.load_state_dict(self.optimizer.state_dict() | memory)
            for weight in self.model.parameters():
                known = self.optimizer.state[weight]
                if known["exp_avg"].shape != weight.shape:
                    raise ValueError("the optimizer's are of another shape")
        except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
            words = "state must hold this model's weights and their optimizer's"
            raise ValueError(f"{words}: {error}") from None

    def state(self) -> dict[str, Any]:
        """What to go on from; its tensors are those of the model, and will change."""
        learned = self.model.state_dict(), self.optimizer.state_dict()
        now = self.order.position.now
        position = dict(zip(POSITION, (*learned, self.steps, *now), strict=True))
        return position | self._settings(now[0])

    def report(self) -> RankReport:
        return RankReport(self.losses, self.rows, self.scored, self.state())


def fingerprint(*tensors: torch.Tensor) -> str:
    """Name what tensors hold, so that a state is never used with other rows."""
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(repr((tensor.dtype, tuple(tensor.shape))).encode())
        digest.update(np.ascontiguousarray(tensor.numpy()).data)
    return digest.hexdigest()[:16]


@checked
def take_steps(
    steps_of_ranks: Annotated[Sequence[int], Several("integers")],
    *,
    busy_seconds: Annotated[float, Finite(minimum=0, maximum=1e6)] = 0.0,
) -> int:
    """Take the steps of this rank, as a loop over the rank's own batches would.

    In each step the ranks add up their gradients, so a rank with more steps than
    another waits for a partner that does not come. If the process of that partner has
    ended, gloo notices the closed connection and raises an error at once. If the
    partner is busy with something else, the wait lasts until a time limit.

    Args:
        steps_of_ranks: the number of steps of each rank.
        busy_seconds: how long a rank is busy after its steps, as if it wrote a
            checkpoint.
    """
    rank, world_size = rank_and_size()
    steps_of_ranks = list(steps_of_ranks)
    if len(steps_of_ranks) != world_size:
        raise ValueError(
            f"steps_of_ranks must hold one number for each of {world_size} ranks, got "
            f"{len(steps_of_ranks)}"
        )
    steps = steps_of_ranks[rank]
    steps = check_integer("steps_of_ranks", steps, minimum=0, maximum=10**9)
    for _ in range(steps):
        sum_over_ranks(torch.ones(1))
    time.sleep(busy_seconds)
    return steps


# The program that `torchrun` starts.


def main(arguments: Sequence[str] | None = None) -> None:
    """Train on shards, as one rank of those that `torchrun` starts."""
    parser = argparse.ArgumentParser(
        prog="torchrun ... -m course_lib.many_machines.rank_training",
        description="Train a small model on shards. A run that was killed goes on from "
        "its checkpoint when it is run again. The first rank prints a line of JSON.",
    )
    add, number = parser.add_argument, {"type": int, "metavar": "N"}
    add("shards", metavar="DIR", help="a folder that `tokenize` wrote")
    add("--tokenizer", required=True, metavar="FILE", help="that of the shards")
    add("--context-length", type=int, default=64, metavar="T")
    words = "of all ranks together (default: 24, or one a rank if they are more)"
    add("--batch-size", type=int, metavar="WINDOWS", help=words)
    add("--steps", default=10, **number, help="when to end, from the run's beginning")
    add("--seed", default=0, **number)
    words = "go on from this file, if it exists, and save weights, optimizer and"
    words += " position there; the first rank alone reads and writes it"
    add("--checkpoint", metavar="FILE", help=words)
    add("--save-every", default=100, **number, help="steps (default: 100)")
    add("--quiet", action="store_true", help="no progress bar")
    options = parser.parse_args(arguments)
    tokenizer = Tokenizer.from_file(options.tokenizer)
    manifest = open_manifest(options.shards, check_sizes=False)
    if manifest.settings.tokenizer != tokenizer_hash(tokenizer):
        wrong = f"{options.shards} was written with another tokenizer than"
        raise ValueError(f"{wrong} {options.tokenizer}")
    with process_group():
        rank, world_size = rank_and_size()
        report = train_on_shards(
            options.shards,
            tokenizer.get_vocab_size(),
            context_length=options.context_length,
            batch_size=options.batch_size or max(1, 24 // world_size) * world_size,
            last_step=options.steps,
            base_seed=options.seed,
            checkpoint=options.checkpoint,
            save_every=options.save_every,
            progress=False if options.quiet else None,
        )
    if rank == 0:
        weights = float(report.weights.double().square().sum())
        line = {"ranks": world_size, "steps": report.state["steps"], "weights": weights}
        print(json.dumps(line | {"losses": report.losses, "rows": report.rows}))


if __name__ == "__main__":
    main()
