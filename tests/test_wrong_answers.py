"""What the checkers say to wrong answers: each slip in each right way, each two of them, and answers
of other kinds that a class gives.

python tests/test_wrong_answers.py              the table: ways, slips, pairs and what they are told, by exercise
python tests/test_wrong_answers.py bpe --all    of one lesson, with the pairs that are not told what they are
"""

from __future__ import annotations

import argparse
import ast
import builtins
import importlib
import inspect
import pkgutil
import random
from collections import Counter
from functools import cache
from unittest import mock

import numpy as np
import pytest
import torch

import course_lib.exercises
from course_lib.teaching.checker import NOT_ATTEMPTED, PASSED, Exercise, Judgment, Outcome, running
from course_lib.teaching.checker.mistakes import Mistake, WithSolution
from course_lib.teaching.checker.slips import FromSource
from wrong_answers import RIGHT, WRONG, Answer, answers_of

LESSONS = sorted(m.name for m in pkgutil.iter_modules(course_lib.exercises.__path__) if not m.ispkg)
FEWEST_WRONG_ANSWERS = 8  # an exercise
SHARE_OF_DIAGNOSED = 0.9
# What a pair of slips is told: both of them, one of them, what another single mistake with the same results is, a fact
# about the results, nothing; or it is right after all, or no Python.
BOTH, ONE, THE_SAME, FACT, NOTHING = "both", "one", "the same", "fact", "nothing"
CANCELED, NO_PYTHON, WRONGLY = "right", "no Python", "wrongly"
SECONDS_FOR_THE_ENDLESS = 0.1
# Some call what a newer Python deprecates; their readers are warned, and judged all the same.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@cache
def exercises_of(lesson: str) -> dict[str, Exercise]:
    module = importlib.import_module(f"course_lib.exercises.{lesson}")
    return {item.name: item for item in vars(module).values() if isinstance(item, Exercise)}


def judge(answer: Answer) -> Judgment:
    item = exercises_of(answer.lesson)[answer.exercise]
    # A process of its own only for those that need one, there are many of them; and the endless need
    # no patience: that the limit holds is tested with the checker.
    if answer.ends:
        return item.judge(answer.function, guarded=False)
    with mock.patch.object(running, "CALL_SECONDS", SECONDS_FOR_THE_ENDLESS):
        return item.judge(answer.function, guarded=True)


def check_that_it_is_told_what_it_is(answer: Answer) -> None:
    judgment = judge(answer)
    if answer.kind == RIGHT:
        assert judgment.outcome == PASSED, judgment.message
        return
    assert judgment.outcome not in (PASSED, NOT_ATTEMPTED)
    if answer.words is None:
        assert judgment.diagnosis is None, "it has a diagnosis: write its words into the table"
    else:
        assert judgment.diagnosis is not None, judgment.message
        assert answer.words in judgment.diagnosis


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_answer_is_told_what_it_is(lesson, subtests):
    for answer in answers_of(lesson):
        with subtests.test(answer.name):
            check_that_it_is_told_what_it_is(answer)


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_has_its_rows(lesson):
    names = exercises_of(lesson)
    assert {answer.exercise for answer in answers_of(lesson)} == set(names)
    for name, exercise in names.items():
        rows = [answer for answer in answers_of(lesson) if answer.exercise == name and answer.natural]
        wrong = [row.words for row in rows if row.kind == WRONG]
        assert len(wrong) + len(exercise.mistakes) >= FEWEST_WRONG_ANSWERS, name
        assert any(row.kind == RIGHT for row in rows) or len(exercise.ways) > 1, name


# Right ways, and the slips in them


def otherwise(value: object) -> list[object]:
    """The same integers in other types that a reasonable answer may return."""
    if type(value) is int:
        return [np.int64(value), torch.tensor(value)]
    if isinstance(value, list) and value and all(type(item) is int for item in value):
        return [tuple(value), np.array(value), torch.tensor(value)]
    if isinstance(value, list) and value and all(isinstance(item, list) for item in value):
        return [tuple(map(tuple, value))]
    return []


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_way_is_right_whichever_type_its_integers_have(lesson, subtests):
    for exercise in exercises_of(lesson).values():
        for way in exercise.ways:
            with subtests.test(f"{exercise.name}, {way.function.__name__}"):
                assert exercise.judge(way.function, guarded=False).outcome == PASSED
                for kind in range(3):
                    got = []
                    for expected in exercise.expected:
                        values = otherwise(expected.value)
                        got.append(Outcome(values[kind]) if len(values) > kind else expected)
                    assert exercise.judge_outcomes(got).outcome == PASSED


def results(exercise: Exercise, mistake: Mistake) -> list[Outcome]:
    return [exercise.outcome_of(mistake, number) for number in range(len(exercise.cases))]


def alike(some: list[Outcome], others: list[Outcome]) -> bool:
    return all(one.same_as(other) for one, other in zip(some, others, strict=True))


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_single_mistake_changes_something_and_gets_its_own_words(lesson, subtests):
    for exercise in exercises_of(lesson).values():
        for mistake in exercise.mistakes:
            with subtests.test(f"{exercise.name}: {mistake.name}"):
                got = results(exercise, mistake)
                assert not alike(exercise.expected, got), "it is right"
                assert not any(isinstance(outcome.error, SyntaxError) for outcome in got)
                assert mistake.diagnosis.endswith((".", "?", ".)", "?)"))
                said = exercise.judge_outcomes(got).diagnosis
                assert said.startswith(mistake.diagnosis)


def unknown_names(written: FromSource) -> set[str]:
    """What is used in a wrong answer, and neither set in it nor known to its module."""
    source = f"({written.source})" if written.parameters is not None else written.source
    used, known = set(), {"math", "np", *dir(builtins), *written.like.__globals__}
    known |= set(inspect.signature(written.like).parameters)
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(name, ast.Load()):
                used.add(name)
            case ast.Name(name) | ast.arg(name) | ast.FunctionDef(name) | ast.ExceptHandler(name=name):
                known.add(name)
    return used - known


def test_an_unknown_name_is_found():
    def like(numbers):
        pass

    assert not unknown_names(FromSource("[sum(a) + len(np.ones(b)) for a in numbers if (b := a)]", like, "numbers"))
    assert not unknown_names(
        FromSource("def f(numbers):\n    g = lambda n: n or f(n)\n    return map(g, numbers)", like)
    )
    assert unknown_names(FromSource("list(gone(numbers))", like, "numbers")) == {"gone"}
    assert unknown_names(FromSource("def f(numbers):\n    return gone.by(numbers)", like)) == {"gone"}


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_name_in_a_table_is_known(lesson):
    # A tool that sees no tables takes an import for unused, and each answer that needs it is a NameError then.
    module = importlib.import_module(f"course_lib.exercises.{lesson}")
    items = [item for item in vars(module).values() if isinstance(item, WithSolution)]
    mistakes = [(item.name, mistake) for item in items for mistake in item.mistakes]
    unknown = {
        f"{name}: {mistake.name}": missing
        for name, mistake in mistakes
        if isinstance(mistake.function, FromSource) and (missing := unknown_names(mistake.function))
    }
    assert not unknown


def names(said: str | None, words: str) -> bool:
    return said is not None and words[1:] in said


@cache
def told(exercise: Exercise, most: int | None = None) -> dict[Mistake, tuple[str, str | None]]:
    """What each pair of slips is told, and its kind; of `most` pairs, drawn by a seed, if there are more."""
    found = {}
    pairs = list(exercise.pairs)
    if most is not None and len(pairs) > most:
        pairs = random.Random(0).sample(pairs, most)
    singles = {mistake: results(exercise, mistake) for mistake in exercise.mistakes}
    for pair in pairs:
        got, said = results(exercise, pair), None
        if any(isinstance(outcome.error, SyntaxError) for outcome in got):
            kind = NO_PYTHON
        elif alike(got, exercise.expected):
            kind = CANCELED
        else:
            said = exercise.judge_outcomes(got).diagnosis
            here = {words for words in pair.words if names(said, words)}
            elsewhere = {one.diagnosis for one in singles if names(said, one.diagnosis)}.difference(pair.words)
            twins = {one.diagnosis for one, own in singles.items() if alike(got, own)}
            if elsewhere:
                kind = THE_SAME if elsewhere <= twins else WRONGLY
            else:
                kind = [FACT if said else NOTHING, ONE, BOTH][len(here)]
        found[pair] = kind, said
    return found


MOST_PAIRS = 20  # of an exercise; `python tests/test_wrong_answers.py` asks all


@pytest.mark.parametrize("lesson", LESSONS)
def test_two_slips_at_once_are_told_what_they_are(lesson, subtests):
    kinds = Counter()
    for exercise in exercises_of(lesson).values():
        for pair, (kind, said) in told(exercise, MOST_PAIRS).items():
            kinds[kind] += 1
            with subtests.test(f"{exercise.name}: {pair.name}"):
                assert kind != WRONGLY, said
    failing = sum(kinds.values()) - kinds[CANCELED] - kinds[NO_PYTHON]
    assert kinds[BOTH] + kinds[ONE] + kinds[THE_SAME] >= SHARE_OF_DIAGNOSED * failing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lessons", nargs="*", choices=[*LESSONS, []], help="names of lessons; all by default")
    parser.add_argument("--all", action="store_true", help="what is not told what it is")
    options = parser.parse_args()
    kinds = [CANCELED, NO_PYTHON, BOTH, ONE, THE_SAME, FACT, NOTHING, WRONGLY]
    columns = ["ways", "slips", "pairs", *kinds, "answers"]
    print(f"{'exercise':<24}" + "".join(f"{column:>10}" for column in columns))
    totals = np.zeros(len(columns), int)
    for lesson in options.lessons or LESSONS:
        for name, exercise in exercises_of(lesson).items():
            found = told(exercise)
            count = Counter(kind for kind, _ in found.values())
            rows = [answer for answer in answers_of(lesson) if answer.exercise == name]
            slips = sum(len(slips) for _, slips in exercise.slips_by_way)
            numbers = [len(exercise.ways), slips, len(found), *(count[kind] for kind in kinds), len(rows)]
            totals += numbers
            print(f"{name:<24}" + "".join(f"{number:>10}" for number in numbers))
            for pair, (kind, said) in found.items() if options.all else ():
                if kind not in (BOTH, ONE):
                    print(f"    {kind}: {pair.name}: {said}")
            for answer in rows if options.all else ():
                print(f"    {answer.kind:<8} {answer.function.__name__:<32} {judge(answer).diagnosis}")
    print(f"{'all':<24}" + "".join(f"{number:>10}" for number in totals))


if __name__ == "__main__":
    main()
