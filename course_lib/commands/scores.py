"""Score the notebooks of a class, without nbgrader.

    python -m course_lib scores handed-in
    python -m course_lib scores handed-in --out monday.csv

The folder holds *.ipynb files, in subfolders as deep as you like. A student is either a
folder in it, with all the notebooks inside, or a single notebook. The command writes
two tables:

    scores.csv            a row for each exercise in each notebook: file, lesson,
                          exercise, score, outcome, diagnosis
    scores-students.csv   a row for each student: exercises solved, points, files

The command also prints what you may want to begin the next session with: how each
exercise went, what went wrong most often, and the most common wrong answers as code.

The outcome is what the check says (passed, failed, raised or not attempted). Or it is
"missing" if the exercise is not in the notebook, and "unreadable" if the file is not a
notebook. If there are several answers to an exercise, the best one counts.

Saved outputs play no part. The cells with a check are run again, in a kernel of their
own and a temporary folder, with what the other cells import and define. If an answer
takes anything else from the notebook, for example the result of a training run, that is
missing there. To tell which lesson a notebook belongs to, the command looks at which
exercises it imports, or else at its name.

This is not a sandbox. If a notebook sets out to get points, or to do harm, it can. Run
strangers' notebooks as a user with nothing to lose, or in a container."""

import argparse
import ast
import asyncio
import contextlib
import csv
import json
import os
import re
import subprocess
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import astuple, dataclass
from pathlib import Path, PurePosixPath

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError

from course_lib.commands.links import add_force, check_free
from course_lib.commands.paths import user_path
from course_lib.foundation import progress_bar
from course_lib.teaching.checker import FAILED, NOT_ATTEMPTED, PASSED, RAISED
from course_lib.teaching.checker.messages import CHECKS_FILE
from course_lib.teaching.lessons import (
    exercise_of,
    find_lessons,
    items_of,
    points_for,
)

MISSING, UNREADABLE = "missing", "unreadable"
OUTCOMES = (PASSED, FAILED, RAISED, NOT_ATTEMPTED, MISSING)
COLUMNS = ("file", "lesson", "exercise", "score", "outcome", "diagnosis")
OF_STUDENTS = ("student", "solved", "of", "points", "of points", "files")
FREQUENT, FREQUENT_ANSWERS = 10, 3  # in the summary: diagnoses; answers, as code
SETTINGS = {"MPLBACKEND": "agg", "COURSE_WIDGETS": "0", "COURSE_PROGRESS": "0"}
SET_UP = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
CHECKED = re.compile(r"\b\w+\.(\w+)\.check\(")
IMPORTED = re.compile(r"course_lib\.exercises(?:\s+import\s+|\.)(\w+)")
# A call, the expected result and the result that came, as a check shows them.
FACTS = re.compile(r"```text\n(.*?)\n```", re.DOTALL)
# What is defined, and was not checked.
CHECK_THE_REST = """
for name, item in list(vars(exercises).items()):
    if getattr(item, "last_outcome", "") == "not attempted" and name in globals():
        item.check(globals()[name])
"""


@dataclass(frozen=True)
class Row:
    file: str
    lesson: str
    exercise: str
    score: float
    outcome: str
    diagnosis: str = ""
    worth: int = 0  # points for a right answer
    code: str = ""  # of a function that is wrong


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        type=user_path,
        help="what the class has handed in, or a single notebook",
    )
    parser.add_argument(
        "--out",
        type=user_path,
        default=Path("scores.csv"),
        help="the first table; the second is named after it (default: %(default)s)",
    )
    add_force(parser)
    parser.add_argument(
        "--seconds",
        type=int,
        default=120,
        help="how long a cell may run, with its checks (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    files, folder, out = find_notebooks(options.folder), options.folder, options.out
    if options.seconds < 1:
        raise ValueError(f"--seconds must be at least 1, got {options.seconds}")
    root = folder.parent if folder.is_file() else folder
    find_lessons()  # without the notebooks of the course nothing can be scored
    of_students = out.with_stem(f"{out.stem}-students")
    check_free([out, of_students], force=options.force)
    out.parent.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = {pool.submit(score, p, root, options.seconds): p for p in files}
        bar = {"unit": "nb", "total": len(files)}
        try:
            finished = progress_bar(as_completed(waiting), "notebooks", **bar)
            done = {waiting[future]: future.result() for future in finished}
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    rows = [row for path in files for row in done[path]]
    write_table(out, COLUMNS, (astuple(row)[: len(COLUMNS)] for row in rows))
    write_table(of_students, OF_STUDENTS, students(rows))
    print(summary(rows), f"\nAll rows: {out}", sep="\n")
    print(f"A row for each student: {of_students}")
    return 0


# What was handed in


def find_notebooks(folder: Path) -> list[Path]:
    """List the notebooks below a folder, or the one that it is, by their names, without
    hidden ones, such as Jupyter's checkpoints."""
    if folder.is_file() and folder.suffix == ".ipynb":
        return [folder]
    if not folder.is_dir():
        raise ValueError(f"there is no folder and no notebook (*.ipynb) {folder}")
    found = [
        path
        for path in sorted(folder.rglob("*.ipynb"))
        if not any(part[0] == "." for part in path.relative_to(folder).parts)
    ]
    if not found:
        raise ValueError(f"there are no notebooks, *.ipynb, below {folder}")
    return found


def code_cells(path: Path) -> dict[int, str]:
    """The source of each code cell, by its number among all cells, from 1; a ValueError
    says why a file is no notebook."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8-sig"))["cells"]
        return {
            number: "".join(cell["source"])
            for number, cell in enumerate(cells, start=1)
            if cell["cell_type"] == "code"
            # The cell that installs the course where it is missing is not needed.
            and "install" not in cell.get("metadata", {}).get("tags", [])
        }
    except Exception as error:  # the file may contain anything
        reason = f"it is not a notebook: {type(error).__name__}"
        raise ValueError(reason) from error


def lesson_of(path: Path, sources: Iterable[str]) -> str:
    """Name the lesson of a notebook, by its imports, or else by its file name."""
    known = [lesson.name for lesson in find_lessons()]
    imported = Counter(n for s in sources for n in IMPORTED.findall(s) if n in known)
    if imported:
        return imported.most_common(1)[0][0]
    words = re.sub(r"\W", "_", path.stem.lower())
    if named := [name for name in known if name in words]:
        return max(named, key=len)
    raise ValueError("neither its imports nor its name are those of a lesson")


def to_run(cells: dict[int, str]) -> dict[int, str]:
    """Keep cells with a check, and of all others what only imports, defines, or names a
    plain value: a lesson's training runs and figures are not needed."""
    kept = {}
    for number, source in cells.items():
        if CHECKED.search(source):
            kept[number] = source
            continue
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            plain = [ast.unparse(one) for one in _statements(source) if _defines(one)]
            if plain:
                kept[number] = "\n".join(plain)
    return kept


def _statements(source: str) -> list[ast.stmt]:
    return ast.parse(TransformerManager().transform_cell(source)).body


def _defines(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        with contextlib.suppress(ValueError, TypeError, RecursionError):
            ast.literal_eval(statement.value)
            return True
    return isinstance(statement, SET_UP)


# Running it


def score(path: Path, root: Path, seconds: int) -> list[Row]:
    """Return a row for each exercise of a notebook's lesson."""
    file = printable(path.relative_to(root).as_posix())
    try:
        cells = code_cells(path)
        lesson = lesson_of(path, cells.values())
    except ValueError as error:
        return [Row(file, "", "", 0.0, UNREADABLE, str(error))]
    cells = to_run(cells)
    said, broken = run_cells(lesson, cells, seconds)
    (own,) = find_lessons([lesson])
    names, items = filter(None, map(exercise_of, own.cells)), items_of(lesson)
    codes = {n: code for n in items for s in cells.values() if (code := code_of(s, n))}
    rows = []
    for name in names:
        worth = points_for(items[name])
        known = [entry for entry in said if entry["exercise"] == name]
        tried = [entry for entry in known if entry["outcome"] != NOT_ATTEMPTED] or known
        if tried:  # of several answers the best counts, or the last
            best = max(reversed(tried), key=lambda entry: entry["score"])
            result = best["score"], best["outcome"], in_a_table(best)
            code = codes.get(name, "") if result[2] else ""
        else:
            words, code = printable(broken.get(name, "")), ""
            result = 0.0, RAISED if words else MISSING, words
        rows.append(Row(file, lesson, name, *result, worth, code))
    return rows


def run_cells(
    lesson: str, cells: dict[int, str], seconds: int
) -> tuple[list[dict], dict[str, str]]:
    """Run cells in a kernel of their own, in a temporary folder. Return what the checks
    have said, and for exercises whose cell broke off or was never reached, why."""
    room = f"from course_lib.exercises import {lesson} as exercises"
    notebook = nbformat.v4.new_notebook()
    for number, source in {0: room, **cells, -1: f"{room}\n{CHECK_THE_REST}"}.items():
        cell = nbformat.v4.new_code_cell(source, metadata={"number": number})
        notebook.cells.append(cell)
    ended = ""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        log = Path(folder, "checks.jsonl")
        client = NotebookClient(
            notebook,
            timeout=seconds,
            startup_timeout=600,
            interrupt_on_timeout=True,
            error_on_timeout={"ename": "", "evalue": "", "traceback": []},
            kernel_name="python3",
            allow_errors=True,
            resources={"metadata": {"path": folder}},
        )
        environment = os.environ | SETTINGS | {CHECKS_FILE: str(log)}
        try:
            quiet = {"stderr": subprocess.DEVNULL}
            asyncio.run(client.async_execute(env=environment, **quiet))
        except DeadKernelError:
            begun = [c for c in notebook.cells if "execution" in c.metadata]
            ended = f"cell {begun[-1].metadata.number} ended the kernel"
        lines = log.read_text("utf-8").splitlines() if log.exists() else []
    broken = {}
    for cell in notebook.cells:
        errors = [out for out in cell.outputs if out.output_type == "error"]
        for name in CHECKED.findall(cell.source):
            for error in errors:
                why = re.sub(r" ?\(\d+\.py, line \d+\)", "", error.evalue)
                words = f"{error.ename}: {why}"
                if error.ename == "KeyboardInterrupt":
                    words = f"it did not end within {seconds} seconds"
                broken[name] = f"{words} (cell {cell.metadata.number})"
            if ended:
                broken.setdefault(name, ended)
    return list(map(json.loads, lines)), broken


def in_a_table(said: dict) -> str:
    """Say what went wrong: the diagnosis, or else the smallest call that goes wrong."""
    if said["outcome"] in (PASSED, NOT_ATTEMPTED):
        return ""
    call, *more = (FACTS.findall(said["message"]) or [""])[0].splitlines() or [""]
    words = said["diagnosis"] or f"{call}: {', '.join(more[:2])}"
    words = words.replace("The call below", f"`{call}`")
    words = words.partition(" After a restart")[0]  # nobody has restarted anything
    words = printable(" ".join(words.split()))
    return words if len(words) <= 300 else f"{words[:300]} …"


def printable(text: str) -> str:
    """Escape characters that control a terminal, or that no file can hold."""
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in ("Cc", "Cf", "Cs")
        else character
        for character in text
    )


def code_of(source: str, name: str) -> str:
    """Return the definition of a function without comments and docstring, or ''."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        for node in _statements(source):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                if ast.get_docstring(node) is not None and len(node.body) > 1:
                    node.body = node.body[1:]
                return ast.unparse(node)
    return ""


# What is made of it


def write_table(path: Path, names: tuple, rows: Iterable[Iterable]) -> None:
    """Write a table that spreadsheets show as it is: with their mark of UTF-8, and an
    apostrophe before what they would take for a formula."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for row in rows:
            cells = (f"'{v}" if re.match(r"\s*[=+@-]", str(v)) else v for v in row)
            writer.writerow(cells)


def students(rows: list[Row]) -> Iterator[tuple]:
    """Yield what each student has solved, among the exercises of all lessons that
    somebody has handed in. A student is a folder below the given one, or a file in it.
    """
    worth = {(row.lesson, row.exercise): row.worth for row in rows if row.exercise}
    own: dict[str, list[Row]] = {}
    for row in rows:
        path = PurePosixPath(row.file)
        own.setdefault(path.parts[0] if path.parts[1:] else path.stem, []).append(row)
    for student, those in own.items():
        solved = {(row.lesson, row.exercise) for row in those if row.score}
        points = sum(worth[one] for one in solved)
        files = dict.fromkeys(
            f"{row.file} ({UNREADABLE})" if row.outcome == UNREADABLE else row.file
            for row in those
        )
        out_of = len(worth), points, sum(worth.values())
        yield student, len(solved), *out_of, "; ".join(files)


def summary(rows: list[Row]) -> str:
    """Summarize, in Markdown, how each exercise went, and what often went wrong."""
    parts = []
    for lesson in find_lessons():
        if own := [row for row in rows if row.lesson == lesson.name]:
            parts.append(_summary_of(f"{lesson.number}. {lesson.title}", own))
    if unreadable := [row for row in rows if row.outcome == UNREADABLE]:
        lines = [f"- {row.file}: {row.diagnosis}" for row in unreadable]
        parts.append("\n".join(["## Unreadable", "", *lines]))
    return "\n\n".join(parts)


def _summary_of(title: str, rows: list[Row]) -> str:
    count = len({row.file for row in rows})
    lines = [f"## {title}: {count} notebook{'s' * (count > 1)}", ""]
    lines += [f"| exercise | {' | '.join(OUTCOMES)} |", "|---" + "|--:" * 5 + "|"]
    names = list(dict.fromkeys(row.exercise for row in rows))
    for name in names:
        tally = Counter(row.outcome for row in rows if row.exercise == name)
        lines.append(f"| {name} | {' | '.join(str(tally[o]) for o in OUTCOMES)} |")
    said = Counter((row.exercise, row.diagnosis) for row in rows if row.diagnosis)
    lines += ["", "What went wrong most often:", ""] if said else []
    for (name, diagnosis), number in said.most_common(FREQUENT):
        lines.append(f"- {number} of {count}: `{name}`: {diagnosis}")
    for name in names:
        codes = Counter(row.code for row in rows if row.exercise == name and row.code)
        if codes:
            lines += ["", f"The most common wrong answers to `{name}`:"]
        for code, number in codes.most_common(FREQUENT_ANSWERS):
            lines += ["", f"{number} of {count}:", "", "```python", code, "```"]
    return "\n".join(lines)
