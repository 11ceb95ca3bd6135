"""Hostile calls of packs and their account."""

import tempfile
from types import SimpleNamespace

import numpy as np
import torch

from course_lib.foundation import Pack, check_pad_token, packing_report
from course_lib.foundation.packs import Piece, iterate_documents, join_pieces

TWO = [np.array([1, 2, 3]), np.array([4, 5])]
ONE_ROW = join_pieces([Piece(0, 0, TWO[0]), Piece(1, 0, TWO[1])])
BEYOND = join_pieces([Piece(2, 0, TWO[0])])
ZERO = np.array([0])
NEGATIVE = Pack(TWO[0], np.array([0]), np.array([-2]), np.array([0]))


def row(document, offset, ids):
    return join_pieces([Piece(document, offset, np.array(ids))])


def documents(*given):
    return [ids.tolist() for ids in iterate_documents(*given)]


def report(*starts, ids=TWO[0], documents=ZERO, offsets=ZERO):
    return packing_report(TWO, [Pack(ids, np.array(starts), documents, offsets)], 8).documents_whole


def memory_map(*ids):
    with tempfile.NamedTemporaryFile() as file:
        np.array(ids, dtype=np.int64).tofile(file.name)
        return np.memmap(file.name, dtype=np.int64, mode="r")


def filled_with(pad_token_id):
    return check_pad_token(SimpleNamespace(pad_token_id=pad_token_id))


CALLS = {
    "documents([])": [],
    "documents([[], [1]])": [[], [1]],
    "list(iterate_documents(np.array([[1, 2], [3, 4]])))[1]": np.array([3, 4], dtype=np.uint16),
    "list(iterate_documents([torch.tensor([70_000])]))": [np.array([70_000], dtype=np.uint32)],
    "list(iterate_documents([1, 2]))": ValueError("documents[0]: ids must be one-dimensional"),
    "list(iterate_documents([[1], 'text']))": TypeError("documents[1]: ids must be integers, got text"),
    "list(iterate_documents([[1], [1.5]]))": TypeError("documents[1]: ids must be integers"),
    "list(iterate_documents([[1], [nan]]))": TypeError("documents[1]: ids must be integers"),
    "list(iterate_documents([[1], None]))": TypeError("documents[1]: ids must be integers"),
    "list(iterate_documents([[1], [-1]]))": ValueError("documents[1]: ids must not be negative, got -1"),
    "list(iterate_documents([[2**32]]))": ValueError("documents[0]: ids must fit into 32 bits"),
    "list(iterate_documents([[True]]))": TypeError("got list of bool"),
    "list(iterate_documents([np.array([[1]], dtype=np.uint16)]))": ValueError("documents[0]: ids must be one-dim"),
    "documents([memory_map(5, 7)])": [[5, 7]],  # unread elsewhere; here every id is read
    "str(next(iterate_documents([memory_map(5, 7)])).dtype)": "uint16",
    "documents([[1], memory_map(5, -5)])": ValueError("documents[1]: ids must not be negative, got -5 at position 1"),
    "documents([memory_map(2**40)])": ValueError("documents[0]: ids must fit into 32 bits"),
    "check_starts([0, 2], np.int8(3))[0]": np.array([0, 2]),
    "check_starts([0, 3], 3)": ValueError("document_starts must increase and be less than length 3, got [0, 3]"),
    "filled_with(np.uint8(200))": 200,
    "filled_with(2**63)": ValueError("pad_token_id must be an integer of at least 0 and at most 4294967295"),
    "filled_with(-1)": ValueError("pad_token_id must be"),
    "filled_with('0')": TypeError("pad_token_id must be"),
    "check_pad_token(None)": ValueError("tokenizer must have a pad token, got none"),
    "check_pad_token(5)": ValueError("wrap_tokenizer gives it one"),
    "check_rows([ONE_ROW])['labels']": KeyError("labels"),
    "check_rows([ONE_ROW], 'labels')['labels']": None,
    "check_rows(iter([{'input_ids': [5]}]))['input_ids']": [np.array([5])],
    "check_rows([])": ValueError("rows must hold at least one row, got none"),
    "check_rows([{}])": TypeError("rows[0] must have input_ids, got a dict"),
    "check_rows([{'input_ids': [1]}, [1]])": TypeError("rows[1] must have input_ids, got a list"),
    "check_rows([{'input_ids': [1]}, {'input_ids': None}])": TypeError("rows[1] must have input_ids"),
    "check_rows([{'input_ids': [1]}, {'input_ids': []}])": ValueError("rows[1] must hold at least one id, got none"),
    "check_rows([{'input_ids': [[1]]}])": ValueError("rows[0]: input_ids must be one-dimensional"),
    "check_rows([{'input_ids': 'ab'}])": TypeError("rows[0]: input_ids must be integers, got text"),
    "check_rows([{'input_ids': [1, 2], 'labels': [1]}], 'labels')": ValueError(
        "labels must be 2, as many as ids, got 1"
    ),
    "check_rows([{'input_ids': [1], 'labels': [1]}, {'input_ids': [1]}], 'labels')": ValueError("row 0 and row 1"),
    "ONE_ROW.along([['a', 'b', 'c'], ['d', 'e']]).tolist()": list("abcde"),
    "ONE_ROW.along([torch.tensor([1, 2, 3, 9]), np.array([0.5, nan])])": np.array([1, 2, 3, 0.5, np.nan]),
    "ONE_ROW.along([[0, 1, 2], [3]])": ValueError("values[1] must be one for each token, none masked, up to token 2"),
    "ONE_ROW.along([[0, 1, 2], [[3], [4]]])": ValueError("got [[3], [4]] from token 0 on"),
    "ONE_ROW.along([np.ma.array([1, 2, 3], mask=[0, 1, 0]), [4, 5]])": ValueError("values[0] must be one for each"),
    "ONE_ROW.along([[0, 1, 2]])": ValueError("values must have a row for document 1, got 1"),
    "NEGATIVE.along([[0, 1, 2], [3, 4]])": ValueError("values must have a row for document -2"),
    "ONE_ROW.along([[0, 1, 2], None])": TypeError("values[1] must be several values, got None"),
    "ONE_ROW.along(['abc', 'de'])": TypeError("values[0] must be several values, got 'abc' (str)"),
    "ONE_ROW.along([[0, 1, 2], ['d', 'e']])": TypeError("values must be of one type, got <U1, int64"),
    "ONE_ROW.along([[True, False, True], [1, 2]])": TypeError("values must be of one type, got bool, int64"),
    "report(0)": 1,
    "report(1)": ValueError("packs[0]: document_starts must begin with 0, got [1]"),
    "report(0, -1)": ValueError("packs[0]: document_starts must increase"),
    "report(0, 3)": ValueError("packs[0]: document_starts must increase and be less than length 3"),
    "report(0, 0)": ValueError("packs[0]: document_starts must increase"),
    "report(0, ids=TWO[0] * 1.0)": TypeError("packs[0]: input_ids must be integers"),
    "report(0, ids=TWO[0][:0])": ValueError("packs[0]: length must be an integer of at least 1"),
    "report(0, documents=[0, 1])": ValueError("packs[0]: documents must be 1, one for each piece"),
    "report(0, offsets=[0.0])": TypeError("packs[0]: offsets must be integers"),
    "packing_report(TWO, None, 4)": TypeError("packs must be a list of them, got NoneType"),
    "packing_report([], [], 4).fill": np.nan,
    "packing_report([], [], 4).documents": 0,
    "packing_report(TWO, [], 4).documents_dropped": 2,
    "packing_report(TWO, [ONE_ROW], np.int8(5)).fill": 1.0,
    "packing_report(TWO, [ONE_ROW], 2**31 - 1).padding": 2**31 - 6,
    "packing_report(TWO, [ONE_ROW], 4)": ValueError("packs[0] has 5 ids"),
    "packing_report(TWO, [ONE_ROW, ONE_ROW], 5)": ValueError("twice"),
    "packing_report(TWO, [row(0, 0, [1, 2, 3]), row(0, 2, [3])], 5)": ValueError("packs hold id 2 of document 0 twice"),
    "packing_report(TWO, [row(1, 0, [1, 2])], 5)": ValueError("ids 0 ... 1 of document 1, but the document has"),
    "packing_report(TWO, [row(0, 1, [1, 2])], 5)": ValueError("others there, or none"),
    "packing_report(TWO, [BEYOND], 5)": ValueError("of document 2, but the document has others there, or none"),
    "packing_report(TWO, [NEGATIVE], 5)": ValueError("of document -2, but the document has others there, or none"),
    "packing_report(TWO, [[1, 2, 3]], 5)": TypeError("packs[0] must be a Pack, got list"),
    "packing_report('ab', [], 5)": TypeError("documents must be several streams"),
    "packing_report(iter(TWO), [ONE_ROW], 5).tokens_lost": 0,
    "PackingReport(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4).fill": np.nan,
    "PackingReport(1, 1, 0, 0, 0, 0, 4, 4, 0, 1, 4, 8).fill": 0.5,
    "join_pieces([Piece(0, 0, np.array([250], dtype=np.uint8)), Piece(1, 0, [300])]).input_ids": np.array([250, 300]),
    "len(join_pieces([Piece(0, 2, TWO[0])]))": 3,
    "join_pieces([])": ValueError("pieces must be at least one"),
    "join_pieces([Piece(0.5, 0, [1])])": TypeError("places of pieces must be integers"),
    "join_pieces([Piece(2**63, 0, [1])])": TypeError("places of pieces must be integers, got list of mixed"),
    "join_pieces([Piece(0, 0, [0.5])])": TypeError("ids of pieces must be integers"),
    "join_pieces([Piece(0, 0, None)])": TypeError("ids of pieces must be integers"),
    "join_pieces(None)": TypeError("pieces must be several, got NoneType"),
    "join_pieces([Piece(0, 0, []), Piece(1, 0, [1])])": ValueError("pieces must hold ids, got an empty one"),
    "Pack(TWO[0], np.array([0, 1]), np.array([5, 6]), np.array([0, 0])).pieces()[1].ids": np.array([2, 3]),
    "len(Pack(TWO[0], np.array([0]), np.array([5]), np.array([0])))": 3,
    "Piece(3, 0, TWO[0]).document": 3,
}
