"""Lesson 08: what a class answers."""

from __future__ import annotations

import math
from itertools import accumulate

import numpy as np
import torch

from course_lib.long_documents import chunk_ids, chunk_starts, count_chunks, padding_share
from wrong_answers import refused, right, wrong

# last_chunk_length: num_tokens, max_length, overlap

wrong("last_chunk_length", "a float where")(
    lambda n, m, o: n - max(0, math.ceil((n - m) / (m - o))) * (m - o) / 1 if n else 0.0
)


@wrong("last_chunk_length", "The call below did not end", ends=False, natural=False)
def goes_on_from_the_end_of_a_chunk(num_tokens, max_length, overlap):
    start = 0
    while start < num_tokens:
        end = min(start + max_length, num_tokens)
        last, start = end - start, end - overlap
    return last


@right("last_chunk_length")
def walks_to_the_end(num_tokens, max_length, overlap):
    start = 0
    while start + max_length < num_tokens:
        start += max_length - overlap
    return num_tokens - start


right("last_chunk_length")(lambda n, m, o: len((chunk_ids(range(n), m, o) or [[]])[-1]))
right("last_chunk_length")(lambda n, m, o: n - chunk_starts(n, m, o).max(initial=0))
right("last_chunk_length")(lambda n, m, o: n if n <= m else m - (m - n) % (m - o))
refused("last_chunk_length", "a float where")(
    lambda n, m, o: float(n - max(0, math.ceil((n - m) / (m - o))) * (m - o)) if n else 0.0
)

# never_scored: lengths, max_length, overlap

wrong("never_scored", "several values")(lambda ns, m, o: [min(n, 1) if o else math.ceil(n / m) for n in ns])
wrong("never_scored", "a float where")(lambda ns, m, o: float(sum(min(n, 1) if o else math.ceil(n / m) for n in ns)))
wrong("never_scored", None)(lambda ns, m, o: round(sum(min(n, 1) if o else n / m for n in ns)))


wrong("never_scored", None, natural=False)(lambda ns, m, o: sum(count_chunks(n, m, o) + 1 for n in ns))


wrong("never_scored", None)(lambda ns, m, o: len(ns) if o >= 1 else len(ns) + 1)
wrong("never_scored", None)(lambda ns, m, o: max(0, sum(count_chunks(n, m, o) - o for n in ns)))


@right("never_scored")
def marks_targets(lengths, max_length, overlap):
    unscored = 0
    for length in lengths:
        is_target = np.zeros(length, dtype=bool)
        for start in chunk_starts(length, max_length, overlap):
            is_target[start + 1 : start + max_length] = True
        unscored += (~is_target).sum()
    return unscored


right("never_scored")(
    lambda ns, m, o: sum(n - len({i for s in chunk_starts(n, m, o) for i in range(s + 1, min(n, s + m))}) for n in ns)
)
right("never_scored")(lambda ns, m, o: sum(math.ceil(min(n, 1) if o else n / m) for n in ns))
refused("never_scored", "a float where")(lambda ns, m, o: float(sum(math.ceil(min(n, 1) if o else n / m) for n in ns)))

# cut_from_the_end: ids, max_length

wrong("cut_from_the_end", None)(lambda ids, m: ids[len(ids) % m :])


wrong("cut_from_the_end", None, natural=False)(
    lambda ids, m: [ids[i : i + m] for i in range(-(-len(ids) // m * m) - len(ids), len(ids), m)]
)


@wrong("cut_from_the_end", "changes its arguments")
def takes_them_away(ids, max_length):
    chunks = []
    while ids:
        chunks.insert(0, ids[-max_length:])
        del ids[-max_length:]
    return chunks


wrong("cut_from_the_end", None)(lambda ids, m: [ids[max(0, i - m) : i] for i in range(len(ids) % m, len(ids), m)])
wrong("cut_from_the_end", "the first entry is missing, in every call")(
    lambda ids, m: np.array(ids[len(ids) % m :]).reshape(-1, m)
)


right("cut_from_the_end")(lambda ids, m: [ids[max(0, e - m) : e] for e in range(len(ids), 0, -m)][::-1])
right("cut_from_the_end")(
    lambda ids, m: [
        list(piece) for piece in np.split(np.array(ids, dtype=int), range(len(ids) % m, len(ids), m)) if len(piece)
    ]
)


@right("cut_from_the_end")
def reverses_twice(ids, max_length):
    backwards = chunk_ids(torch.tensor(ids[::-1], dtype=torch.int64).numpy(), max_length)
    return [chunk[::-1] for chunk in backwards][::-1]


@right("cut_from_the_end")
def one_by_one(ids, max_length):
    chunks = []
    for i, token in enumerate(ids):
        if not chunks or (len(ids) - i) % max_length == 0:
            chunks.append([])
        chunks[-1].append(token)
    return chunks


@refused("cut_from_the_end", "text, a `str`")
def written_down(ids, max_length):
    return str([ids[max(0, e - max_length) : e] for e in range(len(ids), 0, -max_length)][::-1])


# worker_of: row, world_size, num_workers

wrong("worker_of", "first to the workers")(lambda r, w, k: (r // k % w, r % k))
wrong("worker_of", "one value where several")(lambda r, w, k: r % (w * max(1, k)))
wrong("worker_of", "a float where an integer is wanted")(lambda r, w, k: (r % w, r / w % max(1, k)))
wrong("worker_of", "no `return`")(lambda r, w, k: (r % w, r // w % k) if k else None)


wrong("worker_of", None, natural=False)(lambda r, w, k: (r % w, (r - w) % max(1, k)))


wrong("worker_of", None)(lambda r, w, k: (r // w % max(1, k), r // (w * max(1, k))))
wrong("worker_of", "one value where several are wanted.")(lambda r, w, k: r % w)


right("worker_of")(lambda r, w, k: (r % w, r // w % k if k else 0))
right("worker_of")(lambda r, w, k: divmod(r % (w * (k or 1)), w)[::-1])
right("worker_of")(lambda r, w, k: [r - r // w * w, int(np.floor_divide(r, w)) % max(1, k)])


@right("worker_of")
def deals_cards(row, world_size, num_workers):
    turn = 0
    while True:
        for worker in range(max(1, num_workers)):
            for rank in range(world_size):
                if turn == row:
                    return rank, worker
                turn += 1


refused("worker_of", "a float where an integer is wanted")(lambda r, w, k: (float(r % w), float(r // w % max(1, k))))
refused("worker_of", "a `dict` where none is wanted")(lambda r, w, k: {"rank": r % w, "worker": r // w % max(1, k)})

# next_item: counts, delivered


@wrong("next_item", "changes its arguments")
def takes_off_in_place(counts, delivered):
    for document in range(len(counts)):
        chunk = 0
        while counts[document]:
            if not delivered:
                return document, chunk
            counts[document] -= 1
            delivered -= 1
            chunk += 1
    return len(counts), 0


@wrong("next_item", None, natural=False)
def rest_at_the_end(counts, delivered):
    document = 0
    while document < len(counts) and delivered > 0:
        delivered -= counts[document]
        document += 1
    return document, max(0, delivered)


@wrong("next_item", "cannot access local variable 'document' where")
def end_is_number_of_chunks(counts, delivered):
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered
        delivered -= count
    return document, count


wrong("next_item", "one value where several")(lambda counts, d: sum(end <= d for end in accumulate(counts)))


@right("next_item")
def looks_it_up(counts, delivered):
    items = [(document, chunk) for document, count in enumerate(counts) for chunk in range(count)]
    return [*items, (len(counts), 0)][delivered]


@right("next_item")
def searches_on_the_right(counts, delivered):
    ends = np.cumsum([0, *counts])
    document = np.searchsorted(ends[1:], delivered, side="right")
    return document, delivered - ends[document]


right("next_item")(
    lambda counts, d: [
        sum(e <= d for e in accumulate(counts)),
        d - max(e for e in accumulate(counts, initial=0) if e <= d),
    ]
)
refused("next_item", "has no order")(lambda counts, d: {looks_it_up(counts, d)[0], looks_it_up(counts, d)[1]})

# count_padding: lengths, batch_size


def batches_of(lengths, batch_size):
    return [lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size)]


wrong("count_padding", "the share of padding")(
    lambda ns, b: padding_share(ns, batches_of(range(len(ns)), b)) if ns else 0
)
wrong("count_padding", "several values")(lambda ns, b: [max(x) * len(x) - sum(x) for x in batches_of(ns, b)])


wrong("count_padding", "the sign is the other way round.")(
    lambda ns, b: -sum(max(x) * len(x) - sum(x) for x in batches_of(ns, b))
)


wrong("count_padding", None)(lambda L, b: len(L) // b * max(L, default=0) * b - sum(L))
wrong("count_padding", "an index is beyond the end: of n entries the")(
    lambda L, b: sum(max(L[i : i + b]) - L[j] for i in range(0, len(L), b) for j in range(i, i + b))
)
wrong("count_padding", None)(lambda L, b: len(L) % b)


@right("count_padding")
def row_by_row(lengths, batch_size):
    padding = 0
    for i, length in enumerate(lengths):
        first = i - i % batch_size
        padding += max(lengths[first : first + batch_size]) - length
    return padding


@right("count_padding")
def in_a_matrix(lengths, batch_size):
    rows = -(-len(lengths) // batch_size)
    padded = np.zeros(rows * batch_size, dtype=int)
    padded[: len(lengths)] = lengths
    padded = padded.reshape(rows, batch_size)
    return (np.where(padded, padded.max(axis=1, keepdims=True, initial=0), 0) - padded).sum()


right("count_padding")(
    lambda ns, b: (
        round(padding_share(ns, batches_of(range(len(ns)), b)) * sum(max(x) * len(x) for x in batches_of(ns, b)))
        if ns
        else 0
    )
)
refused("count_padding", "a float where")(lambda ns, b: float(sum(max(x) * len(x) - sum(x) for x in batches_of(ns, b))))
