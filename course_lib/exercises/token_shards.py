"""Exercises of lesson 11: places in shards, blocks, a spike, copies and pages."""

import hashlib
from collections.abc import Iterator
from random import Random

import numpy as np

from course_lib.teaching.checker import Case, bug_or_not, exercise, true_or_false


def _places(random: Random) -> Iterator[Case]:
    for sizes in ([5], [3, 4], [4, 2], [2, 7, 3], [5, 1, 1, 6], [1, 1, 1], [4, 4, 2]):
        for position in range(sum(sizes)):
            yield position, sizes
    yield 100, [10] * 12
    yield 29, [10] * 12


@exercise(
    cases=_places,
    hints=(
        "Shards may differ in size. Walk over them. What's left of `position` when "
        "you've passed the first shard?",
        "As long as `position` isn't smaller than the size of the current shard, "
        "subtract that size and go to the next shard. What's left at the end?",
    ),
)
def locate(position: int, shard_sizes: list[int]) -> tuple[int, int]:
    """Return the shard that holds the id at `position`, and its place in that shard."""
    shard = 0
    while position >= shard_sizes[shard]:
        position -= shard_sizes[shard]
        shard += 1
    return shard, position


locate.mistake(
    "you give the first id of a shard to the shard before. But if that one holds 4 "
    "ids, at positions 0 to 3, then position 4 is already in the next shard.",
    lambda position, sizes: (
        shard := locate(max(0, position - 1), sizes)[0],
        position - sum(sizes[:shard]),
    ),
)
locate.mistake(
    "you treat all shards as if they were as large as the first, or as the largest, "
    "but sizes may differ. Add them up.",
    lambda position, sizes: divmod(position, sizes[0]),
    lambda position, sizes: divmod(position, max(sizes)),
)
locate.mistake(
    "you return the place in the whole stream. Subtract the sizes of the shards before "
    "this one.",
    lambda position, sizes: (locate(position, sizes)[0], position),
)
locate.mistake(
    "you find the first shard that's larger than the position, but you don't subtract "
    "the sizes of the shards that you've passed.",
    lambda position, sizes: next(
        ((shard, position) for shard, n in enumerate(sizes) if position < n),
        (len(sizes) - 1, position),
    ),
    lambda position, sizes: next(
        ((shard, position) for shard, n in enumerate(sizes) if position < n), None
    ),
)
locate.mistake(
    "you subtract only the size of the shard right before this one, but you have to "
    "subtract those of all the shards before.",
    lambda position, sizes: (
        shard := locate(position, sizes)[0],
        position - sum(sizes[:shard][-1:]),
    ),
)
locate.mistake(
    "you count shards, or places, from 1. Count both from 0.",
    lambda position, sizes: tuple(np.add(locate(position, sizes), (1, 0))),
    lambda position, sizes: tuple(np.add(locate(position, sizes), (0, 1))),
)


def _blocks(random: Random) -> Iterator[Case]:
    yield from ((6, 2, [0, 1, 2]), (6, 2, [2, 0, 1]), (5, 2, [2, 0, 1]))
    yield from ((3, 5, [0]), (1, 1, [0]), (4, 4, [0]), (5, 4, [1, 0]))
    yield from ((5, 2, [1, 2, 0]), (4, 1, [3, 1, 0, 2]))
    for num_windows in (7, 8, 9, 10, 12, 13):
        for block_size in (2, 3, 4, 5):
            blocks = list(range(-(-num_windows // block_size)))
            random.shuffle(blocks)
            yield num_windows, block_size, blocks


@exercise(
    cases=_blocks,
    hints=(
        "Block b has the windows b * block_size, b * block_size + 1, ... How many does "
        "it have? All blocks have `block_size`, except perhaps one.",
        "The last windows may make a short block, because the windows end at "
        "`num_windows - 1`. It's the block with the largest number, wherever it is in "
        "`blocks`.",
    ),
)
def block_order(num_windows: int, block_size: int, blocks: list[int]) -> list[int]:
    """Return all windows, block after block in the order of `blocks`."""
    order = []
    for block in blocks:
        first = block * block_size
        order += range(first, min(first + block_size, num_windows))
    return order


def _ordered(blocks, size, own_sizes=()) -> list[int]:
    sizes = dict.fromkeys(blocks, size) | dict(own_sizes)
    return [block * size + i for block in blocks for i in range(sizes[block])]


block_order.mistake(
    "you fill up the short block, but there's no window `num_windows`, and none after "
    "it.",
    lambda count, size, blocks: _ordered(blocks, size),
)
block_order.mistake(
    "you cut short the block that comes last in the order, but the short one is the "
    "block with the largest number, and may come early.",
    lambda count, size, blocks: _ordered(blocks, size)[:count],
    lambda count, size, blocks: _ordered(blocks, size, {blocks[-1]: count % size}),
)
block_order.mistake(
    "you leave out the short block, and with it the last windows.",
    lambda count, size, blocks: _ordered(
        [block for block in blocks if block < count // size], size
    ),
)
block_order.mistake(
    "you give the last block what's left over, which is nothing when that block is "
    "full.",
    lambda count, size, blocks: _ordered(blocks, size, {max(blocks): count % size}),
)
block_order.mistake(
    "you read `blocks` the wrong way around. `blocks[i]` says which block comes at "
    "place i, not where block i goes.",
    lambda count, size, blocks: block_order(
        count, size, [blocks.index(place) for place in range(len(blocks))]
    ),
)
block_order.mistake(
    "you take `block_size` for the number of blocks, but it says how many windows make "
    "one block.",
    lambda count, size, blocks: _ordered(blocks, count // size),
    lambda count, size, blocks: block_order(count, -(-count // size), blocks),
)


def _spikes(random: Random) -> Iterator[Case]:
    yield from (((0, 0), 0, 2, 1, 9), ((0, 0), 1, 2, 1, 9), ((0, 4), 2, 2, 1, 9))
    yield from (((0, 0), 1, 2, 2, 9), ((0, 4), 1, 2, 2, 9), ((0, 4), 2, 2, 2, 9))
    yield from (((0, 1), 2, 3, 1, 9), ((0, 1), 3, 2, 1, 9), ((0, 2), 1, 2, 2, 9))
    yield from (((2, 3), 1, 3, 2, 9), ((0, 0), 3, 4, 1, 8), ((0, 0), 9, 3, 1, 8))
    yield from (((0, 10), 2, 4, 1, 50), ((0, 5), 1, 3, 3, 50), ((1, 7), 24, 5, 1, 90))
    yield from (((0, 6), 15, 2, 3, 31), ((0, 3), 19, 2, 2, 31), ((5, 0), 12, 1, 4, 17))
    yield (0, 128_000), 300, 64, 8, 1_000_003
    for _ in range(20):
        batch_size, world_size = random.randrange(1, 6), random.randrange(1, 5)
        step = batch_size * world_size
        num_windows = random.randrange(10 + step, 10 + 9 * step)
        place = 10, random.randrange(num_windows - step + 1)
        yield place, random.randrange(10, 35), batch_size, world_size, num_windows


@exercise(
    cases=_spikes,
    hints=(
        "How many windows do *all* ranks together take in one step? The place moves by "
        "that many for each step that you leave out.",
        "Leave out one step at a time. After each, ask whether the epoch has another "
        "full step. If not, you're at window 0 of the next epoch.",
    ),
)
def skip_ahead(
    place: tuple[int, int],
    num_steps: int,
    batch_size: int,
    world_size: int,
    num_windows: int,
) -> tuple[int, int]:
    """Return the epoch and the windows delivered when `num_steps` are left out."""
    epoch, windows = place
    step = batch_size * world_size
    for _ in range(num_steps):
        windows += step
        if windows + step > num_windows:
            epoch, windows = epoch + 1, 0
    return epoch, windows


skip_ahead.mistake(
    "you move by one rank's batch, but in each step all ranks take one batch.",
    lambda place, steps, batch, world, size: skip_ahead(place, steps, batch, 1, size),
    lambda place, steps, batch, world, size: (place[0], place[1] + steps * batch),
)
skip_ahead.mistake(
    "you go beyond the end of the epoch. After its last full step, the next epoch "
    "begins at window 0.",
    lambda place, steps, batch, world, size: (
        place[0],
        place[1] + steps * batch * world,
    ),
)
skip_ahead.mistake(
    "you let a step run over from one epoch into the next, but windows that don't fill "
    "a step at the end of an epoch are dropped.",
    lambda place, steps, batch, world, size: divmod(
        place[0] * size + place[1] + steps * batch * world, size
    ),
)


@skip_ahead.mistake(
    "you count a last step that isn't full. It's dropped here, and the epoch ends "
    "before it."
)
def _counts_a_short_step(place, steps, batch, world, size) -> tuple[int, int]:
    epoch, windows = place
    for _ in range(steps):
        windows += batch * world
        if windows >= size:
            epoch, windows = epoch + 1, 0
    return epoch, windows


@skip_ahead.mistake(
    "you stay at the end of an epoch that has no full step left. The next place to "
    "read is window 0 of the next epoch."
)
def _stays_at_the_end(place, steps, batch, world, size) -> tuple[int, int]:
    epoch, windows = place
    for _ in range(steps):
        if windows + batch * world > size:
            epoch, windows = epoch + 1, 0
        windows += batch * world
    return epoch, windows


@skip_ahead.mistake(
    "you count whole steps from the beginning of the epoch, but the checkpoint may lie "
    "in the middle of one, because the run may have had a different batch size before."
)
def _whole_steps(place, steps, batch, world, size) -> tuple[int, int]:
    step = batch * world
    epochs, steps = divmod(place[1] // step + steps, size // step)
    return place[0] + epochs, steps * step


def _collections(random: Random) -> Iterator[Case]:
    yield from (([], []), (["a"], []), ([], ["a"]), (["a"], ["a"]), (["a"], ["b"]))
    yield ["The end."], ["the end.", "THE  END.", " The end. ", "The\nend.", "Theend."]
    yield ["the  cat", "a   hat\t "], ["The cat", "A hat", "a  HAT", "ahat", "a hat ."]
    yield ["one two", "three"], ["one", "two", "three", "one two three", "hre", "one"]
    yield ["one", "two"], ["three", "three", "two", "Three", "two"]
    yield ["x", "x", "y"], ["Y", "z", "x", "x"]
    yield ["A\t\tb\n\nc"], ["a b c", "a  b   c", "a\tb\nc", "ab c", "a b  c d", "abc"]
    yield ["  "], ["", "\n", "a"]
    yield ["cat", "dog"], ["cats", "Dog", "do", "c a t", "dog dog"]
    yield ["b", "a", "c"], ["C", "q", "B", "q", "A"]
    yield ["a"], [*"bbbabbbba"]  # a set has 8 before 3
    yield ["one\ttwo", "x\ny"], ["One two", "x y", "onetwo"]
    yield ["one two", "go go stop"], ["two one", "go stop go", "go stop", "Go go  stop"]
    yield ["word  " * 5], ["word " * 5, "word  word " * 2, "WORD word word word word"]


@exercise(
    cases=_collections,
    hints=(
        "Two texts are copies if they are equal after they are normalized. Normalize "
        "both sides, and compare.",
        "`text.split()` cuts at whitespace of every kind and length, and "
        "`' '.join(...)` puts one space between the words. Collect the training texts "
        "in a set.",
    ),
)
def leaked(train: list[str], val: list[str]) -> list[int]:
    """Return which texts of `val`, by number, have a copy in `train`."""

    def plain(text):
        return " ".join(text.lower().split())

    seen = {plain(text) for text in train}
    return [number for number, text in enumerate(val) if plain(text) in seen]


def _copies(train, val, normal) -> list[int]:
    seen = {normal(text) for text in train}
    return [number for number, text in enumerate(val) if normal(text) in seen]


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


leaked.mistake(
    "you treat upper and lower case as different. Turn both texts into lower case "
    "before you compare them.",
    lambda train, val: _copies(train, val, str),
    lambda train, val: _copies(train, val, lambda text: " ".join(text.split())),
)
leaked.mistake(
    "you leave whitespace inside a text as it is. Turn every run of it, line ends and "
    "tabs included, into one space.",
    lambda train, val: _copies(train, val, str.lower),
    lambda train, val: _copies(train, val, lambda text: text.lower().strip()),
)
leaked.mistake(
    "you drop the spaces between words, but `a hat` isn't `ahat`.",
    lambda train, val: _copies(train, val, lambda text: "".join(text.lower().split())),
    lambda train, val: _copies(train, val, lambda text: text.lower().replace(" ", "")),
)
leaked.mistake(
    "you look for a text *inside* the training texts, but a part of one isn't a copy.",
    lambda train, val: [
        number
        for number, text in enumerate(val)
        if any(_plain(text) in _plain(one) for one in train)
    ],
)
leaked.mistake(
    "you normalize one side only. Normalize both `train` and `val`, and then compare.",
    lambda train, val: [i for i, t in enumerate(val) if _plain(t) in train],
    lambda train, val: [i for i, t in enumerate(val) if t in map(_plain, train)],
)
leaked.mistake(
    "you return the texts, or their places in `train`, not their numbers in `val`.",
    lambda train, val: [val[number] for number in leaked(train, val)],
    lambda train, val: leaked(val, train),
)


def _batches(random: Random) -> Iterator[Case]:
    yield from (([], 8, 2), ([0], 8, 2), ([0, 0], 8, 2), ([2047], 1, 2), ([2046], 1, 2))
    yield from (([2040], 7, 2), ([2040], 8, 2), ([1020], 4, 4), ([1020], 3, 4))
    yield from (([0, 5000], 1, 2), ([0], 2047, 2), ([0], 2048, 2), ([0], 1023, 4))
    yield from (([0], 1024, 4), ([100], 6000, 2), ([5000, 100, 5001], 9, 4))
    yield from (([2048, 0, 4096], 4, 2), ([10, 20, 30], 5, 2), ([1000], 5000, 4))
    yield from (([1364], 1, 3), ([1363], 1, 3), ([2], 1363, 3), ([2729, 4094], 1, 3))
    yield from (([2047, 2047], 2048, 2), ([2048], 2047, 2), ([1024], 1023, 4))
    yield [4090], 6, 2  # as ids, the last target alone would be in another page
    for _ in range(12):
        starts = [random.randrange(20_000) for _ in range(random.randrange(1, 9))]
        yield starts, random.choice([1, 64, 255, 1024, 3000]), random.choice([2, 4])


@exercise(
    cases=_batches,
    hints=(
        "A window at start s begins at byte `s * bytes_per_id`. What's its last byte? "
        "And in which pages are these two bytes?",
        "A window touches all pages from the page of its first byte to the page of its "
        "last. Put the numbers of all pages of all windows into a set.",
    ),
)
def pages_touched(starts: list[int], context_length: int, bytes_per_id: int) -> int:
    """Count the pages of 4,096 bytes that windows of T + 1 ids at `starts` touch."""
    pages = set()
    for start in starts:
        first = start * bytes_per_id
        last = first + (context_length + 1) * bytes_per_id - 1
        pages.update(range(first // 4096, last // 4096 + 1))
    return len(pages)


def _pages(starts, context_length, width, of_window) -> int:
    size = (context_length + 1) * width
    return len({page for s in starts for page in of_window(s * width, size)})


pages_touched.mistake(
    "you forget the last target. A window has T + 1 ids, and the last one may be in "
    "another page.",
    lambda starts, T, width: pages_touched(starts, T - 1, width),
)
pages_touched.mistake(
    "you include the byte after the window, which may be in another page.",
    lambda starts, T, width: _pages(
        starts, T, width, lambda b, size: range(b // 4096, (b + size) // 4096 + 1)
    ),
)
pages_touched.mistake(
    "you take ids for bytes, but an id has `bytes_per_id` of them.",
    lambda starts, T, width: pages_touched(starts, T, 1),
)
pages_touched.mistake(
    "you count a page once for each window that touches it. Count *different* pages.",
    lambda starts, T, width: sum(pages_touched([s], T, width) for s in starts),
)
pages_touched.mistake(
    "you count only the page in which a window begins, or that one and the one in "
    "which it ends, but a long window also touches the pages in between.",
    lambda starts, T, width: _pages(starts, T, width, lambda b, size: [b // 4096]),
    lambda starts, T, width: _pages(
        starts, T, width, lambda b, size: [b // 4096, (b + size - 1) // 4096]
    ),
)
pages_touched.mistake(
    "you add up bytes and divide, but a disk reads whole pages, and a window may "
    "begin near the end of one.",
    lambda starts, T, width: -(-len(starts) * (T + 1) * width // 4096),
    lambda starts, T, width: len(starts) * (T + 1) * width // 4096,
)


# Bugs, and things that only look like bugs


def _steps_of_ranks(random: Random) -> Iterator[Case]:
    for size in (100, 90, 70, 130, 66, 65):
        for world_size in (1, 2, 4):
            yield [size] * 5, 16, world_size, 10


def shards_by_the_global_batch(
    sizes: list[int], batch_tokens: int, world_size: int, num_steps: int
) -> list[list[int]]:
    rows, shard, start = [], 0, 0  # `start` of the batches of all ranks together
    step = batch_tokens * world_size
    for _ in range(num_steps):
        rows.append([shard] * world_size)
        start += step
        if start + step + 1 > sizes[shard]:
            shard, start = (shard + 1) % len(sizes), 0
    return rows


@bug_or_not(
    purpose=(
        "In each step every rank reads its own `batch_tokens` tokens, side by side "
        "with the other ranks. A rank goes to the next shard when there is not enough "
        "left for one more step, and all ranks are to change the shard in the same "
        "step. The function returns the shard that each rank reads, step by step."
    ),
    reference=shards_by_the_global_batch,
    cases=_steps_of_ranks,
    explanation=(
        "Every rank asks whether one more step fits after *its own* place. But the "
        "last rank is further along than rank 0. Near the end of a shard, it may "
        "change the shard one step earlier, and then the ranks read different shards. "
        "Whether this happens depends on the length of the shard. (A reader asked "
        "about it in karpathy/build-nanogpt, issue 105.) If every rank asks where the "
        "batch of *all* ranks begins, all of them get the same answer."
    ),
)
def ranks_in_step(
    sizes: list[int], batch_tokens: int, world_size: int, num_steps: int
) -> list[list[int]]:
    shards = [0] * world_size
    places = [rank * batch_tokens for rank in range(world_size)]
    rows = []
    for _ in range(num_steps):
        rows.append(list(shards))
        for rank in range(world_size):
            places[rank] += batch_tokens * world_size
            if places[rank] + batch_tokens * world_size + 1 > sizes[shards[rank]]:
                shards[rank] = (shards[rank] + 1) % len(sizes)
                places[rank] = rank * batch_tokens
    return rows


def first_byte(sample: int, context_length: int) -> int:
    return sample * context_length * 2


@bug_or_not(
    purpose=(
        "Say at which byte of a shard of uint16 ids a sample begins. Samples have "
        "`context_length` ids and follow one another without gaps."
    ),
    reference=first_byte,
    cases=lambda random: [
        (sample, context_length)
        for context_length in (1024, 2048)
        for sample in (0, 1, 7, 10_000, 2**19 - 1, 2**19, 2**20, 3_000_000)
    ],
    explanation=(
        "The product is computed in 64 bits, but then it is squeezed into 32. From "
        "byte 2**31 on, the result is negative, and from 2**32 on it begins again at "
        "0. A shard of 100 million ids has only 200 million bytes, so nothing happens "
        "there. But a shard of more than two billion bytes is read in the wrong place. "
        "The data loader of karpathy/llm.c had such a cast, `(int)`, at the last "
        "moment."
    ),
)
def narrow_offset(sample: int, context_length: int) -> int:
    offset = np.int64(sample) * np.int64(context_length) * np.int64(2)
    return int(offset.astype(np.int32))


def split_by_hash(text: str, val_every: int) -> str:
    normalized = " ".join(text.lower().split()).encode()
    number = int.from_bytes(hashlib.sha256(normalized).digest()[:8], "big")
    return "val" if number % val_every == 0 else "train"


def on_both_sides(texts: list[str], val_every: int) -> int:
    sides = [(" ".join(t.lower().split()), split_by_hash(t, val_every)) for t in texts]
    return sum((text, "train") in sides for text, side in set(sides) if side == "val")


@true_or_false(
    claim=(
        "Let a hash of the normalized text decide the split of a document, instead of "
        "its number. Then two texts that are equal once they are normalized are never "
        "on both sides, wherever they come in the collection."
    ),
    reference=on_both_sides,
    cases=lambda random: [
        (
            [f"Text  {random.randrange(9)}", f"text {random.randrange(9)} "] * 8,
            val_every,
        )
        for val_every in (2, 3, 10)
        for _ in range(4)
    ],
    explanation=(
        "Equal texts have equal hashes, so they go to the same side. You need no table "
        "of earlier documents, and it stays true when you add documents. But it works "
        "for equal texts only. For example, if a copy has one more word, its hash has "
        "nothing in common with that of the original."
    ),
)
def split_by_text(texts: list[str], val_every: int) -> int:
    return 0
