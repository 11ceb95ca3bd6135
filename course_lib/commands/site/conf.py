"""What Sphinx is told about the site of the course, and what a page gets beyond the
outputs of its notebook: verdicts to give, hints to unfold, figures told in words."""

import ast
import base64
import contextlib
import hashlib
import html
import io
import json
import re
from pathlib import Path
from urllib.parse import unquote

from docutils import nodes

from course_lib.teaching import predict
from course_lib.teaching.checker import Question
from course_lib.teaching.checker.messages import to_html
from course_lib.teaching.lessons import (
    Lesson,
    exercise_of,
    items_of,
    notebooks_folder,
)

project = html_title = "Feeding Language Models"
extensions = ["myst_nb"]
smartquotes = False  # --force is no dash

nb_execution_mode = "off"  # the lessons are shown as they are committed
nb_code_prompt_show = "Show the {type}"
nb_code_prompt_hide = "Hide the {type}"
nb_ipywidgets_js = {}  # they would come from elsewhere
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["myst.xref_missing"]  # see `leave_words`

BRAND = ("color-brand-primary", "color-brand-content")
html_theme = "furo"
html_theme_options = {
    "light_css_variables": dict.fromkeys(BRAND, "#0b5cad"),
    "dark_css_variables": dict.fromkeys(BRAND, "#7cc0ff"),
    "top_of_page_buttons": [],
}
pygments_dark_style = "github-dark"
SCRIPT = Path(predict.__code__.co_filename).with_suffix(".js")  # as in a notebook
html_static_path = ["static", str(SCRIPT)]
html_css_files = ["book.css"]
SCRIPTS = (SCRIPT.name, "search.js", "reach.js")
html_js_files = [(name, {"defer": "defer"}) for name in SCRIPTS]
html_favicon = "static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False

RUN_IT = re.compile(r"\n*^\*\*Run it\*\* .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"exercises\.\w+\.show\(\)")
MARKS = re.compile(r"[*`#]|\]\([^)]*\)|\[")
LINK = re.compile(r"(\]\([\w./-]+\.ipynb#)([^)]+)\)")
LESSON_ROW = re.compile(
    r"^\| \[(\d+\..+?)\]\((notebooks/\w+)\.ipynb\) \| (.+?) \|", re.MULTILINE
)
PICTURE = re.compile(r'<img [^>]*src="data:image/png;base64,([^"]+)"[^>]*>')
PROMPT = re.compile(r"^predict\(", re.MULTILINE)
ANSWERS = {"code_prompt_show": "Show the source, which holds the answer"}
STILL = "*In the notebook you can change the text. Here it stands still.*"
MOVING = "*Here one slider moves; in the notebook, all of them do.*"
PLAY = re.compile(r"^play\(", re.MULTILINE)
TO_WORK_IN_IT = (
    "\n\nTo run this lesson and solve its exercises, [get the course]"
    "(../index.md#get-the-course). In it, the lesson is `notebooks/{}`."
)
FOLD = re.compile(r"<details class=.told.>.*?</summary>\s*")
# In sight, it opens in full at a tap, as those in answers do.
FIGURE = re.compile(r'(?<!">)(<img alt="[^"]*" src="(\.\./_images/\w+\.png)"[^>]*>)')
# What the theme and myst-nb leave without a name, or give a name that isn't in sight:
# a screen reader would announce every fold as the same "hidden content".
UNNAMED = {
    '<summary aria-label="Toggle hidden content">': "<summary>",
    '<aside class="sidebar-drawer">': (
        '<aside class="sidebar-drawer" aria-label="All pages">'
    ),
    '<aside class="toc-drawer">': (
        '<aside class="toc-drawer" aria-label="On this page">'
    ),
    '<th class="head"><p></p></th>': "<td></td>",
    '<div id="search-results">': '<h1>Search</h1>\n<div id="search-results">',
}


def setup(app) -> None:
    app.connect("source-read", prepare)
    app.connect("doctree-resolved", leave_words)
    app.connect("build-finished", name_what_has_no_name)


def prepare(app, page: str, source: list[str]) -> None:
    """Give a lesson what its page needs, before Sphinx reads it."""
    path = Path(app.env.doc2path(page))
    if path.suffix != ".ipynb":
        asked = lessons_and_questions(app.env.found_docs)
        source[0] = in_small_letters(source[0]).replace("<!-- lessons -->", asked)
        return
    lesson, cells = Lesson(path), []
    for number, cell in enumerate(lesson.cells):
        item = items_of(lesson.name).get(exercise_of(cell) or "")
        if cell["cell_type"] == "markdown":
            cell["source"] = RUN_IT.sub("", in_small_letters(cell["source"]))
        elif any("image/png" in out.get("data", {}) for out in cell["outputs"]):
            alt = f"{told_below(lesson.cells[number + 1 :])} {drawn_in(cell)}".strip()
            cell["metadata"] |= {"mystnb": {"image": {"alt": alt}}}
        if SHOWN.fullmatch(cell["source"]):
            cell["metadata"] |= {"tags": ["remove-input"]}
        if PROMPT.search(cell["source"]):
            cell["metadata"] |= {"mystnb": ANSWERS}
            for shown in (out["data"] for out in cell["outputs"] if "data" in out):
                shown["text/html"] = with_files(app, "".join(shown["text/html"]))
        if isinstance(item, Question):
            cells.append(words(page, number, verdict(item)))
            continue
        if item is not None:
            cell["outputs"] = []  # that it was not attempted
        cells.append(cell)
        if cell["cell_type"] == "code" and PLAY.search(cell["source"]):
            moving = frames(app, lesson, number)
            cell["outputs"] = [] if moving else cell["outputs"]
            cells.append(words(page, number, moving or STILL))
        hints = enumerate(getattr(item, "hints", ()), start=1)
        folded = [f"<p>{unfold(f'Hint {n}', to_html(hint))}</p>" for n, hint in hints]
        if folded:
            cells.append(words(page, number, "\n".join(folded)))
    cells[0]["source"] += TO_WORK_IN_IT.format(path.name)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    source[0] = json.dumps(notebook | {"cells": cells})


def lessons_and_questions(pages: set[str]) -> str:
    """The lessons that the site has, each with its question from the README's table."""
    readme = notebooks_folder().parent / "README.md"
    rows = LESSON_ROW.findall(readme.read_text(encoding="utf-8"))
    shown = [f"| [{n}]({p}.ipynb) | {asked} |" for n, p, asked in rows if p in pages]
    return "\n".join(["| lesson | one of its questions |", "|---|---|", *shown])


def in_small_letters(text: str) -> str:
    """Links to headings: JupyterLab calls one as it is written, Sphinx without signs
    and capitals."""
    return LINK.sub(lambda link: f"{link[1]}{slug(unquote(link[2]))})", text)


def slug(heading: str) -> str:
    return re.sub(r"[^\w-]", "", heading.lower())


def with_files(app, page: str) -> str:
    """Turn the pictures in an answer into files, so that a click opens them in full."""

    def linked(found: re.Match) -> str:
        address = as_file(app, base64.b64decode(found[1]))
        image = re.sub(r'src="[^"]*"', f'src="{address}"', found[0])
        return f'<a href="{address}">{image}</a>'

    return PICTURE.sub(linked, page)


def frames(app, lesson: Lesson, number: int) -> str:
    """Draw ahead what the last slider of a `play` shows at each of its values, and
    return the slider, which `reach.js` moves; nothing if there is none.

    The cells up to this one are run, which are few and quick: a site has no kernel.
    """
    namespace: dict[str, object] = {}
    code = [c for c in lesson.cells[: number + 1] if c["cell_type"] == "code"]
    *before, last = ast.parse("\n".join(c["source"] for c in code[1:])).body
    quiet = io.StringIO()  # what the cells print stands on the page already
    with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        exec(compile(ast.Module(before, []), lesson.path.name, "exec"), namespace)
        player = eval(ast.unparse(last), namespace)
    sliders = [n for n, c in player.controls.items() if isinstance(c, tuple)]
    if not sliders:
        return ""
    name, start = sliders[-1], {n: c[0] for n, c in player.controls.items()}
    start |= {n: c for n, c in player.controls.items() if isinstance(c, str)}
    first, low, high = player.controls[name]
    drawn = {}
    for value in range(low, high + 1):
        with contextlib.suppress(ValueError):  # values that do not go together
            figure = player.draw(**start | {name: value})
            drawn[value] = {"src": as_file(app, figure.png()), "alt": figure.words}
    shown = [{"value": value, **picture} for value, picture in drawn.items()]
    at, picture = list(drawn).index(first), drawn[first]
    data = html.escape(json.dumps(shown), quote=True)
    return (
        f'<div class="frames" data-frames="{data}"><label>{name} '
        f'<input type="range" min="0" max="{len(shown) - 1}" value="{at}"></label> '
        f'<output>{first}</output><img src="{picture["src"]}" '
        f'alt="{html.escape(picture["alt"])}" width="900"></div>\n\n{MOVING}'
    )


def as_file(app, png: bytes) -> str:
    """Write a picture among those of the site, and return its address from a lesson."""
    folder = Path(app.outdir, "_images")
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{hashlib.sha256(png).hexdigest()[:16]}.png"
    (folder / name).write_bytes(png)
    return f"../_images/{name}"


def words(page: str, number: int, text: str) -> dict:
    name = f"more-{page.rpartition('/')[2]}-{number}"
    return {"id": name, "cell_type": "markdown", "metadata": {}, "source": text}


def unfold(summary: str, inside: str) -> str:
    return f"<details><summary>{summary}</summary>{inside}</details>"


def verdict(item: Question) -> str:
    """A question with two answers, as a prompt; evidence and reason unfold with it."""
    reason = item.judge(item.truth).message.removeprefix("**Passed.** ")
    asked = {f"your verdict on {item.name}": item.truth}
    return predict(asked, Words(reason), choices=item.verdicts)._repr_html_().strip()


class Words:
    """Markdown, as evidence."""

    def __init__(self, markdown: str):
        self.markdown = markdown

    def _repr_html_(self) -> str:
        return to_html(self.markdown).replace("\n\n", "\n")


def told_below(cells: list[dict]) -> str:
    """The text below a figure says what it shows: its first sentence."""
    text = next((c["source"] for c in cells if c["cell_type"] == "markdown"), "")
    text = FOLD.sub("", text, count=1)
    paragraph = "" if text.startswith("#") else text.split("\n\n")[0]
    return re.split(r"(?<=[.!?]) ", MARKS.sub("", " ".join(paragraph.split())))[0]


def drawn_in(cell: dict) -> str:
    """What the code that drew a figure says of it."""
    shown = (output.get("metadata", {}).get("image/png") for output in cell["outputs"])
    return " ".join(filter(None, ((one or {}).get("alt") for one in shown)))


def name_what_has_no_name(app, error: Exception | None) -> None:
    for path in Path(app.outdir).rglob("*.html") if error is None else ():
        text = path.read_text(encoding="utf-8")
        for unnamed, named in UNNAMED.items():
            text = text.replace(unnamed, named)
        text = FIGURE.sub(r'<a href="\2">\1</a>', text)
        path.write_text(text, encoding="utf-8")


def leave_words(app, page: nodes.document, name: str) -> None:
    """Turn links into text where the site lacks their page, as of a lesson left out."""
    for link in list(page.findall(nodes.reference)):
        if link.get("refid", "") not in {"", *page.ids}:
            link.replace_self(link.children)
