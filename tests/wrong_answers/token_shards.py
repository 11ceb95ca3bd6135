"""Lesson 11: what a class answers."""

from __future__ import annotations

import re

import numpy as np

from wrong_answers import right, wrong

# locate: position, shard_sizes


@wrong("locate", "one value where several are")
def forgets_to_return_the_place(position, shard_sizes):
    for shard, size in enumerate(shard_sizes):
        if position < size:
            return shard
        position -= size


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


# crossing_windows: shard_sizes, context_length


@right("crossing_windows")
def looks_at_each(shard_sizes, context_length):
    home = [shard for shard, size in enumerate(shard_sizes) for _ in range(size)]
    windows = range(max(0, len(home) - context_length))
    return sum(home[s] != home[s + context_length] for s in windows)


right("crossing_windows")(
    lambda sizes, t: np.maximum(0, np.sum(sizes, dtype=int) - t) - np.maximum(0, np.array(sizes, int) - t).sum()
)

# split_of: number, val_every


right("split_of")(lambda k, v: ("val", (k + 1) // v - 1) if k % v == v - 1 else ("train", k - (k + 1) // v))

# block_order: num_windows, block_size, blocks


@right("block_order")
def slices_of_all(num_windows, block_size, blocks):
    windows = np.arange(num_windows)
    return np.concatenate([windows[b * block_size :][:block_size] for b in blocks])


right("block_order")(lambda n, s, blocks: [w for b in blocks for w in range(b * s, b * s + s) if w < n])

# leaked: train, val

wrong("leaked", "a `set`, which has no order and no")(
    lambda train, val: {i for i, t in enumerate(val) if plain(t) in map(plain, train)}
)


def plain(text):
    return " ".join(text.lower().split())


@right("leaked")
def with_casefold_and_lists(train, val):
    known = [text.casefold().split() for text in train]
    return [number for number, text in enumerate(val) if text.casefold().split() in known]


@right("leaked")
def with_a_regular_expression(train, val):
    seen = {re.sub(r"\s+", " ", text).strip().lower() for text in train}
    return [i for i, text in enumerate(val) if re.sub(r"\s+", " ", text).strip().lower() in seen]


# pages_touched: starts, context_length, bytes_per_id


right("pages_touched")(lambda starts, t, b: len({i // 4096 for s in starts for i in range(s * b, (s + t + 1) * b)}))


@right("pages_touched")
def with_arrays(starts, context_length, bytes_per_id):
    places = np.add.outer(np.array(starts, dtype=np.int64), np.arange(context_length + 1))
    ends = [places * bytes_per_id, (places + 1) * bytes_per_id - 1]
    return len(np.unique(np.stack(ends) // 4096))


# A second class.


@wrong("locate", None, natural=False)
def second_class_12(position, shard_sizes):
    return (
        [(i, j) for i, s in enumerate(shard_sizes) for j in range(s)][min(position - 1, 100)]
        if sum(shard_sizes) < 1000
        else (0, 0)
    )


wrong("crossing_windows", None, natural=False)(lambda s, t: max(0, sum(s) - t) // 2)
wrong("crossing_windows", None, natural=False)(lambda s, t: sum(1 for x in s if x < t + 1))
wrong("crossing_windows", None, natural=False)(lambda s, t: max(0, t * (len(s) - 1) - 1))


wrong("split_of", None, natural=False)(lambda k, v: ("val", v) if not (k + 1) % v else ("train", k))
wrong("block_order", "the last entry is missing, in every call")(
    lambda n, s, bl: [i for b in bl for i in range(b * s, b * s + (s if b < n // s else n % s))][:-1]
)
wrong("leaked", "all entries are there, in their order, with")(
    lambda a, b: [i for i, t in enumerate(b) for x in a if plain(x) in plain(t)]
)
wrong("leaked", "one value where several are")(lambda a, b: any(plain(t) in map(plain, a) for t in b))
wrong("leaked", None, natural=False)(
    lambda a, b: [i for i, t in enumerate(b) if plain(t).title() in {plain(x) for x in a}]
)


wrong("pages_touched", None, natural=False)(lambda s, t, b: len({x * b // 4096 for x in s}) + 1)
wrong("pages_touched", None, natural=False)(
    lambda s, t, b: len({p for x in set(s) for p in range(round(x * b / 4096), round((x + t) * b / 4096) + 1)})
)
wrong("pages_touched", None, natural=False)(lambda s, t, b: (t + 1) * b // 4096 + 1)
wrong("pages_touched", None, natural=False)(
    lambda s, t, b: len({p for x in s for p in range(x * b % 4096, (x + t) * b % 4096)})
)
