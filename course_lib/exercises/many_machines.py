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
        "Only one task can come next in the file, task `written`. If that task hasn't "
        "ended, nothing can be written, however many others have.",
        "Count up from `written` as long as the number is among `finished`. It doesn't "
        "matter in which order tasks ended, or how often.",
    ),
)
def can_be_written(finished: list[int], written: int) -> list[int]:
    """Return the tasks whose results can be written now, in order."""
    ended, ready = set(finished), []
    while written + len(ready) in ended:
        ready.append(written + len(ready))
    return ready


can_be_written.mistake(
    "you write past a gap. A task that has ended must wait until every task before it "
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
    "you begin one task too late or too early. The file holds tasks 0 to `written - "
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
    yield from ((0, []), (2, []), (1, ["00000.json", "00000.bin"]), (1, ["00000.bin"]))
    yield 2, ["00001.bin", "00001.json"]
    yield 2, ["00000.json.tmp", "00000.bin", "00001.json", "00001.bin"]
    yield 3, ["00000.bin.tmp", "00002.json", "00002.bin"]
    yield 4, ["00000.bin", "00000.json", "00001.bin", "00002.bin.tmp"]
    yield 2, [f"{n:05}.{end}" for n in range(3) for end in ("json", "bin")]
    done = [f"{n:05}.{end}" for n in (0, 1, 2, 10, 11) for end in ("bin", "json")]
    yield 12, [*done, "00003.bin"]
    some = (n for n in range(12) if n not in (3, 8))  # a set has 8 before 3
    yield 12, [f"{n:05}.{end}" for n in some for end in ("bin", "json")]
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
    "you take a `.bin`, or any file, as a sign that a task is done, but the run may "
    "have been killed before it wrote the `.json`.",
    lambda count, files: _left(count, lambda task: f"{task}.bin" in files),
    lambda count, files: _left(
        count, lambda task: f"{task}.bin" in files or f"{task}.json" in files
    ),
    lambda count, files: _left(count, lambda task: f"{task}.bin" in "".join(files)),
    lambda count, files: _left(count, lambda task: task in "".join(files)),
)
tasks_left.mistake(
    "you take `.json.tmp` for `.json`. Compare whole names, or their ends.",
    lambda count, files: _left(count, lambda task: f"{task}.json" in "".join(files)),
)
tasks_left.mistake(
    "you return the tasks that are *done*, not those that are left.",
    lambda count, files: _left(count, lambda task: f"{task}.json" not in files),
    lambda count, files: sorted(int(f[:5]) for f in files if f.endswith(".json")),
)
tasks_left.mistake(
    "you look for names that don't exist, so all tasks seem left. Names look like "
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
            for rank in range(world_size):
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
    "you multiply `done`, or divide it. But it already counts the positions that all "
    "ranks have read together, and neither steps, nor batches, nor what one rank has "
    "read.",
    lambda done, n, B, rank, W: positions_of(done * B * W, n, B, rank, W),
    lambda done, n, B, rank, W: positions_of(done * B, n, B, rank, W),
    lambda done, n, B, rank, W: positions_of(done * W, n, B, rank, W),
    lambda done, n, B, rank, W: positions_of(done // W, n, B, rank, W),
)
positions_of.mistake(
    "you round `done` to whole steps of *these* ranks. But a different number of ranks "
    "may have read before, so it may lie in the middle of a step.",
    lambda done, n, B, rank, W: positions_of(done // (B * W) * B * W, n, B, rank, W),
    lambda done, n, B, rank, W: positions_of(
        -(-done // (B * W)) * B * W, n, B, rank, W
    ),
)
positions_of.mistake(
    "you deal positions out like cards, but a rank reads `batch_size` of them in a "
    "row.",
    lambda done, n, B, rank, W: [done + rank + W * k for k in range(n * B)],
)
positions_of.mistake(
    "you read in one piece, so you also read what belongs to the other ranks, between "
    "two of your batches.",
    lambda done, n, B, rank, W: [done + rank * B + k for k in range(n * B)],
    lambda done, n, B, rank, W: [done + rank * n * B + k for k in range(n * B)],
)
positions_of.mistake(
    "you let a rank begin at the wrong place. Rank r begins r *batches* after the "
    "beginning of the step, and ranks count from 0.",
    lambda done, n, B, rank, W: positions_of(done + rank - rank * B, n, B, rank, W),
    lambda done, n, B, rank, W: positions_of(done, n, B, rank - 1, W),
    lambda done, n, B, rank, W: positions_of(done, n, B, rank + 1, W),
    lambda done, n, B, rank, W: positions_of(done, n, B, 0, W),
)


def _targets_of_batches(random: Random) -> Iterator[Case]:
    yield from (([[3], [18]],), ([[3, 1], [10, 6]],), ([[5]],), ([[2, 2, 2]],))
    yield from (([[4], [4]],), ([[0], [6]],), ([[0, 0], [3, 5]],), ([[0, 4], [4, 0]],))
    yield from (([[0]],), ([[0, 0], [0, 0]],), ([[1], [2], [9]],))
    for _ in range(10):
        ranks, batches = random.randrange(2, 5), random.randrange(1, 4)
        yield ([[random.randrange(9) for _ in range(batches)] for _ in range(ranks)],)


@exercise(
    cases=_targets_of_batches,
    hints=(
        "Suppose you could simply add up all the gradients. By how many targets would "
        "you divide? Then look at what really happens to the gradients.",
        "A rank adds up the gradients of its small batches, so there's nothing to make "
        "up for. But then the ranks average theirs, which divides by the number of "
        "ranks, so you have to multiply by it.",
    ),
)
def loss_scale(counts: list[list[int]]) -> float:
    """Return what each sum of losses is multiplied by; 0.0 if nothing was scored."""
    targets = sum(sum(own) for own in counts)
    return len(counts) / targets if targets else 0.0


def _or_zero(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else 0.0


loss_scale.mistake(
    "you divide by all targets, but then the average over the ranks divides once more, "
    "by their number.",
    lambda counts: _or_zero(1, sum(map(sum, counts))),
    lambda counts: 1 / max(1, sum(map(sum, counts))),
)
loss_scale.mistake(
    "you multiply by the number of small batches, too. Their gradients are added up, "
    "so there is nothing to make up for.",
    lambda counts: _or_zero(len(counts) * len(counts[0]), sum(map(sum, counts))),
)
loss_scale.mistake(
    "you multiply by the number of small batches of a rank. The average is over the "
    "ranks, so it divides by *their* number.",
    lambda counts: _or_zero(len(counts[0]), sum(map(sum, counts))),
)
loss_scale.mistake(
    "you leave out ranks without targets, but the average is over all ranks.",
    lambda counts: _or_zero(sum(map(any, counts)), sum(map(sum, counts))),
)
loss_scale.mistake(
    "you use the targets of one rank alone. Count those of all ranks.",
    lambda counts: _or_zero(1, sum(counts[0])),
    lambda counts: _or_zero(len(counts), sum(counts[0])),
)
loss_scale.mistake(
    "you divide by a count of 0 in steps where nothing is scored at all. Return 0.0 "
    "there.",
    lambda counts: len(counts) / sum(map(sum, counts)),
)


def _windows_for_parts(random: Random) -> Iterator[Case]:
    for size, piece in ((1, 1), (2, 1), (2, 2), (3, 1), (3, 2)):
        ids = list(range(2 * size * piece + 1))
        yield from ((ids[:-1], ids[1:], rank, size) for rank in range(size))
    for size, piece in ((1, 3), (2, 2), (2, 4), (4, 1)):
        ids = [random.randrange(1000) for _ in range(2 * size * piece + 1)]
        targets = [i if random.random() < 0.8 else -100 for i in ids[1:]]
        yield from ((ids[:-1], targets, rank, size) for rank in range(size))


@exercise(
    cases=_windows_for_parts,
    hints=(
        "How long is a piece? Rank 0 has pieces 0 and `2 * size - 1`. Which two does "
        "rank 1 have, and which two does rank r have?",
        "Write down the places of the head, then those of the tail. Inputs and targets "
        "are taken from the same places.",
    ),
)
def part_of_rank(
    inputs: list[int], targets: list[int], rank: int, size: int
) -> tuple[list[int], list[int]]:
    """Return the inputs and the targets of a rank: a head and a tail of the window."""
    piece = len(inputs) // (2 * size)
    head, tail = rank * piece, (2 * size - 1 - rank) * piece
    places = [*range(head, head + piece), *range(tail, tail + piece)]
    return [inputs[i] for i in places], [targets[i] for i in places]


def _taken(places: list[int], *rows: list[int]) -> tuple[list[int], ...]:
    return tuple([row[place] for place in places] for row in rows)


part_of_rank.mistake(
    "you give each rank one unbroken piece of the window, but it gets a head and a "
    "tail.",
    lambda inputs, targets, rank, size: _taken(
        list(range(len(inputs)))[
            rank * len(inputs) // size : (rank + 1) * len(inputs) // size
        ],
        inputs,
        targets,
    ),
)
part_of_rank.mistake(
    "you count the tails from the middle, but the first head goes with the *last* "
    "piece. The rank with the least work in front has the most at the back.",
    lambda inputs, targets, rank, size: _taken(
        [
            i
            for i in range(len(inputs))
            if i // (len(inputs) // (2 * size)) in (rank, size + rank)
        ],
        inputs,
        targets,
    ),
)
part_of_rank.mistake(
    "you shift the targets within the part, but they're shifted already. Take them "
    "from the same places as the inputs.",
    lambda inputs, targets, rank, size: (
        part_of_rank(inputs, targets, rank, size)[0],
        part_of_rank(inputs, targets, rank, size)[0][1:],
    ),
    lambda inputs, targets, rank, size: (
        part_of_rank(inputs, targets, rank, size)[0],
        [*part_of_rank(inputs, targets, rank, size)[0][1:], -100],
    ),
    lambda inputs, targets, rank, size: (
        part_of_rank(inputs, targets, rank, size)[0],
        part_of_rank(inputs, [*targets[1:], -100], rank, size)[1],
    ),
)
part_of_rank.mistake(
    "for rank 0, you end the tail at `-0`. That is 0, so the slice is empty.",
    lambda inputs, targets, rank, size: (
        part_of_rank(inputs, targets, rank, size)
        if rank
        else _taken(list(range(len(inputs) // (2 * size))), inputs, targets)
    ),
)
part_of_rank.mistake(
    "you deal tokens out like cards, but a rank gets two unbroken pieces.",
    lambda inputs, targets, rank, size: (inputs[rank::size], targets[rank::size]),
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
        "r, and no other rank reads any of these. The samples were shared out *before* "
        "the shuffle, and then each rank may shuffle its own share as it likes. The "
        "data loader of karpathy/llm.c does this. It has a price, though. With a "
        "different number of ranks, you get a different epoch."
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
        "Ranks train with `DistributedDataParallel`, and the gradient is that of the "
        "mean loss over all targets. Rank 0 writes the loss of each step into the log. "
        "We want the log to say this same mean. The lists `sums` and `counts` hold the "
        "nats and the targets of each rank."
    ),
    reference=mean_of_all_targets,
    cases=lambda random: [
        (sums, counts)
        for sums, counts in (
            ([3.0], [2]),
            ([6.0, 6.0], [3, 3]),
            ([6.0, 2.0], [3, 1]),
            ([4.0, 0.0], [2, 0]),
            ([1.0, 9.0, 2.0], [1, 3, 4]),
        )
    ],
    explanation=(
        "This is the loss that rank 0 calls `backward()` on, and its gradient comes "
        "out right, because `DistributedDataParallel` averages it with the gradients "
        "of the other ranks. But it averages *gradients*, and leaves the losses alone. "
        "So the log says what rank 0 has in its own batch, scaled up. That is the mean "
        "only if rank 0's nats happen to be the average of all ranks. Add up the nats "
        "over all ranks, as `backward_by_targets` does, and log their sum divided by "
        "all targets."
    ),
)
def rank_0_logs_its_loss(sums: list[float], counts: list[int]) -> float:
    world_size, targets = len(sums), sum(counts)
    losses = [world_size * own_sum / targets for own_sum in sums]  # one on each rank
    return losses[0]


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
        "Each of these texts is a Python object that holds a count of the references "
        "to it. If a worker takes it from the list, the count rises for a moment, and "
        "that is a write. The system copies every page that a worker writes to. So the "
        "texts are copied, page by page, in every worker, and memory grows during the "
        "epoch (pytorch/pytorch #13246). An Arrow array, or a NumPy array of numbers, "
        "has *one* count for all of its entries. Keep texts in Arrow, or as ids in "
        "NumPy, or on disk."
    ),
)
def nothing_is_written(num_entries: int) -> list[int]:
    return [0] * num_entries
