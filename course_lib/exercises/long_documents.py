"""Exercises of lesson 08: chunks, who reads which row, where a stream goes on, and
padding."""

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


last_chunk_length.slips("""
    max(0, ...) => (...)
        a document without ids has no chunk: one step before the first lies nothing.
    , max_length, overlap) - 1) => , max_length, overlap))
    , max_length, overlap) - 1) => , max_length, overlap)) ; \
    return num_tokens => return max(0, num_tokens ; \
    * (max_length - overlap) => * (max_length - overlap))
        the last chunk starts one step before: with three chunks, two steps lie between
        the first and the last.
    * (max_length - overlap) => * max_length
        steps of `max_length` are taken: chunks start `max_length - overlap` apart.
    * (max_length - overlap) => * overlap
        the overlap is taken for the step: chunks start `max_length - overlap` apart.
    , max_length, overlap) => , max_length)
        chunks are counted as if they did not overlap: `count_chunks` takes the overlap
        too.
    return num_tokens - => return
        that is where the last chunk *starts*.
    return num_tokens - steps => return num_tokens - overlap * (steps > 0) - steps
        what lies behind the overlap is counted alone. Its first `overlap` ids, which
        the chunk before holds too, belong to the last chunk as well.
    return num_tokens - steps => return max(0, num_tokens - 1 - steps ; \
    (max_length - overlap) => (max_length - overlap))
        from its start to the end of the document, the id at the start counts too.
""")


@last_chunk_length.way("""
    if num_tokens <= max_length: return num_tokens =>
    num_tokens <= max_length => not num_tokens
        a document that fits into one chunk has no chunk before: it is its own last one.
    return num_tokens rest => return max_length if num_tokens else 0 ⏎ rest
        a document that fits into one chunk is not filled up to `max_length`.
    return num_tokens rest => return num_tokens or max_length ⏎ rest
        a document without ids has no chunk: 0.
    return num_tokens rest => return min(num_tokens, max_length - overlap) ⏎ rest
        a document that fits into one chunk is not cut to a step.
    return overlap + rest if rest else max_length => return num_tokens % max_length
        that is 0 where full chunks fill the document: the last one is a full one then.
        And with an overlap, chunks start `max_length - overlap` apart.
    return overlap + rest if rest else max_length => \
    return num_tokens % max_length or max_length
        the overlap plays no part here: chunks start `max_length - overlap` apart.
    return overlap + rest if rest else max_length => \
    return num_tokens % (max_length - overlap)
    return overlap + rest if rest else max_length => \
    return num_tokens % (max_length - overlap) or max_length
        that is what is left behind whole steps. The last chunk begins with `overlap`
        ids of the one before.
    return overlap + rest if rest else max_length => \
    return (num_tokens - 1) % (max_length - overlap) + 1
        so ends a loop that starts a chunk at every step up to the end of the document.
        The last of those can lie wholly inside the one before, and is no chunk.
    return overlap + rest if rest else max_length => return rest
    return overlap + rest if rest else max_length => return rest or max_length
    return overlap + rest if rest else max_length => \
    return rest or max_length - overlap
        what lies behind the overlap is counted alone…
    return overlap + rest if rest else max_length => return overlap + rest
        where the document comes out even, the last chunk is a full one: not one that
        holds the overlap alone.
    return overlap + rest if rest else max_length => \
    return overlap + num_tokens % (max_length - overlap)
        the steps begin behind the first chunk: what is left over is that of
        `num_tokens - max_length`, not of `num_tokens`.
    return overlap + rest if rest else max_length => \
    return num_tokens % max_length + overlap
        the overlap does not come on top of what `max_length` leaves over: it makes the
        steps shorter, so something else is left over.
    return overlap + rest if rest else max_length => return max_length
        full chunks only. The last one ends with the document, and can be shorter.
    return overlap + rest if rest else max_length => return max_length - overlap
        the last chunk is taken to be as long as a step.
    return overlap + rest if rest else max_length => \
    return num_tokens - (num_tokens // (max_length - overlap) - 1) * \
    (max_length - overlap)
        steps are counted by dividing the whole document, rounded down.
    return overlap + rest if rest else max_length => return max_length + rest
        rounded down, the steps do not reach the end: one more chunk is needed for what
        is left.
""")
def by_what_is_left(num_tokens, max_length, overlap):
    if num_tokens <= max_length:
        return num_tokens
    rest = (num_tokens - max_length) % (max_length - overlap)
    return overlap + rest if rest else max_length


last_chunk_length.answers("""
    num_tokens % max_length
        that is 0 where full chunks fill…
    num_tokens % max_length or max_length
        the overlap plays no part here…
    num_tokens % (max_length - overlap)
        that is what is left behind whole steps…
    num_tokens % (max_length - overlap) or max_length - overlap
    (num_tokens - 1) % (max_length - overlap) + 1 if num_tokens else 0
        so ends a loop that starts…
    min(num_tokens, max_length)
        full chunks only…
    num_tokens - -(-num_tokens // (max_length - overlap)) * (max_length - overlap)
    (num_tokens - count_chunks(num_tokens, max_length, overlap) * \
    (max_length - overlap)) % max_length
        a step is taken off for every chunk, though the first one starts at 0.
    num_tokens and last_chunk_length.reference(num_tokens, max_length, overlap) or [][0]
        a document of 0 ids has no chunk, and so no last one: its answer is 0, without
        an error.
    count_chunks(num_tokens, max_length, overlap)
        that is the *number* of chunks.
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


never_scored.slips("""
    if overlap => if overlap == 1
    if overlap => if overlap > 1
    if overlap => if overlap == 1 ; count_chunks(length, max_length) for => \
    count_chunks(length, max_length, overlap) for
    if overlap => if overlap > 1 ; count_chunks(length, max_length) for => \
    count_chunks(length, max_length, overlap) for
        an overlap of 1 or more is an overlap: its size plays no part.
    if overlap => if not overlap
        the cases are exchanged: without an overlap the first ids of all chunks are
        left, with one only those of the documents.
    if overlap: => lengths = [sum(lengths)] ⏎ if overlap:
        the documents are joined before they are cut. Each is cut by itself, and each
        has a first id.
    if overlap: => lengths = lengths[:1] ⏎ if overlap:
        the count for a single document: `lengths` holds several, add them up.
    if overlap: => lengths = [n for n in lengths if n > 1] ⏎ if overlap:
        a document of a single id counts too: its id is the first, and no target.
    if overlap: => lengths = [n for n in lengths if n > max_length] ⏎ if overlap:
        documents that fit into one chunk are left out: their first id is no target.
    length > 0 for => 1 for
        with an overlap, a document of 0 ids is counted: it has no id that could be left
        unscored.
    length > 0 for => 0 for
        with an overlap, the very first id of each document is forgotten: nothing stands
        before it.
    sum(length > 0 for length in lengths) => int(any(lengths))
    sum(length > 0 for length in lengths) => 1
        with an overlap, one id of *each* document is left, not one of them all.
    length > 0 for => count_chunks(length, max_length, overlap) for
        with an overlap, the first id of *every* chunk is counted: the chunk before
        holds it too, and scores it there.
    length > 0 for => -(-length // (max_length - overlap)) for
        with an overlap, every step is counted: a cut leaves no id unscored then.
    length > 0 for => -(-length // max_length) for
    if overlap: return sum(length > 0 for length in lengths) =>
        with an overlap, the cuts are still counted: none but the first id of a document
        is never a target then.
    length > 0 for => length // max_length for
        with an overlap, all full chunks are counted: only the first id of a document is
        left.
    length > 0 for => max(0, count_chunks(length, max_length, overlap) - 1) for
        with an overlap, the cuts are counted, which score all their ids, without the
        first id of the document.
    length > 0 for => max(0, count_chunks(length, max_length, overlap) - overlap) for
        with an overlap, the size of the overlap is taken off the number of chunks: it
        plays no part.
    length > 0 for => count_chunks(length, max_length, overlap) * overlap for
        with an overlap, all that is read again is counted: none of it stays unscored.
    count_chunks(length, max_length) for => length // max_length for
        without an overlap, chunks are rounded down: what is left behind the full ones
        is a chunk too, with a first id.
    count_chunks(length, max_length) for => length // max_length + 1 for
        where a document comes out even, nothing is left for a further chunk.
    count_chunks(length, max_length) for => \
    max(0, count_chunks(length, max_length) - 1) for
        without an overlap, only cuts are counted: nothing stands before the document's
        first id either.
    count_chunks(length, max_length) for => (length > 0) for
        without an overlap, the first id of each further chunk has nothing before it
        either.
    count_chunks(length, max_length) for => 1 + count_chunks(length, max_length) for
    count_chunks(length, max_length) for => \
    (length > 0) + count_chunks(length, max_length) for
        without an overlap, the first id of a document is counted twice: it is the first
        of its first chunk.
    count_chunks(length, max_length) for => 0 for
        without an overlap, nothing is counted.
    count_chunks(length, max_length) for => \
    max(1, count_chunks(length, max_length)) for
        without an overlap, a document of 0 ids is counted: it has no chunk.
""")


never_scored.answers("""
    sum(count_chunks(length, max_length, overlap) for length in lengths)
        with an overlap, the first id of *every* chunk…
    sum(length > 0 for length in lengths)
        without an overlap, the first id of each further chunk…
    len(lengths)
        one id a document: so it is with an overlap, if the document has ids. Without
        one, the first id of each further chunk has nothing before it either.
    sum(count_chunks(length, max_length, overlap) - 1 for length in lengths)
    sum(max(0, count_chunks(length, max_length, overlap) - 1) for length in lengths)
        the cuts are counted. A cut leaves no id unscored if there is an overlap; and
        the first id of a document is left, cut or not.
    sum(max(0, count_chunks(length, max_length) - 1) for length in lengths) \
    if not overlap else 0
        the very first id of each document is forgotten: nothing stands before it,
        whatever the overlap.
    sum(overlap * max(0, count_chunks(n, max_length, overlap) - 1) for n in lengths)
        these are the ids that are read again, which the overlap makes more: you want
        those that are never a target.
    sum(lengths) // max_length
        the documents are joined before they are cut…
    sum(lengths) - never_scored.reference(lengths, max_length, overlap)
        that is how many ids *are* a target: you want the others.
    sum(n - count_chunks(n, max_length, overlap) for n in lengths)
        ids less first ids of chunks: nearly what *is* scored. You want the others.
    sum(n + overlap * max(0, count_chunks(n, max_length, overlap) - 1) -
    count_chunks(n, max_length, overlap) for n in lengths)
        targets of all chunks together: those in an overlap are counted twice. You want
        the ids that are a target nowhere.
    sum(count_chunks(n, max_length, overlap) -
    overlap * max(0, count_chunks(n, max_length, overlap) - 1) for n in lengths)
        the targets of all chunks are taken off, where those in an overlap count twice.
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


cut_from_the_end.slips("""
    if short else [] =>
    if short else [] => if ids else []
        where nothing is left over, an empty chunk comes first: leave it out.
    [ids[:short]] if short else [] => []
        the short chunk is missing: it comes first.
    short = len(ids) % max_length => short = len(ids) // max_length
        the first chunk is as long as there are full ones: `%` gives what is left over,
        `//` how often it fits.
    short = len(ids) % max_length => short = max_length - len(ids) % max_length
        that is how many ids are *missing* for a full chunk: the first one holds those
        that are over, `len(ids) % max_length`.
    ids[:short] => ids[:max_length]
        the first chunk is filled up with ids of the second: chunks do not overlap here.
    ids[:short] => ids[: short + 1]
        the first chunk is one id too long.
    range(short, len(ids), => range(0, len(ids),
    range(short, len(ids), => range(0, len(ids) - short,
        the full chunks begin at 0 again: they start behind the short one.
    range(short, len(ids), => range(short, len(ids) - max_length,
        the last full chunk is missing: `range` leaves out its end by itself.
    range(short, len(ids), => range(short + 1, len(ids),
        the full chunks begin one id too late.
    range(short, len(ids), => range(short + max_length, len(ids),
        the first full chunk is missing.
    ids[start : start + max_length] for start in full => \
    ids[start:] for start in [short]
        the ids behind the short chunk are not cut.
    return chunks + [ids[...] for start in full] => \
    return (chunks + [ids[...] for start in full])[::-1]
        the last chunk stands first: turn the list round.
    return chunks + [ids[...] for start in full] => \
    return [ids[...] for start in full] + chunks
        the short chunk is put last.
    [ids[:short]] if => [ids[:short][::-1]] if ; + max_length] for => \
    + max_length][::-1] for
        the ids of each chunk stand backwards: turn them round again too.
    for start in full] => for start in full] or [[]]
        a document without ids has no chunks, not an empty one.
""")


@cut_from_the_end.way("""
    max(0, ...) => (...)
        a slice that starts below 0 starts counting from the end: begin the first chunk
        at `max(0, ...)`.
    insert(0, ...) => append(...)
        the last chunk stands first: turn the list round.
    end > 0 => end >= 0
        where nothing is left over, an empty chunk…
    end > 0 => end >= max_length
        the short chunk is missing…
    : end]) => : end][::-1])
        the ids of each chunk stand backwards…
    chunks, end = [], len(ids) => chunks, end = [], len(ids) - 1
        the last id is left out: a slice leaves out its end by itself.
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
        cut from the beginning: the last chunk is the short one. Here it is to be the
        first.
    _cut_from_the_beginning(ids, max_length)[-1:] + \
    _cut_from_the_beginning(ids, max_length)[:-1]
        the chunks of an ordinary cut, in another order: the ids no longer stand in the
        order of the text.
    [ids[i : i + max_length] for i in range(0, len(ids) - max_length + 1, max_length)]
        an ordinary cut, without what is left over at the end: the short chunk is a
        chunk too, and comes first.
    _cut_from_the_beginning(ids[::-1], max_length)
        the text stands backwards: whoever cuts the reversed ids must turn round both,
        each chunk and the list of chunks.
    _cut_from_the_beginning(ids, max_length)[::-1]
        an ordinary cut, and its list turned round: the last chunk is still the short
        one, and now stands first. Where the cuts lie must change, not the order.
    [ids[-(k + 1) * max_length : -k * max_length] for k in \
    range(-(-len(ids) // max_length))]
    [ids[-(k + 1) * max_length : -k * max_length] for k in \
    range(-(-len(ids) // max_length))][::-1]
        the last chunk is empty: where a slice ends at `-0`, that is 0, the beginning.
    [piece.tolist() for piece in np.array_split(ids, -(-len(ids) // max_length))] \
    if ids else []
        pieces of nearly equal length. All but the first are to be full.
    [ids[-max_length:]] if ids else []
        only the last `max_length` ids are kept: keep all of them.
    [ids[:-max_length], ids[-max_length:]]
        only the last chunk is cut off: what stands before it can be longer than a
        chunk.
    [ids[-max_length:], ids[:-max_length]]
        only the last chunk is cut off, to be put first: cut what stands before it too.
    ids
        the chunks are joined again: a list of lists is wanted.
""")


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


@reader_of.way("""
    max(1, num_workers) => num_workers
        where there are 0 workers, the rank reads by itself: that is worker 0, and
        nothing can be divided by 0.
    max(1, num_workers) => num_workers + 1
        one worker too many: the process that has workers does not read itself.
    rank = row % world_size => rank = row // world_size
        neighbors in the data set go to different ranks: the rank is the *remainder*.
        The quotient counts the rows that the rank got before.
    rank = row % world_size => rank = row // workers
        the rank is the quotient by the number of workers. It is a remainder.
    rank = row % world_size => rank = row // workers % world_size
        a rank gets several rows in a row, one for each worker: what it reads would
        depend on how many workers it has.
    rank = row % world_size => rank = row % world_size + 1
        ranks count from 0: nothing is to be added.
    rank = row % world_size => rank = (row + 1) % world_size
        the rank is that of the next row.
    row // world_size % workers => row % workers
        the remainder is that of the row among all rows. The workers share the rows of
        their rank: count those.
    row // world_size % workers => row // world_size
        the second number is which of its rank's rows it is. The workers take turns:
        once round, worker 0 is next.
    row // world_size % workers => row // (world_size * workers) % workers
        the worker's turn is that of the whole round: before this row, each worker of a
        rank got one row of `world_size * num_workers`.
    row // world_size % workers => row // world_size // workers
    row // world_size % workers => row // (world_size * workers)
        `//` where `%` is wanted for the worker: the workers take turns.
    row // world_size % workers => row // workers % workers
    row // world_size % workers => row // workers
        for the worker the row is divided by the number of workers. Before this row, its
        rank got `row // world_size` others.
    row // world_size % workers => row % world_size
        the worker is the remainder by the number of ranks.
    row // world_size % workers => row // world_size % world_size
        the workers take turns by the number of ranks, not by their own.
    row // world_size % workers => 0
        the worker is always 0: the rows of a rank are dealt out among its workers.
    row // world_size % workers => (row // world_size + 1) % workers
        one row off for the worker: the first row of a rank is for its worker 0.
    row // world_size % workers => (row + 1) // world_size % workers
        the worker is that of the next row.
    row // world_size % workers => row // world_size % workers + 1
    row // world_size % workers => row % (world_size * workers) // world_size + 1
        workers count from 0: nothing is to be added.
    row // world_size % workers => row % (world_size * workers)
        that is the number of a reader among all readers: a worker is numbered within
        its rank.
    row // world_size % workers => (row - row % world_size) % workers
        taken off the row, the rank leaves a multiple of `world_size`: divide it by that
        before the workers take turns.
    row // world_size % workers => row % world_size % workers
        the worker goes by the number of the rank, so each rank uses only one of them.
        It goes by the rows that the rank got before, `row // world_size`.
    return rank, worker => return worker, rank
        worker and rank are exchanged: the rank comes first in the result.
    return rank, worker => return rank, worker if num_workers else None
        where there are 0 workers, the rank reads as worker 0, not `None`.
    return rank, worker => return rank, worker if num_workers else -1
        where there are 0 workers, the rank reads as worker 0, not -1.
    return rank, worker => return rank, worker if num_workers else 1
    return rank, worker => return rank, worker if num_workers > 1 else 1
        a single worker, or none, is number 0, not 1.
    return rank, worker => return rank, worker if num_workers else row // world_size
        where there are 0 workers, the rank reads as worker 0: nobody takes turns.
""")
def in_steps(row, world_size, num_workers):
    workers = max(1, num_workers)
    rank = row % world_size
    worker = row // world_size % workers
    return rank, worker


@reader_of.way("""
    worker = row // world_size % num_workers => worker = row % num_workers
        the remainder is that of the row among all rows…
    worker = row // world_size % num_workers => worker = row // world_size
        the second number is which…
    worker = row // world_size % num_workers => \
    worker = row // world_size // num_workers
        `//` where `%` is wanted…
    worker = row // world_size % num_workers => \
    worker = row % (world_size * num_workers)
        that is the number of a reader…
    worker = row // world_size % num_workers => worker = row // num_workers
        for the worker the row is divided…
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


reader_of.answers("""
    (row // max(1, num_workers) % world_size, row % max(1, num_workers))
        dealt out first to the workers, then to the ranks: what a rank reads would
        depend on how many workers it has.
    (row % max(1, num_workers), row // max(1, num_workers) % world_size)
        dealt out first to the workers, then to the ranks, with the worker in front.
    divmod(row, world_size)
        that is `divmod(row, world_size)`: its remainder is the rank, which comes first.
        Its quotient counts the rows that the rank got before, and they are dealt out
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


next_item.slips("""
    delivered < count => delivered <= count
        at the end of a document it goes on behind its last chunk, where nothing is: the
        next item is chunk 0 of the next document that has one.
    delivered -= count return => return
        compared with the count of one document, without taking off those of the
        documents before.
    for document => delivered = max(0, delivered - 1) ⏎ for document
        that is the item that came last. The next one is wanted; with 0 items delivered
        it is the very first.
    for document => delivered -= 1 ⏎ for document
    for document => delivered -= 1 ⏎ for document ; \
    return document, delivered => return document, max(0, delivered)
        that is the item that came last: the next one is wanted.
    for document => delivered += 1 ⏎ for document
        one item too far: after `delivered` items, the next one has this very number, as
        items count from 0.
    for document => counts = [count for count in counts if count] ⏎ for document
        documents without chunks keep their number: they are passed over, but counted.
    return document, delivered => return delivered, document
        chunk and document are exchanged: the document comes first.
    return document, delivered => return document + 1, delivered
    return document, delivered => return document + 1, delivered ; \
    return len(counts), 0 => return len(counts) + 1, 0
        documents are numbered from 0, as chunks are.
    return document, delivered => return document, delivered + 1
    return document, delivered => return document, delivered + 1 ; \
    return len(counts), 0 => return len(counts), 1
        chunks are numbered from 0, as documents are.
    return document, delivered => return document + 1, delivered + 1
    return document, delivered => return document + 1, delivered + 1 ; \
    return len(counts), 0 => return len(counts) + 1, 1
        documents and chunks are numbered from 0.
    return document, delivered => return document, 0
        the chunk is forgotten: the stream would repeat the chunks of this document that
        were delivered already.
    return document, delivered => return document, delivered - 1
    return document, delivered => return document, delivered - 1 ; \
    return len(counts), 0 => return len(counts), -1
        one chunk too early: this one was delivered already, and where none was, it is
        -1. The next one is wanted.
    return document, delivered => return document, count - delivered
        the chunks that *remain* of the document are returned: the number of its next
        chunk is wanted.
    return document, delivered => return document, delivered - count
        the chunks of this document itself are taken off too.
    return document, delivered => return document, sum(counts[:document]) + delivered
    return document, delivered => \
    return document, sum(counts[:document]) + delivered ; \
    return len(counts), 0 => return len(counts), sum(counts)
        the chunks of the documents before are not taken off: chunks are numbered within
        their document.
    return len(counts), 0 => return len(counts) - 1, 0
        where everything was delivered, no document is left: `(len(counts), 0)`, not the
        last one once more.
    return len(counts), 0 => return max(0, len(counts) - 1), (counts or [0])[-1]
    return len(counts), 0 => return len(counts) - 1, (counts or [0])[-1]
        where everything was delivered, the next document would be number `len(counts)`:
        this is behind the last chunk of the last one.
    return len(counts), 0 => return 0, 0
        where everything was delivered, the stream is at its end, not at its beginning:
        a resumed stream would repeat all.
    return len(counts), 0 => return -1, 0
        at the end of all the document is `len(counts)`, not -1.
    return len(counts), 0 => return None
        at the end of all a pair is wanted too: `(len(counts), 0)`.
    return len(counts), 0 => return 0, len(counts)
        at the end of all, the number of documents stands for the chunk: it comes first.
    return len(counts), 0 => return len(counts) + 1, 0
        at the end of all, a document too many is counted.
    return len(counts), 0 => return len(counts), sum(counts)
        at the end of all, the chunk is the number of all items.
    return len(counts), 0 => return counts[len(counts)]
        at the end of all, no document is left: `(len(counts), 0)`, without an error.
""")


@next_item.way("""
    document < len(counts) and =>
        at the end of all, no document is left…
    >= counts => > counts
        at the end of a document it goes on behind…
    while document => if document
        only one document is passed over: repeat it until the next one is not delivered
        whole.
    delivered >= counts[document] => delivered >= counts[document] and delivered
        it stops at a document without chunks, which has no item: pass over it.
    document < len(counts) and => document < len(counts) - 1 and
        where everything was delivered, the next document would be…
    return document, delivered => return delivered, document
        chunk and document are exchanged: the document comes first.
    return document, delivered => return document, 0
        the chunk is forgotten…
    document += 1 => document += counts[document] > 0
        documents without chunks keep…
""")
def passed_over(counts, delivered):
    document = 0
    while document < len(counts) and delivered >= counts[document]:
        delivered -= counts[document]
        document += 1
    return document, delivered


next_item.answers("""
    divmod(delivered, counts[0]) if counts and counts[0] else (len(counts), 0)
        all documents are taken to be as long as the first one: pass over them one by
        one.
    (delivered, 0)
        a number of items is compared with the number of *documents*: a document has
        several chunks, or none.
    divmod(delivered, max(1, len(counts)))
        `delivered` is divided by the number of documents: they have different numbers
        of chunks, pass over them one by one.
""")


@next_item.way("""
    chunk = 0, -1 => chunk = 0, 0 ; delivered + 1 => delivered ; \
    while document < len(counts) and chunk >= => if chunk ==
        a document is left only when its chunk number *equals* its count: in one without
        chunks it never does.
    chunk = 0, -1 => chunk = 0, 0 ; delivered + 1 => delivered ; \
    while document < len(counts) and => if
        a document without chunks takes an item here, or the stream stops at it: it has
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


count_padding.slips("""
    range(0, len(lengths), batch_size) => \
    range(0, len(lengths) - batch_size + 1, batch_size)
        the last batch is left out where it is not full: it counts.
    range(0, len(lengths), batch_size) => \
    range(0, len(lengths) - batch_size, batch_size)
        the last batch is left out even where it is full: `range` leaves out its end by
        itself.
    range(0, len(lengths), batch_size) => range(len(lengths))
        a batch starts at every row. They follow one another without overlap: go in
        steps of `batch_size`.
    range(0, len(lengths), batch_size) => range(len(lengths) - batch_size + 1)
        a full batch starts at every row: they follow one another without overlap.
    range(0, len(lengths), batch_size) => range(len(lengths) // batch_size)
        batch i starts at `i * batch_size`, not at i; there can be one more that is not
        full.
    lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size) => \
    sorted(lengths)[i : i + batch_size] for i in range(0, len(lengths), batch_size)
        the rows are sorted first. That is a good idea for a loader, but here batches
        are made in the order given.
    lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size) => \
    sorted(lengths)[::-1][i : i + batch_size] \
    for i in range(0, len(lengths), batch_size)
        the rows are sorted first, the longest in front. That is a good idea for a
        loader, but here batches are made in the order given.
    lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size) => \
    lengths[i::batch_size] for i in range(min(batch_size, len(lengths)))
        `batch_size` is taken for the number of batches: so many *rows* make one.
    lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size) => \
    lengths[i :: -(-len(lengths) // batch_size)] for i in \
    range(-(-len(lengths) // batch_size))
        rows are dealt out to the batches like cards: `batch_size` rows that follow one
        another make a batch.
    i + batch_size] for i => i + batch_size - 1] or [0] for i
        a batch is cut one row too short: a slice leaves out its end by itself.
    i + batch_size] for i => i + batch_size + 1] for i
        a batch is cut one row too long: the next batch has that row already.
    [lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size)] => \
    [lengths[: i + batch_size][i - len(lengths) :] for i in \
    range(len(lengths) % -batch_size, len(lengths), batch_size)]
        the first rows, not the last, make the small batch.
    for batch in batches => for batch in batches[:1]
        only the first batch is counted.
    for batch in batches => for batch in batches[-1:]
        only the last batch is counted: the sum begins again for each batch.
    max(batch) * len(batch) - sum(batch) for => max(batch) * len(batch) for
        that is all that the batches hold, text and padding: take off the text.
    * len(batch) => * batch_size
        the last batch is counted as if it were full. It has only the rows that are
        left.
    max(batch) * len(batch) - sum(batch) for => max(batch) * batch_size for
        that is all that full batches would hold, text and padding: take off the text,
        and the last batch has only the rows that are left.
    max(batch) * len(batch) - sum(batch) for => sum(batch) for
        that is the text. You want what is added to it.
    * len(batch) =>
        the longest row of each batch is counted once, less all its ids: it must be
        counted once for each row of the batch.
    * len(batch) - sum(batch) =>
        that is the sum of the longest rows. How many ids does a batch hold when all its
        rows are as long, and how many of them are text?
    max(batch) * len(batch) - sum(batch) for => max(batch) - min(batch) for
        only the padding of the shortest row of each batch is counted: add up that of
        all its rows.
    - sum(batch) => - min(batch) * len(batch)
    max(batch) * len(batch) - sum(batch) for => \
    (max(batch) - min(batch)) * batch_size for
        the shortest row is taken off for each row: take off what each of them holds.
    max(batch) * len(batch) - sum(batch) for => sum(batch) - min(batch) * len(batch) for
        rows are cut to the shortest of their batch here: they are to be filled up to
        the longest.
    max(batch) => min(batch)
        rows are filled up to the shortest of their batch, not to the longest.
    max(batch) * len(batch) - sum(batch) for => sum(n < max(batch) for n in batch) for
        these are the rows that get padding. You want how many ids it is.
    max(batch) => batch[0]
        the first row of a batch is taken for its longest: take the `max`.
    max(batch) * len(batch) - sum(batch) for => \
    sum(abs(batch[0] - n) for n in batch) for
        each row is compared with the first of its batch: the longest can be another.
    max(batch) => batch[-1]
        the last row of a batch is taken for its longest. That holds if the rows are
        sorted, but these are not.
    max(batch) * len(batch) - sum(batch) for => \
    sum(abs(batch[-1] - n) for n in batch) for
        each row is compared with the last of its batch: the longest can be another.
    max(batch) * len(batch) - sum(batch) for => abs(batch[0] - batch[-1]) for
        the first row of a batch is compared with its last: each row is compared with
        the longest.
    max(batch) * len(batch) - sum(batch) for => \
    sum(abs(a - b) for a, b in zip(batch, batch[1:])) for
        neighbors are compared: each row is filled up to the longest of its batch.
    max(batch) => (max(batch) + 1)
        one id more for each row: the longest gets no padding.
    max(batch) => max(lengths)
        all batches are filled up to the longest row of all: each needs its own longest
        row only.
    max(batch) * len(batch) - sum(batch) for => batch_size - len(batch) for
        the rows are counted that a last batch has not.
""")


@count_padding.way("""
    longest = 0 batch => batch
        the longest row is not looked for anew: it can be one of a batch before.
    padding += => padding =
        only the last batch is counted…
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
        each row is compared with those behind it: it is filled up to the longest of its
        own batch, which can stand before it.
    len(lengths) * batch_size - sum(lengths)
        `batch_size` is taken for the length of the rows: it is how many of them make a
        batch.
    count_padding.reference(lengths, batch_size) / max(1, sum(lengths) +
    count_padding.reference(lengths, batch_size))
        that is the share of padding among all that the batches hold. Its count is
        wanted.
    max((count_padding.reference(lengths[i : i + batch_size], batch_size) for i in
    range(0, len(lengths), batch_size)), default=0)
    max(count_padding.reference(lengths[i : i + batch_size], batch_size) for i in
    range(0, len(lengths), batch_size))
        that is the padding of the worst batch: add up those of all.
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
        "There `stride` is the overlap, and 512 - 384 = 128 is the step. In a sliding "
        "window, in a convolution, and in other lessons of this course, a stride is "
        "the step, so that `stride=128` looks right and starts a chunk every 384 tokens "
        "instead. The two meanings agree only if the stride is half of `max_length`. "
        "With special tokens a chunk has less room, and the step shrinks by their "
        "number."
    ),
)
def stride_for_a_step(num_tokens: int, max_length: int, stride: int) -> list[int]:
    step = max_length - stride
    last = max(0, num_tokens - max_length)
    return [start for start in range(0, last + step, step)]


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


chunks_of_document.answers("""
    -(-num_tokens // (max_length - overlap))
        one at every step of the document. The last of them may hold nothing new.
    1 + (num_tokens - max_length) // (max_length - overlap)
        without the short one at the end: no id is left out.
    count_chunks(num_tokens, max_length)
        the overlap is not in it: neighbors share ids.
    count_chunks(num_tokens, max_length, max_length - overlap)
        the overlap is taken for the step.
""")


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


ids_of_last_chunk.answers("""
    ids_of_last_chunk.reference(num_tokens, max_length, overlap) - overlap
        only what is new in it: it begins with the overlap.
    (num_tokens - 1) % max_length + 1
        chunks without an overlap.
    num_tokens % (max_length - overlap)
        what the step leaves of the document.
""")


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


pads_in_order.answers("""
    max(lengths) * len(lengths) - sum(lengths)
        all rows are padded to the longest of all.
    pads_in_order.reference(sorted(lengths), batch_size)
        the rows are sorted by length first. They come in this order.
    pads_in_order.reference(lengths, batch_size) + sum(lengths)
        all places of the batches: their ids are no pads.
""")
