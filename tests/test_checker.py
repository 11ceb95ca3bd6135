"""The judge of readers' functions, tried on toy exercises; tests/wrong_answers holds what it says in the lessons."""

import contextlib
import math
import os
import pickle
import random
import re
import signal
import sys
import time

import numpy as np
import psutil
import pytest
import torch
from IPython.core.formatters import DisplayFormatter

from course_lib.teaching import bug_or_not, exercise, true_or_false
from course_lib.teaching.checker import (
    FAILED,
    NOT_ATTEMPTED,
    PASSED,
    RAISED,
    exercises,
    mistakes,
    processes,
    questions,
    run,
    running,
    same,
)
from course_lib.teaching.checker.calling import format_call, show
from course_lib.teaching.checker.questions import BUG, FALSE, NOT_A_BUG, TRUE
from course_lib.teaching.checker.sources import is_stub
from solved_lessons import define


def double_cases(random_numbers):
    # The largest first: it is the checker that must find the smallest.
    yield ([7, 8, 9],)
    yield from (([random_numbers.randint(-50, 50) for _ in range(length)],) for length in range(5))


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


def toy(*cases):
    """An exercise with these arguments of its calls."""
    return exercise(
        cases=lambda random_numbers: [case if isinstance(case, tuple) else (case,) for case in cases], hints=("a", "b")
    )


@toy("a  b", "a   b", "a  b  c")
def spaced(text: str) -> str:
    """Leave one space between letters."""
    return " ".join(text.split())


@toy(*range(1, 8))
def half(number):
    """Return how many pairs there are among so many."""
    return number // 2


@toy(*range(1, 8))
def nats(number):
    """Return the natural logarithm of one more."""
    return math.log(number + 1)


@toy((1, 3), (2, 3), (4, 3))
def table(rows, columns):
    """Return a table of numbers 0, 1, 2, ..."""
    return np.arange(rows * columns).reshape(rows, columns)


@toy(0, 4)
def invert(number):
    """Return 1 / number."""
    if number == 0:
        raise ValueError("number must not be 0")
    return 1 / number


@toy(*range(4))
def count_up(n: int):
    """Yield 0 ... n-1."""
    yield from range(n)


@pytest.fixture
def shown(monkeypatch):
    """What hints and solutions display, and what checks report outside of a notebook."""
    pieces = []
    for module in (exercises, mistakes, questions):
        monkeypatch.setattr(module, "display", lambda markdown: pieces.append(markdown.data))
    monkeypatch.setattr("builtins.print", lambda text, **options: pieces.append(text))
    return pieces


def test_a_right_answer_passes(shown):
    assert double.check(lambda numbers: [number + number for number in numbers]) == 1.0
    assert shown == ["✔ **Passed.** `double` is right in all 6 calls."]


def test_a_wrong_answer_fails_and_the_smallest_failing_call_is_shown(shown):
    score = double.check(lambda numbers: [2 * number for number in numbers] if len(numbers) < 3 else [])
    assert score == 0.0
    assert isinstance(score, float)
    (message,) = shown
    assert message.startswith("✘ **Failed** in 3 of 6 calls. The smallest of them:")
    assert "double(numbers=[7, 8, 9])\nexpected  [14, 16, 18]\ngot       []" in message
    assert "`exercises.double.hint()` may help" in message


def test_a_second_failing_call_is_shown_where_the_first_leaves_open_what_is_wrong():
    open_still = half.judge(lambda number: number)  # 1 is expected to be 0: too large, but by what?
    assert open_still.message.count("expected") == 2
    assert "\nAnother one:\n" in open_still.message
    known = double.judge(lambda numbers: [number**2 for number in numbers])
    assert known.diagnosis.startswith("the numbers are squared")
    assert "Another one" not in known.message


KEPT = []


def keeps_a_default(numbers, found=[]):  # noqa: B006
    found.extend(2 * number for number in numbers)
    return list(found)


def keeps_outside(numbers):
    KEPT.extend(2 * number for number in numbers)
    return list(KEPT)


def gives_one_list_again_and_again(numbers):
    KEPT[:] = [2 * number for number in numbers]
    return KEPT


def right_from_the_second_time(numbers, asked={}):  # noqa: B006
    asked[tuple(numbers)] = asked.get(tuple(numbers), 0) + 1
    return [2 * number for number in numbers] if asked[tuple(numbers)] > 1 else []


@pytest.mark.parametrize(
    "answer", [keeps_a_default, keeps_outside, gives_one_list_again_and_again, right_from_the_second_time]
)
def test_an_answer_that_keeps_something_from_call_to_call_is_refused_and_told_so(answer):
    KEPT.clear()
    judgment = double.judge(answer)
    assert (judgment.outcome, judgment.score) == (FAILED, 0.0)
    assert "something is kept from one call to the next" in judgment.diagnosis


def test_an_answer_may_remember_what_it_has_found_out():
    known = {}

    def answer(numbers):
        key = tuple(numbers)
        if key not in known:
            known[key] = [2 * number for number in numbers]
        return list(known[key])

    assert double.judge(answer).outcome == PASSED


def test_an_answer_that_raises_is_shown_with_its_error_and_the_line():
    def answer(numbers):
        first = numbers[0]
        return [2 * first] + [2 * number for number in numbers[1:]]

    judgment = double.judge(answer)
    assert (judgment.outcome, judgment.score) == (RAISED, 0.0)
    assert "**Raised** in 1 of 6 calls" in judgment.message
    assert "double(numbers=[])\nexpected  []\ngot       IndexError: list index out of range" in judgment.message
    assert "at        line 2: first = numbers[0]" in judgment.message


@contextlib.contextmanager
def decorated():
    pass


def with_body(source):
    return define(f"def double(numbers):\n    {source}", "double")


@pytest.mark.parametrize(
    "answer", [..., None, '"""Return twice each number."""\n    ...', "pass", "return ...", "raise NotImplementedError"]
)
def test_a_stub_is_not_an_attempt(answer):
    judgment = double.judge(with_body(answer) if isinstance(answer, str) else answer)
    assert (judgment.outcome, judgment.score) == (NOT_ATTEMPTED, 0.0)
    assert judgment.message == "**Not attempted.** Replace the `...` in `double`, then run the cell again."


def test_only_functions_that_are_written_to_do_nothing_are_stubs():
    without_source: dict = {}
    exec("def empty(): ...", without_source)
    assert not any(map(is_stub, (decorated, lambda x: None, len, 5, without_source["empty"])))
    for body in ("return 5", "numbers = numbers + 1", "raise NotImplementedError"):
        assert not is_stub(with_body(body))


@pytest.mark.parametrize("answer", [[2, 4], 5, "double"])
def test_a_result_instead_of_the_function_is_told_so(answer):
    judgment = double.judge(answer)
    assert judgment.outcome == FAILED
    assert "Pass the function `double` itself, not its result." in judgment.message


def sum_of_parts(answer, total):
    parts = answer(total)
    return (sum(parts), len(parts) > 1), f"{parts} make {sum(parts)}."


@exercise(cases=lambda random_numbers: [(n,) for n in (4, 9, 30)], hints=("Cut it.",), observe=sum_of_parts)
def parts_of(total: int) -> list[int]:
    """Return two or more numbers that make the total together."""
    return [1, total - 1]


parts_of.slips("""
    total - 1 => total
        the first part is not subtracted.
""")


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        (lambda total: [total - 3, 1, 2], PASSED, None),
        (lambda total: [2, total - 1], FAILED, "the first part is not subtracted."),  # in another way
        (lambda total: [total], FAILED, "[4] make 4."),
        (lambda total: [total, total // 0], RAISED, None),
    ],
)
def test_where_many_results_are_right_the_judge_looks_at_what_they_do(answer, outcome, words):
    judgment = parts_of.judge(answer)
    assert (judgment.outcome, judgment.diagnosis) == (outcome, words)
    assert outcome != RAISED or "at        line 1" in judgment.message


@pytest.mark.parametrize(
    ("answer", "diagnosis"),
    [
        (lambda numbers: [number * number for number in numbers], "the numbers are squared. Twice is not the square."),
        (lambda numbers: [number + number for number in numbers][1:], "the first number is left out."),
        # right here and there, and elsewhere wrong as the known mistake is
        (lambda numbers: [n * n for n in numbers] if len(numbers) > 1 else [2 * n for n in numbers], "the numbers are"),
        # who fails in few calls has not made a mistake that fails in most
        (lambda numbers: [n * n for n in numbers] if len(numbers) > 2 else [2 * n for n in numbers], None),
        (lambda numbers: [2 * number + len(numbers) % 3 for number in numbers], None),
    ],
)
def test_a_usual_mistake_is_recognized_and_an_unknown_one_has_no_diagnosis(answer, diagnosis):
    judgment = double.judge(answer)
    if diagnosis is None:
        assert judgment.diagnosis is None
    else:
        assert judgment.diagnosis.startswith(diagnosis)
        assert f"**Looks like:** {judgment.diagnosis}" in judgment.message


def in_place(numbers):
    for i in range(len(numbers)):
        numbers[i] *= 2
    return numbers


def sorts_long_ones(numbers):
    if len(numbers) > 3:
        numbers.sort()
    return [2 * number for number in numbers]


@pytest.mark.parametrize("answer", [in_place, sorts_long_ones])
def test_an_answer_that_changes_its_arguments_is_caught_and_spoils_no_later_call(answer):
    judgment = double.judge(answer)
    assert judgment.outcome == FAILED
    assert "the function changes its arguments" in judgment.diagnosis
    assert "and the arguments changed" in judgment.message
    assert double.judge(double.reference).outcome == PASSED


@pytest.mark.parametrize("make", [np.array, torch.tensor])
def test_changed_arrays_and_tensors_are_caught_but_models_and_generators_may_change(make):
    def add_one(values):
        values += 1
        return values

    case = (make([1, 2]),)
    assert run(add_one, case).changed_arguments
    assert case[0].tolist() == [1, 2]
    assert not run(lambda values: values + 1, case).changed_arguments
    model, generator = torch.nn.Linear(2, 2), torch.Generator().manual_seed(0)
    outcome = run(lambda model, generator: torch.rand(1, generator=generator).item(), (model, generator))
    assert outcome.error is None
    assert not outcome.changed_arguments


def test_the_cases_are_the_same_each_time_and_the_smallest_come_first():
    assert double.cases == double.drawn_from(0).cases
    assert [len(case[0]) for case in double.cases[:2]] == [0, 1]


@pytest.mark.parametrize(
    ("item", "answer", "words"),
    [
        (half, lambda n: len, "a function, not its result"),
        (half, lambda n: undefined // 2, "name 'undefined' is not defined. After a restart"),  # noqa: F821
        (half, lambda n, m: n, "is called with 1 arguments"),
        (nats, lambda n: math.log2(n + 1), "1 / ln 2: bits where nats are wanted"),
        (nats, lambda n: math.log(2) * math.log(n + 1), "which is ln 2"),
        (double, lambda numbers: [0, *(2 * n for n in numbers)], "one entry too many at the start"),
        (double, lambda numbers: bytes(n % 7 for n in numbers), "`bytes` where numbers are wanted"),
        (double, lambda numbers: [{}[n] for n in numbers], "a key that it does not have"),
        (double, lambda numbers: [2 * n for n in numbers[-1:]], "its beginning is missing"),
        (double, lambda numbers: list(numbers).__getitem__((0, 0)), "one index at a time"),
        (double, lambda numbers: [n > 0 for n in numbers], "`True` or `False` where a number is wanted"),
        (toy(1, 2)(lambda n: ([1], [2])), lambda n: ([2], [1]), "the two results are exchanged"),
        (spaced, lambda text: text, "spaces are left that should be gone; all else is right"),
        (spaced, lambda text: text.replace(" ", ""), "spaces are missing; all else is right"),
        (half, lambda n: {[n]: 1}, "a list cannot be a key"),
        (half, lambda n: n[0] // 2, "one number is treated as a list"),
        (half, lambda n: [n].sort()[0], "is `None` where it should not be"),
        (half, lambda n: [(a, b) for a, b in [(1, 2, 3)]], "more names than values"),
        (half, lambda n: half_again(n), "more often than Python allows"),
        (table, lambda rows, columns: table.reference(rows, columns) ** 2, None),
    ],
)
def test_wrong_results_are_described_by_what_they_are(item, answer, words):
    judgment = item.judge(answer)
    assert judgment.outcome in (FAILED, RAISED)
    assert judgment.diagnosis is None if words is None else words in (judgment.diagnosis or ""), judgment.message


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
    "value",
    [Hostile(), [Hostile()], {"a": Hostile()}, np.array([Hostile()], dtype=object), torch.empty(2, device="meta")],
)
def test_no_result_breaks_the_checker(value):
    assert half.judge(lambda n: value).outcome == FAILED
    assert double.judge(lambda numbers: value).outcome == FAILED


def test_what_is_printed_is_kept_for_the_smallest_failing_call_and_cut(capsys):
    def talks(*arguments):
        print("looking at", *arguments, "x" * 5_000)
        return "wrong"

    judgment = double.judge(talks)
    assert judgment.message.count("looking at") == 1
    printed = judgment.message.split("printed   ")[1].splitlines()[0]
    assert len(printed) == exercises.LONGEST_PRINT
    assert "looking at" not in capsys.readouterr().out


forks = pytest.mark.skipif(not running.CAN_FORK, reason="answers run in a process of their own on Linux only")


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
        (forever, "did not end within"),
        (fills_the_memory, ("all the memory", "did not end within")),  # whichever limit is met first
        (lambda numbers: list(range(10**11)), "all the memory"),
        (lambda numbers: time.sleep(3_600), "waits for something that does not come"),
        (lambda numbers: os.kill(os.getpid(), signal.SIGSTOP), "waits for something that does not come"),
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


@forks
def test_only_the_answer_is_watched(monkeypatch):
    def slow(n):
        end = time.process_time() + 0.3
        while time.process_time() < end:
            pass
        return n

    monkeypatch.setattr(running, "CALL_SECONDS", 0.1)
    item = toy(*range(3))(slow)
    item.mistake("one more")(lambda n: slow(n) + 1)
    assert item.judge(lambda n: n + 1).diagnosis == "one more"
    assert item.judge(slow).outcome == RAISED


@toy((1,), (5,), (10,), (10**12,))
def twice(number):
    """Return twice a number."""
    return 2 * number


twice.mistake("one is added.")(lambda number: 2 * number + 1)


@forks
@pytest.mark.parametrize(
    ("more", "words"),
    [
        (0, ["Right so far, in 3 calls", "did not end within", "A loop of 1,000,000,000,000 rounds"]),
        (1, ["one is added. Besides:", "did not end within"]),
    ],
)
def test_what_was_returned_before_a_call_that_did_not_end_is_judged(more, words, monkeypatch):
    def by_counting(number):
        total = more
        for _ in range(number):
            total += 2
        return total

    monkeypatch.setattr(running, "CALL_SECONDS", 0.1)
    judgment = twice.judge(by_counting)
    assert all(word in judgment.diagnosis for word in words)
    assert "twice(number=1000000000000)" in judgment.message
    assert judgment.score == 0.0


def squares_of_some(numbers):
    first = numbers[0]
    return [first * first] + [number * number for number in numbers[1:]]


def doubled_floats(numbers):
    return [2.0 * number for number in numbers]


def squared_floats(numbers):
    return [1.0 * number * number for number in numbers]


def squares_in_place(numbers):
    numbers[:] = [number * number for number in numbers]
    return numbers


@pytest.mark.parametrize(
    ("answer", "begin", "end"),
    [
        (squares_of_some, "the numbers are squared", "And `double(numbers=[])` raises IndexError: an index is beyond"),
        (doubled_floats, "the values are right, but a float where an integer is wanted", "keeps to integers."),
        (squared_floats, "the numbers are squared", "And it is a float where an integer is wanted"),
        (squares_in_place, "the numbers are squared", "And the function changes its arguments, which"),
        (lambda numbers: [number / 2 for number in numbers], "a float where an integer is wanted", "to integers."),
    ],
)
def test_the_value_is_judged_first_and_what_else_is_wrong_comes_behind(answer, begin, end):
    diagnosis = double.judge(answer).diagnosis
    assert diagnosis.startswith(begin)
    assert end in diagnosis
    assert diagnosis.count("a float where") <= 1


def copies_itself(numbers):
    if os.fork() == 0:
        time.sleep(3_600)
    return [2 * number for number in numbers]


@forks
def test_what_an_answer_starts_holds_up_nobody():
    begin = time.monotonic()
    assert double.judge(copies_itself).outcome == PASSED
    assert time.monotonic() - begin < 600


@forks
def test_a_process_ends_with_all_that_it_has_started():
    def work(watch):
        copies = []
        for _ in range(2):
            reader, writer = os.pipe()
            if os.fork() == 0:
                os.setsid()
                if (copy := os.fork()) == 0:
                    time.sleep(3_600)
                os.write(writer, str(copy).encode())
                os._exit(0)
            os.wait()
            copies.append(os.read(reader, 20).decode())
        return " ".join(copies).encode()

    for copy in processes.run_in_a_process(work, running.limits_of_answers()).split():
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(int(copy)).wait(timeout=60)


@forks
def test_an_interrupt_ends_the_process(monkeypatch):
    started = []

    def interrupted(self, seconds):
        started.append(self.process.pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(processes.GuardedProcess, "look", interrupted)
    with pytest.raises(KeyboardInterrupt):
        running.limited(lambda watch: time.sleep(3_600))
    assert not psutil.pid_exists(started[0])


@forks
@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (lambda watch: bytes(2_000), "memory"),  # more than is read
        (lambda watch: 1 / 0, "os._exit"),
        (lambda watch: [os.closerange(3, 100), time.sleep(3_600)], "waits"),
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
            end = time.process_time() + 0.02
            while time.process_time() < end:
                pass
            watch.end()
        return b"done"

    # Each call alone may take more than all of them.
    limits = processes.Limits(one_call=0.2, all_calls=0.1, asleep=5, extra_bytes=2**29)
    found = processes.run_in_a_process(work, limits)
    assert found.reason == "endless"
    assert 1 <= found.call <= 5  # when five have had theirs, nothing is left


def test_the_checker_and_an_answer_leave_no_trace_in_the_kernel():
    seen = []

    def remembers(numbers):
        seen.append(numbers)
        random.seed(0)
        return [2 * number for number in numbers]

    state = random.getstate()
    assert double.judge(double.reference, guarded=False).outcome == PASSED
    assert random.getstate() == state
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


def test_each_outcome_has_its_own_sign_color_and_word_and_no_answer_writes_into_the_page():
    answers = (double.reference, squares, lambda numbers: 1 / 0, ...)
    pages = [double.check(answer)._repr_mimebundle_()["text/html"] for answer in answers]
    for found in (r"<strong style=\"color: (#\w+)\">", r"\">(.)</strong>", r"<strong>(\w+)"):
        assert len({re.search(found, page).group(1) for page in pages}) == 4
    page = double.check(lambda numbers: "<script>alert(1)</script>")._repr_mimebundle_()["text/html"]
    assert "<script>" not in page


def test_hints_come_one_at_a_time_and_one_that_does_not_exist_says_which_do(shown):
    for number in (1, 2, 0, 3, -1):
        double.hint(number)
    assert shown == [
        "**Hint 1.** Think of twice. *(`hint(2)` says more.)*",
        "**Hint 2.** Use `* 2`.",
        *["There are 2 hints: `hint(1)` to `hint(2)`."] * 3,
    ]


def test_the_solution_is_shown_as_it_is_written_with_the_names_that_it_needs(shown):
    double.solution()
    assert shown[0].startswith("```python\ndef double(numbers: list[int]) -> list[int]:\n")
    assert "return [2 * number for number in numbers]" in shown[0]
    assert "@exercise" not in shown[0]
    assert "It uses" not in shown[0]
    table.solution()
    assert "It uses `np`, imported or defined in cells above." in shown[1]


def breaks(n):
    yield from range(n - 1)
    raise KeyError("no more")


def never_ends(n):
    while True:
        yield n


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (lambda n: iter(range(n)), PASSED),
        (lambda n: list(range(n)), PASSED),
        (lambda n: iter(range(n + 1)), FAILED),
        (never_ends, FAILED),
        (breaks, RAISED),
    ],
)
def test_iterators_are_compared_by_what_they_yield(answer, outcome):
    judgment = count_up.judge(answer)
    assert judgment.outcome == outcome
    assert len(judgment.message) < 1_000


def test_an_error_that_is_asked_for_must_be_raised():
    def other_words(number):
        if number == 0:
            raise ValueError("zero?")
        return 1 / number

    assert invert.judge(other_words).outcome == PASSED
    assert invert.judge(lambda number: 1 / number).outcome == RAISED  # a ZeroDivisionError is another error
    judgment = invert.judge(lambda number: 1 / (number or math.inf))
    assert judgment.outcome == FAILED
    assert "expected  ValueError: number must not be 0\ngot       0.0" in judgment.message


@pytest.mark.parametrize(
    ("expected", "equal", "unequal"),
    [
        (3, [np.int64(3), torch.tensor(3)], [3.0, 3 + 1e-7, True, "3", None, [3]]),
        (100_000, [100_000], [100_001]),  # nothing is rounded among integers
        (np.array([2**60]), [[2**60]], [np.array([2**60 + 1]), 2**60]),
        (0.5, [0.5 + 1e-9, np.float32(0.5)], [0.501, math.nan, True]),
        (2.0, [2], [True]),
        (math.nan, [math.nan, torch.tensor(math.nan)], [0.0]),
        (math.inf, [math.inf], [-math.inf]),
        ([1.0, math.nan], [np.array([1.0, math.nan])], [[1.0, 2.0], [True, math.nan]]),
        (True, [np.True_, torch.tensor(True), np.array(True)], [1, False, torch.tensor(False)]),
        ([[True, False]], [np.array([[1, 0]])], [[[True, True]]]),  # a mask of ones and zeros will do
        # a flag among numbers is no number
        (
            [1, 2],
            [[1, 2], (1, 2), np.array([1, 2], np.uint16)],
            [[True, 2], [torch.tensor(True), 2], [1.0, 2.0], [2, 1]],
        ),
        ([1, 0], [[1, 0]], [[1, 0, 0], np.array([True, False]), None]),
        ((1, 2), [[1, 2]], [(True, 2)]),
        ([True, 2], [[np.True_, np.int64(2)]], [[1, 2]]),
        ([[1], [2, 3]], [[[1], [2, 3]], np.array([[1], [2, 3]], dtype=object)], [[[True], [2, 3]], [[1], [2, 4]]]),
        ({"a": [1, True]}, [{"a": [1, True]}], [{"a": [1, 1]}, {"b": [1, True]}, {"a": [1, True], "b": 2}]),
        ({"a": [1, 2]}, [{"a": np.array([1, 2])}], [{"a": [2, 1]}]),
        (None, [None], [0]),
        ("ab", ["ab"], [["a", "b"], "a"]),
        (["a", "b"], [("a", "b")], ["ab"]),
        ([], [[], np.array([]), np.array([], dtype=bool)], [None, [0]]),
        (np.array([[1, 2]]), [torch.tensor([[1, 2]])], [[1, 2], [[1], [2]]]),
        (
            (torch.arange(2), torch.ones(2)),
            [[np.arange(2), np.ones(2)]],
            [(torch.arange(2),) * 2, (torch.ones(2),), None],
        ),
        ((torch.zeros(2, 3), torch.zeros(4)), [[torch.zeros(2, 3), torch.zeros(4)]], [torch.zeros(2, 3)]),
        ([torch.zeros(2), torch.zeros(3)], [[np.zeros(2), np.zeros(3)]], [[np.zeros(3), np.zeros(2)]]),
        ([("a", 1), ("b", 2)], [[("a", 1), ("b", 2)]], [[("a", 1), ("b", 3)]]),
        ({1, 2}, [{2, 1}], [{1, 3}, [1, 2]]),
        (range(3), [[0, 1, 2]], [range(4)]),
        (len, [len], [max]),
    ],
)
def test_results_are_the_same_or_not(expected, equal, unequal):
    for got in equal:
        assert same(expected, got), got
    for got in unequal:
        assert not same(expected, got), got


def test_calls_are_shown_by_name_and_value_as_they_are_and_cut_at_their_end():
    def function(text, numbers, weight=1.0, *, other=None):
        return None

    shown = format_call(function, ("a  b\n", torch.tensor([1, 2]), 0.1 + 0.2))
    assert shown == r"function(text='a  b\n', numbers=[1, 2], weight=0.3)"
    assert format_call(function, (len, ("x", np.array([0.123456])))) == "function(text=len, numbers=('x', [0.1235]))"
    shown = format_call(function, ("x" * 1_000,))
    assert "xxxxxxxxxx" in shown
    assert shown.endswith(" ...)")
    assert len(shown) < 250
    assert show([np.int64(1), (np.float64(0.5), np.True_)]) == "[1, (0.5, True)]"
    assert format_call(peeks, (the_first, [0])) == "peeks(model=the_first, ids=[0])\n  # the_first: output 0 is id 0"


def stream_cases(random_numbers):
    yield from ((n, t) for n in (9, 2, 5, 0) for t in (3, 1, 2))


def windows(num_tokens, context_length):
    return max(0, num_tokens - context_length)


ABOUT_WINDOWS = {"reference": windows, "cases": stream_cases}


@bug_or_not(purpose="Count the windows that fit.", explanation="There must be room for a target.", **ABOUT_WINDOWS)
def off_by_one(num_tokens, context_length):
    return max(0, num_tokens - context_length + 1) if num_tokens else 0


@bug_or_not(purpose="Count the windows that fit.", explanation="The loop counts the same.", **ABOUT_WINDOWS)
def unusual(num_tokens, context_length):
    return len([start for start in range(num_tokens) if start + context_length < num_tokens])


@true_or_false(claim="A longer context leaves fewer windows.", explanation="Yes.", **ABOUT_WINDOWS)
def fewer(num_tokens, context_length):
    return max(0, num_tokens - context_length)


@true_or_false(claim="There is one window a token.", explanation="No.", **ABOUT_WINDOWS)
def as_many(num_tokens, context_length):
    return num_tokens


def test_calls_settle_a_question_and_a_verdict_is_told_the_evidence_and_only_the_right_one_the_reason(shown):
    assert [item.truth for item in (off_by_one, unusual, fewer, as_many)] == [BUG, NOT_A_BUG, TRUE, FALSE]
    case, expected, got = off_by_one.evidence
    assert (case, expected.value, got.value) == ((2, 1), 1, 2)
    assert unusual.evidence is None
    assert unusual.check(NOT_A_BUG) == 1.0
    assert unusual.explanation in shown.pop()
    assert off_by_one.check(NOT_A_BUG) == 0.0
    assert unusual.check(BUG) == 0.0
    assert as_many.check("true") == 0.0
    assert "**Failed.** It is a bug." in shown[0]
    assert "off_by_one(num_tokens=2, context_length=1)\nshould give  1\ngives        2" in shown[0]
    assert "**Failed.** It is not a bug. It is right in all 12 calls that we tried." in shown[1]
    assert "The claim is false." in shown[2]
    assert "in fact  1\nclaimed  2" in shown[2]
    assert not any(item.explanation in said for item, said in zip((off_by_one, unusual, as_many), shown, strict=True))


@pytest.mark.parametrize(
    ("question", "verdict", "outcome", "words"),
    [
        (off_by_one, ..., NOT_ATTEMPTED, 'Set `off_by_one` to "bug" or "not a bug"'),
        (off_by_one, None, NOT_ATTEMPTED, 'Set `off_by_one` to "bug" or "not a bug"'),
        (off_by_one, "yes", FAILED, 'The answer is "bug" or "not a bug", not \'yes\'.'),
        (off_by_one, True, FAILED, 'The answer is "bug" or "not a bug", not True.'),
        (off_by_one, "Bug!", FAILED, "not 'Bug!'."),
        (off_by_one, "BUG", PASSED, "It is a bug."),
        (off_by_one, " Bug ", PASSED, "It is a bug."),
        (as_many, "False", PASSED, "The claim is false."),
        (as_many, False, PASSED, "The claim is false."),
    ],
)
def test_a_verdict_is_read_leniently_and_one_in_other_words_is_told_the_two(question, verdict, outcome, words):
    judgment = question.judge(verdict)
    assert (judgment.outcome, judgment.score) == (outcome, float(outcome == PASSED))
    assert words in judgment.message


def test_a_question_has_a_snippet_a_hint_a_stub_and_a_solution(shown):
    for question in (off_by_one, as_many):
        question.show()
        question.hint()
        question.solution()
        for source, outcome in ((question.stub, NOT_ATTEMPTED), (question.solution_source, PASSED)):
            assert question.judge(define(source, question.name)).outcome == outcome
    assert shown[0].startswith("**What it is meant to do.** Count the windows that fit.\n\n```python\ndef off_by_one(")
    assert "exercises.off_by_one.snippet" in shown[1]
    assert "reference" not in shown[1]
    assert 'off_by_one = "bug"' in shown[2]
    assert off_by_one.explanation in shown[2]
    assert shown[3] == "**Claim.** There is one window a token."
    assert "computes what the claim predicts" in shown[4]


def the_first(ids):
    """output 0 is id 0"""
    return ids[:1]


def peeks(model, ids):
    return False
