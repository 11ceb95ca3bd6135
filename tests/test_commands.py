"""Every command that is printed, in the README, the guides, the lessons and the programs' own help, is run as it is
printed; where it cannot run here, or takes long, its form is checked. One that is in no table fails.
"""

import argparse
import importlib
import importlib.util
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout, suppress
from functools import cache
from pathlib import Path

import nbformat
import pytest
import yaml

from course_lib.__main__ import COMMANDS, main
from course_lib.many_machines import rank_training
from course_lib.tokenizer_pipeline import build_tokenizer

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "notebooks/TEACHING.md", ".github/CONTRIBUTING.md", "data/README.md")
PAGES += ("tests/benchmarks/results/README.md", "tests/benchmarks/results/public_loaders.md")
PROGRAMS = "python3?|pip|pytest|jupyter|git|conda|ray|torchrun|srun|ruff|nbgrader"
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```", flags=re.MULTILINE | re.DOTALL)
INLINE = re.compile(rf"`((?:\S*/)?(?:{PROGRAMS})\s[^`]+|\.ci/run)`")
IN_HELP = re.compile(rf"^  +((?:\S*/)?(?:{PROGRAMS}) \S.*?)(?:  .*)?$", flags=re.MULTILINE)
FOR_ALL = r"python -m course_lib COMMAND --help"

# Run as printed, in a copy of the repository, at home in a temporary folder.
RUN = (
    r"python -m course_lib check",
    r"python -m course_lib (blank|nbgrader) ~/\w+ 2",
    r"python -m course_lib audit train\.py:make_loader( --.+)?",
    r"python -m course_lib scores (~/handed-in|handed-in( --out monday\.csv)?)",
    r"python tests/reading\.py 02",
    r"python tests/publish\.py https://github\.com/NAME/REPOSITORY --branch main",
    r"python -m course_lib tokenize data/ --tokenizer tokenizer\.json --out shards( --workers 8)?",
    r"torchrun --nproc-per-node 2 .+",
    r"ruff (check|format) course_lib tests",
    r"git restore notebooks",
)
# Not run: for what takes minutes, a network, a cluster or a window there is a program whose help knows the options.
# Another reason stands beside it.
FORM = {
    r"python3 -m venv \S+": ("venv",),
    r"(python -m )?pip install .+": ("pip", "install"),
    r"pip download .+": ("pip", "download"),
    r"(python -m )?pytest\b.*": ("pytest",),
    r"(python -m )?jupyter lab( .+)?": ("jupyter", "lab", "--help-all"),
    r"torchrun --nnodes .+": ("torch.distributed.run",),
    r"ray start .+": ("ray.scripts.scripts", "start"),
    r"nbgrader \w+ \S+": ("nbgrader",),
    r"python tests/refresh_notebooks\.py 15": None,  # lesson 15 is the reader's
    r"python tests/benchmarks/speed\.py( --quick --out /tmp/x)?": None,  # minutes; its help is run by its own test
    r"python tests/benchmarks/public_loaders\.py": None,  # minutes, and packages; its help is run by its own test
    r"python tests/(refresh_notebooks|refresh_picture)\.py": None,  # of all lessons; in a browser
    r"\.ci/run": None,  # the whole suite
    r"conda (env create|activate) .+": None,
    r"srun .+": None,
    r"(HEAD=|sleep |export RAY_ADDRESS=).+": None,
    r"python -m course_lib audit": None,  # a mention; with a file it is run
    FOR_ALL: None,
}


def pages() -> dict[str, str]:
    found = {name: (ROOT / name).read_text(encoding="utf-8") for name in PAGES}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        found[path.name] = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return found


def helps() -> list[str]:
    calls = [(rank_training.main, ["--help"]), (main, [])]
    calls += [(main, [command, "--help"]) for command in COMMANDS]
    found = []
    for program, arguments in calls:
        with redirect_stdout(io.StringIO()) as said, suppress(SystemExit):
            program(arguments)
        found.append(said.getvalue())
    return found


def blocks(text: str) -> list[str]:
    """What fences hold, each as it is typed."""
    fences = FENCE.findall(text)
    assert all(kind for _, kind, _ in fences), "a fence says what it holds"
    return [re.sub(rf"^{indent}", "", code, flags=re.MULTILINE) for indent, kind, code in fences if kind == "bash"]


def commands() -> list[str]:
    """Each once, in the order in which they are printed."""
    found = []
    for text in pages().values():
        for block in blocks(text):
            lines = re.sub(r"(?:^|\s)#.*", "", block.replace("\\\n", " "), flags=re.MULTILINE).splitlines()
            found += [part.strip() for line in lines if line.strip() for part in line.split(" && ")]
        found += INLINE.findall(FENCE.sub("", text))
    for text in helps():
        found += IN_HELP.findall(text) + INLINE.findall(text)
    return list(dict.fromkeys(bare(command) for command in found))


def bare(command: str) -> str:
    """The command without the places of this machine, of a virtual environment and of a text."""
    here = " ".join(command.split()).replace(sys.executable, "python").replace(f"{ROOT}/", "").replace(str(ROOT), ".")
    return re.sub(r"^(?:COURSE_CORPUS=\S+ )?(?:\.venv(?:-test)?/bin/)?", "", here).removesuffix(" &")


def matches(table: object, command: str) -> list[str]:
    return [pattern for pattern in table if re.fullmatch(pattern, command)]


PRINTED = commands()
TO_RUN = [command for command in PRINTED if matches(RUN, command)]
NOT_RUN = [command for command in PRINTED if command not in TO_RUN]


# Chunks of documents, the last token of each repeated as the first of the next: clean, however it is asked for.
A_LOADER = """
def make_loader(ids, document_starts, rank, world_size):
    ends = [*document_starts[1:], len(ids)]
    pieces = [(at, end) for first, end in zip(document_starts, ends) for at in range(first, end - 1, 30)]
    rows = [ids[at : min(at + 31, end)] for at, end in pieces]
    rows = rows[: len(rows) // world_size * world_size]
    return [{"input_ids": [row]} for row in rows[rank::world_size]]
"""


@cache
def help_of(*program: str) -> str:
    """What a program says to --help, or to the last word if that asks for more."""
    asked = () if program[-1].startswith("--help") else ("--help",)
    call = [sys.executable, "-m", *program, *asked]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout


def options(words: list[str]) -> list[str]:
    return [word.split("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)]


@pytest.fixture
def copy(tmp_path) -> Path:
    """The repository beside a home with what the commands name; `.venv/bin/python` is this Python."""
    folder = tmp_path / "course"
    ignored = shutil.ignore_patterns(".git", "__pycache__", ".venv*", ".*_cache", ".ipynb_checkpoints")
    shutil.copytree(ROOT, folder, ignore=ignored)
    for name in (".venv", ".venv-test"):
        (folder / name).symlink_to(sys.prefix)
    for place in (tmp_path / "home", folder):
        (place / "handed-in").mkdir(parents=True)
        shutil.copy(ROOT / "notebooks" / "03_random_sampling.ipynb", place / "handed-in")
    (folder / "train.py").write_text(A_LOADER, encoding="utf-8")
    build_tokenizer(["one text, and another"], vocab_size=300).save(str(folder / "tokenizer.json"))
    return folder


@pytest.mark.skipif(os.name == "nt", reason="they are printed for a shell of Unix")
@pytest.mark.parametrize("command", TO_RUN)
def test_it_runs_as_it_is_printed(command, copy):
    environment = {name: value for name, value in os.environ.items() if name != "COURSE_CORPUS"}
    environment |= {"HOME": str(copy.parent / "home"), "PYTHONPATH": str(copy)}
    environment["PATH"] = os.pathsep.join([str(Path(sys.prefix, "bin")), environment["PATH"]])
    if command.startswith("git"):
        author = "-c user.name=a -c user.email=a@b"
        command = f"git init -q && git add notebooks && git {author} commit -qm all && rm notebooks/0* && {command}"
    if command.startswith("torchrun"):  # the shards that it reads
        tokenize = "python -m course_lib tokenize data/ --tokenizer tokenizer.json --out shards --quiet"
        command = f"{tokenize} >/dev/null && {command}"
    done = subprocess.run(["bash", "-c", command], cwd=copy, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for following in re.findall(r"^Next: (.+)$", done.stdout, flags=re.MULTILINE):
        *_, folder, program = following.split(" && ")
        assert Path(os.path.expanduser(shlex.split(folder)[1])).is_dir()
        assert matches(FORM, program), following


@pytest.mark.parametrize("command", NOT_RUN)
def test_its_form_is_right(command):
    words = shlex.split(command)
    course = re.fullmatch(r"python -m course_lib (\w+)(.*)", command)
    if course and not matches(FORM, command):
        parser = argparse.ArgumentParser()
        importlib.import_module(f"course_lib.{COMMANDS[course[1]][0]}").add_arguments(parser)
        parser.parse_args(shlex.split(course[2]))
        return
    (pattern, *_) = matches(FORM, command) or [pytest.fail(f"{command!r} is in no table: run it, or check its form")]
    for word in words:
        if re.search(r"\.(py|yml|ipynb)$|/$", word) and not word.startswith(("-", "/")):
            assert list(ROOT.glob(word)), word
        for extra in re.findall(r"\.\[(.+)\]", word):
            project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            assert set(extra.split(",")) <= set(project["optional-dependencies"])
    program = FORM[pattern]
    if program:
        if program[0] != "pip" and not importlib.util.find_spec(program[0].partition(".")[0]):
            pytest.skip(f"{program[0]} is not installed")
        known = help_of(*program)
        for option in options(words[words.index("-m") + 2 if words[0].startswith("python") else 1 :]):
            assert option in known or option in help_of("course_lib.many_machines.rank_training"), option
    if words[0] == "nbgrader":
        assert re.search(rf"^{words[1]}$", known, flags=re.MULTILINE)
    if words[0] == "torchrun":
        number = {name: int(value) for name, value in re.findall(r"--([\w-]+) (\d+)", command)}
        assert number["batch-size"] % (number["nnodes"] * number["nproc-per-node"]) == 0
    if words[:2] == ["conda", "activate"]:
        environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
        assert words[2] == environment["name"]
    if words[0] == ".ci/run":
        assert os.access(ROOT / words[0], os.X_OK)


@pytest.mark.skipif(os.name == "nt", reason="they are printed for a shell of Unix")
def test_scripts_are_scripts():
    scripts = [block for text in pages().values() for block in blocks(text)]
    for script in scripts:
        done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
        assert done.returncode == 0, script + done.stderr
    jobs = [script for script in scripts if "#SBATCH" in script]
    assert jobs
    for job in jobs:
        assert job.startswith("#!/bin/bash\n#SBATCH ")
        # Since Slurm 22.05 srun does not take it over from the job.
        for call in re.findall(r"^srun .+", job, flags=re.MULTILINE):
            assert '--cpus-per-task="$SLURM_CPUS_PER_TASK"' in call


def test_no_row_of_the_tables_is_left_over():
    for table in (RUN, FORM):
        for pattern in table:
            assert any(re.fullmatch(pattern, command) for command in PRINTED), pattern
