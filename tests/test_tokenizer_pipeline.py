"""Cleaning, every stage of the pipeline with a table for each rule, training, verification, wrapping, the stream."""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
from pathlib import Path

import datasets
import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from course_lib.foundation import END_OF_TEXT, Document, encode_corpus, load_documents
from course_lib.foundation.dtypes import id_dtype
from course_lib.tokenizer_pipeline import (
    BYTE_TOKENS,
    PAD,
    PIECE_RULES,
    VERIFICATION_SAMPLES,
    build_decoder,
    build_normalizer,
    build_post_processor,
    build_pre_tokenizer,
    build_tokenizer,
    cut,
    find_round_trip_failures,
    training_texts,
    wrap_tokenizer,
)
from course_lib.tokenizer_pipeline.markup import strip_html

DOCUMENTS = load_documents()

TEXTS = [document.text for document in DOCUMENTS]

SOME_TEXTS, FEW_TEXTS = TEXTS[::5], TEXTS[::20]  # of each kind some; encoding is what these tests wait for

NORMALIZER = build_normalizer()

PRE_TOKENIZER = build_pre_tokenizer()

OPTIONS = {
    "plain": {},
    "dropout": {"dropout": 0.5},
    "prefix": {"continuing_subword_prefix": "▸"},
    "suffix": {"end_of_word_suffix": "◂"},
    "prefix and suffix": {"continuing_subword_prefix": "▸", "end_of_word_suffix": "◂"},
    "byte_fallback": {"byte_fallback": True},
    "byte_fallback and dropout": {"byte_fallback": True, "dropout": 0.5},
    "indentation lost": {"keep_indentation": False},
}

# What breaks normalizers: everything that is invisible, combines, or is whitespace, and something beside it.
NASTY = list(
    "ab1._'=-!\t\n\r é中\u0301\u00a0\u3000\u200b\u200c\u200d\u00ad\ufeff\ufffd\x00\x07\x0b\x0c\x85\u2028👩🚀\ufe0fक्म"
)

nasty_texts = st.text(st.sampled_from(NASTY), max_size=25)

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, Tokenizer]:
    texts = list(training_texts(DOCUMENTS))
    return {
        name: build_tokenizer(texts, vocab_size=1600, progress=False, **options) for name, options in OPTIONS.items()
    }


@pytest.fixture(scope="module")
def tokenizer(tokenizers) -> Tokenizer:
    return tokenizers["plain"]


# training_texts


def test_the_training_stream_is_filtered_by_quality_and_length():
    expected = [
        d for d in DOCUMENTS if d.quality >= 3 and len(d.text if d.kind == "code" else strip_html(d.text)) >= 100
    ]
    texts = list(training_texts(DOCUMENTS))
    assert len(texts) == len(expected) < len(DOCUMENTS)
    assert min(map(len, texts)) >= 100
    assert len(list(training_texts(DOCUMENTS, min_quality=0, min_length=0))) == len(DOCUMENTS)


@pytest.mark.parametrize(
    ("kind", "quality", "text", "is_kept"),
    [
        ("article", 2, "x" * 100, False),
        ("article", 3, "x" * 99, False),
        ("article", 3, "x" * 100, True),
        ("web", 5, f"<div class='{'x' * 200}'>short</div>", False),  # markup does not count
        ("code", 5, f"<div class='{'x' * 200}'>short</div>", True),
    ],
)
def test_bounds_are_inclusive_and_count_what_is_kept(kind, quality, text, is_kept):
    assert list(training_texts([Document("1", kind, quality, text)])) == [text] * is_kept


def test_documents_are_read_one_by_one_and_a_wrong_one_is_named():
    good = Document("1", "article", 3, "x" * 100)
    assert next(training_texts(itertools.repeat(good))) == "x" * 100
    with pytest.raises(TypeError, match="number 1 is NoneType"):
        list(training_texts([good, None]))


# build_normalizer


def naive_normalize(text: str, keep_indentation: bool) -> str:
    """Character by character, and line by line. Joiners are kept where NASTY has a reason: emoji and Devanagari."""
    for end in ("\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"):
        text = text.replace(end, "\n")
    removed = "\u00ad\u200b\u2060\ufeff\ufffd"
    text = "".join(c for c in text if c in "\t\n" or (unicodedata.category(c) != "Cc" and c not in removed))
    kept = ""
    for place, character in enumerate(text):
        place -= 1
        while place >= 0 and unicodedata.category(text[place]).startswith("M") and text[place] not in "क्म":
            place -= 1
        if character not in "\u200c\u200d" or (place >= 0 and text[place] in "👩🚀क्म"):
            kept += character
    lines = [line.rstrip(" \t") for line in unicodedata.normalize("NFC", kept).split("\n")]
    tidy = []
    for line in lines:
        body = line.lstrip(" \t")
        indentation = line[: len(line) - len(body)]
        if not keep_indentation:
            indentation = re.sub(" +", " ", indentation)
        tidy.append(indentation + re.sub(r" {2,}", " ", body))
    text = "\n".join(tidy)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text


@given(st.text(st.sampled_from([c for c in NASTY if c != "\t"]), max_size=25), st.booleans())
@settings(max_examples=300)
def test_the_normalizer_does_what_its_words_say(text, keep_indentation):
    got = build_normalizer(keep_indentation=keep_indentation).normalize_str(text)
    assert got == naive_normalize(text, keep_indentation)


@given(nasty_texts | any_text, st.booleans())
@settings(max_examples=300)
def test_normalizing_twice_changes_nothing_more(text, keep_indentation):
    normalizer = build_normalizer(keep_indentation=keep_indentation)
    once = normalizer.normalize_str(text)
    assert normalizer.normalize_str(once) == once


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("e\u200b\u0301", "é"),
        ("a\x00\x07\x1b\x7f\x9fb", "ab"),
        ("a\u200b\u2060\ufeff\u00adb\ufffd", "ab"),
        ("👩\u200d🚀 👩🏽\u200d🚀 ❤\ufe0f\u200d🔥", "👩\u200d🚀 👩🏽\u200d🚀 ❤\ufe0f\u200d🔥"),
        ("می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"),
        ("\u0301\u094d\u200c", "\u094d\u0301\u200c"),
        ("a\r\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h", "a\nb\nc\nd\ne\nf\ng\nh"),
        ("a\t  b", "a\t b"),
        ("\t\tx = 1", "\t\tx = 1"),
        ("a  \nb\t\n", "a\nb\n"),
        ("a\n \n\t\n\nb", "a\n\nb"),
        ("a\u200eb", "a\u200eb"),
    ],
)
def test_each_step_of_the_normalizer(text, normal):
    assert NORMALIZER.normalize_str(text) == normal


def test_a_long_run_of_spaces_takes_no_quadratic_time():
    assert NORMALIZER.normalize_str("a" + " " * 200_000 + "b") == "a b"
    assert NORMALIZER.normalize_str(" " * 200_000 + "b") == " " * 200_000 + "b"


# PIECE_RULES, build_pre_tokenizer, cut

TABLE = {
    "contraction": [
        ("don't", ["don", "'t"]),
        ("we'll they're I've", ["we", "'ll", " they", "'re", " I", "'ve"]),
        ("she'd I'm it's", ["she", "'d", " I", "'m", " it", "'s"]),
        ("DON'T", ["DON", "'T"]),
        ("it’s", ["it", "’s"]),
        ("rock'n'roll", ["rock", "'", "n", "'", "roll"]),
        ("'so'", ["'", "so", "'"]),
        ("o'something", ["o", "'", "something"]),
    ],
    "abbreviation": [
        ("U.S.A.", ["U.S.A."]),
        ("e.g. i.e. a.m.", ["e.g.", " i.e.", " a.m."]),
        ("Ph.D.", ["Ph.D."]),
        ("(U.S.)", ["(", "U.S.", ")"]),
        ("a.b.c", ["a", ".", "b", ".", "c"]),
        ("The end.", ["The", " end", "."]),
    ],
    "scientific": [
        ("1.5e-3", ["1.5e-3"]),
        ("6.022e23 2E+10 1e9", ["6.022e23", " 2E+10", " 1e9"]),
        ("-1.5e-3", ["-", "1.5e-3"]),
        ("3e", ["3", "e"]),
        ("2eggs", ["2", "eggs"]),
        ("1e5x", ["1", "e", "5", "x"]),
    ],
    "decimal": [("3.14", ["3.14"]), ("0.5 km", ["0.5", " km"]), ("1.2.3", ["1.2", ".", "3"]), ("7.", ["7", "."])],
    "integer": [("1066", ["1066"]), ("12 345", ["12", " 345"]), ("x²", ["x", "²"]), ("٣٤", ["٣٤"])],
    "operator": [
        ("a==b", ["a", "==", "b"]),
        ("a != b", ["a", " !=", " b"]),
        ("f()->g", ["f", "()", "->", "g"]),
        ("a<=b>=c", ["a", "<=", "b", ">=", "c"]),
        ("x**2//3", ["x", "**", "2", "//", "3"]),
        ("a+=1;b-=1;c*=2;d/=2", ["a", "+=", "1", ";", "b", "-=", "1", ";", "c", "*=", "2", ";", "d", "/=", "2"]),
        ("a=b<c", ["a", "=", "b", "<", "c"]),
    ],
    "snake_case": [
        ("snake_case", ["snake_case"]),
        ("my_var_2 x1_y", ["my_var_2", " x1_y"]),
        ("__init__", ["__init__"]),
        ("(_private)", ["(", "_private", ")"]),
        ("a _ b", ["a", " _", " b"]),
        ("(___)", ["(", "___", ")"]),
    ],
    "word": [
        ("two words", ["two", " words"]),
        ("naïve Größe", ["naïve", " Größe"]),
        ("हिन्दी", ["हिन्दी"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("中文，分词", ["中文", "，", "分词"]),
    ],
    "whitespace": [
        ("    return", ["   ", " return"]),
        ("\t\tx", ["\t\t", "x"]),
        ("a  b", ["a", " ", " b"]),
        ("a ", ["a", " "]),
        (" ", [" "]),
        ("3\u00a0km", ["3", "\u00a0", "km"]),
    ],
    "newlines": [("a\n\nb", ["a", "\n\n", "b"]), ("a\n    b", ["a", "\n", "   ", " b"]), ("a \n", ["a", " ", "\n"])],
    "punctuation": [
        ("wait...!", ["wait", "...!"]),
        ("a (b)", ["a", " (", "b", ")"]),
        (")==(", [")", "==", "("]),
        ("👍🏽👩\u200d🚀", ["👍🏽👩\u200d🚀"]),
        ("—“", ["—“"]),
    ],
}


def test_every_rule_has_its_table():
    assert list(TABLE) == list(PIECE_RULES)


@pytest.mark.parametrize(("text", "pieces"), [case for table in TABLE.values() for case in table])
def test_the_pieces_of_each_rule(text, pieces):
    assert cut(PRE_TOKENIZER, text) == pieces


@pytest.mark.parametrize("rule", list(PIECE_RULES)[:8])  # the last three take what is left
def test_no_rule_is_superfluous(rule):
    without = build_pre_tokenizer({name: pattern for name, pattern in PIECE_RULES.items() if name != rule})
    assert any(cut(without, text) != pieces for text, pieces in TABLE[rule])


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [("scientific", "decimal", "1.5e-3"), ("decimal", "integer", "3.14"), ("snake_case", "word", "snake_case")],
)
def test_the_order_of_rules_matters(first, second, text):
    in_order = {name: PIECE_RULES[name] for name in (first, second)}
    assert cut(build_pre_tokenizer(in_order), text) == [text]
    assert cut(build_pre_tokenizer(dict(reversed(in_order.items()))), text) != [text]
    assert list(PIECE_RULES).index(first) < list(PIECE_RULES).index(second)


@given(nasty_texts | any_text)
@settings(max_examples=300)
def test_pieces_are_the_text_cut_by_the_rules_and_by_nothing_else(text):
    assert "".join(cut(PRE_TOKENIZER, text)) == text
    pattern = "|".join(f"(?:{rule})" for rule in PIECE_RULES.values())
    pattern = pattern.replace(r"\x{200C}", "\u200c").replace(r"\x{200D}", "\u200d")
    if all(unicodedata.category(c) != "Cn" for c in text) and text.isprintable():
        assert cut(PRE_TOKENIZER, text) == regex.findall(pattern, text)


@given(any_text)
def test_newlines_share_a_piece_with_nothing(text):
    assert all(set(piece) == {"\n"} for piece in cut(PRE_TOKENIZER, text + "\n\n" + text) if "\n" in piece)


@pytest.mark.parametrize(
    "unit", ["_", " ", "\t", "\n", "=", "(", "9", "a", "a_", "9.", "9e", "é", "'s", "U.", " _", "\u0301"]
)
def test_long_runs_of_anything_take_no_quadratic_time(unit):
    text = unit * 100_000
    assert "".join(cut(PRE_TOKENIZER, text)) == text
    assert isinstance(NORMALIZER.normalize_str(text + "b"), str)


def test_other_rules_cut_what_they_match_and_what_is_between():
    assert cut(build_pre_tokenizer({"lower": "x|[a-z]+"}), "aXbb") == ["a", "X", "bb"]
    assert cut(build_pre_tokenizer({"matches nothing": "q"}), "a.b") == ["a.b"]
    for rules, words in (
        ({}, "rules must hold at least one pattern"),
        ({"a": "("}, r"rules must be patterns, but 'a' is '\('"),
        ({"a": 3}, "rules must be str, but 'a' is 3"),
    ):
        with pytest.raises((TypeError, ValueError), match=rf"^{words}"):
            build_pre_tokenizer(rules)


# build_post_processor, build_decoder


def test_each_sequence_of_one_or_two_ends(tokenizer):
    assert tokenizer.encode("one").tokens[-1] == END_OF_TEXT
    assert tokenizer.encode("").ids == [0]
    pair = tokenizer.encode("one", "two")
    first, second = (tokenizer.encode(text).ids for text in ("one", "two"))
    assert pair.ids == first + second
    assert pair.type_ids == [0] * len(first) + [1] * len(second)


@pytest.mark.parametrize("name", ["<| a:b |>", "$B"])
def test_any_name_ends_a_text_as_it_is(name):
    made = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    made.post_processor = build_post_processor(name, 7)
    assert made.encode("a", "a").tokens == ["a", name, "a", name]


def test_a_nameless_end_and_empty_affixes_are_refused():
    with pytest.raises(ValueError, match=r"^end_of_text must not be empty"):
        build_post_processor("", 0)
    with pytest.raises(TypeError, match=r"^affixes must be several non-empty str"):
        build_decoder(affixes=[""])
    assert build_decoder(byte_level=False).decode(["<0xE4>", "<0xB8>"]) == "\ufffd\ufffd"


# build_tokenizer


@pytest.mark.parametrize("name", OPTIONS)
def test_a_saved_tokenizer_is_the_same(tokenizers, name, tmp_path):
    path = str(tmp_path / "tokenizer.json")
    tokenizers[name].save(path)
    loaded = Tokenizer.from_file(path)
    assert loaded.to_str() == tokenizers[name].to_str()
    stages = json.loads(Path(path).read_text(encoding="utf-8"))
    assert all(stages[stage] for stage in ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder"))
    if "dropout" not in name:
        assert all(loaded.encode(text).ids == tokenizers[name].encode(text).ids for text in FEW_TEXTS)


@pytest.mark.parametrize("name", OPTIONS)
def test_special_tokens_come_first_and_the_size_is_kept(tokenizers, name):
    assert [tokenizers[name].id_to_token(i) for i in (0, 1)] == [END_OF_TEXT, PAD]
    assert 258 < tokenizers[name].get_vocab_size() <= 1600
    assert sorted(tokenizers[name].get_vocab().values()) == list(range(tokenizers[name].get_vocab_size()))


def test_training_is_repeatable_and_does_not_depend_on_batches():
    texts = list(training_texts(DOCUMENTS))[::4]
    once = build_tokenizer(texts, vocab_size=500)
    assert build_tokenizer(iter(texts), vocab_size=500, length=len(texts)).to_str() == once.to_str()
    assert build_tokenizer([texts[:20], texts[20:]], vocab_size=500).to_str() == once.to_str()
    data_set = datasets.Dataset.from_dict({"body": texts})
    assert build_tokenizer(data_set, vocab_size=500, text_column="body").to_str() == once.to_str()


def test_a_rarer_pair_is_not_merged():
    sizes = [build_tokenizer(SOME_TEXTS, vocab_size=20_000, min_frequency=f).get_vocab_size() for f in (2, 10, 50)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[1] > sizes[2] > 258


def test_no_token_crosses_pieces(tokenizer):
    for text in SOME_TEXTS:
        normal = NORMALIZER.normalize_str(text)
        pieces = [piece for piece, _ in PRE_TOKENIZER.pre_tokenize_str(normal)]
        borders = set(np.cumsum([len(piece) for piece in pieces]))
        tokens = tokenizer.encode(text, add_special_tokens=False).tokens
        assert borders <= set(np.cumsum([len(token) for token in tokens]))


def test_byte_fallback_fires_for_characters_that_were_not_seen(tokenizers):
    fallback = tokenizers["byte_fallback"]
    assert fallback.encode("鑫", add_special_tokens=False).tokens == ["<0xE9>", "<0x91>", "<0xAB>"]
    assert set(BYTE_TOKENS) <= set(fallback.get_vocab())
    assert not set(BYTE_TOKENS) & {token.content for token in fallback.get_added_tokens_decoder().values()}
    assert fallback.decode(fallback.encode("<0x41>").ids) == "<0x41>"


def test_an_alphabet_of_many_characters_does_not_overflow_a_small_vocabulary():
    characters = "".join(chr(0x4E00 + i) for i in range(3000))
    made = build_tokenizer([characters, "plain text " * 10], vocab_size=400, byte_fallback=True)
    assert made.get_vocab_size() <= 400
    assert find_round_trip_failures(made, [characters]) == []


def test_dropout_gives_one_text_many_encodings_until_it_is_switched_off():
    made = build_tokenizer(SOME_TEXTS, vocab_size=800, dropout=0.5)
    assert len({tuple(made.encode("the establishment").ids) for _ in range(50)}) > 1
    made.model.dropout = None
    plain = build_tokenizer(SOME_TEXTS, vocab_size=800)
    assert {tuple(made.encode("the establishment").ids) for _ in range(50)} == {
        tuple(plain.encode("the establishment").ids)
    }


def test_marks_stand_where_they_are_said_to(tokenizers):
    prefixed = tokenizers["prefix"].encode("unbreakables qzx", add_special_tokens=False).tokens
    suffixed = tokenizers["suffix"].encode("unbreakables qzx", add_special_tokens=False).tokens
    assert [token.startswith("▸") for token in prefixed] == [not t.startswith(("u", "Ġ")) for t in prefixed]
    assert [token.endswith("◂") for token in suffixed] == [token.endswith(("s◂", "x◂")) for token in suffixed]
    assert sum(token.endswith("◂") for token in suffixed) == 2


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ([], "empty corpus"),
        ([" \n"], "empty corpus"),
    ],
)
def test_what_holds_no_texts_trains_no_tokenizer(texts, words):
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        build_tokenizer(texts, vocab_size=300)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"vocab_size": 257}, "vocab_size must be at least 258"),
        ({"vocab_size": 513, "continuing_subword_prefix": "▸"}, "vocab_size must be at least 514: 512 tokens of"),
        ({"special_tokens": []}, "special_tokens must hold at least one name"),
        ({"special_tokens": ["<|a|>", "<|a|>"]}, "special_tokens must be different"),
        ({"special_tokens": ["the"]}, "special_tokens must not be ordinary text"),
        ({"special_tokens": ["<0x41>"], "byte_fallback": True}, "special_tokens must not be ordinary text"),
        ({"special_tokens": ["$A"]}, "special_tokens must not begin with $"),
        ({"special_tokens": ["<|endé|>"]}, "special_tokens must survive the decoder"),
        ({"special_tokens": ["<|a▸|>"], "end_of_word_suffix": "▸", "vocab_size": 600}, "must survive the decoder"),
        ({"end_of_word_suffix": "</w>"}, "end_of_word_suffix must hold a character"),
        ({"end_of_word_suffix": "▸", "continuing_subword_prefix": "▸"}, "must differ from the prefix"),
        ({"end_of_word_suffix": "▸", "byte_fallback": True}, "end_of_word_suffix must be None with byte_fallback"),
    ],
)
def test_settings_whose_tokenizer_would_lose_text_are_refused(options, words):
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        build_tokenizer(["the cat sat on the mat"] * 3, **{"vocab_size": 300, "progress": False} | options)


def test_names_with_spaces_colons_and_letters_of_other_alphabets_are_special_tokens():
    names = ["<| end:1 |>", "‹|endé|>"]
    made = build_tokenizer(["the cat"], vocab_size=258, special_tokens=names, progress=False)
    assert [made.token_to_id(name) for name in names] == [0, 1]
    assert made.encode("the", "cat").tokens[-1] == names[0]
    assert made.decode([1], skip_special_tokens=False) == names[1]


# find_round_trip_failures


@pytest.mark.parametrize("name", OPTIONS)
def test_every_verification_sample_and_document_survives(tokenizers, name):
    for samples in VERIFICATION_SAMPLES.values():
        assert find_round_trip_failures(tokenizers[name], samples) == []
    assert find_round_trip_failures(tokenizers[name], TEXTS if name == "plain" else SOME_TEXTS) == []


def test_against_the_original_what_the_normalizer_changes_is_told(tokenizer):
    texts = ['print("a  b")', 'print("a b")', "e\u0301", "\xe9", "a \n"]
    changed = [('print("a  b")', 'print("a b")'), ("e\u0301", "\xe9"), ("a \n", "a\n")]
    assert find_round_trip_failures(tokenizer, texts) == []
    assert find_round_trip_failures(tokenizer, texts, against="original") == changed
    as_it_is = Tokenizer.from_str(tokenizer.to_str())
    as_it_is.normalizer = None
    assert find_round_trip_failures(as_it_is, texts, against="original") == []


@pytest.mark.parametrize("name", OPTIONS)
@given(text=nasty_texts | any_text)
@settings(max_examples=60)
def test_any_text_survives(tokenizers, name, text):
    assert find_round_trip_failures(tokenizers[name], [text]) == []


def test_failures_are_found_and_told(tokenizer):
    broken = Tokenizer.from_str(tokenizer.to_str())
    broken.decoder = decoders.WordPiece()
    assert len(find_round_trip_failures(broken, ["two words", "é"])) == 2
    text, got = find_round_trip_failures(broken, ["two words"])[0]
    assert text == "two words" != got


def test_a_special_token_in_a_text_is_told_and_what_is_no_tokenizer_refused(tokenizer):
    assert find_round_trip_failures(tokenizer, ["a <|pad|>"]) == [("a <|pad|>", "a<|pad|>")]
    with pytest.raises(ValueError, match=r"^against must .*got 'text'"):
        find_round_trip_failures(tokenizer, ["a"], against="text")
    for call in (lambda: find_round_trip_failures(None, ["a"]), lambda: wrap_tokenizer(None, model_max_length=8)):
        with pytest.raises(TypeError, match=r"^tokenizer must .*got NoneType"):
            call()


# encode_corpus, of a tokenizer that ends each text


@pytest.mark.parametrize(
    ("ids", "added", "dtype"),
    [
        (range(65_535), 1, "uint16"),
        (range(65_536), 0, "uint16"),
        (range(65_536), 1, "uint32"),
        ([0, 70_000], 0, "uint32"),  # a gap does not hide it
    ],
)
def test_the_largest_id_chooses_the_dtype_added_tokens_included(ids, added, dtype):
    made = Tokenizer(models.WordLevel({f"t{i}": i for i in ids}, unk_token="t0"))
    made.add_special_tokens([f"<|{i}|>" for i in range(added)])
    stream = encode_corpus([f"t{ids[-1]}"], made, end_of_text_id=0)
    assert id_dtype(made) == stream.dtype == np.dtype(dtype)
    assert stream.tolist() == [ids[-1], 0]


# wrap_tokenizer


def test_roles_sides_and_length_are_set(tokenizer):
    wrapped = wrap_tokenizer(tokenizer, model_max_length=8)
    assert isinstance(wrapped, PreTrainedTokenizerFast)
    assert (wrapped.bos_token, wrapped.eos_token, wrapped.pad_token) == (END_OF_TEXT, END_OF_TEXT, PAD)
    assert (wrapped.bos_token_id, wrapped.eos_token_id, wrapped.pad_token_id) == (0, 0, 1)
    assert (wrapped.padding_side, wrapped.truncation_side, wrapped.model_max_length) == ("right", "right", 8)
    assert len(wrapped) == tokenizer.get_vocab_size()
    batch = wrapped(["a", "a b c d e f g h i j k"], padding=True, truncation=True)
    ids, mask = batch["input_ids"], batch["attention_mask"]
    assert [len(row) for row in ids] == [8, 8]
    assert ids[0] == [*tokenizer.encode("a").ids, *[1] * 6]
    assert mask == [[1, 1, 0, 0, 0, 0, 0, 0], [1] * 8]
    assert ids[1] == [*tokenizer.encode("a b c d e f g").ids]


def test_for_prompts_nothing_is_added_and_a_cut_is_no_end(tokenizer):
    prompts = wrap_tokenizer(tokenizer, model_max_length=4, for_prompts=True)
    documents = wrap_tokenizer(tokenizer, model_max_length=4)
    plain = tokenizer.encode("a b c d e f", add_special_tokens=False).ids
    assert prompts("a b c d e f")["input_ids"] == plain
    assert prompts("a b c d e f", truncation=True)["input_ids"] == plain[:4]
    assert documents("a b c d e f", truncation=True)["input_ids"] == [*plain[:3], 0]  # it learns to stop at the cut
    assert prompts.decode(prompts("a b")["input_ids"]) == "a b"
    assert prompts.eos_token_id == 0


def test_for_prompts_the_name_of_the_end_stays_what_it_was(tokenizer):
    spelled = Tokenizer.from_str(tokenizer.to_str())
    spelled.encode_special_tokens = True
    for made, ends in ((tokenizer, 1), (spelled, 0)):
        prompts = wrap_tokenizer(made, model_max_length=40, for_prompts=True)
        assert prompts(f"a {END_OF_TEXT}")["input_ids"].count(0) == ends


def test_wrapping_does_not_change_the_tokenizer(tokenizer):
    before = tokenizer.to_str()
    wrap_tokenizer(tokenizer, model_max_length=4)(["a b c d e f"] * 2, padding="max_length", truncation=True)
    assert tokenizer.to_str() == before


@pytest.mark.parametrize("name", OPTIONS)
def test_a_wrapped_tokenizer_survives_saving(tokenizers, name, tmp_path):
    wrapped = wrap_tokenizer(tokenizers[name], model_max_length=10_000)
    wrapped.save_pretrained(tmp_path)
    again = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert (again.pad_token_id, again.eos_token_id, again.model_max_length) == (1, 0, 10_000)
    assert (again.padding_side, again.truncation_side) == ("right", "right")
    assert again.backend_tokenizer.to_str() == wrapped.backend_tokenizer.to_str()
    if "dropout" not in name:
        assert again(FEW_TEXTS)["input_ids"] == wrapped(FEW_TEXTS)["input_ids"]
        assert wrapped(TEXTS[0])["input_ids"] == tokenizers[name].encode(TEXTS[0]).ids


def test_a_wrapped_tokenizer_survives_beside_a_model_if_its_class_is_named(tokenizer, tmp_path):
    """`AutoTokenizer` goes by the model's type there (transformers 5.24), whatever class the tokenizer's file names."""
    from transformers import AutoTokenizer, Qwen2Config

    wrapped = wrap_tokenizer(tokenizer, model_max_length=10_000)
    wrapped.save_pretrained(tmp_path)
    Qwen2Config().save_pretrained(tmp_path)
    replaced = AutoTokenizer.from_pretrained(tmp_path)
    assert type(replaced).__name__.startswith("Qwen2Tokenizer")
    assert replaced.backend_tokenizer.to_str() != wrapped.backend_tokenizer.to_str()
    again = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert again.backend_tokenizer.to_str() == wrapped.backend_tokenizer.to_str()


def test_one_token_in_three_roles_is_allowed_and_hides_every_end(tokenizer):
    wrapped = wrap_tokenizer(tokenizer, model_max_length=8, pad_token=END_OF_TEXT)
    ids = wrapped(["a", "a b c"], padding=True)["input_ids"]
    assert wrapped.pad_token_id == wrapped.eos_token_id
    assert all(row[-1] == wrapped.pad_token_id for row in ids)


@pytest.mark.parametrize(
    "settings",
    [{"pad_token": "a"}, {"pad_token": "[PAD]"}, {"end_of_text": "</s>"}],
)
def test_roles_are_those_of_special_tokens_that_there_are(tokenizer, settings):
    with pytest.raises(ValueError, match=rf"^{next(iter(settings))} must be one of the special"):
        wrap_tokenizer(tokenizer, model_max_length=8, **settings)


def test_a_length_has_room_for_a_token_and_its_end(tokenizer):
    assert len(wrap_tokenizer(tokenizer, model_max_length=2)("a b c", truncation=True)["input_ids"]) == 2
    wrap_tokenizer(tokenizer, model_max_length=1, for_prompts=True)
    with pytest.raises(ValueError, match=r"^model_max_length must be"):
        wrap_tokenizer(tokenizer, model_max_length=1)
    with pytest.raises(TypeError, match=r"^for_prompts must be True or False"):
        wrap_tokenizer(tokenizer, model_max_length=8, for_prompts="no")
