"""Load text and documents, and make one compact stream of token ids from them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from course_lib.arguments import Ids, as_stream, check_integer
from course_lib.progress import progress_bar

DATA_DIRECTORY = Path(__file__).resolve().parent.parent / "data"
CORPUS_VARIABLE = "COURSE_CORPUS"


def load_text(path: str | os.PathLike | None = None) -> str:
    """Read one UTF-8 text; line ends become `\\n`, a byte order mark is dropped.

    Without a `path` it is the file that the environment variable `COURSE_CORPUS` names,
    or else the bundled story: so a reader runs the whole course on a text of their own.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is empty, binary, or not UTF-8.
    """
    origin = ""
    if path is None and os.environ.get(CORPUS_VARIABLE):
        path, origin = os.environ[CORPUS_VARIABLE], f" (from {CORPUS_VARIABLE})"
    path = DATA_DIRECTORY / "story.txt" if path is None else Path(path).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"no text file at {path}{origin}")
    data = path.read_bytes()
    if b"\0" in data:
        raise ValueError(f"{path}{origin} is binary, not text: byte {data.index(0)} is zero")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}{origin} is not UTF-8 from byte {error.start} on; convert it first"
        ) from None
    if not text.strip():
        raise ValueError(f"{path}{origin} is empty: a corpus needs text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True)
class Document:
    """One document of a collection, with its kind and a grade from 0 (junk) to 5 (excellent)."""

    id: str
    kind: str
    quality: int
    text: str


def load_documents(
    path: str | os.PathLike | None = None, *, kind: str | None = None, min_quality: int = 0
) -> list[Document]:
    """Read a JSON Lines collection, by default the bundled one, in the order of the file.

    Args:
        path: one JSON object per line, with the keys of `Document`.
        kind: keep only documents of this kind.
        min_quality: keep only documents of at least this grade, 0 to 5.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is not such an object, no document is of the `kind` asked for, or none at all.
    """
    check_integer("min_quality", min_quality, minimum=0, maximum=5)
    path = DATA_DIRECTORY / "documents.jsonl" if path is None else Path(path).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"no document collection at {path}")
    documents = []
    try:
        with path.open(
            encoding="utf-8-sig"
        ) as lines:  # never splitlines(): it also splits at U+2028 inside a text
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    documents.append(_parse_document(line, f"{path}, line {number}"))
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8; convert it first") from None
    if not documents:
        raise ValueError(f"{path} holds no documents")
    kinds = sorted({document.kind for document in documents})
    if kind is not None and kind not in kinds:
        raise ValueError(f"kind must be one of {', '.join(kinds)}; got {kind!r}")
    return [d for d in documents if d.quality >= min_quality and kind in (None, d.kind)]


def _parse_document(line: str, where: str) -> Document:
    try:
        fields = json.loads(line)
        document = Document(**fields)
    except (json.JSONDecodeError, TypeError) as error:
        raise ValueError(
            f"{where}: expected an object with id, kind, quality and text ({error})"
        ) from None
    for name in ("id", "kind", "text"):
        value = getattr(document, name)
        if not isinstance(value, str) or not value:
            raise ValueError(f"{where}: {name} must be a non-empty string, got {value!r}")
    try:
        check_integer("quality", document.quality, minimum=0, maximum=5)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from None
    return document


class CharTokenizer:
    """One token per character, and one more, the last id, that says where a document ends.

    Args:
        characters: the alphabet; `CharTokenizer(text)` takes every character that `text` uses.

    Attributes:
        characters: the alphabet, sorted by code point; the character with id `i` is `characters[i]`.
        vocab_size: number of ids, V = number of characters + 1.
        end_of_text_id: V - 1.
    """

    def __init__(self, characters: str):
        if not isinstance(characters, str):
            raise TypeError(f"characters must be a str, got {type(characters).__name__}")
        if not characters:
            raise ValueError(
                "characters must not be empty: an alphabet needs at least one character"
            )
        self.characters = "".join(sorted(set(characters)))
        self.end_of_text_id = len(self.characters)
        self.vocab_size = len(self.characters) + 1
        self._code_points = _code_points(self.characters)

    def encode(self, text: str) -> np.ndarray:
        """Return the ids of `text`, shape (len(text),), in the smallest dtype; no end-of-text is added.

        Raises:
            TypeError: `text` is not a `str`.
            ValueError: a character is not in the alphabet; it is named, with its position.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, got {type(text).__name__}")
        wanted = _code_points(text)
        ids = np.searchsorted(self._code_points, wanted)
        found = self._code_points[np.minimum(ids, len(self._code_points) - 1)] == wanted
        if not found.all():
            position = int(np.argmin(found))
            raise ValueError(
                f"character {text[position]!r} at position {position} is not in the alphabet"
            )
        return ids.astype(smallest_dtype(self.vocab_size - 1))

    def decode(self, ids: Ids) -> str:
        """Return the text of `ids`; an end-of-text id becomes `<|endoftext|>`.

        Raises:
            ValueError: an id lies outside 0 ... V - 1.
        """
        stream = as_stream(ids)
        if stream.size and not (stream.min() >= 0 and stream.max() < self.vocab_size):
            raise ValueError(
                f"ids must lie in 0 ... {self.vocab_size - 1}, got {stream.min()} ... {stream.max()}"
            )
        names = [*self.characters, "<|endoftext|>"]
        return "".join(names[i] for i in stream.tolist())


class Tokenizer(Protocol):
    """What `encode_corpus` needs; `CharTokenizer` has it, and so has `tokenizers.Tokenizer` but for the id."""

    def encode(self, text: str, /) -> object: ...


def encode_corpus(
    texts: Iterable[str],
    tokenizer: Tokenizer,
    *,
    end_of_text_id: int | None = None,
    progress: bool | None = None,
) -> np.ndarray:
    """Tokenize every document once and join them into one stream, each followed by an end-of-text id.

    Args:
        texts: the documents, at least one.
        tokenizer: its `encode(text)` returns ids, or an object with `.ids` as `tokenizers` does.
        end_of_text_id: by default `tokenizer.end_of_text_id`.
        progress: show a progress bar; by default unless `COURSE_PROGRESS=0`.

    Returns:
        the ids, shape (N,), uint16 if every id fits and uint32 otherwise.

    Raises:
        TypeError: `texts` is one `str` (its characters would become documents), or holds something else.
        ValueError: there is no document, or no end-of-text id.
    """
    if isinstance(texts, str | bytes):
        raise TypeError(
            "texts must be several documents, got one text: use [text], or tokenizer.encode(text)"
        )
    if end_of_text_id is None:
        end_of_text_id = getattr(tokenizer, "end_of_text_id", None)
    if end_of_text_id is None:
        raise ValueError("end_of_text_id must be given: this tokenizer has none of its own")
    end = np.array([check_integer("end_of_text_id", end_of_text_id, minimum=0)])
    pieces: list[np.ndarray] = []
    for number, text in enumerate(progress_bar(texts, "tokenizing", unit="doc", progress=progress)):
        if not isinstance(text, str):
            raise TypeError(f"texts must be str, but document {number} is {type(text).__name__}")
        encoded = tokenizer.encode(text)
        # Compact piece by piece: a large corpus of int64 would need four times the memory on the way.
        pieces += [compact(getattr(encoded, "ids", encoded)), compact(end)]
    if not pieces:
        raise ValueError("texts must hold at least one document, got none")
    stream = np.concatenate(pieces)
    return stream.astype(smallest_dtype(int(stream.max())), copy=False)


def smallest_dtype(largest_id: int) -> np.dtype:
    """Return uint16 up to id 65,535 and uint32 beyond.

    `array.astype(np.uint16)` would not complain about id 70,000: it would store 4,464.

    Raises:
        ValueError: the id is negative or needs more than 32 bits.
    """
    largest_id = check_integer("largest_id", largest_id, minimum=0, maximum=2**32 - 1)
    return np.dtype(np.uint16 if largest_id < 2**16 else np.uint32)


def compact(ids: Ids) -> np.ndarray:
    """Return `ids` in the smallest dtype, shape (N,): one copy at most, none if they are compact already.

    A memory map, and any array of unsigned integers of at most 32 bits, is kept as it is, unread.

    Raises:
        TypeError, ValueError: `ids` are not a stream of ids, or one is negative or needs more than 32 bits.
    """
    stream = as_stream(ids)
    if isinstance(ids, np.memmap) or (stream.dtype.kind == "u" and stream.dtype.itemsize <= 4):
        return stream
    if stream.size == 0:
        return stream.astype(np.uint16)
    if stream.min() < 0:
        raise ValueError(
            f"ids must not be negative, got {stream.min()} at position {int(stream.argmin())}"
        )
    if stream.max() >= 2**32:
        raise ValueError(
            f"ids must fit into 32 bits, got {stream.max()} at position {int(stream.argmax())}"
        )
    return stream.astype(smallest_dtype(stream.max()))


def _code_points(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
