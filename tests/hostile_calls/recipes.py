"""Hostile calls of what writes the ids of an audit into files."""

import tempfile
from pathlib import Path

import numpy as np

FOLDER = Path(tempfile.mkdtemp())
CALLS = {
    "write_flat([70_000], FOLDER / 'a')": ValueError("ids must fit into uint16, got 70,000: audit with a vocab_size"),
    "write_flat([-1], FOLDER / 'a')": ValueError("ids must fit into uint16"),
    "write_llm_c([], FOLDER / 'a')": None,
    "write_llm_c([2**16], FOLDER / 'a')": ValueError("ids must fit into uint16"),
    "write_megatron([5, 6], [1], FOLDER / 'a')": ValueError("document_starts must rise from 0"),
    "write_megatron([5, 6], [0, 0], FOLDER / 'a')": ValueError("document_starts must rise from 0"),
    "write_megatron([5, 6], [0, 2], FOLDER / 'a')": ValueError("document_starts must lie inside the ids"),
    "write_megatron([5, 6], [], FOLDER / 'a')": ValueError("document_starts must rise from 0"),
    "write_numpy(np.array([5], dtype=np.uint8), FOLDER / 'a')": None,
    "write_arrow([5, 6], [0, 1], FOLDER / 'a')": None,
    "write_parquet([5, 6], [0, 1], FOLDER / 'a')": None,
    "write_jsonl('abc', FOLDER / 'a')": TypeError("texts must be several texts"),
    "write_jsonl([], FOLDER / 'a')": None,
}
