"""Texts become ids and come back, and many texts become one compact stream."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from any_tokenizer import BOS, END, KINDS, TEXTS, each_kind, framed, library, wrapped
from course_lib.foundation import (
    CharTokenizer,
    InThisProcess,
    document_marks,
    encode_corpus,
    encode_each,
    plain_tokenizer,
    smallest_dtype,
    tokenizing,
)
from course_lib.foundation.tokenizing import compact, tokenizer_hash
from course_lib.many_machines import tokenize_files
from course_lib.token_shards import load_shard, write_shards

ROOT = Path(__file__).parent.parent

# One token per character


UNICODE = st.text(st.characters(exclude_categories=("Cs",)), min_size=1)


@given(UNICODE)
@settings(deadline=None, max_examples=60)
def test_any_text_comes_back_from_its_ids(text):
    tokenizer = CharTokenizer(text)
    ids = tokenizer.encode(text)
    assert ids.shape == (len(text),)
    assert ids.dtype == np.uint16
    assert tokenizer.decode(ids) == text
    assert [tokenizer.characters[i] for i in ids] == list(text)
    assert tokenizer.vocab_size == len(set(text)) + 1
    assert tokenizer.end_of_text_id == len(set(text))


@given(UNICODE, UNICODE)
@settings(deadline=None, max_examples=60)
def test_a_character_outside_the_alphabet_is_named_with_its_position(alphabet, text):
    tokenizer = CharTokenizer(alphabet)
    unknown = [position for position, character in enumerate(text) if character not in alphabet]
    if not unknown:
        assert tokenizer.decode(tokenizer.encode(text)) == text
        return
    with pytest.raises(ValueError, match="is not in the alphabet") as caught:
        tokenizer.encode(text)
    first = unknown[0]
    assert str(caught.value) == f"character {text[first]!r} at position {first} is not in the alphabet"


def test_an_alphabet_beyond_16_bits_gets_wider_ids():
    alphabet = "".join(map(chr, range(0x10000, 0x10000 + 65_536)))
    tokenizer = CharTokenizer(alphabet)
    assert tokenizer.encode(alphabet[-1]).dtype == np.uint32  # the end-of-text id is 65,536
    assert CharTokenizer(alphabet[:-1]).encode(alphabet[0]).dtype == np.uint16
    assert tokenizer.decode([65_535]) == alphabet[-1]


# An alphabet of the most frequent characters


@given(st.text("aabbcdeé漢🙂\ufffd", min_size=1, max_size=30), st.integers(1, 9))
@settings(deadline=None, max_examples=100)
def test_the_most_frequent_characters_stay_and_one_stands_for_all_others(text, max_characters):
    tokenizer = CharTokenizer(text, max_characters=max_characters)
    kept = sorted(set(text), key=lambda character: (-text.count(character), character))[:max_characters]
    replaced = "".join(character if character in kept else "\ufffd" for character in text)
    assert tokenizer.decode(tokenizer.encode(text)) == replaced
    if len(set(text)) <= max_characters:
        plain = CharTokenizer(text)
        assert (tokenizer.characters, tokenizer.vocab_size) == (plain.characters, plain.vocab_size)
        assert tokenizer.replacement_id is plain.replacement_id is None
    else:
        assert tokenizer.characters == "".join(sorted({*kept, "\ufffd"}))
        assert tokenizer.characters[tokenizer.replacement_id] == "\ufffd"
        # also what the text never showed
        assert tokenizer.encode("Ω").tolist() == [tokenizer.replacement_id]
    assert tokenizer.end_of_text_id == tokenizer.vocab_size - 1 == len(tokenizer.characters)


# Any tokenizer


@each_kind
def test_each_text_has_one_beginning_and_one_end_wherever_its_tokenizer_puts_them(kind):
    tokenizer = kind.make()
    expected = [framed(kind, tokenizer, text) for text in TEXTS]
    got = encode_each(TEXTS, tokenizer, end_of_text_id=kind.end_of_text_id)
    assert [ids.tolist() for ids in got] == expected
    stream = encode_corpus(TEXTS, tokenizer, end_of_text_id=kind.end_of_text_id, progress=False)
    assert stream.tolist() == [token for ids in expected for token in ids]
    plain, end = plain_tokenizer(tokenizer, kind.end_of_text_id)
    assert plain_tokenizer(plain, end) == (plain, end)  # so may whoever has taken the face off already
    assert [ids.tolist() for ids in encode_each(TEXTS, plain, end_of_text_id=end)] == expected
    if kind is not KINDS["characters"]:
        (pair,) = encode_each(["low \ud83d\ude00"], tokenizer, end_of_text_id=kind.end_of_text_id)
        assert pair.tolist() == framed(kind, tokenizer, "low \U0001f600")
    begin, own_end = document_marks(tokenizer)
    assert begin == (kind.begin or [None])[0]
    assert kind.end_of_text_id is not None or own_end == (kind.end or [None])[0]


@each_kind
def test_a_tokenizer_has_one_hash_before_and_after_use_and_as_a_copy(kind):
    tokenizer = kind.make()
    name = tokenizer_hash(tokenizer)
    list(encode_each(TEXTS, tokenizer, end_of_text_id=kind.end_of_text_id))
    assert tokenizer_hash(tokenizer) == tokenizer_hash(kind.make()) == name
    assert tokenizer_hash(pickle.loads(pickle.dumps(tokenizer))) == name


@pytest.mark.parametrize(
    ("tokenizer", "end", "words"),
    [
        (library, None, "end_of_text_id must be given: this tokenizer has none of its own"),
        (lambda: library("[CLS] $A [SEP]"), 0, "end_of_text_id must be None: this tokenizer ends each text"),
        (lambda: wrapped("[CLS] $A"), -1, "end_of_text_id must be an integer of at least 0"),
        (KINDS["tiktoken, no end"].make, None, "end_of_text_id must be given"),
    ],
)
def test_what_tells_nobody_where_a_text_ends_is_refused(tokenizer, end, words):
    with pytest.raises(ValueError, match=words):
        plain_tokenizer(tokenizer(), end)


@pytest.mark.parametrize("name", ["tiktoken", "tiktoken, no end"])
def test_shards_are_made_by_tiktoken_as_well(tmp_path, name):
    kind = KINDS[name]
    texts = [f"{text} {number}" for number in range(30) for text in TEXTS]
    settings = {"end_of_text_id": kind.end_of_text_id, "val_every": 10**6, "progress": False}
    expected = encode_corpus(texts, kind.make(), end_of_text_id=kind.end_of_text_id, progress=False)
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(json.dumps({"text": text}) for text in texts), encoding="utf-8")
    write_shards(texts, kind.make(), tmp_path / "one", **settings)
    tokenize_files([path], kind.make(), tmp_path / "two", num_workers=2, task_bytes=2_000, **settings)
    for folder in ("one", "two"):
        assert (load_shard(tmp_path / folder, "train", 0) == expected).all()


def test_a_text_of_a_file_that_cannot_be_encoded_is_named_with_its_file(tmp_path):
    for name, texts in {"a": ["ab"] * 5, "b": ["ab", "", "a└b"]}.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts))
    run = partial(tokenize_files, [tmp_path], CharTokenizer("ab"), make_executor=InThisProcess, progress=False)
    with pytest.raises(ValueError, match=r"text 3 of .*b\.jsonl cannot be encoded: character '└' at position 1"):
        run(tmp_path / "one")
    with pytest.raises(ValueError, match=r"text 1 of .*b\.jsonl, from 28 on cannot be encoded: character '└'"):
        run(tmp_path / "two", task_bytes=28)


def test_a_longer_frame_is_put_around_whole():
    ids = next(encode_each(["low"], library("[CLS] <s> $A [SEP] <|endoftext|>"))).tolist()
    assert (ids[:2], ids[-2:]) == ([2, BOS], [3, END])


class Tokens:
    def __init__(self, **state):
        vars(self).update(state)

    def encode(self, text):
        return []


MIDDLE = np.arange(2_000) == 1_000
STATES = [
    {},
    {"table": np.arange(2_000)},
    {"table": np.arange(2_000) + MIDDLE},
    {"table": np.arange(2_000, dtype=np.int32)},
    {"table": np.arange(2_000).reshape(2, 1_000)},
    {"table": torch.arange(2_000) + torch.from_numpy(MIDDLE), "kind": "torch"},
    {"_shift": 1},
    {"_shift": True},
    {"_shift": 1.0},
    {"names": {"a", "b", "c", "d"}},
    {"names": ["a", "b", "c", "d"]},
    {"names": {"a": 1, "b": Path("c")}},
    {"names": Tokens(more=Tokens())},
    {"names": len},
    {"names": np.float32(0.1)},
    {"names": np.array(["a", None], dtype=object)},
]


def test_a_tokenizer_is_named_by_all_that_it_knows():
    names = [tokenizer_hash(Tokens(**state)) for state in STATES]
    assert len(set(names)) == len(names)
    assert [tokenizer_hash(pickle.loads(pickle.dumps(Tokens(**state)))) for state in STATES] == names
    assert tokenizer_hash(Tokens(names={"b": 1, "a": 2})) == tokenizer_hash(Tokens(names={"a": 2, "b": 1}))
    assert tokenizer_hash(Tokens(t=np.arange(3, dtype=">i4"))) == tokenizer_hash(Tokens(t=np.arange(3, dtype="<i4")))


def test_another_process_gives_it_the_same_name():
    program = "import test_tokenizing as t; print([t.tokenizer_hash(t.Tokens(**state)) for state in t.STATES])"
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {[str(ROOT), str(ROOT / 'tests')]}; {program}"]
    printed = {subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)}
    assert printed == {f"{[tokenizer_hash(Tokens(**state)) for state in STATES]}\n"}


def test_what_no_file_can_hold_has_no_name():
    around = Tokens()
    around.me = around
    for tokenizer in (Tokens(f=lambda text: text), Tokens(file=sys.__stdout__), around):
        with pytest.raises(TypeError, match=r"tokenizer must hold what a file can hold, but .* a method __getstate__"):
            tokenizer_hash(tokenizer)


# One stream


@pytest.mark.parametrize("make", [KINDS["lesson 7"].make, lambda: CharTokenizer("abcdefghijklmnopqrstuvwxyz ")])
def test_a_batch_ends_with_its_characters_as_well_as_with_its_texts(make, monkeypatch):
    tokenizer, texts, read = make(), ["some text"] * 40, 0
    expected = [ids.tolist() for ids in encode_each(texts, tokenizer)]

    def reading():
        nonlocal read
        for text in texts:
            read += 1
            yield text

    monkeypatch.setattr(tokenizing, "BATCH_CHARACTERS", 30)
    got = []
    for number, ids in enumerate(encode_each(reading(), tokenizer)):
        assert read <= number + 4
        got.append(ids.tolist())
    assert got == expected


@pytest.mark.parametrize("numbers", [None, range(100, 1_000_000, 2)])
def test_a_text_that_cannot_be_encoded_is_named(numbers):
    texts = ["ab"] * 1_500 + ["abz"]
    of_library = Tokenizer(models.WordLevel({"ab": 0}, unk_token="?"))  # which is not in it
    named = 1_500 if numbers is None else numbers[1_500]
    for tokenizer in (CharTokenizer("ab"), of_library):
        with pytest.raises(ValueError, match=rf"^text {named} cannot be encoded: .+") as caught:
            list(encode_each(texts, tokenizer, end_of_text_id=2, names=numbers))
        assert caught.value.__cause__ is not None


class Bytes:
    """A tokenizer that answers with an object, as the library `tokenizers` does, and has no end-of-text id."""

    def encode(self, text: str) -> SimpleNamespace:
        return SimpleNamespace(ids=list(text.encode()))


@given(st.lists(st.text("abc", max_size=5), min_size=1, max_size=6))
@settings(deadline=None)
def test_each_document_is_followed_by_an_end_of_text(texts):
    naive = [token for text in texts for token in [*("abc".index(character) for character in text), 3]]
    stream = encode_corpus(texts, CharTokenizer("abc"))
    assert stream.tolist() == naive
    assert stream.dtype == np.uint16
    assert CharTokenizer("abc").decode(stream) == "".join(f"{text}<|endoftext|>" for text in texts)


@given(st.lists(st.text("abc", max_size=5), max_size=6))
@settings(deadline=None, max_examples=50)
def test_the_ids_of_one_text_after_another_make_up_the_stream(texts):
    pieces = list(encode_each(texts, CharTokenizer("abc")))
    assert len(pieces) == len(texts)
    if texts:
        assert np.concatenate(pieces).tolist() == encode_corpus(texts, CharTokenizer("abc")).tolist()


def test_encoding_takes_any_iterable_and_any_tokenizer():
    assert encode_corpus((text for text in ["ab", "c"]), Bytes(), end_of_text_id=256).tolist() == [97, 98, 256, 99, 256]


@pytest.mark.parametrize(("end", "dtype"), [(65_535, np.uint16), (65_536, np.uint32), (70_000, np.uint32)])
def test_the_stream_is_as_wide_as_its_largest_id(end, dtype):
    stream = encode_corpus(["a", "b"], Bytes(), end_of_text_id=end)
    assert stream.tolist() == [97, end, 98, end]
    assert stream.dtype == dtype


def test_a_tokenizer_that_answers_in_wide_ids_gives_a_narrow_stream():
    for dtype in (np.uint8, np.uint32, np.int64):
        tokenizer = SimpleNamespace(encode=lambda text, dtype=dtype: np.full(2, 5, dtype=dtype), end_of_text_id=0)
        assert encode_corpus(["a"], tokenizer).dtype == np.uint16
    tokenizer = SimpleNamespace(encode=lambda text: [70_000], end_of_text_id=0)
    assert encode_corpus(["a"], tokenizer).tolist() == [70_000, 0]


@pytest.mark.parametrize(
    ("largest", "dtype"), [(0, "u2"), (65_535, "u2"), (65_536, "u4"), (70_000, "u4"), (2**32 - 1, "u4")]
)
def test_the_smallest_dtype_holds_the_largest_id(largest, dtype):
    assert smallest_dtype(largest) == np.dtype(dtype)
    assert compact([0, largest]).dtype == np.dtype(dtype)
    assert compact([0, largest]).tolist() == [0, largest]


@given(st.lists(st.integers(0, 2**32 - 1)))
@settings(deadline=None)
def test_compact_ids_are_the_same_ids(ids):
    for given_ids in (ids, np.array(ids, dtype=np.int64), np.array(ids, dtype=">i8"), torch.tensor(ids).long()):
        stream = compact(given_ids)
        assert stream.tolist() == ids
        assert stream.dtype == smallest_dtype(max(ids, default=0))


@pytest.mark.parametrize("dtype", ["u1", "<u2", ">u2", "<u4", ">u4"])
def test_what_is_compact_already_is_not_copied(dtype):
    ids = np.arange(5).astype(dtype)
    assert np.shares_memory(compact(ids), ids)
    assert compact(ids).dtype == ids.dtype


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.int64])
def test_a_memory_map_is_not_copied(tmp_path, dtype):
    np.arange(5, dtype=dtype).tofile(tmp_path / "ids.bin")
    ids = np.memmap(tmp_path / "ids.bin", dtype=dtype, mode="r")
    for view in (ids, ids[1:], np.asarray(ids), np.asarray(ids)[::2]):
        assert np.shares_memory(compact(view), view)
        assert compact(view).dtype == dtype


def test_what_was_calculated_from_a_memory_map_is_none(tmp_path):
    np.array([5, 3], dtype=np.uint16).tofile(tmp_path / "ids.bin")
    ids = np.memmap(tmp_path / "ids.bin", dtype=np.uint16, mode="r")
    widened = ids.astype(np.int64)
    assert isinstance(widened, np.memmap)
    assert compact(widened).dtype == np.uint16
    with pytest.raises(ValueError, match="ids must not be negative, got -4 at position 1"):
        compact(widened - 7)
