"""Print how many minutes each lesson takes, and how much code stands in sight of its reader.

    python tests/minutes.py                               all lessons
    python tests/minutes.py notebooks/05_*.ipynb          some of them, also from another folder

The minutes are for reading, guessing and judging, and are rounded up to five. The exercises aren't in them.
What is optional says so in its heading, as in `## 6. Going further (*optional*)`.
"""

import argparse
import math
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat

import publish
import refresh_notebooks

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))
WORDS_A_MINUTE = 200
LINES_A_MINUTE = 10
# The README says what the minutes are, in these words.
RULE = (
    f"a minute for every {WORDS_A_MINUTE} words, every {LINES_A_MINUTE} lines of code in sight, every guess, and every "
    "*bug or not?*, rounded up to five"
)
CORE_EXERCISE = "**Core exercise.**"  # begins the text of an exercise
FEW_WORDS = 20  # between two cells: they are read as one

FENCE = re.compile(r"^```.*?^```", flags=re.MULTILINE | re.DOTALL)
SOURCE = re.compile(r"^```python\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#{2,}) (.+)$", flags=re.MULTILINE)
IS_VERDICT = re.compile(r"^\w+ = \.\.\.  #", flags=re.MULTILINE)


def lines_in(source: str) -> int:
    return sum(bool(line.strip()) for line in source.splitlines())


@dataclass
class Part:
    """What a part of a lesson asks of its reader."""

    words: int = 0
    lines: int = 0  # of code in sight, with the sources that are shown unfolded
    questions: int = 0  # prompts, and verdicts on a snippet

    @property
    def minutes(self) -> float:
        return self.words / WORDS_A_MINUTE + self.lines / LINES_A_MINUTE + self.questions


@dataclass
class Measure:
    """A lesson in numbers."""

    core: Part
    optional: Part
    exercises: int  # those that are written
    core_exercises: int
    lines_in_sight: int  # of all code cells that aren't folded, exercises included
    longest_cell: int  # in lines, before *Bug or not?*
    longest_run: int  # of code cells in sight without more than a few words between, before *Bug or not?*
    longest_wait: int  # code cells in sight from a heading, or from the guess before, to the next guess

    @property
    def minutes(self) -> tuple[int, int]:
        """For the core, and with the optional parts."""
        both = self.core.minutes, self.core.minutes + self.optional.minutes
        return tuple(5 * math.ceil(one / 5) for one in both)


def is_folded(cell: nbformat.NotebookNode) -> bool:
    return bool({publish.TAG, refresh_notebooks.FOLDED} & set(cell.metadata.get("tags", [])))


def shown_lines(cell: nbformat.NotebookNode) -> int:
    """Lines of the sources that a cell shows without a click."""
    texts = [output.get("data", {}).get("text/markdown", "") for output in cell.outputs]
    return sum(lines_in(code) for text in texts if "<details>" not in text for code in SOURCE.findall(text))


def measure(path: Path) -> Measure:
    """Count a lesson, cell by cell."""
    notebook = nbformat.read(path, as_version=4)
    parts = {"core": Part(), "optional": Part(), "exercises": Part()}
    part, optional_level = "core", 0
    in_front, run, wait = True, 0, 0  # before *Bug or not?*
    measured = Measure(parts["core"], parts["optional"], 0, 0, 0, 0, 0, 0)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            measured.core_exercises += cell.source.count(CORE_EXERCISE)
            for piece in re.split(r"^(?=#{2,} )", FENCE.sub("", cell.source), flags=re.MULTILINE):
                if heading := HEADING.match(piece):
                    level, title = len(heading[1]), heading[2]
                    wait = 0
                    in_front &= not re.search(r"Bug or not|Exercises", title)
                    if optional_level and level <= optional_level:
                        part, optional_level = "core", 0
                    if level == 2:
                        part = "exercises" if title.endswith("Exercises") else "core"
                    if "(*optional*)" in title and part == "core":
                        part, optional_level = "optional", level
                parts[part].words += len(re.sub(r"<[^>]+>", "", piece).split())
            if len(cell.source.split()) >= FEW_WORDS or cell.source.startswith("#"):
                run = 0
            continue
        if refresh_notebooks.PROMPT.search(cell.source):
            parts[part].questions += 1
            measured.longest_wait = max(measured.longest_wait, wait)
            run = wait = 0
        if is_folded(cell):
            continue
        lines = lines_in(cell.source)
        measured.lines_in_sight += lines
        if "exercise" in cell.metadata.get("tags", []):
            if IS_VERDICT.search(cell.source):
                parts[part].questions += 1
            elif part == "exercises":
                measured.exercises += 1
            continue
        parts[part].lines += lines + shown_lines(cell)
        if in_front:
            run, wait = run + 1, wait + 1
            measured.longest_run = max(measured.longest_run, run)
            measured.longest_cell = max(measured.longest_cell, lines)
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", type=Path, default=NOTEBOOKS)
    columns = ("minutes", "and all", "words", "exercises", "core", "lines", "cell", "run", "wait")
    print(f"{'':28}", *(f"{column:>9}" for column in columns))
    for path in parser.parse_args().notebooks:
        found = measure(path)
        words = found.core.words + found.optional.words
        exercises = (found.exercises, found.core_exercises)
        row = (*found.minutes, words, *exercises, found.lines_in_sight, found.longest_cell, found.longest_run)
        row = (*row, found.longest_wait)
        print(f"{path.stem:28}", *(f"{number:>9,}" for number in row))


if __name__ == "__main__":
    main()
