"""Loaders with a bug that was planted, each with exactly what an audit finds in it, and clean ones, of many makes.

    planted("lost", num_tokens=500, name=lambda ids, epoch: ...)  # arguments of `audit_loader`, and loaders

    @planted("lost", "repeated")  # two findings, where one brings the other
    def name(ids, epoch): ...

`CASES` has all of them by name. Where a loader needs no order of its own, it shuffles by epoch, or keeps the file's.
"""

from __future__ import annotations

import random
from collections import UserDict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, cycle, islice
from typing import NamedTuple

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler, IterableDataset, get_worker_info

from course_lib.auditing_loaders.one_screen import MiniAudit

N, T, B = 1_000, 16, 4  # 62 windows at stride T, and a tail of 7 ids
L = 32  # of a packed row
DOCUMENTS = [9, 14, 5, 30, 12, 21, 7, 17, 3, 26, 11, 19, 8, 15, 24, 6, 13, 10] * 4  # N ids together
PAD, BEGIN, END = 0, 1, 2  # ids that no audit hands out
OF_DOCUMENTS = {"document_lengths": DOCUMENTS}


class Case(NamedTuple):
    make_loader: Callable
    names: tuple[str, ...]
    arguments: dict[str, object]


CASES: dict[str, Case] = {}


def planted(*names: str, **given) -> Callable:
    loaders = {name: value for name, value in given.items() if callable(value)}
    arguments = {name: value for name, value in given.items() if name not in loaders}
    size = {} if "document_lengths" in arguments else {"num_tokens": N}

    def add(make_loader: Callable, name: str = "") -> Callable:
        name = name or make_loader.__name__
        assert name not in CASES
        CASES[name] = Case(make_loader, names, size | arguments)
        return make_loader

    for name, make_loader in loaders.items():
        add(make_loader, name)
    return add


clean = planted  # nothing


# What they are built from


def windows(ids, length=T + 1, stride=T, first=0) -> np.ndarray:
    return np.arange(first, len(ids) - length + 1, stride)


def shuffled(values, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(values)


def batched(items, size=B) -> Iterator:
    return (items[i : i + size] for i in range(0, len(items), size))


def rows(ids, starts, length=T) -> np.ndarray:
    """A copy of the rows that begin at `starts`."""
    return ids[np.asarray(starts)[:, None] + np.arange(length)]


def pair(ids, starts, length=T) -> tuple[np.ndarray, np.ndarray]:
    return rows(ids, starts, length), rows(ids, np.asarray(starts) + 1, length)


def pairs(ids, starts, size=B) -> Iterator:
    return (pair(ids, batch) for batch in batched(starts, size))


def aligned(row, **more) -> dict[str, torch.Tensor]:
    """A mapping whose labels stand where the inputs stand, for a model that shifts."""
    return {"input_ids": torch.tensor(row), "labels": torch.tensor(row), **more}


def plain(ids) -> Iterator:
    return pairs(ids, windows(ids))


def shuffled_pairs(ids, epoch) -> Iterator:
    return pairs(ids, shuffled(windows(ids), epoch))


class Windows(Dataset):
    """One pair of tensors at an index, as `DataLoader` stacks them."""

    def __init__(self, ids, stride=T, shift=1, first=0):
        self.ids, self.stride, self.shift, self.first = torch.from_numpy(ids), stride, shift, first

    def __len__(self):
        return (len(self.ids) - T - max(self.shift, 0) - self.first) // self.stride + 1

    def __getitem__(self, index):
        start = self.first + index * self.stride
        return self.ids[start : start + T], self.ids[start + self.shift : start + self.shift + T]


class Streamed(IterableDataset):
    """Windows at starts; `asks`: each worker reads its share of them, not all."""

    def __init__(self, ids, starts, asks=True):
        self.ids, self.starts, self.asks = ids, starts, asks

    def __iter__(self):
        worker, starts = get_worker_info(), self.starts
        if worker is not None and self.asks:
            starts = starts[worker.id :: worker.num_workers]
        for start in starts:
            yield self.ids[start : start + T], self.ids[start + 1 : start + T + 1]


def distributed_over_ranks(ids, rank, world_size, set_epoch=0) -> DataLoader:
    sampler = DistributedSampler(Windows(ids), world_size, rank)
    sampler.set_epoch(set_epoch)
    return DataLoader(sampler.dataset, B, sampler=sampler)


def packs_of(ids, document_starts, seed=0) -> list[list[np.ndarray]]:
    """Documents in a random order, together as long as they fit into L."""
    documents, packs, room = np.split(ids, document_starts[1:]), [], 0
    for number in shuffled(len(documents), seed):
        if len(documents[number]) > room:
            packs, room = [*packs, []], L
        packs[-1].append(documents[number])
        room -= len(documents[number])
    return packs


def packed(packs, pad=PAD) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Ids, number of the document (-1 on padding) and position in it, shape (B, L) each."""
    ids, numbers, positions = (np.full((len(packs), L), fill) for fill in (pad, -1, 0))
    for row, pack in enumerate(packs):
        end = sum(map(len, pack))
        ids[row, :end] = np.concatenate(pack)
        numbers[row, :end] = np.repeat(np.arange(len(pack)), list(map(len, pack)))
        positions[row] = np.concatenate([*(np.arange(len(each)) for each in pack), np.arange(L - end)])
    return tuple(map(torch.from_numpy, (ids, numbers, positions)))


TELLS: dict[str, Callable] = {  # what tells documents apart, by their numbers in a row (-1: padding) and positions
    "nothing": lambda numbers, positions: {},
    "padding": lambda numbers, positions: {"attention_mask": (numbers >= 0).long()},
    "counting": lambda numbers, positions: {"position_ids": torch.arange(L).expand(len(numbers), -1)},
    "positions": lambda numbers, positions: {"position_ids": positions},
    "numbers": lambda numbers, positions: {"attention_mask": numbers + 1},
    "mask": lambda numbers, positions: {"attention_mask": (numbers[:, :, None] == numbers[:, None]).tril()},
    "masks_of_heads": lambda *row: {"attention_mask": TELLS["mask"](*row)["attention_mask"][:, None]},
}


def packs(ids, document_starts, epoch, tell="positions", drop=True, drop_last=False) -> Iterator[dict]:
    """`drop`: no document's first id is scored."""
    for batch in batched(packs_of(ids, document_starts, epoch)):
        if drop_last and len(batch) < B:
            return
        input_ids, numbers, positions = packed(batch)
        unscored = (numbers < 0) | (positions == 0) if drop else numbers < 0
        yield {
            "input_ids": input_ids,
            "labels": input_ids.masked_fill(unscored, -100),
            **TELLS[tell](numbers, positions),
        }


def padded_documents(ids, document_starts, pad, label_of_pad=None, left=False, drop=False) -> Iterator[dict]:
    """A document a row, in the order of the file, filled up to the longest of its batch."""
    for batch in batched(np.split(ids, document_starts[1:])):
        length = max(map(len, batch))

        def filled(parts, value, length=length):
            fills = [(length - len(row), 0) if left else (0, length - len(row)) for row in parts]
            return np.stack([np.pad(r, f, constant_values=value) for r, f in zip(parts, fills, strict=True)])

        mask = filled([np.ones(len(row), int) for row in batch], 0)
        labels = [np.append(-100, row[1:]) for row in batch] if drop else batch
        labels = filled(labels, pad if label_of_pad is None else label_of_pad)
        yield {"input_ids": filled(batch, pad), "attention_mask": mask, "labels": labels}


# wrong_shift. Targets two ahead lose id 1, too, so those stand at offsets that differ from epoch to epoch.


planted(
    "wrong_shift",
    inputs_and_targets_swapped=lambda ids: ((targets, inputs) for inputs, targets in plain(ids)),
    shifted_by_data_set_and_loop=lambda ids, epoch: DataLoader(Windows(ids, shift=2, first=5 * epoch), B),
)


@planted("wrong_shift")  # neighbors overlap by one, because a model that shifts scores T - 1 of T labels
def labels_shifted_beforehand(ids, epoch):
    for inputs, targets in pairs(ids, windows(ids, stride=T - 1, first=5 * epoch)):
        yield {"input_ids": inputs.tolist(), "labels": targets.tolist()}


@planted("wrong_shift")  # rows overlap, so that nothing is lost; below as well
def one_row_in_four_not_shifted(ids):
    for inputs, targets in pairs(ids, windows(ids, stride=T // 2)):
        targets[-1] = inputs[-1]
        yield torch.from_numpy(inputs), torch.from_numpy(targets)


@planted("wrong_shift", vocab_size=256)
def bytes_not_shifted(ids, epoch):
    for inputs, _ in shuffled_pairs(ids, epoch):
        yield inputs.astype(np.uint8), inputs.astype(np.uint8)


# broken_row


def wraps_round(ids):
    for starts in batched(np.arange(0, len(ids), T)):
        block = np.take(ids, starts[:, None] + np.arange(T + 1), mode="wrap")
        yield block[:, :-1].copy(), block[:, 1:].copy()


planted("broken_row", ids_wrap_round=wraps_round)
planted("broken_row", bytes_wrap_round=wraps_round, vocab_size=256)


@planted("broken_row")
def one_target_slips(ids):
    for number, (inputs, targets) in enumerate(pairs(ids, windows(ids, stride=T // 2))):
        if number % 3 == 0:
            targets[0, -1] = targets[0, -2]
        yield inputs.tolist(), targets.tolist()


# crosses_documents


planted("crosses_documents", windows_over_documents=plain, **OF_DOCUMENTS)


def shifted_packs(ids, document_starts, epoch, tell="positions") -> Iterator[dict]:
    """Each document is cut into inputs and targets before it shares a row with others."""
    for batch in batched(packs_of(ids, document_starts, epoch)):
        inputs, numbers, positions = packed([[each[:-1] for each in pack] for pack in batch])
        targets, _, _ = packed([[each[1:] for each in pack] for pack in batch], pad=-100)
        yield {"inputs": inputs, "targets": targets, **TELLS[tell](numbers, positions)}


for tell in TELLS:
    told = tell in ("positions", "numbers", "mask", "masks_of_heads")
    loaders = {f"shifted_packs_{tell}": partial(shifted_packs, tell=tell)}
    planted(*() if told else ("crosses_documents",), **loaders, **OF_DOCUMENTS)


@clean(separator_ids=(END,), **OF_DOCUMENTS)
def ends_predict_nothing(ids, document_starts):
    """One stream with an end after each document, whose positions begin again, and whose ends have no target."""
    ends = np.append(document_starts[1:], len(ids))
    stream = np.insert(ids, ends, END)
    positions = np.concatenate([np.arange(size + 1) for size in DOCUMENTS])
    for starts in batched(windows(stream)):
        inputs, targets = pair(stream, starts)
        targets[inputs == END] = -100
        yield {"inputs": inputs, "targets": targets, "position_ids": rows(positions, starts)}


@planted("crosses_documents", document_lengths=[T + 1] * 50)
def windows_side_by_side(ids, epoch):
    """Targets are shifted before two documents share a row."""
    for starts in batched(shuffled(np.arange(0, len(ids), T + 1), epoch), 2 * B):
        inputs, targets = pair(ids, starts)
        yield inputs.reshape(-1, 2 * T), targets.reshape(-1, 2 * T)


@planted("crosses_documents", separator_ids=(END,), **OF_DOCUMENTS)
def ends_of_text_between(ids, document_starts):
    documents = [np.append(document, END) for document in np.split(ids, document_starts[1:])]
    return (aligned(np.concatenate(two)[None]) for two in batched(documents, 2))


# scored_padding


planted(
    "scored_padding",
    **OF_DOCUMENTS,
    padding_has_labels=partial(padded_documents, pad=PAD),
    padding_is_a_real_id=lambda ids, document_starts: padded_documents(ids, document_starts, ids[-1]),
    firsts_scored_though_positions_begin_anew=partial(packs, tell="positions", drop=False),
    firsts_scored_though_masked=partial(packs, tell="masks_of_heads", drop=False),
)


@planted("scored_padding")
def last_row_filled_with_zeros(ids):
    longer = np.append(ids, [PAD] * T)
    return pairs(longer, windows(longer).tolist())


# lost


def one_window_is_never_read(ids, epoch):
    return pairs(ids, shuffled(np.delete(windows(ids), 30), epoch))


def long_documents(ids, document_starts, epoch, begin, moves) -> Iterator[dict]:
    """Packs of documents that are cut in two, where they are longer."""
    at = begin + epoch % 5 * moves
    documents = [part for each in np.split(ids, document_starts[1:]) for part in np.split(each, [at]) if len(part)]
    starts = np.cumsum([0, *map(len, documents[:-1])])
    return packs(np.concatenate(documents), starts, epoch)


planted(
    "lost",
    one_window_is_never_read=one_window_is_never_read,  # less than a step, but always the same
    stride_of_a_window=lambda ids: DataLoader(Windows(ids, stride=T + 1), B),
    model_shifts_rows_at_their_length=lambda ids: (aligned(rows(ids, b)) for b in batched(windows(ids, T))),
)
planted(
    "lost",
    **OF_DOCUMENTS,
    long_documents_cut_in_two=partial(long_documents, begin=25, moves=False),
    long_documents_cut_anywhere=partial(long_documents, begin=21, moves=True),
)


@planted("lost", "repeated")  # as is unavoidable with replacement
def random_with_replacement(ids, epoch):
    for starts in batched(np.random.default_rng(epoch).integers(len(ids) - T, size=62)):
        inputs = torch.stack([torch.from_numpy(ids[i : i + T]) for i in starts])
        yield inputs, torch.stack([torch.from_numpy(ids[i + 1 : i + 1 + T]) for i in starts])


# repeated


@planted("repeated")
def two_workers_that_forget_who_they_are(ids, epoch):
    return DataLoader(Streamed(ids, shuffled(windows(ids), epoch), asks=False), B, num_workers=2)


@planted("repeated")
def last_batch_filled_from_the_first(ids, epoch):
    order = shuffled(windows(ids), epoch)
    return pairs(ids, np.append(order, order[: -len(order) % B]))


# same_order


@planted("same_order")
def generator_made_anew(ids, epoch):
    return DataLoader(Windows(ids), B, shuffle=True, generator=torch.Generator().manual_seed(7))


planted("same_order", sampler_without_set_epoch=distributed_over_ranks, world_size=2)
planted("same_order", from_the_last_to_the_first=lambda ids: pairs(ids, windows(ids)[::-1]), vocab_size=256)


# not_repeatable


planted("not_repeatable", shuffled_by_the_global_generator=lambda ids: DataLoader(Windows(ids), B, shuffle=True))


@planted("not_repeatable")
def a_generator_without_a_seed(ids):
    starts = np.random.default_rng().permutation(windows(ids))
    return (aligned(rows(ids, batch, T + 1)) for batch in batched(starts))


@planted("not_repeatable")
def shuffled_by_the_random_of_python(ids, epoch):
    starts = windows(ids).tolist()
    random.shuffle(starts)
    return pairs(ids.astype(np.uint16), starts)


# ranks_overlap, ranks_lose


planted("ranks_overlap", every_rank_reads_all=shuffled_pairs, world_size=2)
planted("ranks_overlap", every_process_reads_all=shuffled_pairs, world_size=2, processes=True)


@planted("ranks_overlap", world_size=2, num_tokens=61 * T + 1)
def sampler_that_fills_up(ids, rank, world_size, epoch):
    return distributed_over_ranks(ids, rank, world_size, set_epoch=epoch)


@planted("ranks_overlap", world_size=3)
def local_rank_of_machines_of_two(ids, rank, epoch):
    return pairs(ids, shuffled(windows(ids), epoch)[rank % 2 :: 2])


@planted("ranks_overlap", "ranks_lose", world_size=2)  # what one reads twice, another does not read
def each_rank_shuffles_its_own_way(ids, rank, world_size, epoch):
    return pairs(ids, shuffled(windows(ids), 10 * epoch + rank)[rank::world_size])


@planted("ranks_lose", world_size=2)
def stream_cut_in_two(ids, rank, world_size):
    half = len(ids) // world_size
    return DataLoader(Windows(ids[rank * half : (rank + 1) * half]), B)


@planted("ranks_lose", world_size=2, vocab_size=256)
def first_batches_skipped(ids, rank, world_size):
    return islice(pairs(ids, windows(ids)[rank::world_size]), 1, None)


# unequal_steps


@planted("unequal_steps", world_size=2, num_tokens=57 * T + 1)
def one_window_more(ids, rank, world_size, epoch):
    return pairs(ids, shuffled(windows(ids), epoch)[rank::world_size])


@planted("unequal_steps", world_size=2, document_lengths=DOCUMENTS[:17])
def documents_dealt_out(ids, document_starts, rank, world_size):
    return (aligned(document[None]) for document in np.split(ids, document_starts[1:])[rank::world_size])


# resume_repeats, resume_loses


@clean()
class Resumable:
    """One epoch after another; it says how many batches of which epoch it has delivered."""

    def __init__(self, ids, rank=0, world_size=1):
        self.ids, self.share, self.epoch, self.done = ids, slice(rank, None, world_size), 0, 0

    def __iter__(self):
        for batch in batched(shuffled(windows(self.ids), self.epoch)[self.share][B * self.done :]):
            self.done += 1
            yield pair(self.ids, batch)
        self.epoch, self.done = self.epoch + 1, 0

    def state_dict(self):
        return {"epoch": self.epoch, "done": self.done}

    def load_state_dict(self, state):
        self.epoch, self.done = state["epoch"], state["done"]


@planted("resume_repeats")
class ForgetsThePlace(Resumable):
    def state_dict(self):
        return {"epoch": self.epoch, "done": 0}


@planted("resume_repeats", vocab_size=256)
class MixesUpItsUnits(Resumable):
    def load_state_dict(self, state):
        super().load_state_dict({**state, "done": state["done"] // 2})


@planted("resume_loses", resume_after=1)
class SkipsOneMore(Resumable):
    def load_state_dict(self, state):
        super().load_state_dict({**state, "done": state["done"] + 1})


@planted("resume_loses")
class NothingIsLeft(Resumable):
    def state_dict(self):
        return {"epoch": self.epoch, "done": 99}


@planted("resume_repeats", "resume_loses")  # in its second iteration: what comes twice pushes out something else
class ForgetsTheEpoch(Resumable):
    def load_state_dict(self, state):
        self.done = state["done"]


planted("resume_repeats", ranks_forget_the_place=ForgetsThePlace, world_size=2)


@planted("resume_repeats")
class CountsFromItsResume(Resumable):
    """Its state holds the batches since it was made, and not those before."""

    first = 0

    def __iter__(self):
        self.done, skip = 0, self.first
        for batch in batched(shuffled(windows(self.ids), self.epoch)[self.share][B * skip :]):
            self.done += 1
            yield pair(self.ids, batch)
        self.epoch, self.done, self.first = self.epoch + 1, 0, 0

    def load_state_dict(self, state):
        self.epoch, self.first = state["epoch"], state["done"]


@clean()
class CountsWhatItSkipped(CountsFromItsResume):
    def state_dict(self):
        return {"epoch": self.epoch, "done": self.first + self.done}


@planted("resume_loses", vocab_size=256)
class SkipsTwice(CountsFromItsResume):
    """Its count goes on, and what it skipped is added as often as it was resumed."""

    def state_dict(self):
        return {"epoch": self.epoch, "done": self.first + self.done + (self.first if self.done else 0)}


@planted("resume_reorders")
class LosesItsSeed(Resumable):
    """The state of a resumed loader lacks what the first one's state had."""

    is_resumed = False

    def __iter__(self):
        order = shuffled(windows(self.ids), self.epoch)[self.share]
        rest = order[B * self.done :]
        for batch in batched(rest[::-1] if self.is_resumed == 2 else rest):
            self.done += 1
            yield pair(self.ids, batch)
        self.epoch, self.done = self.epoch + 1, 0

    def state_dict(self):
        return super().state_dict() | {"times": self.is_resumed + 1}

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.is_resumed = state["times"]


planted("resume_repeats", ranks_count_from_their_resume=CountsFromItsResume, world_size=2)
clean(ranks_count_what_they_skipped=CountsWhatItSkipped, world_size=2)


# shared_memory


@planted("shared_memory")
def halves_of_one_block(ids, epoch):
    for starts in batched(shuffled(windows(ids), epoch)):
        block = torch.from_numpy(rows(ids, starts, T + 1))
        yield block[:, :-1], block[:, 1:]


@planted("shared_memory")
def one_buffer_for_all(ids):
    buffers = np.empty((B, T), int), np.empty((B, T), int)
    for batch in pairs(ids, windows(ids)[:60]):
        for buffer, half in zip(buffers, batch, strict=True):
            buffer[:] = half
        yield buffers


@planted("shared_memory")
def labels_are_the_inputs(ids, epoch):
    for starts in batched(shuffled(windows(ids), epoch)):
        row = torch.from_numpy(rows(ids, starts, T + 1))
        yield {"input_ids": row, "labels": row}


# clean


def offset_and_order(ids, epoch):
    starts = shuffled(windows(ids, first=(3 + 7 * epoch) % T), epoch)
    return pairs(ids, starts[: len(starts) // B * B])


def filled_with_rows_of_padding(ids, rank, world_size):
    """All ranks have as many full batches."""
    starts = windows(ids).tolist()
    starts += [len(ids)] * (-len(starts) % (5 * world_size))
    longer = np.append(ids, [PAD] * (T + 1))
    for inputs, targets in pairs(longer, starts[rank::world_size], 5):
        yield inputs, np.where(targets == PAD, -100, targets)


def dealt_out(ids, rank, world_size, epoch):
    order = shuffled(windows(ids), epoch)
    return pairs(ids, order[rank : len(order) // world_size * world_size : world_size])


def views_that_nobody_can_write_into(ids):
    table = np.lib.stride_tricks.sliding_window_view(ids, T + 1)[::T]
    return ({"input_ids": batch} for batch in batched(table))


def two_workers(ids, epoch):
    return DataLoader(Streamed(ids, shuffled(windows(ids), epoch)), B, num_workers=2)


def stateful(ids):
    from torchdata.stateful_dataloader import StatefulDataLoader

    return StatefulDataLoader(Windows(ids), B)


@clean()
class ResumableIterator(Iterator):
    """It is its own iterator, so it can be read once."""

    def __init__(self, ids, epoch):
        self.ids, self.starts, self.place = ids, shuffled(windows(ids), epoch), 0

    def __next__(self):
        if self.place >= len(self.starts):
            raise StopIteration
        self.place += B
        return pair(self.ids, self.starts[self.place - B : self.place])

    def state_dict(self):
        return {"place": self.place}

    def load_state_dict(self, state):
        self.place = state["place"]


clean(
    file_order=plain,
    by_epoch=shuffled_pairs,
    random_offsets_and_order=offset_and_order,
    lists=lambda ids: ([half.tolist() for half in batch] for batch in plain(ids)),
    rows_alone=lambda ids, epoch: ((x[0], y[0]) for x, y in pairs(ids, shuffled(windows(ids), epoch), 1)),
    for_a_model_that_shifts=lambda ids: (aligned(rows(ids, b, T + 1)) for b in batched(windows(ids))),
    inputs_only=lambda ids: (UserDict(input_ids=rows(ids, b, T + 1)) for b in batched(windows(ids))),
    views_of_the_stream=lambda ids: ({"input_ids": b} for b in torch.from_numpy(ids).unfold(0, T + 1, T).split(B)),
    views_that_nobody_can_write_into=views_that_nobody_can_write_into,
    two_workers=two_workers,
    stateful=stateful,
)
clean(vocab_size=256, bytes_in_file_order=plain, bytes_by_epoch=shuffled_pairs)
clean(many_tokens=plain, num_tokens=31_000)
clean(one_window=plain, num_tokens=T + 1)
clean(cut_off=plain, max_batches=4, num_tokens=4 * B * T + 1)


def endless_orders(ids, rank=0, world_size=1, times=1, drop_last=False):
    """One order after another, 16 batches each for one rank, or 15 if the last is dropped."""
    for number in count():
        order = np.repeat(shuffled(windows(ids), number), times)
        for step in batched(order, B * world_size):
            if len(step) == B * world_size or not drop_last:
                yield pair(ids, step[rank::world_size])


def endless_across_orders(ids):
    """A batch may hold the last windows of one order and the first of the next."""
    starts = (start for number in count() for start in shuffled(windows(ids), number).tolist())
    while True:
        yield pair(ids, list(islice(starts, B)))


for batches in (15, 20, 35):  # where an epoch ends must be of no importance
    clean(max_batches=batches, **{f"endless_orders_{batches}": endless_orders})
    clean(max_batches=batches, **{f"endless_across_orders_{batches}": endless_across_orders})
endless_dropping = partial(endless_orders, drop_last=True)
clean(max_batches=10, world_size=2, endless_ranks=endless_dropping)
clean(max_batches=10, world_size=2, vocab_size=256, endless_ranks_of_bytes=endless_dropping)
planted("repeated", max_batches=15, endless_and_all_twice=partial(endless_orders, times=2), num_tokens=20 * T + 1)
planted("ranks_overlap", max_batches=20, world_size=2, endless_ranks_read_all=lambda ids: endless_orders(ids))
clean(filled_with_rows_of_padding=filled_with_rows_of_padding, world_size=3)
clean(two_ranks=dealt_out, resumable_ranks=Resumable, world_size=2)
clean(two_processes=dealt_out, world_size=2, processes=True)


def documents_and_their_ends(ids, document_starts):
    return (aligned(np.append(document, END)[None]) for document in np.split(ids, document_starts[1:]))


clean(
    **OF_DOCUMENTS,
    packed_with_positions=packs,
    packed_and_last_batch_dropped=partial(packs, drop_last=True),
    packed_with_mask=partial(packs, tell="mask"),
    packed_with_masks_of_heads=partial(packs, tell="masks_of_heads"),
    packed_with_numbers=partial(packs, tell="numbers"),
    packed_with_dropped_labels=partial(packs, tell="nothing"),
    padded=partial(padded_documents, pad=PAD, label_of_pad=-100),
    firsts_predicted_from_padding=partial(padded_documents, pad=PAD, label_of_pad=-100, left=True),
    padded_on_the_left=partial(padded_documents, pad=PAD, label_of_pad=-100, left=True, drop=True),
    padded_with_a_real_id=lambda ids, document_starts: padded_documents(ids, document_starts, ids[-1], -100),
)
# a document might go on with the id that the next one begins with
lengths = np.random.default_rng(2).integers(2, 30, 250).tolist()
clean(bytes_packed=partial(packs, tell="mask"), vocab_size=256, document_lengths=lengths)
clean(**OF_DOCUMENTS, documents_and_their_ends=documents_and_their_ends, separator_ids=(END,))


# What an audit once called clean, and is not


def whole_batches(ids, epoch=0, rank=0, world_size=1, stride=T, mapping=False, end=1 - B) -> Iterator:
    """`end`: the last batch begins before the `-end`-th window from the end. With -B, a last batch that is full is
    never read."""
    starts = windows(ids, stride=stride)
    starts = shuffled(starts, epoch) if epoch is not None else starts
    own = starts[rank : len(starts) // world_size * world_size : world_size]
    for at in range(0, len(own) + end, B):
        batch = own[at : at + B]
        yield aligned(rows(ids, batch, T + 1)) if mapping else pair(ids, batch)


def batches_in_order(ids, **more) -> Iterator:
    return whole_batches(ids, None, **more)


full_is_never_read = partial(whole_batches, end=-B)
planted(  # at the default length, a batch that isn't full would be dropped anyway
    "lost",
    num_tokens=None,
    last_batch_is_never_read=full_is_never_read,
    last_batch_is_never_read_in_order=partial(batches_in_order, end=-B),
    last_batch_of_rows_is_never_read=partial(batches_in_order, end=-B, mapping=True),
    last_batch_of_overlapping_windows=partial(batches_in_order, end=-B, stride=T // 2),
    last_two_batches_are_never_read=partial(whole_batches, end=-2 * B),
)
planted("ranks_lose", last_batch_of_each_rank=full_is_never_read, world_size=2, num_tokens=None)
planted("lost", num_tokens=None, vocab_size=256, last_batch_of_small_ids=full_is_never_read)
clean(
    num_tokens=None,
    full_batches=whole_batches,
    full_batches_in_order=batches_in_order,
    full_batches_of_rows=partial(batches_in_order, mapping=True),
    full_batches_of_overlapping_windows=partial(batches_in_order, stride=T // 2),
    all_batches=partial(batches_in_order, end=0),
)
clean(num_tokens=None, world_size=2, full_batches_of_two_ranks=whole_batches)


@clean(num_tokens=None)  # it asks for one token more than a window needs
def counts_one_window_less(ids):
    starts = np.arange(0, len(ids) - T - 1, T)
    return pairs(ids, starts[: len(starts) // B * B])


@planted("lost", "repeated", num_tokens=None)  # another length tells, if the last batch is full at the default one
def fills_up_blocks(ids, epoch):
    starts = shuffled(np.arange(0, len(ids) - T + 1, T), epoch)
    return ({"input_ids": rows(ids, batch)} for batch in batched(np.append(starts, starts[: -len(starts) % B])))


def packs_of_its_own(ids, document_starts, rank, epoch):
    """Every rank packs all documents, in an order of its own."""
    return packs(ids, document_starts, 10 * epoch + rank)


def one_token_on(ids, rank):
    """Rank 1 reads the whole stream, too, in other windows."""
    return pairs(ids, windows(ids[rank:]) + rank)


def a_fifth_again(ids, epoch, by=3):
    """A fifth of the windows come again, a few tokens on."""
    starts = windows(ids)[:-1]
    return pairs(ids, shuffled(np.append(starts, starts[::5] + by), epoch))


def packed_twice(ids, document_starts, epoch):
    """Each document is packed with others, and once more with others."""
    yield from packs(ids, document_starts, epoch)
    yield from packs(ids, document_starts, epoch + 100)


planted("ranks_overlap", "unequal_steps", packs_of_its_own=packs_of_its_own, **OF_DOCUMENTS, world_size=2)
planted("ranks_overlap", one_token_on=one_token_on, world_size=2)
planted("ranks_overlap", one_token_on_of_bytes=one_token_on, world_size=2, vocab_size=256)
for by in (1, 3, 4, 8, 13):
    planted("repeated", **{f"a_fifth_again_{by}_on": partial(a_fifth_again, by=by)})
planted("repeated", packed_twice=packed_twice, **OF_DOCUMENTS)


def numbered(ids, document_starts, epoch, key, shift=0, counts=True):
    """Packs whose documents are numbered; `shift` is by how many places too late. First labels are dropped."""
    for batch in packs(ids, document_starts, epoch, tell="numbers"):
        numbers = batch.pop("attention_mask") - 1
        moved = torch.roll(numbers, shift, 1)
        numbers = torch.where((numbers >= 0) & (moved >= 0) & (moved - numbers == -shift), moved, numbers)
        yield batch | {key: numbers if counts else torch.zeros_like(numbers)}


planted(
    "crosses_documents",
    **OF_DOCUMENTS,
    first_labels_dropped_and_a_mask_of_ones=partial(packs, tell="padding"),
    first_labels_dropped_and_positions_count_on=partial(packs, tell="counting"),
    segments_one_place_late=partial(numbered, key="segment_ids", shift=1),
    segments_one_place_early=partial(numbered, key="segment_ids", shift=-1),
    sequences_that_do_not_count_up=partial(numbered, key="sequence_id", counts=False),
)
clean(
    **OF_DOCUMENTS,
    segments=partial(numbered, key="segment_ids"),
    sequences=partial(numbered, key="sequence_id"),
)


def with_lengths(ids, document_starts, epoch, late=0):
    """One flat row a pack, and where its documents end, as attention without padding wants it."""
    for pack in packs_of(ids, document_starts, epoch):
        row, sizes = np.concatenate(pack), np.cumsum([0, *map(len, pack)])
        labels = np.where(np.isin(np.arange(len(row)), sizes), -100, row)
        ends = np.append(sizes[:-1] + late * (sizes[:-1] > 0), len(row))
        yield {"input_ids": row[None], "labels": labels[None], "cu_seqlens": ends.astype(np.int32)}


planted("crosses_documents", lengths_one_place_late=partial(with_lengths, late=1), **OF_DOCUMENTS)
clean(lengths=with_lengths, **OF_DOCUMENTS)


def said_twice(ids, document_starts, epoch, right=True, says="mask", dtype=np.int64, drop=True) -> Iterator[dict]:
    """Packs whose positions are right, and whose documents are told once more: rightly, or all together."""
    for batch in batched(packs_of(ids, document_starts, epoch), 3):
        input_ids, numbers, positions = (part.numpy() for part in packed(batch))
        groups = numbers if right or says == "one_apart" else np.minimum(numbers, 0)
        sees = np.tril((groups[:, :, None] == groups[:, None]) & (groups >= 0)[:, None])
        if says == "every_second":  # documents share a number with every second one
            groups, says = np.where(numbers > 0, numbers % (9 if right else 2), numbers), "segments"
        if says == "one_apart":  # of documents before, only the last token is hidden
            sees |= (not right) & np.tril(np.ones((L, L), bool), -2) & (numbers >= 0)[:, :, None]
        ends = [np.flatnonzero(np.diff(row, prepend=-2, append=-2)) for row in groups]
        more = {
            "mask": {"attention_mask": sees[:, None]},
            "added": {"attention_mask": np.where(sees, 0, -1e9).astype(np.float32)},
            "one_apart": {"attn_mask": sees},
            "segments": {"segment_ids": groups.astype(dtype)},
            "numbers": {"attention_mask": groups + 1},
            "ends": {"cu_seqlens": np.unique(np.concatenate([row * L + ends[row] for row in range(len(ends))]))},
        }[says]
        unscored = (numbers < 0) | (drop & (positions == 0))
        yield {"input_ids": input_ids, "labels": np.where(unscored, -100, input_ids), "position_ids": positions, **more}


ways = {"mask": {}, "added": {}, "one_apart": {}, "segments": {"dtype": np.int32}, "ends": {}, "every_second": {}}
for says, more in ways.items():
    right, wrong = (partial(said_twice, right=each, says=says, **more) for each in (True, False))
    clean(**{f"positions_and_{says}": right}, **OF_DOCUMENTS)
    planted("crosses_documents", **{f"positions_right_and_{says}_wrong": wrong}, **OF_DOCUMENTS)
clean(**OF_DOCUMENTS, positions_and_numbers=partial(said_twice, says="numbers"))
# where all labels are kept, the first of a document is predicted from the document before
all_labels = partial(said_twice, right=False, says="segments", drop=False)
planted("crosses_documents", segment_of_the_whole_row_and_all_labels=all_labels, **OF_DOCUMENTS)


def pairs_of_packs(ids, document_starts, epoch, right) -> Iterator[dict]:
    """The same as pairs, with a mask of each row's own documents or of those of the row before."""
    for batch in said_twice(ids, document_starts, epoch, says="mask"):
        mask = batch["attention_mask"][:, 0, :-1, :-1]
        yield {
            "inputs": batch["input_ids"][:, :-1],
            "targets": batch["labels"][:, 1:],
            "positions": batch["position_ids"][:, :-1],
            "attention_mask": mask if right else np.roll(mask, 1, axis=0) | np.eye(L - 1, dtype=bool),
        }


clean(pairs_of_packs=partial(pairs_of_packs, right=True), **OF_DOCUMENTS)
planted("crosses_documents", pairs_with_the_mask_of_another_row=partial(pairs_of_packs, right=False), **OF_DOCUMENTS)


def kept_as(ids, dtype, epoch=0, labels_too=True, mapping=False, back=np.int64) -> Iterator:
    """Windows of a stream that was kept in a narrow dtype."""
    kept = ids.astype(dtype).astype(back)
    for starts in batched(shuffled(windows(ids), epoch)):
        inputs, targets = pair(kept, starts)
        targets = targets if labels_too else pair(ids, starts)[1]
        if mapping:
            row = torch.from_numpy(rows(kept, starts, T + 1))
            yield {"input_ids": row, "labels": row.clone()}
        else:
            yield inputs, targets


sizes = {"llama_3": 128_256, "gpt_2": 50_257, "neox": 50_432, "large": 262_144, "just_more": 65_600}
for vocabulary, size in sizes.items():
    narrow = "int16" if size < 2**16 else "uint16"
    loaders = {f"{narrow}_and_{vocabulary}": lambda ids, epoch, n=narrow: kept_as(ids, n, epoch)}
    planted("narrow_ids", **loaders, vocab_size=size)
    wide = "uint16" if size < 2**16 else np.int32
    clean(**{f"wide_enough_for_{vocabulary}": lambda ids, epoch, n=wide: kept_as(ids, n, epoch)}, vocab_size=size)
planted(
    "narrow_ids",
    vocab_size=128_256,
    int16_and_llama_3=lambda ids, epoch: kept_as(ids, "int16", epoch),
    bytes_and_llama_3=lambda ids, epoch: kept_as(ids, "uint8", epoch),
    narrow_inputs=lambda ids, epoch: kept_as(ids, "uint16", epoch, labels_too=False),
    narrow_rows=lambda ids, epoch: kept_as(ids, "uint16", epoch, mapping=True, back=np.int32),
)
of_many = {"num_epochs": 1, "num_tokens": 33_000, "vocab_size": 50_257}
planted("narrow_ids", many_narrow_ids=lambda ids: kept_as(ids, "int16"), **of_many)


def narrow_packs(ids, document_starts, epoch, dtype) -> Iterator:
    return packs(ids.astype(dtype).astype(int), document_starts, epoch)


planted("narrow_ids", narrow_packs=partial(narrow_packs, dtype="uint16"), vocab_size=151_936, **OF_DOCUMENTS)
clean(wide_packs=partial(narrow_packs, dtype="int32"), vocab_size=151_936, **OF_DOCUMENTS)


# A row in parts: each rank of context parallelism reads some of a long window


def parts(ids, rank=0, world_size=1, how="zigzag", positions="right", length=2 * T) -> Iterator[dict]:
    """The first and the last quarter of each window for rank 0, and the middle for rank 1; or every second token."""
    places = {
        "zigzag": np.arange(length).reshape(2 * world_size, -1)[[rank, -1 - rank]].ravel(),
        "back": np.arange(length).reshape(2 * world_size, -1)[[-1 - rank, rank]].ravel(),
        "striped": np.arange(rank, length, world_size),
    }[how]
    told = {"right": places, "count": np.arange(len(places)), "elsewhere": np.where(places < T, places, places + 3)}
    for starts in batched(windows(ids, length + 1, length)):
        at = np.asarray(starts)[:, None] + places
        more = {"position_ids": np.tile(told[positions], (len(at), 1))} if positions in told else {}
        yield {"inputs": ids[at], "targets": ids[at + 1], **more}


halves = {"world_size": 2, "num_tokens": 31 * 2 * T + 1}
clean(**halves, zigzag=parts, striped=partial(parts, how="striped"), back=partial(parts, how="back"))
clean(world_size=4, num_tokens=31 * 2 * T + 1, zigzag_of_four=parts)
planted(
    "broken_row",
    **halves,
    zigzag_without_positions=partial(parts, positions="none"),
    zigzag_whose_positions_count=partial(parts, positions="count"),
    zigzag_whose_positions_are_others=partial(parts, positions="elsewhere"),
)


def parts_of_rows(ids, epoch, drop) -> Iterator[dict]:
    """All parts of a window in a row, in another order, for a model that shifts; `drop`: no label after a jump."""
    places = np.arange(2 * T).reshape(4, -1)[[0, 3, 1, 2]].ravel()
    for starts in batched(shuffled(windows(ids, 2 * T, 2 * T), epoch)):
        row = rows(ids, starts, 2 * T)[:, places]
        labels = np.where(drop & (np.diff(places, prepend=-1) != 1), -100, row)
        yield {"input_ids": row, "labels": labels, "position_ids": np.tile(places, (len(row), 1))}


planted("lost", parts_of_rows=partial(parts_of_rows, drop=True))  # nothing predicts what is dropped
planted("broken_row", "lost", labels_across_parts_of_rows=partial(parts_of_rows, drop=False))
clean(zigzag_of_small_ids=parts, vocab_size=32_000, **halves)


# A document has a beginning and an end, but for some; these are facts and notes, and no findings


def framed(ids, document_starts, before=(BEGIN,), after=(END,), others=(), unlike=((), (END,)), seed=None) -> list:
    """Documents with separators around them; `unlike` are those of the documents `others`."""
    documents = np.split(ids, document_starts[1:])
    frames = [unlike if number in others else (before, after) for number in range(len(documents))]
    framed = [np.concatenate([b, each, a]).astype(int) for each, (b, a) in zip(documents, frames, strict=True)]
    return framed if seed is None else [framed[number] for number in shuffled(len(framed), seed)]


def framed_rows(ids, document_starts, epoch, pad=PAD, side="right", **more) -> Iterator[dict]:
    """A document a row."""
    for batch in batched(framed(ids, document_starts, seed=epoch, **more)):
        width = max(map(len, batch))
        fills = [(0, width - len(row)) if side == "right" else (width - len(row), 0) for row in batch]
        filled = np.stack([np.pad(row, f, constant_values=pad) for row, f in zip(batch, fills, strict=True)])
        mask = np.stack([np.pad(np.ones_like(row), f) for row, f in zip(batch, fills, strict=True)])
        yield {"input_ids": filled, "labels": np.where(mask, filled, -100), "attention_mask": mask}


def framed_stream(ids, document_starts, epoch, order="file", mapping=False, **more) -> Iterator:
    """All documents one after another, cut into rows; these may be shuffled, or the documents before."""
    stream = np.concatenate(framed(ids, document_starts, seed=epoch if order == "documents" else None, **more))
    starts = windows(stream)
    for batch in batched(shuffled(starts, epoch) if order == "rows" else starts):
        yield aligned(rows(stream, batch, T + 1)) if mapping else pair(stream, batch)


def framed_packs(ids, document_starts, epoch, **more) -> Iterator[dict]:
    """Whole documents together in a row, as long as they fit."""
    rows_of, width = [[]], 40
    for document in framed(ids, document_starts, seed=epoch, **more):
        if sum(map(len, rows_of[-1])) + len(document) > width:
            rows_of.append([])
        rows_of[-1].append(document)
    for batch in batched(rows_of):
        flat = [np.concatenate(row) for row in batch]
        numbers = [np.repeat(np.arange(len(row)), [len(each) for each in row]) for row in batch]
        ids_of = np.stack([np.pad(row, (0, width - len(row)), constant_values=PAD) for row in flat])
        segments = np.stack([np.pad(row, (0, width - len(row)), constant_values=-1) for row in numbers])
        firsts = np.diff(segments, axis=1, prepend=-2) != 0
        labels = np.where((segments < 0) | firsts, -100, ids_of)
        yield {"input_ids": ids_of, "labels": labels, "segment_ids": segments}


def framed_by_a_buffer(ids, document_starts, mends=True) -> Iterator[dict]:
    """One stream in rows of T; where the end of a document fills a row, the next one may lose its beginning."""
    row = []
    for document in np.split(ids, document_starts[1:]):
        if row or mends or not document_starts.size:
            row.append(BEGIN)
        for id in [*document.tolist(), END]:
            row.append(id)
            if len(row) >= T:
                yield {"input_ids": [row[:T]]}
                row = row[T:]


def framed_chunks(ids, document_starts, epoch=0, **more) -> Iterator[dict]:
    """Long documents in several rows; each row has the separators of its document."""
    for document in framed(ids, document_starts, **more):
        inside = np.flatnonzero(document >= 1_000)
        head, tail = document[: inside[0]], document[inside[-1] + 1 :]
        for at in range(0, max(1, len(inside) - 1), 10):
            yield {"input_ids": [[*head, *document[inside][at : at + 11], *tail]]}


FRAMED = {
    "chunks": framed_chunks,
    "rows": framed_rows,
    "rows_padded_on_the_left": partial(framed_rows, side="left"),
    "rows_padded_with_ends": partial(framed_rows, pad=END),
    "stream": framed_stream,
    "stream_in_rows": partial(framed_stream, mapping=True),
    "shuffled_rows": partial(framed_stream, order="rows"),
    "shuffled_documents": partial(framed_stream, order="documents"),
    "packs": framed_packs,
}


def masked_in_the_loss(ids, half=False):
    for inputs, targets in plain(ids):
        mask = np.ones_like(targets)
        mask[:, ::2] -= half
        yield {"inputs": inputs, "targets": targets, "loss_mask": mask}


def masked_in_thirds(ids, half=False):
    return (tuple(batch.values()) for batch in masked_in_the_loss(ids, half))


planted(
    "lost",
    half_masked=partial(masked_in_the_loss, half=True),
    half_masked_in_thirds=partial(masked_in_thirds, half=True),
)
clean(
    masked_in_the_loss=masked_in_the_loss,
    masked_in_thirds=masked_in_thirds,
    targets_by_another_name=lambda ids: ({"input_ids": x, "target_ids": y} for x, y in plain(ids)),
    inputs_in_a_mapping=lambda ids: (({"input": x}, y) for x, y in plain(ids)),
)


def rolled(ids):
    for starts in batched(windows(ids, length=T)):
        yield rows(ids, starts), np.roll(rows(ids, starts), -1, axis=1)


planted("broken_row", rolled=rolled)
planted("broken_row", rolled_bytes=rolled, vocab_size=256)


# Orders


def by_multiplication(ids, epoch):
    starts = windows(ids)
    return pairs(ids, starts[(37 * np.arange(len(starts)) + 11 * epoch) % len(starts)])


def through_a_buffer(ids, epoch, size=4):
    """The next window is drawn from a buffer of the next few."""
    generator, waiting, order = np.random.default_rng(epoch), [], []
    for start in [*windows(ids, stride=4).tolist(), *[None] * size]:
        waiting.append(start)
        if len(waiting) > size:
            order.append(waiting.pop(generator.integers(size)))
    return pairs(ids, [start for start in order if start is not None])


def in_turn(ids, tracks=5):
    """One window of each fifth of the stream in turn; a batch holds four."""
    share = len(windows(ids)) // tracks
    return pairs(ids, windows(ids)[: share * tracks].reshape(tracks, share).T.ravel())


planted("weak_shuffle", by_multiplication=by_multiplication, through_a_buffer=through_a_buffer)
planted("weak_shuffle", through_a_larger_buffer=partial(through_a_buffer, size=40))
planted("weak_shuffle", by_multiplication_of_bytes=by_multiplication, vocab_size=256)
clean(shares_in_turn=in_turn, num_tokens=120 * T + 1)


def sources_in_turn(ids, document_starts=(), turns="fixed", rank=0, world_size=1) -> Iterator:
    """Windows of three parts of the stream, each in its order: 5, 2 and 1 of each eight, or as drawn."""
    sources = np.split(windows(ids), [80, 112])
    if len(document_starts) > 1:
        parts_of = np.split(ids, document_starts[1:])
        sources = [first + windows(part) for first, part in zip(document_starts, parts_of, strict=True)]
    numbers = np.repeat(np.arange(3), [len(source) for source in sources])
    shares = np.concatenate([(np.arange(len(source)) + 0.5) / len(source) for source in sources])
    draws = {
        "fixed": numbers[np.argsort(shares, kind="stable")],
        "drawn": np.random.default_rng(4).permutation(numbers),
        "after one another": np.roll(numbers, -len(sources[0])),  # in an order that isn't the stream's
    }[turns]
    waiting = [iter(source.tolist()) for source in sources]
    order = np.array([next(waiting[source]) for source in draws])
    return pairs(ids, order[rank : len(order) // world_size * world_size : world_size])


in_documents = {"document_lengths": [80 * T + 1, 32 * T + 1, 16 * T + 1]}
of_three = {"num_tokens": 128 * T + 1}
clean(
    **of_three,
    sources_in_turn=lambda ids: sources_in_turn(ids),
    sources_as_drawn=lambda ids: sources_in_turn(ids, turns="drawn"),
)
clean(
    **in_documents,
    known_sources_in_turn=sources_in_turn,
    known_sources_as_drawn=partial(sources_in_turn, turns="drawn"),
)
clean(world_size=2, sources_of_two_ranks=sources_in_turn, **in_documents)
planted("same_order", sources_after_one_another=partial(sources_in_turn, turns="after one another"), **in_documents)


def even_batches(ids, rank, world_size, shuffles=False, size=B, by_rows=False) -> Iterator:
    """In the order of the file; the last batches are filled up with the first windows, so that ranks have as many."""
    starts = shuffled(windows(ids), 3) if shuffles else windows(ids)
    step = 1 if world_size == 1 else world_size if by_rows else world_size * size
    starts = np.append(starts, starts[: -len(starts) % step])
    if by_rows:
        return pairs(ids, starts[rank::world_size], size)
    return pairs(ids, np.concatenate(list(batched(starts, size))[rank::world_size]), size)


even = {"world_size": 2, "num_tokens": 61 * T + 1}
planted(
    "ranks_overlap",
    **even,
    even_batches=even_batches,
    even_rows=partial(even_batches, by_rows=True),
)
planted("ranks_overlap", even_rows_of_three=partial(even_batches, by_rows=True), world_size=3, num_tokens=61 * T + 1)
planted("ranks_overlap", "same_order", even_batches_of_one_shuffle=partial(even_batches, shuffles=True), **even)
# with so large batches, a rank reads again what it read itself
planted("ranks_overlap", "repeated", large_even_batches=partial(even_batches, size=10), **even)
planted("ranks_overlap", "repeated", even_batches_of_three=even_batches, world_size=3, num_tokens=61 * T + 1)


def filled_from_the_beginning(ids) -> Iterator:
    starts = windows(ids)
    return pairs(ids, np.append(starts, starts[: -len(starts) % 7]), 7)


planted("repeated", filled_from_the_beginning=filled_from_the_beginning)


# Ranks


def contiguous_shares(ids, rank, world_size):
    """Each rank reads its own part, whose first token nobody predicts."""
    return plain(np.array_split(ids, world_size)[rank])


def out_of_step(ids, rank):
    """Shares of 31 and 30 batches, again and again."""
    own = list(pairs(ids, windows(ids, stride=4)[rank::2], 4))
    return cycle(own[: 30 - rank])


clean(contiguous_shares=contiguous_shares, world_size=2, num_tokens=4 * B * T * 2 + 2)
planted("unequal_steps", out_of_step=out_of_step, world_size=2, max_batches=62, num_tokens=N)
planted("unequal_steps", just_out_of_step=out_of_step, world_size=2, max_batches=30, num_tokens=N)


# Endless loaders


class GoesOn:
    """Endless, and each iteration goes on where the one before was."""

    def __init__(self, ids):
        self.batches = cycle(list(plain(ids)))

    def __iter__(self):
        return self.batches


clean(goes_on=GoesOn, max_batches=17)
clean(two_epochs_at_once=lambda ids: cycle(list(plain(ids))), max_batches=32)


# Resuming


@planted("resume_reorders")
class ShufflesTheRest(Resumable):
    """What is left comes in another order."""

    is_resumed = False

    def __iter__(self):
        rest = shuffled(windows(self.ids), self.epoch)[self.share][B * self.done :]
        if self.is_resumed:
            rest = np.concatenate(list(batched(rest))[::-1])
        self.is_resumed = False
        for batch in batched(rest):
            self.done += 1
            yield pair(self.ids, batch)
        self.epoch, self.done = self.epoch + 1, 0

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.is_resumed = True


planted("resume_reorders", ranks_shuffle_the_rest=ShufflesTheRest, world_size=2)
planted("resume_reorders", bytes_shuffle_the_rest=ShufflesTheRest, vocab_size=256)


class Bytes:
    """A tokenizer: an id is a byte of UTF-8, and 4 more."""

    def encode(self, text: str) -> list[int]:
        return [4 + byte for byte in text.encode()]


@clean(tokenizer=Bytes())
def texts_alone(texts):
    return (aligned(np.array(Bytes().encode(text))[None]) for text in texts)


@planted("crosses_documents", tokenizer=Bytes())
def texts_joined(texts):
    return plain(np.array(Bytes().encode("".join(texts))))


# Reports of users that an audit once called clean, or accused of something else; each wrong one is followed by one
# that is mended


class AtItsEnd(Resumable):
    """Its state at an epoch's end, before and after the iterator said so."""

    def __iter__(self):
        yield from super().__iter__()
        self.forget()

    def forget(self):
        pass


@planted("resume_repeats")
class ReadsItsLastEpochAgain(AtItsEnd):
    """At the end, its state is that of the epoch's beginning."""

    def state_dict(self):
        begins = self.done == 0
        return {"epoch": max(0, self.epoch - 1) if begins else self.epoch, "done": self.done}


@planted("resume_loses")
class SkipsTheNextEpoch(AtItsEnd):
    """Where nothing is left of an epoch, it goes on with the one after the next."""

    def load_state_dict(self, state):
        super().load_state_dict(state)
        if B * self.done >= len(windows(self.ids)):
            self.epoch, self.done = self.epoch + 2, 0


@planted("resume_loses")
class EndsForEver(AtItsEnd):
    """Resumed after an epoch, it gives nothing more."""

    over = False

    def __iter__(self):
        if not self.over:
            yield from super().__iter__()

    def state_dict(self):
        return super().state_dict() | {"over": self.epoch > 0 and not self.done}

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.over = state["over"]


@clean()
class GoesOnAtOnce(AtItsEnd):
    """Where nothing is left of an epoch, it gives the next one at once."""

    def load_state_dict(self, state):
        super().load_state_dict(state)
        if B * self.done >= len(windows(self.ids)):
            self.epoch, self.done = self.epoch + 1, 0


@planted("resume_repeats")
class OfOneEpochAndBegins(Resumable):
    """It is made for an epoch; its last batch comes again if it is resumed at the end."""

    def __init__(self, ids, epoch):
        super().__init__(ids)
        self.epoch = epoch

    def load_state_dict(self, state):
        self.done = min(state["done"], 15)


@clean()
class OfOneEpoch(OfOneEpochAndBegins):
    """Its state at the end may be that of a beginning."""

    def load_state_dict(self, state):
        self.done = state["done"]


clean(resume_after=16, resumed_at_the_end=Resumable)
planted("resume_repeats", resume_after=16, last_epoch_again=ReadsItsLastEpochAgain)


class TellsPlaces(Resumable):
    """Windows of one long document after another: positions, numbers of documents, and labels."""

    resumed = False

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.resumed = True

    def parts(self, row):
        return {}

    def __iter__(self):
        for inputs, targets in super().__iter__():
            at = inputs - inputs.min() if self.resumed else inputs
            yield {"inputs": inputs, "targets": targets, **self.parts(inputs, at)}


@planted("resume_changes")
class ForgetsPositions(TellsPlaces):
    """A document goes on over several rows; after a resume, each row counts from 0."""

    def parts(self, inputs, at):
        start = 0 if self.resumed else (inputs[:, :1] - 1_000) % (4 * T)
        return {"position_ids": start + np.tile(np.arange(T), (len(inputs), 1))}


of_tens = {"document_lengths": [10] * 100}


@planted("resume_changes", **of_tens)
class ForgetsSegments(TellsPlaces):
    def parts(self, inputs, at):
        numbers = np.zeros_like(inputs) if self.resumed else (inputs - 1_000) // 10
        return {"segment_ids": numbers, "targets": np.where((inputs - 999) % 10, inputs + 1, -100)}


@planted("resume_changes")
class ForgetsItsMask(TellsPlaces):
    def parts(self, inputs, at):
        sees = np.tril(np.ones((len(inputs), T, T), bool))
        return {"attention_mask": sees if self.resumed else sees & ~np.tri(T, k=-8, dtype=bool)}


@planted("resume_changes", **OF_DOCUMENTS)
class ForgetsItsPadding(Resumable):
    """A row a document; after a resume, the mask shows the padding behind it."""

    resumed, keeps = False, False

    def __init__(self, ids, document_starts):
        super().__init__(ids)
        self.starts = document_starts

    def __iter__(self):
        for batch in islice(padded_documents(self.ids, self.starts, PAD, -100), self.done, None):
            self.done += 1
            shown = batch["attention_mask"] | (self.resumed and not self.keeps)
            yield {**batch, "attention_mask": shown}
        self.done = 0

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.resumed = True


@clean(**OF_DOCUMENTS)
class KeepsItsPadding(ForgetsItsPadding):
    keeps = True


@planted("resume_changes")
class GivesRowsAlone(TellsPlaces):
    """After a resume, a batch is a row."""

    def __iter__(self):
        for inputs, targets in Resumable.__iter__(self):
            size = 1 if self.resumed else B
            yield from zip(batched(inputs, size), batched(targets, size), strict=True)


@planted("resume_loses")
class ForgetsLabels(TellsPlaces):
    """After a resume, the first label of each row is dropped."""

    def parts(self, inputs, at):
        targets = inputs + 1
        targets[:, :1] = -100 if self.resumed else targets[:, :1]
        return {"targets": targets}


@clean(**of_tens)
class KeepsAll(TellsPlaces):
    """Only the numbers of documents are others after a resume, which says nothing."""

    def parts(self, inputs, at):
        numbers = (inputs - 1_000) // 10 + 7 * self.resumed
        targets = np.where((inputs - 999) % 10, inputs + 1, -100)
        return {"segment_ids": numbers, "position_ids": (inputs - 1_000) % 10, "targets": targets}


def moved_positions(ids, epoch, seed=None):
    """Positions begin anywhere; without a seed, elsewhere each time."""
    generator = np.random.default_rng(seed if seed is None else [seed, epoch])
    for inputs, targets in plain(ids):
        positions = np.tile(generator.integers(1_000) + np.arange(T), (len(inputs), 1))
        yield {"inputs": inputs, "targets": targets, "position_ids": positions}


planted("not_repeatable", positions_at_random=moved_positions)
clean(positions_at_random_by_a_seed=partial(moved_positions, seed=3))


class SaysItsLength:
    """`len()` is the number of rows, of batches of all ranks, or right."""

    def __init__(self, ids, rank=0, world_size=1, says="batches"):
        self.ids, self.starts = ids, windows(ids)[rank:60:world_size]
        rows_of, batches = len(self.starts), -(-len(self.starts) // B)
        self.length = {"rows": rows_of, "batches": batches, "of all": batches * world_size, "whole": rows_of // B}[says]

    def __len__(self):
        return self.length

    def __iter__(self):
        return pairs(self.ids, self.starts)


class NoLength(SaysItsLength):
    def __len__(self):
        raise TypeError("of a stream, nobody knows")


planted("wrong_length", says_how_many_rows=partial(SaysItsLength, says="rows"))
planted("wrong_length", says_whole_batches=partial(SaysItsLength, says="whole"), world_size=2)
planted("wrong_length", says_batches_of_all_ranks=partial(SaysItsLength, says="of all"), world_size=2)
clean(says_how_many_batches=SaysItsLength, has_no_length=NoLength)
clean(says_batches_of_its_own=SaysItsLength, world_size=2)
clean(says_rows_and_is_cut=partial(SaysItsLength, says="rows"), max_batches=8, num_tokens=8 * B * T + 1)


def padding_in_sight(ids, document_starts, epoch, mask="right", positions="", firsts=True, left=True, begin=()):
    """A document a row, with padding on one side that is never scored. `mask`: right, of ones, or the wrong way round;
    `positions` begin with the text, or count the padding; `firsts` are scored."""
    documents = [np.append(np.array(begin, int), each) for each in np.split(ids, document_starts[1:])]
    for batch in batched([documents[number] for number in shuffled(len(documents), epoch)]):
        width = max(map(len, batch))
        fills = [(width - len(row), 0) if left else (0, width - len(row)) for row in batch]
        input_ids = np.stack([np.pad(row, fill, constant_values=PAD) for row, fill in zip(batch, fills, strict=True)])
        shown = np.stack([np.pad(np.ones_like(row), fill) for row, fill in zip(batch, fills, strict=True)])
        labels = np.where(shown & (input_ids >= 1_000), input_ids, -100)
        if not firsts:
            labels[np.cumsum(labels != -100, axis=1) == 1] = -100
        places = {"text": np.cumsum(shown, axis=1) - 1, "row": np.tile(np.arange(width), (len(batch), 1))}
        masks = {"right": shown, "ones": np.ones_like(shown), "inverted": 1 - shown, "added": -1e9 * (1 - shown)}
        masks["pairs"] = np.tril(shown[:, None] * shown[:, :, None]) > 0
        masks["inverted pairs"] = ~masks["pairs"]
        more = {"attention_mask": masks[mask]} if mask else {}
        if positions:
            more["position_ids"] = np.maximum(places[positions], 0)
        yield {"input_ids": input_ids, "labels": labels, **more}


in_sight = {
    "by_a_mask_of_ones": {"mask": "ones"},
    "by_a_mask_of_ones_and_firsts_dropped": {"mask": "ones", "firsts": False},
    "by_positions_that_count_it": {"mask": "", "positions": "row"},
    "before_a_beginning": {"mask": "ones", "begin": (BEGIN,)},
    "by_a_mask_of_ones_though_positions_begin_anew": {"mask": "ones", "positions": "text"},
    "by_a_mask_of_ones_though_positions_do_and_no_firsts": {"mask": "ones", "positions": "text", "firsts": False},
}
planted(
    "visible_padding",
    **{f"padding_in_sight_{name}": partial(padding_in_sight, **more) for name, more in in_sight.items()},
    **OF_DOCUMENTS,
)
mended = {
    "mask": {},
    "mask_and_positions": {"positions": "text"},
    "mask_and_positions_and_firsts_dropped": {"positions": "text", "firsts": False},
    "positions_alone": {"mask": "", "positions": "text"},
    "mask_that_is_added": {"mask": "added"},
    "mask_of_pairs": {"mask": "pairs"},
    "mask_before_a_beginning": {"begin": (BEGIN,)},
    "mask_of_ones_and_padding_behind": {"mask": "ones", "left": False},
    "nothing_but_one_beginning": {"mask": "", "left": False, "begin": (BEGIN,)},
}
clean(**{f"padding_{name}": partial(padding_in_sight, **more) for name, more in mended.items()}, **OF_DOCUMENTS)
planted(
    "inverted_mask",
    **{
        f"mask_{'_'.join(mask.split())}_{'left' if left else 'right'}": partial(padding_in_sight, mask=mask, left=left)
        for mask in ("inverted", "inverted pairs")
        for left in (True, False)
    },
    **OF_DOCUMENTS,
)


def masked_windows(ids, epoch, shows=1, as_pair=False, causal=False):
    """No padding, and a mask that shows everything, or hides it: 0, as where 1 means padding."""
    for inputs, targets in shuffled_pairs(ids, epoch):
        mask = np.full_like(inputs, shows)
        if causal:
            mask = np.tile(np.tri(T, dtype=bool) == bool(shows), (len(inputs), 1, 1))
        yield {"inputs": inputs, "targets": targets, "attention_mask": mask}


planted("inverted_mask", mask_of_zeros=partial(masked_windows, shows=0))
planted("inverted_mask", mask_of_zeros_and_small_ids=partial(masked_windows, shows=0), vocab_size=256)
planted("inverted_mask", mask_of_what_comes_later=partial(masked_windows, shows=0, causal=True))
clean(mask_of_windows=masked_windows, causal_mask=partial(masked_windows, causal=True))


def seen_by_mask(ids, epoch, sees, added=False, prompt=1, labels=False):
    """Windows whose mask of shape (1, 1, L, L) says by places i and j whether i sees j; no label in a prompt counts.

    `added`: of zeros and -inf. `labels`: beside the inputs, for a model that shifts.
    """
    width = T + labels
    mask = np.broadcast_to(sees(*np.ogrid[:width, :width]), (1, 1, width, width))
    mask = np.where(mask, 0.0, -np.inf) if added else mask
    for inputs, targets in shuffled_pairs(ids, epoch):
        row = np.column_stack([inputs, targets[:, -1:]])
        counted = np.where(np.arange(T + 1) < prompt, -100, row)
        mapping = {"input_ids": row, "labels": counted} if labels else {"inputs": inputs, "targets": counted[:, 1:]}
        yield {**mapping, "attention_mask": mask}


planted(
    "visible_answer",
    **{
        f"mask_shows_{name}": partial(seen_by_mask, **how)
        for name, how in {
            "all": {"sees": lambda i, j: i + j >= 0},
            "all_and_is_added": {"sees": lambda i, j: i + j >= 0, "added": True},
            "all_to_a_model_that_shifts": {"sees": lambda i, j: i + j >= 0, "labels": True},
            "one_too_many": {"sees": lambda i, j: j <= i + 1, "added": True},
        }.items()
    },
)
planted("visible_answer", "scored_padding", mask_shows_what_comes_later=partial(seen_by_mask, sees=lambda i, j: i <= j))
of_prompts = {"prompt": 5, "labels": True}  # whose tokens are never a target, so that these are lost
planted(
    "visible_answer",
    "lost",
    all_to_a_prompt=partial(seen_by_mask, sees=lambda i, j: (j <= i) | (i < 4), **of_prompts),
    an_answer_to_its_prompt=partial(seen_by_mask, sees=lambda i, j: (j <= i) | ((i < 6) & (j < 6)), **of_prompts),
)
planted("lost", a_prompt_to_itself=partial(seen_by_mask, sees=lambda i, j: (j <= i) | (j < 5), **of_prompts))
clean(causal_mask_that_is_added=partial(seen_by_mask, sees=lambda i, j: j <= i, added=True))


@planted("lost", "broken_row")  # from a prompt to what comes after it is a jump
def retrieved(ids, epoch):
    """The second half of each window as a prompt, which all of its row see, and then the first half."""
    half, (i, j) = T // 2, np.ogrid[:T, :T]
    mask = np.broadcast_to((j <= i) | (j < half), (1, 1, T, T))
    for starts in batched(shuffled(windows(ids), epoch)):
        row = np.roll(rows(ids, starts), half, axis=1)
        yield {"input_ids": row, "labels": np.where(np.arange(T) > half, row, -100), "attention_mask": mask}


@planted("visible_answer", separator_ids=(1,))
def through_a_separator(ids, epoch):
    """A token before each window sees it all, and all of the window see that token."""
    i, j = np.ogrid[: T + 1, : T + 1]
    mask = np.broadcast_to((j <= i) | (i < 1), (1, 1, T + 1, T + 1))
    for starts in batched(shuffled(windows(ids), epoch)):
        row = np.pad(rows(ids, starts), ((0, 0), (1, 0)), constant_values=1)
        yield {"input_ids": row, "labels": np.where(row == 1, -100, row), "attention_mask": mask}


def packs_both_ways(ids, document_starts, epoch, size=B, added=False):
    """Nothing hides what comes later in a document; alone in a row, one that is added hides nothing at all."""
    for batch in batched(packs_of(ids, document_starts, epoch), size):
        input_ids, numbers, positions = packed(batch)
        sees = numbers[:, :, None] == numbers[:, None]
        sees = torch.where(sees, 0.0, -1e9) if added else sees
        labels = input_ids.masked_fill((numbers < 0) | (positions == 0), -100)
        yield {"input_ids": input_ids, "labels": labels, "attention_mask": sees[:, None]}


planted(
    "visible_answer",
    **OF_DOCUMENTS,
    packs_both_ways=packs_both_ways,
    packs_both_ways_added=partial(packs_both_ways, size=1, added=True),
)


def some_rows_without_labels(ids, epoch):
    """A third of the rows has no label, as where an answer was cut off."""
    for inputs, targets in shuffled_pairs(ids, epoch):
        targets[::3] = -100
        yield inputs, targets


def unlabeled_rows_again(ids, epoch):
    """The last rows come again without labels, so that no target does."""
    *batches, last = shuffled_pairs(ids, epoch)
    yield from batches
    inputs, targets = batches[0]
    yield np.append(last[0], inputs, 0), np.append(last[1], np.full_like(targets, -100), 0)


planted("lost", some_rows_without_labels=some_rows_without_labels)
clean(unlabeled_rows_again=unlabeled_rows_again)


def ignored_by_minus_one(ids, document_starts, epoch):
    """A row a document, padded, with -1 for what the loss ignores."""
    for batch in padded_documents(ids, document_starts, pad=PAD, label_of_pad=-1, drop=True):
        yield {**batch, "labels": np.where(batch["labels"] == -100, -1, batch["labels"])}


clean(ignored_by_minus_one=ignored_by_minus_one, **OF_DOCUMENTS)


def grouped_texts(ids, document_starts, keeps_rest=False):
    """Documents one by one in chunks of 10 for a model that shifts; the rest of each is dropped."""
    for document in np.split(ids, document_starts[1:]):
        for at in range(0, len(document) - 9 * (not keeps_rest), 10):
            yield {"input_ids": document[at : at + 10][None]}


planted("lost", rests_dropped=grouped_texts, **OF_DOCUMENTS)
planted("lost", rests_kept=partial(grouped_texts, keeps_rest=True), **OF_DOCUMENTS)  # only first tokens


def from_the_second(ids, rank=0, world_size=1):
    return pairs(ids, windows(ids, first=1)[rank:60:world_size])


planted("lost", from_position_1=from_the_second, num_tokens=60 * T + 2)
planted("ranks_lose", ranks_from_position_1=from_the_second, world_size=2, num_tokens=60 * T + 2)
planted("lost", small_ids_from_position_1=from_the_second, vocab_size=256, num_tokens=60 * T + 2)
clean(with_a_beginning=lambda ids: pairs(np.append(BEGIN, ids), windows(ids, first=1)), separator_ids=(BEGIN,))
clean(offset_by_epoch=lambda ids, epoch: pairs(ids, windows(ids, first=1 + epoch)))


def shards_of(ids, rank, world_size, epoch, ordered=False):
    """Shards whose names went through a set; each rank takes its share of a shuffle of them."""
    names = {f"shard-{number:03}" for number in range(12)}
    names = sorted(names) if ordered else list(names)
    share = shuffled(names, epoch)[rank::world_size]
    starts = np.array_split(windows(ids)[:60], 12)
    return pairs(ids, np.concatenate([starts[int(name[-3:])] for name in share]))


class ShardsInASet(Resumable):
    """Right in one process; in another, the names of shards come in another order."""

    def __init__(self, ids):
        super().__init__(ids)
        names = {f"shard-{number:03}" for number in range(12)}
        starts = np.array_split(windows(ids)[:60], 12)
        self.starts = np.concatenate([starts[int(name[-3:])] for name in names])

    def __iter__(self):
        order = shuffled(self.starts, self.epoch)[B * self.done :]
        for batch in batched(order):
            self.done += 1
            yield pair(self.ids, batch)
        self.epoch, self.done = self.epoch + 1, 0


in_processes = {"processes": True, "num_tokens": 60 * T + 1}
planted("ranks_overlap", "ranks_lose", "not_repeatable", shards_of_a_set=shards_of, world_size=2, **in_processes)
clean(shards_in_order=partial(shards_of, ordered=True), resumed_in_a_process=Resumable, **in_processes, world_size=2)
planted("not_repeatable", "resume_repeats", "resume_loses", shards_in_a_set=ShardsInASet, **in_processes)
clean(shards_in_a_set_of_one_process=ShardsInASet, num_tokens=60 * T + 1)


PLANTED = {name: case for name, case in CASES.items() if case.names}
CLEAN = {name: case for name, case in CASES.items() if not case.names}


def one_screen_verdicts(cases: dict[str, Case]) -> Iterator[tuple[str, set[str]]]:
    """What the audit on one screen finds in the loaders whose arguments it takes."""
    taken = {"num_tokens", "document_lengths", "num_epochs", "world_size"}
    for name, case in cases.items():
        if case.arguments.keys() <= taken and case.arguments.get("num_tokens", N):
            options = dict(case.arguments)
            lengths = [options.pop("num_tokens", None)]
            lengths = options.pop("document_lengths", lengths)
            yield name, set(MiniAudit(case.make_loader, lengths, **options).found)
