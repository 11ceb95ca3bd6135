"""What Sphinx is told about the site of the course, and what a page gets beyond the
outputs of its notebook: verdicts to give, hints to unfold, figures told in words."""

import base64
import hashlib
import json
import re
from pathlib import Path
from urllib.parse import unquote

from docutils import nodes

from course_lib.teaching import predict
from course_lib.teaching.checker import Question
from course_lib.teaching.checker.messages import to_html
from course_lib.teaching.lessons import Lesson, exercise_of, items_of

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
html_js_files = [(name, {"defer": "defer"}) for name in (SCRIPT.name, "search.js")]
html_favicon = "static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False

RUN_IT = re.compile(r"\n*^\*\*Run it\*\* .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"exercises\.\w+\.show\(\)")
MARKS = re.compile(r"[*`#]|\]\([^)]*\)|\[")
LINK = re.compile(r"(\]\([\w./-]+\.ipynb#)([^)]+)\)")
PICTURE = re.compile(r'<img [^>]*src="data:image/png;base64,([^"]+)"[^>]*>')
PROMPT = re.compile(r"^predict\(", re.MULTILINE)
ANSWERS = {"code_prompt_show": "Show the source, which holds the answer"}
STILL = "*The sliders are in the notebook. Here they stand still.*"
TO_WORK_IN_IT = (
    "\n\nTo run this lesson and solve its exercises, [get the course]"
    "(../index.md#get-the-course). In it, the lesson is `notebooks/{}`."
)
FOLD = re.compile(r"<details class=.told.>.*?</summary>\s*")


def setup(app) -> None:
    app.connect("source-read", prepare)
    app.connect("doctree-resolved", leave_words)


def prepare(app, page: str, source: list[str]) -> None:
    """Give a lesson what its page needs, before Sphinx reads it."""
    path = Path(app.env.doc2path(page))
    if path.suffix != ".ipynb":
        source[0] = in_small_letters(source[0])
        return
    lesson, cells = Lesson(path), []
    for number, cell in enumerate(lesson.cells):
        item = items_of(lesson.name).get(exercise_of(cell) or "")
        if cell["cell_type"] == "markdown":
            cell["source"] = RUN_IT.sub("", in_small_letters(cell["source"]))
        elif any("image/png" in out.get("data", {}) for out in cell["outputs"]):
            alt = {"alt": told_below(lesson.cells[number + 1 :])}
            cell["metadata"] |= {"mystnb": {"image": alt}}
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
        if cell["cell_type"] == "code" and re.search(r"\bplay\(", cell["source"]):
            cells.append(words(page, number, STILL))
        hints = enumerate(getattr(item, "hints", ()), start=1)
        folded = [f"<p>{unfold(f'Hint {n}', to_html(hint))}</p>" for n, hint in hints]
        if folded:
            cells.append(words(page, number, "\n".join(folded)))
    cells[0]["source"] += TO_WORK_IN_IT.format(path.name)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    source[0] = json.dumps(notebook | {"cells": cells})


def in_small_letters(text: str) -> str:
    """Links to headings: JupyterLab calls one as it is written, Sphinx without signs
    and capitals."""
    return LINK.sub(lambda link: f"{link[1]}{slug(unquote(link[2]))})", text)


def slug(heading: str) -> str:
    return re.sub(r"[^\w-]", "", heading.lower())


def with_files(app, html: str) -> str:
    """Turn the pictures in an answer into files, so that a click opens them in full."""
    folder = Path(app.outdir, "_images")
    folder.mkdir(parents=True, exist_ok=True)

    def linked(found: re.Match) -> str:
        data = base64.b64decode(found[1])
        name = f"{hashlib.sha256(data).hexdigest()[:16]}.png"
        (folder / name).write_bytes(data)
        image = re.sub(r'src="[^"]*"', f'src="../_images/{name}"', found[0])
        return f'<a href="../_images/{name}">{image}</a>'

    return PICTURE.sub(linked, html)


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


def leave_words(app, page: nodes.document, name: str) -> None:
    """Turn links into text where the site lacks their page, as of a lesson left out."""
    for link in list(page.findall(nodes.reference)):
        if link.get("refid", "") not in {"", *page.ids}:
            link.replace_self(link.children)
