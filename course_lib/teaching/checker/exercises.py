"""Judge a reader's function by calling it on many inputs, and say what is wrong."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from IPython.display import Markdown, display

from course_lib.teaching.checker import messages
from course_lib.teaching.checker.calling import (
    Observe,
    Outcome,
    format_call,
    format_outcome,
    kept_apart,
    run,
)
from course_lib.teaching.checker.diagnosing import (
    KEEPS_SOMETHING,
    another_call,
    diagnose,
)
from course_lib.teaching.checker.messages import FAILED, RAISED, Judgment, Score
from course_lib.teaching.checker.mistakes import Cases, WithMistakes, size_of
from course_lib.teaching.checker.processes import Stopped, Watch
from course_lib.teaching.checker.running import CALL_SECONDS, limited
from course_lib.teaching.checker.sources import (
    is_stub,
    names_from_elsewhere,
    source_without_decorators,
)

LONGEST_PRINT = 500  # characters
LARGE = 100_000  # rounds; if a call did not end, so many are too slow
ASKED_AGAIN = 5  # calls, the smallest, to see whether an answer keeps something


class Exercise(WithMistakes):
    """A function to write; see `exercise`."""

    @property
    def solution_source(self) -> str:
        return source_without_decorators(self.reference)

    @property
    def stub(self) -> str:
        """The reference solution without its body, as it is in the notebook."""
        (function,) = ast.parse(self.solution_source).body
        docstring = function.body[0]
        head = self.solution_source.splitlines()[: docstring.end_lineno]
        return "\n".join([*head, "    ..."])

    def check(self, answer: object, *, seed: int = 0) -> Score:
        """Return 1.0 if `answer` passes, else 0.0, and show why; a seed draws calls."""
        return messages.report(self, self.judge(answer, seed=seed))

    def solution(self) -> None:
        """Display the reference solution, and which names of earlier cells it uses."""
        shown = f"```python\n{self.solution_source}\n```"
        if needed := names_from_elsewhere(self.reference):
            names = ", ".join(f"`{name}`" for name in needed)
            shown += f"\n\nIt uses {names}, imported or defined in cells above."
        display(Markdown(shown))

    def judge(self, answer: object, *, guarded: bool = True, seed: int = 0) -> Judgment:
        """Judge `answer` without displaying anything.

        Args:
            answer: the reader's function.
            guarded: whether to call it in a process of its own, with limits.
            seed: draws the calls. Notebooks use 0, and hidden tests use another seed.
        """
        if seed != self._seed:
            return self.drawn_from(seed).judge(answer, guarded=guarded, seed=seed)
        if refusal := self.refusal(answer):
            return refusal
        if not guarded:
            return self.judge_outcomes(self.call_all(answer, Watch()))
        _ = self.expected  # computed here, so that the next check also has it
        if self.last_outcome in (FAILED, RAISED):  # then this check may fail again
            self.compile()
        judge = partial(self._judge_calls, answer)
        found = with_what_came_before(lambda stopped: limited(partial(judge, stopped)))
        judgment = self.judge_outcomes(found) if isinstance(found, Stopped) else found
        return self._asked_alone(answer, judgment)

    def _asked_alone(self, answer: Callable, judgment: Judgment) -> Judgment:
        """Ask the failing call again, as the first one of a new process: an answer that
        keeps something from call to call is right then."""
        if judgment.failing is None:
            return judgment
        number, shown = judgment.failing

        def is_right(watch: Watch) -> bool:
            watch.begin(number)
            outcome = run(answer, self.cases[number], self.observe)
            watch.end()
            return self.expected[number].same_as(outcome)

        if limited(is_right) is not True:
            return judgment
        message = (
            "**Failed.** This call is right when it is the first one, and not after "
            f"others:\n\n{shown}\n\n**Looks like:** {KEEPS_SOMETHING}"
        )
        return Judgment(FAILED, 0.0, message, KEEPS_SOMETHING)

    def _judge_calls(
        self, answer: Callable, stopped: Stopped | None, watch: Watch
    ) -> Judgment | Stopped:
        got = self.call_all(answer, watch, stopped)
        return got if isinstance(got, Stopped) else self.judge_outcomes(got, stopped)

    def refusal(self, answer: object) -> Judgment | None:
        """Return the judgment of an answer that cannot be called at all, or None."""
        if answer is ... or answer is None or is_stub(answer):
            return self._not_attempted()
        if not callable(answer):
            words = f"Pass the function `{self.name}` itself, not its result."
            return Judgment(FAILED, 0.0, f"**Failed.** {words}")
        if complaint := self._wrong_signature(answer):
            return Judgment(FAILED, 0.0, f"**Failed.** {complaint}", complaint)
        return None

    def call_all(
        self, answer: Callable, watch: Watch, stopped: Stopped | None = None
    ) -> list[Outcome] | Stopped:
        """Call an answer with every case, or up to the one in which it was stopped.

        Then ask some calls again, in another order, because an answer may keep
        something from one call to the next.
        """
        given, got = [], []
        for number, case in enumerate(self.cases[: stopped and stopped.call]):
            watch.begin(number)
            given.append(run(answer, case, self.observe))
            watch.end()
            got.append(kept_apart(given[-1]))
            if isinstance(given[-1].error, MemoryError):
                return Stopped("memory", number)
        for number in reversed(range(0 if stopped else min(ASKED_AGAIN, len(got)))):
            watch.begin(number)
            later = run(answer, self.cases[number], self.observe)
            watch.end()
            if not got[number].same_as(later):
                got[number] = replace(got[number], later=kept_apart(later))
        # One list that is given out again and again changes what was given before.
        return [
            one if one.same_as(now) else replace(one, later=now)
            for one, now in zip(got, given, strict=True)
        ]

    def judge_outcomes(
        self, got: list[Outcome] | Stopped, stopped: Stopped | None = None
    ) -> Judgment:
        """Judge the outcomes of all calls, or of those before it was stopped."""
        if isinstance(got, Stopped):
            return self._stopped(got)
        if stopped is not None:
            return self._stopped(stopped, got)
        if any(isinstance(outcome.error, NotImplementedError) for outcome in got):
            return self._not_attempted()
        unsteady = [number for number, outcome in enumerate(got) if outcome.later]
        if unsteady:
            return self._tell_unsteady(unsteady[0], got[unsteady[0]])
        if wrong := self.wrong_calls(got):
            return self._explain(got, wrong)
        message = f"**Passed.** `{self.name}` is right in all {len(got)} calls."
        return Judgment(messages.PASSED, 1.0, message)

    def _explain(self, got: list[Outcome], wrong: list[int]) -> Judgment:
        first = wrong[0]
        outcome = RAISED if got[first].error is not None else FAILED
        shown = self._shown(first, got[first])
        message = (
            f"**{outcome.capitalize()}** in {len(wrong)} of {len(got)} calls. The "
            f"smallest of them:\n\n{shown}\n"
        )
        if (second := another_call(self, got, wrong)) is not None:
            other = replace(got[second], printed="")
            message += f"\nAnother one:\n\n{self._shown(second, other)}\n"
        diagnosis = diagnose(self, got)
        hint = f"`exercises.{self.name}.hint()` may help."
        message += f"\n**Looks like:** {diagnosis}" if diagnosis else f"\n{hint}"
        return Judgment(outcome, 0.0, message, diagnosis, (first, shown))

    def _shown(self, number: int, outcome: Outcome) -> str:
        """Write a call, what was expected, and what came instead."""
        facts = [
            format_call(self.reference, self.cases[number]),
            f"expected  {format_outcome(self.expected[number])}",
            f"got       {format_outcome(outcome)}",
        ]
        if outcome.later is not None:
            facts.append(f"later     {format_outcome(outcome.later)}")
        if outcome.place:
            facts.append(f"at        {outcome.place}")
        if printed := outcome.printed.rstrip()[:LONGEST_PRINT]:
            facts.append("printed   " + textwrap.indent(printed, " " * 10).lstrip())
        return "```text\n" + "\n".join(facts) + "\n```"

    def _tell_unsteady(self, number: int, outcome: Outcome) -> Judgment:
        message = (
            "**Failed.** The same call has two results, one of them after other calls:"
            f"\n\n{self._shown(number, outcome)}\n\n**Looks like:** {KEEPS_SOMETHING}"
        )
        return Judgment(FAILED, 0.0, message, KEEPS_SOMETHING)

    def _wrong_signature(self, answer: Callable) -> str | None:
        try:
            parameters = inspect.signature(answer)
        except (TypeError, ValueError):  # some built-in functions have no signature
            return None
        wanted = list(inspect.signature(self.reference).parameters)
        try:
            parameters.bind(*self.cases[0])
            return None
        except TypeError:
            return (
                f"`{self.name}` is called with {len(wanted)} arguments, "
                f"`{', '.join(wanted)}`, but this one is defined as "
                f"`{getattr(answer, '__name__', self.name)}{parameters}`."
            )

    def _stopped(self, stopped: Stopped, got: Sequence[Outcome] = ()) -> Judgment:
        """Judge an answer that was stopped, also by its earlier results if known."""
        where, size = "", 0.0
        if 0 <= stopped.call < len(self.cases):
            case = self.cases[stopped.call]
            call = format_call(self.reference, case)
            where, size = f"\n\n```text\n{call}\n```\n", largest_in(case)
        loops = "Does its loop get closer to its end in every round?"
        if size >= LARGE:
            loops = f"A loop of {size:,.0f} rounds is too slow: is there a shorter way?"
        what = {
            "endless": f"did not end within {CALL_SECONDS} seconds of computing, and "
            f"was stopped. {loops}",
            "memory": "took all the memory it could get, and was stopped. Does "
            "something grow in every round?",
            "waits": "waits for something that does not come, and was stopped.",
        }.get(stopped.reason, f"ended its process: {stopped.reason}.")
        what = f"The call below {what}"
        if wrong := self.wrong_calls(got):
            judgment = self._explain(got, wrong)
            said = " ".join(filter(None, [judgment.diagnosis, f"Besides: {what}"]))
            message = f"{judgment.message}\n\n**Besides:** {what}{where}"
            return replace(judgment, message=message, diagnosis=said)
        if got:
            what = f"Right so far, in {len(got)} calls. {what}"
        return Judgment(RAISED, 0.0, f"**Raised.** {what}{where}", what)

    def _not_attempted(self) -> Judgment:
        todo = f"Replace the `...` in `{self.name}`, then run the cell again."
        message = f"**Not attempted.** {todo}"
        return Judgment(messages.NOT_ATTEMPTED, 0.0, message)


def exercise(
    *, cases: Cases, hints: tuple[str, ...], observe: Observe | None = None
) -> Callable[[Callable], Exercise]:
    """Make the decorated function the reference solution of an `Exercise` of its name.

    Args:
        cases: yields the arguments of each call, from a seeded random number generator.
        hints: hints, from vague ones to one that almost gives the answer.
        observe: where many results are right, what is compared instead. It calls an
            answer with the arguments of a case, and returns what the result does, and
            the same in words, which are the diagnosis if no mistake is known.
    """
    return lambda solution: Exercise(solution, cases, hints, observe)


def with_what_came_before(go: Callable[[Stopped | None], object]) -> object:
    """Run an answer by `go`, and if it is stopped, run it again up to that call.

    The second run is told where the first one was stopped, and recovers the results of
    the calls before. Return what is found, or the first `Stopped`.
    """
    found = go(None)
    if isinstance(found, Stopped) and found.call > 0:
        again = go(found)
        return found if isinstance(again, Stopped) else again
    return found


def largest_in(case: object) -> float:
    if isinstance(case, list | tuple):
        return max(map(largest_in, case), default=0.0)
    return size_of(case) if isinstance(case, int | float) else 0.0
