"""Reading a loader of somebody else: what one rank gets in one epoch."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Annotated, Any, NamedTuple

import numpy as np

from course_lib.auditing_loaders.batch_rows import NO_ID, BatchRows, read_batch
from course_lib.auditing_loaders.placed_rows import PlacedRows, move_right, place_rows
from course_lib.auditing_loaders.telling_ids import TellingIds
from course_lib.foundation.arguments import AtLeast, as_integers, check_integer, checked
from course_lib.foundation.ledger import TokenLedger, why_unused
from course_lib.foundation.progress import progress_bar

GIVEN = ("epoch", "rank", "world_size", "document_starts")
SPARE_ROWS = 1_000  # that an epoch may have beyond one for each token
END = object()


class LoaderError(RuntimeError):
    """An error that the loader itself has raised."""


@dataclass(frozen=True)
class Documents:
    """Where documents lie in the stream; without lengths, it is a single one."""

    starts: np.ndarray
    are_known: bool

    def number_of(self, positions: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.starts, positions, side="right")

    def is_edge(self, before: np.ndarray, here: np.ndarray) -> np.ndarray:
        """Whether a step leaves a document at its end or enters one at its start."""
        return np.isin(here, self.starts) | np.isin(before + 1, self.starts)


@checked
def make_stream(
    num_tokens: Annotated[int, AtLeast(2, 2**30)],
    lengths: object,
    vocab_size: object,
    tokenizer: object,
) -> tuple[TellingIds, Documents, list[str] | None]:
    """Return the ids to hand out, where documents start, and texts if asked for."""
    texts = None
    if tokenizer is not None:
        if lengths is not None or vocab_size is not None:
            raise ValueError(
                "document_lengths and vocab_size must be left out where a tokenizer "
                "makes the ids"
            )
        stream, texts, lengths = TellingIds.of_texts(tokenizer, num_tokens)
    elif lengths is not None:
        lengths = as_integers("document_lengths", lengths)
        if lengths.ndim != 1 or not lengths.size:
            shape = f"got shape {lengths.shape}"
            raise ValueError(f"document_lengths must be one or more, in a row, {shape}")
        check_integer("document_lengths", lengths.min(), minimum=1)
        num_tokens = int(lengths.sum())
    if tokenizer is None:
        if vocab_size is None:
            stream = TellingIds.of_positions(num_tokens)
        else:
            stream = TellingIds.below(vocab_size, num_tokens)
    are_known = lengths is not None
    lengths = np.asarray([len(stream)] if lengths is None else lengths, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return stream, Documents(starts, are_known), texts


@dataclass
class Epoch:
    """What one rank reads in one epoch, or in a part of it."""

    num_tokens: int
    #: a number for each row, which two rows share only if they hold the same tokens
    windows: list[np.ndarray] = field(default_factory=list)
    firsts: list[np.ndarray] = field(default_factory=list)  #: first position of a row
    lasts: list[np.ndarray] = field(default_factory=list)  #: its last target
    starts: list[np.ndarray] = field(default_factory=list)  #: of each window
    row_length: int = 0  #: of the longest row
    num_bytes: int = 0  #: of the largest batch
    num_blocks: int = 0  #: of memory, in which inputs and labels lie
    errors: Counter = field(default_factory=Counter)  #: rows by their `ahead`
    num_untold: int = 0  #: labels whose place is not told, as rows are too short
    is_pair: bool = False
    is_cut: bool = False  #: `max_batches` ended it
    goes_on: bool = False  #: it begins where `max_batches` ended the epoch before
    views_stream: bool = False  #: a batch lies in the memory of the ids
    turns: np.ndarray | int = 0  #: by row, how often the stream was read before

    def __post_init__(self) -> None:
        self.as_input, self.as_target, self.context_sum, self.longest = (
            np.zeros(self.num_tokens, dtype=np.int64) for _ in range(4)
        )
        self.shortest = np.full(self.num_tokens, np.iinfo(np.int64).max)
        self.handed_out = np.zeros(self.num_tokens, dtype=bool)  #: in any part of a row

    def add(self, rows: PlacedRows, batch: BatchRows, documents: Documents) -> None:
        """Count what a batch does."""
        begins = rows.windows_begin(documents.starts)
        self._count_uses(rows, batch, begins)
        length = batch.inputs.shape[1] - batch.is_pair
        self.starts.append(rows.tokens[:, :length][begins[:, :length]])
        self.lasts.append(np.where(rows.scored, rows.labels, -1).max(axis=1))
        told = (rows.tokens >= 0).argmax(axis=1)[:, None]
        self.firsts.append(np.take_along_axis(rows.tokens, told, axis=1)[:, 0])
        # Random odd weights, the same in all processes. The sum wraps around.
        weights = np.random.default_rng(0).integers(2**62, size=rows.tokens.shape[1])
        ids = (rows.tokens + 1).astype(np.uint64)
        self.windows.append(ids @ (2 * weights.astype(np.uint64) + np.uint64(1)))
        self.row_length = max(self.row_length, length)
        num_bytes = sum(block.nbytes for block in batch.memory)
        apart = len(batch.memory) == 2 and not np.may_share_memory(*batch.memory)
        self.num_blocks = max(self.num_blocks, min(len(batch.memory), 1 + apart))
        self.num_bytes = max(self.num_bytes, num_bytes)
        known = rows.ahead[~np.isnan(rows.ahead)]
        self.errors.update(known.astype(int).tolist())
        self.is_pair = batch.is_pair

    def _count_uses(
        self, rows: PlacedRows, batch: BatchRows, begins: np.ndarray
    ) -> None:
        places = np.arange(rows.tokens.shape[1])
        begun = np.maximum.accumulate(np.where(begins, places, -1), axis=1)
        # A target may still belong to the window before: where windows share a row.
        follows = rows.labels == rows.before + 1
        begun = np.where(follows & batch.is_pair, move_right(begun, -1), begun)
        context = np.where(begun < 0, 0, places - begun)
        is_target = rows.scored & (rows.labels >= 0)
        is_target[:, 0] = False  # no model predicts the first token of a row
        self.num_untold += np.count_nonzero(rows.untold[:, 1:])
        targets, contexts = rows.labels[is_target], context[is_target]
        np.add.at(self.as_target, targets, 1)
        np.add.at(self.context_sum, targets, contexts)
        np.minimum.at(self.shortest, targets, contexts)
        np.maximum.at(self.longest, targets, contexts)
        is_input = rows.tokens >= 0
        self.handed_out[rows.tokens[is_input]] = True
        if batch.is_pair:
            is_input &= batch.inputs != NO_ID
        else:  # the last token of a window predicts nothing
            is_input[:, :-1] &= is_input[:, 1:] & ~begins[:, 1:]
            is_input[:, -1] = False
        np.add.at(self.as_input, rows.tokens[is_input], 1)

    @property
    def num_batches(self) -> int:
        return len(self.windows)

    @property
    def commonest_error(self) -> int | None:
        """By how much labels are too far ahead, in most rows."""
        return self.errors.most_common(1)[0][0] if self.errors else None

    @property
    def batch_size(self) -> int:
        return max(map(len, self.windows))

    @cached_property
    def order(self) -> np.ndarray:
        """The windows of all rows, one after another."""
        return np.concatenate([np.zeros(0, dtype=np.uint64), *self.windows])

    def check_that_ids_are_told(self, call: Call, made: Made, name: str) -> None:
        """Raise ValueError if there is no batch, or no position is told."""
        if not len(self.order):
            raise ValueError(f"{made.words} must yield batches, got none{name}")
        if not any(map(len, self.starts)):
            neighbors = call.stream.neighbors
            words = f"rows of {self.row_length} are too short, {neighbors} are needed"
            if self.row_length >= neighbors:
                words = "if ids must be small, say how small with vocab_size"
            raise ValueError(
                f"{made.words} must yield ids that it was given, but no place is told "
                f"by those that came{name}: {words}"
            )

    @property
    def order_in_turns(self) -> np.ndarray:
        """The windows of all rows, which are others when the stream is read again."""
        return self.order + np.uint64(0x9E3779B97F4A7C15) * np.uint64(self.turns)

    def place_of(self, row: int) -> str:
        """Say where a row is that is known by its number in the order."""
        ends = np.cumsum([len(rows) for rows in self.windows])
        batch = int(np.searchsorted(ends, row, side="right"))
        return f"row {row - (ends[batch] - len(self.windows[batch]))} of batch {batch}"

    @cached_property
    def is_told(self) -> np.ndarray:
        """Which rows tell a place. Those of padding, which are all equal, do not."""
        return np.concatenate(self.firsts) >= 0

    @cached_property
    def _places(self) -> np.ndarray:
        """The place of each row in its batch."""
        return np.concatenate([np.arange(len(rows)) for rows in self.windows])

    def first_of(self, row: int) -> int:
        """The first position of a row that is known by its number in the order."""
        return int(np.concatenate(self.firsts)[row])

    def tracks(self) -> list[tuple[int, int]]:
        """The first and the last position that each place of the batch reads."""
        places, firsts = self._places, np.concatenate(self.firsts)
        lasts = np.concatenate(self.lasts)
        every = [(places == place) & self.is_told for place in range(self.batch_size)]
        every = [at for at in every if at.any()]
        return [(int(firsts[at].min()), int(lasts[at].max())) for at in every]

    @property
    def goes_forward(self) -> bool:
        """Whether no place of the batch ever goes back in the stream.

        So does the order of the file, and so do parallel tracks.
        """
        places = self._places[self.is_told]
        by_place = np.argsort(places, kind="stable")
        steps = np.diff(np.concatenate(self.firsts)[self.is_told][by_place])
        return bool((steps[np.diff(places[by_place]) == 0] >= 0).all())


def count_turns(ranks: Sequence[Sequence[Epoch]]) -> None:
    """Set the turns of epochs that `max_batches` ended, wherever the loader's own end.

    When a window comes again, the ranks have begun another turn, unless two batches of
    each of them or more are missing from the one before.
    """
    every = [epoch for epochs in ranks for epoch in epochs]
    if not any(epoch.is_cut for epoch in every):
        return
    told = [epoch.order[epoch.is_told].tolist() for epoch in every]
    known = set().union(*told)
    most_missing = 2 * max(epoch.batch_size for epoch in every) * len(ranks)
    seen, turn = set(), 0
    for epochs in zip(*ranks, strict=True):
        if not epochs[0].goes_on:
            seen, turn = set(), 0
        turns = [[] for _ in ranks]
        for step in zip_longest(*(epoch.windows for epoch in epochs), fillvalue=()):
            of_others = set()  # in the same step, which ends no turn
            for rank, windows in enumerate(step):
                for window in map(int, windows):
                    is_again = window in seen and window not in of_others
                    if is_again and len(known) - len(seen) < most_missing:
                        seen, turn = set(), turn + 1
                    seen |= {window} & known
                    turns[rank].append(turn)
                of_others.update(map(int, windows))
        for epoch, own in zip(epochs, turns, strict=True):
            epoch.turns = np.array(own)


def ledger_of(epochs: Iterable[Epoch]) -> TokenLedger:
    """Sum up what the epochs of all ranks do with each token."""
    epochs = list(epochs)

    def total(name: str, combine: Any = np.sum) -> np.ndarray:
        return combine([getattr(epoch, name) for epoch in epochs], axis=0)

    as_input, as_target = total("as_input"), total("as_target")
    reason, reasons = why_unused(as_input + as_target > 0, {})
    first = epochs[0]
    return TokenLedger(
        num_tokens=first.num_tokens,
        num_windows=sum(map(len, (s for epoch in epochs for s in epoch.starts))),
        context_length=first.row_length - (not first.is_pair),
        as_input=as_input,
        as_target=as_target,
        context_sum=total("context_sum"),
        shortest_context=np.where(as_target > 0, total("shortest", np.min), 0),
        longest_context=total("longest", np.max),
        reason=reason,
        reasons=reasons,
    )


class Made(NamedTuple):
    """What a call of `make_loader` returned, the call in words, and its ids."""

    loader: Iterable
    words: str
    ids: object


@dataclass(frozen=True)
class Call:
    """How to make the loader of one rank, again and again."""

    make_loader: Callable
    stream: TellingIds
    documents: Documents
    texts: list[str] | None
    separator_ids: np.ndarray
    max_batches: int | None
    progress: bool | None
    rank: int = 0
    world_size: int = 1

    @property
    def names(self) -> list[str]:
        """The arguments that `make_loader` names, apart from those of a partial."""
        try:
            parameters = list(inspect.signature(self.make_loader).parameters.values())
        except (TypeError, ValueError):  # a function that is not written in Python
            return []
        kinds = (
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.KEYWORD_ONLY,
        )
        free = {each.name for each in parameters[1:] if each.kind in kinds}
        free -= set(getattr(self.make_loader, "keywords", ()))
        return [name for name in GIVEN if name in free]

    def __call__(self, epoch: int = 0) -> Made:
        values = {
            "epoch": epoch,
            "rank": self.rank,
            "world_size": self.world_size,
            "document_starts": self.documents.starts.copy(),
        }
        given = {name: values[name] for name in self.names}
        shown = [f"{name}={given[name]}" for name in GIVEN[:3] if name in given]
        words = f"make_loader({', '.join(['ids', *shown])})"
        # Each call gets ids of its own, because a loader may write into them.
        ids = self.stream.ids.copy() if self.texts is None else list(self.texts)
        loader = guarded(words, self.make_loader, ids, **given)
        if not isinstance(loader, Iterable) and not hasattr(loader, "__getitem__"):
            kind = type(loader).__name__
            raise TypeError(f"{words} must return an iterable of batches, got {kind}")
        return Made(loader, words, ids)

    def begins_anew(self, made: Made, is_cut: bool = False) -> bool:
        """Whether the next epoch needs another call, not only another iteration.

        An endless iterator whose epoch was cut goes on by itself.
        """
        ends = isinstance(made.loader, Iterator) and not is_cut
        return "epoch" in self.names or ends

    def can_resume(self, made: Made) -> bool:
        methods = ("state_dict", "load_state_dict")
        return all(callable(getattr(made.loader, name, None)) for name in methods)


def read_epoch(
    call: Call,
    made: Made,
    *,
    look: Callable[[PlacedRows, BatchRows, str], None] | None = None,
    batches: Iterator | None = None,
    name: str = "",
) -> Epoch:
    """Read what is left of a loader.

    Args:
        call: what made the loader.
        made: the loader.
        look: is shown each batch, with words that say which batch it is.
        batches: an iterator that has begun already.
        name: of the epoch, to be said with each batch.
    """
    seen = Epoch(len(call.stream))
    batches = guarded(made.words, iter, made.loader) if batches is None else batches
    where = f" of rank {call.rank}" if call.world_size > 1 else ""
    num_rows = 0
    with progress_bar(unit="batch", progress=call.progress) as bar:
        while seen.num_batches != call.max_batches:
            at = f"batch {seen.num_batches}{where}{name}"
            raw = guarded(f"{made.words}, {at},", next, batches, END)
            if raw is END:
                return seen
            try:
                batch = read_batch(raw)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{at} of {made.words} {error}") from None
            rows = place_rows(batch, call.stream, call.separator_ids)
            seen.add(rows, batch, call.documents)
            if look is not None:
                look(rows, batch, at)
            for block in batch.memory if call.texts is None else ():
                seen.views_stream |= np.may_share_memory(block, made.ids)
            bar.update()
            num_rows += len(rows.tokens)
            if max(num_rows, seen.num_batches) > len(call.stream) + SPARE_ROWS:
                raise ValueError(
                    f"{made.words} must end, but after {seen.num_batches:,} batches of "
                    f"a stream of {len(call.stream):,} tokens it went on: if it is "
                    "endless, say with max_batches what an epoch is"
                )
    seen.is_cut = True
    return seen


def guarded(words: str, function: Callable, *arguments: Any, **options: Any) -> Any:
    """Call a function of somebody else. If it raises, LoaderError says which one."""
    try:
        return function(*arguments, **options)
    except (Exception, SystemExit) as error:  # sys.exit(0) would pass for clean
        raise LoaderError(f"{words} raised {type(error).__name__}: {error}") from error
