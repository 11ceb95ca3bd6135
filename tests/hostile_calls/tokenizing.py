"""Hostile calls of everything between texts and one stream of ids."""

import tempfile
from types import SimpleNamespace

import numpy as np
from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers.models import WordLevel

NUMBERS = SimpleNamespace(encode=lambda text: [int(text)], end_of_text_id=0)
LIBRARY = LibraryTokenizer(WordLevel({"a": 0, "b": 1}, unk_token="a"))
UNTRAINED = LibraryTokenizer(WordLevel({}, unk_token="a"))
STORY = "bananas and an é"
BATCH = {"text": ["a", "b"]}


def memory_map(dtype, *ids):
    """A memory map of a file that is deleted already: its memory stays."""
    with tempfile.NamedTemporaryFile() as file:
        np.array(ids, dtype=dtype).tofile(file.name)
        return np.memmap(file.name, dtype=dtype, mode="r")


def sized(size):
    return SimpleNamespace(encode=str.split, vocab_size=size)


def tiktoken_like(**more):
    return SimpleNamespace(encode_ordinary=lambda text: [5], n_vocab=6, **more)


class SameBuffer:
    """Answers each time with the same array."""

    end_of_text_id = 0

    def __init__(self):
        self.buffer = np.zeros(1, dtype=np.uint16)

    def encode(self, text):
        self.buffer[0] = ord(text)
        return self.buffer


def dtype(array):
    return str(array.dtype)


def writable(array):
    return array.flags.writeable


CALLS = {
    # examples
    "CharTokenizer('dcbaab', max_characters=3).characters": "abc\ufffd",
    "CharTokenizer('éazzz', max_characters=2).characters": "az\ufffd",
    "CharTokenizer('banana 🙂é').characters": " abné🙂",
    "CharTokenizer('banana 🙂é').encode('').shape": (0,),
    "CharTokenizer('banana 🙂é').decode([])": "",
    "CharTokenizer('banana 🙂é').decode([6, 1])": "<|endoftext|>a",
    # one token per character
    "CharTokenizer('ba').encode('')": np.array([], dtype=int),
    "CharTokenizer('ba').decode([0, -1])": ValueError("ids must lie in 0 ... 2, got -1 ... 0"),
    "CharTokenizer('ba').decode([0, 3])": ValueError("ids must lie in 0 ... 2, got 0 ... 3"),
    "CharTokenizer('ba').decode(np.array([2, 1], dtype=np.uint8))": "<|endoftext|>b",
    "CharTokenizer('ba').encode('ab?')": ValueError("character '?' at position 2 is not in the alphabet"),
    "CharTokenizer('')": ValueError("characters must not be empty"),
    "CharTokenizer('ba', max_characters=2**64).characters": "ab",
    "CharTokenizer('ba', max_characters=np.int8(2)).replacement_id": None,
    "CharTokenizer(STORY, max_characters=1).characters": "a\ufffd",
    "CharTokenizer('\\ufffd\\ufffdba', max_characters=1).characters": "\ufffd",
    "CharTokenizer('\\ufffdba', max_characters=3).replacement_id": None,
    # texts
    "list(iterate_texts([]))": [],
    "list(iterate_texts(['a', ('b', 'c'), {'text': ['d']}]))": ["a", "b", "c", "d"],
    "list(iterate_texts('ab'))": TypeError("texts must be several texts, got str: use [text]"),
    "list(iterate_texts(None))": TypeError("texts must be several texts, got NoneType"),
    "list(iterate_texts({'text': ['a']}))": TypeError("use [texts]"),
    "list(iterate_texts(['a', None]))": TypeError("texts[1] must be a str, got NoneType"),
    "list(iterate_texts([['a', 5]]))": TypeError("texts[1] must be a str, got int"),
    "list(iterate_texts(['a\\ud800']))": ValueError("texts[0] must be Unicode, but character 1 is half of one"),
    "list(iterate_texts([{'text': ['a']}], 'body'))": ValueError("text_column must be one of ['text'], got 'body'"),
    "list(iterate_texts([{'text': ['a']}], None))": ValueError("text_column must be one of ['text'], got None"),
    "list(training_batches(['a'] * 1001, progress=False))[1]": ["a"],
    "list(training_batches([], progress=False))": ValueError("texts must hold more than whitespace"),
    "list(training_batches([' ', '\\u3000'], progress=False))": ValueError("texts must hold more than whitespace"),
    "list(training_batches('ab', progress=False))": TypeError("texts must be several texts"),
    "column_of_batch(BATCH, 'text')": ["a", "b"],
    "column_of_batch(BATCH, 'body')": ValueError("features must have a column 'body', got ['text']"),
    "column_of_batch({'text': 'ab'}, 'text')": TypeError("use map with batched=True"),
    "column_of_batch(None, 'text')": TypeError("features must be a batch"),
    # names
    "check_special_tokens([])": [],
    "check_special_tokens(('<a>', '<b>'))": ["<a>", "<b>"],
    "check_special_tokens('<a>')": TypeError("special_tokens must be a list of names, got '<"),
    "check_special_tokens({'<a>'})": TypeError("special_tokens must be a list of names, got {"),
    "check_special_tokens(None)": TypeError("special_tokens must be a list of names, got None"),
    "check_special_tokens([5])": TypeError("special_tokens[0] must be a str, got int"),
    "check_special_tokens(['<a>', ''])": ValueError("special_tokens must not be empty"),
    "check_special_tokens(['<a>', '<b>', '<a>'])": ValueError("but '<a>' occurs 2 times"),
    "check_special_tokens(['\\udfff'])": ValueError("special_tokens[0] must be Unicode"),
    # one stream
    "encode_corpus(['1', '65536'], NUMBERS)": np.array([1, 0, 65_536, 0]),
    "dtype(encode_corpus(['1', '65535'], NUMBERS))": "uint16",
    "encode_corpus(['b', 'c'], SameBuffer())": np.array([98, 0, 99, 0]),
    "encode_corpus([''], CharTokenizer('a'))": np.array([1]),
    "encode_corpus(['a', 'b'], LIBRARY, end_of_text_id=70_000)": np.array([0, 70_000, 1, 70_000]),
    "dtype(encode_corpus(['a'], LIBRARY, end_of_text_id=np.int8(1)))": "uint16",
    "encode_corpus([], NUMBERS)": ValueError("texts must hold at least one document"),
    "encode_corpus('12', NUMBERS)": TypeError("texts must be several texts, got str"),
    "encode_corpus(['-1'], NUMBERS)": ValueError("ids must not be negative, got -1"),
    "encode_corpus([str(2**32)], NUMBERS)": ValueError("ids must fit into 32 bits"),
    "encode_corpus(['1'], NUMBERS, end_of_text_id=2**32)": ValueError("end_of_text_id must be"),
    "encode_corpus(['1'], NUMBERS, end_of_text_id=True)": TypeError("end_of_text_id must be"),
    "encode_corpus(['1'], None)": TypeError("tokenizer must have a method encode(text), got NoneType"),
    "encode_corpus(['1'], CharTokenizer)": TypeError("tokenizer must have a method encode(text), got a class"),
    "encode_corpus(['a'], LIBRARY)": ValueError("end_of_text_id must be given"),
    "encode_corpus(['a'], SimpleNamespace(encode=5))": TypeError("tokenizer must have a method encode(text)"),
    "encode_corpus(['ab', ''], tiktoken_like(eot_token=3))": np.array([5, 3, 5, 3]),
    "encode_corpus(['ab'], tiktoken_like())": ValueError("end_of_text_id must be given"),
    "encode_corpus(['ab'], tiktoken_like(eot_token=2.0))": TypeError("eot_token must be an integer"),
    "encode_corpus(['c'], CharTokenizer('ab'))": ValueError("text 0 cannot be encoded: character 'c' at position 0"),
    "encode_corpus(['a'], UNTRAINED, end_of_text_id=0)": ValueError("tokenizer must have a vocabulary"),
    "encode_corpus(['1'], NUMBERS, progress=0)": TypeError("progress must be True or False"),
    "encode_corpus(['1'], SimpleNamespace(encode=lambda text: text, end_of_text_id=0))": TypeError("got text (str)"),
    "[ids.tolist() for ids in encode_each(['b', 'c'], SameBuffer())]": [[98, 0], [99, 0]],
    "[dtype(ids) for ids in encode_each(['1', '65536'], NUMBERS)]": ["uint16", "uint32"],
    "list(encode_each([], NUMBERS))": [],
    "[i.tolist() for i in encode_each(['1', '2', '3'], NUMBERS, batch_size=np.int8(2))]": [[1, 0], [2, 0], [3, 0]],
    "encode_each(['a'], LIBRARY)": ValueError("end_of_text_id must be given"),
    "list(encode_each(['1', 'b'], NUMBERS, names=[7, 9]))": ValueError("text 9 cannot be encoded: invalid literal"),
    "encode_each(5, NUMBERS)": TypeError("texts must be several texts, got int"),
    # what a tokenizer is
    "plain_tokenizer(NUMBERS) == (NUMBERS, 0)": True,
    "plain_tokenizer(NUMBERS, np.int8(7))[1]": 7,
    "plain_tokenizer('abc', 0)": TypeError("tokenizer must have a method encode(text), got str"),  # though it has one
    "plain_tokenizer(None)": TypeError("tokenizer must have a method encode(text), got NoneType"),
    "document_marks(NUMBERS)": (None, 0),
    "document_marks(LIBRARY)": (None, None),
    "document_marks(SimpleNamespace(eos_token_id=2**70))": ValueError("eos_token_id must be"),
    "document_marks(None)": (None, None),
    "len(tokenizer_hash(LIBRARY))": 64,
    "tokenizer_hash(CharTokenizer('abc')) == tokenizer_hash(CharTokenizer('cab'))": True,
    "tokenizer_hash(CharTokenizer('abc')) == tokenizer_hash(CharTokenizer('abd'))": False,
    "tokenizer_hash(NUMBERS)": TypeError("tokenizer must hold what a file can hold, but"),
    "tokenizer_hash(5)": TypeError("tokenizer must be a tokenizer, got 5"),
    "tokenizer_hash(CharTokenizer)": TypeError("tokenizer must be a tokenizer, got <class"),
    # dtypes
    "id_dtype(sized(2**16))": np.dtype(np.uint16),
    "id_dtype(sized(np.int64(2**16 + 1)))": np.dtype(np.uint32),
    "id_dtype(tiktoken_like())": np.dtype(np.uint16),
    "id_dtype(sized(3.7))": TypeError("vocab_size must be an integer"),
    "id_dtype(sized(True))": TypeError("vocab_size must be"),
    "id_dtype(sized(0))": ValueError("vocab_size must be an integer of at least 1"),
    "id_dtype(sized(2**32 + 1))": ValueError("vocab_size must be"),
    "id_dtype(sized('abc'))": TypeError("vocab_size must be"),
    "id_dtype(sized(lambda: 5))": TypeError("vocab_size must be"),
    "id_dtype(NUMBERS)": TypeError("tokenizer must have a vocab_size"),
    "id_dtype(LIBRARY)": np.dtype(np.uint16),
    "id_dtype(UNTRAINED)": ValueError("tokenizer must have a vocabulary"),
    "smallest_dtype(np.uint16(65_535))": np.dtype(np.uint16),
    "smallest_dtype(np.int32(65_536))": np.dtype(np.uint32),
    "compact([])": np.array([], dtype=int),
    "dtype(compact(np.array([70_000])))": "uint32",
    "writable(compact(np.zeros(3, dtype=np.uint16)))": False,
    "compact(memory_map(np.int64, 5, -3))": np.array([5, -3]),  # unread: too large to look at
    "dtype(compact(memory_map(np.int64, 5, 3)[1:]))": "int64",
    "dtype(compact(np.asarray(memory_map(np.int64, 5, 3))))": "int64",
    "dtype(compact(memory_map(np.uint16, 5, 3).astype(np.int64)))": "uint16",
    "compact(memory_map(np.int32, 5, -3).astype(np.int64))": ValueError(
        "ids must not be negative, got -3 at position 1"
    ),
    "compact(memory_map(np.int32, 5, -3) * 2)": ValueError("ids must not be negative, got -6 at position 1"),
    "compact([2**32])": ValueError("ids must fit into 32 bits"),
    "compact([0, -1])": ValueError("ids must not be negative, got -1 at position 1"),
}
