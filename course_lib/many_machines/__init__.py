"""Lesson 12: tokenizing and feeding when one machine is not enough.

Tokenizing is cut into tasks that any worker may do, twice if need be. Sums over the
tasks say what each shard of lesson 11 is made of, so any worker may also write any
shard. In training every rank reads its own part of one order, and all ranks divide by
the same number of targets.

    python -m course_lib.many_machines tokenize --help
"""

from __future__ import annotations

import copy
import hashlib
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import distributed, nn
from torch.utils.data import IterableDataset, get_worker_info

from course_lib.foundation import (
    IGNORED,
    AtLeast,
    ConvolutionModel,
    Count,
    FilePath,
    Finite,
    Ids,
    InThisProcess,
    Length,
    OneOf,
    Seed,
    Several,
    as_integers,
    check_integer,
    check_number,
    check_range,
    check_state,
    checked,
    durable,
    encode_each,
    plain_tokenizer,
    process_pool,
    progress_bar,
    run_in_order,
    smallest_dtype,
)
from course_lib.many_machines import file_tasks
from course_lib.many_machines.devices import copy_to_device as copy_to_device
from course_lib.many_machines.inputs import (
    TASK_BYTES,
    Task,
    list_inputs,
    plan_tasks,
    read_task,
)
from course_lib.sliding_windows import BatchOrder
from course_lib.token_shards import shard_files, shard_tasks
from course_lib.token_shards.shard_files import (
    INPUTS,
    MANIFEST,
    Manifest,
    ShardSettings,
)
from course_lib.token_shards.shard_tasks import Job, TaskResult, finish_job

POSITION = ("model", "optimizer", "epoch", "rows_delivered")  # in a state of training
MOST = 10**12  # machines, or devices, of an estimate

# Tokenizing.


@checked
def tokenize_files(
    inputs: Iterable[str | os.PathLike],
    tokenizer: object,
    out_dir: FilePath,
    *,
    num_workers: Annotated[int, AtLeast(1, 1024)] = 1,
    make_executor: Executor | Callable[[], Executor] | None = None,
    shard_size: int = 100_000_000,
    val_every: int = 100,
    max_tokens: int | None = None,
    end_of_text_id: int | None = None,
    text_column: str = "text",
    suffixes: Sequence[str] = (),
    task_bytes: Length | None = None,
    verify: bool = False,
    progress: bool | None = None,
) -> Manifest:
    """Tokenize input files into shards: those of `write_shards`, by many workers.

    Tasks encode pieces of the files and leave the results in `OUT_DIR.pieces`. From
    these, any worker can write any shard. A run that was killed is finished by running
    it again, and nothing that is there is made a second time. A finished folder is
    returned as it is if names, sizes and times of the input files have not changed.
    Otherwise their documents are compared with those of the shards by their hashes.

    Args:
        inputs: files and folders, in the order of the documents; see `plan_tasks`.
        tokenizer: what `encode_corpus` takes.
        out_dir: a folder of their own; on a cluster every machine must see it.
        num_workers: processes of this machine; a script starts them under `if __name__
            == "__main__":`.
        make_executor: makes the executor to use instead of processes, for example
            `RayExecutor`; see `run_in_order`.
        shard_size, val_every, max_tokens, end_of_text_id: see `write_shards`.
        text_column, verify, progress: see `write_shards`.
        suffixes: further endings of plain text; see `plan_tasks`.
        task_bytes: how many bytes a task reads, about; by default four tasks a worker,
            of 16 MiB at most, or what the run was begun with. The shards do not depend
            on it.

    Raises ValueError if an input is wrong or the folders hold results of other inputs,
    another tokenizer or other settings, and BrokenExecutor if workers were killed again
    and again: run it again.
    """
    tokenizer, end_of_text_id = plain_tokenizer(tokenizer, end_of_text_id)
    settings = ShardSettings.of(
        tokenizer,
        shard_size=shard_size,
        val_every=val_every,
        max_tokens=max_tokens,
        end_of_text_id=end_of_text_id,
    )
    out_dir = Path(os.path.abspath(out_dir))
    files = list_inputs(inputs, suffixes=suffixes)[0]
    files = [Path(os.path.abspath(path)) for path in files]
    job = Job(
        folder=str(shard_files.pieces_folder(out_dir)),
        out_dir=str(out_dir),
        text_column=text_column,
        settings=settings,
        tokenizer=None if isinstance(tokenizer, Tokenizer) else tokenizer,
    )
    if (out_dir / MANIFEST).is_file():
        return _finished(job, files, suffixes, progress)
    durable.make_folder(out_dir)
    with durable.only_writer(out_dir):
        if task_bytes is None:
            share = sum(path.stat().st_size for path in files) // (4 * num_workers)
            task_bytes = min(TASK_BYTES, max(2**20, share))
        task_bytes = shard_tasks.begin_job(job, tokenizer, task_bytes)
        tasks = plan_tasks(files, task_bytes=task_bytes, suffixes=suffixes)
        make_executor = make_executor or partial(process_pool, num_workers)
        results = _encode_all(job, tasks, make_executor, progress)
        few = sum(sum(r.tokens) for r in results) <= settings.shard_size
        each = partial(_do_each, InThisProcess if few else make_executor)
        manifest = finish_job(job, results, each, verify=verify, progress=progress)
        durable.write_json(out_dir / INPUTS, {"sha256": _hash_of_files(files)})
    shard_tasks.remove_job(job)
    return manifest


def _hash_of_files(files: Iterable[Path]) -> str:
    """Name files by their places, their sizes, and the times of their last change."""
    known = [(str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in files]
    return shard_tasks.hash_of(known)


def _finished(
    job: Job, files: Sequence[Path], suffixes: Sequence[str], progress: bool | None
) -> Manifest:
    """Return the manifest of a folder that is finished with the same documents."""
    folder = Path(job.out_dir)
    manifest = shard_files.open_manifest(folder)
    shard_files.check_settings(folder, manifest.settings, job.settings)
    inputs, now = folder / INPUTS, _hash_of_files(files)
    known = durable.read_json(inputs) if inputs.is_file() else {}
    if known.get("sha256") != now:
        tasks = plan_tasks(files, suffixes=suffixes)
        bar = progress_bar(tasks, "comparing", unit="task", progress=progress)
        texts = (text for task in bar for text in read_task(task, job.text_column))
        digests = map(shard_files.text_digest, texts)
        shard_files.check_documents(folder, manifest, digests)
        if not known:  # the run was killed just before
            durable.write_json(inputs, {"sha256": now})
    shard_tasks.remove_job(job)
    return manifest


def _encode_all(
    job: Job,
    tasks: Sequence[Task],
    make_executor: Executor | Callable[[], Executor],
    progress: bool | None,
) -> list[TaskResult]:
    """Do all tasks, or as many as `max_tokens` allows; return their results."""
    found = [file_tasks.find_task(job, task) for task in tasks]
    limit = job.settings.max_tokens
    results: list[TaskResult] = []
    work = partial(file_tasks.encode_task, job)
    with closing(_each_result(work, tasks, found, make_executor)) as done:
        for result in progress_bar(
            done, "tokenizing", unit="task", total=len(tasks), progress=progress
        ):
            if limit is not None and sum(result.tokens) > limit:
                results.append(shard_tasks.count_up_to(job, result, limit))
                break
            results.append(result)
            limit = limit and limit - sum(result.tokens)
    return results


def _do_each(
    make_executor: Executor | Callable[[], Executor],
    work: Callable[[Any], Any],
    plans: Sequence[Any],
) -> Iterator[Any]:
    return run_in_order(work, plans, make_executor)


def _each_result(
    work: Callable[[Any], Any],
    tasks: Sequence[Any],
    found: Sequence[Any],
    make_executor: Executor | Callable[[], Executor],
) -> Iterator[Any]:
    """Yield the result of each task: what was found, or else what is worked out now."""
    left = [task for task, result in zip(tasks, found, strict=True) if result is None]
    with closing(run_in_order(work, left, make_executor)) as new:
        for result in found:
            yield result or next(new)


# Feeding: every rank reads its own part of one order.


def worker_and_count(ranks: tuple[int, int]) -> tuple[int, int]:
    """Number the workers of all ranks; say which one this process is.

    Takes what `rank_and_size()` returns in the process of the rank. A worker that was
    not forked knows of no group. A data set must therefore ask when it is made, and
    take the answer along to its workers. Returns the number, from 0, and how many
    workers there are; a rank without workers reads by itself, and counts as one.
    """
    try:
        rank, world_size = ranks
    except (TypeError, ValueError):
        raise TypeError(f"ranks must be a pair of integers, got {ranks!r}") from None
    world_size = check_integer("world_size", world_size, minimum=1)
    rank = check_integer("rank", rank, minimum=0, maximum=world_size - 1)
    worker = get_worker_info()
    if worker is None:
        return rank, world_size
    return worker.id * world_size + rank, worker.num_workers * world_size


class RandomNumbers(IterableDataset):
    """Yield each worker's number with three numbers it draws: are they the same?"""

    @checked
    def __init__(self, seed: Seed):
        self.generator = np.random.default_rng(seed)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        worker = get_worker_info()
        for number in self.generator.integers(1000, size=3).tolist():
            yield (worker.id if worker else 0), number


class OwnRandomNumbers(RandomNumbers):
    """Draw three random numbers in each worker, with a generator of its own."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.seed, self.ranks = seed, rank_and_size()  # before workers begin

    def __iter__(self) -> Iterator[tuple[int, int]]:
        worker, _ = worker_and_count(self.ranks)
        own = np.random.SeedSequence([self.seed, worker])
        self.generator = np.random.default_rng(own)
        return super().__iter__()


def rank_and_size() -> tuple[int, int]:
    """Return this rank's number and the number of ranks; (0, 1) without a group."""
    if not distributed.is_initialized():
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()


@checked
def rows_of_documents(
    texts: Iterable[str], tokenizer: object, context_length: Length
) -> tuple[torch.Tensor, torch.Tensor]:
    """Make one row of each text: inputs, and targets that are -100 at padding.

    Both are int64, shape (documents, T). Longer texts are cut.
    """
    rows = [ids[: context_length + 1] for ids in encode_each(texts, tokenizer)]
    if not rows:
        raise ValueError("texts must hold at least one document, got none")
    inputs = torch.zeros(len(rows), context_length, dtype=torch.int64)
    targets = torch.full_like(inputs, IGNORED)
    for row, ids in enumerate(rows):
        ids = torch.from_numpy(ids.astype(np.int64))
        inputs[row, : len(ids) - 1] = ids[:-1]
        targets[row, : len(ids) - 1] = ids[1:]
    return inputs, targets


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
    totals = torch.tensor([float(loss_sum.detach()), float(num_scored)]).double()
    nats, scored = sum_over_ranks(totals).tolist()
    if not scored:
        raise ValueError("no rank has a target to score in this step")
    (loss_sum / scored).backward()
    for gradient in _gradients(model):
        sum_over_ranks(gradient)
    return nats / scored


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


def _gradients(model: nn.Module) -> Iterator[torch.Tensor]:
    """Yield the gradients of all weights that are not frozen, as on every rank."""
    return (p.grad for p in model.parameters() if p.grad is not None)


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
def train_rank(
    inputs: torch.Tensor,
    targets: torch.Tensor,
    vocab_size: Annotated[int, AtLeast(1, 2**20)],
    *,
    batch_size: Length,
    num_updates: Annotated[int, AtLeast(1, 10**9)],
    base_seed: Annotated[int, AtLeast(0, 2**63 - 1)] = 0,
    loss: Annotated[str, OneOf(LOSSES)] = "global",
    state: Mapping[str, Any] | None = None,
) -> RankReport:
    """Train a small model on rows, as one rank of many or as the only process.

    Every rank calls this function with the same arguments. All ranks begin with the
    same weights, take equally many steps, and read different rows of one order, which
    is new in each epoch. Rows at the end of an epoch that do not fill a step are left
    out.

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
    rank, world_size = rank_and_size()
    if batch_size % world_size:
        raise ValueError(
            f"batch_size must be a multiple of the {world_size} ranks, got {batch_size}"
        )
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
    order = BatchOrder(
        len(inputs),
        batch_size // world_size,
        base_seed=base_seed,
        drop_last=True,
        rank=rank,
        world_size=world_size,
    )
    with torch.random.fork_rng():
        torch.manual_seed(order.base_seed)
        model = ConvolutionModel(vocab_size, hidden_size=16)
    # fused: all weights in one call, which is the fastest way for models so small
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, fused=True)
    settings = {
        "rows": fingerprint(inputs, targets),
        "vocab_size": model.embedding.num_embeddings,
        "base_seed": order.base_seed,
    }
    epoch, done = 0, 0
    if state is not None:
        state = check_state(state, settings, POSITION, owner="run")
        epoch = check_integer("epoch", state["epoch"], minimum=0)
        done, most = state["rows_delivered"], len(inputs)
        done = check_integer("rows_delivered", done, minimum=0, maximum=most)
        _go_on(model, optimizer, state)
    losses, rows, scored = [], [], []
    while len(losses) < num_updates:
        order.stand_at(epoch, windows=done)
        for batch, _ in zip(order, range(num_updates - len(losses)), strict=False):
            logits, ids = model(inputs[batch]).flatten(0, 1), targets[batch].flatten()
            loss_sum = F.cross_entropy(logits, ids, reduction="sum")  # without IGNORED
            scored.append(int((ids != IGNORED).sum()))
            optimizer.zero_grad()
            losses.append(LOSSES[loss](model, loss_sum, scored[-1]))
            optimizer.step()
            rows += batch
            done += batch_size
        if done + batch_size > len(inputs):
            epoch, done = epoch + 1, 0
    position = model.state_dict(), optimizer.state_dict(), epoch, done
    saved = dict(zip(POSITION, position, strict=True)) | settings
    return RankReport(losses, rows, scored, saved)


def _go_on(
    model: nn.Module, optimizer: torch.optim.Adam, state: Mapping[str, Any]
) -> None:
    """Load the weights and Adam's memory from a state, after a check of all of them: if
    the memory has other shapes, Adam's fused step writes beyond its end."""
    memory = {
        number: {"step": torch.tensor(0.0), "exp_avg": weight, "exp_avg_sq": weight}
        for number, weight in enumerate(model.parameters())
    }
    settings = optimizer.state_dict()  # of this call
    wanted = {"model": model.state_dict(), "optimizer": settings | {"state": memory}}
    saved = {name: state[name] for name in wanted}
    if not _fits(saved, wanted) or not all(
        saved["optimizer"]["state"][number]["step"] >= 1
        and saved["optimizer"]["state"][number]["exp_avg_sq"].min() >= 0
        for number in memory
    ):
        raise ValueError(
            "state must hold finite weights of this model, and for each of them the "
            "step, exp_avg and exp_avg_sq of Adam"
        )
    saved = copy.deepcopy(saved)  # since steps change tensors in place
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(settings | {"state": saved["optimizer"]["state"]})


def _fits(saved: object, wanted: object) -> bool:
    """Say whether tensors have the names, shapes and types wanted, and are finite."""
    if isinstance(wanted, Mapping):
        return (
            isinstance(saved, Mapping)
            and saved.keys() == wanted.keys()
            and all(_fits(saved[name], entry) for name, entry in wanted.items())
        )
    if isinstance(wanted, torch.Tensor):
        return (
            isinstance(saved, torch.Tensor)
            and (saved.shape, saved.dtype) == (wanted.shape, wanted.dtype)
            and bool(saved.isfinite().all())
        )
    return True


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


@checked
def attention_pairs(lengths: Ids) -> int:
    """Count the pairs of a token and a token that it sees, with a document mask.

    A document of n tokens makes n (n + 1) / 2 pairs, since a token sees itself and the
    tokens before it there. Two packs with equally many tokens can be very different
    work.
    """
    lengths = lengths.astype(object)
    if lengths.size and lengths.min() < 1:
        raise ValueError(f"lengths must be at least 1, got {lengths.min()}")
    return int((lengths * (lengths + 1) // 2).sum())


# On paper.


@checked
def stored_bytes(
    num_tokens: Count, vocab_size: Annotated[int, AtLeast(1, 2**32)]
) -> int:
    """Return the bytes of all shards: 2 an id, or 4 beyond 65,536 different ids."""
    return num_tokens * smallest_dtype(vocab_size - 1).itemsize


@checked
def encoding_hours(
    num_tokens: Annotated[float, Finite(minimum=0)],
    tokens_per_second: Annotated[float, Finite(above=0)],
    num_machines: Annotated[int, AtLeast(1, MOST)] = 1,
) -> float:
    """Return the hours that machines take together, each at the rate of one."""
    return _finite(num_tokens / tokens_per_second / num_machines / 3600)


@checked
def feeding_bandwidth(
    tokens_per_second: Annotated[float, Finite(minimum=0)],
    vocab_size: int,
    num_devices: Annotated[int, AtLeast(1, MOST)] = 1,
) -> float:
    """Return the bytes a second that devices read, each at `tokens_per_second`."""
    return _finite(tokens_per_second * num_devices * stored_bytes(1, vocab_size))


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError("the result must be finite: these numbers are too far apart")
    return number


@checked
def hours_between_failures(
    num_machines: Annotated[int, AtLeast(1, MOST)], hours_between_failures_of_one: float
) -> float:
    """Return the mean hours between two failures, somewhere among all machines."""
    name, hours = "hours_between_failures_of_one", hours_between_failures_of_one
    return check_number(name, hours, above=0) / num_machines
