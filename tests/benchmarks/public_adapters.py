"""Loaders of public packages, each brought to `audit_loader` by a function of a few lines, which imports what it needs.

`LOADERS` says how each is audited, what the audit says of the pinned version, and whether that is true: for this,
somebody has read the source of the package. `public_loaders.py` runs them all.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader

from course_lib.auditing_loaders import recipes
from course_lib.auditing_loaders.gallery import (
    DOCUMENT_LENGTHS,
    B,
    Epochs,
    T,
    grouped_texts,
    packed_by_trl,
    sampler_with_epochs,
    shuffled_nodes,
    split_by_node,
    stateful_loader,
)

VOCABULARY = 50_257  # for loaders whose files hold 16 bits


def new_folder():
    """Make an empty folder that lasts as long as this process."""
    folder = tempfile.TemporaryDirectory(prefix="public-loader-")
    new_folder.kept.append(folder)
    return Path(folder.name)


new_folder.kept = []


def documents_of(ids, document_starts):
    return np.split(ids, document_starts[1:])


def accelerate_even(ids, epoch, rank, world_size):
    from accelerate.data_loader import prepare_data_loader

    windows = [torch.as_tensor(ids[at : at + T + 1]) for at in range(0, len(ids) - T, T)]
    loader = DataLoader(windows, B, shuffle=True, generator=torch.Generator().manual_seed(epoch))
    prepared = prepare_data_loader(loader, num_processes=world_size, process_index=rank, put_on_device=False)
    return ((rows[:, :-1].clone(), rows[:, 1:].clone()) for rows in prepared)


def webdataset_shards(ids, epoch, rank, world_size):
    import webdataset

    folder = new_folder()
    with webdataset.ShardWriter(f"{folder}/%03d.tar", maxcount=16, verbose=0) as writer:
        for number, at in enumerate(range(0, len(ids) - T, T)):
            writer.write({"__key__": f"{number:06}", "ids.npy": ids[at : at + T + 1]})
    shards = sorted(map(str, folder.glob("*.tar")))[rank::world_size]
    data = webdataset.WebDataset(shards, shardshuffle=len(shards), seed=epoch).shuffle(64).decode().to_tuple("ids.npy")
    for (rows,) in data.batched(B):
        yield torch.as_tensor(rows[:, :-1].copy()), torch.as_tensor(rows[:, 1:].copy())


def grain_map(ids, epoch, rank, world_size):
    import grain

    windows = [ids[at : at + T + 1] for at in range(0, len(ids) - T, T)]
    data = grain.MapDataset.source(windows).shuffle(seed=epoch)[rank::world_size].batch(B, drop_remainder=True)
    return ((rows[:, :-1].copy(), rows[:, 1:].copy()) for rows in data)


def litdata_tokens(ids):
    import litdata
    from litdata.streaming.cache import Cache

    folder = new_folder()
    cache = Cache(str(folder), chunk_bytes="64MB", item_loader=litdata.TokensLoader(block_size=T + 1))
    cache[0] = torch.as_tensor(ids)
    cache.done()
    cache.merge()
    data = litdata.StreamingDataset(str(folder), item_loader=litdata.TokensLoader(block_size=T + 1), shuffle=True)
    rows = litdata.StreamingDataLoader(data, batch_size=B, drop_last=True)
    return Epochs(lambda: ((each[:, :-1].clone(), each[:, 1:].clone()) for each in rows))


class InIds:
    """A tokenizer for documents that are lists of ids already."""

    bos_id, eos_id = 1, 2

    def encode(self, document, add_bos=False, add_eos=False, **_):
        return [1] * add_bos + list(document) + [2] * add_eos


def torchtitan_text(ids, document_starts, rank, world_size):
    from datasets import Dataset
    from torchtitan.hf_datasets import DatasetConfig
    from torchtitan.hf_datasets.text_datasets import DATASETS, HuggingFaceTextDataset

    rows = Dataset.from_dict({"ids": [each.tolist() for each in documents_of(ids, document_starts)]})
    DATASETS["audited"] = DatasetConfig(path="", loader=lambda path: rows, sample_processor=lambda row: row["ids"])
    data = HuggingFaceTextDataset("audited", "here", InIds(), seq_len=T, dp_rank=rank, dp_world_size=world_size)
    for inputs, labels in DataLoader(data, B):
        yield {"inputs": inputs["input"], "targets": labels, "position_ids": inputs["positions"]}


def axolotl_multipack(ids, document_starts, epoch):
    from axolotl.utils.collators.batching import V2BatchSamplerDataCollatorForSeq2Seq
    from axolotl.utils.samplers import MultipackBatchSampler
    from torch.utils.data import RandomSampler

    from course_lib.auditing_loaders.gallery import only_padding

    documents = [each.tolist() for each in documents_of(ids, document_starts)]
    lengths = [len(each) for each in documents]
    order = RandomSampler(documents, generator=torch.Generator().manual_seed(epoch))
    batches = MultipackBatchSampler(order, B, max(lengths), np.array(lengths), bin_size=100)
    collate = V2BatchSamplerDataCollatorForSeq2Seq(only_padding())
    for batch in batches:
        rows = [[row_of(documents[number]) for number in pack] for pack in batch]
        yield collate(rows)


def row_of(document):
    ones, places = [1] * len(document), list(range(len(document)))
    return {"input_ids": document, "labels": document, "attention_mask": ones, "position_ids": places}


def torchtune_packed(ids, document_starts, epoch):
    from torchtune.data import padded_collate_packed
    from torchtune.datasets import PackedDataset

    documents = [each.tolist() for each in documents_of(ids, document_starts)]
    rows = [{"tokens": each, "labels": each.copy()} for each in documents]
    packs = PackedDataset(rows, max_seq_len=64, split_across_pack=True)
    generator = torch.Generator().manual_seed(epoch)
    for batch in DataLoader(packs, B, shuffle=True, generator=generator, collate_fn=padded_collate_packed):
        yield {"input_ids": batch["tokens"], "labels": batch["labels"], "position_ids": batch["input_pos"]}


def datatrove_folder(ids, document_starts, epoch):
    from datatrove.utils.dataset import DatatroveFolderDataset

    folder = new_folder()
    recipes.write_flat(ids, folder / "000.ds")
    np.append(document_starts[1:], len(ids)).astype(np.uint64).tofile(folder / "000.ds.index")
    rows = DatatroveFolderDataset(str(folder), seq_len=T, return_positions=True)
    for batch in DataLoader(rows, B, shuffle=True, generator=torch.Generator().manual_seed(epoch)):
        yield {
            "inputs": batch["input_ids"][:, :-1].clone(),
            "targets": batch["input_ids"][:, 1:].clone(),
            "position_ids": batch["positions"][:, :-1].clone(),
        }


def megatron_gpt(ids, document_starts, epoch):
    from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder  # noqa: F401
    from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig
    from megatron.core.datasets.indexed_dataset import IndexedDataset
    from megatron.core.datasets.utils import Split

    prefix = str(new_folder() / "ids")
    recipes.write_megatron(ids, document_starts, prefix)
    config = GPTDatasetConfig(
        random_seed=epoch + 1, sequence_length=T, tokenizer=Ends(), split="1,0,0", path_to_cache=str(new_folder()),
        reset_position_ids=False, reset_attention_mask=False, eod_mask_loss=False,
    )  # fmt: skip
    numbers = np.arange(len(document_starts), dtype=np.int32)
    rows = GPTDataset(IndexedDataset(prefix), prefix, numbers, None, Split.train, config)
    for at in range(0, len(rows), B):
        each = [rows[number] for number in range(at, min(at + B, len(rows)))]
        inputs, targets = (torch.stack([row[name] for row in each]) for name in ("tokens", "labels"))
        yield {"inputs": inputs, "targets": targets}


class Ends:
    """All that Megatron's data set asks of a tokenizer."""

    eod, pad, vocab_size, unique_identifiers = 0, 0, VOCABULARY, {"class": "none"}


def olmo_fixed_length(ids, epoch):
    from olmo_core.data import NumpyDataLoaderConfig, NumpyFSLDatasetConfig, TokenizerConfig

    file = new_folder() / "ids.npy"
    recipes.write_flat(ids, file)
    work = str(new_folder())
    tokenizer = TokenizerConfig(vocab_size=VOCABULARY, eos_token_id=0, pad_token_id=0)
    rows = NumpyFSLDatasetConfig(paths=[str(file)], sequence_length=T, tokenizer=tokenizer, work_dir=work).build()
    loader = NumpyDataLoaderConfig(global_batch_size=B * T, seed=0, work_dir=work).build(rows)
    loader.reshuffle(epoch + 1)
    for batch in loader:
        yield {"input_ids": batch["input_ids"]}


@dataclass(frozen=True)
class PublicLoader:
    """A loader of a package, what an audit says of it, and what its source says."""

    make_loader: Callable
    whose: str  #: the class or function
    packages: str  #: what pip installs, the library first
    findings: tuple[str, ...]  #: what the audit says
    truth: str  #: why that is true, and whether it is by design
    audit: dict = field(default_factory=dict)


DOCUMENTS = {"document_lengths": DOCUMENT_LENGTHS}
TWO_RANKS = {"world_size": 2}

LOADERS = {
    "torch": PublicLoader(
        sampler_with_epochs,
        "DistributedSampler",
        "torch",
        (),
        "Each rank takes every second of the shuffled windows, and `set_epoch` shuffles again. One window is read by "
        "both ranks if their number is odd; here it is even.",
        {"num_tokens": 4_000, **TWO_RANKS},
    ),
    "torchdata": PublicLoader(
        stateful_loader,
        "StatefulDataLoader",
        "torchdata",
        ("resume_reorders",),
        "Resumed, an epoch goes on exactly, and the epoch after it has another order than without a stop: without "
        "workers, the state of your generator is not restored (lesson 14 shows it).",
    ),
    "torchdata nodes": PublicLoader(
        shuffled_nodes,
        "SamplerWrapper, Batcher, Loader",
        "torchdata",
        ("not_repeatable", "resume_repeats", "resume_loses"),
        "A bug: `SamplerWrapper` saves how many indices it gave, not the order. The global generator shuffles, by "
        "design.",
    ),
    "datasets": PublicLoader(
        split_by_node,
        "IterableDataset.shuffle, split_dataset_by_node",
        "datasets",
        ("ranks_lose", "unequal_steps", "resume_repeats", "resume_loses"),
        "By design: the model shifts, so the first token of a row is no target; two ranks cannot share three shards "
        "equally; and resumed, the shuffle buffer is filled again, as a warning of the library says.",
        {"num_tokens": 4_000, **TWO_RANKS},
    ),
    "transformers": PublicLoader(
        grouped_texts,
        "group_texts of the guide, DataCollatorForLanguageModeling",
        "transformers",
        ("crosses_documents", "lost"),
        "By design: one stream of all documents, cut into rows. The model shifts, so the first token of a row is no "
        "target.",
        DOCUMENTS,
    ),
    "trl": PublicLoader(
        packed_by_trl,
        "pack_dataset, DataCollatorForLanguageModeling",
        "trl",
        ("lost",),
        "By design: `bfd` cuts off what is longer than a row.",
        DOCUMENTS,
    ),
    "accelerate": PublicLoader(
        accelerate_even,
        "prepare_data_loader",
        "accelerate",
        ("ranks_overlap",),
        "By design: with `even_batches`, the default, the last batch is filled up with the first rows.",
        TWO_RANKS,
    ),
    "webdataset": PublicLoader(
        webdataset_shards,
        "WebDataset, shuffle",
        "webdataset==1.0.2 braceexpand",
        ("not_repeatable", "unequal_steps"),
        "By design: `shuffle` without a seed takes one from the clock (`filters._shuffle`). The shards of the ranks "
        "hold different numbers of rows, and nothing evens them out.",
        TWO_RANKS,
    ),
    "grain": PublicLoader(
        grain_map,
        "MapDataset",
        "grain==0.2.18 absl-py etils array-record cloudpickle protobuf portpicker",
        ("unequal_steps",),
        "Every second of 399 windows: 200 for one rank and 199 for the other, which lacks a window of its last batch.",
        TWO_RANKS,
    ),
    "litdata": PublicLoader(
        litdata_tokens,
        "TokensLoader, StreamingDataLoader",
        "litdata==0.2.76 lightning_utilities backoff boto3 botocore s3transfer jmespath",
        ("lost",),
        "Blocks of T + 1 tokens follow one another, as the README advises (`block_size=2048 + 1`), so the first "
        "token of each is never a target. Rows are shuffled in blocks of 256, the default of `item_shuffle_window`.",
        {"num_tokens": 12_800},
    ),
    "torchtitan": PublicLoader(
        torchtitan_text,
        "HuggingFaceTextDataset",
        "torchtitan==0.3.0 tyro docstring_parser typeguard spmd_types",
        ("ranks_lose",),
        "At the end of each rank's share, the buffer holds less than a row and is dropped; if the data set is "
        "infinite, as by default, it goes on instead. Labels are shifted inside each document, so none is lost or "
        "crossed.",
        {**DOCUMENTS, **TWO_RANKS, "separator_ids": (1, 2)},
    ),
    "axolotl": PublicLoader(
        axolotl_multipack,
        "MultipackBatchSampler, V2BatchSamplerDataCollatorForSeq2Seq",
        "axolotl==0.19.0 numba llvmlite",
        ("scored_padding",),
        "The mask numbers the documents of a row, but the labels of a completion are its ids, so the first token of "
        "each later document is scored although it sees nothing. In a chat, labels of the prompt are masked.",
        DOCUMENTS,
    ),
    "torchtune": PublicLoader(
        torchtune_packed,
        "PackedDataset(split_across_pack=True)",
        "torchtune==0.6.1 torchao==0.7.0 sentencepiece blobfile tiktoken omegaconf antlr4-python3-runtime==4.9.3",
        ("scored_padding", "lost"),
        "The recipes shift the labels of a whole row: the first token of a row is no target, and that of each later "
        "document is one, although the mask hides all before it.",
        DOCUMENTS,
    ),
    "datatrove": PublicLoader(
        datatrove_folder,
        "DatatroveFolderDataset(return_positions=True)",
        "datatrove==0.10.1 loguru",
        ("crosses_documents", "scored_padding", "lost"),
        "By design: rows of T + 1 tokens follow one another, so the first of each is never a target. Positions start "
        "again with each document, and nothing drops the label that enters it; in six rows that is the last label, "
        "and no position of the inputs announces it.",
        DOCUMENTS,
    ),
    "megatron-core": PublicLoader(
        megatron_gpt,
        "GPTDataset",
        "megatron-core==0.16.1",
        ("crosses_documents",),
        "By choice of the adapter: `reset_position_ids`, `reset_attention_mask` and `eod_mask_loss` have no "
        "default, and are off here. Documents are shuffled, then joined and cut into rows.",
        DOCUMENTS,
    ),
    "OLMo-core": PublicLoader(
        olmo_fixed_length,
        "NumpyFSLDataset, NumpyDataLoader",
        "ai2-olmo-core==3.0.0 cached_path bettermap dataclass_extensions omegaconf antlr4-python3-runtime==4.9.3 "
        "boto3 botocore s3transfer jmespath google-api-core google-cloud-core google-auth google-cloud-storage "
        "google-resumable-media google-crc32c googleapis-common-protos proto-plus protobuf pyasn1 pyasn1_modules "
        "cachetools cryptography cffi pycparser",
        ("lost",),
        "By design: the trainer shifts inside rows of T tokens, so the first token of each is never a target.",
        {"num_tokens": 12_800},
    ),
}
