"""What a loader hands out, as one table: a record for each place of each row. Every
finding of an audit is a question to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from course_lib.auditing_loaders.batch_rows import NO_ID, BatchRows
from course_lib.auditing_loaders.placed_rows import PlacedRows, move_right
from course_lib.foundation.ledger import TokenLedger, why_unused

PLACE = np.dtype(
    [
        # where it was handed out
        ("epoch", np.int32),
        ("rank", np.int32),
        ("batch", np.int32),
        ("row", np.int32),
        ("place", np.int32),
        # positions in the stream, -1 where none is told
        ("position", np.int32),  # of the token
        ("before", np.int32),  # of the told token before it in the row
        ("label", np.int32),  # of what is predicted here, from the tokens before
        ("label_id", np.int64),  # the label as it came
        ("context", np.int32),  # tokens of the window that the label is predicted from
        ("ahead", np.float32),  # by how much most labels of the row are too far ahead
        ("is_input", np.bool_),
        ("scored", np.bool_),  # the loss counts the label
        ("begins", np.bool_),  # positions or a mask say that a document begins
        ("opens", np.bool_),  # a window begins: with the row, after a jump, a document
        ("jumps", np.bool_),  # the token is not the next one after `before`
        ("announced", np.bool_),  # something tells the token and `before` apart
        ("separated", np.bool_),  # padding, or a separator, lies between them
        ("misplaced", np.bool_),  # the label follows neither the row nor `before`
        ("filler", np.bool_),  # padding is scored
        ("masked", np.bool_),  # a mask hides what predicts the label
        ("untold", np.bool_),  # the label is of the stream, but tells no place
    ]
)


def tabulate(
    rows: PlacedRows,
    batch: BatchRows,
    document_starts: np.ndarray,
    *,
    epoch: int,
    rank: int,
    number: int,
) -> np.ndarray:
    """Return the records of a batch, shape (B, M): row by row, place by place."""
    table = np.zeros(rows.tokens.shape, dtype=PLACE)
    table["epoch"], table["rank"], table["batch"] = epoch, rank, number
    table["row"] = np.arange(len(table))[:, None]
    table["place"] = places = np.arange(table.shape[1])
    table["position"], table["before"] = rows.tokens, rows.before
    table["label"] = rows.labels
    table["label_id"] = batch.inputs if batch.labels is None else batch.labels
    table["ahead"] = rows.ahead[:, None]
    table["scored"], table["begins"] = rows.scored, rows.begins
    table["jumps"], table["announced"] = rows.jumps, rows.announced
    table["separated"], table["misplaced"] = rows.separated, rows.misplaced
    table["filler"], table["masked"] = rows.scored_filler, ~batch.judged
    table["untold"] = rows.untold
    table["opens"] = opens = rows.windows_begin(document_starts)
    begun = np.maximum.accumulate(np.where(opens, places, -1), axis=1)
    # A target may still belong to the window before: where windows share a row.
    follows = rows.labels == rows.before + 1
    begun = np.where(follows & batch.is_pair, move_right(begun, -1), begun)
    table["context"] = np.where(begun < 0, 0, places - begun)
    is_input = rows.tokens >= 0
    if batch.is_pair:
        is_input &= batch.inputs != NO_ID
    else:  # the last token of a window predicts nothing
        is_input[:, :-1] &= is_input[:, 1:] & ~opens[:, 1:]
        is_input[:, -1] = False
    table["is_input"] = is_input
    return table


@dataclass
class Reading:
    """What one rank got from one iteration, or from a part of it."""

    num_tokens: int
    epoch: int = 0
    rank: int = 0
    tables: list[np.ndarray] = field(default_factory=list)  #: (B, M) of each batch
    num_bytes: int = 0  #: of the largest batch
    num_blocks: int = 0  #: of memory, in which inputs and labels lie
    is_pair: bool = False
    is_cut: bool = False  #: `max_batches` ended it
    goes_on: bool = False  #: it begins where `max_batches` ended the one before
    views_stream: bool = False  #: a batch lies in the memory of the ids
    has_labels: bool = False
    remarks: dict[str, None] = field(default_factory=dict)  #: of batches
    turns: np.ndarray | int = 0  #: by row, how often the stream was read before

    @property
    def num_batches(self) -> int:
        return len(self.tables)

    @property
    def batch_size(self) -> int:
        return max(map(len, self.tables), default=0)

    @property
    def row_length(self) -> int:
        """Tokens of the longest row."""
        widths = [table.shape[1] for table in self.tables]
        return max(widths, default=0) - self.is_pair

    @cached_property
    def table(self) -> np.ndarray:
        """All records, in the order in which they came."""
        return np.concatenate([np.zeros(0, PLACE), *map(np.ravel, self.tables)])

    @property
    def commonest_ahead(self) -> int | None:
        """By how much labels are too far ahead, in most rows that tell."""
        told = self.rows["ahead"][~np.isnan(self.rows["ahead"])]
        errors, times = np.unique(told, return_counts=True)
        return int(errors[times.argmax()]) if times.size else None

    @cached_property
    def first_places(self) -> np.ndarray:
        """Where each row begins in the table."""
        return np.flatnonzero(self.table["place"] == 0)

    @cached_property
    def rows(self) -> np.ndarray:
        """The first record of each row."""
        return self.table[self.first_places]

    @cached_property
    def row_of_place(self) -> np.ndarray:
        """The number of the row that each record is of, in the order of the rows."""
        return np.cumsum(self.table["place"] == 0) - 1

    @cached_property
    def firsts(self) -> np.ndarray:
        """The first told position of each row, -1 where none is."""
        beyond = np.iinfo(np.int32).max
        told = np.where(self.table["position"] < 0, beyond, self.table["position"])
        where = np.where(told == beyond, len(self.table), np.arange(len(self.table)))
        if not len(self.rows):
            return np.zeros(0, np.int64)
        at = np.minimum.reduceat(where, self.first_places)
        firsts = self.table["position"][at.clip(max=len(self.table) - 1)]
        return np.where(at < len(self.table), firsts, -1).astype(np.int64)

    @cached_property
    def lasts(self) -> np.ndarray:
        """The last target of each row, -1 where there is none."""
        labels = np.where(self.table["scored"], self.table["label"], -1)
        if not len(self.rows):
            return np.zeros(0, np.int64)
        return np.maximum.reduceat(labels, self.first_places).astype(np.int64)

    @cached_property
    def order(self) -> np.ndarray:
        """A number for each row, which two share only if they hold the same tokens."""
        if not len(self.rows):
            return np.zeros(0, np.uint64)
        # Random odd weights, the same in all processes. The sum wraps around.
        width = int(self.table["place"].max()) + 1
        weights = np.random.default_rng(0).integers(2**62, size=width)
        weights = 2 * weights.astype(np.uint64) + np.uint64(1)
        ids = (self.table["position"] + 1).astype(np.uint64)
        return np.add.reduceat(ids * weights[self.table["place"]], self.first_places)

    @property
    def order_in_turns(self) -> np.ndarray:
        """The rows, which are others when the stream is read again."""
        return self.order + np.uint64(0x9E3779B97F4A7C15) * np.uint64(self.turns)

    @cached_property
    def is_target(self) -> np.ndarray:
        """Which records are predicted. No model predicts the first token of a row."""
        table = self.table
        return table["scored"] & (table["label"] >= 0) & (table["place"] > 0)

    @cached_property
    def targets(self) -> np.ndarray:
        """How often each token of the stream is a target, shape (N,)."""
        labels = self.table["label"][self.is_target]
        return np.bincount(labels, minlength=self.num_tokens)

    @cached_property
    def handed_out(self) -> np.ndarray:
        """Which tokens of the stream were in any part of a row, shape (N,)."""
        found = np.zeros(self.num_tokens, dtype=bool)
        found[self.table["position"][self.table["position"] >= 0]] = True
        return found

    @cached_property
    def starts(self) -> np.ndarray:
        """Where windows begin in the stream, in the order in which they came."""
        length = self.row_length
        opens = self.table["opens"] & (self.table["place"] < length)
        return self.table["position"][opens].astype(np.int64)

    @property
    def turn_of_rows(self) -> np.ndarray:
        return np.broadcast_to(self.turns, self.firsts.shape)

    @property
    def goes_forward(self) -> bool:
        """Whether no pass over the stream is shuffled: in the order of the file, or in
        parallel tracks, one a place of the batch, or read in turn."""
        is_told = self.firsts >= 0
        turns = self.turn_of_rows[is_told]
        firsts, places = self.firsts[is_told], self.rows["row"][is_told]
        return all(
            goes_forward(firsts[turns == turn], places[turns == turn])
            for turn in np.unique(turns)
        )

    def tracks(self) -> list[tuple[int, int]]:
        """The first and the last position that each place of the batch reads."""
        is_told = self.firsts >= 0
        found = []
        for row in np.unique(self.rows["row"][is_told]):
            at = is_told & (self.rows["row"] == row)
            found.append((int(self.firsts[at].min()), int(self.lasts[at].max())))
        return found

    def place_of(self, row: int) -> str:
        """Say where a row is that is known by its number in the order."""
        return where(self.rows[row])


MOST_TRACKS = 64  # read in turn, row by row
SHARE_IN_TURN = (
    3 / 4
)  # of rows that follow one so many before; of a shuffle, hardly any


def goes_forward(firsts: np.ndarray, places: np.ndarray) -> bool:
    """Whether rows go through the stream in its order, or in parallel tracks.

    Args:
        firsts: where each row begins.
        places: the place of each in its batch; a place may be a track.
    """
    by_place = np.argsort(places, kind="stable")
    steps = np.diff(firsts[by_place])[np.diff(places[by_place]) == 0]
    if (steps >= 0).all():
        return True
    numbers = np.unique(firsts, return_inverse=True)[1]
    # In turn, the rows of a track come `lag` rows apart, one after another.
    return any(
        np.mean(numbers[lag:] == numbers[:-lag] + 1) > SHARE_IN_TURN
        for lag in range(2, min(MOST_TRACKS, len(numbers) // 4) + 1)
    )


def where(record: np.void) -> str:
    """Say in which row and batch a record is."""
    return f"row {record['row']} of batch {record['batch']}"


def ledger_of(readings: Sequence[Reading]) -> TokenLedger:
    """Sum up what all ranks do with each token."""
    first = readings[0]
    table = np.concatenate([reading.table for reading in readings])
    is_target = np.concatenate([reading.is_target for reading in readings])
    size = first.num_tokens
    labels, context = table["label"][is_target], table["context"][is_target]
    as_target = np.bincount(labels, minlength=size)
    as_input = np.bincount(table["position"][table["is_input"]], minlength=size)
    shortest = np.full(size, np.iinfo(np.int64).max)
    np.minimum.at(shortest, labels, context)
    longest, context_sum = np.zeros((2, size), dtype=np.int64)
    np.maximum.at(longest, labels, context)
    np.add.at(context_sum, labels, context)
    reason, reasons = why_unused(as_input + as_target > 0, {})
    return TokenLedger(
        num_tokens=size,
        num_windows=sum(len(reading.starts) for reading in readings),
        context_length=max(r.row_length for r in readings) - (not first.is_pair),
        as_input=as_input,
        as_target=as_target,
        context_sum=context_sum,
        shortest_context=np.where(as_target > 0, shortest, 0),
        longest_context=longest,
        reason=reason,
        reasons=reasons,
    )


def count_turns(ranks: Sequence[Sequence[Reading]]) -> None:
    """Number the passes over the stream that an endless loader has begun, by row.

    `ranks[r][e]` are readings that `max_batches` has ended, anywhere. When a row comes
    again, the ranks have begun another pass, unless more rows are missing from this
    one than can be: its last step may be dropped, and another one under way.
    """
    every = [reading for readings in ranks for reading in readings]
    if not any(reading.is_cut for reading in every):
        return
    known = set().union(*(each.order[each.firsts >= 0].tolist() for each in every))
    most_missing = 2 * max(reading.batch_size for reading in every) * len(ranks)
    seen: set[int] = set()
    turn = 0
    for readings in zip(*ranks, strict=True):  # of one epoch
        if not readings[0].goes_on:
            seen, turn = set(), 0
        turns = [np.zeros(len(reading.order), dtype=np.int64) for reading in readings]
        for batch in range(max(reading.num_batches for reading in readings)):
            of_others: set[int] = set()  # in the same step, which ends no pass
            for reading, own in zip(readings, turns, strict=True):
                rows = np.flatnonzero(reading.rows["batch"] == batch)
                for row, key in zip(rows, reading.order[rows].tolist(), strict=True):
                    is_again = key in seen and key not in of_others
                    if is_again and len(known) - len(seen) < most_missing:
                        seen, turn = set(), turn + 1
                    seen |= {key} & known
                    own[row] = turn
                of_others.update(reading.order[rows].tolist())
        for reading, own in zip(readings, turns, strict=True):
            reading.turns = own
