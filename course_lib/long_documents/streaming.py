"""A stream of chunks that is shuffled, resumed and counted, and refuses what it can't.

Beside `OneScreenStream` there is an order for each epoch, a state that workers keep for
themselves, and a length. Most of the rest says no where something would go wrong later:
another data set, a worker of another number, a row without a text.
"""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from traceback import walk_stack

import datasets
import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

from course_lib.foundation import (
    Count,
    Length,
    Position,
    RandomOrder,
    Seed,
    check_choice,
    check_integer,
    check_state,
    checked,
    encode_named,
    iterate_texts,
    look_at_first_texts,
    plain_tokenizer,
    shows,
    uncut,
)
from course_lib.long_documents.chunks import LONGEST, check_step, chunk_ids

DOCUMENTS_AT_A_TIME = 64  # tokenized together
ROWS_ENCODED_FOR_A_FINGERPRINT = 64
POSITION = ("epoch", "documents", "chunks")  # in a stream


def this_worker() -> tuple[int, int]:
    """The number of this worker and how many there are, (0, 1) outside of workers."""
    worker = get_worker_info()
    return (0, 1) if worker is None else (worker.id, worker.num_workers)


def as_item(chunk: np.ndarray, document: int, number: int) -> dict[str, object]:
    """One item of a stream: a chunk, and where it is from."""
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
    ranks and all their workers, every document is read once. Up to 64 documents are
    read and tokenized together, and held until the next 64.

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
            in the order of the data set. The chunks of a document follow one another
            all the same. To shuffle these, too, cut them by `map(chunk_examples, ...)`,
            and read the rows in a random order.
        rank, world_size: which share of the documents this process reads, in a loop of
            your own. `accelerate`, and with it `Trainer`, deals the stream out to all
            ranks itself, so leave both out there. A share is refused.
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
        self.max_length, step = check_step(max_length, overlap)
        self.overlap = self.max_length - step
        self.world_size = world_size
        self.rank = check_integer("rank", rank, minimum=0, maximum=self.world_size - 1)
        self.base_seed = base_seed
        self._texts = _texts_of(dataset, text_column)
        self.text_column = text_column
        self.tokenizer, self.end_of_text_id = plain_tokenizer(tokenizer, end_of_text_id)
        first = self._texts[:10][self.text_column]
        look_at_first_texts(first, self.tokenizer)
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
        self._refuse_to_share_a_share()
        epoch = self._position.check_epoch(epoch)
        if epoch != self.epoch:
            self._position.go_to((epoch, 0, 0))

    def __iter__(self) -> Iterator[dict[str, object]]:
        self._refuse_to_share_a_share()
        if self.epoch != self._position.begin[0]:  # chosen since this worker began
            self._position.go_to((self.epoch, 0, 0))
        epoch, *begin = self._position.begin
        if begin != [0, 0] and self._resumed_by != this_worker():
            number, of = self._resumed_by
            raise ValueError(
                f"the state that was loaded is of worker {number} of {of}, which only "
                "that one can go on from: load it by a StatefulDataLoader of as many "
                "workers"
            )
        again = begin == [0, 0] and int(self._ended) == epoch
        first_worker = get_worker_info() is not None and this_worker()[0] == 0
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

    def _refuse_to_share_a_share(self) -> None:
        """Raise ValueError if this is one rank's share, and accelerate is reading it.

        Of a stream, accelerate (1.15) lets rank 0 read alone, and deals its batches
        out to all ranks, or lets each rank read all and keep its part. So the other
        shares would never be read. It doesn't tell a data set who reads it, so look at
        who is calling.
        """
        callers = walk_stack(sys._getframe())
        names = (frame.f_globals.get("__name__") for frame, _ in callers)
        if self.world_size > 1 and "accelerate.data_loader" in names:
            raise ValueError(
                f"world_size must be 1 where another program (accelerate, Trainer) "
                f"deals the stream out to all ranks, got {self.world_size}: leave rank "
                "and world_size out, since the other shares would never be read"
            )

    def _positions(self) -> range:
        """The positions of this worker's documents in the order of the epoch.

        They are dealt out like cards, first to the ranks and then to the workers of
        each, so that what a rank reads does not depend on its workers.
        """
        worker, num_workers = this_worker()
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
                yield as_item(cut[number], int(row), number), place
            documents, chunks = documents + 1, 0
        # Only the first worker marks the epoch, because another may have ended before
        # the first one begins.
        if not alone and this_worker()[0] == 0 and self.epoch == epoch:
            self._ended.fill_(epoch)

    def _encode(self, rows: Sequence[int]) -> Iterator[tuple[str, np.ndarray]]:
        return encode_named(
            zip(rows, iterate_texts(self._texts_in(rows)), strict=True),
            self.tokenizer,
            end_of_text_id=self.end_of_text_id,
            batch_size=DOCUMENTS_AT_A_TIME,
        )

    def _texts_in(self, rows: Sequence[int]) -> Iterator[str]:
        """Read the texts of rows, some at a time."""
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
        self._resumed_by = this_worker()

    def _settings(self) -> dict[str, int | str | None]:
        worker, num_workers = this_worker()
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
        """A hash of all the texts, in their order, and of the tokenizer.

        It reads every text once, when a state is first saved or loaded (in each worker
        that has one). That takes 4 seconds for a gigabyte of texts in memory, or 10 if
        they were shuffled, about a fiftieth of what tokenizing them takes. A tokenizer
        that isn't of the `tokenizers` library is known only by what it makes of some of
        the texts, so one that differs in other texts alone isn't noticed.
        """
        digest = hashlib.sha256()
        for text in self._texts_in(range(len(self._texts))):
            digest.update(hashlib.sha256(text.encode()).digest())
        if hasattr(self.tokenizer, "to_str"):
            digest.update(uncut(self.tokenizer).to_str().encode())
        spread = np.linspace(0, len(self._texts) - 1, ROWS_ENCODED_FOR_A_FINGERPRINT)
        for _, ids in self._encode(sorted({int(row) for row in spread})):
            digest.update(hashlib.sha256(ids.astype("<u4").tobytes()).digest())
        return digest.hexdigest()[:16]


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
