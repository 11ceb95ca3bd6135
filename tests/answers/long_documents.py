"""Answers to the exercises of lesson 8: right ones, and wrong ones with words of what they are told."""

import math
from itertools import accumulate

from course_lib.exercises.long_documents import count_padding, last_chunk_length, never_scored, next_item, worker_of
from course_lib.long_documents import chunk_ids, chunk_starts, count_chunks
from course_lib.teaching.checker import FAILED, PASSED


def walks_to_the_end(num_tokens, max_length, overlap):
    start = 0
    while start + max_length < num_tokens:
        start += max_length - overlap
    return num_tokens - start


def one_at_every_step(num_tokens, max_length, overlap):
    length = 0
    for start in range(0, num_tokens, max_length - overlap):
        length = min(max_length, num_tokens - start)
    return length


def crosses_out_targets(lengths, max_length, overlap):
    never = 0
    for length in lengths:
        targets = set()
        for start in chunk_starts(length, max_length, overlap):
            targets |= set(range(start + 1, min(start + max_length, length)))
        never += length - len(targets)
    return never


def deals_cards(row, world_size, num_workers):
    decks = [list(range(rank, row + 1, world_size)) for rank in range(world_size)]
    rank = next(rank for rank, deck in enumerate(decks) if row in deck)
    return rank, decks[rank].index(row) % (num_workers or 1)


def lists_all_items(counts, delivered):
    items = [(document, chunk) for document, count in enumerate(counts) for chunk in range(count)]
    return items[delivered] if delivered < len(items) else (len(counts), 0)


def by_running_sums(counts, delivered):
    ends = list(accumulate(counts))
    document = sum(end <= delivered for end in ends)
    return document, delivered - max([end for end in ends if end <= delivered], default=0)


def stops_at_the_last_document(counts, delivered):
    document = 0
    while delivered >= counts[document] and document < len(counts) - 1:
        delivered -= counts[document]
        document += 1
    return document, delivered


def takes_chunks_off_the_counts(counts, delivered):
    for document in range(len(counts)):
        before = counts[document]
        while counts[document] and delivered:
            counts[document] -= 1
            delivered -= 1
        if counts[document]:
            return document, before - counts[document]
    return len(counts), 0


def row_by_row(lengths, batch_size):
    padding = 0
    for place, length in enumerate(lengths):
        first = place // batch_size * batch_size
        padding += max(lengths[first : first + batch_size]) - length
    return padding


def never_resets_the_longest(lengths, batch_size):
    padding = longest = 0
    for start in range(0, len(lengths), batch_size):
        batch = lengths[start : start + batch_size]
        longest = max(longest, *batch)
        padding += sum(longest - length for length in batch)
    return padding


def batches(lengths, size):
    return [lengths[start : start + size] for start in range(0, len(lengths), size)]


def only_what_is_new(num_tokens, max_length, overlap):
    if num_tokens <= max_length:
        return num_tokens
    return num_tokens - max_length - (count_chunks(num_tokens, max_length, overlap) - 2) * (max_length - overlap)


def measures_an_empty_document(num_tokens, max_length, overlap):
    step = max_length - overlap
    last_start = (count_chunks(num_tokens, max_length, overlap) - 1) * step
    return num_tokens - last_start


def remainder_of_the_steps(num_tokens, max_length, overlap):
    if num_tokens <= max_length:
        return num_tokens
    return (num_tokens - max_length) % (max_length - overlap) + overlap


def only_the_cuts(lengths, max_length, overlap):
    if overlap:
        return 0
    cuts = 0
    for length in lengths:
        if length > 0:
            cuts += count_chunks(length, max_length) - 1
    return cuts


def chunks_rounded_down(lengths, max_length, overlap):
    if overlap:
        return len([length for length in lengths if length])
    return sum(length // max_length for length in lengths)


def rows_to_workers_first(row, world_size, num_workers):
    workers = max(num_workers, 1)
    worker = row % workers
    rank = row // workers % world_size
    return rank, worker


def one_number_for_all_workers(row, world_size, num_workers):
    total = world_size * max(1, num_workers)
    return row % world_size, row % total


def divided_twice(row, world_size, num_workers):
    rank, turn = row % world_size, row // world_size
    return rank, turn // num_workers if num_workers else turn


def stays_at_the_end(counts, delivered):
    for document, count in enumerate(counts):
        if delivered <= count:
            return document, delivered
        delivered -= count
    return len(counts), 0


def without_subtracting(counts, delivered):
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered
    return len(counts), 0


def begins_again(counts, delivered):
    if delivered >= sum(counts):
        return 0, 0
    document = 0
    while delivered >= counts[document]:
        delivered -= counts[document]
        document += 1
    return document, delivered


def all_that_batches_hold(lengths, batch_size):
    total = 0
    for first in range(0, len(lengths), batch_size):
        batch = lengths[first : first + batch_size]
        total += max(batch) * len(batch)
    return total


def longest_less_shortest(lengths, batch_size):
    total = 0
    for first in range(0, len(lengths), batch_size):
        batch = lengths[first : first + batch_size]
        total += max(batch) - min(batch)
    return total


def padding_of_sorted_rows(lengths, batch_size):
    lengths = sorted(lengths)
    padding = 0
    for first in range(0, len(lengths), batch_size):
        batch = lengths[first : first + batch_size]
        padding += sum(batch[-1] - length for length in batch)
    return padding


def nothing_in_chunks_of_one(lengths, max_length, overlap):
    if max_length == 1:
        return 0
    return sum(length > 0 if overlap else count_chunks(length, max_length) for length in lengths)


ANSWERS = [
    (last_chunk_length, walks_to_the_end, PASSED),
    (last_chunk_length, lambda n, m, o: len(chunk_ids(list(range(n)), m, o)[-1]) if n else 0, PASSED),
    (last_chunk_length, lambda n, m, o: n - max(0, math.ceil((n - m) / (m - o))) * (m - o), PASSED),
    (last_chunk_length, lambda n, m, o: n - count_chunks(n, m, o) * (m - o), "only two steps"),
    (last_chunk_length, lambda n, m, o: n % m if n % m else m, "start only `max_length - overlap`"),
    (last_chunk_length, one_at_every_step, "at every step"),
    (last_chunk_length, lambda n, m, o: len(chunk_ids(list(range(n)), m, o)[-1]), "IndexError"),
    (last_chunk_length, lambda n, m, o: chunk_starts(n, m, o)[-1] if n else 0, FAILED),
    (never_scored, crosses_out_targets, PASSED),
    (never_scored, lambda ns, m, o: sum(math.ceil(n / m) if o == 0 else min(n, 1) for n in ns), PASSED),
    (never_scored, lambda ns, m, o: sum(len(chunk_starts(n, m, o)) for n in ns), "predicts it there"),
    (never_scored, lambda ns, m, o: len([n for n in ns if n]), "only the first id of each document"),
    (never_scored, lambda ns, m, o: len(ns) if o else sum(-(-n // m) for n in ns), "an empty document"),
    (never_scored, lambda ns, m, o: crosses_out_targets([sum(ns)], m, o), "join the documents"),
    (never_scored, lambda ns, m, o: 0 if m == 1 else crosses_out_targets(ns, m, o), FAILED),
    (never_scored, lambda ns, m, o: sum(ns) - crosses_out_targets(ns, m, o), FAILED),
    (worker_of, deals_cards, PASSED),
    (worker_of, lambda row, w, k: (row % w, 0 if k == 0 else (row - row % w) // w % k), PASSED),
    (worker_of, lambda row, w, k: divmod(row % (w * max(1, k)), w)[::-1], PASSED),
    (worker_of, lambda row, w, k: (row % w, (row // w) % k), "nobody takes turns"),
    (worker_of, lambda row, w, k: (row % w, row % k if k else 0), "in the whole data set"),
    (worker_of, lambda row, w, k: (row % w, int(row / w)), "take turns at these"),
    (worker_of, lambda row, w, k: (row // w % max(k, 1), row % w), "swapped"),
    (worker_of, lambda row, w, k: (row // w, row % max(k, 1)), FAILED),
    (next_item, lists_all_items, PASSED),
    (next_item, by_running_sums, PASSED),
    (next_item, lambda c, d: (by_running_sums(c, d)[0], 0), "repeat chunks"),
    (next_item, lambda c, d: lists_all_items([n for n in c if n > 0], d), "keep its number"),
    (next_item, lambda c, d: lists_all_items(c, max(0, d - 1)), "the item that came last"),
    (next_item, lambda c, d: (d, 0) if d < len(c) else (len(c), 0), FAILED),
    (next_item, lambda c, d: lists_all_items(c, d)[::-1], "swapped"),
    (next_item, takes_chunks_off_the_counts, "changes its arguments"),
    (next_item, stops_at_the_last_document, "IndexError"),
    (count_padding, row_by_row, PASSED),
    (count_padding, lambda ns, b: sum(max(batch) - n for batch in batches(ns, b) for n in batch), PASSED),
    (count_padding, lambda ns, b: sum(max(batch) * b - sum(batch) for batch in batches(ns, b)), "as if it were full"),
    (count_padding, lambda ns, b: sum(max(ns) - n for n in ns), "longest row of all"),
    (count_padding, lambda ns, b: row_by_row(ns[: len(ns) // b * b], b), "if it isn't full"),
    (count_padding, lambda ns, b: [row_by_row(batch, b) for batch in batches(ns, b)], "several values"),
    (count_padding, never_resets_the_longest, FAILED),
    (last_chunk_length, only_what_is_new, "only what's new"),
    (last_chunk_length, measures_an_empty_document, "a document of 0 ids"),
    (last_chunk_length, remainder_of_the_steps, "your remainder is 0"),
    (never_scored, only_the_cuts, "you count the cuts"),
    (never_scored, chunks_rounded_down, "number of chunks wrongly"),
    (worker_of, rows_to_workers_first, "to the workers first"),
    (worker_of, one_number_for_all_workers, "the workers of all ranks together"),
    (worker_of, divided_twice, "a second time with"),
    (next_item, stays_at_the_end, "you stay in it"),
    (next_item, without_subtracting, "you don't subtract the chunks"),
    (next_item, begins_again, "or the first one again"),
    (count_padding, all_that_batches_hold, "everything that the batches hold"),
    (count_padding, longest_less_shortest, "one row of each batch"),
    (count_padding, padding_of_sorted_rows, "you sort the rows first"),
    (never_scored, nothing_in_chunks_of_one, FAILED),
]
