"""Notebooks for live coding."""

from pathlib import Path

import nbformat
import pytest

import course_lib.__main__ as command_line
from course_lib.commands.blank import blank, imports_in
from course_lib.commands.links import LINK, check_out, relink
from course_lib.teaching.lessons import exercise_of, find_lessons

ROOT = Path(__file__).parent.parent
LESSONS = find_lessons()


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
        if {"install", "hide-input"} & set(before.metadata.get("tags", [])):
            assert after.metadata == before.metadata
            assert after.source == before.source
            continue
        assert "jupyter" not in after.metadata
        if exercise_of(before) or after.source == before.source:
            continue
        assert after.source == imports_in(before.source)
        emptied += 1
    assert emptied > 8
    assert any("show_progress(exercises)" in cell.source for cell in made.cells)
    assert {exercise_of(c) for c in lesson.notebook.cells} == {exercise_of(c) for c in made.cells}
    nbformat.validate(made)


def test_an_experiment_is_a_line_to_type_and_its_import_stays():
    """Instruments are imported, so a class types their call alone, and what varies."""
    lesson = notebook_of(
        "from course_lib.experiments import stride_tradeoffs as experiments\n"
        "from course_lib.teaching import show_source\n\n"
        "seeds = range(10)\nruns = experiments.take_exams(texts, seeds)\n"
        "show_source(experiments.take_exams, folded=True)",
    )
    (cell,) = blank(lesson).cells
    assert cell.source.splitlines() == lesson.cells[0].source.splitlines()[:2]
    for found in LESSONS:
        typed = [
            "\n".join(line for line in before.source.splitlines() if line not in after.source.splitlines())
            for before, after in zip(found.notebook.cells, blank(found.notebook).cells, strict=True)
            if "experiments." in before.source and before.source != after.source
        ]
        assert all(len(code.split("\n")) <= 8 for code in typed), found.name


def notebook_of(*sources: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])


def test_imports_stay_unless_they_are_not_wanted():
    lesson = notebook_of(
        "from course_lib.teaching import (\n    predict,\n    show_table,\n)\nimport numpy as np\n\nids = np.arange(5)",
        'predict({"ids": len(ids)})',
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
    assert without[1] == 'from course_lib.teaching import predict\n\npredict({"ids": len(ids)})'
    assert blank(lesson, keep_prompts=False).cells[1].source == ""
    assert "arange" in lesson.cells[0].source


def test_it_writes_the_lessons_that_are_wanted_and_nothing_over_others(tmp_path, capsys):
    out = tmp_path / "monday"
    assert command_line.main(["blank", str(out), "2", "10"]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["02_sliding_windows.ipynb", "10_document_boundaries.ipynb"]
    (out / "02_sliding_windows.ipynb").write_text("mine", encoding="utf-8")
    assert command_line.main(["blank", str(out), "2"]) == 1
    assert "is there already; `--force` writes over it" in capsys.readouterr().err
    assert (out / "02_sliding_windows.ipynb").read_text(encoding="utf-8") == "mine"
    assert command_line.main(["blank", str(out), "--force", "2"]) == 0
    # nothing leads out of the folder, which may be moved; a lesson that is there is linked
    made = nbformat.read(out / "02_sliding_windows.ipynb", as_version=4)
    prose = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    targets = [target for _, _, target in LINK.findall(prose)]
    assert all(target.startswith(("http", "#")) for target in targets), targets
    assert "Lesson after: random sampling" in prose
    assert command_line.main(["blank", str(out), "3"]) == 0
    made = nbformat.read(out / "03_random_sampling.ipynb", as_version=4)
    assert "(02_sliding_windows.ipynb)" in made.cells[0].source
    assert "(04_sequential_partitioning.ipynb)" not in made.cells[0].source


@pytest.mark.parametrize("command", ["blank", "book", "nbgrader"])
@pytest.mark.parametrize("folder", ["", "notebooks", "notebooks/images/../x", "new"])
def test_nothing_is_written_into_the_course_itself(command, folder, capsys):
    assert command_line.main([command, str(ROOT / folder), "2", "--force"]) == 1
    assert f"lies in the course's own folder, {ROOT}" in capsys.readouterr().err
    assert not (ROOT / "new").exists()


@pytest.mark.parametrize("command", ["blank", "book", "nbgrader"])
def test_what_is_no_folder_is_refused_in_words(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert command_line.main([command, "2"]) == 1
    assert "give a folder first" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    for word, said in (("2", "give a folder first, `~/monday 2`"), ("file", "file is a file: give a folder")):
        assert command_line.main([command, word]) == 1
        assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    (tmp_path / "2").mkdir()  # who has such a folder means it
    check_out(Path("2"), [], force=False)


def test_links_lead_to_what_is_in_the_folder_and_what_else_they_name_stays_as_words(tmp_path):
    source, out = tmp_path / "notebooks", tmp_path / "out"
    (source / "pictures").mkdir(parents=True)
    out.mkdir()
    for name in ("pictures/a b.png", "01_a b.ipynb", "02_b.ipynb", "03_c.ipynb", "../README.md"):
        (source / name).write_bytes(b"something")
    (out / "02_b.ipynb").touch()
    mend = relink(source, [out / "01_a b.ipynb"])
    assert mend(
        "[one](01_a%20b.ipynb), [two, `x[0]`](02_b.ipynb#2.-part), [three](03_c.ipynb) [guide](../README.md)"
    ) == ("[one](01_a%20b.ipynb), [two, `x[0]`](02_b.ipynb#2.-part), three guide")
    same = "[web](https://x.org/a) [here](#part) ![far](https://x.org/a.png) `table[0](x)`"
    assert mend(same) == same
    assert mend("![a](pictures/a%20b.png)") == "![a](images/a%20b.png)"
    assert (out / "images" / "a b.png").read_bytes() == b"something"
