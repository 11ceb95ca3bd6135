"""Find notebooks that were handed in, their lessons, and their code."""

import contextlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from course_lib.classroom.grading.tables import lessons, printable
from course_lib.teaching.lessons import exercise_of

LARGEST_NOTEBOOK = 100 * 2**20
LARGEST_COPY, MOST_COPIED = 2**20, 20 * 2**20
IMPORTED = re.compile(
    r"from\s+course_lib\.exercises\s+import\s+(\w+)|course_lib\.exercises\.(\w+)"
)


class Unreadable(Exception):
    """Raised for a file that is not a notebook of the course."""


def find_notebooks(folder: Path) -> list[Path]:
    """List the notebooks below a folder, or the one that it is, by their names, without
    hidden ones, such as Jupyter's checkpoints."""
    if folder.is_file() and folder.suffix.lower() == ".ipynb":
        return [folder]
    if folder.is_file():
        raise ValueError(f"{folder} is a file, but not a notebook, *.ipynb")
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


def name_of(path: Path, root: Path) -> str:
    """Name a notebook in the tables: its path below the folder of the class."""
    name = os.fsencode(path.relative_to(root).as_posix())
    return printable(name.decode(errors="backslashreplace"))


def read_code(path: Path) -> list[tuple[int, str]]:
    """Return the code cells of a notebook, with their numbers among all cells, from 1.
    The message says why a file is `Unreadable`."""
    if not path.is_file():
        raise Unreadable("it is not a file")
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
        # Notebooks of version 3 have worksheets, and a cell's source is its input.
        sheets = notebook.get("worksheets") or [notebook]
        cells = [cell for sheet in sheets for cell in sheet["cells"]]
        return [
            (number, "".join(map(str, cell.get("source", cell.get("input", "")))))
            for number, cell in enumerate(cells, start=1)
            # The cell that installs the course where it is missing is not needed here.
            if cell["cell_type"] == "code"
            and "install" not in cell.get("metadata", {}).get("tags", [])
        ]
    except Exception as error:  # the file may contain anything
        raise Unreadable(f"it is not a notebook: {type(error).__name__}") from error


def tell_lesson(path: Path, cells: Iterable[tuple[int, str]]) -> str:
    """Name the lesson of a notebook, by its imports, or else by its file name."""
    known = [lesson.name for lesson in lessons()]
    found = (pair for _, source in cells for pair in IMPORTED.findall(source))
    imported = Counter(name for pair in found for name in pair if name in known)
    if imported:
        return imported.most_common(1)[0][0]
    words = re.sub(r"\W", "_", path.stem.lower())
    if named := [name for name in known if name in words]:
        return max(named, key=len)  # "document_packing" before what it might contain
    raise Unreadable("neither its imports nor its name are those of a lesson")


@cache
def in_order(lesson: str) -> tuple[str, ...]:
    """List the exercises of a lesson in the order of its notebook."""
    (found,) = (each for each in lessons() if each.name == lesson)
    return tuple(n for cell in found.cells if (n := exercise_of(cell)))


def copy_neighbors(path: Path, folder: Path) -> None:
    """Copy the small files beside a notebook, because its cells may read them."""
    left = MOST_COPIED
    with contextlib.suppress(OSError):
        for other in sorted(path.parent.iterdir()):
            if other.suffix.lower() == ".ipynb" or other.is_symlink():
                continue
            if other.is_file() and other.stat().st_size <= min(LARGEST_COPY, left):
                left -= other.stat().st_size
                shutil.copyfile(other, folder / other.name)
