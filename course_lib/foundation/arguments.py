"""Checks that every function of the package shares, so that one mistake has one
wording."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch

Ids: TypeAlias = Sequence[int] | np.ndarray | torch.Tensor
"""What every function accepts as token ids: a list, a NumPy array (a memory map too), a
torch tensor."""


def check_integer(
    name: str, value: object, *, minimum: int, maximum: int | None = None
) -> int:
    """Return `value` as an `int`, or say what was expected of the argument `name`.

    Raises:
        TypeError: `value` is not an integer (`True` and `2.0` are not).
        ValueError: it lies outside `minimum` ... `maximum`.
    """
    wanted = f"an integer of at least {minimum}"
    if maximum is not None:
        wanted += f" and at most {maximum}"
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{name} must be {wanted}, got {value!r} ({type(value).__name__})"
        ) from None
    if number < minimum or (maximum is not None and number > maximum):
        raise ValueError(f"{name} must be {wanted}, got {number}")
    return number


def as_integers(name: str, values: object) -> np.ndarray:
    """View `values` as a NumPy integer array of any shape; lists are converted, arrays
    are not copied.

    Raises:
        TypeError: `values` are not integers.
        ValueError: they are ragged, or larger than the 64-bit integers that batches are
            made of.
    """
    if isinstance(values, str | bytes):
        raise TypeError(
            f"{name} must be integers, got text ({type(values).__name__}): encode it "
            "first"
        )
    if isinstance(values, torch.Tensor):
        if values.is_floating_point():  # NumPy does not know them all
            raise TypeError(
                f"{name} must be integers, got Tensor of "
                f"{str(values.dtype).removeprefix('torch.')}"
            )
        values = values.detach().cpu().numpy()
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{name} must be a regular array, got rows of different lengths"
        ) from None
    if array.size == 0 and not isinstance(values, np.ndarray):
        # an empty list has no type of its own: NumPy would say float
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got {_describe(values, array)}")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(
            f"{name} must fit into 64-bit signed integers, got {array.max()}"
        )
    return array


def as_stream(ids: Ids, name: str = "ids") -> np.ndarray:
    """View `ids` as a token stream: a one-dimensional NumPy integer array, shape (N,),
    not copied.

    Raises:
        TypeError: `ids` are not integers.
        ValueError: they are not one-dimensional.
    """
    stream = as_integers(name, ids)
    if stream.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {stream.shape}")
    return stream


def _describe(values: object, array: np.ndarray) -> str:
    if array.dtype.kind == "O":
        return f"{type(values).__name__} of mixed or oversized values"
    return f"{type(values).__name__} of {array.dtype}"
