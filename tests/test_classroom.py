"""Is everything installed? And notebooks for live coding."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

import nbformat
import pytest

import course_lib.__main__ as command_line
from course_lib.teaching.classroom import blank as blanks
from course_lib.teaching.classroom import check
from course_lib.teaching.classroom.blank import blank, imports_in
from course_lib.teaching.classroom.check import NOTE, OK, WRONG, Point
from course_lib.teaching.classroom.links import LINK, check_free, relink
from course_lib.teaching.lessons import exercise_of, find_lessons

ROOT = Path(__file__).parent.parent
LESSONS = find_lessons()


def signs(points) -> list[str]:
    return [point.sign for point in points]


def said(points) -> str:
    return "\n".join(map(str, points))


# Is everything installed and working?


@pytest.mark.parametrize(
    ("version", "wanted", "answer"),
    [
        ("2.6", ">=2.6,<2.14", True),
        ("2.13.0+cpu", ">=2.6,<2.14", True),
        ("2.14.0", ">=2.6,<2.14", False),
        ("2.5.9", ">=2.6,<2.14", False),
        ("0.11.0", "<0.12,>=0.11", True),
        ("5.0.0rc1", ">=5.0,<6", True),
        ("2024.5.15", ">=2024.5.15,<2027", True),
        ("1.0", "", True),
        ("1.0", "==1", True),
        ("1.0", "!=1", False),
        (None, ">=1", False),
    ],
)
def test_a_version_fits_a_range_or_not(version, wanted, answer):
    assert check.fits(version, wanted) is answer


def test_a_python_that_is_too_old_is_told():
    assert signs(check.check_python(">=3.11", "3.13.1")) == [OK]
    (point,) = check.check_python(">=3.11", "3.9.7")
    assert point.sign == WRONG
    assert "the course needs >=3.11" in point.text


REQUIREMENTS = [
    "numpy>=2.1,<3",
    "torch<2.14,>=2.6",
    "ray<3,>=2.60; extra == 'cluster'",
    'sphinx>=8,<10; extra == "teach"',
]
VERSIONS = {check.DISTRIBUTION: "0.1", "numpy": "2.4.0", "torch": "2.7.1+cu128"}


def test_packages_that_are_missing_or_of_another_version_are_named_with_what_to_type():
    fine = list(check.check_packages(REQUIREMENTS, VERSIONS.get))
    assert signs(fine) == [OK]
    assert "2 packages are installed" in said(fine)
    assert len(list(check.check_packages(REQUIREMENTS, VERSIONS.get, every_package=True))) == 3
    missing = list(check.check_packages(REQUIREMENTS, {**VERSIONS, "numpy": None}.get))
    assert signs(missing) == [WRONG, OK]
    assert "numpy is not installed" in missing[0].text
    assert '-m pip install "numpy>=2.1,<3"' in missing[0].remedy
    old = list(check.check_packages(REQUIREMENTS, {**VERSIONS, "torch": "2.1.0"}.get))
    assert "torch 2.1.0 is not a version that the course was tried with (<2.14,>=2.6)" in old[0].text
    absent = list(check.check_packages(REQUIREMENTS, {"numpy": "2.4", "torch": "2.7"}.get))
    assert signs(absent) == [OK, NOTE]
    assert "--editable" in absent[-1].remedy


def test_extras_are_told_and_are_never_wrong():
    points = list(check.check_extras(REQUIREMENTS, VERSIONS.get))
    assert set(signs(points)) == {OK, NOTE}
    assert "for the cluster of lesson 11, which is skipped without it: ray not installed" in said(points)
    assert "[cluster]" in said(points)
    assert NOTE not in signs(check.check_extras(REQUIREMENTS, {"ray": "2.60.1", "sphinx": "9"}.get))


def test_what_the_course_asks_for_is_read_from_its_files_or_from_the_installation(tmp_path):
    requirements, python_range = check.ranges()
    names = [name for name, _ in check.required(requirements)]
    assert {"torch", "jupyterlab", "nbval"} <= set(names)
    assert "ray" not in names
    assert "ray" in dict(check.required(requirements, "cluster"))
    assert python_range == ">=3.11"
    installed, _ = check.ranges(tmp_path)
    assert "torch" in dict(check.required(installed))


def test_texts_that_are_missing_or_changed_are_told(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_CORPUS", raising=False)
    assert signs(check.check_texts()) == [OK]
    assert signs(check.check_texts(tmp_path)) == [WRONG]
    (tmp_path / "a.txt").write_bytes(b"text")
    (tmp_path / "b.txt").write_bytes(b"damaged")
    checksum = hashlib.sha256(b"text").hexdigest()
    sums = "".join(f"{checksum}  {name}.txt\n" for name in "abc")
    (tmp_path / "SHA256SUMS").write_text(sums, encoding="utf-8")
    points = list(check.check_texts(tmp_path))
    assert signs(points) == [WRONG, WRONG, OK]
    assert "b.txt is not as it came with the course" in points[0].text
    assert "c.txt is missing" in points[1].text
    assert "restore data" in points[0].remedy
    monkeypatch.setenv("COURSE_CORPUS", str(tmp_path / "a.txt"))
    assert signs(check.check_texts()) == [OK, NOTE]
    monkeypatch.setenv("COURSE_CORPUS", str(tmp_path / "nothing.txt"))
    assert signs(check.check_texts()) == [OK, WRONG]


def test_a_damaged_notebook_is_told(tmp_path):
    assert signs(check.check_notebooks()) == [OK]
    (tmp_path / "01_x.ipynb").write_text('{"cells": [\n<<<<<<< HEAD\n', encoding="utf-8")
    (tmp_path / "02_x.ipynb").write_text('{"cells": [{}]}', encoding="utf-8")
    points = list(check.check_notebooks(tmp_path))
    assert signs(points) == [WRONG, OK]
    assert "01_x.ipynb is no notebook any more" in points[0].text
    assert signs(check.check_notebooks(tmp_path / "empty")) == [WRONG]


def test_a_folder_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    assert WRONG not in signs(check.check_folders({"notes": tmp_path, "more": tmp_path / "not" / "there"}))

    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(check.tempfile, "TemporaryFile", refuse)
    points = list(check.check_folders({"the lessons": ROOT / "notebooks", "notes": tmp_path}))
    assert signs(points) == [NOTE, WRONG]
    assert f"nothing can be written to {tmp_path}, the folder for notes (Permission denied)" in points[1].text


def test_a_disk_that_is_nearly_full_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(check.shutil, "disk_usage", lambda place: argparse.Namespace(free=10**8))
    (point,) = check.check_folders({"notes": tmp_path})
    assert point.sign == NOTE
    assert "only 0.1 GB free" in point.text


def test_little_memory_and_a_single_core_are_told():
    assert signs(check.check_machine((16 * 10**9, 8 * 10**9), 4)) == [OK, OK]
    points = list(check.check_machine((4 * 10**9, 10**9), 1))
    assert signs(points) == [NOTE, NOTE]
    assert "4.0 GB, 1.0 GB of it free" in points[0].text
    assert len(list(check.check_machine())) == 2


def test_widgets_that_jupyterlab_cannot_show_are_told(tmp_path):
    (point,) = check.check_widgets([str(tmp_path)])
    assert point.sign == NOTE
    assert "jupyterlab_widgets" in point.remedy
    assert signs(check.check_widgets()) == [OK]


def test_a_package_that_cannot_be_imported_is_told(tmp_path, monkeypatch):
    (tmp_path / "damaged_package.py").write_text("raise OSError('libgomp.so is missing')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (point,) = check.check_imports(["json", "damaged_package", "not_even_there"])
    assert point.sign == WRONG
    assert "damaged_package is installed, but cannot be imported: OSError: libgomp.so is missing" in point.text
    assert signs(check.check_imports(["json", "string"])) == [OK]


def write_notebook(path: Path, *cells: str) -> Path:
    notebook = {"cells": [{"cell_type": "code", "source": source} for source in cells]}
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def write_kernel(folder: Path, program: str, monkeypatch) -> None:
    """Make a kernel `odd` known, which is a program of one line."""
    place = folder / "kernels" / "odd"
    place.mkdir(parents=True)
    argv = [sys.executable, "-c", program, "{connection_file}"]
    specification = {"argv": argv, "display_name": "odd", "language": "python"}
    (place / "kernel.json").write_text(json.dumps(specification), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(folder))


def test_a_cell_that_fails_is_told(tmp_path):
    broken = write_notebook(tmp_path / "x.ipynb", "one = 1", "import sys; sys.modules['course'].missing")
    (point,) = check.check_kernel(broken)
    assert point.sign == WRONG
    assert "cell 2 of x.ipynb does not run: KeyError: 'course'" in point.text


def test_a_kernel_that_nobody_knows_is_told():
    (point,) = check.check_kernel(kernel_name="no-such-kernel")
    assert "Jupyter knows no kernel 'no-such-kernel'" in point.text
    assert "-m ipykernel install --sys-prefix" in point.remedy


def test_a_kernel_that_ends_at_once_is_told(tmp_path, monkeypatch):
    write_kernel(tmp_path, "raise SystemExit", monkeypatch)
    (point,) = check.check_kernel(kernel_name="odd", seconds=5)
    assert point.sign == WRONG
    assert "does not answer" in point.text


def test_a_kernel_whose_python_is_gone_is_told(tmp_path, monkeypatch):
    write_kernel(tmp_path, "", monkeypatch)
    path = tmp_path / "kernels" / "odd" / "kernel.json"
    path.write_text(path.read_text(encoding="utf-8").replace(sys.executable, "/no/such/python"), encoding="utf-8")
    (point,) = check.check_kernel(kernel_name="odd")
    assert "cannot be started" in point.text
    assert "removed Python" in point.remedy


def test_what_fails_in_one_check_is_told_and_ends_no_other():
    def broken():
        yield Point(OK, "fine so far")
        raise KeyError("odd")

    points = list(check._points_of(broken))
    assert signs(points) == [OK, WRONG]
    assert "KeyError" in points[1].text


def test_a_kernel_runs_the_first_cells_of_a_lesson_here():
    (point,) = check.check_kernel()
    assert point.sign == OK, point
    assert "runs the first cells of 01_next_token_shifting.ipynb" in point.text


def test_the_whole_is_a_line_for_each_point(monkeypatch, capsys):
    monkeypatch.setattr(check, "check_imports", lambda: [Point(OK, "imported")])
    monkeypatch.setattr(check, "check_kernel", lambda: [Point(OK, "a kernel")])
    monkeypatch.delenv("COURSE_CORPUS", raising=False)
    assert check.run(argparse.Namespace(all=False, no_kernel=False)) == 0
    points, verdict = capsys.readouterr().out.split("\n\n")
    assert all(line.startswith(("ok  ", "note  ", "       ")) for line in points.splitlines())
    assert points.endswith("ok     imported\nok     a kernel")
    assert verdict == "Everything works. Begin with notebooks/01_next_token_shifting.ipynb.\n"


def test_one_thing_that_is_wrong_makes_the_exit_status_1(monkeypatch, capsys):
    monkeypatch.setattr(check, "check_machine", lambda: [Point(WRONG, "no memory", "Buy some.")])
    assert check.run(argparse.Namespace(all=False, no_kernel=True)) == 1
    text = capsys.readouterr().out
    assert "WRONG  no memory\n       Buy some.\n" in text
    assert text.endswith("One thing is wrong: see the lines that begin with WRONG.\n")


# Notebooks for live coding


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_prose_and_questions_are_kept_and_code_is_emptied(lesson):
    made = blank(lesson.notebook)
    emptied = 0
    for before, after in zip(lesson.notebook.cells, made.cells, strict=True):
        assert before.cell_type == after.cell_type
        if before.cell_type == "markdown":
            assert before.source == after.source
            continue
        assert after.outputs == []
        assert after.execution_count is None
        if "install" in before.metadata.get("tags", []):
            assert after.metadata == before.metadata
            assert after.source == before.source
            continue
        assert "jupyter" not in after.metadata
        if exercise_of(before) or after.source == before.source:
            continue
        assert after.source == imports_in(before.source)
        emptied += 1
    assert emptied > 15
    assert any("show_scores(" in cell.source for cell in made.cells)
    assert {exercise_of(c) for c in lesson.notebook.cells} == {exercise_of(c) for c in made.cells}
    nbformat.validate(made)


def notebook_of(*sources: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])


def test_imports_stay_unless_they_are_not_wanted():
    lesson = notebook_of(
        "from course_lib.teaching import (\n    predict,\n    show_table,\n)\nimport numpy as np\n\nids = np.arange(5)",
        'predict("How many?", len(ids))',
        "from course_lib.exercises import bpe as exercises\n\nexercises.loses_text.show()",
        "plot = 1",
        "%pip install course",
    )
    lesson.cells[4].metadata["tags"] = ["install"]
    kept = [cell.source for cell in blank(lesson).cells]
    assert kept[0] == "from course_lib.teaching import (\n    predict,\n    show_table,\n)\nimport numpy as np"
    assert kept[1:] == [lesson.cells[1].source, lesson.cells[2].source, "", "%pip install course"]
    without = [cell.source for cell in blank(lesson, keep_imports=False).cells]
    assert without[0] == without[3] == ""
    # a question that is kept can be asked
    assert without[1] == 'from course_lib.teaching import predict\n\npredict("How many?", len(ids))'
    assert blank(lesson, keep_prompts=False).cells[1].source == ""
    assert "arange" in lesson.cells[0].source


def test_it_writes_the_lessons_that_are_wanted_and_nothing_over_others(tmp_path, capsys):
    out = tmp_path / "monday"
    assert command_line.main(["blank", str(out), "2", "10"]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["02_sliding_windows.ipynb", "10_token_shards.ipynb"]
    (out / "02_sliding_windows.ipynb").write_text("mine", encoding="utf-8")
    assert command_line.main(["blank", str(out), "2"]) == 1
    assert "is there already; `--force` writes over it" in capsys.readouterr().err
    assert (out / "02_sliding_windows.ipynb").read_text(encoding="utf-8") == "mine"
    assert command_line.main(["blank", str(out), "2", "--force"]) == 0
    # nothing leads out of the folder, which may be moved; a lesson that is there is linked
    made = nbformat.read(out / "02_sliding_windows.ipynb", as_version=4)
    prose = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    targets = [target for _, _, target in LINK.findall(prose)]
    assert all(target.startswith("http") for target in targets), targets
    assert "Lesson after: random sampling" in prose
    assert command_line.main(["blank", str(out), "3"]) == 0
    made = nbformat.read(out / "03_random_sampling.ipynb", as_version=4)
    assert "(02_sliding_windows.ipynb)" in made.cells[0].source
    assert "(04_sequential_partitioning.ipynb)" not in made.cells[0].source


@pytest.mark.parametrize("folder", [ROOT / "notebooks", ROOT / "notebooks" / "images" / ".." / "x"])
def test_the_lessons_themselves_are_never_written_over(folder):
    with pytest.raises(ValueError, match="in the folder of the lessons"):
        check_free([folder / "02_x.ipynb"], source=ROOT / "notebooks", force=True)


@pytest.mark.parametrize("suffix", [".ipynb", ".html"])
def test_links_lead_to_what_is_in_the_folder_and_what_else_they_name_stays_as_words(tmp_path, suffix):
    source, out = tmp_path / "notebooks", tmp_path / "out"
    (source / "pictures").mkdir(parents=True)
    out.mkdir()
    for name in ("pictures/a b.png", "01_a b.ipynb", "02_b.ipynb", "03_c.ipynb", "../README.md"):
        (source / name).write_bytes(b"something")
    (out / f"02_b{suffix}").touch()
    mend = relink(source, [out / f"01_a b{suffix}"])
    assert mend(
        "[one](01_a%20b.ipynb), [two, `x[0]`](02_b.ipynb#2.-part), [three](03_c.ipynb) [guide](../README.md)"
    ) == (f"[one](01_a%20b{suffix}), [two, `x[0]`](02_b{suffix}#2.-part), three guide")
    same = "[web](https://x.org/a) [here](#part) ![far](https://x.org/a.png) `table[0](x)`"
    assert mend(same) == same
    picture = mend("![a](pictures/a%20b.png)")
    if suffix == ".html":
        assert picture == '<img src="data:image/png;base64,c29tZXRoaW5n" alt="a">'
    else:
        assert picture == "![a](images/a%20b.png)"
        assert (out / "images" / "a b.png").read_bytes() == b"something"


def test_blank_offers_what_its_help_says():
    parser = argparse.ArgumentParser()
    blanks.add_arguments(parser)
    options = parser.parse_args(["out", "2", "--empty-imports", "--empty-prompts", "--force"])
    assert (options.out, options.lessons) == (Path("out"), ["2"])
