"""Call an answer on copies of its arguments, silently, and write what came of it."""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import itertools
import linecache
import math
import random
import traceback
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from course_lib.teaching.checker.comparing import same

ITEMS_TAKEN_FROM_AN_ITERATOR = 10_000

Case = tuple  # the arguments of a call


@dataclass(frozen=True)
class Outcome:
    """The result of one call: the returned value, or the exception that it raised."""

    value: object = None
    error: BaseException | None = None
    changed_arguments: bool = False
    printed: str = ""
    place: str = ""  # the line of the answer that raised

    def same_as(self, other: Outcome, *, but_arguments: bool = False) -> bool:
        if not but_arguments and self.changed_arguments != other.changed_arguments:
            return False
        if type(self.error) is not type(other.error):
            return False
        return self.error is not None or same(self.value, other.value)


def run(function: Callable, case: Case, view: Callable | None = None) -> Outcome:
    """Call `function` on a copy of the arguments; or let `view` call it, where many
    results are right, and return what is compared."""
    arguments = copy.deepcopy(case)
    printed = io.StringIO()
    try:
        # Hundreds of calls would print the verdict out of sight.
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            value = view(function, *arguments) if view else function(*arguments)
            if hasattr(value, "__next__"):
                value = list(itertools.islice(value, ITEMS_TAKEN_FROM_AN_ITERATOR))
    except (Exception, SystemExit) as error:
        place = _place(function, error)
        return Outcome(error=error, printed=printed.getvalue(), place=place)
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
    except (AttributeError, ValueError):
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == code.co_filename]
    if not own:
        return ""
    line = linecache.getline(own[-1].filename, own[-1].lineno).strip()
    return f"line {own[-1].lineno - code.co_firstlineno + 1}: {line}"


def size_of(case: object) -> float:
    """Measure a call: a number by its size, and a collection by all that it holds."""
    if isinstance(case, torch.Tensor | np.ndarray):
        return float(np.asarray(case).size)
    if isinstance(case, list | tuple):
        return len(case) + sum(map(size_of, case))
    if isinstance(case, str):
        return float(len(case))
    if isinstance(case, int | float) and math.isfinite(case):
        return float(abs(case))
    return 0.0


def format_call(function: Callable, case: Case) -> str:
    names = inspect.signature(function).parameters
    arguments = (f"{n}={show(v)}" for n, v in zip(names, case, strict=False))
    lines = [f"{function.__name__}({', '.join(arguments)})"]
    # A reader cannot see a function that the course passes: say what it does.
    functions = (v for v in case if inspect.isfunction(v) and v.__doc__)
    lines += [f"  # {v.__name__}: {v.__doc__}" for v in functions]
    return "\n".join(lines)


def format_outcome(outcome: Outcome) -> str:
    if outcome.error is not None:
        return f"{type(outcome.error).__name__}: {outcome.error}"
    changed = ", and the arguments changed" if outcome.changed_arguments else ""
    return show(outcome.value) + changed


def show(value: object) -> str:
    """Write a value briefly, so that it can be compared. This never raises."""
    try:
        text = _written(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 200 else f"{text[:195]} ..."


def _written(value: object) -> str:
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.ndarray):
        return repr((np.round(value, 4) if value.dtype.kind == "f" else value).tolist())
    if isinstance(value, np.number | np.bool_):
        value = value.item()  # np.int64(1) is as good as 1: show it so
    if isinstance(value, float):
        return repr(round(value, 6))
    if isinstance(value, tuple):
        comma = "," if len(value) == 1 else ""
        return f"({', '.join(map(_written, value))}{comma})"
    if type(value) is list:
        return f"[{', '.join(map(_written, value))}]"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return repr(value)
