"""How far a reader is, and what is said where a name is missing."""

import importlib
from types import SimpleNamespace

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import course_lib.teaching
from course_lib.teaching import checker, predict, show_progress, standing
from course_lib.teaching.checker import bug_or_not, exercise
from course_lib.teaching.lessons import find_lessons

LESSONS = find_lessons()


@pytest.fixture
def lesson():
    """A module with one question and two exercises."""

    def cases(_):
        yield from ((n,) for n in range(4))

    def double(number):
        return 2 * number

    def triple(number):
        return 3 * number

    def halve(number):
        return number / 2

    asked = exercise(cases=cases, hints=("Add.", "Multiply."))
    judged = bug_or_not(purpose="Halve.", reference=lambda number: number // 2, cases=cases, explanation="7 / 2.")
    module = type(checker)("lesson")
    vars(module).update(double=asked(double), triple=asked(triple), halve=judged(halve), Exercise=checker.Exercise)
    return module


def test_what_is_judged_and_solved_is_counted(lesson, capsys):
    assert str(show_progress(lesson)) == "0 of 1 judged right: ○ halve\n0 of 2 solved: ○ double, ○ triple"
    lesson.double.check(lambda number: number + number)
    lesson.triple.check(lambda number: number)
    lesson.halve.check("bug")
    assert str(show_progress(lesson)) == "1 of 1 judged right: ✔ halve\n1 of 2 solved: ✔ double, ✘ triple"
    assert "<code>double</code>" in show_progress(lesson)._repr_html_()


def test_who_has_seen_the_solution_has_not_solved_it(lesson, capsys):
    lesson.double.check(lambda number: number + number)
    for item in (lesson.double, lesson.triple, lesson.halve):
        item.solution()
    lesson.triple.check(lambda number: 3 * number)
    lesson.halve.check("bug")
    assert str(show_progress(lesson)) == "0 of 1 judged right: ○ halve\n1 of 2 solved: ✔ double, ○ triple"


def test_a_browser_is_told_which_guesses_to_count(lesson):
    prompt = predict({"a number of this test": 7})
    shown = show_progress(lesson)._repr_html_()
    ids = shown.split('<span class="tally" data-guesses="')[1].split('"')[0].split()
    assert prompt.id in ids
    assert len(set(ids)) == len(ids)
    assert standing.UNCOUNTED in shown
    assert "<script" not in shown


def test_only_exercises_of_a_lesson_have_a_standing():
    for thing, error in ((3, TypeError), (importlib, ValueError)):
        with pytest.raises(error, match=r"^exercises must be .*got"):
            show_progress(thing)


@pytest.fixture
def names(monkeypatch):
    """The names that a lesson defines, when Jupyter says which one this is."""

    def names(lesson):
        monkeypatch.setenv("JPY_SESSION_NAME", f"/home/me/notebooks/{lesson}")
        return standing.names_of_lesson()

    return names


def test_names_are_those_that_the_cells_of_the_lesson_define(names):
    second = names("02_sliding_windows.ipynb")
    # assigned, imported, a function, a loop's
    assert {"orders", "np", "window_starts", "stride"} <= second
    assert not {"alignment_counts", "print", "dataset2", "bug", "not_a_bug", "true", "false"} & second
    assert "alignment_counts" in names("03_random_sampling.ipynb")
    everywhere = names("my_own.ipynb")
    assert {"alignment_counts", "step_counts"} <= everywhere
    assert not {"bug", "true", "false"} & everywhere  # verdicts without quotes


def test_names_of_a_broken_lesson_are_not_known(monkeypatch):
    cells = [{"cell_type": "code", "source": source} for source in ("known = 1", "%%bash\nls", "other = (", "x\0 = 1")]
    cells.append({"cell_type": "code", "source": "also = 2"})
    lessons = [SimpleNamespace(path=LESSONS[0].path, cells=some) for some in (None, cells)]
    monkeypatch.setattr(standing, "find_lessons", lambda: lessons)
    assert standing.names_of_lesson() == {"known", "also"}

    def missing():
        raise FileNotFoundError("no notebooks")

    monkeypatch.setattr(standing, "find_lessons", missing)
    assert standing.names_of_lesson() == set()


@pytest.fixture
def shell(monkeypatch):
    """A shell, in which no cell has run."""
    made = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    monkeypatch.setattr(standing, "get_ipython", lambda: made)
    return made


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("window_starts", True),
        ("(lambda: window_starts)()", True),
        ("window_starst", False),
        ("bug", False),
        ("def f():\n    window_starts = window_starts\n\nf()", False),  # a local name: another mistake
        ("int('window_starts')", False),
    ],
)
def test_a_name_that_a_cell_above_defines_says_how_to_go_on(shell, capsys, source, told):
    standing.explain_missing_names()
    shell.run_cell(source)
    said = capsys.readouterr()
    advice = "A cell further up defines window_starts. To go on after a restart"
    assert (advice in said.err) == told
    assert "Error" in said.out + said.err


def test_importing_what_teaches_is_enough(shell):
    """Whichever cell was run first: most import it."""
    assert shell.custom_exceptions == ()
    importlib.reload(course_lib.teaching)
    assert shell.custom_exceptions == (NameError,)
