"""The scores of a class, from its notebooks, without nbgrader.

    python -m course_lib scores handed-in
    python -m course_lib scores handed-in --out monday.csv --summary monday.md

The folder holds *.ipynb files, in folders as deep as you like. Each exercise of each
notebook becomes a row of scores.csv: file, lesson, exercise, score, outcome, diagnosis.
Each student becomes a row of scores-students.csv: how many exercises are solved, and
their points. A student is a folder in the one that you give, with all that it holds, or
a notebook that lies there itself; of several answers to an exercise the best counts.
Then it tells, for the next lesson, how each exercise went, what went wrong most often,
and the commonest wrong answers as code. Ctrl-C keeps the notebooks that are done.

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
import contextlib
import math
import os
import sys
from pathlib import Path

from course_lib.classroom.grading.handed_in import find_notebooks, lessons
from course_lib.classroom.grading.tables import Row, of_students, summary, write_tables
from course_lib.classroom.grading.workers import score_all
from course_lib.classroom.links import check_free, user_path
from course_lib.foundation import check_integer, progress_bar
from course_lib.teaching.checker.processes import CAN_FORK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=user_path, help="what the class has handed in; or one notebook"
    )
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
        "--force", action="store_true", help="write over what is there already"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=20,
        help="of computing for the cells that an answer needs; its calls have 2 seconds"
        " each, 10 in all (default: %(default)s)",
    )
    parser.add_argument(
        "--memory",
        type=float,
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


def run(options: argparse.Namespace) -> int:
    if not CAN_FORK:
        raise OSError(
            "this works on Linux alone: run it in a container, or on Windows in WSL"
        )
    files = find_notebooks(options.folder)
    if options.folder.is_file():
        options.folder = options.folder.parent
    for name in ("seconds", "memory", "jobs"):
        if not 0 < (number := getattr(options, name)) < math.inf:
            raise ValueError(f"--{name} must be above 0, got {number}")
    check_integer("--seed", options.seed, minimum=0)
    lessons()  # without the notebooks of the course nothing can be scored
    written = [options.out, of_students(options.out), options.summary]
    check_writable(list(filter(None, written)), force=options.force)
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
    """Fail before the work, not behind it."""
    check_free(paths, force=force)
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        path.open("a").close()
        if is_new:
            path.unlink()
