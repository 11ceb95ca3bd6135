"""Lesson 12: tokenizing and feeding when one machine is not enough.

Tokenizing is cut into tasks that any worker may do, twice if need be. Sums over the
tasks say what each shard of lesson 11 is made of, so any worker may also write any
shard. In training every rank reads its own part of one order, and all ranks divide by
the same number of targets (`rank_training`).

    python -m course_lib tokenize --help
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated

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
    Length,
    Seed,
    Several,
    check_number,
    check_path,
    checked,
    encode_each,
    look_at_first_texts,
    plain_tokenizer,
    progress_bar,
    smallest_dtype,
)
from course_lib.many_machines.executors import (
    InThisProcess,
    process_pool,
    run_in_order,
)
from course_lib.many_machines.file_tasks import encode_task
from course_lib.many_machines.inputs import (
    TASK_BYTES,
    check_apart,
    plan_tasks,
    read_task,
)
from course_lib.token_shards.shard_files import Manifest, ShardSettings
from course_lib.token_shards.shard_tasks import Job, TaskResult, run_job

MOST = 10**12  # machines, or devices, of an estimate

# Tokenizing.


@checked
def tokenize_files(
    inputs: Annotated[Iterable[str | os.PathLike], Several("paths")],
    tokenizer: object,
    out_dir: FilePath,
    *,
    num_workers: Annotated[int, AtLeast(1, 1024)] = 1,
    make_executor: Executor | Callable[[], Executor] | None = None,
    text_column: str = "text",
    suffixes: Sequence[str] = (),
    task_bytes: Length = TASK_BYTES,
    progress: bool | None = None,
    **settings: int | None,
) -> Manifest:
    """Tokenize input files into shards: those of `write_shards`, by many workers.

    Tasks encode pieces of the files and leave the results in `OUT_DIR.pieces`. From
    these, any worker can write any shard. A run that was killed is finished by running
    it again, and nothing that is there is made a second time. The documents of a
    finished folder are compared with those of the files by their hashes, and the folder
    is returned as it is.

    Args:
        inputs: files and folders, in the order of the documents; see `plan_tasks`.
        tokenizer: what `encode_corpus` takes.
        out_dir: a folder of their own; on a cluster every machine must see it.
        num_workers: processes of this machine; a script starts them under `if __name__
            == "__main__":`.
        make_executor: makes the executor to use instead of processes, for example
            `RayExecutor`; see `run_in_order`.
        text_column: which column of rows holds the texts.
        suffixes, task_bytes: see `plan_tasks`. The shards do not depend on the size of
            tasks, but a run must be finished with the one that it was begun with.
        progress: show a progress bar; by default unless `COURSE_PROGRESS=0`.
        settings: see `write_shards`.

    Raises ValueError if an input is wrong or the folders hold results of other inputs,
    another tokenizer or other settings, and BrokenExecutor if workers were killed again
    and again: run it again.
    """
    tokenizer, end = plain_tokenizer(tokenizer, settings.pop("end_of_text_id", None))
    settings = ShardSettings.of(tokenizer, end_of_text_id=end, **settings)
    # Workers, on other machines too, may be in another folder.
    inputs = [Path(os.path.abspath(check_path("inputs", path))) for path in inputs]
    check_apart(inputs, out_dir)
    tasks = plan_tasks(inputs, task_bytes=task_bytes, suffixes=suffixes)
    job = Job(
        Path(os.path.abspath(out_dir)),
        settings,
        text_column=text_column,
        task_bytes=task_bytes,
        tokenizer=None if isinstance(tokenizer, Tokenizer) else tokenizer,
    )
    make_executor = make_executor or partial(process_pool, num_workers)

    def texts() -> Iterator[str]:
        return (text for task in tasks for _, text in read_task(task, text_column))

    def results() -> Iterator[TaskResult]:
        look_at_first_texts(texts(), tokenizer)
        work = partial(encode_task, job)
        with closing(run_in_order(work, tasks, make_executor)) as done:
            yield from progress_bar(
                done, "tokenizing", unit="task", total=len(tasks), progress=progress
            )

    def do_each(write: Callable, plans: Sequence) -> Iterator:
        few = len(plans) < 3  # not worth another pool
        return run_in_order(write, plans, InThisProcess if few else make_executor)

    source = str(inputs[0]) if len(inputs) == 1 else f"{inputs[0]} and the other inputs"
    return run_job(
        job, tokenizer, texts(), results(), do_each, source=source, progress=progress
    )


# Feeding: every rank reads its own part of one order.


class RandomNumbers(IterableDataset):
    """Yield three random numbers, each with the number of the worker that drew it."""

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
    also after a resume, and other noise in the next epoch. Different seeds below
    2**128, epochs, and samples below 2**32 never give the same `SeedSequence`.
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
