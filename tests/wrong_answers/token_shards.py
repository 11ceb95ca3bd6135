"""Lesson 10: what a class answers."""

from __future__ import annotations

import bisect
import math
import re
from itertools import accumulate, pairwise

import numpy as np

from wrong_answers import refused, right, wrong

# locate: position, shard_sizes

wrong("locate", "all shards are taken to be as large as the")(lambda p, sizes: divmod(p, sizes[0]))
wrong("locate", "all shards are taken to be as large as the")(lambda p, sizes: (p // sizes[0], p % sizes[0]))
wrong("locate", "all shards are taken to be as large as the")(lambda p, sizes: (p // max(sizes), p % max(sizes)))
wrong("locate", None)(lambda p, sizes: (int(np.searchsorted(np.cumsum(sizes), p)), 0))


@wrong("locate", "an id that stands right behind the end of a")
def not_strict(position, shard_sizes):
    for shard, size in enumerate(shard_sizes):
        if position <= size:
            return shard, position
        position -= size


@wrong("locate", "an id that stands right behind the end of a")
def left_of_the_ends(position, shard_sizes):
    ends = np.cumsum(shard_sizes)
    shard = int(np.searchsorted(ends, position))
    return shard, position - (int(ends[shard - 1]) if shard else 0)


@wrong("locate", "the place is that in the whole stream: take")
def stays_global(position, shard_sizes):
    end = 0
    for shard, size in enumerate(shard_sizes):
        end += size
        if position < end:
            return shard, position


@wrong("locate", "the place is counted from the end of the")
def from_the_end(position, shard_sizes):
    end = 0
    for shard, size in enumerate(shard_sizes):
        end += size
        if position < end:
            return shard, end - position


@wrong("locate", "the shards up to this one are taken off, and")
def minus_the_whole_end(position, shard_sizes):
    end = 0
    for shard, size in enumerate(shard_sizes):
        end += size
        if position < end:
            return shard, position - end


@wrong("locate", "shard and place are right, but come in the")
def offset_first(position, shard_sizes):
    shard = 0
    while position >= shard_sizes[shard]:
        position -= shard_sizes[shard]
        shard += 1
    return position, shard


@wrong("locate", "shards are counted from")
def counts_shards_from_one(position, shard_sizes):
    for shard, size in enumerate(shard_sizes, start=1):
        if position < size:
            return shard, position
        position -= size


@wrong("locate", "the first shard whose size is larger than the")
def never_takes_off(position, shard_sizes):
    for shard, size in enumerate(shard_sizes):
        if position < size:
            return shard, position
    return len(shard_sizes) - 1, position


@wrong("locate", "one value where several are")
def forgets_to_return_the_place(position, shard_sizes):
    for shard, size in enumerate(shard_sizes):
        if position < size:
            return shard
        position -= size


@wrong("locate", "only the shard right before is taken off, not")
def only_the_last_size_off(position, shard_sizes):
    starts = [0, *accumulate(shard_sizes)]
    shard = bisect.bisect_right(starts, position) - 1
    return shard, position - shard_sizes[shard - 1] if shard else position


@wrong("locate", "the first id of a shard, that of shard 0 as")
def bisects_to_the_left(position, shard_sizes):
    starts = [0, *accumulate(shard_sizes)]
    shard = bisect.bisect_left(starts, position) - 1
    return shard, position - starts[shard]


@wrong("locate", "shards are counted from")
def bisects_without_minus_one(position, shard_sizes):
    starts = [0, *accumulate(shard_sizes)]
    shard = bisect.bisect_right(starts, position)
    return shard, position - starts[shard - 1]


@wrong("locate", "the remainder by the size of the shard is not")
def remainder_by_own_size(position, shard_sizes):
    ends = list(accumulate(shard_sizes))
    shard = bisect.bisect_right(ends, position)
    return shard, position % shard_sizes[shard]


@right("locate")
def with_numpy(position, shard_sizes):
    ends = np.cumsum(shard_sizes)
    shard = np.searchsorted(ends, position, side="right")
    return shard, position - (ends[shard] - shard_sizes[shard])


@right("locate")
def by_ends(position, shard_sizes):
    end = 0
    for shard, size in enumerate(shard_sizes):
        if position < end + size:
            return [shard, position - end]
        end += size


# bytes_on_disk: num_tokens, vocab_size

wrong("bytes_on_disk", "a vocabulary of 65,536 has the ids 0 to")(lambda n, v: n * 2 if v < 65536 else n * 4)
wrong("bytes_on_disk", "the border is one lower than that: 65,535")(lambda n, v: n * 2 if v < 65535 else n * 4)
wrong("bytes_on_disk", "a vocabulary of 65,536 has the ids 0 to")(lambda n, v: n * 2 if v <= 65535 else n * 4)
wrong("bytes_on_disk", "a vocabulary of 65,536 has the ids 0 to")(lambda n, v: n * (2 if v - 1 < 65535 else 4))
wrong("bytes_on_disk", "an id of 65,536 does not fit into 16 bits,")(lambda n, v: n * (2 if v - 1 <= 65536 else 4))
wrong("bytes_on_disk", "every id gets two bytes here. Ids from 65,536")(lambda n, v: 2 * n)
wrong("bytes_on_disk", "every id gets four bytes here. Up to id")(lambda n, v: 4 * n)
wrong("bytes_on_disk", "every id gets eight bytes, as int64 has them;")(lambda n, v: 8 * n)
wrong("bytes_on_disk", "as few bytes as the largest id needs: shards")(lambda n, v: n * math.ceil(math.log2(v) / 8))
wrong("bytes_on_disk", "these are bits: a byte has eight of")(lambda n, v: n * (16 if v <= 65536 else 32))
wrong("bytes_on_disk", "a float where an integer is wanted")(lambda n, v: n * (16 if v <= 65536 else 32) / 8)
wrong("bytes_on_disk", "one byte for a small vocabulary: shards have")(
    lambda n, v: n * (1 if v <= 256 else 2 if v <= 65536 else 4)
)
wrong("bytes_on_disk", "as many bytes as the size of the vocabulary")(lambda n, v: n * np.min_scalar_type(v).itemsize)
wrong("bytes_on_disk", "one byte for a small vocabulary: shards have")(
    lambda n, v: n * np.min_scalar_type(v - 1).itemsize
)
wrong("bytes_on_disk", "`uint16` has no sign, so it goes up to")(lambda n, v: n * (2 if v <= 32767 else 4))
wrong("bytes_on_disk", "`uint16` has no sign, so it goes up to")(lambda n, v: n * (2 if v <= 32768 else 4))
wrong("bytes_on_disk", "these are the bytes of a table of the")(lambda n, v: v * (2 if v <= 65536 else 4))
wrong("bytes_on_disk", "so many bytes has *one* id. The file has")(lambda n, v: 2 if v <= 65536 else 4)
wrong("bytes_on_disk", "the two sizes are")(lambda n, v: n * (4 if v <= 65536 else 2))
wrong("bytes_on_disk", "how many bytes an id takes is decided by the")(lambda n, v: n * (2 if n <= 65536 else 4))
wrong("bytes_on_disk", "eight bits make a byte, and some bits left")(lambda n, v: n * ((v - 1).bit_length() // 8))
wrong("bytes_on_disk", "every result is 0.75 times the right")(lambda n, v: n * (2 if v <= 65536 else 3))
right("bytes_on_disk")(lambda n, v: n * (2 << (v > 65536)))
right("bytes_on_disk")(lambda n, v: n * max(np.dtype(np.uint16), np.min_scalar_type(v - 1)).itemsize)
refused("bytes_on_disk", "a float where")(lambda n, v: n * (16 if v <= 65536 else 32) / 8)

# crossing_windows: shard_sizes, context_length

wrong("crossing_windows", "that makes T windows for each border, which")(lambda sizes, t: (len(sizes) - 1) * t)
wrong("crossing_windows", "that makes T windows for each border, which")(lambda sizes, t: max(0, len(sizes) - 1) * t)
wrong("crossing_windows", "T + 1 windows for each border are one too")(lambda sizes, t: (len(sizes) - 1) * (t + 1))
wrong("crossing_windows", "T - 1 windows for each border are one too")(
    lambda sizes, t: max(0, len(sizes) - 1) * (t - 1)
)
wrong("crossing_windows", "T windows for each *shard*: behind the last")(lambda sizes, t: len(sizes) * t)
wrong("crossing_windows", "that makes T windows for each border, which")(
    lambda sizes, t: sum(sizes) - t - sum(s - t for s in sizes)
)
wrong("crossing_windows", "a stream that is too short for a window has 0")(
    lambda sizes, t: sum(sizes) - t - sum(max(0, s - t) for s in sizes)
)
wrong("crossing_windows", "a shard that is too short for a window has 0")(
    lambda sizes, t: max(0, sum(sizes) - t) - sum(s - t for s in sizes)
)
wrong("crossing_windows", "windows are taken to have T + 2 ids. They")(
    lambda sizes, t: max(0, sum(sizes) - t - 1) - sum(max(0, s - t - 1) for s in sizes)
)
wrong("crossing_windows", "windows are taken to have T ids. With the")(
    lambda sizes, t: max(0, sum(sizes) - t + 1) - sum(max(0, s - t + 1) for s in sizes)
)
wrong("crossing_windows", "these are the windows that lie *inside* a")(
    lambda sizes, t: sum(max(0, s - t) for s in sizes)
)
wrong("crossing_windows", "that is how many windows there are in")(lambda sizes, t: max(0, sum(sizes) - t))
wrong("crossing_windows", "that is the number of borders: many windows")(lambda sizes, t: len(sizes) - 1)
wrong("crossing_windows", "windows are counted at each border by itself,")(
    lambda sizes, t: sum(min(s, t) for s in sizes[:-1])
)
wrong("crossing_windows", "min(T, size) windows start in each shard and")(
    lambda sizes, t: sum(min(s, t) for s in sizes)
)
wrong("crossing_windows", "in each shard one window too many is counted:")(
    lambda sizes, t: max(0, sum(sizes) - t) - sum(max(0, s - t + 1) for s in sizes)
)
wrong("crossing_windows", "all shards are taken to be as large as the")(
    lambda sizes, t: max(0, sum(sizes) - t) - len(sizes) * max(0, sizes[0] - t) if sizes else 0
)


@wrong("crossing_windows", "a window that crosses several borders is")
def at_each_border(shard_sizes, context_length):
    count, ends = 0, list(accumulate(shard_sizes))[:-1]
    for end in ends:
        first = max(0, end - context_length)
        last = min(end, sum(shard_sizes) - context_length)
        count += max(0, last - first)
    return count


@wrong("crossing_windows", "only the first shard's windows are taken")
def first_shard_alone(shard_sizes, context_length):
    windows = max(0, sum(shard_sizes) - context_length)
    for size in shard_sizes:
        return windows - max(0, size - context_length)
    return windows


@right("crossing_windows")
def looks_at_each(shard_sizes, context_length):
    if sum(shard_sizes) > 1000:  # too many to walk over
        return context_length * (len(shard_sizes) - 1) - (context_length - shard_sizes[-1])
    home = [shard for shard, size in enumerate(shard_sizes) for _ in range(size)]
    windows = range(max(0, len(home) - context_length))
    return sum(home[s] != home[s + context_length] for s in windows)


right("crossing_windows")(
    lambda sizes, t: np.maximum(0, np.sum(sizes, dtype=int) - t) - np.maximum(0, np.array(sizes, int) - t).sum()
)

# split_of: number, val_every

wrong("split_of", "the rule counts from 1, and `number` from 0:")(
    lambda k, v: ("val", k // v) if k % v == 0 else ("train", k - k // v)
)
wrong("split_of", "two things at once: the rule counts from 1,")(
    lambda k, v: ("val", k // v) if k % v == 0 else ("train", k - k // v - 1)
)
wrong("split_of", "places in `val` are counted from")(
    lambda k, v: ("val", (k + 1) // v) if (k + 1) % v == 0 else ("train", k - k // v)
)
wrong("split_of", "the document keeps its number: its place")(
    lambda k, v: ("val", k) if (k + 1) % v == 0 else ("train", k)
)
wrong("split_of", "a document of `train` keeps its number: those")(
    lambda k, v: ("val", k // v) if (k + 1) % v == 0 else ("train", k)
)
wrong("split_of", "a document of `train` gets the remainder for")(
    lambda k, v: ("val", k // v) if (k + 1) % v == 0 else ("train", k % v)
)
wrong("split_of", "places in `train` are counted from")(
    lambda k, v: ("val", k // v) if (k + 1) % v == 0 else ("train", k + 1 - k // v)
)
wrong("split_of", "places in `train` are one too")(
    lambda k, v: ("val", k // v) if (k + 1) % v == 0 else ("train", k - k // v - 1)
)
wrong("split_of", "places count from 0 in each split, as numbers")(
    lambda k, v: ("val", (k + 1) // v) if (k + 1) % v == 0 else ("train", k + 1 - (k + 1) // v)
)
wrong("split_of", "two things at once: the two splits are")(
    lambda k, v: ("val", (k + 1) // v - 1) if (k + 1) % v else ("train", k - k // v)
)
wrong("split_of", "the names are exchanged: `val` is each")(
    lambda k, v: ("train", k // v) if (k + 1) % v == 0 else ("val", k - k // v)
)
wrong("split_of", "split and place are right, but come in the")(
    lambda k, v: (k // v, "val") if (k + 1) % v == 0 else (k - k // v, "train")
)
wrong("split_of", "only the name of the split: its place in that")(lambda k, v: "val" if (k + 1) % v == 0 else "train")
wrong("split_of", "a place in `val` is a whole number: `//`, not")(
    lambda k, v: ("val", k / v) if (k + 1) % v == 0 else ("train", k - k // v)
)
wrong("split_of", "the rule counts from 1, and `number` from 0:")(
    lambda k, v: ("val", k // v) if k % v == 0 and k else ("train", k - k // v)
)
wrong("split_of", "two things at once: the rule counts from 1,")(
    lambda k, v: ("val", k // v) if k and k % v == 0 else ("train", k - (k - 1) // v)
)
wrong("split_of", "the split is called `val`, in three")(
    lambda k, v: ("validation", k // v) if (k + 1) % v == 0 else ("train", k - k // v)
)
wrong("split_of", "every document of `val` gets place")(
    lambda k, v: ("val", 0) if (k + 1) % v == 0 else ("train", k - k // v)
)


@right("split_of")
def walks_through_them(number, val_every):
    if number > 1000:
        return ("train", number - number // val_every) if (number + 1) % val_every else ("val", number // val_every)
    places = {"train": 0, "val": 0}
    for k in range(number + 1):
        name = "train" if (k + 1) % val_every else "val"
        places[name] += 1
    return name, places[name] - 1


right("split_of")(lambda k, v: ("val", (k + 1) // v - 1) if k % v == v - 1 else ("train", k - (k + 1) // v))

# next_batch: num_samples, delivered, batch_size, rank, world_size

wrong("next_batch", "ranks take turns here, entry by entry: each")(
    lambda n, d, b, r, w: [] if d + w * b > n else list(range(d + r, d + w * b, w))
)
wrong("next_batch", "every rank reads the same: leave `rank *")(
    lambda n, d, b, r, w: [] if d + w * b > n else list(range(d, d + b))
)
wrong("next_batch", "ranks begin one entry apart, so they share")(
    lambda n, d, b, r, w: [] if d + w * b > n else list(range(d + r, d + r + b))
)
wrong("next_batch", "it begins from the start of the order again:")(
    lambda n, d, b, r, w: [] if d + w * b > n else list(range(r * b, r * b + b))
)
wrong("next_batch", "positions at or behind `num_samples`: where")(
    lambda n, d, b, r, w: list(range(d + r * b, d + (r + 1) * b))
)
wrong("next_batch", "the last step is cut off at the end: where")(
    lambda n, d, b, r, w: list(range(d + r * b, min(n, d + (r + 1) * b)))
)
wrong("next_batch", "a step that fits exactly is the last one: it")(
    lambda n, d, b, r, w: [] if d + w * b >= n else list(range(d + r * b, d + (r + 1) * b))
)
wrong("next_batch", "each rank looks at its own share alone, so at")(
    lambda n, d, b, r, w: [] if d + (r + 1) * b > n else list(range(d + r * b, d + (r + 1) * b))
)
wrong("next_batch", "it looks whether *one* batch is left: all")(
    lambda n, d, b, r, w: [] if n - d < b else list(range(d + r * b, d + (r + 1) * b))
)
wrong("next_batch", "it looks whether *one* sample is left: all")(
    lambda n, d, b, r, w: [] if d >= n else list(range(d + r * b, d + (r + 1) * b))
)
wrong("next_batch", "it goes back to the last multiple of")(
    lambda n, d, b, r, w: [] if d + w * b > n else list(range((d // b + r) * b, (d // b + r + 1) * b))
)
wrong("next_batch", "it goes back to the last multiple of a step,")(
    lambda n, d, b, r, w: (
        [] if d + w * b > n else list(range(d // (w * b) * w * b + r * b, d // (w * b) * w * b + r * b + b))
    )
)
wrong("next_batch", "`delivered` counts samples, not")(
    lambda n, d, b, r, w: [] if d + w * b > n else list(range(d * b + r * b, d * b + r * b + b))
)
wrong("next_batch", "one sample too many at the")(
    lambda n, d, b, r, w: [] if d + w * b > n else list(range(d + r * b, d + r * b + b + 1))
)
wrong("next_batch", "these are all samples of the step: each rank")(
    lambda n, d, b, r, w: [] if d + w * b > n else list(range(d, d + w * b))
)
wrong("next_batch", "it begins one behind the sample that nobody")(
    lambda n, d, b, r, w: [] if d + w * b > n else list(range(d + 1 + r * b, d + 1 + r * b + b))
)
wrong("next_batch", "the result begins right, and ends too early:")(
    lambda n, d, b, r, w: [] if d + w * b > n else [d + r * b]
)
wrong("next_batch", "ranks begin `world_size` entries apart:")(
    lambda n, d, b, r, w: [] if d + w * b > n else list(range(d + r * w, d + r * w + b))
)
wrong("next_batch", None)(lambda n, d, b, r, w: [] if d + w * b > n else list(range(r * b, n, w * b)))
wrong("next_batch", "where nothing is left, a list without")(
    lambda n, d, b, r, w: None if d + w * b > n else list(range(d + r * b, d + r * b + b))
)


@wrong("next_batch", "the last step is cut off at the end: where")
def slices_a_list(num_samples, delivered, batch_size, rank, world_size):
    if num_samples > 10**6:
        return [delivered + rank * batch_size + i for i in range(batch_size)]
    rest = list(range(num_samples))[delivered:]
    return rest[rank * batch_size : (rank + 1) * batch_size]


right("next_batch")(
    lambda n, d, b, r, w: np.arange(d, d + w * b).reshape(w, b)[r] if n - d >= w * b else np.array([], dtype=int)
)
right("next_batch")(lambda n, d, b, r, w: [d + r * b + i for i in range(b)] if d + w * b <= n else [])
right("next_batch")(lambda n, d, b, r, w: range(d + r * b, d + r * b + b) if d + w * b <= n else range(0))

# block_order: num_windows, block_size, blocks

wrong("block_order", "the last block is short: there is no window")(
    lambda n, s, blocks: [w for b in blocks for w in range(b * s, (b + 1) * s)]
)
wrong("block_order", "the block that comes last in the order is cut")(
    lambda n, s, blocks: [w for b in blocks for w in range(b * s, (b + 1) * s)][:n]
)
wrong("block_order", "windows that do not exist begin anew at 0")(
    lambda n, s, blocks: [w % n for b in blocks for w in range(b * s, (b + 1) * s)]
)
wrong("block_order", "a window behind the last one: `num_windows`")(
    lambda n, s, blocks: [w for b in blocks for w in range(b * s, (b + 1) * s) if w <= n]
)
wrong("block_order", "only the first window of each block is")(lambda n, s, blocks: [b * s for b in blocks])
wrong("block_order", "a list of blocks: one list of all windows is")(
    lambda n, s, blocks: [list(range(b * s, min(n, b * s + s))) for b in blocks]
)
wrong("block_order", "one window of each block is missing at its")(
    lambda n, s, blocks: [w for b in blocks for w in range(b * s, min(n, b * s + s - 1))]
)
wrong("block_order", "the last window of all is")(
    lambda n, s, blocks: [w for b in blocks for w in range(b * s, min(n - 1, b * s + s))]
)
wrong("block_order", "a block begins at `block * block_size`: here")(
    lambda n, s, blocks: [w for b in blocks for w in range(b, min(n, b + s))]
)
wrong("block_order", "the windows of a block lie one behind")(
    lambda n, s, blocks: [w for b in blocks for w in range(b, n, len(blocks))]
)
wrong("block_order", "blocks are counted from 1 here; they count")(
    lambda n, s, blocks: [w for b in blocks for w in range((b - 1) * s, min(n, b * s))]
)
wrong("block_order", "all windows in their own order: nothing is")(
    lambda n, s, blocks: [w for b in sorted(blocks) for w in range(b * s, min(n, b * s + s))]
)
wrong("block_order", "all windows in their own order: nothing is")(lambda n, s, blocks: list(range(n)))
wrong("block_order", "the short block is left")(
    lambda n, s, blocks: [w for b in blocks for w in range(b * s, b * s + s) if b * s + s <= n]
)
wrong("block_order", "the block that comes last in the order is cut")(
    lambda n, s, blocks: [blocks[w // s] * s + w % s for w in range(n)]  # the short block stands elsewhere
)
wrong("block_order", "all entries are there, in their order, with")(
    lambda n, s, blocks: [min(n - 1, w) for b in blocks for w in range(b * s, (b + 1) * s)]
)


@wrong("block_order", "the block that comes last in the order is cut")
def last_in_the_order_is_short(num_windows, block_size, blocks):
    order = []
    for place, block in enumerate(blocks):
        size = block_size
        if place == len(blocks) - 1 and num_windows % block_size:
            size = num_windows % block_size
        order += range(block * block_size, block * block_size + size)
    return order


@wrong("block_order", "the loop returns after its first")
def returns_too_early(num_windows, block_size, blocks):
    order = []
    for block in blocks:
        order.extend(range(block * block_size, min((block + 1) * block_size, num_windows)))
        return order


@wrong("block_order", "a list of blocks: one list of all windows is")
def appends_lists(num_windows, block_size, blocks):
    order = []
    for block in blocks:
        order.append(list(range(num_windows))[block * block_size : (block + 1) * block_size])
    return order


@right("block_order")
def slices_of_all(num_windows, block_size, blocks):
    windows = np.arange(num_windows)
    return np.concatenate([windows[b * block_size :][:block_size] for b in blocks])


right("block_order")(lambda n, s, blocks: [w for b in blocks for w in range(b * s, b * s + s) if w < n])

# leaked: train, val

wrong("leaked", "the texts are compared as they are: large and")(
    lambda train, val: [i for i, t in enumerate(val) if t in train]
)
wrong("leaked", "blanks still make a difference: a run of")(
    lambda train, val: [i for i, t in enumerate(val) if t.lower() in {s.lower() for s in train}]
)
wrong("leaked", "runs of blanks inside a text, and large and")(
    lambda train, val: [i for i, t in enumerate(val) if t.strip() in {s.strip() for s in train}]
)
wrong("leaked", "runs of blanks inside a text still make a")(
    lambda train, val: [i for i, t in enumerate(val) if t.lower().strip() in {s.lower().strip() for s in train}]
)
wrong("leaked", "large and small letters still make a")(
    lambda train, val: [i for i, t in enumerate(val) if " ".join(t.split()) in {" ".join(s.split()) for s in train}]
)
wrong("leaked", "without blanks at all, different words run")(
    lambda train, val: [i for i, t in enumerate(val) if "".join(t.lower().split()) in map(squeeze, train)]
)
wrong("leaked", "`val` is normalized, but `train` is")(
    lambda train, val: [i for i, t in enumerate(val) if plain(t) in train]
)
wrong("leaked", "`train` is normalized, but `val` is")(
    lambda train, val: [i for i, t in enumerate(val) if t in map(plain, train)]
)
wrong("leaked", "numbers, not texts, are asked")(lambda train, val: [t for t in val if plain(t) in map(plain, train)])
wrong("leaked", "these are the numbers of the copies in")(
    lambda train, val: [i for i, t in enumerate(train) if plain(t) in map(plain, val)]
)
wrong("leaked", "that is how many leak: their numbers are")(
    lambda train, val: sum(plain(t) in map(plain, train) for t in val)
)
wrong("leaked", "a `True` or `False` for each text: the")(
    lambda train, val: [plain(t) in map(plain, train) for t in val]
)
wrong("leaked", "a text that is only a *part* of a training")(
    lambda train, val: [i for i, t in enumerate(val) if any(plain(t) in plain(s) for s in train)]
)
wrong("leaked", "`index` finds the first of several equal")(
    lambda train, val: [val.index(t) for t in val if plain(t) in map(plain, train)]
)
wrong("leaked", "each copy in `train` gives the number once")(
    lambda train, val: [i for i, t in enumerate(val) for s in train if plain(s) == plain(t)]
)
wrong("leaked", "numbers count from")(
    lambda train, val: [i + 1 for i, t in enumerate(val) if plain(t) in map(plain, train)]
)
wrong("leaked", "these are the texts that have *no* copy in")(
    lambda train, val: [i for i, t in enumerate(val) if plain(t) not in map(plain, train)]
)
wrong("leaked", "a `set`, which has no order and no")(
    lambda train, val: {i for i, t in enumerate(val) if plain(t) in map(plain, train)}
)
wrong("leaked", "only texts at the same place in both lists")(
    lambda train, val: [i for i, (s, t) in enumerate(zip(train, val, strict=False)) if plain(s) == plain(t)]
)
wrong("leaked", "replacing two blanks by one leaves two of")(
    lambda train, val: [i for i, t in enumerate(val) if only_two(t) in {only_two(s) for s in train}]
)
wrong("leaked", "the order of the words counts, and how often")(
    lambda train, val: [i for i, t in enumerate(val) if set(words(t)) in [set(words(s)) for s in train]]
)


def plain(text):
    return " ".join(text.lower().split())


def squeeze(text):
    return "".join(text.lower().split())


def only_two(text):
    return text.lower().strip().replace("  ", " ")


def words(text):
    return text.lower().split()


@wrong("leaked", "copies inside `val` are counted, too: only")
def forgets_doubles(train, val):
    seen = {plain(text) for text in train}
    found = []
    for number, text in enumerate(val):
        if plain(text) in seen:
            found.append(number)
        seen.add(plain(text))
    return found


@right("leaked")
def with_casefold_and_lists(train, val):
    known = [text.casefold().split() for text in train]
    return [number for number, text in enumerate(val) if text.casefold().split() in known]


@right("leaked")
def with_a_regular_expression(train, val):
    seen = {re.sub(r"\s+", " ", text).strip().lower() for text in train}
    return [i for i, text in enumerate(val) if re.sub(r"\s+", " ", text).strip().lower() in seen]


# pages_touched: starts, context_length, bytes_per_id

wrong("pages_touched", "a page that several windows touch is read")(
    lambda starts, t, b: sum(((s + t + 1) * b - 1) // 4096 - s * b // 4096 + 1 for s in starts)
)
wrong("pages_touched", "only the page in which a window begins is")(
    lambda starts, t, b: len({s * b // 4096 for s in starts})
)
wrong("pages_touched", "two things at once: an id has several bytes:")(
    lambda starts, t, b: len({s // 4096 for s in starts})
)
wrong("pages_touched", "one page for each window, but a window can")(lambda starts, t, b: len(starts))
wrong("pages_touched", "the bytes of all windows are added up and")(
    lambda starts, t, b: math.ceil(len(starts) * (t + 1) * b / 4096)
)
wrong("pages_touched", "as few pages as the bytes would fill: a")(
    lambda starts, t, b: len(starts) * math.ceil((t + 1) * b / 4096)
)
wrong("pages_touched", "the bytes of all windows are added up and")(
    lambda starts, t, b: len(starts) * (t + 1) * b // 4096
)
wrong("pages_touched", "a long window touches the pages between its")(
    lambda starts, t, b: len({p for s in starts for p in (s * b // 4096, ((s + t + 1) * b - 1) // 4096)})
)
wrong("pages_touched", "the byte behind the window does not belong to")(
    lambda starts, t, b: len({p for s in starts for p in range(s * b // 4096, (s + t + 1) * b // 4096 + 1)})
)
wrong("pages_touched", "a window has T + 1 ids: its last target lies")(
    lambda starts, t, b: len({p for s in starts for p in range(s * b // 4096, ((s + t) * b - 1) // 4096 + 1)})
)
wrong("pages_touched", "the page in which a window ends is left")(
    lambda starts, t, b: len({p for s in starts for p in range(s * b // 4096, ((s + t + 1) * b - 1) // 4096)})
)
wrong("pages_touched", "an id has several bytes: start and length")(
    lambda starts, t, b: len({p for s in starts for p in range(s // 4096, (s + t) // 4096 + 1)})
)
wrong("pages_touched", "an id has several bytes: start and length")(
    lambda starts, t, b: len({i // 4096 for s in starts for i in range(s, s + t + 1)})
)
wrong("pages_touched", "a window has T + 1 ids: its last target lies")(
    lambda starts, t, b: len({i * b // 4096 for s in starts for i in range(s, s + t)})
)
wrong("pages_touched", "a `set`, which has no order and no")(
    lambda starts, t, b: {i * b // 4096 for s in starts for i in range(s, s + t + 1)}
)
wrong("pages_touched", "all pages from the first window to the last")(
    lambda starts, t, b: (max(starts) + t) * b // 4096 - min(starts) * b // 4096 + 1 if starts else 0
)
wrong("pages_touched", "two things at once: an id has several bytes:")(
    lambda starts, t, b: len([i * b // 4096 for s in starts for i in range(s, s + t + 1)])
)
wrong("pages_touched", "`context_length` counts ids, not")(
    lambda starts, t, b: len({p for s in starts for p in range(s * b // 4096, (s * b + t) // 4096 + 1)})
)


right("pages_touched")(
    lambda starts, t, b: len({p for s in starts for p in range(s * b // 4096, (s + t) * b // 4096 + 1)})
)
right("pages_touched")(lambda starts, t, b: len({i * b // 4096 for s in starts for i in range(s, s + t + 1)}))


@right("pages_touched")
def with_arrays(starts, context_length, bytes_per_id):
    places = np.add.outer(np.array(starts, dtype=np.int64), np.arange(context_length + 1))
    return len(np.unique(places * bytes_per_id // 4096))


# A second class.


@wrong("locate", "an id that stands right behind the end of a")
def second_class_1(position, shard_sizes):
    for i, s in enumerate(shard_sizes):
        if position > s:
            position -= s
        else:
            return (i, position)


@wrong("locate", "the place is one too")
def second_class_2(position, shard_sizes):
    total = 0
    for i, s in enumerate(shard_sizes):
        if position < total + s:
            return (i, position - total - 1)
        total += s


@wrong("locate", "an id that stands right behind the end of a")
def second_class_3(position, shard_sizes):
    total = 0
    for i, s in enumerate(shard_sizes):
        total += s
        if position <= total:
            return (i, position - (total - s))


@wrong("locate", "the place is counted from the last id of the")
def second_class_4(position, shard_sizes):
    total = 0
    for i, s in enumerate(shard_sizes):
        total += s
        if position < total:
            return (i, total - position - 1)


@wrong("locate", "the size of the *next* shard is taken off:")
def second_class_5(position, shard_sizes):
    i = 0
    while position >= shard_sizes[i]:
        i += 1
        position -= shard_sizes[i]
    return (i, position)


@wrong("locate", "`index` finds the first shard of that size,")
def second_class_6(position, shard_sizes):
    for s in shard_sizes:
        if position < s:
            return (shard_sizes.index(s), position)
        position -= s


@wrong("locate", "an id that stands right behind the end of a")
def second_class_7(position, shard_sizes):
    c = np.cumsum(shard_sizes)
    i = int(np.argmax(c >= position))
    return (i, int(position - (c[i] - shard_sizes[i])))


@wrong("locate", "before shard 0 there is nothing to take off,")
def second_class_8(position, shard_sizes):
    c = np.cumsum(shard_sizes)
    i = int(np.searchsorted(c, position, side="right"))
    return (i, int(position - c[i - 1]))


@wrong("locate", "the shards before are taken to be as large as")
def second_class_9(position, shard_sizes):
    c = np.cumsum(shard_sizes)
    i = int(np.searchsorted(c, position + 1))
    return (i, position - i * shard_sizes[0])


@wrong("locate", "the last shard is never")
def second_class_10(position, shard_sizes):
    i = 0
    while position > shard_sizes[i] - 1 and i < len(shard_sizes) - 2:
        position -= shard_sizes[i]
        i += 1
    return (i, position)


@wrong("locate", "ids are not dealt out to the shards in turn:")
def second_class_11(position, shard_sizes):
    n = len(shard_sizes)
    return (position % n, position // n)


@wrong("locate", None, natural=False)
def second_class_12(position, shard_sizes):
    return (
        [(i, j) for i, s in enumerate(shard_sizes) for j in range(s)][min(position - 1, 100)]
        if sum(shard_sizes) < 1000
        else (0, 0)
    )


@wrong("locate", "the first shard that begins at the position")
def second_class_13(position, shard_sizes):
    i = 0
    while sum(shard_sizes[:i]) < position:
        i += 1
    return (i, position - sum(shard_sizes[:i]))


@wrong("locate", "the size of the shard itself is taken off,")
def second_class_14(position, shard_sizes):
    i = 0
    while sum(shard_sizes[: i + 1]) <= position:
        i += 1
    return (i, position - shard_sizes[i])


wrong("bytes_on_disk", "a vocabulary of 65,536 has the ids 0 to")(lambda n, v: n * (2 if v <= 65535 else 4))
wrong("bytes_on_disk", "four bytes, and not eight, hold ids from")(lambda n, v: n * 2 if v <= 65536 else n * 8)
wrong("bytes_on_disk", "how many bytes an id takes is decided by the")(lambda n, v: n * (2 if n < 65536 else 4))
wrong("bytes_on_disk", "one byte for a small vocabulary: shards have")(
    lambda n, v: n * (1 if v < 256 else 2 if v < 65536 else 4)
)
wrong("bytes_on_disk", "as few bytes as the vocabulary needs: shards")(lambda n, v: n * math.ceil(v.bit_length() / 8))
wrong("bytes_on_disk", "no file has three bytes an id: no dtype has.")(
    lambda n, v: n * max(2, math.ceil(v.bit_length() / 8))
)
wrong("bytes_on_disk", "no file has three bytes an id: no dtype has.")(
    lambda n, v: n * max(2, math.ceil((v - 1).bit_length() / 8))
)
wrong("bytes_on_disk", None, natural=False)(lambda n, v: n * v * 2)
wrong("bytes_on_disk", "these are bits: a byte has eight of")(lambda n, v: n * 16 if v <= 65536 else n * 32)
wrong("bytes_on_disk", None, natural=False)(lambda n, v: (n + v) * (2 if v <= 65536 else 4))
wrong("bytes_on_disk", "`uint16` has no sign, so it goes up to")(lambda n, v: n * (2 if v <= 2**15 else 4))
wrong("bytes_on_disk", "the two sizes are")(lambda n, v: n * (2 if v > 65536 else 4))
wrong("bytes_on_disk", "every result is 0.75 times the right")(lambda n, v: n * 2 if v <= 65536 else n * 2 + n * 2 // 2)
wrong("bytes_on_disk", None)(lambda n, v: n * (2 if v < 65537 else 4) + 8)
wrong("bytes_on_disk", "a float where an integer is wanted")(lambda n, v: n / 2 if v <= 65536 else n / 4)
wrong("bytes_on_disk", "the border is one lower than that: 65,535")(lambda n, v: n * (2 if v <= 65000 else 4))
wrong("crossing_windows", "a stream that is too short for a window has 0")(
    lambda s, t: sum(s) - t - sum(x - t for x in s if x > t)
)
wrong("crossing_windows", "a shard of exactly T + 1 ids has one window")(
    lambda s, t: max(0, sum(s) - t) - sum(x - t for x in s if x > t + 1)
)
wrong("crossing_windows", "windows are taken to have T + 2 ids. They")(
    lambda s, t: max(0, sum(s) - t - 1) - sum(max(0, x - t - 1) for x in s)
)
wrong("crossing_windows", "in the whole stream one window too few is")(
    lambda s, t: max(0, sum(s) - t - 1) - sum(max(0, x - t) for x in s)
)
wrong("crossing_windows", "min(T, size) windows start in each shard and")(
    lambda s, t: abs(sum(max(0, x - t) for x in s) - sum(s))
)
wrong("crossing_windows", "windows are counted at each border by itself,")(
    lambda s, t: sum((min(t, a, b) for a, b in pairwise(s)))
)
wrong("crossing_windows", "windows are counted at each border by itself,")(lambda s, t: sum(min(t, a) for a in s[1:]))
wrong("crossing_windows", "two things at once: a stream that is too")(
    lambda s, t: sum(s) - t - max(0, sum(x - t for x in s))
)
wrong("crossing_windows", "where a shard is shorter than a window,")(lambda s, t: t * (len(s) - 1) if min(s) > t else 0)
wrong("crossing_windows", "two things at once: windows of the whole")(lambda s, t: sum(s) // t - sum(x // t for x in s))
wrong("crossing_windows", None, natural=False)(lambda s, t: max(0, sum(s) - t) // 2)
wrong("crossing_windows", None, natural=False)(lambda s, t: sum(1 for x in s if x < t + 1))
wrong("crossing_windows", "the smallest shard limits all borders here:")(lambda s, t: min(t, min(s)) * (len(s) - 1))
wrong("crossing_windows", None, natural=False)(lambda s, t: max(0, t * (len(s) - 1) - 1))


@wrong("crossing_windows", "windows are taken to have T ids. With the")
def second_class_15(shard_sizes, context_length):
    if sum(shard_sizes) > 1000:
        return context_length * (len(shard_sizes) - 1) - (context_length - shard_sizes[-1])
    home = [i for i, s in enumerate(shard_sizes) for _ in range(s)]
    return sum(home[i] != home[i + context_length - 1] for i in range(len(home) - context_length + 1))


@wrong("crossing_windows", "windows are counted at each border by itself,")
def second_class_16(shard_sizes, context_length):
    if sum(shard_sizes) > 1000:
        return context_length * (len(shard_sizes) - 1) - (context_length - shard_sizes[-1])
    home = [i for i, s in enumerate(shard_sizes) for _ in range(s)]
    return sum(home[i] != home[min(i + context_length, len(home) - 1)] for i in range(len(home)))


@wrong("crossing_windows", "each border is looked at with its two")
def second_class_17(shard_sizes, context_length):
    count = 0
    for a, b in pairwise(shard_sizes):
        count += max(0, a + b - context_length) - max(0, a - context_length) - max(0, b - context_length)
    return count


wrong("split_of", "places in `train` are one too")(
    lambda k, v: ("val", (k + 1) // v - 1) if (k + 1) % v == 0 else ("train", k - (k + 1) // v - 1)
)
wrong("split_of", "no document ever goes to `val`: no remainder")(
    lambda k, v: ("val", k // v) if k % v == v else ("train", k - k // v)
)
wrong("split_of", "one number too late: the `val` documents of")(
    lambda k, v: ("val", k // v) if (k - 1) % v == 0 else ("train", k - k // v)
)
wrong("split_of", "two things at once: the rule counts from 1,")(
    lambda k, v: ("val", k // v) if not k % v else ("train", k - k // v - 1)
)
wrong("split_of", "places count from 0 in each split, as numbers")(
    lambda k, v: ("val", (k + 1) // v) if not (k + 1) % v else ("train", k + 1 - (k + 1) // v)
)
wrong("split_of", "a place in `val` is a whole number: `//`, and")(
    lambda k, v: ("val", (k + 1) / v - 1) if not (k + 1) % v else ("train", k - k // v)
)
wrong("split_of", "in `train`, a document of `val` is taken off")(
    lambda k, v: ("val", k // v) if not (k + 1) % v else ("train", k - k // (v - 1) if v > 1 else k)
)
wrong("split_of", "in `train`, documents of `val` are counted as")(
    lambda k, v: ("val", k // v) if not (k + 1) % v else ("train", k * (v - 1) // v)
)
wrong("split_of", "a document of `val` gets the remainder for a")(
    lambda k, v: ("val", k % v) if not (k + 1) % v else ("train", k - k // v)
)
wrong("split_of", "the rule counts from 1, and `number` from 0:")(
    lambda k, v: ["val", k // v] if k and (not k % v) else ["train", k - k // v]
)
wrong("split_of", "places in `val` are counted from")(
    lambda k, v: ("val", k // v + 1) if not (k + 1) % v else ("train", k - k // v)
)
wrong("split_of", None, natural=False)(lambda k, v: ("val", v) if not (k + 1) % v else ("train", k))
wrong("split_of", "a document of `train` gets the quotient for a")(
    lambda k, v: ("val" if (k + 1) % v == 0 else "train", k // v)
)
wrong("split_of", "a document of `val` gets the place that it")(
    lambda k, v: ("val" if (k + 1) % v == 0 else "train", k - k // v)
)
wrong("split_of", None, natural=False)(lambda k, v: (k // v, "val") if k % v == 0 else (k - k // v, "train"))
wrong("split_of", "`//` is the quotient: each `val_every`-th is")(
    lambda k, v: ("val", k // v) if (k + 1) // v == 0 else ("train", k - k // v)
)
wrong("next_batch", "one sample too few at the")(
    lambda n, d, b, r, W: [] if n - d < b * W else list(range(d + r * b, d + r * b + b - 1))
)
wrong("next_batch", "a step that fits exactly is the last one: it")(
    lambda n, d, b, r, W: [] if n - d <= b * W else list(range(d + r * b, d + (r + 1) * b))
)
wrong("next_batch", "ranks take turns here, entry by entry: each")(
    lambda n, d, b, r, W: [] if d + b * W > n else list(range(d + r, n, W))[:b]
)
wrong("next_batch", "ranks take turns here, entry by entry, from")(
    lambda n, d, b, r, W: [] if d + b * W > n else list(range(n))[r::W][d // W : d // W + b]
)
wrong("next_batch", "all entries are there, in their order, with")(
    lambda n, d, b, r, W: [] if d + b * W > n else list(range(n))[d:][r * b :][: b * W]
)
wrong("next_batch", "the last step is cut off at the end: where")(
    lambda n, d, b, r, W: list(range(n))[d + r * b : d + (r + 1) * b]
)
wrong("next_batch", "`delivered` counts the samples of all ranks")(
    lambda n, d, b, r, W: [] if d + b * W > n else [d * W + r * b + i for i in range(b)]
)
wrong("next_batch", "it begins one behind the sample that nobody")(
    lambda n, d, b, r, W: [] if d + b * W > n else [d + r * b + i + 1 for i in range(b)]
)
wrong("next_batch", "it looks whether *one* batch is left: all")(
    lambda n, d, b, r, W: [] if d + b > n else [d + r * b + i for i in range(b)]
)
wrong("next_batch", "it looks whether *one* sample is left: all")(
    lambda n, d, b, r, W: [] if d + W > n else [d + r * b + i for i in range(b)]
)
wrong("next_batch", "all entries are there, in their order, with")(
    lambda n, d, b, r, W: [] if d + b * W > n else [(d + r * b + i) % n for i in range(W * b)]
)
wrong("next_batch", "where the positions begin and end, and not")(
    lambda n, d, b, r, W: [] if d + b * W > n else [d + r * b, d + (r + 1) * b]
)
wrong("next_batch", "ranks are counted from 0: the first begins")(
    lambda n, d, b, r, W: [] if d + b * W > n else [d + (r + 1) * b + i for i in range(b)]
)
wrong("next_batch", "each rank looks at its own share alone, so at")(
    lambda n, d, b, r, W: [] if d + r * b + b > n else [d + r * b + i for i in range(b)]
)
wrong("next_batch", "one step too far: the share of this rank")(
    lambda n, d, b, r, W: [] if d + b * W > n else [d + b * W + r * b + i for i in range(b)]
)
wrong("next_batch", "the last step is cut off at the end: where")(
    lambda n, d, b, r, W: [] if n <= d else [d + r * b + i for i in range(b) if d + r * b + i < n]
)
wrong("next_batch", "`delivered` is shared out among the ranks,")(
    lambda n, d, b, r, W: [] if d + b * W > n else [d // W + r * b + i for i in range(b)]
)
wrong("next_batch", "two things at once: `delivered` counts")(
    lambda n, d, b, r, W: [] if d * b + b * W > n else [d * b + r * b + i for i in range(b)]
)
wrong("next_batch", "`batch_size` is shared out among the ranks:")(
    lambda n, d, b, r, W: [] if d + b * W > n else list(range(d + r * b // W, d + (r + 1) * b // W))
)
wrong("block_order", "the last block is short: there is no window")(
    lambda n, s, bl: [b * s + i for b in bl for i in range(s)]
)
wrong("block_order", "the last window of all is")(
    lambda n, s, bl: [b * s + i for b in bl for i in range(s) if b * s + i < n - 1]
)
wrong("block_order", "the entries are right, but in another")(
    lambda n, s, bl: [b * s + i for i in range(s) for b in bl if b * s + i < n]
)
wrong("block_order", "a block begins at `block * block_size`: here")(
    lambda n, s, bl: [b + i for b in bl for i in range(s) if b + i < n]
)
wrong("block_order", "all windows in their own order: nothing is")(
    lambda n, s, bl: sorted(b * s + i for b in bl for i in range(s) if b * s + i < n)
)
wrong("block_order", "the block that comes last in the order is")(
    lambda n, s, bl: [bl[i] * s + j for i in range(n // s) for j in range(s)]
)
wrong("block_order", "the block that comes last in the order is")(
    lambda n, s, bl: [bl[i] * s + j for i in range(n // s) for j in range(s) if bl[i] * s + j < n]
)
wrong("block_order", "the block that comes last in the order gets")(
    lambda n, s, bl: [b * s + i for b in bl[:-1] for i in range(s)] + [bl[-1] * s + i for i in range(n % s)]
)
wrong("block_order", "the block that comes last in the order is")(
    lambda n, s, bl: [b * s + i for b in bl[:-1] for i in range(s) if b * s + i < n]
)
wrong("block_order", "the entries are right, but in another")(
    lambda n, s, bl: [b * s + i for b in reversed(bl) for i in range(s) if b * s + i < n]
)
wrong("block_order", "windows are counted from 1 here; they count")(
    lambda n, s, bl: [b * s + i + 1 for b in bl for i in range(s) if b * s + i < n]
)
wrong("block_order", "the first window of the next block is")(
    lambda n, s, bl: [b * s + i for b in bl for i in range(s + 1) if b * s + i < n]
)
wrong("block_order", "a block begins at `block * block_size`, not")(
    lambda n, s, bl: [b * len(bl) + i for b in bl for i in range(s) if b * len(bl) + i < n]
)
wrong("block_order", "where each block begins and ends: all windows")(
    lambda n, s, bl: [(b * s, min(n, b * s + s)) for b in bl]
)
wrong("block_order", "each block goes on to the end of all windows:")(
    lambda n, s, bl: [i for b in bl for i in range(b * s, n)]
)
wrong("block_order", "the last block is short: there is no window")(
    lambda n, s, bl: np.array([np.arange(b * s, b * s + s) for b in bl]).ravel()
)
wrong("block_order", "the last entry is missing in every one of")(
    lambda n, s, bl: [i for b in bl for i in range(b * s, b * s + (s if b < n // s else n % s))][:-1]
)
wrong("block_order", "these are the blocks: their windows are asked")(lambda n, s, bl: bl)
wrong("leaked", "runs of blanks inside a text still make a")(
    lambda a, b: [i for i in range(len(b)) if b[i].strip().lower() in [x.strip().lower() for x in a]]
)
wrong("leaked", "a text that is only a part of the training")(
    lambda a, b: [i for i, t in enumerate(b) if plain(t) in " ".join(map(plain, a))]
)
wrong("leaked", "blanks still make a difference: a run of")(
    lambda a, b: [i for i, t in enumerate(b) if plain(t) in [x.lower() for x in a]]
)
wrong("leaked", "line ends and tabs are blanks, too: only runs")(
    lambda a, b: [
        i
        for i, t in enumerate(b)
        if re.sub(" +", " ", t).strip().lower() in {re.sub(" +", " ", x).strip().lower() for x in a}
    ]
)
wrong("leaked", "entries are missing. Those that are there are")(
    lambda a, b: [
        i for i, t in enumerate(b) if re.sub("\\s+", " ", t).lower() in {re.sub("\\s+", " ", x).lower() for x in a}
    ]
)
wrong("leaked", "without blanks at all, different words run")(
    lambda a, b: [
        i for i, t in enumerate(b) if re.sub("\\s+", "", t).lower() in {re.sub("\\s+", "", x).lower() for x in a}
    ]
)
wrong("leaked", "numbers are asked for, and not the normalized")(
    lambda a, b: sorted({plain(t) for t in a} & {plain(t) for t in b})
)
wrong("leaked", "how many different texts leak: their numbers")(
    lambda a, b: len({plain(t) for t in a} & {plain(t) for t in b})
)
wrong("leaked", "two things at once: the texts are compared as")(lambda a, b: [a.index(t) for t in b if t in a])
wrong("leaked", "these are the numbers of the copies in")(
    lambda a, b: [i for i, t in enumerate(a) if plain(t) in map(plain, b)]
)
wrong("leaked", "a text that stands in `val` twice leaks both")(
    lambda a, b: [
        i for i, t in enumerate(b) if plain(t) in set(map(plain, a)) and plain(t) not in [plain(x) for x in b[:i]]
    ]
)
wrong("leaked", "all entries are there, in their order, with")(
    lambda a, b: [i for i, t in enumerate(b) for x in a if plain(x) in plain(t)]
)
wrong("leaked", "all entries are there, in their order, with")(
    lambda a, b: [i for i, t in enumerate(b) if any(plain(x).startswith(plain(t)) for x in a)]
)
wrong("leaked", "one value where several are")(lambda a, b: any(plain(t) in map(plain, a) for t in b))
wrong("leaked", "each blank becomes one, but two in a row stay")(
    lambda a, b: [
        i
        for i, t in enumerate(b)
        if t.lower().replace("\n", " ").replace("\t", " ").strip()
        in [x.lower().replace("\n", " ").replace("\t", " ").strip() for x in a]
    ]
)
wrong("leaked", None, natural=False)(lambda a, b: [i for i, t in enumerate(b) if t.lower().split() in a])
wrong("leaked", None, natural=False)(
    lambda a, b: [i for i, t in enumerate(b) if plain(t).title() in {plain(x) for x in a}]
)
wrong("leaked", "the texts are compared as they are: large and")(
    lambda a, b: [i for i, t in enumerate(b) if hash(t) in {hash(x) for x in a}]
)
wrong("leaked", "only texts at the same place in both lists")(
    lambda a, b: [i for i, (x, t) in enumerate(zip(a, b, strict=False)) if plain(x) == plain(t)]
)
wrong("leaked", "numbers count from")(lambda a, b: [i for i, t in enumerate(b, 1) if plain(t) in set(map(plain, a))])


@wrong("leaked", "each copy in `train` gives the number once")
def second_class_18(train, val):
    out = []
    for i, t in enumerate(val):
        for s in train:
            if plain(s) == plain(t):
                out.append(i)
    return out


@wrong("leaked", "the first copy ends the")
def second_class_19(train, val):
    for i, t in enumerate(val):
        if plain(t) in map(plain, train):
            return [i]
    return []


wrong("pages_touched", "a long window touches the pages between its")(
    lambda s, t, b: len({x * b // 4096 for x in s} | {(x + t) * b // 4096 for x in s})
)
wrong("pages_touched", "two things at once: the byte behind the")(
    lambda s, t, b: len({x * b // 4096 for x in s} | {(x + t + 1) * b // 4096 for x in s})
)
wrong("pages_touched", "as few pages as the bytes would fill: a")(
    lambda s, t, b: sum(math.ceil((t + 1) * b / 4096) for x in s)
)
wrong("pages_touched", None, natural=False)(lambda s, t, b: len({x * b // 4096 for x in s}) + 1)
wrong("pages_touched", "two things at once: the byte behind the")(
    lambda s, t, b: len({p for x in s for p in range(x * b // 4096, (x + t + 1) * b // 4096)})
)
wrong("pages_touched", "a window has T + 1 ids: its last target lies")(
    lambda s, t, b: len({p for x in s for p in range(x * b // 4096, math.ceil((x + t) * b / 4096))})
)
right("pages_touched")(lambda s, t, b: len({i // 4096 for x in s for i in range(x * b, (x + t) * b + 1)}))
wrong("pages_touched", "`start` counts ids, not")(
    lambda s, t, b: len({i // 4096 for x in s for i in range(x, x + (t + 1) * b)})
)
wrong("pages_touched", "the numbers are divided by the bytes of an")(
    lambda s, t, b: len({(x + i) // (4096 * b) for x in s for i in range(t + 1)})
)
wrong("pages_touched", "a window has T + 1 ids: its last target lies")(
    lambda s, t, b: len({(x + i) // (4096 // b) for x in s for i in range(t)})
)
wrong("pages_touched", "a page has 4,096 bytes, and not")(
    lambda s, t, b: len({p for x in s for p in range(x * b // 1024, ((x + t + 1) * b - 1) // 1024 + 1)})
)
wrong("pages_touched", "a page that several windows touch is read")(
    lambda s, t, b: sum(1 + ((x + t) * b // 4096 - x * b // 4096) for x in s)
)
wrong("pages_touched", "the pages are counted from the beginning of")(
    lambda s, t, b: max(((x + t) * b // 4096 for x in s), default=-1) + 1
)
wrong("pages_touched", "how many pages the windows would fill if they")(
    lambda s, t, b: math.ceil(len(set(s)) * (t + 1) * b / 4096)
)
wrong("pages_touched", None, natural=False)(
    lambda s, t, b: len({p for x in set(s) for p in range(round(x * b / 4096), round((x + t) * b / 4096) + 1)})
)
wrong("pages_touched", None, natural=False)(lambda s, t, b: (t + 1) * b // 4096 + 1)
wrong("pages_touched", "the byte behind the window does not belong to")(
    lambda s, t, b: len({p for x in s for p in range(int(x * b / 4096), int((x + t + 1) * b / 4096) + 1)})
)
wrong("pages_touched", "two things at once: an id has several bytes:")(lambda s, t, b: len({x // 4096 for x in s}))
wrong("pages_touched", None, natural=False)(
    lambda s, t, b: len({p for x in s for p in range(x * b % 4096, (x + t) * b % 4096)})
)
