"""Bytes as ids and as visible characters, and words that no merge may cross."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from course_lib.foundation import BYTE_CHARACTERS, Count, check_unicode, checked

# How GPT-2 cuts text into words, each with the space before it (Radford et al. 2019,
# "Language Models are Unsupervised Multitask Learners", and its published code).
GPT2_PATTERN = (
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
)


# The order of these characters fixes the ids of bytes, and through them breaks ties.
BYTE_ORDER = bytes(sorted(range(256), key=BYTE_CHARACTERS.__getitem__))
_PLACE_OF_BYTE = bytes(BYTE_ORDER.index(byte) for byte in range(256))


@checked
def printable(data: bytes) -> str:
    """Write each byte as a visible character: a space is Ġ, a line break Ċ, é Ã©."""
    return "".join(BYTE_CHARACTERS[byte] for byte in data)


@checked
def split_words(text: str, pattern: str | None = GPT2_PATTERN) -> Iterator[str]:
    """Cut a text into words that no merge may cross; joined, they are the text again.

    The `pattern` is a regular expression for the module `regex`. Whatever is between
    two matches is also a word, so a pattern that forgets something loses nothing. With
    None, the whole text is one word.
    """
    pattern, end = check_pattern(pattern), 0
    for match in regex.finditer(pattern, text) if pattern is not None else ():
        if match.start() > end:
            yield text[end : match.start()]
        if match.end() > match.start():
            yield match.group()
        end = match.end()
    if end < len(text):
        yield text[end:]


@checked
def spell(word: str, first_id: Count = 0) -> tuple[int, ...]:
    """Return the ids of a word's bytes: `first_id` + their places in `BYTE_ORDER`."""
    # surrogateescape: how Python carries bytes that are not UTF-8.
    return tuple(
        first_id + place
        for place in word.encode("utf-8", "surrogateescape").translate(_PLACE_OF_BYTE)
    )


def check_pattern(pattern: str | None) -> str | None:
    """Return a pattern that finds words from the first to the last, or None."""
    if pattern is None:
        return None
    pattern = check_unicode("pattern", pattern)
    try:
        compiled = regex.compile(pattern)
    except regex.error as error:
        raise ValueError(
            f"pattern must be a regular expression or None, got {pattern!r} ({error})"
        ) from None
    if compiled.flags & regex.REVERSE:
        raise ValueError(f"pattern must read forward, got {pattern!r}, with (?r)")
    return pattern
