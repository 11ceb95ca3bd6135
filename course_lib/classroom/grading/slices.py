"""Find the statements of a notebook that an answer needs, and no others.

They are those that give its names their values. We find them without running any code.
"""

import ast
import re
import symtable
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from IPython.core.inputtransformer2 import TransformerManager

CHECKED = re.compile(r"\b\w+\.(\w+)\.check\(")
# Cell magics that run the cell as it is. We cannot know what others do with a cell.
TRANSPARENT = re.compile(r"\s*%%(time|timeit|capture|prun)\b[^\n]*\n")
DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
IMPORT = ast.Import | ast.ImportFrom
SCOPES_RUN_AT_ONCE = {"lambda", "listcomp", "setcomp", "dictcomp", "genexpr"}


@dataclass(frozen=True)
class Statement:
    """A top-level statement of a cell, and what it does with names."""

    node: ast.stmt
    cell: int  # its number among all cells of the notebook, from 1
    binds: frozenset[str] = frozenset()
    replaces: bool = False  # the names certainly lose their earlier values
    imports: bool = False
    alters: frozenset[str] = frozenset()  # `rows[0] = 1`, `rows.append(1)`
    needs_now: frozenset[str] = frozenset()
    needs_later: frozenset[str] = frozenset()  # when a function is called
    imports_all: bool = False  # from a module, by `*`


@dataclass(frozen=True)
class Attempt:
    """An answer as it is passed to a check, with all statements that it needs."""

    expression: ast.expr
    statements: tuple[Statement, ...]
    sources: dict[int, str]  # of cells, by their numbers
    seed: int | None = None  # as it is written in the call of the check

    def code(self, name: str) -> str:
        """Return the definitions of the answer, under the name of its exercise, without
        comments and docstrings, and in one layout."""
        given = self.expression
        own = given.id if isinstance(given, ast.Name) else None
        parts = [
            statement.node
            for statement in self.statements
            if isinstance(statement.node, DEFINITION)
            or (own in statement.binds and not statement.imports)
        ]
        parts += [] if own else [ast.Expr(given)]
        tree = ast.parse("\n\n".join(map(ast.unparse, parts)))
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id == own:
                node.id = name
            elif isinstance(node, DEFINITION):
                node.name = name if node.name == own else node.name
                if ast.get_docstring(node) is not None:
                    node.body = node.body[1:] or [ast.Pass()]
        return ast.unparse(tree)


class Sheet:
    """The code of a notebook, cell by cell, with cells that are not Python apart."""

    def __init__(self, cells: Iterable[tuple[int, str]]):
        self.sources = {number: as_python(source) for number, source in cells}
        self.statements: list[Statement] = []
        self.broken: dict[int, str] = {}
        for number, source in self.sources.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # "\d" in a string, say
                    nodes = ast.parse(source).body
                    self.statements += [read_statement(node, number) for node in nodes]
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                words = getattr(error, "msg", error)  # without its own line number
                where = place(number, getattr(error, "lineno", None))
                self.broken[number] = f"{type(error).__name__}: {words}{where}"

    @cached_property
    def imported(self) -> set[str]:
        return {name for s in self.statements if s.imports for name in s.binds}

    def attempts(self, exercise: str) -> list[Attempt]:
        """Return everything that is passed to the check of an exercise, or else what is
        defined under its name."""
        found = [
            self._attempt(given, position, _seed_of(call))
            for position, statement in enumerate(self.statements)
            for call in ast.walk(statement.node)
            if _checks(call, exercise) and (given := _first_argument(call))
        ]
        defined = any(
            exercise in s.binds and not s.imports and not isinstance(s.node, ast.For)
            for s in self.statements
        )
        if not found and defined:
            name = ast.parse(exercise, mode="eval").body
            found.append(self._attempt(name, len(self.statements)))
        return found

    def error_of(self, exercise: str) -> str | None:
        for number, error in self.broken.items():
            if exercise in CHECKED.findall(self.sources[number]):
                return error
        return None

    def _attempt(
        self, expression: ast.expr, position: int, seed: int | None = None
    ) -> Attempt:
        needs = read_statement(ast.Expr(expression), 0)
        wanted = [(name, position) for name in needs.needs_now | needs.needs_later]
        seen, chosen = set(), set()
        while wanted:
            name, before = wanted.pop()
            if (name, before) in seen:
                continue
            seen.add((name, before))
            for place in self._places(name, before):
                chosen.add(place)
                statement = self.statements[place]
                wanted += [(n, place) for n in statement.needs_now]
                wanted += [(n, position) for n in statement.needs_later]
        statements = tuple(self.statements[i] for i in sorted(chosen))
        return Attempt(expression, statements, self.sources, seed)

    def _places(self, name: str, before: int) -> list[int]:
        """Find where a name gets the value that it has before a position."""
        found: list[int] = []
        for i, statement in enumerate(self.statements[:before]):
            alters = name in statement.alters and name not in self.imported
            if name in statement.binds and statement.replaces:
                found = [i]
            elif name in statement.binds or alters:
                found.append(i)
        if any(name in self.statements[i].binds for i in found):
            return found
        # A helper that is defined further down, in a cell that the reader ran first.
        for i, statement in enumerate(self.statements[before:], start=before):
            if name in statement.binds:
                return [i]
        stars = [i for i, s in enumerate(self.statements[:before]) if s.imports_all]
        return found + stars


def place(cell: int, line: int | None = None) -> str:
    """Say where something is. Like JupyterLab's status bar, we count all cells."""
    return f" ({f'line {line} of ' if line else ''}cell {cell}, prose included)"


def as_python(source: str) -> str:
    """Return a cell's code without the syntax that only IPython understands."""
    source = TRANSPARENT.sub("\n", source, count=1)
    try:
        return TransformerManager().transform_cell(source)
    except Exception:  # IPython's parser is meant for typed code, not for any text
        return source


def read_statement(node: ast.stmt, cell: int) -> Statement:
    """Say which names a statement binds, alters and needs."""
    table = symtable.symtable(ast.unparse(node), "<cell>", "exec")
    symbols = table.get_symbols()
    now, later = {s.get_name() for s in symbols if s.is_referenced()}, set()
    for scope in table.get_children():
        _collect_needs(scope, now, later)
    binds = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
    return Statement(
        node,
        cell,
        binds=frozenset(binds),
        replaces=isinstance(node, ast.Assign | DEFINITION | IMPORT)
        or (isinstance(node, ast.AnnAssign) and node.value is not None),
        imports=isinstance(node, IMPORT),
        imports_all=isinstance(node, ast.ImportFrom) and node.names[0].name == "*",
        alters=frozenset(_altered(node)),
        needs_now=frozenset(now),
        needs_later=frozenset(later),
    )


def _collect_needs(scope: symtable.SymbolTable, now: set, later: set) -> None:
    at_once = scope.get_type() == "class" or scope.get_name() in SCOPES_RUN_AT_ONCE
    names = {s.get_name() for s in scope.get_symbols() if s.is_global()}
    (now if at_once else later).update(names)
    for inner in scope.get_children():
        # A function that is defined in another one is not called before that one is.
        _collect_needs(inner, now if at_once else later, later)


def _altered(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, DEFINITION):
        return
    for part in ast.walk(node):
        match part:
            case ast.Expr(ast.Call(ast.Attribute() as changed)):
                yield from _root(changed)
            case ast.Attribute(ctx=use) | ast.Subscript(ctx=use):
                if not isinstance(use, ast.Load):
                    yield from _root(part)


def _root(node: ast.AST) -> Iterable[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return [node.id] if isinstance(node, ast.Name) else []


def _checks(node: ast.AST, exercise: str) -> bool:
    """Say whether it is `exercises.NAME.check(...)`, under any name of the module."""
    match node:
        case ast.Call(ast.Attribute(ast.Attribute(attr=name), attr="check")):
            return name == exercise
    return False


def _first_argument(call: ast.Call) -> ast.expr | None:
    named = [keyword.value for keyword in call.keywords if keyword.arg != "seed"]
    given = [*call.args, *named]
    return given[0] if given and not isinstance(given[0], ast.Starred) else None


def _seed_of(call: ast.Call) -> int | None:
    for keyword in call.keywords:
        value = getattr(keyword.value, "value", None)
        if keyword.arg == "seed" and type(value) is int and value >= 0:
            return value
    return None
