"""Lesson 08: what a class answers."""

from __future__ import annotations

import math
from itertools import accumulate, pairwise

import numpy as np
import torch

from course_lib.long_documents import chunk_ids, chunk_starts, count_chunks, padding_share
from wrong_answers import refused, right, wrong

# last_chunk_length: num_tokens, max_length, overlap

wrong("last_chunk_length", "the overlap plays no part")(lambda n, m, o: n % m)
wrong("last_chunk_length", "the overlap plays no part")(lambda n, m, o: n % m or m)
wrong("last_chunk_length", "the overlap plays no part")(lambda n, m, o: (n % m or m) if n else 0)
wrong("last_chunk_length", "behind whole steps")(lambda n, m, o: n % (m - o))
wrong("last_chunk_length", "starts a chunk at every step")(lambda n, m, o: n % (m - o) or m - o)
wrong("last_chunk_length", "holds the overlap alone")(lambda n, m, o: n if n <= m else o + (n - m) % (m - o))
wrong("last_chunk_length", "the last chunk alone holds")(lambda n, m, o: n if n <= m else (n - m - 1) % (m - o) + 1)
wrong("last_chunk_length", "the *first* chunk")(lambda n, m, o: min(n, m))
wrong("last_chunk_length", "full chunks only")(lambda n, m, o: m if n > 0 else 0)
wrong("last_chunk_length", "two steps lie between")(lambda n, m, o: n - count_chunks(n, m, o) * (m - o))
wrong("last_chunk_length", "two steps lie between")(lambda n, m, o: max(0, n - count_chunks(n, m, o) * (m - o)))
wrong("last_chunk_length", "0. (One step before")(lambda n, m, o: n - (count_chunks(n, m, o) - 1) * (m - o))
wrong("last_chunk_length", "start `max_length` apart here")(
    lambda n, m, o: n - (count_chunks(n, m, o) - 1) * m if n else 0
)
wrong("last_chunk_length", "takes the overlap too")(lambda n, m, o: n - (count_chunks(n, m) - 1) * (m - o) if n else 0)
wrong("last_chunk_length", "rounded down")(lambda n, m, o: n if n < m else n - (n - m) // (m - o) * (m - o))
wrong("last_chunk_length", "taken for the step")(lambda n, m, o: n - (count_chunks(n, m, o) - 1) * o if n else 0)
wrong("last_chunk_length", "is left out of the formula")(lambda n, m, o: m - (m - n) % (m - o))
wrong("last_chunk_length", "it is not filled")(lambda n, m, o: m - (m - n) % (m - o) if n > m else m * (n > 0))
wrong("last_chunk_length", "a float where")(
    lambda n, m, o: n - max(0, math.ceil((n - m) / (m - o))) * (m - o) / 1 if n else 0.0
)
wrong("last_chunk_length", "the steps begin behind the first")(lambda n, m, o: o + n % (m - o))


wrong("last_chunk_length", "where the document comes out even, the last")(
    lambda n, m, o: (n - o) % (m - o) + o if n else 0
)
wrong("last_chunk_length", "what is left behind the first chunk and whole")(lambda n, m, o: (n - m) % (m - o))
wrong("last_chunk_length", "what is left behind the first chunk and whole")(
    lambda n, m, o: (n - m) % (m - o) if n > m else n
)
wrong("last_chunk_length", "a full chunk where nothing is left is right,")(lambda n, m, o: (n - m) % (m - o) or m)
wrong("last_chunk_length", "that is what is left behind whole steps. The")(lambda n, m, o: n - (n // (m - o)) * (m - o))
wrong("last_chunk_length", "a document of 0 ids has no chunk, and so no")(lambda n, m, o: n - chunk_starts(n, m, o)[-1])
wrong("last_chunk_length", "these are the ids that the last chunk alone")(
    lambda n, m, o: n - chunk_starts(n, m, o)[-1] - o if n > m else n
)
wrong("last_chunk_length", "the overlap does not come on top of what")(lambda n, m, o: n % m + o)
wrong("last_chunk_length", "in a document longer than one chunk, the")(lambda n, m, o: n % m + o if n > m else n)
wrong("last_chunk_length", "the steps begin behind the first chunk: what")(lambda n, m, o: min(m, n % (m - o) + o))
wrong("last_chunk_length", "a document of 0 ids has no chunk, and so no")(
    lambda n, m, o: len(chunk_ids(range(n), m, o)[-1])
)
wrong("last_chunk_length", "that is the *number* of chunks.")(lambda n, m, o: count_chunks(n, m, o))


@wrong("last_chunk_length", "starts a chunk at every step")
def cuts_at_every_step(num_tokens, max_length, overlap):
    last = 0
    for start in range(0, num_tokens, max_length - overlap):
        last = min(max_length, num_tokens - start)
    return last


@wrong("last_chunk_length", "The call below did not end", ends=False, natural=False)
def goes_on_from_the_end_of_a_chunk(num_tokens, max_length, overlap):
    start = 0
    while start < num_tokens:
        end = min(start + max_length, num_tokens)
        last, start = end - start, end - overlap
    return last


wrong("last_chunk_length", "steps are counted by dividing the whole")(lambda n, m, o: n - (n // (m - o) - 1) * (m - o))
wrong("last_chunk_length", "the overlap plays no part here: chunks start")(lambda n, m, o: (n - 1) % m + 1)
wrong("last_chunk_length", "the last chunk is taken to be as long as a")(lambda n, m, o: m - o)
wrong("last_chunk_length", "so long is the *first* chunk. The last one")(lambda n, m, o: n if n < m else m)
wrong("last_chunk_length", "a document that fits into one chunk is cut to")(lambda n, m, o: min(n, m - o))
wrong("last_chunk_length", "what is left behind the first chunk and whole")(lambda n, m, o: (n - o) % (m - o))
wrong("last_chunk_length", "the overlap, which is in the last chunk too,")(lambda n, m, o: (n - o) % (m - o) or m - o)
wrong("last_chunk_length", "a full chunk where nothing is left is right,")(lambda n, m, o: (n - o) % (m - o) or m)
wrong("last_chunk_length", "the overlap plays no part here. It makes each")(lambda n, m, o: n - m * (n // m))
wrong("last_chunk_length", "the steps are taken off from the beginning,")(lambda n, m, o: n % (m - o) if n > m else n)
wrong("last_chunk_length", "the overlap comes on top, but the steps begin")(
    lambda n, m, o: n % (m - o) + o if n > m else n
)
wrong("last_chunk_length", "what is left over is taken as if nothing")(lambda n, m, o: n % m if n > m else n)
wrong("last_chunk_length", "where the document comes out even, the last")(lambda n, m, o: (n - m) % (m - o) + o)
wrong("last_chunk_length", "a step is taken off for every chunk, though")(
    lambda n, m, o: n - math.ceil(n / (m - o)) * (m - o)
)


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

wrong("never_scored", "the first id of *every* chunk")(lambda ns, m, o: sum(count_chunks(n, m, o) for n in ns))
wrong("never_scored", "the cuts are still counted")(lambda ns, m, o: sum(-(-n // m) for n in ns))
wrong("never_scored", "so it is with an overlap")(lambda ns, m, o: len(ns))
wrong("never_scored", "so it is with an overlap")(lambda ns, m, o: sum(1 for n in ns if n))
wrong("never_scored", "has no id that could be left")(
    lambda ns, m, o: len(ns) if o else sum(math.ceil(n / m) for n in ns)
)
wrong("never_scored", "very first id of each document is forgotten")(
    lambda ns, m, o: 0 if o else sum(max(0, math.ceil(n / m) - 1) for n in ns)
)
wrong("never_scored", "the very first id of each document is still")(
    lambda ns, m, o: 0 if o else sum(math.ceil(n / m) for n in ns)
)
wrong("never_scored", "not one of them all")(lambda ns, m, o: 1 if o else sum(math.ceil(n / m) for n in ns))
wrong("never_scored", "the documents are joined")(lambda ns, m, o: min(1, sum(ns)) if o else math.ceil(sum(ns) / m))
wrong("never_scored", "the documents are joined")(lambda ns, m, o: count_chunks(sum(ns), m, o))
wrong("never_scored", "these are the ids that are read again")(
    lambda ns, m, o: sum((count_chunks(n, m, o) - 1) * o for n in ns if n)
)
wrong("never_scored", "does not make it worse")(lambda ns, m, o: sum(count_chunks(n, m, o) * (o or 1) for n in ns))
wrong("never_scored", "rounded down")(lambda ns, m, o: sum(1 if o and n else n // m for n in ns))
wrong("never_scored", "one too many where")(lambda ns, m, o: sum(n > 0 if o else n // m + 1 for n in ns))
wrong("never_scored", "of a single id")(lambda ns, m, o: sum(1 if o else math.ceil(n / m) for n in ns if n > 1))
wrong("never_scored", "the cases are exchanged")(
    lambda ns, m, o: sum(count_chunks(n, m, o) if o else min(n, 1) for n in ns)
)
wrong("never_scored", "exactly 1")(lambda ns, m, o: sum(n > 0 if o == 1 else count_chunks(n, m, o) for n in ns))
wrong("never_scored", "several values")(lambda ns, m, o: [min(n, 1) if o else math.ceil(n / m) for n in ns])
wrong("never_scored", "a float where")(lambda ns, m, o: float(sum(min(n, 1) if o else math.ceil(n / m) for n in ns)))
wrong("never_scored", None)(lambda ns, m, o: round(sum(min(n, 1) if o else n / m for n in ns)))


wrong("never_scored", "a chunk is counted at every step up to the")(lambda ns, m, o: sum(-(-n // (m - o)) for n in ns))
wrong("never_scored", "a document of 0 ids has no id that could be")(
    lambda ns, m, o: sum(1 if o else count_chunks(n, m, o) for n in ns)
)
wrong("never_scored", "a cut leaves no id unscored if there is an")(
    lambda ns, m, o: sum(max(0, count_chunks(n, m, o) - 1) for n in ns)
)
wrong("never_scored", "a cut leaves no id unscored if there is an")(
    lambda ns, m, o: sum(count_chunks(n, m, o) - 1 for n in ns)
)
wrong("never_scored", "rounded down: what is left behind the full")(
    lambda ns, m, o: len(ns) if o else sum(n // m for n in ns)
)
wrong("never_scored", "rounded down: what is left behind the full")(lambda ns, m, o: sum(n // m for n in ns))
wrong("never_scored", "the size of the overlap")(lambda ns, m, o: sum(max(0, count_chunks(n, m, o) - o) for n in ns))
wrong("never_scored", "with an overlap, the very first id of each")(
    lambda ns, m, o: sum(count_chunks(n, m) for n in ns) if o == 0 else 0
)
wrong("never_scored", None, natural=False)(lambda ns, m, o: sum(n > m for n in ns))
wrong("never_scored", "counted twice: the first id of a document is")(
    lambda ns, m, o: len(ns) + sum(count_chunks(n, m) for n in ns) if not o else len(ns)
)
wrong("never_scored", "ids less first ids of chunks: nearly what")(
    lambda ns, m, o: sum(n - count_chunks(n, m, o) for n in ns)
)
wrong("never_scored", None, natural=False)(lambda ns, m, o: sum(count_chunks(n, m, o) + 1 for n in ns))


@wrong("never_scored", "you want the others")
def counts_the_scored(lengths, max_length, overlap):
    total = 0
    for length in lengths:
        scored = set()
        for start in chunk_starts(length, max_length, overlap):
            scored.update(range(start + 1, min(length, start + max_length)))
        total += len(scored)
    return total


@wrong("never_scored", "a single document")
def returns_in_the_loop(lengths, max_length, overlap):
    for length in lengths:
        return min(length, 1) if overlap else count_chunks(length, max_length)
    return 0


@wrong("never_scored", "the first id of *every* chunk")
def adds_up_not_scored_in_each(lengths, max_length, overlap):
    unscored = 0
    for length in lengths:
        for chunk in chunk_ids(list(range(length)), max_length, overlap) if length else []:
            unscored += len(chunk) - len(chunk[1:])
    return unscored


wrong("never_scored", "without an overlap, the number of chunks is")(lambda ns, m, o: sum(ns) // m)
wrong("never_scored", "with an overlap, cuts are counted as if there")(lambda ns, m, o: math.ceil(sum(ns) / m))
wrong("never_scored", None)(lambda ns, m, o: len(ns) if o >= 1 else len(ns) + 1)
wrong("never_scored", "a chunk is counted at every step up to the")(
    lambda ns, m, o: sum(math.ceil(n / m) for n in ns) if o == 0 else sum(math.ceil(n / (m - o)) for n in ns)
)
wrong("never_scored", None)(lambda ns, m, o: max(0, sum(count_chunks(n, m, o) - o for n in ns)))
wrong("never_scored", "an overlap of 1 is treated as none.")(
    lambda ns, m, o: sum(1 for n in ns if n > 0) if o > 1 else sum(math.ceil(n / m) for n in ns)
)
wrong("never_scored", None)(lambda ns, m, o: sum(count_chunks(n, m, o) for n in ns if n > m))
wrong("never_scored", "with an overlap, a document of 0 ids is")(
    lambda ns, m, o: sum(1 + (n - 1) // m if n else 1 for n in ns) if not o else len(ns)
)
wrong("never_scored", "a document of 0 ids has no id that could be")(
    lambda ns, m, o: sum(1 for n in ns) if o else sum(n // m + (n % m > 0) for n in ns)
)


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

wrong("cut_from_the_end", "cut from the beginning")(lambda ids, m: [ids[i : i + m] for i in range(0, len(ids), m)])
wrong("cut_from_the_end", "an empty chunk comes first")(
    lambda ids, m: [ids[: len(ids) % m]] + [ids[i : i + m] for i in range(len(ids) % m, len(ids), m)]
)
wrong("cut_from_the_end", "the short chunk is missing")(
    lambda ids, m: [ids[i : i + m] for i in range(len(ids) % m, len(ids), m)]
)
wrong("cut_from_the_end", "an ordinary cut has begun")(
    lambda ids, m: [ids[i : i + m] for i in range(0, len(ids) - m + 1, m)]
)
wrong("cut_from_the_end", "the last chunk stands first")(
    lambda ids, m: [ids[max(0, end - m) : end] for end in range(len(ids), 0, -m)]
)
wrong("cut_from_the_end", "turn the list round")(lambda ids, m: [ids[end - m : end] for end in range(len(ids), 0, -m)])
wrong("cut_from_the_end", "starts below 0")(lambda ids, m: [ids[end - m : end] for end in range(len(ids), 0, -m)][::-1])
wrong("cut_from_the_end", "the text stands backwards")(
    lambda ids, m: [ids[::-1][i : i + m] for i in range(0, len(ids), m)]
)
wrong("cut_from_the_end", "the ids of each chunk stand backwards")(
    lambda ids, m: [ids[::-1][i : i + m] for i in range(0, len(ids), m)][::-1]
)
wrong("cut_from_the_end", "ends at `-0`")(
    lambda ids, m: [ids[-(k + 1) * m : -k * m] for k in reversed(range(math.ceil(len(ids) / m)))]
)
wrong("cut_from_the_end", "ends at `-0`")(
    lambda ids, m: [ids[-(k + 1) * m : -k * m] for k in range(math.ceil(len(ids) / m))]
)
wrong("cut_from_the_end", "in another order")(
    lambda ids, m: (lambda cut: cut[-1:] + cut[:-1])([ids[i : i + m] for i in range(0, len(ids), m)])
)
wrong("cut_from_the_end", "filled up with ids of the second")(
    lambda ids, m: [ids[max(0, e - m) :][:m] for e in range(len(ids), 0, -m)][::-1]
)
wrong("cut_from_the_end", "`//` how often it fits")(
    lambda ids, m: [
        chunk for chunk in [ids[: len(ids) // m], *(ids[i : i + m] for i in range(len(ids) // m, len(ids), m))] if chunk
    ]
)
wrong("cut_from_the_end", "nearly equal length")(
    lambda ids, m: [part.tolist() for part in np.array_split(ids, math.ceil(len(ids) / m))] if ids else []
)
wrong("cut_from_the_end", "only the last `max_length`")(lambda ids, m: [ids[-m:]] if ids else [])
wrong("cut_from_the_end", "not an empty one")(
    lambda ids, m: [ids[max(0, e - m) : e] for e in range(len(ids), 0, -m)][::-1] or [[]]
)
wrong("cut_from_the_end", None)(lambda ids, m: ids[len(ids) % m :])


wrong("cut_from_the_end", "the short chunk is missing: it comes first.")(
    lambda ids, m: [ids[-m * (k + 1) : len(ids) - m * k] for k in range(len(ids) // m)][::-1]
)
wrong("cut_from_the_end", "where nothing is left over, an empty chunk")(
    lambda ids, m: [ids[: len(ids) % m]] + [ids[i : i + m] for i in range(len(ids) % m, len(ids), m)] if ids else []
)
wrong("cut_from_the_end", "the full chunks begin at 0 again, and so the")(
    lambda ids, m: [ids[: len(ids) % m]] + [ids[i : i + m] for i in range(0, len(ids) - len(ids) % m, m)]
)
wrong("cut_from_the_end", "the full chunks begin at 0 again: they start")(
    lambda ids, m: [ids[: len(ids) % m]] + [ids[i : i + m] for i in range(0, len(ids), m)]
)
wrong("cut_from_the_end", "that is how many ids are *missing* for a full")(
    lambda ids, m: [ids[: m - len(ids) % m]] + [ids[i : i + m] for i in range(m - len(ids) % m, len(ids), m)]
)
wrong("cut_from_the_end", "an ordinary cut, and its list turned round:")(
    lambda ids, m: [ids[i : i + m] for i in range(0, len(ids), m)][::-1]
)
wrong("cut_from_the_end", "one id too late")(
    lambda ids, m: [ids[: len(ids) % m], *(ids[i : i + m] for i in range(len(ids) % m + 1, len(ids), m))]
)
wrong("cut_from_the_end", "only the last chunk is cut off, and put")(lambda ids, m: [ids[-m:], ids[:-m]])
wrong("cut_from_the_end", "only the last chunk is cut off: what stands")(lambda ids, m: [ids[:-m], ids[-m:]])
wrong("cut_from_the_end", "a document without ids has no chunks, not an")(
    lambda ids, m: [ids[: len(ids) % m or m], *(ids[i : i + m] for i in range(len(ids) % m or m, len(ids), m))]
)
wrong("cut_from_the_end", None, natural=False)(
    lambda ids, m: [ids[i : i + m] for i in range(-(-len(ids) // m * m) - len(ids), len(ids), m)]
)
wrong("cut_from_the_end", "where nothing is left over, an empty chunk")(
    lambda ids, m: [ids[max(0, i) : i + m] for i in range(len(ids) % m - m, len(ids), m)]
)


@wrong("cut_from_the_end", "the last full chunk is missing")
def stops_before_the_last(ids, max_length):
    start = len(ids) % max_length
    chunks = [ids[:start]] if start else []
    while start + max_length < len(ids):
        chunks.append(ids[start : start + max_length])
        start += max_length
    return chunks


@wrong("cut_from_the_end", "changes its arguments")
def takes_them_away(ids, max_length):
    chunks = []
    while ids:
        chunks.insert(0, ids[-max_length:])
        del ids[-max_length:]
    return chunks


@wrong("cut_from_the_end", "begin at 0 again")
def full_ones_begin_again(ids, max_length):
    short = len(ids) % max_length
    chunks = [ids[:short]] if short != 0 else []
    for start in range(0, len(ids), max_length):
        chunks.append(ids[start : start + max_length])
    return chunks


wrong("cut_from_the_end", "an ordinary cut, and its list turned round:")(
    lambda ids, m: [ids[i : i + m] for i in range(0, len(ids), m)][::-1]
)
wrong("cut_from_the_end", "the ids behind the short chunk are not cut.")(
    lambda ids, m: [ids[: len(ids) % m], ids[len(ids) % m :]]
)
wrong("cut_from_the_end", "the ids behind the short chunk are not cut.")(
    lambda ids, m: [ids[: len(ids) % m]] * (len(ids) % m > 0) + [ids[len(ids) % m :]]
)
wrong("cut_from_the_end", "where nothing is left over, an empty chunk")(
    lambda ids, m: [ids[max(0, i - m) : i] for i in range(len(ids), -1, -m)][::-1]
)
wrong("cut_from_the_end", None)(lambda ids, m: [ids[i - m : i] for i in range(len(ids) % m, len(ids) + 1, m)])
wrong("cut_from_the_end", None)(lambda ids, m: [ids[max(0, i - m) : i] for i in range(len(ids) % m, len(ids), m)])
wrong("cut_from_the_end", "the short chunk is missing: it comes first.")(
    lambda ids, m: [ids[i : i + m] for i in range(len(ids) - m, -1, -m)][::-1]
)
wrong("cut_from_the_end", "the list of chunks is turned round.")(
    lambda ids, m: [ids[i : i + m] for i in range(len(ids) - m, -1, -m)]
)
wrong("cut_from_the_end", "cut from the end, but in the order in which")(
    lambda ids, m: [ids[max(i, 0) : i + m] for i in range(len(ids) - m, -m, -m)]
)
wrong("cut_from_the_end", "the first entry is missing in every one of")(
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


# reader_of: row, world_size, num_workers

wrong("reader_of", "0 workers: nothing can be divided")(lambda r, w, k: (r % w, r // w % k))
wrong("reader_of", "The workers share the rows of")(lambda r, w, k: (r % w, r % k))
wrong("reader_of", "The workers share the rows of")(lambda r, w, k: (r % w, r % k if k else 0))
wrong("reader_of", "first to the workers")(lambda r, w, k: (r // k % w, r % k))
wrong("reader_of", "first to the workers")(lambda r, w, k: (r // max(k, 1) % w, r % max(k, 1)))
wrong("reader_of", "first to the workers")(lambda r, w, k: divmod(r % (w * max(k, 1)), max(k, 1)))
wrong("reader_of", "worker and rank are exchanged")(lambda r, w, k: (r // w % k if k else 0, r % w))
wrong("reader_of", "worker and rank are exchanged")(lambda r, w, k: (r // w % k, r % w))
wrong("reader_of", "take turns")(lambda r, w, k: (r % w, r // w))
wrong("reader_of", "`divmod(row, world_size)`")(lambda r, w, k: divmod(r, w))
wrong("reader_of", "the rank is a remainder")(lambda r, w, k: divmod(r, k or 1))
wrong("reader_of", "of the whole round")(lambda r, w, k: (r % w, r // (w * k) % k if k else 0))
wrong("reader_of", "divided by the number of workers")(lambda r, w, k: (r % w, r // k % k if k else 0))
wrong("reader_of", "divided by the number of workers")(lambda r, w, k: (r % w, r // k % k))
wrong("reader_of", "count from 0: nothing")(lambda r, w, k: (r % w + 1, r // w % max(1, k) + 1))
wrong("reader_of", "for its worker 0")(lambda r, w, k: (r % w, (r // w + 1) % k if k else 0))
wrong("reader_of", "the worker is always 0")(lambda r, w, k: (r % w, 0))
wrong("reader_of", "numbered within its rank")(lambda r, w, k: (r % w, r % (w * k) if k else 0))
wrong("reader_of", "numbered within its rank")(lambda r, w, k: (r % w, r % (w * max(1, k))))
wrong("reader_of", "numbered within its rank")(lambda r, w, k: (r % w, r % (w * k)))
wrong("reader_of", "one value where several")(lambda r, w, k: r % (w * max(1, k)))
wrong("reader_of", "a float where an integer is wanted")(lambda r, w, k: (r % w, r / w % max(1, k)))
wrong("reader_of", "no `return`")(lambda r, w, k: (r % w, r // w % k) if k else None)


wrong("reader_of", "neighbors in the data set go to different")(lambda r, w, k: (r // max(1, k), r % max(1, k)))
wrong("reader_of", "taken off the row, the rank leaves a multiple")(lambda r, w, k: (r % w, (r - r % w) % max(1, k)))
wrong("reader_of", None, natural=False)(lambda r, w, k: (r % w, (r - w) % max(1, k)))
wrong("reader_of", "worker and rank are exchanged: the rank comes")(lambda r, w, k: (r // w % max(1, k), r % w))
wrong("reader_of", "the worker is right, but not the rank: it is")(lambda r, w, k: (r // w, r // w % max(1, k)))
wrong("reader_of", "`//` where `%` is wanted for the worker: the")(lambda r, w, k: (r % w, r // w // max(1, k)))
wrong("reader_of", "where there are workers, `//` where `%` is")(lambda r, w, k: (r % w, r // w // k if k else 0))
wrong("reader_of", "where there are workers, the second number is")(lambda r, w, k: (r % w, r // w if k else 0))
wrong("reader_of", "dealt out first to the workers, then to the")(lambda r, w, k: (r // (k or 1) % w, r % (k or 1)))
wrong("reader_of", "the worker goes by the number of the rank, so")(lambda r, w, k: (r % w, r % w % k if k else 0))
wrong("reader_of", "one worker too many: the process that has")(lambda r, w, k: (r % w, r // w % (k + 1)))
wrong("reader_of", "a single worker, or none, is number 0.")(lambda r, w, k: (r % w, r // w % k if k > 1 else 1))
wrong("reader_of", "where there are 0 workers, the rank reads as")(lambda r, w, k: (r % w, r // w % k if k else None))
wrong("reader_of", "where there are 0 workers, the rank reads as")(lambda r, w, k: (r % w, r // w % k if k else -1))


@wrong("reader_of", "first to the workers")
def counts_the_readers_of_a_rank_first(row, world_size, num_workers):
    turn = 0
    while True:
        for rank in range(world_size):
            for worker in range(max(1, num_workers)):
                if turn == row:
                    return rank, worker
                turn += 1


wrong("reader_of", "workers are counted from 1.")(lambda r, w, k: (r % w, r % (w * max(k, 1)) // w + 1))
wrong("reader_of", "the worker is the remainder by the number of")(lambda r, w, k: (r // w % w, r % w))
wrong("reader_of", "where there are no workers, the worker is not")(
    lambda r, w, k: (r % w, r // w % k) if k != 0 else (r % w, r // w)
)
wrong("reader_of", "where there are workers, `//` where `%` is")(lambda r, w, k: (r % w, r // (w * k) if k else 0))
wrong("reader_of", "the worker is that of the next row.")(lambda r, w, k: (r % w, (r + 1) // w % max(k, 1)))
wrong("reader_of", "the rank is that of the next row.")(lambda r, w, k: ((r + 1) % w, r // w % max(1, k)))
wrong("reader_of", "the second number is which of its rank's rows")(lambda r, w, k: (r % w, (r - r % w) // w))
wrong("reader_of", None)(lambda r, w, k: (r // w % max(1, k), r // (w * max(1, k))))
wrong("reader_of", "worker and rank are exchanged: the rank comes")(lambda r, w, k: divmod(r % (w * max(1, k)), w))
wrong("reader_of", "dealt out first to the workers, then to the")(
    lambda r, w, k: divmod(r % (w * max(1, k)), max(1, k))[::-1]
)
wrong("reader_of", "one value where several are wanted.")(lambda r, w, k: r % w)


right("reader_of")(lambda r, w, k: (r % w, r // w % k if k else 0))
right("reader_of")(lambda r, w, k: divmod(r % (w * (k or 1)), w)[::-1])
right("reader_of")(lambda r, w, k: [r - r // w * w, int(np.floor_divide(r, w)) % max(1, k)])


@right("reader_of")
def deals_cards(row, world_size, num_workers):
    turn = 0
    while True:
        for worker in range(max(1, num_workers)):
            for rank in range(world_size):
                if turn == row:
                    return rank, worker
                turn += 1


refused("reader_of", "a float where an integer is wanted")(lambda r, w, k: (float(r % w), float(r // w % max(1, k))))
refused("reader_of", "a `dict` where none is wanted")(lambda r, w, k: {"rank": r % w, "worker": r // w % max(1, k)})

# next_item: counts, delivered


@wrong("next_item", "goes on behind its last chunk")
def not_more_than(counts, delivered):
    for i in range(len(counts)):
        if delivered <= counts[i]:
            return i, delivered
        delivered -= counts[i]
    return len(counts), 0


@wrong("next_item", "goes on behind its last chunk")
def while_more(counts, delivered):
    i = 0
    while delivered > counts[i]:
        delivered -= counts[i]
        i += 1
    return i, delivered


@wrong("next_item", "goes on behind its last chunk")
def searches_on_the_left(counts, delivered):
    ends = np.cumsum(counts)
    document = int(np.searchsorted(ends, delivered, side="left"))
    return document, delivered - (int(ends[document - 1]) if document else 0)


@wrong("next_item", "without an error")
def over_the_last(counts, delivered):
    document = 0
    while delivered >= counts[document]:
        delivered = delivered - counts[document]
        document = document + 1
    return (document, delivered)


@wrong("next_item", "a pair is wanted too")
def nothing_at_the_end(counts, delivered):
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered
        delivered -= count


@wrong("next_item", "not the last one once more")
def last_one_at_the_end(counts, delivered):
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered
        delivered -= count
    return len(counts) - 1, 0


@wrong("next_item", "behind the last chunk of the last one")
def stays_in_the_last(counts, delivered):
    document = 0
    while document < len(counts) - 1 and delivered >= counts[document]:
        delivered -= counts[document]
        document += 1
    return document, delivered


@wrong("next_item", "not at its beginning")
def from_the_beginning_at_the_end(counts, delivered):
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered
        delivered -= count
    return 0, 0


@wrong("next_item", "are not taken off")
def forgets_to_take_off(counts, delivered):
    passed = 0
    for document, count in enumerate(counts):
        passed += count
        if delivered < passed:
            return document, delivered
    return len(counts), delivered


@wrong("next_item", "without taking off those")
def takes_nothing_off_and_compares(counts, delivered):
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered
    return len(counts), 0


@wrong("next_item", "that *remain*")
def what_remains(counts, delivered):
    passed = 0
    for document, count in enumerate(counts):
        passed += count
        if delivered < passed:
            return document, passed - delivered
    return len(counts), 0


@wrong("next_item", "the document comes first")
def chunk_in_front(counts, delivered):
    for document, count in enumerate(counts):
        if delivered < count:
            return delivered, document
        delivered -= count
    return 0, len(counts)


@wrong("next_item", "keep their number")
def numbers_without_empty_ones(counts, delivered):
    number = 0
    for count in counts:
        if count == 0:
            continue
        if delivered < count:
            return number, delivered
        delivered -= count
        number += 1
    return number, 0


@wrong("next_item", "stops at a document without chunks")
def until_nothing_is_left(counts, delivered):
    for document, count in enumerate(counts):
        if delivered == 0 or delivered < count:
            return document, delivered
        delivered -= count
    return len(counts), 0


@wrong("next_item", "only one document is passed over")
def an_if_for_a_while(counts, delivered):
    document = 0
    if counts and delivered >= counts[document]:
        delivered -= counts[document]
        document += 1
    return document, delivered


@wrong("next_item", "the item that came last")
def the_last_one(counts, delivered):
    delivered -= 1
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered
        delivered -= count
    return len(counts), 0


@wrong("next_item", "the item that came last")
def the_last_in_a_list(counts, delivered):
    items = [(document, chunk) for document, count in enumerate(counts) for chunk in range(count)]
    items.append((len(counts), 0))
    return items[max(0, delivered - 1)]


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


@wrong("next_item", "the chunk is forgotten")
def only_the_document(counts, delivered):
    passed = 0
    for document, count in enumerate(counts):
        passed += count
        if delivered < passed:
            return document, 0
    return len(counts), 0


@wrong("next_item", "numbered from 0")
def from_one(counts, delivered):
    for document, count in enumerate(counts, start=1):
        if delivered < count:
            return document, delivered
        delivered -= count
    return len(counts) + 1, 0


@wrong("next_item", "one item too far: after `delivered` items,")
def one_behind(counts, delivered):
    delivered += 1
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered
        delivered -= count
    return len(counts), 0


@wrong("next_item", None, natural=False)
def rest_at_the_end(counts, delivered):
    document = 0
    while document < len(counts) and delivered > 0:
        delivered -= counts[document]
        document += 1
    return document, max(0, delivered)


@wrong("next_item", "a document is left only when its chunk number")
def empty_lists_fail(counts, delivered):
    document = chunk = 0
    for _ in range(delivered):
        chunk += 1
        if chunk == counts[document]:
            document, chunk = document + 1, 0
    return document, chunk


@wrong("next_item", "a document without chunks takes an item here,")
def steps_and_moves_on(counts, delivered):
    document = chunk = 0
    for _ in range(delivered):
        chunk += 1
        if chunk >= counts[document]:
            document, chunk = document + 1, 0
    return document, chunk


@wrong("next_item", "one chunk too early: this one was delivered")
def minus_one(counts, delivered):
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered - 1
        delivered -= count
    return len(counts), 0


@wrong("next_item", "cannot access local variable 'document' where")
def end_is_number_of_chunks(counts, delivered):
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered
        delivered -= count
    return document, count


@wrong("next_item", "at the end of all the document is")
def minus_one_at_the_end(counts, delivered):
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered
        delivered -= count
    return -1, 0


@wrong("next_item", "the chunks that *remain* of the document are")
def only_within(counts, delivered):
    for document, count in enumerate(counts):
        if delivered - count < 0:
            return document, count - delivered
        delivered -= count
    return len(counts), 0


wrong("next_item", "`delivered` is divided by the number of")(
    lambda counts, d: (d // max(1, len(counts)), d % max(1, len(counts)))
)
wrong("next_item", "as long as the first one")(
    lambda counts, d: divmod(d, counts[0]) if any(counts[:1]) else (len(counts), 0)
)
wrong("next_item", "one value where several")(lambda counts, d: sum(end <= d for end in accumulate(counts)))
wrong("next_item", "the number of *documents*")(lambda counts, d: (d, 0))


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

# labels_of: input_ids, lengths

wrong("labels_of", "goes by the id")(lambda rows, ns: [[i if i else -100 for i in row] for row in rows])
wrong("labels_of", "goes by the id")(lambda rows, ns: np.where(np.array(rows) == 0, -100, np.array(rows)))
wrong("labels_of", "the labels are shifted")(
    lambda rows, ns: [row[1:n] + [-100] * (len(row) - n + 1) for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "and one shorter")(
    lambda rows, ns: [row[1:n] + [-100] * (len(row) - n) for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "and padding is left in them")(lambda rows, ns: [[*row[1:], -100] for row in rows])
wrong("labels_of", "it would be scored")(lambda rows, ns: [list(row) for row in rows])
wrong("labels_of", "the wrong way round")(
    lambda rows, ns: [[-100 if i < n else t for i, t in enumerate(row)] for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "too early")(
    lambda rows, ns: [[t if i < n - 1 else -100 for i, t in enumerate(row)] for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "too late")(
    lambda rows, ns: [[t if i <= n else -100 for i, t in enumerate(row)] for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "too late")(
    lambda rows, ns: [[-100 if i > n else t for i, t in enumerate(row)] for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "the padding is cut off")(lambda rows, ns: [row[:n] for row, n in zip(rows, ns, strict=True)])
wrong("labels_of", "the padding is still there")(
    lambda rows, ns: [row + [-100] * (max(map(len, rows)) - n) for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "attention mask")(lambda rows, ns: (np.arange(len(rows[0])) < np.array(ns)[:, None]).astype(int))
wrong("labels_of", "-1 is no label")(
    lambda rows, ns: [row[:n] + [-1] * (len(row) - n) for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "100 is an id")(
    lambda rows, ns: [row[:n] + [100] * (len(row) - n) for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "looked for in front")(
    lambda rows, ns: [
        [t if i >= len(row) - n else -100 for i, t in enumerate(row)] for row, n in zip(rows, ns, strict=True)
    ]
)
wrong("labels_of", "the first label of each row")(
    lambda rows, ns: [[-100] + row[1:n] + [-100] * (len(row) - n) for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "not that of the first")(
    lambda rows, ns: [row[: ns[0]] + [-100] * (len(row) - ns[0]) for row in rows]
)
wrong("labels_of", "it would be scored")(
    lambda rows, ns: [row[:n] + [0] * (len(row) - n) for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "text, a `str`", natural=False)(lambda rows, ns: str(rows))


wrong("labels_of", "as many places are ignored, at the end, as")(
    lambda rows, ns: [row[:-n] + [-100] * n for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "as many -100 as there are *real* ids: there")(
    lambda rows, ns: [row[:n] + [-100] * n for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "the rows come out one shorter: one -100 is")(
    lambda rows, ns: [row[:n] + [-100] * (len(row) - n - 1) for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "one -100 behind each row, whether it has")(
    lambda rows, ns: [[*row[:n], -100] for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "`None` is no label: a tensor holds numbers.")(
    lambda rows, ns: [row[:n] + [None] * (len(row) - n) for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "one -100 for all the padding of a row: it")(
    lambda rows, ns: [[*row[:n], -100] if n < len(row) else row for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "the padding is moved to the front: labels")(
    lambda rows, ns: [[-100] * (len(row) - n) + row[:n] for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "all rows in one list: make a list for each")(
    lambda rows, ns: [t if i < n else -100 for row, n in zip(rows, ns, strict=True) for i, t in enumerate(row)]
)
wrong("labels_of", "-100 is written as text: leave out the")(
    lambda rows, ns: [row[:n] + ["-100"] * (len(row) - n) for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "-100 goes by the id. But 0 ends a text as")(
    lambda rows, ns: [[t if i < n and t else -100 for i, t in enumerate(row)] for row, n in zip(rows, ns, strict=True)]
)
wrong("labels_of", "the labels are shifted, with an end put")(
    lambda rows, ns: [row[1:n] + [0] + [-100] * (len(row) - n) for row, n in zip(rows, ns, strict=True)]
)


@wrong("labels_of", "only the first row")
def returns_in_the_first_round(input_ids, lengths):
    for row, length in zip(input_ids, lengths, strict=True):
        return row[:length] + [-100] * (len(row) - length)


@wrong("labels_of", "changes its arguments")
def writes_into_the_rows(input_ids, lengths):
    for row, length in zip(input_ids, lengths, strict=True):
        for i in range(length, len(row)):
            row[i] = -100
    return input_ids


@wrong("labels_of", "behind the first 0")
def ends_at_the_first_zero(input_ids, lengths):
    labels = []
    for row in input_ids:
        ended, new = False, []
        for token in row:
            new.append(-100 if ended else token)
            ended = ended or token == 0
        labels.append(new)
    return labels


@wrong("labels_of", "from the first 0 on")
def breaks_at_the_first_zero(input_ids, lengths):
    labels = [[-100] * len(row) for row in input_ids]
    for i, row in enumerate(input_ids):
        for j, token in enumerate(row):
            if token == 0:
                break
            labels[i][j] = token
    return labels


@wrong("labels_of", "all zeros at the end")
def strips_zeros(input_ids, lengths):
    labels = []
    for row in input_ids:
        kept = list(row)
        while kept and kept[-1] == 0:
            kept.pop()
        labels.append(kept + [-100] * (len(row) - len(kept)))
    return labels


@wrong("labels_of", "for all")
def the_shortest(input_ids, lengths):
    labels = np.array(input_ids)
    labels[:, min(lengths) :] = -100
    return labels


wrong("labels_of", "ends of text are ignored, and padding kept.")(
    lambda R, N: [[t if t else -100 for t in r[:n]] + r[n:] for r, n in zip(R, N, strict=True)]
)
wrong("labels_of", None)(lambda R, N: [r[:n] + [-100] * (max(N) - n) for r, n in zip(R, N, strict=True)])
wrong("labels_of", "-100 is appended, and the padding is still")(
    lambda R, N: [r + [-100] * (len(r) - n) for r, n in zip(R, N, strict=True)]
)
wrong("labels_of", "0 stands on text.")(
    lambda R, N: [[0 if i < n else -100 for i, t in enumerate(r)] for r, n in zip(R, N, strict=True)]
)
wrong("labels_of", "1 stands on text.")(
    lambda R, N: [[1 if i < n else -100 for i, t in enumerate(r)] for r, n in zip(R, N, strict=True)]
)
wrong("labels_of", "a float where an integer is wanted")(
    lambda R, N: [[t if i < n else float("nan") for i, t in enumerate(r)] for r, n in zip(R, N, strict=True)]
)
wrong("labels_of", "the labels are shifted. `transformers` shifts")(
    lambda R, N: [r[1:n] + [-100] * (len(r) - n) + [-100] for r, n in zip(R, N, strict=True)]
)
wrong("labels_of", "the labels are shifted to the right.")(
    lambda R, N: [[-100] + r[: n - 1] + [-100] * (len(r) - n) for r, n in zip(R, N, strict=True)]
)
wrong("labels_of", "padding is left in the labels: it would be")(
    lambda R, N: [[-t if i >= n else t for i, t in enumerate(r)] for r, n in zip(R, N, strict=True)]
)


@right("labels_of")
def with_a_mask(input_ids, lengths):
    rows = np.array(input_ids)
    return np.where(np.arange(rows.shape[1]) < np.array(lengths)[:, None], rows, -100)


@right("labels_of")
def with_torch(input_ids, lengths):
    labels = torch.tensor(input_ids)
    for row, length in zip(labels, lengths, strict=True):
        row[length:] = -100
    return labels


right("labels_of")(
    lambda rows, ns: [[t if i < n else -100 for i, t in enumerate(row)] for row, n in zip(rows, ns, strict=True)]
)
refused("labels_of", "a float where an integer is wanted")(lambda rows, ns: with_a_mask(rows, ns).astype(float))

# count_padding: lengths, batch_size


def batches_of(lengths, batch_size):
    return [lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size)]


wrong("count_padding", "the longest row of all")(lambda ns, b: max(ns, default=0) * len(ns) - sum(ns))
wrong("count_padding", "the longest row of all")(lambda ns, b: sum(max(ns) - n for n in ns))
wrong("count_padding", "there is no longest one")(lambda ns, b: len(ns) * max(ns) - sum(ns))
wrong("count_padding", "as if it were full")(lambda ns, b: sum(max(x) * b - sum(x) for x in batches_of(ns, b)))
wrong("count_padding", "left out where it is not full")(
    lambda ns, b: sum(max(x) * b - sum(x) for x in batches_of(ns, b) if len(x) == b)
)
wrong("count_padding", "even where it is full")(
    lambda ns, b: sum(max(ns[i : i + b]) * b - sum(ns[i : i + b]) for i in range(0, len(ns) - b, b))
)
wrong("count_padding", "are sorted first")(
    lambda ns, b: sum(max(x) * len(x) - sum(x) for x in batches_of(sorted(ns), b))
)
wrong("count_padding", "are sorted first")(
    lambda ns, b: sum(x[-1] * len(x) - sum(x) for x in batches_of(sorted(ns), b))
)
wrong("count_padding", "text and padding")(lambda ns, b: sum(max(x) * len(x) for x in batches_of(ns, b)))
wrong("count_padding", "counted once for")(lambda ns, b: sum(max(x) - sum(x) for x in batches_of(ns, b)))
wrong("count_padding", "of the shortest row")(lambda ns, b: sum(max(x) - min(x) for x in batches_of(ns, b)))
wrong("count_padding", "cut to the shortest")(lambda ns, b: sum(n - min(x) for x in batches_of(ns, b) for n in x))
wrong("count_padding", "filled up to the shortest")(
    lambda ns, b: sum(min(x) * len(x) - sum(x) for x in batches_of(ns, b))
)
wrong("count_padding", "how many ids it is")(lambda ns, b: sum(1 for x in batches_of(ns, b) for n in x if n < max(x)))
wrong("count_padding", "taken for its longest")(lambda ns, b: sum(x[0] - n for x in batches_of(ns, b) for n in x))
wrong("count_padding", "taken for its longest")(lambda ns, b: sum(x[-1] - n for x in batches_of(ns, b) for n in x))
wrong("count_padding", "only the first batch")(lambda ns, b: max(ns[:b], default=0) * len(ns[:b]) - sum(ns[:b]))
wrong("count_padding", "like cards")(
    lambda ns, b: sum(
        max(x) * len(x) - sum(x) for x in [ns[i :: math.ceil(len(ns) / b)] for i in range(math.ceil(len(ns) / b))]
    )
)
wrong("count_padding", "the number of batches")(
    lambda ns, b: sum(max(x) * len(x) - sum(x) for x in [ns[i::b] for i in range(b)] if x)
)
wrong("count_padding", "starts at every row")(
    lambda ns, b: sum(max(ns[i : i + b]) - n for i in range(len(ns)) for n in ns[i : i + b])
)
wrong("count_padding", "the share of padding")(
    lambda ns, b: padding_share(ns, batches_of(range(len(ns)), b)) if ns else 0
)
wrong("count_padding", "several values")(lambda ns, b: [max(x) * len(x) - sum(x) for x in batches_of(ns, b)])
wrong("count_padding", "as if it were full")(lambda ns, b: sum(max(x) for x in batches_of(ns, b)) * b - sum(ns))


wrong("count_padding", "that is all that full batches would hold,")(
    lambda ns, b: sum(max(x) * b for x in batches_of(ns, b))
)
wrong("count_padding", "the sign is the other way round.")(
    lambda ns, b: -sum(max(x) * len(x) - sum(x) for x in batches_of(ns, b))
)
wrong("count_padding", "the longest row of each batch, less all its")(
    lambda ns, b: sum(max(x) for x in batches_of(ns, b)) - sum(ns)
)
wrong("count_padding", "that is the sum of the longest rows. How many")(
    lambda ns, b: sum(max(x) for x in batches_of(ns, b))
)
wrong("count_padding", "each row is compared with those behind it: it")(
    lambda ns, b: sum(max(ns[i : i + b]) - ns[i] for i in range(len(ns)))
)
wrong("count_padding", "one id more for each row: the longest gets no")(
    lambda ns, b: sum((max(x) + 1) * len(x) - sum(x) for x in batches_of(ns, b))
)
wrong("count_padding", "that is the padding of the worst batch, and")(
    lambda ns, b: max(max(x) * len(x) - sum(x) for x in batches_of(ns, b))
)
wrong("count_padding", "the rows are sorted first, the longest in")(
    lambda ns, b: sum(max(x) * len(x) - sum(x) for x in batches_of(sorted(ns, reverse=True), b))
)
wrong("count_padding", "`batch_size` is taken for the length of the")(lambda ns, b: len(ns) * b - sum(ns))
wrong("count_padding", "batch i starts at `i * batch_size`, not at i;")(
    lambda ns, b: sum(max(ns[i : i + b]) * b - sum(ns[i : i + b]) for i in range(len(ns) // b))
)
wrong("count_padding", "the last batch is left out where it is not")(
    lambda ns, b: sum(max(ns[i * b : i * b + b]) * b - sum(ns[i * b : i * b + b]) for i in range(len(ns) // b))
)
wrong("count_padding", "the first row of a batch is compared with its")(
    lambda ns, b: sum(abs(x[0] - x[-1]) for x in batches_of(ns, b))
)
wrong("count_padding", "neighbors are compared: each row is filled up")(
    lambda ns, b: sum(abs(p - q) for x in batches_of(ns, b) for p, q in pairwise(x))
)


@wrong("count_padding", "only the last batch")
def begins_again_each_time(lengths, batch_size):
    padding = 0
    for batch in batches_of(lengths, batch_size):
        padding = sum(max(batch) - length for length in batch)
    return padding


@wrong("count_padding", "only the first batch")
def returns_too_early(lengths, batch_size):
    padding = 0
    for batch in batches_of(lengths, batch_size):
        for length in batch:
            padding += max(batch) - length
        return padding
    return padding


wrong("count_padding", None)(lambda L, b: len(L) // b * max(L, default=0) * b - sum(L))
wrong("count_padding", "all batches are filled up to the longest row")(
    lambda L, b: sum(max(L) - x for x in L) if L else 0
)
wrong("count_padding", "`batch_size` is taken for the length of the")(lambda L, b: sum(b - x for x in L))
wrong("count_padding", "an index is beyond the end: of n entries the")(
    lambda L, b: sum(max(L[i : i + b]) - L[j] for i in range(0, len(L), b) for j in range(i, i + b))
)
wrong("count_padding", "the last batch is left out where it is not")(
    lambda L, b: sum(max(L[i : i + b]) - L[j] for i in range(0, len(L) - b + 1, b) for j in range(i, i + b))
)
wrong("count_padding", "the last batch is counted as if it were full.")(
    lambda L, b: sum(max(L[i : i + b]) * b - sum(L[i : i + b]) for i in range(0, len(L), b))
)
wrong("count_padding", "the last batch is counted as if it were full.")(
    lambda L, b: sum(max(L[i : i + b]) * b for i in range(0, len(L), b)) - sum(L)
)
wrong("count_padding", "the rows that a last batch has not are")(lambda L, b: -len(L) % b)
wrong("count_padding", None)(lambda L, b: len(L) % b)
wrong("count_padding", "that difference is counted for each row of a")(
    lambda L, b: sum(max(L[i : i + b]) - min(L[i : i + b]) for i in range(0, len(L), b)) * b
)


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
