"""Answers to the exercises of lesson 11: right ones, and wrong ones with words of what they are told."""

import re

import numpy as np

from course_lib.exercises.token_shards import block_order, leaked, locate, pages_touched, skip_ahead
from course_lib.teaching.checker import FAILED, PASSED


def searches_the_ends(position, shard_sizes):
    ends = np.cumsum(shard_sizes)
    shard = np.searchsorted(ends, position, side="right")
    return shard, position - (ends[shard] - shard_sizes[shard])


def searches_on_the_left(position, shard_sizes):
    ends = np.cumsum(shard_sizes)
    shard = np.searchsorted(ends, position)
    return shard, position - (ends[shard] - shard_sizes[shard])


def lists_all_places(position, shard_sizes):
    places = [(shard, place) for shard, size in enumerate(shard_sizes) for place in range(size)]
    return places[position]


def never_subtracts(position, shard_sizes):
    for shard, size in enumerate(shard_sizes):
        if position < size:
            return shard, position


def forgets_the_place(position, shard_sizes):
    for shard, size in enumerate(shard_sizes):
        if position < size:
            return shard
        position -= size


def slices_of_all(num_windows, block_size, blocks):
    windows = list(range(num_windows))
    return [window for block in blocks for window in windows[block * block_size : (block + 1) * block_size]]


def as_lists(num_windows, block_size, blocks):
    return [slices_of_all(num_windows, block_size, [block]) for block in blocks]


def cuts_the_end_off(num_windows, block_size, blocks):
    order = []
    for block in blocks:
        order.extend(range(block * block_size, block * block_size + block_size))
    return order[:num_windows]


def epoch_by_epoch(place, num_steps, batch_size, world_size, num_windows):
    epoch, windows = place
    step = batch_size * world_size
    while num_steps >= (left := (num_windows - windows) // step):
        epoch, windows, num_steps = epoch + 1, 0, num_steps - left
    return epoch, windows + num_steps * step


def with_a_loop_over_ranks(place, num_steps, batch_size, world_size, num_windows):
    epoch, windows = place
    for _ in range(num_steps):
        for _ in range(world_size):
            windows += batch_size
        if num_windows - windows < batch_size * world_size:
            epoch += 1
            windows = 0
    return [epoch, windows]


def wraps_around(place, num_steps, batch_size, world_size, num_windows):
    windows = place[1] + num_steps * batch_size * world_size
    return place[0] + windows // num_windows, windows % num_windows


def ends_where_nothing_is_left(place, num_steps, batch_size, world_size, num_windows):
    epoch, windows = place
    for _ in range(num_steps):
        windows += batch_size * world_size
        if windows >= num_windows:
            epoch, windows = epoch + 1, 0
    return epoch, windows


def forgets_where_it_was(place, num_steps, batch_size, world_size, num_windows):
    return epoch_by_epoch((place[0], 0), num_steps, batch_size, world_size, num_windows)


def normal(text):
    return re.sub(r"\s+", " ", text).strip().lower()


def among_the_words(train, val):
    known = [text.lower().split() for text in train]
    return [number for number, text in enumerate(val) if text.lower().split() in known]


def with_a_set(train, val):
    seen = set(map(normal, train))
    return [number for number in range(len(val)) if normal(val[number]) in seen]


def compares_both(train, val, normal):
    return [number for number, text in enumerate(val) if normal(text) in [normal(one) for one in train]]


def byte_by_byte(starts, context_length, bytes_per_id):
    pages = set()
    for start in starts:
        for byte in range(start * bytes_per_id, (start + context_length + 1) * bytes_per_id):
            pages.add(byte // 4096)
    return len(pages)


def id_by_id(starts, context_length, bytes_per_id):
    return len({(s + i) * bytes_per_id // 4096 for s in starts for i in range(context_length + 1)})


def with_arrays(starts, context_length, bytes_per_id):
    ids = np.add.outer(np.array(starts, dtype=int), np.arange(context_length + 1))
    return len(np.unique([ids * bytes_per_id // 4096, ((ids + 1) * bytes_per_id - 1) // 4096]))


def less_the_shard_before(position, shard_sizes):
    end = 0
    for shard, size in enumerate(shard_sizes):
        end += size
        if position < end:
            return shard, position - (shard_sizes[shard - 1] if shard else 0)
    raise IndexError(position)


def shards_from_one(position, shard_sizes):
    for shard, size in enumerate(shard_sizes, start=1):
        if position < size:
            return shard, position
        position -= size
    raise IndexError(position)


def full_blocks_only(num_windows, block_size, blocks):
    order = []
    for block in blocks:
        windows = range(block * block_size, (block + 1) * block_size)
        if windows[-1] < num_windows:
            order.extend(windows)
    return order


def remainder_in_the_last(num_windows, block_size, blocks):
    order = []
    for block in blocks:
        size = num_windows % block_size if block == len(blocks) - 1 else block_size
        order += range(block * block_size, block * block_size + size)
    return order


def as_many_blocks(num_windows, block_size, blocks):
    size = num_windows // block_size
    order = []
    for block in blocks:
        order += range(block * size, (block + 1) * size)
    return order


def turned_over_too_late(place, num_steps, batch_size, world_size, num_windows):
    epoch, windows = place
    step = batch_size * world_size
    for _ in range(num_steps):
        if num_windows - windows < step:
            epoch, windows = epoch + 1, 0
        windows += step
    return epoch, windows


def in_whole_steps(place, num_steps, batch_size, world_size, num_windows):
    step = batch_size * world_size
    steps_an_epoch = num_windows // step
    steps = place[0] * steps_an_epoch + place[1] // step + num_steps
    epoch, steps = divmod(steps, steps_an_epoch)
    return epoch, steps * step


def inside_of_a_text(train, val):
    plain = lambda text: " ".join(text.lower().split())
    everything = [plain(text) for text in train]
    return [number for number, text in enumerate(val) if any(plain(text) in other for other in everything)]


def up_to_the_byte_after(starts, context_length, bytes_per_id):
    pages = set()
    for start in starts:
        first = start * bytes_per_id
        end = (start + context_length + 1) * bytes_per_id
        pages.update(range(first // 4096, end // 4096 + 1))
    return len(pages)


def bytes_over_pages(starts, context_length, bytes_per_id):
    size = (context_length + 1) * bytes_per_id
    pages, left = divmod(len(starts) * size, 4096)
    return pages + (left > 0)


ANSWERS = [
    (locate, searches_the_ends, PASSED),
    (locate, lists_all_places, PASSED),
    (locate, searches_on_the_left, "the first id of a shard"),
    (locate, lambda position, sizes: divmod(position, sizes[0]), "as large as the first"),
    (locate, lambda position, sizes: (lists_all_places(position, sizes)[0], position), "in the whole stream"),
    (locate, never_subtracts, "don't subtract"),
    (locate, forgets_the_place, "one value where several"),
    (locate, lambda position, sizes: lists_all_places(position, sizes)[::-1], "swapped"),
    (locate, lambda position, sizes: (position % len(sizes), position // len(sizes)), FAILED),
    (block_order, slices_of_all, PASSED),
    (block_order, lambda n, size, blocks: [w for b in blocks for w in range(n) if w // size == b], PASSED),
    (
        block_order,
        lambda n, size, blocks: [b * size + i for b in blocks for i in range(size)],
        "fill up the short block",
    ),
    (block_order, cuts_the_end_off, "comes last in the order"),
    (block_order, lambda n, size, blocks: sorted(range(n), key=lambda w: blocks[w // size]), "the wrong way around"),
    (block_order, as_lists, "lists inside the list"),
    (block_order, lambda n, size, blocks: [b + i for b in blocks for i in range(size) if b + i < n], FAILED),
    (skip_ahead, epoch_by_epoch, PASSED),
    (skip_ahead, with_a_loop_over_ranks, PASSED),
    (skip_ahead, wraps_around, "let a step run over"),
    (skip_ahead, lambda p, n, b, r, size: (p[0], p[1] + n * b * r), "beyond the end"),
    (skip_ahead, lambda p, n, b, r, size: epoch_by_epoch(p, n, b, 1, size), "all ranks take one"),
    (skip_ahead, ends_where_nothing_is_left, "isn't full"),
    (skip_ahead, forgets_where_it_was, FAILED),
    (leaked, with_a_set, PASSED),
    (leaked, among_the_words, PASSED),
    (leaked, lambda train, val: compares_both(train, val, str), "upper and lower case"),
    (leaked, lambda train, val: list(set(leaked(train, val))), FAILED),  # in a set's order
    (leaked, lambda train, val: compares_both(train, val, lambda t: t.strip().lower()), "inside a text"),
    (leaked, lambda train, val: compares_both(train, val, lambda t: normal(t).replace(" ", "")), "`ahat`"),
    (leaked, lambda train, val: [i for i, t in enumerate(val) if normal(t) in train], "one side only"),
    (leaked, lambda train, val: [t for t in val if normal(t) in map(normal, train)], "return the texts"),
    (leaked, lambda train, val: {i for i, t in enumerate(val) if normal(t) in map(normal, train)}, "a `set`"),
    (
        leaked,
        lambda train, val: [i for i in range(min(len(train), len(val))) if normal(train[i]) == normal(val[i])],
        FAILED,
    ),
    (pages_touched, byte_by_byte, PASSED),
    (pages_touched, with_arrays, PASSED),
    (pages_touched, lambda starts, t, b: byte_by_byte(starts, t - 1, b), "forget the last target"),
    (pages_touched, lambda starts, t, b: byte_by_byte(starts, t, 1), "ids for bytes"),
    (pages_touched, lambda starts, t, b: sum(byte_by_byte([s], t, b) for s in starts), "once for each window"),
    (pages_touched, lambda starts, t, b: len({s * b // 4096 for s in starts}), "a window begins"),
    (pages_touched, id_by_id, FAILED),
    (locate, less_the_shard_before, "right before this one"),
    (locate, shards_from_one, "from 1"),
    (block_order, full_blocks_only, "leave out the short block"),
    (block_order, remainder_in_the_last, "what's left over"),
    (block_order, as_many_blocks, "for the number of blocks"),
    (skip_ahead, turned_over_too_late, "stay at the end of an epoch"),
    (skip_ahead, in_whole_steps, "whole steps from the beginning"),
    (leaked, inside_of_a_text, "*inside* the training texts"),
    (pages_touched, up_to_the_byte_after, "the byte after the window"),
    (pages_touched, bytes_over_pages, "add up bytes and divide"),
]
