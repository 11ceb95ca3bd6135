"""The wrong answers to an exercise, and what each of them does in its calls.

For each right way, of which the solution is the first, a table lists the usual slips.
Each is a wrong answer, and so is each pair in one way that changes different places.
"""

import contextlib
import copy
import inspect
import math
import random
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Self

import numpy as np
import torch
from IPython.display import Markdown, display

from course_lib.teaching.checker.calling import Case, Observe, Outcome, run
from course_lib.teaching.checker.messages import NOT_ATTEMPTED
from course_lib.teaching.checker.slips import (
    FromSource,
    RightWay,
    Slip,
    rows_of,
    with_words_in_full,
)

Cases = Callable[[random.Random], Iterable[Case]]


@dataclass(frozen=True, eq=False)  # compared by identity, which makes lookups fast
class Mistake:
    """A wrong answer with a name, and what to tell a reader who gives it."""

    name: str
    function: Callable
    words: tuple[str, ...]  # for each slip in it

    @property
    def diagnosis(self) -> str:
        if len(self.words) == 1:
            return self.words[0]
        return "two slips at once. " + " ".join(
            f"({number}) {said[0].upper()}{said[1:]}"
            for number, said in enumerate(self.words, 1)
        )


class WithSolution:
    """A task with a reference solution, hints and known mistakes."""

    def __init__(self, solution: Callable, hints: tuple[str, ...]):
        self.name = solution.__name__
        self.reference = solution
        self.hints = hints
        self.functions: list[Mistake] = []
        self.tables: list[str] = []
        self.last_outcome = NOT_ATTEMPTED

    def mistake(self, diagnosis: str) -> Callable[[Callable], Callable]:
        """Register the decorated function as a usual wrong answer."""

        def register(function: Callable) -> Callable:
            self.functions.append(Mistake(function.__name__, function, (diagnosis,)))
            return function

        return register

    def answers(self, table: str) -> None:
        """Register wrong answers, expressions of the parameters, by such a table."""
        self.tables.append(table)

    @cached_property
    def mistakes(self) -> list[Mistake]:
        """All single mistakes."""
        return self._and_expressions(self.functions)

    def _and_expressions(self, before: list[Mistake]) -> list[Mistake]:
        known = [mistake.diagnosis for mistake in before]
        parameters = ", ".join(inspect.signature(self.reference).parameters)
        rows = [row for table in self.tables for row in rows_of(table)]
        return before + [
            Mistake(code, FromSource(code, self.reference, parameters), (words,))
            for code, words in with_words_in_full(rows, known)
        ]

    def hint(self, number: int = 1) -> None:
        """Display a hint. Later hints say more."""
        count = len(self.hints)
        if number not in range(1, count + 1):
            display(Markdown(f"There are {count} hints: `hint(1)` to `hint({count})`."))
            return
        more = f" *(`hint({number + 1})` says more.)*" if number < count else ""
        display(Markdown(f"**Hint {number}.** {self.hints[number - 1]}{more}"))


class WithMistakes(WithSolution):
    """A task that is judged by calls, with its right ways and the slips in them."""

    def __init__(
        self,
        solution: Callable,
        cases: Cases,
        hints: tuple[str, ...],
        observe: Observe | None = None,
    ):
        super().__init__(solution, hints)
        self.observe = observe
        self.ways = [RightWay(solution, "")]
        self._make_cases = cases
        self._seed = 0
        self._mistaken: dict[Mistake, dict[int, Outcome]] = {}

    def slips(self, table: str) -> None:
        """Register the slips in the solution, by a table as of the module `slips`."""
        self.ways[0].table = table

    def right_way(self, table: str = "") -> Callable[[Callable], Callable]:
        """Register the decorated function as another right way, with its own slips."""

        def register(function: Callable) -> Callable:
            self.ways.append(RightWay(function, table))
            return function

        return register

    @cached_property
    def slips_by_way(self) -> list[tuple[RightWay, list[Slip]]]:
        known = [mistake.diagnosis for mistake in self.functions]
        found = []
        for way in self.ways:
            found.append((way, way.slips(known)))
            known += [slip.words for slip in found[-1][1]]
        return found

    @cached_property
    def mistakes(self) -> list[Mistake]:
        """All single mistakes: functions, each slip in its way, and expressions."""
        slipped = [
            self._slipped(way, slip)
            for way, slips in self.slips_by_way
            for slip in slips
        ]
        return self._and_expressions(self.functions + slipped)

    @cached_property
    def pairs(self) -> list[Mistake]:
        return [
            self._slipped(way, *pair)
            for way, slips in self.slips_by_way
            for pair in combinations(slips, 2)
            if pair[0].fits(pair[1])
        ]

    def _slipped(self, way: RightWay, *slips: Slip) -> Mistake:
        name = f"{way.function.__name__}, {' and '.join(slip.code for slip in slips)}"
        function = FromSource(way.with_slips(*slips), way.function)
        return Mistake(name, function, tuple(slip.words for slip in slips))

    def compile(self) -> None:
        """Compile all wrong answers, which takes most of the time of a diagnosis."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # wrong answers may warn
            for mistake in (*self.mistakes, *self.pairs):
                if isinstance(mistake.function, FromSource):
                    with contextlib.suppress(SyntaxError):  # some pairs are no Python
                        _ = mistake.function.function

    @cached_property
    def cases(self) -> list[Case]:
        """All calls, the smallest first, so that the first failure is the smallest."""
        return sorted(self._make_cases(random.Random(self._seed)), key=size_of)

    @cached_property
    def expected(self) -> list[Outcome]:
        """What the reference solution does with each of the cases."""
        return [run(self.reference, case, self.observe) for case in self.cases]

    def outcome_of(self, mistake: Mistake, number: int) -> Outcome:
        """What a mistake does with one of the cases; it is called only once."""
        outcomes = self._mistaken.setdefault(mistake, {})
        if number not in outcomes:
            case = self.cases[number]
            outcomes[number] = run(mistake.function, case, self.observe)
        return outcomes[number]

    def wrong_calls(self, got: Sequence[Outcome]) -> list[int]:
        """The numbers of the wrong calls, among all calls or the first ones."""
        pairs = enumerate(zip(self.expected, got, strict=False))
        return [i for i, (right, outcome) in pairs if not right.same_as(outcome)]

    def drawn_from(self, seed: int) -> Self:
        """Return the same task with calls drawn from another seed, for hidden tests."""
        other = copy.copy(self)
        for cached in ("cases", "expected"):
            vars(other).pop(cached, None)
        other._seed, other._mistaken = seed, {}
        return other


def size_of(case: object) -> float:
    """Measure a call: a number by its size, and a collection by all that it holds."""
    if isinstance(case, torch.Tensor | np.ndarray):
        return float(np.asarray(case).size)
    if isinstance(case, list | tuple):
        return len(case) + sum(map(size_of, case))
    if isinstance(case, str):
        return float(len(case))
    if isinstance(case, int | float) and math.isfinite(case):
        return float(abs(case))
    return 0.0
