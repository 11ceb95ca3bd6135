"""What each lesson adds to a reader's loader, and how it is audited."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.exercises.my_loader.questions import (
    LENGTHS,
    NUM_TOKENS,
    UNEVEN,
    MakeLoader,
    Tried,
    are_mappings,
    batches_are_full,
    batches_are_int64,
    can_be_saved,
    documents,
    draws_a_whole_epoch,
    has_several_batches,
    is_shuffled,
    keeps_its_shares,
    moves_or_continues,
    pads_are_0,
    positions_begin_again,
    ranks_share_a_mixture,
    reads_each_source_whole,
    reads_in_place,
    rows_are_full,
    shards,
    sources,
    stream,
    windows_stand_side_by_side,
)


@dataclass(frozen=True)
class Level:
    """What a lesson adds: its name, hints, audits, and questions beyond the audit."""

    title: str
    hints: tuple[str, ...]
    audits: tuple[tuple[Callable[[MakeLoader], MakeLoader], Mapping[str, Any]], ...]
    asks: Sequence[Callable[[Tried], str | None]] = ()
    by_design: tuple[str, ...] = ()  # findings of the first audit that belong to it


_DOCUMENTS = (documents, {"document_lengths": LENGTHS})
_STREAM = (stream, {"num_tokens": NUM_TOKENS})

#: By the number of the lesson.
LEVELS = {
    2: Level(
        "windows",
        (
            "Which starts does `window_starts` give at stride T? A batch takes the "
            "next B starts, and each of them needs the T + 1 ids that begin there.",
            "`starts[:, None] + np.arange(T + 1)` is a table of positions, with a row "
            "for each start. Index `ids` with the whole table, make the result int64, "
            "and return copies of its first T and of its last T columns.",
        ),
        (_STREAM,),
        (has_several_batches, batches_are_full, windows_stand_side_by_side),
    ),
    3: Level(
        "a seeded order that resumes",
        (
            "Let `np.random.default_rng([SEED, epoch])` permute the numbers of the "
            "starts. A list of two numbers keeps seed 7, epoch 1 apart from seed 8, "
            "epoch 0.",
            "Count a batch *before* you yield it, because the code after a `yield` "
            "runs only when the next batch is asked for. `load_state_dict` says where "
            "the next iteration begins, and the one after that begins at 0 again.",
        ),
        (_STREAM,),
        (has_several_batches, can_be_saved, is_shuffled),
    ),
    4: Level(
        "cuts that move, or rows that continue",
        (
            "For random offsets, add a number from 0 to T - 1 to all starts, and drop "
            "the last if it no longer fits. For parallel tracks, take the starts of "
            "`partition_starts`, and do not shuffle them.",
            "Draw the offset from the generator that permutes the starts. The count of "
            "windows depends on the offset, so draw the offset first. Parallel tracks "
            "are `partition_starts(len(ids), B, T, offset).ravel()`.",
        ),
        (_STREAM,),
        (has_several_batches, is_shuffled, moves_or_continues),
    ),
    8: Level(
        "long documents in chunks",
        (
            "`document_starts` says where each document begins. It ends where the next "
            "one begins, or with the stream. Which overlap scores all that can be "
            "scored? Pads have the id 0 and the label -100.",
            "Return dictionaries: `input_ids` and `labels`, each of shape (B, T). Fill "
            "them with 0 and -100, and copy each chunk to the beginning of its row. A "
            "subclass of `Loader` with a `batch` of its own is enough.",
        ),
        (_DOCUMENTS,),
        (are_mappings, pads_are_0),
    ),
    9: Level(
        "packs",
        (
            "`assign_packs` takes the lengths of all chunks, and says which of them "
            "share a row. A row becomes a list of pieces.",
            "Copy the pieces of a row one after another. The first label of each piece "
            "is -100, because the token before it belongs to another piece.",
        ),
        (_DOCUMENTS,),
        (are_mappings, rows_are_full),
    ),
    10: Level(
        "positions that begin again",
        (
            "A piece of n tokens has the positions 0 to n - 1, wherever it is in its "
            "row. Which other entry of a batch would hide them from `transformers`?",
            "Where you copy a piece, write its positions 0, 1, 2, ... into the same "
            "places of `position_ids`. Return no `attention_mask`. Pads come after all "
            "tokens of their row, so no token sees them.",
        ),
        (_DOCUMENTS,),
        (are_mappings, rows_are_full, positions_begin_again),
    ),
    11: Level(
        "a stream in several files",
        (
            "If `ids` is a list, wrap it in a class with `__len__` and `__getitem__`, "
            "and the rest of your loader need not know.",
            "`__getitem__` gets a table of positions. For each file, find its own "
            "positions, subtract where the file begins, and read only these ids.",
        ),
        ((shards, {"num_tokens": NUM_TOKENS}), _STREAM),
        (batches_are_int64, reads_in_place),
    ),
    12: Level(
        "ranks that share one order",
        (
            "All ranks make the same order, and each takes its own part of it. Lesson "
            "2's exercise `rank_share` deals out an order like cards.",
            "`order[rank::world_size]` deals. Cut every share to `len(order) // "
            "world_size` entries, because all ranks must take equally many steps.",
        ),
        (
            (stream, {"num_tokens": UNEVEN, "world_size": 3}),
            (documents, {"document_lengths": LENGTHS, "world_size": 2}),
            _STREAM,
        ),
    ),
    13: Level(
        "a mixture of sources",
        (
            "Cut each source into windows by itself, so that none crosses from one "
            "source to the next. `MixtureOrder(counts, mix, n, base_seed=SEED)` "
            "takes numbers of windows and weights by name, and is indexed with an "
            "array of draws. It numbers the windows through all sources, in the order "
            "of `counts`.",
            "An epoch has as many draws as there are windows. Epoch e takes the draws "
            "from e * n to (e + 1) * n of one long `MixtureOrder`, so that each source "
            "continues where the epoch before stopped.",
        ),
        ((sources, {"num_tokens": NUM_TOKENS}), _STREAM),
        (
            keeps_its_shares,
            draws_a_whole_epoch,
            reads_each_source_whole,
            ranks_share_a_mixture,
        ),
        ("lost", "repeated"),
    ),
}
