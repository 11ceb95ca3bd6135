"""What of a lesson is handed in, before nbgrader sees it."""

import os
import re
import subprocess

import pytest

import course_lib.__main__
from course_lib.classroom.grading.assignments import HIDDEN_SEEDS, build_assignment, points_of
from course_lib.classroom.links import user_path
from course_lib.teaching.checker import exercise
from course_lib.teaching.lessons import exercise_of, find_lessons

LESSONS = find_lessons()


def marks(cell) -> dict:
    return cell.metadata.get("nbgrader", {})


@pytest.fixture(scope="module")
def assignment():
    return build_assignment(LESSONS[1], seed=3)


def test_seeds_draw_other_numbers_and_other_hidden_calls(assignment):
    again, other = build_assignment(LESSONS[1], seed=3), build_assignment(LESSONS[1], seed=4)
    assert again == assignment
    changed = {
        marks(cell).get("grade_id", "task")
        for cell, theirs in zip(again.cells, other.cells, strict=True)
        if cell.source != theirs.source
    }
    assert changed >= {"windows_of_stream", "windows_of_stream-check", "task", "tokens_in_tail-check"}
    assert not changed & {"tokens_in_tail", "starts_from_range", "starts_from_range-check"}


def test_hidden_calls_are_for_exercises_that_draw_them_and_fail_an_answer_that_knows_the_others(assignment):
    sources = {marks(cell).get("grade_id"): cell.source for cell in assignment.cells}
    assert f"seed={HIDDEN_SEEDS + 3})" in sources["tokens_in_tail-check"]
    # All small calls are tried already.
    assert sources["smallest_stream-check"] == "3 * exercises.smallest_stream.check(smallest_stream)"
    by_heart = {number: number**2 for (number,) in square.cases}
    assert square.check(by_heart.get) == 1.0
    assert square.check(by_heart.get, seed=HIDDEN_SEEDS) == 0.0
    assert square.check(lambda number: number**2, seed=HIDDEN_SEEDS) == 1.0
    assert square.cases == square.drawn_from(0).cases


@exercise(cases=lambda random: [(n,) for n in [*range(3), *random.sample(range(3, 10**6), 5)]], hints=("", ""))
def square(number: int) -> int:
    """Return its square."""
    return number**2


def test_points_keep_the_message_and_are_a_plain_number_for_nbgrader():
    score = 3 * square.check(lambda number: number**2)
    assert score == 3.0
    assert score._repr_mimebundle_()["text/plain"] == "3.0"
    assert "Passed" in score._repr_mimebundle_()["text/html"]
    assert (3 * square.check(lambda number: number))._repr_mimebundle_()["text/plain"] == "0.0"


def test_a_whole_lesson_is_all_of_it():
    lesson = LESSONS[2]
    notebook = build_assignment(lesson, whole=True)
    sources = [cell.source for cell in notebook.cells]
    for cell in lesson.notebook.cells:
        if cell.cell_type == "code" and not exercise_of(cell) and "install" not in cell.metadata.get("tags", []):
            assert cell.source in sources
    # A name of the lesson, too: it must not be taken for an answer that is broken.
    assert "num_batches = ...  # the lesson's; yours comes below" in sources
    assert points_of(notebook.cells) == points_of(build_assignment(lesson).cells)


def test_the_command_writes_the_same_bytes_twice_and_overwrites_nothing_that_was_changed(tmp_path, capsys):
    def files():
        return {path.name: path.read_bytes() for path in tmp_path.rglob("*.*")}

    command = ["nbgrader", str(tmp_path), "sequential_partitioning"]
    assert course_lib.__main__.main(command) == 0
    printed, first = capsys.readouterr().out, files()
    assert set(first) == {"nbgrader_config.py", "04_sequential_partitioning.ipynb"}
    assert (tmp_path / "source" / "04_sequential_partitioning" / "04_sequential_partitioning.ipynb").is_file()
    assert "1 assignment, seed 0" in printed
    assert re.search(r"04_sequential_partitioning: \d+ points", printed)
    assert "nbgrader generate_assignment 04_sequential_partitioning" in printed
    assert course_lib.__main__.main(command) == 0
    assert files() == first
    assert course_lib.__main__.main([*command, "--seed", "1"]) == 1
    assert files() == first
    assert "`--force` writes over it" in capsys.readouterr().err
    assert course_lib.__main__.main([*command, "--seed", "1", "--force"]) == 0
    assert files() != first


def test_what_is_refused_is_told_in_one_line(tmp_path, capsys):
    assert course_lib.__main__.main(["nbgrader", str(tmp_path / "out"), "--seed", "-1"]) == 1
    assert "seed must be" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_home_in_the_name_of_the_folder_is_found(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert course_lib.__main__.main(["nbgrader", "~/course", "2"]) == 0
    assert (tmp_path / "course" / "nbgrader_config.py").is_file()
    assert str(tmp_path) in capsys.readouterr().out
    assert user_path("~/scores.csv") == tmp_path / "scores.csv"


@pytest.mark.skipif(os.name == "nt", reason="it is printed for a shell of Unix")
def test_the_next_step_runs_as_it_is_printed_in_an_environment_that_is_not_activated(tmp_path, monkeypatch, capsys):
    programs, out = tmp_path / "my environment", tmp_path / "Größe mit Raum"
    programs.mkdir()
    (programs / "nbgrader").write_text('#!/bin/sh\necho "$1 in $PWD"\n', encoding="utf-8")
    (programs / "nbgrader").chmod(0o755)
    (programs / "activate").write_text(f'PATH="{programs}:$PATH"\n', encoding="utf-8")
    monkeypatch.setattr("sys.executable", str(programs / "python"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert course_lib.__main__.main(["nbgrader", str(out), "2"]) == 0
    (step,) = re.findall(r"^Next: (.+)$", capsys.readouterr().out, flags=re.MULTILINE)
    done = subprocess.run(["sh", "-c", step], capture_output=True, text=True)
    assert done.stdout == f"generate_assignment in {out}\n", done.stderr
