"""Where a lesson goes that is read in another folder, and where its links lead then."""

from __future__ import annotations

import html
import mimetypes
import re
import shutil
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote

# [words](target), ![words](target); the words may hold [brackets]
LINK = re.compile(r"(!?)\[((?:[^][]|\[[^][]*\])*)\]\(([^()\s]+)\)")


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


def relink(source: Path, paths: list[Path]) -> Callable[[str], str]:
    """Make what mends the links of Markdown that is read in another folder.

    Nothing leads out of that folder, since it may be moved to another machine: a link
    to a lesson that is not there becomes its words. Links to the web, and within the
    lesson, stay. Images are copied there, or put into the page if it is HTML.

    Args:
        source: the folder of the lessons.
        paths: the files that are made of lessons, in one folder, of one kind.
    """
    out, suffix = paths[0].parent, paths[0].suffix

    def mend(link: re.Match) -> str:
        is_image, words, target = link.groups()
        name, *anchor = target.split("#")
        file = source / unquote(name)
        if not file.is_file():  # it leads elsewhere, or only looks like a link
            return link[0]
        if is_image and suffix == ".html":
            kind, data = mimetypes.guess_type(file)[0], b64encode(file.read_bytes())
            alt = html.escape(words)
            return f'<img src="data:{kind};base64,{data.decode()}" alt="{alt}">'
        if is_image:
            (out / "images").mkdir(exist_ok=True)
            shutil.copyfile(file, out / "images" / file.name)
            return f"![{words}](images/{quote(file.name)})"
        there = (out / file.name).with_suffix(suffix)
        if file.suffix == ".ipynb" and (there in paths or there.exists()):
            return f"[{words}]({'#'.join([quote(there.name), *anchor])})"
        return words

    return lambda markdown: LINK.sub(mend, markdown)
