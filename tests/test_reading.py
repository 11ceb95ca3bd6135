"""How the lessons begin, what they ask of a reader, and the minutes that follow from it."""

import re
from pathlib import Path

import nbformat
import pytest

import reading

ROOT = Path(__file__).parent.parent
STORY = (ROOT / "data" / "story.txt").read_text(encoding="utf-8")

each_lesson = pytest.mark.parametrize("path", reading.NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def plain(text: str) -> str:
    """One line, whatever quotation marks and emphasis a text has."""
    text = re.sub(r"[“”\"*_>]", "", text).replace("’", "'")
    return " ".join(text.split())


@each_lesson
def test_begins_with_a_line_of_the_story_and_something_that_happened(path):
    opening = read(path).cells[0].source
    blocks = [block for block in reading.paragraphs(opening) if block.strip()]
    epigraph = blocks[2]
    assert epigraph.startswith("> "), "after the title and its neighbors comes the epigraph"
    for sentence in epigraph.splitlines():
        assert plain(sentence) in plain(STORY), sentence
    assert blocks[3:]


@each_lesson
def test_says_after_the_first_picture_what_it_teaches_and_needs(path):
    cells = read(path).cells
    (number,) = (n for n, cell in enumerate(cells) if "**You will learn**" in cell.source)
    assert any("image/png" in output.get("data", {}) for cell in cells[:number] for output in cell.get("outputs", []))
    header = "**You will learn**" + cells[number].source.split("**You will learn**")[1].split("\n\n**Run it**")[0]
    assert "**You need**" in header
    assert re.search(r"\*\*Time\*\*: (\d+) minutes", header)


@each_lesson
def test_states_the_minutes_that_follow_from_its_load(path):
    notebook = read(path)
    (header,) = (cell.source for cell in notebook.cells if "**You will learn**" in cell.source)
    stated = [int(number) for number in re.findall(r"\d+", header.split("**Time**")[1].split("\n\n")[0])[:2]]
    computed = [load.minutes for load in reading.loads(notebook)]
    for said, found in zip(stated, computed, strict=True):
        assert abs(said - found) <= found / 5, f"{said} minutes stated, {found:.0f} computed"


def test_the_shortest_way_of_the_readme_takes_three_hours():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    way = readme.split("**Only three hours?**")[1].split("\n## ")[0]
    minutes = 0.0
    for number, sections, named in re.findall(r"^\| \[(\d+)\].*?\| ([\d, to]+) \|(.*)\|$", way, flags=re.MULTILINE):
        notebook = read(reading.NOTEBOOKS[int(number) - 1])
        there = reading.sections(notebook)
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", sections):
            minutes += sum(there[section].minutes for section in range(int(first), int(last or first) + 1))
        exercises = re.findall(r"`(\w+)`", named)
        asked = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        assert all(f"exercises.{name}.check(" in asked for name in exercises)
        minutes += len(exercises) * reading.MINUTES_AN_EXERCISE
    assert 150 <= minutes <= 190


@each_lesson
def test_the_numbers_by_which_the_readme_invites_are_those_of_the_opening(path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| \[\d+\. [^\]]*\]\(notebooks/{path.name}\) \| (.*) \|.*\|$", readme, flags=re.MULTILINE)
    opening = read(path).cells[0].source
    assert all(number in opening for number in re.findall(r"\d+\.\d+", row))


@each_lesson
def test_asks_no_more_than_a_reader_can_carry(path):
    notebook = read(path)
    core, _ = reading.loads(notebook)
    for name, most in reading.MOST.items():
        assert getattr(core, name) <= most, f"{getattr(core, name)} {name}"


@each_lesson
def test_has_its_parts_in_the_order_of_all_lessons(path):
    text = "\n\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    headings = [re.sub(r"^\d+\. ", "", heading) for heading in re.findall(r"^## (.+)$", text, flags=re.MULTILINE)]
    headings = [heading.removesuffix(" True or false?") for heading in headings]  # not every lesson has a claim
    last = ["Going further (*optional*)", "Bug or not?", "Exercises", "Recap", "Where everything lives"]
    assert headings[0].startswith("The picture")
    assert [heading for heading in headings if heading in last] == last[-len([h for h in headings if h in last]) :]
    assert headings[-4:] == last[-4:]
    assert not [heading for heading in headings if "ptional" in heading and heading != last[0]]
    assert "**How far this reaches**" in text
