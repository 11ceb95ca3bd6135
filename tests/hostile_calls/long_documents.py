"""Hostile calls of lesson 08: chunks, the stream and its states, the collator, padding and orders by length."""

from pathlib import Path
from types import SimpleNamespace

import datasets
import numpy as np

from course_lib.foundation import CharTokenizer
from course_lib.long_documents import NaiveTextDataset, PaddingCollator, StreamingTextDataset, chunk_examples

NUMBERS = np.arange(10, dtype=np.uint16)
TEXTS = ["abcde", "", "ab", "abcabcabcabc"]
DATA = datasets.Dataset.from_dict({"text": TEXTS, "row": [0, 1, 2, 3]})
SPLITS = datasets.DatasetDict({"train": DATA})
HOLES = datasets.Dataset.from_dict({"text": ["a", None]})
LISTS = datasets.Dataset.from_dict({"text": [["a", "b"]]})
EMPTY = DATA.select([])
STRANGE = datasets.Dataset.from_dict({"text": ["abxc"]})
CHARACTERS = CharTokenizer("abc" + "de")
MEMORY_MAP = np.memmap(Path(__file__), dtype=np.uint8, mode="r", shape=(9,))


def stream(dataset=DATA, tokenizer=CHARACTERS, max_length=4, **settings):
    return StreamingTextDataset(dataset, tokenizer, max_length=max_length, **settings)


def items(*arguments, **settings):
    return [(item["document"], item["chunk"], item["input_ids"].tolist()) for item in stream(*arguments, **settings)]


def counted(**settings):
    made = stream(**settings)
    return made.count_chunks(), len(made)


def resumed(**changes):
    made = stream()
    return made.load_state_dict(made.state_dict() | changes)


def after_everything():
    made, other = stream(), stream()
    list(made)
    other.load_state_dict(made.state_dict())
    return len(list(other))


def gone_on_with(documents, chunks, **settings):
    made = stream(**settings)
    made.load_state_dict(made.state_dict() | {"documents": documents, "chunks": chunks})
    return [(item["document"], item["chunk"]) for item in made]


def chunked(texts, tokenizer=CHARACTERS, **settings):
    return chunk_examples({"text": texts}, tokenizer, **({"max_length": 4} | settings))["input_ids"]


def naive(max_length=4):
    return [item["chunk"] for item in NaiveTextDataset(DATA, CHARACTERS, max_length)]


def pad(*rows, max_length=None, pad_token_id=0):
    collate = PaddingCollator(SimpleNamespace(pad_token_id=pad_token_id), max_length)
    return {name: values.tolist() for name, values in collate([{"input_ids": row} for row in rows]).items()}


def collate(*rows):
    return PaddingCollator(SimpleNamespace(pad_token_id=0))(rows)["labels"].tolist()


def lists(arrays):
    return [array.tolist() for array in arrays]


CALLS = {
    # what chunks look like
    "chunk_rows([0], 3, 2)": {"start 0": [(0, 1, "lost"), (1, 1, "inputs"), (2, 1, "lost")]},
    "chunk_rows([0, 2], 5, 3)['start 2']": [(2, 1, "plain2"), (3, 2, "inputs")],
    # examples
    "count_chunks(10**15 + 1, 2048, 48)": 1 + -(-(10**15 + 1 - 2048) // 2000),
    "count_chunks(np.int16(30_000), np.int16(20_000), np.int16(19_999))": 10_001,
    # chunks
    "count_chunks(0, 4)": 0,
    "count_chunks(1, 4, 3)": 1,
    "count_chunks(4, 4, 3)": 1,
    "count_chunks(5, 4, 3)": 2,
    "count_chunks(10**18, 1)": 10**18,
    "count_chunks(np.uint8(200), np.uint8(100), np.uint8(99))": 101,
    "count_chunks(np.int8(100), np.int8(127))": 1,
    "count_chunks(2**62, 2**62)": 1,
    "count_chunks(5, 4, 4)": ValueError("overlap must be less than max_length 4"),
    "count_chunks(0, 4, 4)": ValueError("overlap must be less"),
    "chunk_starts(0, 4)": np.array([], dtype=np.int64),
    "chunk_starts(9, 4, 1)": np.array([0, 3, 6]),
    "chunk_starts(np.uint8(250), np.uint8(200), np.uint8(100))": np.array([0, 100]),
    "chunk_starts(5, 4)": np.array([0, 4]),
    "chunk_starts(2**62, 2**61)": np.array([0, 2**61]),
    "chunk_starts(2**70, 2**69)": ValueError("num_tokens must be"),
    "chunk_starts(9, 2**62 + 1)": ValueError("max_length must be"),
    "chunk_starts(9, 4, 4)": ValueError("overlap must be less"),
    "chunk_starts(9, 4, 0.0)": TypeError("overlap must be"),
    "chunk_ids([], 4)": [],
    "lists(chunk_ids([70_000, 2**31, 7], 2, 1))": [[70_000, 2**31], [2**31, 7]],
    "lists(chunk_ids(torch.arange(5), np.int8(4)))": [[0, 1, 2, 3], [4]],
    "len(chunk_ids(MEMORY_MAP, 4))": 3,
    "chunk_ids([1, 2], 2**70)": ValueError("max_length must be"),
    "lists(chunk_ids([1, 2], 2**62))": [[1, 2]],
    "chunk_ids(NUMBERS, 2, 2)": ValueError("overlap must be less"),
    "chunked(['abcde', ''])": [[0, 1, 2, 3], [4, 5], [5]],
    "chunked([])": [],
    "chunked(['abcde'], overlap=3)": [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]],
    "chunked(['ab'], end_of_text_id=70_000)": [[0, 1, 70_000]],
    "chunked('ab')": TypeError("use map with batched=True"),
    "chunked(['ab'], text_column='body')": ValueError("features must have a column 'body', got ['text']"),
    "chunked(['ab'], None)": TypeError("tokenizer must have a method encode"),
    "chunked(['ab'], max_length=0)": ValueError("max_length must be"),
    "chunk_examples({'text': ['']}, CHARACTERS, max_length=np.int8(4))": {"input_ids": [[5]]},
    "chunked(['az'])": ValueError("text 0 cannot be encoded: character 'z'"),
    "chunk_examples(['ab'], CHARACTERS, max_length=4)": TypeError("features must be a batch"),
    # the stream
    "naive()": [0, 1, 0, 0, 0, 1, 2, 3],
    "naive(max_length=0)": ValueError("max_length must be"),
    "list(NaiveTextDataset(DATA, None, 4))": TypeError("tokenizer must have a method encode"),
    "NaiveTextDataset(DATA, CHARACTERS, 4).max_length": 4,
    "items()[:3]": [(0, 0, [0, 1, 2, 3]), (0, 1, [4, 5]), (1, 0, [5])],
    "len(items(max_length=1))": 23,
    "items(rank=3, world_size=4) == [item for item in items() if item[0] == 3]": True,
    "items(rank=5, world_size=6)": [],
    "counted()": (8, 8),
    "counted(max_length=np.int8(3), overlap=np.int8(2))": (17, 17),
    "counted(rank=5, world_size=6)": (8, 0),
    "after_everything()": 8,
    "len(stream())": TypeError("call count_chunks() first"),
    "stream(TEXTS)": TypeError("dataset must be a datasets.Dataset, got list"),
    "stream(None)": TypeError("dataset must be a datasets.Dataset, got NoneType"),
    "stream(SPLITS)": TypeError("dataset must be one split, got a DatasetDict of ['train']"),
    "stream(DATA.to_iterable_dataset())": TypeError("got IterableDataset: it shares itself out and resumes already"),
    "items(end_of_text_id=9)[-1]": (3, 3, [9]),
    "stream(end_of_text_id=-1)": ValueError("end_of_text_id must be"),
    "stream(EMPTY)": ValueError("dataset must hold at least one document"),
    "stream(HOLES)": TypeError("row 1 is None"),
    "stream(LISTS)": TypeError("must hold texts"),
    "stream(text_column='row')": TypeError("must hold texts"),
    "stream(text_column='body')": ValueError("text_column must be one of 'text', 'row', got 'body'"),
    "stream(tokenizer=None)": TypeError("tokenizer must have a method encode"),
    "stream(tokenizer=CharTokenizer)": TypeError("tokenizer must have a method encode(text), got a class"),
    "StreamingTextDataset(TEXTS, CHARACTERS, max_length=4)": TypeError("dataset must be a datasets.Dataset"),
    "items(STRANGE)": ValueError("text 0 cannot be encoded: character 'x' at position 2"),
    "stream(overlap=4)": ValueError("overlap must be less than max_length 4"),
    "stream(rank=1)": ValueError("rank must be"),
    "stream().set_epoch(-1)": ValueError("epoch must be"),
    "stream().set_epoch(1.0)": TypeError("epoch must be"),
    "stream().load_state_dict(None)": TypeError("state must be a dict"),
    "stream().load_state_dict({})": ValueError("state must have the keys"),
    "resumed()": None,
    "resumed(epoch=-1)": ValueError("epoch must be"),
    "resumed(epoch=1.0)": TypeError("epoch must be"),
    "resumed(documents=5)": ValueError("documents must be"),
    "resumed(epoch=2**62 + 1)": ValueError("epoch must be"),
    "len(gone_on_with(4, 0))": 8,  # of the next epoch
    "gone_on_with(3, 3)": [(3, 3)],
    "gone_on_with(2, 1)": [(3, 0), (3, 1), (3, 2), (3, 3)],
    "gone_on_with(1, 10**6)": ValueError("chunks of the state must be at most 1, as row 1 has, got 1000000"),
    "gone_on_with(4, 1)": ValueError("chunks must be"),
    "gone_on_with(2, 0, rank=1, world_size=3)": ValueError("documents must be"),
    "resumed(chunks='0')": TypeError("chunks must be"),
    "resumed(max_length=5)": ValueError("state was saved with max_length=5"),
    "resumed(base_seed=0)": ValueError("state was saved with base_seed=0"),
    "resumed(fingerprint='0')": ValueError("state was saved with fingerprint='0'"),
    "resumed(more=1)": ValueError("state must have the keys"),
    # padding
    "pad([5])": {"input_ids": [[5]], "attention_mask": [[1]], "labels": [[5]]},
    "pad([0, 0], [0])['labels']": [[0, 0], [0, -100]],
    "pad(np.array([250], dtype=np.uint8), [70_000, 3])['input_ids']": [[250, 0], [70_000, 3]],
    "pad(torch.tensor([3]), max_length=np.int8(3))['input_ids']": [[3, 0, 0]],
    "pad([5], pad_token_id=np.uint8(200), max_length=2)['input_ids']": [[5, 200]],
    "pad()": ValueError("rows must hold at least one row"),
    "pad([1], [])": ValueError("rows[1] must hold at least one id, got none"),
    "pad([1, 2, 3], max_length=2)": ValueError("no longer than max_length 2, got 3 in row 0"),
    "pad([1.5])": TypeError("input_ids must be"),
    "pad('ab')": TypeError("input_ids must be"),
    "pad([[1]])": ValueError("input_ids must be"),
    "pad([1], pad_token_id=None)": ValueError("tokenizer must have a pad token"),
    "pad([1], pad_token_id=-1)": ValueError("pad_token_id must be"),
    "pad([1], pad_token_id=2**63)": ValueError("pad_token_id must be"),
    "collate({'input_ids': [5, 6], 'labels': [-100, 6]}, {'input_ids': [7], 'labels': [7]})": [[-100, 6], [7, -100]],
    "collate({'input_ids': [5], 'labels': [5]}, {'input_ids': [7]})": ValueError("labels must be in all rows or in"),
    "collate(5)": TypeError("rows[0] must have input_ids, got a int"),
    "PaddingCollator(SimpleNamespace(pad_token_id=0))(None)": TypeError("rows must be several rows, got"),
    "PaddingCollator(None)": ValueError("tokenizer must have a pad token"),
    "PaddingCollator(CHARACTERS)": ValueError("tokenizer must have a pad token"),
    "padding_share([3], [[0]])": 0.0,
    "padding_share(np.array([100, 28], dtype=np.int8), [[0, 1]])": 0.36,
    "padding_share([1, 2, 3, 4], [[[0, 1], [2, 3]]])": ValueError("batches must be one-dimensional, got shape (2, 2)"),
    "padding_share([1, 2, 3, 4], [0, 1])": ValueError("batches must be one-dimensional, got shape ()"),
    "padding_share([2**62] * 4, [[0, 1, 2, 3]])": 0.0,
    "padding_share([3, 4], iter([[0, 1]]))": 0.125,
    "padding_share([3, 4], [[0, 2]])": ValueError("batches must lie in 0 ... 1, got 0 ... 2"),
    "padding_share([], [[0]])": ValueError("lengths must hold at least one"),
    "padding_share([0], [[0]])": ValueError("lengths must be at least 1"),
    "padding_share([3], [])": ValueError("batches must hold at least one"),
    "padding_share([3], [[0.5]])": TypeError("batches must be"),
    "padding_share([3], [[]])": ValueError("batches must"),
    "padding_share([3], [[1]])": ValueError("batches must"),
    "padding_share([3, 4], [[-1]])": ValueError("batches must"),
    "padding_share([1.5], [[0]])": TypeError("lengths must be"),
    "lists(batches_by_length([7], 3, pool_size=3, seed=0))": [[0]],
    "sorted(map(len, batches_by_length([7] * 5, 2, pool_size=4, seed=0)))": [1, 2, 2],
    "batches_by_length([], 2, pool_size=2, seed=0)": ValueError("lengths must hold at least one"),
    "batches_by_length([3], 2, pool_size=1, seed=0)": ValueError("pool_size must be"),
}
