"""Notebook cells as HTML that needs nothing else: code in color, formulas as MathML,
which browsers draw, pictures inside. And the one reader of Markdown that all of the
classroom uses."""

import html
import re
from collections import Counter

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_by_name
from pygments.util import ClassNotFound

TAG = re.compile(r"<[^>]+>")
ESCAPE_CODES = re.compile(r"\x1b\[[0-9;]*m")
READER = MarkdownIt(
    "commonmark", {"highlight": lambda code, language, _: code_as_html(code, language)}
)
READER.enable("table").use(
    dollarmath_plugin,
    renderer=lambda formula, how: formula_as_html(formula, block=how["display_mode"]),
)


def as_html(markdown: str) -> str:
    return READER.render(markdown).strip()


def as_words(markdown: str) -> str:
    """Markdown without its marks, for a listener."""
    return " ".join(html.unescape(TAG.sub("", as_html(markdown))).split())


def split_blocks(markdown: str) -> list[str]:
    """Split Markdown into its paragraphs, headings, lists, tables, blocks of code."""
    lines = markdown.splitlines()
    parts = [part for part in READER.parse(markdown) if part.map and not part.level]
    return ["\n".join(lines[slice(*part.map)]).rstrip() for part in parts] or [""]


def count_rows(markdown: str, letters: int) -> int:
    """Count the rows that Markdown takes on a page where so many letters fit in one."""
    widths = Counter()  # by line: the cells of a table's row stand in the same one
    for part in READER.parse(markdown):
        is_text = part.type == "inline"
        lines = [part.content] if is_text else part.content.splitlines()
        for number, line in enumerate(lines, start=part.map[0] if part.map else 0):
            widths[number] += len(line)
    return sum(1 + width // letters for width in widths.values())


def code_as_html(source: str, language: str = "python") -> str:
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False)
    lines = highlight(source.rstrip(), lexer, HtmlFormatter(nowrap=True))
    return f'<pre class="code"><code>{lines.rstrip()}</code></pre>'


def code_styles() -> str:
    return HtmlFormatter(style="friendly").get_style_defs(".code")


def formula_as_html(formula: str, *, block: bool = False) -> str:
    """Write a formula as MathML; a command that is not known is shown as it is."""
    return convert(formula, display="block" if block else "inline")


def output_as_html(output: NotebookNode, *, alt: str = "") -> str:
    """Render one output of a cell, as JupyterLab would choose it."""
    if output.output_type == "stream":
        return _printed(output.text)
    data = output.get("data", {})
    if picture := data.get("image/png"):
        shown = output.get("metadata", {}).get("image/png", {})
        size = "".join(f' {k}="{shown[k]}"' for k in ("width", "height") if k in shown)
        source = f"data:image/png;base64,{''.join(picture.split())}"
        return f'<img src="{source}"{size} alt="{html.escape(alt)}">'
    if text := data.get("text/html"):
        return f'<div class="html">{text}</div>'
    if text := data.get("text/markdown"):
        return as_html(text)
    return _printed(data.get("text/plain", ""))


def _printed(text: str) -> str:
    text = html.escape(ESCAPE_CODES.sub("", text).rstrip(), quote=False)
    return f'<pre class="printed">{text}</pre>'
