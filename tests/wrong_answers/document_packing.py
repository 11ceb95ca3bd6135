"""Lesson 09: what a class answers."""

from __future__ import annotations

import math

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


@wrong("best_pack", "the function changes its arguments, which")
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


@wrong("best_pack", "the function changes its arguments, which")
def modifies(rooms, length):
    best = min((i for i, r in enumerate(rooms) if r >= length), key=rooms.__getitem__, default=None)
    if best is not None:
        rooms[best] -= length
    return best


# fewest_rows: lengths, max_length


@wrong("fewest_rows", "several values where one number is wanted.")
def returns_both_bounds(lengths, max_length):
    return math.ceil(sum(lengths) / max_length), sum(2 * n > max_length for n in lengths)


@right("fewest_rows")
def sorts_out_the_long_ones(lengths, max_length):
    rows = 0
    for length in lengths:
        rows += length > max_length / 2
    return max(rows, math.ceil(sum(lengths) / max_length))


# cut_by_rows: lengths, row_length


@right("cut_by_rows")
def looks_at_every_token(lengths, row_length):
    tokens = [document for document, length in enumerate(lengths) for _ in range(length)]
    rows = [tokens[i : i + row_length] for i in range(0, len(tokens), row_length)]
    return [d for d in range(len(lengths)) if sum(d in row for row in rows) > 1]


right("cut_by_rows")(
    lambda lengths, n: np.flatnonzero((np.cumsum(lengths) - lengths) // n != (np.cumsum(lengths) - 1) // n)
)


@wrong("cut_by_rows", "one value where several are wanted.")
def only_the_first(lengths, row_length):
    start = 0
    for document, length in enumerate(lengths):
        if start // row_length != (start + length - 1) // row_length:
            return document
        start += length
    return -1


# next_pack: waiting, max_length


@wrong("next_pack", "the function changes its arguments, which")
def takes_them_out(waiting, max_length):
    pack, room = [0], max_length - waiting[0]
    waiting[0] = max_length + 1
    while min(waiting) <= room:
        longest = max(length for length in waiting if length <= room)
        pack.append(waiting.index(longest))
        waiting[pack[-1]] = max_length + 1
        room -= longest
    return pack


@right("next_pack")
def keeps_pairs(waiting, max_length):
    pairs = sorted((-length, place) for place, length in enumerate(waiting) if place)
    pack, room = [0], max_length - waiting[0]
    for length, place in pairs:
        if -length <= room:
            pack.append(place)
            room += length
    return pack
