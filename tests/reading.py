"""How a lesson reads: its load, the minutes that follow from it, and habits of style that we look for.

    python tests/reading.py             every lesson's load and rates, a line each
    python tests/reading.py 02          one lesson, with the habits that were found and where
    python tests/reading.py FILE.py ... the habits in the strings of Python files, or in Markdown

A reminder, not a judge: a sentence without any of these habits may still be a bad one.
"""

from __future__ import annotations

import ast
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
NEW_NAMES = 3  # of code, in one cell of prose

# What to look for, and what to write instead.
HABITS = {
    r"\bbehind\b(?! the scenes)": "after, below, beyond",
    r"\b[Ww]hoever\b": "if you ..., anyone who",
    r"(?:^|[.;:] )[Ww]ho (?:is|has|looks|reads|does|only|wants|shows)\b(?![^.]*\?)": "if you ..., a reader who",
    r"(?<![Tt]here )\b(?:is|are) no (?!longer|more|less)\w+": "is not a ..., has no ...",
    r"\b[Hh]ow many \w+ (?:has|have) (?:a|an|the|one|each)\b": "how many ... are there in",
    r"\bhow many percent\b": "what percentage",
    r"\bdear(?:er|est)\b": "more expensive",
    r"\b[Mm]end(?:s|ed|ing)?\b": "fix, repair",
    r"\b[Ff]oretold\b": "predictable",
    r"\banew\b": "again",
    r"\bfor ever\b": "forever",
    r"\b[Oo]n this story\b": "a box 'How far this reaches'",
    r"\w, too[.,;:]": "also, before the verb",
    r"\bas well[.;]": "also, before the verb",
    r"\b[Bb]lanks?\b(?! (?:notebook|cop|line|cell|page|~)|`)": "space, whitespace",
    r"\b(?:stands?|stood) (?:on|at|in|before|after|beside|there|for itself)\b": "is, comes",
    r"\b[Bb]y heart\b": "memorized",
    r"\bin turn\b": "one after another",
    r"\bthe very same\b": "the same",
    r"\ball but one\b|\bnone but one\b": "except one",
    r"\bput to the question\b": "one question",
}


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


def new_names(notebook: nbformat.NotebookNode) -> Iterator[tuple[nbformat.NotebookNode, list[str]]]:
    """The names of code that a cell of prose of the core path is the first to use, when they are too many."""
    known: set[str] = set()
    for core, cell in parts(notebook):
        names = re.findall(r"`([A-Za-z_][\w.]*)`", cell.source) if cell.cell_type == "markdown" else []
        new = [name for name in dict.fromkeys(names) if name not in known]
        known.update(re.findall(r"[A-Za-z_][\w.]*", cell.source), names)
        if core and len(new) > NEW_NAMES and not cell.source.startswith("# "):
            yield cell, new


def rates(notebook: nbformat.NotebookNode) -> dict[str, float]:
    """Per 1,000 words of Markdown."""
    text = "\n\n".join(prose(cell.source) for cell in notebook.cells if cell.cell_type == "markdown")
    patterns = {
        "we": r"\b(?:we|let's|our|us)\b",
        "example": r"\bfor example\b|\bfor instance\b|\bsuch as\b",
        "because": (
            r"\bbecause\b|\bsince\b|\btherefore\b|\b(?:even )?though\b|\balthough\b"
            r"|\bwhich means\b|\bwhile\b|\bso that\b"
        ),
        ";": r";",
        ":": r":",
        "(": r"\(",
    }
    thousands = max(len(re.findall(r"[A-Za-z][\w'’-]*", text)), 1) / 1_000
    return {name: len(re.findall(p, text, flags=re.IGNORECASE)) / thousands for name, p in patterns.items()}


def habits(text: str) -> list[str]:
    """The habits in a piece of prose, each with what to write instead."""
    text = re.sub(r"\s+", " ", prose(text))
    found = [
        f"{match.group().strip()!r}: {instead}"
        for pattern, instead in HABITS.items()
        for match in re.finditer(pattern, text)
    ]
    if len(sos := re.findall(r"(?:^|[.:!?] )So\b", text)) > 2:
        found.append(f"{len(sos)} sentences that begin with 'So'")
    return found


def paragraphs(text: str) -> list[str]:
    """Without blocks of code, and without the table that shows how not to write."""
    text = re.sub(r"^ *```.*?^ *```", " ", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^\| not \| but \|\n(?:\|.*\n)+", "", text, flags=re.MULTILINE)
    return re.split(r"\n\s*\n", text)


def strings(source: str) -> Iterator[tuple[int, str]]:
    """The strings of a program that are sentences: docstrings, messages, prompts, diagnoses."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") >= 2:
            yield node.lineno, node.value


def texts_of(path: Path) -> Iterator[tuple[str, str]]:
    """Pieces of prose of a file, each with its place."""
    if path.suffix == ".ipynb":
        for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
            if cell.cell_type == "markdown":
                yield from ((f"cell {number}", text) for text in paragraphs(cell.source))
            elif cell.source.strip():
                yield from ((f"cell {number}, code", text) for _, text in strings(cell.source))
    elif path.suffix == ".py":
        yield from ((f"line {line}", text) for line, text in strings(path.read_text(encoding="utf-8")))
    else:
        yield from (("", text) for text in paragraphs(path.read_text(encoding="utf-8")))


def habits_of(path: Path) -> list[str]:
    found = []
    for place, text in texts_of(path):
        found += [f"{path.name}, {place}: {habit}" for habit in habits(text)]
        if path.suffix != ".py" and prose(text).count(";") > 1 and not text.lstrip().startswith(("|", "- ", "1.")):
            found.append(f"{path.name}, {place}: {prose(text).count(';')} semicolons in a paragraph")
    return found


def report(path: Path) -> str:
    notebook = nbformat.read(path, as_version=4)
    core, everything = loads(notebook)
    rated = ", ".join(f"{name} {rate:.1f}" for name, rate in rates(notebook).items())
    return (
        f"{path.stem}: {core.words} words, {core.lines} lines, {core.source_lines} of source, {core.prompts} prompts: "
        f"{core.minutes:.0f} minutes, all {everything.minutes:.0f}; per 1,000 words: {rated}"
    )


def main(names: list[str]) -> None:
    for name in names:
        path = Path(name)
        if path.suffix:
            print("\n".join(habits_of(path)) or f"{path}: none")
            continue
        (path,) = (path for path in NOTEBOOKS if path.stem.startswith(name))
        print(report(path))
        for cell, new in new_names(nbformat.read(path, as_version=4)):
            print(f"  {len(new)} new names ({', '.join(new)}): {cell.source[:60]!r}")
        print("\n".join(habits_of(path)))
    if not names:
        print("\n".join(map(report, NOTEBOOKS)))


if __name__ == "__main__":
    main(sys.argv[1:])
