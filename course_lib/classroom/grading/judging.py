"""Judge the answers in one notebook, which run in processes of their own."""

import re
import tempfile
import traceback
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from course_lib.classroom.grading import handed_in
from course_lib.classroom.grading.carrying import load, to_outcome
from course_lib.classroom.grading.guarded import prepare, run_attempt
from course_lib.classroom.grading.slices import Attempt, Sheet
from course_lib.classroom.grading.tables import MISSING, UNREADABLE, Row, short
from course_lib.teaching.checker import Exercise, Judgment, NumbersQuestion
from course_lib.teaching.checker.exercises import with_what_came_before
from course_lib.teaching.checker.messages import FAILED, NOT_ATTEMPTED, PASSED, RAISED
from course_lib.teaching.checker.processes import Stopped, Watch, run_in_a_process
from course_lib.teaching.checker.running import limits_of_answers
from course_lib.teaching.lessons import items_of, points_for

MOST_ATTEMPTS = 5  # of one exercise in one notebook
# A call, the expected result and the result that came, as a check shows them.
FACTS = re.compile(r"```text\n(.*?)\n```", re.DOTALL)
LONGEST_FACT = 90


@dataclass(frozen=True)
class Task:
    """A notebook to score, with its name in the table and the limits of its answers."""

    path: Path
    name: str
    folder: Path  # a temporary one
    seed: int = 0
    seconds: float = 20.0
    extra_bytes: int = 2**30
    ended: frozenset[int] = frozenset()  # numbers of exercises that end the process


def score_notebook(task: Task, watch: Watch) -> list[Row]:
    """Return a row for each exercise, and tell `watch` which one is being judged."""
    try:
        cells = handed_in.read_code(task.path)
        lesson, sheet = handed_in.tell_lesson(task.path, cells), Sheet(cells)
        names, items = handed_in.exercises_of(lesson, sheet), items_of(lesson)
    except Exception as error:
        known = isinstance(error, handed_in.Unreadable)
        words = str(error) if known else _fault()
        return [Row(task.name, "", "", 0.0, UNREADABLE, words)]
    rows = []
    for number, name in enumerate(names):
        watch.call = number
        if number in task.ended:
            words = "its cells ended the process that scores them."
            judgment, code = Judgment(RAISED, 0.0, "", words), ""
        else:
            judgment, code = score_exercise(sheet, name, items[name], task)
        result = judgment.score, judgment.outcome, short(in_a_table(judgment))
        worth = points_for(items[name])
        rows.append(Row(task.name, lesson, name, *result, worth, code))
    return rows


def in_a_table(judgment: Judgment) -> str:
    """Say what went wrong: the diagnosis, or else the smallest call that goes wrong."""
    facts = FACTS.findall(judgment.message)
    if judgment.outcome == PASSED or not (facts or judgment.diagnosis):
        return ""
    # If a later call was stopped, the diagnosis is about that one.
    lines = facts[-1].splitlines() if facts else []
    call, *more = (short(line, LONGEST_FACT) for line in [*lines, ""])
    if judgment.diagnosis is None:
        return f"{call}: {', '.join(more[:2])}"
    words = judgment.diagnosis.replace("The call below", f"`{call}`")
    return words.partition(" After a restart")[0]  # nobody has restarted anything


def _fault() -> str:
    return short(f"it could not be judged: {traceback.format_exc(limit=-1)}")


def score_exercise(
    sheet: Sheet, name: str, item: object, task: Task
) -> tuple[Judgment, str]:
    """Judge all attempts at an exercise, of which the best counts, or else the last;
    return also the code of a function that is wrong."""
    try:
        attempts = sheet.attempts(name)[-MOST_ATTEMPTS:]
        found = [(judge_attempt(attempt, item, task), attempt) for attempt in attempts]
        if not found:
            error = sheet.error_of(name)
            return Judgment(RAISED if error else MISSING, 0.0, "", error), ""
        tried = [pair for pair in found if pair[0].outcome != NOT_ATTEMPTED] or found
        judgment, attempt = max(reversed(tried), key=lambda pair: pair[0].score)
        is_wrong = isinstance(item, Exercise) and judgment.outcome in (FAILED, RAISED)
        return judgment, attempt.code(name) if is_wrong else ""
    except Exception:
        return Judgment(RAISED, 0.0, "", _fault()), ""


def judge_attempt(attempt: Attempt, item: object, task: Task) -> Judgment:
    seed = attempt.seed
    if isinstance(item, Exercise):
        item = drawn(item, task.seed if seed is None else seed)
    own = {"before": task.seconds, "extra_bytes": task.extra_bytes}
    limits = replace(limits_of_answers(), **own)
    how = {"dir": task.folder, "ignore_cleanup_errors": True}

    def go(stopped: Stopped | None) -> Judgment | Stopped:
        with tempfile.TemporaryDirectory(**how) as folder:
            handed_in.copy_neighbors(task.path, Path(folder))
            found = run_in_a_process(
                lambda watch: run_attempt(attempt, item, watch, stopped),
                limits,
                lambda: prepare(Path(folder), limits),
            )
        return judge_found(found, item, seed, stopped)

    found = with_what_came_before(go)
    return judge_stopped(found, item, task) if isinstance(found, Stopped) else found


@cache
def drawn(item: Exercise, seed: int) -> Exercise:
    return item.drawn_from(seed) if seed else item


def assess(item: object, value: object, seed: int | None) -> Judgment:
    is_drawn = isinstance(item, NumbersQuestion)
    judgment = item.assess(value, seed=seed or 0) if is_drawn else item.judge(value)
    if judgment.outcome == FAILED and not judgment.diagnosis:
        judgment = replace(judgment, diagnosis=f"answered {str(value)!r}.")
    return judgment


def judge_found(
    found: bytes | Stopped, item: object, seed: int | None, stopped: Stopped | None
) -> Judgment | Stopped:
    """Judge the bytes from the process of an answer, or, if it was `stopped`, from the
    second one. Bytes that `run_attempt` has not written give no points."""
    if isinstance(found, Stopped):
        return found
    try:
        kind, content = load(found)
        if kind == "stopped":
            reason, call = content
            return Stopped(str(reason), int(call))
        if kind == "error":
            return Judgment(RAISED, 0.0, "", str(content))
        if kind == "refusal":
            outcome, diagnosis = content
            known = outcome in (FAILED, NOT_ATTEMPTED)
            return Judgment(outcome if known else FAILED, 0.0, "", diagnosis)
        if kind == "value":
            return assess(item, load(content), seed)
        outcomes = [to_outcome(*entry) for entry in content]
        calls = item.cases[: stopped and stopped.call]
        if kind == "outcomes" and len(outcomes) == len(calls):
            return item.judge_outcomes(outcomes, stopped)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    return Judgment(RAISED, 0.0, "", "its process wrote something other than results")


def judge_stopped(stopped: Stopped, item: object, task: Task) -> Judgment:
    if stopped.call >= 0 and isinstance(item, Exercise):
        return item.judge_outcomes(stopped)
    what = {
        "endless": f"did not end within {task.seconds:g} seconds of computing",
        "memory": "took all the memory they could get",
        "waits": "wait for something that does not come",
    }.get(stopped.reason, f"ended their process: {stopped.reason}")
    return Judgment(RAISED, 0.0, "", f"the cells that it needs {what}.")
