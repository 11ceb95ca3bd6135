"""Answers to the exercises of lesson 10: right ones, and wrong ones with words of what they are told."""

import numpy as np

from course_lib.document_boundaries import document_mask
from course_lib.exercises.document_boundaries import flat_cu_seqlens, labels_ahead, leaks, may_look, starts_from_ends
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


def by_accumulating(starts, row_length):
    lengths = [b - a for row in starts for a, b in zip(row, [*row[1:], row_length], strict=True)]
    return np.cumsum([0, *lengths])


def row_after_row(starts, row_length):
    places, end = [], 0
    for row in starts:
        places += [end + start for start in row]
        end += row_length
    return (*places, end)


def adds_the_length_of_one_row(starts, row_length):
    places = list(starts[0])
    for row in starts[1:]:
        places += [row_length + start for start in row]
    return [*places, len(starts) * row_length]


def only_after_an_end(ids, end):
    starts = []
    for place in range(1, len(ids)):
        if ids[place - 1] == end:
            starts.append(place)
    return starts


def no_document_of_an_end_alone(ids, end):
    starts, is_new = [], True
    for place, token in enumerate(ids):
        if token == end:
            is_new = True
        elif is_new:
            starts.append(place)
            is_new = False
    return starts


def by_positions_alone(position_ids):
    table = []
    for q, own in enumerate(position_ids):
        table.append([k <= q and other <= own for k, other in enumerate(position_ids)])
    return table


def labels_at_their_own_place(ids, starts, d):
    labels = list(ids)
    for start in starts:
        for place in range(start, min(start + d, len(ids))):
            labels[place] = -100
    return labels


def labels_that_there_are(ids, starts, d):
    ends = [*starts[1:], len(ids)]
    labels = []
    for start, end in zip(starts, ends, strict=True):
        labels.extend(ids[start + d : end])
    return labels


def leaks_both_ways(model, ids, start):
    honest = model(ids, start)
    earlier = model([i + 1 for i in ids[:start]] + ids[start:], start)
    later = model(ids[:start] + [i + 1 for i in ids[start:]], start)
    return earlier[start:] != honest[start:] and later[:start] != honest[:start]


def leaks_of_zeros(model, ids, start):
    honest = model(ids, start)
    earlier = model([0] * start + ids[start:], start)
    later = model(ids[:start] + [0] * (len(ids) - start), start)
    return earlier[start:] != honest[start:] or later[:start] != honest[:start]


def leaks_into_the_first_or_last_place(model, ids, start):
    honest = model(ids, start)
    earlier = model([i + 1 for i in ids[:start]] + ids[start:], start)
    later = model(ids[:start] + [i + 1 for i in ids[start:]], start)
    pairs = (earlier[start], honest[start]), (earlier[-1], honest[-1])
    pairs += (later[0], honest[0]), (later[start - 1], honest[start - 1])
    return any(moved != before for moved, before in pairs)


def leaks_into_the_first_place_of_the_first(model, ids, start):
    second_changed = ids[:start] + [id + 1 for id in ids[start:]]
    return moved(model, ids, start, range(start)) or model(second_changed, start)[0] != model(ids, start)[0]


def leaks_into_the_ends_of_the_first(model, ids, start):
    honest = model(ids, start)
    later = model(ids[:start] + [id + 1 for id in ids[start:]], start)
    ends = any(later[place] != honest[place] for place in (0, start - 1))
    return moved(model, ids, start, range(start)) or ends


def leaks_alone(model, ids, start):
    first = model(ids[:start], start)
    second = model(ids[start:], 0)
    return first + second != model(ids, start)


def with_the_end_of_each_row(starts, row_length):
    cumulative = []
    for row, of_row in enumerate(starts):
        cumulative += [row * row_length + start for start in of_row]
        cumulative.append((row + 1) * row_length)
    return cumulative


def up_to_the_last_place(starts, row_length):
    cumulative = []
    for row, of_row in enumerate(starts):
        cumulative += [row * row_length + start for start in of_row]
    return [*cumulative, len(starts) * row_length - 1]


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
    (flat_cu_seqlens, by_accumulating, PASSED),
    (flat_cu_seqlens, row_after_row, PASSED),
    (flat_cu_seqlens, lambda starts, n: list(row_after_row(starts, n))[:-1], "where the last document ends"),
    (flat_cu_seqlens, lambda starts, n: [p for row in starts for p in row] + [n], "go on from one row to the next"),
    (flat_cu_seqlens, lambda starts, n: list(row_after_row(starts, n))[1:], "leave out the 0"),
    (flat_cu_seqlens, lambda starts, n: np.diff(row_after_row(starts, n)), "have to be added up"),
    (flat_cu_seqlens, adds_the_length_of_one_row, FAILED),
    (starts_from_ends, only_after_an_end, "leave out the first document"),
    (starts_from_ends, no_document_of_an_end_alone, "nothing but its end-of-text token"),
    (may_look, by_positions_alone, "compare positions across documents"),
    (labels_ahead, labels_at_their_own_place, "at the place of its own id"),
    (labels_ahead, labels_that_there_are, "leave out the places without a label"),
    (leaks, leaks_both_ways, "in both directions"),
    (leaks, leaks_of_zeros, "set ids to 0"),
    (leaks, leaks_alone, "each document alone"),
    (leaks, leaks_into_the_first_or_last_place, FAILED),
    (leaks, leaks_into_the_first_place_of_the_first, FAILED),
    (leaks, lambda m, ids, n: moved(m, ids, n, range(n)) or moved(m, ids, n, [len(ids) - 1]), FAILED),
    (leaks, leaks_into_the_ends_of_the_first, FAILED),
    (leaks, lambda m, ids, n: moved(m, ids, n, [0, n - 1]) or moved(m, ids, n, range(n, len(ids))), FAILED),
    (flat_cu_seqlens, with_the_end_of_each_row, "the end of every row"),
    (flat_cu_seqlens, up_to_the_last_place, "the last place of the flat row"),
]
