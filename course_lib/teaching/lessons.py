"""The notebooks as data: where they are, and what is in them. Whatever makes something
else of them uses this: blank copies, a site, assignments."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import course_lib
from course_lib.foundation import Several, check_choice, checked
from course_lib.teaching.checker import Exercise, Question

if TYPE_CHECKING:
    from nbformat import NotebookNode

# A tossed coin gets half of the verdicts right, so they count least.
POINTS = {Question: 1, Exercise: 3}
# A notebook bears its module's name, but for one: `what_is_scored` says nothing outside
# of its lesson.
MODULES = {"what_is_scored": "scored_tokens"}
CHECKED = re.compile(r"\bexercises\.(\w+)\.check\(")


@dataclass(frozen=True)
class Lesson:
    """A notebook of the course: `path` is `NN_name.ipynb`."""

    path: Path

    @property
    def number(self) -> int:
        return int(self.path.stem[:2])

    @property
    def name(self) -> str:
        """That of its modules: `sliding_windows`."""
        return MODULES.get(self.path.stem[3:], self.path.stem[3:])

    @property
    def title(self) -> str:
        """As its heading says it, without the number: `Sliding windows`."""
        first_line = self.cells[0]["source"].splitlines()[0]
        return first_line.lstrip("# ").split(". ", 1)[1]

    @cached_property
    def cells(self) -> list[dict]:
        """Plain cells, each with its source in one piece, for who only reads them."""
        cells = json.loads(self.path.read_text(encoding="utf-8"))["cells"]
        return [cell | {"source": "".join(cell["source"])} for cell in cells]

    @cached_property
    def notebook(self) -> NotebookNode:
        """As it is committed. To change it, work on a copy."""
        import nbformat  # takes a second, for which no reader of a lesson should wait

        return nbformat.read(self.path, as_version=4)


@checked
def exercise_of(cell: Mapping) -> str | None:
    """Name the exercise that a cell asks for; most cells ask for none."""
    if "exercise" not in cell["metadata"].get("tags", []):
        return None
    checked = CHECKED.search(cell["source"])
    return checked[1] if checked else None


def items_of(lesson: str) -> dict[str, object]:
    """What can be checked in a lesson, by name."""
    check_choice("lesson", lesson, [known.name for known in find_lessons()])
    module = importlib.import_module(f"course_lib.exercises.{lesson}")
    kinds = tuple(POINTS)
    return {n: item for n, item in vars(module).items() if isinstance(item, kinds)}


def points_for(item: object) -> int:
    points = [points for kind, points in POINTS.items() if isinstance(item, kind)]
    if not points:
        raise TypeError(f"item must be an exercise, got {type(item).__name__}")
    return points[0]


def notebooks_folder() -> Path:
    """The folder of the notebooks, beside the package; an error without them."""
    folder = Path(course_lib.__file__).resolve().parent.parent / "notebooks"
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{folder} is missing: the notebooks come with a copy of the course's "
            'repository, installed there with `pip install --editable ".[course]"`'
        )
    return folder


@checked
def find_lessons(
    wanted: Annotated[Iterable[str], Several("names")] = (),
) -> list[Lesson]:
    """List the lessons of some numbers or names, `2`, `02`, `sliding_windows`, or all,
    in their order."""
    wanted = list(wanted)
    lessons = [Lesson(path) for path in sorted(notebooks_folder().glob("??_*.ipynb"))]
    known = {}
    for lesson in lessons:
        number = str(lesson.number)
        names = number, number.zfill(2), lesson.name, lesson.path.stem
        known |= dict.fromkeys(names, lesson)
    for name in wanted:
        if name not in known:
            there = ", ".join(f"{lesson.number} {lesson.name}" for lesson in lessons)
            raise ValueError(f"there is no lesson {name!r}; there are {there}")
    found = [known[name] for name in wanted]
    return [lesson for lesson in lessons if lesson in found] if found else lessons
