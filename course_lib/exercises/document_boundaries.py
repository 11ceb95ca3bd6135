"""Exercises of lesson 10: starts, masks, the test of a leak, labels."""

from collections.abc import Iterator
from itertools import accumulate, chain
from random import Random

import numpy as np

from course_lib.teaching.checker import Case, bug_or_not, exercise, true_or_false


def _rows_with_ends(random: Random) -> Iterator[Case]:
    for ids in ([], [5], [0], [0, 0], [5, 0], [0, 5], [5, 0, 0, 6], [5, 0, 6, 0, 7]):
        yield ids, 0
    yield from (([1, 1, 2, 3], 2), ([2, 1, 1, 2, 2], 2), ([0, 3, 0, 3, 3, 0], 3))
    for _ in range(10):
        yield random.choices(range(5), k=random.randrange(4, 12)), random.randrange(3)


@exercise(
    cases=_rows_with_ends,
    hints=(
        "A document begins right after each `end_id`. And one begins where there's "
        "nothing before it.",
        "Go over all ids except the last. After each `end_id`, the next place is a "
        "start. Put 0 before these starts, unless the row has no ids.",
    ),
)
def starts_from_ends(ids: list[int], end_id: int) -> list[int]:
    """Return where documents begin in a row, if each ends with `end_id`."""
    after = [place + 1 for place, id in enumerate(ids[:-1]) if id == end_id]
    return [0, *after] if ids else []


def _places(ids: list[int], end_id: int) -> list[int]:
    return [place for place, id in enumerate(ids) if id == end_id]


starts_from_ends.mistake(
    "you return the places of the end-of-text tokens, but a document begins one place "
    "after each of them.",
    _places,
    lambda ids, end: [0, *_places(ids, end)],
)
starts_from_ends.mistake(
    "you let a document begin after the last place in the row, but nothing comes "
    "there, even if that place holds an end-of-text token.",
    lambda ids, end: [0, *(p + 1 for p in _places(ids, end))],
    lambda ids, end: [0, *(p + 1 for p in _places(ids, end))] if ids else [],
)
starts_from_ends.mistake(
    "you let a document begin in a row without ids, where the answer is `[]`.",
    lambda ids, end: starts_from_ends(ids, end) or [0],
)
starts_from_ends.mistake(
    "you leave out the first document, which begins at 0 although no end-of-text token "
    "comes before it.",
    lambda ids, end: starts_from_ends(ids, end)[1:],
    lambda ids, end: [p + 1 for p in _places(ids, end)],
)
starts_from_ends.mistake(
    "you skip a document that's nothing but its end-of-text token, but that counts as "
    "a document, too.",
    lambda ids, end: [s for s in starts_from_ends(ids, end) if ids[s] != end],
    lambda ids, end: [s for s in starts_from_ends(ids, end) if not s or ids[s] != end],
)
starts_from_ends.mistake(
    "you look for id 0, but the end-of-text token may have a different id. `end_id` "
    "says which.",
    lambda ids, end: starts_from_ends(ids, 0),
)


def _positions(random: Random) -> Iterator[Case]:
    yield from (([0],), ([0, 1],), ([0, 0],), ([0, 1, 0],), ([0, 0, 1],))
    yield from (([0, 1, 2, 0, 1],), ([0, 1, 0, 1, 2, 0],), ([0, 0, 0, 1],))
    yield ([0, 1, 2, 3],)
    for _ in range(6):
        sizes = [random.randrange(1, 5) for _ in range(random.randrange(2, 4))]
        yield ([position for size in sizes for position in range(size)],)


@exercise(
    cases=_positions,
    hints=(
        "There are two conditions. The place that q looks at isn't later than q, and "
        "it's in the same document.",
        "Place q has position p, so p places of its document come before it. Where "
        "does its document begin?",
    ),
)
def may_look(position_ids: list[int]) -> list[list[bool]]:
    """Return who may look at whom: entry [q][k] says whether q may look at k."""
    places = range(len(position_ids))
    begins = [place - position_ids[place] for place in places]
    return [[begins[q] <= k <= q for k in places] for q in places]


def _mask(positions, is_open) -> list[list[bool]]:
    places = range(len(positions))
    return [[is_open(q, k) for k in places] for q in places]


may_look.mistake(
    "you don't let a place look at itself, but it knows its own id and may look there.",
    lambda ps: _mask(ps, lambda q, k: q - ps[q] <= k < q),
)
may_look.mistake(
    "you also let a place look at the documents before its own, as a plain causal mask "
    "does.",
    lambda ps: _mask(ps, lambda q, k: k <= q),
)
may_look.mistake(
    "you also let a place look at later places, which hold what it has to predict.",
    lambda ps: _mask(ps, lambda q, k: q - ps[q] == k - ps[k]),
    lambda ps: _mask(ps, lambda q, k: q - ps[q] <= k),
)
may_look.mistake(
    "you compare positions across documents, but they begin again in each. First find "
    "out where a place's own document begins.",
    lambda ps: _mask(ps, lambda q, k: k <= q and ps[k] <= ps[q]),
    lambda ps: _mask(ps, lambda q, k: k <= ps[q]),
)
may_look.mistake(
    "you swap rows and columns. Row q says what place q looks *at*.",
    lambda ps: _mask(ps, lambda q, k: k - ps[k] <= q <= k),
)
may_look.mistake(
    "you say who may *not* look, but `True` is for a place that q may look at.",
    lambda ps: _mask(ps, lambda q, k: not q - ps[q] <= k <= q),
)


def _rows_to_look_ahead_in(random: Random) -> Iterator[Case]:
    yield from (([5], [0], 1), ([5, 6], [0], 1), ([5, 6, 7], [0], 2), ([5, 6], [0], 3))
    yield from (([5, 6, 7], [0, 1], 1), ([5, 6, 7, 8], [0, 3], 1))
    yield [5, 6, 7, 8, 9, 10, 11], [0, 4], 2
    yield [5, 6, 7, 8, 9, 10], [0, 1, 2], 2
    yield [5, 6, 7, 8, 9, 10, 11, 12, 13], [0, 5], 3
    for _ in range(8):
        length = random.randrange(5, 13)
        rest = sorted(random.sample(range(1, length), random.randrange(1, 4)))
        yield random.sample(range(5, 60), length), [0, *rest], random.randrange(1, 4)


@exercise(
    cases=_rows_to_look_ahead_in,
    hints=(
        "Take one document at a time. Which of its places have an id `d` places "
        "further on in the same document?",
        "A document's labels are its ids from number `d` on, and then a -100 for each "
        "place that is left: `d` of them, or fewer if the document is shorter.",
    ),
)
def labels_ahead(ids: list[int], starts: list[int], d: int) -> list[int]:
    """Return the id `d` places ahead of each place, or -100 outside its document."""
    labels = []
    for start, end in zip(starts, [*starts[1:], len(ids)], strict=True):
        document = ids[start:end]
        labels += document[d:] + [-100] * min(d, len(document))
    return labels


def _ahead(ids, starts, d, masked) -> list[int]:
    """The id `d` ahead of each place, or -100 where it is masked or the row ends."""
    return [
        -100 if place + d >= len(ids) or masked(place) else ids[place + d]
        for place in range(len(ids))
    ]


labels_ahead.mistake(
    "you let a label come from the next document, but nothing in one document predicts "
    "an id in another. Use -100 there.",
    lambda ids, starts, d: _ahead(ids, starts, d, lambda place: False),
)
labels_ahead.mistake(
    "you mask one label before each border, as for the next token. But when you look "
    "`d` places ahead, the last `d` places in each document have no label.",
    lambda ids, starts, d: _ahead(ids, starts, d, lambda place: place + 1 in starts),
    lambda ids, starts, d: _ahead(ids, starts, d, lambda place: place + d in starts),
)
labels_ahead.mistake(
    "you look one place ahead, whatever `d` is.",
    lambda ids, starts, d: labels_ahead(ids, starts, 1),
)
labels_ahead.mistake(
    "you put each label at the place of its own id, as `transformers` wants it. Here "
    "it belongs `d` places earlier, where it's predicted.",
    lambda ids, starts, d: [
        -100 if any(place - d < start <= place for start in starts) else id
        for place, id in enumerate(ids)
    ],
)
labels_ahead.mistake(
    "you add -100 to every document `d` times, even to one that has fewer places.",
    lambda ids, starts, d: [
        label
        for start, end in zip(starts, [*starts[1:], len(ids)], strict=True)
        for label in [*ids[start:end][d:], *[-100] * d]
    ],
)
labels_ahead.mistake(
    "you leave out the places without a label, but each of them needs a -100.",
    lambda ids, starts, d: [
        label for label in labels_ahead(ids, starts, d) if label != -100
    ],
)


def _itself(ids, start):
    return list(ids)


def _position(ids, start):
    return [*range(start), *range(len(ids) - start)]


def _apart(ids, start):
    return [*accumulate(ids[:start]), *accumulate(ids[start:])]


def _apart_and_both_ways(ids, start):
    first, second = ids[:start], ids[start:]
    return [sum(first)] * len(first) + [sum(second)] * len(second)


def _plain_causal(ids, start):
    return list(accumulate(ids))


def _sum_of_all(ids, start):
    return [sum(ids)] * len(ids)


def _the_first_sees_the_future(ids, start):
    return [ids[0] + ids[-1], *ids[1:]]


def _only_the_last_looks_back(ids, start):
    return [*ids[:-1], ids[-1] + ids[0]]


def _only_the_next_one_looks_back(ids, start):
    return [*ids[:start], ids[start] + ids[start - 1], *ids[start + 1 :]]


def _only_the_middle_looks_back(ids, start):
    if len(ids) - start < 3:
        return list(ids)
    return [*ids[:-2], ids[-2] + ids[0], ids[-1]]


def _the_middle_of_the_first_sees_the_future(ids, start):
    if start < 3:
        return list(ids)
    return [ids[0], ids[1] + ids[-1], *ids[2:]]


def _the_first_sees_the_middle(ids, start):
    middle = ids[start + 1] if len(ids) - start >= 3 else 0
    return [ids[0] + middle, *ids[1:]]


def _the_last_of_the_first_sees_the_future(ids, start):
    return [*ids[: start - 1], ids[start - 1] + ids[-1], *ids[start:]]


def _the_last_sees_the_middle(ids, start):
    return [*ids[:-1], ids[-1] + (ids[1] if start >= 3 else 0)]


def _a_little_leak(ids, start):
    return [*ids[:start], *(id + ids[0] / 1000 for id in ids[start:])]


def _two_leak_and_cancel_out(ids, start):
    second = list(ids[start:])
    if len(second) > 1:
        second[:2] = second[0] + ids[0], second[1] - ids[0]
    return ids[:start] + second


MODELS = (
    *(_itself, _position, _apart, _apart_and_both_ways, _plain_causal, _sum_of_all),
    *(_the_first_sees_the_future, _only_the_last_looks_back, _a_little_leak),
    *(_only_the_next_one_looks_back, _only_the_middle_looks_back),
    *(_the_first_sees_the_middle, _the_last_sees_the_middle, _two_leak_and_cancel_out),
    _the_last_of_the_first_sees_the_future,
    _the_middle_of_the_first_sees_the_future,
)


def _models(random: Random) -> Iterator[Case]:
    for length, start in ((2, 1), (3, 1), (3, 2), (6, 3)):
        for model in MODELS:
            yield model, [0] * length, start
            yield model, [random.randrange(1, 9) for _ in range(length)], start


@exercise(
    cases=_models,
    hints=(
        "Call the model twice: with the ids as they are, and with the ids of one "
        "document changed in a copy. Whose numbers must not move?",
        "Add 1 to every id of the first document, and compare the numbers from `start` "
        "on. Then the other way around: change the second document, and compare the "
        "numbers of the first.",
    ),
)
def leaks(model, ids: list[int], start: int) -> bool:
    """Return whether one of two documents in a row tells the other one anything."""
    first_changed = [id + 1 for id in ids[:start]] + ids[start:]
    second_changed = ids[:start] + [id + 1 for id in ids[start:]]
    honest = model(ids, start)
    second_moves = model(first_changed, start)[start:] != honest[start:]
    first_moves = model(second_changed, start)[:start] != honest[:start]
    return second_moves or first_moves


def _moves(model, ids, start, document, altered=lambda ids: [id + 1 for id in ids]):
    """Whether the other document's numbers move if those of document 0 or 1 change."""
    parts = [ids[:start], ids[start:]]
    parts[document] = altered(parts[document])
    other = slice(start) if document else slice(start, None)
    return model(parts[0] + parts[1], start)[other] != model(ids, start)[other]


def _moves_either_way(altered):
    return lambda *call: _moves(*call, 0, altered) or _moves(*call, 1, altered)


leaks.mistake(
    "you test one direction only. It's a leak when the second document looks back at "
    "the first, and also when the first looks ahead at the second.",
    lambda *call: _moves(*call, 0),
    lambda *call: _moves(*call, 1),
)
leaks.mistake(
    "you wait for a leak in both directions, when one is enough.",
    lambda *call: _moves(*call, 0) and _moves(*call, 1),
)
leaks.mistake(
    "you also compare the numbers of the document that you changed, which may move. "
    "Compare only the other document's numbers.",
    lambda model, ids, start: (
        model([id + 1 for id in ids[:start]] + ids[start:], start) != model(ids, start)
    ),
)
leaks.mistake(
    "you set ids to 0, which changes nothing where an id is 0 already. Add 1 instead.",
    _moves_either_way(lambda ids: [0] * len(ids)),
)
leaks.mistake(
    "you change only one id of a document, but the model may look at another one. "
    "Change them all.",
    _moves_either_way(lambda ids: [ids[0] + 1, *ids[1:]]),
    _moves_either_way(lambda ids: [*ids[:-1], ids[-1] + 1]),
)
leaks.mistake(
    "you give the model each document alone. Keep the row, and change ids in it.",
    lambda model, ids, start: (
        model(ids[:start], start) + model(ids[start:], 0) != model(ids, start)
    ),
    lambda model, ids, start: (
        model(ids[:start], start) + model(ids[start:], start) != model(ids, start)
    ),
)


def _batches_of_starts(random: Random) -> Iterator[Case]:
    yield from (([[0]], 1), ([[0]], 4), ([[0, 2]], 5), ([[0, 1, 2]], 3))
    yield from (([[0], [0]], 3), ([[0, 3], [0, 1]], 5), ([[0], [0, 2], [0]], 4))
    for _ in range(8):
        length = random.randrange(2, 9)
        inner = range(1, length)
        rows = [
            [0, *sorted(random.sample(inner, random.randrange(min(3, length))))]
            for _ in range(random.randrange(1, 4))
        ]
        yield rows, length


@exercise(
    cases=_batches_of_starts,
    hints=(
        "Where does row i begin, once the rows before it lie in front of it?",
        "Add `i * row_length` to each start of row i, and collect them all. How many "
        "ids does the flat row have? That's where the last document ends.",
    ),
)
def flat_cu_seqlens(starts: list[list[int]], row_length: int) -> list[int]:
    """Return the cumulative sequence lengths of rows that lie end to end."""
    begins = [
        row * row_length + start
        for row, of_row in enumerate(starts)
        for start in of_row
    ]
    return [*begins, len(starts) * row_length]


flat_cu_seqlens.mistake(
    "you leave out where the last document ends.",
    lambda starts, length: flat_cu_seqlens(starts, length)[:-1],
)
flat_cu_seqlens.mistake(
    "you count places from the beginning of each row, but in the flat row, the places "
    "go on from one row to the next.",
    lambda starts, length: [*chain(*starts), length],
    lambda starts, length: [*chain(*starts), len(starts) * length],
)
flat_cu_seqlens.mistake(
    "you put in the end of every row, although the next row begins at the same place, "
    "so that place comes twice.",
    lambda starts, length: [
        row * length + place
        for row, of_row in enumerate(starts)
        for place in [*of_row, length]
    ],
)
flat_cu_seqlens.mistake(
    "you return how long each document is, but these lengths have to be added up.",
    lambda starts, length: np.diff(flat_cu_seqlens(starts, length)).tolist(),
)
flat_cu_seqlens.mistake(
    "you return where each document ends, and leave out the 0 where the first begins.",
    lambda starts, length: flat_cu_seqlens(starts, length)[1:],
)
flat_cu_seqlens.mistake(
    "you return the last place of the flat row as its end, but the end is the place "
    "after it.",
    lambda starts, length: [
        *flat_cu_seqlens(starts, length)[:-1],
        len(starts) * length - 1,
    ],
)


# Questions


def _documents_and_rows(random: Random) -> Iterator[Case]:
    yield from (([2, 2], 4), ([4], 4), ([3, 4, 1], 4), ([1, 2, 3, 2], 4))
    yield from (([1, 5, 2], 4), ([2, 7, 3], 5), ([9, 3], 4), ([3, 5, 4], 6))


def boundaries_in_fact(lengths: list[int], row_length: int) -> list[list[int]]:
    starts, total = [0, *accumulate(lengths)][:-1], sum(lengths)
    return [
        [start - row for start in starts if row < start < row + row_length]
        for row in range(0, total, row_length)
    ]


@bug_or_not(
    purpose=(
        "Documents lie end to end in a stream, which is cut into rows of `row_length`. "
        "A model's table of positions has `row_length` entries, so each position must "
        "be below that. A model may also infer from positions who looks at whom. So "
        "within a row, positions must begin again where a new document begins, and "
        "nowhere else. For each row, return the places after its first one where the "
        "position is 0."
    ),
    reference=boundaries_in_fact,
    cases=_documents_and_rows,
    explanation=(
        "Think of a document that is longer than a row. After `row_length` of its "
        "tokens, its position is 0 again. This needn't be where a row begins, so the "
        "document is cut in two in the middle of a row. Count within the row instead. "
        "If a row begins with a piece of a document, this piece counts from 0. (Seen "
        "in pytorch/torchtitan, pull request 2849.)"
    ),
)
def positions_modulo_the_row(lengths: list[int], row_length: int) -> list[list[int]]:
    positions = [place % row_length for length in lengths for place in range(length)]
    starts = range(0, len(positions), row_length)
    rows = [positions[start : start + row_length] for start in starts]
    return [[k for k in range(1, len(row)) if row[k] == 0] for row in rows]


def _packed_positions(random: Random) -> Iterator[Case]:
    yield from (([0],), ([0, 0],), ([0, 1, 2],), ([0, 1, 0, 1],), ([0, 0, 0, 1],))
    yield from (([0, 1, 2, 0, 0, 1],), ([0, 0, 1, 2, 0],))
    for _ in range(5):
        sizes = [random.randrange(1, 4) for _ in range(4)]
        yield ([position for size in sizes for position in range(size)],)


def documents_by_their_zeros(position_ids: list[int]) -> list[int]:
    return [number - 1 for number in accumulate(int(p == 0) for p in position_ids)]


@bug_or_not(
    purpose=(
        "The positions of each document in a row count up from 0. Documents may be as "
        "short as one token. Return, for each place of the row, the number of its "
        "document, counted from 0, without looking at any id."
    ),
    reference=documents_by_their_zeros,
    cases=_packed_positions,
    explanation=(
        "Within a document, each position is one more than the position before it. A "
        "new document begins with 0, and 0 is never one more than another position. "
        "This holds even after a document of a single token. Section 4's Llama gets "
        "its document mask in this way. But nobody can see a boundary where positions "
        "run on."
    ),
)
def where_it_does_not_go_up_by_one(position_ids: list[int]) -> list[int]:
    numbers, number, before = [], 0, position_ids[0] - 1
    for position in position_ids:
        number += position - before != 1
        numbers.append(number)
        before = position
    return numbers


def _rotated(vectors: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Turn each pair of entries by its position times a frequency."""
    half = vectors.shape[1] // 2
    angles = positions[:, None] * 10_000.0 ** (-np.arange(half) / half)
    pairs = vectors[:, :half] + 1j * vectors[:, half:]
    turned = pairs * np.exp(1j * angles)
    return np.concatenate([turned.real, turned.imag], axis=1)


def _scores(starts: list[int], length: int, positions: np.ndarray) -> np.ndarray:
    """Scores of random queries and keys, 0 where the document mask is closed."""
    generator = np.random.default_rng(length)
    queries, keys = generator.normal(size=(2, length, 8))
    documents = np.searchsorted(starts, np.arange(length), side="right")
    mask = np.tril(documents[:, None] == documents[None, :])
    scores = _rotated(queries, positions) @ _rotated(keys, positions).T
    return np.where(mask, scores, 0.0).round(6)


def scores_with_running_positions(starts: list[int], length: int) -> np.ndarray:
    return _scores(starts, length, np.arange(length))


@true_or_false(
    claim=(
        "With a document mask and rotary positions (RoPE), attention scores are the "
        "same, up to rounding, whether positions begin again with each document or run "
        "on through the row."
    ),
    reference=scores_with_running_positions,
    cases=lambda random: [([0, 3], 5), ([0, 1, 4], 9), ([0, 20], 30), ([0, 7, 50], 64)],
    explanation=(
        "A score depends only on the *difference* of two rotary positions. Within a "
        "document this difference is the same, wherever we begin to count. But a model "
        "that learns a vector for each position would notice, and so would rotary "
        "scaling that depends on the largest position. And if a library is to infer "
        "the documents from positions, as in section 4, positions must begin again."
    ),
)
def rotary_needs_no_reset(starts: list[int], length: int) -> np.ndarray:
    places = np.arange(length)
    documents = np.searchsorted(starts, places, side="right") - 1
    return _scores(starts, length, places - np.array(starts)[documents])
