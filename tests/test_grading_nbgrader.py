"""The assignments in nbgrader's hands: what students get, and what their answers get."""

import copy
import os
import re
import sys
import warnings
from pathlib import Path

import nbformat
import pytest
from traitlets.config.loader import PyFileConfigLoader

import course_lib.__main__
from course_lib.classroom.grading.assignments import build_assignment, points_of
from course_lib.teaching.checker import Exercise, NumbersQuestion, Question
from course_lib.teaching.lessons import find_lessons, items_of
from test_grading import marks

pytest.importorskip("nbgrader", reason="nbgrader is part of the extra `teach`")
pytestmark = pytest.mark.filterwarnings("ignore")  # nbgrader's own, of those that it stands on


LESSONS = find_lessons()
SMALL = "small"
# What autograding is tried on: two verdicts, two exercises, one of them with hidden calls, and a question with numbers.
ITEMS = ("starts_from_range", "drawn_starts", "tokens_in_tail", "smallest_stream", "windows_of_stream")
FULL = 1 + 1 + 3 + 3 + 2


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course with a few exercises of lesson 2, and the settings that the command writes."""
    out = tmp_path_factory.mktemp("course")
    assert course_lib.__main__.main(["nbgrader", str(out), "2"]) == 0
    notebook = nbformat.read(out / "source" / "02_sliding_windows" / "02_sliding_windows.ipynb", as_version=4)
    keep = {"imports", *ITEMS, *(f"{name}-check" for name in ITEMS)}
    notebook.cells = [cell for cell in notebook.cells if marks(cell).get("grade_id") in keep]
    (out / "source" / SMALL).mkdir()
    nbformat.write(notebook, out / "source" / SMALL / f"{SMALL}.ipynb")
    return out


each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)


@pytest.fixture(scope="module")
def assignments():
    return {lesson.name: build_assignment(lesson, seed=3) for lesson in LESSONS}


def settings(course: Path, **execute):
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
    config.CourseDirectory.root = str(course)
    config.Execute.update(execute)
    return config


@pytest.fixture(scope="module")
def make_api(course):
    # A new gradebook starts a program by its name, so nbgrader is run in an environment that is activated.
    searched = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", searched)
        warnings.simplefilter("ignore")
        from nbgrader.apps import NbGraderAPI

        made = NbGraderAPI(config=settings(course)).generate_assignment(SMALL)
    assert made["success"], made["log"]
    return lambda **execute: NbGraderAPI(config=settings(course, **execute))


def read(course: Path, kind: str) -> nbformat.NotebookNode:
    return nbformat.read(course / kind / SMALL / f"{SMALL}.ipynb", as_version=4)


# Outside of a check, and deaf to interrupts.
HANGING = """
import time  # windows_of_stream
while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
"""


# What students answer: each gets a cell as it was released, and as it is solved.


def solved(number, released, solution):
    return solution


def with_a_syntax_error(number, released, solution):
    return f"{solution}\n)"


def with_an_exception(number, released, solution):
    if released.startswith("def "):
        return released.replace("...", "raise ValueError('no idea')")
    return f"{solution.split(' = ')[0]} = 1 / 0"


def endless_or_untouched(number, released, solution):
    if released.startswith("def tokens_in_tail"):
        return released.replace("...", "while True: pass")
    return released


def half_solved_then_hanging(number, released, solution):
    if number == 4:
        return HANGING
    return released if number == 2 else solution


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        (solved, FULL),
        (with_a_syntax_error, 0),
        (with_an_exception, 0),
        (endless_or_untouched, 0),
        (half_solved_then_hanging, 1 + 1 + 3),
    ],
)
def test_an_answer_gets_its_points(course, make_api, answer, points):
    # The last cells are given up soon in this one; the others have all the time that the machine needs.
    hurry = {
        "timeout_func": lambda cell: 1 if "windows_of_stream" in cell.source else 600,
        "iopub_timeout": 10,
        "shutdown_kernel": "immediate",
    }
    api = make_api(**hurry if answer is half_solved_then_hanging else {})
    submit(course, answer)
    grade(api, answer.__name__, points)


def submit(course: Path, answer, leave_out: tuple[str, ...] = ()) -> None:
    notebook, source = read(course, "release"), read(course, "source")
    pairs = zip(notebook.cells, source.cells, strict=True)
    pairs = [(cell, solution.source) for cell, solution in pairs if marks(cell)["solution"]]
    for number, (cell, solution) in enumerate(pairs):
        cell.source = answer(number, cell.source, solution)
    notebook.cells = [cell for cell in notebook.cells if marks(cell)["grade_id"] not in leave_out]
    path = course / "submitted" / answer.__name__ / SMALL / f"{SMALL}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def grade(api, student: str, points: float, *, by_hand: bool = False) -> None:
    graded = api.autograde(SMALL, student)
    assert graded["success"], graded["log"]
    found = api.get_submission(SMALL, student)
    assert (found["score"], found["max_score"]) == (points, FULL)
    assert found["needs_manual_grade"] == by_hand


# Right in all calls that can be seen, and in no other.
BY_HEART = """
import sys
from course_lib.exercises.sliding_windows import tokens_in_tail as original
known = dict(zip(original.cases, original.expected))
def tokens_in_tail(*lengths): return known[lengths].value
print("a warning", file=sys.stderr)
"""


def test_checks_that_were_changed_or_deleted_and_calls_known_by_heart(course, make_api):
    def meddling(number, released, solution):
        return BY_HEART if number == 2 else solution

    submit(course, meddling, leave_out=("smallest_stream-check",))
    path = course / "submitted" / "meddling" / SMALL / f"{SMALL}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    (check,) = [cell for cell in notebook.cells if marks(cell)["grade_id"] == "windows_of_stream-check"]
    check.source = "2.0"
    nbformat.write(notebook, path)
    api = make_api()
    grade(api, "meddling", FULL - 3 - 3, by_hand=True)
    assert api.generate_feedback(SMALL, "meddling")["success"]
    feedback = (course / "feedback" / "meddling" / SMALL / f"{SMALL}.html").read_text(encoding="utf-8")
    assert "KeyError" in feedback  # of the hidden calls
    assert "Passed." in feedback


def test_what_is_released_is_the_stub_and_nothing_of_the_solution(course, make_api):
    items, released = items_of(LESSONS[1].name), read(course, "release")
    for cell in released.cells:
        name = marks(cell)["grade_id"]
        if marks(cell)["solution"]:
            assert cell.source.rstrip() == items[name].stub
        assert "HIDDEN" not in cell.source
        assert "SOLUTION" not in cell.source
        # In JupyterLab nobody deletes a cell by mistake.
        assert not cell.metadata["deletable"]
        assert cell.metadata.get("editable", True) == marks(cell)["solution"]


@each_lesson
def test_each_exercise_becomes_an_answer_and_a_locked_check_with_points(lesson, assignments):
    cells, items = assignments[lesson.name].cells, items_of(lesson.name)
    places = {marks(cell)["grade_id"]: i for i, cell in enumerate(cells) if marks(cell)}
    worth = {Question: 1, NumbersQuestion: 2, Exercise: 3}
    for name, item in items.items():
        place = places[name]
        answer, check = cells[place : place + 2]
        assert marks(check)["grade_id"] == f"{name}-check"
        assert answer.source.startswith(item.stub)
        kinds = ("solution", "grade", "locked")
        assert [marks(answer)[kind] for kind in kinds] == [True, False, False]
        assert [marks(check)[kind] for kind in kinds] == [False, True, True]
        assert marks(check)["points"] == worth[type(item)]
        assert f"exercises.{name}.check({name}" in check.source
        assert ", seed=3)" in check.source or not isinstance(item, NumbersQuestion)
    assert len(places) == 2 * len(items) + 1  # and the imports
    points = sum(worth[type(item)] for item in items.values())
    assert points_of(assignments[lesson.name].cells) == points
    assert f"the {points} points" in cells[0].source


@each_lesson
def test_an_assignment_holds_what_it_needs_and_nothing_else(lesson, assignments):
    words, imports, *rest = cells = assignments[lesson.name].cells
    assert "pip install" in words.source
    assert lesson.title in words.source
    namespace: dict = {}
    exec(imports.source, namespace)
    assert namespace.keys() >= {"exercises"}
    # What is imported must not pass for an answer.
    assert not namespace.keys() & items_of(lesson.name).keys()
    assert max(map(len, imports.source.splitlines())) <= 88
    # The tasks, and nothing of the lesson before or after.
    tasks = [cell.source for cell in lesson.notebook.cells if re.match(r"### `\w+`", cell.source)]
    assert set(tasks) <= {cell.source for cell in rest}
    assert len(rest) < len(lesson.notebook.cells)
    # No link leads nowhere, and no output is left.
    assert not re.search(r"\]\((?!https?:|#)[^)]+\)", "\n".join(c.source for c in cells if c.cell_type == "markdown"))
    assert not any(cell.get("outputs") or set(cell.metadata) - {"nbgrader"} for cell in cells)


@each_lesson
def test_nbgrader_takes_each_assignment_and_makes_our_stubs_of_it(lesson, course, assignments):
    from nbgrader.nbgraderformat import MetadataValidator
    from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions

    notebook = assignments[lesson.name]
    MetadataValidator().validate_nb(notebook)
    nbformat.validate(notebook)
    released, config = copy.deepcopy(notebook), settings(course)
    for step in (ClearSolutions, ClearHiddenTests):
        released, _ = step(config=config).preprocess(released, {})
    answers = {marks(cell)["grade_id"]: cell.source.rstrip() for cell in released.cells if marks(cell).get("solution")}
    assert answers == {name: item.stub for name, item in items_of(lesson.name).items()}
    assert not any("seed=1003" in cell.source for cell in released.cells)


@pytest.mark.parametrize("lesson", LESSONS[2:4], ids=lambda lesson: lesson.name)
def test_the_solutions_of_a_lesson_get_all_its_points(lesson, course, assignments):
    from nbgrader.preprocessors import Execute
    from nbgrader.utils import determine_grade

    notebook = copy.deepcopy(assignments[lesson.name])
    executed, _ = Execute(config=settings(course)).preprocess(notebook, {})
    for cell in executed.cells:
        if marks(cell).get("grade"):
            points, most = determine_grade(cell)
            assert points == most, cell
