"""Texts become ids and come back, and many texts become one compact stream."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import tokenizers
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.foundation import (
    CharTokenizer,
    compact,
    encode_corpus,
    encode_each,
    smallest_dtype,
)

# One token per character


@given(st.text(min_size=1))
@settings(deadline=None, max_examples=60)
def test_any_text_comes_back_from_its_ids(text):
    tokenizer = CharTokenizer(text)
    ids = tokenizer.encode(text)
    assert ids.shape == (len(text),)
    assert ids.dtype == np.uint16
    assert tokenizer.decode(ids) == text
    assert [tokenizer.characters[i] for i in ids] == list(text)
    assert tokenizer.vocab_size == len(set(text)) + 1
    assert tokenizer.end_of_text_id == len(set(text))


@given(st.text(min_size=1), st.text())
@settings(deadline=None, max_examples=60)
def test_a_character_outside_the_alphabet_is_named_with_its_position(alphabet, text):
    tokenizer = CharTokenizer(alphabet)
    unknown = [position for position, character in enumerate(text) if character not in alphabet]
    if not unknown:
        assert tokenizer.decode(tokenizer.encode(text)) == text
        return
    with pytest.raises(ValueError, match="is not in the alphabet") as caught:
        tokenizer.encode(text)
    first = unknown[0]
    assert str(caught.value) == f"character {text[first]!r} at position {first} is not in the alphabet"


def test_lone_surrogates_are_characters_too():
    assert CharTokenizer("a\ud800").decode(CharTokenizer("a\ud800").encode("\ud800a")) == "\ud800a"


def test_the_alphabet_is_sorted_and_has_no_doubles():
    tokenizer = CharTokenizer("banana 🙂é")
    assert tokenizer.characters == " abné🙂"
    assert tokenizer.encode("").shape == (0,)
    assert tokenizer.decode([]) == ""
    assert tokenizer.decode([tokenizer.end_of_text_id, 1]) == "<|endoftext|>a"


def test_an_alphabet_beyond_16_bits_gets_wider_ids():
    alphabet = "".join(map(chr, range(0x10000, 0x10000 + 65_536)))
    tokenizer = CharTokenizer(alphabet)
    assert tokenizer.encode(alphabet[-1]).dtype == np.uint32  # the end-of-text id is 65,536
    assert CharTokenizer(alphabet[:-1]).encode(alphabet[0]).dtype == np.uint16
    assert tokenizer.decode([65_535]) == alphabet[-1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: CharTokenizer(""), ValueError, "characters must not be empty"),
        (lambda: CharTokenizer(["a", "b"]), TypeError, "characters must be a str, got list"),
        (lambda: CharTokenizer(b"ab"), TypeError, "characters must be a str, got bytes"),
        (lambda: CharTokenizer("ab").encode(["a"]), TypeError, "text must be a str, got list"),
        (lambda: CharTokenizer("ab").decode([0, 3]), ValueError, r"ids must lie in 0 \.\.\. 2, got 0 \.\.\. 3"),
        (lambda: CharTokenizer("ab").decode([0, -1]), ValueError, r"ids must lie in 0 \.\.\. 2, got -1 \.\.\. 0"),
        (lambda: CharTokenizer("ab").decode([-1]), ValueError, r"ids must lie in 0 \.\.\. 2, got -1 \.\.\. -1"),
        (lambda: CharTokenizer("ab").decode([0.0]), TypeError, "ids must be integers, got list of float64"),
        (lambda: CharTokenizer("ab").decode("ab"), TypeError, "ids must be integers, got text"),
        (lambda: CharTokenizer("ab").decode([[0]]), ValueError, r"ids must be one-dimensional, got shape \(1, 1\)"),
    ],
)
def test_the_tokenizer_refuses_bad_arguments_by_name(call, error, message):
    with pytest.raises(error, match=f"^{message}"):
        call()


# An alphabet of the most frequent characters


@given(st.text("aabbcdeé漢🙂\ufffd", min_size=1, max_size=30), st.integers(1, 9))
@settings(deadline=None, max_examples=100)
def test_the_most_frequent_characters_stay_and_one_stands_for_all_others(text, max_characters):
    tokenizer = CharTokenizer(text, max_characters=max_characters)
    kept = sorted(set(text), key=lambda character: (-text.count(character), character))[:max_characters]
    replaced = "".join(character if character in kept else "\ufffd" for character in text)
    assert tokenizer.decode(tokenizer.encode(text)) == replaced
    if len(set(text)) <= max_characters:
        plain = CharTokenizer(text)
        assert (tokenizer.characters, tokenizer.vocab_size) == (plain.characters, plain.vocab_size)
        assert tokenizer.replacement_id is plain.replacement_id is None
    else:
        assert tokenizer.characters == "".join(sorted({*kept, "\ufffd"}))
        assert tokenizer.characters[tokenizer.replacement_id] == "\ufffd"
        # also what the text never showed
        assert tokenizer.encode("Ω").tolist() == [tokenizer.replacement_id]
    assert tokenizer.end_of_text_id == tokenizer.vocab_size - 1 == len(tokenizer.characters)


def test_of_equally_frequent_characters_the_smaller_code_points_stay():
    assert CharTokenizer("dcbaab", max_characters=3).characters == "abc\ufffd"
    assert CharTokenizer("éazzz", max_characters=2).characters == "az\ufffd"


# One stream


class Bytes:
    """A tokenizer that answers with an object, as the library `tokenizers` does, and has no end-of-text id."""

    def encode(self, text: str) -> SimpleNamespace:
        return SimpleNamespace(ids=list(text.encode()))


@given(st.lists(st.text("abc", max_size=5), min_size=1, max_size=6))
@settings(deadline=None)
def test_each_document_is_followed_by_an_end_of_text(texts):
    naive = [token for text in texts for token in [*("abc".index(character) for character in text), 3]]
    stream = encode_corpus(texts, CharTokenizer("abc"))
    assert stream.tolist() == naive
    assert stream.dtype == np.uint16
    assert CharTokenizer("abc").decode(stream) == "".join(f"{text}<|endoftext|>" for text in texts)


def test_a_tokenizer_may_answer_in_the_same_buffer_each_time():
    buffer = np.zeros(1, dtype=np.uint16)

    def encode(text):
        buffer[0] = ord(text)
        return buffer

    tokenizer = SimpleNamespace(encode=encode, end_of_text_id=0)
    assert encode_corpus(["a", "b"], tokenizer).tolist() == [97, 0, 98, 0]
    assert [ids.tolist() for ids in encode_each(["a", "b"], tokenizer)] == [[97, 0], [98, 0]]


def test_an_end_beyond_the_vocabulary_of_a_library_keeps_its_value():
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a"))
    assert encode_corpus(["a"], tokenizer, end_of_text_id=70_000).tolist() == [0, 70_000]
    assert encode_corpus(["a"], tokenizer, end_of_text_id=1).dtype == np.uint16


@given(st.lists(st.text("abc", max_size=5), max_size=6))
@settings(deadline=None, max_examples=50)
def test_the_ids_of_one_text_after_another_make_up_the_stream(texts):
    pieces = list(encode_each(texts, CharTokenizer("abc")))
    assert len(pieces) == len(texts)
    if texts:
        assert np.concatenate(pieces).tolist() == encode_corpus(texts, CharTokenizer("abc")).tolist()


def test_encoding_takes_any_iterable_and_any_tokenizer():
    assert encode_corpus((text for text in ["ab", "c"]), Bytes(), end_of_text_id=256).tolist() == [97, 98, 256, 99, 256]


@pytest.mark.parametrize(("end", "dtype"), [(65_535, np.uint16), (65_536, np.uint32), (70_000, np.uint32)])
def test_the_stream_is_as_wide_as_its_largest_id(end, dtype):
    stream = encode_corpus(["a", "b"], Bytes(), end_of_text_id=end)
    assert stream.tolist() == [97, end, 98, end]
    assert stream.dtype == dtype


def test_a_tokenizer_that_answers_in_wide_ids_gives_a_narrow_stream():
    for dtype in (np.uint8, np.uint32, np.int64):
        tokenizer = SimpleNamespace(encode=lambda text, dtype=dtype: np.full(2, 5, dtype=dtype), end_of_text_id=0)
        assert encode_corpus(["a"], tokenizer).dtype == np.uint16
    tokenizer = SimpleNamespace(encode=lambda text: [70_000], end_of_text_id=0)
    assert encode_corpus(["a"], tokenizer).tolist() == [70_000, 0]


@pytest.mark.parametrize(
    ("texts", "arguments", "error", "message"),
    [
        ("one text", {}, TypeError, r"texts must be several texts, got str: use \[text\]"),
        (b"bytes", {}, TypeError, "texts must be several texts, got bytes"),
        (["a", 5], {}, TypeError, "texts must be str, but number 1 is or holds int"),
        ([], {}, ValueError, "texts must hold at least one document, got none"),
        (["a"], {"end_of_text_id": -1}, ValueError, "end_of_text_id must be .*got -1"),
        (["a"], {"end_of_text_id": 0.5}, TypeError, r"end_of_text_id must be .*got 0\.5"),
        (["a"], {"tokenizer": Bytes()}, ValueError, "end_of_text_id must be given: this tokenizer has none of its own"),
        (["a", "z"], {}, ValueError, "character 'z' at position 0 is not in the alphabet"),
    ],
)
def test_encoding_refuses_bad_arguments_by_name(texts, arguments, error, message):
    with pytest.raises(error, match=f"^{message}"):
        encode_corpus(texts, **({"tokenizer": CharTokenizer("abc")} | arguments))


@pytest.mark.parametrize(
    ("largest", "dtype"), [(0, "u2"), (65_535, "u2"), (65_536, "u4"), (70_000, "u4"), (2**32 - 1, "u4")]
)
def test_the_smallest_dtype_holds_the_largest_id(largest, dtype):
    assert smallest_dtype(largest) == np.dtype(dtype)
    assert compact([0, largest]).dtype == np.dtype(dtype)
    assert compact([0, largest]).tolist() == [0, largest]


@pytest.mark.parametrize(
    ("largest", "error"), [(-1, ValueError), (2**32, ValueError), (1.0, TypeError), (True, TypeError)]
)
def test_no_dtype_holds_what_is_no_id(largest, error):
    with pytest.raises(error, match=f"^largest_id must be .*got {largest}"):
        smallest_dtype(largest)


@given(st.lists(st.integers(0, 2**32 - 1)))
@settings(deadline=None)
def test_compact_ids_are_the_same_ids(ids):
    for given_ids in (ids, np.array(ids, dtype=np.int64), np.array(ids, dtype=">i8"), torch.tensor(ids).long()):
        stream = compact(given_ids)
        assert stream.tolist() == ids
        assert stream.dtype == smallest_dtype(max(ids, default=0))


@pytest.mark.parametrize("dtype", ["u1", "<u2", ">u2", "<u4", ">u4"])
def test_what_is_compact_already_is_not_copied(dtype):
    ids = np.arange(5).astype(dtype)
    assert np.shares_memory(compact(ids), ids)
    assert compact(ids).dtype == ids.dtype


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.int64])
def test_a_memory_map_is_not_copied(tmp_path, dtype):
    np.arange(5, dtype=dtype).tofile(tmp_path / "ids.bin")
    ids = np.memmap(tmp_path / "ids.bin", dtype=dtype, mode="r")
    for view in (ids, ids[1:], np.asarray(ids), np.asarray(ids)[::2]):
        assert np.shares_memory(compact(view), view)
        assert compact(view).dtype == dtype


def test_what_was_calculated_from_a_memory_map_is_none(tmp_path):
    np.array([5, 3], dtype=np.uint16).tofile(tmp_path / "ids.bin")
    ids = np.memmap(tmp_path / "ids.bin", dtype=np.uint16, mode="r")
    widened = ids.astype(np.int64)
    assert isinstance(widened, np.memmap)
    assert compact(widened).dtype == np.uint16
    with pytest.raises(ValueError, match="ids must not be negative, got -4 at position 1"):
        compact(widened - 7)


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([3, -2, 1], ValueError, "ids must not be negative, got -2 at position 1"),
        (torch.tensor([-1]), ValueError, "ids must not be negative, got -1 at position 0"),
        ([3, 2**32], ValueError, f"ids must fit into 32 bits, got {2**32} at position 1"),
        (np.array([2**63], dtype=np.uint64), ValueError, f"ids must fit into 64-bit signed integers, got {2**63}"),
        ([0.5], TypeError, "ids must be integers, got list of float64"),
        ([[1]], ValueError, r"ids must be one-dimensional, got shape \(1, 1\)"),
    ],
)
def test_compacting_refuses_bad_ids_by_value(ids, error, message):
    with pytest.raises(error, match=f"^{message}"):
        compact(ids)
