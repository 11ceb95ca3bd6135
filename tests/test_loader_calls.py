"""What one rank gets in one epoch, and what is said where a loader fails."""

import numpy as np
import pytest

from course_lib.auditing_loaders.loader_calls import LoaderError, guarded, make_stream, read_epoch
from readings import call_of, loader_of, reading_of


def test_documents_know_who_a_position_belongs_to_and_what_is_an_edge():
    _, documents, _ = make_stream(60, [5, 10, 45], None, None)
    assert documents.starts.tolist() == [0, 5, 15]
    assert documents.number_of(np.array([0, 4, 5, 14, 15, 59])).tolist() == [1, 1, 2, 2, 3, 3]
    before, here = np.array([4, 4, 20, 20]), np.array([5, 30, 15, 40])
    assert documents.is_edge(before, here).tolist() == [True, True, True, False]
    assert not make_stream(60, None, None, None)[1].are_known


def test_an_epoch_is_cut_after_so_many_batches_or_begun_in_the_middle():
    batches = [[0], [5], [10], [15]]
    assert reading_of(batches, max_batches=3).is_cut
    assert reading_of(batches, max_batches=3).num_batches == 3
    assert not reading_of(batches).is_cut
    call = call_of(loader_of(batches, 4))
    made = call()
    begun = iter(made.loader)
    next(begun)
    assert read_epoch(call, made, batches=begun).starts.tolist() == [5, 10, 15]


def test_each_batch_is_shown_with_its_name():
    seen = []
    call = call_of(loader_of([[0], [5, 9]], 4), rank=1, world_size=2)
    read_epoch(call, call(), look=lambda rows, at: seen.append((len(rows.tokens), at)), epoch=3)
    assert seen == [(1, "batch 0 of rank 1 in epoch 3"), (2, "batch 1 of rank 1 in epoch 3")]


def test_a_call_gives_what_is_named_and_says_it():
    call = call_of(lambda ids, rank, *, epoch, other=3: [(rank, epoch, other)], rank=1, world_size=2)
    assert call.names == ["epoch", "rank"]
    made = call(epoch=4)
    assert made.words == "make_loader(ids, epoch=4, rank=1)"
    assert made.loader == [(1, 4, 3)]
    assert made.ids is not call().ids


def test_what_raises_is_said_with_its_cause():
    def fails(number):
        raise KeyError(number)

    with pytest.raises(LoaderError, match=r"^reading it raised KeyError: 5$") as caught:
        guarded("reading it", fails, 5)
    assert isinstance(caught.value.__cause__, KeyError)
    assert guarded("adding", max, 1, 2) == 2
