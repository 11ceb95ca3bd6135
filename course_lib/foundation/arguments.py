"""What an argument must be: declared in its annotation, said once, in the same words.

`@checked` reads the annotations of a function, and the function gets plain values:

    @checked
    def count_windows(num_tokens: Count, context_length: Length, stride: Length = 1):

`count_windows(np.int16(100), 10)` is called with the `int` 100, which cannot overflow
later, and `count_windows(100, 0)` is a ValueError that names the argument. How two
arguments must fit together is said in the function itself.

The checks of a call take some 2.5 microseconds. So they stand on what a reader calls,
and what runs for each window, document or task inside the package has none.
"""

from __future__ import annotations

import functools
import inspect
import os
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
)

import numpy as np

from course_lib.foundation.checks import (
    as_ids,
    as_integers,
    check_any_integer,
    check_callable,
    check_choice,
    check_flag,
    check_integer,
    check_iterable,
    check_number,
    check_path,
    check_type,
    check_unicode,
)
from course_lib.foundation.known_names import ELSEWHERE

if TYPE_CHECKING:
    from torch import Tensor
else:
    Tensor = Any  # whom no check asks, so PyTorch need not be there

# Each on a line of its own: type checkers don't see those that a tuple assigns.
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Check: TypeAlias = Callable[[str, object], object]
"""Takes the name of an argument and its value. Returns the value in a type that is safe
to calculate with, or raises a TypeError or ValueError that names the argument.
"""

ArgumentChecks: TypeAlias = tuple[
    dict[str, Callable[[object], object]], list[Callable[[object], object] | None]
]

# The decorator.


def checked(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let a function get arguments that are what its annotations say.

    An `Annotated` type names its check: `Annotated[int, AtLeast(1)]`. `int` and `float`
    (finite), `bool`, `Literal`, `Callable` and classes need no more than their name.
    `X | None` accepts None too. Other annotations, such as `object`, are not checked,
    and neither is a default. A name that other programs have for an argument is
    answered by what to write here (see `known_names`).
    """
    found: ArgumentChecks | None = None
    name_here, elsewhere = _known_elsewhere(function)

    @functools.wraps(function)
    def call(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        nonlocal found
        if elsewhere and not elsewhere.keys().isdisjoint(named):
            raise _answer(name_here, elsewhere, named)
        # At the first call, because an annotation may name what is defined further on.
        by_name, in_order = found = found or checks_of(function)
        plain = [
            value if check is None else check(value)
            for check, value in zip(in_order, arguments, strict=False)
        ]
        for name, value in named.items():
            if name in by_name:
                named[name] = by_name[name](value)
        return function(*plain, *arguments[len(plain) :], **named)

    call.is_checked = True
    return call


def named_elsewhere(function: Callable[Arguments, Result]) -> Callable:
    """Answer arguments that other programs have by what to write here, as `checked`
    does; for a function whose arguments are not checked."""
    name, elsewhere = _known_elsewhere(function)

    @functools.wraps(function)
    def call(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        if not elsewhere.keys().isdisjoint(named):
            raise _answer(name, elsewhere, named)
        return function(*arguments, **named)

    return call


def _known_elsewhere(function: Callable) -> tuple[str, dict[str, str]]:
    """Return what a reader calls, and the arguments that it has elsewhere."""
    name = function.__qualname__.removesuffix(".__init__")
    return name, ELSEWHERE.get(name, {})


def _answer(name: str, elsewhere: dict[str, str], named: Iterable[str]) -> TypeError:
    asked = next(argument for argument in named if argument in elsewhere)
    return TypeError(f"{name} has no argument {asked!r}: {elsewhere[asked]}")


def checks_of(function: Callable) -> ArgumentChecks:
    """Return the checks of a function's arguments, by name and in their order.

    An annotation that names what is not there is a NameError: a check would be lost.
    """
    by_name, in_order = {}, []
    annotations = typing.get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        check = check_of(annotations.get(name, object))
        if check is not None:
            by_name[name] = functools.partial(check, name)
        if parameter.kind is not parameter.KEYWORD_ONLY:
            in_order.append(by_name.get(name))
    return by_name, in_order


def check_of(annotation: object) -> Check | None:
    """Return the check that an annotation asks for; None if it asks for none."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        checks = [part for part in parts[1:] if callable(part)]
        return checks[0] if checks else check_of(parts[0])
    if origin in (typing.Union, types.UnionType):
        kinds = [part for part in parts if part is not type(None)]
        if len(kinds) > 1:
            return None
        check = check_of(kinds[0])
        return check and OrNone(check)
    if origin is Literal:
        return OneOf(parts)
    kind = origin or annotation
    if kind in PLAIN:
        return PLAIN[kind]
    is_class = isinstance(kind, type) and kind not in NOT_CHECKED
    return InstanceOf(kind) if is_class else None


# The kinds that there are.


@dataclass(frozen=True)
class AtLeast:
    """An integer of at least `minimum`, and at most `maximum` if there is one."""

    minimum: int
    maximum: int | None = None

    def __call__(self, name: str, value: object) -> int:
        # What nearly every call brings, first.
        is_plain = type(value) is int and value >= self.minimum
        if is_plain and (self.maximum is None or value <= self.maximum):
            return value
        return check_integer(name, value, minimum=self.minimum, maximum=self.maximum)


@dataclass(frozen=True)
class Finite:
    """A finite number between bounds; `above` is a lower one that is not allowed."""

    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None

    def __call__(self, name: str, value: object) -> float:
        return check_number(
            name, value, minimum=self.minimum, maximum=self.maximum, above=self.above
        )


@dataclass(frozen=True)
class InstanceOf:
    """What a class in an annotation asks for."""

    kind: type

    def __call__(self, name: str, value: object) -> object:
        return check_type(name, value, self.kind)


@dataclass(frozen=True)
class OrNone:
    """What `X | None` asks for."""

    check: Check

    def __call__(self, name: str, value: object) -> object:
        return None if value is None else self.check(name, value)


@dataclass(frozen=True)
class OneOf:
    """One of several names, which a table holds: else `Literal` is plainer."""

    choices: Iterable[str]

    def __call__(self, name: str, value: object) -> str:
        return check_choice(name, value, self.choices)


@dataclass(frozen=True)
class Several:
    """Several things of a kind: anything iterable but a text or a mapping."""

    of: str = "values"

    def __call__(self, name: str, value: object) -> Iterable:
        return check_iterable(name, value, self.of)


PLAIN: dict[object, Check] = {
    int: check_any_integer,
    float: check_number,
    bool: check_flag,
    Callable: check_callable,
}
NOT_CHECKED = (object, type, np.ndarray, Iterable, Sequence)

# Their names in annotations.

Ids: TypeAlias = Annotated[Sequence[int] | np.ndarray | Tensor, as_ids]
"""The token ids that every function accepts: a list, a NumPy array (which may be a
memory map) or a torch tensor. The function gets a one-dimensional array.
"""
Integers: TypeAlias = Annotated[Sequence | np.ndarray | Tensor, as_integers]
"""Integers of any shape. The function gets an array."""
Count: TypeAlias = Annotated[int, AtLeast(0)]
"""How many there are: an integer of at least 0."""
Length: TypeAlias = Annotated[int, AtLeast(1)]
"""A length, a size or a step: an integer of at least 1."""
Count64: TypeAlias = Annotated[int, AtLeast(0, 2**63 - 1)]
"""A count that fits into 64 bits, as places in an array must."""
Seed: TypeAlias = Annotated[int, AtLeast(0)]
"""What fixes random numbers: an integer of at least 0."""
Text: TypeAlias = Annotated[str, check_unicode]
"""A text that UTF-8 can write."""
FilePath: TypeAlias = Annotated[str | os.PathLike, check_path]
"""The name of a file or folder. The function gets a `Path`."""
