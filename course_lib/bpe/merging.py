"""Learn and apply merges fast, with the results of `OneScreenBPE`.

For every merge, the one screen goes through all words, and after each merge in a word
it goes through the whole word again. The functions here touch little besides what a
merge changes. The tests check that the results are the same, including ties.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from course_lib.foundation import Count, Ids, Length, as_ids, as_integers, checked

Pair: TypeAlias = tuple[int, int]
"""Two neighboring ids."""
Words = Mapping[tuple[int, ...], int]
"""A text as training sees it: each distinct word, in ids, with its frequency."""


@checked
def learn_merges(
    words: Words, num_merges: Count, *, first_id: Count = 256, min_frequency: Length = 2
) -> dict[Pair, int]:
    """Learn the merges of `OneScreenBPE`, but visit few words for each.

    The counts are updated instead of being counted again. An index lists the words that
    contain a pair, or once did, and only these are visited. A heap has the best pair on
    top. Because a merge can only lower the counts of old pairs, the count in the heap
    may be too high but never too low. We correct it only when the pair comes to the
    top.

    Args:
        words: spelled in ids below `first_id`, with their frequencies.
        num_merges: how many merges to learn at most.
        first_id: the id of the first merged pair; the others follow.
        min_frequency: stop when no pair occurs as often as this; at least 1.

    Returns each merged pair with its new id, in the order in which they were learned.
    """
    words = check_words(words, first_id)
    spelled = [list(ids) for ids in words]
    frequencies = list(words.values())
    counts: Counter[Pair] = Counter()
    holders: defaultdict[Pair, set[int]] = defaultdict(set)
    for number, ids in enumerate(spelled):
        for pair in pairwise(ids):
            counts[pair] += frequencies[number]
            holders[pair].add(number)
    heap = [(-count, pair) for pair, count in counts.items()]
    heapq.heapify(heap)
    merges: dict[Pair, int] = {}
    while heap and len(merges) < num_merges:
        promised, pair = heapq.heappop(heap)
        if counts[pair] != -promised:
            heapq.heappush(heap, (-counts[pair], pair))
            continue
        if counts[pair] < min_frequency:
            break
        new_id = merges[pair] = first_id + len(merges)
        created = set()
        for number in holders.pop(pair):
            spelled[number], changes = _merge_and_tell(spelled[number], pair, new_id)
            for changed, difference in changes:
                counts[changed] += difference * frequencies[number]
                if difference > 0:
                    holders[changed].add(number)
                    created.add(changed)
        counts[pair] = 0
        for new_pair in created:  # each contains the new id: none is in the heap yet
            heapq.heappush(heap, (-counts[new_pair], new_pair))
    return merges


def _merge_and_tell(
    ids: list[int], pair: Pair, new_id: int
) -> tuple[list[int], list[tuple[Pair, int]]]:
    """Merge a pair in one word, and list the pairs beside it that come and go."""
    first, second = pair
    merged: list[int] = []
    changes: list[tuple[Pair, int]] = []
    begin, end = 0, len(ids) - 1
    position = 0
    while position < end:
        if ids[position] != first or ids[position + 1] != second:
            position += 1
            continue
        merged += ids[begin:position]
        if merged:
            changes += [((merged[-1], first), -1), ((merged[-1], new_id), 1)]
        merged.append(new_id)
        begin = position = position + 2
        if position <= end:
            changes += [((second, ids[position]), -1), ((new_id, ids[position]), 1)]
    merged += ids[begin:]
    return merged, changes


@checked
def merge_word(ids: Sequence[int], merges: Mapping[Pair, int]) -> list[int]:
    """Encode a word of n bytes in O(n log n) steps, with the result of `OneScreenBPE`.

    A heap holds the pairs that can be merged. The pair that was learned first is on
    top, and among equal pairs the one further left. A linked list gives the neighbors
    of a token after other tokens were merged away. Each merge adds at most two entries
    to the heap.
    """
    # The None at the end, which takes part in no merge, closes the list to a ring, so
    # that no token needs a special case.
    ids = [*as_id_list(ids), None]
    after = [*range(1, len(ids)), -1]
    before = list(range(-1, len(ids) - 1))
    pairs = enumerate(pairwise(ids))
    heap = [(merges[pair], left) for left, pair in pairs if pair in merges]
    heapq.heapify(heap)
    while heap:
        new_id, left = heapq.heappop(heap)
        right = after[left]
        if merges.get((ids[left], ids[right])) != new_id:
            continue  # one of the two has already been merged with another neighbor
        ids[left], ids[right] = new_id, None
        after[left] = after[right]
        before[after[left]] = left
        for place in (before[left], left):
            candidate = merges.get((ids[place], ids[after[place]]))
            if candidate is not None:
                heapq.heappush(heap, (candidate, place))
    return [token for token in ids if token is not None]


def as_id_list(ids: Ids, name: str = "ids", *, length: int | None = None) -> list[int]:
    """Copy ids into a list, so that comparing them never gives a tensor."""
    plain = isinstance(ids, list | tuple) and {*map(type, ids)} <= {int}
    ids = list(ids) if plain else as_ids(name, ids).tolist()
    if length is not None and len(ids) != length:
        raise ValueError(f"{name} must hold {length} ids, got {ids}")
    return ids


def check_words(
    words: Words, first_id: int | None = None
) -> dict[tuple[int, ...], int]:
    """Return words with plain counts, if all of their ids are below `first_id`."""
    if not isinstance(words, Mapping) or set(map(type, words)) - {tuple}:
        raise TypeError(f"words must map tuples of ids to counts, got {words!r:.60}")
    counts = as_integers("counts of words", list(words.values()))
    if counts.size and counts.min() < 0:
        raise ValueError(f"counts of words must not be negative, got {counts.min()}")
    if first_id is not None:
        largest = max((max(ids) for ids in words if ids), default=-1)
        if largest >= first_id:
            raise ValueError(f"words must hold ids below {first_id}, got {largest}")
    return dict(zip(words, counts.tolist(), strict=True))
