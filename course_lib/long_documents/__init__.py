"""Lesson 08: documents longer than a context, and collections larger than memory.

A long document is cut into chunks that may overlap, which is again a choice of starts
(`chunks`). A collection stays on disk, and a stream reads its documents one after
another, each of them once over all machines and workers, and can resume in the middle
of one. `OneScreenStream` is such a stream, whole and small; `streaming` holds the one
to train with. Rows that are shorter than their batch are padded, and padding is never
scored (`padding`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from torch.utils.data import IterableDataset

from course_lib.foundation import column_of_batch, encode_each, named_elsewhere

# Readers look for these here.
from course_lib.long_documents.chunks import chunk_ids as chunk_ids
from course_lib.long_documents.chunks import chunk_rows as chunk_rows
from course_lib.long_documents.chunks import chunk_starts as chunk_starts
from course_lib.long_documents.chunks import count_chunks as count_chunks
from course_lib.long_documents.padding import PaddingCollator as PaddingCollator
from course_lib.long_documents.padding import batches_by_length as batches_by_length
from course_lib.long_documents.padding import padding_share as padding_share
from course_lib.long_documents.streaming import (
    StreamingTextDataset as StreamingTextDataset,
)
from course_lib.long_documents.streaming import as_item, this_worker

# A collection that is cut at once.


@named_elsewhere
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


# A stream of chunks: what most of us write first, and what it lacks.


class NaiveTextDataset(IterableDataset):
    """The stream that most of us write first: each worker reads every document."""

    def __init__(self, dataset: object, tokenizer: object, max_length: int):
        self.dataset, self.tokenizer = dataset, tokenizer
        self.max_length = max_length

    def __iter__(self) -> Iterator[dict[str, object]]:
        each = encode_each(self.dataset["text"], self.tokenizer)
        for document, ids in enumerate(each):
            for number, chunk in enumerate(chunk_ids(ids, self.max_length)):
                yield as_item(chunk, document, number)


class OneScreenStream(IterableDataset):
    """The chunks of all texts, shared out to ranks and workers, and resumed by counts.

    The items are those of a `StreamingTextDataset` that doesn't shuffle.
    """

    def __init__(self, texts, tokenizer, max_length, overlap=0, rank=0, world_size=1):
        self.texts, self.tokenizer = texts, tokenizer
        self.max_length, self.overlap = max_length, overlap
        self.rank, self.world_size = rank, world_size
        self.begin = self.now = (0, 0)  # documents done, and chunks of the next one

    def __iter__(self):
        # Deal the texts out, one after another, to all workers of all ranks.
        worker, num_workers = this_worker()  # (0, 1) outside of workers
        first = self.rank + self.world_size * worker
        mine = range(first, len(self.texts), self.world_size * num_workers)
        # Skip what was read before.
        documents, chunks = self.now = self.begin
        for row in mine[documents:]:
            # Encode one text at a time, and cut it into chunks.
            (ids,) = encode_each([self.texts[row]], self.tokenizer)
            cut = chunk_ids(ids, self.max_length, self.overlap)
            for number in range(chunks, len(cut)):
                # Note the place behind a chunk before it is delivered.
                self.now = (documents, number + 1)
                yield as_item(cut[number], row, number)
            documents, chunks = documents + 1, 0
        self.begin = (0, 0)  # the next iteration reads everything again

    def state_dict(self):
        # How far it was read: two counts are all that it takes to go on.
        return dict(zip(("documents", "chunks"), self.now, strict=True))

    def load_state_dict(self, state):
        # The next iteration begins there.
        self.begin = self.now = (state["documents"], state["chunks"])
