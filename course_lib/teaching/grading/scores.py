"""The scores of a class, from its notebooks, without nbgrader.

    python -m course_lib scores handed-in
    python -m course_lib scores handed-in --out monday.csv --summary monday.md

The folder holds *.ipynb files, in folders as deep as you like, one a student, say. Each
exercise of each notebook becomes a row of scores.csv: file, lesson, exercise, score,
outcome, diagnosis. Then it tells, for the next lesson, how each exercise went and what
went wrong most often. Ctrl-C keeps the notebooks that are done.

Which lesson a notebook is, its import of the exercises tells, or else its name. Whether
an exercise was checked, and what is saved below its cell, plays no part: the answer is
called again. Of a notebook only what its answers need is run, by the names that they
use; its experiments are not. Where an exercise has several cells, the best one counts.
The outcomes are those of the checks (passed, failed, raised, not attempted), missing
for an exercise that is not there, and unreadable for a file that is no notebook.

Each answer runs in a process of its own, in a temporary folder with a copy of the small
files beside the notebook. It has limits of computing time and memory, and no network:
by the kernel where that lets users leave it, or else within Python alone. A notebook
that loops, exits, eats memory or writes files spoils its own rows alone. The results of
an answer are judged in another process, so that nothing that a notebook prints, saves
or patches scores for it.

All this is made for accidents. It is no sandbox: a program that is made to do harm can
write wherever you can, and who calls the course's own solution gets its points. Run
strangers' notebooks as a user who has nothing to lose, or in a container.

It works on Linux; elsewhere, run it in a container, or on Windows in WSL."""

from __future__ import annotations

import argparse
import ast
import contextlib
import csv
import importlib
import json
import math
import os
import re
import selectors
import shutil
import signal
import sys
import tempfile
import traceback
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from pathlib import Path

from course_lib.foundation import progress_bar
from course_lib.teaching.checker import (
    FAILED,
    NOT_ATTEMPTED,
    PASSED,
    RAISED,
    Exercise,
    Judgment,
)
from course_lib.teaching.checker.processes import (
    CAN_FORK,
    Stopped,
    Watch,
    fork,
    say_nothing,
    write_all,
)
from course_lib.teaching.checker.running import limits_of_answers
from course_lib.teaching.grading.carrying import (
    from_value,
    to_outcomes,
    to_text,
    to_value,
)
from course_lib.teaching.grading.slices import Attempt, Sheet
from course_lib.teaching.lessons import Lesson, exercise_of, find_lessons

MISSING, UNREADABLE = "missing", "unreadable"

LARGEST_NOTEBOOK = 100 * 2**20
MOST_ATTEMPTS = 5  # of one exercise in one notebook
LARGEST_COPY, MOST_COPIED = 2**20, 20 * 2**20
LONGEST_DIAGNOSIS = 300
FREQUENT = 10  # diagnoses in the summary
IMPORTED = re.compile(
    r"from\s+course_lib\.exercises\s+import\s+(\w+)|course_lib\.exercises\.(\w+)"
)
# Those that embed, override and isolate directions.
TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
STARTS_A_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠|%]")


@dataclass(frozen=True)
class Row:
    """How one exercise of one notebook went."""

    file: str
    lesson: str
    exercise: str
    score: float
    outcome: str
    diagnosis: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=user_path, help="what the class has handed in")
    parser.add_argument(
        "--out",
        type=user_path,
        default=Path("scores.csv"),
        help="the table, for a spreadsheet (default: %(default)s)",
    )
    parser.add_argument(
        "--summary", type=user_path, help="write what is printed into this file, too"
    )
    parser.add_argument(
        "--seconds",
        type=_positive,
        default=20,
        help="of computing for the cells that an answer needs; its calls have 2 seconds"
        " each, 10 in all (default: %(default)s)",
    )
    parser.add_argument(
        "--memory",
        type=_positive,
        default=1,
        help="GB for an answer (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=len(os.sched_getaffinity(0)) if CAN_FORK else 1,
        help="notebooks at the same time (default: %(default)s, the processors)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="draws the calls; with the default, 0, they are those of the notebooks",
    )


def _positive(text: str) -> float:
    number = float(text)
    if not (math.isfinite(number) and number > 0):
        raise argparse.ArgumentTypeError(f"must be above 0, got {text}")
    return number


def user_path(text: str) -> Path:
    """A path as it is typed: the shell leaves the ~ of `--out=~/scores.csv` alone."""
    return Path(text).expanduser()


def run(options: argparse.Namespace) -> int:
    if not CAN_FORK:
        raise OSError(
            "this works on Linux alone: run it in a container, or on Windows in WSL"
        )
    files = find_notebooks(options.folder)
    if not files:
        raise ValueError(f"there are no notebooks, *.ipynb, below {options.folder}")
    if options.jobs < 1 or options.seed < 0:
        raise ValueError("--jobs must be 1 or more, and --seed 0 or more")
    _open_for_writing(options.out)
    rows: dict[Path, list[Row]] = {}
    interrupted = False
    try:
        with contextlib.closing(score_all(files, options)) as scored:
            for path, found in progress_bar(
                scored, "notebooks", unit="nb", total=len(files)
            ):
                rows[path] = found
    except KeyboardInterrupt:
        interrupted = True
    ordered = [row for path in files for row in rows.get(path, [])]
    write_csv(options.out, ordered)
    if interrupted:
        count = f"{len(rows)} of {len(files)} notebooks"
        print(f"interrupted: {options.out} holds {count}", file=sys.stderr)
        return 130
    words = summary(ordered)
    print(f"{words}\n\nAll rows: {options.out}")
    if options.summary:
        options.summary.write_text(f"{words}\n", encoding="utf-8")
    return 0


def _open_for_writing(path: Path) -> None:
    """Fail before the work, not behind it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8"):
        pass


def find_notebooks(folder: Path) -> list[Path]:
    """List the notebooks below a folder in the order of their names; hidden files and
    folders, Jupyter's checkpoints among them, are left out.

    Raises:
        NotADirectoryError: there is no such folder.
    """
    if not folder.is_dir():
        raise NotADirectoryError(f"there is no folder {folder}")
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        found += [
            Path(place, name)
            for name in names
            if name.lower().endswith(".ipynb") and name[0] != "."
        ]
    return sorted(found, key=lambda path: os.fsencode(path.relative_to(folder)))


# One notebook: in a process that never runs a line of it, but starts those that do.


@dataclass(frozen=True)
class Task:
    """A notebook to score: how it is called in the table, and what its answers may
    take."""

    path: Path
    name: str
    folder: Path  # a temporary one
    seed: int = 0
    seconds: float = 20.0
    extra_bytes: int = 2**30
    skip: frozenset[str] = field(default=frozenset())


class Unreadable(Exception):
    """A file that is no notebook of the course."""


def score_notebook(task: Task) -> Iterator[Row | str]:
    """Yield the name of an exercise before its cells are run, and its row after."""
    try:
        sheet = Sheet(read_code(task.path))
        lesson = tell_lesson(task.path, (source for _, source in sheet.cells))
    except Unreadable as error:
        yield Row(task.name, "", "", 0.0, UNREADABLE, str(error))
        return
    items = items_of(lesson)
    for name in exercises_of(lesson, sheet):
        if name in task.skip:
            continue
        yield name
        judgment = score_exercise(sheet, name, items[name], task)
        diagnosis = _short(judgment.diagnosis or "")
        yield Row(task.name, lesson, name, judgment.score, judgment.outcome, diagnosis)


def read_code(path: Path) -> list[tuple[int, str]]:
    """The code cells of a notebook, with their numbers among all cells, from 1.

    Raises:
        Unreadable: says why.
    """
    try:
        if not path.is_file():
            raise Unreadable("it is no file")
        if path.stat().st_size > LARGEST_NOTEBOOK:
            raise Unreadable(f"it is larger than {LARGEST_NOTEBOOK // 2**20} MB")
        text = path.read_text(encoding="utf-8-sig")
        if not text.strip():
            raise Unreadable("the file is empty")
        notebook = json.loads(text)
        # Notebooks of old, of version 3, have sheets; and a cell has its input.
        sheets = notebook.get("worksheets") or [notebook]
        cells = [
            (number, _joined(cell.get("source", cell.get("input", ""))))
            for number, cell in enumerate(
                (cell for sheet in sheets for cell in sheet["cells"]), start=1
            )
            if cell["cell_type"] == "code" and not _installs(cell)
        ]
    except OSError as error:
        raise Unreadable(f"it cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Unreadable("it is not UTF-8") from error
    except Unreadable:
        raise
    except Exception as error:  # whatever somebody has made of the file
        raise Unreadable(f"it is no notebook: {type(error).__name__}") from error
    return cells


def _installs(cell: dict) -> bool:
    """Whether it installs the course where that is missing: here it is not."""
    return "install" in cell.get("metadata", {}).get("tags", [])


def _joined(source: object) -> str:
    return source if isinstance(source, str) else "".join(map(str, source))


def tell_lesson(path: Path, sources: Iterable[str]) -> str:
    """Name the lesson that a notebook is of: by its imports, or by its name.

    Raises:
        Unreadable: by neither.
    """
    known = [lesson.name for lesson in lessons()]
    imported = Counter(
        name
        for source in sources
        for pair in IMPORTED.findall(source)
        for name in pair
        if name in known
    )
    if imported:
        return imported.most_common(1)[0][0]
    stem = path.stem.lower()
    named = [name for name in known if name in re.sub(r"\W", "_", stem)]
    # "document_packing" before what it might contain
    if named:
        return max(named, key=len)
    raise Unreadable("it is no lesson of the course, by its imports and its name")


@cache
def lessons() -> list[Lesson]:
    return find_lessons()


def items_of(lesson: str) -> dict[str, object]:
    """What can be checked in a lesson, by name."""
    module = importlib.import_module(f"course_lib.exercises.{lesson}")
    checked = {n: v for n, v in vars(module).items() if not isinstance(v, type)}
    return {n: v for n, v in checked.items() if hasattr(v, "check")}


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


def score_exercise(sheet: Sheet, name: str, item: object, task: Task) -> Judgment:
    """Judge all attempts at an exercise: the best one counts, or else the last."""
    attempts = sheet.attempts(name)
    if not attempts:
        if error := sheet.error_of(name):
            return Judgment(RAISED, 0.0, "", error)
        return Judgment(MISSING, 0.0, "", "")
    found = [
        judge_attempt(attempt, item, task) for attempt in attempts[-MOST_ATTEMPTS:]
    ]
    tried = [one for one in found if one.outcome != NOT_ATTEMPTED] or found
    return max(reversed(tried), key=lambda judgment: judgment.score)


def judge_attempt(attempt: Attempt, item: object, task: Task) -> Judgment:
    from course_lib.teaching.grading import guarded  # there are no limits elsewhere

    seed = attempt.seed
    if isinstance(item, Exercise):
        item = drawn(item, task.seed if seed is None else seed)
    with contextlib.suppress(ValueError):
        # "bug", "true", 17 or ...: nothing to run
        return assess(item, _plain(attempt), seed)
    folder = Path(tempfile.mkdtemp(dir=task.folder))
    copy_neighbors(task.path, folder)
    limits = replace(
        limits_of_answers(), before=task.seconds, extra_bytes=task.extra_bytes
    )
    found = guarded.run_guarded(
        lambda watch: answer_as_text(attempt, item, watch), folder, limits
    )
    shutil.rmtree(folder, ignore_errors=True)
    return judge_text(found, item, seed, task)


@cache
def drawn(item: Exercise, seed: int) -> Exercise:
    return item.drawn_from(seed) if seed else item


def assess(item: object, value: object, seed: int | None = None) -> Judgment:
    """Judge what is given to a check, if it is no function."""
    if isinstance(item, Exercise):
        if refusal := item.refusal(value):
            return refusal
        raise ValueError("it has to be called")
    if hasattr(item, "assess"):
        return item.assess(value, seed=seed or 0)
    judgment = item.judge(value)
    if judgment.outcome == FAILED:
        judgment = replace(judgment, diagnosis=f"answered {str(value)!r}.")
    return judgment


def _plain(attempt: Attempt) -> object:
    """The value of an answer that stands there as it is.

    Raises:
        ValueError: it has to be worked out.
    """
    node = attempt.expression
    if isinstance(node, ast.Name) and len(attempt.statements) == 1:
        (statement,) = (each.node for each in attempt.statements)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            node = statement.value
        elif isinstance(statement, ast.FunctionDef) and not _has_body(statement):
            return ...
    return ast.literal_eval(node)


def _has_body(function: ast.FunctionDef) -> bool:
    return bool(function.decorator_list) or not all(
        isinstance(node, ast.Pass)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in function.body
    )


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


def answer_as_text(attempt: Attempt, item: object, watch: Watch) -> str:
    """Run the statements, and write down what the answer is, or what it does: in the
    process of the answer."""
    space: dict = {"__name__": "__main__", "display": lambda *shown, **more: None}
    sys.path.insert(0, "")
    cell = 0
    watch.begin(-1)
    try:
        for statement in attempt.statements:
            cell = statement.cell
            node = statement.node
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                continue
            tree = ast.Module([node], type_ignores=[])
            exec(compile(tree, f"<cell {cell}>", "exec"), space)
        cell = 0
        answer = eval(
            compile(ast.Expression(attempt.expression), "<check>", "eval"), space
        )
    except BaseException as error:
        where = f" (cell {cell})" if cell else ""
        return json.dumps({"error": f"{type(error).__name__}: {error}{where}"})
    watch.end()
    if not isinstance(item, Exercise):
        return json.dumps({"value": from_value(answer)})
    if refusal := item.refusal(answer):
        return json.dumps({"refusal": asdict(refusal)})
    got = item.call_all(answer, watch)
    if isinstance(got, Stopped):
        return json.dumps({"stopped": asdict(got)})
    return json.dumps({"outcomes": to_text(got)})


def judge_text(
    found: str | Stopped, item: object, seed: int | None, task: Task
) -> Judgment:
    """Judge what has come from the process of an answer. It may be anything: what was
    not written by `answer_as_text` gives no points."""
    if isinstance(found, Stopped):
        return judge_stopped(found, item, task)
    try:
        (kind, content), *_ = json.loads(found).items()
        if kind == "stopped":
            return judge_stopped(Stopped(**content), item, task)
        if kind == "error":
            return Judgment(RAISED, 0.0, "", str(content))
        if kind == "refusal":
            refusal = Judgment(**content)
            known = refusal.outcome in (FAILED, NOT_ATTEMPTED)
            outcome = refusal.outcome if known else FAILED
            return Judgment(outcome, 0.0, "", refusal.diagnosis)
        if kind == "value":
            return assess(item, to_value(content), seed)
        outcomes = to_outcomes(content)
        if kind == "outcomes" and len(outcomes) == len(item.cases):
            judgment = item.judge_outcomes(outcomes)
            errors = [o.error for o in outcomes if o.error is not None]
            if judgment.outcome == RAISED and not judgment.diagnosis and errors:
                words = f"{type(errors[0]).__name__}: {errors[0]}".rstrip(": ")
                return Judgment(RAISED, 0.0, judgment.message, words)
            return judgment
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    return Judgment(RAISED, 0.0, "", "its process wrote something else than results")


def judge_stopped(stopped: Stopped, item: object, task: Task) -> Judgment:
    if stopped.call >= 0 and isinstance(item, Exercise):
        return item.judge_outcomes(stopped)
    what = {
        "endless": f"did not end within {task.seconds:g} seconds of computing",
        "memory": "took all the memory they could get",
        "waits": "wait for something that does not come",
    }.get(stopped.reason, f"ended their process: {stopped.reason}")
    return Judgment(RAISED, 0.0, "", f"the cells that it needs {what}.")


def _short(text: str) -> str:
    text = printable(" ".join(text.split()))
    return text if len(text) <= LONGEST_DIAGNOSIS else f"{text[:LONGEST_DIAGNOSIS]} …"


def printable(text: str) -> str:
    """Text in any script without what commands a terminal or turns its direction."""
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or character in TURNS
        else character
        for character in text
    )


# A class: some notebooks at a time.


@dataclass
class Worker:
    """A process that scores a notebook, and what it has told so far."""

    task: Task
    process: int
    reader: int
    told: bytes = b""

    def rows(self) -> tuple[list[Row], str | None, bool]:
        """The rows, the exercise that has begun and has none, whether all is done."""
        rows, begun, done = [], None, False
        for line in self.told.splitlines():
            entry = json.loads(line)
            if isinstance(entry, dict):
                rows.append(Row(**entry))
                begun = None
            else:
                begun, done = entry, entry is None
        return rows, begun, done


def score_all(
    files: list[Path], options: argparse.Namespace
) -> Iterator[tuple[Path, list[Row]]]:
    """Yield each notebook with its rows, as soon as it is done."""
    prepare(files, options.seed)
    with tempfile.TemporaryDirectory(
        prefix="course-scores-", ignore_cleanup_errors=True
    ) as folder:
        limits = (options.seed, options.seconds, int(options.memory * 2**30))
        names = [_name(path, options.folder) for path in files]
        waiting = [
            Task(path, name, Path(folder), *limits)
            for path, name in zip(files, names, strict=True)
        ]
        known: dict[Path, list[Row]] = {}
        with selectors.DefaultSelector() as selector, _ended(selector):
            while waiting or selector.get_map():
                while waiting and len(selector.get_map()) < options.jobs:
                    worker = start(waiting.pop(0))
                    selector.register(worker.reader, selectors.EVENT_READ, worker)
                for worker in _heard(selector):
                    selector.unregister(worker.reader)
                    finish(worker)
                    path = worker.task.path
                    more, again = conclude(worker)
                    known[path] = known.get(path, []) + more
                    if again is None:
                        yield path, known.pop(path)
                    else:
                        waiting.insert(0, again)


def prepare(files: list[Path], seed: int) -> None:
    """Import what these notebooks need, and call the solutions: once, not once each."""
    names = {lesson.name for lesson in lessons()}
    for path in files:
        with contextlib.suppress(OSError, Unreadable):
            if path.is_file() and path.stat().st_size <= LARGEST_NOTEBOOK:
                text = path.read_bytes().decode(errors="ignore")
                for name in {tell_lesson(path, [text])} & names:
                    _ = in_order(name)
                    for item in items_of(name).values():
                        if isinstance(item, Exercise):
                            _ = drawn(item, seed).expected
                    names.discard(name)


def _name(path: Path, folder: Path) -> str:
    name = os.fsencode(path.relative_to(folder).as_posix())
    return printable(name.decode(errors="backslashreplace"))


def start(task: Task) -> Worker:
    process, reader = fork(lambda writer: _work(task, writer))
    return Worker(task, process, reader)


def _work(task: Task, writer: int) -> None:
    from course_lib.teaching.grading import guarded

    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *arguments: sys.exit())
    say_nothing()
    guarded.guard_children()

    def tell(entry: object) -> None:
        write_all(writer, f"{json.dumps(entry)}\n".encode())

    begun = ""
    try:
        for entry in score_notebook(task):
            tell(asdict(entry) if isinstance(entry, Row) else entry)
            begun = entry if isinstance(entry, str) else ""
        tell(None)
    except Exception:
        words = _short(f"it could not be judged: {traceback.format_exc(limit=-1)}")
        lesson, outcome = (_lesson_of(task), RAISED) if begun else ("", UNREADABLE)
        tell(asdict(Row(task.name, lesson, begun, 0.0, outcome, words)))


def _heard(selector: selectors.BaseSelector) -> Iterator[Worker]:
    """Listen for a moment, and yield the workers that have said everything."""
    from course_lib.teaching.grading import guarded

    ready = selector.select(0.5)
    if not ready:
        for key in selector.get_map().values():
            if guarded.is_halted(key.data.process):
                os.kill(key.data.process, signal.SIGKILL)
    for key, _ in ready:
        piece = os.read(key.fd, 2**16)
        key.data.told += piece
        if not piece:
            yield key.data


def finish(worker: Worker) -> None:
    os.close(worker.reader)
    os.waitpid(worker.process, 0)


def conclude(worker: Worker) -> tuple[list[Row], Task | None]:
    """The rows of a worker that has ended; and what another one is to go on with, if it
    was the notebook that has ended it."""
    task = worker.task
    rows, begun, done = worker.rows()
    if done or any(row.outcome == UNREADABLE for row in rows):
        return rows, None
    if begun is None and not rows:
        words = "whoever reads it comes to a sudden end"
        return [Row(task.name, "", "", 0.0, UNREADABLE, words)], None
    if begun is not None:
        lesson = rows[0].lesson if rows else _lesson_of(task)
        words = "its cells ended the process that scores them."
        rows.append(Row(task.name, lesson, begun, 0.0, RAISED, words))
    known = task.skip | {row.exercise for row in rows}
    return rows, replace(task, skip=known)


def _lesson_of(task: Task) -> str:
    return tell_lesson(task.path, (source for _, source in read_code(task.path)))


@contextlib.contextmanager
def _ended(selector: selectors.BaseSelector) -> Iterator[None]:
    """Whatever happens: no process is left behind."""
    try:
        yield
    finally:
        workers = [key.data for key in selector.get_map().values()]
        for worker in workers:
            os.kill(worker.process, signal.SIGTERM)  # it ends what it has started
        for worker in workers:
            finish(worker)


# What is told of it.


def write_csv(path: Path, rows: list[Row]) -> None:
    """Write a table that spreadsheets show as it is: with the mark by which they know
    UTF-8, and an apostrophe before what they would take for a formula."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(each.name for each in fields(Row))
        for row in rows:
            values = asdict(row).values()
            writer.writerow([_harmless(v) if isinstance(v, str) else v for v in values])


def _harmless(text: str) -> str:
    return f"'{text}" if STARTS_A_FORMULA.match(text) else text


def summary(rows: list[Row]) -> str:
    """How each exercise went, and the most frequent diagnoses, as Markdown."""
    files: dict[str, set[str]] = {}
    for row in rows:
        if row.lesson:
            files.setdefault(row.lesson, set()).add(row.file)
    parts = []
    for lesson in lessons():
        if lesson.name in files:
            own = [row for row in rows if row.lesson == lesson.name]
            count = len(files[lesson.name])
            parts.append(_summary_of(f"{lesson.number}. {lesson.title}", own, count))
    unreadable = [row for row in rows if row.outcome == UNREADABLE]
    if unreadable:
        lines = [f"- {row.file}: {row.diagnosis}" for row in unreadable]
        parts.append("\n".join(["## Unreadable", "", *lines]))
    return "\n\n".join(parts)


def _summary_of(title: str, rows: list[Row], count: int) -> str:
    notebooks = "1 notebook" if count == 1 else f"{count} notebooks"
    outcomes = [PASSED, FAILED, RAISED, NOT_ATTEMPTED, MISSING]
    width = max(len(row.exercise) for row in rows)
    lines = [f"## {title}: {notebooks}", ""]
    lines += [f"| {'exercise':<{width}} | {' | '.join(outcomes)} |"]
    lines += [
        f"|{'-' * (width + 2)}|{'|'.join('-' * len(o) + '-:' for o in outcomes)}|"
    ]
    for exercise in dict.fromkeys(row.exercise for row in rows):
        tally = Counter(row.outcome for row in rows if row.exercise == exercise)
        cells = " | ".join(f"{tally[outcome]:>{len(outcome)}}" for outcome in outcomes)
        lines.append(f"| {exercise:<{width}} | {cells} |")
    said = Counter((row.exercise, row.diagnosis) for row in rows if row.diagnosis)
    if said:
        lines += ["", "What went wrong most often:", ""]
        lines += [
            f"- {number} of {count}: `{exercise}`: {diagnosis}"
            for (exercise, diagnosis), number in said.most_common(FREQUENT)
        ]
    return "\n".join(lines)
