"""How far a reader is in a lesson, and how to go on after a restart."""

import contextlib
import os
import symtable
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from IPython import get_ipython

from course_lib.teaching.checker.messages import (
    NOT_ATTEMPTED,
    PASSED,
    SIGNS,
    colored_sign,
)
from course_lib.teaching.lessons import find_lessons
from course_lib.teaching.predict import asked, script

RUN_ABOVE = (
    "A cell further up defines {}. To go on after a restart, click into the cell where "
    "you were, and choose Run, Run All Above Selected Cell."
)
UNCOUNTED = "counted by your browser, where it runs scripts"


@dataclass(frozen=True)
class Standing:
    """What was judged and solved in this kernel; a browser adds what was guessed."""

    verdicts: dict[str, str]  # name to outcome
    exercises: dict[str, str]
    prompts: list[str]  # ids of those that were shown

    def _lines(self, sign: Callable[[str], str], name: str) -> list[str]:
        lines = []
        parts = {"judged right": self.verdicts, "solved": self.exercises}
        for what, those in parts.items():
            passed = list(those.values()).count(PASSED)
            named = [f"{sign(o)} {name.format(one)}" for one, o in those.items()]
            lines.append(f"{passed} of {len(those)} {what}: {', '.join(named)}")
        return lines

    def __repr__(self) -> str:
        return "\n".join(self._lines(SIGNS.__getitem__, "{}"))

    def _repr_html_(self) -> str:
        guesses = " ".join(self.prompts)
        tally = f'<span class="tally" data-guesses="{guesses}">{UNCOUNTED}</span>'
        lines = [f"Guesses: {tally}", *self._lines(colored_sign, "<code>{}</code>")]
        return "\n".join(f"<p>{line}</p>" for line in lines) + script()


def show_progress(exercises: ModuleType) -> Standing:
    """Return what was guessed, judged and solved since the kernel started.

    The first guess at a prompt counts, and the latest answer to an exercise, unless its
    solution was shown before it was solved.

    Args:
        exercises: those of a lesson, a module of `course_lib.exercises`.
    """
    wanted = "those of a lesson, imported from course_lib.exercises"
    if not isinstance(exercises, ModuleType):
        raise TypeError(f"exercises must be {wanted}, got {exercises!r:.60}")
    items = {
        name: item
        for name, item in vars(exercises).items()
        if hasattr(item, "last_outcome") and not isinstance(item, type)
    }
    if not items:
        raise ValueError(f"exercises must be {wanted}, got {exercises!r:.60}")
    verdicts, solved = {}, {}
    for name, item in items.items():
        saw = getattr(item, "saw_solution", False)
        kind = verdicts if hasattr(item, "verdicts") else solved
        kind[name] = NOT_ATTEMPTED if saw else item.last_outcome
    return Standing(verdicts, solved, list(asked))


def explain_missing_names() -> None:
    """From now on, say how to go on where a name is missing that a lesson defines."""
    if (shell := get_ipython()) is not None:
        shell.set_custom_exc((NameError,), _explain)


def _explain(
    shell: object, kind: type, error: NameError, trace: object, tb_offset: object = None
) -> None:
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    if error.name in names_of_lesson():
        print(RUN_ABOVE.format(error.name), file=sys.stderr)


def names_of_lesson() -> set[str]:
    """The names that cells of this lesson define: of all lessons, where nobody says
    which one this is."""
    names: set[str] = set()
    try:
        lessons = find_lessons()
    except FileNotFoundError:  # the package is installed without them
        return names
    mine = Path(os.environ.get("JPY_SESSION_NAME", "")).name  # as Jupyter tells it
    for lesson in [one for one in lessons if one.path.name == mine] or lessons:
        with contextlib.suppress(Exception):  # a notebook that its reader has broken
            for cell in lesson.cells:
                if cell["cell_type"] == "code":
                    names |= _names_in(cell["source"])
    return names


def _names_in(source: str) -> set[str]:
    with contextlib.suppress(SyntaxError, ValueError):  # a reader's cell
        symbols = symtable.symtable(source, "cell", "exec").get_symbols()
        bound = [one for one in symbols if one.is_assigned() or one.is_imported()]
        return {symbol.get_name() for symbol in bound}
    return set()
