"""Exercises of lesson 06: what a merge saves, which one is allowed, how merges are
undone and applied, and half a character."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from random import Random

from course_lib.bpe import (
    BPETokenizer,
    learn_merges,
    merge_history,
    merge_pair,
    pair_counts,
)
from course_lib.teaching import Case, bug_or_not, exercise, true_or_false

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


@tokens_saved.mistake(
    "pairs that overlap are counted twice. In `1 1 1` the pair (1, 1) stands twice, "
    "but only one merge is possible."
)
def overlapping(words, pair):
    return pair_counts(words)[pair]


@tokens_saved.mistake(
    "each distinct word counts once. `words` says how often each occurs in the text."
)
def without_frequency(words, pair):
    return tokens_saved.reference(dict.fromkeys(words, 1), pair)


@tokens_saved.mistake(
    "overlapping pairs are counted twice, and each distinct word only once."
)
def overlapping_without_frequency(words, pair):
    return pair_counts(dict.fromkeys(words, 1))[pair]


@tokens_saved.mistake(
    "one merge a word at most. A word may hold the pair at several places."
)
def once_a_word(words, pair):
    return sum(count for ids, count in words.items() if pair in pairwise(ids))


@tokens_saved.mistake(
    "two ids for each merge. The pair goes, but the new id takes its place: one is "
    "saved."
)
def both_ids(words, pair):
    return 2 * tokens_saved.reference(words, pair)


@tokens_saved.mistake(
    "pairs that reach from one word into the next. No merge crosses a cut."
)
def across_words(words, pair):
    text = sum((ids * count for ids, count in words.items()), ())
    return tokens_saved.reference({text: 1}, pair)


@tokens_saved.mistake(
    "how many ids are left after the merge. Asked is how many fewer there are."
)
def ids_left(words, pair):
    return sum(len(merge_pair(ids, pair, -1)) * count for ids, count in words.items())


@tokens_saved.mistake(
    "only pairs that begin at places 0, 2, 4, ... A pair may begin anywhere; go on by "
    "two only *after* you have found one."
)
def in_steps_of_two(words, pair):
    return sum(
        sum(ids[i : i + 2] == pair for i in range(0, len(ids), 2)) * count
        for ids, count in words.items()
    )


@tokens_saved.mistake(
    "the order within the pair is lost. (1, 2) and (2, 1) are two different pairs."
)
def either_order(words, pair):
    saved = 0
    for ids, frequency in words.items():
        position = 0
        while position < len(ids):
            found = ids[position : position + 2] in (pair, pair[::-1])
            saved += frequency * found
            position += 1 + found
    return saved


@tokens_saved.mistake(
    "a pair at the very end of a word is missed: the last one begins at the last id "
    "but one."
)
def misses_the_end(words, pair):
    return tokens_saved.reference(_regroup((w[:-1], n) for w, n in words.items()), pair)


@tokens_saved.mistake("a pair at the very beginning of a word is missed.")
def misses_the_beginning(words, pair):
    return tokens_saved.reference(_regroup((w[1:], n) for w, n in words.items()), pair)


@tokens_saved.mistake(
    "how often the two ids occur, not how often they stand side by side."
)
def rarer_of_both(words, pair):
    return sum(
        min(ids.count(pair[0]), ids.count(pair[1])) * count
        for ids, count in words.items()
    )


@tokens_saved.mistake(
    "ids are compared as text: `1, 2` is also found inside `11, 2` and `1, 21`."
)
def as_text(words, pair):
    looked_for = f"{pair[0]}, {pair[1]}"
    return sum(str(ids).count(looked_for) * count for ids, count in words.items())


@tokens_saved.mistake(
    "the last word alone. The sum has to start before the loop over the words."
)
def last_word_only(words, pair):
    return tokens_saved.reference(dict(list(words.items())[-1:]), pair)


@tokens_saved.mistake("the first word alone: a `return` inside the loop ends it.")
def first_word_only(words, pair):
    return tokens_saved.reference(dict(list(words.items())[:1]), pair)


@tokens_saved.mistake(
    "nothing is ever found: is like compared with like? `ids.count(pair)` looks for "
    "one entry that is a pair, and a list never equals a tuple."
)
def never_found(words, pair):
    return 0


@tokens_saved.mistake(
    "how many words hold the pair. Asked is what the text gets shorter by."
)
def words_that_hold_it(words, pair):
    return sum(pair in pairwise(ids) for ids in words)


def _regroup(words) -> Counter:
    regrouped = Counter()
    for ids, count in words:
        regrouped[ids] += count
    return regrouped


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


def _allowed(counts, num_bytes, longest):
    return [p for p in counts if num_bytes[p[0]] + num_bytes[p[1]] <= longest]


@best_short_pair.mistake(
    "a token of exactly `longest` bytes is left out: `longest` is allowed."
)
def strictly_shorter(counts, num_bytes, longest):
    return best_short_pair.reference(counts, num_bytes, longest - 1)


@best_short_pair.mistake("`longest` plays no part: the best of all pairs.")
def without_a_bound(counts, num_bytes, longest):
    return min(counts, key=lambda pair: (-counts[pair], pair), default=None)


@best_short_pair.mistake(
    "the best of all pairs is chosen first, and `None` returned if it is too long. "
    "The next one may fit: leave out first, then choose."
)
def chosen_and_then_checked(counts, num_bytes, longest):
    chosen = without_a_bound(counts, num_bytes, longest)
    return chosen if chosen and _allowed([chosen], num_bytes, longest) else None


@best_short_pair.mistake(
    "each part has at most `longest` bytes. The new token spells both: add them."
)
def each_part_fits(counts, num_bytes, longest):
    allowed = [p for p in counts if max(num_bytes[p[0]], num_bytes[p[1]]) <= longest]
    return min(allowed, key=lambda pair: (-counts[pair], pair), default=None)


@best_short_pair.mistake(
    "the ids themselves are added. How many bytes token i has is in `num_bytes[i]`."
)
def adds_ids(counts, num_bytes, longest):
    allowed = [pair for pair in counts if sum(pair) <= longest]
    return min(allowed, key=lambda pair: (-counts[pair], pair), default=None)


@best_short_pair.mistake(
    "`len(pair)` is always 2. How many bytes token i has is in `num_bytes[i]`."
)
def length_of_the_pair(counts, num_bytes, longest):
    allowed = [pair for pair in counts if len(pair) <= longest]
    return min(allowed, key=lambda pair: (-counts[pair], pair), default=None)


@best_short_pair.mistake(
    "ties go to the pair that was counted first. Then the order of the texts changes "
    "the tokenizer."
)
def first_come(counts, num_bytes, longest):
    return max(_allowed(counts, num_bytes, longest), key=counts.get, default=None)


@best_short_pair.mistake(
    "ties go to the largest ids: `max` with the key `(count, pair)` maximizes both."
)
def largest_ids(counts, num_bytes, longest):
    allowed = _allowed(counts, num_bytes, longest)
    return max(allowed, key=lambda pair: (counts[pair], pair), default=None)


@best_short_pair.mistake(
    "the first id decides rightly, but among pairs that share it the *largest* second "
    "id wins. Both are the smaller the better."
)
def largest_second_id(counts, num_bytes, longest):
    allowed = _allowed(counts, num_bytes, longest)
    return min(allowed, key=lambda p: (-counts[p], p[0], -p[1]), default=None)


@best_short_pair.mistake(
    "among equals the *largest* first id wins: `-p[0]` in the key of `min`. The "
    "smaller ids win, both of them."
)
def largest_first_id(counts, num_bytes, longest):
    allowed = _allowed(counts, num_bytes, longest)
    return min(allowed, key=lambda p: (-counts[p], -p[0], p[1]), default=None)


@best_short_pair.mistake(
    "among pairs that share the first id, the one that was counted first wins: the "
    "second id has to decide."
)
def second_id_ignored(counts, num_bytes, longest):
    allowed = _allowed(counts, num_bytes, longest)
    return min(allowed, key=lambda p: (-counts[p], p[0]), default=None)


@best_short_pair.mistake(
    "among equals the second id decides. Compare the first ids, and the second only "
    "if these agree."
)
def second_id_first(counts, num_bytes, longest):
    allowed = _allowed(counts, num_bytes, longest)
    return min(allowed, key=lambda p: (-counts[p], p[1], p[0]), default=None)


@best_short_pair.mistake(
    "among equals the sum of the ids decides. Compare the first ids, and the second "
    "only if these agree."
)
def smallest_sum(counts, num_bytes, longest):
    allowed = _allowed(counts, num_bytes, longest)
    return min(allowed, key=lambda p: (-counts[p], sum(p)), default=None)


@best_short_pair.mistake("the rarest pair. The most frequent one saves most tokens.")
def rarest(counts, num_bytes, longest):
    allowed = _allowed(counts, num_bytes, longest)
    return min(allowed, key=lambda pair: (counts[pair], pair), default=None)


@best_short_pair.mistake(
    "the pair with the smallest ids, however rare it is. The count comes first."
)
def smallest_pair(counts, num_bytes, longest):
    return min(_allowed(counts, num_bytes, longest), default=None)


@best_short_pair.mistake(
    "the longest token that is allowed. Length is only a bound here: the count decides."
)
def longest_allowed(counts, num_bytes, longest):
    return min(
        _allowed(counts, num_bytes, longest),
        key=lambda p: (-num_bytes[p[0]] - num_bytes[p[1]], -counts[p], p),
        default=None,
    )


@best_short_pair.mistake(
    "among equals the shortest token wins. The rule knows ids alone."
)
def shortest_of_equals(counts, num_bytes, longest):
    return min(
        _allowed(counts, num_bytes, longest),
        key=lambda p: (-counts[p], num_bytes[p[0]] + num_bytes[p[1]], p),
        default=None,
    )


@best_short_pair.mistake(
    "when no pair is allowed, `min` or `max` has nothing to choose from and raises: "
    "return `None` then."
)
def nothing_to_choose_from(counts, num_bytes, longest):
    allowed = _allowed(counts, num_bytes, longest)
    return min(allowed, key=lambda pair: (-counts[pair], pair))


@best_short_pair.mistake(
    "when no pair is allowed, there is no first one: `[0]` of an empty list raises. "
    "Return `None` then."
)
def first_of_none(counts, num_bytes, longest):
    allowed = _allowed(counts, num_bytes, longest)
    return sorted(allowed, key=lambda pair: (-counts[pair], pair))[0]


@best_short_pair.mistake(
    "when no pair is allowed, the best of all is returned. Nothing is: `None`."
)
def falls_back(counts, num_bytes, longest):
    chosen = best_short_pair.reference(counts, num_bytes, longest)
    return chosen or without_a_bound(counts, num_bytes, longest)


@best_short_pair.mistake("the count of the pair. Asked is the pair itself.")
def its_count(counts, num_bytes, longest):
    return counts.get(best_short_pair.reference(counts, num_bytes, longest))


@best_short_pair.mistake(
    "only the first part is measured. The new token spells both: add their lengths."
)
def first_part_only(counts, num_bytes, longest):
    allowed = [pair for pair in counts if num_bytes[pair[0]] <= longest]
    return min(allowed, key=lambda pair: (-counts[pair], pair), default=None)


# 3. Undoing merges.


def _merged_words(random: Random) -> Iterator[Case]:
    deep = {(0, 1): 10, (10, 2): 11, (11, 11): 12, (12, 0): 13}
    for ids in ([], [0], [10], [11], [10, 10], [0, 10, 2], [12], [13, 1], [3, 13, 10]):
        yield ids, deep
    yield [1, 2], {}
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
    "the list is read from its end. The first merge was learned first, and is applied "
    "first."
)
def read_backwards(word, merges):
    return apply_merges.reference(word, merges[::-1])


@apply_merges.mistake(
    "in the order of the alphabet. The order of learning is that of the list as it is."
)
def sorted_merges(word, merges):
    return apply_merges.reference(word, sorted(merges))


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


@apply_merges.mistake(
    "each merge at its first place only. A merge joins the pair at all its places."
)
def first_place_of_each(word, merges):
    tokens = list(word)
    for pair in merges:
        tokens = _join(tokens, pair, at_most=1)
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
    "from right to left. In `aaa` the merge of (a, a) belongs to the left: `aa a`."
)
def from_the_right(word, merges):
    tokens = list(word)
    for left, right in merges:
        tokens = [
            t[::-1]
            for t in _join([t[::-1] for t in tokens[::-1]], (right[::-1], left[::-1]))
        ][::-1]
    return tokens


@apply_merges.mistake(
    "what the two tokens spell together is compared, not the pair: `ab` + `c` is not "
    "the merge (a, bc)."
)
def compares_what_is_spelled(word, merges):
    tokens = list(word)
    for left, right in merges:
        merged, position = [], 0
        while position < len(tokens):
            if "".join(tokens[position : position + 2]) == left + right and (
                position + 1 < len(tokens)
            ):
                merged.append(left + right)
                position += 2
            else:
                merged.append(tokens[position])
                position += 1
        tokens = merged
    return tokens


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
    "the last token is lost whenever it is not merged: the walk ends one too early."
)
def loses_the_last(word, merges):
    tokens = list(word)
    for left, right in merges:
        merged, position = [], 0
        while position < len(tokens) - 1:
            if (tokens[position], tokens[position + 1]) == (left, right):
                merged.append(left + right)
                position += 2
            else:
                merged.append(tokens[position])
                position += 1
        tokens = merged
    return tokens


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


@apply_merges.mistake("the second token of the pair stays. The new token spells both.")
def keeps_the_second(word, merges):
    tokens = list(word)
    for left, right in merges:
        tokens = [
            left + right if tokens[i : i + 2] == [left, right] else token
            for i, token in enumerate(tokens)
        ]
    return tokens


@apply_merges.mistake("the tokens as one text. Return a list of them.")
def one_text(word, merges):
    return " ".join(apply_merges.reference(word, merges))


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


@id_of_merge.mistake("special tokens have ids too, the first ones: all others move up.")
def forgets_special_tokens(rank, num_special_tokens):
    return 256 + rank


@id_of_merge.mistake("255 is the number of the last byte, but there are 256 bytes.")
def one_byte_short(rank, num_special_tokens):
    return num_special_tokens + 255 + rank


@id_of_merge.mistake(
    "the alphabet is missing: 256 bytes have an id before the first merge."
)
def forgets_the_bytes(rank, num_special_tokens):
    return num_special_tokens + rank


@id_of_merge.mistake(
    "merges are counted from 0, so the first one has the first free id."
)
def counts_from_one(rank, num_special_tokens):
    return num_special_tokens + 257 + rank


@id_of_merge.mistake("special tokens come first, so they move the merges up, not down.")
def subtracts_special_tokens(rank, num_special_tokens):
    return 256 + rank - num_special_tokens


@id_of_merge.mistake("128 is the alphabet of ASCII. A byte has 256 values.")
def ascii_alphabet(rank, num_special_tokens):
    return num_special_tokens + 128 + rank


@id_of_merge.mistake("a merge makes *one* new id, out of two.")
def two_ids_a_merge(rank, num_special_tokens):
    return num_special_tokens + 256 + 2 * rank


@id_of_merge.mistake(
    "the special tokens are missing, and merges are counted from 0: the first one has "
    "the first free id."
)
def from_one_without_special_tokens(rank, num_special_tokens):
    return 257 + rank


@id_of_merge.mistake(
    "the special tokens are missing, and 255 is the number of the last byte: there are "
    "256."
)
def short_without_special_tokens(rank, num_special_tokens):
    return 255 + rank


@id_of_merge.mistake("that is the first id of all merges: `rank` plays no part.")
def first_merge_only(rank, num_special_tokens):
    return num_special_tokens + 256


@id_of_merge.mistake(
    "that is the number of the merge itself: the special tokens and 256 bytes are "
    "missing."
)
def rank_itself(rank, num_special_tokens):
    return rank


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
    "characters are counted, not bytes, and half a character as one: it was decoded to "
    "U+FFFD."
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


@compression.mistake(
    "characters per token. That flatters English, whose characters are one byte, "
    "against Chinese."
)
def characters_per_token(text, num_tokens):
    return len(text) / num_tokens


@compression.mistake("tokens per byte: upside down.")
def tokens_per_byte(text, num_tokens):
    return num_tokens / len(text.encode())


@compression.mistake("tokens per character: upside down, and characters are no bytes.")
def tokens_per_character(text, num_tokens):
    return num_tokens / len(text)


@compression.mistake(
    "rounded down: `//` throws the fraction away, and the fraction is what you compare."
)
def rounded_down(text, num_tokens):
    return len(text.encode()) // num_tokens


@compression.mistake(
    "rounded. The fraction is what you compare: leave rounding to whoever prints it."
)
def rounded(text, num_tokens):
    return round(len(text.encode()) / num_tokens)


@compression.mistake(
    "rounded to two digits. Leave rounding to whoever prints it: differences of a few "
    "thousandths count."
)
def rounded_to_two(text, num_tokens):
    return round(len(text.encode()) / num_tokens, 2)


@compression.mistake("bytes of UTF-16. The unit of this course is the byte of UTF-8.")
def utf_16(text, num_tokens):
    return len(text.encode("utf-16-le")) / num_tokens


@compression.mistake(
    "blanks and line breaks at the ends are cut off. The tokens had to spell them too."
)
def strips(text, num_tokens):
    return len(text.strip().encode()) / num_tokens


@compression.mistake(
    "blanks and line breaks are left out. The tokens had to spell them too."
)
def without_blanks(text, num_tokens):
    return len("".join(text.split()).encode()) / num_tokens


@compression.mistake("words per token. Asked is bytes per token.")
def words_per_token(text, num_tokens):
    return len(text.split()) / num_tokens


@compression.mistake("bits. A byte is eight of them; asked is bytes per token.")
def in_bits(text, num_tokens):
    return 8 * len(text.encode()) / num_tokens


@compression.mistake(
    "characters outside ASCII are left out or count once. In UTF-8 they are two to "
    "four bytes each."
)
def ascii_bytes(text, num_tokens):
    return len(text.encode("ascii", "ignore")) / num_tokens


@compression.mistake("different bytes. Each counts as often as it occurs.")
def distinct_bytes(text, num_tokens):
    return len(set(text.encode())) / num_tokens


@compression.mistake("all bytes. Asked is how many of them one token stands for.")
def all_of_them(text, num_tokens):
    return len(text.encode())


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
        "the alphabet it is another matter: see *Special tokens* in section 8."
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
        "Of two tokenizers that learned from the same text, the one with more merges "
        "never needs more tokens than the other, whatever text they encode."
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
