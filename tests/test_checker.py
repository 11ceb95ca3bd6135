"""The judge of readers' functions, tried on toy exercises."""

import contextlib
import math
import multiprocessing
import os
import random
import signal
import sys
import time

import numpy as np
import psutil
import pytest
import torch
from pebble import ProcessFuture

from course_lib.teaching.checker import (
    FAILED,
    NOT_ATTEMPTED,
    PASSED,
    RAISED,
    bug_or_not,
    exercise,
    guard,
    run,
    same,
    true_or_false,
)
from course_lib.teaching.checker.calls import format_call, show
from course_lib.teaching.checker.comparing import in_common
from course_lib.teaching.checker.exercises import is_stub


def double_cases(random_numbers):
    yield ([7, 8, 9],)  # the largest first: it is the checker that must find the smallest
    yield from (([random_numbers.randint(-50, 50) for _ in range(length)],) for length in range(5))


@exercise(cases=double_cases, hints=("Think of twice.", "Use `* 2`."))
def double(numbers: list[int]) -> list[int]:
    """Return twice each number."""
    return [2 * number for number in numbers]


double.mistake("the numbers are squared.", lambda numbers: [number**2 for number in numbers])


def toy(*cases):
    """An exercise with these arguments of its calls."""
    given = [case if isinstance(case, tuple) else (case,) for case in cases]
    return exercise(cases=lambda random_numbers: given, hints=("a", "b"))


half = toy(*range(1, 8))(lambda number: number // 2)
nats = toy(*range(1, 8))(lambda number: math.log(number + 1))
bits = toy(*range(1, 8))(lambda number: math.log2(number + 1))
table = toy((1, 3), (2, 3), (4, 3))(lambda rows, columns: np.arange(rows * columns).reshape(rows, columns))
invert = toy(0, 4)(lambda number: 1 / number)
count_up = toy(*range(4))(lambda n: iter(range(n)))


def test_the_four_outcomes_and_the_smallest_failing_call_first():
    assert (
        double.judge(lambda numbers: [n + n for n in numbers]).message
        == "**Passed.** `<lambda>` is right".replace("<lambda>", "double") + " in all 6 calls."
    )
    judgment = double.judge(lambda numbers: [2 * n for n in numbers] if len(numbers) < 3 else [])
    assert judgment.message.startswith("**Failed** in 3 of 6 calls. The smallest of them:")
    assert "double(numbers=[7, 8, 9])\nexpected  [14, 16, 18]\ngot       []" in judgment.message
    assert "`exercises.double.hint()` may help" in judgment.message

    def raises(numbers):
        first = numbers[0]
        return [2 * first] + [2 * n for n in numbers[1:]]

    judgment = double.judge(raises)
    assert judgment.outcome == RAISED
    assert "got       IndexError: list index out of range\nat        line 2: first = numbers[0]" in judgment.message
    assert double.judge(...).outcome == double.judge(None).outcome == NOT_ATTEMPTED


def test_a_second_call_is_shown_where_the_first_leaves_open_what_is_wrong():
    assert "Another one" in half.judge(lambda number: number).message
    assert "Another one" not in double.judge(lambda numbers: [n * n for n in numbers]).message


KEPT = []


def keeps_a_default(numbers, found=[]):  # noqa: B006
    found.extend(2 * number for number in numbers)
    return list(found)


def gives_one_list_again_and_again(numbers):
    KEPT[:] = [2 * number for number in numbers]
    return KEPT


def right_from_the_second_time(numbers, asked={}):  # noqa: B006
    asked[tuple(numbers)] = asked.get(tuple(numbers), 0) + 1
    return [2 * number for number in numbers] if asked[tuple(numbers)] > 1 else []


def wrong_from_the_second_time(numbers, asked={}):  # noqa: B006
    asked[tuple(numbers)] = asked.get(tuple(numbers), 0) + 1
    return [2 * number for number in numbers] if asked[tuple(numbers)] == 1 else [5]


def keeps_the_first(numbers, asked={}):  # noqa: B006
    asked.setdefault("first", [2 * number for number in numbers])
    return list(asked["first"])


@pytest.mark.parametrize(
    "answer", [keeps_a_default, gives_one_list_again_and_again, wrong_from_the_second_time, keeps_the_first]
)
def test_what_is_kept_between_calls_is_found(answer):
    judgment = double.judge(answer)
    assert (judgment.outcome, judgment.diagnosis.split(":")[0]) == (
        FAILED,
        "something is kept from one call to the next",
    )


def test_an_answer_may_remember_what_it_has_found_out():
    known = {}
    assert (
        double.judge(lambda numbers: list(known.setdefault(tuple(numbers), [2 * n for n in numbers]))).outcome == PASSED
    )
    assert double.judge(right_from_the_second_time).outcome == FAILED


def in_place(numbers):
    for i in range(len(numbers)):
        numbers[i] *= 2
    return numbers


def test_changed_arguments_are_told_and_spoil_no_later_call():
    assert "changes its arguments" in double.judge(in_place).diagnosis
    assert double.judge(double.reference).outcome == PASSED
    model, generator = torch.nn.Linear(2, 2), torch.Generator().manual_seed(0)
    assert not run(
        lambda model, generator: torch.rand(1, generator=generator).item(), (model, generator)
    ).changed_arguments


def half_again(number):
    return half_again(number)


class Hostile:
    """Whatever you do with it, it complains."""

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    def __len__(self):
        raise RuntimeError("no length")

    def __repr__(self):
        raise RuntimeError("no words")

    __hash__ = None


@pytest.mark.parametrize(
    ("item", "answer", "words"),
    [
        (double, lambda numbers: [n * n for n in numbers], "the numbers are squared."),
        (double, lambda numbers: [2 * n + len(numbers) % 3 for n in numbers], None),
        (double, lambda numbers: print(numbers), "prints its result"),
        (double, lambda numbers: [0, *(2 * n for n in numbers)], "one entry too many at the start"),
        (double, lambda numbers: [2 * n for n in numbers[-1:]], "its beginning is missing"),
        (double, lambda numbers: [n > 0 for n in numbers], "`True` or `False` where a number"),
        (double, lambda numbers: [2.0 * n for n in numbers], "a float where an integer"),
        (half, lambda n: len, "a function, not its result"),
        (half, lambda n: n / 2, "a float where an integer"),
        (half, lambda n: undefined // 2, "run the cells above again"),  # noqa: F821
        (half, lambda n, m: n, "is called with `number`"),
        (half, lambda n: n // 2 + 1, "exactly one too large"),
        (half, lambda n: n // 2 - 1, "exactly one too small"),
        (half, lambda n: [n].sort()[0], "return `None`"),
        (half, lambda n: half_again(n), "ever stop calling itself"),
        (half, lambda n: Hostile(), None),
        (half, lambda n: [Hostile()], "several values where one"),
        (nats, lambda n: math.log2(n + 1), "bits where nats are wanted"),
        (bits, lambda n: math.log(n + 1), "nats where bits are wanted"),
        (table, lambda rows, columns: table(rows, columns).T, "rows and columns are swapped"),
        (toy(1, 2)(lambda n: ([1], [2])), lambda n: ([2], [1]), "the two results are swapped"),
        (toy("a  b", "a   b")(lambda t: " ".join(t.split())), lambda t: t, "characters are left"),
    ],
)
def test_a_usual_mistake_is_named_and_other_results_are_described(item, answer, words):
    judgment = item.judge(answer)
    assert judgment.outcome in (FAILED, RAISED)
    assert judgment.diagnosis is None if words is None else words in (judgment.diagnosis or ""), judgment.message


def test_flags_where_ones_are_wanted_are_not_called_floats():
    assert "`True` or `False`" in in_common([([1, 0], [True, False])])
    assert "a float where" in in_common([([1, 0], [1.0, 0.0])])


def test_a_string_of_numpy_is_not_called_another_type():
    assert in_common([("abc", np.str_("x"))]) is None


forks = pytest.mark.skipif(not guard.CAN_FORK, reason="answers run in a process of their own on Linux only")


def forever(numbers):
    while True:
        with contextlib.suppress(BaseException):
            numbers = numbers[:]


def fills_the_memory(numbers):
    hoard = []
    while True:
        hoard.append(bytes(10**8))


@forks
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (forever, "did not end"),
        (lambda numbers: sum(range(10**13)), "did not end"),
        (fills_the_memory, "MemoryError"),
        (lambda numbers: list(range(10**11)), "MemoryError"),
        (lambda numbers: time.sleep(3_600), "waited for something"),
        (lambda numbers: os.kill(os.getpid(), signal.SIGSTOP), "waited for something"),
        (lambda numbers: os._exit(0), "ended its process"),
        (lambda numbers: os.kill(os.getpid(), signal.SIGSEGV), "SIGSEGV"),
        (lambda numbers: sys.exit(1), ""),
        (lambda numbers: input(), ""),
    ],
)
def test_an_answer_that_never_ends_or_ends_everything_is_stopped_and_named(answer, words, monkeypatch):
    # What computes has its time, however busy the machine is. What waits is given up soon, but not before it has begun.
    for seconds in (1, 10, 600) if words.startswith("waited") else (600,):
        monkeypatch.setattr(guard, "CLOCK_SECONDS", seconds)
        judgment = double.judge(answer)
        assert judgment.outcome == RAISED
        if "double(numbers=[])" in judgment.message:
            break
    assert words in (judgment.diagnosis or "")
    assert "double(numbers=[])" in judgment.message
    monkeypatch.setattr(guard, "CLOCK_SECONDS", 600)
    assert double.judge(double.reference).outcome == PASSED


@forks
def test_an_answer_leaves_nothing_behind_and_may_use_torch():
    torch.ones(500, 500) @ torch.ones(500, 500)
    seen, state = [], random.getstate()

    def answer(numbers):
        seen.append(numbers)
        random.seed(0)
        if not numbers and os.fork() == 0:
            time.sleep(3_600)
        print("hello", "x" * 5_000)
        return (torch.ones(300, 300) @ torch.ones(300, 300) * 0).sum().int() + 2 * torch.tensor(numbers, dtype=int)

    assert double.judge(answer).outcome == PASSED
    assert (seen, random.getstate()) == ([], state)


@forks
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_where_others_start_processes_otherwise_a_check_still_forks(method):
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method(method, force=True)
    try:
        assert double.judge(lambda numbers: [n + n for n in numbers]).outcome == PASSED
    finally:
        multiprocessing.set_start_method(before, force=True)


def test_elsewhere_the_reader_stops_what_does_not_end(monkeypatch):
    monkeypatch.setattr(guard, "CAN_FORK", False)

    def loops(numbers):
        raise KeyboardInterrupt

    assert "did not end" in double.judge(loops).diagnosis
    assert double.judge(double.reference).outcome == PASSED


@forks
def test_an_interrupted_check_says_so_in_one_line_and_leaves_no_process(monkeypatch):
    def interrupted(self, timeout=None):
        raise KeyboardInterrupt

    before = set(psutil.Process().children(recursive=True))
    monkeypatch.setattr(ProcessFuture, "result", interrupted)
    judgment = double.judge(forever)
    assert (judgment.outcome, judgment.diagnosis) == (RAISED, "The call below was interrupted.")
    _, alive = psutil.wait_procs(set(psutil.Process().children(recursive=True)) - before, timeout=600)
    assert alive == []


def test_stubs_hints_solutions_and_other_seeds(monkeypatch, capsys):
    shown = []
    monkeypatch.setattr("course_lib.teaching.checker.exercises.display", lambda markdown: shown.append(markdown.data))
    double.hint(), double.hint(2), double.hint(3), double.solution()
    assert "Think of twice." in shown[0]
    assert "There are 2 hints" in shown[2]
    assert "return [2 * number for number in numbers]" in shown[3]
    assert double.stub.splitlines()[0] == "def double(numbers: list[int]) -> list[int]:"
    assert double.check(double.reference) == 1.0
    assert "✔ **Passed.**" in capsys.readouterr().out
    assert double.drawn_from(5).cases != double.cases
    assert double.judge(double.reference, seed=5).outcome == PASSED
    by_heart = {repr(case[0]): [2 * n for n in case[0]] for case in double.cases}
    assert double.judge(lambda numbers: by_heart.get(repr(numbers)), seed=5).outcome == FAILED


def returns_five(numbers):
    return 5


def empty(numbers):
    """Words."""


class Empty(list):
    """Words."""

    size: int = 5


@exercise(cases=lambda random: [(0,), (3,)], hints=(), view=lambda make, size: list(make(size)))
class Countdown:
    """Counts down from `size`."""

    def __init__(self, size):
        self.size = size

    def __iter__(self):
        return iter(range(self.size, 0, -1))


def test_only_what_is_written_to_do_nothing_is_a_stub():
    assert is_stub(empty)
    assert is_stub(Empty)
    assert not any(map(is_stub, (returns_five, lambda x: None, len, 5, in_place, Countdown.reference)))


def test_an_answer_may_be_a_class():
    assert Countdown.stub == 'class Countdown:\n    """Counts down from `size`."""\n    ...'
    assert Countdown.solution_source.startswith("class Countdown:")
    assert Countdown.judge(Countdown.reference).outcome == PASSED
    assert Countdown.judge(lambda size: [3, 2, 1][:size]).outcome == PASSED
    assert Countdown.judge(range).outcome == FAILED
    assert Countdown.judge(Empty).outcome == NOT_ATTEMPTED
    assert "called with `size`" in Countdown.judge(type("Countdown", (), {"n": lambda self: 5})).message


def test_results_are_the_same_or_not():
    nan = float("nan")
    for expected, equal, unequal in (
        (3, np.int64(3), 3.0),
        (3, torch.tensor(3), True),
        ([1, 2], (1, 2), [1, 2, 3]),
        ([1, 2], np.array([1, 2]), [1.0, 2.0]),
        (([1], [2]), [[1], [2]], ([1], [3])),
        (0.1 + 0.2, 0.3, 0.31),
        ([nan], [nan], [0.0]),
        (True, np.bool_(True), 1),
        ({"a": 1}, {"a": 1}, {"a": 2}),
        ("a", np.str_("a"), ["a"]),
        (["a"], list(np.array(["a"])), ["b"]),
        (None, None, 0),
    ):
        assert same(expected, equal), (expected, equal)
        assert not same(expected, unequal), (expected, unequal)


def test_calls_are_shown_by_name_and_value():
    assert show(np.array([1.23456, 2])) == "[1.2346, 2.0]"
    assert show(Hostile()) == "<Hostile>"
    assert len(show("x" * 500)) < 201
    assert format_call(double.reference, ([1],)) == "double(numbers=[1])"


def test_iterators_and_wanted_errors():
    assert count_up.judge(lambda n: list(range(n))).outcome == PASSED
    assert invert.judge(lambda number: 1 / number).outcome == PASSED
    assert invert.judge(lambda number: 0).outcome == FAILED


cases = [(n,) for n in range(5)]


@bug_or_not(purpose="Halve.", reference=lambda n: n // 2, cases=lambda r: cases, explanation="Because.")
def rounds_up(n):
    return (n + 1) // 2


@true_or_false(claim="It is even.", reference=lambda n: 2 * n, cases=lambda r: cases, explanation="Twice.")
def twice(n):
    return n + n


@pytest.mark.parametrize(
    ("question", "verdict", "outcome", "words"),
    [
        (rounds_up, "bug", PASSED, "Because."),
        (rounds_up, " Not a  BUG ", FAILED, "should give  0"),
        (rounds_up, "maybe", FAILED, 'The answer is "bug" or "not a bug"'),
        (twice, "true", PASSED, "It holds in all 5 calls"),
        (twice, "false", FAILED, "The claim is true."),
        (twice, ..., NOT_ATTEMPTED, "Set `twice`"),
    ],
)
def test_calls_settle_a_question(question, verdict, outcome, words):
    judgment = question.judge(verdict)
    assert judgment.outcome == outcome
    assert words in judgment.message
    assert ("Because." in judgment.message) == (question is rounds_up and outcome == PASSED)
