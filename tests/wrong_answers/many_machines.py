"""Lesson 11: what a class answers."""

from __future__ import annotations

import math
import re
from itertools import count, pairwise, takewhile

import numpy as np
import torch

from wrong_answers import refused, right, wrong

# cut_tasks: sizes, target


@wrong("cut_tasks", "these tasks hold *at most* `target` bytes:")
def closes_before_it_is_too_large(sizes, target):
    tasks, start, total = [], 0, 0
    for i, size in enumerate(sizes):
        if total + size > target and i > start:
            tasks.append((start, i))
            start, total = i, 0
        total += size
    if start < len(sizes):
        tasks.append((start, len(sizes)))
    return tasks


@wrong("cut_tasks", "these tasks hold at most `target` bytes,")
def closes_before_without_looking(sizes, target):
    tasks, start, total = [], 0, 0
    for i, size in enumerate(sizes):
        if total + size > target:
            tasks.append((start, i))
            start, total = i, 0
        total += size
    if sizes:
        tasks.append((start, len(sizes)))
    return tasks


@wrong("cut_tasks", "the documents that are left at the end are")
def forgets_the_last(sizes, target):
    tasks, start, total = [], 0, 0
    for i in range(len(sizes)):
        total += sizes[i]
        if total >= target:
            tasks.append((start, i + 1))
            start = i + 1
            total = 0
    return tasks


@wrong("cut_tasks", "where nothing is left, an empty task comes")
def always_adds_the_last(sizes, target):
    tasks, start, total = [], 0, 0
    for i in range(len(sizes)):
        total += sizes[i]
        if total >= target:
            tasks.append((start, i + 1))
            start, total = i + 1, 0
    tasks.append((start, len(sizes)))
    return tasks


@wrong("cut_tasks", "a task is full at exactly `target` bytes,")
def more_than_target(sizes, target):
    tasks, start, total = [], 0, 0
    for i, size in enumerate(sizes):
        total += size
        if total > target:
            tasks.append((start, i + 1))
            start, total = i + 1, 0
    if start < len(sizes):
        tasks.append((start, len(sizes)))
    return tasks


@wrong("cut_tasks", "the stop is the number of the last")
def stops_at_the_document(sizes, target):
    tasks, start, total = [], 0, 0
    for i, size in enumerate(sizes):
        total += size
        if total >= target:
            tasks.append((start, i))
            start, total = i + 1, 0
    if start < len(sizes):
        tasks.append((start, len(sizes) - 1))
    return tasks


@wrong("cut_tasks", "a task ends *before* the document that")
def stop_is_the_next_start_too(sizes, target):
    tasks, start, total = [], 0, 0
    for i, size in enumerate(sizes):
        total += size
        if total >= target:
            tasks.append((start, i))
            start, total = i, 0
    if start < len(sizes):
        tasks.append((start, len(sizes)))
    return tasks


@wrong("cut_tasks", "the bytes are never set back to 0: behind")
def keeps_adding(sizes, target):
    tasks, start, total = [], 0, 0
    for i, size in enumerate(sizes):
        total += size
        if total >= target:
            tasks.append((start, i + 1))
            start = i + 1
    if start < len(sizes):
        tasks.append((start, len(sizes)))
    return tasks


@wrong("cut_tasks", "what a task has above `target` is taken")
def carries_the_rest_over(sizes, target):
    tasks, start, total = [], 0, 0
    for i, size in enumerate(sizes):
        total += size
        if total >= target:
            tasks.append((start, i + 1))
            start = i + 1
            total -= target
    if start < len(sizes):
        tasks.append((start, len(sizes)))
    return tasks


@wrong("cut_tasks", "these are the sizes of the documents of")
def lists_of_sizes(sizes, target):
    tasks, task = [], []
    for size in sizes:
        task.append(size)
        if sum(task) >= target:
            tasks.append(task)
            task = []
    if task:
        tasks.append(task)
    return tasks


@wrong("cut_tasks", "the document that fills a task is counted")
def begins_the_next_with_this_one(sizes, target):
    tasks, start, total = [], 0, 0
    for i, size in enumerate(sizes):
        total += size
        if total >= target:
            tasks.append((start, i + 1))
            start, total = i + 1, size
    if start < len(sizes):
        tasks.append((start, len(sizes)))
    return tasks


@wrong("cut_tasks", "the start is never moved: each task begins")
def forgets_to_move_the_start(sizes, target):
    tasks, start, total = [], 0, 0
    for i, size in enumerate(sizes):
        total += size
        if total >= target:
            tasks.append((start, i + 1))
            total = 0
    if total:
        tasks.append((start, len(sizes)))
    return tasks


wrong("cut_tasks", "`target` is bytes, not documents: add up")(
    lambda sizes, t: [(i, min(i + t, len(sizes))) for i in range(0, len(sizes), t)]
)
wrong("cut_tasks", "each document is a task of its own: add up")(
    lambda sizes, t: [(i, i + 1) for i in range(len(sizes))]
)
wrong("cut_tasks", "all documents are one task: nothing is")(lambda sizes, t: [(0, len(sizes))] if sizes else [])


@right("cut_tasks")
def jumps_by_the_sums(sizes, target):
    tasks, start = [], 0
    while start < len(sizes):
        sums = np.cumsum(sizes[start:])
        stop = min(start + int(np.searchsorted(sums, target)) + 1, len(sizes))
        tasks.append((start, stop))
        start = stop
    return tasks


@right("cut_tasks")
def pairs_as_lists(sizes, target):
    stops, held = [0], 0
    for i, size in enumerate(sizes, start=1):
        held += size
        if held >= target or i == len(sizes):
            stops.append(i)
            held = 0
    return [[a, b] for a, b in pairwise(stops)]


# can_be_written: finished, written

wrong("can_be_written", "one that has ended must wait while one")(
    lambda finished, w: sorted(n for n in set(finished) if n >= w)
)
wrong("can_be_written", "all that have ended, in order, some twice.")(lambda finished, w: sorted(finished))
wrong("can_be_written", "all that have ended, in order. Those")(lambda finished, w: sorted(set(finished)))
wrong("can_be_written", "all tasks that the file does not hold, in")(
    lambda finished, w: [n for n in finished if n >= w]
)
wrong("can_be_written", "behind a gap nothing can be written; and a")(
    lambda finished, w: sorted(n for n in finished if n >= w)
)
wrong("can_be_written", "only the next one. If the one behind it")(lambda finished, w: [w] if w in finished else [])
wrong("can_be_written", "up to the last task that has ended, and an")(
    lambda finished, w: list(range(w, max(finished) + 1))
)
wrong("can_be_written", "two things at once: `written` is the number of the next")(
    lambda finished, w: sorted(n for n in set(finished) if n > w)
)
wrong("can_be_written", "`written` tasks stand in the file, 0 to")(
    lambda finished, w: list(takewhile(lambda n: n in finished, count(w + 1)))
)
wrong("can_be_written", "counted up from task 0: those before")(
    lambda finished, w: list(takewhile(lambda n: n in finished, count(0)))
)
wrong("can_be_written", "that is how many can be written. Return")(
    lambda finished, w: len(list(takewhile(lambda n: n in finished, count(w))))
)


@wrong("can_be_written", "`finished` is read once, from front to")
def goes_through_them_once(finished, written):
    ready = []
    for number in finished:
        if number == written:
            ready.append(number)
            written += 1
    return ready


@right("can_be_written")
def passes_over_repeats(finished, written):
    ready = []
    for number in sorted(finished):
        if number < written:
            continue
        if number != written:
            break
        ready.append(number)
        written += 1
    return ready


@wrong("can_be_written", "a task before `written` can be in")
def written_ones_end_it(finished, written):
    ready, expected = [], written
    for number in sorted(set(finished)):
        if number != expected:
            break
        ready.append(number)
        expected += 1
    return ready


@wrong("can_be_written", "it is asked whether the *next* task has")
def stops_one_early(finished, written):
    ready = []
    while written + 1 in finished:
        ready.append(written)
        written += 1
    return ready


@wrong("can_be_written", "did not end", ends=False)
def never_counts_up(finished, written):
    ready = []
    while written in finished:
        ready.append(written)
    return ready


@right("can_be_written")
def sorted_and_walked(finished, written):
    ready = []
    for number in sorted(set(finished)):
        if number == written + len(ready):
            ready.append(number)
    return ready


right("can_be_written")(lambda finished, w: list(takewhile(set(finished).__contains__, count(w))))

# tasks_left: num_tasks, files

wrong("tasks_left", "a task whose `.bin` is there may have been")(
    lambda n, files: [i for i in range(n) if f"{i:05}.bin" not in files]
)
wrong("tasks_left", "tasks end in any order: that so many are")(
    lambda n, files: list(range(sum(f.endswith(".json") for f in files), n))
)
wrong("tasks_left", "tasks end in any order: that one is done")(
    lambda n, files: list(range(1 + max((int(f[:5]) for f in files if f.endswith(".json")), default=-1), n))
)
wrong("tasks_left", "a task that has left any file is taken for")(
    lambda n, files: [i for i in range(n) if not any(f.startswith(f"{i:05}") for f in files)]
)
wrong("tasks_left", "`.json.tmp` is taken for `.json`: compare")(
    lambda n, files: [i for i in range(n) if not any(f.startswith(f"{i:05}.json") for f in files)]
)
wrong("tasks_left", "all of them, as if no name had been found.")(
    lambda n, files: [i for i in range(n) if f"{i}.json" not in files]
)
wrong("tasks_left", "these are the tasks that are *done*.")(
    lambda n, files: [i for i in range(n) if f"{i:05}.json" in files]
)
wrong("tasks_left", "numbers are wanted, not names:")(
    lambda n, files: [f"{i:05}" for i in range(n) if f"{i:05}.json" not in files]
)
wrong("tasks_left", "tasks count from 0: the last one is number")(
    lambda n, files: [i for i in range(1, n + 1) if f"{i:05}.json" not in files]
)
wrong("tasks_left", "that is how many are left. Return which.")(
    lambda n, files: sum(f"{i:05}.json" not in files for i in range(n))
)
wrong("tasks_left", None, natural=False)(lambda n, files: [i for i in range(n) if f"{i:05}.json.tmp" in files])
wrong("tasks_left", "one value where several are wanted.")(lambda n, files: n - sum(f.endswith(".json") for f in files))
wrong("tasks_left", "these are tasks with a file that is not")(
    lambda n, files: sorted({int(f[:5]) for f in files if not f.endswith(".json")})
)
wrong("tasks_left", "all but the `.tmp` files are taken for")(
    lambda n, files: [i for i in range(n) if f"{i:05}.json" not in files and f"{i:05}.bin" not in files]
)
wrong("tasks_left", "`or` where `and not` is meant: a task that")(
    lambda n, files: [i for i in range(n) if f"{i:05}.json" not in files or f"{i:05}.bin" in files]
)
wrong("tasks_left", "all of them, as if no name had been found.")(
    lambda n, files: [i for i in range(n) if f"{i:04}.json" not in files]
)


@wrong("tasks_left", "all but the `.tmp` files are taken for")
def skips_what_is_temporary(num_tasks, files):
    done = set()
    for name in files:
        if not name.endswith(".tmp"):
            done.add(int(name.split(".")[0]))
    return [n for n in range(num_tasks) if n not in done]


@right("tasks_left")
def a_set_of_numbers(num_tasks, files):
    done = {int(m[1]) for name in files if (m := re.fullmatch(r"(\d{5})\.json", name))}
    return sorted(set(range(num_tasks)) - done)


@right("tasks_left")
def removes_them(num_tasks, files):
    left = list(range(num_tasks))
    for name in files:
        if name.endswith(".json") and int(name[:5]) in left:
            left.remove(int(name[:5]))
    return left


# positions_of: done, num_steps, batch_size, rank, world_size

wrong("positions_of", "what was delivered before, `done`, is")(
    lambda d, n, b, r, w: [r * b + k * w * b + i for k in range(n) for i in range(b)]
)
wrong("positions_of", "dealt out like cards: sample by sample.")(
    lambda d, n, b, r, w: [d + r + k * w for k in range(n * b)]
)
wrong("positions_of", "from one batch to the next, the batches of")(
    lambda d, n, b, r, w: [d + r * b + k * b + i for k in range(n) for i in range(b)]
)
wrong("positions_of", "each rank gets one long piece of the")(
    lambda d, n, b, r, w: list(range(d + r * n * b, d + (r + 1) * n * b))
)
wrong("positions_of", "only where each batch begins: a batch has")(
    lambda d, n, b, r, w: [d + r * b + k * w * b for k in range(n)]
)
wrong("positions_of", "a rank begins `rank` samples on, not")(
    lambda d, n, b, r, w: [d + r + k * w * b + i for k in range(n) for i in range(b)]
)
wrong("positions_of", "a step is `world_size` batches, not")(
    lambda d, n, b, r, w: [d + r * b + k * w + i for k in range(n) for i in range(b)]
)
wrong("positions_of", "`num_steps` plays no part: these are")(
    lambda d, n, b, r, w: list(range(d + r * b, d + (r + 1) * b))
)
wrong("positions_of", "these are the samples that *all* ranks")(lambda d, n, b, r, w: list(range(d, d + n * b * w)))
wrong("positions_of", "`done` is a number of samples, not of")(
    lambda d, n, b, r, w: [d * w * b + r * b + k * w * b + i for k in range(n) for i in range(b)]
)
wrong("positions_of", "the entries are right, but some are in")(
    lambda d, n, b, r, w: [[d + r * b + k * w * b + i for i in range(b)] for k in range(n)]
)
wrong("positions_of", "dealt out like cards: sample by sample.")(
    lambda d, n, b, r, w: list(range(d + r, d + n * b * w, w))
)
wrong("positions_of", "ranks count from 0, not from 1.")(
    lambda d, n, b, r, w: [d + (r - 1) * b + k * w * b + i for k in range(n) for i in range(b)]
)
wrong("positions_of", "rounded down to a whole step of *these*")(
    lambda d, n, b, r, w: [d // (w * b) * w * b + r * b + k * w * b + i for k in range(n) for i in range(b)]
)
wrong("positions_of", "`done` is a number of samples, not of")(
    lambda d, n, b, r, w: [(d + k * w + r) * b + i for k in range(n) for i in range(b)]
)
wrong("positions_of", "the entries are right, but in another")(
    lambda d, n, b, r, w: [d + r * b + k * w * b + i for i in range(b) for k in range(n)]
)
wrong("positions_of", "the first step is passed over: it begins")(
    lambda d, n, b, r, w: [d + r * b + k * w * b + i for k in range(1, n + 1) for i in range(b)]
)
wrong("positions_of", "one sample too far: `done` samples are")(
    lambda d, n, b, r, w: [d + r * b + k * w * b + i for k in range(n) for i in range(1, b + 1)]
)


@right("positions_of")
def a_table_of_all(done, num_steps, batch_size, rank, world_size):
    table = done + np.arange(num_steps * world_size * batch_size)
    return table.reshape(num_steps, world_size, batch_size)[:, rank].ravel()


@right("positions_of")
def as_a_tensor(done, num_steps, batch_size, rank, world_size):
    everything = torch.arange(done, done + num_steps * world_size * batch_size)
    return everything[(everything - done) // batch_size % world_size == rank]


# equal_steps: shard_sizes, batch_size

wrong("equal_steps", "so many would be possible if the samples")(lambda sizes, b: sum(sizes) // (len(sizes) * b))
wrong("equal_steps", "so many would be possible if the samples")(lambda sizes, b: sum(sizes) // len(sizes) // b)
wrong("equal_steps", "the steps of the rank with the *largest*")(lambda sizes, b: max(sizes) // b)
wrong("equal_steps", "rounded up: the last batch of the smallest")(lambda sizes, b: math.ceil(min(sizes) / b))
wrong("equal_steps", "the batches of all ranks are added up.")(lambda sizes, b: sum(s // b for s in sizes))
wrong("equal_steps", "that is a number of samples: divide by the")(lambda sizes, b: min(sizes))
wrong("equal_steps", "several values where one number is wanted.")(lambda sizes, b: [s // b for s in sizes])
wrong("equal_steps", "a float where an integer is wanted")(lambda sizes, b: min(sizes) / b)
wrong("equal_steps", "only the first shard is looked at.")(lambda sizes, b: sizes[0] // b)
wrong("equal_steps", "`min` or `max` has nothing to choose from,")(lambda sizes, b: min(s // b for s in sizes if s))
wrong("equal_steps", "all samples are put together, and one rank")(lambda sizes, b: sum(sizes) // b)
wrong("equal_steps", "`batch_size` is the batch of one rank: in")(lambda sizes, b: min(sizes) // (b * len(sizes)))
wrong("equal_steps", "at least one step, even where a rank has")(lambda sizes, b: max(1, min(sizes) // b))
wrong("equal_steps", "`%` gives the samples that are left over")(lambda sizes, b: min(s % b for s in sizes))
wrong("equal_steps", "rounded to the nearest. Only full batches")(lambda sizes, b: round(min(sizes) / b))
wrong("equal_steps", "so many steps the *largest* shard takes, a")(
    lambda sizes, b: max(math.ceil(s / b) for s in sizes)
)


@wrong("equal_steps", "only the first shard is looked at.")
def leaves_after_the_first(shard_sizes, batch_size):
    steps = math.inf
    for size in shard_sizes:
        steps = min(steps, size // batch_size)
        return steps


@right("equal_steps")
def takes_steps(shard_sizes, batch_size):
    left, steps = list(shard_sizes), 0
    while all(size >= batch_size for size in left):
        left = [size - batch_size for size in left]
        steps += 1
    return steps


right("equal_steps")(lambda sizes, b: np.min(np.array(sizes) // b))
refused("equal_steps", "a float where")(lambda sizes, b: float(min(sizes) // b))

# global_mean: sums, counts

wrong("global_mean", "a mean of means: a target on a rank with")(
    lambda sums, counts: sum(s / n for s, n in zip(sums, counts, strict=True)) / len(sums)
)
wrong("global_mean", "a mean of means. A rank with few targets")(
    lambda sums, counts: sum(s / n if n else 0 for s, n in zip(sums, counts, strict=True)) / len(sums)
)
wrong("global_mean", "a mean of means, those of ranks that have")(
    lambda sums, counts: (lambda m: sum(m) / len(m) if m else 0.0)(
        [s / n for s, n in zip(sums, counts, strict=True) if n]
    )
)
wrong("global_mean", "the sums are divided by the number of")(lambda sums, counts: sum(sums) / len(sums))
wrong("global_mean", "if nothing was scored, there is nothing to")(lambda sums, counts: sum(sums) / sum(counts))
wrong("global_mean", "the sum of the losses: divide by the")(lambda sums, counts: sum(sums))
wrong("global_mean", "divided by the targets and by the ranks:")(
    lambda sums, counts: sum(sums) / sum(counts) / len(sums) if sum(counts) else 0.0
)
wrong("global_mean", "if nothing was scored, 0.0 is wanted, not")(
    lambda sums, counts: float(np.sum(sums) / np.sum(counts)) if sum(counts) else math.nan
)
wrong("global_mean", "the means are added up: one division, of")(
    lambda sums, counts: sum(s / n for s, n in zip(sums, counts, strict=True) if n)
)
wrong("global_mean", "`//` rounds down. A loss is no count:")(
    lambda sums, counts: sum(sums) // sum(counts) if sum(counts) else 0.0
)
wrong("global_mean", "multiplied by the number of ranks: that is")(
    lambda sums, counts: sum(sums) / max(1, sum(counts)) * len(sums)
)
wrong("global_mean", "several values where one number is wanted.")(
    lambda sums, counts: [s / n if n else 0.0 for s, n in zip(sums, counts, strict=True)]
)
wrong("global_mean", "sums and counts are exchanged: nats by")(
    lambda sums, counts: sum(counts) / sum(sums) if sum(sums) else 0.0
)
wrong("global_mean", "the sums are weighted by the counts a")(
    lambda sums, counts: sum(s * n for s, n in zip(sums, counts, strict=True)) / sum(counts) if sum(counts) else 0.0
)
wrong("global_mean", "the count is taken to be at least 1 on")(
    lambda sums, counts: sum(sums) / sum(max(n, 1) for n in counts)
)
wrong("global_mean", None)(lambda sums, counts: round(sum(sums) / sum(counts), 2) if sum(counts) else 0.0)
wrong("global_mean", "a mean of means. A rank with few targets")(
    lambda sums, counts: np.mean(np.array(sums) / np.maximum(counts, 1))
)


@right("global_mean")
def weights_the_means(sums, counts):
    means = [s / n if n else 0.0 for s, n in zip(sums, counts, strict=True)]
    total = sum(counts)
    return sum(mean * n / total for mean, n in zip(means, counts, strict=True)) if total else 0.0


right("global_mean")(lambda sums, counts: torch.tensor(sums).sum() / max(1, sum(counts)))

# idle_pairs: packs

triangle = lambda n: n * (n + 1) // 2

wrong("idle_pairs", "each id is taken to read all ids of its")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(n * n for n in p) for p in packs])
)
wrong("idle_pairs", "the mask is forgotten: all packs that are")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([triangle(sum(p)) for p in packs])
)
wrong("idle_pairs", "the pack is taken for one document in")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(p) ** 2 for p in packs])
)
wrong("idle_pairs", "only the quickest rank's wait is counted:")(
    lambda packs: (lambda w: max(w) - min(w))([sum(map(triangle, p)) for p in packs])
)
wrong("idle_pairs", "ids are counted, not pairs: equally full")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(p) for p in packs])
)
wrong("idle_pairs", "several values: add up the idle pairs of")(
    lambda packs: (lambda w: [max(w) - x for x in w])([sum(map(triangle, p)) for p in packs])
)
wrong("idle_pairs", "an id reads itself, too: n (n + 1) / 2")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(n * (n - 1) // 2 for n in p) for p in packs])
)
wrong("idle_pairs", "all pairs are counted. Idle are those that")(
    lambda packs: sum(triangle(n) for p in packs for n in p)
)
wrong("idle_pairs", "the pairs of the slowest rank are counted:")(
    lambda packs: max(sum(map(triangle, p)) for p in packs)
)
wrong("idle_pairs", "ranks are compared with the quickest one:")(
    lambda packs: (lambda w: sum(x - min(w) for x in w))([sum(map(triangle, p)) for p in packs])
)
wrong("idle_pairs", "a float where an integer is wanted")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(n * n for n in p) / 2 for p in packs])
)
wrong("idle_pairs", "two things at once: each id is taken to read all ids of its")(
    lambda packs: (lambda w: max(w) - min(w))([sum(n * n for n in p) for p in packs])
)
wrong("idle_pairs", "a float where an integer is wanted")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(n * (n + 1) / 2 for n in p) for p in packs])
)
wrong("idle_pairs", "only the longest document of a pack is")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([triangle(max(p)) for p in packs])
)
wrong("idle_pairs", "a float where an integer is wanted")(
    lambda packs: (lambda w: sum(max(w) - x for x in w) / len(w))([sum(map(triangle, p)) for p in packs])
)


@wrong("idle_pairs", "the first rank is taken for the slowest.")
def against_the_first(packs):
    work = [sum(n * (n + 1) // 2 for n in pack) for pack in packs]
    slowest = work[0]
    idle = 0
    for pairs in work[1:]:
        idle += slowest - pairs
    return idle


@right("idle_pairs")
def counts_a_mask(packs):
    work = []
    for lengths in packs:
        where = np.repeat(np.arange(len(lengths)), lengths)
        work.append(np.tril(where[:, None] == where).sum())
    return int(np.max(work) * len(work) - np.sum(work))


@right("idle_pairs")
def adds_up_contexts(packs):
    work = [sum(read for n in lengths for read in range(1, n + 1)) for lengths in packs]
    return sum(max(work) - pairs for pairs in work)


refused("idle_pairs", "a float where")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(n * (n + 1) / 2 for n in p) for p in packs])
)

# num_shards: num_tokens, vocab_size, shard_bytes

wrong("num_shards", "two things at once: an id takes 2 bytes whatever the")(lambda n, v, s: math.ceil(n * 2 / s))
wrong("num_shards", "always 2 bytes an id: those of a")(lambda n, v, s: -(-n // (s // 2)))
wrong("num_shards", "all bytes are divided by those of a shard.")(
    lambda n, v, s: -(-n * (2 if v <= 65_536 else 4) // s)
)
wrong("num_shards", "rounded down: the ids that are left over")(lambda n, v, s: n // (s // (2 if v <= 65_536 else 4)))
wrong("num_shards", "rounded down, and one added: where it")(lambda n, v, s: n // (s // (2 if v <= 65_536 else 4)) + 1)
wrong("num_shards", "65,536 ids are 0 to 65,535, and fit into 2")(
    lambda n, v, s: -(-n // (s // (2 if v < 65_536 else 4)))
)
wrong("num_shards", "65,536 ids are 0 to 65,535, and fit into 2")(
    lambda n, v, s: -(-n // (s // (2 if v <= 65_535 else 4)))
)
wrong("num_shards", "a byte is taken for an id: how many bytes")(lambda n, v, s: -(-n // s))
wrong("num_shards", "all bytes are divided, and rounded down.")(lambda n, v, s: n * (2 if v <= 65_536 else 4) // s)
wrong("num_shards", "a small vocabulary gets 1 byte an id: the")(
    lambda n, v, s: -(-n // (s // np.min_scalar_type(v - 1).itemsize))
)
wrong("num_shards", "above 65,536 ids an id takes 8 bytes: 4")(
    lambda n, v, s: -(-n // (s // (2 if v <= 65_536 else 8)))
)
wrong("num_shards", "a float where an integer is wanted")(lambda n, v, s: n / (s // (2 if v <= 65_536 else 4)))
wrong("num_shards", "4 or 8 bytes an id: 2 hold up to 65,535,")(
    lambda n, v, s: -(-n // (s // (4 if v <= 65_536 else 8)))
)
wrong("num_shards", "the bytes of a shard are multiplied by")(lambda n, v, s: -(-n // (s * (2 if v <= 65_536 else 4))))
wrong("num_shards", "how wide an id is depends on the")(lambda n, v, s: -(-n // (s // (2 if n <= 65_536 else 4))))
wrong("num_shards", "all bytes are divided by those of a shard.")(
    lambda n, v, s: math.ceil(n / (s / (2 if v <= 65_536 else 4)))
)
wrong("num_shards", "at least one shard: no tokens need none.")(
    lambda n, v, s: max(1, -(-n // (s // (2 if v <= 65_536 else 4))))
)
wrong("num_shards", "the signed int16 ends at 32,767: uint16")(lambda n, v, s: -(-n // (s // (2 if v <= 2**15 else 4))))

right("num_shards")(lambda n, v, s: math.ceil(n / (s // (2 if v - 1 <= np.iinfo(np.uint16).max else 4))))
right("num_shards")(lambda n, v, s: (n + s // (2 if v <= 1 << 16 else 4) - 1) // (s // (2 if v <= 1 << 16 else 4)))
refused("num_shards", "a float where")(lambda n, v, s: float(-(-n // (s // (2 if v <= 65_536 else 4)))))


# A second class, which answered before it was known what the checks can tell.


@wrong("cut_tasks", "a task is full at exactly `target` bytes,")
def while_with_a_sum(sizes, target):
    tasks, start = [], 0
    while start < len(sizes):
        stop = start
        while stop < len(sizes) and sum(sizes[start:stop]) <= target:
            stop += 1
        tasks.append((start, stop))
        start = stop
    return tasks


@right("cut_tasks")
def what_is_left_is_closed_by_the_end(sizes, target):
    tasks, start = [], 0
    for stop in range(1, len(sizes)):
        if sum(sizes[start:stop]) >= target:
            tasks.append((start, stop))
            start = stop
    if start < len(sizes):
        tasks.append((start, len(sizes)))
    return tasks


@wrong("cut_tasks", "these tasks hold *at most* `target` bytes:")
def closed_when_next_would_not_fit(sizes, target):
    tasks, start, total = [], 0, 0
    for i in range(len(sizes)):
        total += sizes[i]
        if i + 1 == len(sizes) or total + sizes[i + 1] > target:
            tasks.append((start, i + 1))
            start, total = i + 1, 0
    return tasks


@wrong("cut_tasks", "what is left is added to the last task")
def remainder_joins_the_last(sizes, target):
    tasks, start, total = [], 0, 0
    for i, size in enumerate(sizes):
        total += size
        if total >= target:
            tasks.append((start, i + 1))
            start, total = i + 1, 0
    if start < len(sizes):
        if tasks:
            tasks[-1] = (tasks[-1][0], len(sizes))
        else:
            tasks.append((0, len(sizes)))
    return tasks


@wrong("cut_tasks", "a task starts one document late.")
def counts_from_one(sizes, target):
    tasks, start, total = [], 1, 0
    for i, size in enumerate(sizes, start=1):
        total += size
        if total >= target:
            tasks.append((start, i))
            start, total = i + 1, 0
    if start <= len(sizes):
        tasks.append((start, len(sizes)))
    return tasks


@wrong("cut_tasks", "these are the numbers of all documents of")
def numbers_of_documents(sizes, target):
    tasks, task, total = [], [], 0
    for i, size in enumerate(sizes):
        task.append(i)
        total += size
        if total >= target:
            tasks.append(task)
            task, total = [], 0
    if task:
        tasks.append(task)
    return tasks


@wrong("cut_tasks", "these are positions of bytes. A task is")
def byte_positions(sizes, target):
    tasks, start, total = [], 0, 0
    for size in sizes:
        total += size
        if total - start >= target:
            tasks.append((start, total))
            start = total
    if start < total:
        tasks.append((start, total))
    return tasks


@wrong("cut_tasks", "these are positions of bytes, and a")
def fixed_bytes(sizes, target):
    return [(i, min(i + target, sum(sizes))) for i in range(0, sum(sizes), target)]


@wrong("cut_tasks", "the sizes are sorted first. The documents")
def largest_first(sizes, target):
    tasks, start, total = [], 0, 0
    for i, size in enumerate(sorted(sizes, reverse=True)):
        total += size
        if total >= target:
            tasks.append((start, i + 1))
            start, total = i + 1, 0
    if start < len(sizes):
        tasks.append((start, len(sizes)))
    return tasks


wrong("cut_tasks", None, natural=False)(
    lambda sizes, t: [(0, i + 1) for i in range(len(sizes)) if sum(sizes[: i + 1]) >= t]
)


@wrong("can_be_written", "`written` tasks stand in the file, 0 to")
def next_is_in_the_rest(finished, written):
    ready = [written] if written in finished else []
    for number in sorted(finished):
        if ready and number == ready[-1] + 1:
            ready.append(number)
    return [n for n in ready if n > written]


@wrong("can_be_written", "reading `finished` ends at the first entry")
def breaks_at_the_first_that_is_not_next(finished, written):
    ready = []
    for number in finished:
        if number != written:
            break
        ready.append(number)
        written += 1
    return ready


@wrong("can_be_written", "if the next one has ended, only those up")
def everything_if_the_next_is_there(finished, written):
    if written not in finished:
        return []
    return sorted(n for n in set(finished) if n >= written)


@wrong("can_be_written", "if the next one has ended, only those up")
def everything_in_order_if_the_next_is_there(finished, written):
    return [n for n in finished if n >= written] if written in finished else []


@wrong("can_be_written", "those before `written` need not be in")
def up_to_the_first_gap_of_all(finished, written):
    ready = []
    for number in range(len(finished)):
        if number not in finished:
            break
        if number >= written:
            ready.append(number)
    return ready


@wrong("can_be_written", "only numbers below the length of")
def at_most_as_many_as_finished(finished, written):
    ready = []
    for number in range(written, len(finished)):
        if number not in finished:
            break
        ready.append(number)
    return ready


@wrong("can_be_written", "there is one entry more at the end in")
def a_range_to_the_gap_inclusive(finished, written):
    number = written
    while number in finished:
        number += 1
    return list(range(written, number + 1))


@wrong("can_be_written", "one that has ended must wait while one")
def skips_gaps(finished, written):
    return [n for n in range(written, max(finished, default=0) + 1) if n in finished]


wrong("can_be_written", "the first `written` entries are cut off.")(lambda finished, w: sorted(set(finished))[w:])
wrong("can_be_written", "the first `written` entries of `finished`")(lambda finished, w: finished[w:])


wrong("tasks_left", "a number is looked for anywhere in the")(
    lambda n, files: [i for i in range(n) if str(i) not in "".join(files)]
)
wrong("tasks_left", "only tasks with a `.tmp`, which were being")(
    lambda n, files: [int(f[:5]) for f in files if f.endswith(".tmp")]
)
wrong("tasks_left", "`.bin.tmp` is taken for `.bin`, and `.bin`")(
    lambda n, files: [i for i in range(n) if not any(f.startswith(f"{i:05}.bin") for f in files)]
)
wrong("tasks_left", "there is one entry more at the end in")(
    lambda n, files: [i for i in range(n + 1) if f"{i:05}.json" not in files]
)
wrong("tasks_left", "the last entry is missing in every one of")(
    lambda n, files: [i for i in range(n - 1) if f"{i:05}.json" not in files]
)
wrong("tasks_left", "all entries are there, in their order,")(
    lambda n, files: [i for i in range(n) if f"0000{i}.json" not in files]
)
wrong("tasks_left", "only tasks that have begun. One that has")(
    lambda n, files: sorted({int(f[:5]) for f in files} - {int(f[:5]) for f in files if f.endswith(".json")})
)
wrong("tasks_left", "a `set`, which has no order and no")(
    lambda n, files: set(range(n)) - {int(f[:5]) for f in files if f.endswith(".json")}
)
wrong("tasks_left", "these are names of files. Return the")(
    lambda n, files: [f for f in files if not f.endswith(".json")]
)


@wrong("tasks_left", "only the next one. Return all that are")
def stops_at_the_first(num_tasks, files):
    for number in range(num_tasks):
        if f"{number:05}.json" not in files:
            return [number]
    return []


@wrong("tasks_left", "up to the first one that is done. Behind")
def until_the_first_that_is_done(num_tasks, files):
    left = []
    for number in range(num_tasks):
        if f"{number:05}.json" in files:
            break
        left.append(number)
    return left


@wrong("tasks_left", "all but the `.tmp` files are taken for")
def by_the_end_alone(num_tasks, files):
    done = []
    for name in files:
        if name.endswith("json") or name.endswith("bin"):
            done.append(int(name[:5]))
    return [n for n in range(num_tasks) if n not in done]


wrong("positions_of", "whose a sample is, is counted from")(
    lambda d, n, b, r, w: [p for p in range(d, d + n * b * w) if p // b % w == r]
)
wrong("positions_of", "dealt out like cards, and counted from")(
    lambda d, n, b, r, w: [p for p in range(d, d + n * b * w) if p % w == r]
)
wrong("positions_of", "from one batch to the next, the batches of")(
    lambda d, n, b, r, w: [d + r * b + i for i in range(n * b)]
)
wrong("positions_of", "a batch is `batch_size` samples in a row,")(
    lambda d, n, b, r, w: list(range(d + r * b, d + r * b + n * b * w, w))
)
wrong("positions_of", "only where each batch begins: a batch has")(
    lambda d, n, b, r, w: list(range(d + r * b, d + n * b * w, b * w))
)
wrong("positions_of", "the first sample of each batch is returned")(
    lambda d, n, b, r, w: [d + k * w * b + r * b for k in range(n) for i in range(b)]
)
wrong("positions_of", "the rank is forgotten: all ranks read the")(
    lambda d, n, b, r, w: [d + k * w * b + i for k in range(n) for i in range(b)]
)
wrong("positions_of", "`done` is a number of samples, not of")(
    lambda d, n, b, r, w: [(d + k) * w * b + r * b + i for k in range(n) for i in range(b)]
)
wrong("positions_of", "rounded down to a whole batch: what others")(
    lambda d, n, b, r, w: [d // b * b + r * b + k * w * b + i for k in range(n) for i in range(b)]
)


@wrong("positions_of", "from one batch to the next, the batches of")
def moves_on_by_its_batch(done, num_steps, batch_size, rank, world_size):
    positions = []
    for _ in range(num_steps):
        start = done + rank * batch_size
        positions += range(start, start + batch_size)
        done += batch_size
    return positions


@wrong("positions_of", "the entries are right, but some are in")
def appends_the_lists(done, num_steps, batch_size, rank, world_size):
    positions = []
    for step in range(num_steps):
        start = done + (step * world_size + rank) * batch_size
        positions.append(list(range(start, start + batch_size)))
    return positions


@wrong("positions_of", "a step is as many batches as there are")
def one_batch_of_the_others_too_many(done, num_steps, batch_size, rank, world_size):
    start = done + rank * batch_size
    positions = []
    for _ in range(num_steps):
        positions += range(start, start + batch_size)
        start += batch_size + world_size * batch_size
    return positions


wrong("equal_steps", "rounded up: the last batch of the smallest")(
    lambda sizes, b: min(math.ceil(s / b) for s in sizes)
)
wrong("equal_steps", "the steps of all ranks are added up. A")(lambda sizes, b: min(sizes) // b * len(sizes))
wrong("equal_steps", "so many would be possible if the samples")(lambda sizes, b: int(np.mean(sizes)) // b)
wrong("equal_steps", "`min` or `max` has nothing to choose from,")(
    lambda sizes, b: min(s // b for s in sizes if s >= b)
)
wrong("equal_steps", "an index is beyond the end: of n entries")(lambda sizes, b: sorted(sizes)[1] // b)
wrong("equal_steps", "rounded up: the last batch of the smallest")(lambda sizes, b: len(range(0, min(sizes), b)))
wrong("equal_steps", None, natural=False)(lambda sizes, b: min(len(sizes), b))
wrong("equal_steps", None, natural=False)(lambda sizes, b: int(np.median(sizes)) // b)
wrong("equal_steps", "one sample is taken off. Here nothing is")(lambda sizes, b: (min(sizes) - 1) // b)
wrong("equal_steps", "that is by how many steps the ranks")(
    lambda sizes, b: max(s // b for s in sizes) - min(s // b for s in sizes)
)
wrong("equal_steps", "is the batch of one rank")(lambda sizes, b: min(sizes) // (b // len(sizes)))


@wrong("equal_steps", "rounded up: the last batch of the smallest")
def until_one_is_empty(shard_sizes, batch_size):
    left, steps = list(shard_sizes), 0
    while min(left) > 0:
        left = [size - batch_size for size in left]
        steps += 1
    return steps


@wrong("equal_steps", "the steps of the rank with the *largest*")
def until_all_are_empty(shard_sizes, batch_size):
    left, steps = list(shard_sizes), 0
    while max(left) >= batch_size:
        left = [size - batch_size for size in left]
        steps += 1
    return steps


wrong("global_mean", "a mean of means. A rank with few targets")(
    lambda sums, counts: np.average([s / max(n, 1) for s, n in zip(sums, counts, strict=True)])
)
wrong("global_mean", "divided by the number of ranks that have")(
    lambda sums, counts: np.sum(sums) / np.count_nonzero(counts) if any(counts) else 0.0
)
wrong("global_mean", None)(lambda sums, counts: sum(sums) / (sum(counts) + 1e-3))
wrong("global_mean", "a rank without targets makes the whole")(
    lambda sums, counts: sum(sums) / sum(counts) if all(counts) else 0.0
)
wrong("global_mean", None, natural=False)(
    lambda sums, counts: np.median([s / n for s, n in zip(sums, counts, strict=True) if n] or [0.0])
)
wrong("global_mean", "in some calls the function returns `None`:")(
    lambda sums, counts: sum(sums) / sum(counts) if sum(sums) else None
)
wrong("global_mean", "each rank is taken to have as many targets")(
    lambda sums, counts: sum(sums) / (len(sums) * max(counts)) if max(counts) else 0.0
)
wrong("global_mean", "a rank that has scored nothing has no mean")(
    lambda sums, counts: sum(s / n * n for s, n in zip(sums, counts, strict=True)) / sum(counts)
)


@wrong("global_mean", "divided inside the loop, by the targets so")
def divides_in_the_loop(sums, counts):
    total, targets = 0.0, 0
    for own_sum, count_ in zip(sums, counts, strict=True):
        targets += count_
        if targets:
            total += own_sum / targets
    return total


@wrong("global_mean", "halved at every rank: the last one counts")
def running_mean(sums, counts):
    mean = 0.0
    for own_sum, count_ in zip(sums, counts, strict=True):
        if count_:
            mean = (mean + own_sum / count_) / 2
    return mean


wrong("idle_pairs", "n (n + 1) is twice as many: an id reads")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(n * (n + 1) for n in p) for p in packs])
)
wrong("idle_pairs", "all that could be done in the step is")(
    lambda packs: (lambda w: max(w) * len(w))([sum(map(triangle, p)) for p in packs])
)
wrong("idle_pairs", "the mean rank is compared with the")(
    lambda packs: (lambda w: max(w) - sum(w) // len(w))([sum(map(triangle, p)) for p in packs])
)
wrong("idle_pairs", "n * n // 2 leaves out half of the pairs of")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(n * n // 2 for n in p) for p in packs])
)
wrong("idle_pairs", "only the longest document of a pack is")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([max(map(triangle, p)) for p in packs])
)
wrong("idle_pairs", "documents are counted, not pairs.")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([len(p) for p in packs])
)
wrong("idle_pairs", "two things at once: the pack is taken for one document:")(
    lambda packs: (lambda w: max(w) - min(w))([triangle(sum(p)) for p in packs])
)
wrong("idle_pairs", "the sign is the other way round.")(
    lambda packs: (lambda w: sum(x - max(w) for x in w))([sum(map(triangle, p)) for p in packs])
)
wrong("idle_pairs", "the last rank is taken for the slowest.")(
    lambda packs: (lambda w: sum(w[-1] - x for x in w))([sum(map(triangle, p)) for p in packs])
)
wrong("idle_pairs", "what all but the slowest do is counted,")(
    lambda packs: (lambda w: sum(w) - max(w))([sum(map(triangle, p)) for p in packs])
)
wrong("idle_pairs", "each rank is compared with each other one.")(
    lambda packs: (lambda w: sum(abs(a - b) for a in w for b in w))([sum(map(triangle, p)) for p in packs])
)
wrong("idle_pairs", "the two slowest are compared.")(
    lambda packs: (lambda w: max(w) - sorted(w)[-2] if len(w) > 1 else 0)([sum(map(triangle, p)) for p in packs])
)


@wrong("idle_pairs", "documents are compared with the longest")
def over_all_documents(packs):
    work = [n * (n + 1) // 2 for pack in packs for n in pack]
    return sum(max(work) - pairs for pairs in work)


wrong("num_shards", "all bytes are divided, rounded down, and")(lambda n, v, s: n * (2 if v <= 65_536 else 4) // s + 1)
wrong("num_shards", "rounded to the nearest: what is left over")(
    lambda n, v, s: round(n / (s // (2 if v <= 65_536 else 4)))
)
wrong("num_shards", "all bytes are divided by those of a shard.")(
    lambda n, v, s: math.ceil(n / s * (2 if v <= 65_536 else 4))
)
wrong("num_shards", "2 and 4 bytes are exchanged.")(lambda n, v, s: -(-n // (s // (4 if v <= 65_536 else 2))))
wrong("num_shards", "an id takes 4 bytes whatever the")(lambda n, v, s: -(-n // (s // 4)))
wrong("num_shards", "an id is stored in 8 bytes: 2 or 4 are")(lambda n, v, s: -(-n // (s // 8)))
wrong("num_shards", "two things at once: an id takes 2 bytes whatever the")(lambda n, v, s: n // (s // 2))
wrong("num_shards", "at least one shard: no tokens need none.")(
    lambda n, v, s: (n - 1) // (s // (2 if v <= 65_536 else 4)) + 1 if n else 1
)
wrong("num_shards", "65,535 and 65,536 ids are 0 to 65,534 and")(
    lambda n, v, s: -(-n // (s // (2 if v < 65_535 else 4)))
)
wrong("num_shards", "65,537 ids are 0 to 65,536, and the last")(
    lambda n, v, s: -(-n // (s // (2 if v <= 65_537 else 4)))
)
wrong("num_shards", "as many whole bytes as the largest id")(
    lambda n, v, s: -(-n // (s // math.ceil(math.log2(v) / 8)))
)
wrong("num_shards", "all bytes are divided, rounded down, and")(
    lambda n, v, s: int(n / (s / (2 if v <= 65_536 else 4))) + 1
)
wrong("num_shards", None, natural=False)(lambda n, v, s: -(-n * v // s))


# A third class.


@wrong("cut_tasks", "the last entry is missing in every one of")
def resets_only_the_sum(sizes, target):
    tasks, total, first = [], 0, 0
    for i, size in enumerate(sizes):
        if total >= target:
            tasks.append((first, i))
            first, total = i, 0
        total += size
    return tasks


@wrong("cut_tasks", "between two tasks a document is left out:")
def starts_again_behind_the_next(sizes, target):
    tasks, start, total = [], 0, 0
    for i, size in enumerate(sizes):
        total += size
        if total >= target:
            tasks.append((start, i + 1))
            start, total = i + 2, 0
    if start < len(sizes):
        tasks.append((start, len(sizes)))
    return tasks


@wrong("cut_tasks", "the last task, of the documents that are")
def last_task_without_its_last(sizes, target):
    tasks, start, total = [], 0, 0
    for i, size in enumerate(sizes):
        total += size
        if total >= target:
            tasks.append((start, i + 1))
            start, total = i + 1, 0
    if total > 0:
        tasks.append((start, len(sizes) - 1))
    return tasks


wrong("cut_tasks", "`min` or `max` has nothing to choose from,")(
    lambda sizes, t: [(i, i + max(1, t // max(sizes))) for i in range(0, len(sizes), max(1, t // max(sizes)))]
)


@wrong("can_be_written", None)
def looks_at_neighbors(finished, written):
    ordered = sorted(set(finished))
    return [a for a, b in pairwise(ordered) if b == a + 1 and a >= written]


@wrong("can_be_written", "the function changes its arguments.")
def removes_while_it_walks(finished, written):
    ready = []
    while written in finished:
        finished.remove(written)
        ready.append(written)
        written += 1
    return ready


@wrong("can_be_written", "one value where several are wanted.")
def returns_the_next_number(finished, written):
    while written in finished:
        written += 1
    return written


wrong("can_be_written", None)(lambda finished, w: [n for n in range(w, w + len(finished)) if n in finished])
wrong("can_be_written", "two things at once: `written` is the number of the next")(
    lambda finished, w: sorted(set(finished) - set(range(w + 1)))
)

wrong("tasks_left", "a task whose `.bin` is there may have been")(
    lambda n, files: [i for i in range(n) if f"{i:05d}.json" and f"{i:05d}.bin" not in files]
)
wrong("tasks_left", "all of them, as if no name had been found.")(
    lambda n, files: [i for i in range(n) if files.count(f"{i:05d}") == 0]
)
wrong("tasks_left", "tasks end in any order: that one is done")(
    lambda n, files: [i for i in range(n) if not any(f.endswith(".json") and int(f[:5]) >= i for f in files)]
)
wrong("tasks_left", "all of them, as if no name had been found.")(
    lambda n, files: [i for i in range(n) if i not in [f[:5] for f in files if f.endswith(".json")]]
)
wrong("tasks_left", "there is one entry more at the end in")(
    lambda n, files: sorted(set(range(n)) ^ {int(f[:5]) for f in files if f.endswith(".json")})
)

wrong("positions_of", "the last step is missing: `range(n)` ends")(
    lambda d, n, b, r, w: [d + r * b + k * w * b + i for k in range(n - 1) for i in range(b)]
)
wrong("positions_of", None)(lambda d, n, b, r, w: [d + r * n + k * w * b + i for k in range(n) for i in range(b)])
wrong("positions_of", "a rank begins `rank * batch_size` samples")(
    lambda d, n, b, r, w: [d + r * w + k * w * b + i for k in range(n) for i in range(b)]
)
wrong("positions_of", "`done` is a number of samples, not of")(
    lambda d, n, b, r, w: [d * b + r * b + k * w * b + i for k in range(n) for i in range(b)]
)
wrong("positions_of", None)(lambda d, n, b, r, w: list(range(d + r * b, d + (n * w + r + 1) * b, w * b)))

wrong("equal_steps", "one sample is taken off. Here nothing is")(
    lambda sizes, b: min(sizes) // b - (min(sizes) % b == 0)
)
wrong("equal_steps", None)(lambda sizes, b: max(sizes) // b - 1)
wrong("equal_steps", None)(lambda sizes, b: min(sizes, key=lambda s: s % b) // b)
wrong("equal_steps", "so many would be possible if the samples")(
    lambda sizes, b: int(sum(s / b for s in sizes) / len(sizes))
)
wrong("equal_steps", "the number of ranks that have a full")(lambda sizes, b: len([s for s in sizes if s // b > 0]))

wrong("global_mean", "if nothing was scored, there is nothing to")(
    lambda sums, counts: sum(sums) / len(counts) / sum(counts) * len(counts)
)
wrong("global_mean", "a mean of means. A rank with few targets")(
    lambda sums, counts: sum(s / n for s, n in zip(sums, counts, strict=True) if n) / len(sums)
)
wrong("global_mean", None)(lambda sums, counts: sum(sums) / sum(counts) if len(sums) > 1 else sums[0])
wrong("global_mean", "the largest sum by the largest count: add")(
    lambda sums, counts: max(sums) / max(counts) if max(counts) else 0.0
)
wrong("global_mean", "in some calls the function returns `None`:")(
    lambda sums, counts: sum(sums) / sum(counts) if sum(counts) else None
)

wrong("idle_pairs", "the slowest waits for nobody, but its work")(
    lambda packs: (lambda w: max(w) * (len(w) - 1) - sum(w))([sum(map(triangle, p)) for p in packs])
)
wrong("idle_pairs", "the numbers 0, 1, 2, ... of documents are")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(n * (n + 1) // 2 for n in range(len(p))) for p in packs])
)
wrong("idle_pairs", "the mask is forgotten: all packs that are")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(range(sum(p) + 1)) for p in packs])
)
wrong("idle_pairs", "an id reads itself, too: n (n + 1) / 2")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(sum(range(n)) for n in p) for p in packs])
)
wrong("idle_pairs", None)(
    lambda packs: (lambda w: sum(sorted(w)[1:]) - sorted(w)[0])([sum(map(triangle, p)) for p in packs])
)

wrong("num_shards", "all bytes are divided by those of a shard.")(
    lambda n, v, s: math.ceil(n * (2 if v <= 65_536 else 4) / s)
)
wrong("num_shards", "65,537 ids are 0 to 65,536, and the last")(
    lambda n, v, s: -(-n // (s // (2 if v <= 65_535 + 2 else 4)))
)
wrong("num_shards", "shards are counted as if an id were a")(lambda n, v, s: -(-n // s) * (2 if v <= 65_536 else 4))
wrong("num_shards", "two things at once: 65,536 ids are 0 to 65,535, and fit")(
    lambda n, v, s: n // (s // (2 if v < 65_536 else 4)) + 1
)
wrong("num_shards", "two things at once: 16 and 32 are bits: an id takes 2 or 4")(
    lambda n, v, s: -(-(n * 16 if v <= 65_536 else n * 32) // s)
)
