"""`from course_lib import ...`: the names that people look for, loaded when they are asked for."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import course_lib

ROOT = Path(__file__).parent.parent
PROMISED = {
    "seq_data_iter_random",
    "seq_data_iter_sequential",
    "SlidingWindowDataset",
    "make_dataloader",
    "train_byte_level_bpe",
    "pack_documents",
    "PackingCollator",
    "StreamingTextDataset",
    "load_shard",
    "token_ledger",
    "audit_loader",
}


def said_by(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    return done.stdout + done.stderr


def test_what_is_promised_is_there():
    assert set(course_lib.FRONT_DOOR) >= PROMISED
    assert set(dir(course_lib)) >= {*course_lib.FRONT_DOOR, "__version__"}


@pytest.mark.parametrize("name", course_lib.FRONT_DOOR)
def test_each_name_is_what_its_lesson_holds(name):
    place = importlib.import_module(f"course_lib.{course_lib.FRONT_DOOR[name]}")
    assert getattr(course_lib, name) is getattr(place, name)


def test_the_readme_tells_of_each_name_and_promises_no_other():
    """In the middle column of its table; what is a method or a command is written with a dot or a space."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.split("## Names that you may know")[1].split("\n## ")[0]
    rows = [re.split(r" \| ", line.strip("| ")) for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 12
    assert all(len(row) == 3 for row in rows)
    told = {name for row in rows for name in re.findall(r"`(\w+)(?:\([^`]*\))?`", row[1])}
    methods = {"count_chunks", "min_frequency"}
    assert told - methods == set(course_lib.FRONT_DOOR)
    known = " ".join(row[0] for row in rows)
    for name in ("seq_data_iter_random", "seq_data_iter_sequential", "SlidingWindowDataset", "base_seed + epoch"):
        assert f"`{name}`" in known
    for name in (
        "`count`",
        "`document_starts`",
        "packing strategies",
        "`ByteLevelBPETokenizer`",
        "`load_shard(",
        "uint16",
    ):
        assert name in known
    assert "`pytest` runs the\nnotebooks with [nbval]" in readme


def test_a_type_checker_is_told_the_same():
    tree = ast.parse(Path(course_lib.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module != "typing"]
    told = {alias.asname: node.module for node in imports for alias in node.names}
    assert told == {name: f"course_lib.{module}" for name, module in course_lib.FRONT_DOOR.items()}
    # A `__getattr__` of a module, if it is seen, lets a type checker take any misspelled name for there.
    seen = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert [node.name for node in seen] == ["__dir__"]


def test_the_package_alone_loads_nothing_that_it_does_not_need():
    program = "import sys, course_lib; dir(course_lib); hasattr(course_lib, 'x'); print(*sys.modules)"
    loaded = {name.split(".")[0] for name in said_by(program).split()}
    assert "course_lib" in loaded
    assert not loaded & {"torch", "numpy", "tokenizers", "datasets", "transformers"}
    program = "import sys; from course_lib import audit_loader; print(*sys.modules)"
    assert not {"torch", "tokenizers"} & set(said_by(program).split())


def test_a_name_whose_package_is_missing_says_which_in_one_line():
    program = "import sys; sys.modules['torch'] = None; from course_lib import seq_data_iter_random"
    assert said_by(program).splitlines()[-1] == (
        "ModuleNotFoundError: seq_data_iter_random needs the package 'torch', which is not installed. In the folder of "
        'the course, type: python -m pip install --editable ".[course]"'
    )


def test_a_module_that_the_course_itself_lacks_is_not_explained_away(monkeypatch):
    monkeypatch.setitem(course_lib.FRONT_DOOR, "ghost", "no_such_lesson")
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'course_lib\.no_such_lesson'$"):
        _ = course_lib.ghost


def test_an_unknown_name_is_a_plain_error():
    with pytest.raises(AttributeError, match=r"^module 'course_lib' has no attribute 'seq_data_iter_radnom'"):
        _ = course_lib.seq_data_iter_radnom
    with pytest.raises(ImportError, match="cannot import name 'nothing_like_it'"):
        from course_lib import nothing_like_it  # noqa: F401
    assert not hasattr(course_lib, "nothing_like_it")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="older ones suggest no name at an import")
def test_python_suggests_a_near_name():
    assert "Did you mean: 'seq_data_iter_random'?" in said_by("from course_lib import seq_data_iter_radnom")
