"""The commands that README, guides, lessons and the programs' own help print: their form is right, and one of each
kind runs as it is printed."""

import argparse
import importlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout, suppress
from pathlib import Path

import nbformat
import pytest

from course_lib.__main__ import COMMANDS, main
from course_lib.tokenizer_pipeline import build_tokenizer

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "notebooks/TEACHING.md", ".github/CONTRIBUTING.md", "data/README.md")
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```", flags=re.MULTILINE | re.DOTALL)
COURSE = re.compile(r"python3? -m course_lib (\w+)([^\n`#|&]*)")
RUN = (
    "check",
    "blank ~/monday 2",
    "nbgrader ~/grading 2",
    "scores handed-in",
    "audit loader.py:make_loader",
    "show loader.py:my_batches --tokenizer tokenizer.json",
    "tokenize data/ --tokenizer tokenizer.json --out shards --workers 2",
)
# Rows of the stream, the last token of each repeated as the first of the next: clean.
A_LOADER = """
def make_loader(ids, rank, world_size):
    rows = [ids[at : at + 31] for at in range(0, len(ids) - 1, 30)]
    rows = rows[: len(rows) // world_size * world_size]
    return [{"input_ids": [row]} for row in rows[rank::world_size]]

def my_batches():
    return make_loader([65, 66, 67] * 30, rank=0, world_size=1)
"""


def pages() -> list[str]:
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in PAGES]
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        texts.append("\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown"))
    for command in COMMANDS:
        with redirect_stdout(io.StringIO()) as said, suppress(SystemExit):
            main([command, "--help"])
        texts.append(said.getvalue().partition("\n\n")[2])
    return texts


def printed() -> list[tuple[str, str]]:
    """Each command of the course that is printed, as its name and its arguments."""
    texts = [text.replace("\\\n", " ") for text in pages()]
    found = [pair for text in texts for pair in COURSE.findall(text)]
    return [(name, " ".join(rest.split())) for name, rest in dict.fromkeys(found) if name != "COMMAND"]


@pytest.mark.parametrize(("name", "arguments"), printed())
def test_a_printed_command_is_understood(name, arguments):
    assert name in COMMANDS
    if arguments:
        parser = argparse.ArgumentParser()
        importlib.import_module(f"course_lib.{COMMANDS[name][0]}").add_arguments(parser)
        words = re.sub(r"  .*", "", arguments)  # what a help says beside it
        if "..." not in words and "INPUT" not in words:
            parser.parse_intermixed_args(shlex.split(words))


@pytest.mark.skipif(os.name == "nt", reason="they are printed for a shell of Unix")
@pytest.mark.parametrize("command", RUN)
def test_a_command_runs_as_it_is_printed(command, tmp_path):
    """In a copy of the repository, with a home of its own."""
    name = command.split()[0]
    assert any(name == one for one, _ in printed()), "nobody prints it"
    folder = tmp_path / "course"
    ignored = shutil.ignore_patterns(".git", "__pycache__", ".venv*", ".*_cache", ".ipynb_checkpoints")
    shutil.copytree(ROOT, folder, ignore=ignored)
    (folder / "handed-in").mkdir()
    shutil.copy(ROOT / "notebooks" / "03_random_sampling.ipynb", folder / "handed-in")
    (folder / "loader.py").write_text(A_LOADER, encoding="utf-8")
    build_tokenizer(["one text, and another"], vocab_size=300).save(str(folder / "tokenizer.json"))
    environment = {name: value for name, value in os.environ.items() if name != "COURSE_CORPUS"}
    environment |= {"HOME": str(tmp_path), "PYTHONPATH": str(folder)}
    program = f'"{sys.executable}" -m course_lib {command}'
    done = subprocess.run(["bash", "-c", program], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_extras_and_scripts_that_are_named_are_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = "\n".join(pages())
    for extras in re.findall(r"\.\[([\w,]+)\]", text):
        assert set(extras.split(",")) <= set(project["optional-dependencies"])
    for script in re.findall(r"python (tests/[\w/]+\.py)", text):
        assert (ROOT / script).is_file(), script


@pytest.mark.skipif(os.name == "nt", reason="they are printed for a shell of Unix")
def test_job_scripts_are_scripts():
    for _, kind, script in (found for text in pages() for found in FENCE.findall(text)):
        if kind == "bash":
            done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
            assert done.returncode == 0, script + done.stderr
