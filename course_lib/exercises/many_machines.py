"""Exercises of lesson 12: tasks that anyone may do, ranks that read each sample once,
one loss for all of them, and some numbers on paper."""

from __future__ import annotations

import math  # noqa: F401, for the tables
import sys
from collections.abc import Iterator
from functools import reduce  # noqa: F401, for the tables
from itertools import pairwise
from random import Random

import numpy as np  # noqa: F401, for the tables

from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false


def _sizes_of_documents(random: Random) -> Iterator[Case]:
    yield from (([], 4), ([3], 4), ([4], 4), ([9], 4), ([4, 4], 4), ([2, 2, 2, 2], 4))
    yield from (([1, 1, 1], 4), ([9, 9], 4), ([3, 2], 4), ([5, 1, 4, 9, 2], 6))
    yield from (([1, 9, 1, 1], 4), ([3, 3, 3, 1], 4), ([1, 2, 5, 1, 2, 1], 3))
    for _ in range(8):
        size = random.randrange(3, 10)
        yield [random.randrange(1, 9) for _ in range(size)], random.randrange(3, 12)


@exercise(
    cases=_sizes_of_documents,
    hints=(
        "Go through the documents once, and add up the bytes of the task that is open. "
        "When is the task full, and what happens to the sum then?",
        "A task is closed *after* the document that brings it to `target` bytes, and "
        "the next task starts there, from 0 bytes. A task that is still open at the "
        "end is the last one, unless it holds nothing.",
    ),
)
def cut_tasks(sizes: list[int], target: int) -> list[tuple[int, int]]:
    """Cut documents of `sizes` bytes into tasks of at least `target`: (start, stop)."""
    tasks, start, held = [], 0, 0
    for number, size in enumerate(sizes):
        held += size
        if held >= target:
            tasks.append((start, number + 1))
            start, held = number + 1, 0
    if start < len(sizes):
        tasks.append((start, len(sizes)))
    return tasks


cut_tasks.slips("""
    held >= target => held > target
        a task is also full at exactly `target` bytes, not only above.
    held >= target => held == target
    held >= target => held >= target - 1
        a task is full at `target` bytes or above, not below and not only at exactly.
    start, held = number + 1, 0 => start = number + 1
        the count of bytes is never set back to 0 for the next task.
    start, held = number + 1, 0 => held = 0
    return tasks => return [(0, stop) for _, stop in tasks]
        the start never moves, so each task repeats the work of all tasks before it.
    = number + 1, 0 => = number, 0
        the document that fills a task is in two tasks: the next must start after it.
    append((start, number + 1)) => append((start, number)) ; \
    = number + 1, 0 => = number, 0
        a task ends *before* the document that fills it, which opens the next one.
    = number + 1, 0 => = number + 1, held - target
        the bytes above `target` are carried over into the next task: begin at 0.
    = number + 1, 0 => = number + 1, size
        the document that fills a task is also counted for the next task.
    = number + 1, 0 => = number + 2, 0
        a document between two tasks is left out: a task starts where the last stops.
    append((start, number + 1)) => append((start, number))
    return tasks => return [(start, stop - 1) for start, stop in tasks]
        the stop is the number of the last document, which a slice would leave out.
    (start, len(sizes))) => (start, len(sizes) - 1))
        the last task, with the documents that are left, stops one too early.
    if start < len(sizes): => if False:
        the documents left at the end are in no task, so nobody reads them.
    if start < len(sizes): => if True:
    if start < len(sizes): => if sizes:
        if nothing is left, an empty task comes last: a task must hold a document.
    tasks.append((start, len(sizes))) => \
    tasks[-1:] = [(tasks[-1][0] if tasks else 0, len(sizes))]
        the documents left are added to the last task. They are a task of their own.
    return tasks => return [(start + 1, stop) for start, stop in tasks]
    return tasks => return [(start + 1, stop + 1) for start, stop in tasks]
        a task starts one document late, because documents are counted from 0.
    return tasks => return [sizes[start:stop] for start, stop in tasks]
    return tasks => return [list(range(*task)) for task in tasks]
        these are the documents of each task, one by one: return only start and stop.
    return tasks => return [(start, stop - start) for start, stop in tasks]
    return tasks => return [(start, sum(sizes[start:stop])) for start, stop in tasks]
        these pairs are a start and a size: return the start and the stop.
    return tasks => return [stop for _, stop in tasks]
    return tasks => return [start for start, _ in tasks]
        these are only the stops or the starts: return pairs, (start, stop).
    return tasks => return [(sum(sizes[:a]), sum(sizes[:b])) for a, b in tasks]
        these are positions of bytes, but a task is told which *documents* to read.
    enumerate(sizes) => enumerate(sorted(sizes, reverse=True))
        the sizes are sorted first, but the documents must stay in their order.
""")


@cut_tasks.right_way("""
    held >= target => held + size > target and number > start
        these tasks hold *at most* `target` bytes: close after the one that fills it.
    held >= target => held + size >= target and number > start
        a task ends *before* the document that fills it…
    append((start, number)) => append((start, number - 1)) ; \
    (start, len(sizes)) => (start, len(sizes) - 1)
        the stop is the number of the last document…
    held >= target => held + size > target
        these tasks hold at most `target` bytes, and one of them can be empty.
    held >= target => held > target
        a task is also full at exactly…
    if sizes else [] =>
        without documents there are no tasks.
    held = number, 0 => held = number, size
        the document that opens a task is counted twice.
""")
def closed_at_the_next(sizes, target):
    tasks, start, held = [], 0, 0
    for number, size in enumerate(sizes):
        if held >= target:
            tasks.append((start, number))
            start, held = number, 0
        held += size
    return [*tasks, (start, len(sizes))] if sizes else []


def _pairs(stops):
    return list(pairwise(sorted({0, *stops})))


cut_tasks.answers("""
    _pairs([*range(0, len(sizes), max(1, target * len(sizes) // max(1, sum(sizes)))),
    len(sizes)])
    _pairs(np.cumsum([len(piece) for piece in
    np.array_split(sizes, -(-sum(sizes) // target))]).tolist() if sizes else [])
        all tasks have equally many documents, but the work is in the bytes.
    _pairs([*range(0, len(sizes), target), len(sizes)])
        `target` counts bytes, not documents: add up the sizes.
    _pairs(range(len(sizes) + 1))
        each document is a task of its own: add documents until there are enough bytes.
    _pairs([i for i in range(1, len(sizes))
    if sum(sizes[:i]) // target > sum(sizes[: i - 1]) // target] + [len(sizes)])
        a task is closed at multiples of `target`, but each task counts from 0.
    _pairs([*range(0, sum(sizes), target), sum(sizes)])
        these are positions of bytes, which cut documents in two. Count documents.
    _pairs([len(sizes)])
        all documents are in one task, so nothing is shared out.
""")


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


@can_be_written.right_way("""
    number = [], written => number = [], written + 1
        the file holds tasks 0 to `written - 1`, so task `written` is next.
    number = [], written => number = [], written - 1
        task `written - 1` is already in the file, because tasks count from 0.
    number = [], written => number = [], 0
        counted up from task 0, but tasks before `written` are already in the file.
    while number in finished: => while number + 1 in finished:
        this asks whether the *next* task has ended, not the task itself.
    while number in finished: => if number in finished:
        only the next task. If the one after it has also ended, it can be written.
    number in finished: => number in finished and number < len(finished):
        only numbers below `len(finished)` are tried, but higher ones can be there.
    number = [], written => number = [], 0 ; number in finished: => \
    number in finished and number < len(finished): ; \
    return ready => return [n for n in ready if n >= written]
        from 0 up to `len(finished)`, but tasks before `written` need not be there.
    number in finished: => number <= max(finished, default=-1):
    number in finished: => number <= max(finished):
        up to the last task that has ended, but an earlier one may be missing.
    number in finished: => number < written + len(set(finished)):
        as many numbers as tasks that ended, but some of these may be missing.
    return ready => return ready[:-1]
        the last task is missing: a task can be written as soon as it has ended itself.
    return ready => return len(ready)
        that is how many tasks can be written: return their numbers.
    return ready => return sorted({n for n in finished if n < written}) + ready
        tasks before `written` are listed again, although they are already in the file.
    return ready => return [n for n in finished if n in ready]
    return ready => return list(dict.fromkeys(n for n in finished if n in ready))
        these are in the order in which tasks ended. The file has the tasks' own order.
    return ready => return sorted(n for n in finished if n in ready)
        a task that was tried again ended twice, but it is written once.
""")
def counted_up(finished, written):
    ready, number = [], written
    while number in finished:
        ready.append(number)
        number += 1
    return ready


@can_be_written.right_way("""
    sorted(set(finished)) => finished
        `finished` is read once, so a task that ended before its turn is missed.
    number == written + len(ready) => number >= written
        a task that has ended must wait as long as one before it has not.
    number == written + len(ready) => True
        all that have ended, but some are already in the file, and others must wait.
    number == written + len(ready) => number > written
        only those after `written`, but task `written` is itself the next one.
    sorted(set(finished)) => finished ; number == written + len(ready) => \
    number >= written
        all that are not in the file, as they ended: stop at the first gap.
    sorted(set(finished)) => sorted(finished) ; number == written + len(ready) => \
    number >= written
        all that are not in the file, some of them twice: stop at the first gap.
    sorted(set(finished)) => sorted(finished) ; number == written + len(ready) => True
        all that have ended, some twice, and some are already in the file.
""")
def walked_through(finished, written):
    ready = []
    for number in sorted(set(finished)):
        if number == written + len(ready):
            ready.append(number)
    return ready


@can_be_written.right_way("""
    {n for => [n for ; written}) => written])
        a task that ended twice must not stop the others.
    if n >= written =>
        a task before `written` can be in `finished`, and must not stop the others.
    sorted({n for n in finished if n >= written}) => finished
        this stops at the first entry that is not next, but tasks end in any order.
""")
def until_a_gap(finished, written):
    ready = []
    for number in sorted({n for n in finished if n >= written}):
        if number != written + len(ready):
            break
        ready.append(number)
    return ready


can_be_written.answers("""
    [*range(written), *can_be_written.reference(finished, written)]
        counted up from task 0…
    sorted({n for n in finished if n >= written}) if written in finished else []
    [n for n in finished if n >= written] if written in finished else []
        if the next task has ended, only those up to the first gap can follow it.
    sorted(set(finished))[written:]
    finished[written:]
        the first `written` entries are cut off, but `written` counts tasks in the file.
    [n for n in range(written, written + len(finished)) if n in finished]
        gaps are skipped, but a task after a gap must wait.
    [a for a, b in pairwise(sorted(set(finished))) if b == a + 1 and a >= written]
        this asks whether the next task has ended. Ask whether all before have.
""")


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
        "Which of a task's files is written last of all? Only that file says that the "
        "task is done.",
        "For each number, make the name of the file that a finished task leaves, with "
        "its five digits. Then ask whether `files` contains the whole name, not a part "
        "of it.",
    ),
)
def tasks_left(num_tasks: int, files: list[str]) -> list[int]:
    """Return the numbers of the tasks that a run must still do, in order."""
    return [n for n in range(num_tasks) if f"{n:05}.json" not in files]


@tasks_left.right_way("""
    f"{n:05}.json" => f"{n:05}.bin"
        a `.bin` is not enough: the run may have been killed before the `.json`.
    f"{n:05}.json" not in files => not any(f"{n:05}" in name for name in files)
        any file of a task is taken as a sign that it is done, but only `.json` is one.
    not in files => not in "".join(files)
        `.json.tmp` is taken for `.json`: compare whole names, or their ends.
    f"{n:05}.json" not in files => f"{n:05}.bin" not in "".join(files)
        `.bin.tmp` is taken for `.bin`, and `.bin` for done.
    not in files => not in files and f"{n:05}.bin" not in files
        a `.bin` alone is taken for done, but without its `.json` a task is not done.
    not in files => not in files or f"{n:05}.bin" in files
        `or` where `and not` is meant: a task that is done also has a `.bin`.
    not in files => in files
        these are the tasks that are *done*: return those that are left.
    f"{n:05}.json" => f"{n}.json"
    f"{n:05}.json" => f"{n:04}.json"
    f"{n:05}.json" => f"{n:05}"
        no such name exists, so all tasks seem left. Names look like `00003.json`.
    f"{n:05}.json" => f"0000{n}.json"
        every number gets four zeros in front: `{n:05}` makes five *digits*.
    f"{n:05}.json" not in files => str(n) not in "".join(files)
        a number is searched anywhere in the names, but `00010` also contains `1`.
    f"{n:05}.json" not in files => f"{n:05}.json.tmp" in files
        only those whose `.json` was being written, but others are also left.
    range(num_tasks) => range(1, num_tasks + 1)
        tasks count from 0: the last one is number `num_tasks - 1`.
    range(num_tasks) => range(1, num_tasks)
        task 0 is forgotten: tasks count from 0.
    range(num_tasks) => range(num_tasks + 1)
        `range(n)` already ends at n - 1, and there is no task `num_tasks`.
    range(num_tasks) => range(num_tasks - 1)
        the last task is forgotten: `range(n)` already ends at n - 1.
    if f"{n:05}.json" not in files: left.append(n) => \
    left.append(n) ⏎ if f"{n:05}.json" in files: left.pop(); break
        this stops at the first task that is done, but later ones can be left.
    return left => return list(range(left[0], num_tasks)) if left else []
        all tasks from the first that is not done, but some of those are done.
    return left => return [f"{n:05}" for n in left]
        these are names: return their numbers, `int(name[:5])`.
    return left => return len(left)
        that is how many are left: return which.
    return left => return left[:1]
        only the next one: return all that are left.
    return left => return [n for n in left if f"{n:05}" in "".join(files)]
        only tasks that have begun, but a task without any file must also be done.
    not in files => not in files and f"{n:05}.bin" in files
        only tasks that have left a `.bin`. A task without one must also be done.
""")
def gone_through(num_tasks, files):
    left = []
    for n in range(num_tasks):
        if f"{n:05}.json" not in files:
            left.append(n)
    return left


tasks_left.answers("""
    list(range(sum(name.endswith(".json") for name in files), num_tasks))
        tasks end in any order, so the ones that are done need not be the first.
    list(range(max([int(name[:5]) for name in files if name.endswith(".json")],
    default=-1) + 1, num_tasks))
        tasks end in any order: one may be done although others before it are not.
    num_tasks - sum(name.endswith(".json") for name in files)
        that is a number, and it also counts another run's tasks: return which are left.
    sorted(int(name[:5]) for name in files if name.endswith(".json"))
        these are the tasks that are done, including those of another run.
    sorted({int(name[:5]) for name in files if not name.endswith(".json")})
        tasks with a file other than `.json`, but tasks that are done also have one.
    [int(name[:5]) for name in files
    if name.endswith(".bin") and f"{name[:5]}.json" not in files]
        only tasks that have left a `.bin`…
    [int(name[:5]) for name in files if name.endswith(".tmp")]
        only tasks with a `.tmp`, but tasks that never began are also left.
    [name for name in files if not name.endswith(".json")]
        these are names of files: return the numbers of tasks.
    sorted({*range(num_tasks)} ^ {int(n[:5]) for n in files if n.endswith(".json")})
        `^` keeps what is in one set only, even tasks of another run: use `-`.
""")


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


positions_of.slips("""
    done + rank => rank
        `done`, the samples that were delivered before, is forgotten.
    done + rank => done * step + rank
    done + rank => done * batch_size + rank
        `done` is a number of samples, not of steps or batches.
    done + rank => done * world_size + rank
    done + rank => done // world_size + rank
        `done` counts what all ranks have read together, not each of them.
    done + rank => done // step * step + rank
    done + rank => done // batch_size * batch_size + rank
        rounded down to a whole step or batch, so some samples are read again.
    done + rank => -(-done // step) * step + rank
        rounded up to a whole step of *these* ranks, so some samples are skipped.
    done + rank => done + 1 + rank
        one sample too far: samples 0 to `done - 1` are read, so `done` is next.
    + rank * batch_size =>
        the rank is forgotten, so all ranks read the same.
    rank * batch_size => rank
        a rank begins `rank` samples later, but it should be `rank` batches.
    rank * batch_size => (rank - 1) * batch_size
        ranks count from 0, not from 1.
    rank * batch_size => (rank + 1) * batch_size
        rank 0 begins at `done`, not a batch after it.
    rank * batch_size => rank * step
        a rank begins a whole step later for each rank before it, not a batch.
    rank * batch_size => rank * world_size
    rank * batch_size => rank * num_steps
        a rank begins `rank * batch_size` samples after the beginning of the step.
    rank * batch_size => rank * num_steps * batch_size ; k * step => k * batch_size
        each rank gets one long piece, but in a step all read the next samples together.
    k * step => k * batch_size
        the batches of the other ranks lie between one batch of a rank and the next.
    k * step => k * world_size
        a step is `world_size` batches, not `world_size` samples.
    k * step => k * (step + batch_size)
    k * step => k * (step - batch_size)
        a step is as many batches as there are ranks, neither one more nor one fewer.
    k * step => k
        a step moves on by one sample, not by the batches of all ranks.
    k * step => 0
        all steps read the same samples.
    range(num_steps) => range(1, num_steps + 1)
    rank * batch_size => (rank + world_size) * batch_size
        the first step is skipped: it begins at `done`.
    range(num_steps) => range(num_steps - 1)
        the last step is missing: `range(n)` already ends at n - 1.
    range(num_steps) => range(num_steps + 1)
        there is one step too many: `range(n)` has n numbers.
    range(num_steps) => range(1)
    range(num_steps) => range(min(num_steps, 1))
        these are the positions of one step: `num_steps` is ignored.
    range(batch_size) => [0]
        only where each batch begins: a batch has `batch_size` samples.
    step + i for => step for
        the first sample of each batch is returned `batch_size` times.
    range(batch_size) => range(0, step, world_size)
        a batch is `batch_size` samples in a row, not every `world_size`-th sample.
    range(batch_size) => range(batch_size - 1)
    range(batch_size) => range(batch_size + 1)
        a batch is `batch_size` samples, neither one more nor one fewer.
    range(batch_size) => range(step)
        the samples of all ranks are in each batch.
    for k in range(num_steps) for i in range(batch_size) => \
    for i in range(batch_size) for k in range(num_steps)
        the two loops are swapped: the samples of one batch come in a row.
""")


@positions_of.right_way("""
    p - done) // batch_size => p) // batch_size
        the owner of a sample is counted from position 0, but steps begin at `done`.
    end = done + => end = ; range(done, end) => range(end) ; (p - done) => p
        `done`, the samples that…
    // batch_size % => %
        samples are dealt out like cards, but a rank reads `batch_size` in a row.
    == rank => == rank + 1
        ranks count from 0…
    if (p - done) // batch_size % world_size == rank =>
        these are the samples of *all* ranks: return the part of this rank.
""")
def those_of_the_rank(done, num_steps, batch_size, rank, world_size):
    end = done + num_steps * batch_size * world_size
    return [
        p for p in range(done, end) if (p - done) // batch_size % world_size == rank
    ]


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


def _means(sums, counts):
    return [s / n if n else 0.0 for s, n in zip(sums, counts, strict=True)]


global_mean.slips("""
    if total else 0.0 =>
        if nothing was scored, there is nothing to divide by: return 0.0.
    if total else => if all(counts) else
        one rank without targets makes the whole loss 0, but others scored something.
    total = sum(counts) => total = len(sums)
        the sums are divided by the number of ranks, not of targets.
    total = sum(counts) => total = sum(count > 0 for count in counts)
        this divides by the ranks that scored something, not by the targets.
    total = sum(counts) => total = len(sums) * max(counts)
        every rank is assumed to have as many targets as the rank with the most.
    total = sum(counts) => total = sum(n for s, n in zip(sums, counts) if s)
        a rank with a loss of 0.0 is passed over, but its targets were scored.
    total = sum(counts) => total = counts[0]
        only the targets of one rank are counted: add up the counts of all ranks.
    total = sum(counts) => total = max(counts)
        this divides by the largest count: add up the counts of all ranks.
    total = sum(counts) => total = sum(max(1, count) for count in counts)
    sum(sums) / total => sum(sums) / sum(max(1, count) for count in counts)
        every rank is counted with at least 1 target, but a rank may have none.
    total = sum(counts) => total = sum(counts) + 1e-3
        something is added to the number of targets: ask whether it is 0 instead.
    sum(sums) / => sum(sums) //
        `//` rounds down, but a loss is not a count: divide with `/`.
    sum(sums) / total => round(sum(sums) / total, 2)
        the result is rounded: leave the rounding to the code that prints the loss.
    / total =>
        this is the sum of the losses: divide by the number of targets.
    / total => / total / len(sums)
        divided by the targets and by the ranks: divide only by the targets.
    / total => / total * len(sums)
        multiplied by the number of ranks, but nobody averages over ranks afterwards.
    sum(sums) / total if total => total / sum(sums) if sum(sums)
        sums and counts are swapped: divide nats by targets.
    sum(sums) => max(sums)
        only the largest sum is taken: add up the sums of all ranks.
    sum(sums) => sum(s * n for s, n in zip(sums, counts, strict=True))
        the sums are weighted by the counts, but they are sums already, not means.
""")


global_mean.answers("""
    sum(sums[:end]) / sum(counts[:end]) if (end := [*counts, 0].index(0)) else 0.0
        the sum ends with the first rank without targets: pass over it and go on.
    sum(_means(sums, counts)) / len(sums)
        a mean of means: a rank with few targets counts as much as one with many.
    (lambda means: sum(means) / len(means) if means else 0.0)(
    [s / n for s, n in zip(sums, counts) if n])
        a mean of means, over ranks that scored: every *target* should count the same.
    sum(s // n for s, n in zip(sums, counts) if n) / max(1, len(sums))
    sum(means := [s // n for s, n in zip(sums, counts) if n]) / max(1, len(means))
        a mean of means, each of them rounded down by `//`: add up, then divide once.
    sum(s / n for s, n in zip(sums, counts)) / len(sums)
        a mean of means, and a rank that scored nothing has no mean: add up first.
    sum(_means(sums, counts))
        the means are added up: add up the sums, and divide once at the end.
    sum(s / n * n for s, n in zip(sums, counts)) / sum(counts)
        a rank that scored nothing has no mean of its own: divide only once.
    sum(s / max(1, sum(counts[: i + 1])) for i, s in enumerate(sums))
        divided inside the loop by the targets so far: add up everything first.
    reduce(lambda mean, own: (mean + own) / 2,
    [s / n for s, n in zip(sums, counts) if n], 0.0)
        halved at every rank: the last counts half, the one before it a quarter.
    _means(sums, counts)[0]
        only the first rank is used: all ranks count.
    sum(sums) / sum(counts) if len(sums) > 1 else sums[0]
        for a single rank the sum is returned, but it must also be divided.
    max(_means(sums, counts))
        this is the loss of the worst rank, not of all ranks.
""")


def _packs(random: Random) -> Iterator[Case]:
    yield from (([[4], [2, 2]],), ([[3]],), ([[2, 2], [2, 2]],))
    yield from (([[4], [2, 2], [1, 3]],), ([[3], []],), ([[], [2], [1]],), ([[]],))
    yield from (
        ([[1, 1, 1, 1], [3]],),
        ([[5], [2]],),
        ([[1], [1, 1], [1, 1, 1]],),
        ([[3, 1], [2]],),
    )
    yield from (([[1, 1, 1, 1], [4]],), ([[8], [4, 4], [1] * 8],), ([[5, 1], [3, 3]],))
    for _ in range(8):
        ranks = random.randrange(2, 5)
        yield ([_pack(random, random.randrange(9, 13)) for _ in range(ranks)],)


def _pack(random: Random, room: int) -> list[int]:
    lengths = []
    while room:
        lengths.append(random.randrange(1, room + 1))
        room -= lengths[-1]
    return lengths


@exercise(
    cases=_packs,
    hints=(
        "In a document of n ids, the first id reads one id, itself, the second id "
        "reads two, and so on. How many pairs are these? A pack has the pairs of all "
        "its documents.",
        "A document of n ids makes n (n + 1) / 2 pairs. The step lasts as long as the "
        "rank with the most pairs needs. How many could each of the others still do?",
    ),
)
def idle_pairs(packs: list[list[int]]) -> int:
    """Count the pairs that ranks could still do while they wait for the slowest."""
    work = [sum(n * (n + 1) // 2 for n in lengths) for lengths in packs]
    return sum(max(work) - pairs for pairs in work)


def _triangle(n):
    return n * (n + 1) // 2


@idle_pairs.right_way("""
    _triangle(n) for n in => n * n for n in
        here each id reads all ids of its document, even later ones.
    _triangle(n) for n in => n * (n - 1) // 2 for n in
        an id also reads itself: n (n + 1) / 2 pairs, not n (n - 1) / 2.
    _triangle(n) for n in => n * (n + 1) for n in
        n (n + 1) is twice as many: an id reads the ids before it, not those after it.
    _triangle(n) for n in => (n * n + 1) // 2 for n in
        `n * n + 1` lacks parentheses: the count is half of n (n + 1).
    _triangle(n) for n in => n * n // 2 for n in
        n * n // 2 leaves out half of the pairs of an id with itself.
    sum(_triangle(n) for n in lengths) => _triangle(sum(lengths))
        the mask is forgotten: count the pairs of each document by itself.
    sum(_triangle(n) for n in lengths) => sum(lengths) ** 2
        the pack is treated as one document in which every id reads all ids.
    sum(_triangle(n) for n in lengths) => sum(lengths)
        ids are counted, not pairs, but equally full packs can be unequal work.
    sum(_triangle(n) for n in lengths) => len(lengths)
        documents are counted, not pairs.
    in lengths) for lengths => in [max(lengths, default=0)]) for lengths
    in lengths) for lengths => in lengths[:1]) for lengths
        only one document of a pack is counted, the longest or the first.
    in lengths) for lengths => in range(len(lengths))) for lengths
        the numbers 0, 1, 2, ... of documents are used as their lengths.
    sum(_triangle(n) for n in lengths) => math.prod(_triangle(n) for n in lengths)
        the pairs of a pack are multiplied, not added up.
    for lengths in packs => for lengths in packs if lengths
    for lengths in packs => for lengths in packs if lengths ; \
    max(work) * => max(work, default=0) *
        a rank with an empty pack is left out, but it also waits.
    return max(work) => \
    work = [sum(work[: i + 1]) for i in range(len(work))] ⏎ return max(work)
        the pairs of a pack are added to those of earlier packs: begin each with 0.
    max(work) * len(work) - sum(work) => max(work) - min(work)
        only the wait of the quickest rank is counted: add up the waits of all ranks.
    max(work) * len(work) - sum(work) => sum(work)
        all pairs are counted, but only those that a rank could still do are idle.
    max(work) * len(work) - sum(work) => max(work)
        these are the pairs of the slowest rank, not the idle pairs of the others.
    - sum(work) =>
        everything that fits into the step is counted, even the pairs that are done.
    max(work) * len(work) - sum(work) => sum(work) - min(work) * len(work)
        ranks are compared with the quickest one, but they wait for the slowest.
    max(work) * len(work) - sum(work) => \
    sum(abs(w - sum(work) // len(work)) for w in work)
        ranks are compared with their mean, but they wait for the slowest.
    max(work) * len(work) - sum(work) => sum(abs(a - b) for a, b in pairwise(work))
        neighbors are compared: compare each rank with the slowest.
    return ... - sum(work) => return (... - sum(work)) // len(work)
        the idle pairs are divided by the number of ranks: return their sum.
    max(work) * => work[0] *
    max(work) * => work[-1] *
        the first or the last rank is assumed to be the slowest.
    max(work) * => work[max(range(len(packs)), key=lambda i: sum(packs[i]))] *
        the rank with the most *ids* is assumed to be the slowest: count its pairs.
    max(work) * len(work) - sum(work) => sum(max(0, work[max(range(len(packs)), \
    key=lambda i: sum(packs[i]))] - w) for w in work)
        the rank with the most *ids* is assumed to be the slowest, and `max(0, ...)`
        hides that others are slower: the pairs decide.
    max(work) * len(work) - sum(work) => max(work) - sum(work) // len(work)
        the mean of the ranks is compared with the slowest, and only once.
    max(work) * len(work) - sum(work) => sum(work) - max(work)
        these are pairs that the other ranks do, not those that they could still do.
    max(work) * len(work) - sum(work) => sum(abs(a - b) for a in work for b in work)
        each rank is compared with every other: compare it with the slowest.
    max(work) * len(work) - sum(work) => \
    max(work) - sorted(work)[-2] if len(work) > 1 else 0
        only the two slowest ranks are compared.
    max(work) * len(work) - sum(work) => max(work) * (len(work) - 1)
        the others are taken to do nothing: subtract the pairs that they do.
    max(work) * len(work) - sum(work) => \
    sum(max(0, max(map(_triangle, sum(packs, [])), default=0) - w) for w in work)
        the longest *document* is taken for the slowest rank, which may have several.
    max(work) * len(work) => max(work) * (len(work) - 1)
        the slowest is left out of the product, but its work is still subtracted.
    max(work) * len(work) - sum(work) => sum(w < max(work) for w in work)
        this counts the ranks that wait, not the pairs that they could do.
    max(work) * len(work) - sum(work) => sum(work) - max(work) * len(work)
        the sign is reversed.
    max(work) * len(work) - sum(work) => min(work)
        only the quickest rank is counted.
    max(work) * len(work) - sum(work) => sum(work) - 2 * min(work)
        the quickest is subtracted from the others: compare each with the slowest.
    max(work) * len(work) - sum(work) => max(work) - (sum(work) - max(work))
        the others are subtracted from the slowest, which counts once for each rank.
    max(work) * len(work) - sum(work) => [max(work) - w for w in work]
        these are several values: add up the idle pairs of all ranks.
""")
def slowest_for_all(packs):
    work = [sum(_triangle(n) for n in lengths) for lengths in packs]
    return max(work) * len(work) - sum(work)


idle_pairs.answers("""
    sum(max(map(_triangle, sum(packs, []))) - _triangle(n) for n in sum(packs, []))
        documents are compared with the longest one, but it is ranks that wait.
""")


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
        "data loader of karpathy/llm.c does this. It has a price: with another number "
        "of ranks, the epoch is another one."
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


# With other numbers by seed.


@numbers(
    ask="You want to encode {tokens} billion tokens. A core encodes {rate:,} tokens a "
    "second, and you have {machines} machines with {cores} cores each. How many hours "
    "does it take?",
    draw=lambda rng: {
        "tokens": rng.randrange(100, 2_000),
        "rate": 1_000 * rng.randrange(50, 400),
        "machines": rng.randrange(3, 40),
        "cores": rng.choice([8, 16, 32, 48, 64, 96]),
    },
    hints=("How many tokens do all cores together encode in an hour?",),
)
def hours_of_encoding(tokens: int, rate: int, machines: int, cores: int) -> float:
    return tokens * 1e9 / (rate * machines * cores) / 3600


hours_of_encoding.answers("""
    tokens * 1e9 / (rate * machines) / 3600
        one core of each machine, but all cores encode.
    tokens * 1e9 / (rate * cores) / 3600
        this is one machine alone, but all of them work.
    tokens * 1e9 / (rate * machines * cores) / 60
        these are minutes: an hour has 3,600 seconds.
    tokens * 1e9 / (rate * machines * cores)
        these are seconds: an hour has 3,600 of them.
""")


@numbers(
    ask="Each rank has a shard of its own, with {sizes} samples. A step takes "
    "{batch_size} samples of every rank, and short batches are left out. How many "
    "steps can all ranks take together?",
    draw=lambda rng: {
        "sizes": [rng.randrange(2_000, 4_000) for _ in range(5)],
        "batch_size": rng.randrange(16, 65),
    },
    hints=("Which rank runs out of batches first?",),
)
def steps_together(sizes: list[int], batch_size: int) -> int:
    return min(sizes) // batch_size


steps_together.answers("""
    max(sizes) // batch_size
        these are the steps of the largest shard, whose rank would wait in vain.
    sum(sizes) // len(sizes) // batch_size
        this uses the mean of the shards, but smaller ones cannot take so many.
    sum(sizes) // batch_size
        all samples are shared out, but each rank has only its own shard.
    -(-min(sizes) // batch_size)
        this counts a short last batch, but short batches are left out.
""")


@numbers(
    ask="In a step, rank 0 has {first} targets with a mean loss of {loss} nats, and "
    "rank 1 has {second} with {other_loss} nats. What is the mean loss over all "
    "targets?",
    draw=lambda rng: {
        "first": rng.randrange(50, 300),
        "loss": rng.randrange(350, 500) / 100,
        "second": rng.randrange(900, 2_000),
        "other_loss": rng.randrange(150, 300) / 100,
    },
    hints=("How many nats does each rank have, and how many targets do both have?",),
)
def loss_of_both(first: int, loss: float, second: int, other_loss: float) -> float:
    return (first * loss + second * other_loss) / (first + second)


loss_of_both.answers("""
    (loss + other_loss) / 2
        this is the mean of the two means: targets of the smaller rank count more.
    (second * loss + first * other_loss) / (first + second)
        each mean has the weight of the other rank.
    loss + other_loss
        this is the sum of the two, but a mean lies between them.
""")
