"""Exercises of lesson 08: chunks, who reads which row, where a stream goes on, and
padding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from random import Random

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers

from course_lib.long_documents import count_chunks
from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false


def _documents(random: Random) -> Iterator[Case]:
    for max_length in (1, 2, 5, 8):
        for overlap in sorted({0, 1, max_length // 2, max_length - 1}):
            if overlap < max_length:
                yield from (
                    (num_tokens, max_length, overlap)
                    for num_tokens in (0, 1, 2, 4, 5, 6, 8, 9, 10, 13, 16, 17, 23)
                )


@exercise(
    cases=_documents,
    hints=(
        "The last chunk ends with the document. So where it starts tells how long it "
        "is.",
        "`count_chunks` says how many chunks there are. Each but the first starts one "
        "step, `max_length - overlap`, behind the one before: where does the last one "
        "start? And what if there is none?",
    ),
)
def last_chunk_length(num_tokens: int, max_length: int, overlap: int) -> int:
    """Return how many ids the last chunk of a document holds; 0 if there is none."""
    steps = max(0, count_chunks(num_tokens, max_length, overlap) - 1)
    return num_tokens - steps * (max_length - overlap)


@last_chunk_length.mistake(
    "the overlap plays no part here. It makes each step shorter than `max_length`, and "
    "a document that comes out even ends with a full chunk, not with one of 0 ids."
)
def remainder_of_the_length(num_tokens, max_length, overlap):
    return num_tokens % max_length


@last_chunk_length.mistake(
    "the overlap plays no part here: chunks start `max_length - overlap` apart."
)
def without_the_overlap(num_tokens, max_length, overlap):
    return (num_tokens - 1) % max_length + 1 if num_tokens else 0


@last_chunk_length.mistake(
    "the overlap plays no part here: chunks start `max_length - overlap` apart. And a "
    "document without ids has no chunk."
)
def without_the_overlap_or_none(num_tokens, max_length, overlap):
    return num_tokens % max_length or max_length


@last_chunk_length.mistake(
    "that is what is left behind whole steps. The last chunk begins with `overlap` ids "
    "of the one before, and is never empty."
)
def remainder_of_the_step(num_tokens, max_length, overlap):
    return num_tokens % (max_length - overlap)


@last_chunk_length.mistake(
    "so ends a loop that starts a chunk at every step up to the end of the document. "
    "The last of those can lie wholly inside the one before, and is no chunk."
)
def chunk_inside_the_last(num_tokens, max_length, overlap):
    return (num_tokens - 1) % (max_length - overlap) + 1 if num_tokens else 0


@last_chunk_length.mistake(
    "so ends a loop that starts a chunk at every step up to the end of the document: "
    "the last can lie wholly inside the one before. And a document without ids has "
    "none."
)
def chunk_inside_the_last_or_none(num_tokens, max_length, overlap):
    return num_tokens % (max_length - overlap) or max_length - overlap


@last_chunk_length.mistake(
    "these are the ids that the last chunk alone holds: its first `overlap` ids, which "
    "the chunk before holds too, belong to it as well."
)
def only_the_new(num_tokens, max_length, overlap):
    if num_tokens <= max_length:
        return num_tokens
    return last_chunk_length.reference(num_tokens, max_length, overlap) - overlap


@last_chunk_length.mistake(
    "where the document comes out even, nothing is left, and the last chunk is a full "
    "one: not one that holds the overlap alone."
)
def overlap_alone(num_tokens, max_length, overlap):
    if num_tokens <= max_length:
        return num_tokens
    return overlap + (num_tokens - max_length) % (max_length - overlap)


@last_chunk_length.mistake(
    "so long is the *first* chunk. The last one ends with the document, and can be "
    "shorter."
)
def first_chunk(num_tokens, max_length, overlap):
    return min(num_tokens, max_length)


@last_chunk_length.mistake(
    "full chunks only. The last one ends with the document, and can be shorter."
)
def always_full(num_tokens, max_length, overlap):
    return max_length if num_tokens else 0


@last_chunk_length.mistake(
    "the last chunk starts one step before: with three chunks, two steps lie between "
    "the first and the last."
)
def one_step_too_far(num_tokens, max_length, overlap):
    count = count_chunks(num_tokens, max_length, overlap)
    return num_tokens - count * (max_length - overlap)


@last_chunk_length.mistake(
    "the last chunk starts one step before: with three chunks, two steps lie between "
    "the first and the last. So no length comes out negative either."
)
def one_step_too_far_above_zero(num_tokens, max_length, overlap):
    return max(0, one_step_too_far(num_tokens, max_length, overlap))


@last_chunk_length.mistake(
    "chunks are counted right, but start `max_length` apart here: the step is "
    "`max_length - overlap`."
)
def steps_of_the_length(num_tokens, max_length, overlap):
    steps = max(0, count_chunks(num_tokens, max_length, overlap) - 1)
    return num_tokens - steps * max_length


@last_chunk_length.mistake(
    "chunks are counted as if they did not overlap: `count_chunks` takes the overlap "
    "too."
)
def count_without_overlap(num_tokens, max_length, overlap):
    steps = max(0, count_chunks(num_tokens, max_length) - 1)
    return num_tokens - steps * (max_length - overlap)


@last_chunk_length.mistake(
    "longer than `max_length`: rounded down, the steps do not reach the end. One more "
    "chunk is needed for what is left."
)
def rounded_down(num_tokens, max_length, overlap):
    step = max_length - overlap
    return num_tokens - max(0, num_tokens - max_length) // step * step


@last_chunk_length.mistake(
    "the overlap is taken for the step: chunks start `max_length - overlap` apart."
)
def overlap_for_the_step(num_tokens, max_length, overlap):
    steps = max(0, count_chunks(num_tokens, max_length, overlap) - 1)
    return num_tokens - steps * overlap


@last_chunk_length.mistake(
    "a document without ids has no chunk: 0. (One step before the first chunk lies "
    "nothing.)"
)
def step_before_the_first(num_tokens, max_length, overlap):
    steps = count_chunks(num_tokens, max_length, overlap) - 1
    return num_tokens - steps * (max_length - overlap)


@last_chunk_length.mistake(
    "a document that fits into one chunk is left out of the formula: its last chunk is "
    "its only one, as long as the document."
)
def short_ones_by_formula(num_tokens, max_length, overlap):
    return overlap + (num_tokens - max_length - 1) % (max_length - overlap) + 1


@last_chunk_length.mistake(
    "a document that fits into one chunk is as long as that chunk: it is not filled "
    "up to `max_length`."
)
def short_ones_filled(num_tokens, max_length, overlap):
    if num_tokens <= max_length:
        return max_length if num_tokens else 0
    return last_chunk_length.reference(num_tokens, max_length, overlap)


@last_chunk_length.mistake(
    "where the document comes out even, the last chunk is a full one: not one that "
    "holds the overlap alone. And a document that fits into one chunk has no overlap."
)
def overlap_alone_for_all(num_tokens, max_length, overlap):
    return (num_tokens - overlap) % (max_length - overlap) + overlap


@last_chunk_length.mistake(
    "where the document comes out even, the last chunk is a full one: not one that "
    "holds the overlap alone. And a document that fits into one chunk has no overlap, "
    "even if it is not empty."
)
def overlap_alone_for_all_but_none(num_tokens, max_length, overlap):
    if not num_tokens:
        return 0
    return (num_tokens - overlap) % (max_length - overlap) + overlap


@last_chunk_length.mistake(
    "what is left behind the first chunk and whole steps. The last chunk holds the "
    "overlap before that, too; and it is a full one where nothing is left."
)
def left_behind_the_first(num_tokens, max_length, overlap):
    return (num_tokens - max_length) % (max_length - overlap)


@last_chunk_length.mistake(
    "what is left behind the first chunk and whole steps, in a document longer than "
    "one chunk. The last chunk holds the overlap before that, too; and it is a full "
    "one where nothing is left."
)
def left_behind_the_first_of_several(num_tokens, max_length, overlap):
    if num_tokens <= max_length:
        return num_tokens
    return (num_tokens - max_length) % (max_length - overlap)


@last_chunk_length.mistake(
    "a full chunk where nothing is left is right, but what is left lies behind the "
    "overlap, which the last chunk holds too."
)
def left_behind_or_full(num_tokens, max_length, overlap):
    return (num_tokens - max_length) % (max_length - overlap) or max_length


@last_chunk_length.mistake(
    "a full chunk where nothing is left is right, but what is left lies behind the "
    "overlap, which the last of several chunks holds too."
)
def left_behind_or_full_of_several(num_tokens, max_length, overlap):
    if num_tokens <= max_length:
        return num_tokens
    return left_behind_or_full(num_tokens, max_length, overlap)


@last_chunk_length.mistake(
    "a document of 0 ids has no chunk, and so no last one: its answer is 0, without an "
    "error."
)
def last_of_none(num_tokens, max_length, overlap):
    if not num_tokens:
        raise IndexError
    return last_chunk_length.reference(num_tokens, max_length, overlap)


@last_chunk_length.mistake(
    "the overlap does not come on top of what `max_length` leaves over: it makes the "
    "steps shorter, so something else is left over."
)
def overlap_on_top(num_tokens, max_length, overlap):
    return num_tokens % max_length + overlap


@last_chunk_length.mistake(
    "in a document longer than one chunk, the overlap does not come on top of what "
    "`max_length` leaves over: it makes the steps shorter."
)
def overlap_on_top_of_several(num_tokens, max_length, overlap):
    if num_tokens <= max_length:
        return num_tokens
    return num_tokens % max_length + overlap


@last_chunk_length.mistake(
    "the steps begin behind the first chunk: what is left over is that of "
    "`num_tokens - max_length`, not of `num_tokens`."
)
def steps_from_the_beginning(num_tokens, max_length, overlap):
    return num_tokens % (max_length - overlap) + overlap


@last_chunk_length.mistake("that is the *number* of chunks.")
def number_of_chunks(num_tokens, max_length, overlap):
    return count_chunks(num_tokens, max_length, overlap)


@last_chunk_length.mistake("that is where the last chunk *starts*.")
def start_of_the_last(num_tokens, max_length, overlap):
    steps = max(0, count_chunks(num_tokens, max_length, overlap) - 1)
    return steps * (max_length - overlap)


@last_chunk_length.mistake(
    "one too few. From its start to the end of the document, the id at the start "
    "counts too."
)
def one_too_few(num_tokens, max_length, overlap):
    return max(0, last_chunk_length.reference(num_tokens, max_length, overlap) - 1)


# How a document of several chunks may be answered: with its length N, the length L of
# chunks, the overlap o and the step s.
LAST_OF_SEVERAL = {
    "what is left over is taken as if nothing overlapped": lambda N, L, o, s: N % L,
    "chunks start `max_length` apart, as if nothing overlapped": lambda N, L, o, s: (
        N % L or L
    ),
    "the steps are taken off from the beginning, and the overlap is forgotten": (
        lambda N, L, o, s: N % s
    ),
    "the last chunk counted can lie wholly inside the one before": (
        lambda N, L, o, s: N % s or s
    ),
    "the steps are taken off from the beginning": (lambda N, L, o, s: N % s or L),
    "only what is left behind the overlap is counted, and a full chunk as 0": (
        lambda N, L, o, s: (N - L) % s
    ),
    "the overlap, which is in the last chunk too, is not counted": (
        lambda N, L, o, s: (N - L) % s or s
    ),
    "the overlap is not counted, unless the last chunk is full": (
        lambda N, L, o, s: (N - L) % s or L
    ),
    "where the document comes out even, the overlap alone is left": (
        lambda N, L, o, s: o + (N - L) % s
    ),
    "the overlap comes on top, but the steps begin at 0, not behind the first chunk": (
        lambda N, L, o, s: o + N % s
    ),
    "the overlap comes on top of what chunks without overlap leave over": (
        lambda N, L, o, s: N % L + o
    ),
    "the last chunk is taken to be full": lambda N, L, o, s: L,
    "the last chunk is taken to be as long as a step": lambda N, L, o, s: s,
    "a step is taken off for every chunk, though the first starts at 0": (
        lambda N, L, o, s: N - -(-N // s) * s
    ),
    "steps are counted by dividing the whole document, rounded down": (
        lambda N, L, o, s: N - (N // s - 1) * s
    ),
}
ONLY_CHUNK = {
    "a document that fits into one chunk is filled up": lambda N, L, o, s: L,
    "a document of 0 ids gets a chunk": lambda N, L, o, s: N or L,
    "a document that fits into one chunk is cut to a step": (
        lambda N, L, o, s: min(N, s)
    ),
}


def by_formula(of_several, num_tokens, max_length, overlap):
    return of_several(num_tokens, max_length, overlap, max_length - overlap)


def several_otherwise(of_several, num_tokens, max_length, overlap):
    if num_tokens <= max_length:
        return num_tokens
    return by_formula(of_several, num_tokens, max_length, overlap)


def full_one_otherwise(of_several, num_tokens, max_length, overlap):
    if num_tokens < max_length:
        return num_tokens
    return by_formula(of_several, num_tokens, max_length, overlap)


def none_apart(of_several, num_tokens, max_length, overlap):
    if not num_tokens:
        return 0
    return by_formula(of_several, num_tokens, max_length, overlap)


def both_otherwise(of_several, of_one, num_tokens, max_length, overlap):
    way = of_one if num_tokens <= max_length else of_several
    return by_formula(way, num_tokens, max_length, overlap)


last_chunk_length.combine(several_otherwise, LAST_OF_SEVERAL)
last_chunk_length.combine(full_one_otherwise, LAST_OF_SEVERAL)
last_chunk_length.combine(none_apart, LAST_OF_SEVERAL)
last_chunk_length.combine(by_formula, LAST_OF_SEVERAL)
last_chunk_length.combine(by_formula, ONLY_CHUNK)
last_chunk_length.combine(both_otherwise, LAST_OF_SEVERAL, ONLY_CHUNK)


def _collections(random: Random) -> Iterator[Case]:
    yield from (([], 4, 0), ([], 4, 1), ([0], 3, 0), ([0], 3, 2), ([1], 4, 0))
    yield from (([1], 4, 2), ([4], 4, 0), ([5], 4, 0), ([5], 4, 1), ([8], 4, 0))
    for max_length in (2, 4, 7):
        for overlap in sorted({0, 1, max_length // 2, max_length - 1}):
            yield [0, 1, max_length, max_length + 1], max_length, overlap
            yield [2 * max_length + 1, 0, 3 * max_length], max_length, overlap
            yield [random.randint(1, 30) for _ in range(4)], max_length, overlap
            yield [30, 1, 1, 0, random.randint(9, 30)], max_length, overlap


@exercise(
    cases=_collections,
    hints=(
        "Write down the ids 0 to 9 in chunks of 4, once without overlap and once with "
        "an overlap of 1, and cross out each id that has an id of its chunk before it.",
        "The first id of a chunk is the only one that is no target there. Does another "
        "chunk hold it, and what stands before it there? Only whether there is an "
        "overlap matters, not how large it is.",
    ),
)
def never_scored(lengths: list[int], max_length: int, overlap: int) -> int:
    """Count the ids of a collection that are a target in none of its chunks."""
    if overlap:
        return sum(length > 0 for length in lengths)
    return sum(count_chunks(length, max_length) for length in lengths)


@never_scored.mistake(
    "the first id of *every* chunk is counted. With an overlap, the chunk before holds "
    "it too, and scores it there: only a document's very first id is left."
)
def every_first(lengths, max_length, overlap):
    return sum(count_chunks(length, max_length, overlap) for length in lengths)


@never_scored.mistake(
    "an overlap is taken off, but the cuts are still counted: with an overlap of 1 or "
    "more, none but the first id of a document is never a target."
)
def overlap_plays_no_part(lengths, max_length, overlap):
    return sum(count_chunks(length, max_length) for length in lengths)


@never_scored.mistake(
    "one id a document: so it is with an overlap. Without one, the first id of each "
    "further chunk has nothing before it either."
)
def always_one_each(lengths, max_length, overlap):
    return sum(length > 0 for length in lengths)


@never_scored.mistake(
    "one id a document: so it is with an overlap. Without one, the first id of each "
    "further chunk has nothing before it either. And a document of 0 ids has none."
)
def always_one_each_and_empty(lengths, max_length, overlap):
    return len(lengths)


@never_scored.mistake("a document of 0 ids has no id that could be left unscored.")
def empty_ones_counted(lengths, max_length, overlap):
    if overlap:
        return len(lengths)
    return never_scored.reference(lengths, max_length, overlap)


@never_scored.mistake(
    "the very first id of each document is forgotten: nothing stands before it, "
    "whatever the overlap."
)
def only_cuts(lengths, max_length, overlap):
    if overlap:
        return 0
    return sum(max(0, count_chunks(length, max_length) - 1) for length in lengths)


@never_scored.mistake(
    "with an overlap, the very first id of each document is still never a target: "
    "nothing stands before it."
)
def nothing_with_overlap(lengths, max_length, overlap):
    return 0 if overlap else sum(count_chunks(n, max_length) for n in lengths)


@never_scored.mistake(
    "with an overlap, one id of *each* document is left, not one of them all."
)
def one_for_all(lengths, max_length, overlap):
    if overlap:
        return int(sum(lengths) > 0)
    return sum(count_chunks(length, max_length) for length in lengths)


@never_scored.mistake(
    "with an overlap, one id of *each* document is left, not one of them all; and of a "
    "collection without ids none."
)
def one_even_for_none(lengths, max_length, overlap):
    if overlap:
        return 1
    return sum(count_chunks(length, max_length) for length in lengths)


@never_scored.mistake(
    "the documents are joined before they are cut. Each is cut by itself, and each has "
    "a first id."
)
def joined(lengths, max_length, overlap):
    total = sum(lengths)
    return int(total > 0) if overlap else count_chunks(total, max_length)


@never_scored.mistake(
    "the documents are joined before they are cut, and the first id of every chunk is "
    "counted, though with an overlap the chunk before scores it."
)
def joined_with_every_first(lengths, max_length, overlap):
    return count_chunks(sum(lengths), max_length, overlap)


@never_scored.mistake(
    "these are the ids that are read again, which the overlap makes more: you want "
    "those that are never a target."
)
def read_again(lengths, max_length, overlap):
    counts = [count_chunks(length, max_length, overlap) for length in lengths]
    return sum(overlap * max(0, count - 1) for count in counts)


@never_scored.mistake(
    "an overlap does not make it worse: `overlap` ids of each chunk are read again, "
    "but none of them stays unscored."
)
def overlap_of_each(lengths, max_length, overlap):
    counts = [count_chunks(length, max_length, overlap) for length in lengths]
    return sum(counts) * max(1, overlap)


@never_scored.mistake("that is how many ids *are* a target: you want the others.")
def are_scored(lengths, max_length, overlap):
    return sum(lengths) - never_scored.reference(lengths, max_length, overlap)


@never_scored.mistake(
    "rounded down: what is left behind the full chunks is a chunk too, with a first id."
)
def full_chunks_only(lengths, max_length, overlap):
    if overlap:
        return sum(length > 0 for length in lengths)
    return sum(length // max_length for length in lengths)


@never_scored.mistake(
    "one too many where a document comes out even: then nothing is left for a further "
    "chunk."
)
def one_chunk_too_many(lengths, max_length, overlap):
    if overlap:
        return sum(length > 0 for length in lengths)
    return sum(length // max_length + 1 for length in lengths)


@never_scored.mistake(
    "a document of a single id counts too: its id is the first, and no target."
)
def single_ids_left_out(lengths, max_length, overlap):
    longer = [length for length in lengths if length > 1]
    return never_scored.reference(longer, max_length, overlap)


@never_scored.mistake(
    "the cases are exchanged: without an overlap the first ids of all chunks are left, "
    "with one only those of the documents."
)
def cases_exchanged(lengths, max_length, overlap):
    if overlap == 0:
        return sum(length > 0 for length in lengths)
    return sum(count_chunks(length, max_length, overlap) for length in lengths)


@never_scored.mistake(
    "only an overlap of exactly 1 is treated as one. Any larger one repeats that id as "
    "well."
)
def only_one_helps(lengths, max_length, overlap):
    if overlap == 1:
        return sum(length > 0 for length in lengths)
    return sum(count_chunks(length, max_length, overlap) for length in lengths)


@never_scored.mistake(
    "the count for a single document: `lengths` holds several, add them up."
)
def first_document_only(lengths, max_length, overlap):
    return never_scored.reference(lengths[:1], max_length, overlap)


@never_scored.mistake(
    "a chunk is counted at every step up to the end of the document, even inside the "
    "one before; and with an overlap, the first id of a later chunk is scored in the "
    "chunk before."
)
def every_first_at_every_step(lengths, max_length, overlap):
    return sum(-(-length // (max_length - overlap)) for length in lengths)


@never_scored.mistake(
    "a cut leaves no id unscored if there is an overlap; and the first id of a "
    "document is left, cut or not. Here it is the other way round."
)
def cuts_whatever_the_overlap(lengths, max_length, overlap):
    counts = [count_chunks(length, max_length, overlap) for length in lengths]
    return sum(max(0, count - 1) for count in counts)


@never_scored.mistake(
    "a cut leaves no id unscored if there is an overlap; and the first id of a "
    "document is left, cut or not. Here it is the other way round, and a document of 0 "
    "ids even counts for less than nothing."
)
def cuts_below_zero(lengths, max_length, overlap):
    return sum(count_chunks(length, max_length, overlap) - 1 for length in lengths)


@never_scored.mistake(
    "an overlap takes the ids at the cuts away, but without one the first id of the "
    "document is left besides those of the cuts."
)
def cuts_without_overlap(lengths, max_length, overlap):
    if overlap:
        return sum(length > 0 for length in lengths)
    return only_cuts(lengths, max_length, overlap)


@never_scored.mistake(
    "rounded down: what is left behind the full chunks is a chunk too. And a document "
    "of 0 ids has no first id."
)
def full_chunks_only_and_empty(lengths, max_length, overlap):
    if overlap:
        return len(lengths)
    return sum(length // max_length for length in lengths)


@never_scored.mistake(
    "rounded down: what is left behind the full chunks is a chunk too. And with an "
    "overlap only the first id of a document is left."
)
def full_chunks_whatever_the_overlap(lengths, max_length, overlap):
    return sum(length // max_length for length in lengths)


@never_scored.mistake(
    "counted twice: the first id of a document is the first of its first chunk."
)
def first_ids_twice(lengths, max_length, overlap):
    documents = sum(length > 0 for length in lengths)
    if overlap:
        return documents
    return documents + never_scored.reference(lengths, max_length, overlap)


@never_scored.mistake(
    "counted twice: the first id of a document is the first of its first chunk. And a "
    "document of 0 ids has none."
)
def first_ids_twice_and_empty(lengths, max_length, overlap):
    if overlap:
        return len(lengths)
    return len(lengths) + never_scored.reference(lengths, max_length, overlap)


@never_scored.mistake(
    "ids less first ids of chunks: nearly what *is* scored. You want the others."
)
def ids_less_chunks(lengths, max_length, overlap):
    return sum(n - count_chunks(n, max_length, overlap) for n in lengths)


@never_scored.mistake(
    "targets of all chunks together: those in an overlap are counted twice. And you "
    "want the ids that are a target nowhere."
)
def targets_of_all_chunks(lengths, max_length, overlap):
    counts = [count_chunks(length, max_length, overlap) for length in lengths]
    twice = sum(overlap * max(0, count - 1) for count in counts)
    return sum(lengths) + twice - sum(counts)


@never_scored.mistake(
    "less than nothing: added up over the chunks, targets in an overlap count twice. "
    "Count each id once."
)
def ids_less_targets_of_all(lengths, max_length, overlap):
    return sum(lengths) - targets_of_all_chunks(lengths, max_length, overlap)


# What may be counted in one document: N ids, chunks of L, the overlap o.
WITHOUT_OVERLAP = {
    "without an overlap, only cuts are counted, not the first id": (
        lambda N, L, o: max(0, -(-N // L) - 1)
    ),
    "without an overlap, the number of chunks is rounded down": lambda N, L, o: N // L,
    "without an overlap, a document that comes out even gets a chunk too many": (
        lambda N, L, o: N // L + 1
    ),
    "without an overlap, only the first id of a document is counted, no cut": (
        lambda N, L, o: int(N > 0)
    ),
    "without an overlap, the first id of a document is counted twice": (
        lambda N, L, o: 1 + -(-N // L)
    ),
    "without an overlap, nothing is counted": lambda N, L, o: 0,
    "without an overlap, a document of 0 ids is counted": (
        lambda N, L, o: max(1, -(-N // L))
    ),
    "without an overlap, documents that fit into one chunk are left out": (
        lambda N, L, o: -(-N // L) if N > L else 0
    ),
}
WITH_OVERLAP = {
    "with an overlap, a document of 0 ids is counted": lambda N, L, o: 1,
    "with an overlap, the very first id of a document is forgotten": lambda N, L, o: 0,
    "with an overlap, first ids are counted that the chunk before scores": (
        lambda N, L, o: count_chunks(N, L, o)
    ),
    "with an overlap, every step is counted, though cuts are scored": (
        lambda N, L, o: -(-N // (L - o))
    ),
    "with an overlap, cuts are counted as if there were none": (
        lambda N, L, o: -(-N // L)
    ),
    "with an overlap, all full chunks are counted": lambda N, L, o: N // L,
    "with an overlap, cuts are counted, and the first id is not": (
        lambda N, L, o: max(0, count_chunks(N, L, o) - 1)
    ),
    "an overlap of more than 1 is treated as none": (
        lambda N, L, o: int(N > 0) if o == 1 else -(-N // L)
    ),
    "an overlap of 1 is treated as none": (
        lambda N, L, o: int(N > 0) if o > 1 else -(-N // L)
    ),
    "the size of the overlap is taken off": (
        lambda N, L, o: max(0, count_chunks(N, L, o) - o)
    ),
    "with an overlap, documents that fit into one chunk are left out": (
        lambda N, L, o: int(N > L)
    ),
}


def _rightly_without(N: int, L: int, o: int) -> int:
    return -(-N // L)


def _rightly_with(N: int, L: int, o: int) -> int:
    return int(N > 0)


def unscored_otherwise(without, with_overlap, lengths, max_length, overlap):
    way = with_overlap if overlap else without
    return sum(way(length, max_length, overlap) for length in lengths)


def joined_otherwise(without, with_overlap, lengths, max_length, overlap):
    way = with_overlap if overlap else without
    return way(sum(lengths), max_length, overlap)


JOINED = "the documents are joined before they are cut"
never_scored.combine(
    lambda way, *rest: unscored_otherwise(way, _rightly_with, *rest), WITHOUT_OVERLAP
)
never_scored.combine(
    lambda way, *rest: unscored_otherwise(_rightly_without, way, *rest), WITH_OVERLAP
)
never_scored.combine(unscored_otherwise, WITHOUT_OVERLAP, WITH_OVERLAP)
never_scored.combine(
    lambda _, way, *rest: joined_otherwise(_rightly_without, way, *rest),
    {JOINED: None},
    WITH_OVERLAP,
)
never_scored.combine(
    lambda _, way, *rest: joined_otherwise(way, way, *rest),
    {JOINED: None},
    WITHOUT_OVERLAP | {"cuts are counted even with an overlap": _rightly_without},
)


def _to_cut(random: Random) -> Iterator[Case]:
    for max_length in (1, 2, 3, 5):
        for size in (0, 1, 2, 3, 4, 5, 7, 10, 11):
            yield [random.randrange(10, 90) for _ in range(size)], max_length
    yield [4, 4, 4, 4, 7], 2
    yield [1, 2, 3], 9


@exercise(
    cases=_to_cut,
    hints=(
        "All chunks but the first are full. So how long is the first, if there is a "
        "short one at all?",
        "What remains when the length is divided by `max_length` comes first, if it is "
        "not 0; from there on it is an ordinary cut.",
    ),
)
def cut_from_the_end(ids: list[int], max_length: int) -> list[list[int]]:
    """Cut a document without overlap so that only its *first* chunk may be short."""
    short = len(ids) % max_length
    full = range(short, len(ids), max_length)
    chunks = [ids[:short]] if short else []
    return chunks + [ids[start : start + max_length] for start in full]


@cut_from_the_end.mistake(
    "cut from the beginning: the last chunk is the short one. Here it is to be the "
    "first."
)
def cut_from_the_beginning(ids, max_length):
    return [ids[i : i + max_length] for i in range(0, len(ids), max_length)]


@cut_from_the_end.mistake(
    "the chunks of an ordinary cut, in another order: the ids no longer stand in the "
    "order of the text."
)
def short_one_put_first(ids, max_length):
    chunks = cut_from_the_beginning(ids, max_length)
    return chunks[-1:] + chunks[:-1]


@cut_from_the_end.mistake(
    "where nothing is left over, an empty chunk comes first: leave it out."
)
def empty_first(ids, max_length):
    short = len(ids) % max_length
    full = range(short, len(ids), max_length)
    return [ids[:short]] + [ids[i : i + max_length] for i in full]


@cut_from_the_end.mistake("a document without ids has no chunks, not an empty one.")
def empty_document(ids, max_length):
    return cut_from_the_end.reference(ids, max_length) or [[]]


@cut_from_the_end.mistake("the short chunk is missing: it comes first.")
def without_the_short_one(ids, max_length):
    short = len(ids) % max_length
    return [ids[i : i + max_length] for i in range(short, len(ids), max_length)]


@cut_from_the_end.mistake(
    "the first ids are missing, and an ordinary cut has begun behind them: the short "
    "chunk is a chunk too."
)
def from_the_beginning_without_the_rest(ids, max_length):
    whole = range(0, len(ids) - max_length + 1, max_length)
    return [ids[i : i + max_length] for i in whole]


@cut_from_the_end.mistake(
    "cut from the end, but in the order in which they were cut: the last chunk stands "
    "first. Turn the list round."
)
def last_chunk_first(ids, max_length):
    return cut_from_the_end.reference(ids, max_length)[::-1]


@cut_from_the_end.mistake(
    "the ids of each chunk stand backwards: turn them round again too."
)
def chunks_backwards(ids, max_length):
    return [chunk[::-1] for chunk in cut_from_the_end.reference(ids, max_length)]


@cut_from_the_end.mistake(
    "the text stands backwards: whoever cuts the reversed ids must turn round both, "
    "each chunk and the list of chunks."
)
def all_backwards(ids, max_length):
    return cut_from_the_beginning(ids[::-1], max_length)


@cut_from_the_end.mistake(
    "the last chunk is empty: where a slice ends at `-0`, that is 0, the beginning."
)
def minus_zero(ids, max_length):
    count = -(-len(ids) // max_length)
    return [
        ids[-(k + 1) * max_length : -k * max_length] for k in range(count - 1, -1, -1)
    ]


@cut_from_the_end.mistake(
    "the last chunk, which comes first here, is empty: where a slice ends at `-0`, "
    "that is 0, the beginning. And turn the list round."
)
def minus_zero_last_chunk_first(ids, max_length):
    return minus_zero(ids, max_length)[::-1]


@cut_from_the_end.mistake(
    "a slice that starts below 0 starts counting from the end: begin the first chunk "
    "at `max(0, ...)`."
)
def below_zero(ids, max_length):
    ends = range(len(ids), 0, -max_length)
    return [ids[end - max_length : end] for end in ends][::-1]


@cut_from_the_end.mistake(
    "a slice that starts below 0 starts counting from the end: begin the first chunk "
    "at `max(0, ...)`. And the last chunk stands first: turn the list round."
)
def below_zero_last_chunk_first(ids, max_length):
    return below_zero(ids, max_length)[::-1]


@cut_from_the_end.mistake(
    "the first chunk is filled up with ids of the second: chunks do not overlap here."
)
def overlapping_first(ids, max_length):
    chunks = cut_from_the_end.reference(ids, max_length)
    return [ids[:max_length], *chunks[1:]] if ids else []


@cut_from_the_end.mistake(
    "the first chunk is as long as there are full ones: `%` gives what is left over, "
    "`//` how often it fits."
)
def quotient_first(ids, max_length):
    short = len(ids) // max_length
    full = range(short, len(ids), max_length)
    return ([ids[:short]] if short else []) + [ids[i : i + max_length] for i in full]


@cut_from_the_end.mistake(
    "pieces of nearly equal length. All but the first are to be full."
)
def evenly(ids, max_length):
    count = -(-len(ids) // max_length)
    return [piece.tolist() for piece in np.array_split(ids, count)] if ids else []


@cut_from_the_end.mistake("only the last `max_length` ids are kept: keep all of them.")
def only_the_last(ids, max_length):
    return [ids[-max_length:]] if ids else []


@cut_from_the_end.mistake(
    "the short chunk takes the first ids, but the full ones begin at 0 again: they "
    "start behind it."
)
def full_ones_from_zero(ids, max_length):
    short = len(ids) % max_length
    return ([ids[:short]] if short else []) + cut_from_the_beginning(ids, max_length)


@cut_from_the_end.mistake(
    "the last full chunk is missing: `range` leaves out its end by itself."
)
def without_the_last_full_one(ids, max_length):
    short = len(ids) % max_length
    full = range(short, len(ids) - max_length, max_length)
    return ([ids[:short]] if short else []) + [ids[i : i + max_length] for i in full]


@cut_from_the_end.mistake(
    "where nothing is left over, an empty chunk comes first: leave it out, also in a "
    "document that is not empty itself."
)
def empty_first_if_any(ids, max_length):
    return empty_first(ids, max_length) if ids else []


@cut_from_the_end.mistake(
    "the short chunk takes the first ids, but the full ones begin at 0 again, and so "
    "the last ids are lost: they start behind the short one."
)
def full_ones_from_zero_to_the_rest(ids, max_length):
    short = len(ids) % max_length
    full = range(0, len(ids) - short, max_length)
    return ([ids[:short]] if short else []) + [ids[i : i + max_length] for i in full]


@cut_from_the_end.mistake(
    "the full chunks begin at 0 again, and so the last ids are lost: they start behind "
    "the short one. And where that is empty, leave it out."
)
def empty_first_full_ones_from_zero_to_the_rest(ids, max_length):
    short = len(ids) % max_length
    full = range(0, len(ids) - short, max_length)
    return [ids[:short]] + [ids[i : i + max_length] for i in full]


@cut_from_the_end.mistake(
    "the full chunks begin at 0 again: they start behind the short one. And where that "
    "is empty, leave it out."
)
def empty_first_full_ones_from_zero(ids, max_length):
    return [ids[: len(ids) % max_length], *cut_from_the_beginning(ids, max_length)]


@cut_from_the_end.mistake(
    "that is how many ids are *missing* for a full chunk: the first one holds those "
    "that are over, `len(ids) % max_length`."
)
def missing_ids_first(ids, max_length):
    short = max_length - len(ids) % max_length
    full = range(short, len(ids), max_length)
    return [ids[:short]] + [ids[i : i + max_length] for i in full]


@cut_from_the_end.mistake(
    "an ordinary cut, and its list turned round: the last chunk is still the short "
    "one, and now stands first. Where the cuts lie must change, not the order."
)
def ordinary_turned_round(ids, max_length):
    return cut_from_the_beginning(ids, max_length)[::-1]


@cut_from_the_end.mistake(
    "only the last chunk is cut off: what stands before it can be longer than a chunk."
)
def two_pieces(ids, max_length):
    return [ids[:-max_length], ids[-max_length:]]


@cut_from_the_end.mistake(
    "only the last chunk is cut off, and put first: cut what stands before it too."
)
def two_pieces_turned_round(ids, max_length):
    return [ids[-max_length:], ids[:-max_length]]


@cut_from_the_end.mistake("the chunks are joined again: a list of lists is wanted.")
def joined_again(ids, max_length):
    return ids


# The length of the first piece, and where the full ones start and stop.
FIRST_PIECES = {
    "an empty chunk comes first": lambda n, L: [(0, 0)],
    "the short chunk is left out": lambda n, L: [],
    "the first chunk is as long as there are full ones": lambda n, L: [(0, n // L)],
    "the first chunk holds as many ids as are missing for a full one": (
        lambda n, L: [(0, L - n % L)]
    ),
    "the first chunk is filled up with ids of the second": lambda n, L: (
        [(0, L)] if n else []
    ),
    "the first chunk is one id too long": lambda n, L: [(0, n % L + 1)],
}
FULL_PIECES = {
    "the full chunks begin at 0": lambda n, L: range(0, n, L),
    "the full chunks begin at 0, and the end is lost": (
        lambda n, L: range(0, n - L + 1, L)
    ),
    "the last full chunk is missing": lambda n, L: range(n % L, n - L, L),
    "the full chunks begin one id too late": (lambda n, L: range(n % L + 1, n, L)),
    "the first full chunk is missing": lambda n, L: range(n % L + L, n, L),
    "the full chunks begin behind as many ids as are missing for one": (
        lambda n, L: range(L - n % L, n, L)
    ),
    "the ids behind the short chunk are not cut": (
        lambda n, L: range(n % L, n % L + 1)
    ),
}


def _first_piece(n: int, L: int) -> list[tuple[int, int]]:
    return [(0, n % L)] if n % L else []


def _full_pieces(n: int, L: int) -> range:
    return range(n % L, n, L)


def pieces_otherwise(first, full, ids, max_length):
    n = len(ids)
    # Whoever does not cut the rest takes it whole.
    longest = n if full is FULL_PIECES[_UNCUT] else max_length
    return [ids[start:stop] for start, stop in first(n, max_length)] + [
        ids[start : start + longest] for start in full(n, max_length)
    ]


_UNCUT = "the ids behind the short chunk are not cut"


def _also_empty(n: int, L: int) -> list[tuple[int, int]]:
    return [(0, n % L)]


cut_from_the_end.combine(
    lambda first, *rest: pieces_otherwise(first, _full_pieces, *rest), FIRST_PIECES
)
cut_from_the_end.combine(
    lambda full, *rest: pieces_otherwise(_first_piece, full, *rest), FULL_PIECES
)
cut_from_the_end.combine(
    pieces_otherwise,
    FIRST_PIECES | {"an empty chunk comes first where nothing is over": _also_empty},
    FULL_PIECES,
)
cut_from_the_end.combine(
    lambda _, full, ids, L: pieces_otherwise(_first_piece, full, ids, L)[::-1],
    {"the list of chunks is turned round": None},
    FULL_PIECES | {"the short chunk comes last": _full_pieces},
)
cut_from_the_end.combine(
    lambda first, _, ids, L: pieces_otherwise(first, _full_pieces, ids, L)[::-1],
    FIRST_PIECES | {"an empty chunk comes first where nothing is over": _also_empty},
    {"the list of chunks is turned round": None},
)


def _readers(random: Random) -> Iterator[Case]:
    for world_size in (1, 2, 3):
        for num_workers in (0, 1, 2, 4):
            for row in (0, 1, 2, 3, 5, 6, 7, 11, 16, 24):
                yield row, world_size, num_workers


@exercise(
    cases=_readers,
    hints=(
        "With 2 ranks of 3 workers: rows 0, 2, 4, 6, ... are those of rank 0. Who of "
        "its workers gets which of them?",
        "The rank is a remainder. Before this row, its rank got `row // world_size` "
        "others: dealt out again, among its workers. What if it has none?",
    ),
)
def reader_of(row: int, world_size: int, num_workers: int) -> tuple[int, int]:
    """Return the rank and the worker that read row `row` of a data set."""
    return row % world_size, row // world_size % max(1, num_workers)


def _with_and_without_workers(diagnosis: str) -> Callable[[Callable], Callable]:
    """Register a wrong formula twice: where there is no worker, the rank counts as one;
    or the formula divides by zero."""

    def register(formula: Callable) -> Callable:
        def at_least_one(row, world_size, num_workers):
            return formula(row, world_size, max(1, num_workers))

        at_least_one.__name__ = formula.__name__
        formula.__name__ += "_of_none"
        reader_of.mistake(diagnosis)(at_least_one)
        reader_of.mistake(
            f"{diagnosis} And where there are 0 workers, the rank reads by itself: "
            "that is worker 0."
        )(formula)
        return formula

    return register


@reader_of.mistake(
    "0 workers: nothing can be divided by 0. The rank reads all its rows by itself, "
    "and that is worker 0."
)
def divides_by_none(row, world_size, num_workers):
    return row % world_size, row // world_size % num_workers


@_with_and_without_workers(
    "the remainder is that of the row among all rows. The workers share the rows of "
    "their rank: count those. (With 2 ranks of 2 workers, rank 0 would give nothing to "
    "its worker 1.)"
)
def remainder_of_both(row, world_size, num_workers):
    return row % world_size, row % num_workers


@_with_and_without_workers(
    "dealt out first to the workers, then to the ranks: what a rank reads would depend "
    "on how many workers it has."
)
def workers_first(row, world_size, num_workers):
    return row // num_workers % world_size, row % num_workers


@_with_and_without_workers(
    "worker and rank are exchanged: the rank comes first in the result."
)
def rank_behind(row, world_size, num_workers):
    return row // world_size % num_workers, row % world_size


@_with_and_without_workers(
    "dealt out first to the workers, then to the ranks, and exchanged in the result "
    "too."
)
def workers_first_and_exchanged(row, world_size, num_workers):
    return row % num_workers, row // num_workers % world_size


@reader_of.mistake(
    "the second number is which of its rank's rows it is. The workers take turns: once "
    "round, worker 0 is next."
)
def no_second_remainder(row, world_size, num_workers):
    return row % world_size, row // world_size


@reader_of.mistake(
    "that is `divmod(row, world_size)`: its remainder is the rank, which comes first. "
    "Its quotient counts the rows that the rank got before, and they are dealt out "
    "again."
)
def quotient_and_remainder(row, world_size, num_workers):
    return row // world_size, row % world_size


@_with_and_without_workers(
    "neighbors in the data set go to different ranks: the rank is a remainder, not a "
    "quotient."
)
def rank_by_quotient(row, world_size, num_workers):
    return row // num_workers, row % num_workers


@_with_and_without_workers(
    "the worker's turn is that of the whole round: before this row, each worker of a "
    "rank got one row of `world_size * num_workers`."
)
def worker_by_round(row, world_size, num_workers):
    return row % world_size, row // (world_size * num_workers) % num_workers


@_with_and_without_workers(
    "for the worker the row is divided by the number of workers. Before this row, its "
    "rank got `row // world_size` others."
)
def divided_by_workers(row, world_size, num_workers):
    return row % world_size, row // num_workers % num_workers


@_with_and_without_workers("ranks and workers count from 0: nothing is to be added.")
def counted_from_one(row, world_size, num_workers):
    return row % world_size + 1, row // world_size % num_workers + 1


@_with_and_without_workers(
    "one row off for the worker: the first row of a rank is for its worker 0."
)
def one_row_off(row, world_size, num_workers):
    return row % world_size, (row // world_size + 1) % num_workers


@reader_of.mistake(
    "the worker is always 0: the rows of a rank are dealt out among its workers."
)
def first_worker_for_all(row, world_size, num_workers):
    return row % world_size, 0


@_with_and_without_workers(
    "that is the number of a reader among all readers: a worker is numbered within its "
    "rank."
)
def number_of_all(row, world_size, num_workers):
    return row % world_size, row % (world_size * num_workers)


@reader_of.mistake(
    "where there are workers, that is the number of a reader among all readers: a "
    "worker is numbered within its rank."
)
def number_of_all_if_any(row, world_size, num_workers):
    readers = world_size * num_workers
    return row % world_size, row % readers if readers else 0


@_with_and_without_workers(
    "the worker is right, but not the rank: it is the *remainder*, for neighbors go to "
    "different ranks. The quotient counts the rows that the rank got before."
)
def quotient_for_the_rank(row, world_size, num_workers):
    return row // world_size, row // world_size % num_workers


@_with_and_without_workers(
    "`//` where `%` is wanted for the worker: the workers take turns."
)
def quotient_for_the_worker(row, world_size, num_workers):
    return row % world_size, row // world_size // num_workers


@reader_of.mistake(
    "where there are workers, `//` where `%` is wanted: the workers take turns."
)
def quotient_for_the_worker_if_any(row, world_size, num_workers):
    if not num_workers:
        return row % world_size, 0
    return row % world_size, row // world_size // num_workers


@reader_of.mistake(
    "where there are workers, the second number is which of its rank's rows it is. The "
    "workers take turns: once round, worker 0 is next."
)
def no_second_remainder_if_any(row, world_size, num_workers):
    return row % world_size, row // world_size if num_workers else 0


@_with_and_without_workers(
    "the worker goes by the number of the rank, so each rank uses only one of them. "
    "It goes by the rows that the rank got before, `row // world_size`."
)
def worker_by_rank(row, world_size, num_workers):
    return row % world_size, row % world_size % num_workers


@reader_of.mistake(
    "one worker too many: the process that has workers does not read itself."
)
def one_worker_more(row, world_size, num_workers):
    return row % world_size, row // world_size % (num_workers + 1)


@reader_of.mistake("a single worker, or none, is number 0.")
def single_one_is_one(row, world_size, num_workers):
    if num_workers <= 1:
        return row % world_size, 1
    return reader_of.reference(row, world_size, num_workers)


@reader_of.mistake("where there are 0 workers, the rank reads as worker 0, not `None`.")
def none_of_none(row, world_size, num_workers):
    if not num_workers:
        return row % world_size, None
    return reader_of.reference(row, world_size, num_workers)


@reader_of.mistake("where there are 0 workers, the rank reads as worker 0, not -1.")
def minus_one_of_none(row, world_size, num_workers):
    if not num_workers:
        return row % world_size, -1
    return reader_of.reference(row, world_size, num_workers)


@_with_and_without_workers(
    "taken off the row, the rank leaves a multiple of `world_size`: divide it by that "
    "before the workers take turns."
)
def not_divided(row, world_size, num_workers):
    return row % world_size, (row - row % world_size) % num_workers


@_with_and_without_workers(
    "ranks and workers each get a block of neighbors here: rows are dealt out one by "
    "one."
)
def in_blocks(row, world_size, num_workers):
    return row // num_workers % world_size, row // world_size % num_workers


# With a row, and W ranks of K workers.
RANKS = {
    "the rank is a quotient, not a remainder": lambda row, W, K: row // W,
    "the rank is the quotient by the number of workers": lambda row, W, K: row // K,
    "a rank gets several rows in a row, one for each worker": (
        lambda row, W, K: row // K % W
    ),
    "ranks get blocks of `world_size` rows": lambda row, W, K: row // W % W,
    "the rank is the remainder by the number of workers": (lambda row, W, K: row % K),
    "ranks are counted from 1": lambda row, W, K: row % W + 1,
    "the rank is that of the next row": lambda row, W, K: (row + 1) % W,
    "the rank is the number of the reader among all readers": lambda row, W, K: (
        row % (W * K)
    ),
}
WORKERS = {
    "the worker goes by all rows, not by those of its rank": (
        lambda row, W, K: row % K
    ),
    "the worker is the number of the row in its rank": lambda row, W, K: row // W,
    "a worker keeps its turn for a round of all readers": (
        lambda row, W, K: row // (W * K) % K
    ),
    "the worker is the number of rounds of all readers, without end": (
        lambda row, W, K: row // (W * K)
    ),
    "the worker is a quotient, though workers take turns": lambda row, W, K: (
        row // W // K
    ),
    "the row is divided by the number of workers, not of ranks": (
        lambda row, W, K: row // K % K
    ),
    "the worker is the remainder by the number of ranks": lambda row, W, K: row % W,
    "the worker is always 0": lambda row, W, K: 0,
    "the worker is that of the rank's next row": (lambda row, W, K: (row // W + 1) % K),
    "the worker is that of the next row": (lambda row, W, K: (row + 1) // W % K),
    "workers are counted from 1": lambda row, W, K: row // W % K + 1,
    "the worker is the number of the reader among all readers": lambda row, W, K: (
        row % (W * K)
    ),
    "workers are numbered in order, but from 1": (
        lambda row, W, K: row % (W * K) // W + 1
    ),
    "the rank is taken off the row for the worker, but nothing divided": (
        lambda row, W, K: (row - row % W) % K
    ),
    "the worker is a remainder by the number of ranks, not of workers": (
        lambda row, W, K: row // W % W
    ),
    "the worker is the quotient by the number of workers": (lambda row, W, K: row // K),
}
NO_WORKERS = {
    "where there are no workers, it divides by 0": (
        lambda way, row, W, K: way(row, W, K)
    ),
    "where there are no workers, the worker is not 0": (
        lambda way, row, W, K: way(row, W, K) if K else row // W
    ),
    "where there are no workers, the worker is `None`, not 0": (
        lambda way, row, W, K: way(row, W, K) if K else None
    ),
    "where there are no workers, the worker is -1, not 0": (
        lambda way, row, W, K: way(row, W, K) if K else -1
    ),
    "where there are no workers, the worker is 1, not 0": (
        lambda way, row, W, K: way(row, W, K) if K else 1
    ),
}


def _right_rank(row: int, W: int, K: int) -> int:
    return row % W


def _right_worker(row: int, W: int, K: int) -> int:
    return row // W % K


def read_otherwise(rank, worker, row, world_size, num_workers):
    workers = max(1, num_workers)
    return rank(row, world_size, workers), worker(row, world_size, workers)


def exchanged_otherwise(rank, worker, row, world_size, num_workers):
    return read_otherwise(rank, worker, row, world_size, num_workers)[::-1]


def none_otherwise(worker, none, row, world_size, num_workers):
    return row % world_size, none(worker, row, world_size, num_workers)


def none_at_all_otherwise(worker, row, world_size, num_workers):
    if not num_workers:
        return row % world_size, 0
    return row % world_size, worker(row, world_size, num_workers)


EXCHANGED = {"rank and worker are exchanged in the result": _right_rank}
reader_of.combine(lambda rank, *rest: read_otherwise(rank, _right_worker, *rest), RANKS)
reader_of.combine(
    lambda worker, *rest: read_otherwise(_right_rank, worker, *rest), WORKERS
)
reader_of.combine(none_at_all_otherwise, WORKERS)
reader_of.combine(
    lambda none, *rest: none_otherwise(_right_worker, none, *rest), NO_WORKERS
)
reader_of.combine(none_otherwise, WORKERS, NO_WORKERS)
reader_of.combine(read_otherwise, RANKS, WORKERS)
reader_of.combine(exchanged_otherwise, EXCHANGED, WORKERS)
reader_of.combine(
    lambda rank, _, *rest: exchanged_otherwise(rank, _right_worker, *rest),
    RANKS,
    EXCHANGED,
)


def _streams(random: Random) -> Iterator[Case]:
    for counts in (
        [],
        [0],
        [1],
        [3],
        [2, 2],
        [1, 1, 1],
        [3, 1, 2],
        [0, 2, 0, 0, 3],
        [4, 0, 1, 5],
        [2, 3, 0],
    ):
        yield from ((list(counts), delivered) for delivered in range(sum(counts) + 1))


@exercise(
    cases=_streams,
    hints=(
        "Pass over the documents that are delivered whole, and take off their chunks. "
        "What is left when you come to one that is not?",
        "A document is passed over if at least as many chunks are still to be taken "
        "off as it has. A document of 0 chunks always is. And what if all are?",
    ),
)
def next_item(counts: list[int], delivered: int) -> tuple[int, int]:
    """Return document and chunk of the item that comes after `delivered` items."""
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered
        delivered -= count
    return len(counts), 0


@next_item.mistake(
    "at the end of a document it goes on behind its last chunk, where nothing is: the "
    "next item is chunk 0 of the next document that has one."
)
def behind_the_last_chunk(counts, delivered):
    for document, count in enumerate(counts):
        if delivered <= count:
            return document, delivered
        delivered -= count
    return len(counts), 0


@next_item.mistake(
    "at the end of a document it goes on behind its last chunk, where nothing is: the "
    "next item is chunk 0 of the next document. And at the end of all, no document is "
    "left: `(len(counts), 0)`."
)
def behind_the_last_chunk_without_end(counts, delivered):
    document = 0
    while delivered > counts[document]:
        delivered -= counts[document]
        document += 1
    return document, delivered


@next_item.mistake(
    "that is the item that came last. The next one is wanted; with 0 items delivered "
    "it is the very first."
)
def item_before(counts, delivered):
    return next_item.reference(counts, max(0, delivered - 1))


@next_item.mistake(
    "that is the item that came last. The next one is wanted, and where no item was "
    "delivered, there is no last one."
)
def item_before_the_first(counts, delivered):
    return next_item.reference(counts, delivered - 1)


@next_item.mistake(
    "where everything was delivered, no document is left: `(len(counts), 0)`, without "
    "an error."
)
def over_the_end(counts, delivered):
    document = 0
    while delivered >= counts[document]:
        delivered -= counts[document]
        document += 1
    return document, delivered


@next_item.mistake(
    "where everything was delivered, no document is left: `(len(counts), 0)`, not the "
    "last one once more."
)
def last_document_again(counts, delivered):
    document, chunk = next_item.reference(counts, delivered)
    return (document, chunk) if document < len(counts) else (len(counts) - 1, chunk)


@next_item.mistake(
    "where everything was delivered, the next document would be number "
    "`len(counts)`: this is behind the last chunk of the last one."
)
def behind_the_last_of_all(counts, delivered):
    document, chunk = next_item.reference(counts, delivered)
    if document == len(counts) > 0:
        return document - 1, counts[-1]
    return document, chunk


@next_item.mistake(
    "where everything was delivered, the stream is at its end, not at its beginning: a "
    "resumed stream would repeat all."
)
def begins_again(counts, delivered):
    document, chunk = next_item.reference(counts, delivered)
    return (0, 0) if document == len(counts) else (document, chunk)


@next_item.mistake(
    "the chunks of the documents before are not taken off: chunks are numbered within "
    "their document."
)
def chunk_of_the_stream(counts, delivered):
    document, _ = next_item.reference(counts, delivered)
    return document, delivered


@next_item.mistake(
    "the chunks that *remain* of the document are returned: the number of its next "
    "chunk is wanted."
)
def remaining_chunks(counts, delivered):
    document, chunk = next_item.reference(counts, delivered)
    return document, counts[document] - chunk if document < len(counts) else 0


@next_item.mistake("chunk and document are exchanged: the document comes first.")
def chunk_first(counts, delivered):
    return next_item.reference(counts, delivered)[::-1]


@next_item.mistake("documents and chunks are numbered from 0.")
def both_from_one(counts, delivered):
    document, chunk = next_item.reference(counts, delivered)
    return document + 1, chunk + 1


@next_item.mistake("documents are numbered from 0, as chunks are.")
def documents_from_one(counts, delivered):
    document, chunk = next_item.reference(counts, delivered)
    return document + 1, chunk


@next_item.mistake("chunks are numbered from 0, as documents are.")
def chunks_from_one(counts, delivered):
    document, chunk = next_item.reference(counts, delivered)
    return document, chunk + 1


@next_item.mistake(
    "documents without chunks keep their number: they are passed over, but counted."
)
def without_empty_documents(counts, delivered):
    return next_item.reference([count for count in counts if count], delivered)


@next_item.mistake(
    "it stops at a document without chunks, which has no item: pass over it."
)
def stops_at_empty_documents(counts, delivered):
    document = 0
    while document < len(counts) and delivered >= counts[document] and delivered:
        delivered -= counts[document]
        document += 1
    return document, delivered


@next_item.mistake(
    "only one document is passed over: repeat it until the next one is not delivered "
    "whole."
)
def passes_over_one(counts, delivered):
    if counts and delivered >= counts[0]:
        return 1, delivered - counts[0]
    return 0, delivered


@next_item.mistake(
    "all documents are taken to be as long as the first one: pass over them one by one."
)
def equally_long(counts, delivered):
    return divmod(delivered, counts[0]) if counts and counts[0] else (len(counts), 0)


@next_item.mistake(
    "a number of items is compared with the number of *documents*: a document has "
    "several chunks, or none."
)
def items_for_documents(counts, delivered):
    return delivered, 0


@next_item.mistake(
    "the position is right, but the chunk is forgotten: the stream would repeat the "
    "chunks of this document that were delivered already."
)
def beginning_of_the_document(counts, delivered):
    return next_item.reference(counts, delivered)[0], 0


@next_item.mistake(
    "one item too far: after `delivered` items, the next one has this very number, as "
    "items count from 0."
)
def item_behind(counts, delivered):
    return next_item.reference(counts, delivered + 1)


@next_item.mistake(
    "a document is left only when its chunk number *equals* its count: in one without "
    "chunks it never does."
)
def equal_only(counts, delivered):
    document = chunk = 0
    for _ in range(delivered):
        chunk += 1
        if chunk == counts[document]:
            document, chunk = document + 1, 0
    return document, chunk


@next_item.mistake(
    "a document without chunks takes an item here, or the stream stops at it: it has "
    "none, so pass over it before you count on."
)
def one_item_each_at_least(counts, delivered):
    document = chunk = 0
    for _ in range(delivered):
        chunk += 1
        if chunk >= counts[document]:
            document, chunk = document + 1, 0
    return document, chunk


@next_item.mistake(
    "one chunk too early: this one was delivered already, and where none was, it is "
    "-1. The next one is wanted."
)
def chunk_before(counts, delivered):
    document, chunk = next_item.reference(counts, delivered)
    return document, chunk - 1 if document < len(counts) else 0


@next_item.mistake("one chunk too early: the chunk of the last item, not of the next.")
def chunk_before_everywhere(counts, delivered):
    document, chunk = next_item.reference(counts, delivered)
    return document, chunk - 1


@next_item.mistake("at the end of all the document is `len(counts)`, not -1.")
def minus_one_at_the_end(counts, delivered):
    document, chunk = next_item.reference(counts, delivered)
    return (document, chunk) if document < len(counts) else (-1, 0)


@next_item.mistake("at the end of all a pair is wanted too: `(len(counts), 0)`.")
def nothing_at_the_end(counts, delivered):
    document, chunk = next_item.reference(counts, delivered)
    return (document, chunk) if document < len(counts) else None


@next_item.mistake(
    "the chunks of this document itself are taken off too: the number comes out below "
    "0."
)
def taken_off_too_much(counts, delivered):
    document, chunk = next_item.reference(counts, delivered)
    return document, chunk - counts[document] if document < len(counts) else 0


@next_item.mistake(
    "compared with the count of one document, without taking off those of the "
    "documents before."
)
def nothing_taken_off(counts, delivered):
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered
    return len(counts), 0


@next_item.mistake(
    "`delivered` is divided by the number of documents: they have different numbers of "
    "chunks, pass over them one by one."
)
def shared_out(counts, delivered):
    return divmod(delivered, max(1, len(counts)))


# What may be returned at the end, and inside a document.
AT_THE_END = {
    "at the end of all, the last document comes once more": (
        lambda counts, document, chunk: (len(counts) - 1, 0)
    ),
    "at the end of all, it stays behind the last chunk": (
        lambda counts, document, chunk: (len(counts) - 1, (counts or [0])[-1])
    ),
    "at the end of all, it begins again": lambda counts, document, chunk: (0, 0),
    "at the end of all, it is -1": lambda counts, document, chunk: (-1, 0),
    "at the end of all, nothing is returned": lambda counts, document, chunk: None,
    "at the end of all, it counts one document too many": (
        lambda counts, document, chunk: (len(counts) + 1, 0)
    ),
    "at the end of all, the number of items stands for the chunk": (
        lambda counts, document, chunk: (len(counts), sum(counts))
    ),
    "at the end of all, an error is raised": lambda counts, document, chunk: counts[9],
}
INSIDE = {
    "the chunks of the documents before are not taken off": (
        lambda counts, document, chunk: (document, sum(counts[:document]) + chunk)
    ),
    "the chunks that remain are counted": (
        lambda counts, document, chunk: (document, counts[document] - chunk)
    ),
    "the chunks that remain are counted, below 0": (
        lambda counts, document, chunk: (document, chunk - counts[document])
    ),
    "it is one chunk too early": (
        lambda counts, document, chunk: (document, chunk - 1)
    ),
    "it is one chunk too late": lambda counts, document, chunk: (document, chunk + 1),
    "the chunk is forgotten": lambda counts, document, chunk: (document, 0),
    "documents are counted from 1": (
        lambda counts, document, chunk: (document + 1, chunk)
    ),
    "document and chunk are exchanged": (
        lambda counts, document, chunk: (chunk, document)
    ),
    "documents and chunks are counted from 1": (
        lambda counts, document, chunk: (document + 1, chunk + 1)
    ),
    "at the end of a document, it stays behind its last chunk": (
        lambda counts, document, chunk: (
            (document, chunk) if chunk or not document else _behind(counts, document)
        )
    ),
    "documents without chunks are not numbered": (
        lambda counts, document, chunk: (sum(map(bool, counts[:document])), chunk)
    ),
}


def _behind(counts: list[int], document: int) -> tuple[int, int]:
    before = next((d for d in range(document - 1, -1, -1) if counts[d]), None)
    return (document, 0) if before is None else (before, counts[before])


def gone_on_otherwise(inside, at_the_end, counts, delivered):
    document, chunk = next_item.reference(counts, delivered)
    way = inside if document < len(counts) else at_the_end
    return way(counts, document, chunk)


def _right_place(counts, document, chunk):
    return document, chunk


next_item.combine(lambda way, *rest: gone_on_otherwise(way, way, *rest), INSIDE)
next_item.combine(
    lambda way, *rest: gone_on_otherwise(way, _right_place, *rest), INSIDE
)
next_item.combine(
    lambda way, *rest: gone_on_otherwise(_right_place, way, *rest), AT_THE_END
)
next_item.combine(gone_on_otherwise, INSIDE, AT_THE_END)


def _padded(random: Random) -> Iterator[Case]:
    # Id 0 ends a text and fills up rows; not every row ends a text, and an end can
    # stand inside one.
    yield from (([[5]], [1]), ([[5, 0]], [1]), ([[5, 0]], [2]), ([[0, 0]], [1]))
    yield from (([[0, 0, 0]], [2]), ([[4, 0, 6]], [3]), ([[4, 0, 6, 0]], [3]))
    yield [[3, 1, 4], [1, 5, 0]], [3, 2]
    yield [[3, 1, 0, 0], [1, 0, 2, 0], [7, 8, 9, 3]], [3, 3, 4]
    for size in (2, 3, 4):
        for longest in (3, 5):
            rows, lengths = [], []
            for number in range(size):
                length = longest if not number else random.randint(1, longest)
                row = [random.randrange(9) for _ in range(length)]
                rows.append(row + [0] * (longest - length))
                lengths.append(length)
            yield rows, lengths


@exercise(
    cases=_padded,
    hints=(
        "An id cannot tell whether it is an end of text or padding. What can?",
        "Row by row: the first `length` ids stay as they are, and -100 stands in all "
        "places behind them. How many places are that?",
    ),
)
def labels_of(input_ids: list[list[int]], lengths: list[int]) -> list[list[int]]:
    """Return the labels of a padded batch: its ids, and -100 on padding."""
    return [
        row[:length] + [-100] * (len(row) - length)
        for row, length in zip(input_ids, lengths, strict=True)
    ]


@labels_of.mistake(
    "-100 goes by the id. But 0 ends a text as well: those ends would never be scored, "
    "and a model would not learn to stop. Go by `lengths`."
)
def by_id(input_ids, lengths):
    return [[-100 if i == 0 else i for i in row] for row in input_ids]


@labels_of.mistake(
    "all zeros at the end of a row are taken for padding. The first of them may be the "
    "end of the text: go by `lengths`."
)
def zeros_at_the_end(input_ids, lengths):
    sizes = [
        max((i + 1 for i, n in enumerate(row) if n), default=0) for row in input_ids
    ]
    return labels_of.reference(input_ids, sizes)


@labels_of.mistake(
    "everything behind the first 0 is taken for padding. A row can hold several texts, "
    "and need not end with an end of text: go by `lengths`."
)
def behind_the_first_zero(input_ids, lengths):
    sizes = [row.index(0) + 1 if 0 in row else len(row) for row in input_ids]
    return labels_of.reference(input_ids, sizes)


@labels_of.mistake(
    "everything from the first 0 on is taken for padding, even the end of a text: go "
    "by `lengths`."
)
def from_the_first_zero(input_ids, lengths):
    sizes = [row.index(0) if 0 in row else len(row) for row in input_ids]
    return labels_of.reference(input_ids, sizes)


@labels_of.mistake(
    "the labels are shifted. `transformers` shifts them inside the model: here they "
    "stand where their inputs stand."
)
def shifted(input_ids, lengths):
    rows = labels_of.reference(input_ids, lengths)
    return [[*row[1:], -100] for row in rows]


@labels_of.mistake(
    "the labels are shifted, and padding is left in them. `transformers` shifts them "
    "inside the model: here they stand where their inputs stand."
)
def shifted_with_padding(input_ids, lengths):
    return [[*row[1:], -100] for row in input_ids]


@labels_of.mistake(
    "the labels are shifted and one shorter than their inputs. `transformers` shifts "
    "them inside the model: here they stand where their inputs stand."
)
def shifted_and_shorter(input_ids, lengths):
    return [row[1:] for row in labels_of.reference(input_ids, lengths)]


@labels_of.mistake("padding is left in the labels: it would be scored.")
def padding_scored(input_ids, lengths):
    return input_ids


@labels_of.mistake("the wrong way round: the text is ignored, and padding is scored.")
def wrong_way_round(input_ids, lengths):
    return [
        [-100] * length + row[length:]
        for row, length in zip(input_ids, lengths, strict=True)
    ]


@labels_of.mistake(
    "one place too early: the last id of the text, often its end, is ignored too."
)
def too_early(input_ids, lengths):
    return labels_of.reference(input_ids, [length - 1 for length in lengths])


@labels_of.mistake("one place too late: the first padding is scored.")
def too_late(input_ids, lengths):
    pairs = zip(input_ids, lengths, strict=True)
    sizes = [min(len(row), length + 1) for row, length in pairs]
    return labels_of.reference(input_ids, sizes)


@labels_of.mistake(
    "the padding is cut off: rows of a batch have one length, so put -100 in its place."
)
def cut_off(input_ids, lengths):
    return [row[:length] for row, length in zip(input_ids, lengths, strict=True)]


@labels_of.mistake(
    "-100 is appended, and the padding is still there: put -100 in its place."
)
def appended(input_ids, lengths):
    pairs = zip(input_ids, lengths, strict=True)
    return [row + [-100] * (len(row) - length) for row, length in pairs]


@labels_of.mistake(
    "that is an attention mask, 1 for text and 0 for padding. Labels are ids, and -100 "
    "on padding."
)
def attention_mask(input_ids, lengths):
    pairs = zip(input_ids, lengths, strict=True)
    return [[int(i < length) for i in range(len(row))] for row, length in pairs]


@labels_of.mistake("-1 is no label that a loss ignores by itself: -100 is.")
def minus_one(input_ids, lengths):
    rows = labels_of.reference(input_ids, lengths)
    return [[-1 if label == -100 else label for label in row] for row in rows]


@labels_of.mistake("100 is an id like any other: the label that is ignored is -100.")
def plus_hundred(input_ids, lengths):
    rows = labels_of.reference(input_ids, lengths)
    return [[abs(label) for label in row] for row in rows]


@labels_of.mistake(
    "padding is looked for in front. These rows are filled up behind their text."
)
def padding_in_front(input_ids, lengths):
    pairs = zip(input_ids, lengths, strict=True)
    return [
        [-100] * (len(row) - length) + row[len(row) - length :] for row, length in pairs
    ]


@labels_of.mistake(
    "the first label of each row is ignored too. That is left to the model, which "
    "drops it when it shifts."
)
def first_one_too(input_ids, lengths):
    return [[-100, *row[1:]] for row in labels_of.reference(input_ids, lengths)]


@labels_of.mistake("each row has a length of its own: not that of the first for all.")
def length_of_the_first(input_ids, lengths):
    return labels_of.reference(input_ids, [lengths[0]] * len(lengths))


@labels_of.mistake(
    "each row has a length of its own: not that of the shortest for all."
)
def length_of_the_shortest(input_ids, lengths):
    return labels_of.reference(input_ids, [min(lengths)] * len(lengths))


@labels_of.mistake(
    "as many -100 as there are *real* ids: there must be one for each place behind "
    "them."
)
def as_many_as_real(input_ids, lengths):
    pairs = zip(input_ids, lengths, strict=True)
    return [row[:length] + [-100] * length for row, length in pairs]


@labels_of.mistake(
    "as many places are ignored, at the end, as there are *real* ids: it is the other "
    "places."
)
def real_ones_off_the_end(input_ids, lengths):
    pairs = zip(input_ids, lengths, strict=True)
    return [row[:-length] + [-100] * length for row, length in pairs]


@labels_of.mistake(
    "the rows come out one shorter: one -100 is missing wherever there is padding."
)
def one_short(input_ids, lengths):
    pairs = zip(input_ids, lengths, strict=True)
    return [row[:n] + [-100] * (len(row) - n - 1) for row, n in pairs]


@labels_of.mistake(
    "one -100 behind each row, whether it has padding or not: as many as it has "
    "padding."
)
def one_behind_each(input_ids, lengths):
    pairs = zip(input_ids, lengths, strict=True)
    return [[*row[:length], -100] for row, length in pairs]


@labels_of.mistake("one -100 for all the padding of a row: it needs one in each place.")
def one_for_all_places(input_ids, lengths):
    pairs = zip(input_ids, lengths, strict=True)
    return [row[:n] + [-100] * (n < len(row)) for row, n in pairs]


@labels_of.mistake("`None` is no label: a tensor holds numbers. Put -100 there.")
def nothing_on_padding(input_ids, lengths):
    rows = labels_of.reference(input_ids, lengths)
    return [[None if label == -100 else label for label in row] for row in rows]


@labels_of.mistake("-100 is written as text: leave out the quotation marks.")
def written_as_text(input_ids, lengths):
    rows = labels_of.reference(input_ids, lengths)
    return [["-100" if label == -100 else label for label in row] for row in rows]


@labels_of.mistake(
    "the padding is moved to the front: labels stand where their inputs stand."
)
def moved_to_the_front(input_ids, lengths):
    pairs = zip(input_ids, lengths, strict=True)
    return [[-100] * (len(row) - n) + row[:n] for row, n in pairs]


@labels_of.mistake("all rows in one list: make a list for each row.")
def flat(input_ids, lengths):
    rows = labels_of.reference(input_ids, lengths)
    return [label for row in rows for label in row]


@labels_of.mistake("only the first row: does a `return` stand in the loop?")
def first_row_only(input_ids, lengths):
    return labels_of.reference(input_ids, lengths)[0]


@labels_of.mistake(
    "the labels are shifted, with an end put behind them. `transformers` shifts them "
    "inside the model: here they stand where their inputs stand."
)
def shifted_with_an_end(input_ids, lengths):
    pairs = zip(input_ids, lengths, strict=True)
    return [row[1:n] + [0] + [-100] * (len(row) - n) for row, n in pairs]


@labels_of.mistake(
    "the text is cut off, too: each row has its own length, and behind it comes one "
    "-100 for each place up to the end of the row."
)
def lengths_turned_round(input_ids, lengths):
    pairs = zip(input_ids, lengths[::-1], strict=True)
    return [row[:n] + [-100] * (len(row) - n) for row, n in pairs]


@labels_of.mistake("-100 in every place: only padding is ignored.")
def all_ignored(input_ids, lengths):
    return [[-100] * len(row) for row in input_ids]


# How many ids of a row are taken for text, and what is done with them and the rest.
TEXTS = {
    "the text ends at its last id that is not 0": lambda row, n, N, L: max(
        (i + 1 for i, token in enumerate(row) if token), default=0
    ),
    "the text ends before its first 0": lambda row, n, N, L: [*row, 0].index(0),
    "the text ends with its first 0": (
        lambda row, n, N, L: min(len(row), [*row, 0].index(0) + 1)
    ),
    "the text is taken to be one id shorter": lambda row, n, N, L: n - 1,
    "the text is taken to be one id longer": lambda row, n, N, L: min(len(row), n + 1),
    "all texts are taken to be as long as the first": lambda row, n, N, L: N[0],
    "all texts are taken to be as long as the last": lambda row, n, N, L: N[-1],
    "all texts are taken to be as long as the longest": lambda row, n, N, L: max(N),
    "all texts are taken to be as long as the shortest": lambda row, n, N, L: min(N),
}
LABELS = {
    "the padding is cut off": lambda row, n: row[:n],
    "-100 is appended to the padding": lambda row, n: row + [-100] * (len(row) - n),
    "the labels are shifted": (
        lambda row, n: row[1:n] + [-100] * (len(row) - max(n, 1) + 1)
    ),
    "the labels are shifted, and one shorter": (
        lambda row, n: row[1:n] + [-100] * (len(row) - max(n, 1))
    ),
    "the labels are shifted to the right": (
        lambda row, n: [-100, *row[: max(0, n - 1)]] + [-100] * (len(row) - max(n, 1))
    ),
    "the first label is ignored": (
        lambda row, n: [-100, *row[1:n]] + [-100] * (len(row) - max(n, 1))
    ),
    "text is ignored, and padding kept": lambda row, n: [-100] * n + row[n:],
    "the padding is put in front": lambda row, n: [-100] * (len(row) - n) + row[:n],
    "0 stands on padding": lambda row, n: row[:n] + [0] * (len(row) - n),
    "-1 stands on padding": lambda row, n: row[:n] + [-1] * (len(row) - n),
    "100 stands on padding": lambda row, n: row[:n] + [100] * (len(row) - n),
    "1 stands on text": lambda row, n: [1] * n + [-100] * (len(row) - n),
    "0 stands on text": lambda row, n: [0] * n + [-100] * (len(row) - n),
    "a mask is returned": lambda row, n: [1] * n + [0] * (len(row) - n),
    "a mask of padding is returned": lambda row, n: [0] * n + [1] * (len(row) - n),
    "a mask of truth values is returned": (
        lambda row, n: [True] * n + [False] * (len(row) - n)
    ),
    "ends of text are ignored, and padding kept": (
        lambda row, n: [token or -100 for token in row[:n]] + row[n:]
    ),
}


def _right_text(row, length, lengths, longest):
    return length


def _right_label(row, length):
    return row[:length] + [-100] * (len(row) - length)


def labeled_otherwise(text, label, input_ids, lengths):
    longest = max(map(len, input_ids))
    return [
        label(row, text(row, length, lengths, longest))
        for row, length in zip(input_ids, lengths, strict=True)
    ]


labels_of.combine(
    lambda text, *rest: labeled_otherwise(text, _right_label, *rest), TEXTS
)
labels_of.combine(
    lambda label, *rest: labeled_otherwise(_right_text, label, *rest), LABELS
)
labels_of.combine(labeled_otherwise, TEXTS, LABELS)


def _batches(random: Random) -> Iterator[Case]:
    yield from (([], 2), ([3], 1), ([3], 4), ([3, 5], 2), ([5, 3], 2), ([2, 2, 7], 2))
    for size in (3, 4, 6, 7, 9):
        for batch_size in (1, 2, 3, 4, size):
            yield [random.randint(1, 12) for _ in range(size)], batch_size
    yield [1, 9, 1, 9, 2, 2], 2
    yield [9, 1, 4, 4, 1, 6, 6], 3


@exercise(
    cases=_batches,
    hints=(
        "Take one batch: how many ids does it hold once it is filled up, and how many "
        "of them are text?",
        "A batch is filled up to its own longest row, so it holds longest row times "
        "rows. How many rows has the last batch?",
    ),
)
def count_padding(lengths: list[int], batch_size: int) -> int:
    """Count the padding of all batches when `batch_size` rows at a time make one."""
    batches = [lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size)]
    return sum(max(batch) * len(batch) - sum(batch) for batch in batches)


def _in_batches(lengths: list[int], batch_size: int) -> list[list[int]]:
    return [lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size)]


@count_padding.mistake(
    "all batches are filled up to the longest row of all: each needs its own longest "
    "row only."
)
def longest_of_all(lengths, batch_size):
    return max(lengths, default=0) * len(lengths) - sum(lengths)


@count_padding.mistake(
    "all batches are filled up to the longest row of all, and where there is no row, "
    "there is no longest one: each batch needs its own longest row."
)
def longest_of_all_and_none(lengths, batch_size):
    return max(lengths) * len(lengths) - sum(lengths)


@count_padding.mistake(
    "the last batch is counted as if it were full. It has only the rows that are left."
)
def last_batch_full(lengths, batch_size):
    batches = _in_batches(lengths, batch_size)
    return sum(max(batch) * batch_size - sum(batch) for batch in batches)


@count_padding.mistake("the last batch is left out where it is not full: it counts.")
def last_batch_dropped(lengths, batch_size):
    whole = len(lengths) // batch_size * batch_size
    return count_padding.reference(lengths[:whole], batch_size)


@count_padding.mistake(
    "the last batch is left out even where it is full: `range` leaves out its end by "
    "itself."
)
def last_batch_always_dropped(lengths, batch_size):
    starts = range(0, len(lengths) - batch_size, batch_size)
    batches = [lengths[i : i + batch_size] for i in starts]
    return sum(max(batch) * len(batch) - sum(batch) for batch in batches)


@count_padding.mistake(
    "the rows are sorted first. That is a good idea for a loader, but here batches are "
    "made in the order given."
)
def sorted_first(lengths, batch_size):
    return count_padding.reference(sorted(lengths), batch_size)


@count_padding.mistake(
    "that is all that the batches hold, text and padding: take off the text."
)
def text_too(lengths, batch_size):
    return sum(max(batch) * len(batch) for batch in _in_batches(lengths, batch_size))


@count_padding.mistake("that is the text. You want what is added to it.")
def text_only(lengths, batch_size):
    return sum(lengths)


@count_padding.mistake(
    "the longest row of each batch, less all its ids: the row must be counted once for "
    "each row of the batch."
)
def one_row_of_each(lengths, batch_size):
    return sum(max(batch) - sum(batch) for batch in _in_batches(lengths, batch_size))


@count_padding.mistake(
    "only the padding of the shortest row of each batch is counted: each row has some."
)
def shortest_only(lengths, batch_size):
    return sum(max(batch) - min(batch) for batch in _in_batches(lengths, batch_size))


@count_padding.mistake(
    "rows are cut to the shortest of their batch here: they are to be filled up to the "
    "longest."
)
def cut_to_the_shortest(lengths, batch_size):
    batches = _in_batches(lengths, batch_size)
    return sum(sum(batch) - min(batch) * len(batch) for batch in batches)


@count_padding.mistake("less than nothing: filled up to the shortest row, not longest.")
def filled_to_the_shortest(lengths, batch_size):
    return -cut_to_the_shortest(lengths, batch_size)


@count_padding.mistake(
    "these are the rows that get padding. You want how many ids it is."
)
def rows_with_padding(lengths, batch_size):
    return sum(n < max(b) for b in _in_batches(lengths, batch_size) for n in b)


@count_padding.mistake(
    "the first row of a batch is taken for its longest: take the `max`."
)
def first_for_the_longest(lengths, batch_size):
    batches = _in_batches(lengths, batch_size)
    return sum(batch[0] * len(batch) - sum(batch) for batch in batches)


@count_padding.mistake(
    "the last row of a batch is taken for its longest. That holds if the rows are "
    "sorted, but these are not."
)
def last_for_the_longest(lengths, batch_size):
    batches = _in_batches(lengths, batch_size)
    return sum(batch[-1] * len(batch) - sum(batch) for batch in batches)


@count_padding.mistake("only the first batch is counted.")
def first_batch_only(lengths, batch_size):
    return count_padding.reference(lengths[:batch_size], batch_size)


@count_padding.mistake(
    "only the last batch is counted: the sum begins again for each batch."
)
def last_batch_only(lengths, batch_size):
    batches = _in_batches(lengths, batch_size)
    return count_padding.reference(batches[-1], batch_size) if batches else 0


@count_padding.mistake(
    "rows are dealt out to the batches like cards: `batch_size` rows that follow one "
    "another make a batch."
)
def dealt_out(lengths, batch_size):
    count = -(-len(lengths) // batch_size)
    batches = [lengths[i::count] for i in range(count)]
    return sum(max(batch) * len(batch) - sum(batch) for batch in batches)


@count_padding.mistake(
    "`batch_size` is taken for the number of batches: so many *rows* make one."
)
def number_of_batches(lengths, batch_size):
    batches = [lengths[i::batch_size] for i in range(batch_size)]
    return sum(max(b) * len(b) - sum(b) for b in batches if b)


@count_padding.mistake(
    "a batch starts at every row. They follow one another without overlap: go in steps "
    "of `batch_size`."
)
def overlapping_batches(lengths, batch_size):
    batches = [lengths[i : i + batch_size] for i in range(len(lengths))]
    return sum(max(batch) * len(batch) - sum(batch) for batch in batches)


@count_padding.mistake(
    "that is the share of padding among all that the batches hold. Its count is wanted."
)
def share_of_padding(lengths, batch_size):
    filled = text_too(lengths, batch_size)
    return count_padding.reference(lengths, batch_size) / filled if filled else 0


@count_padding.mistake(
    "that is all that full batches would hold, text and padding: take off the text, "
    "and the last batch has only the rows that are left."
)
def text_too_last_batch_full(lengths, batch_size):
    return sum(max(batch) * batch_size for batch in _in_batches(lengths, batch_size))


@count_padding.mistake(
    "that is the sum of the longest rows. How many ids does a batch hold when all its "
    "rows are as long, and how many of them are text?"
)
def longest_rows(lengths, batch_size):
    return sum(max(batch) for batch in _in_batches(lengths, batch_size))


@count_padding.mistake("that is the padding of the worst batch: add up those of all.")
def worst_batch(lengths, batch_size):
    batches = _in_batches(lengths, batch_size)
    return max((max(b) * len(b) - sum(b) for b in batches), default=0)


@count_padding.mistake(
    "that is the padding of the worst batch, and without rows there is none: add up "
    "those of all."
)
def worst_batch_of_none(lengths, batch_size):
    return max(max(b) * len(b) - sum(b) for b in _in_batches(lengths, batch_size))


@count_padding.mistake(
    "the rows are sorted first, the longest in front. That is a good idea for a "
    "loader, but here batches are made in the order given."
)
def sorted_longest_first(lengths, batch_size):
    return count_padding.reference(sorted(lengths, reverse=True), batch_size)


@count_padding.mistake(
    "each row is compared with those behind it: it is filled up to the longest of its "
    "own batch, which can stand before it."
)
def compared_with_those_behind(lengths, batch_size):
    windows = [lengths[i : i + batch_size] for i in range(len(lengths))]
    return sum(max(window) - window[0] for window in windows)


@count_padding.mistake("one id more for each row: the longest gets no padding.")
def one_more_each(lengths, batch_size):
    return count_padding.reference(lengths, batch_size) + len(lengths)


@count_padding.mistake(
    "`batch_size` is taken for the length of the rows: it is how many of them make a "
    "batch."
)
def rows_of_batch_size(lengths, batch_size):
    return len(lengths) * batch_size - sum(lengths)


@count_padding.mistake(
    "batch i starts at `i * batch_size`, not at i; and there can be one more that is "
    "not full."
)
def starts_at_its_number(lengths, batch_size):
    starts = range(len(lengths) // batch_size)
    batches = [lengths[i : i + batch_size] for i in starts]
    return sum(max(batch) * len(batch) - sum(batch) for batch in batches)


@count_padding.mistake(
    "the first row of a batch is compared with its last: each row is compared with the "
    "longest."
)
def first_against_last(lengths, batch_size):
    batches = _in_batches(lengths, batch_size)
    return sum(abs(batch[0] - batch[-1]) for batch in batches)


@count_padding.mistake(
    "neighbors are compared: each row is filled up to the longest of its batch."
)
def neighbors_compared(lengths, batch_size):
    batches = _in_batches(lengths, batch_size)
    return sum(sum(abs(a - b) for a, b in pairwise(batch)) for batch in batches)


@count_padding.mistake(
    "a batch is cut one row too short: a slice leaves out its end by itself."
)
def batches_one_short(lengths, batch_size):
    starts = range(0, len(lengths), batch_size)
    batches = [lengths[i : i + batch_size - 1] for i in starts]
    return sum(max(b) * len(b) - sum(b) for b in batches if b)


@count_padding.mistake(
    "a batch is cut one row too long: the next batch has that row already."
)
def batches_one_long(lengths, batch_size):
    starts = range(0, len(lengths), batch_size)
    batches = [lengths[i : i + batch_size + 1] for i in starts]
    return sum(max(b) * len(b) - sum(b) for b in batches)


# How rows become batches, and what is counted in each.
BATCHES = {
    "a last batch that is not full is left out": (
        lambda N, B: [N[i : i + B] for i in range(0, len(N) - B + 1, B)]
    ),
    "the last batch is left out": (
        lambda N, B: [N[i : i + B] for i in range(0, len(N) - B, B)]
    ),
    "only the first batch is counted": lambda N, B: [N[:B]] if N else [],
    "the rows are sorted": lambda N, B: _in_batches(sorted(N), B),
    "the rows are sorted, the longest first": (
        lambda N, B: _in_batches(sorted(N, reverse=True), B)
    ),
    "the batch size is taken for the number of batches": (
        lambda N, B: [N[i::B] for i in range(B) if N[i::B]]
    ),
    "a batch starts at every row": (lambda N, B: [N[i : i + B] for i in range(len(N))]),
    "a full batch starts at every row": (
        lambda N, B: [N[i : i + B] for i in range(len(N) - B + 1)]
    ),
    "all rows are in one batch": lambda N, B: [N] if N else [],
    "batches are one row too short": (
        lambda N, B: [N[i : i + B - 1] for i in range(0, len(N), B) if B > 1]
    ),
    "batches are one row too long": (
        lambda N, B: [N[i : i + B + 1] for i in range(0, len(N), B)]
    ),
    "the first rows, not the last, make the small batch": (
        lambda N, B: [
            N[max(0, i) : i + B] for i in range(len(N) % B - B, len(N), B) if i > -B
        ]
    ),
}
COUNTED = {
    "text is counted too": lambda rows, B: max(rows) * len(rows),
    "text is counted too, and each batch as a full one": (
        lambda rows, B: max(rows) * B
    ),
    "each batch is counted as a full one": lambda rows, B: max(rows) * B - sum(rows),
    "only text is counted": lambda rows, B: sum(rows),
    "the longest row is counted once, not for each row": (
        lambda rows, B: max(rows) - sum(rows)
    ),
    "the difference of longest and shortest row is counted": (
        lambda rows, B: max(rows) - min(rows)
    ),
    "that difference is counted for each row": (
        lambda rows, B: (max(rows) - min(rows)) * len(rows)
    ),
    "that difference is counted for each row of a full batch": (
        lambda rows, B: (max(rows) - min(rows)) * B
    ),
    "rows are cut to the shortest": lambda rows, B: sum(rows) - min(rows) * len(rows),
    "rows are filled up to the shortest": (
        lambda rows, B: min(rows) * len(rows) - sum(rows)
    ),
    "rows with padding are counted, not their padding": (
        lambda rows, B: sum(row < max(rows) for row in rows)
    ),
    "the first row is taken for the longest": (
        lambda rows, B: rows[0] * len(rows) - sum(rows)
    ),
    "the first row is taken for the longest, each row for shorter": (
        lambda rows, B: sum(abs(rows[0] - row) for row in rows)
    ),
    "the last row is taken for the longest": (
        lambda rows, B: rows[-1] * len(rows) - sum(rows)
    ),
    "the last row is taken for the longest, each row for shorter": (
        lambda rows, B: sum(abs(rows[-1] - row) for row in rows)
    ),
    "the longest rows are added up": lambda rows, B: max(rows),
    "the rows that a last batch has not are counted": lambda rows, B: B - len(rows),
    "rows are filled up to one id more": (
        lambda rows, B: (max(rows) + 1) * len(rows) - sum(rows)
    ),
}


def _right_count(rows, batch_size):
    return max(rows) * len(rows) - sum(rows)


def padded_otherwise(batches, count, lengths, batch_size):
    return sum(count(rows, batch_size) for rows in batches(lengths, batch_size) if rows)


count_padding.combine(
    lambda batches, *rest: padded_otherwise(batches, _right_count, *rest), BATCHES
)
count_padding.combine(
    lambda count, *rest: padded_otherwise(_in_batches, count, *rest), COUNTED
)
count_padding.combine(padded_otherwise, BATCHES, COUNTED)


# Questions


def _cuts(random: Random) -> Iterator[Case]:
    for max_length in (2, 4, 6):
        for overlap in sorted({0, 1, max_length // 2, max_length - 1}):
            for num_tokens in (1, 3, 4, 5, 8, 9, 12):
                yield list(range(num_tokens)), max_length, overlap


def chunks_by_hand(ids: list[int], max_length: int, overlap: int) -> list[list[int]]:
    chunks = [ids[:max_length]]
    while chunks[-1][-1] != ids[-1]:
        start = len(chunks) * (max_length - overlap)
        chunks.append(ids[start : start + max_length])
    return chunks


@bug_or_not(
    purpose=(
        "Cut a document of different ids into chunks that share `overlap` ids. The "
        "last chunk ends with the document, and none holds only ids of the one before."
    ),
    reference=chunks_by_hand,
    cases=_cuts,
    explanation=(
        "A chunk starts at every step up to the end of the document, even where the "
        "chunk before has reached the end already: then the last one holds nothing "
        "new. With an overlap of half a chunk, every document longer than that gets "
        "one chunk too many, and its end is read once more than it should. Without "
        "overlap the same loop is right, so one rarely notices."
    ),
)
def chunk_at_every_step(ids: list[int], max_length: int, overlap: int) -> list:
    step = max_length - overlap
    return [ids[start : start + max_length] for start in range(0, len(ids), step)]


@bug_or_not(
    purpose=(
        "The same: cut a document of different ids, at least one, into chunks that "
        "share `overlap` ids, the last of which ends with the document."
    ),
    reference=chunks_by_hand,
    cases=_cuts,
    explanation=(
        "It looks as if `overlap` ids were lost at the end. But a chunk that starts "
        "among the last `overlap` ids lies wholly inside the one before, whose end "
        "they are: just these starts are left out. `max(1, ...)` is for a document "
        "that is no longer than the overlap: without it, it would have no chunk, and "
        "be lost."
    ),
)
def overlap_taken_off_the_end(ids: list[int], max_length: int, overlap: int) -> list:
    starts = range(0, max(1, len(ids) - overlap), max_length - overlap)
    return [ids[start : start + max_length] for start in starts]


def _shards(random: Random) -> Iterator[Case]:
    for world_size in (1, 2, 3):
        for num_workers in (1, 2, 4):
            for num_rows in (1, 5, 12, 20):
                yield num_rows, world_size, num_workers


def each_row_once(num_rows: int, world_size: int, num_workers: int) -> list[int]:
    return list(range(num_rows))


@bug_or_not(
    purpose=(
        "Share out the rows of a data set among all workers of all ranks, so that each "
        "row is read once. It returns what all of them read together, sorted: every "
        "row, and none of them twice."
    ),
    reference=each_row_once,
    cases=_shards,
    explanation=(
        "Worker 1 of rank 0 and worker 0 of rank 1 start at the same row, and read the "
        "same rows; others are read by nobody. With one rank, or with one worker each, "
        "all is right. A worker starts at `rank + world_size * worker`, or at `rank * "
        "num_workers + worker`: numbers from 0 that no two of them share."
    ),
)
def every_reader_its_rows(
    num_rows: int, world_size: int, num_workers: int
) -> list[int]:
    rows = []
    for rank in range(world_size):
        for worker in range(num_workers):
            step = world_size * num_workers
            rows += range(rank + worker, num_rows, step)
    return sorted(rows)


@cache
def _numbers() -> str:
    """A tokenizer whose ids are the places of the words, so that they explain
    themselves; as JSON, for each call its own."""
    tokenizer = Tokenizer(models.WordLevel({str(n): n for n in range(100)}, "0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer.to_str()


def starts_of_the_library(num_tokens: int, max_length: int, stride: int) -> list[int]:
    tokenizer = Tokenizer.from_str(_numbers())
    tokenizer.enable_truncation(max_length, stride=stride)
    first = tokenizer.encode(" ".join(map(str, range(num_tokens))))
    return [chunk.ids[0] for chunk in (first, *first.overflowing)]


@true_or_false(
    claim=(
        "With `max_length=512, stride=128, return_overflowing_tokens=True`, a fast "
        "tokenizer of `transformers` starts a chunk every 128 tokens, up to the one "
        "that reaches the end."
    ),
    reference=starts_of_the_library,
    cases=lambda random: [
        (num_tokens, max_length, stride)
        for max_length, stride in ((4, 1), (4, 2), (6, 2), (8, 2), (8, 6))
        for num_tokens in (1, 8, 9, 20)
    ],
    explanation=(
        "There `stride` is the overlap, so chunks start 512 - 128 = 384 tokens apart, "
        "less the special tokens that each chunk gets: with one, 383. In a sliding "
        "window, in a convolution, and in other lessons of this course, a stride is "
        "the step. Whoever wants chunks without overlap and sets "
        "`stride=max_length` has no step left. The two meanings agree only where the "
        "stride is half of `max_length`."
    ),
)
def stride_for_the_step(num_tokens: int, max_length: int, stride: int) -> list[int]:
    last = max(0, num_tokens - max_length)
    steps = -(-last // stride)
    return [stride * k for k in range(steps + 1)]


def unscored_with_overlap(num_tokens: int, max_length: int, overlap: int) -> int:
    chunks = chunks_by_hand(list(range(num_tokens)), max_length, overlap)
    scored = {id for chunk in chunks for id in chunk[1:]}
    return num_tokens - len(scored)


@true_or_false(
    claim=(
        "An overlap of 10 to 25 %, as guides to search advise it, leaves as many ids "
        "of a document without a score as an overlap of one single id does, not fewer."
    ),
    reference=unscored_with_overlap,
    cases=lambda random: [
        (num_tokens, max_length, overlap)
        for max_length, overlap in ((10, 1), (10, 2), (20, 2), (20, 5))
        for num_tokens in (1, 9, 10, 11, 20, 37, 60)
    ],
    explanation=(
        "One: the document's first id. The first id of every later chunk is a target "
        "in the chunk before as soon as a single id is shared. A larger overlap scores "
        "no further id. It scores some of them twice, and gives the ids behind it more "
        "to read before them: if you do not want it for that, you pay for nothing."
    ),
)
def unscored_with_one(num_tokens: int, max_length: int, overlap: int) -> int:
    return unscored_with_overlap(num_tokens, max_length, overlap=1)


# With other numbers by seed.


@numbers(
    ask="A document has {num_tokens:,} ids. It is cut into chunks of at most "
    "{max_length}, of which neighbors share {overlap}; the last one ends with the "
    "document. How many chunks are there?",
    draw=lambda rng: {
        "num_tokens": rng.randrange(2_000, 9_000),
        "max_length": (length := rng.randrange(64, 257)),
        "overlap": rng.randrange(8, length // 3),
    },
    hints=("By how much does a chunk go on behind the one before?",),
)
def chunks_of_document(num_tokens: int, max_length: int, overlap: int) -> int:
    return count_chunks(num_tokens, max_length, overlap)


@chunks_of_document.mistake(
    "one at every step of the document. The last of them may hold nothing new."
)
def chunk_at_each_step(num_tokens, max_length, overlap):
    return -(-num_tokens // (max_length - overlap))


@chunks_of_document.mistake("without the short one at the end: no id is left out.")
def full_chunks_alone(num_tokens, max_length, overlap):
    return 1 + (num_tokens - max_length) // (max_length - overlap)


@chunks_of_document.mistake("the overlap is not in it: neighbors share ids.")
def chunks_without_overlap(num_tokens, max_length, overlap):
    return count_chunks(num_tokens, max_length)


@chunks_of_document.mistake("the overlap is taken for the step.")
def overlap_as_step(num_tokens, max_length, overlap):
    return count_chunks(num_tokens, max_length, max_length - overlap)


@numbers(
    ask="A document of {num_tokens:,} ids is cut into chunks of at most {max_length} "
    "with an overlap of {overlap}. Of how many ids is the last one?",
    draw=lambda rng: {
        "num_tokens": rng.randrange(2_000, 9_000),
        "max_length": (length := rng.randrange(64, 257)),
        "overlap": rng.randrange(8, length // 3),
    },
    hints=("Where does the last chunk start?",),
)
def ids_of_last_chunk(num_tokens: int, max_length: int, overlap: int) -> int:
    last = count_chunks(num_tokens, max_length, overlap) - 1
    return num_tokens - last * (max_length - overlap)


@ids_of_last_chunk.mistake("only what is new in it: it begins with the overlap.")
def new_in_last_chunk(num_tokens, max_length, overlap):
    return ids_of_last_chunk.reference(num_tokens, max_length, overlap) - overlap


@ids_of_last_chunk.mistake("chunks without an overlap.")
def last_without_overlap(num_tokens, max_length, overlap):
    return (num_tokens - 1) % max_length + 1


@ids_of_last_chunk.mistake("what the step leaves of the document.")
def left_by_the_step(num_tokens, max_length, overlap):
    return num_tokens % (max_length - overlap)


@numbers(
    ask="Rows of {lengths} ids come in this order, {batch_size} to a batch, and each "
    "batch is padded to its longest row. How many pads are there in all?",
    draw=lambda rng: {
        "lengths": [rng.randrange(10, 90) for _ in range(6)],
        "batch_size": rng.choice([2, 3]),
    },
    hints=("Batch by batch: how many places, and how many of them are ids?",),
)
def pads_in_order(lengths: list[int], batch_size: int) -> int:
    batches = [lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size)]
    return sum(max(batch) * len(batch) - sum(batch) for batch in batches)


@pads_in_order.mistake("all rows are padded to the longest of all.")
def pads_to_longest_of_all(lengths, batch_size):
    return max(lengths) * len(lengths) - sum(lengths)


@pads_in_order.mistake("the rows are sorted by length first. They come in this order.")
def pads_when_sorted(lengths, batch_size):
    return pads_in_order.reference(sorted(lengths), batch_size)


@pads_in_order.mistake("all places of the batches: their ids are no pads.")
def all_places(lengths, batch_size):
    return pads_in_order.reference(lengths, batch_size) + sum(lengths)
