"""Feeding Language Models: how text becomes training batches.

A sampling scheme is a choice of start positions, and one function turns starts into
batches.

foundation/    what several lessons build on: checks of arguments, texts and tokens,
               streams, orders, the ledger, models, packs, durable files, processes
lessons        next_token_shifting, sliding_windows, random_sampling,
               sequential_partitioning, stride_tradeoffs, bpe, tokenizer_pipeline,
               long_documents, document_packing, document_boundaries,
               token_shards, many_machines, mixing_sources, auditing_loaders,
               scored_tokens (what is scored)
teaching/      what shows them and judges answers: training, tables, tokens, plots,
               play, source, checker, predict, lessons, standing
experiments/   what the lessons measure: models trained, and their losses
exercises/     one module a lesson, and my_loader, which goes through all of them
commands/      what is typed after `python -m course_lib`: check, blank, book, nbgrader
               and scores for a course; tokenize, audit and show for your own data

Imports run foundation <- lessons <- teaching <- experiments, exercises <- commands. A
lesson imports earlier lessons, never a later one. From the foundation, all import by
its front door. Wrong arguments raise a TypeError or a ValueError that names them;
docstrings tell only what else may go wrong.

The names that most people look for can be imported from here, as in
`from course_lib import seq_data_iter_random`. Nothing is loaded until it is asked for,
because the auditor runs where of all packages only NumPy is installed.
"""

import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_lib.auditing_loaders import audit_loader as audit_loader
    from course_lib.bpe import BPETokenizer as BPETokenizer
    from course_lib.bpe import train_byte_level_bpe as train_byte_level_bpe
    from course_lib.document_boundaries import PackingCollator as PackingCollator
    from course_lib.document_boundaries import cu_seqlens as cu_seqlens
    from course_lib.document_boundaries import document_mask as document_mask
    from course_lib.document_boundaries import (
        position_ids_from_starts as position_ids_from_starts,
    )
    from course_lib.document_packing import pack_documents as pack_documents
    from course_lib.document_packing import pack_examples as pack_examples
    from course_lib.foundation import encode_corpus as encode_corpus
    from course_lib.foundation import token_ledger as token_ledger
    from course_lib.long_documents import PaddingCollator as PaddingCollator
    from course_lib.long_documents import StreamingTextDataset as StreamingTextDataset
    from course_lib.long_documents import chunk_ids as chunk_ids
    from course_lib.mixing_sources import MixtureOrder as MixtureOrder
    from course_lib.random_sampling import seq_data_iter_random as seq_data_iter_random
    from course_lib.sequential_partitioning import (
        seq_data_iter_sequential as seq_data_iter_sequential,
    )
    from course_lib.sliding_windows import SlidingWindowDataset as SlidingWindowDataset
    from course_lib.sliding_windows import gather_windows as gather_windows
    from course_lib.sliding_windows import make_dataloader as make_dataloader
    from course_lib.token_shards import load_shard as load_shard
    from course_lib.token_shards import write_shards as write_shards
    from course_lib.tokenizer_pipeline import build_tokenizer as build_tokenizer
    from course_lib.tokenizer_pipeline import wrap_tokenizer as wrap_tokenizer

__version__ = "0.1.0"

FRONT_DOOR = {
    "BPETokenizer": "bpe",
    "MixtureOrder": "mixing_sources",
    "PackingCollator": "document_boundaries",
    "PaddingCollator": "long_documents",
    "SlidingWindowDataset": "sliding_windows",
    "StreamingTextDataset": "long_documents",
    "audit_loader": "auditing_loaders",
    "build_tokenizer": "tokenizer_pipeline",
    "chunk_ids": "long_documents",
    "cu_seqlens": "document_boundaries",
    "document_mask": "document_boundaries",
    "encode_corpus": "foundation",
    "gather_windows": "sliding_windows",
    "load_shard": "token_shards",
    "make_dataloader": "sliding_windows",
    "pack_documents": "document_packing",
    "pack_examples": "document_packing",
    "position_ids_from_starts": "document_boundaries",
    "seq_data_iter_random": "random_sampling",
    "seq_data_iter_sequential": "sequential_partitioning",
    "token_ledger": "foundation",
    "train_byte_level_bpe": "bpe",
    "wrap_tokenizer": "tokenizer_pipeline",
    "write_shards": "token_shards",
}


if not TYPE_CHECKING:  # whoever checks types and sees it takes any name for there

    def __getattr__(name: str) -> object:
        """Import the module that has a name of `FRONT_DOOR`."""
        if name not in FRONT_DOOR:
            # With `obj`, Python adds what was perhaps meant.
            here, words = sys.modules[__name__], f"has no attribute {name!r}"
            raise AttributeError(f"module {__name__!r} {words}", name=name, obj=here)
        module = f"{__name__}.{FRONT_DOOR[name]}"
        try:
            found = getattr(importlib.import_module(module), name)
        except ModuleNotFoundError as error:
            if (error.name or __name__).split(".")[0] == __name__:
                raise  # a fault of the course, not of the environment
            raise ModuleNotFoundError(
                f"{name} needs the package {error.name!r}, which is not installed. In "
                "the folder of the course, type: "
                'python -m pip install --editable ".[course]"',
                name=error.name,
            ) from None
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *FRONT_DOOR})
