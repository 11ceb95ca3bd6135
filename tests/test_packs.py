"""The account of packs: it looks up every piece in its document, and everything must add up."""

import dataclasses
import itertools
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.foundation import Pack, check_pad_token, packing_report
from course_lib.foundation.packs import Piece, check_rows, iterate_documents, join_pieces

DOCUMENTS = [np.arange(length, dtype=np.uint16) + 100 * number for number, length in enumerate([4, 0, 7, 2, 3])]


def piece(document: int, begin: int = 0, end: int | None = None) -> Piece:
    return Piece(document, begin, DOCUMENTS[document][begin:end])


ONE_ROW = join_pieces([Piece(0, 0, np.array([1, 2, 3])), Piece(1, 0, np.array([4, 5]))])

# Pack, join_pieces


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


def test_packs_are_not_compared_as_single_values():
    pack = join_pieces([piece(0)])
    assert pack == pack
    assert pack != join_pieces([piece(0)])
    assert isinstance(hash(pack), int)
    assert isinstance(pack, Pack)


def test_joined_ids_keep_their_value_whatever_their_types():
    joined = join_pieces([Piece(0, 0, np.array([250], dtype=np.uint8)), Piece(1, 0, [300])])
    assert joined.input_ids.tolist() == [250, 300]


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([], "pieces must be at least one"),
        (None, "pieces must be several, got NoneType"),
        ([Piece(0, 0, []), Piece(1, 0, [1])], "pieces must hold ids, got an empty one"),
        ([Piece(0.5, 0, [1])], "places of pieces must be integers"),
        ([Piece(2**63, 0, [1])], "places of pieces must be integers"),
        ([Piece(0, 0, [0.5])], "ids of pieces must be integers"),
    ],
)
def test_what_makes_no_row_is_refused(pieces, words):
    with pytest.raises((TypeError, ValueError), match=rf"^{words}"):
        join_pieces(pieces)


# Pack.along


def test_values_lie_along_the_ids_of_their_documents():
    assert ONE_ROW.along([["a", "b", "c"], ["d", "e"]]).tolist() == list("abcde")
    values = ONE_ROW.along([torch.tensor([1, 2, 3, 9]), np.array([0.5, math.nan])])
    np.testing.assert_equal(values, [1, 2, 3, 0.5, math.nan])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[0, 1, 2], [3]], r"values\[1\] must be .*2"),
        ([[0, 1, 2], [[3], [4]]], r"values\[1\] must be"),
        ([np.ma.array([1, 2, 3], mask=[0, 1, 0]), [4, 5]], r"values\[0\] must be"),
        ([[0, 1, 2]], r"values must .*1, got 1"),
        ([[0, 1, 2], None], r"values\[1\] must .*got None"),
        (["abc", "de"], r"values\[0\] must .*got 'abc' \(str\)"),
        ([[0, 1, 2], ["d", "e"]], "values must be of one type, got <U1, int64"),
        ([[True, False, True], [1, 2]], "values must be of one type, got bool, int64"),
    ],
)
def test_values_are_one_for_each_token_and_of_one_type(values, words):
    with pytest.raises((TypeError, ValueError), match=f"^{words}"):
        ONE_ROW.along(values)


# iterate_documents


def test_compact_documents_are_taken_as_they_are_and_others_are_made_so():
    kinds = [DOCUMENTS[0], [1, 2], np.array([3], dtype=np.int64), np.array([70_000]), np.array([], dtype=np.int64)]
    got = list(iterate_documents(kinds))
    assert got[0] is DOCUMENTS[0]
    assert [ids.dtype for ids in got] == [np.uint16, np.uint16, np.uint16, np.uint32, np.uint16]


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (2, "ids must be one-dimensional"),
        ("text", "ids must be integers, got text"),
        ([1.5], "ids must be integers"),
        (None, "ids must be integers"),
        ([True], "ids must be integers"),
        ([-1], "ids must not be negative, got -1"),
        ([2**32], "ids must fit into 32 bits"),
        (np.array([[1]], dtype=np.uint16), "ids must be one-dimensional"),
    ],
)
def test_a_document_that_is_no_stream_is_named(ids, words):
    with pytest.raises((TypeError, ValueError), match=rf"^documents\[1\]: {words}"):
        list(iterate_documents([[1], ids]))


def test_a_memory_map_is_read_here_and_its_ids_are_checked(tmp_path):
    def mapped(*ids):
        np.array(ids).tofile(tmp_path / "ids.bin")
        return np.memmap(tmp_path / "ids.bin", dtype=np.int64, mode="r")

    (ids,) = iterate_documents([mapped(5, 7)])
    assert (ids.dtype, ids.tolist()) == (np.uint16, [5, 7])
    with pytest.raises(ValueError, match=r"^documents\[1\]: ids must not be negative, got -5 at position 1"):
        list(iterate_documents([[1], mapped(5, -5)]))


# check_pad_token, check_rows


def test_a_pad_token_is_an_id():
    assert check_pad_token(SimpleNamespace(pad_token_id=np.uint8(200))) == 200
    for token in (2**63, -1, "0"):
        with pytest.raises((TypeError, ValueError), match=r"^pad_token_id must be"):
            check_pad_token(SimpleNamespace(pad_token_id=token))
    for tokenizer in (None, SimpleNamespace(pad_token_id=None)):
        with pytest.raises(ValueError, match=r"^tokenizer must .*got none"):
            check_pad_token(tokenizer)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "rows must hold at least one row, got none"),
        ([{"input_ids": [1]}, {}], "rows[1] must have input_ids, got a dict"),
        ([{"input_ids": [1]}, [1]], "rows[1] must have input_ids, got a list"),
        ([{"input_ids": [1]}, {"input_ids": None}], "rows[1] must have input_ids"),
        ([{"input_ids": [1]}, {"input_ids": []}], "rows[1] must hold at least one id, got none"),
        ([{"input_ids": [[1]]}], "rows[0]: input_ids must be one-dimensional"),
        ([{"input_ids": "ab"}], "rows[0]: input_ids must be integers, got text"),
        ([{"input_ids": [1, 2], "labels": [1]}], "rows[0]: labels must be 2, as many as ids, got 1"),
        ([{"input_ids": [1], "labels": [1]}, {"input_ids": [1]}], "labels must be in all rows or in none"),
    ],
)
def test_rows_have_ids_and_all_of_them_labels_or_none(rows, words):
    with pytest.raises((TypeError, ValueError), match=rf"^{re.escape(words)}"):
        check_rows(rows, "labels")


def test_rows_may_be_packs_and_lack_what_is_not_asked_for():
    assert check_rows([ONE_ROW], "labels")["labels"] is None
    assert "labels" not in check_rows(iter([ONE_ROW]))


# packing_report


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


def test_an_account_of_nothing_has_no_fill_and_one_of_long_rows_does_not_overflow():
    assert math.isnan(packing_report([], [], 4).fill)
    assert packing_report(DOCUMENTS, [join_pieces([piece(0)])], 2**31 - 1).padding == 2**31 - 5
    assert packing_report(iter(DOCUMENTS), [join_pieces([piece(0)])], np.int8(4)).fill == 1


def edited(**changes) -> Pack:
    """The pack of document 0, but for some of its parts."""
    return dataclasses.replace(join_pieces([piece(0)]), **{name: np.array(part) for name, part in changes.items()})


@pytest.mark.parametrize(
    ("packs", "words"),
    [
        ([edited(document_starts=[1])], "packs[0]: document_starts must begin with 0, got [1]"),
        ([edited(document_starts=[0, -1])], "packs[0]: document_starts must increase"),
        ([edited(document_starts=[0, 4])], "packs[0]: document_starts must increase and be less than length 4"),
        ([edited(input_ids=[0.0] * 4)], "packs[0]: input_ids must be integers"),
        ([edited(input_ids=np.array([], dtype=int))], "packs[0]: length must be an integer of at least 1"),
        ([edited(documents=[0, 1])], "packs[0]: documents must be 1, one for each piece"),
        ([edited(offsets=[0.0])], "packs[0]: offsets must be integers"),
        ([edited(), edited()], "packs hold id 0 of document 0 twice"),
        ([edited(), join_pieces([piece(0, 3)])], "packs hold id 3 of document 0 twice"),
        ([edited(documents=[4])], "ids 0 ... 3 of document 4, but the document has others there, or none"),
        ([edited(offsets=[1])], "of document 0, but the document has others there, or none"),
        ([edited(documents=[5])], "of document 5, but the document has others there, or none"),
        ([edited(documents=[-2])], "of document -2, but the document has others there, or none"),
        ([join_pieces([piece(0), piece(2)])], "packs[0] has 11 ids"),
        ([[1, 2, 3]], "packs[0] must be a Pack, got list"),
        (None, "packs must be a list of them, got NoneType"),
    ],
)
def test_packs_that_do_not_add_up_have_no_account(packs, words):
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        packing_report(DOCUMENTS, packs, 8)
