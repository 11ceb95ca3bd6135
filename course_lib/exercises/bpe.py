"""Exercises of lesson 06: what a merge saves, which one is allowed, how merges are
undone and applied, and half a character."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import combinations, pairwise
from random import Random

from course_lib.bpe import (
    BPETokenizer,
    best_pair,
    learn_merges,
    merge_history,
    merge_pair,
    pair_counts,
)
from course_lib.teaching import (
    Case,
    Exercise,
    bug_or_not,
    exercise,
    numbers,
    true_or_false,
)

Steps = list[tuple[object, str]]
"""The ways to do one step of a task, each with what to say of it; the first is right,
and nothing is to be said of it."""


def _register(item: Exercise, build: Callable, *steps: Steps) -> None:
    """Register all answers with one wrong step, and those with two.

    `build` is called with one way for each step, then with the arguments of a call.
    """
    right = [step[0][0] for step in steps]
    for number, step in enumerate(steps):
        for i, (way, words) in enumerate(step[1:]):
            ways = [*right[:number], way, *right[number + 1 :]]
            mistake = partial(build, *ways)
            mistake.__name__ = f"{build.__name__}_{number}_{i}"
            item.mistake(words)(mistake)
    for (i, ones), (j, others) in combinations(enumerate(steps), 2):

        def with_both(one, other, *arguments, i=i, j=j):
            ways = right.copy()
            ways[i], ways[j] = one, other
            return build(*ways, *arguments)

        item.combine(with_both, _said(ones), _said(others))


def _said(step: Steps) -> dict[str, object]:
    return {words.removesuffix("."): way for way, words in step[1:]}


# 1. What a merge saves.


def _words_and_pairs(random: Random) -> Iterator[Case]:
    yield from (
        ({}, (1, 2)),
        ({(1,): 3}, (1, 1)),
        ({(1, 2): 1}, (1, 2)),
        ({(2, 1): 1}, (1, 2)),
        ({(1, 2): 5}, (1, 2)),
        ({(1, 1, 1): 1}, (1, 1)),
        ({(1, 1, 1, 1): 1}, (1, 1)),
        ({(0, 1, 2): 2}, (1, 2)),
        ({(1, 2, 1, 2): 2}, (1, 2)),
        ({(0, 1): 1, (2, 0): 1}, (1, 2)),
        ({(1, 1, 1, 2): 2, (1, 2, 3): 1}, (1, 1)),
        ({(11, 2): 1, (1, 21): 2}, (1, 2)),
        ({(3, 1, 2, 1): 2, (2,): 4}, (1, 2)),
        ({(2, 2, 1): 3}, (1, 2)),
        ({(1, 1, 1): 1, (2, 1, 1, 1): 1}, (1, 1)),
        ({(1, 1, 2, 1, 1): 2}, (1, 1)),
        ({(1, 1, 1, 2, 1, 1, 1): 2}, (1, 1)),
        ({(0, 1, 2, 0): 1, (2,): 3}, (1, 2)),
    )
    for _ in range(30):
        words = {}
        for _ in range(random.randrange(1, 4)):
            length = random.randrange(2, 9)
            words[tuple(random.choices((0, 1, 2), (1, 3, 2), k=length))] = (
                random.randrange(1, 5)
            )
        yield words, (1, random.choice((1, 2)))


@exercise(
    cases=_words_and_pairs,
    hints=(
        "Each merge puts one id in the place of two. So how many merges are there, in "
        "all words? And how many in `[1, 1, 1]`, for the pair (1, 1)?",
        "Walk through each word with an index of your own, which goes on by two after "
        "a pair and by one otherwise. A word that occurs five times saves five times.",
    ),
)
def tokens_saved(words: dict[tuple[int, ...], int], pair: tuple[int, int]) -> int:
    """Return by how many ids the whole text gets shorter when the pair is merged."""
    saved = 0
    for ids, frequency in words.items():
        position = 0
        while position < len(ids):
            if ids[position : position + 2] == pair:
                saved += frequency
                position += 2
            else:
                position += 1
    return saved


def _walk(ids, pair, *, found=2, otherwise=1, order=True):
    """Count in a walk that goes on by so many ids."""
    count = position = 0
    while position < len(ids):
        there = ids[position : position + 2]
        if there == pair or (not order and there == pair[::-1]):
            count += 1
            position += found
        else:
            position += otherwise
    return count


def _side_by_side(ids, pair):
    return sum(p == pair for p in pairwise(ids))


def _halved(ids, pair):
    count = _side_by_side(ids, pair)
    return count // 2 if pair[0] == pair[1] else count


def _halved_up(ids, pair):
    count = _side_by_side(ids, pair)
    return (count + 1) // 2 if pair[0] == pair[1] else count


def _as_text(ids, pair):
    return str(ids).count(f"{pair[0]}, {pair[1]}")


IN_A_WORD = [
    (_walk, ""),
    (
        _side_by_side,
        "pairs that overlap are counted twice. In `1 1 1` the pair (1, 1) stands "
        "twice, but only one merge is possible.",
    ),
    (
        lambda ids, pair: pair in pairwise(ids),
        "one merge a word at most. A word may hold the pair at several places.",
    ),
    (
        lambda ids, pair: sum(ids[i : i + 2] == pair for i in range(0, len(ids), 2)),
        "only pairs that begin at places 0, 2, 4, ... A pair may begin anywhere; go on "
        "by two only *after* you have found one.",
    ),
    (
        partial(_walk, order=False),
        "the order within the pair is lost. (1, 2) and (2, 1) are two different pairs.",
    ),
    (
        lambda ids, pair: min(ids.count(pair[0]), ids.count(pair[1])),
        "how often the two ids occur, not how often they stand side by side.",
    ),
    (
        lambda ids, pair: pair[0] in ids and pair[1] in ids,
        "whether the two ids occur in the word, not how often they stand side by side.",
    ),
    (
        _as_text,
        "ids are compared as text: `1, 2` is also found inside `11, 2` and `1, 21`.",
    ),
    (
        _halved,
        "overlapping pairs are counted, and halved in each word. In `1 1 1` that gives "
        "1, but in `1 1` it gives 0.",
    ),
    (
        _halved_up,
        "overlapping pairs are counted, and halved in each word. A word may hold "
        "several runs of the id: `1 1 2 1 1` has two pairs, and two merges.",
    ),
    (
        partial(_walk, found=3),
        "after a pair the walk goes on by three: one id is never looked at. Is the "
        "index moved by two, and by one again?",
    ),
    (
        partial(_walk, found=3, otherwise=2),
        "the walk goes on by two where there is no pair, and by three after one. It "
        "has to be one and two.",
    ),
]


LOOKED_AT = [
    (tuple, ""),
    (
        lambda ids: ids[:-1],
        "a pair at the very end of a word is missed: the last one begins at the last "
        "id but one.",
    ),
    (
        lambda ids: ids[1:],
        "a pair at the very beginning of a word is missed.",
    ),
]


def _first_look(ids, pair):
    place = ids.index(pair[0]) if pair[0] in ids else len(ids)
    return ids[place : place + 2] == pair


def _merged_on(ids, pair):
    left = list(ids)
    while pair in pairwise(left):
        left = merge_pair(left, pair, pair[0])
    return len(ids) - len(left)


IN_A_WORD += [
    (
        _first_look,
        "only the first place of the first id is looked at: `index` finds no other. A "
        "word may hold the pair later, and several times.",
    ),
    (
        lambda ids, pair: sum(p in (pair, pair[::-1]) for p in pairwise(ids)),
        "the order within the pair is lost, and pairs that overlap are counted twice.",
    ),
    (
        _merged_on,
        "the new id takes part in the pair again. It is another id than the two that "
        "it is made of.",
    ),
]

ALL_WORDS = [
    (lambda words, count: sum(n * count(ids) for ids, n in words.items()), ""),
    (
        lambda words, count: sum(count(ids) for ids in words),
        "each distinct word counts once. `words` says how often each occurs in the "
        "text.",
    ),
    (
        lambda words, count: sum(n * count(ids) for ids, n in [*words.items()][-1:]),
        "the last word alone. The sum has to start before the loop over the words.",
    ),
    (
        lambda words, count: sum(n * count(ids) for ids, n in [*words.items()][:1]),
        "the first word alone: a `return` inside the loop ends it.",
    ),
    (
        lambda words, count: count(sum((ids * n for ids, n in words.items()), ())),
        "pairs that reach from one word into the next. No merge crosses a cut.",
    ),
    (
        lambda words, count: count(sum(words, ())),
        "all words are put in a row, each of them once. No merge crosses a cut, and "
        "`words` says how often each word occurs.",
    ),
    (
        lambda words, count: sum(n * n * count(ids) for ids, n in words.items()),
        "the frequency is multiplied twice.",
    ),
    (
        lambda words, count: max(
            (n * count(ids) for ids, n in words.items()), default=0
        ),
        "what one word alone saves most. Asked is what all save together.",
    ),
    (
        lambda words, count: sum(n + count(ids) for ids, n in words.items()),
        "the frequency is added. A word that occurs five times saves five times as "
        "much: multiply.",
    ),
]


def _saved_by_steps(in_a_word, looked_at, all_words, result, words, pair):
    return result(all_words(words, lambda ids: in_a_word(looked_at(ids), pair)))


_register(
    tokens_saved,
    _saved_by_steps,
    IN_A_WORD,
    LOOKED_AT,
    ALL_WORDS,
    [
        (int, ""),
        (
            lambda saved: 2 * saved,
            "two ids for each merge. The pair goes, but the new id takes its place: "
            "one is saved.",
        ),
        (
            lambda saved: -saved,
            "the sign is the other way round: how much shorter, so old minus new.",
        ),
        (lambda saved: saved + 1, "the sum begins at 1, or one is added to it."),
        (
            lambda saved: saved - 1,
            "the sum begins at -1, or one is taken from it.",
        ),
        (lambda saved: saved / 2, "the number of merges is halved. Each saves one id."),
    ],
)


@tokens_saved.mistake(
    "how many ids are left after the merge. Asked is how many fewer there are."
)
def ids_left(words, pair):
    return sum(len(merge_pair(ids, pair, -1)) * count for ids, count in words.items())


@tokens_saved.mistake(
    "how many ids are left of the distinct words. Asked is how many fewer the whole "
    "text has."
)
def ids_left_of_distinct_words(words, pair):
    return sum(len(merge_pair(ids, pair, -1)) for ids in words)


@tokens_saved.mistake(
    "overlapping pairs are counted, and their sum is halved. How many of them can be "
    "merged is another number in each word."
)
def halved_at_the_end(words, pair):
    count = pair_counts(words)[pair]
    return count // 2 if pair[0] == pair[1] else count


@tokens_saved.mistake(
    "how often the first id of the pair occurs. The second one must follow it."
)
def first_ids(words, pair):
    return sum(ids.count(pair[0]) * count for ids, count in words.items())


@tokens_saved.mistake(
    "nothing is ever found: is like compared with like? `ids.count(pair)` looks for "
    "one entry that is a pair, and a list never equals a tuple."
)
def never_found(words, pair):
    return 0


# 2. Which pair is allowed.


def _bounded_counts(random: Random) -> Iterator[Case]:
    lengths = [1, 1, 1, 2, 2, 3, 4]
    yield from (
        ({}, [1], 4),
        ({(0, 0): 2}, [1], 2),
        ({(0, 0): 2}, [1], 1),
        ({(0, 1): 2, (1, 0): 3}, [1, 1], 2),
        ({(1, 0): 3, (0, 1): 3}, [1, 1], 2),
        ({(0, 5): 9, (1, 2): 2}, lengths, 3),
        ({(3, 4): 9, (0, 1): 2}, lengths, 3),
        ({(3, 4): 9, (0, 1): 2}, lengths, 4),
        ({(5, 0): 9, (1, 2): 2}, lengths, 3),
        ({(0, 2): 4, (0, 1): 4}, lengths, 2),
        ({(2, 0): 4, (1, 1): 4}, lengths, 2),
        ({(6, 6): 9}, lengths, 6),
        # as text 10 comes before 2
        ({(10, 1): 4, (2, 3): 4}, [1] * 11, 2),
        ({(3, 10): 4, (3, 9): 4}, [1] * 11, 2),
        # often and long against rare and short, and the reverse
        ({(0, 1): 3, (3, 4): 2}, lengths, 4),
        ({(0, 1): 2, (3, 4): 3}, lengths, 4),
    )
    pairs = [(a, b) for a in range(7) for b in range(7)]
    for _ in range(50):
        chosen = random.sample(pairs, random.randrange(2, 10))
        counts = {pair: random.randrange(1, 4) for pair in chosen}
        yield counts, random.sample(lengths, 7), random.randrange(2, 7)


@exercise(
    cases=_bounded_counts,
    hints=(
        "First leave out what is too long: a token is as long as its two parts "
        "together. What is left goes through the rule of section 2.",
        "Tuples compare like words in a dictionary: which key makes `min` prefer a "
        "large count, and then small ids? And what shall it return when there is "
        "nothing to choose from?",
    ),
)
def best_short_pair(
    counts: dict[tuple[int, int], int], num_bytes: list[int], longest: int
) -> tuple[int, int] | None:
    """Return the best pair whose token has at most `longest` bytes, or `None`."""
    allowed = [
        (left, right)
        for left, right in counts
        if num_bytes[left] + num_bytes[right] <= longest
    ]
    return min(allowed, key=lambda pair: (-counts[pair], pair), default=None)


def _bytes(pair, num_bytes):
    return num_bytes[pair[0]] + num_bytes[pair[1]]


FILTERS = [
    (lambda p, num_bytes, longest: _bytes(p, num_bytes) <= longest, ""),
    (
        lambda p, num_bytes, longest: _bytes(p, num_bytes) < longest,
        "a token of exactly `longest` bytes is left out: `longest` is allowed.",
    ),
    (
        lambda p, num_bytes, longest: True,
        "`longest` plays no part: the best of all pairs.",
    ),
    (
        lambda p, num_bytes, longest: max(num_bytes[i] for i in p) <= longest,
        "each part has at most `longest` bytes. The new token spells both: add them.",
    ),
    (
        lambda p, num_bytes, longest: sum(p) <= longest,
        "the ids themselves are added. How many bytes token i has is in "
        "`num_bytes[i]`.",
    ),
    (
        lambda p, num_bytes, longest: len(p) <= longest,
        "`len(pair)` is always 2. How many bytes token i has is in `num_bytes[i]`.",
    ),
    (
        lambda p, num_bytes, longest: num_bytes[p[0]] <= longest,
        "only the first part is measured. The new token spells both: add their "
        "lengths.",
    ),
    (
        lambda p, num_bytes, longest: num_bytes[p[1]] <= longest,
        "only the second part is measured. The new token spells both: add their "
        "lengths.",
    ),
    (
        lambda p, num_bytes, longest: max(num_bytes[i] for i in p) < longest,
        "each part has fewer than `longest` bytes. The new token spells both: add "
        "them.",
    ),
    (
        lambda p, num_bytes, longest: _bytes(p, num_bytes) == longest,
        "only tokens of exactly `longest` bytes. `longest` is a bound: shorter ones "
        "are allowed.",
    ),
    (
        lambda p, num_bytes, longest: _bytes(p, num_bytes) >= longest,
        "only tokens of `longest` bytes or *more*. The comparison is the wrong way "
        "round.",
    ),
    (
        lambda p, num_bytes, longest: _bytes(p, num_bytes) > longest,
        "the tokens that are too long, and those alone: the comparison is the wrong "
        "way round.",
    ),
    (
        lambda p, num_bytes, longest: _bytes(p, num_bytes) <= longest + 1,
        "one byte more than `longest` is let through.",
    ),
    (
        lambda p, num_bytes, longest: num_bytes[p[0]] * num_bytes[p[1]] <= longest,
        "the two lengths are multiplied. The new token spells both parts: add them.",
    ),
    (
        lambda p, num_bytes, longest: min(num_bytes[i] for i in p) <= longest,
        "one part of at most `longest` bytes is enough. The new token spells both: add "
        "them.",
    ),
    (
        lambda p, num_bytes, longest: sum(num_bytes[i - 1] for i in p) <= longest,
        "`num_bytes[i - 1]` is looked at. Ids are counted from 0: `num_bytes[i]`.",
    ),
]

KEYS = [
    (lambda p, count, length: (-count, p), ""),
    (
        lambda p, count, length: -count,
        "ties go to the pair that was counted first. Then the order of the texts "
        "changes the tokenizer.",
    ),
    (
        lambda p, count, length: (-count, -p[0], -p[1]),
        "ties go to the largest ids: `max` with the key `(count, pair)` maximizes "
        "both.",
    ),
    (
        lambda p, count, length: (-count, p[0], -p[1]),
        "the first id decides rightly, but among pairs that share it the *largest* "
        "second id wins. Both are the smaller the better.",
    ),
    (
        lambda p, count, length: (-count, -p[0], p[1]),
        "among equals the *largest* first id wins: `-p[0]` in the key of `min`. The "
        "smaller ids win, both of them.",
    ),
    (
        lambda p, count, length: (-count, p[0]),
        "among pairs that share the first id, the one that was counted first wins: the "
        "second id has to decide.",
    ),
    (
        lambda p, count, length: (-count, p[1], p[0]),
        "among equals the second id decides. Compare the first ids, and the second "
        "only if these agree.",
    ),
    (
        lambda p, count, length: (-count, sum(p)),
        "among equals the sum of the ids decides. Compare the first ids, and the "
        "second only if these agree.",
    ),
    (
        lambda p, count, length: (count, p),
        "the rarest pair. The most frequent one saves most tokens.",
    ),
    (
        lambda p, count, length: p,
        "the pair with the smallest ids, however rare it is. The count comes first.",
    ),
    (
        lambda p, count, length: (-p[0], -p[1]),
        "the pair with the largest ids, however rare it is. The count comes first.",
    ),
    (
        lambda p, count, length: 0,
        "the pair that was counted first, however rare it is. The count comes first.",
    ),
    (
        lambda p, count, length: (-length, -count, p),
        "the longest token that is allowed. Length is only a bound here: the count "
        "decides.",
    ),
    (
        lambda p, count, length: (length, -count, p),
        "the shortest token. Length is only a bound here: the count decides.",
    ),
    (
        lambda p, count, length: (-count, length, p),
        "among equals the shortest token wins. The rule knows ids alone.",
    ),
    (
        lambda p, count, length: (-count, -length, p),
        "among equals the longest token wins. The rule knows ids alone.",
    ),
    (
        lambda p, count, length: (-count * length, p),
        "counts are multiplied by lengths. The rule knows how often a pair occurs, and "
        "ids; length is only a bound.",
    ),
    (
        lambda p, count, length: (-count, str(p)),
        "ids are compared as text, where 10 comes before 2. Compare the numbers.",
    ),
]


def _best_of_all(counts):
    return min(counts, key=lambda pair: (-counts[pair], pair), default=None)


IF_NONE = [
    (lambda counts: None, ""),
    (
        lambda counts: min([]),
        "when no pair is allowed, `min` or `max` has nothing to choose from and "
        "raises: return `None` then.",
    ),
    (
        lambda counts: [][0],
        "when no pair is allowed, there is no first one: `[0]` of an empty list "
        "raises. Return `None` then.",
    ),
    (
        _best_of_all,
        "when no pair is allowed, the best of all is returned. Nothing is: `None`.",
    ),
    (
        lambda counts: (),
        "when no pair is allowed, something empty is returned. It has to be `None`.",
    ),
    (
        lambda counts: (0, 0),
        "when no pair is allowed, (0, 0) is returned, which is a pair like any other. "
        "It has to be `None`.",
    ),
]

RETURNED = [
    (lambda pair, counts: pair, ""),
    (
        lambda pair, counts: counts.get(pair),
        "the count of the pair. Asked is the pair itself.",
    ),
    (
        lambda pair, counts: pair and (pair, counts[pair]),
        "the pair and its count. Asked is the pair alone.",
    ),
    (
        lambda pair, counts: pair and (counts[pair], pair),
        "the count and the pair. Asked is the pair alone.",
    ),
    (lambda pair, counts: pair and pair[::-1], "the two ids of the pair are swapped."),
]


def _best_by_steps(allowed, key, if_none, returned, counts, num_bytes, longest):
    pairs = [p for p in counts if allowed(p, num_bytes, longest)]
    if not pairs:
        return if_none(counts)
    best = min(pairs, key=lambda p: key(p, counts[p], _bytes(p, num_bytes)))
    return returned(best, counts)


_register(
    best_short_pair,
    _best_by_steps,
    FILTERS,
    KEYS,
    IF_NONE,
    RETURNED,
)


@best_short_pair.mistake(
    "the best of all pairs is chosen first, and `None` returned if it is too long. "
    "The next one may fit: leave out first, then choose."
)
def chosen_and_then_checked(counts, num_bytes, longest):
    chosen = _best_of_all(counts)
    return chosen if chosen and _bytes(chosen, num_bytes) <= longest else None


@best_short_pair.mistake(
    "the best of all pairs is chosen first, which may be too long, and where there is "
    "no pair at all `best_pair` raises. Leave out first, then choose; `None` for none."
)
def chosen_or_raises(counts, num_bytes, longest):
    chosen = best_pair(counts)
    return chosen if _bytes(chosen, num_bytes) <= longest else None


@best_short_pair.mistake(
    "the rarest pair, and ties go to the one that was counted first: `min` with the "
    "count alone. The most frequent one is asked, and of equals the smallest ids."
)
def rarest_first_come(counts, num_bytes, longest):
    allowed = [p for p in counts if _bytes(p, num_bytes) <= longest]
    return min(allowed, key=counts.get, default=None)


@best_short_pair.mistake(
    "the largest count is searched among all pairs, also those that are too long: "
    "where one of them has it, none is left. Leave out first, then choose."
)
def largest_count_of_all(counts, num_bytes, longest):
    most = max(counts.values(), default=0)
    allowed = [p for p in counts if _bytes(p, num_bytes) <= longest]
    return min((p for p in allowed if counts[p] == most), default=None)


@best_short_pair.mistake(
    "ties go to the pair that was counted last: `>=` where `>` is meant, or a key "
    "without the ids. Then the order of the texts changes the tokenizer."
)
def last_come(counts, num_bytes, longest):
    allowed = [p for p in counts if _bytes(p, num_bytes) <= longest]
    return max(reversed(allowed), key=counts.get, default=None)


# 3. Undoing merges.


def _merged_words(random: Random) -> Iterator[Case]:
    deep = {(0, 1): 10, (10, 2): 11, (11, 11): 12, (12, 0): 13}
    for ids in ([], [0], [10], [11], [10, 10], [0, 10, 2], [12], [13, 1], [3, 13, 10]):
        yield ids, deep
    yield [1, 2], {}
    # as in a tokenizer of bytes without special tokens
    for ids in ([257, 97], [99, 256, 257]):
        yield ids, {(97, 98): 256, (256, 99): 257}
    for _ in range(30):
        text = tuple(random.randrange(4) for _ in range(40))
        learned = learn_merges({text: 1}, random.randrange(3, 8), first_id=10)
        known = [*range(4), *learned.values()]
        yield random.choices(known, k=random.randrange(2, 8)), learned
    # as many merges as it takes for ids that begin or end like others
    text = tuple(random.randrange(4) for _ in range(600))
    many = learn_merges({text: 1}, 110, first_id=4)
    for ids in ([10, 101], [100, 110, 11], [4, 104, 40]):
        yield ids, many


@exercise(
    cases=_merged_words,
    hints=(
        "An id may be made of ids that are made of others. When may you stop?",
        "The parts of an id are older than the id itself. So if you undo the merges "
        "one after the other, in which order must that be, so that none comes back?",
    ),
)
def undo_merges(ids: list[int], merges: dict[tuple[int, int], int]) -> list[int]:
    """Return the ids of single bytes that the ids were merged from."""
    for pair, new_id in reversed(merges.items()):
        parts = []
        for token in ids:
            parts += pair if token == new_id else [token]
        ids = parts
    return ids


def _undo(ids, merges, replace=lambda pair: pair, rounds=100):
    """Replace every merged id by what `replace` makes of its pair, in some rounds."""
    pairs = {new_id: replace(pair) for pair, new_id in merges.items()}
    for _ in range(rounds):
        ids = [part for token in ids for part in pairs.get(token, (token,))]
    return ids


@undo_merges.mistake(
    "one level only. The parts of a merged id may be merged ids themselves: go on "
    "until none is left, or undo the merge that was learned last first."
)
def one_level(ids, merges):
    return _undo(ids, merges, rounds=1)


@undo_merges.mistake("the two parts change places: the first of the pair stands left.")
def swapped_parts(ids, merges):
    return _undo(ids, merges, lambda pair: pair[::-1])


@undo_merges.mistake("the result is back to front.")
def back_to_front(ids, merges):
    return _undo(ids, merges)[::-1]


@undo_merges.mistake("only the first part comes back. A merged id spells both.")
def first_part_of_each(ids, merges):
    return _undo(ids, merges, lambda pair: pair[:1])


@undo_merges.mistake(
    "the merged ids stay beside their parts. The parts take their place."
)
def keeps_the_merged(ids, merges):
    pairs = {new_id: pair for pair, new_id in merges.items()}

    def spelled(token):
        parts = [x for part in pairs.get(token, ()) for x in spelled(part)]
        return [token, *parts]

    return [part for token in ids for part in spelled(token)]


@undo_merges.mistake(
    "ids that no merge made are lost. A byte has no parts, and stays as it is."
)
def loses_bytes(ids, merges):
    pairs = {new_id: pair for pair, new_id in merges.items()}
    return [part for token in ids for part in pairs.get(token, ())]


@undo_merges.mistake(
    "lists inside the list. `append` adds a pair as one thing; `+=` or `extend` adds "
    "its parts."
)
def nested(ids, merges):
    for pair, new_id in reversed(merges.items()):
        ids = [list(pair) if token == new_id else token for token in ids]
    return ids


@undo_merges.mistake(
    "lists inside lists, as deep as the merges were. The result is one flat list: join "
    "what the parts give with `+`."
)
def nested_deeply(ids, merges):
    pairs = {new_id: pair for pair, new_id in merges.items()}

    def spelled(token):
        return [spelled(part) for part in pairs[token]] if token in pairs else token

    return [spelled(token) for token in ids]


@undo_merges.mistake("that merges. Asked is the way back, from merged ids to bytes.")
def merges_again(ids, merges):
    return merge_history(ids, merges)[-1]


@undo_merges.mistake(
    "each merge is undone at its first place only. An id may occur again and again."
)
def first_place_only(ids, merges):
    ids = list(ids)
    for pair, new_id in reversed(merges.items()):
        if new_id in ids:
            place = ids.index(new_id)
            ids[place : place + 1] = pair
    return ids


@undo_merges.mistake(
    "ids are replaced as text: id 10 is also found inside 101 and 110."
)
def replaced_as_text(ids, merges):
    text = ",".join(map(str, ids))
    for (left, right), new_id in reversed(merges.items()):
        text = text.replace(str(new_id), f"{left},{right}")
    return [int(part) for part in text.split(",") if part]


@undo_merges.mistake(
    "the list changes under the loop: its end, and the ids that move behind the parts, "
    "are not looked at where they stand now. Make a new list instead."
)
def moved_under_the_loop(ids, merges):
    ids = list(ids)
    pairs = {new_id: pair for pair, new_id in merges.items()}
    for i in range(len(ids)):
        if ids[i] in pairs:
            ids[i : i + 1] = pairs[ids[i]]
    return ids


@undo_merges.mistake(
    "nothing is undone. `merges` maps pairs to ids: an id is not among its keys, so "
    "turn it round first."
)
def nothing_undone(ids, merges):
    return list(ids)


@undo_merges.mistake(
    "two levels only. A merged id may be made of parts that go deeper: go on until "
    "none is left."
)
def two_levels(ids, merges):
    return _undo(ids, merges, rounds=2)


@undo_merges.mistake("three levels only. Go on until no merged id is left.")
def three_levels(ids, merges):
    return _undo(ids, merges, rounds=3)


@undo_merges.mistake(
    "only the first part is undone further. The second may be a merged id as well."
)
def second_part_stays(ids, merges):
    pairs = {new_id: pair for pair, new_id in merges.items()}

    def spelled(token):
        if token not in pairs:
            return [token]
        return [*spelled(pairs[token][0]), pairs[token][1]]

    return [part for token in ids for part in spelled(token)]


@undo_merges.mistake(
    "only the second part is undone further: the first may be a merged id as well. "
    "Does the loop go on behind it?"
)
def first_part_stays(ids, merges):
    pairs = {new_id: pair for pair, new_id in merges.items()}

    def spelled(token):
        if token not in pairs:
            return [token]
        return [pairs[token][0], *spelled(pairs[token][1])]

    return [part for token in ids for part in spelled(token)]


@undo_merges.mistake("only the second part comes back. A merged id spells both.")
def second_part_of_each(ids, merges):
    return _undo(ids, merges, lambda pair: pair[1:])


@undo_merges.mistake("two things: (1) one level only, (2) the two parts change places.")
def one_level_swapped(ids, merges):
    return _undo(ids, merges, lambda pair: pair[::-1], rounds=1)


@undo_merges.mistake(
    "two things: the merges are undone in the order of learning, and each at its first "
    "place only."
)
def learned_order_first_place(ids, merges):
    ids = list(ids)
    for pair, new_id in merges.items():
        if new_id in ids:
            place = ids.index(new_id)
            ids[place : place + 1] = pair
    return ids


@undo_merges.mistake(
    "two things: ids that no merge made are lost (a byte has no parts, and stays as it "
    "is), and the result has lists inside the list, one for each id."
)
def pairs_of_merged(ids, merges):
    pairs = {new_id: pair for pair, new_id in merges.items()}
    return [list(pairs[token]) for token in ids if token in pairs]


@undo_merges.mistake(
    "each id gives a list of its own. The result is one flat list: `+=` the parts "
    "instead of `append`."
)
def a_list_for_each(ids, merges):
    return [_undo([token], merges) for token in ids]


@undo_merges.mistake(
    "the ids that no merge made are lost in each round. A byte stays as it is."
)
def loses_bytes_each_round(ids, merges):
    pairs = {new_id: pair for pair, new_id in merges.items()}
    while any(token in pairs for token in ids):
        ids = [part for token in ids for part in pairs.get(token, ())]
    return list(ids)


@undo_merges.mistake(
    "the places are those of the list as it was: after a merged id is replaced, all "
    "that stands behind it has moved on by one."
)
def old_places(ids, merges):
    for pair, new_id in reversed(merges.items()):
        for place, token in enumerate(ids):
            if token == new_id:
                ids = [*ids[:place], *pair, *ids[place + 1 :]]
    return list(ids)


@undo_merges.mistake(
    "the ids of the parts are added as numbers. Join lists, `[a] + [b]`: `a + b` is a "
    "sum."
)
def sums(ids, merges):
    return [sum(_undo([token], merges)) for token in ids]


@undo_merges.mistake(
    "the last merge alone is undone: all have to be, the last one first."
)
def last_merge_alone(ids, merges):
    return _undo(ids, dict([*merges.items()][-1:]), rounds=1)


@undo_merges.mistake(
    "only one of the ids is replaced, and then the function ends: a `return` inside "
    "the loop?"
)
def first_id_alone(ids, merges):
    pairs = {new_id: pair for pair, new_id in merges.items()}
    place = next((i for i, token in enumerate(ids) if token in pairs), len(ids))
    parts = [part for token in ids[place : place + 1] for part in pairs[token]]
    return [*ids[:place], *parts, *ids[place + 1 :]]


@undo_merges.mistake(
    "each part comes only once: the repeats are missing. Ids may occur again."
)
def each_once(ids, merges):
    return list(dict.fromkeys(_undo(ids, merges)))


@undo_merges.mistake(
    "ids below 256 are taken for bytes. Merged ids need not begin at 256: an id is "
    "merged if it is among the values of `merges`."
)
def below_256_is_a_byte(ids, merges):
    pairs = {new_id: pair for pair, new_id in merges.items()}
    flat = []
    for token in ids:
        if token < 256:
            flat.append(token)
        else:
            flat += below_256_is_a_byte(pairs[token], merges)
    return flat


@undo_merges.mistake(
    "ids that are bytes already are lost: only the merged ones give something."
)
def loses_single_bytes(ids, merges):
    merged = set(merges.values())
    return undo_merges.reference([i for i in ids if i in merged], merges)


# 4. Applying merges.


def _words_and_merges(random: Random) -> Iterator[Case]:
    # In abc the pair (b, c) wins, although (a, b) stands further left.
    merges = [("b", "c"), ("a", "b"), ("a", "bc"), ("c", "c"), ("d", "b")]
    for word in ("", "a", "ab", "abc", "ababc", "ccc", "bcc", "dbc", "dab", "abcabc"):
        yield word, merges
    # Two ways to spell abc: only the learned one is a merge.
    for word in ("abc", "abcbc", "abab"):
        yield word, [("a", "b"), ("b", "c"), ("a", "bc")]
    # ab, then c: a search in the joined text would find it in "d ab c" too
    for word in ("dbc", "adbc", "bcdbc"):
        yield word, [("d", "b"), ("b", "c")]
    yield "aaaaa", [("a", "a"), ("aa", "a")]
    yield "abab", [("a", "b"), ("ab", "ab")]
    # a character is not a byte
    for word in ("été", "tété", "潮汐潮"):
        yield word, [("t", "é"), ("é", "té"), ("潮", "汐")]
    # two learned merges, neither of which is in the order of the alphabet or of length
    yield "cbab", [("c", "b"), ("cb", "a"), ("a", "b")]
    yield "abcd", []
    for _ in range(50):
        text = tuple(random.randrange(4) for _ in range(30))
        spelled = {number: "abcd"[number] for number in range(4)}
        pairs = []
        learned = learn_merges({text: 1}, random.randrange(2, 8), first_id=4)
        for (left, right), new_id in learned.items():
            pairs.append((spelled[left], spelled[right]))
            spelled[new_id] = spelled[left] + spelled[right]
        yield "".join(random.choices("abcd", k=random.randrange(4, 12))), pairs


@exercise(
    cases=_words_and_merges,
    hints=(
        "Begin with single characters. A merge that was learned early comes first, "
        "wherever in the word it is.",
        "The list is in the order of learning. So each merge needs one walk through "
        "the tokens that those before it have left. How far do you go on after you "
        "have merged two?",
    ),
)
def apply_merges(word: str, merges: list[tuple[str, str]]) -> list[str]:
    """Return the tokens of a word after all merges, which stand in learned order."""
    tokens = list(word)
    for left, right in merges:
        merged, position = [], 0
        while position < len(tokens):
            if tokens[position : position + 2] == [left, right]:
                merged.append(left + right)
                position += 2
            else:
                merged.append(tokens[position])
                position += 1
        tokens = merged
    return tokens


def _join(tokens, pair, *, at_most=None):
    """Merge a pair from left to right, at some places at most."""
    merged, position = [], 0
    while position < len(tokens):
        if tuple(tokens[position : position + 2]) == pair and at_most != 0:
            merged.append("".join(pair))
            position += 2
            at_most = None if at_most is None else at_most - 1
        else:
            merged.append(tokens[position])
            position += 1
    return merged


def _repeat(word, merges, choose):
    """Merge what `choose` picks among the pairs that can be merged, until none can."""
    tokens = list(word)
    while candidates := [pair for pair in pairwise(tokens) if pair in merges]:
        tokens = _join(tokens, choose(candidates))
    return tokens


@apply_merges.mistake(
    "from left to right, whatever can be merged. The order of learning decides, not "
    "the place."
)
def leftmost_first(word, merges):
    tokens = list(word)
    while places := [i for i, p in enumerate(pairwise(tokens)) if p in merges]:
        i = places[0]
        tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
    return tokens


@apply_merges.mistake(
    "the leftmost pair first, at all its places. The order of learning decides, not "
    "the place."
)
def leftmost_pair_everywhere(word, merges):
    return _repeat(word, merges, lambda candidates: candidates[0])


@apply_merges.mistake(
    "the rightmost pair first. The order of learning decides, not the place."
)
def rightmost_first(word, merges):
    tokens = list(word)
    while places := [i for i, p in enumerate(pairwise(tokens)) if p in merges]:
        i = places[-1]
        tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
    return tokens


@apply_merges.mistake(
    "the rightmost pair first, at all its places. The order of learning decides, not "
    "the place."
)
def rightmost_pair_everywhere(word, merges):
    return _repeat(word, merges, lambda candidates: candidates[-1])


@apply_merges.mistake(
    "the pair that is most frequent in this word first. Frequency decided when the "
    "merges were learned; now only their order does."
)
def most_frequent_first(word, merges):
    return _repeat(word, merges, lambda c: max(c, key=c.count))


@apply_merges.mistake(
    "the last learned merge first. It was learned after all the others had been "
    "applied."
)
def latest_first(word, merges):
    return _repeat(word, merges, lambda candidates: max(candidates, key=merges.index))


@apply_merges.mistake(
    "one walk through the word. What a merge made can be merged again with its "
    "neighbors: each merge needs a walk of its own."
)
def single_pass(word, merges):
    tokens, position = [], 0
    while position < len(word):
        if tuple(word[position : position + 2]) in merges:
            tokens.append(word[position : position + 2])
            position += 2
        else:
            tokens.append(word[position])
            position += 1
    return tokens


@apply_merges.mistake(
    "one walk through the word, in which each character joins the token before it if "
    "it can. The order of learning decides, not the place."
)
def grows_from_the_left(word, merges):
    tokens = []
    for character in word:
        if tokens and (tokens[-1], character) in merges:
            tokens[-1] += character
        else:
            tokens.append(character)
    return tokens


@apply_merges.mistake(
    "the longest token that fits, from left to right. BPE repeats the merges, and "
    "looks for nothing."
)
def longest_match(word, merges):
    known = sorted({left + right for left, right in merges}, key=len, reverse=True)
    tokens, position = [], 0
    while position < len(word):
        fits = [t for t in known if word.startswith(t, position)]
        tokens.append(fits[0] if fits else word[position])
        position += len(tokens[-1])
    return tokens


@apply_merges.mistake("one merge, and then the end. Merged tokens can be merged again.")
def one_merge_only(word, merges):
    tokens = list(word)
    for pair in merges:
        if pair in pairwise(tokens):
            return _join(tokens, pair)
    return tokens


@apply_merges.mistake(
    "pairs of single characters only: tokens that a merge made never take part in "
    "another one."
)
def single_characters_only(word, merges):
    short = [pair for pair in merges if len("".join(pair)) == 2]
    return apply_merges.reference(word, short)


@apply_merges.mistake(
    "merges are made in a text with blanks between tokens, where `b c` is also found "
    "at the end of `db c`. A token takes part as a whole."
)
def replaced_in_a_text(word, merges):
    text = " ".join(word)
    for left, right in merges:
        text = text.replace(f"{left} {right}", left + right)
    return text.split()


@apply_merges.mistake(
    "nothing is ever merged: is like compared with like? `tokens[i : i + 2]` is a "
    "list, which never equals a tuple, and two joined strings are no pair."
)
def never_merges(word, merges):
    return list(word)


@apply_merges.mistake(
    "one token takes part in two merges. After a merge go on *two* tokens later."
)
def used_twice(word, merges):
    tokens = list(word)
    for left, right in merges:
        merged, skip = [], False
        for i, token in enumerate(tokens):
            if tokens[i : i + 2] == [left, right]:
                merged.append(left + right)
                skip = True
            elif not skip:
                merged.append(token)
            else:
                skip = False
        tokens = merged
    return tokens


ORDERS = [
    (lambda merges: merges, ""),
    (
        lambda merges: merges[::-1],
        "the list is read from its end. The first merge was learned first, and is "
        "applied first.",
    ),
    (
        sorted,
        "in the order of the alphabet. The order of learning is that of the list as it "
        "is.",
    ),
    (
        lambda merges: sorted(merges, key=lambda p: len("".join(p))),
        "the merges are sorted by length, short ones first. The order of learning is "
        "that of the list as it is.",
    ),
    (
        lambda merges: merges[:1],
        "the first merge alone: a `return` inside the loop over the merges ends it.",
    ),
    (lambda merges: merges[1:], "the first merge of the list is never applied."),
    (lambda merges: merges[:-1], "the last merge of the list is never applied."),
    (
        lambda merges: merges[-1:],
        "the last merge alone. Each merge has to go on with the tokens that the merges "
        "before it have left.",
    ),
]


def _joined_by(tokens, left, right, *, alike=None, found=2, kept=None, end=0):
    """Merge in one walk; the keywords say what is done wrongly in it."""
    alike = alike or (lambda two: two == [left, right])
    merged, position = [], 0
    while position < len(tokens) - end:
        if alike(tokens[position : position + 2]):
            merged.append(kept or left + right)
            position += found
        else:
            merged.append(tokens[position])
            position += 1
    return merged


def _first_only(tokens, left, right):
    return _join(tokens, (left, right), at_most=1)


def _either_order(tokens, left, right):
    merged, position = [], 0
    while position < len(tokens):
        two = tokens[position : position + 2]
        found = two in ([left, right], [right, left])
        merged.append("".join(two) if found else tokens[position])
        position += 1 + found
    return merged


def _from_the_right(tokens, left, right):
    backwards = [t[::-1] for t in tokens[::-1]]
    return [t[::-1] for t in _join(backwards, (right[::-1], left[::-1]))][::-1]


def _again_and_again(tokens, left, right):
    """A walk by two: pairs that begin at places 0, 2, 4, ... only."""
    merged = []
    for position in range(0, len(tokens), 2):
        two = tokens[position : position + 2]
        merged += [left + right] if two == [left, right] else two
    return merged


def _spelled(tokens, left, right):
    def alike(two):
        return len(two) == 2 and "".join(two) == left + right

    return _joined_by(tokens, left, right, alike=alike)


def _second_stays(tokens, left, right):
    return _joined_by(tokens, left, right, found=1)


def _one_lost(tokens, left, right):
    return _joined_by(tokens, left, right, found=3)


def _last_lost(tokens, left, right):
    return _joined_by(tokens, left, right, end=1)


def _end_missed(tokens, left, right):
    head = _joined_by(tokens[:-1], left, right)
    return [*head, *tokens[-1:]]


WALKS = [
    (_joined_by, ""),
    (
        _end_missed,
        "a pair at the very end of the word is never merged: the last one begins at "
        "the last token but one.",
    ),
    (
        _first_only,
        "each merge at its first place only. A merge joins the pair at all its places.",
    ),
    (
        _from_the_right,
        "from right to left. In `aaa` the merge of (a, a) belongs to the left: `aa a`.",
    ),
    (
        _spelled,
        "what the two tokens spell together is compared, not the pair: `ab` + `c` is "
        "not the merge (a, bc).",
    ),
    (
        _last_lost,
        "the last token is lost whenever it is not merged: the walk ends one too "
        "early.",
    ),
    (
        _second_stays,
        "the second token of the pair stays. The new token spells both.",
    ),
    (
        _one_lost,
        "a token is lost after each merge: the walk goes on by three. Is the index "
        "moved by two, and by one again?",
    ),
    (
        _either_order,
        "the order within the pair is lost: (a, b) does not merge `b a`.",
    ),
    (
        _again_and_again,
        "only pairs that begin at places 0, 2, 4, ... A pair may begin anywhere; go on "
        "by two only *after* a merge.",
    ),
]

TOKENS = [
    (lambda tokens: tokens, ""),
    (" ".join, "the tokens as one text. Return a list of them."),
    (lambda tokens: tokens or [""], "for an empty word [''] is returned: no token is."),
    (
        lambda tokens: list(dict.fromkeys(tokens)),
        "each token comes only once. A word may hold the same token again.",
    ),
]


def _applied_by_steps(order, walk, result, word, merges):
    tokens = list(word)
    for left, right in order(merges):
        tokens = walk(tokens, left, right)
    return result(tokens)


_register(apply_merges, _applied_by_steps, ORDERS, WALKS, TOKENS)


@apply_merges.mistake(
    "bytes are merged, not characters: `é` is two bytes, but one character. Begin with "
    "`list(word)`."
)
def merges_bytes(word, merges):
    return apply_merges.reference([chr(byte) for byte in word.encode()], merges)


@apply_merges.mistake(
    "the word is never cut into its characters: begin with `list(word)`, not with the "
    "word itself."
)
def never_cut(word, merges):
    return [word] if word else []


@apply_merges.mistake(
    "the word is never cut into its characters, and for an empty word [''] is "
    "returned: begin with `list(word)`."
)
def never_cut_nor_empty(word, merges):
    return [word]


@apply_merges.mistake(
    "merged tokens are taken out of the word, and come first: the order of the "
    "characters is lost."
)
def taken_out(word, merges):
    taken = []
    for left, right in merges:
        if left + right in word:
            taken.append(left + right)
            word = word.replace(left + right, "")
    return [*taken, *word]


@apply_merges.mistake("the two tokens stay two, as a pair: join them, `left + right`.")
def pairs_stay_pairs(word, merges):
    tokens = list(word)
    for pair in merges:
        tokens = _joined_by(tokens, *pair, kept=pair)
    return tokens


@apply_merges.mistake(
    "the last merge alone: each has to go on with the tokens that those before it have "
    "left. And without merges nothing comes back."
)
def last_merge_or_nothing(word, merges):
    return _join(list(word), merges[-1]) if merges else []


@apply_merges.mistake(
    "the list changes under the loop: behind a merge its places are no longer those "
    "that the loop goes through. Make a new list instead."
)
def changed_under_the_loop(word, merges):
    tokens = list(word)
    for pair in merges:
        for i, two in enumerate(pairwise(tokens)):
            if two == pair:
                tokens[i : i + 2] = ["".join(pair)]
    return tokens


@apply_merges.mistake(
    "only the first place of the left token is looked at: `index` finds no other. The "
    "pair may stand later, and several times."
)
def first_look(word, merges):
    tokens = list(word)
    for left, right in merges:
        place = tokens.index(left) if left in tokens else len(tokens)
        if tokens[place : place + 2] == [left, right]:
            tokens[place : place + 2] = [left + right]
    return tokens


@apply_merges.mistake(
    "the last learned merge first, one place at a time. It was learned after all the "
    "others had been applied."
)
def latest_first_leftmost(word, merges):
    tokens = list(word)
    while found := [
        (merges.index(p), -i) for i, p in enumerate(pairwise(tokens)) if p in merges
    ]:
        place = -max(found)[1]
        tokens[place : place + 2] = ["".join(tokens[place : place + 2])]
    return tokens


@apply_merges.mistake(
    "in a text with blanks between tokens `b c` is also found at the end of `db c`, "
    "and `split(' ')` makes [''] of an empty one. A token takes part as a whole."
)
def replaced_and_split_at_blanks(word, merges):
    text = " ".join(word)
    for left, right in merges:
        text = text.replace(f"{left} {right}", left + right)
    return text.split(" ")


@apply_merges.mistake(
    "the list gets shorter with each merge, but the range of the loop keeps its length "
    "and ends beyond the list: use `while`, or build a new list."
)
def shortened_in_its_loop(word, merges):
    tokens = list(word)
    for left, right in merges:
        for i in range(len(tokens) - 1):
            if tokens[i] == left and tokens[i + 1] == right:
                tokens[i : i + 2] = [left + right]
    return tokens


@apply_merges.mistake(
    "after a merge in the list itself the walk goes on by two. The pair has become one "
    "token, so the next one stands one further: a pair behind it is missed."
)
def steps_over_a_token(word, merges):
    tokens = list(word)
    for left, right in merges:
        i = 0
        while i < len(tokens) - 1:
            if tokens[i] == left and tokens[i + 1] == right:
                tokens[i : i + 2] = [left + right]
                i += 1
            i += 1
    return tokens


@apply_merges.mistake(
    "each merge is made once in a round over the list, and rounds go on until nothing "
    "changes. A merge joins all its pairs before the next one begins."
)
def one_of_each_in_a_round(word, merges):
    tokens, before = list(word), None
    while tokens != before:
        before = list(tokens)
        for pair in merges:
            for i in range(len(tokens) - 1):
                if (tokens[i], tokens[i + 1]) == tuple(pair):
                    tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
                    break
    return tokens


# 5. Ids.


def _vocabularies(random: Random) -> Iterator[Case]:
    yield from (
        (rank, specials) for rank in (0, 1, 743, 50_000) for specials in (0, 1, 2, 5)
    )


@exercise(
    cases=_vocabularies,
    hints=(
        "Ids are given in this order: to special tokens, to bytes, to merges.",
        "Which ids do the bytes have when there is one special token? Which one is "
        "free after them?",
    ),
)
def id_of_merge(rank: int, num_special_tokens: int) -> int:
    """Return the id of the token that merge number `rank`, counted from 0, makes."""
    return num_special_tokens + 256 + rank


def _linear(alphabet, ranks, specials, rank, num_special_tokens):
    return alphabet + ranks * rank + specials * num_special_tokens


_register(
    id_of_merge,
    _linear,
    [
        (256, ""),
        (
            255,
            "255 is the number of the last byte, but there are 256 bytes.",
        ),
        (257, "merges are counted from 0, so the first one has the first free id."),
        (0, "the alphabet is missing: 256 bytes have an id before the first merge."),
        (
            1,
            "the alphabet is missing: 256 bytes have an id before the first merge, "
            "which is number 0.",
        ),
        (128, "128 is the alphabet of ASCII. A byte has 256 values."),
        (127, "127 is the last number of ASCII. A byte has 256 values."),
        (512, "512 is twice the number of bytes: a byte has 256 values."),
        (258, "merges are counted from 0; two ids too many are counted before them."),
        (254, "there are 256 bytes: two of them are missing."),
    ],
    [
        (1, ""),
        (0, "that is the first id of all merges: `rank` plays no part."),
        (2, "a merge makes *one* new id, out of two."),
        (-1, "later merges have larger ids: `rank` is added, not subtracted."),
    ],
    [
        (1, ""),
        (0, "special tokens have ids too, the first ones: all others move up."),
        (-1, "special tokens come first, so they move the merges up, not down."),
        (2, "the special tokens are counted twice."),
    ],
)


@id_of_merge.mistake(
    "that is the number of the merge itself: the special tokens and 256 bytes are "
    "missing."
)
def rank_itself(rank, num_special_tokens):
    return rank


@id_of_merge.mistake(
    "the number of special tokens alone: bytes and merges are missing."
)
def special_tokens_alone(rank, num_special_tokens):
    return num_special_tokens


@id_of_merge.mistake("256 alone: neither special tokens nor merges move it.")
def alphabet_alone(rank, num_special_tokens):
    return 256


@id_of_merge.mistake(
    "sizes are multiplied. Ids are dealt out one after the other: add how many come "
    "before."
)
def multiplied(rank, num_special_tokens):
    return 256 * num_special_tokens + rank


@id_of_merge.mistake(
    "`rank` and the number of special tokens are multiplied. Both only say how many "
    "ids come before: add them."
)
def product_of_both(rank, num_special_tokens):
    return 256 + rank * num_special_tokens


@id_of_merge.mistake(
    "the special tokens multiply what comes behind them. They only move it up: add."
)
def all_multiplied(rank, num_special_tokens):
    return (256 + rank) * num_special_tokens


@id_of_merge.mistake(
    "one special token is too few where there are any: they have the ids from 0 to "
    "`num_special_tokens - 1`, so all of them move the merges up."
)
def one_special_token_short(rank, num_special_tokens):
    return 256 + rank + max(num_special_tokens - 1, 0)


# 6. Half a character.


def _cut_texts(random: Random) -> Iterator[Case]:
    texts = ("a", "é", "ab", "aé", "潮", "a潮b", "🌊", "été", "潮汐", "a🌊b")
    # U+FFFD is a character too: a text may really hold it.
    for text in (*texts, "�", "a�", "�潮", "�a", "��"):
        yield from ((text.encode()[:end],) for end in range(len(text.encode()) + 1))


@exercise(
    cases=_cut_texts,
    hints=(
        "Only the last character can be incomplete, and it has at most four bytes. So "
        "look at the end.",
        "A first byte says how many bytes its character has: below 0x80 one, from "
        "0xC0 on two, from 0xE0 on three, from 0xF0 on four; 0x80 ... 0xBF are later "
        "ones. How far is the last first byte from the end, and how far should it be?",
    ),
)
def complete_bytes(data: bytes) -> int:
    """Return how many bytes, from the beginning, spell whole characters."""
    for back in range(1, min(4, len(data)) + 1):
        first = data[-back]
        if first < 0x80:
            return len(data)
        if first >= 0xC0:
            length = 2 + (first >= 0xE0) + (first >= 0xF0)
            return len(data) if back == length else len(data) - back
    return len(data)


@complete_bytes.mistake(
    "all of them. The reader sees U+FFFD, and the character does not come back."
)
def all_bytes(data):
    return len(data)


@complete_bytes.mistake(
    "the later bytes are cut off, but the first byte of the half character stays."
)
def leaves_the_first_byte(data):
    whole = complete_bytes.reference(data)
    return whole + 1 if whole < len(data) else whole


@complete_bytes.mistake(
    "only a first byte at the very end is seen. After two of three bytes the character "
    "is incomplete as well."
)
def trailing_first_byte(data):
    return len(data) - 1 if data and data[-1] >= 0xC0 else len(data)


@complete_bytes.mistake(
    "one byte goes at most. Of four bytes of a character three may be there already."
)
def one_byte_at_most(data):
    return max(complete_bytes.reference(data), len(data) - 1)


@complete_bytes.mistake(
    "the last character goes even if it is whole, unless it is ASCII: the text hangs "
    "back."
)
def always_waits(data):
    end = len(data)
    while end and 0x80 <= data[end - 1] < 0xC0:
        end -= 1
    return end - 1 if end and data[end - 1] >= 0xC0 else end


@complete_bytes.mistake(
    "the last byte goes even if it completes a character: the text hangs back."
)
def always_one_less(data):
    return max(0, len(data) - 1)


@complete_bytes.mistake("characters are counted, not bytes.")
def counts_characters(data):
    return len(data[: complete_bytes.reference(data)].decode())


@complete_bytes.mistake(
    "characters are counted, not bytes, and half a character at the end as one more."
)
def counts_all_characters(data):
    return len(data.decode("utf-8", "replace"))


@complete_bytes.mistake("the bytes themselves. Asked is how many of them there are.")
def returns_bytes(data):
    return data[: complete_bytes.reference(data)]


@complete_bytes.mistake("the text itself. Asked is how many bytes can be shown.")
def returns_text(data):
    return data.decode("utf-8", "ignore")


@complete_bytes.mistake(
    "how many bytes have to wait. Asked is how many can be shown now."
)
def bytes_that_wait(data):
    return len(data) - complete_bytes.reference(data)


@complete_bytes.mistake(
    "U+FFFD at the end is taken for half a character. A text may really end with that "
    "character."
)
def strips_replacements(data):
    return len(data.decode("utf-8", "replace").rstrip("\ufffd").encode())


@complete_bytes.mistake(
    "every U+FFFD is taken for half a character. A text may really hold that character."
)
def removes_replacements(data):
    return len(data.decode("utf-8", "replace").replace("\ufffd", "").encode())


@complete_bytes.mistake(
    "everything before the first U+FFFD. A text may really hold that character."
)
def until_a_replacement(data):
    return len(data.decode("utf-8", "replace").split("\ufffd")[0].encode())


@complete_bytes.mistake(
    "one U+FFFD at the end is taken for half a character. A text may really end with "
    "that character."
)
def cuts_one_replacement(data):
    return len(data.decode("utf-8", "replace").removesuffix("\ufffd").encode())


@complete_bytes.mistake(
    "half a character counts as the three bytes of U+FFFD, which it was decoded to."
)
def counts_the_replacement(data):
    return len(data.decode("utf-8", "replace").encode())


@complete_bytes.mistake(
    "only ASCII is taken for whole. é, 潮 and 🌊 are whole when all their bytes are "
    "there."
)
def ascii_only(data):
    return next((i for i, byte in enumerate(data) if byte >= 0x80), len(data))


@complete_bytes.mistake(
    "a character of four bytes is taken for one of three: first bytes from 0xF0 on "
    "have three more behind them."
)
def three_bytes_at_most(data):
    return _without(data, (2, 3, 3))


@complete_bytes.mistake(
    "of no bytes at all, the last one is looked at. Return 0 for them."
)
def trips_over_nothing(data):
    data[-1]
    return complete_bytes.reference(data)


@complete_bytes.mistake(
    "only bytes of ASCII are counted. é, 潮 and 🌊 are whole when all their bytes are "
    "there."
)
def counts_ascii(data):
    return sum(byte < 0x80 for byte in data)


@complete_bytes.mistake(
    "every character is taken for one of three bytes, like 潮. They have one to four."
)
def whole_threes(data):
    return len(data) // 3 * 3


@complete_bytes.mistake(
    "all or nothing: where the end is incomplete, the whole characters before it count "
    "as well."
)
def all_or_nothing(data):
    return len(data) if complete_bytes.reference(data) == len(data) else 0


@complete_bytes.mistake(
    "half a character makes `decode()` raise. That is what you have to expect: catch "
    "the error, or look at the bytes."
)
def decode_raises(data):
    return len(data.decode("utf-8"))


@complete_bytes.mistake(
    "half a character makes `decode()` raise. That is what you have to expect: catch "
    "the error, or look at the bytes. And encode again: bytes are asked, not "
    "characters."
)
def decode_raises_bytes(data):
    return len(data.decode("utf-8").encode())


def _tries(data, dropped, otherwise):
    """Leave out some bytes at most from the end, as long as the rest is not whole."""
    whole = complete_bytes.reference(data)
    return whole if len(data) - whole <= dropped else otherwise


@complete_bytes.mistake(
    "two bytes are left out at most. Of a character of four bytes, three may be there "
    "and not the last: three have to wait."
)
def two_dropped(data):
    return _tries(data, 2, 0)


@complete_bytes.mistake(
    "one byte is left out at most, and then all are. Up to three have to wait."
)
def one_dropped(data):
    return _tries(data, 1, 0)


@complete_bytes.mistake(
    "characters are counted, not bytes, and each byte of half a character as one."
)
def counts_escaped(data):
    return len(data.decode("utf-8", "surrogateescape"))


@complete_bytes.mistake(
    "all characters outside ASCII are taken for three bytes: what is left over from "
    "threes is cut off. They have two to four."
)
def cuts_to_threes(data):
    return len(data) - sum(byte >= 0x80 for byte in data) % 3


@complete_bytes.mistake("where the end is whole, characters are counted, not bytes.")
def characters_if_whole(data):
    whole = complete_bytes.reference(data)
    return len(data.decode()) if whole == len(data) else whole


@complete_bytes.mistake(
    "the whole is never tried, only what is left without one, two or three bytes: "
    "begin with none."
)
def tries_from_one(data):
    for dropped in (1, 2, 3):
        if complete_bytes.reference(data[:-dropped]) == len(data[:-dropped]):
            return len(data) - dropped
    return 0


@complete_bytes.mistake(
    "`find` counts characters, not bytes, and says -1 where it finds nothing."
)
def finds_a_replacement(data):
    return data.decode("utf-8", "replace").find("\ufffd")


@complete_bytes.mistake(
    "the last byte goes unless it is ASCII, even if it completes a character; and of a "
    "half character only the last byte goes."
)
def last_byte_unless_ascii(data):
    return len(data) - (data[-1:] >= b"\x80")


@complete_bytes.mistake(
    "two bytes go at most. Of four bytes of a character three may be there already."
)
def two_bytes_at_most(data):
    return max(complete_bytes.reference(data), len(data) - 2)


@complete_bytes.mistake(
    "all bytes above 0x7F at the end go, even if they spell whole characters."
)
def strips_all_of_utf8(data):
    return len(data.rstrip(bytes(range(0x80, 0x100))))


@complete_bytes.mistake(
    "all later bytes (0x80 to 0xBF) at the end go, even those of whole characters, and "
    "the first byte of the character stays."
)
def strips_later_bytes(data):
    return len(data.rstrip(bytes(range(0x80, 0xC0))))


@complete_bytes.mistake(
    "the last character is left out even if it is whole: `range(len(data) + 1)` comes"
    " to the whole, and a character may end where the bytes end, `<=` and not `<`."
)
def never_all(data):
    return complete_bytes.reference(data[:-1])


def _forward(data, lengths, *, fits=lambda end, size: end <= size):
    """Go on from character to character as their first bytes say."""
    position = 0
    while position < len(data):
        first = data[position]
        length = lengths[(first >= 0x80) + (first >= 0xE0) + (first >= 0xF0)]
        if not fits(position + length, len(data)):
            break
        position += length
    return position


@complete_bytes.mistake(
    "from the first byte of a character on four bytes are taken for three: first bytes "
    "from 0xF0 on have three more behind them."
)
def forward_three_at_most(data):
    return _forward(data, (1, 2, 3, 3))


@complete_bytes.mistake(
    "all characters outside ASCII are taken for three bytes. é has two, 🌊 four."
)
def forward_threes(data):
    return _forward(data, (1, 3, 3, 3))


@complete_bytes.mistake(
    "all characters outside ASCII are taken for two bytes. 潮 has three, 🌊 four."
)
def forward_twos(data):
    return _forward(data, (1, 2, 2, 2))


@complete_bytes.mistake(
    "characters of two bytes are taken for three: first bytes from 0xC0 to 0xDF have "
    "one more behind them."
)
def forward_without_twos(data):
    return _forward(data, (1, 3, 3, 4))


@complete_bytes.mistake(
    "characters of three bytes are taken for two: first bytes from 0xE0 to 0xEF have "
    "two more behind them."
)
def forward_without_threes(data):
    return _forward(data, (1, 2, 2, 4))


@complete_bytes.mistake(
    "the bytes that the last character *will* have are counted, also those that are "
    "not there yet."
)
def forward_beyond(data):
    return _forward(data, (1, 2, 3, 4), fits=lambda end, size: True)


@complete_bytes.mistake(
    "one byte too few where the end is half a character: what can be shown ends right "
    "before its first byte."
)
def one_before_the_half(data):
    whole = complete_bytes.reference(data)
    return whole if whole == len(data) else whole - 1


def _without(data, lengths):
    """Count as `complete_bytes` does, with other lengths by kind of first byte."""
    for back in range(1, min(4, len(data)) + 1):
        first = data[-back]
        if first < 0x80:
            return len(data)
        if first >= 0xC0:
            kind = (first >= 0xE0) + (first >= 0xF0)
            length = lengths[min(kind, len(lengths) - 1)]
            return len(data) if back >= length else len(data) - back
    return len(data)


# 7. The unit of the compression curve.


def _texts(random: Random) -> Iterator[Case]:
    for text in (
        "a",
        "abc",
        "été",
        "潮汐",
        "🌊",
        "x = 1",
        "Flut und Ebbe",
        "涨潮 and 落潮",
        " tide",
        "ebb\n",
        "\tif a:\n\n  b\n",
        "aaaa",
    ):
        yield from ((text, num_tokens) for num_tokens in (1, 2, 3, len(text)))


@exercise(
    cases=_texts,
    hints=(
        "A character is 1 to 4 bytes: `len(text)` counts characters. Which method of "
        "`str` makes bytes?",
        "Try it: what is `len('é')`, and what is the length of its UTF-8? And which of "
        "bytes and tokens is above the line?",
    ),
)
def compression(text: str, num_tokens: int) -> float:
    """Return how many UTF-8 bytes of the text one token stands for, on average."""
    return len(text.encode("utf-8")) / num_tokens


NUMERATORS = [
    (lambda text: len(text.encode()), ""),
    (
        len,
        "characters per token. That flatters English, whose characters are one byte, "
        "against Chinese.",
    ),
    (
        lambda text: len(text.encode("utf-16-le")),
        "bytes of UTF-16. The unit of this course is the byte of UTF-8.",
    ),
    (
        lambda text: len(text.encode("utf-16")),
        "bytes of UTF-16, and two more for its mark at the beginning. The unit of this "
        "course is the byte of UTF-8.",
    ),
    (
        lambda text: len(text.encode("utf-32-le")),
        "bytes of UTF-32, four a character. The unit of this course is the byte of "
        "UTF-8.",
    ),
    (
        lambda text: len(text.encode("utf-32")),
        "bytes of UTF-32, and four more for its mark at the beginning. The unit of "
        "this course is the byte of UTF-8.",
    ),
    (
        lambda text: len(text.encode("utf-8-sig")),
        "three bytes more than the text has: `utf-8-sig` puts a mark before it.",
    ),
    (
        lambda text: len(text.encode("latin-1", "ignore")),
        "bytes of Latin-1, which has no 潮: a character outside it is lost, and é is "
        "one byte. The unit of this course is the byte of UTF-8.",
    ),
    (
        lambda text: len(text.encode("ascii", "ignore")),
        "characters outside ASCII are left out or count once. In UTF-8 they are two to "
        "four bytes each.",
    ),
    (
        lambda text: len(text.strip().encode()),
        "blanks and line breaks at the ends are cut off. The tokens had to spell them "
        "too.",
    ),
    (
        lambda text: len("".join(text.split()).encode()),
        "blanks and line breaks are left out. The tokens had to spell them too.",
    ),
    (
        lambda text: len(text.replace(" ", "").encode()),
        "blanks are left out. The tokens had to spell them too.",
    ),
    (lambda text: len(text.split()), "words per token. Asked is bytes per token."),
    (
        lambda text: len(set(text.encode())),
        "different bytes. Each counts as often as it occurs.",
    ),
    (
        lambda text: len(set(text)),
        "different characters. All bytes count, as often as they occur.",
    ),
    (
        lambda text: sum(map(ord, text)),
        "the numbers of the characters are added. How many bytes they have is asked.",
    ),
    (
        lambda text: sum(text.encode()),
        "the bytes are added as numbers. How many there are is asked: `len`.",
    ),
    (
        lambda text: len(str(text.encode())),
        "the characters of the bytes as Python writes them, `b'...'`, are counted. "
        "`len` of the `bytes` themselves counts bytes.",
    ),
    (
        lambda text: 3 * len(text),
        "three bytes for each character. They have one to four.",
    ),
    (
        lambda text: len(repr(text)),
        "the characters of the text as Python writes it, with its quotation marks. "
        "They are no part of it.",
    ),
    (
        lambda text: len(repr(text).encode()),
        "the text as Python writes it, with its quotation marks. They are no part of "
        "it.",
    ),
    (
        lambda text: sys.getsizeof(text),
        "what Python needs in memory for the object. Asked is the length of the text "
        "in UTF-8.",
    ),
]

QUOTIENTS = [
    (lambda size, tokens: size / tokens, ""),
    (
        lambda size, tokens: tokens / size if size else 0.0,
        "upside down: tokens per byte.",
    ),
    (
        lambda size, tokens: size,
        "all bytes. Asked is how many of them one token stands for.",
    ),
    (
        lambda size, tokens: tokens,
        "the number of tokens. Asked is how many bytes one of them stands for.",
    ),
    (
        lambda size, tokens: size * tokens,
        "bytes are multiplied by tokens. How many bytes one token stands for is a "
        "quotient.",
    ),
    (
        lambda size, tokens: size - tokens,
        "a difference. How many bytes one token stands for is a quotient.",
    ),
    (
        lambda size, tokens: size / (tokens + 1),
        "one token too many: divide by `num_tokens` as it is.",
    ),
    (
        lambda size, tokens: size / (tokens - 1),
        "one token too few: divide by `num_tokens` as it is.",
    ),
    (
        lambda size, tokens: 1 - tokens / size,
        "the share that is saved. Asked is bytes per token.",
    ),
]

FINISHED = [
    (lambda ratio: ratio, ""),
    (
        math.floor,
        "rounded down: `//` throws the fraction away, and the fraction is what you "
        "compare.",
    ),
    (math.ceil, "rounded up. The fraction is what you compare."),
    (
        round,
        "rounded. The fraction is what you compare: leave rounding to whoever prints "
        "it.",
    ),
    (
        lambda ratio: round(ratio, 1),
        "rounded to one digit. Leave rounding to whoever prints it.",
    ),
    (
        lambda ratio: round(ratio, 2),
        "rounded to two digits. Leave rounding to whoever prints it: differences of a "
        "few thousandths count.",
    ),
    (
        lambda ratio: 8 * ratio,
        "bits. A byte is eight of them; asked is bytes per token.",
    ),
    (
        lambda ratio: ratio / 8,
        "an eighth of it. `len` of `bytes` counts bytes already, not bits.",
    ),
    (lambda ratio: 100 * ratio, "a percentage: 100 times too much."),
    (
        lambda ratio: math.log2(ratio) if ratio > 0 else 0.0,
        "a logarithm. Asked is the quotient itself.",
    ),
]


def _compression_by_steps(numerator, quotient, finished, text, num_tokens):
    return finished(quotient(numerator(text), num_tokens))


@compression.mistake("bytes per word. Asked is bytes per token.")
def bytes_per_word(text, num_tokens):
    return len(text.encode()) / len(text.split())


@compression.mistake(
    "bytes per character. Asked is bytes per token: `num_tokens` plays no part."
)
def bytes_per_character(text, num_tokens):
    return len(text.encode()) / len(text)


_register(compression, _compression_by_steps, NUMERATORS, QUOTIENTS, FINISHED)


# Bug or not?


def _words_with_merges(random: Random) -> Iterator[Case]:
    # (2, 3) was learned before (1, 2): in 1 2 3 it wins, although the other stands
    # further left.
    merges = {(2, 3): 10, (1, 2): 11, (1, 10): 12, (3, 3): 13, (4, 2): 14}
    for ids in (
        [],
        [1],
        [1, 2],
        [1, 2, 3],
        [1, 2, 1, 2, 3],
        [3, 3, 3],
        [2, 3, 3],
        [4, 2, 3],
        [4, 1, 2],
    ):
        yield ids, merges
    for _ in range(40):
        text = tuple(random.randrange(4) for _ in range(30))
        learned = learn_merges({text: 1}, random.randrange(2, 7), first_id=10)
        yield [random.randrange(4) for _ in range(random.randrange(4, 12))], learned


def repeated_merges(ids: list[int], merges: dict[tuple[int, int], int]) -> list[int]:
    return merge_history(ids, merges)[-1]


@bug_or_not(
    purpose=(
        "Encode a word, spelled in the ids of its bytes, as `merge_history` does; "
        "`merges` are in the order of learning."
    ),
    reference=repeated_merges,
    cases=_words_with_merges,
    explanation=(
        "The longest token that fits need not be what the merges lead to: they may "
        "have used up its bytes before. The text still decodes, so nothing crashes. "
        "But the model was trained on other ids, and sees sequences that it has never "
        "met."
    ),
)
def encode_longest_first(
    ids: list[int], merges: dict[tuple[int, int], int]
) -> list[int]:
    spelled = {}
    for (left, right), new_id in merges.items():
        spelled[new_id] = spelled.get(left, [left]) + spelled.get(right, [right])
    encoded, position = [], 0
    while position < len(ids):
        fits = [
            (len(s), token)
            for token, s in spelled.items()
            if ids[position : position + len(s)] == s
        ]
        length, token = max(fits, default=(1, ids[position]))
        encoded.append(token)
        position += length
    return encoded


@bug_or_not(
    purpose=(
        "Encode a word, spelled in the ids of its bytes, as `merge_history` does; "
        "`merges` are in the order of learning."
    ),
    reference=repeated_merges,
    cases=_words_with_merges,
    explanation=(
        "It never goes back, and need not: a merge makes a new id, and an id can only "
        "be part of merges that were learned later, which are still to come. What it "
        "costs is a walk for *each* merge of the vocabulary, whether the word holds "
        "its pair or not."
    ),
)
def encode_merge_by_merge(
    ids: list[int], merges: dict[tuple[int, int], int]
) -> list[int]:
    for pair, new_id in merges.items():
        ids = merge_pair(ids, pair, new_id)
    return ids


def byte_lengths(tokens: list[bytes]) -> list[int]:
    return [len(token) for token in tokens]


def _tokens(random: Random) -> Iterator[Case]:
    yield from (
        ([],),
        ([b"tide"],),
        ([b"ti", b"de"],),
        (["é".encode(), b"t"],),
        ([b"\xc3"],),
        (["潮".encode()],),
        (["潮".encode()[:2], b" and"],),
    )
    for _ in range(20):
        data = "".join(random.choice("aé潮🌊") for _ in range(3)).encode()
        cut = random.randrange(len(data) + 1)
        yield ([data[:cut], data[cut:]],)


@bug_or_not(
    purpose=(
        "Say how many bytes of text each token stands for; their sum over a text is "
        "what its loss is divided by, for bits per byte."
    ),
    reference=byte_lengths,
    cases=_tokens,
    explanation=(
        "A token may be a part of a character. Decoded alone, it becomes U+FFFD, which "
        "has three bytes, whatever stood there. So the sum is too large, and the bits "
        "per byte too small. karpathy/nanochat had this line; its pull request 693 "
        "counts the token's own bytes instead."
    ),
)
def bytes_of_decoded_tokens(tokens: list[bytes]) -> list[int]:
    return [len(token.decode("utf-8", "replace").encode()) for token in tokens]


# True or false?

TRAINING_TEXT = "the tide comes in, the tide goes out, and the boats wait for it. " * 3


@cache
def _trained(vocab_size: int) -> BPETokenizer:
    return BPETokenizer.train(TRAINING_TEXT, vocab_size)


def _unseen_characters(random: Random) -> Iterator[Case]:
    yield from (
        (text,) for text in ("t", "tide", "Z", "é", "潮", "boat 7", "🌊!", "ÿ�")
    )
    yield from ((chr(random.randrange(0x20, 0xD800)),) for _ in range(30))


def lost_characters(text: str) -> list[str]:
    back = _trained(300).decode(_trained(300).encode(text))
    return sorted(set(text) - set(back))


@true_or_false(
    claim=(
        "A byte-level tokenizer needs a token `<unk>`: characters that its training "
        "text did not hold would be lost without it."
    ),
    reference=lost_characters,
    cases=_unseen_characters,
    explanation=(
        "All 256 bytes have ids, seen or not, and every character is made of bytes. "
        "`<unk>` in such a vocabulary is an id that never occurs. Where characters are "
        "the alphabet it is another matter: see *Where `<unk>` belongs*."
    ),
)
def unknown_is_needed(text: str) -> list[str]:
    return sorted(set(text) - set(TRAINING_TEXT))


def _texts_and_sizes(random: Random) -> Iterator[Case]:
    for text in ("t", "the tide", "hethe", "tihe boats and waits", "The End", "潮汐"):
        yield from ((text, 256, 300), (text, 257, 258), (text, 270, 290))
    letters = "theidboaswn "
    for _ in range(40):
        text = "".join(random.choices(letters, k=random.randrange(2, 20)))
        smaller = random.randrange(256, 300)
        yield text, smaller, random.randrange(smaller, 310)


def at_most_as_many(text: str, smaller: int, larger: int) -> bool:
    few, many = _trained(larger).encode(text), _trained(smaller).encode(text)
    return len(few) <= len(many)


@true_or_false(
    claim=(
        "Of two tokenizers that learned from one text in one way, the one with more "
        "merges never needs more tokens than the other, whatever text they encode."
    ),
    reference=at_most_as_many,
    cases=_texts_and_sizes,
    explanation=(
        "The larger one has all merges of the smaller one, and others that were "
        "learned after them. Encoding applies merges in the order of learning, so it "
        "comes to the smaller one's tokens first, and then can only join some of them. "
        "(With other training texts all bets are off.)"
    ),
)
def more_merges_never_hurt(text: str, smaller: int, larger: int) -> bool:
    return True


# With other numbers by seed.


@numbers(
    ask="A byte-level tokenizer shall have {vocab_size:,} tokens, {num_special} "
    "special ones among them. How many merges does it learn?",
    draw=lambda rng: {
        "vocab_size": rng.randrange(1_000, 60_000),
        "num_special": rng.randrange(2, 30),
    },
    hints=("Which tokens are there before the first merge?",),
)
def merges_to_learn(vocab_size: int, num_special: int) -> int:
    return vocab_size - 256 - num_special


@merges_to_learn.mistake("special tokens take places, too.")
def without_special(vocab_size, num_special):
    return vocab_size - 256


@merges_to_learn.mistake("the 256 bytes are tokens before the first merge.")
def without_bytes(vocab_size, num_special):
    return vocab_size - num_special


@merges_to_learn.mistake("255 bytes. They are 0 to 255: that is 256.")
def one_byte_less(vocab_size, num_special):
    return vocab_size - 255 - num_special


@numbers(
    ask="In a text, the word that is nothing but {run} times the letter `a` comes "
    "{count:,} times. The pair (a, a) becomes one token. By how many tokens does the "
    "text get shorter?",
    draw=lambda rng: {
        "run": 2 * rng.randrange(2, 6) + 1,
        "count": rng.randrange(100, 2_000),
    },
    hints=("Merge a short run by hand, from left to right. Can pairs overlap?",),
)
def saved_by_runs(run: int, count: int) -> int:
    return run // 2 * count


@saved_by_runs.mistake(
    "pairs that overlap are counted: an `a` that was merged is gone for the next."
)
def overlapping_pairs(run, count):
    return (run - 1) * count


@saved_by_runs.mistake("what one word saves. It comes often.")
def saved_by_one_word(run, count):
    return run // 2


@saved_by_runs.mistake("the tokens that are *left*.")
def tokens_left(run, count):
    return (run - run // 2) * count


@numbers(
    ask="A model's loss is {loss} nats a token, and its tokens stand for {compression} "
    "bytes on average. How many bits a byte is that, the unit in which tokenizers can "
    "be compared?",
    draw=lambda rng: {
        "loss": rng.randrange(200, 600) / 100,
        "compression": rng.randrange(200, 500) / 100,
    },
    hints=("From nats to bits, and from a token to one of its bytes.",),
)
def bits_to_compare(loss: float, compression: float) -> float:
    return loss / math.log(2) / compression


@bits_to_compare.mistake("nats a byte: a bit is ln 2 nats.")
def nats_to_compare(loss, compression):
    return loss / compression


@bits_to_compare.mistake("bits a token. It has several bytes.")
def bits_of_token(loss, compression):
    return loss / math.log(2)


@bits_to_compare.mistake("times the bytes of a token: its loss is shared by them.")
def times_compression(loss, compression):
    return loss / math.log(2) * compression


@bits_to_compare.mistake("times ln 2: there are more bits than nats.")
def compared_times_ln_2(loss, compression):
    return loss * math.log(2) / compression
