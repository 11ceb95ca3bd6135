"""Where was I? How far a reader is in each lesson, counted in the notebooks."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from IPython.display import Markdown, display

import course_lib
from course_lib.teaching import record
from course_lib.teaching.checker import PASSED
from course_lib.teaching.lessons import Lesson, exercise_of, find_lessons

if TYPE_CHECKING:
    from course_lib.teaching.plots.tables import Table

HEADER = ("", "lesson", "guessed right", "to guess", "verdicts right", "solved")


@dataclass(frozen=True)
class Standing:
    """The outcomes of a lesson's prompts, questions and exercises, in the order of the
    notebook, each `None` if the reader has not been there."""

    number: int
    title: str
    file: str
    guesses: list[str | None]
    verdicts: list[str | None]
    exercises: list[str | None]
    last_time: int  # among all that was done; -1 is never

    @property
    def link(self) -> str:
        return f"[lesson {self.number}, {self.title}]({self.file})"

    @property
    def left(self) -> str:
        """What is still to be done: `2 guesses, 1 verdict and 3 exercises`."""
        counts = {
            ("guess", "guesses"): self.guesses.count(None),
            ("verdict", "verdicts"): _wrong(self.verdicts),
            ("exercise", "exercises"): _wrong(self.exercises),
        }
        said = [f"{n} {words[n > 1]}" for words, n in counts.items() if n]
        return " and ".join(filter(None, [", ".join(said[:-1]), *said[-1:]]))

    @property
    def row(self) -> list[object]:
        asked = [outcome for outcome in self.guesses if outcome is not None]
        return [
            f"{self.number}. {self.title}",
            _right(asked) if asked else "",
            self.guesses.count(None),
            _right(self.verdicts),
            _right(self.exercises),
        ]


@dataclass(frozen=True)
class Progress:
    """How far a reader is: a table, and where to go on."""

    standings: list[Standing]

    @property
    def latest(self) -> Standing | None:
        """The lesson in which something was done last."""
        latest = max(self.standings, key=lambda one: one.last_time, default=None)
        return latest if latest and latest.last_time >= 0 else None

    @property
    def advice(self) -> str:
        """Markdown: where the reader was last, and what to do next."""
        latest = self.latest
        unfinished = [one for one in self.standings if one.left]
        if not unfinished:
            return "You have done everything."
        if latest is None:
            return f"Begin with {unfinished[0].link}."
        if latest.left:
            return f"You were last in {latest.link}. Left there: {latest.left}."
        after = [one for one in unfinished if one.number > latest.number]
        done = f"You have done all of {latest.link}."
        return f"{done} Go on with {(after or unfinished)[0].link}."

    def _as_markdown(self) -> str:
        path = record.progress_file()
        if path is None:
            where = "in a notebook that is opened in the folder of the lessons"
            return f"{self.advice} Progress is kept only {where}."
        return f"{self.advice} To begin again, delete `{path.name}`."

    @property
    def _table(self) -> Table:
        from course_lib.teaching.plots.tables import Table  # matplotlib comes with it

        here = self.latest
        rows = [["▶" if one is here else "", *one.row] for one in self.standings]
        return Table(rows, HEADER, align="<<>>>>")

    def __str__(self) -> str:
        words = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", self._as_markdown())
        return f"{self._table.text}\n\n{words.replace('`', '')}"

    __repr__ = __str__

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        table, words = self._table.html, self._as_markdown()
        return {"text/plain": str(self), "text/markdown": f"{table}\n\n{words}"}


def show_progress() -> Progress:
    """Return how far you are in all lessons, and where to go on.

    The first guess at a prompt counts, and the best answer to an exercise. All are kept
    in the file `progress.json` beside the lessons, until you delete it. Raises
    FileNotFoundError where the package is installed without the lessons.
    """
    done, standings = record.recorded_outcomes(), []
    for lesson in _lessons():
        with contextlib.suppress(Exception):  # a notebook that its reader has broken
            standings.append(_standing(lesson, done))
    return Progress(standings)


def welcome_back() -> None:
    """Display where you were, in one line, if you have done anything yet."""
    if record.recorded_outcomes():
        display(
            Markdown(
                f"{show_progress().advice} `show_progress()` tells about all lessons."
            )
        )


def _lessons() -> list[Lesson]:
    """The lessons of the course, without the reader's own copies beside them."""
    known = {module.name for module in iter_modules(course_lib.__path__)}
    return [one for one in find_lessons() if one.name in known]


def _standing(lesson: Lesson, done: dict[str, str]) -> Standing:
    names: dict[str, list[str]] = {"guesses": [], "verdicts": [], "exercises": []}
    for cell in lesson.cells:
        if name := exercise_of(cell):
            kind = "exercises" if f"def {name}(" in cell["source"] else "verdicts"
            names[kind].append(re.escape(f"{lesson.name}.{name}"))
        elif cell["cell_type"] == "code" and "predict(" in cell["source"]:
            names["guesses"] += _questions_in(cell["source"])
    found = {
        kind: [next((n for n in done if re.fullmatch(p, n)), None) for p in patterns]
        for kind, patterns in names.items()
    }
    times = [time for time, n in enumerate(done) if any(n in f for f in found.values())]
    return Standing(
        lesson.number,
        lesson.title,
        lesson.path.name,
        **{kind: [done.get(n) for n in of_kind] for kind, of_kind in found.items()},
        last_time=max(times, default=-1),
    )


def _questions_in(source: str) -> Iterator[str]:
    """The question of each prompt, as a pattern, because a cell may fill in numbers."""
    with contextlib.suppress(SyntaxError):  # a reader may have changed the cell
        tree = ast.parse(source)
        assigned = {
            ast.unparse(node.targets[0]): node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "predict":
                asked = node.args[0] if node.args else node
                yield _as_pattern(assigned.get(ast.unparse(asked), asked))


def _as_pattern(text: ast.expr) -> str:
    if isinstance(text, ast.Constant):
        return re.escape(str(text.value).strip())
    parts = text.values if isinstance(text, ast.JoinedStr) else []
    fixed = [
        _as_pattern(part) if isinstance(part, ast.Constant) else "" for part in parts
    ]
    return "".join(pattern or ".*" for pattern in fixed) if any(fixed) else ""


def _right(outcomes: list[str | None]) -> str:
    return f"{outcomes.count(PASSED)} of {len(outcomes)}"


def _wrong(outcomes: list[str | None]) -> int:
    return len(outcomes) - outcomes.count(PASSED)
