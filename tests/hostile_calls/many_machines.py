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
UNSCORED = torch.full((4, 3), -100)


def new(data=b'{"text": "ab"}\n{"text": ""}\n', ending=".jsonl"):
    path = Path(ROOM.name) / f"{next(NUMBERS)}{ending}"
    path.write_bytes(data)
    return path


def shards(inputs=None, tokenizer=CHARACTERS, **options):
    options = {"make_executor": InThisProcess, "progress": False, **options}
    out = new(ending="").with_suffix(".d")
    manifest = tokenize_files([new()] if inputs is None else inputs, tokenizer, out, **options)
    return manifest.num_tokens("train"), manifest.num_tokens("val")


def train(inputs=ROWS, targets=ROWS, vocab_size=4, batch_size=2, num_updates=1, **options):
    report = train_rank(inputs, targets, vocab_size, batch_size=batch_size, num_updates=num_updates, **options)
    return len(report.losses)


def on_shards(out_dir=None, vocab_size=4, last_step=3, context_length=2, batch_size=2, **options):
    if out_dir is None:
        out_dir = new(ending="").with_suffix(".shards")
        tokenize_files(
            [new()] * 1 + [new(b'{"text": "abcabcabcabc"}')], CHARACTERS, out_dir, make_executor=InThisProcess
        )
    how = {"context_length": context_length, "batch_size": batch_size, "progress": False, **options}
    return len(train_on_shards(out_dir, vocab_size, last_step=last_step, **how).losses)


def trained(**changed):
    return train_rank(ROWS, ROWS, 4, batch_size=2, num_updates=1).state | changed


def forged(**memory):
    """A state in which Adam's memory of the first weight is changed."""
    state = trained()
    state["optimizer"]["state"][0] |= memory
    return state


def backward(function, scored, loss=1.0):
    model = ConvolutionModel(3, hidden_size=2)
    sum_of_all = model(torch.zeros(1, 2, dtype=torch.int64)).sum() * 0 + loss
    return function(model, sum_of_all, scored)


OTHER_MODEL = ValueError("state must hold finite weights of this model")
CALLS = {
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
    "main(['train', 'nowhere.jsonl'])": 1,
    # feeding
    "rank_and_size()": (0, 1),
    "rank_and_size(2)": TypeError("takes 0 positional arguments"),
    "worker_and_count(rank_and_size())": (0, 1),
    "worker_and_count((3, 4))": (3, 4),
    "worker_and_count((4, 4))": ValueError("rank must be"),
    "worker_and_count(2)": TypeError("ranks must be a pair of integers, got 2"),
    "worker_and_count(None)": TypeError("ranks must be a pair of integers, got None"),
    "[len(list(RandomNumbers(s))) for s in (0, 7)]": [3, 3],
    "len([NoisySamples(3)[epoch, 5] for epoch in (0, 1)])": 2,
    "NoisySamples(0.5)": TypeError("seed must be"),
    "generator_of(1, 2, 3).integers(9) == generator_of(1, 2, 3).integers(9)": True,
    "generator_of(1, -2, 3)": ValueError("epoch must be"),
    "generator_of(1, 2**32, 3)": ValueError("epoch must be"),
    "generator_of(1, 2, 3.0)": TypeError("sample must be"),
    "on_shards()": 3,
    "on_shards(batch_size=1, last_step=2)": 2,
    "on_shards(out_dir='nowhere')": FileNotFoundError("no shards here"),
    "on_shards(vocab_size=2)": IndexError("index out of range"),
    "on_shards(last_step=0)": ValueError("last_step must be"),
    "on_shards(context_length=10**6)": ValueError("ids must hold at least"),
    "on_shards(batch_size=10**6)": ValueError("batch_size 1000000"),
    "on_shards(save_every=0)": ValueError("save_every must be"),
    "take_steps([True])": TypeError("steps_of_ranks must be"),
    "take_steps([-1])": ValueError("steps_of_ranks must be"),
    "train(targets=ROWS[:2])": ValueError("inputs and targets must have one shape"),
    "train(inputs=ROWS + 4)": ValueError("inputs must lie in 0 ... 3"),
    "train(inputs=ROWS.float())": TypeError("inputs must be integers"),
    "train(targets=ROWS - 1)": ValueError("targets must lie in 0 ... 3"),
    "encoding_hours(1e308, 1e-308)": ValueError("must be finite"),
    "feeding_bandwidth(1e308, 5, 10**6)": ValueError("must be finite"),
    "hours_between_failures(4, 10)": 2.5,
    "rows_of_documents([], CHARACTERS, 4)": ValueError("texts must hold at least one document"),
    "rows_of_documents('ab', CHARACTERS, 4)": TypeError("texts must be several texts"),
    "rows_of_documents(['ab'], CHARACTERS, 3)[1]": [[1, 3, -100]],
    "sum_over_ranks(torch.ones(2))": [1, 1],
    "sum_over_ranks(torch.ones(0))": [],
    "backward(backward_by_targets, 4)": 0.25,
    "backward(backward_by_targets, 0)": ValueError("no rank has a target to score"),
    "backward(backward_by_ranks, 4)": 0.25,
    "train()": 1,
    "train(num_updates=5)": 5,
    "train(batch_size=5)": ValueError("batch_size 5"),
    "train(targets=UNSCORED)": ValueError("no rank has a target to score"),
    "train_rank(ROWS, ROWS, 4, batch_size=4, num_updates=1).rows.__len__()": 4,
    "train(state={})": ValueError("state must have the keys"),
    "train(state=trained(), batch_size=4)": 1,
    "train(state=trained(), base_seed=1)": ValueError("saved with base_seed=0, but this run has base_seed=1"),
    "train(state=trained(), inputs=ROWS ^ 1)": ValueError("saved with rows="),
    "train(state=trained(), vocab_size=5)": ValueError("saved with vocab_size=4, but this run has vocab_size=5"),
    "train(state=trained(model={}))": OTHER_MODEL,
    "train(state=trained(model=None))": OTHER_MODEL,
    "train(state=trained(model=trained()['model'] | {'more': torch.ones(1)}))": OTHER_MODEL,
    "train(state=trained(optimizer={}))": OTHER_MODEL,
    "train(state=trained(optimizer=trained()['optimizer'] | {'state': {}}))": OTHER_MODEL,
    "train(state=forged(exp_avg=torch.zeros(2)))": OTHER_MODEL,
    "train(state=forged(exp_avg=None))": OTHER_MODEL,
    "train(state=forged(exp_avg=forged()['model']['embedding.weight'] * nan))": OTHER_MODEL,
    "train(state=forged(exp_avg_sq=-forged()['model']['embedding.weight'].abs()))": OTHER_MODEL,
    "train(state=forged(step=torch.tensor(0.0)))": OTHER_MODEL,
    "train(state=forged(step=3))": OTHER_MODEL,
    "train(state=trained(epoch=-1))": ValueError("epoch must be"),
    "train(state=trained(epoch=0.0))": TypeError("epoch must be"),
    "train(state=trained(rows_delivered=10**6))": ValueError("rows_delivered must be"),
    "len(fingerprint())": 16,
    "fingerprint(ROWS) == fingerprint(ROWS.clone())": True,
    "fingerprint(ROWS) == fingerprint(ROWS.int())": False,
    "fingerprint(ROWS) == fingerprint(ROWS[:, :-1], ROWS[:, -1:])": False,
    "fingerprint(ROWS.T) == fingerprint(ROWS.T.contiguous())": True,
    "take_steps([0])": 0,
    "take_steps([1, 2])": ValueError("one number for each of 1 ranks, got 2"),
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

TAKES_NO_DATA = {"RankReport": "what train_rank returns"}
