"""Show the source of what a notebook imports, so that nothing is copied into it."""

import ast
import html
import inspect
import textwrap
from collections.abc import Callable

from IPython.display import display

from course_lib.foundation import checked

Shown = Callable | type
DEFINITIONS = ast.FunctionDef | ast.ClassDef
LONGEST_BLOCK = 50  # lines that are shown as they are: about what a screen holds


def show_source(*things: Shown, full: bool = False, folded: bool = False) -> None:
    """Display where functions, classes or methods live, and their code.

    A block that would fill more than a screen is folded away below its signature, and
    with `folded` every block is; `full` shows whole docstrings.
    """
    for thing in things:
        code = source_of(thing, full=full)
        place = _place_of(thing)
        longest = 0 if folded else LONGEST_BLOCK
        forms = {"text/markdown": _as_markdown(code, place, longest)}
        display(forms | {"text/plain": f"{place}\n\n{code}"}, raw=True)


@checked
def source_of(thing: Shown, *, full: bool = False) -> str:
    """Return the code of `thing`, not indented.

    Without `full`, docstrings keep their first paragraph only.
    """
    if not callable(thing):
        kind = type(thing).__name__
        raise TypeError(f"things must be functions or classes, got {kind}")
    try:
        code = textwrap.dedent(inspect.getsource(thing)).rstrip()
    except (OSError, TypeError):
        name = getattr(thing, "__name__", type(thing).__name__)
        raise TypeError(f"things must be written in Python, got {name}") from None
    if full:
        return code
    return _shorten_docstrings(code)


def _place_of(thing: Shown) -> str:
    """Name the file of a thing as a path in the course: `course_lib/bpe.py`."""
    module = inspect.getmodule(thing)
    ending = "/__init__.py" if hasattr(module, "__path__") else ".py"
    return module.__name__.replace(".", "/") + ending


def _as_markdown(code: str, place: str, longest: int) -> str:
    # JupyterLab breaks long lines of code inside of words. A block that may not get
    # narrower than its longest line, inside of one that scrolls, keeps them whole.
    lines = code.splitlines()
    width = 0.62 * max(map(len, lines)) + 1
    block = (
        f'<div style="overflow-x: auto"><div style="min-width: {width:.0f}em">\n\n'
        f"```python\n{code}\n```\n\n</div></div>"
    )
    if len(lines) <= longest:
        return f"`{place}`\n\n{block}"
    head = (
        f"<code>{place}</code> <code>{html.escape(_signature(code))}</code> "
        f"({len(lines)} lines, click to unfold)"
    )
    return f"<details><summary>{head}</summary>\n\n{block}\n\n</details>"


def _signature(code: str) -> str:
    """Name a function with its arguments, or a class with its bases, in one line."""
    node = ast.parse(code).body[0]
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, node.bases))
        return f"class {node.name}({bases})" if bases else f"class {node.name}"
    for part in ast.walk(node.args):
        if isinstance(part, ast.arg):
            part.annotation = None
    arguments = ast.unparse(node.args)
    return f"def {node.name}({textwrap.shorten(arguments, 60, placeholder=' ...')})"


def _shorten_docstrings(code: str) -> str:
    lines = code.splitlines()
    nodes = [n for n in ast.walk(ast.parse(code)) if isinstance(n, DEFINITIONS)]
    docstrings = [node.body[0] for node in nodes if ast.get_docstring(node)]
    # From the bottom up, so that the line numbers above stay true.
    for docstring in sorted(docstrings, key=lambda node: -node.lineno):
        first, last = docstring.lineno - 1, docstring.end_lineno - 1
        blank = [i for i in range(first, last) if not lines[i].strip()]
        if blank:
            summary_end = blank[0] - 1
            quotes = lines[last].rstrip()[-3:]
            lines[summary_end : last + 1] = [lines[summary_end].rstrip() + quotes]
    return "\n".join(lines)
