"""Exercises of lesson 11: places in shards, windows across them, splits, blocks, copies
and pages."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise  # noqa: F401, for the tables
from random import Random

import numpy as np

from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false


def _places(random: Random) -> Iterator[Case]:
    for sizes in ([5], [3, 4], [4, 2], [2, 7, 3], [5, 1, 1, 6], [1, 1, 1], [4, 4, 2]):
        for position in range(sum(sizes)):
            yield position, sizes
    yield 100, [10] * 12
    yield 29, [10] * 12


@exercise(
    cases=_places,
    hints=(
        "Shards may differ in size. Walk over them: what is left of `position` when "
        "you have passed the first shard?",
        "As long as `position` is not smaller than the size of the current shard, "
        "subtract that size and go to the next shard. What is left at the end?",
    ),
)
def locate(position: int, shard_sizes: list[int]) -> tuple[int, int]:
    """Return the shard that holds the id at `position`, and its place in that shard."""
    shard = 0
    while position >= shard_sizes[shard]:
        position -= shard_sizes[shard]
        shard += 1
    return shard, position


locate.slips("""
    position >= => position >
        the id right after a shard is the first one of the next: 4 ids have the places
        0 to 3.
    position >= shard_sizes[shard]: => \
    position >= shard_sizes[shard] and shard < len(shard_sizes) - 2:
        the last shard can never be reached.
    position -= shard_sizes[shard] shard += 1 => \
    shard += 1 ⏎ position -= shard_sizes[shard]
        the size of the *next* shard is subtracted, not of the one that you passed.
    return shard, position => return position, shard
        shard and place are in the wrong order: the shard comes first.
    return shard, => return shard_sizes.index(shard_sizes[shard]),
        `index` finds the first shard of that size, but others may have the same size.
""")


@locate.right_way("""
    bisect_right(starts, position) - 1 => bisect_right(starts, position)
        this is the shard *after* the right one: subtract 1.
    bisect_right(starts, position) - 1 => max(0, bisect_right(starts, position - 1) - 1)
        the id right after a shard…
    bisect_right(starts, position) - 1 => bisect_right(starts, position - 1) - 1
        the first id of every shard, even id 0, is taken as the last of the one before.
    bisect_right(starts, position) - 1 => bisect_right(starts, position - 1)
        this is the first shard that begins *after* the position, or at it.
    bisect_right(starts, position) => bisect_right(starts, position + 1)
        the last id of a shard is taken as the first of the next.
    bisect_right(starts, position) - 1 => len(shard_sizes) - 1
        this returns the last shard, whatever the position.
    bisect_right(starts, position) - 1 => position // shard_sizes[0]
        the search assumes that all shards are as large as the first.
    return shard, => return shard + 1,
        shards are counted from 1, but they count from 0.
    return shard, => return shard - 1,
        every position gets the shard before its own.
    return shard, => return min(shard, max(0, len(shard_sizes) - 2)),
        the last shard can never be reached.
    return shard, => return shard_sizes.index(shard_sizes[shard]),
        `index` finds the first shard…
    return shard, position - starts[shard] => return position - starts[shard], shard
        shard and place are in the wrong order…
    position - starts[shard] => position
        this is the place in the whole stream: subtract the shards before.
    position - starts[shard] => 0
        the place is always 0, but it is the distance from the shard's start.
    return shard, position - starts[shard] => return shard, position - starts[shard] + 1
        places are counted from 1, but they count from 0.
    return shard, position - starts[shard] => return shard, position - starts[shard] - 1
        1 is subtracted from the place, but the first id of a shard has the place 0.
    starts[shard] => (shard_sizes[shard - 1] if shard else 0)
        only the shard right before is subtracted, not all shards before.
    starts[shard] => shard_sizes[shard]
        the size of the shard itself is subtracted, not the sizes of those before.
    starts[shard] => starts[shard + 1]
        the shards up to this one are subtracted, and not only those before it.
    starts[shard] => starts[1:][shard - 1]
        before shard 0 there is nothing to subtract, and `ends[-1]` is the end of all.
    starts[shard] => shard * shard_sizes[0]
        the shards before are assumed to be as large as the first.
    position - starts[shard] => starts[shard + 1] - position
        the place is counted from the end of the shard.
    position - starts[shard] => starts[shard + 1] - 1 - position
        the place is counted from the last id of the shard.
    position - starts[shard] => position % shard_sizes[0]
        the place is taken as a remainder by the size of the first shard.
    position - starts[shard] => position % shard_sizes[shard]
        a remainder by the shard's size is not the place: subtract the sizes of the
        shards before.
""")
def by_starts(position, shard_sizes):
    starts = [0, *accumulate(shard_sizes)]
    shard = bisect_right(starts, position) - 1
    return shard, position - starts[shard]


locate.answers("""
    locate.reference(position, sorted(shard_sizes))
    locate.reference(position, sorted(shard_sizes, reverse=True))
        the sizes are sorted first, but the shards stay in their order.
    divmod(position, shard_sizes[0])
        all shards are assumed to be as large as the first, but they may differ.
    divmod(position, max(shard_sizes))
        all shards are assumed to be as large as the largest, but they may differ.
    divmod(position, sum(shard_sizes) // len(shard_sizes))
        all shards are assumed to be equally large, but they may differ: add them up.
    next(((shard, position) for shard, size in enumerate(shard_sizes) \
    if position < size), (len(shard_sizes) - 1, position))
        this is the first shard that is larger than the position, but the ids of the
        shards before also count.
    (position % len(shard_sizes), position // len(shard_sizes))
        ids are not dealt out like cards: shard 0 has the first ones, all together.
""")


# How many windows cross a border?


def _sizes(random: Random) -> Iterator[Case]:
    yield from (([5], 3), ([0], 3), ([4, 4], 3), ([4, 4], 1), ([10, 10], 4))
    yield from (([2, 2, 2], 4), ([2, 2, 2], 5), ([2, 2], 3), ([2, 2], 4), ([1, 1], 1))
    for context_length in (1, 2, 3, 5, 8):
        for sizes in ([7, 7, 3], [3, 9], [6, 6, 6, 1], [9, 2, 9], [4, 1, 1, 4], [12]):
            yield sizes, context_length
    yield [30, 30, 7], 20


@exercise(
    cases=_sizes,
    hints=(
        "A window that crosses no border lies wholly inside one shard. How many such "
        "windows are there, and how many are there in all?",
        "In n ids there are max(0, n - T) windows of T + 1. Count those of the whole "
        "stream, and subtract those of each shard.",
    ),
)
def crossing_windows(shard_sizes: list[int], context_length: int) -> int:
    """Count the windows of T + 1 ids, one at each start, that lie in several shards."""
    windows = max(0, sum(shard_sizes) - context_length)
    inside = sum(max(0, size - context_length) for size in shard_sizes)
    return windows - inside


crossing_windows.slips("""
    sum(shard_sizes) - context_length) => sum(shard_sizes) - context_length + 1) ; \
    size - context_length) => size - context_length + 1)
        this counts windows of T ids, but with the last target they have T + 1.
    sum(shard_sizes) - context_length) => sum(shard_sizes) - context_length - 1) ; \
    size - context_length) => size - context_length - 1)
        this counts windows of T + 2 ids, but they have T + 1.
    sum(shard_sizes) - context_length) => sum(shard_sizes) - context_length + 1)
        the whole stream gets one window too many: there are N - T.
    sum(shard_sizes) - context_length) => sum(shard_sizes) - context_length - 1)
        the whole stream gets one window too few: there are N - T.
    windows = max(0, ...) => windows = (...)
        a stream too short for a window has 0 windows, and not fewer.
    max(0, sum(shard_sizes) - context_length) => sum(shard_sizes)
        a window does not start at every id: the last T ids have no room for one.
    max(0, sum(shard_sizes) - context_length) => \
    (sum(shard_sizes) - 1) // context_length
    max(0, sum(shard_sizes) - context_length) => sum(shard_sizes) // context_length
    max(0, sum(shard_sizes) - context_length) => \
    sum(shard_sizes) // (context_length + 1)
        the stream's windows are counted end to end, but they start at every id.
    size - context_length) => size - context_length + 1)
        one window too many is counted in each shard: n ids have n - T.
    size - context_length) => size - context_length - 1)
        one window too few is counted in each shard: n ids have n - T.
    max(0, size - context_length) for => (size - context_length) for
        a shard too short for a window has 0 windows, and not fewer.
    sum(max(0, size - context_length) for size in shard_sizes) => \
    max(0, sum(size - context_length for size in shard_sizes))
        only the sum is kept from falling below 0, but each shard's count must be.
    in shard_sizes) => in shard_sizes[:-1])
        the last shard is left out.
    in shard_sizes) => in shard_sizes[:1])
        only the windows of the first shard are subtracted.
    for size in shard_sizes) => for size in shard_sizes[:1] * len(shard_sizes))
        all shards are assumed to be as large as the first.
    in shard_sizes) => in shard_sizes if size > context_length + 1)
        a shard of exactly T + 1 ids is not too short: it holds one window.
    max(0, size - context_length) for => max(0, (size - 1) // context_length) for
    max(0, size - context_length) for => size // context_length for
    max(0, size - context_length) for => size // (context_length + 1) for
        each shard's windows are counted end to end, but they start at every id.
    return windows - inside => return inside
        these windows lie *inside* a shard: return the number of the others.
    return windows - inside => return windows
        that is the number of all windows: subtract those inside a shard.
""")


@crossing_windows.right_way("""
    + context_length] => + context_length - 1]
        a window is taken to end with its last input, but its target may be across.
    range(len(shards) - context_length) => \
    range(0, len(shards) - context_length, context_length)
        windows are taken T apart, but they start at every id.
    range(len(shards) - context_length) => range(len(shards) - context_length - 1)
        the last window of the stream is left out.
    shards[start] != => shards[max(0, start - 1)] !=
        a window that begins right after a border is counted, but it does not cross it.
    shards[start] != => shards[start] ==
        these windows lie *inside* a shard…
""")
def both_ends_compared(shard_sizes, context_length):
    shards = [k for k, size in enumerate(shard_sizes) for _ in range(size)]
    starts = range(len(shards) - context_length)
    return sum(shards[start] != shards[start + context_length] for start in starts)


crossing_windows.answers("""
    context_length * (len(shard_sizes) - 1)
        T windows for each border, but a window can cross two borders, and near the end
        there may be no room for T windows.
    (context_length + 1) * (len(shard_sizes) - 1)
        T + 1 windows for each border, but the window that begins right after a border
        does not cross it. And a window can cross two borders.
    (context_length - 1) * (len(shard_sizes) - 1)
    sum(min(context_length - 1, size) for size in shard_sizes[:-1])
        T - 1 windows for each border, but with its last target a window has T + 1 ids.
        And a window can cross two borders.
    context_length * len(shard_sizes)
        T windows for each *shard*, but after the last shard there is no border. And a
        window can cross two borders.
    len(shard_sizes) - 1
        that is the number of borders, but many windows cross each of them.
    sum(max(0, min(end, sum(shard_sizes) - context_length) - max(0, end - \
    context_length)) for end in list(accumulate(shard_sizes))[:-1])
        a window that crosses several borders is counted at each of them.
    sum(min(context_length, size) for size in shard_sizes[:-1])
        each border gets min(T, size of the shard before) windows, but near the end of
        the stream there may be no room for all of them.
    sum(crossing_windows.reference([a, b], context_length) \
    for a, b in pairwise(shard_sizes))
        each border is treated with its two shards alone, but a window can reach a
        third shard.
    sum(min(context_length, a, b) for a, b in pairwise(shard_sizes))
        each border gets at most as many windows as either shard has ids, but a window
        can reach over a whole shard.
    sum(min(context_length, size) for size in shard_sizes[1:])
        each border gets at most as many windows as the next shard has ids, but a
        window can reach over a whole shard.
    min(context_length, min(shard_sizes)) * (len(shard_sizes) - 1)
        the smallest shard limits all borders, but each shard counts only where it is.
    0 if min(shard_sizes) <= context_length else context_length * (len(shard_sizes) - 1)
        0 if a shard is shorter than a window, but then windows cross all the more.
""")


# Which split?


def _numbers(random: Random) -> Iterator[Case]:
    for val_every in (1, 2, 3, 5, 10):
        for number in (*range(8), 9, 10, 11, 19, 20, 21, 29, 30):
            yield number, val_every
    yield from ((98, 100), (99, 100), (100, 100), (199, 100), (999, 100))


@exercise(
    cases=_numbers,
    hints=(
        "`number` counts from 0, but the rule counts from 1: add one before you ask "
        "for a remainder.",
        "How many of the documents before this one went to `val`? Every "
        "`val_every`-th, so `number // val_every`. The others went to `train`.",
    ),
)
def split_of(number: int, val_every: int) -> tuple[str, int]:
    """Return the split of the document with this number, and its place in that
    split."""
    before = number // val_every
    if (number + 1) % val_every == 0:
        return "val", before
    return "train", number - before


split_of.slips("""
    (number + 1) % val_every == => number % val_every ==
        the rule counts from 1, `number` from 0: number 0 is not the first `val`
        document.
    (number + 1) % val_every == 0 => number % val_every == 0 and number > 0
        the rule counts from 1, `number` from 0: with 3, number 2 goes to `val`, not 3.
    (number + 1) % val_every == => (number + 2) % val_every ==
        2 is added to `number`: with `val_every` = 3, 2, 5 and 8 go to `val`.
    (number + 1) % val_every == => (number - 1) % val_every ==
    (number + 1) % val_every == 0 => number % val_every == 1
        1 is subtracted, not added: with `val_every` = 3, 2, 5 and 8 go to `val`.
    == 0 => != 0
        the two splits are swapped: `val` is the small one.
    (number + 1) % val_every == 0 => number < val_every
        the first documents go to `val`, but every `val_every`-th one should.
    (number + 1) % val_every == 0 => number % val_every == val_every
        no document ever goes to `val`, because no remainder is `val_every` itself.
    % val_every == => // val_every ==
        `//` is the quotient, but the remainder, `%`, finds every `val_every`-th.
    == 0 => == 0 and val_every > 1
        with `val_every` = 1 every document goes to `val`, since any number % 1 is 0.
    "val", before => "val", before + 1
    before = number // => before = (number + 1) //
        places in `val` are counted from 1, but they count from 0.
    "val", before => "val", number
        a document of `val` keeps its number: count the `val` documents before it.
    "val", before => "val", number % val_every
        a document of `val` gets a remainder as its place.
    "val", before => "val", before - 1
        1 is subtracted from the places in `val`, but the first place is 0.
    "val", before => "val", number / val_every
        a place in `val` is a whole number: `//`, not `/`.
    "val", before => "val", 0
        every document of `val` gets place 0.
    "val", before => "val", number - before
        a document of `val` gets the place that it would have in `train`.
    "train", number - before => "train", number
        a document of `train` keeps its number: subtract the `val` documents before it.
    "train", number - before => "train", number - (before > 0)
        in `train`, a single `val` document is subtracted, however many come before.
    "train", number - before => "train", number - before + 1
        places in `train` are counted from 1, but they count from 0.
    "train", number - before => "train", number - before - 1
        in `train`, one `val` document too many is subtracted from the beginning on.
    "train", number - before => "train", number - (number + val_every - 1) // val_every
        in `train`, the count of `val` documents assumes that number 0 is one.
    "train", number - before => "train", number - (number - 1) // val_every
        in `train`, the `val` documents are counted among `number` - 1 documents, not
        among `number`.
    "train", number - before => "train", 0
        every document of `train` gets place 0.
    "train", number - before => "train", number - number // max(1, val_every - 1)
        in `train`, one document is subtracted for every `val_every` - 1 of all.
    "train", number - before => "train", before
        a document of `train` gets the number of `val` documents as its place.
    "train", number - before => "train", number % val_every
        a document of `train` gets a remainder as its place.
    "val", before => before, "val" ; \
    "train", number - before => number - before, "train"
        split and place are in the wrong order: the split comes first.
    return "val", => return "train", ; return "train", => return "val",
        the names are swapped: every `val_every`-th document goes to `val`.
    return "val", => return "validation",
        the split is called `val`, in three letters.
    "val", before => "val" ; "train", number - before => "train"
        only the name of the split: the place in that split is missing.
    return "val", before => return before ; \
    return "train", number - before => return number - before
        only the place: the name of the split is missing.
    "val", before => "val", before + 1 ; \
    "train", number - before => "train", number - before + 1
        places count from 0 in each split, just as numbers do.
    "val", before => "val", number ; "train", number - before => "train", number
        the document keeps its number, but its place counts only its own split.
""")


@split_of.right_way("""
    (k + 1) % => k %
        the rule counts from 1, `number` from 0: number 0…
    (k + 1) % val_every else => k % val_every or not k else
        the rule counts from 1, `number` from 0: with 3…
    (k + 1) % => (k + 2) %
        2 is added to…
    (k + 1) % => (k - 1) %
        1 is subtracted, not added…
    "train" if ... else "val" => "val" if ... else "train"
        the names are swapped…
    places[name] - 1 => places[name]
        places count from 0 in each split…
    places[name] - 1 => number
        the document keeps its number…
""")
def walked_through(number, val_every):
    places = {"train": 0, "val": 0}
    for k in range(number + 1):
        name = "train" if (k + 1) % val_every else "val"
        places[name] += 1
    return name, places[name] - 1


# Shuffled by blocks


def _blocks(random: Random) -> Iterator[Case]:
    yield from (
        (6, 2, [0, 1, 2]),
        (6, 2, [2, 0, 1]),
        (5, 2, [2, 0, 1]),
        (5, 2, [1, 2, 0]),
    )
    yield from (
        (3, 5, [0]),
        (1, 1, [0]),
        (4, 1, [3, 1, 0, 2]),
        (4, 4, [0]),
        (5, 4, [1, 0]),
    )
    for num_windows in (7, 8, 9, 10, 12, 13):
        for block_size in (2, 3, 4, 5):
            blocks = list(range(-(-num_windows // block_size)))
            random.shuffle(blocks)
            yield num_windows, block_size, blocks


@exercise(
    cases=_blocks,
    hints=(
        "Block b has the windows b * block_size, b * block_size + 1, ... How many? All "
        "blocks have `block_size`, except perhaps one.",
        "The last windows may make a short block, because no window is `num_windows` "
        "or more. It is the block with the largest number, wherever it is in `blocks`.",
    ),
)
def block_order(num_windows: int, block_size: int, blocks: list[int]) -> list[int]:
    """Return all windows, block after block in the order of `blocks`."""
    order = []
    for block in blocks:
        first = block * block_size
        order += range(first, min(first + block_size, num_windows))
    return order


block_order.slips("""
    min(first + block_size, num_windows) => first + block_size
        the last block is short: there is no window `num_windows`, and none after it.
    first + block_size, => first + block_size - 1,
        the last window of each block is missing.
    first + block_size, => first + block_size + 1,
        the first window of the next block is also counted.
    num_windows)) => num_windows - 1))
        the last window of all is missing.
    num_windows)) => num_windows + 1))
        there is no window `num_windows`: the last one is `num_windows - 1`.
    order += range(...) => order += [window + 1 for window in range(...)]
        windows are counted from 1, but they count from 0.
    order += range(...) => order += reversed(range(...))
        the windows inside a block are back to front.
    order += range(...) => order.append(list(range(...)))
        this is a list of blocks: return one list of all windows.
    order += range(...) => order.append((...))
        this says where blocks begin and end: return all their windows, one by one.
    in blocks => in sorted(blocks)
        all windows are in their own order: nothing is shuffled.
    in blocks => in list(map(blocks.index, range(len(blocks))))
        `blocks[i]` says which block comes at place i, not at which place block i comes.
    in blocks => in blocks[::-1]
        the blocks come from back to front.
    in blocks => in blocks[:-1]
        the block that comes last in the order is left out.
    in blocks => in blocks[: num_windows // block_size]
        the block that comes last in the order is left out if there is a short one.
    in blocks => in blocks[:1]
        the loop returns after its first block: return after all of them.
    in blocks => in blocks[-1:]
        only the last block is left, because the others are overwritten.
    block * block_size => (block - 1) * block_size
        blocks are counted from 1, but they count from 0.
    block * block_size => block
        a block begins at its number, but it should begin at `block * block_size`.
    block * block_size => block * len(blocks)
        a block begins at its number times `block_size`, not times the number of blocks.
    block * block_size => block * (num_windows // block_size) ; \
    first + block_size, => first + num_windows // block_size,
    block * block_size => block * -(-num_windows // block_size) ; \
    first + block_size, => first - (-num_windows // block_size),
        `block_size` is taken as the number of blocks.
    block * block_size => block * (num_windows // len(blocks)) ; \
    min(first + block_size, num_windows) => first + num_windows // len(blocks)
        all blocks are assumed to be equally large, but the last one has what is left.
    min(first + block_size, num_windows) => first + 1
        only the first window of each block is there.
    min(first + block_size, num_windows) => num_windows
        each block goes on to the end of all windows, but it has only `block_size`.
    range(first, min(first + block_size, num_windows)) => \
    range(block, num_windows, len(blocks))
        the windows of a block are neighbors, not `len(blocks)` apart.
    range(first, min(first + block_size, num_windows)) => \
    range(block, num_windows, block_size)
        the windows of a block are neighbors, not `block_size` apart.
    order += range(...) => \
    order += [list(range(...))][: first + block_size <= num_windows]
        this is a list of blocks, and the short one is left out.
    min(first + block_size, num_windows) => \
    (first + block_size if first + block_size <= num_windows else first)
        the short block is left out.
    min(first + block_size, num_windows) => \
    (first + block_size if first + block_size < num_windows else first)
        the last block is left out, whether it is full or short.
    min(first + block_size, num_windows) => \
    first + (num_windows % block_size if block == len(blocks) - 1 else block_size)
        the last block gets what is left over, but if nothing is, it should be full.
    min(first + block_size, num_windows) => \
    first + (num_windows % block_size if block == blocks[-1] else block_size)
        the block that comes last in the order gets what is left over, but the short
        block is the one with the largest number.
    min(first + block_size, num_windows) => first + block_size ; \
    return order => return order[:num_windows]
        the block that comes last in the order is cut short, but the short block is the
        one with the largest number, and may come early.
    min(first + block_size, num_windows) => first + block_size ; \
    return order => return [window % num_windows for window in order]
        windows that do not exist are wrapped around to 0, but the last block is short.
    min(first + block_size, num_windows) => first + block_size ; \
    return order => return [min(window, num_windows - 1) for window in order]
        the last window replaces those that do not exist, but the last block is short.
""")


block_order.answers("""
    blocks
        these are the blocks: return their windows.
    [block * block_size + i for i in range(block_size) for block in blocks \
    if block * block_size + i < num_windows]
        blocks take turns here, but all windows of a block come together.
""")


# Copies on both sides


def _collections(random: Random) -> Iterator[Case]:
    yield from (([], []), (["a"], []), ([], ["a"]), (["a"], ["a"]), (["a"], ["b"]))
    yield ["The end."], ["the end.", "THE  END.", " The end. ", "The\nend.", "Theend."]
    yield ["the  cat", "a   hat\t "], ["The cat", "A hat", "a  HAT", "ahat", "a hat ."]
    yield ["one two", "three"], ["one", "two", "three", "one two three", "hre", "one"]
    yield ["one", "two"], ["three", "three", "two", "Three", "two"]
    yield ["x", "x", "y"], ["Y", "z", "x", "x"]
    yield ["A\t\tb\n\nc"], ["a b c", "a  b   c", "a\tb\nc", "ab c", "a b  c d", "abc"]
    yield ["  "], ["", "\n", "a"]
    yield ["cat", "dog"], ["cats", "Dog", "do", "c a t", "dog dog"]
    yield ["b", "a", "c"], ["C", "q", "B", "q", "A"]
    yield ["one\ttwo", "x\ny"], ["One two", "x y", "onetwo"]
    yield ["one two", "go go stop"], ["two one", "go stop go", "go stop", "Go go  stop"]
    yield ["word  " * 5], ["word " * 5, "word  word " * 2, "WORD word word word word"]


@exercise(
    cases=_collections,
    hints=(
        "Two texts are copies if they are equal after they are normalized. Normalize "
        "both sides, and compare.",
        "`text.split()` cuts at whitespace of every kind and length, and "
        "`' '.join(...)` puts one space between the words. Collect the training texts "
        "in a set.",
    ),
)
def leaked(train: list[str], val: list[str]) -> list[int]:
    """Return which texts of `val`, by number, have a copy in `train`."""

    def plain(text):
        return " ".join(text.lower().split())

    seen = {plain(text) for text in train}
    return [number for number, text in enumerate(val) if plain(text) in seen]


leaked.slips("""
    " ".join(text.lower().split()) => text
        the texts are compared as they are: normalize letters and whitespace first.
    text.lower().split => text.split
        upper and lower case still make a difference.
    " ".join(text.lower().split()) => text.lower()
        whitespace still makes a difference: runs, line ends, tabs, and both ends of a
        text.
    " ".join(text.lower().split()) => text.lower().strip()
        runs of whitespace inside a text still make a difference.
    " ".join(text.lower().split()) => text.strip()
        runs of whitespace inside a text, and upper case, still make a difference.
    text.lower().split() => ("|" + text.lower() + "|").split()
        whitespace at the ends of a text still makes a difference.
    " ".join => "".join
        without any spaces, words run together: `a hat` is not `ahat`.
    " ".join(text.lower().split()) => text.lower().replace(" ", "")
        only spaces are removed, but a run of any whitespace counts as one space.
    " ".join(text.lower().split()) => text.lower().strip().replace("\\n", " ")
        only line ends become spaces: tabs stay, and so do two spaces in a row.
    " ".join(text.lower().split()) => \
    text.lower().replace("\\n", " ").replace("\\t", " ").strip()
        each becomes a space, but two in a row stay two: a run counts as one.
    " ".join(text.lower().split()) => text.lower().strip().replace("  ", " ")
        replacing two spaces by one makes two of three, and leaves line ends and tabs.
    " ".join(text.lower().split()) => text.lower().replace("  ", " ")
        only two spaces in a row are replaced by one: all other whitespace stays, also
        at the ends.
    text.lower().split() => filter(None, text.lower().split(" "))
        only runs of spaces become one space, but line ends and tabs are also
        whitespace.
    " ".join(text.lower().split()) => \
    " ".join(filter(None, text.lower().split(" "))).strip()
        `strip` removes line ends and tabs only at the ends, but they also occur inside.
    text.lower().split() => sorted(set(text.lower().split()))
        a set of words forgets their order, and how often each occurs.
    text.lower().split() => sorted(text.lower().split())
        the words are sorted, but their order counts.
    [number for => [text for
        these are texts: return their numbers.
    return [...] => return sorted({plain(text) for text in val} & seen)
        these are normalized texts: return the numbers of texts.
    return [...] => return len({plain(text) for text in val} & seen)
        that is how many different texts leak: return their numbers.
    return [...] => return sum(plain(text) in seen for text in val)
        that is how many texts leak: return their numbers.
    return [...] => return [plain(text) in seen for text in val]
        this is `True` or `False` for each text: return the numbers of those that leak.
    [number for => [list(map(plain, train)).index(plain(text)) for
        these are the places in `train`: return those in `val`.
    text in train} => text in val} ; enumerate(val) => enumerate(train)
        these are the numbers of copies in `train`: return those in `val`.
    in seen] => not in seen]
        these are the texts that have *no* copy in training.
    in seen] => in seen - {*map(plain, val[:number])}]
        a text that is in `val` twice leaks both times: leave no number out.
    in seen] => in {*seen, *map(plain, val[:number])}]
        copies within `val` are also counted, but only those in `train` leak.
    plain(text) in seen => any(plain(text) in one for one in seen)
        a text that is only a *part* of a training text is not a copy.
    plain(text) in seen => any(one.startswith(plain(text)) for one in seen)
        a text is not a copy if a training text only begins with it.
    plain(text) in seen => any(one in plain(text) for one in seen)
        a text of `val` that only contains a training text is not a copy.
    in seen] => in " ".join(map(plain, train))]
        a text that is only a part of the joined training texts is not a copy.
    enumerate(val) if plain(text) in seen => \
    enumerate(val[: len(train)]) if plain(text) == plain(train[number])
        only texts at the same place in both lists are compared.
    if plain(text) in seen => for one in train if plain(one) == plain(text)
        each copy in `train` repeats the number: once is enough.
    [number for number, => [number for one in train for number, ; \
    in seen] => == plain(one)]
        each copy in `train` repeats the number, in the order of `train`.
    enumerate(val) => enumerate(val, 1)
        numbers count from 0.
    [number for => [val.index(text) for
        `index` finds the first of several equal texts: use `enumerate`.
    [number for => [list(map(plain, val)).index(plain(text)) for
        `index` finds the first of several texts that become equal: use `enumerate`.
    {plain(text) for => {text for
        `val` is normalized, but `train` is not.
    {plain(text) for => {text.lower() for
        `train` is made lower-case, but its whitespace is not normalized.
    if plain(text) in => if text in
        `train` is normalized, but `val` is not.
    if plain(text) in => if plain(text) and plain(text) in
        an empty text can also have a copy.
    in seen] => in seen][:1]
        the search ends at the first copy: return all of them.
""")


# Pages


def _batches(random: Random) -> Iterator[Case]:
    yield from (([], 8, 2), ([0], 8, 2), ([0, 0], 8, 2), ([2047], 1, 2), ([2046], 1, 2))
    yield from (([2040], 7, 2), ([2040], 8, 2), ([1020], 4, 4), ([1020], 3, 4))
    yield from (([0, 5000], 1, 2), ([0], 2047, 2), ([0], 2048, 2), ([0], 1023, 4))
    yield from (([0], 1024, 4), ([100], 6000, 2), ([5000, 100, 5001], 9, 4))
    yield from (([2048, 0, 4096], 4, 2), ([10, 20, 30], 5, 2), ([1000], 5000, 4))
    yield from (([1364], 1, 3), ([1363], 1, 3), ([2], 1363, 3), ([2729, 4094], 1, 3))
    yield from (([2047, 2047], 2048, 2), ([2048], 2047, 2), ([1024], 1023, 4))
    yield [4090], 6, 2  # as ids, the last target alone would be in another page
    for _ in range(12):
        starts = [random.randrange(20_000) for _ in range(random.randrange(1, 9))]
        yield starts, random.choice([1, 64, 255, 1024, 3000]), random.choice([2, 4])


@exercise(
    cases=_batches,
    hints=(
        "A window at start s begins at byte `s * bytes_per_id`. Which is its last "
        "byte? And in which pages are these two bytes?",
        "A window touches all pages from the page of its first byte to the page of its "
        "last. Put the numbers of all pages of all windows into a set.",
    ),
)
def pages_touched(starts: list[int], context_length: int, bytes_per_id: int) -> int:
    """Count the pages of 4,096 bytes that windows of T + 1 ids at `starts` touch."""
    pages = set()
    for start in starts:
        first = start * bytes_per_id
        last = first + (context_length + 1) * bytes_per_id - 1
        pages.update(range(first // 4096, last // 4096 + 1))
    return len(pages)


pages_touched.slips("""
    * bytes_per_id - 1 => * bytes_per_id
        the byte after the window is included, but it may be in another page.
    (context_length + 1) * => context_length *
        a window has T + 1 ids, and its last target may be in another page.
    (context_length + 1) * => (context_length + 2) *
        an id after the window is counted, but the window ends with its last target.
    (context_length + 1) * bytes_per_id - 1 => context_length * bytes_per_id
        only the first byte of the last id is counted, but other bytes of that id may
        be in the next page.
    start * bytes_per_id => start ; \
    (context_length + 1) * bytes_per_id - 1 => context_length
    start * bytes_per_id => start ; \
    (context_length + 1) * bytes_per_id - 1 => context_length + 1
        start and length count ids, but an id has several bytes.
    start * bytes_per_id => start
        `start` counts ids, not bytes.
    (context_length + 1) * bytes_per_id - 1 => context_length
    (context_length + 1) * bytes_per_id - 1 => context_length + 1
        `context_length` counts ids, not bytes.
    start * bytes_per_id => start // bytes_per_id ; \
    first + (context_length + 1) * bytes_per_id - 1 => \
    (start + context_length) // bytes_per_id
        these are divided by the bytes of an id: multiply, since an id has several.
    last // 4096 + 1 => last // 4096
        the page in which a window ends is left out.
    range(first // 4096, last // 4096 + 1) => [first // 4096]
        only the page in which a window begins is counted, but it may reach into others.
    last // 4096 + 1 => first // 4096 - (first - last - 1) // 4096
        as many pages as the bytes of a window fill, but it may cross one more border.
    range(first // 4096, last // 4096 + 1) => [last // 4096]
        only the page in which a window ends is counted, but it may begin in another.
    range(first // 4096, last // 4096 + 1) => [first // 4096, last // 4096]
        a long window also touches the pages between its first and its last.
    pages = set() => pages = [] ; pages.update( => pages.extend(
        a page that several windows touch is read once: count *different* pages.
    pages = set() => pages = [] ; \
    pages.update(range(first // 4096, last // 4096 + 1)) => \
    pages.extend(range(-(-(last - first + 1) // 4096)))
        these are as few pages as the bytes fill, but a window may cross a page border.
    return len(pages) => return max(pages, default=-1) - min(pages, default=0) + 1
        this counts even pages between windows: count only those that windows touch.
    return len(pages) => return max(pages, default=-1) + 1
        this counts all pages from the beginning of the file.
    return len(pages) => return pages
        these are the pages themselves: return how many they are.
    first // 4096, last // 4096 => first // 4000, last // 4000
        a page has 4,096 bytes, not 4,000.
    first // 4096, last // 4096 => first // 1024, last // 1024
        a page has 4,096 bytes, not 1,024.
""")


@pages_touched.right_way("""
    = 4096, => = 4000,
        a page has 4,096 bytes, not 4,000.
    = 4096, => = 1024,
        a page has 4,096 bytes, not 1,024.
    (context_length + 1) * => (context_length) *
        a window has T + 1 ids…
    start * bytes_per_id for => start for ; \
    (context_length + 1) * bytes_per_id => (context_length + 1)
        start and length count ids…
    start * bytes_per_id for => start for
        `start` counts ids…
    (context_length + 1) * bytes_per_id => (context_length + 1)
        `context_length` counts ids…
    range(first // page, (first + size - 1) // page + 1) => [first // page]
        only the page in which a window begins…
    range(first // page, (first + size - 1) // page + 1) => \
    [first // page, (first + size - 1) // page]
        a long window also touches…
    + size - 1) => + size)
        the byte after the window is included…
    return len(pages) => return pages
        these are the pages themselves…
""")
def in_one_set(starts, context_length, bytes_per_id):
    page, size = 4096, (context_length + 1) * bytes_per_id
    pages = set()
    for first in [start * bytes_per_id for start in starts]:
        pages |= {*range(first // page, (first + size - 1) // page + 1)}
    return len(pages)


pages_touched.answers("""
    -(-len(starts) * (context_length + 1) * bytes_per_id // 4096)
        the bytes of all windows are added up and divided, but pages are read whole.
    len(starts) * (context_length + 1) * bytes_per_id // 4096
        all bytes are added up and divided with `//`, but pages are read whole.
    -(-len(set(starts)) * (context_length + 1) * bytes_per_id // 4096)
        this is right for windows side by side, but these may be far apart.
    len(starts) * (context_length + 1)
        these are ids, and a page holds many of them.
    len(starts)
        one page for each window, but windows touch several, and share them.
    len(set(starts))
        one page for each different start, but windows touch several, and share them.
    len(starts) * (context_length + 1) * bytes_per_id
        these are bytes: 4,096 of them make a page.
""")


# Bugs, and things that only look like bugs


def _steps_of_ranks(random: Random) -> Iterator[Case]:
    for size in (100, 90, 70, 130, 66, 65):
        for world_size in (1, 2, 4):
            yield [size] * 5, 16, world_size, 10


def shards_by_the_global_batch(
    sizes: list[int], batch_tokens: int, world_size: int, num_steps: int
) -> list[list[int]]:
    rows, shard, start = [], 0, 0  # `start` of the batches of all ranks together
    step = batch_tokens * world_size
    for _ in range(num_steps):
        rows.append([shard] * world_size)
        start += step
        if start + step + 1 > sizes[shard]:
            shard, start = (shard + 1) % len(sizes), 0
    return rows


@bug_or_not(
    purpose=(
        "In each step every rank reads its own `batch_tokens` tokens, side by side "
        "with the other ranks. A rank goes to the next shard when there is not enough "
        "left for one more step, and all ranks are to change the shard in the same "
        "step. The function returns the shard that each rank reads, step by step."
    ),
    reference=shards_by_the_global_batch,
    cases=_steps_of_ranks,
    explanation=(
        "Every rank asks whether one more step fits after *its own* place. But the "
        "last rank is further on than rank 0. Near the end of a shard, it may change "
        "the shard one step earlier, and then the ranks read different shards. Whether "
        "this happens depends on the length of the shard. (It was asked in "
        "karpathy/build-nanogpt, issue 105.) If every rank asks where the batch of "
        "*all* ranks begins, all of them get the same answer."
    ),
)
def ranks_in_step(
    sizes: list[int], batch_tokens: int, world_size: int, num_steps: int
) -> list[list[int]]:
    shards = [0] * world_size
    places = [rank * batch_tokens for rank in range(world_size)]
    rows = []
    for _ in range(num_steps):
        rows.append(list(shards))
        for rank in range(world_size):
            places[rank] += batch_tokens * world_size
            if places[rank] + batch_tokens * world_size + 1 > sizes[shards[rank]]:
                shards[rank] = (shards[rank] + 1) % len(sizes)
                places[rank] = rank * batch_tokens
    return rows


def first_byte(sample: int, context_length: int) -> int:
    return sample * context_length * 2


@bug_or_not(
    purpose=(
        "Say at which byte of a shard of uint16 ids a sample begins. Samples have "
        "`context_length` ids and follow one another without gaps."
    ),
    reference=first_byte,
    cases=lambda random: [
        (sample, context_length)
        for context_length in (1024, 2048)
        for sample in (0, 1, 7, 10_000, 2**19 - 1, 2**19, 2**20, 3_000_000)
    ],
    explanation=(
        "The product is computed in 64 bits, but then it is squeezed into 32. From "
        "byte 2**31 on, the result is negative, and from 2**32 on it begins again at "
        "0. With a shard of 100 million ids, nothing happens, because the shard has "
        "only 200 million bytes. But a shard of more than two billion bytes is read at "
        "the wrong place. The data loader of karpathy/llm.c had such a cast, `(int)`, "
        "at the last moment."
    ),
)
def narrow_offset(sample: int, context_length: int) -> int:
    offset = np.int64(sample) * np.int64(context_length) * np.int64(2)
    return int(offset.astype(np.int32))


def split_by_hash(text: str, val_every: int) -> str:
    normalized = " ".join(text.lower().split()).encode()
    number = int.from_bytes(hashlib.sha256(normalized).digest()[:8], "big")
    return "val" if number % val_every == 0 else "train"


def on_both_sides(texts: list[str], val_every: int) -> int:
    sides = [(" ".join(t.lower().split()), split_by_hash(t, val_every)) for t in texts]
    return sum((text, "train") in sides for text, side in set(sides) if side == "val")


@true_or_false(
    claim=(
        "Let a hash of the normalized text decide the split of a document, instead of "
        "its number. Then two texts that are equal once they are normalized are never "
        "on both sides, wherever they come in the collection."
    ),
    reference=on_both_sides,
    cases=lambda random: [
        (
            [f"Text  {random.randrange(9)}", f"text {random.randrange(9)} "] * 8,
            val_every,
        )
        for val_every in (2, 3, 10)
        for _ in range(4)
    ],
    explanation=(
        "Equal texts have equal hashes, so they go to the same side. You need no table "
        "of earlier documents, and it stays true when you add documents. But it works "
        "for equal texts only. For example, if a copy has one more word, its hash has "
        "nothing in common with that of the original."
    ),
)
def split_by_text(texts: list[str], val_every: int) -> int:
    return 0


# With other numbers by seed.


@numbers(
    ask="{num_shards} shards of {shard_size:,} ids each make one stream. Windows of "
    "T = {context_length} inputs, with their targets, start at every id that has room. "
    "How many of them lie in two shards?",
    draw=lambda rng: {
        "num_shards": rng.randrange(5, 40),
        "shard_size": rng.randrange(10_000, 90_000),
        "context_length": rng.randrange(64, 600),
    },
    hints=("From how many starts does a window reach over one border?",),
)
def windows_over_borders(num_shards: int, shard_size: int, context_length: int) -> int:
    return (num_shards - 1) * context_length


windows_over_borders.answers("""
    num_shards * context_length
        one border too many, because after the last shard there is none.
    (num_shards - 1) * (context_length + 1)
        T + 1 for each border, but a window that begins right after it crosses none.
    (num_shards - 1) * (context_length - 1)
        windows of T ids, but with the last target one more crosses each border.
    num_shards - 1
        one for each border, but windows from many starts cross the same border.
""")


@numbers(
    ask="A shard holds uint16 ids. How many pages of 4,096 bytes does the window touch "
    "that starts at id {start:,}, with T = {context_length:,} and its targets?",
    draw=lambda rng: {
        "start": rng.randrange(10_000, 900_000),
        "context_length": rng.randrange(12_000, 200_000),
    },
    hints=(
        "At which byte does the window begin, and which is its last?",
        "Number the pages by `byte // 4096`, and count from the first to the last.",
    ),
)
def pages_of_window(start: int, context_length: int) -> int:
    last = 2 * (start + context_length + 1) - 1
    return last // 4096 - 2 * start // 4096 + 1


pages_of_window.answers("""
    (start + context_length) // 4096 - start // 4096 + 1
        ids are taken as bytes, but a uint16 has two.
    pages_of_window.reference(start, context_length) - 1
        one page is missing: count both the first and the last.
    (4 * (start + context_length + 1) - 1) // 4096 - 4 * start // 4096 + 1
        this takes four bytes an id, as in uint32, but a uint16 has two.
""")


@numbers(
    ask="{world_size} ranks read {batch_size} samples each in a step, side by side in "
    "one order. {steps} steps are done. At which position of the order does rank "
    "{rank} go on? Ranks and positions count from 0.",
    draw=lambda rng: {
        "world_size": (world_size := rng.randrange(4, 17)),
        "batch_size": rng.randrange(8, 65),
        "steps": rng.randrange(10, 500),
        "rank": rng.randrange(1, world_size),
    },
    hints=("What have all ranks together read? Who reads before this rank?",),
)
def next_position(world_size: int, batch_size: int, steps: int, rank: int) -> int:
    return (steps * world_size + rank) * batch_size


next_position.answers("""
    steps * batch_size
        this counts what this rank alone has read, but all ranks read the same order.
    steps * world_size * batch_size
        the ranks before this one are forgotten: each reads a whole batch first.
    steps * world_size * batch_size + rank
        samples are dealt out like cards, but each rank reads a whole batch.
    (rank * steps + steps) * batch_size
        each rank gets a part of the order, but the ranks read it side by side.
""")
