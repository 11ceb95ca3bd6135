"""Which documents share a pack, fast: a question of their lengths alone.

The simple best fit of `pack_on_one_screen` looks at every pack for every document. The
functions here keep the packs so that the right one is found without looking, and the
tests check that they choose the same packs.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable
from typing import Annotated, Literal, TypeAlias

import numpy as np

from course_lib.foundation import LONGEST, AtLeast, Ids, checked

RowLength: TypeAlias = Annotated[int, AtLeast(1, LONGEST)]
Strategy: TypeAlias = Literal["greedy", "first_fit", "best_fit"]


@checked
def assign_packs(
    lengths: Ids,
    max_length: RowLength,
    *,
    strategy: Strategy = "best_fit",
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
    if lengths.size and (lengths.min() < 1 or lengths.max() > max_length):
        raise ValueError(
            f"lengths must lie in 1 ... max_length {max_length}, got {lengths.min()} "
            f"... {lengths.max()}: split what is longer, drop what is empty"
        )
    lengths = lengths.astype(np.int64)
    # No pack is longer than all documents together, however much room it has.
    return STRATEGIES[strategy](lengths.tolist(), min(max_length, int(lengths.sum())))


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
    rooms: list[int] = []  # sorted, each once
    with_room: dict[int, list[int]] = defaultdict(list)  # heaps: the first pack first
    for document in _longest_first(lengths):
        place = bisect_left(rooms, lengths[document])
        if place == len(rooms):  # no pack has room, or there is none yet
            room, pack = max_length, len(packs)
            packs.append([])
        else:
            room = rooms[place]
            pack = heapq.heappop(with_room[room])
            if not with_room[room]:
                del rooms[place]
        packs[pack].append(document)
        if room := room - lengths[document]:  # a full pack is never looked for
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
