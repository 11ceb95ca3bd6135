"""Exercises of lesson 06: count, choose, merge, encode, and do not fall for half a
character."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from random import Random

from course_lib.bpe import best_pair, learn_merges, merge_history
from course_lib.teaching import Case, bug_or_not, exercise


def _ids(random: Random) -> Iterator[Case]:
    yield from (
        ([],),
        ([4],),
        ([4, 4],),
        ([4, 4, 4],),
        ([4, 4, 4, 4],),
        ([1, 2],),
        ([2, 1, 2],),
        ([1, 2, 1, 3, 1],),
    )
    for _ in range(30):
        yield ([random.randrange(4) for _ in range(random.randrange(3, 14))],)


@exercise(
    cases=_ids,
    hints=(
        "Each id but the last begins exactly one pair.",
        "The pairs are `(ids[i], ids[i + 1])` for each i but the last. Step by one, "
        "and count in a dictionary.",
    ),
)
def neighbor_counts(ids: list[int]) -> dict[tuple[int, int], int]:
    """Return how often each pair of ids stands side by side: in `[7, 7, 7]` the pair
    (7, 7) does twice."""
    counts = {}
    for i in range(len(ids) - 1):
        pair = (ids[i], ids[i + 1])
        counts[pair] = counts.get(pair, 0) + 1
    return counts


@neighbor_counts.mistake(
    "pairs that do not overlap. The second id of one pair is the first of the next: "
    "step by one."
)
def without_overlap(ids):
    return dict(Counter((ids[i], ids[i + 1]) for i in range(0, len(ids) - 1, 2)))


@neighbor_counts.mistake(
    "the order within a pair is lost. (1, 2) and (2, 1) are two different pairs."
)
def unordered_pairs(ids):
    return dict(Counter(tuple(sorted(pair)) for pair in pairwise(ids)))


@neighbor_counts.mistake(
    "the last id and the first are counted as neighbors. A word is no ring."
)
def wraps_around(ids):
    return dict(Counter((ids[i - 1], ids[i]) for i in range(len(ids))))


@neighbor_counts.mistake("each pair counts once, however often it occurs.")
def counts_once(ids):
    return dict.fromkeys(pairwise(ids), 1)


def _counts(random: Random) -> Iterator[Case]:
    yield from (
        ({(5, 6): 2},),
        ({(5, 6): 2, (6, 5): 3},),
        ({(6, 5): 3, (5, 6): 3},),
        ({(1, 9): 4, (2, 0): 4},),
    )
    for _ in range(40):
        pairs = random.sample(
            [(a, b) for a in range(12) for b in range(12)], random.randrange(2, 9)
        )
        yield ({pair: random.randrange(1, 4) for pair in pairs},)


@exercise(
    cases=_counts,
    hints=(
        "Two things decide: first the count, the larger the better; then the pair, "
        "the smaller the better.",
        "`min` with the key `(-counts[pair], pair)` does both at once: tuples "
        "compare like words in a dictionary.",
    ),
)
def pair_to_merge(counts: dict[tuple[int, int], int]) -> tuple[int, int]:
    """Return the most frequent pair; of equally frequent ones, that with the smallest
    first id, then second id."""
    return min(counts, key=lambda pair: (-counts[pair], pair))


@pair_to_merge.mistake(
    "ties go to the pair that was counted first. Then the order of the texts changes "
    "the tokenizer."
)
def first_come(counts):
    return max(counts, key=counts.get)


@pair_to_merge.mistake(
    "ties go to the largest ids: `max` with the key `(count, pair)` maximizes both."
)
def largest_ids(counts):
    return max(counts, key=lambda pair: (counts[pair], pair))


@pair_to_merge.mistake("the rarest pair. The most frequent one saves most tokens.")
def rarest(counts):
    return min(counts, key=lambda pair: (counts[pair], pair))


@pair_to_merge.mistake(
    "among equals the second id decides. Compare the first ids, and the second only "
    "if these agree."
)
def second_id_first(counts):
    return min(counts, key=lambda pair: (-counts[pair], pair[1], pair[0]))


def _merges_of_one_pair(random: Random) -> Iterator[Case]:
    for ids in ([], [1], [1, 2], [2, 1], [1, 2, 1, 2], [1, 1, 2], [3, 1, 2, 3]):
        yield ids, (1, 2), 9
    yield from (([1] * length, (1, 1), 9) for length in range(2, 8))
    for _ in range(30):
        yield (
            [random.randrange(3) for _ in range(random.randrange(4, 15))],
            (random.randrange(3), 1),
            9,
        )


@exercise(
    cases=_merges_of_one_pair,
    hints=(
        "Walk from left to right. After a merge, go on two ids later; otherwise one.",
        "A `while` loop with your own index: `if ids[i : i + 2] == list(pair)` "
        "append `new_id` and add 2 to the index.",
    ),
)
def replace_pair(ids: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    """Return the ids with every occurrence of the pair, from left to right, replaced by
    `new_id`."""
    merged, position = [], 0
    while position < len(ids):
        if ids[position : position + 2] == list(pair):
            merged.append(new_id)
            position += 2
        else:
            merged.append(ids[position])
            position += 1
    return merged


@replace_pair.mistake(
    "only the first occurrence. A merge replaces the pair at all its places."
)
def only_once(ids, pair, new_id):
    for i in range(len(ids) - 1):
        if (ids[i], ids[i + 1]) == pair:
            return [*ids[:i], new_id, *ids[i + 2 :]]
    return list(ids)


@replace_pair.mistake(
    "from right to left. In `[1, 1, 1]` the merge belongs to the left: `[9, 1]`."
)
def from_the_right(ids, pair, new_id):
    return replace_pair.reference(ids[::-1], pair[::-1], new_id)[::-1]


@replace_pair.mistake(
    "one id takes part in two merges. After a merge go on *two* ids later."
)
def used_twice(ids, pair, new_id):
    merged, skip = [], False
    for i, token in enumerate(ids):
        if tuple(ids[i : i + 2]) == pair:
            merged.append(new_id)
            skip = True
        elif not skip:
            merged.append(token)
        else:
            skip = False
    return merged


@replace_pair.mistake("the second id of the pair stays. The new token spells both.")
def keeps_the_second(ids, pair, new_id):
    return [
        new_id if tuple(ids[i : i + 2]) == pair else token
        for i, token in enumerate(ids)
    ]


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


@exercise(
    cases=_words_with_merges,
    hints=(
        "A merge that was learned early comes first, wherever in the word it is. "
        "Which one is the earliest?",
        "The dictionary holds the merges in the order in which they were learned: "
        "apply each, from left to right, to the whole word, one after the other.",
    ),
)
def encode_word(ids: list[int], merges: dict[tuple[int, int], int]) -> list[int]:
    """Return the ids of a word after all merges; `merges` maps pairs to new ids, in the
    order of learning."""
    for pair, new_id in merges.items():
        merged, position = [], 0
        while position < len(ids):
            if tuple(ids[position : position + 2]) == pair:
                merged.append(new_id)
                position += 2
            else:
                merged.append(ids[position])
                position += 1
        ids = merged
    return ids


@encode_word.mistake(
    "from left to right, whatever can be merged. The order of learning decides, not "
    "the place."
)
def leftmost_first(ids, merges):
    ids = list(ids)
    position = 0
    while position < len(ids) - 1:
        if (ids[position], ids[position + 1]) in merges:
            ids[position : position + 2] = [merges[ids[position], ids[position + 1]]]
            position = 0
        else:
            position += 1
    return ids


@encode_word.mistake(
    "the leftmost pair first, at all its places. The order of learning decides, not "
    "the place."
)
def leftmost_pair_everywhere(ids, merges):
    ids = list(ids)
    while candidates := [pair for pair in pairwise(ids) if pair in merges]:
        ids = replace_pair.reference(ids, candidates[0], merges[candidates[0]])
    return ids


@encode_word.mistake(
    "the pair with the smallest ids first. The order of learning decides, not the ids "
    "of a pair."
)
def smallest_pair_first(ids, merges):
    ids = list(ids)
    while candidates := [pair for pair in pairwise(ids) if pair in merges]:
        ids = replace_pair.reference(ids, min(candidates), merges[min(candidates)])
    return ids


@encode_word.mistake(
    "the last learned merge first. It was learned after all the others had been "
    "applied."
)
def latest_first(ids, merges):
    ids = list(ids)
    while candidates := [pair for pair in pairwise(ids) if pair in merges]:
        pair = max(candidates, key=merges.__getitem__)
        ids = replace_pair.reference(ids, pair, merges[pair])
    return ids


@encode_word.mistake("one merge, and then the end. Merged tokens can be merged again.")
def one_merge_only(ids, merges):
    return merge_history(ids, merges)[:2][-1]


@encode_word.mistake(
    "pairs of single bytes only: tokens that were made by a merge never take part in "
    "another one."
)
def single_bytes_only(ids, merges):
    bytes_only = {
        pair: new_id
        for pair, new_id in merges.items()
        if max(pair) < min(merges.values())
    }
    return merge_history(ids, bytes_only)[-1]


@encode_word.mistake(
    "the longest token that fits, from left to right. BPE repeats the merges, and "
    "looks for nothing."
)
def longest_match(ids, merges):
    spelled: dict[int, list[int]] = {}
    for (left, right), new_id in merges.items():
        spelled[new_id] = spelled.get(left, [left]) + spelled.get(right, [right])
    longest_first = sorted(spelled.items(), key=lambda item: -len(item[1]))
    encoded, position = [], 0
    while position < len(ids):
        fits = [
            (token, s)
            for token, s in longest_first
            if ids[position : position + len(s)] == s
        ]
        token, s = fits[0] if fits else (ids[position], [0])
        encoded.append(token)
        position += len(s)
    return encoded


def _vocabularies(random: Random) -> Iterator[Case]:
    yield from (
        (rank, specials) for rank in (0, 1, 743, 50_000) for specials in (0, 1, 2, 5)
    )


@exercise(
    cases=_vocabularies,
    hints=(
        "Ids are given to special tokens, then to bytes, then to merges.",
        "Merge number 0 has the first id that is left after the special tokens and "
        "256 bytes.",
    ),
)
def id_of_merge(rank: int, num_special_tokens: int) -> int:
    """Return the id of the token that merge number `rank` makes, counted from 0."""
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


def _cut_texts(random: Random) -> Iterator[Case]:
    for text in ("a", "é", "ab", "aé", "潮", "a潮b", "🌊", "été", "潮汐", "a🌊b"):
        yield from ((text.encode()[:end],) for end in range(len(text.encode()) + 1))


@exercise(
    cases=_cut_texts,
    hints=(
        "A first byte says how many bytes its character has: below 0x80 one, from "
        "0xC0 on two, from 0xE0 on three, from 0xF0 on four. A byte in 0x80 ... 0xBF "
        "is a later one.",
        "Walk back from the end to the last byte that is not in 0x80 ... 0xBF. Are "
        "all its bytes there?",
    ),
)
def complete_bytes(data: bytes) -> int:
    """Return how many bytes, from the beginning, spell whole characters: the rest has
    to wait for the next token.

    `data` is the beginning of valid UTF-8, cut anywhere.
    """
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
    "the last character goes even if it is whole, unless it is ASCII: the text hangs "
    "back."
)
def always_waits(data):
    end = len(data)
    while end and 0x80 <= data[end - 1] < 0xC0:
        end -= 1
    return end - 1 if end and data[end - 1] >= 0xC0 else end


@complete_bytes.mistake("characters are counted, not bytes.")
def counts_characters(data):
    return len(data[: complete_bytes.reference(data)].decode())


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
    ):
        yield from ((text, num_tokens) for num_tokens in (1, 2, len(text)))


@exercise(
    cases=_texts,
    hints=(
        "A character is 1 to 4 bytes: `len(text)` counts characters.",
        "The length of `text.encode()`, divided by the number of tokens.",
    ),
)
def compression(text: str, num_tokens: int) -> float:
    """Return how many UTF-8 bytes one token stands for, on average."""
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


@compression.mistake(
    "rounded down: `//` throws the fraction away, and the fraction is what you compare."
)
def rounded_down(text, num_tokens):
    return len(text.encode()) // num_tokens


@compression.mistake("bytes of UTF-16. The unit of this course is the byte of UTF-8.")
def utf_16(text, num_tokens):
    return len(text.encode("utf-16-le")) / num_tokens


@bug_or_not(
    reference=best_pair,
    cases=_counts,
    explanation=(
        "`max` returns the *first* of several maxima, and `sorted` puts the smallest "
        "pair first: the same rule. Without `sorted` it would be the pair that was "
        "counted first, and the order of the texts would change the tokenizer."
    ),
)
def best_of_sorted(counts: dict[tuple[int, int], int]) -> tuple[int, int]:
    return max(sorted(counts), key=counts.get)


@bug_or_not(
    reference=encode_word.reference,
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


def decode_tokens(tokens: list[bytes]) -> str:
    return b"".join(tokens).decode("utf-8", "replace")


def _tokens(random: Random) -> Iterator[Case]:
    yield from (
        ([b"tide"],),
        ([b"ti", b"de"],),
        ([],),
        (["é".encode(), b"t"],),
        ([b"\xc3", b"\xa9"],),
    )
    for _ in range(20):
        data = "".join(random.choice("aé潮🌊") for _ in range(3)).encode()
        cut = random.randrange(len(data) + 1)
        yield ([data[:cut], data[cut:]],)


@bug_or_not(
    reference=decode_tokens,
    cases=_tokens,
    explanation=(
        "A token may end in the middle of a character. Decoded alone, both halves "
        "become U+FFFD; only the joined bytes are UTF-8. In English you will not "
        "notice for a long time. Join first, decode once, or keep the rest for the "
        "next token (see exercise 6)."
    ),
)
def decode_one_by_one(tokens: list[bytes]) -> str:
    return "".join(token.decode("utf-8", "replace") for token in tokens)
