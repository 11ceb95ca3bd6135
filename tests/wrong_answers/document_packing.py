"""Lesson 09: what a class answers."""

from __future__ import annotations

import functools
import math
import operator
import statistics
from itertools import accumulate, pairwise

import numpy as np
import torch

from course_lib.document_packing import assign_packs, document_mask, position_ids_from_starts
from wrong_answers import refused, right, wrong

# starts_from_ends: ids, end_id

wrong("starts_from_ends", "these are the places of the ends. A document")(
    lambda ids, end: [i for i, x in enumerate(ids) if x == end]
)
wrong("starts_from_ends", "these are the places behind the ends: they")(
    lambda ids, end: [i + 1 for i, x in enumerate(ids) if x == end]
)
wrong("starts_from_ends", "where the row ends with an end, no further")(
    lambda ids, end: [0] + [i + 1 for i, x in enumerate(ids) if x == end]
)
wrong("starts_from_ends", "a row without ids holds no documents, so none")(
    lambda ids, end: [0] + [i + 1 for i, x in enumerate(ids[:-1]) if x == end]
)
wrong("starts_from_ends", "these are the places of the end ids")(
    lambda ids, end: [0] + [i for i, x in enumerate(ids) if x == end] if ids else []
)
wrong("starts_from_ends", "a document counts although its own end is")(
    lambda ids, end: [0, *[i + 1 for i, x in enumerate(ids) if x == end][:-1]] if ids else []
)
wrong("starts_from_ends", "the first document is missing: it begins at")(
    lambda ids, end: [i for i in range(1, len(ids)) if ids[i - 1] == end]
)
wrong("starts_from_ends", "before place 0 nothing stands. `ids[-1]` is")(
    lambda ids, end: [i for i in range(len(ids)) if ids[i - 1] == end]
)
wrong("starts_from_ends", "`index` finds the first end alone, and raises")(
    lambda ids, end: [0, ids.index(end) + 1] if ids else []
)
wrong("starts_from_ends", "every id that is no end is taken for a")(
    lambda ids, end: [i for i in range(len(ids)) if ids[i] != end]
)
wrong("starts_from_ends", "a document can consist of its end alone:")(
    lambda ids, end: [i for i in range(len(ids)) if ids[i] != end and (i == 0 or ids[i - 1] == end)]
)
wrong("starts_from_ends", "these are the places behind the ends: they")(
    lambda ids, end: (np.where(np.array(ids) == end)[0] + 1).tolist()
)
wrong("starts_from_ends", "a row without ids holds no documents, so none")(
    lambda ids, end: np.concatenate([[0], np.where(np.array(ids[:-1]) == end)[0] + 1]).tolist()
)
wrong("starts_from_ends", "0, and the places of the ends themselves: a")(
    lambda ids, end: [i for i, x in enumerate(ids) if i == 0 or x == end]
)


@wrong("starts_from_ends", "a document can consist of its end alone:")
def splits_at_ends(ids, end_id):
    starts, new = [], True
    for place, id in enumerate(ids):
        if new and id != end_id:
            starts.append(place)
            new = False
        if id == end_id:
            new = True
    return starts


@wrong("starts_from_ends", "a document counts although its own end is")
def collects_only_closed_documents(ids, end_id):
    starts, start = [], 0
    for place, id in enumerate(ids):
        if id == end_id:
            starts.append(start)
            start = place + 1
    return starts


@wrong("starts_from_ends", None)
def looks_one_further(ids, end_id):
    starts = [0]
    for place in range(len(ids)):
        if ids[place] == end_id and ids[place + 1]:
            starts.append(place + 1)
    return starts


@wrong("starts_from_ends", "where the row ends with an end, no further")
def lengths_added_up(ids, end_id):
    lengths, length = [], 0
    for id in ids:
        length += 1
        if id == end_id:
            lengths.append(length)
            length = 0
    return [0, *accumulate(lengths)] if ids else []


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

# positions_of: document_starts, length

wrong("positions_of", "positions run on through the whole row: they")(lambda starts, n: list(range(n)))
wrong("positions_of", "only the first place of a document gets a 0:")(
    lambda starts, n: [i if i not in starts else 0 for i in range(n)]
)
wrong("positions_of", "the last document is missing: it ends with")(
    lambda starts, n: [p for a, b in pairwise(starts) for p in range(b - a)]
)
wrong("positions_of", "positions count from 1: the first place of a")(
    lambda starts, n: [p + 1 for a, b in pairwise([*starts, n]) for p in range(b - a)]
)
wrong("positions_of", "each document has its list here: one list for")(
    lambda starts, n: [list(range(b - a)) for a, b in pairwise([*starts, n])]
)
wrong("positions_of", "positions run on through the whole row: they")(
    lambda starts, n: [p for a, b in pairwise([*starts, n]) for p in range(a, b)]
)
wrong("positions_of", "the last place of each document is missing:")(
    lambda starts, n: [p for a, b in pairwise([*starts, n]) for p in range(b - a - 1)]
)
wrong("positions_of", "each document is one place too long.")(
    lambda starts, n: [p for a, b in pairwise([*starts, n]) for p in range(b - a + 1)]
)
wrong("positions_of", "the last place of the row is missing.")(
    lambda starts, n: [p for a, b in pairwise([*starts, n - 1]) for p in range(b - a)]
)
wrong("positions_of", "that is the number of the document in which")(
    lambda starts, n: (np.searchsorted(starts, np.arange(n), side="right") - 1).tolist()
)
wrong("positions_of", "where a document begins, the place still")(
    lambda starts, n: (np.arange(n) - np.array(starts)[np.searchsorted(starts, np.arange(n)) - 1]).tolist()
)
wrong("positions_of", "the start of the document that comes *next*")(
    lambda starts, n: (np.arange(n) - np.array([*starts, n])[np.searchsorted(starts, np.arange(n), "right")]).tolist()
)
wrong("positions_of", "an index is beyond the end: of n entries the")(
    lambda starts, n: (np.arange(n) - np.array(starts)[np.searchsorted(starts, np.arange(n), "left")]).tolist()
)


@wrong("positions_of", "positions count from 1: the first place of a")
def counts_before_it_appends(document_starts, length):
    positions, position = [], 0
    for place in range(length):
        if place in document_starts:
            position = 0
        position += 1
        positions.append(position)
    return positions


@wrong("positions_of", "positions begin again one place too late,")
def begins_again_one_late(document_starts, length):
    positions, position = [], 0
    for place in range(length):
        positions.append(position)
        position += 1
        if place in document_starts:
            position = 0
    return positions


@wrong("positions_of", "positions run on through the whole row: they")
def never_begins_again(document_starts, length):
    positions, position = [], 0
    for place in range(length):
        if place == document_starts:
            position = 0
        positions.append(position)
        position += 1
    return positions


@wrong("positions_of", "only the second start is looked at.")
def knows_the_second_start_alone(document_starts, length):
    if len(document_starts) == 1:
        return list(range(length))
    start = document_starts[1]
    return list(range(start)) + list(range(length - start))


@wrong("positions_of", "all starts up to a place are taken off, one")
def takes_starts_off_one_after_another(document_starts, length):
    positions = list(range(length))
    for start in document_starts:
        for place in range(start, length):
            positions[place] -= start
    return positions


@wrong("positions_of", "an index is beyond the end: of n entries the")
def looks_up_the_next_start(document_starts, length):
    positions, document = [], 0
    for place in range(length):
        if place == document_starts[document + 1]:
            document += 1
        positions.append(place - document_starts[document])
    return positions


@right("positions_of")
def counts_on(document_starts, length):
    positions, position = [], -1
    for place in range(length):
        position = 0 if place in document_starts else position + 1
        positions.append(position)
    return positions


right("positions_of")(position_ids_from_starts)
right("positions_of")(lambda starts, n: [p - max(s for s in starts if s <= p) for p in range(n)])

# may_look: position_ids

wrong("may_look", "a plain causal mask: each place looks at all")(
    lambda ps: torch.ones(len(ps), len(ps), dtype=torch.bool).tril()
)
wrong("may_look", "positions are compared across documents: they")(lambda ps: [[k <= q for k in ps] for q in ps])
wrong("may_look", "two things at once: documents play no part")(
    lambda ps: [[k < q for k in range(len(ps))] for q in range(len(ps))]
)
wrong("may_look", "a place looks at itself, too: its own id is")(
    lambda ps: [[q - ps[q] <= k < q for k in range(len(ps))] for q in range(len(ps))]
)
wrong("may_look", "within its document, each place also looks at")(
    lambda ps: [[q - ps[q] == k - ps[k] for k in range(len(ps))] for q in range(len(ps))]
)
wrong("may_look", "rows and columns are exchanged: row q says")(
    lambda ps: [[q - ps[q] == k - ps[k] and k >= q for k in range(len(ps))] for q in range(len(ps))]
)
wrong("may_look", "the document begins one place too late, so")(
    lambda ps: [[q - ps[q] < k <= q for k in range(len(ps))] for q in range(len(ps))]
)
wrong("may_look", "positions are compared across documents, and")(
    lambda ps: [[k <= q and ps[k] <= ps[q] for k in range(len(ps))] for q in range(len(ps))]
)
wrong("may_look", "positions are compared, which begin again in")(
    lambda ps: [[k <= q and ps[k] < ps[q] for k in range(len(ps))] for q in range(len(ps))]
)
wrong("may_look", "only as many places as the position says are")(
    lambda ps: [[k <= ps[q] for k in range(len(ps))] for q in range(len(ps))]
)
wrong("may_look", "these are the places that each one may look")(
    lambda ps: [list(range(q - p, q + 1)) for q, p in enumerate(ps)]
)
wrong("may_look", "the other way round: `True` says that q *may*")(
    lambda ps: ~document_mask(np.array([i for i, p in enumerate(ps) if p == 0]), len(ps))
)
wrong("may_look", "two things at once: all documents before may be looked at, too")(
    lambda ps: [[not (k > q) or q - ps[q] == k - ps[k] for k in range(len(ps))] for q in range(len(ps))]
)


@wrong("may_look", "a first place is counted to the document")
def counts_documents_behind_their_first_place(position_ids):
    document, documents = 0, []
    for position in position_ids:
        documents.append(document)
        if position == 0:
            document += 1
    size = len(position_ids)
    return [[documents[q] == documents[k] and k <= q for k in range(size)] for q in range(size)]


@wrong("may_look", "all rows are one and the same list, several")
def writes_into_shared_rows(position_ids):
    size = len(position_ids)
    mask = [[False] * size] * size
    for q in range(size):
        for k in range(q - position_ids[q], q + 1):
            mask[q][k] = True
    return mask


@wrong("may_look", "each row holds only what may be looked at,")
def a_row_as_long_as_it_sees(position_ids):
    return [[True] * (position + 1) for position in position_ids]


@wrong("may_look", "the document begins one place too late, so")
def stops_at_the_first_zero_behind(position_ids):
    size = len(position_ids)
    mask = np.zeros((size, size), dtype=bool)
    for q in range(size):
        for k in range(q, -1, -1):
            if position_ids[k] == 0:
                break
            mask[q, k] = True
    return mask


@wrong("may_look", "a place looks at itself, too: its own id is")
def a_range_to_the_place_before(position_ids):
    size = len(position_ids)
    mask = [[False] * size for _ in range(size)]
    for q in range(size):
        for k in range(q - position_ids[q], q):
            mask[q][k] = True
    return mask


@wrong("may_look", "all rows are joined to one list.")
def appends_joined(position_ids):
    mask = []
    for q in range(len(position_ids)):
        for k in range(len(position_ids)):
            mask.append(q - position_ids[q] <= k <= q)
    return mask


@right("may_look")
def marks_blocks(position_ids):
    size = len(position_ids)
    mask = np.zeros((size, size), dtype=bool)
    for q, position in enumerate(position_ids):
        mask[q, q - position : q + 1] = True
    return mask


right("may_look")(lambda ps: document_mask([i for i, p in enumerate(ps) if p == 0], len(ps)))
right("may_look")(lambda ps: [[int(k <= q and q - k <= ps[q]) for k in range(len(ps))] for q in range(len(ps))])

# pack_in_order: lengths, max_length


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

# best_pack: rooms, length

wrong("best_pack", "that is the fullest pack of all, whether it")(
    lambda rooms, n: min(range(len(rooms)), key=lambda i: rooms[i], default=None)
)
wrong("best_pack", "that is the *emptiest* pack, the one with the")(
    lambda rooms, n: max((i for i, r in enumerate(rooms) if r >= n), key=lambda i: rooms[i], default=None)
)
wrong("best_pack", "a pack with exactly so much room is large")(
    lambda rooms, n: min((i for i, r in enumerate(rooms) if r > n), key=lambda i: rooms[i], default=None)
)
wrong("best_pack", "where no pack has room, the answer is `None`,")(
    lambda rooms, n: min((i for i, r in enumerate(rooms) if r >= n), key=lambda i: rooms[i])
)
wrong("best_pack", "that is the room of the pack. Its number is")(
    lambda rooms, n: min((r for r in rooms if r >= n), default=None)
)
wrong("best_pack", "that is the *first* pack with room. Among")(
    lambda rooms, n: next((i for i, r in enumerate(rooms) if r >= n), None)
)
wrong("best_pack", "that is the *first* pack with room. Among")(
    lambda rooms, n: min((i for i, r in enumerate(rooms) if r >= n), default=None)
)
wrong("best_pack", "that is the fullest pack of all, whether it")(
    lambda rooms, n: int(np.argmin(rooms)) if rooms else None
)
wrong("best_pack", "that is its place in the list of those with")(
    lambda rooms, n: int(np.argmin([r for r in rooms if r >= n])) if any(r >= n for r in rooms) else None
)
wrong("best_pack", "that is its place in the list of those with")(
    lambda rooms, n: int(np.argmin([r - n for r in rooms if r >= n])) if max(rooms, default=0) >= n else None
)
wrong("best_pack", "two things at once: packs without enough room are chosen, too")(
    lambda rooms, n: min(range(len(rooms)), key=lambda i: abs(rooms[i] - n), default=None)
)
wrong("best_pack", "where no pack has room, the answer is `None`,")(
    lambda rooms, n: min((i for i, r in enumerate(rooms) if r >= n), key=lambda i: rooms[i], default=-1)
)
wrong("best_pack", "only packs with exactly so much room are")(lambda rooms, n: rooms.index(n) if n in rooms else None)
wrong("best_pack", "where no pack has room, the answer is `None`,")(
    lambda rooms, n: rooms.index(min(r for r in rooms if r >= n))
)
wrong("best_pack", None)(lambda rooms, n: min(enumerate(rooms), key=lambda pair: pair[1] >= n, default=(None,))[0])


@wrong("best_pack", "of equally full packs the *first* is wanted.")
def later_ones_win(rooms, length):
    best, least = None, math.inf
    for i, room in enumerate(rooms):
        if room >= length and room <= least:
            best, least = i, room
    return best


@wrong("best_pack", "pack 0 counts as `False`, so it is taken for")
def zero_is_false(rooms, length):
    best = None
    for i, room in enumerate(rooms):
        if room >= length and (not best or room < rooms[best]):
            best = i
    return best


@wrong("best_pack", "the first pack is taken for the best without")
def begins_with_pack_zero(rooms, length):
    best = 0
    for i, room in enumerate(rooms):
        if room >= length and room < rooms[best]:
            best = i
    return best


@wrong("best_pack", "no pack is ever chosen. If the least room so")
def smallest_room_from_zero(rooms, length):
    best, least = None, 0
    for i, room in enumerate(rooms):
        if room >= length and room < least:
            best, least = i, room
    return best


@wrong("best_pack", "the last pack with room is chosen, not the")
def forgets_to_remember_the_room(rooms, length):
    best, least = None, math.inf
    for i, room in enumerate(rooms):
        if room >= length and room < least:
            best = i
    return best


@wrong("best_pack", "the place of its room among the sorted rooms")
def counts_in_sorted_order(rooms, length):
    for i, room in enumerate(sorted(rooms)):
        if room >= length:
            return i
    return None


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

# pack_labels: input_ids, document_starts, length

wrong("pack_labels", "two things at once: the first ids of documents are scored, though")(
    lambda ids, starts, n: list(ids)
)
wrong("pack_labels", "the first id of each document is scored,")(
    lambda ids, starts, n: [*ids[:n], *[-100] * (len(ids) - n)]
)
wrong("pack_labels", "padding is scored: from place `length` on")(
    lambda ids, starts, n: [-100 if i in starts else x for i, x in enumerate(ids)]
)
wrong("pack_labels", "padding is told by its id. A document can")(
    lambda ids, starts, n: [-100 if i in starts or x == 0 else x for i, x in enumerate(ids)]
)
wrong("pack_labels", "the first place of padding is scored.")(
    lambda ids, starts, n: [-100 if i in starts or i > n else x for i, x in enumerate(ids)]
)
wrong("pack_labels", "the last id of each document is left out, not")(
    lambda ids, starts, n: [-100 if i + 1 in starts or i >= n else x for i, x in enumerate(ids)]
)
wrong("pack_labels", "the *last* id of each document is left out.")(
    lambda ids, starts, n: [-100 if i + 1 in [*starts, n] or i >= n else x for i, x in enumerate(ids)]
)
wrong("pack_labels", "the labels are shifted. `transformers` does")(
    lambda ids, starts, n: [*[-100 if i in starts or i >= n else x for i, x in enumerate(ids)][1:], -100]
)
wrong("pack_labels", "the labels are shifted. `transformers` does")(
    lambda ids, starts, n: [-100 if i + 1 in starts or i + 1 >= n else x for i, x in enumerate([*ids[1:], 0])]
)
wrong("pack_labels", "all starts are there, but padding is cut off:")(
    lambda ids, starts, n: [-100 if i in starts else x for i, x in enumerate(ids[:n])]
)
wrong("pack_labels", "*ids* that are equal to a start are left out.")(
    lambda ids, starts, n: [-100 if x in starts or i >= n else x for i, x in enumerate(ids)]
)
wrong("pack_labels", "0 stands where -100 is wanted.")(
    lambda ids, starts, n: [0 if i in starts or i >= n else x for i, x in enumerate(ids)]
)
wrong("pack_labels", "places that are not scored are left out, so")(
    lambda ids, starts, n: [x for i, x in enumerate(ids) if i not in starts and i < n]
)
wrong("pack_labels", "only the first id of the row is left out.")(
    lambda ids, starts, n: [-100 if i == 0 or i >= n else x for i, x in enumerate(ids)]
)
wrong("pack_labels", "what is scored and what is not are exchanged.")(
    lambda ids, starts, n: [x if i in starts or i >= n else -100 for i, x in enumerate(ids)]
)
wrong("pack_labels", "1 stands for what is scored: a label is the")(
    lambda ids, starts, n: [1 if i < n and i not in starts else 0 for i, x in enumerate(ids)]
)


@wrong("pack_labels", "the function changes its arguments. Whoever")
def changes_the_ids(input_ids, document_starts, length):
    for start in document_starts:
        input_ids[start] = -100
    for place in range(length, len(input_ids)):
        input_ids[place] = -100
    return input_ids


@wrong("pack_labels", "the function changes its arguments. Whoever")
def forgets_to_copy(input_ids, document_starts, length):
    labels = input_ids
    for place in [*document_starts, *range(length, len(input_ids))]:
        labels[place] = -100
    return labels


@wrong("pack_labels", "the place before each start is left out, and")
def hides_the_place_before(input_ids, document_starts, length):
    labels = input_ids[:length] + [-100] * (len(input_ids) - length)
    for start in document_starts:
        labels[start - 1] = -100
    return labels


@wrong("pack_labels", "all entries are there, in their order, with")
def adds_as_many_as_length(input_ids, document_starts, length):
    labels = input_ids[:length] + [-100] * length
    for start in document_starts:
        labels[start] = -100
    return labels


@right("pack_labels")
def torch_labels(input_ids, document_starts, length):
    labels = torch.tensor(input_ids)
    labels[document_starts] = -100
    labels[length:] = -100
    return labels


right("pack_labels")(lambda ids, starts, n: [x if i < n and i not in starts else -100 for i, x in enumerate(ids)])

# mean_over_targets: means, counts

wrong("mean_over_targets", "a mean of means: a micro-batch of one target")(
    lambda means, counts: sum(means) / len(means)
)
wrong("mean_over_targets", "a mean of means: a micro-batch of one target")(
    lambda means, counts: float(np.mean(means)) if means else math.nan
)
wrong("mean_over_targets", "a mean of means: a micro-batch of one target")(
    lambda means, counts: float(np.nanmean(means)) if any(counts) else math.nan
)
wrong("mean_over_targets", "a micro-batch without targets has NaN for a")(
    lambda means, counts: sum(m * c for m, c in zip(means, counts, strict=True)) / sum(counts)
)
wrong("mean_over_targets", "a micro-batch without targets has NaN for a")(
    lambda means, counts: (
        sum(m * c for m, c in zip(means, counts, strict=True)) / sum(counts) if sum(counts) else math.nan
    )
)
wrong("mean_over_targets", "without any targets there is nothing to")(
    lambda means, counts: sum(m * c for m, c in zip(means, counts, strict=True) if c) / sum(counts)
)
wrong("mean_over_targets", "without any targets there is no mean: NaN. A")(
    lambda means, counts: sum(m * c for m, c in zip(means, counts, strict=True) if c) / max(1, sum(counts))
)
wrong("mean_over_targets", "two things at once: it is divided by the number of micro-batches,")(
    lambda means, counts: (
        sum(m * c for m, c in zip(means, counts, strict=True) if c) / len(means) if means else math.nan
    )
)
wrong("mean_over_targets", "that is the sum of all losses, and 0 without")(
    lambda means, counts: sum(m * c for m, c in zip(means, counts, strict=True) if c)
)
wrong("mean_over_targets", "the means are divided by the number of")(
    lambda means, counts: (
        sum(m for m, c in zip(means, counts, strict=True) if c) / sum(counts) if any(counts) else math.nan
    )
)
wrong("mean_over_targets", "a mean of means: a micro-batch of one target")(
    lambda means, counts: (
        statistics.fmean([m for m, c in zip(means, counts, strict=True) if c]) if any(counts) else math.nan
    )
)
wrong("mean_over_targets", "each mean is *divided* by its number of")(
    lambda means, counts: (
        sum(m / c for m, c in zip(means, counts, strict=True) if c) / sum(counts) if any(counts) else math.nan
    )
)
wrong("mean_over_targets", "a micro-batch without targets has NaN for a")(
    lambda means, counts: float(np.average(means, weights=counts))
)
wrong("mean_over_targets", "there is no mean: NaN")(
    lambda means, counts: float(np.nansum(np.array(means) * np.array(counts))) / sum(counts) if counts else 0.0
)
wrong("mean_over_targets", "a micro-batch without targets has NaN for a")(
    lambda means, counts: float(np.dot(means, counts) / np.sum(counts)) if counts else math.nan
)


@wrong("mean_over_targets", "a micro-batch without targets has NaN for a")
def compares_with_nan(means, counts):
    total = 0
    for mean, count in zip(means, counts, strict=True):
        if mean != math.nan:
            total += mean * count
    return total / sum(counts) if sum(counts) else math.nan


@wrong("mean_over_targets", "without targets there is no mean, so NaN:")
def none_for_nothing(means, counts):
    if sum(counts) == 0:
        return None
    return sum(m * c for m, c in zip(means, counts, strict=True) if c) / sum(counts)


@wrong("mean_over_targets", "a micro-batch without targets has NaN for a")
def nan_as_soon_as_one_is_empty(means, counts):
    total = 0
    for mean, count in zip(means, counts, strict=True):
        if count == 0:
            return math.nan
        total += mean * count
    return total / sum(counts) if counts else math.nan


@wrong("mean_over_targets", "the mean so far and the next one are averaged")
def goes_on_averaging(means, counts):
    average = math.nan
    for mean, count in zip(means, counts, strict=True):
        if count:
            average = mean if math.isnan(average) else (average + mean) / 2
    return average


@wrong("mean_over_targets", "it is divided by the number of micro-batches")
def counts_only_the_batches_with_targets(means, counts):
    pairs = [(m, c) for m, c in zip(means, counts, strict=True) if c]
    return sum(m * c for m, c in pairs) / len(pairs) if pairs else math.nan


@right("mean_over_targets")
def goes_through_all(means, counts):
    total, number = 0.0, 0
    for mean, count in zip(means, counts, strict=True):
        if count > 0:
            total += mean * count
            number += count
    return total / number if number else math.nan


right("mean_over_targets")(
    lambda means, counts: float(np.average(np.nan_to_num(means), weights=counts)) if any(counts) else np.nan
)
right("mean_over_targets")(
    lambda means, counts: (
        float(torch.tensor(means).repeat_interleave(torch.tensor(counts)).mean()) if counts else math.nan
    )
)

# chat_labels: roles, turns


@wrong("chat_labels", "where the assistant begins the conversation,")
def forgets_the_first_id(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        if role == "assistant":
            labels += ids
        else:
            labels += [-100] * len(ids)
    return labels


@wrong("chat_labels", "each turn has a list of its own: one list for")
def appends_turns(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels.append(ids if role == "assistant" else [-100] * len(ids))
    return labels


@wrong("chat_labels", "the entries are right, but some are in lists")
def appends_turns_and_hides_the_first(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels.append(list(ids) if role == "assistant" else [-100] * len(ids))
    labels[0][0] = -100
    return labels


def _flat(labels):
    labels = [label for turn in labels for label in turn]
    return [-100, *labels[1:]]


def _scored(roles, turns, which):
    return _flat([ids if which(i) else [-100] * len(ids) for i, ids in enumerate(turns)])


wrong("chat_labels", "the last turn is scored, whoever wrote it.")(
    lambda roles, turns: _scored(roles, turns, lambda i: i == len(roles) - 1)
)
wrong("chat_labels", "the system's turns are scored, too: it is not")(
    lambda roles, turns: _scored(roles, turns, lambda i: roles[i] != "user")
)
wrong("chat_labels", "every second turn is taken for one of the")(
    lambda roles, turns: _scored(roles, turns, lambda i: i % 2 == 1)
)
wrong("chat_labels", "the turns of the user are scored.")(
    lambda roles, turns: _scored(roles, turns, lambda i: roles[i] == "user")
)
wrong("chat_labels", "from the assistant's first turn on everything")(
    lambda roles, turns: _scored(roles, turns, lambda i: "assistant" in roles[: i + 1])
)
wrong("chat_labels", "all turns are scored: the model would learn")(
    lambda roles, turns: _scored(roles, turns, lambda i: True)
)
wrong("chat_labels", "only the assistant's first turn is scored.")(
    lambda roles, turns: _scored(roles, turns, lambda i: "assistant" in roles and i == roles.index("assistant"))
)
wrong("chat_labels", "the end of each turn is left out. A model")(
    lambda roles, turns: _flat(
        [[*ids[:-1], -100] if r == "assistant" else [-100] * len(ids) for r, ids in zip(roles, turns, strict=True)]
    )
)
wrong("chat_labels", "the first id of each of the assistant's turns")(
    lambda roles, turns: _flat(
        [[-100, *ids[1:]] if r == "assistant" else [-100] * len(ids) for r, ids in zip(roles, turns, strict=True)]
    )
)
wrong("chat_labels", "what is not scored is left out, and the very")(
    lambda roles, turns: [x for r, ids in zip(roles, turns, strict=True) if r == "assistant" for x in ids]
)
wrong("chat_labels", "the labels are shifted. `transformers` does")(
    lambda roles, turns: [*_scored(roles, turns, lambda i: roles[i] == "assistant")[1:], -100]
)
wrong("chat_labels", "the labels are shifted to the right, and the")(
    lambda roles, turns: [-100, *_scored(roles, turns, lambda i: roles[i] == "assistant")[:-1]]
)
wrong("chat_labels", "0 stands where -100 is wanted.")(
    lambda roles, turns: _flat(
        [ids if r == "assistant" else [0] * len(ids) for r, ids in zip(roles, turns, strict=True)]
    )
)
wrong("chat_labels", "a turn that is not scored has a single -100,")(
    lambda roles, turns: _flat([ids if r == "assistant" else [-100] for r, ids in zip(roles, turns, strict=True)])
)


@wrong("chat_labels", "the function changes its arguments. Whoever")
def changes_the_first_turn(roles, turns):
    turns[0][0] = -100
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "assistant" else [-100] * len(ids)
    return labels


@wrong("chat_labels", "-100 is put before the first id, where it is")
def puts_it_in_front(roles, turns):
    labels = [-100]
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "assistant" else [-100] * len(ids)
    return labels


@wrong("chat_labels", "ids are looked up among those of the")
def looks_for_the_ids(roles, turns):
    spoken = {x for r, ids in zip(roles, turns, strict=True) if r == "assistant" for x in ids}
    labels = [x if x in spoken else -100 for ids in turns for x in ids]
    labels[0] = -100
    return labels


@wrong("chat_labels", "only the *last* turn of the assistant is")
def only_the_last_answer(roles, turns):
    last = max((i for i, role in enumerate(roles) if role == "assistant"), default=None)
    return _scored(roles, turns, lambda i: i == last)


@right("chat_labels")
def fills_a_row(roles, turns):
    labels = np.full(sum(map(len, turns)), -100)
    place = 0
    for role, ids in zip(roles, turns, strict=True):
        if role == "assistant":
            labels[place : place + len(ids)] = ids
        place += len(ids)
    labels[0] = -100
    return labels


right("chat_labels")(lambda roles, turns: _scored(roles, turns, lambda i: roles[i] == "assistant"))


# A second class


@wrong("starts_from_ends", None)
def compares_neighbors_from_zero(ids, end_id):
    return [i for i in range(len(ids) - 1) if ids[i] == end_id and ids[i + 1] != end_id]


@wrong("starts_from_ends", "a row without ids holds no documents, so none")
def begins_with_zero_and_goes_on(ids, end_id):
    starts = [0]
    for i in range(1, len(ids)):
        if ids[i - 1] == end_id:
            starts.append(i)
    return starts


@wrong("starts_from_ends", "a document counts although its own end is")
def begins_with_zero_and_appends_next(ids, end_id):
    starts = [0]
    for i, id in enumerate(ids):
        if id == end_id:
            starts.append(i + 1)
    return starts[:-1]


@right("starts_from_ends")
def removes_the_last_if_it_is_an_end(ids, end_id):
    starts = [0]
    for i, id in enumerate(ids):
        if id == end_id:
            starts.append(i + 1)
    if starts[-1] == len(ids):
        starts.pop()
    return starts


@wrong("starts_from_ends", "a document can consist of its end alone:")
def joins_text(ids, end_id):
    text = "".join(map(str, ids)).split(str(end_id))
    starts, place = [], 0
    for part in text:
        if part:
            starts.append(place)
        place += len(part) + 1
    return starts


@wrong("starts_from_ends", "one value where several are wanted.")
def counts_the_ends(ids, end_id):
    return ids.count(end_id) + 1


@wrong("starts_from_ends", "these are places of the ends themselves, that")
def forgets_to_add_one(ids, end_id):
    starts = []
    if ids:
        starts.append(0)
    for i in range(len(ids) - 1):
        if ids[i] == end_id:
            starts.append(i)
    return starts


@wrong("starts_from_ends", "one place too far: the document begins right")
def two_too_far(ids, end_id):
    return [0] + [i + 2 for i in range(len(ids) - 2) if ids[i] == end_id] if ids else []


wrong("starts_from_ends", "an end at the very first place is an end,")(
    lambda ids, end: [0] + [i + 1 for i in range(1, len(ids) - 1) if ids[i] == end] if ids else []
)
wrong("starts_from_ends", "this tells for each place whether a document")(
    lambda ids, end: [i == 0 or ids[i - 1] == end for i in range(len(ids))]
)
wrong("starts_from_ends", "these are the places behind the ends: they")(
    lambda ids, end: (torch.tensor(ids) == end).nonzero().flatten() + 1
)
wrong("starts_from_ends", "this tells for each place in which document")(
    lambda ids, end: list(accumulate(int(i > 0 and ids[i - 1] == end) for i in range(len(ids))))
)
wrong("starts_from_ends", "where the row ends with an end, no further")(
    lambda ids, end: [0] + [i + 1 for i, x in enumerate(ids) if x == end and i < len(ids)] if ids else []
)
wrong("starts_from_ends", "one place too early: the end belongs to the")(
    lambda ids, end: [0] + [i - 1 for i, x in enumerate(ids) if x == end and i > 0] if ids else []
)
wrong("starts_from_ends", "the end is not always 0: `end_id` says which")(
    lambda ids, end: [0] + [i + 1 for i, x in enumerate(ids[:-1]) if x == 0] if ids else []
)

# positions_of


@wrong("positions_of", "where a document begins, the place still")
def takes_the_previous_start(document_starts, length):
    positions, k = [], 0
    for place in range(length):
        if k + 1 < len(document_starts) and place > document_starts[k + 1]:
            k += 1
        positions.append(place - document_starts[k])
    return positions


@wrong("positions_of", "the last document is missing: it ends with")
def stops_at_last_start(document_starts, length):
    out = []
    for i in range(len(document_starts) - 1):
        for p in range(document_starts[i + 1] - document_starts[i]):
            out.append(p)
    return out


@wrong("positions_of", "positions run on through the whole row: they")
def last_document_by_length(document_starts, length):
    out = []
    for i in range(len(document_starts)):
        end = document_starts[i + 1] if i + 1 < len(document_starts) else length
        out.extend(range(document_starts[i], end))
    return out


@wrong("positions_of", "the last document is taken to be as long as")
def last_document_too_long(document_starts, length):
    out = []
    for i, start in enumerate(document_starts):
        if i + 1 < len(document_starts):
            out += list(range(document_starts[i + 1] - start))
        else:
            out += list(range(length))
    return out


@wrong("positions_of", "each document goes on to the end of the row.")
def every_document_to_the_end(document_starts, length):
    out = []
    for start in document_starts:
        out += list(range(length - start))
    return out


@wrong("positions_of", "positions run on through the whole row: they")
def overwrites_to_the_end_without_shift(document_starts, length):
    positions = [0] * length
    for start in document_starts:
        for i in range(start, length):
            positions[i] = i
    return positions


@wrong("positions_of", "documents behind the first count from 1.")
def counts_since_the_first_place(document_starts, length):
    positions = []
    count = 0
    for i in range(length):
        if i in document_starts[1:]:
            count = 1
        positions.append(count)
        count += 1
    return positions


@wrong("positions_of", "every place gets 0.")
def zero_at_length(document_starts, length):
    positions = [0]
    for i in range(1, length):
        positions.append(0 if i in document_starts else positions[i - 1])
    return positions


@wrong("positions_of", "at a start, counting only pauses: the sum")
def cumulative_ones(document_starts, length):
    ones = np.ones(length, dtype=int)
    ones[document_starts] = 0
    return np.cumsum(ones)


@wrong("positions_of", "at a start, the whole start is taken off the")
def cumulative_with_jumps(document_starts, length):
    steps = np.ones(length, dtype=int)
    steps[document_starts] = -np.array(document_starts)
    return np.cumsum(steps)


@wrong("positions_of", "that is the number of the document in which")
def number_of_starts(document_starts, length):
    return [sum(1 for s in document_starts if s <= i) for i in range(length)]


wrong("positions_of", None)(lambda starts, n: [i % len(starts) for i in range(n)])
wrong("positions_of", "these are the places of each document, in a")(
    lambda starts, n: [list(range(n))[a:b] for a, b in pairwise([*starts, n])]
)
wrong("positions_of", "each document goes on to the end of the row.")(
    lambda starts, n: [i - s for s in starts for i in range(n) if i >= s]
)
wrong("positions_of", "the *last* start is taken off everywhere:")(lambda starts, n: [i - starts[-1] for i in range(n)])
wrong("positions_of", "the last document is missing: no start")(
    lambda starts, n: np.concatenate([np.arange(b - a) for a, b in pairwise(starts)]).tolist()
)
wrong("positions_of", "two things at once: the last place of each document is missing:")(
    lambda starts, n: [p for a, b in pairwise([*starts, n]) for p in range(1, b - a)]
)
wrong("positions_of", None)(lambda starts, n: [n - 1 - i for i in range(n)])

# may_look


@wrong("may_look", None)
def first_document_only_causal(position_ids):
    n = len(position_ids)
    mask = [[False] * n for _ in range(n)]
    for q in range(n):
        for k in range(q + 1):
            mask[q][k] = True
            if position_ids[k] == 0 and k > 0:
                mask[q][k] = False
    return mask


@wrong("may_look", "the beginning of the document is bounded, its")
def resets_columns_at_zero(position_ids):
    n, mask, start = len(position_ids), [], 0
    for q in range(n):
        if position_ids[q] == 0:
            start = q
        mask.append([start <= k for k in range(n)])
    return mask


@wrong("may_look", "a place looks at itself, too: its own id is")
def forgets_the_place_itself(position_ids):
    n, mask, start = len(position_ids), [], 0
    for q in range(n):
        if position_ids[q] == 0:
            start = q
        mask.append([k in range(start, q) for k in range(n)])
    return mask


@wrong("may_look", "at the first place of a document, that before")
def starts_one_late(position_ids):
    n, mask, start = len(position_ids), [], 0
    for q in range(n):
        mask.append([start <= k <= q for k in range(n)])
        if position_ids[q] == 0:
            start = q
    return mask


@wrong("may_look", "the beginning of the document is bounded, its")
def looks_back_position_places(position_ids):
    return [[q - k <= p for k in range(len(position_ids))] for q, p in enumerate(position_ids)]


@wrong("may_look", "the document begins one place too late, so")
def looks_back_strictly(position_ids):
    return [[0 <= q - k < p for k in range(len(position_ids))] for q, p in enumerate(position_ids)]


@wrong("may_look", "a position says how many places of the")
def abs_distance(position_ids):
    return [[abs(q - k) <= p for k in range(len(position_ids))] for q, p in enumerate(position_ids)]


@wrong("may_look", "only as many places as the position says are")
def positions_below_own(position_ids):
    return [[k <= p for k in range(len(position_ids))] for p in position_ids]


@wrong("may_look", "two things at once: places with the same position are taken for one")
def same_position(position_ids):
    return [[a == b for b in position_ids] for a in position_ids]


@wrong("may_look", "two things at once: all documents before may be looked at, too")
def differences(position_ids):
    n = len(position_ids)
    return [[position_ids[q] - position_ids[k] == q - k or k < q for k in range(n)] for q in range(n)]


@wrong("may_look", "a place may look at itself alone.")
def identity(position_ids):
    return np.eye(len(position_ids), dtype=bool)


@wrong("may_look", "0 and minus infinity are what is added to")
def minus_infinity(position_ids):
    n = len(position_ids)
    return [[0.0 if q - position_ids[q] <= k <= q else -math.inf for k in range(n)] for q in range(n)]


@wrong("may_look", "positions are compared across documents, and")
def numpy_no_block(position_ids):
    p = np.array(position_ids)
    return np.tril(p[:, None] >= p[None, :])


@wrong("may_look", "two things at once: all documents before may be looked at, too")
def numpy_cumsum_no_causal(position_ids):
    d = np.cumsum(np.array(position_ids) == 0)
    return d[:, None] >= d[None, :]


@wrong("may_look", "rows and columns are exchanged: row q says")
def triangle_up(position_ids):
    d = np.cumsum(np.array(position_ids) == 0)
    return np.triu(d[:, None] == d[None, :])


@wrong("may_look", None)
def single_row(position_ids):
    return [True for _ in position_ids]


@wrong("may_look", "there is a mask for each document. One for")
def block_of_each(position_ids):
    blocks, block = [], []
    for p in position_ids:
        if p == 0 and block:
            blocks.append(np.tril(np.ones((len(block), len(block)), dtype=bool)))
            block = []
        block.append(p)
    blocks.append(np.tril(np.ones((len(block), len(block)), dtype=bool)))
    return blocks


# pack_in_order


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


# best_pack


@wrong("best_pack", "only the fullest pack of all is asked whether")
def first_smallest_of_all_if_it_fits(rooms, length):
    best = rooms.index(min(rooms)) if rooms else None
    return best if best is not None and rooms[best] >= length else None


@wrong("best_pack", "that is the *emptiest* pack, the one with the")
def most_room(rooms, length):
    best = rooms.index(max(rooms)) if rooms else None
    return best if best is not None and rooms[best] >= length else None


@wrong("best_pack", "where no pack has room, the answer is `None`,")
def sorted_pairs_reversed(rooms, length):
    fitting = sorted(((r, i) for i, r in enumerate(rooms) if r >= length), reverse=True)
    return fitting[-1][1] if fitting else 0


@wrong("best_pack", "the emptiest pack is chosen, of equally full")
def sorted_pairs_largest(rooms, length):
    fitting = sorted((r, i) for i, r in enumerate(rooms) if r >= length)
    return fitting[-1][1] if fitting else None


@wrong("best_pack", "that is its place in the list of those with")
def index_of_room_among_fitting(rooms, length):
    fitting = [r for r in rooms if r >= length]
    return fitting.index(min(fitting)) if fitting else None


@wrong("best_pack", "a pack that fits exactly is chosen rightly,")
def returns_at_first_exact(rooms, length):
    for i, room in enumerate(rooms):
        if room == length:
            return i
    for i, room in enumerate(rooms):
        if room > length:
            return i
    return None


@wrong("best_pack", "packs that are too small are looked at, or")
def fits_upside_down(rooms, length):
    fitting = [i for i, r in enumerate(rooms) if r <= length]
    return min(fitting, key=lambda i: rooms[i]) if fitting else None


@wrong("best_pack", "two things at once: packs that are too small are looked at, or that")
def largest_below(rooms, length):
    fitting = [i for i, r in enumerate(rooms) if r <= length]
    return max(fitting, key=lambda i: rooms[i]) if fitting else None


@wrong("best_pack", "where no pack has room, the answer is `None`,")
def new_number_when_none(rooms, length):
    fitting = [i for i, r in enumerate(rooms) if r >= length]
    return min(fitting, key=lambda i: rooms[i]) if fitting else len(rooms)


@wrong("best_pack", "that is the room that would be left in it.")
def least_left_returns_left(rooms, length):
    left = [r - length for r in rooms if r - length >= 0]
    return min(left) if left else None


@wrong("best_pack", "that is the fullest pack of all, whether it")
def negative_left_allowed(rooms, length):
    left = [r - length for r in rooms]
    return left.index(min(left)) if left else None


@wrong("best_pack", "that is the *first* pack with room. Among")
def break_after_first(rooms, length):
    best = None
    for i, room in enumerate(rooms):
        if room >= length:
            best = i
            break
    return best


@wrong("best_pack", "a room is compared with the *number* of the")
def compares_with_index(rooms, length):
    best = None
    for i, room in enumerate(rooms):
        if room >= length and (best is None or room < best):
            best = i
    return best


@wrong("best_pack", "that is the room of the pack. Its number is")
def keeps_the_room(rooms, length):
    best = None
    for room in rooms:
        if room >= length and (best is None or room < best):
            best = room
    return best


@wrong("best_pack", "that is the *emptiest* pack, the one with the")
def greater_equal_reversed_max(rooms, length):
    best = None
    for i, room in enumerate(rooms):
        if room >= length and (best is None or room > rooms[best]):
            best = i
    return best


@wrong("best_pack", "only the first pack is looked at: is the")
def returns_inside_loop(rooms, length):
    best = None
    for i, room in enumerate(rooms):
        if room >= length and (best is None or room < rooms[best]):
            best = i
        return best
    return best


@wrong("best_pack", "text, a `str`, where no text is wanted.")
def empty_string_for_none(rooms, length):
    fitting = [i for i, r in enumerate(rooms) if r >= length]
    return min(fitting, key=rooms.__getitem__) if fitting else "None"


wrong("best_pack", "two things at once: all packs with room are returned")(
    lambda rooms, n: [i for i, r in enumerate(rooms) if r >= n]
)
wrong("best_pack", "two things at once: whether there is such a pack is returned, not its")(
    lambda rooms, n: any(r >= n for r in rooms)
)
wrong("best_pack", "that is the *first* pack with room. Among")(
    lambda rooms, n: min([i for i, r in enumerate(rooms) if r >= n] or [None])
)

# pack_labels


@wrong("pack_labels", "the last id before the padding counts as")
def off_by_one_padding(input_ids, document_starts, length):
    labels = list(input_ids)
    for s in document_starts:
        labels[s] = -100
    for i in range(length - 1, len(labels)):
        labels[i] = -100
    return labels


@wrong("pack_labels", "all of the padding has a single -100, and so")
def pads_by_count_from_the_front(input_ids, document_starts, length):
    labels = list(input_ids)
    for s in document_starts:
        labels[s] = -100
    labels[length:] = [-100]
    return labels


@wrong("pack_labels", "the labels are shifted. `transformers` does")
def shifts_and_masks_ends(input_ids, document_starts, length):
    labels = [*list(input_ids[1:]), -100]
    for s in document_starts[1:]:
        labels[s - 1] = -100
    for i in range(length - 1, len(labels)):
        labels[i] = -100
    return labels


@wrong("pack_labels", "the labels are shifted before places are left")
def shifts_but_masks_at_starts(input_ids, document_starts, length):
    labels = [*list(input_ids[1:]), -100]
    for s in document_starts:
        labels[s] = -100
    for i in range(length, len(labels)):
        labels[i] = -100
    return labels


@wrong("pack_labels", "`insert` makes room: all that stands behind")
def inserts(input_ids, document_starts, length):
    labels = list(input_ids)
    for s in document_starts:
        labels.insert(s, -100)
    labels[length:] = [-100] * (len(labels) - length)
    return labels


@wrong("pack_labels", "all starts are there, but padding is cut off:")
def removes_padding_then_masks(input_ids, document_starts, length):
    labels = input_ids[:length]
    for s in document_starts:
        labels[s] = -100
    return labels


@wrong("pack_labels", "the last entry is missing in every one of")
def pads_to_wrong_length(input_ids, document_starts, length):
    labels = [-100 if i in document_starts else x for i, x in enumerate(input_ids)]
    return labels[:length] + [-100] * (len(input_ids) - length - 1)


@wrong("pack_labels", "padding is scored: from place `length` on")
def zero_padding_label(input_ids, document_starts, length):
    return [-100 if i in document_starts else (x if i < length else 0) for i, x in enumerate(input_ids)]


@wrong("pack_labels", "100 stands where -100 is wanted.")
def plus_100(input_ids, document_starts, length):
    return [100 if i in document_starts or i >= length else x for i, x in enumerate(input_ids)]


@wrong("pack_labels", "-1 stands where -100 is wanted.")
def minus_one(input_ids, document_starts, length):
    return [-1 if i in document_starts or i >= length else x for i, x in enumerate(input_ids)]


@wrong("pack_labels", "each first id is left out only behind the")
def skips_the_first_start(input_ids, document_starts, length):
    return [-100 if i in document_starts[1:] or i >= length else x for i, x in enumerate(input_ids)]


@wrong("pack_labels", "`True` and `False` tell what is scored: a")
def returns_mask(input_ids, document_starts, length):
    return [i not in document_starts and i < length for i in range(len(input_ids))]


@wrong("pack_labels", "each document has a list of its own, and what")
def only_labels_of_documents(input_ids, document_starts, length):
    ends = [*document_starts[1:], length]
    return [input_ids[a + 1 : b] for a, b in zip(document_starts, ends, strict=True)]


@wrong("pack_labels", "all starts are there, but padding is cut off:")
def minus_starts(input_ids, document_starts, length):
    labels = []
    for a, b in pairwise([*document_starts, length]):
        labels += [-100, *input_ids[a + 1 : b]]
    return labels


@wrong("pack_labels", "the second id of each document is left out,")
def masks_the_place_behind(input_ids, document_starts, length):
    labels = list(input_ids)
    for s in document_starts:
        if s + 1 < len(labels):
            labels[s + 1] = -100
    labels[length:] = [-100] * (len(input_ids) - length)
    return labels


@wrong("pack_labels", "padding behind the last id that is not 0 is")
def strips_zeros(input_ids, document_starts, length):
    labels = list(input_ids)
    while labels and labels[-1] == 0:
        labels.pop()
    labels += [-100] * (len(input_ids) - len(labels))
    for s in document_starts:
        labels[s] = -100
    return labels


# mean_over_targets

wrong("mean_over_targets", "that is the sum of the means. Weight each by")(lambda ms, cs: sum(ms))
wrong("mean_over_targets", "the sum of all losses is divided by the")(
    lambda ms, cs: sum(m * c for m, c in zip(ms, cs, strict=False)) / len(ms)
)
wrong("mean_over_targets", "a mean of means, in which a micro-batch")(
    lambda ms, cs: sum(np.nan_to_num(ms)) / len(ms) if ms else math.nan
)
wrong("mean_over_targets", "a mean of means: a micro-batch of one target")(
    lambda ms, cs: np.nanmean(np.array(ms)) if any(cs) else math.nan
)
wrong("mean_over_targets", "it is divided by the number of micro-batches")(
    lambda ms, cs: np.nanmean([m * c for m, c in zip(ms, cs, strict=False)]) if any(cs) else math.nan
)
wrong("mean_over_targets", "that is the median of the means: add up the")(
    lambda ms, cs: float(np.median([m for m, c in zip(ms, cs, strict=False) if c])) if any(cs) else math.nan
)
wrong("mean_over_targets", "where all counts are 0, there is no mean, so")(
    lambda ms, cs: sum(m * c for m, c in zip(ms, cs, strict=False) if c) / sum(c for c in cs if c) if ms else math.nan
)
wrong("mean_over_targets", "a micro-batch of a single target is not added.")(
    lambda ms, cs: sum(m * c for m, c in zip(ms, cs, strict=False) if c > 1) / sum(cs) if any(cs) else math.nan
)
wrong("mean_over_targets", "a micro-batch without targets has NaN for a")(
    lambda ms, cs: sum(m * c for m, c in zip(ms, cs, strict=False) if m) / sum(cs) if any(cs) else math.nan
)
wrong("mean_over_targets", "a micro-batch without targets has NaN for a")(
    lambda ms, cs: sum(m * c / sum(cs) for m, c in zip(ms, cs, strict=False)) if any(cs) else math.nan
)
wrong("mean_over_targets", "without any targets there is no mean: NaN. A")(
    lambda ms, cs: sum(m * c / sum(cs) for m, c in zip(ms, cs, strict=False) if c)
)
wrong("mean_over_targets", None)(lambda ms, cs: sum(ms) * len(ms) / sum(cs))
wrong("mean_over_targets", "`//` rounds down to a whole number: a mean")(
    lambda ms, cs: sum(m * c for m, c in zip(ms, cs, strict=False) if c) // sum(cs) if any(cs) else math.nan
)
wrong("mean_over_targets", "rounded: return the mean as it is.")(
    lambda ms, cs: round(sum(m * c for m, c in zip(ms, cs, strict=False) if c) / sum(cs), 2) if any(cs) else math.nan
)


@wrong("mean_over_targets", "a mean of means, in which a micro-batch")
def replaces_nan_by_zero_and_divides_by_batches(means, counts):
    if not means:
        return math.nan
    total = 0
    for mean, _count in zip(means, counts, strict=True):
        if math.isnan(mean):
            mean = 0
        total += mean
    return total / len(means)


@wrong("mean_over_targets", "without any targets there is no mean: NaN. A")
def infinite(means, counts):
    total = sum(m * c for m, c in zip(means, counts, strict=True) if c)
    try:
        return total / sum(counts)
    except ZeroDivisionError:
        return 0


@wrong("mean_over_targets", "it is divided by the number of micro-batches")
def skips_and_counts(means, counts):
    total, number = 0, 0
    for mean, count in zip(means, counts, strict=True):
        if count == 0:
            continue
        total += mean * count
        number += 1
    return total / number if number else math.nan


@wrong("mean_over_targets", "it ends with the first micro-batch without")
def breaks_at_nan(means, counts):
    total, number = 0, 0
    for mean, count in zip(means, counts, strict=True):
        if count == 0:
            break
        total += mean * count
        number += count
    return total / number if number else math.nan


@wrong("mean_over_targets", "text, a `str`, where no text is wanted.")
def text_nan(means, counts):
    if not any(counts):
        return "nan"
    return sum(m * c for m, c in zip(means, counts, strict=True) if c) / sum(counts)


# chat_labels


@wrong("chat_labels", "a turn counts as the assistant's only behind")
def no_zip_index_error(roles, turns):
    labels = []
    for i in range(len(turns)):
        if roles[i] == "assistant" and roles[i - 1] == "user":
            labels += turns[i]
        else:
            labels += [-100] * len(turns[i])
    labels[0] = -100
    return labels


@wrong("chat_labels", "the end of a turn that others wrote is")
def end_of_others_scored(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "assistant" else [-100] * (len(ids) - 1) + [ids[-1]]
    labels[0] = -100
    return labels


@wrong("chat_labels", "the end of each turn is left out. A model")
def nine_is_unscored(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += [x if role == "assistant" and x != 9 else -100 for x in ids]
    labels[0] = -100
    return labels


@wrong("chat_labels", "no turn is scored (is the role spelled as in")
def model_role(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "model" else [-100] * len(ids)
    labels[0] = -100
    return labels


@wrong("chat_labels", "no turn is scored (is the role spelled as in")
def capital_role(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "Assistant" else [-100] * len(ids)
    return labels


@wrong("chat_labels", "two things at once: the labels are shifted within each turn")
def shifted_inside_turns(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += [*ids[1:], -100] if role == "assistant" else [-100] * len(ids)
    return labels


@wrong("chat_labels", "the last turn is scored, whoever wrote it.")
def last_turn_always(roles, turns):
    labels = [-100] * sum(len(ids) for ids in turns[:-1]) + turns[-1]
    labels[0] = -100
    return labels


@wrong("chat_labels", "only a last turn of the assistant's is scored.")
def last_turn_if_assistant(roles, turns):
    labels = [-100] * sum(len(ids) for ids in turns)
    if roles[-1] == "assistant":
        labels[-len(turns[-1]) :] = turns[-1]
    labels[0] = -100
    return labels


@wrong("chat_labels", "two things at once: all turns from the assistant's first on are")
def from_first_assistant(roles, turns):
    first = roles.index("assistant")
    labels = [-100] * sum(len(ids) for ids in turns[:first])
    for ids in turns[first:]:
        labels += ids
    return labels


@wrong("chat_labels", "the first id of each of the assistant's turns")
def first_of_each_turn_unscored_everywhere(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += [-100, *ids[1:]] if role == "assistant" else [-100] * len(ids)
    return labels


@wrong("chat_labels", "all turns are scored: the model would learn")
def everything_but_first(roles, turns):
    labels = [x for ids in turns for x in ids]
    labels[0] = -100
    return labels


@wrong("chat_labels", "the first place is missing, so that all")
def drops_first(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "assistant" else [-100] * len(ids)
    return labels[1:]


@wrong("chat_labels", "100 stands where -100 is wanted.")
def a_hundred(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "assistant" else [100] * len(ids)
    labels[0] = 100
    return labels


@wrong("chat_labels", "the function changes its arguments. Whoever")
def aliases_the_first_turn(roles, turns):
    labels = turns[0] if roles[0] == "assistant" else [-100] * len(turns[0])
    for role, ids in zip(roles[1:], turns[1:], strict=True):
        labels += ids if role == "assistant" else [-100] * len(ids)
    labels[0] = -100
    return labels


@wrong("chat_labels", "the user's turns are scored, too.")
def user_scored_too(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role in ("assistant", "user") else [-100] * len(ids)
    labels[0] = -100
    return labels


@wrong("chat_labels", "turns are taken in pairs of a question and an")
def pairs_of_turns(roles, turns):
    labels = []
    for question, answer in zip(turns[::2], turns[1::2], strict=False):
        labels += [-100] * len(question) + answer
    return labels


@wrong("chat_labels", "the result begins right, and ends too early:")
def returns_in_the_first_round(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "assistant" else [-100] * len(ids)
        labels[0] = -100
        return labels


# A third class


@wrong("starts_from_ends", "two things at once: two ends in a row are two ends: a document can")
def appends_when_next_exists(ids, end_id):
    starts = [0]
    for i in range(len(ids) - 1):
        if ids[i] == end_id and ids[i + 1] != end_id:
            starts.append(i + 1)
    return starts


@wrong("starts_from_ends", "where the row ends with an end, no further")
def searches_on(ids, end_id):
    starts, place = [0], 0
    while end_id in ids[place:]:
        place = ids.index(end_id, place) + 1
        starts.append(place)
    return starts


@wrong("starts_from_ends", "two things at once: a document counts although its own end is")
def cuts_the_last_whatever_it_is(ids, end_id):
    starts = [0]
    for i, x in enumerate(ids):
        if x == end_id:
            starts.append(i + 1)
    if len(starts) > 1:
        starts.pop()
    return starts


@wrong("starts_from_ends", "two things at once: one place too early: the end belongs to the")
def compares_with_the_next(ids, end_id):
    return [i for i in range(len(ids) - 1) if ids[i + 1] == end_id]


@wrong("starts_from_ends", "a row without an end inside is one document,")
def includes_zero_only_if_an_end(ids, end_id):
    places = [i + 1 for i, x in enumerate(ids[:-1]) if x == end_id]
    return [0, *places] if places else []


@wrong("starts_from_ends", "these are the lengths of the documents that")
def cumulative_lengths(ids, end_id):
    starts, length = [], 0
    for x in ids:
        length += 1
        if x == end_id:
            starts.append(length)
            length = 0
    return starts


@wrong("starts_from_ends", "this tells where each document begins *and*")
def pairs(ids, end_id):
    starts = [0] + [i + 1 for i, x in enumerate(ids[:-1]) if x == end_id]
    return [(a, b) for a, b in pairwise([*starts, len(ids)])] if ids else []


wrong("starts_from_ends", "a document begins behind each *end*; here one")(
    lambda ids, end: [0] + [i for i in range(1, len(ids)) if ids[i - 1] != end] if ids else []
)
wrong("starts_from_ends", None)(
    lambda ids, end: list(range(len(ids))) if end not in ids else [i + 1 for i, x in enumerate(ids) if x == end]
)
wrong("starts_from_ends", "the first document is missing: it begins at")(
    lambda ids, end: (np.flatnonzero(np.array(ids[:-1]) == end) + 1).tolist()
)

# positions_of


@wrong("positions_of", "for each place there is a position for")
def index_of_start(document_starts, length):
    positions = []
    for i in range(length):
        for s in document_starts:
            if s <= i:
                positions.append(i - s)
    return positions


@wrong("positions_of", "positions run on through the whole row: they")
def first_start_at_or_before(document_starts, length):
    positions = []
    for i in range(length):
        for s in document_starts:
            if s <= i:
                positions.append(i - s)
                break
    return positions


@wrong("positions_of", "the first document counts from 1.")
def next_in_line(document_starts, length):
    positions, position, starts = [], 0, document_starts[1:]
    for i in range(length):
        if starts and i == starts[0]:
            position = 0
            starts = starts[1:]
        else:
            position += 1
        positions.append(position)
    return positions


@wrong("positions_of", "the function changes its arguments. Whoever")
def pops_the_starts(document_starts, length):
    positions, position = [], 0
    for i in range(length):
        if document_starts and i == document_starts[0]:
            document_starts.pop(0)
            position = 0
        positions.append(position)
        position += 1
    return positions


@wrong("positions_of", "only the length of the document right before")
def subtracts_the_previous_length(document_starts, length):
    positions = list(range(length))
    for a, b in pairwise(document_starts):
        for i in range(b, length):
            positions[i] = i - (b - a)
    return positions


@wrong("positions_of", "every place gets 0.")
def off_by_one_after_reset(document_starts, length):
    positions, position = [], 0
    for i in range(length):
        positions.append(position)
        position = 0 if i + 1 in document_starts else position
    return positions


@wrong("positions_of", "positions begin again one place too early.")
def resets_before_the_start(document_starts, length):
    positions, position = [], 0
    for i in range(length):
        if i + 1 in document_starts:
            position = 0
        positions.append(position)
        position += 1
    return positions


@wrong("positions_of", "all documents are taken to be equally long:")
def divides(document_starts, length):
    return [i % (length // len(document_starts)) for i in range(length)]


wrong("positions_of", "the row is one place too long.")(
    lambda starts, n: [p for a, b in zip(starts, [*starts[1:], n + 1], strict=True) for p in range(b - a)]
)
wrong("positions_of", "starts are taken for lengths: a document is")(
    lambda starts, n: functools.reduce(operator.iadd, [list(range(s)) for s in starts], [])
)
wrong("positions_of", "starts, and the row's end, are taken for")(
    lambda starts, n: [p for size in [*starts, n] for p in range(size)]
)
wrong("positions_of", "positions run on through the whole row: they", natural=False)(
    lambda starts, n: torch.arange(n) - torch.tensor(starts).repeat_interleave(n)[:n]
)

# may_look


@wrong("may_look", "a plain causal mask: each place looks at all")
def compares_segments_strictly(position_ids):
    segments = np.cumsum([p == 0 for p in position_ids])
    n = len(position_ids)
    return [[bool(segments[q] > segments[k]) or k <= q for k in range(n)] for q in range(n)]


@wrong("may_look", "as many places as the position says are open,")
def looks_up_to_its_position(position_ids):
    n = len(position_ids)
    return [[k < position_ids[q] for k in range(n)] for q in range(n)]


@wrong("may_look", "rows and columns are exchanged: row q says")
def swaps_q_and_k(position_ids):
    n = len(position_ids)
    mask = [[False] * n for _ in range(n)]
    for q in range(n):
        for k in range(q - position_ids[q], q + 1):
            mask[k][q] = True
    return mask


@wrong("may_look", "there is text in the rows, no `True` and")
def strings(position_ids):
    n = len(position_ids)
    return [["True" if q - position_ids[q] <= k <= q else "False" for k in range(n)] for q in range(n)]


@wrong("may_look", "the last document's start is taken for that")
def starts_from_max(position_ids):
    starts = [i for i, p in enumerate(position_ids) if p == 0]
    n = len(position_ids)
    return [[starts[-1] <= k <= q for k in range(n)] for q in range(n)]


@wrong("may_look", "a first place looks at itself alone, but")
def crosses_boundary_check(position_ids):
    n = len(position_ids)
    return [[(k <= q and position_ids[q] != 0) or k == q for k in range(n)] for q in range(n)]


@wrong("may_look", "the document begins one place too late, so")
def any_zero_between(position_ids):
    n = len(position_ids)
    return [[k <= q and 0 not in position_ids[k : q + 1] for k in range(n)] for q in range(n)]


@wrong("may_look", "at the first place of a document, that before")
def any_zero_between_open(position_ids):
    n = len(position_ids)
    return [[k <= q and 0 not in position_ids[k + 1 : q] for k in range(n)] for q in range(n)]


@wrong("may_look", "within its document, each place also looks at")
def not_causal_within(position_ids):
    segments = list(accumulate(p == 0 for p in position_ids))
    return [[a == b for a in segments] for b in segments]


@wrong("may_look", "entries are missing. Those that are there are")
def rows_only_for_starts(position_ids):
    n = len(position_ids)
    return [[q - position_ids[q] <= k <= q for k in range(n)] for q in range(n) if position_ids[q] == 0]


# pack_in_order


# best_pack


@wrong("best_pack", "that is the *emptiest* pack, the one with the")
def sorted_and_index(rooms, length):
    for room in sorted(rooms, reverse=True):
        if room >= length:
            return rooms.index(room)
    return None


@wrong("best_pack", "of equally full packs the *first* is wanted.")
def last_index(rooms, length):
    fitting = [r for r in rooms if r >= length]
    if not fitting:
        return None
    return len(rooms) - 1 - rooms[::-1].index(min(fitting))


@wrong("best_pack", "where no pack has room, the answer is `None`,")
def returns_false(rooms, length):
    fitting = [r for r in rooms if r >= length]
    return rooms.index(min(fitting)) if fitting else False


@wrong("best_pack", "packs are counted from 1.")
def count_from_one(rooms, length):
    fitting = [r for r in rooms if r >= length]
    return rooms.index(min(fitting)) + 1 if fitting else None


@wrong("best_pack", "a pack with exactly so much room is large")
def best_starts_large(rooms, length):
    best, least = None, 10
    for i, room in enumerate(rooms):
        if length < room < least:
            best, least = i, room
    return best


@wrong("best_pack", "the least that is left over begins with")
def never_updates_least_and_strict(rooms, length):
    best, left = None, length
    for i, room in enumerate(rooms):
        if 0 <= room - length < left:
            best, left = i, room - length
    return best


@wrong("best_pack", "packs without enough room are set to 0, which")
def numpy_argmin_masked_zero(rooms, length):
    rooms = np.array(rooms)
    if not (rooms >= length).any():
        return None
    return int(np.argmin(np.where(rooms >= length, rooms, 0)))


@wrong("best_pack", "an index is beyond the end: of n entries the")
def index_error(rooms, length):
    fitting = sorted((r, i) for i, r in enumerate(rooms) if r >= length)
    return fitting[0][1]


@wrong("best_pack", "that is the *emptiest* pack, the one with the")
def returns_no_else(rooms, length):
    fitting = [i for i, r in enumerate(rooms) if r >= length]
    best = fitting[0] if fitting else None
    for i in fitting:
        if rooms[i] > rooms[best]:
            best = i
    return best


@wrong("best_pack", "pack 0 is taken for none.")
def truthy(rooms, length):
    best = min((i for i, r in enumerate(rooms) if r >= length), key=rooms.__getitem__, default=None)
    return best or None


@wrong("best_pack", "the function changes its arguments. Whoever")
def modifies(rooms, length):
    best = min((i for i, r in enumerate(rooms) if r >= length), key=rooms.__getitem__, default=None)
    if best is not None:
        rooms[best] -= length
    return best


# pack_labels


@wrong("pack_labels", "the last document is not scored at all: no")
def only_starts_behind_first_and_last(input_ids, document_starts, length):
    labels = [-100] * len(input_ids)
    for a, b in pairwise(document_starts):
        labels[a + 1 : b] = input_ids[a + 1 : b]
    return labels


@wrong("pack_labels", "the first and the last id of each document")
def one_too_short_each(input_ids, document_starts, length):
    labels = [-100] * len(input_ids)
    for a, b in pairwise([*document_starts, length]):
        labels[a + 1 : b - 1] = input_ids[a + 1 : b - 1]
    return labels


@wrong("pack_labels", "padding is scored: from place `length` on")
def to_the_end_of_the_row(input_ids, document_starts, length):
    labels = [-100] * len(input_ids)
    for a, b in pairwise([*document_starts, len(input_ids)]):
        labels[a + 1 : b] = input_ids[a + 1 : b]
    return labels


@wrong("pack_labels", "the first id of each document is scored,")
def from_a(input_ids, document_starts, length):
    labels = [-100] * len(input_ids)
    for a, b in pairwise([*document_starts, length]):
        labels[a:b] = input_ids[a:b]
    return labels


@wrong("pack_labels", "the labels are shifted. `transformers` does")
def next_ids(input_ids, document_starts, length):
    labels = []
    for i in range(len(input_ids)):
        if i + 1 in document_starts or i + 1 >= length:
            labels.append(-100)
        else:
            labels.append(input_ids[i + 1])
    return labels


@wrong("pack_labels", "the id *before* stands at each place: the")
def previous_ids(input_ids, document_starts, length):
    labels = []
    for i in range(len(input_ids)):
        labels.append(-100 if i in document_starts or i >= length else input_ids[i - 1])
    return labels


@wrong("pack_labels", "the first place of padding is scored.")
def pad_from_length_plus_one(input_ids, document_starts, length):
    labels = input_ids[: length + 1] + [-100] * (len(input_ids) - length - 1)
    for s in document_starts:
        labels[s] = -100
    return labels


@wrong("pack_labels", "every id that equals the first one of a")
def starts_ids_by_value(input_ids, document_starts, length):
    firsts = [input_ids[s] for s in document_starts]
    return [-100 if x in firsts or i >= length else x for i, x in enumerate(input_ids)]


@wrong("pack_labels", "`None` stands where -100 is wanted.")
def empties(input_ids, document_starts, length):
    return [None if i in document_starts or i >= length else x for i, x in enumerate(input_ids)]


@wrong("pack_labels", "the first id of each document is left out,")
def masks_both(input_ids, document_starts, length):
    labels = list(input_ids[:length]) + [-100] * (len(input_ids) - length)
    for s in document_starts:
        labels[s] = -100
        if s:
            labels[s - 1] = -100
    return labels


@wrong("pack_labels", "nothing is scored at all: the ids inside of")
def all_minus(input_ids, document_starts, length):
    return [-100] * len(input_ids)


# mean_over_targets


@wrong("mean_over_targets", "it is divided by the largest number of")
def counts_as_weights_normalized_wrongly(means, counts):
    if not any(counts):
        return math.nan
    weights = [c / max(counts) for c in counts]
    return sum(m * w for m, w in zip(means, weights, strict=True) if w)


@wrong("mean_over_targets", "a mean of means: a micro-batch of one target")
def inverse(means, counts):
    if not any(counts):
        return math.nan
    return sum(m for m, c in zip(means, counts, strict=True) if c) / len([c for c in counts if c > 0])


@wrong("mean_over_targets", "two things at once: it is divided by the number of micro-batches,")
def nan_replaced_counts_len(means, counts):
    total = sum(m * c for m, c in zip(means, counts, strict=True) if not math.isnan(m))
    return total / len(counts)


@wrong("mean_over_targets", "a micro-batch without targets has NaN for a")
def plain_try(means, counts):
    try:
        return sum(m * c for m, c in zip(means, counts, strict=True)) / sum(counts)
    except ZeroDivisionError:
        return math.nan


@wrong("mean_over_targets", "without any targets there is no mean: NaN. A")
def plain_try_zero(means, counts):
    try:
        return sum(m * c for m, c in zip(means, counts, strict=True) if c) / sum(counts)
    except ZeroDivisionError:
        return 0.0


@wrong("mean_over_targets", "upside down: the losses are divided by the")
def swapped(means, counts):
    if not any(counts):
        return math.nan
    pairs = [(m, c) for m, c in zip(means, counts, strict=True) if c]
    return sum(c for _, c in pairs) / sum(m * c for m, c in pairs)


@wrong("mean_over_targets", "two things at once: all means are added up, and then weighted together")
def means_times_total(means, counts):
    if not any(counts):
        return math.nan
    total = sum(counts)
    return sum(m for m, c in zip(means, counts, strict=True) if c) * total / len(means)


@wrong("mean_over_targets", "it is divided by both, the number of targets")
def only_nonempty_means_weighted_by_share_of_batches(means, counts):
    pairs = [(m, c) for m, c in zip(means, counts, strict=True) if c]
    return sum(m * c for m, c in pairs) / (sum(c for _, c in pairs) * len(pairs)) if pairs else math.nan


@wrong("mean_over_targets", "a micro-batch without targets has NaN for a")
def is_nan_string(means, counts):
    total, n = 0, 0
    for m, c in zip(means, counts, strict=True):
        if m is not math.nan:
            total += m * c
            n += c
    return total / n if n else math.nan


@wrong("mean_over_targets", "that is the mean of the first micro-batch")
def first_only(means, counts):
    for m, c in zip(means, counts, strict=True):
        if c:
            return m
    return math.nan


@wrong("mean_over_targets", "two things at once: it is divided by the number of micro-batches,")
def returns_total(means, counts):
    total = 0
    for m, c in zip(means, counts, strict=True):
        if c:
            total += m * c
    return total / (len(means) or 1)


# chat_labels


@wrong("chat_labels", "the other way round: the assistant's turns")
def flips_condition(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role != "assistant" else [-100] * len(ids)
    labels[0] = -100
    return labels


@wrong("chat_labels", "a turn that is not scored has a single -100,")
def one_minus_each(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "assistant" else [-100]
    labels[0] = -100
    return labels


@wrong("chat_labels", "a turn that is not scored is left out.")
def skip_others(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        if role == "assistant":
            labels.extend(ids)
    if labels:
        labels[0] = -100
    return labels


@wrong("chat_labels", "first and last id of each turn are not")
def mask_first_of_assistant_turns_and_ends(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += [-100, *ids[1:-1], -100] if role == "assistant" else [-100] * len(ids)
    return labels


@wrong("chat_labels", "the turn behind one of the user's is scored,")
def last_turn_of_each_pair(roles, turns):
    labels = []
    for i, ids in enumerate(turns):
        labels += ids if i > 0 and roles[i - 1] == "user" else [-100] * len(ids)
    labels[0] = -100
    return labels


@wrong("chat_labels", "`True` and `False` tell what is scored: a")
def boolean_mask(roles, turns):
    return [role == "assistant" for role, ids in zip(roles, turns, strict=True) for _ in ids]


@wrong("chat_labels", "the labels are shifted. `transformers` does")
def shift_by_hand(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "assistant" else [-100] * len(ids)
    return [*labels[1:], -100]


@wrong("chat_labels", "the *last* id of the conversation is not")
def hides_last(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "assistant" else [-100] * len(ids)
    labels[-1] = -100
    return labels


@wrong("chat_labels", "a dictionary of roles holds one turn for")
def dict_of_roles(roles, turns):
    by_role = dict(zip(roles, turns, strict=True))
    labels = []
    for role in roles:
        ids = by_role[role]
        labels += ids if role == "assistant" else [-100] * len(ids)
    labels[0] = -100
    return labels


@wrong("chat_labels", "`index` finds the *first* turn with these")
def index_of_turn(roles, turns):
    labels = []
    for ids in turns:
        role = roles[turns.index(ids)]
        labels += ids if role == "assistant" else [-100] * len(ids)
    labels[0] = -100
    return labels


@wrong("chat_labels", "only what the assistant says behind the")
def nothing_scored_before_the_last_user(roles, turns):
    last_user = max((i for i, r in enumerate(roles) if r == "user"), default=-1)
    labels = []
    for i, (role, ids) in enumerate(zip(roles, turns, strict=True)):
        labels += ids if role == "assistant" and i > last_user else [-100] * len(ids)
    labels[0] = -100
    return labels


@wrong("chat_labels", "the end of a turn that others wrote is")
def end_ids_of_all(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "assistant" else [x if x == 9 else -100 for x in ids]
    labels[0] = -100
    return labels
