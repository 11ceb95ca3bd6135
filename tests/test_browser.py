"""A lesson as readers meet it: in JupyterLab, in a browser, with live widgets. COURSE_SCREENSHOTS names a folder that
keeps the pictures.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser_session import HEIGHT, THEMES, WIDTH, Reader, jupyterlab
from kernel_environment import kernel_environment
from solved_lessons import STARTUP_WITHOUT_RAY

LESSON = Path(__file__).parent.parent / "notebooks" / "02_sliding_windows.ipynb"
pytestmark = pytest.mark.browser


@pytest.fixture
def reader(browser, tmp_path) -> Iterator[Reader]:
    """A reader in front of JupyterLab."""
    environment = kernel_environment(tmp_path / "ipython", STARTUP_WITHOUT_RAY)
    with jupyterlab(tmp_path, environment) as (url, root):
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        yield Reader(page, url, root)
        page.close()


@pytest.fixture
def pictures(tmp_path) -> Path:
    """Where screenshots go."""
    folder = Path(os.environ.get("COURSE_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


WRONG = "return num_windows * stride + context_length + 1"
RIGHT = "return (num_windows - 1) * stride + context_length + 1 if num_windows else 0"


def guess(lesson: Reader, num_tokens: int = 200) -> int:
    """Answer the first prompt of lesson 2 wrongly, key by key; return the number of its cell."""
    prompt = lesson.first_cell_with("predict(")
    lesson.output(prompt).get_by_label("windows").click()
    windows = num_tokens - 4  # T = 4, S = 1
    lesson.page.keyboard.type(f"{windows + 1}0")
    for key in ("Backspace", "ArrowUp", "Tab"):  # JupyterLab takes none of them
        lesson.page.keyboard.press(key)
    lesson.page.keyboard.type(f"{windows}")
    lesson.page.keyboard.press("Enter")
    lesson.sees(prompt, "Not this time: 0 of 2 right.")
    lesson.sees(prompt, f"A window at {windows} would have no id")
    lesson.sees(prompt, f"start of the last one: {windows - 1}")
    return prompt


def see_the_count(lesson: Reader) -> None:
    """Below the exercises stands what was guessed and solved."""
    progress = lesson.first_cell_with("show_progress(exercises)")
    lesson.run(progress)
    lesson.sees(progress, "0 of 1 right")
    lesson.sees(progress, re.compile(r"^1 of \d+ solved"))


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
    lesson.sees(exercise, "between n starts there are only n - 1")
    return exercise


def run_what_is_needed(lesson: Reader) -> None:
    last = max(lesson.first_cell_with("predict("), lesson.first_cell_with("play(draw_windows"))
    for number in [*lesson.code_cells(up_to=last), lesson.first_cell_with("from course_lib.exercises import")]:
        lesson.run(number)


def test_a_reader_guesses_plays_and_solves(reader, pictures):
    lesson = reader
    shutil.copy(LESSON, reader.root)
    shutil.copytree(LESSON.parent / "images", reader.root / "images")
    lesson.open(LESSON.name)
    if sys.version_info[:2] == (3, 11):  # another Python writes its own version into the notebook
        assert not lesson.page.evaluate("lesson.context.model.dirty")
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
