"""What Sphinx is told about the site of the course, and what it is taught for it."""

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

import course_lib
from course_lib.classroom.book_files.asked import write_guess_words
from course_lib.classroom.book_files.lesson_pages import prepare
from course_lib.classroom.book_files.pages import write_redirects
from course_lib.classroom.book_files.searching import excerpt_of, write_excerpts
from course_lib.classroom.rendering import formula_as_html

project = html_title = "Feeding Language Models"
release = course_lib.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.githubpages",
]
smartquotes = False  # --force is no dash

# The lessons, as they are committed.
nb_execution_mode = "off"
nb_render_markdown_format = "commonmark"
nb_code_prompt_show = "Show the {type}"
nb_code_prompt_hide = "Hide the {type}"
nb_ipywidgets_js = {}  # they would come from elsewhere
myst_enable_extensions = ["colon_fence", "dollarmath", "html_image"]
myst_heading_anchors = 4
suppress_warnings = ["myst.xref_missing"]  # see _leave_words

# By page, what the search may quote.
EXCERPTS: dict[str, str] = {}

# The look.
BRAND = ("color-brand-primary", "color-brand-content")
html_theme = "furo"
html_theme_options = {
    "light_css_variables": dict.fromkeys(BRAND, "#0b5cad"),
    "dark_css_variables": dict.fromkeys(BRAND, "#7cc0ff"),
    "top_of_page_buttons": [],
    "navigation_with_keys": True,
}
pygments_dark_style = "github-dark"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_js_files = [
    *("guess_words.js", "judging.js", "asking.js", "record_page.js"),
    "questions.js",
]
html_favicon = "static/favicon.svg"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_domain_indices = False


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (_draw, None), (_draw_block, None))
    app.connect("source-read", _read_source)
    app.connect("doctree-resolved", _leave_words)
    app.connect("html-page-context", _complete)
    app.connect("build-finished", _lead_on)


def _read_source(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = prepare(Path(app.env.doc2path(page)), Path(app.srcdir), source[0])


def _complete(
    app: Sphinx, page: str, template: str, context: dict, page_tree: object
) -> None:
    """Give a page the script that others need from its head on, and the search what it
    quotes."""
    record = context["pathto"]("_static/record.js", resource=True)
    head = context.get("metatags", "")
    context["metatags"] = f'{head}<script src="{record}"></script>'
    if page in app.env.found_docs:
        EXCERPTS[f"{page}.html"] = excerpt_of(context["body"])
    elif page == "search":
        for script in ("excerpts.js", "search.js"):
            app.add_js_file(script)


def _lead_on(app: Sphinx, error: Exception | None) -> None:
    if error is None:
        write_redirects(Path(app.outdir))
        write_excerpts(Path(app.outdir, "_static", "excerpts.js"), EXCERPTS)
        write_guess_words(Path(app.outdir, "_static", "guess_words.js"))


def _leave_words(app: Sphinx, page: nodes.document, name: str) -> None:
    """Turn links into text where the site lacks their page, as of a lesson left out."""
    for link in list(page.findall(nodes.reference)):
        if link.get("refid", "") not in {"", *page.ids}:
            link.replace_self(link.children)


def _draw(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append(formula_as_html(node.astext()))
    raise nodes.SkipNode


def _draw_block(self: HTML5Translator, node: nodes.Element) -> None:
    drawn = formula_as_html(node.astext(), block=True)
    self.body.append(f'<div class="math">{drawn}</div>')
    raise nodes.SkipNode
