"""Lesson 09: several documents in one row, and what each way to choose them costs.

A batch is a rectangle, documents are not. Packing puts several documents into one row.
Where each of them begins is written down beside the ids when they are packed, because
nothing can find it out safely afterwards.

`pack_on_one_screen` is a packer that is whole and small. `pack_documents` makes the
same packs, with the choices that `strategies` makes fast. In `waiting` documents are
still arriving, and `surveys` counts what is in packs that somebody else made.

That starts are kept beside the ids as `document_starts`, and the names of the three
strategies, "greedy", "first_fit" and "best_fit", come from Forgather by Jason dinAlt
(`block_tokenize_fn`, https://github.com/jdinalt/forgather).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

# Readers look for these here.
from course_lib.document_packing.strategies import STRATEGIES as STRATEGIES
from course_lib.document_packing.strategies import RowLength, Strategy, assign_packs
from course_lib.document_packing.surveys import pack_rows as pack_rows
from course_lib.document_packing.surveys import survey_packs as survey_packs
from course_lib.document_packing.waiting import PackStream as PackStream
from course_lib.document_packing.waiting import crop_documents as crop_documents
from course_lib.document_packing.waiting import cut_pieces
from course_lib.document_packing.waiting import pack_stream as pack_stream
from course_lib.foundation import (
    Ids,
    Pack,
    Piece,
    as_ids,
    check_iterable,
    checked,
    column_of_batch,
    document_marks,
    encode_each,
    iterate_documents,
    join_pieces,
    named_elsewhere,
)
from course_lib.foundation import packing_report as packing_report

# A whole packer on one screen.


def pack_on_one_screen(documents, max_length):
    """Best fit: split what is too long, and let pieces share rows, the longest first.

    Each row has its ids, and says where in them each piece begins, and of which
    document it is.
    """
    # Cut what is longer than a row.
    pieces = [
        Piece(number, offset, ids[offset : offset + max_length])
        for number, ids in enumerate(documents)
        for offset in range(0, len(ids), max_length)
    ]

    def room(pack):
        return max_length - sum(len(piece.ids) for piece in pack)

    # Put each piece into the fullest pack that has room for it.
    packs = []
    for piece in sorted(pieces, key=lambda piece: -len(piece.ids)):
        for pack in sorted(packs, key=room):  # the fullest pack first
            if len(piece.ids) <= room(pack):
                pack.append(piece)
                break
        else:  # no pack has room, or there is none yet
            packs.append([piece])

    # Make a row of each pack: its ids, and where in them each piece begins.
    rows = []
    for pack in packs:
        ids = [token for piece in pack for token in piece.ids]
        lengths = [len(piece.ids) for piece in pack]
        starts = list(accumulate(lengths[:-1], initial=0))
        numbers = [piece.document for piece in pack]
        rows.append({"input_ids": ids, "document_starts": starts, "documents": numbers})
    return rows


# The packer to train with.


@checked
def pack_documents(
    documents: Iterable[Ids],
    max_length: RowLength,
    *,
    strategy: Strategy = "best_fit",
    split_long: bool = True,
    labels: Sequence[Ids] | None = None,
) -> list[Pack]:
    """Pack documents into rows of at most `max_length` ids, every token exactly once.

    A longer document is split into pieces of `max_length` and a remainder, and each is
    a document of its own to the model. Empty ones are left out. `packing_report` says
    what became of each. The longest come first: shuffle the packs before you train.

    Args:
        documents: the ids of each.
        max_length, strategy: see `assign_packs`.
        split_long: False: longer documents are truncated instead, and the rest is lost.
        labels: for each document as many as ids, -100 where nothing is to be scored.
            They are cut and joined as the ids are. For other values see `Pack.along`.
    """
    if labels is not None:
        documents = list(iterate_documents(documents))
        labels = _check_labels(labels, documents)
    pieces = list(cut_pieces(documents, max_length, split_long))
    lengths = np.array([len(piece.ids) for piece in pieces], dtype=np.int64)
    groups = assign_packs(lengths, max_length, strategy=strategy)
    packs = [join_pieces([pieces[i] for i in group]) for group in groups]
    if labels is not None:
        packs = [replace(pack, labels=pack.along(labels)) for pack in packs]
    return packs


def _check_labels(
    labels: Sequence[Ids], documents: Sequence[np.ndarray], name: str = "labels"
) -> list[np.ndarray]:
    check_iterable(name, labels, "lists")
    labels = [as_ids(f"{name}[{i}]", each) for i, each in enumerate(labels)]
    if list(map(len, labels)) != list(map(len, documents)):
        raise ValueError(f"{name} must be as many for each document as it has ids")
    return labels


@checked
def pad_documents(documents: Iterable[Ids], max_length: RowLength) -> list[Pack]:
    """Give each document, split if it is longer, a row of its own, to be padded."""
    return [join_pieces([piece]) for piece in cut_pieces(documents, max_length)]


@named_elsewhere
def pack_examples(
    features: Mapping[str, Sequence],
    tokenizer: object = None,
    *,
    max_length: int,
    text_column: str = "text",
    end_of_text_id: int | None = None,
    columns: Sequence[str] | None = None,
    strategy: Strategy = "best_fit",
    split_long: bool = True,
) -> dict[str, list]:
    """Tokenize and pack a batch of a data set, for `map(pack_examples, batched=True)`.

    Documents begin and end as the tokenizer begins and ends a text. Where it adds
    nothing, its end-of-text id is put after each of them. There is no switch for
    either, so that no end and no beginning can come twice.

    Args:
        features: the batch, its columns by name.
        tokenizer, end_of_text_id: see `encode_corpus`; where the batch has `input_ids`,
            these are packed as they are, and no tokenizer is needed.
        max_length, strategy, split_long: see `pack_documents`.
        text_column: which column holds the texts.
        columns: those that hold an integer for each of the `input_ids`, for example a
            mask of scored ids. They are cut and joined alike. By default `labels`, if
            there are any.

    Returns columns `input_ids` and `document_starts`, and `columns`, a row for each
    pack. There are fewer packs than texts, so `map` needs `remove_columns` with all
    columns of the data set.
    """
    if isinstance(features, Mapping) and "input_ids" in features:
        documents = column_of_batch(features, "input_ids")
    else:
        texts = column_of_batch(features, text_column)
        _check_marks(tokenizer, end_of_text_id)
        documents = encode_each(texts, tokenizer, end_of_text_id=end_of_text_id)
    documents = list(iterate_documents(documents))
    packs = pack_documents(
        documents, max_length, strategy=strategy, split_long=split_long
    )
    packed = {
        "input_ids": [pack.input_ids.tolist() for pack in packs],
        "document_starts": [pack.document_starts.tolist() for pack in packs],
    }
    if columns is None:
        columns = ["labels"] if "labels" in features else []
    for name in check_iterable("columns", columns, "names"):
        values = _check_labels(column_of_batch(features, name), documents, name)
        packed[name] = [pack.along(values).tolist() for pack in packs]
    return packed


def _check_marks(tokenizer: object, end_of_text_id: int | None) -> None:
    """Refuse to join texts of which nobody could say where one ends."""
    encodes = hasattr(tokenizer, "encode") and end_of_text_id is None
    if encodes and document_marks(tokenizer) == (None, None):
        raise ValueError(
            "end_of_text_id must be given: this tokenizer marks neither the beginning "
            "nor the end of a text. To pack ids without any mark, tokenize first, and "
            "give them as a column `input_ids`"
        )
