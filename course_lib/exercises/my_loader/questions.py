"""What a loader is given, and what is asked of it beyond its audit.

Each question returns a complaint, a sentence, or None. A later question of a level is
asked only if the earlier ones are answered.
"""

from __future__ import annotations

import tempfile
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from course_lib.auditing_loaders import Audit
from course_lib.document_packing import assign_packs

NUM_TOKENS = 2_000
# With T = 16 and B = 4, windows for 10 batches on each of 3 ranks, but for one or two.
UNEVEN = 16 * (3 * 10 * 4 - 1) + 1
FIRST_ID = 1_000  # of the streams that we make ourselves; smaller ids are padding
# Around T = 16: shorter, exact, longer by one, several chunks, and a single token.
# The last document is long, so that a loader which forgets it loses whole rows.
LENGTHS = [5, 16, 17, 33, 1, 48, 2, 31, 20, 3, 9, 70] * 5
MIX = {"web": 3, "code": 1}
FEWEST_BATCHES = 6
FORWARD = 0.7  # share of steps; half of them lead forward in a shuffled order
NEAR = 0.1  # how far a source may be from its share in one epoch

MakeLoader = Callable[..., Any]


@dataclass(frozen=True)
class Tried:
    """A loader, and the first audit of a level."""

    make_loader: MakeLoader
    audit: Audit

    def batches(self, num_tokens: int, **given: object) -> Iterator[Any]:
        """Yield the batches of a stream whose ids are FIRST_ID + their positions."""
        yield from self.make_loader(FIRST_ID + np.arange(num_tokens), **given)


# What a loader is given for the auditor's stream. The docstrings are part of messages.


def stream(make_loader: MakeLoader) -> MakeLoader:
    """one array of ids"""

    def given(ids, *, epoch, rank, world_size):
        return make_loader(ids, epoch=epoch, rank=rank, world_size=world_size)

    return given


def documents(make_loader: MakeLoader) -> MakeLoader:
    """one array of ids, and document_starts"""

    def given(ids, *, epoch, rank, world_size, document_starts):
        ranks = {"rank": rank, "world_size": world_size}
        return make_loader(ids, epoch=epoch, document_starts=document_starts, **ranks)

    return given


def shards(make_loader: MakeLoader) -> MakeLoader:
    """a list of three memory maps, uint16 and read-only"""

    def of_files(ids, **named):
        cuts = [len(ids) // 3, len(ids) // 3 + 7]  # the second is shorter than a window
        return make_loader([_as_file(part) for part in np.split(ids, cuts)], **named)

    return stream(of_files)


def sources(make_loader: MakeLoader) -> MakeLoader:
    """a dictionary of two arrays, web and code, and mix={'web': 3, 'code': 1}"""

    def of_sources(ids, **named):
        middle = len(ids) // 2  # the first source comes last, so no window may cross
        ids = {"web": ids[middle:], "code": ids[:middle]}
        return make_loader(ids, mix=dict(MIX), **named)

    return stream(of_sources)


def _as_file(ids: np.ndarray) -> np.memmap:
    with tempfile.TemporaryFile() as file:
        file.write(ids.astype("<u2").tobytes())
        file.flush()
        return np.memmap(file, dtype="<u2", mode="r")


# What an audit alone does not ask


def has_several_batches(tried: Tried) -> str | None:
    if (number := np.min(tried.audit.num_batches)) < FEWEST_BATCHES:
        return (
            f"{NUM_TOKENS:,} tokens make only {number} batches, too few to judge an "
            "order by. Choose a smaller T or B."
        )
    return None


def batches_are_full(tried: Tried) -> str | None:
    length, size = tried.audit.context_length, tried.audit.batch_size
    windows = FEWEST_BATCHES * size + max(1, size // 2)  # the last batch is not full
    shapes = set()
    for batch in tried.batches(windows * length + 1):
        for part in batch.values() if isinstance(batch, Mapping) else batch:
            if (kind := str(np.asarray(part).dtype)) != "int64":
                return f"the batches are {kind}, but PyTorch's losses need int64."
            shapes.add(tuple(np.shape(part)))
    if flat := [shape for shape in shapes if len(shape) != 2]:
        return f"the inputs have the shape {flat[0]}, which is one window, not (B, T)."
    if len(shapes) > 1:
        found = " and ".join(map(str, sorted(shapes)))
        return (
            f"there are batches of the shapes {found}. Leave out one that is not full."
        )
    return None


def windows_stand_side_by_side(tried: Tried) -> str | None:
    stride, length = tried.audit.facts["stride"], tried.audit.context_length
    if stride != length:
        return f"a window begins {stride} after the one before. Take the stride T."
    return None


def is_shuffled(tried: Tried) -> str | None:
    forward = np.mean(np.diff(tried.audit.starts[0]) > 0)
    if forward >= FORWARD and not _continues(tried, _first_positions(tried, epoch=0)):
        return (
            f"after {forward:.0%} of all windows comes one that begins later in the "
            "stream. In a shuffled order it is about half."
        )
    return None


def can_be_saved(tried: Tried) -> str | None:
    loader = tried.make_loader(FIRST_ID + np.arange(NUM_TOKENS))
    missing = [n for n in ("state_dict", "load_state_dict") if not hasattr(loader, n)]
    if missing:
        names = " and no ".join(missing)
        return f"the loader has no {names}, so a run that stops cannot continue."
    return None


def moves_or_continues(tried: Tried) -> str | None:
    length, size = tried.audit.context_length, tried.audit.batch_size
    # At offset 0 the batches are full, so that the first window cannot be dropped.
    num_tokens, num_epochs = 2 * length * size + 1, 16 * length
    if _continues(tried, _first_positions(tried, epoch=0)):
        for more in range(size * length):  # at one of them a track may be too long
            _first_positions(tried, epoch=0, num_tokens=num_tokens + more)
        return None
    firsts = []
    for epoch in range(num_epochs):
        rows = _first_positions(tried, epoch=epoch, num_tokens=num_tokens)
        firsts.append(min(map(min, rows), default=0))
    cuts = {first % length for first in firsts}
    if len(cuts) == 1:
        return (
            f"in each of {num_epochs} epochs the text is cut at the same positions, "
            "and no row continues in the next batch. Do one of the two."
        )
    if missing := sorted(set(range(length)) - cuts):
        return f"in {num_epochs} epochs, no offset is {_listed(missing)}."
    if length in firsts:
        return (
            f"in epoch {firsts.index(length)} the offset is T = {length}, which cuts "
            "where offset 0 cuts, so these cuts come twice as often."
        )
    return None


def are_mappings(tried: Tried) -> str | None:
    kinds = {type(batch) for batch in _batches_of_documents(tried)}
    if any(not issubclass(kind, Mapping) for kind in kinds):
        return (
            "batches of documents should be dictionaries with input_ids and labels, "
            "because a pair cannot say more than inputs and targets."
        )
    return None


def pads_are_0(tried: Tried) -> str | None:
    for number, batch in enumerate(_batches_of_documents(tried)):
        ids = np.asarray(batch["input_ids"])
        if (wrong := ids[(ids < FIRST_ID) & (ids != 0)]).size:
            return (
                f"batch {number} has pads with the id {wrong[0]}. Give them the id 0."
            )
    return None


def rows_are_full(tried: Tried) -> str | None:
    length = tried.audit.context_length
    pieces = [
        min(length, size - start)
        for size in LENGTHS
        for start in range(0, max(size - 1, 1), length - 1)
    ]
    rows = sum(len(batch["input_ids"]) for batch in _batches_of_documents(tried))
    enough = len(assign_packs(pieces, length, strategy="greedy"))
    if rows > enough:
        return (
            f"{len(LENGTHS)} documents take {rows} rows, although even greedy packing "
            f"needs only {enough}. Let short pieces share a row."
        )
    return None


def positions_begin_again(tried: Tried) -> str | None:
    begins = np.cumsum([0, *LENGTHS[:-1]])
    for number, batch in enumerate(_batches_of_documents(tried)):
        mask = batch.get("attention_mask")
        if mask is not None and np.ndim(mask) > 2:
            return None  # the document mask itself, which the audit has read
        if "position_ids" not in batch:
            return "the batches have no position_ids."
        if mask is not None and np.max(np.asarray(mask)) <= 1:
            return (
                "there is an attention_mask beside the positions. With it, "
                "transformers no longer tells documents apart."
            )
        shapes = [np.shape(batch[name]) for name in ("input_ids", "position_ids")]
        if shapes[0] != shapes[1]:
            return f"position_ids have the shape {shapes[1]}, not {shapes[0]}."
        rows = zip(batch["input_ids"], batch["position_ids"], strict=True)
        for row, (ids, given) in enumerate(rows):
            places = np.asarray(ids) - FIRST_ID
            is_token = places >= 0
            jumps = np.diff(places, prepend=-9) != 1
            begun = np.where(jumps | np.isin(places, begins), np.arange(len(places)), 0)
            wanted = np.arange(len(places)) - np.maximum.accumulate(begun)
            if (np.asarray(given) != wanted)[is_token].any():
                given = np.asarray(given)[is_token].tolist()
                return (
                    f"row {row} of batch {number} holds the tokens at "
                    f"{_runs(places[is_token])}. Its positions should be "
                    f"{wanted[is_token].tolist()}, but are {given}."
                )
    return None


def batches_are_int64(tried: Tried) -> str | None:
    for batch in shards(tried.make_loader)(
        FIRST_ID + np.arange(NUM_TOKENS), epoch=0, rank=0, world_size=1
    ):
        parts = batch.values() if isinstance(batch, Mapping) else batch
        kinds = {str(part.dtype) for part in parts if hasattr(part, "dtype")}
        if wrong := sorted(kinds - {"torch.int64", "int64"}):
            return f"the batches are {wrong[0]}, but PyTorch's losses need int64."
    return None


def reads_in_place(tried: Tried) -> str | None:
    part = np.zeros(4_000_000, dtype=np.uint32)
    tracemalloc.start()
    try:
        next(iter(tried.make_loader([part, part])))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Starts and their order take memory too, the more the shorter the windows are.
    if peak >= 2 * part.nbytes * max(1, 16 // tried.audit.context_length):
        return (
            f"for two files of {part.nbytes // 10**6} MB each, {peak // 10**6} MB of "
            "memory are used before the first batch. Are the files joined, or copied?"
        )
    return None


def draws_a_whole_epoch(tried: Tried) -> str | None:
    length, size = tried.audit.context_length, tried.audit.batch_size
    whole, drawn = 2 * ((NUM_TOKENS // 2 - 1) // length), len(tried.audit.starts[0])
    if drawn < whole - 2 * size:
        return f"an epoch draws {drawn} windows, but the sources hold {whole}."
    return None


def ranks_share_a_mixture(tried: Tried) -> str | None:
    mixed = replace(tried, make_loader=sources(tried.make_loader))
    alone, together = (
        Counter(
            first
            for rank in range(size)
            for rows in _first_positions(mixed, epoch=0, rank=rank, world_size=size)
            for first in rows
        )
        for size in (1, 2)
    )
    more, fewer = (together - alone).total(), (alone - together).total()
    if more + fewer > 4 * tried.audit.batch_size:  # batches that are not full
        return (
            f"one rank alone draws {alone.total()} windows in an epoch. Two ranks "
            f"together draw {more} others, and leave out {fewer}. Deal out the draws."
        )
    return None


def keeps_its_shares(tried: Tried) -> str | None:
    is_web = tried.audit.starts[0] >= NUM_TOKENS // 2
    wanted, found = MIX["web"] / sum(MIX.values()), np.mean(is_web)
    if abs(found - wanted) > NEAR:
        return (
            f"with the weights {MIX}, {wanted:.0%} of the windows should come from "
            f"web, but {found:.0%} do."
        )
    return None


def reads_each_source_whole(tried: Tried) -> str | None:
    starts = tried.audit.starts[0]
    length, half = tried.audit.context_length, NUM_TOKENS // 2
    for name, own in (("web", starts[starts >= half]), ("code", starts[starts < half])):
        count = next((n for n, at in enumerate(own) if at in own[:n]), len(own))
        if count < min(len(own), (half - length) // length):
            return (
                f"a window of {name} comes a second time after {count} of its "
                f"windows, although there are {(half - 1) // length}."
            )
    return None


def _first_positions(
    tried: Tried, epoch: int, num_tokens: int = NUM_TOKENS, **ranks: int
) -> list[list[int]]:
    """Return where the rows of each batch begin."""
    batches = tried.batches(num_tokens, epoch=epoch, **ranks)
    inputs = [b["input_ids"] if isinstance(b, Mapping) else b[0] for b in batches]
    return [(np.asarray(rows)[:, 0] - FIRST_ID).tolist() for rows in inputs]


def _continues(tried: Tried, firsts: list[list[int]]) -> bool:
    """Say whether each row of a batch continues that of the batch before."""
    length = tried.audit.context_length
    return all(
        [first + length for first in before] == after
        for before, after in pairwise(firsts)
    )


def _batches_of_documents(tried: Tried) -> Iterator[Mapping[str, torch.Tensor]]:
    starts = np.cumsum([0, *LENGTHS[:-1]])
    return tried.batches(sum(LENGTHS), document_starts=starts)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) if len(numbers) < 5 else f"{numbers[0]}, ..."


def _runs(places: np.ndarray) -> str:
    cuts = [0, *(np.flatnonzero(np.diff(places) != 1) + 1).tolist(), len(places)]
    pairs = [(places[a], places[b - 1]) for a, b in pairwise(cuts)]
    return ", ".join(f"{first} to {last}" for first, last in pairs)
