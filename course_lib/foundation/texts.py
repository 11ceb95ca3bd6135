"""Texts of any container, one after another or in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count

from course_lib.foundation.arguments import Count, checked
from course_lib.foundation.checks import (
    check_unicode,
)
from course_lib.foundation.progress import progress_bar

BATCH_SIZE = 1000  # texts that a library's tokenizer gets at a time
BATCH_CHARACTERS = 2**20  # ends a batch early: memory grows with the length of texts


def iterate_texts(texts: Iterable, text_column: str = "text") -> Iterator[str]:
    """Yield one text after another from any of the usual containers.

    Args:
        texts: texts, lists of texts, batches of columns, or a `datasets` data set.
            Anything else is a TypeError that names it, with its position.
        text_column: which column of a batch or a data set holds the texts.
    """
    single = isinstance(texts, str | bytes) or getattr(texts, "ndim", 1) == 0
    if single or not isinstance(texts, Iterable):
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
    numbers = count()
    for batch in batches:
        if isinstance(batch, Mapping):
            if text_column not in batch:
                raise ValueError(
                    f"text_column must be one of {list(batch)}, got {text_column!r}"
                )
            batch = batch[text_column]
        for text in batch if isinstance(batch, list | tuple) else [batch]:
            yield check_unicode(f"texts[{next(numbers)}]", text)


def column_of_batch(features: Mapping[str, Sequence], name: str) -> list:
    """Return a column of a batch, as `map` of `datasets` passes it with `batched`."""
    check_unicode("the name of a column", name)
    if not isinstance(features, Mapping) or isinstance(features.get(name), str):
        raise TypeError("features must be a batch: use map with batched=True")
    if name not in features:
        raise ValueError(f"features must have a column {name!r}, got {list(features)}")
    return list(features[name])


@checked
def training_batches(
    texts: Iterable,
    *,
    text_column: str = "text",
    length: Count | None = None,
    progress: bool | None = None,
) -> Iterator[list[str]]:
    """Read texts for a trainer of `tokenizers`, in batches, with a progress bar.

    Args:
        texts, text_column: see `iterate_texts`. The texts are read once and not kept.
        length: how many texts there are, for the bar. By default they are counted if
            possible.
        progress: show a progress bar; by default unless `COURSE_PROGRESS=0`.

    Raises ValueError at the end if there was nothing except whitespace.
    """
    plain = isinstance(texts, list | tuple) and all(isinstance(t, str) for t in texts)
    if length is None and (plain or hasattr(texts, "num_rows")):
        length = len(texts)  # batches hold an unknown number of texts
    texts = iterate_texts(texts, text_column)
    bar = progress_bar(texts, "reading", unit="text", total=length, progress=progress)
    return _not_blank(bar)


def _not_blank(texts: Iterable[str]) -> Iterator[list[str]]:
    blank = True
    for batch in batches_of_texts(enumerate(texts), BATCH_SIZE):
        batch = [text for _, text in batch]
        blank = blank and not any(text.strip() for text in batch)
        yield batch
    if blank:
        raise ValueError(
            "texts must hold more than whitespace, got an empty corpus: there is "
            "nothing to learn from"
        )


def batches_of_texts(
    texts: Iterable[tuple[object, str]], batch_size: int
) -> Iterator[list[tuple[object, str]]]:
    batch, characters = [], 0
    for name, text in texts:
        batch.append((name, text))
        characters += len(text)
        if len(batch) == batch_size or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def check_special_tokens(special_tokens: Sequence[str]) -> list[str]:
    """Return the names as a list, if all of them are different non-empty strings."""
    # A set would not do, because the ids follow the order of the names.
    if isinstance(special_tokens, str) or not isinstance(special_tokens, Sequence):
        shown = f"{special_tokens!r:.60}"
        raise TypeError(f"special_tokens must be a list of names, got {shown}")
    names = [
        check_unicode(f"special_tokens[{i}]", name)
        for i, name in enumerate(special_tokens)
    ]
    if "" in names:
        raise ValueError(
            "special_tokens must not be empty: an empty name is everywhere in a text"
        )
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(
                f"special_tokens must be different, but {name!r} occurs {times} times"
            )
    return names
