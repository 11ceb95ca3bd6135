"""The scores of a class: what a notebook does spoils nothing but its own rows."""

import csv
import os
import re

import nbformat
import psutil
import pytest

from course_lib.__main__ import main
from course_lib.classroom import scores
from course_lib.classroom.grading import running
from course_lib.classroom.grading.handed_in import in_order
from course_lib.classroom.grading.running import to_run
from course_lib.classroom.grading.tables import Row, of_students, students
from course_lib.teaching.lessons import find_lessons

IMPORT = "from course_lib.exercises import sliding_windows as exercises"
CHECK = "\n\nexercises.tokens_in_tail.check(tokens_in_tail)"
HEAD = "def tokens_in_tail(num_tokens, context_length, stride):\n"
RIGHT = """\
    windows = max(0, 1 + (num_tokens - context_length - 1) // stride)
    return num_tokens if not windows else num_tokens - ((windows - 1) * stride + context_length + 1)
"""
WRONG = RIGHT.replace("+ context_length + 1)", "+ context_length)")
DRAWN = "ids = 2 * 0\nwindows_of_stream = ids\n2 * exercises.windows_of_stream.check(windows_of_stream, seed=7)"
VERDICT = 'starts_from_range = "bug"\nexercises.starts_from_range.check(starts_from_range)'


def answer(body: str, before: str = "") -> str:
    return f"{before}{HEAD}{body}{CHECK}"


def notebook(*sources: str, outputs: tuple = ()) -> str:
    cells = [nbformat.v4.new_code_cell(source, outputs=list(outputs), execution_count=1) for source in sources]
    return nbformat.writes(nbformat.v4.new_notebook(cells=cells))


FORGED = nbformat.v4.new_output("execute_result", {"text/plain": "1.0"}, execution_count=1)
CALLS_HELPER = "%%time\n%matplotlib inline\n" + answer("    return helper(num_tokens, context_length, stride)\n")
HELPER = f"def helper(num_tokens, context_length, stride):\n{RIGHT}"
MOVES = answer("    import os\n    os.chdir('/')\n" + RIGHT.replace("1 +", "size +"))
READS = "size = int(open('mine.txt').read())\n" + MOVES
CONNECTS = answer("    import socket\n    return socket.create_connection(('127.0.0.1', 9))\n")
STUB = answer("    ...\n").replace("tokens,", "tokens: int,")
ENDS = answer(RIGHT, "import os\nos._exit(3)\n")
ENDLESS = answer(RIGHT, "while True: pass\n")
WINDOWS_OF_T = "windows of T ids"
SMALLEST = "tokens_in_tail(num_tokens=0, context_length=1, stride=1)"
# The same wrong answer, in other words and spaces.
ODD = 'def tokens_in_tail(num_tokens,context_length,stride):\n    """Say it."""\n    return ( 7 )  # lucky'

# What is said of tokens_in_tail, outcome and words of the diagnosis; and the cells behind the import of the exercises.
PRIVATE = """class _IncompleteInputError(SyntaxError): pass
raise _IncompleteInputError("incomplete input")
"""
CLASS = {
    # The endless experiment is not needed, and the helper is in a cell of its own.
    "anna/02_sliding_windows": ("passed", "", "while True: pass", VERDICT, HELPER, CALLS_HELPER),
    "ben/02_sliding_windows": ("failed", WINDOWS_OF_T, answer(WRONG)),
    "=渡辺/02 sliding windows": ("failed", WINDOWS_OF_T, answer(WRONG)),
    "loops": ("raised", f"`{SMALLEST}` did not end within", answer("    while True: pass\n")),
    "odd": ("failed", f"{SMALLEST}: expected 0, got 7", ODD, "exercises.tokens_in_tail.check(tokens_in_tail)"),
    "unchecked": ("failed", f"{SMALLEST}: expected 0, got 7", ODD, DRAWN),
    "ends": ("raised", "cell 2 ended the kernel", ENDS, VERDICT),
    "endless": ("raised", "cell 2 did not end within 4 seconds", ENDLESS, VERDICT),
    "files/reads": ("passed", "", READS),
    "network": ("raised", "the network is off", CONNECTS),
    "imports": ("raised", "No module named 'no_such_module'", answer(RIGHT, "import no_such_module\n")),
    "grammar": ("raised", "SyntaxError: incomplete input (cell 2)", answer("    return (\n")),
    # As Python says it of a cell that breaks off, from 3.13 on.
    "grammar, privately": ("raised", "SyntaxError: incomplete input", answer(RIGHT, PRIVATE)),
    "duplicates": ("passed", "", answer(RIGHT), answer(WRONG), answer("    ...\n")),
    "untouched": ("not attempted", "", "import numpy", STUB, VERDICT.replace("b", "not a b", 1)),
    "without sliding_windows": ("missing", "", "1 + 1"),
}
FILES = {
    "broken.ipynb": "{",
    "deep.ipynb": "[" * 100_000,
    "empty.ipynb": "",
    "list.ipynb": "[]",
    "other.ipynb": notebook("print('hello')"),
    "lesson 3, renamed.ipynb": notebook("from course_lib.exercises import random_sampling as exercises"),
    "forged 02_sliding_windows.ipynb": notebook("print(1.0)", outputs=(FORGED,)),
    ".ipynb_checkpoints/02_sliding_windows.ipynb": notebook(IMPORT),
    "files/mine.txt": "1",
}


whole_class = pytest.mark.slow  # its notebooks, endless and dying ones among them, take most of a minute


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    folder, out = tmp_path_factory.mktemp("class"), tmp_path_factory.mktemp("out")
    texts = {f"{name}.ipynb": notebook(IMPORT, *cells) for name, (_, _, *cells) in CLASS.items()} | FILES
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    patch = pytest.MonkeyPatch()
    patch.setattr(running, "PATIENCE", 12)  # beside the seconds that are asked for
    arguments = ["--seconds", "4", "--summary", str(out / "summary.md")]
    assert main(["scores", str(folder), "--out", str(out / "scores.csv"), *arguments]) == 0
    patch.undo()
    return folder, out


@pytest.fixture(scope="module")
def rows(scored) -> list[dict]:
    with (scored[1] / "scores.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@whole_class
@pytest.mark.parametrize("name", CLASS)
def test_a_notebook_gets_its_row_whatever_it_does(name, rows):
    outcome, words, *_ = CLASS[name]
    (row,) = [row for row in rows if row["file"].lstrip("'") == f"{name}.ipynb" and row["exercise"] == "tokens_in_tail"]
    assert (row["lesson"], row["outcome"]) == ("sliding_windows", outcome), row
    assert row["score"] == ("1.0" if outcome == "passed" else "0.0")
    assert words in row["diagnosis"]


@whole_class
def test_other_exercises_of_a_spoiled_notebook_are_scored_and_questions_with_drawn_numbers(rows):
    outcomes = {row["file"]: row["outcome"] for row in rows if row["exercise"] == "starts_from_range"}
    assert outcomes["anna/02_sliding_windows.ipynb"] == outcomes["ends.ipynb"] == outcomes["endless.ipynb"] == "passed"
    assert outcomes["ben/02_sliding_windows.ipynb"] == "missing"
    (untouched,) = [row for row in rows if (row["file"], row["exercise"]) == ("untouched.ipynb", "starts_from_range")]
    assert (untouched["outcome"], untouched["diagnosis"]) == ("failed", "answered 'not a bug'.")
    drawn = [row for row in rows if row["exercise"] == "windows_of_stream"]
    assert [(row["file"], row["outcome"]) for row in drawn] == [("unchecked.ipynb", "failed")]


@whole_class
def test_files_that_are_no_notebooks_of_the_course_say_why(rows):
    said = {row["file"]: row["diagnosis"] for row in rows if row["outcome"] == "unreadable"}
    begins = {
        "broken.ipynb": "it is not a notebook: ",
        "deep.ipynb": "it is not a notebook: ",
        "empty.ipynb": "the file is empty",
        "list.ipynb": "it is not a notebook: ",
        "other.ipynb": "neither its imports nor its name are those of ",
    }
    assert said.keys() == begins.keys()
    assert all(said[name].startswith(words) for name, words in begins.items())
    renamed = [row for row in rows if row["file"].startswith("lesson 3")]
    assert {(row["lesson"], row["outcome"]) for row in renamed} == {("random_sampling", "missing")}
    assert not any(row["file"].startswith(".") for row in rows)
    # It is told by its name; and what is saved in it plays no part.
    forged = [row for row in rows if row["file"].startswith("forged")]
    assert {(row["lesson"], row["score"]) for row in forged} == {("sliding_windows", "0.0")}


@whole_class
def test_rows_are_sorted_no_name_is_a_formula_and_no_diagnosis_needs_a_screen(rows):
    names = list(dict.fromkeys(row["file"] for row in rows))
    assert [name.lstrip("'") for name in names] == sorted(name.lstrip("'") for name in names)
    assert "'=渡辺/02 sliding windows.ipynb" in names
    exercises = [row["exercise"] for row in rows if row["file"].startswith("ben")]
    assert exercises == list(in_order("sliding_windows"))
    for row in rows:
        assert bool(row["diagnosis"]) == (row["outcome"] in ("failed", "raised", "unreadable")), row
        assert "below" not in row["diagnosis"]
        assert "restart" not in row["diagnosis"]


@whole_class
def test_the_summary_counts_the_class_and_its_mistakes(scored, rows):
    text = (scored[1] / "summary.md").read_text(encoding="utf-8")
    (count,) = {len({row["file"] for row in rows if row["lesson"] == "sliding_windows"})}
    assert f"## 2. Sliding windows: {count} notebooks" in text
    diagnosis = next(row["diagnosis"] for row in rows if row["file"].startswith("ben") and row["diagnosis"])
    assert f"- 2 of {count}: `tokens_in_tail`: {diagnosis}" in text
    assert "- broken.ipynb: it is not a notebook" in text


@whole_class
def test_the_summary_shows_the_commonest_wrong_answers_as_code(scored):
    text = (scored[1] / "summary.md").read_text(encoding="utf-8")
    shown = text.split("The most common wrong answers to `tokens_in_tail`:")[1].split("The most common")[0]
    answers = re.findall(r"^(\d+) of \d+:\n\n```python\n(.+?)\n```$", shown, re.MULTILINE | re.DOTALL)
    assert [int(number) for number, _ in answers] == [2, 2, 1]
    codes = [code for _, code in answers]
    assert f"{HEAD}    return 7" in codes
    assert f"{HEAD}{WRONG}".rstrip() in codes


@whole_class
def test_a_student_has_a_row_with_the_best_of_all_files(scored):
    with of_students(scored[1] / "scores.csv").open(encoding="utf-8-sig", newline="") as file:
        found = {row["student"]: row for row in csv.DictReader(file)}
    names = {path.relative_to(scored[0]).parts[0].removesuffix(".ipynb") for path in scored[0].rglob("*.ipynb")}
    assert found.keys() - {"'=渡辺"} == names - {"=渡辺", ".ipynb_checkpoints"}
    anna = found["anna"]
    assert (anna["solved"], anna["points"], anna["files"]) == ("2", "4", "anna/02_sliding_windows.ipynb")
    assert found["empty"]["files"] == "empty.ipynb (unreadable)"
    assert len({(row["of"], row["of points"]) for row in found.values()}) == 1


def test_of_two_files_of_a_student_the_best_answers_count():
    rows = [
        Row("x/v1.ipynb", "bpe", "a", 1.0, "passed", worth=3),
        Row("x/v1.ipynb", "bpe", "b", 0.0, "failed", worth=1),
        Row("x/deep/v2.ipynb", "bpe", "a", 1.0, "passed", worth=3),
        Row("x/deep/v2.ipynb", "bpe", "b", 1.0, "passed", worth=1),
        Row("y.ipynb", "bpe", "a", 0.0, "missing", worth=3),
        Row("y.ipynb", "bpe", "b", 1.0, "passed", worth=1),
        Row("z.ipynb", "", "", 0.0, "unreadable"),
    ]
    assert list(students(rows)) == [
        ("x", 2, 2, 4, 4, "x/v1.ipynb; x/deep/v2.ipynb"),
        ("y", 1, 2, 1, 4, "y.ipynb"),
        ("z", 0, 2, 0, 4, "z.ipynb (unreadable)"),
    ]


@whole_class
def test_nothing_is_left_behind(scored):
    folder, _ = scored
    assert (folder / "files" / "mine.txt").read_text() == "1"
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert written == {f"{name}.ipynb" for name in CLASS} | set(FILES)
    assert os.getcwd() != "/"
    assert ["sleep", "4321"] not in [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]


def test_an_interrupt_leaves_what_is_done(tmp_path, monkeypatch, capsys):
    for name in ("a", "b"):
        (tmp_path / f"{name} sliding_windows.ipynb").write_text(notebook("1"))

    def interrupted(files, root, limits):
        yield files[0], [Row(files[0].name, "sliding_windows", "x", 1.0, "passed")]
        raise KeyboardInterrupt

    monkeypatch.setattr(scores, "score_all", interrupted)
    out = tmp_path / "scores.csv"
    assert main(["scores", str(tmp_path), "--out", str(out)]) == 130
    assert out.read_text(encoding="utf-8-sig").splitlines()[1:] == [
        "a sliding_windows.ipynb,sliding_windows,x,1.0,passed,"
    ]
    assert "holds 1 of 2 notebooks" in capsys.readouterr().err
    # What is there is not overwritten, nor is anything begun.
    assert main(["scores", str(tmp_path), "--out", str(out)]) == 1
    assert "scores.csv (and 1 more) is there already; `--force` writes over it" in capsys.readouterr().err
    assert main(["scores", str(tmp_path), "--out", str(out), "--force"]) == 130
    out.unlink()
    assert main(["scores", str(tmp_path), "--out", str(tmp_path / "new.csv"), "--summary", str(of_students(out))]) == 1
    assert not (tmp_path / "new.csv").exists()


def test_what_cannot_be_scored_is_refused(tmp_path, monkeypatch, capsys):
    (tmp_path / "notes.docx").touch()
    for name, words in (
        ("", "there are no notebooks"),
        ("none", "there is no folder"),
        ("notes.docx", "notes.docx is a file, but not a notebook"),
    ):
        assert main(["scores", str(tmp_path / name)]) == 1
        assert words in capsys.readouterr().err
    (tmp_path / "a.ipynb").touch()
    for option in ("--seconds=nan", "--memory=0", "--jobs=-1"):
        assert main(["scores", str(tmp_path), option]) == 1
        assert option.split("=")[0] in capsys.readouterr().err


def test_a_notebook_alone_is_scored(tmp_path, capsys):
    path, out = tmp_path / "anna sliding_windows.ipynb", tmp_path / "scores.csv"
    path.write_text(notebook(IMPORT, VERDICT))
    assert main(["scores", str(path), "--out", str(out)]) == 0
    (row,) = csv.DictReader(of_students(out).read_text(encoding="utf-8-sig").splitlines())
    assert (row["student"], row["solved"], row["files"]) == ("anna sliding_windows", "1", path.name)
    assert f"A row for each student: {of_students(out)}" in capsys.readouterr().out


def test_without_the_lessons_nothing_is_begun(tmp_path, monkeypatch, capsys):
    (tmp_path / "a.ipynb").write_text(notebook(IMPORT))
    monkeypatch.setattr(scores, "lessons", find_lessons)  # which remembers nothing
    monkeypatch.setattr("course_lib.__file__", str(tmp_path / "course_lib" / "__init__.py"))
    assert main(["scores", str(tmp_path), "--out", str(tmp_path / "scores.csv")]) == 1
    assert "the notebooks come with a copy of the course's repository" in capsys.readouterr().err
    assert not (tmp_path / "scores.csv").exists()


@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        (["import a", "a.seed(0)", "c.x.check(a)"], ["import a", "c.x.check(a)"]),
        (
            ["def f(y):\n    return y\nprint(f(1))", "z = [1]"],
            ["def f(y):\n    return y", "z = [1]"],
        ),
        (["train()", "%matplotlib inline", "losses = train()"], []),
        (["x = (", "k.x.check("], ["k.x.check("]),
    ],
)
def test_what_defines_something_and_what_is_checked_is_run(cells, kept):
    assert [source for _, source in to_run(enumerate(cells, start=1))] == kept
