"""Make a course for nbgrader of the exercises, from the notebooks as they are.

OUT/source/ gets an assignment for each lesson: its questions and exercises with their
solutions, locked checks with points, and hidden tests; OUT/nbgrader_config.py what
nbgrader has to know. The rest is nbgrader's, in the folder OUT, with the environment
activated (it calls its own programs by name):

    pip install --editable '.[teach]'                    once, in the repository
    nbgrader generate_assignment 02_sliding_windows      OUT/release: without solutions
    nbgrader release_assignment 02_sliding_windows       hand it out, and
    nbgrader collect 02_sliding_windows                  take it in; or do both by hand:
        OUT/submitted/STUDENT/02_sliding_windows/02_sliding_windows.ipynb
    nbgrader autograde 02_sliding_windows                points, for each exercise
    nbgrader generate_feedback 02_sliding_windows        what each check said, as HTML

Students need `course_lib` on their machines. Another --seed draws other numbers, and
other hidden calls: give each class its own. An endless answer gets no points, and a
check that was deleted is marked for grading by hand. A submission that ends its own
kernel cannot be graded: nbgrader says so, and goes on with the next one."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib.foundation import check_integer
from course_lib.teaching.grading.assignments import build_assignment
from course_lib.teaching.lessons import find_lessons

# A cell of an assignment takes seconds, its checks included, whatever the answer is;
# one of a whole lesson may train models.
SECONDS, SECONDS_IN_A_LESSON = 60, 300

CONFIG = '''"""Settings for nbgrader, made by `python -m course_lib nbgrader`."""

import os

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "feeding-language-models"

# Solutions leave nothing behind: each answer cell holds its own stub already.
c.ClearSolutions.code_stub = {{"python": ""}}

# A check stops an endless answer itself, within seconds. This is for what hangs
# outside of a check: the cell is interrupted, and grading goes on with the next one,
# even where the interrupt is caught; what comes after it gets no points then.
c.Execute.timeout = {seconds}
c.Execute.iopub_timeout = 30
c.Execute.raise_on_iopub_timeout = False

# What is printed to stderr costs the points: no bars, no warnings, no network.
os.environ.setdefault("COURSE_PROGRESS", "0")
os.environ.setdefault("COURSE_WIDGETS", "0")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
'''


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", metavar="OUT", type=Path, help="the folder to make")
    parser.add_argument(
        "lessons",
        metavar="LESSON",
        nargs="*",
        help="numbers or names of lessons; all of them by default",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=int,
        default=0,
        help="draws numbers and hidden calls (0, 1, 2, ...; default: 0)",
    )
    parser.add_argument(
        "--whole",
        action="store_true",
        help="whole lessons; grading then runs all their cells, 10 to 20 s each",
    )
    parser.add_argument(
        "--force", action="store_true", help="overwrite assignments that were changed"
    )


def run(options: argparse.Namespace) -> int:
    """Write the course, and say what was written.

    Raises:
        FileExistsError: it would overwrite what somebody has changed.
    """
    lessons, out = find_lessons(options.lessons), options.out.expanduser()
    seed = check_integer("seed", options.seed, minimum=0)
    seconds = SECONDS_IN_A_LESSON if options.whole else SECONDS
    files = {Path("nbgrader_config.py"): CONFIG.format(seconds=seconds)}
    lines = []
    for lesson in lessons:
        notebook = build_assignment(lesson, seed=seed, whole=options.whole)
        name = lesson.path.stem
        files[Path("source", name, lesson.path.name)] = nbformat.writes(notebook) + "\n"
        lines.append(f"  {name}: {points_of(notebook)} points")
    if not options.force:
        _refuse_to_overwrite(out, files)
    for path, text in files.items():
        target = out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
    count = len(lessons)
    assignments = "1 assignment" if count == 1 else f"{count} assignments"
    print(f"{out}: {assignments}, seed {seed}", *lines, sep="\n")
    first = lessons[0].path.stem
    print(f"Next: cd {out} && nbgrader generate_assignment {first}")
    if importlib.util.find_spec("nbgrader") is None:
        print("nbgrader is not installed: pip install --editable '.[teach]'")
    return 0


def points_of(notebook: NotebookNode) -> int:
    """All points of an assignment."""
    marks = (cell.metadata.get("nbgrader", {}) for cell in notebook.cells)
    return sum(mark.get("points", 0) for mark in marks)


def _refuse_to_overwrite(out: Path, files: dict[Path, str]) -> None:
    changed = [
        str(path)
        for path, text in files.items()
        if (out / path).exists() and (out / path).read_text(encoding="utf-8") != text
    ]
    if changed:
        raise FileExistsError(
            f"{out} holds other versions of {', '.join(changed)}; --force overwrites "
            "them"
        )
