"""Lesson 09: several documents in one row, and what each way to choose them costs.

A batch is a rectangle, documents are not. Packing puts several documents into one row.
Where each of them begins is written down beside the ids when they are packed, because
nothing can find it out safely afterwards.
"""

from __future__ import annotations

import heapq
import zlib
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Annotated, Literal

import numpy as np

from course_lib.foundation import (
    Count,
    Ids,
    Length,
    OneOf,
    Pack,
    Position,
    Several,
    as_ids,
    check_choice,
    check_integer,
    check_iterable,
    check_state,
    checked,
    column_of_batch,
    encode_each,
    named_elsewhere,
)

# Readers look for it here.
from course_lib.foundation import packing_report as packing_report
from course_lib.foundation.packs import LONGEST, Piece, iterate_documents, join_pieces

MOST_LISTED = 12  # packs, in a survey of many
START = {"pieces_read": 0, "checksum": 0, "waiting": []}  # of a stream of packs

# Which documents share a pack: a question of lengths alone.


def assign_packs(
    lengths: Ids, max_length: int, *, strategy: str = "best_fit"
) -> list[list[int]]:
    """Choose which documents share a pack, so that no pack is longer than `max_length`.

    Args:
        lengths: tokens of each document, shape (documents,), each 1 ... L.
        max_length: L.
        strategy: "greedy": in order, with a new pack when the next one does not fit
            (Next Fit). "first_fit" and "best_fit": the longest first, and the earliest
            of equally long ones, each into the first pack with room or into the fullest
            one with room (First Fit Decreasing, FFD, and Best Fit Decreasing, BFD).

    Returns the documents of each pack, as indices, in the order in which they were put
    in.

    Sources: Johnson, "Near-optimal bin packing algorithms" (1973), for the names in
    brackets; Ding et al., "Fewer Truncations Improve Language Modeling" (2024), for
    best fit on documents.
    """
    lengths, max_length = _check_lengths(lengths, max_length)
    pack = STRATEGIES[check_choice("strategy", strategy, STRATEGIES)]
    # No pack is longer than all documents together, however much room it has.
    return pack(lengths.tolist(), min(max_length, int(lengths.sum())))


def _greedy(lengths: list[int], max_length: int) -> list[list[int]]:
    packs: list[list[int]] = []
    room = 0
    for document, length in enumerate(lengths):
        if length > room:
            packs.append([])
            room = max_length
        packs[-1].append(document)
        room -= length
    return packs


def _first_fit(lengths: list[int], max_length: int) -> list[list[int]]:
    # Documents get shorter, so a pack with room for one has room for the next, until
    # something is put into it. Packs with too little room wait, the most room first.
    packs: list[list[int]] = []
    rooms: list[int] = []
    open_packs: list[int] = []  # a heap: the first pack first
    waiting: list[tuple[int, int]] = []  # a heap of rooms, negative, with their packs
    for document in _longest_first(lengths):
        length = lengths[document]
        while waiting and -waiting[0][0] >= length:
            heapq.heappush(open_packs, heapq.heappop(waiting)[1])
        if not open_packs:
            open_packs.append(len(packs))
            packs.append([])
            rooms.append(max_length)
        pack = open_packs[0]
        packs[pack].append(document)
        rooms[pack] -= length
        if rooms[pack] < length:
            heapq.heappop(open_packs)
            heapq.heappush(waiting, (-rooms[pack], pack))
    return packs


def _best_fit(lengths: list[int], max_length: int) -> list[list[int]]:
    # Packs with equal room are as good as one another, and different rooms are few. In
    # a sorted list of them, the first that is at least n belongs to the fullest packs
    # with room for n more tokens.
    packs: list[list[int]] = []
    with_room: dict[int, list[int]] = defaultdict(list)  # heaps: the first pack first
    rooms: list[int] = []
    for document in _longest_first(lengths):
        length = lengths[document]
        place = bisect_left(rooms, length)
        if place < len(rooms):
            room = rooms[place]
            pack = heapq.heappop(with_room[room])
            if not with_room[room]:
                del rooms[place]
        else:
            room, pack = max_length, len(packs)
            packs.append([])
        packs[pack].append(document)
        room -= length
        if room:
            if not with_room[room]:
                insort(rooms, room)
            heapq.heappush(with_room[room], pack)
    return packs


def _longest_first(lengths: list[int]) -> list[int]:
    return np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable").tolist()


STRATEGIES: dict[str, Callable[[list[int], int], list[list[int]]]] = {
    "greedy": _greedy,
    "first_fit": _first_fit,
    "best_fit": _best_fit,
}


def _check_size(name: str, value: int) -> int:
    return check_integer(name, value, minimum=1, maximum=LONGEST)


@checked
def _check_lengths(lengths: Ids, max_length: Length) -> tuple[np.ndarray, int]:
    max_length = _check_size("max_length", max_length)
    if lengths.size and (lengths.min() < 1 or lengths.max() > max_length):
        raise ValueError(
            f"lengths must lie in 1 ... max_length {max_length}, got {lengths.min()} "
            f"... {lengths.max()}: split what is longer, drop what is empty"
        )
    return lengths.astype(np.int64), max_length


# Packs, with their tokens.


@checked
def pack_documents(
    documents: Iterable[Ids],
    max_length: Length,
    *,
    strategy: Annotated[str, OneOf(STRATEGIES)] = "best_fit",
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
    max_length = _check_size("max_length", max_length)
    if labels is not None:
        documents = list(iterate_documents(documents))
        labels = _check_labels(labels, documents)
    pieces = list(_pieces(documents, max_length, split_long))
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


def _pieces(
    documents: Iterable[Ids], max_length: int, split_long: bool = True
) -> Iterator[Piece]:
    for number, ids in enumerate(iterate_documents(documents)):
        if not split_long:
            ids = ids[:max_length]
        for offset in range(0, len(ids), max_length):
            yield Piece(number, offset, ids[offset : offset + max_length])


def pad_documents(documents: Iterable[Ids], max_length: int) -> list[Pack]:
    """Give each document, split if it is longer, a row of its own, to be padded."""
    max_length = _check_size("max_length", max_length)
    return [join_pieces([piece]) for piece in _pieces(documents, max_length)]


@checked
def crop_documents(
    documents: Iterable[Ids],
    max_length: Length,
    *,
    buffer_size: int = 1,
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
    max_length = _check_size("max_length", max_length)
    buffer_size = _check_size("buffer_size", buffer_size)
    whole = enumerate(iterate_documents(documents))
    arriving = (Piece(number, 0, ids) for number, ids in whole if len(ids))
    buffer, packs = _Buffer(), []
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


@named_elsewhere(
    feature="the batch is `features`, and `text_column` names its column of texts",
    packed="its rows are always packed; to pad each by itself, see PaddingCollator",
    packing_strategy="use `strategy`",
    add_eos="the tokenizer adds its ends, or `end_of_text_id` marks each end",
    add_bos="the tokenizer adds its beginnings, if it is made to",
)
def pack_examples(
    features: Mapping[str, Sequence],
    tokenizer: object = None,
    *,
    max_length: int,
    text_column: str = "text",
    end_of_text_id: int | None = None,
    columns: Sequence[str] | None = None,
    strategy: str = "best_fit",
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


# Packing documents that have not all arrived.


class _Buffer:
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


def _entries(read: int, checksum: int, buffer: _Buffer) -> dict[str, object]:
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

    def __init__(self, documents: Iterable[Ids], max_length: int, buffer_size: int):
        self.max_length = _check_size("max_length", max_length)
        self.buffer_size = _check_size("buffer_size", buffer_size)
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
        pieces = enumerate(_pieces(self._documents, self.max_length))
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

    def _next_pack(self, buffer: _Buffer) -> Pack:
        """The oldest piece, so that none waits forever; then the longest that fit."""
        row, room, length = [], self.max_length, buffer.oldest()
        while length:
            row.append(buffer.take(length))
            room -= length
            length = buffer.longest(room)
        return join_pieces(row)

    def _read_again(
        self, pieces: Iterator[tuple[int, Piece]], begin: dict[str, object]
    ) -> tuple[_Buffer, int]:
        """Skip the pieces that had been read, but keep those that waited."""
        buffer, checksum = _Buffer(), 0
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


@checked
def pack_rows(
    packs: Annotated[Sequence[Sequence[int]], Several("packs")],
    lengths: Ids,
    max_length: Length,
) -> dict[str, list[tuple]]:
    """Name packs, for `plot_rows`: a box for each document, and what is padding.

    Args:
        packs: the numbers of the documents in each, as `assign_packs` returns them.
        lengths, max_length: tokens of each document, and L.
    """
    rows = {}
    for number, pack in enumerate(packs):
        boxes, end = [], 0
        for place, document in enumerate(pack):
            look = ("inputs", "inputs2")[place % 2]
            boxes.append((end, int(lengths[document]), look, document))
            end += int(lengths[document])
        if end > max_length:
            most = f"at most max_length {max_length} tokens"
            raise ValueError(f"packs must hold {most}, got one of {end}")
        rows[f"row {number}"] = [*boxes, (end, max_length - end, "lost")]
    return rows


# What is in packs that somebody else made.


@checked
def survey_packs(
    packs: Annotated[Iterable[object], Several("packs")],
    max_length: Length,
    *,
    eos_token_id: Count | None = None,
) -> list[list[object]]:
    """Count what packs hold: a row for each, and one for all of them together.

    A row is a name, the tokens, the documents, how many of these are there only in part
    (None where nothing tells), and how full the pack is. Of more than 12 packs, 12 are
    listed, spread from the first to the last.

    Args:
        packs: each with `input_ids` and `document_starts`, as attributes or by key, and
            perhaps `documents`, which document each piece is from.
        max_length: L.
        eos_token_id: what ends a document; a piece without it at its end was cut.
            Rows without `document_starts` are divided after it.
    """
    read = [
        _read_pack(f"packs[{number}]", pack, max_length, eos_token_id)
        for number, pack in enumerate(packs)
    ]
    if not read:
        raise ValueError("packs must be at least one, got none")
    cut = _count_cut(read, eos_token_id)
    rows = [
        [f"pack {number}", len(ids), sizes.size, cut[number], len(ids) / max_length]
        for number, (ids, sizes, _) in enumerate(read)
    ]
    tokens, pieces = (sum(row[column] for row in rows) for column in (1, 2))
    in_part = None if None in cut else sum(cut)
    total = [f"all {len(rows):,} packs", tokens, pieces, in_part]
    total.append(tokens / len(rows) / max_length)
    # Spread over all of them: best fit begins with full packs, and ends with the rest.
    listed = np.linspace(0, len(rows) - 1, min(MOST_LISTED, len(rows))).round()
    chosen = [rows[number] for number in listed.astype(int)]
    return [[*row, f"{100 * filled:.1f} %"] for *row, filled in [*chosen, total]]


def _read_pack(
    name: str, pack: object, max_length: int, eos_token_id: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The ids of a pack, the lengths of its pieces, and their documents if told."""

    def part(key: str) -> np.ndarray | None:
        is_mapping = isinstance(pack, Mapping)
        value = pack.get(key) if is_mapping else getattr(pack, key, None)
        return None if value is None else as_ids(f"{name}.{key}", value)

    ids, starts, documents = map(part, ("input_ids", "document_starts", "documents"))
    if ids is None:
        raise TypeError(f"{name} must have `input_ids`, got {type(pack).__name__}")
    if not 1 <= (count := len(ids)) <= max_length:
        allowed = f"1 to max_length {max_length} ids"
        raise ValueError(f"{name} must hold {allowed}, got {count}")
    if starts is None and eos_token_id is None:
        raise ValueError(
            f"{name} has no `document_starts`: give `eos_token_id` to divide it after "
            "each such id"
        )
    if starts is None:
        starts = np.append(0, np.flatnonzero(ids[:-1] == eos_token_id) + 1)
    starts = starts.astype(np.int64)
    if (
        starts[:1].tolist() != [0]
        or (np.diff(starts) <= 0).any()
        or starts[-1] >= count
    ):
        wanted = f"rise from 0 to less than {count}"
        got = f"got {starts.tolist()!s:.60}"
        raise ValueError(f"{name}.document_starts must {wanted}, {got}")
    sizes = np.diff(np.append(starts, count))
    if documents is not None and documents.size != starts.size:
        wanted = f"one for each of its {starts.size} pieces"
        raise ValueError(f"{name}.documents must name {wanted}, got {documents.size}")
    return ids, sizes, documents


def _count_cut(rows: list[tuple], eos_token_id: int | None) -> list[int | None]:
    """How many pieces of each row are only a part of their document, None if nothing
    tells."""
    known = [documents for _, _, documents in rows if documents is not None]
    seen, counts = np.unique(np.concatenate(known or [[]]), return_counts=True)
    in_parts = seen[counts > 1]
    numbers: list[int | None] = []
    for ids, sizes, documents in rows:
        cut = np.zeros(sizes.size, dtype=bool)
        if documents is not None:
            cut |= np.isin(documents, in_parts)
        if eos_token_id is not None:
            cut |= ids[np.cumsum(sizes) - 1] != eos_token_id
        nothing_tells = documents is None and eos_token_id is None
        numbers.append(None if nothing_tells else int(cut.sum()))
    return numbers
