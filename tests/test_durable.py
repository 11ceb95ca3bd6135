"""Files that are whole or not there, their checksums, and one writer at a time."""

import hashlib
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from course_lib.foundation.durable import (
    DurableFile,
    checksum,
    make_folder,
    naming_the_file,
    only_writer,
    read_json,
    write_durably,
    write_json,
)


def test_a_file_appears_when_it_is_whole_and_its_checksum_is_that_of_its_bytes(tmp_path):
    file = DurableFile(tmp_path / "numbers.bin")
    for part in np.arange(10_000, dtype="<u2").reshape(10, -1):
        file.write(part.data)
        (name,) = os.listdir(tmp_path)
        assert re.fullmatch(r"numbers\.bin\.\w+\.tmp", name)
    sha256 = file.commit()
    assert os.listdir(tmp_path) == ["numbers.bin"]
    data = (tmp_path / "numbers.bin").read_bytes()
    assert data == np.arange(10_000, dtype="<u2").tobytes()
    assert sha256 == checksum(tmp_path / "numbers.bin") == hashlib.sha256(data).hexdigest()
    file.discard()  # too late
    assert (tmp_path / "numbers.bin").exists()


def test_what_is_discarded_leaves_the_old_file_alone(tmp_path):
    write_durably(tmp_path / "a", b"old")
    file = DurableFile(tmp_path / "a")
    file.write(b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    file.discard()
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"
    write_durably(tmp_path / "a", b"newer")
    assert (tmp_path / "a").read_bytes() == b"newer"


def test_two_files_of_one_name_do_not_write_into_each_other(tmp_path):
    first, second = DurableFile(tmp_path / "a"), DurableFile(tmp_path / "a")
    first.write(b"first")
    second.write(b"second")
    assert second.commit() == checksum(tmp_path / "a") == hashlib.sha256(b"second").hexdigest()
    assert first.commit() == checksum(tmp_path / "a") == hashlib.sha256(b"first").hexdigest()


def test_what_cannot_get_its_name_leaves_nothing_behind(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="cannot be written"):
        write_json(tmp_path / "taken", {})
    assert os.listdir(tmp_path) == ["taken"]


def test_bytes_reach_the_disk_before_the_name_does(tmp_path, monkeypatch):
    steps = []
    for name in ("fsync", "replace"):
        function = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, n=name, f=function: (steps.append(n), f(*a))[1])
    write_durably(tmp_path / "a", b"x")
    assert steps == ["fsync", "replace", "fsync"]  # of the file, and of the folder


def test_json_is_the_same_bytes_for_the_same_values(tmp_path):
    first = write_json(tmp_path / "a.json", {"b": [1, None], "a": {"z": "é", "y": True}})
    second = write_json(tmp_path / "b.json", {"a": {"y": True, "z": "é"}, "b": [1, None]})
    assert first == second
    assert read_json(tmp_path / "a.json") == {"a": {"y": True, "z": "é"}, "b": [1, None]}


def test_damaged_json_names_its_file(tmp_path):
    for data in (b"{", b"\xff", b"[1]", b"[" * 100_000):
        (tmp_path / "bad.json").write_bytes(data)
        with pytest.raises(ValueError, match=r"bad\.json is damaged"):
            read_json(tmp_path / "bad.json")


def test_one_writer_at_a_time(tmp_path):
    for _ in range(2):
        with only_writer(tmp_path):
            for _ in range(2):
                with pytest.raises(BlockingIOError, match="another process is writing"), only_writer(tmp_path):
                    raise AssertionError


def test_a_lock_ends_with_its_process_however_that_ends(tmp_path):
    program = f"""
import os
from course_lib.foundation.durable import only_writer
with only_writer({str(tmp_path)!r}):
    print(input("locked"), flush=True)
    os._exit(1)
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-uc", program], **pipes) as other:
        assert other.stdout.read(6) == b"locked"
        with pytest.raises(BlockingIOError), only_writer(tmp_path):
            raise AssertionError
        other.communicate(b"go on\n")
    with only_writer(tmp_path):
        pass


def test_an_error_of_writing_names_the_file(tmp_path):
    with (
        pytest.raises(
            OSError, match=r"cannot be written \(No space left on device\); finished files are kept: 'a.bin'"
        ),
        naming_the_file("a.bin"),
    ):
        raise OSError(28, "No space left on device")
    with pytest.raises(FileNotFoundError, match="cannot be written"):
        DurableFile(tmp_path / "nowhere" / "a")


def test_what_json_does_not_hold_is_refused_and_folders_are_made(tmp_path):
    for content in ({1, 2}, {"a": float("nan")}, {"a": [float("-inf")]}):
        with pytest.raises((TypeError, ValueError), match="JSON"):
            write_json(tmp_path / "a.json", content)
    assert not os.listdir(tmp_path)
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError, match="file is not a folder"):
        make_folder(tmp_path / "file")
