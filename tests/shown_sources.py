"""Measures what readers see through `show_source(...)` in the lessons: lines of code, and how many of them only guard.

A line of code is one that is neither blank, nor a comment, nor in a docstring. It guards if it belongs to

- `@checked`, or a `raise`, with the `if`, `for` or `except` around it that does nothing else;
- a call of a check whose result nobody uses, or that returns the arguments themselves, checked;
- an assignment to a name that only such lines read, as the words of an error.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from course_lib.teaching.source import source_of

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("[0-9][0-9]_*.ipynb"))
CHECK = re.compile(r"_*(check|checked|refuse|require|validate)(_|$)|as_(ids|integers|numbers|places)$")


@dataclass(frozen=True)
class Shown:
    """What one object looks like to readers."""

    lesson: str
    name: str
    code: int  # lines of code
    guards: int  # those among them that only refuse something
    uncommented: int  # the longest run of lines of code without a comment or a docstring


def shown_sources() -> Iterator[Shown]:
    """Measure every object that a notebook shows, each once for each lesson."""
    for notebook in NOTEBOOKS:
        seen = set()
        for name, thing in shown_objects(notebook):
            if name not in seen:
                seen.add(name)
                yield measured(notebook.stem[:2], name, source_of(thing))


def shown_objects(notebook: Path) -> Iterator[tuple[str, object]]:
    """Evaluate what stands in calls of `show_source`, after the imports above it and names given to what they bring."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    names: dict[str, object] = {}
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code" or source.lstrip().startswith("%%"):
            continue
        lines = ["pass" if line.startswith(("%", "!")) else line for line in source.splitlines()]
        tree = ast.parse("\n".join(lines))
        for node in tree.body:
            renames = isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute)
            if isinstance(node, ast.Import | ast.ImportFrom):
                exec(ast.unparse(node), names)
            elif renames:  # of a part of a module; what a cell has computed isn't there
                with contextlib.suppress(NameError, AttributeError):
                    exec(ast.unparse(node), names)
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "show_source":
                for argument in call.args:
                    text = ast.unparse(argument)
                    yield text, eval(text, names)


def measured(lesson: str, name: str, source: str) -> Shown:
    tree = ast.parse(source)
    words, signatures = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            signatures |= set(range(node.lineno, node.body[0].lineno))
            if ast.get_docstring(node) is not None:
                words |= lines_of(node.body[0])
    numbered = list(enumerate(source.splitlines(), 1))
    words |= {number for number, line in numbered if line.strip().startswith("#")}
    code = {number for number, line in numbered if line.strip()} - words
    commented = words | signatures | {number for number, line in numbered if "  # " in line}
    run = longest = 0
    for number, _ in numbered:
        run = 0 if number in commented else run + (number in code)
        longest = max(longest, run)
    return Shown(lesson, name, len(code), len(guards_in(tree) & code), longest)


def guards_in(tree: ast.AST) -> set[int]:
    """Return the numbers of the lines that guard."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                for decorator in node.decorator_list:
                    if ast.unparse(decorator).startswith("checked"):
                        lines |= lines_of(decorator)
            case ast.Raise() | ast.Assert():
                lines |= lines_of(node)
            case ast.If() if only_raises(node.body):
                lines |= set(range(node.lineno, node.body[-1].end_lineno + 1))
            case ast.If() if node.orelse and only_raises(node.orelse):
                lines |= set(range(node.body[-1].end_lineno + 1, node.end_lineno + 1))
            case ast.Try() if node.handlers and all(only_raises(handler.body) for handler in node.handlers):
                lines.add(node.lineno)
            case ast.For() | ast.ExceptHandler() if only_raises(node.body):
                lines |= lines_of(node)
            case ast.Expr(value=ast.Call() as call) if is_check(call):
                lines |= lines_of(node)
            case ast.Assign(value=ast.Call() as call) if is_check(call) and returns_its_arguments(node, call):
                lines |= lines_of(node)
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                reads = [n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
                reads = [n.lineno for n in reads if n.id == name]
                if reads and set(reads) <= lines:
                    lines |= lines_of(node)
    return lines


def only_raises(body: list[ast.stmt]) -> bool:
    """Whether a block does nothing but word an error and raise it."""
    *before, last = body
    return isinstance(last, ast.Raise) and all(isinstance(node, ast.Assign) for node in before)


def is_check(call: ast.Call) -> bool:
    return CHECK.match(ast.unparse(call.func).rpartition(".")[2]) is not None


def returns_its_arguments(node: ast.Assign, call: ast.Call) -> bool:
    """Whether the same names come back, or the check is told the name of an argument."""
    got = {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    given = {ast.unparse(argument) for argument in call.args}
    return got <= given or isinstance(call.args[0], ast.Constant)


def lines_of(node: ast.AST) -> set[int]:
    return set(range(node.lineno, node.end_lineno + 1))
