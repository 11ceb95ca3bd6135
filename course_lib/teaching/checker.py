"""Judge a reader's function: call it on many inputs, and say which mistake it makes.

An exercise is its reference solution, with the usual mistakes beside it, as functions
too. An answer that
fails is compared with each of them: the one that gives the same results, call for call,
is the diagnosis.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import dis
import inspect
import io
import itertools
import math
import random
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from IPython.display import Markdown, display

PASSED, FAILED, RAISED, NOT_ATTEMPTED = "passed", "failed", "raised", "not attempted"
BUG, NOT_A_BUG = "bug", "not a bug"
ITEMS_TAKEN_FROM_AN_ITERATOR = 10_000
LONGEST_PRINT = 500  # characters

Case = tuple
Cases = Callable[[random.Random], Iterable[Case]]


@dataclass(frozen=True)
class Judgment:
    """What a check found: one of four outcomes, a score, the words for it, and the
    mistake it recognized."""

    outcome: str
    score: float
    message: str
    diagnosis: str | None = None


@dataclass(frozen=True)
class Mistake:
    """A wrong answer with a name, and what to tell whoever gives it."""

    name: str
    function: Callable
    diagnosis: str


@dataclass(frozen=True)
class Outcome:
    """What one call did: the value it returned, or the exception it raised, and whether
    it kept its arguments."""

    value: object = None
    error: Exception | None = None
    changed_arguments: bool = False
    printed: str = ""

    def same_as(self, other: Outcome) -> bool:
        if self.changed_arguments != other.changed_arguments or type(
            self.error
        ) is not type(other.error):
            return False
        return self.error is not None or same(self.value, other.value)


class Exercise:
    """A task with a reference solution, hints and known mistakes; made with the
    decorator `exercise`."""

    def __init__(self, solution: Callable, cases: Cases, hints: tuple[str, ...]):
        self.name = solution.__name__
        self.reference = solution
        self.hints = hints
        self.mistakes: list[Mistake] = []
        self._make_cases = cases

    def mistake(self, diagnosis: str) -> Callable[[Callable], Callable]:
        """Register the decorated function as a usual wrong answer."""

        def register(function: Callable) -> Callable:
            self.mistakes.append(Mistake(function.__name__, function, diagnosis))
            return function

        return register

    @property
    def cases(self) -> list[Case]:
        """All calls, the same ones each time, the smallest first: so the first failure
        is the smallest."""
        return sorted(self._make_cases(random.Random(0)), key=_size)

    @property
    def solution_source(self) -> str:
        return source_without_decorators(self.reference)

    @property
    def stub(self) -> str:
        """The reference solution without its body: what stands in the notebook."""
        function = ast.parse(self.solution_source).body[0]
        # up to the end of the docstring
        head = self.solution_source.splitlines()[: function.body[0].end_lineno]
        return "\n".join([*head, "    ..."])

    def check(self, answer: object) -> float:
        """Judge `answer`, display what was found, and return the score: 1.0 if it
        passed, else 0.0."""
        return _show(self.judge(answer))

    def hint(self, number: int = 1) -> None:
        """Display a hint; there are at least two, the later ones say more."""
        if number not in range(1, len(self.hints) + 1):
            display(
                Markdown(
                    f"There are {len(self.hints)} hints: `hint(1)` to "
                    f"`hint({len(self.hints)})`."
                )
            )
            return
        more = (
            f" *(`hint({number + 1})` says more.)*" if number < len(self.hints) else ""
        )
        display(Markdown(f"**Hint {number}.** {self.hints[number - 1]}{more}"))

    def solution(self) -> None:
        """Display the reference solution."""
        display(Markdown(f"```python\n{self.solution_source}\n```"))

    def judge(self, answer: object) -> Judgment:
        if answer is ... or answer is None or is_stub(answer):
            return self._not_attempted()
        if not callable(answer):
            return Judgment(
                FAILED,
                0.0,
                f"**Failed.** Pass the function `{self.name}` itself, not what it "
                "returns.",
            )
        cases = self.cases
        expected = [run(self.reference, case) for case in cases]
        got = [run(answer, case) for case in cases]
        if any(isinstance(outcome.error, NotImplementedError) for outcome in got):
            return self._not_attempted()
        wrong = [i for i, outcome in enumerate(got) if not expected[i].same_as(outcome)]
        if not wrong:
            return Judgment(
                PASSED,
                1.0,
                f"**Passed.** `{self.name}` is right in all {len(cases)} calls.",
            )
        return self._explain(cases, expected, got, wrong)

    def _explain(
        self,
        cases: list[Case],
        expected: list[Outcome],
        got: list[Outcome],
        wrong: list[int],
    ) -> Judgment:
        first = wrong[0]
        diagnosis = self._diagnose(cases, got, wrong)
        facts = [
            format_call(self.reference, cases[first]),
            f"expected  {format_outcome(expected[first])}",
        ]
        facts += [f"got       {format_outcome(got[first])}"]
        if printed := got[first].printed.rstrip():
            facts += [
                "printed   "
                + textwrap.indent(printed[:LONGEST_PRINT], " " * 10).lstrip()
            ]
        outcome = RAISED if got[first].error is not None else FAILED
        message = (
            f"**{outcome.capitalize()}** in {len(wrong)} of {len(cases)} calls. The "
            "smallest of them:\n\n```text\n" + "\n".join(facts) + "\n```\n"
        )
        if diagnosis:
            message += f"\n**Looks like:** {diagnosis}"
        else:
            message += f"\n`exercises.{self.name}.hint()` may help."
        return Judgment(outcome, 0.0, message, diagnosis)

    def _diagnose(
        self, cases: list[Case], got: list[Outcome], wrong: list[int]
    ) -> str | None:
        if any(got[i].changed_arguments for i in wrong):
            return "the function changes its arguments. Whoever called it still needs them: work on a copy."
        if all(outcome.error is None and outcome.value is None for outcome in got):
            return "the function always returns `None`. Is a `return` missing?"
        # First whoever gives the same results in all calls. Failing that, whoever gives
        # the same wrong ones, if it is one alone: a guess among several would mislead.
        for indices in (range(len(cases)), wrong if len(wrong) > 1 else []):
            alike = [
                m
                for m in self.mistakes
                if indices and self._gives(m, cases, got, indices)
            ]
            if alike and (len(alike) == 1 or len(indices) == len(cases)):
                return alike[0].diagnosis
        return None

    @staticmethod
    def _gives(
        mistake: Mistake, cases: list[Case], got: list[Outcome], indices: Sequence[int]
    ) -> bool:
        return all(run(mistake.function, cases[i]).same_as(got[i]) for i in indices)

    def _not_attempted(self) -> Judgment:
        message = f"**Not attempted.** Replace the `...` in `{self.name}`, then run the cell again."
        return Judgment(NOT_ATTEMPTED, 0.0, message)


def exercise(*, cases: Cases, hints: tuple[str, ...]) -> Callable[[Callable], Exercise]:
    """Make the decorated function the reference solution of an `Exercise` of the same
    name.

    Args:
        cases: yields the arguments of each call; it gets a random number generator of
            fixed seed.
        hints: from vague to almost told.
    """
    return lambda solution: Exercise(solution, cases, hints)


class BugOrNot:
    """A snippet seen in the wild: the reader says whether it is a bug, and calls settle
    it."""

    def __init__(
        self, snippet: Callable, reference: Callable, cases: Cases, explanation: str
    ):
        self.name = snippet.__name__
        self.snippet = snippet
        self.reference = reference
        self.explanation = explanation
        self._make_cases = cases

    @property
    def cases(self) -> list[Case]:
        return sorted(self._make_cases(random.Random(0)), key=_size)

    @property
    def evidence(self) -> tuple[Case, Outcome, Outcome] | None:
        """The smallest call in which snippet and reference differ, with what each
        gives; None if there is none."""
        for case in self.cases:
            expected, got = run(self.reference, case), run(self.snippet, case)
            if not expected.same_as(got):
                return case, expected, got
        return None

    @property
    def truth(self) -> str:
        return NOT_A_BUG if self.evidence is None else BUG

    @property
    def solution_source(self) -> str:
        return f'{self.name} = "{self.truth}"'

    @property
    def stub(self) -> str:
        return f'{self.name} = ...  # "{BUG}" or "{NOT_A_BUG}"?'

    def show(self) -> None:
        """Display the snippet."""
        display(Markdown(f"```python\n{source_without_decorators(self.snippet)}\n```"))

    def check(self, verdict: object) -> float:
        """Compare the verdict with the evidence, display it, and return 1.0 if the
        verdict was right, else 0.0."""
        return _show(self.judge(verdict))

    def hint(self, number: int = 1) -> None:
        """Display a way to find out."""
        beside = f"`exercises.{self.name}.snippet(...)` beside `exercises.{self.name}.reference(...)`"
        display(
            Markdown(
                f"**Hint.** Call {beside}, on the smallest arguments that you can "
                "think of."
            )
        )

    def solution(self) -> None:
        """Display the verdict, the evidence and the reason."""
        display(
            Markdown(
                f"`{self.solution_source}`\n\n{self._evidence_text()}\n\n{self.explanation}"
            )
        )

    def judge(self, verdict: object) -> Judgment:
        if verdict is ... or verdict is None:
            return Judgment(
                NOT_ATTEMPTED,
                0.0,
                f'**Not attempted.** Set `{self.name}` to "{BUG}" or "{NOT_A_BUG}".',
            )
        if verdict not in (BUG, NOT_A_BUG):
            return Judgment(
                FAILED,
                0.0,
                f'**Failed.** The answer is "{BUG}" or "{NOT_A_BUG}", not {verdict!r}.',
            )
        right = verdict == self.truth
        words = (
            "**Passed.**"
            if right
            else f"**Failed.** It is {'a bug' if self.truth == BUG else 'not a bug'}."
        )
        explanation = (
            f"\n\n{self.explanation}"
            if right
            else f"\n\n`exercises.{self.name}.solution()` says why."
        )
        return Judgment(
            PASSED if right else FAILED,
            float(right),
            f"{words} {self._evidence_text()}{explanation}",
        )

    def _evidence_text(self) -> str:
        if self.evidence is None:
            return f"It agrees with `{self.reference.__name__}` in all {len(self.cases)} calls."
        case, expected, got = self.evidence
        facts = [
            format_call(self.snippet, case),
            f"expected  {format_outcome(expected)}",
        ]
        return (
            "\n\n```text\n"
            + "\n".join([*facts, f"got       {format_outcome(got)}"])
            + "\n```"
        )


def bug_or_not(
    *, reference: Callable, cases: Cases, explanation: str
) -> Callable[[Callable], BugOrNot]:
    """Make the decorated function a `BugOrNot`, to be told from `reference` by calls
    alone."""
    return lambda snippet: BugOrNot(snippet, reference, cases, explanation)


def run(function: Callable, case: Case) -> Outcome:
    """Call `function` on a copy of the arguments, and look afterwards whether it has
    changed them."""
    arguments = copy.deepcopy(case)
    try:
        # Hundreds of calls would print hundreds of times, and push the verdict out of
        # sight.
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            value = function(*arguments)
            if hasattr(value, "__next__"):
                value = list(itertools.islice(value, ITEMS_TAKEN_FROM_AN_ITERATOR))
    except Exception as error:
        return Outcome(error=error, printed=printed.getvalue())
    # A model or a generator is not compared: no copy equals its original, and to draw
    # numbers is no mistake.
    compared = [
        (a, b) for a, b in zip(arguments, case, strict=True) if not _has_state(b)
    ]
    changed = not all(same(a, b) for a, b in compared)
    return Outcome(value, changed_arguments=changed, printed=printed.getvalue())


def same(expected: object, got: object) -> bool:
    """Whether two results are equal: lists, arrays and tensors by shape and values,
    floats up to rounding."""
    if isinstance(expected, bool | np.bool_):
        return isinstance(got, bool | np.bool_) and bool(expected) == bool(got)
    if expected is None or isinstance(expected, str) or callable(expected):
        return type(expected) is type(got) and expected == got
    if isinstance(expected, tuple) and any(
        not isinstance(item, int | float) for item in expected
    ):
        return (
            _is_sequence(got)
            and len(got) == len(expected)
            and all(map(same, expected, got))
        )
    if isinstance(expected, dict):
        return (
            isinstance(got, dict)
            and expected.keys() == got.keys()
            and all(same(expected[k], got[k]) for k in got)
        )
    if (
        _is_sequence(expected) != _is_sequence(got)
        or got is None
        or isinstance(got, str)
    ):
        return False
    try:
        wanted, actual = _as_array(expected), _as_array(got)
        if wanted.dtype.kind in "iu" and actual.dtype.kind not in "iu" and actual.size:
            return False  # 3.0 is not a count, and a float is not an id
        if wanted.dtype.kind in "iu":
            # no rounding here: 100,001 windows are not 100,000
            return np.array_equal(wanted, actual)
        # An infinity is as good as an infinity, and NaN as NaN.
        return wanted.shape == actual.shape and bool(
            np.allclose(wanted, actual, rtol=1e-5, atol=1e-6, equal_nan=True)
        )
    except (TypeError, ValueError):
        if not _is_sequence(expected):
            return type(expected) is type(got) and bool(expected == got)
        return (
            _is_sequence(got)
            and len(got) == len(expected)
            and all(map(same, expected, got))
        )


def is_stub(function: object) -> bool:
    """Whether a function does nothing but return `None` or `...`: told from its
    bytecode, docstring or not."""
    if not inspect.isfunction(function):
        return False
    instructions = [
        i for i in dis.get_instructions(function) if i.opname not in ("RESUME", "NOP")
    ]
    constants = [i for i in instructions if i.opname in ("LOAD_CONST", "RETURN_CONST")]
    returns_nothing = all(i.argval is None or i.argval is ... for i in constants)
    return returns_nothing and all(
        i in constants or i.opname == "RETURN_VALUE" for i in instructions
    )


def source_without_decorators(function: Callable) -> str:
    lines = textwrap.dedent(inspect.getsource(function)).rstrip().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("def "))
    return "\n".join(lines[first:])


def format_call(function: Callable, case: Case) -> str:
    names = inspect.signature(function).parameters
    return f"{function.__name__}({', '.join(f'{n}={_format(v)}' for n, v in zip(names, case, strict=False))})"


def format_outcome(outcome: Outcome) -> str:
    if outcome.error is not None:
        return f"{type(outcome.error).__name__}: {outcome.error}"
    return _format(outcome.value) + (
        ", and the arguments changed" if outcome.changed_arguments else ""
    )


def _format(value: object) -> str:
    if isinstance(value, torch.Tensor | np.ndarray):
        value = np.round(np.asarray(value), 4).tolist()
    elif isinstance(value, float):
        value = round(value, 6)
    elif isinstance(value, tuple):
        return (
            "("
            + ", ".join(map(_format, value))
            + ("," if len(value) == 1 else "")
            + ")"
        )
    elif callable(value):
        return getattr(value, "__name__", type(value).__name__)
    text = repr(value)  # not textwrap.shorten: it would make one blank of several
    return text if len(text) <= 200 else f"{text[:195]} ..."


def _has_state(value: object) -> bool:
    return callable(value) or isinstance(value, torch.Generator | random.Random)


def _is_sequence(value: object) -> bool:
    return isinstance(value, list | tuple | range) or (
        isinstance(value, np.ndarray | torch.Tensor) and value.ndim > 0
    )


def _as_array(value: object) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "iufb":
        raise TypeError(f"not numbers: {array.dtype}")
    return array.astype(np.int64) if array.size == 0 else array


def _size(case: object) -> float:
    """A measure by which simple calls come first: numbers by their size, collections by
    all they hold."""
    if isinstance(case, torch.Tensor | np.ndarray):
        return float(np.asarray(case).size)
    if isinstance(case, list | tuple):
        return len(case) + sum(map(_size, case))
    if isinstance(case, str):
        return float(len(case))
    if isinstance(case, int | float) and math.isfinite(case):
        return float(abs(case))
    return 0.0


def _show(judgment: Judgment) -> float:
    display(Markdown(judgment.message))
    return judgment.score
