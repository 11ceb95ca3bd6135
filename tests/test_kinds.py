"""What an argument must be is said by its annotation: every kind refuses what is impossible for it, everywhere."""

import importlib
import inspect
import math
import pkgutil

import numpy as np
import pytest
import torch

import course_lib
from course_lib import next_token_shifting, sequential_partitioning, tokenizer_pipeline
from course_lib.foundation import arguments, copies, streams
from course_lib.foundation.arguments import AtLeast, Finite, InstanceOf, OneOf, OrNone, Several, checks_of
from course_lib.long_documents import padding
from course_lib.mixing_sources import draws, mixtures
from course_lib.token_shards import shard_files

NOT_LOADED = (
    "exercises.",
    "__main__",
)  # tables of answers, a command
NEVER_A_NUMBER = [
    math.nan,
    "10",
    b"1",
    None,
    True,
    np.True_,
    [1],
    np.array([1]),
    {1: 2},
    {1},
    1j,
    np.timedelta64(1, "s"),
]
NOT_INTEGERS = [
    *NEVER_A_NUMBER,
    2.0,
    np.float32(2),
    torch.tensor(2.0),
    torch.ones(1),
    math.inf,
]
NOT_A_NAME = [None, 5, b"train", ["train"], {}, math.nan]
NOT_IDS = [
    "text",
    b"ids",
    None,
    5,
    2.5,
    [0.5],
    [math.nan],
    [True],
    [2**70],
    [[1, 2], [3, 4]],
    [[1], [2, 3]],
    {1: 2},
]
NOT_INTEGER_ARRAYS = [
    "text",
    b"ids",
    None,
    2.5,
    [0.5],
    [True],
    [2**70],
    [[1], [2, 3]],
    {1: 2},
]
NOT_PATHS = [None, 5, b"x", [], "", "a\0b", True]
NOT_TEXTS = [None, 5, b"a", ["a"], math.nan, "a\ud800"]
NOT_SEVERAL = [None, 5, "ab", b"ab", {"a": 1}, np.array(3), torch.tensor(3)]
OF_A_FUNCTION = {
    arguments.check_any_integer: NOT_INTEGERS,
    arguments.check_number: [*NEVER_A_NUMBER, math.inf, torch.ones(1), 10**400],
    arguments.check_flag: [
        None,
        0,
        1,
        "yes",
        "False",
        math.nan,
        [False],
        np.array([True]),
        torch.tensor(True),
    ],
    arguments.check_callable: [None, 5, "print", []],
    sequential_partitioning.check_recurrent: [None, len, torch.nn.Linear(2, 2), torch.nn.GRU],
    arguments.as_ids: NOT_IDS,
    streams.as_stream: NOT_IDS,
    shard_files.as_split: [*NOT_A_NAME, "no such name"],
    next_token_shifting.as_window: [*NOT_INTEGER_ARRAYS, 5, [5], [[1], [2]]],
    copies.as_set_of_strings: [*NOT_SEVERAL, []],
    draws.as_shares: [*NOT_SEVERAL, [], [0, 0], {1, 2}],
    padding.as_lengths: [*NOT_INTEGER_ARRAYS, [], [0], [-1], [[1]]],
    tokenizer_pipeline.check_tokenizer: [None, 5, "gpt2", print],
    mixtures.check_window_counts: [None, [], [5], {}],
    arguments.as_integers: NOT_INTEGER_ARRAYS,
    arguments.check_path: NOT_PATHS,
    arguments.check_unicode: NOT_TEXTS,
}


def checked_functions() -> dict[str, object]:
    """All functions and methods under `@checked`, by where they live."""
    found = {}
    for module in pkgutil.walk_packages(course_lib.__path__, "course_lib."):
        if any(part in module.name for part in NOT_LOADED):
            continue
        loaded = importlib.import_module(module.name)
        here = [value for value in vars(loaded).values() if getattr(value, "__module__", None) == module.name]
        methods = [entry for value in here if inspect.isclass(value) for entry in vars(value).values()]
        for value in [*here, *methods]:
            value = getattr(value, "__func__", value)
            if inspect.isfunction(value) and hasattr(value, "is_checked"):
                found[f"{module.name.removeprefix('course_lib.')}.{value.__qualname__}"] = value
    return found


CHECKED = checked_functions()


def impossible_for(check: object) -> list[object]:
    """Values that the check of an annotation must refuse."""
    if isinstance(check, OrNone):
        return [value for value in impossible_for(check.check) if value is not None]
    if isinstance(check, AtLeast):
        beyond = [] if check.maximum is None else [check.maximum + 1, 2**70 + check.maximum]
        return [*NOT_INTEGERS, check.minimum - 1, -(2**70), *beyond]
    if isinstance(check, Finite):
        bounds = [(check.minimum, -1), (check.maximum, 1)]
        beyond = [bound + step for bound, step in bounds if bound is not None]
        beyond += [] if check.above is None else [check.above, check.above - 1]
        return [*NEVER_A_NUMBER, math.inf, -math.inf, 10**400, *beyond]
    if isinstance(check, OneOf):
        return [*NOT_A_NAME, "no such name"] if None not in check.choices else [5, b"a", [], "no such name"]
    if isinstance(check, Several):
        return NOT_SEVERAL
    if isinstance(check, InstanceOf):
        return [None, object()]
    return OF_A_FUNCTION[check]


def test_the_functions_are_found():
    assert len(CHECKED) > 150
    assert {
        "sliding_windows.count_windows",
        "sliding_windows.make_dataloader",
    } <= set(CHECKED)


@pytest.mark.parametrize("name", CHECKED)
def test_every_argument_refuses_what_it_cannot_be(name):
    function = CHECKED[name]
    by_name, in_order = checks_of(function.__wrapped__)
    assert by_name, "nothing is declared"
    for argument, check in by_name.items():
        for value in impossible_for(check.func):
            with pytest.raises((TypeError, ValueError), match=rf"^{argument} must ") as by_keyword:
                function(**{argument: value})
            if check in in_order:  # the arguments before it are not what is asked here
                with pytest.raises(type(by_keyword.value), match=rf"^{argument} must "):
                    check(value)


@pytest.mark.parametrize("name", CHECKED)
def test_an_argument_that_may_be_left_out_has_a_default_of_its_kind(name):
    function = CHECKED[name].__wrapped__
    checks, _ = checks_of(function)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in checks and parameter.default is not parameter.empty:
            checks[parameter.name](parameter.default)


@pytest.mark.parametrize("name", CHECKED)
def test_numbers_arrive_as_plain_numbers(name):
    checks, _ = checks_of(CHECKED[name].__wrapped__)
    for argument, check in checks.items():
        kind = getattr(check.func, "check", check.func)
        if isinstance(kind, AtLeast) and abs(kind.minimum) < 100:
            for scalar in (
                np.int8(kind.minimum),
                np.array(kind.minimum),
                torch.tensor(kind.minimum),
            ):
                assert type(check(scalar)) is int, argument
        if isinstance(kind, Finite):
            least = kind.minimum if kind.above is None else kind.above
            number = (least or 0.0) + 0.25
            assert type(check(np.float32(number))) is float, argument


@arguments.checked
def sample(
    count: arguments.Count,
    ids: arguments.Ids = (),
    *rest: int,
    flag: bool = False,
    **more: int,
) -> tuple:
    """Return what arrived."""
    return count, ids, rest, flag, more


def test_a_checked_function_is_called_like_any_other():
    assert sample(np.int16(3)) == (3, (), (), False, {})
    count, ids, rest, flag, more = sample(1, [2, 3], "a", "b", flag=np.True_, other="c")
    assert (count, ids.tolist(), rest, flag, more) == (
        1,
        [2, 3],
        ("a", "b"),
        True,
        {"other": "c"},
    )
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'count'"):
        sample()
    with pytest.raises(TypeError, match="multiple values for argument 'count'"):
        sample(1, count=2)


def test_a_checked_function_keeps_its_signature_its_words_and_its_source():
    assert str(inspect.signature(sample)).startswith("(count:")
    assert sample.__doc__ == "Return what arrived."
    assert inspect.getsource(sample).startswith("@arguments.checked\ndef sample(")
