"""The one reader of Markdown that all of the classroom uses: code in color, formulas as
MathML, which browsers draw, and figures told in words."""

import html
import re

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_by_name
from pygments.util import ClassNotFound

TAG = re.compile(r"<[^>]+>")
HEADING = re.compile(r"^(#{1,4}) +(.*)$")
PROMPT = re.compile(r"^predict\(", re.MULTILINE)
COUNTS = re.compile(r"^show_progress\(exercises\)", re.MULTILINE)
SHORT = 40  # letters of a sentence that hardly tells what a figure shows
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


def code_as_html(source: str, language: str = "python") -> str:
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False)
    lines = highlight(source.rstrip(), lexer, HtmlFormatter(nowrap=True))
    return f'<pre class="code"><code>{lines.rstrip()}</code></pre>'


def formula_as_html(formula: str, *, block: bool = False) -> str:
    """Write a formula as MathML; a command that is not known is shown as it is."""
    return convert(formula, display="block" if block else "inline")


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
