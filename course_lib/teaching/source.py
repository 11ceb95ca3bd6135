"""Show the source of what a notebook imports, so that nothing is copied into it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable

from IPython.display import Markdown, display

Shown = Callable | type


def show_source(*things: Shown, full: bool = False) -> None:
    """Display where functions, classes or methods live, and their code.

    Args:
        things: what to show.
        full: with the whole docstring instead of its first paragraph.
    """
    for thing in things:
        if not callable(thing):
            raise TypeError(
                f"things must be functions or classes, got {type(thing).__name__}"
            )
        place = inspect.getmodule(thing).__name__.replace(".", "/") + ".py"
        display(Markdown(f"`{place}`\n\n```python\n{source_of(thing, full=full)}\n```"))


def source_of(thing: Shown, *, full: bool = False) -> str:
    """Return the code of `thing`, not indented; without `full`, docstrings keep only
    their first paragraph."""
    code = textwrap.dedent(inspect.getsource(thing)).rstrip()
    return code if full else _shorten_docstrings(code)


def _shorten_docstrings(code: str) -> str:
    lines = code.splitlines()
    # From the bottom up, so that the line numbers above stay true.
    for node in sorted(
        ast.walk(ast.parse(code)), key=lambda node: -getattr(node, "lineno", 0)
    ):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        if not ast.get_docstring(node):
            continue
        docstring = node.body[0]
        first, last = docstring.lineno - 1, docstring.end_lineno - 1
        blank = [i for i in range(first, last) if not lines[i].strip()]
        if blank:
            summary_end = blank[0] - 1
            quotes = lines[last].rstrip()[-3:]
            lines[summary_end : last + 1] = [lines[summary_end].rstrip() + quotes]
    return "\n".join(lines)
