"""Tables in tests: one test looks at all of its rows, and names each one that fails. And code as a cell defines it."""

from __future__ import annotations

import linecache
import textwrap
import traceback
from collections.abc import Callable, Iterable

import pytest

FAILURES = (Exception, SystemExit, pytest.fail.Exception)


def check_rows(check: Callable[..., None], rows: Iterable[tuple]) -> None:
    """Call `check` with what each row holds behind its name; fail at the end, if any row did, with all of them.

    A test a row would say the same, but pytest spends more on a test than most rows need.
    """
    failures: dict[str, str] = {}
    count = 0
    for name, *row in rows:
        count += 1
        try:
            check(*row)
        except FAILURES as error:
            failures[f"{name} (row {count})"] = told(error)
    if failures:
        each = "\n".join(f"{name}\n{textwrap.indent(text, '    ')}" for name, text in failures.items())
        pytest.fail(f"{len(failures)} of {count} rows: {', '.join(failures)}\n\n{each}", pytrace=False)


def define(source: str, name: str, **known: object) -> object:
    """What a cell defines under a name. Its source is there for `inspect`, as IPython sees to it."""
    file = f"<cell that defines {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), known)
    return known[name]


def told(error: BaseException) -> str:
    """What an assertion says; of any other error, the way there as well."""
    if isinstance(error, AssertionError | pytest.fail.Exception):
        place = traceback.extract_tb(error.__traceback__)[1]  # in `check`: the first is here
        return f"{error}\nat {place.name}, line {place.lineno}: {place.line}"
    error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
    return "".join(traceback.format_exception(error)).rstrip()
