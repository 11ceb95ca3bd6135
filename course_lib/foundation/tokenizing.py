"""From texts to one compact stream of token ids: what all tokenizers share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from itertools import islice
from mmap import mmap
from typing import Protocol

import numpy as np

from course_lib.foundation.arguments import Ids, as_stream, check_integer, check_range
from course_lib.foundation.progress import progress_bar

END_OF_TEXT = "<|endoftext|>"  #: the token between documents
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
BATCH_SIZE = 1000  # texts that a library's tokenizer gets at a time


class CharTokenizer:
    """One token per character, and one more, the last id, for the end of a document.

    Args:
        characters: the alphabet; `CharTokenizer(text)` takes every character that
            `text` uses.
        max_characters: keep only so many, those that occur most often, and of equally
            frequent ones the smaller code points. Every other character becomes U+FFFD,
            the replacement character, which is one more in the alphabet. An alphabet
            that is small enough stays as it is.

    Attributes:
        characters: the alphabet, sorted by code point; the character with id `i` is
            `characters[i]`.
        vocab_size: number of ids, V = number of characters + 1.
        end_of_text_id: V - 1.
        replacement_id: the id of U+FFFD that all other characters get; None if none
            were left out, so that a character outside the alphabet is an error.
    """

    def __init__(self, characters: str, *, max_characters: int | None = None):
        if not isinstance(characters, str):
            raise TypeError(
                f"characters must be a str, got {type(characters).__name__}"
            )
        if not characters:
            raise ValueError(
                "characters must not be empty: an alphabet needs at least one character"
            )
        kept, counts = np.unique(_code_points(characters), return_counts=True)
        replaces = False
        if max_characters is not None:
            max_characters = check_integer("max_characters", max_characters, minimum=1)
            replaces = len(kept) > max_characters
        if replaces:
            frequent = np.argsort(-counts, kind="stable")[:max_characters]
            kept = np.union1d(kept[frequent], _code_points(REPLACEMENT))
        self._code_points = kept
        self.characters = _characters(kept)
        self.end_of_text_id = len(self.characters)
        self.vocab_size = len(self.characters) + 1
        self.replacement_id = self.characters.index(REPLACEMENT) if replaces else None

    def encode(self, text: str) -> np.ndarray:
        """Return the ids of `text`, shape (len(text),), in the smallest dtype.

        No end-of-text is added.

        Raises:
            TypeError: `text` is not a `str`.
            ValueError: a character is not in the alphabet, and none stands for it; it
                is named, with its position.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, got {type(text).__name__}")
        wanted = _code_points(text)
        ids = np.searchsorted(self._code_points, wanted)
        found = self._code_points[np.minimum(ids, len(self._code_points) - 1)] == wanted
        if self.replacement_id is not None:
            ids[~found] = self.replacement_id
        elif not found.all():
            position = int(np.argmin(found))
            raise ValueError(
                f"character {text[position]!r} at position {position} is not in the "
                "alphabet"
            )
        return ids.astype(smallest_dtype(self.vocab_size - 1))

    def decode(self, ids: Ids) -> str:
        """Return the text of `ids`; an end-of-text id becomes `<|endoftext|>`.

        Raises:
            ValueError: an id lies outside 0 ... V - 1.
        """
        stream = check_range("ids", as_stream(ids), self.vocab_size)
        names = [*self.characters, END_OF_TEXT]
        return "".join(names[i] for i in stream.tolist())


def iterate_texts(texts: Iterable, text_column: str = "text") -> Iterator[str]:
    """Yield text by text, whatever the texts come in.

    Args:
        texts: texts, lists of texts, batches of columns, or a `datasets` data set.
        text_column: which column of a batch or a data set holds the texts.

    Raises:
        TypeError: something else comes along; it is named, with its position.
    """
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise TypeError(
            f"texts must be several texts, got {type(texts).__name__}: use [text] for "
            "a single one"
        )
    if isinstance(texts, Mapping):
        splits = any(hasattr(value, "column_names") for value in texts.values())
        kind, first = type(texts).__name__, next(iter(texts), "train")
        advice = f"choose one, as in texts[{first!r}]" if splits else "use [texts]"
        raise TypeError(
            f"texts must be several texts, got a {kind} with the "
            f"{'splits' if splits else 'columns'} {list(texts)}: {advice}"
        )
    return _texts_of(
        texts.iter(BATCH_SIZE) if hasattr(texts, "column_names") else texts, text_column
    )


def _texts_of(batches: Iterable, text_column: str) -> Iterator[str]:
    for number, batch in enumerate(batches):
        if isinstance(batch, Mapping):
            if text_column not in batch:
                raise ValueError(
                    f"text_column must be one of {list(batch)}, got {text_column!r}"
                )
            batch = batch[text_column]
        for text in batch if isinstance(batch, list | tuple) else [batch]:
            if not isinstance(text, str):
                raise TypeError(
                    f"texts must be str, but number {number} is or holds "
                    f"{type(text).__name__}"
                )
            check_unicode(text)
            yield text


def training_batches(
    texts: Iterable,
    *,
    text_column: str = "text",
    length: int | None = None,
    progress: bool | None = None,
) -> Iterator[list[str]]:
    """Read texts for a trainer of `tokenizers`, in batches, with a progress bar.

    Args:
        texts: what `iterate_texts` takes; read once, not kept.
        text_column: which column of a batch or a data set holds the texts.
        length: how many texts there are, for the bar; by default counted if they can
            be.
        progress: show a progress bar; by default unless `COURSE_PROGRESS=0`.

    Raises:
        TypeError: something else comes along; it is named, with its position.
        ValueError: at the end, when there was nothing but blanks.
    """
    if length is not None:
        length = check_integer("length", length, minimum=0)
    counted = hasattr(texts, "num_rows") or (
        isinstance(texts, list | tuple) and all(isinstance(t, str) for t in texts)
    )
    if length is None and counted:  # of batches, nobody knows how many texts they hold
        length = len(texts)
    return _not_blank(
        progress_bar(
            iterate_texts(texts, text_column),
            "reading",
            total=length,
            unit="text",
            progress=progress,
        )
    )


def _not_blank(texts: Iterable[str]) -> Iterator[list[str]]:
    texts, blank = iter(texts), True
    while batch := list(islice(texts, BATCH_SIZE)):
        blank = blank and not any(text.strip() for text in batch)
        yield batch
    if blank:
        raise ValueError(
            "texts must hold more than blanks, got an empty corpus: there is nothing "
            "to learn from"
        )


def check_special_tokens(special_tokens: Sequence[str]) -> list[str]:
    """Return the names as a list: each a non-empty `str`, no two alike.

    Raises:
        TypeError, ValueError: they are not; the name that is wrong is told.
    """
    if isinstance(special_tokens, str):
        raise TypeError(
            f"special_tokens must be several names, got one: use [{special_tokens!r}]"
        )
    if not isinstance(special_tokens, Sequence):  # nor a set: their order gives the ids
        raise TypeError(
            "special_tokens must be a list of names, got "
            f"{type(special_tokens).__name__}"
        )
    names = list(special_tokens)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(
                f"special_tokens must be str, got {name!r} ({type(name).__name__})"
            )
        if not name:
            raise ValueError(
                "special_tokens must not be empty: an empty name is everywhere in "
                "every text"
            )
        check_unicode(name, "special_tokens")
    name, times = max(Counter(names).items(), key=lambda item: item[1], default=("", 0))
    if times > 1:
        raise ValueError(
            f"special_tokens must be different, but {name!r} occurs {times} times"
        )
    return names


def check_unicode(text: object, name: str = "text") -> None:
    """Refuse what is no `str`, or holds half of a character.

    Python lets a surrogate, one half of a pair in UTF-16, stand alone in a `str`; UTF-8
    has no bytes for it.

    Raises:
        TypeError, ValueError: naming the argument and the position.
    """
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a str, got {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        place = error.start
        raise ValueError(
            f"{name} must be Unicode, but character {place} is half of one: "
            f"{text[place]!r}"
        ) from None


class Tokenizer(Protocol):
    """What `encode_corpus` needs; the course's tokenizers and the library's have it."""

    def encode(self, text: str, /) -> object: ...


def encode_corpus(
    texts: Iterable,
    tokenizer: Tokenizer,
    *,
    end_of_text_id: int | None = None,
    text_column: str = "text",
    progress: bool | None = None,
) -> np.ndarray:
    """Tokenize texts and join them into one stream, with an end-of-text id after each.

    A tokenizer of the library `tokenizers` gets its texts in batches and encodes them
    on all cores. A special token that is spelled out in a text is encoded like any
    other text.

    Args:
        texts: texts, lists of texts, batches of columns, or a `datasets` data set; read
            once, not kept.
        tokenizer: its `encode(text)` returns ids, or an object with `.ids` as
            `tokenizers` does.
        end_of_text_id: by default what the tokenizer has: its `end_of_text_id`, or a
            post-processor that ends each text.
        text_column: which column of a batch or a data set holds the texts.
        progress: show a progress bar; by default unless `COURSE_PROGRESS=0`.

    Returns:
        the ids, shape (N,), uint16 if every id fits and uint32 otherwise; of a
        tokenizer of `tokenizers` every id of its vocabulary, whether it occurs or not.

    Raises:
        TypeError: `texts` is one `str` (its characters would become documents), or
            holds something else; or `tokenizer` is none.
        ValueError: there is no text, no end-of-text id, or more than one.
    """
    length = len(texts) if isinstance(texts, Sized) else None
    documents = encode_each(
        texts, tokenizer, end_of_text_id=end_of_text_id, text_column=text_column
    )
    pieces = list(
        progress_bar(
            documents, "tokenizing", total=length, unit="text", progress=progress
        )
    )
    if not pieces:
        raise ValueError("texts must hold at least one document, got none")
    return np.concatenate(pieces)


def encode_each(
    texts: Iterable,
    tokenizer: Tokenizer,
    *,
    end_of_text_id: int | None = None,
    text_column: str = "text",
    batch_size: int = BATCH_SIZE,
) -> Iterator[np.ndarray]:
    """Yield the ids of text after text, each with its end: what `encode_corpus` joins.

    Arguments and errors are those of `encode_corpus`. The ids are compact: uint16 or
    uint32, by the vocabulary of a tokenizer of `tokenizers`, else by the largest id.
    A library's tokenizer gets `batch_size` texts at a time; so many are held.
    """
    batch_size = check_integer("batch_size", batch_size, minimum=1)
    if isinstance(tokenizer, type) or not callable(getattr(tokenizer, "encode", None)):
        kind = "a class" if isinstance(tokenizer, type) else type(tokenizer).__name__
        raise TypeError(f"tokenizer must have a method encode(text), got {kind}")
    from_library = hasattr(tokenizer, "encode_batch_fast")
    if from_library:
        dtype, tokenizer = id_dtype(tokenizer), _for_plain_text(tokenizer)
        adds_ends = tokenizer.num_special_tokens_to_add(False) > 0
    else:
        dtype, adds_ends = None, False
        if end_of_text_id is None:
            end_of_text_id = getattr(tokenizer, "end_of_text_id", None)
    if adds_ends and end_of_text_id is not None:
        raise ValueError(
            "end_of_text_id must be None: this tokenizer ends each text itself; got "
            f"{end_of_text_id}"
        )
    if not adds_ends and end_of_text_id is None:
        raise ValueError(
            "end_of_text_id must be given: this tokenizer has none of its own"
        )
    end = np.empty(0, dtype=np.uint16)
    if not adds_ends:
        end_of_text_id = check_integer(
            "end_of_text_id", end_of_text_id, minimum=0, maximum=2**32 - 1
        )
        end = compact([end_of_text_id])
    if from_library:  # an id that is given may lie beyond the vocabulary
        dtype = np.promote_types(dtype, end.dtype)
    texts = iterate_texts(texts, text_column)
    return _encode_in_batches(texts, tokenizer, from_library, end, dtype, batch_size)


def _encode_in_batches(
    texts: Iterator[str],
    tokenizer: Tokenizer,
    from_library: bool,
    end: np.ndarray,
    dtype: np.dtype | None,
    batch_size: int,
) -> Iterator[np.ndarray]:
    while batch := list(islice(texts, batch_size)):
        # The fast one leaves out the offsets, which nobody asks for here.
        encoded = (
            tokenizer.encode_batch_fast(batch)
            if from_library
            else map(tokenizer.encode, batch)
        )
        for ids in encoded:
            # Compact one by one: a large corpus of int64 would need four times the
            # memory on the way. And a copy, made before the next text is encoded: a
            # tokenizer may write into the same buffer again.
            ended = np.concatenate([compact(getattr(ids, "ids", ids)), end])
            narrow = smallest_dtype(int(ended.max())) if dtype is None else dtype
            yield ended.astype(narrow, copy=False)


def _for_plain_text(tokenizer):
    """Copy a tokenizer of `tokenizers` that takes every text as it is.

    The copy cuts and fills up nothing, and a special token in a text is plain text.
    """
    tokenizer = type(tokenizer).from_str(tokenizer.to_str())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def id_dtype(tokenizer) -> np.dtype:
    """Return uint16 if every id of a tokenizer of `tokenizers` fits, else uint32.

    Added tokens count, too: they have the largest ids.
    """
    vocabulary = tokenizer.get_vocab(with_added_tokens=True)
    if not vocabulary:
        raise ValueError(
            "tokenizer must have a vocabulary, got an empty one: train it first"
        )
    return smallest_dtype(max(vocabulary.values()))


def smallest_dtype(largest_id: int) -> np.dtype:
    """Return uint16 up to id 65,535 and uint32 beyond.

    `array.astype(np.uint16)` would not complain about id 70,000: it would store 4,464.

    Raises:
        ValueError: the id is negative or needs more than 32 bits.
    """
    largest_id = check_integer("largest_id", largest_id, minimum=0, maximum=2**32 - 1)
    return np.dtype(np.uint16 if largest_id < 2**16 else np.uint32)


def compact(ids: Ids) -> np.ndarray:
    """Return `ids` in the smallest dtype, shape (N,), read-only.

    They are copied once at most. A memory map, and any array of unsigned integers of at
    most 32 bits, is kept as it is, unread and uncopied.

    Raises:
        TypeError, ValueError: `ids` are not a stream of ids, or one is negative or
            needs more than 32 bits.
    """
    stream = as_stream(ids)
    is_compact = stream.dtype.kind == "u" and stream.dtype.itemsize <= 4
    if is_compact or _lies_in_a_file(stream):
        return stream
    if stream.size == 0:
        return stream.astype(np.uint16)
    if stream.min() < 0:
        raise ValueError(
            f"ids must not be negative, got {stream.min()} at position "
            f"{int(stream.argmin())}"
        )
    if stream.max() >= 2**32:
        raise ValueError(
            f"ids must fit into 32 bits, got {stream.max()} at position "
            f"{int(stream.argmax())}"
        )
    return stream.astype(smallest_dtype(stream.max()))


def _lies_in_a_file(array: object) -> bool:
    """Say whether an array shows a memory map.

    Its type does not tell: `memory_map.astype(np.int64)`, a copy in memory, is of type
    `np.memmap` too.
    """
    while array is not None and not isinstance(array, mmap):
        array = getattr(array, "base", None)
    return array is not None


def _code_points(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _characters(code_points: np.ndarray) -> str:
    return code_points.tobytes().decode("utf-32-le", "surrogatepass")
