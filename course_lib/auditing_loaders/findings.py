"""What an audit can find: each finding is a question to the table of what was handed
out, answered with a count and with evidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from course_lib.auditing_loaders.handed_out import Reading, goes_forward, where
from course_lib.auditing_loaders.loader_reading import Documents
from course_lib.foundation.ledger import TokenLedger

FINDINGS = {
    "wrong_shift": "labels are not one token ahead of what the model has read",
    "broken_row": "a row jumps in the stream, and nothing announces it",
    "crosses_documents": "tokens are predicted from another document, unannounced",
    "scored_padding": "padding, or the first token of a document, is scored",
    "lost": "tokens are never a target in an epoch",
    "repeated": "one rank reads tokens again in an epoch, beyond regular overlaps",
    "same_order": "two epochs have the same order, and it is not the stream's",
    "weak_shuffle": "an order is neither the stream's, nor shuffled, nor in blocks",
    "not_repeatable": "the same call gives other batches",
    "ranks_overlap": "ranks together read tokens more often than one rank alone",
    "ranks_lose": "tokens are never a target of any rank in an epoch",
    "unequal_steps": "ranks have different numbers of batches",
    "resume_repeats": "a resumed loader gives tokens again",
    "resume_loses": "a resumed loader leaves tokens out",
    "resume_reorders": "a resumed loader gives what was left in another order",
    "shared_memory": "inputs, labels or batches share memory",
}
FEWEST_TO_COMPARE = 6  # rows: 720 orders, so that equal ones are hardly chance
FEWEST_TO_MEASURE = 50  # rows, so that a shuffle is far from the limits below
# Of the stream, that may be left over without a finding. By default a step of all ranks
# is a fiftieth, and less than a step may be left over. Where it is more than this, the
# audit is too small to tell a dropped step from a mistake.
MOST_LEFT_OVER = 1 / 10
# With this correlation of row and place, an order goes through the stream from its
# beginning to its end. A shuffle has 0, give or take one over the root of the rows.
IN_PASSING = 0.8
# A step that is added again and again, modulo the rows, makes at most three different
# steps (the three-distance theorem); in a shuffle, no step is common.
MOST_STEPS, SHARE_OF_STEPS = 3, 3 / 4
# Of the windows of a document, so many begin equally far apart if their overlaps are by
# design. An extra window makes two other steps of one.
SHARE_BY_DESIGN = 3 / 4
CHANCE = 1 / 1000  # that chance alone makes what is taken for a sign


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


# Inside rows


def find_in_rows(reading: Reading, documents: Documents, found: Findings) -> None:
    """Find what is wrong inside the rows that one rank has got."""
    table = reading.table

    def add(name: str, mask: np.ndarray, words: Callable[[int], str]) -> None:
        places = np.flatnonzero(mask)
        if places.size:
            rows = len(np.unique(reading.row_of_place[places]))
            at = where(table[places[0]]) + _of_whom(reading)
            found.add(name, rows, f"{at} {words(places[0])}")

    kind, wanted = ("targets", 1) if reading.is_pair else ("labels", 0)

    def shift(place: int) -> str:
        got = int(table["ahead"][place]) + reading.is_pair
        words = f"has {kind} that are {got} ahead of its inputs, instead of {wanted}"
        if reading.is_pair or got != 1:
            return words
        return f"{words}: a model that does not shift wants inputs and targets"

    is_wrong = (table["ahead"] != 0) & ~np.isnan(table["ahead"])
    add("wrong_shift", is_wrong & table["scored"], shift)

    here, before, label = table["position"], table["before"], table["label"]
    number, number_before = documents.number_of(here), documents.number_of(before)
    apart = number != number_before
    unannounced = table["jumps"] & ~table["announced"] & ~table["separated"]
    if documents.are_known:
        unannounced &= ~(apart & documents.is_edge(before, here))

    def jump(place: int) -> str:
        row = here[place - table["place"][place] : place]
        row = row[row >= 0]
        steps = np.flatnonzero(np.diff(row) != 1)
        first = row[steps[-1] + 1] if steps.size else row[0]
        return f"holds positions {run(first, row[-1])}, then {here[place]}"

    add("broken_row", unannounced, jump)

    def other(place: int) -> str:
        goes_on = max(here[place], before[place] + 1)
        label_id = table["label_id"][place]
        return f"has the label {label_id} where the row goes on with {goes_on}"

    add("broken_row", table["misplaced"] & ~unannounced, other)

    def crossing(place: int) -> str:
        begin = documents.starts[number[place] - 1]
        verb = "predicts" if label[place] == here[place] else "reads on at"
        words = f"{verb} position {here[place]}, which belongs to the document"
        between = " and a separator" * bool(table["separated"][place])
        return f"{words} from {begin} on, after {before[place]}{between}"

    # Also where the label is dropped: if positions or a mask run on, all that follows
    # in the document sees the one before.
    is_step = (here >= 0) & (before >= 0) & ~table["announced"]
    add("crosses_documents", is_step & apart, crossing)
    if not reading.has_labels:
        return

    def padding(place: int) -> str:
        own = "an id that was never handed out; is it one of separator_ids?"
        why = "though a mask hides it" if table["masked"][place] else own
        return f"counts the label {table['label_id'][place]} in the loss, {why}"

    add("scored_padding", table["filler"], padding)

    def first(place: int) -> str:
        words = "the first token of a document that sees nothing before it"
        return f"counts position {here[place]} in the loss, {words}"

    firsts = table["begins"] & table["scored"] & (here >= 0) & ~table["filler"]
    if documents.are_known:
        firsts &= np.isin(here, documents.starts) | table["jumps"]
    firsts &= label == here  # in a pair it may be the last of the document before
    firsts &= table["place"] > 0  # no model predicts the first token of a row
    add("scored_padding", firsts, first)


def _of_whom(reading: Reading) -> str:
    rank = f" of rank {reading.rank}" if reading.rank else ""
    return rank + (f" in epoch {reading.epoch}" if reading.epoch else "")


# Tokens that come again


def windows_of(readings: Sequence[Reading]) -> dict[str, np.ndarray]:
    """Return all runs of neighboring targets in rows: where each begins and ends, and
    the record that it begins with. What is wrong inside a row tells nothing here."""
    table = np.concatenate([reading.table for reading in readings])
    is_target = np.concatenate([reading.is_target for reading in readings])
    is_target &= ~table["misplaced"] & ~table["filler"]
    is_target &= ~_after_jump(table)
    # nothing predicts the first token of a document that sees nothing before it
    is_target &= ~(table["begins"] & (table["label"] == table["position"]))
    turn = np.concatenate(
        [reading.turn_of_rows[reading.row_of_place] for reading in readings]
    )
    at = np.flatnonzero(is_target)
    # where labels are too far ahead, it is the window that they should be of
    label = table["label"][at] - np.nan_to_num(table["ahead"][at]).astype(np.int64)
    opens = np.ones(len(at), dtype=bool)
    opens[1:] = (np.diff(label) != 1) | (np.diff(at) != 1)
    opens[1:] |= table["place"][at[1:]] <= table["place"][at[:-1]]
    begin = np.flatnonzero(opens)
    end = np.append(begin[1:], len(at))[: len(begin)] - 1
    return {
        "first": label[begin],
        "last": label[end],
        "record": table[at[begin]],
        "turn": turn[at[begin]],
    }


def _after_jump(table: np.ndarray) -> np.ndarray:
    """Which records come after a place of their row that jumps unannounced."""
    jumps = table["jumps"] & ~table["announced"] & ~table["separated"]
    count = np.cumsum(jumps)
    begin = np.maximum.accumulate(
        np.where(table["place"] == 0, np.arange(len(table)), 0)
    )
    return count > (count - jumps)[begin]


def find_repeats(
    readings: Sequence[Reading],
    documents: Documents,
    found: Findings,
    undecided: dict[str, str],
) -> None:
    """Find windows of an epoch that begin before the one before them ends, sooner than
    is regular; `readings` are those of all ranks."""
    windows = windows_of(readings)
    again, other, stride = find_again(windows, readings, documents)
    if stride is not None:
        words = (
            f"windows overlap as with a stride of {stride}, but too few came to tell: "
            "more tokens would"
        )
        undecided.setdefault("repeated", words)
    record = windows["record"]
    ends = np.minimum(windows["last"][again], windows["last"][other])
    shared = ends - windows["first"][again] + 1
    same_rank = record["rank"][again] == record["rank"][other]
    if count := int(shared[same_rank].sum()):
        one, twin = other[same_rank][0], again[same_rank][0]
        words = (
            f"position {record['label'][twin]} is a target in {where(record[one])} "
            f"and again in {where(record[twin])}"
        )
        whose = _of_whom(readings[record["rank"][twin]])
        found.add("repeated", count, words + whose)


def find_again(
    windows: dict[str, np.ndarray],
    readings: Sequence[Reading],
    documents: Documents,
) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Return windows that read tokens again, for each the one that it overlaps, and a
    stride that may be what makes others overlap, if that can't be decided.

    A stride below T, or chunks with an overlap, make regular steps: nearly all windows
    of a document begin equally far apart. So overlaps of such windows are by design,
    and so is a last window that is moved back to the end of its document.
    """
    first, last = windows["first"], windows["last"]
    order = np.lexsort([last, first, windows["turn"]])
    first, last, turn = first[order], last[order], windows["turn"][order]
    if len(first) < 2:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), None
    num_tokens = readings[0].num_tokens
    ends = np.append(documents.starts[1:], num_tokens) - 1
    # `which` of all windows before reaches farthest
    reach = turn * np.int64(num_tokens + 1) + last
    farthest = np.maximum.accumulate(reach)
    which = np.where(reach == farthest, np.arange(len(reach)), 0)
    which = np.maximum.accumulate(which)[:-1]
    overlaps = (last[which] >= first[1:]) & (turn[which] == turn[1:])
    step = first[1:] - first[:-1]
    is_copy = overlaps & (step == 0) & (last[1:] == last[:-1])
    at_end = overlaps & np.isin(last[1:], ends) & ~is_copy
    is_again = overlaps & ~at_end
    number = documents.number_of(first)
    inside = (turn[1:] == turn[:-1]) & (number[1:] == number[:-1])
    regular, possible = strides_of(step[inside & ~at_end & ~is_copy], readings)
    open_to = None
    if regular is not None:
        is_again &= step < regular
    elif possible is not None and (is_again & (step >= possible)).any():
        is_again &= step < possible
        open_to = possible
    at = np.flatnonzero(is_again)
    return order[at + 1], order[which[at]], open_to


def strides_of(
    steps: np.ndarray, readings: Sequence[Reading]
) -> tuple[int | None, int | None]:
    """Return the stride that nearly all steps from window to window are, and one that
    they could be if some windows had been dropped; None where there is no such stride.

    A dropped window makes a step of two strides, and a window too many may make two
    steps of half a stride, so that few windows do not tell these apart. Dropped are
    less than a step of all ranks; but if `max_batches` ended a shuffled order, any
    windows may not have come yet.
    """
    each, times = np.unique(steps[steps > 0], return_counts=True)
    if not each.size:
        return None, None
    enough = SHARE_BY_DESIGN * len(steps)
    # how many steps are so many strides, and how many windows would be missing there
    with_missing = np.array([times[each % one == 0].sum() for one in each])
    if readings[0].is_cut:
        times = with_missing
    if times.max() >= enough:
        return int(each[times.argmax()]), None
    most = sum(reading.batch_size for reading in readings)
    for one in each[::-1][with_missing[::-1] >= enough]:
        strides = steps[(steps > 0) & (steps % one == 0)] // one
        if (strides - 1).sum() < most:
            return None, int(one)
    return None, None


def find_overlaps(
    readings: Sequence[Reading], alone: np.ndarray | None, found: Findings
) -> None:
    """Find tokens that ranks together read more often than one rank alone.

    Args:
        readings: of all ranks, in one epoch.
        alone: how often one rank of one has each token as a target; None if it could
            not be asked.
    """
    targets = np.array([reading.targets for reading in readings])
    together = targets.sum(axis=0)
    allowed = np.ones_like(together) if alone is None else np.maximum(alone, 1)
    several = np.count_nonzero(targets, axis=0) > 1
    excess = np.flatnonzero(several & (together > allowed))
    if excess.size:
        position = excess[0]
        places = []
        for reading in readings:
            at = reading.is_target & (reading.table["label"] == position)
            for record in reading.table[at][:1]:
                places.append(f"{where(record)} of rank {reading.rank}")
        times = f"{allowed[position]} time{'s' * bool(allowed[position] > 1)}"
        words = f"position {position} is a target in {' and '.join(places[:2])}"
        found.add(
            "ranks_overlap", excess.size, f"{words}; one rank alone reads it {times}"
        )


def find_overlaps_in_turns(readings: Sequence[Reading], found: Findings) -> None:
    """Find rows that several ranks read in one pass over the stream, where
    `max_batches` ends the epoch anywhere."""
    for one, other in combinations(readings, 2):
        order, twins = one.order_in_turns, other.order_in_turns
        both = np.isin(order, twins) & (one.firsts >= 0)
        if both.any():
            row = int(both.argmax())
            twin = int(np.argmax(twins == order[row]))
            words = (
                f"the row from position {one.firsts[row]} on is {one.place_of(row)} of "
                f"rank {one.rank} and {other.place_of(twin)} of rank {other.rank}"
            )
            found.add("ranks_overlap", len(np.unique(order[both])), words)


def find_steps(readings: Sequence[Reading], found: Findings) -> None:
    """Find ranks that have more batches than others, or begin again before them."""
    epoch = readings[0].epoch
    steps = [reading.num_batches for reading in readings]
    counts = ", ".join(f"rank {r}: {n:,}" for r, n in enumerate(steps))
    words = f"the numbers of batches in epoch {epoch} are {counts}"
    found.add("unequal_steps", max(steps) - min(steps), words)
    begins = [_begins_again(reading) for reading in readings]
    again = [batch for batch in begins if batch is not None]
    if again and any(batch != min(again) for batch in begins):
        said = [
            f"rank {rank} after {batch} batches"
            if batch is not None
            else f"rank {rank} not yet"
            for rank, batch in enumerate(begins)
        ]
        lag = max((batch or steps[rank]) for rank, batch in enumerate(begins))
        found.add(
            "unequal_steps",
            max(1, lag - min(again)),
            f"ranks begin again with the same batches: {', '.join(said)}",
        )


def _begins_again(reading: Reading) -> int | None:
    """Return the batch from which on all are those from the first one on."""
    if not reading.is_cut:
        return None
    batches = [tuple(keys) for keys in _by_batch(reading)]
    for begin in range(1, len(batches)):
        if batches[begin] == batches[0]:
            rest = batches[begin:]
            return begin if rest == batches[: len(rest)] else None
    return None


def _by_batch(reading: Reading) -> Iterator[list[int]]:
    ends = np.cumsum([len(table) for table in reading.tables])[:-1]
    return (keys.tolist() for keys in np.split(reading.order, ends))


# Orders


def find_same_order(
    epochs: Sequence[Reading], found: Findings, undecided: dict[str, str]
) -> None:
    """Find epochs of one rank that have the same order, unless it is the stream's."""
    shuffled = [epoch for epoch in epochs if not epoch.goes_forward]
    if len(shuffled) < 2:
        return
    if (count := min(len(epoch.order) for epoch in shuffled)) < FEWEST_TO_COMPARE:
        words = f"{count} rows are too few to compare orders"
        undecided.setdefault("same_order", words)
        return
    for one, other in combinations(shuffled, 2):
        if np.array_equal(one.order, other.order):
            begins = ", ".join(map(str, one.firsts[:3].tolist()))
            words = (
                f"epochs {one.epoch} and {other.epoch} both begin with the rows from"
            )
            found.add("same_order", 1, f"{words} {begins} on")


def find_weak_shuffle(reading: Reading, found: Findings) -> None:
    """Find an order that is none of those that lesson 11 accepts."""
    is_first = (reading.firsts >= 0) & (reading.turn_of_rows == 0)
    firsts = reading.firsts[is_first]
    # the number of each row, if all rows that came are put into their order
    numbers = np.unique(firsts, return_inverse=True)[1]
    size = int(numbers.max(initial=-1)) + 1
    if size < FEWEST_TO_MEASURE:
        return
    if goes_forward(firsts, reading.rows["row"][is_first]):
        return
    begins = ", ".join(map(str, firsts[:4].tolist()))
    words = f"epoch {reading.epoch} begins with the rows from {begins} on"
    words += f" of rank {reading.rank}" if reading.rank else ""
    correlation = np.corrcoef(np.arange(len(numbers)), numbers)[0, 1]
    if correlation > IN_PASSING:
        passing = f"row and place in the stream have a correlation of {correlation:.2f}"
        found.add("weak_shuffle", 1, f"{words}; {passing}")
        return
    steps, times = np.unique(np.diff(numbers) % size, return_counts=True)
    is_plain = np.isin(steps, (1, size - 1))  # along the stream, as inside of blocks
    commonest = np.argsort(times * ~is_plain)[-MOST_STEPS:]
    share = times[commonest][~is_plain[commonest]].sum() / times.sum()
    if share >= SHARE_OF_STEPS:
        told = ", ".join(map(str, sorted(steps[commonest].tolist())))
        few = f"{share:.0%} of the steps from row to row are {told} rows"
        found.add("weak_shuffle", 1, f"{words}; modulo the rows, {few}")


# Coverage


def find_lost(
    by_epoch: Sequence[Sequence[Reading]],
    documents: Documents,
    found: Findings,
    undecided: dict[str, str],
    notes: list[str],
) -> bool:
    """Find tokens that are never a target of any rank in an epoch; `by_epoch[e][r]`.

    Return whether it could be chance, so that more epochs should be read.
    """
    targets = [np.sum([r.targets for r in ranks], axis=0) for ranks in by_epoch]
    name = "ranks_lose" if len(by_epoch[0]) > 1 else "lost"
    every = [reading for ranks in by_epoch for reading in ranks]
    in_order = all(reading.goes_forward for reading in every)
    by_chance = in_order and log_orders(every) < -math.log(CHANCE)
    is_open = False
    heads = [int(np.argmax(count > 0)) - 1 for count in targets]
    moves = len(set(heads)) > 1 or len(heads) == 1
    for number, (ranks, count) in enumerate(zip(by_epoch, targets, strict=True)):
        if ranks[0].goes_on:  # it need not begin where the stream does
            continue
        others = [
            other > 0
            for readings, other in zip(by_epoch, targets, strict=True)
            if any(
                not np.array_equal(one.order, twin.order)
                for one, twin in zip(ranks, readings, strict=True)
            )
        ]
        is_one_batch = min(reading.num_batches for reading in ranks) < 2
        order = None if by_chance or is_one_batch else in_order
        lost, left_over = judge_lost(ranks, count == 0, documents, others, moves, order)
        is_open |= by_chance and left_over.size > 0
        if left_over.size > MOST_LEFT_OVER * len(count):
            words = (
                f"of {len(count):,} tokens, epoch {number} leaves over "
                f"{left_over.size:,}, less than a step of all ranks: more would tell"
            )
            undecided.setdefault(name, words)
        # A target that tells no place, or a wrong one, is a token that seems missing.
        untold = sum(int(np.count_nonzero(r.table["untold"])) for r in ranks)
        twice = int((count - 1).clip(min=0).sum())
        if 0 < lost.size <= untold + twice and untold:
            words = f"targets in rows that are too short to tell a place: {untold:,}"
            notes.append(f"{words}; seemingly missing, and maybe there: {lost.size:,}")
        elif lost.size:
            be = "is" if lost.size == 1 else "are"
            words = f"{lost.size:,} of {len(count):,} tokens {be} never a target"
            words += f" in epoch {number}" if number else ""
            words += such_as(lost)
            found.add(name, lost.size, words)
            length = ranks[0].row_length
            at_head = lost[0] <= length and not moves
            return at_head or (bool(others) and lost.size < step_of(ranks))
    return is_open


def judge_lost(
    ranks: Sequence[Reading],
    never: np.ndarray,
    documents: Documents,
    others: Sequence[np.ndarray],
    moves: bool,
    in_order: bool | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions that are lost, and those that may be left over.

    The first token of a document is neither, because nothing predicts it, nor is the
    token that a rank's own share begins with. Left over may be what fills no step of
    all ranks: tails, and rows that a shuffle put last. So may what a random offset
    skips at the beginning.

    Args:
        ranks: the readings of an epoch.
        never: which tokens are never a target, shape (N,).
        documents: where they start.
        others: which tokens are targets in epochs of another order.
        moves: epochs begin at different places.
        in_order: all epochs go through the stream in its order, or in tracks; None if
            that may be chance.
    """
    is_lost = never.copy()
    is_lost[documents.starts] = False
    for reading in ranks:
        if reading.goes_forward and (reading.firsts >= 0).any():
            is_lost[reading.firsts[reading.firsts >= 0].min()] = False
    length, step = ranks[0].row_length, step_of(ranks)
    first = int(np.argmin(never))
    too_far = max(0, ranks[0].commonest_ahead or 0)  # labels skip so many
    if first - 1 <= (length if moves else too_far):
        is_lost[:first] = False
    missing = np.flatnonzero(never & (in_order is None))
    if in_order is False:
        elsewhere = np.any(others, axis=0) if others else never
        missing = missing_rows(ranks, never, elsewhere)
    left_over = np.zeros_like(is_lost)
    for places in (tails(ranks), missing):
        if np.count_nonzero(is_lost[places]) < step:
            left_over[places] |= is_lost[places]
            is_lost[places] = False
    return np.flatnonzero(is_lost), np.flatnonzero(left_over)


def log_orders(readings: Sequence[Reading]) -> float:
    """Return the logarithm of how many orders shuffles give so many rows, for each that
    looks like tracks: n rows at one place of the batch have n! orders."""
    rows = [np.bincount(reading.rows["row"]) for reading in readings]
    return sum(math.lgamma(n + 1) for n in np.concatenate(rows))


def step_of(ranks: Sequence[Reading]) -> int:
    """Targets of one step of all ranks: B x T x ranks."""
    size = max(reading.batch_size for reading in ranks)
    return size * ranks[0].row_length * len(ranks)


def missing_rows(
    ranks: Sequence[Reading], never: np.ndarray, elsewhere: np.ndarray
) -> np.ndarray:
    """Return the positions in rows that are missing whole from a shuffled order.

    A run of tokens that are never a target may be such a row if it is as long as one,
    or, where a row holds several windows, if some of it is not even handed out. A run
    that is never a target in any other order stays lost.
    """
    starts = np.concatenate([reading.starts for reading in ranks])
    is_plain = len(starts) == sum(len(reading.order) for reading in ranks)
    stride, length = commonest_stride(starts), ledger_length(ranks)
    is_grid = is_plain and stride >= length
    is_grid &= bool((np.diff(np.unique(starts)) % max(1, stride) == 0).all())
    fewest = length if is_grid else 1
    handed_out = np.any([reading.handed_out for reading in ranks], axis=0)
    missing = [
        each
        for each in runs(np.flatnonzero(never))
        if len(each) >= fewest
        and elsewhere[each].any()
        and (is_plain or not handed_out[each].all())
    ]
    return np.concatenate([np.zeros(0, np.int64), *missing])


def ledger_length(ranks: Sequence[Reading]) -> int:
    return max(reading.row_length for reading in ranks) - (not ranks[0].is_pair)


def tails(ranks: Sequence[Reading]) -> np.ndarray:
    """Return the positions after the last window, or after that of each track.

    Tracks are what the places of the batch read if each has a part of the stream.
    """
    tracks = sorted(track for reading in ranks for track in reading.tracks())
    ends = [end for _, end in tracks]
    begins = [begin for begin, _ in tracks[1:]]
    few = min(reading.num_batches for reading in ranks) < 2  # one row is no track
    if few or any(end > begin for end, begin in zip(ends, begins, strict=False)):
        ends, begins = [max(ends)], []
    nexts = [*begins, ranks[0].num_tokens - 1]
    gaps = [np.arange(e + 1, n + 1) for e, n in zip(ends, nexts, strict=True)]
    return np.concatenate(gaps)


def epochs_to_decide(ranks: Sequence[Reading]) -> int:
    """Return in how many epochs no token is always lost by chance, but for `CHANCE`.

    Of n rows, a shuffle may drop d in an epoch, fewer than a step. All of E epochs
    drop one of them with probability (d / n)**E, and there are n of them. Of k random
    offsets, all E epochs begin at the same one with probability (1 / k)**(E - 1). Of
    shuffles that have m orders, all E look like tracks with probability (1 / m)**E.
    """
    rows = sum(len(reading.order) for reading in ranks)
    dropped = max(reading.batch_size for reading in ranks) * len(ranks)
    share = min(0.5, dropped / max(rows, 1))
    by_shuffle = math.log(CHANCE / max(rows, 1)) / math.log(share)
    # below a stride, or below T where a stride of 1 leaves no other choice
    stride = commonest_stride(np.concatenate([reading.starts for reading in ranks]))
    offsets = [each for each in (stride, ranks[0].row_length) if each > 1]
    by_offset = 1 - math.log(CHANCE) / math.log(min(offsets)) if offsets else 0
    orders = log_orders(ranks)  # 0 of a single row, which has one order
    by_order = -math.log(CHANCE) / orders if orders else 0
    return math.ceil(max(by_shuffle, by_offset, by_order))


def commonest_stride(starts: np.ndarray) -> int:
    steps, times = np.unique(np.diff(np.unique(starts)), return_counts=True)
    return int(steps[times.argmax()]) if steps.size else 0


# Calls that should be the same


def find_unrepeatable(first: Reading, again: Reading, found: Findings) -> None:
    """Find out whether the same call gives the same rows in the same order."""
    lengths = len(first.order), len(again.order)
    differs = first.order[: min(lengths)] != again.order[: min(lengths)]
    words = f"one call gave {lengths[0]:,} rows, and an equal one {lengths[1]:,}"
    if differs.any():
        row = int(differs.argmax())
        words = f"{first.place_of(row)} holds other positions after an equal call: "
        one, other = (_positions_of(each, row) for each in (first, again))
        words += f"{one}, and then {other}"
    count = np.count_nonzero(differs) + max(lengths) - min(lengths)
    found.add("not_repeatable", count, words)


def _positions_of(reading: Reading, row: int) -> str:
    """The first positions of a row, as many as tell it from others."""
    begin = reading.first_places[row]
    positions = reading.table["position"][begin : begin + reading.row_length]
    told = positions[positions >= 0]
    pieces = [run(each[0], each[-1]) for each in runs(told) if each.size]
    return " and ".join(pieces[:3]) or "nothing of the stream"


def find_resumed(
    expected: Reading, resumed: Reading, found: Findings, when: str
) -> None:
    """Compare what a resumed loader reads with what the first one went on to read."""
    surplus = resumed.targets - expected.targets
    before = len(found)
    for name, verb, more in (
        ("resume_repeats", "repeats", surplus.clip(min=0)),
        ("resume_loses", "leaves out", (-surplus).clip(min=0)),
    ):
        if more.any():
            words = f"the loader {verb} {counted_targets(more)}"
            found.add(name, more.sum(), f"resumed {when}, {words}")
    if len(found) == before and not np.array_equal(expected.order, resumed.order):
        size = min(len(expected.order), len(resumed.order))
        differs = expected.order[:size] != resumed.order[:size]
        row = int(differs.argmax()) if differs.any() else 0
        one, other = expected.firsts[row], resumed.firsts[row]
        words = f"row {row} from there begins at {other} instead of {one}"
        count = np.count_nonzero(differs) or 1
        found.add("resume_reorders", count, f"resumed {when}, {words}")


def find_resumed_elsewhere(
    before: Sequence[Reading],
    expected: Sequence[Reading],
    resumed: Sequence[Reading],
    found: Findings,
    when: str,
) -> None:
    """Compare what all ranks of a resumed loader read with what the stopped ones would
    have read. The order may differ, and so may what fills no step of theirs.

    Args:
        before: what the ranks had read when they were stopped.
        expected: what they went on to read.
        resumed: what was read by the ranks that went on in their place.
    """
    read, wanted, got = (
        np.sum([reading.targets for reading in readings], axis=0)
        for readings in (before, expected, resumed)
    )
    # what the others dropped may be read now
    again = (read + got - np.maximum(read + wanted, 1)).clip(min=0)
    lost = (wanted - got).clip(min=0)
    if lost.sum() < max(step_of(before), step_of(resumed)):
        lost[:] = 0
    for name, verb, more in (
        ("resume_repeats", "repeat", again),
        ("resume_loses", "leave out", lost),
    ):
        if more.any():
            words = f"these {verb} {counted_targets(more)}"
            found.add(name, more.sum(), f"resumed {when}, {words}")


# Words


def runs(positions: np.ndarray) -> list[np.ndarray]:
    """Split rising positions into runs without a gap."""
    return np.split(positions, np.flatnonzero(np.diff(positions) != 1) + 1)


def counted_targets(turns: np.ndarray) -> str:
    """Say how many targets there are, and where; turns by position, shape (N,)."""
    count = int(turns.sum())
    return f"{count:,} target{'s' * (count != 1)}{such_as(np.flatnonzero(turns))}"


def such_as(positions: np.ndarray) -> str:
    """Name the first two runs of rising positions, or the only position."""
    if len(positions) == 1:
        return f": position {positions[0]}"
    told = [run(each[0], each[-1]) for each in runs(positions)[:2]]
    return f", such as positions {' and '.join(told)}"


def run(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first} ... {last}"


def left_over(ledger: TokenLedger, document_starts: np.ndarray, found: Findings) -> int:
    """Count the tokens that are never a target and were not called lost."""
    never = ledger.as_target == 0
    never[document_starts] = False
    lost = [found[name].count for name in ("lost", "ranks_lose") if name in found]
    return max(0, int(np.count_nonzero(never)) - sum(lost))
