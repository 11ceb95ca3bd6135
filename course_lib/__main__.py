"""The course on the command line: what it is, where things are, and what teachers and
students do with it beside reading."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

import course_lib

# Each is a module with `add_arguments(parser)` and `run(options) -> exit status`. It is
# imported when it is asked for: what one command needs, the others do without.
COMMANDS = {
    "check": ("classroom.check", "is everything installed and working?"),
    "blank": ("classroom.blank", "notebooks for live coding: prose kept, code emptied"),
    "slides": ("classroom.slides", "slides of each lesson"),
    "book": ("classroom.book", "the course as a web site that needs no network"),
    "nbgrader": ("grading.nbgrader", "the exercises as a course for nbgrader"),
    "scores": ("grading.scores", "the scores of a class, from its notebooks"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run a command, and return its exit status: 0, or 1 with the reason on stderr."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(
        prog="python -m course_lib",
        description=about(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    wanted = next((word for word in arguments if not word.startswith("-")), None)
    for name, (module_name, words) in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=words,
            description=f"{words[0].upper()}{words[1:]}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == wanted:
            module = importlib.import_module(f"course_lib.teaching.{module_name}")
            if module.__doc__:
                command.description = module.__doc__
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        return options.run(options)
    except (OSError, ValueError) as error:
        print(f"{parser.prog} {options.command}: {error}", file=sys.stderr)
        return 1


def about() -> str:
    """Say what the course is, and where it lies."""
    root = Path(course_lib.__file__).resolve().parent.parent
    return f"{course_lib.__doc__}\nAll of it lies in {root}: begin with its README.md."


if __name__ == "__main__":
    sys.exit(main())
