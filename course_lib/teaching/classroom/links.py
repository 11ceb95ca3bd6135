"""Links of a notebook that is read in another folder."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote

from nbformat import NotebookNode

IMAGES = {".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"}
# [words](target "title"), ![words](target), and src="target" or href="target"
LINK = re.compile(r"""(\]\(|\b(?:src|href)=["'])([^)\s"'#]+)""")


def check_free(paths: list[Path], *, source: Path, force: bool) -> None:
    """Refuse to write over files, unless that is wanted; over the lessons, always.

    Raises:
        FileExistsError: a file is there, and `force` is not given.
        ValueError: the folder is that of the lessons, or lies in it.
    """
    for path in paths:
        if source.resolve() in path.resolve().parents:
            raise ValueError(
                f"{path.parent} is in the folder of the lessons: give another folder"
            )
    there = [path for path in paths if path.exists()]
    if there and not force:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise FileExistsError(
            f"{there[0]}{more} is there already; `--force` writes over it"
        )


def relink(
    notebook: NotebookNode, source: Path, out: Path, names: dict[str, str]
) -> None:
    """Make the links of a notebook lead to the same places from another folder.

    Images are copied there. What else lies in the course is linked where it is.

    Args:
        notebook: is changed; its links hold in `source`.
        source: the folder of the lessons.
        out: the folder where the notebook will be read.
        names: what stands in `out` for a file of `source`.
    """

    def replace(match: re.Match) -> str:
        return match[1] + target_in(match[2], source, out, names)

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(replace, cell.source)


def target_in(
    target: str,
    source: Path,
    out: Path,
    names: dict[str, str],
    copy: Callable[[Path, Path], object] = shutil.copyfile,
) -> str:
    """Say what a link of a lesson is in another folder."""
    if re.match(r"[a-z][a-z0-9+.-]*:", target, flags=re.IGNORECASE):
        return target
    if target in names:
        return names[target]
    path = Path(os.path.normpath(source / unquote(target)))
    if not path.exists():  # no link, but something in the text that looks like one
        return target
    if path.suffix.lower() in IMAGES:
        place = out / "images" / path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        copy(path, place)
        return f"images/{quote(path.name)}"
    try:
        return quote(Path(os.path.relpath(path, out)).as_posix())
    except ValueError:  # Windows: on another drive
        return path.as_uri()
