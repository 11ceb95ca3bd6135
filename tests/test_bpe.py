"""BPE by hand against its definition, against the library, on any bytes; and the training function of the library."""

from __future__ import annotations

import json
import math
import pickle
import random
import unicodedata
from collections import Counter

import numpy as np
import pytest
import torch
from datasets import Dataset
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models
from tokenizers.implementations import ByteLevelBPETokenizer
from tokenizers.pre_tokenizers import ByteLevel

from course_lib import bpe
from course_lib.bpe import (
    BYTE_ORDER,
    GPT2_PATTERN,
    BPETokenizer,
    best_pair,
    count_words,
    learn_merges,
    learn_merges_by_rescanning,
    merge_history,
    merge_pair,
    merge_word,
    pair_counts,
    printable,
    spell,
    split_words,
    train_byte_level_bpe,
)
from course_lib.foundation import END_OF_TEXT, encode_corpus, iterate_texts, load_documents, load_text, tokenizing

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


def merges_of_library(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    return [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


def merges_by_hand(tokenizer: BPETokenizer) -> list[tuple[str, str]]:
    return [tuple(printable(tokenizer.token_bytes[part]) for part in pair) for pair in tokenizer.merges]


small_words = st.lists(st.lists(st.integers(0, 3), max_size=9), min_size=1, max_size=12)
# Characters that both `regex` and `tokenizers` know: each knows additions to Unicode that the other does not.
KNOWN = st.characters(exclude_categories=("Cs", "Cn"))
messy_text = st.text(st.one_of(st.sampled_from("aab' st’1²½ \n\t\r\u00a0\u3000éß潮汐🌊_-."), KNOWN), max_size=60)


@pytest.fixture(scope="module")
def story() -> BPETokenizer:
    return BPETokenizer.train(load_text(), 700, special_tokens=[END_OF_TEXT, "<|pad|>"])


@pytest.fixture(scope="module")
def documents() -> list[str]:
    return [document.text for document in load_documents()]


# The pieces


@given(st.lists(st.integers(0, 2), max_size=14), st.tuples(st.integers(0, 2), st.integers(0, 2)))
@settings(deadline=None)
@example([1, 1, 1], (1, 1))
@example([1, 1, 1, 1, 1], (1, 1))
def test_a_merge_replaces_each_occurrence_from_the_left(ids, pair):
    expected = naive_merge(ids, pair, 9)
    assert merge_pair(ids, pair, 9) == expected
    assert merge_pair(tuple(ids), pair, 9) == expected
    assert bpe._merge_and_tell(ids, pair, 9)[0] == expected


@given(st.lists(st.integers(0, 2), max_size=14), st.tuples(st.integers(0, 2), st.integers(0, 2)))
@settings(deadline=None)
@example([1, 1, 1, 1, 1], (1, 1))
@example([0, 1, 0, 1, 0, 1], (0, 1))
def test_the_told_changes_turn_old_counts_into_new_ones(ids, pair):
    merged, changes = bpe._merge_and_tell(ids, pair, 9)
    counts = pair_counts({tuple(ids): 1})
    for changed, difference in changes:
        counts[changed] += difference
    counts[pair] = 0
    assert +counts == pair_counts({tuple(merged): 1})


def test_pairs_overlap_when_counted_and_words_count_as_often_as_they_occur():
    assert pair_counts({(7, 7, 7): 1}) == {(7, 7): 2}
    assert pair_counts({(1, 2, 1): 3, (2, 1): 10, (): 5, (4,): 5}) == {(1, 2): 3, (2, 1): 13}


def test_the_best_pair_is_the_most_frequent_and_then_the_smallest():
    assert best_pair({(9, 9): 4, (0, 0): 3}) == (9, 9)
    pairs = [(5, 6), (4, 9), (4, 7), (6, 0)]
    for seed in range(5):
        shuffled = random.Random(seed).sample(pairs, 4)
        assert best_pair(dict.fromkeys(shuffled, 3)) == (4, 7)


def test_a_byte_has_its_place_in_the_alphabet_of_the_library():
    tokenizer = train_byte_level_bpe(["a"], vocab_size=256, special_tokens=[])
    assert [tokenizer.id_to_token(place) for place in range(256)] == [printable(bytes([b])) for b in BYTE_ORDER]
    assert set(map(printable, map(bytes, ([b] for b in range(256))))) == set(ByteLevel.alphabet())
    assert spell("é", first_id=10) == (10 + BYTE_ORDER.index(0xC3), 10 + BYTE_ORDER.index(0xA9))


# Words


@given(messy_text)
@settings(deadline=None, max_examples=100)
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
@settings(deadline=None, max_examples=30)
def test_no_pattern_loses_a_character(pattern, text):
    words = list(split_words(text, pattern))
    assert "".join(words) == text
    assert "" not in words


def test_what_a_pattern_leaves_out_is_a_word_too():
    assert list(split_words("ab, cd", r"\w+")) == ["ab", ", ", "cd"]
    assert list(split_words("ab cd", None)) == ["ab cd"]


def test_words_are_counted_over_all_texts():
    assert count_words(["a b", "a b b"]) == {spell("a"): 2, spell(" b"): 3}


# Learning


@given(small_words, st.integers(0, 12), st.integers(1, 3))
@settings(deadline=None, max_examples=120)
@example([[1] * 9, [1] * 4], 6, 1)
def test_both_ways_of_learning_do_what_the_definition_says(words, num_merges, min_frequency):
    expected = naive_learning(words, num_merges, 4, min_frequency)
    counted = Counter(map(tuple, words))
    for learn in (learn_merges_by_rescanning, learn_merges):
        merges = learn(counted, num_merges, first_id=4, min_frequency=min_frequency)
        assert list(merges.items()) == list(expected.items())


def test_both_ways_of_learning_agree_on_text_down_to_the_last_pair():
    words = count_words([load_text()[:4000]])
    assert list(learn_merges(words, 10**6).items()) == list(learn_merges_by_rescanning(words, 10**6).items())


def test_learning_leaves_its_words_as_they_were():
    words = {(1, 2, 1, 2): 3}
    learn_merges(words, 5)
    learn_merges_by_rescanning(words, 5)
    assert words == {(1, 2, 1, 2): 3}


def test_no_two_merges_spell_the_same_token():
    tokenizer = BPETokenizer.train(load_text(), 10**6)
    assert len(set(tokenizer.token_bytes)) == tokenizer.vocab_size


class CountingDict(dict):
    lookups = 0

    def __contains__(self, key):
        self.lookups += 1
        return super().__contains__(key)

    def get(self, key, default=None):
        self.lookups += 1
        return super().get(key, default)


def test_learning_visits_only_words_that_hold_the_pair(monkeypatch):
    words = count_words([load_text()])
    visits = 0
    merge_and_tell = bpe._merge_and_tell

    def counting(ids, pair, new_id):
        nonlocal visits
        visits += 1
        return merge_and_tell(ids, pair, new_id)

    monkeypatch.setattr(bpe, "_merge_and_tell", counting)
    merges = learn_merges(words, 300)
    needed = sum(len(merge_history(word, merges)) - 1 for word in words)
    assert needed <= visits <= 1.5 * needed  # some words have lost the pair to an earlier merge
    assert visits < len(words) * len(merges) / 20


# Encoding a word


@given(small_words, st.lists(st.integers(0, 3), max_size=16), st.integers(0, 12))
@settings(deadline=None, max_examples=120)
@example([[1, 1, 1, 1]], [1, 1, 1, 1, 1, 1, 1], 3)
def test_encoding_applies_the_merges_in_their_order(words, word, num_merges):
    merges = learn_merges(Counter(map(tuple, words)), num_merges, first_id=4, min_frequency=1)
    expected = naive_encoding(word, merges)
    assert merge_word(word, merges) == expected
    assert merge_history(word, merges)[-1] == expected
    assert merge_history(word, merges)[0] == word


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=8, unique=True), st.data())
@settings(deadline=None, max_examples=100)
def test_encoding_does_so_for_any_list_of_merges(pairs, data):
    merges = {}
    for left, right in pairs:  # ids that exist at the time, whether or not a training would choose them
        merges.setdefault((left % (3 + len(merges)), right % (3 + len(merges))), 3 + len(merges))
    word = data.draw(st.lists(st.integers(0, 2), max_size=14))
    assert merge_word(word, merges) == merge_history(word, merges)[-1] == naive_encoding(word, merges)


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


def test_encoding_leaves_its_word_as_it_was():
    word = [1, 2, 1, 2]
    merge_word(word, {(1, 2): 3})
    assert word == [1, 2, 1, 2]


# The tokenizer and its oracle


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


def test_a_smaller_vocabulary_is_the_beginning_of_a_larger_one(documents):
    larger = list(BPETokenizer.train(documents, 5000).merges)
    for vocab_size in (300, 3000):
        assert list(BPETokenizer.train(documents, vocab_size).merges) == larger[: vocab_size - 256]


@given(st.lists(messy_text, min_size=1, max_size=6), messy_text, st.integers(1, 3))
@settings(deadline=None, max_examples=40)
def test_they_are_so_for_any_texts(texts, other, min_frequency):
    if not any(text.strip() for text in texts):
        return
    by_hand = BPETokenizer.train(texts, 400, min_frequency=min_frequency)
    library = train_byte_level_bpe(texts, vocab_size=400, min_frequency=min_frequency, special_tokens=[])
    assert merges_by_hand(by_hand) == merges_of_library(library)
    for text in [*texts, other]:
        assert by_hand.encode(text).tolist() == library.encode(text).ids
        assert by_hand.decode(by_hand.encode(text)) == library.decode(library.encode(text).ids)


def test_the_library_stops_at_the_same_pair():
    for min_frequency in (1, 2, 5, 50, 10**6):
        by_hand = BPETokenizer.train(load_text()[:20_000], 2000, min_frequency=min_frequency)
        library = train_byte_level_bpe(
            [load_text()[:20_000]], vocab_size=2000, min_frequency=min_frequency, special_tokens=[]
        )
        assert by_hand.vocab_size == library.get_vocab_size()


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=60))
@settings(deadline=None, max_examples=120)
def test_any_text_comes_back(story, text):
    ids = story.encode(text)
    assert story.decode(ids) == text
    assert ids.size <= len(text.encode())
    assert story.encode_bytes(text.encode()).tolist() == ids.tolist()


def test_every_character_of_unicode_comes_back(story):
    # all of planes 0 to 2; of the others, where nearly nothing is assigned, both ends
    points = [c for c in range(0x110000) if c < 0x30000 or not 0x100 <= c % 0x10000 < 0xFF00]
    every = "".join(chr(c) for c in points if not 0xD800 <= c < 0xE000)
    assert story.decode(story.encode(every)) == every


@given(st.binary(max_size=80))
@settings(deadline=None, max_examples=120)
@example(bytes(range(256)))
@example(b"\xed\xa0\x80 \xc0\xaf \xf4\x90\x80\x80")
def test_any_bytes_come_back(story, data):
    assert story.decode_bytes(story.encode_bytes(data)) == data


@given(st.lists(st.integers(0, 699), max_size=30))
@settings(deadline=None, max_examples=120)
def test_any_ids_decode_as_in_the_library(ids):
    by_hand, library = _both()
    assert by_hand.decode(ids) == library.decode(ids, skip_special_tokens=False)


def _both(cache: list = []) -> tuple[BPETokenizer, Tokenizer]:  # noqa: B006, made once for all examples
    if not cache:
        cache.append(BPETokenizer.train(load_text(), 700, special_tokens=[]))
        cache.append(train_byte_level_bpe([load_text()], vocab_size=700, special_tokens=[]))
    return tuple(cache)


def test_half_a_character_decodes_to_the_replacement_character():
    tokenizer = BPETokenizer()
    ids = tokenizer.encode("a潮b")
    assert tokenizer.decode(ids[:3]) == "a\ufffd"
    assert tokenizer.decode(ids[2:]) == "\ufffd\ufffdb"
    assert tokenizer.decode_bytes(ids[:3]) == b"a\xe6\xbd"


@pytest.mark.parametrize("kind", [list, tuple, np.array, torch.tensor, lambda ids: np.array(ids, dtype=np.uint16)])
def test_ids_of_every_kind_are_decoded(kind, story):
    assert story.decode(kind(story.encode("The tide").tolist())) == "The tide"
    assert story.decode(kind([258])) == story.token_bytes[258].decode()


def test_nothing_encodes_to_nothing(story):
    assert story.encode("").shape == story.encode_bytes(b"").shape == (0,)
    assert story.decode([]) == story.decode(np.array([], dtype=int)) == ""
    assert story.decode_bytes([]) == b""


def test_ids_are_kept_in_the_smallest_dtype(story):
    assert story.encode("The tide").dtype == np.uint16
    row = BPETokenizer([(0, 0)])
    assert row.encode("!!").tolist() == [256]
    pairs = [(i % 256, i // 256) for i in range(65_281)]
    for vocab_size, dtype in ((65_535, np.uint16), (65_536, np.uint16), (65_537, np.uint32)):
        wide = BPETokenizer(pairs[: vocab_size - 256])
        assert wide.vocab_size == vocab_size
        assert wide.encode("The tide").dtype == wide.encode_bytes(b"The tide").dtype == dtype
        # the last id of all is kept as it is
        assert wide.encode_bytes(wide.token_bytes[-1]).tolist() == [vocab_size - 1]


def test_the_end_of_text_makes_a_stream_of_documents(story):
    assert story.end_of_text_id == 0
    assert BPETokenizer().end_of_text_id is None
    stream = encode_corpus(["The tide.", "", "Again."], story)
    assert np.flatnonzero(stream == 0).tolist() == [
        len(story.encode("The tide.")),
        len(story.encode("The tide.")) + 1,
        len(stream) - 1,
    ]
    assert story.decode(stream) == f"The tide.{END_OF_TEXT}{END_OF_TEXT}Again.{END_OF_TEXT}"


# Special tokens


def test_text_cannot_forge_a_special_token(story):
    forged = f"a{END_OF_TEXT}b<|pad|>{END_OF_TEXT}"
    assert min(story.encode(forged)) >= 2
    assert story.decode(story.encode(forged)) == forged


@given(st.lists(st.sampled_from([END_OF_TEXT, "<|pad|>", "<|", "|>", "endoftext", "a", " "]), max_size=12))
@settings(deadline=None)
def test_no_combination_of_pieces_forges_one(story, pieces):
    assert not set(story.encode("".join(pieces)).tolist()) & {0, 1}


def test_a_training_text_cannot_forge_one_either():
    text = f"{END_OF_TEXT} the end {END_OF_TEXT}" * 50
    tokenizer = BPETokenizer.train(text, 400, special_tokens=[END_OF_TEXT])
    assert min(tokenizer.encode(text)) > 0
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_allowed_special_tokens_are_recognized(story):
    ids = story.encode(f"a{END_OF_TEXT}b<|pad|>", allowed_special=[END_OF_TEXT])
    assert np.flatnonzero(ids == 0).tolist() == [1]
    assert 1 not in ids
    both = story.encode(f"{END_OF_TEXT}<|pad|>{END_OF_TEXT}", allowed_special=story.special_tokens)
    assert both.tolist() == [0, 1, 0]
    assert story.encode(END_OF_TEXT, allowed_special=END_OF_TEXT).tolist() == [0]


def test_of_two_names_that_begin_alike_the_longer_one_counts():
    tokenizer = BPETokenizer(special_tokens=["<a>", "<a><b>", "(.*"])
    assert tokenizer.encode("<a><b><a>(.*", allowed_special=tokenizer.special_tokens).tolist() == [1, 0, 2]


# Save and load


def test_a_saved_tokenizer_is_the_same_when_loaded(tmp_path, story, documents):
    path = tmp_path / "tokenizer.json"
    story.save(path)
    loaded = BPETokenizer.load(path)
    assert list(loaded.merges.items()) == list(story.merges.items())
    assert loaded.special_tokens == story.special_tokens
    assert loaded.token_bytes == story.token_bytes
    assert all(loaded.encode(text).tolist() == story.encode(text).tolist() for text in documents)
    own = BPETokenizer.train("aaa bbb aaa", 260, pattern=None, special_tokens=["é\n"])
    own.save(str(path))
    assert BPETokenizer.load(str(path)).pattern is None
    assert BPETokenizer.load(path).special_tokens == {"é\n": 0}


def test_a_tokenizer_survives_pickling(story):
    assert pickle.loads(pickle.dumps(story)).encode("The tide").tolist() == story.encode("The tide").tolist()


@pytest.mark.parametrize(
    "content",
    ["", "no json", "[]", "{}", '{"format": "another"}', '{"format": "feeding-language-models bpe 1", "surprise": 1}',
     '{"format": "feeding-language-models bpe 1", "merges": [[0, 256]]}',
     '{"format": "feeding-language-models bpe 1", "merges": [[0, 1], [0, 1]]}',
     '{"format": "feeding-language-models bpe 1", "merges": [[0, 1, 2]]}',
     '{"format": "feeding-language-models bpe 1", "merges": [[0.0, 1]]}',
     '{"format": "feeding-language-models bpe 1", "merges": [3]}',
     '{"format": "feeding-language-models bpe 1", "pattern": "("}'],
)  # fmt: skip
def test_another_file_is_refused(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"other\.json is no saved BPETokenizer"):
        BPETokenizer.load(path)


def test_a_missing_file_is_an_error_of_its_own(tmp_path):
    with pytest.raises(FileNotFoundError):
        BPETokenizer.load(tmp_path / "missing.json")


# The library's function


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


def test_the_vocabulary_is_special_tokens_bytes_and_merges_in_this_order():
    specials = ["<|b|>", END_OF_TEXT, "<|a|>"]
    tokenizer = train_byte_level_bpe([load_text()], vocab_size=400, special_tokens=specials)
    assert [tokenizer.id_to_token(i) for i in range(3)] == specials
    assert {tokenizer.id_to_token(i) for i in range(3, 259)} == set(ByteLevel.alphabet())
    assert tokenizer.get_vocab_size() == 400
    assert tokenizer.id_to_token(259) == "".join(merges_of_library(tokenizer)[0])


def test_a_byte_that_training_never_saw_is_not_lost():
    tokenizer = train_byte_level_bpe(["only ascii here"], vocab_size=300)
    assert tokenizer.decode(tokenizer.encode("潮汐 \x00 🌊").ids) == "潮汐 \x00 🌊"


def test_training_twice_gives_the_same_file(documents):
    first, second = (train_byte_level_bpe(documents, vocab_size=700).to_str() for _ in range(2))
    assert first == second


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


# Bad input


TRAINERS = {
    "by hand": lambda texts, vocab_size=300, **options: BPETokenizer.train(texts, vocab_size, **options),
    "library": lambda texts, vocab_size=300, **options: train_byte_level_bpe(texts, vocab_size=vocab_size, **options),
}


@pytest.mark.parametrize("trainer", TRAINERS)
@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([],), {}, ValueError, "texts must hold more than blanks, got an empty corpus"),
        ((["", ""],), {}, ValueError, "texts must hold more than blanks, got an empty corpus"),
        ((iter(()),), {}, ValueError, "texts must hold more than blanks, got an empty corpus"),
        ((["a"], 255), {"special_tokens": []}, ValueError, "vocab_size must be at least 256: .*got 255"),
        ((["a"], 257), {"special_tokens": ["<a>", "<b>"]}, ValueError, "vocab_size must be at least 258: .*2 special"),
        ((["a"], 0), {}, ValueError, "vocab_size must be an integer of at least 1 .*got 0"),
        ((["a"], -5), {}, ValueError, "vocab_size must be .*got -5"),
        ((["a"], 300.0), {}, TypeError, r"vocab_size must be .*got 300\.0"),
        ((["a"], True), {}, TypeError, "vocab_size must be .*got True"),
        (
            (["a"],),
            {"special_tokens": ["<a>", "<b>", "<a>"]},
            ValueError,
            "but '<a>' occurs 2 times",
        ),
        ((["a"],), {"special_tokens": "<a>"}, TypeError, "special_tokens must be several names, got one"),
        ((["a"],), {"special_tokens": ["<a>", 3]}, TypeError, r"special_tokens must be str, got 3 \(int\)"),
        ((["a"],), {"special_tokens": [""]}, ValueError, "special_tokens must not be empty"),
        ((["a"],), {"min_frequency": 0}, ValueError, "min_frequency must be .*got 0"),
        ((["a"],), {"min_frequency": 1.5}, TypeError, r"min_frequency must be .*got 1\.5"),
        ((["a", None],), {}, TypeError, "texts must be str, but number 1 is or holds NoneType"),
        ((["a", b"b"],), {}, TypeError, "texts must be str, but number 1 is or holds bytes"),
        (([["a", 3]],), {}, TypeError, "texts must be str, but number 0 is or holds int"),
        ((b"bytes",), {}, TypeError, "texts must be several texts, got bytes"),
        ((7,), {}, TypeError, "texts must be several texts, got int"),
        ((None,), {}, TypeError, "texts must be several texts, got NoneType"),
        (([{"body": ["a"]}],), {}, ValueError, r"text_column must be one of \['body'\], got 'text'"),
        ((["ab\ud83d"],), {}, ValueError, r"text must be Unicode, but character 2 is half of one: '\\ud83d'"),
        ((["ab\udc80"],), {}, ValueError, r"text must be Unicode, but character 2 is half of one: '\\udc80'"),
    ],
)
def test_training_refuses_bad_arguments_by_name(trainer, arguments, options, error, message):
    with pytest.raises(error, match=message):
        TRAINERS[trainer](*arguments, **options)


def test_one_text_is_enough_by_hand_but_the_library_wants_several():
    assert BPETokenizer.train("aa aa", 300).merges == BPETokenizer.train(["aa aa"], 300).merges
    with pytest.raises(TypeError, match=r"texts must be several texts, got str: use \[text\]"):
        train_byte_level_bpe("aa aa", vocab_size=300)


@pytest.mark.parametrize("learn", [learn_merges, learn_merges_by_rescanning])
@pytest.mark.parametrize(
    ("words", "numbers", "error"),
    [
        ({(1, 2): 3}, {"min_frequency": 0}, ValueError),
        ({(1, 2): 3}, {"first_id": 2}, ValueError),
        ({(1, 2): -3}, {}, ValueError),
        ({(1, 2): math.nan}, {}, TypeError),
        ({"ab": 3}, {}, TypeError),
    ],
)
def test_both_ways_of_learning_refuse_what_would_have_no_end_or_no_meaning(learn, words, numbers, error):
    with pytest.raises(error):
        learn(words, 5, **numbers)


@pytest.mark.parametrize("name", ["a", "aa"])
def test_a_special_token_that_text_makes_too_is_refused_by_the_library_s_function(name):
    with pytest.raises(ValueError, match=rf"special_tokens must not be tokens of ordinary text, but one of \['{name}'"):
        train_byte_level_bpe(["aa aa"], vocab_size=300, special_tokens=[name])
    tokenizer = BPETokenizer.train("aa aa", 300, special_tokens=[name])
    assert 0 not in tokenizer.encode("aa aa")


def test_an_unknown_normalizer_is_refused():
    with pytest.raises(ValueError, match=r"unicode_normalizer must be None or one of \['nfc', .*got 'NFC'"):
        train_byte_level_bpe(["a"], vocab_size=300, unicode_normalizer="NFC")


@pytest.mark.parametrize(("pattern", "error"), [("(", ValueError), (3, TypeError), (b"a", TypeError)])
def test_a_pattern_that_is_no_regular_expression_is_refused(pattern, error):
    for make in (lambda: BPETokenizer.train("a", 300, pattern=pattern), lambda: BPETokenizer(pattern=pattern)):
        with pytest.raises(error, match=r"^pattern must be a (str|regular expression) or None, got"):
            make()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: t.encode(b"bytes"), TypeError, "text must be a str, got bytes"),
        (lambda t: t.encode(None), TypeError, "text must be a str, got NoneType"),
        (lambda t: t.encode(["a"]), TypeError, "text must be a str, got list"),
        (lambda t: t.encode("a\ud800"), ValueError, r"text must be Unicode, but character 1 is half of one: '\\ud800'"),
        (
            lambda t: t.encode("a", allowed_special=["<a>"]),
            ValueError,
            r"allowed_special must be among .*'<a>'",
        ),
        (lambda t: t.encode_bytes("a"), TypeError, "data must be bytes, got str"),
        (lambda t: t.decode([700]), ValueError, r"ids must lie in 0 \.\.\. 699, got 700 \.\.\. 700"),
        (lambda t: t.decode([5, -1]), ValueError, r"ids must lie in 0 \.\.\. 699, got -1 \.\.\. 5"),
        (lambda t: t.decode("text"), TypeError, "ids must be integers, got text"),
        (lambda t: t.decode([0.5]), TypeError, "ids must be integers, got list of float64"),
        (lambda t: t.decode([True]), TypeError, "ids must be integers, got list of bool"),
        (lambda t: t.decode([[1, 2]]), ValueError, "ids must be one-dimensional"),
        (lambda t: t.decode_bytes([70_000]), ValueError, r"ids must lie in .*got 70000"),
        (lambda t: list(split_words(3)), TypeError, "text must be a str, got int"),
        (lambda t: BPETokenizer([(0, 256)]), ValueError, "merges must be an integer of at least 0 and at most 255"),
        (lambda t: BPETokenizer([(0, 1), (0, 1)]), ValueError, r"merges must be different pairs, got \(0, 1\) again"),
        (lambda t: BPETokenizer([(0, 1)], special_tokens=["<a>"]), ValueError, "merges must be .*at least 1 .*got 0"),
    ],
)
def test_using_it_refuses_bad_arguments_by_name(story, call, error, message):
    with pytest.raises(error, match=f"^{message}"):
        call(story)


def test_the_cache_of_words_is_bounded(monkeypatch):
    monkeypatch.setattr(bpe, "CACHED_WORDS", 3)
    tokenizer = BPETokenizer()
    for _ in range(2):
        assert tokenizer.decode(tokenizer.encode("a b c d e f")) == "a b c d e f"
    assert len(tokenizer._cache) == 3


def test_no_function_touches_the_global_seed():
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    state = random.getstate()
    BPETokenizer.train("the tide", 260).encode("the tide")
    train_byte_level_bpe(["the tide"], vocab_size=260)
    assert torch.equal(before, torch.random.get_rng_state())
    assert random.getstate() == state
