"""Lessons with every exercise solved, on a text that is not the course's: what a diligent reader runs, and we test."""

import importlib
import linecache
import re
from pathlib import Path

import nbformat

from course_lib.foundation import load_documents
from course_lib.teaching.lessons import Lesson
from kernel_environment import STARTUP

# Text of another corpus. A lesson that trains dozens of models reads few different characters: a step takes longer the
# more there are, and in the others they are more than a lesson's tokenizer keeps.
FEW_LETTERS = ("german", "french", "code", "dialogue")
LONG_TRAININGS = ("03_random_sampling", "04_sequential_partitioning", "05_stride_tradeoffs")

# Kernels in which Ray is not installed, as on most machines; nbval's have it, where it is.
STARTUP_WITHOUT_RAY = STARTUP + "\nimport sys\nsys.modules['ray'] = None\n"


def own_text(lesson: str) -> str:
    """The corpus of a reader, for the notebook `NN_name`."""
    kinds = FEW_LETTERS if lesson in LONG_TRAININGS else ("chinese", "math", *FEW_LETTERS)
    return "\n\n".join(document.text for document in load_documents() if document.kind in kinds)


def is_exercise(cell: nbformat.NotebookNode) -> bool:
    return "exercise" in cell.metadata.get("tags", [])


def exercise_of(cell: nbformat.NotebookNode, path: Path) -> object:
    (name,) = re.findall(r"exercises\.(\w+)\.check\(", cell.source)
    return getattr(importlib.import_module(f"course_lib.exercises.{Lesson(path).name}"), name)


def solved(path: Path) -> nbformat.NotebookNode:
    """Read a lesson, and replace the stub of each exercise by its solution."""
    notebook = nbformat.read(path, as_version=4)
    for cell in filter(is_exercise, notebook.cells):
        item = exercise_of(cell, path)
        assert cell.source.startswith(item.stub)
        cell.source = item.solution_source + cell.source.removeprefix(item.stub)
    return notebook


def scores(notebook: nbformat.NotebookNode) -> list[float]:
    """What the cells of the exercises came to; NaN for one that has no value."""
    found = []
    for cell in filter(is_exercise, notebook.cells):
        values = [output.data["text/plain"] for output in cell.outputs if "execution_count" in output]
        found.append(float(values[0]) if values else float("nan"))
    return found


def errors(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """What cells show of errors, and whatever else is written to stderr."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]


def define(source: str, name: str, **known: object) -> object:
    """What a cell defines under a name. Its source is there for `inspect`, as IPython sees to it."""
    file = f"<cell that defines {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), known)
    return known[name]
