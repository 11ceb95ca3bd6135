"""Judge the answers of one notebook. What they do is done in processes of their own."""

from __future__ import annotations

import ast
import contextlib
import json
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path

from course_lib.teaching.checker import (
    FAILED,
    NOT_ATTEMPTED,
    RAISED,
    Exercise,
    Judgment,
)
from course_lib.teaching.checker.processes import Stopped, Watch
from course_lib.teaching.checker.running import limits_of_answers
from course_lib.teaching.grading.carrying import (
    from_value,
    to_outcomes,
    to_text,
    to_value,
)
from course_lib.teaching.grading.guarded import run_guarded
from course_lib.teaching.grading.handed_in import copy_neighbors
from course_lib.teaching.grading.slices import Attempt, Sheet
from course_lib.teaching.grading.tables import MISSING

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
    skip: frozenset[str] = field(default=frozenset())


def score_exercise(sheet: Sheet, name: str, item: object, task: Task) -> Judgment:
    """Judge all attempts at an exercise: the best one counts, or else the last."""
    attempts = sheet.attempts(name)
    if not attempts:
        if error := sheet.error_of(name):
            return Judgment(RAISED, 0.0, "", error)
        return Judgment(MISSING, 0.0, "", "")
    found = [
        judge_attempt(attempt, item, task) for attempt in attempts[-MOST_ATTEMPTS:]
    ]
    tried = [one for one in found if one.outcome != NOT_ATTEMPTED] or found
    return max(reversed(tried), key=lambda judgment: judgment.score)


def judge_attempt(attempt: Attempt, item: object, task: Task) -> Judgment:
    seed = attempt.seed
    if isinstance(item, Exercise):
        item = drawn(item, task.seed if seed is None else seed)
    with contextlib.suppress(ValueError):
        # "bug", "true", 17 or ...: nothing to run
        return assess(item, _plain(attempt), seed)
    folder = Path(tempfile.mkdtemp(dir=task.folder))
    copy_neighbors(task.path, folder)
    limits = replace(
        limits_of_answers(), before=task.seconds, extra_bytes=task.extra_bytes
    )
    found = run_guarded(
        lambda watch: answer_as_text(attempt, item, watch), folder, limits
    )
    shutil.rmtree(folder, ignore_errors=True)
    return judge_text(found, item, seed, task)


@cache
def drawn(item: Exercise, seed: int) -> Exercise:
    return item.drawn_from(seed) if seed else item


def assess(item: object, value: object, seed: int | None = None) -> Judgment:
    """Judge what is given to a check, if it is no function."""
    if isinstance(item, Exercise):
        if refusal := item.refusal(value):
            return refusal
        raise ValueError("it has to be called")
    if hasattr(item, "assess"):
        return item.assess(value, seed=seed or 0)
    judgment = item.judge(value)
    if judgment.outcome == FAILED:
        judgment = replace(judgment, diagnosis=f"answered {str(value)!r}.")
    return judgment


def _plain(attempt: Attempt) -> object:
    """The value of an answer that stands there as it is.

    Raises:
        ValueError: it has to be worked out.
    """
    node = attempt.expression
    if isinstance(node, ast.Name) and len(attempt.statements) == 1:
        (statement,) = (each.node for each in attempt.statements)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            node = statement.value
        elif isinstance(statement, ast.FunctionDef) and not _has_body(statement):
            return ...
    return ast.literal_eval(node)


def _has_body(function: ast.FunctionDef) -> bool:
    return bool(function.decorator_list) or not all(
        isinstance(node, ast.Pass)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in function.body
    )


def answer_as_text(attempt: Attempt, item: object, watch: Watch) -> str:
    """Run the statements, and write down what the answer is, or what it does: in the
    process of the answer."""
    space: dict = {"__name__": "__main__", "display": lambda *shown, **more: None}
    sys.path.insert(0, "")
    cell = 0
    watch.begin(-1)
    try:
        for statement in attempt.statements:
            cell = statement.cell
            node = statement.node
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                continue
            tree = ast.Module([node], type_ignores=[])
            exec(compile(tree, f"<cell {cell}>", "exec"), space)
        cell = 0
        answer = eval(
            compile(ast.Expression(attempt.expression), "<check>", "eval"), space
        )
    except BaseException as error:
        where = f" (cell {cell})" if cell else ""
        return json.dumps({"error": f"{type(error).__name__}: {error}{where}"})
    watch.end()
    if not isinstance(item, Exercise):
        return json.dumps({"value": from_value(answer)})
    if refusal := item.refusal(answer):
        return json.dumps({"refusal": asdict(refusal)})
    got = item.call_all(answer, watch)
    if isinstance(got, Stopped):
        return json.dumps({"stopped": asdict(got)})
    return json.dumps({"outcomes": to_text(got)})


def judge_text(
    found: str | Stopped, item: object, seed: int | None, task: Task
) -> Judgment:
    """Judge what has come from the process of an answer. It may be anything: what was
    not written by `answer_as_text` gives no points."""
    if isinstance(found, Stopped):
        return judge_stopped(found, item, task)
    try:
        (kind, content), *_ = json.loads(found).items()
        if kind == "stopped":
            return judge_stopped(Stopped(**content), item, task)
        if kind == "error":
            return Judgment(RAISED, 0.0, "", str(content))
        if kind == "refusal":
            refusal = Judgment(**content)
            known = refusal.outcome in (FAILED, NOT_ATTEMPTED)
            outcome = refusal.outcome if known else FAILED
            return Judgment(outcome, 0.0, "", refusal.diagnosis)
        if kind == "value":
            return assess(item, to_value(content), seed)
        outcomes = to_outcomes(content)
        if kind == "outcomes" and len(outcomes) == len(item.cases):
            judgment = item.judge_outcomes(outcomes)
            errors = [o.error for o in outcomes if o.error is not None]
            if judgment.outcome == RAISED and not judgment.diagnosis and errors:
                words = f"{type(errors[0]).__name__}: {errors[0]}".rstrip(": ")
                return Judgment(RAISED, 0.0, judgment.message, words)
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
