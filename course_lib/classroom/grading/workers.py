"""Score some notebooks at a time, each in a process of its own, which never runs a line
of the notebook, but starts other processes that do."""

import argparse
import contextlib
import math
import os
import tempfile
from collections import deque
from collections.abc import Iterator
from dataclasses import astuple, replace
from multiprocessing.connection import wait
from pathlib import Path

from course_lib.classroom.grading.carrying import dump, load
from course_lib.classroom.grading.handed_in import Unreadable, in_order, tell_lesson
from course_lib.classroom.grading.judging import Task, drawn, score_notebook
from course_lib.classroom.grading.tables import UNREADABLE, Row, printable
from course_lib.teaching.checker import Exercise
from course_lib.teaching.checker.processes import GuardedProcess, Limits
from course_lib.teaching.lessons import items_of

# The process of a notebook waits for answers, and the answers have limits.
NO_LIMITS = Limits(math.inf, math.inf, asleep=math.inf, extra_bytes=None)


def score_all(
    files: list[Path], options: argparse.Namespace
) -> Iterator[tuple[Path, list[Row]]]:
    """Yield each notebook with its rows, as soon as it is done."""
    prepare(files, options.seed)
    judges: dict[GuardedProcess, Task] = {}
    with contextlib.ExitStack() as stack:
        how = {"prefix": "course-scores-", "ignore_cleanup_errors": True}
        folder = stack.enter_context(tempfile.TemporaryDirectory(**how))
        # Whatever happens, no process is left over.
        stack.callback(lambda: [judge.end() for judge in judges])
        limits = options.seed, options.seconds, int(options.memory * 2**30)
        waiting = deque(
            Task(path, _name(path, options.folder), Path(folder), *limits)
            for path in files
        )
        while waiting or judges:
            while waiting and len(judges) < options.jobs:
                task = waiting.popleft()
                judges[start(task)] = task
            wait([judge.reader for judge in judges], timeout=0.5)
            for judge in list(judges):
                if (found := judge.look(0)) is None:
                    continue
                judge.end()
                task = judges.pop(judge)
                if isinstance(found, bytes):
                    yield task.path, [Row(*row) for row in load(found)]
                elif found.call >= 0:  # try again without that exercise
                    waiting.appendleft(replace(task, ended=task.ended | {found.call}))
                else:
                    words = "reading it ends the process suddenly"
                    yield task.path, [Row(task.name, "", "", 0.0, UNREADABLE, words)]


def prepare(files: list[Path], seed: int) -> None:
    """Import what the notebooks need, call the solutions, and compile wrong answers:
    once, and not once for each notebook."""
    names = set()
    for path in files:
        with contextlib.suppress(OSError, Unreadable):
            text = path.read_text(encoding="utf-8", errors="ignore")
            names.add(tell_lesson(path, [(0, text)]))
    for name in names:
        _ = in_order(name)
        for item in items_of(name).values():
            if isinstance(item, Exercise):
                item.compile()
                _ = drawn(item, seed).expected


def start(task: Task) -> GuardedProcess:
    return GuardedProcess(
        lambda watch: dump([astuple(row) for row in score_notebook(task, watch)]),
        NO_LIMITS,
    )


def _name(path: Path, folder: Path) -> str:
    name = os.fsencode(path.relative_to(folder).as_posix())
    return printable(name.decode(errors="backslashreplace"))
