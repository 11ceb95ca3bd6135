"""Answers to the exercises of lesson 12: right ones, and wrong ones with words of what they are told."""

import numpy as np

from course_lib.exercises.many_machines import can_be_written, loss_scale, part_of_rank, positions_of, tasks_left
from course_lib.teaching.checker import FAILED, PASSED


def with_a_counter(finished, written):
    while written in finished:
        yield written
        written += 1


def by_filtering(finished, written):
    return [n for n in sorted(set(finished)) if n >= written and set(range(written, n)) <= set(finished)]


def only_in_turn(finished, written):
    out = []
    for task in finished:
        if task == written:
            out.append(task)
            written += 1
    return out


def sorted_in_place(finished, written):
    finished.sort()
    return [n for n in dict.fromkeys(finished) if n >= written and set(range(written, n)) <= set(finished)]


def by_parsing(num_tasks, files):
    done = {int(name[:5]) for name in files if name.endswith(".json")}
    return sorted(set(range(num_tasks)) - done)


def in_a_sets_order(num_tasks, files):
    done = {int(name[:5]) for name in files if name.endswith(".json")}
    return list(set(range(num_tasks)) - done)


def by_zfill(num_tasks, files):
    return [n for n in range(num_tasks) if str(n).zfill(5) + ".json" not in set(files)]


def any_file_will_do(num_tasks, files):
    seen = {int(name[:5]) for name in files}
    return [n for n in range(num_tasks) if n not in seen]


def unpadded(num_tasks, files):
    return [n for n in range(num_tasks) if f"{n}.json" not in files]


def from_the_highest(num_tasks, files):
    done = [int(name.split(".")[0]) for name in files if name.endswith(".json")]
    return list(range(max(done) + 1 if done else 0, num_tasks))


def as_a_table(done, num_steps, batch_size, rank, world_size):
    table = done + np.arange(num_steps * batch_size * world_size).reshape(num_steps, world_size, batch_size)
    return table[:, rank].ravel().tolist()


def step_by_step(done, num_steps, batch_size, rank, world_size):
    out = []
    for _ in range(num_steps):
        out += range(done + rank * batch_size, done + (rank + 1) * batch_size)
        done += world_size * batch_size
    return out


def dealt_like_cards(done, num_steps, batch_size, rank, world_size):
    end = done + num_steps * batch_size * world_size
    return list(range(done, end))[rank::world_size]


def without_the_others(done, num_steps, batch_size, rank, world_size):
    first = done + rank * batch_size
    return list(range(first, first + num_steps * batch_size))


def done_in_steps(done, num_steps, batch_size, rank, world_size):
    step = world_size * batch_size
    return [(done + k) * step + rank * batch_size + i for k in range(num_steps) for i in range(batch_size)]


def from_the_start(done, num_steps, batch_size, rank, world_size):
    step = world_size * batch_size
    return [k * step + rank * batch_size + i for k in range(num_steps) for i in range(batch_size)]


def with_numpy(counts):
    total = np.sum(counts)
    return float(np.shape(counts)[0] / total) if total else 0.0


def the_inverse_of_a_mean(counts):
    """All targets, shared out evenly among the ranks."""
    per_rank = sum(n for own in counts for n in own) / len(counts)
    return 1 / per_rank if per_rank else 0.0


def small_batches_as_well(counts):
    ranks, batches = np.shape(counts)
    return ranks * batches / np.sum(counts) if np.sum(counts) else 0.0


def without_the_ranks(counts):
    return 1 / max(1, int(np.sum(counts))) if np.sum(counts) else 0.0


def with_slices(inputs, targets, rank, size):
    piece = len(inputs) // (2 * size)
    first, last = rank * piece, len(inputs) - (rank + 1) * piece
    return tuple(row[first : first + piece] + row[last : last + piece] for row in (inputs, targets))


def as_pieces(inputs, targets, rank, size):
    both = np.array([inputs, targets]).reshape(2, 2 * size, -1)
    return both[:, [rank, -1 - rank]].reshape(2, -1).tolist()


def in_one_piece(inputs, targets, rank, size):
    length = len(inputs) // size
    return inputs[rank * length : (rank + 1) * length], targets[rank * length : (rank + 1) * length]


def with_a_negative_end(inputs, targets, rank, size):
    piece = len(inputs) // (2 * size)
    ends = slice(rank * piece, (rank + 1) * piece), slice(-(rank + 1) * piece, -rank * piece)
    return tuple([i for end in ends for i in row[end]] for row in (inputs, targets))


def shifted_again(inputs, targets, rank, size):
    own, _ = with_slices(inputs, targets, rank, size)
    return own, [*own[1:], -100]


def tails_from_the_middle(inputs, targets, rank, size):
    both = np.array([inputs, targets]).reshape(2, 2 * size, -1)
    return both[:, [rank, size + rank]].reshape(2, -1).tolist()


def as_they_ended(finished, written):
    last = written
    while last in finished:
        last += 1
    ready = []
    for task in finished:
        if written <= task < last and task not in ready:
            ready.append(task)
    return ready


def twice_if_done_twice(finished, written):
    ready = []
    for task in sorted(finished):
        if task in (written, written - 1) and task >= written - 1 and (ready or task == written):
            ready.append(task)
            written = task + 1
    return ready


def after_the_one_written(finished, written):
    ready, task = [], written + 1
    while task in finished:
        ready.append(task)
        task += 1
    return ready


def looks_for_part_of_a_name(num_tasks, files):
    left = []
    for task in range(num_tasks):
        if not any(name.startswith(f"{task:05}.json") for name in files):
            left.append(task)
    return left


def only_those_begun(num_tasks, files):
    begun = {int(name[:5]) for name in files}
    done = {int(name[:5]) for name in files if name.endswith(".json")}
    return sorted(begun - done)


def from_a_whole_step(done, num_steps, batch_size, rank, world_size):
    steps_done = done // (batch_size * world_size)
    positions = []
    for step in range(steps_done, steps_done + num_steps):
        first = (step * world_size + rank) * batch_size
        positions += range(first, first + batch_size)
    return positions


def from_its_own_number(done, num_steps, batch_size, rank, world_size):
    positions = []
    for step in range(num_steps):
        first = done + step * batch_size * world_size + rank
        positions += range(first, first + batch_size)
    return positions


def by_small_batches(counts):
    targets = sum(sum(own) for own in counts)
    return len(counts[0]) / targets if targets else 0.0


def by_ranks_with_targets(counts):
    totals = [sum(own) for own in counts]
    busy = [total for total in totals if total > 0]
    return len(busy) / sum(busy) if busy else 0.0


def by_its_own_targets(counts):
    own = sum(counts[0])
    return len(counts) / own if own else 0.0


ANSWERS = [
    (can_be_written, with_a_counter, PASSED),
    (can_be_written, by_filtering, PASSED),
    (can_be_written, only_in_turn, "before its turn"),
    (can_be_written, sorted_in_place, "changes its arguments"),
    (can_be_written, lambda finished, written: sorted(set(finished) - set(range(written))), "must wait"),
    (can_be_written, lambda finished, written: list(with_a_counter(finished, 0)), "already holds"),
    (can_be_written, lambda finished, written: len(by_filtering(finished, written)), FAILED),
    (tasks_left, by_parsing, PASSED),
    (tasks_left, by_zfill, PASSED),
    (tasks_left, in_a_sets_order, FAILED),
    (tasks_left, any_file_will_do, "before it wrote the `.json`"),
    (tasks_left, unpadded, "names that don't exist"),
    (tasks_left, from_the_highest, "tasks end in any order"),
    (tasks_left, lambda num_tasks, files: [n for n in range(num_tasks) if f"{n:05}.json" in files], "*done*"),
    (tasks_left, lambda num_tasks, files: [n + 1 for n in by_parsing(num_tasks, files)], FAILED),
    (positions_of, as_a_table, PASSED),
    (positions_of, step_by_step, PASSED),
    (positions_of, dealt_like_cards, "like cards"),
    (positions_of, without_the_others, "in one piece"),
    (positions_of, from_the_start, "forget `done`"),
    (positions_of, done_in_steps, "neither steps"),
    (positions_of, lambda done, n, B, rank, W: [done + rank * B + k * W * B for k in range(n)], FAILED),
    (positions_of, lambda done, n, B, rank, W: step_by_step(done, n, B, W - 1 if rank else 0, W), FAILED),
    (loss_scale, with_numpy, PASSED),
    (loss_scale, the_inverse_of_a_mean, PASSED),
    (loss_scale, without_the_ranks, "divides once more"),
    (loss_scale, small_batches_as_well, "nothing to make up for"),
    (loss_scale, lambda counts: len(counts) / sum(map(sum, counts)), "count of 0"),
    (loss_scale, lambda counts: len(counts) / max(1, sum(counts[0])), FAILED),
    (part_of_rank, with_slices, PASSED),
    (part_of_rank, as_pieces, PASSED),
    (part_of_rank, in_one_piece, "a head and a tail"),
    (part_of_rank, shifted_again, "shifted already"),
    (part_of_rank, with_a_negative_end, "end the tail at `-0`"),
    (part_of_rank, lambda inputs, targets, rank, size: (inputs[rank::size], targets[rank::size]), "like cards"),
    (part_of_rank, tails_from_the_middle, "from the middle"),
    (part_of_rank, lambda inputs, targets, rank, size: with_slices(inputs, targets, rank, size)[0], FAILED),
    (can_be_written, as_they_ended, "in which they ended"),
    (can_be_written, twice_if_done_twice, "a task twice"),
    (can_be_written, after_the_one_written, "one task too late"),
    (tasks_left, looks_for_part_of_a_name, "for `.json`"),
    (tasks_left, only_those_begun, "that never began"),
    (positions_of, from_a_whole_step, "whole steps of *these* ranks"),
    (positions_of, from_its_own_number, "begin at the wrong place"),
    (loss_scale, by_small_batches, "small batches of a rank"),
    (loss_scale, by_ranks_with_targets, "ranks without targets"),
    (loss_scale, by_its_own_targets, "one rank alone"),
]
