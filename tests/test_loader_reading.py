"""What one rank gets in one epoch: counted beside loops over windows, and said where a loader fails."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.auditing_loaders.loader_reading import Call, LoaderError, guarded, ledger_of, make_stream, read_epoch
from course_lib.foundation import token_ledger

NO_SEPARATORS = np.array([], dtype=np.int64)


def call_of(make_loader, num_tokens=60, lengths=None, max_batches=None, **more):
    stream, documents, texts = make_stream(num_tokens, lengths, None, None)
    return Call(make_loader, stream, documents, texts, NO_SEPARATORS, max_batches, False, **more)


def loader_of(batches, length):
    """Windows at these starts, a list of starts for each batch."""

    def make_loader(ids):
        for starts in batches:
            at = np.array(starts)[:, None] + np.arange(length)
            yield ids[at], ids[at + 1]

    return make_loader


def epoch_of(batches, length=4, **more):
    call = call_of(loader_of(batches, length), **more)
    return read_epoch(call, call())


some_batches = st.lists(st.lists(st.integers(0, 55), min_size=1, max_size=3), min_size=1, max_size=5)


@settings(max_examples=100)
@given(some_batches)
def test_windows_and_their_uses_are_those_of_the_starts(batches):
    epoch = epoch_of(batches)
    starts = [start for batch in batches for start in batch]
    assert np.concatenate(epoch.starts).tolist() == np.concatenate(epoch.firsts).tolist() == starts
    assert (epoch.num_batches, epoch.row_length) == (len(batches), 4)
    assert epoch.batch_size == max(map(len, batches))
    assert epoch.commonest_error == 0
    assert ledger_of([epoch]) == token_ledger(starts, 60, 4)
    same = [[one == other for other in starts] for one in starts]
    assert (epoch.order[:, None] == epoch.order[None]).tolist() == same
    rows = [{"input_ids": 1_000 + np.array(batch)[:, None] + np.arange(5)} for batch in batches]
    call = call_of(lambda ids: [row | {"labels": row["input_ids"]} for row in rows])
    assert np.array_equal(read_epoch(call, call()).as_target, epoch.as_target)  # as the model shifts
    for row, start in enumerate(starts):
        assert epoch.first_of(row) == start
    places = [f"row {row} of batch {number}" for number, batch in enumerate(batches) for row in range(len(batch))]
    assert [epoch.place_of(row) for row in range(len(starts))] == places


@given(some_batches)
def test_it_goes_forward_if_no_place_of_the_batch_goes_back(batches):
    columns = [[batch[place] for batch in batches if place < len(batch)] for place in range(3)]
    epoch = epoch_of(batches)
    assert epoch.goes_forward == all(column == sorted(column) for column in columns)
    assert epoch.tracks() == [(min(column), max(column) + 4) for column in columns if column]


@given(st.lists(some_batches, min_size=2, max_size=3))
def test_ranks_are_summed_up(ranks):
    starts = [start for batches in ranks for batch in batches for start in batch]
    assert ledger_of([epoch_of(batches) for batches in ranks]) == token_ledger(starts, 60, 4)


def test_documents_know_who_a_position_belongs_to_and_what_is_an_edge():
    _, documents, _ = make_stream(60, [5, 10, 45], None, None)
    assert documents.starts.tolist() == [0, 5, 15]
    assert documents.number_of(np.array([0, 4, 5, 14, 15, 59])).tolist() == [1, 1, 2, 2, 3, 3]
    before, here = np.array([4, 4, 20, 20]), np.array([5, 30, 15, 40])
    assert documents.is_edge(before, here).tolist() == [True, True, True, False]
    assert not make_stream(60, None, None, None)[1].are_known


def test_an_epoch_is_cut_after_so_many_batches_or_begun_in_the_middle():
    batches = [[0], [5], [10], [15]]
    assert epoch_of(batches, max_batches=3).is_cut
    assert epoch_of(batches, max_batches=3).num_batches == 3
    assert not epoch_of(batches).is_cut
    call = call_of(loader_of(batches, 4))
    made = call()
    begun = iter(made.loader)
    next(begun)
    assert np.concatenate(read_epoch(call, made, batches=begun).starts).tolist() == [5, 10, 15]


def test_each_batch_is_shown_with_its_name():
    seen = []
    call = call_of(loader_of([[0], [5, 9]], 4), rank=1, world_size=2)
    read_epoch(call, call(), look=lambda rows, batch, at: seen.append((rows.tokens[:, 0].tolist(), at)), name=" twice")
    assert seen == [([0], "batch 0 of rank 1 twice"), ([5, 9], "batch 1 of rank 1 twice")]


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
