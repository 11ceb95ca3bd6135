"""Lesson 12: tokenizing and feeding when one machine is not enough.

Tokenizing is cut into tasks that any worker may do, twice if need be. Sums over the
tasks say what each shard of lesson 11 is made of, so any worker may also write any
shard. In training every rank reads its own part of one order, and all ranks divide by
the same number of targets.

    python -m course_lib.many_machines tokenize --help
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from course_lib.foundation import (
    IGNORED,
    AtLeast,
    Count,
    FilePath,
    Finite,
    Ids,
    InThisProcess,
    Length,
    Seed,
    as_numbers,
    check_number,
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
from course_lib.many_machines.devices import CopiedBatches as CopiedBatches
from course_lib.many_machines.devices import copy_to_device as copy_to_device
from course_lib.many_machines.inputs import (
    TASK_BYTES,
    Task,
    list_inputs,
    plan_tasks,
    read_task,
)
from course_lib.many_machines.rank_training import LOSSES as LOSSES
from course_lib.many_machines.rank_training import RankReport as RankReport
from course_lib.many_machines.rank_training import (
    backward_by_ranks as backward_by_ranks,
)
from course_lib.many_machines.rank_training import (
    backward_by_targets as backward_by_targets,
)
from course_lib.many_machines.rank_training import fingerprint as fingerprint
from course_lib.many_machines.rank_training import rank_and_size as rank_and_size
from course_lib.many_machines.rank_training import sum_over_ranks as sum_over_ranks
from course_lib.many_machines.rank_training import take_steps as take_steps
from course_lib.many_machines.rank_training import train_on_shards as train_on_shards
from course_lib.many_machines.rank_training import train_rank as train_rank
from course_lib.token_shards import shard_files, shard_tasks
from course_lib.token_shards.shard_files import (
    INPUTS,
    MANIFEST,
    Manifest,
    ShardSettings,
)
from course_lib.token_shards.shard_tasks import Job, TaskResult, finish_job

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


class RandomNumbers(IterableDataset):
    """Yield each worker's number with three numbers it draws: are they the same?"""

    @checked
    def __init__(self, seed: Seed):
        self.generator = np.random.default_rng(seed)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        worker = get_worker_info()
        for number in self.generator.integers(1000, size=3).tolist():
            yield (worker.id if worker else 0), number


@checked
def generator_of(
    seed: Seed, epoch: Annotated[int, AtLeast(0, 2**32 - 1)], sample: Count
) -> np.random.Generator:
    """Make the generator for all that is random about one sample in one epoch.

    It knows neither ranks nor workers, so a sample has the same noise whoever reads it,
    also after a resume, and other noise in the next epoch. Different seeds, epochs and
    samples never give the same `SeedSequence`.
    """
    key = np.random.SeedSequence(seed, spawn_key=(epoch, sample))
    return np.random.default_rng(key)


class NoisySamples(Dataset):
    """The samples of an epoch, each with one number that it draws.

    An index is a pair of an epoch and a sample. It comes from the process that knows
    the epoch, while a worker may have copied this data set epochs ago.
    """

    @checked
    def __init__(self, seed: Seed):
        self.seed = seed

    def __getitem__(self, index: tuple[int, int]) -> tuple[int, int]:
        epoch, sample = index
        generator = generator_of(self.seed, epoch, sample)
        return sample, int(generator.integers(1000))


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


def wait_rows(work: object) -> dict[str, list[tuple]]:
    """Name ranks, for `plot_rows`: how long each works in a step, and waits in it.

    Args:
        work: of each rank in each step, in any unit, shape (steps, world_size).
    """
    work = as_numbers("work", work)
    if work.ndim != 2 or not work.size or not (work >= 0).all():
        wanted = "shape (steps, world_size), none below 0"
        raise ValueError(f"work must have {wanted}, got shape {work.shape}")
    lasts = work.max(axis=1)
    begins = np.cumsum(lasts) - lasts
    rows = {}
    for rank, own in enumerate(work.T):
        boxes = rows[f"rank {rank}"] = []
        for step, (begin, works) in enumerate(zip(begins, own, strict=True)):
            boxes.append((begin, works, ("inputs", "inputs2")[step % 2]))
            boxes.append((begin + works, lasts[step] - works, "lost"))
    return rows


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
