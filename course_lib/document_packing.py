"""Lesson 09: several documents in one row, without one of them seeing another.

A batch is a rectangle, documents are not. Packing puts several into one row; where each
begins is written down beside the ids, once, and positions, masks and labels all follow
from these starts, not from what tokens look like.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch

from course_lib.foundation import (
    Ids,
    as_stream,
    check_flag,
    check_integer,
    compact,
    encode_each,
)

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
    if strategy not in STRATEGIES:
        raise ValueError(
            f"strategy must be one of {list(STRATEGIES)}, got {strategy!r}"
        )
    return STRATEGIES[strategy](lengths.tolist(), max_length)


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
    # A tree over the rooms 0 ... L: a leaf knows the first pack with exactly so much
    # room, a node the first of all below it. The first pack with room for n is then a
    # few nodes away, however many packs there are.
    size = 1 << max_length.bit_length()
    nobody = len(lengths)
    tree = [nobody] * (2 * size)
    with_room: list[list[int]] = [[] for _ in range(max_length + 1)]  # heaps of packs

    def update(room: int) -> None:
        node = size + room
        tree[node] = with_room[room][0] if with_room[room] else nobody
        while node := node >> 1:
            tree[node] = min(tree[2 * node], tree[2 * node + 1])

    def first_with(length: int) -> int:
        first, node = nobody, size + length
        first = tree[node]
        while node > 1:
            if node % 2 == 0:  # all rooms to the right of this one are larger
                first = min(first, tree[node + 1])
            node >>= 1
        return first

    packs: list[list[int]] = []
    rooms: list[int] = []
    for document in _longest_first(lengths):
        pack = first_with(lengths[document])
        if pack == nobody:
            pack = len(packs)
            packs.append([])
            rooms.append(max_length)
        else:
            heapq.heappop(with_room[rooms[pack]])
            update(rooms[pack])
        packs[pack].append(document)
        rooms[pack] -= lengths[document]
        heapq.heappush(with_room[rooms[pack]], pack)
        update(rooms[pack])
    return packs


def _best_fit(lengths: list[int], max_length: int) -> list[list[int]]:
    # Packs with the same room are as good as one another, and there are at most L + 1
    # different rooms: a number with one bit for each room tells which of them some pack
    # has. Its lowest bit from n on is the fullest pack that takes n tokens more.
    packs: list[list[int]] = []
    with_room: list[list[int]] = [[] for _ in range(max_length + 1)]  # heaps of packs
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


def _check_lengths(lengths: Ids, max_length: int) -> tuple[np.ndarray, int]:
    lengths = as_stream(lengths, "lengths")
    max_length = check_integer("max_length", max_length, minimum=1, maximum=2**31 - 1)
    if lengths.size and (lengths.min() < 1 or lengths.max() > max_length):
        raise ValueError(
            f"lengths must lie in 1 ... max_length {max_length}, got {lengths.min()} "
            f"... {lengths.max()}: split what is longer, drop what is empty"
        )
    return lengths, max_length


# Packs, with their tokens.


@dataclass(frozen=True, eq=False)
class Pack:
    """Several documents, or pieces of them, in one row.

    Attributes:
        input_ids: their ids end to end, shape (n,), n at most `max_length`.
        document_starts: where each begins, int64, shape (pieces,); the first is 0.
        documents: which document each is from, int64, shape (pieces,).
    """

    input_ids: np.ndarray
    document_starts: np.ndarray
    documents: np.ndarray

    def __len__(self) -> int:
        return len(self.input_ids)


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
    max_length = check_integer("max_length", max_length, minimum=1, maximum=2**31 - 1)
    split_long = check_flag("split_long", split_long)
    pieces = [
        (number, piece)
        for number, ids in enumerate(_check_documents(documents))
        for piece in _pieces(ids, max_length, split_long)
    ]
    lengths = np.array([len(piece) for _, piece in pieces], dtype=np.int64)
    groups = assign_packs(lengths, max_length, strategy=strategy)
    return [_join([pieces[i] for i in group]) for group in groups]


def _pieces(ids: np.ndarray, max_length: int, split_long: bool) -> list[np.ndarray]:
    if not split_long:
        ids = ids[:max_length]
    return [ids[i : i + max_length] for i in range(0, len(ids), max_length)]


def _join(pieces: list[tuple[int, np.ndarray]]) -> Pack:
    numbers, streams = zip(*pieces, strict=True)
    ends = np.cumsum([len(stream) for stream in streams], dtype=np.int64)
    return Pack(
        input_ids=np.concatenate(streams),
        document_starts=np.concatenate([[0], ends[:-1]]),
        documents=np.array(numbers, dtype=np.int64),
    )


def _check_documents(documents: Iterable[Ids]) -> Iterator[np.ndarray]:
    if isinstance(documents, str | bytes | Mapping) or not isinstance(
        documents, Iterable
    ):
        raise TypeError(
            f"documents must be several streams of ids, got {type(documents).__name__}"
        )
    for number, ids in enumerate(documents):
        yield compact(as_stream(ids, f"documents[{number}]"))


@dataclass(frozen=True)
class PackingReport:
    """What packing did with every token and every document; the counts reconcile."""

    documents: int
    documents_whole: int
    documents_split: int
    documents_truncated: int
    documents_empty: int
    tokens: int
    tokens_packed: int
    tokens_lost: int
    packs: int
    padding: int
    max_length: int

    @property
    def fill(self) -> float:
        """The share of the rectangle `packs` x `max_length` that holds tokens."""
        return (
            self.tokens_packed / (self.packs * self.max_length) if self.packs else 0.0
        )


def packing_report(
    documents: Iterable[Ids], packs: Sequence[Pack], max_length: int
) -> PackingReport:
    """Account for every token, from the documents and the packs alone.

    Raises:
        ValueError: the counts do not reconcile: a pack is too long, or holds tokens
            that its documents do not have.
    """
    max_length = check_integer("max_length", max_length, minimum=1)
    lengths = np.array(
        [len(ids) for ids in _check_documents(documents)], dtype=np.int64
    )
    packed = np.zeros_like(lengths)
    pieces = np.zeros_like(lengths)
    for number, pack in enumerate(packs):
        if len(pack) > max_length:
            raise ValueError(
                f"packs must be no longer than max_length {max_length}, but number "
                f"{number} has {len(pack)} ids"
            )
        np.add.at(packed, pack.documents, np.diff([*pack.document_starts, len(pack)]))
        np.add.at(pieces, pack.documents, 1)
    if (packed > lengths).any():
        document = int(np.argmax(packed > lengths))
        raise ValueError(
            f"packs must hold each token once, but {packed[document]} of document "
            f"{document}, which has {lengths[document]}"
        )
    whole = (packed == lengths) & (pieces == 1)
    empty = lengths == 0
    truncated = packed < lengths
    return PackingReport(
        documents=len(lengths),
        documents_whole=int(whole.sum()),
        documents_split=int(((pieces > 1) & ~truncated).sum()),
        documents_truncated=int(truncated.sum()),
        documents_empty=int(empty.sum()),
        tokens=int(lengths.sum()),
        tokens_packed=int(packed.sum()),
        tokens_lost=int((lengths - packed).sum()),
        packs=len(packs),
        padding=len(packs) * max_length - int(packed.sum()),
        max_length=max_length,
    )


def pack_examples(
    features: Mapping[str, Sequence],
    tokenizer: object,
    *,
    max_length: int,
    text_column: str = "text",
    strategy: str = "best_fit",
    split_long: bool = True,
) -> dict[str, list]:
    """Tokenize and pack one batch of a data set, for
    `dataset.map(pack_examples, batched=True, remove_columns=..., fn_kwargs=...)`.

    Args:
        features: the batch, its columns by name.
        tokenizer: of lesson 07, wrapped or not, or one with an `end_of_text_id`.
        max_length, strategy, split_long: see `pack_documents`.
        text_column: which column holds the texts.

    Returns:
        columns `input_ids` and `document_starts`, one row a pack: fewer than before,
        so the other columns must be removed.
    """
    if text_column not in features:
        raise ValueError(
            f"text_column must be one of {list(features)}, got {text_column!r}"
        )
    tokenizer = getattr(tokenizer, "backend_tokenizer", tokenizer)
    documents = encode_each(list(features[text_column]), tokenizer)
    packs = pack_documents(
        documents, max_length, strategy=strategy, split_long=split_long
    )
    return {
        "input_ids": [pack.input_ids.tolist() for pack in packs],
        "document_starts": [pack.document_starts.tolist() for pack in packs],
    }


# Packing what has not all arrived.


class PackStream:
    """Packs of a stream of documents; see `pack_stream`."""

    def __init__(self, documents: Iterable[Ids], max_length: int, buffer_size: int):
        self.max_length = check_integer(
            "max_length", max_length, minimum=1, maximum=2**31 - 1
        )
        self.buffer_size = check_integer("buffer_size", buffer_size, minimum=1)
        self._documents = documents
        self._begin: tuple[int, list[list[int]]] = (0, [])
        self._read, self._buffer = 0, None  # of the iterator that acted last

    def __iter__(self) -> Iterator[Pack]:
        self._read, self._buffer = self._begin[0], None
        return self._pack(*self._begin)

    def _pack(self, read: int, waiting: list[list[int]]) -> Iterator[Pack]:
        documents = enumerate(_check_documents(self._documents))
        buffer = _Buffer(self.max_length)
        for document, start, piece in self._read_again(documents, read, waiting):
            buffer.add(document, start, piece)
        for document, ids in documents:
            for start in range(0, len(ids), self.max_length):
                buffer.add(document, start, ids[start : start + self.max_length])
            while len(buffer) >= self.buffer_size:
                pack = _join(buffer.take())
                self._read, self._buffer = document + 1, buffer
                yield pack
            read = document + 1
        while len(buffer):
            pack = _join(buffer.take())
            self._read, self._buffer = read, buffer
            yield pack

    def _read_again(
        self,
        documents: Iterator[tuple[int, np.ndarray]],
        read: int,
        waiting: list[list[int]],
    ) -> list[tuple[int, int, np.ndarray]]:
        """Go through the documents that were read, and keep the pieces that waited."""
        places = {(document, start) for document, start in waiting}
        kept = {}
        for document, ids in islice(documents, read):
            for start in range(0, len(ids), self.max_length):
                if (document, start) in places:
                    kept[document, start] = ids[start : start + self.max_length]
        if len(kept) < len(places):
            raise ValueError(
                "documents must be those of the saved state: what waited in its buffer "
                "is not there"
            )
        return [(document, start, kept[document, start]) for document, start in waiting]

    def state_dict(self) -> dict[str, object]:
        """Say how many documents have been read, and which pieces still wait, by
        document and place; plain values, ready for JSON."""
        waiting = self._begin[1] if self._buffer is None else self._buffer.waiting()
        return {
            "documents_read": self._read,
            "waiting": waiting,
            "max_length": self.max_length,
            "buffer_size": self.buffer_size,
        }

    def load_state_dict(self, state: Mapping[str, object]) -> None:
        """Go on from `state`; `documents` must yield the same ones from the beginning.

        Raises:
            TypeError, ValueError: `state` is no such state, or of other settings.
        """
        if not isinstance(state, Mapping):
            raise TypeError(
                "state must be a dict that `state_dict` returned, got "
                f"{type(state).__name__}"
            )
        if set(state) != set(self.state_dict()):
            raise ValueError(
                f"state must have the keys {sorted(self.state_dict())}, got "
                f"{sorted(map(str, state))}"
            )
        for name in ("max_length", "buffer_size"):
            if state[name] != getattr(self, name):
                raise ValueError(
                    f"state was saved with {name}={state[name]!r}, but this stream has "
                    f"{name}={getattr(self, name)}"
                )
        read = check_integer("documents_read", state["documents_read"], minimum=0)
        waiting = [
            [check_integer("waiting", part, minimum=0) for part in place]
            for place in state["waiting"]
        ]
        self._begin = (read, waiting)
        self._read, self._buffer = read, None


def pack_stream(
    documents: Iterable[Ids], max_length: int, *, buffer_size: int
) -> PackStream:
    """Pack documents while they arrive, from a buffer of at most `buffer_size` pieces.

    A pack begins with what has waited longest, so that nothing waits forever; then the
    longest piece that still fits joins it, as long as there is one. At the end the
    buffer is emptied: nothing is lost.

    Args:
        documents: the ids of each; read once, in order. A longer one is split into
            pieces of `max_length` and a rest.
        max_length: L.
        buffer_size: pieces that wait, at least 1; the more, the fuller the packs, and
            the further documents are carried from their places.

    Returns:
        an iterable of packs, with `state_dict()` and `load_state_dict(state)`.
    """
    return PackStream(documents, max_length, buffer_size)


class _Buffer:
    """Pieces that wait: the oldest is at hand, and the longest that is not too long."""

    def __init__(self, max_length: int):
        self.max_length = max_length
        self.pieces: dict[int, tuple[int, int, np.ndarray]] = {}  # by ticket, in order
        self.of_length: list[deque[int]] = [deque() for _ in range(max_length + 1)]
        self.lengths = 0  # bit n: a piece of length n waits
        self.tickets = 0

    def __len__(self) -> int:
        return len(self.pieces)

    def add(self, document: int, start: int, piece: np.ndarray) -> None:
        self.pieces[self.tickets] = (document, start, piece)
        self.of_length[len(piece)].append(self.tickets)
        self.lengths |= 1 << len(piece)
        self.tickets += 1

    def take(self) -> list[tuple[int, np.ndarray]]:
        """Remove and return the pieces of the next pack."""
        oldest = next(iter(self.pieces))
        length = len(self.pieces[oldest][2])
        room, taken = self.max_length, []
        while length:
            # Of equally long ones the first to come is the oldest.
            ticket = self.of_length[length].popleft()
            if not self.of_length[length]:
                self.lengths ^= 1 << length
            document, _, piece = self.pieces.pop(ticket)
            taken.append((document, piece))
            room -= length
            length = (self.lengths & ((2 << room) - 1)).bit_length() - 1
            length = max(length, 0)
        return taken

    def waiting(self) -> list[list[int]]:
        return [[document, start] for document, start, _ in self.pieces.values()]


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
    eos_token_id = check_integer("eos_token_id", eos_token_id, minimum=0)
    if not ids.size:
        raise ValueError("input_ids must hold at least one id, got none")
    behind = np.flatnonzero(ids[:-1] == eos_token_id) + 1
    return position_ids_from_starts(np.concatenate([[0], behind]), len(ids))


def document_mask(document_starts: Ids, length: int) -> torch.Tensor:
    """Who sees whom, bool, shape (L, L): row q may look at column k where it is True.

    Causal within a document, closed across. Padding is a document like any other: the
    caller appends its start.
    """
    starts, length = _check_starts(document_starts, length)
    segments = torch.from_numpy(_segments(starts, length))
    positions = torch.arange(length)
    causal = positions[:, None] >= positions[None, :]
    return causal & (segments[:, None] == segments[None, :])


def cu_seqlens(document_starts: Ids, length: int) -> torch.Tensor:
    """Where documents begin, and where the last one ends, int32, shape (pieces + 1,):
    how kernels for rows of several lengths want it."""
    starts, length = _check_starts(document_starts, length)
    return torch.from_numpy(np.append(starts, length).astype(np.int32))


def flex_document_mask(document_starts: Ids, length: int) -> Callable:
    """Return `document_mask` as a function of single places, for
    `torch.nn.attention.flex_attention.create_block_mask`: it is never made as a table.
    """
    starts, length = _check_starts(document_starts, length)
    segments = torch.from_numpy(_segments(starts, length))

    def may_see(batch, head, query, key):
        return (query >= key) & (segments[query] == segments[key])

    return may_see


def _segments(starts: np.ndarray, length: int) -> np.ndarray:
    """The number of the document that each place belongs to, shape (L,)."""
    return np.searchsorted(starts, np.arange(length), side="right") - 1


def _check_starts(document_starts: Ids, length: int) -> tuple[np.ndarray, int]:
    starts = as_stream(document_starts, "document_starts").astype(np.int64)
    length = check_integer("length", length, minimum=1, maximum=2**31 - 1)
    if not starts.size or starts[0] != 0:
        raise ValueError(
            "document_starts must begin with 0, got "
            f"{starts[:1].tolist() or 'none at all'}"
        )
    if (np.diff(starts) <= 0).any() or starts[-1] >= length:
        raise ValueError(
            f"document_starts must increase and be less than length {length}, got "
            f"{starts.tolist() if starts.size < 20 else f'{starts[:19].tolist()} ...'}"
        )
    return starts, length
