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
wrong("tasks_left", "the names have five digits, `00003.json`:")(
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
wrong("tasks_left", "the names have five digits, `00003.json`:")(
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
wrong("equal_steps", "a float where an integer is wanted: `/`")(lambda sizes, b: min(sizes) / b)
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
wrong("idle_pairs", "a float where an integer is wanted: `/`")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(n * n for n in p) / 2 for p in packs])
)
wrong("idle_pairs", "two things at once: each id is taken to read all ids of its")(
    lambda packs: (lambda w: max(w) - min(w))([sum(n * n for n in p) for p in packs])
)
wrong("idle_pairs", "a float where an integer is wanted: `/`")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(n * (n + 1) / 2 for n in p) for p in packs])
)
wrong("idle_pairs", "only the longest document of a pack is")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([triangle(max(p)) for p in packs])
)
wrong("idle_pairs", "a float where an integer is wanted: `/`")(
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
wrong("num_shards", "a float where an integer is wanted: `/`")(lambda n, v, s: n / (s // (2 if v <= 65_536 else 4)))
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
