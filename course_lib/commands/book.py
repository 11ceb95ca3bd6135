"""Make a web site of the course for students, with every lesson and its outputs.

The site needs no network, no server and no kernel. To see it, open its index.html.

    python -m course_lib book ~/site        all lessons
    python -m course_lib book ~/site 2 3    two of them
    python -m course_lib book ~/site --address https://example.org/course

The site brings the whole course along, as a zip file of what git knows here, or of
everything in this copy where there is no git. Each page leads to it. With --address it
also says where the newest version is. Without, it takes the address that pyproject.toml
has, if the course was published.

If the folder is not empty, add --force. If it holds an older site, that is removed
first. The command refuses notebooks that somebody has worked in, so use a fresh copy of
the course.
"""

import argparse
import importlib
import re
import shutil
import subprocess
import tempfile
import tomllib
import zipfile
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
COURSE = "feeding-language-models"  # the zip file of it, and the folder inside
# Of a copy without git, all but what Python, Jupyter and tests have left there.
LEFTOVERS = re.compile(r"(^|/)(\.(?!ci/|github/|binder/|devcontainer/)|__pycache__/)")
NO_ADDRESS = (
    "This copy came with the site. Whoever gave you the site can tell you whether "
    "there's a newer one."
)
# Sphinx leaves it in every site, so we can tell a site from other folders.
SITE_MARK = ".buildinfo"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_out_and_lessons(parser)
    parser.add_argument(
        "--address",
        metavar="URL",
        help="where the newest version of the course is (default: what pyproject.toml "
        "says)",
    )


def run(options: argparse.Namespace) -> int:
    for name in NEEDED:  # before the work: the caller says what is missing
        importlib.import_module(name)
    lessons, out = find_lessons(options.lessons), options.out.resolve()
    check_out(options.out, out.glob("*"), force=options.force)
    address = check_address(options.address or published_address())
    for lesson in find_lessons():  # the zip file holds them all
        check_fresh(lesson)
    number = "1 lesson" if len(lessons) == 1 else f"{len(lessons)} lessons"
    print(f"Building a site of {number}.", flush=True)
    if status := build(out, lessons, address):
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


def check_address(address: str) -> str:
    """Return the address of a web page, or "" for none."""
    if address and not re.fullmatch(r"https?://[^\s<>]+", address):
        raise ValueError(f"--address must be one like https://..., got {address!r}")
    return address


def published_address() -> str:
    """Where the course is published, as pyproject.toml says; "" if it isn't."""
    text = (notebooks_folder().parent / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"].get("urls", {}).get("Repository", "")


def files_of_course() -> list[str]:
    """The files of this copy that belong to the course, as paths in its folder."""
    course = notebooks_folder().parent
    try:
        command = ["git", "ls-files", "-z"]
        listed = subprocess.run(command, cwd=course, capture_output=True, check=True)
        names = listed.stdout.decode().split("\0")
        # A copy may lie in a repository of somebody else's, which doesn't know it.
        if "pyproject.toml" in names:
            return [name for name in names if (course / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        pass
    inside = (path for path in sorted(course.rglob("*")) if path.is_file())
    names = [path.relative_to(course).as_posix() for path in inside]
    return [name for name in names if not LEFTOVERS.search(name)]


def zip_course(path: Path) -> None:
    """Write the whole course into a zip file, in a folder of its own."""
    course = notebooks_folder().parent
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in files_of_course():
            packed.write(course / name, f"{COURSE}/{name}")


def first_page(address: str, megabytes: float) -> str:
    """The index, with what README's opening command does, one step on each line."""
    readme = (notebooks_folder().parent / "README.md").read_text(encoding="utf-8")
    opening = re.search(r"<!-- open command -->\s*```bash\n(.+?)\n```", readme)
    if opening is None:
        raise ValueError("README.md must have a command below <!-- open command -->")
    steps = opening[1].replace(" && ", "\n   ")  # as wide as the list is indented
    newest = f"The newest version is at <{address}>." if address else NO_ADDRESS
    text = (CONFIGURATION / "index.md").read_text(encoding="utf-8")
    text = text.replace("MEGABYTES", f"{megabytes:.0f}")
    return text.replace("NEWEST", newest).replace("OPENING", steps)


def build(out: Path, lessons: list[Lesson], address: str = "") -> int:
    """Build the site, and return the exit status of Sphinx, which warns on stderr. A
    site in `out` is replaced only when the new one is whole."""
    from sphinx.cmd.build import build_main

    with tempfile.TemporaryDirectory(prefix="course-book-") as work:
        source, site, doctrees = (Path(work, x) for x in ("source", "site", "doctrees"))
        shutil.copytree(notebooks_folder() / "images", source / "notebooks" / "images")
        for lesson in lessons:
            shutil.copy(lesson.path, source / "notebooks")
        shutil.copy(notebooks_folder() / "QUESTIONS.md", source / "notebooks")
        zip_course(course := source / f"{COURSE}.zip")
        index = first_page(address, course.stat().st_size / 1e6)
        (source / "index.md").write_text(index, encoding="utf-8")
        paths = map(str, ("-c", CONFIGURATION, "-d", doctrees, source, site))
        status = build_main(["--quiet", *paths])
        if status == 0:
            if (out / SITE_MARK).is_file():
                shutil.rmtree(out)
            shutil.copytree(site, out, dirs_exist_ok=True)
    return status
