"""Where was I? What is counted in the lessons, what a reader has done of it, and where to go on."""

import importlib
import re
import shutil
from functools import cache

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from course_lib.teaching import lessons, predict, record, show_progress, standing, welcome_back
from course_lib.teaching.checker import Exercise, NumbersQuestion, Question, bug_or_not
from course_lib.teaching.checker.messages import _full_name
from course_lib.teaching.guesses import prompts
from course_lib.teaching.lessons import exercise_of, find_lessons, items_of
from course_lib.teaching.standing import Progress, Standing

LESSONS = find_lessons()


@pytest.fixture
def done(monkeypatch, tmp_path):
    """The file in which all that is done is kept."""
    monkeypatch.setattr(prompts, "_replies", {})
    monkeypatch.setattr(record, "_of_this_kernel", {})
    monkeypatch.setattr(record, "progress_file", lambda: tmp_path / record.NAME)
    monkeypatch.setattr(record, "_told", [])
    return tmp_path / record.NAME


def asking(lesson):
    return [cell for cell in lesson.notebook.cells if cell.cell_type == "code" and "predict(" in cell.source]


@cache
def patterns(lesson):
    return [pattern for cell in asking(lesson) for pattern in standing._questions_in(cell.source)]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_prompt_of_a_lesson_is_known_by_its_question(lesson):
    cells, own = asking(lesson), patterns(lesson)
    assert len(own) == len(set(own)) == len(cells) >= 5
    for cell, pattern in zip(cells, own, strict=True):
        asked = cell.outputs[-1].data["text/plain"].rsplit("\n", 1)[0]
        assert re.fullmatch(pattern.replace("`", "").replace(r"\*\*", ""), asked, re.DOTALL), pattern
    assert not set(own) & {pattern for one in LESSONS if one is not lesson for pattern in patterns(one)}


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_exercise_is_kept_under_the_name_that_its_notebook_gives_it(lesson):
    asked = {f"{lesson.name}.{name}" for cell in lesson.notebook.cells if (name := exercise_of(cell))}
    items = items_of(lesson.name).values()
    assert {_full_name(item) for item in items if isinstance(item, Exercise | Question)} == asked
    assert {_full_name(item) for item in items if not isinstance(item, Exercise | Question)} <= {""}


def row_of(number):
    return show_progress().standings[number - 1].row


def test_guesses_verdicts_and_solutions_are_counted(done, capsys):
    num_asked = len(asking(LESSONS[1]))
    assert row_of(2) == ["2. Sliding windows", "", num_asked, "0 of 4", "0 of 5"]
    assert show_progress().advice.startswith("Begin with [lesson 1, Next-token shifting](01_next_token_shifting.ipynb)")
    question = re.sub(r"\\(.)", r"\1", patterns(LESSONS[1])[0])
    predict(question, (196, 195)).guess("nonsense")
    assert row_of(2)[1:3] == ["", num_asked]
    predict(question, (196, 195)).guess("196, 195")
    predict("How many ids does the window have?", 9)
    predict("Nobody asks this in a lesson?", 9).guess(9)
    items = items_of("sliding_windows")
    items["starts_from_range"].check(...)
    items["tokens_in_tail"].check(lambda num_tokens, context_length, stride: 1)
    assert row_of(2) == ["2. Sliding windows", "1 of 1", num_asked - 1, "0 of 4", "0 of 5"]
    items["starts_from_range"].check("bug")
    items["tokens_in_tail"].check(items["tokens_in_tail"].reference)
    items["tokens_in_tail"].check(lambda num_tokens, context_length, stride: 1)
    assert row_of(2) == ["2. Sliding windows", "1 of 1", num_asked - 1, "1 of 4", "1 of 5"]
    shown = "Stored windows of stride 1, T = 64: how many times the memory of the stream, whose ids take 1 byte each?"
    predict(shown, 9).reveal()
    assert row_of(2)[1:3] == ["1 of 2", num_asked - 2]
    assert row_of(1)[1] == row_of(3)[1] == ""
    capsys.readouterr()


def test_a_lesson_says_what_was_guessed_judged_and_solved(done, capsys):
    exercises = importlib.import_module("course_lib.exercises.sliding_windows")
    asked = len(asking(LESSONS[1]))
    words = str(show_progress(exercises)).splitlines()
    assert words[0] == f"0 of {asked} guessed right {'○' * asked}"
    assert words[1].startswith("0 of 4 judged right: ○ starts_from_range, ○ drawn_starts")
    assert words[2].startswith("0 of 5 solved: ○ tokens_in_tail")
    items = items_of("sliding_windows")
    items["tokens_in_tail"].check(items["tokens_in_tail"].reference)
    items["tokens_in_tail"].check(lambda num_tokens, context_length, stride: 1)  # a worse second try
    items["turns_as_target"].check(lambda position, num_tokens, context_length: -1)
    record.record_outcome(re.sub(r"\\(.)", r"\1", patterns(LESSONS[1])[0]), "failed")
    words = str(show_progress(exercises))
    assert f"0 of {asked} guessed right ✘○" in words
    assert "1 of 5 solved: ✔ tokens_in_tail, ✘ turns_as_target" in words
    shown = show_progress(exercises)._repr_mimebundle_()
    assert shown["text/plain"] == words
    assert "<code>tokens_in_tail</code>" in shown["text/html"]
    capsys.readouterr()


def test_after_a_restart_a_guess_still_counts(done, monkeypatch):
    predict("How many?", 7).guess("8")
    predict("How much?", 0.5).reveal()
    monkeypatch.setattr(prompts, "_replies", {})
    monkeypatch.setattr(record, "_of_this_kernel", {})
    again = predict("How many?", 7)
    assert str(again.first_reply) == "✘ The answer: 7. You guessed something else."
    assert str(again.guess("7")) == "✔ Right. The answer: 7. Your first guess counts."
    assert record.recorded_outcomes()["How many?"] == "failed"
    assert "Not counted" in str(predict("How much?", 0.5).guess("0.5"))
    done.unlink()
    assert predict("How many?", 7).first_reply is None


def test_a_missing_name_is_answered_by_what_to_run(capsys, monkeypatch):
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))  # not in anybody's history
    monkeypatch.setattr(standing, "get_ipython", lambda: shell)
    monkeypatch.setattr(record, "recorded_outcomes", dict)
    welcome_back()
    shell.run_cell("nobody_has_made_this")
    said = capsys.readouterr()
    assert "NameError" in said.out
    assert "Run All Above Selected Cell" in said.err
    shell.run_cell("1 / 0")
    assert "Run All Above" not in capsys.readouterr().err


def test_questions_by_seed_and_exercises_of_others_are_not_kept(done, capsys):
    question = next(item for item in items_of("sliding_windows").values() if isinstance(item, NumbersQuestion))
    assert question.check(question.answer()) == 1.0
    mine = bug_or_not(reference=abs, cases=lambda _: [(-1,)], explanation="…")(lambda x: x)
    assert mine.check("bug") == 1.0
    assert not done.exists()


def test_progress_is_a_table_in_words_and_in_a_notebook(done):
    record.record_outcome("sliding_windows.rank_share", "passed")
    progress = show_progress()
    assert str(progress) == repr(progress)
    assert "▶  2. Sliding windows" in str(progress)
    assert str(progress).count("▶") == 1
    left = f"Left there: {len(asking(LESSONS[1]))} guesses, 4 verdicts and 4 exercises."
    last = f"You were last in lesson 2, Sliding windows. {left}"
    assert str(progress).endswith(f"{last} To begin again, delete progress.json.")
    shown = progress._repr_mimebundle_()
    assert "<td" in shown["text/markdown"]
    assert "[lesson 2, Sliding windows](02_sliding_windows.ipynb)" in shown["text/markdown"]
    assert shown["text/plain"] == str(progress)


def test_without_a_person_nothing_is_known(monkeypatch):
    monkeypatch.setattr(record, "progress_file", lambda: None)
    monkeypatch.setattr(record, "_of_this_kernel", {})  # other tests of this process have solved exercises
    words = str(show_progress())
    assert "▶" not in words
    assert "only in a notebook that is opened in the folder of the lessons" in words


DONE = ["failed"], {"a": "passed"}, {"b": "passed"}
BEGUN = [None], {"a": "passed"}, {"b": "passed"}


@pytest.mark.parametrize(
    ("lessons", "advice"),
    [
        ([(BEGUN, -1), (BEGUN, -1)], "Begin with [lesson 1, T]."),
        ([(DONE, 3), (BEGUN, -1)], "You have done all of [lesson 1, T]. Go on with [lesson 2, T]."),
        ([(BEGUN, 3), (BEGUN, 4)], "You were last in [lesson 2, T]. Left there: 1 guess."),
        ([(BEGUN, 3), (DONE, 4)], "You have done all of [lesson 2, T]. Go on with [lesson 1, T]."),
        ([(BEGUN, 1), (DONE, 4), (BEGUN, 2)], "You have done all of [lesson 2, T]. Go on with [lesson 3, T]."),
        ([(DONE, 3), (DONE, 4)], "You have done everything."),
    ],
)
def test_a_reader_is_told_where_to_go_on(lessons, advice):
    standings = [Standing(n, "T", "", *outcomes, last) for n, (outcomes, last) in enumerate(lessons, 1)]
    assert Progress(standings).advice.replace("()", "") == advice


def test_the_next_lesson_begins_with_where_one_was(done, monkeypatch):
    shown = []
    monkeypatch.setattr(standing, "display", lambda one: shown.append(one.data))
    welcome_back()
    assert shown == []
    record.record_outcome("random_sampling.num_batches", "failed", over=())
    welcome_back()
    (words,) = shown
    assert words.startswith("You were last in [lesson 3, Random sampling](03_random_sampling.ipynb). Left there: ")
    assert "`show_progress()` tells about all lessons. To go on after a restart, " in words
    done.write_text("nonsense", encoding="utf-8")
    monkeypatch.setattr(record, "_of_this_kernel", {})
    welcome_back()
    assert len(shown) == 1


def test_copies_and_broken_notebooks_of_a_reader_are_left_out(done, monkeypatch, tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    for lesson in LESSONS[:3]:
        shutil.copy(lesson.path, folder)
    shutil.copy(LESSONS[1].path, folder / "02_sliding_windows-Copy1.ipynb")
    (folder / "03_random_sampling.ipynb").write_text("<<<<<<< mine", encoding="utf-8")
    monkeypatch.setattr(lessons, "notebooks_folder", lambda: folder)
    assert [one.number for one in show_progress().standings] == [1, 2]
