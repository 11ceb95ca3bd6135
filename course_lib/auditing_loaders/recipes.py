r"""Recipes for loaders that read files: each writes the ids of an audit in the format
that such a loader opens.

    def make_loader(ids):
        recipes.write_flat(ids, "ids.bin")
        return TheLoader("ids.bin", batch_size=8)

The flat file of nanoGPT has a function here. It holds ids up to 65,535: for more than
30,000 tokens, audit with your `vocab_size`. Megatron brings a writer of its two files,
`IndexedDatasetBuilder` (`add_document` for each row, then `finalize`). For others a
line is enough:

    header = np.zeros(256, np.int32)                            # llm.c
    header[:3] = 20240520, 1, len(ids)                          # its magic number
    body = ids.astype(np.uint16).tobytes()                      # of modded-nanogpt too
    Path("llm_c.bin").write_bytes(header.tobytes() + body)      # for ids up to 65,535
    np.save("ids.npy", ids.astype(np.int32))                    # NumPy
    rows = np.split(ids, document_starts[1:])                   # a row a document
    rows = datasets.Dataset.from_dict({"input_ids": rows})
    rows.to_parquet("ids.parquet")                              # Parquet
    rows.save_to_disk("ids")                                    # Arrow
    lines = [json.dumps({"text": text}) for text in texts]      # with a tokenizer
    Path("texts.jsonl").write_text("\n".join(lines))            # JSON lines

An audit writes each file several times, always the same. A loader that must find the
same folder when it is resumed gets the same path each time.
"""

from __future__ import annotations

import numpy as np

from course_lib.foundation import FilePath, Ids, checked


@checked
def write_flat(ids: Ids, path: FilePath) -> None:
    """Write ids as flat uint16, as nanoGPT's `train.bin`."""
    _small(ids).tofile(path)


def _small(ids: np.ndarray) -> np.ndarray:
    wrong = ids[(ids < 0) | (ids > np.iinfo(np.uint16).max)]
    if wrong.size:
        raise ValueError(
            f"ids must fit into uint16, got {wrong.max():,}: this format is for a "
            "vocabulary of up to 65,536; if yours is smaller, say it with vocab_size"
        )
    return ids.astype("<u2")
