"""What a loader of windows at these starts hands out, for the tests of what is asked of it."""

from __future__ import annotations

import numpy as np

from course_lib.auditing_loaders.loader_calls import LoaderCall, make_stream, read_epoch
from course_lib.token_shards.disk_reading import through_a_buffer

LENGTH = 4  # T of the windows of `reading_at`


def call_of(make_loader, num_tokens=60, lengths=None, max_batches=None, **more):
    return LoaderCall(make_loader, *make_stream(num_tokens, lengths, None, None), max_batches=max_batches, **more)


def loader_of(batches, length):
    """Windows at these starts, a list of starts for each batch."""

    def make_loader(ids):
        for starts in batches:
            at = np.array(starts)[:, None] + np.arange(length)
            yield ids[at], ids[at + 1]

    return make_loader


def reading_of(batches, length=4, **more):
    call = call_of(loader_of(batches, length), **more)
    return read_epoch(call, call())


def reading_at(starts, size=3, num_tokens=60, **more):
    batches = [list(starts[at : at + size]) for at in range(0, len(starts), size)]
    return reading_of(batches, LENGTH, num_tokens=num_tokens, **more)


def from_a_buffer(size: int, buffer_size: int, seed: int) -> np.ndarray:
    """The order of a shuffle buffer."""
    return np.array(list(through_a_buffer(range(size), buffer_size, seed=seed)))
