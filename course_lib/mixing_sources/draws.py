"""Draws from several sources in blocks: exact counts, any block at once."""

from __future__ import annotations

import hashlib
import math

import numpy as np

from course_lib.foundation import (
    RandomOrder,
    check_integer,
    check_iterable,
    check_number,
    check_type,
)

LARGEST_BLOCK = 2**24  # draws, which are held in memory
FRACTION_BITS = 62  # a block for each draw has a point of its own
SHIFT = 0x9E3779B97F4A7C15 >> 2  # 0.618... of 2**62: where block 0 begins


class DrawBlocks:
    """Draws in blocks: exact counts in each block, shuffled inside.

    On a line from 0 to `size`, each source owns a stretch as long as its share of a
    block. A block counts the whole numbers in each stretch after the line has been
    moved by u, with 0 <= u < 1. So each count is its share, rounded up or down, and
    together they fill the block. The u of the blocks are a van der Corput sequence,
    which fills the interval from 0 to 1 evenly. So the rounding evens out, and the
    counts of the first 10**9 blocks are a sum of 30 terms, not of 10**9.
    """

    def __init__(
        self, shares: np.ndarray, num_draws: int, block_size: int, *seed: object
    ):
        shares = check_weights(shares, "shares")
        self.num_draws = num_draws
        self.seed = seed
        self.size = min(block_size, max(1, self.num_draws))
        if self.size > LARGEST_BLOCK:
            raise ValueError(
                f"block_size must be at most {LARGEST_BLOCK:,}, because a block is "
                f"held in memory, got {block_size:,}"
            )
        self.count = -(-self.num_draws // self.size)
        sums = np.cumsum(shares)
        # The last border is exactly 1, and so is that of trailing weights of 0.
        self.borders = np.concatenate([[0.0], sums / sums[-1]])
        self._whole, self._fractions = _split(self.borders * self.size)

    def length(self, block: int) -> int:
        """Return how many draws a block has."""
        block = self._check(block)
        return min(self.size, self.num_draws - block * self.size)

    def _check(self, block: int) -> int:
        return check_integer("block", block, minimum=0, maximum=self.count - 1)

    def counts(self, block: int) -> np.ndarray:
        """Count the draws of each source in a block."""
        whole, fractions = self._whole, self._fractions
        if (length := self.length(block)) < self.size:
            whole, fractions = _split(self.borders * length)
        moved = _reversed_bits(block) ^ SHIFT
        return np.diff(whole + (fractions + moved >> FRACTION_BITS))

    def drawn_before(self, block: int) -> np.ndarray:
        """Count the draws of each source in all blocks before this one, at once.

        2**k blocks in a row move the line to 2**k points at equal distances, and the
        sum of floor(x + j / 2**k) over all j is floor(2**k * x) (Hermite's identity).
        """
        block = self._check(block)
        ends, begin = self._whole * block, 0
        for power in range(block.bit_length() - 1, -1, -1):
            if block >> power & 1:
                unit = FRACTION_BITS - power  # bits of the distance between two points
                low = (_reversed_bits(begin) ^ SHIFT) % (1 << unit)
                ends = ends + (self._fractions + low >> unit)
                begin += 1 << power
        return np.diff(ends)

    def sources(self, block: int) -> np.ndarray:
        """Return the source of each draw of a block, in order."""
        block = self._check(block)
        counts = self.counts(block)
        order = RandomOrder(int(counts.sum()), seed_of(*self.seed, "block", block))
        return np.repeat(np.arange(len(counts)), counts)[order[np.arange(len(order))]]

    def numbered(self, block: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sources of a block, and how often each had been drawn before."""
        sources = self.sources(block)
        by_source = np.argsort(sources, kind="stable")
        counts = np.bincount(sources, minlength=len(self.borders) - 1)
        firsts = self.drawn_before(block) - (np.cumsum(counts) - counts)
        numbers = np.empty_like(sources)
        numbers[by_source] = np.arange(len(sources)) + np.repeat(firsts, counts)
        return sources, numbers


def _split(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split numbers into whole ones and fractions of 2**62, int64."""
    fractions, whole = np.modf(numbers)
    return whole.astype(np.int64), (fractions * 2.0**FRACTION_BITS).astype(np.int64)


def _reversed_bits(number: int) -> int:
    """Mirror the binary digits at the point: 1, 2, 3 become 1/2, 1/4, 3/4 of 2**62."""
    return int(f"{number:0{FRACTION_BITS}b}"[::-1], 2)


def seed_of(*parts: object) -> int:
    """Make a seed of integers and names, the same in every process and release."""
    # The `repr` of a NumPy number or str says its type, in some releases of NumPy, and
    # Python's releases differ in the letters that they print.
    plain = ascii(tuple(map(_plain, parts)))
    return int.from_bytes(hashlib.sha256(plain.encode()).digest()[:8], "big")


def _plain(part: object) -> int | str:
    if isinstance(part, str):
        return str.__str__(part)
    return check_integer("each part of a seed", part, minimum=0)


def as_shares(name: str, weights: object) -> np.ndarray:
    """Return weights as shares, as an annotation names it; see `check_weights`."""
    return check_weights(weights, name)


def check_weights(weights: object, name: str = "weights") -> np.ndarray:
    """Return weights as shares, float64, whose sum is 1."""
    if isinstance(weights, set | frozenset):
        check_type(name, weights, list)  # a set has no order, and nothing twice
    values = list(check_iterable(name, weights, "numbers"))
    checked = [check_number(f"each of {name}", value, minimum=0) for value in values]
    if not any(checked):
        raise ValueError(
            f"{name} must hold at least one number above 0, got {len(checked)} numbers"
        )
    scaled = np.array(checked) / max(checked)  # the sum of huge weights is infinite
    # `fsum` is exact: a source of weight 0 among them must not change the last digits.
    return scaled / math.fsum(scaled)
