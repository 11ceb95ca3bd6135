"""Say what is wrong with an answer, from the results of its calls.

The diagnosis is a usual mistake, or else a pair of slips in one way, with the same
results in all calls, or else a fact that holds in all failing calls, or what is likely.
"""

from collections.abc import Sequence
from dataclasses import replace

from course_lib.teaching.checker.calling import Outcome, format_call
from course_lib.teaching.checker.comparing import (
    A_FLOAT,
    as_integers,
    error_in_common,
    in_common,
    wrong_kind,
)
from course_lib.teaching.checker.mistakes import Mistake, WithMistakes

# An answer that fails in 2 calls does not contain a mistake that fails in 18.
SHARE_OF_A_MISTAKE = 0.8
CHANGES_ARGUMENTS = (
    "And the function changes its arguments, which its caller still needs: work on a "
    "copy."
)

KEEPS_SOMETHING = (
    "something is kept from one call to the next: a list or a dictionary that is a "
    "default argument, or a variable outside the function. Make it anew in each call. "
    "(A result that is drawn at random would look the same.)"
)
MOST_COMPARED = 12  # failing calls, of which the second one to show is chosen


def another_call(
    item: WithMistakes, got: list[Outcome], wrong: list[int]
) -> int | None:
    """Choose a second failing call, if the first leaves open what is wrong.

    It tells the most mistakes apart, of those that look alike in the first call, or of
    all if none looks like it.
    """
    first, *others = wrong[:MOST_COMPARED]

    def differs(number: int) -> bool:
        asked = item.expected[number].same_as(item.expected[first])
        return not (asked and got[number].same_as(got[first]))

    alike = [m for m in item.mistakes if _does_the_same(item, m, got, [first])]
    if len({mistake.diagnosis for mistake in alike}) == 1:
        return None

    def left(number: int) -> tuple[bool, int]:
        same = (
            mistake.diagnosis
            for mistake in alike or item.mistakes
            if _does_the_same(item, mistake, got, [number])
        )
        return len(set(same)), not differs(number)

    if item.observe is not None:  # then the arguments say nothing more
        others = filter(differs, others)
    return min(others, key=left, default=None)


def diagnose(item: WithMistakes, got: list[Outcome]) -> str | None:
    """Say what is wrong: certain causes first, then likely ones, then what is besides.
    Some of the outcomes, of all calls or of the first ones, are wrong."""
    wrong = item.wrong_calls(got)
    error = got[wrong[0]].error
    if isinstance(error, NameError):
        return (
            f"{error}. After a restart, the cells above must be run again: *Run*, "
            "*Run All Above Selected Cell*. Or is the name spelled differently where "
            "it gets its value?"
        )
    if isinstance(error, TypeError) and "not tuple" in str(error):
        return (
            "a list of lists is not an array: use one index at a time, as in "
            "`rows[i][j]`, or make it one by `np.array(rows)`."
        )
    besides = []
    if any(got[i].changed_arguments for i in wrong):
        got = [replace(outcome, changed_arguments=False) for outcome in got]
        besides = [CHANGES_ARGUMENTS]
    if not (wrong := item.wrong_calls(got)):
        return besides[0].removeprefix("And ")
    said = _recognize(item, got, wrong)
    if not said and (whole := _without_floats(item, got)):
        if not (wrong := item.wrong_calls(whole)):
            return " ".join([f"the values are right, but {A_FLOAT}", *besides])
        got, said = whole, _recognize(item, whole, wrong)
        said = said or _describe(item, whole, wrong) or A_FLOAT
        if A_FLOAT not in said:
            besides.insert(0, f"And it is {A_FLOAT}")
    said = said or _describe(item, got, wrong)
    return " ".join(filter(None, [said, *besides])).removeprefix("And ") or None


def _without_floats(item: WithMistakes, got: list[Outcome]) -> list[Outcome] | None:
    """Return the outcomes with whole floats made integers; None if there are none."""
    pairs = zip(item.expected, got, strict=False)
    whole = [replace(b, value=as_integers(a.value, b.value)) for a, b in pairs]
    changed = any(map(lambda a, b: a.value is not b.value, whole, got))
    return whole if changed else None


def _recognize(item: WithMistakes, got: list[Outcome], wrong: list[int]) -> str | None:
    """Name a mistake that does the same in all calls, or in those without errors."""
    if said := _known(item, got, range(len(got)), wrong):
        return said
    raised = [i for i in wrong if got[i].error and not item.expected[i].error]
    survived = [i for i in range(len(got)) if i not in raised]
    if not raised or len(raised) == len(wrong) or 2 * len(survived) < len(got):
        return None
    if not (said := _known(item, got, survived, wrong)):
        return None
    call = format_call(item.reference, item.cases[raised[0]])
    errors = [got[i].error for i in raised]
    error = errors[0]
    meaning = error_in_common(errors) or str(error).rstrip(".") + "."
    return f"{said} And `{call}` raises {type(error).__name__}: {meaning}"


def _known(
    item: WithMistakes, got: list[Outcome], calls: Sequence[int], wrong: list[int]
) -> str | None:
    """Return the words for the mistakes that do the same in these calls."""
    # The wrong calls come first, because most mistakes differ there.
    calls = sorted(calls, key=lambda i: i not in wrong)
    for mistake in item.mistakes:
        if _does_the_same(item, mistake, got, calls):
            return mistake.diagnosis
    pairs = [pair for pair in item.pairs if _does_the_same(item, pair, got, calls)]
    if len({frozenset(pair.words) for pair in pairs}) == 1:
        return pairs[0].diagnosis
    # A slip that all of these pairs share is certain, whichever pair it is.
    for words in pairs[0].words if pairs else ():
        if all(words in pair.words for pair in pairs):
            return f"{words} But that is not all."
    return None


def _describe(item: WithMistakes, got: list[Outcome], wrong: list[int]) -> str | None:
    """Say what all wrong results have in common, or name a mistake that is likely."""
    expected = item.expected
    error = got[wrong[0]].error
    if forgotten := _nothing_returned(expected, got, wrong):
        return forgotten
    failing = [(expected[i], got[i]) for i in wrong]
    returned = all(a.error is None and b.error is None for a, b in failing)
    results = [(a.value, b.value) for a, b in failing]
    if returned and (kind := wrong_kind(results)):
        return kind
    # A guess among several would mislead, so there must be exactly one.
    likely = {
        mistake.diagnosis
        for mistake in item.mistakes
        if _does_the_same(item, mistake, got, wrong)
        and _about_as_wrong(item, mistake, wrong)
    }
    if len(likely) == 1:
        return likely.pop()
    if returned:
        return got[wrong[0]].remark or in_common(results)
    # Only the first call is shown.
    raised = [b.error for _, b in failing if b.error is not None]
    return error_in_common(raised) if error is not None else None


def _does_the_same(
    item: WithMistakes, mistake: Mistake, got: list[Outcome], calls: Sequence[int]
) -> bool:
    return all(item.outcome_of(mistake, i).same_as(got[i]) for i in calls)


def _about_as_wrong(item: WithMistakes, mistake: Mistake, wrong: list[int]) -> bool:
    right = enumerate(item.expected)
    failing = sum(not item.outcome_of(mistake, i).same_as(one) for i, one in right)
    return len(wrong) >= 2 and len(wrong) >= SHARE_OF_A_MISTAKE * failing


def _nothing_returned(
    expected: list[Outcome], got: list[Outcome], wrong: list[int]
) -> str | None:
    if not all(got[i].error is None and got[i].value is None for i in wrong):
        return None
    if all(got[i].printed.strip() for i in wrong):
        return "the function prints its result instead of returning it."
    if any(right.error is None and right.value is None for right in expected):
        return None  # `None` is a result here, and may come from a `return`
    if len(wrong) == len(got):
        return "the function always returns `None`. Is a `return` missing?"
    return (
        "in some calls the function returns `None`, because one of its branches has no "
        "`return`."
    )
