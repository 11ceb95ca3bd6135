"""Hostile calls of ranks: how many, how long, and where they meet."""

import time

from course_lib.foundation.ranks import process_group


def alone(*arguments, **options):
    with process_group(*arguments, **options):
        return 1


CALLS = {
    "run_ranks(time.time, 0)": ValueError("world_size must be"),
    "run_ranks(time.time, 2.0)": TypeError("world_size must be"),
    "run_ranks(time.time, 1000)": ValueError("world_size must be"),
    "run_ranks(time.time, 2, time_limit=0)": ValueError("time_limit must be a finite number of at least 0.01"),
    "run_ranks(time.time, 2, time_limit=nan)": ValueError("time_limit must be"),
    "run_ranks(time.time, 2, time_limit=1e9)": ValueError("time_limit must be"),
    "run_ranks(time.time, 2, time_limit=None)": TypeError("time_limit must be"),
    "alone()": 1,
    # not two groups of one each
    "process_group(1, 2).__enter__()": ValueError("meeting must be given together with rank and world_size"),
    "process_group(rank=0).__enter__()": ValueError("meeting must be given together with rank and world_size"),
    "alone(2, 2, 'meeting')": ValueError("rank must be an integer of at least 0 and at most 1, got 2"),
    "alone(0, 0, 'meeting')": ValueError("world_size must be"),
    "alone(None, 1, 'meeting')": TypeError("rank must be"),
    "alone(0, 1, 'no such folder/meeting')": FileNotFoundError("no such folder"),
    "alone(0, 1, 5)": TypeError("PathLike"),
    "alone(time_limit=0)": ValueError("time_limit must be"),
}
