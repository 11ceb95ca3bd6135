"""Exercises of lesson 11: tasks that anyone may do, ranks that read each sample once,
one loss for all of them, and what it takes on paper."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, pairwise
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


@cut_tasks.mistake(
    "these tasks hold *at most* `target` bytes: each is closed before the document "
    "that would make it too large. Here a task is closed behind the document that "
    "brings it to `target`, or above."
)
def closed_before(sizes, target):
    tasks, start, held = [], 0, 0
    for number, size in enumerate(sizes):
        if held + size > target and number > start:
            tasks.append((start, number))
            start, held = number, 0
        held += size
    return [*tasks, (start, len(sizes))] if sizes else []


@cut_tasks.mistake(
    "these tasks hold at most `target` bytes, and one of them can be empty: each is "
    "closed before the document that would make it too large. Here a task is closed "
    "behind the document that brings it to `target`, or above."
)
def closed_before_or_empty(sizes, target):
    tasks, start, held = [], 0, 0
    for number, size in enumerate(sizes):
        if held + size > target:
            tasks.append((start, number))
            start, held = number, 0
        held += size
    return [*tasks, (start, len(sizes))] if sizes else []


@cut_tasks.mistake(
    "each task has as many documents. Bytes are work, not documents: one book among "
    "letters keeps its worker busy when all others are done."
)
def as_many_documents(sizes, target):
    step = max(1, target * len(sizes) // max(1, sum(sizes)))
    return [(i, min(i + step, len(sizes))) for i in range(0, len(sizes), step)]


@cut_tasks.mistake("`target` is bytes, not documents: add up the sizes.")
def target_documents(sizes, target):
    return [(i, min(i + target, len(sizes))) for i in range(0, len(sizes), target)]


@cut_tasks.mistake("each document is a task of its own: add up until it is enough.")
def each_a_task(sizes, target):
    return [(i, i + 1) for i in range(len(sizes))]


@cut_tasks.mistake(
    "the bytes are never set back to 0: behind the first task each document is one of "
    "its own."
)
def never_set_back(sizes, target):
    tasks, start, held = [], 0, 0
    for number, size in enumerate(sizes):
        held += size
        if held >= target:
            tasks.append((start, number + 1))
            start = number + 1
    return [*tasks, (start, len(sizes))] if start < len(sizes) else tasks


@cut_tasks.mistake(
    "the start is never moved: each task begins at document 0, and does again what the "
    "ones before have done."
)
def never_moved(sizes, target):
    return [(0, stop) for _, stop in cut_tasks.reference(sizes, target)]


@cut_tasks.mistake(
    "these are the sizes of the documents of each task. Return where it starts and "
    "where it stops: a task is told which documents to read, it does not carry them."
)
def their_sizes(sizes, target):
    return [sizes[start:stop] for start, stop in cut_tasks.reference(sizes, target)]


@cut_tasks.mistake(
    "these are the numbers of all documents of each task. Since neighbors stay "
    "together, where it starts and where it stops is enough."
)
def their_numbers(sizes, target):
    return [list(range(*task)) for task in cut_tasks.reference(sizes, target)]


@cut_tasks.mistake(
    "these pairs are a start and a *number* of documents: return where a task stops."
)
def start_and_number(sizes, target):
    return [(start, stop - start) for start, stop in cut_tasks.reference(sizes, target)]


@cut_tasks.mistake(
    "these pairs are a start and the bytes of the task: return where it stops."
)
def start_and_bytes(sizes, target):
    tasks = cut_tasks.reference(sizes, target)
    return [(start, sum(sizes[start:stop])) for start, stop in tasks]


@cut_tasks.mistake("these are only the stops: return pairs, (start, stop).")
def only_stops(sizes, target):
    return [stop for _, stop in cut_tasks.reference(sizes, target)]


@cut_tasks.mistake("these are only the starts: return pairs, (start, stop).")
def only_starts(sizes, target):
    return [start for start, _ in cut_tasks.reference(sizes, target)]


@cut_tasks.mistake(
    "a task is closed at each multiple of `target` bytes of the whole collection. Each "
    "task counts from 0: what one has too much is not taken from the next."
)
def at_multiples(sizes, target):
    totals = list(accumulate(sizes))
    stops = [
        number + 1
        for number, (total, size) in enumerate(zip(totals, sizes, strict=True))
        if total // target > (total - size) // target
    ]
    return _pairs([*stops, len(sizes)] if sizes else [])


@cut_tasks.mistake(
    "the document that fills a task is in two of them: it would be read twice. A task "
    "stops behind it, and the next one starts there."
)
def in_two_tasks(sizes, target):
    tasks, start, held = [], 0, 0
    for number, size in enumerate(sizes):
        held += size
        if held >= target:
            tasks.append((start, number + 1))
            start, held = number, 0
    return [*tasks, (start, len(sizes))] if start < len(sizes) else tasks


@cut_tasks.mistake(
    "a task ends *before* the document that fills it, which opens the next one without "
    "being counted. It belongs to the task that it fills."
)
def ends_before_the_last(sizes, target):
    tasks, start, held = [], 0, 0
    for number, size in enumerate(sizes):
        held += size
        if held >= target:
            tasks.append((start, number))
            start, held = number, 0
    return [*tasks, (start, len(sizes))] if start < len(sizes) else tasks


@cut_tasks.mistake(
    "what a task has above `target` is taken over into the next one. Each task counts "
    "its own documents, from 0."
)
def carried_over(sizes, target):
    tasks, start, held = [], 0, 0
    for number, size in enumerate(sizes):
        held += size
        if held >= target:
            tasks.append((start, number + 1))
            start, held = number + 1, held - target
    return [*tasks, (start, len(sizes))] if start < len(sizes) else tasks


@cut_tasks.mistake(
    "the document that fills a task is counted for the next one, too: a new task has "
    "0 bytes."
)
def counted_twice(sizes, target):
    tasks, start, held = [], 0, 0
    for number, size in enumerate(sizes):
        held += size
        if held >= target:
            tasks.append((start, number + 1))
            start, held = number + 1, size
    return [*tasks, (start, len(sizes))] if start < len(sizes) else tasks


@cut_tasks.mistake(
    "these are positions of bytes. A task is told which *documents* to read: their "
    "numbers."
)
def byte_positions(sizes, target):
    ends = [0, *accumulate(sizes)]
    return [(ends[a], ends[b]) for a, b in cut_tasks.reference(sizes, target)]


@cut_tasks.mistake(
    "these are positions of bytes, and a document can be cut in two. A task is told "
    "which documents to read: their numbers."
)
def cut_through_documents(sizes, target):
    total = sum(sizes)
    return [(i, min(i + target, total)) for i in range(0, total, target)]


@cut_tasks.mistake(
    "the sizes are sorted first. The documents must stay in their order, for the "
    "output has them in that order."
)
def sorted_first(sizes, target):
    return cut_tasks.reference(sorted(sizes, reverse=True), target)


@cut_tasks.mistake(
    "between two tasks a document is left out: one starts where the one before stops."
)
def one_between(sizes, target):
    tasks, start, held = [], 0, 0
    for number, size in enumerate(sizes):
        held += size
        if held >= target:
            tasks.append((start, number + 1))
            start, held = number + 2, 0
    return [*tasks, (start, len(sizes))] if start < len(sizes) else tasks


@cut_tasks.mistake(
    "the last task, of the documents that are left, stops one too early: a stop is the "
    "number of the first document behind it."
)
def last_stop_too_early(sizes, target):
    tasks, start, held = [], 0, 0
    for number, size in enumerate(sizes):
        held += size
        if held >= target:
            tasks.append((start, number + 1))
            start, held = number + 1, 0
    return [*tasks, (start, len(sizes) - 1)] if held else tasks


@cut_tasks.mistake("all documents are one task: nothing is shared out.")
def all_in_one(sizes, target):
    return [(0, len(sizes))] if sizes else []


@cut_tasks.mistake(
    "so many tasks of equal numbers of documents as bytes ask for. Bytes are work, "
    "not documents."
)
def split_by_number(sizes, target):
    count = -(-sum(sizes) // target)
    pieces = np.array_split(np.arange(len(sizes)), count) if count else []
    return _pairs([int(piece[-1]) + 1 for piece in pieces if len(piece)])


def _pairs(stops: list[int]) -> list[tuple[int, int]]:
    stops = sorted(set(stops))
    return list(zip([0, *stops[:-1]], stops, strict=True)) if stops else []


# How a task is closed, and what becomes of the documents that are left.
CLOSING = {
    "a task is full at exactly `target` bytes, too, not only above": (
        lambda held, target: held > target
    ),
    "a task is full at `target` bytes or above, not only at exactly as many": (
        lambda held, target: held == target
    ),
    "a task is closed one byte too early": lambda held, target: held >= target - 1,
}
LEFT = {
    "the documents that are left at the end are no task: nobody reads them": (
        lambda tasks, start, count: tasks
    ),
    "where nothing is left, an empty task comes last: it must hold a document": (
        lambda tasks, start, count: [*tasks, (start, count)]
    ),
    "where nothing is left, an empty task comes last, unless there is no document": (
        lambda tasks, start, count: [*tasks, (start, count)] if count else tasks
    ),
    "what is left is added to the last task instead of being one of its own": (
        lambda tasks, start, count: (
            [*tasks[:-1], (tasks[-1][0], count)] if tasks else [(0, count)][: count > 0]
        )
    ),
}
WRITTEN = {
    "the stop is the number of the last document, which a slice would leave out": (
        lambda start, stop: (start, stop - 1)
    ),
    "a task starts one document late": lambda start, stop: (start + 1, stop),
    "documents are counted from 1": lambda start, stop: (start + 1, stop + 1),
}


def _left_as_it_should(tasks, start, count):
    return [*tasks, (start, count)] if start < count else tasks


def cut_otherwise(is_full, leave, sizes, target):
    tasks, start, held = [], 0, 0
    for number, size in enumerate(sizes):
        held += size
        if is_full(held, target):
            tasks.append((start, number + 1))
            start, held = number + 1, 0
    return leave(tasks, start, len(sizes))


def _full_as_it_should(held, target):
    return held >= target


def written_otherwise(write, sizes, target):
    return [write(*task) for task in cut_tasks.reference(sizes, target)]


def left_and_written(leave, write, sizes, target):
    return [
        write(*task) for task in cut_otherwise(_full_as_it_should, leave, sizes, target)
    ]


cut_tasks.combine(
    lambda is_full, *rest: cut_otherwise(is_full, _left_as_it_should, *rest), CLOSING
)
cut_tasks.combine(
    lambda leave, *rest: cut_otherwise(_full_as_it_should, leave, *rest), LEFT
)
cut_tasks.combine(written_otherwise, WRITTEN)
cut_tasks.combine(cut_otherwise, CLOSING, LEFT)
cut_tasks.combine(left_and_written, LEFT, WRITTEN)


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


@can_be_written.mistake(
    "one that has ended must wait while one before it has not: behind a gap nothing "
    "can be written."
)
def over_the_gap(finished, written):
    return sorted({number for number in finished if number >= written})


@can_be_written.mistake(
    "behind a gap nothing can be written; and a task that ended twice is written once."
)
def over_the_gap_twice(finished, written):
    return sorted(number for number in finished if number >= written)


@can_be_written.mistake(
    "all that have ended, in order. Those before `written` stand in the file already, "
    "and behind a gap nothing can be written."
)
def all_that_ended(finished, written):
    return sorted(set(finished))


@can_be_written.mistake(
    "all that have ended, in order, some twice. Those before `written` stand in the "
    "file already, and behind a gap nothing can be written."
)
def all_that_ended_twice(finished, written):
    return sorted(finished)


@can_be_written.mistake(
    "in the order in which tasks ended: then the file depends on which worker was "
    "quicker. It is written in the order of the tasks."
)
def in_their_order(finished, written):
    ready = can_be_written.reference(finished, written)
    return list(dict.fromkeys(number for number in finished if number in ready))


@can_be_written.mistake(
    "all tasks that the file does not hold, in the order in which they ended. It is "
    "written in the order of the tasks, and only as far as none is missing."
)
def not_written_yet(finished, written):
    return [number for number in finished if number >= written]


@can_be_written.mistake(
    "`finished` is read once, from front to back: a task that ended before the one "
    "that it waits for is passed over. Ask for the next number, not for the next entry."
)
def read_once(finished, written):
    ready = []
    for number in finished:
        if number == written + len(ready):
            ready.append(number)
    return ready


@can_be_written.mistake(
    "only the next one. If the one behind it has ended, too, it can be written, and so "
    "on, up to the first gap."
)
def only_the_next(finished, written):
    return [written] if written in finished else []


@can_be_written.mistake(
    "`written` tasks stand in the file, 0 to `written - 1`: number `written` is the "
    "next one."
)
def one_too_far(finished, written):
    return can_be_written.reference(finished, written + 1)


@can_be_written.mistake(
    "task `written - 1` stands in the file already: `written` of them do, and they "
    "count from 0."
)
def one_too_early(finished, written):
    return can_be_written.reference(finished, written - 1)


@can_be_written.mistake(
    "two things at once: `written` is the number of the next task, not of the last "
    "one written; and behind a gap nothing can be written."
)
def over_the_gap_one_too_far(finished, written):
    return sorted({number for number in finished if number > written})


@can_be_written.mistake(
    "the last one is missing: a task can be written if it has ended itself, whether or "
    "not the one behind it has."
)
def without_the_last_one(finished, written):
    return can_be_written.reference(finished, written)[:-1]


@can_be_written.mistake(
    "it is asked whether the *next* task has ended, not the task itself: the last one "
    "is missing, or one that has not ended is written."
)
def asks_for_the_next(finished, written):
    ready = []
    while written + 1 in finished:
        ready.append(written)
        written += 1
    return ready


@can_be_written.mistake(
    "counted up from task 0: those before `written` stand in the file already, and "
    "need not be in `finished`."
)
def from_the_first(finished, written):
    return can_be_written.reference(finished, 0)


@can_be_written.mistake(
    "a task that ended twice, since it was tried again, is written once."
)
def twice(finished, written):
    ready = set(can_be_written.reference(finished, written))
    return sorted(number for number in finished if number in ready)


@can_be_written.mistake("a task that ended twice must not stop the others.")
def stopped_by_repeats(finished, written):
    ready = []
    for number in sorted(n for n in finished if n >= written):
        if number != written + len(ready):
            break
        ready.append(number)
    return ready


@can_be_written.mistake(
    "a task before `written` can be in `finished`, too: it stands in the file, and "
    "must not stop the others."
)
def stopped_by_the_written(finished, written):
    ready = []
    for number in sorted(set(finished)):
        if number != written + len(ready):
            break
        ready.append(number)
    return ready


@can_be_written.mistake(
    "neither a task that ended twice nor one that stands in the file already must stop "
    "the others."
)
def stopped_by_both(finished, written):
    ready = []
    for number in sorted(finished):
        if number != written + len(ready):
            break
        ready.append(number)
    return ready


@can_be_written.mistake(
    "reading `finished` ends at the first entry that is not the next task. The next "
    "one may stand behind it: tasks end in any order."
)
def ends_at_another(finished, written):
    ready = []
    for number in finished:
        if number != written + len(ready):
            break
        ready.append(number)
    return ready


@can_be_written.mistake(
    "if the next one has ended, only those up to the first gap can be written with it: "
    "not all that have ended."
)
def all_if_the_next(finished, written):
    return over_the_gap(finished, written) if written in finished else []


@can_be_written.mistake(
    "if the next one has ended, only those up to the first gap can be written with it, "
    "and in the order of the tasks, not in that in which they ended."
)
def all_in_their_order_if_the_next(finished, written):
    return not_written_yet(finished, written) if written in finished else []


@can_be_written.mistake(
    "only numbers below the length of `finished` are looked at: how many have ended "
    "says nothing of their numbers."
)
def below_the_length(finished, written):
    ready = can_be_written.reference(finished, written)
    return [number for number in ready if number < len(finished)]


@can_be_written.mistake(
    "those before `written` need not be in `finished`, and only numbers below its "
    "length are looked at: how many have ended says nothing of their numbers."
)
def below_the_length_from_the_first(finished, written):
    ready = can_be_written.reference(finished, 0)
    return [n for n in ready if written <= n < len(finished)]


@can_be_written.mistake(
    "the first `written` entries are cut off. Those are not the tasks before "
    "`written`: most of them are not in `finished` at all."
)
def cut_off(finished, written):
    return sorted(set(finished))[written:]


@can_be_written.mistake(
    "the first `written` entries of `finished` are cut off. `written` counts tasks in "
    "the file, not entries; and behind a gap nothing can be written."
)
def cut_off_as_they_are(finished, written):
    return finished[written:]


@can_be_written.mistake("that is how many can be written. Return their numbers.")
def how_many(finished, written):
    return len(can_be_written.reference(finished, written))


@can_be_written.mistake(
    "as many numbers as tasks have ended. They must be those that have, with none "
    "missing between."
)
def as_many_as_ended(finished, written):
    return list(range(written, written + len(set(finished))))


@can_be_written.mistake(
    "up to the last task that has ended. One before it may be missing: behind a gap "
    "nothing can be written."
)
def up_to_the_last(finished, written):
    return list(range(written, max(finished, default=-1) + 1))


@can_be_written.mistake(
    "up to the last task that has ended, and an error where none has. One before it "
    "may be missing: behind a gap nothing can be written."
)
def up_to_the_last_of_none(finished, written):
    return list(range(written, max(finished) + 1))


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
            ways = (
                [],
                ["bin.tmp"],
                ["bin"],
                ["bin", "json.tmp"],
                ["bin", "json"],
                ["bin", "json"],
            )
            files += [f"{number:05}.{ending}" for ending in random.choice(ways)]
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


@tasks_left.mistake(
    "a task whose `.bin` is there may have been killed right behind it: done are those "
    "whose `.json` is there, which comes last."
)
def done_with_bin(num_tasks, files):
    return [n for n in range(num_tasks) if f"{n:05}.bin" not in files]


@tasks_left.mistake(
    "a task that has left any file is taken for done. A `.tmp` is one that was being "
    "written, and a `.bin` alone has no `.json` yet."
)
def done_with_any(num_tasks, files):
    begun = {name.split(".")[0] for name in files}
    return [n for n in range(num_tasks) if f"{n:05}" not in begun]


@tasks_left.mistake(
    "`.json.tmp` is taken for `.json`: compare whole names, or their ends."
)
def json_anywhere(num_tasks, files):
    done = {name.split(".")[0] for name in files if ".json" in name}
    return [n for n in range(num_tasks) if f"{n:05}" not in done]


@tasks_left.mistake("`.bin.tmp` is taken for `.bin`, and `.bin` for done.")
def bin_anywhere(num_tasks, files):
    done = {name.split(".")[0] for name in files if ".bin" in name}
    return [n for n in range(num_tasks) if f"{n:05}" not in done]


@tasks_left.mistake(
    "all but the `.tmp` files are taken for done: a `.bin` without `.json` is not."
)
def all_but_tmp(num_tasks, files):
    done = {name.split(".")[0] for name in files if not name.endswith(".tmp")}
    return [n for n in range(num_tasks) if f"{n:05}" not in done]


@tasks_left.mistake(
    "tasks end in any order: that so many are done does not mean that they are the "
    "first ones."
)
def behind_as_many(num_tasks, files):
    done = sum(name.endswith(".json") for name in files)
    return list(range(done, num_tasks))


@tasks_left.mistake(
    "tasks end in any order: that one is done does not mean that all before it are."
)
def behind_the_last(num_tasks, files):
    done = [int(name.split(".")[0]) for name in files if name.endswith(".json")]
    return list(range(max(done, default=-1) + 1, num_tasks))


@tasks_left.mistake(
    "all tasks from the first one that is not done. Those of them that are done are "
    "done a second time."
)
def from_the_first_gap(num_tasks, files):
    left = tasks_left.reference(num_tasks, files)
    return list(range(left[0], num_tasks)) if left else []


@tasks_left.mistake("these are the tasks that are *done*. Return those that are left.")
def those_done(num_tasks, files):
    return [n for n in range(num_tasks) if f"{n:05}.json" in files]


@tasks_left.mistake(
    "these are the tasks that are done, those of another run among them. Return those "
    "that are left."
)
def all_done(num_tasks, files):
    return sorted(int(n.split(".")[0]) for n in files if n.endswith(".json"))


@tasks_left.mistake(
    "all of them, as if no name had been found. The names are texts, with five digits "
    "and an ending: `00003.json`."
)
def without_zeros(num_tasks, files):
    return [n for n in range(num_tasks) if f"{n}.json" not in files]


@tasks_left.mistake("tasks count from 0: the last one is number `num_tasks - 1`.")
def counted_from_one(num_tasks, files):
    return [n for n in range(1, num_tasks + 1) if f"{n:05}.json" not in files]


@tasks_left.mistake("task 0 is forgotten: tasks count from 0.")
def without_task_zero(num_tasks, files):
    return [n for n in tasks_left.reference(num_tasks, files) if n]


@tasks_left.mistake("numbers are wanted, not names: `int(name[:5])` of each.")
def as_names(num_tasks, files):
    return [f"{n:05}" for n in tasks_left.reference(num_tasks, files)]


@tasks_left.mistake(
    "these are tasks with a file that is not `.json`: one that is done has a `.bin`, "
    "too, and one that was never begun has none at all."
)
def other_files(num_tasks, files):
    return sorted({int(name[:5]) for name in files if not name.endswith(".json")})


@tasks_left.mistake(
    "`or` where `and not` is meant: a task that is done has a `.bin`, too, and is left "
    "nonetheless."
)
def bin_is_left(num_tasks, files):
    left = tasks_left.reference(num_tasks, files)
    return [n for n in range(num_tasks) if n in left or f"{n:05}.bin" in files]


@tasks_left.mistake(
    "a number is looked for anywhere in the names: `1` stands in `00010`, and `0` in "
    "every one of them. Compare whole names."
)
def number_anywhere(num_tasks, files):
    return [n for n in range(num_tasks) if str(n) not in "".join(files)]


@tasks_left.mistake(
    "only tasks with a `.tmp`, which were being done. Those that were never begun are "
    "left, too, and a `.bin` without `.json`."
)
def those_in_work(num_tasks, files):
    return [int(name[:5]) for name in files if name.endswith(".tmp")]


@tasks_left.mistake("these are names of files. Return the numbers of tasks.")
def names_of_files(num_tasks, files):
    return [name for name in files if not name.endswith(".json")]


@tasks_left.mistake(
    "up to the first one that is done. Behind it others can be left: tasks end in any "
    "order."
)
def until_one_is_done(num_tasks, files):
    left = []
    for number in range(num_tasks):
        if f"{number:05}.json" in files:
            break
        left.append(number)
    return left


@tasks_left.mistake("that is how many are left. Return which.")
def how_many_left(num_tasks, files):
    return len(tasks_left.reference(num_tasks, files))


@tasks_left.mistake("only the next one. Return all that are left.")
def the_next_one(num_tasks, files):
    return tasks_left.reference(num_tasks, files)[:1]


@tasks_left.mistake(
    "only tasks that have begun. One that has left no file at all is to be done, too."
)
def only_begun(num_tasks, files):
    begun = {int(name[:5]) for name in files}
    return [n for n in tasks_left.reference(num_tasks, files) if n in begun]


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


@positions_of.mistake(
    "dealt out like cards: sample by sample. Here a rank reads `batch_size` samples in "
    "a row of each step."
)
def dealt_out(done, num_steps, batch_size, rank, world_size):
    return [done + rank + k * world_size for k in range(num_steps * batch_size)]


@positions_of.mistake(
    "each rank gets one long piece of the order. With another number of ranks the "
    "pieces are others, so a run that is stopped could not go on: in each step, all "
    "ranks together read the samples that come next."
)
def one_long_piece(done, num_steps, batch_size, rank, world_size):
    length = num_steps * batch_size
    return [done + rank * length + i for i in range(length)]


@positions_of.mistake("only where each batch begins: a batch has `batch_size` samples.")
def only_the_first(done, num_steps, batch_size, rank, world_size):
    return positions_of.reference(done, num_steps, batch_size, rank, world_size)[
        ::batch_size
    ]


@positions_of.mistake(
    "these are the samples that *all* ranks read together: this one reads its part."
)
def all_ranks(done, num_steps, batch_size, rank, world_size):
    return [done + i for i in range(num_steps * world_size * batch_size)]


@positions_of.mistake("these are positions in one step only: `num_steps` are wanted.")
def one_step(done, num_steps, batch_size, rank, world_size):
    return positions_of.reference(done, min(num_steps, 1), batch_size, rank, world_size)


@positions_of.mistake(
    "whose a sample is, is counted from position 0. The steps of *these* ranks begin "
    "at `done`, and the one before may not have been theirs."
)
def counted_from_zero(done, num_steps, batch_size, rank, world_size):
    everything = range(done, done + num_steps * batch_size * world_size)
    return [p for p in everything if p // batch_size % world_size == rank]


@positions_of.mistake(
    "dealt out like cards, and counted from position 0. A rank reads `batch_size` "
    "samples in a row, and the first step begins at `done`."
)
def dealt_out_from_zero(done, num_steps, batch_size, rank, world_size):
    everything = range(done, done + num_steps * batch_size * world_size)
    return [p for p in everything if p % world_size == rank]


@positions_of.mistake(
    "the first sample of each batch is returned `batch_size` times: they follow one "
    "another."
)
def first_one_again(done, num_steps, batch_size, rank, world_size):
    all_ = positions_of.reference(done, num_steps, batch_size, rank, world_size)
    return [p for p in all_[::batch_size] for _ in range(batch_size)]


@positions_of.mistake("the last step is missing: `range(n)` ends at n - 1 by itself.")
def without_the_last_step(done, num_steps, batch_size, rank, world_size):
    fewer = max(0, num_steps - 1)
    return positions_of.reference(done, fewer, batch_size, rank, world_size)


@positions_of.mistake("`num_steps` plays no part: these are positions in one step.")
def always_one_step(done, num_steps, batch_size, rank, world_size):
    return positions_of.reference(done, 1, batch_size, rank, world_size)


# Where the first batch begins, how far it is to the next, and what is in one.
FIRST = {
    "what was delivered before, `done`, is forgotten": (
        lambda done, B, rank, world: rank * B
    ),
    "the rank is forgotten: all ranks read the same": lambda done, B, rank, world: done,
    "a rank begins `rank` samples on, not `rank` batches": (
        lambda done, B, rank, world: done + rank
    ),
    "ranks count from 0, not from 1": (
        lambda done, B, rank, world: done + (rank - 1) * B
    ),
    "rank 0 begins at `done`, not a batch behind it": (
        lambda done, B, rank, world: done + (rank + 1) * B
    ),
    "`done` is a number of samples, not of steps": (
        lambda done, B, rank, world: done * world * B + rank * B
    ),
    "`done` is a number of samples, not of batches": (
        lambda done, B, rank, world: (done + rank) * B
    ),
    "`done` is what all ranks have read, not each of them": (
        lambda done, B, rank, world: done * world + rank * B
    ),
    "`done` is what all ranks have read: it is not shared out": (
        lambda done, B, rank, world: done // world + rank * B
    ),
    "rounded down to a whole step of *these* ranks: what others have read of it is "
    "read again": (
        lambda done, B, rank, world: done // (world * B) * world * B + rank * B
    ),
    "rounded down to a whole batch: what others have read of it is read again": (
        lambda done, B, rank, world: done // B * B + rank * B
    ),
    "rounded up to a whole step of *these* ranks: some samples are skipped": (
        lambda done, B, rank, world: -(-done // (world * B)) * world * B + rank * B
    ),
    "a rank begins a whole step on for each rank before it": (
        lambda done, B, rank, world: done + rank * world * B
    ),
    "the first step is passed over: it begins at `done`": (
        lambda done, B, rank, world: done + (rank + world) * B
    ),
    "a rank begins `rank * batch_size` samples on, not `rank * world_size`": (
        lambda done, B, rank, world: done + rank * world
    ),
    "one sample too far: `done` samples are read, so the next is number `done`": (
        lambda done, B, rank, world: done + rank * B + 1
    ),
}
STEP = {
    "from one batch to the next, the batches of the other ranks lie between": (
        lambda B, world: B
    ),
    "a step is `world_size` batches, not `world_size` samples": lambda B, world: world,
    "a step is as many batches as there are ranks, not one more": (
        lambda B, world: (world + 1) * B
    ),
    "a step is as many batches as there are ranks, not one fewer": (
        lambda B, world: (world - 1) * B
    ),
    "a step goes on by one sample": lambda B, world: 1,
    "all steps read the same samples": lambda B, world: 0,
}
WITHIN = {
    "only where each batch begins is returned": lambda B, world: [0],
    "a batch is `batch_size` samples in a row, not each `world_size`-th": (
        lambda B, world: range(0, B * world, world)
    ),
    "a batch is one sample too short": lambda B, world: range(B - 1),
    "a batch is one sample too long": lambda B, world: range(B + 1),
    "the samples of all ranks are in each batch": lambda B, world: range(B * world),
}


def _first_as_it_should(done, batch_size, rank, world_size):
    return done + rank * batch_size


def _step_as_it_should(batch_size, world_size):
    return world_size * batch_size


def _within_as_it_should(batch_size, world_size):
    return range(batch_size)


def read_otherwise(first, step, within, done, num_steps, batch_size, rank, world_size):
    begin = first(done, batch_size, rank, world_size)
    size = step(batch_size, world_size)
    inside = within(batch_size, world_size)
    return [begin + k * size + i for k in range(num_steps) for i in inside]


positions_of.combine(
    lambda first, *rest: read_otherwise(
        first, _step_as_it_should, _within_as_it_should, *rest
    ),
    FIRST,
)
positions_of.combine(
    lambda step, *rest: read_otherwise(
        _first_as_it_should, step, _within_as_it_should, *rest
    ),
    STEP,
)
positions_of.combine(
    lambda within, *rest: read_otherwise(
        _first_as_it_should, _step_as_it_should, within, *rest
    ),
    WITHIN,
)
positions_of.combine(
    lambda first, step, *rest: read_otherwise(first, step, _within_as_it_should, *rest),
    FIRST,
    STEP,
)
positions_of.combine(
    lambda first, within, *rest: read_otherwise(
        first, _step_as_it_should, within, *rest
    ),
    FIRST,
    WITHIN,
)
positions_of.combine(
    lambda step, within, *rest: read_otherwise(
        _first_as_it_should, step, within, *rest
    ),
    STEP,
    WITHIN,
)


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


@equal_steps.mistake(
    "so many would be possible if the samples were shared out evenly. Each rank has "
    "only its own shard."
)
def as_if_shared_out(shard_sizes, batch_size):
    return sum(shard_sizes) // (batch_size * len(shard_sizes))


@equal_steps.mistake(
    "the steps of the rank with the *largest* shard: the others have nothing left by "
    "then, and it waits for them in vain."
)
def steps_of_the_largest(shard_sizes, batch_size):
    return max(shard_sizes) // batch_size


@equal_steps.mistake(
    "rounded up: the last batch of the smallest shard would not be full."
)
def rounded_up(shard_sizes, batch_size):
    return -(-min(shard_sizes) // batch_size)


@equal_steps.mistake("rounded to the nearest. Only full batches count: round down.")
def rounded_steps(shard_sizes, batch_size):
    return round(min(shard_sizes) / batch_size)


@equal_steps.mistake("that is a number of samples: divide by the batch size.")
def smallest_shard(shard_sizes, batch_size):
    return min(shard_sizes)


@equal_steps.mistake(
    "these are the samples that fill whole batches. How many batches are they?"
)
def samples_in_full_batches(shard_sizes, batch_size):
    return min(shard_sizes) // batch_size * batch_size


@equal_steps.mistake(
    "the batches of all ranks are added up. They are taken at the same time: each step "
    "takes one of each rank."
)
def batches_of_all(shard_sizes, batch_size):
    return sum(size // batch_size for size in shard_sizes)


@equal_steps.mistake(
    "all samples are put together, and one rank reads them all. Each rank takes a "
    "batch in each step, of its own shard."
)
def one_rank_alone(shard_sizes, batch_size):
    return sum(shard_sizes) // batch_size


@equal_steps.mistake("the mean of the ranks' batches: some ranks have fewer.")
def mean_of_batches(shard_sizes, batch_size):
    return sum(size // batch_size for size in shard_sizes) // len(shard_sizes)


@equal_steps.mistake(
    "the steps of all ranks are added up. A step is one that all of them take together."
)
def steps_of_all(shard_sizes, batch_size):
    return min(shard_sizes) // batch_size * len(shard_sizes)


@equal_steps.mistake(
    "that is by how many steps the ranks differ. How many can all of them take?"
)
def difference_of_steps(shard_sizes, batch_size):
    return max(shard_sizes) // batch_size - min(shard_sizes) // batch_size


@equal_steps.mistake(
    "one sample is taken off. Here nothing is shifted: count them all."
)
def one_sample_off(shard_sizes, batch_size):
    return (min(shard_sizes) - 1) // batch_size


@equal_steps.mistake("only the first shard is looked at.")
def of_the_first(shard_sizes, batch_size):
    return shard_sizes[0] // batch_size


@equal_steps.mistake("only the last shard is looked at.")
def of_the_last(shard_sizes, batch_size):
    return shard_sizes[-1] // batch_size


@equal_steps.mistake("one step too many: a rank would start it without a full batch.")
def one_more_step(shard_sizes, batch_size):
    return min(shard_sizes) // batch_size + 1


@equal_steps.mistake("one step too few: so many full batches every rank has.")
def one_step_fewer(shard_sizes, batch_size):
    return min(shard_sizes) // batch_size - 1


@equal_steps.mistake("`%` gives the samples that are left over. `//` counts batches.")
def left_over(shard_sizes, batch_size):
    return min(shard_sizes) % batch_size


@equal_steps.mistake(
    "`%` gives the samples that are left over behind full batches. `//` counts batches."
)
def least_left_over(shard_sizes, batch_size):
    return min(size % batch_size for size in shard_sizes)


@equal_steps.mistake(
    "so many steps the *largest* shard takes, a short batch included: the others have "
    "nothing left by then."
)
def until_all_is_read(shard_sizes, batch_size):
    return max(-(-size // batch_size) for size in shard_sizes)


@equal_steps.mistake(
    "`batch_size` is the batch of one rank: it is not shared out among them."
)
def batch_shared_out(shard_sizes, batch_size):
    return min(shard_sizes) // max(1, batch_size // len(shard_sizes))


@equal_steps.mistake(
    "`batch_size` is the batch of one rank: in its own shard it need not be multiplied "
    "by the number of ranks."
)
def global_batch(shard_sizes, batch_size):
    return min(shard_sizes) // (batch_size * len(shard_sizes))


@equal_steps.mistake(
    "a rank without samples is left out. But a step is taken by all of them: with an "
    "empty shard there is none."
)
def without_the_empty(shard_sizes, batch_size):
    return min((size for size in shard_sizes if size), default=0) // batch_size


@equal_steps.mistake(
    "ranks without a single full batch are left out. But a step is taken by all of "
    "them: then there is none."
)
def without_those_too_small(shard_sizes, batch_size):
    steps = [size // batch_size for size in shard_sizes]
    return min((number for number in steps if number), default=0)


@equal_steps.mistake(
    "the number of ranks that have a full batch. How many steps can all of them take?"
)
def ranks_with_a_batch(shard_sizes, batch_size):
    return sum(size >= batch_size for size in shard_sizes)


@equal_steps.mistake("at least one step, even where a rank has no full batch: then 0.")
def at_least_one(shard_sizes, batch_size):
    return max(1, min(shard_sizes) // batch_size)


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


@global_mean.mistake(
    "a mean of means. A rank with few targets counts as much as one with many, so "
    "each of its targets counts more."
)
def mean_of_means(sums, counts):
    return sum(_means(sums, counts)) / len(sums)


@global_mean.mistake(
    "a mean of means, those of ranks that have scored something. Still, a target on a "
    "rank with few of them counts more than others."
)
def mean_of_some_means(sums, counts):
    means = [s / n for s, n in zip(sums, counts, strict=True) if n]
    return sum(means) / len(means) if means else 0.0


@global_mean.mistake(
    "a mean of means: a target on a rank with few of them counts more than others. And "
    "a rank that has scored nothing has no mean."
)
def means_of_nothing(sums, counts):
    return sum(s / n for s, n in zip(sums, counts, strict=True)) / len(sums)


@global_mean.mistake("the sums are divided by the number of ranks, not of targets.")
def by_the_ranks(sums, counts):
    return sum(sums) / len(sums)


@global_mean.mistake("the sum of the losses: divide by the number of targets.")
def not_divided(sums, counts):
    return sum(sums)


@global_mean.mistake(
    "divided by the targets and by the ranks: the targets of all ranks are enough."
)
def divided_twice(sums, counts):
    total = sum(counts)
    return sum(sums) / total / len(sums) if total else 0.0


@global_mean.mistake("the means are added up: one division, of the sums, at the end.")
def sum_of_means(sums, counts):
    return sum(_means(sums, counts))


@global_mean.mistake("if nothing was scored, there is nothing to divide by: 0.0.")
def divides_by_zero(sums, counts):
    return sum(sums) / sum(counts)


@global_mean.mistake("if nothing was scored, 0.0 is wanted, not NaN.")
def not_a_number(sums, counts):
    total = sum(counts)
    return sum(sums) / total if total else float("nan")


@global_mean.mistake(
    "multiplied by the number of ranks: that is for a loss which is averaged over the "
    "ranks afterwards. Here nobody does."
)
def times_the_ranks(sums, counts):
    total = sum(counts)
    return sum(sums) / total * len(sums) if total else 0.0


@global_mean.mistake(
    "divided by the number of ranks that have scored something, not of targets."
)
def by_the_ranks_with_targets(sums, counts):
    ranks = sum(count > 0 for count in counts)
    return sum(sums) / ranks if ranks else 0.0


@global_mean.mistake(
    "each rank is taken to have as many targets as the one with most: add up the "
    "counts."
)
def all_as_the_largest(sums, counts):
    return sum(sums) / (len(sums) * max(counts)) if max(counts) else 0.0


@global_mean.mistake(
    "a rank that has scored nothing has no mean of its own. Why divide rank by rank, "
    "and multiply again? Add up first, divide once."
)
def there_and_back(sums, counts):
    weighted = sum(s / n * n for s, n in zip(sums, counts, strict=True))
    return weighted / sum(counts)


@global_mean.mistake(
    "divided inside the loop, by the targets so far: add up everything first."
)
def divided_so_far(sums, counts):
    loss, targets = 0.0, 0
    for own_sum, count in zip(sums, counts, strict=True):
        targets += count
        loss += own_sum / targets if targets else 0.0
    return loss


@global_mean.mistake(
    "halved at every rank: the last one counts half, the one before it a quarter, and "
    "so on. Add up everything first, divide once."
)
def halved_at_each(sums, counts):
    mean = 0.0
    for own_sum, count in zip(sums, counts, strict=True):
        mean = (mean + own_sum / count) / 2 if count else mean
    return mean


@global_mean.mistake("only the first rank is looked at.")
def rank_zero(sums, counts):
    return sums[0] / counts[0] if counts[0] else 0.0


@global_mean.mistake(
    "the targets of one rank are taken for those of all of them: add up the counts."
)
def counts_of_the_first(sums, counts):
    return sum(sums) / counts[0] if counts[0] else 0.0


@global_mean.mistake("the worst rank's loss, not that of all.")
def worst_rank(sums, counts):
    return max(_means(sums, counts))


@global_mean.mistake("sums and counts are exchanged: nats by targets.")
def exchanged(sums, counts):
    total = sum(sums)
    return sum(counts) / total if total else 0.0


@global_mean.mistake(
    "the sums are weighted by the counts a second time: they are sums already, not "
    "means."
)
def weighted_twice(sums, counts):
    total = sum(counts)
    weighted = sum(s * n for s, n in zip(sums, counts, strict=True))
    return weighted / total if total else 0.0


@global_mean.mistake("divided by the largest count: add up the counts of all ranks.")
def by_the_largest(sums, counts):
    return sum(sums) / max(counts) if max(counts) else 0.0


@global_mean.mistake(
    "the largest sum by the largest count: add up the sums, and the counts."
)
def largest_by_largest(sums, counts):
    return max(sums) / max(counts) if max(counts) else 0.0


@global_mean.mistake("`//` rounds down. A loss is no count: divide with `/`.")
def floor_of_it(sums, counts):
    total = sum(counts)
    return sum(sums) // total if total else 0.0


@global_mean.mistake(
    "a rank without targets makes the whole loss 0. The others have scored something."
)
def zero_for_all(sums, counts):
    return sum(sums) / sum(counts) if all(counts) else 0.0


@global_mean.mistake(
    "the count is taken to be at least 1 on each rank: a rank without targets adds "
    "none."
)
def at_least_one_each(sums, counts):
    return sum(sums) / sum(max(1, count) for count in counts)


def _packs(random: Random) -> Iterator[Case]:
    yield from (
        ([[4], [2, 2]],),
        ([[3]],),
        ([[2, 2], [2, 2]],),
        ([[4], [2, 2], [1, 3]],),
    )
    yield from (([[5], [2]],), ([[1], [1, 1], [1, 1, 1]],), ([[3, 1], [2]],))
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


# What a pack costs, and what is made of the costs of all ranks.
COST = {
    "each id is taken to read all ids of its document, later ones too": (
        lambda lengths: sum(n * n for n in lengths)
    ),
    "an id reads itself, too: n (n + 1) / 2 pairs, not n (n - 1) / 2": (
        lambda lengths: sum(n * (n - 1) // 2 for n in lengths)
    ),
    "the pack is taken for one document: with a mask, no id reads another document": (
        lambda lengths: _triangle(sum(lengths))
    ),
    "the pack is taken for one document in which each id reads all": (
        lambda lengths: sum(lengths) ** 2
    ),
    "ids are counted, not pairs: equally full packs are not equally much work": (
        lambda lengths: sum(lengths)
    ),
    "documents are counted, not pairs": lambda lengths: len(lengths),
    "only the longest document of a pack is counted": (
        lambda lengths: _triangle(max(lengths))
    ),
    "only the first document of a pack is counted": (
        lambda lengths: _triangle(lengths[0])
    ),
    "n (n + 1) is twice as many: an id reads those before it, not those behind": (
        lambda lengths: sum(n * (n + 1) for n in lengths)
    ),
    "`n * n + 1` lacks parentheses, and half of n (n + 1) is wanted": (
        lambda lengths: sum((n * n + 1) // 2 for n in lengths)
    ),
    "n * n // 2 leaves out half of the pairs of an id with itself": (
        lambda lengths: sum(n * n // 2 for n in lengths)
    ),
    "the numbers 0, 1, 2, ... of documents are taken for their lengths": (
        lambda lengths: sum(_triangle(n) for n in range(len(lengths)))
    ),
    "the pairs of a pack are multiplied, not added up": (
        lambda lengths: int(np.prod([_triangle(n) for n in lengths]))
    ),
}
ALL_RANKS = {
    "the distance from the slowest to the quickest alone is counted": (
        lambda work: max(work) - min(work)
    ),
    "all pairs are counted, not those that are not done": lambda work: sum(work),
    "the pairs of the slowest rank are counted: the step's, not the idle ones": (
        lambda work: max(work)
    ),
    "all that could be done in the step is counted, what is done too": (
        lambda work: max(work) * len(work)
    ),
    "ranks are compared with the quickest one: they wait for the slowest": (
        lambda work: sum(w - min(work) for w in work)
    ),
    "ranks are compared with their mean": (
        lambda work: sum(abs(w - sum(work) // len(work)) for w in work)
    ),
    "neighbors are compared, not each rank with the slowest": (
        lambda work: sum(abs(a - b) for a, b in pairwise(work))
    ),
    "the idle pairs are divided by the number of ranks": (
        lambda work: (max(work) * len(work) - sum(work)) // len(work)
    ),
    "the first rank is taken for the slowest": (
        lambda work: sum(work[0] - w for w in work)
    ),
    "the last rank is taken for the slowest": (
        lambda work: sum(work[-1] - w for w in work)
    ),
    "the mean rank is compared with the slowest, once": (
        lambda work: max(work) - sum(work) // len(work)
    ),
    "what all but the slowest do is counted, not what they could do": (
        lambda work: sum(work) - max(work)
    ),
    "each rank is compared with each other one": (
        lambda work: sum(abs(a - b) for a in work for b in work)
    ),
    "the two slowest are compared": (
        lambda work: max(work) - sorted(work)[-2] if len(work) > 1 else 0
    ),
    "the slowest waits for nobody, but its work is taken off, too": (
        lambda work: max(work) * (len(work) - 1) - sum(work)
    ),
    "ranks that wait are counted, not the pairs they could do": (
        lambda work: sum(w < max(work) for w in work)
    ),
    "the sign is the other way round": lambda work: sum(w - max(work) for w in work),
    "the quickest alone is counted": lambda work: min(work),
    "the slowest is taken off once, the others from it": (
        lambda work: max(work) - (sum(work) - max(work))
    ),
}


def _cost(lengths):
    return sum(map(_triangle, lengths))


def _idle(work):
    return max(work) * len(work) - sum(work)


def idle_otherwise(cost, combine, packs):
    return combine([cost(lengths) for lengths in packs])


idle_pairs.combine(lambda cost, packs: idle_otherwise(cost, _idle, packs), COST)
idle_pairs.combine(lambda all_, packs: idle_otherwise(_cost, all_, packs), ALL_RANKS)
idle_pairs.combine(idle_otherwise, COST, ALL_RANKS)


@idle_pairs.mistake(
    "each id is taken to read all ids of its document: a later one is not read, so it "
    "is n (n + 1) / 2 pairs, not n * n."
)
def squares(packs):
    return idle_otherwise(COST[next(iter(COST))], _idle, packs)


@idle_pairs.mistake(
    "the mask is forgotten: all packs that are full would be equally much work. With a "
    "mask, the pairs of each document are counted by themselves."
)
def without_mask(packs):
    return idle_otherwise(lambda lengths: _triangle(sum(lengths)), _idle, packs)


@idle_pairs.mistake("only the quickest rank's wait is counted: add up those of all.")
def only_the_quickest(packs):
    return idle_otherwise(_cost, lambda work: max(work) - min(work), packs)


@idle_pairs.mistake(
    "all pairs are counted. Idle are those that a rank could still do until the "
    "slowest is ready."
)
def all_pairs(packs):
    return idle_otherwise(_cost, sum, packs)


@idle_pairs.mistake(
    "documents are compared with the longest one. It is ranks that wait: add up the "
    "documents of each pack first."
)
def over_documents(packs):
    work = [_triangle(n) for lengths in packs for n in lengths]
    return sum(max(work) - pairs for pairs in work)


@idle_pairs.mistake("several values: add up the idle pairs of all ranks.")
def of_each_rank(packs):
    work = [_cost(lengths) for lengths in packs]
    return [max(work) - pairs for pairs in work]


def _collections(random: Random) -> Iterator[Case]:
    yield from ((0, 100, 10), (1, 100, 10), (5, 100, 10), (6, 100, 10))
    yield from ((6, 100, 11), (7, 300, 7), (10, 65_535, 8), (10, 65_536, 8))
    yield from ((10, 65_537, 8), (12, 65_537, 8), (9, 100_000, 8), (10, 100_000, 11))
    yield from ((1000, 50_000, 400), (1000, 100_000, 400), (1001, 50_000, 401))
    yield from ((40, 256, 8), (40, 257, 8), (70_000, 1_000, 1_000))
    yield from ((15 * 10**12, 128_000, 10**9), (15 * 10**12, 50_257, 2 * 10**8))
    yield from ((300_000, 70_000, 1_001), (3, 200_000, 4), (3, 2, 4))


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


WIDTHS = {
    "an id takes 2 bytes whatever the vocabulary: ids above 65,535 need 4": (
        lambda tokens, V: 2
    ),
    "an id takes 4 bytes whatever the vocabulary: up to 65,535, 2 are enough": (
        lambda tokens, V: 4
    ),
    "an id is stored in 8 bytes: 2 or 4 are enough": lambda tokens, V: 8,
    "an id is taken for a byte": lambda tokens, V: 1,
    "65,536 ids are 0 to 65,535, and fit into 2 bytes": (
        lambda tokens, V: 2 if V < 2**16 else 4
    ),
    "65,535 and 65,536 ids are 0 to 65,534 and 65,535, and fit into 2 bytes": (
        lambda tokens, V: 2 if V < 2**16 - 1 else 4
    ),
    "as many whole bytes as the largest id needs: the shards are uint16 or uint32": (
        lambda tokens, V: max(1, -(-(V - 1).bit_length() // 8))
    ),
    "65,537 ids are 0 to 65,536, and the last one does not fit into 2 bytes": (
        lambda tokens, V: 2 if V <= 2**16 + 1 else 4
    ),
    "a small vocabulary gets 1 byte an id: the shards are uint16 or uint32": (
        lambda tokens, V: 1 if V <= 256 else 2 if V <= 2**16 else 4
    ),
    "3 bytes would do, but no dtype has them: uint32 has 4": (
        lambda tokens, V: 2 if V <= 2**16 else 3
    ),
    "above 65,536 ids an id takes 8 bytes: 4 are enough": (
        lambda tokens, V: 2 if V <= 2**16 else 8
    ),
    "the signed int16 ends at 32,767: uint16 ends at 65,535": (
        lambda tokens, V: 2 if V <= 2**15 else 4
    ),
    "how wide an id is depends on the vocabulary, not on how many tokens there are": (
        lambda tokens, V: 2 if tokens <= 2**16 else 4
    ),
    "4 or 8 bytes an id: 2 hold up to 65,535, and 4 hold all others": (
        lambda tokens, V: 4 if V <= 2**16 else 8
    ),
    "16 and 32 are bits: an id takes 2 or 4 bytes": (
        lambda tokens, V: 16 if V <= 2**16 else 32
    ),
    "2 and 4 bytes are exchanged": lambda tokens, V: 4 if V <= 2**16 else 2,
}
COUNTS = {
    "rounded down: what is left over needs a shard, too": (
        lambda tokens, width, size: tokens // (size // width)
    ),
    "rounded to the nearest: what is left over needs a shard, too": (
        lambda tokens, width, size: round(tokens / (size // width))
    ),
    "rounded down, and one added: where it comes out even, that is one too many": (
        lambda tokens, width, size: tokens // (size // width) + 1
    ),
    "all bytes are divided: an id is not cut in two where a shard has a byte over": (
        lambda tokens, width, size: -(-tokens * width // size)
    ),
    "all bytes are divided, and rounded down": (
        lambda tokens, width, size: tokens * width // size
    ),
    "all bytes are divided, rounded down, and one added": (
        lambda tokens, width, size: tokens * width // size + 1
    ),
    "that is how many *ids* fit into one shard": (
        lambda tokens, width, size: size // width
    ),
    "shards are counted as if an id were a byte, and multiplied: divide first": (
        lambda tokens, width, size: -(-tokens // size) * width
    ),
    "these are bytes, not shards": lambda tokens, width, size: tokens * width,
    "the bytes of a shard are multiplied by those of an id, not divided": (
        lambda tokens, width, size: -(-tokens // (size * width))
    ),
    "at least one shard: no tokens need none": (
        lambda tokens, width, size: max(1, -(-tokens // (size // width)))
    ),
    "a quotient of floats is no longer exact for trillions": (
        lambda tokens, width, size: int(tokens / (size / width)) + 1
    ),
    "the ids of a shard are rounded up: the last of them would not fit": (
        lambda tokens, width, size: -(-tokens // -(-size // width))
    ),
}


def _width(tokens, vocab_size):
    return 2 if vocab_size <= 2**16 else 4


def _count(tokens, width, size):
    return -(-tokens // (size // width))


def counted_otherwise(width, count, num_tokens, vocab_size, shard_bytes):
    return count(num_tokens, width(num_tokens, vocab_size), shard_bytes)


num_shards.combine(lambda width, *rest: counted_otherwise(width, _count, *rest), WIDTHS)
num_shards.combine(lambda count, *rest: counted_otherwise(_width, count, *rest), COUNTS)
num_shards.combine(counted_otherwise, WIDTHS, COUNTS)


@num_shards.mistake(
    "a byte is taken for an id: how many bytes does an id of this vocabulary take?"
)
def bytes_for_ids(num_tokens, vocab_size, shard_bytes):
    return -(-num_tokens // shard_bytes)


@num_shards.mistake(
    "all bytes are divided by those of a shard. But an id is not cut in two: a shard "
    "of 401 bytes holds 200 ids of 2 bytes, and a byte is left over."
)
def ids_cut_in_two(num_tokens, vocab_size, shard_bytes):
    return -(-num_tokens * _width(num_tokens, vocab_size) // shard_bytes)


@num_shards.mistake("rounded down: the ids that are left over need a shard, too.")
def rounded_down_shards(num_tokens, vocab_size, shard_bytes):
    return num_tokens // (shard_bytes // _width(num_tokens, vocab_size))


@num_shards.mistake(
    "always 2 bytes an id: those of a vocabulary above 65,536 do not fit, and would "
    "wrap around."
)
def always_two_bytes(num_tokens, vocab_size, shard_bytes):
    return -(-num_tokens // (shard_bytes // 2))


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


@hours_of_encoding.mistake("one core a machine: all of them encode.")
def one_core_each(tokens, rate, machines, cores):
    return tokens * 1e9 / (rate * machines) / 3600


@hours_of_encoding.mistake("one machine alone.")
def one_machine(tokens, rate, machines, cores):
    return tokens * 1e9 / (rate * cores) / 3600


@hours_of_encoding.mistake("minutes: an hour has 3,600 seconds.")
def minutes_for_hours(tokens, rate, machines, cores):
    return tokens * 1e9 / (rate * machines * cores) / 60


@hours_of_encoding.mistake("seconds: an hour has 3,600 of them.")
def seconds_for_hours(tokens, rate, machines, cores):
    return tokens * 1e9 / (rate * machines * cores)


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


@steps_together.mistake(
    "those of the largest shard: by then its rank waits in vain for the others."
)
def steps_of_the_largest_shard(sizes, batch_size):
    return max(sizes) // batch_size


@steps_together.mistake("the mean of the shards. Who has less cannot take part.")
def steps_of_the_mean(sizes, batch_size):
    return sum(sizes) // len(sizes) // batch_size


@steps_together.mistake("all samples shared out. Each rank has its own shard.")
def steps_of_all_samples(sizes, batch_size):
    return sum(sizes) // batch_size


@steps_together.mistake("with a short last batch. It is left out.")
def with_short_batch(sizes, batch_size):
    return -(-min(sizes) // batch_size)


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


@loss_of_both.mistake("the mean of the two means: ranks with few targets count more.")
def mean_of_ranks(first, loss, second, other_loss):
    return (loss + other_loss) / 2


@loss_of_both.mistake("the two are weighed the other way round.")
def weighed_the_other_way(first, loss, second, other_loss):
    return (second * loss + first * other_loss) / (first + second)


@loss_of_both.mistake("their sum. A mean lies between the two.")
def sum_of_ranks(first, loss, second, other_loss):
    return loss + other_loss
