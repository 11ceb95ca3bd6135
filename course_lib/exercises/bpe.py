"""Exercises of lesson 6: what merges save, applying them, ids that nobody sees, and
half a character."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from random import Random

from course_lib.bpe import BPETokenizer, learn_merges, merge_history
from course_lib.teaching.checker import Case, bug_or_not, exercise, true_or_false


def _words_and_pairs(random: Random) -> Iterator[Case]:
    for word in ((1, 2), (2, 1), (1, 1, 1), (1, 1, 1, 1), (0, 1, 2), (1, 2, 1, 2)):
        yield {word: 1}, (1, 2 if 2 in word else 1)
    yield from (({}, (1, 2)), ({(1,): 3}, (1, 1)), ({(1, 2): 5}, (1, 2)))
    yield from (({(0, 1, 2): 2}, (1, 2)), ({(1, 2, 1, 2): 2}, (1, 2)))
    # two words that only together hold the pair; ids that would hold it as text
    yield from (({(0, 1): 1, (2, 0): 1}, (1, 2)), ({(11, 2): 1, (1, 21): 2}, (1, 2)))
    yield from (({(3, 1, 2, 1): 2, (2,): 4}, (1, 2)), ({(2, 2, 1): 3}, (1, 2)))
    # runs: two pairs in each, one merge
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


def _saved_by(of_word: Callable, words: dict[tuple[int, ...], int]) -> int:
    return sum(of_word(ids) * frequency for ids, frequency in words.items())


tokens_saved.mistake(
    "you count overlapping pairs. `1 1 1` has two of them, but only one can be merged.",
    lambda words, pair: _saved_by(lambda ids: [*pairwise(ids)].count(pair), words),
)
tokens_saved.mistake(
    "you count each distinct word once, but `words` says how often it occurs in the "
    "text.",
    lambda words, pair: tokens_saved(dict.fromkeys(words, 1), pair),
)
tokens_saved.mistake(
    "you count at most one merge in a word, even where the pair occurs several times.",
    lambda words, pair: _saved_by(lambda ids: pair in pairwise(ids), words),
)
tokens_saved.mistake(
    "you count how often the two ids occur, whether or not they stand side by side.",
    lambda words, pair: _saved_by(
        lambda ids: min(ids.count(i) // pair.count(i) for i in pair), words
    ),
    lambda words, pair: _saved_by(lambda ids: min(map(ids.count, pair)), words),
    lambda words, pair: _saved_by(lambda ids: ids.count(pair[0]), words),
)
tokens_saved.mistake(
    "you join the words, so a pair can reach from one into the next, but no merge "
    "crosses a cut.",
    lambda words, pair: tokens_saved(
        {sum((ids * frequency for ids, frequency in words.items()), ()): 1}, pair
    ),
)


def _words_and_merges(random: Random) -> Iterator[Case]:
    # In abc the pair (b, c) wins, although (a, b) is further to the left.
    merges = [("b", "c"), ("a", "b"), ("a", "bc"), ("c", "c"), ("d", "b")]
    for word in ("", "a", "ab", "abc", "ababc", "ccc", "bcc", "dbc", "dab", "abcabc"):
        yield word, merges
    # Two ways to spell abc: only the learned one is a merge.
    for word in ("abc", "abcbc", "abab"):
        yield word, [("a", "b"), ("b", "c"), ("a", "bc")]
    # In a text with spaces, b c would also be found in db c.
    for word in ("dbc", "adbc", "bcdbc"):
        yield word, [("d", "b"), ("b", "c")]
    yield "aaaaa", [("a", "a"), ("aa", "a")]
    yield "abab", [("a", "b"), ("ab", "ab")]
    # A character is not a byte.
    for word in ("été", "tété", "潮汐潮"):
        yield word, [("t", "é"), ("é", "té"), ("潮", "汐")]
    # This order is neither that of the alphabet nor that of length.
    yield from (("cbab", [("c", "b"), ("cb", "a"), ("a", "b")]), ("abcd", []))
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
        "you've merged two tokens?",
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


apply_merges.mistake(
    "you make one round of merges and stop, but what a merge has made can be merged "
    "again.",
    lambda word, merges: apply_merges(word, merges[:1]),
    lambda word, merges: apply_merges(
        word, [two for two in merges if two in pairwise(word)][:1]
    ),
    lambda word, merges: apply_merges(
        word, [two for two in merges if len("".join(two)) == 2]
    ),
)
apply_merges.mistake(
    "you never merge anything. Do you compare a list with a tuple? Those are never "
    "equal.",
    lambda word, merges: list(word),
)


@apply_merges.mistake(
    "you merge from left to right whatever can be merged. Instead, merge the pair that "
    "was learned first, wherever it is."
)
def leftmost_pair_first(word, merges):
    tokens = list(word)
    while places := [i for i, two in enumerate(pairwise(tokens)) if two in merges]:
        first = places[0]
        tokens[first : first + 2] = [tokens[first] + tokens[first + 1]]
    return tokens


@apply_merges.mistake(
    "you make each merge only once in a word, but the same pair may occur there "
    "several times."
)
def first_place_only(word, merges):
    tokens = list(word)
    for pair in merges:
        if pair in (pairs := list(pairwise(tokens))):
            place = pairs.index(pair)
            tokens[place : place + 2] = ["".join(pair)]
    return tokens


@apply_merges.mistake(
    "you lose the last token when no merge takes it, because your loop ends before it. "
    "A token without a right neighbor stays as it is."
)
def without_the_last_one(word, merges):
    tokens = list(word)
    for pair in merges:
        tokens += [""]  # which is lost in place of it where a merge takes the last one
        merged, position = [], 0
        while position < len(tokens) - 2:
            width = 2 if tuple(tokens[position : position + 2]) == pair else 1
            merged.append("".join(tokens[position : position + width]))
            position += width
        tokens = merged
    return tokens


@apply_merges.mistake(
    "you replace in a text with spaces between the tokens, where `b c` is also found "
    "at the end of `db c`."
)
def replaced_in_a_text(word, merges):
    text = " ".join(word)
    for left, right in merges:
        text = text.replace(f"{left} {right}", left + right)
    return text.split()


def _words_that_swallow(random: Random) -> Iterator[Case]:
    merges = {(0, 1): 10, (10, 2): 11, (2, 2): 12}
    yield {(0, 1, 2): 3, (2, 2): 1}, merges
    yield from (({}, {}), ({(0, 1): 2}, {}), ({}, merges), ({(3,): 1}, merges))
    # 10 is on its own in one word only: the first, the last, the one in the middle
    yield {(0, 1, 3): 1, (0, 1, 2): 5, (2, 2): 1}, merges
    yield {(2, 2): 5, (0, 1, 2): 5, (0, 1): 1}, merges
    yield {(0, 1, 2): 5, (3, 0, 1): 1, (2, 2): 5}, merges
    # 10 is swallowed in two words, and in one of them not at once
    yield {(0, 1, 2): 1, (0, 1, 3, 2, 2, 0, 1, 2): 1}, {**merges, (10, 3): 13}
    # side by side only where two words meet
    yield from (({(0,): 1, (1,): 1, (2,): 1}, merges), ({(3, 0): 1, (1, 2): 2}, merges))
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


swallowed.mistake(
    "you assume that every part of a later merge is swallowed, but it may still occur "
    "elsewhere on its own. Encode the words, and look.",
    lambda words, merges: sorted({*sum(merges, ())} & {*merges.values()}),
)
swallowed.mistake(
    "you look at all stages of a word, but a model reads only the last one.",
    lambda words, merges: sorted(
        {*merges.values()}
        - {i for word in words for ids in merge_history(word, merges) for i in ids}
    ),
)
swallowed.mistake(
    "you return an id as soon as one word lacks it. Return it only if *no* word "
    "contains it.",
    lambda words, merges: sorted(
        {i for word in words for i in swallowed({word: 1}, merges)}
    ),
)
swallowed.mistake(
    "you return the new ids that do occur, not those that don't.",
    lambda words, merges: sorted({*merges.values()} - {*swallowed(words, merges)}),
)
swallowed.mistake(
    "you join the words, so a merge can reach from one into the next, but no merge "
    "crosses a cut.",
    lambda words, merges: swallowed({sum(words, ()): 1}, merges),
)


def _cut_texts(random: Random) -> Iterator[Case]:
    texts = ("a", "é", "ab", "aé", "潮", "a潮b", "🌊", "été", "潮汐", "a🌊b")
    texts += ("กa", "\U0010fffd")  # the first and the last of their lengths
    # U+FFFD is a character too: a text may really hold it.
    for text in (*texts, "\ufffd", "a\ufffd", "\ufffd潮", "\ufffda", "\ufffd\ufffd"):
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


complete_bytes.mistake(
    "you count characters, not bytes, but é alone is two bytes.",
    lambda data: len(data.decode("utf-8", "ignore")),
    lambda data: len(data.decode("utf-8", "replace")),
)
complete_bytes.mistake(
    "you leave out the last byte or character even if it's whole, so the text on the "
    "screen is always late.",
    lambda data: max(0, len(data) - 1),
    lambda data: complete_bytes(data[:-1]),
)
complete_bytes.mistake(
    "you accept only ASCII, but é, 潮 and 🌊 are whole, too, once all their bytes are "
    "there.",
    lambda data: sum(byte < 0x80 for byte in data),
    lambda data: next((i for i, byte in enumerate(data) if byte >= 0x80), len(data)),
    lambda data: len(data.rstrip(bytes(range(0x80, 0x100)))),
)
complete_bytes.mistake(
    "you show all or nothing, even though the characters before an incomplete one are "
    "ready.",
    lambda data: len(data) if complete_bytes(data) == len(data) else 0,
)
complete_bytes.mistake(
    "you let at most one byte wait, but three of a character's four bytes may have "
    "come.",
    lambda data: len(data) - (complete_bytes(data) < len(data)),
    lambda data: len(data) - (data[-1:] >= b"\xc0"),
)
complete_bytes.mistake(
    "you treat U+FFFD as half a character, but a text may really contain one.",
    lambda data: len(data.decode("utf-8", "replace").rstrip("\ufffd").encode()),
    lambda data: len(data.decode("utf-8", "replace").removesuffix("\ufffd").encode()),
    lambda data: len(data.decode("utf-8", "replace").replace("\ufffd", "").encode()),
)


# Bug or not? True or false?


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


@bug_or_not(
    purpose=(
        "Encode a word, spelled in the ids of its bytes, as `merge_history` does. The "
        "`merges` are in the order of learning."
    ),
    reference=repeated_merges,
    cases=_words_with_merges,
    explanation=(
        "The longest token that fits isn't always what the merges lead to, because "
        "they may have used up its bytes before. The text still decodes, so nothing "
        "crashes. But the model was trained on other ids, and now reads sequences that "
        "it may never have seen."
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
        "`surrogateescape` turns each byte that isn't UTF-8 into a character of its "
        "own, and encoding with it turns that character back into the byte. Half a "
        "character therefore counts as many bytes as it has. `len(token)` is shorter "
        'and says the same. The line in nanochat had decoded with "replace", which '
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
        "learned later. Encoding makes merges in the order in which they were learned. "
        "So it gets to the smaller one's tokens first, and after that it can only join "
        "some of them. (If the two had learned from different texts, all bets would be "
        "off.)"
    ),
)
def more_merges_never_hurt(text: str, smaller: int, larger: int) -> bool:
    return True
