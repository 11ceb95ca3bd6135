"""Is everything installed and working?"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from course_lib import check
from course_lib.check import NOTE, OK, WRONG, Point

ROOT = Path(__file__).parent.parent


def signs(points) -> list[str]:
    return [point.sign for point in points]


def said(points) -> str:
    return "\n".join(map(str, points))


def test_it_is_imported_without_what_it_looks_for():
    program = "import course_lib.check, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    roots = {name.partition(".")[0] for name in done.stdout.split()}
    assert not {"torch", "numpy", "nbformat", "packaging", "psutil", "jupyter_core"} & roots


@pytest.mark.parametrize(
    ("version", "wanted", "answer"),
    [
        ("2.6", ">=2.6,<2.14", True),
        ("2.13.0+cpu", ">=2.6,<2.14", True),
        ("2.14.0", ">=2.6,<2.14", False),
        ("2.5.9", ">=2.6,<2.14", False),
        ("5.1.0rc1", ">=5.0,<6", True),
        ("2024.5.15", ">=2024.5.15,<2027", True),
        ("1.0", "", True),
        ("not a version", ">=1", False),
        (None, ">=1", False),
    ],
)
def test_a_version_fits_a_range_or_not(version, wanted, answer):
    assert check.fits(version, wanted) is answer


def test_a_python_that_is_too_old_is_told(monkeypatch):
    assert signs(check.check_python()) == [OK]
    monkeypatch.setattr(check.platform, "python_version", lambda: "3.9.7")
    (point,) = check.check_python()
    assert point.sign == WRONG
    assert "the course needs >=3.11" in point.text


@pytest.fixture
def versions(monkeypatch):
    """What is asked for, and the versions that are installed, for a test to change."""
    asked = ["numpy>=2.1,<3", "torch<2.14,>=2.6", "ray<3,>=2.60; extra == 'cluster'", 'sphinx>=8,<10; extra == "teach"']
    installed = {check.DISTRIBUTION: "0.1", "numpy": "2.4.0", "torch": "2.7.1+cu128"}
    monkeypatch.setattr(check, "ranges", lambda: (asked, ">=3.11"))
    monkeypatch.setattr(check, "installed_version", installed.get)
    return installed


def test_packages_that_are_missing_or_of_another_version_are_named_with_what_to_type(versions):
    (fine,) = check.check_packages(every_package=False)
    assert fine.sign == OK
    assert "2 packages are installed" in fine.text
    assert len(list(check.check_packages(every_package=True))) == 3
    del versions["numpy"], versions[check.DISTRIBUTION]
    missing = list(check.check_packages(every_package=False))
    assert signs(missing) == [WRONG, OK, NOTE]
    assert "numpy is not installed" in missing[0].text
    assert '-m pip install "numpy<3,>=2.1"' in missing[0].remedy
    assert "--editable" in missing[-1].remedy
    versions["torch"] = "2.1.0"
    old = said(check.check_packages(every_package=False))
    assert "torch 2.1.0 is not a version that the course was tried with (<2.14,>=2.6)" in old


def test_extras_are_told_and_are_never_wrong(versions):
    points = list(check.check_extras())
    assert set(signs(points)) == {OK, NOTE}
    assert "for the cluster of lesson 11, which is skipped without it: ray not installed" in said(points)
    assert "[cluster]" in said(points)
    versions |= {"ray": "2.60.1", "sphinx": "9"}
    assert NOTE not in signs(check.check_extras())


def test_what_the_course_asks_for_is_read_from_its_files_or_from_the_installation(tmp_path, monkeypatch):
    names = dict(check.required())
    assert {"torch", "jupyterlab", "nbval"} <= set(names)
    assert "ray" not in names
    assert list(dict(check.required("cluster"))) == ["ray"]
    assert check.ranges()[1] == ">=3.11"
    monkeypatch.setattr(check, "ROOT", tmp_path)
    if check.installed_version(check.DISTRIBUTION):
        assert check.ranges()[0] == importlib.metadata.requires(check.DISTRIBUTION)


def test_texts_that_are_missing_or_changed_are_told(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_CORPUS", raising=False)
    assert signs(check.check_texts()) == [OK]
    for name, signs_then in (("LICENSE", [OK, NOTE]), ("nothing.txt", [OK, WRONG])):
        monkeypatch.setenv("COURSE_CORPUS", str(ROOT / name))
        assert signs(check.check_texts()) == signs_then
    monkeypatch.delenv("COURSE_CORPUS")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    assert signs(check.check_texts()) == [WRONG]
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.txt").write_bytes(b"text")
    (data / "b.txt").write_bytes(b"damaged")
    checksum = hashlib.sha256(b"text").hexdigest()
    (data / "SHA256SUMS").write_text("".join(f"{checksum}  {name}.txt\n" for name in "abc"), encoding="utf-8")
    points = list(check.check_texts())
    assert signs(points) == [WRONG, WRONG, OK]
    assert "b.txt is not as it came with the course" in points[0].text
    assert "c.txt is missing" in points[1].text
    assert "restore data" in points[0].remedy


def test_a_damaged_notebook_is_told(tmp_path, monkeypatch):
    assert signs(check.check_notebooks()) == [OK]
    monkeypatch.setattr(check, "ROOT", tmp_path)
    assert signs(check.check_notebooks()) == [WRONG]
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (folder / "01_x.ipynb").write_text('{"cells": [\n<<<<<<< HEAD\n', encoding="utf-8")
    (folder / "02_x.ipynb").write_text('{"cells": [{}]}', encoding="utf-8")
    points = list(check.check_notebooks())
    assert signs(points) == [WRONG, OK]
    assert "01_x.ipynb is no notebook any more" in points[0].text


def test_a_folder_that_cannot_be_written_or_is_nearly_full_is_told(tmp_path, monkeypatch):
    folders = {"the lessons": ROOT / "notebooks", "notes": tmp_path / "not" / "there"}
    assert set(check.folders_to_write()) > {"the lessons", "temporary files"}
    monkeypatch.setattr(check, "folders_to_write", lambda: folders)
    assert WRONG not in signs(check.check_folders())
    monkeypatch.setattr(check.shutil, "disk_usage", lambda place: SimpleNamespace(free=10**8))
    points = list(check.check_folders())
    assert signs(points) == [NOTE, NOTE]
    assert "only 0.1 GB free" in points[0].text

    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(check.tempfile, "TemporaryFile", refuse)
    points = list(check.check_folders())
    assert signs(points) == [NOTE, WRONG]
    text = f"nothing can be written to {folders['notes']}, the folder for notes (Permission denied)"
    assert text in points[1].text


def test_little_memory_and_a_single_core_are_told(monkeypatch):
    assert len(list(check.check_machine())) == 2
    for free, cores, expected in ((8, 4, [OK, OK]), (1, 1, [NOTE, NOTE])):
        memory = SimpleNamespace(total=4 * 10**9, available=free * 10**9)
        monkeypatch.setattr("psutil.virtual_memory", lambda memory=memory: memory)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: range(cores), raising=False)
        points = list(check.check_machine())
        assert signs(points) == expected
        assert f"4.0 GB, {free}.0 GB of it free" in points[0].text


def test_locks_that_cannot_be_made_are_told(monkeypatch):
    def refuse():
        raise PermissionError(13, "Permission denied")

    assert signs(check.check_locks()) == [OK]
    monkeypatch.setattr(check.multiprocessing, "Lock", refuse)
    (point,) = check.check_locks()
    assert point.sign == WRONG
    assert "Permission denied" in point.text
    assert "/dev/shm" in point.remedy


def test_widgets_that_jupyterlab_cannot_show_are_told(tmp_path, monkeypatch):
    assert signs(check.check_widgets()) == [OK]
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda name: [str(tmp_path)])
    (point,) = check.check_widgets()
    assert point.sign == NOTE
    assert "jupyterlab_widgets" in point.remedy


def test_a_package_that_cannot_be_imported_is_told(tmp_path, monkeypatch):
    (tmp_path / "damaged_package.py").write_text("raise OSError('libgomp.so is missing')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(check, "IMPORTED", ["json", "damaged_package", "not_even_there"])
    (point,) = check.check_imports()
    assert point.sign == WRONG
    assert "damaged_package is installed, but cannot be imported: OSError: libgomp.so is missing" in point.text
    monkeypatch.setattr(check, "IMPORTED", ["json", "string"])
    assert signs(check.check_imports()) == [OK]


@pytest.fixture
def odd_kernel(tmp_path, monkeypatch):
    """Make a kernel known that is another program."""

    def make(python: str, program: str) -> None:
        place = tmp_path / "kernels" / "odd"
        place.mkdir(parents=True)
        argv = [python, "-c", program, "{connection_file}"]
        specification = {"argv": argv, "display_name": "odd", "language": "python"}
        (place / "kernel.json").write_text(json.dumps(specification), encoding="utf-8")
        monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
        monkeypatch.setattr(check, "KERNEL", "odd")

    return make


def test_a_kernel_that_nobody_knows_is_told(monkeypatch):
    monkeypatch.setattr(check, "KERNEL", "no-such-kernel")
    (point,) = check.check_kernel()
    assert "Jupyter knows no kernel 'no-such-kernel'" in point.text
    assert "-m ipykernel install --sys-prefix" in point.remedy


@pytest.mark.parametrize("program", ["raise SystemExit", "import time; time.sleep(3_600)"])
def test_a_kernel_that_ends_at_once_or_says_nothing_is_told(odd_kernel, program, monkeypatch):
    odd_kernel(sys.executable, program)
    monkeypatch.setattr(check, "KERNEL_SECONDS", 3)
    (point,) = check.check_kernel()
    assert point.sign == WRONG
    assert "does not answer" in point.text


def test_a_kernel_whose_python_is_gone_is_told(odd_kernel):
    odd_kernel("/no/such/python", "")
    (point,) = check.check_kernel()
    assert "cannot be started" in point.text
    assert "removed Python" in point.remedy


def test_a_kernel_runs_the_first_cells_of_a_lesson_here_and_one_that_fails_is_told(tmp_path, monkeypatch):
    (point,) = check.check_kernel()
    assert point.sign == OK, point
    assert "runs the first cells of 01_next_token_shifting.ipynb" in point.text
    cells = map(nbformat.v4.new_code_cell, ["one = 1", "import sys; sys.modules['course'].missing"])
    (tmp_path / "notebooks").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=[*cells]), tmp_path / "notebooks" / check.FIRST_LESSON)
    monkeypatch.setattr(check, "ROOT", tmp_path)
    (point,) = check.check_kernel()
    assert point.sign == WRONG
    assert f"cell 2 of {check.FIRST_LESSON} does not run: KeyError: 'course'" in point.text


def run_with(checks: dict, monkeypatch) -> int:
    """Run all checks without a kernel, with some in place of others."""
    for name, points in checks.items():
        monkeypatch.setattr(check, name, points)
    monkeypatch.delenv("COURSE_CORPUS", raising=False)
    return check.run(argparse.Namespace(all=False, no_kernel="check_kernel" not in checks))


def test_the_whole_is_a_line_for_each_point(monkeypatch, capsys):
    slow = {"check_imports": lambda: [Point(OK, "imported")], "check_kernel": lambda: [Point(OK, "a kernel")]}
    assert run_with(slow, monkeypatch) == 0
    points, verdict = capsys.readouterr().out.split("\n\n")
    assert all(line.startswith(("ok  ", "note  ", "       ")) for line in points.splitlines())
    assert points.endswith("ok     imported\nok     a kernel")
    assert verdict == "Everything works. Begin with notebooks/01_next_token_shifting.ipynb.\n"


def test_one_thing_that_is_wrong_makes_the_exit_status_1(monkeypatch, capsys):
    assert run_with({"check_machine": lambda: [Point(WRONG, "no memory", "Buy some.")]}, monkeypatch) == 1
    text = capsys.readouterr().out
    assert "WRONG  no memory\n       Buy some.\n" in text
    assert text.endswith("One thing is wrong: see the lines that begin with WRONG.\n")


def test_what_fails_in_one_check_is_told_and_ends_no_other_and_a_package_that_is_missing_is_told_once(
    monkeypatch, capsys
):
    def broken():
        yield Point(OK, "fine so far")
        raise KeyError("odd")

    for name in ("packaging.requirements", "packaging.specifiers"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert run_with({"check_texts": broken}, monkeypatch) == 1
    text = capsys.readouterr().out
    assert "ok     fine so far\nWRONG  a check broke off: KeyError: 'odd'\n" in text
    assert text.count("psutil is not installed") == 1
    assert "ok     11 lessons" in text
