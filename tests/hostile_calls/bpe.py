"""Hostile calls of byte-pair encoding."""

import base64
import tempfile
from pathlib import Path

import numpy as np
from datasets import Dataset, DatasetDict

from course_lib.bpe import BYTE_ORDER, BPETokenizer

WORDS = {(1, 2, 1, 2): 3, (2, 1): 1}
ROWS = Dataset.from_dict({"text": ["the tide", "the tide"]})
SPLITS = DatasetDict(train=ROWS, test=ROWS)
QUIET = {"vocab_size": 258, "progress": False}
HALF = "a\ud83d"


def ranks(*changes, **options):
    """A tokenizer from a file of the bytes and one merge, with some lines changed."""
    lines = [f"{base64.b64encode(bytes([byte])).decode()} {number}" for number, byte in enumerate(BYTE_ORDER)]
    lines.append(f"{base64.b64encode(b'ab').decode()} 256")
    for number, line in changes:
        lines[number : number + 1] = line
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "some.tiktoken")
        path.write_text("\n".join(lines), encoding="utf-8")
        return BPETokenizer.from_ranks(path, **options).merges


def written(tokenizer):
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.to_ranks(Path(folder, "some.tiktoken"))
        return Path(folder, "some.tiktoken").read_text().splitlines()[-1]


CALLS = {
    # examples
    "BPETokenizer(special_tokens=['<a>', '<a><b>', '(.*']).encode('<a><b><a>(.*', allowed_special='all')": [1, 0, 2],
    "BPETokenizer().decode(BPETokenizer().encode('a潮b')[:3])": "a\ufffd",
    "BPETokenizer().decode(BPETokenizer().encode('a潮b')[2:])": "\ufffd\ufffdb",
    "BPETokenizer().decode_bytes(BPETokenizer().encode('a潮b')[:3])": b"a\xe6\xbd",
    # bytes and words
    "printable(b'')": "",
    "printable(bytes([0, 32, 10, 255]))": "ĀĠĊÿ",
    "list(split_words(''))": [],
    "list(split_words('a b', None))": ["a b"],
    "list(split_words('ab, cd', r'\\w+'))": ["ab", ", ", "cd"],
    "list(split_words('ab cd', r'(?r)\\w+'))": ValueError("pattern must read forward, got"),
    "list(split_words('a', '('))": ValueError("pattern must be a regular expression or None, got '('"),
    "spell('')": (),
    "spell('!', np.uint16(65_535))": (65_535,),
    "spell('\"', np.int8(127))": (128,),
    "spell('\\ud83d')": ValueError("surrogates not allowed"),
    "count_words([])": {},
    "count_words(['', ''])": {},
    "count_words('abc')": TypeError("texts must be several texts, got str: use [text]"),
    "count_words([['!!'], ['!!']])": {(0, 0): 2},
    "count_words(['! \"', '! \" \"']) == {spell('!'): 2, spell(' \"'): 3}": True,
    "count_words(ROWS) == count_words(['the tide'] * 2)": True,
    "count_words(['!'], first_id=np.int8(127))": {(127,): 1},
    "count_words(['a', None])": TypeError("texts[1] must be a str, got NoneType"),
    "count_words([HALF])": ValueError("texts[0] must be Unicode, but character 1 is half of one"),
    "count_words(['a'], '(?r)a')": ValueError("pattern must read forward, got"),
    # pairs
    "pair_counts({})": {},
    "pair_counts({(): 3, (1,): 3})": {},
    "pair_counts({(1, 1, 1): 2})": {(1, 1): 4},
    "pair_counts({(1, 2, 1): 3, (2, 1): 10})": {(1, 2): 3, (2, 1): 13},
    "pair_counts([(1, 2)])": TypeError("words must map tuples of ids to counts, got [(1, 2)]"),
    "pair_counts({(1, 2): 0.5})": TypeError("counts of words must be integers"),
    "pair_counts('abc')": TypeError("words must map tuples of ids to counts, got 'abc'"),
    "best_pair({})": ValueError("counts must hold at least one pair, got {}"),
    "best_pair({(2, 1): 3, (1, 2): 3, (0, 0): 2})": (1, 2),
    "best_pair({(9, 9): 4, (0, 0): 3})": (9, 9),
    "best_pair({(70_000, 1): np.int64(2), (70_000, 0): 2})": (70_000, 0),
    # one merge
    "merge_pair([], (1, 2), 9)": [],
    "merge_pair([1, 2, 1, 2], [1, 2], 9)": [9, 9],
    "merge_pair(np.array([1, 2, 3], dtype=np.uint16), (1, 2), 70_000)": [70_000, 3],
    "merge_pair(torch.tensor([1, 1, 1]), torch.tensor([1, 1]), 9)": [9, 1],
    "merge_pair([1, 2, 3], (1, 2, 3), 9)": ValueError("pair must hold 2 ids, got [1, 2, 3]"),
    "merge_pair([1, 2], (1,), 9)": ValueError("pair must hold 2 ids, got [1]"),
    "merge_pair('abab', ('a', 'b'), 9)": TypeError("ids must be integers, got text"),
    "merge_pair(np.array([0.5, 1.0]), (1, 2), 9)": TypeError("ids must be integers, got ndarray of float64"),
    "merge_pair([1, 2], None, 9)": TypeError("pair must be integers"),
    # learning
    "learn_merges_by_rescanning({}, 5)": {},
    "learn_merges_by_rescanning({(1, 2): 1}, 5)": {},
    "learn_merges_by_rescanning(WORDS, np.int8(1))": {(1, 2): 256},
    "learn_merges_by_rescanning({(256, 1): 2}, 5)": ValueError("words must hold ids below 256, got 256"),
    "learn_merges_by_rescanning({'abab': 2}, 5)": TypeError("words must "),
    "WORDS": {(1, 2, 1, 2): 3, (2, 1): 1},  # it has not changed them
    "learn_merges_by_rescanning({(1, 2): nan}, 5)": TypeError("counts of words must be integers"),
    "learn_merges_by_rescanning({(1, 2): -1}, 5)": ValueError("counts of words must not be negative"),
    # encoding a word
    "merge_history([], {})": [[]],
    "merge_history(np.array([1, 2]), {(1, 2): 70_000})": [[1, 2], [70_000]],
    "merge_history('ab', {})": TypeError("ids must be integers, got text"),
    # the tokenizer by hand
    "BPETokenizer().vocab_size": 256,
    "BPETokenizer([[0, 1]]).merges": {(0, 1): 256},
    "BPETokenizer(np.array([[0, 1], [256, 1]], dtype=np.int16)).merges": {(0, 1): 256, (256, 1): 257},
    "BPETokenizer([3])": ValueError("pair of merges must be one-dimensional"),
    "BPETokenizer([(0, 1, 2)])": ValueError("pair of merges must hold 2 ids, got [0, 1, 2]"),
    "BPETokenizer([(0, True)])": TypeError("pair of merges must be integers"),
    "BPETokenizer([(0, 1), (0, 1)])": ValueError("merges must be different pairs, got (0, 1) again as number 1"),
    "BPETokenizer([(0, -1)])": ValueError("merges must be an integer of at least 0 and at most 255, got -1"),
    "BPETokenizer([(0, 256)])": ValueError("merges must be an integer of at least 0 and at most 255, got 256"),
    "BPETokenizer([(0, 1)], special_tokens=['<a>'])": ValueError("merges must be an integer of at least 1"),
    "BPETokenizer(pattern=3)": TypeError("pattern must be a str, got int"),
    "BPETokenizer(['ab'])": TypeError("pair of merges must be integers, got text"),
    "BPETokenizer(special_tokens='<a>')": TypeError("special_tokens must be a list of names, got '<"),
    "BPETokenizer(pattern='(?r)a')": ValueError("pattern must read forward, got"),
    "BPETokenizer.train('the tide', np.int16(257)).vocab_size": 256,
    "BPETokenizer.train('aaaa', np.uint16(257), min_frequency=np.int8(1)).vocab_size": 257,
    "BPETokenizer.train('aa aa', 300).merges == BPETokenizer.train(['aa aa'], 300).merges": True,
    "0 in BPETokenizer.train('aa aa', 300, special_tokens=['aa']).encode('aa aa')": False,
    "BPETokenizer.train([], 300)": ValueError("texts must hold more than whitespace, got an empty corpus"),
    "BPETokenizer.train(['', ''], 300)": ValueError("texts must hold more than whitespace, got an empty corpus"),
    "BPETokenizer.train(['a', None], 300)": TypeError("texts[1] must be a str, got NoneType"),
    "BPETokenizer.train([['a', 3]], 300)": TypeError("texts[1] must be a str, got int"),
    "BPETokenizer.train(b'bytes', 300)": TypeError("texts must be several texts, got bytes"),
    "BPETokenizer.train([{'body': ['a']}], 300)": ValueError("text_column must be one of ['body'], got 'text'"),
    "BPETokenizer.train('ab\\udc80', 300)": ValueError(
        "texts[0] must be Unicode, but character 2 is half of one: '\\udc80'"
    ),
    "BPETokenizer.train('a', 255)": ValueError("vocab_size must be at least 256: 256 tokens of the alphabet"),
    "BPETokenizer.train('a', 300, special_tokens=['<a>', '<a>'])": ValueError("but '<a>' occurs 2 times"),
    "BPETokenizer.train('a', 300, special_tokens='<a>')": TypeError("special_tokens must be a list of names, got '<"),
    "BPETokenizer.train('a', 300, special_tokens=[''])": ValueError("special_tokens must not be empty"),
    "BPETokenizer.train('a', 300, min_frequency=0)": ValueError("min_frequency must be"),
    "BPETokenizer.train('a', 300, min_frequency=1.5)": TypeError("min_frequency must be"),
    "BPETokenizer.train(' \\n ', 300)": ValueError("texts must hold more than whitespace, got an empty corpus"),
    "BPETokenizer.train('a', 300, pattern='(?r)a')": ValueError("pattern must read forward, got"),
    "BPETokenizer.train(SPLITS, 300)": TypeError("got a DatasetDict with the splits ['train', 'test']"),
    "BPETokenizer.train(ROWS, 300).vocab_size": 262,
    "BPETokenizer.train({'text': ['a']}, 300)": TypeError("got a dict with the columns ['text']: use [texts]"),
    "BPETokenizer.train('a', 2**24).vocab_size": 256,
    "BPETokenizer.train('a', 2**70)": ValueError("vocab_size must be an integer of at least 1 and at most 16777216"),
    "BPETokenizer.train('a', nan)": TypeError("vocab_size must be an integer"),
    "BPETokenizer.train('a', '300')": TypeError("vocab_size must be an integer"),
    "BPETokenizer().encode('')": np.array([], dtype=np.uint16),
    "BPETokenizer().decode(BPETokenizer().encode(HALF + '\\ude00'))": "a\U0001f600",
    "BPETokenizer().encode('a', allowed_special='<a>')": TypeError("allowed_special must be several names, got '<a>'"),
    "BPETokenizer().encode('a', allowed_special=None)": TypeError("allowed_special must be several names, got None"),
    "BPETokenizer().encode('a', allowed_special=['<a>'])": ValueError("must be among [], got ['<a>']"),
    "BPETokenizer().encode('!', allowed_special='all')": np.array([0]),
    "BPETokenizer(special_tokens=['<a>']).encode('a', allowed_special=[None])": ValueError("got [None]"),
    "BPETokenizer().encode_bytes(b'')": np.array([], dtype=np.uint16),
    "BPETokenizer().decode(np.array([0, 255], dtype=np.uint8))": "!\N{REPLACEMENT CHARACTER}",
    "BPETokenizer().decode([256])": ValueError("ids must lie in 0 ... 255, got 256 ... 256"),
    "BPETokenizer().decode([-1])": ValueError("ids must lie in 0 ... 255, got -1 ... -1"),
    "BPETokenizer().decode([nan])": TypeError("ids must be integers"),
    "BPETokenizer().decode([])": "",
    "BPETokenizer().decode_bytes([])": b"",
    "BPETokenizer().decode(torch.tensor([0, 1]))": '!"',
    "BPETokenizer().decode([[1, 2]])": ValueError("ids must be one-dimensional"),
    "BPETokenizer().decode([True])": TypeError("ids must be integers, got list of bool"),
    "BPETokenizer().decode('text')": TypeError("ids must be integers, got text"),
    "BPETokenizer().decode_bytes([70_000])": ValueError("ids must lie in 0 ... 255, got 70000"),
    "BPETokenizer().decode(None)": TypeError("ids must be integers"),
    # to other libraries, and back
    "BPETokenizer().to_tokenizers().get_vocab_size()": 256,
    "BPETokenizer(pattern=None).to_tokenizers().encode('').ids": [],
    "BPETokenizer(special_tokens=['<a>']).to_tokenizers().encode('<a>').ids": [28, 65, 30],
    "BPETokenizer(special_tokens=['!']).to_tokenizers()": ValueError("ids must be spelled differently, but two are"),
    "BPETokenizer([(0, 0), (256, 0), (0, 256)]).to_tokenizers()": ValueError("ids must be spelled differently"),
    "BPETokenizer(pattern=r'(?V1)\\p{L}+').to_tokenizers()": ValueError("pattern must be one for Oniguruma"),
    "written(BPETokenizer([(0, 0)]))": "ISE= 256",
    "written(BPETokenizer([(0, 0), (256, 0), (0, 256)]))": ValueError("not to b'!!!', token 258"),
    "written(BPETokenizer([(1, 2), (0, 1), (257, 2)]))": ValueError("merges must lead to each token, but not to b'!"),
    "BPETokenizer().to_ranks('no such folder/file')": FileNotFoundError("No such file"),
    "BPETokenizer.from_ranks('no such file')": FileNotFoundError("No such file"),
    "ranks()": {(64, 65): 256},
    "ranks((0, []))": ValueError("some.tiktoken, line 1, must hold token 0, got b'Ig== 1'"),
    "ranks((1, []), (0, []))": ValueError("must have 256 lines or more, got 255"),
    "ranks((0, ['Ig== 0']), (1, ['IQ== 1']))": ValueError("line 1, must hold token 0, got b'Ig== 0': its id or its"),
    "ranks((256, []))": {},
    "ranks((256, ['YWI= 257']))": ValueError("line 257, must hold token 256"),
    "ranks((256, ['YWI= 256', 'YWI= 257']))": ValueError("line 258, must hold token 257"),
    "ranks((256, ['YWJj 256']))": ValueError("got b'YWJj 256': pair of merges must hold 2 ids"),
    "ranks((256, ['YQ== 256']))": ValueError("pair of merges must hold 2 ids"),
    "ranks((256, ['é 256']))": ValueError("line 257"),
    "ranks((256, ['YWI=']))": ValueError("line 257"),
    "ranks((256, ['YWI= x']))": ValueError("line 257"),
    "ranks(special_tokens=['<a>'])": ValueError("line 1, must hold token 1"),
    "ranks(pattern='(')": ValueError("pattern must be a regular expression"),
    # the library
    "train_byte_level_bpe(ROWS, **QUIET).get_vocab_size()": 258,
    "train_byte_level_bpe(SPLITS, **QUIET)": TypeError("with the splits ['train', 'test']: choose one"),
    "train_byte_level_bpe({'text': ['a']}, **QUIET)": TypeError("got a dict with the columns ['text']: use [texts]"),
    "train_byte_level_bpe(ROWS, text_column='body', **QUIET)": ValueError("text_column must be one of ['text']"),
    "train_byte_level_bpe([' ', '\\n'], **QUIET)": ValueError("texts must hold more than whitespace"),
    "train_byte_level_bpe(iter([]), **QUIET)": ValueError("texts must hold more than whitespace"),
    "train_byte_level_bpe([HALF], **QUIET)": ValueError("texts[0] must be Unicode, but character 1 is half of one"),
    "train_byte_level_bpe(['a'], vocab_size=np.int16(300), progress=False).get_vocab_size()": 257,
    "train_byte_level_bpe('aa aa', **QUIET)": TypeError("texts must be several texts, got str: use [text]"),
    "train_byte_level_bpe(['a', b'b'], **QUIET)": TypeError("texts[1] must be a str, got bytes"),
    "train_byte_level_bpe(['aa aa'], special_tokens=['a'], vocab_size=300)": ValueError(
        "special_tokens must not be ordinary text, got one in ['a']"
    ),
    "train_byte_level_bpe(['aa aa'], special_tokens=['aa'], vocab_size=300)": ValueError("got one in ['aa']"),
    "train_byte_level_bpe(['a'], vocab_size=257, special_tokens=['<a>', '<b>'])": ValueError(
        "vocab_size must be at least 258: 256 tokens of the alphabet and 2 special tokens; got 257"
    ),
    "train_byte_level_bpe(['a'], special_tokens=['<a>', '<a>'], **QUIET)": ValueError("but '<a>' occurs 2 times"),
    "train_byte_level_bpe(['a'], special_tokens=['<a>', 3], **QUIET)": TypeError(
        "special_tokens[1] must be a str, got int"
    ),
    "train_byte_level_bpe(['a'], vocab_size=2**32)": ValueError("vocab_size must be"),  # it would need 264 GiB
    "train_byte_level_bpe(['a'], vocab_size=2**64, progress=False)": ValueError("vocab_size must be an integer"),
    "train_byte_level_bpe(['a'], special_tokens=None, **QUIET)": TypeError("special_tokens must be"),
    "check_vocab_size(np.int16(256), 0)": 256,
    "check_vocab_size(255, 0)": ValueError("vocab_size must be at least 256"),
    "check_vocab_size(257, 2)": ValueError("vocab_size must be at least 258: 256 tokens of the alphabet and 2 special"),
    "check_vocab_size(515, 2, 512)": 515,
    "check_vocab_size(513, 2, 512)": ValueError("vocab_size must be at least 514: 512 tokens of the alphabet"),
}
