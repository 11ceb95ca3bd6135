"""Packs and streams of them, each against a naive twin."""

from __future__ import annotations

import itertools
import json
import re
from functools import partial

import datasets
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from course_lib import document_packing
from course_lib.document_packing import (
    assign_packs,
    crop_documents,
    pack_documents,
    pack_examples,
    pack_on_one_screen,
    pack_rows,
    pack_stream,
    packing_report,
    pad_documents,
    survey_packs,
)
from course_lib.foundation import CharTokenizer, load_documents
from course_lib.tokenizer_pipeline import build_tokenizer, wrap_tokenizer

EXAMPLES = settings(max_examples=40)

shapes = st.integers(1, 12).flatmap(lambda longest: st.tuples(st.lists(st.integers(1, longest)), st.just(longest)))

texts_and_length = st.tuples(st.lists(st.integers(0, 20), max_size=25), st.integers(1, 9))


def documents_of(lengths: list[int]) -> list[np.ndarray]:
    """Documents in which no two tokens are alike: each is its document and its place."""
    return [np.arange(length, dtype=np.uint32) + 1000 * number for number, length in enumerate(lengths)]


def tokens_of(packs: list) -> list[list[int]]:
    return [pack.input_ids.tolist() for pack in packs]


def pieces_of(documents: list[np.ndarray], max_length: int) -> list[list[int]]:
    return [ids[i : i + max_length].tolist() for ids in documents for i in range(0, len(ids), max_length)]


# assign_packs


def naive_packs(lengths: list[int], max_length: int, strategy: str) -> list[list[int]]:
    packs: list[list[int]] = []
    order = list(range(len(lengths)))
    if strategy != "greedy":
        order.sort(key=lambda document: -lengths[document])
    for document in order:
        rooms = [max_length - sum(lengths[d] for d in pack) for pack in packs]
        fitting = [i for i, room in enumerate(rooms) if room >= lengths[document]]
        if strategy == "greedy":
            fitting = [i for i in fitting if i == len(packs) - 1]
        if not fitting:
            packs.append([document])
        elif strategy == "best_fit":
            packs[min(fitting, key=lambda i: rooms[i])].append(document)
        else:
            packs[fitting[0]].append(document)
    return packs


@pytest.mark.parametrize("strategy", document_packing.STRATEGIES)
@given(shapes)
def test_packs_are_those_of_a_scan_over_all_of_them(strategy, shape):
    lengths, max_length = shape
    packs = assign_packs(lengths, max_length, strategy=strategy)
    assert packs == naive_packs(lengths, max_length, strategy)
    assert sorted(itertools.chain.from_iterable(packs)) == list(range(len(lengths)))


def test_best_fit_fills_100_000_documents_at_2048():
    lengths = np.clip(np.random.default_rng(0).lognormal(5.5, 1.2, 100_000), 1, 2048).astype(int)
    packs = assign_packs(lengths, 2048)
    assert max(sum(lengths[pack]) for pack in packs) <= 2048
    assert lengths.sum() / len(packs) / 2048 >= 0.999


@pytest.mark.parametrize(
    ("lengths", "max_length", "packs"),
    [
        (np.array([100, 100, 50], dtype=np.int8), np.int8(127), [[0], [1], [2]]),
        (np.array([100, 100, 50], dtype=np.int8), 250, [[0, 1, 2]]),
        ([2**29 + n for n in range(6)], 2**31 - 1, [[5, 4, 3], [2, 1, 0]]),
        ([3, 1, 2], 2**31 - 1, [[0, 2, 1]]),  # no table of all capacities
    ],
)
@pytest.mark.parametrize("strategy", ["first_fit", "best_fit"])
def test_lengths_that_are_large_for_their_type_are_packed_alike(lengths, max_length, packs, strategy):
    assert assign_packs(lengths, max_length, strategy=strategy) == packs


def test_what_no_pack_can_hold_is_refused_and_so_is_an_unknown_strategy():
    for lengths, got in (([3, 0], "0 ... 3"), ([3, 5], "3 ... 5")):
        with pytest.raises(ValueError, match=rf"^lengths must lie in 1 ... max_length 4, got {got}"):
            assign_packs(lengths, 4)
    with pytest.raises(ValueError, match=r"^max_length must be"):
        assign_packs([3, 2], 2**31)
    with pytest.raises(ValueError, match=r"^strategy must be one of"):
        assign_packs([3, 2], 4, strategy="bfd")


# pack_on_one_screen


@given(texts_and_length, st.booleans())
def test_the_packer_on_one_screen_makes_the_rows_of_the_real_one(shape, as_lists):
    lengths, max_length = shape
    documents = documents_of(lengths)
    packs = pack_documents(documents, max_length)
    rows = pack_on_one_screen([ids.tolist() for ids in documents] if as_lists else documents, max_length)
    assert [list(row["input_ids"]) for row in rows] == tokens_of(packs)
    assert [row["document_starts"] for row in rows] == [pack.document_starts.tolist() for pack in packs]
    assert [row["documents"] for row in rows] == [pack.documents.tolist() for pack in packs]


# pack_documents


@pytest.mark.parametrize("strategy", document_packing.STRATEGIES)
@given(texts_and_length)
def test_packs_hold_every_piece_once_as_assigned_by_length(strategy, shape):
    lengths, max_length = shape
    documents = documents_of(lengths)
    packs = pack_documents(iter(documents), max_length, strategy=strategy)
    pieces = pieces_of(documents, max_length)
    groups = assign_packs(list(map(len, pieces)), max_length, strategy=strategy)
    assert tokens_of(packs) == [[token for i in group for token in pieces[i]] for group in groups]
    for pack, group in zip(packs, groups, strict=True):
        assert np.diff(pack.document_starts, append=len(pack)).tolist() == [len(pieces[i]) for i in group]
        assert [1000 * p.document + p.offset for p in pack.pieces()] == [pieces[i][0] for i in group]
    report = packing_report(documents, packs, max_length)
    assert report.tokens_lost == report.documents_truncated == report.documents_dropped == 0
    assert report.documents_split == sum(n > max_length for n in lengths)


@given(texts_and_length)
def test_a_truncated_document_keeps_its_beginning(shape):
    lengths, max_length = shape
    documents = documents_of(lengths)
    packs = pack_documents(documents, max_length, split_long=False)
    kept = {piece.document: piece.ids.tolist() for pack in packs for piece in pack.pieces()}
    assert kept == {n: ids[:max_length].tolist() for n, ids in enumerate(documents) if len(ids)}
    report = packing_report(documents, packs, max_length)
    assert report.tokens_lost == sum(max(0, n - max_length) for n in lengths)
    assert report.documents_split == 0


@given(texts_and_length, st.booleans(), st.data())
def test_labels_and_masks_lie_as_their_ids_do(shape, split_long, data):
    lengths, max_length = shape
    documents = documents_of(lengths)
    labels = [[data.draw(st.sampled_from([-100, token])) for token in ids.tolist()] for ids in documents]
    score = [[value % 7 / 2 for value in each] for each in labels]
    packs = pack_documents(documents, max_length, split_long=split_long, labels=labels)
    of_token = dict(zip(itertools.chain(*map(np.ndarray.tolist, documents)), itertools.chain(*labels), strict=True))
    for pack in packs:
        assert pack.labels.tolist() == [of_token[token] for token in pack.input_ids.tolist()]
        assert pack.along(score).tolist() == [value % 7 / 2 for value in pack.labels.tolist()]
    for pack in pack_stream(documents, max_length, buffer_size=3):
        assert pack.along(labels).tolist() == [of_token[token] for token in pack.input_ids.tolist()]
    features = {"input_ids": [ids.tolist() for ids in documents], "labels": labels, "row": [0] * len(documents)}
    packed = pack_examples(features, max_length=max_length, split_long=split_long)
    assert packed["input_ids"] == tokens_of(packs)
    assert packed["labels"] == [pack.labels.tolist() for pack in packs]
    assert set(packed) == {"input_ids", "document_starts", "labels"}


@pytest.mark.parametrize(("documents", "dtype"), [([[1, 2], [3]], "uint16"), ([[1, 2], [70_000]], "uint32")])
def test_packs_are_as_compact_as_their_ids(documents, dtype):
    assert pack_documents(documents, 4)[0].input_ids.dtype == dtype


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        ([1, 2], "documents[0]: ids must be one-dimensional"),
        ([[1], [-2]], "documents[1]: ids must not be negative"),
        ("abc", "documents must be several streams of ids, got 'abc'"),
    ],
)
@pytest.mark.parametrize("pack", [pack_documents, pad_documents, crop_documents, partial(pack_stream, buffer_size=2)])
def test_documents_are_several_and_a_wrong_one_is_named(documents, words, pack):
    with pytest.raises((TypeError, ValueError), match=rf"^{re.escape(words)}"):
        list(pack(documents, 4))


@pytest.mark.parametrize("labels", [[[1]], []])
def test_labels_are_one_for_each_id(labels):
    with pytest.raises(ValueError, match=r"^labels must be as many"):
        pack_documents([[1, 2]], 4, labels=labels)


# pad_documents, crop_documents


@given(texts_and_length)
def test_padding_gives_each_piece_a_row(shape):
    lengths, max_length = shape
    packs = pad_documents(documents_of(lengths), max_length)
    assert tokens_of(packs) == pieces_of(documents_of(lengths), max_length)
    assert all(pack.document_starts.tolist() == [0] for pack in packs)


def naive_crop(lengths: list[int], max_length: int, buffer_size: int, crop: str) -> list[list[tuple[int, int]]]:
    """Documents and how much of each, row by row, by sorting the buffer each time."""
    arriving = [(n, number) for number, n in enumerate(lengths) if n]
    buffer, rows = [], []
    while arriving or buffer:
        row, room = [], max_length
        while room:
            while arriving and len(buffer) < buffer_size:
                buffer.append(arriving.pop(0))
            if not buffer:
                break
            fitting = [pair for pair in buffer if pair[0] <= room]
            if fitting:
                chosen = max(fitting, key=lambda pair: (pair[0], -pair[1]))
            elif crop == "shortest":
                chosen = min(buffer)
            else:
                chosen = buffer[0]
            buffer.remove(chosen)
            row.append((chosen[1], min(chosen[0], room)))
            room -= row[-1][1]
        rows.append(row)
    return rows


@given(texts_and_length, st.integers(1, 6), st.sampled_from(["shortest", "oldest"]))
def test_rows_are_cropped_as_by_a_sorted_buffer(shape, buffer_size, crop):
    lengths, max_length = shape
    documents = documents_of(lengths)
    packs = crop_documents(documents, max_length, buffer_size=buffer_size, crop=crop)
    rows = [[(piece.document, len(piece.ids)) for piece in pack.pieces()] for pack in packs]
    assert rows == naive_crop(lengths, max_length, buffer_size, crop)
    assert all(len(pack) == max_length for pack in packs[:-1])
    assert not any(pack.offsets.any() for pack in packs)
    report = packing_report(documents, packs, max_length)
    assert report.tokens_lost == sum(lengths) - sum(map(len, packs))
    assert report.documents_dropped == report.documents_split == 0


def test_crop_the_shortest_lets_long_documents_silt_up_the_buffer():
    lengths = np.random.default_rng(0).lognormal(5.5, 1.3, 30_000).astype(int) + 1
    stream = np.zeros(lengths.max(), dtype=np.uint16)
    packs = crop_documents([stream[:n] for n in lengths], 2048, buffer_size=1000)
    read = np.array([lengths[pack.documents].sum() for pack in packs])
    lost = read - [len(pack) for pack in packs]
    shares = [lost[part].sum() / read[part].sum() for part in np.array_split(np.arange(len(packs)), 10)]
    assert shares[0] < 0.01 < 0.2 < shares[-2] < shares[-1]


def test_a_row_that_is_longer_than_all_documents_takes_them_all():
    documents = [[1, 2, 3], [], [4, 5, 6, 7, 8], [9]] * 2
    (row,) = crop_documents(documents, 2**31 - 1, buffer_size=2)
    assert row.input_ids.tolist() == [4, 5, 6, 7, 8, 1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]
    (pack,) = pack_stream(documents, 2**31 - 1, buffer_size=9)
    assert len(pack) == 18
    for pack in (crop_documents, pack_stream):
        with pytest.raises(ValueError, match=r"^buffer_size must be"):
            pack([[1]], 4, buffer_size=0)


# pack_examples


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [document.text for document in load_documents()][:60]


@pytest.fixture(scope="module")
def tokenizer(texts):
    return build_tokenizer(texts, vocab_size=400, progress=False)


def test_a_data_set_is_packed_by_map(texts, tokenizer):
    dataset = datasets.Dataset.from_dict({"text": texts, "number": range(len(texts))})
    packed = dataset.map(
        pack_examples,
        batched=True,
        batch_size=20,
        remove_columns=dataset.column_names,
        fn_kwargs={"tokenizer": wrap_tokenizer(tokenizer, model_max_length=100), "max_length": 100},
    )
    documents = [tokenizer.encode(text).ids for text in texts]
    assert packed.column_names == ["input_ids", "document_starts"]
    assert sum(map(len, packed["input_ids"])) == sum(map(len, documents))
    expected = [pack for i in range(0, 60, 20) for pack in pack_documents(documents[i : i + 20], 100)]
    assert packed["input_ids"][:] == tokens_of(expected)
    assert packed["document_starts"][:] == [pack.document_starts.tolist() for pack in expected]


def test_texts_or_ids_are_packed_with_the_columns_that_are_asked_for():
    characters = CharTokenizer("abcde")
    texts = {"x": ["abc", "", "de"], "row": [1, 2, 3]}
    assert pack_examples(texts, characters, max_length=4, text_column="x") == {
        "input_ids": [[0, 1, 2, 5], [3, 4, 5, 5]],
        "document_starts": [[0], [0, 3]],
    }
    cut = pack_examples({"text": ["abcde"]}, characters, max_length=4, split_long=False, end_of_text_id=9)
    assert cut["input_ids"] == [[0, 1, 2, 3]]
    assert pack_examples({"text": []}, characters, max_length=4) == {"input_ids": [], "document_starts": []}
    ids = {"input_ids": [[1, 2], [3]], "score": [[0, 1], [1]], "text": ["never", "read"]}
    assert pack_examples(ids, max_length=4, columns=["score"])["score"] == [[0, 1, 1]]


@pytest.mark.parametrize(
    ("features", "settings", "words"),
    [
        ({"text": "ab"}, {}, "use map with batched=True"),
        (["ab"], {}, "features must be a batch"),
        ({"text": ["ab"]}, {"text_column": "body"}, r"features must .*got \['text'\]"),
        ({"input_ids": [[1], [2]], "labels": [[1], [2, 3]]}, {}, "labels must be"),
    ],
)
def test_a_batch_that_cannot_be_packed_is_refused(features, settings, words):
    with pytest.raises((TypeError, ValueError), match=words):
        pack_examples(features, **{"tokenizer": CharTokenizer("ab"), "max_length": 4} | settings)


@pytest.mark.parametrize("is_wrapped", [True, False])
def test_texts_without_any_mark_are_not_joined_but_their_ids_are(is_wrapped):
    unmarked = Tokenizer(models.WordLevel({"a": 0, "b": 1}, "a"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=unmarked) if is_wrapped else unmarked
    with pytest.raises(ValueError, match=r"^end_of_text_id must be given: .* give them as a column `input_ids`$"):
        pack_examples({"text": ["a", "b"]}, tokenizer, max_length=4)
    assert pack_examples({"text": ["a", "b"]}, tokenizer, max_length=4, end_of_text_id=9)["input_ids"] == [[0, 9, 1, 9]]
    assert pack_examples({"input_ids": [[0], [1]]}, tokenizer, max_length=4)["input_ids"] == [[0, 1]]


def test_names_that_other_packers_have_are_answered():
    with pytest.raises(
        TypeError, match=r"^pack_examples has no argument 'overflow': use `split_long`: False truncates"
    ):
        pack_examples({"input_ids": [[1]]}, max_length=4, overflow=False)


# pack_stream


def naive_stream(lengths: list[int], max_length: int, buffer_size: int) -> list[list[int]]:
    """The numbers of the pieces of each pack, with a list as the buffer."""
    sizes = [min(max_length, n - start) for n in lengths for start in range(0, n, max_length)]
    buffer, packs = [], []

    def emit():
        pack, room = [buffer.pop(0)], max_length
        room -= sizes[pack[0]]
        while fitting := [piece for piece in buffer if sizes[piece] <= room]:
            chosen = max(fitting, key=lambda piece: (sizes[piece], -piece))
            buffer.remove(chosen)
            pack.append(chosen)
            room -= sizes[chosen]
        packs.append(pack)

    for piece in range(len(sizes)):
        buffer.append(piece)
        if len(buffer) == buffer_size:
            emit()
    while buffer:
        emit()
    return packs


@given(texts_and_length, st.integers(1, 7))
def test_a_stream_packs_as_with_a_list_for_a_buffer(shape, buffer_size):
    lengths, max_length = shape
    documents = documents_of(lengths)
    pieces = pieces_of(documents, max_length)
    packs = list(pack_stream(documents, max_length, buffer_size=buffer_size))
    expected = naive_stream(lengths, max_length, buffer_size)
    assert tokens_of(packs) == [[token for i in pack for token in pieces[i]] for pack in expected]
    assert packing_report(documents, packs, max_length).tokens_lost == 0


def test_a_stream_reads_no_further_ahead_than_its_buffer():
    read = 0

    def documents():
        nonlocal read
        for ids in documents_of([3, 5, 40, 2, 2, 7, 1, 8, 8, 8, 1, 1]):
            read += 1
            yield ids

    emitted = set()
    for pack in pack_stream(documents(), 8, buffer_size=4):
        emitted |= set(pack.documents.tolist())
        assert read <= len(emitted) + 4


def test_documents_that_can_be_read_once_are_not_silently_empty():
    stream = pack_stream(iter(documents_of([3, 5])), 6, buffer_size=2)
    assert len(list(stream)) == 2
    with pytest.raises(ValueError, match="documents must be"):
        iter(stream)


# PackStream.state_dict, .load_state_dict


@EXAMPLES
@given(texts_and_length, st.integers(1, 7), st.data())
def test_a_resumed_stream_yields_what_was_left_twice_in_a_row(shape, buffer_size, data):
    lengths, max_length = shape
    documents = documents_of(lengths)

    def new():
        return pack_stream(documents, max_length, buffer_size=buffer_size)

    everything = tokens_of(list(new()))
    first = data.draw(st.integers(0, len(everything)))
    second = data.draw(st.integers(first, len(everything)))
    stream, got = new(), []
    for stop in (first, second):
        iterator = iter(stream)
        got += tokens_of([next(iterator) for _ in range(stop - len(got))])
        state = json.loads(json.dumps(stream.state_dict()))
        stream = new()
        stream.load_state_dict(state)
        assert stream.state_dict() == state
    assert got + tokens_of(list(stream)) == everything
    assert tokens_of(list(stream)) == everything  # the next epoch begins anew


def test_a_state_from_the_end_has_nothing_left():
    documents = documents_of([3, 5, 2])
    stream, other = (pack_stream(documents, 6, buffer_size=2) for _ in range(2))
    packs = list(stream)
    other.load_state_dict(stream.state_dict())
    assert list(other) == []
    assert tokens_of(list(other)) == tokens_of(packs)


def test_a_peek_loses_nothing_and_the_iterator_that_acts_last_is_saved():
    documents = documents_of([3, 5, 2, 4, 4, 1])
    stream = pack_stream(documents, 6, buffer_size=2)
    everything = tokens_of(list(stream))
    ahead, behind = iter(stream), iter(stream)
    for iterator, steps in ((ahead, 3), (behind, 1)):
        for _ in range(steps):
            next(iterator)
    other = pack_stream(documents, 6, buffer_size=2)
    other.load_state_dict(stream.state_dict())
    assert tokens_of(list(other)) == everything[1:]


def test_other_documents_are_refused_when_they_are_read():
    documents = documents_of([3, 5, 2, 4, 4, 1])
    stream = pack_stream(documents, 6, buffer_size=2)
    next(iter(stream))
    state = stream.state_dict()
    joined = [np.concatenate(documents[:2]), *documents[2:]]
    for others in (documents[1:], documents[:1], joined, [documents[0] + 1, *documents[1:]]):
        other = pack_stream(others, 6, buffer_size=2)
        other.load_state_dict(state)
        with pytest.raises(ValueError, match="documents must be those of the saved state"):
            list(other)


def test_a_document_that_cannot_be_read_leaves_a_state_to_go_on_from():
    good = documents_of([3, 5, 2, 4, 4, 1])
    everything = tokens_of(list(pack_stream(good, 6, buffer_size=4)))
    stream, got = pack_stream([*good[:5], "text"], 6, buffer_size=4), []
    with pytest.raises(TypeError, match=r"documents\[5\]: ids must be integers, got text"):
        got.extend(pack.input_ids.tolist() for pack in stream)
    other = pack_stream(good, 6, buffer_size=4)
    other.load_state_dict(stream.state_dict())
    assert got
    assert got + tokens_of(list(other)) == everything


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"buffer_size": 3}, "state was saved with buffer_size=3, but this stream has buffer_size=2"),
        ({"pieces_read": -1}, "pieces_read must be"),
        ({"pieces_read": 99, "checksum": 0}, "documents must be those of the saved state"),
        ({"waiting": [5]}, "documents must be those of the saved state, and wait as it says"),
        ({"waiting": []}, "documents must be those of the saved state"),
        ({"checksum": 1}, "documents must be those of the saved state"),
    ],
)
def test_a_state_that_nobody_saved_is_refused(entry, words):
    stream = pack_stream([[1, 2, 3], [], [4, 5, 6, 7, 8], [9]], 4, buffer_size=2)
    next(iter(stream))
    with pytest.raises(ValueError, match=rf"^{words}"):  # some only when the documents are read
        stream.load_state_dict(stream.state_dict() | entry) or list(stream)


# pack_rows, survey_packs


def test_packs_are_drawn_as_rows_of_their_documents():
    assert pack_rows([[1, 0], [2]], [1, 2, 3], 4) == {
        "row 0": [(0, 2, "inputs", 1), (2, 1, "inputs2", 0), (3, 1, "lost")],
        "row 1": [(0, 3, "inputs", 2), (3, 1, "lost")],
    }
    with pytest.raises(ValueError, match=r"^packs must .*4.*got one of 6"):
        pack_rows([[0, 1]], [3, 3], 4)


def test_a_survey_counts_tokens_documents_and_those_that_are_there_only_in_part():
    packs = pack_documents([[5, 5, 5, 5, 5, 5, 1], [6, 1], [7, 7, 1], [8, 1]], 5)
    assert survey_packs(packs, 5) == [
        ["pack 0", 5, 1, 1, "100.0%"],
        ["pack 1", 5, 2, 1, "100.0%"],
        ["pack 2", 4, 2, 0, "80.0%"],
        ["all 3 packs", 14, 5, 2, "93.3%"],
    ]


def test_a_survey_takes_rows_divides_behind_an_end_and_says_nothing_where_nothing_tells():
    rows = [{"input_ids": [5, 1, 6, 6], "document_starts": [0, 2]}, {"input_ids": [7, 1], "document_starts": [0]}]
    by_rows = survey_packs(rows, 4, eos_token_id=1)
    assert by_rows == [
        ["pack 0", 4, 2, 1, "100.0%"],
        ["pack 1", 2, 1, 0, "50.0%"],
        ["all 2 packs", 6, 3, 1, "75.0%"],
    ]
    assert survey_packs([{"input_ids": row["input_ids"]} for row in rows], 4, eos_token_id=1) == by_rows
    assert survey_packs([{"input_ids": [5, 6, 1, 7]}], 4, eos_token_id=1)[0][2] == 2
    unknown = survey_packs([{"input_ids": [5, 1, 6], "document_starts": [0, 2]}], 3)
    assert [row[3] for row in unknown] == [None, None]


def test_of_many_packs_some_are_listed_from_the_first_to_the_last():
    *listed, total = survey_packs(pack_documents([[n] for n in range(1000)], 10, strategy="greedy"), 10)
    assert [row[0] for row in listed] == [f"pack {number}" for number in range(0, 100, 9)]
    assert total == ["all 100 packs", 1000, 1000, 0, "100.0%"]


@pytest.mark.parametrize(
    ("pack", "words"),
    [
        ({"input_ids": [1, 2]}, "packs[0] has no `document_starts`: give `eos_token_id`"),
        ({"input_ids": [1, 2, 3], "document_starts": [0]}, "1 to max_length 2 ids, got 3"),
        ({"input_ids": [1, 2], "document_starts": [1]}, "must rise from 0 to less than 2"),
        ({"input_ids": [1, 2], "document_starts": [0, 2]}, "must rise from 0"),
        ({"input_ids": [1], "document_starts": [0], "documents": [0, 1]}, "its 1 pieces"),
        ({"ids": [1]}, "packs[0] must have `input_ids`, got dict"),
    ],
)
def test_a_pack_that_does_not_add_up_is_not_surveyed(pack, words):
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        survey_packs([pack], 2)
    with pytest.raises(ValueError, match=r"^packs must be at least one"):
        survey_packs([], 4)
