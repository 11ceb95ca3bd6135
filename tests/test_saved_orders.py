"""A saved state knows its order: in another one, windows would be read again, and others never.

A run reads half of its windows and is saved. What goes on in another order is refused by the plain loader, by that of a
mixture and by lesson 12's training, all of which ask `identity_of`; and a name alone would not have been enough.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
import torch

from course_lib.foundation import AffineOrder, BlockOrder, FileOrder, RandomOrder, identity_of, some_positions
from course_lib.foundation.orders import name_of
from course_lib.many_machines import rank_training
from course_lib.mixing_sources import MixedWindows, StagedMixture, make_mixture_loader
from course_lib.sliding_windows import BatchOrder, SlidingWindowDataset, loading, make_dataloader

ALL, B, T = 24, 4, 4
WINDOWS = SlidingWindowDataset(np.arange(ALL * T + 1), T, T)


def blocks_of(block_size: int) -> Callable:
    def order(size, seed):
        return BlockOrder(size, seed, block_size=block_size, blocks_at_a_time=2)

    return order


def file_first(block_size: int) -> Callable:
    """Easy windows first: an order whose setting shows only from the second epoch on."""
    return lambda size, seed: FileOrder(size) if seed == 7 else blocks_of(block_size)(size, seed)


class Reversed(RandomOrder):
    def __getitem__(self, positions):
        return self.size - 1 - super().__getitem__(positions)


Reversed.__name__ = "RandomOrder"  # as another release might change it

ANOTHER = {
    "a lambda for a lambda": (lambda size, seed: FileOrder(size), lambda size, seed: RandomOrder(size, seed)),
    "a closure with another setting": (blocks_of(2), blocks_of(5)),
    "a partial of another lambda": (partial(lambda *a: FileOrder(*a)), partial(lambda *a: AffineOrder(*a))),
    "a class of the same name": (RandomOrder, Reversed),
    "another name": (FileOrder, RandomOrder),
}


# The three savers. Each returns how it reads with an order from a state: windows, and the state behind them.


def plain(order: Callable) -> Callable:
    def read(state: dict | None, num_windows: int) -> tuple[list[int], dict]:
        return windows_of(make_dataloader(WINDOWS, B, base_seed=7, order=order), state, num_windows)

    return read


def mixed(order: Callable = RandomOrder, kind: Callable = StagedMixture) -> Callable:
    def read(state: dict | None, num_windows: int) -> tuple[list[int], dict]:
        mixture = kind({"a": ALL}, [({"a": 1.0}, ALL)], base_seed=7, order=order, block_size=10)
        return windows_of(make_mixture_loader(MixedWindows({"a": WINDOWS}), mixture, B), state, num_windows)

    return read


def trained(order: Callable) -> Callable:
    def read(state: dict | None, num_windows: int) -> tuple[list[int], dict]:
        rows = torch.arange(ALL * T).reshape(ALL, T)
        with patch.object(rank_training, "BatchOrder", partial(BatchOrder, order=order)):
            how = {"batch_size": B, "num_updates": num_windows // B, "base_seed": 7, "state": state}
            report = rank_training.train_rank(rows, rows, ALL * T, **how)
        return report.rows, report.state

    return read


def windows_of(loader: Iterable, state: dict | None, num_windows: int) -> tuple[list[int], dict]:
    if state is not None:
        loader.load_state_dict(json.loads(json.dumps(state)))
    batches = [inputs[:, 0] // T for _, (inputs, _) in zip(range(num_windows // B), loader, strict=False)]
    return torch.cat(batches).tolist(), loader.state_dict()


SAVERS = [plain, mixed, trained]


def by_name_alone(make_order: Callable, entries: object) -> dict[str, str]:
    return {"order": name_of(make_order)}


@pytest.mark.parametrize("saver", SAVERS)
@pytest.mark.parametrize("which", ANOTHER)
def test_a_state_of_another_order_is_refused_by_all_who_save(saver, which):
    one, another = ANOTHER[which]
    before, state = saver(one)(None, ALL // 2)
    rest, _ = saver(one)(state, ALL // 2)
    assert sorted(before + rest) == list(range(ALL))
    with pytest.raises(ValueError, match=r"^state was saved with order"):
        saver(another)(state, ALL // 2)


@pytest.mark.parametrize("saver", SAVERS)
@pytest.mark.parametrize("which", [which for which in ANOTHER if which != "another name"])
def test_by_its_name_alone_the_state_is_accepted_and_windows_are_read_again(saver, which, monkeypatch):
    for module in (loading, sys.modules["course_lib.mixing_sources.mixture_loaders"]):
        monkeypatch.setattr(module, "identity_of", by_name_alone)
    one, another = ANOTHER[which]
    before, state = saver(one)(None, ALL // 2)
    rest, _ = saver(another)(state, ALL // 2)
    assert set(before) & set(rest)


@pytest.mark.parametrize("saver", [plain, trained])
def test_an_order_that_differs_in_a_later_epoch_only_is_another_one_there(saver):
    read, state = saver(file_first(2))(None, ALL // 2)
    assert saver(file_first(5))(state, ALL // 2)[0] == list(range(ALL // 2, ALL))  # here they are the same
    _, state = saver(file_first(2))(None, ALL + ALL // 2 if saver is trained else ALL)
    if saver is plain:
        _, state = saver(file_first(2))(state, ALL // 2)
    assert (state["epoch"], read) == (1, list(range(ALL // 2)))
    with pytest.raises(ValueError, match="saved with order_hash="):
        saver(file_first(5))(state, ALL // 2)


class Backward(StagedMixture):
    def __getitem__(self, positions):
        return super().__getitem__(len(self) - 1 - np.asarray(positions))


class SwapsInBlocks(StagedMixture):
    """Exchanges two windows of each block, the fifth and the eighth."""

    def __getitem__(self, positions):
        block, place = np.divmod(np.asarray(positions), 10)
        place = np.where(place == 4, 7, np.where(place == 7, 4, place))
        return super().__getitem__(np.minimum(block * 10 + place, len(self) - 1))


@pytest.mark.parametrize("kind", [Backward, SwapsInBlocks])
def test_a_mixture_that_chooses_otherwise_is_another_order(kind):
    _, state = mixed()(None, ALL // 2)
    with pytest.raises(ValueError, match="saved with order_hash="):
        mixed(kind=kind)(state, ALL // 2)


def test_what_a_mixture_has_read_is_known_by_source_so_that_plans_may_change():
    windows = {name: SlidingWindowDataset(np.arange(100) + k, T, T) for k, name in enumerate("abc")}

    def loader(names: str, num_draws: int, weights: dict) -> object:
        mixed_ = MixedWindows({name: windows[name] for name in names})
        stages = [({n: 1.0 if n in "ab" else 0.0 for n in names}, 20), (weights, num_draws)]
        return make_mixture_loader(mixed_, StagedMixture(mixed_.num_windows, stages, base_seed=7, block_size=10), 4)

    first = loader("ab", 10, {"a": 1, "b": 3})
    _, state = windows_of(first, None, 12)
    # what was read is the same, though all windows have other numbers now
    loader("cab", 40, {"c": 2, "a": 1, "b": 0}).load_state_dict(state)
    with pytest.raises(ValueError, match="saved with stages="):
        loader("ba", 10, {"a": 1, "b": 3}).load_state_dict(state)


# identity_of, name_of, some_positions


def test_all_of_a_short_order_and_some_thousand_of_a_long_one_are_looked_at():
    assert some_positions(0).size == 0
    assert np.array_equal(some_positions(1_024), np.arange(1_024))
    for size in (1_025, 2**20, 10**18):
        some = some_positions(size)
        assert 1_024 < len(some) <= 1_088
        assert some[1_023] == 1_023
        assert 1_023 < some[-1] < size
        assert np.array_equal(some, some_positions(size))
    anywhere = some_positions(2**20)[1_024:]
    assert len(np.unique(anywhere % 1_000)) > 55  # an order may repeat something in each block of 1,000
    assert np.histogram(anywhere, bins=4, range=(0, 2**20))[0].min() > 5


class Policy:
    def __call__(self, size, seed):
        return RandomOrder(size, seed)


NAMES = {
    "RandomOrder": RandomOrder,
    "BlockOrder(block_size=8)": partial(BlockOrder, block_size=np.int64(8)),
    "<lambda>(<lambda>, depth=2.5)": partial(
        lambda make, n, s, depth: make(n, s), lambda n, s: FileOrder(n), depth=2.5
    ),
    "Policy": Policy(),
    "<lambda>(Policy, set, [1, 'a', None])": partial(lambda *_: FileOrder(_[-2]), Policy(), {"x", "y"}, (1, "a", None)),
    "BlockOrder(block_size=8, blocks_at_a_time=3)": partial(partial(BlockOrder, blocks_at_a_time=3), block_size=8),
    "<lambda>(ndarray)": partial(lambda weights, n, s: FileOrder(n), np.arange(10**4)),
    "<lambda>(dict)": partial(lambda table, n, s: FileOrder(n), {"a": Policy()}),
}


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_an_order_holds_its_settings_and_no_address(name):
    assert name_of(NAMES[name]) == name


PROGRAM = """
import json, sys
from functools import partial
from course_lib.foundation import FileOrder
from course_lib.foundation.orders import identity_of
def easy(text): return len(text)
print(json.dumps(identity_of(partial(lambda key, kinds, n, s: FileOrder(n), easy, {"web", "code", "mail"}), [1, 2])))
"""


def test_an_order_has_the_same_identity_in_every_process():
    found = set()
    for seed in ("1", "2"):
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True)
        found.add(done.stdout)
    assert json.loads(*found)["order"] == "<lambda>(easy, set)"
    assert identity_of(FileOrder, [1, 2]) != identity_of(FileOrder, [1, 3])
