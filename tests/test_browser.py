"""Lessons as readers meet them: in JupyterLab, in a browser, with live widgets.

Each is opened as it is committed, with its exercises solved; it must fit its frame, and run through on another corpus.
Without a browser `tests/test_notebooks.py` runs the same, but sees no page. COURSE_SCREENSHOTS names a folder that
keeps the pictures.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from browser_session import HEIGHT, STARTUP_OWN_TEXT, THEMES, WIDTH, Reader, jupyterlab
from kernel_environment import kernel_environment
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
    """Answer the first prompt of lesson 2 wrongly, key by key; return the number of its cell."""
    prompt = lesson.first_cell_with("predict(")
    lesson.output(prompt).get_by_label("windows").click()
    lesson.page.keyboard.type("1970")
    for key in ("Backspace", "ArrowUp", "Tab"):  # JupyterLab takes none of them
        lesson.page.keyboard.press(key)
    lesson.page.keyboard.type("196")
    lesson.page.keyboard.press("Enter")
    lesson.sees(prompt, "Not this time. You guessed 197; 196. A window at 196 would have no id left")
    lesson.sees(prompt, "start of the last one: 195")
    return prompt


def see_the_count(lesson: Reader) -> None:
    """Below the exercises stands what was guessed and solved; after a restart, what was guessed."""
    progress = lesson.first_cell_with("show_progress(exercises)")
    lesson.run(progress)
    lesson.sees(progress, "0 of 1 right")
    lesson.sees(progress, "1 of 7 solved")


def play(lesson: Reader) -> int:
    """Move the last slider of a figure with the keyboard, and wait until the figure has changed."""
    number = lesson.first_cell_with("play_windows(")
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
    last = max(lesson.first_cell_with("predict("), lesson.first_cell_with("play_windows("))
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
    see_the_count(lesson)

    assert lesson.noise == []
    assert lesson.too_wide() == []
    # Would a cell that is too wide be seen?
    lesson.output(exercise).evaluate("node => node.firstElementChild.style.width = '3000px'")
    assert lesson.too_wide() != []


def photograph(reader: Reader, folder: Path, **cells: int) -> None:
    for theme in THEMES:
        reader.theme(theme)
        for name, number in cells.items():
            reader.photograph(folder / f"{name}-{theme}.png", number)
    reader.theme("light")
