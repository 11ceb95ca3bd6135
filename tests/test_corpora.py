"""The bundled data, what a reader's own text may look like, and the way from text to one stream of ids."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.corpora import (
    CORPUS_VARIABLE,
    DATA_DIRECTORY,
    CharTokenizer,
    Document,
    compact,
    encode_corpus,
    load_documents,
    load_text,
    smallest_dtype,
)


@pytest.fixture(autouse=True)
def no_corpus_of_the_reader(monkeypatch):
    monkeypatch.delenv(CORPUS_VARIABLE, raising=False)
    monkeypatch.setenv("COURSE_PROGRESS", "0")


# The bundled data


def test_the_data_are_those_that_were_checked():
    listed = [line.split() for line in (DATA_DIRECTORY / "SHA256SUMS").read_text().splitlines()]
    assert {name for _, name in listed} == {"story.txt", "documents.jsonl"}
    for checksum, name in listed:
        assert hashlib.sha256((DATA_DIRECTORY / name).read_bytes()).hexdigest() == checksum


def test_the_story_is_long_and_does_not_repeat_itself():
    story = load_text()
    assert len(story) >= 100_000
    words = story.split()
    sequences = Counter(zip(*(words[i:] for i in range(8)), strict=False))
    assert sum(1 for count in sequences.values() if count == 1) >= 0.98 * (len(words) - 7)
    assert "\r" not in story
    assert not story.startswith("\ufeff")


def test_the_documents_are_many_and_of_every_kind():
    documents = load_documents()
    assert len(documents) >= 150
    assert sum(len(document.text) for document in documents) >= 100_000
    assert {d.kind for d in documents} >= {"article", "code", "dialogue", "math", "table", "web", "noisy"}
    assert {d.kind for d in documents} >= {"chinese", "french", "german"}
    assert {d.quality for d in documents} == {0, 1, 2, 3, 4, 5}
    lengths = [len(document.text) for document in documents]
    assert 20 <= min(lengths) < 100
    assert 5_000 < max(lengths) <= 8_000
    assert len({d.id for d in documents}) == len({d.text for d in documents}) == len(documents)


def test_documents_can_be_chosen_by_kind_and_quality():
    documents = load_documents()
    good_code = load_documents(kind="code", min_quality=4)
    assert good_code == [d for d in documents if d.kind == "code" and d.quality >= 4]
    assert good_code
    assert load_documents(min_quality=5) == [d for d in documents if d.quality == 5]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"kind": "poem"}, ValueError, "kind must be one of article, .*; got 'poem'"),
        ({"min_quality": 6}, ValueError, "min_quality must be .*at most 5, got 6"),
        ({"min_quality": -1}, ValueError, "min_quality must be .*got -1"),
        ({"min_quality": 2.5}, TypeError, r"min_quality must be .*got 2\.5"),
    ],
)
def test_a_choice_that_does_not_exist_is_named(arguments, error, message):
    with pytest.raises(error, match=f"^{message}"):
        load_documents(**arguments)


# A reader's own text


def test_the_variable_replaces_the_story(tmp_path, monkeypatch):
    (tmp_path / "mine.txt").write_text("my own text", encoding="utf-8")
    monkeypatch.setenv(CORPUS_VARIABLE, str(tmp_path / "mine.txt"))
    assert load_text() == "my own text"
    for path in (DATA_DIRECTORY / "story.txt", str(DATA_DIRECTORY / "story.txt")):
        assert load_text(path) != "my own text"  # a path that is given wins


def test_an_empty_variable_is_none(monkeypatch):
    story = load_text()
    monkeypatch.setenv(CORPUS_VARIABLE, "")
    assert load_text() == story


def test_errors_say_when_the_path_came_from_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv(CORPUS_VARIABLE, str(tmp_path / "missing.txt"))
    with pytest.raises(FileNotFoundError, match=r"missing\.txt \(from COURSE_CORPUS\)$"):
        load_text()
    (tmp_path / "empty.txt").touch()
    monkeypatch.setenv(CORPUS_VARIABLE, str(tmp_path / "empty.txt"))
    with pytest.raises(ValueError, match=r"empty\.txt \(from COURSE_CORPUS\) is empty"):
        load_text()


def test_the_home_directory_may_be_abbreviated(tmp_path, monkeypatch):
    (tmp_path / "mine.txt").write_text("at home", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert load_text("~/mine.txt") == "at home"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b"plain\n", "plain\n"),
        (b"\xef\xbb\xbfwith a mark", "with a mark"),
        (b"one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        ("é 漢字 🙂 \u2028".encode(), "é 漢字 🙂 \u2028"),
        (b"  x", "  x"),
    ],
)
def test_text_is_read_as_it_is_but_for_marks_and_line_ends(tmp_path, written, read):
    (tmp_path / "text").write_bytes(written)
    assert load_text(tmp_path / "text") == read


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (b"", "is empty: a corpus needs text"),
        (b" \n\t\r\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"PK\x03\x04\x00\x01", "is binary, not text: byte 4 is zero"),
        ("UTF-16".encode("utf-16"), "is binary, not text: byte 3 is zero"),
        (b"caf\xe9 noir", "is not UTF-8 from byte 3 on; convert it first"),
        (b"cut off \xe6\xbc", "is not UTF-8 from byte 8 on"),
    ],
)
def test_a_file_that_is_no_text_is_refused_by_name(tmp_path, written, message):
    (tmp_path / "file.bin").write_bytes(written)
    with pytest.raises(ValueError, match=rf"file\.bin {message}"):
        load_text(tmp_path / "file.bin")


@pytest.mark.parametrize("load", [load_text, load_documents])
def test_a_missing_file_and_a_directory_are_named(tmp_path, load):
    with pytest.raises(FileNotFoundError, match=r"at .*nowhere"):
        load(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=f"at .*{tmp_path.name}"):
        load(tmp_path)


LINE = {"id": "a", "kind": "note", "quality": 3, "text": "one\u2028two\r\n"}


def test_documents_are_read_line_by_line(tmp_path):
    path = tmp_path / "some.jsonl"
    lines = [json.dumps(LINE, ensure_ascii=False), "", json.dumps(LINE | {"id": "b", "quality": 0})]
    path.write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    assert load_documents(path) == [Document("a", "note", 3, LINE["text"]), Document("b", "note", 0, LINE["text"])]
    assert load_documents(path, min_quality=4) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not json", "line 2: expected an object with id, kind, quality and text"),
        ("[1, 2]", "line 2: expected an object with id, kind, quality and text"),
        (json.dumps({"id": "a", "text": "x"}), "line 2: expected an object .*'kind' and 'quality'"),
        (json.dumps(LINE | {"author": "me"}), "line 2: expected an object .*'author'"),
        (json.dumps(LINE | {"text": ""}), "line 2: text must be a non-empty string, got ''"),
        (json.dumps(LINE | {"text": None}), "line 2: text must be a non-empty string, got None"),
        (json.dumps(LINE | {"kind": ["a"]}), r"line 2: kind must be a non-empty string, got \['a'\]"),
        (json.dumps(LINE | {"id": 7}), "line 2: id must be a non-empty string, got 7"),
        (json.dumps(LINE | {"quality": 6}), "line 2: quality must be .*got 6"),
        (json.dumps(LINE | {"quality": 2.5}), r"line 2: quality must be .*got 2\.5"),
        (json.dumps(LINE | {"quality": True}), "line 2: quality must be .*got True"),
    ],
)
def test_a_damaged_line_is_named_by_its_number(tmp_path, line, message):
    (tmp_path / "some.jsonl").write_text(f"{json.dumps(LINE)}\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"some\.jsonl, {message}"):
        load_documents(tmp_path / "some.jsonl")


@pytest.mark.parametrize(
    ("written", "message"), [(b"", "holds no documents"), (b"\n \n", "holds no documents"), (b"\xff{}", "is not UTF-8")]
)
def test_a_file_without_documents_is_named(tmp_path, written, message):
    (tmp_path / "some.jsonl").write_bytes(written)
    with pytest.raises(ValueError, match=rf"some\.jsonl {message}"):
        load_documents(tmp_path / "some.jsonl")


# One token per character


@given(st.text(min_size=1))
@settings(deadline=None)
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
@settings(deadline=None)
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
        (lambda: CharTokenizer("ab").decode([-1]), ValueError, r"ids must lie in 0 \.\.\. 2, got -1 \.\.\. -1"),
        (lambda: CharTokenizer("ab").decode([0.0]), TypeError, "ids must be integers, got list of float64"),
        (lambda: CharTokenizer("ab").decode("ab"), TypeError, "ids must be integers, got text"),
        (lambda: CharTokenizer("ab").decode([[0]]), ValueError, r"ids must be one-dimensional, got shape \(1, 1\)"),
    ],
)
def test_the_tokenizer_refuses_bad_arguments_by_name(call, error, message):
    with pytest.raises(error, match=f"^{message}"):
        call()


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
        ("one text", {}, TypeError, r"texts must be several documents, got one text: use \[text\]"),
        (b"bytes", {}, TypeError, "texts must be several documents, got one text"),
        (["a", 5], {}, TypeError, "texts must be str, but document 1 is int"),
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
    assert np.shares_memory(compact(ids), ids)


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
