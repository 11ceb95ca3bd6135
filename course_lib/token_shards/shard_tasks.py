"""Write shards so that a killed run loses nothing, with one worker or with many.

First, tasks encode some documents each, and store their ids and the number of ids in a
folder beside the shards. Sums of these numbers say what every shard is made of, so each
can be written independently. What is finished gets its name by a rename, and a task or
a shard may be done twice, because its bytes are always the same.

In this lesson one process does all tasks, one after another. In lesson 12 many do.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from course_lib.foundation import durable
from course_lib.foundation.arguments import (
    check_integer,
)
from course_lib.foundation.durable import DurableFile
from course_lib.foundation.progress import progress_bar
from course_lib.foundation.tokenizing import tokenizer_hash
from course_lib.token_shards import shard_files
from course_lib.token_shards.shard_files import (
    NO_DOCUMENTS,
    SPLITS,
    Manifest,
    Shard,
    ShardSettings,
)

JOB = "job.json"  #: what all tasks of a run share
TOKENIZER = "tokenizer.json"  #: the tokenizer of a run
#: the names of the files that a run leaves in its folder
OURS = re.compile(r"(\d{5,}|(train|val)_\d{6,}|job|tokenizer)\.(bin|documents|json)")
DOCUMENT = np.dtype([("digest", "V32"), ("length", "<i8")])  # a row of task results

# First half: tasks, which any worker may do, in any order, and more than once.


@dataclass(frozen=True)
class Job:
    """What all tasks of a run share, small because it is sent with each of them."""

    folder: str  #: where tasks leave their results. Every machine must see this folder.
    out_dir: str  #: where the shards go. Every machine must see this folder also.
    #: which column of rows holds the texts; None where texts themselves are given
    text_column: str | None
    settings: ShardSettings  #: the settings of the shards
    #: the tokenizer, or None if it is in the folder as `tokenizer.json`
    tokenizer: object = None


@dataclass(frozen=True)
class TaskResult:
    """The record of a finished task, such as `00012.json`, beside its two files."""

    number: int  #: the number of the task
    inputs: str  #: a hash of its pieces, as they were when they were read
    documents: int  #: how many documents it has read
    #: for each k, how many tokens its documents k, k + `val_every`, k + 2 `val_every`,
    #: ... have together. All of these documents are in one split. We know which split
    #: it is as soon as we know how many documents come before the task.
    tokens: tuple[int, ...]
    ids_sha256: str  #: the checksum of its file of ids
    documents_sha256: str  #: and of its file of documents

    def tokens_in(self, split: str, before: int, val_every: int) -> int:
        """Its tokens in a split, given how many documents come before the task."""
        k = -(before + 1) % val_every  # its first document of the split "val"
        val = self.tokens[k] if k < len(self.tokens) else 0
        return val if split == "val" else sum(self.tokens) - val


def begin_job(job: Job, tokenizer: object, task_bytes: int) -> int:
    """Write down the settings of a run, or compare them with those in the folder.
    Returns the size of tasks that the run was started with. Raises FileExistsError if
    the folder has files that no run of this kind made."""
    folder, out_dir = Path(job.folder), Path(job.out_dir)
    entries = {
        "settings": asdict(job.settings),
        "text_column": job.text_column,
        "task_bytes": task_bytes,
    }
    found = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    if foreign := sorted(name for name in found if not OURS.match(name)):
        raise FileExistsError(
            f"{folder / foreign[0]} is in the way: no run of this kind made it"
        )
    begun = durable.read_json(folder / JOB) if JOB in found else None
    done = any(name[0].isdigit() and name.endswith(".json") for name in found)
    if begun is None or not done:
        shard_files.refuse_shards(out_dir)
        durable.make_folder(folder)
        if job.tokenizer is None:
            durable.write_durably(folder / TOKENIZER, tokenizer.to_str().encode())
        durable.write_json(folder / JOB, entries)
        return task_bytes
    try:
        settings, column = ShardSettings(**begun["settings"]), begun["text_column"]
        task_bytes = check_integer("task_bytes", begun["task_bytes"], minimum=1)
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{folder / JOB} is damaged: {error}") from None
    shard_files.check_settings(folder, settings, job.settings)
    if column != job.text_column:
        raise ValueError(
            f"{folder} was begun with text_column {column!r} instead of "
            f"{job.text_column!r}; choose another folder"
        )
    for path in folder.glob(f"*{durable.TEMPORARY}"):
        path.unlink()  # what a killed worker was writing
    shard_files.remove_unfinished(out_dir)
    return task_bytes


def remove_job(job: Job) -> None:
    """Remove the files that a run has left beside the shards, and nothing else."""
    folder = Path(job.folder)
    try:
        if durable.read_json(folder / JOB)["settings"] != asdict(job.settings):
            return
    except (OSError, LookupError, ValueError):
        return  # the folder belongs to something else, or does not exist
    paths = [path for path in folder.iterdir() if OURS.match(path.name)]
    for path in sorted(paths, key=lambda path: path.name == JOB):  # the job comes last
        path.unlink()
    with suppress(OSError):  # the folder contains something else
        folder.rmdir()


class TaskWriter:
    """Writes the documents of a task into files of its own.

    The files depend only on the documents and the tokenizer, so a task may be done
    twice, even by two workers at the same time. Each writes under a name of its own,
    and the last one to finish replaces the files by files with the same bytes. The
    record is written last, because it says that the task is done.

    Use it as a context manager: what is not committed is discarded.
    """

    def __init__(self, job: Job, number: int):
        self.number = number
        ids_path, documents_path, self._record = task_paths(job, number)
        self._ids, self._documents = DurableFile(ids_path), DurableFile(documents_path)
        self._dtype, self._val_every = job.settings.file_dtype, job.settings.val_every
        self._tokens: list[int] = []  # see `TaskResult`
        self._count = 0

    def write(self, digest: bytes, ids: np.ndarray) -> None:
        """Write the ids of the next document, its end included, and its text's hash."""
        ids = shard_files.narrow(ids, self._dtype)
        self._ids.write(ids.data)
        self._documents.write(digest + len(ids).to_bytes(8, "little"))
        if self._count < self._val_every:
            self._tokens.append(0)
        self._tokens[self._count % self._val_every] += len(ids)
        self._count += 1

    @property
    def num_tokens(self) -> int:
        return sum(self._tokens)

    def commit(self, inputs: str = "") -> TaskResult:
        """Make the files durable, and then the record; `inputs` names what was read."""
        sums = self._ids.commit(), self._documents.commit()
        tokens = tuple(self._tokens)
        result = TaskResult(self.number, inputs, self._count, tokens, *sums)
        durable.write_json(self._record, asdict(result))
        return result

    def __enter__(self) -> TaskWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._ids.discard()
        self._documents.discard()


def hash_of(value: object) -> str:
    """Hash plain values: numbers and texts, and tuples and records of them."""
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()


def task_paths(job: Job, number: int) -> tuple[Path, Path, Path]:
    """The paths of a task's ids, documents and record."""
    base = Path(job.folder) / f"{number:05}"
    return tuple(base.with_suffix(end) for end in (".bin", ".documents", ".json"))


@lru_cache(maxsize=1)
def load_tokenizer(folder: str, wanted: str) -> Tokenizer:
    """Load the tokenizer once per process, and make sure that it is the right one."""
    path = Path(folder) / TOKENIZER
    tokenizer = Tokenizer.from_file(str(path))
    if tokenizer_hash(tokenizer) != wanted:
        raise ValueError(f"{path} is not the tokenizer of this run")
    return tokenizer


def find_result(job: Job, number: int) -> TaskResult | None:
    """Return the result of a task if it is done, and its files have the right size."""
    ids_path, documents_path, record_path = task_paths(job, number)
    try:
        record = durable.read_json(record_path)
        result = TaskResult(**record | {"tokens": tuple(record["tokens"])})
        width = job.settings.file_dtype.itemsize
        sizes = [sum(result.tokens) * width, result.documents * DOCUMENT.itemsize]
        found = [path.stat().st_size for path in (ids_path, documents_path)]
    except (FileNotFoundError, LookupError, TypeError, ValueError):
        return None  # not done, or damaged, so that the task must be done again
    return result if sizes == found else None


def find_first_results(job: Job) -> list[TaskResult]:
    """Return the results of the tasks 0, 1, 2, ... up to the first that is not done."""
    results = []
    while (result := find_result(job, len(results))) is not None:
        results.append(result)
    return results


def check_begun(job: Job, results: Sequence[TaskResult], texts: Iterator[str]) -> None:
    """Take as many texts as results hold; refuse them if they are not the same."""
    count = sum(result.documents for result in results)
    for result in results:
        path = task_paths(job, result.number)[1]
        for digest in np.fromfile(path, dtype=DOCUMENT)["digest"]:
            text = next(texts, None)
            if text is None or shard_files.text_digest(text) != digest.tobytes():
                raise ValueError(
                    f"documents differ from those of the run that {job.out_dir} was "
                    f"begun with, somewhere in the first {count}"
                )


def count_up_to(job: Job, result: TaskResult, max_tokens: int) -> TaskResult:
    """Cut a result before the first document that brings it above `max_tokens`."""
    rows = np.fromfile(task_paths(job, result.number)[1], dtype=DOCUMENT)
    count = int(np.searchsorted(np.cumsum(rows["length"]), max_tokens, side="right"))
    lengths, k = rows["length"][:count], job.settings.val_every
    tokens = tuple(int(lengths[i::k].sum()) for i in range(min(k, count)))
    return replace(result, documents=count, tokens=tokens)


# Second half: now we know where all tokens are, so shards can be written in any order.


@dataclass(frozen=True)
class Part:
    """A range of the tokens of one split in the result of a task."""

    result: TaskResult  #: the result of the task
    before: int  #: how many documents, in all tasks, come before those of this task
    start: int  #: the first token, counted over those of the split in this task
    stop: int  #: the one after the last


@dataclass(frozen=True)
class ShardPlan:
    """What one shard is made of: parts of tasks' results, one after another."""

    split: str
    index: int
    parts: tuple[Part, ...]

    @property
    def num_tokens(self) -> int:
        return sum(part.stop - part.start for part in self.parts)


def plan_shards(
    results: Sequence[TaskResult],
    settings: ShardSettings,
) -> list[ShardPlan]:
    """Say which tokens go into which shard, from the number of tokens of each task.

    In each split, the sum over all earlier tasks says where the tokens of a task begin.
    """
    before = np.cumsum([0, *(result.documents for result in results)]).tolist()
    plans = []
    for split in SPLITS:
        counts = [
            result.tokens_in(split, first, settings.val_every)
            for result, first in zip(results, before, strict=False)
        ]
        ends = np.cumsum(counts, dtype=np.int64)
        total = int(ends[-1]) if counts else 0
        for index, start in enumerate(range(0, total, settings.shard_size)):
            stop = min(total, start + settings.shard_size)
            first = np.searchsorted(ends, start, side="right")
            last = np.searchsorted(ends, stop, side="left")
            parts = []
            for k in range(first, last + 1):
                begin = int(ends[k]) - counts[k]
                low, high = max(start, begin) - begin, min(stop, int(ends[k])) - begin
                if high > low:
                    parts.append(Part(results[k], before[k], low, high))
            plans.append(ShardPlan(split, index, tuple(parts)))
    return plans


@dataclass(frozen=True)
class ShardResult:
    """The record of a shard that has been written, beside the records of the tasks."""

    plan: str  #: a hash of the shard's plan
    shard: Shard  #: the shard's entry in the manifest
    #: the name of the documents that start in the shard (`add_document`). The names of
    #: all shards add up to the name of all documents.
    documents: str


def write_shard(job: Job, plan: ShardPlan) -> ShardResult:
    """Write one shard from the results of tasks. Like a task, it may be done twice.

    Raises ValueError if a file is not as its task has written it.
    """
    folder = job.out_dir
    path = shard_files.shard_path(folder, plan.split, plan.index)
    file, starts, num_tokens, name = DurableFile(path), [], 0, NO_DOCUMENTS
    try:
        for part in plan.parts:
            ids, rows, numbers = _read_split(job, part, plan.split)
            ends = np.cumsum(rows["length"])
            begins = ends - rows["length"]  # over the split's tokens in this task
            own = (begins >= part.start) & (begins < part.stop)
            starts.append(begins[own] - part.start + num_tokens)
            for number, row in zip(numbers[own].tolist(), rows[own], strict=True):
                name = shard_files.add_document(name, number, row["digest"].tobytes())
            file.write(ids[part.start : part.stop].data)
            num_tokens += part.stop - part.start
        sha256 = file.commit()
    finally:
        file.discard()
    starts = np.concatenate(starts).astype("<i8")
    path = shard_files.starts_path(job.out_dir, plan.split, plan.index)
    starts_sha256 = durable.write_durably(path, starts.tobytes())
    shard = Shard(num_tokens, len(starts), sha256, starts_sha256)
    result = ShardResult(hash_of(plan), shard, f"{name:064x}")
    durable.write_json(_record_of(job, plan), asdict(result))
    return result


def _record_of(job: Job, plan: ShardPlan) -> Path:
    path = shard_files.shard_path(job.folder, plan.split, plan.index)
    return path.with_suffix(".json")


def find_shard(
    job: Job, plan: ShardPlan, *, verify: bool = False
) -> ShardResult | None:
    """Return the record of a shard if the same plan has written it, of the right size.

    With `verify`, its SHA-256 is also compared.
    """
    try:
        record = durable.read_json(_record_of(job, plan))
        result = ShardResult(**record | {"shard": Shard(**record["shard"])})
        if result.plan != hash_of(plan):
            return None
        files = shard_files.files_of_shard(
            job.settings, plan.split, plan.index, result.shard
        )
        shard_files.check_files(job.out_dir, files, sums=verify, progress=False)
    except (FileNotFoundError, LookupError, TypeError, ValueError):
        return None
    return result


def _read_split(
    job: Job, part: Part, split: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read a task's ids of one split, its documents there, and their numbers."""
    result = part.result
    ids_path, documents_path, record_path = task_paths(job, result.number)
    expected = (ids_path, result.ids_sha256), (documents_path, result.documents_sha256)
    for path, sha256 in expected:
        if durable.checksum(path) != sha256:
            raise ValueError(f"{path} is damaged: remove {record_path}, run it again")
    ids = np.fromfile(ids_path, dtype=job.settings.file_dtype)
    rows = np.fromfile(documents_path, dtype=DOCUMENT)[: result.documents]
    numbers = part.before + 1 + np.arange(len(rows))
    chosen = (numbers % job.settings.val_every == 0) == (split == "val")
    ids = ids[: rows["length"].sum()][np.repeat(chosen, rows["length"])]
    return ids, rows[chosen], numbers[chosen]


def full_plans(
    results: Sequence[TaskResult], settings: ShardSettings
) -> list[ShardPlan]:
    """Return the plans of the shards that no further task can add anything to."""
    plans = plan_shards(results, settings)
    return [plan for plan in plans if plan.num_tokens == settings.shard_size]


def finish_job(
    job: Job,
    results: Sequence[TaskResult],
    do_each: Callable[[Callable, Sequence], Iterable] = map,
    *,
    verify: bool = False,
    progress: bool | None = None,
) -> Manifest:
    """Write all shards that are not there, and then the manifest: it is finished.

    Args:
        do_each: does some work for each of several plans, and yields the results in
            their order, as `map` does.
        verify: read the shards that are there, and compare their SHA-256, not their
            sizes alone.
    """
    if not sum(result.documents for result in results):
        raise ValueError(shard_files.NONE_FITS)
    plans = plan_shards(results, job.settings)
    found = [find_shard(job, plan, verify=verify) for plan in plans]
    left = [p for p, shard in zip(plans, found, strict=True) if shard is None]
    new = do_each(partial(write_shard, job), left)
    done = (shard or next(new) for shard in found)
    bar = progress_bar(
        done, "writing shards", unit="shard", total=len(plans), progress=progress
    )
    shards: dict[str, list[Shard]] = {split: [] for split in SPLITS}
    name = NO_DOCUMENTS
    for plan, result in zip(plans, bar, strict=True):
        shards[plan.split].append(result.shard)
        name = (name + int(result.documents, 16)) % 2**256
    whole = {split: tuple(shards[split]) for split in SPLITS}
    manifest = Manifest(job.settings, f"{name:064x}", whole)
    for surplus in shard_files.surplus_files(job.out_dir, manifest):
        Path(job.out_dir, surplus).unlink()  # of inputs that have changed since
    shard_files.write_manifest(job.out_dir, manifest)
    return manifest
