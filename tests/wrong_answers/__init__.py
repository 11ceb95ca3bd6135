"""Tables of answers, one file a lesson: wrong ones, unusual right ones, and right values of a wrong type.

@wrong("count_windows", "last target")      what a class answers; the words stand in its diagnosis
def without_the_target(num_tokens, context_length, stride): ...

@wrong("count_windows", None)               caught, but nobody can tell the reason
@wrong("...", "...", natural=False)         far-fetched: must be caught, does not count for the share
@wrong("...", "did not end", ends=False)    loops forever, or takes all memory
@right("count_windows")                     unusual, and right
@refused("count_windows", "a float")        right values of a wrong type: refused, with the reason
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass

WRONG, RIGHT, REFUSED = "wrong", "right", "refused"


@dataclass(frozen=True)
class Answer:
    lesson: str
    exercise: str
    kind: str
    function: Callable
    words: str | None = None
    natural: bool = True
    ends: bool = True
    line: int = 0  # of its file, where its row begins

    @property
    def name(self) -> str:
        own = self.function.__name__
        words = [self.exercise, self.kind, "" if own == "<lambda>" else own]
        return f"{' '.join(filter(None, words))}, {self.lesson}.py:{self.line}"


ANSWERS: dict[str, list[Answer]] = {}


def _register(exercise: str, kind: str, **settings) -> Callable[[Callable], Callable]:
    row = sys._getframe(2)
    lesson, line = row.f_globals["__name__"].rpartition(".")[2], row.f_lineno

    def register(function: Callable) -> Callable:
        ANSWERS.setdefault(lesson, []).append(Answer(lesson, exercise, kind, function, line=line, **settings))
        return function

    return register


def wrong(exercise: str, words: str | None, *, natural: bool = True, ends: bool = True):
    return _register(exercise, WRONG, words=words, natural=natural, ends=ends)


def right(exercise: str):
    return _register(exercise, RIGHT)


def refused(exercise: str, words: str):
    return _register(exercise, REFUSED, words=words)


def answers_of(lesson: str) -> list[Answer]:
    """The table of a lesson, in the order of its file; empty if there is none yet."""
    try:
        importlib.import_module(f"wrong_answers.{lesson}")
    except ModuleNotFoundError as error:
        if error.name != f"wrong_answers.{lesson}":
            raise
    return ANSWERS.get(lesson, [])
