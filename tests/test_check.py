"""Is everything installed and working?"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from course_lib.classroom import check
from course_lib.classroom.check import NOTE, OK, WRONG, Point

ROOT = Path(__file__).parent.parent


def signs(points) -> list[str]:
    return [point.sign for point in points]


def the_one(points) -> str:
    """What is said in the only point, which is not fine."""
    (point,) = points
    assert point.sign != OK
    return str(point)


def test_it_is_imported_without_what_it_looks_for():
    program = "import course_lib.classroom.check, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    roots = {name.partition(".")[0] for name in done.stdout.split()}
    assert not {"torch", "numpy", "nbformat", "packaging", "psutil", "jupyter_core"} & roots


@pytest.mark.parametrize(
    ("version", "answer"),
    [("2.6", True), ("2.13.0+cpu", True), ("2.13rc1", True), ("2.14.0", False), ("2.5.9", False)],
)
def test_a_version_fits_a_range_or_not(version, answer):
    assert check.fits(version, ">=2.6,<2.14") is answer
    assert check.fits(None, "") is False


def test_a_python_that_is_too_old_is_told(monkeypatch):
    assert signs(check.check_python()) == [OK]
    monkeypatch.setattr(check.platform, "python_version", lambda: "3.9.7")
    assert "the course needs >=3.11" in the_one(check.check_python())


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
    old = list(check.check_packages(every_package=False))[1]
    assert "torch 2.1.0 is not a version that the course was tried with (<2.14,>=2.6)" in old.text


def test_extras_are_told_and_are_never_wrong(versions):
    points = list(check.check_extras())
    assert set(signs(points)) == {OK, NOTE}
    (ray,) = [point for point in points if "ray" in point.text]
    assert "for the cluster of lesson 12, which is skipped without it: ray not installed" in ray.text
    assert "[cluster]" in ray.remedy
    versions |= {"ray": "2.60.1", "sphinx": "9"}
    assert NOTE not in signs(check.check_extras())


def test_what_the_course_asks_for_is_read_from_its_files_or_from_the_installation(tmp_path, monkeypatch):
    names = dict(check.required())
    assert {"torch", "jupyterlab", "nbval"} <= names.keys()
    assert "ray" not in names
    assert dict(check.required("cluster")).keys() == {"ray"}
    assert check.ranges()[1] == ">=3.11,<3.15"
    monkeypatch.setattr(check, "ROOT", tmp_path)
    if check.installed_version(check.DISTRIBUTION):
        assert check.ranges()[0] == importlib.metadata.requires(check.DISTRIBUTION)


def test_texts_that_are_missing_or_changed_are_told(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_CORPUS", raising=False)
    words = "texts: story.txt, documents.jsonl, more_documents.jsonl, translations.jsonl are as they came"
    assert list(check.check_texts()) == [Point(OK, words)]
    for name, sign in (("LICENSE", NOTE), ("nothing.txt", WRONG)):
        monkeypatch.setenv("COURSE_CORPUS", str(ROOT / name))
        assert signs(check.check_texts()) == [OK, sign]
    monkeypatch.setattr(check, "ROOT", tmp_path)
    assert "SHA256SUMS is missing" in the_one(check.check_texts())
    monkeypatch.delenv("COURSE_CORPUS")
    files = {"a.txt": "text", "b.txt": "damaged"}
    files["SHA256SUMS"] = "".join(f"{hashlib.sha256(b'text').hexdigest()}  {name}.txt\n" for name in "abc")
    (tmp_path / "data").mkdir()
    for name, text in files.items():
        (tmp_path / "data" / name).write_text(text, encoding="utf-8")
    changed, missing, fine = check.check_texts()
    assert "b.txt is not as it came with the course" in changed.text
    assert "c.txt is missing" in missing.text
    assert "restore data" in missing.remedy
    assert fine.text == "texts: a.txt are as they came"


def test_a_package_without_its_repository_is_told_to_get_one(versions, tmp_path, monkeypatch):
    del versions[check.DISTRIBUTION]
    monkeypatch.setattr(check, "ROOT", tmp_path)
    monkeypatch.delenv("COURSE_CORPUS", raising=False)
    for examined in (check.check_texts, check.check_notebooks, check.check_extras):
        remedies = {point.remedy for point in examined() if point.sign != OK}
        assert remedies == {check.GET_A_COPY}, examined
    assert list(check.check_packages(every_package=False))[-1].remedy == check.GET_A_COPY


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
    assert "01_x.ipynb is not a notebook any more" in points[0].text


def test_a_folder_that_cannot_be_written_or_is_nearly_full_is_told(tmp_path, monkeypatch):
    folders = {"the lessons": ROOT / "notebooks", "notes": tmp_path / "not" / "there"}
    assert set(check.folders_to_write()) > {"the lessons", "temporary files"}
    monkeypatch.setattr(check, "folders_to_write", lambda: folders)
    assert WRONG not in signs(check.check_folders())
    monkeypatch.setattr(check.shutil, "disk_usage", lambda place: SimpleNamespace(free=10**8))
    assert "only 0.1 GB free" in next(check.check_folders()).text
    monkeypatch.setattr(check.tempfile, "TemporaryFile", refuse)
    points = list(check.check_folders())
    assert signs(points) == [NOTE, WRONG]
    assert f"written to {folders['notes']}, the folder for notes (Permission denied)" in points[1].text


def test_little_memory_and_a_single_core_are_told(monkeypatch):
    assert len(list(check.check_machine())) == 2
    for free, cores, sign in ((8, 4, OK), (1, 1, NOTE)):
        memory = SimpleNamespace(total=4 * 10**9, available=free * 10**9)
        monkeypatch.setattr("psutil.virtual_memory", lambda memory=memory: memory)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: range(cores), raising=False)
        points = list(check.check_machine())
        assert signs(points) == [sign, sign]
        assert f"4.0 GB, {free}.0 GB of it free" in points[0].text


def refuse(**_):
    raise PermissionError(13, "Permission denied")


def test_locks_that_cannot_be_made_and_widgets_that_cannot_be_shown_are_told(monkeypatch, tmp_path):
    assert signs(check.check_locks()) == [OK]
    monkeypatch.setattr(check.multiprocessing, "Lock", refuse)
    assert re.search(r"Permission denied\n +On Linux the folder /dev/shm", the_one(check.check_locks()))
    assert signs(check.check_widgets()) == [OK]
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda name: [str(tmp_path)])
    assert "jupyterlab_widgets" in the_one(check.check_widgets())


def test_a_package_that_cannot_be_imported_is_told(tmp_path, monkeypatch):
    (tmp_path / "damaged_package.py").write_text("raise OSError('libgomp.so is missing')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(check, "IMPORTED", ["json", "damaged_package", "not_even_there"])
    words = "damaged_package is installed, but cannot be imported: OSError: libgomp.so is missing"
    assert words in the_one(check.check_imports())
    monkeypatch.setattr(check, "IMPORTED", ["json", "string"])
    assert signs(check.check_imports()) == [OK]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (None, r"Jupyter knows no kernel 'odd'.*\n.* -m ipykernel install --sys-prefix"),
        (["/no/such/python"], r"cannot be started.*\n.*removed Python"),
        ([sys.executable, "-c", "raise SystemExit"], "does not answer"),
        ([sys.executable, "-c", "import time; time.sleep(3_600)"], "does not answer"),
    ],
)
def test_a_kernel_that_cannot_be_had_is_told(argv, words, tmp_path, monkeypatch):
    if argv:
        place = tmp_path / "kernels" / "odd"
        place.mkdir(parents=True)
        specification = {"argv": [*argv, "{connection_file}"], "display_name": "odd", "language": "python"}
        (place / "kernel.json").write_text(json.dumps(specification), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setattr(check, "KERNEL", "odd")
    monkeypatch.setattr(check, "KERNEL_SECONDS", 3)
    assert re.search(words, the_one(check.check_kernel()))


def test_a_kernel_runs_the_first_cells_of_a_lesson_here_and_one_that_fails_is_told(tmp_path, monkeypatch):
    (point,) = check.check_kernel()
    assert point.sign == OK, point
    assert "runs the first cells of 01_next_token_shifting.ipynb" in point.text
    cells = map(nbformat.v4.new_code_cell, ["one = 1", "import sys; sys.modules['course'].missing"])
    (tmp_path / "notebooks").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=[*cells]), tmp_path / "notebooks" / check.FIRST_LESSON)
    monkeypatch.setattr(check, "ROOT", tmp_path)
    words = f"cell 2 of {check.FIRST_LESSON} does not run: KeyError: 'course'"
    assert words in the_one(check.check_kernel())


def run_with(checks: dict, monkeypatch) -> int:
    """Run all checks without a kernel, with some in place of others."""
    for name, points in checks.items():
        monkeypatch.setattr(check, name, points)
    monkeypatch.delenv("COURSE_CORPUS", raising=False)
    return check.run(argparse.Namespace(all=False, no_kernel="check_kernel" not in checks))


def test_the_whole_is_a_line_for_each_point_and_one_that_is_wrong_makes_the_exit_status_1(monkeypatch, capsys):
    slow = {"check_imports": lambda: [Point(OK, "imported")], "check_kernel": lambda: [Point(OK, "a kernel")]}
    assert run_with(slow, monkeypatch) == 0
    points, verdict = capsys.readouterr().out.split("\n\n")
    assert all(line.startswith(("ok  ", "note  ", "       ")) for line in points.splitlines())
    assert points.endswith("ok     imported\nok     a kernel")
    assert verdict == "Everything works. Begin with notebooks/01_next_token_shifting.ipynb.\n"
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
    assert "ok     14 lessons" in text
