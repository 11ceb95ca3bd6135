"""Make a web site of the course for students, with every lesson and its outputs.

The site needs no network, no server and no kernel. To see it, open its index.html.

    python -m course_lib book ~/site        all lessons
    python -m course_lib book ~/site 2 3    two of them

If the folder is not empty, add --force. If it holds an older site, that is removed
first. The command refuses notebooks that somebody has worked in, so use a fresh copy of
the course.
"""

import argparse
import importlib
import shutil
import tempfile
from pathlib import Path

from course_lib.commands.links import add_out_and_lessons, check_out
from course_lib.teaching.lessons import (
    Lesson,
    exercise_of,
    find_lessons,
    items_of,
    notebooks_folder,
)

NEEDED = ("sphinx", "myst_nb", "furo")
CONFIGURATION = Path(__file__).with_name("site")
# Sphinx leaves it in every site, so we can tell a site from other folders.
SITE_MARK = ".buildinfo"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_out_and_lessons(parser)


def run(options: argparse.Namespace) -> int:
    for name in NEEDED:  # before the work: the caller says what is missing
        importlib.import_module(name)
    lessons, out = find_lessons(options.lessons), options.out.resolve()
    check_out(options.out, out.glob("*"), force=options.force)
    for lesson in lessons:
        check_fresh(lesson)
    number = "1 lesson" if len(lessons) == 1 else f"{len(lessons)} lessons"
    print(f"Building a site of {number}.", flush=True)
    if status := build(out, lessons):
        return status
    print(f"Open {(out / 'index.html').as_uri()} in a browser.")
    return 0


def check_fresh(lesson: Lesson) -> None:
    """Refuse a notebook with somebody's answers, or one that was not run as a whole."""
    code = [cell for cell in lesson.cells if cell["cell_type"] == "code"]
    in_order = all(cell["execution_count"] == n for n, cell in enumerate(code, 1))
    items = items_of(lesson.name)
    asked = [(cell["source"], exercise_of(cell)) for cell in code]
    untouched = all(text.startswith(items[name].stub) for text, name in asked if name)
    live = any("<script>" in str(cell["outputs"]) for cell in code)
    if not in_order or not untouched or live:
        raise ValueError(
            f"{lesson.path} has been worked in, and a site would show it: build from a "
            "fresh copy of the course (`git worktree add ../fresh` makes one)"
        )


def build(out: Path, lessons: list[Lesson]) -> int:
    """Build the site, and return the exit status of Sphinx, which warns on stderr. A
    site in `out` is replaced only when the new one is whole."""
    from sphinx.cmd.build import build_main

    with tempfile.TemporaryDirectory(prefix="course-book-") as work:
        source, site, doctrees = (Path(work, x) for x in ("source", "site", "doctrees"))
        shutil.copytree(notebooks_folder() / "images", source / "notebooks" / "images")
        for lesson in lessons:
            shutil.copy(lesson.path, source / "notebooks")
        shutil.copy(notebooks_folder() / "QUESTIONS.md", source / "notebooks")
        shutil.copy(CONFIGURATION / "index.md", source)
        paths = map(str, ("-c", CONFIGURATION, "-d", doctrees, source, site))
        status = build_main(["--quiet", *paths])
        if status == 0:
            if (out / SITE_MARK).is_file():
                shutil.rmtree(out)
            shutil.copytree(site, out, dirs_exist_ok=True)
    return status
