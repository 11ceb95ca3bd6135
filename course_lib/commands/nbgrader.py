"""Make a course for nbgrader from the exercises in the notebooks.

OUT/source/ gets an assignment for each lesson, with its questions and exercises, their
solutions, locked checks with points, and hidden tests. OUT/nbgrader_config.py holds
what nbgrader has to know. The rest is done by nbgrader. Type its commands in the folder
OUT, and activate the environment first, because nbgrader calls its own programs by
name:

    pip install --editable ".[teach]"                once, in the repository
    nbgrader generate_assignment 02_sliding_windows  make OUT/release, without solutions
    nbgrader release_assignment 02_sliding_windows   hand it out
    nbgrader collect 02_sliding_windows              take it in
    nbgrader autograde 02_sliding_windows            give points for each exercise
    nbgrader generate_feedback 02_sliding_windows    show, as HTML, what each check said

You can also hand it out and take it in yourself. Put what a student hands in here:

    OUT/submitted/STUDENT/02_sliding_windows/02_sliding_windows.ipynb

Students need `course_lib` on their machines. Each --seed draws different hidden calls,
so give each class its own. An answer that never ends gets no points. If a student has
deleted a check, it is marked for grading by hand. A submission that ends its own kernel
cannot be graded. Then nbgrader says so, and carries on with the next one."""

import argparse
import importlib.util
import shlex
import shutil
import sys
from pathlib import Path

import nbformat

from course_lib.commands.assignments import build_assignment, points_of
from course_lib.commands.links import add_out_and_lessons, check_out
from course_lib.foundation import check_integer
from course_lib.teaching.lessons import find_lessons

CONFIG = Path(__file__).with_name("nbgrader_config.txt")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_out_and_lessons(parser)
    parser.add_argument(
        "--seed",
        metavar="N",
        type=int,
        default=0,
        help="the seed that draws hidden calls: 0, 1, 2, ... (default: 0)",
    )


def run(options: argparse.Namespace) -> int:
    """Write the course, unless that overwrites changes, and say what was written."""
    lessons, out = find_lessons(options.lessons), options.out
    seed = check_integer("seed", options.seed, minimum=0)
    config = CONFIG.read_text(encoding="utf-8")
    files = {out / "nbgrader_config.py": config}
    lines = []
    for lesson in lessons:
        notebook = build_assignment(lesson, seed=seed)
        name = lesson.path.stem
        path = out / "source" / name / lesson.path.name
        files[path] = nbformat.writes(notebook) + "\n"
        lines.append(f"  {name}: {points_of(notebook.cells)} points")
    new = (p for p in files if not (p.is_file() and p.read_text("utf-8") == files[p]))
    check_out(out, new, force=options.force)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    count = len(lessons)
    assignments = "1 assignment" if count == 1 else f"{count} assignments"
    print(f"{out}: {assignments}, seed {seed}", *lines, sep="\n")
    first = lessons[0].path.stem
    steps = [["cd", str(out)], ["nbgrader", "generate_assignment", first]]
    activate = Path(sys.executable).parent / "activate"
    if shutil.which("nbgrader") is None and activate.is_file():
        steps.insert(0, [".", str(activate)])
    print("Next:", " && ".join(map(shlex.join, steps)))
    if importlib.util.find_spec("nbgrader") is None:
        print('nbgrader is not installed: pip install --editable ".[teach]"')
    return 0
