"""Notebook cells as HTML that needs nothing else: code in color, formulas drawn,
pictures inside."""

from __future__ import annotations

import html
import io
import re
from base64 import b64encode
from functools import cache

import mistune
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

FORMULA_SIZE = 20  # points; in the page a formula is as large as the text around it
DELIMITER = re.compile(r"\\[Bb]igg?[lr]?\s*(\\?[\[({|\])}]|\\[lr](?:floor|ceil|vert))")
CLOSING = {")", "]", r"\}", r"\rfloor", r"\rceil", r"\rvert"}
TAG = re.compile(r"<[^>]+>")
ESCAPE_CODES = re.compile(r"\x1b\[[0-9;]*m")


def as_html(markdown: str) -> str:
    """Render Markdown."""
    return _renderer()(markdown).strip()


def as_words(markdown: str) -> str:
    """Markdown without its marks, for whoever hears it read."""
    return " ".join(html.unescape(TAG.sub("", as_html(markdown))).split())


def code_as_html(source: str, language: str = "python") -> str:
    """Color the source of a program."""
    try:
        lexer = get_lexer_by_name(language or "text", stripnl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text", stripnl=False)
    lines = highlight(source.rstrip(), lexer, HtmlFormatter(nowrap=True))
    return f'<pre class="code"><code>{lines.rstrip()}</code></pre>'


def code_styles() -> str:
    """The style sheet for colored code."""
    return HtmlFormatter(style="friendly").get_style_defs(".code")


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


def formula_as_html(formula: str) -> str:
    """Draw a formula; what cannot be drawn is shown as it was written."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser

    font = FontProperties(size=FORMULA_SIZE, math_fontfamily="stix")
    text = f"${_for_mathtext(formula)}$"
    try:
        width, height, depth, *_ = MathTextParser("path").parse(text, 72, font)
    except ValueError:
        return f"<code>{html.escape(formula)}</code>"
    figure = Figure(figsize=((width + 2) / 72, (height + 2) / 72))
    figure.text(1 / (width + 2), (depth + 1) / (height + 2), text, fontproperties=font)
    drawn = io.BytesIO()
    with rc_context({"svg.hashsalt": "slides", "svg.fonttype": "path"}):
        figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
    em = (height + 2) / FORMULA_SIZE
    style = f"height: {em:.2f}em; vertical-align: {-depth / FORMULA_SIZE:.2f}em"
    encoded = b64encode(drawn.getvalue()).decode()
    source = f"data:image/svg+xml;base64,{encoded}"
    return f'<img src="{source}" alt="{html.escape(formula.strip())}" style="{style}">'


def _for_mathtext(formula: str) -> str:
    r"""Matplotlib draws most of TeX; here are the few things that it writes apart."""

    def sized(match: re.Match) -> str:
        side = "right" if match[1] in CLOSING else "left"
        return rf"\{side}{match[1]}"

    formula = DELIMITER.sub(sized, " ".join(formula.split()))
    return re.sub(r"\\(le|ge|ne)(?![a-z])", r"\\\1q", formula).replace(
        r"\neqq", r"\neq"
    )


class _Renderer(mistune.HTMLRenderer):
    def block_code(self, code: str, info: str | None = None) -> str:
        return code_as_html(code, (info or "").strip().split(" ")[0])

    def inline_math(self, text: str) -> str:
        return formula_as_html(text)

    def block_math(self, text: str) -> str:
        return f'<p class="formula">{formula_as_html(text)}</p>\n'


@cache
def _renderer() -> mistune.Markdown:
    renderer = _Renderer(escape=False)
    return mistune.Markdown(renderer, plugins=[_formulas, *map(_plugin, ("table",))])


def _plugin(name: str):
    return mistune.plugins.import_plugin(name)


def _formulas(markdown: mistune.Markdown) -> None:
    """Mistune's own plugin, with what draws the formulas left to the renderer."""
    from mistune.plugins.math import math

    drawn = {
        name: getattr(markdown.renderer, name) for name in ("inline_math", "block_math")
    }
    math(markdown)
    for name, method in drawn.items():
        markdown.renderer.register(name, lambda _, text, method=method: method(text))
