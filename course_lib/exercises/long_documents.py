"""Exercises of lesson 08: chunks, which worker reads which row, where a resumed stream
goes on, and padding."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

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
        "The last chunk ends with the document, so you know its length as soon as you "
        "know where it starts.",
        "`count_chunks` tells you how many chunks there are. Each chunk except the "
        "first starts one step, `max_length - overlap`, after the one before it. So "
        "where does the last one start? And what if there is none?",
    ),
)
def last_chunk_length(num_tokens: int, max_length: int, overlap: int) -> int:
    """Return how many ids the last chunk of a document holds; 0 if there is none."""
    steps = max(0, count_chunks(num_tokens, max_length, overlap) - 1)
    return num_tokens - steps * (max_length - overlap)


last_chunk_length.slips("""
    max(0, ...) => (...)
        a document without ids has no chunk, so there is no last chunk to measure:
        return 0.
    , max_length, overlap) - 1) => , max_length, overlap))
    , max_length, overlap) - 1) => , max_length, overlap)) ; \
    return num_tokens => return max(0, num_tokens ; \
    * (max_length - overlap) => * (max_length - overlap))
        count the steps, not the chunks: three chunks start only two steps apart.
    * (max_length - overlap) => * max_length
        the steps are taken to be `max_length` long, but chunks start `max_length -
        overlap` apart.
    * (max_length - overlap) => * overlap
        the overlap is taken for the step, but chunks start `max_length - overlap`
        apart.
    , max_length, overlap) => , max_length)
        the chunks are counted as if they did not overlap: give `count_chunks` the
        overlap.
    return num_tokens - => return
        this is where the last chunk *starts*. How many ids are there from its start to
        the end?
    return num_tokens - steps => return num_tokens - overlap * (steps > 0) - steps
        only the ids after the overlap are counted. The last chunk also holds its first
        `overlap` ids, which it shares with the chunk before it.
    return num_tokens - steps => return max(0, num_tokens - 1 - steps ; \
    (max_length - overlap) => (max_length - overlap))
        one id is missing: from its start to the end of the document, the id at the
        start also counts.
""")


@last_chunk_length.right_way("""
    if num_tokens <= max_length: return num_tokens =>
    num_tokens <= max_length => not num_tokens
        if a document fits into one chunk, that chunk is the last one, and it holds the
        whole document.
    return num_tokens rest => return max_length if num_tokens else 0 ⏎ rest
        if a document fits into one chunk, that chunk is not filled up to `max_length`.
    return num_tokens rest => return num_tokens or max_length ⏎ rest
        a document without ids has no chunk: return 0.
    return num_tokens rest => return min(num_tokens, max_length - overlap) ⏎ rest
        if a document fits into one chunk, it is not cut to the length of a step.
    return overlap + rest if rest else max_length => return num_tokens % max_length
        this is 0 if full chunks fill the document exactly, although the last chunk is
        then a full one. And with an overlap, chunks start `max_length - overlap` apart.
    return overlap + rest if rest else max_length => \
    return num_tokens % max_length or max_length
        the overlap is not used, but chunks start `max_length - overlap` apart.
    return overlap + rest if rest else max_length => \
    return num_tokens % (max_length - overlap)
    return overlap + rest if rest else max_length => \
    return num_tokens % (max_length - overlap) or max_length
        this is the part of the document after the last whole step. The last chunk
        begins earlier, with `overlap` ids of the one before it.
    return overlap + rest if rest else max_length => \
    return (num_tokens - 1) % (max_length - overlap) + 1
        this is the last chunk of a loop that starts one at every step up to the end of
        the document. Such a chunk can lie wholly inside the one before it, and then it
        does not count.
    return overlap + rest if rest else max_length => return rest
    return overlap + rest if rest else max_length => return rest or max_length
    return overlap + rest if rest else max_length => \
    return rest or max_length - overlap
        only the ids after the overlap are counted…
    return overlap + rest if rest else max_length => return overlap + rest
        if the steps come out even, the last chunk is a full one, not one that holds the
        overlap alone.
    return overlap + rest if rest else max_length => \
    return overlap + num_tokens % (max_length - overlap)
        the steps begin after the first chunk, so take the remainder of `num_tokens -
        max_length`, not of `num_tokens`.
    return overlap + rest if rest else max_length => \
    return num_tokens % max_length + overlap
        the overlap cannot be added to what `max_length` leaves over. It makes the steps
        shorter, and shorter steps leave something else.
    return overlap + rest if rest else max_length => return max_length
        only full chunks are considered. The last chunk ends with the document, and can
        be shorter.
    return overlap + rest if rest else max_length => return max_length - overlap
        the last chunk is taken to be as long as a step.
    return overlap + rest if rest else max_length => \
    return num_tokens - (num_tokens // (max_length - overlap) - 1) * \
    (max_length - overlap)
        the steps are counted by dividing the whole document by the step, rounded down.
        The first chunk takes `max_length` ids, and only the remaining ones need steps.
    return overlap + rest if rest else max_length => return max_length + rest
        steps that are rounded down do not reach the end: what is left needs one more
        chunk.
""")
def by_what_is_left(num_tokens, max_length, overlap):
    if num_tokens <= max_length:
        return num_tokens
    rest = (num_tokens - max_length) % (max_length - overlap)
    return overlap + rest if rest else max_length


@last_chunk_length.right_way("""
    start = 0 => start = 0 ⏎ if num_tokens <= max_length: return max_length
        if a document fits into one chunk, that chunk is not filled…
    += max_length - overlap => += max(1, max_length - overlap - 1)
        the step is one id shorter than `max_length - overlap`.
    += max_length - overlap => += max_length - overlap + 1
        the step is one id longer than `max_length - overlap`.
    += max_length - overlap => += max_length
        the overlap is not used…
    += max_length - overlap => += max(1, overlap)
    += max_length - overlap => += overlap or max_length
        the overlap is taken for the step…
    < num_tokens => <= num_tokens
        a chunk that ends exactly with the document is already the last one.
    num_tokens - start => start
        this is where the last chunk *starts*…
""")
def walked(num_tokens, max_length, overlap):
    start = 0
    while start + max_length < num_tokens:
        start += max_length - overlap
    return num_tokens - start


last_chunk_length.answers("""
    num_tokens % max_length
        this is 0 if full chunks…
    num_tokens % max_length or max_length
        the overlap is not used…
    num_tokens % (max_length - overlap)
        this is the part of the document…
    num_tokens % (max_length - overlap) or max_length - overlap
    (num_tokens - 1) % (max_length - overlap) + 1 if num_tokens else 0
        this is the last chunk of a loop…
    max(0, max_length + num_tokens - -(-num_tokens // (max_length - overlap)) * \
    (max_length - overlap))
        the whole document is divided by the step. The first chunk takes `max_length`
        ids, and only the remaining ones need steps.
    min(num_tokens, max_length)
        only full chunks are considered…
    num_tokens - -(-num_tokens // (max_length - overlap)) * (max_length - overlap)
    (num_tokens - count_chunks(num_tokens, max_length, overlap) * \
    (max_length - overlap)) % max_length
        a step is subtracted for every chunk, but the first chunk starts at 0.
    num_tokens and last_chunk_length.reference(num_tokens, max_length, overlap) or [][0]
        a document of 0 ids has no chunk, and so it has no last one: return 0, without
        an error.
    count_chunks(num_tokens, max_length, overlap)
        this is the *number* of chunks.
""")


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
        "an overlap of 1. In each chunk, cross out every id except the first: it is "
        "scored. Which ids were never crossed out?",
        "The first id of a chunk is the only one that is not a target there. Does "
        "another chunk hold that id, and does anything come before it there? It "
        "matters whether there is an overlap, but not how large it is.",
    ),
)
def never_scored(lengths: list[int], max_length: int, overlap: int) -> int:
    """Count the ids of a collection that are a target in none of its chunks."""
    if overlap:
        return sum(length > 0 for length in lengths)
    return sum(count_chunks(length, max_length) for length in lengths)


never_scored.slips("""
    if overlap => if overlap == 1
    if overlap => if overlap > 1
    if overlap => if overlap == 1 ; count_chunks(length, max_length) for => \
    count_chunks(length, max_length, overlap) for
    if overlap => if overlap > 1 ; count_chunks(length, max_length) for => \
    count_chunks(length, max_length, overlap) for
        the size of the overlap makes no difference: with an overlap of 1 or more, every
        later chunk begins with an id that was already predicted.
    if overlap => if not overlap
        the two cases are exchanged. Without an overlap, the first ids of all chunks are
        left. With one, only those of the documents are left.
    if overlap: => lengths = [sum(lengths)] ⏎ if overlap:
        the documents are joined before they are cut. Each is cut by itself, and each
        has a first id.
    if overlap: => lengths = lengths[:1] ⏎ if overlap:
        this is the count for a single document. `lengths` holds several, so add up
        their counts.
    if overlap: => lengths = [n for n in lengths if n > 1] ⏎ if overlap:
        a document of a single id counts: its only id is the first one, and is never a
        target.
    if overlap: => lengths = [n for n in lengths if n > max_length] ⏎ if overlap:
        documents that fit into one chunk are left out, but their first id is never a
        target.
    length > 0 for => 1 for
        with an overlap, a document of 0 ids is counted, although it has no id that
        could be left.
    length > 0 for => 0 for
        with an overlap, the first id of each document is forgotten: nothing comes
        before it.
    sum(length > 0 for length in lengths) => int(any(lengths))
    sum(length > 0 for length in lengths) => 1
        with an overlap, one id of *each* document is left, not one of all documents
        together.
    length > 0 for => count_chunks(length, max_length, overlap) for
        with an overlap, the first id of *every* chunk is counted. The chunk before it
        holds that id and scores it.
    length > 0 for => -(-length // (max_length - overlap)) for
        with an overlap, every step is counted, but then a cut leaves no id without a
        score.
    length > 0 for => -(-length // max_length) for
    if overlap: return sum(length > 0 for length in lengths) =>
        with an overlap, the cuts are still counted, but then only the first id of a
        document is never a target.
    length > 0 for => length // max_length for
        with an overlap, all full chunks are counted, but only the first id of a
        document is left.
    length > 0 for => max(0, count_chunks(length, max_length, overlap) - 1) for
        with an overlap, the cuts are counted, although all their ids are scored, and
        the first id of the document is missing.
    length > 0 for => max(0, count_chunks(length, max_length, overlap) - overlap) for
        with an overlap, its size is subtracted from the number of chunks. The size
        makes no difference.
    length > 0 for => count_chunks(length, max_length, overlap) * overlap for
        with an overlap, all ids that are read again are counted, but none of these is
        left without a score.
    count_chunks(length, max_length) for => length // max_length for
        without an overlap, the number of chunks is rounded down. What is left after the
        full chunks is a chunk with a first id of its own.
    count_chunks(length, max_length) for => length // max_length + 1 for
        if full chunks fill a document exactly, nothing is left for a further chunk.
    count_chunks(length, max_length) for => \
    max(0, count_chunks(length, max_length) - 1) for
        without an overlap, only the cuts are counted, but nothing comes before the
        first id of the document either.
    count_chunks(length, max_length) for => (length > 0) for
        without an overlap, the first id of each further chunk is missing: nothing comes
        before it in its chunk.
    count_chunks(length, max_length) for => 1 + count_chunks(length, max_length) for
    count_chunks(length, max_length) for => \
    (length > 0) + count_chunks(length, max_length) for
        without an overlap, the first id of a document is counted twice: it is the first
        id of its first chunk.
    count_chunks(length, max_length) for => 0 for
        without an overlap, nothing is counted.
    count_chunks(length, max_length) for => \
    max(1, count_chunks(length, max_length)) for
        without an overlap, a document of 0 ids is counted, although it has no chunk.
""")


never_scored.answers("""
    sum(n // (max_length - overlap) for n in lengths)
        whole steps are counted, whether chunks overlap or not. With an overlap, a cut
        leaves no id without a score, and without one, a short last chunk counts.
    sum(1 + max(0, length - max_length) // (max_length - overlap) for length in lengths)
        chunks are counted, one too few if the last is short, and one for a document of
        0 ids. With an overlap, count documents that hold an id, and not their chunks.
    sum(count_chunks(length, max_length, overlap) for length in lengths)
        with an overlap, the first id of *every* chunk…
    sum(length > 0 for length in lengths)
        without an overlap, the first id of each further chunk…
    len(lengths)
        one id for each document is right with an overlap, if the document has ids.
        Without one, nothing comes before the first id of each further chunk.
    sum(count_chunks(length, max_length, overlap) - 1 for length in lengths)
    sum(max(0, count_chunks(length, max_length, overlap) - 1) for length in lengths)
        the cuts are counted. With an overlap, a cut leaves no id without a score, and
        the first id of a document is always left.
    sum(max(0, count_chunks(length, max_length) - 1) for length in lengths) \
    if not overlap else 0
        the very first id of each document is forgotten: nothing comes before it,
        whatever the overlap is.
    sum(overlap * max(0, count_chunks(n, max_length, overlap) - 1) for n in lengths)
        these are the ids that are read again because of the overlap. You want those
        that are never a target.
    sum(lengths) // max_length
        the documents are joined before they are cut…
    sum(lengths) - never_scored.reference(lengths, max_length, overlap)
        this is how many ids *are* a target. You want the others.
    sum(n - count_chunks(n, max_length, overlap) for n in lengths)
        these are all ids except the first ids of chunks, which is nearly how many *are*
        scored. You want the others.
    sum(n + overlap * max(0, count_chunks(n, max_length, overlap) - 1) -
    count_chunks(n, max_length, overlap) for n in lengths)
        these are the targets of all chunks together, and those in an overlap are
        counted twice. You want the ids that are never a target.
    sum(count_chunks(n, max_length, overlap) -
    overlap * max(0, count_chunks(n, max_length, overlap) - 1) for n in lengths)
        the targets of all chunks are subtracted, and those in an overlap count twice.
        Count each id once.
""")


def _to_cut(random: Random) -> Iterator[Case]:
    for max_length in (1, 2, 3, 5):
        for size in (0, 1, 2, 3, 4, 5, 7, 10, 11):
            yield [random.randrange(10, 90) for _ in range(size)], max_length
    yield [4, 4, 4, 4, 7], 2
    yield [1, 2, 3], 9


@exercise(
    cases=_to_cut,
    hints=(
        "All chunks except the first are full. How long must the first one be, if "
        "there is a short one at all?",
        "Divide the length by `max_length`. If the remainder is not 0, that many ids "
        "come first. From there on it is an ordinary cut.",
    ),
)
def cut_from_the_end(ids: list[int], max_length: int) -> list[list[int]]:
    """Cut a document without overlap so that only its *first* chunk may be short."""
    short = len(ids) % max_length
    full = range(short, len(ids), max_length)
    chunks = [ids[:short]] if short else []
    return chunks + [ids[start : start + max_length] for start in full]


cut_from_the_end.slips("""
    if short else [] =>
    if short else [] => if ids else []
        if nothing is left over, an empty chunk comes first: leave it out.
    [ids[:short]] if short else [] => []
        the short chunk is missing: it comes first.
    short = len(ids) % max_length => short = len(ids) // max_length
        the first chunk is as long as the number of full chunks. `//` says how many full
        chunks there are, and `%` says what is left over.
    short = len(ids) % max_length => short = max_length - len(ids) % max_length
        this is how many ids are *missing* for a full chunk. The first chunk holds those
        that are left over, `len(ids) % max_length`.
    ids[:short] => ids[:max_length]
        the first chunk is filled up with ids of the second one, but chunks do not
        overlap here.
    ids[:short] => ids[: short + 1]
        the first chunk is one id too long.
    range(short, len(ids), => range(0, len(ids),
    range(short, len(ids), => range(0, len(ids) - short,
        the full chunks start at 0 again. Start them after the short one.
    range(short, len(ids), => range(short, len(ids) - max_length,
        the last full chunk is missing: the end of a `range` is already left out.
    range(short, len(ids), => range(short + 1, len(ids),
        the full chunks start one id too late.
    range(short, len(ids), => range(short + max_length, len(ids),
        the first full chunk is missing.
    ids[start : start + max_length] for start in full => \
    ids[start:] for start in [short]
        the ids after the short chunk are not cut.
    return chunks + [ids[...] for start in full] => \
    return (chunks + [ids[...] for start in full])[::-1]
        the chunks are in reverse order: reverse the list.
    return chunks + [ids[...] for start in full] => \
    return [ids[...] for start in full] + chunks
        the short chunk comes last here, but it comes first in the text.
    [ids[:short]] if => [ids[:short][::-1]] if ; + max_length] for => \
    + max_length][::-1] for
        the ids of each chunk are in reverse order: turn each chunk around again.
    for start in full] => for start in full] or [[]]
        a document without ids has no chunks. An empty chunk is not the same.
""")


@cut_from_the_end.right_way("""
    max(0, ...) => (...)
        a negative start of a slice counts from the end: let the first chunk start at
        `max(0, ...)`.
    insert(0, ...) => append(...)
        the chunks are in reverse order: reverse the list.
    end > 0 => end >= 0
        if nothing is left over, an empty chunk…
    end > 0 => end >= max_length
        the short chunk is missing…
    : end]) => : end][::-1])
        the ids of each chunk are in reverse order…
    chunks, end = [], len(ids) => chunks, end = [], len(ids) - 1
        the last id is left out: the end of a slice is already left out, so end at
        `len(ids)`.
""")
def taken_off_the_end(ids, max_length):
    chunks, end = [], len(ids)
    while end > 0:
        chunks.insert(0, ids[max(0, end - max_length) : end])
        end -= max_length
    return chunks


def _cut_from_the_beginning(ids, max_length):
    return [ids[i : i + max_length] for i in range(0, len(ids), max_length)]


cut_from_the_end.answers("""
    _cut_from_the_beginning(ids, max_length)
        these are cut from the beginning, so the last chunk is the short one. The first
        one should be short.
    _cut_from_the_beginning(ids, max_length)[-1:] + \
    _cut_from_the_beginning(ids, max_length)[:-1]
        these are the chunks of an ordinary cut in another order, and their ids no
        longer follow the text.
    [ids[i : i + max_length] for i in range(0, len(ids) - max_length + 1, max_length)]
        this is an ordinary cut without the ids left over at the end. They belong to the
        text: make the first chunk the short one.
    _cut_from_the_beginning(ids[::-1], max_length)
        the text runs backwards: if you cut the reversed ids, reverse each chunk and
        also the list of chunks.
    _cut_from_the_beginning(ids, max_length)[::-1]
        this is an ordinary cut in reverse order. The last chunk of the text is still
        the short one. Move the cuts, not the chunks.
    [ids[-(k + 1) * max_length : -k * max_length] for k in \
    range(-(-len(ids) // max_length))]
    [ids[-(k + 1) * max_length : -k * max_length] for k in \
    range(-(-len(ids) // max_length))][::-1]
        the last chunk is empty: a slice that should end at the end of the list ends at
        `-0`, which is 0.
    [piece.tolist() for piece in np.array_split(ids, -(-len(ids) // max_length))] \
    if ids else []
        the pieces are of nearly equal length, but all except the first must be full.
    [ids[-max_length:]] if ids else []
        only the last `max_length` ids are kept: keep all of them.
    [ids[:-max_length], ids[-max_length:]]
        only the last chunk is separated. The ids before it can be more than a chunk.
    [ids[-max_length:], ids[:-max_length]]
        only the last chunk is separated, and moved to the front. Cut the ids before it,
        and keep the order of the text.
    ids
        the ids are in one list. Return a list of chunks, each of them a list.
""")


def _ranks_and_workers(random: Random) -> Iterator[Case]:
    for world_size in (1, 2, 3):
        for num_workers in (0, 1, 2, 4):
            for row in (0, 1, 2, 3, 5, 6, 7, 11, 16, 24):
                yield row, world_size, num_workers


@exercise(
    cases=_ranks_and_workers,
    hints=(
        "Take 2 ranks of 3 workers. Rank 0 gets the rows 0, 2, 4, 6, ... Which of its "
        "workers gets which of these rows?",
        "The rank is a remainder. Before this row, its rank got `row // world_size` "
        "others, and those are dealt out again, among its workers. What if there are "
        "no workers?",
    ),
)
def worker_of(row: int, world_size: int, num_workers: int) -> tuple[int, int]:
    """Return the rank and the worker that read row `row` of a data set."""
    return row % world_size, row // world_size % max(1, num_workers)


@worker_of.right_way("""
    max(1, num_workers) => num_workers
        with 0 workers, the rank reads its rows itself, as worker 0. Nothing can be
        divided by 0.
    max(1, num_workers) => num_workers + 1
        one worker too many: a process that has workers does not read rows itself.
    rank = row % world_size => rank = row // world_size
        neighbors in the data set go to different ranks, so the rank is the *remainder*.
        The quotient is how many rows the rank got before.
    rank = row % world_size => rank = row // workers
        the rank is computed as a quotient by the number of workers. It is a remainder.
    rank = row % world_size => rank = row // workers % world_size
        a rank gets several neighboring rows, one for each worker, so what it reads
        would depend on the number of its workers.
    rank = row % world_size => rank = row % world_size + 1
        ranks count from 0: add nothing.
    rank = row % world_size => rank = (row + 1) % world_size
        this is the rank of the next row.
    row // world_size % workers => row % workers
        this is the remainder of the row's number among all rows. The workers share the
        rows of their rank, so count those.
    row // world_size % workers => row // world_size
        the second number says which row of its rank this is. The workers take turns,
        and after the last worker comes worker 0 again.
    row // world_size % workers => row // (world_size * workers) % workers
        the worker is chosen by whole rounds, in which each worker of each rank gets one
        row. Only the rows of its own rank count.
    row // world_size % workers => row // world_size // workers
    row // world_size % workers => row // (world_size * workers)
        the worker is computed with `//` instead of `%`: the workers take turns.
    row // world_size % workers => row // workers % workers
    row // world_size % workers => row // workers
        for the worker, the row is divided by the number of workers. Before this row,
        its rank got `row // world_size` others.
    row // world_size % workers => row % world_size
        the worker is computed as the remainder by the number of ranks.
    row // world_size % workers => row // world_size % world_size
        the workers take turns by the number of ranks instead of their own number.
    row // world_size % workers => 0
        the worker is always 0, but the rows of a rank are dealt out among its workers.
    row // world_size % workers => (row // world_size + 1) % workers
        the worker is one row off: the first row of a rank goes to its worker 0.
    row // world_size % workers => (row + 1) // world_size % workers
        this is the worker of the next row.
    row // world_size % workers => row // world_size % workers + 1
    row // world_size % workers => row % (world_size * workers) // world_size + 1
        workers count from 0: add nothing.
    row // world_size % workers => row % (world_size * workers)
        this is the number of a worker among all workers. A worker is numbered within
        its rank.
    row // world_size % workers => (row - row % world_size) % workers
        the row minus its rank is a multiple of `world_size`. Divide it by `world_size`
        before the workers take turns.
    row // world_size % workers => row % world_size % workers
        the worker is chosen by the number of the rank, so each rank uses only one
        worker. Choose it by the rows that the rank got before, `row // world_size`.
    return rank, worker => return worker, rank
        worker and rank are exchanged: the rank comes first.
    return rank, worker => return rank, worker if num_workers else 1
    return rank, worker => return rank, worker if num_workers > 1 else 1
        a single worker, or none, is number 0, not 1.
    return rank, worker => return rank, worker if num_workers else row // world_size
        with 0 workers, the rank reads as worker 0, because nobody takes turns.
""")
def in_steps(row, world_size, num_workers):
    workers = max(1, num_workers)
    rank = row % world_size
    worker = row // world_size % workers
    return rank, worker


@worker_of.right_way("""
    worker = row // world_size % num_workers => worker = row % num_workers
        this is the remainder of the row's number…
    worker = row // world_size % num_workers => worker = row // world_size
        the second number says which…
    worker = row // world_size % num_workers => \
    worker = row // world_size // num_workers
        the worker is computed with `//`…
    worker = row // world_size % num_workers => \
    worker = row % (world_size * num_workers)
        this is the number of a worker…
    worker = row // world_size % num_workers => worker = row // num_workers
        for the worker, the row is divided…
    worker = row // world_size % num_workers => \
    worker = row // world_size % num_workers + 1
        workers count from 0…
    worker = 0 => worker = 1
        a single worker, or none…
    rank = row % world_size => rank = row // world_size
        neighbors in the data set…
    return rank, worker => return worker, rank
        worker and rank are exchanged…
""")
def with_workers_or_without(row, world_size, num_workers):
    rank = row % world_size
    worker = 0
    if num_workers:
        worker = row // world_size % num_workers
    return rank, worker


worker_of.answers("""
    (row // max(1, num_workers) % world_size, row % max(1, num_workers))
        the rows are dealt out first to the workers and then to the ranks, so what a
        rank reads would depend on the number of its workers.
    (row % max(1, num_workers), row // max(1, num_workers) % world_size)
        the worker comes first, and so do the workers when the rows are dealt out: deal
        them to the ranks first, and return the rank first.
    divmod(row, world_size)
        this is `divmod(row, world_size)`. Its remainder is the rank, which comes first.
        Its quotient is how many rows the rank got before, and those are dealt out
        again.
""")


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
        "Pass over the documents that were wholly delivered, and subtract their chunks "
        "from `delivered`. What is left when you come to one that was not?",
        "Pass over a document if what is left of `delivered` is at least its number of "
        "chunks. A document of 0 chunks is then always passed over. And what if all of "
        "them are?",
    ),
)
def next_item(counts: list[int], delivered: int) -> tuple[int, int]:
    """Return document and chunk of the item that comes after `delivered` items."""
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered
        delivered -= count
    return len(counts), 0


next_item.slips("""
    delivered < count => delivered <= count
        at the end of a document, this is the place after its last chunk, where nothing
        is left. The next item is chunk 0 of the next document that has a chunk.
    delivered -= count return => return
        `delivered` is compared with the count of each document, but the chunks of the
        documents before are not subtracted.
    for document => delivered = max(0, delivered - 1) ⏎ for document
        this is the item that came last. You want the next one, and after 0 items that
        is the very first.
    for document => delivered -= 1 ⏎ for document
    for document => delivered -= 1 ⏎ for document ; \
    return document, delivered => return document, max(0, delivered)
        this is the item that came last. You want the next one.
    for document => delivered += 1 ⏎ for document
        one item too far: items count from 0, so after `delivered` items the next one
        has exactly this number.
    for document => counts = [count for count in counts if count] ⏎ for document
        documents without chunks are passed over, but they keep their numbers: do not
        number the others again.
    return document, delivered => return delivered, document
        chunk and document are exchanged: the document comes first.
    return document, delivered => return document + 1, delivered
    return document, delivered => return document + 1, delivered ; \
    return len(counts), 0 => return len(counts) + 1, 0
        documents count from 0, as chunks do.
    return document, delivered => return document, delivered + 1
    return document, delivered => return document, delivered + 1 ; \
    return len(counts), 0 => return len(counts), 1
        chunks count from 0, as documents do.
    return document, delivered => return document + 1, delivered + 1
    return document, delivered => return document + 1, delivered + 1 ; \
    return len(counts), 0 => return len(counts) + 1, 1
        documents and chunks both count from 0.
    return document, delivered => return document, 0
        the chunk is forgotten: the stream would repeat the chunks of this document that
        were already delivered.
    return document, delivered => return document, delivered - 1
    return document, delivered => return document, delivered - 1 ; \
    return len(counts), 0 => return len(counts), -1
        one chunk too early: this one was already delivered, or is -1 if none was. You
        want the next one.
    return document, delivered => return document, count - delivered
        this is how many chunks of the document *remain*. You want the number of its
        next chunk.
    return document, delivered => return document, delivered - count
        the chunks of this document itself are also subtracted.
    return document, delivered => return document, sum(counts[:document]) + delivered
    return document, delivered => \
    return document, sum(counts[:document]) + delivered ; \
    return len(counts), 0 => return len(counts), sum(counts)
        the chunks of the documents before are not subtracted, but chunks are numbered
        within their document.
    return len(counts), 0 => return len(counts) - 1, 0
        if everything was delivered, no document is left: return `(len(counts), 0)`, not
        the last one again.
    return len(counts), 0 => return max(0, len(counts) - 1), (counts or [0])[-1]
    return len(counts), 0 => return len(counts) - 1, (counts or [0])[-1]
        if everything was delivered, the next document would be number `len(counts)`.
        This is the place after the last chunk of the last document.
    return len(counts), 0 => return 0, len(counts) - 1
        if everything was delivered, the last document comes again, after the chunk.
    return len(counts), 0 => return 0, 0
        if everything was delivered, the stream is at its end, not at its beginning. A
        resumed stream would repeat everything.
    return len(counts), 0 => return None
        if nothing is left, you still have to return a pair: `(len(counts), 0)`.
    return len(counts), 0 => return 0, len(counts)
        if nothing is left, the number of documents comes first, and the chunk is 0.
    return len(counts), 0 => return len(counts) + 1, 0
        if nothing is left, one document too many is counted.
    return len(counts), 0 => return len(counts), sum(counts)
        if nothing is left, the chunk is 0, not the number of all items.
    return len(counts), 0 => return counts[len(counts)]
        if nothing is left, return `(len(counts), 0)`, without an error.
""")


@next_item.right_way("""
    document < len(counts) and =>
        if nothing is left, return…
    >= counts => > counts
        at the end of a document, this is the place…
    while document => if document
        only one document is passed over. Go on until you come to one that is not wholly
        delivered.
    delivered >= counts[document] => delivered >= counts[document] and delivered
        this stops at a document without chunks, which has no item: pass over it.
    document < len(counts) and => document < len(counts) - 1 and
        if everything was delivered, the next document would be…
    return document, delivered => return delivered, document
        chunk and document are exchanged: the document comes first.
    return document, delivered => return document, 0
        the chunk is forgotten…
    document += 1 => document += counts[document] > 0
        documents without chunks are passed over…
""")
def passed_over(counts, delivered):
    document = 0
    while document < len(counts) and delivered >= counts[document]:
        delivered -= counts[document]
        document += 1
    return document, delivered


next_item.answers("""
    divmod(delivered, counts[0]) if counts and counts[0] else (len(counts), 0)
        all documents are taken to be as long as the first one. Pass over them one by
        one.
    (delivered, 0)
        a number of items is compared with the number of *documents*, but a document can
        have several chunks, or none.
    divmod(delivered, max(1, len(counts)))
        `delivered` is divided by the number of documents, but documents have different
        numbers of chunks. Pass over them one by one.
""")


@next_item.right_way("""
    chunk = 0, -1 => chunk = 0, 0 ; delivered + 1 => delivered ; \
    while document < len(counts) and chunk >= => if chunk ==
        a document is left only when the chunk number *equals* its count, and in a
        document without chunks it never does.
    chunk = 0, -1 => chunk = 0, 0 ; delivered + 1 => delivered ; \
    while document < len(counts) and => if
        a document without chunks takes an item here, or the stream stops at it. It has
        none, so pass over it before you count on.
""")
def item_by_item(counts, delivered):
    document, chunk = 0, -1
    for _ in range(delivered + 1):
        chunk += 1
        while document < len(counts) and chunk >= counts[document]:
            document, chunk = document + 1, 0
    return document, chunk


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
        "Take one batch. How many ids does it hold when it is filled up, and how many "
        "of them are text?",
        "A batch is filled up to its own longest row, so multiply that length by the "
        "number of rows. How many rows are there in the last batch?",
    ),
)
def count_padding(lengths: list[int], batch_size: int) -> int:
    """Count the padding of all batches when `batch_size` rows at a time make one."""
    batches = [lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size)]
    return sum(max(batch) * len(batch) - sum(batch) for batch in batches)


count_padding.slips("""
    range(0, len(lengths), batch_size) => \
    range(0, len(lengths) - batch_size + 1, batch_size)
        the last batch is left out if it is not full, but it counts.
    range(0, len(lengths), batch_size) => \
    range(0, len(lengths) - batch_size, batch_size)
        the last batch is left out even if it is full: the end of a `range` is already
        left out.
    range(0, len(lengths), batch_size) => range(len(lengths))
        a batch starts at every row, but batches do not overlap: go in steps of
        `batch_size`.
    range(0, len(lengths), batch_size) => range(len(lengths) - batch_size + 1)
        a full batch starts at every row, but batches do not overlap.
    range(0, len(lengths), batch_size) => range(len(lengths) // batch_size)
        batch i starts at `i * batch_size`, not at i, and a last batch that is not full
        may follow.
    lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size) => \
    sorted(lengths)[i : i + batch_size] for i in range(0, len(lengths), batch_size)
        the rows are sorted first. That is a good idea for a loader, but here the
        batches are made in the order given.
    lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size) => \
    sorted(lengths)[::-1][i : i + batch_size] \
    for i in range(0, len(lengths), batch_size)
        the rows are sorted first, from the longest down. That is a good idea for a
        loader, but here the batches are made in the order given.
    batches = => batch_size = max(1, len(lengths) // batch_size) ⏎ batches =
    lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size) => \
    lengths[i::batch_size] for i in range(min(batch_size, len(lengths)))
        `batch_size` is taken for the number of batches. It is how many *rows* make one.
    lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size) => \
    lengths[i :: -(-len(lengths) // batch_size)] for i in \
    range(-(-len(lengths) // batch_size))
        the rows are dealt out to the batches like cards, but `batch_size` rows that
        follow one another make a batch.
    i + batch_size] for i => i + batch_size - 1] or [0] for i
        each batch is one row too short: the end of a slice is already left out.
    i + batch_size] for i => i + batch_size + 1] for i
        each batch is one row too long: the next batch also has its last row.
    [lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size)] => \
    [lengths[: i + batch_size][i - len(lengths) :] for i in \
    range(len(lengths) % -batch_size, len(lengths), batch_size)]
        the first rows make the small batch here, but it is the last ones that do.
    for batch in batches => for batch in batches[:1]
        only the first batch is counted.
    for batch in batches => for batch in batches[-1:]
        only the last batch is counted: add up all of them.
    max(batch) * len(batch) - sum(batch) for => max(batch) * len(batch) for
        this is everything that the batches hold, text and padding: subtract the text.
    * len(batch) => * batch_size
        the last batch is counted as if it were full, but it has only the rows that are
        left.
    max(batch) * len(batch) - sum(batch) for => max(batch) * batch_size for
        this is everything that full batches would hold, text and padding. Subtract the
        text, and count in the last batch only the rows that are left.
    max(batch) * len(batch) - sum(batch) for => sum(batch) for
        this is the text. You want what is added to it.
    * len(batch) =>
        the longest row of each batch is counted once, and all its ids are subtracted.
        Count it once for each row of the batch.
    * len(batch) - sum(batch) =>
        this is the sum of the longest rows. How many ids does a batch hold when all its
        rows are that long, and how many of them are text?
    max(batch) * len(batch) - sum(batch) for => max(batch) - min(batch) for
        only the padding of the shortest row of each batch is counted. Add up the
        padding of all rows.
    - sum(batch) => - min(batch) * len(batch)
    max(batch) * len(batch) - sum(batch) for => \
    (max(batch) - min(batch)) * batch_size for
        the length of the shortest row is subtracted for every row. Subtract the length
        of each row itself.
    max(batch) * len(batch) - sum(batch) for => sum(batch) - min(batch) * len(batch) for
        the rows are cut to the shortest row of their batch, but they should be filled
        up to the longest.
    max(batch) => min(batch)
        the rows are filled up to the shortest row of their batch, not to the longest.
    max(batch) * len(batch) - sum(batch) for => sum(n < max(batch) for n in batch) for
        these are the rows that get padding. You want the number of ids.
    max(batch) => batch[0]
        the first row of a batch is taken for its longest: take the `max`.
    max(batch) * len(batch) - sum(batch) for => \
    sum(abs(batch[0] - n) for n in batch) for
        each row is compared with the first one of its batch, but another row can be the
        longest.
    max(batch) => batch[-1]
        the last row of a batch is taken for its longest. That would be right if the
        rows were sorted, but they are not.
    max(batch) * len(batch) - sum(batch) for => \
    sum(abs(batch[-1] - n) for n in batch) for
        each row is compared with the last one of its batch, but another row can be the
        longest.
    max(batch) * len(batch) - sum(batch) for => abs(batch[0] - batch[-1]) for
        the first row of a batch is compared with its last. Compare each row with the
        longest.
    max(batch) * len(batch) - sum(batch) for => \
    sum(abs(a - b) for a, b in zip(batch, batch[1:])) for
        neighbors are compared, but each row is filled up to the longest row of its
        batch.
    max(batch) => (max(batch) + 1)
        one id too many for each row: the longest row gets no padding.
    max(batch) => max(lengths)
        all batches are filled up to the longest row of all, but each batch needs only
        its own longest row.
    max(batch) * len(batch) - sum(batch) for => batch_size - len(batch) for
        these are the rows that are missing in the last batch. You want the ids of
        padding.
""")


@count_padding.right_way("""
    longest = 0 batch => batch
        the longest row is not looked for again in each batch, so it can be one of an
        earlier batch.
    padding += => padding =
        only the last batch is counted…
    len(batch) - => batch_size -
        the last batch is counted as if…
    max(longest, length) => length
        the last row of a batch is taken…
""")
def batch_by_batch(lengths, batch_size):
    padding = longest = 0
    for start in range(0, len(lengths), batch_size):
        longest = 0
        batch = lengths[start : start + batch_size]
        for length in batch:
            longest = max(longest, length)
        padding += longest * len(batch) - sum(batch)
    return padding


count_padding.answers("""
    max(lengths, default=0) * len(lengths) - sum(lengths)
    max(lengths) * len(lengths) - sum(lengths)
        all batches are filled up to the longest row of all…
    sum(max(lengths[i : i + batch_size]) - lengths[i] for i in range(len(lengths)))
        each row is compared with those that come after it. It is filled up to the
        longest row of its own batch, which can come before it.
    len(lengths) * batch_size - sum(lengths)
        `batch_size` is taken for the length of the rows, but it is how many of them
        make a batch.
    count_padding.reference(lengths, batch_size) / max(1, sum(lengths) +
    count_padding.reference(lengths, batch_size))
        this is the share of padding in everything that the batches hold. You want its
        count.
    max((count_padding.reference(lengths[i : i + batch_size], batch_size) for i in
    range(0, len(lengths), batch_size)), default=0)
    max(count_padding.reference(lengths[i : i + batch_size], batch_size) for i in
    range(0, len(lengths), batch_size))
        this is the padding of the worst batch: add up the padding of all batches.
""")


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
        "last chunk ends with the document, and every chunk holds something new."
    ),
    reference=chunks_by_hand,
    cases=_cuts,
    explanation=(
        "A chunk starts at every step up to the end of the document, even if the chunk "
        "before it has already reached the end. Then the last chunk holds nothing new. "
        "With an overlap of half a chunk, for example, every document longer than half "
        "a chunk gets one chunk too many, and its end is read once more than it should "
        "be. Without overlap the same loop is right, so the mistake is rarely noticed."
    ),
)
def chunk_at_every_step(ids: list[int], max_length: int, overlap: int) -> list:
    step = max_length - overlap
    return [ids[start : start + max_length] for start in range(0, len(ids), step)]


@bug_or_not(
    purpose=(
        "The same task: cut a document of at least one id into chunks that share "
        "`overlap` ids. The last chunk ends with the document, every chunk holds "
        "something new, and no two ids are equal."
    ),
    reference=chunks_by_hand,
    cases=_cuts,
    explanation=(
        "It looks as if `overlap` ids were lost at the end. But a chunk that starts "
        "among the last `overlap` ids of the document lies wholly inside the chunk "
        "before it, and only these starts are left out. `max(1, ...)` is for documents "
        "that are not longer than the overlap. Without it they would have no chunk, "
        "and would be lost."
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
        "row is read exactly once. The function returns the rows that all of them read "
        "together, sorted."
    ),
    reference=each_row_once,
    cases=_shards,
    explanation=(
        "Worker 1 of rank 0 and worker 0 of rank 1 start at the same row, so they read "
        "the same rows, and other rows are read by nobody. With one rank, or with one "
        "worker for each rank, everything is right. Each worker needs a start of its "
        "own, such as `rank + world_size * worker` or `rank * num_workers + worker`."
    ),
)
def every_worker_its_rows(
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
    """A tokenizer whose ids are the positions of the words, so that they explain
    themselves. It is JSON, so that each call makes a tokenizer of its own."""
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
        "You want chunks of 512 tokens that start every 128 tokens. With `max_length="
        "512, stride=384, return_overflowing_tokens=True, add_special_tokens=False`, a "
        "fast tokenizer of `transformers` cuts them for you, and stops with the chunk "
        "that reaches the end."
    ),
    reference=starts_of_the_library,
    cases=lambda random: [
        (num_tokens, max_length, max_length - step)
        for max_length, step in ((4, 1), (4, 3), (6, 2), (8, 2), (8, 6))
        for num_tokens in (1, 8, 9, 20)
    ],
    explanation=(
        "In this library, `stride` is the overlap. Neighboring chunks share 384 "
        "tokens, so a chunk starts every 512 - 384 = 128 tokens. In other lessons of "
        "this course, and in a convolution, a stride is the step. That is why "
        "`stride=128` looks right, but it would start a chunk every 384 tokens."
    ),
)
def stride_for_a_step(num_tokens: int, max_length: int, stride: int) -> list[int]:
    step = max_length - stride
    last = max(0, num_tokens - max_length)
    return list(range(0, last + step, step))


# With other numbers by seed.


@numbers(
    ask="A document has {num_tokens:,} ids. It is cut into chunks of at most "
    "{max_length} ids, neighbors share {overlap} ids, and the last chunk ends with the "
    "document. How many chunks are there?",
    draw=lambda rng: {
        "num_tokens": rng.randrange(2_000, 9_000),
        "max_length": (length := rng.randrange(64, 257)),
        "overlap": rng.randrange(8, length // 3),
    },
    hints=("How many new ids does each chunk after the first one bring?",),
)
def chunks_of_document(num_tokens: int, max_length: int, overlap: int) -> int:
    return count_chunks(num_tokens, max_length, overlap)


chunks_of_document.answers("""
    -(-num_tokens // (max_length - overlap))
        this counts a chunk for every step of the document. The last of those chunks may
        hold nothing new.
    1 + (num_tokens - max_length) // (max_length - overlap)
        the short chunk at the end is missing: no id is left out.
    count_chunks(num_tokens, max_length)
        the overlap is not used, but neighbors share ids.
    count_chunks(num_tokens, max_length, max_length - overlap)
        the overlap is taken for the step.
""")


@numbers(
    ask="A document of {num_tokens:,} ids is cut into chunks of at most {max_length} "
    "ids with an overlap of {overlap}. How many ids are there in the last chunk?",
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


ids_of_last_chunk.answers("""
    ids_of_last_chunk.reference(num_tokens, max_length, overlap) - overlap
        these are only its new ids, but it begins with the overlap.
    (num_tokens - 1) % max_length + 1
        these are chunks without an overlap.
    num_tokens % (max_length - overlap)
        this is what is left of the document after whole steps.
""")


@numbers(
    ask="Rows of {lengths} ids come in this order, {batch_size} to a batch, and each "
    "batch is padded to its longest row. How many pads are there in all?",
    draw=lambda rng: {
        "lengths": [rng.randrange(10, 90) for _ in range(6)],
        "batch_size": rng.choice([2, 3]),
    },
    hints=("Go batch by batch. How many places are there, and how many hold ids?",),
)
def pads_in_order(lengths: list[int], batch_size: int) -> int:
    batches = [lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size)]
    return sum(max(batch) * len(batch) - sum(batch) for batch in batches)


pads_in_order.answers("""
    max(lengths) * len(lengths) - sum(lengths)
        all rows are padded to the longest row of all.
    pads_in_order.reference(sorted(lengths), batch_size)
        the rows are sorted by length first, but they come in this order.
    pads_in_order.reference(lengths, batch_size) + sum(lengths)
        these are all places of the batches, but the ids in them are not pads.
""")
