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
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from course_lib.foundation import DurableFile, durable, progress_bar
from course_lib.token_shards import shard_files
from course_lib.token_shards.hashing import tokenizer_hash
from course_lib.token_shards.shard_files import (
    MANIFEST,
    NO_DOCUMENTS,
    SPLITS,
    UNFINISHED,
    Manifest,
    Shard,
    ShardSettings,
)

JOB = "job.json"  #: what all tasks of a run share
TOKENIZER = "tokenizer.json"  #: the tokenizer of a run
#: the names of the files that a run leaves in its folder
OURS = re.compile(r"(\d{5,}|(train|val)_\d{6,}|job|tokenizer)\.(bin|documents|json)")
DOCUMENT = np.dtype([("digest", "V32"), ("length", "<i8")])  # a row of task results

# The run.


@dataclass(frozen=True)
class Job:
    """What all tasks of a run share, small because it is sent with each of them."""

    out_dir: Path  #: where the shards go. Every machine must see this folder.
    settings: ShardSettings  #: the settings of the shards
    #: which column of rows holds the texts; None where texts themselves are given
    text_column: str | None = None
    task_bytes: int | None = None  #: how much of a file a task reads, if it reads files
    #: the tokenizer, or None if it is in the folder as `tokenizer.json`
    tokenizer: object = None

    @property
    def folder(self) -> Path:
        """Where tasks leave their results. Every machine must see this folder, too."""
        return shard_files.pieces_folder(self.out_dir)


def run_job(
    job: Job,
    tokenizer: object,
    texts: Iterable[str],
    results: Generator[TaskResult],
    do_each: Callable[[Callable, Sequence], Iterable] = map,
    *,
    source: str = "documents",
    progress: bool | None = None,
) -> Manifest:
    """Write the shards of a job, finish a run that was killed, or compare.

    Args:
        texts: the documents; only if the folder is finished, they are read, and must be
            those that it was finished with.
        results: those of all tasks, in order. Otherwise, they are read, which is what
            does the tasks.
        do_each: does some work for each of several plans, and yields the results in
            their order, as `map` does.
        source: what an error calls the documents.
    """
    if (job.out_dir / MANIFEST).is_file():
        manifest = shard_files.open_manifest(job.out_dir)
        old, new = asdict(manifest.settings), asdict(job.settings)
        shard_files.check_settings(job.out_dir, old, new)
        shard_files.check_documents(job.out_dir, manifest, texts)
    else:
        durable.make_folder(job.out_dir)
        with durable.only_writer(job.out_dir):
            _begin(job, tokenizer)
            plans = plan_shards(list(_up_to_limit(job, results)), job.settings)
            if not plans:
                limit = job.settings.max_tokens
                few = f" of no more than max_tokens, {limit:,} ids" if limit else ""
                raise ValueError(f"{source} must hold at least one document{few}")
            shards = do_each(partial(write_shard, job), plans)
            bar = {"unit": "shard", "total": len(plans), "progress": progress}
            shards = progress_bar(shards, "writing shards", **bar)
            manifest = _finish(job, tokenizer, plans, shards)
    _clean_up(job)
    return manifest


def _begin(job: Job, tokenizer: object) -> None:
    """Write down the settings of a run, or compare them with those in the folder.

    Raises FileExistsError if the folders hold files that no run of this kind made.
    """
    entries = {**asdict(job.settings), "text_column": job.text_column}
    entries["task_bytes"] = job.task_bytes
    folder = job.folder
    found = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    if foreign := sorted(name for name in found if not OURS.match(name)):
        raise FileExistsError(
            f"{folder / foreign[0]} is in the way: no run of this kind made it"
        )
    done = any(name[0].isdigit() and name.endswith(".json") for name in found)
    if JOB in found and done:
        begun = durable.read_json(folder / JOB)
        if begun.keys() != entries.keys():
            raise ValueError(f"{folder / JOB} is damaged, or of another version")
        shard_files.check_settings(folder, begun, entries)
        for path in job.out_dir.iterdir():
            if UNFINISHED.fullmatch(path.name):
                path.unlink()
        return
    if shards := shard_files.names_of_shards(job.out_dir):
        raise FileExistsError(
            f"{job.out_dir / min(shards)} is in the way: nothing says what it is; "
            "choose an empty folder"
        )
    durable.make_folder(folder)
    if job.tokenizer is None:
        durable.write_durably(folder / TOKENIZER, tokenizer.to_str().encode())
    durable.write_json(folder / JOB, entries)


def _up_to_limit(job: Job, results: Generator[TaskResult]) -> Iterator[TaskResult]:
    """Yield results, up to the first document that brings all above `max_tokens`."""
    left = job.settings.max_tokens
    with closing(results):  # or workers would go on
        for result in results:
            if left is not None and sum(result.tokens) > left:
                yield _cut(job, result, left)
                return
            yield result
            left = left and left - sum(result.tokens)


def _cut(job: Job, result: TaskResult, max_tokens: int) -> TaskResult:
    rows = np.fromfile(task_paths(job, result.number)[1], dtype=DOCUMENT)
    count = int(np.searchsorted(np.cumsum(rows["length"]), max_tokens, side="right"))
    lengths, k = rows["length"][:count], job.settings.val_every
    tokens = tuple(int(lengths[i::k].sum()) for i in range(min(k, count)))
    return replace(result, documents=count, tokens=tokens)


def _finish(
    job: Job,
    tokenizer: object,
    plans: Sequence[ShardPlan],
    written: Iterable[tuple[Shard, int]],
) -> Manifest:
    """Write the manifest of all shards: the folder is finished."""
    shards: dict[str, list[Shard]] = {split: [] for split in SPLITS}
    documents = NO_DOCUMENTS
    for plan, (shard, own) in zip(plans, written, strict=True):
        shards[plan.split].append(shard)
        documents = (documents + own) % 2**256
    in_order = {split: tuple(shards[split]) for split in SPLITS}
    probe = shard_files.probe_tokenizer(tokenizer, job.settings.end_of_text_id)
    manifest = Manifest(job.settings, f"{documents:064x}", in_order, probe)
    for surplus in shard_files.surplus_files(job.out_dir, manifest):
        Path(job.out_dir, surplus).unlink()  # of inputs that have changed since
    shard_files.write_manifest(job.out_dir, manifest)
    return manifest


def _clean_up(job: Job) -> None:
    """Remove the files that a run has left beside the shards, and nothing else."""
    try:
        begun = durable.read_json(job.folder / JOB)
    except (OSError, ValueError):
        return  # the folder belongs to something else, or does not exist
    if not asdict(job.settings).items() <= begun.items():
        return
    paths = [path for path in job.folder.iterdir() if OURS.match(path.name)]
    for path in sorted(paths, key=lambda path: path.name == JOB):  # the job comes last
        path.unlink()
    with suppress(OSError):  # the folder contains something else
        job.folder.rmdir()


# First half: tasks, which any worker may do, in any order, and more than once.


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

    def write(self, text: str, ids: np.ndarray) -> None:
        """Write the ids of the next document, its end included, and its text's hash."""
        if (largest := ids.max()) > np.iinfo(self._dtype).max:
            raise ValueError(
                f"tokenizer must keep to its vocabulary, whose ids are "
                f"{self._dtype.name}; it gave the id {largest}"
            )
        self._ids.write(np.ascontiguousarray(ids, dtype=self._dtype).data)
        digest = shard_files.text_digest(text)
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


def task_paths(job: Job, number: int) -> tuple[Path, Path, Path]:
    """The paths of a task's ids, documents and record."""
    base = job.folder / f"{number:05}"
    return tuple(base.with_suffix(end) for end in (".bin", ".documents", ".json"))


def find_result(job: Job, number: int, inputs: str = "") -> TaskResult | None:
    """Return the result of a task if it is done, with the same inputs, and its files
    have the right size."""
    ids_path, documents_path, record_path = task_paths(job, number)
    try:
        record = durable.read_json(record_path)
        result = TaskResult(**record | {"tokens": tuple(record["tokens"])})
        width = job.settings.file_dtype.itemsize
        sizes = [sum(result.tokens) * width, result.documents * DOCUMENT.itemsize]
        found = [path.stat().st_size for path in (ids_path, documents_path)]
    except (FileNotFoundError, LookupError, TypeError, ValueError):
        return None  # not done, or damaged, so that the task must be done again
    return result if sizes == found and result.inputs == inputs else None


def check_texts(
    job: Job, result: TaskResult, before: int, texts: Iterator[str]
) -> None:
    """Take as many texts as a result holds, the first of which is number `before`;
    refuse them if they are not those that it was made of."""
    path = task_paths(job, result.number)[1]
    digests = np.fromfile(path, dtype=DOCUMENT)["digest"]
    for number, digest in enumerate(digests, start=before):
        text = next(texts, None)
        if text is None or shard_files.text_digest(text) != digest.tobytes():
            found = "is missing" if text is None else "has another text"
            raise ValueError(
                f"documents differ from those that {job.out_dir} was begun with: "
                f"number {number}, counted from 0, {found}; choose another folder"
            )


@lru_cache(maxsize=1)
def load_tokenizer(folder: Path, wanted: str) -> Tokenizer:
    """Load the tokenizer once per process, and make sure that it is the right one."""
    path = folder / TOKENIZER
    tokenizer = Tokenizer.from_file(str(path))
    if tokenizer_hash(tokenizer) != wanted:
        raise ValueError(f"{path} is not the tokenizer of this run")
    return tokenizer


def hash_of(value: object) -> str:
    """Hash plain values: numbers and texts, and tuples and records of them."""
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()


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


def plan_shards(
    results: Sequence[TaskResult], settings: ShardSettings
) -> list[ShardPlan]:
    """Say which tokens go into which shard, from the number of tokens of each task.

    In each split, prefix sums of these numbers say where the tokens of a task begin.
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


def write_shard(job: Job, plan: ShardPlan) -> tuple[Shard, int]:
    """Write one shard from the results of tasks, unless the same plan has written it.

    Returns its entry in the manifest, and the name of the documents that start in it
    (`add_document`): the names of all shards add up to the name of all documents. Like
    a task, it may be done twice. Raises ValueError if a file is not as its task has
    written it.
    """
    path = shard_files.shard_path(job.out_dir, plan.split, plan.index)
    record_path = (job.folder / path.name).with_suffix(".json")
    if found := _find_shard(job, plan, record_path):
        return found
    file, starts, num_tokens, documents = DurableFile(path), [], 0, NO_DOCUMENTS
    try:
        for part in plan.parts:
            ids, rows, numbers, places = _open_split(job, part, plan.split)
            ends = np.cumsum(rows["length"])
            begins = ends - rows["length"]  # over the split's tokens in this task
            own = (begins >= part.start) & (begins < part.stop)
            starts.append(begins[own] - part.start + num_tokens)
            for number, row in zip(numbers[own].tolist(), rows[own], strict=True):
                digest = row["digest"].tobytes()
                documents = shard_files.add_document(documents, number, digest)
            # Document by document, so that no task has to fit into memory.
            cuts = np.clip([begins, ends], part.start, part.stop) - begins + places
            for first, last in cuts[:, cuts[0] < cuts[1]].T:
                file.write(ids[first:last].data)
            num_tokens += part.stop - part.start
        sha256 = file.commit()
    finally:
        file.discard()
    starts = np.concatenate(starts).astype("<i8")
    path = shard_files.starts_path(job.out_dir, plan.split, plan.index)
    starts_sha256 = durable.write_durably(path, starts.tobytes())
    shard = Shard(num_tokens, len(starts), sha256, starts_sha256)
    record = {"plan": hash_of(plan), "shard": asdict(shard)}
    durable.write_json(record_path, record | {"documents": f"{documents:064x}"})
    return shard, documents


def _find_shard(
    job: Job, plan: ShardPlan, record_path: Path
) -> tuple[Shard, int] | None:
    """Return what a killed run has written, if its files hold what it wrote."""
    try:
        record = durable.read_json(record_path)
        if record["plan"] != hash_of(plan):
            return None
        shard = Shard(**record["shard"])
        files = shard_files.files_of_shard(job.settings, plan.split, plan.index, shard)
        shard_files.check_files(job.out_dir, files, sums=True, progress=False)
        return shard, int(record["documents"], 16)
    except (FileNotFoundError, LookupError, TypeError, ValueError):
        return None


def _open_split(
    job: Job, part: Part, split: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Map a task's ids, and read its documents in one split, their numbers, and where
    each begins in the ids."""
    result = part.result
    ids_path, documents_path, record_path = task_paths(job, result.number)
    expected = (ids_path, result.ids_sha256), (documents_path, result.documents_sha256)
    for path, sha256 in expected:
        if durable.checksum(path) != sha256:
            raise ValueError(f"{path} is damaged: remove {record_path}, run it again")
    ids = np.memmap(ids_path, dtype=job.settings.file_dtype, mode="r")
    rows = np.fromfile(documents_path, dtype=DOCUMENT)[: result.documents]
    numbers = part.before + 1 + np.arange(len(rows))
    chosen = (numbers % job.settings.val_every == 0) == (split == "val")
    places = np.cumsum(rows["length"]) - rows["length"]
    return ids, rows[chosen], numbers[chosen], places[chosen]
