"""What each argument is checked by.

A value comes back in a type that is safe to calculate with, or an error names the
argument, the value and what was expected: a TypeError or a ValueError.
"""

from __future__ import annotations

import math
import operator
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, TypeVar

import numpy as np

if TYPE_CHECKING:
    import torch

Kind = TypeVar("Kind")

LONGEST_SHOWN = 100  # characters of a wrong value that its error message repeats
CLASSES = {  # whose names say less than these words
    "torch.Tensor": "tensor",
    "torch.nn.modules.module.Module": "torch.nn.Module",
    "collections.abc.Mapping": "mapping",
}
IGNORED = -100  #: the target that is not scored, as in PyTorch


def is_tensor(value: object) -> TypeGuard[torch.Tensor]:
    """Say whether a value is a tensor. Whoever has one has imported PyTorch, and nobody
    else waits for it, or needs it."""
    return isinstance(value, getattr(sys.modules.get("torch"), "Tensor", ()))


def check_integer(
    name: str, value: object, *, minimum: int | None, maximum: int | None = None
) -> int:
    """Return `value` as an `int`, or say what the argument `name` must be.

    `True`, `2.0` and `[2]` are not integers.
    """
    scalar = _scalar(value)
    try:
        if scalar is None or isinstance(scalar, bool):
            raise TypeError
        number = operator.index(scalar)
    except TypeError:
        wanted = _range_of_integers(minimum, maximum)
        raise TypeError(f"{name} must be {wanted}, got {_shown(value)}") from None
    if not _lies_between(number, minimum, maximum):
        wanted = _range_of_integers(minimum, maximum)
        raise ValueError(f"{name} must be {wanted}, got {number}")
    return number


def check_number(
    name: str,
    value: object,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
) -> float:
    """Return `value` as a finite `float`, or say what `name` must be.

    `above` is a lower bound that is not itself allowed. `True` and `"2"` are not
    numbers.
    """
    bounds = {"above": above, "of at least": minimum, "of at most": maximum}
    bounds = [f"{words} {end}" for words, end in bounds.items() if end is not None]
    wanted = f"a finite number {' and '.join(bounds)}".rstrip()
    scalar = _scalar(value)
    if isinstance(scalar, bool) or not isinstance(scalar, Real):
        raise TypeError(f"{name} must be {wanted}, got {_shown(value)}")
    try:
        number = float(scalar)
    except OverflowError:
        number = math.inf
    # Written so that NaN, which compares False with everything, fails.
    allowed = (
        math.isfinite(number)
        and (above is None or number > above)
        and (minimum is None or number >= minimum)
        and (maximum is None or number <= maximum)
    )
    if not allowed:
        raise ValueError(f"{name} must be {wanted}, got {scalar}")
    return number


def check_flag(name: str, value: object) -> bool:
    """Return `value` as a `bool`. Only True and False are accepted.

    An `if` would take `"False"`, NaN and `[False]` for true.
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {_shown(value)}")
    return bool(value)


def check_choice(name: str, value: object, choices: Iterable[str | None]) -> str | None:
    """Return `value` if it is one of `choices`."""
    choices = list(choices)
    is_name = isinstance(value, tuple(map(type, choices)))
    if is_name and value in choices:
        return value
    raise (ValueError if is_name else TypeError)(
        f"{name} must be one of {', '.join(map(repr, choices))}, got {_shown(value)}"
    )


def check_unicode(name: str, text: object) -> str:
    """Return a text in which each pair of surrogates has become one character.

    A surrogate is half of a character in UTF-16. Python allows a single surrogate in a
    `str`, but UTF-8 has no bytes for it. Every function that encodes a text calls this
    check.
    """
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a str, got {type(text).__name__}")
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        wide = text.encode("utf-16-le", "surrogatepass")
    try:
        return wide.decode("utf-16-le")
    except UnicodeDecodeError as error:
        whole = wide[: error.start].decode("utf-16-le")
        half = wide[error.start : error.start + 2].decode("utf-16-le", "surrogatepass")
        raise ValueError(
            f"{name} must be Unicode, but character {len(whole)} is half of one: "
            f"{half!r}; replace such halves with U+FFFD by "
            "text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
        ) from None


def check_path(name: str, value: object) -> Path:
    """Return `value` as a `Path`, with `~` expanded to the home directory.

    The file need not exist. A `~` that names nobody's home directory is left as it is.
    """
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a path, a str or a Path, got {_shown(value)}")
    if not text or "\0" in text:
        raise ValueError(f"{name} must be a path of a file or folder, got {text!r}")
    return Path(os.path.expanduser(text))


def check_iterable(name: str, value: object, of: str = "values") -> Iterable:
    """Return `value`, several things `of` a kind, unless it is a text or a mapping."""
    single = isinstance(value, str | bytes | Mapping) or getattr(value, "ndim", 1) == 0
    if single or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be several {of}, got {_shown(value)}")
    return value


def check_type(name: str, value: object, kind: type[Kind]) -> Kind:
    """Return `value` if it is a `kind`, and raise a TypeError otherwise."""
    if not isinstance(value, kind):
        full_name = f"{kind.__module__}.{kind.__qualname__}"
        wanted = CLASSES.get(full_name, kind.__name__)
        got = type(value).__name__
        raise TypeError(f"{name} must be a {wanted}, got {got}")
    return value


def check_callable(name: str, value: object) -> Callable:
    """Return `value` if it can be called, like a function or a model."""
    if not callable(value):
        raise TypeError(f"{name} must be callable, got {_shown(value)}")
    return value


def check_dense(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor with data, neither sparse nor quantized, detached, on the CPU."""
    if not is_tensor(tensor):
        raise TypeError(f"{name} must be a tensor, got {type(tensor).__name__}")
    is_dense = str(tensor.layout) == "torch.strided" and not tensor.is_quantized
    if not is_dense or tensor.is_meta:
        raise TypeError(
            f"{name} must be a dense tensor on a device with data, got one of "
            f"{tensor.dtype}, {tensor.layout}, on {tensor.device}"
        )
    return tensor.detach().cpu()


def as_integers(name: str, values: object) -> np.ndarray:
    """View `values` as a NumPy integer array of any shape, read-only.

    Arrays and tensors are not copied: if you write into them later, the result shows
    it. Raises ValueError if they are ragged, and TypeError or ValueError if they are
    too large for the signed 64-bit integers that batches are made of.
    """
    # Every batch is requested with a plain array, so this path is kept short.
    array = values if type(values) is np.ndarray else _to_array(name, values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got {_describe(values, array)}")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        largest = f"got {array.max()}"
        raise ValueError(f"{name} must fit into 64-bit signed integers, {largest}")
    array = array.view()
    array.setflags(write=False)
    return array


def as_numbers(name: str, values: object, kinds: str = "iuf") -> np.ndarray:
    """Copy real numbers, of NumPy's `kinds`, to float64; masked ones become NaN."""
    if is_tensor(values):
        values = check_dense(name, values)
        # NumPy does not have all of PyTorch's float types.
        values = (values.double() if values.is_floating_point() else values).numpy()
    try:
        array = np.ma.asarray(values)
    except ValueError:
        raise ValueError(
            f"{name} must be a regular array, got rows of different lengths"
        ) from None
    if array.dtype.kind not in kinds:
        raise TypeError(f"{name} must be numbers, got {_describe(values, array)}")
    return array.astype(np.float64).filled(np.nan)


def as_places(index: object, size: int, things: str = "ids") -> np.ndarray:
    """Return which of `size` things an index picks, as in a list, int64, from 0 on.

    Negative ones count from the end. Raises IndexError for those outside. NumPy takes a
    tuple for an index into several dimensions, so it is refused.
    """
    if isinstance(index, slice):
        return np.arange(*index.indices(size))
    if isinstance(index, tuple):
        raise TypeError(
            f"index must be an integer, a slice or an array of integers, got {index!r}"
        )
    places = as_integers("index", index).astype(np.int64, copy=False)
    if places.size and largest_unsigned(places) >= size:
        places = np.where(places < 0, places + size, places)
        if not (places.min() >= 0 and places.max() < size):
            raise IndexError(f"index must lie within the {size} {things}")
    return places


def largest_unsigned(places: np.ndarray) -> int:
    """Return the largest of int64 places; if one is negative, a number beyond 2**63.

    The bits of a negative int64, read as uint64, are such a number. So one pass tells
    whether all places lie in 0 ... size - 1, where `min` and `max` take two, and every
    batch waits for it.
    """
    return int(places.view(np.uint64).max())


def as_ids(name: str, ids: object) -> np.ndarray:
    """View `ids` as token ids in a row: a one-dimensional integer array, shape (N,).

    It is read-only, and only a list is copied; see `as_integers`.
    """
    array = as_integers(name, ids)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    return array


def check_range(
    name: str, values: object, size: int, error: type[Exception] = ValueError
) -> np.ndarray:
    """Return integers, any number of them, if all are in 0 ... `size` - 1."""
    values = as_integers(name, values)
    if values.size and not (values.min() >= 0 and values.max() < size):
        found = f"{values.min()} ... {values.max()}"
        raise error(f"{name} must lie in 0 ... {size - 1}, got {found}")
    return values


def beyond_the_stream(starts: np.ndarray, length: int, num_tokens: int) -> ValueError:
    """Word the error for windows of `length` ids that begin before the stream or end
    beyond it."""
    last_start = num_tokens - length
    allowed = f"0 ... {last_start}" if last_start >= 0 else "nothing at all"
    return ValueError(
        f"starts must lie in {allowed}: {length} ids (context_length + 1) are needed "
        f"from each on, in a stream of {num_tokens}; got {starts.min()} ... "
        f"{starts.max()}"
    )


def check_any_integer(name: str, value: object) -> int:
    """Return `value` as an `int`, of whatever size."""
    return check_integer(name, value, minimum=None)


def _to_array(name: str, values: object) -> np.ndarray:
    """Convert `values` to an array, but refuse texts, masks and flags, many of which
    NumPy would take for integers."""
    kind = type(values).__name__
    if isinstance(values, str | bytes | bytearray | memoryview):
        raise TypeError(f"{name} must be integers, got text ({kind}): encode it first")
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(
            f"{name} must be integers, got {kind}: take the masked ones out with "
            ".compressed(), or replace them with .filled()"
        )
    if is_tensor(values):
        if values.is_floating_point():  # NumPy does not have all of these types
            raise TypeError(
                f"{name} must be integers, got Tensor of "
                f"{str(values.dtype).removeprefix('torch.')}"
            )
        return check_dense(name, values).numpy()
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{name} must be a regular array, got rows of different lengths"
        ) from None
    if isinstance(values, np.ndarray):
        return array
    if array.size == 0:
        # An empty list has no type of its own, and NumPy would make it float.
        return array.astype(np.int64)
    if array.dtype.kind == "f":  # NumPy makes floats of uint64 among other integers
        entries = np.asarray(values, dtype=object)
        if all(isinstance(entry, int | np.integer) for entry in entries.flat):
            array = entries.astype(np.int64) if entries.max() < 2**63 else entries
    if array.dtype.kind in "iu" and holds_a_flag(values):  # which is 0 or 1 by now
        raise TypeError(f"{name} must be integers, got {kind} with True or False in it")
    return array


def holds_a_flag(value: object) -> bool:
    """Say whether a value, or an entry of a list or tuple, is True or False."""
    if isinstance(value, list | tuple):
        kinds = {*map(type, value)}  # usually just one, however many entries
        if all(issubclass(k, int | np.integer) and k is not bool for k in kinds):
            return False
        return any(map(holds_a_flag, value))
    kind = getattr(value, "dtype", type(value).__name__)
    return str(kind) in ("bool", "torch.bool")


def _lies_between(number: int, minimum: int | None, maximum: int | None) -> bool:
    return (minimum is None or number >= minimum) and (
        maximum is None or number <= maximum
    )


def _range_of_integers(minimum: int | None, maximum: int | None) -> str:
    if minimum is None:
        return "an integer"
    wanted = f"an integer of at least {minimum}"
    return wanted if maximum is None else f"{wanted} and at most {maximum}"


def _scalar(value: object) -> object:
    """Take the value out of a NumPy scalar, or an array or tensor without dimensions.

    Return None for one with dimensions, because `[3]` is not 3, for a tensor without
    data, and for a time, which NumPy would return as a number of nanoseconds.
    """
    if isinstance(value, np.ndarray | np.generic):
        is_number = value.ndim == 0 and value.dtype.kind not in "mM"
    elif is_tensor(value):
        is_number = value.ndim == 0 and not value.is_meta
    else:
        return value
    return value.item() if is_number else None


def _shown(value: object) -> str:
    shown = repr(value)
    if len(shown) > LONGEST_SHOWN:
        shown = shown[:LONGEST_SHOWN] + "..."
    return f"{shown} ({type(value).__name__})"


def _describe(values: object, array: np.ndarray) -> str:
    if array.dtype.kind == "O":
        return f"{type(values).__name__} of mixed or oversized values"
    return f"{type(values).__name__} of {array.dtype}"
