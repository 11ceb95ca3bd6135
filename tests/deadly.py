"""What workers and runs that get killed do; of few imports, since each worker needs them anew."""

import os
import signal
import time
from functools import partial
from pathlib import Path

from tokenizers import Tokenizer

from course_lib.many_machines import tokenize_files
from course_lib.many_machines.executors import InThisProcess, process_pool
from course_lib.many_machines.file_tasks import encode_task


def encode_or_die(times: int, job, task) -> int:
    """Encode a task, but kill the worker of task 3 so many times before."""
    marks = Path(job.folder).with_suffix(".deaths")
    marks.mkdir(exist_ok=True)
    if task.number == 3 and len(list(marks.iterdir())) < times:
        (marks / str(time.time_ns())).touch()
        die()
    return encode_task(job, task)


def die(_: object = None) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(mark: str) -> str:
    if not Path(mark).exists():
        Path(mark).touch()
        die()
    return mark


def refuse(line: int) -> None:
    raise ValueError(f"wrong.jsonl, line {line}")


class Odd(Exception):
    """Pickled, it cannot be read again: it asks for two arguments, and passes one on."""

    def __init__(self, place: str, other: str):
        super().__init__(f"{place}, {other}")


def refuse_oddly(_: object) -> None:
    raise Odd("here", "there")


def run_until_killed(
    inputs: list[Path], tokenizer_file: Path, out: Path, settings: dict[str, int], num_workers: int
) -> None:
    """Tokenize with so many workers, or with none but this process."""
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    make_executor = partial(process_pool, num_workers) if num_workers else InThisProcess
    tokenize_files(inputs, tokenizer, out, make_executor=make_executor, progress=False, **settings)
