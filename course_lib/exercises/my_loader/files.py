"""The reader's file, and our solution of it at each level."""

import ast
import os
import re
from itertools import count
from pathlib import Path

from IPython.display import Markdown, display

from course_lib.foundation import check_choice, checked

SOLUTION = Path(__file__).parent / "solution.py"
LESSONS = (2, 3, 4, 8, 9, 10, 11, 12, 13)
WHOLE = 14  # the lesson in which the whole file is audited
MARK = re.compile(r"# lesson (\d+)$")


def path() -> Path:
    """Return where the reader's file is, or is to be: in the folder of the notebook."""
    return Path(os.environ.get("COURSE_MY_LOADER", "my_loader.py")).absolute()


def text_at(level: int) -> str:
    """Return our file as it is after a lesson.

    A mark at the end of a line says which lesson adds it, with all lines below that are
    indented deeper.
    """
    check_choice("level", level, (*LESSONS, WHOLE))
    kept, left_out = "", None  # the indentation of a line that a later lesson adds
    for line in SOLUTION.read_text(encoding="utf-8").splitlines(keepends=True):
        indent = len(line) - len(line.lstrip(" "))
        if left_out is not None and line.strip() and indent <= left_out:
            left_out = None
        mark = MARK.search(line)
        if left_out is None and mark and int(mark[1]) > level:
            left_out = indent
        if left_out is None or not line.strip():
            kept += line
    # Around what was left out there are more empty lines than should be.
    kept = re.sub(r"\n{3,}", "\n\n", kept)
    return re.sub(r"\n\n(?=class |def )", "\n\n\n", kept)


def text_before(level: int) -> str:
    """Return what `start` writes: our file of the lesson before, or else a stub."""
    check_choice("level", level, (*LESSONS, WHOLE))
    if level == WHOLE:
        return text_at(WHOLE)
    if level > LESSONS[0]:
        return text_at(LESSONS[LESSONS.index(level) - 1])
    text = text_at(level)
    lines, tree = text.splitlines(keepends=True), ast.parse(text)
    *_, function = tree.body
    begin = next(node.lineno for node in tree.body if isinstance(node, ast.ClassDef))
    head = lines[function.lineno - 1 : function.body[0].end_lineno]
    return "".join([*lines[: begin - 1], *head, "    ...\n"])


@checked
def start(level: int, *, overwrite: bool = False) -> None:
    """Write `my_loader.py`, as our solution has it after the lesson before this one.

    For lesson 2 it is a stub, and for lesson 14 the whole solution.

    Args:
        level: the number of the lesson.
        overwrite: replace an existing file, which is kept as `my_loader.py.bak1`, or
            the next number that is free.

    Raises FileExistsError if there is a file and `overwrite` is not set.
    """
    text, file = text_before(level), path()
    if file.exists() and overwrite:
        names = (file.with_name(f"{file.name}.bak{number}") for number in count(1))
        backup = next(name for name in names if not name.exists())
        file.rename(backup)
        display(Markdown(f"Your file is now `{backup.name}`."))
    try:
        with file.open("x", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
    except FileExistsError:
        raise FileExistsError(
            f"{file.name} exists already, and it's yours. `my_loader.start({level}, "
            "overwrite=True)` replaces it, and keeps yours under another name"
        ) from None
    display(Markdown(f"Written: `{file.name}`, beside the notebook. Open it there."))
