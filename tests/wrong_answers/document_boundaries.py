"""Lesson 10: what a class answers."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import torch

from course_lib.document_boundaries import document_mask, position_ids_from_starts
from wrong_answers import right, wrong


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


@right("may_look")
def marks_blocks(position_ids):
    size = len(position_ids)
    mask = np.zeros((size, size), dtype=bool)
    for q, position in enumerate(position_ids):
        mask[q, q - position : q + 1] = True
    return mask


right("may_look")(lambda ps: document_mask([i for i, p in enumerate(ps) if p == 0], len(ps)))
right("may_look")(lambda ps: [[int(k <= q and q - k <= ps[q]) for k in range(len(ps))] for q in range(len(ps))])


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


def _flat(labels):
    labels = [label for turn in labels for label in turn]
    return [-100, *labels[1:]]


def _scored(roles, turns, which):
    return _flat([ids if which(i) else [-100] * len(ids) for i, ids in enumerate(turns)])


@wrong("chat_labels", "the function changes its arguments, which")
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


wrong("positions_of", None)(lambda starts, n: [i % len(starts) for i in range(n)])
wrong("positions_of", "the last document is missing: no start")(
    lambda starts, n: np.concatenate([np.arange(b - a) for a, b in pairwise(starts)]).tolist()
)
wrong("positions_of", None)(lambda starts, n: [n - 1 - i for i in range(n)])


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


wrong("mean_over_targets", "a part without targets has NaN for a")(
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


@wrong("chat_labels", "the function changes its arguments, which")
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


@wrong("positions_of", "the function changes its arguments, which")
def pops_the_starts(document_starts, length):
    positions, position = [], 0
    for i in range(length):
        if document_starts and i == document_starts[0]:
            document_starts.pop(0)
            position = 0
        positions.append(position)
        position += 1
    return positions


@wrong("may_look", "entries are missing. Those that are there are")
def rows_only_for_starts(position_ids):
    n = len(position_ids)
    return [[q - position_ids[q] <= k <= q for k in range(n)] for q in range(n) if position_ids[q] == 0]


# leaks: model, ids, start


@right("leaks")
def one_id_after_another(model, ids, start):
    honest = model(ids, start)
    for place in range(len(ids)):
        altered = list(ids)
        altered[place] += 1
        moved = model(altered, start)
        other = slice(start, None) if place < start else slice(0, start)
        if moved[other] != honest[other]:
            return True
    return False


@wrong("leaks", "the function changes its arguments, which")
def changes_the_ids_themselves(model, ids, start):
    honest = model(ids, start)
    for place in range(start):
        ids[place] += 1
    return model(ids, start)[start:] != honest[start:]


# after_another: document_starts, length


right("after_another")(lambda starts, n: sum(p not in starts for p in range(n) if len(starts) > 1 and p >= starts[1]))


@right("after_another")
def goes_through_the_places(document_starts, length):
    count, document = 0, -1
    for place in range(length):
        if place in document_starts:
            document += 1
        elif document > 0:
            count += 1
    return count


@wrong("after_another", "several values where one number is wanted.")
def lists_them(document_starts, length):
    return [end - start - 1 for start, end in pairwise([*document_starts[1:], length])]
