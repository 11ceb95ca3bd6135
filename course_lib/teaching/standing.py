"""Where was I? How far a reader is in each lesson, counted in the notebooks."""

from __future__ import annotations

import ast
import contextlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pkgutil import iter_modules
from types import ModuleType

from IPython import get_ipython
from IPython.display import Markdown, display

import course_lib
from course_lib.teaching import record
from course_lib.teaching.checker import NOT_ATTEMPTED, PASSED
from course_lib.teaching.checker.messages import SIGNS, colored_sign
from course_lib.teaching.lessons import Lesson, exercise_of, find_lessons
from course_lib.teaching.tables import Table

RUN_ABOVE = (
    "To go on after a restart, click into the cell where you were, and choose *Run*, "
    "*Run All Above Selected Cell*."
)
HEADER = ("", "lesson", "guessed right", "to guess", "verdicts right", "solved")


@dataclass(frozen=True)
class Standing:
    """The outcomes of a lesson's prompts, questions and exercises, in the order of the
    notebook, each `None` if the reader has not been there."""

    number: int
    title: str
    file: str
    guesses: list[str | None]
    verdicts: dict[str, str | None]  # by name, as are the exercises
    exercises: dict[str, str | None]
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
            _right(self.verdicts.values()),
            _right(self.exercises.values()),
        ]

    def _lines(self, sign: Callable[[str], str], name: str) -> list[str]:
        """What was guessed, judged and solved, a line each, with signs and names."""
        signs = "".join(sign(one or NOT_ATTEMPTED) for one in self.guesses)
        lines = [f"{_right(self.guesses)} guessed right {signs}"]
        parts = {"judged right": self.verdicts, "solved": self.exercises}
        for what, those in parts.items():
            named = [
                f"{sign(outcome or NOT_ATTEMPTED)} {name.format(one)}"
                for one, outcome in those.items()
            ]
            lines.append(f"{_right(those.values())} {what}: {', '.join(named)}")
        return lines

    def __str__(self) -> str:
        return "\n".join(self._lines(SIGNS.__getitem__, "{}"))

    __repr__ = __str__

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        lines = self._lines(colored_sign, "<code>{}</code>")
        html = "\n".join(f"<p>{line}</p>" for line in lines)
        return {"text/plain": str(self), "text/html": html}


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


def show_progress(exercises: ModuleType | None = None) -> Progress | Standing:
    """Return how far you are in all lessons, and where to go on, or in one lesson.

    The first guess at a prompt counts, and the best answer to an exercise. All are kept
    in the file `progress.json` beside the lessons, until you delete it.

    Args:
        exercises: those of the lesson that you ask for, a module of
            `course_lib.exercises`.

    Raises FileNotFoundError where the package is installed without the lessons.
    """
    done, standings = record.recorded_outcomes(), []
    if exercises is not None:
        name = getattr(exercises, "__name__", "").rpartition(".")[2]
        for lesson in _lessons():
            if lesson.name == name:
                return _standing(lesson, done)
        raise ValueError(
            f"exercises must be those of a lesson, got {exercises!r:.60}: import them "
            "from course_lib.exercises"
        )
    for lesson in _lessons():
        with contextlib.suppress(Exception):  # a notebook that its reader has broken
            standings.append(_standing(lesson, done))
    return Progress(standings)


def welcome_back() -> None:
    """Display where you were and how to go on, if you have done anything yet.

    From now on, a name that is missing is answered by the same advice.
    """
    if (shell := get_ipython()) is not None:
        shell.set_custom_exc((NameError,), _tell_what_to_run)
    if record.recorded_outcomes():
        words = f"{show_progress().advice} `show_progress()` tells about all lessons."
        display(Markdown(f"{words} {RUN_ABOVE}"))


def _tell_what_to_run(
    shell: object, kind: type, error: NameError, trace: object, tb_offset: object = None
) -> None:
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    print(RUN_ABOVE.replace("*", ""), file=sys.stderr)


def _lessons() -> list[Lesson]:
    """The lessons of the course, without the reader's own copies beside them."""
    known = {module.name for module in iter_modules(course_lib.__path__)}
    return [one for one in find_lessons() if one.name in known]


def _standing(lesson: Lesson, done: dict[str, str]) -> Standing:
    guessed, verdicts, exercises = [], {}, {}
    for cell in lesson.cells:
        if name := exercise_of(cell):
            kind = exercises if f"def {name}(" in cell["source"] else verdicts
            kind[name] = done.get(f"{lesson.name}.{name}")
        elif cell["cell_type"] == "code" and "predict(" in cell["source"]:
            patterns = _questions_in(cell["source"])
            guessed += [
                next((n for n in done if re.fullmatch(p, n)), None) for p in patterns
            ]
    own = {*guessed, *(f"{lesson.name}.{name}" for name in (*verdicts, *exercises))}
    return Standing(
        lesson.number,
        lesson.title,
        lesson.path.name,
        guesses=[done.get(name) for name in guessed],
        verdicts=verdicts,
        exercises=exercises,
        last_time=max((time for time, n in enumerate(done) if n in own), default=-1),
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


def _right(outcomes: Iterable[str | None]) -> str:
    outcomes = list(outcomes)
    return f"{outcomes.count(PASSED)} of {len(outcomes)}"


def _wrong(outcomes: dict[str, str | None]) -> int:
    return sum(outcome != PASSED for outcome in outcomes.values())
