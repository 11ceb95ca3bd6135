"""Ids that a narrow dtype has made others of are put back, and no others are touched."""

import numpy as np
import pytest

from course_lib.auditing_loaders import audit_loader
from course_lib.auditing_loaders.batch_rows import read_batch
from course_lib.auditing_loaders.coded_stream import CodedStream
from course_lib.auditing_loaders.narrow_ids import restore_ids

STREAM = CodedStream.below(128_256, 500)
ROWS = np.arange(0, 480, 16)[:4, None] + np.arange(16)


@pytest.mark.parametrize("dtype", ["int16", "uint16", "uint8"])
def test_a_batch_is_restored_and_says_where_and_by_which_dtype(dtype):
    kept = STREAM.ids.astype(dtype).astype(int)
    batch = restore_ids(read_batch((kept[ROWS], kept[ROWS + 1])), STREAM)
    assert batch.kept_as == dtype
    assert batch.inputs[:, :-1].tolist() == STREAM.ids[ROWS].tolist()
    assert batch.labels[:, 1:].tolist() == STREAM.ids[ROWS + 1].tolist()
    changed = STREAM.ids != kept
    assert batch.wrapped[:, :-1].tolist() == changed[ROWS].tolist()
    assert batch.came[batch.wrapped].tolist() != batch.inputs[batch.wrapped].tolist()


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64"])
def test_a_dtype_that_is_wide_enough_changes_nothing(dtype):
    kept = STREAM.ids.astype(dtype)
    batch = read_batch({"input_ids": kept[ROWS], "labels": np.where(ROWS % 5, kept[ROWS].astype(np.int64), -100)})
    assert restore_ids(batch, STREAM) is batch


def test_labels_alone_and_padding_and_ignored_labels():
    kept = STREAM.ids.astype("uint16").astype(int)
    labels = np.where(ROWS % 5, kept[ROWS], -100)
    inputs = np.where(ROWS % 16 > 12, 0, STREAM.ids[ROWS])
    batch = restore_ids(read_batch({"input_ids": inputs, "labels": labels}), STREAM)
    assert batch.inputs.tolist() == inputs.tolist()
    assert (batch.labels == -100).tolist() == (ROWS % 5 == 0).tolist()
    assert (batch.labels < 0).sum() == (ROWS % 5 == 0).sum()
    few = [[0, 0, 0], [50_256, 2, 1]]
    padding = read_batch({"input_ids": few, "labels": few})
    assert restore_ids(padding, STREAM) is padding


def test_a_stream_that_counts_restores_nothing():
    stream = CodedStream.of_positions(40_000)
    batch = read_batch({"input_ids": (stream.ids[:16] % 2**16)[None]})
    assert restore_ids(batch, stream) is batch


@pytest.mark.parametrize(("vocab_size", "is_open"), [(65_536, False), (65_537, True), (65_544, True), (65_545, False)])
def test_a_vocabulary_whose_largest_ids_are_not_handed_out_leaves_it_open(vocab_size, is_open):
    def narrow(ids):
        rows = np.lib.stride_tricks.sliding_window_view(ids.astype(np.uint16).astype(np.int64), 17)[::16]
        return [(rows[n : n + 4, :-1].copy(), rows[n : n + 4, 1:].copy()) for n in range(0, len(rows), 4)]

    audit = audit_loader(narrow, vocab_size=vocab_size)
    assert ("narrow_ids" in audit.undecided) == is_open
    assert ("narrow_ids" in audit.names) == (vocab_size > 65_544)
