"""The course on the command line: what it is, where things are, and what teachers and
students do with it besides reading."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from pathlib import Path

import course_lib
from course_lib.commands.paths import in_a_shell

# Each is a module with `add_arguments(parser)` and `run(options) -> exit status`. It is
# imported only when it is asked for, because the others do not need what it needs.
COMMANDS = {
    "check": ("commands.check", "see whether everything is installed and works"),
    "blank": ("commands.blank", "make notebooks for live coding, with empty cells"),
    "book": ("commands.book", "make a web site of the lessons that needs no network"),
    "nbgrader": ("commands.nbgrader", "make a course for nbgrader from the exercises"),
    "scores": ("commands.scores", "score the notebooks that a class has handed in"),
    "tokenize": ("commands.tokenize", "turn files of text into shards of ids"),
    "audit": ("commands.audit", "find out what your loader does, and what is wrong"),
    "show": ("commands.show", "read a batch of your loader as text"),
}
EXTRAS = {"book": "teach", "nbgrader": "teach"}  # what they need; others the course
ANYWHERE = ("audit", "show")  # run on an older Python too, and need NumPy alone
ROOT = Path(course_lib.__file__).resolve().parent.parent
PROGRAM = "python -m course_lib"
INTERRUPTED = 130  # as a shell says it


def main(arguments: list[str] | None = None) -> int:
    """Run a command, and return its exit status: 0, or the reason is on stderr."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a letter that it lacks ends nothing
            stream.reconfigure(errors="replace")
    raw = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = argparse.ArgumentParser(prog=PROGRAM, description=about(), **raw)
    parser.add_argument(
        "--version", action="version", version=f"course_lib {course_lib.__version__}"
    )
    parser.add_argument(
        "--traceback", action="store_true", help="show where in the code an error arose"
    )
    words = [f"    {name:<10}  {words}" for name, (_, words) in COMMANDS.items()]
    more = f"`{PROGRAM} COMMAND --help` tells you more about a command."
    parser.epilog = "\n".join(["commands:", *words, "", more])
    parser.add_argument(
        "command", nargs="?", metavar="COMMAND", choices=COMMANDS, help="see below"
    )
    # The name of a command is the first word; what follows is for the command.
    begin = next((i for i, word in enumerate(arguments, 1) if word[:1] != "-"), None)
    options = parser.parse_args(arguments[:begin])
    name = options.command
    if name is None:
        parser.print_help()
        return 0
    if sys.version_info < (3, 11) and name not in ANYWHERE:
        python = ".".join(map(str, sys.version_info[:3]))
        return fail(
            name, f"the course needs Python 3.11 or newer, and this is {python}"
        )
    try:
        module = importlib.import_module(f"course_lib.{COMMANDS[name][0]}")
        command = argparse.ArgumentParser(
            prog=f"{PROGRAM} {name}", description=module.__doc__, **raw
        )
        module.add_arguments(command)
        # `audit` and `show` tell themselves of what somebody else's file raises.
        command.set_defaults(traceback=options.traceback)
        # Options may come anywhere, as in `blank ~/monday --force 2`.
        status = module.run(command.parse_intermixed_args(arguments[begin:]))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader of the output has read enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        fail(name, "interrupted")
        return INTERRUPTED
    except ModuleNotFoundError as error:
        return fail(name, what_is_missing(name, error))
    except Exception as error:
        if options.traceback:
            raise
        return fail(name, in_words(error))


def fail(command: str, reason: str) -> int:
    """Say in one line why a command did not do what it was asked."""
    print(f"{PROGRAM} {command}: {reason}", file=sys.stderr)
    return 1


def in_words(error: Exception) -> str:
    """Say what is wrong in a line; how to see more, where nobody wrote that line."""
    if getattr(error, "filename", None) and getattr(error, "strerror", None):
        return f"{error.filename}: {error.strerror}"  # without the system's number
    if isinstance(error, ValueError | OSError | ImportError | BrokenExecutor):
        return str(error)
    more = f"`{PROGRAM} --traceback ...` shows where"
    return f"{type(error).__name__}: {error} ({more})"


def what_is_missing(command: str, error: ModuleNotFoundError) -> str:
    """Say which package a command needs, and what to type."""
    if (error.name or "course_lib").startswith("course_lib"):
        raise error  # a fault of the course, not of the machine
    words = f"it needs the package {error.name!r}, which is not installed"
    extra = EXTRAS.get(command, "course")
    if not (ROOT / "pyproject.toml").is_file():  # installed without the repository
        here = f'{sys.executable} -m pip install --editable ".[{extra}]"'
        return f"{words}. Type, in a copy of the course's repository: {here}"
    install = in_a_shell("-m", "pip", "install", "--editable", f"{ROOT}[{extra}]")
    return f"{words}. Type: {install}"


def about() -> str:
    """Say what the course is, where its parts lie, and which lessons it has."""
    summary = (course_lib.__doc__ or "").split("\n\nfoundation/")[0]
    lines = [summary, "", "where things are:"]
    for name, place in (
        ("begin with", ROOT / "README.md"),
        ("lessons", ROOT / "notebooks"),
        ("texts", ROOT / "data"),
        ("package", ROOT / "course_lib"),
        ("for teachers", ROOT / "notebooks" / "TEACHING.md"),
    ):
        if place.exists():
            lines.append(f"  {name:<12}  {place}")
    if own_text := os.environ.get("COURSE_CORPUS"):
        lines.append(f"  your text     {own_text} (from COURSE_CORPUS)")
    lessons = list(titles())
    if not lessons:
        lines += ["", "The notebooks are missing: they come with the repository."]
        return "\n".join(lines)
    lines += ["", "lessons:"]
    lines += [f"  {number:>2}  {title:<26} {name}" for number, title, name in lessons]
    first = ROOT / "notebooks" / lessons[0][2]
    folder = f"--ServerApp.root_dir={ROOT}"  # so that links out of notebooks/ work
    opening = in_a_shell("-m", "jupyter", "lab", folder, first)
    lines += ["", "open the first lesson:", f"  {opening}"]
    return "\n".join(lines)


def titles() -> Iterator[tuple[int, str, str]]:
    """Yield number, title and file of each lesson, as its first line says them.

    `teaching.lessons` knows more, but takes seconds to import.
    """
    for path in sorted((ROOT / "notebooks").glob("??_*.ipynb")):
        try:
            source = json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"]
            heading = "".join(source).splitlines()[0]
            title = heading.lstrip("# ").split(". ", 1)[1]
        except (OSError, ValueError, LookupError, TypeError):
            title = "(cannot be read: see `check`)"
        yield int(path.name[:2]), title, path.name


if __name__ == "__main__":
    sys.exit(main())
