"""What one rank reads: its epochs, the first of them again, and resumed."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from course_lib.auditing_loaders.epoch_record import EpochRecord
from course_lib.auditing_loaders.findings import (
    Findings,
    count_rows_open,
    count_rows_split,
    counted,
    find_in_rows,
    find_resumed,
    find_unrepeatable,
    find_visible_padding,
    find_wrong_length,
)
from course_lib.auditing_loaders.loader_calls import (
    END,
    LoaderCall,
    LoaderError,
    MadeLoader,
    check_that_ids_are_identified,
    guarded,
    read_epoch,
)
from course_lib.auditing_loaders.row_positions import RowPositions


class Stopped(NamedTuple):
    """Where a loader was stopped, to be resumed in another process."""

    left: LoaderCall  #: reads as far as what is left goes
    state: object
    expected: EpochRecord
    when: str  #: in words


@dataclass
class RankEpochs:
    """What one rank has read, and what it alone shows."""

    epochs: list[EpochRecord] = field(default_factory=list)
    by_epoch: list[Findings] = field(default_factory=list)  #: what each epoch shows
    found: Findings = field(default_factory=Findings)  #: and what other readings do
    notes: list[str] = field(default_factory=list)
    stopped: list[Stopped] = field(default_factory=list)
    num_lost: int = 0  #: tokens that all ranks together lose in the first epoch


def read_rank(
    call: LoaderCall, num_epochs: int, resume_after: int | None
) -> RankEpochs:
    """Read the epochs of one rank, the first of them twice, and resume the first."""
    rank = RankEpochs()
    rank.epochs = read_epochs(call, num_epochs, rank.by_epoch)
    if rank.epochs[0].views_stream:
        words = "so writing into them changes it"
        rank.notes.append(f"batches are views of the stream, {words}")
    again = call()
    find_unrepeatable(rank.epochs[0], read_epoch(call, again), rank.found)
    if call.can_resume(again):
        if resume_after != rank.epochs[0].num_batches:
            resume(call, resume_after, rank)
            if not call.begins_anew(again):
                resume(call, resume_after, rank, in_second=True)
        if call.max_batches is None and not any(
            "resume" in each for each in rank.found
        ):
            resume_at_end(call, rank)
    else:
        words = "it has no state_dict and load_state_dict"
        rank.notes.append(f"resuming the loader was not tried, because {words}")
    return rank


def read_rank_once(call: LoaderCall, num_epochs: int, _: None) -> RankEpochs:
    """Read the epochs of one rank, and nothing again."""
    by_epoch: list[Findings] = []
    return RankEpochs(read_epochs(call, num_epochs, by_epoch), by_epoch)


def read_epochs(
    call: LoaderCall, num_epochs: int, by_epoch: list[Findings] | None = None
) -> list[EpochRecord]:
    """Read epochs of one rank, and add to `by_epoch`, if it is given, what is wrong
    inside the rows of each."""
    epochs: list[EpochRecord] = []
    made = call()
    for epoch in range(num_epochs):
        anew = epoch > 0 and call.begins_anew(made, epochs[-1].is_cut)
        if anew:
            made = call(epoch)
        said_length = call.length_of(made)
        here = None if by_epoch is None else Findings()
        seen = read_and_look(call, made, epoch, here)
        if epoch and not seen.num_batches:  # it can be iterated only once
            made = call(epoch)
            said_length = call.length_of(made)
            seen = read_and_look(call, made, epoch, here)
        check_that_ids_are_identified(seen, call, made)
        seen.goes_on = epoch > 0 and not anew and isinstance(made.loader, Iterator)
        seen.said_length = None if seen.goes_on else said_length
        if by_epoch is not None and here is not None:
            find_wrong_length(seen, here)
            find_visible_padding(seen, call.documents, here)
            by_epoch.append(here)
        epochs.append(seen)
    return epochs


def read_and_look(
    call: LoaderCall, made: MadeLoader, epoch: int, found: Findings | None
) -> EpochRecord:
    """Read an epoch, and find what is wrong inside its rows and in memory."""
    if found is None:
        return read_epoch(call, made, epoch=epoch)
    memory: list[tuple[np.ndarray, np.ndarray]] = []
    split, open_ = [], []

    def look(rows: RowPositions, at: str) -> None:
        find_in_rows(rows, at, call.documents, found)
        memory[:] = find_shared_memory(rows.batch.memory, memory, found, at)
        if call.documents.are_known:
            split.append(count_rows_split(rows, call.documents))
            open_.append(count_rows_open(rows, call.documents))

    record = read_epoch(call, made, look=look, epoch=epoch)
    record.rows_split, record.rows_open = sum(split), sum(open_)
    return record


def find_shared_memory(
    memory: Sequence[np.ndarray],
    before: Sequence[tuple[np.ndarray, np.ndarray]],
    found: Findings,
    at: str,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Find what lies in the same memory: inputs and labels, or two batches.

    `before` holds the memory of the batch before, and what was in it. Returns the same
    of this batch.
    """
    both = len(memory) == 2 and np.shares_memory(*memory)
    words = f"inputs and labels of {at} share memory"
    found.count("shared_memory", both, f"{words}: writing into one changes the other")
    changed = any((now != then).any() for now, then in before)
    words = f"the batch before changed when {at} was made in the same memory"
    found.count("shared_memory", changed, words)
    return [(block, block.copy()) for block in memory]


def resume(
    call: LoaderCall,
    resume_after: int | None,
    rank: RankEpochs,
    in_second: bool = False,
) -> None:
    """Stop a loader, go on in a new one, and compare with what the first one gives: the
    rest of the epoch, and the whole epoch that comes next.

    It is stopped in its first iteration or in its second, by which some loaders count
    epochs.
    """
    num_batches = rank.epochs[0].num_batches
    stop = num_batches // 2 if resume_after is None else resume_after
    if stop > num_batches:
        wanted = f"at most {num_batches}, the batches of an epoch"
        raise ValueError(f"resume_after must be {wanted}, got {stop}")
    stopped = call()
    if in_second:
        read_epoch(call, stopped)
    when = f"resumed after {counted(stop, 'batch')}"
    when += " of a second iteration" * in_second
    left = call
    if call.max_batches is not None:
        left = replace(call, max_batches=call.max_batches - stop)
    try:
        going = stop_and_resume(left, stopped, stop)
    except StateError as error:
        if resume_after is not None:
            raise
        # Wrappers have the method even where it cannot work.
        rank.notes.append(f"resuming was not tried, because {error}")
        return
    if going is None or (in_second and not going.expected.num_batches):
        return  # it can be iterated only once
    rank.stopped.append(Stopped(left, going.state, going.expected, when))
    found = Findings()
    find_resumed(going.expected, going.got, found, when)
    if not found and going.expected.num_batches > 1:
        find_in_second_resume(left, going, found, when)
    rank.found.keep_largest(found)
    is_cut = call.max_batches is not None  # then the epoch goes on
    if not found and not call.begins_anew(going.new) and not in_second and not is_cut:
        find_in_next_epoch(call, stopped, going.new, rank, when)


class StateError(LoaderError):
    """A loader could not say its state."""


class Resumed(NamedTuple):
    """A loader that went on where another one was stopped."""

    new: MadeLoader
    state: object  #: with which it went on
    expected: EpochRecord  #: what was left of the one that was stopped
    got: EpochRecord


def stop_and_resume(left: LoaderCall, stopped: MadeLoader, stop: int) -> Resumed | None:
    """Stop a loader after so many batches, and go on in a new one, as far as `left`
    reads; None if the loader ends before."""
    batches = guarded(stopped.words, iter, stopped.loader)
    for _ in range(stop):
        if guarded(stopped.words, next, batches, END) is END:
            return None
    state = state_of(stopped)
    expected = read_epoch(left, stopped, batches=batches)
    new = resumed_from(left, state)
    return Resumed(new, state, expected, read_epoch(left, new))


def state_of(made: MadeLoader) -> object:
    """Return a loader's state, as a checkpoint would keep it."""
    try:
        state = guarded(f"state_dict() of {made.words}", made.loader.state_dict)
    except LoaderError as error:
        raise StateError(str(error)) from error.__cause__
    saved = f"saving the state of {made.words}"
    return guarded(saved, lambda: pickle.loads(pickle.dumps(state)))


def resumed_from(call: LoaderCall, state: object) -> MadeLoader:
    """Make a loader that goes on from a state."""
    new, own = call(), pickle.loads(pickle.dumps(state))
    guarded(f"load_state_dict of {new.words}", new.loader.load_state_dict, own)
    return new._replace(words=f"{new.words}, resumed")


def find_in_second_resume(
    left: LoaderCall, going: Resumed, found: Findings, when: str
) -> None:
    """Stop a resumed loader before its epoch ends, resume it once more, and compare
    what is left: some loaders count from the place where they were resumed."""
    stop = going.got.num_batches // 2
    if left.max_batches is not None:
        left = replace(left, max_batches=left.max_batches - stop)
    again = stop_and_resume(left, resumed_from(left, going.state), stop)
    if again is not None:
        words = f"{when}, and once more {counted(stop, 'batch')} later"
        find_resumed(again.expected, again.got, found, words)


def find_in_next_epoch(
    call: LoaderCall, stopped: MadeLoader, new: MadeLoader, rank: RankEpochs, when: str
) -> None:
    """Compare the epochs that follow the one in which a loader was stopped."""
    wanted, got = read_epoch(call, stopped), read_epoch(call, new)
    if got.num_batches:  # or it can be iterated only once
        compare_epochs(wanted, got, rank, f"in the epoch after one that was {when}")


def compare_epochs(
    wanted: EpochRecord, got: EpochRecord, rank: RankEpochs, words: str
) -> None:
    """Compare a whole epoch with what a resumed loader reads in its place."""
    same_size = wanted.num_batches == got.num_batches
    if "not_repeatable" in rank.found and same_size:
        return  # no order is to be expected
    found = Findings()
    step = wanted.batch_size * wanted.row_length if same_size else 1
    counts = f", {counted(got.num_batches, 'batch')} instead of {wanted.num_batches:,}"
    words += counts * (not same_size)
    find_resumed(wanted, got, found, words, spared=step)
    rank.found.keep_largest(found)


def resume_at_end(call: LoaderCall, rank: RankEpochs) -> None:
    """Take a loader's state after the last batch of an epoch, before and after the
    loader has said that there is no other one, and compare what new loaders read from
    there with the epoch that comes next.

    Before, nothing may be left of the epoch, so that the next iteration reads the next
    one.
    """
    stopped, num_batches = call(), rank.epochs[0].num_batches
    batches = guarded(stopped.words, iter, stopped.loader)
    states = {}
    try:
        for _ in range(num_batches):
            if guarded(stopped.words, next, batches, END) is END:
                return  # the same call gives other batches
        states["before"] = state_of(stopped)
        if guarded(stopped.words, next, batches, END) is not END:
            return
        states["after"] = state_of(stopped)
    except StateError as error:
        words = f"resuming at the end of an epoch was not tried, because {error}"
        rank.notes.append(words)
    try:
        following = [] if call.begins_anew(stopped) else [read_epoch(call, stopped)]
        if following and following[0].num_batches:
            following.append(read_epoch(call, stopped))
    except LoaderError as error:  # an order may be as long as one epoch, and say so
        words = f"what follows the end of an epoch was not tried, because {error}"
        rank.notes.append(words)
        return
    all_batches = f"resumed after all {counted(num_batches, 'batch')}"
    for side, state in states.items():
        when = f"{all_batches}, {side} the loader said that no more come"
        new = resumed_from(call, state)
        try:
            got = read_epoch(call, new)
            if not got.num_batches and following:
                got = read_epoch(call, new)
        except LoaderError as error:
            if following:
                raise
            # It was made for one epoch, which is over, and says so.
            rank.notes.append(f"{when}, nothing was read, because {error}")
            continue
        if following and following[0].num_batches:
            find_after_end(following, got, rank, when)
        elif got.num_batches and not any(
            np.array_equal(got.order, epoch.order)
            for epoch in rank.epochs[int(side == "before") :]
        ):
            words = f"{when}, the loader repeats {counted(len(got.order), 'row')}"
            rank.found.count("resume_repeats", int(got.targets.sum()), words)


def find_after_end(
    following: Sequence[EpochRecord], got: EpochRecord, rank: RankEpochs, when: str
) -> None:
    """Compare what a loader reads that was resumed at the end of epoch 0 with the two
    epochs that follow."""
    wanted, later = following
    if np.array_equal(got.order, wanted.order) or "not_repeatable" in rank.found:
        return compare_epochs(wanted, got, rank, when)
    count = int(wanted.targets.sum())
    if np.array_equal(got.order, rank.epochs[0].order):
        words = f"{when}, the loader reads the same epoch again"
        rank.found.count("resume_repeats", count, words)
    elif not got.num_batches or np.array_equal(got.order, later.order):
        words = f"{when}, the loader skips the epoch that comes next"
        rank.found.count("resume_loses", count, words)
    else:
        compare_epochs(wanted, got, rank, f"in the epoch after one that was {when}")
    return None


def read_elsewhere(call: LoaderCall, of_ranks: Sequence[RankEpochs]) -> RankEpochs:
    """Read an epoch once more in another process, and go on there from where loaders
    were stopped: strings have other hashes there, and objects other places. No epoch
    was read there before, so if it can be chosen, read the last."""
    before, rank = of_ranks[call.rank], RankEpochs()
    where = " in another process"
    last = len(before.epochs) - 1 if "epoch" in call.names else 0
    known = before.found
    if "not_repeatable" not in known:
        again = read_epoch(call, call(last), epoch=last)
        find_unrepeatable(before.epochs[last], again, rank.found, where)
    for left, state, expected, when in before.stopped:
        if not any("resume" in each for each in (*known, *rank.found)):
            got = read_epoch(left, resumed_from(left, state))
            find_resumed(expected, got, rank.found, when + where)
    return rank
