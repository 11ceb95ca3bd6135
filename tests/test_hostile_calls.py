"""Every public function answers hostile calls with the right result or an error that helps; see hostile_calls.

What one argument must be is declared, and asked in test_kinds.py. Here are results, and what two arguments must be
together.
"""

from __future__ import annotations

import importlib
import inspect
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch

ROOT = Path(__file__).parent.parent
ROOMS = ("", "foundation.", "teaching.")
NOT_LESSONS = ("foundation", "teaching", "exercises", "classroom")
WITH_ITS_TESTS = "what it answers is asked beside the function, in its tests"
NOT_CALLED = {
    **dict.fromkeys(["tokenizing", "durable", "executors", "token_shards"], WITH_ITS_TESTS),
    **dict.fromkeys(["shard_files", "shard_tasks", "many_machines", "inputs"], WITH_ITS_TESTS),
    **dict.fromkeys(["file_tasks", "rank_training"], WITH_ITS_TESTS),
    "checker": "its hostile inputs are readers' answers, and have a table of their own",
    "check": "it looks at the machine, and takes no data",
    "loading": "its rows are those of lesson 2",
    "workers": "they bring what lesson 2's loader makes of its rows",
    **dict.fromkeys(
        ["auditing_loaders", "batch_rows", "coverage", "findings", "handed_out", "loader_reading", "one_screen"],
        "what these refuse stands beside what they do, in the test of each module",
    ),
    **dict.fromkeys(
        ["placed_rows", "rank_reading", "recipes", "report", "telling_ids"],
        "what these refuse stands beside what they do, in the test of each module",
    ),
    "gallery": "these are other people's loaders; what each does has a table in test_gallery.py",
}


def modules() -> dict[str, str]:
    """The full name of every module whose functions have a table, by the table's name."""
    found = {}
    for room in ROOMS:
        folder = ROOT.joinpath("course_lib", *room.split("."))
        for path in sorted(folder.iterdir()):
            is_package = (path / "__init__.py").is_file()
            if path.suffix != ".py" and not (is_package and path.name not in NOT_LESSONS):
                continue
            files = [path, *path.glob("*.py")] if is_package and not room else [path]
            for file in files:
                if file.stem[0] != "_" and file.stem not in NOT_CALLED:
                    inside = f"{path.name}." if file != path else ""
                    found[file.stem] = f"course_lib.{room}{inside}{file.stem}"
    return found


MODULES = modules()


def table_of(name: str) -> dict[str, object]:
    """What the file of a module's hostile calls defines; nothing if there is none yet."""
    if not (ROOT / "tests" / "hostile_calls" / f"{name}.py").is_file():
        return {"CALLS": {}}
    return vars(importlib.import_module(f"hostile_calls.{name}"))


def check_that_it_is_answered(name: str, call: str, answer: object) -> None:
    known = {**vars(importlib.import_module(MODULES[name])), **table_of(name)}
    known |= {"np": np, "torch": torch, "nan": math.nan, "inf": math.inf}
    code = compile(call, f"<{call}>", "eval")  # so that a crash of the whole process names it, too
    if isinstance(answer, BaseException):
        words = str(answer.args[0]) if answer.args else ""
        with pytest.raises(type(answer), match=re.escape(words)):
            eval(code, known)
        return
    got = as_plain(eval(code, known))
    if isinstance(got, np.ndarray) or isinstance(answer, np.ndarray):
        assert np.shape(got) == np.shape(answer)  # or one number would equal a whole array of it
    np.testing.assert_equal(got, as_plain(answer))


@pytest.mark.parametrize("name", MODULES)
def test_each_hostile_call_is_answered(name, subtests):
    for call, answer in table_of(name)["CALLS"].items():
        with subtests.test(call):
            check_that_it_is_answered(name, call, answer)


def as_plain(value: object) -> object:
    """Turn tensors into arrays, also those in a list, a tuple or a dictionary."""
    if isinstance(value, torch.Tensor):
        return value.detach().numpy()
    if isinstance(value, dict):
        return {name: as_plain(entry) for name, entry in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(as_plain, value))
    return value


def public_names(module_name: str) -> list[str]:
    """The functions and classes that a module, or a package of figures, defines for others."""
    module = importlib.import_module(module_name)
    return [
        name
        for name, value in vars(module).items()
        if name[0] != "_"
        and (inspect.isfunction(value) or inspect.isclass(value))
        and re.match(rf"{re.escape(module_name)}(\.|$)", value.__module__)
        and (value.__module__ == module_name or module_name.count(".") > 1)  # a lesson's files have their own tables
    ]


@pytest.mark.parametrize("name", MODULES)
def test_every_public_function_declares_its_arguments_or_has_two_hostile_calls(name):
    table = table_of(name)
    skipped = table.get("TAKES_NO_DATA", {})
    names = public_names(MODULES[name])
    assert set(skipped) <= set(names), "TAKES_NO_DATA names what is not there"
    assert all(skipped.values()), "TAKES_NO_DATA gives a reason for each"
    module = importlib.import_module(MODULES[name])
    found = {n: getattr(module, n) for n in names}
    asked = [n for n, f in found.items() if hasattr(f, "is_checked") or hasattr(f.__init__, "is_checked")]
    calls = {public: [call for call in table["CALLS"] if re.search(rf"\b{public}\b", call)] for public in names}
    missing = [n for n in names if n not in skipped and n not in asked and len(calls[n]) < 2]
    assert not missing, f"fewer than two rows in tests/hostile_calls/{name}.py: {', '.join(missing)}"
