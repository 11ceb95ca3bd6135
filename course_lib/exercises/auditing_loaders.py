"""Exercises of lesson 14: lost tokens, neighbors, resumed runs, ranks, and a loader
with just one finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from random import Random

import numpy as np

from course_lib.auditing_loaders import LoaderError, audit_loader
from course_lib.teaching.checker import Case, bug_or_not, exercise, true_or_false

# How many tokens are lost?


def _windows(random: Random) -> Iterator[Case]:
    yield from (([], 1, 1), ([], 5, 2), ([0], 2, 1), ([0], 3, 1), ([0], 3, 2))
    yield from (([1], 4, 2), ([2], 4, 1), ([0, 0], 5, 2), ([0, 1], 4, 2))
    yield from (([0, 2], 5, 2), ([0, 3], 6, 2), ([2, 0], 7, 2), ([0, 4], 9, 3))
    yield from (([3], 9, 3), ([0, 3, 6], 10, 3), ([0, 3, 6], 12, 3))
    yield from (([6, 0, 3, 3], 11, 3), ([1, 4], 9, 4), ([5, 1], 12, 4))
    for _ in range(10):
        num_tokens, length = random.randrange(20, 50), random.randrange(2, 8)
        starts = random.choices(range(num_tokens - length), k=random.randrange(2, 7))
        yield starts, num_tokens, length


@exercise(
    cases=_windows,
    hints=(
        "Which tokens are targets of the window at s? Windows may overlap, so collect "
        "the targets of all windows in a set.",
        "All tokens but token 0 could be targets. Subtract the number of different "
        "tokens that are.",
    ),
)
def count_lost(starts: list[int], num_tokens: int, context_length: int) -> int:
    """Return how many tokens are never a target, apart from token 0."""
    steps = range(1, context_length + 1)
    targets = {start + step for start in starts for step in steps}
    return num_tokens - 1 - len(targets)


count_lost.mistake(
    "you count a target once for each window that has it, but windows may overlap, or "
    "even be the same.",
    lambda starts, N, T: N - 1 - len(starts) * T,
    lambda starts, N, T: max(0, N - 1 - len(starts) * T),
    lambda starts, N, T: N - 1 - len(set(starts)) * T,
)
count_lost.mistake(
    "you take the wrong ids for targets. A window at s has T of them, from s + 1 to s "
    "+ T.",
    lambda starts, N, T: N - 1 - len({s + k for s in starts for k in range(1, T)}),
    lambda starts, N, T: N - 1 - len({s + k for s in starts for k in range(T + 1)}),
)
count_lost.mistake(
    "you count token 0, too, but no window could have it as a target.",
    lambda starts, N, T: count_lost(starts, N, T) + 1,
)
count_lost.mistake(
    "you count the tokens that *are* targets, not those that never are.",
    lambda starts, N, T: N - 1 - count_lost(starts, N, T),
)
count_lost.mistake(
    "you count only what lies after the last window, and miss the tokens lost before "
    "the first one and between two.",
    lambda starts, N, T: N - 1 - max((s + T for s in starts), default=0),
)
count_lost.mistake(
    "you assume that the windows follow one another. `starts` says where they really "
    "are.",
    lambda starts, N, T: (N - 1) % T,
    lambda starts, N, T: N % T,
)


# How many neighbors tell a place?


def _streams(random: Random) -> Iterator[Case]:
    yield from (([],), ([5],), ([5, 5],), ([1, 2],), ([1, 2, 1],), ([3, 3, 3],))
    yield from (([1, 2, 3],), ([1, 2, 2, 1],), ([1, 2, 1, 2],), ([0, 0, 0, 0],))
    yield from (([1, 2, 3, 1, 2],), ([1, 1, 2, 1, 1],), ([2, 1, 2, 2, 1],))
    yield from (([1, 2, 1, 2, 1],), ([4, 0, 4, 1, 4],), ([1, 2, 3, 3, 2, 1],))
    yield from (([7, 8, 9, 6, 5],), ([11, 1, 1, 11],), ([0, 1, 2, 3, 0, 2, 1, 3],))
    for _ in range(12):
        alphabet = range(random.choice([2, 2, 3, 5]))
        ids = random.choices(alphabet, k=random.randrange(6, 16))
        copied = random.randrange(1, 5)
        yield (ids + ids[:copied] if random.random() < 0.5 else ids,)


@exercise(
    cases=_streams,
    hints=(
        "Try k = 1, 2, 3, … one after another. Which runs of k neighbors are there, "
        "and does one of them occur twice?",
        "There are `len(ids) - k + 1` runs of k neighbors. Put them into a set, as "
        "tuples. If a run occurs twice, the set is smaller than the list.",
    ),
)
def neighbors_needed(ids: list[int]) -> int:
    """Return the smallest k such that no k neighbors come at two places."""
    for k in range(1, len(ids)):
        runs = [tuple(ids[at : at + k]) for at in range(len(ids) - k + 1)]
        if len(set(runs)) == len(runs):
            return k
    return max(1, len(ids))


def _first_k(ids: list[int], runs_of: Callable) -> int:
    for k in range(1, len(ids)):
        if len(set(runs := runs_of(k))) == len(runs):
            return k
    return max(1, len(ids))


neighbors_needed.mistake(
    "you stop at two neighbors, which needn't be enough either. Try 3, 4 and so on.",
    lambda ids: 1 if len(set(ids)) == len(ids) else 2,
)
neighbors_needed.mistake(
    "you lose the order of the neighbors, but 1, 2 isn't the same as 2, 1.",
    lambda ids: _first_k(
        ids,
        lambda k: [tuple(sorted(ids[i : i + k])) for i in range(len(ids) - k + 1)],
    ),
    lambda ids: _first_k(
        ids, lambda k: [sum(ids[i : i + k]) for i in range(len(ids) - k + 1)]
    ),
)
neighbors_needed.mistake(
    "you leave out the last run: a stream of n ids has n - k + 1 runs of k.",
    lambda ids: _first_k(
        ids, lambda k: [tuple(ids[i : i + k]) for i in range(len(ids) - k)]
    ),
)
neighbors_needed.mistake(
    "you look at every k-th run only, but a run may begin at any place.",
    lambda ids: _first_k(
        ids, lambda k: [tuple(ids[i : i + k]) for i in range(0, len(ids) - k + 1, k)]
    ),
)
neighbors_needed.mistake(
    "you stop one short. This is the largest k with which two places still look alike.",
    lambda ids: neighbors_needed(ids) - 1,
)
neighbors_needed.mistake(
    "you count ids, but the question is how many *neighbors* it takes to tell a place.",
    lambda ids: max(Counter(ids).values(), default=1),
    lambda ids: max(Counter(ids).values(), default=0),
    lambda ids: len(ids) - len(set(ids)) + 1,
    lambda ids: len(set(ids)),
)


# What does a resumed loader get wrong?


def _resumed(random: Random) -> Iterator[Case]:
    yield from (([], []), ([0], [0]), ([0], []), ([], [0]), ([0], [4]), ([0], [0, 0]))
    yield from (([], [4, 4]), ([4, 4], []), ([4, 4], [4]), ([0, 4], [4, 0]))
    yield from (([0, 4], [0, 0]), ([4], [4, 4, 4]), ([8, 12], [0, 4, 8, 12]))
    yield from (([8, 12], [12]), ([8, 12, 16], [8, 8, 12]), ([4, 4, 8], [8, 4]))
    for _ in range(12):
        expected = [4 * random.randrange(7) for _ in range(random.randrange(2, 8))]
        got = [start for start in expected if random.random() < 0.7]
        got += [4 * random.randrange(9) for _ in range(random.randrange(5))]
        random.shuffle(got)
        yield expected, got


@exercise(
    cases=_resumed,
    hints=(
        "A window may come several times, so a set isn't enough. How often is each "
        "window expected, and how often is it given?",
        "`Counter(a) - Counter(b)` keeps what `a` has more often, and `.total()` adds "
        "up how much more often.",
    ),
)
def resume_errors(expected: list[int], got: list[int]) -> tuple[int, int]:
    """Return how many windows are given too often, and how many are left out."""
    wanted, given = Counter(expected), Counter(got)
    return (given - wanted).total(), (wanted - given).total()


resume_errors.mistake(
    "you ask whether a window is there, not how often. One that comes twice, and is "
    "expected once, comes once too often.",
    lambda expected, got: (
        len(set(got) - set(expected)),
        len(set(expected) - set(got)),
    ),
    lambda expected, got: (
        sum(w not in expected for w in got),
        sum(w not in got for w in expected),
    ),
    lambda expected, got: (
        sum(w not in expected for w in got),
        resume_errors(expected, got)[1],
    ),
)
resume_errors.mistake(
    "you compare how many windows there are, but not *which* they are.",
    lambda expected, got: (
        max(0, len(got) - len(expected)),
        max(0, len(expected) - len(got)),
    ),
    lambda expected, got: (len(got) - len(expected), len(expected) - len(got)),
)
resume_errors.mistake(
    "you compare the lists place by place, but the windows may come in any order.",
    lambda expected, got: (
        sum(a != b for a, b in zip(expected, got, strict=False)),
        sum(a != b for a, b in zip(expected, got, strict=False)),
    ),
)
resume_errors.mistake(
    "you count repeats within `got`, although some of them may be expected.",
    lambda expected, got: (
        len(got) - len(set(got)),
        resume_errors(expected, got)[1],
    ),
    lambda expected, got: (
        len(got) - len(set(got)),
        sum(w not in got for w in expected),
    ),
    lambda expected, got: (
        len(got) - len(set(got)),
        len(set(expected) - set(got)),
    ),
)
resume_errors.mistake(
    "you count a window once even if it comes twice too often, or is left out twice. "
    "Count it twice then.",
    lambda expected, got: (
        len(Counter(got) - Counter(expected)),
        len(Counter(expected) - Counter(got)),
    ),
)
resume_errors.mistake(
    "you swap the two results. Windows given too often come first.",
    lambda expected, got: resume_errors(got, expected),
)


# Which windows do ranks share?


def _ranks(random: Random) -> Iterator[Case]:
    yield from (([[]],), ([[0]],), ([[0, 0]],), ([[], []],), ([[0], []],))
    yield from (([[0], [0]],), ([[0], [4]],), ([[0, 0], [4]],), ([[0, 4], [4, 0]],))
    yield from (([[4, 4], [4]],), ([[0], [0], [0]],), ([[0], [4], [0]],))
    yield from (([[0, 4], [4, 8], [8, 0]],), ([[4, 0], [8], [0]],))
    yield from (([[0, 4, 8], [12, 16, 20]],), ([[0, 0], [0, 0]],))
    yield from (([[0, 4], [8, 4], [12, 4]],), ([[0, 4], [0, 4], [0, 4]],))
    yield from (([[4], [0], [8], [4]],), ([[4], [4], [8]],))
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


def _readers(ranks: list[list[int]]) -> list[int]:
    """Return how many ranks read each window."""
    return list(Counter(w for rank in ranks for w in set(rank)).values())


shared_windows.mistake(
    "you count a window that *one* rank reads twice, but it shares that one with "
    "nobody.",
    lambda ranks: sum(n > 1 for n in Counter(w for r in ranks for w in r).values()),
    lambda ranks: sum(map(len, ranks)) - len({w for rank in ranks for w in rank}),
)
shared_windows.mistake(
    "you count a window once for each rank that reads it, or for each pair of ranks, "
    "but it's only one window.",
    lambda ranks: sum(n - 1 for n in _readers(ranks)),
    lambda ranks: sum(n * (n - 1) // 2 for n in _readers(ranks)),
    lambda ranks: sum(n for n in _readers(ranks) if n > 1),
)
shared_windows.mistake(
    "you compare each rank only with the next one, or with the first, but any two may "
    "share a window.",
    lambda ranks: sum(len(set(a) & set(b)) for a, b in pairwise(ranks)),
    lambda ranks: len({w for a, b in pairwise(ranks) for w in set(a) & set(b)}),
    lambda ranks: len({w for w in ranks[0] for rank in ranks[1:] if w in rank}),
)
shared_windows.mistake(
    "you count windows that *all* ranks read, or exactly two, but it's enough if two "
    "or more do.",
    lambda ranks: sum(n == len(ranks) for n in _readers(ranks)),
    lambda ranks: sum(n == len(ranks) > 1 for n in _readers(ranks)),
    lambda ranks: sum(n == 2 for n in _readers(ranks)),
)
shared_windows.mistake(
    "you count every reading of a shared window. Count each window once.",
    lambda ranks: sum(
        sum(w in other for other in ranks) > 1 for rank in ranks for w in rank
    ),
)
shared_windows.mistake(
    "you count all windows, not just those that more than one rank reads.",
    lambda ranks: len(_readers(ranks)),
)


# A loader with just one finding. Many answers are right, so the audit is compared.


def _audited(answer: Callable, ids: list[int]) -> tuple[str, ...] | None:
    """Say what an audit finds in a loader that hands out what `answer` returns."""
    if (batches := answer(ids)) is None:
        return None
    if not all(np.ndim(row) == 1 for pair in batches for part in pair for row in part):
        return ("a batch holds ids where it should hold rows",)
    try:
        audit = audit_loader(lambda ids: answer(ids.tolist()), num_tokens=len(ids))
    except LoaderError as error:
        raise error.__cause__ from None
    except (TypeError, ValueError) as error:
        return (f"no audit: {error}",)
    if audit.shift != 1:  # then the counts say nothing
        return (f"targets are {audit.shift} ahead of their inputs, not 1",)
    if audit.num_batches == 1:  # another order could have dropped what is left out
        return ("one batch, from which no audit can tell what is lost",)
    if [(found.name, found.count) for found in audit.findings] == [("lost", 1)]:
        return ("lost (1)",)  # wherever
    found = [f"{f.name} ({f.count}): {f.evidence}" for f in audit.findings]
    found += [
        f"undecided: {name}, because {why}" for name, why in audit.undecided.items()
    ]
    return tuple(found) or ("no finding",)


@exercise(
    cases=lambda random: [
        (list(range(1_000, 1_000 + num_tokens)),)
        for num_tokens in (30, 31, 32, 33, 35, 40, 41, 64)
    ],
    hints=(
        "Begin with windows that follow one another, which lose nothing. What happens "
        "if all windows after the first one begin one place later?",
        "With T = 4, the windows begin at 0, 5, 9, 13, … Which token is never a target "
        "now? A tail of fewer than 4 tokens doesn't count.",
    ),
    view=_audited,
)
def just_lost(ids: list[int]) -> list[tuple[list, list]]:
    """Return batches of pairs that lose one token, and do nothing else wrong."""
    starts = [0, *range(5, len(ids) - 4, 4)]
    return [([ids[s : s + 4]], [ids[s + 1 : s + 5]]) for s in starts]


def _batches_at(ids: list[int], starts: Iterable[int], ahead: int = 1) -> list:
    return [([ids[s : s + 4]], [ids[s + ahead : s + ahead + 4]]) for s in starts]


just_lost.mistake(
    "you lose nothing, or only a short tail at the end, which doesn't count.",
    lambda ids: _batches_at(ids, range(0, len(ids) - 4, 4)),
)
just_lost.mistake(
    "you lose a token after *each* window. Let only one window begin a place too late.",
    lambda ids: _batches_at(ids, range(0, len(ids) - 4, 5)),
)
just_lost.mistake(
    "you leave out a whole window and lose all of its targets, where one token should "
    "be lost.",
    lambda ids: _batches_at(ids, [0, *range(8, len(ids) - 4, 4)]),
    lambda ids: _batches_at(ids, [*range(0, len(ids) - 8, 4)]),
)
just_lost.mistake(
    "you return the inputs themselves as targets, but targets are one token ahead.",
    lambda ids: _batches_at(ids, [0, *range(5, len(ids) - 4, 4)], ahead=0),
)
just_lost.mistake(
    "your windows come in another order than the stream's, and in both epochs that the "
    "audit compares, it's the same. Let them come in the stream's order.",
    lambda ids: _batches_at(ids, [0, *range(5, len(ids) - 4, 4)][::-1]),
    lambda ids: _batches_at(ids, [*range(5, len(ids) - 4, 4), 0]),
)
just_lost.mistake(
    "you return only one batch, and from one no audit can tell what is lost. Return at "
    "least two.",
    lambda ids: _batches_at(ids, [0]),
)


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
        "vocabulary, the model takes the later ones for others. An audit can't see it, "
        "because it hands out ids of its own and asks only where they go. To find it, "
        "decode a batch with the model's vocabulary and read it, or keep a checksum of "
        "the tokenizer beside the ids, and compare."
    ),
)
def wrong_tokenizer(text: str, vocabulary: str) -> str:
    places = {char: place for place, char in enumerate(sorted(set(text)))}
    ids = [places[char] for char in text]
    return "".join(vocabulary[id_] for id_ in ids)


def nothing_is_left(num_windows: int, num_epochs: int, seed: int) -> int:
    return 0


@bug_or_not(
    purpose=(
        "An epoch draws as many windows as there are, at random *with* replacement. An "
        "audit of one epoch finds that 37% of the tokens are lost. But the run has 20 "
        "epochs or more, over at most 1,000 windows, and by its end, each should have "
        "been read. The function returns how many windows are never read."
    ),
    reference=nothing_is_left,
    cases=lambda random: [
        (num_windows, num_epochs, seed)
        for num_windows in (10, 100, 1_000)
        for num_epochs in (20, 40)
        for seed in (0, 1, 2)
    ],
    explanation=(
        "A draw misses a given window with probability 1 - 1/n, and all n draws miss "
        "it with a probability of about 1/e, or 0.37. The audit is right, but it's "
        "about *one* epoch. The next epoch draws other windows, and after 20 epochs a "
        "window has been missed every time with probability 0.37 ** 20, two in a "
        "billion. So this is a choice and not a bug, as long as you know that an epoch "
        "isn't one reading of the text. In a run of one epoch, a third of the text "
        "that you paid for would not be read."
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

    assert audit_loader(make_loader, num_tokens=193, world_size=1).clean
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
        "One rank reads every window, in whichever order. But with seeds of their "
        "own, two ranks cut slices from two *different* lists, so some windows are in "
        "both slices, and others in none. Each rank alone still looks right. "
        "TinyLlama's loader did this with its files until October 2023, when a reader "
        "of the code asked about it. Audit with as many ranks as you train with, or "
        "with two at least."
    ),
)
def one_rank_is_enough(seeds: str) -> list[str]:
    return []


def equal_steps_for_all(num_windows: int, world_size: int) -> tuple[list[int], int]:
    return [-(-num_windows // world_size)] * world_size, 0


@bug_or_not(
    purpose=(
        "In each step, ranks wait for one another, so all of them must make the same "
        "number of steps. Every window should be read, even if the ranks can't share "
        "the windows equally. An audit finds that ranks share a few windows, fewer "
        "than there are ranks. The function returns the steps of each rank, and how "
        "many windows nobody reads."
    ),
    reference=equal_steps_for_all,
    cases=lambda random: [
        (num_windows, world_size)
        for num_windows in (3, 4, 7, 12, 13, 30)
        for world_size in (1, 2, 3, 4)
    ],
    explanation=(
        "`DistributedSampler` fills up the last step with windows from the beginning, "
        "which are then read twice in an epoch. The alternatives don't do what's asked "
        "here: with unequal steps, ranks can fail, or wait for others until a "
        "timeout, and `drop_last=True`, like this course's loader, leaves a few "
        "windows unread. So `ranks_overlap` is by design here, as long as it counts "
        "the tokens of fewer windows than there are ranks. In an *evaluation*, though, "
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
