"""Hostile calls of lesson 13: weights, sizes, positions and states that are not what they should be."""

import numpy as np

from course_lib.mixing_sources import (
    MixedWindows,
    MixtureOrder,
    SourceReport,
    StagedMixture,
    make_mixture_loader,
)
from course_lib.sliding_windows import SlidingWindowDataset

SIZES, EVEN = {"a": 3, "b": 4}, {"a": 1, "b": 1}
BIG = {"a": 2**61, "b": 2**61}


def order(num_draws=10, weights=EVEN, sizes=SIZES, **settings):
    return MixtureOrder(sizes, weights, num_draws, **settings)


def stages(*given, sizes=SIZES, **settings):
    return StagedMixture(sizes, given, **settings)


def windows(T=2, **streams):
    streams = streams or {"a": range(5), "b": range(10, 16)}
    return MixedWindows({name: SlidingWindowDataset(list(ids), T) for name, ids in streams.items()})


def loader(batch_size=4, num_draws=10, mixture=None, **settings):
    return make_mixture_loader(windows(), mixture or order(num_draws), batch_size, **settings)


def state(**changes):
    one = loader()
    one.load_state_dict(one.state_dict() | changes)
    return one.state_dict()["windows_delivered"]


def sizes_of(batches):
    return [len(inputs) for inputs, _ in batches]


def twice(one):
    return list(one), list(one)


CALLS = {
    # what draws look like
    "draw_rows([1, 0, 1], ['a', 'b'])": {
        "a, 1 of 3": [(1, 1, "inputs")],
        "b, 2 of 3": [(0, 1, "inputs"), (2, 1, "inputs")],
    },
    "draw_rows([2], ['a', 'b'])": ValueError("sources must lie in 0 ... 1"),
    "capped_weights({'a': 10, 'b': 1}, 8, 1)": {"a": 0.875, "b": 0.125},
    "capped_weights({'a': 10, 'b': 10}, 8, 1)": {"a": 0.5, "b": 0.5},
    "capped_weights({'a': 10, 'b': 1}, 12, 1)": ValueError("num_draws must be at most 11"),
    "capped_weights({'a': 10, 'b': 1}, 0)": ValueError("num_draws must be"),
    "capped_weights({'a': 0}, 1)": ValueError("num_windows['a'] must be"),
    "capped_weights({'a': 1.5}, 1)": TypeError("num_windows['a'] must be"),
    "capped_weights({}, 1)": ValueError("num_draws must be at most 0"),
    "capped_weights({'a': 2}, 1, nan)": ValueError("max_epochs must be"),
    # which source next
    "np.bincount(draw_sources([1, 3], 8)).tolist()": [2, 6],
    "np.bincount(draw_sources(np.array([1, 3], dtype=np.uint8), np.int16(8))).tolist()": [2, 6],
    "np.bincount(draw_sources(torch.tensor([1.0, 3.0]), 8)).tolist()": [2, 6],
    "np.bincount(draw_sources((w for w in [1, 3]), 8, base_seed=2**100)).tolist()": [2, 6],
    "draw_sources([1, 3], 8, method='largest_error')": np.array([1, 0, 1, 1, 1, 0, 1, 1]),
    "draw_sources([0, 1e308, 0], 3)": np.array([1, 1, 1]),
    "draw_sources([0, 5e-324, 0], 3, method='random')": np.array([1, 1, 1]),
    "draw_sources([1], 0)": np.array([], dtype=np.int64),
    "draw_sources([1], 0, method='random')": np.array([], dtype=np.int64),
    "draw_sources([1], 0, method='largest_error')": np.array([], dtype=np.int64),
    "draw_sources([1], 2, block_size=10**12)": np.array([0, 0]),
    "len(draw_sources([1], 2**25, method='random', block_size=10**12))": 2**25,  # which it does not use
    "draw_sources([1], 2**25, block_size=10**12)": ValueError("block_size must be at most 16,777,216, because"),
    "draw_sources([], 5)": ValueError("weights must hold at least one number above 0, got 0 numbers"),
    "draw_sources([0, 0], 5)": ValueError("weights must hold at least one number above 0, got 2 numbers"),
    "draw_sources([1, -1], 5)": ValueError("each of weights must be a finite number of at least 0, got -1"),
    "draw_sources([1, nan], 5)": ValueError("each of weights must be a finite number of at least 0, got nan"),
    "draw_sources([1, inf], 5)": ValueError("each of weights must be a finite number of at least 0, got inf"),
    "draw_sources([1, True], 5)": TypeError("each of weights must be"),
    "draw_sources(['1'], 5)": TypeError("each of weights must be"),
    "draw_sources('11', 5)": TypeError("weights must be several numbers, got '11'"),
    "draw_sources({'a': 1}, 5)": TypeError("weights must be several numbers"),
    "draw_sources({1, 2}, 5)": TypeError("weights must be a list, got set"),
    "draw_sources(np.ones((2, 2)), 5)": TypeError("each of weights must be"),
    # weights of sizes
    "temperature_weights({'a': 2**63, 'b': 2**63}, 1)": {"a": 0.5, "b": 0.5},
    "temperature_weights({'a': 10**300, 'b': 1, 'c': 0}, 1e300)": {"a": 0.5, "b": 0.5, "c": 0.0},
    "temperature_weights({'a': 1e308, 'b': 5e-324}, 1e300)": {"a": 0.5, "b": 0.5},
    "temperature_weights({'a': 2, 'b': 1}, 5e-324)": {"a": 1.0, "b": 0.0},
    "temperature_weights({'a': np.uint8(200), 'b': np.float32(200)}, np.float16(2))": {"a": 0.5, "b": 0.5},
    "temperature_weights({}, 1)": ValueError("sizes must hold at least one number above 0, got 0 numbers"),
    "temperature_weights({'a': 0}, 1)": ValueError("sizes must hold at least one number above 0"),
    "temperature_weights({'a': -1}, 1)": ValueError("each of sizes must be"),
    "temperature_weights({'a': nan}, 1)": ValueError("each of sizes must be"),
    "temperature_weights({'a': inf}, 1)": ValueError("each of sizes must be"),
    "temperature_weights({'a': 10**400}, 1)": ValueError("each of sizes must be"),
    "temperature_weights({'a': True}, 1)": TypeError("each of sizes must be"),
    # orders
    "sorted(MixtureOrder(SIZES, {'b': 0, 'a': 2}, 3)[[0, 1, 2]].tolist())": [0, 1, 2],
    "MixtureOrder(SIZES, EVEN, 10, 7)": TypeError("positional arguments"),
    "order()[[]]": np.array([], dtype=np.int64),
    "order(0)[[]]": np.array([], dtype=np.int64),
    "order()[np.zeros((2, 0, 3), dtype=np.uint8)].shape": (2, 0, 3),
    "order(sizes={'a': np.int8(3), 'b': 4}, num_draws=np.int8(10), block_size=np.uint8(5)).sources_at(9).shape": (),
    "len(order(2**62, sizes=BIG))": 2**62,
    "0 <= order(2**62, sizes=BIG, block_size=1)[2**62 - 1] < 2**62": True,
    "order(2**62 + 1)": ValueError("num_draws must be"),
    "order(-1)": ValueError("num_draws must be"),
    "order(10.0)": TypeError("num_draws must be"),
    "order(sizes={})": ValueError("num_windows must hold at least one source, got none"),
    "order(sizes={'a': 0, 'b': 1})": ValueError("num_windows['a'] must be"),
    "order(sizes={'a': 2**63, 'b': 1})": ValueError("num_windows['a'] must be"),
    "order(sizes={'a': 2**62, 'b': 1})": ValueError("the sum of num_windows must be at most 2**62"),
    "order(sizes={'a': 3.0, 'b': 1})": TypeError("num_windows['a'] must be"),
    "order(sizes={'a': True, 'b': 1})": TypeError("num_windows['a'] must be"),
    "order(sizes={'a': '3', 'b': 1})": TypeError("num_windows['a'] must be"),
    "order(sizes={1: 3}, weights={1: 1})": TypeError("each name of num_windows must be a str, got int"),
    "order(sizes=[('a', 3), ('a', 4)])": TypeError("num_windows must be a mapping, got list"),
    "order(sizes=None)": TypeError("num_windows must be a mapping"),
    "order(weights={'a': 1})": ValueError("weights must have the names of num_windows, ['a', 'b'], got ['a']"),
    "order(weights={'a': 1, 'b': 1, 'c': 0})": ValueError("weights must have the names of num_windows"),
    "order(weights=[1, 1])": TypeError("weights must be a mapping, got list"),
    "order(weights={'a': 0, 'b': 0})": ValueError("weights must hold at least one number above 0"),
    "order(weights={'a': nan, 'b': 1})": ValueError("each of weights must be"),
    "order(weights={'a': '1', 'b': 1})": TypeError("each of weights must be"),
    "order(base_seed=-1)": ValueError("base_seed must be"),
    "order(base_seed=0.0)": TypeError("base_seed must be"),
    "order(block_size=0)": ValueError("block_size must be"),
    "order(block_size=inf)": TypeError("block_size must be"),
    "len(order(block_size=10**12))": 10,
    "order(10**9, block_size=10**12)": ValueError("block_size must be at most 16,777,216"),
    "order(max_epochs=1)": ValueError("'a' would be read 1.67 times (5 draws of 3 windows), but max_epochs is 1"),
    "len(order(max_epochs=5 / 3))": 10,
    "order(max_epochs=0)": ValueError("max_epochs must be"),
    "order(max_epochs=nan)": ValueError("max_epochs must be"),
    "order(max_epochs=inf)": ValueError("max_epochs must be"),
    "order(max_epochs=True)": TypeError("max_epochs must be"),
    "order()[10]": IndexError("positions must lie in 0 ... 9, got 10"),
    "order()[-1]": IndexError("positions must lie in 0 ... 9, got -1"),
    "order(0)[0]": IndexError("positions must lie in"),
    "order()[1.0]": TypeError("positions must be integers"),
    "order()[True]": TypeError("positions must be integers"),
    "order()['0']": TypeError("positions must be integers"),
    "order()[None]": TypeError("positions must be integers"),
    "order()[0:2]": TypeError("positions must be integers"),
    "order()[np.array([1], dtype=object)]": TypeError("positions must be integers"),
    "order()[np.uint64(2**63)]": ValueError("positions must fit into 64-bit"),
    "order().sources_at(10)": IndexError("positions must lie in 0 ... 9"),
    "order().sources_at([nan])": TypeError("positions must be integers"),
    "len(StagedMixture(SIZES, (s for s in [(EVEN, 0), (EVEN, 3)])))": 3,
    "stages()": ValueError("stages must hold at least one stage, got none"),
    "StagedMixture(SIZES, (EVEN, 3))": TypeError("each of stages must be a pair (weights, num_draws), got {'a'"),
    "stages((EVEN, 3, 4))": TypeError("each of stages must be a pair (weights, num_draws)"),
    "stages((EVEN, 3), 5)": TypeError("each of stages must be a pair (weights, num_draws), got 5"),
    "stages('a3')": TypeError("each of stages must be a pair (weights, num_draws), got 'a3'"),
    "stages(('a', 3))": TypeError("weights must be a mapping, got str"),
    "stages((EVEN, 3.0))": TypeError("num_draws must be"),
    "stages((EVEN, -1))": ValueError("num_draws must be"),
    "stages((EVEN, 2**62), (EVEN, 1))": ValueError("num_draws must be"),
    "stages(*[(EVEN, 2**62)] * 5)": ValueError("num_draws must be"),
    "stages((EVEN, 2), (EVEN, 6), max_epochs=1)": ValueError("'a' would be read 1.33 times (4 draws of 3 windows)"),
    # reports
    "order().report()['a'].draws": 5,
    "order(0).report()['b']": SourceReport(0.5, 0.0, 0, 0.0),
    "SourceReport(1, 1, 1, nan).epochs": float("nan"),
    "SourceReport(1)": TypeError("missing 3 required"),
    "order(2**40).report()['a'].draws": 2**39,
    "order(2**40).history(2**40)": [[2**40, [["a", 0.5], ["b", 0.5]]]],
    "order().history(0)": [],
    "order().history(11)": ValueError("position must be"),
    "order().history(1.0)": TypeError("position must be"),
    # windows
    "len(MixedWindows({'a': SlidingWindowDataset([1, 2], 1)}))": 1,
    "MixedWindows({})": ValueError("sources must hold at least one data set, all of one kind"),
    "MixedWindows({'a': [1, 2, 3]})": TypeError("sources['a'] must be a SlidingWindowDataset, got list"),
    "MixedWindows({1: SlidingWindowDataset([1, 2], 1)})": TypeError("each name of sources must be a str, got int"),
    "MixedWindows({'a': SlidingWindowDataset([1, 2], 1), 'b': SlidingWindowDataset([1, 2, 3], 2)})": ValueError(
        "all of one kind and one context_length, got [1, 2]"
    ),
    "windows()[-1]": (np.array([13, 14]), np.array([14, 15])),
    "windows()[3][0]": np.array([10, 11]),
    "windows()[[]][0]": np.zeros((0, 2)),
    "windows()[100:][0]": np.zeros((0, 2)),
    "windows().cut([[2], [-4]])[0]": np.array([[[2, 3, 4]], [[10, 11, 12]]]),
    "windows(a=[70_000] * 3, b=[5] * 300).cut(np.array([0, -1], dtype=np.int8))[0]": np.array([[70_000] * 3, [5] * 3]),
    "windows().cut(np.uint64(6))[0]": np.array([13, 14, 15]),
    "windows()[7]": IndexError("within the 7 windows"),
    "windows()[-8]": IndexError("within the 7 windows"),
    "windows()[True]": TypeError("index must be integers"),
    "windows()[0.0]": TypeError("index must be integers"),
    "windows()['a']": TypeError("index must be integers"),
    "windows()[0, 1]": TypeError("index must be an integer, a slice or an array of integers"),
    "windows()[np.array([True] * 7)]": TypeError("index must be integers"),
    "windows().locate([2, 3])": (np.array([0, 1]), np.array([2, 0])),
    "windows().locate(np.int8(6))": (np.array(1), np.array(3)),
    "windows().locate(-1)": IndexError("windows must lie in"),
    "windows().locate(1.0)": TypeError("windows must be integers"),
    # the loader
    "len(list(MixtureBatches(order(), 4, drop_last=True)))": 2,
    "MixtureBatches(order(), 11, drop_last=True)": ValueError("needs at least 11 windows for one batch, got 10"),
    "MixtureBatches(order(), 4, rank=1)": ValueError("rank must be"),
    "sizes_of(loader())": [4, 4, 2],
    "sizes_of(loader(10**9))": [10],
    "sizes_of(loader(rank=2, world_size=3))": [3],
    "sizes_of(make_mixture_loader(windows(), stages((EVEN, 3), (EVEN, 3)), 4))": [4, 2],
    "twice(loader())": ValueError("the mixture has been read to its end, 10 draws: add a stage to go on"),
    "make_mixture_loader(windows(), order(sizes={'a': 3, 'b': 5}), 4)": ValueError("mixture must be of the sources"),
    "make_mixture_loader(windows(), order(sizes={'b': 4, 'a': 3}), 4)": ValueError("in this order, got {'b': 4"),
    "loader(num_draws=0)": ValueError("needs at least 1 windows for one batch, got 0"),
    "loader(11, drop_last=True)": ValueError("needs at least 11 windows for one batch"),
    "loader(rank=2, world_size=2)": ValueError("rank must be"),
    "loader(shuffle=True)": TypeError("loader_options must be of"),
    "loader(base_seed=5)": TypeError("loader_options must be of"),
    # states
    "state()": 0,
    "state(windows_delivered=1)": ValueError("saved with stages=[]"),
    "state(windows_delivered=11)": ValueError("windows_delivered must be"),
    "state(windows_delivered=-1)": ValueError("windows_delivered must be"),
    "state(windows_delivered=0.0)": TypeError("windows_delivered must be"),
    "state(windows_delivered=None)": TypeError("windows_delivered must be"),
    "state(epoch=1)": ValueError("epoch must be"),
    "state(epoch=nan)": TypeError("epoch must be"),
    "state(stages={})": ValueError("saved with stages={}"),
    "state(sources={'a': 3})": ValueError("saved with sources={'a': 3}"),
    "state(context_length=3)": ValueError("saved with context_length=3, but this loader has context_length=2"),
    "state(base_seed=1)": ValueError("saved with base_seed=1"),
    "state(base_seed=False)": ValueError("saved with base_seed=False"),
    "state(block_size=1_000.0)": ValueError("saved with block_size=1000.0"),
    "state(more=1)": ValueError("state must have the keys"),
    "loader().load_state_dict(None)": TypeError("state must be a dict"),
    "loader().load_state_dict({})": ValueError("state must have the keys"),
    "loader().load_state_dict([('epoch', 0)])": TypeError("state must be a dict"),
    "loader().set_epoch(-1)": ValueError("epoch must be"),
}
