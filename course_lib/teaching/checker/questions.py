"""Questions with two answers, which calls settle: is this a bug, is this claim true?"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from IPython.display import Markdown, display

from course_lib.teaching.checker import messages
from course_lib.teaching.checker.calls import (
    Case,
    Outcome,
    format_call,
    format_outcome,
    run,
    size_of,
)
from course_lib.teaching.checker.exercises import (
    Cases,
    source_without_decorators,
)
from course_lib.teaching.checker.messages import FAILED, PASSED, Judgment, Score

BUG, NOT_A_BUG, TRUE, FALSE = "bug", "not a bug", "true", "false"
TRY_IT = (
    "Call `exercises.{}.snippet(...)` on small arguments, and compare what it returns "
    "with what you work out by hand."
)


@dataclass(eq=False, repr=False)
class Question:
    """A snippet or a claim, whose calls settle whether it agrees with a reference."""

    snippet: Callable
    reference: Callable
    make_cases: Cases
    statement: str
    explanation: str
    agrees: str  # the verdict that holds if the calls agree
    last_outcome: str = messages.NOT_ATTEMPTED
    saw_solution: bool = False  # before it was judged right

    def __post_init__(self):
        self.name = self.snippet.__name__
        self.verdicts = (TRUE, FALSE) if self.agrees == TRUE else (BUG, NOT_A_BUG)
        (self.differs,) = set(self.verdicts) - {self.agrees}

    @cached_property
    def cases(self) -> list[Case]:
        return sorted(self.make_cases(random.Random(0)), key=size_of)

    @cached_property
    def evidence(self) -> tuple[Case, Outcome, Outcome] | None:
        """The smallest call with different outcomes, and those, if there is one."""
        for case in self.cases:
            expected, got = run(self.reference, case), run(self.snippet, case)
            if not expected.same_as(got):
                return case, expected, got
        return None

    @property
    def truth(self) -> str:
        return self.agrees if self.evidence is None else self.differs

    @property
    def solution_source(self) -> str:
        return f'{self.name} = "{self.truth}"'

    @property
    def stub(self) -> str:
        one, other = self.verdicts
        return f'{self.name} = ...  # "{one}" or "{other}"?'

    def show(self) -> None:
        """Display the claim, or the code and its purpose."""
        text = f"**Claim.** {self.statement}"
        if self.agrees != TRUE:
            code = source_without_decorators(self.snippet)
            text = f"**What it is meant to do.** {self.statement}"
            text += f"\n\n```python\n{code}\n```"
        display(Markdown(text))

    def check(self, verdict: object) -> Score:
        """Return 1.0 if the verdict agrees with the evidence, else 0.0."""
        return messages.report(self, self.judge(verdict))

    def hint(self, number: int = 1) -> None:
        """Display a way to find the answer."""
        display(Markdown(f"**Hint.** {TRY_IT.format(self.name)}"))

    def solution(self) -> None:
        """Display the verdict, the evidence and the reason."""
        self.saw_solution |= self.last_outcome != PASSED
        parts = (f"`{self.solution_source}`", self._evidence_text(), self.explanation)
        display(Markdown("\n\n".join(parts)))

    def judge(self, verdict: object, *, guarded: bool = True) -> Judgment:
        one, other = self.verdicts
        if verdict is ... or verdict is None:
            message = f'**Not attempted.** Set `{self.name}` to "{one}" or "{other}".'
            return Judgment(messages.NOT_ATTEMPTED, 0.0, message)
        given = " ".join(str(verdict).lower().split())
        if given not in (one, other):
            words = f'The answer is "{one}" or "{other}", not {verdict!r}.'
            return Judgment(FAILED, 0.0, f"**Failed.** {words}")
        is_so = {BUG: "It is a bug.", NOT_A_BUG: "It is not a bug."}
        words = is_so.get(self.truth, f"The claim is {self.truth}.")
        words = f"{words} {self._evidence_text()}"
        if given == self.truth:
            message = f"**Passed.** {words}\n\n{self.explanation}"
            return Judgment(PASSED, 1.0, message)
        more = f"`exercises.{self.name}.solution()` says why."
        message = f"**Failed.** {words}\n\n{more}"
        return Judgment(FAILED, 0.0, message, f"answered {given!r}.")

    def _evidence_text(self) -> str:
        claim = self.agrees == TRUE
        if self.evidence is None:
            calls = f"in all {len(self.cases)} calls that we tried."
            return f"{'It holds' if claim else 'It is right'} {calls}"
        case, expected, got = self.evidence
        wanted, given = ("in fact", "claimed") if claim else ("should give", "gives")
        facts = [
            format_call(self.snippet, case),
            f"{wanted:<13}{format_outcome(expected)}",
            f"{given:<13}{format_outcome(got)}",
        ]
        return "For example:\n\n```text\n" + "\n".join(facts) + "\n```"


def bug_or_not(
    *, purpose: str = "", reference: Callable, cases: Cases, explanation: str
) -> Callable[[Callable], Question]:
    """Make the decorated function a question: is it a bug?

    Args:
        purpose: what the code is meant to do, because otherwise nothing could be a bug.
        reference: a function that does what is meant.
        cases: yields the arguments of the calls that settle the question.
        explanation: shown after a right answer, and with the solution.
    """
    rest = reference, cases, purpose, explanation, NOT_A_BUG
    return lambda snippet: Question(snippet, *rest)


def true_or_false(
    *, claim: str, reference: Callable, cases: Cases, explanation: str
) -> Callable[[Callable], Question]:
    """Make the decorated function, which computes what a claim predicts, a question: is
    the claim true? The rest is as in `bug_or_not`."""
    rest = reference, cases, claim, explanation, TRUE
    return lambda prediction: Question(prediction, *rest)
