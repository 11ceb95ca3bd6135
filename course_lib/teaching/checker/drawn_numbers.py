"""Questions whose numbers depend on a seed, so that two classes can get different ones.

We draw again if a mistake, a function of the same numbers, gives the right answer, if
two mistakes give the same one, or if the answer is 0.
"""

import math
import random
from collections.abc import Callable
from itertools import pairwise

from IPython.display import Markdown, display

from course_lib.foundation import Seed, checked
from course_lib.teaching.checker import messages
from course_lib.teaching.checker.calling import show
from course_lib.teaching.checker.comparing import as_array, wrong_kind
from course_lib.teaching.checker.messages import Judgment, Score
from course_lib.teaching.checker.mistakes import WithSolution
from course_lib.teaching.checker.sources import source_without_decorators

MOST_DRAWS = 1000
# Rounding to three digits changes a number by at most half of one in a hundred.
THREE_DIGITS = 0.005

Drawn = dict[str, object]
Draw = Callable[[random.Random], Drawn]


class NumbersQuestion(WithSolution):
    """A question about numbers that a seed draws; see `numbers`."""

    def __init__(
        self, solution: Callable, ask: str, draw: Draw, hints: tuple[str, ...]
    ):
        super().__init__(solution, hints)
        self._ask, self._draw = ask, draw
        self._drawn: dict[int, Drawn] = {}

    @checked
    def drawn(self, seed: Seed = 0) -> Drawn:
        """The numbers of a seed, by name, if a draw tells the mistakes apart."""
        if seed not in self._drawn:
            source = random.Random(f"{self.name}, seed {seed}")
            draws = (self._draw(source) for _ in range(MOST_DRAWS))
            told_apart = next(filter(self._tells_apart, draws), None)
            if told_apart is None:
                raise ValueError(f"{self.name}: no draw tells its mistakes apart")
            self._drawn[seed] = told_apart
        return self._drawn[seed]

    def _tells_apart(self, drawn: Drawn) -> bool:
        functions = [self.reference, *(mistake.function for mistake in self.mistakes)]
        results = [float(function(**drawn)) for function in functions]
        if not results[0]:
            return False
        # If two float answers are about the same, a rounded one could mean either.
        margin = 0.0 if self.whole(drawn) else 3 * THREE_DIGITS
        return all(map(math.isfinite, results)) and all(
            large - small > margin * max(abs(small), abs(large))
            for small, large in pairwise(sorted(results))
        )

    def whole(self, drawn: Drawn) -> bool:
        return isinstance(self.reference(**drawn), int)

    def answer(self, seed: int = 0) -> int | float:
        return self.reference(**self.drawn(seed))

    def prose(self, seed: int = 0) -> str:
        """The task in Markdown, with the numbers of a seed."""
        drawn = self.drawn(seed)
        task = self._ask.format(**drawn)
        return task if self.whole(drawn) else f"{task} Three digits are enough."

    @property
    def stub(self) -> str:
        """The line that an assignment has in place of the answer."""
        kind = "whole number" if self.whole(self.drawn()) else "number"
        return f"{self.name} = ...  # a {kind}, or how you work it out"

    def solution_source(self, seed: int = 0) -> str:
        return f"{self.name} = {self.answer(seed)!r}"

    def ask(self, seed: int = 0) -> None:
        """Display the task, with the numbers of a seed."""
        display(Markdown(self.prose(seed)))

    def check(self, answer: object, *, seed: int = 0) -> Score:
        """Return 1.0 if a number is the answer for a seed, else 0.0, and show why."""
        return messages.report(self, self.assess(answer, seed=seed))

    def solution(self, seed: int = 0) -> None:
        """Display the answer for a seed, and how to compute it."""
        drawn = self.drawn(seed)
        call = ", ".join(f"{name}={value!r}" for name, value in drawn.items())
        code = source_without_decorators(self.reference)
        shown = f"{code}\n\n\n{self.name}({call})  # {self.reference(**drawn)!r}"
        display(Markdown(f"```python\n{shown}\n```"))

    # Only the exercises of a lesson's notebook have a method `judge`.
    def assess(self, answer: object, *, seed: int = 0) -> Judgment:
        """Judge a number without displaying anything."""
        drawn = self.drawn(seed)
        if answer is ... or answer is None:
            message = f"**Not attempted.** Set `{self.name}` to a number."
            return Judgment(messages.NOT_ATTEMPTED, 0.0, message)
        expected = self.reference(**drawn)
        if _equal(expected, answer):
            message = f"**Passed.** `{self.name}` is {show(expected)}."
            return Judgment(messages.PASSED, 1.0, message)
        diagnosis = self._diagnose(expected, answer, drawn)
        hint = f"`exercises.{self.name}.hint()` may help."
        more = f"**Looks like:** {diagnosis}" if diagnosis else hint
        message = f"**Failed.** `{self.name}` is another number.\n\n{more}"
        return Judgment(messages.FAILED, 0.0, message, diagnosis)

    def _diagnose(
        self, expected: int | float, answer: object, drawn: Drawn
    ) -> str | None:
        for mistake in self.mistakes:
            if _equal(mistake.function(**drawn), answer):
                return mistake.diagnosis
        if kind := wrong_kind([(expected, answer)]):
            return kind
        number = _number(answer)
        if number is None:
            return None
        if isinstance(expected, int) and abs(number - expected) == 1:
            size = "large" if number > expected else "small"
            ends = "count an end that does not belong, or leave out one that does"
            return f"exactly one too {size}. Does it {ends}?"
        if _equal(expected, -number):
            return "the sign is the other way round."
        if isinstance(expected, float) and _equal(expected, number / 100):
            return "a hundred times too large: give a fraction, not per cent."
        return None


def _number(value: object) -> int | float | None:
    try:
        array = as_array(value)
    except Exception:  # whatever an answer may be
        return None
    return array.item() if array.ndim == 0 and array.dtype.kind in "iuf" else None


def _equal(expected: int | float, value: object) -> bool:
    number = _number(value)
    if number is None:
        return False
    if isinstance(expected, int):
        return isinstance(number, int) and number == expected
    return math.isclose(expected, number, rel_tol=THREE_DIGITS)


def numbers(
    *, ask: str, draw: Draw, hints: tuple[str, ...]
) -> Callable[[Callable], NumbersQuestion]:
    """Make the decorated function the answer to a question whose numbers are drawn.

    Args:
        ask: the task in Markdown, as a format string that contains each number by name.
        draw: a function that gets a random number generator and draws the arguments.
        hints: hints, from vague ones to one that almost gives the answer.
    """
    return lambda solution: NumbersQuestion(solution, ask, draw, hints)
