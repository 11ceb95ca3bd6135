"""Load the bundled texts and documents, or your own."""

from __future__ import annotations

import json
import os
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from course_lib.foundation.arguments import FilePath, checked
from course_lib.foundation.checks import check_integer, check_unicode

DATA_DIRECTORY = Path(__file__).resolve().parents[2] / "data"
CORPUS_VARIABLE = "COURSE_CORPUS"
BYTE_ORDER_MARK = "\ufeff".encode()
CONVERT = "convert it, for example by iconv -f UTF-16 -t UTF-8"
UNPACK = "unpack it, or give its name the ending that it should have"
#: how files begin that are often taken for text
NO_UTF8 = (
    (b"\xff\xfe", "UTF-16", CONVERT),
    (b"\xfe\xff", "UTF-16", CONVERT),
    (b"\x1f\x8b", "compressed by gzip", UNPACK),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", UNPACK),
    (b"PK\x03\x04", "a zip archive", "unpack it"),
    (b"PAR1", "Parquet", "give its name the ending .parquet"),
)
ROWS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")


@checked
def load_text(path: FilePath | None = None) -> str:
    """Read one UTF-8 text. Line ends become `\\n`, and a byte order mark is dropped.

    Without a `path`, we read the file that the environment variable `COURSE_CORPUS`
    names, or else the bundled story. This is how lessons read a text of your own.
    Raises FileNotFoundError if there is no such file, and ValueError if it is empty,
    binary, not UTF-8, or holds rows instead of one text.
    """
    origin = ""
    if path is None and os.environ.get(CORPUS_VARIABLE):
        path, origin = os.environ[CORPUS_VARIABLE], f" (from {CORPUS_VARIABLE})"
    path = _bundled("story.txt") if path is None else Path(os.path.expanduser(path))
    if not os.path.isfile(path):
        raise FileNotFoundError(f"no text file at {path}{origin}")
    if path.suffix.lower() in ROWS:
        raise ValueError(
            f"{path}{origin} must be one plain text, but {path.suffix} holds rows, and "
            "their names and quotes are no text: write the texts alone into a .txt"
        )
    text = read_text(path, f"{path}{origin}")
    if not text.strip():
        raise ValueError(f"{path}{origin} is empty: a corpus needs text")
    return text


def read_text(path: Path, name: str) -> str:
    """Read a text file; errors call it `name`. See `load_text` and `decode_text`."""
    text = decode_text(path.read_bytes().removeprefix(BYTE_ORDER_MARK), name)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decode_text(data: bytes, name: str) -> str:
    """Decode UTF-8. This decides what text is, for all that read files.

    Zero bytes are valid UTF-8, but whoever finds them reads a binary file.
    Raises ValueError with the name, and the place of what is wrong.
    """
    for beginning, kind, advice in NO_UTF8:
        if data.startswith(beginning):
            raise ValueError(f"{name} is {kind}, not UTF-8: {advice}")
    if b"\0" in data:
        raise ValueError(f"{name} is binary, not text: byte {data.index(0)} is zero")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        place = f"byte {error.start} on" + (f", in line {line}" if line > 1 else "")
        raise ValueError(
            f"{name} is not UTF-8 from {place}; convert it first"
        ) from None


def _bundled(name: str) -> Path:
    path = DATA_DIRECTORY / name
    if not path.is_file():
        missing = f"{path} is missing: the bundled texts come with a copy of the"
        raise FileNotFoundError(f"{missing} course's repository, not with the package")
    return path


@dataclass(frozen=True)
class Document:
    """One document of a collection, with a quality from 0 (junk) to 5 (excellent)."""

    id: str
    kind: str
    quality: int
    text: str


@checked
def load_documents(path: FilePath | None = None) -> list[Document]:
    """Read a collection in JSON Lines, by default the bundled one, in the file's order.

    Each line is a JSON object with the keys of `Document`. Raises FileNotFoundError if
    there is no such file, and ValueError if a line is something else, if two documents
    have the same id, or if there are none.
    """
    path = _bundled("documents.jsonl") if path is None else path
    if not os.path.isfile(path):
        raise FileNotFoundError(f"no document collection at {path}")
    documents: dict[str, Document] = {}
    try:
        # Not splitlines(), which would also split at U+2028 inside a text.
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                document = _parse_document(line, f"{path}, line {number}")
                if document.id in documents:
                    raise ValueError(
                        f"{path}, line {number}: id must be that of one document, but "
                        f"{document.id!r} is the id of an earlier one"
                    )
                documents[document.id] = document
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8; convert it first") from None
    if not documents:
        raise ValueError(f"{path} holds no documents")
    return list(documents.values())


def load_sources() -> dict[str, list[str]]:
    """Read four sources to mix: English, Chinese, code and mathematics.

    They are the bundled documents of these kinds, in the order of their files.

    Returns the texts of each source, by name.
    """
    kinds = {"article": "english", "chinese": "chinese", "code": "code", "math": "math"}
    sources: dict[str, list[str]] = {name: [] for name in kinds.values()}
    for file in ("documents.jsonl", "more_documents.jsonl"):
        for document in load_documents(_bundled(file)):
            if document.kind in kinds:
                sources[kinds[document.kind]].append(document.text)
    return sources


def load_translations() -> dict[str, list[str]]:
    """Read the same passages in English, German and Chinese, to compare what a text
    costs: passage i of each language says the same.

    Returns the passages of each language, by name.
    """
    passages: dict[str, list[str]] = {}
    for document in load_documents(_bundled("translations.jsonl")):
        passages.setdefault(document.kind, []).append(document.text)
    return passages


def _parse_document(line: str, where: str) -> Document:
    try:
        fields = json.loads(line, object_pairs_hook=without_doubles)
        Document(**fields)
    # A ValueError: no JSON, a key twice, or a number of thousands of digits.
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(
            f"{where}: expected an object with id, kind, quality and text ({error})"
        ) from None
    return _check_document(fields, where)


def _check_document(fields: Mapping[str, object], where: str) -> Document:
    checked = dict(fields)
    for name in ("id", "kind", "text"):
        value = fields[name]
        if not isinstance(value, str) or not value:
            raise ValueError(
                f"{where}: {name} must be a non-empty string, got {reprlib.repr(value)}"
            )
        checked[name] = check_unicode(f"{where}: {name}", value)
    quality = f"{where}: quality"
    checked["quality"] = check_integer(quality, fields["quality"], minimum=0, maximum=5)
    return Document(**checked)


def without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Turn the pairs of a JSON object into a dict, unless a key occurs twice."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{double!r} occurs {names.count(double)} times")
    return entries
