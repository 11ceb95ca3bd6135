"""The same text twice: counted and left out as a loop over all pairs of texts would do it."""

import unicodedata

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
def test_what_is_kept_has_no_copies(case):
    texts, _ = case
    without = list(drop_copies(iter(texts)))
    assert count_copies(without).copies == 0
    assert {*map(normalized, without)} == {*map(normalized, texts)}


def test_any_letter_is_the_same_in_upper_case():
    letters = [chr(number) for number in range(0x20, 0x3000) if unicodedata.category(chr(number)) in ("Ll", "Lt")]
    # but the Turkish i without a dot, whose capital is the usual one
    assert [letter for letter in letters if normalized(letter) != normalized(letter.upper())] == ["ı"]
