"""Carry the results of an answer from its own process to the one that judges them, as
a pickle of plain values, the reader of which calls nothing. A value of another kind
arrives as a `Nameless`, which equals nothing."""

import builtins
import io
import pickle

import numpy as np
import torch

from course_lib.teaching.checker import Outcome

LONGEST_TEXT = 500  # characters of printed text, and of an error
PLAIN = (bool, int, float, str, bytes, bytearray, list, tuple, dict, set, frozenset)


class Nameless:
    """Replaces a result of a kind that is not carried."""


def a_function() -> None:
    """Replaces a function, which is not called, because only its kind matters."""


STANDS_FOR = {"...": ..., "function": a_function, "type": Nameless, "other": Nameless()}


class _Writer(pickle.Pickler):
    def persistent_id(self, value: object) -> tuple | None:
        """Return what is written in place of a value, or None for a plain value."""
        if value is None or type(value) in PLAIN:
            return None
        if isinstance(value, torch.Tensor):
            value = value.detach().cpu().numpy()
        if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "biuf":
            return "array", value.dtype.str, value.shape, value.tobytes()
        if isinstance(value, np.ndarray | np.generic):
            return "plain", value.tolist()
        if isinstance(value, range):
            return "plain", list(value)
        for kind in PLAIN[1:]:  # for example a subclass of list from the notebook
            if isinstance(value, kind):
                return "plain", kind(value)
        if isinstance(value, type | np.dtype | torch.dtype):
            return ("type",)
        if value is ...:
            return ("...",)
        is_function = callable(value) and not isinstance(value, torch.nn.Module)
        return ("function",) if is_function else ("other",)


class _Reader(pickle.Unpickler):
    def persistent_load(self, written: tuple) -> object:
        kind, *content = written
        if kind == "array":
            dtype, shape, data = content
            # From a bytearray, so that the array can be written to.
            return np.frombuffer(bytearray(data), dtype).reshape(shape)
        return content[0] if kind == "plain" else STANDS_FOR[kind]

    def find_class(self, module: str, name: str) -> object:
        raise pickle.UnpicklingError(f"{module}.{name} is not a plain value")


def dump(value: object) -> bytes:
    buffer = io.BytesIO()
    _Writer(buffer, protocol=5).dump(value)
    return buffer.getvalue()


def load(data: bytes) -> object:
    """Read a value; a ValueError if `dump` has not written it."""
    try:
        return _Reader(io.BytesIO(data)).load()
    except Exception as error:
        raise ValueError(f"no results: {error}") from error


def dump_result(value: object) -> bytes:
    """Write the result of an answer, which may be anything, and do anything."""
    try:
        return dump(value)
    except Exception:
        return dump(Nameless())


def from_outcome(outcome: Outcome) -> tuple:
    return (
        dump_result(outcome.value),
        None if outcome.error is None else _from_error(outcome.error),
        bool(outcome.changed_arguments),
        str(outcome.printed)[:LONGEST_TEXT],
        str(outcome.place)[:LONGEST_TEXT],
    )


def to_outcome(value: bytes, error: tuple | None, *rest: object) -> Outcome:
    return Outcome(load(value), None if error is None else _to_error(*error), *rest)


def _from_error(error: BaseException) -> tuple[str, str, str]:
    """Return an error's class, the built-in error that it is, and its words."""
    kinds = [kind.__name__ for kind in type(error).__mro__]
    known = next(name for name in kinds if hasattr(builtins, name))
    try:
        # A KeyError would put its words into quotes once more.
        words = str(error.args[0] if type(error) is KeyError and error.args else error)
    except Exception:
        words = ""
    return kinds[0], known, words[:LONGEST_TEXT]


def _to_error(name: str, known: str, words: str) -> BaseException:
    kind = getattr(builtins, known)
    if name != known:
        kind = type(name, (kind,), {"__str__": lambda self: words})
    error = kind.__new__(kind)  # because some constructors need more than words
    error.args = (words,)
    return error
