"""Hostile calls of ranks: how many, how long, and where they meet."""

import time

from course_lib.foundation.ranks import process_group


def alone():
    with process_group():
        return 1


CALLS = {
    "alone()": 1,
}
