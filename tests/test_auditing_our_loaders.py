"""An audit of all that makes batches in this package: clean, alone, on several ranks, resumed and with workers."""

from __future__ import annotations

from functools import cache, partial
from itertools import islice
from types import SimpleNamespace

import datasets
import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from course_lib.auditing_loaders import audit_loader
from course_lib.document_boundaries import PackingCollator, packed_batch, shuffled_batches
from course_lib.document_packing import pack_documents, pack_examples, pack_stream, pad_documents
from course_lib.foundation import END_OF_TEXT, BlockOrder, FileOrder, RandomOrder, load_documents
from course_lib.long_documents import PaddingCollator, StreamingTextDataset, batches_by_length, chunk_ids
from course_lib.mixing_sources import MixedWindows, MixtureOrder, make_mixture_loader
from course_lib.random_sampling import seq_data_iter_random
from course_lib.sequential_partitioning import seq_data_iter_sequential
from course_lib.sliding_windows import SlidingWindowDataset, gather_windows, make_dataloader
from course_lib.stride_tradeoffs import scored_windows
from course_lib.token_shards import ShardedStream, write_shards
from course_lib.tokenizer_pipeline import build_tokenizer
from planted_loaders import DOCUMENTS, END, OF_DOCUMENTS, PAD, B, Bytes, L, N, T, batched, shuffled

PADS = SimpleNamespace(pad_token_id=PAD)
COLLATE, PAD_ROWS = PackingCollator(PADS), PaddingCollator(PADS)


def found_in(make_loader, **arguments) -> dict[str, str]:
    size = {} if "document_lengths" in arguments else {"num_tokens": N}
    audit = audit_loader(make_loader, **size | arguments)
    return {finding.name: f"{finding.count}: {finding.evidence}" for finding in audit.findings}


# Windows


def windows_of(ids, rank=0, world_size=1, *, stride=T, rows=False, pad_tail=False, **settings):
    dataset = SlidingWindowDataset(ids, T, stride, pad_tail=pad_tail)
    ranks = {"rank": rank, "world_size": world_size}
    return make_dataloader(dataset.as_rows() if rows else dataset, B, **{"base_seed": 7} | ranks | settings)


SETTINGS = [{}, {"shuffle": False}, {"drop_last": True}, {"stride": 5}, {"rows": True}]


@pytest.mark.parametrize("world_size", [1, 2, 3])
@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: "-".join(settings) or "shuffled")
def test_windows(world_size, settings):
    assert not found_in(partial(windows_of, **settings), world_size=world_size)


def test_windows_of_workers():
    assert not found_in(partial(windows_of, num_workers=2), world_size=2)


def test_windows_of_bytes_in_processes_after_any_batch():
    assert not found_in(windows_of, vocab_size=256, num_epochs=3)
    assert not found_in(windows_of, world_size=2, processes=True)
    for resume_after in (0, 1, 15):
        assert not found_in(windows_of, world_size=1, resume_after=resume_after)


@pytest.mark.parametrize("world_size", [1, 2])
@pytest.mark.parametrize("settings", [{}, {"rows": True}, {"shuffle": False}, {"stride": 5}], ids=str)
def test_windows_with_a_padded_tail(settings, world_size):
    make = partial(windows_of, pad_tail=True, **settings)
    for num_tokens in (N + 1, N + 2, N + T - 1):
        assert not found_in(make, world_size=world_size, num_tokens=num_tokens, resume_after=2)


class Drawn:
    """Epochs of a scheme that go on with one generator."""

    def __init__(self, ids, scheme):
        self.ids, self.scheme, self.generator = ids, scheme, torch.Generator().manual_seed(0)

    def __iter__(self):
        return self.scheme(self.ids, B, T, generator=self.generator)


def by_epoch(ids, epoch, scheme):
    return scheme(ids, B, T, generator=torch.Generator().manual_seed(epoch))


@pytest.mark.parametrize("make", [Drawn, by_epoch])
def test_random_sampling(make):
    assert not found_in(partial(make, scheme=seq_data_iter_random))
    assert not found_in(partial(make, scheme=seq_data_iter_random), vocab_size=256, num_tokens=777)


@pytest.mark.parametrize("num_tokens", [N, N + 17, N + 40])
@pytest.mark.parametrize("make", [Drawn, by_epoch])
def test_sequential_partitioning(make, num_tokens):
    assert not found_in(partial(make, scheme=seq_data_iter_sequential), num_tokens=num_tokens)


@pytest.mark.parametrize("stride", [1, 5, T])
def test_strided_evaluation_scores_every_token_once(stride):
    def windows(ids):
        for start, length, scored in scored_windows(len(ids), T, stride):
            inputs, targets = gather_windows(ids, [start], length)
            targets[:, : length - scored] = -100
            yield inputs, targets

    assert not found_in(windows)


# Shards and mixtures


class Numbers:
    """A tokenizer of texts that are ids."""

    vocab_size, end_of_text_id = 2**16, END

    def encode(self, text: str) -> list[int]:
        return [int(word) for word in text.split()]


def on_disk(ids, folder) -> ShardedStream:
    text = " ".join(map(str, ids.tolist()))
    write_shards([text], Numbers(), folder, shard_size=300, val_every=10**9, progress=False)
    return ShardedStream(folder, "train")


def shards(ids, rank, world_size, *, folder, **settings):
    dataset = SlidingWindowDataset(on_disk(ids, folder), T, T)
    return make_dataloader(dataset, B, base_seed=3, rank=rank, world_size=world_size, **settings)


ORDERS = {"random": RandomOrder, "file": FileOrder, "blocks": partial(BlockOrder, block_size=5, blocks_at_a_time=3)}


@pytest.mark.parametrize("world_size", [1, 2, 3])
@pytest.mark.parametrize("order", ORDERS)
def test_shards(order, world_size, tmp_path):
    make = partial(shards, folder=tmp_path / "shards", order=ORDERS[order])
    assert not found_in(make, world_size=world_size, separator_ids=(END,))


def test_shards_with_workers(tmp_path):
    assert not found_in(partial(shards, folder=tmp_path / "shards", num_workers=2), separator_ids=(END,))


SOURCES = [40 * T + 1, 15 * T + 1, 5 * T + 1]


def mixture(ids, document_starts, epoch, rank, world_size):
    sources = MixedWindows(
        {f"source {s}": SlidingWindowDataset(part, T, T) for s, part in enumerate(np.split(ids, document_starts[1:]))}
    )
    order = MixtureOrder(sources.num_windows, sources.num_windows, 60, base_seed=epoch, block_size=12)
    return make_mixture_loader(sources, order, B, rank=rank, world_size=world_size)


@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_a_mixture_that_reads_each_source_once(world_size):
    assert not found_in(mixture, document_lengths=SOURCES, world_size=world_size)


# Documents


def documents_of(ids, document_starts, epoch):
    documents = np.split(ids, document_starts[1:])
    return [documents[number] for number in shuffled(len(documents), epoch)]


def packed(ids, document_starts, epoch, **settings):
    packs = pack_documents(documents_of(ids, document_starts, epoch), L)
    return map(PackingCollator(PADS, **settings), batched([packs[i] for i in shuffled(len(packs), epoch)]))


def packed_by_map(ids, document_starts, epoch):
    documents = {"input_ids": [each.tolist() for each in documents_of(ids, document_starts, epoch)]}
    made = datasets.Dataset.from_dict(pack_examples(documents, max_length=L)).shuffle(seed=epoch)
    return DataLoader(made.with_format("numpy"), B, collate_fn=COLLATE)


def packed_for_small_models(ids, document_starts, epoch):
    batch = packed_batch(COLLATE(pack_documents(documents_of(ids, document_starts, epoch), L)))
    batches = shuffled_batches(batch, B, torch.Generator().manual_seed(epoch))
    return ((inputs["inputs"], targets) for inputs, targets in islice(batches, -(-len(batch[1]) // B)))


class PackStream:
    """Of one order of the documents, a pack at a time, with a state."""

    def __init__(self, ids, document_starts, epoch):
        self.packs = pack_stream(documents_of(ids, document_starts, epoch), L, buffer_size=6)
        self.state_dict, self.load_state_dict = self.packs.state_dict, self.packs.load_state_dict

    def __iter__(self):
        return (COLLATE([pack]) for pack in self.packs)


def padded(ids, document_starts, epoch):
    return map(PAD_ROWS, batched(pad_documents(documents_of(ids, document_starts, epoch), L)))


def padded_by_length(ids, document_starts, epoch):
    documents = np.split(ids, document_starts[1:])
    for rows in batches_by_length(DOCUMENTS, B, pool_size=16, seed=epoch):
        yield PAD_ROWS([{"input_ids": documents[row]} for row in rows])


def chunks(ids, document_starts):
    """Chunks overlap by one, because a model that shifts does not score the first label of a row."""
    each = [chunk for document in np.split(ids, document_starts[1:]) for chunk in chunk_ids(document, T, overlap=1)]
    return map(PAD_ROWS, batched([{"input_ids": chunk} for chunk in each]))


OF_DOCUMENTS_MADE = {
    "packed": packed,
    "packed and flattened": partial(packed, flatten=True),
    "packed by map": packed_by_map,
    "packed for small models": packed_for_small_models,
    "a stream of packs": PackStream,
    "padded": padded,
    "padded by length": padded_by_length,
    "chunks": chunks,
}


@pytest.mark.parametrize("name", OF_DOCUMENTS_MADE)
def test_packs_and_padded_rows(name):
    assert not found_in(OF_DOCUMENTS_MADE[name], **OF_DOCUMENTS)


# Texts


class EndedBytes(Bytes):
    vocab_size, end_of_text_id = 260, END


@cache
def trained():
    return build_tokenizer([document.text for document in load_documents()], vocab_size=1_000, progress=False)


class Streamed:
    """Batches of a stream of texts, with its state."""

    def __init__(self, texts, rank, world_size, *, tokenizer, batch_size=1, **settings):
        texts = datasets.Dataset.from_dict({"text": texts})
        settings = {"max_length": 64, "overlap": 1, "base_seed": 5} | settings
        self.chunks = StreamingTextDataset(texts, tokenizer, rank=rank, world_size=world_size, **settings)
        self.loader = DataLoader(self.chunks, batch_size, collate_fn=PAD_ROWS)
        self.state_dict, self.load_state_dict = self.chunks.state_dict, self.chunks.load_state_dict

    def __iter__(self):
        return iter(self.loader)


def streamed(tokenizer, world_size=1, num_tokens=N, **settings) -> dict[str, str]:
    """The end of a text is an id of the stream's own."""
    arguments = {"tokenizer": tokenizer, "world_size": world_size, "num_tokens": num_tokens}
    arguments["separator_ids"] = [END if isinstance(tokenizer, EndedBytes) else tokenizer.token_to_id(END_OF_TEXT)]
    return found_in(partial(Streamed, tokenizer=tokenizer, **settings), **arguments)


def test_streams_of_texts():
    assert not streamed(EndedBytes())
    assert not streamed(trained())
    assert not streamed(trained(), base_seed=None, overlap=9)


def test_chunks_that_do_not_overlap_lose_a_token_each():
    """Because a model that shifts does not score the first label of a row; fewer than fill a step may be a row."""
    assert set(streamed(EndedBytes(), overlap=0, num_tokens=9_000)) == {"lost"}


@pytest.mark.parametrize("world_size", [2, 3])
def test_ranks_that_share_out_documents_have_other_numbers_of_batches(world_size):
    assert set(streamed(EndedBytes(), world_size)) == {"unequal_steps"}
