"""The bundled data, what a reader's own text may look like, and the way from text to one stream of ids."""

import gzip
import json
import math
import re
from collections import Counter

import pytest

from course_lib.foundation import Document, corpora, load_documents, load_sources, load_text, load_translations
from course_lib.foundation.corpora import CORPUS_VARIABLE, DATA_DIRECTORY


@pytest.fixture(autouse=True)
def no_corpus_of_the_reader(monkeypatch):
    monkeypatch.delenv(CORPUS_VARIABLE, raising=False)


# load_text


def test_the_story_is_long_and_does_not_repeat_itself():
    story = load_text()
    assert len(story) >= 100_000
    words = story.split()
    sequences = Counter(zip(*(words[i:] for i in range(8)), strict=False))
    assert sum(1 for count in sequences.values() if count == 1) >= 0.98 * (len(words) - 7)
    assert "\r" not in story
    assert not story.startswith("\ufeff")


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


def test_the_home_directory_may_be_abbreviated(tmp_path, monkeypatch):
    (tmp_path / "mine.txt").write_text("at home", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert load_text("~/mine.txt") == "at home"
    monkeypatch.setenv(CORPUS_VARIABLE, "~/mine.txt")  # PowerShell's quotes keep the ~
    assert load_text() == "at home"


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
    ("written", "words"),
    [
        (b"a\xc3", "is not UTF-8 from byte 1 on; convert it first"),
        (b"a\n\xc3", "is not UTF-8 from byte 2 on, in line 2; convert it first"),
        (b"\xed\xa0\x80", "is not UTF-8 from byte 0 on"),  # half a surrogate pair
        (b"a\0", "is binary, not text: byte 1 is zero"),
        ("UTF-16".encode("utf-16"), "is UTF-16, not UTF-8: convert it"),
        (gzip.compress(b"a text", mtime=0), "is compressed by gzip, not UTF-8: unpack it"),
        (b"", "is empty: a corpus needs text"),
        (" \u2028 ".encode(), "is empty: a corpus needs text"),
        (b"\xef\xbb\xbf", "is empty: a corpus needs text"),
    ],
)
def test_a_file_that_holds_no_text_is_told_with_where_it_came_from(tmp_path, monkeypatch, written, words):
    (tmp_path / "text").write_bytes(written)
    with pytest.raises(ValueError, match=f"text {words}"):
        load_text(tmp_path / "text")
    monkeypatch.setenv(CORPUS_VARIABLE, str(tmp_path / "text"))
    with pytest.raises(ValueError, match=rf"text \(from COURSE_CORPUS\) {words}"):
        load_text()


@pytest.mark.parametrize("path", ["nowhere", "~nouser/x", "a" * 5000, "."])
def test_a_file_that_is_not_there_is_told(path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=rf"^no text file at {path[:3]}"):
        load_text(path)
    with pytest.raises(FileNotFoundError, match=r"^no document collection at"):
        load_documents(path)
    monkeypatch.setenv(CORPUS_VARIABLE, path)
    with pytest.raises(FileNotFoundError, match=r"\(from COURSE_CORPUS\)"):
        load_text()


# load_documents


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


LINE = {"id": "a", "kind": "note", "quality": 3, "text": "one\u2028two\r\n"}


def test_documents_are_read_line_by_line(tmp_path):
    path = tmp_path / "some.jsonl"
    lines = [json.dumps(LINE, ensure_ascii=False), "", json.dumps(LINE | {"id": "b", "quality": 0})]
    path.write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    assert load_documents(path) == [Document("a", "note", 3, LINE["text"]), Document("b", "note", 0, LINE["text"])]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "id must be that of one document, but 'a' is the id"),
        ({"id": "\udc00"}, "id must be Unicode"),
        ({"id": 7}, "id must be a non-empty string, got 7"),
        ({"kind": ["a"]}, "kind must be a non-empty string, got ['a']"),
        ({"text": "a\ud800"}, "text must be Unicode, but character 1 is half"),
        ({"text": ""}, "text must be a non-empty string, got ''"),
        ({"text": None}, "text must be a non-empty string, got None"),
        ({"quality": 6}, "quality must be"),
        ({"quality": 2.5}, "quality must be"),
        ({"quality": True}, "quality must be"),
        ({"quality": math.nan}, "quality must be"),
        ({"author": "me"}, "expected an object with id, kind, quality and text"),
    ],
)
def test_a_document_that_is_none_is_told_by_its_line(tmp_path, change, words):
    lines = [
        json.dumps(LINE),
        json.dumps(LINE | change if change.get("id") or not change else LINE | {"id": "b"} | change),
    ]
    (tmp_path / "some.jsonl").write_text("\n".join(lines))
    with pytest.raises((TypeError, ValueError), match=re.escape(f"line 2: {words}")):
        load_documents(tmp_path / "some.jsonl")


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('{"id": "a", "kind": "note", "quality": 3, "text": "one", "text": "two"}', "('text' occurs 2 times)"),
        ('{"id": "a", "text": "x"}', "'kind' and 'quality'"),
        ("[1, 2]", "line 1: expected an object with id, kind, quality and text"),
        ("null", "line 1: expected an object"),
        ("not json", "line 1: expected an object"),
        ("[" * 100_000, "line 1: expected an object"),
        ('{"quality": ' + "9" * 5000 + "}", "line 1: expected an object"),
        ("\n", "holds no documents"),
        (b"\xff", "is not UTF-8"),
    ],
)
def test_a_file_that_holds_no_documents_is_told(tmp_path, written, words):
    (tmp_path / "some.jsonl").write_bytes(written if isinstance(written, bytes) else written.encode())
    with pytest.raises(ValueError, match=re.escape(words)):
        load_documents(tmp_path / "some.jsonl")


# load_sources, load_translations


def test_four_sources_to_mix_hold_the_documents_of_their_kinds(monkeypatch):
    sources = load_sources()
    assert list(sources) == ["english", "chinese", "code", "math"]
    documents = load_documents()
    kinds = dict(zip(sources, ("article", "chinese", "code", "math"), strict=True))
    more = [document.text for document in load_documents(DATA_DIRECTORY / "more_documents.jsonl")]
    for name, texts in sources.items():
        first = [document.text for document in documents if document.kind == kinds[name]]
        assert texts[: len(first)] == first
        assert set(texts[len(first) :]) <= set(more)
        assert len(set(texts)) == len(texts) >= 10
        assert sum(map(len, texts)) > 5_000
    monkeypatch.setenv(CORPUS_VARIABLE, str(DATA_DIRECTORY / "story.txt"))
    assert load_sources() == sources


def test_translations_say_the_same_in_three_languages():
    passages = load_translations()
    assert list(passages) == ["english", "german", "chinese"]
    assert {len(texts) for texts in passages.values()} == {8}
    ids = [d.id.split("-") for d in load_documents(DATA_DIRECTORY / "translations.jsonl")]
    for language, texts in passages.items():
        assert [name for name, kind in ids if kind == language] == [name for name, kind in ids if kind == "english"]
        assert 500 < sum(map(len, texts)) < 3_000
        assert all(text.isascii() == (language == "english") for text in texts)


def test_a_package_without_its_repository_has_no_texts_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "DATA_DIRECTORY", tmp_path)
    for load in (load_text, load_documents):
        with pytest.raises(FileNotFoundError, match="the bundled texts come with a copy of the course's repository"):
            load()
