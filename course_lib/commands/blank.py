"""Make notebooks for live coding, with a lesson's prose and empty cells for its code.

The command keeps all prose, the import statements, folded cells, and whatever asks the
class something, which means prompts, snippets to judge, and exercises with their
checks. It empties all other code and drops all outputs. Keep the lesson itself open
beside the notebook, so that you can see the code while you type.

    python -m course_lib blank ~/monday                all lessons
    python -m course_lib blank ~/monday 2 3            two of them
    python -m course_lib blank ~/monday 2 --empty-imports
"""

import argparse
import ast
import copy
import re

import nbformat
from nbformat import NotebookNode

from course_lib.commands.links import add_out_and_lessons, files_of_lessons
from course_lib.teaching.lessons import exercise_of

PROMPT = re.compile(r"^predict\(", re.MULTILINE)
# A snippet to judge, the reader's loader, the count of what is solved or guessed.
ASKS = re.compile(r"^(show_progress|exercises\.\w+\.show|my_loader\.check)\(", re.M)
# Exercises, and what tells how many are solved, do not work without these.
NEEDED = re.compile(r"^from course_lib\.exercises import .*$", re.MULTILINE)

INSTALLS = "install"  # where a lesson is opened elsewhere, this cell gets the course
FOLDED = "hide-input"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_out_and_lessons(parser)
    also = {"imports": "import statements", "prompts": "prompts (predict)"}
    for name, what in also.items():
        parser.add_argument(
            f"--empty-{name}", action="store_true", help=f"also empty {what}"
        )


def run(options: argparse.Namespace) -> int:
    for lesson, path, repair in files_of_lessons(options):
        notebook = blank(
            lesson.notebook,
            keep_imports=not options.empty_imports,
            keep_prompts=not options.empty_prompts,
        )
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = repair(cell.source)
        nbformat.write(notebook, path)
        print(path)
    return 0


def blank(
    notebook: NotebookNode, *, keep_imports: bool = True, keep_prompts: bool = True
) -> NotebookNode:
    """Copy a lesson without outputs, and with the code emptied that it would show."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = [], None
        # What is folded isn't typed: it installs the course, or prepares a question.
        stays = not {INSTALLS, FOLDED}.isdisjoint(cell.metadata.get("tags", []))
        if PROMPT.search(cell.source):
            stays = keep_prompts
        if stays or exercise_of(cell) or ASKS.search(cell.source):
            continue
        needed = "\n".join(NEEDED.findall(cell.source))
        cell.source = imports_in(cell.source) if keep_imports else needed
        cell.metadata = {}
    if not keep_imports:
        _import_what_asks(notebook)
    return notebook


def imports_in(source: str) -> str:
    """Keep the import statements of a cell, each as it is written."""
    statements = ast.parse(source).body
    lines = source.splitlines()
    return "\n".join(
        line
        for statement in statements
        if isinstance(statement, ast.Import | ast.ImportFrom)
        for line in lines[statement.lineno - 1 : statement.end_lineno]
    )


def _import_what_asks(notebook: NotebookNode) -> None:
    """A question imports its function, if the statement that did so was emptied."""
    for name in ("predict", "show_progress"):
        for cell in notebook.cells:
            if cell.cell_type == "code" and re.search(rf"^{name}\(", cell.source, re.M):
                if not re.search(rf"\bimport\b.*\b{name}\b", cell.source):
                    statement = f"from course_lib.teaching import {name}"
                    cell.source = f"{statement}\n\n{cell.source}"
                break
