"""Every exercise of every lesson: its solution passes, its stub is not attempted, each mistake is told apart."""

import ast
import importlib
import pkgutil
import re
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest

import course_lib.exercises
from course_lib.teaching.checker import FAILED, NOT_ATTEMPTED, PASSED, Exercise, Question
from solved_lessons import define

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
# A module for each lesson; the folder is the reader's own loader.
LESSONS = sorted(m.name for m in pkgutil.iter_modules(course_lib.exercises.__path__) if not m.ispkg)


def members(lesson: str, kind: type) -> list:
    module = importlib.import_module(f"course_lib.exercises.{lesson}")
    return [member for member in vars(module).values() if isinstance(member, kind)]


def of_each(name: str, kind: type) -> pytest.MarkDecorator:
    all_of_them = [
        pytest.param(item, id=f"{lesson}-{item.name}") for lesson in LESSONS for item in members(lesson, kind)
    ]
    return pytest.mark.parametrize(name, all_of_them)


each_exercise, each_question = of_each("exercise", Exercise), of_each("question", Question)


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_has_at_least_five_exercises_and_two_questions(lesson):
    assert len(members(lesson, Exercise)) >= 5
    assert len(members(lesson, Question)) >= 2


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_verdict_can_be_guessed(lesson):
    truth = {question: question.truth for question in members(lesson, Question)}
    truths = Counter(truth.values())
    assert max(truths.values()) <= 2 / 3 * truths.total()
    # Whoever always answers "bug" and "true", or the reverse, must not get far either.
    agreeing = sum(truth[question] == question.agrees for question in truth)
    assert 1 / 3 <= agreeing / truths.total() <= 2 / 3


@each_question
def test_a_question_says_what_the_code_is_meant_to_do_or_what_is_claimed(question):
    assert len(question.statement.split()) >= 5
    assert question.statement[-1] in ".?!"


@each_exercise
def test_the_solution_passes(exercise):
    assert exercise.judge(exercise.reference, guarded=False).outcome == PASSED
    assert exercise.check(exercise.reference) == 1.0


@each_exercise
def test_the_stub_is_not_attempted(exercise):
    assert exercise.judge(define(exercise.stub, exercise.name)).outcome == NOT_ATTEMPTED


@each_exercise
def test_the_solution_as_it_is_shown_passes_too(exercise):
    known = vars(importlib.import_module(exercise.reference.__module__))
    assert exercise.judge(define(exercise.solution_source, exercise.name, **known), guarded=False).outcome == PASSED


@each_exercise
def test_an_exercise_has_hints_many_calls_and_three_named_mistakes(exercise):
    assert len(exercise.hints) >= 2
    assert len(exercise.cases) >= 8
    assert len({mistake.diagnosis for mistake in exercise.mistakes}) >= 3
    assert len({mistake.diagnosis for mistake in exercise.functions}) == len(exercise.functions)


@each_exercise
def test_the_task_stands_in_the_prose_and_the_stub_says_it_in_a_line_or_two(exercise):
    assert len(exercise.reference.__doc__.strip().splitlines()) <= 2
    assert max(map(len, exercise.stub.splitlines())) <= 88


@each_exercise
def test_no_hint_is_the_solution(exercise):
    body = ast.parse(exercise.solution_source).body[0].body
    (last,) = [ast.unparse(node.value) for node in body[-1:] if isinstance(node, ast.Return)] or [None]
    squeezed = ["".join(hint.split()) for hint in exercise.hints]
    assert last is None or len(last) < 20 or not any("".join(last.split()) in hint for hint in squeezed)


@each_question
def test_a_question_is_settled_by_calls(question):
    truth = question.truth
    (wrong,) = set(question.verdicts) - {truth}
    right = question.judge(truth)
    assert right.outcome == PASSED
    assert question.explanation in right.message
    assert question.judge(wrong).outcome == FAILED
    assert question.judge(...).outcome == NOT_ATTEMPTED
    assert question.judge("perhaps").outcome == FAILED


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_notebook_holds_every_stub_as_it_is_defined(lesson):
    tagged = [cell.source for cell in cells_of(lesson) if "exercise" in cell.metadata.get("tags", [])]
    wanted = [
        f"{item.stub}\n{gap}exercises.{item.name}.check({item.name})"
        for kind, gap in ((Question, ""), (Exercise, "\n\n"))
        for item in members(lesson, kind)
    ]
    assert sorted(tagged) == sorted(wanted)


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_notebook_states_each_task_imports_the_exercises_again_and_ends_with_a_score(lesson):
    cells = cells_of(lesson)
    begin = next(i for i, cell in enumerate(cells) if re.match(r"## .*Exercises", cell.source))
    sources = [cell.source for cell in cells[begin:]]
    assert f"from course_lib.exercises import {lesson} as exercises" in "\n".join(sources[:3])
    assert "show_progress(exercises)" in "\n".join(sources)
    for before, cell in pairwise(cells):
        if "exercise" in cell.metadata.get("tags", []) and cell.source.startswith("def "):
            assert before.cell_type == "markdown", cell.source


@cache
def cells_of(lesson: str) -> list:
    (path,) = NOTEBOOKS.glob(f"??_{lesson}.ipynb")
    return nbformat.read(path, as_version=4).cells
