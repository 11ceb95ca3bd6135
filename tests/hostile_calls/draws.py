"""Hostile calls of draws in blocks, of weights and of seeds."""

import numpy as np

from course_lib.mixing_sources.draws import DrawBlocks


def blocks(shares=(1, 3), num_draws=10, block_size=4, *seed):
    return DrawBlocks(shares, num_draws, block_size, *seed)


CALLS = {
    "blocks().counts(np.int8(2)).sum()": 2,
    "blocks().drawn_before(0)": np.array([0, 0]),
    "blocks().length(2)": 2,
    "blocks().numbered(0)[1].dtype == np.int64": True,
    "blocks(num_draws=2**62, block_size=1).drawn_before(2**62 - 1).sum()": 2**62 - 1,
    "blocks(num_draws=2**62, block_size=1).counts(2**62 - 1).sum()": 1,
    "blocks(num_draws=2**62, block_size=2**24).counts(2**38 - 1)": np.array([2**22, 3 * 2**22]),
    "blocks(num_draws=7, block_size=10**12).size": 7,
    "blocks(num_draws=0).count": 0,
    "blocks(num_draws=0).counts(0)": ValueError("block must be"),
    "blocks().counts(3)": ValueError("block must be an integer of at least 0 and at most 2, got 3"),
    "blocks().drawn_before(3)": ValueError("block must be"),
    "blocks().sources(-1)": ValueError("block must be"),
    "blocks().numbered(1.0)": TypeError("block must be"),
    "blocks().length(True)": TypeError("block must be"),
    "blocks().counts('1')": TypeError("block must be"),
    "DrawBlocks([], 10, 4)": ValueError("shares must hold at least one number above 0, got 0 numbers"),
    "DrawBlocks([0, 0], 10, 4)": ValueError("shares must hold at least one number above 0"),
    "DrawBlocks([nan], 10, 4)": ValueError("each of shares must be"),
    "DrawBlocks(None, 10, 4)": TypeError("shares must be several numbers"),
    "blocks(num_draws=10**9, block_size=10**12)": ValueError("block_size must be at most 16,777,216, because"),
    "blocks([1], 10, 4, nan).sources(0)": TypeError("each part of a seed must be"),
    "check_weights([1, 3])": np.array([0.25, 0.75]),
    "check_weights([0, np.float16(2), np.uint8(2)])": np.array([0, 0.5, 0.5]),
    "check_weights(torch.tensor([1, 3]))": np.array([0.25, 0.75]),
    "check_weights(w for w in [1, 1])": np.array([0.5, 0.5]),
    "check_weights([1e308, 1e308])": np.array([0.5, 0.5]),
    "check_weights([5e-324])": np.array([1.0]),
    "check_weights([])": ValueError("weights must hold at least one number above 0, got 0 numbers"),
    "check_weights([0, -0.0])": ValueError("weights must hold at least one number above 0, got 2 numbers"),
    "check_weights([1, nan])": ValueError("each of weights must be a finite number of at least 0, got nan"),
    "check_weights([inf])": ValueError("each of weights must be a finite number of at least 0, got inf"),
    "check_weights([1, -1])": ValueError("each of weights must be a finite number of at least 0, got -1"),
    "check_weights([10**400])": ValueError("each of weights must be"),
    "check_weights([True])": TypeError("each of weights must be"),
    "check_weights(['1'])": TypeError("each of weights must be"),
    "check_weights([None])": TypeError("each of weights must be"),
    "check_weights([[1, 2]])": TypeError("each of weights must be"),
    "check_weights([1j])": TypeError("each of weights must be"),
    "check_weights({1, 2})": TypeError("weights must be a list, got set"),
    "check_weights({'a': 1}, 'sizes')": TypeError("sizes must be several numbers"),
    "check_weights('12')": TypeError("weights must be several numbers"),
    "check_weights(1)": TypeError("weights must be several numbers"),
    "seed_of() == seed_of('')": False,
    "seed_of(np.int8(1), np.str_('a')) == seed_of(1, 'a')": True,
    "seed_of(2**100) < 2**64": True,
    "seed_of('\\ud800') >= 0": True,
    "seed_of(-1)": ValueError("each part of a seed must be"),
    "seed_of(nan)": TypeError("each part of a seed must be"),
    "seed_of(True)": TypeError("each part of a seed must be"),
    "seed_of(None)": TypeError("each part of a seed must be"),
    "seed_of(b'a')": TypeError("each part of a seed must be"),
}
