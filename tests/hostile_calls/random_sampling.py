"""Hostile calls of lesson 03."""

import numpy as np
import torch

LARGEST = 2**63 - 1


def seeded():
    return torch.Generator().manual_seed(0)


def batches(corpus, batch_size=1, num_steps=2):
    from course_lib.random_sampling import seq_data_iter_random

    return [(x.tolist(), y.tolist()) for x, y in seq_data_iter_random(corpus, batch_size, num_steps)]


CALLS = {
    # draw_offset
    "draw_offset(1)": 0,
    "draw_offset(np.int8(1), generator=seeded())": 0,
    "0 <= draw_offset(LARGEST, generator=seeded()) < LARGEST": True,
    "draw_offset(2**63)": ValueError("num_offsets must be an integer of at least 1 and at most 9223372036854775807"),
    "draw_offset(2**64)": ValueError("got 18446744073709551616"),
    "draw_offset(0)": ValueError("num_offsets must be an integer of at least 1"),
    "draw_offset(-1)": ValueError("num_offsets must be an integer of at least 1"),
    "draw_offset(2.0)": TypeError("num_offsets must be an integer"),
    "draw_offset(True)": TypeError("num_offsets must be an integer"),
    "draw_offset('5')": TypeError("num_offsets must be an integer"),
    "draw_offset(None)": TypeError("num_offsets must be an integer"),
    # count_subsequences
    "count_subsequences(0, 1, 0)": 0,
    "count_subsequences(5, 5, 0)": 0,
    "count_subsequences(6, 5, 0)": 1,
    "count_subsequences(1, 3, 100)": 0,
    "count_subsequences(2**70, 1, 0)": 2**70 - 1,
    "count_subsequences(np.int8(120), np.int8(1), np.int8(100))": 19,
    "count_subsequences(np.uint8(3), np.uint8(2), np.uint8(200))": 0,
    # subsequence_starts
    "subsequence_starts(11, 5, 0)": np.array([0, 5]),
    "subsequence_starts(0, 5, 3)": np.array([], dtype=int),
    "subsequence_starts(300, np.int8(100), np.int8(90))": np.array([90, 190]),
    "subsequence_starts(300, np.uint64(100), np.uint64(90)).dtype": np.dtype("int64"),
    "subsequence_starts(10, LARGEST, LARGEST)": np.array([], dtype=int),
    "subsequence_starts(10, 2**64, 0)": ValueError("num_steps must be an integer of at least 1 and at most"),
    "subsequence_starts(10, 1, 2**64)": ValueError("offset must be an integer of at least 0 and at most"),
    "subsequence_starts(2**64, 1, 0)": ValueError("num_tokens must be an integer of at least 0 and at most"),
    "subsequence_starts(10, -1, 0)": ValueError("num_steps must be"),
    "subsequence_starts('10', 1, 0)": TypeError("num_tokens must be"),
    # random_starts
    "random_starts(0, 2, 5).shape": (0, 2),
    "random_starts(5, 1, 5).shape": (0, 1),
    "random_starts(300, np.int8(2), np.int8(1)).shape": (149, 2),
    "random_starts(100_000, np.int8(7), np.int8(100), generator=seeded()).shape": (142, 7),
    "random_starts(100_000, np.uint8(7), np.uint8(100), generator=seeded()).max() > 90_000": True,
    "random_starts(10, 100, 1).shape": (0, 100),
    # seq_data_iter_random
    "batches([7, 7, 7, 7])": [([[7, 7]], [[7, 7]])],
    "batches(np.full(4, 70_000, dtype=np.uint32))": [([[70_000] * 2], [[70_000] * 2])],
    "batches(torch.zeros(4, dtype=torch.int8))": [([[0, 0]], [[0, 0]])],
    "seq_data_iter_random([], 1, 1)": ValueError("corpus must hold at least (batch_size + 1) * num_steps = 2 ids"),
    "seq_data_iter_random([1, 2, 3], 1, 2)": ValueError("= 4 ids, so that every offset leaves a batch, got 3"),
    "seq_data_iter_random(range(9), 100, 2)": ValueError("= 202 ids"),
    "seq_data_iter_random(range(300), np.int8(100), np.int8(3))": ValueError("= 303 ids"),
}
