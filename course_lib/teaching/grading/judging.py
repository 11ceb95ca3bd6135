"""Judge the answers of one notebook. What they do is done in processes of their own."""

from __future__ import annotations

import shutil
import tempfile
import traceback
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from course_lib.teaching.checker import (
    FAILED,
    NOT_ATTEMPTED,
    RAISED,
    Exercise,
    Judgment,
)
from course_lib.teaching.checker.processes import Stopped, Watch, run_in_a_process
from course_lib.teaching.checker.running import limits_of_answers
from course_lib.teaching.grading.carrying import load, to_outcome
from course_lib.teaching.grading.guarded import prepare, run_attempt
from course_lib.teaching.grading.handed_in import (
    Unreadable,
    copy_neighbors,
    exercises_of,
    items_of,
    read_code,
    tell_lesson,
)
from course_lib.teaching.grading.slices import Attempt, Sheet
from course_lib.teaching.grading.tables import MISSING, UNREADABLE, Row, short

MOST_ATTEMPTS = 5  # of one exercise in one notebook


@dataclass(frozen=True)
class Task:
    """A notebook to score: how it is called in the table, and what its answers may
    take."""

    path: Path
    name: str
    folder: Path  # a temporary one
    seed: int = 0
    seconds: float = 20.0
    extra_bytes: int = 2**30
    ended: frozenset[int] = frozenset()  # numbers of exercises that end their judge


def score_notebook(task: Task, watch: Watch) -> list[Row]:
    """Return a row for each exercise; `watch` is told which one is at work."""
    try:
        cells = read_code(task.path)
        lesson, sheet = tell_lesson(task.path, cells), Sheet(cells)
        names, items = exercises_of(lesson, sheet), items_of(lesson)
    except Unreadable as error:
        return [Row(task.name, "", "", 0.0, UNREADABLE, str(error))]
    except Exception:
        return [Row(task.name, "", "", 0.0, UNREADABLE, _fault())]
    rows = []
    for number, name in enumerate(names):
        watch.call = number
        if number in task.ended:
            words = "its cells ended the process that scores them."
            judgment = Judgment(RAISED, 0.0, "", words)
        else:
            judgment = score_exercise(sheet, name, items[name], task)
        diagnosis = short(judgment.diagnosis or "")
        result = judgment.score, judgment.outcome, diagnosis
        rows.append(Row(task.name, lesson, name, *result))
    return rows


def _fault() -> str:
    return short(f"it could not be judged: {traceback.format_exc(limit=-1)}")


def score_exercise(sheet: Sheet, name: str, item: object, task: Task) -> Judgment:
    """Judge all attempts at an exercise: the best one counts, or else the last."""
    try:
        attempts = sheet.attempts(name)[-MOST_ATTEMPTS:]
        found = [judge_attempt(attempt, item, task) for attempt in attempts]
    except Exception:
        return Judgment(RAISED, 0.0, "", _fault())
    if not found:
        if error := sheet.error_of(name):
            return Judgment(RAISED, 0.0, "", error)
        return Judgment(MISSING, 0.0, "", "")
    tried = [one for one in found if one.outcome != NOT_ATTEMPTED] or found
    return max(reversed(tried), key=lambda judgment: judgment.score)


def judge_attempt(attempt: Attempt, item: object, task: Task) -> Judgment:
    seed = attempt.seed
    if isinstance(item, Exercise):
        item = drawn(item, task.seed if seed is None else seed)
    folder = Path(tempfile.mkdtemp(dir=task.folder))
    copy_neighbors(task.path, folder)
    limits = replace(
        limits_of_answers(), before=task.seconds, extra_bytes=task.extra_bytes
    )
    found = run_in_a_process(
        lambda watch: run_attempt(attempt, item, watch),
        limits,
        lambda: prepare(folder, limits),
    )
    shutil.rmtree(folder, ignore_errors=True)
    return judge_found(found, item, seed, task)


@cache
def drawn(item: Exercise, seed: int) -> Exercise:
    return item.drawn_from(seed) if seed else item


def assess(item: object, value: object, seed: int | None) -> Judgment:
    """Judge an answer to a question."""
    if hasattr(item, "assess"):
        return item.assess(value, seed=seed or 0)
    judgment = item.judge(value)
    if judgment.outcome == FAILED:
        judgment = replace(judgment, diagnosis=f"answered {str(value)!r}.")
    return judgment


def judge_found(
    found: bytes | Stopped, item: object, seed: int | None, task: Task
) -> Judgment:
    """Judge what has come from the process of an answer. It may be anything: what was
    not written by `run_attempt` gives no points."""
    if isinstance(found, Stopped):
        return judge_stopped(found, item, task)
    try:
        kind, content = load(found)
        if kind == "stopped":
            return judge_stopped(Stopped(*content), item, task)
        if kind == "error":
            return Judgment(RAISED, 0.0, "", str(content))
        if kind == "refusal":
            outcome, diagnosis = content
            known = outcome in (FAILED, NOT_ATTEMPTED)
            return Judgment(outcome if known else FAILED, 0.0, "", diagnosis)
        if kind == "value":
            return assess(item, load(content), seed)
        outcomes = [to_outcome(*entry) for entry in content]
        if kind == "outcomes" and len(outcomes) == len(item.cases):
            judgment = item.judge_outcomes(outcomes)
            errors = [o.error for o in outcomes if o.error is not None]
            if judgment.outcome == RAISED and not judgment.diagnosis and errors:
                words = f"{type(errors[0]).__name__}: {errors[0]}".rstrip(": ")
                return replace(judgment, diagnosis=words)
            return judgment
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    return Judgment(RAISED, 0.0, "", "its process wrote something else than results")


def judge_stopped(stopped: Stopped, item: object, task: Task) -> Judgment:
    if stopped.call >= 0 and isinstance(item, Exercise):
        return item.judge_outcomes(stopped)
    what = {
        "endless": f"did not end within {task.seconds:g} seconds of computing",
        "memory": "took all the memory they could get",
        "waits": "wait for something that does not come",
    }.get(stopped.reason, f"ended their process: {stopped.reason}")
    return Judgment(RAISED, 0.0, "", f"the cells that it needs {what}.")
