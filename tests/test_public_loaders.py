"""The page of public loaders says what its adapters and lesson 14 say. The loaders themselves run in a benchmark.

So it is with the page of how to audit a loader of a library, whose code `foreign_environments.py` runs.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import struct
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest

from course_lib.auditing_loaders import FINDINGS, audit_loader
from course_lib.auditing_loaders.gallery import GALLERY

TESTS = Path(__file__).parent
sys.path.append(str(TESTS / "benchmarks"))

from public_adapters import LOADERS, write_megatron  # noqa: E402
from public_loaders import PAGE, audit_here, bring_up_to_date, main, rows_of  # noqa: E402

import foreign_environments  # noqa: E402
from foreign_environments import OWN, environments  # noqa: E402

ROWS = rows_of(PAGE.read_text(encoding="utf-8"))


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split(" | ")]


def findings(words: str) -> list[str]:
    """The names without their numbers."""
    return re.findall(r"`(\w+)`", words)


@pytest.mark.parametrize("name", LOADERS)
def test_a_row_says_what_was_looked_at_and_whether_it_is_true(name):
    make_loader, packages, _ = LOADERS[name]
    of, whose, lines, words, truth = cells(ROWS[name])
    package, version = of.split()
    wanted, _, pinned = packages.split()[0].partition("==")
    assert package == wanted
    assert pinned in ("", version)  # what the course does not install stays as it was looked at
    assert int(lines) == len(inspect.getsource(make_loader).strip().splitlines())
    assert set(findings(words)) <= set(FINDINGS)
    assert bool(findings(words)) != (words == "clean")
    assert whose
    assert truth


def test_the_lesson_links_the_page_and_counts_its_libraries():
    lesson = nbformat.read(TESTS.parent / "notebooks" / "14_auditing_loaders.ipynb", 4)
    (cell,) = [cell.source for cell in lesson.cells if cell.source.startswith("### Other libraries")]
    on_page = [cells(row)[0] for row in ROWS.values()]
    installed = {exhibit.package for exhibit in GALLERY.values()}
    assert sum(of.split()[0] not in installed for of in on_page) == 10
    assert "ten more" in cell
    assert "tests/benchmarks/results/public_loaders.md" in cell


def test_a_row_is_brought_up_to_date_and_what_is_written_by_hand_stays():
    said = {"of": "1.0", "findings": [{"name": "unequal_steps", "count": 1_234}], "undecided": {}}
    *_, truth = cells(ROWS["grain"])
    row = bring_up_to_date(ROWS["grain"], "grain", said)
    assert row == f"| grain 1.0 | MapDataset | 6 | `unequal_steps` 1,234 | {truth} |"


@pytest.mark.parametrize(
    ("name", "findings", "undecided"),
    [
        ("grain", [], {}),
        ("grain", [{"name": "lost", "count": 1}], {}),
        ("grain", [{"name": "unequal_steps", "count": 1}], {"same_order": "few"}),
        ("torch", [{"name": "lost", "count": 1}], {}),
    ],
)
def test_other_findings_are_an_error_until_somebody_has_looked(name, findings, undecided):
    with pytest.raises(ValueError, match="and on the page"):
        bring_up_to_date(ROWS[name], name, {"of": "1.0", "findings": findings, "undecided": undecided})


@pytest.mark.parametrize(("words", "status"), [("--help", 0), ("--only nobody", 2), ("--nonsense", 2)])
def test_its_command_says_what_it_takes(words, status, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["public_loaders.py", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == status
    said = capsys.readouterr()
    assert "--folder" in said.out + said.err


def test_a_loader_that_the_course_brings_is_audited_as_the_page_says(capsys):
    audit_here("torch")
    said = json.loads(capsys.readouterr().out)
    assert cells(bring_up_to_date(ROWS["torch"], "torch", said))[3] == "clean"


def test_megatron_gets_a_pair_of_files_with_a_sequence_for_each_document(tmp_path):
    ids, starts = 1_000 + np.arange(200), np.array([0, 30, 31, 120])
    write_megatron(ids, starts, tmp_path / "ids")
    index = (tmp_path / "ids.idx").read_bytes()
    assert index[:9] == b"MMIDIDX\x00\x00"
    assert struct.unpack("<QBQQ", index[9:34]) == (1, 8, 4, 5)
    lengths = np.frombuffer(index, "<i4", 4, 34)
    pointers = np.frombuffer(index, "<i8", 4, 50)
    assert lengths.tolist() == [30, 1, 89, 80]
    assert pointers.tolist() == (2 * starts).tolist()
    assert np.frombuffer(index, "<i8", -1, 82).tolist() == [0, 1, 2, 3, 4]
    assert np.fromfile(tmp_path / "ids.bin", "<u2").tolist() == ids.tolist()


# The page of how to audit a loader of a library


def test_each_library_of_the_page_has_a_loader_of_few_lines_and_says_what_is_found():
    libraries = {name: each for name, each in environments().items() if name not in OWN}
    assert list(libraries) == ["transformers", "Grain", "streaming", "litData", "Levanter"]
    for each in libraries.values():
        functions = {node.name: node for node in ast.parse(each.code).body if isinstance(node, ast.FunctionDef)}
        function = functions["make_loader"]
        assert function.end_lineno - function.lineno < 12
        assert max(map(len, each.code.splitlines())) <= 92
        assert set(each.names) <= set(FINDINGS)
        assert each.packages


@pytest.mark.parametrize("name", ["transformers", "numpy", "oldest"])
def test_what_the_course_installs_of_them_is_audited_as_is_said(name):
    each, names = environments()[name], {}
    exec(each.code, names)
    given = {"world_size": 2, "num_tokens": 4_001} if name == "oldest" else {}
    audit = audit_loader(names["make_loader"], **given)
    assert audit.names == each.names
    assert not audit.undecided


def test_a_library_that_finds_something_else_is_an_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["foreign_environments.py", "nothing"])
    with pytest.raises(SystemExit):
        foreign_environments.main()
    assert "there is no nothing, but numpy, oldest, transformers" in capsys.readouterr().err
    for audit_in, status, words, *flags in (
        (fine, 0, ""),
        (wrong, 1, "numpy: found lost"),
        (without, 0, "numpy: not tried"),
        (without, 1, "numpy: not tried", "--no-skip"),
    ):
        monkeypatch.setattr(sys, "argv", ["foreign_environments.py", *flags])
        monkeypatch.setattr(foreign_environments, "audit_in", audit_in)
        assert foreign_environments.main() == status
        assert words in capsys.readouterr().out


def fine(*_: object) -> str:
    return ""


def wrong(*_: object) -> str:
    return "found lost"


def without(*_: object) -> str:
    raise OSError("no registry")
