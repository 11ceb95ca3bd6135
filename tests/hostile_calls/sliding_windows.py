"""Hostile calls of lesson 02: counts, starts, gathering, the data set, its loader and its states."""

import json
import tempfile

import numpy as np

from course_lib.foundation import FileOrder, RandomOrder
from course_lib.sliding_windows import SlidingWindowDataset, make_dataloader

NUMBERS = np.arange(20)
SMALL = SlidingWindowDataset(NUMBERS, 4)
LOADER = make_dataloader(SMALL, 5, base_seed=7)
STATE = LOADER.state_dict()
OTHER = make_dataloader(SlidingWindowDataset(NUMBERS + 1, 4), 5, base_seed=7)


def pair(batch):
    return tuple(half.tolist() for half in batch)


def written_into(batch):
    """The inputs, after all targets were masked."""
    inputs, targets = batch
    targets[...] = -100
    return inputs.tolist()


def mapped(ids):
    """A memory map of signed integers."""
    with tempfile.TemporaryFile() as file:
        stream = np.memmap(file, dtype=np.int64, mode="w+", shape=(len(ids),))
    stream[:] = ids
    return stream


def order(*arguments, **settings):
    from course_lib.sliding_windows import BatchOrder

    return list(BatchOrder(*arguments, **settings))


CALLS = {
    # examples
    "count_windows(100, 10)": 90,
    "SlidingWindowDataset.count_windows(100, 10)": 90,
    "len(window_starts(11, 10))": 1,
    "[inputs[0].item() for inputs, _ in SlidingWindowDataset(range(20), 3, 5)]": [0, 5, 10, 15],
    "str(SlidingWindowDataset([0, 65_535], 1).stream.dtype)": "uint16",
    "str(SlidingWindowDataset([0, 65_536], 1).stream.dtype)": "uint32",
    "str(SlidingWindowDataset(torch.tensor([0, 1]), 1).stream.dtype)": "uint16",
    # counting
    "count_windows(0, 1)": 0,
    "count_windows(4, 4)": 0,
    "count_windows(2, 10**30, 10**30)": 0,
    "count_windows(10**18 + 1, 1)": 10**18,
    "count_windows(100_000, np.int8(127), np.int8(127))": 787,
    "count_windows(np.uint8(200), np.uint8(100), np.uint8(99))": 2,
    "window_starts(4, 4)": np.array([], dtype=np.int64),
    "window_starts(10, 2, 2**63)": np.array([0]),
    "window_starts(0, 2, 2**63)": np.array([], dtype=np.int64),
    "window_starts(1000, np.int8(100), np.int8(120))": np.arange(0, 900, 120),
    "window_starts(2, 2, np.uint64(2**63))": np.array([], dtype=np.int64),
    # gathering
    "pair(gather_windows([70_000, 2**31, 65_536], 0, 2))": ([70_000, 2**31], [2**31, 65_536]),
    "pair(gather_windows([], [], 2))": ([], []),
    "pair(gather_windows(NUMBERS.astype(np.uint8), np.array([15], dtype=np.int8), np.int8(4)))": (
        [[15, 16, 17, 18]],
        [[16, 17, 18, 19]],
    ),
    "pair(gather_windows(torch.tensor([0, 255, 128, 1], dtype=torch.uint8), [0], 3))": (
        [[0, 255, 128]],
        [[255, 128, 1]],
    ),
    "pair(gather_windows(range(9), torch.tensor([[5]]), 2))": ([[[5, 6]]], [[[6, 7]]]),
    "pair(gather_windows(NUMBERS, np.array([5], dtype=np.uint64), 2))": ([[5, 6]], [[6, 7]]),
    "written_into(gather_windows(NUMBERS, [3], 4))": [[3, 4, 5, 6]],
    "gather_windows(mapped([5, -1, 3, 2]), [0, 1], 2)": ValueError("ids must not be negative, got -1"),
    "gather_windows([5, 3, -100], 0, 2)": ValueError("ids must not be negative, got -100"),
    "pair(gather_windows(mapped([5, 1, 3, -2]), 0, 2))": ([5, 1], [1, 3]),  # what is not needed is not read
    "gather_windows(NUMBERS, [0, 16], 4)": ValueError(
        "(context_length + 1) are needed from each on, in a stream of 20"
    ),
    "gather_windows([], [0], 4)": ValueError("in a stream of 0"),
    "gather_windows(NUMBERS, [16], 4)": ValueError("starts must lie in 0 ... 15: 5 ids"),
    "gather_windows(NUMBERS, [-1], 4)": ValueError("got -1 ... -1"),
    "gather_windows(range(4), [0], 4)": ValueError("starts must lie in nothing at all"),
    "gather_windows(NUMBERS, [0], 2**63 - 1)": ValueError("starts must lie in nothing at all"),
    # the data set
    "pair(SlidingWindowDataset([70_000, 1], 1)[0])": ([70_000], [1]),
    "SlidingWindowDataset(NUMBERS, 4, 2**63).starts": np.array([0]),
    "len(SlidingWindowDataset(NUMBERS, np.int8(4), np.int8(127)))": 1,
    "pair(SMALL[-1])": ([15, 16, 17, 18], [16, 17, 18, 19]),
    "written_into(SMALL[3])": [3, 4, 5, 6],
    "written_into(SMALL[14:])": [[14, 15, 16, 17], [15, 16, 17, 18]],
    "pair(SMALL[[]])": ([], []),
    "pair(SlidingWindowDataset(NUMBERS, 4, 2**70)[:])": ([[0, 1, 2, 3]], [[1, 2, 3, 4]]),
    "SlidingWindowDataset(np.arange(500), np.uint8(200), np.uint8(250)).starts": np.array([0, 250]),
    "SlidingWindowDataset(mapped([5, -1, 3, 2]), 1)[0]": ValueError("ids must not be negative, got -1"),
    "list(make_dataloader(SlidingWindowDataset(mapped([5, -1, 3, 2]), 1), 2, base_seed=0))": ValueError(
        "ids must not be negative, got -1"
    ),
    "SlidingWindowDataset([], 4)": ValueError("ids must hold at least 5 tokens for one window"),
    "SlidingWindowDataset(range(4), 4)": ValueError("got 4"),
    "SlidingWindowDataset([5, -1, 3], 2)": ValueError("ids must not be negative"),
    "SlidingWindowDataset([5, 2**32, 3], 2)": ValueError("ids must fit into 32 bits"),
    "SMALL[16]": IndexError("within the 16 windows"),
    "SMALL[-17]": IndexError("within the 16 windows"),
    "SMALL[[0, 16]]": IndexError("within the 16 windows"),
    "SMALL[torch.tensor(16)]": IndexError("within the 16 windows"),
    "SMALL[None]": TypeError("index must be integers, got NoneType"),
    "SMALL[...]": TypeError("index must be integers"),
    "SMALL['0']": TypeError("index must be integers, got text"),
    "SMALL[[True, False]]": TypeError("index must be integers"),
    "SMALL[1.0]": TypeError("index must be"),
    "SMALL[0, 1]": TypeError("index must be"),
    "SMALL[True]": TypeError("index must be"),
    "setattr(SMALL, 'stride', 2)": AttributeError("stride"),
    "setattr(SMALL, 'context_length', 2)": AttributeError("context_length"),
    "setattr(SMALL, 'stream', NUMBERS)": AttributeError("stream"),
    "setattr(SMALL, 'starts', NUMBERS)": AttributeError("starts"),
    "SMALL.as_rows()[[0, 1]]": {
        "input_ids": [[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]],
        "labels": [[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]],
    },
    "SMALL.as_rows()[16]": IndexError("within the 16 windows"),
    # orders
    "order(3, 2**40, base_seed=7, order=FileOrder)": [[0, 1, 2]],
    "order(9, 9, base_seed=7) == order(9, 9, base_seed=7, order=RandomOrder)": True,
    "order(99, 99, base_seed=7) == [[*range(99)]]": False,
    "BatchOrder(5, 6, base_seed=0, drop_last=True)": ValueError("needs at least 6 windows for one batch, got 5"),
    "BatchOrder(5, 3, base_seed=0, drop_last=True, world_size=2)": ValueError("needs at least 6 windows"),
    "BatchOrder(2, 1, base_seed=0, world_size=3)": ValueError("needs at least 3 windows"),
    "BatchOrder(5, 2, base_seed=0, rank=2, world_size=2)": ValueError("rank must be"),
    "BatchOrder(5, 2, base_seed=0).set_epoch(-1)": ValueError("epoch must be"),
    "BatchOrder(5, 2, base_seed=0, world_size=2).sampler": ValueError("world_size must be 1 where another program"),
    "BatchOrder(5, 2, base_seed=0).set_epoch(1.0)": TypeError("epoch must be"),
    # the loader
    "len(list(make_dataloader(SMALL, 2**40, base_seed=0)))": 1,
    "written_into(next(iter(make_dataloader(SMALL, 2, base_seed=0, shuffle=False))))": [[0, 1, 2, 3], [1, 2, 3, 4]],
    "make_dataloader(SMALL, 2, base_seed=0, rank=1)": ValueError("rank must be an integer of at least 0 and at most 0"),
    "make_dataloader(SMALL, 20, base_seed=0, drop_last=True)": ValueError("the mean loss of no batches is NaN"),
    "make_dataloader(SMALL, 2, base_seed=0, batch_sampler=[], in_order=False)": TypeError(
        "got batch_sampler, in_order"
    ),
    "make_dataloader(SMALL, 2, base_seed=0, pin_memory='no')": TypeError("pin_memory must be True or False, got 'no'"),
    "make_dataloader(SMALL, 2, base_seed=0, persistent_workers=1)": TypeError(
        "persistent_workers must be True or False"
    ),
    "make_dataloader(SMALL, 2, base_seed=0, num_workers=1, prefetch_factor=0)": ValueError("prefetch_factor must be"),
    "make_dataloader(SMALL, 2, base_seed=0, num_workers=1, prefetch_factor=1.5)": TypeError("prefetch_factor must be"),
    "make_dataloader(SMALL, 2, base_seed=0, num_workers=1, timeout='1')": TypeError("timeout must be"),
    "make_dataloader(SMALL, 2, base_seed=0, num_workers=1, timeout=-1)": ValueError("timeout must be"),
    "next(iter(make_dataloader(SMALL, 2, base_seed=0, num_workers=1, worker_init_fn=5)))": TypeError("not callable"),
    "make_dataloader(SMALL, 2, base_seed=0, num_workers=1, multiprocessing_context='fast')": ValueError(
        "multiprocessing_context"
    ),
    "make_dataloader(SMALL, 2, base_seed=0, persistent_workers=True)": ValueError("persistent_workers"),
    "LOADER.load_state_dict(None)": TypeError("state must be a dict that `state_dict` returned, got NoneType"),
    "LOADER.load_state_dict([])": TypeError("state must be a dict that `state_dict` returned, got list"),
    "LOADER.load_state_dict(STATE | {'surprise': 1})": ValueError("state must have the keys"),
    "LOADER.load_state_dict(STATE | {7: 1})": ValueError("state must have the keys"),
    "LOADER.load_state_dict({})": ValueError("state must have the keys"),
    "LOADER.load_state_dict(STATE | {'base_seed': 7.0})": ValueError("saved with base_seed=7.0, but this loader has"),
    "LOADER.load_state_dict(STATE | {'stride': np.array([1])})": ValueError("state was saved with stride=array"),
    "LOADER.load_state_dict(STATE | {'windows_delivered': 17})": ValueError("windows_delivered must be"),
    "LOADER.load_state_dict(STATE | {'windows_delivered': -1})": ValueError("windows_delivered must be"),
    "LOADER.load_state_dict(STATE | {'windows_delivered': True})": TypeError("windows_delivered must be"),
    "LOADER.load_state_dict(STATE | {'epoch': nan})": TypeError("epoch must be"),
    "LOADER.load_state_dict(STATE | {'epoch': -1})": ValueError("epoch must be"),
    "LOADER.state_dict() == STATE": True,  # a state that is refused changes nothing
    "OTHER.load_state_dict(STATE)": ValueError("state was saved with fingerprint="),
    "json.loads(json.dumps(STATE)) == STATE": True,
}
TAKES_NO_DATA = {
    **dict.fromkeys(("make_pairs", "make_rows"), "they get what a stream has cut"),
    "count_padded": "the data set calls it, with what it has checked",
    "OneScreenLoader": "it shows the idea without checks",
}
