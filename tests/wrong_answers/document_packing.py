"""Lesson 09: what a class answers."""

from __future__ import annotations

import numpy as np

from course_lib.document_packing import assign_packs
from wrong_answers import refused, right, wrong


@wrong("starts_from_ends", "(1) The next id is asked whether it is true: 0")
def looks_one_further(ids, end_id):
    starts = [0]
    for place in range(len(ids)):
        if ids[place] == end_id and ids[place + 1]:
            starts.append(place + 1)
    return starts


@right("starts_from_ends")
def walks_and_remembers(ids, end_id):
    starts, begins = [], True
    for place, id in enumerate(ids):
        if begins:
            starts.append(place)
        begins = id == end_id
    return starts


right("starts_from_ends")(lambda ids, end: [i for i in range(len(ids)) if i == 0 or ids[i - 1] == end])
right("starts_from_ends")(
    lambda ids, end: np.flatnonzero(np.concatenate([[True], np.array(ids[:-1]) == end])[: len(ids)])
)
refused("starts_from_ends", "has no order")(lambda ids, end: {i for i in range(len(ids)) if not i or ids[i - 1] == end})


@right("pack_in_order")
def one_pack_after_another(lengths, max_length):
    packs, i = [], 0
    while i < len(lengths):
        pack, used = [], 0
        while i < len(lengths) and used + lengths[i] <= max_length:
            pack.append(i)
            used += lengths[i]
            i += 1
        packs.append(pack)
    return packs


right("pack_in_order")(lambda ns, m: assign_packs(ns, m, strategy="greedy"))
right("pack_in_order")(lambda ns, m: [tuple(pack) for pack in assign_packs(ns, m, strategy="greedy")])


@wrong("best_pack", "the function changes its arguments. Whoever")
def sorts_the_rooms_themselves(rooms, length):
    rooms.sort()
    for i, room in enumerate(rooms):
        if room >= length:
            return i
    return None


@wrong("best_pack", "several values where one number is wanted.")
def returns_the_pair(rooms, length):
    fitting = [(room, i) for i, room in enumerate(rooms) if room >= length]
    return min(fitting) if fitting else None


@right("best_pack")
def smallest_pair(rooms, length):
    fitting = [(room, i) for i, room in enumerate(rooms) if room >= length]
    return min(fitting)[1] if fitting else None


@right("best_pack")
def goes_up_with_the_room(rooms, length):
    for room in range(length, max(rooms, default=0) + 1):
        if room in rooms:
            return rooms.index(room)
    return None


right("best_pack")(
    lambda rooms, n: np.where(np.array(rooms) >= n, rooms, 10**9).argmin() if any(r >= n for r in rooms) else None
)


@wrong("starts_from_ends", None)
def compares_neighbors_from_zero(ids, end_id):
    return [i for i in range(len(ids) - 1) if ids[i] == end_id and ids[i + 1] != end_id]


@right("starts_from_ends")
def removes_the_last_if_it_is_an_end(ids, end_id):
    starts = [0]
    for i, id in enumerate(ids):
        if id == end_id:
            starts.append(i + 1)
    if starts[-1] == len(ids):
        starts.pop()
    return starts


@wrong("starts_from_ends", "one value where several are wanted.")
def counts_the_ends(ids, end_id):
    return ids.count(end_id) + 1


@wrong("pack_in_order", "one value where several are wanted.")
def only_number_of_packs(lengths, max_length):
    count, room = 0, 0
    for length in lengths:
        if length > room:
            count, room = count + 1, max_length
        room -= length
    return count


@wrong("pack_in_order", "a `dict` where none is wanted: return its")
def dictionary(lengths, max_length):
    packs, number, room = {}, -1, 0
    for i, length in enumerate(lengths):
        if length > room:
            number, room = number + 1, max_length
        packs.setdefault(number, []).append(i)
        room -= length
    return packs


@wrong("best_pack", "text, a `str`, where no text is wanted.")
def empty_string_for_none(rooms, length):
    fitting = [i for i, r in enumerate(rooms) if r >= length]
    return min(fitting, key=rooms.__getitem__) if fitting else "None"


wrong("starts_from_ends", None)(
    lambda ids, end: list(range(len(ids))) if end not in ids else [i + 1 for i, x in enumerate(ids) if x == end]
)


@wrong("best_pack", "an index is beyond the end: of n entries the")
def index_error(rooms, length):
    fitting = sorted((r, i) for i, r in enumerate(rooms) if r >= length)
    return fitting[0][1]


@wrong("best_pack", "the function changes its arguments. Whoever")
def modifies(rooms, length):
    best = min((i for i, r in enumerate(rooms) if r >= length), key=rooms.__getitem__, default=None)
    if best is not None:
        rooms[best] -= length
    return best
