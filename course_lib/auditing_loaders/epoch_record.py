"""What a loader hands out, in columns: an entry for each place of each row, and for
each row. Every finding of an audit is a question to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np

from course_lib.auditing_loaders.batch_rows import BatchRows
from course_lib.auditing_loaders.row_positions import FACTOR, RowPositions
from course_lib.foundation import TokenLedger, why_unused


@dataclass(frozen=True)
class Places:
    """An entry for each place of each row, row after row; called as in RowPositions."""

    tokens: np.ndarray  #: int32, positions in the stream, -1 where none is identified
    labels: np.ndarray  #: int32, the same
    context: np.ndarray  #: int32, tokens that the label is predicted from
    is_input: np.ndarray  #: bool, and so are all others
    is_target: np.ndarray
    scored: np.ndarray
    in_window: np.ndarray
    begins_window: np.ndarray


@dataclass(frozen=True)
class Rows:
    """An entry for each row."""

    batch: np.ndarray  #: its number
    row: np.ndarray  #: the place of the row in it
    begin: np.ndarray  #: where the row begins in `Places`
    first: np.ndarray  #: its first identified position, -1 where none is
    last_target: np.ndarray  #: its highest target, -1 where there is none
    key: np.ndarray  #: uint64, which two share only if they hold the same tokens
    labels_key: np.ndarray  #: the same of labels
    positions_key: np.ndarray  #: of positions
    views_key: np.ndarray  #: of which tokens see which
    ahead: np.ndarray  #: float, by how much labels are too far ahead, NaN if unknown
    num_targets: np.ndarray  #: tokens that count in the loss
    padding_before: np.ndarray  #: equal ids that no mask hides, before its text
    padding_after: np.ndarray  #: and after it


@dataclass(frozen=True)
class Windows:
    """An entry for each run of neighboring targets in a row."""

    first: np.ndarray  #: positions of its first and its last target
    last: np.ndarray
    row: np.ndarray  #: its number in `Rows`


# What is kept of a batch, and as what.
OF_PLACES = {each.name: np.bool_ for each in fields(Places)}
OF_PLACES |= dict.fromkeys(("tokens", "labels", "context"), np.int32)
OF_ROWS = {"first": np.int64, "last_target": np.int64, "ahead": float}
OF_ROWS |= dict.fromkeys(("num_targets", "padding_before", "padding_after"), np.int64)
KEYS = ("key", "labels_key", "positions_key", "views_key")
OF_ROWS |= dict.fromkeys(KEYS, np.uint64)


@dataclass
class EpochRecord:
    """What one rank got from one iteration, or from a part of it."""

    num_tokens: int
    epoch: int = 0
    rank: int = 0
    batches: list[dict[str, np.ndarray]] = field(default_factory=list)
    shapes: list[tuple[int, int]] = field(default_factory=list)  #: (B, M) of batches
    num_bytes: int = 0  #: of the largest batch
    num_blocks: int = 0  #: of memory, in which inputs and labels lie
    is_pair: bool = False
    is_cut: bool = False  #: `max_batches` ended it
    goes_on: bool = False  #: it begins where `max_batches` ended the one before
    said_length: int | None = None  #: what `len()` of the loader was before
    tells_apart: bool = False  #: positions, a mask or numbers of documents come along
    has_positions: bool = False
    firsts_after_padding: int = 0  #: scored, though they see nothing before
    rows_split: int = 0  #: whose positions begin again inside a document
    rows_open: int = 0  #: in which dropped labels alone stand between documents
    views_stream: bool = False  #: a batch lies in the memory of the ids
    lengths: list[int] = field(default_factory=list)  #: ids in each row
    label_types: dict[str, None] = field(default_factory=dict)  #: in their order
    remarks: dict[str, None] = field(default_factory=dict)  #: of batches
    of_stream: int = 0  #: tokens of the stream, their place identified or not
    unidentified: int = 0  #: targets of the stream whose place is not identified
    ends: int = 0  #: separators after a token of the stream
    ends_scored: int = 0
    scored: int = 0  #: labels of the stream that the loss counts
    masked_out: int = 0  #: of these, those whose own input was taken out
    separator_parts: list[np.ndarray] = field(default_factory=list)  #: of batches
    passes: np.ndarray | int = 0  #: by row, how often the stream was read before

    def add(self, rows: RowPositions) -> None:
        """Add a batch."""
        batch: BatchRows = rows.batch
        kept = {**OF_PLACES, **OF_ROWS}
        self.batches.append(
            {n: getattr(rows, n).astype(kind) for n, kind in kept.items()}
        )
        self.shapes.append(rows.tokens.shape)
        self.is_pair = batch.is_pair
        self.tells_apart |= batch.tells_apart
        self.has_positions |= batch.positions is not None
        self.firsts_after_padding += int((rows.after_padding & rows.scored).sum())
        self.lengths += batch.lengths
        if batch.label_type:
            self.label_types[batch.label_type] = None
        self.remarks.update(dict.fromkeys(batch.remarks))
        self.of_stream += int((~rows.is_filler).sum())
        self.unidentified += int(rows.unidentified.sum())
        self.scored += int(rows.of_stream_labels.sum())
        self.masked_out += int(rows.masks_out.sum())
        if rows.separator_ids.size:
            self.separator_parts.append(rows.separators.ravel())
            self.ends += int(rows.ends.sum())
            self.ends_scored += int((rows.ends & rows.scored).sum())
        num_bytes = sum(block.nbytes for block in batch.memory)
        apart = len(batch.memory) == 2 and not np.may_share_memory(*batch.memory)
        self.num_bytes = max(self.num_bytes, num_bytes)
        self.num_blocks = max(self.num_blocks, min(len(batch.memory), 1 + apart))

    @property
    def fills_gaps(self) -> bool:
        """Whether labels are what was taken out of the inputs, and not what comes next,
        as in masked language modeling."""
        return 2 * self.masked_out > self.scored

    @property
    def num_batches(self) -> int:
        return len(self.batches)

    @property
    def batch_size(self) -> int:
        return max((size for size, _ in self.shapes), default=0)

    @property
    def row_length(self) -> int:
        """Tokens of the longest row."""
        return max(self.lengths, default=0)

    @cached_property
    def places(self) -> Places:
        found = {name: [np.zeros(0, kind)] for name, kind in OF_PLACES.items()}
        for batch in self.batches:  # which are freed, column by column
            for name, columns in found.items():
                columns.append(batch.pop(name).ravel())
        return Places(**{name: np.concatenate(found.pop(name)) for name in OF_PLACES})

    @cached_property
    def rows(self) -> Rows:
        sizes = [size for size, _ in self.shapes]
        widths = np.array([width for _, width in self.shapes], dtype=np.int64)
        widths = np.repeat(widths, sizes)
        found = {
            name: np.concatenate([np.zeros(0, kind), *(b[name] for b in self.batches)])
            for name, kind in OF_ROWS.items()
        }
        return Rows(
            batch=np.repeat(np.arange(len(sizes)), sizes),
            row=np.concatenate([np.zeros(0, np.int64), *map(np.arange, sizes)]),
            begin=np.cumsum(widths) - widths,
            **found,
        )

    @cached_property
    def separators(self) -> np.ndarray:
        """The separator at each place of each row, -1 where there is none."""
        return np.concatenate(self.separator_parts)

    @property
    def order(self) -> np.ndarray:
        """A number for each row, which two share only if they hold the same tokens."""
        return self.rows.key

    @cached_property
    def comes_again(self) -> np.ndarray:
        """Which rows have the tokens of an earlier row of the same pass."""
        found = np.zeros(len(self.order), dtype=bool)
        at = np.flatnonzero(self.rows.first >= 0)
        keys = self.order[at] + FACTOR * self.pass_of_rows[at].astype(np.uint64)
        _, first = np.unique(keys, return_index=True)
        found[np.delete(at, first)] = True
        return found

    @property
    def commonest_ahead(self) -> int | None:
        """By how much labels are too far ahead, in most rows that tell."""
        ahead = self.rows.ahead[~np.isnan(self.rows.ahead)]
        errors, times = np.unique(ahead, return_counts=True)
        return int(errors[times.argmax()]) if times.size else None

    @cached_property
    def targets(self) -> np.ndarray:
        """How often each token of the stream is a target, shape (N,)."""
        labels = self.places.labels[self.places.is_target]
        return np.bincount(labels, minlength=self.num_tokens)

    @property
    def handed_out(self) -> np.ndarray:
        """Which tokens of the stream were in any part of a row, shape (N,)."""
        found = np.zeros(self.num_tokens, dtype=bool)
        found[self.places.tokens[self.places.tokens >= 0]] = True
        return found

    @cached_property
    def starts(self) -> np.ndarray:
        """Where windows begin in the stream, in the order in which they came."""
        return self.places.tokens[self.places.begins_window].astype(np.int64)

    @cached_property
    def windows(self) -> Windows:
        """All runs of neighboring targets in rows."""
        rows, at = self.rows, np.flatnonzero(self.places.in_window)
        row = np.searchsorted(rows.begin, at, side="right") - 1
        # where labels are too far ahead, it is the window that they should be of
        label = self.places.labels[at].astype(np.int64)
        label -= np.nan_to_num(rows.ahead)[row].astype(np.int64)
        opens = np.ones(len(at), dtype=bool)  # place 0 of a row is never a target
        opens[1:] = (np.diff(label) != 1) | (np.diff(at) != 1)
        begin = np.flatnonzero(opens)
        end = np.append(begin[1:], len(at))[: len(begin)] - 1
        return Windows(first=label[begin], last=label[end], row=row[begin])

    @property
    def pass_of_rows(self) -> np.ndarray:
        return np.broadcast_to(self.passes, self.order.shape)

    @property
    def goes_forward(self) -> bool:
        """Whether no pass over the stream is shuffled: in the order of the file, or in
        parallel tracks, one a place of the batch, or read in turn."""
        return all(self.pass_goes_forward(n) for n in np.unique(self.pass_of_rows))

    def pass_goes_forward(self, number: int) -> bool:
        at = (self.rows.first >= 0) & (self.pass_of_rows == number)
        firsts = self.rows.first[at]
        last_batch = np.flatnonzero(self.rows.batch[at] == self.num_batches - 1)
        end = begin_of_wrap(firsts, last_batch[0] if last_batch.size else len(firsts))
        return goes_forward(firsts[:end], self.rows.row[at][:end])

    def tracks(self) -> list[tuple[int, int]]:
        """The first and the last position that each place of the batch reads."""
        rows, found = self.rows, []
        for row in np.unique(rows.row[rows.first >= 0]):
            at = (rows.first >= 0) & (rows.row == row)
            found.append((int(rows.first[at].min()), int(rows.last_target[at].max())))
        return found

    def name_of(self, row: int) -> str:
        """Say where a row is that is known by its number in the order."""
        return f"row {self.rows.row[row]} of batch {self.rows.batch[row]}"


MOST_TRACKS = 64  # read in turn, row by row
# of rows that follow one so many before; of a shuffle, hardly any
SHARE_IN_TURN = 3 / 4
FEWEST_BEFORE_WRAP = 8  # rows, which a shuffle hardly ever puts in order


def begin_of_wrap(firsts: np.ndarray, last_batch: int) -> int:
    """Return the row of a last batch from which on it is filled up with rows from the
    beginning of the stream, in their order; the number of rows if there is none.

    Args:
        firsts: where each row begins.
        last_batch: the row with which the last batch begins.
    """
    for row in range(max(FEWEST_BEFORE_WRAP, last_batch), len(firsts)):
        if firsts[row] <= firsts[:row].min():
            return row if (np.diff(firsts[row:]) >= 0).all() else len(firsts)
    return len(firsts)


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
    most = min(MOST_TRACKS, len(numbers) // 4)
    # In turn, the rows of a track come `lag` rows apart, one after another.
    return merges_tracks(numbers, most) or any(
        np.mean(numbers[lag:] == numbers[:-lag] + 1) > SHARE_IN_TURN
        for lag in range(2, most + 1)
    )


def merges_tracks(numbers: np.ndarray, most: int) -> bool:
    """Whether rows are those of a few sources, each read forward, however these take
    turns.

    A track goes on as long as the next number comes later. A shuffle breaks half of
    these steps, and one of whole blocks begins a block only after it has ended another.
    """
    size = int(numbers.max(initial=-1)) + 1
    if size < len(numbers):  # some come again
        return False
    place = np.argsort(numbers)  # at which each number comes
    begins = np.flatnonzero(np.diff(place, prepend=len(place)) < 0)
    if len(begins) > most:
        return False
    ends = np.append(begins[1:], size) - 1
    return bool(place[begins].max() < place[ends].min())


def ledger_of(readings: Sequence[EpochRecord]) -> TokenLedger:
    """Sum up what all ranks do with each token."""
    size = readings[0].num_tokens
    as_input, context_sum, longest = np.zeros((3, size), dtype=np.int64)
    for reading in readings:
        places = reading.places
        labels = places.labels[places.is_target]
        context = places.context[places.is_target]
        as_input += np.bincount(places.tokens[places.is_input], minlength=size)
        np.add.at(context_sum, labels, context)
        np.maximum.at(longest, labels, context)
    as_target = sum(reading.targets for reading in readings)
    reason, reasons = why_unused(as_input + as_target > 0, {})
    return TokenLedger(
        num_tokens=size,
        num_windows=sum(len(reading.starts) for reading in readings),
        context_length=window_length(readings),
        as_input=as_input,
        as_target=as_target,
        context_sum=context_sum,
        longest_context=longest,
        reason=reason,
        reasons=reasons,
    )


def window_length(readings: Sequence[EpochRecord]) -> int:
    """Return T of the longest row: a model that shifts predicts one token less."""
    return max(each.row_length for each in readings) - (not readings[0].is_pair)


def count_passes(ranks: Sequence[Sequence[EpochRecord]]) -> None:
    """Number the passes over the stream that an endless loader has begun, by row.

    `ranks[r][e]` are readings that `max_batches` has ended, anywhere. When a row comes
    again, the ranks have begun another pass, unless more rows are missing from this
    one than can be: its last step may be dropped, and another one under way.
    """
    every = [reading for readings in ranks for reading in readings]
    if not any(reading.is_cut for reading in every):
        return
    known = set().union(*(r.order[r.rows.first >= 0].tolist() for r in every))
    most_missing = 2 * max(reading.batch_size for reading in every) * len(ranks)
    seen: set[int] = set()
    number = 0
    for readings in zip(*ranks, strict=True):  # of one epoch
        if not readings[0].goes_on:
            seen, number = set(), 0
        for reading in readings:
            reading.passes = np.zeros(len(reading.order), dtype=np.int64)
        for batch in range(max(reading.num_batches for reading in readings)):
            of_others: set[int] = set()  # in the same step, which ends no pass
            for reading in readings:
                begin, end = np.searchsorted(reading.rows.batch, [batch, batch + 1])
                keys = reading.order[begin:end].tolist()
                for row, key in enumerate(keys, begin):
                    comes_again = key in seen and key not in of_others
                    if comes_again and len(known) - len(seen) < most_missing:
                        seen, number = set(), number + 1
                    seen |= {key} & known
                    reading.passes[row] = number
                of_others.update(keys)
