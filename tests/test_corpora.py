"""The bundled data, what a reader's own text may look like, and the way from text to one stream of ids."""

import json
from collections import Counter

import pytest

from course_lib.foundation import Document, corpora, load_documents, load_sources, load_text, load_translations
from course_lib.foundation.corpora import CORPUS_VARIABLE, DATA_DIRECTORY


@pytest.fixture(autouse=True)
def no_corpus_of_the_reader(monkeypatch):
    monkeypatch.delenv(CORPUS_VARIABLE, raising=False)


# The bundled data


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


LINE = {"id": "a", "kind": "note", "quality": 3, "text": "one\u2028two\r\n"}


def test_documents_are_read_line_by_line(tmp_path):
    path = tmp_path / "some.jsonl"
    lines = [json.dumps(LINE, ensure_ascii=False), "", json.dumps(LINE | {"id": "b", "quality": 0})]
    path.write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    assert load_documents(path) == [Document("a", "note", 3, LINE["text"]), Document("b", "note", 0, LINE["text"])]


def test_a_package_without_its_repository_has_no_texts_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "DATA_DIRECTORY", tmp_path)
    for load in (load_text, load_documents):
        with pytest.raises(FileNotFoundError, match="the bundled texts come with a copy of the course's repository"):
            load()
