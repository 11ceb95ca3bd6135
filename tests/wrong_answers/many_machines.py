"""Lesson 12: what a class answers."""

from __future__ import annotations

import re
from itertools import count, pairwise, takewhile

import numpy as np
import torch

from wrong_answers import refused, right, wrong

# cut_tasks: sizes, target


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


@wrong("can_be_written", "did not end", ends=False)
def never_counts_up(finished, written):
    ready = []
    while written in finished:
        ready.append(written)
    return ready


right("can_be_written")(lambda finished, w: list(takewhile(set(finished).__contains__, count(w))))

# tasks_left: num_tasks, files


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

wrong("positions_of", "the entries are right, but some are in")(
    lambda d, n, b, r, w: [[d + r * b + k * w * b + i for i in range(b)] for k in range(n)]
)


@right("positions_of")
def a_table_of_all(done, num_steps, batch_size, rank, world_size):
    table = done + np.arange(num_steps * world_size * batch_size)
    return table.reshape(num_steps, world_size, batch_size)[:, rank].ravel()


@right("positions_of")
def as_a_tensor(done, num_steps, batch_size, rank, world_size):
    everything = torch.arange(done, done + num_steps * world_size * batch_size)
    return everything[(everything - done) // batch_size % world_size == rank]


# global_mean: sums, counts

wrong("global_mean", "the means are added up: add up the sums")(
    lambda sums, counts: sum(s / n for s, n in zip(sums, counts, strict=True) if n)
)
wrong("global_mean", "several values where one number is wanted.")(
    lambda sums, counts: [s / n if n else 0.0 for s, n in zip(sums, counts, strict=True)]
)


@right("global_mean")
def weights_the_means(sums, counts):
    means = [s / n if n else 0.0 for s, n in zip(sums, counts, strict=True)]
    total = sum(counts)
    return sum(mean * n / total for mean, n in zip(means, counts, strict=True)) if total else 0.0


right("global_mean")(lambda sums, counts: torch.tensor(sums).sum() / max(1, sum(counts)))

# idle_pairs: packs

triangle = lambda n: n * (n + 1) // 2

wrong("idle_pairs", "a float where an integer is wanted")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(n * n for n in p) / 2 for p in packs])
)
wrong("idle_pairs", "a float where an integer is wanted")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([sum(n * (n + 1) / 2 for n in p) for p in packs])
)
wrong("idle_pairs", "only one document of a pack is counted")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([triangle(max(p)) for p in packs])
)
wrong("idle_pairs", "a float where an integer is wanted")(
    lambda packs: (lambda w: sum(max(w) - x for x in w) / len(w))([sum(map(triangle, p)) for p in packs])
)


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


# A second class, which answered before it was known what the checks can tell.


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


wrong("cut_tasks", None, natural=False)(
    lambda sizes, t: [(0, i + 1) for i in range(len(sizes)) if sum(sizes[: i + 1]) >= t]
)


@wrong("can_be_written", "the file holds tasks 0 to `written - 1`")
def next_is_in_the_rest(finished, written):
    ready = [written] if written in finished else []
    for number in sorted(finished):
        if ready and number == ready[-1] + 1:
            ready.append(number)
    return [n for n in ready if n > written]


@wrong("can_be_written", "there is one entry too many at the end")
def a_range_to_the_gap_inclusive(finished, written):
    number = written
    while number in finished:
        number += 1
    return list(range(written, number + 1))


wrong("tasks_left", "a `set`, which has no order and no")(
    lambda n, files: set(range(n)) - {int(f[:5]) for f in files if f.endswith(".json")}
)


@wrong("positions_of", "the entries are right, but some are in")
def appends_the_lists(done, num_steps, batch_size, rank, world_size):
    positions = []
    for step in range(num_steps):
        start = done + (step * world_size + rank) * batch_size
        positions.append(list(range(start, start + batch_size)))
    return positions


wrong("global_mean", None, natural=False)(
    lambda sums, counts: np.median([s / n for s, n in zip(sums, counts, strict=True) if n] or [0.0])
)
wrong("global_mean", "in some calls the function returns `None`, because")(
    lambda sums, counts: sum(sums) / sum(counts) if sum(sums) else None
)


wrong("idle_pairs", "only one document of a pack is counted")(
    lambda packs: (lambda w: sum(max(w) - x for x in w))([max(map(triangle, p)) for p in packs])
)


# A third class.


@wrong("cut_tasks", "the last entry is missing, in every call")
def resets_only_the_sum(sizes, target):
    tasks, total, first = [], 0, 0
    for i, size in enumerate(sizes):
        if total >= target:
            tasks.append((first, i))
            first, total = i, 0
        total += size
    return tasks


wrong("cut_tasks", "`min` or `max` has nothing to choose from,")(
    lambda sizes, t: [(i, i + max(1, t // max(sizes))) for i in range(0, len(sizes), max(1, t // max(sizes)))]
)


@wrong("can_be_written", "the function changes its arguments,")
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


wrong("global_mean", "in some calls the function returns `None`, because")(
    lambda sums, counts: sum(sums) / sum(counts) if sum(counts) else None
)
