"""Results of an answer as plain text, on their way from the process of the answer to
the one that judges.

Not pickled: who opens a pickle runs whatever its writer put into it. What has no form
here arrives as a `Nameless`, which equals nothing.
"""

from __future__ import annotations

import base64
import builtins
import json

import numpy as np
import torch

from course_lib.teaching.checker import Outcome

LONGEST_TEXT = 500  # of what was printed, and of an error


class Nameless:
    """Stands for a result of a kind that is not carried."""


def to_text(outcomes: list[Outcome]) -> str:
    """Write outcomes as JSON."""
    return json.dumps([_from_outcome(outcome) for outcome in outcomes])


def to_outcomes(text: str) -> list[Outcome]:
    """Read what `to_text` has written.

    Raises:
        ValueError: somebody else has written it.
    """
    try:
        return [_to_outcome(entry) for entry in json.loads(text)]
    except (TypeError, KeyError, AttributeError, RecursionError, MemoryError) as error:
        raise ValueError(f"no outcomes: {error}") from error


def _from_outcome(outcome: Outcome) -> dict:
    error = outcome.error
    return {
        "value": from_value(outcome.value),
        "error": None if error is None else from_error(error),
        "changed": bool(outcome.changed_arguments),
        "printed": str(outcome.printed)[:LONGEST_TEXT],
        "place": str(outcome.place)[:LONGEST_TEXT],
    }


def _to_outcome(entry: dict) -> Outcome:
    return Outcome(
        to_value(entry["value"]),
        None if entry["error"] is None else to_error(entry["error"]),
        bool(entry["changed"]),
        str(entry["printed"]),
        str(entry["place"]),
    )


def from_value(value: object) -> object:
    """Put a value into what JSON knows: `[kind, content]`, or a plain one."""
    try:
        return _from_value(value)
    except Exception:  # an answer may return anything, and that may do anything
        return ["nameless", None]


def _from_value(value: object) -> object:
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        if value.dtype == torch.bfloat16:
            value = value.float()
        return ["tensor", _from_array(value.numpy())]
    if isinstance(value, np.generic):
        return ["scalar", _from_array(np.asarray(value))]
    if isinstance(value, np.ndarray):
        return ["array", _from_array(value)]
    for name in ("list", "tuple", "set", "frozenset", "dict"):
        if isinstance(value, getattr(builtins, name)):
            items = value.items() if name == "dict" else value
            return [name, [_from_value(item) for item in items]]
    if isinstance(value, bytes | bytearray):
        content = base64.b64encode(bytes(value)).decode()
        return ["bytearray" if isinstance(value, bytearray) else "bytes", content]
    if kind is range:
        return ["range", [value.start, value.stop, value.step]]
    if isinstance(value, torch.dtype):
        return ["torch", str(value).removeprefix("torch.")]
    if isinstance(value, np.dtype):
        return ["dtype", value.str]
    if isinstance(value, type):
        return ["type", [value.__module__, value.__name__]]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value) if isinstance(value, int) else float(value)
    if callable(value) and not isinstance(value, torch.nn.Module):
        return ["function", str(getattr(value, "__name__", kind.__name__))]
    return ["nameless", None]


def _from_array(array: np.ndarray) -> list:
    if array.dtype.hasobject:
        return ["objects", [*array.shape], [_from_value(v) for v in array.ravel()]]
    if array.dtype.names:
        raise TypeError("fields")
    content = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return [array.dtype.str, [*array.shape], content]


def to_value(entry: object) -> object:
    """The value that `from_value` was given, or a `Nameless`."""
    if not isinstance(entry, list):
        return entry
    kind, content = entry
    if kind in ("list", "tuple", "set", "frozenset", "dict"):
        return getattr(builtins, kind)([to_value(item) for item in content])
    if kind in ("bytes", "bytearray"):
        return getattr(builtins, kind)(base64.b64decode(content))
    if kind == "range":
        return range(*content)
    if kind == "array":
        return _to_array(content)
    if kind == "scalar":
        return _to_array(content)[()]
    if kind == "tensor":
        return torch.from_numpy(_to_array(content))
    if kind == "torch":
        found = getattr(torch, str(content), None)
        return found if isinstance(found, torch.dtype) else Nameless()
    if kind == "dtype":
        return np.dtype(str(content))
    if kind == "type":
        module, name = content
        found = getattr({"builtins": builtins, "numpy": np}.get(module), str(name), 0)
        return found if isinstance(found, type) else Nameless
    if kind == "function":
        return _function(str(content))
    return Nameless()


def _to_array(content: list) -> np.ndarray:
    kind, shape, values = content
    if kind == "objects":
        array = np.empty(len(values), dtype=object)
        array[:] = [to_value(value) for value in values]
        return array.reshape(shape)
    data = bytearray(base64.b64decode(values))  # an array that may be written to
    return np.frombuffer(data, dtype=np.dtype(str(kind))).reshape(shape)


def _function(name: str) -> object:
    def stands_for(*arguments: object) -> None:
        """It is not called: only its kind tells something."""

    stands_for.__name__ = name
    return stands_for


def from_error(error: BaseException) -> list:
    """The name of an error's class, that of the Python error that it is, its words."""
    kinds = [kind.__name__ for kind in type(error).__mro__]
    known = next(name for name in kinds if hasattr(builtins, name))
    try:
        # A KeyError would put its words into quotes once more.
        said = error.args[0] if type(error) is KeyError and error.args else error
        words = str(said)
    except Exception:
        words = ""
    return [kinds[0], known, words[:LONGEST_TEXT]]


def to_error(entry: list) -> BaseException:
    """An error of the same kind that says the same."""
    name, known, words = map(str, entry)
    kind = getattr(builtins, known, Exception)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        kind = Exception
    if name != known:
        kind = type(name, (kind,), {"__str__": lambda self: words})
    error = kind.__new__(kind)  # some want more than words to be made
    error.args = (words,)
    return error
