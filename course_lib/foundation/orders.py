"""Other orders than the full shuffle, how well they mix, and what they cost a disk.

An order is made from a size and a seed, and `order[positions]` gives its entries at any
positions, without the others. `RandomOrder` mixes best, but reads a file all over the
place. An order in blocks reads the file almost from front to back, and mixes less.
Every order is a permutation, so it visits everything once, but that says nothing about
how well it mixes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice
from typing import Annotated

import numpy as np

from course_lib.foundation.arguments import (
    AtLeast,
    Integers,
    Length,
    Seed,
    Several,
    checked,
)
from course_lib.foundation.checks import check_range
from course_lib.foundation.shuffling import RandomOrder

PAGE_BYTES = 4096  # the least that a system reads from a file
MOST_PAGES = 10**8  # which takes a minute


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


@checked
def through_a_buffer(
    items: Annotated[Iterable, Several("items")], buffer_size: Length, *, seed: Seed = 0
) -> Iterator:
    """Yield items as a shuffle buffer does, which reads them once, from the front.

    `buffer_size` items wait in it. Again and again, one of them is chosen at random and
    handed out, and the next item of the stream takes its place. So an item comes at
    most `buffer_size` - 1 places early, though it may be late by any number. This is no
    order with positions: to say what comes next, all that came before must be read.
    """
    chance, items = np.random.default_rng(seed), iter(items)
    waiting = list(islice(items, buffer_size))
    for item in items:
        place = int(chance.integers(buffer_size))
        yield waiting[place]
        waiting[place] = item
    yield from (waiting[place] for place in chance.permutation(len(waiting)).tolist())


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


@checked
def pages_read(
    starts: Integers,
    context_length: Annotated[int, AtLeast(1, 2**62)],
    *,
    cached_pages: Length,
    bytes_per_id: Annotated[int, AtLeast(1, 2**62)] = 2,
    page_bytes: Annotated[int, AtLeast(1, 2**62)] = PAGE_BYTES,
) -> tuple[int, int]:
    """Count the pages of a file that windows need from the disk, and the jumps.

    Memory holds `cached_pages` pages. The page that has not been used for the longest
    time makes room for the next one.

    Args:
        starts: the starts of windows in tokens, in the order in which they are read.
        context_length: T. A window has T + 1 ids.
        bytes_per_id, page_bytes: 2 for uint16, and the size of a page.

    Returns the number of pages read, and how many of them do not directly follow the
    page that was read before.
    """
    starts = starts.astype(np.int64).ravel()
    if starts.size and starts.min() < 0:
        raise ValueError(f"starts must not be negative, got {starts.min()}")
    if starts.size and (int(starts.max()) + context_length + 1) * bytes_per_id > 2**63:
        raise ValueError(
            "starts must lie in a file whose bytes can be counted in 64 bits, got "
            f"{starts.max()} with {bytes_per_id} bytes an id"
        )
    first = starts * bytes_per_id // page_bytes
    last = ((starts + context_length + 1) * bytes_per_id - 1) // page_bytes
    touched = sum((last - first + 1).tolist())
    if touched > MOST_PAGES:
        raise ValueError(
            f"starts must touch at most {MOST_PAGES:,} pages, which are counted one by "
            f"one, got {touched:,}"
        )
    cached: OrderedDict[int, None] = OrderedDict()
    pages, jumps, before = 0, 0, None
    for a, b in zip(first.tolist(), last.tolist(), strict=True):
        for page in range(a, b + 1):
            if page in cached:
                cached.move_to_end(page)
                continue
            pages += 1
            jumps += before is None or page != before + 1
            before = page
            cached[page] = None
            if len(cached) > cached_pages:
                cached.popitem(last=False)
    return pages, jumps


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
