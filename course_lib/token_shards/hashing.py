"""A name for a tokenizer: equal ones have equal hashes, on any machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import torch

from course_lib.foundation import uncut


def tokenizer_hash(tokenizer: object) -> str:
    """Hash a tokenizer so that equal tokenizers have equal hashes on any machine.

    For a tokenizer of `tokenizers`, we hash all of `tokenizer.json` except for
    truncation and padding. For any other, we hash what `pickle` would store. A
    tokenizer that remembers texts it has encoded should leave them out by a
    `__getstate__`. Raises TypeError if it holds something that cannot be hashed in this
    way, for example a function without a name.
    """
    tokenizer = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(tokenizer, "encode_batch_fast"):
        return hashlib.sha256(uncut(tokenizer).to_str().encode()).hexdigest()
    encodes = hasattr(tokenizer, "encode") or hasattr(tokenizer, "encode_ordinary")
    if isinstance(tokenizer, type) or not encodes:
        raise TypeError(f"tokenizer must be a tokenizer, got {tokenizer!r}")
    try:
        return _stable_hash(tokenizer).hex()
    except (TypeError, RecursionError) as error:
        raise TypeError(
            f"tokenizer must hold what a file can hold, but {error}: give "
            f"{type(tokenizer).__name__} a method __getstate__ that says what it knows"
        ) from None


def _stable_hash(value: object) -> bytes:
    """Hash a value so that equal values agree in any process. `repr` would do for few
    values, because it abbreviates arrays and shows addresses."""
    kind = type(value)
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    if kind in (type(None), bool, int, float, complex, str, bytes):
        parts = [repr(value).encode("utf-8", "surrogatepass")]
    elif isinstance(value, np.ndarray | np.generic) and value.dtype != object:
        value = np.asarray(value, dtype=value.dtype.newbyteorder("<"))
        parts = [f"{value.dtype.str}{value.shape}".encode(), value.tobytes()]
    elif isinstance(value, dict):
        parts = sorted(
            _stable_hash(key) + _stable_hash(entry) for key, entry in value.items()
        )
    elif isinstance(value, set | frozenset):
        parts = sorted(map(_stable_hash, value))
    elif kind in (list, tuple):
        parts = map(_stable_hash, value)
    elif hasattr(value, "__qualname__"):  # a class, or a function
        if "<" in value.__qualname__:
            raise TypeError(f"{value.__qualname__} has no name that others know")
        parts = [value.__qualname__.encode()]
    else:
        reduced = value.__reduce_ex__(2)  # the call that `pickle` makes
        parts = [
            _stable_hash(list(part) if isinstance(part, Iterator) else part)
            for part in ([reduced] if isinstance(reduced, str) else reduced)
        ]
    return hashlib.sha256(b"".join([kind.__qualname__.encode(), b":", *parts])).digest()
