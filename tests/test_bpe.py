"""Lesson 06: BPE by hand against its definition, against the library, on any bytes; and the library's own training."""

from __future__ import annotations

import json
import math
import random
import re
import unicodedata
from collections import Counter
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from datasets import Dataset, DatasetDict
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models
from tokenizers.implementations import ByteLevelBPETokenizer
from tokenizers.pre_tokenizers import ByteLevel

from course_lib import bpe, teaching
from course_lib.bpe import (
    BYTE_ORDER,
    GPT2_PATTERN,
    BPETokenizer,
    check_vocab_size,
    count_words,
    merge_history,
    merging,
    one_screen,
    printable,
    spell,
    split_words,
    train_byte_level_bpe,
)
from course_lib.bpe.merging import learn_merges, merge_word
from course_lib.bpe.one_screen import OneScreenBPE, count_pairs, merge_pair
from course_lib.experiments import bpe as experiments
from course_lib.foundation import (
    END_OF_TEXT,
    CharTokenizer,
    GRUModel,
    encode_corpus,
    iterate_texts,
    load_documents,
    load_text,
    tokenizing,
)
from course_lib.foundation.checks import check_unicode
from course_lib.sliding_windows import SlidingWindowDataset, make_dataloader
from course_lib.token_shards.hashing import tokenizer_hash


def merges_of_library(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    return [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


def merges_by_hand(tokenizer: BPETokenizer) -> list[tuple[str, str]]:
    return [tuple(printable(tokenizer.token_bytes[part]) for part in pair) for pair in tokenizer.merges]


# Characters that both `regex` and `tokenizers` know: each knows additions to Unicode that the other does not.
KNOWN = st.characters(exclude_categories=("Cs", "Cn"))

messy_text = st.text(st.one_of(st.sampled_from("aab' st’1²½ \n\t\r\u00a0\u3000éß潮汐🌊_-."), KNOWN), max_size=60)


@pytest.fixture(scope="module")
def story() -> BPETokenizer:
    return BPETokenizer.train(load_text(), 700, special_tokens=[END_OF_TEXT, "<|pad|>"])


@pytest.fixture(scope="module")
def both() -> tuple[BPETokenizer, Tokenizer]:
    by_hand = BPETokenizer.train(load_text(), 700)
    return by_hand, train_byte_level_bpe([load_text()], vocab_size=700, special_tokens=[])


@pytest.fixture(scope="module")
def documents() -> list[str]:
    return [document.text for document in load_documents()]


# printable, spell


def test_a_byte_has_its_place_in_the_alphabet_of_the_library():
    tokenizer = train_byte_level_bpe(["a"], vocab_size=256, special_tokens=[])
    assert [tokenizer.id_to_token(place) for place in range(256)] == [printable(bytes([b])) for b in BYTE_ORDER]
    assert set(map(printable, map(bytes, ([b] for b in range(256))))) == set(ByteLevel.alphabet())
    assert spell("é", first_id=10) == (10 + BYTE_ORDER.index(0xC3), 10 + BYTE_ORDER.index(0xA9))


# split_words


@given(messy_text)
@settings(max_examples=100)
@example("  a  b \n c'll  ")
def test_words_are_cut_where_the_library_cuts(text):
    expected = [text[begin:end] for _, (begin, end) in ByteLevel(add_prefix_space=False).pre_tokenize_str(text)]
    assert list(split_words(text)) == expected


def test_every_character_is_cut_as_in_the_library_if_both_know_it():
    cut = ByteLevel(add_prefix_space=False)
    # Of the Han characters and the Hangul syllables, which are all letters, every 16th will do.
    blocks = [range(0x3400, 0xA000), range(0xAC00, 0xD7A4), range(0x20000, 0x40000)]
    points = [p for p in range(0x110000) if p % 16 == 0 or not any(p in block for block in blocks)]
    known = [c for c in map(chr, points) if unicodedata.category(c) not in ("Cs", "Cn", "Co")]
    for begin in range(0, len(known), 1000):  # many in one text: a call takes longer than a character
        text = "\x00".join(f"a{c}1{c}! {c}" for c in known[begin : begin + 1000])
        expected = [text[start:end] for _, (start, end) in cut.pre_tokenize_str(text)]
        assert list(split_words(text)) == expected, f"from U+{ord(known[begin]):X} on"


@pytest.mark.parametrize("pattern", [GPT2_PATTERN, None, r"\w+", "a", "x*", r"(?<=b)a", "(a)(b)?", r"\p{L}|\p{N}"])
@given(text=messy_text)
@settings(max_examples=30)
def test_no_pattern_loses_a_character(pattern, text):
    words = list(split_words(text, pattern))
    assert "".join(words) == text
    assert "" not in words


@pytest.mark.parametrize(("pattern", "words"), [("(", "be a regular expression or None"), (r"(?r)\w+", "read forward")])
def test_a_pattern_that_does_not_cut_from_left_to_right_is_refused(pattern, words):
    for call in (
        lambda: list(split_words("ab cd", pattern)),
        lambda: count_words(["ab"], pattern),
        lambda: BPETokenizer(pattern=pattern),
        lambda: BPETokenizer.train("ab", 300, pattern=pattern),
    ):
        with pytest.raises(ValueError, match=rf"^pattern must {words}"):
            call()


# The tokenizer on one screen


@given(st.lists(messy_text, max_size=3), st.integers(250, 320), messy_text)
@settings(max_examples=100)
@example(["the tide the tide"] * 2, 256, "the tide")
@example(["aaaaa aaa", "潮潮"], 300, "aaaa 潮🌊")
def test_the_one_screen_is_the_real_tokenizer_and_the_one_of_the_library(texts, vocab_size, text):
    training = " ".join([*texts, "a"])
    mine = OneScreenBPE(training, vocab_size)
    real = BPETokenizer.train(training, max(256, vocab_size))
    library = train_byte_level_bpe([training], vocab_size=max(256, vocab_size), special_tokens=[], progress=False)
    assert list(mine.merges.items()) == list(real.merges.items())
    assert mine.token_bytes == real.token_bytes
    ids = mine.encode(text)
    assert ids == real.encode(text).tolist() == library.encode(text).ids
    assert mine.decode(ids) == text


def test_on_a_whole_text_the_one_screen_is_the_real_one_too():
    text = load_text()[:30_000]
    mine, real = OneScreenBPE(text, 400), BPETokenizer.train(text, 400)
    assert mine.merges == real.merges
    assert mine.encode(text) == real.encode(text).tolist()
    assert mine.decode(mine.encode("潮")[:2]) == real.decode(real.encode("潮")[:2]) == "\ufffd"


def test_the_one_screen_fits_on_one_screen():
    source = Path(one_screen.__file__).read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 85
    assert "checked" not in source
    assert "cache" not in source


# count_words, count_pairs


def test_words_are_counted_text_by_text_and_pairs_within_words():
    words = count_words(['! "', '! " "', ""])
    assert words == {spell("!"): 2, spell(' "'): 3}
    assert count_words(Dataset.from_dict({"text": ["!", "!"]}), first_id=np.int8(127)) == {(127,): 2}
    assert count_pairs({(1, 2, 1): 3, (2, 1): 10, (1, 1, 1): 2, (7,): 5, (): 1}) == {(1, 2): 3, (2, 1): 13, (1, 1): 4}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({(1, 2): 0.5}, "counts of words must be integers"),
        ({(1, 2): -1}, "counts of words must not be negative, got -1"),
        ({"abab": 2}, "words must map"),
    ],
)
def test_words_are_tuples_of_ids_with_their_counts(words, message):
    with pytest.raises((TypeError, ValueError), match=rf"^{message}"):
        learn_merges(words, num_merges=5)


# merge_pair


def naive_merge(ids: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    for position in range(len(ids) - 1):
        if (ids[position], ids[position + 1]) == pair:
            return [*ids[:position], new_id, *naive_merge(ids[position + 2 :], pair, new_id)]
    return list(ids)


@given(st.lists(st.integers(0, 2), max_size=14), st.tuples(st.integers(0, 2), st.integers(0, 2)))
@example([1, 1, 1], (1, 1))
@example([1, 1, 1, 1, 1], (1, 1))
def test_a_merge_replaces_each_occurrence_from_the_left(ids, pair):
    expected = naive_merge(ids, pair, 9)
    assert merge_pair(ids, pair, 9) == merge_pair(tuple(ids), pair, 9) == tuple(expected)
    assert merging._merge_and_tell(ids, pair, 9)[0] == expected


@given(st.lists(st.integers(0, 2), max_size=14), st.tuples(st.integers(0, 2), st.integers(0, 2)))
@example([1, 1, 1, 1, 1], (1, 1))
@example([0, 1, 0, 1, 0, 1], (0, 1))
def test_the_told_changes_turn_old_counts_into_new_ones(ids, pair):
    merged, changes = merging._merge_and_tell(ids, pair, 9)
    counts = count_pairs({tuple(ids): 1})
    for changed, difference in changes:
        counts[changed] += difference
    counts[pair] = 0
    assert +counts == count_pairs({tuple(merged): 1})


# learn_merges


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


small_words = st.lists(st.lists(st.integers(0, 3), max_size=9), min_size=1, max_size=12)


@given(small_words, st.integers(0, 12), st.integers(1, 3))
@settings(max_examples=120)
@example([[1] * 9, [1] * 4], 6, 1)
def test_learning_does_what_the_definition_says(words, num_merges, min_frequency):
    counted = Counter(map(tuple, words))
    merges = learn_merges(counted, num_merges, first_id=4, min_frequency=min_frequency)
    assert list(merges.items()) == list(naive_learning(words, num_merges, 4, min_frequency).items())
    usual = list(naive_learning(words, num_merges, 256, 2).items())
    assert list(learn_merges(counted, num_merges).items()) == usual


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


def test_learning_counts_without_overflow_and_changes_no_words():
    words = {(1, 2): np.int8(100), (3, 1, 2): np.int8(100)}
    assert learn_merges(words, 1, min_frequency=150) == {(1, 2): 256}
    assert words == {(1, 2): 100, (3, 1, 2): 100}


def test_words_that_hold_ids_of_merges_are_refused():
    with pytest.raises(ValueError, match=r"^words must .*2, got 2"):
        learn_merges({(1, 2): 1}, 5, first_id=2)
    with pytest.raises(ValueError, match=r"^words must .*256, got 256"):
        learn_merges({(256, 1): 2}, 5)


# merge_history, merge_word


def naive_encoding(ids: list[int], merges: dict) -> list[int]:
    for pair, new_id in merges.items():
        ids = naive_merge(ids, pair, new_id)
    return ids


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


# BPETokenizer


@pytest.mark.parametrize(
    ("merges", "specials", "words"),
    [
        ([(0, 1, 2)], [], r"pair of merges must hold 2 ids, got \[0, 1, 2\]"),
        ([(0, 1), (0, 1)], [], r"merges must .*got \(0, 1\) again as number 1"),
        ([(0, -1)], [], r"merges must .*255, got \-1"),
        ([(0, 256)], [], r"merges must .*255, got 256"),
        ([(0, 1)], ["<a>"], r"merges must be .*1"),
    ],
)
def test_merges_are_pairs_of_earlier_ids_and_names_are_different(merges, specials, words):
    with pytest.raises((TypeError, ValueError), match=words):
        BPETokenizer(merges, special_tokens=specials)


# BPETokenizer.train


@pytest.mark.parametrize("vocab_size", [258, 1000, 100_000])
@pytest.mark.parametrize("source", ["story", "documents"])
def test_merges_and_ids_are_those_of_the_library(source, vocab_size, documents):
    texts = [load_text()] if source == "story" else documents
    specials = [END_OF_TEXT, "<|pad|>"]
    by_hand = BPETokenizer.train(texts, vocab_size, special_tokens=specials)
    library = train_byte_level_bpe(texts, vocab_size=vocab_size, special_tokens=specials)
    assert merges_by_hand(by_hand) == merges_of_library(library)
    assert by_hand.vocab_size == library.get_vocab_size()
    for name, number in by_hand.special_tokens.items():
        assert library.token_to_id(name) == number
    others = [load_text(), *documents[:: 1 if vocab_size == 1000 else 7]]
    for text, encoded in zip(others, library.encode_batch_fast(others), strict=True):
        assert by_hand.encode(text).tolist() == encoded.ids


@given(st.lists(messy_text, min_size=1, max_size=6), messy_text, st.integers(1, 3))
@settings(max_examples=40)
def test_merges_and_ids_are_those_of_the_library_for_any_texts(texts, other, min_frequency):
    if not any(text.strip() for text in texts):
        return
    by_hand = BPETokenizer.train(texts, 400, min_frequency=min_frequency)
    library = train_byte_level_bpe(texts, vocab_size=400, min_frequency=min_frequency, special_tokens=[])
    assert merges_by_hand(by_hand) == merges_of_library(library)
    for text in [*texts, other]:
        assert by_hand.encode(text).tolist() == library.encode(text).ids
        assert by_hand.decode(by_hand.encode(text)) == library.decode(library.encode(text).ids)


SPLITS = DatasetDict(train=Dataset.from_dict({"text": ["a"]}), test=Dataset.from_dict({"text": ["a"]}))


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ([], "texts must hold more than whitespace"),
        ([" \n ", ""], "texts must hold more than whitespace"),
        (SPLITS, "with the splits ['train', 'test']: choose one"),
    ],
)
def test_what_holds_no_texts_trains_no_tokenizer(texts, words):
    for train in (BPETokenizer.train, partial(train_byte_level_bpe, progress=False)):
        with pytest.raises((TypeError, ValueError), match=re.escape(words)):
            train(texts, vocab_size=300)


def test_one_text_may_be_a_text_only_by_hand():
    assert BPETokenizer.train("aa aa", 300).merges == BPETokenizer.train(["aa aa"], 300).merges
    for use in (count_words, partial(train_byte_level_bpe, vocab_size=300)):
        with pytest.raises(TypeError, match=r"^texts must be several texts, got str: use .text."):
            use("aa aa")


# BPETokenizer.encode, .decode, and of bytes


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=60))
@settings(max_examples=120)
@example("🌊\ufeff")
def test_any_text_comes_back_also_from_surrogate_pairs(story, text):
    ids = story.encode(text).tolist()
    assert story.decode(ids) == text
    assert len(ids) <= len(text.encode())
    assert story.decode_bytes(ids) == text.encode()
    halves = map(chr, np.frombuffer(text.encode("utf-16-le"), dtype="<u2").tolist())
    assert story.encode("".join(halves)).tolist() == ids


@given(st.lists(st.integers(0, 699), max_size=30))
@settings(max_examples=120)
def test_any_ids_decode_as_in_the_library(both, ids):
    by_hand, library = both
    assert by_hand.decode(ids) == library.decode(ids, skip_special_tokens=False)


@pytest.mark.parametrize("ids", [[256], [-1]])
def test_ids_outside_the_vocabulary_are_refused(ids):
    for decode in (BPETokenizer().decode, BPETokenizer().decode_bytes):
        with pytest.raises(ValueError, match=r"^ids must lie in 0 ... 255, got"):
            decode(ids)


def test_ids_are_kept_in_the_smallest_dtype(story):
    assert story.encode("The tide").dtype == np.uint16
    last = spell("he")
    pairs = [(i % 256, i // 256) for i in range(65_536) if (i % 256, i // 256) != last]
    for vocab_size, dtype in ((65_535, np.uint16), (65_536, np.uint16), (65_537, np.uint32)):
        wide = BPETokenizer([*pairs[: vocab_size - 257], last])
        assert wide.vocab_size == vocab_size
        ids = wide.encode("he")  # the last id of all is kept as it is
        assert (ids.dtype, ids.tolist()) == (dtype, [vocab_size - 1])


def test_the_end_of_text_makes_a_stream_of_documents(story):
    assert story.end_of_text_id == 0
    assert BPETokenizer().end_of_text_id is None
    stream = encode_corpus(["The tide.", "", "Again."], story)
    assert story.decode(stream) == f"The tide.{END_OF_TEXT}{END_OF_TEXT}Again.{END_OF_TEXT}"


def test_the_cache_of_words_is_bounded(monkeypatch):
    monkeypatch.setattr(bpe, "CACHED_WORDS", 3)
    tokenizer = BPETokenizer()
    for _ in range(2):
        assert tokenizer.decode(tokenizer.encode("a b c d e f")) == "a b c d e f"
    assert len(tokenizer._cache) == 3


# special_tokens, allowed_special


@given(st.lists(st.sampled_from([END_OF_TEXT, "<|pad|>", "<|", "|>", "endoftext", "a", " "]), max_size=12))
def test_text_cannot_forge_a_special_token(story, pieces):
    forged = "".join(pieces)
    ids = story.encode(forged)
    assert not {0, 1} & set(ids.tolist())
    assert story.decode(ids) == forged


def test_a_training_text_cannot_forge_one_either():
    text = f"{END_OF_TEXT} the end {END_OF_TEXT}" * 50
    tokenizer = BPETokenizer.train(text, 400, special_tokens=[END_OF_TEXT])
    assert min(tokenizer.encode(text)) > 0
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_of_allowed_names_the_longest_is_recognized_and_each_is_taken_as_it_is():
    tokenizer = BPETokenizer(special_tokens=["<a>", "<a><b>", "(.*"])
    assert tokenizer.encode("<a><b><a>(.*", allowed_special="all").tolist() == [1, 0, 2]


@pytest.mark.parametrize("allowed", ["<a>", None, ["<b>"], [None]])
def test_only_special_tokens_that_there_are_can_be_allowed(allowed):
    with pytest.raises((TypeError, ValueError), match=r"^allowed_special must be (several names|among \['<a>'\]), got"):
        BPETokenizer(special_tokens=["<a>"]).encode("a", allowed_special=allowed)


# BPETokenizer.to_tokenizers, .to_ranks, .from_ranks


def tiktoken_of(tokenizer: BPETokenizer, path) -> object:
    """The tokenizer as one of tiktoken, by a file of ranks and by what that does not hold."""
    tiktoken = pytest.importorskip("tiktoken")
    tokenizer.to_ranks(path)
    ranks = import_module("tiktoken.load").load_tiktoken_bpe(str(path))
    names = tokenizer.special_tokens
    return tiktoken.Encoding("ours", pat_str=tokenizer.pattern, mergeable_ranks=ranks, special_tokens=names)


@pytest.fixture(scope="module")
def elsewhere(story, tmp_path_factory):
    """The same tokenizer in two libraries."""
    path = tmp_path_factory.mktemp("ranks") / "story.tiktoken"
    return story.to_tokenizers(), tiktoken_of(story, path)


@given(st.lists(st.one_of(messy_text, st.sampled_from([END_OF_TEXT, "<|pad|>", "<|pad", "\ud83c\udf0a"])), max_size=4))
@settings(max_examples=150)
@example(["a" * 2_000, " " * 2_000])
def test_other_libraries_give_the_same_ids(story, elsewhere, pieces):
    text = "".join(pieces)
    library, encoding = elsewhere
    ids = story.encode(text).tolist()
    assert library.encode(check_unicode("text", text)).ids == ids
    assert encoding.encode_ordinary(text) == ids
    assert library.decode(ids, skip_special_tokens=False) == encoding.decode(ids) == story.decode(ids)
    everything = story.encode(text, allowed_special="all").tolist()
    assert encoding.encode(text, allowed_special="all") == everything
    one = encoding.encode(text, allowed_special={"<|pad|>"}, disallowed_special=())
    assert story.encode(text, allowed_special=["<|pad|>"]).tolist() == one


def test_the_same_ids_of_all_documents_and_from_one_file(tmp_path, documents):
    tokenizer = BPETokenizer.train(documents, 3000, special_tokens=[END_OF_TEXT])
    tokenizer.to_tokenizers().save(str(tmp_path / "tokenizer.json"))
    library = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    encoding = tiktoken_of(tokenizer, tmp_path / "documents.tiktoken")
    stream = encode_corpus(documents, tokenizer)
    for other in (library, encoding):  # tiktoken knows the end by its name, the library is told
        end = 0 if other is library else None
        assert (encode_corpus(documents, other, end_of_text_id=end) == stream).all()


@pytest.mark.parametrize("pattern", [None, r"\w+", "x*", r"(?<=b)a", r"\p{L}+|\p{N}{1,3}"])
@given(text=messy_text)
@settings(max_examples=30)
def test_the_pattern_goes_along(pattern, text):
    tokenizer = BPETokenizer.train(["ab ab x1 x1", "12 12 潮潮"], 300, pattern=pattern)
    assert tokenizer.to_tokenizers().encode(text).ids == tokenizer.encode(text).tolist()


@pytest.mark.parametrize(
    ("tokenizer", "words"),
    [
        (BPETokenizer(special_tokens=["!"]), "ids must be spelled differently"),
        (BPETokenizer([(0, 0), (256, 0), (0, 256)]), "ids must be spelled differently"),
        (BPETokenizer(pattern=r"(?V1)\p{L}+"), "pattern must be one for Oniguruma"),
    ],
)
def test_what_the_library_cannot_express_is_refused(tokenizer, words):
    with pytest.raises(ValueError, match=rf"^{words}"):
        tokenizer.to_tokenizers()


@pytest.mark.parametrize("specials", [[], ["é\n"], [END_OF_TEXT, "<|pad|>"]])
def test_a_file_of_ranks_holds_bytes_and_merges(tmp_path, documents, specials):
    tokenizer = BPETokenizer.train(documents, 1500, special_tokens=specials, pattern=r"\w+")
    tokenizer.to_ranks(tmp_path / "ranks")
    again = BPETokenizer.from_ranks(tmp_path / "ranks", special_tokens=specials, pattern=r"\w+")
    assert tokenizer_hash(again) == tokenizer_hash(tokenizer)


@pytest.mark.parametrize("merges", [[(0, 0), (256, 0), (0, 256)], [(1, 2), (0, 1), (257, 2)]])
def test_merges_that_ranks_would_not_give_back_are_refused(merges, tmp_path):
    with pytest.raises(ValueError, match=r"^merges must lead to each token, but not to b'!"):
        BPETokenizer(merges).to_ranks(tmp_path / "ranks")


@pytest.mark.parametrize(
    ("number", "lines", "words"),
    [
        (0, ["Ig== 0"], "line 1, must hold token 0, got b'Ig== 0': its id or its byte is another"),
        (256, ["YWI= 257"], "line 257, must hold token 256"),
        (256, ["YWI= 256", "YWI= 257"], "line 258, must hold token 257"),
        (256, ["YQ== 256"], "pair of merges must hold 2 ids"),
        (256, ["é 256"], "line 257"),
        (256, ["YWI="], "line 257"),
    ],
)
def test_the_first_line_that_is_wrong_in_a_file_of_ranks_is_named(number, lines, words, tmp_path):
    path = tmp_path / "some.tiktoken"
    BPETokenizer([BPETokenizer().encode("ab")]).to_ranks(path)
    ranks = path.read_text().splitlines()
    assert BPETokenizer.from_ranks(path).vocab_size == len(ranks) == 257
    ranks[number : number + 1] = lines
    path.write_text("\n".join(ranks), encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(words)):
        BPETokenizer.from_ranks(path)


def test_a_file_of_fewer_ranks_than_bytes_or_of_other_special_tokens_is_refused(tmp_path):
    path = tmp_path / "some.tiktoken"
    BPETokenizer().to_ranks(path)
    with pytest.raises(ValueError, match="line 1, must hold token 1"):
        BPETokenizer.from_ranks(path, special_tokens=["<a>"])
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))
    with pytest.raises(ValueError, match="must have 256 lines or more, got 255"):
        BPETokenizer.from_ranks(path)


# train_byte_level_bpe, check_vocab_size


def test_any_source_of_texts_trains_the_same_tokenizer(documents):
    documents = documents[::4]
    halves = [documents[:30], tuple(documents[30:])]
    arrow = Dataset.from_dict({"id": list(range(len(documents))), "text": documents})
    sources = [
        documents,
        tuple(documents),
        (text for text in documents),
        halves,
        [{"text": half} for half in halves],
        ({"text": text, "id": "x"} for text in documents),
        arrow,
        arrow.to_iterable_dataset(num_shards=3),
        arrow.iter(7),
    ]
    saved = {train_byte_level_bpe(source, vocab_size=500).to_str() for source in sources}
    assert len(saved) == 1
    other = arrow.rename_column("text", "body")
    assert train_byte_level_bpe(other, vocab_size=500, text_column="body").to_str() in saved


def test_a_data_set_is_read_in_batches_and_once(documents):
    reads = []

    class Watched:
        column_names = ("text",)

        def __iter__(self):
            raise AssertionError("row by row")

        def iter(self, batch_size):
            reads.append(batch_size)
            return iter([{"text": documents}])

    assert list(iterate_texts(Watched())) == documents
    assert reads == [tokenizing.BATCH_SIZE]


def test_add_prefix_space_makes_the_first_word_a_word_like_any_other():
    tokenizer = train_byte_level_bpe([load_text()], vocab_size=1000, add_prefix_space=True)
    assert tokenizer.encode("the").ids == tokenizer.encode(" the").ids
    assert tokenizer.decode(tokenizer.encode("the").ids) == " the"


@pytest.mark.parametrize(("name", "expected"), [("nfc", "é ﬁ"), ("nfd", "e\u0301 ﬁ"), ("nfkc", "é fi"), (None, "é ﬁ")])
def test_the_normalizer_decides_what_comes_back(name, expected):
    tokenizer = train_byte_level_bpe([load_text()], vocab_size=300, unicode_normalizer=name)
    assert tokenizer.decode(tokenizer.encode("é ﬁ").ids) == expected
    same = tokenizer.encode("é").ids == tokenizer.encode("e\u0301").ids
    assert same == (name is not None)


def test_one_file_holds_everything_and_two_files_do_not(tmp_path, documents):
    tokenizer = train_byte_level_bpe(documents, vocab_size=800)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    whole = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert whole.to_str() == tokenizer.to_str()
    tokenizer.model.save(str(tmp_path))
    parts = (str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    assert Tokenizer(models.BPE.from_file(*parts)).encode("The tide").ids != tokenizer.encode("The tide").ids
    # Set up again by somebody who knows how, they are the same model.
    again = ByteLevelBPETokenizer.from_file(*parts)
    assert all(again.encode(text).ids == tokenizer.encode(text).ids for text in documents[:50])


def test_progress_is_shown_when_asked_for_and_not_otherwise(capfd):
    train_byte_level_bpe(["the tide"] * 3, vocab_size=260, progress=False)
    assert capfd.readouterr().err == ""
    train_byte_level_bpe(["the tide"] * 3, vocab_size=260, progress=True)
    assert "reading" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("vocab_size", "specials", "words"),
    [
        (255, [], r"vocab_size must be .*256"),
        (257, ["<a>", "<b>"], "must be at least 258: 256 tokens of the alphabet and 2 special tokens; got 257"),
        (2**32, [], r"vocab_size must be .*1 .*16777216"),  # it would need 264 GiB
        (300, ["<a>", "<a>"], "special_tokens must be different, but '<a>' occurs 2 times"),
    ],
)
def test_a_vocabulary_has_room_for_bytes_and_special_tokens(vocab_size, specials, words):
    for train in (BPETokenizer.train, partial(train_byte_level_bpe, progress=False)):
        with pytest.raises((TypeError, ValueError), match=words):
            train(["aa aa"], vocab_size=vocab_size, special_tokens=specials)


@pytest.mark.parametrize("name", ["a", "aa"])
def test_the_library_would_take_a_piece_of_text_for_a_special_token(name):
    with pytest.raises(ValueError, match=rf"^special_tokens must not be ordinary text, got one in .'{name}'."):
        train_byte_level_bpe(["aa aa"], special_tokens=[name], vocab_size=300)


def test_an_alphabet_may_be_smaller_or_larger_than_all_bytes():
    assert check_vocab_size(515, 2, 512) == 515
    with pytest.raises(ValueError, match=r"^vocab_size must be .*514"):
        check_vocab_size(513, 2, 512)


# The experiment: the same loop as a reader would write it, on a text that is short.

TEXT = "".join(chr(97 + (i * i + i // 50) % 13) for i in range(6_000))


def test_each_run_scores_another_tenth_of_the_text():
    text = "".join(map(chr, range(1000, 1100)))
    for run, first in enumerate((0, 25, 50, 75)):
        to_read, new_text = experiments.text_of_run(text, run, 4)
        assert (len(to_read), len(new_text)) == (90, 10)
        assert to_read + new_text == text[first:] + text[:first]
    with pytest.raises(ValueError, match=r"run must .*3, got 4"):
        experiments.text_of_run(text, 4, 4)


def test_tokenizers_are_scored_as_by_hand():
    seeds, T, B, H = (3, 5), 8, 16, 4

    def tokenizers_for(text):
        return {"characters": CharTokenizer(TEXT), "BPE": BPETokenizer.train(text, 270)}

    how = {"hidden_size": H, "learning_rate": 0.02, "num_scored": 200, "seeds": seeds}
    scores = experiments.score_tokenizers(TEXT, tokenizers_for, T, B, **how)
    assert list(scores) == ["characters", "BPE"]
    for run, seed in enumerate(seeds):
        turned = TEXT[3000 * run :] + TEXT[: 3000 * run]
        to_read, to_score = turned[:5400], turned[5400:5600]
        for name, tokenizer in tokenizers_for(to_read).items():
            windows = SlidingWindowDataset(tokenizer.encode(to_read), T, T)
            loader = make_dataloader(windows, B, base_seed=1000 * seed)
            torch.manual_seed(seed)
            model = GRUModel(tokenizer.vocab_size, H)
            teaching.train(model, loader, num_updates=len(loader), learning_rate=0.02, progress=False)
            ids = tokenizer.encode(to_score)
            scored = to_score.removeprefix(tokenizer.decode(ids[:1]))
            by_hand = teaching.evaluate(model, ids, T, num_bytes=len(scored.encode()))
            assert scores[name].nats_per_token[run] == by_hand.nats_per_token
            assert scores[name].bits_per_byte[run] == by_hand.bits_per_byte
            in_bits = by_hand.nats_per_token / math.log(2)
            assert by_hand.bits_per_byte == pytest.approx(in_bits * (len(ids) - 1) / len(scored))  # ASCII


class OnlyText:
    """A tokenizer that can't tell how many bytes half a character has."""

    vocab_size = 256

    def encode(self, text: str) -> list[int]:
        return BPETokenizer().encode(text)

    def decode(self, ids: list[int]) -> str:
        return BPETokenizer().decode(ids)


def test_half_a_character_is_not_taken_for_a_whole_one():
    how = {"hidden_size": 2, "learning_rate": 0.02, "num_scored": 50, "seeds": [1]}
    with pytest.raises(ValueError, match=r"^text must begin with a whole character, got"):
        experiments.score_tokenizers("潮汐" * 300, lambda text: {"bytes": OnlyText()}, 4, 2, **how)
    scores = experiments.score_tokenizers("潮汐" * 300, lambda text: {"bytes": BPETokenizer()}, 4, 2, **how)["bytes"]
    # A token is a byte here, and the first one, a third of a character, isn't scored.
    assert scores.bits_per_byte[0] == pytest.approx(scores.nats_per_token[0] / math.log(2))
