"""The same text twice: counted and left out as a loop over all pairs of texts would do it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.foundation import Copies, count_copies, drop_copies, normalized


def test_what_makes_no_other_text():
    assert normalized("  Straße\n\tOﬃce １２ ") == normalized("STRASSE office 12")
    assert normalized("a b") != normalized("ab")
    assert normalized("") == normalized(" \n") == ""


texts_and_val_every = st.tuples(st.lists(st.sampled_from(["a", "A ", "b", "c", " b"]), max_size=20), st.integers(1, 4))


@settings(max_examples=50)
@given(texts_and_val_every)
def test_copies_are_counted_on_both_sides_of_the_split(case):
    texts, val_every = case
    keys = [normalized(text) for text in texts]
    sides = [number % val_every == 0 for number in range(1, len(texts) + 1)]
    copies = sum(key in keys[:k] for k, key in enumerate(keys))
    across = sum(any(keys[j] == keys[k] and sides[j] != sides[k] for j in range(k)) for k in range(len(texts)))
    assert count_copies(texts, val_every=val_every) == Copies(len(texts), copies, across)


@settings(max_examples=50)
@given(texts_and_val_every)
def test_what_is_kept_has_no_copies_or_none_across_the_split(case):
    texts, val_every = case
    without = list(drop_copies(iter(texts)))
    assert count_copies(without).copies == 0
    assert {*map(normalized, without)} == {*map(normalized, texts)}
    one_side = list(drop_copies(texts, val_every=val_every))
    assert count_copies(one_side, val_every=val_every).across == 0
    assert {*map(normalized, one_side)} == {*map(normalized, texts)}


def test_copies_on_their_own_side_are_kept():
    # numbers 1 to 3 are train, 4 is val
    assert list(drop_copies(["a", "a", "b", "a", "c", "a"], val_every=4)) == ["a", "a", "b", "c", "a"]
    assert count_copies(["a", "b", "a", "a"], val_every=4) == Copies(documents=4, copies=2, across=1)
