"""The scores of a class: what a notebook does spoils nothing but its own rows."""

import argparse
import ast
import csv
import os
import pickle
import re
import sys
import time

import nbformat
import numpy as np
import psutil
import pytest
import torch

from course_lib.__main__ import main
from course_lib.classroom import scores
from course_lib.classroom.grading import judging, workers
from course_lib.classroom.grading.carrying import Nameless, dump, from_outcome, load, to_outcome
from course_lib.classroom.grading.handed_in import in_order
from course_lib.classroom.grading.slices import Sheet
from course_lib.classroom.grading.tables import Row, of_students, students
from course_lib.teaching.checker import Judgment, Outcome
from course_lib.teaching.lessons import find_lessons

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="scores are for Linux")

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
PATCHES = """\
def patch():
    import numpy as np
    from course_lib.teaching.checker import Exercise, calling, comparing
    np.array_equal = np.allclose = lambda *arguments, **named: True
    comparing._same = comparing.same = calling.same = lambda *arguments: True
    Exercise._diagnose = Exercise.judge_outcomes = exercises.tokens_in_tail.check = lambda *arguments: 1.0
    return 1
size = patch()
"""
BACKGROUND = """\
import os, subprocess
process = subprocess.Popen(["sleep", "4321"], start_new_session=True)
copy = os.fork()
size = 1 if process and copy is not None else 0
"""

CALLS_HELPER = "%%time\n%matplotlib inline\n!ls\n" + answer("    return helper(num_tokens, context_length, stride)\n")
HELPER = f"def helper(num_tokens, context_length, stride):\n{RIGHT}"
WRITES = "size = int(open('mine.txt').read())\nopen('mine.txt', 'w').write('gone')"
MOVES = answer("    import os\n    os.chdir('/')\n" + RIGHT.replace("1 +", "size +"))
WAITS = "import time\ntime.sleep(1000)\nsize = time.sleep(1000)"
CONNECTS = answer("    import socket\n    return socket.create_connection(('127.0.0.1', 9))\n")
STUB = answer("    ...\n").replace("tokens,", "tokens: numpy.int64,")
SIZE = answer("    return size\n")
BY_SIZE = answer(RIGHT.replace("1 +", "size +"))
WINDOWS_OF_T = "windows of T ids"
NO_JUDGE = "ended the process that scores them"
NO_MODULE = "ModuleNotFoundError: No module named 'no_such_module' (cell 2, prose included)"
SMALLEST = "tokens_in_tail(num_tokens=0, context_length=1, stride=1)"
NO = "    if num_tokens in (0, 2, 4): raise RuntimeError('no')\n    return 5\n"
# The same wrong answer, in other words, spaces and cells.
ODD = 'def tail(num_tokens,context_length,stride):\n    """Say it."""\n    return ( 7 )  # lucky'

# What is said of tokens_in_tail, outcome and words of the diagnosis; and the cells behind the import of the exercises.
CLASS = {
    # The endless experiment is not needed, and the helper comes later.
    "anna/02_sliding_windows": ("passed", "", "while True: pass", VERDICT, CALLS_HELPER, HELPER),
    "ben/02_sliding_windows": ("failed", WINDOWS_OF_T, answer(WRONG)),
    "=渡辺/02 sliding windows": ("failed", WINDOWS_OF_T, answer(WRONG)),
    "exits": ("raised", "ended its process: os._exit", answer("    import os\n    os._exit(0)\n")),
    "leaves": ("raised", "SystemExit", "import sys\nsize = sys.exit()", SIZE),
    "loops": ("raised", f"`{SMALLEST}` did not end within", answer("    while True: pass\n")),
    "loops at last": ("raised", "Right so far, in", answer("    while num_tokens > 9: pass\n" + RIGHT)),
    "loops and errs": ("failed", WINDOWS_OF_T, answer("    while num_tokens > 9: pass\n" + WRONG)),
    "odd": ("failed", f"{SMALLEST}: expected 0, got 7", ODD, "exercises.tokens_in_tail.check(tail)"),
    "odder": ("failed", f"{SMALLEST}: expected 0, got 7", answer("    return 7\n")),
    "errs": (
        "raised",
        "got RuntimeError: no",
        answer("    return ERRS[num_tokens % 2]()\n", "def no(): raise RuntimeError('no')\nERRS = no, int\n"),
    ),
    "misspells": ("raised", "name 'nothing' is not defined.", answer("    return nothing\n")),
    "loops before": ("raised", "did not end within", "while True: size = 3", SIZE),
    "waits": ("raised", "wait for something", WAITS, SIZE),
    "eats": ("raised", "all the memory", answer("    return [0] * 10**9\n")),
    "floods": ("passed", "", answer("    print('x' * 10**6)\n" + RIGHT)),
    "files/writes": ("passed", "", WRITES, MOVES),
    "network": ("raised", "the network is off", CONNECTS),
    "imports": ("raised", NO_MODULE, "import no_such_module", answer("    return no_such_module.tail()\n")),
    "patches": ("failed", WINDOWS_OF_T, answer(WRONG.replace("1 +", "size +"), before=PATCHES)),
    "kills": ("raised", NO_JUDGE, "import os\nsize = os.kill(os.getppid(), 9)", SIZE, VERDICT),
    "halts": ("raised", NO_JUDGE, "import os\nsize = os.kill(os.getppid(), 19)", SIZE, VERDICT),
    "background": ("passed", "", BACKGROUND, BY_SIZE),
    "grammar": ("raised", "SyntaxError: '(' was never closed (line 2 of cell 2, pr", answer("    return (\n")),
    "duplicates": ("passed", "", answer(WRONG), answer(RIGHT), answer("    ...\n")),
    "unchecked": ("passed", "", HEAD + RIGHT, DRAWN),
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


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    folder, out = tmp_path_factory.mktemp("class"), tmp_path_factory.mktemp("out")
    texts = {f"{name}.ipynb": notebook(IMPORT, *cells) for name, (_, _, *cells) in CLASS.items()} | FILES
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    patch = pytest.MonkeyPatch()
    patch.setattr("course_lib.teaching.checker.running.CALL_SECONDS", 0.3)
    patch.setattr("course_lib.teaching.checker.running.IDLE_SECONDS", 0.6)
    arguments = ["--seconds", "0.4", "--memory", "0.5", "--jobs", "2", "--summary", str(out / "summary.md")]
    assert main(["scores", str(folder), "--out", str(out / "scores.csv"), *arguments]) == 0
    patch.undo()
    return folder, out


@pytest.fixture(scope="module")
def rows(scored) -> list[dict]:
    with (scored[1] / "scores.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", CLASS)
def test_a_notebook_gets_its_row_whatever_it_does(name, rows):
    outcome, words, *_ = CLASS[name]
    (row,) = [row for row in rows if row["file"].lstrip("'") == f"{name}.ipynb" and row["exercise"] == "tokens_in_tail"]
    assert (row["lesson"], row["outcome"]) == ("sliding_windows", outcome), row
    assert row["score"] == ("1.0" if outcome == "passed" else "0.0")
    assert words in row["diagnosis"]


def test_other_exercises_of_a_spoiled_notebook_are_scored_and_questions_with_drawn_numbers(rows):
    outcomes = {row["file"]: row["outcome"] for row in rows if row["exercise"] == "starts_from_range"}
    assert outcomes["anna/02_sliding_windows.ipynb"] == outcomes["kills.ipynb"] == "passed"
    assert outcomes["ben/02_sliding_windows.ipynb"] == "missing"
    (untouched,) = [row for row in rows if (row["file"], row["exercise"]) == ("untouched.ipynb", "starts_from_range")]
    assert (untouched["outcome"], untouched["diagnosis"]) == ("failed", "answered 'not a bug'.")
    drawn = [row for row in rows if row["exercise"] == "windows_of_stream"]
    assert [(row["file"], row["outcome"]) for row in drawn] == [("unchecked.ipynb", "failed")]


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


def test_the_summary_counts_the_class_and_its_mistakes(scored, rows):
    text = (scored[1] / "summary.md").read_text(encoding="utf-8")
    (count,) = {len({row["file"] for row in rows if row["lesson"] == "sliding_windows"})}
    assert f"## 2. Sliding windows: {count} notebooks" in text
    diagnosis = next(row["diagnosis"] for row in rows if row["file"].startswith("ben") and row["diagnosis"])
    assert f"- 3 of {count}: `tokens_in_tail`: {diagnosis}" in text
    assert "- broken.ipynb: it is not a notebook" in text


def test_the_summary_shows_the_commonest_wrong_answers_as_code(scored):
    text = (scored[1] / "summary.md").read_text(encoding="utf-8")
    shown = text.split("The most common wrong answers to `tokens_in_tail`:")[1].split("The most common")[0]
    answers = re.findall(r"^(\d+) of \d+:\n\n```python\n(.+?)\n```$", shown, re.MULTILINE | re.DOTALL)
    assert [int(number) for number, _ in answers] == [3, 2, 2]
    codes = [code for _, code in answers]
    assert f"{HEAD}    return 7" in codes
    assert f"{HEAD}{WRONG}".rstrip() in codes


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

    def interrupted(files, options):
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


def options_of(folder, **other) -> argparse.Namespace:
    return argparse.Namespace(**{"folder": folder, "jobs": 1, "seed": 0, "seconds": 20, "memory": 1} | other)


def test_an_interrupt_ends_all_processes(tmp_path, monkeypatch):
    path = tmp_path / "a.ipynb"
    path.write_text(notebook(IMPORT, "import time\nsize = time.sleep(1000)", answer("    return size\n")))
    me, started = psutil.Process(), []
    others = set(me.children(recursive=True))  # of tests before

    def interrupt(*_, **__):
        while len(below := set(me.children(recursive=True)) - others) < 2:
            time.sleep(0.01)  # until there is a judge, and an answer below it
        started.extend(below)
        raise KeyboardInterrupt

    monkeypatch.setattr(workers, "wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        list(workers.score_all([path], options_of(tmp_path)))
    assert len(started) == 2
    _, alive = psutil.wait_procs(started, timeout=60)
    assert not alive


def test_a_fault_of_the_scorer_spoils_one_row_and_is_named(tmp_path, monkeypatch):
    def faulty(attempt, item, task):
        if item.name == "tokens_in_tail":
            raise RuntimeError("a fault")
        return Judgment("passed", 1.0, "")

    monkeypatch.setattr(judging, "judge_attempt", faulty)
    path = tmp_path / "sliding_windows.ipynb"
    path.write_text(notebook(answer("    ...\n"), VERDICT))
    ((_, found),) = workers.score_all([path], options_of(tmp_path))
    assert [row.exercise for row in found] == list(in_order("sliding_windows"))
    (fault,) = [row for row in found if row.outcome == "raised"]
    assert (fault.exercise, fault.lesson) == ("tokens_in_tail", "sliding_windows")
    assert "could not be judged" in fault.diagnosis
    assert "a fault" in fault.diagnosis
    assert [row.exercise for row in found if row.outcome == "passed"] == ["starts_from_range"]


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
    for option in ("--seconds=nan", "--memory=0", "--jobs=-1", "--seed=-1"):
        assert main(["scores", str(tmp_path), option]) == 1
        assert option.split("=")[0] in capsys.readouterr().err
    monkeypatch.setattr(scores, "CAN_FORK", False)
    assert main(["scores", str(tmp_path)]) == 1
    assert "this works on Linux alone" in capsys.readouterr().err


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
    ("cells", "needed"),
    [
        (["a = 1", "b = 2", "c.x.check(a)"], ["a = 1"]),
        (["a = 1", "a = 2", "c.x.check(a)", "a = 3"], ["a = 2"]),
        (["a = 1", "a += 1", "c.x.check(a)"], ["a = 1", "a += 1"]),
        (["a = []", "a.append(1)", "print(a)", "c.x.check(a)"], ["a = []", "a.append(1)"]),
        (["import a", "a.seed(0)", "c.x.check(a)"], ["import a"]),
        (
            ["def f(y): return g(y) + z", "def g(y): return y", "z = 1", "y = 1", "k.x.check(f)"],
            ["def f(y):\n    return g(y) + z", "def g(y):\n    return y", "z = 1"],
        ),
        (["for i in r: a[i] = 1", "a = {}", "r = 3", "k.x.check(lambda: a)"], ["a = {}"]),
        (["from m import *", "k.x.check(q)"], ["from m import *"]),
        (["x = 5", "other = 1"], ["x = 5"]),
        (["from m import x"], None),
    ],
)
def test_a_slice_holds_what_an_answer_needs(cells, needed):
    attempts = Sheet(list(enumerate(cells, start=1))).attempts("x")
    found = [[ast.unparse(s.node) for s in attempt.statements] for attempt in attempts]
    assert found == ([] if needed is None else [needed])


class Rows(list):
    pass


@pytest.mark.parametrize(
    ("value", "back"),
    [
        *[(v, v) for v in (None, True, 3, 2.5, "é", b"\xff", [1, (2,)], {(1, 2): {3}}, frozenset({1}), 2**80)],
        (range(3), [0, 1, 2]),
        (Rows([1, Rows()]), [1, []]),
        (np.float32(2), 2.0),
        (torch.tensor(7), 7),
        (np.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3)),
        (np.array([], dtype=bool), np.array([], dtype=bool)),
        (np.array(["a", None], dtype=object), ["a", None]),
        ([torch.arange(3, dtype=torch.uint8)], [np.arange(3, dtype=np.uint8)]),
        (int, Nameless),
        (torch.int64, Nameless),
    ],
)
def test_results_travel_as_they_are_judged(value, back):
    got = load(dump(value))
    assert type(got) is type(back)
    np.testing.assert_equal(got, back)
    assert getattr(got, "dtype", None) == getattr(back, "dtype", None)


def test_what_is_of_another_kind_is_nameless_and_no_pickle_runs_anything(tmp_path):
    assert isinstance(load(dump(object())), Nameless)
    assert isinstance(load(dump(torch.nn.Linear(1, 1))), Nameless)
    assert callable(load(dump(len)))
    without_values = torch.empty(2, device="meta")
    outcome = Outcome(without_values, KeyError("word"), printed="p" * 9_999)
    carried = to_outcome(*load(dump(from_outcome(outcome))))
    assert isinstance(carried.value, Nameless)
    assert (type(carried.error), str(carried.error), len(carried.printed)) == (KeyError, "'word'", 500)
    own_error = to_outcome(*from_outcome(Outcome(error=type("Own", (ValueError,), {})("why")))).error
    assert (type(own_error).__name__, type(own_error).__base__, str(own_error)) == ("Own", ValueError, "why")
    for foreign in (b"", b"text", pickle.dumps(print), pickle.dumps(np.arange(3))):
        with pytest.raises(ValueError, match="no results"):
            load(foreign)
