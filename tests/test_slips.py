"""Tables of slips: what they change in a right way, and what is said of one, of two, and of those that do not fit."""

from __future__ import annotations

import ast

import pytest

from course_lib.teaching import exercise
from course_lib.teaching.checker import PASSED
from course_lib.teaching.checker.slips import FromSource, RightWay, TooManyRounds, rows_of, with_words_in_full


def way(numbers, extra):
    """Return the numbers that are larger than `extra`, with extra added."""
    total, found = 0, []
    for number in numbers:
        if number > extra:
            total += number
        found.append(max(0, total - extra))
    return found


def with_slip(code: str) -> str:
    (slip,) = RightWay(way, f"{code}\n    words.").slips([])
    return RightWay(way, "").with_slips(slip)


def as_written(source: str) -> str:
    return ast.unparse(ast.parse(source))


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("number > extra => number >= extra", "number > extra", "number >= extra"),
        ("max(0, ...) => ...", "max(0, total - extra)", "total - extra"),
        ("max(0, ...) => (...)", "max(0, total - extra)", "(total - extra)"),
        ("append(...) => insert(0, ...)", "append(max(0, total - extra))", "insert(0, max(0, total - extra))"),
        ("append(max(0, ...)) => append(1)", "max(0, total - extra)", "1"),
        ("- extra =>", "total - extra", "total "),
        ("return => return not", "return found", "return not found"),
        ("total,found=0,[] => total,found=1,[]", "total, found = 0", "total, found = 1"),
        ("total += => total -=", "total += number", "total -= number"),
        ("> extra => >= 0 ; - extra => + 1", "> extra ; - extra", ">= 0 ; + 1"),
        ("return found => found.pop() ⏎ return found", "return found", "found.pop()\n    return found"),
        ("total += number ⏎ found => total += 1 ⏎ found", "total += number", "total += 1"),
    ],
)
def test_a_slip_is_written_in_place_of_what_stands_there(code, old, new):
    expected = RightWay(way, "").source
    for one, other in zip(old.split(" ; "), new.split(" ; "), strict=True):
        assert expected.count(one) == 1
        expected = expected.replace(one, other)
    assert as_written(with_slip(code)) == as_written(expected)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("nothing => something", "occurs 0 times"),
        ("extra => 1", "occurs 2 times"),
        ("larger => 1", "occurs 0 times"),  # in the docstring only
        ("tota => 1", "occurs 0 times"),  # a part of a name
        ("> extra => > extra", "no change"),
        ("> extra", "no change"),
        ("max(... => 1", "no change"),
        ("max(0, ...) => ... + ...", "as many `...`"),
    ],
)
def test_a_slip_that_does_not_fit_its_way_is_refused(code, message):
    with pytest.raises(ValueError, match=message):
        with_slip(code)


def test_two_slips_fit_together_if_they_change_different_places():
    slips = RightWay(way, "> extra => >= extra\n    a.\n> extra => > 0\n    b.\nmax(0, ...) => (...)\n    c.").slips([])
    assert [one.fits(two) for one, two in ((slips[0], slips[1]), (slips[0], slips[2]))] == [True, True]
    slips = RightWay(way, "> extra => < extra\n    a.\n> extra => == 0\n    b.").slips([])
    assert not slips[0].fits(slips[1])


def test_a_table_has_rows_and_rows_share_words_or_take_those_from_above():
    rows = rows_of("""
        [number for number in
            numbers]
            two lines
            of words.
        first => second
        third => fourth
            other words.
        fifth
            two lines…
    """)
    assert rows == [
        ("[number for number in numbers]", "two lines of words."),
        ("first => second", "other words."),
        ("third => fourth", "other words."),
        ("fifth", "two lines…"),
    ]
    assert rows_of("first => \\\n    second\n    words.\n") == [("first => second", "words.")]  # as in a raw string
    assert with_words_in_full(rows, [])[-1] == ("fifth", "two lines of words.")
    with pytest.raises(ValueError, match="0 rows above begin 'unheard of'"):
        with_words_in_full([("code", "unheard of…")], [])


@pytest.mark.parametrize("table", ["code without words", "    words", "code\n    words.\nmore code"])
def test_code_without_words_is_refused(table):
    with pytest.raises(ValueError, match="words"):
        rows_of(f"x\n    y.\n{table}" if table.startswith("code") else table)


@pytest.mark.parametrize(
    "source",
    [
        "def f(n):\n    while n or n:\n        n += 1",
        "def f(n):\n    while m := n:\n        n = m",
        "def f(n):\n    while (\n        n\n    ):\n        n += 1",
        "def f(n):\n    items = [n]\n    for item in items:\n        items.append(item)",
    ],
)
def test_a_loop_without_end_is_ended(source):
    with pytest.raises(TooManyRounds):
        FromSource(source, way)(1)


def test_who_calls_itself_calls_the_one_with_the_slip():
    assert FromSource("def way(n):\n    return n and 2 + way(n - 1)", way)(3) == 6


def sums_to(last, size):
    return sum(range(0, last + 1, size))


@exercise(cases=lambda random: [(last, size) for last in range(1, 12) for size in (1, 2, 3)], hints=("a", "b"))
def total(last: int, size: int) -> int:
    """Add up every number from 0 to `last` in steps of `size`."""
    found = 0
    for number in range(0, last + 1, size):
        found += number
    return found


total.slips("""
    last + 1 => last
        the last number is left out.
    , size) => )
        the steps are of 1.
    found = 0 => found = 1
        the sum begins with 1.
    found += => found =
        the last number alone: nothing is added up.
""")
total.right_way("""
    , size) => )
        the steps are of 1.
    range(0 => range(1
        the numbers begin with 1.
    last + 1 => last
        the last number is left…
""")(sums_to)
total.answers("""
    last // size
        how many numbers there are is counted.
""")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            lambda last, size: sum(range(last)),
            ["two slips at once. (1) The last number is left out. (2) The steps are"],
        ),
        (
            lambda last, size: sum(range(0, last, size)) + 1,
            ["(1) The last number is left out. (2) The sum begins with 1."],
        ),
        (lambda last, size: sum(range(0, last, size)), ["the last number is left out."]),
        (lambda last, size: sum(range(1, last, size)), ["The numbers begin with 1. (2) The last number is left out."]),
        (lambda last, size: last // size, ["how many numbers there are is counted."]),
    ],
)
def test_one_slip_is_named_and_two_are_named_together(answer, words):
    diagnosis = total.judge(answer, guarded=False).diagnosis
    assert all(word in diagnosis for word in words), diagnosis


def test_every_way_is_right_and_singles_come_before_pairs():
    assert all(total.judge(way.function, guarded=False).outcome == PASSED for way in total.ways)
    assert len(total.mistakes) == 8
    assert {len(pair.words) for pair in total.pairs} == {2}
    assert all(pair.diagnosis.startswith("two slips at once. (1) ") for pair in total.pairs)


@exercise(cases=lambda random: [(number,) for number in range(3)], hints=("a", "b"))
def listed(number: int) -> list[int]:
    """Return a list of one number."""
    return [number]


listed.slips("""
    [number] => [number
        the bracket stays open.
    return => return 1
        a number stands before.
    return => return -
        a sign stands before.
""")


@pytest.mark.filterwarnings("error")
def test_all_are_compiled_at_once_without_a_word():
    listed.compile()
    assert ["function" in vars(one.function) for one in listed.mistakes] == [False, True, True]


@exercise(cases=lambda random: [(number,) for number in range(6)], hints=("a", "b"))
def named(number: int) -> tuple[str, int]:
    """Return a name and a number."""
    return "half", number


def test_a_whole_float_beside_a_name_is_told():
    diagnosis = named.judge(lambda number: ("half", number / 1), guarded=False).diagnosis
    assert diagnosis.startswith("the values are right, but a float where an integer is wanted")
    assert named.judge(lambda number: ("whole", number), guarded=False).diagnosis is None
