"""Lesson 09: several documents in one row, without one of them seeing another.

A batch is a rectangle, documents are not. Packing puts several into one row; where each
begins is written down beside the ids, once, and positions, masks and labels all follow
from these starts, not from what tokens look like.
"""

from __future__ import annotations

import heapq
import zlib
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import torch

from course_lib.foundation import (
    IGNORED,
    LONGEST,
    Ids,
    Pack,
    Piece,
    as_stream,
    check_choice,
    check_flag,
    check_integer,
    check_iterable,
    check_pad_token,
    check_rows,
    check_starts,
    check_state,
    column_of_batch,
    document_marks,
    encode_each,
    iterate_documents,
    join_pieces,
)

# Readers look for it here.
from course_lib.foundation import packing_report as packing_report

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
            (Next Fit); "first_fit" and "best_fit": the longest first, of equally long
            ones the earliest, each into the first pack with room, or into the fullest
            one (First Fit Decreasing and Best Fit Decreasing).

    Returns:
        the documents of each pack, as indices, in the order in which they were put in.

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
    # Documents get shorter, so whatever has room for one has room for the next, until
    # something is put into it. Packs with too little wait, the most room first.
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
    # Packs with the same room are as good as one another, and different rooms are few:
    # in a sorted list of them the first one from n on is the fullest pack that takes n
    # tokens more.
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


def _check_lengths(lengths: Ids, max_length: int) -> tuple[np.ndarray, int]:
    lengths = as_stream(lengths, "lengths")
    max_length = _check_size("max_length", max_length)
    if lengths.size and (lengths.min() < 1 or lengths.max() > max_length):
        raise ValueError(
            f"lengths must lie in 1 ... max_length {max_length}, got {lengths.min()} "
            f"... {lengths.max()}: split what is longer, drop what is empty"
        )
    return lengths.astype(np.int64), max_length


# Packs, with their tokens.


def pack_documents(
    documents: Iterable[Ids],
    max_length: int,
    *,
    strategy: str = "best_fit",
    split_long: bool = True,
    labels: Sequence[Ids] | None = None,
) -> list[Pack]:
    """Pack documents into rows of at most `max_length` ids, every token exactly once.

    A document longer than that is split into pieces of `max_length` and a rest, each a
    document of its own to the model; empty ones are left out. `packing_report` tells.
    The longest come first: shuffle the packs before you train on them.

    Args:
        documents: the ids of each.
        max_length: L.
        strategy: see `assign_packs`.
        split_long: False: what is longer is truncated instead, and its tail lost.
        labels: of each document as many as ids, -100 where nothing is to be scored;
            they are cut and joined as the ids are. Other values: `Pack.along`.
    """
    max_length = _check_size("max_length", max_length)
    check_choice("strategy", strategy, STRATEGIES)
    if labels is not None:
        documents = list(iterate_documents(documents))
        labels = _check_labels(labels, documents)
    pieces = list(_pieces(documents, max_length, check_flag("split_long", split_long)))
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
    labels = [as_stream(each, f"{name}[{i}]") for i, each in enumerate(labels)]
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
    """Give each document a row of its own, to be filled up with padding.

    A longer one is split, as by `pack_documents`.
    """
    max_length = _check_size("max_length", max_length)
    return [join_pieces([piece]) for piece in _pieces(documents, max_length)]


def crop_documents(
    documents: Iterable[Ids],
    max_length: int,
    *,
    buffer_size: int = 1,
    crop: str = "shortest",
) -> list[Pack]:
    """Fill each row to its end with beginnings of documents; what is cut off is lost.

    Of the documents that wait in a buffer, the longest that still fits comes next; when
    none fits, one is cut to the room that is left. Only the last row may be short.

    Args:
        documents: the ids of each; read in order.
        max_length: L.
        buffer_size: documents that wait, at least 1: with 1, in order.
        crop: which one is cut, the "shortest" of those that wait, or the "oldest".
    """
    max_length = _check_size("max_length", max_length)
    buffer_size = _check_size("buffer_size", buffer_size)
    check_choice("crop", crop, ("shortest", "oldest"))
    whole = enumerate(iterate_documents(documents))
    arriving = (Piece(number, 0, ids) for number, ids in whole if len(ids))
    buffer, packs = _Buffer(), []
    while True:
        row, room = [], max_length
        while room:
            for piece in islice(arriving, buffer_size - len(buffer)):
                buffer.add(piece.document, piece)
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

    Args:
        features: the batch, its columns by name.
        tokenizer, end_of_text_id: see `encode_corpus`; where the batch has `input_ids`,
            these are packed as they are, and no tokenizer is needed.
        max_length, strategy, split_long: see `pack_documents`.
        text_column: which column holds the texts.
        columns: those that hold an integer for each of the `input_ids`, as a mask of
            what is scored: they are cut and joined alike. By default `labels`, if there
            are any.

    Returns:
        columns `input_ids` and `document_starts`, and `columns`, a row for each pack.
        These are fewer than the texts: `map` needs `remove_columns`, with all columns
        of the data set.
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


# Packing what has not all arrived.


class _Buffer:
    """Pieces that wait: the oldest is at hand, and the longest that is not too long."""

    def __init__(self):
        self._pieces: dict[int, Piece] = {}  # by ticket, so in the order of arrival
        self._tickets: dict[int, deque[int]] = defaultdict(deque)  # by length
        self._lengths: list[int] = []  # of what waits, sorted, each once

    def __len__(self) -> int:
        return len(self._pieces)

    def __iter__(self) -> Iterator[int]:
        """The tickets of what waits."""
        return iter(self._pieces)

    def add(self, ticket: int, piece: Piece) -> None:
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


class PackStream:
    """Packs of documents that are still arriving; made by `pack_stream`.

    Its position is that of the iterator that acted last; one that has come to its end
    leaves nothing to go on with, and the next one begins anew.
    """

    def __init__(self, documents: Iterable[Ids], max_length: int, buffer_size: int):
        self.max_length = _check_size("max_length", max_length)
        self.buffer_size = _check_size("buffer_size", buffer_size)
        iterate_documents(documents)  # what is no collection is refused now
        self._documents = documents
        self._is_used_up = False
        self._begin = START
        # Of the iterator that acted last: pieces read, their checksum, what waits.
        self._position: tuple[int, int, _Buffer] | None = None

    def __iter__(self) -> Iterator[Pack]:
        if iter(self._documents) is self._documents:  # yields its documents only once
            if self._is_used_up:
                raise ValueError(
                    "documents must be something that can be read again, as a list, "
                    f"got a {type(self._documents).__name__} that has been read"
                )
            self._is_used_up = True
        self._position = None
        return self._packs(self._begin)

    def _packs(self, begin: dict[str, object]) -> Iterator[Pack]:
        pieces = enumerate(_pieces(self._documents, self.max_length))
        buffer, checksum = self._read_again(pieces, begin)
        read = begin["pieces_read"]
        for number, piece in pieces:
            buffer.add(number, piece)
            checksum = _add_to_checksum(checksum, piece)
            read = number + 1
            if len(buffer) == self.buffer_size:
                yield self._next_pack(buffer, read, checksum)
        while buffer:
            yield self._next_pack(buffer, read, checksum)
        # Not if a state was loaded meanwhile: that one is still to be read.
        if self._begin is begin:
            self._begin = START

    def _next_pack(self, buffer: _Buffer, read: int, checksum: int) -> Pack:
        """The oldest piece, so that none waits forever; then the longest that fit."""
        row, room, length = [], self.max_length, buffer.oldest()
        while length:
            row.append(buffer.take(length))
            room -= length
            length = buffer.longest(room)
        self._position = read, checksum, buffer
        return join_pieces(row)

    def _read_again(
        self, pieces: Iterator[tuple[int, Piece]], begin: dict[str, object]
    ) -> tuple[_Buffer, int]:
        """Pass what had been read, and keep what waited."""
        buffer, checksum = _Buffer(), 0
        waiting = set(begin["waiting"])
        for number, piece in islice(pieces, begin["pieces_read"]):
            checksum = _add_to_checksum(checksum, piece)
            if number in waiting:
                buffer.add(number, piece)
        if _with_waiting(checksum, begin["waiting"]) != begin["checksum"]:
            raise ValueError(
                "documents must be those of the saved state, and wait as it says; got "
                "others"
            )
        return buffer, checksum

    def state_dict(self) -> dict[str, object]:
        """Say what has been read, and which pieces of it still wait; ready for JSON."""
        if self._position is None:
            return {**self._begin, **self._settings()}
        read, checksum, buffer = self._position
        # Pieces may have come since, before some document that could not be read.
        waiting = [number for number in buffer if number < read]
        return {
            "pieces_read": read,
            "checksum": _with_waiting(checksum, waiting),
            "waiting": waiting,
            **self._settings(),
        }

    def load_state_dict(self, state: Mapping[str, object]) -> None:
        """Go on from `state`; the documents are read again from the first to there.

        Raises:
            TypeError, ValueError: `state` is no such state, or of other settings. That
                the documents are others is seen when they are read.
        """
        state = check_state(state, self._settings(), START, owner="stream")
        read = check_integer(
            "pieces_read", state["pieces_read"], minimum=0, maximum=2**62
        )
        waiting = as_stream(state["waiting"], "waiting")
        checksum = check_integer("checksum", state["checksum"], minimum=0)
        self._begin = {
            "pieces_read": read,
            "checksum": checksum,
            "waiting": waiting.tolist(),
        }
        self._position = None

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

    When the buffer is full, a pack leaves it: it begins with what has waited longest,
    and then the longest that fits joins it, as long as there is one. At the end the
    buffer is emptied: nothing is lost.

    Args:
        documents: the ids of each, read in order. A longer one is split into pieces of
            `max_length` and a rest, each of which counts as a document.
        max_length: L.
        buffer_size: how many wait at most, at least 1: the more, the fuller the packs,
            and the further documents are carried from their places.

    Returns:
        an iterable of packs, with `state_dict()` and `load_state_dict(state)`.
    """
    return PackStream(documents, max_length, buffer_size)


# Positions and masks: all of them follow from where documents start.


def position_ids_from_starts(document_starts: Ids, length: int) -> torch.Tensor:
    """Count positions from 0 in each document, int64, shape (L,).

    Args:
        document_starts: where each begins, shape (pieces,); the first is 0.
        length: L, ids of the row.
    """
    starts, length = check_starts(document_starts, length)
    positions = np.arange(length, dtype=np.int64)
    return torch.from_numpy(positions - starts[_segments(starts, length)])


def position_ids_from_tokens(
    input_ids: Ids, eos_token_id: int | None = None, bos_token_id: int | None = None
) -> torch.Tensor:
    """Count positions from 0 behind each end of a text, int64, shape (L,).

    A fallback for rows whose starts nobody wrote down. It is wrong where a text holds
    the id itself, where a document was cut before its end, and on padding with it.

    Args:
        input_ids: L ids.
        eos_token_id: what ends each text; None: nothing does.
        bos_token_id: what begins each text; None: nothing does.
    """
    ids = as_stream(input_ids, "input_ids")
    if not ids.size:
        raise ValueError("input_ids must hold at least one id, got none")
    eos_token_id, bos_token_id = _check_marks(eos_token_id, bos_token_id)
    begins = np.append(True, ids[:-1] == eos_token_id) | (ids == bos_token_id)
    return position_ids_from_starts(np.flatnonzero(begins), len(ids))


def _check_marks(eos_token_id: int | None, bos_token_id: int | None) -> list[int]:
    """Return both, -1 for what is not there."""
    given = {"eos_token_id": eos_token_id, "bos_token_id": bos_token_id}
    marks = [
        -1 if mark is None else check_integer(name, mark, minimum=0, maximum=2**32 - 1)
        for name, mark in given.items()
    ]
    if marks[0] == marks[1]:
        raise ValueError(
            "eos_token_id or bos_token_id must be given, and they must differ, or "
            f"nothing tells an end from a beginning; got {eos_token_id!r} and "
            f"{bos_token_id!r}"
        )
    return marks


def document_mask(document_starts: Ids, length: int) -> torch.Tensor:
    """Who sees whom, bool, shape (L, L): row q may look at column k where it is True.

    Causal within a document, closed across. Padding is a document like any other: the
    caller appends its start.
    """
    starts, length = check_starts(document_starts, length)
    segments = torch.from_numpy(_segments(starts, length))
    same = segments[:, None] == segments[None, :]
    return same.tril()


def cu_seqlens(document_starts: Ids, length: int) -> torch.Tensor:
    """Where documents begin and the last one ends, int32, shape (pieces + 1,).

    Kernels for rows of several lengths want it so: "cumulative sequence lengths".
    """
    starts, length = check_starts(document_starts, length)
    return torch.from_numpy(np.append(starts, length).astype(np.int32))


def flex_document_mask(
    document_starts: Ids, length: int, *, device: str | torch.device = "cpu"
) -> Callable:
    """Return `document_mask` as a function of places, never made as a table.

    For `torch.nn.attention.flex_attention.create_block_mask`, on its `device`.
    """
    starts, length = check_starts(document_starts, length)
    segments = torch.from_numpy(_segments(starts, length)).to(device)

    def may_see(batch, head, query, key):
        return (query >= key) & (segments[query] == segments[key])

    return may_see


def _segments(starts: np.ndarray, length: int) -> np.ndarray:
    """The number of the document that each place belongs to, shape (L,)."""
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=length))


class PackingCollator:
    """Make batches of packed rows: ids, labels, and positions that begin anew.

    There is no `attention_mask`: `transformers` tells documents apart by positions, but
    only where no mask is given. Labels stand where their inputs stand, and are -100 on
    the first id of each document, which nothing before it may predict, and on padding.

    Args:
        tokenizer: the wrapped one of lesson 07; it has a pad token.
        packed_sequences: None: a row is packed if it has `document_starts`. True: it
            is; without `document_starts`, documents are told apart by what the
            tokenizer puts before or behind each. False: each row is one document.
        flatten: one row of all, without padding: flash attention infers documents from
            positions only in a batch of one row.
        cu_seq_lens: add what kernels for rows of several lengths want to be told.

    Raises:
        TypeError, ValueError: a wrong argument; a tokenizer without a pad token, or, if
            `packed_sequences` is True, one that neither begins nor ends a text.
    """

    def __init__(
        self,
        tokenizer: object,
        packed_sequences: bool | None = None,
        *,
        flatten: bool = False,
        cu_seq_lens: bool = False,
    ):
        if packed_sequences is not None:
            packed_sequences = check_flag("packed_sequences", packed_sequences)
        self.packed_sequences = packed_sequences
        self.flatten = check_flag("flatten", flatten)
        self.cu_seq_lens = check_flag("cu_seq_lens", cu_seq_lens)
        # In a single row there is nothing to fill.
        self.pad_token_id = 0 if flatten else check_pad_token(tokenizer)
        if packed_sequences:
            self.bos_token_id, self.eos_token_id = document_marks(tokenizer)
            _check_marks(self.eos_token_id, self.bos_token_id)

    def __call__(self, rows: Sequence[Mapping[str, object]]) -> dict[str, torch.Tensor]:
        """Make one batch.

        Args:
            rows: packs, or mappings with `input_ids`, integers, shape (n,), n at least
                1; perhaps `document_starts`; perhaps `labels` of the same shape as the
                ids, -100 where nothing is to be scored.

        Returns:
            `input_ids`, `labels` and `position_ids`, int64, shape (B, L) each, with L
            the length of the longest row; flattened, (1, ids of all rows). With
            `cu_seq_lens` also `cu_seq_lens_q` and `cu_seq_lens_k`, int32, where the
            documents of all rows, laid end to end, begin and the last one ends, and
            `max_length_q` and `max_length_k`, the length of the longest.
        """
        optional = () if self.packed_sequences is False else ("document_starts",)
        columns = check_rows(rows, "labels", *optional)
        streams = [ids.astype(np.int64) for ids in columns["input_ids"]]
        scored = [ids.astype(np.int64) for ids in columns["labels"] or streams]
        written = columns.get("document_starts") or [None] * len(streams)
        starts = [self._starts(*row) for row in zip(streams, written, strict=True)]
        if self.flatten:
            begins = np.cumsum([0, *map(len, streams[:-1])])
            moved = [each + begin for each, begin in zip(starts, begins, strict=True)]
            streams, scored, starts = (
                [np.concatenate(each)] for each in (streams, scored, moved)
            )
        shape = len(streams), max(map(len, streams))
        input_ids = torch.full(shape, self.pad_token_id)
        labels = torch.full(shape, IGNORED)
        position_ids = torch.empty(shape, dtype=torch.int64)
        for i, ids in enumerate(streams):
            if len(ids) < shape[1]:  # padding is a document like any other
                starts[i] = np.append(starts[i], len(ids))
            position_ids[i] = position_ids_from_starts(starts[i], shape[1])
            input_ids[i, : len(ids)] = torch.from_numpy(ids)
            labels[i, : len(ids)] = torch.from_numpy(scored[i])
        labels[position_ids == 0] = IGNORED
        batch = {"input_ids": input_ids, "labels": labels, "position_ids": position_ids}
        if self.cu_seq_lens:
            begins = torch.nonzero(position_ids.flatten() == 0).flatten()
            ends = cu_seqlens(begins, position_ids.numel())
            longest = int(ends.diff().max())
            for side in ("q", "k"):
                batch |= {f"cu_seq_lens_{side}": ends, f"max_length_{side}": longest}
        return batch

    def _starts(self, ids: np.ndarray, written: np.ndarray | None) -> np.ndarray:
        if written is not None:
            return check_starts(written, len(ids))[0]
        if not self.packed_sequences:
            return np.zeros(1, dtype=np.int64)
        positions = position_ids_from_tokens(ids, self.eos_token_id, self.bos_token_id)
        return np.flatnonzero(positions.numpy() == 0)
