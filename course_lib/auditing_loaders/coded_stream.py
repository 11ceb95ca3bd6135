"""Ids that tell where they come from, alone or together with their neighbors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Annotated

import numpy as np

from course_lib.foundation import AtLeast, Ids, Length, checked, uncut

# With these first ids, position p is the id first + p. None of them is 0, and none is
# the padding or the end of a text of a common tokenizer.
FIRST_ID, FIRST_OF_MANY = 1_000, 1_000_000
MOST_IN_16_BITS = 30_000
# Ids below 1,000 that common tokenizers pad with, or begin and end texts with.
RESERVED = (0, 1, 2, 3, 10, 11, 50, 100, 101, 102, 103)
# Ids from here on don't fit into int16, and from there on not into uint16 either. Their
# loaders give other ids back, which must not be those that are reserved or ignored.
NO_INT16, NO_UINT16 = 2**15, 2**16
NOT_WRAPPED = (*RESERVED, NO_UINT16 - 100, NO_UINT16 - 1)
MOST_IDS = 2**20  # more than any vocabulary has
NO_IDS = (-100, -1)  # labels that a loss ignores, and what fills up rows
NARROW = ("int16", "uint16", "int8", "uint8")
MOST_NEIGHBORS = 64
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SEED = 14


class CodedStream:
    """A stream of ids in which `neighbors` consecutive ids occur at one place only.

    With one id for each position, an id tells its place alone. Ids that must stay below
    a vocabulary repeat, but a few of them in a row do not.

    Args:
        ids: the stream, shape (N,). Raises ValueError if 64 neighbors are too few.
        vocab_size: all ids are below it; only for `of_length`.
        fewest: neighbors that tell a place, at least.
    """

    @checked
    def __init__(self, ids: Ids, vocab_size: int | None = None, fewest: Length = 1):
        self.ids, self.vocab_size = ids.astype(np.int64), vocab_size
        self.alphabet = _distinct(self.ids)
        self.neighbors = fewest - 1
        order = np.zeros(2, dtype=np.uint64)
        while len(_distinct(order)) < len(order):
            self.neighbors += 1
            if self.neighbors > min(MOST_NEIGHBORS, len(self.ids)):
                raise ValueError(
                    f"ids must have no {MOST_NEIGHBORS} neighbors in two places, so "
                    "that they tell where they come from"
                )
            order = self._codes(self.ids)
        self._places = np.argsort(order)
        self._sorted = order[self._places]

    @classmethod
    @checked
    def of_positions(cls, num_tokens: Annotated[int, AtLeast(2, 2**30)]) -> CodedStream:
        """Make a stream in which the id at position p is p plus the first id."""
        return CountedStream(num_tokens)

    @classmethod
    @checked
    def below(
        cls,
        vocab_size: Annotated[int, AtLeast(6)],
        num_tokens: Annotated[int, AtLeast(2, 2**30)],
    ) -> CodedStream:
        """Make a stream of random ids below `vocab_size`, at least 6.

        Where int16 or uint16 is too narrow for the vocabulary, every fourth id shows
        it. The last few ids are left out, where tokenizers keep those of their own.
        """
        end, random = min(vocab_size, MOST_IDS), np.random.default_rng(SEED)
        if end <= NO_INT16:
            allowed = np.setdiff1d(np.arange(end), RESERVED)
            return cls(random.choice(allowed, num_tokens), vocab_size)
        narrow = NO_UINT16 if end > NO_UINT16 else NO_INT16
        end -= min(end // 256, (end - narrow) // 2)
        wrapped = np.add.outer(np.arange(0, end, NO_UINT16), NOT_WRAPPED)
        allowed = np.setdiff1d(np.arange(end), wrapped)
        ids = random.choice(allowed, num_tokens)
        highest = allowed[allowed >= max(narrow, end - end // 32)]
        if highest.size:
            ids[::4] = random.choice(highest, len(ids[::4]))
        return cls(ids, vocab_size)

    @classmethod
    @checked
    def of_texts(
        cls,
        tokenizer: object,
        num_tokens: Annotated[int, AtLeast(2, 2**30)],
        lengths: Ids | None = None,
    ) -> tuple[CodedStream, list[str], list[int]]:
        """Make texts of random words whose tokens, without special ones, tell places.

        With `lengths`, each text has that many tokens, or as many more as its last word
        brings. Returns the stream, the texts, and the number of tokens of each. Raises
        ValueError if the tokenizer makes too few different tokens of the words. A
        loader that cuts a text before it tokenizes makes other tokens at the cuts,
        which tell nothing.
        """
        encode = _plain_encoder(tokenizer)
        random = np.random.default_rng(SEED)
        texts, ids = [], []

        def begin_text(num_words: int) -> None:
            letters = random.choice(list(LETTERS), (num_words, 5))
            texts.append(" ".join("".join(word) for word in letters))
            ids.append(encode(texts[-1]))

        if lengths is None:
            while sum(map(len, ids)) < num_tokens:
                begin_text(random.integers(10, 80))
        for length in () if lengths is None else lengths:
            begin_text(1)
            while len(ids[-1]) < length:
                word = "".join(random.choice(list(LETTERS), 5))
                texts[-1] += f" {word}"
                ids[-1] = encode(texts[-1])
        return cls(np.concatenate(ids)), texts, [len(each) for each in ids]

    def __len__(self) -> int:
        return len(self.ids)

    def of_length(self, num_tokens: int) -> CodedStream:
        """Make a stream of another length, of ids that are as small."""
        return CodedStream.below(self.vocab_size, num_tokens)

    @cached_property
    def narrowed(self) -> dict[str, NarrowedStream]:
        """The stream in each dtype that is too narrow for it."""
        found = {}
        for name in NARROW:
            if (self.ids.astype(name) != self.ids).any():
                with suppress(ValueError):  # in which no place could be identified
                    found[name] = NarrowedStream(self, name)
        return found

    def is_handed_out(self, values: np.ndarray) -> np.ndarray:
        """Say of each value whether it is an id of the stream."""
        found = np.searchsorted(self.alphabet, values).clip(max=len(self.alphabet) - 1)
        return self.alphabet[found] == values

    def positions(self, rows: np.ndarray) -> np.ndarray:
        """Identify the position of each id of rows, shape (B, L), -1 where it can't be.

        An id that was never handed out identifies nothing. Nor does one that has too
        few of its neighbors beside it, or whose neighbors on both sides disagree. That
        happens between two documents, if the first one might go on with the same id.
        """
        rows = np.asarray(rows, dtype=np.int64)
        positions = np.full(rows.shape, -1, dtype=np.int64)
        is_open = np.zeros(rows.shape, dtype=bool)
        if not rows.size or rows.shape[1] < self.neighbors:
            return positions
        codes = self._codes(rows)
        found = np.searchsorted(self._sorted, codes).clip(max=len(self._sorted) - 1)
        begin = self._places[found]
        width = codes.shape[1]
        # Two codes may be equal by chance, so the ids themselves are compared.
        fits = self._sorted[found] == codes
        for step in range(self.neighbors):
            fits &= self.ids[begin + step] == rows[:, step : step + width]
        for step in range(self.neighbors):
            here, place = positions[:, step : step + width], begin + step
            is_open[:, step : step + width] |= fits & (here >= 0) & (here != place)
            np.copyto(here, place, where=fits & (here < 0))
        return np.where(is_open, -1, positions)

    def _codes(self, rows: np.ndarray) -> np.ndarray:
        """Number each run of `neighbors` ids in the last dimension of rows."""
        width = rows.shape[-1] - self.neighbors + 1
        codes = np.zeros((*rows.shape[:-1], width), dtype=np.uint64)
        for step in range(self.neighbors):
            codes *= np.uint64(0x9E3779B97F4A7C15)  # odd, so no bit is lost
            codes += rows[..., step : step + width].astype(np.uint64)
        return codes


def _distinct(values: np.ndarray) -> np.ndarray:
    """Return the different values, sorted.

    `np.unique` returns the same, but NumPy 2.4 finds them in a hash table, and takes a
    hundred times as long for a million random codes.
    """
    ordered = np.sort(values)
    is_new = np.ones(len(ordered), dtype=bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


class NarrowedStream(CodedStream):
    """A stream as a dtype keeps it that is too narrow for some of its ids."""

    def __init__(self, stream: CodedStream, name: str):
        ids = stream.ids.astype(name).astype(np.int64)
        super().__init__(ids, fewest=min(2, len(ids)))
        self.stream = stream
        self.changed = _distinct(ids[ids != stream.ids])
        self.kept, self.first = np.unique(ids, return_index=True)

    def count(self, part: np.ndarray) -> int:
        """Count the ids of a part of a batch that the dtype has changed."""
        found = np.searchsorted(self.changed, part).clip(max=len(self.changed) - 1)
        if not ((self.changed[found] == part) & ~np.isin(part, NO_IDS)).any():
            return 0
        places = self._places_of(part)
        return int(((places >= 0) & (self.stream.ids[places] != part)).sum())

    def _places_of(self, part: np.ndarray) -> np.ndarray:
        return np.where(np.isin(part, NO_IDS), -1, self.positions(part))

    def restore(self, part: np.ndarray) -> np.ndarray:
        """Return the ids that were handed out."""
        places = self._places_of(part)
        right = np.where(places >= 0, self.stream.ids[places], part)
        # Too few neighbors stand beside some; then any id that is kept so will do.
        found = np.searchsorted(self.kept, part).clip(max=len(self.kept) - 1)
        other = (self.kept[found] == part) & ~self.stream.is_handed_out(part)
        other &= (places < 0) & ~np.isin(part, NO_IDS)
        return np.where(other, self.stream.ids[self.first[found]], right)


class CountedStream(CodedStream):
    """A stream that counts up, so that subtracting tells where an id comes from."""

    neighbors, vocab_size = 1, None

    def __init__(self, num_tokens: int):
        self.first = FIRST_ID if num_tokens <= MOST_IN_16_BITS else FIRST_OF_MANY
        self.ids = self.first + np.arange(num_tokens, dtype=np.int64)

    def is_handed_out(self, values: np.ndarray) -> np.ndarray:
        return (values >= self.first) & (values < self.first + len(self))

    def positions(self, rows: np.ndarray) -> np.ndarray:
        rows = np.asarray(rows, dtype=np.int64)
        return np.where(self.is_handed_out(rows), rows - self.first, -1)

    def of_length(self, num_tokens: int) -> CodedStream:
        return CountedStream(num_tokens)

    @property
    def narrowed(self) -> dict[str, NarrowedStream]:
        return {}  # nobody has said that a vocabulary is so large


def _plain_encoder(tokenizer: object) -> Callable[[str], np.ndarray]:
    """Return a function from a text to its ids, without those that frame a text."""
    tokenizer = getattr(tokenizer, "backend_tokenizer", tokenizer)
    encode = getattr(tokenizer, "encode", None)
    if isinstance(tokenizer, type | str) or not callable(encode):
        is_class = isinstance(tokenizer, type)
        kind = "a class" if is_class else type(tokenizer).__name__
        raise TypeError(f"tokenizer must have a method encode(text), got {kind}")
    frames = hasattr(tokenizer, "post_processor")  # one of the library `tokenizers`
    options = {"add_special_tokens": False} if frames else {}
    tokenizer = uncut(tokenizer) if frames else tokenizer

    def encode(text: str) -> np.ndarray:
        ids = tokenizer.encode(text, **options)
        return np.asarray(getattr(ids, "ids", ids), dtype=np.int64)

    return encode
