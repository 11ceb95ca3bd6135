"""How many bytes an id gets: two while all ids are below 65,536, else four."""

from __future__ import annotations

from mmap import mmap
from typing import Annotated

import numpy as np

from course_lib.foundation.arguments import AtLeast, Ids, checked
from course_lib.foundation.checks import (
    check_integer,
)


def id_dtype(tokenizer: object) -> np.dtype:
    """Return uint16 if every id of a tokenizer, added ones too, fits, else uint32."""
    if hasattr(tokenizer, "get_vocab"):
        vocabulary = tokenizer.get_vocab()
        if not vocabulary:
            raise ValueError(
                "tokenizer must have a vocabulary, got an empty one: train it first"
            )
        return smallest_dtype(max(vocabulary.values()))
    for name in ("vocab_size", "n_vocab"):
        if (size := getattr(tokenizer, name, None)) is not None:
            size = check_integer(name, size, minimum=1, maximum=2**32)
            return smallest_dtype(size - 1)
    raise TypeError(
        "tokenizer must have a vocab_size, which decides how many bytes an id gets;"
        f" got {type(tokenizer).__name__}"
    )


@checked
def smallest_dtype(largest_id: Annotated[int, AtLeast(0, 2**32 - 1)]) -> np.dtype:
    """Return uint16 up to id 65,535 and uint32 beyond.

    `array.astype(np.uint16)` would not complain about id 70,000: it would store 4,464.
    """
    return np.dtype(np.uint16 if largest_id < 2**16 else np.uint32)


@checked
def compact(ids: Ids) -> np.ndarray:
    """Return `ids` in the smallest dtype, shape (N,), read-only, copied at most once.

    A memory map, or an array of unsigned integers of at most 32 bits, is returned as it
    is, without being read.
    """
    is_compact = ids.dtype.kind == "u" and ids.dtype.itemsize <= 4
    if is_compact or _lies_in_a_file(ids):
        return ids
    if ids.size and ids.min() < 0:
        where = f"{ids.min()} at position {ids.argmin()}"
        raise ValueError(f"ids must not be negative, got {where}")
    largest = ids.max(initial=0)
    if largest >= 2**32:
        where = f"{ids.max()} at position {ids.argmax()}"
        raise ValueError(f"ids must fit into 32 bits, got {where}")
    small = ids.astype(smallest_dtype(largest))
    small.flags.writeable = False
    return small


def _lies_in_a_file(array: object) -> bool:
    """Say whether an array shows a memory map.

    Its type cannot tell: `memory_map.astype(np.int64)`, a copy in memory, is an
    `np.memmap`.
    """
    while array is not None and not isinstance(array, mmap):
        array = getattr(array, "base", None)
    return array is not None
