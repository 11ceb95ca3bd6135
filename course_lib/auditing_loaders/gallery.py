"""The loaders of the gallery: other people's ways to feed a language model.

Each function takes the ids and returns one epoch of batches, as `audit_loader` asks.
Some use the library itself. The others tell the way of a well-known file again, in our
words, as short as we can, and with its habits. The lesson links to each.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
import torch
from torch.utils.data import (
    DataLoader,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    default_collate,
)

from course_lib.document_packing import crop_documents
from course_lib.random_sampling import seq_data_iter_random
from course_lib.sequential_partitioning import seq_data_iter_sequential
from course_lib.sliding_windows import (
    SlidingWindowDataset,
    gather_windows,
    make_dataloader,
    window_starts,
)

T, B = 32, 4  # context length and batch size of the whole gallery
BEGINNING = 1  # the id that begins each document, where a loader adds one

# 185 documents of 4 to 40 tokens, 4,070 in all; every fifth is longer than a row.
DOCUMENT_LENGTHS = tuple(4 + 7 * number % 37 for number in range(185))


class Epochs:
    """Batches that are made again each time that somebody iterates."""

    def __init__(self, make: Callable[[], Iterable]):
        self.make = make

    def __iter__(self) -> Iterator:
        return iter(self.make())


def windows_of(ids: np.ndarray, stride: int = T) -> list[tuple[torch.Tensor, ...]]:
    """Cut all windows beforehand, a pair (inputs, targets) each."""
    return [
        (torch.tensor(ids[at : at + T]), torch.tensor(ids[at + 1 : at + 1 + T]))
        for at in range(0, len(ids) - T, stride)
    ]


def rows_of(ids: np.ndarray, document_starts: np.ndarray) -> object:
    """Make a `datasets.Dataset` with a document in each row."""
    import datasets

    documents = np.split(ids, document_starts[1:])
    return datasets.Dataset.from_dict({"input_ids": documents})


# One process


def memory_map_and_stack(ids, rank=0):
    generator = torch.Generator().manual_seed(1_337 + rank)

    def get_batch():
        starts = torch.randint(len(ids) - T, (B,), generator=generator)
        inputs = [torch.from_numpy(ids[at : at + T]) for at in starts]
        targets = [torch.from_numpy(ids[at + 1 : at + 1 + T]) for at in starts]
        return torch.stack(inputs), torch.stack(targets)

    # It never ends. As many tokens as there are make an epoch here.
    return Epochs(lambda: (get_batch() for _ in range(len(ids) // (B * T))))


def windows_of_a_book(ids, stride=T // 2):
    return DataLoader(windows_of(ids, stride), B, shuffle=True, drop_last=True)


def random_offsets(ids):
    generator = torch.Generator().manual_seed(0)
    return Epochs(lambda: seq_data_iter_random(ids, B, T, generator=generator))


def parallel_tracks(ids):
    generator = torch.Generator().manual_seed(0)
    return Epochs(lambda: seq_data_iter_sequential(ids, B, T, generator=generator))


# Documents


def grouped_texts(ids, document_starts):
    from transformers import DataCollatorForLanguageModeling

    def group_texts(rows):
        stream = np.concatenate(rows["input_ids"])
        return {"input_ids": stream[: len(stream) // T * T].reshape(-1, T)}

    blocks = rows_of(ids, document_starts).map(group_texts, batched=True)
    collate = DataCollatorForLanguageModeling(only_padding(), mlm=False)
    return DataLoader(blocks, B, collate_fn=collate)


def only_padding() -> object:
    """Make a tokenizer that can pad, and nothing else: collators ask for one."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    pads = Tokenizer(models.WordLevel({"<pad>": 0}, unk_token="<pad>"))
    return PreTrainedTokenizerFast(tokenizer_object=pads, pad_token="<pad>")


def packed_by_trl(ids, document_starts, strategy="bfd"):
    from trl import pack_dataset
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    packs = pack_dataset(rows_of(ids, document_starts), T, strategy)
    collate = DataCollatorForLanguageModeling(pad_token_id=0, padding_free=True)
    generator = torch.Generator().manual_seed(0)
    return DataLoader(packs, B, shuffle=True, generator=generator, collate_fn=collate)


def cropped_to_fit(ids, document_starts):
    documents = np.split(ids, document_starts[1:])
    begun = [np.append(BEGINNING, document) for document in documents]
    packs = crop_documents(begun, T + 1, buffer_size=100)
    inputs, targets = torch.empty(2, B, T, dtype=torch.int64)  # for all batches
    for at in range(0, len(packs) - B, B):
        rows = np.stack([pack.input_ids for pack in packs[at : at + B]])
        inputs[:], targets[:] = torch.tensor(rows[:, :-1]), torch.tensor(rows[:, 1:])
        yield inputs, targets


# Workers and ranks


class EveryWindow(IterableDataset):
    """Reads the whole stream, and does not ask which worker it is."""

    def __init__(self, ids: np.ndarray):
        self.ids = ids

    def __iter__(self) -> Iterator[tuple[torch.Tensor, ...]]:
        yield from windows_of(self.ids)


def two_workers(ids):
    return DataLoader(EveryWindow(ids), B, num_workers=2)


def a_shuffle_of_its_own(ids, rank, world_size):
    files = np.array_split(window_starts(len(ids), T, T), 40)
    random.Random(3_407 + rank).shuffle(files)
    starts = np.concatenate(files[rank::world_size])
    for at in range(0, len(starts), B):
        yield gather_windows(ids, starts[at : at + B], T)


def sampler_without_epochs(ids, rank, world_size):
    windows = windows_of(ids)
    sampler = DistributedSampler(windows, world_size, rank)
    return DataLoader(windows, B, sampler=sampler)


def sampler_with_epochs(ids, epoch, rank, world_size):
    loader = sampler_without_epochs(ids, rank, world_size)
    loader.sampler.set_epoch(epoch)
    return loader


def split_by_node(ids, epoch, rank, world_size):
    from datasets import Dataset
    from datasets.distributed import split_dataset_by_node

    windows = {"input_ids": [inputs for inputs, _ in windows_of(ids)]}
    rows = Dataset.from_dict(windows).to_iterable_dataset(num_shards=3)
    mine = split_dataset_by_node(rows.shuffle(0, buffer_size=20), rank, world_size)
    batches = mine.batch(B).with_format("torch")
    batches.set_epoch(epoch)
    return batches


# Stopping and going on


def stateful_loader(ids):
    from torchdata.stateful_dataloader import StatefulDataLoader

    generator = torch.Generator().manual_seed(0)
    with warnings.catch_warnings(action="ignore"):
        return StatefulDataLoader(windows_of(ids), B, shuffle=True, generator=generator)


def shuffled_nodes(ids):
    from torchdata import nodes

    windows = windows_of(ids)
    node = nodes.SamplerWrapper(RandomSampler(windows))
    node = nodes.Batcher(nodes.Mapper(node, windows.__getitem__), B)
    return nodes.Loader(nodes.Mapper(node, default_collate))


def ours(ids, epoch, rank, world_size):
    windows = SlidingWindowDataset(ids, T, T)
    ranks = {"rank": rank, "world_size": world_size}
    loader = make_dataloader(windows, B, base_seed=0, **ranks)
    loader.sampler.set_epoch(epoch)
    return loader


DOCUMENTS = {"document_lengths": DOCUMENT_LENGTHS}
ONE_RANK = {"num_tokens": 4_000}  # as the lesson says
TWO_RANKS = ONE_RANK | {"world_size": 2}


class Exhibit(NamedTuple):
    """A loader of the gallery, and how it is audited.

    `package` is the library that the function calls; "told again" where it tells the
    way of a file in our words.
    """

    make_loader: Callable[..., Iterable]
    package: str = "told again"
    audit: Mapping[str, object] = ONE_RANK

    @property
    def version(self) -> str:
        """The library and its version, or "told again"."""
        own = self.package in ("told again", "ours")
        return self.package if own else f"{self.package} {version(self.package)}"


GALLERY = {
    # nanoGPT, train.py: get_batch
    "memory map and stack": Exhibit(memory_map_and_stack),
    # Build a Large Language Model (From Scratch), chapter 2: GPTDatasetV1
    "windows of a book": Exhibit(windows_of_a_book),
    # Dive into Deep Learning 0.17: seq_data_iter_random, seq_data_iter_sequential
    "random offsets": Exhibit(random_offsets),
    "parallel tracks": Exhibit(parallel_tracks),
    # its guide to causal language modeling: group_texts
    "grouped texts": Exhibit(grouped_texts, "transformers", DOCUMENTS),
    "packs, best fit": Exhibit(packed_by_trl, "trl", DOCUMENTS),
    "packs, wrapped": Exhibit(
        partial(packed_by_trl, strategy="wrapped"), "trl", DOCUMENTS
    ),
    # nanochat, dataloader.py: best fit, cropped
    "cropped to fit": Exhibit(
        cropped_to_fit, audit=DOCUMENTS | {"separator_ids": (BEGINNING,)}
    ),
    "two workers": Exhibit(two_workers, "torch"),
    # TinyLlama until October 2023, pretrain/tinyllama.py: create_dataloader
    "a shuffle of its own": Exhibit(a_shuffle_of_its_own, audit=TWO_RANKS),
    "sampler without epochs": Exhibit(sampler_without_epochs, "torch", TWO_RANKS),
    "sampler with epochs": Exhibit(sampler_with_epochs, "torch", TWO_RANKS),
    "split by node": Exhibit(split_by_node, "datasets", TWO_RANKS),
    "stateful loader": Exhibit(stateful_loader, "torchdata"),
    # nodes, shuffled as in its guide
    "shuffled nodes": Exhibit(shuffled_nodes, "torchdata"),
    "ours": Exhibit(ours, "ours", TWO_RANKS),
}
