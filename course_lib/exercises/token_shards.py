"""Exercises of lesson 11: places in shards, splits, pages, blocks, copies, and where a
run goes on."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise
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
        "Shards may differ in size. Walk over them: what is left of `position` once "
        "you have passed the first one?",
        "As long as `position` is not smaller than the size of the shard that you "
        "stand at, take that size off, and go to the next shard. What is left at the "
        "end?",
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
        an id right behind the end of a shard is the first one of the next: with 4 ids
        it has the places 0 to 3.
    position >= shard_sizes[shard]: => \
    position >= shard_sizes[shard] and shard < len(shard_sizes) - 2:
        the last shard is never reached.
    position -= shard_sizes[shard] shard += 1 => \
    shard += 1 ⏎ position -= shard_sizes[shard]
        the size of the *next* shard is taken off, not of the one that is passed.
    return shard, position => return position, shard
        shard and place come in the wrong order: the shard first.
    return shard, => return shard_sizes.index(shard_sizes[shard]),
        `index` finds the first shard of that size. Others may have the same size.
""")


@locate.way("""
    bisect_right(starts, position) - 1 => bisect_right(starts, position)
        the shard *behind* the position is taken: it is one less.
    bisect_right(starts, position) - 1 => max(0, bisect_right(starts, position - 1) - 1)
        an id right behind the end of a shard…
    bisect_right(starts, position) - 1 => bisect_right(starts, position - 1) - 1
        the first id of any shard, 0 too, is taken for the last of the one before.
    bisect_right(starts, position) - 1 => bisect_right(starts, position - 1)
        this is the first shard that begins *behind* the position, or right there.
    bisect_right(starts, position) => bisect_right(starts, position + 1)
        the last id of a shard is taken for the first of the next.
    bisect_right(starts, position) - 1 => len(shard_sizes) - 1
        the last shard is returned, whatever the position.
    bisect_right(starts, position) - 1 => position // shard_sizes[0]
        to find the shard, all are taken to be as large as the first.
    return shard, => return shard + 1,
        shards are counted from 1. They count from 0.
    return shard, => return shard - 1,
        each position gets the shard before its own.
    return shard, => return min(shard, max(0, len(shard_sizes) - 2)),
        the last shard is never reached.
    return shard, => return shard_sizes.index(shard_sizes[shard]),
        `index` finds the first shard…
    return shard, position - starts[shard] => return position - starts[shard], shard
        shard and place come in the wrong order…
    position - starts[shard] => position
        the place is that in the whole stream: shards before are not taken off.
    position - starts[shard] => 0
        the place is always 0. It is how far the position lies behind the shard's start.
    return shard, position - starts[shard] => return shard, position - starts[shard] + 1
        places are counted from 1. They count from 0.
    return shard, position - starts[shard] => return shard, position - starts[shard] - 1
        1 is taken off the place: the first id of a shard has the place 0.
    starts[shard] => (shard_sizes[shard - 1] if shard else 0)
        only the shard right before is taken off, not all of those before.
    starts[shard] => shard_sizes[shard]
        the size of the shard itself is taken off, not those of the shards before.
    starts[shard] => starts[shard + 1]
        the shards up to this one are taken off, and not only those before it.
    starts[shard] => starts[1:][shard - 1]
        before shard 0 there is nothing to take off, and `ends[-1]` is the end of all.
    starts[shard] => shard * shard_sizes[0]
        the shards before are taken to be as large as the first.
    position - starts[shard] => starts[shard + 1] - position
        the place is counted from the end of the shard.
    position - starts[shard] => starts[shard + 1] - 1 - position
        the place is counted from the last id of the shard.
    position - starts[shard] => position % shard_sizes[0]
        the remainder by the size of the first shard is taken for the place.
    position - starts[shard] => position % shard_sizes[shard]
        the remainder by the size of the shard is not the place in it: take the sizes of
        those before off.
""")
def by_starts(position, shard_sizes):
    starts = [0, *accumulate(shard_sizes)]
    shard = bisect_right(starts, position) - 1
    return shard, position - starts[shard]


locate.answers("""
    divmod(position, shard_sizes[0])
        all shards are taken to be as large as the first one. They may differ.
    divmod(position, max(shard_sizes))
        all shards are taken to be as large as the largest. They may differ.
    divmod(position, sum(shard_sizes) // len(shard_sizes))
        all shards are taken to be equally large. They may differ: add up their sizes.
    next(((shard, position) for shard, size in enumerate(shard_sizes) \
    if position < size), (len(shard_sizes) - 1, position))
        this is the first shard whose size is larger than the position, whatever stands
        before it: the ids of the shards before count, too.
    (position % len(shard_sizes), position // len(shard_sizes))
        ids are not dealt out in turn: shard 0 has the first ones, all together.
""")


# How large is the file?


def _files(random: Random) -> Iterator[Case]:
    for vocab_size in (2, 100, 255, 256, 257, 2000, 32_767, 32_768, 32_769, 50_257):
        yield 1000, vocab_size
    for vocab_size in (65_535, 65_536, 65_537, 100_277, 262_144, 2**31, 2**32):
        yield 1000, vocab_size
    yield from ((0, 300), (1, 65_536), (1, 65_537), (7, 128_256), (10**6, 200_000))
    yield from ((3, 2**24), (3, 2**24 + 1))


@exercise(
    cases=_files,
    hints=(
        "Two questions: which is the largest id, and is it one that 16 bits can hold?",
        "A vocabulary of V ids has the ids 0 to V - 1, and 16 bits hold the numbers 0 "
        "to 65,535: two bytes an id as long as the largest id is one of them.",
    ),
)
def bytes_on_disk(num_tokens: int, vocab_size: int) -> int:
    """Return the size of a shard of `num_tokens` ids: uint16 if that will do, or
    uint32."""
    return num_tokens * (2 if vocab_size - 1 <= 65_535 else 4)


bytes_on_disk.slips("""
    <= 65_535 => < 65_535
    vocab_size - 1 <= => vocab_size <=
        a vocabulary of 65,536 has the ids 0 to 65,535, which 16 bits can hold.
    vocab_size - 1 <= 65_535 => vocab_size < 65_535
    vocab_size - 1 <= 65_535 => vocab_size <= 65_000
        the border is higher: 65,535 ids, and 65,536 as well, fit into two bytes.
    <= 65_535 => <= 65_536
        an id of 65,536 does not fit into 16 bits, and a vocabulary of 65,537 has one.
    <= 65_535 => <= 32_767
    <= 65_535 => <= 32_766
    <= 65_535 => < 32_766
        `uint16` has no sign, so it goes up to 65,535, and not to 32,767.
    vocab_size - 1 <= 65_535 => True
        every id gets two bytes here. Ids from 65,536 on do not fit into them.
    vocab_size - 1 <= 65_535 => False
        every id gets four bytes here. Up to id 65,535 two will do.
    (2 if vocab_size - 1 <= 65_535 else 4) => 8
        every id gets eight bytes, as int64 has them; a file has them in two, or four.
    (2 if => (1 if vocab_size <= 256 else 2 if
    (2 if => (1 if vocab_size < 256 else 2 if
        one byte for a small vocabulary: shards have two bytes an id, or four.
    else 4 => else 3
    else 4 => else 3 if vocab_size <= 2**24 else 4
        no file has three bytes an id: no dtype has. Behind two bytes come four.
    else 4 => else 8
        four bytes, and not eight, hold ids from 65,536 on.
    2 if ... else 4 => 4 if ... else 2
        the two sizes are exchanged.
    2 if ... else 4 => 16 if ... else 32
        these are bits: a byte has eight of them.
    vocab_size - 1 <= 65_535 => num_tokens <= 65_536
    vocab_size - 1 <= 65_535 => num_tokens < 65_536
        the number of tokens decides here how many bytes an id takes, not that of ids in
        the vocabulary.
    num_tokens * (2 if vocab_size => vocab_size * (2 if num_tokens
        the two arguments are exchanged: there are `num_tokens` ids in the file.
    return num_tokens * => return vocab_size *
        these are the bytes of a table of the vocabulary: the file has `num_tokens` ids.
    return num_tokens * => return
        so many bytes has *one* id. The file has `num_tokens` of them.
    return num_tokens => return 1024 + num_tokens
    return num_tokens => return 8 + num_tokens
        a shard has no header: nothing comes on top of the ids.
    * (2 if vocab_size - 1 <= 65_535 else 4) =>
        that is the number of ids: each takes two bytes, or four.
""")


@bytes_on_disk.way("""
    (vocab_size - 1).bit_length() => vocab_size.bit_length()
        a vocabulary of 65,536 has the ids 0 to 65,535…
    <= 16 => < 16
        `uint16` has no sign…
    2 if bits <= 16 else 4 => bits
        the bits of an id are taken for bytes. A byte has eight of them.
    2 if bits <= 16 else 4 => bits // 8
        eight bits make a byte. Some left over need one more, and shards have 2 or 4.
    2 if bits <= 16 else 4 => -(-bits // 8)
        as few bytes as an id needs: shards have two bytes an id, or four.
    2 if bits <= 16 else 4 => max(2, -(-bits // 8))
        no file has three bytes an id…
""")
def by_bits(num_tokens, vocab_size):
    bits = (vocab_size - 1).bit_length()
    return num_tokens * (2 if bits <= 16 else 4)


bytes_on_disk.answers("""
    num_tokens * np.min_scalar_type(vocab_size).itemsize
        as many bytes as the number V needs. The largest id is V - 1, and shards have
        two bytes an id, or four.
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
        "A window that does not cross a border lies wholly inside one shard. How many "
        "are there of those, and how many in all?",
        "In n ids there are max(0, n - T) windows of T + 1: of the whole stream, less "
        "of each shard.",
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
        windows are taken to have T ids. With the last target they have T + 1.
    sum(shard_sizes) - context_length) => sum(shard_sizes) - context_length - 1) ; \
    size - context_length) => size - context_length - 1)
        windows are taken to have T + 2 ids. They have T + 1.
    sum(shard_sizes) - context_length) => sum(shard_sizes) - context_length + 1)
        in the whole stream one window too many is counted: there are N - T.
    sum(shard_sizes) - context_length) => sum(shard_sizes) - context_length - 1)
        in the whole stream one window too few is counted: there are N - T.
    windows = max(0, ...) => windows = (...)
        a stream that is too short for a window has 0 of them, and not fewer.
    max(0, sum(shard_sizes) - context_length) => sum(shard_sizes)
        there is not a window at each id of the stream: the last T have none.
    max(0, sum(shard_sizes) - context_length) => \
    (sum(shard_sizes) - 1) // context_length
    max(0, sum(shard_sizes) - context_length) => sum(shard_sizes) // context_length
    max(0, sum(shard_sizes) - context_length) => \
    sum(shard_sizes) // (context_length + 1)
        windows of the whole stream are counted end to end. There is one at each start.
    size - context_length) => size - context_length + 1)
        in each shard one window too many is counted: n ids have n - T.
    size - context_length) => size - context_length - 1)
        in each shard one window too few is counted: n ids have n - T of them.
    max(0, size - context_length) for => (size - context_length) for
        a shard that is too short for a window has 0 of them, and not fewer.
    sum(max(0, size - context_length) for size in shard_sizes) => \
    max(0, sum(size - context_length for size in shard_sizes))
        the sum alone is kept from falling below 0, and not each shard's count.
    in shard_sizes) => in shard_sizes[:-1])
        the last shard is left out.
    in shard_sizes) => in shard_sizes[:1])
        only the first shard's windows are taken off.
    for size in shard_sizes) => for size in shard_sizes[:1] * len(shard_sizes))
        all shards are taken to be as large as the first.
    in shard_sizes) => in shard_sizes if size > context_length + 1)
        a shard of exactly T + 1 ids has one window inside it: it is not too short.
    max(0, size - context_length) for => max(0, (size - 1) // context_length) for
    max(0, size - context_length) for => size // context_length for
    max(0, size - context_length) for => size // (context_length + 1) for
        in each shard windows are counted end to end. There is one at each start.
    return windows - inside => return inside
        these are the windows that lie *inside* a shard: the others are asked for.
    return windows - inside => return windows
        that is how many windows there are in all.
""")


crossing_windows.answers("""
    context_length * (len(shard_sizes) - 1)
        T windows for each border: but a window can cross two, and near the end there is
        no room for T. A shard shorter than a window holds 0 of them, and not fewer.
    (context_length + 1) * (len(shard_sizes) - 1)
        T + 1 windows for each border: the one that begins right behind it does not
        cross it. And where shards are short, a window can cross two.
    (context_length - 1) * (len(shard_sizes) - 1)
    sum(min(context_length - 1, size) for size in shard_sizes[:-1])
        T - 1 windows for each border: with its last target a window has T + 1 ids. And
        where shards are short, a window can cross two.
    context_length * len(shard_sizes)
        T windows for each *shard*: behind the last one there is no border. And where
        shards are short, a window can cross two.
    len(shard_sizes) - 1
        that is the number of borders: many windows cross each.
    sum(max(0, min(end, sum(shard_sizes) - context_length) - max(0, end - \
    context_length)) for end in list(accumulate(shard_sizes))[:-1])
        a window that crosses several borders is counted at each of them.
    sum(min(context_length, size) for size in shard_sizes[:-1])
        each border gets min(T, size of the shard before) windows: near the end of the
        stream there may be no room for so many.
    sum(crossing_windows.reference([a, b], context_length) \
    for a, b in pairwise(shard_sizes))
        each border is looked at with its two neighbors alone: a window can reach a
        third.
    sum(min(context_length, a, b) for a, b in pairwise(shard_sizes))
        each border gets no more windows than either shard is long. But a window can
        reach over a whole shard.
    sum(min(context_length, size) for size in shard_sizes[1:])
        each border gets no more windows than the shard behind it is long. But a window
        can reach over a whole shard.
    min(context_length, min(shard_sizes)) * (len(shard_sizes) - 1)
        the smallest shard limits all borders here: each shard counts where it lies.
    0 if min(shard_sizes) <= context_length else context_length * (len(shard_sizes) - 1)
        where a shard is shorter than a window, windows cross borders all the more.
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
        "How many of the documents before this one have gone to `val`? Each "
        "`val_every`-th, so `number // val_every`. The rest has gone to `train`.",
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
        the rule counts from 1, `number` from 0: the first `val` document is not number
        0.
    (number + 1) % val_every == 0 => number % val_every == 0 and number > 0
        the rule counts from 1, `number` from 0: with 3, number 2 goes to `val`, not 3.
    (number + 1) % val_every == => (number + 2) % val_every ==
        2 is added to `number`: with `val_every` = 3, 2, 5 and 8 go to `val`.
    (number + 1) % val_every == => (number - 1) % val_every ==
    (number + 1) % val_every == 0 => number % val_every == 1
        1 is taken off `number`, not added: with `val_every` = 3, 2, 5 and 8 go to
        `val`.
    == 0 => != 0
        the two splits are exchanged: `val` is the small one.
    (number + 1) % val_every == 0 => number < val_every
        the first documents go to `val` here: each `val_every`-th of them does.
    (number + 1) % val_every == 0 => number % val_every == val_every
        no document ever goes to `val`: no remainder by `val_every` is `val_every`.
    % val_every == => // val_every ==
        `//` is the quotient: each `val_every`-th is told by the remainder, `%`.
    == 0 => == 0 and val_every > 1
        with `val_every` = 1 every document goes to `val`: (number + 1) % 1 is 0, too.
    "val", before => "val", before + 1
    before = number // => before = (number + 1) //
        places in `val` are counted from 1. They count from 0.
    "val", before => "val", number
        a document of `val` keeps its number: count those of `val` before it.
    "val", before => "val", number % val_every
        a document of `val` gets the remainder for a place.
    "val", before => "val", before - 1
        1 is taken off the places in `val`: the first one is 0.
    "val", before => "val", number / val_every
        a place in `val` is a whole number: `//`, not `/`.
    "val", before => "val", 0
        every document of `val` gets place 0.
    "val", before => "val", number - before
        a document of `val` gets the place that it would have in `train`.
    "train", number - before => "train", number
        a document of `train` keeps its number: those of `val` are not taken off.
    "train", number - before => "train", number - before + 1
        places in `train` are counted from 1. They count from 0.
    "train", number - before => "train", number - before - 1
        one document of `val` too many is taken off in `train`, from the beginning.
    "train", number - before => "train", number - (number + val_every - 1) // val_every
        in `train`, documents of `val` are counted as if number 0 were one.
    "train", number - before => "train", number - (number - 1) // val_every
        in `train`, documents of `val` are counted in the `number` - 1 before, and not
        in `number`.
    "train", number - before => "train", 0
        every document of `train` gets place 0.
    "train", number - before => "train", number - number // max(1, val_every - 1)
        in `train`, a document is taken off for each `val_every` - 1 of all.
    "train", number - before => "train", before
        a document of `train` gets the number of those of `val` before it for a place.
    "train", number - before => "train", number % val_every
        a document of `train` gets the remainder for a place.
    "val", before => before, "val" ; \
    "train", number - before => number - before, "train"
        split and place come in the wrong order.
    return "val", => return "train", ; return "train", => return "val",
        the names are exchanged: `val` is each `val_every`-th document.
    return "val", => return "validation",
        the split is called `val`, in three letters.
    "val", before => "val" ; "train", number - before => "train"
        only the name of the split: its place in that split is missing.
    return "val", before => return before ; \
    return "train", number - before => return number - before
        only the place: the name of the split is missing.
    "val", before => "val", before + 1 ; \
    "train", number - before => "train", number - before + 1
        places count from 0 in each split, as numbers do.
    "val", before => "val", number ; "train", number - before => "train", number
        the document keeps its number: its place counts only documents of its own split.
""")


@split_of.way("""
    (k + 1) % => k %
        the rule counts from 1, `number` from 0: the first…
    (k + 1) % val_every else => k % val_every or not k else
        the rule counts from 1, `number` from 0: with 3…
    (k + 1) % => (k + 2) %
        2 is added to…
    (k + 1) % => (k - 1) %
        1 is taken off `number`…
    "train" if ... else "val" => "val" if ... else "train"
        the names are exchanged…
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


# Where does a run go on?


def _runs(random: Random) -> Iterator[Case]:
    for num_samples, delivered in ((20, 0), (20, 6), (20, 7), (20, 14), (20, 20)):
        for batch_size, world_size in ((1, 1), (2, 1), (3, 2), (2, 3), (4, 3), (7, 2)):
            for rank in range(world_size):
                yield num_samples, delivered, batch_size, rank, world_size
    yield from ((12, 6, 3, 1, 2), (12, 7, 3, 1, 2), (12, 7, 3, 0, 2), (5, 0, 3, 0, 2))
    yield 1000, 100, 3, 1, 4


@exercise(
    cases=_runs,
    hints=(
        "The state counts samples, so the next one that nobody has seen is number "
        "`delivered`. All ranks together take `world_size * batch_size` from there.",
        "Rank 0 takes the first `batch_size` of them, rank 1 the next `batch_size`: "
        "where does the share of this rank begin? And are there enough for all?",
    ),
)
def next_batch(
    num_samples: int, delivered: int, batch_size: int, rank: int, world_size: int
) -> list[int]:
    """Return the positions in the order that this rank reads next; none if all ranks
    together need more than are left."""
    if delivered + world_size * batch_size > num_samples:
        return []
    first = delivered + rank * batch_size
    return list(range(first, first + batch_size))


next_batch.slips("""
    rank * batch_size => rank ; \
    range(first, first + batch_size) => \
    range(first, num_samples, world_size)[:batch_size]
        ranks take turns here, entry by entry: each takes `batch_size` neighbors.
    delivered + rank * batch_size => delivered // world_size * world_size + rank ; \
    range(first, first + batch_size) => \
    range(first, num_samples, world_size)[:batch_size]
        ranks take turns from the start of the order on: each takes `batch_size`
        neighbors.
    first = delivered + => first = delivered // world_size +
        `delivered` is shared out among the ranks. They read one order.
    first = delivered + => first =
        it begins from the start of the order again: `delivered` samples have been seen.
    first = delivered + => first = delivered * batch_size +
        `delivered` counts samples, not batches.
    first = delivered + => first = delivered * world_size * batch_size +
        `delivered` counts samples, not steps of all ranks.
    first = delivered + => first = delivered * world_size +
        `delivered` counts the samples of all ranks together, not those of each.
    first = delivered + => \
    first = delivered // (world_size * batch_size) * world_size * batch_size +
        it goes back to the last multiple of a step of today's size: samples are
        repeated.
    first = delivered + => \
    first = -(-delivered // (world_size * batch_size)) * world_size * batch_size +
        it goes on at the next multiple of a step of today's size: samples are left out.
    first = delivered + => first = delivered // batch_size * batch_size +
        it goes back to the last multiple of `batch_size`: samples are repeated.
    first = delivered + => first = delivered + 1 +
        it begins behind the first sample that nobody has seen: positions count from 0.
    + rank * batch_size =>
        every rank reads the same: leave `rank * batch_size` to those before.
    rank * batch_size => rank
        ranks begin one entry apart, so they share all but one.
    rank * batch_size => rank * world_size
        ranks begin `world_size` entries apart: `batch_size` is what each takes.
    rank * batch_size => (rank + world_size) * batch_size
        a whole step of all ranks is skipped behind `delivered`.
    rank * batch_size => (rank + 1) * batch_size
        ranks are counted from 0: the first begins right at `delivered`.
    rank * batch_size => (rank - 1) * batch_size
        ranks are counted from 0, not from 1.
    + rank * batch_size => + rank * (num_samples // world_size)
        `delivered` samples of *this rank* are taken to be gone: it counts all ranks'.
    delivered + rank * batch_size => \
    delivered // world_size + rank * (num_samples // world_size)
        each rank has a part of the whole order here: all together go through one order.
    rank * batch_size => rank * batch_size // world_size ; \
    first + batch_size => delivered + (rank + 1) * batch_size // world_size
        `batch_size` is shared out among the ranks: each takes as many.
    rank * batch_size => rank * (batch_size // world_size) ; \
    first + batch_size => first + batch_size // world_size
        the share of a rank is `batch_size` samples, not `batch_size` for all ranks.
    range(first, first + batch_size) => \
    range(delivered, delivered + world_size * batch_size)
        these are all samples of the step: each rank reads its part of them.
    first + batch_size) => first + world_size * batch_size)
    first + batch_size) => min(first + world_size * batch_size, num_samples))
        a rank reads `batch_size` positions, not as many as all ranks together.
    first + batch_size) => first + batch_size + 1)
        the stop is one further than the share: a rank reads `batch_size` samples.
    first + batch_size) => first + batch_size - 1)
        the stop of a `range` is left out anyway: 1 is taken off needlessly.
    list(range(first, first + batch_size)) => [first, first + batch_size]
        this is where the positions begin and end, and not all of them.
    list(range(first, first + batch_size)) => [first]
        only the first position is returned: a rank reads `batch_size` of them.
    range(first, first + batch_size) => \
    range(rank * batch_size, num_samples, world_size * batch_size)
        here this rank's batches begin. The positions in one batch are asked for.
    > num_samples => >= num_samples
        a step that fits exactly is the last one: it is not left out.
    delivered + world_size * batch_size > => delivered + (rank + 1) * batch_size >
        each rank looks at its own share alone: at the end some have a batch, others
        none.
    delivered + world_size * batch_size > num_samples => False
        the end is not looked for: where not all ranks get a full batch, none gets any.
    delivered + world_size * batch_size > num_samples => False ; \
    first + batch_size) => min(first + batch_size, num_samples))
        the last step is cut short: where not all ranks get a full batch, none gets any.
    delivered + world_size * batch_size > num_samples => False ; \
    return list(range(...)) => return [p % num_samples for p in range(...)]
        it begins anew at the end, with the first samples of the order.
    delivered + world_size * batch_size > => delivered + batch_size >
        it looks whether *one* batch is left: each of `world_size` ranks needs one.
    delivered + world_size * batch_size > num_samples => delivered >= num_samples
    delivered + world_size * batch_size > num_samples => \
    delivered + world_size > num_samples
        it looks whether *one* sample is left, or one for each rank, not a batch for
        each.
    delivered + world_size * batch_size > => (delivered + world_size) * batch_size >
        whether enough are left is asked as if `delivered` counted batches.
    delivered + world_size * batch_size > => world_size * batch_size >
        the samples delivered are left out of the question whether enough are left.
    return [] => return None
        where nothing is left, a list without positions: `[]`.
""")


next_batch.answers("""
    delivered + rank * batch_size
        this is only where the positions begin: a list of `batch_size` is asked for.
    [] if delivered + batch_size * world_size > num_samples else [(delivered + rank * \
    batch_size + i) % num_samples for i in range(world_size * batch_size)]
        a rank reads `batch_size` positions…
""")


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
        "blocks have `block_size`, but for one.",
        "The last windows make a short block: no window is `num_windows` or more. It "
        "is the block with the largest number, wherever it stands in `blocks`.",
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
        the last block is short: there is no window `num_windows`, nor any behind it.
    first + block_size, => first + block_size - 1,
        one window of each block is missing at its end.
    first + block_size, => first + block_size + 1,
        the first window of the next block is counted, too.
    num_windows)) => num_windows - 1))
        the last window of all is missing.
    num_windows)) => num_windows + 1))
        there is no window `num_windows`: the last one is `num_windows - 1`.
    order += range(...) => order += [window + 1 for window in range(...)]
        windows are counted from 1 here; they count from 0.
    order += range(...) => order += reversed(range(...))
        the windows inside a block are back to front.
    order += range(...) => order.append(list(range(...)))
        a list of blocks: one list of all windows is asked for, without lists inside.
    order += range(...) => order.append((...))
        where each block begins and ends: all windows between are asked for, one by one.
    in blocks => in sorted(blocks)
        all windows in their own order: nothing is shuffled.
    in blocks => in list(map(blocks.index, range(len(blocks))))
        `blocks[i]` says which block comes as number i, and not where block i comes.
    in blocks => in blocks[::-1]
        the blocks come from back to front.
    in blocks => in blocks[:-1]
        the block that comes last in the order is left out.
    in blocks => in blocks[: num_windows // block_size]
        the block that comes last in the order is left out if there is a short one.
    in blocks => in blocks[:1]
        the loop returns after its first block.
    in blocks => in blocks[-1:]
        only the last block is left: the others are overwritten.
    block * block_size => (block - 1) * block_size
        blocks are counted from 1 here; they count from 0.
    block * block_size => block
        a block begins at its number here. It begins at `block * block_size`.
    block * block_size => block * len(blocks)
        a block begins at its number times `block_size`, not times the number of blocks.
    block * block_size => block * (num_windows // block_size) ; \
    first + block_size, => first + num_windows // block_size,
        `block_size` is taken for the number of blocks.
    block * block_size => block * (num_windows // len(blocks)) ; \
    min(first + block_size, num_windows) => first + num_windows // len(blocks)
        all blocks are taken to be equally large. The last one has what is left.
    min(first + block_size, num_windows) => first + 1
        only the first window of each block is there.
    min(first + block_size, num_windows) => num_windows
        each block goes on to the end of all windows: it has `block_size`.
    range(first, min(first + block_size, num_windows)) => \
    range(block, num_windows, len(blocks))
        the windows of a block lie one behind another, not `number of blocks` apart.
    range(first, min(first + block_size, num_windows)) => \
    range(block, num_windows, block_size)
        the windows of a block lie one behind another, not `block_size` apart.
    min(first + block_size, num_windows) => \
    (first + block_size if first + block_size <= num_windows else first)
        the short block is left out.
    min(first + block_size, num_windows) => \
    (first + block_size if first + block_size < num_windows else first)
        the last block is left out, whether it is full or short.
    min(first + block_size, num_windows) => \
    first + (num_windows % block_size if block == len(blocks) - 1 else block_size)
        the last block has what is left over, and nothing where nothing is.
    min(first + block_size, num_windows) => \
    first + (num_windows % block_size if block == blocks[-1] else block_size)
        the block that comes last in the order gets what is left over. That belongs to
        the one with the largest number.
    min(first + block_size, num_windows) => first + block_size ; \
    return order => return order[:num_windows]
        the block that comes last in the order is cut short. But the short block is the
        one with the largest number, and may come early: no entry may be `num_windows`
        or more.
    min(first + block_size, num_windows) => first + block_size ; \
    return order => return [window % num_windows for window in order]
        windows that do not exist begin anew at 0 here: the last block is short.
    min(first + block_size, num_windows) => first + block_size ; \
    return order => return [min(window, num_windows - 1) for window in order]
        the last window stands for those that do not exist: the last block is short.
""")


block_order.answers("""
    blocks
        these are the blocks: their windows are asked for.
    [block * block_size + i for i in range(block_size) for block in blocks \
    if block * block_size + i < num_windows]
        one window of each block comes in turn. All windows of a block come together.
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
        "Two texts are copies if they are the same once they are normalized. Normalize "
        "both sides, and compare.",
        "`text.split()` cuts at blanks of every kind and length, and `' '.join(...)` "
        "puts one blank between the words. Collect what is in training in a set.",
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
        the texts are compared as they are: neither letters nor blanks are made alike.
    text.lower().split => text.split
        large and small letters still make a difference.
    " ".join(text.lower().split()) => text.lower()
        blanks still make a difference: runs of them, line ends, tabs, and those at the
        ends.
    " ".join(text.lower().split()) => text.lower().strip()
        runs of blanks inside a text still make a difference.
    " ".join(text.lower().split()) => text.strip()
        runs of blanks inside a text, and large letters, still make a difference.
    text.lower().split() => ("|" + text.lower() + "|").split()
        blanks at the ends of a text still make a difference.
    " ".join => "".join
        without blanks at all, different words run together: `a hat` is not `ahat`.
    " ".join(text.lower().split()) => text.lower().replace(" ", "")
        only the blank character is taken out. A run of any blanks counts as one.
    " ".join(text.lower().split()) => text.lower().strip().replace("\\n", " ")
        only line ends become blanks: tabs stay, and two blanks in a row.
    " ".join(text.lower().split()) => \
    text.lower().replace("\\n", " ").replace("\\t", " ").strip()
        each blank becomes one, but two in a row stay two: a run of them counts as one.
    " ".join(text.lower().split()) => text.lower().strip().replace("  ", " ")
        replacing two blanks by one makes two of three, and leaves line ends and tabs.
    " ".join(text.lower().split()) => text.lower().replace("  ", " ")
        only two blanks in a row are replaced by one: others, and those at the ends,
        stay.
    text.lower().split() => filter(None, text.lower().split(" "))
        only runs of the blank character are made one: line ends and tabs are blanks,
        too.
    " ".join(text.lower().split()) => \
    " ".join(filter(None, text.lower().split(" "))).strip()
        `strip` takes line ends and tabs at the ends alone: inside they are blanks, too.
    text.lower().split() => sorted(set(text.lower().split()))
        a set of words forgets their order, and how often each comes.
    text.lower().split() => sorted(text.lower().split())
        the order of the words counts.
    [number for => [text for
        numbers, not texts, are asked for.
    return [...] => return sorted({plain(text) for text in val} & seen)
        numbers are asked for, and not the normalized texts.
    return [...] => return len({plain(text) for text in val} & seen)
        how many different texts leak: their numbers are asked for.
    return [...] => return sum(plain(text) in seen for text in val)
        that is how many leak: their numbers are asked for.
    return [...] => return [plain(text) in seen for text in val]
        a `True` or `False` for each text: the numbers of those that leak are asked for.
    [number for => [list(map(plain, train)).index(plain(text)) for
        these are the places in `train`: those in `val` are asked for.
    text in train} => text in val} ; enumerate(val) => enumerate(train)
        these are the numbers of the copies in `train`: those in `val` are asked for.
    in seen] => not in seen]
        these are the texts that have *no* copy in training.
    in seen] => in seen - {*map(plain, val[:number])}]
        a text that stands in `val` twice leaks both times: no number is left out.
    in seen] => in {*seen, *map(plain, val[:number])}]
        copies inside `val` are counted, too: only those in `train` flatter the loss.
    plain(text) in seen => any(plain(text) in one for one in seen)
        a text that is only a *part* of a training text is no copy.
    plain(text) in seen => any(one.startswith(plain(text)) for one in seen)
        a text that a training text only begins with is no copy.
    plain(text) in seen => any(one in plain(text) for one in seen)
        a text of `val` that only contains a training text is no copy.
    in seen] => in " ".join(map(plain, train))]
        a text that is only a part of the training texts, joined, is no copy.
    enumerate(val) if plain(text) in seen => \
    enumerate(val[: len(train)]) if plain(text) == plain(train[number])
        only texts at the same place in both lists are compared.
    if plain(text) in seen => for one in train if plain(one) == plain(text)
        each copy in `train` gives the number once more: once is enough.
    [number for number, => [number for one in train for number, ; \
    in seen] => == plain(one)]
        each copy in `train` gives the number once more, in the order of `train`.
    enumerate(val) => enumerate(val, 1)
        numbers count from 0.
    [number for => [val.index(text) for
        `index` finds the first of several equal texts: use `enumerate`.
    [number for => [list(map(plain, val)).index(plain(text)) for
        `index` finds the first of several texts that become equal: use `enumerate`.
    {plain(text) for => {text for
        `val` is normalized, but `train` is not.
    {plain(text) for => {text.lower() for
        `train` is put into small letters, but its blanks are not made alike.
    if plain(text) in => if text in
        `train` is normalized, but `val` is not.
    if plain(text) in => if plain(text) and plain(text) in
        an empty text can have a copy, too.
    in seen] => in seen][:1]
        the first copy ends the search.
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
    for _ in range(12):
        starts = [random.randrange(20_000) for _ in range(random.randrange(1, 9))]
        yield starts, random.choice([1, 64, 255, 1024, 3000]), random.choice([2, 4])


@exercise(
    cases=_batches,
    hints=(
        "A window at start s begins at byte `s * bytes_per_id`. Which is its last "
        "byte? And in which pages do the two lie?",
        "A window touches all pages from that of its first byte to that of its last. "
        "Put the numbers of all pages of all windows into a set.",
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
        the byte behind the window is taken in, which may begin a page.
    (context_length + 1) * => context_length *
        a window has T + 1 ids: its last target may lie in another page.
    (context_length + 1) * => (context_length + 2) *
        an id behind the window is counted: it ends with its last target.
    (context_length + 1) * bytes_per_id - 1 => context_length * bytes_per_id
        only the first byte of the last id is looked at: of three, one may lie in the
        next page.
    start * bytes_per_id => start ; \
    (context_length + 1) * bytes_per_id - 1 => context_length
    start * bytes_per_id => start ; \
    (context_length + 1) * bytes_per_id - 1 => context_length + 1
        an id has several bytes: start and length count ids.
    start * bytes_per_id => start
        `start` counts ids, not bytes.
    (context_length + 1) * bytes_per_id - 1 => context_length
    (context_length + 1) * bytes_per_id - 1 => context_length + 1
        `context_length` counts ids, not bytes.
    start * bytes_per_id => start // bytes_per_id ; \
    first + (context_length + 1) * bytes_per_id - 1 => \
    (start + context_length) // bytes_per_id
        the numbers are divided by the bytes of an id: it has that many bytes.
    last // 4096 + 1 => last // 4096
        the page in which a window ends is left out.
    range(first // 4096, last // 4096 + 1) => [first // 4096]
        only the page in which a window begins is counted: it may reach into others.
    range(first // 4096, last // 4096 + 1) => [last // 4096]
        only the page in which a window ends is counted.
    range(first // 4096, last // 4096 + 1) => [first // 4096, last // 4096]
        a long window touches the pages between its first and its last one, too.
    pages = set() => pages = [] ; pages.update( => pages.extend(
        a page that several windows touch is read once: count *different* pages.
    pages = set() => pages = [] ; \
    pages.update(range(first // 4096, last // 4096 + 1)) => \
    pages.extend(range(-(-(last - first + 1) // 4096)))
        as few pages as the bytes would fill: a window may lie across a border of pages.
    return len(pages) => return max(pages, default=-1) - min(pages, default=0) + 1
        all pages from the first window to the last are counted, those between them too.
    return len(pages) => return max(pages, default=-1) + 1
        the pages are counted from the beginning of the file on.
    return len(pages) => return pages
        these are the pages themselves: how many they are is asked for.
    first // 4096, last // 4096 => first // 4000, last // 4000
        a page has 4,096 bytes, and not 4,000.
    first // 4096, last // 4096 => first // 1024, last // 1024
        a page has 4,096 bytes, and not 1,024.
""")


pages_touched.answers("""
    -(-len(starts) * (context_length + 1) * bytes_per_id // 4096)
        the bytes of all windows are added up and divided. But pages are read whole.
    len(starts) * (context_length + 1) * bytes_per_id // 4096
        the bytes of all windows are added up, and divided with `//`.
    -(-len(set(starts)) * (context_length + 1) * bytes_per_id // 4096)
        how many pages the windows would fill if they lay side by side: they lie apart.
    len(starts) * (context_length + 1)
        these are ids. Many of them lie in one page.
    len(starts)
        one page for each window, but a window can lie in several, and share them.
    len(set(starts))
        one page for each different start: a window can lie in several, and share them.
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
        "Each rank reads its own `batch_tokens` tokens of a step, side by side with "
        "the other ranks, and goes to the next shard when there is not enough left for "
        "one more step. All ranks shall change the shard in the same step. Returned is "
        "the shard that each rank reads, step by step."
    ),
    reference=shards_by_the_global_batch,
    cases=_steps_of_ranks,
    explanation=(
        "Every rank asks whether one more step fits behind *its own* place, and the "
        "last rank stands further on than rank 0: so near the end of a shard it "
        "changes earlier, and ranks read different shards from then on. Whether it "
        "happens depends on the length of the shard. This was asked in "
        "karpathy/build-nanogpt, issue 105: the example there (100 tokens, 4 ranks) "
        "shows nothing, and the change proposed in pull request 109, asking for "
        "`batch_tokens + 1` instead, makes it worse. Ask where the batch of *all* "
        "ranks begins: then they all get the same answer."
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


def every_slice_once(num_batches: int, batch_size: int, world_size: int) -> list[int]:
    return list(range(num_batches * batch_size * world_size))


@bug_or_not(
    purpose=(
        "In each epoch all ranks together read every sample exactly once. A global "
        "batch is cut into one slice for each rank. Returned is what all of them read, "
        "sorted."
    ),
    reference=every_slice_once,
    cases=lambda random: [
        (num_batches, batch_size, world_size)
        for num_batches in (1, 2, 5, 12)
        for batch_size in (1, 3)
        for world_size in (1, 2, 4)
    ],
    explanation=(
        "A seed of its own for each rank looks like a mistake: without one common "
        "order two ranks may read the same. But here ranks shuffle the numbers of "
        "*global batches*, and each only ever reads its own slice of one. Slices of "
        "different ranks never meet, whatever the order, and each rank goes through "
        "all batches. What changes is who stands beside whom in a step. Were there one "
        "list of samples, shuffled by each rank in its own way, it would be a bug. (So "
        "it is in karpathy/llm.c, in its data loader.)"
    ),
)
def own_seed_for_each_rank(
    num_batches: int, batch_size: int, world_size: int
) -> list[int]:
    read = []
    for rank in range(world_size):
        order = np.random.default_rng(42 + rank).permutation(num_batches)
        for batch in order.tolist():
            first = (batch * world_size + rank) * batch_size
            read += range(first, first + batch_size)
    return sorted(read)


def first_byte(sample: int, context_length: int) -> int:
    return sample * context_length * 2


@bug_or_not(
    purpose=(
        "Say at which byte of a shard of uint16 ids a sample begins; samples have "
        "`context_length` ids and lie end to end."
    ),
    reference=first_byte,
    cases=lambda random: [
        (sample, context_length)
        for context_length in (1024, 2048)
        for sample in (0, 1, 7, 10_000, 2**19 - 1, 2**19, 2**20, 3_000_000)
    ],
    explanation=(
        "The product is computed in 64 bits, and then squeezed into 32: from byte "
        "2**31 on it turns negative, and from 2**32 on it begins anew at 0. A shard of "
        "100 million ids has 200 million bytes, and nothing happens; one of more than "
        "two billion bytes is read at the wrong place. In C it was a cast, `(int)`, at "
        "the last moment (karpathy/llm.c, its data loader); in NumPy it is an array of "
        "int32 offsets."
    ),
)
def narrow_offset(sample: int, context_length: int) -> int:
    offset = np.int64(sample) * np.int64(context_length) * np.int64(2)
    return int(offset.astype(np.int32))


def all_ids_come_back(vocab_size: int) -> bool:
    dtype = np.uint16 if vocab_size - 1 <= np.iinfo(np.uint16).max else np.uint32
    return dtype == np.uint16


@bug_or_not(
    purpose=(
        "Say whether all ids of a vocabulary, added tokens included, can be stored as "
        "uint16, which holds the numbers 0 to 65,535."
    ),
    reference=all_ids_come_back,
    cases=lambda random: [
        (vocab_size,)
        for vocab_size in (1, 2, 256, 50_257, 65_535, 65_536, 65_537, 70_000, 131_072)
    ],
    explanation=(
        "65,536 is more than 65,535, and still right: a vocabulary of V ids has the "
        "ids 0 to V - 1, so with V = 65,536 the largest is 65,535. One token more, an "
        "end of text that is added later, say, and `<=` says no. Without any check, "
        "`astype` wraps around in silence: 65,536 becomes 0, and 70,000 becomes 4,464. "
        "(In huggingface/transformers, issue 2825, that struck 45 % of a vocabulary of "
        "119,547.)"
    ),
)
def fits_two_bytes(vocab_size: int) -> bool:
    return vocab_size <= 2**16


def split_by_hash(text: str, val_every: int) -> str:
    normalized = " ".join(text.lower().split()).encode()
    number = int.from_bytes(hashlib.sha256(normalized).digest()[:8], "big")
    return "val" if number % val_every == 0 else "train"


def on_both_sides(texts: list[str], val_every: int) -> int:
    sides = [(" ".join(t.lower().split()), split_by_hash(t, val_every)) for t in texts]
    return sum((text, "train") in sides for text, side in set(sides) if side == "val")


@true_or_false(
    claim=(
        "If the split of a document is decided by a hash of its normalized text, "
        "instead of by its number, exact copies never stand on both sides, wherever "
        "in the collection they come."
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
        "Equal texts have equal hashes, so they go the same way, and it takes no "
        "table of what came before. It also stays so when documents are added. Near "
        "copies, with one word more, are another matter: their hashes have nothing in "
        "common. And the share of `val` is one in `val_every` only on average."
    ),
)
def split_by_text(texts: list[str], val_every: int) -> int:
    return 0


def next_step_foretold(factor: int, offset: int, size: int) -> bool:
    order = [(factor * x + offset) % size for x in range(size)]
    steps = [(b - a) % size for a, b in pairwise(order)]
    again = sum(second == first for first, second in pairwise(steps))
    return again > (size - 2) / 2


@true_or_false(
    claim=(
        "The order (a * x + b) mod N, for x = 0, 1, 2, ..., visits each of N windows "
        "exactly once if a and N have no common factor. So it is as good as a shuffle: "
        "whoever knows the windows so far cannot foretell most of the next ones."
    ),
    reference=next_step_foretold,
    cases=lambda random: [
        (7, 3, 100),
        (37, 0, 100),
        (389, 11, 1000),
        (619, 5, 1001),
        (48_271, 1, 65_537),
    ],
    explanation=(
        "The first sentence is true, the second is not. The step from one window to "
        "the next is always a, so two of them foretell all others. A test that "
        "each window comes once passes for every permutation, even for 0, 1, 2, ...: "
        "it says nothing about mixing. A training run of 32 billion parameters (marin, "
        "in its retrospective) used such an order, met related data in phases, and saw "
        "them in its loss."
    ),
)
def as_good_as_a_shuffle(factor: int, offset: int, size: int) -> bool:
    return False


# With other numbers by seed.


@numbers(
    ask="{num_shards} shards of {shard_size:,} ids each are one stream. Windows of "
    "T = {context_length} inputs, with their targets, start at every id. How many of "
    "them lie in two shards?",
    draw=lambda rng: {
        "num_shards": rng.randrange(5, 40),
        "shard_size": rng.randrange(10_000, 90_000),
        "context_length": rng.randrange(64, 600),
    },
    hints=("How many starts are there from which a window reaches over one border?",),
)
def windows_over_borders(num_shards: int, shard_size: int, context_length: int) -> int:
    return (num_shards - 1) * context_length


windows_over_borders.answers("""
    num_shards * context_length
        a border too many: behind the last shard is nothing.
    (num_shards - 1) * (context_length + 1)
        T + 1 a border. A window that begins right behind it does not cross it.
    (num_shards - 1) * (context_length - 1)
        windows of T ids. With the last target there is one more at each border.
    num_shards - 1
        one a border: many starts reach over the same one.
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
        ids are taken for bytes: a uint16 has two.
    pages_of_window.reference(start, context_length) - 1
        from the first page to the last, and these are both touched.
    (4 * (start + context_length + 1) - 1) // 4096 - 4 * start // 4096 + 1
        four bytes an id, as uint32 has.
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
        what this rank alone has read. The others read the same order.
    steps * world_size * batch_size
        the ranks before this one read first, a whole batch each.
    steps * world_size * batch_size + rank
        sample by sample in turn. Each rank reads a slice of B.
    (rank * steps + steps) * batch_size
        each rank has a part of the order. They read it side by side.
""")
