"""Experiments of lesson 10: what a model copies from the document before its own, and
what a document mask is worth in training.

Each is repeated, once for each of its `seeds` (see `runs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import SimpleNamespace
from typing import Annotated, NamedTuple

import numpy as np
import torch

from course_lib.document_boundaries import (
    PackingCollator,
    packed_batch,
    packed_loss,
    shuffled_batches,
)
from course_lib.document_packing import pack_documents
from course_lib.experiments.runs import Batch, Seeds, each_run
from course_lib.foundation import (
    IGNORED,
    AttentionModel,
    Length,
    Seed,
    Several,
    checked,
    encode_each,
)
from course_lib.teaching import train

Given = Mapping[str, torch.Tensor]
"""What a model is told besides the ids: `position_ids`, `mask`, both or neither."""

Folds = Mapping[str, Annotated[Sequence[Sequence[str]], Several("folds of texts")]]


class Copied(NamedTuple):
    """Shares of predictions, one number for each run."""

    right: np.ndarray  #: the second document is a copy, and its next id is predicted
    from_first: np.ndarray  #: it's another, and the *first* one's next id is predicted


# Rows in which it pays to look into another document


@checked
def copied_rows(
    seed: Seed, num_batches: Length, batch_size: Length = 32
) -> Iterator[Batch]:
    """Yield rows of one random document, twice: 6 ids of 16, and the same ids again.

    The first id of the second copy isn't scored, since nothing before it is its own.
    """
    generator = torch.Generator().manual_seed(seed)
    for _ in range(num_batches):
        document = torch.randint(16, (batch_size, 6), generator=generator)
        row = torch.cat([document, document], dim=1)
        targets = row[:, 1:].clone()
        targets[:, 5] = IGNORED
        yield row[:, :-1], targets


@checked
def train_on_copies(
    given: Mapping[str, Given],
    *,
    num_updates: Length,
    learning_rate: float,
    seeds: Seeds,
) -> dict[str, Copied]:
    """Train models on rows of one document, twice, and ask for the second one.

    Args:
        given: name to what a model is told besides the ids, when it trains and later.
        num_updates, learning_rate: steps of 32 rows, and the rate of the first one.
        seeds: a seed for each run.

    Returns, by name, what is predicted in 500 new rows, and in the same rows after the
    second document of each has changed places with that of another row. The first id
    of a document isn't asked for.
    """
    found = {name: [] for name in given}
    for _, seed in each_run(seeds):
        inputs, targets = next(copied_rows(seed + 100, 1, batch_size=500))
        strangers = inputs.clone()
        strangers[:, 6:] = inputs[:, 6:].roll(1, dims=0)
        for name, how in given.items():
            rows = copied_rows(seed, num_updates)
            batches = (({"inputs": x, **how}, y) for x, y in rows)
            torch.manual_seed(seed)
            model = AttentionModel(16, max_length=16)
            settings = {"num_updates": num_updates, "learning_rate": learning_rate}
            train(model, batches, **settings, progress=False)
            with torch.no_grad():
                both = [model(x, **how).argmax(dim=-1) for x in (inputs, strangers)]
            hits = [(each == targets)[:, 6:].float().mean().item() for each in both]
            found[name].append(hits)
    return {name: Copied(*np.array(hits).T) for name, hits in found.items()}


# Text

WAYS = {"mask": {}, "no mask": {"masked": False, "reset": False}}
"""The arguments of `packed_batch`."""


def encode_bytes(texts: Iterable[str], longest: int | None = None) -> list[np.ndarray]:
    """Return the UTF-8 bytes of each text as a document, which ends with the id 256.

    Texts that are empty, or have more than `longest` bytes, are left out.
    """
    as_bytes = SimpleNamespace(encode=lambda text: [*text.encode()], end_of_text_id=256)
    most = float("inf") if longest is None else longest
    kept = [each for each in texts if each.strip() and len(each.encode()) <= most]
    if len(kept) < 2:
        raise ValueError(
            f"texts must hold at least 2 of at most {longest} bytes, got {len(kept)}: "
            "take another text, or longer ones"
        )
    return list(encode_each(kept, as_bytes))


@checked
def train_with_and_without_mask(
    folds: Folds,
    row_length: Length,
    *,
    longest: Length,
    num_updates: Length,
    learning_rate: float,
    seeds: Seeds,
) -> dict[str, dict[tuple[str, str], np.ndarray]]:
    """Train on packed texts with the document mask and without it, and validate both.

    Args:
        folds: name to as many folds of texts as there are seeds: each run holds out one
            of them, and trains on the others.
        row_length: bytes of a packed row.
        longest: texts of more bytes are left out.
        num_updates, learning_rate: steps of 4 rows, and the rate of the first one.
        seeds: a seed for each run.

    With the mask, positions restart in each document; without it, they run on. Returns,
    by name of the texts, bits per byte on the fold that was held out, for a pair of
    "mask" or "no mask": in training, and in validation. One number for each run.
    """
    collate = PackingCollator(SimpleNamespace(pad_token_id=0))
    losses = {name: {} for name in folds}
    for name, of_name in folds.items():
        for run, seed in each_run(seeds, name):
            parts = [encode_bytes(texts, longest) for texts in of_name]
            held_out = collate(pack_documents(parts.pop(run), row_length))
            packs = collate(pack_documents(chain(*parts), row_length))
            for way, how in WAYS.items():
                torch.manual_seed(seed)
                model = AttentionModel(257, positions="rotary")
                generator = torch.Generator().manual_seed(seed)
                batches = shuffled_batches(packed_batch(packs, **how), 4, generator)
                settings = {"num_updates": num_updates, "learning_rate": learning_rate}
                train(model, batches, **settings, progress=False)
                for judge, judged in WAYS.items():
                    nats, scored = packed_loss(model, packed_batch(held_out, **judged))
                    bits = nats / scored / np.log(2)
                    losses[name].setdefault((way, judge), []).append(bits)
    return {
        name: {pair: np.array(runs) for pair, runs in pairs.items()}
        for name, pairs in losses.items()
    }
