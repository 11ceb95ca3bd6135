"""Hostile calls of packs and their account."""

import numpy as np
import torch

from course_lib.foundation import Pack, Piece, iterate_documents, join_pieces

TWO = [np.array([1, 2, 3]), np.array([4, 5])]
ONE_ROW = join_pieces([Piece(0, 0, TWO[0]), Piece(1, 0, TWO[1])])
BEYOND = join_pieces([Piece(2, 0, TWO[0])])
NEGATIVE = Pack(TWO[0], np.array([0]), np.array([-2]), np.array([0]))


def row(document, offset, ids):
    return join_pieces([Piece(document, offset, np.array(ids))])


def documents(*given):
    return [ids.tolist() for ids in iterate_documents(*given)]


CALLS = {
    "documents([])": [],
    "documents([[], [1]])": [[], [1]],
    "list(iterate_documents(np.array([[1, 2], [3, 4]])))[1]": np.array([3, 4], dtype=np.uint16),
    "list(iterate_documents([torch.tensor([70_000])]))": [np.array([70_000], dtype=np.uint32)],
    "list(iterate_documents('text'))": TypeError("documents must be several streams of ids, got str"),
    "list(iterate_documents({'a': [1]}))": TypeError("documents must be several streams of ids, got dict"),
    "list(iterate_documents(3))": TypeError("documents must be several streams of ids, got int"),
    "list(iterate_documents(None))": TypeError("documents must be several streams of ids, got NoneType"),
    "list(iterate_documents([1, 2]))": ValueError("documents[0]: ids must be one-dimensional"),
    "list(iterate_documents([[1], 'text']))": TypeError("documents[1]: ids must be integers, got text"),
    "list(iterate_documents([[1], [1.5]]))": TypeError("documents[1]: ids must be integers"),
    "list(iterate_documents([[1], [nan]]))": TypeError("documents[1]: ids must be integers"),
    "list(iterate_documents([[1], None]))": TypeError("documents[1]: ids must be integers"),
    "list(iterate_documents([[1], [-1]]))": ValueError("documents[1]: ids must not be negative, got -1"),
    "list(iterate_documents([[2**32]]))": ValueError("documents[0]: ids must fit into 32 bits"),
    "list(iterate_documents([[True]]))": TypeError("got list of bool"),
    "list(iterate_documents([np.array([[1]], dtype=np.uint16)]))": ValueError("documents[0]: ids must be one-dim"),
    "packing_report([], [], 4).fill": np.nan,
    "packing_report([], [], 4).documents": 0,
    "packing_report(TWO, [], 4).documents_dropped": 2,
    "packing_report(TWO, [ONE_ROW], np.int8(5)).fill": 1.0,
    "packing_report(TWO, [ONE_ROW], 2**31 - 1).padding": 2**31 - 6,
    "packing_report(TWO, [ONE_ROW], 4)": ValueError("packs[0] has 5 ids"),
    "packing_report(TWO, [ONE_ROW, ONE_ROW], 5)": ValueError("twice"),
    "packing_report(TWO, [row(0, 0, [1, 2, 3]), row(0, 2, [3])], 5)": ValueError("packs hold id 2 of document 0 twice"),
    "packing_report(TWO, [row(1, 0, [1, 2])], 5)": ValueError("holds ids 0 ... 1 of document 1, but that has others"),
    "packing_report(TWO, [row(0, 1, [1, 2])], 5)": ValueError("others, or none"),
    "packing_report(TWO, [BEYOND], 5)": ValueError("of document 2, but that has others, or none"),
    "packing_report(TWO, [NEGATIVE], 5)": ValueError("of document -2, but that has others, or none"),
    "packing_report(TWO, [ONE_ROW], 0)": ValueError("max_length must be"),
    "packing_report(TWO, [ONE_ROW], 5.0)": TypeError("max_length must be"),
    "packing_report(TWO, [ONE_ROW], None)": TypeError("max_length must be"),
    "packing_report(TWO, [[1, 2, 3]], 5)": TypeError("packs[0] must be a Pack, got list"),
    "packing_report('ab', [], 5)": TypeError("documents must be several streams"),
    "packing_report(iter(TWO), [ONE_ROW], 5).tokens_lost": 0,
    "PackingReport(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4).fill": np.nan,
    "PackingReport(1, 1, 0, 0, 0, 0, 4, 4, 0, 1, 4, 8).fill": 0.5,
    "join_pieces([Piece(0, 0, np.array([250], dtype=np.uint8)), Piece(1, 0, [300])]).input_ids": np.array([250, 300]),
    "len(join_pieces([Piece(0, 2, TWO[0])]))": 3,
    "join_pieces([])": ValueError("pieces must be at least one"),
    "Pack(TWO[0], np.array([0, 1]), np.array([5, 6]), np.array([0, 0])).pieces()[1].ids": np.array([2, 3]),
    "len(Pack(TWO[0], np.array([0]), np.array([5]), np.array([0])))": 3,
    "Piece(3, 0, TWO[0]).document": 3,
}
