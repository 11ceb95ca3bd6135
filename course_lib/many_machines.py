"""Lesson 11: tokenizing and feeding when one machine is not enough.

Tokenizing is cut into tasks that anyone may do, twice if need be; one process places
their results in the order of the documents, so the shards are those of lesson 10. In
training every rank reads its own part of one order, and all of them divide by the same
number of targets.

    python -m course_lib.many_machines tokenize --help
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import distributed, nn
from torch.utils.data import get_worker_info

from course_lib.foundation import (
    IGNORED,
    NO_DOCUMENTS,
    TASK_BYTES,
    CharTokenizer,
    ConvolutionModel,
    DurableFile,
    Manifest,
    RayExecutor,
    ShardSettings,
    ShardWriter,
    SmallAdam,
    Task,
    as_stream,
    check_integer,
    check_number,
    check_state,
    checksum,
    encode_each,
    list_files,
    narrow,
    next_chain,
    plain_tokenizer,
    plan_tasks,
    process_group,
    process_pool,
    progress_bar,
    read_json,
    read_task,
    run_in_order,
    smallest_dtype,
    text_digest,
    tokenizer_hash,
    write_json,
)
from course_lib.token_shards import GlobalOrder

DIGEST_BYTES = 32
JOB, TOKENIZER = "job.json", "tokenizer.json"
POSITION = ("model", "optimizer", "epoch", "rows_delivered")  # in a state of training

# Tokenizing: tasks that anyone may do, in any order, and again.


@dataclass(frozen=True)
class Job:
    """What all tasks of a run share; small, for it travels with each of them.

    Attributes:
        folder: where tasks leave their results; every machine must see it.
        text_column: which column of rows holds the texts.
        settings: those of the shards.
        tokenizer: None if it lies in the folder as `tokenizer.json`.
    """

    folder: str
    text_column: str
    settings: ShardSettings
    tokenizer: object = None


def encode_task(job: Job, task: Task) -> int:
    """Encode the documents of a task into files of its own; return how many they are.

    Its result depends on its input and the tokenizer alone. So it may be done twice,
    even by two workers at once: each writes under a name of its own, and the last one
    to be done puts the same bytes in the place of the same bytes. The file
    `00012.json` is written last: it says that task 12 is done.
    """
    paths = _paths(job, task.number)
    attempt = uuid.uuid4().hex
    tokenizer = job.tokenizer or _load_tokenizer(job.folder, job.settings.tokenizer)
    ids_file, documents_file = (
        DurableFile(path.with_name(f"{path.name}.{attempt}"))
        for path in (paths["ids"], paths["documents"])
    )
    num_documents, num_tokens = 0, 0
    try:
        digests: list[bytes] = []

        def texts() -> Iterator[str]:
            for text in read_task(task, job.text_column):
                digests.append(text_digest(text))
                yield text

        end = job.settings.end_of_text_id
        for ids in encode_each(texts(), tokenizer, end_of_text_id=end):
            ids_file.write(narrow(ids, job.settings.file_dtype).data)
            documents_file.write(digests.pop(0) + len(ids).to_bytes(8, "little"))
            num_documents, num_tokens = num_documents + 1, num_tokens + len(ids)
        done = {
            "pieces": [asdict(piece) for piece in task.pieces],
            "documents": num_documents,
            "tokens": num_tokens,
            "ids_sha256": ids_file.commit(),
            "documents_sha256": documents_file.commit(),
        }
    finally:
        ids_file.discard()
        documents_file.discard()
    os.replace(ids_file.path, paths["ids"])
    os.replace(documents_file.path, paths["documents"])
    record = paths["done"].with_name(f"{paths['done'].name}.{attempt}")
    write_json(record, done)
    os.replace(record, paths["done"])
    return num_documents


def _paths(job: Job, number: int) -> dict[str, Path]:
    base = Path(job.folder) / f"{number:05}"
    ends = {"ids": ".bin", "documents": ".documents", "done": ".json"}
    return {name: base.with_suffix(end) for name, end in ends.items()}


@lru_cache(maxsize=1)
def _load_tokenizer(folder: str, wanted: str) -> Tokenizer:
    """Load the tokenizer once a process, and make sure that it is the right one."""
    path = Path(folder) / TOKENIZER
    tokenizer = Tokenizer.from_file(str(path))
    if tokenizer_hash(tokenizer) != wanted:
        raise ValueError(f"{path} is not the tokenizer of this run")
    return tokenizer


def is_done(job: Job, task: Task) -> bool:
    """Say whether a task has left its results, and its input is still the same."""
    paths = _paths(job, task.number)
    if not paths["done"].is_file():
        return False
    done = read_json(paths["done"])
    if done["pieces"] != [asdict(piece) for piece in task.pieces]:
        return False
    sizes = {
        "ids": done["tokens"] * np.dtype(job.settings.dtype).itemsize,
        "documents": done["documents"] * (DIGEST_BYTES + 8),
    }
    return all(
        paths[name].is_file() and paths[name].stat().st_size == size
        for name, size in sizes.items()
    )


def read_result(job: Job, number: int) -> Iterator[tuple[bytes, np.ndarray]]:
    """Yield the digest and the ids of each document of a task that is done.

    Raises:
        ValueError: what lies there is not what the task has written.
    """
    paths = _paths(job, number)
    done = read_json(paths["done"])
    for name in ("ids", "documents"):
        if checksum(paths[name]) != done[f"{name}_sha256"]:
            raise ValueError(
                f"{paths[name]} is damaged: remove {paths['done']} and run it again"
            )
    ids = np.fromfile(paths["ids"], dtype=job.settings.file_dtype)
    rows = np.fromfile(paths["documents"], dtype=[("digest", "V32"), ("length", "<i8")])
    ends = np.cumsum(rows["length"])
    for digest, end, length in zip(rows["digest"], ends, rows["length"], strict=True):
        yield digest.tobytes(), ids[end - length : end]


def tokenize_files(
    inputs: Iterable[str | os.PathLike],
    tokenizer: object,
    out_dir: str | os.PathLike,
    *,
    num_workers: int = 1,
    make_executor: Executor | Callable[[], Executor] | None = None,
    shard_size: int = 100_000_000,
    val_every: int = 100,
    max_tokens: int | None = None,
    end_of_text_id: int | None = None,
    text_column: str = "text",
    task_bytes: int = TASK_BYTES,
    progress: bool | None = None,
) -> Manifest:
    """Tokenize input files into shards: those of `write_shards`, by many workers.

    Tasks encode pieces of the files and leave the results beside the shards, in
    `OUT_DIR.pieces`. This process places them in the order of the documents, whatever
    the order in which the tasks end. A run that was killed is finished by running it
    again: what its tasks have left is not encoded a second time.

    Args:
        inputs: files and folders, in the order of the documents; see `plan_tasks`.
        tokenizer: of `tokenizers`, wrapped or not, or of the course.
        out_dir: a folder of their own; on a cluster every machine must see it.
        num_workers: processes of this machine.
        make_executor: instead of them: makes an executor, such as `RayExecutor`; see
            `run_in_order`.
        shard_size, val_every, max_tokens, end_of_text_id: see `write_shards`.
        text_column: which column of rows holds the texts.
        task_bytes: a task reads about so many bytes. The shards do not depend on it.
        progress: show a progress bar; by default unless `COURSE_PROGRESS=0`.

    Raises:
        ValueError: an input is wrong, and where; or the folders hold something of
            other inputs, another tokenizer or other settings.
        BrokenExecutor: workers were killed again and again; run it again.
    """
    if make_executor is None:
        num_workers = check_integer("num_workers", num_workers, minimum=1, maximum=1024)
        make_executor = partial(process_pool, num_workers)
    tokenizer, end_of_text_id = plain_tokenizer(tokenizer, end_of_text_id)
    settings = ShardSettings.of(
        tokenizer,
        shard_size=shard_size,
        val_every=val_every,
        max_tokens=max_tokens,
        end_of_text_id=end_of_text_id,
    )
    if not isinstance(text_column, str):
        raise TypeError(f"text_column must be a str, got {type(text_column).__name__}")
    out_dir = Path(os.path.abspath(out_dir))
    files = [Path(os.path.abspath(path)) for path in list_files(inputs)]
    tasks = plan_tasks(files, task_bytes=task_bytes)
    pieces = out_dir.with_name(out_dir.name + ".pieces")
    is_library = isinstance(tokenizer, Tokenizer)
    job = Job(str(pieces), text_column, settings, None if is_library else tokenizer)
    with ShardWriter(out_dir, settings) as writer:
        if writer.manifest is None:
            _begin_job(job, tokenizer)
            _place_all(job, tasks, writer, make_executor, progress)
        if (pieces / JOB).is_file():  # and not a folder of somebody else
            shutil.rmtree(pieces)
        return writer.manifest


def _begin_job(job: Job, tokenizer: object) -> None:
    """Write down what all tasks depend on, or compare with what is written there."""
    folder = Path(job.folder)
    entries = {"settings": asdict(job.settings), "text_column": job.text_column}
    if (folder / JOB).is_file():
        begun = read_json(folder / JOB)
        for name, value in entries.items():
            if begun.get(name) != value:
                raise ValueError(
                    f"{folder} was begun with other {name}: remove it, or choose "
                    "another folder for the shards"
                )
        for path in folder.glob("*.*.*"):
            path.unlink()  # what a killed worker was writing
        return
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is in the way: it is not of such a run")
    folder.mkdir(parents=True, exist_ok=True)
    if job.tokenizer is None:
        tokenizer.save(str(folder / TOKENIZER))
    write_json(folder / JOB, entries)


def _place_all(
    job: Job,
    tasks: Sequence[Task],
    writer: ShardWriter,
    make_executor: Executor | Callable[[], Executor],
    progress: bool | None,
) -> None:
    left = [task for task in tasks if not is_done(job, task)]
    waiting = {task.number for task in left}
    results = run_in_order(partial(encode_task, job), left, make_executor)
    number, chain = 0, NO_DOCUMENTS
    try:
        for task in progress_bar(tasks, "tokenizing", unit="task", progress=progress):
            if task.number in waiting:
                next(results)
            for digest, ids in read_result(job, task.number):
                number, chain = number + 1, next_chain(chain, digest)
                writer.check(number, chain)
                if writer.needs(number) and not writer.place(number, chain, ids):
                    writer.finish()  # max_tokens are reached
                    return
    finally:
        results.close()
    writer.check_end(number)
    writer.finish()


# Feeding: every rank reads its own part of one order.


def reader_number() -> tuple[int, int]:
    """Say which reader this process is, and of how many: each worker of each rank.

    (0, 1) in a process without ranks and workers.
    """
    rank, world_size = rank_and_size()
    worker = get_worker_info()
    if worker is None:
        return rank, world_size
    return worker.id * world_size + rank, worker.num_workers * world_size


def rank_and_size() -> tuple[int, int]:
    """The number of this rank, and of how many; (0, 1) without a group."""
    if not distributed.is_initialized():
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()


def rows_of_documents(
    texts: Iterable[str], tokenizer: object, context_length: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Make one row of each text: inputs, and targets that are -100 where it is padded.

    Returns:
        inputs and targets, int64, shape (documents, T). What is longer is cut.
    """
    context_length = check_integer("context_length", context_length, minimum=1)
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


def sum_over_ranks(tensor: torch.Tensor) -> torch.Tensor:
    """Add up a tensor over all ranks, in place; every rank must take part."""
    if distributed.is_initialized():
        distributed.all_reduce(tensor)
    return tensor


def backward_by_targets(
    model: nn.Module, loss_sum: torch.Tensor, num_scored: int
) -> float:
    """Give every parameter the gradient of the mean loss over the targets of all ranks.

    Each rank divides its sum by the number of targets of *all* of them, and then the
    gradients are added up. `DistributedDataParallel` takes their mean instead of their
    sum, so there the loss would be multiplied by the number of ranks first.

    Returns:
        the mean loss, the same on every rank.
    """
    totals = torch.tensor([float(loss_sum.detach()), float(num_scored)]).double()
    nats, scored = sum_over_ranks(totals).tolist()
    if not scored:
        raise ValueError("no rank has a target to score in this step")
    (loss_sum / scored).backward()
    for parameter in model.parameters():
        sum_over_ranks(parameter.grad)
    return nats / scored


def backward_by_ranks(
    model: nn.Module, loss_sum: torch.Tensor, num_scored: int
) -> float:
    """The naive twin: the mean of the ranks' own means.

    A target counts the more, the fewer its rank has. Returns the mean of means.
    """
    _, world_size = rank_and_size()
    mean = loss_sum / num_scored
    mean.backward()
    for parameter in model.parameters():
        sum_over_ranks(parameter.grad)
        parameter.grad /= world_size
    return float(sum_over_ranks(mean.detach().clone())) / world_size


LOSSES = {"global": backward_by_targets, "mean of means": backward_by_ranks}


@dataclass(frozen=True)
class RankReport:
    """What a rank has done.

    Attributes:
        losses: of each step, the same on every rank.
        rows: that this rank has read, in order.
        scored: targets of this rank in each step.
        state: to go on from, on any number of ranks.
    """

    losses: list[float]
    rows: list[int]
    scored: list[int]
    state: dict[str, Any]

    @property
    def weights(self) -> torch.Tensor:
        """All parameters of the model, in one row."""
        return torch.cat([w.flatten() for w in self.state["model"].values()])


def train_rank(
    inputs: torch.Tensor,
    targets: torch.Tensor,
    vocab_size: int,
    *,
    batch_size: int,
    num_steps: int,
    base_seed: int = 0,
    loss: str = "global",
    learning_rate: float = 1e-2,
    state: Mapping[str, Any] | None = None,
) -> RankReport:
    """Train a small model on rows, as one rank of many or as the only process.

    Every rank calls it with the same arguments. All begin with the same weights, take
    equally many steps, and read different rows of one order, a new one each epoch. At
    its end the rows that are too few for a step are left out.

    Args:
        inputs, targets: shape (rows, T); a target of -100 is not scored.
        vocab_size: V.
        batch_size: rows in a step, of all ranks together; it must divide evenly.
        num_steps: to take now.
        base_seed: orders the rows, and draws the first weights.
        loss: "global", by the targets of all ranks, or "mean of means".
        learning_rate: of Adam.
        state: of a report, of another number of ranks or rows in a step, too: goes on
            from there.

    Raises:
        TypeError, ValueError: a wrong argument; too few rows for a step; or the state
            is of other rows, another vocabulary or another seed.
    """
    rank, world_size = rank_and_size()
    batch_size = check_integer("batch_size", batch_size, minimum=1)
    num_steps = check_integer("num_steps", num_steps, minimum=1)
    learning_rate = check_number("learning_rate", learning_rate, above=0)
    if batch_size % world_size:
        raise ValueError(
            f"batch_size must be a multiple of the {world_size} ranks, got {batch_size}"
        )
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}")
    order = GlobalOrder(
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
    optimizer = SmallAdam(model.parameters(), learning_rate)
    settings = {
        "rows": fingerprint(inputs, targets),
        "vocab_size": model.embedding.num_embeddings,
        "base_seed": order.base_seed,
    }
    epoch, done = 0, 0
    if state is not None:
        state = check_state(state, settings, POSITION, owner="run")
        epoch = check_integer("epoch", state["epoch"], minimum=0)
        done = check_integer(
            "rows_delivered", state["rows_delivered"], minimum=0, maximum=len(inputs)
        )
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    losses, rows, scored = [], [], []
    while len(losses) < num_steps:
        order.stand_at(epoch, windows=done)
        for batch, _ in zip(order, range(num_steps - len(losses)), strict=False):
            logits = model(inputs[batch])
            loss_sum = F.cross_entropy(
                logits.flatten(0, 1),
                targets[batch].flatten(),
                ignore_index=IGNORED,
                reduction="sum",
            )
            scored.append(int((targets[batch] != IGNORED).sum()))
            optimizer.zero_grad()
            losses.append(LOSSES[loss](model, loss_sum, scored[-1]))
            optimizer.step()
            rows += batch.tolist()
            done += batch_size
        if done + batch_size > len(inputs):
            epoch, done = epoch + 1, 0
    saved = {
        "model": {name: w.detach().clone() for name, w in model.state_dict().items()},
        "optimizer": optimizer.state_dict(),
        "epoch": epoch,
        "rows_delivered": done,
        **settings,
    }
    return RankReport(losses, rows, scored, saved)


def fingerprint(*tensors: torch.Tensor) -> str:
    """Name what tensors hold, so that a state is not gone on with on other rows."""
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(repr((tensor.dtype, tuple(tensor.shape))).encode())
        digest.update(np.ascontiguousarray(tensor.numpy()).data)
    return digest.hexdigest()[:16]


def take_steps(steps_of_ranks: Sequence[int]) -> int:
    """Take so many steps on each rank, as a loop over what each rank has would.

    In each step the ranks add up their gradients: a rank that has more steps than
    another waits for it forever. For `run_ranks`, which has a time limit.
    """
    rank, world_size = rank_and_size()
    if len(steps_of_ranks) != world_size:
        raise ValueError(
            f"steps_of_ranks must hold one number for each of {world_size} ranks, got "
            f"{len(steps_of_ranks)}"
        )
    for _ in range(steps_of_ranks[rank]):
        sum_over_ranks(torch.ones(1))
    return steps_of_ranks[rank]


def attention_pairs(lengths: Sequence[int]) -> int:
    """Count who looks at whom when documents of these lengths see only themselves.

    A token sees itself and those before it in its document: n (n + 1) / 2 pairs. So two
    packs of equally many tokens can be very different work.
    """
    lengths = as_stream(lengths, "lengths").astype(object)
    if lengths.size and lengths.min() < 1:
        raise ValueError(f"lengths must be at least 1, got {lengths.min()}")
    return int((lengths * (lengths + 1) // 2).sum())


def waiting_share(work: Sequence[float]) -> float:
    """Say which share of all ranks' time passes waiting for the one with most work."""
    work = [check_number("work", amount, minimum=0) for amount in work]
    if not work or not max(work):
        raise ValueError("work must hold at least one amount that is not 0")
    return 1 - sum(work) / (len(work) * max(work))


# On paper.


def stored_bytes(num_tokens: int, vocab_size: int) -> int:
    """Bytes of shards: 2 an id, or 4 from a vocabulary of 65,537 on."""
    num_tokens = check_integer("num_tokens", num_tokens, minimum=0)
    vocab_size = check_integer("vocab_size", vocab_size, minimum=1, maximum=2**32)
    return num_tokens * smallest_dtype(vocab_size - 1).itemsize


def count_shards(num_tokens: int, shard_size: int) -> int:
    """Shards of at most `shard_size` ids that hold so many tokens: rounded up."""
    num_tokens = check_integer("num_tokens", num_tokens, minimum=0)
    shard_size = check_integer("shard_size", shard_size, minimum=1)
    return -(-num_tokens // shard_size)


def encoding_hours(
    num_tokens: float, tokens_per_second: float, num_machines: int = 1
) -> float:
    """Hours that machines take together, each at a rate that one was seen to make."""
    num_tokens = check_number("num_tokens", num_tokens, minimum=0)
    rate = check_number("tokens_per_second", tokens_per_second, above=0)
    num_machines = check_integer("num_machines", num_machines, minimum=1)
    return num_tokens / rate / num_machines / 3600


def feeding_bandwidth(
    tokens_per_second: float, vocab_size: int, num_readers: int = 1
) -> float:
    """Bytes a second that GPUs need to be fed, each training at `tokens_per_second`."""
    rate = check_number("tokens_per_second", tokens_per_second, minimum=0)
    num_readers = check_integer("num_readers", num_readers, minimum=1)
    return rate * num_readers * stored_bytes(1, vocab_size)


def permutation_bytes(num_windows: int) -> int:
    """Bytes of a stored order of so many windows; a computed one takes a few keys."""
    num_windows = check_integer("num_windows", num_windows, minimum=0)
    return num_windows * (4 if num_windows <= 2**32 else 8)


def hours_between_failures(
    num_machines: int, hours_between_failures_of_one: float
) -> float:
    """Mean hours from one failure to the next, somewhere among so many machines."""
    num_machines = check_integer("num_machines", num_machines, minimum=1)
    hours = check_number(
        "hours_between_failures_of_one", hours_between_failures_of_one, above=0
    )
    return hours / num_machines


# The command line.


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 done, 1 a message, 130 Ctrl-C."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except KeyboardInterrupt:
        print("interrupted; run it again to go on", file=sys.stderr)
        return 130
    except (ValueError, TypeError, OSError, ImportError, BrokenExecutor) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m course_lib.many_machines",
        description="Tokenize files into shards, on one machine or many; train on them",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    tokenize = commands.add_parser(
        "tokenize",
        help="files into shards of ids",
        description="Tokenize files into shards. A run that was stopped goes on when "
        "it is run again. Exit code 0: done; 1: a message says what is wrong; 2: wrong "
        "usage; 130: interrupted.",
        epilog="On many machines: `ray start --head` on one, `ray start --address "
        "HEAD:6379` on the others, all of which must see INPUT and DIR under the same "
        "names; then this command with --ray on the first.",
    )
    tokenize.set_defaults(run=_tokenize)
    add = tokenize.add_argument
    add(
        "inputs",
        nargs="+",
        metavar="INPUT",
        help="JSON Lines (.jsonl, also .gz), plain text (.txt: one document each), "
        ".parquet, .arrow, or folders of them; documents are numbered in this order",
    )
    add("--tokenizer", required=True, metavar="FILE", help="a tokenizer.json")
    add("--out", required=True, metavar="DIR", help="the folder of the shards")
    add("--workers", type=int, metavar="N", help="processes (default: one a core)")
    add("--ray", action="store_true", help="run the tasks on a cluster of Ray")
    add("--text-column", default="text", metavar="NAME", help="default: text")
    add("--shard-size", type=int, default=100_000_000, metavar="IDS", help="at most")
    add(
        "--val-every",
        type=int,
        default=100,
        metavar="K",
        help="each K-th document goes to the split val (default: 100)",
    )
    add("--max-tokens", type=int, metavar="N", help="stop before exceeding so many")
    add(
        "--end-of-text-id",
        type=int,
        metavar="ID",
        help="ends each document, if the tokenizer does not do so itself",
    )
    add(
        "--task-bytes",
        type=int,
        default=TASK_BYTES,
        metavar="N",
        help="a task reads about so many (default: 64 MiB); the shards stay the same",
    )
    add("--quiet", action="store_true", help="no progress bar")
    train = commands.add_parser(
        "train",
        help="a small model on rows of documents, by torchrun",
        description="Train a small model on the documents of files, padded: torchrun "
        "--nproc-per-node 2 -m course_lib.many_machines train INPUT... The first rank "
        "prints a line of JSON.",
    )
    train.set_defaults(run=_train)
    add = train.add_argument
    add("inputs", nargs="+", metavar="INPUT", help="as of `tokenize`")
    add("--text-column", default="text", metavar="NAME", help="default: text")
    add("--context-length", type=int, default=64, metavar="T")
    add("--batch-size", type=int, default=24, metavar="ROWS", help="of all ranks")
    add("--steps", type=int, default=10, metavar="N")
    add("--seed", type=int, default=0, metavar="N")
    add("--loss", choices=list(LOSSES), default="global")
    return parser


def _tokenize(options: argparse.Namespace) -> int:
    path = Path(options.tokenizer)
    if not path.is_file():
        raise FileNotFoundError(f"no tokenizer at {path}")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises this class itself
        raise ValueError(f"{path} is no tokenizer.json ({error})") from None
    workers = os.cpu_count() if options.workers is None else options.workers
    manifest = tokenize_files(
        options.inputs,
        tokenizer,
        options.out,
        num_workers=workers,
        make_executor=RayExecutor if options.ray else None,
        shard_size=options.shard_size,
        val_every=options.val_every,
        max_tokens=options.max_tokens,
        end_of_text_id=options.end_of_text_id,
        text_column=options.text_column,
        task_bytes=options.task_bytes,
        progress=False if options.quiet else None,
    )
    print(manifest)
    return 0


def _train(options: argparse.Namespace) -> int:
    texts = [
        text
        for task in plan_tasks(options.inputs)
        for text in read_task(task, options.text_column)
    ]
    tokenizer = CharTokenizer("".join(texts) or " ", max_characters=256)
    inputs, targets = rows_of_documents(texts, tokenizer, options.context_length)
    with process_group():
        report = train_rank(
            inputs,
            targets,
            tokenizer.vocab_size,
            batch_size=options.batch_size,
            num_steps=options.steps,
            base_seed=options.seed,
            loss=options.loss,
        )
        rank, world_size = rank_and_size()
    if rank == 0:
        line = {
            "ranks": world_size,
            "losses": report.losses,
            "weights": float(report.weights.double().square().sum()),
            "rows": report.rows,
        }
        print(json.dumps(line))
    return 0


if __name__ == "__main__":
    # Workers know functions by the name of their module, which is not `__main__`.
    sys.exit(import_module("course_lib.many_machines").main())
