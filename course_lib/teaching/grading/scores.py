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
import contextlib
import math
import os
import sys
from pathlib import Path

from course_lib.foundation import progress_bar
from course_lib.teaching.checker.processes import CAN_FORK
from course_lib.teaching.grading.handed_in import find_notebooks
from course_lib.teaching.grading.tables import Row, summary, write_csv
from course_lib.teaching.grading.workers import score_all


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
