"""The account of packs: it looks up every piece in its document, and everything must add up."""

import dataclasses
import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from course_lib.foundation import Pack, packing_report
from course_lib.foundation.packs import Piece, iterate_documents, join_pieces

DOCUMENTS = [np.arange(length, dtype=np.uint16) + 100 * number for number, length in enumerate([4, 0, 7, 2, 3])]


def piece(document: int, begin: int = 0, end: int | None = None) -> Piece:
    return Piece(document, begin, DOCUMENTS[document][begin:end])


def counts(*packs: list[Piece], max_length: int = 8) -> dict[str, int]:
    return dataclasses.asdict(packing_report(DOCUMENTS, [join_pieces(pack) for pack in packs], max_length))


def test_every_kind_of_document_is_counted_once():
    report = counts([piece(0), piece(2, 0, 4)], [piece(2, 4), piece(4, 0, 2)])
    assert report == {
        "documents": 5,
        "documents_whole": 1,
        "documents_split": 1,
        "documents_truncated": 1,
        "documents_dropped": 1,
        "documents_empty": 1,
        "tokens": 16,
        "tokens_packed": 13,
        "tokens_lost": 3,
        "packs": 2,
        "padding": 3,
        "max_length": 8,
    }


@given(st.data())
def test_whatever_is_packed_the_counts_reconcile(data):
    packs = []
    for document, ids in enumerate(DOCUMENTS):
        cuts = sorted(data.draw(st.sets(st.integers(0, len(ids)), max_size=3)))
        pieces = [Piece(document, a, ids[a:b]) for a, b in itertools.pairwise(cuts)]
        packs += [join_pieces([p]) for p in pieces]
    report = packing_report(DOCUMENTS, packs, 7)
    kinds = ("whole", "split", "truncated", "dropped", "empty")
    assert report.documents == sum(getattr(report, f"documents_{kind}") for kind in kinds)
    assert report.tokens == report.tokens_packed + report.tokens_lost == sum(map(len, DOCUMENTS))
    assert report.tokens_packed == sum(map(len, packs))
    assert report.packs * report.max_length == report.tokens_packed + report.padding
    assert not packs or report.fill == report.tokens_packed / (7 * len(packs))


def test_pieces_take_a_row_apart_again():
    pieces = [piece(2, 4), piece(0), piece(3)]
    pack = join_pieces(pieces)
    assert len(pack) == 9
    assert pack.document_starts.tolist() == [0, 3, 7]
    for got, expected in zip(pack.pieces(), pieces, strict=True):
        assert (got.document, got.offset, got.ids.tolist()) == (
            expected.document,
            expected.offset,
            expected.ids.tolist(),
        )


def test_a_report_is_printed_as_an_account():
    report = packing_report(DOCUMENTS, [join_pieces([piece(0), piece(3)])], 8)
    assert str(report).splitlines() == [
        "whole                      2",
        "split                      0",
        "truncated                  0",
        "dropped                    2",
        "empty                      1",
        "all documents              5",
        "",
        "tokens packed              6",
        "tokens lost               10",
        "all tokens                16",
        "",
        "packs                      1",
        "padding                    2",
        "fill                  0.7500",
    ]


def test_compact_documents_are_taken_as_they_are_and_others_are_made_so():
    kinds = [DOCUMENTS[0], [1, 2], np.array([3], dtype=np.int64), np.array([70_000]), np.array([], dtype=np.int64)]
    got = list(iterate_documents(kinds))
    assert got[0] is DOCUMENTS[0]
    assert [ids.dtype for ids in got] == [np.uint16, np.uint16, np.uint16, np.uint32, np.uint16]


def test_packs_are_not_compared_as_single_values():
    pack = join_pieces([piece(0)])
    assert pack == pack
    assert pack != join_pieces([piece(0)])
    assert isinstance(hash(pack), int)
    assert isinstance(pack, Pack)
