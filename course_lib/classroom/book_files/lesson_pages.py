"""What becomes of a lesson's cells on its page."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib.classroom.book_files.asked import (
    item_of,
    prompt_as_html,
    prompt_in,
    verdict_as_markdown,
)
from course_lib.classroom.book_files.questions import section
from course_lib.classroom.rendering import COUNTS, PROMPT, alternative_text
from course_lib.teaching.checker import Question
from course_lib.teaching.guesses import WIDGET
from course_lib.teaching.guesses.prompts import MIME_TYPE
from course_lib.teaching.lessons import Lesson, exercise_of, notebooks_folder

EXERCISES = re.compile(r"^## \d+\. Exercises$", re.MULTILINE)
SHOWN = re.compile(r"exercises\.\w+\.show\(\)")
# What `tests/publish.py` writes into the README, for the first lesson.
BADGE = re.compile(r"\[!\[Open in (\w+)\]\([^)]*\)\]\(([^)]*?)[\w-]+\.ipynb\)")
OPENED = re.compile(r"\S+jupyter lab .*/(?=\d\d_\w+\.ipynb)")
TALLY = '<div class="tally"></div>\n\n[What you did in all lessons](../record.md)'


def prepare(path: Path, folder: Path, text: str) -> str:
    """Return what Sphinx reads in place of the text of a page in the folder of all: a
    lesson gets alternative texts, hints, and what takes guesses."""
    if path.suffix == ".ipynb":
        text = nbformat.writes(_prepared(Lesson(path), folder))
    return text.replace("](../README.md", "](../index.md")


def _prepared(lesson: Lesson, folder: Path) -> NotebookNode:
    notebook = lesson.notebook
    notebook.metadata.pop("widgets", None)
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            _prepare_cell(number, cell, lesson, folder)
    notebook.cells = [
        part for cell in notebook.cells for part in _with_more(cell, lesson)
    ]
    download = f"{{download}}`Download this notebook <{lesson.path.name}>`"
    notebook.cells[0].source += f"\n\n{download}"
    return notebook


def _prepare_cell(
    number: int, cell: NotebookNode, lesson: Lesson, folder: Path
) -> None:
    tags = cell.metadata.setdefault("tags", [])
    if cell.metadata.get("jupyter", {}).get("outputs_hidden"):
        tags.append("hide-output")
    if PROMPT.search(cell.source):
        tags.append("hide-input")
    elif SHOWN.fullmatch(cell.source):
        tags.append("remove-input")
    elif exercise_of(cell):
        cell.outputs = []  # that it was not attempted
    for output in cell.outputs:
        data = output.get("data", {})
        if prompt := prompt_in(output):
            data["text/html"] = prompt_as_html(lesson, prompt)
            del data[MIME_TYPE]  # which Sphinx does not know
        data.pop(WIDGET, None)
        if "image/png" in data:
            image = {"alt": alternative_text(number, lesson.notebook)}
            # With its width told, a figure becomes a link to itself in full size.
            if width := output.metadata.get("image/png", {}).get("width"):
                image["width"] = f"{width}px"
            cell.metadata["mystnb"] = {"image": image}


def _with_more(cell: NotebookNode, lesson: Lesson) -> Iterator[NotebookNode]:
    """Yield a cell with what stands below it on the page, or in its place."""
    item = item_of(lesson, cell)
    if COUNTS.search(cell.source) and cell.cell_type == "code":
        yield _markdown(f"{section(lesson)}\n\n{TALLY}")
    elif isinstance(item, Question):
        yield _markdown(verdict_as_markdown(lesson, item))
    else:
        yield cell
    if cell.cell_type == "markdown" and EXERCISES.search(cell.source):
        yield _markdown(_how_to_open(lesson))
    elif hints := getattr(item, "hints", ()):
        folded = "\n\n".join(
            f"<details><summary>Hint {n}</summary>\n\n{hint}\n\n</details>"
            for n, hint in enumerate(hints, start=1)
        )
        yield _markdown(f'<div class="hints">\n\n{folded}\n\n</div>')


def _markdown(text: str) -> NotebookNode:
    return nbformat.v4.new_markdown_cell(text)


def _how_to_open(lesson: Lesson) -> str:
    """Say where the exercises are checked: in the notebook, opened in one of the ways
    that the README tells."""
    readme = notebooks_folder().with_name("README.md").read_text(encoding="utf-8")
    ways = [
        f"[{name}]({address}{lesson.path.name})"
        for name, address in BADGE.findall(readme)
    ]
    if command := OPENED.search(readme):
        installed = "Where the course is [installed](../index.md#start), type"
        command = f"{command[0]}{lesson.path.name}"
        ways.append(f"{installed} this in its folder:\n\n```bash\n{command}\n```")
    listed = "\n\n".join(ways)
    return (
        "An exercise is checked by running it, which this page cannot do. The notebook "
        "can.\n\n"
        '<details class="open-lesson"><summary>Open this lesson</summary>\n\n'
        f"{listed}\n\n</details>"
    )
