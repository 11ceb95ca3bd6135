"""Where a lesson is cut into slides.

A heading begins a slide, and so does what comes after a question: the answer does not
stand beside it. What is to be done alone at a keyboard is left out: exercises are
named on one slide. A figure keeps the sentence that says what it shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nbformat import NotebookNode

from course_lib.teaching.classroom.blank import imports_in
from course_lib.teaching.lessons import exercise_of

PREDICT = "**Predict"
FENCE = re.compile(r"^ *(```|~~~)")
HEADING = re.compile(r"^(#{1,4}) +(.*)$")
LISTED = re.compile(r"^ *(?:[-*+]|\d+[.)]) ")
# Of an opening cell: links to the neighbors. At its end: where the files lie.
LINKS = re.compile(r"^\[Lesson (?:before|after)")
NOT_SHOWN = ("Where everything lives",)
EXERCISES = "Exercises"
COUNTS = re.compile(r"^(?:show_scores|show_guesses)\(", re.MULTILINE)
# Estimated heights, in pixels of a slide: a browser measures; other readers rely on it.
ROOM = 560
LETTERS = 92


@dataclass
class Block:
    """What stays in one piece, if it can: a paragraph, a list, a cell's code, or one of
    its outputs."""

    kind: str  # "prose", "code", "output" or "figure"
    cell: int
    source: str = ""
    output: NotebookNode | None = None
    alt: str = ""
    # it leads to what follows: "The function behind it:"
    keep_with_next: bool = False

    @property
    def height(self) -> int:
        """How many pixels it will take, about."""
        if self.kind == "figure":
            return self.output.metadata.get("image/png", {}).get("height", 420)
        lines = self.source.splitlines() or [""]
        if self.kind == "prose":
            rows = sum(1 + len(line) // LETTERS for line in _joined(self.source))
            return 34 * rows + 18
        return 24 * len(lines) + 24


@dataclass
class Slide:
    """Blocks below a title. `level` 1 opens the lesson, 2 a section, 3 a part of it."""

    title: str
    level: int
    blocks: list[Block] = field(default_factory=list)
    continued: bool = False

    @property
    def height(self) -> int:
        return sum(block.height for block in self.blocks)


def cut(notebook: NotebookNode) -> list[Slide]:
    """Cut a lesson into slides, none of them empty."""
    slides: list[Slide] = []
    for slide in _by_ideas(notebook):
        if slide.blocks:
            slides += _by_height(slide)
    return slides


def _by_ideas(notebook: NotebookNode) -> Iterator[Slide]:
    slide = Slide("", 1)
    shown, in_exercises, asked = True, False, []
    answer_follows = False
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            for text in split_blocks(cell.source):
                heading = HEADING.match(text)
                if heading and len(heading[1]) <= 2:
                    if in_exercises:
                        slide.blocks.append(Block("prose", number, _list(asked)))
                    yield slide
                    title = (
                        re.sub(r"^\d+\. ", "", heading[2])
                        if len(heading[1]) == 2
                        else heading[2]
                    )
                    slide = Slide(title, len(heading[1]))
                    shown = title not in NOT_SHOWN
                    in_exercises = title == EXERCISES
                    answer_follows = False
                elif heading and in_exercises:
                    asked.append(heading[2])
                elif heading:
                    yield slide
                    slide = Slide(heading[2], 3)
                    answer_follows = False
                elif in_exercises or LINKS.match(text):
                    continue
                elif shown or text.startswith("**Next**"):
                    if not shown:
                        yield slide
                        slide, shown = Slide("Next", 3), True
                    if answer_follows and PREDICT not in text:
                        yield slide
                        slide = Slide(slide.title, 3, continued=True)
                        answer_follows = False
                    block = Block("prose", number, text)
                    block.keep_with_next = text.rstrip().endswith(":")
                    slide.blocks.append(block)
            # the question may have a second paragraph, but its answer is a cell
            if PREDICT in cell.source and shown and not in_exercises:
                answer_follows = True
        elif shown and not in_exercises:
            is_prompt = re.search(r"^predict\(", cell.source, re.MULTILINE)
            if answer_follows and not is_prompt:
                yield slide
                slide = Slide(slide.title, 3, continued=True)
                answer_follows = False
            slide.blocks += _blocks_of(number, cell, notebook)
            answer_follows = answer_follows or bool(is_prompt)
    if shown or in_exercises:
        yield slide


def _list(names: Iterable[str]) -> str:
    return "\n".join(f"- {name}" for name in names)


def _blocks_of(
    number: int, cell: NotebookNode, notebook: NotebookNode
) -> Iterator[Block]:
    """What a code cell shows: its code, unless it only asks or imports, and outputs."""
    if exercise_of(cell) or COUNTS.search(cell.source):
        return
    outputs = [output for output in cell.outputs if output.output_type != "error"]
    is_prompt = re.search(r"^predict\(", cell.source, re.MULTILINE)
    shows_source = re.search(
        r"^(?:show_source|exercises\.\w+\.show)\(", cell.source, re.MULTILINE
    )
    code = cell.source.strip()
    if (
        is_prompt
        or shows_source
        or imports_in(code) == "\n".join(filter(None, code.splitlines()))
    ):
        code = ""
    if code:
        yield Block("code", number, code, keep_with_next=bool(outputs))
    alt = sentence_after(number, notebook)
    for output in outputs:
        data = output.get("data", {})
        text = (
            output.get("text")
            or data.get("text/markdown")
            or data.get("text/plain", "")
        )
        kind = "figure" if "image/png" in data or "image/svg+xml" in data else "output"
        block = Block(kind, number, text, output)
        if kind == "figure":
            block.alt, block.keep_with_next = alt, True
        yield block


def sentence_after(number: int, notebook: NotebookNode) -> str:
    """The first paragraph below a cell: of a figure, it says what it shows."""
    for cell in notebook.cells[number + 1 :]:
        if cell.cell_type == "markdown":
            first = split_blocks(cell.source)[0]
            return "" if HEADING.match(first) else first
    return ""


def _by_height(slide: Slide) -> Iterator[Slide]:
    """Divide what is estimated to be too high; what leads on stays with the next."""
    part = Slide(slide.title, slide.level, continued=slide.continued)
    for group in _groups(slide.blocks):
        height = sum(block.height for block in group)
        if part.blocks and part.height + height > ROOM:
            yield part
            part = Slide(slide.title, 3, continued=True)
        part.blocks += group
    yield part


def _groups(blocks: list[Block]) -> Iterator[list[Block]]:
    group: list[Block] = []
    for block in blocks:
        group.append(block)
        if len(group) > 1 and sum(member.height for member in group) > ROOM:
            # A figure begins anew with its sentence; else what is too much does.
            begins = -2 if group[-2].kind == "figure" and len(group) > 2 else -1
            yield group[:begins]
            group = group[begins:]
        if not block.keep_with_next:
            yield group
            group = []
    if group:
        yield group


def split_blocks(markdown: str) -> list[str]:
    """Split Markdown at blank lines, but no list, and no code."""
    blocks: list[str] = []
    lines: list[str] = []
    fenced = False
    for line in [*markdown.splitlines(), ""]:
        if FENCE.match(line):
            fenced = not fenced
        if line.strip() or fenced:
            if HEADING.match(line) and not fenced:
                if lines:
                    blocks.append("\n".join(lines))
                blocks.append(line)
                lines = []
                continue
            lines.append(line)
        elif lines:
            text = "\n".join(lines)
            goes_on = LISTED.match(text) or text.startswith("  ")
            if blocks and LISTED.match(blocks[-1]) and goes_on:
                blocks[-1] += f"\n\n{text}"
            else:
                blocks.append(text)
            lines = []
    return blocks or [""]


def _joined(markdown: str) -> list[str]:
    """The lines as they are set: those of a paragraph are one."""
    lines: list[str] = []
    for line in markdown.splitlines():
        if lines and not re.match(r"^ *(?:[-*+>|]|\d+[.)]|$)", line) and lines[-1]:
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    return lines
