"""Exercises of lesson 09: which documents share a row, and where they begin."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from course_lib.document_packing import assign_packs
from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false

# Where documents begin, by their end ids


def _rows_with_ends(random: Random) -> Iterator[Case]:
    yield from (([], 0), ([5], 0), ([0], 0), ([0, 0], 0), ([5, 0], 0), ([0, 5], 0))
    yield from (([5, 6, 0, 7, 8, 0], 0), ([5, 0, 6, 0, 7], 0), ([5, 0, 0, 6], 0))
    yield from (([1, 1, 2, 3], 2), ([2, 1, 1, 2, 2], 2), ([0, 3, 0, 3, 3, 0], 3))
    for _ in range(10):
        end_id = random.randrange(3)
        yield [random.randrange(5) for _ in range(random.randrange(4, 12))], end_id


@exercise(
    cases=_rows_with_ends,
    hints=(
        "A document begins after each end. And one begins where there is nothing "
        "before it.",
        "Is there a place after the last id of the row? And what begins in a row "
        "without ids?",
    ),
)
def starts_from_ends(ids: list[int], end_id: int) -> list[int]:
    """Return where documents begin in a row, if each ends with `end_id`."""
    after = [place + 1 for place, id in enumerate(ids[:-1]) if id == end_id]
    return [0, *after] if ids else []


starts_from_ends.slips("""
    place + 1 for => place for
    place + 1 for => place for ; id == end_id => id == end_id and place
        the places of the ends themselves are returned: a document begins after an end.
    place + 1 for => place + 2 for
    place + 1 for place, id in enumerate(ids[:-1]) => \
    place + 2 for place, id in enumerate(ids[:-2])
        one place too far: a document begins right after the end of the one before.
    place + 1 for place, id in enumerate(ids[:-1]) if => \
    place - 1 for place, id in enumerate(ids) if place and
        one place too early: an end belongs to the document before.
    enumerate(ids[:-1]) => enumerate(ids)
        after the last place of the row nothing begins, even if it holds an end.
    if id == end_id => if id != end_id
        a document begins after each *end*; here one begins after every other id.
    == end_id => == 0
        the end is not always 0: `end_id` says which id it is.
    id == end_id => id == end_id and ids[place + 1] != end_id
        a document can consist of its end alone, and then it begins there.
    id == end_id => id == end_id and ids[place + 1]
        the next id is asked whether it is true: 0 is an id, and can begin a document.
    id == end_id => id == end_id and place
        an end at the very first place counts as well: after it a document begins.
    enumerate(ids[:-1]) => enumerate(ids) ; if ids else [] =>
        here 0 is always a start, and so is the place after every end. But nothing
        begins after the last place, nor in a row without ids.
    [0, *after] => after
        the first document is missing: it begins at 0, although no end comes before it.
    if ids else [] =>
        a row without ids holds no documents, so none begins: the answer is `[]`.
    if ids else [] => if after else []
        a row without an end inside is one document, or a part of one. It begins at 0.
    enumerate(ids[:-1]) => enumerate(ids) ; *after] => *after[:-1]]
        a document counts although its own end is missing: the row was cut there.
    [0, *after] => list(zip([0, *after], [*after, len(ids)]))
        this tells where each document begins *and* ends. Return the beginnings alone.
    [0, *after] => [place in [0, *after] for place in range(len(ids))]
        this tells for each place whether a document begins there. Return the places.
""")


@starts_from_ends.right_way("""
    ids[i - 1] == end_id => ids[i] == end_id
        the places of the ends themselves…
    ids[i - 1] == end_id => ids[i] != end_id
        every id but an end is taken for a beginning: only ids after an end are.
    range(len(ids)) if i == 0 or => range(1, len(ids)) if
        the first document is missing…
    range(len(ids)) => range(len(ids) + 1)
        here 0 is always a start…
""")
def nothing_or_an_end_before(ids, end_id):
    return [i for i in range(len(ids)) if i == 0 or ids[i - 1] == end_id]


starts_from_ends.answers("""
    [0, ids.index(end_id) + 1] if ids else []
        only the first end is looked at, and `index` raises where there is none.
    [place for place, id in enumerate(ids) if id == end_id]
        these are the places of the ends. A document begins one place after an end, and
        the first one begins at 0.
    [place + 1 for place, id in enumerate(ids) if id == end_id]
        these are the places where documents *end*: none begins after the last.
    [place for place, id in enumerate(ids) if id != end_id]
        every id but an end…
    [sum(id == end_id for id in ids[:place]) for place in range(len(ids))]
        this tells for each place in which document it is. Return where each begins.
    [start for start in starts_from_ends.reference(ids, end_id) if ids[start] != end_id]
        a document can consist of its end alone…
    [0, *after[:-1]] if (after := [p + 1 for p, id in enumerate(ids) \
    if id == end_id]) else []
        a document counts although its own end…
    np.diff([0, *(p + 1 for p, id in enumerate(ids) if id == end_id)]).tolist()
        these are the lengths of the documents that have an end: add them up.
""")


# Packs


def _lengths(random: Random) -> Iterator[Case]:
    yield from (([], 4), ([3], 4), ([4], 4), ([2, 2], 4), ([3, 1, 1], 4), ([1, 4], 4))
    yield from (([4, 4], 4), ([1, 1, 1, 1, 1], 4), ([3, 3, 1], 4), ([1, 3, 4, 2], 4))
    yield from (([2, 3, 1, 3], 5), ([5, 3, 3, 1], 7), ([5, 2, 2, 2, 3], 6))
    yield from (([1], 1), ([1, 1], 1))
    for _ in range(8):
        max_length = random.randrange(4, 10)
        count = random.randrange(4, 9)
        yield [random.randrange(1, max_length + 1) for _ in range(count)], max_length


@exercise(
    cases=_lengths,
    hints=(
        "Remember how much room the last pack has left. When does a document need a "
        "new one?",
        "If its length is larger than the room: append an empty pack, which has all of "
        "its room. Either way, the document goes into the *last* pack then, and takes "
        "room away. What is the room before the first document, so that it opens the "
        "first pack?",
    ),
)
def pack_in_order(lengths: list[int], max_length: int) -> list[list[int]]:
    """Pack documents in their order, with a new pack when the next one does not fit."""
    packs, room = [], 0
    for document, length in enumerate(lengths):
        if length > room:
            packs.append([])
            room = max_length
        packs[-1].append(document)
        room -= length
    return packs


pack_in_order.slips("""
    length > room => length >= room
        a document that fits exactly still fits.
    room = max_length packs => room = max_length - length ⏎ packs
    packs, room = [], 0 => packs, room = [[] for _ in lengths[:1]], max_length ; \
    room = max_length packs => room = max_length - length ⏎ packs
        the document that opens a pack is counted twice.
    length > room => room <= 0
        a pack is closed only when it is full, and so it can be too long.
    length > room => length > max_length or not packs
    room -= length =>
        only the new document is compared with `max_length`, not all of its pack.
    length > room => not packs or len(packs[-1]) >= max_length
        `max_length` counts tokens, not documents.
    length > room => True
        every document gets a pack of its own.
    room = max_length => room = max_length + length
        the document that opens a pack is not counted.
    room = max_length => room = max_length if len(packs) == 1 else room
        what was in the pack before is still counted.
    room -= length => room = max_length - length
        only the document right before is counted, not all that is in the pack.
    room = max_length => room = max_length - 2 * length ; room -= => room +=
        a document that goes into a pack takes room *away*: here the room grows.
    room -= length => room -= document
        the *numbers* of the documents in a pack are added up, not their lengths.
    room -= length => room -= 1
        the *number* of documents in a pack is taken for that of their tokens.
    packs, room = [], 0 => packs, room = [], max_length
        before the first document no pack is open: with room, `packs[-1]` raises.
    append(document) => append(document + 1)
        documents are counted from 1.
    append(document) => append(length)
        packs hold lengths instead of the numbers of the documents.
    append(document) => append(lengths.index(length))
        `index` finds the first document of a length, every time.
    return packs => return packs[:-1]
        the last pack is missing: after the loop there is one that nothing has closed.
    return packs => return packs or [[]]
        without documents there is no pack: the answer is `[]`, not `[[]]`.
    return packs => return packs[-1:] * len(packs)
        all packs are one and the same list. Begin a new list for each, `[]`.
    enumerate(lengths) => sorted(enumerate(lengths), key=lambda pair: -pair[1])
        the documents are sorted, the longest first: keep their order.
    enumerate(lengths) => enumerate(sorted(lengths))
        the lengths are sorted, so that a number no longer says which document it was.
""")


@pack_in_order.right_way("""
    length > max_length => length >= max_length
        a document that fits exactly still fits.
    return [*packs, pack] if pack else packs => return packs
        the last pack is missing…
    return [*packs, pack] if pack else packs => return [*packs, pack]
        without documents there is no pack…
    pack and used + length > max_length => used + length >= max_length ; \
    return [*packs, pack] if pack else packs => return [*packs, pack]
        an exact fit opens a new pack here, and a pack begun too early stays empty.
    return [*packs, pack] if pack else packs => \
    return [*packs, pack] if pack and (len(pack) > 1 or not packs) else packs
        a last pack is left out if it holds a single document.
    pack, used = [], 0 ⏎ pack.append => pack, used = [], -length ⏎ pack.append
        when a pack is closed, the sum begins again with 0, although the new pack
        already holds a document.
    pack, used = [], 0 ⏎ pack.append => pack, used = [], used ⏎ pack.append
        what was in the pack before…
    pack, used = [], 0 ⏎ pack.append => pack, used = [], 0 ⏎ continue ⏎ pack.append
        a document that does not fit is left out: it belongs into the new pack.
""")
def closed_when_full(lengths, max_length):
    packs, pack, used = [], [], 0
    for document, length in enumerate(lengths):
        if pack and used + length > max_length:
            packs.append(pack)
            pack, used = [], 0
        pack.append(document)
        used += length
    return [*packs, pack] if pack else packs


def _fitted(lengths, max_length, sign, weight):
    packs, rooms = [[] for _ in lengths], [max_length for _ in lengths]
    for document in sorted(range(len(lengths)), key=lambda i: sign * lengths[i]):
        fitting = [i for i, room in enumerate(rooms) if room >= lengths[document]]
        pack = min(fitting, key=lambda i: weight * rooms[i])
        packs[pack].append(document)
        rooms[pack] -= lengths[document]
    return [pack for pack in packs if pack]


pack_in_order.answers("""
    _fitted(lengths, max_length, 0, 0)
    _fitted(lengths, max_length, 0, 1)
        a document goes back into an *earlier* pack: only the last one is looked at.
    _fitted(lengths, max_length, -1, 0)
        first fit, the longest first: here only the last pack is looked at, in order.
    _fitted(lengths, max_length, -1, 1)
        best fit, the longest first: here only the last pack is looked at, in order.
    [[0]] if lengths else []
        it returns in the first round of its loop: is the `return` indented too far?
    [[i for i in range(len(lengths)) if sum(lengths[:i]) // max_length == block] for
    block in sorted({sum(lengths[:i]) // max_length for i in range(len(lengths))})]
        a document goes where it begins in blocks of `max_length`, even if too long.
""")


def _rooms(random: Random) -> Iterator[Case]:
    yield from (([], 2), ([3], 2), ([2], 2), ([1], 2), ([0], 1), ([5, 3], 2))
    yield from (([3, 5], 2), ([2, 5, 2], 2), ([1, 4, 3], 3), ([4, 4, 2], 3))
    yield from (([0, 6, 0, 6], 1), ([7, 2, 5, 3], 3), ([1, 1, 1], 2), ([4, 0, 3], 1))
    yield from (([0, 0, 0, 5, 2], 2), ([1, 1, 1, 1, 7, 3], 3))
    for _ in range(12):
        rooms = [random.randrange(8) for _ in range(random.randrange(2, 7))]
        yield rooms, random.randrange(1, 8)


@exercise(
    cases=_rooms,
    hints=(
        "First ask which packs have enough room at all. Which of these is the fullest?",
        "The fullest has the least room left. `min` over the *numbers* of the packs, "
        "with their rooms as the `key`, gives the first one of equally full ones; and "
        "what does it do when there is none?",
    ),
)
def best_pack(rooms: list[int], length: int) -> int | None:
    """Return the fullest pack that has room for a document, or None if none has."""
    fitting = [pack for pack, room in enumerate(rooms) if room >= length]
    return min(fitting, key=lambda pack: rooms[pack], default=None)


best_pack.slips("""
    room >= length => room > length
        a pack with exactly that much room is large enough, and even the best.
    if room >= length =>
        packs are chosen whether they have room or not.
    room >= length => room == length
        only packs with exactly that much room are looked at.
    room >= length => room <= length
        packs that are too small are looked at, or that fit exactly.
    room >= length => length <= room < 2 * length
        the least that is left over begins with `length`: begin with `math.inf`.
    min(fitting => max(fitting
        that is the *emptiest* pack: the fullest has the *least* room.
    fitting, key => fitting[::-1], key
        a tie goes to the last pack, because `<=` lets a later one win: take the first.
    if room >= length => ; rooms[pack], default => abs(rooms[pack] - length), default
        the pack is taken whose room *differs* least: that can be one that is too small.
    key=lambda pack: rooms[pack], =>
        this is the *first* pack with room: take the fullest of them.
    , default=None) => )
        where no pack has room, the answer is `None`: `min` of nothing raises.
    enumerate(rooms) => enumerate(rooms, 1) ; rooms[pack], => rooms[pack - 1],
        packs are counted from 1.
    enumerate(rooms) => enumerate(sorted(rooms)) ; rooms[pack], => sorted(rooms)[pack],
        the place of its room among the sorted rooms is returned.
""")


@best_pack.right_way("""
    room >= length => room > length
        a pack with exactly that much…
    room >= length =>  True
        packs are chosen whether…
    best = min(few => best = max(few
        that is the *emptiest*…
    min(few, key=rooms.__getitem__) => few[0]
        this is the *first* pack…
    min(few, key=rooms.__getitem__) => few[-1]
        this is the *last* pack with room: take the fullest of them.
    min(few, key=rooms.__getitem__) => \
    next((i for i in few if rooms[i] == length), few[0])
        a pack that fits exactly is found, but otherwise the first with room is taken.
    return best => return rooms[best]
        this is the room in the pack: return the number of the pack.
    return best => return rooms[best] - length
        this is the room that would be left in the pack: return its number.
    return best => return few.index(best)
        this is its place among the packs with room: return its number among *all*.
    return best => return best or None
        pack 0 counts as `False`, and so as none: compare with `is None`.
    return best => return few
        all packs with room are returned.
""")
def among_the_few(rooms, length):
    few = [pack for pack, room in enumerate(rooms) if room >= length]
    if not few:
        return None
    best = min(few, key=rooms.__getitem__)
    return best


@best_pack.right_way("""
    room >= length => room > length
        a pack with exactly that much…
    room >= length and =>
        packs are chosen whether…
    best is None or => not best or
        pack 0 counts as `False`…
    best = None => best = 0 ; best is None or =>
        the first pack is taken for the best without a look, even where there is none.
    room < rooms[best] => room <= rooms[best]
        a tie goes to the last pack…
    room < rooms[best] => room < best
        a room is compared with the *number* of the best pack so far, not with its room.
""")
def better_ones_win(rooms, length):
    best = None
    for pack, room in enumerate(rooms):
        if room >= length and (best is None or room < rooms[best]):
            best = pack
    return best


best_pack.answers("""
    None
        the least room so far begins with 0, and nothing is less: begin with `math.inf`.
    any(room >= length for room in rooms)
        whether there is such a pack is returned, not its number.
    0 if rooms and rooms[0] >= length else None
        only the first pack is looked at: is the `return` indented too far?
    None if not rooms or min(rooms) < length else rooms.index(min(rooms))
        only the fullest pack of all is asked whether it has room: another one may.
    None if max(rooms, default=0) < length else \
    min(range(len(rooms)), key=lambda i: (rooms[i] >= length) * rooms[i])
        packs without enough room are set to 0, which is the least of all.
    min(range(len(rooms)), key=lambda i: rooms[i] >= length, default=None)
        the key of `min` says whether a pack has room, and `False` is less than `True`.
""")


# How few rows there can be


def _lengths_and_rows(random: Random) -> Iterator[Case]:
    yield from (
        ([], 4),
        ([3], 4),
        ([4], 4),
        ([2, 2], 4),
        ([5, 5, 5, 1], 8),
        ([4, 4], 8),
    )
    yield from (([1, 1, 1, 1, 1], 4), ([3, 3, 3], 5), ([5, 4, 4], 8), ([4, 4, 4, 4], 7))
    yield from (
        ([6, 5, 1, 1, 1], 8),
        ([6, 6, 6, 6], 8),
        ([1], 1),
        ([1, 1], 1),
        ([8, 8, 1], 8),
    )
    yield from (([2, 2, 2], 4), ([4, 4, 4], 8), ([3, 2, 3, 2], 5), ([7, 7, 7, 2, 2], 9))
    for _ in range(8):
        max_length = random.randrange(4, 12)
        count = random.randrange(3, 9)
        yield [random.randrange(1, max_length + 1) for _ in range(count)], max_length


@exercise(
    cases=_lengths_and_rows,
    hints=(
        "There are two bounds, and the larger one counts. The first asks how many rows "
        "all tokens fill.",
        "A row that has begun counts as a row. And when are two documents of the same "
        "length too long for one row?",
    ),
)
def fewest_rows(lengths: list[int], max_length: int) -> int:
    """Return how many rows these documents need at least, by two simple bounds."""
    by_tokens = -(-sum(lengths) // max_length)
    long = [length for length in lengths if 2 * length > max_length]
    return max(by_tokens, len(long))


fewest_rows.slips("""
    -(-sum(lengths) // max_length) => sum(lengths) // max_length
    -(-sum(lengths) // max_length) => round(sum(lengths) / max_length)
        a last row that is only partly filled is a row as well: round up.
    -(-sum(lengths) // max_length) => sum(lengths) // max_length + 1
        where the tokens fill their rows exactly, a row too many is counted.
    -(-sum(lengths) // max_length) => sum(lengths) / max_length
        a part of a row is returned. A row that has begun counts as a whole one.
    -(-sum(lengths) // max_length) => -(-len(lengths) // max_length)
        documents are counted, but it is their tokens that need places.
    2 * length > max_length => 2 * length >= max_length
        two documents of exactly half a row do share one.
    2 * length > max_length => 2 * length > max(lengths)
        long is measured by the longest document. What counts is half a *row*.
    2 * length > max_length => 2 * length < max_length
        the short documents are counted. It is the long ones that cannot share a row.
    2 * length > max_length => 2 * length > max_length + 1
        a document one token longer than half a row already needs a row of its own.
    max(by_tokens, len(long)) => min(by_tokens, len(long))
        both are lower bounds, so the larger one says more.
    max(by_tokens, len(long)) => by_tokens + len(long)
        the bounds are added up, but a row with a long document holds other tokens too.
    2 * length > max_length => length > max_length
    len(long) => -(-sum(long) // max_length)
    max(by_tokens, len(long)) => by_tokens
        documents that cannot share a row are not counted: those of more than half a row
        need one each.
    max(by_tokens, len(long)) => len(long)
        the tokens of all documents are forgotten: they need places.
""")


@fewest_rows.right_way("""
    for total in range(0, => for total in range(1,
    range(0, sum(lengths), max_length) => range(0, sum(lengths) + 1, max_length)
        where the tokens fill their rows exactly…
    length > max_length // 2 => length >= max_length // 2
        two documents of exactly half…
    sum(length > ...) => len(lengths)
        every document is given a row of its own. Short ones can share.
    length > max_length // 2 => length > max_length // 2 + 1
        a document one token longer than half…
""")
def rows_begun(lengths, max_length):
    begun = sum(1 for total in range(0, sum(lengths), max_length))
    return max(begun, sum(length > max_length // 2 for length in lengths))


fewest_rows.answers("""
    len(assign_packs(lengths, max_length))
        this is what best fit needs. The two bounds depend on no strategy.
    len(assign_packs(lengths, max_length, strategy="greedy"))
        this is what greedy needs. The two bounds depend on no strategy.
    max(1, -(-sum(lengths) // max_length), sum(2 * n > max_length for n in lengths))
        without documents no row is needed, not one.
""")


# Documents end to end


def _streams(random: Random) -> Iterator[Case]:
    yield from (([], 4), ([3], 4), ([4], 4), ([5], 4), ([4, 4], 4), ([3, 5, 4, 8], 8))
    yield from (
        ([2, 3, 3], 4),
        ([1, 4], 4),
        ([9], 4),
        ([3, 1, 4, 1], 4),
        ([2, 9, 1], 4),
    )
    yield from (
        ([1, 1, 1], 1),
        ([2, 1], 1),
        ([3, 2, 3], 5),
        ([8, 3], 4),
        ([5, 3, 6], 7),
    )
    yield from (([4, 2, 4, 2], 8), ([2, 4, 3, 3], 6))
    for _ in range(8):
        lengths = [random.randrange(1, 9) for _ in range(random.randrange(3, 8))]
        yield lengths, random.randrange(3, 9)


@exercise(
    cases=_streams,
    hints=(
        "In which row is the first token of a document, and in which row is its last?",
        "Token number p of the stream is in row `p // row_length`. If a document "
        "begins at `start`, which number does its last token have?",
    ),
)
def cut_by_rows(lengths: list[int], row_length: int) -> list[int]:
    """Return the documents of a stream that do not lie in a single row."""
    cut, start = [], 0
    for document, length in enumerate(lengths):
        if start // row_length != (start + length - 1) // row_length:
            cut.append(document)
        start += length
    return cut


cut_by_rows.slips("""
    (start + length - 1) // => (start + length) //
    start // row_length != (start + length - 1) // row_length => \
    start % row_length + length >= row_length
        a document that ends where its row ends is not cut: its last token is still in
        that row.
    (start + length - 1) // => (start + length + 1) //
        the last token of a document is looked for two places too far.
    (start + length - 1) // => (start + length - 2) //
        the last token of a document is looked for one place too early.
    start // row_length != => (start + 1) // row_length !=
        the first token of a document is looked for one place too far.
    start // row_length != (start + length - 1) // row_length => length > row_length
    start += length =>
        only documents longer than a row are found. Shorter ones are cut as well, if
        they begin late in a row.
    start // row_length != (start + length - 1) // row_length => \
    start // row_length == (start + length - 1) // row_length
        the other way round: these are the documents that lie in a single row.
    cut, start = [], 0 => cut, start = [], 1
        the first document begins at place 0 of the stream.
    start += length => start = length
        only the document right before is counted, not all that come before.
    start += length => start += length + 1
        nothing lies between two documents: the next one begins right after the last.
    cut.append(document) => cut.append(document + 1)
        documents are counted from 1 here.
    cut.append(document) => cut.append(length)
        these are the lengths of the documents: return their numbers.
    cut.append(document) => cut.append(start)
        these are the places where the documents begin: return their numbers.
    return cut => return len(cut)
        that is how many are cut. Which ones are they?
""")


@cut_by_rows.right_way("""
    cut, room = [], row_length => cut, room = [], row_length - 1
        the first row holds as many tokens as every other row.
    length > room => length > room and (length - room) % row_length
        a document that ends where a row ends is cut as well if it began in an earlier
        row.
    length > room => length >= room
        a document that ends where its row…
    room = (room - length) % row_length => room = row_length - length % row_length
        only the document right before…
    room = (room - length) % row_length or row_length => room = row_length
        only documents longer than a row…
    (room - length) % row_length or row_length => \
    (room if length <= room else row_length) - length
        a document that does not fit opens a new row, but in a stream it is cut.
    (room - length) % row_length or row_length => \
    room - length if length < room else row_length
        after a document that is cut, a new row begins. Its rest is in that row.
    % row_length or row_length => + row_length * (length >= room)
        at most one row is taken off, but a long document may fill several.
    % row_length or row_length => + row_length * (length > room)
        at most one row is taken off, and none after a row that is exactly full.
    or row_length =>
        after a row that is exactly full, the next document has a whole row of room.
""")
def with_the_room_that_is_left(lengths, row_length):
    cut, room = [], row_length
    for document, length in enumerate(lengths):
        if length > room:
            cut.append(document)
        room = (room - length) % row_length or row_length
    return cut


cut_by_rows.answers("""
    [i for i, pack in enumerate(assign_packs([min(n, row_length) for n in lengths],
    row_length, strategy="greedy")) if len(pack) > 1]
        a document that does not fit opens…
""")


# A pack leaves the buffer


def _buffers(random: Random) -> Iterator[Case]:
    yield from (
        ([3], 8),
        ([3, 2, 6, 4, 2], 8),
        ([8, 1], 8),
        ([4, 4], 8),
        ([4, 5, 4], 8),
    )
    yield from (([1, 2, 3], 8), ([2, 6, 6], 8), ([5, 2, 2], 8), ([1, 1, 1, 1], 3))
    yield from (
        ([2, 3, 5, 1], 8),
        ([6, 1, 3, 1], 8),
        ([3, 4, 1, 5], 9),
        ([1, 9, 4, 5], 9),
    )
    yield from (([2, 2, 7, 3, 1], 8), ([5, 3, 2, 1], 8), ([7, 2, 2], 8))
    for _ in range(8):
        waiting = [random.randrange(1, 9) for _ in range(random.randrange(3, 8))]
        yield waiting, random.randrange(8, 13)


@exercise(
    cases=_buffers,
    hints=(
        "Keep two things: the places that have joined, and the room that is left. "
        "Which document is the first to join?",
        "Then, again and again: which places have not joined and fit into the room? Of "
        "these the one with the greatest length joins. Python's `max` with a `key` "
        "returns the first of several that are equally great.",
    ),
)
def next_pack(waiting: list[int], max_length: int) -> list[int]:
    """Return the places of the documents that leave the buffer together."""
    pack, room = [0], max_length - waiting[0]
    while True:
        others = [place for place in range(len(waiting)) if place not in pack]
        fitting = [place for place in others if waiting[place] <= room]
        if not fitting:
            return pack
        longest = max(fitting, key=lambda place: waiting[place])
        pack.append(longest)
        room -= waiting[longest]


next_pack.slips("""
    waiting[place] <= room => waiting[place] < room
        a document that fits exactly does fit.
    waiting[place] <= room => waiting[place] <= max_length - waiting[0]
        only the first document takes room, but those that joined later take some too.
    longest = max(fitting, => longest = min(fitting,
        the *shortest* document that fits joins. It should be the longest.
    longest = max(fitting, key=lambda place: waiting[place]) => longest = fitting[0]
        after the first document, the oldest that fits joins. It should be the longest.
    max(fitting, key=lambda place: waiting[place]) => \
    max(fitting[::-1], key=lambda place: waiting[place])
        a tie goes to the document that came *last*: take the one that has waited
        longest.
    longest = max(fitting, key=lambda place: waiting[place]) => longest = max(fitting)
        the document that came last joins, because places are compared, not lengths.
    [0], max_length - waiting[0] => [waiting.index(max(waiting))], \
    max_length - max(waiting)
        the pack begins with the longest document. A short one might wait forever then.
    max_length - waiting[0] => max_length
        the first document takes no room, although it is in the pack.
    pack.append(longest) => pack.append(longest) ⏎ return pack
        at most one document joins the first. Others may still fit.
    pack.append(longest) => pack.insert(0, longest)
        the places are not in the order in which the documents join.
    return pack => return sorted(pack)
        the places are sorted. Return them in the order in which the documents join.
    return pack => return [waiting[place] for place in pack]
        these are the lengths: return the places in `waiting`.
    return pack => return [place + 1 for place in pack]
        the places are counted from 1 here.
    return pack => return pack[1:]
        the document that begins the pack is missing.
""")


@next_pack.right_way("""
    length <= room => length < room
        a document that fits exactly does…
    -waiting[place] => waiting[place]
        the *shortest* document that fits…
    place not in pack and =>
        the document that begins the pack can join it once more.
    pack.append(place) => pack.append(waiting.index(length))
    place not in pack => place ; \
    pack.append(place) => pack.append(waiting.index(length))
    place not in pack => place ; \
    pack.append(place) => pack.append(waiting[1:].index(length) + 1)
        `index` finds the *first* document of that length, which may not be this one.
    room -= length =>
        only the first document takes room…
    pack, room = [0], max_length - waiting[0] => pack, room = [], max_length
        the pack begins with the longest document…
""")
def from_the_longest_down(waiting, max_length):
    pack, room = [0], max_length - waiting[0]
    for place in sorted(range(len(waiting)), key=lambda place: -waiting[place]):
        length = waiting[place]
        if place not in pack and length <= room:
            pack.append(place)
            room -= length
    return pack


next_pack.answers("""
    [0, *range(1, next((i for i in range(1, len(waiting) + 1) if
    sum(waiting[: i + 1]) > max_length), len(waiting)))]
        documents join in the order of their arrival, until one does not fit.
    assign_packs([min(n, max_length) for n in waiting], max_length)[0]
        that is the first pack of best fit, which begins with the longest document.
    [0]
        only the oldest document leaves: others that fit should join it.
""")


# Questions


def _trees(random: Random) -> Iterator[Case]:
    for max_length in (4, 8, 16):
        yield [max_length], 1, max_length
        yield [1, max_length // 2, max_length], 2, max_length
    yield from (([1, 3], 2, 3), ([5], 2, 5), ([1, 2, 6], 2, 6), ([3, 4, 6], 3, 6))
    for _ in range(8):
        max_length = random.randrange(5, 12)
        rooms = random.sample(range(1, max_length + 1), 3)
        yield rooms, random.randrange(1, max(rooms) + 1), max_length


def smallest_room_by_hand(rooms: list[int], length: int, max_length: int) -> int:
    return min(room for room in rooms if room >= length)


@bug_or_not(
    purpose=(
        "Find the smallest room of at least `length`, without looking at all rooms. "
        "`rooms` are the different rooms that packs have left, from 1 to `max_length`. "
        "They are the leaves of a tree, ordered by size, and every node holds the "
        "largest room below it. The function begins at the root. It goes to the left "
        "if the largest room there is enough, and otherwise to the right. At least "
        "one room is large enough."
    ),
    reference=smallest_room_by_hand,
    cases=_trees,
    explanation=(
        "The leaves are in their order only if their number is a power of two. With "
        "any other number, some leaves are one level higher. Then the way down can end "
        "at a room that is not the smallest, or that is even too small. The cure is to "
        "round the number of leaves up to a power of two. This is the bug at the "
        "beginning of the lesson (huggingface/trl, issue 3887). Rows of 8,192 places "
        "went well, because 8,192 is a power of two. Rows of 8,193 did not."
    ),
)
def room_from_a_tree(rooms: list[int], length: int, max_length: int) -> int:
    tree = [0] * (2 * max_length)
    for room in rooms:
        tree[max_length + room - 1] = room
    for node in range(max_length - 1, 0, -1):
        tree[node] = max(tree[2 * node], tree[2 * node + 1])
    node = 1
    while node < max_length:
        node = 2 * node if tree[2 * node] >= length else 2 * node + 1
    return tree[node]


def _chats(random: Random) -> Iterator[Case]:
    yield from (([[1, 2, 3]], 4), ([[1, 2, 3, 4, 5]], 4), ([[1], [], [2, 3]], 2))
    yield from (([[1, 2], [3, 4, 5, 6, 7, 8, 9]], 3), ([[1, 2, 3, 4], [5, 6, 7]], 2))


def beginnings_of_chats(chats: list[list[int]], max_length: int) -> list[list[int]]:
    pieces = []
    for ids in chats:
        piece = []
        while len(piece) < min(len(ids), max_length):
            piece.append(ids[len(piece)])
        pieces += [piece] if piece else []
    return pieces


@bug_or_not(
    purpose=(
        "Prepare conversations for packing into rows of `max_length`. Each piece must "
        "begin as a conversation begins, with its instructions and its first question, "
        "and be as long as it can. Empty conversations are left out."
    ),
    reference=beginnings_of_chats,
    cases=_chats,
    explanation=(
        "It throws tokens away, and it is meant to. The rest of a long conversation "
        "begins in the middle of an answer, and is not an example to learn from. For "
        "plain text the same line would be a bug, because the rest of a text is text "
        "like any other. The library huggingface/trl has done it both ways, and each "
        "way hurt some users (pull requests 4632 and 5076). Now it lets you choose."
    ),
)
def too_long_is_thrown_away(chats: list[list[int]], max_length: int) -> list:
    return [ids[:max_length] for ids in chats if ids]


def best_fit_is_ahead(lengths: list[int], max_length: int) -> bool:
    best, greedy = (
        assign_packs(lengths, max_length, strategy=strategy)
        for strategy in ("best_fit", "greedy")
    )
    return len(best) <= len(greedy)


def _orders(random: Random) -> Iterator[Case]:
    yield from (([7, 2, 5, 3, 1, 6, 4, 2, 5, 3], 8), ([4, 4, 4], 8), ([3, 5, 3, 5], 8))
    yield from (([3, 2, 2, 2, 2, 3], 7), ([5, 3, 2, 2, 6, 2], 10))
    for _ in range(5):
        yield [random.randrange(1, 9) for _ in range(8)], 8


@true_or_false(
    claim=(
        "Best fit never needs more packs than greedy does for the same documents: it "
        "may look at every pack and at every length first, while greedy looks at one "
        "pack and at one document after another."
    ),
    reference=best_fit_is_ahead,
    cases=_orders,
    explanation=(
        "Documents of 3, 2, 2, 2, 2 and 3 tokens fill two rows of 7 exactly, in this "
        "order, and greedy keeps the order. Best fit begins with 3 + 3, which leaves a "
        "place that nothing fills, and needs a third row. Looking at everything is not "
        "the same as trying everything. On the long list of documents in section 4, "
        "where short and long ones mix, best fit was far ahead."
    ),
)
def best_fit_never_needs_more(lengths: list[int], max_length: int) -> bool:
    return True


# With other numbers by seed.


def _lengths_to_pack(rng: Random) -> dict[str, object]:
    return {
        "lengths": [rng.randrange(10, 70) for _ in range(9)],
        "max_length": 100,
    }


@numbers(
    ask="Documents of {lengths} ids are packed into rows of {max_length} in this "
    "order: one that does not fit opens a new row, and no earlier row is used again. "
    "How "
    "many places of all these rows stay empty?",
    draw=_lengths_to_pack,
    hints=("Keep track of the room that is left in the open row.",),
)
def empty_places(lengths: list[int], max_length: int) -> int:
    rows = assign_packs(lengths, max_length, strategy="greedy")
    return len(rows) * max_length - sum(lengths)


empty_places.answers("""
    len(assign_packs(lengths, max_length, strategy="best_fit")) * max_length - \
    sum(lengths)
        best fit: here, a row that was left is never opened again.
    len(lengths) * max_length - sum(lengths)
        a row for each document. One that fits goes into the open row.
    max_length - sum(lengths[document] for document in
    assign_packs(lengths, max_length, strategy="greedy")[-1])
        those of the last row alone.
""")


def _stream_to_cut(rng: Random) -> dict[str, object]:
    return {"lengths": [rng.randrange(20, 90) for _ in range(7)], "row_length": 100}


@numbers(
    ask="Documents of {lengths} ids lie end to end in one stream, which is cut every "
    "{row_length} ids. How many ids do the documents that are cut into pieces have "
    "together?",
    draw=_stream_to_cut,
    hints=("Write down where each document begins, and where its last id is.",),
)
def ids_of_cut_documents(lengths: list[int], row_length: int) -> int:
    cut = cut_by_rows.reference(lengths, row_length)
    return sum(lengths[document] for document in cut)


ids_of_cut_documents.answers("""
    sum(n for n in lengths if n > row_length)
        only those longer than a row: others are cut if they begin late in one.
    len(cut_by_rows.reference(lengths, row_length))
        the number of documents. How many ids do they have together?
    sum(lengths) - sum(lengths[document] for document in
    cut_by_rows.reference(lengths, row_length))
        the ids of those that stay whole.
""")


@numbers(
    ask="Documents of {lengths} ids wait, in this order. Rows of {max_length} are "
    "cropped in order: each row is filled to its end, the document that does not fit "
    "is cut to the room that is left, and the part that is cut is thrown away. How "
    "many ids are thrown away?",
    draw=lambda rng: {
        "lengths": [rng.randrange(30, 80) for _ in range(6)],
        "max_length": 100,
    },
    hints=("After a document that was cut, a new row begins with the next document.",),
)
def ids_thrown_away(lengths: list[int], max_length: int) -> int:
    room, lost = max_length, 0
    for length in lengths:
        lost += max(0, length - room)
        room = room - length if length < room else max_length
    return lost


ids_thrown_away.answers("""
    sum(lengths) % max_length
        the ids after the last full row of a stream. Cropping loses some in each row.
    sum(max(0, n - max_length) for n in lengths)
        what is longer than a whole row. Cropping cuts to the room that is *left*.
    len(assign_packs(lengths, max_length, strategy="greedy")) * max_length - \
    sum(lengths)
        the places that greedy packing leaves empty. Cropping leaves none.
""")
