"""The scores of a class, from its notebooks, without nbgrader.

    python -m course_lib scores handed-in
    python -m course_lib scores handed-in --out monday.csv --summary monday.md

The folder holds *.ipynb files, in folders as deep as you like. Each exercise of each
notebook becomes a row of scores.csv: file, lesson, exercise, score, outcome, diagnosis.
Each student becomes a row of scores-students.csv: how many exercises are solved, and
their points. A student is either a folder in the one that you give, with everything in
it, or a single notebook there. Then the command prints, for the next lesson, how each
exercise went, what went wrong most often, and the commonest wrong answers as code. If
you press Ctrl-C, it keeps the notebooks that are done.

A notebook's lesson is known from its import of the exercises, or else from its name. It
does not matter what is saved in it. The cells with a check are run again, in a kernel
of their own, with what other cells import and define. What an answer takes from
elsewhere in the notebook, for example from a training run, is missing there. Of several
answers to an exercise the best counts. The outcomes are those of the checks (passed,
failed, raised, not attempted), or missing if the exercise is not there, or unreadable
if the file is not a notebook.

Each kernel works in a temporary folder with a copy of the small files beside the
notebook, with a limit of its memory and without a network. A cell that loops or ends
the kernel is left out, and the others are run once more.

All this protects against accidents. It is not a sandbox: a notebook that wants points,
or to do harm, can have both. Run strangers' notebooks as a user with nothing to lose,
or in a container."""

import argparse
import contextlib
import math
import os
import sys
from pathlib import Path

from course_lib.classroom.grading.handed_in import find_notebooks
from course_lib.classroom.grading.running import Limits, score_all
from course_lib.classroom.grading.tables import (
    Row,
    lessons,
    of_students,
    summary,
    write_tables,
)
from course_lib.classroom.links import add_force, check_free, user_path
from course_lib.foundation import progress_bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=user_path, help="what the class has handed in, or one notebook"
    )
    parser.add_argument(
        "--out",
        type=user_path,
        default=Path("scores.csv"),
        help="the table, for a spreadsheet (default: %(default)s)",
    )
    parser.add_argument(
        "--summary", type=user_path, help="also write what is printed into this file"
    )
    add_force(parser)
    parser.add_argument(
        "--seconds",
        type=float,
        default=20,
        help="for a cell, beside the checks in it (default: %(default)s)",
    )
    parser.add_argument(
        "--memory",
        type=float,
        default=1,
        help="GB for a notebook, beside what the course needs (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count(),
        help="notebooks at the same time (default: %(default)s, the processors)",
    )


def run(options: argparse.Namespace) -> int:
    files = find_notebooks(options.folder)
    if options.folder.is_file():
        options.folder = options.folder.parent
    for name in ("seconds", "memory", "jobs"):
        if not 0 < (number := getattr(options, name)) < math.inf:
            raise ValueError(f"--{name} must be above 0, got {number}")
    lessons()  # without the notebooks of the course nothing can be scored
    written = [options.out, of_students(options.out), options.summary]
    check_writable(list(filter(None, written)), force=options.force)
    rows: dict[Path, list[Row]] = {}
    interrupted = False
    bar = {"unit": "nb", "total": len(files)}
    try:
        limits = Limits(options.seconds, int(options.memory * 2**30), options.jobs)
        with contextlib.closing(score_all(files, options.folder, limits)) as scored:
            rows.update(progress_bar(scored, "notebooks", **bar))
    except KeyboardInterrupt:
        interrupted = True
    ordered = [row for path in files for row in rows.get(path, [])]
    write_tables(options.out, ordered)
    if interrupted:
        count = f"{len(rows)} of {len(files)} notebooks"
        print(f"interrupted: {options.out} holds {count}", file=sys.stderr)
        return 130
    words = summary(ordered)
    print(f"{words}\n\nAll rows: {options.out}")
    print(f"A row for each student: {of_students(options.out)}")
    if options.summary:
        options.summary.write_text(f"{words}\n", encoding="utf-8")
    return 0


def check_writable(paths: list[Path], *, force: bool) -> None:
    """Fail before the work, not after it."""
    check_free(paths, force=force)
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        path.open("a").close()
        if is_new:
            path.unlink()
