"""Answers to the exercises of lesson 9: right ones, and wrong ones with words of what they are told."""

import numpy as np

from course_lib.document_packing import assign_packs
from course_lib.exercises.document_packing import best_pack, cut_by_rows, next_pack, pack_in_order, work_waited
from course_lib.teaching.checker import FAILED, PASSED


def one_pack_after_another(lengths, max_length):
    packs, document = [], 0
    while document < len(lengths):
        pack = []
        while document < len(lengths) and sum(lengths[i] for i in pack) + lengths[document] <= max_length:
            pack.append(document)
            document += 1
        packs.append(pack)
    return packs


def loses_the_last_pack(lengths, max_length):
    packs, pack, used = [], [], 0
    for document, length in enumerate(lengths):
        if used + length > max_length:
            packs.append(pack)
            pack, used = [], 0
        pack.append(document)
        used += length
    return packs


def closes_the_last_pack_too(lengths, max_length):
    packs, pack, used = [], [], 0
    for document, length in enumerate(lengths):
        if used + length > max_length:
            packs.append(pack)
            pack, used = [], 0
        pack.append(document)
        used += length
    return [*packs, pack]


def fits_only_with_a_place_left(lengths, max_length):
    packs, room = [], 0
    for document, length in enumerate(lengths):
        if length >= room:
            packs.append([])
            room = max_length
        packs[-1].append(document)
        room -= length
    return packs


def tries_earlier_packs(lengths, max_length):
    packs, rooms = [], []
    for document, length in enumerate(lengths):
        number = 0
        while number < len(packs) and rooms[number] < length:
            number += 1
        if number == len(packs):
            packs.append([])
            rooms.append(max_length)
        packs[number].append(document)
        rooms[number] -= length
    return packs


def keeps_the_best_so_far(rooms, length):
    best = None
    for pack, room in enumerate(rooms):
        if room >= length and (best is None or room < rooms[best]):
            best = pack
    return best


def asks_whether_the_best_is_true(rooms, length):
    best = None
    for pack, room in enumerate(rooms):
        if room >= length and (not best or room < rooms[best]):
            best = pack
    return best


def lets_a_later_one_win(rooms, length):
    best = None
    for pack, room in enumerate(rooms):
        if room >= length and (best is None or room <= rooms[best]):
            best = pack
    return best


def sorts_the_rooms_themselves(rooms, length):
    rooms.sort()
    return next((pack for pack, room in enumerate(rooms) if room >= length), None)


def looks_at_every_token(lengths, row_length):
    documents = [document for document, length in enumerate(lengths) for _ in range(length)]
    rows = [set(documents[start : start + row_length]) for start in range(0, len(documents), row_length)]
    return [document for document in range(len(lengths)) if sum(document in row for row in rows) > 1]


def by_arrays(lengths, row_length):
    ends = np.cumsum(lengths)
    return np.flatnonzero((ends - lengths) // row_length != (ends - 1) // row_length)


def compares_with_the_end(lengths, row_length):
    cut, start = [], 0
    for document, length in enumerate(lengths):
        end = start + length
        if start // row_length != end // row_length:
            cut.append(document)
        start = end
    return cut


def sorted_once(waiting, max_length):
    pack, used = [0], waiting[0]
    for length, place in sorted((-length, place) for place, length in enumerate(waiting) if place > 0):
        if used - length <= max_length:
            pack.append(place)
            used -= length
    return pack


def the_longest_first(waiting, max_length):
    pack, room = [], max_length
    for place in sorted(range(len(waiting)), key=lambda place: -waiting[place]):
        if waiting[place] <= room:
            pack.append(place)
            room -= waiting[place]
    return pack


def in_order_of_arrival(waiting, max_length):
    pack, room = [], max_length
    for place, length in enumerate(waiting):
        if length <= room:
            pack.append(place)
            room -= length
    return pack


def takes_them_out(waiting, max_length):
    pack, room = [0], max_length - waiting[0]
    waiting[0] = max_length + 1
    while min(waiting) <= room:
        longest = max(length for length in waiting if length <= room)
        pack.append(waiting.index(longest))
        waiting[pack[-1]] = max_length + 1
        room -= longest
    return pack


def fitting(rooms, length):
    return [room for room in rooms if room >= length]


def by_sorting(ranks):
    *others, most = sorted(sum(n * n for n in lengths) for lengths in ranks)
    return most * len(others) - sum(others)


def by_squared_arrays(ranks):
    work = np.array([np.square(lengths).sum() for lengths in ranks])
    return int(work.max() * len(work) - work.sum())


def a_share_of_the_time(ranks):
    work = [sum(n * n for n in lengths) for lengths in ranks]
    return 1 - sum(work) / (len(work) * max(work))


def packs_of_lengths(lengths, max_length):
    packs, used = [], max_length
    for length in lengths:
        if used + length > max_length:
            packs.append([])
            used = 0
        packs[-1].append(length)
        used += length
    return packs


def opens_a_pack_for_free(lengths, max_length):
    packs, used = [], 0
    for document, length in enumerate(lengths):
        if not packs or used + length > max_length:
            packs.append([document])
            used = 0
        else:
            packs[-1].append(document)
            used += length
    return packs


def closes_what_is_full(lengths, max_length):
    packs, used = [], max_length
    for document, length in enumerate(lengths):
        if used >= max_length:
            packs.append([])
            used = 0
        packs[-1].append(document)
        used += length
    return packs


def begins_with_an_empty_pack(lengths, max_length):
    packs, used = [[]], 0
    for document, length in enumerate(lengths):
        if used + length > max_length:
            packs.append([])
            used = 0
        packs[-1].append(document)
        used += length
    return packs


def a_first_pack_without_room(lengths, max_length):
    packs, room = [[]], 0
    for document, length in enumerate(lengths):
        if length > room:
            packs.append([])
            room = max_length
        packs[-1].append(document)
        room -= length
    return packs


def with_a_place_to_spare(rooms, length):
    best = None
    for pack, room in enumerate(rooms):
        if room > length and (best is None or room < rooms[best]):
            best = pack
    return best


def the_first_with_room(rooms, length):
    for pack, room in enumerate(rooms):
        if room >= length:
            return pack
    return None


def best_by_its_truth(rooms, length):
    fitting = [pack for pack in range(len(rooms)) if rooms[pack] >= length]
    best = min(fitting, key=lambda pack: rooms[pack]) if fitting else None
    if best:
        return best
    return None


def those_that_stay_whole(lengths, row_length):
    whole, start = [], 0
    for document, length in enumerate(lengths):
        end = start + length - 1
        if start // row_length == end // row_length:
            whole.append(document)
        start += length
    return whole


def the_shortest_joins(waiting, max_length):
    pack, room = [0], max_length - waiting[0]
    for place in sorted(range(1, len(waiting)), key=lambda p: waiting[p]):
        if waiting[place] <= room:
            pack.append(place)
            room -= waiting[place]
    return pack


def one_more_document(waiting, max_length):
    room = max_length - waiting[0]
    fitting = [place for place in range(1, len(waiting)) if waiting[place] <= room]
    if not fitting:
        return [0]
    return [0, max(fitting, key=lambda place: waiting[place])]


def slowest_less_fastest(ranks):
    work = [sum(length * length for length in rank) for rank in ranks]
    return max(work) - min(work)


def busy_ranks_alone(ranks):
    work = [sum(length**2 for length in rank) for rank in ranks if rank]
    return sum(max(work) - own for own in work) if work else 0


def by_the_longest_document(ranks):
    work = [max(rank) ** 2 if rank else 0 for rank in ranks]
    return sum(max(work) - own for own in work)


ANSWERS = [
    (pack_in_order, one_pack_after_another, PASSED),
    (pack_in_order, lambda lengths, most: assign_packs(lengths, most, strategy="greedy"), PASSED),
    (pack_in_order, fits_only_with_a_place_left, "fits exactly"),
    (pack_in_order, tries_earlier_packs, "*earlier* pack"),
    (pack_in_order, loses_the_last_pack, "last entry is missing"),
    (pack_in_order, closes_the_last_pack_too, "a pack that holds nothing"),
    (pack_in_order, lambda lengths, most: assign_packs(lengths, most), FAILED),
    (best_pack, keeps_the_best_so_far, PASSED),
    (best_pack, lambda rooms, n: rooms.index(min(fitting(rooms, n))) if fitting(rooms, n) else None, PASSED),
    (best_pack, lets_a_later_one_win, "you take the last one"),
    (best_pack, sorts_the_rooms_themselves, "changes its arguments"),
    (best_pack, lambda rooms, n: min(fitting(rooms, n), default=None), "return a room"),
    (best_pack, lambda rooms, n: rooms.index(max(rooms)) if fitting(rooms, n) else None, "*emptiest*"),
    (best_pack, lambda rooms, n: rooms.index(min(fitting(rooms, n))), "ValueError"),
    (best_pack, asks_whether_the_best_is_true, FAILED),
    (cut_by_rows, looks_at_every_token, PASSED),
    (cut_by_rows, by_arrays, PASSED),
    (cut_by_rows, compares_with_the_end, "ends where its row ends"),
    (cut_by_rows, lambda lengths, row: [i for i, n in enumerate(lengths) if n > row], "longer than a row"),
    (cut_by_rows, lambda lengths, row: [lengths[i] for i in by_arrays(lengths, row)], "return lengths"),
    (cut_by_rows, lambda lengths, row: len(by_arrays(lengths, row)), "one value"),
    (cut_by_rows, lambda lengths, row: [i for i, n in enumerate(lengths) if n % row], FAILED),
    (next_pack, sorted_once, PASSED),
    (next_pack, lambda waiting, most: tuple(sorted_once(waiting, most)), PASSED),
    (next_pack, the_longest_first, "wait forever"),
    (next_pack, in_order_of_arrival, "go by age"),
    (next_pack, lambda waiting, most: sorted_once(waiting, most - 1), "fits exactly"),
    (next_pack, lambda waiting, most: sorted(sorted_once(waiting, most)), "sort the places"),
    (next_pack, lambda waiting, most: [waiting[place] for place in sorted_once(waiting, most)], FAILED),
    (next_pack, takes_them_out, "changes its arguments"),
    (work_waited, by_sorting, PASSED),
    (work_waited, by_squared_arrays, PASSED),
    (work_waited, lambda ranks: sum(max(map(sum, ranks)) - sum(n) for n in ranks), "count tokens"),
    (
        work_waited,
        lambda ranks: len(ranks) * max(sum(n) ** 2 for n in ranks) - sum(sum(n) ** 2 for n in ranks),
        "all documents together",
    ),
    (work_waited, lambda ranks: by_sorting(ranks[:2]), FAILED),
    (
        work_waited,
        lambda ranks: len(ranks) * max(sum(n * n for n in lengths) for lengths in ranks),
        "subtract the work",
    ),
    (work_waited, a_share_of_the_time, FAILED),
    (pack_in_order, packs_of_lengths, "with lengths, not with the numbers"),
    (pack_in_order, opens_a_pack_for_free, "the document that opens a pack"),
    (pack_in_order, closes_what_is_full, "only once it's full"),
    (pack_in_order, begins_with_an_empty_pack, "a pack that holds nothing"),
    (pack_in_order, a_first_pack_without_room, "a pack that holds nothing"),
    (best_pack, with_a_place_to_spare, "exactly that much room"),
    (best_pack, the_first_with_room, "the *first* pack"),
    (best_pack, best_by_its_truth, "pack 0 counts as none"),
    (cut_by_rows, those_that_stay_whole, "that stay whole"),
    (next_pack, the_shortest_joins, "the *shortest* document"),
    (next_pack, one_more_document, "after one more document"),
    (work_waited, slowest_less_fastest, "with the fastest alone"),
    (work_waited, busy_ranks_alone, "a rank without documents"),
    (work_waited, by_the_longest_document, "only at the longest document"),
]
