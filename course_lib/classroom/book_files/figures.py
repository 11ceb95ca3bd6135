"""Figures to play with on a page without a kernel: the pictures of all settings that a
figure offers, in one script that the page loads when a control is first touched. (A
page that is opened as a file may run other files, but not read them.) The script holds
one string, which is JSON, deflated, in base64. static/figures.js unfolds it."""

import ast
import base64
import html
import io
import json
import os
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path

from matplotlib import style
from nbformat import NotebookNode
from nbformat.v4 import new_output

from course_lib.classroom.rendering import alternative_text
from course_lib.foundation import process_pool
from course_lib.teaching.lessons import Lesson
from course_lib.teaching.plots.style import RULES, LessonFigure, add_remark
from course_lib.teaching.widgets.player import Html, IntegerControl, Player

PLAYS = re.compile(r"^(play_\w+)\(", re.MULTILINE)
FRAMES = "figures"
MOST_SETTINGS, MOST_PROCESSES = 500, 8
# Letters stay letters: a fourth of the bytes, and sharp in any size.
AS_SVG = {"svg.fonttype": "none", "svg.hashsalt": "course"}
FONT, FONTS = "'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif"
# What matplotlib writes and nobody sees, and a hatch, which many pictures have.
NEEDLESS = re.compile(
    r"""<metadata>.*?</metadata>|\sid="[a-zA-Z]+[\d._a-zA-Z]*_\d+"|"""
    r"""\stransform="rotate\(-0\s[^"]*"|(?<=>)\s+(?=<)""",
    re.DOTALL,
)
PATTERN = re.compile(r'<pattern id="(\w+)".*?</pattern>', re.DOTALL)
SHADED = re.compile(r"url\(#(\w+)\); fill-opacity: ([\d.]+)")
LONG_NUMBER = re.compile(r"\d+\.\d{3,}")


def make_playable(lesson: Lesson, number: int, folder: Path) -> None:
    """Put a figure with its controls in place of what a cell shows, if that can be
    played with; write its frames to the folder of Sphinx's sources."""
    cell = lesson.notebook.cells[number]
    if not (plays := PLAYS.search(cell.source)):
        return
    player, frames = player_of(lesson.notebook, number), folder / FRAMES
    name = f"{plays[1]}-{_mark(player)}"
    frames.mkdir(exist_ok=True)
    if not (path := frames / f"{name}.js").is_file():
        path.write_text(f'FRAMES["{name}"] = "{packed(player)}";\n', encoding="utf-8")
    said, picture = frame(player, player.start)
    if picture.startswith("<svg"):
        still = f"{name}-{lesson.number}.svg"
        (frames / still).write_text(picture, encoding="utf-8")
        alt = html.escape(alternative_text(number, lesson.notebook))
        address = f"../{FRAMES}/{still}"
        image = f'<img src="{address}" alt="{alt}" width="900">'
        picture = f'<a class="image-reference" href="{address}">{image}</a>'
    shown = (
        f'<form class="play" data-frames="{name}" autocomplete="off">'
        f"<fieldset hidden>{''.join(controls(player))}</fieldset>\n"
        f'<p class="readout" role="status">{html.escape(said)}</p>\n'
        f'<div class="picture">{picture}</div>\n'
        f"<noscript><p><em>{html.escape(player.invitation)}</em></p></noscript></form>"
    )
    cell.outputs = [new_output("display_data", {"text/html": shown})]


def copy_frames(source: Path, site: Path) -> None:
    if (source / FRAMES).is_dir():
        shutil.copytree(source / FRAMES, site / FRAMES, dirs_exist_ok=True)


def player_of(notebook: NotebookNode, number: int) -> Player:
    """Make what a cell shows, by what it needs of the cells before it and no more."""
    code = [c.source for c in notebook.cells[: number + 1] if c.cell_type == "code"]
    *before, last = [part for source in code for part in ast.parse(source).body]
    kept, wanted = [], names_in(last)
    for part in reversed(before):
        if wanted & (made := names_in(part, ast.Store)):
            kept.insert(0, part)
            wanted = (wanted - made) | names_in(part)
    known: dict[str, object] = {}
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        exec(compile(ast.Module(kept, []), "<lesson>", "exec"), known)
        return eval(compile(ast.Expression(last.value), "<lesson>", "eval"), known)


def names_in(code: ast.AST, context: type = ast.Load) -> set[str]:
    """Names that some code reads, or makes, as imports and functions also do."""
    names = {
        part.id
        for part in ast.walk(code)
        if isinstance(part, ast.Name) and isinstance(part.ctx, context)
    }
    if context is ast.Store:
        names |= {one.asname or one.name for one in getattr(code, "names", ())}
        names.add(getattr(code, "name", ""))
    return names


def _mark(player: Player) -> str:
    """The same for figures that offer and draw the same, in whichever lesson."""
    first = frame(player, next(player.settings()))
    return f"{zlib.crc32(json.dumps([player.offered, first]).encode()):08x}"


def packed(player: Player) -> str:
    """All frames of a figure, in the order of its settings."""
    settings = list(player.settings())
    if len(settings) > MOST_SETTINGS:
        most = f"at most {MOST_SETTINGS} settings, or a page gets too large"
        raise ValueError(f"a figure must offer {most}, got {len(settings)}")
    with process_pool(min(os.cpu_count() or 1, MOST_PROCESSES)) as pool:
        frames = list(pool.map(partial(frame, player), settings, chunksize=16))
    hatches = {}
    for _, picture in frames:
        hatches |= {match[1]: match[0] for match in PATTERN.finditer(picture)}
    bare = [(said, PATTERN.sub("", picture)) for said, picture in frames]
    text = json.dumps({"hatches": hatches, "frames": bare}, ensure_ascii=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def frame(player: Player, values: dict[str, object]) -> tuple[str, str]:
    """What is said of some values, and their picture: SVG or HTML, "" if there is
    none."""
    picture = player.drawn(**values)
    if isinstance(picture, str):
        return f"Not so. {picture}", ""
    if isinstance(picture, Html):
        return "", picture.html
    return picture.get_supxlabel(), _as_svg(picture)


def _as_svg(figure: LessonFigure) -> str:
    """Draw a figure without its remark, which the page says beside it."""
    written, needless = io.StringIO(), dict.fromkeys(("Creator", "Date"))
    add_remark(figure, "")
    with style.context(["default", RULES, AS_SVG]):
        figure.savefig(written, format="svg", metadata=needless)
    svg = written.getvalue()
    svg = NEEDLESS.sub("", svg[svg.index("<svg") :]).replace(FONT, FONTS)
    # A hatch is as pale as the ground that it is drawn on, unless only that is.
    for name, shade in set(SHADED.findall(svg)):
        hatch = f'<pattern id="{name}"'
        svg = svg.replace(hatch, f'{hatch} fill-opacity="{shade}"')
    svg = SHADED.sub(r"url(#\1)", svg)
    return LONG_NUMBER.sub(lambda number: f"{float(number[0]):.1f}", svg)


def controls(player: Player) -> Iterator[str]:
    """A slider or a list for each control, as it is at the start."""
    for name, offered in player.offered.items():
        control, start = player.controls[name], player.start[name]
        place, words = list(offered.values()).index(start), list(offered)
        if isinstance(control, IntegerControl):
            ends = f'min="0" max="{len(words) - 1}" value="{place}"'
            said = f'data-words="{" ".join(words)}" aria-valuetext="{words[place]}"'
            made = f'<input type="range" {ends} {said}><output>{words[place]}</output>'
        else:
            options = "".join(
                f"<option{' selected' * (n == place)}>{html.escape(word)}</option>"
                for n, word in enumerate(words)
            )
            made = f"<select>{options}</select>"
        yield f"<label><span>{control.label}</span>{made}</label>"
