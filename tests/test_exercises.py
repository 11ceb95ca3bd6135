"""Every exercise of every lesson: its solution passes, its stub is not attempted, each mistake is told apart."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import nbformat
import pytest

import course_lib.exercises
from course_lib.teaching.checker import BUG, FAILED, NOT_A_BUG, NOT_ATTEMPTED, PASSED, RAISED, BugOrNot, Exercise

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
LESSONS = sorted(m.name for m in pkgutil.iter_modules(course_lib.exercises.__path__) if m.name != "checker")


def members(lesson: str, kind: type) -> list:
    module = importlib.import_module(f"course_lib.exercises.{lesson}")
    return [member for member in vars(module).values() if isinstance(member, kind)]


def by_name(item: Exercise | BugOrNot) -> str:
    return item.name


EXERCISES = [exercise for lesson in LESSONS for exercise in members(lesson, Exercise)]
QUESTIONS = [question for lesson in LESSONS for question in members(lesson, BugOrNot)]
MISTAKES = [pytest.param(e, m, id=f"{e.name}-{m.name}") for e in EXERCISES for m in e.mistakes]


def make(stub: str, name: str) -> object:
    namespace: dict = {}
    exec(stub, namespace)
    return namespace[name]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_has_at_least_five_exercises_and_two_questions(lesson):
    assert len(members(lesson, Exercise)) >= 5
    assert len(members(lesson, BugOrNot)) >= 2


@pytest.mark.parametrize("lesson", LESSONS)
def test_both_verdicts_occur_among_the_questions(lesson):
    assert {question.truth for question in members(lesson, BugOrNot)} == {BUG, NOT_A_BUG}


@pytest.mark.parametrize("exercise", EXERCISES, ids=by_name)
def test_the_solution_passes(exercise, capsys):
    assert exercise.judge(exercise.reference).outcome == PASSED
    assert exercise.check(exercise.reference) == 1.0


@pytest.mark.parametrize("exercise", EXERCISES, ids=by_name)
def test_the_stub_is_not_attempted(exercise):
    assert exercise.judge(make(exercise.stub, exercise.name)).outcome == NOT_ATTEMPTED


@pytest.mark.parametrize("exercise", EXERCISES, ids=by_name)
def test_the_solution_as_it_is_shown_passes_too(exercise):
    namespace = dict(vars(importlib.import_module(exercise.reference.__module__)))
    exec(exercise.solution_source, namespace)
    assert exercise.judge(namespace[exercise.name]).outcome == PASSED


@pytest.mark.parametrize("exercise", EXERCISES, ids=by_name)
def test_an_exercise_has_hints_many_calls_and_three_named_mistakes(exercise):
    assert len(exercise.hints) >= 2
    assert len(exercise.cases) >= 8
    assert len(exercise.mistakes) >= 3
    assert len({mistake.diagnosis for mistake in exercise.mistakes}) == len(exercise.mistakes)


@pytest.mark.parametrize(("exercise", "mistake"), MISTAKES)
def test_each_mistake_gets_its_own_diagnosis(exercise, mistake):
    judgment = exercise.judge(mistake.function)
    assert judgment.outcome in (FAILED, RAISED)
    assert judgment.score == 0.0
    assert judgment.diagnosis == mistake.diagnosis
    assert mistake.diagnosis in judgment.message
    assert "expected" in judgment.message


@pytest.mark.parametrize("exercise", EXERCISES, ids=by_name)
def test_an_answer_that_raises_is_reported_as_raised(exercise):
    def raises(*arguments):
        raise ZeroDivisionError("on purpose")

    judgment = exercise.judge(raises)
    assert judgment.outcome == RAISED
    assert "ZeroDivisionError: on purpose" in judgment.message


@pytest.mark.parametrize("question", QUESTIONS, ids=by_name)
def test_a_question_is_settled_by_calls(question):
    wrong = NOT_A_BUG if question.truth == BUG else BUG
    assert question.judge(question.truth).outcome == PASSED
    assert question.judge(wrong).outcome == FAILED
    assert question.judge(...).outcome == NOT_ATTEMPTED
    assert question.judge("perhaps").outcome == FAILED
    assert question.explanation in question.judge(question.truth).message


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_notebook_holds_every_stub_as_it_is_defined(lesson):
    (path,) = NOTEBOOKS.glob(f"??_{lesson}.ipynb")
    tagged = [c.source for c in nbformat.read(path, as_version=4).cells if "exercise" in c.metadata.get("tags", [])]
    wanted = [
        f"{item.stub}\n{gap}exercises.{item.name}.check({item.name})"
        for kind, gap in ((BugOrNot, ""), (Exercise, "\n\n"))
        for item in members(lesson, kind)
    ]
    assert sorted(tagged) == sorted(wanted)
