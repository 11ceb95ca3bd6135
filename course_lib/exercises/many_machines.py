"""Exercises of lesson 12: tasks that anyone may do, ranks that read each sample once,
and one loss for all of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from random import Random

from course_lib.teaching.checker import Case, bug_or_not, exercise, true_or_false


def _finished(random: Random) -> Iterator[Case]:
    yield from (([], 0), ([], 3), ([0], 0), ([1], 0), ([0], 1), ([1, 0], 0))
    yield from (([4, 2, 3, 2], 2), ([2, 3, 5], 2), ([3, 2, 5, 6], 2), ([5, 6], 4))
    yield from (([1, 2, 3], 2), ([0, 1, 2, 3], 4), ([3, 3], 3), ([7, 9, 8], 7))
    for _ in range(8):
        written = random.randrange(4)
        finished = [n for n in range(9) if n >= written or random.random() < 0.4]
        random.shuffle(finished)
        yield finished[: random.randrange(3, 9)] + finished[:1], written


@exercise(
    cases=_finished,
    hints=(
        "Only one task can come next in the file, task `written`. If that task has "
        "not ended, nothing can be written, however many others have.",
        "Count up from `written` as long as the number is among `finished`. It does "
        "not matter in which order tasks ended, or how often.",
    ),
)
def can_be_written(finished: list[int], written: int) -> list[int]:
    """Return the tasks whose results can be written now, in order."""
    ended, ready = set(finished), []
    while written + len(ready) in ended:
        ready.append(written + len(ready))
    return ready


can_be_written.mistake(
    "you write past a gap: a task that has ended must wait until every task before it "
    "has ended, too.",
    lambda finished, written: sorted({n for n in finished if n >= written}),
    lambda finished, written: sorted(n for n in finished if n >= written),
    lambda finished, written: [n for n in finished if n >= written],
    lambda finished, written: sorted(
        {n for n in finished if n >= written and written in finished}
    ),
)
can_be_written.mistake(
    "you begin before task `written`, with tasks that the file already holds.",
    lambda finished, written: [*range(written), *can_be_written(finished, written)],
    lambda finished, written: can_be_written(finished, 0),
    lambda finished, written: sorted(
        {n for n in finished if n < written} | {*can_be_written(finished, written)}
    ),
)
can_be_written.mistake(
    "you list tasks in the order in which they ended, but the file keeps the order of "
    "their numbers.",
    lambda finished, written: [
        n for n in dict.fromkeys(finished) if n in can_be_written(finished, written)
    ],
    lambda finished, written: [
        n for n in finished if n in can_be_written(finished, written)
    ],
)
can_be_written.mistake(
    "you list a task twice if it was done twice, although it's written only once.",
    lambda finished, written: sorted(
        n for n in finished if n in can_be_written(finished, written)
    ),
)
can_be_written.mistake(
    "you begin one task too late or too early: the file holds tasks 0 to `written - "
    "1`, so task `written` itself comes next.",
    lambda finished, written: can_be_written(finished, written + 1),
    lambda finished, written: can_be_written(finished, written - 1),
)


@can_be_written.mistake(
    "you go through `finished` once, in its own order, so you miss a task that ended "
    "before its turn."
)
def _as_they_ended(finished: list[int], written: int) -> list[int]:
    ready = []
    for number in finished:
        if number == written + len(ready):
            ready.append(number)
    return ready


def _folders(random: Random) -> Iterator[Case]:
    yield from ((0, []), (2, []), (1, ["00000.json"]), (1, ["00000.bin"]))
    yield 2, ["00001.bin", "00001.json"]
    yield 2, ["00000.json.tmp", "00001.json"]
    yield 3, ["00000.bin.tmp", "00002.json", "00002.bin"]
    yield 4, ["00000.bin", "00000.json", "00001.bin", "00002.bin.tmp"]
    yield 2, ["00000.json", "00001.json", "00002.json", "00002.bin"]
    yield 12, [f"{n:05}.json" for n in (0, 1, 2, 10, 11)] + ["00003.bin"]
    for _ in range(6):
        count = random.randrange(4, 9)
        files = []
        for number in range(count):
            ways = ("", "bin.tmp", "bin", "bin json.tmp", "bin json", "bin json")
            endings = random.choice(ways).split()
            files += [f"{number:05}.{ending}" for ending in endings]
        random.shuffle(files)
        yield count, files


@exercise(
    cases=_folders,
    hints=(
        "Which of its files does a task write last of all? Only that file says that "
        "the task is done.",
        "For each number, make the name of the file that a finished task leaves, with "
        "its five digits. Then ask whether `files` contains the whole name, not a part "
        "of it.",
    ),
)
def tasks_left(num_tasks: int, files: list[str]) -> list[int]:
    """Return the numbers of the tasks that a run must still do, in order."""
    return [n for n in range(num_tasks) if f"{n:05}.json" not in files]


def _left(num_tasks, is_done) -> list[int]:
    return [n for n in range(num_tasks) if not is_done(f"{n:05}")]


tasks_left.mistake(
    "you take a `.bin`, or any file, for a sign that a task is done, but the run may "
    "have been killed before it wrote the `.json`.",
    lambda count, files: _left(count, lambda task: f"{task}.bin" in files),
    lambda count, files: _left(
        count, lambda task: f"{task}.bin" in files or f"{task}.json" in files
    ),
    lambda count, files: _left(count, lambda task: f"{task}.bin" in "".join(files)),
    lambda count, files: _left(count, lambda task: task in "".join(files)),
)
tasks_left.mistake(
    "you take `.json.tmp` for `.json`: compare whole names, or their ends.",
    lambda count, files: _left(count, lambda task: f"{task}.json" in "".join(files)),
)
tasks_left.mistake(
    "you return the tasks that are *done*, not those that are left.",
    lambda count, files: _left(count, lambda task: f"{task}.json" not in files),
    lambda count, files: sorted(int(f[:5]) for f in files if f.endswith(".json")),
)
tasks_left.mistake(
    "you look for names that don't exist, so all tasks seem left; names look like "
    "`00003.json`.",
    lambda count, files: list(range(count)),
)
tasks_left.mistake(
    "you expect the finished tasks to be the first ones, but tasks end in any order.",
    lambda count, files: list(range(sum(f.endswith(".json") for f in files), count)),
    lambda count, files: list(
        range(min(tasks_left(count, files), default=count), count)
    ),
    lambda count, files: list(
        range(
            max((int(f[:5]) for f in files if f.endswith(".json")), default=-1) + 1,
            count,
        )
    ),
)
tasks_left.mistake(
    "you return only tasks that have left a file, and miss those that never began.",
    lambda count, files: [
        n for n in tasks_left(count, files) if f"{n:05}" in "".join(files)
    ],
    lambda count, files: [
        n for n in tasks_left(count, files) if f"{n:05}.bin" in files
    ],
    lambda count, files: sorted({int(f[:5]) for f in files if not f.endswith(".json")}),
)


def _ranks_and_workers(random: Random) -> Iterator[Case]:
    for done in (0, 5, 12):
        for batch_size, world_size in ((1, 2), (2, 1), (2, 3), (3, 2)):
            for rank in {0, world_size - 1}:
                yield from ((done, n, batch_size, rank, world_size) for n in (0, 1, 3))


@exercise(
    cases=_ranks_and_workers,
    hints=(
        "Write down what *all* ranks read in one step, and whose part is which. Where "
        "does the next step begin?",
        "A step takes `world_size * batch_size` samples. Rank r begins "
        "`r * batch_size` after the beginning of the step, and reads `batch_size` "
        "samples in a row.",
    ),
)
def positions_of(
    done: int, num_steps: int, batch_size: int, rank: int, world_size: int
) -> list[int]:
    """Return the positions that a rank reads in its next `num_steps` steps."""
    step = world_size * batch_size
    first = done + rank * batch_size
    return [first + k * step + i for k in range(num_steps) for i in range(batch_size)]


positions_of.mistake(
    "you forget `done`, the positions that have already been read.",
    lambda done, n, B, rank, W: positions_of(0, n, B, rank, W),
)
positions_of.mistake(
    "you multiply `done`, or divide it, but it already counts what all ranks have "
    "read together: neither steps, nor batches, nor what one rank has read.",
    lambda done, n, B, rank, W: positions_of(done * B * W, n, B, rank, W),
    lambda done, n, B, rank, W: positions_of(done * B, n, B, rank, W),
    lambda done, n, B, rank, W: positions_of(done * W, n, B, rank, W),
    lambda done, n, B, rank, W: positions_of(done // W, n, B, rank, W),
)
positions_of.mistake(
    "you round `done` to whole steps of *these* ranks, but others read before, so it "
    "may lie in the middle of one.",
    lambda done, n, B, rank, W: positions_of(done // (B * W) * B * W, n, B, rank, W),
    lambda done, n, B, rank, W: positions_of(
        -(-done // (B * W)) * B * W, n, B, rank, W
    ),
)
positions_of.mistake(
    "you deal positions out like cards; a rank reads `batch_size` of them in a row.",
    lambda done, n, B, rank, W: [done + rank + W * k for k in range(n * B)],
)
positions_of.mistake(
    "you read on in one piece, and so you read what the other ranks have between two "
    "of your batches.",
    lambda done, n, B, rank, W: [done + rank * B + k for k in range(n * B)],
    lambda done, n, B, rank, W: [done + rank * n * B + k for k in range(n * B)],
)
positions_of.mistake(
    "you let a rank begin at the wrong place: rank r begins r *batches* after the "
    "beginning of the step, counted from rank 0.",
    lambda done, n, B, rank, W: positions_of(done + rank - rank * B, n, B, rank, W),
    lambda done, n, B, rank, W: positions_of(done, n, B, rank - 1, W),
    lambda done, n, B, rank, W: positions_of(done, n, B, rank + 1, W),
    lambda done, n, B, rank, W: positions_of(done, n, B, 0, W),
)


def _losses(random: Random) -> Iterator[Case]:
    yield from (([6.0, 2.0], [3, 1]), ([3.0], [2]), ([4.0, 0.0], [2, 0]))
    yield from (([0.0], [0]), ([0.0, 0.0], [0, 0]), ([0.0, 5.0], [0, 4]))
    yield from (([2.0, 2.0], [2, 2]), ([1.0, 9.0, 2.0], [1, 3, 4]))
    yield [3.0, 0.0], [2, 3]
    for _ in range(10):
        ranks = random.randrange(2, 5)
        counts = [random.randrange(9) for _ in range(ranks)]
        yield [round(random.random() * n, 3) for n in counts], counts


@exercise(
    cases=_losses,
    hints=(
        "Every target counts the same, whatever rank it is on. What must you add up, "
        "and by what do you divide?",
        "Take two sums over all ranks, and divide once, at the very end. And if "
        "nothing was scored at all?",
    ),
)
def global_mean(sums: list[float], counts: list[int]) -> float:
    """Return the loss of all ranks together; 0.0 if nothing was scored."""
    total = sum(counts)
    return sum(sums) / total if total else 0.0


def _means(sums: list[float], counts: list[int]) -> list[float]:
    return [s / n for s, n in zip(sums, counts, strict=True) if n]


global_mean.mistake(
    "you take a mean of means, in which a target counts for more where there are few "
    "of them; add up first, and divide once.",
    lambda sums, counts: sum(_means(sums, counts)) / len(sums),
    lambda sums, counts: sum(_means(sums, counts)) / max(1, len(_means(sums, counts))),
)
global_mean.mistake(
    "you divide by a count of 0, but one rank may have scored nothing, and so may all.",
    lambda sums, counts: sum(sums) / sum(counts),
    lambda sums, counts: (
        sum(s / n for s, n in zip(sums, counts, strict=True)) / len(sums)
    ),
)
global_mean.mistake(
    "you return 0.0 as soon as one rank has no targets, although the others scored "
    "something.",
    lambda sums, counts: global_mean(sums, counts) if all(counts) else 0.0,
)
global_mean.mistake(
    "you divide by the number of ranks, not by the targets of all of them.",
    lambda sums, counts: sum(sums) / len(sums),
)
global_mean.mistake(
    "you weight sums as if they were means; they have grown with the counts already.",
    lambda sums, counts: (
        sum(s * n for s, n in zip(sums, counts, strict=True)) / max(1, sum(counts))
    ),
)
global_mean.mistake(
    "you add up the means; add up the losses instead, and divide once.",
    lambda sums, counts: sum(_means(sums, counts)),
)


# Questions


def _samples(random: Random) -> Iterator[Case]:
    yield from ((size, ranks) for ranks in (1, 2, 3) for size in (1, 4, 9, 12))


def each_once_in_blocks(num_blocks: int, world_size: int) -> list[int]:
    return list(range(num_blocks * world_size))


@bug_or_not(
    purpose=(
        "The stream is cut into blocks of `world_size` samples. All ranks together "
        "are to read each sample once, in a random order. The function returns what "
        "they read, sorted."
    ),
    reference=each_once_in_blocks,
    cases=_samples,
    explanation=(
        "Each rank shuffles the blocks with a seed of its own, and this looks like "
        "loop B of section 3. But look at what a rank takes from a block. Rank r "
        "always takes sample r. It visits all blocks, so it reads every sample number "
        "r, and no other rank reads any of these. The samples were shared out "
        "*before* the shuffle, and then each rank may shuffle its own share as it "
        "likes. The data loader of karpathy/llm.c does this. It has a price: another "
        "number of ranks makes another epoch."
    ),
)
def blocks_in_orders_of_their_own(num_blocks: int, world_size: int) -> list[int]:
    read = []
    for rank in range(world_size):
        blocks = list(range(num_blocks))
        Random(1000 + rank).shuffle(blocks)
        read += [block * world_size + rank for block in blocks]
    return sorted(read)


def mean_of_all_targets(sums: list[float], counts: list[int]) -> float:
    return sum(sums) / sum(counts)


@bug_or_not(
    purpose=(
        "`DistributedDataParallel` averages what the ranks compute. We want this "
        "average to be the mean loss over all targets, and choose the loss of each "
        "rank for that. The lists `sums` and `counts` hold the nats and the targets of "
        "each rank."
    ),
    reference=mean_of_all_targets,
    cases=lambda random: [
        (sums, counts)
        for sums, counts in (
            ([3.0], [2]),
            ([6.0, 2.0], [3, 1]),
            ([4.0, 0.0], [2, 0]),
            ([1.0, 9.0, 2.0], [1, 3, 4]),
        )
    ],
    explanation=(
        "Why multiply a loss by the number of ranks? Because "
        "`DistributedDataParallel` will divide by that number. What is left is the sum "
        "of each rank, divided by the targets of *all* ranks. These add up to the mean "
        "over all targets. Without the factor, the gradient would be too small, by a "
        "factor of `world_size`."
    ),
)
def times_the_number_of_ranks(sums: list[float], counts: list[int]) -> float:
    world_size, targets = len(sums), sum(counts)
    losses = [own_sum / targets * world_size for own_sum in sums]
    return sum(losses) / world_size  # what DistributedDataParallel does


def counts_while_reading(num_entries: int) -> list[int]:
    """How much the reference count of each entry of a list rises while it is read."""
    entries, changes = [f"line {n}" for n in range(num_entries)], []
    for index in range(num_entries):
        before = sys.getrefcount(entries[index])
        entry = entries[index]
        changes.append(sys.getrefcount(entries[index]) - before)
        del entry
    return changes


@true_or_false(
    claim=(
        "Forked workers share the memory of a list of texts. As long as they only read "
        "the list, it stays shared, because reading an entry writes nothing into its "
        "memory. For example, its reference count stays the same."
    ),
    reference=counts_while_reading,
    cases=lambda random: [(size,) for size in (0, 1, 3, 10)],
    explanation=(
        "Each Python object holds a count of the references to it. If a worker reads "
        "the object, the count rises for a moment, and that is a write. The system "
        "copies every page that a worker writes to. So the list is copied, page by "
        "page, in every worker, and memory grows during the epoch (pytorch/pytorch "
        "#13246). An array of NumPy or Arrow has *one* count for all of its entries. "
        "Keep texts there, or on disk."
    ),
)
def nothing_is_written(num_entries: int) -> list[int]:
    return [0] * num_entries
