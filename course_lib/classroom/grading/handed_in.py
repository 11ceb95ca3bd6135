"""Notebooks that were handed in: where they are, which lesson each one is, its code."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from course_lib.classroom.grading.slices import Sheet
from course_lib.teaching.lessons import Lesson, exercise_of, find_lessons, items_of

LARGEST_NOTEBOOK = 100 * 2**20
LARGEST_COPY, MOST_COPIED = 2**20, 20 * 2**20
IMPORTED = re.compile(
    r"from\s+course_lib\.exercises\s+import\s+(\w+)|course_lib\.exercises\.(\w+)"
)


class Unreadable(Exception):
    """A file that is no notebook of the course."""


def find_notebooks(folder: Path) -> list[Path]:
    """List the notebooks below a folder in the order of their names; hidden files and
    folders, Jupyter's checkpoints among them, are left out. A notebook is one itself.

    Raises:
        ValueError: there is no such folder, or no notebook in it.
    """
    if folder.is_file() and folder.suffix.lower() == ".ipynb":
        return [folder]
    if folder.is_file():
        raise ValueError(f"{folder} is a file, but no notebook, *.ipynb")
    if not folder.is_dir():
        raise ValueError(f"there is no folder or notebook {folder}")
    found = [path for path in folder.rglob("*") if _is_handed_in(path, folder)]
    if not found:
        raise ValueError(f"there are no notebooks, *.ipynb, below {folder}")
    return sorted(found, key=lambda path: os.fsencode(path.relative_to(folder)))


def _is_handed_in(path: Path, folder: Path) -> bool:
    *folders, name = path.relative_to(folder).parts
    is_hidden = name[0] == "." or any(part[0] in "._" for part in folders)
    return path.suffix.lower() == ".ipynb" and not (is_hidden or path.is_dir())


def read_code(path: Path) -> list[tuple[int, str]]:
    """The code cells of a notebook, with their numbers among all cells, from 1.

    Raises:
        Unreadable: says why.
    """
    if not path.is_file():
        raise Unreadable("it is no file")
    if path.stat().st_size > LARGEST_NOTEBOOK:
        raise Unreadable(f"it is larger than {LARGEST_NOTEBOOK // 2**20} MB")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise Unreadable(f"it cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Unreadable("it is not UTF-8") from error
    if not text.strip():
        raise Unreadable("the file is empty")
    try:
        notebook = json.loads(text)
        # Notebooks of old, of version 3, have sheets; and a cell has its input.
        sheets = notebook.get("worksheets") or [notebook]
        cells = [cell for sheet in sheets for cell in sheet["cells"]]
        return [
            (number, _joined(cell.get("source", cell.get("input", ""))))
            for number, cell in enumerate(cells, start=1)
            # What installs the course where it is missing does nothing here.
            if cell["cell_type"] == "code"
            and "install" not in cell.get("metadata", {}).get("tags", [])
        ]
    except Exception as error:  # whatever somebody has made of the file
        raise Unreadable(f"it is no notebook: {type(error).__name__}") from error


def _joined(source: object) -> str:
    return source if isinstance(source, str) else "".join(map(str, source))


def tell_lesson(path: Path, cells: Iterable[tuple[int, str]]) -> str:
    """Name the lesson that a notebook is of: by its imports, or by its name.

    Raises:
        Unreadable: by neither.
    """
    known = [lesson.name for lesson in lessons()]
    found = (pair for _, source in cells for pair in IMPORTED.findall(source))
    imported = Counter(name for pair in found for name in pair if name in known)
    if imported:
        return imported.most_common(1)[0][0]
    words = re.sub(r"\W", "_", path.stem.lower())
    if named := [name for name in known if name in words]:
        return max(named, key=len)  # "document_packing" before what it might contain
    raise Unreadable("it is no lesson of the course, by its imports and its name")


@cache
def lessons() -> list[Lesson]:
    return find_lessons()


def exercises_of(lesson: str, sheet: Sheet) -> list[str]:
    """The exercises of a lesson in the order of its notebook; and the questions with
    drawn numbers that a teacher has put into this one."""
    names = in_order(lesson)
    more = [n for n in items_of(lesson) if n not in names and sheet.attempts(n)]
    return [*names, *more]


@cache
def in_order(lesson: str) -> tuple[str, ...]:
    """The exercises of a lesson as its notebook has them."""
    (found,) = (each for each in lessons() if each.name == lesson)
    return tuple(n for cell in found.notebook.cells if (n := exercise_of(cell)))


def copy_neighbors(path: Path, folder: Path) -> None:
    """Copy the small files beside a notebook, by which its cells may know them."""
    left = MOST_COPIED
    with contextlib.suppress(OSError):
        for other in sorted(path.parent.iterdir()):
            if other.suffix.lower() == ".ipynb" or other.is_symlink():
                continue
            if other.is_file() and other.stat().st_size <= min(LARGEST_COPY, left):
                left -= other.stat().st_size
                shutil.copyfile(other, folder / other.name)
