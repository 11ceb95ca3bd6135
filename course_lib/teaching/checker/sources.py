"""Read how a function is written."""

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable


def is_stub(function: object) -> bool:
    """Say whether a function, as it is written, does nothing; a `lambda`, or a function
    whose source is not known, does something."""
    if not inspect.isfunction(function):
        return False
    try:
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, SyntaxError):
        return False
    plain = isinstance(definition, ast.FunctionDef) and not definition.decorator_list
    return plain and all(
        isinstance(node, ast.Pass)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or ast.unparse(node) in ("return", "return None", "return ...")
        for node in definition.body
    )


def source_without_decorators(function: Callable) -> str:
    lines = textwrap.dedent(inspect.getsource(function)).rstrip().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("def "))
    return "\n".join(lines[first:])


def names_from_elsewhere(function: Callable) -> list[str]:
    """Return the global names that a function uses, except Python's built-in names."""
    # `inspect.getclosurevars` would not look into inner functions.
    tree = ast.parse(source_without_decorators(function))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    known = function.__globals__
    return sorted(n for n in used if n in known and not hasattr(builtins, n))
