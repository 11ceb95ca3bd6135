"""Hostile calls of the shuffled order."""

import numpy as np

SMALL, LARGE = "RandomOrder(1000, 0)", "RandomOrder(100_003, 0)"


def is_order(order):
    """Whether every position has an entry of its own."""
    return sorted(order[np.arange(len(order))].tolist()) == list(range(len(order)))


CALLS = {
    "is_order(RandomOrder(0, 0))": True,
    "is_order(RandomOrder(1, 0))": True,
    "is_order(RandomOrder(np.uint8(200), np.int8(127)))": True,
    "is_order(RandomOrder(np.int16(300), 10**50))": True,
    "RandomOrder(3, 0)[[]]": np.array([], dtype=int),
    f"{SMALL}[[-1, 5]]": IndexError("positions must lie in 0 ... 999, got -1 ... 5"),
    f"{SMALL}[[5, 1000]]": IndexError("positions must lie in 0 ... 999, got 5 ... 1000"),
    f"{LARGE}[[-1, 5]]": IndexError("positions must lie in 0 ... 100002, got -1 ... 5"),
    f"{LARGE}[[5, 100_003]]": IndexError("got 5 ... 100003"),
    f"{SMALL}[[True, 2]]": TypeError("positions must be integers"),
    f"{SMALL}[0:3]": TypeError("positions must be integers, got slice"),
    f"{SMALL}[None]": TypeError("positions must be integers"),
    f"{SMALL}['3']": TypeError("positions must be integers, got text"),
    f"{SMALL}[2**64]": TypeError("positions must be integers"),
    f"{SMALL}[np.array([2**63], dtype=np.uint64)]": ValueError("positions must fit into 64-bit"),
    f"int({LARGE}[np.uint16(65_535)]) == int({LARGE}[65_535])": True,
    "RandomOrder(0, 0)[0]": IndexError("positions must lie in 0 ... -1"),
    f"{SMALL}[[0.5]]": TypeError("positions must be integers"),
}
