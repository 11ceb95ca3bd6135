"""`python -m course_lib check`: what is wrong, and what to type."""

import os
import shutil
import subprocess
import sys

import pytest

from course_lib.__main__ import main
from course_lib.commands import check


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A small copy of the course, whose texts may be spoiled."""
    for name in ("data", "pyproject.toml"):
        copy = shutil.copytree if name == "data" else shutil.copy
        copy(check.ROOT / name, tmp_path / name)
    (tmp_path / "notebooks").mkdir()
    shutil.copy(check.ROOT / "notebooks" / check.FIRST_LESSON, tmp_path / "notebooks")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    monkeypatch.delenv("COURSE_CORPUS", raising=False)
    return tmp_path


def said(*arguments: str, status: int) -> str:
    run = [sys.executable, "-m", "course_lib", "check", *arguments]
    done = subprocess.run(run, capture_output=True, text=True, cwd=check.ROOT)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def test_here_everything_works_a_kernel_too():
    lines = said(status=0)
    assert "Everything works. Begin with notebooks/01_next_token_shifting.ipynb." in lines
    assert "ok     a kernel runs the first cells of a lesson" in lines


def test_packages_that_are_missing_or_too_old_are_named_with_what_to_type(course, capsys, monkeypatch):
    path = course / "pyproject.toml"
    text = path.read_text("utf-8").replace('"torch>=2.6,', '"torch>=99,').replace('"tqdm>', '"no-such-thing>')
    path.write_text(text, "utf-8")
    monkeypatch.setattr(check, "COURSE_PYTHON", ">=3.99")
    assert main(["check", "--no-kernel"]) == 1
    lines = capsys.readouterr().out
    assert "WRONG  torch " in lines
    assert "no-such-thing is not installed" in lines
    assert "the course needs >=3.99" in lines
    assert f'pip install --editable "{course}[course]"' in lines
    assert "2 things are wrong" in lines


def test_texts_that_are_missing_or_changed_are_told(course, capsys, monkeypatch):
    (course / "data" / "story.txt").unlink()
    (course / "data" / "documents.jsonl").write_text("{}\n")
    assert main(["check", "--no-kernel"]) == 1
    lines = capsys.readouterr().out
    assert "story.txt is missing" in lines
    assert "documents.jsonl is not as it came" in lines
    monkeypatch.setenv("COURSE_CORPUS", str(course / "none.txt"))
    assert "there is no such file" in "".join(map(str, check.check_texts()))
    monkeypatch.setenv("COURSE_CORPUS", str(course / "data" / "documents.jsonl"))
    assert [point.sign for point in check.check_texts()][-1] == check.NOTE


def test_a_kernel_that_cannot_run_a_lesson_is_told(course):
    path = course / "notebooks" / check.FIRST_LESSON
    path.write_text(path.read_text("utf-8").replace("import importlib.util", "import no_such_module"), "utf-8")
    (point,) = check.check_kernel()
    assert point.sign == check.WRONG
    assert "No module named 'no_such_module'" in point.text


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(course):
    (course / "notebooks").chmod(0o500)
    (point,) = check.check_notebooks()
    assert point.sign == check.NOTE


def test_a_package_without_its_repository_is_told_to_get_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(check, "ROOT", tmp_path)
    assert main(["check"]) == 1
    assert "Get a copy of the repository" in capsys.readouterr().out
