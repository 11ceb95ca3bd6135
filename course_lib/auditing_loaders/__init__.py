"""Lesson 14: what any loader does, told by the batches that it makes.

The loader gets a stream of ids that tell their own positions. So a batch says where
each of its tokens comes from, and from batches alone follow the starts, the ledger, the
order, what ranks share, and what a resumed run repeats.
"""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated

import numpy as np
from torch import distributed

from course_lib.auditing_loaders.batch_rows import BatchRows
from course_lib.auditing_loaders.loader_reading import (
    END,
    Call,
    Documents,
    Epoch,
    count_turns,
    guarded,
    ledger_of,
    make_stream,
    read_epoch,
)
from course_lib.auditing_loaders.loader_reading import LoaderError as LoaderError
from course_lib.auditing_loaders.placed_rows import PlacedRows
from course_lib.auditing_loaders.telling_ids import TellingIds as TellingIds
from course_lib.foundation import (
    AtLeast,
    Count,
    Integers,
    Length,
    TokenLedger,
    checked,
    measure_mixing,
    run_ranks,
)

FINDINGS = {
    "wrong_shift": "labels are not one token ahead of what the model has read",
    "broken_row": "a row jumps in the stream, and nothing announces it",
    "crosses_documents": "tokens are predicted from another document, unannounced",
    "scored_padding": "padding, or the first token of a document, is scored",
    "lost": "tokens are never a target in an epoch",
    "repeated": "one rank reads the same window twice in an epoch",
    "same_order": "two epochs have the same order, and it is not the stream's",
    "not_repeatable": "the same call gives other batches",
    "ranks_overlap": "two ranks read the same window",
    "ranks_lose": "tokens are never a target of any rank in an epoch",
    "unequal_steps": "ranks have different numbers of batches",
    "resume_repeats": "a resumed loader gives windows again",
    "resume_loses": "a resumed loader leaves windows out",
    "shared_memory": "inputs, labels or batches share memory",
}
FEWEST_TO_COMPARE = 6  # windows, because fewer may come in the same order by chance
FEWEST_BATCHES = 3  # because fewer do not show whether they are shuffled, or tracks
EPOCHS_TO_DECIDE = 8  # where two epochs may have the same offset by chance
NOTHING = np.zeros(0, dtype=np.int64)
SHUFFLED = {  # what the measures of lesson 11 are near, in an order of all rows
    "correlation of successive rows": "0",
    "distance of successive rows": "1/3",
    "distinct steps between rows": "0.63",  # 1 - 1/e, as of random steps
}
LONG = 100_000  # tokens from which on reading shows its progress


@dataclass(frozen=True)
class Finding:
    """Something that a loader does, with its evidence."""

    name: str  #: a key of `FINDINGS`
    count: int  #: how often, at least 1
    evidence: str  #: a place where a person can check it


class Findings(dict[str, Finding]):
    """Findings by name: how often in all, and the evidence of the first."""

    def add(self, name: str, count: int, evidence: str) -> None:
        if count:
            before = self.get(name, Finding(name, 0, evidence))
            self[name] = replace(before, count=before.count + int(count))


# What a batch shows


def check_rows(
    rows: PlacedRows, batch: BatchRows, documents: Documents, found: Findings, at: str
) -> None:
    """Find what is wrong inside the rows of a batch; `at` says which batch it is."""

    def add(name: str, where: np.ndarray, words: Callable[[int, int], str]) -> None:
        if where.any():
            row, place = np.argwhere(where)[0].tolist()
            evidence = f"row {row} of {at} {words(row, place)}"
            found.add(name, np.count_nonzero(where.any(axis=1)), evidence)

    here, before = rows.tokens, rows.before
    kind, wanted = ("targets", 1) if batch.is_pair else ("labels", 0)

    def shift(row: int, place: int) -> str:
        got = f"{rows.ahead[row] + batch.is_pair:.0f}"
        return f"has {kind} that are {got} ahead of its inputs, instead of {wanted}"

    add("wrong_shift", rows.shifted_wrongly[:, None] & rows.scored, shift)

    def jump(row: int, place: int) -> str:
        first = last = rows.last[row, place]
        while first > 0 and here[row, first - 1] == here[row, first] - 1:
            first -= 1
        run = _run(here[row, first], here[row, last])
        return f"holds positions {run}, then {here[row, place]}"

    apart = documents.number_of(before) != documents.number_of(here)
    unannounced = rows.jumps & ~rows.announced & ~rows.separated
    if documents.are_known:
        unannounced &= ~(apart & documents.is_edge(before, here))
    add("broken_row", unannounced, jump)

    def other(row: int, place: int) -> str:
        label = rows.labels[row, place]
        return f"has the label {label} where the row goes on with {here[row, place]}"

    add("broken_row", rows.misplaced & ~unannounced, other)

    def crossing(row: int, place: int) -> str:
        begin = documents.starts[documents.number_of(here[row, place]) - 1]
        is_label = rows.labels[row, place] == here[row, place]
        verb = "predicts" if is_label else "reads on at"
        words = f"{verb} position {here[row, place]}, which belongs to the document"
        between = " and a separator" * bool(rows.separated[row, place])
        return f"{words} from {begin} on, after {before[row, place]}{between}"

    is_step = (here >= 0) & (before >= 0) & rows.scored
    add("crosses_documents", is_step & apart & ~rows.announced, crossing)
    if batch.labels is None:
        return

    def padding(row: int, place: int) -> str:
        hidden = "though a mask hides it"
        own = "an id that was never handed out; is it one of separator_ids?"
        why = own if batch.judged[row, place] else hidden
        return f"counts the label {batch.labels[row, place]} in the loss, {why}"

    add("scored_padding", rows.scored_filler, padding)

    def first(row: int, place: int) -> str:
        words = "the first token of a document that sees nothing before it"
        return f"counts position {here[row, place]} in the loss, {words}"

    firsts = rows.begins & rows.scored & batch.is_kept & ~rows.scored_filler
    if documents.are_known:
        firsts &= np.isin(here, documents.starts) | rows.jumps
    firsts &= rows.labels == here  # in a pair it may be the last of the document before
    firsts[:, 0] = False  # no model predicts the first token of a row
    add("scored_padding", firsts, first)


def check_memory(
    batch: BatchRows, before: list, found: Findings, at: str
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Find out what lies in the same memory: inputs and labels, or two batches.

    `before` holds the memory of the batch before, and what was in it. Returns the same
    of this batch.
    """
    words = (
        f"inputs and labels of {at} share memory: writing into one changes the other"
    )
    both = len(batch.memory) == 2 and np.shares_memory(*batch.memory)
    found.add("shared_memory", both, words)
    changed = any((now != then).any() for now, then in before)
    found.add(
        "shared_memory",
        changed,
        f"the batch before changed when {at} was made, in the same memory",
    )
    return [(block, block.copy()) for block in batch.memory]


# What a rank shows


@dataclass
class RankReading:
    """What one rank has read: its epochs, what they show, and what cannot be said."""

    epochs: list[Epoch]
    found: Findings
    notes: list[str]


def read_rank(call: Call, num_epochs: int, resume_after: int | None) -> RankReading:
    """Read the epochs of one rank, the first of them twice, and resume the first."""
    reading = RankReading([], Findings(), [])
    made = call()
    for number in range(num_epochs):
        anew = number > 0 and call.begins_anew(made, reading.epochs[-1].is_cut)
        if anew:
            made = call(number)
        found, memory = Findings(), []

        def look(rows: PlacedRows, batch: BatchRows, at: str) -> None:
            check_rows(rows, batch, call.documents, found, at)  # noqa: B023
            memory[:] = check_memory(batch, memory, found, at)  # noqa: B023

        name = f" in epoch {number}" if number else ""
        seen = read_epoch(call, made, look=look, name=name)
        if number and not seen.num_batches:  # it can be iterated only once
            made = call(number)
            seen = read_epoch(call, made, look=look, name=name)
        seen.check_that_ids_are_told(call, made, name)
        is_next = number > 0 and not anew
        seen.goes_on = is_next and isinstance(made.loader, Iterator)
        reading.epochs.append(seen)
        reading.found.update(found | reading.found)  # the first epoch that shows it
    if reading.epochs[0].views_stream:
        words = "writing into them changes it"
        reading.notes.append(f"batches are views of the stream: {words}")
    check_repeatable(reading.epochs[0], read_epoch(call, call()), reading.found)
    if call.can_resume(made):
        resume(call, resume_after, reading)
        if not call.begins_anew(made):
            resume(call, resume_after, reading, iterations=1)
    else:
        words = "it has no state_dict and load_state_dict"
        reading.notes.append(f"resuming the loader was not tried, because {words}")
    return reading


def check_repeatable(first: Epoch, again: Epoch, found: Findings) -> None:
    """Find out whether the same call gives the same windows in the same order."""
    lengths = len(first.order), len(again.order)
    differs = first.order[: min(lengths)] != again.order[: min(lengths)]
    words = f"one call gave {lengths[0]:,} rows, and an equal one {lengths[1]:,}"
    if differs.any():
        row = int(differs.argmax())
        words = f"{first.place_of(row)} holds other positions after an equal call: it "
        words += f"begins at {first.first_of(row)}, and then at {again.first_of(row)}"
    count = np.count_nonzero(differs) + max(lengths) - min(lengths)
    found.add("not_repeatable", count, words)


def resume(
    call: Call, resume_after: int | None, reading: RankReading, iterations: int = 0
) -> None:
    """Stop a loader, go on in a new one, and compare with what the first one gives.

    It is stopped after so many whole iterations, in which some loaders count epochs.
    """
    num_batches = reading.epochs[0].num_batches
    stop = num_batches // 2 if resume_after is None else resume_after
    if stop >= num_batches:
        wanted = f"less than {num_batches}, the batches of an epoch"
        raise ValueError(f"resume_after must be {wanted}, got {stop}")
    stopped, new = call(), call()
    for _ in range(iterations):
        read_epoch(call, stopped)
    batches = guarded(stopped.words, iter, stopped.loader)
    for _ in range(stop):
        if guarded(stopped.words, next, batches, END) is END and iterations:
            return  # it can be iterated only once
    try:
        state = guarded(f"state_dict() of {stopped.words}", stopped.loader.state_dict)
    except LoaderError as error:
        if resume_after is not None:
            raise
        # Wrappers have the method even where it cannot work.
        reading.notes.append(f"resuming was not tried, because {error}")
        return
    state = guarded(f"saving the state of {stopped.words}", _saved, state)
    left = call
    if call.max_batches is not None:
        left = replace(call, max_batches=call.max_batches - stop)
    expected = read_epoch(left, stopped, batches=batches)
    if iterations and not expected.num_batches:
        return
    guarded(f"load_state_dict of {new.words}", new.loader.load_state_dict, state)
    when = f"after {stop} batches" + " of a second iteration" * iterations
    found = Findings()
    check_resumed(expected, read_epoch(left, new), found, when)
    reading.found.update(found | reading.found)  # the first that shows it
    is_cut = call.max_batches is not None  # then the epoch goes on
    if not call.begins_anew(new) and not iterations and not is_cut:
        wanted, after = read_epoch(call, stopped), read_epoch(call, new)
        words = "the epoch after a resumed one"
        if 0 < after.num_batches != wanted.num_batches:
            counts = f"{after.num_batches} batches instead of {wanted.num_batches}"
            reading.notes.append(f"{words} has {counts}")
        elif "not_repeatable" not in reading.found and _differ(wanted, after):
            reading.notes.append(f"{words} has another order than without a stop")


def _saved(state: object) -> object:
    """Return a state as a checkpoint would keep it."""
    return pickle.loads(pickle.dumps(state))


def check_resumed(expected: Epoch, resumed: Epoch, found: Findings, when: str) -> None:
    """Compare what a resumed loader reads with what the first one went on to read."""
    wanted, got = (Counter(epoch.order.tolist()) for epoch in (expected, resumed))
    for name, verb, more, epoch in (
        ("resume_repeats", "repeats", got - wanted, resumed),
        ("resume_loses", "leaves out", wanted - got, expected),
    ):
        if more:
            first = epoch.first_of(int(np.isin(epoch.order, list(more)).argmax()))
            words = f"{more.total():,} rows, such as the one from position {first} on"
            evidence = f"resumed {when}, the loader {verb} {words}"
            found.add(name, more.total(), evidence)


# What epochs and ranks show together


def check_order(epochs: Sequence[Epoch], found: Findings) -> list[str]:
    """Look for windows that come twice, and for epochs in the same order."""
    for number, epoch in enumerate(epochs):
        order = epoch.order_in_turns
        windows, times = np.unique(order[epoch.is_told], return_counts=True)
        if (twice := np.flatnonzero(times > 1)).size:
            rows = np.flatnonzero(order == windows[twice[0]])
            where = " and ".join(epoch.place_of(row) for row in rows[:2].tolist())
            words = f"the window from position {epoch.first_of(rows[0])} on is {where}"
            words += f" of epoch {number}" if number else ""
            found.add("repeated", times.sum() - len(times), words)
            break
    shuffled = [epoch for epoch in epochs if not epoch.goes_forward]
    if len(shuffled) < 2:
        return []
    if min(len(epoch.order) for epoch in shuffled) < FEWEST_TO_COMPARE:
        return [f"fewer than {FEWEST_TO_COMPARE} rows are too few to compare orders"]
    for one, other in combinations(range(len(epochs)), 2):
        if epochs[one].goes_forward or not np.array_equal(
            epochs[one].order, epochs[other].order
        ):
            continue
        begins = ", ".join(str(epochs[one].first_of(row)) for row in range(3))
        found.add(
            "same_order",
            1,
            f"epochs {one} and {other} both begin with the rows from {begins} on",
        )
    return []


def check_ranks(ranks: Sequence[Sequence[Epoch]], found: Findings) -> None:
    """Compare what the ranks read in each epoch; `ranks[r][e]` is an epoch."""
    for number, epochs in enumerate(zip(*ranks, strict=True)):
        here = Findings()
        steps = [epoch.num_batches for epoch in epochs]
        counts = ", ".join(f"rank {r}: {n:,}" for r, n in enumerate(steps))
        here.add(
            "unequal_steps",
            max(steps) - min(steps),
            f"the numbers of batches in epoch {number} are {counts}",
        )
        for (a, one), (b, other) in combinations(enumerate(epochs), 2):
            order, twins = one.order_in_turns, other.order_in_turns
            both = np.isin(order, twins) & one.is_told
            if both.any():
                row = int(both.argmax())
                twin = int(np.argmax(twins == order[row]))
                here.add(
                    "ranks_overlap",
                    len(np.unique(order[both])),
                    f"the window from position {one.first_of(row)} on is "
                    f"{one.place_of(row)} of rank {a} and {other.place_of(twin)} of "
                    f"rank {b}",
                )
        found.update(here | found)  # the first epoch that shows it


def find_lost(
    ledger: TokenLedger,
    document_starts: np.ndarray,
    *,
    step: int,
    tails: np.ndarray,
    head: int = 0,
    missing: np.ndarray = NOTHING,
) -> np.ndarray:
    """Find tokens that are never a target and should be, as positions.

    The first token of a document is none of them, because nothing predicts it. Nor are
    leftovers that fill no step of all ranks.

    Args:
        ledger: of an epoch, all ranks together.
        document_starts: positions.
        step: B x T x ranks, targets of one step.
        tails: positions that may be left over, after the last window of a track.
        head: tokens at the beginning that a random offset may leave out.
        missing: positions that may be left over, in rows that a shuffle put last.
    """
    is_lost = ledger.as_target == 0
    first = int(np.argmin(is_lost))
    if first - 1 <= head:
        is_lost[:first] = False
    is_lost[document_starts] = False
    for left_over in (tails, missing):
        if np.count_nonzero(is_lost[left_over]) < step:
            is_lost[left_over] = False
    return np.flatnonzero(is_lost)


def find_missing_rows(
    epochs: Sequence[Epoch], ledger: TokenLedger, elsewhere: np.ndarray
) -> np.ndarray:
    """Return the positions in rows that are missing whole from a shuffled order.

    A run of tokens that are never a target may be such a row if it is as long as one,
    or, where a row holds several windows, if some of it is not even handed out. A run
    that is never a target in any other order stays lost.

    Args:
        epochs: of all ranks.
        ledger: of them together.
        elsewhere: which positions are targets in epochs of another order.
    """
    starts = np.concatenate([start for epoch in epochs for start in epoch.starts])
    is_plain = len(starts) == sum(len(epoch.order) for epoch in epochs)
    stride = _commonest_stride(starts)
    is_grid = is_plain and stride >= ledger.context_length
    is_grid &= bool((np.diff(np.unique(starts)) % max(1, stride) == 0).all())
    fewest = ledger.context_length if is_grid else 1
    handed_out = np.any([epoch.handed_out for epoch in epochs], axis=0)
    runs = _runs(np.flatnonzero(ledger.as_target == 0))
    missing = [
        run
        for run in runs
        if len(run) >= fewest
        and elsewhere[run].any()
        and (is_plain or not handed_out[run].all())
    ]
    return np.concatenate([NOTHING, *missing])


def find_tails(epochs: Sequence[Epoch]) -> np.ndarray:
    """Return the positions after the last window, or after that of each track.

    Tracks are what the places of the batch read if each has a part of the stream.
    """
    tracks = sorted(track for epoch in epochs for track in epoch.tracks())
    ends = [end for _, end in tracks]
    begins = [begin for begin, _ in tracks[1:]]
    few = min(epoch.num_batches for epoch in epochs) < 2  # a single row is no track
    if few or any(end > begin for end, begin in zip(ends, begins, strict=False)):
        ends, begins = [max(ends)], []
    nexts = [*begins, epochs[0].num_tokens - 1]
    gaps = [np.arange(e + 1, n + 1) for e, n in zip(ends, nexts, strict=True)]
    return np.concatenate(gaps)


def check_coverage(
    ranks: Sequence[Sequence[Epoch]],
    document_starts: np.ndarray,
    found: Findings,
    notes: list[str],
) -> bool:
    """Look for lost tokens, and say whether more epochs are needed to decide."""
    by_epoch = list(zip(*ranks, strict=True))
    ledgers = [ledger_of(epochs) for epochs in by_epoch]
    heads = [int(np.argmax(ledger.as_target > 0)) - 1 for ledger in ledgers]
    moves = len(set(heads)) > 1 or len(heads) == 1
    too_far = max(0, ranks[0][0].commonest_error or 0)  # labels skip this many tokens
    for number, (epochs, ledger) in enumerate(zip(by_epoch, ledgers, strict=True)):
        if epochs[0].goes_on:  # it need not begin where the stream does
            continue
        length = epochs[0].row_length
        few = min(epoch.num_batches for epoch in epochs) < FEWEST_BATCHES
        others = [
            other.as_target > 0
            for others, other in zip(by_epoch, ledgers, strict=True)
            if any(_differ(*pair) for pair in zip(epochs, others, strict=True))
        ]
        never = ledger.as_target == 0
        missing = np.flatnonzero(never & few)
        if not few and not all(epoch.goes_forward for epoch in epochs):
            elsewhere = np.any(others, axis=0) if others else never
            missing = find_missing_rows(epochs, ledger, elsewhere)
        step = max(epoch.batch_size for epoch in epochs) * length * len(epochs)
        lost = find_lost(
            ledger,
            document_starts,
            step=step,
            tails=find_tails(epochs),
            head=length if moves else too_far,
            missing=missing,
        )
        untold = sum(epoch.num_untold for epoch in epochs)
        if 0 < lost.size < 1.25 * untold:  # a few are told a wrong place
            words = f"{untold:,} targets are in rows that are too short to tell a"
            notes.append(f"{words} place: they may be the {lost.size:,} that are none")
        elif lost.size:
            words = f"{lost.size:,} of {ledger.num_tokens:,} tokens are never a target"
            words += f" in epoch {number}" if number else ""
            name = "ranks_lose" if len(ranks) > 1 else "lost"
            runs = [_run(run[0], run[-1]) for run in _runs(lost)[:2]]
            words += f", such as positions {' and '.join(runs)}"
            found.add(name, lost.size, words)
            # two random offsets may be equal by chance, and the rows that come last
            same_rows = bool(others) and lost.size < step
            return same_rows or (0 < heads[0] <= length and not moves)
    return False


def _differ(one: Epoch, other: Epoch) -> bool:
    return not np.array_equal(one.order, other.order)


def _runs(positions: np.ndarray) -> list[np.ndarray]:
    """Split positions into runs without a gap."""
    return np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1)


def _run(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first} ... {last}"


# The audit


@dataclass(frozen=True)
class Audit:
    """What a loader does: its facts, and its findings with their evidence."""

    context_length: int  #: T, tokens in a row
    batch_size: int  #: B, rows in a batch
    #: how far labels are ahead of inputs as they are handed out, None without labels
    shift: int | None
    num_batches: int | tuple[int, ...]  #: of an epoch, by rank if there are several
    starts: tuple[np.ndarray, ...]  #: by rank, of the windows of epoch 0, in order
    firsts: tuple[np.ndarray, ...]  #: by rank, the first position of each row
    ledger: TokenLedger  #: of epoch 0, all ranks together
    findings: tuple[Finding, ...]
    facts: dict[str, object]
    notes: tuple[str, ...]  #: what is no finding, or could not be decided

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the findings."""
        return tuple(finding.name for finding in self.findings)

    @property
    def clean(self) -> bool:
        """Whether there are no findings."""
        return not self.findings

    def as_dict(self) -> dict[str, object]:
        """Return findings, facts and notes, ready for JSON."""
        findings = [vars(finding) for finding in self.findings]
        return {"findings": findings, "facts": self.facts, "notes": list(self.notes)}

    def __str__(self) -> str:
        width = max(map(len, self.facts))
        lines = [f"{name:<{width}}  {_shown(v)}" for name, v in self.facts.items()]
        for number, name in enumerate(self.facts):
            if name in SHUFFLED:
                lines[number] += f" (shuffled: {SHUFFLED[name]})"
        several = "s" * (len(self.findings) > 1)
        count = f"{len(self.findings)} finding{several}"
        lines += ["", count if self.findings else "clean"]
        for each in self.findings:
            lines.append(f"  {each.name} ({each.count:,}): {FINDINGS[each.name]}")
            lines.append(f"      {each.evidence}")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


@checked
def audit_loader(
    make_loader: Callable[..., Iterable],
    *,
    num_tokens: Count = 4_000,
    num_epochs: Annotated[int, AtLeast(1, 1_000)] = 2,
    world_size: Annotated[int, AtLeast(1, 64)] = 1,
    document_lengths: object | None = None,
    resume_after: Count | None = None,
    vocab_size: int | None = None,
    max_batches: Length | None = None,
    separator_ids: Integers = (),
    tokenizer: object | None = None,
    processes: bool = False,
    progress: bool | None = None,
) -> Audit:
    """Find out what a loader does, by feeding it ids that tell their own positions.

    `make_loader(ids, ...)` returns an iterable of batches, one epoch. A batch is a pair
    (inputs, targets) of tensors, arrays or lists of shape (B, T), or a mapping with
    `input_ids` and perhaps `labels`, which stand where the inputs stand because the
    model shifts, or with `inputs` and `targets`, which are a pair. A mapping may also
    have `attention_mask` and `position_ids`. By keyword `make_loader` is
    given what it names of `epoch`, `rank`, `world_size` and `document_starts`. If it
    does not name `epoch`, the next epoch is the next iteration of the same loader, or
    another call where a loader can be iterated only once.

    No global generator is seeded, and each call gets ids of its own, an int64 array.

    Args:
        make_loader: as above. It is called for each rank, and for an epoch again.
        num_tokens: N, the length of the stream.
        num_epochs: at least 2 to compare their orders. Where these leave it open
            whether tokens are lost, 8 are read.
        world_size: the number of ranks.
        document_lengths: the stream is one document after another; N is their sum.
        resume_after: the number of batches after which the loader is resumed in a new
            one, if it has `state_dict` and `load_state_dict`; by default half of them.
        vocab_size: ids stay below it, and a few neighbors in a row tell their place.
            Documents that are shorter than that cannot be told.
        max_batches: an epoch ends here, if a loader is endless.
        separator_ids: ids of the loader's own, such as an end of text, which may be
            scored. Any other id that was not handed out counts as padding.
        tokenizer: `make_loader` gets a list of texts instead of ids, each a document.
            A loader must tokenize them whole, with this tokenizer.
        processes: run ranks in processes that form one group of `torch.distributed`,
            instead of one after another; `make_loader` must be found there by name.
        progress: show bars; by default for 100,000 tokens or more.

    Raises LoaderError if the loader raises, and TypeError or ValueError if it gives no
    batches, no end of them, or something that is not a batch.
    """
    stream, documents, texts = make_stream(
        num_tokens, document_lengths, vocab_size, tokenizer
    )
    if progress is None and len(stream) < LONG:
        progress = False
    call = Call(
        make_loader,
        stream,
        documents,
        texts,
        separator_ids,
        max_batches,
        progress,
    )
    ranks = [replace(call, rank=r, world_size=world_size) for r in range(world_size)]

    def read(num_epochs: int) -> tuple[list[RankReading], Findings, bool]:
        if processes:
            share = (ranks, num_epochs, resume_after)
            try:
                pickle.dumps(make_loader)
            except Exception as error:
                raise TypeError(
                    "make_loader must be a function that other processes can import "
                    f"by its name, got {make_loader!r:.100}"
                ) from error
            readings = run_ranks(_read_own_rank, world_size, *share, time_limit=600.0)
            if errors := [each for each in readings if isinstance(each, Exception)]:
                raise errors[0]
        else:
            readings = [read_rank(rank, num_epochs, resume_after) for rank in ranks]
        found = Findings()
        epochs = [reading.epochs for reading in readings]
        count_turns(epochs)
        for reading in readings:
            for finding in reading.found.values():
                found.add(*vars(finding).values())
            reading.notes.extend(check_order(reading.epochs, found))
        if world_size > 1:
            check_ranks(epochs, found)
        notes = readings[0].notes
        is_open = check_coverage(epochs, documents.starts, found, notes)
        return readings, found, is_open

    readings, found, is_open = read(num_epochs)
    if is_open and num_epochs < EPOCHS_TO_DECIDE:
        with suppress(LoaderError):  # it may know no more epochs
            _, more, _ = read(EPOCHS_TO_DECIDE)
            for name in {"lost", "ranks_lose"} - set(more):
                found.pop(name, None)
    return _conclude(call, readings, found, processes)


def _read_own_rank(
    ranks: Sequence[Call], num_epochs: int, resume_after: int | None
) -> RankReading | Exception:
    rank = distributed.get_rank()
    # as `torchrun` sets them, because some libraries ask nobody else
    for name, value in (("RANK", rank), ("WORLD_SIZE", len(ranks))):
        os.environ[name] = os.environ[f"LOCAL_{name}"] = str(value)
    try:
        return read_rank(ranks[rank], num_epochs, resume_after)
    except (LoaderError, TypeError, ValueError) as error:
        return error


def _conclude(
    call: Call, readings: Sequence[RankReading], found: Findings, in_processes: bool
) -> Audit:
    world_size = len(readings)
    epochs = [reading.epochs[0] for reading in readings]
    first = epochs[0]
    ledger = ledger_of(epochs)
    notes = [note for reading in readings for note in reading.notes]
    if world_size > 1 and not in_processes and "rank" not in call.names:
        notes.append("make_loader does not name rank, so all ranks get the same call")
    if not first.is_pair:
        notes.append("labels stand where inputs stand, because the model shifts them")
    if any(epoch.is_cut for reading in readings for epoch in reading.epochs):
        notes.append(f"each epoch was ended after max_batches={call.max_batches}")
    if len(readings[0].epochs) == 1:
        notes.append("one epoch alone cannot tell whether orders and offsets change")
    starts = tuple(np.concatenate(epoch.starts) for epoch in epochs)
    steps = [epoch.num_batches for epoch in epochs]
    error = first.commonest_error
    shift = None if error is None else error + first.is_pair
    facts: dict[str, object] = {
        "tokens": len(call.stream),
        "tokens in a row": first.row_length,
        "rows in a batch": first.batch_size,
        "batches": steps[0] if world_size == 1 else ", ".join(map(str, steps)),
        "shift of labels": "none" if shift is None else shift,
        "stride": _commonest_stride(np.concatenate(starts)),
        "share that is a target": ledger.targets / ledger.num_tokens,
        "left over": _left_over(ledger, call.documents.starts, found),
        "most turns as a target": int(ledger.as_target.max()),
        "bytes of a batch": first.num_bytes or "unknown, as of lists",
        "blocks of memory": first.num_blocks or "unknown, as of lists",
    }
    rows = np.unique(np.concatenate(first.firsts), return_inverse=True)[1]
    if rows.max() >= 2:
        mixing = measure_mixing(rows, int(rows.max()) + 1)
        measures = mixing.correlation, mixing.distance, mixing.distinct_steps
        facts |= {n: round(m, 3) for n, m in zip(SHUFFLED, measures, strict=True)}
    return Audit(
        context_length=first.row_length,
        batch_size=first.batch_size,
        shift=shift,
        num_batches=steps[0] if world_size == 1 else tuple(steps),
        starts=starts,
        firsts=tuple(np.concatenate(epoch.firsts) for epoch in epochs),
        ledger=ledger,
        findings=tuple(found[name] for name in FINDINGS if name in found),
        facts=facts,
        notes=tuple(dict.fromkeys(notes)),
    )


def _left_over(
    ledger: TokenLedger, document_starts: np.ndarray, found: Findings
) -> int:
    """Count the tokens that are never a target and were not called lost."""
    never = ledger.as_target == 0
    never[document_starts] = False
    lost = [found[name].count for name in ("lost", "ranks_lose") if name in found]
    return max(0, int(np.count_nonzero(never)) - sum(lost))


def _commonest_stride(starts: np.ndarray) -> int:
    steps, times = np.unique(np.diff(np.unique(starts)), return_counts=True)
    return int(steps[times.argmax()]) if steps.size else 0
