"""Rows of a batch whose ids have told their positions, and what happens inside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from course_lib.auditing_loaders.batch_rows import NO_ID, BatchRows
from course_lib.auditing_loaders.telling_ids import TellingIds


@dataclass(frozen=True)
class PlacedRows:
    """A batch as positions in the stream, shape (B, M), -1 where none is told.

    As in `BatchRows`, the label at a place is predicted from the tokens before it.
    """

    tokens: np.ndarray
    labels: np.ndarray
    scored: np.ndarray  #: the loss counts the label, bool
    dropped: np.ndarray  #: the loader took the label out of the loss
    filler: np.ndarray  #: the token is not of the stream, or a mask calls it padding
    scored_filler: np.ndarray  #: the label is such a token, and scored
    untold: np.ndarray  #: the label is scored, and of the stream, but tells no place
    begins: np.ndarray  #: positions or masks say that a document begins
    tells_apart: bool  #: there are positions or a mask, so a dropped label says nothing
    ahead: np.ndarray  #: (B,): by how much too far ahead the labels are, NaN if unknown

    @property
    def shifted_wrongly(self) -> np.ndarray:
        """Which rows have labels too far ahead, or not far enough, shape (B,)."""
        return ~np.isnan(self.ahead) & (self.ahead != 0)

    @cached_property
    def last(self) -> np.ndarray:
        """The nearest place before with a told token, or -1."""
        places = np.where(self.tokens >= 0, np.arange(self.tokens.shape[1]), -1)
        return move_right(np.maximum.accumulate(places, axis=1), -1)

    @cached_property
    def before(self) -> np.ndarray:
        """The position of the told token before, or -1."""
        before = np.take_along_axis(self.tokens, self.last.clip(0), axis=1)
        return np.where(self.last >= 0, before, -1)

    @cached_property
    def announced(self) -> np.ndarray:
        """Whether something has told the documents apart since the told token before.

        It is a position that begins again, or a mask. Where there is neither, it is a
        label that is dropped: with them, all later tokens would still see those before.
        """
        told = self.begins if self.tells_apart else self.begins | self.dropped
        return self._since_last(told)

    @cached_property
    def separated(self) -> np.ndarray:
        """Whether padding or a separator lies between a token and the one before."""
        return self._since_last(move_right(self.filler, False))

    @cached_property
    def jumps(self) -> np.ndarray:
        """Whether a token is not the next one after the told token before."""
        gap = np.arange(self.tokens.shape[1]) - self.last
        is_next = self.tokens == self.before + 1
        # Ids that tell nothing may stand between, each for a token of the stream.
        is_next |= (self.tokens == self.before + gap) & ~self.separated
        return (self.tokens >= 0) & (self.before >= 0) & ~is_next

    @cached_property
    def misplaced(self) -> np.ndarray:
        """Whether a label is neither the token at its place nor what follows the one
        before, as where windows stand side by side."""
        known = self.scored & (self.labels >= 0) & (self.tokens >= 0)
        known &= self.labels != self.before + 1
        known &= (self.last >= 0) & ~self.shifted_wrongly[:, None]
        return known & (self.labels != self.tokens)

    def windows_begin(self, document_starts: np.ndarray) -> np.ndarray:
        """Say where windows begin: with rows, after jumps, and with announced
        documents."""
        starts = self.begins | (self.dropped & np.isin(self.tokens, document_starts))
        follows = (self.last >= 0) & (self.tokens == self.before + 1)
        follows &= ~self.separated & ~starts
        return (self.tokens >= 0) & ~follows

    def _since_last(self, flags: np.ndarray) -> np.ndarray:
        """Whether a flag is set at a place after `last`, up to this one."""
        counts = np.cumsum(flags, axis=1)
        until_last = np.take_along_axis(counts, self.last.clip(0), axis=1)
        return counts > np.where(self.last >= 0, until_last, 0)


def place_rows(
    batch: BatchRows, stream: TellingIds, separator_ids: object = ()
) -> PlacedRows:
    """Find the positions of all tokens and labels of a batch.

    Args:
        batch: the rows, as `read_batch` returns them.
        stream: the ids that the loader was given.
        separator_ids: ids of the loader's own, which may be scored.
    """
    tokens = np.where(batch.is_kept, stream.positions(batch.inputs), -1)
    is_ours = stream.is_handed_out(batch.inputs)
    filler = ~batch.is_kept | ~is_ours
    scored, labels, scored_filler = batch.scored, tokens, np.zeros_like(filler)
    right = np.where((before := move_right(tokens, -1)) >= 0, before + 1, -1)
    right = right if batch.is_pair else tokens
    if batch.labels is not None:
        labels = stream.positions(batch.labels)
        for error in (0, 1, -1):  # beside dropped labels, neighbors are missing
            guess = (right + error) % len(stream)
            fits = (labels < 0) & (right >= 0) & (stream.ids[guess] == batch.labels)
            labels = np.where(fits, guess, labels)
        # The last label may be the first input again: rolled, instead of shifted.
        rolled = (labels[:, -1] < 0) & (batch.labels[:, -1] == batch.inputs[:, 0])
        rolled &= batch.is_pair
        labels[rolled, -1] = tokens[rolled, 0]
        is_ours = stream.is_handed_out(batch.labels)
        known = is_ours | np.isin(batch.labels, separator_ids)
        scored_filler = scored & ~(known & batch.judged)
    ahead = most_ahead(labels - right, scored & (labels >= 0) & (right >= 0))
    if batch.is_pair:  # where a row has no further input, its target is the token
        is_end = (batch.inputs == NO_ID) & scored & (ahead == 0)[:, None]
        tokens = np.where(is_end, labels, tokens)
    return PlacedRows(
        tokens=tokens,
        labels=labels,
        scored=scored,
        dropped=batch.is_kept & ~scored,
        filler=filler,
        scored_filler=scored_filler,
        untold=scored & is_ours & batch.judged & (labels < 0),
        begins=batch.begins,
        tells_apart=batch.tells_apart,
        ahead=ahead,
    )


def most_ahead(ahead: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return by how much most labels of each row are too far ahead, shape (B,).

    Args:
        ahead: position of the label, minus the position that it should have, (B, M).
        known: where both are known, bool, (B, M).

    The result is 0 if no error is that of more than half of the row's labels, and NaN
    if no label is known.
    """
    most = np.where(known.any(axis=1), 0.0, np.nan)
    for row in np.flatnonzero((known & (ahead != 0)).any(axis=1)):
        errors, times = np.unique(ahead[row, known[row]], return_counts=True)
        error = errors[times.argmax()]
        # A row that wraps around the end of the stream is no shift by a whole stream.
        if 2 * times.max() > times.sum() and abs(error) <= ahead.shape[1]:
            most[row] = error
    return most


def move_right(rows: np.ndarray, fill: object) -> np.ndarray:
    """Move each row one place to the right, and fill the first place."""
    moved = np.full_like(rows, fill)
    moved[:, 1:] = rows[:, :-1]
    return moved
