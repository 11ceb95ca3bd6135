"""Lesson 08: documents longer than a context, and collections larger than memory.

A long document is cut into chunks that may overlap, which is again a choice of starts.
A collection stays on disk. A stream reads its documents one after another, each of them
once over all machines and workers, and can resume in the middle of one. Rows that are
shorter than their batch are padded, and padding is never scored.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import datasets
import numpy as np
import torch
from pyarrow import compute
from torch.utils.data import IterableDataset, get_worker_info

from course_lib.foundation import (
    IGNORED,
    AtLeast,
    Count,
    Ids,
    Integers,
    Length,
    Pack,
    Position,
    RandomOrder,
    Seed,
    Several,
    as_ids,
    check_choice,
    check_integer,
    check_pad_token,
    check_range,
    check_state,
    checked,
    column_of_batch,
    encode_each,
    encode_named,
    iterate_texts,
    plain_tokenizer,
    shows,
    warn_of_lost_characters,
)
from course_lib.foundation.packs import check_rows

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase
else:
    PreTrainedTokenizerBase = object  # importing it takes seconds

LONGEST = 2**62  # beyond it, starts might not fit into 64 bits
DOCUMENTS_AT_A_TIME = 64  # tokenized together
ROWS_IN_A_FINGERPRINT = 64
POSITION = ("epoch", "documents", "chunks")  # in a stream

# Chunks.


@checked
def count_chunks(
    num_tokens: Annotated[int, AtLeast(0, LONGEST)],
    max_length: Length,
    overlap: Count = 0,
) -> int:
    """Count the chunks of a document: 1 + ceil((N - L) / step), or 0 if N is 0.

    Args:
        num_tokens, max_length: N, at least 0, and L, the most tokens in a chunk.
        overlap: tokens that two neighbors share. The step is L - overlap.
    """
    max_length, step = _check_step(max_length, overlap)
    # -(-a // b) is a / b, rounded up.
    more = -(-max(0, num_tokens - max_length) // step)
    return 1 + more if num_tokens else 0


def chunk_starts(num_tokens: int, max_length: int, overlap: int = 0) -> np.ndarray:
    """Return the starts of all chunks, int64, shape (count_chunks(...),).

    The last chunk ends with the document, so it may be shorter than the others. It is
    never wholly inside the one before it.
    """
    count = count_chunks(num_tokens, max_length, overlap)
    _, step = _check_step(max_length, overlap)
    return np.arange(count, dtype=np.int64) * step


@checked
def chunk_ids(ids: Ids, max_length: Length, overlap: Count = 0) -> list[np.ndarray]:
    """Cut a document into chunks of at most `max_length` ids: views, not copies.

    The overlap is the number of ids that a chunk shares with the one before it. The
    `stride` of `transformers` means this overlap, not the step.
    """
    max_length, _ = _check_step(max_length, overlap)
    starts = chunk_starts(len(ids), max_length, overlap)
    return [ids[start : start + max_length] for start in starts]


@checked
def chunk_rows(
    starts: Integers, num_tokens: Length, max_length: Length
) -> dict[str, list[tuple]]:
    """Name the chunks of a document, for `plot_rows`: what each of them predicts.

    Args:
        starts: where chunks begin, shape (num_chunks,), the first at 0.
        num_tokens, max_length: N and L. Tokens after the last chunk are lost.
    """
    rows, known = {}, 0  # tokens that earlier chunks hold
    for start in starts.ravel().tolist():
        end = min(start + max_length, num_tokens)
        first = max(known, start + 1)
        # without an overlap, nothing predicts a chunk's first token
        before = "plain2" if start < known else "lost"
        rows[f"start {start}"] = [(start, first - start, before)]
        rows[f"start {start}"].append((first, end - first, "inputs"))
        known = end
    if known < num_tokens:
        rows[f"start {start}"].append((known, num_tokens - known, "lost"))
    return rows


@checked
def _check_step(
    max_length: Annotated[int, AtLeast(1, LONGEST)], overlap: Count
) -> tuple[int, int]:
    """Return the length and the step, or say why there is no step."""
    if overlap >= max_length:
        raise ValueError(
            f"overlap must be less than max_length {max_length}, or no chunk comes "
            f"nearer to the end; got {overlap}"
        )
    return max_length, max_length - overlap


def chunk_examples(
    features: Mapping[str, Sequence],
    tokenizer: object,
    *,
    max_length: int,
    overlap: int = 0,
    text_column: str = "text",
    end_of_text_id: int | None = None,
) -> dict[str, list]:
    """Tokenize and cut a batch of a data set, for `map(chunk_examples, batched=True)`.

    Args:
        features: the batch, its columns by name.
        tokenizer, end_of_text_id: see `encode_corpus`.
        max_length, overlap: see `chunk_ids`.
        text_column: which column holds the texts.

    Returns a column `input_ids`, with a row for each chunk. There are more chunks than
    texts, so `map` needs `remove_columns`, with all columns of the data set.
    """
    texts = column_of_batch(features, text_column)
    return {
        "input_ids": [
            chunk.tolist()
            for ids in encode_each(texts, tokenizer, end_of_text_id=end_of_text_id)
            for chunk in chunk_ids(ids, max_length, overlap)
        ]
    }


# A stream of chunks from a collection on disk.


class NaiveTextDataset(IterableDataset):
    """The stream that most of us write first: each worker reads every document."""

    def __init__(self, dataset: datasets.Dataset, tokenizer: object, max_length: int):
        self.dataset, self.tokenizer = dataset, tokenizer
        self.max_length = max_length

    def __iter__(self) -> Iterator[dict[str, object]]:
        each = encode_each(self.dataset["text"], self.tokenizer)
        for document, ids in enumerate(each):
            for number, chunk in enumerate(chunk_ids(ids, self.max_length)):
                yield _item(chunk, document, number)


def _item(chunk: np.ndarray, document: int, number: int) -> dict[str, object]:
    ids = torch.from_numpy(chunk.astype(np.int64))
    return {"input_ids": ids, "document": document, "chunk": number}


class _SharedPosition(Position):
    """A position whose epoch workers that live on can see, in shared memory."""

    def __init__(self, begin: tuple[int, int, int]):
        self.epoch = torch.zeros((), dtype=torch.int64).share_memory_()
        super().__init__(begin)

    def go_to(self, place: tuple[int, int, int], *, resumed: bool = False) -> None:
        # A worker that ends must not undo what `set_epoch` has chosen since.
        if resumed or get_worker_info() is None:
            self.epoch.fill_(place[0])
        super().go_to(place, resumed=resumed)


class StreamingTextDataset(IterableDataset):
    """The chunks of all documents of a data set on disk, tokenized as they are read.

    Each item is `{"input_ids": int64 (n,), "document": row, "chunk": number}`. Over all
    ranks and all their workers, every document is read once. No document is held longer
    than it takes to deliver its chunks.

    The position is that of the iterator that was used last. When an iterator has
    reached its end, the next one reads the next epoch. Workers have copies of this data
    set, with positions of their own, so with workers you must call `set_epoch`, and are
    warned if you forget. A plain `DataLoader` with workers cannot be resumed, but
    `torchdata`'s `StatefulDataLoader` asks each worker for its state.

    Args:
        dataset: a `datasets.Dataset` with a column of texts, which is not copied.
        tokenizer, end_of_text_id: see `encode_corpus`.
        max_length, overlap: see `chunk_ids`.
        text_column: which column holds the texts.
        base_seed: documents come in an order fixed by `base_seed + epoch`, or with None
            in the order of the data set.
        rank, world_size: which share of the documents this process reads.
    """

    @checked
    def __init__(
        self,
        dataset: object,
        tokenizer: object,
        *,
        max_length: Length,
        overlap: Count = 0,
        text_column: str = "text",
        end_of_text_id: int | None = None,
        base_seed: Seed | None = None,
        rank: Count = 0,
        world_size: Length = 1,
    ):
        self.max_length, step = _check_step(max_length, overlap)
        self.overlap = self.max_length - step
        self.world_size = world_size
        self.rank = check_integer("rank", rank, minimum=0, maximum=self.world_size - 1)
        self.base_seed = base_seed
        self._texts = _texts_of(dataset, text_column)
        self.text_column = text_column
        self.tokenizer, self.end_of_text_id = plain_tokenizer(tokenizer, end_of_text_id)
        first = self._texts[:10][self.text_column]
        warn_of_lost_characters(first, self.tokenizer)
        # a place is an epoch, documents of it, and chunks of the next document
        self._position = _SharedPosition((0, 0, 0))
        self._ended = torch.tensor(-1).share_memory_()  # by the first worker
        self._resumed_by = (0, 1)  # the worker that may go on there, and of how many
        self._tokens: np.ndarray | None = None  # of each document, once counted

    @property
    def epoch(self) -> int:
        return int(self._position.epoch)

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch to iterate over.

        A resumed epoch goes on where it was, and any other one starts at its first
        document. An epoch before that of a loaded state is a ValueError, because a loop
        that counts from 0 would begin the run again.
        """
        epoch = self._position.check_epoch(epoch)
        if epoch != self.epoch:
            self._position.go_to((epoch, 0, 0))

    def __iter__(self) -> Iterator[dict[str, object]]:
        if self.epoch != self._position.begin[0]:  # chosen since this worker began
            self._position.go_to((self.epoch, 0, 0))
        epoch, *begin = self._position.begin
        if begin != [0, 0] and self._resumed_by != _worker():
            number, of = self._resumed_by
            raise ValueError(
                f"the state that was loaded is of worker {number} of {of}, which only "
                "that one can go on from: load it by a StatefulDataLoader of as many "
                "workers"
            )
        again = begin == [0, 0] and int(self._ended) == epoch
        first_worker = get_worker_info() is not None and _worker()[0] == 0
        if again and first_worker and self.base_seed is not None:
            warnings.warn(
                f"workers read epoch {epoch} once more, in the same order: call "
                "set_epoch before each epoch",
                stacklevel=2,
            )
        # A worker doesn't know how far the others are, so it stays in its epoch.
        after = (epoch + 1, 0, 0) if get_worker_info() is None else (epoch, 0, 0)
        items = self._read(epoch, begin, self._shard(epoch), after)
        return self._position.follow(items, after)

    def _positions(self) -> range:
        """The positions of this worker's documents in the order of the epoch.

        They are dealt out like cards, first to the ranks and then to the workers of
        each, so that what a rank reads does not depend on its workers.
        """
        worker, num_workers = _worker()
        step = self.world_size * num_workers
        return range(self.rank + self.world_size * worker, len(self._texts), step)

    def _shard(self, epoch: int) -> np.ndarray | range:
        """The rows that this worker of this rank reads, in the order of the epoch."""
        positions = self._positions()
        if self.base_seed is None:
            return positions
        order = RandomOrder(len(self._texts), self.base_seed + epoch)
        return order[np.asarray(positions, dtype=np.int64)]

    def _read(
        self, epoch: int, begin: list[int], rows: Sequence[int], after: tuple
    ) -> Iterator[tuple[dict[str, object], tuple[int, int, int]]]:
        """Yield each item with the place behind it; behind the last, that is `after`
        outside of workers."""
        documents, chunks = begin
        left, alone = rows[documents:], get_worker_info() is None
        for row, (_, ids) in zip(left, self._encode(left), strict=True):
            cut = chunk_ids(ids, self.max_length, self.overlap)
            if chunks > len(cut):
                raise ValueError(
                    f"chunks of the state must be at most {len(cut)}, as row {row} "
                    f"has, got {chunks}"
                )
            for number in range(chunks, len(cut)):
                last = number + 1 == len(cut) and documents + 1 == len(rows)
                place = after if last and alone else (epoch, documents, number + 1)
                yield _item(cut[number], int(row), number), place
            documents, chunks = documents + 1, 0
        # Only the first worker marks the epoch, because another may have ended before
        # the first one begins.
        if not alone and _worker()[0] == 0 and self.epoch == epoch:
            self._ended.fill_(epoch)

    def _encode(self, rows: Sequence[int]) -> Iterator[tuple[str, np.ndarray]]:
        return encode_named(
            zip(rows, iterate_texts(self._texts_in(rows)), strict=True),
            self.tokenizer,
            end_of_text_id=self.end_of_text_id,
            batch_size=DOCUMENTS_AT_A_TIME,
        )

    def _texts_in(self, rows: Sequence[int]) -> Iterator[str]:
        """Read the texts of rows, some at a time, and keep none that was yielded."""
        for first in range(0, len(rows), DOCUMENTS_AT_A_TIME):
            block = [int(row) for row in rows[first : first + DOCUMENTS_AT_A_TIME]]
            texts = self._texts[block][self.text_column]
            _check_texts(texts, block, self.text_column)
            yield from texts

    @checked
    def count_chunks(self, num_proc: Length | None = None) -> int:
        """Tokenize all documents once and count their chunks, so that `len` is known.

        `len` is the number of chunks that this rank yields in the epoch that is set,
        and this returns that of all ranks. For a data set on disk, the counts of tokens
        are kept beside it, so that counting again costs nothing, even for chunks of
        another length.

        Args:
            num_proc: how many processes to use.
        """
        settings = {"tokenizer": self.tokenizer, "end_of_text_id": self.end_of_text_id}
        with _bars_as_asked():
            counted = self._texts.map(
                _count_tokens,
                batched=True,
                with_indices=True,
                num_proc=num_proc,
                remove_columns=self._texts.column_names,
                fn_kwargs={"text_column": self.text_column, **settings},
                desc="counting tokens",
            )
        self._tokens = np.asarray(counted.with_format("numpy")["num_tokens"][:])
        return int(self._chunks_of(self._tokens).sum())

    def _chunks_of(self, num_tokens: np.ndarray) -> np.ndarray:
        """`count_chunks` for many documents. Each has an end, so at least one chunk."""
        step = self.max_length - self.overlap
        return 1 - np.minimum(0, self.max_length - num_tokens) // step

    def __len__(self) -> int:
        if self._tokens is None:
            raise TypeError(
                "a stream has no length until its tokens are counted: call "
                "count_chunks() first"
            )
        rows = np.arange(self.rank, len(self._texts), self.world_size)
        if self.base_seed is not None:
            rows = RandomOrder(len(self._texts), self.base_seed + self.epoch)[rows]
        return int(self._chunks_of(self._tokens[rows]).sum())

    def state_dict(self) -> dict[str, int | str | None]:
        """Return how far it was read, and what its order depends on, ready for JSON."""
        position = zip(POSITION, self._position.now, strict=True)
        return {**dict(position), **self._settings()}

    def load_state_dict(self, state: Mapping[str, int | str | None]) -> None:
        """Go on from `state`: the next iteration yields exactly what was left.

        Raises ValueError if this stream differs from the one that saved it, in its
        data, its tokenizer or its settings.
        """
        state = check_state(state, self._settings(), POSITION, owner="stream")
        epoch, documents, chunks = (state[name] for name in POSITION)
        own = len(self._positions())
        epoch = check_integer("epoch", epoch, minimum=0, maximum=LONGEST)
        documents = check_integer("documents", documents, minimum=0, maximum=own)
        none_left = documents == own
        most = 0 if none_left else LONGEST
        chunks = check_integer("chunks", chunks, minimum=0, maximum=most)
        if none_left and get_worker_info() is None:
            epoch, documents = epoch + 1, 0
        self._position.go_to((epoch, documents, chunks), resumed=True)
        self._resumed_by = _worker()

    def _settings(self) -> dict[str, int | str | None]:
        worker, num_workers = _worker()
        return {
            "num_documents": len(self._texts),
            "max_length": self.max_length,
            "overlap": self.overlap,
            "base_seed": self.base_seed,
            "rank": self.rank,
            "world_size": self.world_size,
            "worker": worker,
            "num_workers": num_workers,
            "fingerprint": self._fingerprint,
        }

    @cached_property
    def _fingerprint(self) -> str:
        """A hash of all sizes, of some texts, and of their ids."""
        digest = hashlib.sha256()
        # Arrow knows how long each text is without reading it. If rows were selected,
        # these are the sizes in the table that they were selected from.
        for part in self._texts.data.column(self.text_column).chunks:
            sizes = compute.binary_length(part).to_numpy(zero_copy_only=False)
            digest.update(sizes.astype("<i8").tobytes())
        spread = np.linspace(0, len(self._texts) - 1, ROWS_IN_A_FINGERPRINT)
        rows = sorted({int(row) for row in spread})
        for text, ids in self._encode(rows):
            digest.update(hashlib.sha256(text.encode()).digest())
            digest.update(hashlib.sha256(ids.astype("<u4").tobytes()).digest())
        return digest.hexdigest()[:16]


def _worker() -> tuple[int, int]:
    """The number of this worker and how many there are, (0, 1) outside of workers."""
    worker = get_worker_info()
    return (0, 1) if worker is None else (worker.id, worker.num_workers)


@contextmanager
def _bars_as_asked() -> Iterator[None]:
    """Hide the progress bars of `datasets` if the course hides its own."""
    hidden = not shows(None) and not datasets.are_progress_bars_disabled()
    if hidden:
        datasets.disable_progress_bars()
    try:
        yield
    finally:
        if hidden:
            datasets.enable_progress_bars()


def _texts_of(dataset: object, text_column: str) -> datasets.Dataset:
    """Return the data set with only its column of texts, or say what is wrong."""
    if isinstance(dataset, Mapping):
        raise TypeError(
            f"dataset must be one split, got a {type(dataset).__name__} of "
            f"{list(dataset)}: choose one, as in "
            f"dataset[{next(iter(dataset), 'train')!r}]"
        )
    if not isinstance(dataset, datasets.Dataset):
        advice = ": it shares itself out and resumes already, so map chunk_examples"
        shares = isinstance(dataset, datasets.IterableDataset)
        raise TypeError(
            f"dataset must be a datasets.Dataset, got {type(dataset).__name__}"
            f"{advice if shares else ''}"
        )
    check_choice("text_column", text_column, dataset.column_names)
    if not len(dataset):
        raise ValueError("dataset must hold at least one document, got none")
    kind = getattr(dataset.features[text_column], "dtype", None)
    if kind not in ("string", "large_string"):
        found = dataset.features[text_column]
        raise TypeError(f"dataset[{text_column!r}] must hold texts, got {found}")
    texts = dataset.select_columns([text_column]).with_format(None)
    # Arrow counts missing texts, so this costs nothing if there are none.
    if dataset.data.column(text_column).null_count:
        for row, text in enumerate(texts[text_column]):
            _check_texts([text], [row], text_column)
    return texts


def _check_texts(texts: list, rows: list[int], text_column: str) -> None:
    for text, row in zip(texts, rows, strict=True):
        if not isinstance(text, str):
            raise TypeError(
                f"dataset[{text_column!r}] must hold texts, but row {row} is {text!r}"
            )


def _count_tokens(
    batch: dict, rows: list[int], *, text_column: str, **settings: object
) -> dict:
    texts = zip(rows, iterate_texts(batch[text_column]), strict=True)
    return {"num_tokens": [len(ids) for _, ids in encode_named(texts, **settings)]}


# Batches of rows of different lengths.


class PaddingCollator:
    """Fill rows up to one length, and mark the padding in mask and labels.

    Each label has the position of its input, since `transformers` shifts them inside
    the model.

    Args:
        tokenizer: the wrapped one of lesson 07, with a pad token.
        max_length: fill batches up to this length, or with None up to their longest
            row.
    """

    @checked
    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, max_length: Length | None = None
    ):
        self.pad_token_id = check_pad_token(tokenizer)
        self.max_length = max_length

    def __call__(
        self, rows: Sequence[Mapping[str, object] | Pack]
    ) -> dict[str, torch.Tensor]:
        """Make one batch.

        Args:
            rows: each with `input_ids`, integers, shape (n,), n at least 1, and perhaps
                `labels` of the same shape, with -100 for what is not to be scored.

        Returns `input_ids`, `attention_mask` (1 for tokens, 0 for padding) and `labels`
        (-100 for padding), each int64 of shape (B, L).
        """
        columns = check_rows(rows, "labels")
        streams = columns["input_ids"]
        lengths = np.array([len(stream) for stream in streams])
        length = int(lengths.max()) if self.max_length is None else self.max_length
        if lengths.max() > length:
            raise ValueError(
                f"input_ids must be no longer than max_length {length}, got "
                f"{lengths.max()} in row {lengths.argmax()}: cut documents into chunks"
            )
        # By place, never by id, because the pad may also be the end of a text.
        real = np.arange(length) < lengths[:, None]
        input_ids = np.full(real.shape, self.pad_token_id, dtype=np.int64)
        labels = np.full(real.shape, IGNORED, dtype=np.int64)
        input_ids[real] = np.concatenate(streams)
        labels[real] = np.concatenate(columns["labels"] or streams)
        batch = {
            "input_ids": input_ids,
            "attention_mask": real.astype(np.int64),
            "labels": labels,
        }
        return {name: torch.from_numpy(values) for name, values in batch.items()}


@checked
def padding_share(
    lengths: object,
    batches: Annotated[Iterable[Sequence[int]], Several("lists of rows")],
) -> float:
    """Return the share of padding if each batch is filled up to its longest row.

    Args:
        lengths: ids of each row, shape (rows,).
        batches: which rows make up which batch.
    """
    lengths = _check_lengths(lengths)
    filled = real = 0
    for rows in batches:
        rows = check_range("batches", as_ids("batches", rows), len(lengths))
        batch = lengths[rows].tolist()  # sums of these are exact
        if not batch:
            raise ValueError("batches must hold at least one row each, got none")
        filled, real = filled + max(batch) * len(batch), real + sum(batch)
    if not filled:
        raise ValueError("batches must hold at least one batch, got none")
    return 1 - real / filled


@checked
def batches_by_length(
    lengths: object, batch_size: Length, *, pool_size: int, seed: Seed
) -> list[np.ndarray]:
    """Choose batches of rows of similar length, in an order that is still random.

    Shuffle all rows, sort them within pools, cut the pools into batches, and shuffle
    the batches. The last batch of a pool may be smaller.

    Args:
        lengths: ids of each row, shape (rows,).
        batch_size: B.
        pool_size: how many rows are sorted together. With B, nothing is gained. With
            all rows, most is gained, but then length alone decides which rows meet.
        seed: of both shuffles.
    """
    lengths = _check_lengths(lengths)
    pool_size = check_integer("pool_size", pool_size, minimum=batch_size)
    order = RandomOrder(len(lengths), seed)[np.arange(len(lengths))]
    batches = []
    for first in range(0, len(order), pool_size):
        pool = order[first : first + pool_size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
    shuffled = RandomOrder(len(batches), seed + 1)[np.arange(len(batches))]
    return [batches[i] for i in shuffled]


@checked
def _check_lengths(lengths: Ids) -> np.ndarray:
    if not lengths.size:
        raise ValueError("lengths must hold at least one length, got none")
    if lengths.min() < 1:
        raise ValueError(f"lengths must be at least 1, got {lengths.min()}")
    return lengths.astype(np.int64)
