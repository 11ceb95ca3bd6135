"""BPE by hand against its definition, against the library, on any bytes; and the training function of the library."""

from __future__ import annotations

import json
import unicodedata
from importlib import import_module

import numpy as np
import pytest
from datasets import Dataset
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models
from tokenizers.implementations import ByteLevelBPETokenizer
from tokenizers.pre_tokenizers import ByteLevel

from course_lib import bpe
from course_lib.bpe import BYTE_ORDER, GPT2_PATTERN, BPETokenizer, printable, spell, split_words, train_byte_level_bpe
from course_lib.foundation import END_OF_TEXT, encode_corpus, iterate_texts, load_documents, load_text, tokenizing
from course_lib.foundation.arguments import check_unicode
from course_lib.foundation.tokenizing import tokenizer_hash


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


# The pieces


def test_a_byte_has_its_place_in_the_alphabet_of_the_library():
    tokenizer = train_byte_level_bpe(["a"], vocab_size=256, special_tokens=[])
    assert [tokenizer.id_to_token(place) for place in range(256)] == [printable(bytes([b])) for b in BYTE_ORDER]
    assert set(map(printable, map(bytes, ([b] for b in range(256))))) == set(ByteLevel.alphabet())
    assert spell("é", first_id=10) == (10 + BYTE_ORDER.index(0xC3), 10 + BYTE_ORDER.index(0xA9))


# Words


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


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=60))
@settings(max_examples=120)
@example("🌊\ufeff")
def test_any_text_comes_back_also_from_its_bytes_and_from_surrogate_pairs(story, text):
    ids = story.encode(text).tolist()
    assert story.decode(ids) == text
    assert len(ids) <= len(text.encode())
    assert story.encode_bytes(text.encode()).tolist() == ids
    halves = map(chr, np.frombuffer(text.encode("utf-16-le"), dtype="<u2").tolist())
    assert story.encode("".join(halves)).tolist() == ids


def test_every_character_of_unicode_comes_back(story):
    # all of planes 0 to 2; of the others, where nearly nothing is assigned, both ends
    points = [c for c in range(0x110000) if c < 0x30000 or not 0x100 <= c % 0x10000 < 0xFF00]
    every = "".join(chr(c) for c in points if not 0xD800 <= c < 0xE000)
    assert story.decode(story.encode(every)) == every


@given(st.binary(max_size=80))
@settings(max_examples=120)
@example(bytes(range(256)))
@example(b"\xed\xa0\x80 \xc0\xaf \xf4\x90\x80\x80")
def test_any_bytes_come_back(story, data):
    assert story.decode_bytes(story.encode_bytes(data)) == data


@given(st.lists(st.integers(0, 699), max_size=30))
@settings(max_examples=120)
def test_any_ids_decode_as_in_the_library(both, ids):
    by_hand, library = both
    assert by_hand.decode(ids) == library.decode(ids, skip_special_tokens=False)


def test_ids_are_kept_in_the_smallest_dtype(story):
    assert story.encode("The tide").dtype == np.uint16
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


def test_allowed_special_tokens_are_recognized(story):
    ids = story.encode(f"a{END_OF_TEXT}b<|pad|>", allowed_special=[END_OF_TEXT])
    assert np.flatnonzero(ids == 0).tolist() == [1]
    assert 1 not in ids
    both = story.encode(f"{END_OF_TEXT}<|pad|>{END_OF_TEXT}", allowed_special="all")
    assert both.tolist() == [0, 1, 0]


# To other libraries, and back


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


@pytest.mark.parametrize("specials", [[], ["é\n"], [END_OF_TEXT, "<|pad|>"]])
def test_a_file_of_ranks_holds_bytes_and_merges(tmp_path, documents, specials):
    tokenizer = BPETokenizer.train(documents, 1500, special_tokens=specials, pattern=r"\w+")
    tokenizer.to_ranks(tmp_path / "ranks")
    again = BPETokenizer.from_ranks(tmp_path / "ranks", special_tokens=specials, pattern=r"\w+")
    assert tokenizer_hash(again) == tokenizer_hash(tokenizer)


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


def test_the_cache_of_words_is_bounded(monkeypatch):
    monkeypatch.setattr(bpe, "CACHED_WORDS", 3)
    tokenizer = BPETokenizer()
    for _ in range(2):
        assert tokenizer.decode(tokenizer.encode("a b c d e f")) == "a b c d e f"
    assert len(tokenizer._cache) == 3
