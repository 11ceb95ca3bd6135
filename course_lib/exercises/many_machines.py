"""Exercises of lesson 12: tasks that anyone may do, ranks that read each sample once,
one loss for all of them, and what it takes on paper."""

from __future__ import annotations

import math  # noqa: F401, for the tables
import sys
from collections.abc import Iterator
from functools import cache, reduce  # noqa: F401, for the tables
from itertools import pairwise
from random import Random

import numpy as np
from torch.utils.data import DataLoader, IterableDataset

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
        "When is it full, and what happens to the sum then?",
        "A task is closed *behind* the document that brings it to `target` bytes: then "
        "the next one starts there, from 0 bytes. What is still open at the end is a "
        "task, too, unless it holds nothing.",
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
        a task is full at exactly `target` bytes, too, not only above.
    held >= target => held == target
    held >= target => held >= target - 1
        a task is full at `target` bytes or above: neither below nor only at exactly.
    start, held = number + 1, 0 => start = number + 1
        the bytes are never set back to 0 for the next task.
    start, held = number + 1, 0 => held = 0
    return tasks => return [(0, stop) for _, stop in tasks]
        the start is never moved: each task does again what the ones before have done.
    = number + 1, 0 => = number, 0
        the document that fills a task is in two of them: the next starts behind it.
    append((start, number + 1)) => append((start, number)) ; \
    = number + 1, 0 => = number, 0
        a task ends *before* the document that fills it, which opens the next one.
    = number + 1, 0 => = number + 1, held - target
        what a task has above `target` is taken over into the next one.
    = number + 1, 0 => = number + 1, size
        the document that fills a task is counted for the next one, too.
    = number + 1, 0 => = number + 2, 0
        between two tasks a document is left out: one starts where the other stops.
    append((start, number + 1)) => append((start, number))
    return tasks => return [(start, stop - 1) for start, stop in tasks]
        the stop is the number of the last document, which a slice would leave out.
    (start, len(sizes))) => (start, len(sizes) - 1))
        the last task, of the documents that are left, stops one too early.
    if start < len(sizes): => if False:
        the documents that are left at the end are no task: nobody reads them.
    if start < len(sizes): => if True:
    if start < len(sizes): => if sizes:
        where nothing is left, an empty task comes last: it must hold a document.
    tasks.append((start, len(sizes))) => \
    tasks[-1:] = [(tasks[-1][0] if tasks else 0, len(sizes))]
        what is left is added to the last task instead of being one of its own.
    return tasks => return [(start + 1, stop) for start, stop in tasks]
    return tasks => return [(start + 1, stop + 1) for start, stop in tasks]
        a task starts one document late: documents are counted from 0.
    return tasks => return [sizes[start:stop] for start, stop in tasks]
    return tasks => return [list(range(*task)) for task in tasks]
        these are the documents of each task, one by one. Start and stop are enough.
    return tasks => return [(start, stop - start) for start, stop in tasks]
    return tasks => return [(start, sum(sizes[start:stop])) for start, stop in tasks]
        these pairs are a start and how much the task holds: return where it stops.
    return tasks => return [stop for _, stop in tasks]
    return tasks => return [start for start, _ in tasks]
        these are only the stops or the starts: return pairs, (start, stop).
    return tasks => return [(sum(sizes[:a]), sum(sizes[:b])) for a, b in tasks]
        these are positions of bytes. A task is told which *documents* to read.
    enumerate(sizes) => enumerate(sorted(sizes, reverse=True))
        the sizes are sorted first. The documents must stay in their order.
""")


@cut_tasks.way("""
    held >= target => held + size > target and number > start
        these tasks hold *at most* `target` bytes: close behind what fills a task.
    held >= target => held + size > target
        these tasks hold at most `target` bytes, and one of them can be empty.
    held >= target => held > target
        a task is full at exactly…
    if sizes else [] =>
        without documents there is no task.
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
        each task has as many documents. Bytes are work, not documents.
    _pairs([*range(0, len(sizes), target), len(sizes)])
        `target` is bytes, not documents: add up the sizes.
    _pairs(range(len(sizes) + 1))
        each document is a task of its own: add up until it is enough.
    _pairs([i for i in range(1, len(sizes))
    if sum(sizes[:i]) // target > sum(sizes[: i - 1]) // target] + [len(sizes)])
        a task is closed at multiples of `target` of all bytes. Each counts from 0.
    _pairs([*range(0, sum(sizes), target), sum(sizes)])
        these are positions of bytes, which cut documents in two. Count documents.
    _pairs([len(sizes)])
        all documents are one task: nothing is shared out.
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
        "The file goes on with one task only, number `written`. If that one has not "
        "ended, nothing can be written, however many others have.",
        "Count up from `written` for as long as the number is among `finished`. The "
        "order in which tasks ended, and how often, plays no part.",
    ),
)
def can_be_written(finished: list[int], written: int) -> list[int]:
    """Return the tasks whose results can be written now, in order."""
    ended, ready = set(finished), []
    while written + len(ready) in ended:
        ready.append(written + len(ready))
    return ready


@can_be_written.way("""
    number = [], written => number = [], written + 1
        `written` tasks stand in the file, 0 to `written - 1`: number `written` is next.
    number = [], written => number = [], written - 1
        task `written - 1` stands in the file already: tasks count from 0.
    number = [], written => number = [], 0
        counted up from task 0: those before `written` stand in the file already.
    while number in finished: => while number + 1 in finished:
        it is asked whether the *next* task has ended, not the task itself.
    while number in finished: => if number in finished:
        only the next one. If the one behind it has ended, too, it can be written.
    number in finished: => number in finished and number < len(finished):
        only numbers below the length of `finished` are looked at: others can be there.
    number = [], written => number = [], 0 ; number in finished: => \
    number in finished and number < len(finished): ; \
    return ready => return [n for n in ready if n >= written]
        from 0 to the length of `finished`, where those before `written` need not be.
    number in finished: => number <= max(finished, default=-1):
    number in finished: => number <= max(finished):
        up to the last task that has ended. One before it may be missing.
    number in finished: => number < written + len(set(finished)):
        as many numbers as tasks have ended: none of them may be missing.
    return ready => return ready[:-1]
        the last one is missing: a task can be written if it has ended itself.
    return ready => return len(ready)
        that is how many can be written. Return their numbers.
    return ready => return [n for n in finished if n in ready]
    return ready => return list(dict.fromkeys(n for n in finished if n in ready))
        in the order in which tasks ended. The file has the order of the tasks.
    return ready => return sorted(n for n in finished if n in ready)
        a task that ended twice, since it was tried again, is written once.
""")
def counted_up(finished, written):
    ready, number = [], written
    while number in finished:
        ready.append(number)
        number += 1
    return ready


@can_be_written.way("""
    sorted(set(finished)) => finished
        `finished` is read once: a task that ended before its turn is passed over.
    number == written + len(ready) => number >= written
        one that has ended must wait while one before it has not.
    number == written + len(ready) => True
        all that have ended. Those before `written` stand in the file, and others wait.
    number == written + len(ready) => number > written
        those behind `written`, which is the next task itself: count up from it.
    sorted(set(finished)) => finished ; number == written + len(ready) => \
    number >= written
        all tasks that the file does not hold, as they ended. Write up to the first gap.
    sorted(set(finished)) => sorted(finished) ; number == written + len(ready) => \
    number >= written
        all tasks that the file does not hold, some twice. Write up to the first gap.
    sorted(set(finished)) => sorted(finished) ; number == written + len(ready) => True
        all that have ended, some twice. Those before `written` stand in the file.
""")
def walked_through(finished, written):
    ready = []
    for number in sorted(set(finished)):
        if number == written + len(ready):
            ready.append(number)
    return ready


@can_be_written.way("""
    {n for => [n for ; written}) => written])
        a task that ended twice must not stop the others.
    if n >= written =>
        a task before `written` can be in `finished`, and must not stop the others.
    sorted({n for n in finished if n >= written}) => finished
        reading ends at the first entry that is not next: tasks end in any order.
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
        if the next one has ended, only those up to the first gap can be written, too.
    sorted(set(finished))[written:]
    finished[written:]
        the first `written` entries are cut off. `written` counts tasks in the file.
    [n for n in range(written, written + len(finished)) if n in finished]
        gaps are passed over, as far as `finished` is long. What is behind one waits.
    [a for a, b in pairwise(sorted(set(finished))) if b == a + 1 and a >= written]
        those whose next one has ended. Asked is whether all before it have.
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
        "Which of a task's files is written last of all? Only that one says that the "
        "task is done.",
        "For each number, make the name of the file that a finished task has left, "
        "with its five digits, and ask whether it is among `files`: the whole name, "
        "not a part of it.",
    ),
)
def tasks_left(num_tasks: int, files: list[str]) -> list[int]:
    """Return the numbers of the tasks that a run must still do, in order."""
    return [n for n in range(num_tasks) if f"{n:05}.json" not in files]


@tasks_left.way("""
    f"{n:05}.json" => f"{n:05}.bin"
        a task whose `.bin` is there may have been killed before the `.json`.
    f"{n:05}.json" not in files => not any(f"{n:05}" in name for name in files)
        a task that has left any file is taken for done. Only a `.json` says so.
    not in files => not in "".join(files)
        `.json.tmp` is taken for `.json`: compare whole names, or their ends.
    f"{n:05}.json" not in files => f"{n:05}.bin" not in "".join(files)
        `.bin.tmp` is taken for `.bin`, and `.bin` for done.
    not in files => not in files and f"{n:05}.bin" not in files
        all but the `.tmp` files are taken for done: a `.bin` without `.json` is not.
    not in files => not in files or f"{n:05}.bin" in files
        `or` where `and not` is meant: a task that is done has a `.bin`, too.
    not in files => in files
        these are the tasks that are *done*. Return those that are left.
    f"{n:05}.json" => f"{n}.json"
    f"{n:05}.json" => f"{n:04}.json"
    f"{n:05}.json" => f"{n:05}"
        no name is found, as if all were left: they are like `00003.json`.
    f"{n:05}.json" => f"0000{n}.json"
        four zeros stand before every number: `{n:05}` has five *digits*.
    f"{n:05}.json" not in files => str(n) not in "".join(files)
        a number is looked for anywhere in the names: `1` stands in `00010`.
    f"{n:05}.json" not in files => f"{n:05}.json.tmp" in files
        those whose `.json` was being written. Others are left, too.
    range(num_tasks) => range(1, num_tasks + 1)
        tasks count from 0: the last one is number `num_tasks - 1`.
    range(num_tasks) => range(1, num_tasks)
        task 0 is forgotten: tasks count from 0.
    range(num_tasks) => range(num_tasks + 1)
        `range(n)` ends at n - 1 by itself: there is no task `num_tasks`.
    range(num_tasks) => range(num_tasks - 1)
        the last task is forgotten: `range(n)` ends at n - 1 by itself.
    if f"{n:05}.json" not in files: left.append(n) => \
    left.append(n) ⏎ if f"{n:05}.json" in files: left.pop(); break
        up to the first one that is done. Behind it others can be left.
    return left => return list(range(left[0], num_tasks)) if left else []
        all tasks from the first one that is not done. Some of them are done.
    return left => return [f"{n:05}" for n in left]
        numbers are wanted, not names: `int(name[:5])` of each.
    return left => return len(left)
        that is how many are left. Return which.
    return left => return left[:1]
        only the next one. Return all that are left.
    return left => return [n for n in left if f"{n:05}" in "".join(files)]
        only tasks that have begun. One that has left no file at all is to be done, too.
""")
def gone_through(num_tasks, files):
    left = []
    for n in range(num_tasks):
        if f"{n:05}.json" not in files:
            left.append(n)
    return left


tasks_left.answers("""
    list(range(sum(name.endswith(".json") for name in files), num_tasks))
        tasks end in any order: so many that are done need not be the first ones.
    list(range(max([int(name[:5]) for name in files if name.endswith(".json")],
    default=-1) + 1, num_tasks))
        tasks end in any order: that one is done does not mean that all before it are.
    num_tasks - sum(name.endswith(".json") for name in files)
        a number of tasks, those of another run taken off. Return which are left.
    sorted(int(name[:5]) for name in files if name.endswith(".json"))
        these are the tasks that are done, those of another run among them.
    sorted({int(name[:5]) for name in files if not name.endswith(".json")})
        these are tasks with a file that is not `.json`, which those done have, too.
    [int(name[:5]) for name in files if name.endswith(".tmp")]
        only tasks with a `.tmp`, which were being done. Others never begun are left.
    [name for name in files if not name.endswith(".json")]
        these are names of files. Return the numbers of tasks.
    sorted({*range(num_tasks)} ^ {int(n[:5]) for n in files if n.endswith(".json")})
        `^` keeps what is in one of the two sets, tasks of another run, too: use `-`.
""")


def _readers(random: Random) -> Iterator[Case]:
    for done in (0, 5, 12):
        for batch_size, world_size in ((1, 2), (2, 1), (2, 3), (3, 2)):
            for rank in {0, world_size - 1}:
                yield from ((done, n, batch_size, rank, world_size) for n in (0, 1, 3))


@exercise(
    cases=_readers,
    hints=(
        "Write down what *all* ranks read in one step, and which part of it is whose. "
        "Where does the next step begin?",
        "A step takes `world_size * batch_size` samples. Rank r begins "
        "`r * batch_size` behind the beginning of the step, and reads `batch_size` in "
        "a row.",
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
        what was delivered before, `done`, is forgotten.
    done + rank => done * step + rank
    done + rank => done * batch_size + rank
        `done` is a number of samples, not of steps or batches.
    done + rank => done * world_size + rank
    done + rank => done // world_size + rank
        `done` is what all ranks have read together, not each of them.
    done + rank => done // step * step + rank
    done + rank => done // batch_size * batch_size + rank
        rounded down to a whole step or batch: what others have read is read again.
    done + rank => -(-done // step) * step + rank
        rounded up to a whole step of *these* ranks: some samples are skipped.
    done + rank => done + 1 + rank
        one sample too far: `done` samples are read, so the next is number `done`.
    + rank * batch_size =>
        the rank is forgotten: all ranks read the same.
    rank * batch_size => rank
        a rank begins `rank` samples on, not `rank` batches.
    rank * batch_size => (rank - 1) * batch_size
        ranks count from 0, not from 1.
    rank * batch_size => (rank + 1) * batch_size
        rank 0 begins at `done`, not a batch behind it.
    rank * batch_size => rank * step
        a rank begins a whole step on for each rank before it.
    rank * batch_size => rank * world_size
    rank * batch_size => rank * num_steps
        a rank begins `rank * batch_size` samples on.
    rank * batch_size => rank * num_steps * batch_size ; k * step => k * batch_size
        each rank gets one long piece of the order. All read the next samples together.
    k * step => k * batch_size
        from one batch to the next, the batches of the other ranks lie between.
    k * step => k * world_size
        a step is `world_size` batches, not `world_size` samples.
    k * step => k * (step + batch_size)
    k * step => k * (step - batch_size)
        a step is as many batches as there are ranks, neither one more nor one fewer.
    k * step => k
        a step goes on by one sample.
    k * step => 0
        all steps read the same samples.
    range(num_steps) => range(1, num_steps + 1)
    rank * batch_size => (rank + world_size) * batch_size
        the first step is passed over: it begins at `done`.
    range(num_steps) => range(num_steps - 1)
        the last step is missing: `range(n)` ends at n - 1 by itself.
    range(num_steps) => range(num_steps + 1)
        there is a step more than `num_steps`: `range(n)` has n numbers.
    range(num_steps) => range(1)
    range(num_steps) => range(min(num_steps, 1))
        `num_steps` plays no part: these are positions in one step.
    range(batch_size) => [0]
        only where each batch begins: a batch has `batch_size` samples.
    step + i for => step for
        the first sample of each batch is returned `batch_size` times.
    range(batch_size) => range(0, step, world_size)
        a batch is `batch_size` samples in a row, not each `world_size`-th.
    range(batch_size) => range(batch_size - 1)
    range(batch_size) => range(batch_size + 1)
        a batch is `batch_size` samples, neither one more nor one fewer.
    range(batch_size) => range(step)
        the samples of all ranks are in each batch.
    for k in range(num_steps) for i in range(batch_size) => \
    for i in range(batch_size) for k in range(num_steps)
        the two loops are exchanged: the samples of one batch come in a row.
""")


@positions_of.way("""
    p - done) // batch_size => p) // batch_size
        whose a sample is, is counted from position 0: steps begin at `done`.
    // batch_size % => %
        dealt out like cards, sample by sample: a rank reads `batch_size` in a row.
    == rank => == rank + 1
        ranks count from 0…
    if (p - done) // batch_size % world_size == rank =>
        these are the samples that *all* ranks read together: this one reads its part.
""")
def those_of_the_rank(done, num_steps, batch_size, rank, world_size):
    end = done + num_steps * batch_size * world_size
    return [
        p for p in range(done, end) if (p - done) // batch_size % world_size == rank
    ]


def _shards(random: Random) -> Iterator[Case]:
    yield from (([5], 2), ([0], 3), ([4, 0], 2), ([0, 7], 2), ([3, 3], 3), ([2, 9], 3))
    yield from (([10, 7, 9], 3), ([9, 10, 7], 3), ([8, 8, 8, 7], 4), ([6, 4, 5], 2))
    yield from (([5, 9, 6], 2), ([3, 11], 2), ([3, 5], 4), ([7, 7, 10], 4))
    for _ in range(8):
        ranks = random.randrange(2, 5)
        yield [random.randrange(20) for _ in range(ranks)], random.randrange(1, 6)


@exercise(
    cases=_shards,
    hints=(
        "A step is taken by all ranks together. Which of them is the first that has no "
        "full batch left?",
        "How many full batches does each rank have? The steps that all of them can "
        "take are as many as the one with the fewest has.",
    ),
)
def equal_steps(shard_sizes: list[int], batch_size: int) -> int:
    """Return the largest number of steps that all ranks can take."""
    return min(size // batch_size for size in shard_sizes)


equal_steps.slips("""
    min( => sum(
        the batches of all ranks are added up. They are taken at the same time.
    min( => max(
        the steps of the rank with the *largest* shard: the others are done before.
    size // batch_size => -(-size // batch_size)
        rounded up: the last batch of the smallest shard would not be full.
    size // batch_size => round(size / batch_size)
        rounded to the nearest. Only full batches count: round down.
    // => %
        `%` gives the samples that are left over. `//` counts batches.
    in shard_sizes => in shard_sizes if size
    in shard_sizes => in shard_sizes if size >= batch_size
        ranks without a full batch are left out. But a step is taken by all of them.
""")


@equal_steps.way("""
    min(shard_sizes) => max(shard_sizes)
        the steps of the rank with the *largest* shard…
    return ... // batch_size => return -(-... // batch_size)
        rounded up…
    return ... // batch_size => return round(... / batch_size)
        rounded to the nearest…
    // batch_size => % batch_size
        `%` gives the samples that are left over…
    // batch_size =>
        that is a number of samples: divide by the batch size.
    // batch_size => // batch_size * batch_size
        these are the samples that fill whole batches. How many batches are they?
    // batch_size => // batch_size * len(shard_sizes)
        the steps of all ranks are added up. A step is one that all take together.
    // batch_size => // batch_size + 1
    // batch_size => // batch_size - 1
        the quotient itself is the number of full batches: add and take off nothing.
    // batch_size => // max(1, batch_size // len(shard_sizes))
    // batch_size => // (batch_size * len(shard_sizes))
    // batch_size => // (batch_size // len(shard_sizes))
        `batch_size` is the batch of one rank, neither shared out nor multiplied.
    min(shard_sizes) => sum(shard_sizes)
        all samples are put together, and one rank reads them all.
    min(shard_sizes) => (sum(shard_sizes) // len(shard_sizes))
        so many would be possible if the samples were shared out evenly.
    min(shard_sizes) => shard_sizes[0]
    min(shard_sizes) => shard_sizes[-1]
    min(shard_sizes) => sorted(shard_sizes)[1]
        one shard is looked at, which need not be the smallest.
    min(shard_sizes) => (min(shard_sizes) - 1)
        one sample is taken off. Here nothing is shifted: count them all.
    min(shard_sizes) => min(shard_sizes, key=lambda size: size % batch_size)
        the shard with the fewest samples left over is looked at, not the smallest.
    min(shard_sizes) => min((size for size in shard_sizes if size), default=0)
        ranks without a full batch are left out…
    return ... // batch_size => return max(1, ... // batch_size)
        at least one step, even where a rank has no full batch: then 0.
""")
def of_the_smallest(shard_sizes, batch_size):
    return min(shard_sizes) // batch_size


equal_steps.answers("""
    0
        0 steps, whatever the shards: does the search for the smallest begin with 0?
        Nothing is smaller: begin with the first rank.
    sum(size // batch_size for size in shard_sizes) // len(shard_sizes)
        the mean of the ranks' batches: some ranks have fewer.
    (max(shard_sizes) // batch_size) - min(shard_sizes) // batch_size
        that is by how many steps the ranks differ. How many can all of them take?
    min((size // batch_size for size in shard_sizes if size >= batch_size), default=0)
        ranks without a full batch are left out…
    sum(size >= batch_size for size in shard_sizes)
        the number of ranks that have a full batch. How many steps can all of them take?
""")


def _losses(random: Random) -> Iterator[Case]:
    yield from (([6.0, 2.0], [3, 1]), ([3.0], [2]), ([4.0, 0.0], [2, 0]))
    yield from (([0.0], [0]), ([0.0, 0.0], [0, 0]), ([0.0, 5.0], [0, 4]))
    yield from (([2.0, 2.0], [2, 2]), ([1.0, 9.0, 2.0], [1, 3, 4]))
    for _ in range(10):
        ranks = random.randrange(2, 5)
        counts = [random.randrange(9) for _ in range(ranks)]
        yield [round(random.random() * n, 3) for n in counts], counts


@exercise(
    cases=_losses,
    hints=(
        "A target counts as much as any other, on whichever rank it stands. So what "
        "is added up, and by what is it divided?",
        "Two sums over all ranks, and one division, at the very end. And if nothing "
        "was scored at all?",
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
        if nothing was scored, there is nothing to divide by: 0.0.
    else 0.0 => else float("nan")
        if nothing was scored, 0.0 is wanted, not NaN.
    if total else => if all(counts) else
        a rank without targets makes the whole loss 0. The others have scored something.
    total = sum(counts) => total = len(sums)
        the sums are divided by the number of ranks, not of targets.
    total = sum(counts) => total = sum(count > 0 for count in counts)
        divided by the number of ranks that have scored something, not of targets.
    total = sum(counts) => total = len(sums) * max(counts)
        each rank is taken to have as many targets as the one with most.
    total = sum(counts) => total = counts[0]
        the targets of one rank are taken for those of all of them: add up the counts.
    total = sum(counts) => total = max(counts)
        divided by the largest count: add up the counts of all ranks.
    total = sum(counts) => total = sum(max(1, count) for count in counts)
        the count is taken to be at least 1 on each rank: one without targets has none.
    total = sum(counts) => total = sum(counts) + 1e-3
        something is added to the number of targets. Ask whether it is 0 instead.
    sum(sums) / => sum(sums) //
        `//` rounds down. A loss is no count: divide with `/`.
    sum(sums) / total => round(sum(sums) / total, 2)
        rounded. Leave rounding to whoever prints the loss.
    / total =>
        the sum of the losses: divide by the number of targets.
    / total => / total / len(sums)
        divided by the targets and by the ranks: the targets of all ranks are enough.
    / total => / total * len(sums)
        multiplied by the number of ranks, over which nobody averages afterwards.
    sum(sums) / total if total => total / sum(sums) if sum(sums)
        sums and counts are exchanged: nats by targets.
    sum(sums) => max(sums)
        the largest sum is taken: add up the sums.
    sum(sums) => sum(s * n for s, n in zip(sums, counts, strict=True))
        the sums are weighted by the counts a second time: they are no means.
""")


global_mean.answers("""
    sum(_means(sums, counts)) / len(sums)
        a mean of means. A rank with few targets counts as much as one with many.
    (lambda means: sum(means) / len(means) if means else 0.0)(
    [s / n for s, n in zip(sums, counts) if n])
        a mean of means, of ranks that have scored. Each *target* should count alike.
    sum(s / n for s, n in zip(sums, counts)) / len(sums)
        a mean of means, and a rank that has scored nothing has none: add up first.
    sum(_means(sums, counts))
        the means are added up: one division, of the sums, at the end.
    sum(s / n * n for s, n in zip(sums, counts)) / sum(counts)
        a rank that has scored nothing has no mean of its own. Divide only once.
    sum(s / max(1, sum(counts[: i + 1])) for i, s in enumerate(sums))
        divided inside the loop, by the targets so far: add up everything first.
    reduce(lambda mean, own: (mean + own) / 2,
    [s / n for s, n in zip(sums, counts) if n], 0.0)
        halved at every rank: the last one counts half, the one before it a quarter.
    _means(sums, counts)[0]
        only the first rank is looked at.
    sum(sums) / sum(counts) if len(sums) > 1 else sums[0]
        with one rank its sum is returned. It has several targets, or none.
    max(_means(sums, counts))
        the worst rank's loss, not that of all.
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
        "A document of n ids: its first id reads one id, itself, the second two, and "
        "so on. How many is that in all? A pack has as many as its documents together.",
        "A document of n ids makes n (n + 1) / 2 pairs. The step lasts as long as the "
        "rank with the most pairs: how many could each of the others still do?",
    ),
)
def idle_pairs(packs: list[list[int]]) -> int:
    """Count the pairs that ranks could still do while they wait for the slowest."""
    work = [sum(n * (n + 1) // 2 for n in lengths) for lengths in packs]
    return sum(max(work) - pairs for pairs in work)


def _triangle(n):
    return n * (n + 1) // 2


@idle_pairs.way("""
    _triangle(n) for n in => n * n for n in
        each id is taken to read all ids of its document, later ones, too.
    _triangle(n) for n in => n * (n - 1) // 2 for n in
        an id reads itself, too: n (n + 1) / 2 pairs, not n (n - 1) / 2.
    _triangle(n) for n in => n * (n + 1) for n in
        n (n + 1) is twice as many: an id reads those before it, not those behind.
    _triangle(n) for n in => (n * n + 1) // 2 for n in
        `n * n + 1` lacks parentheses: half of n (n + 1) is wanted.
    _triangle(n) for n in => n * n // 2 for n in
        n * n // 2 leaves out half of the pairs of an id with itself.
    sum(_triangle(n) for n in lengths) => _triangle(sum(lengths))
        the mask is forgotten. Count the pairs of each document by itself.
    sum(_triangle(n) for n in lengths) => sum(lengths) ** 2
        the pack is taken for one document in which each id reads all.
    sum(_triangle(n) for n in lengths) => sum(lengths)
        ids are counted, not pairs: equally full packs are not equally much work.
    sum(_triangle(n) for n in lengths) => len(lengths)
        documents are counted, not pairs.
    in lengths) for lengths => in [max(lengths, default=0)]) for lengths
    in lengths) for lengths => in lengths[:1]) for lengths
        only one document of a pack is counted, the longest or the first.
    in lengths) for lengths => in range(len(lengths))) for lengths
        the numbers 0, 1, 2, ... of documents are taken for their lengths.
    sum(_triangle(n) for n in lengths) => math.prod(_triangle(n) for n in lengths)
        the pairs of a pack are multiplied, not added up.
    for lengths in packs => for lengths in packs if lengths
        a rank with an empty pack is left out. It waits, too.
    return max(work) => \
    work = [sum(work[: i + 1]) for i in range(len(work))] ⏎ return max(work)
        the pairs of a pack are added to those of the packs before: begin with 0 for
        each.
    max(work) * len(work) - sum(work) => max(work) - min(work)
        only the quickest rank's wait is counted: add up those of all.
    max(work) * len(work) - sum(work) => sum(work)
        all pairs are counted. Idle are those that a rank could still do.
    max(work) * len(work) - sum(work) => max(work)
        the pairs of the slowest rank are counted: the step's, not the idle ones.
    - sum(work) =>
        all that could be done in the step is counted, what is done too.
    max(work) * len(work) - sum(work) => sum(work) - min(work) * len(work)
        ranks are compared with the quickest one: they wait for the slowest.
    max(work) * len(work) - sum(work) => \
    sum(abs(w - sum(work) // len(work)) for w in work)
        ranks are compared with their mean.
    max(work) * len(work) - sum(work) => sum(abs(a - b) for a, b in pairwise(work))
        neighbors are compared, not each rank with the slowest.
    return ... - sum(work) => return (... - sum(work)) // len(work)
        the idle pairs are divided by the number of ranks.
    max(work) * => work[0] *
    max(work) * => work[-1] *
        the first or the last rank is taken for the slowest.
    max(work) * => work[max(range(len(packs)), key=lambda i: sum(packs[i]))] *
        the rank with most *ids* is taken for the slowest. It has the most pairs.
    max(work) * len(work) - sum(work) => max(work) - sum(work) // len(work)
        the mean rank is compared with the slowest, once.
    max(work) * len(work) - sum(work) => sum(work) - max(work)
        what all but the slowest do is counted, not what they could do.
    max(work) * len(work) - sum(work) => sum(abs(a - b) for a in work for b in work)
        each rank is compared with each other one.
    max(work) * len(work) - sum(work) => \
    max(work) - sorted(work)[-2] if len(work) > 1 else 0
        the two slowest are compared.
    max(work) * len(work) => max(work) * (len(work) - 1)
        the slowest waits for nobody, but its work is taken off, too.
    max(work) * len(work) - sum(work) => sum(w < max(work) for w in work)
        ranks that wait are counted, not the pairs they could do.
    max(work) * len(work) - sum(work) => sum(work) - max(work) * len(work)
        the sign is the other way round.
    max(work) * len(work) - sum(work) => min(work)
        the quickest alone is counted.
    max(work) * len(work) - sum(work) => sum(work) - 2 * min(work)
        the quickest is taken off the others: each is to be compared with the slowest.
    max(work) * len(work) - sum(work) => max(work) - (sum(work) - max(work))
        the slowest is taken off once, the others from it.
    max(work) * len(work) - sum(work) => [max(work) - w for w in work]
        several values: add up the idle pairs of all ranks.
""")
def slowest_for_all(packs):
    work = [sum(_triangle(n) for n in lengths) for lengths in packs]
    return max(work) * len(work) - sum(work)


idle_pairs.answers("""
    sum(max(map(_triangle, sum(packs, []))) - _triangle(n) for n in sum(packs, []))
        documents are compared with the longest one. It is ranks that wait.
""")


def _collections(random: Random) -> Iterator[Case]:
    yield from ((0, 100, 10), (1, 100, 10), (5, 100, 10), (6, 100, 10))
    yield from ((6, 100, 11), (7, 300, 7), (10, 65_535, 8), (10, 65_536, 8))
    yield from ((10, 65_537, 8), (12, 65_537, 8), (9, 100_000, 8), (10, 100_000, 11))
    yield from ((1000, 50_000, 400), (1000, 100_000, 400), (1001, 50_000, 401))
    yield from ((40, 256, 8), (40, 257, 8), (70_000, 1_000, 1_000))
    yield from ((15 * 10**12, 128_000, 10**9), (15 * 10**12, 50_257, 2 * 10**8))
    yield from ((300_000, 70_000, 1_001), (3, 200_000, 4), (3, 2, 4))
    yield 2**54 + 2, 256, 4  # too many for floats


@exercise(
    cases=_collections,
    hints=(
        "How many bytes does an id take? The largest id is `vocab_size - 1`; two bytes "
        "hold up to 65,535.",
        "First count the *ids* that fit into one shard, rounded down; then the shards "
        "that all ids need, rounded up.",
    ),
)
def num_shards(num_tokens: int, vocab_size: int, shard_bytes: int) -> int:
    """Return how many shards of at most `shard_bytes` bytes hold all tokens."""
    bytes_each = 2 if vocab_size <= 2**16 else 4
    ids_in_one = shard_bytes // bytes_each
    return -(-num_tokens // ids_in_one)


num_shards.slips("""
    2 if vocab_size <= 2**16 else 4 => 2
        an id takes 2 bytes whatever the vocabulary: ids above 65,535 need 4.
    2 if vocab_size <= 2**16 else 4 => 4
        an id takes 4 bytes whatever the vocabulary: up to 65,535, 2 are enough.
    2 if vocab_size <= 2**16 else 4 => 8
        an id is stored in 8 bytes: 2 or 4 are enough.
    2 if vocab_size <= 2**16 else 4 => 1
        a byte is taken for an id: how many bytes does an id of this vocabulary take?
    <= 2**16 => < 2**16
    <= 2**16 => < 2**16 - 1
        65,536 ids are 0 to 65,535, and fit into 2 bytes.
    <= 2**16 => <= 2**16 + 1
        65,537 ids are 0 to 65,536, and the last one does not fit into 2 bytes.
    <= 2**16 => <= 2**15
        the signed int16 ends at 32,767: uint16 ends at 65,535.
    vocab_size <= 2**16 => num_tokens <= 2**16
        how wide an id is depends on the vocabulary, not on how many tokens there are.
    2 if vocab_size <= 2**16 else 4 => max(1, -(-(vocab_size - 1).bit_length() // 8))
        as many whole bytes as the largest id needs: the shards are uint16 or uint32.
    2 if vocab_size => 1 if vocab_size <= 256 else 2 if vocab_size
        a small vocabulary gets 1 byte an id: the shards are uint16 or uint32.
    else 4 => else 3
        3 bytes would do, but no dtype has them: uint32 has 4.
    else 4 => else 8
        above 65,536 ids an id takes 8 bytes: 4 are enough.
    2 if vocab_size <= 2**16 else 4 => 4 if vocab_size <= 2**16 else 8
        4 or 8 bytes an id: 2 hold up to 65,535, and 4 hold all others.
    2 if vocab_size <= 2**16 else 4 => 16 if vocab_size <= 2**16 else 32
        16 and 32 are bits: an id takes 2 or 4 bytes.
    2 if vocab_size <= 2**16 else 4 => 4 if vocab_size <= 2**16 else 2
        2 and 4 bytes are exchanged.
    shard_bytes // bytes_each => -(-shard_bytes // bytes_each)
        the ids of a shard are rounded up: the last of them would not fit.
    shard_bytes // bytes_each => (shard_bytes * bytes_each)
        the bytes of a shard are multiplied by those of an id, not divided.
    -(-num_tokens // ids_in_one) => num_tokens // ids_in_one
    -(-num_tokens // ids_in_one) => round(num_tokens / ids_in_one)
        rounded down, or to the nearest: the ids left over need a shard, too.
    -(-num_tokens // ids_in_one) => num_tokens // ids_in_one + 1
        rounded down, and one added: where it comes out even, that is one too many.
    -(-num_tokens // ids_in_one) => math.ceil(num_tokens / ids_in_one)
        a quotient of floats is exact up to 2**53 only. `-(-a // b)` rounds up exactly.
    -(-num_tokens // ids_in_one) => max(1, -(-num_tokens // ids_in_one))
        at least one shard: no tokens need none.
    -(-num_tokens // ids_in_one) => ids_in_one
        that is how many *ids* fit into one shard.
    -(-num_tokens // ids_in_one) => -(-num_tokens // shard_bytes) * bytes_each
        shards are counted as if an id were a byte, and multiplied: divide first.
    -(-num_tokens // ids_in_one) => num_tokens * bytes_each
        these are bytes, not shards.
    -(-num_tokens // ids_in_one) => -(-num_tokens * bytes_each // shard_bytes)
    -(-num_tokens // ids_in_one) => math.ceil(num_tokens * bytes_each / shard_bytes)
    -(-num_tokens // ids_in_one) => math.ceil(num_tokens / (shard_bytes / bytes_each))
    -(-num_tokens // ids_in_one) => math.ceil(num_tokens / shard_bytes * bytes_each)
        all bytes are divided by those of a shard. But an id is not cut in two.
    -(-num_tokens // ids_in_one) => num_tokens * bytes_each // shard_bytes
        all bytes are divided, and rounded down.
    -(-num_tokens // ids_in_one) => num_tokens * bytes_each // shard_bytes + 1
    -(-num_tokens // ids_in_one) => int(num_tokens / (shard_bytes / bytes_each)) + 1
        all bytes are divided, rounded down, and one added.
""")


# Questions


def _samples(random: Random) -> Iterator[Case]:
    yield from ((size, ranks) for ranks in (1, 2, 3) for size in (1, 4, 9, 12))


def each_once(num_samples: int, world_size: int) -> list[int]:
    return list(range(num_samples))


@bug_or_not(
    purpose=(
        "Let all ranks together read each sample once, in a random order. It returns "
        "what they read, sorted: every sample, none of them twice."
    ),
    reference=each_once,
    cases=_samples,
    explanation=(
        "Each rank shuffles *all* samples by a seed of its own, and takes its share of "
        "that. The shares of different orders overlap: some samples are read twice, "
        "others by nobody, and nothing fails. With one rank all is right. The order "
        "must come from a seed that all ranks have, and the share from the rank. It "
        "happens where one writes `seed + rank` so that ranks do not draw the same "
        "numbers: right for dropout, wrong for the order."
    ),
)
def a_seed_for_each_rank(num_samples: int, world_size: int) -> list[int]:
    read = []
    for rank in range(world_size):
        order = list(range(num_samples))
        Random(1000 + rank).shuffle(order)
        read += order[rank::world_size]
    return sorted(read)


def each_once_in_blocks(num_blocks: int, world_size: int) -> list[int]:
    return list(range(num_blocks * world_size))


@bug_or_not(
    purpose=(
        "The stream lies in blocks of `world_size` samples. Let all ranks together "
        "read each sample once, in a random order. It returns what they read, sorted."
    ),
    reference=each_once_in_blocks,
    cases=_samples,
    explanation=(
        "The ranks visit the blocks in different orders, each by a seed of its own. It "
        "looks like the bug above. But of each block rank r takes sample r, in "
        "whichever order it comes: so a rank reads all samples of its place, and no "
        "two ranks share one. What is shared out before the shuffle may be shuffled as "
        "one likes. The data loader of karpathy/llm.c does this. (What it costs: no "
        "step reads one contiguous global batch, and with another number of ranks the "
        "epoch is another.)"
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
        "`DistributedDataParallel` averages over the ranks what each of them computes. "
        "Choose each rank's loss so that this average is the mean over all targets. "
        "`sums` and `counts` are the nats and the targets of each rank."
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
        "Why multiply a loss by the number of ranks? Because the average divides by it "
        "again. What is left is each rank's sum over the targets of *all* ranks, added "
        "up: the mean of all targets. Without the factor the gradient would be too "
        "small by `world_size`; with each rank's own count below the line it would be "
        "a mean of means."
    ),
)
def times_the_number_of_ranks(sums: list[float], counts: list[int]) -> float:
    world_size, targets = len(sums), sum(counts)
    losses = [own_sum / targets * world_size for own_sum in sums]
    return sum(losses) / world_size  # what DistributedDataParallel does


def steps_of_ranks(num_samples: int, world_size: int, batch_size: int) -> list[int]:
    shards = [range(rank, num_samples, world_size) for rank in range(world_size)]
    return [len(DataLoader(shard, batch_size, drop_last=True)) for shard in shards]


@true_or_false(
    claim=(
        "Where each rank reads its own shard by `DataLoader(shard, batch_size, "
        "drop_last=True)`, all ranks take as many steps, since short batches are left "
        "out."
    ),
    reference=steps_of_ranks,
    cases=lambda random: [
        (size, world_size, batch_size)
        for size in (8, 9, 23)
        for world_size, batch_size in ((1, 2), (2, 2), (2, 5), (3, 4))
    ],
    explanation=(
        "`drop_last` makes all batches equally large, not equally many. Shards that "
        "differ by a single sample can differ by a whole batch: then one rank starts a "
        "step that another never takes, and waits. Requests to bear that are as old as "
        "`DistributedDataParallel` (pytorch/pytorch #38174, from which its `join` "
        "comes). Simpler: count the steps from the *global* number of samples."
    ),
)
def equally_many_steps(num_samples: int, world_size: int, batch_size: int) -> list[int]:
    return [num_samples // world_size // batch_size] * world_size


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
        "Workers that are forked share the memory of a list of texts for as long as "
        "they only read it: to read an entry writes nothing into its memory, so its "
        "reference count stays as it is."
    ),
    reference=counts_while_reading,
    cases=lambda random: [(size,) for size in (0, 1, 3, 10)],
    explanation=(
        "Each Python object begins with the number of names that hold it, and to read "
        "it is to hold it for a moment: a write. The system copies the page that was "
        "written to, so worker by worker, page by page, the list is copied, and memory "
        "grows as long as the epoch lasts (pytorch/pytorch #13246). An array of NumPy "
        "or Arrow has *one* such number for all of its entries: keep texts there, or "
        "on disk."
    ),
)
def nothing_is_written(num_entries: int) -> list[int]:
    return [0] * num_entries


class _Noise(IterableDataset):
    """Draws a few numbers with a generator that was made before the workers were."""

    def __init__(self):
        self.generator = np.random.default_rng(7)

    def __iter__(self) -> Iterator[int]:
        return iter(self.generator.integers(10**9, size=3).tolist())


@cache
def different_numbers(num_workers: int) -> int:
    loader = DataLoader(_Noise(), batch_size=None, num_workers=num_workers)
    return len(set(loader))


@true_or_false(
    claim=(
        "A data set makes its own `np.random.default_rng(7)` in `__init__`, and draws "
        "three numbers with it in each worker. Two workers together draw three "
        "different numbers, not six."
    ),
    reference=different_numbers,
    cases=lambda random: [(0,), (1,), (2,)],
    explanation=(
        "A worker is a copy of the process that starts it, its generators included. "
        "Two copies of one generator draw the same numbers: the same noise, the same "
        "masks, the same crops. For `np.random` itself PyTorch mends that by now, with "
        "a seed for each worker (it did not when pytorch/pytorch #5059 was written); "
        "of a generator that a data set holds it knows nothing. Make it in the worker, "
        "from base seed, epoch, rank and worker."
    ),
)
def three_for_all(num_workers: int) -> int:
    return 3


# With other numbers by seed.


@numbers(
    ask="{tokens} billion tokens are to be encoded. A core does {rate:,} tokens a "
    "second, and {machines} machines have {cores} cores each. How many hours does it "
    "take?",
    draw=lambda rng: {
        "tokens": rng.randrange(100, 2_000),
        "rate": 1_000 * rng.randrange(50, 400),
        "machines": rng.randrange(3, 40),
        "cores": rng.choice([8, 16, 32, 48, 64, 96]),
    },
    hints=("How many tokens do all cores together do in an hour?",),
)
def hours_of_encoding(tokens: int, rate: int, machines: int, cores: int) -> float:
    return tokens * 1e9 / (rate * machines * cores) / 3600


hours_of_encoding.answers("""
    tokens * 1e9 / (rate * machines) / 3600
        one core a machine: all of them encode.
    tokens * 1e9 / (rate * cores) / 3600
        one machine alone.
    tokens * 1e9 / (rate * machines * cores) / 60
        minutes: an hour has 3,600 seconds.
    tokens * 1e9 / (rate * machines * cores)
        seconds: an hour has 3,600 of them.
""")


@numbers(
    ask="Each rank has a shard of its own: {sizes} samples. A step takes {batch_size} "
    "samples of every rank, and short batches are left out. How many steps can all "
    "ranks take together?",
    draw=lambda rng: {
        "sizes": [rng.randrange(2_000, 4_000) for _ in range(5)],
        "batch_size": rng.randrange(16, 65),
    },
    hints=("Who is done first?",),
)
def steps_together(sizes: list[int], batch_size: int) -> int:
    return min(sizes) // batch_size


steps_together.answers("""
    max(sizes) // batch_size
        those of the largest shard: by then its rank waits in vain for the others.
    sum(sizes) // len(sizes) // batch_size
        the mean of the shards. Who has less cannot take part.
    sum(sizes) // batch_size
        all samples shared out. Each rank has its own shard.
    -(-min(sizes) // batch_size)
        with a short last batch. It is left out.
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
    hints=("How many nats has each rank, and how many targets have both?",),
)
def loss_of_both(first: int, loss: float, second: int, other_loss: float) -> float:
    return (first * loss + second * other_loss) / (first + second)


loss_of_both.answers("""
    (loss + other_loss) / 2
        the mean of the two means: ranks with few targets count more.
    (second * loss + first * other_loss) / (first + second)
        the two are weighed the other way round.
    loss + other_loss
        their sum. A mean lies between the two.
""")
