"""Hostile calls of lesson 12: files into shards, ranks, and sums on paper."""

import atexit
import itertools
import tempfile
from pathlib import Path

import torch

from course_lib.foundation import CharTokenizer, ConvolutionModel, InThisProcess
from course_lib.many_machines import tokenize_files, train_on_shards, train_rank
from course_lib.many_machines.__main__ import main

ROOM = tempfile.TemporaryDirectory(prefix="course-hostile-")
atexit.register(ROOM.cleanup)
NUMBERS = itertools.count()
CHARACTERS = CharTokenizer("abc")
ROWS = torch.zeros(4, 3, dtype=torch.int64)


def new(data=b'{"text": "ab"}\n{"text": ""}\n', ending=".jsonl"):
    path = Path(ROOM.name) / f"{next(NUMBERS)}{ending}"
    path.write_bytes(data)
    return path


def shards(inputs=None, tokenizer=CHARACTERS, **options):
    options = {"make_executor": InThisProcess, "progress": False, **options}
    out = new(ending="").with_suffix(".d")
    manifest = tokenize_files([new()] if inputs is None else inputs, tokenizer, out, **options)
    return manifest.num_tokens("train"), manifest.num_tokens("val")


CALLS = {
    # how ranks wait
    "wait_rows([[1, 3], [2, 1]])['rank 0']": [(0, 1, "inputs"), (1, 2, "lost"), (3, 2, "inputs2"), (5, 0, "lost")],
    "wait_rows([1, 2])": ValueError("work must have shape (steps, world_size), none below 0, got shape (2,)"),
    "wait_rows([[1, -1]])": ValueError("none below 0"),
    "wait_rows([[nan, 1]])": ValueError("none below 0"),
    # examples
    "attention_pairs([1])": 1,
    "attention_pairs([4])": 4 + 3 + 2 + 1,
    "attention_pairs([1, 2, 3])": 1 + (2 + 1) + (3 + 2 + 1),
    "attention_pairs([5, 5])": 2 * (5 + 4 + 3 + 2 + 1),
    "stored_bytes(1, 65_536)": 2,
    "stored_bytes(1, 65_537)": 4,
    "round(encoding_hours(15 * 10**12, 10**6, 1000), 9)": round(15_000 / 3600, 9),
    # tokenizing
    "shards()": (4, 0),
    "shards(val_every=1)": (0, 4),
    "shards(shard_size=1, val_every=2)": (3, 1),
    "shards([new(), new()], val_every=4)": (7, 1),
    "shards([])": ValueError("inputs must hold at least one file"),
    "shards([new(b'')])": ValueError("documents must hold at least one"),
    'shards([new(b\'{"text": "xyz"}\')])': ValueError("character 'x' at position 0 is not in the alphabet"),
    "shards(tokenizer=None)": TypeError("tokenizer must have a method encode(text)"),
    "shards(make_executor=3)": TypeError("make_executor must be"),
    "shards(shard_size=0)": ValueError("shard_size must be"),
    "shards(max_tokens=2)": ValueError("documents must hold at least one, of no more than max_tokens"),
    "shards(max_tokens=3)": (3, 0),
    "shards(text_column='body')": ValueError("line 1: there is no 'body'"),
    "shards(task_bytes=np.int8(5))": (4, 0),
    "tokenize_files('a.jsonl', CHARACTERS, 'o')": TypeError("inputs must be several paths"),
    "shards([new(b'ab', '.py')], suffixes=['.py'])": (3, 0),
    "main([])": SystemExit("2"),
    "main(['tokenize', 'a.jsonl', '--tokenizer', 'nowhere.json', '--out', 'o'])": 1,
    "main(['train', 'nowhere', '--tokenizer', 'nowhere.json'])": 1,
    # feeding
    "[len(list(RandomNumbers(s))) for s in (0, 7)]": [3, 3],
    "len([NoisySamples(3)[epoch, 5] for epoch in (0, 1)])": 2,
    "NoisySamples(0.5)": TypeError("seed must be"),
    "generator_of(1, 2, 3).integers(9) == generator_of(1, 2, 3).integers(9)": True,
    "generator_of(1, -2, 3)": ValueError("epoch must be"),
    "generator_of(1, 2**32, 3)": ValueError("epoch must be"),
    "generator_of(1, 2, 3.0)": TypeError("sample must be"),
    "encoding_hours(1e308, 1e-308)": ValueError("must be finite"),
    "feeding_bandwidth(1e308, 5, 10**6)": ValueError("must be finite"),
    "hours_between_failures(4, 10)": 2.5,
    "rows_of_documents([], CHARACTERS, 4)": ValueError("texts must hold at least one document"),
    "rows_of_documents('ab', CHARACTERS, 4)": TypeError("texts must be several texts"),
    "rows_of_documents(['ab'], CHARACTERS, 3)[1]": [[1, 3, -100]],
    "attention_pairs([])": 0,
    "attention_pairs([0])": ValueError("lengths must be at least 1"),
    "attention_pairs([-3])": ValueError("lengths must be at least 1"),
    "attention_pairs(np.array([300], dtype=np.int16))": 45150,
    "attention_pairs([2**40])": 2**39 * (2**40 + 1),
    # on paper
    "stored_bytes(0, 10)": 0,
    "stored_bytes(np.int16(30_000), 70_000)": 120_000,
    "encoding_hours(3600, 1)": 1.0,
    "feeding_bandwidth(10, 50_000, 3)": 60.0,
    "hours_between_failures(1, 10)": 10.0,
    "hours_between_failures(2, 0)": ValueError("hours_between_failures_of_one must be"),
}
