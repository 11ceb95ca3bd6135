"""My data loader. It grows with the course: marks say which lesson added what."""

import numpy as np
import torch

from course_lib.document_packing import assign_packs  # lesson 9
from course_lib.long_documents import chunk_starts  # lesson 8
from course_lib.mixing_sources import MixtureOrder  # lesson 13
from course_lib.sliding_windows import window_starts

T, B, SEED = 16, 4, 7  # context length, batch size, seed of all orders


class Loader:
    """The batches of one epoch. A row is a start, and `order` says which comes when."""

    def __init__(self, ids, rows, order):
        self.ids, self.rows, self.order = ids, rows, order
        self.begin = self.done = self.epoch = 0  # lesson 3
        self.rank, self.world_size = 0, 1  # lesson 12

    def __iter__(self):
        begin, step = 0, B
        begin, self.begin = self.begin, 0  # lesson 3
        step = B * self.world_size  # lesson 12
        for first in range(begin, len(self.order) - step + 1, step):
            self.done = first + step  # lesson 3
            chosen = self.order[first : first + step]
            chosen = chosen[self.rank :: self.world_size]  # lesson 12
            yield self.batch([self.rows[row] for row in chosen])

    def batch(self, starts):
        places = np.array(starts)[:, None] + np.arange(T + 1)
        windows = torch.from_numpy(self.ids[places].astype(np.int64))
        return windows[:, :-1].clone(), windows[:, 1:].clone()

    def state_dict(self):  # lesson 3
        return {"epoch": self.epoch, "rows": self.done}  # not batches: B may change

    def load_state_dict(self, state):  # lesson 3
        if state["epoch"] != self.epoch:
            raise ValueError(f"this state was saved in epoch {state['epoch']}")
        self.begin = self.done = state["rows"]


class Documents(Loader):  # lesson 8
    """A row is a list of pieces of documents, (begin, end). The rest is padding."""

    def batch(self, rows):
        input_ids = np.zeros((len(rows), T), np.int64)
        labels = np.full_like(input_ids, -100)
        batch = {"input_ids": input_ids, "labels": labels}
        batch["position_ids"] = position_ids = np.zeros_like(labels)  # lesson 10
        for number, pieces in enumerate(rows):
            used = 0
            for begin, end in pieces:
                here = number, slice(used, used + end - begin)
                input_ids[here] = labels[here] = self.ids[np.arange(begin, end)]
                labels[number, used] = -100  # lesson 9
                position_ids[here] = range(end - begin)  # lesson 10
                used += end - begin
        return {name: torch.from_numpy(values) for name, values in batch.items()}


def cut(document_starts, num_tokens):  # lesson 8
    """Return all chunks (begin, end). An overlap of 1 scores all that can be scored."""
    pieces = []
    ends = [*document_starts[1:], num_tokens]
    for begin, end in zip(document_starts, ends, strict=True):
        for start in begin + chunk_starts(end - begin, T, overlap=1):
            pieces.append((start, min(start + T, end)))
    return pieces


class Shards:  # lesson 11
    """Several arrays or memory maps, read as one stream, but never joined."""

    def __init__(self, shards):
        self.shards, self.ends = shards, np.cumsum([len(ids) for ids in shards])

    def __len__(self):
        return int(self.ends[-1])

    def __getitem__(self, places):
        found = np.empty_like(places)
        for ids, end in zip(self.shards, self.ends, strict=True):
            here = (end - len(ids) <= places) & (places < end)
            found[here] = ids[places[here] - end]  # counted from the end of this shard
        return found


def draw(stream, mix, epoch):  # lesson 13
    """Return the windows of all sources, and which of them this epoch draws."""
    sources = zip(stream.shards, stream.ends, strict=True)
    starts = [end - len(ids) + window_starts(len(ids), T, T) for ids, end in sources]
    counts = dict(zip(mix, map(len, starts), strict=True))
    rows = np.concatenate(starts)
    run = MixtureOrder(counts, mix, 10**9, base_seed=SEED, block_size=20)
    return rows, run[epoch * len(rows) + np.arange(len(rows))]


def make_loader(ids, *, epoch=0, rank=0, world_size=1, document_starts=None, mix=None):
    """Return the batches of one epoch."""
    if mix is not None:  # lesson 13
        ids = [ids[name] for name in mix]
    if isinstance(ids, list):  # lesson 11
        ids = Shards(ids)
    random = np.random.default_rng([SEED, epoch])  # lesson 3
    rows = window_starts(len(ids), T, T)
    rows = rows + random.integers(T)  # lesson 4
    rows = rows[rows + T < len(ids)]  # lesson 4
    if document_starts is not None:  # lesson 8
        pieces = cut(document_starts, len(ids))
        rows = [[piece] for piece in pieces]
        packs = assign_packs([end - begin for begin, end in pieces], T)  # lesson 9
        rows = [[pieces[number] for number in pack] for pack in packs]  # lesson 9
    order = np.arange(len(rows))
    order = random.permutation(order)  # lesson 3
    if mix is not None:  # lesson 13
        rows, order = draw(ids, mix, epoch)
    loader = Loader(ids, rows, order)
    if document_starts is not None:  # lesson 8
        loader = Documents(ids, rows, order)
    loader.epoch = epoch  # lesson 3
    loader.rank, loader.world_size = rank, world_size  # lesson 12
    return loader
