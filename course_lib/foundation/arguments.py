"""Checks that every function shares, so that one mistake has one wording.

Each check returns what it has checked, in a type that is safe to calculate with: use
that, not the raw argument. A NumPy int16 that passes a check overflows later.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import TypeAlias

import numpy as np
import torch

Ids: TypeAlias = Sequence[int] | np.ndarray | torch.Tensor
"""What every function accepts as token ids: a list, a NumPy array (a memory map too), a
torch tensor."""

LONGEST_SHOWN = 100  # characters of a wrong value that its error message repeats


def check_integer(
    name: str, value: object, *, minimum: int, maximum: int | None = None
) -> int:
    """Return `value` as an `int`, or say what was expected of the argument `name`.

    Raises:
        TypeError: `value` is not an integer (`True`, `2.0` and `[2]` are not).
        ValueError: it lies outside `minimum` ... `maximum`.
    """
    scalar = _scalar(value)
    try:
        if scalar is None or isinstance(scalar, bool):
            raise TypeError
        number = operator.index(scalar)
    except TypeError:
        wanted = _range_of_integers(minimum, maximum)
        raise TypeError(f"{name} must be {wanted}, got {_shown(value)}") from None
    if number < minimum or (maximum is not None and number > maximum):
        wanted = _range_of_integers(minimum, maximum)
        raise ValueError(f"{name} must be {wanted}, got {_digits(number)}")
    return number


def check_number(
    name: str,
    value: object,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
) -> float:
    """Return `value` as a finite `float`, or say what was expected of `name`.

    Args:
        minimum, maximum: the smallest and the largest number allowed.
        above: a bound that is itself not allowed: `above=0` asks for a positive number.

    Raises:
        TypeError: `value` is not a real number (`True` and `"2"` are not).
        ValueError: it is NaN, infinite or outside the bounds.
    """
    bounds = {"above": above, "of at least": minimum, "of at most": maximum}
    bounds = [
        f"{words} {bound}" for words, bound in bounds.items() if bound is not None
    ]
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
        shown = _digits(scalar) if isinstance(scalar, int) else scalar
        raise ValueError(f"{name} must be {wanted}, got {shown}")
    return number


def check_flag(name: str, value: object) -> bool:
    """Return `value` as a `bool`; only True and False are flags.

    In an `if`, `"False"`, NaN and `[False]` would all count as true.

    Raises:
        TypeError: `value` is something else.
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {_shown(value)}")
    return bool(value)


def check_state(
    state: object,
    settings: Mapping[str, object],
    position: Iterable[str],
    *,
    owner: str,
) -> Mapping[str, object]:
    """Return a saved state, if whoever loads it is set up like whoever saved it.

    Its position is left to the caller, who knows how far one can be.

    Args:
        state: what `state_dict` returned once, the settings and a position.
        settings: what decides which data come in which order, now. A value may be None.
        position: the names of the other entries.
        owner: what the messages call the object, for example "loader".

    Raises:
        TypeError: `state` is no dict.
        ValueError: it has other entries, or was saved with other settings, so it would
            mean other data.
    """
    if not isinstance(state, Mapping):
        raise TypeError(
            "state must be a dict that `state_dict` returned, got "
            f"{type(state).__name__}"
        )
    wanted = {*position, *settings}
    if set(state) != wanted:
        got = sorted(map(str, state))
        raise ValueError(f"state must have the keys {sorted(wanted)}, got {got}")
    for name, value in settings.items():
        saved = state[name]
        # 1 == 1.0 == True, but a state is read back exactly as it was saved
        if type(saved) is not type(value) or saved != value:
            raise ValueError(
                f"state was saved with {name}={saved!r}, but this {owner} has "
                f"{name}={value!r}"
            )
    return state


def as_integers(name: str, values: object) -> np.ndarray:
    """View `values` as a NumPy integer array of any shape, read-only.

    Arrays and tensors are not copied, so that the result shows what is written into
    them later; nobody can write into them through it.

    Raises:
        TypeError: `values` are not integers.
        ValueError: they are ragged, or larger than the 64-bit integers that batches are
            made of.
    """
    # Every batch is asked for with a plain array: that way is short.
    array = values if type(values) is np.ndarray else _to_array(name, values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got {_describe(values, array)}")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(
            f"{name} must fit into 64-bit signed integers, got {array.max()}"
        )
    array = array.view()
    array.setflags(write=False)
    return array


def as_stream(ids: Ids, name: str = "ids") -> np.ndarray:
    """View `ids` as a token stream: a one-dimensional integer array, shape (N,).

    It is read-only, and not copied but from a list; see `as_integers`. A stream that
    lies in several files, and so cuts its own windows (lesson 10), stays what it is.

    Raises:
        TypeError: `ids` are not integers.
        ValueError: they are not one-dimensional.
    """
    if hasattr(ids, "cut_windows"):
        return ids
    stream = as_integers(name, ids)
    if stream.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {stream.shape}")
    return stream


def check_range(
    name: str, values: np.ndarray, size: int, error: type[Exception] = ValueError
) -> np.ndarray:
    """Return integers, any number of them, if all lie in 0 ... `size` - 1.

    Raises:
        ValueError, or another `error`: one of them does not.
    """
    if values.size and not (values.min() >= 0 and values.max() < size):
        raise error(
            f"{name} must lie in 0 ... {size - 1}, got {values.min()} ... "
            f"{values.max()}"
        )
    return values


def _to_array(name: str, values: object) -> np.ndarray:
    """Convert what is no plain array, and refuse what NumPy would take for integers."""
    kind = type(values).__name__
    if isinstance(values, str | bytes | bytearray | memoryview):
        raise TypeError(f"{name} must be integers, got text ({kind}): encode it first")
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(
            f"{name} must be integers, got {kind}: take the masked ones out with "
            ".compressed(), or replace them with .filled()"
        )
    if isinstance(values, torch.Tensor):
        if values.is_floating_point():  # NumPy does not know them all
            raise TypeError(
                f"{name} must be integers, got Tensor of "
                f"{str(values.dtype).removeprefix('torch.')}"
            )
        return values.detach().cpu().numpy()
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{name} must be a regular array, got rows of different lengths"
        ) from None
    if array.size == 0 and not isinstance(values, np.ndarray):
        # an empty list has no type of its own: NumPy would say float
        return array.astype(np.int64)
    if array.dtype.kind in "iu" and _holds_a_flag(values):  # as 0 or 1 by now
        raise TypeError(f"{name} must be integers, got {kind} with True or False in it")
    return array


def _holds_a_flag(values: object) -> bool:
    """Say whether a list or tuple, or one inside it, holds True or False."""
    if not isinstance(values, list | tuple):
        return False
    kinds = set(map(type, values))
    if kinds & {bool, np.bool_}:
        return True
    return bool(kinds & {list, tuple}) and any(map(_holds_a_flag, values))


def _range_of_integers(minimum: int, maximum: int | None) -> str:
    wanted = f"an integer of at least {minimum}"
    return wanted if maximum is None else f"{wanted} and at most {maximum}"


def _scalar(value: object) -> object:
    """Take the value out of a NumPy scalar, or an array or tensor without dimensions.

    Of one with dimensions, return None: `[3]` is no 3.
    """
    if type(value) is int:
        return value
    if isinstance(value, np.ndarray | np.generic | torch.Tensor):
        return value.item() if value.ndim == 0 else None
    return value


def _shown(value: object) -> str:
    shown = _digits(value) if type(value) is int else repr(value)
    if len(shown) > LONGEST_SHOWN:
        shown = shown[:LONGEST_SHOWN] + "..."
    return f"{shown} ({type(value).__name__})"


def _digits(number: int) -> str:
    # Python refuses to write out integers of more than 4,300 digits
    large = abs(number) >= 10**100
    return f"an integer of {number.bit_length()} bits" if large else str(number)


def _describe(values: object, array: np.ndarray) -> str:
    if array.dtype.kind == "O":
        return f"{type(values).__name__} of mixed or oversized values"
    return f"{type(values).__name__} of {array.dtype}"


def check_path(name: str, value: object) -> Path:
    from pathlib import Path

    if not isinstance(value, (str, Path)) or not str(value):
        raise (TypeError if not isinstance(value, str) else ValueError)(
            f"{name} must be a path, got {value!r}"
        )
    return Path(value).expanduser()
