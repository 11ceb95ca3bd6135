"""Lesson 09: what a class answers."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import torch

from course_lib.document_packing import assign_packs, document_mask, position_ids_from_starts
from wrong_answers import refused, right, wrong

# starts_from_ends: ids, end_id


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

# positions_of: document_starts, length


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


@right("pack_labels")
def torch_labels(input_ids, document_starts, length):
    labels = torch.tensor(input_ids)
    labels[document_starts] = -100
    labels[length:] = -100
    return labels


right("pack_labels")(lambda ids, starts, n: [x if i < n and i not in starts else -100 for i, x in enumerate(ids)])

# mean_over_targets: means, counts


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


def _flat(labels):
    labels = [label for turn in labels for label in turn]
    return [-100, *labels[1:]]


def _scored(roles, turns, which):
    return _flat([ids if which(i) else [-100] * len(ids) for i, ids in enumerate(turns)])


@wrong("chat_labels", "the function changes its arguments. Whoever")
def changes_the_first_turn(roles, turns):
    turns[0][0] = -100
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "assistant" else [-100] * len(ids)
    return labels


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


# positions_of


wrong("positions_of", None)(lambda starts, n: [i % len(starts) for i in range(n)])
wrong("positions_of", "the last document is missing: no start")(
    lambda starts, n: np.concatenate([np.arange(b - a) for a, b in pairwise(starts)]).tolist()
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


@wrong("best_pack", "text, a `str`, where no text is wanted.")
def empty_string_for_none(rooms, length):
    fitting = [i for i, r in enumerate(rooms) if r >= length]
    return min(fitting, key=rooms.__getitem__) if fitting else "None"


# pack_labels


@wrong("pack_labels", "the last entry is missing in every one of")
def pads_to_wrong_length(input_ids, document_starts, length):
    labels = [-100 if i in document_starts else x for i, x in enumerate(input_ids)]
    return labels[:length] + [-100] * (len(input_ids) - length - 1)


# mean_over_targets

wrong("mean_over_targets", "a micro-batch without targets has NaN for a")(
    lambda ms, cs: sum(m * c for m, c in zip(ms, cs, strict=False)) / len(ms)
)
wrong("mean_over_targets", "without any targets there is no mean: NaN. A")(
    lambda ms, cs: sum(m * c / sum(cs) for m, c in zip(ms, cs, strict=False) if c)
)
wrong("mean_over_targets", None)(lambda ms, cs: sum(ms) * len(ms) / sum(cs))


@wrong("mean_over_targets", "without any targets there is no mean: NaN. A")
def infinite(means, counts):
    total = sum(m * c for m, c in zip(means, counts, strict=True) if c)
    try:
        return total / sum(counts)
    except ZeroDivisionError:
        return 0


@wrong("mean_over_targets", "text, a `str`, where no text is wanted.")
def text_nan(means, counts):
    if not any(counts):
        return "nan"
    return sum(m * c for m, c in zip(means, counts, strict=True) if c) / sum(counts)


# chat_labels


@wrong("chat_labels", "the function changes its arguments. Whoever")
def aliases_the_first_turn(roles, turns):
    labels = turns[0] if roles[0] == "assistant" else [-100] * len(turns[0])
    for role, ids in zip(roles[1:], turns[1:], strict=True):
        labels += ids if role == "assistant" else [-100] * len(ids)
    labels[0] = -100
    return labels


@wrong("chat_labels", "the result begins right, and ends too early:")
def returns_in_the_first_round(roles, turns):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "assistant" else [-100] * len(ids)
        labels[0] = -100
        return labels


# A third class


wrong("starts_from_ends", None)(
    lambda ids, end: list(range(len(ids))) if end not in ids else [i + 1 for i, x in enumerate(ids) if x == end]
)

# positions_of


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


# may_look


@wrong("may_look", "entries are missing. Those that are there are")
def rows_only_for_starts(position_ids):
    n = len(position_ids)
    return [[q - position_ids[q] <= k <= q for k in range(n)] for q in range(n) if position_ids[q] == 0]


# pack_in_order


# best_pack


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


# pack_labels


# mean_over_targets


# chat_labels
