"""What an answer needs of its notebook: the statements that give its names their
values, and nothing else.

So a notebook is scored without its experiments. Which statements these are is read from
the code, without running any of it.
"""

from __future__ import annotations

import ast
import re
import symtable
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from IPython.core.inputtransformer2 import TransformerManager

CHECKED = re.compile(r"\b\w+\.(\w+)\.check\(")
# Cell magics that run the cell as it is; what others do with it, nobody can read here.
TRANSPARENT = re.compile(r"\s*%%(time|timeit|capture|prun)\b[^\n]*\n")
SCOPES_RUN_AT_ONCE = {"lambda", "listcomp", "setcomp", "dictcomp", "genexpr"}


@dataclass(frozen=True)
class Statement:
    """A statement on the top level of a cell, and what it does with names."""

    node: ast.stmt
    cell: int  # counted from 1, as all cells of the notebook
    binds: frozenset[str] = frozenset()
    replaces: bool = False  # what the names held before is forgotten for certain
    imports: bool = False
    alters: frozenset[str] = frozenset()  # `rows[0] = 1`, `rows.append(1)`
    needs_now: frozenset[str] = frozenset()
    needs_later: frozenset[str] = frozenset()  # when a function is called

    @property
    def imports_all(self) -> bool:
        node = self.node
        return isinstance(node, ast.ImportFrom) and node.names[0].name == "*"


@dataclass(frozen=True)
class Attempt:
    """An answer as it is handed to a check, with all statements that it needs."""

    expression: ast.expr
    statements: tuple[Statement, ...]
    seed: int | None = None  # as it is written in the call of the check


@dataclass
class Sheet:
    """The code of a notebook, cell by cell; cells that are no Python stand apart."""

    cells: Sequence[tuple[int, str]]
    sources: dict[int, str] = field(default_factory=dict)
    broken: dict[int, str] = field(default_factory=dict)

    @cached_property
    def statements(self) -> list[Statement]:
        found = []
        for number, source in self.cells:
            self.sources[number] = as_python(source)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # "\d" in a string, say
                    nodes = ast.parse(self.sources[number]).body
                    found += [read_statement(node, number) for node in nodes]
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                self.broken[number] = f"{type(error).__name__}: {error}"
        return found

    @cached_property
    def imported(self) -> set[str]:
        return {name for s in self.statements if s.imports for name in s.binds}

    def attempts(self, exercise: str) -> list[Attempt]:
        """Everything in the notebook that is given to the check of an exercise; if
        nothing is, then what is defined under its name."""
        found = []
        for position, statement in enumerate(self.statements):
            for call in ast.walk(statement.node):
                if _checks(call, exercise) and (given := _first_argument(call)):
                    found.append(self._attempt(given, position, _seed_of(call)))
        defined = any(
            exercise in s.binds and not s.imports and not isinstance(s.node, ast.For)
            for s in self.statements
        )
        if not found and defined:
            name = ast.parse(exercise, mode="eval").body
            found.append(self._attempt(name, len(self.statements)))
        return found

    def error_of(self, exercise: str) -> str | None:
        """Why the cell of an exercise is no Python."""
        _ = self.statements
        for number, error in self.broken.items():
            if exercise in CHECKED.findall(self.sources[number]):
                return f"{error} (cell {number})"
        return None

    def _attempt(
        self, expression: ast.expr, position: int, seed: int | None = None
    ) -> Attempt:
        wrapped = ast.copy_location(ast.Expr(expression), expression)
        ast.fix_missing_locations(wrapped)
        needs = read_statement(wrapped, 0)
        names = needs.needs_now | needs.needs_later
        chosen: set[int] = set()
        wanted = [(name, position) for name in names]
        seen = set(wanted)
        while wanted:
            name, before = wanted.pop()
            for place in self._places(name, before):
                if place in chosen:
                    continue
                chosen.add(place)
                statement = self.statements[place]
                more = {(n, place) for n in statement.needs_now}
                more |= {(n, position) for n in statement.needs_later}
                wanted += more - seen
                seen |= more
        statements = tuple(self.statements[i] for i in sorted(chosen))
        return Attempt(expression, statements, seed)

    def _places(self, name: str, before: int) -> list[int]:
        """Where a name gets the value that it has before a position."""
        found: list[int] = []
        for i, statement in enumerate(self.statements[:before]):
            if name in statement.binds and statement.replaces:
                found = [i]
            elif name in statement.binds or (
                name in statement.alters and name not in self.imported
            ):
                found.append(i)
        if any(name in self.statements[i].binds for i in found):
            return found
        # A helper that is defined further down: the reader ran that cell first.
        for i, statement in enumerate(self.statements[before:], start=before):
            if name in statement.binds:
                return [i]
        stars = [i for i, s in enumerate(self.statements[:before]) if s.imports_all]
        return found + stars


def as_python(source: str) -> str:
    """A cell without what only IPython understands."""
    source = TRANSPARENT.sub("\n", source, count=1)
    try:
        return TransformerManager().transform_cell(source)
    except Exception:  # it was written for people who type, not for any text at all
        return source


def read_statement(node: ast.stmt, cell: int) -> Statement:
    """Say which names a statement binds, alters and needs."""
    table = symtable.symtable(ast.unparse(node), "<cell>", "exec")
    symbols = table.get_symbols()
    now, later = set(), set()
    for scope in table.get_children():
        _collect_needs(scope, now, later)
    return Statement(
        node,
        cell,
        binds=frozenset(
            s.get_name() for s in symbols if s.is_assigned() or s.is_imported()
        ),
        replaces=_replaces(node),
        imports=isinstance(node, ast.Import | ast.ImportFrom),
        alters=frozenset(_altered(node)),
        needs_now=frozenset(now | {s.get_name() for s in symbols if s.is_referenced()}),
        needs_later=frozenset(later),
    )


def _collect_needs(scope: symtable.SymbolTable, now: set, later: set) -> None:
    at_once = scope.get_type() == "class" or scope.get_name() in SCOPES_RUN_AT_ONCE
    names = {s.get_name() for s in scope.get_symbols() if s.is_global()}
    (now if at_once else later).update(names)
    for inner in scope.get_children():
        # What is defined in a function is not called before the function is.
        _collect_needs(inner, now if at_once else later, later)


def _replaces(node: ast.stmt) -> bool:
    definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    if isinstance(node, definition | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.AnnAssign):
        return node.value is not None
    return isinstance(node, ast.Assign)


def _altered(node: ast.stmt) -> Iterator[str]:
    definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    if isinstance(node, definition):
        return
    if isinstance(node, ast.Expr):
        if isinstance(node.value, ast.Call) and isinstance(
            node.value.func, ast.Attribute
        ):
            yield from _root(node.value.func)
        return
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(
            part.ctx, ast.Load
        ):
            yield from _root(part)
        elif isinstance(part, ast.Expr) and part is not node:
            yield from _altered(part)


def _root(node: ast.AST) -> Iterable[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return [node.id] if isinstance(node, ast.Name) else []


def _checks(node: ast.AST, exercise: str) -> bool:
    """Whether it is `exercises.NAME.check(...)`, whatever the module is called."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "check"
        and isinstance(node.func.value, ast.Attribute)
        and node.func.value.attr == exercise
    )


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
