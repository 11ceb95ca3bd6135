"""Assignments for nbgrader: what students get, and what their answers get."""

import copy
import os
import re
import sys
import warnings
from pathlib import Path

import nbformat
import pytest

from course_lib.__main__ import main
from course_lib.commands.assignments import HIDDEN_SEEDS, build_assignment, points_of
from course_lib.teaching.checker import exercise
from course_lib.teaching.lessons import find_lessons, items_of, points_for

LESSONS = find_lessons()
SMALL = "small"
# What autograding is tried on: two verdicts, and three exercises, of which some have hidden calls.
ITEMS = ("starts_from_range", "drawn_starts", "tokens_in_tail", "smallest_stream", "rank_share")
FULL = 1 + 1 + 3 + 3 + 3
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)


def marks(cell) -> dict:
    return cell.metadata.get("nbgrader", {})


@pytest.fixture(scope="module")
def assignments():
    return {lesson.name: build_assignment(lesson, seed=3) for lesson in LESSONS}


@each_lesson
def test_each_exercise_becomes_an_answer_and_a_locked_check_with_points(lesson, assignments):
    preface, imports, *rest = cells = assignments[lesson.name].cells
    items = items_of(lesson.name)
    places = {marks(cell)["grade_id"]: i for i, cell in enumerate(cells) if marks(cell)}
    assert len(places) == 2 * len(items) + 1  # and the imports
    for name, item in items.items():
        answer, check = cells[places[name] : places[name] + 2]
        assert answer.source.startswith(item.stub)
        kinds = ("solution", "grade", "locked")
        assert [marks(answer)[kind] for kind in kinds] == [True, False, False]
        assert [marks(check)[kind] for kind in kinds] == [False, True, True]
        assert marks(check)["points"] == points_for(item)
        assert f"exercises.{name}.check({name}" in check.source
    points = points_of(cells)
    assert points == sum(map(points_for, items.values()))
    assert f"the {points} points" in preface.source
    # The tasks, and nothing of the lesson before or after; what is imported must not pass for an answer.
    namespace: dict = {}
    exec(imports.source, namespace)
    assert not namespace.keys() & items.keys()
    tasks = [cell.source for cell in lesson.notebook.cells if re.match(r"### `\w+`\n", cell.source)]
    assert set(tasks) <= {cell.source for cell in rest}
    assert not re.search(r"\]\((?!https?:|#)[^)]+\)", "\n".join(c.source for c in cells if c.cell_type == "markdown"))
    assert not any(cell.get("outputs") or set(cell.metadata) - {"nbgrader"} for cell in cells)
    nbformat.validate(assignments[lesson.name])


@exercise(cases=lambda random: [(n,) for n in [*range(3), *random.sample(range(3, 10**6), 5)]], hints=("", ""))
def square(number: int) -> int:
    """Return its square."""
    return number**2


def test_hidden_calls_fail_an_answer_that_knows_the_others_by_heart(assignments):
    sources = {marks(cell).get("grade_id"): cell.source for cell in assignments["sliding_windows"].cells}
    assert f"seed={HIDDEN_SEEDS + 3})" in sources["tokens_in_tail-check"]
    # All small calls are tried already.
    assert sources["smallest_stream-check"] == "3 * exercises.smallest_stream.check(smallest_stream)"
    by_heart = {number: number**2 for (number,) in square.cases}
    assert square.check(by_heart.get) == 1.0
    assert square.check(by_heart.get, seed=HIDDEN_SEEDS) == 0.0
    assert square.check(lambda number: number**2, seed=HIDDEN_SEEDS) == 1.0


def test_points_keep_the_message_and_are_a_plain_number_for_nbgrader():
    score = 3 * square.check(lambda number: number**2)
    assert score._repr_mimebundle_()["text/plain"] == "3.0"
    assert "Passed" in score._repr_mimebundle_()["text/html"]


def test_the_command_writes_the_same_bytes_twice_and_overwrites_nothing_that_was_changed(tmp_path, capsys):
    def files():
        return {path.name: path.read_bytes() for path in tmp_path.rglob("*.*")}

    command = ["nbgrader", str(tmp_path), "sequential_partitioning"]
    assert main(command) == 0
    printed, first = capsys.readouterr().out, files()
    assert set(first) == {"nbgrader_config.py", "04_sequential_partitioning.ipynb"}
    assert re.search(r"04_sequential_partitioning: \d+ points", printed)
    assert "nbgrader generate_assignment 04_sequential_partitioning" in printed
    assert main(command) == 0
    assert files() == first
    assert main([*command, "--seed", "1"]) == 1
    assert main([*command, "--seed", "1", "--force"]) == 0


# In nbgrader's own hands


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course with a few exercises of lesson 2, released."""
    pytest.importorskip("nbgrader", reason="nbgrader is part of the extra `teach`")
    out = tmp_path_factory.mktemp("course")
    assert main(["nbgrader", str(out), "2"]) == 0
    notebook = nbformat.read(out / "source" / "02_sliding_windows" / "02_sliding_windows.ipynb", as_version=4)
    keep = {"imports", *ITEMS, *(f"{name}-check" for name in ITEMS)}
    notebook.cells = [cell for cell in notebook.cells if marks(cell).get("grade_id") in keep]
    (out / "source" / SMALL).mkdir()
    nbformat.write(notebook, out / "source" / SMALL / f"{SMALL}.ipynb")
    return out


@pytest.fixture(scope="module")
def api(course):
    # A new gradebook starts a program by its name, so nbgrader is run in an environment that is activated.
    searched = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", searched)
        warnings.simplefilter("ignore")
        from nbgrader.apps import NbGraderAPI
        from traitlets.config.loader import PyFileConfigLoader

        config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
        config.CourseDirectory.root = str(course)
        made = NbGraderAPI(config=config)
        assert made.generate_assignment(SMALL)["success"]
    return made


def read(course: Path, kind: str) -> nbformat.NotebookNode:
    return nbformat.read(course / kind / SMALL / f"{SMALL}.ipynb", as_version=4)


def solved(released, solution):
    return solution


def known_by_heart_or_broken_or_untouched(released, solution):
    """Right in a verdict; of the exercises one is right in all calls that can be seen, and in no other."""
    if released.startswith("def tokens_in_tail"):
        return (
            "from course_lib.exercises.sliding_windows import tokens_in_tail as original\n"
            "known = dict(zip(original.cases, original.expected))\n"
            "def tokens_in_tail(*lengths): return known[lengths].value"
        )
    if released.startswith(("def rank_share", "drawn_starts")):
        return released
    return f"{solution}\n)" if released.startswith("def ") else solution


@pytest.mark.filterwarnings("ignore")  # nbgrader's own, of those that it stands on
@pytest.mark.parametrize(("answer", "points"), [(solved, FULL), (known_by_heart_or_broken_or_untouched, 1)])
def test_an_answer_gets_its_points(course, api, answer, points):
    notebook, source = copy.deepcopy(read(course, "release")), read(course, "source")
    for cell, solution in zip(notebook.cells, source.cells, strict=True):
        assert "HIDDEN" not in cell.source
        if marks(cell)["solution"]:
            assert cell.source.rstrip() == items_of("sliding_windows")[marks(cell)["grade_id"]].stub
            cell.source = answer(cell.source, solution.source)
    path = course / "submitted" / answer.__name__ / SMALL / f"{SMALL}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    graded = api.autograde(SMALL, answer.__name__)
    assert graded["success"], graded["log"]
    found = api.get_submission(SMALL, answer.__name__)
    assert (found["score"], found["max_score"]) == (points, FULL)
    assert api.generate_feedback(SMALL, answer.__name__)["success"]
    feedback = course / "feedback" / answer.__name__ / SMALL / f"{SMALL}.html"
    assert "Passed." in feedback.read_text(encoding="utf-8")
