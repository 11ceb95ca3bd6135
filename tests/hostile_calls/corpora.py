"""Hostile calls of the loaders, on files that are written for them."""

import json
import os
import tempfile
from itertools import islice
from pathlib import Path
from unittest import mock

FOLDER = tempfile.TemporaryDirectory(prefix="hostile_corpora_")
TWO_TEXTS = '{"id": "a", "kind": "note", "quality": 3, "text": "one", "text": "two"}'
LINE = {"id": "a", "kind": "note", "quality": 3, "text": "one"}


def file(content):
    """The path of a new file with this content, text or bytes."""
    path = Path(FOLDER.name) / f"{abs(hash(content))}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def lines(*changes):
    """The path of a collection: LINE, and LINE again with each change."""
    return file("\n".join(json.dumps(LINE | change) for change in ({}, *changes)))


def with_corpus(path, load):
    with mock.patch.dict(os.environ, COURSE_CORPUS=path):
        return load()


def texts(documents):
    return [document.text for document in documents]


ROW = {"id": "a", "text": "one", "language": "en", "score": 2.7, "int_score": 3}


CALLS = {
    "load_text(file('\\ufeffa\\r\\n'))": "a\n",
    "load_text(file(b'a\\xc3'))": ValueError("is not UTF-8 from byte 1 on"),
    "load_text(file(b'\\xed\\xa0\\x80'))": ValueError("is not UTF-8 from byte 0 on"),  # half a surrogate pair
    "load_text(file(b'a\\0'))": ValueError("is binary, not text: byte 1 is zero"),
    "load_text(file('UTF-16'.encode('utf-16')))": ValueError("is binary, not text: byte 3 is zero"),
    "load_text(file(b'caf\\xe9 noir'))": ValueError("is not UTF-8 from byte 3 on; convert it first"),
    "load_text(file(b''))": ValueError("is empty: a corpus needs text"),
    "load_text(file(' \\u2028 '))": ValueError("is empty: a corpus needs text"),
    "load_text(file(b'\\xef\\xbb\\xbf'))": ValueError("is empty: a corpus needs text"),
    "read_text(file('\\ufeffa\\r\\nb\\rc'), 'a.txt')": "a\nb\nc",
    "read_text(file(b'a\\n\\xc3'), 'a.txt')": ValueError("a.txt is not UTF-8 from byte 2 on, in line 2; convert it"),
    "decode_text(b'\\xc3\\xa9', 'it')": "é",
    "decode_text(b'a\\0', 'it')": ValueError("it is binary, not text: byte 1 is zero"),
    "load_text(FOLDER.name)": FileNotFoundError("no text file at"),
    "load_documents(FOLDER.name)": FileNotFoundError("no document collection at"),
    "load_documents('nowhere')": FileNotFoundError("no document collection at nowhere"),
    "load_text('~nouser/x')": FileNotFoundError("no text file at ~nouser/x"),
    "load_text('a' * 5000)": FileNotFoundError("no text file at aaa"),
    "with_corpus('~nouser/x', load_text)": FileNotFoundError("no text file at ~nouser/x (from COURSE_CORPUS)"),
    "with_corpus(file(' \\n').as_posix(), load_text)": ValueError("(from COURSE_CORPUS) is empty"),
    "with_corpus(FOLDER.name, load_text)": FileNotFoundError("(from COURSE_CORPUS)"),
    "texts(load_documents(lines({'id': 'b', 'text': 'two'})))": ["one", "two"],
    "load_documents(lines({'text': 'two'}))": ValueError("line 2: id must be that of one document, but 'a' is the id"),
    "load_documents(lines({'text': 'a\\ud800'}))": ValueError("line 2: text must be Unicode, but character 1 is half"),
    "load_documents(lines({'id': '\\udc00'}))": ValueError("line 2: id must be Unicode"),
    "load_documents(lines({'quality': 2**64}))": ValueError("line 2: quality must be"),
    "load_documents(lines({'quality': float('nan')}))": TypeError("line 2: quality must be"),
    "load_documents(lines({'quality': 6}))": ValueError("line 2: quality must be"),
    "load_documents(lines({'quality': 2.5}))": TypeError("line 2: quality must be"),
    "load_documents(lines({'quality': True}))": TypeError("line 2: quality must be"),
    "load_documents(lines({'text': ''}))": ValueError("line 2: text must be a non-empty string, got ''"),
    "load_documents(lines({'text': None}))": ValueError("line 2: text must be a non-empty string, got None"),
    "load_documents(lines({'kind': ['a']}))": ValueError("line 2: kind must be a non-empty string, got ['a']"),
    "load_documents(lines({'id': 7}))": ValueError("line 2: id must be a non-empty string, got 7"),
    "load_documents(lines({'author': 'me'}))": ValueError("line 2: expected an object with id, kind, quality and text"),
    'load_documents(file(\'{"id": "a", "text": "x"}\'))': ValueError("'kind' and 'quality'"),
    "load_documents(file('[1, 2]'))": ValueError("line 1: expected an object with id"),
    "load_documents(file('not json'))": ValueError("line 1: expected an object with id"),
    "load_documents(file(b''))": ValueError("holds no documents"),
    "load_documents(lines({'quality': '3'}))": TypeError("line 2: quality must be"),
    "load_documents(lines({'text': ['one']}))": ValueError("line 2: text must be a non-empty string, got ['one']"),
    "load_documents(file(TWO_TEXTS))": ValueError("kind, quality and text ('text' occurs 2 times)"),
    "load_documents(file('[' * 100_000))": ValueError("line 1: expected an object with id, kind, quality and text"),
    "load_documents(file('{\"quality\": ' + '9' * 5000 + '}'))": ValueError("line 1: expected an object with id"),
    "load_documents(file('null'))": ValueError("line 1: expected an object with id"),
    "load_documents(file(b'\\xff'))": ValueError("is not UTF-8"),
    "load_documents(file('\\n'))": ValueError("holds no documents"),
    "list(load_sources())": ["english", "chinese", "code", "math"],
    "load_translations('german')": TypeError("takes 0 positional arguments"),
    "with_corpus('nowhere', lambda: len(load_translations()))": 3,
    "load_sources('english')": TypeError("takes 0 positional arguments"),
    "with_corpus('nowhere', lambda: len(load_sources()))": 4,  # it is not the reader's text
    "next(python_sources()).kind": "python",
    "len(list(islice(python_sources(), 3)))": 3,
    "python_sources(None)": TypeError("takes 0 positional arguments"),
    "without_doubles([('a', 1), ('b', 2)])": {"a": 1, "b": 2},
    "without_doubles([('a', 1), ('a', 2)])": ValueError("'a' occurs 2 times"),
    "web_document(ROW).quality": 3,
    "web_document(ROW | {'score': nan, 'url': None}).kind": "en",
    "web_document(ROW | {'int_score': 6})": ValueError("row 'a': quality must be"),
    "web_document(ROW | {'int_score': 2.7})": TypeError("row 'a': quality must be"),
    "web_document(ROW | {'int_score': True})": TypeError("row 'a': quality must be"),
    "web_document(ROW | {'text': ''})": ValueError("row 'a': text must be a non-empty string"),
    "web_document(ROW | {'text': None})": ValueError("row 'a': text must be a non-empty string"),
    "web_document(ROW | {'text': 'a\\ud800'})": ValueError("text must be Unicode, but character 1 is half"),
    "web_document({'text': 'a'})": ValueError("row must have the columns ['id', 'int_score', 'language'], got"),
    "web_document('text')": TypeError("row must be a dict of columns, got str"),
    "web_document(None)": TypeError("row must be a dict of columns, got NoneType"),
    "load_documents('~nouser/x')": FileNotFoundError("no document collection at ~nouser/x"),
}
TAKES_NO_DATA = {"Document": "a record that load_documents fills with what it has checked"}
