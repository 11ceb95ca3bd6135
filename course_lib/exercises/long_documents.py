"""Exercises of lesson 08: chunks, which worker reads which row, where a resumed stream
goes on, and padding."""

from collections.abc import Iterator
from functools import cache
from random import Random

from tokenizers import Tokenizer, models, pre_tokenizers

from course_lib.long_documents import count_chunks
from course_lib.teaching.checker import Case, bug_or_not, exercise, true_or_false


def _documents(random: Random) -> Iterator[Case]:
    for max_length in (1, 2, 5, 8):
        for overlap in sorted({0, 1, max_length // 2, max_length - 1}):
            if overlap < max_length:
                for num_tokens in (0, 1, 2, 5, 6, 8, 9, 13, 17):
                    yield num_tokens, max_length, overlap


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


last_chunk_length.mistake(
    "you count chunks, but you need the steps between them. From the first of three "
    "chunks to the last, there are only two steps.",
    lambda n, most, overlap: n - count_chunks(n, most, overlap) * (most - overlap),
    lambda n, most, overlap: max(
        0, n - count_chunks(n, most, overlap) * (most - overlap)
    ),
)
last_chunk_length.mistake(
    "you move on by whole chunks, but with an overlap they start only `max_length - "
    "overlap` apart.",
    lambda n, most, overlap: n % most or most,
    lambda n, most, overlap: (n - 1) % most + 1 if n else 0,
)
last_chunk_length.mistake(
    "you count only what's new in the last chunk, but it also holds the `overlap` ids "
    "that it shares with the one before it.",
    lambda n, most, overlap: last_chunk_length(n, most, overlap) - overlap * (n > most),
)
last_chunk_length.mistake(
    "you start a chunk at every step, up to the end of the document, but the first "
    "chunk that reaches the end is the last one. A later one would lie inside it.",
    lambda n, most, overlap: (n - 1) % (most - overlap) + 1 if n else 0,
    lambda n, most, overlap: n % (most - overlap),
)
last_chunk_length.mistake(
    "you measure a last chunk even in a document of 0 ids, which has no chunks at all. "
    "Return 0.",
    lambda n, most, overlap: (
        n - (count_chunks(n, most, overlap) - 1) * (most - overlap)
    ),
    lambda n, most, overlap: last_chunk_length(n, most, overlap) or most,
)
last_chunk_length.mistake(
    "when the steps come out even, your remainder is 0, but then the last chunk is "
    "full.",
    lambda n, most, overlap: overlap + (n - most) % (most - overlap) if n > most else n,
    lambda n, most, overlap: n % most,
)


def _collections(random: Random) -> Iterator[Case]:
    yield from (([], 4, 0), ([], 4, 1), ([0], 3, 0), ([0], 3, 2), ([1], 4, 0))
    # in chunks of one id, nothing ever comes before a target
    yield from (([1], 1, 0), ([3], 1, 0), ([2, 0, 1], 1, 0))
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
        "an overlap of 1. In each chunk, cross out every id that is scored, which is "
        "every id except the first. Which ids are never crossed out?",
        "The first id of a chunk is the only one that isn't a target there. Does "
        "another chunk hold that id, and does anything come before it there? It "
        "matters whether there's an overlap, but not how large it is.",
    ),
)
def never_scored(lengths: list[int], max_length: int, overlap: int) -> int:
    """Count the ids of a collection that are a target in none of its chunks."""
    if overlap:
        return sum(length > 0 for length in lengths)
    return sum(count_chunks(length, max_length) for length in lengths)


never_scored.mistake(
    "with an overlap, you still count the first id of every chunk, although the chunk "
    "before holds that id, too, and predicts it there.",
    lambda lengths, most, overlap: sum(count_chunks(n, most, overlap) for n in lengths),
    lambda lengths, most, overlap: sum(count_chunks(n, most) for n in lengths),
)
never_scored.mistake(
    "you count only the first id of each document, but without an overlap, nothing "
    "comes before the first id of any chunk.",
    lambda lengths, most, overlap: sum(n > 0 for n in lengths),
    lambda lengths, most, overlap: len(lengths),
)
never_scored.mistake(
    "you count an empty document, too, but it has no id that could be missed.",
    lambda lengths, most, overlap: (
        len(lengths) if overlap else never_scored(lengths, most, 0)
    ),
    lambda lengths, most, overlap: never_scored(
        [max(1, n) for n in lengths], most, overlap
    ),
)
never_scored.mistake(
    "you count the cuts, and forget the very first id of a document, which is never "
    "scored either, because nothing comes before it.",
    lambda lengths, most, overlap: sum(
        max(0, count_chunks(n, most, overlap) - 1) for n in lengths
    ),
    lambda lengths, most, overlap: (
        0 if overlap else sum(max(0, count_chunks(n, most) - 1) for n in lengths)
    ),
)
never_scored.mistake(
    "you join the documents before you cut, and lose sight of their first ids. Cut "
    "each document on its own.",
    lambda lengths, most, overlap: never_scored([sum(lengths)], most, overlap),
)
never_scored.mistake(
    "you round the number of chunks wrongly. Without an overlap, ids that are left "
    "over make one more chunk, but if none are left over, there isn't another one.",
    lambda lengths, most, overlap: sum(
        n > 0 if overlap else n // most for n in lengths
    ),
    lambda lengths, most, overlap: sum(
        n > 0 if overlap else n // most + 1 for n in lengths
    ),
)


def _ranks_and_workers(random: Random) -> Iterator[Case]:
    for world_size in (1, 2, 3):
        for num_workers in (0, 1, 2, 4):
            for row in (0, 1, 2, 3, 5, 6, 11):
                yield row, world_size, num_workers


@exercise(
    cases=_ranks_and_workers,
    hints=(
        "Take 2 ranks of 3 workers. Rank 0 gets the rows 0, 2, 4, 6, ... Which of its "
        "workers gets which of these rows?",
        "The rank is a remainder. Before this row, its rank got `row // world_size` "
        "other rows, and it deals all of its rows out again, to its own workers. What "
        "if it has no workers?",
    ),
)
def worker_of(row: int, world_size: int, num_workers: int) -> tuple[int, int]:
    """Return the rank and the worker that read row `row` of a data set."""
    return row % world_size, row // world_size % max(1, num_workers)


worker_of.mistake(
    "you choose the worker by the row's number in the whole data set, but a rank deals "
    "out only its own rows. Count those.",
    lambda row, ranks, workers: (row % ranks, row % max(1, workers)),
    lambda row, ranks, workers: (row % ranks, row % workers),
)
worker_of.mistake(
    "you forget that with 0 workers nobody takes turns. The rank then reads its rows "
    "itself, as worker 0.",
    lambda row, ranks, workers: (row % ranks, row // ranks % workers),
    lambda row, ranks, workers: (
        row % ranks,
        row // ranks % workers if workers else row // ranks,
    ),
)
worker_of.mistake(
    "you deal rows to the workers first, so what rank 1 reads would depend on how many "
    "workers it has. Deal the rows to the ranks first.",
    lambda row, ranks, workers: (
        row // max(1, workers) % ranks,
        row % max(1, workers),
    ),
)
worker_of.mistake(
    "you number the workers of all ranks together, while each rank numbers its own, "
    "from 0.",
    lambda row, ranks, workers: (row % ranks, row % (ranks * max(1, workers))),
)
worker_of.mistake(
    "you return the row's number among its rank's rows, but the workers take turns at "
    "these. After the last worker comes worker 0 again.",
    lambda row, ranks, workers: (row % ranks, row // ranks),
)
worker_of.mistake(
    "you divide a second time with `//`, but the workers take turns, so you need a "
    "remainder.",
    lambda row, ranks, workers: (row % ranks, row // ranks // max(1, workers)),
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
        "Skip the documents that were delivered completely, and subtract their chunks "
        "from `delivered`. What's left when you come to one that wasn't?",
        "Skip a document if what's left of `delivered` is at least its number of "
        "chunks. Then a document of 0 chunks is always skipped. And what if all "
        "documents are?",
    ),
)
def next_item(counts: list[int], delivered: int) -> tuple[int, int]:
    """Return document and chunk of the item that comes after `delivered` items."""
    for document, count in enumerate(counts):
        if delivered < count:
            return document, delivered
        delivered -= count
    return len(counts), 0


def _first(counts, delivered, is_here) -> tuple[int, int]:
    for document, count in enumerate(counts):
        if is_here(delivered, count):
            return document, delivered
        delivered -= count
    return len(counts), 0


next_item.mistake(
    "at the end of a document you stay in it, at a chunk that doesn't exist, instead "
    "of moving on to chunk 0 of the next document that has one.",
    lambda counts, delivered: _first(counts, delivered, lambda left, n: left <= n),
)
next_item.mistake(
    "you compare `delivered` with each count, but you don't subtract the chunks of "
    "the documents that you've passed.",
    lambda counts, delivered: next(
        ((i, delivered) for i, n in enumerate(counts) if delivered < n),
        (len(counts), 0),
    ),
)
next_item.mistake(
    "you return the item that came last, not the next one: after 0 items, that would "
    "be the first.",
    lambda counts, delivered: next_item(counts, delivered - 1),
    lambda counts, delivered: next_item(counts, max(0, delivered - 1)),
)
next_item.mistake(
    "you drop empty documents and number the others again. Skip them, but let every "
    "document keep its number.",
    lambda counts, delivered: next_item([n for n in counts if n], delivered),
)
next_item.mistake(
    "when everything has been delivered, you return the last document, or the first "
    "one again. But none is left, so return `(len(counts), 0)`.",
    lambda counts, delivered: (
        next_item(counts, delivered) if delivered < sum(counts) else (0, 0)
    ),
    lambda counts, delivered: (
        next_item(counts, delivered)
        if delivered < sum(counts)
        else (len(counts) - 1, (counts or [0])[-1])
    ),
)
next_item.mistake(
    "you begin the document again, and repeat chunks that were already delivered.",
    lambda counts, delivered: (next_item(counts, delivered)[0], 0),
)


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
        "Take one batch. How many ids does it hold once it's padded, and how many of "
        "them are text?",
        "A batch is padded to its own longest row, so multiply that length by the "
        "number of rows. How many rows are there in the last batch?",
    ),
)
def count_padding(lengths: list[int], batch_size: int) -> int:
    """Count the padding of all batches when `batch_size` rows at a time make one."""
    batches = [lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size)]
    return sum(max(batch) * len(batch) - sum(batch) for batch in batches)


def _summed(lengths, size, measure, *, end=0) -> int:
    starts = range(0, len(lengths) - end, size)
    return sum(measure(lengths[start : start + size]) for start in starts)


count_padding.mistake(
    "you pad all batches to the longest row of all. Pad each batch only to its own "
    "longest row.",
    lambda lengths, size: max(lengths, default=0) * len(lengths) - sum(lengths),
    lambda lengths, size: max(lengths) * len(lengths) - sum(lengths),
)
count_padding.mistake(
    "you count the last batch as if it were full, but it has only the rows that are "
    "left.",
    lambda lengths, size: _summed(lengths, size, lambda b: max(b) * size - sum(b)),
)
count_padding.mistake(
    "you leave out the last batch if it isn't full, but it gets padding like any "
    "other.",
    lambda lengths, size: _summed(
        lengths, size, lambda b: max(b) * len(b) - sum(b), end=size - 1
    ),
)
count_padding.mistake(
    "you count everything that the batches hold. Subtract the text, and what remains "
    "is the padding.",
    lambda lengths, size: _summed(lengths, size, lambda b: max(b) * len(b)),
)
count_padding.mistake(
    "you look at one row of each batch, but every row that is shorter than the longest "
    "gets padding. Add it all up.",
    lambda lengths, size: _summed(lengths, size, lambda b: max(b) - min(b)),
    lambda lengths, size: _summed(lengths, size, lambda b: max(b) - b[-1]),
)
count_padding.mistake(
    "you sort the rows first, which is a good idea for a loader, but here batches are "
    "made in the order given.",
    lambda lengths, size: count_padding(sorted(lengths), size),
    lambda lengths, size: count_padding(sorted(lengths, reverse=True), size),
)


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
        "among the last `overlap` ids of the document lies completely inside the chunk "
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
        "You want chunks of 512 tokens that start every 128 tokens. With "
        "`truncation=True, max_length=512, stride=384, return_overflowing_tokens=True, "
        "add_special_tokens=False`, a fast tokenizer of `transformers` 5.24, with "
        "`tokenizers` 0.23.3, cuts them for you, and stops with the chunk that reaches "
        "the end."
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
        "this course, and in a convolution, a stride is the step. That's why "
        "`stride=128` looks right, but it would start a chunk every 384 tokens."
    ),
)
def stride_for_a_step(num_tokens: int, max_length: int, stride: int) -> list[int]:
    step = max_length - stride
    last = max(0, num_tokens - max_length)
    return list(range(0, last + step, step))
