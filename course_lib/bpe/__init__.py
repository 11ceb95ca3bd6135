"""Lesson 06: byte-pair encoding by hand, then with `tokenizers`, with equal results.

A text is a string of bytes. Find the two tokens that are most often side by side, make
them one token, and repeat: the list of these merges is the whole tokenizer. It fits on
one screen, `one_screen`. Here is the one to use, with the same ids: `merging` makes it
fast, it takes special tokens, and it checks what it's given.
"""

from __future__ import annotations

import base64
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Annotated

import numpy as np
import regex
from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

from course_lib.bpe.merging import Pair, as_id_list, learn_merges, merge_word
from course_lib.bpe.one_screen import merge_pair
from course_lib.bpe.spelling import (
    BYTE_ORDER,
    GPT2_PATTERN,
    check_pattern,
    printable,
    spell,
    split_words,
)
from course_lib.foundation import (
    END_OF_TEXT,
    AtLeast,
    Count,
    FilePath,
    Ids,
    OneOf,
    Text,
    check_integer,
    check_iterable,
    check_range,
    check_special_tokens,
    checked,
    iterate_texts,
    shows,
    smallest_dtype,
    training_batches,
)

NORMALIZERS = (None, "nfc", "nfd", "nfkc", "nfkd")
CACHED_WORDS = 2**16


def count_words(
    texts: Iterable, pattern: str | None = GPT2_PATTERN, first_id: int = 0
) -> dict[tuple[int, ...], int]:
    """Count the distinct words of all texts. Training never reads a text again."""
    counts: Counter[str] = Counter()
    for text in iterate_texts(texts):
        counts.update(split_words(text, pattern))
    return {spell(word, first_id): count for word, count in counts.items()}


@checked
def merge_history(ids: Sequence[int], merges: Mapping[Pair, int]) -> list[list[int]]:
    """Encode a word as `OneScreenBPE` does; return all stages, from bytes on.

    Of all pairs that can be merged, the one that was learned first is merged, at all
    its places, and then the next. A word of n bytes takes up to n stages of up to n
    steps. `merge_word` is faster.
    """
    stages = [as_id_list(ids)]
    while known := [pair for pair in pairwise(stages[-1]) if pair in merges]:
        pair = min(known, key=merges.__getitem__)
        stages.append(list(merge_pair(stages[-1], pair, merges[pair])))
    return stages


# The whole tokenizer, by hand and with the library.


class BPETokenizer:
    """A byte-level BPE tokenizer: special tokens, 256 bytes, merges, in this order.

    Every text is a string of bytes, and every byte has an id, so nothing is unknown.
    Ids and merges are those that `tokenizers` learns from the same text with the same
    pattern.

    Args:
        merges: pairs of ids in the order in which they were learned.
        special_tokens: names, whose order fixes their ids 0, 1, ... Text never becomes
            one of them, unless you allow it.
        pattern: how text is cut into words; see `split_words`.

    Attributes:
        merges: each pair with its new id, in order.
        special_tokens: each name with its id.
        token_bytes: what each id spells; for a special token its name in UTF-8.
        vocab_size: the number of ids, V.
        end_of_text_id: the id of `<|endoftext|>` if that is a special token, else None.
    """

    def __init__(
        self,
        merges: Iterable[Pair] = (),
        *,
        special_tokens: Sequence[str] = (),
        pattern: str | None = GPT2_PATTERN,
    ):
        names = check_special_tokens(special_tokens)
        self.special_tokens = {name: number for number, name in enumerate(names)}
        self.end_of_text_id = self.special_tokens.get(END_OF_TEXT)
        self.pattern = check_pattern(pattern)
        self.token_bytes = [name.encode() for name in names]
        self.token_bytes += [bytes([byte]) for byte in BYTE_ORDER]
        self.merges: dict[Pair, int] = {}
        pairs = list(merges) if isinstance(merges, Mapping) else merges
        for pair in check_iterable("merges", pairs, "pairs"):
            self._add_merge(pair)
        self._cache: dict[str, list[int]] = {}

    def __getstate__(self) -> dict[str, object]:
        # equal tokenizers are alike, whatever they have read
        return {**vars(self), "_cache": {}}

    def _add_merge(self, pair: Pair) -> None:
        new_id, first_byte = len(self.token_bytes), len(self.special_tokens)
        left, right = (
            check_integer("merges", part, minimum=first_byte, maximum=new_id - 1)
            for part in as_id_list(pair, "pair of merges", length=2)
        )
        if (left, right) in self.merges:
            raise ValueError(
                f"merges must be different pairs, got {(left, right)} again as number "
                f"{len(self.merges)}"
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
            vocab_size: V, at least 256 and one for each special token. There are fewer
                ids if the pairs are used up sooner.
            special_tokens, pattern: see `BPETokenizer`.
            min_frequency: pairs that occur less often are not merged; at least 1.
        """
        special_tokens = check_special_tokens(special_tokens)
        alphabet = len(special_tokens) + 256
        vocab_size = check_vocab_size(vocab_size, len(special_tokens))
        texts = [text] if isinstance(text, str) else text
        texts = training_batches(texts, progress=False)
        words = count_words(texts, pattern, len(special_tokens))
        merges = learn_merges(
            words, vocab_size - alphabet, first_id=alphabet, min_frequency=min_frequency
        )
        return cls(merges, special_tokens=special_tokens, pattern=pattern)

    @property
    def vocab_size(self) -> int:
        return len(self.token_bytes)

    @checked
    def encode(
        self, text: Text, *, allowed_special: str | Iterable[str] = ()
    ) -> np.ndarray:
        """Return the ids of a text, in the smallest dtype.

        By default `<|endoftext|>` in it is plain text. The author of a text can
        therefore neither end it nor stop a run over a million others (tiktoken's
        `encode` raises an error by default). For text of your own, `allowed_special`
        lists the names that mean their special tokens, or is "all".
        """
        known = list(self.special_tokens)
        everything = isinstance(allowed_special, str) and allowed_special == "all"
        names = known if everything else allowed_special
        allowed = list(check_iterable("allowed_special", names, "names"))
        if unknown := [name for name in allowed if name not in known]:
            raise ValueError(f"allowed_special must be among {known}, got {unknown}")
        # Of two names that begin alike, the longer one counts.
        names = map(regex.escape, sorted(allowed, key=len, reverse=True))
        pieces = regex.split(f"({'|'.join(names)})", text) if allowed else [text]
        ids: list[int] = []
        for piece in pieces:
            special = piece in allowed
            ids += [known.index(piece)] if special else self._encode_ordinary(piece)
        return np.array(ids, dtype=smallest_dtype(self.vocab_size - 1))

    def _encode_ordinary(self, text: str) -> list[int]:
        ids: list[int] = []
        for word in split_words(text, self.pattern):
            merged = self._cache.get(word)
            if merged is None:
                merged = self._merge(word)
                # a few words make up most of a text, so most are found here
                if len(self._cache) < CACHED_WORDS:
                    self._cache[word] = merged
            ids += merged
        return ids

    def _merge(self, word: str) -> list[int]:
        return merge_word(spell(word, len(self.special_tokens)), self.merges)

    @checked
    def decode_bytes(self, ids: Ids) -> bytes:
        """Return the bytes that the ids spell, exactly."""
        stream = check_range("ids", ids, self.vocab_size)
        return b"".join(self.token_bytes[token] for token in stream.tolist())

    def decode(self, ids: Ids) -> str:
        """Return the text of the ids; half a character becomes U+FFFD."""
        return self.decode_bytes(ids).decode("utf-8", "replace")

    def to_tokenizers(self) -> Tokenizer:
        """Return this tokenizer as one of `tokenizers`: equal ids, and one file.

        Special tokens in a text are also plain text there. But the file does not keep
        this choice, so set `encode_special_tokens` again after you have loaded it.
        Raises ValueError if two ids are spelled alike, or if Oniguruma cannot read the
        pattern. It reads patterns as Ruby does, where `^` begins each line.
        """
        first_byte = len(self.special_tokens)
        names = [*self.special_tokens, *map(printable, self.token_bytes[first_byte:])]
        ids = {name: number for number, name in enumerate(names)}
        if len(ids) < len(names):
            raise ValueError("ids must be spelled differently, but two are alike")
        merges = [(names[left], names[right]) for left, right in self.merges]
        tokenizer = Tokenizer(models.BPE(vocab=ids, merges=merges))
        try:  # without a pattern, the text is one word: one that matches everything
            split = pre_tokenizers.Split(Regex(self.pattern or r"(?m).+"), "isolated")
        except Exception as error:  # the library has no type of its own for it
            raise ValueError(f"pattern must be one for Oniguruma: {error}") from None
        in_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, in_bytes])
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.add_special_tokens(list(self.special_tokens))
        tokenizer.encode_special_tokens = True
        return tokenizer

    @checked
    def to_ranks(self, path: FilePath) -> None:
        """Write each token's bytes, in base64, and its id: the format of tiktoken.

        `tiktoken.Encoding` takes `special_tokens` and the pattern as its own arguments.
        Raises ValueError if the bytes of a token are not encoded as that token:
        tiktoken merges any pair that spells a token, so it would find this one.
        """
        first, lines = len(self.special_tokens), []
        for rank, data in enumerate(self.token_bytes[first:], first):
            if self._merge(data.decode("utf-8", "surrogateescape")) != [rank]:
                raise ValueError(
                    f"merges must lead to each token, but not to {data!r}, token {rank}"
                )
            lines.append(f"{base64.b64encode(data).decode()} {rank}\n")
        path.write_text("".join(lines), encoding="ascii")

    @classmethod
    @checked
    def from_ranks(
        cls,
        path: FilePath,
        *,
        special_tokens: Sequence[str] = (),
        pattern: str | None = GPT2_PATTERN,
    ) -> BPETokenizer:
        """Read a file of ranks, which has no merges: they follow from the tokens.

        The bytes of a token, encoded with the tokens before it, are the pair that it
        was merged from.

        Args:
            path: what `to_ranks` wrote, or OpenAI's files. In those, special tokens
                come after all others, which is not possible here, so leave them out.
            special_tokens: names of the ids below the first one in the file.
            pattern: how text is cut into words; the file does not say.

        Raises ValueError if the file is of another kind, the bytes are not first and in
        GPT-2's order, or a token is not made of two earlier ones.
        """
        tokenizer = cls(special_tokens=special_tokens, pattern=pattern)
        first = len(tokenizer.special_tokens)
        lines = path.read_bytes().splitlines()
        if len(lines) < 256:
            raise ValueError(f"{path} must have 256 lines or more, got {len(lines)}")
        for number, line in enumerate(lines, first):
            try:
                token, rank = line.split()
                data = base64.b64decode(token, validate=True)
                parts = tokenizer._merge(data.decode("utf-8", "surrogateescape"))
                is_byte = number < first + 256
                if int(rank) != number or (is_byte and parts != [number]):
                    raise ValueError("its id or its byte is another")
                if not is_byte:
                    tokenizer._add_merge(parts)
            except ValueError as error:
                raise ValueError(
                    f"{path}, line {number - first + 1}, must hold token {number}, got "
                    f"{line!r:.60}: {error}"
                ) from None
        return tokenizer


@checked
def train_byte_level_bpe(
    texts: Iterable,
    *,
    vocab_size: int,
    min_frequency: Annotated[int, AtLeast(1, 2**63 - 1)] = 2,
    special_tokens: Sequence[str] = (END_OF_TEXT,),
    add_prefix_space: bool = False,
    unicode_normalizer: Annotated[str | None, OneOf(NORMALIZERS)] = None,
    text_column: str = "text",
    progress: bool | None = None,
) -> Tokenizer:
    """Train the same tokenizer with the library `tokenizers`, from any texts.

    Args:
        texts, text_column: what `iterate_texts` takes. They are read once and not kept.
        vocab_size, min_frequency, special_tokens: see `BPETokenizer.train`.
        add_prefix_space: put a space before a text that does not begin with one, and
            after each special token, so that the first word is a word like any other.
            Decoding does not take it away again.
        unicode_normalizer: "nfc", "nfd", "nfkc" or "nfkd" unites what looks alike; None
            changes nothing.
        progress: show a progress bar; by default unless `COURSE_PROGRESS=0`.
    """
    special_tokens = check_special_tokens(special_tokens)
    vocab_size = check_vocab_size(vocab_size, len(special_tokens))
    tokenizer = Tokenizer(models.BPE())
    if unicode_normalizer is not None:
        tokenizer.normalizer = getattr(normalizers, unicode_normalizer.upper())()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(
        add_prefix_space=add_prefix_space
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=special_tokens,
        # all 256, seen or not: a byte without an id would be dropped silently
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        # its bar can only be drawn in a terminal, and prints line breaks elsewhere
        show_progress=shows(progress) and sys.stderr.isatty(),
    )
    batches = training_batches(texts, text_column=text_column, progress=progress)
    tokenizer.train_from_iterator(batches, trainer)
    learned = len(json.loads(tokenizer.to_str())["model"]["merges"])
    if tokenizer.get_vocab_size() != len(special_tokens) + 256 + learned:
        raise ValueError(
            f"special_tokens must not be ordinary text, got one in {special_tokens}"
        )
    return tokenizer


# Checks: each returns what may be used.


@checked
def check_vocab_size(
    vocab_size: Annotated[int, AtLeast(1, 2**24)],
    num_special_tokens: Count,
    alphabet_size: Count = 256,
) -> int:
    """Return `vocab_size`, unless alphabet and special tokens are already more."""
    # The trainer of `tokenizers` asks for the memory of all ids before it begins.
    least = alphabet_size + num_special_tokens
    if vocab_size < least:
        raise ValueError(
            f"vocab_size must be at least {least}: {alphabet_size} tokens of the "
            f"alphabet and {num_special_tokens} special tokens; got {vocab_size}"
        )
    return vocab_size
