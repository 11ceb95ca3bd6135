"""Count copies among the documents of a corpus, or drop them, before it is split."""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Annotated

import numpy as np

from course_lib.foundation.arguments import (
    AtLeast,
    Integers,
    Length,
    Seed,
    Text,
    checked,
)
from course_lib.foundation.checks import as_numbers, check_iterable, check_unicode
from course_lib.foundation.texts import iterate_texts


@cache
def _raised_and_lowered() -> dict[int, str]:
    """Put a mark before each character that NFKC would set on the line: without it,
    "10²" would be "102", "H₂O" would be "H2O", and "1½" would be "11/2"."""
    marks = {"<super>": "^", "<sub>": "_", "<fraction>": " "}
    kinds = {
        code: unicodedata.decomposition(chr(code)).partition(" ")[0]
        for code in range(sys.maxunicode + 1)
    }
    return {c: marks[kind] + chr(c) for c, kind in kinds.items() if kind in marks}


@checked
def normalized(text: Text) -> str:
    """Return a text without differences in case, spacing and compatible forms.

    Compatible forms are ligatures and letters of another width, for example. A raised
    or lowered number keeps its meaning: 10² is 10^2 and not 102.
    """
    if not text.isascii():
        text = text.translate(_raised_and_lowered())
    folded = unicodedata.normalize("NFKC", text).casefold()
    # Once more, because casefold takes letters apart, as a Greek iota with two marks.
    return " ".join(unicodedata.normalize("NFKC", folded).split())


@dataclass(frozen=True)
class Copies:
    """How many documents are copies of an earlier one, after `normalized`."""

    documents: int  #: the number of all documents
    copies: int  #: documents whose text has come before, on either side of the split
    across: int  #: documents whose text has come before on the other side of the split


@checked
def count_copies(documents: Iterable, *, val_every: Length = 100) -> Copies:
    """Count the copies among documents that `write_shards` would split.

    It keeps 16 bytes for each text, and does not find texts that are merely similar.
    """
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


# Near copies: texts that are merely similar.


@checked
def shingles(text: str, size: Length = 5) -> set[str]:
    """Return all runs of `size` words of a text, after `normalized`.

    A shorter text has one shingle, all of it.
    """
    words = normalized(text).split()
    return {" ".join(words[i : i + size]) for i in range(max(1, len(words) - size + 1))}


@checked
def similarity(a: set, b: set) -> float:
    """Return the Jaccard similarity of two sets, what they share of all they have.

    It is 1.0 for two empty sets.
    """
    return len(a & b) / len(a | b) if a | b else 1.0


@checked
def containment(part: set, whole: set) -> float:
    """Return the share of `part` that is also in `whole`, however large that is.

    It is 1.0 where there is nothing to contain.

    Source: Broder, "On the resemblance and containment of documents" (1997).
    """
    return len(part & whole) / len(part) if part else 1.0


def as_set_of_strings(name: str, items: object) -> set[str]:
    """Return strings that UTF-8 can write, at least one, each once."""
    items = check_iterable(name, items, "strings")
    strings = {check_unicode("each item", item) for item in items}
    if not strings:
        raise ValueError(f"{name} must hold at least one string, got none")
    return strings


@checked
def minhash(
    items: Annotated[Iterable[str], as_set_of_strings],
    num_hashes: Length = 128,
    *,
    base_seed: Seed = 0,
) -> np.ndarray:
    """Return the signature of a set of strings, uint64, shape (num_hashes,).

    Each number is the smallest hash of all items, under another hash function. Two sets
    agree in one number with a probability that equals their `similarity`.

    Source: Broder, "On the resemblance and containment of documents" (1997).
    """
    numbers = np.array([_first_64_bits(item) for item in items], dtype=np.uint64)
    seeds = np.random.SeedSequence(base_seed)
    factors, shifts = seeds.generate_state(2 * num_hashes, np.uint64).reshape(2, -1)
    signature = np.empty(num_hashes, dtype=np.uint64)
    for i in range(num_hashes):
        # To multiply by an odd number and take the higher bits is a hash function.
        hashes = (numbers * (factors[i] | np.uint64(1)) + shifts[i]) >> np.uint64(16)
        signature[i] = hashes.min()
    return signature


def _first_64_bits(item: str) -> int:
    return int.from_bytes(hashlib.sha256(item.encode()).digest()[:8], "big")


@checked
def candidate_pairs(signatures: Integers, num_bands: Length) -> set[tuple[int, int]]:
    """Return the pairs of signatures that agree in a whole band.

    Args:
        signatures: shape (documents, num_hashes).
        num_bands: the number of bands, which must divide `num_hashes`. With r numbers
            in a band, documents of similarity s are found with probability
            1 - (1 - s**r)**num_bands; see `match_probability`.

    Returns pairs (i, j) of row numbers with i < j.
    """
    if signatures.ndim != 2:
        raise ValueError(
            f"signatures must have two dimensions, got shape {signatures.shape}"
        )
    if signatures.shape[1] % num_bands or not signatures.shape[1]:
        raise ValueError(
            f"num_bands must divide the {signatures.shape[1]} numbers of a signature, "
            f"got {num_bands}"
        )
    pairs = set()
    for band in np.split(signatures, num_bands, axis=1):
        alike = defaultdict(list)
        for document, numbers in enumerate(band):
            alike[numbers.tobytes()].append(document)
        for documents in alike.values():
            pairs.update(combinations(documents, 2))
    return pairs


@checked
def match_probability(
    similarity: object,
    rows: Annotated[int, AtLeast(1, 2**62)],
    num_bands: Annotated[int, AtLeast(1, 2**62)],
) -> np.ndarray:
    """Return 1 - (1 - s**rows)**num_bands, the probability to become a candidate pair.

    Args:
        similarity: s, numbers from 0 to 1, of any shape.
        rows: numbers in a band.
        num_bands: the number of bands.
    """
    similarity = as_numbers("similarity", similarity)
    if similarity.size and not (similarity.min() >= 0 and similarity.max() <= 1):
        raise ValueError(f"similarity must lie in 0 ... 1, got {similarity}")
    return 1 - (1 - similarity**rows) ** num_bands
