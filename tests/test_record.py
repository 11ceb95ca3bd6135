"""What a reader has done is kept in one file: where, for how long, and what cannot harm it."""

import json
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from filelock import FileLock

import course_lib
from course_lib.teaching import record
from course_lib.teaching.record import LOCK, NAME, record_outcome, recorded_outcomes


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """The folder of the lessons of another copy of the course, in which a person has opened a notebook."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COURSE_WIDGETS", raising=False)
    monkeypatch.setattr(course_lib, "__file__", str(tmp_path / "course_lib" / "__init__.py"))
    monkeypatch.setattr(record, "get_ipython", lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setattr(record, "_told", [])
    monkeypatch.setattr(record, "_of_this_kernel", {})
    return folder


def test_the_first_guess_stays_and_an_exercise_gets_better_but_not_worse(folder):
    for outcome in ("failed", "passed"):
        record_outcome("How many, “T” = 4?", outcome)
    for outcome in ("raised", "failed", "passed", "failed"):
        record_outcome("bpe.count", outcome, over=("failed", "raised"))
    assert recorded_outcomes() == {"How many, “T” = 4?": "failed", "bpe.count": "passed"}
    record_outcome("How many, “T” = 4?", "passed")
    assert list(recorded_outcomes()) == ["bpe.count", "How many, “T” = 4?"]  # what was done last stands last


def test_the_file_can_be_read_and_deleted(folder):
    record_outcome("How many, “T” = 4?", "passed")
    assert sorted(path.name for path in folder.iterdir()) in ([NAME], [LOCK, NAME])
    text = (folder / NAME).read_text(encoding="utf-8")
    assert '"How many, “T” = 4?": "passed"' in text
    assert "Delete this file to begin again" in text
    (folder / NAME).unlink()
    assert recorded_outcomes() == {}
    record_outcome("Another?", "failed")
    assert recorded_outcomes() == {"Another?": "failed"}


NOT_IN_LESSONS = {
    "nobody": lambda patch, folder: patch.setenv("COURSE_WIDGETS", "0"),
    "no kernel": lambda patch, folder: patch.setattr(record, "get_ipython", lambda: None),
    "elsewhere": lambda patch, folder: patch.chdir(folder.parent),
    "below": lambda patch, folder: patch.chdir(folder / "mine"),
    "no lessons": lambda patch, folder: patch.setattr(course_lib, "__file__", str(folder / "course_lib/__init__.py")),
}


@pytest.mark.parametrize("where", NOT_IN_LESSONS)
def test_nothing_is_written_or_read_where_no_person_works_in_the_lessons(where, folder, monkeypatch, capsys):
    (folder / "mine").mkdir()
    record_outcome("How many?", "passed")
    (folder / LOCK).unlink(missing_ok=True)
    before = (folder / NAME).read_bytes()
    NOT_IN_LESSONS[where](monkeypatch, folder)
    there = sorted(folder.parent.rglob("*"))
    record_outcome("Another?", "passed")
    assert recorded_outcomes() == {"How many?": "passed", "Another?": "passed"}  # as long as the kernel lives
    assert sorted(folder.parent.rglob("*")) == there
    assert (folder / NAME).read_bytes() == before
    assert capsys.readouterr() == ("", "")


OTHERS = {
    "nothing": b"",
    "half": b'{"about": "What you have done',
    "a list": b"[]",
    "another object": b'{"name": "course"}',
    "done is a number": b'{"done": 3}',
    "an outcome is a number": b'{"done": {"How many?": 1}}',
    "no text": b"\xff\xfe\x00\x01",
    "deep": b"[" * 100_000,
    "large": b" " * (record.LARGEST + 1),
}


@pytest.mark.parametrize("content", OTHERS.values(), ids=OTHERS)
def test_a_file_of_another_kind_is_left_alone_and_told_once(content, folder, capsys):
    (folder / NAME).write_bytes(content)
    record_outcome("How many?", "passed")
    record_outcome("How much?", "passed")
    assert recorded_outcomes() == {"How many?": "passed", "How much?": "passed"}
    assert (folder / NAME).read_bytes() == content
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "progress.json is not a file of this course: rename it, or delete it" in told


@pytest.mark.parametrize("make", [Path.mkdir, getattr(os, "mkfifo", Path.mkdir)])
def test_what_is_no_file_at_all_is_left_alone(make, folder, capsys):
    make(folder / NAME)
    record_outcome("How many?", "passed")
    assert recorded_outcomes() == {"How many?": "passed"}
    assert not (folder / NAME).is_file()
    assert "not a file of this course" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_harms_nothing(folder, monkeypatch, capsys):
    def full(path, data):
        raise PermissionError(13, "cannot be written (Permission denied)", str(path))

    record_outcome("How many?", "passed")
    monkeypatch.setattr(record, "write_durably", full)
    for question in ("How much?", "How often?"):
        record_outcome(question, "passed")
    assert recorded_outcomes() == {"How many?": "passed"}
    assert capsys.readouterr().err.count("Your progress is not kept") == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only for this user")
def test_a_read_only_folder_harms_nothing(folder, capsys):
    folder.chmod(0o555)
    try:
        record_outcome("How many?", "passed")
        assert recorded_outcomes() == {}
        assert list(folder.iterdir()) == []
    finally:
        folder.chmod(0o755)
    assert "Permission denied" in capsys.readouterr().err


def test_a_lock_that_is_never_released_harms_nothing(folder, monkeypatch, capsys):
    monkeypatch.setattr(record, "PATIENCE", 0.01)
    with FileLock(folder / LOCK):
        record_outcome("How many?", "passed")
    assert recorded_outcomes() == {}
    assert "not kept" in capsys.readouterr().err
    record_outcome("How many?", "passed")
    assert recorded_outcomes() == {"How many?": "passed"}


def keep_many(path: Path, worker: int) -> int:
    record.progress_file = lambda: path
    record.PATIENCE = 600  # a busy machine is no failure
    for number in range(15):
        record_outcome(f"{worker}: question {number}?", "passed")
    return len(recorded_outcomes())


def test_kernels_that_write_at_once_lose_nothing(tmp_path):
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(3, mp_context=context) as pool:
        counts = [pool.submit(keep_many, tmp_path / NAME, worker) for worker in range(3)]
        assert max(count.result() for count in counts) == 45
    done = json.loads((tmp_path / NAME).read_text(encoding="utf-8"))["done"]
    assert len(done) == 45
    for worker in range(3):
        own = [name for name in done if name.startswith(f"{worker}:")]
        assert own == [f"{worker}: question {number}?" for number in range(15)]
    assert not list(tmp_path.glob("*.tmp"))
