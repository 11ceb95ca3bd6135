"""Rows of several documents, and an account of what happened to every token.

The token ledger accounts for windows, and `packing_report` does the same for packs. It
takes nothing on trust, but compares each piece with its document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Annotated, NamedTuple

import numpy as np

from course_lib.foundation.arguments import AtLeast, Ids, Length, Several, checked
from course_lib.foundation.checks import (
    as_ids,
    as_integers,
    check_integer,
    check_iterable,
    check_type,
)
from course_lib.foundation.dtypes import compact

COMPACT = (np.dtype(np.uint16), np.dtype(np.uint32))
PLACES = ("documents", "offsets")
LONGEST = 2**31 - 1  #: tokens in a row, because `cu_seqlens` are 32-bit numbers


class Piece(NamedTuple):
    """A document, or a part of a document that is too long."""

    document: int
    offset: int  # tokens of the document before this piece
    ids: np.ndarray


@dataclass(frozen=True, eq=False)  # a generated `==` would fail on arrays
class Pack:
    """Several documents, or pieces of them, in one row."""

    input_ids: np.ndarray  #: their ids end to end, shape (n,), n at most `max_length`
    #: where each piece begins, int64, shape (pieces,). The first start is 0, and the
    #: starts increase.
    document_starts: np.ndarray
    #: for each piece the number of its document, int64, shape (pieces,)
    documents: np.ndarray
    #: how many tokens of its document come before each piece, int64, shape (pieces,)
    offsets: np.ndarray
    #: the ids that are scored, and -100 where nothing is scored, shape (n,). With None,
    #: all ids are scored.
    labels: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.input_ids)

    def pieces(self) -> list[Piece]:
        """Split the row into its pieces again. Their ids are views."""
        streams = np.split(self.input_ids, self.document_starts[1:])
        places = (self.documents.tolist(), self.offsets.tolist())
        return [Piece(*piece) for piece in zip(*places, streams, strict=True)]

    @checked
    def along(
        self,
        values: Annotated[Sequence[Sequence], Several("rows, one for each document")],
    ) -> np.ndarray:
        """Put other values of the documents into a row, in the same way as their ids.
        There is one for each token, for example labels, or a mask that says what is
        scored."""
        parts = []
        for document, offset, ids in self.pieces():
            if not 0 <= document < len(values):
                raise ValueError(
                    f"values must have a row for document {document}, got {len(values)}"
                )
            row = check_iterable(f"values[{document}]", values[document])
            part, end = row[offset : offset + len(ids)], offset + len(ids)
            if np.shape(part) != ids.shape or np.ma.is_masked(part):
                raise ValueError(
                    f"values[{document}] must be one for each token, none masked, up "
                    f"to token {end}, got {part!r:.60} from token {offset} on"
                )
            parts.append(np.asarray(part))
        kinds = {part.dtype.kind for part in parts}
        if len(kinds) > 1 and not kinds <= set("iuf"):
            types = sorted({str(part.dtype) for part in parts})
            raise TypeError(f"values must be of one type, got {', '.join(types)}")
        return np.concatenate(parts)


def join_pieces(pieces: Sequence[Piece]) -> Pack:
    """Join pieces end to end into one row."""
    if not isinstance(pieces, list | tuple):
        raise TypeError(f"pieces must be several, got {type(pieces).__name__}")
    if not pieces:
        raise ValueError("pieces must be at least one, got none: a pack is not empty")
    documents, offsets, streams = zip(*pieces, strict=True)
    streams = [as_ids("ids of pieces", ids) for ids in streams]
    if not all(map(len, streams)):
        raise ValueError("pieces must hold ids, got an empty one")
    starts = list(accumulate(map(len, streams[:-1]), initial=0))
    places = as_integers("places of pieces", [starts, documents, offsets])
    return Pack(np.concatenate(streams), *places.astype(np.int64))


@checked
def iterate_documents(
    documents: Annotated[Iterable[Ids], Several("streams of ids")],
) -> Iterator[np.ndarray]:
    """Yield the ids of each document, compact, or say which one is wrong."""
    return _compact_ids(documents)


def _compact_ids(documents: Iterable[Ids]) -> Iterator[np.ndarray]:
    for number, ids in enumerate(documents):
        # There are many documents, so one that is already compact is not checked.
        if type(ids) is np.ndarray and ids.ndim == 1 and ids.dtype in COMPACT:
            yield ids
            continue
        try:
            stream = compact(ids)
            if stream.dtype.kind != "u" or stream.dtype.itemsize > 4:
                stream = compact(np.array(stream))  # a memory map, which is read fully
        except (TypeError, ValueError) as error:
            raise type(error)(f"documents[{number}]: {error}") from None
        yield stream


@checked
def check_starts(
    document_starts: Ids, length: Annotated[int, AtLeast(1, LONGEST)]
) -> tuple[np.ndarray, int]:
    """Return where the documents of a row begin, int64, and its length."""
    starts = document_starts.astype(np.int64)
    if not starts.size or starts[0] != 0:
        got = starts[:1].tolist() or "none at all"
        raise ValueError(f"document_starts must begin with 0, got {got}")
    if (np.diff(starts) <= 0).any() or starts[-1] >= length:
        shown = starts.tolist() if starts.size < 20 else f"{starts[:19].tolist()} ..."
        wanted = f"increase and be less than length {length}"
        raise ValueError(f"document_starts must {wanted}, got {shown}")
    return starts, length


def check_pad_token(tokenizer: object) -> int:
    """Return the id that pads rows."""
    pad_token_id = getattr(tokenizer, "pad_token_id", None)
    if pad_token_id is None:
        raise ValueError(
            "tokenizer must have a pad token, got none: wrap_tokenizer gives it one"
        )
    return check_integer("pad_token_id", pad_token_id, minimum=0, maximum=2**32 - 1)


@checked
def check_rows(
    rows: Annotated[Iterable[Mapping[str, object] | Pack], Several("rows")],
    *optional: str,
) -> dict[str, list[np.ndarray] | None]:
    """Return the columns of rows, by name, with None for a column that is not there.

    Args:
        rows: packs, or mappings with `input_ids`, integers, shape (n,), n at least 1.
        optional: columns of all rows or none: `labels`, as long, or `document_starts`.
    """
    rows = [vars(row) if isinstance(row, Pack) else row for row in rows]
    if not rows:
        raise ValueError("rows must hold at least one row, got none")
    columns: dict[str, list[np.ndarray] | None] = {}
    for name in ("input_ids", *optional):
        columns[name] = []
        for number, row in enumerate(rows):
            if not isinstance(row, Mapping) or row.get("input_ids") is None:
                raise TypeError(
                    f"rows[{number}] must have input_ids, got a {type(row).__name__}"
                )
            if (row.get(name) is None) != (rows[0].get(name) is None):
                where = f"row 0 and row {number} differ"
                raise ValueError(f"{name} must be in all rows or in none, but {where}")
            if row.get(name) is not None:
                columns[name].append(as_ids(f"rows[{number}]: {name}", row[name]))
    for number, ids in enumerate(columns["input_ids"]):
        if not len(ids):
            raise ValueError(f"rows[{number}] must hold at least one id, got none")
    for number, labels in enumerate(columns.get("labels", [])):
        if len(labels) != (length := len(columns["input_ids"][number])):
            found = f"{length}, as many as ids, got {len(labels)}"
            raise ValueError(f"rows[{number}]: labels must be {found}")
    return {name: values or None for name, values in columns.items()}


@dataclass(frozen=True)
class PackingReport:
    """What happened to every document and every token. Both accounts add up."""

    documents: int  #: the number of documents, which is the sum of the five kinds below
    documents_whole: int  #: packed in one piece
    documents_split: int  #: packed completely, but in several pieces
    documents_truncated: int  #: packed only in part
    documents_dropped: int  #: not packed, although they have tokens
    documents_empty: int  #: without tokens
    tokens: int  #: the tokens of all documents, `tokens_packed` + `tokens_lost`
    tokens_packed: int
    tokens_lost: int
    #: the number of rows. Together they have `packs` * `max_length` places, which is
    #: `tokens_packed` + `padding`.
    packs: int
    padding: int
    max_length: int

    @property
    def fill(self) -> float:
        """The share of all places that hold tokens; NaN without packs."""
        places = self.packs * self.max_length
        return self.tokens_packed / places if places else float("nan")

    def __str__(self) -> str:
        kinds = ("whole", "split", "truncated", "dropped", "empty")
        rows = [(kind, f"{getattr(self, f'documents_{kind}'):,}") for kind in kinds]
        rows += [("all documents", f"{self.documents:,}"), ("", "")]
        rows += [("tokens packed", f"{self.tokens_packed:,}")]
        rows += [("tokens lost", f"{self.tokens_lost:,}")]
        rows += [("all tokens", f"{self.tokens:,}"), ("", "")]
        rows += [("packs", f"{self.packs:,}"), ("padding", f"{self.padding:,}")]
        rows += [("fill", f"{self.fill:.4f}")]
        return "\n".join(f"{name:<16}{value:>12}".rstrip() for name, value in rows)


@checked
def packing_report(
    documents: Iterable[Ids], packs: Sequence[Pack], max_length: Length
) -> PackingReport:
    """Account for every token, using only the documents and the packs.

    Raises ValueError if the two do not agree: a pack is too long, or has a token that
    its document does not have, or a token is packed twice.
    """
    streams = list(iterate_documents(documents))
    lengths = np.array([len(ids) for ids in streams], dtype=np.int64)
    if not isinstance(packs, list | tuple):
        raise TypeError(f"packs must be a list of them, got {type(packs).__name__}")
    spans = []
    for number, pack in enumerate(packs):
        for document, offset, ids in _pieces_of(pack, number):
            end = offset + len(ids)
            known = 0 <= document < len(streams) and offset >= 0
            theirs = streams[document][offset:end] if known else ()
            if not np.array_equal(theirs, ids):
                raise ValueError(
                    f"packs[{number}] holds ids {offset} ... {end - 1} of document "
                    f"{document}, but the document has others there, or none"
                )
            spans.append((document, offset, end))
        if len(pack) > max_length:
            raise ValueError(
                f"packs must be no longer than max_length {max_length}, but "
                f"packs[{number}] has {len(pack)} ids"
            )
    spans.sort()
    for (document, _, end), (following, offset, _) in pairwise(spans):
        if following == document and offset < end:
            raise ValueError(f"packs hold id {offset} of document {document} twice")
    spans = np.array(spans, dtype=np.int64).reshape(-1, 3)
    pieces = np.bincount(spans[:, 0], minlength=len(lengths))
    packed = np.zeros_like(lengths)
    np.add.at(packed, spans[:, 0], spans[:, 2] - spans[:, 1])
    complete, empty = packed == lengths, lengths == 0
    return PackingReport(
        documents=len(lengths),
        documents_whole=int((complete & (pieces == 1)).sum()),
        documents_split=int((complete & (pieces > 1)).sum()),
        documents_truncated=int((~complete & (pieces > 0)).sum()),
        documents_dropped=int((~empty & (pieces == 0)).sum()),
        documents_empty=int(empty.sum()),
        tokens=int(lengths.sum()),
        tokens_packed=int(packed.sum()),
        tokens_lost=int((lengths - packed).sum()),
        packs=len(packs),
        padding=len(packs) * max_length - int(packed.sum()),
        max_length=max_length,
    )


def _pieces_of(pack: object, number: int) -> list[Piece]:
    """Check a pack that somebody else may have made, and split it into pieces."""
    check_type(f"packs[{number}]", pack, Pack)
    try:
        ids = as_ids("input_ids", pack.input_ids)
        starts, _ = check_starts(pack.document_starts, len(ids))
        places = [as_ids(name, getattr(pack, name)) for name in PLACES]
        for name, values in zip(PLACES, places, strict=True):
            if len(values) != len(starts):
                raise ValueError(f"{name} must be {len(starts)}, one for each piece")
    except (TypeError, ValueError) as error:
        raise type(error)(f"packs[{number}]: {error}") from None
    return Pack(ids, starts, *places).pieces()
