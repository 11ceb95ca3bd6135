"""Hostile calls of the orders, the measures of mixing, and the pages of a disk."""

import numpy as np

from course_lib.foundation import BlockOrder

ALL = np.arange(10)


CALLS = {
    "FileOrder(5)[[0, 4]]": np.array([0, 4]),
    "FileOrder(0)[[]]": np.array([], dtype=np.int64),
    "FileOrder(5)[5]": IndexError("positions must lie in 0 ... 4, got 5"),
    "FileOrder(5)[-1]": IndexError("positions must lie in 0 ... 4, got -1"),
    "FileOrder(5)[0.5]": TypeError("positions must be integers"),
    "FileOrder(5)[True]": TypeError("positions must be integers"),
    "sorted(AffineOrder(10, 3)[ALL].tolist())": list(range(10)),
    "AffineOrder(1, 0)[[0]]": np.array([0]),
    "AffineOrder(0, 0)[0]": IndexError("positions must lie in"),
    "AffineOrder(5, None)": TypeError("seed must be"),
    "AffineOrder(2**63, 0)": ValueError("size must be"),
    "sorted(BlockOrder(10, 3, block_size=np.int8(4), blocks_at_a_time=2)[ALL].tolist())": list(range(10)),
    "sorted(BlockOrder(10, 3, block_size=10**30, blocks_at_a_time=10**30)[ALL].tolist())": list(range(10)),
    "sorted(BlockOrder(10, 3, block_size=1, blocks_at_a_time=1)[ALL.astype(np.int8)].tolist())": list(range(10)),
    "len(BlockOrder(80_000, 0, block_size=1, blocks_at_a_time=1)[np.arange(80_000)])": 80_000,
    "pages_read([0], 2**40, cached_pages=5)": ValueError("at most 100,000,000 pages"),
    "len(set(BlockOrder(2**62, 3, block_size=2**63, blocks_at_a_time=2**63)[ALL].tolist()))": 10,
    "BlockOrder(2**63, 3)": ValueError("size must be"),
    "pages_read([], 2**63, cached_pages=1)": ValueError("context_length must be an integer of at least 1 and at most"),
    "pages_read([0], 4, cached_pages=2**64)": (1, 1),
    "pages_read([0], 4, cached_pages=1, bytes_per_id=2**63)": ValueError("bytes_per_id must be"),
    "pages_read([0], 4, cached_pages=1, page_bytes=2**63)": ValueError("page_bytes must be"),
    "BlockOrder(0, 3)[[]]": np.array([], dtype=np.int64),
    "BlockOrder(10, 3, blocks_at_a_time=0)": ValueError("blocks_at_a_time must be"),
    "BlockOrder(10, 3)[10]": IndexError("positions must lie in 0 ... 9"),
    "measure_mixing([0, 1, 2], 3).together": 2 / 3,
    "measure_mixing([0, 0, 0], 3).correlation": 1.0,
    "measure_mixing(np.array([100, 0, 100], dtype=np.int8), 101).distance": 100 / 101,
    "measure_mixing([0, 1], 3)": ValueError("entries must be three or more"),
    "measure_mixing([[0, 1, 2]], 3)": ValueError("in one row, got shape (1, 3)"),
    "measure_mixing([0, 1, 3], 3)": ValueError("entries must lie in 0 ... 2"),
    "measure_mixing([0, 1, -1], 3)": ValueError("entries must lie in 0 ... 2"),
    "Mixing(0.0, 0.3, 1.0, 0.0, 0.5).distance": 0.3,
    "Mixing()": TypeError("missing 5 required"),
    "pages_read([], 4, cached_pages=1)": (0, 0),
    "pages_read([0, 2**40], 4, cached_pages=1)": (2, 2),
    "pages_read(np.array([120], dtype=np.int8), 100, cached_pages=9, bytes_per_id=1, page_bytes=100)": (2, 1),
    "pages_read([-1], 4, cached_pages=1)": ValueError("starts must not be negative"),
    "pages_read([0], 4, cached_pages=1, page_bytes=0)": ValueError("page_bytes must be"),
    "pages_read([2**62], 4, cached_pages=1)": ValueError("whose bytes can be counted in 64 bits"),
    "pages_read([2**63 - 1], 1, cached_pages=1, bytes_per_id=1)": ValueError("whose bytes can be counted in 64 bits"),
    "pages_read([2**62 - 5], 4, cached_pages=1)": (1, 1),
}
