"""The layout is the table of contents: one name for a lesson's notebook, module, tests and exercises."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
LESSONS = [
    "next_token_shifting",
    "sliding_windows",
    "random_sampling",
    "sequential_partitioning",
    "stride_tradeoffs",
    "bpe",
    "tokenizer_pipeline",
    "long_documents",
    "document_packing",
    "token_shards",
    "many_machines",
]
GROUND_FLOOR = ["arguments", "progress", "corpora", "shuffling", "ledger", "models"]
ON_TOP = ["training", "plots", "source", "widgets"]
TOP_LEVEL = {"notebooks", "course_lib", "tests", "data", "environment.yml", "README.md", "pyproject.toml", "LICENSE"}
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}

MODULES = sorted(path.stem for path in (ROOT / "course_lib").glob("*.py") if path.stem != "__init__")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


def imports_of(path: Path) -> set[str]:
    """The modules of course_lib that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("course_lib.")}
    return found


def test_nothing_else_stands_at_the_top_level():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    top = {line.split("/")[0] for line in listed.stdout.splitlines()}
    assert {name for name in top if not name.startswith(".")} == TOP_LEVEL


def test_lessons_are_numbered_in_the_order_of_the_course():
    names = [path.stem for path in NOTEBOOKS]
    assert names == [f"{number:02}_{lesson}" for number, lesson in enumerate(LESSONS, start=1)][: len(names)]
    assert len(names) >= 2


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lesson_has_its_module_tests_and_exercises(notebook):
    lesson = notebook.stem[3:]
    assert (ROOT / "course_lib" / f"{lesson}.py").is_file()
    assert (ROOT / "course_lib" / "exercises" / f"{lesson}.py").is_file()
    assert (ROOT / "tests" / f"test_{lesson}.py").is_file()
    assert f"notebooks/{notebook.name}" in README


def test_every_module_has_a_place_and_tests():
    written = [lesson for lesson in LESSONS if lesson in MODULES]
    assert sorted(set(MODULES) - set(GROUND_FLOOR) - set(ON_TOP)) == sorted(written)
    assert [path.stem[3:] for path in NOTEBOOKS] == written
    for module in MODULES:
        assert (ROOT / "tests" / f"test_{module}.py").is_file(), module


@pytest.mark.parametrize("module", MODULES)
def test_imports_run_one_way(module):
    imported = imports_of(ROOT / "course_lib" / f"{module}.py")
    if module in GROUND_FLOOR:
        allowed = set(GROUND_FLOOR[: GROUND_FLOOR.index(module)])
    elif module in LESSONS:
        allowed = {*GROUND_FLOOR, *LESSONS[: LESSONS.index(module)]}
    else:
        allowed = {*GROUND_FLOOR, *LESSONS, *ON_TOP[: ON_TOP.index(module)]}
    assert imported <= allowed


def test_only_notebooks_and_exercises_import_exercises():
    for module in MODULES:
        assert "exercises" not in imports_of(ROOT / "course_lib" / f"{module}.py")


def test_environment_and_pyproject_name_the_same_ranges():
    project = PYPROJECT["project"]
    wanted = {f"python{project['requires-python']}", "pip"}
    for requirement in project["dependencies"] + project["optional-dependencies"]["test"]:
        name, version_range = re.fullmatch(r"([\w-]+)(.*)", requirement).groups()
        wanted.add(CONDA_NAMES.get(name, name) + version_range)
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    packages = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    assert set(packages) == wanted
    assert [entry for entry in environment["dependencies"] if isinstance(entry, dict)] == [{"pip": ["--editable ."]}]
    assert environment["channels"] == ["conda-forge", "nodefaults"]


def test_every_range_has_an_upper_bound():
    extras = PYPROJECT["project"]["optional-dependencies"].values()
    for requirement in PYPROJECT["project"]["dependencies"] + [r for extra in extras for r in extra]:
        assert re.search(r">=[\d.]+,<[\d.]+$", requirement), requirement


def test_the_readme_marks_one_test_command_and_one_opening_command():
    for mark, last in (("test", "pytest"), ("open", "notebooks/01_next_token_shifting.ipynb")):
        (command,) = re.findall(rf"<!-- {mark} command -->\s*```bash\n(.+?)\n```", README)
        assert "\n" not in command
        assert "-m venv" in command
        assert command.endswith(last)


def test_links_of_the_readme_lead_somewhere():
    links = re.findall(r"\]\((?!https?:|#)([^)]+)\)", README) + re.findall(r'src="([^"]+)"', README)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link
