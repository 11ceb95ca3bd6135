"""Lesson 09: several documents in one row, without one of them seeing another.

A batch is a rectangle, documents are not. Packing puts several into one row; where each
begins is written down beside the ids, once, and positions, masks and labels all follow
from these starts, not from what tokens look like.
"""

from __future__ import annotations

import heapq
import zlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
import torch

from course_lib.foundation import (
    IGNORED,
    Ids,
    Pack,
    Piece,
    as_stream,
    check_flag,
    check_integer,
    check_state,
    encode_each,
    iterate_documents,
    join_pieces,
)

# Readers look for it here.
from course_lib.foundation import packing_report as packing_report

LONGEST = 2**31 - 1  # tokens of a pack: `cu_seqlens` are 32-bit numbers
START = {"pieces_read": 0, "checksum": 0, "waiting": []}  # of a stream of packs

# Which documents share a pack: a question of lengths alone.


def assign_packs(
    lengths: Ids, max_length: int, *, strategy: str = "best_fit"
) -> list[list[int]]:
    """Choose which documents share a pack, so that no pack is longer than `max_length`.

    Args:
        lengths: tokens of each document, shape (documents,), each 1 ... L.
        max_length: L.
        strategy: "greedy": in order, with a new pack when the next one does not fit;
            "first_fit" and "best_fit": the longest first, of equally long ones the
            earliest, each into the first pack with room, or into the fullest one.

    Returns:
        the documents of each pack, as indices, in the order in which they were put in.

    Sources: Johnson, "Near-optimal bin packing algorithms" (1973), for the strategies
    and their names; Ding et al., "Fewer Truncations Improve Language Modeling" (2024),
    for best fit on documents.
    """
    lengths, max_length = _check_lengths(lengths, max_length)
    pack = _check_strategy(strategy)
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
    # A tree over the packs: a leaf holds the room of one, a node the most room below
    # it. From the root, to the left wherever there is enough, it is a few steps to the
    # first pack that fits. Packs not begun yet stand at the right, with all their room.
    leaves = 1 << len(lengths).bit_length()
    most_room = [max_length] * (2 * leaves)
    packs: list[list[int]] = [[] for _ in lengths]
    for document in _longest_first(lengths):
        length, node = lengths[document], 1
        while node < leaves:
            node *= 2
            if most_room[node] < length:
                node += 1
        packs[node - leaves].append(document)
        most_room[node] -= length
        while node > 1:
            node //= 2
            most_room[node] = max(most_room[2 * node], most_room[2 * node + 1])
    return [pack for pack in packs if pack]


def _best_fit(lengths: list[int], max_length: int) -> list[list[int]]:
    # Packs with the same room are as good as one another, and there are at most L + 1
    # different rooms: a number with one bit for each room tells which of them some pack
    # has. Its lowest bit from n on is the fullest pack that takes n tokens more.
    packs: list[list[int]] = []
    with_room: dict[int, list[int]] = defaultdict(list)  # heaps: the first pack first
    rooms = 0
    for document in _longest_first(lengths):
        length = lengths[document]
        fitting = rooms >> length
        if fitting:
            room = length + (fitting & -fitting).bit_length() - 1
            pack = heapq.heappop(with_room[room])
            if not with_room[room]:
                rooms ^= 1 << room
        else:
            room, pack = max_length, len(packs)
            packs.append([])
        packs[pack].append(document)
        room -= length
        if room:
            heapq.heappush(with_room[room], pack)
            rooms |= 1 << room
    return packs


def _longest_first(lengths: list[int]) -> list[int]:
    return np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable").tolist()


STRATEGIES: dict[str, Callable[[list[int], int], list[list[int]]]] = {
    "greedy": _greedy,
    "first_fit": _first_fit,
    "best_fit": _best_fit,
}


def _check_strategy(name: str) -> Callable[[list[int], int], list[list[int]]]:
    if not isinstance(name, str) or name not in STRATEGIES:
        raise ValueError(f"strategy must be one of {list(STRATEGIES)}, got {name!r}")
    return STRATEGIES[name]


def _check_lengths(lengths: Ids, max_length: int) -> tuple[np.ndarray, int]:
    lengths = as_stream(lengths, "lengths")
    max_length = check_integer("max_length", max_length, minimum=1, maximum=LONGEST)
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
) -> list[Pack]:
    """Pack documents into rows of at most `max_length` ids, every token exactly once.

    A document longer than that is split into pieces of `max_length` and a rest, each a
    document of its own to the model; empty ones are left out. `packing_report` tells.

    Args:
        documents: the ids of each.
        max_length: L.
        strategy: see `assign_packs`.
        split_long: False: what is longer is truncated instead, and its tail lost.
    """
    max_length = check_integer("max_length", max_length, minimum=1, maximum=LONGEST)
    _check_strategy(strategy)
    pieces = list(_pieces(documents, max_length, check_flag("split_long", split_long)))
    lengths = np.array([len(piece.ids) for piece in pieces], dtype=np.int64)
    groups = assign_packs(lengths, max_length, strategy=strategy)
    return [join_pieces([pieces[i] for i in group]) for group in groups]


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
    max_length = check_integer("max_length", max_length, minimum=1, maximum=LONGEST)
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
    max_length = check_integer("max_length", max_length, minimum=1, maximum=LONGEST)
    buffer_size = check_integer("buffer_size", buffer_size, minimum=1, maximum=LONGEST)
    if crop not in ("shortest", "oldest"):
        raise ValueError(f"crop must be 'shortest' or 'oldest', got {crop!r}")
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
    tokenizer: object,
    *,
    max_length: int,
    text_column: str = "text",
    strategy: str = "best_fit",
    split_long: bool = True,
) -> dict[str, list]:
    """Tokenize and pack a batch of a data set, for `map(pack_examples, batched=True)`.

    Args:
        features: the batch, its columns by name.
        tokenizer: of lesson 07, wrapped or not, or one with an `end_of_text_id`.
        max_length, strategy, split_long: see `pack_documents`.
        text_column: which column holds the texts.

    Returns:
        columns `input_ids` and `document_starts`, a row for each pack. These are fewer
        than the texts: `map` needs `remove_columns`, with all columns of the data set.
    """
    if not isinstance(features, Mapping) or isinstance(features.get(text_column), str):
        raise TypeError("features must be a batch: use map with batched=True")
    if text_column not in features:
        raise ValueError(
            f"text_column must be one of {list(features)}, got {text_column!r}"
        )
    # The face that transformers expects hides the tokenizer that does the work.
    tokenizer = getattr(tokenizer, "backend_tokenizer", tokenizer)
    packs = pack_documents(
        encode_each(list(features[text_column]), tokenizer),
        max_length,
        strategy=strategy,
        split_long=split_long,
    )
    return {
        "input_ids": [pack.input_ids.tolist() for pack in packs],
        "document_starts": [pack.document_starts.tolist() for pack in packs],
    }


# Packing what has not all arrived.


class _Buffer:
    """Pieces that wait: the oldest is at hand, and the longest that is not too long."""

    def __init__(self):
        self._pieces: dict[int, Piece] = {}  # by ticket, so in the order of arrival
        self._tickets: dict[int, deque[int]] = defaultdict(deque)  # by length
        self._lengths = 0  # bit n: some piece of n ids waits

    def __len__(self) -> int:
        return len(self._pieces)

    def __iter__(self) -> Iterator[int]:
        """The tickets of what waits."""
        return iter(self._pieces)

    def add(self, ticket: int, piece: Piece) -> None:
        length = len(piece.ids)
        self._pieces[ticket] = piece
        self._tickets[length].append(ticket)
        self._lengths |= 1 << length

    def oldest(self) -> int:
        """The length of the piece that has waited longest."""
        return len(next(iter(self._pieces.values())).ids)

    def shortest(self) -> int:
        return (self._lengths & -self._lengths).bit_length() - 1

    def longest(self, room: int) -> int:
        """The greatest length that fits into `room`; 0 if none does."""
        return max(0, (self._lengths & ((2 << room) - 1)).bit_length() - 1)

    def take(self, length: int) -> Piece:
        """Remove and return the oldest piece of a length."""
        ticket = self._tickets[length].popleft()
        if not self._tickets[length]:
            self._lengths ^= 1 << length
        return self._pieces.pop(ticket)


class PackStream:
    """Packs of documents that are still arriving; made by `pack_stream`.

    Its position is that of the iterator that acted last; one that has come to its end
    leaves nothing to go on with, and the next one begins anew.
    """

    def __init__(self, documents: Iterable[Ids], max_length: int, buffer_size: int):
        self.max_length = check_integer(
            "max_length", max_length, minimum=1, maximum=LONGEST
        )
        self.buffer_size = check_integer(
            "buffer_size", buffer_size, minimum=1, maximum=LONGEST
        )
        iterate_documents(documents)  # what is no collection is refused now
        self._documents = documents
        self._is_used_up = False
        self._begin = self._position = START

    def __iter__(self) -> Iterator[Pack]:
        if iter(self._documents) is self._documents:  # yields its documents only once
            if self._is_used_up:
                raise ValueError(
                    "documents must be something that can be read again, as a list, "
                    f"got a {type(self._documents).__name__} that has been read"
                )
            self._is_used_up = True
        self._position = self._begin
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
        self._position = {"pieces_read": read, "checksum": checksum, "waiting": buffer}
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
        if checksum != begin["checksum"]:
            raise ValueError("documents must be those of the saved state, got others")
        return buffer, checksum

    def state_dict(self) -> dict[str, object]:
        """Say what has been read, and which pieces of it still wait; ready for JSON."""
        # Pieces may have come since, before some document that could not be read.
        read, waiting = self._position["pieces_read"], self._position["waiting"]
        waiting = [number for number in waiting if number < read]
        return {**self._position, "waiting": waiting, **self._settings()}

    def load_state_dict(self, state: Mapping[str, object]) -> None:
        """Go on from `state`; the documents are read again from the first to there.

        Raises:
            TypeError, ValueError: `state` is no such state, or of other settings. That
                the documents are others is seen when they are read.
        """
        state = check_state(state, self._settings(), START, owner="stream")
        read = check_integer("pieces_read", state["pieces_read"], minimum=0)
        waiting = as_stream(state["waiting"], "waiting")
        if waiting.size and not 0 <= waiting.min() <= waiting.max() < read:
            raise ValueError(f"waiting must be among the {read} pieces read")
        checksum = check_integer("checksum", state["checksum"], minimum=0)
        self._begin = {
            "pieces_read": read,
            "checksum": checksum,
            "waiting": waiting.tolist(),
        }
        self._position = self._begin

    def _settings(self) -> dict[str, int]:
        return {"max_length": self.max_length, "buffer_size": self.buffer_size}


def _add_to_checksum(checksum: int, piece: Piece) -> int:
    marked = np.append(len(piece.ids), piece.ids).astype("<u4")
    return zlib.crc32(marked.tobytes(), checksum)


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
    starts, length = _check_starts(document_starts, length)
    positions = np.arange(length, dtype=np.int64)
    return torch.from_numpy(positions - starts[_segments(starts, length)])


def position_ids_from_tokens(input_ids: Ids, eos_token_id: int) -> torch.Tensor:
    """Count positions from 0 behind each end-of-text id, int64, shape (L,).

    A fallback for rows whose starts nobody wrote down. It is wrong where a text holds
    the id itself, where a document was cut before its end, and on padding with it.
    """
    ids = as_stream(input_ids, "input_ids")
    if not ids.size:
        raise ValueError("input_ids must hold at least one id, got none")
    eos_token_id = check_integer("eos_token_id", eos_token_id, minimum=0)
    behind = np.flatnonzero(ids[:-1] == eos_token_id) + 1
    return position_ids_from_starts(np.append(0, behind), len(ids))


def document_mask(document_starts: Ids, length: int) -> torch.Tensor:
    """Who sees whom, bool, shape (L, L): row q may look at column k where it is True.

    Causal within a document, closed across. Padding is a document like any other: the
    caller appends its start.
    """
    starts, length = _check_starts(document_starts, length)
    segments = torch.from_numpy(_segments(starts, length))
    same = segments[:, None] == segments[None, :]
    return same.tril()


def cu_seqlens(document_starts: Ids, length: int) -> torch.Tensor:
    """Where documents begin and the last one ends, int32, shape (pieces + 1,).

    Kernels for rows of several lengths want it so: "cumulative sequence lengths".
    """
    starts, length = _check_starts(document_starts, length)
    return torch.from_numpy(np.append(starts, length).astype(np.int32))


def flex_document_mask(document_starts: Ids, length: int) -> Callable:
    """Return `document_mask` as a function of places, never made as a table.

    For `torch.nn.attention.flex_attention.create_block_mask`.
    """
    starts, length = _check_starts(document_starts, length)
    segments = torch.from_numpy(_segments(starts, length))

    def may_see(batch, head, query, key):
        return (query >= key) & (segments[query] == segments[key])

    return may_see


def _segments(starts: np.ndarray, length: int) -> np.ndarray:
    """The number of the document that each place belongs to, shape (L,)."""
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=length))


def _check_starts(document_starts: Ids, length: int) -> tuple[np.ndarray, int]:
    starts = as_stream(document_starts, "document_starts").astype(np.int64)
    length = check_integer("length", length, minimum=1, maximum=LONGEST)
    if not starts.size or starts[0] != 0:
        raise ValueError(
            "document_starts must begin with 0, got "
            f"{starts[:1].tolist() or 'none at all'}"
        )
    if (np.diff(starts) <= 0).any() or starts[-1] >= length:
        shown = starts.tolist() if starts.size < 20 else f"{starts[:19].tolist()} ..."
        raise ValueError(
            f"document_starts must increase and be less than length {length}, got "
            f"{shown}"
        )
    return starts, length


class PackingCollator:
    """Make batches of packed rows: ids, labels, and positions that begin anew.

    There is no `attention_mask`: `transformers` tells documents apart by positions, but
    only where no mask is given. Labels stand where their inputs stand, and are -100 on
    the first id of each document, which nothing before it can predict, and on padding.

    Args:
        tokenizer: the wrapped one of lesson 07; it has a pad token.
        packed_sequences: None: a row is packed if it has `document_starts`. True: it
            is; without `document_starts`, a document ends with each end of text. False:
            each row is one document.

    Raises:
        TypeError, ValueError: a wrong argument; a tokenizer without a pad token, or, if
            `packed_sequences` is True, without an end of text.
    """

    def __init__(self, tokenizer: object, packed_sequences: bool | None = None):
        if packed_sequences is not None:
            packed_sequences = check_flag("packed_sequences", packed_sequences)
        self.packed_sequences = packed_sequences
        self.pad_token_id = _special_id(tokenizer, "pad_token_id")
        if packed_sequences:
            self.eos_token_id = _special_id(tokenizer, "eos_token_id")

    def __call__(self, rows: Sequence[Mapping[str, object]]) -> dict[str, torch.Tensor]:
        """Make one batch.

        Args:
            rows: packs, or mappings with `input_ids`, integers, shape (n,), n at least
                1; perhaps `document_starts`; perhaps `labels` of the same shape as the
                ids, -100 where nothing is to be scored.

        Returns:
            `input_ids`, `labels` and `position_ids`, int64, shape (B, L) each, with L
            the length of the longest row.
        """
        rows = [vars(row) if isinstance(row, Pack) else row for row in rows]
        if not rows:
            raise ValueError("rows must hold at least one row, got none")
        for number, row in enumerate(rows):
            if not isinstance(row, Mapping) or "input_ids" not in row:
                raise TypeError(
                    f"rows[{number}] must have input_ids, got a {type(row).__name__}"
                )
        for name in ("document_starts", "labels"):
            have = [row.get(name) is not None for row in rows]
            ignored = name == "document_starts" and self.packed_sequences is False
            if any(have) and not all(have) and not ignored:
                raise ValueError(
                    f"{name} must be in all rows or in none, but row "
                    f"{have.index(True)} has them and row {have.index(False)} has not"
                )
        streams = [as_stream(row["input_ids"], "input_ids") for row in rows]
        length = max(map(len, streams))
        input_ids = torch.full((len(rows), length), self.pad_token_id)
        labels = torch.full_like(input_ids, IGNORED)
        position_ids = torch.zeros_like(input_ids)
        for i, (row, ids) in enumerate(zip(rows, streams, strict=True)):
            starts = self._starts(row, ids)
            if len(ids) < length:  # padding is a document like any other
                starts = np.append(starts, len(ids))
            position_ids[i] = position_ids_from_starts(starts, length)
            input_ids[i, : len(ids)] = torch.from_numpy(ids.astype(np.int64))
            labels[i, : len(ids)] = _labels_of(row, input_ids[i, : len(ids)])
        labels[position_ids == 0] = IGNORED
        return {"input_ids": input_ids, "labels": labels, "position_ids": position_ids}

    def _starts(self, row: Mapping[str, object], ids: np.ndarray) -> np.ndarray:
        if not len(ids):
            raise ValueError("input_ids must hold at least one id, got an empty row")
        if self.packed_sequences is not False:
            if row.get("document_starts") is not None:
                return _check_starts(row["document_starts"], len(ids))[0]
            if self.packed_sequences:
                positions = position_ids_from_tokens(ids, self.eos_token_id)
                return np.flatnonzero(positions.numpy() == 0)
        return np.zeros(1, dtype=np.int64)


def _labels_of(row: Mapping[str, object], ids: torch.Tensor) -> torch.Tensor:
    if row.get("labels") is None:
        return ids
    labels = as_stream(row["labels"], "labels")
    if len(labels) != len(ids):
        raise ValueError(f"labels must be {len(ids)}, as the ids, got {len(labels)}")
    return torch.from_numpy(labels.astype(np.int64))


def _special_id(tokenizer: object, name: str) -> int:
    if getattr(tokenizer, name, None) is None:
        raise ValueError(
            f"tokenizer must have {name}, got none: wrap_tokenizer gives it one"
        )
    return check_integer(name, getattr(tokenizer, name), minimum=0)
