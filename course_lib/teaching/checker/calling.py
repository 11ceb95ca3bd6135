"""Call an answer on copies of its arguments, silently, and record what it did."""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import itertools
import linecache
import random
import traceback
from collections.abc import Callable
from dataclasses import dataclass

import torch

from course_lib.teaching.checker.comparing import same

ITEMS_TAKEN_FROM_AN_ITERATOR = 10_000

Case = tuple


@dataclass(frozen=True)
class Outcome:
    """The result of one call: the returned value, or the exception that it raised."""

    value: object = None
    error: BaseException | None = None
    changed_arguments: bool = False
    printed: str = ""
    place: str = ""  # the line of the answer that raised

    def same_as(self, other: Outcome) -> bool:
        if self.changed_arguments != other.changed_arguments:
            return False
        if type(self.error) is not type(other.error):
            return False
        return self.error is not None or same(self.value, other.value)


def run(function: Callable, case: Case) -> Outcome:
    """Call `function` on a copy of the arguments, and see whether it changes them."""
    arguments = copy.deepcopy(case)
    printed = io.StringIO()
    try:
        # Hundreds of calls would print the verdict out of sight.
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            value = function(*arguments)
            if hasattr(value, "__next__"):
                value = list(itertools.islice(value, ITEMS_TAKEN_FROM_AN_ITERATOR))
    except (Exception, SystemExit) as error:
        return Outcome(
            error=error, printed=printed.getvalue(), place=_place(function, error)
        )
    # No copy of a model equals its original, and drawing numbers is not a mistake.
    pairs = zip(arguments, case, strict=True)
    changed = not all(a is b or _has_state(b) or same(a, b) for a, b in pairs)
    return Outcome(value, changed_arguments=changed, printed=printed.getvalue())


def _has_state(value: object) -> bool:
    return callable(value) or isinstance(value, torch.Generator | random.Random)


def _place(function: Callable, error: BaseException) -> str:
    """The last line of the answer's own code on the way to the error."""
    try:
        code = inspect.unwrap(function).__code__
        first, last = code.co_firstlineno, max(n or 0 for *_, n in code.co_lines())
    except (AttributeError, ValueError):
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename == code.co_filename]
    own = [f for f in own if first <= f.lineno <= last] or own
    if not own:
        return ""
    line = linecache.getline(own[-1].filename, own[-1].lineno).strip()
    number = own[-1].lineno - first + 1
    return f"line {number}: {line}" if line else f"line {number}"
