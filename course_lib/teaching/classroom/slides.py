"""Slides of each lesson: one HTML file a lesson, that opens in any browser and needs
neither a network nor anything beside it.

A slide holds one idea; a question stands on one slide and its answer on the next, or
folded below it until you go on. Exercises are left out, but for their names. What is
too much for a slide of 1280 x 720 is made smaller, never below 14 pixels, and then
divided.

    python -m course_lib slides ~/slides               all lessons
    python -m course_lib slides ~/slides 2 3           two of them
    python -m course_lib slides ~/slides --notebooks   notebooks instead, cut into the
                                                       same slides for jupyterlab-rise

Keys: arrows, Page Up and Down (as a presenter has them), Home, End; O overview, F full
screen, ? help. To have them on paper, print from the browser.
"""

from __future__ import annotations

import argparse
import copy
import html
import re
from base64 import b64encode
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib.teaching.classroom.cutting import (
    ROOM,
    ROOM_UNMEASURED,
    Block,
    Slide,
    cut,
)
from course_lib.teaching.classroom.links import IMAGES, check_free, relink, target_in
from course_lib.teaching.classroom.rendering import (
    as_html,
    as_words,
    code_as_html,
    code_styles,
    output_as_html,
)
from course_lib.teaching.lessons import Lesson, find_lessons

HERE = Path(__file__).parent
COURSE = "Feeding Language Models"
HELP = (
    "→ next &nbsp; ← back &nbsp; Home, End &nbsp; O overview &nbsp; F full screen "
    "&nbsp; ? this help"
)
REFERENCE = re.compile(r'\b(href|src)="([^"#:]+)"')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="OUT", help="a folder; made if new")
    parser.add_argument(
        "lessons", nargs="*", metavar="LESSON", help="numbers or names; all by default"
    )
    parser.add_argument(
        "--notebooks",
        action="store_true",
        help="write notebooks for jupyterlab-rise instead, which runs their cells",
    )
    parser.add_argument(
        "--force", action="store_true", help="write over files that are there already"
    )


def run(options: argparse.Namespace) -> int:
    """Write the slides, and say where and how many."""
    lessons = find_lessons(options.lessons)
    source, out = lessons[0].path.parent, options.out.expanduser()
    suffix = ".ipynb" if options.notebooks else ".html"
    names = {lesson.path.name: lesson.path.stem + suffix for lesson in lessons}
    paths = [out / name for name in names.values()]
    check_free(paths, source=source, force=options.force)
    out.mkdir(parents=True, exist_ok=True)
    for lesson, path in zip(lessons, paths, strict=True):
        slides = cut(lesson.notebook, ROOM_UNMEASURED if options.notebooks else ROOM)
        if options.notebooks:
            notebook = with_slides(lesson.notebook, slides)
            relink(notebook, source, out, names)
            nbformat.write(notebook, path)
        else:
            text = as_page(lesson, slides, out=out, names=names)
            path.write_text(text, encoding="utf-8")
        print(f"{path}: {len(slides)} slides or a few more")
    return 0


def as_page(
    lesson: Lesson, slides: list[Slide], *, out: Path, names: dict[str, str]
) -> str:
    """Write the slides of a lesson as one page of HTML."""

    def place(match: re.Match) -> str:
        kind, target = match.groups()
        folder = lesson.path.parent
        path = folder / html.unescape(target)
        if kind == "src" and path.suffix.lower() in IMAGES and path.is_file():
            data = b64encode(path.read_bytes()).decode()
            form = path.suffix.lower().lstrip(".").replace("svg", "svg+xml")
            return f'src="data:image/{form};base64,{data}"'
        return f'{kind}="{target_in(target, folder, out, names)}"'

    frames = "\n".join(_frame(slide, lesson) for slide in slides)
    frames = re.sub(
        r"(?<=<)(a|img) [^>]*>", lambda tag: REFERENCE.sub(place, tag[0]), frames
    )
    title = html.escape(f"{lesson.number}. {lesson.title}")
    style = (HERE / "deck.css").read_text(encoding="utf-8") + code_styles()
    script = (HERE / "deck.js").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - {COURSE}</title>
<link rel="icon" href="data:,">
<style>
{style}
</style>
</head>
<body>
<main class="deck">
{frames}
</main>
<div class="help" role="note">{HELP}</div>
<script>
{script}
</script>
</body>
</html>
"""


def _frame(slide: Slide, lesson: Lesson) -> str:
    level = min(slide.level, 3)
    heading = _inline(slide.title)
    shown = ' class="continued"' if slide.continued else ""
    # a section's first slide, when it is only some words, has them in the middle
    opens = slide.level == 2 and slide.height < 180 and not slide.continued
    blocks = "\n".join(_block(block) for block in slide.blocks)
    return f"""<div class="frame">
<section class="slide{" section" if opens else ""}">
<h{level}{shown}>{heading}</h{level}>
<div class="body">
{blocks}
</div>
<div class="foot"><span>{html.escape(f"{COURSE} · {lesson.title}")}</span>
<span class="number"></span></div>
</section>
</div>"""


def _inline(markdown: str) -> str:
    return as_html(markdown).removeprefix("<p>").removesuffix("</p>")


def _block(block: Block) -> str:
    follows = " data-with-next" if block.keep_with_next else ""
    style = ""
    if block.kind == "prose":
        text = as_html(block.source)
    elif block.kind == "code":
        text = code_as_html(block.source)
    else:
        text = output_as_html(block.output, alt=as_words(block.alt))
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


def with_slides(notebook: NotebookNode, slides: list[Slide]) -> NotebookNode:
    """Copy a lesson with the metadata by which jupyterlab-rise shows it as slides.

    All its cells are there, and run; those that are on no slide are skipped. Prose that
    goes on over the border of a slide is divided there.
    """
    made = copy.deepcopy(notebook)
    cells = []
    begins: dict[int, list[tuple[str, str, list[str]]]] = {}
    for slide in slides:
        kind = "slide" if slide.level < 3 and not slide.continued else "subslide"
        title = f"{'#' * slide.level} {slide.title}"
        first = True
        for block in slide.blocks:
            texts = [block.source] if block.kind == "prose" else []
            if first and not slide.continued:
                texts.insert(0, title)
            there = begins.setdefault(block.cell, [])
            if first or not there:
                there.append((kind if first else "-", block.kind, texts))
            elif block.kind == "prose":
                there[-1][2].extend(texts)
            first = False
    for number, cell in enumerate(made.cells):
        parts = begins.get(number)
        if cell.cell_type == "code" or not parts:
            kind = parts[0][0] if parts else "skip"
            # an answer has a slide of its own: it need not be folded
            tags = cell.metadata.get("tags")
            cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
            cell.metadata["slideshow"] = {"slide_type": kind}
            cells.append(cell)
            continue
        for kind, _, texts in parts:
            part = nbformat.v4.new_markdown_cell("\n\n".join(texts))
            part.metadata["slideshow"] = {"slide_type": kind}
            cells.append(part)
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    made.cells = cells
    # a cell that is higher than the rest of its slide can be scrolled
    made.metadata["rise"] = {"width": 1280, "height": 720, "scroll": True}
    return made
