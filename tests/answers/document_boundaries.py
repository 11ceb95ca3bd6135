"""Answers to the exercises of lesson 10: right ones, and wrong ones with words of what they are told."""

import numpy as np

from course_lib.document_boundaries import document_mask
from course_lib.exercises.document_boundaries import chat_labels, labels_ahead, leaks, may_look, starts_from_ends
from course_lib.teaching.checker import FAILED, PASSED


def remembers_the_last_id(ids, end_id):
    starts, last = [], end_id
    for place, token in enumerate(ids):
        if last == end_id:
            starts.append(place)
        last = token
    return starts


def asks_whether_the_next_id_is_true(ids, end_id):
    starts = [0] if ids else []
    for place in range(len(ids) - 1):
        if ids[place] == end_id and ids[place + 1]:
            starts.append(place + 1)
    return starts


def after_every_end(ids, end_id):
    starts = [0]
    for place, token in enumerate(ids):
        if token == end_id:
            starts.append(place + 1)
    return starts


def documents_of(starts, size):
    return [max(start for start in starts if start <= place) for place in range(size)]


def same_document_ahead(ids, starts, d):
    document = documents_of(starts, len(ids))
    labels = np.full(len(ids), -100)
    for place in range(len(ids) - d):
        if document[place] == document[place + d]:
            labels[place] = ids[place + d]
    return labels


def where_the_next_document_begins(ids, starts, d):
    labels, ends = [], [*starts[1:], len(ids)]
    for place in range(len(ids)):
        end = next(end for end in ends if end > place)
        labels.append(ids[place + d] if place + d < end else -100)
    return labels


def rolled(ids, starts, d):
    return ids[d:] + [-100] * min(d, len(ids))


def masks_one_before_each_start(ids, starts, d):
    labels = rolled(ids, starts, d)
    for start in starts[1:]:
        labels[start - 1] = -100
    return labels


def always_d_masks(ids, starts, d):
    ends = [*starts[1:], len(ids)]
    return [label for start, end in zip(starts, ends, strict=True) for label in [*ids[start:end][d:], *[-100] * d]]


def opens_blocks(position_ids):
    size = len(position_ids)
    mask = np.zeros((size, size), dtype=bool)
    for q, position in enumerate(position_ids):
        mask[q, q - position : q + 1] = True
    return mask


def numbers_the_documents(position_ids):
    number, numbers = -1, []
    for position in position_ids:
        number += position == 0
        numbers.append(number)
    return numbers


def same_document(position_ids):
    numbers = numbers_the_documents(position_ids)
    return [[one == other for other in numbers] for one in numbers]


def one_row_many_times(position_ids):
    size = len(position_ids)
    mask = [[False] * size] * size
    for q in range(size):
        for k in range(q - position_ids[q], q + 1):
            mask[q][k] = True
    return mask


def moved(model, ids, start, places):
    other = [place for place in range(len(ids)) if (place < start) != (places[0] < start)]
    altered = [token + 7 if place in places else token for place, token in enumerate(ids)]
    before, after = model(ids, start), model(altered, start)
    return any(before[place] != after[place] for place in other)


def one_id_after_another(model, ids, start):
    return any(moved(model, ids, start, [place]) for place in range(len(ids)))


def changes_the_ids_themselves(model, ids, start):
    before = model(ids, start)
    for place in range(start):
        ids[place] += 1
    return model(ids, start)[start:] != before[start:]


def zeros_the_first(model, ids, start):
    altered = [0] * start + ids[start:]
    return model(altered, start)[start:] != model(ids, start)[start:]


def fills_a_row(roles, turns):
    labels, place = np.full(sum(map(len, turns)), -100), 0
    for role, ids in zip(roles, turns, strict=True):
        if role == "assistant":
            labels[place : place + len(ids)] = ids
        place += len(ids)
    labels[0] = -100
    return labels


def flat(turns):
    return [label for ids in turns for label in ids]


def turn_by_turn(roles, turns):
    scored = [ids if role == "assistant" else [-100 for _ in ids] for role, ids in zip(roles, turns, strict=True)]
    return [-100, *flat(scored)[1:]]


def overwrites_the_first_turn(roles, turns):
    turns[0][0] = -100
    return flat(ids if role == "assistant" else [-100] * len(ids) for role, ids in zip(roles, turns, strict=True))


def every_turn_but_the_users(roles, turns):
    return turn_by_turn(["user" if role == "user" else "assistant" for role in roles], turns)


def only_the_last(roles, turns):
    last = max((i for i, role in enumerate(roles) if role == "assistant"), default=None)
    return turn_by_turn([role if i == last else "user" for i, role in enumerate(roles)], turns)


def without_the_ends(roles, turns):
    return [-100 if label == 9 else label for label in turn_by_turn(roles, turns)]


ANSWERS = [
    (starts_from_ends, remembers_the_last_id, PASSED),
    (starts_from_ends, lambda ids, end: [i for i in range(len(ids)) if i == 0 or ids[i - 1] == end], PASSED),
    (starts_from_ends, after_every_end, "after the last place"),
    (
        starts_from_ends,
        lambda ids, end: [i for i, token in enumerate(ids) if token == end],
        "places of the end-of-text tokens",
    ),
    (starts_from_ends, lambda ids, end: remembers_the_last_id(ids, 0), "look for id 0"),
    (starts_from_ends, lambda ids, end: [0, *remembers_the_last_id(ids, end)[1:]], "a row without ids"),
    (starts_from_ends, asks_whether_the_next_id_is_true, "entries are missing"),
    (starts_from_ends, lambda ids, end: ids.count(end), "one value"),
    (may_look, opens_blocks, PASSED),
    (may_look, lambda ps: document_mask([i for i, p in enumerate(ps) if p == 0], len(ps)), PASSED),
    (may_look, lambda ps: np.tril(same_document(ps)), PASSED),
    (may_look, same_document, "later places"),
    (may_look, lambda ps: np.tri(len(ps), dtype=bool), "plain causal mask"),
    (may_look, lambda ps: np.tril(same_document(ps), -1), "let a place look at itself"),
    (may_look, lambda ps: ~np.tril(same_document(ps)), "who may *not* look"),
    (may_look, lambda ps: np.triu(same_document(ps)), "swap rows and columns"),
    (may_look, one_row_many_times, FAILED),
    (labels_ahead, same_document_ahead, PASSED),
    (labels_ahead, where_the_next_document_begins, PASSED),
    (labels_ahead, rolled, "from the next document"),
    (labels_ahead, masks_one_before_each_start, "one label before each border"),
    (labels_ahead, lambda ids, starts, d: same_document_ahead(ids, starts, 1), "whatever `d` is"),
    (labels_ahead, lambda ids, starts, d: same_document_ahead(ids[::-1], starts, d)[::-1], FAILED),
    (labels_ahead, always_d_masks, "fewer places"),
    (labels_ahead, lambda ids, starts, d: ids[d:], FAILED),
    (leaks, one_id_after_another, PASSED),
    (leaks, lambda m, ids, n: moved(m, ids, n, range(n)) or moved(m, ids, n, range(n, len(ids))), PASSED),
    (leaks, lambda m, ids, n: moved(m, ids, n, range(n)), "one direction only"),
    (leaks, lambda m, ids, n: moved(m, ids, n, [0]) or moved(m, ids, n, [n]), "only one id"),
    (leaks, lambda m, ids, n: m([token + 3 for token in ids], n) != m(ids, n), "the document that you changed"),
    (leaks, changes_the_ids_themselves, "changes its arguments"),
    (leaks, zeros_the_first, FAILED),
    (chat_labels, fills_a_row, PASSED),
    (chat_labels, turn_by_turn, PASSED),
    (chat_labels, every_turn_but_the_users, "the assistant didn't write"),
    (chat_labels, only_the_last, "only one turn"),
    (chat_labels, without_the_ends, "learn to stop"),
    (chat_labels, overwrites_the_first_turn, "changes its arguments"),
    (chat_labels, lambda roles, turns: [*turn_by_turn(roles, turns)[1:], -100], "shift the labels"),
    (chat_labels, lambda roles, turns: turn_by_turn(roles[::-1], turns), FAILED),
]
