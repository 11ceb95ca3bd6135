"""Is everything installed and working? One line for each point:

    ok     works
    note   works, but is worth knowing
    WRONG  does not work, and the line below says what to type

The check also runs the first cells of a lesson in a kernel, as JupyterLab would. It
changes nothing and uses no network. The exit status is 1 if anything is wrong, and 0
otherwise.
"""

# The standard library alone: what is missing must not keep this from saying so.
import argparse
import hashlib
import importlib.metadata
import os
import platform
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from course_lib.commands.paths import user_path

ROOT = Path(__file__).resolve().parents[2]
COURSE_PYTHON = ">=3.11,<3.15"  # the commands `audit` and `show` need less
OK, NOTE, WRONG = "ok", "note", "WRONG"
EXTRAS = {
    "test": "to run the course's tests",
    "cluster": "for the cluster of lesson 12, which is skipped without it",
    "teach": "for a web site of the course, and for nbgrader",
}
FIRST_LESSON, FIRST_CELLS = "01_next_token_shifting.ipynb", 3
GET_A_COPY = (
    "Get a copy of the repository. In its folder, type: "
    f'"{sys.executable}" -m pip install --editable ".[course]"'
)


@dataclass(frozen=True)
class Point:
    """One line of the report: a sign, what is said, and what to do about it."""

    sign: str
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.sign:<6} {self.text}" + f"\n       {self.remedy}" * bool(
            self.remedy
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-kernel", action="store_true", help="skip the cells, and start no kernel"
    )


def run(options: argparse.Namespace) -> int:
    parts = [check_packages, check_texts, check_notebooks, check_kernel]
    if not (ROOT / "pyproject.toml").is_file():
        text = f"{ROOT} has no lessons. Without them, only `audit` and `show` work"
        point = Point(WRONG, text, GET_A_COPY)
        parts = [lambda: [point]]
    elif options.no_kernel:
        parts.remove(check_kernel)
    wrong = 0
    for part in parts:
        for point in part():
            print(point, flush=True)
            wrong += point.sign == WRONG
    if wrong:
        things = "One thing is" if wrong == 1 else f"{wrong} things are"
        print(f"\n{things} wrong: see the lines that begin with {WRONG}.")
        return 1
    print(f"\nEverything works. Begin with notebooks/{FIRST_LESSON}.")
    return 0


def check_packages() -> Iterator[Point]:
    """Python and each package: is it there, in a version that was tried?"""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    python, wanted = platform.python_version(), COURSE_PYTHON
    try:
        from packaging.requirements import Requirement
    except ModuleNotFoundError:  # pip and Jupyter bring it
        yield Point(WRONG, "the course is not installed in this Python", pip_install())
        return

    def misfit(requirement: str) -> str:
        one = Requirement(requirement)
        try:
            version = importlib.metadata.version(one.name)
        except importlib.metadata.PackageNotFoundError:
            return f"{one.name} is not installed"
        fits = one.specifier.contains(version, prereleases=True)
        return "" if fits else f"{one.name} {version} is not {one.specifier}"

    if Requirement(f"python{wanted}").specifier.contains(python, prereleases=True):
        yield Point(OK, f"Python {python}, {sys.executable}")
    else:
        text = f"Python {python}, {sys.executable}: the course needs {wanted}"
        yield Point(WRONG, text, f"Install a Python {wanted}, then try again.")
    extras = project["optional-dependencies"]
    if missing := [*filter(None, map(misfit, extras["course"]))]:
        yield Point(WRONG, "; ".join(missing), pip_install())
    else:
        yield Point(OK, f"{len(extras['course'])} packages are installed")
    for extra, purpose in EXTRAS.items():
        names = [name for name in extras[extra] if not name.endswith("]")]
        missing = [*filter(None, map(misfit, names))]
        text = f"optional, {purpose}: "
        if missing:
            yield Point(NOTE, text + "; ".join(missing), pip_install(f"[{extra}]"))
        else:
            yield Point(OK, f"{text}installed")


def pip_install(extra: str = "[course]") -> str:
    return f'Type: "{sys.executable}" -m pip install --editable "{ROOT}{extra}"'


def check_texts() -> Iterator[Point]:
    """The bundled texts, by their checksums: every number in the lessons is theirs."""
    restore = f'To get it back: git -C "{ROOT}" restore data'
    lines = (ROOT / "data" / "SHA256SUMS").read_text("utf-8").splitlines()
    wrong = 0
    for expected, name in (line.split(maxsplit=1) for line in lines):
        path = ROOT / "data" / name.lstrip("*")
        there = path.is_file()
        if not there or hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            what = "is not as it came: numbers will differ" if there else "is missing"
            yield Point(WRONG, f"{path} {what}", restore)
            wrong += 1
    if not wrong:
        yield Point(OK, f"{len(lines)} texts are as they came")
    if own := os.environ.get("COURSE_CORPUS"):
        if user_path(own).is_file():
            yield Point(NOTE, f"COURSE_CORPUS: the lessons read {own}, not the story")
        else:
            text = f"COURSE_CORPUS names {own}, and there is no such file"
            yield Point(WRONG, text, "Correct the variable, or remove it.")


def check_notebooks() -> Iterator[Point]:
    """Lessons save figures and small files beside themselves."""
    folder = ROOT / "notebooks"
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"0" * 4096)  # os.access knows no full disks
        yield Point(OK, f"{len([*folder.glob('??_*.ipynb')])} lessons in {folder}")
    except OSError as error:
        text = f"nothing can be written to {folder} ({error.strerror})"
        yield Point(NOTE, text, "Copy the course to a folder of your own.")


def check_kernel() -> Iterator[Point]:
    """Start a kernel as JupyterLab does, and run the first cells of a lesson in it."""
    try:
        import nbformat
        from nbclient import NotebookClient
    except ModuleNotFoundError:
        return  # `check_packages` says so
    began, folder = time.monotonic(), ROOT / "notebooks"
    notebook = nbformat.read(folder / FIRST_LESSON, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    prefix = nbformat.v4.new_code_cell("import sys; print(sys.prefix)")
    notebook.cells = [*cells[:FIRST_CELLS], prefix]
    how = {"timeout": 300, "startup_timeout": 300, "kernel_name": "python3"}
    try:
        NotebookClient(
            notebook, resources={"metadata": {"path": str(folder)}}, **how
        ).execute(env={**os.environ, "HF_HUB_OFFLINE": "1"}, stderr=subprocess.DEVNULL)
    except Exception as error:  # no kernel, a dead one, or a cell that raised
        # The last line of a cell's error says which one it was.
        reason = (str(error).strip() or type(error).__name__).splitlines()[-1]
        text = f"the first cells of {FIRST_LESSON} do not run: {reason}"
        yield Point(WRONG, text, pip_install())
        return
    there = "".join(output.get("text", "") for output in prefix.outputs).strip()
    if not os.path.samefile(there, sys.prefix):
        yield Point(NOTE, f"notebooks run in another Python than this one: {there}")
    seconds = time.monotonic() - began
    yield Point(OK, f"a kernel runs the first cells of a lesson, in {seconds:.0f} s")
