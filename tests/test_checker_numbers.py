"""Questions with other numbers by seed: all of them, and a toy one."""

import importlib
import math

import numpy as np
import pytest
import torch

from course_lib.teaching import numbers, show_progress
from course_lib.teaching.checker import FAILED, NOT_ATTEMPTED, PASSED, NumbersQuestion
from test_exercises import LESSONS, members, of_each

each_question = of_each("question", NumbersQuestion)


@numbers(
    ask="{boxes} boxes hold {each:,} pens each. How many pens are that?",
    draw=lambda rng: {"boxes": rng.randrange(2, 5), "each": rng.randrange(2, 2_000)},
    hints=("Count one box.", "Then count the boxes."),
)
def pens(boxes: int, each: int) -> int:
    return boxes * each


@pens.mistake("added, not multiplied.")
def added(boxes, each):
    return boxes + each


@pens.mistake("one box alone.")
def one_box(boxes, each):
    return each


@numbers(
    ask="What is the square root of {number}?",
    draw=lambda rng: {"number": rng.randrange(2, 99)},
    hints=("Which number gives it when multiplied by itself?",),
)
def root(number: int) -> float:
    return math.sqrt(number)


@root.mistake("a half of it.")
def half(number):
    return number / 2


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_lesson_has_two_or_three(lesson):
    assert 2 <= len(members(lesson, NumbersQuestion)) <= 3


@each_question
def test_numbers_are_told_and_no_mistake_is_right_or_two_in_one(question):
    answers = set()
    for seed in range(200):
        drawn, prose, answer = question.drawn(seed), question.prose(seed), question.answer(seed)
        assert type(answer) in (int, float)
        assert math.isfinite(answer)
        assert answer > 0
        assert "{" not in prose
        written = prose.replace(",", "")
        for value in drawn.values():
            assert str(value).replace(",", "") in written
        # All of them differ by more than what passes for the same.
        results = [answer, *(mistake.function(**drawn) for mistake in question.mistakes)]
        for i, one in enumerate(results):
            others = results[:i] + results[i + 1 :]
            assert not any(math.isclose(one, other, rel_tol=0.01 * isinstance(answer, float)) for other in others)
        answers.add(answer)
    # Who guesses, or has another class's answer, has little chance.
    assert len(answers) > 25


@each_question
def test_each_mistake_gets_its_diagnosis_and_the_answer_passes(question):
    assert len(question.hints) >= 1
    assert len(question.mistakes) >= 3
    for seed in (0, 7):
        assert question.assess(question.answer(seed), seed=seed).outcome == PASSED
        for mistake in question.mistakes:
            judgment = question.assess(mistake.function(**question.drawn(seed)), seed=seed)
            assert (judgment.outcome, judgment.diagnosis) == (FAILED, mistake.diagnosis)
            assert mistake.diagnosis in judgment.message


@each_question
def test_the_stub_is_not_attempted_and_the_solution_as_it_is_written_passes(question):
    for source, outcome in ((question.stub, NOT_ATTEMPTED), (question.solution_source(3), PASSED)):
        namespace: dict = {}
        exec(source, namespace)
        assert question.assess(namespace[question.name], seed=3).outcome == outcome
    assert len(question.stub) <= 88


def test_a_seed_draws_the_same_numbers_everywhere():
    assert [pens.drawn(seed) for seed in (0, 1, 2)] == [
        {"boxes": 4, "each": 1812},
        {"boxes": 4, "each": 692},
        {"boxes": 2, "each": 1012},
    ]
    assert pens.prose(1) == "4 boxes hold 692 pens each. How many pens are that?"
    assert pens.check(2768, seed=1) == 1.0
    assert pens.check(2768) == 0.0


@pytest.mark.parametrize("answer", [7248, np.int64(7248), np.int32(7248), torch.tensor(7248)])
def test_a_count_is_right_whatever_it_is_wrapped_in(answer):
    assert pens.assess(answer).outcome == PASSED


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (7248.0, "a float where an integer is wanted"),
        (7247, "exactly one too small"),
        (7249, "exactly one too large"),
        (-7248, "the sign"),
        (1816, "added, not multiplied"),
        (True, "`True` or `False`"),
        ("7248", "text"),
        ([7248], "several values"),
        (lambda: 7248, "a pair of parentheses missing"),
        (17, None),
        (math.nan, "a float"),
        (object(), None),
    ],
)
def test_what_is_told_of_a_wrong_number(answer, words):
    judgment = pens.assess(answer)
    assert (judgment.outcome, judgment.score) == (FAILED, 0.0)
    assert "7248" not in judgment.message  # it would be given away
    assert words is None if judgment.diagnosis is None else words in judgment.diagnosis


def test_three_digits_are_enough_for_a_float():
    right = root.answer()
    assert "Three digits" in root.prose()
    assert root.assess(float(f"{right:.3g}")).outcome == PASSED
    assert root.assess(right * 1.02).outcome == FAILED
    assert "per cent" in root.assess(100 * right).diagnosis
    assert root.assess(math.nan).outcome == FAILED


@pytest.mark.parametrize("answer", [..., None])
def test_nothing_is_not_attempted(answer):
    assert pens.assess(answer).outcome == NOT_ATTEMPTED


def test_a_question_whose_mistake_is_always_right_is_refused():
    @numbers(ask="{n}?", draw=lambda rng: {"n": rng.randrange(9)}, hints=("",))
    def same(n):
        return n

    same.mistake("not at all a mistake.")(lambda n: n)
    with pytest.raises(ValueError, match="same: no draw tells its mistakes apart"):
        same.drawn()


@pytest.mark.parametrize("seed", [-1, 1.5, "1", None])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises((TypeError, ValueError), match="seed must be"):
        pens.drawn(seed)


def test_task_and_solution_are_displayed(monkeypatch):
    shown = []
    module = "course_lib.teaching.checker.drawn_numbers"
    monkeypatch.setattr(f"{module}.display", lambda text: shown.append(text.data))
    pens.ask(1)
    pens.solution(1)
    assert "692" in shown[0]
    assert "pens(boxes=4, each=692)  # 2768" in shown[1]


@pytest.mark.parametrize("lesson", LESSONS)
def test_they_are_no_exercises_of_the_lesson(lesson):
    module = importlib.import_module(f"course_lib.exercises.{lesson}")
    names = {question.name for question in members(lesson, NumbersQuestion)}
    assert not any(name in str(show_progress(module)).split() for name in names)
