"""Score some notebooks at a time, each in a process that never runs a line of it, but
starts those that do."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import selectors
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from course_lib.teaching.checker import RAISED, Exercise
from course_lib.teaching.checker.processes import fork, say_nothing, write_all
from course_lib.teaching.grading.guarded import guard_children, is_halted
from course_lib.teaching.grading.handed_in import (
    LARGEST_NOTEBOOK,
    Unreadable,
    exercises_of,
    in_order,
    items_of,
    lessons,
    read_code,
    tell_lesson,
)
from course_lib.teaching.grading.judging import Task, drawn, score_exercise
from course_lib.teaching.grading.slices import Sheet
from course_lib.teaching.grading.tables import UNREADABLE, Row, printable, short


def score_notebook(task: Task) -> Iterator[Row | str]:
    """Yield the name of an exercise before its cells are run, and its row after."""
    try:
        sheet = Sheet(read_code(task.path))
        lesson = tell_lesson(task.path, (source for _, source in sheet.cells))
    except Unreadable as error:
        yield Row(task.name, "", "", 0.0, UNREADABLE, str(error))
        return
    items = items_of(lesson)
    for name in exercises_of(lesson, sheet):
        if name in task.skip:
            continue
        yield name
        judgment = score_exercise(sheet, name, items[name], task)
        diagnosis = short(judgment.diagnosis or "")
        yield Row(task.name, lesson, name, judgment.score, judgment.outcome, diagnosis)


@dataclass
class Worker:
    """A process that scores a notebook, and what it has told so far."""

    task: Task
    process: int
    reader: int
    told: bytes = b""

    def rows(self) -> tuple[list[Row], str | None, bool]:
        """The rows, the exercise that has begun and has none, whether all is done."""
        rows, begun, done = [], None, False
        for line in self.told.splitlines():
            entry = json.loads(line)
            if isinstance(entry, dict):
                rows.append(Row(**entry))
                begun = None
            else:
                begun, done = entry, entry is None
        return rows, begun, done


def score_all(
    files: list[Path], options: argparse.Namespace
) -> Iterator[tuple[Path, list[Row]]]:
    """Yield each notebook with its rows, as soon as it is done."""
    prepare(files, options.seed)
    with tempfile.TemporaryDirectory(
        prefix="course-scores-", ignore_cleanup_errors=True
    ) as folder:
        limits = (options.seed, options.seconds, int(options.memory * 2**30))
        names = [_name(path, options.folder) for path in files]
        waiting = [
            Task(path, name, Path(folder), *limits)
            for path, name in zip(files, names, strict=True)
        ]
        known: dict[Path, list[Row]] = {}
        with selectors.DefaultSelector() as selector, _ended(selector):
            while waiting or selector.get_map():
                while waiting and len(selector.get_map()) < options.jobs:
                    worker = start(waiting.pop(0))
                    selector.register(worker.reader, selectors.EVENT_READ, worker)
                for worker in _heard(selector):
                    selector.unregister(worker.reader)
                    finish(worker)
                    path = worker.task.path
                    more, again = conclude(worker)
                    known[path] = known.get(path, []) + more
                    if again is None:
                        yield path, known.pop(path)
                    else:
                        waiting.insert(0, again)


def prepare(files: list[Path], seed: int) -> None:
    """Import what these notebooks need, and call the solutions: once, not once each."""
    names = {lesson.name for lesson in lessons()}
    for path in files:
        with contextlib.suppress(OSError, Unreadable):
            if path.is_file() and path.stat().st_size <= LARGEST_NOTEBOOK:
                text = path.read_bytes().decode(errors="ignore")
                for name in {tell_lesson(path, [text])} & names:
                    _ = in_order(name)
                    for item in items_of(name).values():
                        if isinstance(item, Exercise):
                            _ = drawn(item, seed).expected
                    names.discard(name)


def _name(path: Path, folder: Path) -> str:
    name = os.fsencode(path.relative_to(folder).as_posix())
    return printable(name.decode(errors="backslashreplace"))


def start(task: Task) -> Worker:
    process, reader = fork(lambda writer: _work(task, writer))
    return Worker(task, process, reader)


def _work(task: Task, writer: int) -> None:
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *arguments: sys.exit())
    say_nothing()
    guard_children()

    def tell(entry: object) -> None:
        write_all(writer, f"{json.dumps(entry)}\n".encode())

    begun = ""
    try:
        for entry in score_notebook(task):
            tell(asdict(entry) if isinstance(entry, Row) else entry)
            begun = entry if isinstance(entry, str) else ""
        tell(None)
    except Exception:
        words = short(f"it could not be judged: {traceback.format_exc(limit=-1)}")
        lesson, outcome = (_lesson_of(task), RAISED) if begun else ("", UNREADABLE)
        tell(asdict(Row(task.name, lesson, begun, 0.0, outcome, words)))


def _heard(selector: selectors.BaseSelector) -> Iterator[Worker]:
    """Listen for a moment, and yield the workers that have said everything."""
    ready = selector.select(0.5)
    if not ready:
        for key in selector.get_map().values():
            if is_halted(key.data.process):
                os.kill(key.data.process, signal.SIGKILL)
    for key, _ in ready:
        piece = os.read(key.fd, 2**16)
        key.data.told += piece
        if not piece:
            yield key.data


def finish(worker: Worker) -> None:
    os.close(worker.reader)
    os.waitpid(worker.process, 0)


def conclude(worker: Worker) -> tuple[list[Row], Task | None]:
    """The rows of a worker that has ended; and what another one is to go on with, if it
    was the notebook that has ended it."""
    task = worker.task
    rows, begun, done = worker.rows()
    if done or any(row.outcome == UNREADABLE for row in rows):
        return rows, None
    if begun is None and not rows:
        words = "whoever reads it comes to a sudden end"
        return [Row(task.name, "", "", 0.0, UNREADABLE, words)], None
    if begun is not None:
        lesson = rows[0].lesson if rows else _lesson_of(task)
        words = "its cells ended the process that scores them."
        rows.append(Row(task.name, lesson, begun, 0.0, RAISED, words))
    known = task.skip | {row.exercise for row in rows}
    return rows, replace(task, skip=known)


def _lesson_of(task: Task) -> str:
    return tell_lesson(task.path, (source for _, source in read_code(task.path)))


@contextlib.contextmanager
def _ended(selector: selectors.BaseSelector) -> Iterator[None]:
    """Whatever happens: no process is left behind."""
    try:
        yield
    finally:
        workers = [key.data for key in selector.get_map().values()]
        for worker in workers:
            os.kill(worker.process, signal.SIGTERM)  # it ends what it has started
        for worker in workers:
            finish(worker)
