"""The package works wherever and however it is started."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import publish

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")

# Every module is imported, and files of every kind are written and read, in the folder in which the program runs; by
# workers that are spawned, as on macOS and Windows.
PROGRAM = """
import importlib, pathlib, torch, course_lib
from course_lib.exercises import sliding_windows as exercises
from course_lib.foundation import CharTokenizer, load_documents, load_text
from course_lib.sliding_windows import SlidingWindowDataset, make_dataloader
from course_lib.token_shards import ShardedStream, verify_shards, write_shards
from course_lib.tokenizer_pipeline import build_tokenizer, wrap_tokenizer

if __name__ == "__main__":
    package = pathlib.Path(course_lib.__file__).parent
    assert package.is_relative_to(pathlib.Path.cwd().parent)
    for path in sorted(package.rglob("*.py")):
        name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        importlib.import_module(name.removesuffix(".__init__"))
    documents = "".join(document.text for document in load_documents())
    assert CharTokenizer(documents).decode(CharTokenizer(documents).encode(documents)) == documents
    text = load_text()
    assert text == pathlib.Path("own text.txt").read_text(encoding="utf-8")
    tokenizer = wrap_tokenizer(build_tokenizer([text], vocab_size=300), model_max_length=100)
    tokenizer.save_pretrained("my tokenizer")
    write_shards([text, text], tokenizer, "my shards", val_every=2)
    verify_shards("my shards")
    ids = ShardedStream("my shards", "train")[:].tolist()
    assert tokenizer.decode(ids, skip_special_tokens=True) == text
    torch.multiprocessing.set_start_method("spawn")
    loader = make_dataloader(SlidingWindowDataset(ids, 8, 8), 4, base_seed=0, num_workers=1)
    assert len(list(loader)) == len(loader) > 1
    assert exercises.smallest_stream.check(exercises.smallest_stream.reference) == 1.0
"""
HIDDEN = {"HOME", "USERPROFILE", "COURSE_CORPUS", "LANG", "LC_CTYPE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"}


@pytest.mark.skipif(not str(ROOT).isascii(), reason="without a language Python reads no other path than one of ASCII")
def test_everything_works_in_folders_of_any_name_without_a_home_and_in_the_c_locale(tmp_path):
    """A process is told of no language, no encoding and no home; what it is to find has blanks and umlauts."""
    course, work = tmp_path / "Mein Kurs \u00e4\u6570", tmp_path / "Mein Ordner \u00e4\u6570"
    work.mkdir()
    for name in ("course_lib", "data"):
        shutil.copytree(ROOT / name, course / name, ignore=shutil.ignore_patterns("__pycache__"))
    (work / "own text.txt").write_text(", ".join(["Gr\u00fc\u00dfe", "\u6570\u636e"] * 20), encoding="utf-8")
    (work / "my program.py").write_text(PROGRAM, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name not in HIDDEN}
    environment |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "MPLCONFIGDIR": str(tmp_path)}
    environment |= {"COURSE_CORPUS": str(work / "own text.txt"), "PYTHONPATH": str(course)}
    program = [sys.executable, "my program.py"]
    done = subprocess.run(program, cwd=work, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr


# What a course needs that is opened elsewhere. None of these could be run here: they are read, and compared.


def test_the_workflow_runs_the_readmes_test_command_on_three_systems():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    (command,) = re.findall(r"<!-- test command -->\s*```bash\n(.+?)\n```", README)
    # As the README says it for Windows, in the words of the shell that the workflow uses there.
    on_windows = command.replace(".venv-test/bin/", ".venv-test/Scripts/").replace("python3 -m venv", "python -m venv")
    assert on_windows.count("Scripts") == command.count(".venv-test/bin/") >= 2
    run = {job: [step["run"] for step in jobs[job]["steps"] if "run" in step] for job in jobs}
    audit = "python tests/foreign_environments.py --no-skip ${{ matrix.environment }}"
    assert run == {"linux": [".ci/run"], "elsewhere": [command, on_windows], "anywhere": [audit]}
    alone = [(each["python"], each["environment"]) for each in jobs["anywhere"]["strategy"]["matrix"]["include"]]
    assert alone == [("3.10", "oldest"), ("3.10", "numpy"), ("3.14", "numpy")]
    assert [step["if"] for step in jobs["elsewhere"]["steps"] if "run" in step] == [
        "runner.os == 'macOS'",
        "runner.os == 'Windows'",
    ]
    for name, job in jobs.items():
        if name != "anywhere":
            assert job["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
        for step in job["steps"]:
            assert re.search(r"@v\d+$|^$", step.get("uses", "")), step
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111 or os.name == "nt"


def test_every_week_the_other_lessons_run_on_another_corpus_in_an_environment_of_the_readme():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "weekly.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    install, test = [step["run"] for step in job["steps"] if "run" in step]
    assert f"{install} && .venv-test/bin/python -m pytest\n".replace("python -m", "python3 -m", 1) in README
    assert test.endswith("pytest -m weekly")


def test_a_container_installs_as_the_readme_does():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    (command,) = re.findall(r"<!-- open command -->\s*```bash\n(.+?)\n```", README)
    assert container["postCreateCommand"] == command.rsplit(" && ", 1)[0]
    assert re.search(r":\d", container["image"])


def test_binder_installs_the_course_itself_with_a_python_that_it_takes():
    lines = (ROOT / ".binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert "--editable .[course]" in lines
    assert (ROOT / ".binder" / "runtime.txt").read_text(encoding="utf-8").strip() == "python-3.11"


def run_first_cell(folder: Path, monkeypatch, *, there: bool) -> list[list[str]]:
    """Run the first code cell in a folder; return the commands that it would run."""
    called: list[list[str]] = []
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if there else None)
    monkeypatch.setattr("subprocess.check_call", lambda command: called.append([str(part) for part in command]))
    exec(publish.install_source(), {})
    return called


def test_the_first_cell_installs_the_course_where_it_is_missing(tmp_path, monkeypatch):
    assert run_first_cell(tmp_path, monkeypatch, there=True) == []
    address = "https://github.com/someone/course"
    monkeypatch.setattr(publish, "address", lambda: address)
    clone, install = run_first_cell(tmp_path, monkeypatch, there=False)
    course = str(tmp_path.resolve() / "feeding-language-models")
    assert clone == ["git", "clone", "--depth=1", address, course]
    assert install[0] == sys.executable
    assert install[-2:] == ["-qe", f"{course}[course]"]
    # In a copy of the repository, whose Python does not know it yet, nothing is fetched.
    (install,) = run_first_cell(ROOT / "notebooks", monkeypatch, there=False)
    assert install[-1] == f"{ROOT}[course]"


def test_a_lesson_without_its_course_and_without_an_address_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(publish, "address", lambda: "")
    with pytest.raises(FileNotFoundError, match="Get the whole folder, in which `notebooks` and `course_lib`"):
        run_first_cell(tmp_path, monkeypatch, there=False)
    (install,) = run_first_cell(ROOT / "notebooks", monkeypatch, there=False)
    assert install[-1] == f"{ROOT}[course]"


def test_publishing_sets_the_address_in_one_place_and_again():
    address = "https://github.com/someone/course"
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    once = publish.with_address(text, address)
    assert tomllib.loads(once) == tomllib.loads(text) | {
        "project": tomllib.loads(text)["project"] | {"urls": {"Repository": address}}
    }
    assert publish.with_address(once, address) == once
    readme = publish.with_badges(README, publish.badges(address, "main"))
    assert readme.splitlines()[2].count("someone/course") >= 3
    assert publish.with_badges(readme, publish.badges(address, "main")) == readme


def test_publishing_says_in_the_readme_where_the_course_is_had_and_again():
    address = "https://github.com/someone/course"
    readme = publish.with_source(README, address, "main")
    before, after = README.split("<!-- open command -->")[0], readme.split("<!-- open command -->")[0]
    assert "First get the course: clone this repository, or download it as a zip" in before or publish.address()
    assert f"`git clone --depth=1 {address}`" in after
    assert f"]({address}/archive/refs/heads/main.zip)" in after
    assert "clone this repository" not in after
    assert (
        readme.split("First get the course")[1].split("\n", 1)[1]
        == README.split("First get the course")[1].split("\n", 1)[1]
    )
    assert publish.with_source(readme, address, "main") == readme
    with pytest.raises(ValueError, match="must say once"):
        publish.with_source("nothing", address, "main")


def test_windows_powershell_gets_the_opening_command_in_parts_because_it_has_no_and():
    (command,) = re.findall(r"<!-- open command -->\s*```bash\n(.+?)\n```", README)
    lines = re.findall(r"```powershell\n(py .+?)\n```", README, flags=re.DOTALL)
    (on_windows,) = lines
    parts = command.replace("python3 -m venv", "py -m venv").replace(".venv/bin/", ".venv\\Scripts\\").split(" && ")
    assert on_windows.splitlines() == parts
    assert not any("&&" in block for block in re.findall(r"```powershell\n(.+?)```", README, flags=re.DOTALL))


def test_the_readme_warns_of_cuda_above_the_command_that_downloads_it():
    assert 0 < README.index("several gigabytes of CUDA") < README.index("<!-- open command -->")


def test_what_is_not_published_names_no_address_and_what_is_names_one():
    address = publish.address()
    assert ("mybinder.org/v2" in README) == ("colab.research.google.com" in README) == bool(address)
    assert not address or f"]({address}/" in README
