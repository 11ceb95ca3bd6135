"""The same text twice: counted and left out as a loop over all pairs of texts would do it."""

import unicodedata
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.foundation import (
    candidate_pairs,
    containment,
    count_copies,
    drop_copies,
    match_probability,
    minhash,
    normalized,
    shingles,
    similarity,
)
from course_lib.foundation.copies import Copies

# normalized


def test_what_makes_no_other_text():
    assert normalized("  Straße\n\tOﬃce １２ ") == normalized("STRASSE office 12")
    assert normalized("a b") != normalized("ab")
    assert normalized("") == normalized(" \n") == ""


def test_any_letter_is_the_same_in_upper_case():
    letters = [chr(number) for number in range(0x20, 0x3000) if unicodedata.category(chr(number)) in ("Ll", "Lt")]
    # but the Turkish i without a dot, whose capital is the usual one
    assert [letter for letter in letters if normalized(letter) != normalized(letter.upper())] == ["ı"]


def test_raised_and_lowered_numbers_are_not_set_on_the_line():
    pairs = [("10² words", "102 words"), ("H₂O", "H2O"), ("1½", "11/2"), ("x³", "x3"), ("2⁄3", "23")]
    assert count_copies([text for pair in pairs for text in pair]).copies == 0
    same = [("10²", "10^2"), ("ﬁne", "fine"), ("ＡＢ", "ab"), ("Ⅳ", "iv")]
    assert count_copies([text for pair in same for text in pair]).copies == len(same)


def test_a_letter_of_two_marks_is_the_same_in_upper_case():
    assert normalized("\u0390".upper()) == normalized("\u0390")


# count_copies, drop_copies

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


@pytest.mark.parametrize("count", [count_copies, lambda texts: list(drop_copies(texts))])
@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ("aa", "texts must be several texts"),
        ({"text": ["a"]}, "texts must be several texts"),
        (["a", 5], "texts.1. must be a str"),
    ],
)
def test_what_holds_no_texts_is_refused(count, texts, words):
    with pytest.raises(TypeError, match=rf"^{words}"):
        count(texts)


# shingles, similarity, containment


@given(st.lists(st.sampled_from(["a", "B", "ﬃ"]), max_size=9), st.integers(1, 10))
def test_shingles_are_all_runs_of_words(words, size):
    plain = [normalized(word) for word in words]
    runs = {" ".join(plain[i : i + size]) for i in range(len(plain)) if i + size <= len(plain)}
    assert shingles(" \n".join(words), size) == (runs or {" ".join(plain)})  # a shorter text is one


@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_similarity_is_a_share(a, b):
    both, either = sum(x in b for x in a), sum(x in a or x in b for x in range(10))
    assert similarity(a, b) == similarity(b, a) == (both / either if either else 1)
    assert containment(a, b) == (both / len(a) if a else 1)
    assert (containment(a, b) == 1) == (a <= b)


# minhash


@pytest.mark.parametrize(("shared", "alone"), [(0, 50), (1, 60), (20, 40), (50, 25), (90, 5), (40, 0)])
def test_signatures_agree_as_often_as_sets_are_similar(shared, alone):
    a = {f"both {k}" for k in range(shared)} | {f"a {k}" for k in range(alone)}
    b = {f"both {k}" for k in range(shared)} | {f"b {k}" for k in range(alone)}
    wanted, num_hashes = similarity(a, b), 2_000
    agreed = np.mean([minhash(a, num_hashes, base_seed=s) == minhash(b, num_hashes, base_seed=s) for s in range(3)])
    assert abs(agreed - wanted) <= 5 * np.sqrt(wanted * (1 - wanted) / (3 * num_hashes))


def test_a_signature_depends_on_the_set_and_the_seed_alone():
    signature = minhash(["a", "b", "a"], 64)
    assert signature.dtype == np.uint64
    assert signature.shape == (64,)
    assert np.array_equal(signature, minhash({"b", "a"}, 64))
    assert not (signature == minhash(["a", "b"], 64, base_seed=1)).any()
    assert np.array_equal(minhash(["a", "b"], 64), np.minimum(minhash(["a"], 64), minhash(["b"], 64)))
    assert len(np.unique(signature)) == 64  # each of a hash function of its own


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([], "items must hold"),
        ([b"a"], "each item must be a str, got bytes"),
        (["\ud800"], "each item must be Unicode"),
    ],
)
def test_a_set_of_anything_but_strings_has_no_signature(items, words):
    with pytest.raises((TypeError, ValueError), match=rf"^{words}"):
        minhash(items)


# candidate_pairs


@given(st.data())
def test_candidates_are_the_pairs_that_agree_in_a_band(data):
    bands, rows = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    row = st.lists(st.integers(0, 2), min_size=bands * rows, max_size=bands * rows)
    table = np.array(data.draw(st.lists(row, min_size=1, max_size=8)))
    wanted = {
        (i, j)
        for i, j in combinations(range(len(table)), 2)
        if any((table[i, b * rows : (b + 1) * rows] == table[j, b * rows : (b + 1) * rows]).all() for b in range(bands))
    }
    for layout in (table, np.asfortranarray(table), table.astype(np.uint64), table.tolist()):
        assert candidate_pairs(layout, bands) == wanted


def test_candidates_are_found_as_often_as_foretold():
    rows, bands = 4, 8
    a, b = ({f"{k}" for k in range(60)} | {f"{name} {k}" for k in range(20)} for name in "ab")
    found = sum(
        candidate_pairs([minhash(a, rows * bands, base_seed=s), minhash(b, rows * bands, base_seed=s)], bands)
        == {(0, 1)}
        for s in range(300)
    )
    wanted = float(match_probability(similarity(a, b), rows, bands))
    assert wanted == pytest.approx(1 - (1 - 0.6**4) ** 8)
    assert abs(found / 300 - wanted) <= 5 * np.sqrt(wanted * (1 - wanted) / 300)
    assert match_probability([0, 1], rows, bands).tolist() == [0, 1]
    assert np.all(np.diff(match_probability(np.linspace(0, 1, 50), rows, bands)) >= 0)


@pytest.mark.parametrize(
    ("signatures", "num_bands", "words"),
    [
        ([], 1, r"signatures must .*got shape \(0,\)"),
        ([[]], 1, "num_bands must divide the 0 numbers"),
        ([[1, 2, 3, 4]], 3, r"num_bands must .*got 3"),
    ],
)
def test_bands_divide_signatures(signatures, num_bands, words):
    with pytest.raises(ValueError, match=rf"^{words}"):
        candidate_pairs(signatures, num_bands)


# match_probability


def test_a_probability_is_one_of_a_similarity_however_many_the_rows():
    assert match_probability([0, 0.5, 1], 1, 2).tolist() == [0, 0.75, 1]
    assert (match_probability(1, 2**62, 2**62), match_probability(0.5, 2**62, 1)) == (1, 0)
    for outside in (1.1, -0.1, [0.5, np.nan]):
        with pytest.raises(ValueError, match=r"^similarity must lie in 0 ... 1"):
            match_probability(outside, 1, 1)
    with pytest.raises(TypeError, match=r"^similarity must be numbers"):
        match_probability(True, 1, 1)
