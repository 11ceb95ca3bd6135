"""Judge a reader's function: call it on many inputs, and say which mistake it makes.

An exercise is its cases, its hints, and right ways to write it, the solution first; a
table for each way says which slips are usual in it. An answer that fails is compared
with each slip, and then with each two of them: what gives the same results, call for
call, is the diagnosis.
"""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import math
import random
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations

import numpy as np
import torch
from IPython.display import Markdown, display

from course_lib.teaching.checker.calling import Case, Outcome, run
from course_lib.teaching.checker.comparing import (
    A_FLOAT,
    as_integers,
    error_in_common,
    in_common,
    wrong_kind,
)
from course_lib.teaching.checker.messages import (
    FAILED,
    NOT_ATTEMPTED,
    PASSED,
    RAISED,
    Judgment,
    Score,
    report,
)
from course_lib.teaching.checker.processes import Stopped, Watch
from course_lib.teaching.checker.running import CALL_SECONDS, limited
from course_lib.teaching.checker.slips import (
    Slip,
    Way,
    Written,
    rows_of,
    with_words_in_full,
)
from course_lib.teaching.checker.writing import format_call, format_outcome

LONGEST_PRINT = 500  # characters
# A mistake that agrees on the failing calls alone must fail in about as few as the
# answer does: who fails in 2 calls has not made a mistake that fails in 18.
SHARE_OF_A_MISTAKE = 0.8
LARGE = 100_000  # a number that is too large for a loop, if a call did not end
CHANGES_ARGUMENTS = (
    "And the function changes its arguments. Whoever called it still needs them: work "
    "on a copy."
)

Cases = Callable[[random.Random], Iterable[Case]]


@dataclass(frozen=True, eq=False)  # each is itself alone, and found fast
class Mistake:
    """A wrong answer with a name, and what to tell whoever gives it."""

    name: str
    function: Callable
    diagnosis: str
    slips: tuple[str, ...] = ()  # the words for each, where it is made of several


class Solved:
    """What has a reference solution, hints and known mistakes."""

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
            self.functions.append(Mistake(function.__name__, function, diagnosis))
            return function

        return register

    def answers(self, table: str) -> None:
        """Register wrong answers that are expressions of the parameters: `slips` says
        how their table is written."""
        self.tables.append(table)

    @cached_property
    def mistakes(self) -> list[Mistake]:
        """All single mistakes."""
        known = [mistake.diagnosis for mistake in self.functions]
        return [*self.functions, *self._expressions(known)]

    def _expressions(self, known: list[str]) -> list[Mistake]:
        parameters = ", ".join(inspect.signature(self.reference).parameters)
        rows = [row for table in self.tables for row in rows_of(table)]
        return [
            Mistake(code, Written(code, self.reference, parameters), words)
            for code, words in with_words_in_full(rows, known)
        ]

    def hint(self, number: int = 1) -> None:
        """Display a hint; the later ones say more."""
        count = len(self.hints)
        if number not in range(1, count + 1):
            display(Markdown(f"There are {count} hints: `hint(1)` to `hint({count})`."))
            return
        more = f" *(`hint({number + 1})` says more.)*" if number < count else ""
        display(Markdown(f"**Hint {number}.** {self.hints[number - 1]}{more}"))


class Exercise(Solved):
    """A function to write; see `exercise`."""

    def __init__(self, solution: Callable, cases: Cases, hints: tuple[str, ...]):
        super().__init__(solution, hints)
        self.ways = [Way(solution, "")]
        self._make_cases = cases
        self._seed = 0
        self._mistaken: dict[Mistake, dict[int, Outcome]] = {}

    def slips(self, table: str) -> None:
        """Register what may go wrong in the solution: `slips` says how the table is
        written."""
        self.ways[0].table = table

    def way(self, table: str = "") -> Callable[[Callable], Callable]:
        """Register the decorated function as another right way, with its own slips."""

        def register(function: Callable) -> Callable:
            self.ways.append(Way(function, table))
            return function

        return register

    @cached_property
    def slips_by_way(self) -> list[tuple[Way, list[Slip]]]:
        """The slips in each way."""
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
        known = [mistake.diagnosis for mistake in (*self.functions, *slipped)]
        return [*self.functions, *slipped, *self._expressions(known)]

    @cached_property
    def pairs(self) -> list[Mistake]:
        """Each two slips in a way that fit together."""
        return [
            self._slipped(way, *pair)
            for way, slips in self.slips_by_way
            for pair in combinations(slips, 2)
            if pair[0].fits(pair[1])
        ]

    def _slipped(self, way: Way, *slips: Slip) -> Mistake:
        words = tuple(slip.words for slip in slips)
        diagnosis = words[0]
        if len(words) > 1:
            diagnosis = "two slips at once. " + " ".join(
                f"({number}) {said[0].upper()}{said[1:]}"
                for number, said in enumerate(words, 1)
            )
        name = f"{way.function.__name__}, {' and '.join(slip.code for slip in slips)}"
        function = Written(way.with_slips(*slips), way.function)
        return Mistake(name, function, diagnosis, words)

    @cached_property
    def cases(self) -> list[Case]:
        """All calls, the same ones each time, the smallest first: so the first failure
        is the smallest."""
        return sorted(self._make_cases(random.Random(self._seed)), key=size_of)

    @cached_property
    def expected(self) -> list[Outcome]:
        """What the reference solution does with each of the cases."""
        return [run(self.reference, case) for case in self.cases]

    def outcome_of(self, mistake: Mistake, number: int) -> Outcome:
        """What a mistake does with one of the cases; it is called only once."""
        outcomes = self._mistaken.setdefault(mistake, {})
        if number not in outcomes:
            outcomes[number] = run(mistake.function, self.cases[number])
        return outcomes[number]

    def drawn_from(self, seed: int) -> Exercise:
        """This exercise, on calls drawn from another seed: for hidden tests."""
        other = copy.copy(self)
        for cached in ("cases", "expected"):
            vars(other).pop(cached, None)
        other._seed, other._mistaken = seed, {}
        return other

    @property
    def solution_source(self) -> str:
        return source_without_decorators(self.reference)

    @property
    def stub(self) -> str:
        """The reference solution without its body: what stands in the notebook."""
        (function,) = ast.parse(self.solution_source).body
        # up to the end of the docstring
        head = self.solution_source.splitlines()[: function.body[0].end_lineno]
        return "\n".join([*head, "    ..."])

    def check(self, answer: object, *, seed: int = 0) -> Score:
        """Judge `answer`, and return 1.0 if it passed, else 0.0; a notebook shows
        why. Another seed draws other calls."""
        judgment = self.judge(answer, seed=seed)
        self.last_outcome = judgment.outcome
        return report(judgment)

    def solution(self) -> None:
        """Display the reference solution, and which names of earlier cells it uses."""
        needed = names_from_elsewhere(self.reference)
        needs = ""
        if needed:
            names = ", ".join(f"`{name}`" for name in needed)
            needs = f"\n\nIt uses {names}, imported or defined in cells above."
        display(Markdown(f"```python\n{self.solution_source}\n```{needs}"))

    def judge(self, answer: object, *, guarded: bool = True, seed: int = 0) -> Judgment:
        """Judge `answer` without displaying anything.

        Args:
            answer: the reader's function.
            guarded: call it in a process of its own, with limits; without, for answers
                that are known to end.
            seed: draws the calls; notebooks have 0, hidden tests another one.
        """
        if seed != self._seed:
            return self.drawn_from(seed).judge(answer, guarded=guarded, seed=seed)
        if refusal := self.refusal(answer):
            return refusal
        if not guarded:
            return self.judge_outcomes(self.call_all(answer, Watch()))
        _ = self.expected  # here, so that the next check has it, too
        found = limited(partial(self._judge_calls, answer, None))
        if isinstance(found, Stopped) and found.call > 0:
            # What it returned before is lost with its process.
            again = limited(partial(self._judge_calls, answer, found))
            found = found if isinstance(again, Stopped) else again
        return self._stopped(found) if isinstance(found, Stopped) else found

    def _judge_calls(
        self, answer: Callable, stopped: Stopped | None, watch: Watch
    ) -> Judgment | Stopped:
        """Call an answer and judge it; up to the call in which it has been stopped."""
        got = self.call_all(answer, watch, stopped and stopped.call)
        if isinstance(got, Stopped):
            return got
        return (
            self.judge_outcomes(got) if stopped is None else self._stopped(stopped, got)
        )

    def refusal(self, answer: object) -> Judgment | None:
        """What is said of an answer that cannot be called at all; else None."""
        if answer is ... or answer is None or is_stub(answer):
            return self._not_attempted()
        if not callable(answer):
            message = (
                f"**Failed.** Pass the function `{self.name}` itself, not what it "
                "returns."
            )
            return Judgment(FAILED, 0.0, message)
        if complaint := self._wrong_signature(answer):
            return Judgment(FAILED, 0.0, f"**Failed.** {complaint}", complaint)
        return None

    def call_all(
        self, answer: Callable, watch: Watch, until: int | None = None
    ) -> list[Outcome] | Stopped:
        """Call an answer with every case, or with so many. That may be done in one
        process, and judged in another."""
        got = []
        for number, case in enumerate(self.cases[:until]):
            watch.begin(number)
            got.append(run(answer, case))
            watch.end()
            if isinstance(got[-1].error, MemoryError):
                return Stopped("memory", number)
        return got

    def judge_outcomes(self, got: list[Outcome] | Stopped) -> Judgment:
        """Judge what came of the calls, one outcome a case."""
        if isinstance(got, Stopped):
            return self._stopped(got)
        if any(isinstance(outcome.error, NotImplementedError) for outcome in got):
            return self._not_attempted()
        if wrong := self._wrong(got):
            return self._explain(got, wrong)
        message = f"**Passed.** `{self.name}` is right in all {len(got)} calls."
        return Judgment(PASSED, 1.0, message)

    def _wrong(self, got: list[Outcome]) -> list[int]:
        """The numbers of the calls that went wrong, of all or of the first ones."""
        pairs = enumerate(zip(self.expected, got, strict=False))
        return [i for i, (right, outcome) in pairs if not right.same_as(outcome)]

    def _explain(self, got: list[Outcome], wrong: list[int]) -> Judgment:
        first = wrong[0]
        facts = [
            format_call(self.reference, self.cases[first]),
            f"expected  {format_outcome(self.expected[first])}",
            f"got       {format_outcome(got[first])}",
        ]
        if got[first].place:
            facts.append(f"at        {got[first].place}")
        if printed := got[first].printed.rstrip()[:LONGEST_PRINT]:
            facts.append("printed   " + textwrap.indent(printed, " " * 10).lstrip())
        outcome = RAISED if got[first].error is not None else FAILED
        message = (
            f"**{outcome.capitalize()}** in {len(wrong)} of {len(got)} calls. The "
            "smallest of them:\n\n```text\n" + "\n".join(facts) + "\n```\n"
        )
        diagnosis = self._diagnose(got, wrong)
        if diagnosis:
            message += f"\n**Looks like:** {diagnosis}"
        else:
            message += f"\n`exercises.{self.name}.hint()` may help."
        return Judgment(outcome, 0.0, message, diagnosis)

    def _diagnose(self, got: list[Outcome], wrong: list[int]) -> str | None:
        """Say what is wrong, from what is certain to what is only likely; and last what
        is wrong besides the values."""
        error = got[wrong[0]].error
        if isinstance(error, NameError):
            return (
                f"{error}. After a restart the cells above must be run again: *Run*, "
                "*Run All Above Selected Cell*. Or is the name spelled in another way "
                "than where it was given its value?"
            )
        if isinstance(error, TypeError) and "not tuple" in str(error):
            return (
                "a list of lists is no array: one index at a time, as in "
                "`rows[i][j]`, or `np.array(rows)` first."
            )
        besides = []
        if any(got[i].changed_arguments for i in wrong):
            got = [replace(outcome, changed_arguments=False) for outcome in got]
            besides = [CHANGES_ARGUMENTS]
        if not (wrong := self._wrong(got)):
            return besides[0].removeprefix("And ")
        said = self._recognize(got, wrong)
        if not said and (whole := self._without_floats(got)):
            if not (wrong := self._wrong(whole)):
                return " ".join([f"the values are right, but {A_FLOAT}", *besides])
            got, said = whole, self._recognize(whole, wrong)
            said = said or self._describe(whole, wrong) or A_FLOAT
            if A_FLOAT not in said:
                besides.insert(0, f"And it is {A_FLOAT}")
        said = said or self._describe(got, wrong)
        return " ".join(filter(None, [said, *besides])).removeprefix("And ") or None

    def _without_floats(self, got: list[Outcome]) -> list[Outcome] | None:
        """The outcomes with integers for whole floats; None if there are none."""
        pairs = zip(self.expected, got, strict=False)
        whole = [replace(b, value=as_integers(a.value, b.value)) for a, b in pairs]
        changed = any(map(lambda a, b: a.value is not b.value, whole, got))
        return whole if changed else None

    def _recognize(self, got: list[Outcome], wrong: list[int]) -> str | None:
        """A known mistake that does the same in all calls; or else in all that did not
        raise, some of which are wrong."""
        expected = self.expected
        if said := self._known(got, range(len(got)), wrong):
            return said
        raised = [i for i in wrong if got[i].error and not expected[i].error]
        survived = [i for i in range(len(got)) if i not in raised]
        if not raised or len(raised) == len(wrong) or 2 * len(survived) < len(got):
            return None
        if not (said := self._known(got, survived, wrong)):
            return None
        call = format_call(self.reference, self.cases[raised[0]])
        error = got[raised[0]].error
        meaning = (
            error_in_common([got[i].error for i in raised])
            or f"{error}".rstrip(".") + "."
        )
        return f"{said} And `{call}` raises {type(error).__name__}: {meaning}"

    def _known(
        self, got: list[Outcome], calls: Sequence[int], wrong: list[int]
    ) -> str | None:
        """What is said of the mistakes that do the same in these calls."""
        # Those calls first that the answer has wrong: most mistakes differ there.
        calls = sorted(calls, key=lambda i: i not in wrong)
        for mistake in self.mistakes:
            if self._does_the_same(mistake, got, calls):
                return mistake.diagnosis
        pairs = [pair for pair in self.pairs if self._does_the_same(pair, got, calls)]
        if len({frozenset(pair.slips) for pair in pairs}) == 1:
            return pairs[0].diagnosis
        # What all of them have in common is there, whichever it is.
        common = [
            words
            for words in (pairs[0].slips if pairs else ())
            if all(words in pair.slips for pair in pairs)
        ]
        return f"{common[0]} But that is not all." if common else None

    def _describe(self, got: list[Outcome], wrong: list[int]) -> str | None:
        """What all that is wrong has in common, or a mistake that is likely."""
        expected = self.expected
        error = got[wrong[0]].error
        if forgotten := _nothing_returned(expected, got, wrong):
            return forgotten
        failing = [(expected[i], got[i]) for i in wrong]
        returned = all(a.error is None and b.error is None for a, b in failing)
        results = [(a.value, b.value) for a, b in failing]
        if returned and (kind := wrong_kind(results)):
            return kind
        # A guess among several would mislead: it must be one alone.
        likely = {
            mistake.diagnosis
            for mistake in self.mistakes
            if self._does_the_same(mistake, got, wrong)
            and self._about_as_wrong(mistake, wrong)
        }
        if len(likely) == 1:
            return likely.pop()
        if returned:
            return in_common(results)
        # The first call is the one that is shown.
        raised = [b.error for _, b in failing if b.error is not None]
        return error_in_common(raised) if error is not None else None

    def _does_the_same(
        self, mistake: Mistake, got: list[Outcome], calls: Sequence[int]
    ) -> bool:
        return all(self.outcome_of(mistake, i).same_as(got[i]) for i in calls)

    def _about_as_wrong(self, mistake: Mistake, wrong: list[int]) -> bool:
        right = enumerate(self.expected)
        failing = sum(not self.outcome_of(mistake, i).same_as(one) for i, one in right)
        return len(wrong) >= 2 and len(wrong) >= SHARE_OF_A_MISTAKE * failing

    def _wrong_signature(self, answer: Callable) -> str | None:
        try:
            parameters = inspect.signature(answer)
        except (TypeError, ValueError):  # some built-in functions do not tell
            return None
        wanted = list(inspect.signature(self.reference).parameters)
        try:
            parameters.bind(*self.cases[0])
        except TypeError:
            return (
                f"`{self.name}` is called with {len(wanted)} arguments, "
                f"`{', '.join(wanted)}`, but this one is defined as "
                f"`{getattr(answer, '__name__', self.name)}{parameters}`."
            )
        return None

    def _stopped(self, stopped: Stopped, got: Sequence[Outcome] = ()) -> Judgment:
        """Judge an answer that was stopped, by what it returned before, if that is
        known."""
        cases = self.cases
        where, size = "", 0.0
        if 0 <= stopped.call < len(cases):
            call = format_call(self.reference, cases[stopped.call])
            where, size = f"\n\n```text\n{call}\n```\n", largest_in(cases[stopped.call])
        loops = "Does its loop come nearer to its end in every round?"
        if size >= LARGE:
            loops = f"A loop of {size:,.0f} rounds is too slow: is there a shorter way?"
        what = {
            "endless": f"The call below did not end within {CALL_SECONDS} seconds of "
            f"computing, and was stopped. {loops}",
            "memory": (
                "The call below took all the memory it could get, and was stopped. "
                "Does something grow in every round?"
            ),
            "waits": "The call below waits for something that does not come, and was "
            "stopped.",
        }.get(stopped.reason, f"The call below ended its process: {stopped.reason}.")
        if wrong := self._wrong(got):
            judgment = self._explain(got, wrong)
            said = " ".join(filter(None, [judgment.diagnosis, f"Besides: {what}"]))
            message = f"{judgment.message}\n\n**Besides:** {what}{where}"
            return replace(judgment, message=message, diagnosis=said)
        if got:
            what = f"Right so far, in {len(got)} calls. {what}"
        return Judgment(RAISED, 0.0, f"**Raised.** {what}{where}", what)

    def _not_attempted(self) -> Judgment:
        message = (
            f"**Not attempted.** Replace the `...` in `{self.name}`, then run the cell "
            "again."
        )
        return Judgment(NOT_ATTEMPTED, 0.0, message)


def exercise(*, cases: Cases, hints: tuple[str, ...]) -> Callable[[Callable], Exercise]:
    """Make the decorated function the reference solution of an `Exercise` of its name.

    Args:
        cases: yields the arguments of each call; it gets a random number generator of
            fixed seed.
        hints: from vague to almost told.
    """
    return lambda solution: Exercise(solution, cases, hints)


def _nothing_returned(
    expected: list[Outcome], got: list[Outcome], wrong: list[int]
) -> str | None:
    nothing = [got[i].error is None and got[i].value is None for i in wrong]
    if not all(nothing):
        return None
    if all(got[i].printed.strip() for i in wrong):
        return "the function prints its result instead of returning it."
    if any(right.error is None and right.value is None for right in expected):
        return None  # `None` is a result here, and may come from a `return`
    if len(wrong) == len(got):
        return "the function always returns `None`. Is a `return` missing?"
    return (
        "in some calls the function returns `None`: on one of its ways there is no "
        "`return`."
    )


def is_stub(function: object) -> bool:
    """Whether a function, as it is written, does nothing; one whose source is not known
    does something, and so does a `lambda`."""
    if not inspect.isfunction(function):
        return False
    try:
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, SyntaxError):
        return False
    plain = isinstance(definition, ast.FunctionDef) and not definition.decorator_list
    return plain and all(
        isinstance(node, ast.Pass)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or ast.unparse(node) in ("return", "return None", "return ...")
        for node in definition.body
    )


def source_without_decorators(function: Callable) -> str:
    lines = textwrap.dedent(inspect.getsource(function)).rstrip().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("def "))
    return "\n".join(lines[first:])


def names_from_elsewhere(function: Callable) -> list[str]:
    """The global names that a function uses, those of Python itself left out."""
    # Not `inspect.getclosurevars`: it does not look into inner functions.
    tree = ast.parse(source_without_decorators(function))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    known = function.__globals__
    return sorted(n for n in used if n in known and not hasattr(builtins, n))


def largest_in(case: object) -> float:
    """The largest number in the arguments of a call."""
    if isinstance(case, list | tuple):
        return max(map(largest_in, case), default=0.0)
    return size_of(case) if isinstance(case, int | float) else 0.0


def size_of(case: object) -> float:
    """A measure by which simple calls come first: numbers by their size, collections by
    all they hold."""
    if isinstance(case, torch.Tensor | np.ndarray):
        return float(np.asarray(case).size)
    if isinstance(case, list | tuple):
        return len(case) + sum(map(size_of, case))
    if isinstance(case, str):
        return float(len(case))
    if isinstance(case, int | float) and math.isfinite(case):
        return float(abs(case))
    return 0.0
