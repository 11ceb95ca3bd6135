"""Hostile calls of lesson 09: assignments, packs, policies, streams and their states."""

import numpy as np
import torch

from course_lib.document_packing import pack_documents, pack_examples, pack_stream
from course_lib.foundation import CharTokenizer

CHARACTERS = CharTokenizer("abcde")
SMALL = np.array([100, 100, 50], dtype=np.int8)
MANY = np.full(300, 200, dtype=np.uint8)
DOCUMENTS = [[1, 2, 3], [], [4, 5, 6, 7, 8], [9]]
MASKED = np.ma.array([1, 2], mask=[True, False])


def ids(packs):
    return [pack.input_ids.tolist() for pack in packs]


def labels_of(packs):
    return [None if pack.labels is None else pack.labels.tolist() for pack in packs]


def stream(documents=DOCUMENTS, max_length=4, buffer_size=2):
    return pack_stream(documents, max_length, buffer_size=buffer_size)


def resumed(**changes):
    made = stream()
    next(iter(made))
    made.load_state_dict(made.state_dict() | changes)
    return ids(made)


def packed(max_length=4, tokenizer=None, columns=None, end_of_text_id=None, **features):
    settings = {"max_length": max_length, "columns": columns, "end_of_text_id": end_of_text_id}
    return pack_examples(features, tokenizer, **settings)


CALLS = {
    # what packs look like, and what is in them
    "pack_rows([[1, 0], [2]], [1, 2, 3], 4)": {
        "row 0": [(0, 2, "inputs", 1), (2, 1, "inputs2", 0), (3, 1, "lost")],
        "row 1": [(0, 3, "inputs", 2), (3, 1, "lost")],
    },
    "pack_rows([[0, 1]], [3, 3], 4)": ValueError("packs must hold at most max_length 4 tokens, got one of 6"),
    "survey_packs([], 4)": ValueError("packs must be at least one"),
    "survey_packs([{'input_ids': [1, 2]}], 4)": ValueError("packs[0] has no `document_starts`: give `eos_token_id`"),
    "survey_packs([{'input_ids': [1, 2, 3], 'document_starts': [0]}], 2)": ValueError("1 to max_length 2 ids, got 3"),
    "survey_packs([{'input_ids': [1, 2], 'document_starts': [1]}], 2)": ValueError("must rise from 0 to less than 2"),
    "survey_packs([{'input_ids': [1, 2], 'document_starts': [0, 2]}], 2)": ValueError("must rise from 0"),
    "survey_packs([{'input_ids': [1], 'document_starts': [0], 'documents': [0, 1]}], 2)": ValueError("its 1 pieces"),
    "survey_packs([{'ids': [1]}], 2)": TypeError("packs[0] must have `input_ids`, got dict"),
    # examples
    "[len(assign_packs([40] * 30, n)) for n in (100, 128, 129)]": [15, 10, 10],
    "assign_packs([3, 1, 2], 2**31 - 1, strategy='greedy')": [[0, 1, 2]],
    "assign_packs([3, 1, 2], 2**31 - 1, strategy='first_fit')": [[0, 2, 1]],
    "assign_packs([3, 1, 2], 2**31 - 1)": [[0, 2, 1]],
    "assign_packs([2, 3, 2, 3, 2], 5, strategy='first_fit')": [[1, 0], [3, 2], [4]],
    "assign_packs([2, 3, 2, 3, 2], 5)": [[1, 0], [3, 2], [4]],
    "str(pack_documents([[1, 2], [70_000]], 4)[0].input_ids.dtype)": "uint32",
    "str(pack_documents([[1, 2], [3]], 4)[0].input_ids.dtype)": "uint16",
    "pack_examples({'x': ['abc', '', 'de'], 'row': [1, 2, 3]}, CHARACTERS, max_length=4, text_column='x')": {
        "input_ids": [[0, 1, 2, 5], [3, 4, 5, 5]],
        "document_starts": [[0], [0, 3]],
    },
    # which documents share a pack
    "assign_packs([], 4)": [],
    "assign_packs(np.array([], dtype=np.int64), 4, strategy='first_fit')": [],
    "assign_packs([4], 4)": [[0]],
    "assign_packs([1, 1, 1], 1, strategy='greedy')": [[0], [1], [2]],
    "assign_packs(SMALL, np.int8(127))": [[0], [1], [2]],
    "assign_packs(SMALL, 250)": [[0, 1, 2]],
    "len(assign_packs(MANY, np.uint8(255)))": 300,
    "assign_packs(torch.tensor([2, 2]), torch.tensor(4))": [[0, 1]],
    "assign_packs([3, 2], 2**31 - 1)": [[0, 1]],
    "assign_packs([2**29 + n for n in range(6)], 2**31 - 1)": [[5, 4, 3], [2, 1, 0]],
    "len(assign_packs(range(1, 3_000), 2**31 - 1))": 1,
    "assign_packs([3, 2], 2**31)": ValueError("max_length must be"),
    "assign_packs([3, 2], 0)": ValueError("max_length must be an integer of at least 1"),
    "assign_packs([3, 2], 4.0)": TypeError("max_length must be"),
    "assign_packs([3, 2], True)": TypeError("max_length must be"),
    "assign_packs([3, 2], None)": TypeError("max_length must be"),
    "assign_packs([3, 0], 4)": ValueError("lengths must lie in 1 ... max_length 4, got 0 ... 3"),
    "assign_packs([3, -1], 4)": ValueError("got -1 ... 3: split what is longer, drop what is empty"),
    "assign_packs([3, 5], 4)": ValueError("got 3 ... 5"),
    "assign_packs([3, 2.5], 4)": TypeError("lengths must be integers"),
    "assign_packs([3, nan], 4)": TypeError("lengths must be integers"),
    "assign_packs('32', 4)": TypeError("lengths must be integers, got text"),
    "assign_packs([[3], [2]], 4)": ValueError("lengths must be one-dimensional"),
    "assign_packs([True, 2], 4)": TypeError("lengths must be integers"),
    "assign_packs(3, 4)": ValueError("lengths must be one-dimensional"),
    "assign_packs(MASKED, 4)": TypeError("masked ones"),
    "assign_packs([3], 4, strategy='bfd')": ValueError("'greedy', 'first_fit', 'best_fit', got 'bfd'"),
    "assign_packs([3], 4, strategy=None)": TypeError("strategy must be one of"),
    "assign_packs([3], 4, strategy=['best_fit'])": TypeError("strategy must be one of"),
    # packs
    "ids(pack_documents([], 4))": [],
    "ids(pack_documents([[], []], 4))": [],
    "ids(pack_documents(DOCUMENTS, 4))": [[4, 5, 6, 7], [1, 2, 3, 8], [9]],
    "ids(pack_documents(DOCUMENTS, 4, split_long=False))": [[4, 5, 6, 7], [1, 2, 3, 9]],
    "ids(pack_documents(iter(DOCUMENTS), np.int8(9)))": [[4, 5, 6, 7, 8, 1, 2, 3, 9]],
    "ids(pack_documents(np.array([[250, 251]], dtype=np.uint8), np.uint8(1)))": [[250], [251]],
    "ids(pack_documents([torch.tensor([70_000, 1])], 4))": [[70_000, 1]],
    "labels_of(pack_documents(DOCUMENTS, 4, labels=[[1, 0, 1], [], [1] * 4 + [-100], [7]]))": [
        [1, 1, 1, 1],
        [1, 0, 1, -100],
        [7],
    ],
    "labels_of(pack_documents([[1, 2, 3]], 2, split_long=False, labels=[[-100, 2, 3]]))": [[-100, 2]],
    "labels_of(pack_documents([[1]], 2))": [None],
    "pack_documents([[1, 2]], 4, labels=[[1]])": ValueError("labels must be as many for each document as it has ids"),
    "pack_documents([[1, 2]], 4, labels=[])": ValueError("labels must be as many"),
    "pack_documents([[1]], 4, labels=[['a']])": TypeError("labels[0] must be integers"),
    "pack_documents([[1]], 4, labels=5)": TypeError("labels must be several lists, got 5"),
    "pack_documents([1, 2], 4)": ValueError("documents[0]: ids must be one-dimensional"),
    "pack_documents(['abc'], 4)": TypeError("documents[0]: ids must be integers, got text"),
    "pack_documents('abc', 4)": TypeError("documents must be several streams of ids, got '"),
    "pack_documents({'input_ids': [[1]]}, 4)": TypeError("documents must be several streams of ids, got {"),
    "pack_documents([[1], [-2]], 4)": ValueError("documents[1]: ids must not be negative"),
    "pack_documents([[1], None], 4)": TypeError("documents[1]"),
    "ids(pad_documents(DOCUMENTS, 4))": [[1, 2, 3], [4, 5, 6, 7], [8], [9]],
    "pad_documents([], 4)": [],
    "pad_documents(DOCUMENTS, -1)": ValueError("max_length must be"),
    "pad_documents([[nan]], 4)": TypeError("documents[0]: ids must be integers"),
    "ids(crop_documents(DOCUMENTS, 4))": [[1, 2, 3, 4], [9]],
    "ids(crop_documents(DOCUMENTS, 4, buffer_size=9))": [[1, 2, 3, 9], [4, 5, 6, 7]],
    "crop_documents([], 4)": [],
    "crop_documents([[], []], 4, crop='oldest')": [],
    "crop_documents(DOCUMENTS, 4, buffer_size=0)": ValueError("buffer_size must be an integer of at least 1"),
    "crop_documents(None, 4)": TypeError("documents must be several"),
    # a data set
    "pack_examples({'text': []}, CHARACTERS, max_length=4)": {"input_ids": [], "document_starts": []},
    "pack_examples({'text': ['ab', '']}, CHARACTERS, max_length=4)": {
        "input_ids": [[0, 1, 5, 5]],
        "document_starts": [[0, 3]],
    },
    "pack_examples({'text': ['abcde']}, CHARACTERS, max_length=4, split_long=False)['input_ids']": [[0, 1, 2, 3]],
    "pack_examples({'text': ['ab']}, CHARACTERS, max_length=4, text_column='body')": ValueError(
        "features must have a column 'body', got ['text']"
    ),
    "packed(input_ids=[[1, 2, 3], [4]], labels=[[-100, 2, 3], [4]])": {
        "input_ids": [[1, 2, 3, 4]],
        "document_starts": [[0, 3]],
        "labels": [[-100, 2, 3, 4]],
    },
    "packed(input_ids=[[1, 2], [3]], score=[[0, 1], [1]], columns=['score'])['score']": [[0, 1, 1]],
    "packed(input_ids=[[1]], text=['never read'])['input_ids']": [[1]],
    "packed(input_ids=[[1], [2]], labels=[[1], [2, 3]])": ValueError("labels must be as many for each document"),
    "packed(input_ids=[[1]], labels=None)": TypeError("not iterable"),
    "packed(input_ids=[[1]], labels=[[1.5]])": TypeError("labels[0] must be integers"),
    "packed(input_ids=[[1]], columns=['score'])": ValueError("features must have a column 'score'"),
    "packed(input_ids=[1, 2])": ValueError("documents[0]: ids must be one-dimensional"),
    "packed(text=['ab'], end_of_text_id=9, tokenizer=CHARACTERS)['input_ids']": [[0, 1, 9]],
    "pack_examples({'text': 'ab'}, CHARACTERS, max_length=4)": TypeError("use map with batched=True"),
    "pack_examples(['ab'], CHARACTERS, max_length=4)": TypeError("features must be a batch"),
    "pack_examples({'text': ['ab', None]}, CHARACTERS, max_length=4)": TypeError("1"),
    "pack_examples({'text': ['xyz']}, CHARACTERS, max_length=4)": ValueError("x"),
    "pack_examples({'text': ['ab']}, None, max_length=4)": TypeError("tokenizer must have a method encode"),
    "pack_examples({'text': ['ab']}, CHARACTERS, max_length=0)": ValueError("max_length must be"),
    "pack_examples({'text': ['ab']}, CHARACTERS, max_length=4, strategy=1)": TypeError("strategy must be"),
    # a stream
    "ids(stream())": [[1, 2, 3], [4, 5, 6, 7], [8, 9]],
    "ids(stream(max_length=2**31 - 1, buffer_size=9))": [[1, 2, 3, 4, 5, 6, 7, 8, 9]],
    "ids(crop_documents(DOCUMENTS * 2, 2**31 - 1, buffer_size=2))": [
        [4, 5, 6, 7, 8, 1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]
    ],
    "ids(stream([]))": [],
    "ids(stream([[], []]))": [],
    "ids(stream(buffer_size=1))": [[1, 2, 3], [4, 5, 6, 7], [8], [9]],
    "ids(stream(buffer_size=np.uint8(200), max_length=np.int8(4)))": [[1, 2, 3, 8], [4, 5, 6, 7], [9]],
    "ids(PackStream([[1, 2, 3]], 2, 1))": [[1, 2], [3]],
    "PackStream([[1, 2, 3]], 0, 1)": ValueError("max_length must be"),
    "pack_stream(DOCUMENTS, 4, buffer_size=0)": ValueError("buffer_size must be an integer of at least 1"),
    "pack_stream(DOCUMENTS, 4, buffer_size=10**20)": ValueError("buffer_size must be"),
    "crop_documents(DOCUMENTS, 4, buffer_size=10**20)": ValueError("buffer_size must be"),
    "pack_stream(DOCUMENTS, 4, buffer_size=True)": TypeError("buffer_size must be"),
    "pack_stream(DOCUMENTS, -4, buffer_size=1)": ValueError("max_length must be"),
    "ids(stream(['abc']))": TypeError("documents[0]: ids must be integers, got text"),
    "stream(7)": TypeError("documents must be several streams of ids, got "),
    "stream('abc')": TypeError("documents must be several streams of ids, got '"),
    "stream({'a': [1]})": TypeError("documents must be several streams of ids, got {"),
    "resumed()": [[4, 5, 6, 7], [8, 9]],
    "resumed(buffer_size=3)": ValueError("state was saved with buffer_size=3, but this stream has buffer_size=2"),
    "resumed(max_length=4.0)": ValueError("state was saved with max_length=4.0"),
    "resumed(more=1)": ValueError("state must have the keys"),
    "resumed(pieces_read=-1)": ValueError("pieces_read must be"),
    "resumed(pieces_read=99, checksum=0)": ValueError("documents must be those of the saved state"),
    "resumed(pieces_read='1')": TypeError("pieces_read must be"),
    "resumed(waiting=[5])": ValueError("documents must be those of the saved state, and wait as it says"),
    "resumed(waiting=[])": ValueError("documents must be those of the saved state"),
    "resumed(waiting=[1, 1])": ValueError("documents must be those of the saved state"),
    "resumed(pieces_read=2**70)": ValueError("pieces_read must be"),
    "resumed(waiting=None)": TypeError("waiting must be integers"),
    "resumed(checksum=1)": ValueError("documents must be those of the saved state"),
    "resumed(checksum=nan)": TypeError("checksum must be"),
    "stream().load_state_dict([1])": TypeError("state must be a dict"),
    "stream().load_state_dict({})": ValueError("state must have the keys"),
}
