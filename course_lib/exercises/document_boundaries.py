"""Exercises of lesson 10: positions, masks, the test of a leak, labels, and a mean."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from random import Random

import numpy as np

from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false

NAN = float("nan")


# Positions


def _starts(random: Random) -> Iterator[Case]:
    yield from (([0], 1), ([0], 4), ([0, 1], 2), ([0, 1], 3), ([0, 2], 3))
    yield from (([0, 3, 5], 9), ([0, 1, 2, 3], 4), ([0, 4, 5], 6), ([0, 2, 4], 6))
    yield from (([0, 5], 6), ([0, 1, 5], 8))
    for _ in range(8):
        length = random.randrange(5, 13)
        rest = sorted(random.sample(range(1, length), random.randrange(1, 4)))
        yield [0, *rest], length


@exercise(
    cases=_starts,
    hints=(
        "How far is a place from the start of its document?",
        "Where does each document end? The next start tells, and for the last one "
        "`length`. Its positions are then those of a row of its own.",
    ),
)
def positions_of(document_starts: list[int], length: int) -> list[int]:
    """Return the position of each place of a row within its document."""
    ends = [*document_starts[1:], length]
    return [
        position
        for start, end in zip(document_starts, ends, strict=True)
        for position in range(end - start)
    ]


positions_of.slips("""
    length] => ] ; strict=True => strict=False
        the last document is missing: no start follows it, so it ends with the row.
    length] => ] ; strict=True => strict=False ; \
    return [...] => return ([...] + [0] * length)[:length]
        the last document gets only zeros: no start follows it, so it ends with the row.
    length] => length - 1]
        the last place of the row is missing.
    length] => length + 1]
        the row is one place too long.
    length] => document_starts[-1] + length]
        the last document is taken to be as long as the row.
    range(end - start) => range(end - start - 1)
        the last place of each document is missing: `range` leaves its end out itself.
    range(end - start) => range(end - start + 1)
        each document is one place too long.
    range(end - start) => range(length - start)
        each document goes on to the end of the row.
    range(end - start) => range(end - start, 0, -1)
    range(end - start) => range(end - start)[::-1]
        positions are counted down to the end of the document. They go up from 0.
    range(end - start) => range(start, end)
        positions run on through the whole row: they begin again with each document.
    ends = => document_starts = document_starts[:2] ⏎ ends =
        only the second start is looked at.
    ends = => document_starts = sorted({0, *(s - 1 for s in document_starts[1:])}) \
    ⏎ ends =
        positions begin again one place too early, in the document before.
    position for start => position + 1 for start
        positions count from 1: the first place of a document is 0.
    position for start => position + (start > 0) for start
        documents after the first count from 1.
    position for start => position + (start == 0) for start
        the first document counts from 1.
    position for start => position + start * (position > 0) for start
        only the first place of a document gets a 0: the places after it run on.
    position for start => 0 for start
        every place gets 0.
""")


@positions_of.right_way("""
    max(s for s in document_starts if s <= p) => document_starts[-1]
        the *last* start is taken off everywhere: each document has its own.
    max(s for ...) => sum(s for ...)
        all starts up to a place are taken off, not only that of its own document.
    max(s for s in document_starts if s <= p) => \
    max((s for s in document_starts if s < p), default=0)
        a start is compared strictly: so it belongs to the document before.
    max(s for s in document_starts if s <= p) => \
    min((s for s in document_starts if s > p), default=length)
        the start of the document that comes *next* is taken off.
    p - max( => max(
        that is where the document of each place begins: take it off the place.
""")
def after_the_last_start(document_starts, length):
    return [p - max(s for s in document_starts if s <= p) for p in range(length)]


@positions_of.right_way("""
    if place in document_starts: position = 0 positions.append(position) position += 1 \
    => positions.append(position) ⏎ position += 1 ⏎ position *= \
    place not in document_starts
        positions begin again one place too late, and 0 comes twice at the beginning.
    if place in document_starts: position = 0 positions.append(position) position += 1 \
    => positions.append(position) ⏎ position += 1 ⏎ position *= \
    place not in document_starts[1:]
        positions begin again one place too late: the start of a document itself is 0.
    position = 0 positions => position = max(0, position - 1) ⏎ positions
        at a start, counting only pauses: it has to fall back to 0.
""")
def counted_on(document_starts, length):
    positions, position = [], 0
    for place in range(length):
        if place in document_starts:
            position = 0
        positions.append(position)
        position += 1
    return positions


@positions_of.right_way("""
    s <= p => s < p
        a start is compared strictly…
    document_starts) - 1 for => document_starts) for
        the number is that of the *next* document, and the last one has no next.
    p - document_starts[n] => n
    p - document_starts[n] => n + 1
        that is the number of the document in which each place lies.
    p - document_starts[n] => p - (n and document_starts[n] - document_starts[n - 1])
        only the length of the document right before is taken off, not of all before.
""")
def start_by_its_number(document_starts, length):
    numbers = [sum(s <= p for s in document_starts) - 1 for p in range(length)]
    return [p - document_starts[n] for p, n in enumerate(numbers)]


positions_of.answers("""
    list(accumulate(-p if p in document_starts else 1 for p in range(length)))
        at a start, the whole start is taken off the sum: those before already are.
    [p % (length // len(document_starts)) for p in range(length)]
        all documents are taken to be equally long: look at `document_starts`.
    [b - a for a, b in zip(document_starts, [*document_starts[1:], length])]
        these are the lengths of the documents. Every place of the row has a position.
    [list(range(b - a)) for a, b in
    zip(document_starts, [*document_starts[1:], length])]
        each document has a list of its own: return one list for the whole row.
    [list(range(a, b)) for a, b in
    zip(document_starts, [*document_starts[1:], length])]
        these are the places of each document, in lists: return one list of positions.
    [p - s for p in range(length) for s in document_starts if s <= p]
        each place has a position for *every* start before it: only the last counts.
    [p for start in document_starts for p in range(start)]
    [p for bound in [*document_starts, length] for p in range(bound)]
        starts are taken for lengths: a document is as long as to the *next* start.
""")


# Masks


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
        "Two conditions: the place that is looked at is not later, and it lies in the "
        "same document.",
        "Place q has position p, so p places of its document come before it. Where "
        "does its document begin?",
    ),
)
def may_look(position_ids: list[int]) -> list[list[bool]]:
    """Return who may look at whom: entry [q][k] says whether q may look at k."""
    places = range(len(position_ids))
    begins = [place - position_ids[place] for place in places]
    return [[begins[q] <= k <= q for k in places] for q in places]


may_look.slips("""
    k <= q for => k < q for
        a place looks at itself as well: its own id is known, the next one is predicted.
    <= k <= q for => <= k for
        the document is bounded at its beginning only: all later places are open.
    begins[q] <= k <= q => k <= q
        documents before are open too, as in a plain causal mask.
    begins[q] <= k => begins[q] < k
        the document begins one place too late: its first place is closed to all.
    begins[q] <= k <= q => k == q or begins[q] < k <= q
        the first place of a document is closed to those after it.
    begins[q] <= k <= q => abs(q - k) <= position_ids[q]
        as many places are open after a place as its position says: those come later.
""")


@may_look.right_way("""
    documents[q] == documents[k] => True
        documents before are open too…
    documents[q] == documents[k] => position_ids[q] == position_ids[k]
        places with the same position are taken for one document.
    documents[q] == documents[k] => position_ids[k] <= position_ids[q]
    documents[q] == documents[k] => position_ids[k] < position_ids[q]
        positions are compared across documents: they begin again in each.
    documents[q] == documents[k] => documents[k] == documents[-1]
        the last document's start is taken for that of all.
    documents[q] == documents[k] => k <= position_ids[q]
    documents[q] == documents[k] => k < position_ids[q]
        as many places as the position says are open, but at the row's beginning.
    documents[q] == documents[k] => (position_ids[q] > 0 or k == q)
        a first place looks at itself alone, but the places after it look at all before.
    documents[q] == documents[k] => documents[q] - (position_ids[q] == 0) == \
    documents[k] - (position_ids[k] == 0)
        a first place is counted as part of the document before.
    documents[q] == documents[k] => (documents[q] == documents[k] or \
    position_ids[q] == 0 and documents[k] == documents[q] - 1)
        at the first place of a document, the document before is still open.
    position == 0) for position in position_ids => \
    p < before) for before, p in zip([0, *position_ids], position_ids, strict=False)
        a document is taken to begin where the position falls: after a document of one
        id, 0 follows 0.
    and k <= q =>
        later places may be looked at: they hold what is to be predicted.
    k <= q => k < q
        a place looks at itself as well…
    return mask => return [list(row) for row in zip(*mask, strict=True)]
        rows and columns are exchanged: row q says what place q looks *at*.
    k <= q => k == q
        a place may look at itself alone.
    and k <= q => or k <= q
        one of the two conditions is enough here: a place must fulfill both.
    return mask => return [[not entry for entry in row] for row in mask]
        the other way round: here `True` says that q *may* look at k.
    return mask => return [[str(entry) for entry in row] for row in mask]
        the rows hold text, not `True` and `False`.
    return mask => return [[0.0 if entry else -math.inf for entry in row] \
    for row in mask]
        0 and minus infinity are what is added to scores: say `True` or `False`.
    return mask => return [[k for k, entry in enumerate(row) if entry] for row in mask]
        these are the places that are open: say `True` or `False` for every place.
    return mask => return [[entry for entry in row if entry] for row in mask]
        each row holds only what may be looked at, and not the rest.
    return mask => return [entry for row in mask for entry in row]
        all rows are joined to one list.
""")
def in_one_document(position_ids):
    documents = list(accumulate(int(position == 0) for position in position_ids))
    places = range(len(documents))
    mask = [[documents[q] == documents[k] and k <= q for k in places] for q in places]
    return mask


may_look.answers("""
    [[True] * len(position_ids)] * len(position_ids)
        every place looks at all others. (Or are all rows one and the same list, as in
        `[[False] * n] * n`? Then what is written into one is in all of them.)
    [np.tri(count, dtype=bool).tolist() for count in np.diff(np.flatnonzero( \
    np.array([*position_ids, 0]) == 0))]
        there is a mask for each document: return one for the whole row.
""")


# The test of one document by another


def _apart(ids, start):
    return [*accumulate(ids[:start]), *accumulate(ids[start:])]


def _apart_and_both_ways(ids, start):
    rest = len(ids) - start
    return [sum(ids[:start])] * start + [sum(ids[start:])] * rest


def _itself(ids, start):
    return list(ids)


def _position(ids, start):
    return [*range(start), *range(len(ids) - start)]


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


def _all_look_at_the_last_before(ids, start):
    return [*ids[:start], *(id + ids[start - 1] for id in ids[start:])]


def _a_little_leak(ids, start):
    return [*ids[:start], *(id + ids[0] / 1000 for id in ids[start:])]


def _two_leak_and_cancel_out(ids, start):
    if len(ids) - start < 2:
        return list(ids)
    return [
        *ids[:start],
        ids[start] + ids[0],
        ids[start + 1] - ids[0],
        *ids[start + 2 :],
    ]


def _models(random: Random) -> Iterator[Case]:
    models = (
        _apart,
        _plain_causal,
        _apart_and_both_ways,
        _itself,
        _position,
        _sum_of_all,
        _the_first_sees_the_future,
        _only_the_last_looks_back,
        _only_the_next_one_looks_back,
        _all_look_at_the_last_before,
        _a_little_leak,
        _two_leak_and_cancel_out,
    )
    for length, start in ((2, 1), (3, 1), (3, 2), (6, 3), (7, 2)):
        for model in models:
            yield model, [0] * length, start
            yield model, [random.randrange(1, 9) for _ in range(length)], start


@exercise(
    cases=_models,
    hints=(
        "Call the model twice: with the ids as they are, and with the ids of one "
        "document changed in a copy. Whose numbers must not move?",
        "Add 1 to every id of the first document, and compare the numbers from `start` "
        "on. Then the other way round: change the second document, and compare the "
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


leaks.slips("""
    model(first_changed, start)[start:] != honest[start:] => \
    model(first_changed, start) != honest
    model(second_changed, start)[:start] != honest[:start] => \
    model(second_changed, start) != honest
    model(first_changed, start)[start:] != honest[start:] => \
    model(first_changed, start)[:start] != honest[:start]
    model(second_changed, start)[:start] != honest[:start] => \
    model(second_changed, start)[start:] != honest[start:]
        numbers of a document are compared after a change of its own ids: they may move.
    second_moves or first_moves => second_moves
        only what the second document sees of the first is tested: try the other
        direction.
    second_moves or first_moves => first_moves
        only what the first document sees of the second is tested: try the other
        direction.
    second_moves or first_moves => second_moves and first_moves
        a leak in one direction is a leak. Here it has to be in both.
    return second_moves or first_moves => return not (second_moves or first_moves)
        the answers are exchanged: `True` is for a model that leaks.
    [start:] != honest[start:] => [start] != honest[start]
        only the first number of the second document is compared. Compare all of them.
    [start:] != honest[start:] => [-1] != honest[-1]
        only the last number of the second document is compared. Compare all of them.
    [:start] != honest[:start] => [start - 1] != honest[start - 1]
        only the last number of the first document is compared. Compare all of them.
    [id + 1 for id in ids[:start]] => [0 for id in ids[:start]]
        the first document is set to 0, which changes nothing where an id is 0 already.
    [id + 1 for id in ids[start:]] => [0 for id in ids[start:]]
        the second document is set to 0, which changes nothing where an id is 0 already.
    [id + 1 for id in ids[:start]] => [ids[0] + 1, *ids[1:start]]
        only the first id of the first document is changed. There are others.
    [id + 1 for id in ids[:start]] => [*ids[: start - 1], ids[start - 1] + 1]
        only the last id of the first document is changed. There are others.
    [id + 1 for id in ids[start:]] => [ids[start] + 1, *ids[start + 1 :]]
        only the first id of the second document is changed. There are others.
    [start:] != honest[start:] => [start + 1 :] != honest[start + 1 :]
        the first number of the second document is left out.
    model(first_changed, start)[start:] != honest[start:] => \
    sum(model(first_changed, start)[start:]) != sum(honest[start:])
        sums are compared, in which two numbers that move may cancel out.
    model(first_changed, start)[start:] != honest[start:] => \
    [round(x) for x in model(first_changed, start)[start:]] != \
    [round(x) for x in honest[start:]]
        numbers are compared after rounding: a small leak is a leak.
    [id + 1 for id in ids[:start]] + ids[start:] => \
    [id + 1 for id in ids[: start + 1]] + ids[start + 1 :]
    [id + 1 for id in ids[:start]] + ids[start:] => [id + 1 for id in ids]
        numbers of a document are compared…
""")


@leaks.right_way("""
    return False => return True
        `True` is returned in every case: at the end nothing has been found.
    for changed, other in (...) => \
    for changed, other in [(range(start), range(start, len(ids)))]
        only what the second document sees of the first…
""")
def in_both_directions(model, ids, start):
    honest = model(ids, start)
    for changed, other in (
        (range(start), range(start, len(ids))),
        (range(start, len(ids)), range(start)),
    ):
        altered = [id + (place in changed) for place, id in enumerate(ids)]
        moved = model(altered, start)
        if any(moved[place] != honest[place] for place in other):
            return True
    return False


leaks.answers("""
    model(ids[:start], start) + model(ids[start:], 0) != model(ids, start)
    model(ids[:start], start) + model(ids[start:], start) != model(ids, start)
        each document is given to the model alone. Keep the row, and change ids in it.
    model(ids[::-1], start) != model(ids, start)
        ids change places, which also changes the document that is looked at.
""")


# Count first


def _rows_full(random: Random) -> Iterator[Case]:
    yield from (
        ([0], 1),
        ([0], 4),
        ([0, 1], 2),
        ([0, 3, 4], 8),
        ([0, 2], 5),
        ([0, 4], 5),
    )
    yield from (([0, 1, 2], 3), ([0, 1, 2], 5), ([0, 3, 6], 9), ([0, 2, 5, 6], 9))
    for _ in range(8):
        length = random.randrange(5, 13)
        rest = sorted(random.sample(range(1, length), random.randrange(1, 4)))
        yield [0, *rest], length


@exercise(
    cases=_rows_full,
    hints=(
        "Which document of the row has none before it? And which id of a document is "
        "not a target?",
        "All places from the second start on come after another document. How many of "
        "them are first ids? And what if there is no second start?",
    ),
)
def after_another(document_starts: list[int], length: int) -> int:
    """Return how many targets of a row have another document before them."""
    later = document_starts[1:]
    return length - later[0] - len(later) if later else 0


after_another.slips("""
    - len(later) if later =>  if later
        first ids are counted, but nothing of their document predicts them.
    - len(later) if => - 1 if
        one first id is taken off, but each of the later documents has one.
    - len(later) if => - len(document_starts) if
    return length - => return length - 1 -
        a target too many is taken off: only the first ids of *later* documents are not
        targets.
    later[0] - => 0 -
        the first document is counted, but no document comes before it.
    if later else 0 => if later else length - 1
        with a single document nothing comes after another one, and the answer is 0.
    later[0] - => later[-1] -
    later[0] - len(later) if => later[-1] - 1 if
        only the last document is counted. Others also have documents before them.
    later[0] - len(later) if later else 0 => document_starts[1] - len(later)
        with a single document there is no second start, and the answer is 0.
    return length - later[0] - len(later) => return later[0] - 1
        these are the targets of the *first* document: count those of the others.
    return length - later[0] - len(later) => \
    return (length - later[0] - len(later)) / max(1, length - len(document_starts))
        this is their share of all targets: return their number.
""")


@after_another.right_way("""
    end - start - 1 => end - start
        first ids are counted, but…
    documents[1:] => documents
        the first document is counted, but…
    documents[1:] => documents[:-1]
        the last document is left out instead of the first.
    documents[1:] => documents[1:-1]
        the last document is missing: no start follows it, so it ends with the row.
    documents[1:] => documents[1:2]
        only the second document is counted. Others also have documents before them.
    end - start - 1 for start, end in documents[1:] => \
    n * (end - start - 1) for n, (start, end) in enumerate(documents)
        a target is counted once for each document before it: count it once.
    end - start - 1 => end - start - 2
        the last id of each document is left out, but it is a target too.
    documents[1:] => documents[2:]
        the second document is left out. It comes after the first.
    *document_starts[1:], length => *document_starts[1:], length - 1
        a target too many is taken off…
""")
def document_by_document(document_starts, length):
    ends = [*document_starts[1:], length]
    documents = list(zip(document_starts, ends, strict=True))
    return sum(end - start - 1 for start, end in documents[1:])


after_another.answers("""
    len(document_starts) - 1
        that is how many documents have another one before them. Count their targets.
    length - len(document_starts)
        the first document is counted, but…
    length - 1
        the first document is counted, and so are the first ids of the others.
    document_starts[1] - 1 if document_starts[1:] else 0
        these are the targets of the *first* document: count those of the others.
    length // len(document_starts) * (len(document_starts) - 1)
        all documents are taken to be equally long: look at `document_starts`.
""")


# A mean


def _losses(random: Random) -> Iterator[Case]:
    yield from (([2.0], [3]), ([2.0, 3.0], [1, 3]), ([2.0, 3.0], [1, 1]))
    yield from (([NAN], [0]), ([], []), ([NAN, 1.0], [0, 2]), ([NAN, NAN], [0, 0]))
    yield from (([0.5, NAN, 1.5], [2, 0, 6]), ([4.0, 1.0], [1, 7]))
    yield [0.0, 1.0], [3, 1]
    for _ in range(8):
        counts = [random.randrange(6) for _ in range(random.randrange(2, 6))]
        yield [random.random() * 4 if count else NAN for count in counts], counts


@exercise(
    cases=_losses,
    hints=(
        "A mean over all targets is their sum, divided by their number. How do you get "
        "the sum of a part back from its mean?",
        "Add up `mean * count` over the parts, and divide by the sum of the "
        "counts. NaN times 0 is still NaN, so leave out those that have no targets; "
        "and if no targets are left, do not divide.",
    ),
)
def mean_over_targets(means: list[float], counts: list[int]) -> float:
    """Return the mean loss over all targets of several parts."""
    sums = [m * count for m, count in zip(means, counts, strict=True) if count]
    return sum(sums) / sum(counts) if sums else float("nan")


mean_over_targets.slips("""
    if count] => ]
        a part without targets has NaN for a mean, and NaN times 0 is NaN.
    m * count for => m * (count + 1) for ; \
    / sum(counts) => / sum(count + 1 for count in counts if count)
        parts are weighted by one more than their targets: `counts` are the targets.
    m * count for => m for
        the means are not weighted by their numbers of targets.
    m * count for => m for ; / sum(counts) => / len(sums)
        a mean of means: one target counts as much as a thousand in one part.
    m * count for => m / count for
        each mean is *divided* by its number of targets: multiply it.
    if sums else float("nan") =>
    if sums else float("nan") => if means else float("nan")
        without any targets there is nothing to divide by: return NaN.
    float("nan") => 0.0
        without any targets there is no mean: NaN. A loss of 0 would be a perfect score.
    float("nan") => None
        without any targets there is no mean: NaN. `None` is not a number.
    / sum(counts) =>
    / sum(counts) if sums else float("nan") =>
        that is the sum of all losses. Divide it by the number of targets.
    / sum(counts) => / len(counts)
        the sum is divided by the number of parts, not by the number of targets.
    / sum(counts) => / len(sums)
        it is divided by the number of parts that have targets, not of targets.
    / sum(counts) => / sum(max(1, count) for count in counts)
        a part without targets is counted as if it had one.
    / sum(counts) => / max(counts)
        it is divided by the largest number of targets.
    / sum(counts) => // sum(counts)
        `//` rounds down to a whole number: a mean needs `/`.
    / sum(counts) => / sum(counts) / len(sums)
        it is divided twice, by the number of targets and by that of parts.
    return sum(sums) / sum(counts) => return sum(counts) / max(1e-9, sum(sums))
        upside down: divide the losses by the number of targets.
    return ... if => return round(..., 2) if
        rounded: return the mean as it is.
""")


@mean_over_targets.right_way("""
    if count == 0: continue =>
        a part without targets has NaN…
    if count == 0: => if count == 0 or m == 0:
        a part with a loss of 0.0 is passed over, but its targets also count.
    total += m * count => total += m * count * (count > 1)
        a part of a single target is not added.
    continue => break
        it ends with the first part without targets: `continue`, not `break`.
    if number else NAN =>
        without any targets there is nothing to divide by: return…
    number else NAN => number else 0.0
        without any targets there is no mean: NaN. A loss…
""")
def added_up(means, counts):
    total, number = 0, 0
    for m, count in zip(means, counts, strict=True):
        if count == 0:
            continue
        total += m * count
        number += count
    return total / number if number else NAN


def _scored(means, counts):
    return [m for m, count in zip(means, counts, strict=True) if count]


mean_over_targets.answers("""
    sum(means) / len(means)
    sum(means) / len(means) if means else NAN
        a mean of means, which one part without targets makes NaN.
    np.mean(_scored(means, counts)) if any(counts) else NAN
        a mean of means: one target…
    sum(_scored(means, counts)) / len(means) if any(counts) else NAN
    sum(_scored(means, counts)) / len(means) if means else NAN
    sum(_scored(means, counts)) / len(means)
        a mean of means, in which a part without targets counts as a loss of 0.
    sum(means)
        that is the sum of the means: weight each, leave NaN out, and divide.
    float(np.median(_scored(means, counts))) if any(counts) else NAN
        that is the median of the means: add up the losses of all targets.
    [*_scored(means, counts), NAN][0]
        that is the mean of the first part: the `return` belongs after the loop.
    sum(_scored(means, counts)) * sum(counts)
    sum(_scored(means, counts)) * sum(counts) / len(means) if any(counts) else NAN
        all means are weighted together, by the number of all targets.
    [NAN, *accumulate(_scored(means, counts), lambda a, b: (a + b) / 2)][-1]
        each mean is averaged with the result so far: the last one counts most.
""")


# A conversation


def _conversations(random: Random) -> Iterator[Case]:
    user, model, system = "user", "assistant", "system"
    yield from (([user], [[1, 9]]), ([model], [[1, 9]]))
    yield [user, model], [[1, 9], [2, 9]]
    yield [model, user], [[1, 2, 9], [3, 9]]
    yield [user, model], [[1, 9], [9]]
    yield [user, model], [[1, 9], [1, 9]]
    yield [user, model, user, model], [[1, 2, 9], [3, 9], [4, 9], [5, 6, 9]]
    yield [system, user, model], [[7, 9], [1, 9], [2, 3, 9]]
    yield [system, user, model, user], [[7, 9], [1, 9], [2, 3, 9], [4, 5, 9]]
    yield [model, model, user, model], [[1, 9], [2, 9], [3, 9], [4, 9]]
    for _ in range(6):
        roles = random.choices((user, model, model), k=random.randrange(2, 6))
        roles = [system] * random.randrange(2) + roles
        counts = [random.randrange(1, 4) for _ in roles]
        yield roles, [[*random.choices(range(1, 9), k=n), 9] for n in counts]


@exercise(
    cases=_conversations,
    hints=(
        "Go turn by turn: what do the labels of a turn look like if the assistant "
        "wrote it, and what if not?",
        "All of the assistant's turns count, each as a whole: its last id says that it "
        "is finished, which a model must also learn. And which id of the conversation "
        "has nothing before it, no matter who wrote it?",
    ),
)
def chat_labels(roles: list[str], turns: list[list[int]]) -> list[int]:
    """Return the labels of a conversation: only what the assistant says is scored."""
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        labels += ids if role == "assistant" else [-100] * len(ids)
    labels[0] = -100
    return labels


chat_labels.slips("""
    ids if role == "assistant" else => ids if True else
        all turns are scored: the model would also learn to write the user's part.
    role == "assistant" => role == "user"
        the turns of the user are scored.
    role == "assistant" => role != "assistant"
        the other way round: the assistant's turns are scored, all others are not.
    role == "assistant" => role != "user"
        the turns of the system are also scored: the assistant did not write them.
    role == "assistant" => role == "model"
        no turn is scored. Is the role spelled as in the task?
    [-100] * len(ids) => [-100]
        a turn that is not scored has a single -100, where each of its ids needs one.
    [-100] * len(ids) => []
    [-100] * len(ids) => [] ; labels[0] = -100 => \
    labels[:1] = [-100] if roles[0] == "assistant" else labels[:1]
        a turn that is not scored is left out.
    labels[0] = -100 return => return
        the very first id is scored, though nothing comes before it: -100 there.
    labels[0] => labels[-1]
        the *last* id of the conversation is left out, where the first should be.
    labels[0] = -100 => labels.insert(0, -100)
        -100 is put *before* the first id, but it should replace it.
    labels[0] = -100 => labels.pop(0)
        the first id is taken out, so that all labels stand one place too far left.
    zip(roles, turns, => zip([roles[turns.index(ids)] for ids in turns], turns,
        `index` finds the *first* turn with these ids: two turns can be alike.
    zip(roles, turns, => zip(roles, [dict(zip(roles, turns))[role] for role in roles],
        a dictionary of roles keeps only the last turn of each: use all of them.
""")


@chat_labels.right_way("""
    scored = roles[i] == "assistant" => scored = True
        all turns are scored…
    == "assistant" => == "assistant" and "assistant" not in roles[i + 1 :]
        only the *last* turn of the assistant is scored: all are answers to learn from.
    == "assistant" => == "assistant" and i > 0
        the whole first turn is left out, but only its first id has nothing before it.
    == "assistant" => == "assistant" and "assistant" not in roles[:i]
        only the *first* turn of the assistant is scored, and none that it writes later.
    roles[i] == "assistant" => "assistant" in roles[: i + 1]
    roles[i] == "assistant" => i >= roles.index("assistant")
        from the assistant's first turn on everything is scored, the user's part too.
    == "assistant" => == "assistant" and "user" not in roles[i:]
        only what the assistant says after the user's last turn is scored.
    == "assistant" => == "assistant" and i == len(roles) - 1
        only a last turn of the assistant's is scored.
    roles[i] == "assistant" => i == len(roles) - 1
        the last turn is scored, no matter who wrote it.
    roles[i] == "assistant" => i % 2 == 1
        every second turn is taken for one of the assistant's: look at `roles`.
    roles[i] == "assistant" => i > 0 and roles[i - 1] == "user"
        the turn after one of the user's is scored, no matter who wrote it.
    == "assistant" => == "assistant" and roles[i - 1] == "user"
        a turn counts as the assistant's only after one of the user's.
    == "assistant" => != "system"
        the turns of the user are also scored.
    += ids if => += [*ids[1:], -100] if
    += ids if => += [*ids[1:], -100] if ; [-100, *labels[1:]] => labels
        the labels are shifted within each turn.
    += ids if => += [*ids[:-1], -100] if
    += ids if => += [-100 if id == 9 else id for id in ids] if
        the end of each turn is left out: a model must learn to stop.
    += ids if => += [-100, *ids[1:]] if
        the first id of each turn is left out: the turns before predict it.
    += ids if => += [-100, *ids[1:-1], -100] if
        the first *and* the last id of each turn get -100; a turn of one id gets two.
    += ids if => += [1] * len(ids) if
        1, or `True`, stands for what is scored: a label is the id itself.
    [-100] * len(ids) => [] ; return [-100, ...] => return [-100, ...][: len(labels)]
        a turn that is not scored is left out.
    [-100] * len(ids) => [-100] * (len(ids) - 1) + ids[-1:]
        the end of a turn that others wrote is also scored.
    [-100, *labels[1:]] => labels
        the very first id is scored…
    [-100, *labels[1:]] => [*labels[1:], -100]
        the labels are shifted: `transformers` does that itself, inside the model.
    [-100, *labels[1:]] => [-100, *labels[:-1]]
    [-100, *labels[1:]] => [-100, -100, *labels[1:-1]]
        the labels are shifted to the right.
""")
def turn_by_turn(roles, turns):
    labels = []
    for i, ids in enumerate(turns):
        scored = roles[i] == "assistant"
        labels += ids if scored else [-100] * len(ids)
    return [-100, *labels[1:]]


chat_labels.answers("""
    [x for role, ids in zip(roles, turns) if role == "assistant" for x in ids]
        what others say is left out: each of their ids gets a -100.
    [role == "assistant" for role, ids in zip(roles, turns) for _ in ids]
    [x != -100 for x in chat_labels.reference(roles, turns)]
        1, or `True`, stands…
    [[-100 if role != "assistant" or i == j == 0 else x for j, x in enumerate(ids)] for
    i, (role, ids) in enumerate(zip(roles, turns))]
    [ids if role == "assistant" else [-100] * len(ids) for
    role, ids in zip(roles, turns)]
        each turn has a list of its own: return one list for the whole conversation.
    sum(([-100] * len(a) + b for a, b in zip(turns[::2], turns[1::2])), [])
        turns are taken in pairs: two turns of one side, or a system's, move all.
    [-100, *[x if any(role == "assistant" and x in ids for role, ids in
    zip(roles, turns)) else -100 for ids in turns for x in ids][1:]]
        ids are looked up among the assistant's: the user also says some of them.
""")


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
        "nowhere else. For each row, return the places where positions begin again, "
        "but leave out its first place."
    ),
    reference=boundaries_in_fact,
    cases=_documents_and_rows,
    explanation=(
        "Think of a document that is longer than a row. After `row_length` of its "
        "tokens, its position is 0 again. This need not be where a row begins, so the "
        "document is cut in two in the middle of a row. Count within the row instead. "
        "If a row begins with a piece of a document, this piece counts from 0. (Met in "
        "pytorch/torchtitan, pull request 2849.)"
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
        "This holds even after a document of a single token. `transformers` finds "
        "packed documents in this way. But it cannot see a boundary at which positions "
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
        "same whether positions begin again with each document or run on through the "
        "row."
    ),
    reference=scores_with_running_positions,
    cases=lambda random: [([0, 3], 5), ([0, 1, 4], 9), ([0, 20], 30), ([0, 7, 50], 64)],
    explanation=(
        "A score depends only on the *difference* of two rotary positions. Within a "
        "document this difference is the same, wherever we begin to count. But a model "
        "that learns a vector for each position would notice. And if a library infers "
        "documents from positions, as `transformers` does, positions must begin again."
    ),
)
def rotary_needs_no_reset(starts: list[int], length: int) -> np.ndarray:
    places = np.arange(length)
    documents = np.searchsorted(starts, places, side="right") - 1
    return _scores(starts, length, places - np.array(starts)[documents])


# With other numbers by seed.


@numbers(
    ask="A row holds documents of {lengths} ids, and a token looks at itself and at "
    "those before it in its own document. How many such pairs are there?",
    draw=lambda rng: {"lengths": [rng.randrange(3, 40) for _ in range(4)]},
    hints=("How many pairs are there in a document of 3 ids?",),
)
def pairs_in_row(lengths: list[int]) -> int:
    return sum(n * (n + 1) // 2 for n in lengths)


pairs_in_row.answers("""
    sum(lengths) * (sum(lengths) + 1) // 2
        as if the row were one document: nobody looks across.
    sum(n * n for n in lengths)
        both ways. A token does not look at those after it.
    sum(n * (n - 1) // 2 for n in lengths)
        without a token's look at itself.
""")


@numbers(
    ask="A row of {max_length} places holds documents of {lengths} ids, and "
    "padding after them. How many of its places are scored?",
    draw=lambda rng: {
        "max_length": rng.randrange(200, 300),
        "lengths": [rng.randrange(10, 40) for _ in range(rng.randrange(3, 6))],
    },
    hints=("Which ids of a document have one before them that predicts them?",),
)
def scored_in_row(max_length: int, lengths: list[int]) -> int:
    return sum(lengths) - len(lengths)


scored_in_row.answers("""
    sum(lengths)
        all ids. Nothing of its own document predicts the first one.
    sum(lengths) - 1
        one for the row is taken off: each document has a first id.
    max_length - len(lengths)
        the pads are scored as if they were text.
""")
