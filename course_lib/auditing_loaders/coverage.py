"""What an audit can find in the tokens of an epoch: those that come again, those that
several ranks read, and those that nobody reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from course_lib.auditing_loaders.epoch_record import EpochRecord, Windows
from course_lib.auditing_loaders.findings import (
    Finding,
    Findings,
    as_runs,
    counted,
    range_words,
    such_as,
)
from course_lib.auditing_loaders.loader_calls import Documents
from course_lib.auditing_loaders.row_positions import FACTOR

# Of the stream, that may be left over without a finding. By default a step of all ranks
# is a fiftieth, and less than a step may be left over. Where it is more than this, the
# audit is too small to tell a dropped step from a mistake.
MOST_LEFT_OVER = 1 / 10
# Of the windows of a document, so many begin equally far apart if their overlaps are by
# design. An extra window makes two other steps of one.
SHARE_BY_DESIGN = 3 / 4
FEWEST_TO_SPARE = 3  # tokens of a stride, so that there is a middle between its ends
CHANCE = 1 / 1000  # that chance alone makes what is taken for a sign


# Tokens that come again


def find_repeats(
    readings: Sequence[EpochRecord],
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
            f"windows overlap as with a stride of {stride}, but too few came to be "
            "sure, so only more tokens would tell"
        )
        undecided.setdefault("repeated", words)
    same_rank = windows.rank[again] == windows.rank[other]
    again, other = again[same_rank], other[same_rank]
    ends = np.minimum(windows.last[again], windows.last[other])
    if count := int((ends - windows.first[again] + 1).sum()):
        reading = readings[windows.rank[again[0]]]
        one, twin = (reading.name_of(windows.row[each[0]]) for each in (other, again))
        position = windows.first[again[0]]
        # where labels are too far ahead, it is the target that is there
        position += int(np.nan_to_num(reading.rows.ahead[windows.row[again[0]]]))
        words = f"position {position} is a target in {one} and again in {twin}"
        whose = f" of rank {reading.rank}" if reading.rank else ""
        whose += f" in epoch {reading.epoch}" if reading.epoch else ""
        if copies := int(reading.comes_again.sum()):
            come = "comes" if copies == 1 else "come"
            whose += f"; {copies:,} of {counted(len(reading.order), 'row')} {come} "
            whose += "again as a whole"
        found.count("repeated", count, words + whose)


@dataclass(frozen=True)
class WindowsOfRanks(Windows):
    """The windows of all ranks, with the rank and the pass of each."""

    rank: np.ndarray
    pass_number: np.ndarray


def windows_of(readings: Sequence[EpochRecord]) -> WindowsOfRanks:
    """Return the windows of all ranks: first and last target, rank, row and pass."""
    each = [reading.windows for reading in readings]
    ranks = [np.full(len(own.row), number) for number, own in enumerate(each)]
    passes = [r.pass_of_rows[own.row] for r, own in zip(readings, each, strict=True)]
    return WindowsOfRanks(
        first=np.concatenate([own.first for own in each]),
        last=np.concatenate([own.last for own in each]),
        row=np.concatenate([own.row for own in each]),
        rank=np.concatenate(ranks),
        pass_number=np.concatenate(passes),
    )


def find_again(
    windows: WindowsOfRanks,
    readings: Sequence[EpochRecord],
    documents: Documents,
) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Return windows that read tokens again, for each the one that it overlaps, and a
    stride that may be what makes others overlap, if that can't be decided.

    A stride below T, or chunks with an overlap, make regular steps: nearly all windows
    of a document begin at equal distances. So their overlaps are by design,
    and so is a last window that is moved back to the end of its document.
    """
    order = np.lexsort([windows.last, windows.first, windows.pass_number])
    first, last = windows.first[order], windows.last[order]
    number = windows.pass_number[order]
    if len(first) < 2:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), None
    num_tokens = readings[0].num_tokens
    ends = np.append(documents.starts[1:], num_tokens) - 1
    # `which` of all windows before reaches farthest
    reach = number * np.int64(num_tokens + 1) + last
    farthest = np.maximum.accumulate(reach)
    which = np.where(reach == farthest, np.arange(len(reach)), 0)
    which = np.maximum.accumulate(which)[:-1]
    overlaps = (last[which] >= first[1:]) & (number[which] == number[1:])
    step = first[1:] - first[:-1]
    is_copy = overlaps & (step == 0) & (last[1:] == last[:-1])
    ends_document = overlaps & np.isin(last[1:], ends) & ~is_copy
    reads_again = overlaps & ~ends_document
    document = documents.number_of(first)
    inside = (number[1:] == number[:-1]) & (document[1:] == document[:-1])
    regular, possible = strides_of(step[inside & ~ends_document & ~is_copy], readings)
    open_to = None
    if regular is not None:
        reads_again &= step < regular
    elif possible is not None and (reads_again & (step >= possible)).any():
        reads_again &= step < possible
        open_to = possible
    at = np.flatnonzero(reads_again)
    return order[at + 1], order[which[at]], open_to


def strides_of(
    steps: np.ndarray, readings: Sequence[EpochRecord]
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


# Ranks


def find_overlaps(
    readings: Sequence[EpochRecord], alone: np.ndarray | None, found: Findings
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
        at = [row_of_target(reading, position) for reading in readings]
        words = f"position {position} is a target in {' and '.join(filter(None, at))}"
        number = int(allowed[position])
        times = "once" if number == 1 else f"{number:,} times"
        if readings[0].epoch:
            words += f" in epoch {readings[0].epoch}"
        found.count(
            "ranks_overlap", excess.size, f"{words}; one rank alone reads it {times}"
        )


def row_of_target(reading: EpochRecord, position: int) -> str:
    """Say in which row a rank first has this target, "" if in none."""
    places = reading.places
    at = np.flatnonzero(places.is_target & (places.labels == position))
    if not at.size:
        return ""
    row = int(np.searchsorted(reading.rows.begin, at[0], side="right")) - 1
    return f"{reading.name_of(row)} of rank {reading.rank}"


def find_overlaps_in_passes(readings: Sequence[EpochRecord], found: Findings) -> None:
    """Find rows that several ranks read in one pass over the stream, where
    `max_batches` ends the epoch anywhere."""
    keys = [  # which are others when the stream is read again
        r.order + FACTOR * r.pass_of_rows.astype(np.uint64) for r in readings
    ]
    for (one, own), (other, others) in combinations(
        zip(readings, keys, strict=True), 2
    ):
        both = np.isin(own, others) & (one.rows.first >= 0)
        if both.any():
            row = int(both.argmax())
            twin = int(np.argmax(others == own[row]))
            words = (
                f"the row that starts at position {one.rows.first[row]} is "
                f"{one.name_of(row)} of rank {one.rank}, and also "
                f"{other.name_of(twin)} of rank {other.rank}"
            )
            words += f" in epoch {one.epoch}" if one.epoch else ""
            found.count("ranks_overlap", len(np.unique(own[both])), words)


def find_steps(readings: Sequence[EpochRecord], found: Findings) -> None:
    """Find ranks that have more batches than others, or begin again before them."""
    epoch = readings[0].epoch
    steps = [reading.num_batches for reading in readings]
    counts = ", ".join(f"rank {r}: {n:,}" for r, n in enumerate(steps))
    least = min(steps)
    words = (
        f"the numbers of batches in epoch {epoch} are {counts}; a run whose ranks "
        f"train until their own batches end can hang or fail in step {least + 1:,}, "
        f"but one that stops all ranks after {least:,} does not"
    )
    found.count("unequal_steps", max(steps) - least, words)
    begins = [begins_again(reading) for reading in readings]
    again = [batch for batch in begins if batch is not None]
    if again and any(batch != min(again) for batch in begins):
        said = [
            f"rank {rank} after {counted(batch, 'batch')}"
            if batch is not None
            else f"rank {rank} not yet"
            for rank, batch in enumerate(begins)
        ]
        lag = max((batch or steps[rank]) for rank, batch in enumerate(begins))
        found.count(
            "unequal_steps",
            max(1, lag - min(again)),
            f"ranks begin again with the same batches: {', '.join(said)}; no rank "
            "waits for another, but they drift apart",
        )


def begins_again(reading: EpochRecord) -> int | None:
    """Return the batch from which on all are those from the first one on."""
    if not reading.is_cut:
        return None
    batches = [batch["key"].tolist() for batch in reading.batches]
    for begin in range(1, len(batches)):
        if batches[begin] == batches[0]:
            rest = batches[begin:]
            return begin if rest == batches[: len(rest)] else None
    return None


# Tokens that nobody reads


@dataclass
class Loss:
    """What the tokens that nobody reads come to: a finding, a fact, or neither yet."""

    name: str  #: of the finding
    finding: Finding | None = None
    undecided: str = ""  #: why it can't be decided
    notes: list[str] = field(default_factory=list)
    by_chance: bool = False  #: chance may be behind it, so more epochs would tell
    in_first: int = 0  #: tokens that the first epoch loses

    def tell(
        self, found: Findings, undecided: dict[str, str], notes: list[str]
    ) -> None:
        """Add it to what an audit has found so far."""
        if self.finding:
            found[self.name] = self.finding
        if self.undecided:
            undecided[self.name] = self.undecided
        notes += self.notes


def find_lost(epochs: Sequence[Sequence[EpochRecord]], documents: Documents) -> Loss:
    """Find tokens that are never a target of any rank in an epoch; `epochs[r][e]`.

    There are two rules. What no epoch reads is lost, but for a tail. What another order
    reads is left over as long as it is less than a step of all ranks: that is a fact,
    as is a tail of less than a step. The finding is that of the epoch that loses most.
    """
    by_epoch = list(zip(*epochs, strict=True))
    targets = [sum(reading.targets for reading in ranks) for ranks in by_epoch]
    loss = Loss("ranks_lose" if len(by_epoch[0]) > 1 else "lost")
    every = [reading for ranks in by_epoch for reading in ranks]
    in_order = all(reading.goes_forward for reading in every)
    # so few rows may be in order although they were shuffled
    maybe_shuffled = in_order and log_orders(every) < -math.log(CHANCE)
    for number, (ranks, count) in enumerate(zip(by_epoch, targets, strict=True)):
        if ranks[0].goes_on:  # it need not begin where the stream does
            continue
        never = count == 0
        shuffled = not in_order or maybe_shuffled
        shuffled |= min(reading.num_batches for reading in ranks) < 2
        others = [
            other
            for readings, other in zip(by_epoch, targets, strict=True)
            if not all(map(has_same_order, ranks, readings))
        ]
        is_lost = never & ~unpredictable(ranks, targets, documents)
        is_left_over = np.zeros_like(is_lost)
        for at in (tails(ranks), left_out_rows(ranks, never & shuffled, others)):
            if np.count_nonzero(is_lost[at]) < step_of(ranks):
                is_left_over[at] |= is_lost[at]
        lost = np.flatnonzero(is_lost & ~is_left_over)
        left_over = np.count_nonzero(is_left_over)
        loss.by_chance |= 0 < lost.size < step_of(ranks)
        loss.by_chance |= not lost.size and maybe_shuffled and left_over > 0
        if left_over > MOST_LEFT_OVER * len(count) and not loss.undecided:
            loss.undecided = (
                f"epoch {number} leaves over {left_over:,} of {len(count):,} tokens, "
                "less than a step of all ranks, so only more tokens would tell"
            )
        if words := hidden_among_unidentified(ranks, count, lost):
            loss.notes.append(words)
            continue
        if not number:
            loss.in_first = int(lost.size)
        if lost.size > (loss.finding.count if loss.finding else 0):
            be = "is" if lost.size == 1 else "are"
            words = f"{lost.size:,} of {len(count):,} tokens {be} never a target"
            words += f" in epoch {number}" if number else ""
            loss.finding = Finding(loss.name, int(lost.size), words + gaps_in(lost))
    if loss.finding and loss.finding.count >= step_of(by_epoch[0]):
        loss.by_chance = False
    return loss


def gaps_in(lost: np.ndarray) -> str:
    """Name the longest gap, and one of those whose length is the most frequent; where
    all are as long, the first two."""
    gaps = as_runs(lost)
    sizes = np.array([len(gap) for gap in gaps])
    if len(gaps) < 2:
        return such_as(lost)
    lengths, times = np.unique(sizes, return_counts=True)
    usual, longest = int(lengths[times.argmax()]), int(lengths[-1])
    if len(lengths) == 1:
        words = f", in {len(gaps):,} gaps of {counted(usual, 'token')}"
        shown = gaps[:2]
    elif usual == longest or times.max() == 1:
        words = f", in {len(gaps):,} gaps of up to {counted(longest, 'token')}"
        shown = [gaps[at] for at in np.argsort(-sizes, kind="stable")[:2]]
    else:
        words = f", in {len(gaps):,} gaps, the longest of {longest:,} tokens, and most "
        words += f"often of {usual:,} ({times.max():,} times)"
        shown = [gaps[sizes.argmax()], gaps[(sizes == usual).argmax()]]
    return f"{words}, such as positions {' and '.join(map(range_words, shown))}"


def hidden_among_unidentified(
    ranks: Sequence[EpochRecord], count: np.ndarray, lost: np.ndarray
) -> str:
    """Say that what seems lost may be there: a target whose place is not identified, or
    wrongly, is a token that seems missing. "" if it can't be that."""
    unidentified = sum(reading.unidentified for reading in ranks)
    twice = int((count - 1).clip(min=0).sum())
    if not unidentified or not 0 < lost.size <= unidentified + twice:
        return ""
    words = f"{counted(unidentified, 'target')} in rows that are too short could not be"
    missing = f"{counted(lost.size, 'token')} that would otherwise be called lost"
    return f"{words} identified, which may account for {missing}"


def has_same_order(one: EpochRecord, other: EpochRecord) -> bool:
    return np.array_equal(one.order, other.order)


def unpredictable(
    ranks: Sequence[EpochRecord], targets: Sequence[np.ndarray], documents: Documents
) -> np.ndarray:
    """Say which tokens nothing could predict: the first of the stream, of a document,
    and of a rank's own share, other than the share that begins the stream; and what a
    random offset skips, or labels that are too far ahead."""
    found = np.zeros(len(targets[0]), dtype=bool)
    found[documents.starts] = True
    firsts = [reading.rows.first[reading.rows.first >= 0] for reading in ranks]
    begins = [own.min() for own in firsts if own.size]
    for reading, own in zip(ranks, firsts, strict=True):
        if reading.goes_forward and own.size and own.min() > min(begins):
            found[own.min()] = True
    heads = {int(np.argmax(count > 0)) for count in targets}
    moves = len(heads) > 1 or len(targets) == 1
    too_far = max(0, ranks[0].commonest_ahead or 0)
    head = int(np.argmax(sum(reading.targets for reading in ranks) > 0))
    if head - 1 <= (ranks[0].row_length if moves else too_far):
        found[:head] = True
    return found


def tails(ranks: Sequence[EpochRecord]) -> np.ndarray:
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


def left_out_rows(
    ranks: Sequence[EpochRecord], never: np.ndarray, others: Sequence[np.ndarray]
) -> np.ndarray:
    """Return the positions in rows that a shuffled order may have put last.

    A run of tokens that are never a target is such a row if another order reads some of
    it. Where a row holds several windows, some of it is not even handed out.
    """
    elsewhere = np.any(others, axis=0) if others else np.ones_like(never)
    num_windows = sum(len(reading.starts) for reading in ranks)
    is_plain = num_windows == sum(len(reading.order) for reading in ranks)
    handed_out = np.any([reading.handed_out for reading in ranks], axis=0)
    left_out = [
        each
        for each in as_runs(np.flatnonzero(never))
        if elsewhere[each].any() and (is_plain or not handed_out[each].all())
    ]
    return np.concatenate([np.zeros(0, np.int64), *left_out])


def step_of(ranks: Sequence[EpochRecord]) -> int:
    """Return how many tokens of the stream one step of all ranks goes on by: B windows
    of each rank, a stride apart, or B rows where they are no regular windows."""
    size = max(reading.batch_size for reading in ranks)
    width, stride = ranks[0].row_length, regular_stride(ranks)
    if stride is not None and stride >= FEWEST_TO_SPARE:
        width = min(width, stride)
    return size * len(ranks) * width


def regular_stride(ranks: Sequence[EpochRecord]) -> int | None:
    """Return the stride, if each row is one window and nearly all begin equally far
    apart."""
    starts = np.concatenate([reading.starts for reading in ranks])
    steps = np.diff(np.unique(starts))
    if not steps.size or len(starts) != sum(len(reading.order) for reading in ranks):
        return None
    stride = commonest_stride(starts)
    is_regular = np.count_nonzero(steps == stride) >= SHARE_BY_DESIGN * len(steps)
    return stride if is_regular else None


def other_length(ranks: Sequence[EpochRecord]) -> tuple[int, str] | None:
    """Return another length of the stream, and what it is for: one at which windows
    fill whole batches, or one at which they don't if those of this stream do.

    Only a last batch that is full shows whether it is dropped, and only one that isn't
    shows what it is filled with. None if rows are no regular windows.
    """
    reading, stride = ranks[0], regular_stride(ranks)
    step = reading.batch_size * len(ranks)
    if stride is None or stride < FEWEST_TO_SPARE or step < 2 or reading.is_cut:
        return None
    span = reading.row_length + reading.is_pair
    windows = (reading.num_tokens - span) // stride + 1
    whole = windows // step * step
    words = "whose windows fill whole batches"
    if whole == windows:
        whole, words = windows - 1, "whose windows leave the last batch unfilled"
    if whole < 2 * step:
        return None
    # In the middle, so that a tail may be counted with one token more or less.
    return (whole - 1) * stride + span + stride // 2, words


def log_orders(readings: Sequence[EpochRecord]) -> float:
    """Return the logarithm of how many orders shuffles give so many rows, for each that
    looks like tracks: n rows at one place of the batch have n! orders."""
    rows = [np.bincount(reading.rows.row) for reading in readings]
    return sum(math.lgamma(n + 1) for n in np.concatenate(rows))


def epochs_to_decide(ranks: Sequence[EpochRecord]) -> int:
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
