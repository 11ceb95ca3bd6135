"""Where what is made of lessons goes, and where its links lead then."""

import argparse
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from course_lib.commands.paths import user_path
from course_lib.teaching.lessons import Lesson, find_lessons, notebooks_folder

# [words](target), ![words](target); the words may hold [brackets]
LINK = re.compile(r"(!?)\[((?:[^][]|\[[^][]*\])*)\]\(([^()\s]+)\)")


def add_out_and_lessons(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "out",
        type=user_path,
        metavar="OUT",
        help="the folder to write to (made if it is new)",
    )
    parser.add_argument(
        "lessons",
        nargs="*",
        default=[],
        metavar="LESSON",
        help="for example 2, 02 or sliding_windows (default: all lessons)",
    )
    add_force(parser)


def add_force(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--force", action="store_true", help="overwrite what is there already"
    )


def check_out(out: Path, paths: Iterable[Path], *, force: bool) -> None:
    """Refuse a file, a lesson's name, the course's own folder, and a folder where one
    of `paths` is, without `force`."""
    try:
        is_lesson = not out.exists() and find_lessons([str(out)])
    except ValueError:
        is_lesson = False
    if is_lesson:
        raise ValueError(f"{out} is a lesson: give a folder first, `~/monday {out}`")
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out} is a file: give a folder")
    course = notebooks_folder().parent
    if course in (out.resolve(), *out.resolve().parents):
        lies = f"{out} lies in the course's own folder, {course}"
        raise ValueError(f"{lies}: give one outside of it, such as ~/monday")
    check_free(paths, force=force)


def check_free(paths: Iterable[Path], *, force: bool) -> None:
    """Refuse to write over files, unless that is wanted."""
    there = [path for path in paths if path.exists()]
    if there and not force:
        more = f" (and {len(there) - 1} more)" if len(there) > 1 else ""
        which = f"{there[0]}{more}"
        raise FileExistsError(f"{which} is there already; `--force` writes over it")


def files_of_lessons(
    options: argparse.Namespace,
) -> Iterator[tuple[Lesson, Path, Callable[[str], str]]]:
    """Yield each lesson with the path of what is made of it, which may be written, and
    a function that repairs its links."""
    lessons = find_lessons(options.lessons)
    paths = [options.out / lesson.path.name for lesson in lessons]
    check_out(options.out, paths, force=options.force)
    options.out.mkdir(parents=True, exist_ok=True)
    repair = relink(lessons[0].path.parent, paths)
    for lesson, path in zip(lessons, paths, strict=True):
        yield lesson, path, repair


def relink(source: Path, paths: list[Path]) -> Callable[[str], str]:
    """Make a function that repairs links of the lessons in `source`, for notebooks made
    of them: `paths`, all in one folder.

    Nothing leads out of that folder, which may be moved: a link to a lesson that is not
    there becomes its words, and images are copied into it.
    """
    out = paths[0].parent

    def repair(link: re.Match) -> str:
        is_image, words, target = link.groups()
        name, *anchor = target.split("#")
        file = source / unquote(name)
        if not file.is_file():  # it leads elsewhere, or only looks like a link
            return link[0]
        if is_image:
            (out / "images").mkdir(exist_ok=True)
            shutil.copyfile(file, out / "images" / file.name)
            return f"![{words}](images/{quote(file.name)})"
        there = out / file.name
        if file.suffix == ".ipynb" and (there in paths or there.exists()):
            return f"[{words}]({'#'.join([quote(there.name), *anchor])})"
        return words

    return lambda markdown: LINK.sub(repair, markdown)
