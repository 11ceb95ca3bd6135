"""The command line: what it says, and what it does with what it does not know."""

import importlib
import os
import re
import subprocess
import sys

import pytest

import course_lib.__main__ as command_line
from course_lib.__main__ import COMMANDS, ROOT, main


@pytest.mark.skipif(not str(ROOT).isascii(), reason="without UTF-8 Python cannot read a path with such letters")
def test_alone_it_says_what_the_course_is_where_things_are_and_what_it_can(tmp_path):
    # As a plain installation runs it: no UTF-8 anywhere, and another folder.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    environment |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(ROOT)}
    program = [sys.executable, "-X", "importtime", "-m", "course_lib"]
    settings = {"cwd": tmp_path, "env": environment, "encoding": "ascii", "errors": "replace"}
    done = subprocess.run(program, capture_output=True, **settings)
    assert done.returncode == 0
    assert "how text becomes training batches" in done.stdout
    for name in ("README.md", "notebooks", "data"):
        assert f" {ROOT / name}\n" in done.stdout
    assert " 2  Sliding windows            02_sliding_windows.ipynb" in done.stdout
    assert re.search(r"-m jupyter lab .*01_next_token_shifting\.ipynb", done.stdout)
    for name, (_, words) in COMMANDS.items():
        assert re.search(rf"^    {name} +{re.escape(words.split()[0])}", done.stdout, re.MULTILINE)
    # nobody waits for what is not needed
    assert not re.search(r"\| +(torch|numpy|matplotlib|nbformat)$", done.stderr, re.MULTILINE)


def test_help_is_there_for_the_whole(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "COMMAND --help" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_there_for_every_command(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    text = capsys.readouterr().out
    module = importlib.import_module(f"course_lib.{COMMANDS[command][0]}")
    assert text.startswith(f"usage: python -m course_lib {command} [-h]")
    assert module.__doc__.strip().splitlines()[0] in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("command", ["blank", "book", "nbgrader"])
def test_options_may_stand_anywhere(command, monkeypatch):
    module, found = importlib.import_module(f"course_lib.{COMMANDS[command][0]}"), []
    monkeypatch.setattr(module, "run", lambda options: found.append(options) or 0)
    for words in (["--force", "o", "2"], ["o", "--force", "2"], ["o", "2", "--force"]):
        assert main([command, *words]) == 0
    assert found[0] == found[1] == found[2]
    assert (found[0].lessons, found[0].force) == (["2"], True)


@pytest.mark.parametrize("arguments", [["chekc"], ["blank"], ["nbgrader", "--nonsense", "x"]])
def test_what_it_does_not_know_is_a_usage_error(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    said = capsys.readouterr().err
    assert said.startswith("usage: python -m course_lib")
    assert "Traceback" not in said
    assert "OUT, LESSON" not in said  # who gives no lesson wants all


def test_what_goes_wrong_is_one_line(capsys, tmp_path):
    assert main(["blank", str(tmp_path), "99"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("python -m course_lib blank: there is no lesson '99'; there are 1 next_token_shifting, 2")
    assert said.count("\n") == 1
    (tmp_path / "file").touch()
    assert main(["blank", str(tmp_path / "file" / "x"), "2"]) == 1
    assert capsys.readouterr().err == f"python -m course_lib blank: {tmp_path}/file/x: Not a directory\n"


def test_what_nobody_foresaw_is_one_line_too_or_a_trace_if_that_is_wanted(monkeypatch, capsys, tmp_path):
    module = importlib.import_module("course_lib.commands.check")
    monkeypatch.setattr(module, "run", lambda options: 1 / 0)
    assert main(["check"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("python -m course_lib check: ZeroDivisionError: division by zero")
    assert said.count("\n") == 1
    with pytest.raises(ZeroDivisionError):
        main(["--traceback", "check"])


def test_a_missing_module_of_the_course_is_no_package_to_install_and_missing_notebooks_are_told(monkeypatch, tmp_path):
    monkeypatch.setitem(COMMANDS, "book", ("nothing", ""))
    with pytest.raises(ModuleNotFoundError):
        main(["book", "x"])
    monkeypatch.setattr(command_line, "ROOT", tmp_path)
    assert "come with the repository" in command_line.about()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "01_broken.ipynb").write_text("{", encoding="utf-8")
    assert "1  (cannot be read: see `check`)" in command_line.about()


def test_a_reader_that_has_read_enough_is_no_error(tmp_path):
    program = f'"{sys.executable}" -m course_lib check --no-kernel | head -1'
    done = subprocess.run(["sh", "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.startswith("ok ")
    assert done.stderr == ""
