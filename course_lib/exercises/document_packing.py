"""Exercises of lesson 09: which documents share a row, which are cut, and who waits."""

from collections.abc import Iterator
from random import Random

from course_lib.document_packing import assign_packs
from course_lib.teaching.checker import Case, bug_or_not, exercise, true_or_false


def _lengths(random: Random) -> Iterator[Case]:
    for lengths in ([], [3], [4], [2, 2], [3, 1, 1], [1, 4], [4, 4], [3, 3, 1]):
        yield lengths, 4
    yield from (([1, 3, 4, 2], 4), ([2, 3, 1, 3], 5), ([5, 3, 3, 1], 7), ([1, 1], 1))
    for _ in range(9):
        max_length = random.randrange(4, 10)
        count = random.randrange(4, 9)
        yield random.choices(range(1, max_length + 1), k=count), max_length


@exercise(
    cases=_lengths,
    hints=(
        "Remember how much room the last pack has left. When does a document need a "
        "new one?",
        "If its length is larger than the room, append an empty pack, which has all "
        "of its room. Either way, the document then goes into the *last* pack and "
        "takes up room. What must the room be before the first document, so that it "
        "opens the first pack?",
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


def _greedy(lengths, closes, first=1) -> list[list[int]]:
    packs, used = [], 0
    for document, length in enumerate(lengths):
        if not packs or closes(used, length):
            packs.append([document])
            used = first * length
        else:
            packs[-1].append(document)
            used += length
    return packs


def _first_fit(lengths, max_length) -> list[list[int]]:
    packs = []
    for document, length in enumerate(lengths):
        used = (sum(lengths[i] for i in pack) for pack in packs)
        fitting = (n for n, taken in enumerate(used) if taken + length <= max_length)
        if (first := next(fitting, None)) is None:
            packs.append([document])
        else:
            packs[first].append(document)
    return packs


pack_in_order.mistake(
    "you turn away a document that fits exactly, and would just fill the pack.",
    lambda lengths, room: _greedy(lengths, lambda used, n: used + n >= room),
)
pack_in_order.mistake(
    "you go back to an *earlier* pack, but only the last one is still open.",
    _first_fit,
)
pack_in_order.mistake(
    "you fill the packs with lengths, not with the numbers of the documents.",
    lambda lengths, room: [
        [lengths[i] for i in pack] for pack in pack_in_order(lengths, room)
    ],
)
pack_in_order.mistake(
    "you forget that the document that opens a pack takes up room, too.",
    lambda lengths, room: _greedy(lengths, lambda used, n: used + n > room, first=0),
)
pack_in_order.mistake(
    "you close a pack only once it's full, so it can get too long. Ask whether a "
    "document fits *before* you put it in.",
    lambda lengths, room: _greedy(lengths, lambda used, n: used >= room),
)


pack_in_order.mistake(
    "you return a pack that holds nothing. Do you begin with `[[]]`, or add a last "
    "pack without looking inside? Open a pack only when a document needs one.",
    lambda lengths, room: pack_in_order(lengths, room) or [[]],
    lambda lengths, room: [[], *pack_in_order(lengths, room)],
)


def _rooms(random: Random) -> Iterator[Case]:
    for rooms in ([], [3], [2], [1], [5, 3], [3, 5], [2, 5, 2], [0, 0, 0, 5, 2]):
        yield rooms, 2
    yield from (([1, 4, 3], 3), ([4, 4, 2], 3), ([0, 6, 0, 6], 1), ([4, 0, 3], 1))
    for _ in range(14):
        yield random.choices(range(8), k=random.randrange(2, 7)), random.randrange(1, 8)


@exercise(
    cases=_rooms,
    hints=(
        "First ask which packs have enough room at all. Which of these is the fullest?",
        "The fullest pack has the least room left. Take the `min` of the *numbers* of "
        "these packs, with their rooms as the `key`. If several are equally full, it "
        "gives you the first. And what does it do if there are none?",
    ),
)
def best_pack(rooms: list[int], length: int) -> int | None:
    """Return the fullest pack that has room for a document, or None if none has."""
    fitting = [pack for pack, room in enumerate(rooms) if room >= length]
    return min(fitting, key=lambda pack: rooms[pack], default=None)


def _fitting(rooms: list[int], length: int) -> list[int]:
    return [pack for pack, room in enumerate(rooms) if room >= length]


def _place_of_least(rooms: list[int]) -> int | None:
    return rooms.index(min(rooms)) if rooms else None


best_pack.mistake(
    "you skip a pack with exactly that much room, but the document fits there, and "
    "nowhere better.",
    lambda rooms, length: best_pack(rooms, length + 1),
)
best_pack.mistake(
    "you take the *first* pack that has room, not the fullest of them.",
    lambda rooms, length: next(iter(_fitting(rooms, length)), None),
)
best_pack.mistake(
    "you take the *emptiest* pack, but the fullest is the one with the *least* room.",
    lambda rooms, length: max(
        _fitting(rooms, length), key=rooms.__getitem__, default=None
    ),
)
best_pack.mistake(
    "you ask `if best`, or write `best or None`, so pack 0 counts as none. Compare "
    "with `is None`.",
    lambda rooms, length: best_pack(rooms, length) or None,
)
best_pack.mistake(
    "you return a room, or a place in a shorter list, but the answer is the pack's "
    "number, its place in `rooms`.",
    lambda rooms, length: min((r for r in rooms if r >= length), default=None),
    lambda rooms, length: _place_of_least([r for r in rooms if r >= length]),
)
best_pack.mistake(
    "among equally full packs you take the last one, but the first should win. Do you "
    "compare with `<=`?",
    lambda rooms, length: min(
        _fitting(rooms, length)[::-1], key=rooms.__getitem__, default=None
    ),
)


def _streams(random: Random) -> Iterator[Case]:
    for lengths in ([], [3], [4], [5], [4, 4], [2, 3, 3], [1, 4], [9], [2, 9, 1]):
        yield lengths, 4
    yield from (([1, 1, 1], 1), ([2, 1], 1), ([3, 2, 3], 5), ([5, 3, 6], 7))
    yield from (([3, 5, 4, 8], 8), ([4, 2, 4, 2], 8), ([2, 4, 3, 3], 6), ([8, 3], 4))
    for _ in range(8):
        lengths = random.choices(range(1, 9), k=random.randrange(3, 8))
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


def _cut_where(lengths, is_cut) -> list[int]:
    return [i for i, n in enumerate(lengths) if is_cut(sum(lengths[:i]), n)]


cut_by_rows.mistake(
    "you count a document that ends where its row ends, but it isn't cut. Its last "
    "token is still in that row.",
    lambda lengths, row: _cut_where(lengths, lambda s, n: s // row != (s + n) // row),
)
cut_by_rows.mistake(
    "you find only documents that are longer than a row, but shorter ones get cut, "
    "too, if they begin late in a row.",
    lambda lengths, row: _cut_where(lengths, lambda s, n: n > row),
)
cut_by_rows.mistake(
    "you return the documents that stay whole, not those that are cut.",
    lambda lengths, row: _cut_where(
        lengths, lambda s, n: s // row == (s + n - 1) // row
    ),
)
cut_by_rows.mistake(
    "you return lengths, or starts, not the numbers of the documents.",
    lambda lengths, row: [lengths[i] for i in cut_by_rows(lengths, row)],
    lambda lengths, row: [sum(lengths[:i]) for i in cut_by_rows(lengths, row)],
)


def _buffers(random: Random) -> Iterator[Case]:
    for waiting in ([3], [3, 2, 6, 4, 2], [8, 1], [4, 4], [4, 5, 4], [1, 2, 3]):
        yield waiting, 8
    for waiting in ([2, 6, 6], [5, 2, 2], [2, 3, 5, 1], [6, 1, 3, 1], [7, 2, 2]):
        yield waiting, 8
    yield from (([1, 1, 1, 1], 3), ([3, 4, 1, 5], 9), ([1, 9, 4, 5], 9))
    for _ in range(10):
        waiting = random.choices(range(1, 9), k=random.randrange(3, 8))
        yield waiting, random.randrange(8, 13)


@exercise(
    cases=_buffers,
    hints=(
        "Keep track of two things, the places that have joined the pack, and the room "
        "that's left in it. Which document is the first to join?",
        "Then ask, again and again, which of the documents that haven't joined still "
        "fit into the room. The longest of them joins. If several are equally long, "
        "Python's `max` with a `key` returns the first.",
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


def _joined(waiting, room, key, pack=(0,), fits=int.__le__) -> list[int]:
    pack, room = list(pack), room - sum(waiting[place] for place in pack)
    for place in sorted(range(len(waiting)), key=key):
        if place not in pack and fits(waiting[place], room):
            pack.append(place)
            room -= waiting[place]
    return pack


next_pack.mistake(
    "you turn away a document that fits exactly, although there's just enough room "
    "for it.",
    lambda waiting, room: _joined(
        waiting, room, lambda i: -waiting[i], fits=int.__lt__
    ),
)
next_pack.mistake(
    "you let the *shortest* document that fits join, not the longest.",
    lambda waiting, room: _joined(waiting, room, lambda i: waiting[i]),
)
next_pack.mistake(
    "after the first document you go by age. Take the longest of those that fit.",
    lambda waiting, room: _joined(waiting, room, lambda i: i),
)
next_pack.mistake(
    "you begin with the longest document, so a short one might wait forever. Begin "
    "with the one that has waited longest.",
    lambda waiting, room: _joined(waiting, room, lambda i: -waiting[i], pack=()),
)
next_pack.mistake(
    "you sort the places. Leave them in the order in which the documents join.",
    lambda waiting, room: sorted(next_pack(waiting, room)),
)
next_pack.mistake(
    "you stop after one more document. Keep going until none fits.",
    lambda waiting, room: next_pack(waiting, room)[:2],
)


def _ranks(random: Random) -> Iterator[Case]:
    for ranks in ([[3]], [[3, 1], [2, 2]], [[4], [4]], [[4], [2, 2]], [[2, 2], []]):
        yield (ranks,)
    yield from (([[5], [4, 1], [3, 2]],), ([[1, 1, 1], [3], [2, 1]],), ([[], []],))
    for _ in range(12):
        num_ranks = random.randrange(2, 5)
        yield (
            [
                random.choices(range(1, 9), k=random.randrange(4))
                for _ in range(num_ranks)
            ],
        )


@exercise(
    cases=_ranks,
    hints=(
        "How much work does each rank have? A document costs the square of its length, "
        "whatever else is in its row.",
        "All ranks take as long as the one with the most work. So how long does each "
        "of the others wait? Add it up over all of them.",
    ),
)
def work_waited(ranks: list[list[int]]) -> int:
    """Return how much work the ranks could do while they wait for the slowest."""
    work = [sum(length**2 for length in lengths) for lengths in ranks]
    return sum(max(work) - own for own in work)


def _waited(work: list[int]) -> int:
    return sum(max(work) - own for own in work)


work_waited.mistake(
    "you square the length of all documents together, as if they saw each other. "
    "Square each length, then add.",
    lambda ranks: _waited([sum(lengths) ** 2 for lengths in ranks]),
)
work_waited.mistake(
    "you count tokens, but equal tokens are not equal work. Square each length.",
    lambda ranks: _waited([sum(lengths) for lengths in ranks]),
)
work_waited.mistake(
    "you compare the slowest rank with the fastest alone, but the others wait, too. "
    "Add up all of them.",
    lambda ranks: (
        max(sum(n**2 for n in lengths) for lengths in ranks)
        - min(sum(n**2 for n in lengths) for lengths in ranks)
    ),
)
work_waited.mistake(
    "you return all the time that the ranks take, working or not, so subtract the work "
    "that they do.",
    lambda ranks: len(ranks) * max(sum(n**2 for n in lengths) for lengths in ranks),
)
work_waited.mistake(
    "you leave out a rank without documents, but it waits all the time.",
    lambda ranks: _waited(
        [sum(n**2 for n in lengths) for lengths in ranks if lengths] or [0]
    ),
)
work_waited.mistake(
    "you look only at the longest document of each rank, but the others cost "
    "something, too.",
    lambda ranks: _waited([max(lengths, default=0) ** 2 for lengths in ranks]),
)


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
        "The leaves are in order only if their number is a power of two. With any "
        "other number, some leaves are one level higher. Then the way down can end at "
        "a room that isn't the smallest, or that's even too small. The cure is to "
        "round the number of leaves up to a power of two. This is the bug at the "
        "beginning of the lesson (huggingface/trl, issue 3887). Rows of 8,192 slots "
        "worked, because 8,192 is a power of two. Rows of 8,193 didn't."
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
        "It throws tokens away, and it's meant to. The rest of a long conversation "
        "begins in the middle of an answer, and isn't an example to learn from. For "
        "plain text the same line would be a bug, because the rest of a text is text "
        "like any other. In TRL 1.16, `bfd` throws the rest away, while `bfd_split` "
        "keeps it."
    ),
)
def too_long_is_thrown_away(chats: list[list[int]], max_length: int) -> list:
    return [ids[:max_length] for ids in chats if ids]


def _files(random: Random) -> Iterator[Case]:
    for num_ids in (3, 5, 6, 9, 10, 14, 20):
        yield from ((list(range(num_ids)), max_length) for max_length in (6, 9, 12))


def middles_by_hand(ids: list[int], max_length: int) -> list[list[int]]:
    rows = []
    while ids:
        piece, ids = ids[: max_length - 3], ids[max_length - 3 :]
        third = len(piece) // 3
        prefix, rest = piece[:third], piece[third:]
        rows.append([900, *prefix, 901, *rest[third:], 902, *rest[:third]])
    return rows


@bug_or_not(
    purpose=(
        "Prepare a file of code for fill-in-the-middle, in rows of at most "
        "`max_length` ids, which is at least 6. The sentinel 900 begins a prefix, 901 "
        "the suffix, and 902 the middle, which comes last, because the model has to "
        "write it from the other two. Every row is read by itself, so each must hold "
        "all three parts, and no id of the file is lost."
    ),
    reference=middles_by_hand,
    cases=_files,
    explanation=(
        "A file that fits into one row comes out right, which is why tests with short "
        "files pass. A longer one is cut after its parts were moved. Its first row "
        "holds the prefix and promises a middle that never comes, and its last row "
        "holds a middle whose prefix is in another row. Users have found rows like "
        "these (loubnabnl/santacoder-finetuning, issue 22). Cut first, into pieces "
        "three ids shorter than a row, and move the middle within each. Bavarian and "
        "others (2022) call this context-level."
    ),
)
def middle_moved_before_the_cut(ids: list[int], max_length: int) -> list[list[int]]:
    third = len(ids) // 3
    prefix, middle, suffix = ids[:third], ids[third : 2 * third], ids[2 * third :]
    moved = [900, *prefix, 901, *suffix, 902, *middle]
    return [moved[i : i + max_length] for i in range(0, len(moved), max_length)]


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
        "slot that nothing fills, and needs a third row. Looking at everything isn't "
        "the same as trying everything. On the long list of documents in section 4, "
        "where short and long ones mix, best fit was far ahead."
    ),
)
def best_fit_never_needs_more(lengths: list[int], max_length: int) -> bool:
    return True
