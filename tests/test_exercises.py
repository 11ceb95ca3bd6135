"""The exercises of all lessons: solutions pass, stubs are no attempts, and answers are told what they are."""

import ast
import contextlib
import importlib
import pkgutil
import re
from collections import Counter
from functools import cache
from itertools import pairwise

import pytest

import course_lib.exercises
from course_lib.exercises.auditing_loaders import just_lost
from course_lib.teaching.checker import FAILED, NOT_ATTEMPTED, PASSED, Exercise, Question
from course_lib.teaching.lessons import find_lessons
from solved_lessons import define

# A module for each lesson; the folder is the reader's own loader.
LESSONS = sorted(m.name for m in pkgutil.iter_modules(course_lib.exercises.__path__) if not m.ispkg)
MOST_MISTAKES = 6  # sentences an exercise: the usual ones


def members(lesson: str, kind: type) -> list:
    module = importlib.import_module(f"course_lib.exercises.{lesson}")
    return [member for member in vars(module).values() if isinstance(member, kind)]


def of_each(name: str, kind: type) -> pytest.MarkDecorator:
    items = [pytest.param(item, id=f"{lesson}-{item.name}") for lesson in LESSONS for item in members(lesson, kind)]
    return pytest.mark.parametrize(name, items)


each_exercise, each_question = of_each("exercise", Exercise), of_each("question", Question)


@cache
def answers_of(lesson: str) -> list[tuple]:
    return importlib.import_module(f"answers.{lesson}").ANSWERS


def all_answers() -> list:
    rows = [(lesson, number, *row) for lesson in LESSONS for number, row in enumerate(answers_of(lesson))]
    return [pytest.param(*rest, id=f"{lesson}-{rest[0].name}-{number}") for lesson, number, *rest in rows]


@pytest.mark.parametrize(("exercise", "answer", "wanted"), all_answers())
def test_an_answer_passes_or_is_told_what_is_wrong(exercise, answer, wanted):
    judgment = exercise.judge(answer, guarded=False)
    if wanted == PASSED:
        assert judgment.outcome == PASSED, judgment.message
        return
    assert judgment.outcome not in (PASSED, NOT_ATTEMPTED), judgment.message
    assert wanted == FAILED or wanted in (judgment.diagnosis or ""), judgment.message


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_has_two_right_answers_and_four_wrong_ones(lesson):
    right = Counter(exercise for exercise, _, wanted in answers_of(lesson) if wanted == PASSED)
    wrong = Counter(exercise for exercise, _, wanted in answers_of(lesson) if wanted != PASSED)
    for exercise in members(lesson, Exercise):
        assert right[exercise] >= 2, exercise.name
        assert wrong[exercise] >= 4, exercise.name


@each_exercise
def test_each_usual_mistake_is_wrong_and_told_its_own_sentence(exercise):
    assert len({mistake.words for mistake in exercise.mistakes}) <= MOST_MISTAKES
    for mistake in exercise.mistakes:
        judgment = exercise.judge(mistake.function, guarded=False)
        assert judgment.diagnosis == mistake.words, judgment.message


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_usual_mistake_is_made_by_an_answer(lesson):
    """A sentence that no answer reaches is one that nobody has seen come up."""
    told = {(exercise, exercise.judge(answer, guarded=False).diagnosis) for exercise, answer, _ in answers_of(lesson)}
    for exercise in members(lesson, Exercise):
        unreached = [mistake.words for mistake in exercise.mistakes if (exercise, mistake.words) not in told]
        assert not unreached, (exercise.name, unreached)


def names_beside(exercise: Exercise) -> dict:
    return vars(importlib.import_module(exercise.reference.__module__))


@each_exercise
def test_the_solution_passes_and_so_does_what_is_shown_of_it(exercise):
    assert exercise.check(exercise.reference) == 1.0
    shown = define(exercise.solution_source, exercise.name, **names_beside(exercise))
    assert exercise.judge(shown, guarded=False).outcome == PASSED


@each_exercise
def test_the_stub_is_not_attempted(exercise):
    stub = define(exercise.stub, exercise.name, **names_beside(exercise))
    assert exercise.judge(stub).outcome == NOT_ATTEMPTED


@each_exercise
def test_hints_lead_to_the_solution_without_being_it(exercise):
    assert len(exercise.hints) == 2
    body = ast.parse(exercise.solution_source).body[0].body
    (last,) = [ast.unparse(node.value) for node in body[-1:] if isinstance(node, ast.Return)] or [None]
    squeezed = ["".join(hint.split()) for hint in exercise.hints]
    assert last is None or len(last) < 20 or not any("".join(last.split()) in hint for hint in squeezed)


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_verdict_can_be_guessed(lesson):
    truth = {question: question.truth for question in members(lesson, Question)}
    assert len(truth) >= 2
    assert max(Counter(truth.values()).values()) <= max(2, 2 / 3 * len(truth))
    # Whoever always answers "bug" and "true", or the reverse, must not get far either.
    agreeing = sum(truth[question] == question.agrees for question in truth)
    assert 1 <= agreeing < len(truth)


@each_question
def test_a_question_is_settled_by_calls(question):
    (wrong,) = set(question.verdicts) - {question.truth}
    right = question.judge(question.truth)
    assert right.outcome == PASSED
    assert question.explanation in right.message
    assert question.judge(wrong).outcome == FAILED


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_notebook_holds_every_stub_as_it_is_defined(lesson):
    tagged = [cell.source for cell in cells_of(lesson) if "exercise" in cell.metadata.get("tags", [])]
    wanted = [
        f"{item.stub}\n{gap}exercises.{item.name}.check({item.name})"
        for kind, gap in ((Question, ""), (Exercise, "\n\n"))
        for item in members(lesson, kind)
    ]
    assert sorted(tagged) == sorted(wanted)


@cache
def cells_of(lesson: str) -> list:
    (found,) = find_lessons([lesson])
    return found.notebook.cells


# In the text of an exercise: `call(1, 2)` is `[3]`, or 3, or True.
EXAMPLE = re.compile(r"`(\w+)(\([^`]*\))` is (?:`([^`]+)`|(-?\d+(?:\.\d+)?|True|False)\b)")


def plain(value: object) -> object:
    """Lists instead of arrays and tuples."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return [plain(entry) for entry in value] if isinstance(value, list | tuple) else value


def examples() -> list:
    found = []
    for lesson in LESSONS:
        prose = [cell.source for cell in cells_of(lesson) if cell.cell_type == "markdown"]
        solutions = {item.name: item.reference for item in members(lesson, Exercise)}
        for name, arguments, in_code, in_words in EXAMPLE.findall(" ".join("\n".join(prose).split())):
            with contextlib.suppress(SyntaxError, ValueError):  # of what the text has named before
                given, said = ast.literal_eval(f"[{arguments[1:-1]}]"), ast.literal_eval(in_code or in_words)
                if name in solutions:
                    found.append(pytest.param(solutions[name], given, said, id=f"{lesson}-{name}{arguments}"))
    return found


def test_most_exercises_have_an_example():
    assert len(examples()) >= 40


@pytest.mark.parametrize(("solution", "given", "said"), examples())
def test_what_an_example_says_is_what_the_solution_returns(solution, given, said):
    assert plain(solution(*given)) == plain(said)


def test_windows_in_another_order_are_not_told_that_they_lose_nothing():
    def last_row_first(ids):
        middle = len(ids) // 2
        rows = [([ids[: middle - 1]], [ids[1:middle]]), ([ids[middle:-1]], [ids[middle + 1 :]])]
        return rows[::-1]

    judgment = just_lost.judge(last_row_first, guarded=False)
    assert judgment.outcome == FAILED
    assert judgment.diagnosis is None
    assert "undecided: same_order" in judgment.message


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_notebook_states_each_task_imports_the_exercises_again_and_ends_with_a_score(lesson):
    cells = cells_of(lesson)
    begin = next(i for i, cell in enumerate(cells) if re.match(r"## .*Exercises", cell.source))
    sources = [cell.source for cell in cells[begin:]]
    assert f"from course_lib.exercises import {lesson} as exercises" in "\n".join(sources[:3])
    assert "show_progress(exercises)" in "\n".join(sources)
    for before, cell in pairwise(cells):
        if "exercise" in cell.metadata.get("tags", []) and cell.source.startswith(("def ", "class ")):
            assert before.cell_type == "markdown", cell.source
