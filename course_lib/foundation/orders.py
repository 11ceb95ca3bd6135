"""Orders: which thing comes when, how well that mixes, and how a state knows its order.

An order is made from a size and a seed, and `order[positions]` gives its entries at any
positions, without the others. So the first batch costs only as much as one batch, and
resuming an epoch just means continuing at a position. (By default, a shuffling
`DataLoader` calls `torch.randperm(n).tolist()`, which makes a list of n Python ints
before its first batch.)

`RandomOrder` mixes best, but reads a file all over the place. An order in blocks reads
the file almost from front to back, and mixes less. Every order is a permutation, so it
visits everything once, but that says nothing about how well it mixes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Annotated

import numpy as np

from course_lib.foundation.arguments import (
    AtLeast,
    Integers,
    Length,
    Seed,
    checked,
)
from course_lib.foundation.checks import check_range

STORED_UP_TO = 2**16  # entries of a `RandomOrder`
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


class FileOrder:
    """The order of the file, which mixes nothing and reads each page once."""

    @checked
    def __init__(self, size: Annotated[int, AtLeast(0, 2**62)], seed: Seed = 0):
        self.size = size
        self.seed = seed

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, positions: object) -> np.ndarray:
        return _check_positions(positions, self.size)


class AffineOrder(FileOrder):
    """`(a * x + b) mod N`, which is a permutation but not a shuffle.

    Entries at neighboring positions are always the same step `a` apart. Some programs
    use this order because it costs nothing. We include it in order to measure it.
    """

    def __init__(self, size: int, seed: int):
        super().__init__(size, seed)
        draw = np.random.default_rng(self.seed)
        self.shift = int(draw.integers(max(1, self.size)))
        self.factor = 1 if self.size < 3 else int(draw.integers(1, self.size))
        # Each x gets a place of its own only if there is no common divisor.
        while math.gcd(self.factor, self.size) > 1:
            self.factor = self.factor % self.size + 1

    def __getitem__(self, positions: object) -> np.ndarray:
        positions = _check_positions(positions, self.size)
        # Products of large numbers do not fit into 64 bits, but into Python's integers.
        wide = positions.astype(np.int64 if self.size < 2**31 else object)
        entries = (wide * self.factor + self.shift) % max(1, self.size)
        return np.asarray(entries, dtype=np.int64)


class BlockOrder(FileOrder):
    """Put blocks into a random order, and mix the entries of some blocks at a time.

    The file is cut into blocks of `block_size` neighbors, and the blocks are permuted.
    Then, within each group of `blocks_at_a_time` consecutive blocks, the entries are
    also permuted. A rank therefore needs that many blocks at a time, and each block
    is one piece of the file. Unlike in a shuffle buffer, the entry at any position can
    be computed at once. Preparing a group takes about 20 microseconds, however few
    things it has.

    The `seed` fixes the order, and also where the first block begins. The entries that
    are left over after the last full block always come last, so they differ from seed
    to seed.
    """

    @checked
    def __init__(
        self,
        size: int,
        seed: Seed,
        *,
        block_size: Length = 64,
        blocks_at_a_time: Length = 256,
    ):
        super().__init__(size, seed)
        self.block_size = block_size
        self.blocks_at_a_time = blocks_at_a_time
        # A larger block would be useless, and might not fit into 64 bits.
        self._block = min(self.block_size, max(1, self.size))
        self._group = min(self._block * self.blocks_at_a_time, max(1, self.size))
        self._num_blocks = self.size // self._block
        seeds = np.random.SeedSequence(self.seed).generate_state(3, np.uint64)
        self._shift = int(seeds[0]) % max(1, self.size)
        self._blocks = RandomOrder(self._num_blocks, int(seeds[1]))
        self._group_seed = int(seeds[2])
        self._last: tuple[int, RandomOrder] | None = None

    def __getitem__(self, positions: object) -> np.ndarray:
        positions = _check_positions(positions, self.size)
        groups, inside = np.divmod(positions.ravel(), self._group)
        by_group = np.argsort(groups, kind="stable")
        different, begins = np.unique(groups[by_group], return_index=True)
        ends = np.append(begins, len(groups))[1:]
        for group, begin, end in zip(different, begins, ends, strict=True):
            chosen = by_group[begin:end]
            inside[chosen] = self._within(int(group))[inside[chosen]]
        blocks, inside = np.divmod(groups * self._group + inside, self._block)
        full = blocks < self._num_blocks
        blocks[full] = self._blocks[blocks[full]]
        entries = (blocks * self._block + inside + self._shift) % max(1, self.size)
        return entries.reshape(positions.shape)

    def _within(self, group: int) -> RandomOrder:
        """Return the order within a group of blocks, and keep the last one."""
        if self._last is None or self._last[0] != group:
            size = min(self._group, self.size - group * self._group)
            self._last = group, RandomOrder(size, self._group_seed + group)
        return self._last[1]


@dataclass(frozen=True)
class Mixing:
    """How well an order mixes: five numbers, each with its value under chance."""

    #: correlation between the places in the file of neighboring entries, -1 to 1. By
    #: chance it is 0.
    correlation: float
    #: mean distance between the places in the file of neighboring entries, as a share
    #: of the file. By chance it is 1/3.
    distance: float
    #: number of different steps between neighboring entries, as a share of all steps.
    #: By chance it is about 1 if the file is long enough.
    distinct_steps: float
    #: share of the measured entries whose successor in the file is also among the
    #: measured entries. By chance it equals the share of the file that is measured.
    together: float
    #: how often the best simple rule predicts the lowest bit of an entry. Such a rule
    #: is a constant, or the exclusive or of one or two bits of the position. By chance
    #: it is a little over 0.5, because the best of many rules is taken.
    predicted: float


@checked
def measure_mixing(
    entries: Integers, size: Annotated[int, AtLeast(3, 2**62)]
) -> Mixing:
    """Measure how well an order of `size` things mixes, by some thousand `entries`.

    They are those at the positions 0, 1, 2, ... of the order.
    """
    entries = entries.astype(np.int64)
    if entries.ndim != 1 or len(entries) < 3:
        raise ValueError(
            f"entries must be three or more, in one row, got shape {entries.shape}"
        )
    check_range("entries", entries, size)
    steps = np.diff(entries)
    varies = np.ptp(entries[:-1]) > 0 and np.ptp(entries[1:]) > 0
    correlation = np.corrcoef(entries[:-1], entries[1:])[0, 1] if varies else 1.0
    return Mixing(
        correlation=float(correlation),
        distance=float(np.abs(steps).mean() / size),
        distinct_steps=len(np.unique(steps % size)) / len(steps),
        together=float(np.isin(entries + 1, entries).mean()),
        predicted=_best_rule(entries & 1),
    )


def _best_rule(bits: np.ndarray) -> float:
    """Return how often the best rule is right; see `Mixing.predicted`."""
    positions = np.arange(len(bits))
    bits_of = range(int(len(bits) - 1).bit_length())
    of_position = [(positions >> bit) & 1 for bit in bits_of]
    rules = [np.zeros_like(bits), *of_position]
    agree = [np.mean(rule == bits) for rule in rules]
    agree += [np.mean((a ^ b) == bits) for a, b in combinations(of_position, 2)]
    return float(max(max(share, 1 - share) for share in agree))


# Which order is it?


def some_positions(size: int) -> np.ndarray:
    """Return the first 1,024 positions of an order, and up to 64 of the others, sorted.

    The others are always the same ones, but at no regular distance, because an order
    may repeat something regularly itself.
    """
    first = np.arange(min(1024, size))
    if len(first) == size:
        return first
    drawn = np.random.SeedSequence(size).generate_state(64, np.uint64)
    others = len(first) + (drawn % np.uint64(size - len(first))).astype(np.int64)
    return np.union1d(first, others)


def identity_of(make_order: Callable, entries: Sequence) -> dict[str, str]:
    """Say which order this is, ready for JSON: a state is of no use in another one.

    Every state of the course that depends on an order has this in it. The name alone
    isn't enough, because all lambdas have the same one, and a function may know
    settings that aren't in its name. So it comes with a hash of what the order gives.

    Args:
        make_order: what made the order.
        entries: of the order, at `some_positions`, as lists. They are a sample because
            a state may be asked for after each batch, and reading the whole order of a
            million windows takes 0.1 to 0.5 seconds. Two orders that differ at a share
            s of the positions are taken for each other with probability (1 - s)**64 at
            most, for example 4% if s is 5%, and never if there are at most 1,024.
    """
    digest = hashlib.sha256(json.dumps(entries).encode()).hexdigest()
    return {"order": name_of(make_order), "order_hash": digest[:16]}


def name_of(make_order: Callable) -> str:
    """Name what makes an order, with its settings, as every process names it."""
    if isinstance(make_order, partial):
        settings = [_setting(value) for value in make_order.args]
        named = sorted(make_order.keywords.items())
        settings += [f"{name}={_setting(value)}" for name, value in named]
        return f"{name_of(make_order.func)}({', '.join(settings)})"
    return getattr(make_order, "__name__", type(make_order).__name__)


def _setting(value: object) -> str:
    """Write a setting. Whatever else there is has its name alone: the `repr` of a
    function is its address, and that of a set depends on the process."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_setting, value))}]"
    value = value.item() if isinstance(value, np.generic) else value
    is_plain = value is None or isinstance(value, bool | int | float | str)
    return repr(value) if is_plain else name_of(value)


def _check_positions(positions: object, size: int) -> np.ndarray:
    return check_range("positions", positions, size, IndexError).astype(np.int64)


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
