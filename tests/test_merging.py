"""Merges learned and made fast, against naive twins and the definitions of lesson 6."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from course_lib.bpe import (
    BPETokenizer,
    count_words,
    learn_merges_by_rescanning,
    merge_history,
    merge_pair,
    merging,
    pair_counts,
    spell,
)
from course_lib.bpe.merging import learn_merges, merge_word
from course_lib.foundation import END_OF_TEXT, load_text

# Naive twins, straight from the definitions.


def naive_merge(ids: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    for position in range(len(ids) - 1):
        if (ids[position], ids[position + 1]) == pair:
            return [*ids[:position], new_id, *naive_merge(ids[position + 2 :], pair, new_id)]
    return list(ids)


def naive_learning(words: list[list[int]], num_merges: int, first_id: int, min_frequency: int) -> dict:
    """Every occurrence of every word on its own, every count anew, the best pair by sorting."""
    merges = {}
    for new_id in range(first_id, first_id + num_merges):
        pairs = [(word[i], word[i + 1]) for word in words for i in range(len(word) - 1)]
        ranked = sorted(set(pairs), key=lambda pair: (-pairs.count(pair), pair[0], pair[1]))
        if not ranked or pairs.count(ranked[0]) < min_frequency:
            break
        merges[ranked[0]] = new_id
        words = [naive_merge(word, ranked[0], new_id) for word in words]
    return merges


def naive_encoding(ids: list[int], merges: dict) -> list[int]:
    for pair, new_id in merges.items():
        ids = naive_merge(ids, pair, new_id)
    return ids


small_words = st.lists(st.lists(st.integers(0, 3), max_size=9), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def story() -> BPETokenizer:
    return BPETokenizer.train(load_text(), 700, special_tokens=[END_OF_TEXT, "<|pad|>"])


# One merge


@given(st.lists(st.integers(0, 2), max_size=14), st.tuples(st.integers(0, 2), st.integers(0, 2)))
@example([1, 1, 1], (1, 1))
@example([1, 1, 1, 1, 1], (1, 1))
def test_a_merge_replaces_each_occurrence_from_the_left(ids, pair):
    expected = naive_merge(ids, pair, 9)
    assert merge_pair(ids, pair, 9) == expected
    assert merge_pair(tuple(ids), pair, 9) == expected
    assert merging._merge_and_tell(ids, pair, 9)[0] == expected


@given(st.lists(st.integers(0, 2), max_size=14), st.tuples(st.integers(0, 2), st.integers(0, 2)))
@example([1, 1, 1, 1, 1], (1, 1))
@example([0, 1, 0, 1, 0, 1], (0, 1))
def test_the_told_changes_turn_old_counts_into_new_ones(ids, pair):
    merged, changes = merging._merge_and_tell(ids, pair, 9)
    counts = pair_counts({tuple(ids): 1})
    for changed, difference in changes:
        counts[changed] += difference
    counts[pair] = 0
    assert +counts == pair_counts({tuple(merged): 1})


# Learning


@given(small_words, st.integers(0, 12), st.integers(1, 3))
@settings(max_examples=120)
@example([[1] * 9, [1] * 4], 6, 1)
def test_both_ways_of_learning_do_what_the_definition_says(words, num_merges, min_frequency):
    counted = Counter(map(tuple, words))
    merges = learn_merges(counted, num_merges, first_id=4, min_frequency=min_frequency)
    assert list(merges.items()) == list(naive_learning(words, num_merges, 4, min_frequency).items())
    usual = list(naive_learning(words, num_merges, 256, 2).items())
    assert list(learn_merges(counted, num_merges).items()) == usual
    assert list(learn_merges_by_rescanning(counted, num_merges).items()) == usual


def test_both_ways_of_learning_agree_on_text_down_to_the_last_pair():
    words = count_words([load_text()[:4000]])
    assert list(learn_merges(words, 10**6).items()) == list(learn_merges_by_rescanning(words, 10**6).items())


def test_learning_visits_only_words_that_hold_the_pair(monkeypatch):
    words = count_words([load_text()])
    visits = 0
    merge_and_tell = merging._merge_and_tell

    def counting(ids, pair, new_id):
        nonlocal visits
        visits += 1
        return merge_and_tell(ids, pair, new_id)

    monkeypatch.setattr(merging, "_merge_and_tell", counting)
    merges = learn_merges(words, 300)
    needed = sum(len(merge_history(word, merges)) - 1 for word in words)
    assert needed <= visits <= 1.5 * needed  # some words have lost the pair to an earlier merge
    assert visits < len(words) * len(merges) / 20


# Encoding a word


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=8), st.lists(st.integers(0, 2), max_size=16))
@settings(max_examples=200)
@example([(1, 1), (3, 3), (3, 1)], [1] * 7)
def test_encoding_applies_any_merges_in_their_order(pairs, word):
    merges = {}
    for left, right in pairs:  # ids that exist at the time, whether or not a training would choose them
        merges.setdefault((left % (3 + len(merges)), right % (3 + len(merges))), 3 + len(merges))
    stages = merge_history(word, merges)
    assert stages[0] == word
    assert merge_word(word, merges) == stages[-1] == naive_encoding(word, merges)


class CountingDict(dict):
    lookups = 0

    def __contains__(self, key):
        self.lookups += 1
        return super().__contains__(key)

    def get(self, key, default=None):
        self.lookups += 1
        return super().get(key, default)


@pytest.mark.parametrize("kind", ["letters", "row", "noise"])
def test_encoding_takes_a_bounded_number_of_lookups_a_byte(kind, story):
    made = {
        "letters": lambda n: spell("".join(c for c in load_text() if c.isalpha())[:n], 2),
        "row": lambda n: spell("e" * n, 2),
        "noise": lambda n: tuple(random.Random(0).choices(range(2, 258), k=n)),
    }[kind]
    merges = dict(story.merges)
    if kind == "row":  # a tree as deep as it gets: e, ee, eeee, ...
        first = token = spell("e", 2)[0]
        for new_id in range(10_000, 10_020):
            merges[token, token], token = new_id, new_id
        assert merge_word([first] * 2**10, merges) == [10_009]
    for length in (1000, 2000, 4000, 8000, 16_000):
        counting = CountingDict(merges)
        merge_word(made(length), counting)
        # One for each pair, one for each entry of the heap, and two for each merge, which enter the heap at most.
        assert counting.lookups <= 6 * length


class CountingRank(int):
    comparisons = 0

    def __eq__(self, other):
        CountingRank.comparisons += 1
        return int(self) == int(other)

    def __lt__(self, other):
        CountingRank.comparisons += 1
        return int(self) < int(other)

    __hash__ = int.__hash__


def test_encoding_compares_linearithmically_often(story):
    merges = {pair: CountingRank(new_id) for pair, new_id in story.merges.items()}
    letters = "".join(c for c in load_text() if c.isalpha())
    for length in (1000, 4000, 16_000):
        CountingRank.comparisons = 0
        merge_word(spell(letters, 2)[:length], merges)
        assert CountingRank.comparisons <= 2 * length * math.log2(length)
