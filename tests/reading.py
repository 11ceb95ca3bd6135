"""What a lesson asks of a reader: its load, and the minutes that follow from it.

python tests/reading.py             every lesson, a line each
python tests/reading.py 02          one lesson
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

# What a reader does in a minute. The prose is dense, and so is the code.
WORDS, LINES, SOURCE_LINES = 150, 12, 25
MINUTES_A_PROMPT, MINUTES_A_QUESTION, MINUTES_AN_EXERCISE = 1, 1, 5

# The core path of a lesson, at most.
MOST = {"words": 1_800, "lines": 260, "prompts": 10}


@dataclass(frozen=True)
class Load:
    words: int = 0
    lines: int = 0
    source_lines: int = 0
    prompts: int = 0
    questions: int = 0
    exercises: int = 0

    def __add__(self, other: Load) -> Load:
        return Load(*(mine + theirs for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True)))

    @property
    def minutes(self) -> float:
        reading = self.words / WORDS + self.lines / LINES + self.source_lines / SOURCE_LINES
        asked = self.prompts * MINUTES_A_PROMPT + self.questions * MINUTES_A_QUESTION
        return reading + asked + self.exercises * MINUTES_AN_EXERCISE


def prose(markdown: str) -> str:
    """Markdown without what is no prose: code, formulas, addresses."""
    text = re.sub(r"^ *```.*?^ *```", " ", markdown, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", " X ", text, flags=re.DOTALL)
    text = re.sub(r"`[^`\n]+`", "`name`", text)
    return re.sub(r"\]\([^)]*\)|<[^>\n]+>", "]", text)


def words(text: str) -> int:
    return len(re.findall(r"[A-Za-z][\w'’-]*", prose(text)))


def load_of(cell: nbformat.NotebookNode) -> Load:
    if cell.cell_type == "markdown":
        return Load(words=words(cell.source))
    if cell.metadata.get("jupyter", {}).get("source_hidden"):
        return Load(prompts=len(re.findall(r"^predict\(", cell.source, flags=re.MULTILINE)))
    checked = re.search(r"\bexercises\.\w+\.check\(", cell.source)
    if "exercise" in cell.metadata.get("tags", []):
        is_written = bool(re.search(r"^(?:def|class) ", cell.source, flags=re.MULTILINE))
        return Load(exercises=is_written, questions=not is_written)
    lines = sum(1 for line in cell.source.splitlines() if line.strip())
    shown = 0
    if "show_source(" in cell.source:
        shown = sum(len(output.get("data", {}).get("text/plain", "").splitlines()) for output in cell.outputs)
    prompts = len(re.findall(r"^predict\(", cell.source, flags=re.MULTILINE))
    return Load(lines=lines, source_lines=shown, prompts=prompts, questions=bool(checked))


def parts(notebook: nbformat.NotebookNode) -> Iterator[tuple[bool, nbformat.NotebookNode]]:
    """Each cell, and whether it belongs to the core path.

    What is optional, and what begins with *Bug or not?*, does not, the recap at the end excepted.
    """
    core = True
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for heading in re.findall(r"^## (.+)$", cell.source, flags=re.MULTILINE):
                rest = re.search(r"[Oo]ptional|Going further|Bug or not|Exercises|Where everything lives", heading)
                core = not rest
        yield core, cell


def loads(notebook: nbformat.NotebookNode) -> tuple[Load, Load]:
    """Of the core path, and of all."""
    core, everything = Load(), Load()
    for in_core, cell in parts(notebook):
        everything += (load := load_of(cell))
        core += load if in_core else Load()
    return core, everything


def sections(notebook: nbformat.NotebookNode) -> dict[int, Load]:
    """The load of each numbered section. A cell belongs to the section that its first heading begins."""
    found, number = {}, 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (heading := re.search(r"^## (\d+)\. ", cell.source, flags=re.MULTILINE)):
            number = int(heading[1])
        found[number] = found.get(number, Load()) + load_of(cell)
    return found


def paragraphs(text: str) -> list[str]:
    """Without blocks of code."""
    text = re.sub(r"^ *```.*?^ *```", " ", text, flags=re.MULTILINE | re.DOTALL)
    return re.split(r"\n\s*\n", text)


def report(path: Path) -> str:
    core, everything = loads(nbformat.read(path, as_version=4))
    return (
        f"{path.stem}: {core.words} words, {core.lines} lines, {core.source_lines} of source, {core.prompts} prompts: "
        f"{core.minutes:.0f} minutes, all {everything.minutes:.0f}"
    )


if __name__ == "__main__":
    wanted = tuple(sys.argv[1:]) or ("",)
    print("\n".join(report(path) for path in NOTEBOOKS if path.stem.startswith(wanted)))
