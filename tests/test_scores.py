"""The scores of a class: what a notebook does spoils nothing but its own rows."""

import csv
import io
from contextlib import redirect_stdout
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from course_lib.__main__ import main
from course_lib.commands import scores
from course_lib.commands.scores import Row, lesson_of, students, to_run

IMPORT = "from course_lib.exercises import sliding_windows as exercises"
CHECK = "\n\nexercises.tokens_in_tail.check(tokens_in_tail)"
HEAD = "def tokens_in_tail(num_tokens, context_length, stride):\n"
RIGHT = """\
    windows = max(0, 1 + (num_tokens - context_length - 1) // stride)
    return num_tokens if not windows else num_tokens - ((windows - 1) * stride + context_length + 1)
"""
WRONG = RIGHT.replace("+ context_length + 1)", "+ context_length)")
VERDICT = 'starts_from_range = "bug"\nexercises.starts_from_range.check(starts_from_range)'
WINDOWS_OF_T = "windows of T ids"
SMALLEST = "tokens_in_tail(num_tokens=0, context_length=1, stride=1)"
# A wrong answer in other words and spaces than the summary's.
ODD = 'def tokens_in_tail(num_tokens,context_length,stride):\n    """Say it."""\n    return ( 7 )  # lucky'


def answer(body: str, before: str = "") -> str:
    return f"{before}{HEAD}{body}{CHECK}"


def notebook(*sources: str) -> str:
    return nbformat.writes(nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, sources))))


CALLS_HELPER = "%%time\n%matplotlib inline\n" + answer("    return helper(num_tokens, context_length, stride)\n")
HELPER = f"def helper(num_tokens, context_length, stride):\n{RIGHT}"
# What is said of tokens_in_tail, outcome and words of the diagnosis; and the cells behind the import of the exercises.
CLASS = {
    # The endless experiment is not needed, and the helper is in a cell of its own.
    "anna/02_sliding_windows": ("passed", "", "while True: pass", VERDICT, HELPER, CALLS_HELPER),
    "ben/02_sliding_windows": ("failed", WINDOWS_OF_T, answer(WRONG)),
    "=渡辺/02 sliding windows": ("failed", WINDOWS_OF_T, answer(WRONG)),
    "loops": ("raised", f"`{SMALLEST}` did not end", answer("    while True: pass\n")),
    "unchecked": ("failed", f"{SMALLEST}: expected 0, got 7", ODD),
    "ends": ("raised", "cell 3 ended the kernel", VERDICT, answer(RIGHT, "import os\nos._exit(3)\n")),
    "endless": ("raised", "did not end within 2 seconds (cell 2)", answer(RIGHT, "while True: pass\n"), VERDICT),
    "grammar": ("raised", "incomplete input (cell 2)", answer("    return (\n")),
    "duplicates": ("passed", "", answer(RIGHT), answer(WRONG), answer("    ...\n")),
    "untouched": ("not attempted", "", "import numpy", answer("    ...\n"), VERDICT.replace("b", "not a b", 1)),
    "without sliding_windows": ("missing", "", "1 + 1"),
}
FILES = {
    "broken.ipynb": "{",
    "empty.ipynb": "",
    "other.ipynb": notebook("print('hello')"),
    ".ipynb_checkpoints/02_sliding_windows.ipynb": notebook(IMPORT),
}


class Patient(NotebookClient):
    """Keeps the limit for the cell that never ends; all others have their time, however busy the machine is."""

    def __init__(self, notebook, *, timeout, **options):
        of_cell = lambda cell: timeout if cell.source.startswith("while True") else 600
        super().__init__(notebook, timeout_func=of_cell, **options)


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """The rows of a class, those of its students, where they are, and what is printed about them."""
    folder, out = tmp_path_factory.mktemp("class"), tmp_path_factory.mktemp("out") / "scores.csv"
    texts = {f"{name}.ipynb": notebook(IMPORT, *cells) for name, (_, _, *cells) in CLASS.items()} | FILES
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as printed:
        patch.setattr(scores, "NotebookClient", Patient)
        assert main(["scores", str(folder), "--out", str(out), "--seconds", "2"]) == 0
    assert main(["scores", str(folder), "--out", str(out)]) == 1  # nothing is written over
    return table(out), table(out.with_stem("scores-students")), out, printed.getvalue()


def table(path) -> list[dict]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", CLASS)
def test_a_notebook_gets_its_row_whatever_it_does(name, scored):
    outcome, words, *_ = CLASS[name]
    rows = [row for row in scored[0] if row["file"].lstrip("'") == f"{name}.ipynb"]
    (row,) = [row for row in rows if row["exercise"] == "tokens_in_tail"]
    assert (row["lesson"], row["outcome"]) == ("sliding_windows", outcome), row
    assert row["score"] == ("1.0" if outcome == "passed" else "0.0")
    assert words in row["diagnosis"]
    if VERDICT in CLASS[name]:  # what else is in it is scored all the same
        assert "passed" in {row["outcome"] for row in rows if row["exercise"] == "starts_from_range"}


def test_files_that_are_no_notebooks_of_the_course_say_why(scored):
    told = {row["file"]: row["diagnosis"] for row in scored[0] if row["outcome"] == "unreadable"}
    assert told.keys() == {"broken.ipynb", "empty.ipynb", "other.ipynb"}
    assert told["other.ipynb"] == "neither its imports nor its name are those of a lesson"
    assert lesson_of(Path("02_sliding_windows.ipynb"), [IMPORT.replace("sliding_windows", "bpe")]) == "bpe"
    assert not any(row["file"].startswith(".") for row in scored[0])
    assert "'=渡辺/02 sliding windows.ipynb" in {row["file"] for row in scored[0]}  # no formula of a spreadsheet


def test_of_two_files_of_a_student_the_best_answers_count(scored):
    (anna,) = [row for row in scored[1] if row["student"] == "anna"]
    assert (anna["solved"], anna["points"]) == ("2", "4")
    rows = [
        Row("x/v1.ipynb", "bpe", "a", 1.0, "passed", worth=3),
        Row("x/v1.ipynb", "bpe", "b", 0.0, "failed", worth=1),
        Row("x/deep/v2.ipynb", "bpe", "b", 1.0, "passed", worth=1),
        Row("z.ipynb", "", "", 0.0, "unreadable"),
    ]
    assert list(students(rows)) == [
        ("x", 2, 2, 4, 4, "x/v1.ipynb; x/deep/v2.ipynb"),
        ("z", 0, 2, 0, 4, "z.ipynb (unreadable)"),
    ]


def test_the_summary_counts_mistakes_and_the_commonest_wrong_answers(scored):
    _, _, out, text = scored
    number = len(CLASS)
    assert f"## 2. Sliding windows: {number} notebooks" in text
    assert f"\n- 2 of {number}: `tokens_in_tail`: " in text
    assert f"2 of {number}:\n\n```python\n{HEAD}{WRONG}```\n\n1 of " in text  # the commonest first
    assert f"1 of {number}:\n\n```python\n{HEAD}    return 7\n```" in text
    assert f"All rows: {out}" in text


def test_what_cannot_be_scored_is_refused(tmp_path, capsys):
    (tmp_path / "notes.docx").touch()
    for name, words in (("", "there are no notebooks"), ("none", "no folder"), ("notes.docx", "no notebook")):
        assert main(["scores", str(tmp_path / name)]) == 1
        assert words in capsys.readouterr().err
    (tmp_path / "a.ipynb").write_text(notebook(IMPORT))
    assert main(["scores", str(tmp_path), "--seconds", "0"]) == 1
    assert "--seconds must be at least 1, got 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        (["import a", "a.seed(0)", "c.x.check(a)"], ["import a", "c.x.check(a)"]),
        (["def f(y):\n    return y\nprint(f(1))", "z = [1]"], ["def f(y):\n    return y", "z = [1]"]),
        (["train()", "%matplotlib inline", "losses = train()"], []),
        (["x = (", "k.x.check("], ["k.x.check("]),
    ],
)
def test_what_defines_something_and_what_is_checked_is_run(cells, kept):
    assert list(to_run(dict(enumerate(cells))).values()) == kept
