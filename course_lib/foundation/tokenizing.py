"""Turn texts into one compact stream of token ids, with any tokenizer."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from itertools import chain, islice
from numbers import Integral
from typing import Annotated

import numpy as np

from course_lib.foundation.arguments import (
    AtLeast,
    Ids,
    Length,
    Text,
    checked,
    named_elsewhere,
)
from course_lib.foundation.checks import (
    as_ids,
    check_integer,
    check_range,
)
from course_lib.foundation.dtypes import compact, id_dtype, smallest_dtype
from course_lib.foundation.progress import progress_bar
from course_lib.foundation.round_trips import (
    FIRST_TEXTS,
    REPLACEMENT,
    check_first_texts,
    describe_changes,
)
from course_lib.foundation.texts import BATCH_SIZE, batches_of_texts, iterate_texts
from course_lib.foundation.uncut import uncut

END_OF_TEXT = "<|endoftext|>"  #: the token between documents


class CharTokenizer:
    """One token for each character, and a last one for the end of a document.

    Args:
        characters: the alphabet. `CharTokenizer(text)` takes every character in `text`.
        max_characters: keep at most this many characters, those that occur most often,
            and of equally frequent ones those with smaller code points. Every other
            character becomes U+FFFD, the replacement character, which is added to the
            alphabet. An alphabet that is small enough is not changed.

    Attributes:
        characters: the alphabet, sorted by code point: id `i` is `characters[i]`.
        vocab_size: the number of ids, V = number of characters + 1.
        end_of_text_id: V - 1.
        replacement_id: the id of U+FFFD, or None if no character was left out. In that
            case, a character outside the alphabet is an error.
    """

    @checked
    def __init__(self, characters: Text, *, max_characters: Length | None = None):
        if not characters:
            raise ValueError(
                "characters must not be empty: an alphabet needs at least one character"
            )
        kept, counts = np.unique(_code_points(characters), return_counts=True)
        replaces = False
        if max_characters is not None:
            replaces = len(kept) > max_characters
        if replaces:
            frequent = np.argsort(-counts, kind="stable")[:max_characters]
            kept = np.union1d(kept[frequent], _code_points(REPLACEMENT))
        self._code_points = kept
        self.characters = kept.tobytes().decode("utf-32-le")
        self.end_of_text_id = len(self.characters)
        self.vocab_size = len(self.characters) + 1
        self.replacement_id = self.characters.index(REPLACEMENT) if replaces else None

    @checked
    def encode(self, text: Text) -> np.ndarray:
        """Return each character's id, shape (n,), in the smallest dtype, with no end.

        A character outside the alphabet, if there is no replacement, is a ValueError
        that says where it is.
        """
        wanted = _code_points(text)
        ids = np.searchsorted(self._code_points, wanted)
        found = self._code_points[np.minimum(ids, len(self._code_points) - 1)] == wanted
        if self.replacement_id is not None:
            ids[~found] = self.replacement_id
        elif not found.all():
            position = int(np.argmin(found))
            where = f"{text[position]!r} at position {position}"
            raise ValueError(f"character {where} is not in the alphabet")
        return ids.astype(smallest_dtype(self.vocab_size - 1))

    @checked
    def decode(self, ids: Ids) -> str:
        """Return the text of `ids`; an end-of-text id becomes `<|endoftext|>`."""
        stream = check_range("ids", ids, self.vocab_size)
        names = [*self.characters, END_OF_TEXT]
        return "".join(names[i] for i in stream.tolist())


@named_elsewhere
def encode_corpus(
    texts: Iterable,
    tokenizer: object,
    *,
    end_of_text_id: int | None = None,
    text_column: str = "text",
    progress: bool | None = None,
) -> np.ndarray:
    """Tokenize texts and join them into one stream, each with an end-of-text id.

    A tokenizer of the library `tokenizers` gets its texts in batches and encodes them
    on all cores. With any tokenizer, a special token that is spelled out in a text is
    plain text, so the author of a document can neither end it early nor stop the run.
    An added token that isn't special is a word of the vocabulary: where a text spells
    it out, it becomes its one id. Some tokenizers need that for long runs of spaces.
    DeepSeek's marks of a user's turn are of this kind, too, so take them out of texts
    in which they mean nothing.

    Args:
        texts, text_column: see `iterate_texts`. The texts are read once and not kept.
        tokenizer: a tokenizer of `tokenizers`, `transformers` or `tiktoken`, or any
            object whose `encode(text)` returns ids, or an object that has `ids`.
        end_of_text_id: the id that ends each text. By default it is the id that the
            tokenizer itself puts there, or else the tokenizer's `end_of_text_id`,
            `eos_token_id` or `eot_token`. A tokenizer that marks the beginning of each
            text gets none then, although a model that reads each text by itself would
            learn no end: name one.
        progress: show a progress bar; by default unless `COURSE_PROGRESS=0`.

    Returns the ids, shape (N,), uint16 if every id fits and uint32 otherwise. For a
    tokenizer of `tokenizers`, every id of its vocabulary must fit, whether it occurs or
    not. Raises ValueError if there is no text, if nothing says where a text ends, or
    two things do, if a text cannot be encoded, and says which, or if the tokenizer
    gives the same text other ids the second time.
    """
    length = len(texts) if isinstance(texts, Sized) else None
    tokenizer, end_of_text_id = plain_tokenizer(tokenizer, end_of_text_id)
    texts = iterate_texts(texts, text_column)
    first = list(islice(texts, FIRST_TEXTS))
    look_at_first_texts(first, tokenizer)
    documents = encode_each(
        chain(first, texts), tokenizer, end_of_text_id=end_of_text_id
    )
    pieces = list(
        progress_bar(
            documents, "tokenizing", total=length, unit="text", progress=progress
        )
    )
    if not pieces:
        raise ValueError("texts must hold at least one document, got none")
    return np.concatenate(pieces)


@checked
def encode_each(
    texts: Iterable,
    tokenizer: object,
    *,
    end_of_text_id: int | None = None,
    text_column: str = "text",
    batch_size: Length = BATCH_SIZE,
) -> Iterator[np.ndarray]:
    """Yield the ids of one text after another, each with its end; see `encode_corpus`.

    The ids are compact, uint16 or uint32. For a tokenizer of `tokenizers` its
    vocabulary decides, and otherwise the largest id of the text. A library's tokenizer
    gets `batch_size` texts at a time, or about a million characters, and this many are
    held in memory. Errors call the texts 0, 1, 2 and so on.
    """
    numbered = enumerate(iterate_texts(texts, text_column))
    how = {"end_of_text_id": end_of_text_id, "batch_size": batch_size}
    return (ids for _, ids in encode_named(numbered, tokenizer, **how))


def encode_named(
    named_texts: Iterable[tuple[object, str]],
    tokenizer: object,
    *,
    end_of_text_id: int | None = None,
    batch_size: int = BATCH_SIZE,
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each text with its ids; see `encode_each`.

    Args:
        named_texts: pairs of a name and a text. An error calls the text by it, and a
            number n "text n".
    """
    tokenizer, end_of_text_id = plain_tokenizer(tokenizer, end_of_text_id)
    begins, ends = _frame(tokenizer)
    begin = compact(begins)
    end = compact(ends if end_of_text_id is None else [end_of_text_id])
    if not hasattr(tokenizer, "encode_batch_fast"):
        batch_size = 1
    encode = _batch_encoder(tokenizer)

    def each() -> Iterator[tuple[str, np.ndarray]]:
        for batch in batches_of_texts(named_texts, batch_size):
            for (_, text), ids in zip(batch, _encode(encode, batch), strict=True):
                yield text, np.concatenate([begin, ids, end])

    return each()


@checked
def plain_tokenizer(
    tokenizer: object,
    end_of_text_id: Annotated[int, AtLeast(0, 2**32 - 1)] | None = None,
) -> tuple[object, int | None]:
    """Return the tokenizer that does the work, and the id to put after each text.

    A tokenizer of `transformers` is a wrapper that hides it, and knows the id. The id
    is None if the tokenizer itself ends each text, or marks the beginning of each and
    no end is known, because then each beginning shows that the previous text has ended.
    A tokenizer of `tokenizers` that draws at random (`dropout`) is copied without that,
    with a warning. Raises ValueError if it marks neither, or if it ends texts itself
    although you give an `end_of_text_id`, which would be a second end.
    """
    wrapper, tokenizer = tokenizer, getattr(tokenizer, "backend_tokenizer", tokenizer)
    encodes = ("encode", "encode_ordinary")
    if isinstance(tokenizer, type | str) or not any(
        callable(getattr(tokenizer, name, None)) for name in encodes
    ):
        kind = "a class" if isinstance(tokenizer, type) else type(tokenizer).__name__
        raise TypeError(f"tokenizer must have a method encode(text), got {kind}")
    tokenizer = _without_lots(tokenizer)
    begins, ends = _frame(tokenizer)
    if ends:
        if end_of_text_id is not None:
            raise ValueError(
                "end_of_text_id must be None: this tokenizer ends each text itself; "
                f"got {end_of_text_id}"
            )
        return tokenizer, None
    end_of_text_id = _own_end(wrapper) if end_of_text_id is None else end_of_text_id
    if end_of_text_id is None and not begins:
        raise ValueError(
            "end_of_text_id must be given: this tokenizer has none of its own"
        )
    return tokenizer, end_of_text_id


def document_marks(tokenizer: object) -> tuple[int | None, int | None]:
    """Return the ids that begin and end each text, or None where there is no such id.

    `tokenizer` may be an object that has nothing except its special ids.
    """
    begins, ends = _frame(getattr(tokenizer, "backend_tokenizer", tokenizer))
    end = ends[-1] if ends else _own_end(tokenizer)
    return (begins[0] if begins else None), end


def _own_end(tokenizer: object) -> int | None:
    for name in ("end_of_text_id", "eos_token_id", "eot_token"):
        try:
            end = getattr(tokenizer, name, None)
        except KeyError:  # how tiktoken says that it has none
            end = None
        if end is not None:
            return check_integer(name, end, minimum=0, maximum=2**32 - 1)
    return None


def _frame(tokenizer: object) -> tuple[list[int], list[int]]:
    """Return the ids that a library's tokenizer puts before and after each text."""
    if getattr(tokenizer, "post_processor", None) is not None:
        # Imported here, because lessons with one token per character do not need it.
        import tokenizers

        one_word = tokenizers.models.WordLevel({"a": 0}, unk_token="a")
        one_token = tokenizers.Tokenizer(one_word).encode("a")
        framed = tokenizer.post_processor.process(one_token)
        ids, place = framed.ids, framed.special_tokens_mask.index(0)
    elif hasattr(tokenizer, "build_inputs_with_special_tokens"):  # without Rust
        ids = tokenizer.build_inputs_with_special_tokens([-1])
        place = ids.index(-1)
    else:
        return [], []
    return ids[:place], ids[place + 1 :]


def _batch_encoder(tokenizer: object) -> Callable[[list[str]], list[np.ndarray]]:
    """Return a function that encodes several texts, without the ids around them.

    A special token in a text is plain text, and nothing is truncated or padded.
    """
    if hasattr(tokenizer, "encode_batch_fast"):
        dtype = id_dtype(tokenizer)
        tokenizer = uncut(tokenizer)
        tokenizer.encode_special_tokens = True
        # The fast method leaves out the offsets, which we do not need here.
        return lambda texts: [
            np.array(encoding.ids, dtype=dtype)
            for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        ]
    plain: dict[str, bool] = {}
    if hasattr(tokenizer, "build_inputs_with_special_tokens"):
        plain = {"add_special_tokens": False, "split_special_tokens": True}
    encode = getattr(tokenizer, "encode_ordinary", None) or tokenizer.encode

    def narrow(ids: object) -> np.ndarray:
        # This copies, because a tokenizer may write into the same buffer again.
        return compact(as_ids("ids", getattr(ids, "ids", ids)).astype(np.int64))

    return lambda texts: [narrow(encode(text, **plain)) for text in texts]


def _without_lots(tokenizer: object) -> object:
    """Return a tokenizer that draws nothing at random; say so if that's another one."""
    if not hasattr(tokenizer, "encode_batch_fast"):
        return tokenizer
    for name in ("dropout", "alpha"):  # of BPE, and of Unigram
        if value := getattr(tokenizer.model, name, None):
            warnings.warn(
                f"the tokenizer has {name}={value:g}, so it would cut a text in a new "
                "way each time. It is switched off here, so that the ids are the same "
                "in each run",
                stacklevel=4,
            )
            return uncut(tokenizer)
    return tokenizer


def _encode(
    encode: Callable[[list[str]], list[np.ndarray]], batch: list[tuple[object, str]]
) -> list[np.ndarray]:
    """Encode a batch. If this fails, say which text cannot be encoded."""
    try:
        return encode([text for _, text in batch])
    except Exception:
        for name, text in batch:
            try:
                encode([text])
            except Exception as error:  # the library has no special type for this
                kind = TypeError if isinstance(error, TypeError) else ValueError
                shown = f"text {name}" if isinstance(name, Integral) else name
                raise kind(f"{shown} cannot be encoded: {error}") from error
        raise


def look_at_first_texts(texts: Iterable[str], tokenizer: object) -> None:
    """Refuse a tokenizer that gives one text different ids, and warn of characters of
    the first texts that leave no trace; see `check_first_texts`."""
    tokenizer = getattr(tokenizer, "backend_tokenizer", tokenizer)
    check_first_texts(texts, tokenizer, _batch_encoder(tokenizer))


def changes_to_first_texts(texts: Iterable[str], tokenizer: object) -> str:
    """Say what a tokenizer doesn't give back of the first texts, or nothing; see
    `describe_changes`."""
    tokenizer = getattr(tokenizer, "backend_tokenizer", tokenizer)
    return describe_changes(texts, tokenizer, _batch_encoder(tokenizer))


def _code_points(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
