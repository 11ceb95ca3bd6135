"""Answers to the exercises of lesson 14: right ones, and wrong ones with words of what they are told."""

import itertools
from collections import Counter

import numpy as np

from course_lib.exercises.auditing_loaders import (
    count_lost,
    just_lost,
    neighbors_needed,
    resume_errors,
    shared_windows,
)
from course_lib.teaching.checker import FAILED, PASSED


def with_a_mask(starts, num_tokens, context_length):
    lost = np.ones(num_tokens, bool)
    lost[0] = False
    for start in starts:
        lost[start + 1 : start + context_length + 1] = False
    return lost.sum()


def asked_of_each(starts, num_tokens, context_length):
    tokens = range(1, num_tokens)
    return sum(not any(s < p <= s + context_length for s in starts) for p in tokens)


def one_target_too_few(starts, num_tokens, context_length):
    seen = set()
    for start in starts:
        seen.update(range(start + 1, start + context_length))
    return num_tokens - 1 - len(seen)


def by_joined_sets(ids):
    k = 1
    while len({tuple(ids[i : i + k]) for i in range(len(ids) - k + 1)}) < len(ids) - k + 1:
        k += 1
    return k


def longest_repeat(ids):
    longest = 0
    for one in range(len(ids)):
        for other in range(one + 1, len(ids)):
            length = 0
            while other + length < len(ids) and ids[one + length] == ids[other + length]:
                length += 1
            longest = max(longest, length)
    return longest + 1


def as_sets_of_neighbors(ids):
    for k in range(1, len(ids) + 1):
        runs = [frozenset(ids[i : i + k]) for i in range(len(ids) - k + 1)]
        if len(set(runs)) == len(runs):
            return k
    return 1


def of_sorted_neighbors(ids):
    k = 1
    while k < len(ids):
        runs = ["-".join(map(str, sorted(ids[i : i + k]))) for i in range(len(ids) - k + 1)]
        if len(runs) == len(set(runs)):
            break
        k += 1
    return max(k, 1)


def one_too_few(ids):
    return longest_repeat(ids) - 1 if len(ids) > 2 else 1


def by_counting(expected, got):
    windows = set(expected) | set(got)
    differences = [got.count(w) - expected.count(w) for w in windows]
    return sum(max(0, d) for d in differences), sum(max(0, -d) for d in differences)


def by_crossing_off(expected, got):
    missing = sorted(expected)
    extra = []
    for window in got:
        (missing.remove if window in missing else extra.append)(window)
    return [len(extra), len(missing)]


def as_sets(expected, got):
    return len(set(got) - set(expected)), len(set(expected) - set(got))


def crossed_off_the_callers(expected, got):
    extra = 0
    for window in got:
        if window in expected:
            expected.remove(window)
        else:
            extra += 1
    return extra, len(expected)


def with_each_rank_once(ranks):
    windows = [window for rank in ranks for window in dict.fromkeys(rank)]
    return len([window for window, count in Counter(windows).items() if count >= 2])


def by_asking_all(ranks):
    return sum(sum(w in rank for rank in ranks) > 1 for w in set().union(*ranks))


def in_one_heap(ranks):
    counts = Counter()
    for rank in ranks:
        counts.update(rank)
    return sum(count > 1 for count in counts.values())


def with_the_next(ranks):
    return len(set().union(*(set(a) & set(b) for a, b in itertools.pairwise(ranks))))


def rows_of(ids, starts, length=4):
    return [([ids[s : s + length]], [ids[s + 1 : s + length + 1]]) for s in starts]


def pairs_but_one(ids):
    return rows_of(ids, [place for place in range(len(ids) - 1) if place != 9], length=1)


def two_long_rows(ids):
    middle = len(ids) // 2
    return [([ids[: middle - 1]], [ids[1:middle]]), ([ids[middle:-1]], [ids[middle + 1 :]])]


def two_ahead(ids):
    return [([ids[s : s + 4]], [ids[s + 2 : s + 6]]) for s in range(0, len(ids) - 5, 4)]


def behind_the_last_window(starts, num_tokens, context_length):
    last = 0
    for start in starts:
        last = max(last, start + context_length)
    return num_tokens - 1 - last


def what_a_tail_would_be(starts, num_tokens, context_length):
    return (num_tokens - 1) % context_length


def without_the_last_run(ids):
    k = 1
    while True:
        runs = [tuple(ids[i : i + k]) for i in range(len(ids) - k)]
        if len(runs) == len(set(runs)):
            return k
        k += 1


def runs_side_by_side(ids):
    for k in range(1, len(ids) + 1):
        runs = [tuple(ids[i : i + k]) for i in range(0, len(ids) - k + 1, k)]
        if len(runs) == len(set(runs)):
            return k
    return 1


def longest_that_repeats(ids):
    longest = 0
    for k in range(1, len(ids)):
        runs = [tuple(ids[i : i + k]) for i in range(len(ids) - k + 1)]
        if len(set(runs)) < len(runs):
            longest = k
    return longest


def place_by_place(expected, got):
    wrong = 0
    for window, other in zip(expected, got, strict=False):
        if window != other:
            wrong += 1
    return wrong, wrong


def repeats_in_what_came(expected, got):
    repeated = len(got) - len(set(got))
    missing = list((Counter(expected) - Counter(got)).elements())
    return repeated, len(missing)


def each_window_once(expected, got):
    wanted, given = Counter(expected), Counter(got)
    too_often = [window for window in given if given[window] > wanted[window]]
    left_out = [window for window in wanted if wanted[window] > given[window]]
    return len(too_often), len(left_out)


def of_each_pair_of_ranks(ranks):
    return sum(len(set(a) & set(b)) for a, b in itertools.combinations(ranks, 2))


def every_reading(ranks):
    shared = 0
    for number, rank in enumerate(ranks):
        others = [window for k, other in enumerate(ranks) if k != number for window in other]
        shared += sum(window in others for window in rank)
    return shared


def without_the_second_window(ids):
    batches = []
    for number, start in enumerate(range(0, len(ids) - 4, 4)):
        if number != 1:
            batches.append(([ids[start : start + 4]], [ids[start + 1 : start + 5]]))
    return batches


def without_a_shift(ids):
    starts = [0, *range(5, len(ids) - 4, 4)]
    return [([ids[start : start + 4]], [ids[start : start + 4]]) for start in starts]


ANSWERS = [
    (count_lost, with_a_mask, PASSED),
    (count_lost, asked_of_each, PASSED),
    (count_lost, one_target_too_few, "from s + 1 to s + T"),
    (count_lost, lambda starts, N, T: N - 1 - T * len(starts), "may overlap"),
    (count_lost, lambda starts, N, T: N - len({s + i for s in starts for i in range(1, T + 1)}), "token 0"),
    (count_lost, lambda starts, N, T: len({s + i for s in starts for i in range(1, T + 1)}), "that *are* targets"),
    (count_lost, lambda starts, N, T: N - len(starts), FAILED),
    (neighbors_needed, by_joined_sets, PASSED),
    (neighbors_needed, longest_repeat, PASSED),
    (neighbors_needed, of_sorted_neighbors, "lose the order"),
    (neighbors_needed, lambda ids: 2 if len(ids) > len(set(ids)) else 1, "Try 3, 4"),
    (neighbors_needed, lambda ids: max([ids.count(i) for i in ids], default=1), "you count ids"),
    (neighbors_needed, as_sets_of_neighbors, FAILED),
    (neighbors_needed, one_too_few, FAILED),
    (resume_errors, by_counting, PASSED),
    (resume_errors, by_crossing_off, PASSED),
    (resume_errors, as_sets, "not how often"),
    (resume_errors, crossed_off_the_callers, "changes its arguments"),
    (resume_errors, lambda expected, got: (len(got) - len(expected), len(expected) - len(got)), "not *which* they are"),
    (resume_errors, lambda expected, got: by_counting(got, expected), "swap the two results"),
    (resume_errors, lambda expected, got: (0, len(expected)), FAILED),
    (shared_windows, with_each_rank_once, PASSED),
    (shared_windows, by_asking_all, PASSED),
    (shared_windows, in_one_heap, "*one* rank reads twice"),
    (shared_windows, with_the_next, "only with the next"),
    (shared_windows, lambda ranks: len(set().union(*ranks)), "all windows"),
    (shared_windows, lambda ranks: len(set(ranks[0]).intersection(*ranks)), "*all* ranks read"),
    (shared_windows, lambda ranks: len(ranks), FAILED),
    (just_lost, pairs_but_one, PASSED),
    (just_lost, two_long_rows, PASSED),
    (just_lost, lambda ids: rows_of(ids, [0, *range(7, len(ids) - 6, 6)], length=6), PASSED),
    (just_lost, lambda ids: rows_of(ids, range(1, len(ids) - 3, 3), length=3), PASSED),  # token 1
    (just_lost, lambda ids: rows_of(ids, [0, *range(5, len(ids) - 4, 4)])[::-1], "in both epochs that the audit"),
    (just_lost, lambda ids: rows_of(ids, range(0, len(ids) - 4, 4)), "you lose nothing"),
    (just_lost, lambda ids: rows_of(ids, range(0, len(ids) - 4, 5)), "after *each* window"),
    (just_lost, lambda ids: rows_of(ids, [0]), "only one batch"),
    (just_lost, two_ahead, FAILED),
    (count_lost, behind_the_last_window, "after the last window"),
    (count_lost, what_a_tail_would_be, "follow one another"),
    (neighbors_needed, without_the_last_run, "leave out the last run"),
    (neighbors_needed, runs_side_by_side, "every k-th run"),
    (neighbors_needed, longest_that_repeats, "one short"),
    (resume_errors, place_by_place, "place by place"),
    (resume_errors, repeats_in_what_came, "repeats within `got`"),
    (resume_errors, each_window_once, "count a window once even"),
    (shared_windows, of_each_pair_of_ranks, "for each pair of ranks"),
    (shared_windows, every_reading, "every reading"),
    (just_lost, without_the_second_window, "a whole window"),
    (just_lost, without_a_shift, "inputs themselves as targets"),
]
