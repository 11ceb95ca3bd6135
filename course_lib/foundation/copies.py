"""Count copies among the documents of a corpus, or drop them, before it is split."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from course_lib.foundation.arguments import check_integer
from course_lib.foundation.tokenizing import check_unicode, iterate_texts


def normalized(text: str) -> str:
    """Return a text without differences in case, spacing and ligatures."""
    folded = unicodedata.normalize("NFKC", check_unicode(text)).casefold()
    # Once more, because casefold takes letters apart, as a Greek iota with two marks.
    return " ".join(unicodedata.normalize("NFKC", folded).split())


@dataclass(frozen=True)
class Copies:
    """How many documents are copies of an earlier one, after `normalized`."""

    documents: int  #: the number of all documents
    copies: int  #: documents whose text has come before, on either side of the split
    across: int  #: documents whose text has come before on the other side of the split


def count_copies(documents: Iterable, *, val_every: int = 100) -> Copies:
    """Count the copies among documents that `write_shards` would split.

    It keeps 16 bytes for each text, and does not find texts that are merely similar.
    """
    val_every = check_integer("val_every", val_every, minimum=1)
    sides: dict[bytes, set[bool]] = {}
    number = copies = across = 0
    for number, text in enumerate(iterate_texts(documents), start=1):
        side, seen = number % val_every == 0, sides.setdefault(_key(text), set())
        copies += bool(seen)
        across += (not side) in seen
        seen.add(side)
    return Copies(number, copies, across)


def drop_copies(documents: Iterable) -> Iterator[str]:
    """Yield the texts without copies of earlier ones: a filter before writing."""
    return _without_copies(iterate_texts(documents))


def _without_copies(texts: Iterable[str]) -> Iterator[str]:
    seen: set[bytes] = set()
    for text in texts:
        key = _key(text)
        if key not in seen:
            seen.add(key)
            yield text


def _key(text: str) -> bytes:
    return hashlib.sha256(normalized(text).encode()).digest()[:16]
