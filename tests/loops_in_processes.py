"""What processes do that tests start: they import this file, and so no more than it does."""

import os
import time
from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
import torch
from torch import distributed
from torch.utils.data import DataLoader

from course_lib.foundation import BlockOrder
from course_lib.sliding_windows import SlidingWindowDataset, make_dataloader

MAKERS = [make_dataloader, partial(make_dataloader, order=partial(BlockOrder, block_size=4))]  # any order will do


def numbers(num_tokens: int, context_length: int = 1) -> SlidingWindowDataset:
    """A data set whose window i begins with id i, so that a batch tells which windows it holds."""
    return SlidingWindowDataset(np.arange(num_tokens), context_length)


def starts_in(loader) -> list[list[int]]:
    return [inputs[:, 0].tolist() for inputs, _ in loader]


def reading(method: str) -> Iterator[Iterator]:
    """Loaders of two workers each, whose readers get one batch: all kinds, or one where each worker imports PyTorch."""
    workers = {"num_workers": 2, "multiprocessing_context": method}
    kinds = list(product(MAKERS, (128, 1024)))
    for make, context_length in kinds if method == "fork" else kinds[-1:]:
        windows = SlidingWindowDataset(np.zeros(20_000_000, dtype=np.uint16), context_length)
        yield iter(make(windows, 64, base_seed=0, **workers))
    if method == "fork":
        import datasets

        from course_lib.foundation import CharTokenizer
        from course_lib.long_documents import StreamingTextDataset

        texts = datasets.Dataset.from_dict({"text": ["abcdefgh" * 2_000] * 100})
        stream = StreamingTextDataset(texts, CharTokenizer("abcdefgh"), max_length=1024)
        yield iter(DataLoader(stream, 64, collate_fn=list, **workers))


def read_for_ever(connection, method: str) -> None:
    iterators = list(reading(method))
    for iterator in iterators:
        next(iterator)
    time.sleep(2)  # by now the workers wait for room for what they have read ahead
    connection.send(len(iterators))
    time.sleep(600)


def accelerator_of_this_rank():
    rank, world_size = distributed.get_rank(), distributed.get_world_size()
    # as torchrun does; the group is there already, so nobody listens at this port
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(world_size)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511", "OMP_NUM_THREADS": "1"}
    from accelerate import Accelerator

    return Accelerator(cpu=True)


def of_this_rank(cases: list[tuple]) -> list[tuple[list, list]]:
    accelerator, epochs = accelerator_of_this_rank(), []
    for make, drop_last, num_workers in cases:
        workers = {"num_workers": num_workers, "persistent_workers": num_workers > 0}
        prepared = accelerator.prepare(make(numbers(49), 5, base_seed=7, drop_last=drop_last, **workers))
        epochs.append((starts_in(prepared), starts_in(prepared)))
    return epochs


def places(items: list[dict]) -> torch.Tensor:
    """Where chunks are from: rows of (document, chunk)."""
    return torch.tensor([[item["document"], item["chunk"]] for item in items])


def chunks_of_this_rank(num_workers: int) -> tuple[list[list[int]], str]:
    """What a rank is dealt of a stream that accelerate prepares, and what it's told if the stream is its share."""
    import datasets

    from course_lib.foundation import CharTokenizer
    from course_lib.long_documents import StreamingTextDataset

    accelerator = accelerator_of_this_rank()
    texts = datasets.Dataset.from_dict({"text": ["abcdefgh" * k for k in range(1, 12)]})

    def read(**share: int) -> list[list[int]]:
        stream = StreamingTextDataset(texts, CharTokenizer("abcdefgh"), max_length=8, base_seed=7, **share)
        loader = accelerator.prepare(DataLoader(stream, 4, collate_fn=places, num_workers=num_workers))
        return [place for batch in loader for place in batch.tolist()]

    whole, told = read(), "nothing"
    try:
        read(rank=distributed.get_rank(), world_size=distributed.get_world_size())
    except ValueError as error:
        told = str(error)
    return whole, told
