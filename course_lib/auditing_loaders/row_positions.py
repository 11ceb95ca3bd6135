"""Rows of a batch as positions in the stream, and what happens inside them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from course_lib.auditing_loaders.batch_rows import NO_ID, BatchRows
from course_lib.auditing_loaders.coded_stream import CodedStream


class RowPositions:
    """A batch as positions in the stream, of shape (B, M), -1 where none is identified.

    As in `BatchRows`, the label at a place is predicted from the tokens before it.

    Args:
        batch: the rows, as `read_batch` returns them.
        stream: the ids that the loader was given.
        separator_ids: ids of the loader's own, which may be scored.
        document_starts: positions at which documents begin.
    """

    #: (B, M): position of the token, and of the label
    tokens: np.ndarray
    labels: np.ndarray
    #: (B,): by how much too far ahead most labels of a row are, NaN if unknown
    ahead: np.ndarray

    def __init__(
        self,
        batch: BatchRows,
        stream: CodedStream,
        separator_ids: object = (),
        document_starts: object = (0,),
    ):
        self.batch, self.document_starts = batch, np.asarray(document_starts)
        self.separator_ids, self.stream = np.asarray(separator_ids), stream
        self.tokens = np.where(batch.is_kept, stream.positions(batch.inputs), -1)
        right = self.tokens  # what the label should be
        if batch.is_pair:
            before = move_right(self.tokens, -1)
            right = np.where(before >= 0, before + 1, -1)
        self.labels, of_stream = self.tokens, stream.is_handed_out(batch.inputs)
        #: the token is not of the stream, or a mask calls it padding
        self.is_filler = ~batch.is_kept | ~of_stream
        if batch.labels is not None:
            self.labels = stream.positions(batch.labels)
            of_stream = stream.is_handed_out(batch.labels)
        if batch.labels is not None and stream.neighbors > 1:
            self._tell_labels(stream, right)
        scored, known = batch.scored, (self.labels >= 0) & (right >= 0)
        #: the label is padding, and scored
        self.scores_filler = np.zeros_like(scored)
        if batch.labels is not None:
            own = of_stream | np.isin(batch.labels, separator_ids)
            judged = batch.judged | self.after_padding
            self.scores_filler = scored & ~(own & judged)
        #: the label is scored, and of the stream, but its place is not identified
        self.unidentified = scored & of_stream & batch.judged & (self.labels < 0)
        self.ahead = most_ahead(self.labels - right, scored & known)
        if batch.is_pair:  # where a row has no further input, its target is the token
            is_end = (batch.inputs == NO_ID) & scored & (self.ahead == 0)[:, None]
            self.tokens = np.where(is_end, self.labels, self.tokens)

    def _tell_labels(self, stream: CodedStream, right: np.ndarray) -> None:
        """Tell labels whose neighbors are missing, beside dropped ones, by the row."""
        batch = self.batch
        for error in (0, 1, -1):
            guess = (right + error) % len(stream)
            fits = (
                (self.labels < 0) & (right >= 0) & (stream.ids[guess] == batch.labels)
            )
            self.labels = np.where(fits, guess, self.labels)
        # The last label may be the first input again: rolled, instead of shifted.
        rolled = (self.labels[:, -1] < 0) & (batch.labels[:, -1] == batch.inputs[:, 0])
        rolled &= batch.is_pair
        self.labels[rolled, -1] = self.tokens[rolled, 0]

    @property
    def scored(self) -> np.ndarray:
        """Where the loss counts the label."""
        return self.batch.scored

    @cached_property
    def dropped(self) -> np.ndarray:
        """Where the loader took the label out of the loss."""
        return self.batch.is_kept & ~self.batch.scored

    @cached_property
    def follows_padding(self) -> np.ndarray:
        """Where the text of a row begins after padding."""
        is_text = self.batch.is_kept & ~self.is_filler
        is_first = is_text & (np.cumsum(is_text, axis=1) == 1)
        is_first[:, 0] = False  # no padding stands before
        return is_first

    @cached_property
    def after_padding(self) -> np.ndarray:
        """Where the text of a row begins after padding that is hidden from it. A model
        can't know that token, but it costs the others nothing."""
        before_is_kept = move_right(self.batch.is_kept, True)
        return self.follows_padding & (self.batch.hides_padding | ~before_is_kept)

    @property
    def shifted_wrongly(self) -> np.ndarray:
        """Which rows have labels too far ahead, or not far enough, shape (B,)."""
        return ~np.isnan(self.ahead) & (self.ahead != 0)

    # Two tokens of a row that follow one another, with something in between or not

    @cached_property
    def last(self) -> np.ndarray:
        """The nearest place before with an identified token, or -1."""
        places = np.where(self.tokens >= 0, np.arange(self.tokens.shape[1]), -1)
        return move_right(np.maximum.accumulate(places, axis=1), -1)

    @cached_property
    def before(self) -> np.ndarray:
        """The position of the identified token before, or -1."""
        before = np.take_along_axis(self.tokens, self.last.clip(0), axis=1)
        return np.where(self.last >= 0, before, -1)

    @cached_property
    def announced(self) -> np.ndarray:
        """Whether something announces that a document begins, or the text jumps, since
        the identified token before: a position or a mask. Where there is neither, it is
        a label that is dropped."""
        batch = self.batch
        begins = batch.begins & ~self.moves_on
        begins = begins if batch.tells_apart else begins | self.dropped
        # If the token after a jump is the label of the one right before, it is
        # predicted from the wrong place all the same.
        is_next = self.last == np.arange(self.tokens.shape[1]) - 1
        is_wrong = is_next & self.scored & (self.labels == self.tokens)
        return self._since_last(begins) | (self.moves_on & ~is_wrong)

    @cached_property
    def hidden(self) -> np.ndarray:
        """Whether attention is said to end at the token or since the identified one
        before. Where a mask, numbers or ends of documents come along, only these say
        so: what positions or dropped labels announce would still be seen."""
        hides = self.batch.hides_before
        if not self.batch.tells_apart:
            hides = hides | self.dropped
        return self._since_last(hides)

    @cached_property
    def moves_on(self) -> np.ndarray:
        """Whether positions jump just as the tokens do, as where a rank gets two parts
        of a long window."""
        if self.batch.positions is None:
            return np.zeros(self.tokens.shape, dtype=bool)
        positions = self.batch.positions
        before = np.take_along_axis(positions, self.last.clip(0), axis=1)
        step = self.tokens - self.before
        known = (self.tokens >= 0) & (self.before >= 0) & (positions >= 0)
        return known & (step != 1) & (step == positions - before)

    @cached_property
    def separated(self) -> np.ndarray:
        """Whether padding or a separator lies between a token and the one before."""
        return self._since_last(move_right(self.is_filler, False))

    def _since_last(self, flags: np.ndarray) -> np.ndarray:
        """Whether a flag is set at a place after `last`, up to this one."""
        if not flags.any():
            return flags
        counts = np.cumsum(flags, axis=1)
        until_last = np.take_along_axis(counts, self.last.clip(0), axis=1)
        return counts > np.where(self.last >= 0, until_last, 0)

    @cached_property
    def jumps(self) -> np.ndarray:
        """Whether a token is not the next one after the identified token before."""
        gap = np.arange(self.tokens.shape[1]) - self.last
        is_next = self.tokens == self.before + 1
        # Ids that tell nothing may stand between, each for a token of the stream.
        is_next |= (self.tokens == self.before + gap) & ~self.separated
        return (self.tokens >= 0) & (self.before >= 0) & ~is_next

    @cached_property
    def jumps_unannounced(self) -> np.ndarray:
        return self.jumps & ~self.announced & ~self.separated

    @cached_property
    def misplaced(self) -> np.ndarray:
        """Whether a label is neither the token at its place nor what follows the one
        before, as where windows stand side by side."""
        known = self.scored & (self.labels >= 0) & (self.tokens >= 0)
        known &= self.labels != self.before + 1
        known &= (self.last >= 0) & ~self.shifted_wrongly[:, None]
        return known & (self.labels != self.tokens)

    @cached_property
    def ends(self) -> np.ndarray:
        """Where a separator follows a token of the stream."""
        batch, ids = self.batch, self.separator_ids
        is_separator = np.isin(batch.inputs, ids)
        if batch.labels is not None:
            is_separator |= np.isin(batch.labels, ids)
        return is_separator & move_right(self.tokens >= 0, False)

    @cached_property
    def masks_out(self) -> np.ndarray:
        """Where a scored label of the stream stands at an input that was taken out of
        it, as in masked language modeling."""
        scored = self.of_stream_labels
        own = self.batch.inputs
        if self.batch.is_pair:  # a target stands at the input before
            own = move_right(own, NO_ID)
        return scored & (own != NO_ID) & ~self.stream.is_handed_out(own)

    @property
    def of_stream_labels(self) -> np.ndarray:
        """Where the loss counts a label of the stream."""
        if self.batch.labels is None:
            return np.zeros_like(self.scored)
        return self.scored & self.stream.is_handed_out(self.batch.labels)

    # What is kept of each place

    @property
    def separators(self) -> np.ndarray:
        """The separators among the inputs, -1 elsewhere, shape (B, M)."""
        is_separator = np.isin(self.batch.inputs, self.separator_ids)
        is_separator &= self.batch.is_kept
        return np.where(is_separator, self.batch.inputs, -1)

    @cached_property
    def opens(self) -> np.ndarray:
        """Where windows begin: with rows, after jumps, and with announced documents."""
        is_start = np.isin(self.tokens, self.document_starts)
        starts = self.batch.begins | (self.dropped & is_start)
        follows = (self.last >= 0) & (self.tokens == self.before + 1)
        return (self.tokens >= 0) & ~(follows & ~self.separated & ~starts)

    @cached_property
    def begins_window(self) -> np.ndarray:
        """Where windows begin that predict something: not at the end of a pair."""
        begins = self.opens.copy()
        begins[:, -1] &= not self.batch.is_pair
        return begins

    @cached_property
    def is_target(self) -> np.ndarray:
        """Which labels are predicted. No model predicts the first token of a row."""
        is_target = self.scored & (self.labels >= 0)
        is_target[:, 0] = False
        return is_target

    @cached_property
    def in_window(self) -> np.ndarray:
        """Which targets continue a window: what is wrong inside a row tells nothing."""
        jumped = np.logical_or.accumulate(self.jumps_unannounced, axis=1)
        # nothing predicts the first token of a document that sees nothing before it
        first = self.batch.begins & (self.labels == self.tokens)
        return self.is_target & ~self.misplaced & ~self.scores_filler & ~jumped & ~first

    @cached_property
    def is_input(self) -> np.ndarray:
        is_input = self.tokens >= 0
        if self.batch.is_pair:
            return is_input & (self.batch.inputs != NO_ID)
        # the last token of a window predicts nothing
        is_input[:, :-1] &= is_input[:, 1:] & ~self.opens[:, 1:]
        is_input[:, -1] = False
        return is_input

    @cached_property
    def context(self) -> np.ndarray:
        """How many tokens of its window each label is predicted from."""
        places = np.arange(self.tokens.shape[1])
        begun = np.maximum.accumulate(np.where(self.opens, places, -1), axis=1)
        if self.batch.is_pair:
            # A target may still belong to the window before: where they share a row.
            follows = self.labels == self.before + 1
            begun = np.where(follows, move_right(begun, -1), begun)
        return np.where(begun < 0, 0, places - begun)

    # What is kept of each row

    @cached_property
    def first(self) -> np.ndarray:
        """The first identified position of each row, -1 where none is, shape (B,)."""
        place = (self.tokens >= 0).argmax(axis=1)
        return np.take_along_axis(self.tokens, place[:, None], axis=1)[:, 0]

    @cached_property
    def last_target(self) -> np.ndarray:
        """The highest target of each row, -1 where there is none, shape (B,)."""
        return np.where(self.scored, self.labels, -1).max(axis=1)

    @cached_property
    def num_targets(self) -> np.ndarray:
        """How many tokens of each row count in the loss, shape (B,)."""
        return self.batch.counted.sum(axis=1)

    @cached_property
    def padding_before(self) -> np.ndarray:
        """How many equal ids that aren't the stream's begin each row, shape (B,), where
        its tokens see them and no loss counts them."""
        places = np.arange(self.tokens.shape[1])
        has_text = (self.tokens >= 0).any(axis=1)
        first = (self.tokens >= 0).argmax(axis=1)
        same = self._is_idle & (self.batch.inputs == self.batch.inputs[:, :1])
        count = np.logical_and.accumulate(same, axis=1).sum(axis=1)
        between = (places >= count[:, None]) & (places <= first[:, None])
        is_hidden = (self.batch.hides_padding & between).any(axis=1)
        return np.where(has_text & ~is_hidden, np.minimum(count, first), 0)

    @cached_property
    def padding_after(self) -> np.ndarray:
        """How many equal ids that aren't the stream's end each row, shape (B,), where
        nothing hides them and no loss counts them."""
        places = np.arange(self.tokens.shape[1])
        exists = self.batch.inputs != NO_ID
        end = np.where(exists, places, -1).max(axis=1, keepdims=True)
        last = np.take_along_axis(self.batch.inputs, end.clip(0), axis=1)
        same = self._is_idle & (self.batch.inputs == last) | (places > end)
        count = np.logical_and.accumulate(same[:, ::-1], axis=1).sum(axis=1)
        count -= self.tokens.shape[1] - 1 - end[:, 0]
        begin = (end[:, 0] + 1 - count)[:, None] == places
        is_hidden = (self.batch.hides_padding & begin).any(axis=1)
        has_text = (self.tokens >= 0).any(axis=1)
        return np.where(has_text & ~is_hidden, count, 0)

    @property
    def _is_idle(self) -> np.ndarray:
        """Where an id stands that isn't the stream's, that a mask shows, and that no
        loss counts."""
        batch = self.batch
        is_other = ~self.stream.is_handed_out(batch.inputs) & (batch.inputs != NO_ID)
        return is_other & batch.is_kept & ~batch.counted

    # Numbers for each row, which two share only if they hold the same

    @cached_property
    def key(self) -> np.ndarray:
        """Of its inputs, shape (B,)."""
        return key_of(self.tokens[:, : self.tokens.shape[1] - self.batch.is_pair])

    @cached_property
    def labels_key(self) -> np.ndarray:
        """Of its labels, as far as the loss counts them."""
        if self.batch.labels is None:
            return key_of(np.where(self.scored, 0, -1))
        return key_of(np.where(self.scored, self.batch.labels, -1))

    @cached_property
    def positions_key(self) -> np.ndarray:
        """Of the positions of its tokens; 0 where none come along."""
        if self.batch.positions is None:
            return np.zeros(len(self.tokens), dtype=np.uint64)
        return key_of(np.where(self.tokens >= 0, self.batch.positions, -1))

    @cached_property
    def views_key(self) -> np.ndarray:
        """Of which ids are seen, and which see which, as masks, numbers and ends of
        documents say."""
        exists = self.batch.inputs != NO_ID
        key = key_of(np.where(exists, self.batch.is_kept, -1))
        for view in self.batch.views:
            key = key * FACTOR + key_of(view.pattern())
        return key


FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no bit is lost


def key_of(numbers: np.ndarray) -> np.ndarray:
    """A number for each row of numbers from -1 on, shape (B, M). What fills up rows at
    their end, -1, changes nothing."""
    powers = np.cumprod(np.full(numbers.shape[1], FACTOR))
    numbers = numbers.astype(np.int64) + 1
    return (numbers.astype(np.uint64) * powers).sum(axis=1)  # mod 2**64


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
