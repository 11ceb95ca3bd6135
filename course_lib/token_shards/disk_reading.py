"""What an order costs a disk, in pages of a file, and the shuffle buffer, which reads a
file only from the front.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Annotated

import numpy as np

from course_lib.foundation import AtLeast, Integers, Length, Seed, Several, checked

PAGE_BYTES = 4096  # the least that a system reads from a file
MOST_PAGES = 10**8  # which takes a minute


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
