"""The bundled data, what a reader's own text may look like, and the way from text to one stream of ids."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

import pytest

from course_lib.foundation import (
    Document,
    load_documents,
    load_text,
)
from course_lib.foundation.corpora import CORPUS_VARIABLE, DATA_DIRECTORY


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
