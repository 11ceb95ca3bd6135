"""Slides of each lesson: one HTML file a lesson, that opens in any browser and needs
neither a network nor anything beside it.

A slide holds one idea. A question is on one slide and its answer on the next, or folded
below the question until you go on. Of the exercises only what they ask for is shown. A
slide has 1280 x 720 pixels: short content is enlarged or joined, long content is made
smaller, though never below 14 pixels, and then divided.

    python -m course_lib slides ~/slides               all lessons
    python -m course_lib slides ~/slides 2 3           two of them
    python -m course_lib slides ~/slides --notebooks   notebooks instead, cut into the
                                                       same slides for jupyterlab-rise

Keys: arrows, Page Up and Down (as a remote control has them), Home, End; S presenter's
view, O overview, F full screen, ? help. The presenter's view is a second window, for
your own screen: the slide, the next step, a clock, and what the guide for teachers,
TEACHING.md, says of the lesson. To have the slides on paper, print from the browser.
"""

import argparse
import copy
import html
import re
from collections.abc import Callable
from pathlib import Path
from string import Template

import nbformat
from nbformat import NotebookNode

from course_lib.classroom.cutting import ROOM, ROOM_UNMEASURED, Block, Slide, cut
from course_lib.classroom.links import add_out_and_lessons, files_of_lessons
from course_lib.classroom.rendering import (
    READER,
    as_html,
    code_as_html,
    code_styles,
    output_as_html,
)
from course_lib.teaching.lessons import Lesson

HERE = Path(__file__).parent
COURSE = "Feeding Language Models"
ROLE = 'role="group" aria-roledescription="slide"'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_out_and_lessons(parser)
    parser.add_argument(
        "--notebooks",
        action="store_true",
        help="write notebooks for jupyterlab-rise instead, which runs their cells",
    )


def run(options: argparse.Namespace) -> int:
    suffix = ".ipynb" if options.notebooks else ".html"
    for lesson, path, repair in files_of_lessons(options, suffix):
        slides = cut(lesson.notebook, ROOM_UNMEASURED if options.notebooks else ROOM)
        if options.notebooks:
            nbformat.write(with_slides(lesson.notebook, slides, repair), path)
        else:
            path.write_text(as_page(lesson, slides, repair), encoding="utf-8")
        print(f"{path}: {len(slides)} slides, or a few more or less")
    return 0


def as_page(lesson: Lesson, slides: list[Slide], repair: Callable[[str], str]) -> str:
    """Write the slides of a lesson as one page of HTML.

    The page is our own, `deck.html`, because no other that we tried makes what is too
    much for a slide smaller, divides it, folds answers, and is one file.
    """
    parts = {
        "title": html.escape(f"{lesson.number}. {lesson.title} - {COURSE}"),
        "style": (HERE / "deck.css").read_text(encoding="utf-8") + code_styles(),
        "script": (HERE / "deck.js").read_text(encoding="utf-8"),
        "presenter": (HERE / "presenter.js").read_text(encoding="utf-8"),
        "notes": as_html(repair(notes_on(lesson))),
        "frames": "\n".join(
            _frame(slide, html.escape(f"{COURSE} · {lesson.title}"), repair)
            for slide in slides
        ),
    }
    page = Template((HERE / "deck.html").read_text(encoding="utf-8"))
    return page.substitute(parts)


def notes_on(lesson: Lesson) -> str:
    """What the guide for teachers says of a lesson, below its heading there."""
    guide = lesson.path.with_name("TEACHING.md")
    text = guide.read_text(encoding="utf-8") if guide.is_file() else ""
    found = re.search(
        rf"^### {lesson.number}\. .*\n((?:(?!##).*\n?)*)", text, re.MULTILINE
    )
    return found[1].strip() if found else "The guide has no notes on this lesson."


def _frame(slide: Slide, foot: str, repair: Callable[[str], str]) -> str:
    level = min(slide.level, 3)
    heading = READER.renderInline(slide.title)  # "1. Title" is no list
    shown = ' class="continued"' if slide.continued else ""
    # a section's first slide, when it is only some words, has them in the middle
    opens = slide.level == 2 and slide.height < 180 and not slide.continued
    blocks = "\n".join(_block(block, repair) for block in slide.blocks)
    alone = " data-alone" if slide.alone else ""
    return f"""<div class="frame"{alone}>
<section class="slide{" section" if opens else ""}" {ROLE}>
<h{level}{shown}>{heading}</h{level}>
<div class="body">
{blocks}
</div>
<div class="foot"><span>{foot}</span>
<span class="number"></span></div>
</section>
</div>"""


def _block(block: Block, repair: Callable[[str], str]) -> str:
    follows = " data-with-next" if block.keep_with_next else ""
    style = ""
    if block.kind == "prose":
        text = as_html(repair(block.source))
    elif block.kind == "code":
        text = code_as_html(block.source)
    else:
        text = output_as_html(block.output, alt=block.alt)
        # an answer is folded until one goes on; all else is there to be seen
        state = 'class="answer"' if block.kind == "prompt" else "open"
        text = text.replace("<details>", f"<details {state}>")
    if block.kind == "figure":
        size = block.output.get("metadata", {}).get("image/png", {})
        width, height = size.get("width", 900), size.get("height", 420)
        # at most as wide as the slide, and at least as large as a notebook shows it,
        # if the slide is high enough for that
        least = min(round(height), 540)
        most = round(height * min(1168 / width, 1.35))
        style = f' style="--least: {least}px; --most: {max(most, least)}px"'
    return f'<div class="block {block.kind}"{follows}{style}>{text}</div>'


def with_slides(
    notebook: NotebookNode, slides: list[Slide], repair: Callable[[str], str]
) -> NotebookNode:
    """Copy a lesson with the metadata by which jupyterlab-rise shows it as slides.
    Prose is divided where a slide ends."""
    # By cell: the parts that it is divided into, each how it begins and its texts.
    parts: dict[int, list[tuple[str, list[str]]]] = {}
    for slide in slides:
        begins = "slide" if slide.level < 3 and not slide.continued else "subslide"
        title = [] if slide.continued else [f"{'#' * slide.level} {slide.title}"]
        for block in slide.blocks:
            there = parts.setdefault(block.cell, [])
            if begins != "-" or not there:
                there.append((begins, title))
            if block.kind == "prose":
                there[-1][1].append(block.source)
            begins, title = "-", []
    made = copy.deepcopy(notebook)
    cells_before, made.cells = made.cells, []
    for number, cell in enumerate(cells_before):
        divided = parts.get(number, [("skip", [cell.source])])
        if cell.cell_type == "code":
            # an answer has a slide of its own: it need not be folded
            tags = cell.metadata.get("tags")
            cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
            cells = [cell]
        else:
            texts = (repair("\n\n".join(part)) for _, part in divided)
            cells = [nbformat.v4.new_markdown_cell(text) for text in texts]
        for part, (kind, _) in zip(cells, divided, strict=False):
            part.metadata["slideshow"] = {"slide_type": kind}
            part.id = f"cell-{len(made.cells)}"
            made.cells.append(part)
    # a cell that is higher than the rest of its slide can be scrolled
    made.metadata["rise"] = {"width": 1280, "height": 720, "scroll": True}
    return made
