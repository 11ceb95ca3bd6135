"""The commands `audit` and `show` run where of all packages only NumPy is installed, and say what an option needs.

Here, all other packages are hidden. `tests/foreign_environments.py` makes real environments, from a registry.
"""

import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OTHERS = [name for name in packages_distributions() if name.isidentifier() and name not in ("numpy", "course_lib")]
LOADER = """
import numpy as np

print("the loader's file runs")

def make_loader(ids, epoch):
    starts = np.random.default_rng(epoch).permutation(np.arange(0, len(ids) - 16, 16))
    for at in range(0, len(starts) - 3, 4):
        rows = ids[starts[at : at + 4, None] + np.arange(17)]
        yield rows[:, :-1].copy(), rows[:, 1:].copy()

def of_lists(ids, epoch):
    for inputs, targets in make_loader(ids, epoch):
        yield {"inputs": inputs.tolist(), "targets": targets.tolist()}
"""
HIDE = """
import sys
for name in sys.argv.pop(1).split(","):
    sys.modules[name] = None  # importing it raises ModuleNotFoundError
"""
COMMAND = "from course_lib.__main__ import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def run(tmp_path):
    """Run a program, by default a command, where only NumPy and some other packages are."""
    (tmp_path / "lean_loader.py").write_text(LOADER, encoding="utf-8")
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")

    def run(*words: str, beside: tuple[str, ...] = (), program: str = COMMAND) -> subprocess.CompletedProcess:
        others = [name for name in OTHERS if name not in beside]
        command = [sys.executable, "-c", HIDE + program, ",".join(others), *words]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    return run


@pytest.mark.parametrize("name", ["make_loader", "of_lists"])
def test_the_audit_needs_numpy_alone(name, run):
    done = run("audit", f"lean_loader.py:{name}")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "the loader's file runs\n"
    assert done.stdout.startswith("clean\n")


@pytest.mark.parametrize(
    ("words", "package"),
    [
        ("audit lean_loader.py:make_loader --picture audit.png", "matplotlib"),
        ("audit lean_loader.py:make_loader --processes --world-size 2", "torch"),
        ("audit lean_loader.py:make_loader --tokenizer tokenizer.json", "tokenizers"),
        ("show lean_loader.py:make_loader --tokenizer tokenizer.json", "tokenizers"),
    ],
)
def test_what_an_option_needs_is_said_in_one_line_before_the_loader_runs(words, package, run):
    done = run(*words.split())
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert repr(package) in line
    assert line.endswith(f"-m pip install {package}")
    assert done.stdout == ""


def test_a_picture_needs_matplotlib_beside(run, tmp_path):
    needs = ("matplotlib", "mpl_toolkits", "PIL", "dateutil", "six", "kiwisolver", "cycler", "fontTools", "pyparsing")
    beside = (*needs, "packaging", "contourpy")
    done = run("audit", "lean_loader.py:make_loader", "--picture", "audit.png", beside=beside)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "audit.png").stat().st_size > 10_000


def test_show_needs_tokenizers_beside_and_a_text(run, tmp_path):
    from course_lib.tokenizer_pipeline import build_tokenizer

    text = "the cat sat on the mat. " * 40
    build_tokenizer([text] * 9, vocab_size=300).save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    words = ("show", "lean_loader.py:make_loader", "--tokenizer", "tokenizer.json")
    done = run(*words, "--text", "a.txt", beside=("tokenizers",))
    assert done.returncode == 0, done.stderr
    assert "the|␣cat|␣sat|␣on" in done.stdout
    # Installed without the repository, it has no text of its own.
    alone = "import course_lib.foundation.corpora as c; c.DATA_DIRECTORY = c.Path('nowhere')\n" + COMMAND
    done = run(*words, beside=("tokenizers",), program=alone)
    assert done.returncode == 2
    assert done.stderr.endswith(" Name a text with --text FILE\n")


@pytest.mark.parametrize(("name", "extra"), [("tokenize", "course"), ("blank", "course"), ("book", "teach")])
def test_other_commands_name_the_extra_that_they_need(name, extra, run):
    done = run(name, "folder")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "-m pip install --editable " in line
    assert line.rstrip("\"'").endswith(f"[{extra}]")
    alone = "import course_lib.__main__ as m; m.ROOT = m.Path('nowhere')\n" + COMMAND
    assert run(name, "folder", program=alone).stderr.endswith(f'-m pip install --editable ".[{extra}]"\n')


@pytest.mark.parametrize("name", ["predict", "play", "train", "end_to_end"])
def test_lessons_name_the_extra_that_they_need(name, run):
    done = run(program=f"from course_lib.teaching import {name}")
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert "lessons need the package" in said
    assert said.endswith('-m pip install --editable ".[course]"')


def test_an_older_python_is_told_so_by_what_needs_a_newer_one(run):
    older = "sys.version_info = (3, 10, 13)\n"
    said = run("check", program=older + COMMAND).stderr
    assert said.endswith("the course needs Python 3.11 or newer, and this is 3.10.13\n")
    assert run("audit", "lean_loader.py:make_loader", program=older + COMMAND).returncode == 0


def test_what_numpy_alone_can_import_imports_nothing_else(run):
    names = ("course_lib", "course_lib.foundation", "course_lib.auditing_loaders", "course_lib.commands.show")
    program = f"import sys, {', '.join(names)}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "numpy" in loaded
    assert not loaded & {"torch", "IPython", "tqdm", "regex", "tokenizers", "pebble", "markdown_it", "matplotlib"}
