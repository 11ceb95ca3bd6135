"""Reading a loader of somebody else: what one rank gets in one epoch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import numpy as np

from course_lib.auditing_loaders.batch_rows import NO_ID, BatchRows, read_batch
from course_lib.auditing_loaders.coded_stream import CodedStream
from course_lib.auditing_loaders.epoch_record import EpochRecord
from course_lib.auditing_loaders.narrow_ids import restore_ids
from course_lib.auditing_loaders.row_positions import RowPositions
from course_lib.foundation import AtLeast, as_integers, check_integer, checked

GIVEN = ("epoch", "rank", "world_size", "document_starts")
SPARE_ROWS = 1_000  # that an epoch may have beyond one for each token
FEWEST_IDENTIFIED = 1 / 4  # of the tokens that are the stream's
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
) -> tuple[CodedStream, Documents, list[str] | None]:
    """Return the ids to hand out, where documents start, and texts if asked for."""
    texts = None
    if tokenizer is not None and vocab_size is not None:
        raise ValueError("vocab_size must be left out where a tokenizer makes the ids")
    if lengths is not None:
        lengths = as_integers("document_lengths", lengths)
        if lengths.ndim != 1 or not lengths.size:
            shape = f"got shape {lengths.shape}"
            raise ValueError(f"document_lengths must be one or more, in a row, {shape}")
        check_integer("document_lengths", lengths.min(), minimum=1)
        num_tokens = int(lengths.sum())
    if tokenizer is not None:
        stream, texts, lengths = CodedStream.of_texts(tokenizer, num_tokens, lengths)
    elif vocab_size is None:
        stream = CodedStream.of_positions(num_tokens)
    else:
        stream = CodedStream.below(vocab_size, num_tokens)
    are_known = lengths is not None
    lengths = np.asarray([len(stream)] if lengths is None else lengths, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return stream, Documents(starts, are_known), texts


class MadeLoader(NamedTuple):
    """What a call of `make_loader` returned, the call in words, and its ids."""

    loader: Iterable
    words: str
    ids: object


def named_by(make_loader: Callable) -> list[str]:
    """Which of `GIVEN` a function names, apart from the arguments of a partial."""
    try:
        parameters = list(inspect.signature(make_loader).parameters.values())
    except (TypeError, ValueError):  # a function that is not written in Python
        return []
    kinds = (
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    )
    free = {each.name for each in parameters[1:] if each.kind in kinds}
    free -= set(getattr(make_loader, "keywords", ()))
    return [name for name in GIVEN if name in free]


@dataclass(frozen=True)
class LoaderCall:
    """How to make the loader of one rank, again and again."""

    make_loader: Callable
    stream: CodedStream
    documents: Documents
    texts: list[str] | None
    separator_ids: np.ndarray | tuple = ()
    max_batches: int | None = None
    progress: bool | None = False
    rank: int = 0
    world_size: int = 1

    @property
    def names(self) -> list[str]:
        return named_by(self.make_loader)

    def __call__(self, epoch: int = 0) -> MadeLoader:
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
        return MadeLoader(loader, words, ids)

    def of_ranks(self) -> list[LoaderCall]:
        """The calls of all ranks."""
        return [replace(self, rank=rank) for rank in range(self.world_size)]

    def begins_anew(self, made: MadeLoader, is_cut: bool = False) -> bool:
        """Whether the next epoch needs another call, not only another iteration.

        An endless iterator whose epoch was cut goes on by itself.
        """
        ends = isinstance(made.loader, Iterator) and not is_cut
        return "epoch" in self.names or ends

    def length_of(self, made: MadeLoader) -> int | None:
        """What `len()` of the loader is, None if it has none."""
        try:
            return len(made.loader)
        except Exception:  # as of a DataLoader whose data set has no length
            return None

    def can_resume(self, made: MadeLoader) -> bool:
        methods = ("state_dict", "load_state_dict")
        return all(callable(getattr(made.loader, name, None)) for name in methods)


def read_epoch(
    call: LoaderCall,
    made: MadeLoader,
    *,
    look: Callable[[RowPositions, str], None] | None = None,
    batches: Iterator | None = None,
    epoch: int = 0,
) -> EpochRecord:
    """Read what is left of a loader.

    Args:
        call: what made the loader.
        made: the loader.
        look: is shown each batch while it lies in memory, with words that say which
            batch it is.
        batches: an iterator that has begun already.
        epoch: its number, which is said with each batch.
    """
    reading = EpochRecord(len(call.stream), epoch, call.rank)
    batches = guarded(made.words, iter, made.loader) if batches is None else batches
    whose = f" of rank {call.rank}" if call.world_size > 1 else ""
    whose += f" in epoch {epoch}" if epoch else ""
    starts = call.documents.starts
    with _bar(call.progress) as bar:
        while reading.num_batches != call.max_batches:
            at = f"batch {reading.num_batches}{whose}"
            raw = guarded(f"{made.words}, {at},", next, batches, END)
            if raw is END:
                return reading
            try:
                batch = read_batch(raw)
                if hides_the_text(batch, call.stream):
                    batch = read_batch(raw, masks_hide=True)
                batch = restore_ids(batch, call.stream)
                if not reading.num_batches:
                    check_that_time_is_second(batch, call.stream)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{at} of {made.words} {error}") from None
            rows = RowPositions(batch, call.stream, call.separator_ids, starts)
            reading.add(rows)
            if look is not None:
                look(rows, at)
            for block in batch.memory if call.texts is None else ():
                reading.views_stream |= np.may_share_memory(block, made.ids)
            if bar is not None:
                bar.update()
            most = max(len(reading.lengths), reading.num_batches)
            if most > len(call.stream) + SPARE_ROWS:
                raise ValueError(
                    f"{made.words} must end, but after {reading.num_batches:,} batches "
                    f"of a stream of {len(call.stream):,} tokens it went on: if it is "
                    "endless, say with max_batches what an epoch is"
                )
    reading.is_cut = True
    return reading


def _bar(progress: bool | None) -> AbstractContextManager:
    """Return a progress bar, or nothing if none is wanted, or none can be had."""
    if progress is not False:
        with suppress(ModuleNotFoundError):  # where the auditor is without the course
            from course_lib.foundation import progress_bar

            return progress_bar(unit="batch", progress=progress)
    return nullcontext()


def hides_the_text(batch: BatchRows, stream: CodedStream) -> bool:
    """Whether a mask must be the wrong way round: tokens run on where it hides them,
    and nowhere else."""
    if batch.is_kept.all():
        return False
    exists = batch.inputs != NO_ID
    positions = stream.positions(batch.inputs)
    runs_on = (positions[:, :-1] >= 0) & (np.diff(positions) == 1)
    shown = batch.is_kept[:, :-1] & batch.is_kept[:, 1:]
    hidden = (exists & ~batch.is_kept)[:, :-1] & (exists & ~batch.is_kept)[:, 1:]
    return bool((runs_on & hidden).any() and not (runs_on & shown).any())


def check_that_time_is_second(batch: BatchRows, stream: CodedStream) -> None:
    """Refuse a pair of shape (T, B), whose columns are what its rows should be."""
    inputs = batch.inputs[:, :-1] if batch.is_pair else batch.inputs
    if min(inputs.shape) < 2:
        return
    down, across = (
        np.count_nonzero(np.diff(positions) == 1) / np.diff(positions).size
        for positions in (stream.positions(inputs.T), stream.positions(inputs))
    )
    if down > 0.9 and across < 0.1:  # of a table, one is nearly 1 and the other 0
        raise ValueError(
            "comes with time first: make_loader could return ((x.T, y.T) for x, y in "
            "loader)"
        )


def check_that_ids_are_identified(
    reading: EpochRecord, call: LoaderCall, made: MadeLoader
) -> None:
    """Raise ValueError if there is no batch, or hardly any position is identified."""
    name = f" in epoch {reading.epoch}" if reading.epoch else ""
    if not reading.num_batches:
        raise ValueError(f"{made.words} must yield batches, got none{name}")
    identified = np.count_nonzero(reading.places.tokens >= 0)
    if identified and identified >= FEWEST_IDENTIFIED * reading.of_stream:
        return
    neighbors = call.stream.neighbors
    if reading.row_length < neighbors:
        words = f"rows of {reading.row_length} are too short, {neighbors} are needed"
    elif neighbors > 1:
        words = (
            f"small ids need {neighbors} neighbors that stand side by side; where rows "
            "don't keep them, leave out vocab_size"
        )
    else:
        words = (
            f"ids up to {call.stream.ids.max():,} were handed out; if yours are "
            "smaller, or a narrow dtype keeps them, say with vocab_size how large they "
            "are"
        )
    few = "few places are" if identified else "no place is"
    raise ValueError(
        f"{made.words} must yield ids that it was given, but {few} identified by those "
        f"that came{name}: {words}"
    )


def guarded(words: str, function: Callable, *arguments: Any, **options: Any) -> Any:
    """Call a function of somebody else. If it raises, LoaderError says which one."""
    try:
        return function(*arguments, **options)
    except (Exception, SystemExit) as error:  # sys.exit(0) would pass for clean
        raise LoaderError(f"{words} raised {type(error).__name__}: {error}") from error
