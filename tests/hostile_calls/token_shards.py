"""Hostile calls of lesson 11: what is written, opened and read; folders that are not what they should be."""

import atexit
import itertools
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from course_lib.foundation import BlockOrder, CharTokenizer, FileOrder, token_ledger
from course_lib.sliding_windows import BatchOrder, SlidingWindowDataset, gather_windows, make_dataloader
from course_lib.token_shards import ShardedStream, write_shards

ROOM = tempfile.TemporaryDirectory(prefix="course-hostile-")
atexit.register(ROOM.cleanup)
NUMBERS = itertools.count()
CHARACTERS = CharTokenizer("abcde")
TEXTS = ["abcde", "", "ab", "edcba" * 3]
# train: 0 1 2 3 4 5 | 5 0 1 5 (documents 1, 2, 3) in shards of 6; val: 4 3 2 1 0 4 | 3 2 1 0 4 3 | 2 1 0 5


def new():
    return Path(ROOM.name) / str(next(NUMBERS))


def wrote(documents=TEXTS, tokenizer=CHARACTERS, out_dir=None, **settings):
    settings = {"shard_size": 6, "val_every": 4, "progress": False} | settings
    return write_shards(documents, tokenizer, new() if out_dir is None else out_dir, **settings)


FOLDER, EMPTY_VAL, LARGE, BARE = new(), new(), new(), new()
wrote(out_dir=FOLDER)
wrote(out_dir=EMPTY_VAL, val_every=10**9)
wrote(["a" * 3], CHARACTERS, LARGE, end_of_text_id=70_000)
BARE.mkdir()
A_FILE = new()
A_FILE.write_text("x")


def counts(manifest):
    return [[shard.tokens for shard in manifest.shards[split]] for split in ("train", "val")]


def stream(split="train", **settings):
    return ShardedStream(FOLDER, split, **settings)


def dataset(T=2, S=1, **settings):
    return SlidingWindowDataset(stream(**settings), T, S)


def state(**changes):
    loader = make_dataloader(dataset(), 2, base_seed=0)
    loader.load_state_dict(loader.state_dict() | changes)
    return loader.state_dict()["windows_delivered"]


def loaded(loader):
    return [inputs[:, 0].tolist() for inputs, _ in loader]


class NoSize:
    end_of_text_id = 0

    def encode(self, text):
        return [1]


class Negative(NoSize):
    vocab_size = 5

    def encode(self, text):
        return [-1]


CALLS = {
    # writing
    "counts(wrote())": [[6, 4], [6, 6, 4]],
    "counts(wrote(shard_size=np.int8(100)))": [[10], [16]],
    "counts(wrote(val_every=1))": [[], [6, 6, 6, 6, 2]],
    "counts(wrote(max_tokens=6))": [[6], []],
    "counts(wrote([[], TEXTS]))": [[6, 4], [6, 6, 4]],
    "counts(wrote([{'body': TEXTS}], text_column='body'))": [[6, 4], [6, 6, 4]],
    "counts(wrote(TEXTS[:1], end_of_text_id=70_000))": [[6], []],
    "counts(wrote(out_dir=str(new())))": [[6, 4], [6, 6, 4]],
    "counts(wrote([], out_dir=FOLDER))": ValueError("documents differ from the 4 that"),
    "counts(wrote(out_dir=FOLDER))": [[6, 4], [6, 6, 4]],
    "write_shards(TEXTS, CHARACTERS)": TypeError("missing 1 required"),
    "write_shards(TEXTS, CHARACTERS, new(), 6)": TypeError("positional arguments"),
    "wrote('abc')": TypeError("texts must be several texts, got str"),
    "wrote([1])": TypeError("texts[0] must be a str"),
    "wrote(None)": TypeError("texts must be several texts"),
    "wrote({'text': TEXTS})": TypeError("texts must be several texts, got a dict"),
    "wrote(['a\\ud800'])": ValueError("character 1 is half of one"),
    "wrote(['abx'])": ValueError("'x' at position 2 is not in the alphabet"),
    "wrote([])": ValueError("documents must hold at least one"),
    "wrote(max_tokens=5)": ValueError("documents must hold at least one, of no more than max_tokens ids"),
    "wrote(shard_size=0)": ValueError("shard_size must be"),
    "wrote(shard_size=1e8)": TypeError("shard_size must be"),
    "wrote(shard_size=True)": TypeError("shard_size must be"),
    "wrote(shard_size=None)": TypeError("shard_size must be"),
    "wrote(val_every=0)": ValueError("val_every must be"),
    "wrote(val_every=nan)": TypeError("val_every must be"),
    "wrote(max_tokens=0)": ValueError("max_tokens must be"),
    "wrote(max_tokens='9')": TypeError("max_tokens must be"),
    "wrote(end_of_text_id=-1)": ValueError("end_of_text_id must be"),
    "wrote(end_of_text_id=2**32)": ValueError("end_of_text_id must be"),
    "wrote([{'text': 'a'}], text_column='body')": ValueError("text_column must be one of ['text']"),
    "wrote(progress='no')": TypeError("progress must be True or False"),
    "wrote(tokenizer=None)": TypeError("tokenizer must have a method encode(text)"),
    "wrote(tokenizer=CharTokenizer)": TypeError("tokenizer must have a method encode(text), got a class"),
    "wrote(tokenizer=NoSize())": TypeError("tokenizer must have a vocab_size"),
    "wrote(tokenizer=Negative())": ValueError("ids must not be negative"),
    "wrote(out_dir=A_FILE)": FileExistsError("is not a folder"),
    "wrote(out_dir=5)": TypeError("out_dir must be a path"),
    "wrote(out_dir=FOLDER, shard_size=7)": ValueError("shard_size 6 instead of 7; choose another folder"),
    "wrote(tokenizer=CharTokenizer('abcdef'), out_dir=FOLDER)": ValueError("written with tokenizer"),
    # reading
    "load_shard(FOLDER, 'train', 0)": np.array([0, 1, 2, 3, 4, 5], dtype=np.uint16),
    "load_shard(str(FOLDER), 'val', np.uint8(2))": np.array([2, 1, 0, 5], dtype=np.uint16),
    "load_shard(LARGE, 'train', 0)": np.array([0, 0, 0, 70_000], dtype=np.uint32),
    "load_shard(FOLDER, 'train', 2)": IndexError("shard_index must be below 2, got 2"),
    "load_shard(BARE, 'train', 0)": FileNotFoundError("no shards here"),
    "load_shard('~nobody', 'train', 0)": FileNotFoundError("no shards here"),
    "counts(verify_shards(FOLDER, progress=False))": [[6, 4], [6, 6, 4]],
    "verify_shards(BARE)": FileNotFoundError("no shards here"),
    "verify_shards(A_FILE)": FileNotFoundError("manifest.json"),
    "len(ShardedStream(FOLDER, 'train'))": 10,
    "ShardedStream(EMPTY_VAL, 'val')": ValueError("split 'val' of"),
    "stream()[-1]": 5,
    "stream()[5:7]": np.array([5, 5], dtype=np.uint16),
    "stream()[100:]": np.array([], dtype=np.uint16),
    "stream()[[]]": np.array([], dtype=np.uint16),
    "stream()[[[0, 9], [-10, 5]]]": np.array([[0, 5], [0, 5]], dtype=np.uint16),
    "stream()[10]": IndexError("within the 10 ids"),
    "stream()[-11]": IndexError("within the 10 ids"),
    "stream()[True]": TypeError("index must be integers"),
    "stream()['0']": TypeError("index must be integers"),
    "stream()[None]": TypeError("index must be integers"),
    "stream()[np.array([True] * 10)]": TypeError("index must be integers"),
    "np.asarray(stream())": np.array([0, 1, 2, 3, 4, 5, 5, 0, 1, 5], dtype=np.uint16),
    "np.array(stream(), copy=False)": ValueError("copy must not be False"),
    "stream()[()]": TypeError("index must be an integer, a slice or an array of integers, got ()"),
    "stream()[0, 1]": TypeError("index must be an integer, a slice or an array of integers, got (0, 1)"),
    "stream().document_starts": np.array([0, 6, 7]),
    "stream().document_starts_in(1, 7)": np.array([0, 5, 6]),
    "stream().document_starts_in(9, 1)": np.array([0]),
    "stream().document_starts_in(9, 2)": ValueError("length must be an integer of at least 1 and at most 1"),
    "stream().document_starts_in(-1, 2)": ValueError("start must be"),
    "stream().document_starts_in(0.0, 2)": TypeError("start must be"),
    "gather_windows(stream(), [4, 7], 2)[1]": np.array([[5, 5], [1, 5]]),
    "gather_windows(stream(), np.uint8(7), 2)[0]": np.array([0, 1]),
    "gather_windows(stream(), [], 2)[0]": np.zeros((0, 2)),
    "gather_windows(stream(), [8], 2)": ValueError("starts must lie in 0 ... 7"),
    "gather_windows(stream(), [-1], 2)": ValueError("starts must lie in 0 ... 7"),
    "gather_windows(stream(), [0], 10)": ValueError("starts must lie in nothing at all"),
    "gather_windows(stream(cross=False), [3, 7], 2)[0]": np.array([[3, 4], [0, 1]]),
    "gather_windows(stream(cross=False), [4], 2)": ValueError("the one at 4 crosses the border at 6"),
    "stream().cut(np.array([-1]), 3)": ValueError("starts must lie in 0 ... 9, got -1 ... -1"),
    "stream().cut(np.array([8]), 3)": (np.array([[1, 5, 0]], dtype=np.uint16), np.array([2])),
    "dataset(2)[8]": IndexError("within the 8 windows"),
    "len(dataset(2, 10**30))": 1,
    "dataset(2, 10**30)[0][1]": np.array([1, 2]),
    "len(dataset(2, 10**30, cross=False))": 2,
    "dataset(3, 2, cross=False).starts": np.array([0, 2, 6]),
    "dataset(10)": ValueError("ids must hold at least 11 tokens"),
    "dataset(6, cross=False)": ValueError("a piece of at least 7 tokens"),
    "sum(token_ledger(dataset(2, 2, cross=False).starts, 10, 2).dropped.values())": 2,
    # the loader
    "list(BatchOrder(5, 2, base_seed=0, order=FileOrder))": [[0, 1], [2, 3], [4]],
    "list(BatchOrder(5, 2, base_seed=0, order=FileOrder, rank=1, world_size=2))": [[2, 3]],
    "BatchOrder(5, 2, base_seed=0, rank=2, world_size=2)": ValueError("rank must be"),
    "BatchOrder(2, 1, base_seed=0, world_size=3)": ValueError("needs at least 3 windows"),
    "loaded(make_dataloader(dataset(2, 2), 3, base_seed=0, order=FileOrder))": [[0, 2, 4], [5]],
    "loaded(make_dataloader(dataset(2, 2), 3, base_seed=0, order=FileOrder, drop_last=True))": [[0, 2, 4]],
    "sorted(sum(loaded(make_dataloader(dataset(), 3, base_seed=0, order=partial(BlockOrder, block_size=2))), []))": [
        0,
        0,
        1,
        2,
        3,
        4,
        5,
        5,
    ],
    "make_dataloader(dataset(), 3, base_seed=0, shuffle=False, order=FileOrder)": ValueError(
        "shuffle must be left out"
    ),
    "make_dataloader(dataset(), 9, base_seed=0, drop_last=True)": ValueError("needs at least 9 windows"),
    "state()": 0,
    "state(windows_delivered=np.int64(7))": 7,
    "state(windows_delivered=8)": 0,  # of the next epoch
    "state(windows_delivered=9)": ValueError("windows_delivered must be"),
    "state(windows_delivered=2.0)": TypeError("windows_delivered must be"),
    "state(epoch=-1)": ValueError("epoch must be"),
    "state(context_length=3)": ValueError("saved with context_length=3, but this loader has context_length=2"),
    "state(order='FileOrder')": ValueError("saved with order='FileOrder'"),
    "state(documents='0' * 16)": ValueError("saved with documents="),
    "state(more=1)": ValueError("state must have the keys"),
    "make_dataloader(dataset(), 2, base_seed=0).load_state_dict(None)": TypeError("state must be a dict"),
}
TAKES_NO_DATA = {"encode_in_tasks": "`write_shards` calls it, with what it has checked"}
