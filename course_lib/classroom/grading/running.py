"""Run the exercises of a notebook in a kernel, and read what their checks say."""

import ast
import asyncio
import contextlib
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from course_lib.classroom.grading import handed_in
from course_lib.classroom.grading.tables import MISSING, UNREADABLE, Row, short
from course_lib.teaching.checker import NOT_ATTEMPTED, PASSED, RAISED
from course_lib.teaching.checker.messages import CHECKS_FILE
from course_lib.teaching.checker.running import ALL_CALLS_SECONDS, IDLE_SECONDS
from course_lib.teaching.lessons import items_of, points_for

CHECKED = re.compile(r"\b\w+\.(\w+)\.check\(")
CELL_FILE = re.compile(r" ?\(\d+\.py, line \d+\)")  # a name that nobody knows
SET_UP = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
OFFLINE = "the network is off while answers are scored"
NETWORK = {
    f"socket.{call}" for call in ("connect", "sendto", "getaddrinfo", "gethostbyname")
}
# Programs find their files and settings through these, and not those of the teacher.
HOMES = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "IPYTHONDIR", "MPLCONFIGDIR")
SETTINGS = {
    "MPLBACKEND": "agg",
    "TOKENIZERS_PARALLELISM": "false",
    "COURSE_PROGRESS": "0",
    "COURSE_WIDGETS": "0",
    "HF_HUB_OFFLINE": "1",
}
# A call, the expected result and the result that came, as a check shows them.
FACTS = re.compile(r"```text\n(.*?)\n```", re.DOTALL)
LONGEST_FACT = 90
PATIENCE = 2 * ALL_CALLS_SECONDS + 2 * IDLE_SECONDS  # for the checks in a cell


@dataclass(frozen=True)
class Limits:
    """What the kernel of a notebook may use."""

    seconds: float = 20.0  # for a cell, beside the checks in it
    extra_bytes: int = 2**30  # of memory, beside what the course needs
    jobs: int = 1  # notebooks at the same time


def score_all(
    files: list[Path], root: Path, limits: Limits
) -> Iterator[tuple[Path, list[Row]]]:
    """Yield each notebook with its rows, as soon as it is done."""
    with ThreadPoolExecutor(limits.jobs) as pool:
        waiting = {pool.submit(score_notebook, p, root, limits): p for p in files}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def score_notebook(path: Path, root: Path, limits: Limits) -> list[Row]:
    """Return a row for each exercise of a notebook's lesson."""
    file = handed_in.name_of(path, root)
    try:
        cells = handed_in.read_code(path)
        lesson = handed_in.tell_lesson(path, cells)
    except handed_in.Unreadable as error:
        return [Row(file, "", "", 0.0, UNREADABLE, str(error))]
    items, names = items_of(lesson), handed_in.in_order(lesson)
    found = run_exercises(path, lesson, to_run(cells), limits)
    names = [*names, *(name for name in found.said if name not in names)]
    return [_row(file, lesson, name, items[name], found) for name in names]


def to_run(cells: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Keep cells with a check, and of all others what only defines something.

    A lesson's training runs and figures are not needed. What an answer takes from them
    is missing then, and its check says so.
    """
    as_python, kept = TransformerManager().transform_cell, []
    for number, source in cells:
        if CHECKED.search(source):
            kept.append((number, source))
            continue
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            body = ast.parse(as_python(source)).body
            plain = [ast.unparse(node) for node in body if _defines(node)]
            if plain:
                kept.append((number, "\n".join(plain)))
    return kept


def _defines(statement: ast.stmt) -> bool:
    """Say whether a statement imports, defines, or names a plain value."""
    if isinstance(statement, ast.Assign):
        with contextlib.suppress(ValueError, TypeError, RecursionError):
            ast.literal_eval(statement.value)
            return True
    return isinstance(statement, SET_UP)


@dataclass
class Found:
    """What checks have said of each exercise, and what else happened."""

    said: dict[str, list[dict]]
    errors: dict[str, str]  # of exercises whose cell raised, or was stopped
    codes: dict[str, str]  # of the functions that were checked


def run_exercises(
    path: Path, lesson: str, cells: list[tuple[int, str]], limits: Limits
) -> Found:
    """Run cells in a kernel of their own, in a temporary folder, without a network."""
    errors: dict[str, str] = {}
    prefix = {"prefix": "course-scores-", "ignore_cleanup_errors": True}
    with tempfile.TemporaryDirectory(**prefix) as folder:
        log = Path(folder, "checks.jsonl")
        while True:
            log.unlink(missing_ok=True)
            inside = Path(folder, "work")
            inside.mkdir(exist_ok=True)
            handed_in.copy_neighbors(path, inside)
            notebook = _notebook_of(lesson, cells, limits)
            ended = _execute(notebook, inside, log, limits)
            errors |= _errors_of(notebook)
            if ended is None:
                break
            # The kernel has ended in this cell: try again without it.
            number, words = ended
            gone = next((source for n, source in cells if n == number), "")
            errors |= dict.fromkeys(CHECKED.findall(gone), f"cell {number} {words}")
            rest = [cell for cell in cells if cell[0] != number]
            if len(rest) == len(cells):
                break
            cells = rest
        said: dict[str, list[dict]] = {}
        for entry in _entries(log):
            said.setdefault(entry["exercise"], []).append(entry)
    known = items_of(lesson)
    said = {name: entries for name, entries in said.items() if name in known}
    codes: dict[str, str] = {}
    for _, source in cells:
        codes |= {name: code for name in said if (code := code_of(source, name))}
    return Found(said, errors, codes)


def _notebook_of(
    lesson: str, cells: list[tuple[int, str]], limits: Limits
) -> nbformat.NotebookNode:
    room = f"from course_lib.exercises import {lesson} as exercises"
    begin = "from course_lib.classroom.grading.running import begin_kernel"
    first = f"{begin}\n{room}\nbegin_kernel({limits.extra_bytes})"
    # What is defined, but was not checked.
    last = (
        "from course_lib.classroom.grading.running import check_the_rest\n"
        f"{room}\ncheck_the_rest(exercises, globals())"
    )
    every = [(0, first), *cells, (0, last)]
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        nbformat.v4.new_code_cell(source, metadata={"number": number})
        for number, source in every
    ]
    return notebook


def _execute(
    notebook: nbformat.NotebookNode, folder: Path, log: Path, limits: Limits
) -> tuple[int, str] | None:
    """Run all cells. Return the number of the one in which the kernel ended, if any."""
    settings = SETTINGS | dict.fromkeys(HOMES, str(folder)) | {CHECKS_FILE: str(log)}
    client = NotebookClient(
        notebook,
        timeout=math.ceil(limits.seconds + PATIENCE),
        startup_timeout=600,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        asyncio.run(client.async_execute(env=os.environ | settings))
    except CellTimeoutError:
        what = f"did not end within {limits.seconds:g} seconds"
        return _last_begun(notebook), what
    except DeadKernelError:
        return _last_begun(notebook), "ended the kernel"
    return None


def _last_begun(notebook: nbformat.NotebookNode) -> int:
    begun = [cell for cell in notebook.cells if "execution" in cell.metadata]
    return begun[-1].metadata.number if begun else 0


def _errors_of(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Say which error ended the cell of an exercise before its check."""
    found = {}
    for cell in notebook.cells:
        for output in cell.outputs:
            if output.output_type == "error":
                value = CELL_FILE.sub("", output.evalue)
                # From Python 3.13 on, its class is private where a cell breaks off.
                breaks_off = value.startswith("incomplete input")
                name = "SyntaxError" if breaks_off else output.ename
                found |= dict.fromkeys(
                    CHECKED.findall(cell.source),
                    f"{name}: {value} (cell {cell.metadata.number})",
                )
    return found


def _entries(log: Path) -> Iterator[dict]:
    with contextlib.suppress(OSError, ValueError):
        for line in log.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def begin_kernel(extra_bytes: int) -> None:
    """Limit what a kernel may do: its memory, and the network.

    This protects against accidents, and is not a sandbox: a program that is meant to do
    harm can do whatever its user can.
    """
    sys.addaudithook(_refuse_the_network)
    with contextlib.suppress(ImportError, OSError, ValueError):  # as on Windows
        import resource

        import psutil

        room = psutil.Process().memory_info().vms + extra_bytes
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _refuse_the_network(event: str, arguments: tuple) -> None:
    if event in NETWORK:
        family = getattr(arguments[0], "family", None)
        if getattr(family, "name", "") != "AF_UNIX":
            raise OSError(OFFLINE)


def check_the_rest(room: object, names: dict[str, object]) -> None:
    """Check the answers that a notebook defines and does not check."""
    for name, item in vars(room).items():
        unchecked = getattr(item, "last_outcome", None) == NOT_ATTEMPTED
        if unchecked and hasattr(item, "judge") and name in names:
            item.check(names[name])


def code_of(source: str, name: str) -> str:
    """Return the definition of a function without comments and docstring, or ''."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        for node in ast.parse(TransformerManager().transform_cell(source)).body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                if ast.get_docstring(node) is not None and len(node.body) > 1:
                    node.body = node.body[1:]
                return ast.unparse(node)
    return ""


def _row(file: str, lesson: str, name: str, item: object, found: Found) -> Row:
    """Make the row of an exercise. Of several answers the best counts, or the last."""
    worth = points_for(item)
    tried = [e for e in found.said.get(name, []) if e["outcome"] != NOT_ATTEMPTED]
    if entries := tried or found.said.get(name, []):
        best = max(reversed(entries), key=lambda entry: entry["score"])
        is_wrong = best["outcome"] not in (PASSED, NOT_ATTEMPTED)
        code = found.codes.get(name, "") if is_wrong else ""
        result = best["score"], best["outcome"], short(in_a_table(best))
        return Row(file, lesson, name, *result, worth, code)
    if words := found.errors.get(name):
        return Row(file, lesson, name, 0.0, RAISED, short(words), worth)
    return Row(file, lesson, name, 0.0, MISSING, "", worth)


def in_a_table(said: dict) -> str:
    """Say what went wrong: the diagnosis, or else the smallest call that goes wrong."""
    facts = FACTS.findall(said["message"])
    if said["outcome"] in (PASSED, NOT_ATTEMPTED):
        return ""
    if not facts and said["diagnosis"] is None:
        return said["message"].partition("** ")[2].partition("\n")[0]
    # If a later call was stopped, the diagnosis is about that one.
    later = "The call below" in (said["diagnosis"] or "")
    lines = facts[-1 if later else 0].splitlines() if facts else []
    call, *more = (short(line, LONGEST_FACT) for line in [*lines, ""])
    if said["diagnosis"] is None:
        return f"{call}: {', '.join(more[:2])}"
    words = said["diagnosis"].replace("The call below", f"`{call}`")
    return words.partition(" After a restart")[0]  # nobody has restarted anything
