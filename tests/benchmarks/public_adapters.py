"""Loaders of public packages, each brought to `audit_loader` by a function of a few lines, which imports what it needs.

`public_loaders.py` audits them, and its page says what is found, and whether that is true.
"""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader

from course_lib.auditing_loaders import gallery, recipes
from course_lib.auditing_loaders.gallery import DOCUMENT_LENGTHS, B, Epochs, T

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


def write_megatron(ids, document_starts, prefix):
    """Write ids as Megatron's pair of files, `prefix`.bin and `prefix`.idx: one sequence a document.

    Its own `IndexedDatasetBuilder` would do the same where Megatron is installed. This one is tested where it isn't.
    """
    starts = document_starts.astype(np.int64)
    lengths = np.diff(np.append(starts, len(ids)))
    magic, version, uint16 = b"MMIDIDX\x00\x00", 1, 8
    with Path(f"{prefix}.idx").open("wb") as file:
        file.write(magic)
        file.write(struct.pack("<QB", version, uint16))
        file.write(struct.pack("<QQ", len(lengths), len(lengths) + 1))
        file.write(lengths.astype("<i4").tobytes())
        file.write((2 * starts).astype("<i8").tobytes())
        file.write(np.arange(len(lengths) + 1, dtype="<i8").tobytes())
    recipes.write_flat(ids, f"{prefix}.bin")


def megatron_gpt(ids, document_starts, epoch):
    from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder  # noqa: F401
    from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig
    from megatron.core.datasets.indexed_dataset import IndexedDataset
    from megatron.core.datasets.utils import Split

    prefix = str(new_folder() / "ids")
    write_megatron(ids, document_starts, prefix)
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


DOCUMENTS = {"document_lengths": DOCUMENT_LENGTHS}
TWO_RANKS = {"world_size": 2}

LOADERS = {  # in the order of the page: the adapter, what pip installs (the library first), how it is audited
    "torch": (gallery.sampler_with_epochs, "torch", TWO_RANKS | {"num_tokens": 4_000}),
    "torchdata": (gallery.stateful_loader, "torchdata", {}),
    "torchdata nodes": (gallery.shuffled_nodes, "torchdata", {}),
    "datasets": (gallery.split_by_node, "datasets", TWO_RANKS | {"num_tokens": 4_000}),
    "transformers": (gallery.grouped_texts, "transformers", DOCUMENTS),
    "trl": (gallery.packed_by_trl, "trl", DOCUMENTS),
    "accelerate": (accelerate_even, "accelerate", TWO_RANKS),
    "webdataset": (webdataset_shards, "webdataset==1.0.2 braceexpand", TWO_RANKS),
    "grain": (grain_map, "grain==0.2.18 absl-py etils array-record cloudpickle protobuf portpicker", TWO_RANKS),
    "litdata": (
        litdata_tokens,
        "litdata==0.2.76 lightning_utilities backoff boto3 botocore s3transfer jmespath",
        {"num_tokens": 12_800},
    ),
    "torchtitan": (
        torchtitan_text,
        "torchtitan==0.3.0 tyro docstring_parser typeguard spmd_types",
        DOCUMENTS | TWO_RANKS | {"separator_ids": (1, 2)},
    ),
    "axolotl": (axolotl_multipack, "axolotl==0.19.0 numba llvmlite", DOCUMENTS),
    "torchtune": (
        torchtune_packed,
        "torchtune==0.6.1 torchao==0.7.0 sentencepiece blobfile tiktoken omegaconf antlr4-python3-runtime==4.9.3",
        DOCUMENTS,
    ),
    "datatrove": (datatrove_folder, "datatrove==0.10.1 loguru", DOCUMENTS),
    "megatron-core": (megatron_gpt, "megatron-core==0.16.1", DOCUMENTS),
    "OLMo-core": (
        olmo_fixed_length,
        "ai2-olmo-core==3.0.0 cached_path bettermap dataclass_extensions omegaconf antlr4-python3-runtime==4.9.3 "
        "boto3 botocore s3transfer jmespath google-api-core google-cloud-core google-auth google-cloud-storage "
        "google-resumable-media google-crc32c googleapis-common-protos proto-plus protobuf pyasn1 pyasn1_modules "
        "cachetools cryptography cffi pycparser",
        {"num_tokens": 12_800},
    ),
}
