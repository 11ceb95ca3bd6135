"""Exercises of lesson 14: jumps, shifts, lost tokens, orders, neighbors, resumed runs,
ranks, loaders with just one finding."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from random import Random

import numpy as np

from course_lib.auditing_loaders import LoaderError, audit_loader
from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false

# Where does a row jump?


def _rows(random: Random) -> Iterator[Case]:
    yield from (([],), ([0],), ([7],), ([0, 1],), ([3, 4, 5],), ([0, 2],), ([5, 5],))
    yield from (([1, 0],), ([2, 1, 0],), ([0, 1, 3, 4],), ([0, 1, 1, 2],), ([9, 0, 1],))
    yield from (([0, 5, 5],), ([4, 5, 4, 5],), ([0, 1, 2, 0, 1],), ([0, 1, 2, 9],))
    yield from (([1, 2, 7, 8],), ([40, 41, 42, 50],), ([8, 9, 30, 31, 60],))
    yield from (([5, 6, 4, 8, 9, 1],), ([0, 2, 3],))
    yield from (([0, 2, 4, 6],), ([6, 7, 7, 9, 3],))
    for _ in range(10):
        row = list(range(first := random.randrange(90), first + random.randrange(4, 9)))
        for _ in range(random.randrange(3)):
            place = random.randrange(1, len(row))
            row[place:] = range(at := random.randrange(90), at + len(row) - place)
        yield (row,)


@exercise(
    cases=_rows,
    hints=(
        "Two neighbors are consecutive if the second is the first plus 1. From which "
        "place on has an entry a neighbor before it?",
        "Go through the places from 1 on, return the first at which the entry is not "
        "the one before plus 1, and return -1 only after the loop.",
    ),
)
def first_jump(row: list[int]) -> int:
    """Return the place at which a row stops being consecutive, or -1."""
    for place in range(1, len(row)):
        if row[place] != row[place - 1] + 1:
            return place
    return -1


first_jump.slips("""
    range(1, len(row)) => range(len(row))
        the first entry is compared with the *last*, because that is `row[-1]`.
    range(1, len(row)) => range(1, len(row) - 1)
        the last entry is not looked at.
    return place => return place - 1
        this is the last place that is still right. Return the one after it.
    return place => return place + 1
        this is the place after the one asked for: places count from 0.
    return place => return row[place]
    return place => return row[place - 1]
        this is a *position*: return its place in the row.
    row[place] != => row[place] >
        only a jump *forward* is seen, but a row can also go back, or stand still.
    row[place] != row[place - 1] + 1 => row[place] < row[place - 1]
    row[place] != row[place - 1] + 1 => row[place] <= row[place - 1]
        jumps ahead are missed, but a row that skips positions also jumps.
    row[place] != row[place - 1] + 1 => abs(row[place] - row[place - 1]) != 1
        a step back by one is taken for consecutive.
    row[place] != row[place - 1] + 1 => row[place] == row[place - 1]
        only a position that comes twice is seen, but a row can also skip some.
    row[place] != => row[place] ==
        this is the first place that *is* consecutive.
    row[place - 1] + 1: => row[place - 1]:
        nothing is added to the entry before, but positions go up by 1.
""")


@first_jump.right_way("""
    row[0] + place: => place:
        the row is compared with 0, 1, 2, …, but it can begin at any position.
    row[0] + place: => row[0]:
        nothing is added to…
    enumerate(row) => enumerate(row, 1)
        places are counted from 1, but the first place is 0.
    position != => position >
        only a jump *forward*…
    position != => position <
        jumps ahead are missed…
    position != => position ==
        this is a place that is right: look for one that is not.
    return place => return position
        this is a *position*…
    return place => return place - 1
        this is the last place that is still…
""")
def from_the_first_entry(row):
    for place, position in enumerate(row):
        if position != row[0] + place:
            return place
    return -1


first_jump.answers("""
    max((p for p in range(1, len(row)) if row[p] != row[p - 1] + 1), default=-1)
        this is the *last* jump of the row.
    sum(b != a + 1 for a, b in pairwise(row))
        this is how many jumps there are: return the place of the first.
    next((row.index(b) for a, b in pairwise(row) if b != a + 1), -1)
        `index` finds the *first* place of a position, but it may come twice.
    1 if len(row) > 1 and row[1] != row[0] + 1 else -1
    1 if len(row) > 1 and row[1] != row[0] + 1 else -1 if len(row) > 1 else None
        only the first two entries are compared: does the loop end in its first round?
    len(row) - 1 if len(row) > 1 and row[-1] != row[-2] + 1 else -1
        the last two entries decide, because later rounds overwrite what was found.
    any(b != a + 1 for a, b in pairwise(row))
        this says whether there is a jump: return its place.
""")


# How far are the targets ahead?


def _targets(random: Random) -> Iterator[Case]:
    yield from (([0], [1]), ([0], [0]), ([1], [0]), ([3], [9]), ([0, 1], [1, 2]))
    yield from (([0, 1], [1, -100]), ([0, 1], [-100, 2]), ([1, 2], [0, 4]))
    yield from (([0, 1], [0, 2]), ([0, 1], [2, 2]), ([1, 1], [-100, 0]))
    yield from (([5, 6, 7], [6, 7, 8]), ([5, 6, 7], [7, 8, -100]))
    yield from (([5, 6, 7], [4, 5, 9]), ([5, 6, 7], [5, 6, -100]))
    yield from (([5, 6, 7], [-100, -100, 9]), ([4, 5, 6, 7], [3, 4, 8, 9]))
    yield from (([4, 5, 6, 7], [6, 7, 7, 8]), ([4, 5, 6, 7], [2, 3, 7, 8]))
    yield from (([3, 4, 5, 6], [-100, -100, -100, 7]), ([1, 2, 3, 4], [0, 1, 2, 9]))
    yield from ([0, 1, 2, 3], [3, 1, 2, 30])
    yield from (([2, 3, 4, 9], [3, 4, 40, 10]), ([9, 8, 7, 6], [1, 2, 3, 4]))
    for _ in range(14):
        length = random.randrange(4, 10)
        inputs = list(range(first := random.randrange(5, 90), first + length))
        usual, other = random.sample(range(-4, 5), 2)
        targets = [i + random.choice([usual, usual, other]) for i in inputs]
        for place in random.sample(range(length), random.randrange(3)):
            targets[place] = -100
        yield inputs, targets


@exercise(
    cases=_targets,
    hints=(
        "Make a list of the shifts, target minus input, without those of -100. Which "
        "of them comes most often?",
        "`shifts.count(shift)` says how often. `min` with a key that is a pair, first "
        "the negative count and then the shift, also settles ties.",
    ),
)
def commonest_shift(inputs: list[int], targets: list[int]) -> int:
    """Return how far most targets are ahead of their inputs."""
    pairs = zip(inputs, targets, strict=True)
    shifts = [target - place for place, target in pairs if target != -100]
    return min(shifts, key=lambda shift: (-shifts.count(shift), shift))


commonest_shift.slips("""
    target - place => place - target
        the signs are the other way round: a target that is *ahead* has a shift above 0.
    target - place => abs(target - place)
        the signs are lost: a target before its input has a negative shift.
    target - place for => target for
        these are targets themselves: how far is each ahead of its input?
    if target != -100 => if True
        -100 is taken for a position, but such a target is not counted.
    if target != -100 => if target > 0
        a target at position 0 is also left out.
    (-shifts.count(shift), shift) => (-shifts.count(shift), -shift)
        a tie goes to the larger shift: take the smaller one.
    (-shifts.count(shift), shift) => -shifts.count(shift)
        a tie goes to the shift that comes first: take the smallest one.
    (-shifts.count(shift), shift) => (-shifts.count(shift), abs(shift))
        a tie goes to the shift nearest to 0: take the smallest one. -2 is below 1.
    min(...) => max(set(shifts), key=shifts.count)
        a tie is decided by the order of a set: take the smallest shift.
    (-shifts.count(shift), shift) => (shifts.count(shift), shift)
        this is the *rarest* shift.
    (-shifts.count(shift), shift) => shift
        this is the smallest of all shifts, however rare it is.
    return min(...) => return max(shifts.count(shift) for shift in shifts)
        this is how *often* the commonest shift comes: return the shift.
    zip(inputs, targets, strict=True) => zip(inputs, targets[1:], strict=False)
        each input is compared with the target of the next one.
    min(...) => sorted(shifts)[len(shifts) // 2]
    min(...) => sorted(shifts)[(len(shifts) - 1) // 2]
        this is the middle one of the sorted shifts: which comes most often?
    min(...) => round(sum(shifts) / len(shifts))
    min(...) => sum(shifts) // len(shifts)
        this is the mean of the shifts: which comes most often?
    min(...) => shifts[0]
    min(...) => shifts[-1]
        one target alone decides: which shift comes most often?
""")


@commonest_shift.right_way("""
    if targets[place] == -100: => if targets[place] == None:
        -100 is taken for a position…
    if targets[place] == -100: => if targets[place] <= 0:
        a target at position 0…
    continue => break
        the first -100 ends the loop, but targets may follow it.
    targets[place] - inputs[place] => inputs[place] - targets[place]
        the signs are the other…
    targets[place] - inputs[place] => targets[place] - place
        the place in the row is subtracted, but its input is meant.
    sorted(counts) => counts
        a tie goes to the shift that comes…
    counts[shift] > counts[best] => counts[shift] >= counts[best]
        a tie goes to the larger…
    counts[shift] > counts[best] => counts[shift] < counts[best]
        this is the *rarest*…
    return best => return counts[best]
        this is how *often*…
""")
def counted_by_hand(inputs, targets):
    counts = {}
    for place in range(len(inputs)):
        if targets[place] == -100:
            continue
        shift = targets[place] - inputs[place]
        counts[shift] = counts.get(shift, 0) + 1
    best = None
    for shift in sorted(counts):
        if best is None or counts[shift] > counts[best]:
            best = shift
    return best


commonest_shift.answers("""
    1
        the shift is always 1, but the targets say what it is.
    targets[0] - inputs[0]
        the first target is taken, even where it is -100.
    Counter(t - i for i, t in zip(inputs, targets)).most_common(1)[0][0]
        -100 is counted, and of equally common shifts the first is taken.
""")


# How many tokens are lost?


def _windows(random: Random) -> Iterator[Case]:
    yield from (([], 1, 1), ([], 5, 2), ([0], 2, 1), ([0], 3, 1), ([0], 3, 2))
    yield from (([1], 4, 2), ([2], 4, 1), ([0, 0], 5, 2), ([0, 1], 4, 2))
    yield from (([0, 2], 5, 2), ([0, 3], 6, 2), ([2, 0], 7, 2), ([0, 4], 9, 3))
    yield from (([3], 9, 3), ([0, 3, 6], 10, 3), ([0, 3, 6], 12, 3))
    yield from (([6, 0, 3, 3], 11, 3), ([1, 4], 9, 4), ([5, 1], 12, 4))
    yield from (([0, 2, 4], 9, 4), ([0, 8], 13, 4), ([0, 5, 10], 16, 4))
    yield from (([10, 0], 20, 5), ([7, 8, 9], 20, 6))
    for _ in range(10):
        num_tokens, length = random.randrange(20, 50), random.randrange(2, 8)
        starts = random.choices(range(num_tokens - length), k=random.randrange(2, 7))
        yield starts, num_tokens, length


@exercise(
    cases=_windows,
    hints=(
        "Which tokens are targets of the window at s? Windows may overlap, so collect "
        "the targets of all windows in a set.",
        "All tokens but token 0 could be targets. Subtract how many different ones "
        "are.",
    ),
)
def count_lost(starts: list[int], num_tokens: int, context_length: int) -> int:
    """Return how many tokens are never a target, apart from token 0."""
    steps = range(1, context_length + 1)
    targets = {start + step for start in starts for step in steps}
    return num_tokens - 1 - len(targets)


count_lost.slips("""
    range(1, context_length + 1) => range(1, context_length)
        each window counts with T - 1 targets: `range` ends before its end.
    range(1, context_length + 1) => range(context_length + 1)
    range(1, context_length + 1) => range(1, context_length + 2)
        each window counts with T + 1 tokens, but only T of them are targets.
    num_tokens - 1 => num_tokens
        token 0, or one after the last, is counted as lost, but neither can be a target.
    num_tokens - 1 - len(targets) => len(targets)
        these are the tokens that *are* targets: how many are not?
    start + step for => start for
        each window counts with one token, but it has T targets.
    start + step for => step for
        targets are counted from the start of their window: add the start.
    len(targets) => max(targets, default=0)
        this is what lies after the last window: tokens between windows are also lost.
    len(targets) => len(starts) * context_length
    len(targets) => len(set(starts)) * context_length
        windows may overlap, and then a target of two windows counts twice.
""")


@count_lost.right_way("""
    start + 1, start + context_length + 1 => start, start + context_length
        these are the inputs: the window at s has the targets s + 1 to s + T.
    start + context_length + 1 => start + context_length
        each window counts with T - 1 targets…
    range(start + 1, => range(start,
        the first input of each window is taken for a target.
    start + 1, start + context_length + 1 => start, context_length
    start + context_length + 1 => context_length + 1
        the range of each window ends at T, and not T after its start.
    is_target[1:] => is_target
        token 0, or one…
    count(False) => count(True)
        these are the tokens that *are*…
""")
def marked(starts, num_tokens, context_length):
    is_target = [False] * num_tokens
    for start in starts:
        for position in range(start + 1, start + context_length + 1):
            is_target[position] = True
    return is_target[1:].count(False)


count_lost.answers("""
    num_tokens - 1 - context_length
        the targets of *one* window are subtracted: there may be several, or none.
    max(0, num_tokens - 1 - len(starts) * context_length)
        windows may overlap…
    sum(max(0, b - a - context_length) for a, b in pairwise(sorted(starts)))
        only gaps *between* windows are counted, but not what comes before or after.
    num_tokens % context_length
    (num_tokens - 1) % context_length
        the windows are taken to follow one another, but `starts` says where they are.
""")


# Does each place go forward?


def _batches(random: Random) -> Iterator[Case]:
    yield from (([],), ([[3]],), ([[5, 2]],), ([[0], [1]],), ([[1], [0]],))
    yield from (([[2], [2]],), ([[0, 4], [4, 8]],), ([[4, 0], [8, 4]],))
    yield from (([[0, 9], [3, 12]],), ([[0, 4], [8, 4]],), ([[0, 4], [4, 2]],))
    yield from (([[4, 0], [2, 8]],), ([[0, 4], [0, 8]],), ([[0, 6], [4]],))
    yield from (([[0, 4], [0, 2]],), ([[0, 4], [2, 2]],), ([[3, 9], [5, 9]],))
    yield from (([[4, 0], [2]],), ([[4, 4], [6]],), ([[0, 8], [4, 12], [8, 16]],))
    yield from (([[0, 8], [4, 12], [2, 16]],), ([[0, 8], [4, 12], [2]],))
    yield from (([[0, 8], [4, 2], [9]],), ([[5], [1], [7]],), ([[5], [7], [3]],))
    yield from (([[5, 0], [1, 3], [7, 6]],), ([[0, 1], [2, 1], [3, 4]],))
    yield from (([[0, 2], [4, 6], [8]],), ([[0], [4], [4]],), ([[9, 0, 5], [8, 7, 6]],))
    yield from (([[0, 4, 8], [9, 5, 9], [10]],), ([[0, 4, 8], [9, 5, 8], [10, 7]],))
    yield from (([[1, 7], [3, 9], [4, 8]],), ([[1, 7], [9, 8], [2]],))
    for _ in range(14):
        size, number = random.randrange(2, 4), random.randrange(3, 5)
        tracks = [sorted(random.sample(range(40), number)) for _ in range(size)]
        if random.random() < 0.6:
            track = random.choice(tracks)
            place = random.randrange(1, number)
            track[place] = random.choice([track[place - 1], random.randrange(40)])
        batches = [list(batch) for batch in zip(*tracks, strict=True)]
        batches[-1] = batches[-1][: random.randrange(1, size + 1)]
        yield (batches,)


@exercise(
    cases=_batches,
    hints=(
        "`pairwise(batches)` gives each batch with the next one. What must hold at "
        "each place that both of them have?",
        "`zip(one, other, strict=False)` ends with the shorter of the two. Each later "
        "start must be larger, and `all` asks whether that is so everywhere.",
    ),
)
def goes_forward(batches: list[list[int]]) -> bool:
    """Return whether each place of the batch only goes forward."""
    return all(
        earlier < later
        for one, other in pairwise(batches)
        for earlier, later in zip(one, other, strict=False)
    )


goes_forward.slips("""
    earlier < later => earlier <= later
        a place that stands still is taken to go forward.
    earlier < later => earlier != later
        a place that goes back is taken to go forward.
    earlier < later => earlier > later
        this asks whether each place goes *back*.
    return all( => return any(
        one place that goes forward is enough here, but all of them must.
    strict=False => strict=True
        a last batch that is smaller raises an error, but it is allowed.
    later in zip(one, other, strict=False) => later in zip(one[:1], other, strict=False)
        only the first place is compared, but each place must go forward.
    later in zip(one, other, strict=False) => \
    later in zip(one[1:], other[1:], strict=False)
        the first place is not compared.
    pairwise(batches) => pairwise(batches[:-1])
        the last batch is not looked at.
    for earlier, later in zip(one, other, strict=False) => \
    for earlier in one for later in other
        each place is compared with *every* place of the next batch.
    one, other in pairwise(batches) => one in batches ; \
    in zip(one, other, strict=False) => in pairwise(one)
        places *within* a batch are compared: compare batches.
""")


@goes_forward.right_way("""
    <= batches[number - 1][place] => < batches[number - 1][place]
        a place that stands still…
    <= batches[number - 1][place] => >= batches[number - 1][place]
        this asks whether each place goes *back*.
    <= batches[number - 1][place] => <= batches[0][place]
        each batch is compared with the first, but a place may also go back later.
    range(1, len(batches)) => range(len(batches))
        the first batch is compared with the *last*, because that is `batches[-1]`.
    range(len(batches[number])) => range(len(batches[0]))
        the last batch is taken to be as large as the others, but it may be smaller.
    range(len(batches[number])) => range(1)
        only the first place is…
    return True => pass
        where nothing goes back, the function returns nothing: return `True`.
""")
def as_two_loops(batches):
    for number in range(1, len(batches)):
        for place in range(len(batches[number])):
            if batches[number][place] <= batches[number - 1][place]:
                return False
    return True


goes_forward.answers("""
    all(a < b for track in zip(*batches) for a, b in pairwise(track))
    all(list(track) == sorted(track) for track in zip(*batches))
        `zip(*batches)` ends with the smallest batch: places beyond it are not compared.
    all(a < b for a, b in pairwise([s for batch in batches for s in batch]))
        all starts are compared in one list, but each place has a track of its own.
    sorted(s for batch in batches for s in batch) == [s for b in batches for s in b]
        all starts are compared in one list, and standing still passes.
    all(a < b for a, b in pairwise(batches))
    batches == sorted(batches)
        lists are compared as a whole, so the first places that differ decide.
    batches[1][0] > batches[0][0] if len(batches) > 1 else True
        only the first two starts are compared: does the loop end in its first round?
    all(sum(a) < sum(b) for a, b in pairwise(batches))
        sums are compared: one place may go back while another makes up for it.
    all(a < b for a, b in zip(batches[0], batches[-1])) if len(batches) > 1 else True
    all(a < b for a, b in zip(batches[0], batches[1])) if len(batches) > 1 else True
    all(a < b for a, b in zip(batches[-2], batches[-1])) if len(batches) > 1 else True
        only two of the batches are compared.
    all(a[-1] < b[-1] for a, b in pairwise(batches))
        only the last place of each batch is compared.
    [a < b for x, y in pairwise(batches) for a, b in zip(x, y)][-1] if batches[1:] \
    else True
        the last comparison alone decides, because it overwrites those before.
""")


# How many neighbors tell a place?


def _streams(random: Random) -> Iterator[Case]:
    yield from (([],), ([5],), ([5, 5],), ([1, 2],), ([1, 2, 1],), ([3, 3, 3],))
    yield from (([1, 2, 3],), ([1, 2, 2, 1],), ([1, 2, 1, 2],), ([0, 0, 0, 0],))
    yield from (([1, 2, 3, 1, 2],), ([1, 1, 2, 1, 1],), ([2, 1, 2, 2, 1],))
    yield from (([1, 2, 1, 2, 1],), ([4, 0, 4, 1, 4],), ([1, 2, 3, 3, 2, 1],))
    yield from (([1, 2, 3, 1, 2, 3],), ([0, 1, 1, 0, 1, 0],), ([7, 8, 9, 6, 5],))
    yield from (([1, 2, 0, 2, 1],), ([1, 5, 2, 4, 3, 3],), ([11, 1, 1, 11],))
    yield from (([1, 2, 9, 1, 2, 8, 2],), ([0, 1, 2, 3, 0, 2, 1, 3],))
    for _ in range(12):
        alphabet = range(random.choice([2, 2, 3, 5]))
        ids = random.choices(alphabet, k=random.randrange(6, 16))
        copied = random.randrange(1, 5)
        yield (ids + ids[:copied] if random.random() < 0.5 else ids,)


@exercise(
    cases=_streams,
    hints=(
        "Try k = 1, 2, 3, … one after another. Which runs of k neighbors are there, "
        "and is one of them there twice?",
        "There are `len(ids) - k + 1` runs of k neighbors. As tuples they go into a "
        "set, which is smaller than the list if a run comes twice.",
    ),
)
def neighbors_needed(ids: list[int]) -> int:
    """Return the smallest k such that no k neighbors come at two places."""
    for k in range(1, len(ids)):
        runs = [tuple(ids[at : at + k]) for at in range(len(ids) - k + 1)]
        if len(set(runs)) == len(runs):
            return k
    return max(1, len(ids))


neighbors_needed.slips("""
    range(1, len(ids)) => range(2, len(ids))
        this begins with two neighbors, but one id alone may be enough.
    range(len(ids) - k + 1) => range(len(ids) - k)
        the last run is left out.
    range(len(ids) - k + 1) => range(0, len(ids) - k + 1, k)
        only every k-th run is looked at, but two places may also be closer together.
    tuple(ids[at : at + k]) => tuple(sorted(ids[at : at + k]))
        the order within a run is lost: 1, 2 and 2, 1 are different neighbors.
    tuple(ids[at : at + k]) => sum(ids[at : at + k])
        sums are compared, but different neighbors may have the same sum.
    tuple(ids[at : at + k]) => "".join(map(str, ids[at : at + k]))
        digits are joined without a gap, so that 11, 1 looks like 1, 11.
    ids[at : at + k] => ids[at : at + k + 1]
        one neighbor too few is returned, as if runs of k + 1 ids were those of k.
    ids[at : at + k] => ids[at:k]
        the slice ends at k, and not k after its start.
    len(set(runs)) == len(runs) => len(set(runs)) != len(runs)
        this looks for the smallest k with which a run *does* come twice.
    return k => return k - 1
        this is the largest k with which two places look alike: one more is needed.
    return k => return k + 1
        one neighbor more than needed is returned.
    return max(1, len(ids)) => return 1
    return max(1, len(ids)) => return -1
    return max(1, len(ids)) => return 0
    return max(1, len(ids)) => return None
        if all shorter runs come twice, the whole stream is needed, and without ids 1.
""")


@neighbors_needed.right_way("""
    k = 1 => k = 2
        this begins with two…
    range(len(ids) - k + 1) => range(len(ids) - k)
        the last run is…
    ids[at : at + k] => ids[at : at + k + 1]
        one neighbor too few…
    tuple(ids[at : at + k]) => tuple(sorted(ids[at : at + k]))
        the order within a run…
    return k => return k - 1
        this is the largest k…
    return k => return k + 1
        one neighbor more…
    seen.add(run) => seen = {run}
        each run is compared only with the one before, but twins may be far apart.
""")
def seen_before(ids):
    k = 1
    while True:
        seen = set()
        for at in range(len(ids) - k + 1):
            run = tuple(ids[at : at + k])
            if run in seen:
                break
            seen.add(run)
        else:
            return k
        k += 1


neighbors_needed.answers("""
    1 if len(set(ids)) == len(ids) else 2
        two neighbors may not be enough either: try 3, 4 and so on.
    max(Counter(ids).values(), default=1)
        this is how often the commonest id comes: how many *neighbors* tell a place?
    len(ids) - len(set(ids)) + 1
    len(ids) - len(set(ids))
    len(set(ids))
        this counts ids: how many *neighbors* tell a place?
""")


# What does a resumed loader get wrong?


def _resumed(random: Random) -> Iterator[Case]:
    yield from (([], []), ([0], [0]), ([0], []), ([], [0]), ([0], [4]), ([0], [0, 0]))
    yield from (([], [4, 4]), ([4, 4], []), ([4, 4], [4]), ([0, 4], [4, 0]))
    yield from (([0, 4], [0, 0]), ([4], [4, 4, 4]), ([8, 12], [0, 4, 8, 12]))
    yield from (([8, 12], [12]), ([8, 12, 16], [8, 8, 12]), ([4, 4, 8], [8, 4]))
    yield from (([4, 4, 8], [8, 8, 4, 0]), ([0, 4, 8], [12, 16, 20]))
    yield from (([0, 4, 8, 12], [4, 8, 12, 0]), ([0, 0, 4, 8], [8, 8, 8, 4]))
    yield from (([0, 4], [8, 8]), ([8, 8, 4, 4], [0]), ([0, 4, 8], [8, 12]))
    for _ in range(12):
        expected = [4 * random.randrange(7) for _ in range(random.randrange(2, 8))]
        got = [start for start in expected if random.random() < 0.7]
        got += [4 * random.randrange(9) for _ in range(random.randrange(5))]
        random.shuffle(got)
        yield expected, got


@exercise(
    cases=_resumed,
    hints=(
        "A window may come several times, so a set is not enough. How often is each "
        "window expected, and how often is it given?",
        "`Counter(a) - Counter(b)` keeps what `a` has more often, and `.total()` adds "
        "up how much more often.",
    ),
)
def resume_errors(expected: list[int], got: list[int]) -> tuple[int, int]:
    """Return how many windows are given too often, and how many are left out."""
    wanted, given = Counter(expected), Counter(got)
    return (given - wanted).total(), (wanted - given).total()


resume_errors.slips("""
    given - wanted => wanted - given ; wanted - given => given - wanted
        the two results are swapped.
    given - wanted => wanted - given
        both numbers are of what is left out.
    wanted - given => given - wanted
        both numbers are of what is given too often.
    (given - wanted).total(), => len(given - wanted),
        a window that is given twice too often counts only once in the first number.
    , (wanted - given).total() => , len(wanted - given)
        a window that is missing twice counts only once in the second number.
    Counter(expected), Counter(got) => Counter(set(expected)), Counter(set(got))
    Counter(expected), Counter(got) => Counter(expected), Counter(set(got))
    Counter(expected), Counter(got) => Counter(set(expected)), Counter(got)
        sets forget repeats, so a window that comes twice counts once.
""")


@resume_errors.right_way("""
    again, len(left) => len(left), again
        the two results are…
    left.remove(window) => pass
        a window that was given stays expected, so it is not missed when it comes again.
    left.remove(window) => left = [other for other in left if other != window]
        *all* windows like the given one are crossed off, but only one of them came.
    len(left) => len(set(left))
        a window that is missing twice…
    len(left) => len(expected)
        these are all expected windows: which are left when the given ones are taken?
    in left: => in expected:
        a window that comes more often than expected is looked for among *all*.
""")
def crossed_off(expected, got):
    left, again = list(expected), 0
    for window in got:
        if window in left:
            left.remove(window)
        else:
            again += 1
    return again, len(left)


resume_errors.answers("""
    (max(0, len(got) - len(expected)), max(0, len(expected) - len(got)))
    (len(got) - len(expected), len(expected) - len(got))
        only the *numbers* of windows are compared: which windows are they?
    (sum(a != b for a, b in zip(expected, got)),) * 2
        the lists are compared place by place, but the order of the windows is free.
    (sum(w not in expected for w in got), sum(w not in got for w in expected))
        a window that is expected once and given twice is not seen: count how often.
    (sum(w not in expected for w in got), (Counter(expected) - Counter(got)).total())
        a window that is given too often is looked for among *all* that are expected.
    (len(got) - len(set(got)), (Counter(expected) - Counter(got)).total())
    (len(got) - len(set(got)), sum(w not in got for w in expected))
    (sum(n > 1 for n in Counter(got).values()), sum(w not in got for w in expected))
    (len(got) - len(set(got)), len(set(expected) - set(got)))
        repeats within `got` are counted, whatever is expected.
    (sum(w in expected for w in got), sum(w not in got for w in expected))
    (len(set(got) & set(expected)), len(set(expected) - set(got)))
        the first number counts windows that are given as they should be.
""")


# Which windows do ranks share?


def _ranks(random: Random) -> Iterator[Case]:
    yield from (([[]],), ([[0]],), ([[0, 0]],), ([[], []],), ([[0], []],))
    yield from (([[0], [0]],), ([[0], [4]],), ([[0, 0], [4]],), ([[0, 4], [4, 0]],))
    yield from (([[4, 4], [4]],), ([[0], [0], [0]],), ([[0], [4], [0]],))
    yield from (([[0, 4], [4, 8], [8, 0]],), ([[4, 0], [8], [0]],))
    yield from (([[0, 4, 8], [12, 16, 20]],), ([[0, 0], [0, 0]],))
    yield from (([[0, 4], [8, 4], [12, 4]],), ([[0, 4], [0, 4], [0, 4]],))
    yield from (([[8, 8], [4, 4], [0, 4]],), ([[4], [0], [8], [4]],), [[4], [4], [8]])
    yield from (([[0], [4, 8], [8, 12]],), ([[0, 4, 8], [4], [4, 8], [20]],))
    for _ in range(12):
        windows = range(0, 4 * random.randrange(5, 15), 4)
        sizes = [random.randrange(2, 6) for _ in range(random.randrange(2, 5))]
        yield ([random.choices(windows, k=size) for size in sizes],)


@exercise(
    cases=_ranks,
    hints=(
        "How many *ranks* read a window? A rank that reads it twice is one rank, so "
        "make a set of each rank first.",
        "Count the windows of all these sets in one `Counter`. Which counts are above "
        "1?",
    ),
)
def shared_windows(ranks: list[list[int]]) -> int:
    """Return how many windows are read by more than one rank."""
    readers = Counter(window for rank in ranks for window in set(rank))
    return sum(count > 1 for count in readers.values())


shared_windows.slips("""
    set(rank) => rank
        a window that one rank reads twice is taken for shared.
    count > 1 for => count >= 1 for
        all windows are counted: how many have more than one rank?
    count > 1 for => count == 2 for
        windows of three or more ranks are left out, but they are shared as well.
    count > 1 for => count == len(ranks) for
        only windows that *all* ranks read are counted: two ranks are enough.
    count > 1 for => count - 1 for
        a window of three ranks counts twice, but it is one window.
    count > 1 for count in readers.values() => count for count in readers.values() \
    if count > 1
        this adds up how many ranks read each shared window: count each window once.
""")


@shared_windows.right_way("""
    shared |= seen => shared = seen
        what earlier ranks share is overwritten.
    seen & set(rank) => seen | set(rank)
        all windows are counted…
    seen |= set(rank) => seen = set(rank)
        each rank is compared only with the one before it.
    return len(shared) => return len(seen)
        all windows are counted…
""")
def seen_by_earlier_ranks(ranks):
    seen, shared = set(), set()
    for rank in ranks:
        shared |= seen & set(rank)
        seen |= set(rank)
    return len(shared)


shared_windows.answers("""
    sum(len(set(a) & set(b)) for i, a in enumerate(ranks) for b in ranks[:i])
        each *pair* of ranks counts, so a window of three ranks counts three times.
    len([w for rank in ranks for w in rank if sum(w in each for each in ranks) > 1])
        each reading of a shared window counts: count each window once.
    len({w for w in ranks[0] for rank in ranks[1:] if w in rank})
        only windows of the first rank are looked at.
    sum(len(set(a) & set(b)) for a, b in pairwise(ranks))
        only neighboring ranks are compared, and shared windows counted for each pair.
    len(set(ranks[0]) & set(ranks[-1])) if len(ranks) > 1 else 0
    len(set(ranks[0]) & set(ranks[1])) if len(ranks) > 1 else 0
        only two of the ranks are compared.
    sum(map(len, ranks)) - len({w for rank in ranks for w in rank})
        all readings after the first are counted, also those by the same rank.
    len({w for rank in ranks for w in rank if rank.count(w) > 1})
        these windows come twice in *one* rank: which are in several?
""")


# Loaders with just one finding. Many answers are right, so we look at the audit.


def _findings(
    answer: Callable, given: Iterable, make_loader: Callable, **options: object
) -> tuple[object, str]:
    """Return findings with their counts and how many documents are entered, and the
    same in words."""
    if answer(*given) is None:
        return None, ""
    try:
        audit = audit_loader(make_loader, **options)
    except LoaderError as error:
        raise error.__cause__ from None
    except (TypeError, ValueError) as error:
        return [f"no audit: {error}"], f"the audit cannot read it. {_sentence(error)}"
    found = [f"{finding.name} ({finding.count})" for finding in audit.findings]
    said = [f"`{f.name}` ({f.count}): {_sentence(f.evidence)}" for f in audit.findings]
    starts = np.cumsum(options.get("document_lengths", [0]))[:-1]
    if entered := np.count_nonzero(audit.ledger.as_target[starts]):
        found.append(f"documents entered from another: {entered}")
        said.append(f"Documents that are entered from another: {entered}.")
    unread = np.flatnonzero(audit.ledger.as_target == 0)
    unread = np.setdiff1d(unread, [0, *starts])
    if len(unread) and not any(f.name == "lost" for f in audit.findings):
        few = ", ".join(map(str, unread[:4])) + (", ..." if len(unread) > 4 else "")
        said.append(f"Never a target: {few}, of which the last may be a tail.")
    if audit.shift != 1:  # then the counts say nothing
        found = [f"shift: {audit.shift}"]
    return found, " ".join(["the audit finds", *(said or ["nothing."])])


def _sentence(said: object) -> str:
    words = str(said).rstrip(".").replace("make_loader(ids)", "the loader")
    return f"{words[0].upper()}{words[1:]}."


def _lost(answer: Callable, ids: list[int]) -> tuple[object, str]:
    def make_loader(ids: np.ndarray) -> Iterable:
        return answer(ids.tolist())

    found, said = _findings(answer, [ids], make_loader, num_tokens=len(ids))
    if found == [] and len(list(answer(ids))) == 1:
        why = "another order could have dropped that"
        return [
            "one batch"
        ], f"of one batch, no audit judges what it leaves out: {why}."
    return found, said


@exercise(
    cases=lambda random: [
        (list(range(1_000, 1_000 + num_tokens)),)
        for num_tokens in (30, 31, 32, 33, 34, 35, 36, 37, 40, 41, 53, 64)
    ],
    hints=(
        "Begin with windows that follow one another, which lose nothing. What happens "
        "if all windows after the first one begin one place later?",
        "With T = 4, the windows begin at 0, 5, 9, 13, … Which token is never a "
        "target now? A tail of fewer than 4 tokens does not count.",
    ),
    observe=_lost,
)
def just_lost(ids: list[int]) -> list[tuple[list, list]]:
    """Return batches of pairs that lose one token, and do nothing else wrong."""
    starts = [0, *range(5, len(ids) - 4, 4)]
    return [([ids[s : s + 4]], [ids[s + 1 : s + 5]]) for s in starts]


just_lost.slips("""
    [0, *range(5, len(ids) - 4, 4)] => range(0, len(ids) - 4, 4)
        nothing is lost, or only a short tail at the end, which does not count.
    [0, *range(5, len(ids) - 4, 4)] => range(0, len(ids) - 4, 5)
        a token is lost after *each* window, but only one should be.
    [0, *range(5, len(ids) - 4, 4)] => [0, *range(8, len(ids) - 4, 4)]
        a whole window is left out, which loses four tokens.
    [0, *range(5, len(ids) - 4, 4)] => [0]
        all tokens after the first window are lost.
    ids[s + 1 : s + 5] => ids[s : s + 4]
        targets are the inputs themselves: they must be one token ahead.
    ids[s + 1 : s + 5] => ids[s + 2 : s + 6]
    len(ids) - 4 => len(ids) - 5 ; ids[s + 1 : s + 5] => ids[s + 2 : s + 6]
        targets are two tokens ahead of their inputs.
    [ids[s + 1 : s + 5]] => [ids[s + 1 : s + 4]]
        a row has fewer targets than inputs.
    ([ids[s : s + 4]], [ids[s + 1 : s + 5]]) => [ids[s : s + 5]]
        a batch must be a pair, inputs and targets, and all batches come in one list.
    ([ids[s : s + 4]], [ids[s + 1 : s + 5]]) => ([s], [s + 1])
        the batches hold *positions*: they must hold the ids that the loader was given.
""")


@just_lost.right_way("""
    if place == 6: => if place == len(ids):
        nothing is lost, or…
    if place == 6: => if place in (6, 7):
        two tokens are lost, but only one should be.
    if place == 6: => if place % 6 == 0:
        every sixth target is left out, but only one token should be lost.
    ids[place : place + 1] => ids[place - 1 : place]
        targets are the inputs…
    ids[place - 1 : place], ids[place : place + 1] => \
    ids[place : place + 1], ids[place - 1 : place]
        inputs and targets are swapped.
    continue => break
        the loader ends at the lost token, so all others after it are also lost.
""")
def windows_of_one_token(ids):
    batches = []
    for place in range(1, len(ids)):
        if place == 6:
            continue
        batches.append((ids[place - 1 : place], ids[place : place + 1]))
    return batches


def _crosses(
    answer: Callable, ids: list[int], document_starts: list[int]
) -> tuple[object, str]:
    def make_loader(ids: np.ndarray, document_starts: np.ndarray) -> Iterable:
        return answer(ids.tolist(), document_starts.tolist())

    lengths = np.diff([*document_starts, len(ids)])
    given = [ids, document_starts]
    found, said = _findings(answer, given, make_loader, document_lengths=lengths)
    if isinstance(found, list) and len(found) == 2 and (odd := _odd(answer(*given))):
        return [*found, odd], f"{said} But {odd}."
    return found, said


def _odd(batches: Iterable) -> str:
    """Say what rows do that an audit accepts, because some loaders mean it."""
    seen: set[int] = set()
    for inputs, targets in batches:
        if len(set(map(len, inputs))) > 1:
            return "rows of different lengths are in one batch"
        for row, ahead in zip(inputs, targets, strict=True):
            if list(row) != list(range(row[0], row[0] + len(row))):
                return f"a row is no piece of the stream: {list(row)}"
            if again := seen & set(ahead):
                return f"id {min(again)} is a target twice"
            seen |= set(ahead)
    return ""


def _documents(random: Random) -> Iterator[Case]:
    for count in (2, 2, 3, 3, 4, 4, 5, 5, 6, 7):
        starts = [0]
        for _ in range(count):
            starts.append(starts[-1] + random.randrange(3, 9))
        yield list(range(1_000, 1_000 + starts[-1])), starts[:-1]


@exercise(
    cases=_documents,
    hints=(
        "First write a loader without any finding: a batch for each document, with one "
        "row that holds all of it. Then let one of the rows hold two documents.",
        "Cut the ids at all starts but that of the second document. A piece from a to "
        "b has the inputs from a to b - 1, and the targets from a + 1 to b.",
    ),
    observe=_crosses,
)
def just_crosses(ids: list[int], document_starts: list[int]) -> list[tuple[list, list]]:
    """Return batches of pairs that enter one document from another."""
    cuts = [0, *document_starts[2:], len(ids)]
    return [([ids[a : b - 1]], [ids[a + 1 : b]]) for a, b in pairwise(cuts)]


just_crosses.slips("""
    document_starts[2:] => document_starts[1:]
        no row crosses: each of them holds one document.
    document_starts[2:] => document_starts[3:]
        a row holds three documents, so two of them are entered.
    [0, *document_starts[2:], len(ids)] => [0, len(ids)]
        one row holds all documents, and enters each of them after the first.
    [0, *document_starts[2:], len(ids)] => [0, *document_starts[2:]]
        the last document is left out.
    [0, *document_starts[2:], len(ids)] => [*document_starts[1:], len(ids)]
        the first document is left out, so its tokens are lost.
    ids[a : b - 1] => ids[a:b]
        a row has one more input than targets.
    ids[a + 1 : b] => ids[a : b - 1]
        targets are the inputs themselves: they must be one token ahead.
    ids[a : b - 1] => ids[a : b - 2] ; ids[a + 1 : b] => ids[a + 2 : b]
        targets are two tokens ahead of their inputs.
    ids[a : b - 1] => ids[a + 1 : b] ; [ids[a + 1 : b]] => [ids[a : b - 1]]
        inputs and targets are swapped.
    ids[a : b - 1] => ids[a : b - 2] ; ids[a + 1 : b] => ids[a + 1 : b - 1]
        the last token of each row is never a target.
    ([ids[a : b - 1]], [ids[a + 1 : b]]) for => [ids[a:b]] for
        a batch must be a pair, inputs and targets, and all batches come in one list.
""")


@just_crosses.right_way("""
    document_starts[1:-1] => document_starts[1:]
        no row crosses…
    document_starts[1:-1] => document_starts[1:-2]
        a row holds three documents, so two of them are entered.
    document_starts[1:-1] => document_starts[:-1]
        document 0 is cut at its own start, which makes a row without ids.
    ids[begin : end - 1] => ids[begin:end]
        a row has one more input…
""")
def last_two_together(ids, document_starts):
    batches, begin = [], 0
    for end in [*document_starts[1:-1], len(ids)]:
        batches.append(([ids[begin : end - 1]], [ids[begin + 1 : end]]))
        begin = end
    return batches


# Bugs, and things that only look like bugs


def _pairs(ids: list[int], starts: Iterable[int], length: int, size: int) -> Iterator:
    """Yield batches of `size` windows of `length` tokens, as pairs of lists."""
    starts = list(starts)
    for at in range(0, len(starts), size):
        rows = [ids[s : s + length + 1] for s in starts[at : at + size]]
        yield [row[:-1] for row in rows], [row[1:] for row in rows]


def as_it_was_written(text: str, vocabulary: str) -> str:
    return text


@bug_or_not(
    purpose=(
        "A tokenizer gives each character of a text its place among all characters of "
        "the text, sorted. A loader cuts these ids into windows, and an audit of the "
        "loader is clean. The model has the `vocabulary`, where id i is the i-th "
        "character. The function returns what the model takes the text for, and that "
        "should be the text."
    ),
    reference=as_it_was_written,
    cases=lambda random: [
        (text, vocabulary)
        for text in ("abba", "cab", "a bad cab", "bed")
        for vocabulary in ("abc", " abcd", "abcde")
        if set(text) <= set(vocabulary)
    ],
    explanation=(
        "The ids count the characters of *this text*. If it lacks a character of the "
        "vocabulary, the model takes later ones for others. An audit cannot see it, "
        "because it hands out ids of its own and asks only where they go. To find it, "
        "decode a batch with the model's vocabulary and read it, or keep a checksum of "
        "the tokenizer beside the ids, and compare."
    ),
)
def wrong_tokenizer(text: str, vocabulary: str) -> str:
    places = {char: place for place, char in enumerate(sorted(set(text)))}
    ids = [places[char] for char in text]
    return "".join(vocabulary[id_] for id_ in ids)


def what_an_audit_says(dtype: str) -> str:
    def make_loader(ids: np.ndarray) -> Iterator:
        file = ids.astype("<u2").tobytes()  # as it is on the disk
        read = np.frombuffer(file, dtype).astype(int).tolist()
        return _pairs(read, range(0, len(read) - 8, 8), 8, 1)

    try:
        clean = audit_loader(make_loader, num_tokens=200).clean
    except ValueError:
        clean = False
    return "clean" if clean else "not clean"


@true_or_false(
    claim=(
        "A loader writes its ids into a file as unsigned 16-bit numbers, the lower "
        "byte first, and reads them as another `dtype`: as bytes, as 32-bit numbers, "
        "or with the higher byte first. Every number that it reads is a fine integer. "
        "An audit of this loader is *not clean*, or it stops with an error."
    ),
    reference=what_an_audit_says,
    cases=lambda random: [(dtype,) for dtype in ("u1", "i1", ">u2", "<u4", ">i4")],
    explanation=(
        "This loader writes the ids of the audit, and what it reads back are other "
        "numbers, most of which were never handed out. If it were given a file from "
        "elsewhere, nobody could audit it in this way. With `<i2`, signed numbers, an "
        "audit of 4,000 tokens is clean, because they differ only from 32,768 on."
    ),
)
def half_the_words(dtype: str) -> str:
    return "not clean"


def nothing_is_left(num_windows: int, num_epochs: int, seed: int) -> int:
    return 0


@bug_or_not(
    purpose=(
        "An epoch draws as many windows as there are, at random *with* replacement. An "
        "audit of one epoch finds that 37 % of the tokens are lost. But the run has 20 "
        "epochs or more, and in a whole run every window should be read. The function "
        "returns how many windows are never read."
    ),
    reference=nothing_is_left,
    cases=lambda random: [
        (num_windows, num_epochs, seed)
        for num_windows in (10, 100, 1_000)
        for num_epochs in (20, 40)
        for seed in (0, 1, 2)
    ],
    explanation=(
        "A draw misses a given window with the probability 1 - 1/n, and n draws miss "
        "it with about 1/e, which is 0.37. The finding of the audit is true, but it "
        "is said of *one* epoch. The next epoch draws others, and after 20 epochs a "
        "window is missed with the probability 0.37 ** 20, two in a billion. So this "
        "is a choice and no bug, if you know that an epoch is not one reading. In a "
        "run of one epoch, a third of the text that you paid for would not be read."
    ),
)
def with_replacement(num_windows: int, num_epochs: int, seed: int) -> int:
    rng = np.random.default_rng(seed)
    read = set()
    for _ in range(num_epochs):
        read |= set(rng.integers(num_windows, size=num_windows).tolist())
    return num_windows - len(read)


def findings_of_two_ranks(seeds: str) -> list[str]:
    def make_loader(ids: np.ndarray, rank: int, world_size: int) -> Iterator:
        starts = list(range(0, len(ids) - 8, 8))
        Random(rank if seeds == "one for each rank" else 7).shuffle(starts)
        return _pairs(ids.tolist(), sorted(starts[rank::world_size]), 8, 1)

    assert audit_loader(make_loader, num_tokens=193).clean
    return list(audit_loader(make_loader, num_tokens=193, world_size=2).names)


@true_or_false(
    claim=(
        "Each rank shuffles the list of all windows, with the same seed or with one "
        "for each rank, and reads every `world_size`-th of them. An audit with one "
        "rank is clean. So an audit with two ranks is clean too. The calls return its "
        "findings."
    ),
    reference=findings_of_two_ranks,
    cases=lambda random: [("one for all",), ("one for each rank",)],
    explanation=(
        "One rank reads every window, in whichever order. But two ranks cut slices "
        "from two *different* lists, so some windows are in both slices, and others "
        "in none. Each rank alone still looks right. TinyLlama's loader did this with "
        "its files until October 2023, when a reader of the code asked about it. Audit "
        "with as many ranks as you train with, or with two at least."
    ),
)
def one_rank_is_enough(seeds: str) -> list[str]:
    return []


FILES = {
    "novel": "once upon a time there was ",
    "letters": "item 4 item 9 total 13 paid ",  # of the invoices: a path is wrong
}


def text_of_the_source(source: str) -> str:
    def make_loader(ids: Iterable) -> Iterator:
        ids = list(ids)
        return _pairs(ids, range(0, len(ids) - 8, 8), 8, 1)

    assert audit_loader(make_loader, num_tokens=201).clean
    (inputs, _), *_ = make_loader(FILES[source])
    return "".join(inputs[0])


@true_or_false(
    claim=(
        "A loader reads the source that a table of paths names, and an audit of it is "
        "clean. So the model learns from the text that we think it learns from. The "
        "calls ask for a source, and return the first row of what comes. The letters "
        'begin with "dear sir".'
    ),
    reference=text_of_the_source,
    cases=lambda random: [("novel",), ("letters",)],
    explanation=(
        "The table has the path of the invoices where the letters should be. An audit "
        "feeds the loader positions instead of text, so it never opens that file. It "
        "says that the loader hands on faithfully whatever it is given. What that is, "
        "you have to look at: decode a few rows of every source, and read them."
    ),
)
def clean_means_right(source: str) -> str:
    return {"novel": "once upo", "letters": "dear sir"}[source]


def equal_steps_for_all(num_windows: int, world_size: int) -> tuple[list[int], int]:
    return [-(-num_windows // world_size)] * world_size, 0


@bug_or_not(
    purpose=(
        "In each step, ranks wait for one another, so all of them must make equally "
        "many steps. Every window is to be read, even if their number cannot be "
        "divided by the number of ranks. An audit finds that ranks share a window or "
        "two. The function returns the steps of each rank, and how many windows "
        "nobody reads."
    ),
    reference=equal_steps_for_all,
    cases=lambda random: [
        (num_windows, world_size)
        for num_windows in (3, 4, 7, 12, 13, 30)
        for world_size in (1, 2, 3, 4)
    ],
    explanation=(
        "`DistributedSampler` fills up the last step with windows from the beginning, "
        "which are then read twice in an epoch. The alternatives are worse: with "
        "unequal steps one rank waits forever, and `drop_last=True` leaves windows "
        "unread. So `ranks_overlap` is by design here, as long as it counts the "
        "tokens of fewer windows than there are ranks. In an *evaluation*, however, "
        "these windows would count twice."
    ),
)
def even_batches(num_windows: int, world_size: int) -> tuple[list[int], int]:
    from torch.utils.data import DistributedSampler

    windows = range(num_windows)
    ranks = [
        list(DistributedSampler(windows, world_size, r)) for r in range(world_size)
    ]
    unread = set(windows).difference(*ranks)
    return [len(rank) for rank in ranks], len(unread)


# With other numbers by seed.

# Findings, each beside its opposite, and the words of the reports that have it.
SIGNS = {
    "lost": ("1 rank,", "never a target"),
    "repeated": ("1 rank,", "and again in"),
    "ranks_lose": ("2 ranks,", "never a target"),
    "ranks_overlap": ("2 ranks,", "one rank alone reads it"),
    "same_order": ("both begin",),
    "not_repeatable": ("after an equal call",),
}


def _planted(rng: Random) -> dict[str, object]:
    """Audit a loader with one bug, and give all findings codes."""
    name, seed = rng.choice(list(SIGNS)), rng.random()
    length, size = rng.randrange(4, 10), rng.randrange(2, 5)
    num_tokens = length * size * 4 * rng.randrange(2, 4) + 1
    calls = itertools.count()

    def make_loader(ids: np.ndarray, epoch: int, rank: int) -> Iterator:
        draws = {"same_order": 0, "not_repeatable": next(calls)}.get(name, epoch)
        starts = list(range(0, num_tokens - 1, length))
        Random(f"{seed} {draws}").shuffle(starts)
        half = len(starts) // 2
        if name in ("lost", "ranks_lose"):
            starts = [start for start in starts if start % (3 * length)]
        if name == "ranks_lose":
            starts = starts[rank::2]
        if name == "ranks_overlap":
            starts = starts[rank * (half - size) :][: half + size]
        if name == "repeated":
            starts += starts[:size]
        return _pairs(ids.tolist(), starts, length, size)

    ranks = 1 + name.startswith("ranks")
    audit = audit_loader(make_loader, num_tokens=num_tokens, world_size=ranks)
    (found,) = audit.findings
    names = rng.sample(list(SIGNS), len(SIGNS))
    codes = zip(names, rng.sample(range(100, 1_000), len(names)), strict=True)
    return {
        "num_tokens": num_tokens,
        "length": length,
        "size": size,
        "report": f"{ranks} rank{'s' * (ranks > 1)}, {found.evidence}",
        "codes": ", ".join(f"`{each}` {code}" for each, code in codes),
    }


def _code(report: str, codes: str, number: int = 0) -> int:
    """Return the code of the finding of a report; `number` 1 is that of its opposite,
    and 2 to 5 are those of all others."""
    (right,) = (i for i, s in enumerate(SIGNS.values()) if all(w in report for w in s))
    place = (right ^ number % 2) + number // 2 * 2
    name = list(SIGNS)[place % len(SIGNS)]
    return int(codes.partition(f"`{name}` ")[2][:3])


@numbers(
    ask="A loader with one bug makes batches of {size} rows, {length} tokens each, "
    "from a stream of {num_tokens} tokens. This is what its audit prints, without the "
    "name of the finding: *{report}.* Which finding is it? Answer with its code: "
    "{codes}.",
    draw=_planted,
    hints=(
        "What was compared: an epoch with the stream, two epochs, two equal calls, or "
        "two ranks?",
        "Is something read twice, or not at all?",
    ),
)
def code_of_finding(
    num_tokens: int, length: int, size: int, report: str, codes: str
) -> int:
    return _code(report, codes)


code_of_finding.answers("""
    _code(report, codes, 1)
        the right things were compared, but the report says something else of them.
    _code(report, codes, 2)
    _code(report, codes, 3)
    _code(report, codes, 4)
    _code(report, codes, 5)
        this finding compares other things: an epoch, two epochs, two calls, or ranks?
""")


@numbers(
    ask="A text of {num_tokens:,} tokens is cut into rows of {length} tokens that "
    "follow one another, and an incomplete row is left out. Batches hold {size} rows, "
    "and so is an incomplete batch. Labels stand where inputs stand, "
    "and the model shifts them, so nothing predicts the first token of a row. How "
    "many tokens are never a target in an epoch, apart from token 0?",
    draw=lambda rng: {
        "num_tokens": rng.randrange(50_000, 200_000),
        "length": rng.randrange(100, 600),
        "size": rng.randrange(8, 40),
    },
    hints=(
        "How many batches are there, and how many targets are there in each of them?",
        "A row of T tokens has T - 1 targets.",
    ),
)
def never_a_target(num_tokens: int, length: int, size: int) -> int:
    rows = num_tokens // length // size * size
    return num_tokens - 1 - rows * (length - 1)


never_a_target.answers("""
    num_tokens - num_tokens // length // size * size * (length - 1)
        token 0 is counted, but nothing could predict it.
    num_tokens - 1 - num_tokens // length // size * size * length
        each row is taken to have T targets: the model shifts, so it has T - 1.
    num_tokens - 1 - num_tokens // length * (length - 1)
        rows of the incomplete batch are counted as if they were read.
    num_tokens // length // size * size - 1
        these are the first tokens of the rows: what is left out at the end?
    num_tokens // length // size * size * (length - 1)
        these are the tokens that *are* targets.
    num_tokens % (length * size)
        this is what is left out at the end: what do the rows lose?
""")
