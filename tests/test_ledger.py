"""The token ledger against a twin that walks through every window token by token."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.foundation import token_ledger
from course_lib.foundation.ledger import why_unused


def naive_contexts(starts: list[int], num_tokens: int, context_length: int) -> tuple[list[int], list[list[int]]]:
    """Count each token's turns as an input, and list its left contexts, one for each turn as a target."""
    as_input = [0] * num_tokens
    contexts: list[list[int]] = [[] for _ in range(num_tokens)]
    for start in starts:
        for t in range(context_length):
            as_input[start + t] += 1
            contexts[start + t + 1].append(t + 1)
    return as_input, contexts


def naive_reason(token: int, starts: list[int], used: bool, context_length: int, given_reasons) -> str:
    if used:
        return "used"
    for name, positions in reversed(list(given_reasons.items())):  # of two names, the later one counts
        if token in positions:
            return name
    if not starts or token > max(starts) + context_length:
        return "tail"
    return "offset" if token < min(starts) else "gap"


@st.composite
def schemes(draw):
    context_length = draw(st.integers(1, 8))
    num_tokens = draw(st.integers(0, 40))
    last = num_tokens - context_length - 1
    # In no order, and with repeats, as a random scheme picks them; also none at all.
    starts = draw(st.lists(st.integers(0, last), max_size=12)) if last >= 0 else []
    positions = st.lists(st.integers(0, num_tokens - 1), max_size=6) if num_tokens else st.just([])
    reasons = draw(st.dictionaries(st.sampled_from(["dropped batch", "row remainder"]), positions))
    return starts, num_tokens, context_length, reasons


# token_ledger


@given(schemes())
@settings(deadline=None, max_examples=200)
def test_every_count_is_that_of_walking_through_every_window(scheme):
    starts, num_tokens, context_length, reasons = scheme
    ledger = token_ledger(starts, num_tokens, context_length, reasons=reasons)
    as_input, contexts = naive_contexts(starts, num_tokens, context_length)
    assert ledger.as_input.tolist() == as_input
    assert ledger.as_target.tolist() == [len(turns) for turns in contexts]
    assert ledger.context_sum.tolist() == [sum(turns) for turns in contexts]
    assert ledger.longest_context.tolist() == [max(turns, default=0) for turns in contexts]
    used = [as_input[p] + len(contexts[p]) > 0 for p in range(num_tokens)]
    expected = [naive_reason(p, starts, used[p], context_length, reasons) for p in range(num_tokens)]
    assert [ledger.reasons[code] for code in ledger.reason] == expected
    assert ledger.used == sum(used)
    assert ledger.targets == sum(1 for turns in contexts if turns)
    assert ledger.dropped == {name: expected.count(name) for name in set(expected) - {"used"}}
    turns = [context for turns in contexts for context in turns]
    assert ledger.mean_context == pytest.approx(sum(turns) / len(turns) if turns else math.nan, nan_ok=True)
    assert (ledger.num_tokens, ledger.num_windows, ledger.context_length) == (num_tokens, len(starts), context_length)
    # the books balance
    assert ledger.used + sum(ledger.dropped.values()) == num_tokens
    assert ledger.as_target.sum() == ledger.as_input.sum() == len(starts) * context_length
    assert ledger.targets <= ledger.used


@given(st.lists(st.integers(0, 20), max_size=12), st.randoms())
@settings(deadline=None, max_examples=50)
def test_the_order_and_the_shape_of_starts_do_not_matter(starts, random):
    shuffled = random.sample(starts, len(starts))
    one, other = token_ledger(sorted(starts), 30, 5), token_ledger(np.array(shuffled, dtype=int)[None], 30, 5)
    for name in ("as_input", "as_target", "context_sum", "longest_context", "reason"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


def test_as_many_reasons_as_one_likes_can_be_named():
    for number, dtype in ((124, np.int8), (125, np.int16), (1000, np.int16)):
        ledger = token_ledger([0], 3 + number, 2, reasons={f"row {i}": [3 + i] for i in range(number)})
        assert ledger.dropped == {f"row {i}": 1 for i in range(number)}
        assert ledger.reason.dtype == dtype


def test_ledgers_are_equal_if_all_their_entries_are():
    one = token_ledger([0, 4], 10, 4)
    assert one == token_ledger([4, 0], 10, 4)
    for other in (token_ledger([0, 5], 10, 4), token_ledger([0, 4], 11, 4), token_ledger([], 10, 4), "ledger", None):
        assert one != other
    assert one != token_ledger([0, 4], 10, 4, reasons={"lost": [9]})


@st.composite
def windows_of_any_length(draw):
    """Windows of which none lies inside another, in any order: (start, length) of each, and N."""
    num_tokens = draw(st.integers(1, 30))
    starts = sorted(draw(st.lists(st.integers(0, num_tokens - 1), max_size=6)))
    windows, last_end = [], 0
    for start in starts:
        last_end = draw(st.integers(max(start, last_end), num_tokens - 1))
        windows.append((start, last_end - start))
    return draw(st.permutations(windows)), num_tokens


@given(windows_of_any_length())
def test_windows_may_be_of_different_lengths(scheme):
    windows, num_tokens = scheme
    starts, lengths = [start for start, _ in windows], [length for _, length in windows]
    ledger = token_ledger(starts, num_tokens, np.array(lengths, dtype=np.int64))
    contexts = [[p - s for s, length in windows if s < p <= s + length] for p in range(num_tokens)]
    assert ledger.as_input.tolist() == [sum(s <= p < s + length for s, length in windows) for p in range(num_tokens)]
    assert ledger.as_target.tolist() == [len(found) for found in contexts]
    assert ledger.context_sum.tolist() == [sum(found) for found in contexts]
    assert ledger.longest_context.tolist() == [max(found, default=0) for found in contexts]
    assert ledger.used + sum(ledger.dropped.values()) == num_tokens


def test_places_of_narrow_integers_do_not_overflow():
    ledger = token_ledger(np.array([1], dtype=np.int8), 300, np.int8(120))
    assert ledger.as_target.tolist() == [0, 0] + [1] * 120 + [0] * 178
    late = token_ledger(np.array([70_000], dtype=np.uint32), 80_000, np.int16(2))
    assert list(late.dropped.items()) == [("offset", 70_000), ("tail", 9_997)]
    assert list(token_ledger([3, 10], 20, 4).dropped) == ["offset", "gap", "tail"]  # in the order of the stream
    assert token_ledger(np.array([3, 0]), 6, np.array([2, 1], dtype=np.int8)).as_target.tolist() == [0, 1, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("starts", "num_tokens", "context_length", "words"),
    [
        ([0, 5], 9, 4, "starts must lie in 0 ... 4: 5 ids (context_length + 1) are needed"),
        ([-1, 0], 9, 4, "starts must lie in 0 ... 4"),
        ([2**63 - 1], 99, 4, "starts must lie in 0 ... 94"),
        ([0], 4, 4, "starts must lie in nothing at all"),
        ([0], 0, 4, "starts must lie in nothing at all"),
        ([0], 9, 2**64, "starts must lie in nothing at all"),
        ([0, 2**62], 99, [3, 2**62], "starts must lie in nothing at all"),
        ([0, 4], 9, [4, 5], "starts must lie in 0 ... 3: 6 ids"),
        ([0, 1], 9, [4], "context_length must be one number, or one for each start"),
        ([0, 4], 9, [4, -1], "context_length must be an integer of at least 0, got -1"),
        ([0, 4], 9, [4, True], "context_length must be integers"),
        ([0], 9, 0, "context_length must be"),
        ([0], 9, "4", "context_length must be"),
        ([0, 2], 10, [8, 3], "windows must not lie inside one another, but the one at 2 ends before"),
    ],
)
def test_windows_lie_within_the_stream_and_not_within_another(starts, num_tokens, context_length, words):
    with pytest.raises((TypeError, ValueError), match=rf"^{re.escape(words)}"):
        token_ledger(starts, num_tokens, context_length)


@pytest.mark.parametrize(
    ("reasons", "words"),
    [
        ({"lost": [-1, 5]}, "reasons['lost'] must lie in 0 ... 9, got -1"),
        ({"lost": [9, 10]}, "reasons['lost'] must lie in 0 ... 9"),
        ({"lost": [0.5]}, "reasons['lost'] must be integers"),
        ({"lost": np.ones(10, dtype=bool)}, "reasons['lost'] must be integers"),
        ({"used": []}, "reasons must not be called 'used', 'offset'"),
        ({"gap": [8]}, "reasons must not be called 'used', 'offset'"),
        ({8: [8]}, "a name of reasons must be a str"),
    ],
)
def test_reasons_have_names_of_their_own_and_tokens_of_the_stream(reasons, words):
    with pytest.raises((TypeError, ValueError), match=rf"^{re.escape(words)}"):
        token_ledger([0], 10, 4, reasons=reasons)


# TokenLedger.__str__


def test_a_ledger_is_told_in_words():
    ledger = token_ledger([0, 4], 11, 3, reasons={"too old": [8]})
    rows = [line.rsplit(maxsplit=1) for line in str(ledger).splitlines() if line]
    assert [(name.strip(), count) for name, count in rows] == [
        ("used as input or target", "8"),
        ("dropped: too old", "1"),
        ("dropped: tail", "2"),
        ("all tokens", "11"),
        ("windows", "2"),
        ("predictions made", "6"),
        ("a target at least once", "6"),
        ("never a target", "5"),
        ("fewest turns as a target", "1"),
        ("most turns as a target", "1"),
    ]
    assert "turns" not in str(token_ledger([], 4, 3))


# why_unused


def test_what_is_unused_lies_before_between_or_behind_or_has_a_reason_given():
    assert why_unused(np.array([False, True, False, True, False]), {})[0].tolist() == [1, 0, 2, 0, 3]
    assert why_unused(np.zeros(3, dtype=bool), {})[0].tolist() == [3, 3, 3]
    codes, names = why_unused(np.array([True, False]), {"lost": [0, 1]})
    assert (codes.tolist(), names) == ([0, 2], ("used", "offset", "lost", "gap", "tail"))
