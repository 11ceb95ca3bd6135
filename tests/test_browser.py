"""Lessons as readers meet them: in JupyterLab, in a browser, with live widgets.

Each is opened as it is committed, with its exercises solved; it must fit its frame, and run through on another corpus.
Without a browser `tests/test_notebooks.py` runs the same, but sees no page. COURSE_SCREENSHOTS names a folder that
keeps the pictures.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from browser_session import HEIGHT, STARTUP_OWN_TEXT, THEMES, WIDTH, Reader, jupyterlab
from kernel_environment import kernel_environment
from refresh_notebooks import normalize
from solved_lessons import STARTUP_WITHOUT_RAY, errors, own_text, scores, solved

# One lesson that is played with, and one that starts processes: what runs in a kernel is compared without a browser.
NAMES = ("02_sliding_windows", "12_many_machines")
NOTEBOOKS = [Path(__file__).parent.parent / "notebooks" / f"{name}.ipynb" for name in NAMES]
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def desk(browser, tmp_path_factory) -> Iterator[Reader]:
    """A reader in front of JupyterLab."""
    folder = tmp_path_factory.mktemp("jupyterlab")
    environment = kernel_environment(folder / "ipython", STARTUP_WITHOUT_RAY + STARTUP_OWN_TEXT)
    with jupyterlab(folder, environment) as (url, root):
        yield Reader(browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}), url, root)


@pytest.fixture
def reader(desk) -> Iterator[Reader]:
    yield desk
    desk.close()


@pytest.fixture
def pictures(tmp_path) -> Path:
    """Where screenshots go."""
    folder = Path(os.environ.get("COURSE_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_through_on_another_corpus_in_a_browser(path, reader, pictures):
    folder = reader.root / path.stem
    folder.mkdir()
    shutil.copytree(path.parent / "images", folder / "images")
    nbformat.write(solved(path), folder / path.name)
    (folder / "own.txt").write_text(own_text(path.stem), encoding="utf-8")
    reader.open(f"{path.stem}/{path.name}")
    assert reader.too_wide() == []
    reader.run_all()
    notebook = reader.saved()
    assert errors(notebook) == []
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    # Of another text, what is long may be in a box that can be scrolled: a row of tokens, say.
    assert reader.too_wide(boxes=False) == []
    assert reader.noise == []
    found = scores(notebook)
    assert found == [1.0] * len(found)
    assert len(found) >= 4


WRONG = "return num_windows * stride + context_length + 1"
RIGHT = "return (num_windows - 1) * stride + context_length + 1 if num_windows else 0"


def guess(lesson: Reader) -> int:
    """Answer the first prompt of lesson 2 wrongly; return the number of its cell."""
    prompt = lesson.first_cell_with("predict(")
    box = lesson.output(prompt).locator("input[type=text]")
    box.fill("97, 96")
    box.press("Enter")
    lesson.sees(prompt, "Not this time")
    lesson.sees(prompt, "You guessed 97, 96")
    # After Enter, the box would take Shift+Enter for itself.
    lesson.wait("() => document.activeElement.textContent.trim() === 'Guess'")
    return prompt


def play(lesson: Reader) -> int:
    """Move the last slider of a figure with the keyboard, and wait until the figure has changed."""
    number = lesson.first_cell_with("play(draw_windows")
    picture = lesson.output(number).locator(".jupyter-widgets img")
    before = picture.get_attribute("src")
    slider = lesson.output(number).get_by_role("slider").last
    at_first = slider.get_attribute("aria-valuenow")
    slider.press("ArrowRight")
    image = "lesson.content.widgets[number].node.querySelector('.jupyter-widgets img')"
    lesson.wait(f"([number, before]) => {image}?.src !== before", [number, before])
    assert float(slider.get_attribute("aria-valuenow")) == float(at_first) + 1
    return number


def solve_wrongly(lesson: Reader) -> int:
    """Type a wrong answer into an exercise, key by key."""
    exercise = lesson.first_cell_with("exercises.smallest_stream.check(")
    lesson.type_into(exercise, "...", WRONG)
    lesson.run(exercise)
    lesson.sees(exercise, "Failed")
    lesson.sees(exercise, "between n starts there are n - 1 strides")
    return exercise


def run_what_is_needed(lesson: Reader) -> None:
    last = max(lesson.first_cell_with("predict("), lesson.first_cell_with("play(draw_windows"))
    for number in [*lesson.code_cells(up_to=last), lesson.first_cell_with("from course_lib.exercises import")]:
        lesson.run(number)


def test_a_reader_guesses_plays_and_solves(reader, pictures):
    path, lesson = NOTEBOOKS[0], reader
    shutil.copy(path, reader.root)
    shutil.copytree(path.parent / "images", reader.root / "images")
    lesson.open(path.name)
    run_what_is_needed(lesson)
    guessed, played, exercise = guess(lesson), play(lesson), solve_wrongly(lesson)
    photograph(lesson, pictures, guessed=guessed, played=played, wrong=exercise)
    lesson.type_into(exercise, "return num_windows", RIGHT)
    lesson.run(exercise)
    lesson.sees(exercise, "Passed")
    photograph(lesson, pictures, right=exercise)

    assert lesson.noise == []
    assert lesson.too_wide() == []
    # Would a cell that is too wide be seen?
    lesson.output(exercise).evaluate("node => node.firstElementChild.style.width = '3000px'")
    assert lesson.too_wide() != []


def test_the_next_lesson_knows_where_one_was(browser, tmp_path, pictures):
    """In a copy of the course, where what a reader does is kept beside the lessons."""
    root = tmp_path / "lessons"  # what JupyterLab shows
    environment = kernel_environment(tmp_path / "ipython") | {"PYTHONPATH": str(root)}
    with jupyterlab(tmp_path, environment) as (url, _):
        for name in ("course_lib", "data", "notebooks"):
            not_mine = shutil.ignore_patterns("progress.json")
            shutil.copytree(NOTEBOOKS[0].parent.parent / name, root / name, ignore=not_mine)
        for path in (root / "notebooks").glob("*.ipynb"):
            path.write_text(normalize(nbformat.read(path, as_version=4)), encoding="utf-8")
        lesson = Reader(browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}), url, root)
        kept = root / "notebooks" / "progress.json"
        lesson.open("notebooks/02_sliding_windows.ipynb")
        cells = nbformat.read(root / "notebooks" / "02_sliding_windows.ipynb", as_version=4).cells
        run_what_is_needed(lesson)
        assert not kept.exists()
        exercise = solve_wrongly(lesson)
        guess(lesson)
        assert list(json.loads(kept.read_text(encoding="utf-8"))["done"].values()) == ["failed", "failed"]
        lesson.type_into(exercise, "return num_windows", RIGHT)
        lesson.run(exercise)
        lesson.sees(exercise, "Passed")
        lesson.close()
        lesson.open("notebooks/03_random_sampling.ipynb")
        welcome = lesson.first_cell_with("welcome_back()")
        for number in lesson.code_cells(up_to=welcome):
            lesson.run(number)
        lesson.sees(welcome, "You were last in")
        words = lesson.output(welcome).inner_text()
        left = sum("predict(" in cell.source for cell in cells if cell.cell_type == "code") - 1
        assert f"lesson 2, Sliding windows. Left there: {left} guesses, 5 verdicts and 6 exercises." in words
        photograph(lesson, pictures, welcome=welcome)
        assert lesson.too_wide() == []
        assert lesson.noise == []
        assert not list(kept.parent.glob("*.tmp"))
        lesson.close()
        lesson.page.close()


def photograph(reader: Reader, folder: Path, **cells: int) -> None:
    for theme in THEMES:
        reader.theme(theme)
        for name, number in cells.items():
            reader.photograph(folder / f"{name}-{theme}.png", number)
    reader.theme("light")
