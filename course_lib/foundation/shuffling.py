"""A shuffled order that is computed where it is needed, instead of being stored.

By default, a shuffling `DataLoader` calls `torch.randperm(n).tolist()`, which makes a
list of n Python ints before the first batch. A *keyed* permutation computes the entry
at any position k without the others, so the first batch costs only as much as one
batch, and resuming an epoch just means continuing at position k.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from course_lib.foundation.arguments import AtLeast, Integers, Seed, checked
from course_lib.foundation.checks import check_range

STORED_UP_TO = 2**16
ROUNDS = 6


class RandomOrder:
    """A random permutation of `range(size)`, fixed by `seed` alone, on every machine.

    Up to 65,536 entries are sorted by random keys and stored. A larger order, of at
    most 2**62, is a Feistel network on pairs (a, b) of digits in base ceil(sqrt(n)), as
    in Black and Rogaway, "Ciphers with Arbitrary Finite Domains" (2002). Each round
    adds to one digit a random-looking function of the other digit. Because this step
    can be undone, different positions never get the same entry.
    """

    @checked
    def __init__(self, size: Annotated[int, AtLeast(0, 2**62)], seed: Seed):
        self.size = size
        seeds = np.random.SeedSequence(seed)
        self._keys = seeds.generate_state(ROUNDS, np.uint64)
        self._base = np.uint64(_ceiling_root(self.size))
        self._stored = None
        if self.size <= STORED_UP_TO:
            numbers = np.arange(self.size, dtype=np.uint64)
            self._stored = np.argsort(_scramble(numbers, self._keys[0]), kind="stable")

    def __len__(self) -> int:
        return self.size

    @checked
    def __getitem__(self, positions: Integers) -> np.ndarray:
        """Return the entries at `positions`, int64, in the shape of these integers."""
        check_range("positions", positions, self.size, IndexError)
        if self._stored is not None:
            return self._stored[positions]
        # One dimension at least: NumPy warns when a single number wraps around.
        entries = self._permute(np.atleast_1d(positions).astype(np.uint64))
        # The base squared may be a little more than n. An entry outside of the range is
        # permuted again: this walk along a cycle leads back inside, where it started.
        while (outside := entries >= self.size).any():
            entries = np.where(outside, self._permute(entries), entries)
        return entries.astype(np.int64).reshape(positions.shape)

    def _permute(self, positions: np.ndarray) -> np.ndarray:
        high, low = np.divmod(positions, self._base)
        for key in self._keys:
            digit = _below(self._base, _scramble(low, key))
            high = high + digit
            high = np.where(high >= self._base, high - self._base, high)
            high, low = low, high
        return high * self._base + low


def _scramble(numbers: np.ndarray, key: np.uint64) -> np.ndarray:
    """Mix every bit of 64-bit `numbers` with every other.

    This is the finalizer of SplitMix64 (Steele and others, 2014).
    """
    # Unsigned arrays wrap around, which is what we want here.
    mixed = numbers * np.uint64(0x9E3779B97F4A7C15) + key
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _below(limit: np.uint64, random_bits: np.ndarray) -> np.ndarray:
    """Turn 64 random bits into a number below `limit` < 2**32.

    It multiplies, because a remainder would be slow.
    """
    return ((random_bits >> np.uint64(32)) * limit) >> np.uint64(32)


def _ceiling_root(number: int) -> int:
    root = int(np.sqrt(number))
    while root * root < number:
        root += 1
    return max(root, 1)
