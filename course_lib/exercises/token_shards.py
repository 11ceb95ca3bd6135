"""Exercises of lesson 10: places in shards, splits, pages, blocks, copies, and where a
run goes on."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise
from random import Random

import numpy as np

from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false


def _places(random: Random) -> Iterator[Case]:
    for sizes in ([5], [3, 4], [4, 2], [2, 7, 3], [5, 1, 1, 6], [1, 1, 1], [4, 4, 2]):
        for position in range(sum(sizes)):
            yield position, sizes
    yield 10**12, [10**11] * 12
    yield 3 * 10**11 - 1, [10**11] * 12


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


def starts_of(sizes):
    return [0, *accumulate(sizes)]


@locate.mistake(
    "an id that stands right behind the end of a shard is the first one of the next: a "
    "shard of 4 ids has the places 0, 1, 2 and 3, and no place 4."
)
def place_behind_the_end(position, shard_sizes):
    shard = 0
    while position > shard_sizes[shard]:
        position -= shard_sizes[shard]
        shard += 1
    return shard, position


@locate.mistake(
    "shard and place are right, but come in the wrong order: the shard first."
)
def place_first(position, shard_sizes):
    return locate.reference(position, shard_sizes)[::-1]


@locate.mistake(
    "all shards are taken to be as large as the first one. They may differ: add up "
    "their sizes."
)
def as_large_as_the_first(position, shard_sizes):
    return divmod(position, shard_sizes[0])


@locate.mistake(
    "all shards are taken to be as large as the largest. They may differ: add up "
    "their sizes."
)
def as_large_as_the_largest(position, shard_sizes):
    return divmod(position, max(shard_sizes))


@locate.mistake(
    "all shards are taken to be equally large. They may differ: add up their sizes."
)
def as_large_as_the_mean(position, shard_sizes):
    size = sum(shard_sizes) // len(shard_sizes)
    return position // size, position % size


@locate.mistake(
    "the first shard whose size is larger than the position, whatever stands before "
    "it: the ids of the shards before count, too."
)
def first_that_is_large_enough(position, shard_sizes):
    for shard, size in enumerate(shard_sizes):
        if position < size:
            return shard, position
    return len(shard_sizes) - 1, position


@locate.mistake(
    "the remainder by the size of the shard is not the place in it, unless all shards "
    "before are as large: take the sizes of those before off."
)
def remainder_by_its_size(position, shard_sizes):
    shard = locate.reference(position, shard_sizes)[0]
    return shard, position % shard_sizes[shard]


@locate.mistake(
    "the size of the *next* shard is taken off: first take off the size of the one you "
    "stand at, and then go on."
)
def size_of_the_next(position, shard_sizes):
    shard = 0
    while position >= shard_sizes[shard]:
        shard += 1
        position -= shard_sizes[shard]
    return shard, position


@locate.mistake(
    "`index` finds the first shard of that size, and others may have the same: use "
    "`enumerate`."
)
def first_of_that_size(position, shard_sizes):
    shard, place = locate.reference(position, shard_sizes)
    return shard_sizes.index(shard_sizes[shard]), place


@locate.mistake(
    "ids are not dealt out to the shards in turn: shard 0 has the first ones, all "
    "together, and then comes shard 1."
)
def dealt_out(position, shard_sizes):
    return position % len(shard_sizes), position // len(shard_sizes)


# Which shard, from the position, the sizes and where each begins; and which place.
WHICH_SHARD = {
    "the shard is right": lambda p, sizes, begins: bisect_right(begins, p) - 1,
    "shards are counted from 1": lambda p, sizes, begins: bisect_right(begins, p),
    "the first id of a shard is taken for the last of the one before": (
        lambda p, sizes, begins: max(0, bisect_left(begins, p) - 1)
    ),
    "the first id of a shard, that of shard 0 as well, is taken for the last of the "
    "one before": lambda p, sizes, begins: bisect_left(begins, p) - 1,
    "the last id of a shard is taken for the first of the next": (
        lambda p, sizes, begins: bisect_right(begins, p + 1) - 1
    ),
    "each position gets the shard before its own": (
        lambda p, sizes, begins: bisect_right(begins, p) - 2
    ),
    "all shards are taken to be as large as the first": (
        lambda p, sizes, begins: p // sizes[0]
    ),
    "the last shard is never reached": (
        lambda p, sizes, begins: min(
            bisect_right(begins, p) - 1, max(0, len(sizes) - 2)
        )
    ),
    "the first shard that begins at the position or behind it: the one before holds "
    "it, unless it begins right there": lambda p, sizes, begins: bisect_left(begins, p),
    "the last shard is returned, whatever the position": (
        lambda p, sizes, begins: len(sizes) - 1
    ),
}
WHICH_PLACE = {
    "the place in the shard is right": lambda p, sizes, begins, s: p - begins[s],
    "the place is that in the whole stream: take off what stands in the shards "
    "before": lambda p, sizes, begins, s: p,
    "places are counted from 1": lambda p, sizes, begins, s: p - begins[s] + 1,
    "the place is one too small": lambda p, sizes, begins, s: p - begins[s] - 1,
    "only the shard right before is taken off, not all of those before": (
        lambda p, sizes, begins, s: p - (sizes[s - 1] if s else 0)
    ),
    "the size of the shard itself is taken off, not those of the shards before": (
        lambda p, sizes, begins, s: p - sizes[s]
    ),
    "the shards up to this one are taken off, and not only those before it": (
        lambda p, sizes, begins, s: p - begins[s + 1]
    ),
    "the place is counted from the end of the shard": (
        lambda p, sizes, begins, s: begins[s + 1] - p
    ),
    "the place is counted from the last id of the shard": (
        lambda p, sizes, begins, s: begins[s + 1] - 1 - p
    ),
    "before shard 0 there is nothing to take off, and `ends[-1]` is the end of all": (
        lambda p, sizes, begins, s: p - begins[1:][s - 1]
    ),
    "the shards before are taken to be as large as the first": (
        lambda p, sizes, begins, s: p - s * sizes[0]
    ),
    "the remainder by the size of the first shard is taken for the place": (
        lambda p, sizes, begins, s: p % sizes[0]
    ),
}


def located(which_shard, which_place, position, shard_sizes):
    begins = starts_of(shard_sizes)
    right = bisect_right(begins, position) - 1
    shard = which_shard(position, shard_sizes, begins)
    return shard, which_place(position, shard_sizes, begins, right)


def located_from_there(which_shard, which_place, position, shard_sizes):
    begins = starts_of(shard_sizes)
    shard = which_shard(position, shard_sizes, begins)
    return shard, which_place(position, shard_sizes, begins, shard)


def _and_right(build, right):
    """Leave one step right: so that a single slip is told as one."""

    def built(step, *arguments):
        return build(step, right, *arguments)

    built.__name__ = build.__name__
    return built


def _right_and(build, right):
    def built(step, *arguments):
        return build(right, step, *arguments)

    built.__name__ = build.__name__
    return built


def _combine_steps(item, build, ones, others):
    """Tell a slip in one of two steps, or in both; the first way of each is right."""
    (_, right), *wrong = ones.items()
    (_, also_right), *also_wrong = others.items()
    item.combine(_and_right(build, also_right), dict(wrong))
    item.combine(_right_and(build, right), dict(also_wrong))
    item.combine(build, dict(wrong), dict(also_wrong))


_combine_steps(locate, located, WHICH_SHARD, WHICH_PLACE)
_combine_steps(locate, located_from_there, WHICH_SHARD, WHICH_PLACE)


# How large is the file?


def _files(random: Random) -> Iterator[Case]:
    for vocab_size in (2, 100, 255, 256, 257, 2000, 32_767, 32_768, 32_769, 50_257):
        yield 1000, vocab_size
    for vocab_size in (65_535, 65_536, 65_537, 100_277, 262_144, 2**31, 2**32):
        yield 1000, vocab_size
    yield from ((0, 300), (1, 65_536), (1, 65_537), (7, 128_256), (10**13, 200_000))
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


# Bytes an id, by the size V of the vocabulary.
BYTES_AN_ID = {
    "a vocabulary of 65,536 has the ids 0 to 65,535, which 16 bits can hold: it still "
    "needs only two bytes an id": lambda V: 2 if V < 65_536 else 4,
    "the border is one lower than that: 65,535 ids, and 65,536 as well, fit into two "
    "bytes": lambda V: 2 if V < 65_535 else 4,
    "an id of 65,536 does not fit into 16 bits, and a vocabulary of 65,537 has one": (
        lambda V: 2 if V <= 65_537 else 4
    ),
    "every id gets two bytes here. Ids from 65,536 on do not fit into them": (
        lambda V: 2
    ),
    "every id gets four bytes here. Up to id 65,535 two will do": lambda V: 4,
    "every id gets eight bytes, as int64 has them; a file has them in two, or four": (
        lambda V: 8
    ),
    "every id gets a single byte here": lambda V: 1,
    "one byte for a small vocabulary: shards have two bytes an id, or four": (
        lambda V: 1 if V <= 256 else 2 if V <= 65_536 else 4
    ),
    "one byte for a small vocabulary: shards have two bytes an id, or four. And a "
    "vocabulary of 65,536 fits into two": (
        lambda V: 1 if V < 256 else 2 if V < 65_536 else 4
    ),
    "no file has three bytes an id: no dtype has. Behind two bytes come four": (
        lambda V: 2 if V <= 65_536 else 3 if V <= 2**24 else 4
    ),
    "no file has three bytes an id: no dtype has. And a vocabulary of 65,536 fits into "
    "two": lambda V: max(2, (V.bit_length() + 7) // 8),
    "as few bytes as the largest id needs: shards have two bytes an id, or four": (
        lambda V: max(1, ((V - 1).bit_length() + 7) // 8)
    ),
    "as few bytes as the vocabulary needs: shards have two bytes an id, or four": (
        lambda V: max(1, (V.bit_length() + 7) // 8)
    ),
    "as many bytes as the size of the vocabulary needs, one for a small one: shards "
    "have two an id, or four, and the largest id is V - 1": (
        lambda V: np.min_scalar_type(V).itemsize
    ),
    "eight bits make a byte, and some bits left over need one more: round up; and "
    "shards have two bytes an id, or four": lambda V: (V - 1).bit_length() // 8,
    "eight bits make a byte, and some bits of the vocabulary's size left over need "
    "one more: round up; and shards have two bytes an id, or four": (
        lambda V: V.bit_length() // 8
    ),
    "`uint16` has no sign, so it goes up to 65,535, and not to 32,767": (
        lambda V: 2 if V <= 32_768 else 4
    ),
    "`uint16` has no sign, so it goes up to 65,535, not to 32,767": (
        lambda V: 2 if V <= 32_767 else 4
    ),
    "`uint16` has no sign, so it goes up to 65,535, and not to 32,766": (
        lambda V: 2 if V < 32_767 else 4
    ),
    "the two sizes are exchanged": lambda V: 4 if V <= 65_536 else 2,
    "the two sizes are exchanged, and 65,536 ids fit into two bytes": (
        lambda V: 4 if V < 65_536 else 2
    ),
    "four bytes, and not eight, hold ids from 65,536 on": (
        lambda V: 2 if V <= 65_536 else 8
    ),
    "four bytes, and not eight, hold ids from 65,536 on; and a vocabulary of 65,536 "
    "needs two": lambda V: 2 if V < 65_536 else 8,
    "these are bits: a byte has eight of them": lambda V: 16 if V <= 65_536 else 32,
    "these are bits: a byte has eight of them. And a vocabulary of 65,536 fits into "
    "16": lambda V: 16 if V < 65_536 else 32,
    "the bits of the largest id are taken for bytes": lambda V: (V - 1).bit_length(),
    "the bits of the vocabulary are taken for bytes": lambda V: V.bit_length(),
}


def with_bytes(bytes_an_id, num_tokens, vocab_size):
    return num_tokens * bytes_an_id(vocab_size)


bytes_on_disk.combine(with_bytes, BYTES_AN_ID)


@bytes_on_disk.mistake(
    "how many bytes an id takes is decided by the number of tokens here: by the size "
    "of the vocabulary."
)
def decided_by_the_tokens(num_tokens, vocab_size):
    return num_tokens * (2 if num_tokens <= 65_536 else 4)


@bytes_on_disk.mistake(
    "the two arguments are exchanged: there are `num_tokens` ids in the file."
)
def arguments_exchanged(num_tokens, vocab_size):
    return vocab_size * (2 if num_tokens <= 65_536 else 4)


@bytes_on_disk.mistake(
    "these are the bytes of a table of the vocabulary: the file has `num_tokens` ids."
)
def bytes_of_the_vocabulary(num_tokens, vocab_size):
    return vocab_size * (2 if vocab_size <= 65_536 else 4)


@bytes_on_disk.mistake("so many bytes has *one* id. The file has `num_tokens` of them.")
def of_one_id(num_tokens, vocab_size):
    return 2 if vocab_size <= 65_536 else 4


@bytes_on_disk.mistake("a shard has no header: nothing comes on top of the ids.")
def with_a_header(num_tokens, vocab_size):
    return 1024 + num_tokens * (2 if vocab_size <= 65_536 else 4)


@bytes_on_disk.mistake("that is the number of ids: each takes two bytes, or four.")
def number_of_ids(num_tokens, vocab_size):
    return num_tokens


# How many windows cross a border?


def _sizes(random: Random) -> Iterator[Case]:
    yield from (([5], 3), ([0], 3), ([4, 4], 3), ([4, 4], 1), ([10, 10], 4))
    yield from (([2, 2, 2], 4), ([2, 2, 2], 5), ([2, 2], 3), ([2, 2], 4), ([1, 1], 1))
    for context_length in (1, 2, 3, 5, 8):
        for sizes in ([7, 7, 3], [3, 9], [6, 6, 6, 1], [9, 2, 9], [4, 1, 1, 4], [12]):
            yield sizes, context_length
    yield [10**8] * 5 + [123], 1024


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


# How many windows there are in n ids with a context of T.
IN_ALL = {
    "the number of windows is right": lambda n, T: max(0, n - T),
    "in the whole stream one window too many is counted: the last input of a window "
    "has a target behind it, so there are N - T": lambda n, T: max(0, n - T + 1),
    "in the whole stream one window too few is counted": lambda n, T: max(0, n - T - 1),
    "a stream that is too short for a window has 0 of them, and not fewer": (
        lambda n, T: n - T
    ),
    "there is not a window at each id of the stream: the last T have none": (
        lambda n, T: n
    ),
    "windows of the whole stream are counted end to end, with a stride": (
        lambda n, T: max(0, (n - 1) // T)
    ),
    "windows of the whole stream are counted end to end, with a stride of T": (
        lambda n, T: n // T
    ),
    "windows of the whole stream are counted end to end, with a stride of T + 1": (
        lambda n, T: n // (T + 1)
    ),
}
IN_EACH = {
    "the windows inside the shards are right": (
        lambda sizes, T: sum(max(0, n - T) for n in sizes)
    ),
    "in each shard one window too many is counted: T + 1 ids make one, so n ids have "
    "n - T of them": lambda sizes, T: sum(max(0, n - T + 1) for n in sizes),
    "in each shard one window too few is counted": (
        lambda sizes, T: sum(max(0, n - T - 1) for n in sizes)
    ),
    "a shard that is too short for a window has 0 of them, and not fewer": (
        lambda sizes, T: sum(n - T for n in sizes)
    ),
    "a shard without a window in it has 0 of them, not fewer: the sum alone is kept "
    "from falling below 0": lambda sizes, T: max(0, sum(n - T for n in sizes)),
    "the last shard is left out": (
        lambda sizes, T: sum(max(0, n - T) for n in sizes[:-1])
    ),
    "only the first shard's windows are taken off": (
        lambda sizes, T: max(0, sizes[0] - T)
    ),
    "all shards are taken to be as large as the first": (
        lambda sizes, T: len(sizes) * max(0, sizes[0] - T)
    ),
    "in each shard windows are counted end to end, with a stride": (
        lambda sizes, T: sum(max(0, (n - 1) // T) for n in sizes)
    ),
    "in each shard windows are counted end to end, with a stride of T": (
        lambda sizes, T: sum(n // T for n in sizes)
    ),
    "in each shard windows are counted end to end, with a stride of T + 1": (
        lambda sizes, T: sum(n // (T + 1) for n in sizes)
    ),
    "a shard of exactly T + 1 ids has one window inside it: it is not too short": (
        lambda sizes, T: sum(n - T for n in sizes if n > T + 1)
    ),
}


def windows_less_inside(in_all, in_each, shard_sizes, context_length):
    in_all = in_all(sum(shard_sizes), context_length)
    return in_all - in_each(shard_sizes, context_length)


def windows_less_inside_above_zero(in_all, in_each, shard_sizes, context_length):
    return max(0, windows_less_inside(in_all, in_each, shard_sizes, context_length))


@crossing_windows.mistake(
    "these are the windows that lie *inside* a shard: the others are asked for."
)
def inside_of_a_shard(shard_sizes, context_length):
    return sum(max(0, size - context_length) for size in shard_sizes)


@crossing_windows.mistake("that is how many windows there are in all.")
def all_windows(shard_sizes, context_length):
    return max(0, sum(shard_sizes) - context_length)


@crossing_windows.mistake(
    "windows are taken to have T ids. With the last target they have T + 1."
)
def without_the_target(shard_sizes, context_length):
    inputs = context_length - 1
    in_all = max(0, sum(shard_sizes) - inputs)
    return in_all - sum(max(0, size - inputs) for size in shard_sizes)


@crossing_windows.mistake("windows are taken to have T + 2 ids. They have T + 1.")
def one_id_more(shard_sizes, context_length):
    return without_the_target(shard_sizes, context_length + 2)


@crossing_windows.mistake(
    "that makes T windows for each border, which would be right if every shard were "
    "longer than T: a window can cross two borders, and near the end there is no room "
    "for T of them."
)
def context_for_each_border(shard_sizes, context_length):
    return context_length * (len(shard_sizes) - 1)


@crossing_windows.mistake(
    "T + 1 windows for each border are one too many: the one that begins right behind "
    "the border does not cross it. And where shards are shorter, a window can cross "
    "two."
)
def one_more_for_each_border(shard_sizes, context_length):
    return (context_length + 1) * (len(shard_sizes) - 1)


@crossing_windows.mistake(
    "T - 1 windows for each border are one too few: with its last target a window has "
    "T + 1 ids. And where shards are shorter, a window can cross two."
)
def one_less_for_each_border(shard_sizes, context_length):
    return (context_length - 1) * (len(shard_sizes) - 1)


@crossing_windows.mistake(
    "T windows for each *shard*: behind the last one there is no border, and where "
    "shards are shorter than T, a window can cross two."
)
def context_for_each_shard(shard_sizes, context_length):
    return context_length * len(shard_sizes)


@crossing_windows.mistake("that is the number of borders: many windows cross each.")
def number_of_borders(shard_sizes, context_length):
    return len(shard_sizes) - 1


@crossing_windows.mistake(
    "a window that crosses several borders is counted at each of them: it is one "
    "window."
)
def once_at_each_border(shard_sizes, context_length):
    total = sum(shard_sizes)
    windows = max(0, total - context_length)
    borders = list(accumulate(shard_sizes))[:-1]
    return (
        sum(
            s < border <= s + context_length
            for border in borders
            for s in range(windows)
        )
        if total < 1000
        else context_length * len(borders)
    )


@crossing_windows.mistake(
    "windows are counted at each border by itself, min(T, size of the shard before) of "
    "them: near the end of the stream there may be no room for so many."
)
def limited_by_the_shard_before(shard_sizes, context_length):
    return sum(min(context_length, size) for size in shard_sizes[:-1])


@crossing_windows.mistake(
    "min(T, size) windows start in each shard and reach over its end; but behind the "
    "last shard there is nothing to cross to, and near the end no room."
)
def limited_by_each_shard(shard_sizes, context_length):
    return sum(min(context_length, size) for size in shard_sizes)


@crossing_windows.mistake(
    "each border is looked at with its two neighbors alone: a window can reach over a "
    "whole shard, into a third."
)
def two_neighbors_at_a_time(shard_sizes, context_length):
    return sum(
        all_windows([a, b], context_length) - inside_of_a_shard([a, b], context_length)
        for a, b in pairwise(shard_sizes)
    )


@crossing_windows.mistake(
    "windows are counted at each border by itself, no more than either shard is long. "
    "But a window can cross two borders, and reach over a whole shard."
)
def limited_by_both(shard_sizes, context_length):
    return sum(min(context_length, a, b) for a, b in pairwise(shard_sizes))


@crossing_windows.mistake(
    "windows are counted at each border by itself, no more than the shard behind it is "
    "long. But a window can reach over a whole shard, and begins before the border."
)
def limited_by_the_shard_behind(shard_sizes, context_length):
    return sum(min(context_length, size) for size in shard_sizes[1:])


@crossing_windows.mistake(
    "the smallest shard limits all borders here: each shard counts where it lies."
)
def limited_by_the_smallest(shard_sizes, context_length):
    return min(context_length, min(shard_sizes)) * (len(shard_sizes) - 1)


@crossing_windows.mistake(
    "where a shard is shorter than a window, windows cross borders all the more: it is "
    "just no longer T at each."
)
def none_where_one_is_short(shard_sizes, context_length):
    if min(shard_sizes) <= context_length:
        return 0
    return context_length * (len(shard_sizes) - 1)


_combine_steps(crossing_windows, windows_less_inside, IN_ALL, IN_EACH)
_combine_steps(crossing_windows, windows_less_inside_above_zero, IN_ALL, IN_EACH)


# Which split?


def _numbers(random: Random) -> Iterator[Case]:
    for val_every in (1, 2, 3, 5, 10):
        for number in (*range(8), 9, 10, 11, 19, 20, 21, 29, 30):
            yield number, val_every
    yield from ((98, 100), (99, 100), (100, 100), (199, 100), (10**12 - 1, 100))


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


# Is a document one for validation? And which place has it there, or in training?
IS_VALIDATION = {
    "the split is right": lambda k, v: (k + 1) % v == 0,
    "the rule counts from 1, and `number` from 0: the first `val` document of "
    "`val_every` = 3 has number 2, not 0": lambda k, v: k % v == 0,
    "the rule counts from 1, and `number` from 0: the first `val` document of "
    "`val_every` = 3 has number 2, and number 3 is not one": (
        lambda k, v: k % v == 0 and k > 0
    ),
    "one number too early: the `val` documents of `val_every` = 3 have the numbers 2, "
    "5, 8": lambda k, v: (k + 2) % v == 0,
    "the two splits are exchanged: `val` is the small one": (
        lambda k, v: (k + 1) % v != 0
    ),
    "the two splits are exchanged, and the count begins at 1": lambda k, v: k % v != 0,
    "the first documents go to `val` here: each `val_every`-th of them does": (
        lambda k, v: k < v
    ),
    "no document ever goes to `val`: no remainder by `val_every` is `val_every`": (
        lambda k, v: False
    ),
    "one number too late: the `val` documents of `val_every` = 3 have the numbers 2, "
    "5, 8": lambda k, v: (k - 1) % v == 0,
    "one number too late: the `val` documents of `val_every` = 3 have the numbers 2, "
    "5, 8, and with 1 all go to `val`": lambda k, v: k % v == 1,
    "`//` is the quotient: each `val_every`-th is told by the remainder, `%`": (
        lambda k, v: (k + 1) // v == 0
    ),
}
PLACE_IN_VAL = {
    "the place in `val` is right": lambda k, v: k // v,
    "places in `val` are counted from 1": lambda k, v: (k + 1) // v,
    "a document of `val` keeps its number: count those of `val` before it": (
        lambda k, v: k
    ),
    "a document of `val` gets the remainder for a place": lambda k, v: k % v,
    "places in `val` are one too small": lambda k, v: k // v - 1,
    "a place in `val` is a whole number: `//`, not `/`": lambda k, v: k / v,
    "a place in `val` is a whole number: `//`, and not `/`": lambda k, v: (
        (k + 1) / v - 1
    ),
    "every document of `val` gets place 0": lambda k, v: 0,
    "a document of `val` gets the place that it would have in `train`": (
        lambda k, v: k - k // v
    ),
}
PLACE_IN_TRAIN = {
    "the place in `train` is right": lambda k, v: k - k // v,
    "a document of `train` keeps its number: those of `val` before it are missing "
    "there": lambda k, v: k,
    "places in `train` are counted from 1": lambda k, v: k + 1 - k // v,
    "places in `train` are one too small": lambda k, v: k - k // v - 1,
    "in `train`, one document of `val` too many is taken off, from the beginning": (
        lambda k, v: k - k // v - 1
    ),
    "in `train`, documents of `val` are counted as if number 0 were one": (
        lambda k, v: k - (k + v - 1) // v
    ),
    "in `train`, documents of `val` before this one are counted as if number 0 were "
    "one, and this one were none": lambda k, v: k - (k - 1) // v,
    "every document of `train` gets place 0": lambda k, v: 0,
    "in `train`, a document of `val` is taken off after each `val_every` - 1 of all, "
    "instead of `val_every`": lambda k, v: k - k // max(1, v - 1),
    "a document of `train` gets the quotient for a place: these are the documents of "
    "`val` before it": lambda k, v: k // v,
    "a document of `train` gets the remainder for a place": lambda k, v: k % v,
}


def decided(is_validation, number, val_every):
    name = "val" if is_validation(number, val_every) else "train"
    before = number // val_every
    return name, before if name == "val" else number - before


def decided_and_counted(is_validation, number, val_every):
    """The places are those that the documents get where the split is decided so."""
    if number > 1000:
        return decided(is_validation, number, val_every)
    here = is_validation(number, val_every)
    same = [is_validation(k, val_every) == here for k in range(number)]
    return "val" if here else "train", sum(same)


def placed(in_val, in_train, number, val_every):
    if (number + 1) % val_every == 0:
        return "val", in_val(number, val_every)
    return "train", in_train(number, val_every)


def decided_and_placed_in_val(is_validation, in_val, number, val_every):
    if is_validation(number, val_every):
        return "val", in_val(number, val_every)
    return "train", number - number // val_every


def decided_and_placed_in_train(is_validation, in_train, number, val_every):
    if is_validation(number, val_every):
        return "val", number // val_every
    return "train", in_train(number, val_every)


@split_of.mistake("split and place are right, but come in the wrong order.")
def place_before_split(number, val_every):
    return split_of.reference(number, val_every)[::-1]


@split_of.mistake("the names are exchanged: `val` is each `val_every`-th document.")
def names_exchanged(number, val_every):
    name, place = split_of.reference(number, val_every)
    return "train" if name == "val" else "val", place


@split_of.mistake("the split is called `val`, in three letters.")
def in_full(number, val_every):
    name, place = split_of.reference(number, val_every)
    return "validation" if name == "val" else name, place


@split_of.mistake("only the name of the split: its place in that split is missing.")
def name_alone(number, val_every):
    return split_of.reference(number, val_every)[0]


@split_of.mistake("only the place: the name of the split is missing.")
def place_alone(number, val_every):
    return split_of.reference(number, val_every)[1]


@split_of.mistake(
    "with `val_every` = 1 every document goes to `val`: (number + 1) % 1 is 0, too."
)
def never_remainder_of_one(number, val_every):
    if number % val_every == val_every - 1 and val_every > 1:
        return "val", number // val_every
    return "train", number - number // val_every


@split_of.mistake("places count from 0 in each split, as numbers do.")
def places_from_one(number, val_every):
    name, place = split_of.reference(number, val_every)
    return name, place + 1


@split_of.mistake(
    "the document keeps its number: its place counts only documents of its own split."
)
def keeps_its_number(number, val_every):
    return split_of.reference(number, val_every)[0], number


split_of.combine(decided, dict(list(IS_VALIDATION.items())[1:]))
split_of.combine(decided_and_counted, dict(list(IS_VALIDATION.items())[1:]))
_combine_steps(split_of, placed, PLACE_IN_VAL, PLACE_IN_TRAIN)
_combine_steps(split_of, decided_and_placed_in_val, IS_VALIDATION, PLACE_IN_VAL)
_combine_steps(split_of, decided_and_placed_in_train, IS_VALIDATION, PLACE_IN_TRAIN)


# Where does a run go on?


def _runs(random: Random) -> Iterator[Case]:
    for num_samples, delivered in ((20, 0), (20, 6), (20, 7), (20, 14), (20, 20)):
        for batch_size, world_size in ((1, 1), (2, 1), (3, 2), (2, 3), (4, 3), (7, 2)):
            for rank in range(world_size):
                yield num_samples, delivered, batch_size, rank, world_size
    yield from ((12, 6, 3, 1, 2), (12, 7, 3, 1, 2), (12, 7, 3, 0, 2), (5, 0, 3, 0, 2))
    yield 10**5, 10**4, 3, 1, 4


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


# The share of a rank: n samples, d delivered, B, rank r of W.
SHARE = {
    "the share of the rank is right": (
        lambda n, d, B, r, W: range(d + r * B, d + (r + 1) * B)
    ),
    "ranks take turns here, entry by entry: each takes `batch_size` neighbors": (
        lambda n, d, B, r, W: range(d + r, d + r + W * B, W)
    ),
    "ranks take turns here, entry by entry, from the start of the order on: each takes "
    "`batch_size` neighbors": lambda n, d, B, r, W: range(
        d // W * W + r, d // W * W + r + W * B, W
    ),
    "where the positions begin and end, and not all of them": (
        lambda n, d, B, r, W: (d + r * B, d + (r + 1) * B)
    ),
    "`delivered` is shared out among the ranks, but positions are those in the one "
    "order of all": lambda n, d, B, r, W: range(d // W + r * B, d // W + (r + 1) * B),
    "`batch_size` is shared out among the ranks: each takes as many": (
        lambda n, d, B, r, W: range(d + r * B // W, d + (r + 1) * B // W)
    ),
    "every rank reads the same: leave `rank * batch_size` to those before": (
        lambda n, d, B, r, W: range(d, d + B)
    ),
    "ranks begin one entry apart, so they share all but one": (
        lambda n, d, B, r, W: range(d + r, d + r + B)
    ),
    "ranks begin `world_size` entries apart: `batch_size` is what each takes": (
        lambda n, d, B, r, W: range(d + r * W, d + r * W + B)
    ),
    "it begins from the start of the order again: `delivered` samples have been seen": (
        lambda n, d, B, r, W: range(r * B, (r + 1) * B)
    ),
    "`delivered` counts samples, not batches": (
        lambda n, d, B, r, W: range(d * B + r * B, d * B + (r + 1) * B)
    ),
    "`delivered` counts samples, not steps of all ranks": (
        lambda n, d, B, r, W: range(d * W * B + r * B, d * W * B + (r + 1) * B)
    ),
    "`delivered` counts the samples of all ranks together, not those of each": (
        lambda n, d, B, r, W: range(d * W + r * B, d * W + (r + 1) * B)
    ),
    "it goes back to the last multiple of a step, as if the steps had always been as "
    "large as now: samples are repeated": (
        lambda n, d, B, r, W: range(
            d // (W * B) * W * B + r * B, d // (W * B) * W * B + (r + 1) * B
        )
    ),
    "it goes back to the last multiple of `batch_size`, so samples are repeated: the "
    "size of a batch may have been another one before": (
        lambda n, d, B, r, W: range((d // B + r) * B, (d // B + r + 1) * B)
    ),
    "it goes on at the next multiple of a step, as if the steps had always been as "
    "large as now: samples are left out": (
        lambda n, d, B, r, W: range(
            -(-d // (W * B)) * W * B + r * B, -(-d // (W * B)) * W * B + (r + 1) * B
        )
    ),
    "one step too far: the share of this rank begins `rank * batch_size` behind "
    "`delivered`": (lambda n, d, B, r, W: range(d + (r + W) * B, d + (r + W + 1) * B)),
    "these are all samples of the step: each rank reads its part of them": (
        lambda n, d, B, r, W: range(d, d + W * B)
    ),
    "the share of a rank is `batch_size` samples, not `batch_size` for all ranks": (
        lambda n, d, B, r, W: range(d + r * (B // W), d + (r + 1) * (B // W))
    ),
    "one sample too many at the end": (
        lambda n, d, B, r, W: range(d + r * B, d + (r + 1) * B + 1)
    ),
    "one sample too few at the end": (
        lambda n, d, B, r, W: range(d + r * B, d + (r + 1) * B - 1)
    ),
    "ranks are counted from 0: the first begins right at `delivered`": (
        lambda n, d, B, r, W: range(d + (r + 1) * B, d + (r + 2) * B)
    ),
    "ranks are counted from 0, not from 1": (
        lambda n, d, B, r, W: range(d + (r - 1) * B, d + r * B)
    ),
    "it begins one behind the sample that nobody has seen: positions count from 0": (
        lambda n, d, B, r, W: range(d + 1 + r * B, d + 1 + (r + 1) * B)
    ),
    "`delivered` samples of *this rank* are taken to be gone: it counts all ranks'": (
        lambda n, d, B, r, W: range(r * (n // W) + d, r * (n // W) + d + B)
    ),
    "each rank has a part of the whole order here: all together go through one order": (
        lambda n, d, B, r, W: range(r * (n // W) + d // W, r * (n // W) + d // W + B)
    ),
}
# What happens where fewer are left than all ranks need.
AT_THE_END = {
    "the end is right": lambda n, d, B, W, share: [] if d + W * B > n else list(share),
    "a step that fits exactly is the last one: it is not left out": (
        lambda n, d, B, W, share: [] if d + W * B >= n else list(share)
    ),
    "each rank looks at its own share alone, so at the end some ranks have a batch "
    "and others have none": (
        lambda n, d, B, W, share: [] if share[-1:] and share[-1] >= n else list(share)
    ),
    "the last step is cut off at the end: where not all ranks get a full batch, none "
    "gets any": lambda n, d, B, W, share: [p for p in share if p < n],
    "positions at or behind `num_samples`: where not all ranks get a full batch, none "
    "gets any": lambda n, d, B, W, share: list(share),
    "it begins anew at the end, with the first samples of the order": (
        lambda n, d, B, W, share: [p % n for p in share]
    ),
    "it looks whether *one* batch is left: all ranks together need `world_size` of "
    "them": lambda n, d, B, W, share: [] if d + B > n else list(share),
    "it looks whether *one* sample is left: all ranks together need `world_size * "
    "batch_size`": lambda n, d, B, W, share: [] if d >= n else list(share),
    "only once all samples are delivered it returns nothing, and before it cuts off": (
        lambda n, d, B, W, share: [] if d >= n else [p for p in share if p < n]
    ),
    "whether enough are left is asked as if `delivered` counted batches": (
        lambda n, d, B, W, share: [] if d * B + W * B > n else list(share)
    ),
    "it looks at one sample too many: a step that fits exactly is read": (
        lambda n, d, B, W, share: [] if d + W * B + 1 > n else list(share)
    ),
    "the samples delivered are left out of the question whether enough are left": (
        lambda n, d, B, W, share: [] if n < W * B else list(share)
    ),
}


def shared_out(share, at_the_end, n, delivered, batch_size, rank, world_size):
    mine = share(n, delivered, batch_size, rank, world_size)
    return at_the_end(n, delivered, batch_size, world_size, mine)


_combine_steps(next_batch, shared_out, SHARE, AT_THE_END)


@next_batch.mistake(
    "the positions of the last sample and behind are missing: `range` ends before its "
    "second number."
)
def first_alone(num_samples, delivered, batch_size, rank, world_size):
    return [delivered + rank * batch_size][:num_samples]


@next_batch.mistake("where nothing is left, a list without positions: `[]`.")
def none_for_no_batch(num_samples, delivered, batch_size, rank, world_size):
    found = next_batch.reference(num_samples, delivered, batch_size, rank, world_size)
    return found or None


@next_batch.mistake(
    "these are how many samples are left, or where they begin, not the positions that "
    "the rank reads: a list of `batch_size` of them."
)
def only_where_it_begins(num_samples, delivered, batch_size, rank, world_size):
    return delivered + rank * batch_size


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


# The windows of a block b, the i-th in the order: n windows, blocks of s, all blocks.
OF_A_BLOCK = {
    "the last block is short: there is no window `num_windows`, nor any behind it": (
        lambda n, s, b, i, blocks: range(b * s, (b + 1) * s)
    ),
    "the block with the largest number is the short one, not the one that comes last "
    "in the order": lambda n, s, b, i, blocks: range(
        b * s, (b + 1) * s if i < len(blocks) - 1 else b * s + (n - 1) % s + 1
    ),
    "one window of each block is missing at its end": (
        lambda n, s, b, i, blocks: range(b * s, min((b + 1) * s - 1, n))
    ),
    "the last window of all is missing": (
        lambda n, s, b, i, blocks: range(b * s, min((b + 1) * s, n - 1))
    ),
    "the first window of the next block is counted, too": (
        lambda n, s, b, i, blocks: range(b * s, min((b + 1) * s + 1, n))
    ),
    "each block is one window too long, and there is a window too many at the end": (
        lambda n, s, b, i, blocks: range(b * s, min((b + 1) * s + 1, n + 1))
    ),
    "windows are counted from 1 here; they count from 0": (
        lambda n, s, b, i, blocks: range(b * s + 1, min((b + 1) * s, n) + 1)
    ),
    "the blocks come in their own order: `blocks` says which one comes when": (
        lambda n, s, b, i, blocks: range(i * s, min((i + 1) * s, n))
    ),
    "the order of the blocks is turned round: `blocks[i]` is which block comes as "
    "number i, and not where block i comes": lambda n, s, b, i, blocks: range(
        blocks.index(i) * s, min((blocks.index(i) + 1) * s, n)
    ),
    "blocks are counted from 1 here; they count from 0": (
        lambda n, s, b, i, blocks: range((b - 1) * s, min(b * s, n))
    ),
    "only the first window of each block is there": (
        lambda n, s, b, i, blocks: range(b * s, b * s + 1)
    ),
    "a block begins at `block * block_size`: here it begins at its number, and blocks "
    "overlap": lambda n, s, b, i, blocks: range(b, min(b + s, n)),
    "the windows of a block lie one behind another, not `number of blocks` apart": (
        lambda n, s, b, i, blocks: range(b, n, len(blocks))
    ),
    "the windows of a block lie one behind another, not `block_size` apart": (
        lambda n, s, b, i, blocks: range(b, n, s)
    ),
    "the windows inside a block are back to front": (
        lambda n, s, b, i, blocks: range(min((b + 1) * s, n) - 1, b * s - 1, -1)
    ),
    "the short block is left out": lambda n, s, b, i, blocks: (
        range(b * s, (b + 1) * s) if (b + 1) * s <= n else range(0)
    ),
    "a last block that is full is left out, and so is a short one": (
        lambda n, s, b, i, blocks: (
            range(b * s, (b + 1) * s) if (b + 1) * s < n else range(0)
        )
    ),
    "`block_size` is taken for the number of blocks": (
        lambda n, s, b, i, blocks: range(b * (n // s), min((b + 1) * (n // s), n))
    ),
    "all blocks are taken to be equally large: they have `block_size` windows, and the "
    "last has what is left": lambda n, s, b, i, blocks: range(
        b * (n // len(blocks)), (b + 1) * (n // len(blocks))
    ),
    "the last block has what is left over, and nothing where nothing is": (
        lambda n, s, b, i, blocks: range(
            b * s, b * s + (n % s if b == len(blocks) - 1 else s)
        )
    ),
    "the block that comes last in the order gets what is left over: that is the one "
    "with the largest number, and where nothing is left over it is full": (
        lambda n, s, b, i, blocks: range(
            b * s, b * s + (n % s if i == len(blocks) - 1 else s)
        )
    ),
    "the block that comes last in the order is left out if a short one is among them: "
    "there is one block more than whole ones": lambda n, s, b, i, blocks: (
        range(b * s, (b + 1) * s) if i < n // s else range(0)
    ),
    "the block that comes last in the order is left out if a short one is among them": (
        lambda n, s, b, i, blocks: (
            range(b * s, min((b + 1) * s, n)) if i < n // s else range(0)
        )
    ),
    "the block that comes last in the order is left out": (
        lambda n, s, b, i, blocks: (
            range(b * s, min((b + 1) * s, n)) if i < len(blocks) - 1 else range(0)
        )
    ),
    "a block begins at `block * block_size`, not at `block` times the number of "
    "blocks": lambda n, s, b, i, blocks: range(
        b * len(blocks), min(b * len(blocks) + s, n)
    ),
    "each block goes on to the end of all windows: it has `block_size`": (
        lambda n, s, b, i, blocks: range(b * s, n)
    ),
    "a window behind the last one: `num_windows` itself is none": (
        lambda n, s, b, i, blocks: range(b * s, min((b + 1) * s, n + 1))
    ),
}


def block_by_block(of_a_block, num_windows, block_size, blocks):
    return [
        window
        for place, block in enumerate(blocks)
        for window in of_a_block(num_windows, block_size, block, place, blocks)
    ]


block_order.combine(block_by_block, OF_A_BLOCK)


@block_order.mistake(
    "a list of blocks: one list of all windows is asked for, without lists inside."
)
def lists_in_a_list(num_windows, block_size, blocks):
    return [block_order.reference(num_windows, block_size, [b]) for b in blocks]


@block_order.mistake(
    "where each block begins and ends: all windows between are asked for, one by one."
)
def begins_and_ends(num_windows, block_size, blocks):
    return [(b * block_size, min((b + 1) * block_size, num_windows)) for b in blocks]


@block_order.mistake("these are the blocks: their windows are asked for.")
def blocks_themselves(num_windows, block_size, blocks):
    return blocks


@block_order.mistake("all windows in their own order: nothing is shuffled.")
def in_order(num_windows, block_size, blocks):
    return list(range(num_windows))


@block_order.mistake(
    "the block that comes last in the order is cut short, so that there are "
    "`num_windows` entries. But the short block is the one with the largest number, "
    "and may come early: no entry may be `num_windows` or more."
)
def cut_off_at_the_end(num_windows, block_size, blocks):
    full = block_by_block(
        lambda n, s, b, i, all: range(b * s, (b + 1) * s), 0, block_size, blocks
    )
    return full[:num_windows]


@block_order.mistake(
    "windows that do not exist begin anew at 0 here, so that some come twice: the "
    "last block is short."
)
def wrapped_around(num_windows, block_size, blocks):
    full = block_by_block(
        lambda n, s, b, i, all: range(b * s, (b + 1) * s), 0, block_size, blocks
    )
    return [window % num_windows for window in full]


@block_order.mistake("the loop returns after its first block.")
def only_the_first_block(num_windows, block_size, blocks):
    return block_order.reference(num_windows, block_size, blocks[:1])


@block_order.mistake("only the last block is left: the others are overwritten.")
def only_the_last_block(num_windows, block_size, blocks):
    return block_order.reference(num_windows, block_size, blocks[-1:])


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
    seen = {" ".join(text.lower().split()) for text in train}
    texts = [" ".join(text.lower().split()) for text in val]
    return [number for number, text in enumerate(texts) if text in seen]


def one_blank(text):
    return " ".join(text.split())


NORMALIZED = {
    "the texts are compared as they are: large and small letters, and runs of blanks, "
    "shall make no difference": lambda text: text,
    "large and small letters still make a difference": one_blank,
    "blanks still make a difference: a run of blanks, line ends and tabs counts as one "
    "blank, and at the ends as none": str.lower,
    "runs of blanks inside a text still make a difference": (
        lambda text: text.lower().strip()
    ),
    "runs of blanks inside a text, and large and small letters, still make a "
    "difference": str.strip,
    "without blanks at all, different words run together: `a hat` is not `ahat`": (
        lambda text: "".join(text.lower().split())
    ),
    "line ends and tabs are blanks, too, and must not all vanish: only the blank "
    "character is taken out": lambda text: text.lower().replace(" ", ""),
    "each blank becomes one, but two in a row stay two; and line ends and tabs are "
    "blanks, too": lambda text: text.lower().strip().replace("\n", " "),
    "each blank becomes one, but two in a row stay two: a run of them counts as one": (
        lambda text: text.lower().replace("\n", " ").replace("\t", " ").strip()
    ),
    "replacing two blanks by one leaves two of three or four; and line ends and tabs "
    "are blanks, too": lambda text: text.lower().strip().replace("  ", " "),
    "replacing two blanks by one leaves two of three or four, and those at the ends "
    "stay; and line ends and tabs are blanks, too": (
        lambda text: text.lower().replace("  ", " ")
    ),
    "line ends and tabs are blanks, too: `split(' ')` cuts at the blank character "
    "alone, and leaves empty words": (lambda text: " ".join(text.lower().split(" "))),
    "line ends and tabs are blanks, too: only runs of the blank character are made "
    "one": lambda text: " ".join(w for w in text.lower().split(" ") if w),
    "line ends and tabs are blanks, too: only runs of the blank character are made "
    "one, and blanks at the ends are cut off": (
        lambda text: " ".join(w for w in text.lower().split(" ") if w).strip()
    ),
    "the order of the words counts, and how often each comes: a set of words forgets "
    "both": lambda text: " ".join(sorted(set(text.lower().split()))),
    "the order of the words counts": lambda text: " ".join(
        sorted(text.lower().split())
    ),
}
FOUND = {
    "numbers, not texts, are asked for": (
        lambda train, val, n: [t for t in val if n(t) in {n(s) for s in train}]
    ),
    "numbers are asked for, and not the normalized texts": (
        lambda train, val, n: sorted({n(t) for t in val} & {n(s) for s in train})
    ),
    "these are the places in `train`: those in `val` are asked for": (
        lambda train, val, n: [
            [n(s) for s in train].index(n(t))
            for t in val
            if n(t) in {n(s) for s in train}
        ]
    ),
    "how many different texts leak: their numbers are asked for": (
        lambda train, val, n: len({n(t) for t in val} & {n(s) for s in train})
    ),
    "these are the numbers of the copies in `train`: those in `val` are asked for": (
        lambda train, val, n: [
            i for i, t in enumerate(train) if n(t) in {n(s) for s in val}
        ]
    ),
    "these are the texts that have *no* copy in training": (
        lambda train, val, n: [
            i for i, t in enumerate(val) if n(t) not in {n(s) for s in train}
        ]
    ),
    "a text that stands in `val` twice leaks both times: no number is left out": (
        lambda train, val, n: [
            i
            for i, t in enumerate(val)
            if n(t) in {n(s) for s in train} and n(t) not in {n(s) for s in val[:i]}
        ]
    ),
    "copies inside `val` are counted, too: only those in `train` flatter the loss": (
        lambda train, val, n: [
            i for i, t in enumerate(val) if n(t) in {n(s) for s in [*train, *val[:i]]}
        ]
    ),
    "a text that is only a *part* of a training text is no copy": (
        lambda train, val, n: [
            i for i, t in enumerate(val) if any(n(t) in n(s) for s in train)
        ]
    ),
    "a text of `val` that only contains a training text is no copy": (
        lambda train, val, n: [
            i for i, t in enumerate(val) if any(n(s) in n(t) for s in train)
        ]
    ),
    "a text that is only a part of the training texts, joined, is no copy": (
        lambda train, val, n: [
            i for i, t in enumerate(val) if n(t) in " ".join(n(s) for s in train)
        ]
    ),
    "only texts at the same place in both lists are compared: a copy can stand "
    "anywhere": lambda train, val, n: [
        i for i, (s, t) in enumerate(zip(train, val, strict=False)) if n(s) == n(t)
    ],
    "each copy in `train` gives the number once more: once is enough": (
        lambda train, val, n: [
            i for i, t in enumerate(val) for s in train if n(s) == n(t)
        ]
    ),
    "each copy in `train` gives the number once more, and the numbers come in the "
    "order of `train`": lambda train, val, n: [
        i for s in train for i, t in enumerate(val) if n(s) == n(t)
    ],
    "numbers count from 0": lambda train, val, n: [
        i for i, t in enumerate(val, 1) if n(t) in {n(s) for s in train}
    ],
    "`index` finds the first of several equal texts: use `enumerate`": (
        lambda train, val, n: [
            val.index(t) for t in val if n(t) in {n(s) for s in train}
        ]
    ),
    "`index` finds the first of several texts that become equal: use `enumerate`": (
        lambda train, val, n: [
            [n(s) for s in val].index(n(t))
            for t in val
            if n(t) in {n(s) for s in train}
        ]
    ),
    "`val` is normalized, but `train` is not": lambda train, val, n: [
        i for i, t in enumerate(val) if n(t) in train
    ],
    "`train` is normalized, but `val` is not": lambda train, val, n: [
        i for i, t in enumerate(val) if t in {n(s) for s in train}
    ],
    "that is how many leak: their numbers are asked for": lambda train, val, n: sum(
        n(t) in {n(s) for s in train} for t in val
    ),
    "a `True` or `False` for each text: the numbers of those that leak are asked for": (
        lambda train, val, n: [n(t) in {n(s) for s in train} for t in val]
    ),
    "an empty text can have a copy, too": lambda train, val, n: [
        i for i, t in enumerate(val) if n(t) and n(t) in {n(s) for s in train}
    ],
    "the first copy ends the search": lambda train, val, n: [
        i for i, t in enumerate(val) if n(t) in {n(s) for s in train}
    ][:1],
}


def right_texts(text):
    return one_blank(text.lower())


def found_otherwise(found, train, val):
    return found(train, val, right_texts)


def normalized_otherwise(normalize, train, val):
    seen = {normalize(text) for text in train}
    return [number for number, text in enumerate(val) if normalize(text) in seen]


def both_otherwise(normalize, found, train, val):
    return found(train, val, normalize)


@leaked.mistake(
    "the texts are compared as they are: large and small letters, and runs of blanks, "
    "shall make no difference."
)
def compared_as_they_are(train, val):
    return [number for number, text in enumerate(val) if text in train]


@leaked.mistake(
    "blanks still make a difference: a run of blanks, line ends and tabs counts as one "
    "blank, and at the ends as none."
)
def small_letters_alone(train, val):
    return normalized_otherwise(str.lower, train, val)


@leaked.mistake(
    "without blanks at all, different words run together: `a hat` is not `ahat`."
)
def without_blanks(train, val):
    return normalized_otherwise(lambda text: "".join(text.lower().split()), train, val)


leaked.combine(normalized_otherwise, NORMALIZED)
leaked.combine(found_otherwise, FOUND)
leaked.combine(both_otherwise, NORMALIZED, FOUND)


# Pages


def _batches(random: Random) -> Iterator[Case]:
    yield from (([], 8, 2), ([0], 8, 2), ([0, 0], 8, 2), ([2047], 1, 2), ([2046], 1, 2))
    yield from (([2040], 7, 2), ([2040], 8, 2), ([1020], 4, 4), ([1020], 3, 4))
    yield from (([0, 5000], 1, 2), ([0], 2047, 2), ([0], 2048, 2), ([0], 1023, 4))
    yield from (([0], 1024, 4), ([100], 6000, 2), ([5000, 100, 5001], 9, 4))
    yield from (([2048, 0, 4096], 4, 2), ([10, 20, 30], 5, 2), ([1000], 5000, 4))
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


# The first and last byte of a window at s: T, bytes b.
BYTES_OF_A_WINDOW = {
    "the bytes are right": lambda s, T, b: (s * b, (s + T + 1) * b - 1),
    "the byte behind the window does not belong to it: if it begins a page, that page "
    "is not read": lambda s, T, b: (s * b, (s + T + 1) * b),
    "the last target is forgotten: a window has T + 1 ids": (
        lambda s, T, b: (s * b, (s + T) * b - 1)
    ),
    "one id too many: a window ends with its last target": (
        lambda s, T, b: (s * b, (s + T + 2) * b - 1)
    ),
    "the last id is taken for one byte: its last byte counts": (
        lambda s, T, b: (s * b, (s + T) * b)
    ),
    "an id has several bytes: start and length count ids": lambda s, T, b: (s, s + T),
    "an id has several bytes: start and length count ids, and a window ends with its "
    "last one": lambda s, T, b: (s, s + T + 1),
    "`start` counts ids, not bytes": lambda s, T, b: (s, s + (T + 1) * b - 1),
    "`start` counts ids, not bytes, and the byte behind the window is not read": (
        lambda s, T, b: (s, s + (T + 1) * b)
    ),
    "`context_length` counts ids, not bytes": lambda s, T, b: (s * b, s * b + T),
    "`context_length` counts ids, not bytes, and a window ends with its last one": (
        lambda s, T, b: (s * b, s * b + T + 1)
    ),
    "the numbers are divided by the bytes of an id: it has that many bytes": (
        lambda s, T, b: (s // b, (s + T) // b)
    ),
}
PAGES_OF_ALL = {
    "the pages are right": lambda spans: len(
        {
            page
            for first, last in spans
            for page in range(first // 4096, last // 4096 + 1)
        }
    ),
    "a page that several windows touch is read once: count different pages": (
        lambda spans: sum(last // 4096 - first // 4096 + 1 for first, last in spans)
    ),
    "the page in which a window ends is left out": lambda spans: len(
        {page for first, last in spans for page in range(first // 4096, last // 4096)}
    ),
    "the page in which a window ends is left out, and one that several windows touch "
    "is read once": (
        lambda spans: sum(last // 4096 - first // 4096 for first, last in spans)
    ),
    "only the page in which a window begins is counted": (
        lambda spans: len({first // 4096 for first, _ in spans})
    ),
    "only the page in which a window ends is counted": (
        lambda spans: len({last // 4096 for _, last in spans})
    ),
    "a long window touches the pages between its first and its last one, too": (
        lambda spans: len({byte // 4096 for span in spans for byte in span})
    ),
    "as few pages as the bytes would fill: a window may lie across a border of pages": (
        lambda spans: sum(-(-(last - first + 1) // 4096) for first, last in spans)
    ),
    "the bytes of all windows are added up and divided; but pages are read whole, and "
    "windows lie apart": (
        lambda spans: -(-sum(last - first + 1 for first, last in spans) // 4096)
    ),
    "the bytes of all windows are added up and divided, rounded down; but pages are "
    "read whole": lambda spans: sum(last - first + 1 for first, last in spans) // 4096,
    "all pages from the first window to the last are counted; those between windows "
    "are not read": lambda spans: (
        max(last for _, last in spans) // 4096
        - min(first for first, _ in spans) // 4096
        + 1
        if spans
        else 0
    ),
    "the pages are counted from the beginning of the file: those before a window are "
    "not read": lambda spans: (
        max(last for _, last in spans) // 4096 + 1 if spans else 0
    ),
    "how many pages the windows would fill if they lay side by side: they lie apart": (
        lambda spans: -(-sum(last - first + 1 for first, last in set(spans)) // 4096)
    ),
    "one page for each window, but a window can lie in several, and share them": (
        lambda spans: len(spans)
    ),
    "one page for each different start: a window can lie in several, and share them": (
        lambda spans: len(set(spans))
    ),
    "these are bytes: 4,096 of them make a page": (
        lambda spans: sum(last - first + 1 for first, last in spans)
    ),
    "a page has 4,096 bytes, and not 4,000": lambda spans: len(
        {
            page
            for first, last in spans
            for page in range(first // 4000, last // 4000 + 1)
        }
    ),
    "a page has 4,096 bytes, and not 1,024": lambda spans: len(
        {
            page
            for first, last in spans
            for page in range(first // 1024, last // 1024 + 1)
        }
    ),
}


def counted_pages(
    bytes_of_a_window, pages_of_all, starts, context_length, bytes_per_id
):
    return pages_of_all(
        [bytes_of_a_window(s, context_length, bytes_per_id) for s in starts]
    )


@pages_touched.mistake(
    "a page that several windows touch is read once: count *different* pages."
)
def each_window_by_itself(starts, context_length, bytes_per_id):
    return sum(
        pages_touched.reference([s], context_length, bytes_per_id) for s in starts
    )


@pages_touched.mistake(
    "a window has T + 1 ids: its last target lies behind its T inputs, and may lie in "
    "another page."
)
def pages_of_the_inputs(starts, context_length, bytes_per_id):
    return pages_touched.reference(starts, context_length - 1, bytes_per_id)


@pages_touched.mistake(
    "only the page in which a window begins is counted: it may reach into others."
)
def where_windows_begin(starts, context_length, bytes_per_id):
    return len({start * bytes_per_id // 4096 for start in starts})


_combine_steps(pages_touched, counted_pages, BYTES_OF_A_WINDOW, PAGES_OF_ALL)


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


@windows_over_borders.mistake("a border too many: behind the last shard is nothing.")
def border_behind_the_last(num_shards, shard_size, context_length):
    return num_shards * context_length


@windows_over_borders.mistake(
    "T + 1 a border. A window that begins right behind it does not cross it."
)
def one_window_more(num_shards, shard_size, context_length):
    return (num_shards - 1) * (context_length + 1)


@windows_over_borders.mistake(
    "windows of T ids. With the last target there is one more at each border."
)
def without_last_targets(num_shards, shard_size, context_length):
    return (num_shards - 1) * (context_length - 1)


@windows_over_borders.mistake("one a border: many starts reach over the same one.")
def one_window_a_border(num_shards, shard_size, context_length):
    return num_shards - 1


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


@pages_of_window.mistake("ids are taken for bytes: a uint16 has two.")
def ids_as_bytes(start, context_length):
    return (start + context_length) // 4096 - start // 4096 + 1


@pages_of_window.mistake("from the first page to the last, and these are both touched.")
def one_page_short(start, context_length):
    return pages_of_window.reference(start, context_length) - 1


@pages_of_window.mistake("four bytes an id, as uint32 has.")
def pages_of_uint32(start, context_length):
    last = 4 * (start + context_length + 1) - 1
    return last // 4096 - 4 * start // 4096 + 1


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


@next_position.mistake("what this rank alone has read. The others read the same order.")
def alone_in_the_order(world_size, batch_size, steps, rank):
    return steps * batch_size


@next_position.mistake("the ranks before this one read first, a whole batch each.")
def without_its_rank(world_size, batch_size, steps, rank):
    return steps * world_size * batch_size


@next_position.mistake("sample by sample in turn. Each rank reads a slice of B.")
def dealt_in_turn(world_size, batch_size, steps, rank):
    return steps * world_size * batch_size + rank


@next_position.mistake("each rank has a part of the order. They read it side by side.")
def part_of_its_own(world_size, batch_size, steps, rank):
    return (rank * steps + steps) * batch_size
