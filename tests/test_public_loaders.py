"""The page of public loaders says what its adapters and lesson 14 say. The loaders themselves run in a benchmark."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path

import nbformat
import pytest

from course_lib.auditing_loaders import FINDINGS

TESTS = Path(__file__).parent
sys.path.append(str(TESTS / "benchmarks"))

from public_adapters import LOADERS  # noqa: E402
from public_loaders import BROUGHT, PAGE, audit_here, main, row_of  # noqa: E402


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of a table's rows, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


PAGE_ROWS = rows_of(PAGE.read_text(encoding="utf-8"))


def test_the_page_has_a_row_for_each_of_fifteen_packages_or_more():
    assert len(PAGE_ROWS) == len(LOADERS)
    assert len({row[0] for row in PAGE_ROWS}) >= 15


@pytest.mark.parametrize(("row", "name"), zip(PAGE_ROWS, LOADERS, strict=True))
def test_a_row_says_what_its_adapter_says(row, name):
    loader = LOADERS[name]
    package, version = row[0].split()
    wanted, _, pinned = loader.packages.split()[0].partition("==")
    assert package == wanted
    assert pinned in ("", version)
    assert bool(pinned) == (package not in BROUGHT)  # what the course does not install stays as it was looked at
    assert set(loader.findings) <= set(FINDINGS)
    names = [each.split()[0].strip("`") for each in row[3].split(", ")]
    assert names == (list(loader.findings) or ["clean"])
    assert int(row[2]) == len(inspect.getsource(loader.make_loader).strip().splitlines())
    assert row[1::3] == [loader.whose, loader.truth]


def test_the_table_of_the_lesson_comes_from_the_page():
    lesson = nbformat.read(TESTS.parent / "notebooks" / "14_auditing_loaders.ipynb", 4)
    (cell,) = [cell.source for cell in lesson.cells if cell.source.startswith("### Other libraries")]
    rows = rows_of(cell)
    told = {row[0].removesuffix(", two ranks"): row[1] for row in rows}
    on_page = {row[0]: ", ".join(LOADERS[name].findings) for row, name in zip(PAGE_ROWS, LOADERS, strict=True)}
    assert told.items() <= on_page.items()
    assert len(rows) == len(told) == 10
    two_ranks = {row[0].removesuffix(", two ranks") for row in rows if row[0].endswith(", two ranks")}
    by_package = dict(zip([row[0] for row in PAGE_ROWS], LOADERS.values(), strict=True))
    assert two_ranks == {name for name in told if by_package[name].audit.get("world_size") == 2}
    lines = [int(row[2]) for row in PAGE_ROWS if row[0] in told]
    assert f"adapters of {min(lines)} to {max(lines)} lines" in cell


def test_a_row_of_the_page_counts_what_is_found_and_names_what_is_open():
    said = {"of": "1.0", "findings": [{"name": "lost", "count": 1_234}], "undecided": {"same_order": "few"}}
    row = row_of("grain", said)
    assert row.startswith("| grain 1.0 | MapDataset | 6 | `lost` 1,234; undecided: `same_order` | ")
    assert "| clean |" in row_of("grain", {"of": "1.0", "findings": [], "undecided": {}})


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
    row = dict(zip(LOADERS, PAGE_ROWS, strict=True))["torch"]
    assert row_of("torch", said).split(" | ")[3] == row[3] == "clean"
