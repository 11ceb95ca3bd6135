"""Rows from documents that are still arriving: a buffer, and who leaves it when.

`crop_documents` fills each row to its end and loses the rest of a document, and
`pack_stream` loses nothing.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right, insort
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Literal

import numpy as np

from course_lib.document_packing.strategies import RowLength
from course_lib.foundation import (
    Ids,
    Pack,
    Piece,
    Position,
    as_ids,
    check_integer,
    check_state,
    checked,
    iterate_documents,
    join_pieces,
    named_elsewhere,
)

START = {"pieces_read": 0, "checksum": 0, "waiting": []}  # of a stream of packs


def cut_pieces(
    documents: Iterable[Ids], max_length: int, split_long: bool = True
) -> Iterator[Piece]:
    for number, ids in enumerate(iterate_documents(documents)):
        if not split_long:
            ids = ids[:max_length]
        for offset in range(0, len(ids), max_length):
            yield Piece(number, offset, ids[offset : offset + max_length])


class Buffer:
    """Pieces that wait; it finds the oldest, and the longest that is not too long."""

    def __init__(self):
        self._pieces: dict[int, Piece] = {}  # by ticket, so in the order of arrival
        self._tickets: dict[int, deque[int]] = defaultdict(deque)  # by length
        self._lengths: list[int] = []  # of the pieces that wait, sorted, each once

    def __len__(self) -> int:
        return len(self._pieces)

    def __iter__(self) -> Iterator[int]:
        """The tickets of the pieces that wait."""
        return iter(self._pieces)

    def put(self, ticket: int, piece: Piece) -> None:
        length = len(piece.ids)
        self._pieces[ticket] = piece
        if not self._tickets[length]:
            insort(self._lengths, length)
        self._tickets[length].append(ticket)

    def oldest(self) -> int:
        """The length of the piece that has waited longest."""
        return len(next(iter(self._pieces.values())).ids)

    def shortest(self) -> int:
        return self._lengths[0]

    def longest(self, room: int) -> int:
        """The greatest length that fits into `room`; 0 if none does."""
        place = bisect_right(self._lengths, room)
        return self._lengths[place - 1] if place else 0

    def take(self, length: int) -> Piece:
        """Remove and return the oldest piece of a length."""
        ticket = self._tickets[length].popleft()
        if not self._tickets[length]:
            self._lengths.remove(length)
        return self._pieces.pop(ticket)


@checked
def crop_documents(
    documents: Iterable[Ids],
    max_length: RowLength,
    *,
    buffer_size: RowLength = 1,
    crop: Literal["shortest", "oldest"] = "shortest",
) -> list[Pack]:
    """Fill each row to its end with beginnings of documents; the rest of each is lost.

    Of the documents that wait in a buffer, the longest that still fits comes next. When
    none fits, one is cut to the room that is left. Only the last row may be short.

    Args:
        documents: the ids of each; read in order.
        max_length: L.
        buffer_size: how many documents wait, at least 1. With 1 they come in order.
        crop: which document is cut, the "shortest" or the "oldest" of those that wait.
    """
    whole = enumerate(iterate_documents(documents))
    arriving = (Piece(number, 0, ids) for number, ids in whole if len(ids))
    buffer, packs = Buffer(), []
    while True:
        row, room = [], max_length
        while room:
            for piece in islice(arriving, buffer_size - len(buffer)):
                buffer.put(piece.document, piece)
            if not buffer:
                break
            length = buffer.longest(room)
            if not length:
                length = buffer.shortest() if crop == "shortest" else buffer.oldest()
            document, offset, ids = buffer.take(length)
            row.append(Piece(document, offset, ids[:room]))
            room -= min(length, room)
        if not row:
            return packs
        packs.append(join_pieces(row))


def _entries(read: int, checksum: int, buffer: Buffer) -> dict[str, object]:
    """Say what has been read and what waits, as a state does."""
    # Pieces may have come since, before some document that could not be read.
    waiting = [number for number in buffer if number < read]
    checksum = _with_waiting(checksum, waiting)
    return {"pieces_read": read, "checksum": checksum, "waiting": waiting}


class PackStream:
    """Packs of documents that are still arriving; made by `pack_stream`.

    Its position is that of the iterator that acted last. An iterator that has come to
    its end leaves nothing to go on with, and the next one begins from the start.
    """

    @checked
    def __init__(
        self,
        documents: Iterable[Ids],
        max_length: RowLength,
        buffer_size: RowLength,
    ):
        self.max_length, self.buffer_size = max_length, buffer_size
        iterate_documents(documents)  # anything but a collection is refused now
        self._documents = documents
        self._is_used_up = False
        # a place is entries of a state, or a function that makes them when asked
        self._position = Position(START)

    def __iter__(self) -> Iterator[Pack]:
        if iter(self._documents) is self._documents:  # yields its documents only once
            if self._is_used_up:
                raise ValueError(
                    "documents must be something that can be read again, as a list, "
                    f"got a {type(self._documents).__name__} that has been read"
                )
            self._is_used_up = True
        return self._position.follow(self._packs(self._position.begin), START)

    def _packs(self, begin: dict[str, object]) -> Iterator[tuple[Pack, Callable]]:
        """Yield each pack with the place behind it."""
        pieces = enumerate(cut_pieces(self._documents, self.max_length))
        buffer, checksum = self._read_again(pieces, begin)
        read = begin["pieces_read"]
        for number, piece in pieces:
            buffer.put(number, piece)
            checksum = _add_to_checksum(checksum, piece)
            read = number + 1
            if len(buffer) == self.buffer_size:
                yield self._next_pack(buffer), partial(_entries, read, checksum, buffer)
        while buffer:
            yield self._next_pack(buffer), partial(_entries, read, checksum, buffer)

    def _next_pack(self, buffer: Buffer) -> Pack:
        """The oldest piece, so that none waits forever; then the longest that fit."""
        row, room, length = [], self.max_length, buffer.oldest()
        while length:
            row.append(buffer.take(length))
            room -= length
            length = buffer.longest(room)
        return join_pieces(row)

    def _read_again(
        self, pieces: Iterator[tuple[int, Piece]], begin: dict[str, object]
    ) -> tuple[Buffer, int]:
        """Skip the pieces that had been read, but keep those that waited."""
        buffer, checksum = Buffer(), 0
        waiting = set(begin["waiting"])
        for number, piece in islice(pieces, begin["pieces_read"]):
            checksum = _add_to_checksum(checksum, piece)
            if number in waiting:
                buffer.put(number, piece)
        if _with_waiting(checksum, begin["waiting"]) != begin["checksum"]:
            raise ValueError(
                "documents must be those of the saved state, and wait as it says"
            )
        return buffer, checksum

    def state_dict(self) -> dict[str, object]:
        """Say how much has been read and which pieces still wait, ready for JSON."""
        place = self._position.now
        return {**(place() if callable(place) else place), **self._settings()}

    def load_state_dict(self, state: Mapping[str, object]) -> None:
        """Go on from `state`: the documents are read again, from the first to there.

        Only then it is seen whether they are the same.
        """
        state = check_state(state, self._settings(), START, owner="stream")
        read, checksum, waiting = (state[name] for name in START)
        place = {
            "pieces_read": check_integer("pieces_read", read, minimum=0, maximum=2**62),
            "checksum": check_integer("checksum", checksum, minimum=0),
            "waiting": as_ids("waiting", waiting).tolist(),
        }
        self._position.go_to(place)

    def _settings(self) -> dict[str, int]:
        return {"max_length": self.max_length, "buffer_size": self.buffer_size}


def _add_to_checksum(checksum: int, piece: Piece) -> int:
    marked = np.append(len(piece.ids), piece.ids).astype("<u4")
    return zlib.crc32(marked.tobytes(), checksum)


def _with_waiting(checksum: int, waiting: Sequence[int]) -> int:
    return zlib.crc32(np.array(waiting, dtype="<i8").tobytes(), checksum)


@named_elsewhere
def pack_stream(
    documents: Iterable[Ids], max_length: int, *, buffer_size: int
) -> PackStream:
    """Pack documents while they arrive, from a buffer of at most `buffer_size` of them.

    When the buffer is full, a pack leaves it. The pack begins with the document that
    has waited longest. Then the longest that fits joins it, as long as there is one. At
    the end the buffer is emptied, so that nothing is lost.

    Args:
        documents: the ids of each, read in order. A longer one is split into pieces of
            `max_length` and a remainder, each of which counts as a document.
        max_length: L.
        buffer_size: how many wait at most, at least 1. The more wait, the fuller are
            the packs, and the further documents are carried from their places.

    Returns an iterable of packs, with `state_dict()` and `load_state_dict(state)`.
    """
    return PackStream(documents, max_length, buffer_size)
