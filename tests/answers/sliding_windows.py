"""Answers to the exercises of lesson 2: right ones, and wrong ones with words of what they are told."""

import numpy as np
import torch
from torch.utils.data import Dataset

from course_lib.exercises.sliding_windows import (
    DocumentWindows,
    rank_share,
    smallest_stream,
    tokens_in_tail,
    turns_as_target,
)
from course_lib.teaching.checker import FAILED, PASSED


def by_marking(num_tokens, context_length, stride):
    """The tail is what comes after the last id that a window holds."""
    last = -1
    start = 0
    while start + context_length < num_tokens:
        last = start + context_length
        start += stride
    return num_tokens - 1 - last


def turn_by_turn(position, num_tokens, context_length):
    turns = 0
    for start in range(num_tokens - context_length):
        targets = range(start + 1, start + context_length + 1)
        turns += position in targets
    return turns


def longer_and_longer(num_windows, context_length, stride):
    size = 0
    while len(range(0, size - context_length, stride)) < num_windows:
        size += 1
    return size


def dealt_in_rounds(order, rank, world_size):
    hand = []
    for first in range(0, len(order), world_size):
        cards = order[first : first + world_size]
        if len(cards) == world_size:
            hand.append(cards[rank])
    return hand


class CountedThroughTheDocuments(Dataset):
    def __init__(self, documents, context_length):
        self.documents, self.T = documents, context_length
        self.counts = [max(0, (len(ids) - 1) // context_length) for ids in documents]

    def __len__(self):
        return sum(self.counts)

    def __getitem__(self, i):
        for ids, count in zip(self.documents, self.counts, strict=True):
            if i < count:
                window = np.array(ids[i * self.T : i * self.T + self.T + 1])
                return window[:-1], window[1:]
            i -= count
        raise IndexError


class CutBeforehand:
    """Not a `Dataset` by name, and with more than the two methods."""

    def __init__(self, documents, context_length):
        self.pairs = []
        for ids in documents:
            ids = torch.tensor(ids)
            while len(ids) > context_length:
                self.pairs.append((ids[:context_length], ids[1 : context_length + 1]))
                ids = ids[context_length:]

    __len__ = lambda self: len(self.pairs)
    __getitem__ = lambda self, i: self.pairs[i]
    __iter__ = lambda self: iter(self.pairs)


class OneStream(Dataset):
    def __init__(self, documents, context_length):
        self.ids, self.T = torch.tensor([i for ids in documents for i in ids]), context_length

    def __len__(self):
        return max(0, (len(self.ids) - 1) // self.T)

    def __getitem__(self, i):
        return self.ids[i * self.T : (i + 1) * self.T], self.ids[i * self.T + 1 : (i + 1) * self.T + 1]


class ShortOnesToo(Dataset):
    def __init__(self, documents, context_length):
        self.T = context_length
        self.places = [(ids, s) for ids in documents for s in range(0, len(ids), context_length)]

    def __len__(self):
        return len(self.places)

    def __getitem__(self, i):
        ids, s = self.places[i]
        return torch.tensor(ids[s : s + self.T]), torch.tensor(ids[s + 1 : s + self.T + 1])


class AsManyAsTheLengthHoldsT(Dataset):
    def __init__(self, documents, context_length):
        self.windows = [
            torch.tensor(ids[k * context_length :][: context_length + 1])
            for ids in documents
            for k in range(len(ids) // context_length)
        ]

    def __len__(self):
        return len(self.windows)

    def __getitem__(self, i):
        return self.windows[i][:-1], self.windows[i][1:]


class OfLists(CutBeforehand):
    __getitem__ = lambda self, i: tuple(part.tolist() for part in self.pairs[i])


class OfFloats(CutBeforehand):
    __getitem__ = lambda self, i: tuple(torch.Tensor(part.tolist()) for part in self.pairs[i])


class OneEach(Dataset):
    def __init__(self, documents, context_length):
        self.T = context_length
        self.long = [ids for ids in documents if len(ids) > context_length]

    def __len__(self):
        return len(self.long)

    def __getitem__(self, i):
        return torch.tensor(self.long[i][: self.T]), torch.tensor(self.long[i][1 : self.T + 1])


class InputsAlone(CutBeforehand):
    __getitem__ = lambda self, i: self.pairs[i][0]


class WithoutALength(Dataset):
    def __init__(self, documents, context_length):
        self.documents = documents

    def __getitem__(self, i):
        return torch.tensor(self.documents[i])


def windows_end_to_end(num_tokens, context_length, stride):
    windows = len(range(0, num_tokens - context_length, stride))
    return num_tokens - windows * (context_length + 1)


def all_that_is_unread(num_tokens, context_length, stride):
    read = set()
    for start in range(0, num_tokens - context_length, stride):
        read.update(range(start, start + context_length + 1))
    return num_tokens - len(read)


def from_before_the_stream(position, num_tokens, context_length):
    turns = 0
    for start in range(position - context_length, position):
        if start + context_length < num_tokens:
            turns += 1
    return turns


def in_any_stream(position, num_tokens, context_length):
    return min(position, context_length, num_tokens - position, num_tokens - context_length)


def a_stride_for_each(num_windows, context_length, stride):
    if num_windows == 0:
        return 0
    return num_windows * stride + 1


def cut_off_by_a_slice(order, rank, world_size):
    left_over = len(order) % world_size
    return order[:-left_over][rank::world_size]


def filled_up(order, rank, world_size):
    missing = (world_size - len(order) % world_size) % world_size
    full = order + order[:missing]
    return full[rank::world_size]


class WindowsApart(Dataset):
    def __init__(self, documents, context_length):
        size = context_length + 1
        self.windows = [
            document[start : start + size]
            for document in documents
            for start in range(0, len(document) - context_length, size)
        ]

    def __len__(self):
        return len(self.windows)

    def __getitem__(self, index):
        window = torch.tensor(self.windows[index])
        return window[:-1], window[1:]


class TargetsAreInputs(Dataset):
    def __init__(self, documents, context_length):
        self.windows = [
            document[start : start + context_length]
            for document in documents
            for start in range(0, len(document) - context_length, context_length)
        ]

    def __len__(self):
        return len(self.windows)

    def __getitem__(self, index):
        return torch.tensor(self.windows[index]), torch.tensor(self.windows[index])


ANSWERS = [
    (tokens_in_tail, by_marking, PASSED),
    (tokens_in_tail, lambda N, T, S: (N - T - 1) % S if N > T else N, PASSED),
    (tokens_in_tail, lambda N, T, S: N - max((s + T + 1 for s in range(0, N - T, S)), default=0), PASSED),
    (tokens_in_tail, lambda N, T, S: N - max((s + T for s in range(0, N - T + 1, S)), default=0), "windows of T ids"),
    (tokens_in_tail, lambda N, T, S: (N - (T + 1)) % S, "too short for a window"),
    (tokens_in_tail, lambda N, T, S: N - len(range(0, N - T, S)) * S, "n - 1 strides"),
    (tokens_in_tail, lambda N, T, S: N % S, "as long as a stride"),
    (tokens_in_tail, lambda N, T, S: N - T - 1, FAILED),
    (turns_as_target, turn_by_turn, PASSED),
    (turns_as_target, lambda p, N, T: len(set(range(p - T, p)) & set(range(N - T))), PASSED),
    (turns_as_target, lambda p, N, T: max(0, min(p, T, N - T, N - p)), PASSED),
    (turns_as_target, lambda p, N, T: sum(s <= p < s + T for s in range(N - T)), "is an *input*"),
    (turns_as_target, lambda p, N, T: sum(s <= p <= s + T for s in range(N - T)), "*contain* the token"),
    (turns_as_target, lambda p, N, T: sum(s < p <= s + T for s in range(N - T + 1)), "start at N - T"),
    (turns_as_target, lambda p, N, T: min(T, p), "near the end"),
    (turns_as_target, lambda p, N, T: T, FAILED),
    (smallest_stream, longer_and_longer, PASSED),
    (smallest_stream, lambda n, T, S: max((i * S + T + 1 for i in range(n)), default=0), PASSED),
    (smallest_stream, lambda n, T, S: max((i * S + T for i in range(n)), default=0), "the last target"),
    (smallest_stream, lambda n, T, S: T + 1 + S * (n - 1), "zero windows"),
    (smallest_stream, lambda n, T, S: T + 1 + S * n, "posts of a fence"),
    (smallest_stream, lambda n, T, S: n * T + n, "end to end"),
    (smallest_stream, lambda n, T, S: T + S if n else 0, FAILED),
    (rank_share, dealt_in_rounds, PASSED),
    (rank_share, lambda order, rank, W: [order[i * W + rank] for i in range(len(order) // W)], PASSED),
    (rank_share, lambda order, rank, W: order[rank::W][: len(order) // W], PASSED),
    (rank_share, lambda order, rank, W: [e for i, e in enumerate(order) if i % W == rank], "one entry more"),
    (rank_share, lambda order, rank, W: order[len(order) // W * rank :][: len(order) // W], "like cards"),
    (rank_share, lambda order, rank, W: [e for e in order if e % W == rank], "by their *value*"),
    (rank_share, lambda order, rank, W: [rank] * (len(order) // W), FAILED),
    (DocumentWindows, CountedThroughTheDocuments, PASSED),
    (DocumentWindows, CutBeforehand, PASSED),
    (DocumentWindows, OneStream, "from one document into the next"),
    (DocumentWindows, ShortOnesToo, "short of ids"),
    (DocumentWindows, AsManyAsTheLengthHoldsT, "short of ids"),
    (DocumentWindows, OfLists, "you return lists"),
    (DocumentWindows, OfFloats, "`torch.Tensor`"),
    (DocumentWindows, OneEach, "only one window for each"),
    (DocumentWindows, InputsAlone, FAILED),
    (DocumentWindows, WithoutALength, FAILED),
    (tokens_in_tail, windows_end_to_end, "windows end to end"),
    (tokens_in_tail, all_that_is_unread, "the gaps between windows"),
    (turns_as_target, from_before_the_stream, "tokens near the beginning"),
    (turns_as_target, in_any_stream, "a short stream has only"),
    (smallest_stream, a_stride_for_each, "only a stride after the last start"),
    (rank_share, cut_off_by_a_slice, "remove everything"),
    (rank_share, filled_up, "fill up the last round"),
    (DocumentWindows, WindowsApart, "you step by T + 1"),
    (DocumentWindows, TargetsAreInputs, "the inputs as targets"),
]
