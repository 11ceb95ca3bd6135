"""The judge of readers' functions, tried on a toy exercise."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import random
import re
import signal
import sys
import time
from types import ModuleType

import nbformat
import numpy as np
import pytest
import torch
from IPython.core.formatters import DisplayFormatter
from nbclient import NotebookClient

from course_lib.teaching import bug_or_not, exercise, show_scores, true_or_false
from course_lib.teaching.checker import (
    BUG,
    FAILED,
    FALSE,
    NOT_A_BUG,
    NOT_ATTEMPTED,
    PASSED,
    RAISED,
    TRUE,
    exercises,
    format_call,
    is_stub,
    processes,
    questions,
    run,
    running,
    same,
)


def double_cases(random_numbers):
    # The largest first: it is the checker that must find the smallest.
    yield ([7, 8, 9],)
    yield from (([random_numbers.randint(-50, 50) for _ in range(length)],) for length in range(5))


@exercise(cases=lambda random: [("a  b",), ("a   b",), ("a  b  c",)], hints=("a", "b"))
def spaced(text: str) -> str:
    """Leave one space between letters."""
    return " ".join(text.split())


@exercise(cases=double_cases, hints=("Think of twice.", "Use `* 2`."))
def double(numbers: list[int]) -> list[int]:
    """Return twice each number.

    An empty list is doubled, too.
    """
    return [2 * number for number in numbers]


@double.mistake("the numbers are squared. Twice is not the square.")
def squares(numbers):
    return [number**2 for number in numbers]


@double.mistake("the first number is left out.")
def skips_first(numbers):
    return [2 * number for number in numbers[1:]]


@pytest.fixture
def shown(monkeypatch):
    """What hints and solutions display, and what checks report outside of a notebook."""
    pieces = []
    for module in (exercises, questions):
        monkeypatch.setattr(module, "display", lambda markdown: pieces.append(markdown.data))
    monkeypatch.setattr("builtins.print", lambda text, **options: pieces.append(text))
    return pieces


# The four outcomes


def test_a_whole_number_answers_a_question_for_a_float_but_not_the_other_way_round():
    @exercise(cases=lambda random: [(n,) for n in range(10)], hints=("a", "b"))
    def half(number: int) -> float:
        return number / 2

    assert half.judge(lambda n: n // 2 if n % 2 == 0 else n / 2).outcome == PASSED

    @exercise(cases=lambda random: [(n,) for n in range(10)], hints=("a", "b"))
    def double(number: int) -> int:
        return 2 * number

    assert double.judge(lambda n: 2.0 * n).outcome == FAILED
    assert double.judge(lambda n: 2 * n + 1e-7).outcome == FAILED


def test_a_right_answer_passes(shown):
    assert double.check(lambda numbers: [number + number for number in numbers]) == 1.0
    assert shown == ["✔ **Passed.** `double` is right in all 6 calls."]
    assert double.judge(double.reference).outcome == PASSED


def test_a_wrong_answer_fails_and_the_smallest_failing_call_is_shown(shown):
    score = double.check(lambda numbers: [2 * number for number in numbers] if len(numbers) < 3 else [])
    assert score == 0.0
    assert isinstance(score, float)
    (message,) = shown
    assert message.startswith("✘ **Failed** in 3 of 6 calls. The smallest of them:")
    assert "double(numbers=[7, 8, 9])\nexpected  [14, 16, 18]\ngot       []" in message
    assert "`exercises.double.hint()` may help" in message


def test_an_answer_that_raises_is_shown_with_its_error():
    def answer(numbers):
        return [2 * numbers[0]] + [2 * number for number in numbers[1:]]

    judgment = double.judge(answer)
    assert (judgment.outcome, judgment.score) == (RAISED, 0.0)
    assert "**Raised** in 1 of 6 calls" in judgment.message
    assert "double(numbers=[])\nexpected  []\ngot       IndexError: list index out of range" in judgment.message


def untouched(numbers):
    """Return twice each number."""
    ...


def untouched_pass(numbers):
    pass


def untouched_raising(numbers):
    raise NotImplementedError


@pytest.mark.parametrize(
    "answer", [..., None, untouched, untouched_pass, untouched_raising, lambda numbers: None, lambda numbers: ...]
)
def test_a_stub_is_not_an_attempt(answer):
    judgment = double.judge(answer)
    assert (judgment.outcome, judgment.score) == (NOT_ATTEMPTED, 0.0)
    assert judgment.message == "**Not attempted.** Replace the `...` in `double`, then run the cell again."


@pytest.mark.parametrize("answer", [[2, 4], 5, "double"])
def test_a_result_instead_of_the_function_is_told_so(answer):
    judgment = double.judge(answer)
    assert judgment.outcome == FAILED
    assert "Pass the function `double` itself, not what it returns." in judgment.message


# Diagnoses


@pytest.mark.parametrize(
    ("answer", "diagnosis"),
    [
        (lambda numbers: [number * number for number in numbers], "the numbers are squared. Twice is not the square."),
        (lambda numbers: [number + number for number in numbers][1:], "the first number is left out."),
        # right here and there, and elsewhere wrong as the known mistake is
        (lambda numbers: [n * n for n in numbers] if len(numbers) > 1 else [2 * n for n in numbers], "the numbers are"),
    ],
)
def test_a_usual_mistake_is_recognized(answer, diagnosis):
    judgment = double.judge(answer)
    assert judgment.diagnosis.startswith(diagnosis)
    assert f"**Looks like:** {judgment.diagnosis}" in judgment.message


def test_an_unknown_mistake_has_no_diagnosis():
    assert double.judge(lambda numbers: [2 * number + len(numbers) % 3 for number in numbers]).diagnosis is None


def test_who_fails_in_few_calls_has_not_made_a_mistake_that_fails_in_most():
    def squares_long_ones(numbers):
        return [n * n for n in numbers] if len(numbers) > 2 else [2 * n for n in numbers]

    assert double.judge(squares_long_ones).diagnosis is None


def test_each_registered_mistake_gets_its_own_diagnosis():
    assert [mistake.name for mistake in double.mistakes] == ["squares", "skips_first"]
    for mistake in double.mistakes:
        assert double.judge(mistake.function).diagnosis == mistake.diagnosis


def test_an_answer_that_changes_its_arguments_is_caught_and_spoils_no_later_call():
    def in_place(numbers):
        for i in range(len(numbers)):
            numbers[i] *= 2
        return numbers

    judgment = double.judge(in_place)
    assert judgment.outcome == FAILED
    assert judgment.diagnosis.startswith("the function changes its arguments")
    assert "and the arguments changed" in judgment.message
    assert double.judge(double.reference).outcome == PASSED


@pytest.mark.parametrize("make", [np.array, torch.tensor])
def test_changed_arrays_and_tensors_are_caught_too(make):
    def add_one(values):
        values += 1
        return values

    case = (make([1, 2]),)
    assert run(add_one, case).changed_arguments
    assert case[0].tolist() == [1, 2]
    assert not run(lambda values: values + 1, case).changed_arguments


def test_models_and_generators_may_change():
    model, generator = torch.nn.Linear(2, 2), torch.Generator().manual_seed(0)
    outcome = run(lambda model, generator: torch.rand(1, generator=generator).item(), (model, generator))
    assert outcome.error is None
    assert not outcome.changed_arguments


def test_a_forgotten_return_is_told():
    def forgetful(numbers):
        numbers = [2 * number for number in numbers]

    judgment = double.judge(forgetful)
    assert judgment.outcome == FAILED
    assert judgment.diagnosis == "the function always returns `None`. Is a `return` missing?"


def test_the_cases_are_the_same_each_time_and_the_smallest_come_first():
    assert double.cases == double.cases
    assert double.cases[0] == ([],)
    assert [len(case[0]) for case in double.cases[:2]] == [0, 1]


# What is said of a wrong result that no mistake explains


@exercise(cases=lambda random_numbers: [(n,) for n in range(1, 8)], hints=("a", "b"))
def half(number):
    """Return how many pairs there are among so many."""
    return number // 2


@exercise(cases=lambda random_numbers: [(n,) for n in range(1, 8)], hints=("a", "b"))
def nats(number):
    """Return the natural logarithm of one more."""
    return math.log(number + 1)


@exercise(cases=lambda random_numbers: [(rows, 3) for rows in (1, 2, 4)], hints=("a", "b"))
def table(rows, columns):
    """Return a table of numbers 0, 1, 2, ..."""
    return np.arange(rows * columns).reshape(rows, columns)


@exercise(cases=lambda random_numbers: [(n,) for n in range(2, 6)], hints=("a", "b"))
def parts(number):
    """Return two lists: the numbers below, and those above, up to twice as many."""
    return list(range(number)), list(range(number, 2 * number + 1))


@exercise(cases=lambda random_numbers: [(n,) for n in (1, 2, 3)], hints=("a", "b"))
def is_even(number):
    """Return whether a number is even."""
    return number % 2 == 0


@exercise(cases=lambda random_numbers: [(n,) for n in (200, 300)], hints=("a", "b"))
def dtype_name(largest):
    """Return the name of the smallest unsigned type."""
    return "uint8" if largest < 256 else "uint16"


@pytest.mark.parametrize(
    ("item", "answer", "words"),
    [
        (half, lambda n: n / 2, "a float where an integer is wanted"),
        (half, lambda n: float(n // 2), "a float where an integer is wanted"),
        (half, lambda n: bool(n // 2), "`True` or `False` where a number is wanted"),
        (half, lambda n: [n // 2], "several values where one number is wanted"),
        (half, lambda n: str(n // 2), "text, a `str`"),
        (half, lambda n: len, "a function, not its result"),
        (half, lambda n: n // 2 + 1, "exactly one too large"),
        (half, lambda n: n // 2 - 1, "exactly one too small"),
        (half, lambda n: print(n // 2), "prints its result instead of returning it"),
        (half, lambda n: n // 2 if n > 2 else None, "on one of its ways there is no `return`"),
        (half, lambda n: undefined // 2, "name 'undefined' is not defined"),  # noqa: F821
        (half, lambda n, m: n, "is called with 1 arguments"),
        (nats, lambda n: math.log2(n + 1), "1 / ln 2: bits where nats are wanted"),
        (nats, lambda n: -math.log(n + 1), "the sign is the other way round"),
        (nats, lambda n: 3 * math.log(n + 1), "every result is 3 times the right one."),
        (double, lambda numbers: {2 * n for n in numbers}, "a `set`, which has no order"),
        (double, lambda numbers: [2.0 * n for n in numbers], "floats where integers are wanted"),
        (double, lambda numbers: sum(numbers), "one value where several are wanted"),
        (double, lambda numbers: [*(2 * n for n in numbers), 0], "one entry more at the end"),
        (double, lambda numbers: [0, *(2 * n for n in numbers)], "one entry more at the start"),
        (double, lambda numbers: [2 * n for n in numbers[:-1]], "the last entry is missing"),
        (double, lambda numbers: [2 * n for n in numbers[::-1]], "right, but from back to front"),
        (double, lambda numbers: sorted((2 * n for n in numbers), key=lambda n: -n % 7), "right, but in another order"),
        (double, lambda numbers: [[2 * n] for n in numbers], "some are in lists inside the list"),
        (double, lambda numbers: bytes(n % 7 for n in numbers), "`bytes` where numbers are wanted"),
        (double, lambda numbers: [2 * numbers[i + len(numbers)] for i in range(len(numbers))], "an index is beyond"),
        (double, lambda numbers: [{}[n] for n in numbers], "a key that it does not have"),
        (double, lambda numbers: [2 * n for n in numbers[:1]], "begins right, and ends too early"),
        (double, lambda numbers: [2 * n for n in numbers[-1:]], "its beginning is missing"),
        (double, lambda numbers: [2 * n for n in numbers[::2]], "right, and in their order"),
        (double, lambda numbers: [m for n in numbers for m in (2 * n, 99)], "with others among them"),
        (spaced, lambda text: text, "spaces are left that should be gone; all else is right"),
        (spaced, lambda text: text.replace(" ", ""), "spaces are missing; all else is right"),
        (half, lambda n: min([]), "nothing to choose from"),
        (half, lambda n: {[n]: 1}, "a list cannot be a key"),
        (half, lambda n: n[0] // 2, "one number is treated as a list"),
        (half, lambda n: [n].sort()[0], "is `None` where it should not be"),
        (half, lambda n: bytes("a"), "`text.encode()` does"),
        (table, lambda rows, columns: table.reference(rows, columns).T, "rows and columns are exchanged"),
        (parts, lambda n: parts.reference(n)[::-1], "the two results are exchanged"),
        (is_even, lambda n: 1 - n % 2, "a number where `True` or `False` is wanted"),
        (is_even, lambda n: [n % 2 == 0], "several values where one is wanted"),
        (is_even, lambda n: np.array([n % 2 == 0]), "several values where one is wanted"),
        (double, lambda numbers: list(numbers).__getitem__((0, 0)), "one index at a time"),
        (dtype_name, lambda n: np.uint8 if n < 256 else np.uint16, "the thing itself where its name is wanted"),
        (dtype_name, lambda n: b"uint8" if n < 256 else b"uint16", "`.decode()` them"),
    ],
)
def test_wrong_results_are_described_by_what_they_are(item, answer, words):
    judgment = item.judge(answer)
    assert judgment.outcome in (FAILED, RAISED)
    assert words in (judgment.diagnosis or ""), judgment.message


def test_what_goes_wrong_in_steps_is_told_alone_and_together():
    @exercise(cases=lambda random: [(n,) for n in range(10)], hints=("a", "b"))
    def twice_and_one(number: int) -> int:
        return 2 * number + 1

    times = {"it is tripled": lambda n: 3 * n}
    plus = {"two are added": lambda n: n + 2, "nothing is added": lambda n: n}
    twice_and_one.mistake("tripled, by name")(lambda n: 3 * n + 1)
    twice_and_one.combine(lambda one, n: one(n) + 1, times)
    twice_and_one.combine(lambda one, other, n: other(one(n)), times, plus)
    assert len(twice_and_one.mistakes) == 1
    assert twice_and_one.judge(lambda n: 3 * n + 1).diagnosis == "tripled, by name"
    both = "two things at once: it is tripled; and two are added."
    assert twice_and_one.judge(lambda n: 2 + n + n + n).diagnosis == both
    assert twice_and_one.judge(lambda n: n * n - 7).diagnosis is None


@pytest.mark.parametrize("answer", [torch.tensor(True), np.array(False), np.bool_(True)])
def test_a_truth_value_may_come_as_an_array(answer):
    @exercise(cases=lambda random_numbers: [(1,)], hints=("a", "b"))
    def same_truth(number):
        return bool(answer)

    assert same_truth.judge(lambda number: answer).outcome == PASSED
    assert same_truth.judge(lambda number: not answer).outcome == FAILED


class Hostile:
    """Whatever you do with it, it complains."""

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    def __len__(self):
        raise RuntimeError("no length")

    def __repr__(self):
        raise RuntimeError("no words")

    __hash__ = None


@pytest.mark.parametrize("value", [Hostile(), [Hostile()], {"a": Hostile()}, np.array([Hostile()], dtype=object)])
def test_no_result_breaks_the_checker(value):
    assert half.judge(lambda n: value).outcome == FAILED
    assert double.judge(lambda numbers: value).outcome == FAILED


def test_arrays_of_objects_are_compared_one_by_one():
    assert same([[1], [2, 3]], np.array([[1], [2, 3]], dtype=object))
    assert not same([[1], [2, 3]], np.array([[1], [2, 4]], dtype=object))


def test_arguments_changed_in_one_call_alone_are_caught():
    def sorts_long_ones(numbers):
        if len(numbers) > 3:
            numbers.sort()
        return [2 * number for number in numbers]

    assert double.judge(sorts_long_ones).diagnosis.startswith("the function changes its arguments")


def test_what_is_printed_is_cut():
    judgment = double.judge(lambda numbers: print("x" * 5_000) or "wrong")
    printed = judgment.message.split("printed   ")[1].splitlines()[0]
    assert printed == "x" * exercises.LONGEST_PRINT


# Answers that do harm


forks = pytest.mark.skipif(not running.CAN_FORK, reason="answers run in a process of their own on Linux only")


def forever(numbers):
    while True:
        with contextlib.suppress(BaseException):
            numbers = numbers[:]


def fills_the_memory(numbers):
    hoard = []
    while True:
        hoard.append(bytes(10**8))


def at_once(numbers):
    return list(range(10**11))


@forks
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (forever, "did not end within"),
        (fills_the_memory, ("all the memory", "did not end within")),  # whichever limit is met first
        (at_once, "all the memory"),
        (lambda numbers: time.sleep(3_600), "waits for something that does not come"),
        (lambda numbers: os._exit(0), "ended its process"),
        (lambda numbers: os.kill(os.getpid(), signal.SIGSEGV), "SIGSEGV"),
    ],
)
def test_an_answer_that_never_ends_or_ends_everything_is_stopped_and_named(answer, words, monkeypatch):
    monkeypatch.setattr(running, "CALL_SECONDS", 0.5)
    monkeypatch.setattr(running, "IDLE_SECONDS", 1)
    judgment = double.judge(answer)
    assert (judgment.outcome, judgment.score) == (RAISED, 0.0)
    words = (words,) if isinstance(words, str) else words
    assert any(word in judgment.diagnosis for word in words)
    assert "double(numbers=[])" in judgment.message
    assert double.judge(double.reference).outcome == PASSED


@pytest.mark.parametrize("answer", [lambda numbers: sys.exit(1), lambda numbers: exit(), lambda numbers: input()])
def test_an_answer_that_leaves_or_asks_has_raised(answer):
    judgment = double.judge(answer)
    assert judgment.outcome == RAISED
    assert "got       " in judgment.message


def test_only_the_answer_is_watched():
    # Reference and mistakes may take their time.
    @exercise(cases=lambda random_numbers: [(n,) for n in range(3)], hints=("a", "b"))
    def slow(n):
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass
        return n

    assert slow.judge(lambda n: n).outcome == PASSED


def halts(numbers):
    os.kill(os.getpid(), signal.SIGSTOP)


def copies_itself(numbers):
    if os.fork() == 0:
        time.sleep(3_600)
    return [2 * number for number in numbers]


@forks
def test_what_an_answer_starts_or_halts_holds_up_nobody(monkeypatch):
    monkeypatch.setattr(running, "IDLE_SECONDS", 0.3)
    assert "waits for something" in double.judge(halts).diagnosis
    begin = time.monotonic()
    assert double.judge(copies_itself).outcome == PASSED
    assert time.monotonic() - begin < 600


def is_there(process: int) -> bool:
    with contextlib.suppress(OSError):
        return processes.state_and_time(process)[0] != "Z"
    return False


def wait_until_gone(process: int) -> None:
    end = time.monotonic() + 60
    while is_there(process) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_there(process)


@forks
def test_a_process_ends_with_all_that_it_has_started():
    def work(watch):
        watch.begin(3)
        if (copy := os.fork()) == 0:
            time.sleep(3_600)
        return str(copy).encode()

    wait_until_gone(int(processes.run_in_a_process(work, running.limits_of_answers())))


@forks
def test_an_interrupt_ends_the_process(monkeypatch):
    started = []

    def interrupted(reader, child, limits):
        started.append(child)
        raise KeyboardInterrupt

    monkeypatch.setattr(processes, "_read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        running.limited(lambda watch: time.sleep(3_600))
    assert not is_there(started[0])


@forks
@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (lambda watch: bytes(2_000), "memory"),  # more than is read
        (lambda watch: b"", "os._exit"),
        (lambda watch: time.sleep(3_600), "waits"),
        (lambda watch: [time.sleep(0.01) for _ in range(100_000)], "waits"),
        (lambda watch: [watch.begin(-1), *iter(int, 1)], "endless"),
        (lambda watch: [watch.begin(5), *iter(int, 1)], "endless"),
        (lambda watch: signal.raise_signal(signal.SIGTERM), "SIGTERM"),
    ],
)
def test_a_process_is_stopped_by_the_limit_that_it_meets_first(work, reason, monkeypatch):
    monkeypatch.setattr(processes, "MOST_BYTES", 1_000)
    monkeypatch.setattr(processes, "PATIENCE", 10 if reason == "waits" else 1_000)
    limits = processes.Limits(one_call=0.02, all_calls=0.05, asleep=0.3, extra_bytes=2**29, before=0.01)
    found = processes.run_in_a_process(work, limits)
    assert found.reason == reason
    assert found.call in (-1, 5)


@forks
def test_calls_have_their_computing_time_together(monkeypatch):
    monkeypatch.setattr(processes, "PATIENCE", 1_000)

    def work(watch):
        for call in range(100):
            watch.begin(call)
            end = time.process_time() + 0.01
            while time.process_time() < end:
                pass
            watch.end()
        return b"done"

    limits = processes.Limits(one_call=0.2, all_calls=0.05, asleep=5, extra_bytes=2**29)
    found = processes.run_in_a_process(work, limits)
    assert found.reason == "endless"
    assert 1 <= found.call < 20


def test_an_answer_leaves_no_trace_in_the_kernel():
    seen = []

    def remembers(numbers):
        seen.append(numbers)
        random.seed(0)
        return [2 * number for number in numbers]

    state = random.getstate()
    assert double.judge(remembers).outcome == PASSED
    if running.CAN_FORK:
        assert seen == []
        assert random.getstate() == state


def test_answers_may_use_torch_after_the_parent_has():
    torch.ones(500, 500) @ torch.ones(500, 500)

    def with_torch(numbers):
        return (torch.ones(300, 300) @ torch.ones(300, 300) * 0).sum().int() + 2 * torch.tensor(numbers, dtype=int)

    assert double.judge(with_torch).outcome == PASSED


def test_without_processes_a_thread_ends_what_is_written_in_python(monkeypatch):
    monkeypatch.setattr(running, "CAN_FORK", False)
    monkeypatch.setattr(running, "ALL_CALLS_SECONDS", 0.2)

    def loops(numbers):
        while True:
            numbers = numbers[:]

    assert "did not end" in double.judge(loops).diagnosis
    assert double.judge(double.reference).outcome == PASSED
    assert double.judge(lambda numbers: 1 / 0).outcome == RAISED
    assert double.judge(squares).diagnosis == double.mistakes[0].diagnosis


def test_the_line_of_the_answer_that_raises_is_shown():
    def answer(numbers):
        first = 1
        return [numbers[len(numbers)] + first]

    message = double.judge(answer).message
    assert "at        line 3: return [numbers[len(numbers)] + first]" in message


# A score for programs, a message for readers


def test_a_notebook_shows_the_message_and_saves_the_plain_number():
    score = double.check(double.reference)
    shown, _ = DisplayFormatter().format(score)
    assert shown["text/plain"] == "1.0"
    assert "<strong>Passed.</strong>" in shown["text/html"]
    assert "✔" in shown["text/html"]
    assert set(shown) == {"text/plain", "text/html"}
    failed = double.check(lambda numbers: numbers)
    assert DisplayFormatter().format(failed)[0]["text/plain"] == "0.0"
    assert (score, failed, score + 1, f"{score}") == (1.0, 0.0, 2.0, "1.0")
    assert pickle.loads(pickle.dumps(score)).judgment == score.judgment


def test_the_saved_cell_is_a_score_for_a_grader():
    source = "from course_lib.exercises import bpe\n"
    source += "item = next(v for v in vars(bpe).values() if hasattr(v, 'last_outcome'))\n"
    source += "item.check(item.reference)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    NotebookClient(notebook, kernel_name="python3").execute()
    # As nbgrader does: the value of the cell, by its plain text, as a float.
    (value,) = [output for output in notebook.cells[0].outputs if output.output_type == "execute_result"]
    assert float(value["data"]["text/plain"]) == 1.0
    assert len(notebook.cells[0].outputs) == 1


def test_each_outcome_has_its_own_sign_color_and_word():
    answers = (double.reference, squares, lambda numbers: 1 / 0, ...)
    pages = [double.check(answer)._repr_mimebundle_()["text/html"] for answer in answers]
    for found in (r"<strong style=\"color: (#\w+)\">", r"\">(.)</strong>", r"<strong>(\w+)"):
        assert len({re.search(found, page).group(1) for page in pages}) == 4


def test_what_an_answer_returns_cannot_write_into_the_page():
    page = double.check(lambda numbers: "<script>alert(1)</script>")._repr_mimebundle_()["text/html"]
    assert "<script>" not in page


def test_the_scores_of_a_lesson(monkeypatch):
    module = ModuleType("toy")
    module.double, module.half, module.off_by_one = double, half, off_by_one
    for item in (double, half, off_by_one):
        monkeypatch.setattr(item, "last_outcome", NOT_ATTEMPTED)
    assert str(show_scores(module)).startswith("0 of 3 solved: ○ off_by_one, ○ double")
    double.check(double.reference)
    half.check(lambda n: n)
    scores = show_scores(module)
    assert scores.solved == 1
    assert str(scores) == "1 of 3 solved: ○ off_by_one, ✔ double, ✘ half"
    assert "1 of 3 solved" in scores._repr_html_()
    with pytest.raises(ValueError, match="module of exercises"):
        show_scores(ModuleType("empty"))


# Hints, stub and solution


def test_hints_come_one_at_a_time(shown):
    double.hint()
    double.hint(2)
    assert shown == ["**Hint 1.** Think of twice. *(`hint(2)` says more.)*", "**Hint 2.** Use `* 2`."]


@pytest.mark.parametrize("number", [0, 3, -1])
def test_a_hint_that_does_not_exist_says_which_do(shown, number):
    double.hint(number)
    assert shown == ["There are 2 hints: `hint(1)` to `hint(2)`."]


def test_what_an_answer_prints_is_kept_for_the_smallest_failing_call(capsys):
    def talks(*arguments):
        print("looking at", *arguments)
        return "wrong"

    judgment = double.judge(talks)
    assert judgment.message.count("looking at") == 1
    assert "printed   looking at" in judgment.message
    assert "looking at" not in capsys.readouterr().out


def test_the_solution_is_shown_as_it_is_written(shown):
    double.solution()
    assert shown[0].startswith("```python\ndef double(numbers: list[int]) -> list[int]:\n")
    assert "return [2 * number for number in numbers]" in shown[0]
    assert "@exercise" not in shown[0]


def test_the_stub_is_the_solution_without_its_body_and_the_solution_source_passes():
    assert double.stub.splitlines()[:2] == [
        "def double(numbers: list[int]) -> list[int]:",
        '    """Return twice each number.',
    ]
    assert double.stub.endswith("\n    ...")
    for source, outcome in ((double.stub, NOT_ATTEMPTED), (double.solution_source, PASSED)):
        names: dict = {}
        exec(source, names)
        assert double.judge(names["double"]).outcome == outcome


def multiline_cases(random_numbers):
    yield (1, 2)


@exercise(cases=multiline_cases, hints=("a", "b"))
def with_a_long_signature(
    first_argument_with_a_long_name: int, second_argument_with_a_long_name: int = 2, *, and_one_more: str = ":"
) -> dict[str, int]:
    """Return a dict."""
    return {and_one_more: first_argument_with_a_long_name}


def test_a_signature_of_several_lines_has_a_stub_too():
    names: dict = {}
    exec(with_a_long_signature.stub, names)
    assert with_a_long_signature.judge(names["with_a_long_signature"]).outcome == NOT_ATTEMPTED
    assert with_a_long_signature.judge(with_a_long_signature.reference).outcome == PASSED


def test_only_functions_that_do_nothing_are_stubs():
    def returns_five(x):
        return 5

    def computes(x):
        x = x + 1

    def returns_argument(x):
        return x

    assert all(map(is_stub, (untouched, untouched_pass, lambda x: None)))
    assert not any(map(is_stub, (returns_five, computes, returns_argument, untouched_raising, len, 5)))


# Iterators


@exercise(cases=lambda random_numbers: (((n,)) for n in range(4)), hints=("a", "b"))
def count_up(n: int):
    """Yield 0 ... n-1."""
    yield from range(n)


def test_iterators_are_compared_by_what_they_yield():
    assert count_up.judge(lambda n: iter(range(n))).outcome == PASSED
    assert count_up.judge(lambda n: list(range(n))).outcome == PASSED
    assert count_up.judge(lambda n: iter(range(n + 1))).outcome == FAILED


def test_an_iterator_that_never_ends_is_cut_off():
    def forever(n):
        while True:
            yield n

    judgment = count_up.judge(forever)
    assert judgment.outcome == FAILED
    assert len(judgment.message) < 1_000


def test_an_iterator_that_raises_on_its_way_has_raised():
    def breaks(n):
        yield from range(n - 1)
        raise KeyError("no more")

    assert count_up.judge(breaks).outcome == RAISED


def test_an_error_that_is_asked_for_must_be_raised():
    @exercise(cases=lambda random_numbers: [(0,), (4,)], hints=("a", "b"))
    def invert(number):
        """Return 1 / number."""
        if number == 0:
            raise ValueError("number must not be 0")
        return 1 / number

    def other_words(number):
        if number == 0:
            raise ValueError("zero?")
        return 1 / number

    assert invert.judge(other_words).outcome == PASSED
    assert invert.judge(lambda number: 1 / number).outcome == RAISED  # a ZeroDivisionError is another error
    judgment = invert.judge(lambda number: 1 / (number or math.inf))
    assert judgment.outcome == FAILED
    assert "expected  ValueError: number must not be 0\ngot       0.0" in judgment.message


# When two results are the same


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (3, np.int64(3)),
        (3, torch.tensor(3)),
        (0.5, 0.5 + 1e-9),
        (2.0, 2),
        (math.nan, math.nan),
        (math.inf, math.inf),
        (float("nan"), torch.tensor(float("nan"))),
        ([1.0, math.nan], np.array([1.0, math.nan])),
        (True, np.True_),
        (None, None),
        ("text", "text"),
        ([], []),
        ([], np.array([])),
        ([1, 2], (1, 2)),
        ([1, 2], np.array([1, 2], dtype=np.uint16)),
        (np.array([[1, 2]]), torch.tensor([[1, 2]])),
        ((torch.arange(3), torch.arange(1, 4)), (np.arange(3), np.arange(1, 4))),
        ((torch.zeros(2, 3), torch.zeros(4)), [torch.zeros(2, 3), torch.zeros(4)]),
        ([torch.zeros(2), torch.zeros(3)], [np.zeros(2), np.zeros(3)]),
        ([("a", 1), ("b", 2)], [("a", 1), ("b", 2)]),
        ([[1], [2, 3]], [[1], [2, 3]]),
        ({"a": [1, 2]}, {"a": np.array([1, 2])}),
        ({1, 2}, {2, 1}),
        (range(3), [0, 1, 2]),
        (len, len),
    ],
)
def test_equal_results_are_the_same(expected, got):
    assert same(expected, got)


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (3, 3.0),
        (3, True),
        (1, "1"),
        (3, None),
        (None, 0),
        (True, 1),
        (True, False),
        (0.5, 0.501),
        (0.5, math.nan),
        (math.nan, 0.0),
        (math.inf, -math.inf),
        (100_000, 100_001),  # nothing is rounded among integers
        ([100_000, 1], [100_001, 1]),
        (np.array([2**60]), np.array([2**60 + 1])),
        ([1, 2], [2, 1]),
        ([1, 2], [1, 2, 3]),
        ([1, 2], [1.0, 2.0]),
        ([1], 1),
        (1, [1]),
        ([], None),
        ("ab", ["a", "b"]),
        (["a", "b"], "ab"),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (np.zeros((1, 3)), np.zeros(3)),
        ((torch.arange(3), torch.arange(1, 4)), (torch.arange(3), torch.arange(3))),
        ((torch.zeros(2), torch.zeros(2)), (torch.zeros(2),)),
        ((torch.zeros(2), torch.zeros(2)), None),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({1, 2}, {1, 3}),
        ({1, 2}, [1, 2]),
        (len, max),
    ],
)
def test_unequal_results_are_not_the_same(expected, got):
    assert not same(expected, got)


# What is shown


def test_calls_are_shown_by_name_and_value_as_they_are():
    def function(text, numbers, weight=1.0, *, other=None):
        return None

    shown = format_call(function, ("a  b\n", torch.tensor([1, 2]), 0.1 + 0.2))
    assert shown == r"function(text='a  b\n', numbers=[1, 2], weight=0.3)"
    assert format_call(function, (len, ("x", np.array([0.123456])))) == "function(text=len, numbers=('x', [0.1235]))"


def test_what_is_long_is_cut_at_its_end():
    shown = format_call(lambda text: None, ("x" * 1_000,))
    assert "xxxxxxxxxx" in shown
    assert shown.endswith(" ...)")
    assert len(shown) < 250


# Bug or not


def stream_cases(random_numbers):
    yield from ((n, t) for n in (9, 2, 5, 0) for t in (3, 1, 2))


def windows(num_tokens, context_length):
    return max(0, num_tokens - context_length)


@bug_or_not(
    purpose="Count the windows that fit.",
    reference=windows,
    cases=stream_cases,
    explanation="There must be room for the last target.",
)
def off_by_one(num_tokens, context_length):
    return max(0, num_tokens - context_length + 1) if num_tokens else 0


@bug_or_not(
    purpose="Count the windows that fit.",
    reference=windows,
    cases=stream_cases,
    explanation="The loop counts the same.",
)
def unusual(num_tokens, context_length):
    return len([start for start in range(num_tokens) if start + context_length < num_tokens])


def test_calls_settle_what_is_a_bug():
    assert (off_by_one.truth, unusual.truth) == (BUG, NOT_A_BUG)
    case, expected, got = off_by_one.evidence
    assert (case, expected.value, got.value) == ((2, 1), 1, 2)
    assert unusual.evidence is None


@pytest.mark.parametrize(("question", "verdict"), [(off_by_one, BUG), (unusual, NOT_A_BUG)])
def test_the_right_verdict_passes_with_the_reason(question, verdict, shown):
    assert question.check(verdict) == 1.0
    assert "**Passed.**" in shown[0]
    assert question.explanation in shown[0]


def test_the_wrong_verdict_fails_with_the_evidence_and_keeps_the_reason_to_itself(shown):
    assert off_by_one.check(NOT_A_BUG) == 0.0
    assert unusual.check(BUG) == 0.0
    assert "**Failed.** It is a bug." in shown[0]
    assert "off_by_one(num_tokens=2, context_length=1)\nshould give  1\ngives        2" in shown[0]
    assert "**Failed.** It is not a bug. It agrees with what is so in all 12 calls." in shown[1]
    assert not any(question.explanation in shown[i] for i, question in enumerate((off_by_one, unusual)))


@pytest.mark.parametrize("verdict", [..., None])
def test_no_verdict_is_not_an_attempt(verdict):
    judgment = off_by_one.judge(verdict)
    assert (judgment.outcome, judgment.score) == (NOT_ATTEMPTED, 0.0)
    assert 'Set `off_by_one` to "bug" or "not a bug"' in judgment.message


@pytest.mark.parametrize("verdict", ["yes", True, "Bug!", 1])
def test_a_verdict_in_other_words_is_told_the_two(verdict):
    judgment = off_by_one.judge(verdict)
    assert judgment.outcome == FAILED
    assert f'The answer is "bug" or "not a bug", not {verdict!r}.' in judgment.message


@true_or_false(
    claim="A longer context leaves fewer windows.", reference=windows, cases=stream_cases, explanation="Yes."
)
def fewer(num_tokens, context_length):
    return max(0, num_tokens - context_length)


@true_or_false(claim="There is one window a token.", reference=windows, cases=stream_cases, explanation="No.")
def as_many(num_tokens, context_length):
    return num_tokens


def test_calls_settle_whether_a_claim_is_true(shown):
    assert (fewer.truth, as_many.truth) == (TRUE, FALSE)
    assert fewer.stub == 'fewer = ...  # "true" or "false"?'
    assert as_many.judge("False").outcome == PASSED
    assert as_many.judge(False).outcome == PASSED
    assert "The claim is false." in as_many.judge("true").message
    assert "in fact  1\nclaimed  2" in as_many.judge("true").message
    as_many.show()
    as_many.hint()
    assert shown[0] == "**Claim.** There is one window a token."
    assert "computes what the claim predicts" in shown[1]


@pytest.mark.parametrize("verdict", ["BUG", " Bug ", "bug"])
def test_a_verdict_is_read_without_regard_to_case(verdict):
    assert off_by_one.judge(verdict).outcome == PASSED


def test_a_question_has_a_snippet_a_hint_a_stub_and_a_solution(shown):
    off_by_one.show()
    off_by_one.hint()
    off_by_one.solution()
    assert shown[0].startswith("**What it is meant to do.** Count the windows that fit.\n\n```python\ndef off_by_one(")
    assert "exercises.off_by_one.snippet" in shown[1]
    assert "reference" not in shown[1]
    assert 'off_by_one = "bug"' in shown[2]
    assert off_by_one.explanation in shown[2]
    names: dict = {}
    exec(off_by_one.stub, names)
    assert off_by_one.judge(names["off_by_one"]).outcome == NOT_ATTEMPTED
    exec(off_by_one.solution_source, names)
    assert off_by_one.judge(names["off_by_one"]).outcome == PASSED


def test_the_checker_leaves_the_global_random_numbers_alone():
    state = random.getstate()
    double.judge(double.reference)
    assert random.getstate() == state
