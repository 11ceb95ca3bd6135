"""What the checkers say to hundreds of answers of the kind that a class gives.

python tests/test_wrong_answers.py              the table: caught, passed and diagnosed, by exercise
python tests/test_wrong_answers.py bpe --all    of one lesson, each answer with what it is told
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from functools import cache
from unittest import mock

import pytest

import course_lib.exercises
from course_lib.teaching.checker import NOT_ATTEMPTED, PASSED, Exercise, Judgment, running
from wrong_answers import REFUSED, RIGHT, WRONG, Answer, answers_of

LESSONS = sorted(module.name for module in pkgutil.iter_modules(course_lib.exercises.__path__))
FEWEST_WRONG_ANSWERS = 8  # an exercise
SHARE_OF_DIAGNOSED = 0.85
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
    for name in names:
        rows = [answer for answer in answers_of(lesson) if answer.exercise == name and answer.natural]
        assert sum(row.kind == WRONG for row in rows) >= FEWEST_WRONG_ANSWERS, name
        assert any(row.kind == RIGHT for row in rows), name


@pytest.mark.parametrize("lesson", LESSONS)
def test_most_natural_wrong_answers_get_a_diagnosis(lesson):
    natural = [answer for answer in answers_of(lesson) if answer.kind == WRONG and answer.natural]
    diagnosed = [answer for answer in natural if answer.words is not None]
    assert len(diagnosed) >= SHARE_OF_DIAGNOSED * len(natural)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lessons", nargs="*", choices=[*LESSONS, []], help="names of lessons; all by default")
    parser.add_argument("--all", action="store_true", help="each answer, with what it is told")
    options = parser.parse_args()
    print(f"{'exercise':<36}{'right':>8}{'refused':>9}{'wrong':>8}{'caught':>8}{'natural':>9}{'diagnosed':>11}")
    totals = [0] * 6
    for lesson in options.lessons or LESSONS:
        for name in exercises_of(lesson):
            rows = [(answer, judge(answer)) for answer in answers_of(lesson) if answer.exercise == name]
            wrong = [(answer, judgment) for answer, judgment in rows if answer.kind == WRONG]
            natural = [judgment for answer, judgment in wrong if answer.natural]
            counts = [
                sum(answer.kind == RIGHT and judgment.outcome == PASSED for answer, judgment in rows),
                sum(answer.kind == REFUSED and judgment.diagnosis is not None for answer, judgment in rows),
                len(wrong),
                sum(judgment.outcome != PASSED for _, judgment in wrong),
                len(natural),
                sum(judgment.diagnosis is not None for judgment in natural),
            ]
            totals = [total + count for total, count in zip(totals, counts, strict=True)]
            print("{:<36}{:>8}{:>9}{:>8}{:>8}{:>9}{:>11}".format(name, *counts))
            for answer, judgment in rows if options.all else ():
                print(f"    {answer.kind:<8} {answer.function.__name__:<32} {judgment.outcome}: {judgment.diagnosis}")
    print("{:<36}{:>8}{:>9}{:>8}{:>8}{:>9}{:>11}".format("all", *totals))


if __name__ == "__main__":
    main()
