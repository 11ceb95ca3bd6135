"""Hostile calls of ranks: how many, how long, and where they meet."""

import time

from course_lib.foundation.ranks import process_group


def alone():
    with process_group():
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
    "process_group(time_limit=0)": ValueError("time_limit must be"),
    "process_group(time_limit='2')": TypeError("time_limit must be"),
}
