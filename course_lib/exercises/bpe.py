"""Exercises of lesson 6: merges saved, chosen, undone, applied; unseen ids."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, reduce  # noqa: F401, for the tables
from itertools import pairwise
from random import Random

from course_lib.bpe import (
    BPETokenizer,
    best_pair,  # noqa: F401, for the tables
    learn_merges,
    merge_history,
    merge_pair,
    pair_counts,  # noqa: F401, for the tables
)
from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false

# What a merge saves.


def _words_and_pairs(random: Random) -> Iterator[Case]:
    for word in ((1, 2), (2, 1), (1, 1, 1), (1, 1, 1, 1), (0, 1, 2), (1, 2, 1, 2)):
        yield {word: 1}, (1, 2 if 2 in word else 1)
    yield from (({}, (1, 2)), ({(1,): 3}, (1, 1)), ({(1, 2): 5}, (1, 2)))
    yield from (({(0, 1, 2): 2}, (1, 2)), ({(1, 2, 1, 2): 2}, (1, 2)))
    yield from (({(0, 1): 1, (2, 0): 1}, (1, 2)), ({(11, 2): 1, (1, 21): 2}, (1, 2)))
    yield from (({(3, 1, 2, 1): 2, (2,): 4}, (1, 2)), ({(2, 2, 1): 3}, (1, 2)))
    yield from (({(1, 1, 2, 1, 1): 2}, (1, 1)), ({(1, 1, 1, 2, 1, 1, 1): 2}, (1, 1)))
    yield {(1, 1, 1, 2): 2, (1, 2, 3): 1}, (1, 1)
    yield {(1, 1, 1): 1, (2, 1, 1, 1): 1}, (1, 1)
    yield {(0, 1, 2, 0): 1, (2,): 3}, (1, 2)
    for _ in range(30):
        words = {}
        for _ in range(random.randrange(1, 4)):
            ids = random.choices((0, 1, 2), (1, 3, 2), k=random.randrange(2, 9))
            words[tuple(ids)] = random.randrange(1, 5)
        yield words, (1, random.choice((1, 2)))


@exercise(
    cases=_words_and_pairs,
    hints=(
        "Each merge puts one id in the place of two. How many merges are there in all "
        "words? How many are there in `[1, 1, 1]`, for the pair (1, 1)?",
        "Walk through each word with an index of your own, which moves by two after a "
        "pair and by one otherwise. A word that occurs five times saves five times as "
        "much.",
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


def _shorter(ids, pair):
    return len(ids) - len(merge_pair(ids, pair, -1))


def _side_by_side(ids, pair):
    return sum(two == pair for two in pairwise(ids))


tokens_saved.slips("""
    position += 2 => position += 1
        overlapping pairs are counted twice. `1 1 1` has two pairs, but only one merge.
    saved += frequency => saved += 1
        each distinct word counts once. `words` says how often it occurs in the text.
    position += 2 => break
        at most one merge a word is counted, but the pair may occur at several places.
    position += 1 => position += 2
        only pairs that begin at places 0, 2, 4, ... are found. Any place may begin one.
    position += 2 => position += 3
        after a pair the walk moves by three, so one id is never looked at.
    == pair => in (pair, pair[::-1])
        the order within the pair is lost. (1, 2) and (2, 1) are two different pairs.
    < len(ids) => < len(ids) - 2
        a pair at the very end of a word is missed.
    position = 0 => position = 1
        a pair at the very beginning of a word is missed.
    position = 0 => saved = position = 0
        only the last word counts. The sum has to start before the loop over the words.
    saved = 0 => saved = position = 0 ; position = 0 ⏎ while => while
        each word is walked through from where the one before ended. Start at 0.
    words.items() => [*words.items()][:1]
        only the first word counts: does a `return` inside the loop end it?
    return saved => return -saved
        the sign is wrong. Subtract the new length from the old one.
    return saved => return 2 * saved
        each merge counts as two ids. The pair goes, but the new id takes its place.
""")


@tokens_saved.right_way("""
    _shorter(ids, pair) => _side_by_side(ids, pair)
        overlapping pairs are counted twice. `1 1 1`…
    _shorter(ids, pair) => (pair in pairwise(ids))
        at most one merge a word is counted…
    _shorter(ids, pair) => sum(ids[i : i + 2] == pair for i in range(0, len(ids), 2))
        only pairs that begin at places 0, 2, 4…
    _shorter(ids, pair) => min(ids.count(pair[0]), ids.count(pair[1]))
    _shorter(ids, pair) => min(ids.count(i) // pair.count(i) for i in pair)
        how often the two ids occur is counted, not how often they are side by side.
    _shorter(ids, pair) => ids.count(pair[0])
        how often the first id of the pair occurs is counted. The second must follow it.
    _shorter(ids, pair) => (pair[0] in ids and pair[1] in ids)
        it only matters whether both ids occur, not how often they are side by side.
    _shorter(ids, pair) => str(ids).count(str(pair)[1:-1])
        ids are compared as text, where `1, 2` is also found inside `11, 2` and `1, 21`.
    _shorter(ids, pair) => (_side_by_side(ids, pair) // (1 + (pair[0] == pair[1])))
    _shorter(ids, pair) => -(-_side_by_side(ids, pair) // (1 + (pair[0] == pair[1])))
        overlapping pairs are counted and then halved in each word. `1 1` has one merge,
        but `1 1 2 1 1` has two.
    _shorter(ids, pair) => (pair[0] in ids and ids[ids.index(pair[0]) :][:2] == pair)
        only the first place of the first id is looked at, because `index` stops there.
    _shorter(ids, pair) => sum(two in (pair, pair[::-1]) for two in pairwise(ids))
        overlapping pairs are counted twice, and so is the reversed pair.
    _shorter(ids, pair) => len(merge_pair(ids, pair, -1))
        how many ids are left after the merge is counted. How many fewer are there?
    * frequency =>
        each distinct word counts once…
    saved += => saved =
        only the last word counts. The sum…
    words.items() => [*words.items()][:1]
        only the first word counts…
    words.items() => [(sum((ids * n for ids, n in words.items()), ()), 1)]
    words.items() => [(sum(words, ()), 1)]
        the words are joined into one, so a pair can reach from one into the next. No
        merge crosses a cut.
    * frequency => + frequency
        a word that occurs five times saves five times as much: multiply.
    saved += ... * frequency => saved = max(saved, ... * frequency)
        the largest saving of a single word is returned. What do all save together?
""")
def each_word_merged(words, pair):
    saved = 0
    for ids, frequency in words.items():
        saved += _shorter(ids, pair) * frequency
    return saved


tokens_saved.answers("""
    pair_counts(words)[pair] // (1 + (pair[0] == pair[1]))
        overlapping pairs are counted and their sum is halved. Look at each word.
    0
        nothing is ever found. Is a list compared with a tuple? They are never equal.
""")


# Which pair is allowed.


def _bounded_counts(random: Random) -> Iterator[Case]:
    lengths = [1, 1, 1, 2, 2, 3, 4]
    yield from (({}, [1], 4), ({(0, 0): 2}, [1], 2), ({(0, 0): 2}, [1], 1))
    for count in (2, 3):
        yield {(1, 0): 3, (0, 1): count}, [1, 1], 2
    yield from (
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
        "First leave out the pairs that are too long. A token is as long as its two "
        "parts together. Then choose among the rest by the rule of section 2.",
        "Tuples compare like words in a dictionary. Which key makes `min` prefer a "
        "large count, and then small ids? And what should it return when there is "
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


def _best_of_all(counts):
    return min(counts, key=lambda pair: (-counts[pair], pair), default=None)


@best_short_pair.right_way("""
    _bytes(p, num_bytes) <= longest => True
        `longest` makes no difference: this is the best of all pairs.
    _bytes(p, num_bytes) <= => max(num_bytes[i] for i in p) <=
    _bytes(p, num_bytes) <= => min(num_bytes[i] for i in p) <=
        the parts are measured one by one. The new token spells both, so add them.
    _bytes(p, num_bytes) <= => sum(p) <=
    _bytes(p, num_bytes) <= => len(p) <=
    _bytes(p, num_bytes) <= => sum(num_bytes[i - 1] for i in p) <=
        something else is measured. `num_bytes[i]` is the number of bytes of token i.
    _bytes(p, num_bytes) <= => num_bytes[p[0]] <=
    _bytes(p, num_bytes) <= => num_bytes[p[1]] <=
    _bytes(p, num_bytes) <= => 2 * num_bytes[p[0]] <=
    _bytes(p, num_bytes) <= => num_bytes[max(p)] + 1 <=
        only one of the two parts is measured. The new token spells both, so add them.
    _bytes(p, num_bytes) <= => num_bytes[p[0]] * num_bytes[p[1]] <=
        the two lengths are multiplied. The new token spells both parts, so add them.
    <= longest => < longest
        a token of exactly `longest` bytes is left out, although it is allowed.
    <= longest => == longest
        only tokens of exactly `longest` bytes are allowed. `longest` is an upper bound.
    <= longest => >= longest
    <= longest => > longest
        only what is too long is allowed. Turn the comparison round.
    <= longest => <= longest + 1
        tokens with one byte more than `longest` are allowed.
    , p) => ,)
        ties go to the pair that was counted first, so the order of the texts decides.
    min(allowed => min(allowed[::-1] ; , p) => ,)
        ties go to the pair that was counted last. Is there `>=` where `>` is meant?
    , p) => , -p[0], -p[1])
    , p) => , p[0], -p[1])
    , p) => , -p[0], p[1])
        ties go to the *largest* ids, first or second: `max`, or a minus in the key.
    , p) => , p[0])
        where the first ids agree, the pair counted first wins. The second ids decide.
    , p) => , p[1], p[0])
    , p) => , sum(p))
        among equals the first ids decide, and the second ones only if these agree.
    , p) => , str(p))
        ids are compared as text, where 10 comes before 2. Compare the numbers.
    , p) => , _bytes(p, num_bytes), p)
    , p) => , -_bytes(p, num_bytes), p)
        among equals the length decides. The rule looks at ids only.
    -counts[p] => counts[p]
        the rarest pair is chosen. The most frequent one saves most tokens.
    -counts[p], p => p
    -counts[p], p => -p[0], -p[1]
    -counts[p], p => 0
        the pair is chosen however rare it is. The count has to come first.
    (-counts[p] => (-_bytes(p, num_bytes), -counts[p]
    (-counts[p] => (_bytes(p, num_bytes), -counts[p]
    -counts[p] => -counts[p] * _bytes(p, num_bytes)
        the length of a token has a say. It is only a bound, and the count decides.
    return None => pass
        when no pair is allowed, `min` or `max` has nothing to choose from and raises.
    return None => return allowed[0]
        when no pair is allowed, `[0]` of an empty list raises. Return `None` then.
    return None => return _best_of_all(counts)
        when no pair is allowed, the best of all pairs is returned. Return `None` then.
    return None => return ()
    return None => return 0, 0
        when no pair is allowed, something other than `None` is returned.
    return best => return counts[best]
        the count of the pair is returned. Return the pair itself.
    return best => return best, counts[best]
    return best => return counts[best], best
        the pair is returned with its count. Return the pair alone.
    return best => return best[::-1]
        the two ids of the pair are swapped.
""")
def left_out_then_chosen(counts, num_bytes, longest):
    allowed = [p for p in counts if _bytes(p, num_bytes) <= longest]
    if not allowed:
        return None
    best = min(allowed, key=lambda p: (-counts[p], p))
    return best


best_short_pair.answers("""
    best if (best := _best_of_all(counts)) and _bytes(best, num_bytes) <= longest \
    else None
    best if _bytes(best := best_pair(counts), num_bytes) <= longest else None
    best if counts and _bytes(best := max(counts, key=lambda p: (counts[p], p)),
    num_bytes) <= longest else None
        the best of all pairs is chosen first. The next one may fit, so leave out first.
    min((p for p in counts if _bytes(p, num_bytes) <= longest
    and counts[p] == max(counts.values())), default=None)
        the largest count is that of all pairs. First leave out what is too long.
""")


# Undoing merges.


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
        "An id may be made of ids that are made of other ids. When may you stop?",
        "The parts of an id are older than the id itself. If you undo the merges one "
        "after the other, which order makes sure that none comes back?",
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


undo_merges.slips("""
    reversed(merges.items()) => merges.items()
        only one level is undone. Parts may be merged ids themselves, so go on.
    reversed(merges.items()) => [*merges.items()][-1:]
        only the last merge is undone. All have to be, beginning with the last.
    pair if => pair[::-1] if
        the two parts change places. The first id of the pair is on the left.
    pair if => pair[:1] if
    pair if => pair[1:] if
        only one of the two parts comes back, but a merged id spells both.
    pair if => (new_id, *pair) if
        the merged ids stay beside their parts. The parts have to take their place.
    pair if token == new_id else [token] => [pair if token == new_id else token]
        there are lists inside the list. `append` adds a pair, `+=` its parts.
    else [token] => else []
        every id that the current merge did not make is lost. It should stay as it is.
    return ids => return ids[::-1]
        the result is back to front.
""")


def _parts(merges):
    return {new_id: pair for pair, new_id in merges.items()}


@undo_merges.right_way("""
    if token not in pairs: => if token < 256:
        ids below 256 are taken for bytes. The merged ids are the values of `merges`.
    [*spelled(left), => [left,
        only the second part is undone further. The first may also be a merged id.
    *spelled(right)] => right]
        only the first part is undone further. The second may also be a merged id.
    left, right = => right, left =
        the two parts change places…
    [*spelled(left), *spelled(right)] => spelled(left)
    [*spelled(left), *spelled(right)] => spelled(right)
        only one of the two parts comes back…
    return [*spelled(left), => return [token, *spelled(left),
        the merged ids stay beside their parts…
    return [token] => return token ; [*spelled(left), *spelled(right)] => \
    [spelled(left), spelled(right)] ; part for token in ids for part in spelled(token) \
    => spelled(token) for token in ids
        there are lists inside lists, as deep as the merges were. Join parts with `+`.
    part for token in ids for part in spelled(token) => spelled(token) for token in ids
        each id gives a list of its own. Add the parts with `+=` instead of `append`.
    part for token in ids for part in spelled(token) => \
    sum(spelled(token)) for token in ids
        the ids of the parts are added as numbers. Join lists instead, `[a] + [b]`.
    in ids for part => in ids if token in pairs for part
        ids that are bytes already are lost, because only merged ones give something.
""")
def by_recursion(ids, merges):
    pairs = _parts(merges)

    def spelled(token):
        if token not in pairs:
            return [token]
        left, right = pairs[token]
        return [*spelled(left), *spelled(right)]

    return [part for token in ids for part in spelled(token)]


@undo_merges.right_way("""
    while any(token in pairs for token in ids) => for _ in range(1)
        only one level is undone…
    while any(token in pairs for token in ids) => for _ in range(2)
    while any(token in pairs for token in ids) => for _ in range(3)
        only two or three levels are undone. Go on until no merged id is left.
    [token]) => ())
        ids that no merge made are lost in each round. A byte should stay as it is.
    [token])] => [token])[::-1]]
        the two parts change places…
    return ids => return [token for token in ids if token in sum(merges, ())]
        ids that are in no pair of `merges` are lost. A byte should stay as it is.
""")
def in_rounds(ids, merges):
    pairs = _parts(merges)
    while any(token in pairs for token in ids):
        ids = [part for token in ids for part in pairs.get(token, [token])]
    return ids


@undo_merges.right_way("""
    while new_id in ids => for place in [i for i, x in enumerate(ids) if x == new_id] \
    ; place = ids.index(new_id) =>
        the places are those of the list as it was, and it has grown since.
    while new_id in ids => if new_id in ids
        each merge is undone at its first place only, but an id may occur often.
    reversed(merges.items()) => merges.items()
        only one level is undone…
""")
def at_its_places(ids, merges):
    ids = list(ids)
    for pair, new_id in reversed(merges.items()):
        while new_id in ids:
            place = ids.index(new_id)
            ids[place : place + 1] = pair
    return ids


@undo_merges.right_way("""
    while place < len(ids) => for place in range(len(ids))
        the list grows under the loop, which stops at its old end.
    = pairs[ids[place]] => = pairs[ids[place]] ⏎ place += 1
        only the second part is undone further…
    = pairs[ids[place]] => = pairs[ids[place]] ⏎ place += 2
        only one level is undone…
    = pairs[ids[place]] => = pairs[ids[place]] ⏎ break
        only one of the ids is replaced. Does a `return` inside the loop end it?
""")
def within_the_list(ids, merges):
    pairs = _parts(merges)
    ids, place = list(ids), 0
    while place < len(ids):
        if ids[place] in pairs:
            ids[place : place + 1] = pairs[ids[place]]
        else:
            place += 1
    return ids


undo_merges.answers("""
    [part for token in ids for part in _parts(merges).get(token, ())]
        ids that no merge made are lost. A byte has no parts, so it stays as it is.
    [_parts(merges)[token] for token in ids if token in _parts(merges)]
        only the pairs of merged ids are returned, as in `merges`. Where are the bytes?
    [int(number) for number in reduce(
    lambda text, one: text.replace(str(one[1]), "%d %d" % one[0]),
    reversed(merges.items()), " ".join(map(str, ids))).split()]
        ids are replaced as text, where id 10 is also found inside 101 and 110.
    merge_history(ids, merges)[-1]
        this merges the ids. Go the other way, from merged ids back to bytes.
    list(ids)
        nothing is undone. No id is a key of `merges`, so turn the mapping round first.
""")


# Applying merges.


def _words_and_merges(random: Random) -> Iterator[Case]:
    # In abc the pair (b, c) wins, although (a, b) is further to the left.
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
        "Begin with single characters. The merge that was learned earliest comes "
        "first, wherever in the word it is.",
        "The list is in the order of learning, so each merge needs one walk through "
        "the tokens that the merges before it have left. How far do you move after "
        "you have merged two tokens?",
    ),
)
def apply_merges(word: str, merges: list[tuple[str, str]]) -> list[str]:
    """Return the tokens of a word after all merges, which are in learned order."""
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


apply_merges.slips("""
    in merges => in merges[::-1]
        the list is read from its end. The merge learned first is applied first.
    in merges => in sorted(merges)
    in merges => in sorted(merges, key=lambda pair: len("".join(pair)))
        the merges are sorted. The list is in the order of learning as it is.
    in merges => in merges[:1]
        only the first merge is made: does a `return` inside the loop end it?
    in merges => in [two for two in merges if two in pairwise(word)][:1]
        there is one merge and then the end. Merged tokens can be merged again.
    in merges => in merges[1:]
    in merges => in merges[:-1]
        the first or the last merge of the list is never applied.
    in merges => in merges[-1:]
        only the last merge counts. Each goes on with the tokens of those before it.
    [left, right]: => [left, right] and position + 2 < len(tokens):
        a pair at the very end of the word is never merged.
    [left, right]: => [left, right] and len(merged) == position:
        each merge is made at its first place only. It has to join all its pairs.
    < len(tokens) => < len(tokens) - 1
        the last token is lost if it is not merged, because the walk ends one too early.
    < len(tokens) => < len(tokens) - (len(merged) < position)
        after a merge, the last token is lost if it is not merged itself.
    < len(tokens) => < len(tokens) - 1 ; \
    tokens = merged => tokens = merged + tokens[-1:]
        the last token is added even if it is already part of a merged one.
    position += 2 => position += 1
        the second token of the pair stays, although the new token spells both.
    position += 2 => position += 1 ; merged.append(tokens[position]) => merged += \
    tokens[position : position + (tokens[position - 1 : position + 1] != [left, right])]
        one token takes part in two merges. After a merge, go on *two* tokens later.
    position += 2 => position += 3
        a token is lost after each merge, because the walk moves by three.
    == [left, right] => in ([left, right], [right, left]) ; \
    append(left + right) => append("".join(tokens[position : position + 2]))
    == [left, right] => in ([left, right], [right, left])
        the order within the pair is lost. (a, b) does not merge `b a`.
    append(tokens[position]) => extend(tokens[position : position + 2]) ; \
    position += 1 => position += 2
        only pairs that begin at places 0, 2, 4, ... are merged. Any may begin one.
    append(left + right) => append((left, right))
        the two tokens stay two, as a pair. Join them, `left + right`.
    list(word) => [word] if word else []
    list(word) => [word]
        the word is never cut into its characters. Begin with `list(word)`.
    list(word) => [chr(byte) for byte in word.encode()]
        bytes are merged, and not characters. Begin with `list(word)`.
    return tokens => return " ".join(tokens)
        the tokens are returned as one text. Return a list of them.
    return tokens => return tokens or [""]
        for an empty word [''] is returned, but an empty word has no tokens.
""")


@apply_merges.right_way("""
    while position < len(tokens) - 1 => for position in range(len(tokens) - 2, -1, -1)
        the walk goes from right to left. In `aaa` the first two are merged: `aa a`.
    while position < len(tokens) - 1 => for position in range(len(tokens) - 1)
        the list gets shorter with each merge, but the range of the loop does not.
    while position < len(tokens) - 1 => \
    for position, two in enumerate(pairwise(tokens)) ; \
    tokens[position] == left and tokens[position + 1] == right => two == (left, right)
        the list changes under the loop, so its places are no longer those of the list.
    = [left + right] => = [left + right] ⏎ position += 1
        the pair right after a merge is skipped. Does the walk move by two, although a
        merged pair is one token already? Or do both pairs share a space?
    = [left + right] => = [left + right] ⏎ break
        each merge is made at its first place only…
    tokens[position] == left and tokens[position + 1] == right => \
    tokens[position] + tokens[position + 1] == left + right
        what two tokens spell is compared, and not the pair: `ab` + `c` is not (a, bc).
    in merges => in [two for two in merges if two in pairwise(word)][:1]
        there is one merge and then the end…
    while position < len(tokens) - 1 => \
    for position in [tokens.index(left)] if left in tokens[:-1] else []
        only the first place of the left token is looked at: `index` stops there.
""")
def within_the_list_of_tokens(word, merges):
    tokens = list(word)
    for left, right in merges:
        position = 0
        while position < len(tokens) - 1:
            if tokens[position] == left and tokens[position + 1] == right:
                tokens[position : position + 2] = [left + right]
            position += 1
    return tokens


@apply_merges.right_way("""
    min(found, key=merges.index) => found[0]
    min(found, key=merges.index) => found[-1]
        the leftmost or rightmost pair is merged first. The order of learning decides.
    min(found, key=merges.index) => max(found, key=found.count)
        the most frequent pair of this word comes first. Which pair was learned first?
    min(found, => max(found,
        the merge learned last comes first. It was learned after the others were made.
    for _ in word => for _ in word[:1]
        there is one merge and then the end…
""")
def the_earliest_of_those_found(word, merges):
    tokens = list(word)
    for _ in word:
        if found := [pair for pair in pairwise(tokens) if pair in merges]:
            best = min(found, key=merges.index)
            tokens = apply_merges.reference(tokens, [best])
    return tokens


def _one_at_a_time(word, merges, choose):
    tokens = list(word)
    while places := [i for i, two in enumerate(pairwise(tokens)) if two in merges]:
        place = choose(places, key=lambda i: merges.index((tokens[i], tokens[i + 1])))
        tokens[place : place + 2] = [tokens[place] + tokens[place + 1]]
    return tokens


def _longest_first(word, merges):
    known = sorted({left + right for left, right in merges}, key=len, reverse=True)
    tokens, position = [], 0
    while position < len(word):
        fits = [token for token in known if word.startswith(token, position)]
        tokens.append(fits[0] if fits else word[position])
        position += len(tokens[-1])
    return tokens


def _replaced(word, merges):
    text = " ".join(word)
    for left, right in merges:
        text = text.replace(f"{left} {right}", left + right)
    return text


def _replaced_between_spaces(word, merges):
    text = f" {' '.join(word)} "
    for left, right in merges:
        text = text.replace(f" {left} {right} ", f" {left}{right} ")
    return text


apply_merges.answers("""
    _one_at_a_time(word, merges, lambda places, key: places[0])
        from left to right, whatever can be merged. The order of learning decides.
    _one_at_a_time(word, merges, lambda places, key: places[-1])
        the rightmost pair comes first. The order of learning decides.
    _one_at_a_time(word, merges, max)
        the merge learned last comes first…
    _longest_first(word, merges)
        the longest token that fits, from left to right. BPE repeats the merges.
    _longest_first(word, [two for two in merges if len(two[0] + two[1]) == 2])
        there is only one walk through the word. What a merge made can be merged again.
    apply_merges.reference(word, [two for two in merges if len(two[0] + two[1]) == 2])
        only pairs of single characters are merged. A merged token can merge again.
    _replaced(word, merges).split()
    _replaced(word, merges).split(" ")
        in a text with spaces between tokens, `b c` is also found at the end of `db c`.
    _replaced_between_spaces(word, merges).split()
        the pair right after a merge is skipped…
    reduce(lambda text, two: text.replace(two[0] + two[1], f" {two[0]}{two[1]} "),
    merges, word).split()
        spaces are put around what a merge spells, and tokens next to it stay uncut.
    reduce(lambda tokens, c: [*tokens[:-1], tokens[-1] + c]
    if tokens and (tokens[-1], c) in merges else [*tokens, c], word, [])
        each character joins the token before it if it can. Which merge came first?
    list(word)
        nothing is ever merged. Is a list compared with a tuple? They are never equal.
    apply_merges.reference(word, merges[-1:]) if merges else []
        only the last merge counts, and without merges nothing is left.
""")


@apply_merges.mistake(
    "merged tokens are taken out of the word, so the order of characters is lost."
)
def taken_out(word, merges):
    taken = []
    for left, right in merges:
        if left + right in word:
            taken.append(left + right)
            word = word.replace(left + right, "")
    return [*taken, *word]


# Ids that nobody sees.


def _words_that_swallow(random: Random) -> Iterator[Case]:
    merges = {(0, 1): 10, (10, 2): 11, (2, 2): 12}
    yield {(0, 1, 2): 3, (2, 2): 1}, merges
    yield from (({}, {}), ({(0, 1): 2}, {}), ({}, merges), ({(3,): 1}, merges))
    # 10 is on its own in one word only: the first, the last, the one in the middle
    yield {(0, 1, 3): 1, (0, 1, 2): 5, (2, 2): 1}, merges
    yield {(2, 2): 5, (0, 1, 2): 5, (0, 1): 1}, merges
    yield {(0, 1, 2): 5, (3, 0, 1): 1, (2, 2): 5}, merges
    # side by side only where two words meet
    yield {(0,): 1, (1,): 1, (2,): 1}, merges
    yield {(3, 0): 1, (1, 2): 2}, merges
    # the longest token that fits is not what the merges lead to
    yield {(0, 1, 2): 1}, {(1, 2): 10, (0, 1): 11, (11, 2): 12}
    yield {(1, 2, 3): 1}, {(2, 3): 10, (1, 2): 11, (11, 3): 12}
    # as text 10 is found inside 110
    yield {(0, 1, 4): 1, (4, 0): 1}, {(0, 1): 10, (10, 4): 110, (4, 0): 9}
    yield {}, {(0, 1): 10, (4, 0): 9}
    for _ in range(40):
        text = tuple(random.randrange(3) for _ in range(40))
        learned = learn_merges({text: 1}, random.randrange(2, 8), first_id=5)
        words = {}
        for _ in range(random.randrange(1, 5)):
            ids = random.choices(range(3), k=random.randrange(1, 12))
            words[tuple(ids)] = random.randrange(1, 4)
        yield words, learned


@exercise(
    cases=_words_that_swallow,
    hints=(
        "Which ids *do* occur? Collect them over all words, after the last merge.",
        "`merge_history(word, merges)[-1]` is an encoded word. The new ids are the "
        "values of `merges`, and the difference of two sets is written with a minus.",
    ),
)
def swallowed(
    words: dict[tuple[int, ...], int], merges: dict[tuple[int, int], int]
) -> list[int]:
    """Return the new ids that no word contains after all merges."""
    seen = set()
    for word in words:
        seen.update(merge_history(word, merges)[-1])
    return sorted(set(merges.values()) - seen)


swallowed.slips("""
    set(merges.values()) - seen => set(merges.values()) & seen
        these are the new ids that do occur. Return those that occur in no word.
    sorted(set(merges.values()) - seen) => sorted(seen)
        these are all ids that occur, bytes among them. Return new ids that never do.
    set(merges.values()) - seen => set(merges.values()).symmetric_difference(seen)
        bytes that occur are among them. Take ids away: `-` and not `^`.
    set(merges.values()) - seen => merges.values()
    merge_history(word, merges)[-1] => merge_history(word, merges)[0]
    merge_history(word, merges)[-1] => word
        these are all new ids. Take away those that occur once the words are encoded.
    seen.update(...) => seen.update(*merge_history(word, merges))
        all stages are looked at, but only the last one is what a model reads.
    merge_history(word, merges)[-1] => merge_history(word, merges)[:2][-1]
        words are encoded by one merge only. Look at them after the last merge.
    in words => in [*words][:1]
        only the first word is encoded: does a `return` inside the loop end it?
    in words => in [*words][1:]
    in words => in [*words][:-1]
        the first or the last word is left out. An id may occur in that one alone.
    in words => in [sum(words, ())]
        the words are joined into one, so a merge can reach from one into the next. No
        merge crosses a cut.
    seen.update(...) => seen = set(...)
        only the last word counts. The set has to start before the loop.
    return sorted(...) => return sorted(...)[::-1]
        the ids are in falling order. Return them in rising order.
    return sorted(...) => return [i for i in merges.values() if i not in seen]
        the ids are in the order of learning. Return them in rising order.
    return sorted => return len
        their number is returned. Return the ids themselves, as a list.
    merges.values()) - seen) => merges.values()) - seen, key=str)
        ids are sorted as text, where 110 comes before 9. Sort the numbers.
""")


@swallowed.right_way("""
    in merges.items() => in reversed(merges.items())
        the merges are made backwards. The one learned first is made first.
    = merge_pair(...) seen |= {*word} => = merge_pair(...) ⏎ seen = {*word}
        only the last word counts…
    - seen => - seen & _made(words, merges)
        an id that is never made at all is left out, but no word contains it either.
""")
def merge_by_merge(words, merges):
    seen = set()
    for word in words:
        for pair, new_id in merges.items():
            word = merge_pair(word, pair, new_id)
        seen |= {*word}
    return sorted(set(merges.values()) - seen)


def _made(words, merges):
    return {i for word in words for ids in merge_history(word, merges) for i in ids}


swallowed.answers("""
    swallowed.reference(words, merges) if words else []
        without words nothing is returned, but then no word contains any of the ids.
    sorted({new_id for word in words
    for new_id in {*merges.values()}.difference(merge_history(word, merges)[-1])})
        one word without the id is enough. Return ids that *no* word contains.
    [pair for pair, new_id in merges.items()
    if new_id in set(swallowed.reference(words, merges))]
        the pairs are returned. Return the ids that were made of them.
    sorted({part for pair in merges for part in pair} & set(merges.values()))
        a part of a later merge may still occur elsewhere, on its own: encode and look.
    sorted(set(merges.values()) - {part for pair in merges for part in pair})
        these ids are part of no later merge, so they are the ones that may well occur.
    sorted(new_id for pair, new_id in merges.items() if not _occurs(words, pair))
    sorted({new_id for pair, new_id in merges.items() if _occurs(words, pair)}
    & {part for pair in merges for part in pair})
        pairs are looked for in the bytes. Most merges are made of merged ids.
    sorted({*merges.values(), *(i for word in words for i in word)}
    - _seen(words, merges))
        bytes are among them. The new ids are the values of `merges`.
    sorted(set(merges.values()) - {i for word in words
    for i in merge_history(word, merges)[-1] if words[word] > 1})
        only words that occur more than once are looked at. Once is enough to be seen.
""")


def _seen(words, merges):
    return {token for word in words for token in merge_history(word, merges)[-1]}


def _occurs(words, pair):
    return any(two == pair for word in words for two in pairwise(word))


# Half a character.


def _cut_texts(random: Random) -> Iterator[Case]:
    texts = ("a", "é", "ab", "aé", "潮", "a潮b", "🌊", "été", "潮汐", "a🌊b")
    texts += ("กa", "\U0010fffd")  # the first and the last of their lengths
    # U+FFFD is a character too: a text may really hold it.
    for text in (*texts, "�", "a�", "�潮", "�a", "��"):
        yield from ((text.encode()[:end],) for end in range(len(text.encode()) + 1))


@exercise(
    cases=_cut_texts,
    hints=(
        "Only the last character can be incomplete, and it has at most four bytes. "
        "Look at the end.",
        "The first byte of a character says how many bytes it has: below 0x80 one, "
        "from 0xC0 on two, from 0xE0 on three, from 0xF0 on four. Bytes from 0x80 to "
        "0xBF only continue a character. How far from the end is the last first byte, "
        "and how far should it be?",
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


complete_bytes.slips("""
    if first < 0x80: => if False:
        a byte of ASCII does not end the search, although everything before it is whole.
    if first >= 0xC0: => if first >= 0x80:
        a byte that continues a character, 0x80 to 0xBF, is taken for its first byte.
    first >= 0xE0) => first > 0xE0)
    first >= 0xF0) => first > 0xF0)
        0xE0 and 0xF0 begin characters themselves, so `>` has to be `>=`.
    + (first >= 0xF0) =>
        a character of four bytes is taken for one of three. 0xF0 and above have four.
    back == length => False
        the last character is left out even if it is whole: the text is always late.
    back == length => True
        all bytes are shown. The reader sees U+FFFD, and the character never comes back.
    len(data) - back => len(data) - back + 1
        only the first byte of the half character stays. It has to wait with the others.
    len(data) - back => len(data) - back - 1
        one byte too few comes before half a character. Go as far as its first byte.
    len(data) - back => len(data) - 1
        at most one or two bytes wait. Of a character of four bytes, three may be there.
    len(data) - back => 0
        it is all or nothing, but the characters before an incomplete one can be shown.
    min(4, => min(1,
    if first < 0x80: => if first < 0xC0:
        only a first byte at the very end is seen. Two bytes of three also have to wait.
    min(4, len(data)) => 4
        the last byte is looked at even when there is none. Return 0 then.
""")


@complete_bytes.right_way("""
    .encode() =>
        characters are counted, and not bytes.
    "ignore" => "replace"
        half a character counts as the three bytes of U+FFFD, its replacement.
    , "ignore" =>
        half a character makes `decode()` raise. Catch the error, or look at the bytes.
    return len(data => return (data
        the bytes themselves are returned. Return their number.
    len(data.decode("utf-8", "ignore").encode()) => data.decode("utf-8", "ignore")
        the text itself is returned. Return the number of bytes that can be shown.
    return len(data => return len(data) - len(data
        this is how many bytes have to wait. Return how many can be shown now.
    "ignore") => "replace").rstrip("\ufffd")
    "ignore") => "replace").removesuffix("\ufffd")
        U+FFFD at the end is taken for half a character. A text may really end with it.
    "ignore") => "replace").replace("\ufffd", "")
    "ignore") => "replace").split("\ufffd")[0]
        U+FFFD is taken for half a character. A text may really contain one.
""")
def decoded_without_the_rest(data):
    return len(data.decode("utf-8", "ignore").encode())


def _is_whole(data):
    return len(data.decode("utf-8", "ignore").encode()) == len(data)


@complete_bytes.right_way("""
    range(4) => range(1)
        it is all or nothing…
    range(4) => range(2)
    range(4) => range(3)
        at most one or two bytes are left out, and then all. Up to three have to wait.
    range(4) => range(1, 4)
        the whole is never tried. Begin with no byte left out.
    range(4) => range(2) ; return 0 => return len(data) - 2
        at most one or two bytes wait…
""")
def tried_from_the_end(data):
    for dropped in range(4):
        if _is_whole(data[: len(data) - dropped]):
            return len(data) - dropped
    return 0


@complete_bytes.right_way("""
    + (first >= 0xF0) =>
    + (first >= 0xF0) => ; (first >= 0x80) => (first >= 0xC0)
        a character of four bytes is taken for one of three…
    (first >= 0x80) + (first >= 0xE0) + (first >= 0xF0) => 2 * (first >= 0x80)
        all characters outside ASCII are taken for three bytes. é has two, 🌊 four.
    + (first >= 0xE0) + (first >= 0xF0) =>
        all characters outside ASCII are taken for two bytes. 潮 has three, 🌊 four.
    (first >= 0x80) + (first >= 0xE0) => 2 * (first >= 0x80)
    (first >= 0xE0) + (first >= 0xF0) => 2 * (first >= 0xF0)
        from 0xC0 on a character has two bytes, from 0xE0 on three, from 0xF0 on four.
    position + length > len(data) => False
        bytes that the last character *will* have are counted, but not all are there.
    position + length > len(data) => position + length >= len(data)
        the last character is dropped even if it is whole. It may end where all ends.
    position += length => position += 1
        the walk moves by one byte, and not by as many as the character has.
    return position => return len(data[:position].decode("utf-8", "ignore"))
        characters are counted, and not bytes.
""")
def from_the_beginning(data):
    position = 0
    while position < len(data):
        first = data[position]
        length = 1 + (first >= 0x80) + (first >= 0xE0) + (first >= 0xF0)
        if position + length > len(data):
            break
        position += length
    return position


complete_bytes.answers("""
    max(0, len(data) - 1)
        the last byte is left out even if it completes a character.
    len(data.decode("utf-8", "replace"))
        characters are counted and not bytes, with half a character as one more.
    next((i for i, byte in enumerate(data) if byte >= 0x80), len(data))
    sum(byte < 0x80 for byte in data)
        only ASCII is taken for whole. With all their bytes, é, 潮 and 🌊 are whole too.
    len(data) // 3 * 3
    len(data) - sum(byte >= 0x80 for byte in data) % 3
        all characters outside ASCII are taken for three bytes…
    len(data.decode("utf-8", "surrogateescape"))
        characters are counted and not bytes, and each byte of half a character as one.
    len(data.decode()) if _is_whole(data) else complete_bytes.reference(data)
        where the end is whole, characters are counted and not bytes.
    data.decode("utf-8", "replace").find("\ufffd")
        `find` counts characters and not bytes, and returns -1 where it finds nothing.
    len(data.rstrip(bytes(range(0x80, 0x100))))
        all bytes above 0x7F at the end are left out, even those of whole characters.
    len(data.rstrip(bytes(range(0x80, 0xC0))))
        all bytes from 0x80 to 0xBF at the end are left out, but the first byte stays.
    complete_bytes.reference(data[:-1])
        the last character is dropped even if it is whole…
""")


# Bug or not?


def _words_with_merges(random: Random) -> Iterator[Case]:
    # (2, 3) was learned before (1, 2): in 1 2 3 it wins, although the other is
    # further to the left.
    merges = {(2, 3): 10, (1, 2): 11, (1, 10): 12, (3, 3): 13, (4, 2): 14}
    words = ([], [1], [1, 2], [1, 2, 3], [1, 2, 1, 2, 3], [3, 3, 3], [2, 3, 3])
    yield from ((ids, merges) for ids in (*words, [4, 2, 3], [4, 1, 2]))
    for _ in range(40):
        text = tuple(random.randrange(4) for _ in range(30))
        learned = learn_merges({text: 1}, random.randrange(2, 7), first_id=10)
        yield [random.randrange(4) for _ in range(random.randrange(4, 12))], learned


def repeated_merges(ids: list[int], merges: dict[tuple[int, int], int]) -> list[int]:
    return merge_history(ids, merges)[-1]


ENCODES = (
    "Encode a word, spelled in the ids of its bytes, as `merge_history` does. The "
    "`merges` are in the order of learning."
)


@bug_or_not(
    purpose=ENCODES,
    reference=repeated_merges,
    cases=_words_with_merges,
    explanation=(
        "The longest token that fits is not always what the merges lead to, because "
        "they may have used up its bytes before. The text still decodes, so nothing "
        "crashes. But the model was trained on other ids, and now reads sequences "
        "that it has never seen."
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
    purpose=ENCODES,
    reference=repeated_merges,
    cases=_words_with_merges,
    explanation=(
        "The code never goes back, and never has to. A merge makes a new id, and that "
        "id can only be part of merges that were learned later, which are still to "
        "come. The price is a walk for *every* merge of the vocabulary, whether or not "
        "the word contains its pair."
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
    yield from (([],), ([b"tide"],), ([b"ti", b"de"],), (["é".encode(), b"t"],))
    yield from (([b"\xc3"],), (["潮".encode()],), (["潮".encode()[:2], b" and"],))
    for _ in range(20):
        data = "".join(random.choice("aé潮🌊") for _ in range(3)).encode()
        cut = random.randrange(len(data) + 1)
        yield ([data[:cut], data[cut:]],)


@bug_or_not(
    purpose=(
        "Say how many bytes of text each token stands for. Their sum over a text is "
        "what its loss is divided by, for bits per byte."
    ),
    reference=byte_lengths,
    cases=_tokens,
    explanation=(
        "`surrogateescape` turns each byte that is not UTF-8 into a character of its "
        "own, and encoding with it turns that character back into the byte. Half a "
        "character therefore counts as many bytes as it has. `len(token)` is shorter "
        'and says the same. The line of nanochat had decoded with "replace", which '
        "loses the bytes."
    ),
)
def bytes_of_escaped_tokens(tokens: list[bytes]) -> list[int]:
    texts = [token.decode("utf-8", "surrogateescape") for token in tokens]
    return [len(text.encode("utf-8", "surrogateescape")) for text in texts]


TRAINING_TEXT = "the tide comes in, the tide goes out, and the boats wait for it. " * 3


@cache
def _trained(vocab_size: int) -> BPETokenizer:
    return BPETokenizer.train(TRAINING_TEXT, vocab_size)


def _long_texts(random: Random) -> Iterator[Case]:
    for text in ("tide", "the tide", "the tide goes out", "the boats wait for it."):
        yield (text,)
    words = TRAINING_TEXT.split()
    for _ in range(20):
        yield (" ".join(random.choices(words, k=random.randrange(2, 9))),)


def encoded_whole(text: str) -> list[int]:
    return _trained(300).encode(text).tolist()


@bug_or_not(
    purpose=(
        "Encode a long text in two parts, so that two processes can share the work. "
        "The text is cut at a space, and the ids must be those of the whole text. "
        "`_trained(300)` is a tokenizer of 300 ids."
    ),
    reference=encoded_whole,
    cases=_long_texts,
    explanation=(
        "In GPT-2's pattern a space belongs to the word after it. The cut comes one "
        "character too late: the first part ends with a lone space, and the second "
        "begins with a word that has lost its own. Both decode to the same text, so "
        "nobody notices. Cut before the space, at the end of a word, and the ids are "
        "those of the whole."
    ),
)
def encode_in_halves(text: str) -> list[int]:
    tokenizer = _trained(300)
    cut = text.find(" ", len(text) // 2) + 1
    first, second = tokenizer.encode(text[:cut]), tokenizer.encode(text[cut:])
    return [*first.tolist(), *second.tolist()]


# True or false?


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
        "Two tokenizers learned from the same text in the same way. The one with more "
        "merges never needs more tokens than the other, whatever text they encode."
    ),
    reference=at_most_as_many,
    cases=_texts_and_sizes,
    explanation=(
        "The larger tokenizer has all merges of the smaller one, and others that were "
        "learned later. Encoding makes merges in the order of learning, so it comes to "
        "the smaller one's tokens first, and after that it can only join some of "
        "them. (If the two had learned from different texts, all bets would be off.)"
    ),
)
def more_merges_never_hurt(text: str, smaller: int, larger: int) -> bool:
    return True


# With other numbers by seed.


@numbers(
    ask="A byte-level tokenizer is to have {vocab_size:,} tokens, {num_special} "
    "special ones among them. How many merges does it learn?",
    draw=lambda rng: {
        "vocab_size": rng.randrange(1_000, 60_000),
        "num_special": rng.randrange(2, 30),
    },
    hints=("Which tokens are there before the first merge?",),
)
def merges_to_learn(vocab_size: int, num_special: int) -> int:
    return vocab_size - 256 - num_special


merges_to_learn.answers("""
    vocab_size - 256
        special tokens also take places.
    vocab_size - num_special
        the 256 bytes are tokens before the first merge.
    vocab_size - 255 - num_special
        there are not 255 bytes. They go from 0 to 255, which makes 256.
""")


@numbers(
    ask="A word is nothing but the letter `a`, {run} times, and it occurs {count:,} "
    "times in a text. The pair (a, a) becomes one token. By how many tokens does the "
    "text get shorter?",
    draw=lambda rng: {
        "run": 2 * rng.randrange(2, 6) + 1,
        "count": rng.randrange(100, 2_000),
    },
    hints=("Merge a short run by hand, from left to right. Can pairs overlap?",),
)
def saved_by_runs(run: int, count: int) -> int:
    return run // 2 * count


saved_by_runs.answers("""
    (run - 1) * count
        overlapping pairs are counted, but an `a` that was merged is gone for the next.
    run // 2
        this is what one word saves, but the word occurs often.
    (run - run // 2) * count
        these are the tokens that are *left*.
""")


@numbers(
    ask="A model's loss is {loss} nats per token, and its tokens stand for "
    "{compression} bytes on average. How many bits per byte is that?",
    draw=lambda rng: {
        "loss": rng.randrange(200, 600) / 100,
        "compression": rng.randrange(200, 500) / 100,
    },
    hints=("Go from nats to bits, and from a token to one of its bytes.",),
)
def bits_to_compare(loss: float, compression: float) -> float:
    return loss / math.log(2) / compression


bits_to_compare.answers("""
    loss / compression
        these are nats per byte. A bit is ln 2 nats.
    loss / math.log(2)
        these are bits per token, and a token has several bytes.
    loss / math.log(2) * compression
        the loss is multiplied by the bytes of a token, which have to share it.
    loss * math.log(2) / compression
        the loss is multiplied by ln 2, but there are more bits than nats.
""")
