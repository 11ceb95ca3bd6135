"""Hostile calls of lesson 10: positions, masks, batches."""

import warnings
from types import SimpleNamespace

import numpy as np
import torch

from course_lib.document_boundaries import PackingCollator
from course_lib.document_packing import pack_documents
from course_lib.foundation import AttentionModel, BigramModel, CharTokenizer

CHARACTERS = CharTokenizer("abcde")


def batch(*rows, packed=None, pad=0, eos=1, **how):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "a row has no document_starts")
        made = PackingCollator(SimpleNamespace(pad_token_id=pad, eos_token_id=eos), packed, **how)(rows)
    return {name: values if isinstance(values, int) else values.tolist() for name, values in made.items()}


def row(*values, **others):
    return {"input_ids": list(values), **others}


ROWS = torch.tensor([[1, 2, 3, 4]])
BATCH = {"input_ids": ROWS, "labels": ROWS, "position_ids": torch.tensor([[0, 1, 0, 1]])}
PAIR = ({"inputs": ROWS}, ROWS)
NONE_SCORED = ({"inputs": ROWS}, torch.full_like(ROWS, -100))


def first(batches):
    return next(batches)[1].shape[0]


def model():
    return AttentionModel(5)


CALLS = {
    # batches for small models
    "packed_batch(BATCH)[0]['mask'][0]": torch.tensor([[1, 0, 0], [1, 1, 0], [0, 0, 1]]).bool().numpy(),
    "len(packed_batch(BATCH, masked=np.False_, reset=np.False_)[0])": 1,
    "packed_batch({})": TypeError("batch must be a PackingCollator's, with input_ids, labels, position_ids, got dict"),
    "first(shuffled_batches(None, 1, torch.Generator()))": TypeError("batch must be inputs by name and targets"),
    "first(shuffled_batches(BATCH, 1, torch.Generator()))": TypeError("as of packed_batch, got dict"),
    "first(shuffled_batches([{}], 1, torch.Generator()))": TypeError("got list"),
    "first(shuffled_batches(({}, None), 1, torch.Generator()))": TypeError("batch must be inputs by name and targets"),
    "first(shuffled_batches((PAIR[0], ROWS[:0]), 1, torch.Generator()))": TypeError("with as many rows"),
    "packed_loss(model(), None)": TypeError("batch must be inputs by name and targets"),
    "packed_loss(model(), 5)": TypeError("got int"),
    "packed_loss(model(), [{}])": TypeError("got list"),
    "packed_loss(model(), (part for part in PAIR))[1]": 4,
    "packed_loss(model(), (ROWS, ROWS))": TypeError("batch must be inputs by name and targets"),
    "first(shuffled_batches(PAIR, np.int8(1), torch.Generator()))": 1,
    "first(shuffled_batches(PAIR, 2, torch.Generator()))": ValueError("batch_size must be"),
    "first(shuffled_batches(PAIR, 0, torch.Generator()))": ValueError("batch_size must be"),
    "first(shuffled_batches(PAIR, True, torch.Generator()))": TypeError("batch_size must be"),
    "packed_loss(model(), PAIR)[1]": 4,
    "packed_loss(model(), NONE_SCORED)": (0.0, 0),
    "packed_loss(AttentionModel, PAIR)": TypeError("model must be a torch.nn.Module, got type"),
    "packed_loss(None, PAIR)": TypeError("model must be a torch.nn.Module, got NoneType"),
    "packed_loss(BigramModel(4), PAIR)": ValueError("inputs must lie in 0 ... 3"),
    # positions and masks
    "position_ids_from_starts([0, 2], 3)": np.array([0, 1, 0]),
    "position_ids_from_starts(np.array([0, 200], dtype=np.uint8), np.uint8(250))[-1]": np.array(49),
    "position_ids_from_starts([0], 1)": np.array([0]),
    "position_ids_from_starts([], 3)": ValueError("document_starts must begin with 0, got none at all"),
    "position_ids_from_starts([1], 3)": ValueError("document_starts must begin with 0, got [1]"),
    "position_ids_from_starts([0, 3], 3)": ValueError("document_starts must increase and be less than length 3"),
    "position_ids_from_starts([0, 2, 2], 3)": ValueError("document_starts must increase"),
    "position_ids_from_starts([0, 2, 1], 3)": ValueError("document_starts must increase"),
    "position_ids_from_starts(np.array([0, 2, 1], dtype=np.uint8), 3)": ValueError("document_starts must increase"),
    "position_ids_from_starts([0], 0)": ValueError("length must be"),
    "position_ids_from_starts([0], 3.0)": TypeError("length must be"),
    "position_ids_from_starts([0.0], 3)": TypeError("document_starts must be integers"),
    "position_ids_from_starts([[0]], 3)": ValueError("document_starts must be one-dimensional"),
    "position_ids_from_starts(None, 3)": TypeError("document_starts must be integers"),
    "position_ids_from_starts([False, True], 3)": TypeError("document_starts must be integers"),
    "position_ids_from_tokens([4, 1, 5, 1], 1)": np.array([0, 1, 0, 1]),
    "position_ids_from_tokens([1, 1, 1], 1)": np.array([0, 0, 0]),
    "position_ids_from_tokens(np.array([70_000, 9], dtype=np.uint32), 70_000)": np.array([0, 0]),
    "position_ids_from_tokens([], 1)": ValueError("input_ids must hold at least one id"),
    "position_ids_from_tokens([4], None)": ValueError("eos_token_id or bos_token_id must be given"),
    "position_ids_from_tokens([4], -100)": ValueError("eos_token_id must be"),
    "position_ids_from_tokens([9, 4, 4, 9, 5], bos_token_id=9)": np.array([0, 1, 2, 0, 1]),
    "position_ids_from_tokens([4, 1, 9, 5, 1, 6], 1, 9)": np.array([0, 1, 0, 1, 2, 0]),
    "position_ids_from_tokens([4], 1, 1)": ValueError("they must differ, or nothing tells an end from a beginning"),
    "document_mask([0, 1], 2)": np.array([[True, False], [False, True]]),
    "document_mask([0], np.int8(1))": np.array([[True]]),
    "document_mask([0], -1)": ValueError("length must be"),
    "document_mask([], 2)": ValueError("document_starts must begin with 0"),
    "cu_seqlens([0, 2], 3)": np.array([0, 2, 3], dtype=np.int32),
    "cu_seqlens(np.array([0, 100], dtype=np.int8), 200)": np.array([0, 100, 200]),
    "cu_seqlens([0], 2**31)": ValueError("length must be"),
    "cu_seqlens([0, -1], 3)": ValueError("document_starts must increase"),
    "bool(flex_document_mask([0, 2], 3)(0, 0, torch.tensor(2), torch.tensor(1)))": False,
    "flex_document_mask([0, 4], 3)": ValueError("less than length 3, got [0, 4]"),
    # batches
    "batch(row(5, 6, document_starts=[0, 1]))": {
        "input_ids": [[5, 6]],
        "labels": [[-100, -100]],
        "position_ids": [[0, 0]],
    },
    "batch(row(5, 6), row(7))['labels']": [[-100, 6], [-100, -100]],
    "batch(row(5, 6, labels=[-100, 6]), row(7, labels=[7]))['labels']": [[-100, 6], [-100, -100]],
    "batch(row(5, 6, document_starts=None))['position_ids']": [[0, 1]],
    "batch(*pack_documents([[1, 2], [3]], 4), packed=np.True_)['position_ids']": [[0, 1, 0]],
    "batch()": ValueError("rows must hold at least one row"),
    "batch(row())": ValueError("rows[0] must hold at least one id, got none"),
    "batch(row(1), row(), packed=True)": ValueError("rows[1] must hold at least one id, got none"),
    "batch(row(5, 6, document_starts=[0, 1]), row(7, document_starts=[0]), flatten=True)": {
        "input_ids": [[5, 6, 7]],
        "labels": [[-100, -100, -100]],
        "position_ids": [[0, 0, 0]],
    },
    "batch(row(1, 2), row(3), cu_seq_lens=True)['cu_seq_lens_k']": [0, 2, 3, 4],
    "batch(row(1, 2), row(3), cu_seq_lens=True, flatten=True)['cu_seq_lens_q']": [0, 2, 3],
    "batch(row(1, 2), row(3), cu_seq_lens=True)['max_length_q']": 2,
    "batch(row(1), flatten=True, pad=None)['input_ids']": [[1]],
    "PackingCollator(SimpleNamespace(pad_token_id=0))(None)": TypeError("rows must be several rows, got"),
    "batch([1, 2])": TypeError("rows[0] must have input_ids, got a list"),
    "batch({'ids': [1]})": TypeError("rows[0] must have input_ids, got a dict"),
    "batch(row(1.5))": TypeError("input_ids must be integers"),
    "batch({'input_ids': 'ab'})": TypeError("input_ids must be integers, got text"),
    "batch(row(1, 2, labels=[1]))": ValueError("labels must be 2, as many as ids, got 1"),
    "batch(row(1, 2, labels=[1, 2]), row(3))": ValueError("labels must be in all rows or in none"),
    "batch(row(1, document_starts=[0]), row(3))": ValueError("row 0 and row 1 differ"),
    "batch(row(1, 2, document_starts=[1]))": ValueError("document_starts must begin with 0"),
    "batch(row(1, 2, document_starts=[0, 2]))": ValueError("document_starts must increase and be less than length 2"),
    "batch(row(1), pad=None)": ValueError("tokenizer must have a pad token, got none"),
    "batch(row(1), pad=2**63)": ValueError("pad_token_id must be"),
    "batch(row(1), pad=-1)": ValueError("pad_token_id must be"),
    "batch(row(1), packed=True, eos=None)": ValueError("eos_token_id or bos_token_id must be given"),
    "batch(row(1), eos=None)['labels']": [[-100]],
    "PackingCollator(None)": ValueError("tokenizer must have a pad token"),
    "batch(row(4, 5, document_starts=[0]), max_length=3)['input_ids']": [[4, 5, 0]],
    "batch(row(4, 5, document_starts=[0]), max_length=1)": ValueError("no longer than max_length 1, got 2"),
    "batch(row(4, 5, document_starts=[0]), max_length=0)": ValueError("max_length must be"),
    "batch(row(4, 5, document_starts=[0]), max_length=3, flatten=True)": ValueError("max_length must be None"),
    "PackingCollator(CHARACTERS)": ValueError("wrap_tokenizer gives it one"),
}
