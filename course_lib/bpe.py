"""Lesson 06: byte-pair encoding, first by hand, then with the library `tokenizers`,
with equal results.

A text is a string of bytes. Count which two tokens stand side by side most often, make
them one token, repeat: the list of these merges is the whole tokenizer. Everything else
here makes that loop faster, or safer.
"""

from __future__ import annotations

import heapq
import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import regex
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

from course_lib.foundation import (
    END_OF_TEXT,
    Ids,
    as_stream,
    check_integer,
    check_special_tokens,
    check_unicode,
    iterate_texts,
    progress_bar,
    shows,
    smallest_dtype,
)

Pair = tuple[int, int]
Words = Mapping[tuple[int, ...], int]
"""A text as training sees it: each distinct word, spelled in ids, with how often it
occurs."""

# How GPT-2 cuts text into words before any merge (Radford et al. 2019, "Language Models
# are Unsupervised Multitask Learners"; the pattern is in its published code). A blank
# belongs to the word after it.
GPT2_PATTERN = (
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
)
NORMALIZERS = {
    "nfc": normalizers.NFC,
    "nfd": normalizers.NFD,
    "nfkc": normalizers.NFKC,
    "nfkd": normalizers.NFKD,
}
FORMAT = "feeding-language-models bpe 1"
CACHED_WORDS = 2**16


def _byte_characters() -> list[str]:
    """Give each byte a character that can be printed, as GPT-2 does: itself if it is
    one, else one from 256 on."""
    printable = {
        *range(ord("!"), ord("~") + 1),
        *range(ord("¡"), ord("¬") + 1),
        *range(ord("®"), ord("ÿ") + 1),
    }
    substitutes = iter(range(256, 512))
    return [
        chr(byte if byte in printable else next(substitutes)) for byte in range(256)
    ]


BYTE_CHARACTERS = _byte_characters()
# The alphabet in the order of these characters, which fixes the ids of bytes, and
# through them breaks ties.
BYTE_ORDER = bytes(sorted(range(256), key=BYTE_CHARACTERS.__getitem__))
_PLACE_OF_BYTE = bytes(BYTE_ORDER.index(byte) for byte in range(256))


def printable(data: bytes) -> str:
    """Write bytes as one visible character each: a blank is Ġ, a line break Ċ, é is
    Ã©."""
    return "".join(BYTE_CHARACTERS[byte] for byte in data)


def split_words(text: str, pattern: str | None = GPT2_PATTERN) -> Iterator[str]:
    """Cut a text into words that no merge may cross; joined, they are the text again.

    Args:
        text: any `str`.
        pattern: a regular expression for the module `regex`. What stands between two
            matches is a word too, so that a pattern that forgets something loses
            nothing. None: the whole text is one word.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, got {type(text).__name__}")
    end = 0
    for match in regex.finditer(pattern, text) if pattern is not None else ():
        if match.start() > end:
            yield text[end : match.start()]
        if match.end() > match.start():
            yield match.group()
        end = match.end()
    if end < len(text):
        yield text[end:]


def spell(word: str, first_id: int = 0) -> tuple[int, ...]:
    """Return the ids of the UTF-8 bytes of a word: `first_id` + the place of the byte
    in `BYTE_ORDER`."""
    # surrogateescape: how Python carries bytes that are no UTF-8 inside a str; see
    # BPETokenizer.encode_bytes.
    return tuple(
        first_id + place
        for place in word.encode("utf-8", "surrogateescape").translate(_PLACE_OF_BYTE)
    )


def count_words(
    texts: Iterable[str], pattern: str | None = GPT2_PATTERN, first_id: int = 0
) -> dict[tuple, int]:
    """Count the distinct words of all texts, spelled in ids: training never looks at
    the text again."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(split_words(text, pattern))
    return {spell(word, first_id): count for word, count in counts.items()}


def pair_counts(words: Words) -> Counter[Pair]:
    """Count how often two ids stand side by side, within words; `a a a` has the pair
    (a, a) twice."""
    counts: Counter[Pair] = Counter()
    for ids, frequency in words.items():
        for pair in pairwise(ids):
            counts[pair] += frequency
    return counts


def best_pair(counts: Mapping[Pair, int]) -> Pair:
    """Return the pair to merge next: the most frequent; of equally frequent ones, that
    with the smallest ids.

    The first id decides before the second. It is the rule of `tokenizers`, so that both
    learn the same merges.
    """
    return min(counts, key=lambda pair: (-counts[pair], pair))


def merge_pair(ids: Sequence[int], pair: Pair, new_id: int) -> list[int]:
    """Replace the pair by `new_id` wherever it occurs, from left to right: `a a a`
    becomes `aa a`."""
    merged: list[int] = []
    position = 0
    while position < len(ids):
        if tuple(ids[position : position + 2]) == pair:
            merged.append(new_id)
            position += 2
        else:
            merged.append(ids[position])
            position += 1
    return merged


def learn_merges_by_rescanning(
    words: Words, num_merges: int, *, first_id: int = 256, min_frequency: int = 2
) -> dict[Pair, int]:
    """Learn merges as the definition says: count all pairs, merge the best one
    everywhere, repeat.

    Args and result are those of `learn_merges`. Each merge costs a walk through all
    words.
    """
    merges: dict[Pair, int] = {}
    while len(merges) < num_merges:
        counts = pair_counts(words)
        if not counts or counts[pair := best_pair(counts)] < min_frequency:
            break  # nothing left that is worth a token
        merges[pair] = first_id + len(merges)
        words = {
            tuple(merge_pair(ids, pair, merges[pair])): frequency
            for ids, frequency in words.items()
        }
    return merges


def learn_merges(
    words: Words, num_merges: int, *, first_id: int = 256, min_frequency: int = 2
) -> dict[Pair, int]:
    """Learn the same merges, but touch only the words that hold the pair.

    Counts are kept, not made anew; an index tells which words hold a pair, or once held
    it; a heap tells the best pair. A merge only lowers the counts of old pairs, so an
    entry of the heap promises too much, never too little: it is corrected when it comes
    up, and not before.

    Args:
        words: spelled in ids below `first_id`, with their frequencies.
        num_merges: how many merges to learn at most.
        first_id: the id of the first merged pair; the others follow.
        min_frequency: stop when no pair occurs as often.

    Returns:
        each merged pair with its new id, in the order in which they were learned.
    """
    spelled = [list(ids) for ids in words]
    frequencies = list(words.values())
    counts = pair_counts(words)
    holders: defaultdict[Pair, set[int]] = defaultdict(set)
    for number, ids in enumerate(spelled):
        for pair in pairwise(ids):
            holders[pair].add(number)
    heap = [(-count, pair) for pair, count in counts.items()]
    heapq.heapify(heap)
    merges: dict[Pair, int] = {}
    while heap and len(merges) < num_merges:
        promised, pair = heapq.heappop(heap)
        if counts[pair] != -promised:
            heapq.heappush(heap, (-counts[pair], pair))
            continue
        if counts[pair] < min_frequency:
            break
        new_id = merges[pair] = first_id + len(merges)
        created = set()
        for number in holders.pop(pair):
            spelled[number], changes = _merge_and_tell(spelled[number], pair, new_id)
            for changed, difference in changes:
                counts[changed] += difference * frequencies[number]
                if difference > 0:
                    holders[changed].add(number)
                    created.add(changed)
        counts[pair] = 0
        for new_pair in created:  # each holds the new id, so none is in the heap yet
            heapq.heappush(heap, (-counts[new_pair], new_pair))
    return merges


def _merge_and_tell(
    ids: list[int], pair: Pair, new_id: int
) -> tuple[list[int], list[tuple[Pair, int]]]:
    """Merge a pair in one word, and list which pairs that makes and unmakes: only
    neighbors of a merge do change."""
    first, second = pair
    merged: list[int] = []
    changes: list[tuple[Pair, int]] = []
    begin, end = 0, len(ids) - 1
    position = 0
    while position < end:
        if ids[position] != first or ids[position + 1] != second:
            position += 1
            continue
        merged += ids[begin:position]
        if merged:
            changes += [((merged[-1], first), -1), ((merged[-1], new_id), 1)]
        merged.append(new_id)
        begin = position = position + 2
        if position <= end:
            changes += [((second, ids[position]), -1), ((new_id, ids[position]), 1)]
    merged += ids[begin:]
    return merged, changes


def merge_history(ids: Sequence[int], merges: Mapping[Pair, int]) -> list[list[int]]:
    """Encode a word as the definition says, and return every stage of it, from single
    bytes to the result.

    Of all pairs that can be merged, the one that was learned first is, at all its
    places; then the next. With a word of n bytes that is up to n stages of up to n
    steps.
    """
    stages = [list(ids)]
    while candidates := [pair for pair in pairwise(stages[-1]) if pair in merges]:
        pair = min(candidates, key=merges.__getitem__)
        stages.append(merge_pair(stages[-1], pair, merges[pair]))
    return stages


def merge_word(ids: Sequence[int], merges: Mapping[Pair, int]) -> list[int]:
    """Encode a word of n bytes in O(n log n) steps: the result of `merge_history`,
    without its stages.

    A heap holds the pairs that can be merged, the first learned on top, left before
    right. A linked list tells the neighbors of a token after others were merged away.
    Each merge takes two entries to the heap at most.
    """
    # One id more at the end, which no merge knows, and which closes the list to a ring:
    # then neither the first token nor the last needs a special case.
    ids = [*ids, -1]
    after = [*range(1, len(ids)), -1]
    before = list(range(-1, len(ids) - 1))
    heap = [
        (merges[pair], left)
        for left, pair in enumerate(pairwise(ids))
        if pair in merges
    ]
    heapq.heapify(heap)
    while heap:
        new_id, left = heapq.heappop(heap)
        right = after[left]
        if merges.get((ids[left], ids[right])) != new_id:
            continue  # one of the two has been merged with another neighbor meanwhile
        ids[left], ids[right] = new_id, -1
        after[left] = after[right]
        before[after[left]] = left
        for place in (before[left], left):
            candidate = merges.get((ids[place], ids[after[place]]))
            if candidate is not None:
                heapq.heappush(heap, (candidate, place))
    return [token for token in ids if token != -1]


class BPETokenizer:
    """A byte-level BPE tokenizer: special tokens, 256 bytes, and a list of merges,
    numbered in this order.

    Whatever the text, it is a string of bytes, and each byte has an id: nothing is
    unknown. Ids and merges are those that `tokenizers` learns from the same text with
    the same pattern.

    Args:
        merges: pairs of ids in the order in which they were learned.
        special_tokens: names, whose order fixes their ids 0, 1, ... Text never becomes
            one of them, unless asked to.
        pattern: how text is cut into words; see `split_words`.

    Attributes:
        merges: each pair with its new id, in order.
        special_tokens: each name with its id.
        token_bytes: what each id spells; for a special token its name in UTF-8.
        vocab_size: number of ids, V.
        end_of_text_id: the id of `<|endoftext|>` if that is a special token, else None.
    """

    def __init__(
        self,
        merges: Iterable[Pair] = (),
        *,
        special_tokens: Sequence[str] = (),
        pattern: str | None = GPT2_PATTERN,
    ):
        self.special_tokens = {
            name: number
            for number, name in enumerate(check_special_tokens(special_tokens))
        }
        self.end_of_text_id = self.special_tokens.get(END_OF_TEXT)
        self.pattern = _check_pattern(pattern)
        self.token_bytes = [name.encode() for name in self.special_tokens] + [
            bytes([byte]) for byte in BYTE_ORDER
        ]
        self.merges: dict[Pair, int] = {}
        for pair in merges:
            self._add_merge(tuple(pair))
        self._cache: dict[str, list[int]] = {}

    def _add_merge(self, pair: tuple) -> None:
        new_id, first_byte = len(self.token_bytes), len(self.special_tokens)
        if len(pair) != 2 or pair in self.merges:
            raise ValueError(
                f"merges must be different pairs, got {pair} as number "
                f"{len(self.merges)}"
            )
        left, right = (
            check_integer("merges", part, minimum=first_byte, maximum=new_id - 1)
            for part in pair
        )
        self.merges[left, right] = new_id
        self.token_bytes.append(self.token_bytes[left] + self.token_bytes[right])

    @classmethod
    def train(
        cls,
        text: str | Iterable[str],
        vocab_size: int,
        *,
        special_tokens: Sequence[str] = (),
        min_frequency: int = 2,
        pattern: str | None = GPT2_PATTERN,
    ) -> BPETokenizer:
        """Learn a tokenizer of at most `vocab_size` ids.

        Args:
            text: one text, or several; no word reaches from one into the next.
            vocab_size: V, at least 256 and one for each special token. A text whose
                pairs are used up sooner makes a smaller vocabulary:
                `tokenizer.vocab_size` tells.
            special_tokens: names, whose order fixes their ids.
            min_frequency: merge no pair that occurs less often, at least 1.
            pattern: how text is cut into words.

        Raises:
            TypeError: a text is not a `str`, or a number no integer.
            ValueError: there is no text, special tokens repeat, or the vocabulary is
                smaller than the alphabet.
        """
        special_tokens = check_special_tokens(special_tokens)
        alphabet = len(special_tokens) + 256
        vocab_size = check_vocab_size(vocab_size, len(special_tokens))
        min_frequency = check_integer("min_frequency", min_frequency, minimum=1)
        pattern = _check_pattern(pattern)
        words = count_words(
            iterate_texts([text] if isinstance(text, str) else text),
            pattern,
            len(special_tokens),
        )
        if not words:
            raise ValueError(
                "text must hold at least one character, got none: there is nothing to "
                "learn from"
            )
        merges = learn_merges(
            words, vocab_size - alphabet, first_id=alphabet, min_frequency=min_frequency
        )
        return cls(merges, special_tokens=special_tokens, pattern=pattern)

    @property
    def vocab_size(self) -> int:
        return len(self.token_bytes)

    def encode(self, text: str, *, allowed_special: Iterable[str] = ()) -> np.ndarray:
        """Return the ids of a text, in the smallest dtype.

        Args:
            text: any text; `<|endoftext|>` in it is spelled in ordinary tokens, since
                whoever writes a text must not be able to end it.
            allowed_special: names of special tokens that are recognized nevertheless,
                for text of your own.

        Raises:
            TypeError: `text` is not a `str`.
            ValueError: it holds half a surrogate pair, which no UTF-8 can spell, or a
                name is no special token.
        """
        check_unicode(text)
        allowed = (
            [allowed_special]
            if isinstance(allowed_special, str)
            else list(allowed_special)
        )
        if unknown := [name for name in allowed if name not in self.special_tokens]:
            raise ValueError(
                f"allowed_special must be among {list(self.special_tokens)}, got "
                f"{unknown}"
            )
        ids: list[int] = []
        for number, piece in enumerate(_split_at(text, allowed)):
            ids += (
                [self.special_tokens[piece]]
                if number % 2
                else self._encode_ordinary(piece)
            )
        return np.array(ids, dtype=smallest_dtype(self.vocab_size - 1))

    def encode_bytes(self, data: bytes) -> np.ndarray:
        """Return the ids of any bytes, text or not; for UTF-8 they are those of
        `encode`."""
        if not isinstance(data, bytes | bytearray):
            raise TypeError(f"data must be bytes, got {type(data).__name__}")
        ids = self._encode_ordinary(bytes(data).decode("utf-8", "surrogateescape"))
        return np.array(ids, dtype=smallest_dtype(self.vocab_size - 1))

    def _encode_ordinary(self, text: str) -> list[int]:
        ids: list[int] = []
        for word in split_words(text, self.pattern):
            merged = self._cache.get(word)
            if merged is None:
                merged = merge_word(spell(word, len(self.special_tokens)), self.merges)
                # few words make most of a text, so most are found here
                if len(self._cache) < CACHED_WORDS:
                    self._cache[word] = merged
            ids += merged
        return ids

    def decode_bytes(self, ids: Ids) -> bytes:
        """Return the bytes that the ids spell, exactly.

        Raises:
            TypeError, ValueError: `ids` are not a stream of ids in 0 ... V - 1.
        """
        stream = as_stream(ids)
        if stream.size and not (stream.min() >= 0 and stream.max() < self.vocab_size):
            raise ValueError(
                f"ids must lie in 0 ... {self.vocab_size - 1}, got {stream.min()} ... "
                f"{stream.max()}"
            )
        return b"".join(self.token_bytes[token] for token in stream.tolist())

    def decode(self, ids: Ids) -> str:
        """Return the text of the ids. Bytes that are no UTF-8, such as half a
        character, become U+FFFD."""
        return self.decode_bytes(ids).decode("utf-8", "replace")

    def save(self, path: str | os.PathLike) -> None:
        """Write all that `load` needs into one JSON file."""
        state = {
            "format": FORMAT,
            "pattern": self.pattern,
            "special_tokens": list(self.special_tokens),
        }
        Path(path).write_text(
            json.dumps(state | {"merges": list(self.merges)}), encoding="utf-8"
        )

    @classmethod
    def load(cls, path: str | os.PathLike) -> BPETokenizer:
        """Read what `save` wrote.

        Raises:
            ValueError: the file holds something else.
        """
        try:
            state = json.loads(Path(path).read_text(encoding="utf-8"))
            if state.pop("format") != FORMAT:
                raise ValueError("another format")
            return cls(**state)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise ValueError(
                f"{path} is no saved BPETokenizer ({type(error).__name__}: {error})"
            ) from None


def train_byte_level_bpe(
    texts: Iterable,
    *,
    vocab_size: int,
    min_frequency: int = 2,
    special_tokens: Sequence[str] = (END_OF_TEXT,),
    add_prefix_space: bool = False,
    unicode_normalizer: str | None = None,
    text_column: str = "text",
    progress: bool | None = None,
) -> Tokenizer:
    """Train the same kind of tokenizer with the library `tokenizers`, from any source
    of texts.

    Args:
        texts: an iterable of texts, of lists of texts or of batches `{text_column:
            [...]}`, or a `datasets` data set, which is read in batches. It is read once
            and never held in memory.
        vocab_size: V, the special tokens and the 256 bytes included; fewer if the pairs
            are used up sooner.
        min_frequency: merge no pair that occurs less often.
        special_tokens: names, whose order fixes their ids 0, 1, ...
        add_prefix_space: put a blank before each text, so that its first word is a word
            like any other. Decoding does not take it away again.
        unicode_normalizer: "nfc", "nfd", "nfkc" or "nfkd" unites what looks alike; None
            changes nothing.
        text_column: which column of a batch holds the texts.
        progress: show a progress bar; by default unless `COURSE_PROGRESS=0`.

    Raises:
        TypeError: a text is not a `str`, or `texts` is a single one.
        ValueError: there is no text, a special token repeats or is an ordinary token
            too, the vocabulary is smaller than the alphabet, or the normalizer is
            unknown.
    """
    special_tokens = check_special_tokens(special_tokens)
    vocab_size = check_vocab_size(vocab_size, len(special_tokens))
    min_frequency = check_integer("min_frequency", min_frequency, minimum=1)
    if unicode_normalizer is not None and unicode_normalizer not in NORMALIZERS:
        raise ValueError(
            f"unicode_normalizer must be None or one of {list(NORMALIZERS)}, got "
            f"{unicode_normalizer!r}"
        )
    tokenizer = Tokenizer(models.BPE())
    if unicode_normalizer is not None:
        tokenizer.normalizer = NORMALIZERS[unicode_normalizer]()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(
        add_prefix_space=bool(add_prefix_space)
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=special_tokens,
        # All 256 bytes, seen or not: a byte without an id would be dropped, and nobody
        # told.
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=shows(progress),
    )
    source = iterate_texts(texts, text_column)
    counted = hasattr(texts, "num_rows") or (
        isinstance(texts, list | tuple) and all(isinstance(t, str) for t in texts)
    )
    # of batches, nobody knows yet how many texts they hold
    total = len(texts) if counted else None
    tokenizer.train_from_iterator(_not_empty(source, total, progress), trainer=trainer)
    learned = len(json.loads(tokenizer.to_str())["model"]["merges"])
    if tokenizer.get_vocab_size() != len(special_tokens) + 256 + learned:
        raise ValueError(
            "special_tokens must not be tokens of ordinary text, but one of "
            f"{special_tokens} is"
        )
    return tokenizer


def _not_empty(
    texts: Iterator[str], total: int | None, progress: bool | None
) -> Iterator[str]:
    """Pass texts on, with a progress bar, and complain at the end if there was nothing
    in them."""
    characters = 0
    for text in progress_bar(
        texts, "reading", total=total, unit="text", progress=progress
    ):
        characters += len(text)
        yield text
    if not characters:
        raise ValueError(
            "texts must hold at least one character, got none: there is nothing to "
            "learn from"
        )


def check_vocab_size(vocab_size: int, num_special_tokens: int) -> int:
    """Return `vocab_size`, or say that it is smaller than the alphabet of 256 bytes and
    the special tokens."""
    vocab_size = check_integer("vocab_size", vocab_size, minimum=1)
    if vocab_size < 256 + num_special_tokens:
        raise ValueError(
            f"vocab_size must be at least {256 + num_special_tokens}: 256 bytes and "
            f"{num_special_tokens} special tokens; got {vocab_size}"
        )
    return vocab_size


def _check_pattern(pattern: str | None) -> str | None:
    if pattern is not None and not isinstance(pattern, str):
        raise TypeError(
            f"pattern must be a str or None, got {pattern!r} ({type(pattern).__name__})"
        )
    try:
        return pattern if pattern is None else regex.compile(pattern).pattern
    except regex.error as error:
        raise ValueError(
            f"pattern must be a regular expression or None, got {pattern!r} ({error})"
        ) from None


def _split_at(text: str, names: list[str]) -> list[str]:
    """Cut a text at special tokens: ordinary text at even places, special tokens at odd
    ones."""
    if not names:
        return [text]
    # of two names that begin alike, the longer one counts
    longest_first = sorted(names, key=len, reverse=True)
    return regex.split("(" + "|".join(map(regex.escape, longest_first)) + ")", text)
