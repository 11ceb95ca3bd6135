"""Texts become ids and come back, and many texts become one compact stream."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models

from any_tokenizer import BOS, END, KINDS, TEXTS, each_kind, framed, library, refuses, wrapped
from course_lib import foundation
from course_lib.foundation import (
    CharTokenizer,
    document_marks,
    encode_corpus,
    encode_each,
    encode_named,
    plain_tokenizer,
)

NUMBERS = SimpleNamespace(encode=lambda text: [int(text)], end_of_text_id=0)


def words(**ids: int) -> Tokenizer:
    return Tokenizer(models.WordLevel(ids, unk_token="?"))


# CharTokenizer

UNICODE = st.text(st.characters(exclude_categories=("Cs",)), min_size=1)


@given(UNICODE, UNICODE)
@settings(deadline=None, max_examples=60)
def test_each_character_is_a_token_and_one_outside_the_alphabet_is_named(alphabet, other):
    tokenizer = CharTokenizer(alphabet)
    assert tokenizer.characters == "".join(sorted(set(alphabet)))
    assert tokenizer.vocab_size == tokenizer.end_of_text_id + 1 == len(set(alphabet)) + 1
    for text in (alphabet, other):
        unknown = [position for position, character in enumerate(text) if character not in alphabet]
        if unknown:
            named = f"character {text[unknown[0]]!r} at position {unknown[0]} is not in the alphabet"
            refuses(ValueError, named, tokenizer.encode, text)
            continue
        ids = tokenizer.encode(text)
        assert (ids.shape, ids.dtype) == ((len(text),), np.uint16)
        assert [tokenizer.characters[i] for i in ids] == list(text)
        assert tokenizer.decode(ids) == text


def test_ids_end_with_the_end_of_text_and_get_wider_when_they_must():
    assert CharTokenizer("ba").decode(np.array([2, 1], dtype=np.uint8)) == "<|endoftext|>b"
    assert CharTokenizer("ba").encode("").tolist() == []
    for wrong in ([0, 3], [0, -1]):
        refuses(ValueError, "ids must lie in 0 ... 2", CharTokenizer("ba").decode, wrong)
    refuses(ValueError, "characters must not be empty", CharTokenizer, "")
    alphabet = "".join(map(chr, range(0x10000, 0x10000 + 65_536)))
    assert CharTokenizer(alphabet).encode(alphabet[-1]).dtype == np.uint32  # the end-of-text id is 65,536
    assert CharTokenizer(alphabet[:-1]).encode(alphabet[0]).dtype == np.uint16


@given(st.text("aabbcdeé漢🙂\ufffd", min_size=1, max_size=30), st.integers(1, 9))
@settings(deadline=None, max_examples=100)
def test_the_most_frequent_characters_stay_and_one_stands_for_all_others(text, max_characters):
    tokenizer = CharTokenizer(text, max_characters=max_characters)
    kept = sorted(set(text), key=lambda character: (-text.count(character), character))[:max_characters]
    replaced = "".join(character if character in kept else "\ufffd" for character in text)
    assert tokenizer.decode(tokenizer.encode(text)) == replaced
    if len(set(text)) <= max_characters:
        assert tokenizer.characters == CharTokenizer(text).characters
        assert tokenizer.replacement_id is None
    else:
        assert tokenizer.characters == "".join(sorted({*kept, "\ufffd"}))
        assert tokenizer.encode("Ω").tolist() == [tokenizer.characters.index("\ufffd")]  # what it never showed, too
    assert tokenizer.end_of_text_id == tokenizer.vocab_size - 1 == len(tokenizer.characters)


# encode_corpus and encode_each


@given(st.lists(st.text("abc", max_size=5), min_size=1, max_size=6))
@settings(deadline=None)
def test_each_document_is_followed_by_an_end_of_text(texts):
    naive = [[*("abc".index(character) for character in text), 3] for text in texts]
    stream = encode_corpus(iter(texts), CharTokenizer("abc"))
    assert stream.tolist() == [token for ids in naive for token in ids]
    assert stream.dtype == np.uint16
    assert [ids.tolist() for ids in encode_each(texts, CharTokenizer("abc"))] == naive


@each_kind
def test_each_text_has_one_beginning_and_one_end_wherever_its_tokenizer_puts_them(kind):
    tokenizer = kind.make()
    expected = [framed(kind, tokenizer, text) for text in TEXTS]
    got = encode_each(TEXTS, tokenizer, end_of_text_id=kind.end_of_text_id)
    assert [ids.tolist() for ids in got] == expected
    stream = encode_corpus(TEXTS, tokenizer, end_of_text_id=kind.end_of_text_id, progress=False)
    assert stream.tolist() == [token for ids in expected for token in ids]
    plain, end = plain_tokenizer(tokenizer, kind.end_of_text_id)
    assert plain_tokenizer(plain, end) == (plain, end)  # so may whoever has unwrapped it already
    assert [ids.tolist() for ids in encode_each(TEXTS, plain, end_of_text_id=end)] == expected
    if kind is not KINDS["characters"]:
        (pair,) = encode_each(["low \ud83d\ude00"], tokenizer, end_of_text_id=kind.end_of_text_id)
        assert pair.tolist() == framed(kind, tokenizer, "low \U0001f600")
    begin, own_end = document_marks(tokenizer)
    assert begin == (kind.begin or [None])[0]
    assert kind.end_of_text_id is not None or own_end == (kind.end or [None])[0]


def test_a_longer_frame_is_put_around_whole():
    ids = next(encode_each(["low"], library("[CLS] <s> $A [SEP] <|endoftext|>"))).tolist()
    assert (ids[:2], ids[-2:]) == ([2, BOS], [3, END])


def test_an_added_token_that_is_not_special_is_a_word_and_a_special_one_is_plain_text():
    tokenizer = library()
    tokenizer.add_tokens([AddedToken("<|User|>", special=False), AddedToken("<|Assistant|>", special=True)])
    user, assistant = map(tokenizer.token_to_id, ("<|User|>", "<|Assistant|>"))
    ids = encode_corpus(["low <|User|>new", "<|Assistant|>low"], tokenizer, end_of_text_id=END).tolist()
    assert ids.count(user) == 1
    assert assistant not in ids
    assert tokenizer.decode(ids, skip_special_tokens=False).count("<|Assistant|>") == 1  # spelled out


@pytest.mark.parametrize("make", [KINDS["lesson 7"].make, lambda: CharTokenizer("abcdefghijklmnopqrstuvwxyz ")])
def test_a_batch_ends_with_its_characters_as_well_as_with_its_texts(make, monkeypatch):
    tokenizer, texts, read = make(), ["some text"] * 40, 0
    expected = [ids.tolist() for ids in encode_each(texts, tokenizer)]

    def reading():
        nonlocal read
        for text in texts:
            read += 1
            yield text

    monkeypatch.setattr(foundation.texts, "BATCH_CHARACTERS", 30)
    got = []
    for number, ids in enumerate(encode_each(reading(), tokenizer)):
        assert read <= number + 4
        got.append(ids.tolist())
    assert got == expected


@pytest.mark.parametrize(("end", "dtype"), [(65_535, np.uint16), (65_536, np.uint32), (70_000, np.uint32)])
def test_the_stream_is_as_wide_as_its_largest_id(end, dtype):
    stream = encode_corpus(["1", "2"], NUMBERS, end_of_text_id=end)
    assert stream.tolist() == [1, end, 2, end]
    assert stream.dtype == dtype
    assert [ids.dtype for ids in encode_each(["1", str(end)], NUMBERS)] == [np.uint16, dtype]


def test_ids_come_in_any_form_and_are_copied():
    for dtype in (np.uint8, np.uint32, np.int64):
        tokenizer = SimpleNamespace(encode=lambda text, dtype=dtype: np.full(2, 5, dtype=dtype), end_of_text_id=0)
        assert encode_corpus(["a"], tokenizer).dtype == np.uint16
    an_object = SimpleNamespace(encode=lambda text: SimpleNamespace(ids=[*text.encode()]), end_of_text_id=0)
    assert encode_corpus(["ab"], an_object).tolist() == [97, 98, 0]
    buffer = np.zeros(1, dtype=np.uint16)  # the same each time
    tokenizer = SimpleNamespace(encode=lambda text: buffer.__iadd__(1), end_of_text_id=0)
    assert [ids.tolist() for ids in encode_each(["b", "c"], tokenizer)] == [[1, 0], [2, 0]]


@pytest.mark.parametrize(
    ("texts", "tokenizer", "options", "error", "message"),
    [
        ([], NUMBERS, {}, ValueError, "texts must hold at least one document"),
        (["-1"], NUMBERS, {}, ValueError, "ids must not be negative, got -1"),
        ([str(2**32)], NUMBERS, {}, ValueError, "ids must fit into 32 bits"),
        (["c"], CharTokenizer("ab"), {}, ValueError, "text 0 cannot be encoded: character 'c' at position 0"),
        (["a"], words(), {"end_of_text_id": 0}, ValueError, "tokenizer must have a vocabulary"),
        (["a"], SimpleNamespace(encode=str, end_of_text_id=0), {}, TypeError, "got text (str)"),
        (["1"], NUMBERS, {"progress": 0}, TypeError, "progress must be True or False"),
    ],
)
def test_what_cannot_become_a_stream_is_refused(texts, tokenizer, options, error, message):
    refuses(error, message, encode_corpus, texts, tokenizer, **options)


# encode_named


@pytest.mark.parametrize(
    ("name", "shown"), [(7, "text 7"), (np.int64(7), "text 7"), ("a.txt, line 3", "a.txt, line 3")]
)
def test_texts_come_with_their_ids_and_one_that_cannot_be_encoded_is_named(name, shown):
    texts = [(number, "ab") for number in range(1_500)]
    for tokenizer in (CharTokenizer("ab"), words(ab=0)):
        pairs = encode_named([*texts, (name, "abz")], tokenizer, end_of_text_id=2)
        text, ids = next(pairs)
        assert (text, ids[-1]) == ("ab", 2)
        with pytest.raises(ValueError, match=rf"^{shown} cannot be encoded: .+") as caught:
            list(pairs)
        assert caught.value.__cause__ is not None


# plain_tokenizer and document_marks


@pytest.mark.parametrize(
    ("tokenizer", "end", "message"),
    [
        (library, None, "end_of_text_id must be given: this tokenizer has none of its own"),
        (lambda: library("[CLS] $A [SEP]"), 0, "end_of_text_id must be None: this tokenizer ends each text"),
        (lambda: wrapped("[CLS] $A"), -1, "end_of_text_id must be an integer of at least 0"),
        (KINDS["tiktoken, no end"].make, None, "end_of_text_id must be given"),
        (lambda: CharTokenizer, 0, "tokenizer must have a method encode(text), got a class"),
        (lambda: "abc", 0, "tokenizer must have a method encode(text), got str"),  # though a str has one
        (lambda: SimpleNamespace(encode=5), 0, "tokenizer must have a method encode(text)"),
        (lambda: SimpleNamespace(encode=str, eot_token=2.0), None, "eot_token must be an integer"),
    ],
)
def test_what_is_no_tokenizer_or_tells_nobody_where_a_text_ends_is_refused(tokenizer, end, message):
    refuses((ValueError, TypeError), message, plain_tokenizer, tokenizer(), end)


def test_what_has_only_special_ids_has_marks():
    assert document_marks(SimpleNamespace(eos_token_id=3)) == (None, 3)
    assert document_marks(None) == document_marks(words(a=0)) == (None, None)


@pytest.mark.parametrize("wraps", [False, True])
def test_what_draws_at_random_is_switched_off_in_a_copy_and_said(wraps):
    tokenizer = KINDS["lesson 7"].make()
    text = TEXTS[0] * 50
    steady = encode_corpus([text], tokenizer)
    tokenizer.model.dropout = 0.5
    given = SimpleNamespace(backend_tokenizer=tokenizer) if wraps else tokenizer
    assert len({tuple(tokenizer.encode(text).ids) for _ in range(5)}) > 1
    for encode in (encode_corpus, lambda *both: next(encode_each(*both))):
        with pytest.warns(UserWarning, match=r"has dropout=0\.5, .* switched off here"):
            assert encode([text], given).tolist() == steady.tolist()
    assert tokenizer.model.dropout == 0.5
    with pytest.warns(UserWarning, match="switched off"):
        plain, end = plain_tokenizer(given)
    assert plain_tokenizer(plain, end) == (plain, end)  # which is told once


def test_a_model_of_unigrams_that_samples_is_switched_off_too():
    tokenizer = Tokenizer(models.Unigram([("?", 0.0), ("a", -1.0), ("b", -1.0), ("ab", -1.5)], unk_id=0))
    tokenizer.model.alpha = 0.1
    with pytest.warns(UserWarning, match=r"has alpha=0\.1, "):
        assert encode_corpus(["ab" * 30], tokenizer, end_of_text_id=0).tolist() == [3] * 30 + [0]


def test_a_tokenizer_that_gives_other_ids_the_second_time_is_refused():
    random = np.random.default_rng(0)
    drawn = SimpleNamespace(encode=lambda text: [int(random.integers(100))] * 9, end_of_text_id=0)
    with pytest.raises(ValueError, match="must give a text the same ids each time, but text 0 got others"):
        encode_corpus(["a", "b"], drawn)
