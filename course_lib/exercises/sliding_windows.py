"""Exercises of lesson 02: count and place windows, share them out, and hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from random import Random

import torch
from torch.utils.data import DataLoader, Dataset

from course_lib.sliding_windows import count_windows, window_starts
from course_lib.teaching.checker import (
    Case,
    bug_or_not,
    exercise,
)


def _streams(random: Random) -> Iterator[Case]:
    for T in (1, 2, 4):
        for S in (1, 2, 3, 5):
            yield from ((N, T, S) for N in range(12))
    for _ in range(50):
        yield random.randrange(1, 500), random.randrange(1, 40), random.randrange(1, 60)


@exercise(
    cases=_streams,
    hints=(
        "The last window ends T + 1 ids after its start. How many ids come after that?",
        "There are `count_windows(N, T, S)` windows. Where does the last one start, "
        "and how far does it reach? A stream without any window is a case of its own.",
    ),
)
def tokens_in_tail(num_tokens: int, context_length: int, stride: int) -> int:
    """Return how many ids at the end no window reaches; all of them if none fits."""
    windows = count_windows(num_tokens, context_length, stride)
    if windows == 0:
        return num_tokens
    return num_tokens - ((windows - 1) * stride + context_length + 1)


tokens_in_tail.mistake(
    "you count windows of T ids, but each needs one more, for its last target.",
    lambda N, T, S: tokens_in_tail(N, T, S) + (N > T),
    lambda N, T, S: (N - T) % S if N >= T else N,
)
tokens_in_tail.mistake(
    "you forget the stream that's too short for a window, where *all* ids are tail.",
    lambda N, T, S: N - ((count_windows(N, T, S) - 1) * S + T + 1),
    lambda N, T, S: (N - T - 1) % S,
    lambda N, T, S: tokens_in_tail(N, T, S) if N > T else 0,
)
tokens_in_tail.mistake(
    "you subtract a stride for every window, but n windows take n - 1 strides and one "
    "whole window.",
    lambda N, T, S: N - count_windows(N, T, S) * S,
    lambda N, T, S: tokens_in_tail(N, T, S) - S * (N > T),
)
tokens_in_tail.mistake(
    "you lay the windows end to end, but they start S apart.",
    lambda N, T, S: N - count_windows(N, T, S) * (T + 1),
    lambda N, T, S: N % (T + 1),
)
tokens_in_tail.mistake(
    "you return the remainder of N divided by S, as if a window were as long as a "
    "stride.",
    lambda N, T, S: N % S,
)
tokens_in_tail.mistake(
    "you count the gaps between windows, too, but only the ids at the end are tail.",
    lambda N, T, S: N - len({s + i for s in range(0, N - T, S) for i in range(T + 1)}),
)


def _positions(random: Random) -> Iterator[Case]:
    for N in (2, 3, 4, 6, 7, 9, 14):
        for T in (1, 2, 4, 5, 8):
            yield from ((p, N, T) for p in range(N))


@exercise(
    cases=_positions,
    hints=(
        "Token p is a target of the windows that start at p - 1, p - 2, ... p - T. "
        "Which of these starts exist?",
        "Which starts does the stream have at all? Now you have two ranges of starts. "
        "Count the starts that are in both, which may be none.",
    ),
)
def turns_as_target(position: int, num_tokens: int, context_length: int) -> int:
    """Return in how many stride-1 windows the token at `position` is a target."""
    first = max(0, position - context_length)
    last = min(position - 1, num_tokens - context_length - 1)
    return max(0, last - first + 1)


def _starts_between(first: int, last: int) -> int:
    return max(0, last - first + 1)


turns_as_target.mistake(
    "you count the windows in which the token is an *input*, but its targets are one "
    "place further on.",
    lambda p, N, T: _starts_between(max(0, p - T + 1), min(p, N - T - 1)),
)
turns_as_target.mistake(
    "you count all windows that *contain* the token, even those that begin with it "
    "and never predict it.",
    lambda p, N, T: _starts_between(max(0, p - T), min(p, N - T - 1)),
)
turns_as_target.mistake(
    "you let a window start at N - T, where no id is left for its last target.",
    lambda p, N, T: _starts_between(max(0, p - T), min(p - 1, N - T)),
)
turns_as_target.mistake(
    "you forget that tokens near the beginning are in fewer windows, because none "
    "starts before 0.",
    lambda p, N, T: _starts_between(p - T, min(p - 1, N - T - 1)),
    lambda p, N, T: max(0, min(T, N - T, N - p)),
)
turns_as_target.mistake(
    "you forget that tokens near the end are in fewer windows, because none starts "
    "after N - T - 1.",
    lambda p, N, T: min(p, T),
    lambda p, N, T: max(0, min(p, T, N - T)),
)
turns_as_target.mistake(
    "you forget that a short stream has only N - T windows, and none at all where "
    "that is below 0.",
    lambda p, N, T: min(p, T, N - T, N - p),
    lambda p, N, T: min(p, T, N - p),
)


def _wanted_windows(random: Random) -> Iterator[Case]:
    for num_windows in (0, 1, 2, 7):
        for T in (1, 3, 8):
            yield from ((num_windows, T, S) for S in (1, 2, 8, 11))


@exercise(
    cases=_wanted_windows,
    hints=(
        "Where does the last of n windows start, and how many ids does it need from "
        "there?",
        "From the first start to the last there are n - 1 steps, and the last window "
        "is as long as any other. And how many ids do 0 windows need?",
    ),
)
def smallest_stream(num_windows: int, context_length: int, stride: int) -> int:
    """Return the smallest number of ids in which `num_windows` windows fit."""
    if num_windows == 0:
        return 0
    return (num_windows - 1) * stride + context_length + 1


smallest_stream.mistake(
    "you forget the last target: a window needs T + 1 ids, not T.",
    lambda n, T, S: (n - 1) * S + T if n else 0,
)
smallest_stream.mistake(
    "you forget that zero windows need no ids at all.",
    lambda n, T, S: (n - 1) * S + T + 1,
    lambda n, T, S: max(0, (n - 1) * S + T + 1),
)
smallest_stream.mistake(
    "you count n strides, but between n starts there are only n - 1, as between the "
    "posts of a fence.",
    lambda n, T, S: n * S + T + 1 if n else 0,
    lambda n, T, S: n * S + T + 1,
)
smallest_stream.mistake(
    "you lay the windows end to end, but each starts S after the one before.",
    lambda n, T, S: n * (T + 1),
    lambda n, T, S: n * T + 1 if n else 0,
)
smallest_stream.mistake(
    "you leave room for only a stride after the last start, but a window needs T + 1 "
    "ids from there.",
    lambda n, T, S: n * S + 1 if n else 0,
    lambda n, T, S: n * S,
)


def _shares(random: Random) -> Iterator[Case]:
    for world_size in (1, 2, 3, 4):
        for size in sorted({0, world_size - 1, world_size, world_size + 1, 7, 12}):
            order = random.sample(range(100), size)
            yield from ((order, rank, world_size) for rank in range(world_size))


@exercise(
    cases=_shares,
    hints=(
        "Think of dealing cards. A rank gets every `world_size`-th card, beginning "
        "with card number `rank`.",
        "Every machine gets `len(order) // world_size` entries. Remove what is left "
        "over, either before you deal or after.",
    ),
)
def rank_share(order: list[int], rank: int, world_size: int) -> list[int]:
    """Return what machine number `rank` gets when all get the same number."""
    dealt = len(order) // world_size * world_size
    return order[rank:dealt:world_size]


rank_share.mistake(
    "you give some ranks one entry more than others, and at that entry they'd wait "
    "forever. Leave out the entries that don't fill a round.",
    lambda order, rank, W: order[rank::W],
)
rank_share.mistake(
    "you cut the order into blocks. Deal its entries one by one, like cards.",
    lambda order, rank, W: order[rank * (n := len(order) // W) : (rank + 1) * n],
    lambda order, rank, W: order[rank * (n := -(-len(order) // W)) : (rank + 1) * n],
)
rank_share.mistake(
    "you remove everything when nothing is left over, because `order[:-0]` is empty.",
    lambda order, rank, W: order[: -(len(order) % W)][rank::W],
)
rank_share.mistake(
    "you fill up the last round with entries from the beginning, which are then used "
    "twice. Leave out the last entries instead.",
    lambda order, rank, W: (order + order[: -len(order) % W])[rank::W],
)
rank_share.mistake(
    "you choose the entries by their *value*, not by their place in the order.",
    lambda order, rank, W: [entry for entry in order if entry % W == rank],
)


def _documents(random: Random) -> Iterator[Case]:
    yield [], 2
    for T in (1, 2, 4):
        for sizes in ((T,), (T + 1,), (2 * T,), (2 * T + 1,), (3 * T + 2, 1, T + 1)):
            yield [[*range(20 * d, 20 * d + n)] for d, n in enumerate(sizes, 1)], T
    for _ in range(20):
        sizes = random.choices(range(25), k=random.randrange(2, 6))
        yield [random.choices(range(500), k=n) for n in sizes], random.randrange(1, 9)


def _batches(make: Callable, documents: list[list[int]], T: int) -> list:
    """What a stock loader makes of a data set, in batches of 2."""
    return [_as_lists(batch) for batch in DataLoader(make(documents, T), batch_size=2)]


def _as_lists(part: object) -> object:
    if isinstance(part, torch.Tensor):
        return part.tolist()
    if isinstance(part, dict):
        return {name: _as_lists(value) for name, value in part.items()}
    return tuple(map(_as_lists, part)) if isinstance(part, list | tuple) else part


@exercise(
    cases=_documents,
    view=_batches,
    hints=(
        "Which document does item 5 come from, and where in it does the window start? "
        "Make a list of all these places once, in `__init__`.",
        "`window_starts` gives the starts within one document, and none if it is too "
        "short. Then `__len__` is the length of your list, and `__getitem__` looks up "
        "one place, takes the T + 1 ids there, and turns them into two tensors.",
    ),
)
class DocumentWindows(Dataset):
    """The windows of stride T within each document, one document after another.

    It is called with `documents`, lists of ids, and `context_length`, which is T.
    """

    def __init__(self, documents: list[list[int]], context_length: int):
        self.documents, self.context_length = documents, context_length
        self.places = [
            (number, start)
            for number, document in enumerate(documents)
            for start in window_starts(len(document), context_length, context_length)
        ]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        number, start = self.places[index]
        window = self.documents[number][start : start + self.context_length + 1]
        return torch.tensor(window[:-1]), torch.tensor(window[1:])


def _pairs(documents: list[list[int]], T: int, step: int, least: int) -> list[tuple]:
    """The pairs that are cut `step` apart while at least `least` ids are left."""
    cut = torch.tensor
    return [
        (cut(ids[start : start + T]), cut(ids[start + 1 : start + T + 1]))
        for ids in documents
        for start in range(0, len(ids) - least + 1, step)
    ]


DocumentWindows.mistake(
    "your windows cross from one document into the next. Cut each document on its own.",
    lambda documents, T: _pairs([[*chain.from_iterable(documents)]], T, T, T + 1),
)
DocumentWindows.mistake(
    "you keep a window that's short of ids. It needs T + 1 of them, because its last "
    "input needs a target, too.",
    lambda documents, T: _pairs(documents, T, T, T),
    lambda documents, T: _pairs(documents, T, T, 2),
    lambda documents, T: _pairs(documents, T, T, 1),
    lambda documents, T: [
        (x[: len(y)], y)
        for x, y in _pairs(documents, T, T, T)  # as many of both
    ],
)
DocumentWindows.mistake(
    "you step by T + 1, so the first id of each window is never a target. With a step "
    "of T, neighboring windows share one id.",
    lambda documents, T: _pairs(documents, T, T + 1, T + 1),
)
DocumentWindows.mistake(
    "you return the inputs as targets, but each target is the id *after* its input.",
    lambda documents, T: [(x, x.clone()) for x, _ in _pairs(documents, T, T, T + 1)],
)
DocumentWindows.mistake(
    "you return lists. Of those, a `DataLoader` puts the first numbers of all windows "
    "into one tensor, the second numbers into another, and so on. Return tensors, "
    "which it stacks.",
    lambda documents, T: [
        (x.tolist(), y.tolist()) for x, y in _pairs(documents, T, T, T + 1)
    ],
)
DocumentWindows.mistake(
    "you return only one window for each document, but a long one has several.",
    lambda documents, T: _pairs([ids[: T + 1] for ids in documents], T, T, T + 1),
)


# Bug or not?


def all_starts(num_tokens: int, context_length: int, stride: int) -> list[int]:
    return window_starts(num_tokens, context_length, stride).tolist()


@bug_or_not(
    purpose="To return the starts of all windows of T inputs *and* T targets, S apart.",
    reference=all_starts,
    cases=_streams,
    explanation=(
        "`N - T + 1` counts windows of T ids. With its last target, a window has T + 1 "
        "ids. The start N - T is therefore one too many, because its last input has no "
        "target. At a stride S above 1, it shows only on every S-th length."
    ),
)
def starts_from_range(num_tokens: int, context_length: int, stride: int) -> list[int]:
    return list(range(0, num_tokens - context_length + 1, stride))


def _context_lengths(random: Random) -> Iterator[Case]:
    for num_tokens in range(2, 12):
        yield from ((num_tokens, T) for T in range(1, num_tokens))


def possible_starts(num_tokens: int, context_length: int) -> list[int]:
    return [s for s in range(num_tokens) if s + context_length + 1 <= num_tokens]


@bug_or_not(
    purpose="To return all starts that `torch.randint(N - T, ...)` can draw in the "
    "loader of a well-known small GPT. Each must leave room for T inputs and T "
    "targets, and no start that does may be missing. (N is at most 11, so 2,000 draws "
    "find them all.)",
    reference=possible_starts,
    cases=_context_lengths,
    explanation=(
        "The upper end of `randint` is left out, like that of a `range`. The largest "
        "start is therefore N - T - 1, the last one that leaves room for T + 1 ids. If "
        "you subtract 1 more, to be safe, you lose a start forever."
    ),
)
def drawn_starts(num_tokens: int, context_length: int) -> list[int]:
    draws = torch.randint(num_tokens - context_length, (2000,), generator=_seeded())
    return sorted(set(draws.tolist()))


def _seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def _resumed_runs(random: Random) -> Iterator[Case]:
    for size in (1, 2, 5, 8):
        for epoch in range(4):
            yield from ((size, epoch, first) for first in range(epoch + 1))


def order_without_interruption(size: int, epoch: int, first_epoch: int) -> list[int]:
    return shuffles_again.snippet(size, epoch, 0)


@bug_or_not(
    purpose="To return the order of windows in `epoch`, in a run that was started, or "
    "resumed, at the beginning of `first_epoch`. A resumed run must carry on as if it "
    "had never stopped.",
    reference=order_without_interruption,
    cases=_resumed_runs,
    explanation=(
        "Each epoch shuffles the list that the previous epoch left behind, so its "
        "order depends on how many shuffles came before. A resumed run has done fewer "
        "of them, so it gets a different order from the same seed. If it's resumed in "
        "the middle of an epoch, it sees some windows twice and others never. This was "
        "found in pytorch/torchtitan (issue 2864). The cure is to shuffle a fresh "
        "`range(size)` in each epoch."
    ),
)
def shuffles_again(size: int, epoch: int, first_epoch: int) -> list[int]:
    order = list(range(size))
    for e in range(first_epoch, epoch + 1):
        Random(e).shuffle(order)  # seed + epoch, as it should be
    return order


def _rows_to_deliver(random: Random) -> Iterator[Case]:
    for num_rows in (1, 2, 4, 6):
        for length in (1, 3):
            yield ([random.choices(range(50), k=length) for _ in range(num_rows)],)


def sum_of_each_row(rows: list[list[int]]) -> list[int]:
    return [sum(row) for row in rows]


@bug_or_not(
    purpose="To deliver one row after another, without new memory for each. The "
    "receiver finishes one row, here by adding it up, before it asks for the next.",
    reference=sum_of_each_row,
    cases=_rows_to_deliver,
    explanation=(
        "One buffer is filled again and again, as in the loader of a well-known chat "
        "model. That's fast, and it's right as long as nobody keeps a row. But "
        "`list(deliver())`, for example, would hold the last row many times over. The "
        "loader in this lesson gives each batch its own memory. If yours doesn't, say "
        "so in its docstring."
    ),
)
def one_buffer(rows: list[list[int]]) -> list[int]:
    buffer = [0] * len(rows[0])

    def deliver():
        for row in rows:
            buffer[:] = row
            yield buffer

    return [sum(row) for row in deliver()]
