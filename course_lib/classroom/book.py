"""The course as a web site for students: every lesson with its outputs, as it is
committed. It needs no network, no server and no kernel. Open index.html.

    python -m course_lib book ~/site        all lessons
    python -m course_lib book ~/site 2 3    two of them

A folder that is not empty needs --force, and an older site in it is removed first.
"""

import argparse
import importlib
import shutil
import tempfile
from pathlib import Path

from course_lib.classroom.book_files.pages import write_pages
from course_lib.classroom.links import add_out_and_lessons, check_out
from course_lib.teaching.lessons import Lesson, find_lessons

NEEDED = ("sphinx", "myst_nb", "furo")
FILES = Path(__file__).parent / "book_files"
# Sphinx leaves it in every site, so we can tell a site from other folders.
SITE_MARK = ".buildinfo"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_out_and_lessons(parser)


def run(options: argparse.Namespace) -> int:
    for name in NEEDED:  # before the work: the caller says what is missing
        importlib.import_module(name)
    lessons = find_lessons(options.lessons)
    out = options.out.resolve()
    check_out(options.out, out.glob("*"), force=options.force)
    number = "1 lesson" if len(lessons) == 1 else f"{len(lessons)} lessons"
    print(f"Building a site of {number}. A few minutes, please.", flush=True)
    if status := build(out, lessons):
        return status
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{size / 1e6:.0f} MB. Open {(out / 'index.html').as_uri()} in a browser.")
    return 0


def build(out: Path, lessons: list[Lesson]) -> int:
    """Build the site, and return the exit status of Sphinx, which warns on stderr. A
    site in `out` is replaced only when the new one is whole."""
    from sphinx.cmd.build import build_main

    with tempfile.TemporaryDirectory(prefix="course-book-") as work:
        source, site, doctrees = (Path(work, x) for x in ("source", "site", "doctrees"))
        write_pages(source, lessons)
        paths = map(str, ("-c", FILES, "-d", doctrees, source, site))
        status = build_main(["--quiet", *paths])
        if status == 0:
            if (out / SITE_MARK).is_file():
                shutil.rmtree(out)
            shutil.copytree(site, out, dirs_exist_ok=True)
    return status
