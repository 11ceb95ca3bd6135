"""Decide whether two results are the same, and say how they differ if they are not."""

import builtins
import contextlib
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import torch

from course_lib.teaching.checker.slips import rows_of

# An expected result and the one that came instead; a test of two such results.
Results = Sequence[tuple[object, object]]
Fact = Callable[[object, object], object]
Facts = Sequence[tuple[Fact, str]]

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
    if expected is None or isinstance(expected, str | bytes) or callable(expected):
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
    if array.dtype != bool and _holds_a_flag(value):
        raise TypeError("flags among numbers")
    return array.astype(np.int64) if array.size == 0 else array


def _holds_a_flag(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_a_flag, value))
    return isinstance(_unwrapped(value), bool)


A_FLOAT = (
    "a float where an integer is wanted: 3.0 is not a count and not an index. `/` "
    "gives floats, and so does any float in a calculation. `//` keeps to integers."
)


KINDS = {
    bool: "bool",
    str: "text",
    (bytes, bytearray): "bytes",
    (set, frozenset): "set",
    dict: "dict",
    (type, np.dtype, torch.dtype): "type",
    torch.nn.Module: "other",
}
# The kinds that are wanted, if not any, those that came, and what is said of them.
WRONG_KINDS = (
    ("count float", "counts floats list", "several values where one number is wanted."),
    ("counts floats list", "count float bool", "one value where several are wanted."),
    ("count counts", "float floats", A_FLOAT),
    ("count counts", "bool bools", "`True` or `False` where a number is wanted."),
    (
        "bool",
        "count float",
        "a number where `True` or `False` is wanted: return the comparison.",
    ),
    (
        "bool",
        "bools counts floats list",
        "several values where one is wanted: should all of them hold, or any?",
    ),
    ("", "set", "a `{type}`, which has no order and no repeats."),
    ("", "dict", "a `dict` where none is wanted: return its values, or its keys."),
    ("text", "type", "the thing itself where its name is wanted, as a `str`."),
    ("", "text", "text, a `str`, where no text is wanted."),
    ("text", "bytes", "`bytes` where a `str` is wanted: `.decode()` them."),
    ("", "function", "a function, not its result: is a pair of parentheses missing?"),
    (
        "count counts list",
        "bytes",
        "`bytes` where numbers are wanted: `len()` or `list()` of them?",
    ),
)


def as_integers(expected: object, got: object) -> object:
    """Return `got`, with whole floats made integers where integers are expected."""
    with contextlib.suppress(Exception):
        wanted, actual = as_array(expected), as_array(got)
        kinds = wanted.dtype.kind in "iu", actual.dtype.kind == "f"
        if all(kinds) and np.isfinite(actual).all() and (actual % 1 == 0).all():
            return actual.astype(np.int64)
    if all(isinstance(value, list | tuple) for value in (expected, got)):
        parts = [as_integers(*pair) for pair in zip(expected, got, strict=False)]
        if len(expected) == len(got) and any(map(lambda a, b: a is not b, parts, got)):
            return parts
    return got


def wrong_kind(results: Results) -> str | None:
    """Say in which way all results are of a wrong kind, or return None."""
    with contextlib.suppress(Exception):  # some tensors have no values
        kinds = {_wrong_kind(expected, got) for expected, got in results}
        return kinds.pop() if len(kinds) == 1 else None
    return None


def _wrong_kind(expected: object, got: object) -> str | None:
    expected, got = _unwrapped(expected), _unwrapped(got)
    one, many = _kind(expected), _kind(got)
    if one == many:
        return None
    for wanted, came, words in WRONG_KINDS:
        if many in came.split() and (not wanted or one in wanted.split()):
            return words.format(type=type(got).__name__)
    return None


def _kind(value: object) -> str:
    for types, name in KINDS.items():
        if isinstance(value, types):
            return name
    try:
        array = as_array(value)
    except (TypeError, ValueError):
        if is_sequence(value):
            return "list"
        return "function" if callable(value) else "other"
    single = {"i": "count", "u": "count", "f": "float", "b": "bool"}[array.dtype.kind]
    return single if array.ndim == 0 and not is_sequence(value) else f"{single}s"


def in_common(results: Results) -> str | None:
    """Say how all wrong results differ from the expected ones: facts, and not guesses,
    because each holds in every failing call."""
    # A tuple is several results, not one list of them.
    several = any(isinstance(expected, tuple) for expected, _ in results)
    lists = [] if several else [[*map(_listed, pair)] for pair in results]
    return (
        _first_that_holds(FACTS, results)
        or _first_that_holds(FACTS_OF_LISTS, lists)
        or _in_text(results)
        or _by_how_much(results)
    )


def _first_that_holds(facts: Facts, results: Results) -> str | None:
    for holds, fact in facts:
        with contextlib.suppress(Exception):
            if results and all(holds(*pair) for pair in results):
                return fact
    return None


def _listed(value: object) -> list | None:
    with contextlib.suppress(Exception):
        if is_sequence(value):
            return getattr(value, "tolist", lambda: list(value))()
    return None


def _exchanged(expected: object, got: object) -> bool:
    is_pair = isinstance(expected, tuple) and len(expected) == 2
    return is_pair and same(expected, got[::-1])


def _transposed(expected: object, got: object) -> bool:
    wanted = as_array(expected)
    return wanted.ndim == 2 and same(wanted.T, as_array(got))


def _negated(expected: object, got: object) -> bool:
    wanted = as_array(expected)
    return wanted.any() and same(-wanted, as_array(got))


def _nested(wanted: list, actual: list) -> bool:
    deep = any(map(is_sequence, actual)) and not any(map(is_sequence, wanted))
    return deep and same(wanted, _flat(actual))


def _flat(value: object) -> list:
    if not is_sequence(value):
        return [value]
    return [inner for item in _listed(value) for inner in _flat(item)]


def _once_each(wanted: list, actual: list) -> bool:
    return len(actual) < len(wanted) and same(sorted(set(wanted)), sorted(actual))


def _within(few: Sequence[object], many: Sequence[object]) -> bool:
    """Say whether the few, at least one, are among the many, in the same order."""
    rest = iter(many)
    return bool(few) and all(any(same(one, other) for other in rest) for one in few)


FACTS: Facts = (
    (_exchanged, "the two results are exchanged."),
    (_transposed, "rows and columns are exchanged."),
    (_negated, "the sign is the other way round."),
)
# Facts about wanted and actual entries, the more special ones first. If two different
# lists are equally long, neither is a part of the other.
EACH = ", in every call that failed."
FACTS_OF_LISTS: Facts = (
    (lambda wanted, got: same(wanted[:-1], got), f"the last entry is missing{EACH}"),
    (lambda wanted, got: same(wanted[1:], got), f"the first entry is missing{EACH}"),
    (
        lambda wanted, got: same(wanted, got[:-1]),
        f"there is one entry too many at the end{EACH}",
    ),
    (
        lambda wanted, got: same(wanted, got[1:]),
        f"there is one entry too many at the start{EACH}",
    ),
    (
        lambda wanted, got: same(wanted[::-1], got),
        "the entries are right, but from back to front.",
    ),
    (
        lambda wanted, got: same(sorted(wanted), sorted(got)),
        "the entries are right, but in another order.",
    ),
    (_nested, "the entries are right, but some are in lists inside the list."),
    (_once_each, "each value comes only once: the repeats are missing."),
    (
        lambda wanted, got: got and same(wanted[: len(got)], got),
        "the result begins right, and ends too early: does a loop, or the function, "
        "end before it has seen everything?",
    ),
    (
        lambda wanted, got: got and same(wanted[-len(got) :], got),
        "the result ends right, but its beginning is missing.",
    ),
    (
        lambda wanted, got: _within(got, wanted),
        "entries are missing. Those that are there are right, and in the right order.",
    ),
    (
        lambda wanted, got: _within(wanted, got),
        "all entries are there, in their order, with others among them.",
    ),
)


NAMES_OF_BLANKS = {" ": "spaces", "\n": "newlines", "\t": "tabs"}


def _in_text(results: Results) -> str | None:
    """Say which characters are left over, or missing, in all of the texts."""
    texts = all(isinstance(value, str) for pair in results for value in pair)
    if len(results) < 2 or not texts:
        return None
    for more, words in ((1, "are left that should be gone"), (0, "are missing")):
        pairs = [pair[::-1] if more else pair for pair in results]
        if all(not few or _within(few, many) for many, few in pairs):
            differences = (Counter(many) - Counter(few) for many, few in pairs)
            different = set().union(*differences)
            names = {NAMES_OF_BLANKS.get(c, "other characters") for c in different}
            return f"{' and '.join(sorted(names))} {words}; all else is right."
    return None


def _by_how_much(results: Results) -> str | None:
    if len(results) < 3:  # in one or two calls, any difference could look like a rule
        return None
    try:
        pairs = [(as_array(expected), as_array(got)) for expected, got in results]
        if any(wanted.shape != actual.shape for wanted, actual in pairs):
            return None
        wanted, actual = (
            np.concatenate([array.ravel() for array in arrays]).astype(float)
            for arrays in zip(*pairs, strict=True)
        )
    except Exception:
        return None
    if not np.isfinite([wanted, actual]).all():
        return None
    whole = all(expected.dtype.kind in "iu" for expected, _ in pairs)
    for difference, words in ((1, "large"), (-1, "small")):
        if whole and (actual - wanted == difference).all():
            return f"the result is exactly one too {words}{EACH}"
    if not wanted.all() or not actual.all():
        return None
    factor = actual[0] / wanted[0]
    same_factor = np.allclose(actual / wanted, factor, rtol=1e-4)
    if not same_factor or math.isclose(factor, 1, rel_tol=1e-3):
        return None
    known = {
        1 / math.log(2): ", which is 1 / ln 2: bits where nats are wanted?",
        math.log(2): ", which is ln 2: nats where bits are wanted?",
    }
    close = (known[k] for k in known if math.isclose(factor, k, rel_tol=1e-4))
    return f"every result is {factor:.4g} times the right one{next(close, '.')}"


# The kinds of an error, a pattern in its message, and below them what it means.
ERRORS = """
IndexError: out of range|out of bounds
    an index is beyond the end: of n entries the last one has the index n - 1, and an
    empty list does not even have a first entry.
KeyError:
    a dictionary is asked for a key that it does not have. `in` says whether it has a
    key.
ValueError: arg is an empty sequence|iterable argument is empty
    `min` or `max` has nothing to choose from, and raises an error. `default=` says what
    to return in that case.
TypeError: unhashable type: 'list'
    a list cannot be a key of a dictionary or an entry of a set: a `tuple` can.
TypeError: ('int' object is not (iter|subscript)able|object of type 'int' has no len|
           must be an iterable, not int)
    one number is treated as a list: it has no entries, and no length.
TypeError AttributeError: 'NoneType' object
    something is `None` where it should not be. (Methods that change a list, such as
    `sort` and `append`, return `None`.)
TypeError: string argument without an encoding
    `bytes(text)` does not know how to write characters: `text.encode()` does.
TypeError ValueError: cannot unpack non-iterable|values to unpack
    there are more names than values, or fewer. (A loop over a dictionary gives only its
    keys; `.items()` gives keys and values.)
RecursionError:
    the function calls itself more often than Python allows. Does it ever stop? If it
    does, a loop goes further.
"""


def error_in_common(errors: Sequence[BaseException]) -> str | None:
    """Say what an error means if all wrong calls raise this kind, or return None."""
    for row, meaning in rows_of(ERRORS):
        kinds, _, words = row.partition(":")
        known = tuple(getattr(builtins, kind) for kind in kinds.split())
        pattern = words.strip()
        if all(isinstance(e, known) and re.search(pattern, str(e)) for e in errors):
            return meaning
    return None
