"""The answers that can be asked for: what is one, when a guess meets it, and how it is
written."""

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from numbers import Integral
from typing import TypeAlias

import numpy as np
import torch

from course_lib.foundation import check_dense, check_number, checked

Answer: TypeAlias = bool | int | float | str | tuple

MOST_CHOICES = MOST_PARTS = 8
TOLERANCE_OF_FLOATS = 0.01  # nobody guesses all the digits of a fraction
DIGITS = 4  # of a fraction, when it is shown


def as_answer(name: str, value: object) -> Answer:
    """Return a value as plain Python knows it, if it can be asked for."""
    if isinstance(value, torch.Tensor):
        value = check_dense(name, value).tolist()
    elif isinstance(value, np.ndarray | np.generic) and value.dtype.kind not in "mM":
        value = value.tolist()  # but a time would become a number
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str):
        if not value.strip():
            raise ValueError(f"{name} must not be empty text, got {value!r}")
        return str(value)
    if isinstance(value, list | tuple):
        parts = tuple(as_answer(f"each part of {name}", part) for part in value)
        flags = {isinstance(part, bool) for part in parts}
        if any(isinstance(part, str | tuple) for part in parts) or len(flags) > 1:
            wanted = "numbers or flags as parts"
            raise TypeError(f"{name} must have {wanted}, got {value!r}")
        if not 1 <= (count := len(parts)) <= MOST_PARTS:
            raise ValueError(f"{name} must have 1 to {MOST_PARTS} parts, got {count}")
        return parts
    try:
        number = check_number(name, value)
    except TypeError:
        raise TypeError(
            f"{name} must be a number, text, True or False, or a tuple of numbers or "
            f"of flags, got {type(value).__name__}"
        ) from None
    return int(value) if isinstance(value, Integral) else number


def as_choices(choices: object, answer: Answer) -> tuple:
    if isinstance(choices, str) or not isinstance(choices, Iterable):
        kind = type(choices).__name__
        raise TypeError(f"choices must be a list of answers, got {kind}")
    choices = tuple(as_answer("each of choices", choice) for choice in choices)
    if not 2 <= (count := len(choices)) <= MOST_CHOICES:
        raise ValueError(f"choices must be 2 to {MOST_CHOICES} answers, got {count}")
    names = [normalized(written(choice)) for choice in choices]
    if len(set(names)) < len(names):
        raise ValueError(f"choices must differ, got {choices}")
    if normalized(written(answer)) not in names:
        raise ValueError(f"choices must hold the answer, {answer!r}, got {choices}")
    return choices


@checked
def bucket_of(number: object, buckets: Mapping[str, float]) -> str:
    """Return the name of the first bucket whose limit is above a number."""
    number = check_number("answer", number)
    limits = [
        math.inf if limit == math.inf else check_number(f"limit of {name!r}", limit)
        for name, limit in buckets.items()
    ]
    if not all(low < high for low, high in pairwise(limits)):
        raise ValueError(f"buckets must have rising limits, got {limits}")
    for name, limit in zip(buckets, limits, strict=True):
        if number < limit:
            return name
    raise ValueError(f"buckets must have a place for {number}, got limits {limits}")


def is_near(guess: Answer, answer: Answer, within: float | None) -> bool:
    if within is None:
        within = TOLERANCE_OF_FLOATS if isinstance(answer, float) else 0
    # a guess at the very border is right, however its last bit is rounded
    return abs(guess - answer) <= within * abs(answer) * (1 + 1e-9)


def written(value: Answer) -> str:
    if isinstance(value, tuple):
        parts = [written(part) for part in value]
        return ("; " if any("," in part for part in parts) else ", ").join(parts)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= 10 ** (DIGITS - 1):
        return f"{value:,.0f}"
    return f"{value:.{DIGITS}g}"


def rounded(value: Answer) -> Answer:
    """Return an answer with the digits that are shown: on each machine the same."""
    if isinstance(value, tuple):
        return tuple(map(rounded, value))
    if not isinstance(value, float):
        return value
    return float(written(value).replace(",", ""))


def example(answer: Answer) -> str:
    """A guess of the kind that is wanted, whatever the answer is."""
    if isinstance(answer, tuple):
        return f"({', '.join(map(example, answer))})"
    if isinstance(answer, bool):
        return "True"
    return "7" if isinstance(answer, int) else "0.5"


def strong(answer: Answer) -> str:
    return f"**{written(answer)}**"


def without_marks(text: str) -> str:
    """Markdown without its marks, for buttons and terminals."""
    return text.replace("**", "").replace("`", "")


def normalized(text: str) -> str:
    return " ".join(without_marks(text).casefold().split()).strip("\"' .")
