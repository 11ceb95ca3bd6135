"""What Sphinx does differently for the course: formulas as MathML, which browsers draw
without help, and source pages that need no import."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

from course_lib.teaching.classroom.book_files.reference import Reference, code_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)
# Commands that the translator knows by another name only.
_SPELLINGS = [
    (r"\\dots\b", r"\\ldots"),
    (r"\\([bB]igg?)(?=\\l|[(\[])", r"\\\1l"),
    (r"\\([bB]igg?)(?=\\r|[)\]])", r"\\\1r"),
]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("course_lessons", [], "env")
    app.add_html_math_renderer("mathml", (_draw, None), (_draw_block, None))
    app.connect("builder-inited", _read_reference)
    app.connect("viewcode-find-source", lambda _, module: code_of(module))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def as_mathml(formula: str, *, block: bool) -> str:
    """Translate LaTeX.

    Raises:
        MathError: it holds a command that is not known.
    """
    for spelling, known in _SPELLINGS:
        formula = re.sub(spelling, known, formula)
    drawn = latex2mathml.tex2mathml(formula, as_block=block)
    return re.sub(r"\n\s*", "", drawn)


def _draw(self: HTML5Translator, node: nodes.Element, *, block: bool = False) -> None:
    try:
        drawn = as_mathml(node.astext(), block=block)
    except MathError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        drawn = f"<code>{self.encode(node.astext())}</code>"
    self.body.append(f'<div class="math">{drawn}</div>' if block else drawn)
    raise nodes.SkipNode


def _draw_block(self: HTML5Translator, node: nodes.Element) -> None:
    _draw(self, node, block=True)


def _read_reference(app: Sphinx) -> None:
    reference = Reference(app.config.course_lessons)
    app.connect(
        "viewcode-follow-imported",
        lambda _, room, name: reference.source_of(room, name),
    )
