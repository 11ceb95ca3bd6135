"""Lesson 09: what a class answers."""

from __future__ import annotations

import math
import statistics
from itertools import pairwise

import numpy as np
import torch

from course_lib.document_packing import assign_packs, document_mask, position_ids_from_starts
from wrong_answers import refused, right, wrong

# starts_from_ends: ids, end_id


@wrong("starts_from_ends", "(1) The next id is asked whether it is true. 0")
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
