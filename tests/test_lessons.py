"""The notebooks as data."""

import nbformat
import pytest

import course_lib
from course_lib.teaching.lessons import exercise_of, find_lessons, items_of, notebooks_folder, points_for


@pytest.mark.parametrize("name", ["2", "02", "sliding_windows", "02_sliding_windows"])
def test_a_lesson_is_found_by_number_and_by_name(name):
    assert [lesson.number for lesson in find_lessons([name])] == [2]
    assert [lesson.number for lesson in find_lessons(["3", name, "03"])] == [2, 3]


def test_without_the_repository_it_is_said_where_the_notebooks_come_from(monkeypatch, tmp_path):
    monkeypatch.setattr(course_lib, "__file__", str(tmp_path / "course_lib" / "__init__.py"))
    with pytest.raises(FileNotFoundError, match="the notebooks come with a copy of the course's repository"):
        notebooks_folder()


@pytest.mark.parametrize("name", ["0", "", 2])
def test_a_lesson_that_there_is_not_is_answered_with_those_there_are(name):
    assert len(find_lessons([])) == len(find_lessons()) == 15
    with pytest.raises(ValueError, match=rf"^there is no lesson {name!r}; there are 1 next_token_shifting, 2 "):
        find_lessons([name])


def test_the_cell_of_an_exercise_is_tagged_and_checks_it():
    tagged = {"metadata": {"tags": ["exercise"]}}
    assert exercise_of(nbformat.v4.new_code_cell("exercises.x.check(1)", **tagged)) == "x"
    assert exercise_of(nbformat.v4.new_code_cell("exercises.x.check(1)")) is None
    assert exercise_of(nbformat.v4.new_code_cell("1", **tagged)) is None


def test_exercises_have_points():
    assert points_for(items_of("sliding_windows")["rank_share"]) > 0
    with pytest.raises(ValueError, match=r"^lesson must be one of 'next_token_shifting', "):
        items_of("99")
    with pytest.raises(TypeError, match=r"^item must .*got NoneType"):
        points_for(None)
