"""Judge a reader's function by calling it on many inputs, and say what is wrong."""

import ast
import builtins
import copy
import inspect
import random
import sys
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property, partial
from typing import NamedTuple, Self

from IPython.display import Markdown, display

from course_lib.teaching.checker import guard, messages
from course_lib.teaching.checker.calls import (
    Case,
    Outcome,
    format_call,
    format_outcome,
    run,
    size_of,
)
from course_lib.teaching.checker.comparing import in_common, meaning_of
from course_lib.teaching.checker.guard import Begin, Stopped
from course_lib.teaching.checker.messages import FAILED, RAISED, Judgment, Score

LONGEST_PRINT = 500  # characters
ASKED_AGAIN = 3  # calls, the smallest, at the end: an answer may keep something
MOST_COMPARED = 12  # failing calls, of which the second one to show is chosen
CHANGES_ARGUMENTS = (
    "the function changes its arguments, which its caller still needs. Work on a copy."
)
KEEPS_SOMETHING = (
    "something is kept from one call to the next: a list or a dictionary that is a "
    "default argument, or a variable outside the function. Make a new one in each "
    "call. (A result that's drawn at random would look the same.)"
)

Cases = Callable[[random.Random], Iterable[Case]]


class Mistake(NamedTuple):
    """A usual wrong answer, and what to tell a reader who gives it."""

    words: str
    function: Callable


class Task:
    """What exercises and questions with numbers share: a solution, hints, mistakes."""

    def __init__(self, solution: Callable, hints: tuple[str, ...]):
        self.name = solution.__name__
        self.reference = solution
        self.hints = hints
        self.mistakes: list[Mistake] = []
        self.last_outcome = messages.NOT_ATTEMPTED
        self.saw_solution = False  # before it was solved

    def __call__(self, *arguments: object) -> object:
        """What the solution returns: a mistake can be said in its terms."""
        return self.reference(*arguments)

    def mistake(self, words: str, *functions: Callable) -> Callable | None:
        """Add a usual wrong answer, or several of one kind, with the sentence for who
        gives it. Without a function, it decorates one."""
        if not functions:
            return partial(self.mistake, words)
        self.mistakes += [Mistake(words, function) for function in functions]

    def hint(self, number: int = 1) -> None:
        """Display a hint. Later hints say more."""
        count = len(self.hints)
        text = f"There are {count} hints: `hint(1)` to `hint({count})`."
        if 1 <= number <= count:
            more = f" *(`hint({number + 1})` says more.)*" if number < count else ""
            text = f"**Hint {number}.** {self.hints[number - 1]}{more}"
        display(Markdown(text))


class Exercise(Task):
    """A function or a class to write; see `exercise`."""

    def __init__(
        self,
        solution: Callable,
        cases: Cases,
        hints: tuple[str, ...],
        view: Callable | None = None,
    ):
        super().__init__(solution, hints)
        self._make_cases, self._view, self._seed = cases, view, 0

    @property
    def solution_source(self) -> str:
        return source_without_decorators(self.reference)

    @property
    def stub(self) -> str:
        """The solution without its body, as it is in the notebook."""
        (function,) = ast.parse(self.solution_source).body
        head = self.solution_source.splitlines()[: function.body[0].end_lineno]
        return "\n".join([*head, "    ..."])

    @cached_property
    def cases(self) -> list[Case]:
        """All calls, the smallest first, so that the first failure is the smallest."""
        return sorted(self._make_cases(random.Random(self._seed)), key=size_of)

    @cached_property
    def expected(self) -> list[Outcome]:
        """What the solution does with each of the cases."""
        return [run(self.reference, case, self._view) for case in self.cases]

    def drawn_from(self, seed: int) -> Self:
        """The same exercise with calls drawn from another seed, for hidden tests."""
        other = copy.copy(self)
        for cached in ("cases", "expected"):
            vars(other).pop(cached, None)
        other._seed = seed
        return other

    def check(self, answer: object, *, seed: int = 0) -> Score:
        """Return 1.0 if `answer` passes, else 0.0, and show why; a seed draws calls."""
        return messages.report(self, self.judge(answer, seed=seed))

    def solution(self) -> None:
        """Display the solution, and which names of earlier cells it uses."""
        self.saw_solution |= self.last_outcome != messages.PASSED
        shown = f"```python\n{self.solution_source}\n```"
        if needed := names_from_elsewhere(self.reference):
            names = ", ".join(f"`{name}`" for name in needed)
            shown += f"\n\nIt uses {names}, imported or defined in cells above."
        display(Markdown(shown))

    def judge(self, answer: object, *, guarded: bool = True, seed: int = 0) -> Judgment:
        """Judge `answer` without displaying anything; unguarded in this process."""
        if seed != self._seed:
            return self.drawn_from(seed).judge(answer, guarded=guarded, seed=seed)
        if refusal := self._refusal(answer):
            return refusal
        if not guarded:
            return self._judge_calls(answer, lambda *call: None)
        _ = self.expected  # computed here, so that the next check also has it
        found = guard.guarded(partial(self._judge_calls, answer))
        if isinstance(found, Stopped):
            return self._stopped(found)
        if found.failing is not None and guard.CAN_FORK:
            # Who keeps something is right when the failing call is the first one.
            number, shown = found.failing
            if guard.guarded(partial(self._is_right, answer, number)) is True:
                words = "This call is right when it comes first, but not after others:"
                return _keeps_something(f"{words}\n\n{shown}")
        return found

    def _refusal(self, answer: object) -> Judgment | None:
        """Return the judgment of an answer that cannot be called, or None."""
        if answer is ... or answer is None or is_stub(answer):
            return self._not_attempted()
        words = f"Pass `{self.name}` itself, not its result."
        if callable(answer):
            try:
                inspect.signature(answer).bind(*self.cases[0])
                return None
            except ValueError:  # some built-in functions have no signature
                return None
            except TypeError:
                wanted = ", ".join(inspect.signature(self.reference).parameters)
                words = f"`{self.name}` is called with `{wanted}`. "
                words += "Yours takes other arguments."
        return Judgment(FAILED, 0.0, f"**Failed.** {words}", words)

    def _is_right(self, answer: Callable, number: int, begin: Begin) -> bool:
        begin(number)
        got = run(answer, self.cases[number], self._view)
        return self.expected[number].same_as(got)

    def _judge_calls(self, answer: Callable, begin: Begin) -> Judgment:
        got = []
        for number, case in enumerate(self.cases + self.cases[:ASKED_AGAIN]):
            begin(number)
            got.append(run(answer, case, self._view))
        begin(-1, 0)
        return self.judge_outcomes(got)

    def judge_outcomes(self, got: list[Outcome]) -> Judgment:
        """Judge the outcomes of all calls, of which the first may come once more."""
        if any(isinstance(outcome.error, NotImplementedError) for outcome in got):
            return self._not_attempted()
        # Only now: one list that is given out again and again has changed by now.
        pairs = zip(self.expected + self.expected[:ASKED_AGAIN], got, strict=False)
        wrong = [i for i, (right, one) in enumerate(pairs) if not right.same_as(one)]
        count = len(self.cases)
        if not wrong:
            message = f"**Passed.** `{self.name}` is right in all {count} calls."
            return Judgment(messages.PASSED, 1.0, message)
        if wrong[0] >= count:
            shown = self._shown(wrong[0] - count, got[wrong[0]])
            words = "This call was right once, but not the second time:"
            return _keeps_something(f"{words}\n\n{shown}")
        return self._explain(
            got[:count], [number for number in wrong if number < count]
        )

    def _explain(self, got: list[Outcome], wrong: list[int]) -> Judgment:
        outcome = FAILED if got[wrong[0]].error is None else RAISED
        first = self._shown(wrong[0], got[wrong[0]])
        message = (
            f"**{outcome.capitalize()}** in {len(wrong)} of {len(got)} calls. The "
            f"smallest of them:\n\n{first}\n"
        )
        diagnosis = self._diagnose(got, wrong)
        if (second := self._second(got, wrong, diagnosis)) is not None:
            shown = self._shown(second, replace(got[second], printed=""))
            message += f"\nAnother one:\n\n{shown}\n"
        hint = f"`exercises.{self.name}.hint()` may help."
        message += f"\n**Looks like:** {diagnosis}" if diagnosis else f"\n{hint}"
        return Judgment(outcome, 0.0, message, diagnosis, (wrong[0], first))

    def _second(
        self, got: list[Outcome], wrong: list[int], diagnosis: str | None
    ) -> int | None:
        """Choose a second failing call: of those that differ from the first, the one
        that tells most mistakes apart. None if the first leaves nothing open."""
        first, *others = wrong
        others = [i for i in others if not got[i].same_as(got[first])][:MOST_COMPARED]
        alike = [m for m in self.mistakes if self._does_the_same(m, got, [first])]
        if {mistake.words for mistake in alike} == {diagnosis}:
            return None

        def leaves_open(number: int) -> tuple[int, bool]:
            mistakes = alike or self.mistakes
            nothing = size_of((self.expected[number].value,)) <= 1  # 0, [], "" or None
            return sum(self._does_the_same(m, got, [number]) for m in mistakes), nothing

        return min(others, key=leaves_open, default=None)

    def _does_the_same(
        self, mistake: Mistake, got: list[Outcome], calls: Iterable[int]
    ) -> bool:
        return all(
            run(mistake.function, self.cases[number], self._view).same_as(got[number])
            for number in calls
        )

    def _diagnose(self, got: list[Outcome], wrong: list[int]) -> str | None:
        """Name the mistake that does the same in all calls, or say what all failing
        calls have in common."""
        # The wrong calls come first, because most mistakes differ there.
        calls = sorted(range(len(got)), key=lambda number: number not in wrong)
        for mistake in self.mistakes:
            if self._does_the_same(mistake, got, calls):
                return mistake.words
        if any(got[number].changed_arguments for number in wrong):
            return CHANGES_ARGUMENTS
        if (error := got[wrong[0]].error) is not None:
            return meaning_of(error)
        pairs = [(self.expected[number], got[number]) for number in wrong]
        if all(one.value is one.error is None for _, one in pairs):
            if all(one.printed.strip() for _, one in pairs):
                return "the function prints its result instead of returning it."
            wanted = any(right.value is None for right in self.expected)
            return None if wanted else "`None` is returned. Is a `return` missing?"
        if any(one.error is not right.error for right, one in pairs):
            return None
        return in_common([(right.value, one.value) for right, one in pairs])

    def _shown(self, number: int, outcome: Outcome) -> str:
        """Write a call, what was expected, and what came instead."""
        facts = [
            format_call(self.reference, self.cases[number]),
            f"expected  {format_outcome(self.expected[number])}",
            f"got       {format_outcome(outcome)}",
        ]
        if outcome.place:
            facts.append(f"at        {outcome.place}")
        if printed := outcome.printed.rstrip()[:LONGEST_PRINT]:
            facts.append("printed   " + textwrap.indent(printed, " " * 10).lstrip())
        return "```text\n" + "\n".join(facts) + "\n```"

    def _stopped(self, stopped: Stopped) -> Judgment:
        said = f"The call below {stopped.reason}"
        message = f"**Raised.** {said}"
        if stopped.call >= 0:
            case = self.cases[stopped.call % len(self.cases)]
            message += f"\n\n```text\n{format_call(self.reference, case)}\n```\n"
        return Judgment(RAISED, 0.0, message, said)

    def _not_attempted(self) -> Judgment:
        todo = f"Replace the `...` in `{self.name}`, then run the cell again."
        return Judgment(messages.NOT_ATTEMPTED, 0.0, f"**Not attempted.** {todo}")


def _keeps_something(evidence: str) -> Judgment:
    message = f"**Failed.** {evidence}\n\n**Looks like:** {KEEPS_SOMETHING}"
    return Judgment(FAILED, 0.0, message, KEEPS_SOMETHING)


def exercise(
    *, cases: Cases, hints: tuple[str, ...], view: Callable | None = None
) -> Callable[[Callable], Exercise]:
    """Make the decorated function or class, the solution, an `Exercise` of its name.

    Args:
        cases: yields the arguments of each call, from a seeded random number generator.
        hints: hints, from a vague one to one that almost gives the answer.
        view: where many results are right, or the answer is a class, calls it with the
            arguments of a case, and returns what is compared instead.
    """
    return lambda solution: Exercise(solution, cases, hints, view)


def _nothing(): ...


def _nothing_but_words():
    """As a stub has them."""


def is_stub(function: object) -> bool:
    """Say whether a function, but not a `lambda`, or a class does nothing yet."""
    if isinstance(function, type):
        return not any(map(callable, vars(function).values()))
    code = getattr(function, "__code__", None)
    if code is None or code.co_name == "<lambda>":
        return False
    empty = {one.__code__.co_code for one in (_nothing, _nothing_but_words)}
    constants = set(code.co_consts) - {None, ..., function.__doc__}
    return code.co_code in empty and not constants


def source_without_decorators(function: Callable) -> str:
    lines = textwrap.dedent(inspect.getsource(function)).rstrip().splitlines()
    heads = "def ", "class "
    first = next(i for i, line in enumerate(lines) if line.startswith(heads))
    return "\n".join(lines[first:])


def names_from_elsewhere(function: Callable) -> list[str]:
    """Return the global names that a function uses, except Python's built-in names."""
    # `inspect.getclosurevars` would not look into inner functions.
    tree = ast.parse(source_without_decorators(function))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    known = vars(sys.modules[function.__module__])
    return sorted(n for n in used if n in known and not hasattr(builtins, n))
