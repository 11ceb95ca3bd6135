"""What a tokenizer makes of the first texts, before all the others are encoded."""

from __future__ import annotations

import json
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import numpy as np

FIRST_TEXTS = 10
FIRST_CHARACTERS = 10_000  # of each
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
Encode = Callable[[list[str]], list[np.ndarray]]

# What normalizers and pre-tokenizers often take away. A tokenizer without a decoder
# can't say what it made of a text, but it gives the same ids to both.
CHANGES = (
    lambda text: re.sub(r"[\r\n]", " ", text),
    lambda text: re.sub(r"\s*[\r\n]\s*", " ", text),
    lambda text: re.sub(r"(?m)^[ \t]+", "", text),
    lambda text: re.sub(r"[ \t]+", " ", text),
    str.lower,
)


def check_first_texts(texts: Iterable[str], tokenizer: object, encode: Encode) -> None:
    """Encode the first texts twice, and warn of characters that leave no trace.

    That is what a tokenizer of `tokenizers` with neither bytes nor an unknown token
    does with characters that it does not know. Whitespace may be dropped.

    Args:
        texts: of which the first 10,000 characters of the first ten are read.
        tokenizer: the one that does the work; see `plain_tokenizer`.
        encode: encodes a list of texts with it.

    Raises ValueError if a text gets other ids the second time: a run that was stopped
    couldn't be finished, and no run could be repeated.
    """
    first = [text for text, _ in _encode_twice(texts, encode)]
    if lost := _lost_characters(first, tokenizer, encode):
        shown = " ".join(map(repr, lost[:10])) + " ..." * (len(lost) > 10)
        warnings.warn(
            f"the tokenizer loses characters of the first texts: {shown}: their ids "
            "are those of the text without them",
            stacklevel=4,
        )


def describe_changes(texts: Iterable[str], tokenizer: object, encode: Encode) -> str:
    """Say in how many of the first texts a tokenizer takes one thing for another.

    Line breaks, indents, runs of blanks, upper case or unknown characters: what comes
    back isn't the text, and a model that is trained on the ids never sees the
    difference. Canonical equivalence of Unicode, whitespace at the ends of a text and
    the characters that `check_first_texts` names don't count.

    Returns a sentence with an example, or an empty text. The arguments are those of
    `check_first_texts`.
    """
    encoded = _encode_twice(texts, encode)
    lost = _lost_characters([text for text, _ in encoded], tokenizer, encode)
    found = [_taken_for(text, ids, lost, tokenizer, encode) for text, ids in encoded]
    changed = [pair for pair in found if pair]
    if not changed:
        return ""
    text, other = min(changed, key=lambda pair: len(pair[0]))
    return (
        f"the tokenizer does not give {len(changed)} of the first {len(encoded)} texts "
        f"back as they are; for example, it takes {text!r} for {other!r}"
    )


def _encode_twice(texts: Iterable[str], encode: Encode) -> list[tuple[str, np.ndarray]]:
    encoded = []
    for number, text in enumerate(islice(texts, FIRST_TEXTS)):
        text = text[:FIRST_CHARACTERS]
        try:
            ids, again = encode([text])[0], encode([text])[0]
        except Exception:  # when its turn comes, the error says which text it is
            continue
        if not np.array_equal(ids, again):
            raise ValueError(
                f"tokenizer must give a text the same ids each time, but text {number} "
                "got others the second time: switch off what it draws at random"
            )
        encoded.append((text, ids))
    return encoded


def _lost_characters(texts: list[str], tokenizer: object, encode: Encode) -> list[str]:
    """Encode a few characters around the first occurrence of each, with and without
    it, and return those that make no difference, in order."""
    if not hasattr(tokenizer, "encode_batch_fast"):
        return []
    unknown = unknown_id(tokenizer)
    around: dict[str, str] = {}
    for text in texts:
        for place, character in enumerate(text):
            if character not in around and not character.isspace():
                around[character] = text[max(0, place - 10) : place + 10]
    lost = []
    for character, text in around.items():
        try:
            whole, without = encode([text, text.replace(character, "")])
        except Exception:  # parts of a text may be an error, where the whole isn't
            continue
        # One unknown token may stand for a whole word, which is a trace.
        if np.array_equal(whole, without) and unknown not in whole.tolist():
            lost.append(character)
    return sorted(lost)


def _taken_for(
    text: str, ids: np.ndarray, lost: list[str], tokenizer: object, encode: Encode
) -> tuple[str, str] | None:
    """Return a part of the text, and what the same ids also stand for, or None."""
    plain = _canonical(text, lost)
    unknown = unknown_id(tokenizer)
    has_unknown = unknown is not None and unknown in ids
    for other in _others(text, ids, tokenizer):
        changed = _canonical(other, lost)
        if changed == plain:
            continue
        try:
            same = has_unknown or np.array_equal(encode([other])[0], ids)
        except Exception:  # it knows no ids for the other text
            continue
        if same:
            return _where_they_part(plain, changed)
    return None


def _others(text: str, ids: np.ndarray, tokenizer: object) -> Iterator[str]:
    """Yield what the ids may stand for, too: what they decode to, and usual changes."""
    is_of_library = hasattr(tokenizer, "encode_batch_fast")
    options = {"skip_special_tokens": False} if is_of_library else {}
    try:
        decoded = tokenizer.decode(ids.tolist(), **options)
    except Exception:  # it has no way back, or not this one
        decoded = None
    if isinstance(decoded, str) and (is_of_library or REPLACEMENT not in decoded):
        yield decoded
    if is_of_library:
        yield from (change(text) for change in CHANGES)


def _canonical(text: str, without: list[str]) -> str:
    text = text.translate(dict.fromkeys(map(ord, without)))
    return unicodedata.normalize("NFC", text).strip()


def _where_they_part(one: str, other: str) -> tuple[str, str]:
    pairs = enumerate(zip(one, other, strict=False))
    place = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
    part = slice(max(0, place - 10), place + 20)
    return one[part], other[part]


def unknown_id(tokenizer: object) -> int | None:
    """Return the id that a tokenizer of `tokenizers` gives to what it can't spell."""
    if not hasattr(tokenizer, "encode_batch_fast"):
        return None
    name = getattr(tokenizer.model, "unk_token", None)
    if name is not None:
        return tokenizer.token_to_id(name)
    return json.loads(tokenizer.to_str())["model"].get("unk_id")  # of Unigram
