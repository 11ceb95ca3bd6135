"""The notebooks as data."""

import pytest

import course_lib
from course_lib.teaching.lessons import find_lessons, notebooks_folder


@pytest.mark.parametrize("name", ["2", "02", "sliding_windows", "02_sliding_windows"])
def test_a_lesson_is_found_by_number_and_by_name(name):
    assert [lesson.number for lesson in find_lessons([name])] == [2]
    assert [lesson.number for lesson in find_lessons(["3", name, "03"])] == [2, 3]


def test_without_the_repository_it_is_said_where_the_notebooks_come_from(monkeypatch, tmp_path):
    monkeypatch.setattr(course_lib, "__file__", str(tmp_path / "course_lib" / "__init__.py"))
    with pytest.raises(FileNotFoundError, match="the notebooks come with a copy of the course's repository"):
        notebooks_folder()
