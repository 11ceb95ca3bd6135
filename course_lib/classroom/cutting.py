"""Where a lesson is cut into slides: at headings, and before the answer to a question.

What is done alone at a keyboard is left out; one slide says what the exercises ask for.
A figure keeps the sentence that says what it shows.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from nbformat import NotebookNode

from course_lib.classroom.blank import imports_in
from course_lib.classroom.rendering import as_words, count_rows, split_blocks
from course_lib.teaching.checker import Exercise
from course_lib.teaching.lessons import POINTS, exercise_of

PREDICT = "**Predict"
HEADING = re.compile(r"^(#{1,4}) +(.*)$")
# Links to the neighbors open a lesson, and where the files are ends it.
LINKS = re.compile(r"^\[Lesson .*\.ipynb\)$", re.DOTALL)
NEXT = "**Next**: "
NOT_SHOWN = ("Where everything lives",)
EXERCISES = "Exercises"
LEFT_OUT = "remove-cell"
PROMPT = re.compile(r"^predict\(", re.MULTILINE)
SHOWS = re.compile(r"^(?:show_source|exercises\.\w+\.show)\(", re.MULTILINE)
COUNTS = re.compile(r"^(?:show_scores|show_guesses)\(", re.MULTILINE)
LOADER = re.compile(r"^my_loader\.check\(", re.MULTILINE)  # a file, and no function
# Estimated heights in pixels; a page in a browser makes what is too much smaller.
ROOM, ROOM_UNMEASURED = 680, 560
SHORT = 40  # letters of a sentence that hardly tells what a figure shows
LETTERS = 92


@dataclass
class Block:
    """What stays in one piece, if it can: a paragraph, a list, a cell's code, or one of
    its outputs."""

    kind: str  # "prose", "code", "output", "figure" or "prompt"
    cell: int
    source: str = ""
    output: NotebookNode | None = None
    alt: str = ""
    keep_with_next: bool = False  # as "The function behind it:", which leads to it

    @property
    def height(self) -> int:
        if self.kind == "figure":
            return self.output.metadata.get("image/png", {}).get("height", 420)
        # what wraps a shown source takes no room
        wrapped = re.compile(r"(<div|</div|```|$)")
        lines = [x for x in self.source.splitlines() if not wrapped.match(x)] or [""]
        if self.kind == "prose":
            return 34 * count_rows(self.source, LETTERS) + 18
        return 24 * len(lines) + 24


@dataclass
class Slide:
    """Blocks below a title. `level` 1 opens the lesson, 2 a section, 3 a part of it."""

    title: str
    level: int
    blocks: list[Block] = field(default_factory=list)
    continued: bool = False
    alone: bool = False  # what follows a question stays on another slide

    @property
    def height(self) -> int:
        return sum(block.height for block in self.blocks)


def cut(notebook: NotebookNode, room: int = ROOM) -> list[Slide]:
    """Cut a lesson into slides, none of them empty."""
    slides: list[Slide] = []
    for slide in _Cutter(notebook).cut():
        if slide.blocks:
            slides += _by_height(slide, room)
    return slides


class _Cutter:
    def __init__(self, notebook: NotebookNode) -> None:
        self.notebook = notebook
        self.slides = [Slide("", 1)]
        self.section = ""
        self.answer_follows = False

    def cut(self) -> list[Slide]:
        for number, cell in enumerate(self.notebook.cells):
            if cell.cell_type == "markdown":
                for text in split_blocks(cell.source):
                    self._add_prose(number, text)
                # the question may have a second paragraph, but its answer is a cell
                if PREDICT in cell.source:
                    self.answer_follows = True
            elif self.section not in (EXERCISES, *NOT_SHOWN):
                self._add_code(number, cell)
        return self.slides

    def _begin(self, title: str, level: int = 3, *, continued: bool = False) -> None:
        alone = self.answer_follows
        self.slides.append(Slide(title, level, continued=continued, alone=alone))
        self.answer_follows = False

    def _answer(self) -> None:
        """What comes now is an answer: not on the slide of its question."""
        if self.answer_follows:
            self._begin(self.slides[-1].title, continued=True)

    def _add_prose(self, number: int, text: str) -> None:
        heading = HEADING.match(text)
        if heading and len(heading[1]) <= 2:
            level = len(heading[1])
            self.section = re.sub(r"^\d+\. ", "", heading[2])
            self._begin(self.section if level == 2 else heading[2], level)
        elif self.section == EXERCISES:
            if heading:
                self._add_exercise(number)
        elif heading:
            self._begin(heading[2])
        elif self.section in NOT_SHOWN:
            if text.startswith(NEXT):
                self._begin("Next")
                text = text.removeprefix(NEXT)
                text = text[0].upper() + text[1:]
                self.slides[-1].blocks.append(Block("prose", number, text))
        elif not LINKS.match(text):
            if PREDICT not in text:
                self._answer()
            blocks = self.slides[-1].blocks
            if text.startswith("$$") and blocks:
                blocks[-1].keep_with_next = True
            leads_on = text.endswith(":")
            blocks.append(Block("prose", number, text, keep_with_next=leads_on))

    def _add_exercise(self, number: int) -> None:
        """What the next exercise is to return, as its docstring says, in few words."""
        cells = self.notebook.cells[number:]
        cell = next(c for c in cells if exercise_of(c) or LOADER.search(c.source))
        if not exercise_of(cell):
            return
        blocks = self.slides[-1].blocks
        asked = " ".join(ast.get_docstring(ast.parse(cell.source).body[0]).split())
        asked = asked.removeprefix("Return ")
        asked = asked[0].lower() + asked[1:]
        if not blocks:
            points = f"Each gives {POINTS[Exercise]} points."
            blocks.append(Block("prose", number, points))
        blocks.append(Block("prose", number, f"- `{exercise_of(cell)}`: {asked}"))

    def _add_code(self, number: int, cell: NotebookNode) -> None:
        is_prompt = bool(PROMPT.search(cell.source))
        if not is_prompt:
            self._answer()
        self.slides[-1].blocks += _blocks_of(number, cell, self.notebook)
        self.answer_follows = self.answer_follows or is_prompt


def _blocks_of(
    number: int, cell: NotebookNode, notebook: NotebookNode
) -> Iterator[Block]:
    """What a code cell shows: its code, unless it only asks or imports, and outputs."""
    left_out = LEFT_OUT in cell.metadata.get("tags", [])
    if exercise_of(cell) or left_out or COUNTS.search(cell.source):
        return
    outputs = [output for output in cell.outputs if output.output_type != "error"]
    is_prompt = PROMPT.search(cell.source)
    code = cell.source.strip()
    only_imports = imports_in(code) == "\n".join(filter(None, code.splitlines()))
    if not (is_prompt or only_imports or SHOWS.search(code)):
        yield Block("code", number, code, keep_with_next=bool(outputs))
    for output in outputs:
        data = output.get("data", {})
        text = output.get("text", data.get("text/markdown", data.get("text/plain", "")))
        kind = "prompt" if is_prompt else "figure" if "image/png" in data else "output"
        block = Block(kind, number, text, output)
        if kind == "figure":
            block.alt, block.keep_with_next = alternative_text(number, notebook), True
        yield block


def alternative_text(number: int, notebook: NotebookNode) -> str:
    """The text below a figure says what it shows: its first sentence, or two."""
    for cell in notebook.cells[number + 1 :]:
        if cell.cell_type == "markdown":
            paragraph = split_blocks(cell.source)[0]
            if HEADING.match(paragraph):
                return ""
            told, *more = re.split(r"(?<=[.!?]) (?=[A-Z(])", as_words(paragraph))
            while len(told) < SHORT and more:
                told += f" {more.pop(0)}"
            return told
    return ""


def _by_height(slide: Slide, room: int) -> list[Slide]:
    """Divide what is estimated to be too high; what leads on stays with the next."""
    parts = [replace(slide, blocks=[])]
    for group in _groups(slide.blocks, room):
        height = sum(block.height for block in group)
        # a last line or two would look lost on a slide of their own
        is_last = group[-1] is slide.blocks[-1]
        allowed = 1.1 * room if is_last and height < room / 5 else room
        if parts[-1].blocks and parts[-1].height + height > allowed:
            parts.append(Slide(slide.title, 3, continued=True))
        parts[-1].blocks += group
    return parts


def _groups(blocks: list[Block], room: int) -> Iterator[list[Block]]:
    group: list[Block] = []
    for block in blocks:
        group.append(block)
        if len(group) > 1 and sum(member.height for member in group) > room:
            # A figure starts the next slide, with its sentence; else the rest does.
            begins = -2 if group[-2].kind == "figure" and len(group) > 2 else -1
            yield group[:begins]
            group = group[begins:]
        if not block.keep_with_next or block is blocks[-1]:
            yield group
            group = []
