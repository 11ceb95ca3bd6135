"""How calls and results are written."""

import inspect
from collections.abc import Callable

import numpy as np
import torch

from course_lib.teaching.checker.calling import Case, Outcome


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
    if isinstance(value, torch.Tensor | np.ndarray):
        array = (
            value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value
        )
        return repr((np.round(array, 4) if array.dtype.kind == "f" else array).tolist())
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
    return repr(value)  # textwrap.shorten would merge several spaces into one
