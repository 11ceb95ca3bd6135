"""Decide whether two results are the same, and say how all wrong ones differ."""

import contextlib
import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from course_lib.foundation import holds_a_flag

PLAIN = (bool, int, str, bytes, type(None))  # types that `==` compares exactly


def same(expected: object, got: object) -> bool:
    """Say whether two results are equal: lists, arrays and tensors by shape and values.

    Floats are equal up to rounding. What cannot be compared is not the same.
    """
    if type(expected) is type(got) in PLAIN:
        return expected == got
    try:
        return _same(expected, got)
    except Exception:
        return False


def _same(expected: object, got: object) -> bool:
    expected, got = _unwrapped(expected), _unwrapped(got)
    if isinstance(expected, bool):
        return isinstance(got, bool) and expected == got
    if isinstance(expected, str | bytes):
        return isinstance(got, type(expected)) and expected == got  # `np.str_`, too
    if expected is None or callable(expected):
        return type(expected) is type(got) and expected == got
    if isinstance(expected, tuple) and not all(
        isinstance(entry, int | float) for entry in expected
    ):
        return _same_items(expected, got)
    if isinstance(expected, dict):
        alike = isinstance(got, dict) and expected.keys() == got.keys()
        return alike and all(same(expected[key], got[key]) for key in got)
    if is_sequence(expected) != is_sequence(got) or got is None or isinstance(got, str):
        return False
    try:
        wanted, actual = as_array(expected), as_array(got)
    except (TypeError, ValueError):
        if is_sequence(expected):
            return _same_items(expected, got)
        return type(expected) is type(got) and bool(expected == got)
    if actual.dtype == bool != wanted.dtype:
        return False  # though a mask of flags may come as zeros and ones
    if wanted.dtype.kind in "iu":
        # 3.0 is not a count, and 100,001 windows are not 100,000.
        return actual.dtype.kind in "iu" and np.array_equal(wanted, actual)
    # Infinity equals infinity, and NaN equals NaN.
    return wanted.shape == actual.shape and np.allclose(
        wanted, actual, rtol=1e-5, atol=1e-6, equal_nan=True
    )


def _same_items(expected: object, got: object) -> bool:
    alike = is_sequence(got) and len(got) == len(expected)
    return alike and all(map(same, expected, got))


def _unwrapped(value: object) -> object:
    """Take a single truth value out of an array or tensor."""
    is_flag = str(getattr(value, "dtype", "")) in ("bool", "torch.bool")
    return bool(value) if is_flag and value.ndim == 0 else value


def is_sequence(value: object) -> bool:
    if isinstance(value, np.ndarray | torch.Tensor):
        return value.ndim > 0
    return isinstance(value, list | tuple | range)


def as_array(value: object) -> np.ndarray:
    """Return numbers, or flags, as an array; a TypeError if they are mixed, or else."""
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "iufb":
        raise TypeError(f"not numbers: {array.dtype}")
    if array.dtype != bool and holds_a_flag(value):
        raise TypeError("flags among numbers")
    return array.astype(np.int64) if array.size == 0 else array


def in_common(results: Sequence[tuple[object, object]]) -> str | None:
    """Say in which way all of these wrong results differ from the expected ones."""
    found = []
    for expected, got in results:
        facts = []
        with contextlib.suppress(Exception):  # whatever a result may be
            facts += _facts(_unwrapped(expected), _unwrapped(got), len(results) > 2)
        found.append(facts)
    return next((one for one in found[0] if all(one in rest for rest in found)), None)


def _facts(a: object, b: object, several_calls: bool) -> Iterator[str]:
    """Yield what is true of one expected value and the one that came instead."""
    if callable(b):
        yield "a function, not its result. Are parentheses missing?"
    if isinstance(b, str | set | dict) and not isinstance(b, type(a)):
        yield f"a `{type(b).__name__}`, but no `{type(b).__name__}` is wanted."
    if is_sequence(b) and not is_sequence(a) and a is not None:
        yield "several values where one is wanted."
    if is_sequence(a) and not is_sequence(b):
        yield "one value where several are wanted."
    if isinstance(a, str) and isinstance(b, str):
        if not b or _within(b, a):
            yield "characters are missing, but everything else is right."
        if not a or _within(a, b):
            yield "characters are left that should be gone. Everything else is right."
    if isinstance(a, list | np.ndarray | torch.Tensor) and is_sequence(b):
        yield from _facts_of_lists(_listed(a), _listed(b))
    if isinstance(a, tuple) and len(a) == 2 and same(a, b[::-1]):
        yield "the two results are swapped."
    wanted, actual = as_array(a), as_array(b)
    kinds = wanted.dtype.kind.replace("u", "i"), actual.dtype.kind.replace("u", "i")
    if kinds == ("i", "f"):
        yield A_FLOAT
    if kinds[0] != "b" == kinds[1]:
        yield "`True` or `False` where a number is wanted."
    if kinds[0] == "b" != kinds[1]:
        yield "a number where `True` or `False` is wanted. Return the comparison."
    if wanted.dtype != bool and wanted.any() and same(-wanted, actual):
        yield "the sign is the wrong way around."
    if wanted.ndim == 2 and same(wanted.T, actual):
        yield "rows and columns are swapped."
    if not several_calls:  # in one or two, any difference could look like a rule
        return
    if (actual - wanted == 1).all():
        yield "the result is exactly one too large, in every call that failed."
    if (wanted - actual == 1).all():
        yield "the result is exactly one too small, in every call that failed."
    if same(wanted / math.log(2), actual):
        yield "1 / ln 2 times the right result. Are these bits where nats are wanted?"
    if same(wanted * math.log(2), actual):
        yield "ln 2 times the right result. Are these nats where bits are wanted?"


A_FLOAT = (
    "a float where an integer is wanted. 3.0 is neither a count nor an index. `/` "
    "always gives a float, while `//` of two integers is an integer. `torch.Tensor` "
    "makes floats of anything, and `torch.tensor` doesn't."
)


def _facts_of_lists(a: list, b: list) -> Iterator[str]:
    # Whole numbers may come where floats are expected.
    if same(b, a) and any(isinstance(x, float) for x in _flat(b)):
        yield A_FLOAT
    if same(a[:-1], b):
        yield "the last entry is missing, in every call that failed."
    if same(a[1:], b):
        yield "the first entry is missing, in every call that failed."
    if same(a, b[:-1]):
        yield "there is one entry too many at the end, in every call that failed."
    if same(a, b[1:]):
        yield "there is one entry too many at the start, in every call that failed."
    if same(a, _flat(b)):
        yield "the entries are right, but some are in lists inside the list."
    if same(_flat(a), b):
        yield "the entries are right, but they should be in lists inside the list."
    if b and same(a[: len(b)], b):
        yield "the result begins right, but ends too early. Does a loop end too early?"
    if b and same(a[-len(b) :], b):
        yield "the result ends right, but its beginning is missing."
    if b and _within(b, a):
        yield "entries are missing. Those that are there are right, and in order."
    if a and _within(a, b):
        yield "all entries are there, in order, but with others among them."
    if same(sorted(a), sorted(b)):
        yield "the entries are right, but in the wrong order."


def _listed(value: object) -> list:
    return list(getattr(value, "tolist", lambda: value)())


def _flat(value: object) -> list:
    inside = is_sequence(value)
    return [x for item in value for x in _flat(item)] if inside else [value]


def _within(few: Sequence, many: Sequence) -> bool:
    """Say whether the few are among the many, in the same order."""
    rest = iter(many)
    # Both ways, because 20 may come where 20.0 is expected, but not 20.0 where 20 is.
    return all(any(same(x, y) and same(y, x) for y in rest) for x in few)


# The kind of an error, what its message contains, and what it means.
ERRORS = (
    (NameError, "", "After a restart, you have to run the cells above again."),
    (IndexError, "", "Is the list shorter here than you expect, or empty?"),
    (KeyError, "", "A dictionary doesn't have the key that you ask for."),
    (ValueError, "empty", "`default=` is what `min` and `max` return for nothing."),
    (TypeError, "not tuple", "A list of lists isn't an array. Use `rows[i][j]`."),
    (TypeError, "unhashable", "A list can't be a key, but a `tuple` can."),
    (TypeError, "int' object is not", "A single number is treated like a list."),
    (TypeError, "NoneType", "Does a method, such as `sort`, return `None`?"),
    (AttributeError, "NoneType", "Does a method, such as `sort`, return `None`?"),
    (RecursionError, "", "Does the function ever stop calling itself?"),
    (MemoryError, "", "Does something grow in every round?"),
)


def meaning_of(error: BaseException) -> str | None:
    """Say what an error means, behind its message, which is shown anyhow."""
    for kind, words, meaning in ERRORS:
        if isinstance(error, kind) and words in str(error):
            return f"{type(error).__name__}: {error}. {meaning}"
    return None
