"""Loaders of mixtures: they gather what each source holds, lose no draw, and go on where a run stopped."""

from __future__ import annotations

import json
import math
import pickle
from functools import partial
from itertools import islice

import numpy as np
import pytest
import torch
from accelerate.data_loader import prepare_data_loader
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.foundation import CharTokenizer, token_ledger
from course_lib.mixing_sources import MixedWindows, MixtureOrder, StagedMixture, make_mixture_loader
from course_lib.sliding_windows import SlidingWindowDataset, gather_windows
from course_lib.token_shards import ShardedStream, write_shards

T = 4
STREAMS = {"a": np.arange(100), "b": np.arange(70_000, 70_043), "c": np.arange(500, 900)}
STRIDES = {"a": 5, "b": 3, "c": 4}
WEIGHTS = {"a": 0.5, "b": 0.3, "c": 0.2}


def dataset(name: str, **changes) -> SlidingWindowDataset:
    stream, stride = changes.get(name, STREAMS[name]), changes.get("stride", STRIDES[name])
    return SlidingWindowDataset(stream, T, stride)


def windows_of(names="abc", **changes) -> MixedWindows:
    return MixedWindows({name: dataset(name, **changes) for name in names})


def mixture_of(windows: MixedWindows, num_draws=103, weights=WEIGHTS, **options) -> MixtureOrder:
    options = {"block_size": 10, "base_seed": 7} | options
    return MixtureOrder(windows.num_windows, {n: weights[n] for n in windows.num_windows}, num_draws, **options)


MIXED = windows_of()
MIXTURE = mixture_of(MIXED)
SIZES = dict(MIXED.num_windows)
ROWS = np.concatenate([torch.cat([x, y[:, -1:]], dim=1) for x, y in (d[:] for d in MIXED.sources.values())])
NUMBER_OF = {row.tobytes(): number for number, row in enumerate(ROWS)}
make = partial(make_mixture_loader, MIXED, MIXTURE)


def numbers(batch: tuple[torch.Tensor, torch.Tensor]) -> list[int]:
    """The number of each window of a batch, by its ids alone."""
    inputs, targets = batch
    return [NUMBER_OF[row.tobytes()] for row in torch.cat([inputs, targets[:, -1:]], dim=1).numpy()]


def read(loader) -> list[int]:
    return [number for batch in loader for number in numbers(batch)]


def steps(loaders, num_batches=None) -> list[int]:
    """What all ranks together read, in the order of the mixture."""
    found = []
    for batches in zip(*(islice(loader, num_batches) for loader in loaders), strict=True):
        found += [number for batch in batches for number in numbers(batch)]
    return found


# The windows of all sources


def test_windows_are_those_of_each_source():
    assert len(MIXED) == len(ROWS) == sum(MIXED.num_windows.values()) == len(NUMBER_OF)
    assert MIXED.cut(slice(None))[0].dtype == np.uint32  # that of the source which needs most
    assert np.array_equal(MIXED.cut(slice(None))[0], ROWS)
    for name, (first, source) in zip("abc", ((0, 0), (20, 1), (33, 2)), strict=True):
        where, places = MIXED.locate(first + np.arange(MIXED.num_windows[name]))
        assert set(where.tolist()) == {source}
        assert places.tolist() == list(range(MIXED.num_windows[name]))
        plain = gather_windows(STREAMS[name], STRIDES[name] * places, T)
        assert all(map(torch.equal, MIXED[first + places], plain))


@settings(max_examples=50)
@given(st.data())
def test_an_index_is_that_of_a_plain_table(data):
    size = len(ROWS)
    shape = data.draw(st.sampled_from([(), (0,), (5,), (2, 3)]))
    count = math.prod(shape)
    index = np.reshape(data.draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count)), shape)
    for dtype in (np.int64, np.int16):
        inputs, targets = MIXED[index.astype(dtype)]
        assert inputs.dtype == targets.dtype == torch.int64
        assert torch.equal(inputs, torch.from_numpy(ROWS[index.astype(int)][..., :-1]))
        assert torch.equal(targets, torch.from_numpy(ROWS[index.astype(int)][..., 1:]))
    ends = st.none() | st.integers(-200, 200)
    cut = slice(data.draw(ends), data.draw(ends), data.draw(st.sampled_from([None, 1, 3, -2])))
    assert np.array_equal(MIXED.cut(cut)[0], ROWS[cut])


def test_small_index_types_do_not_overflow():
    assert np.array_equal(MIXED.cut(np.array([3, -1], dtype=np.int8))[0], ROWS[[3, -1]])
    assert np.array_equal(MIXED.cut(np.array([3, 120], dtype=np.uint8))[0], ROWS[[3, 120]])


def test_memory_maps_and_rows(tmp_path):
    STREAMS["a"].astype(np.uint16).tofile(tmp_path / "a.bin")
    mapped = windows_of("ac", a=np.memmap(tmp_path / "a.bin", dtype=np.uint16, mode="r"))
    assert len(pickle.dumps(mapped)) < 4_000
    for windows in (mapped, pickle.loads(pickle.dumps(mapped))):
        assert windows.cut(slice(None))[0].dtype == np.uint16
        assert np.array_equal(windows.cut([19, 20])[0], ROWS[[19, 33]])
    rows = MixedWindows({name: source.as_rows() for name, source in MIXED.sources.items()})
    assert torch.equal(rows[[1, 40]]["labels"][:, 1:], torch.from_numpy(ROWS[[1, 40], 1:]))
    order = MIXTURE[np.arange(103)]
    batches = list(make_mixture_loader(rows, MIXTURE, 8))
    assert torch.equal(torch.cat([batch["input_ids"] for batch in batches]), torch.from_numpy(ROWS[order]))
    with pytest.raises(ValueError, match="all of one kind"):
        MixedWindows({"a": dataset("a"), "b": dataset("b").as_rows()})


def test_padded_windows_of_a_source_stay_padded_in_a_mixture():
    sources = {
        "padded": SlidingWindowDataset(np.arange(1, 12), T, T, pad_tail=True),  # two whole windows and [9, 10, 11]
        "plain": SlidingWindowDataset(np.arange(100, 121), T, T),
        "large": SlidingWindowDataset(np.arange(70_000, 70_012), T, T, pad_tail=True),
    }
    mixed = MixedWindows(sources)
    pairs = [source[:] for source in sources.values()]
    assert all(torch.equal(got, torch.cat(each)) for got, each in zip(mixed[:], zip(*pairs, strict=True), strict=True))
    inputs, targets = mixed[2]
    assert (inputs.tolist(), targets.tolist()) == ([9, 10, 11, 0], [10, 11, -100, -100])
    assert mixed.cut(2)[0].tolist() == [9, 10, 11, 0, 0]  # and no -1, which would be a large id in uint32
    rows = MixedWindows({name: source.as_rows() for name, source in sources.items()})
    assert rows[2]["labels"].tolist() == [-100, 10, 11, -100, -100]
    order = MixtureOrder(mixed.num_windows, dict.fromkeys(sources, 1), 30)
    for num_workers in (0, 1):
        loader = make_mixture_loader(mixed, order, 7, num_workers=num_workers)
        inputs, targets = (torch.cat(halves) for halves in zip(*loader, strict=True))
        assert torch.equal(inputs, mixed[order[np.arange(30)]][0])
        assert torch.equal(targets, mixed[order[np.arange(30)]][1])
    assert set(targets[targets < 0].tolist()) == {-100}


def test_shards_are_a_source_like_any_other(tmp_path):
    tokenizer = CharTokenizer("ab")
    write_shards(["ab" * 20, "b" * 31], tokenizer, tmp_path, shard_size=25, val_every=10**9, progress=False)
    stream = ShardedStream(tmp_path, "train")
    both = MixedWindows({"a": dataset("a"), "shards": SlidingWindowDataset(stream, T, 6)})
    plain = MixedWindows({"a": dataset("a"), "shards": SlidingWindowDataset(np.asarray(stream), T, 6)})
    assert np.array_equal(both.cut(slice(None))[0], plain.cut(slice(None))[0])
    mixture = MixtureOrder(both.num_windows, {"a": 1, "shards": 3}, 60)
    found = [torch.cat([inputs for inputs, _ in make_mixture_loader(w, mixture, 7)]) for w in (both, plain)]
    assert torch.equal(*found)
    within = MixedWindows({"a": dataset("a"), "shards": SlidingWindowDataset(ShardedStream(tmp_path, "train"), T, 6)})
    loader = make_mixture_loader(within, mixture, 7)
    loader.load_state_dict(json.loads(json.dumps(make_mixture_loader(both, mixture, 9).state_dict())))
    assert torch.equal(next(iter(loader))[0], found[0][:7])


# In the order of the mixture


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_ranks_together_read_every_draw_once_in_order(world_size, drop_last):
    loaders = [make(8, rank=rank, world_size=world_size, drop_last=drop_last) for rank in range(world_size)]
    left_out = 103 % (8 * world_size if drop_last else world_size)
    found = steps(loaders)
    assert found == MIXTURE[np.arange(103 - left_out)].tolist()
    for loader in loaders:
        assert loader.state_dict()["windows_delivered"] == len(found)
        with pytest.raises(ValueError, match="read to its end, 103 windows: make it longer to go on"):
            iter(loader)


def test_workers_read_the_same_and_say_the_same():
    order = MIXTURE[np.arange(103)].tolist()
    loader = make(8, num_workers=2)
    batches = iter(loader)
    found = [number for batch in islice(batches, 5) for number in numbers(batch)]
    assert loader.state_dict() == (state := json.loads(json.dumps(loader.state_dict())))
    assert state["windows_delivered"] == 40
    found += [number for batch in batches for number in numbers(batch)]
    assert found == order
    with pytest.raises(ValueError, match="read to its end"):
        next(iter(loader))


@settings(max_examples=40)
@given(st.data())
def test_a_run_goes_on_after_any_batch_with_other_batches_and_ranks(data):
    """Nothing is read twice, and what is left out is left out at an end alone; after it a new stage goes on."""
    ranks, sizes, drops = st.integers(1, 3), st.integers(1, 9), st.booleans()
    found, state = [], None
    for batches in (*data.draw(st.lists(st.integers(0, 4), max_size=3)), None):
        world_size, batch_size, drop_last = data.draw(ranks), data.draw(sizes), data.draw(drops)
        loaders = [make(batch_size, rank=r, world_size=world_size, drop_last=drop_last) for r in range(world_size)]
        for loader in loaders:
            if state is not None:
                loader.load_state_dict(json.loads(state))
        left, step = 103 - len(found), world_size * batch_size
        if left < (step if drop_last else world_size):
            with pytest.raises(ValueError, match="read to its end"):
                iter(loaders[0])
            break
        found += steps(loaders, batches)
        if batches is None:
            assert 103 - len(found) == left % (step if drop_last else world_size)
        (state,) = {json.dumps(loader.state_dict()) for loader in loaders}
        assert json.loads(state)["windows_delivered"] == len(found)
    assert found == MIXTURE[np.arange(len(found))].tolist()
    if state is not None and len(found) <= 100:
        rest = StagedMixture(MIXED.num_windows, [(WEIGHTS, 103), (WEIGHTS, 50)], block_size=10, base_seed=7)
        loader = make_mixture_loader(MIXED, rest, 1)
        loader.load_state_dict(json.loads(state))
        assert read(loader) == rest[np.arange(len(found), 153)].tolist()


def test_each_sources_ledger_reconciles():
    read_windows = np.array(read(make(8)))
    where, places = MIXED.locate(read_windows)
    report = MIXTURE.report()
    for number, (name, source) in enumerate(MIXED.sources.items()):
        mine = places[where == number]
        assert len(mine) == report[name].draws
        ledger = token_ledger(source.starts[mine], len(STREAMS[name]), T)
        assert ledger.as_input.sum() == ledger.as_target.sum() == T * report[name].draws
        used = (ledger.as_input + ledger.as_target) > 0
        assert used.sum() + sum(ledger.dropped.values()) == len(STREAMS[name])
        if report[name].epochs >= 1:
            assert set(mine.tolist()) == set(range(len(source)))


# States


def state_after(windows_read: int, windows=MIXED, mixture=MIXTURE) -> dict:
    loader = make_mixture_loader(windows, mixture, windows_read)
    next(iter(loader))
    return json.loads(json.dumps(loader.state_dict()))


def resumed(state: dict, windows=MIXED, mixture=MIXTURE) -> list[int]:
    loader = make_mixture_loader(windows, mixture, 3)
    loader.load_state_dict(state)
    return read(loader)


OTHER = {"a": 0.1, "b": 0.1, "c": 0.8}


def staged(*stages, windows=MIXED) -> StagedMixture:
    return StagedMixture(windows.num_windows, stages, block_size=10, base_seed=7)


def test_other_weights_may_follow_the_end_of_a_block():
    plan = staged((WEIGHTS, 40), (OTHER, 60))
    assert resumed(state_after(40), mixture=plan) == plan[np.arange(40, 100)].tolist()
    assert plan[np.arange(40)].tolist() == MIXTURE[np.arange(40)].tolist()
    for position in (39, 41):
        with pytest.raises(ValueError, match="saved with stages="):
            resumed(state_after(position), mixture=plan if position > 40 else staged((WEIGHTS, 39), (OTHER, 60)))
    with pytest.raises(ValueError, match="saved with stages="):
        resumed(state_after(40), mixture=mixture_of(MIXED, weights=OTHER))
    longer = mixture_of(MIXED, 10**6)  # more draws of the same weights
    assert resumed(state_after(40), mixture=mixture_of(MIXED, 200)) == longer[np.arange(40, 200)].tolist()


@pytest.mark.parametrize("names", ["abcd", "dabc", "adbc"])
def test_a_new_source_may_join_and_changes_nothing_that_was_read(names):
    new = SlidingWindowDataset(np.arange(2_000, 2_050), T, 2)
    windows = MixedWindows({n: dataset(n) if n in STREAMS else new for n in names})
    with_new = {"a": 0.1, "b": 0.1, "c": 0.1, "d": 0.7}
    plan = staged(({**WEIGHTS, "d": 0.0}, 40), (with_new, 60), windows=windows)
    loader = make_mixture_loader(windows, plan, 3)
    loader.load_state_dict(state_after(40))
    found = torch.cat([inputs for inputs, _ in loader])
    assert torch.equal(found, windows[plan[np.arange(40, 100)]][0])
    before = windows[plan[np.arange(40)]][0]
    assert torch.equal(before, MIXED[MIXTURE[np.arange(40)]][0])


def test_a_source_of_weight_0_adds_no_digit_to_the_others():
    weights = {f"s{k}": 1 / (k + 3) for k in range(12)}
    sizes = dict.fromkeys(weights, 5)
    for more in ({"s5": 1.0, "new": 0.0}, {}):
        both = {"new": 0.0, **weights} if more else {**weights, "new": 0.0}
        order = MixtureOrder(dict.fromkeys(both, 5), both, 100)
        assert order.history(50) == MixtureOrder(sizes, weights, 100).history(50)


def only_a(stride: int) -> MixedWindows:
    return MixedWindows({"a": SlidingWindowDataset(np.arange(11), T, stride)})


def with_t(context_length: int) -> MixedWindows:
    return MixedWindows({n: SlidingWindowDataset(STREAMS[n], context_length, STRIDES[n]) for n in "abc"})


RENAMED = MixedWindows({"a": dataset("a"), "b": dataset("b"), "d": dataset("c")})
REFUSED = {
    "another text": (MIXED, windows_of(a=np.arange(1, 101)), {}, "sources"),
    "a longer text": (MIXED, windows_of(a=np.arange(107)), {}, "sources"),
    "another stride, as many windows": (only_a(4), only_a(5), {}, "sources"),
    "another order of the sources": (MIXED, windows_of("cba"), {}, "stages"),
    "another name": (MIXED, RENAMED, {}, "stages"),
    "another seed": (MIXED, MIXED, {"base_seed": 8}, "base_seed"),
    "other blocks": (MIXED, MIXED, {"block_size": 20}, "block_size"),
    "another T": (MIXED, with_t(3), {}, "context_length=4, but this loader has context_length=3. Windows of another T"),
}


@pytest.mark.parametrize("change", REFUSED)
def test_a_state_is_refused_where_other_windows_would_have_been_read(change):
    before, after, options, named = REFUSED[change]
    state = state_after(40, before, mixture_of(before))
    make_mixture_loader(before, mixture_of(before), 3).load_state_dict(state)
    with pytest.raises(ValueError, match=f"saved with {named}" + "=" * named.isidentifier()):
        resumed(state, after, mixture_of(after, weights={**WEIGHTS, "d": 0.2}, **options))


class Skipping(SlidingWindowDataset):
    """An option to come, which changes the windows and not their number."""

    skip = 0

    @property
    def identity(self) -> dict[str, object]:
        return super().identity | {"skip": self.skip}


def test_all_that_a_source_says_its_windows_depend_on_is_in_the_state():
    before, after = (MixedWindows({"a": Skipping(np.arange(100), T, 5)}) for _ in range(2))
    state = state_after(20, before, mixture_of(before))
    assert state["sources"]["a"] == before.sources["a"].identity | {"num_windows": 20}
    assert resumed(state, after, mixture_of(after)) == mixture_of(after)[np.arange(20, 103)].tolist()
    after.sources["a"].skip = 3
    with pytest.raises(ValueError, match=r"saved with sources=.*'skip': 0.*'skip': 3"):
        resumed(state, after, mixture_of(after))


def test_a_state_that_is_none_is_refused():
    state = state_after(35)
    changed = [
        ({"windows_delivered": 104}, ValueError, "windows_delivered must be"),
        ({"windows_delivered": -1}, ValueError, "windows_delivered must be"),
        ({"windows_delivered": 35.0}, TypeError, "windows_delivered must be"),
        ({"windows_delivered": True}, TypeError, "windows_delivered must be"),
        ({"windows_delivered": 10}, ValueError, "saved with stages="),  # of another position
        ({"epoch": 1}, ValueError, "epoch must be"),
        ({"stages": None}, ValueError, "saved with stages=None"),
        ({"sources": {}}, ValueError, "saved with sources="),
        ({"context_length": 5}, ValueError, "saved with context_length=5, but this loader has context_length=4"),
        ({"base_seed": "7"}, ValueError, "saved with base_seed='7'"),
        ({"more": 1}, ValueError, "state must have the keys .* but also has 'more'"),
    ]
    for changes, error, words in changed:
        loader = make(3)
        with pytest.raises(error, match=words):
            loader.load_state_dict(state | changes)
        assert loader.state_dict()["windows_delivered"] == 0  # and nothing has changed
    for wrong in (None, [], "state", {}):
        with pytest.raises((TypeError, ValueError), match="state must"):
            make(3).load_state_dict(wrong)
    del state["windows_delivered"]
    with pytest.raises(ValueError, match=r"state must have the keys .* but lacks windows_delivered$"):
        make(3).load_state_dict(state)


LOADERS = {
    "of other sizes": (lambda: make_mixture_loader(MIXED, MixtureOrder({**SIZES, "c": 5}, WEIGHTS, 9), 4), "sources"),
    "of another order": (
        lambda: make_mixture_loader(MIXED, mixture_of(windows_of("cba")), 4),
        "mixture must be of the sources .* in this order",
    ),
    "of no draws": (lambda: make_mixture_loader(MIXED, mixture_of(MIXED, 0), 4), "at least 1 windows for one batch"),
    "less than a batch": (lambda: make(104, drop_last=True), "at least 104 windows for one batch, got 103"),
    "of a rank too far": (lambda: make(4, rank=2, world_size=2), "rank must be"),
    "an epoch before the first": (lambda: make(4).set_epoch(-1), "epoch must be"),
    "an epoch after the only one": (lambda: make(4).set_epoch(1), "epoch must be"),
}


@pytest.mark.parametrize("which", LOADERS)
def test_a_loader_that_would_read_nothing_or_others_is_refused(which):
    call, words = LOADERS[which]
    with pytest.raises(ValueError, match=words):
        call()


def test_a_loader_begins_without_workers_as_rank_0_of_one():
    assert make(4).num_workers == 0
    assert read(make(4)) == read(make(4, rank=0, world_size=1))


def test_accelerate_is_told_how_much_an_epoch_reads_which_is_not_how_much_there_is():
    loader = make_mixture_loader(MIXED, mixture_of(MIXED, 23), 4)
    assert len(loader.dataset) == len(read(loader)) == 23 != len(MIXED)


def test_accelerate_does_not_deal_out_the_share_of_a_rank():
    with pytest.raises(ValueError, match=r"world_size must be 1 where .*accelerate"):
        prepare_data_loader(make(4, rank=1, world_size=2))


def test_what_is_the_mixtures_to_say_is_no_option_of_its_loader():
    for option in ({"shuffle": True}, {"base_seed": 5}):
        with pytest.raises(TypeError, match=r"loader_options must be of|has no argument 'base_seed'"):
            make(4, **option)
