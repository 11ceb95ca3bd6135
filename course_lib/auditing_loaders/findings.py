"""What an audit can find inside rows, in orders, and between calls that should be the
same: each finding is a question, answered with a count and with evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from course_lib.auditing_loaders.batch_rows import Table
from course_lib.auditing_loaders.epoch_record import EpochRecord
from course_lib.auditing_loaders.loader_calls import Documents
from course_lib.auditing_loaders.row_positions import RowPositions, move_right

FINDINGS = {
    "wrong_shift": "labels are not one token ahead of what the model has read",
    "broken_row": "a row jumps in the stream, and nothing announces it",
    "crosses_documents": "tokens are predicted from another document, unannounced",
    "scored_padding": "padding, or the first token of a document, is scored",
    "visible_padding": "padding before the text of a row is not hidden from it",
    "visible_answer": "a mask lets a prediction see its answer, or what comes later",
    "inverted_mask": "a mask says 1 where it hides, and 0 where it shows",
    "lost": "tokens are never a target in an epoch",
    "repeated": "one rank reads tokens again in an epoch, beyond regular overlaps",
    "same_order": "two epochs have the same order, and it is not the stream's",
    "weak_shuffle": "rows are barely mixed: nearly in order, or at a few fixed steps",
    "not_repeatable": "the same call gives other batches",
    "ranks_overlap": "ranks together read tokens more often than one rank alone",
    "ranks_lose": "tokens are never a target of any rank in an epoch",
    "unequal_steps": "ranks have different numbers of batches",
    "wrong_length": "`len()` of the loader is not the number of its batches",
    "resume_repeats": "a resumed loader gives tokens again",
    "resume_loses": "a resumed loader leaves tokens out",
    "resume_reorders": "a resumed loader continues in a different order",
    "resume_changes": "a resumed loader changes labels, positions, masks or batches",
    "shared_memory": "inputs, labels or batches share memory",
    "narrow_ids": "ids come back as others, because their dtype is too narrow",
}
FEWEST_TO_COMPARE = 6  # rows: 720 orders, so that equal ones are hardly chance
FEWEST_TO_MEASURE = 50  # rows, so that a shuffle is far from the limits below
# With this correlation of row and place, an order goes through the stream from its
# beginning to its end. A shuffle has 0, give or take one over the root of the rows.
IN_PASSING = 0.8
# A step that is added again and again, modulo the rows, makes at most three different
# steps (the three-distance theorem); in a shuffle, no step is common.
MOST_STEPS, SHARE_OF_STEPS = 3, 3 / 4


@dataclass(frozen=True)
class Finding:
    """Something that a loader does, with its evidence."""

    name: str  #: a key of `FINDINGS`
    count: int  #: how often, at least 1, in the epoch that shows it most
    evidence: str  #: a place where a person can check it


class Findings(dict[str, Finding]):
    """Findings by name: how often, and the evidence of the first."""

    def count(self, name: str, times: int, evidence: str) -> None:
        if times:
            before = self.get(name, Finding(name, 0, evidence))
            self[name] = replace(before, count=before.count + int(times))

    def add(self, others: Findings) -> None:
        """Add up counts, as those of ranks in one epoch."""
        for other in others.values():
            self.count(other.name, other.count, other.evidence)

    def keep_largest(self, others: Findings) -> None:
        """Take over what is found there and not here, or more often, as in another
        epoch: what is allowed up to a count is allowed in none of them beyond it."""
        for name, other in others.items():
            if name not in self or other.count > self[name].count:
                self[name] = other


# Inside rows: the evidence names a row and a place in it


def find_in_rows(
    rows: RowPositions, at: str, documents: Documents, found: Findings
) -> None:
    """Find what is wrong inside the rows of a batch; `at` says which batch it is."""
    here, before = rows.tokens, rows.before
    apart = documents.number_of(here) != documents.number_of(before)
    jumps = rows.jumps_unannounced
    if documents.are_known:
        jumps = jumps & ~(apart & documents.is_edge(before, here))
    # Also where the label is dropped: if positions or a mask run on, all that follows
    # in the document sees the one before.
    crosses = (here >= 0) & (before >= 0) & ~rows.hidden & apart
    leaks = np.zeros_like(crosses)
    numbers = np.where(here >= 0, documents.number_of(here), -1)
    if documents.are_known:
        for view in rows.batch.views:
            leaks |= view.leaks(numbers)
    seen = farthest_seen(rows, numbers)

    def tell(name: str, is_wrong: np.ndarray, evidence: Callable) -> None:
        if is_wrong.any():
            row, place = (int(each[0]) for each in np.nonzero(is_wrong))
            words = evidence(rows, row, place, documents)
            count = np.count_nonzero(is_wrong.any(axis=1))
            found.count(name, count, f"row {row} of {at} {words}")

    if rows.batch.inverted:
        tell("inverted_mask", rows.batch.is_kept & (here >= 0), inverted_words)
    if rows.batch.wrapped is not None:
        tell("narrow_ids", rows.batch.wrapped, narrow_words)
    if not rows.batch.inverted:
        shown = rows.is_target & (seen >= 0) & (rows.labels > move_right(here, -1))
        tell("visible_answer", shown, partial(answer_words, seen))
    tell("wrong_shift", rows.scored & rows.shifted_wrongly[:, None], shift_words)
    tell("broken_row", jumps, jump_words)
    tell("broken_row", rows.misplaced & ~jumps, other_label_words)
    tell("crosses_documents", crosses | leaks, crossing_words)
    if rows.batch.labels is not None:
        tell("scored_padding", rows.scores_filler, padding_words)
        tell("scored_padding", scored_firsts(rows, documents), first_words)


def count_rows_split(rows: RowPositions, documents: Documents) -> int:
    """Count rows whose positions, and nothing else, begin again inside a document."""
    if rows.batch.views or rows.batch.has_mask:
        return 0
    goes_on = (rows.before >= 0) & (rows.tokens == rows.before + 1)
    goes_on &= documents.number_of(rows.tokens) == documents.number_of(rows.before)
    splits = goes_on & rows.batch.begins & ~rows.moves_on
    return int(np.count_nonzero(splits.any(axis=1)))


def count_rows_open(rows: RowPositions, documents: Documents) -> int:
    """Count rows of several documents in which only a label is dropped between two."""
    if rows.batch.tells_apart or rows.batch.is_pair:
        return 0
    here, before = rows.tokens, rows.before
    apart = documents.number_of(here) != documents.number_of(before)
    is_open = (here >= 0) & (before >= 0) & apart & rows.hidden
    return int(np.count_nonzero(is_open.any(axis=1)))


def scored_firsts(rows: RowPositions, documents: Documents) -> np.ndarray:
    """Where the first token of a document is scored, though it sees nothing before."""
    firsts = rows.batch.hides_before & rows.is_target & (rows.tokens >= 0)
    firsts &= ~rows.scores_filler & ~(rows.moves_on & (not rows.batch.views))
    firsts &= ~rows.follows_padding
    if documents.are_known:
        firsts &= np.isin(rows.tokens, documents.starts) | rows.jumps
    # in a pair it may be the last of the document before
    return firsts & (rows.labels == rows.tokens)


def farthest_seen(rows: RowPositions, numbers: np.ndarray) -> np.ndarray:
    """The last place of the row that a label's prediction sees, shape (B, M), -1 where
    it looks back alone; `numbers` are those of the tokens' documents."""
    seen = np.full(rows.tokens.shape, -1)
    for view in rows.batch.views:
        if isinstance(view, Table):
            ahead = view.farthest_ahead(numbers)
            seen = np.maximum(seen, move_right(ahead, -1))  # from the token before
    return seen


def answer_words(
    seen: np.ndarray, rows: RowPositions, row: int, place: int, documents: Documents
) -> str:
    names = " and ".join(v.name for v in rows.batch.views if isinstance(v, Table))
    words = f"predicts position {rows.labels[row, place]}, and {names} lets it see as "
    last = rows.tokens[row, seen[row, place]]
    words += f"far as position {last}, directly or through other tokens"
    return f"{words}, unless your model hides what comes later itself"


def inverted_words(
    rows: RowPositions, row: int, place: int, documents: Documents
) -> str:
    run = as_runs(rows.tokens[row, place:])[0]
    name = f"is hidden by {rows.batch.inverted} at positions {range_words(run)}"
    return f"{name}, if 1 means there, as in most libraries, that a token is seen"


def narrow_words(rows: RowPositions, row: int, place: int, documents: Documents) -> str:
    batch = rows.batch
    came, right = batch.came[row, place], batch.inputs[row, place]
    if came == right:  # so it is the label
        right = batch.labels[row, place]
    words = f"has the id {came} where {right} was handed out"
    return f"{words}, because {batch.kept_as} is too narrow for it"


def shift_words(rows: RowPositions, row: int, place: int, documents: Documents) -> str:
    is_pair = rows.batch.is_pair
    kind, wanted = ("targets", 1) if is_pair else ("labels", 0)
    got = int(rows.ahead[row]) + is_pair
    words = f"has {kind} that are {got} ahead of its inputs, instead of {wanted}"
    if is_pair or got != 1:
        return words
    return f"{words}: a model that does not shift needs a pair (inputs, targets)"


def jump_words(rows: RowPositions, row: int, place: int, documents: Documents) -> str:
    before = rows.tokens[row, :place]
    piece = as_runs(before[before >= 0])[-1]
    return f"holds positions {range_words(piece)}, then {rows.tokens[row, place]}"


def other_label_words(
    rows: RowPositions, row: int, place: int, documents: Documents
) -> str:
    position = max(rows.tokens[row, place], rows.before[row, place] + 1)
    label = _label_id(rows, row, place)
    return f"has the label {label} where the row continues with position {position}"


def crossing_words(
    rows: RowPositions, row: int, place: int, documents: Documents
) -> str:
    here, before = rows.tokens[row, place], rows.before[row, place]
    begin = documents.starts[documents.number_of(here) - 1]
    verb = "predicts" if rows.labels[row, place] == here else "reads on at"
    words = f"{verb} position {here}, which belongs to the document from {begin} on"
    both = documents.number_of(np.array([before, here]))
    if rows.hidden[row, place] or both[0] == both[1]:
        names = " and ".join(view.name for view in rows.batch.views)
        return f"{words}, and sees tokens of another document, according to {names}"
    between = " and a separator" * bool(rows.separated[row, place])
    return f"{words}, after {before}{between}"


def padding_words(
    rows: RowPositions, row: int, place: int, documents: Documents
) -> str:
    why = "an id that was never handed out; if it is a separator, name it in "
    why += "separator_ids"
    if not rows.batch.judged[row, place]:
        why = "although a mask hides it"
    if rows.batch.in_loss is not None:
        why += ", and a loss mask shows it; is 1 meant to hide there?"
    return f"counts the label {_label_id(rows, row, place)} in the loss, {why}"


def first_words(rows: RowPositions, row: int, place: int, documents: Documents) -> str:
    words = "the first token of a document that sees nothing before it"
    if not rows.batch.views:
        words += ", if your model goes by positions"
    elif not documents.are_known:
        names = " and ".join(view.name for view in rows.batch.views)
        words += f", if what {names} keeps apart are documents: with document_lengths, "
        words += "the audit knows"
    return f"counts position {rows.tokens[row, place]} in the loss, {words}"


def _label_id(rows: RowPositions, row: int, place: int) -> int:
    batch = rows.batch
    return (batch.inputs if batch.labels is None else batch.labels)[row, place]


FEWEST_OF_PADDING = 2  # equal ids, because one may be the beginning of a text


def is_padding(lengths: np.ndarray) -> bool:
    """Whether so many equal ids at one side of each row are padding: other numbers of
    them in other rows, so that they are no beginning of all texts."""
    return bool(lengths.max(initial=0) >= FEWEST_OF_PADDING and np.ptp(lengths) > 0)


def find_visible_padding(
    reading: EpochRecord, documents: Documents, found: Findings
) -> None:
    """Find padding before the text of rows that is not hidden from it, where something
    is handed out that could hide it, and documents or positions say that it should."""
    lengths = np.where(reading.rows.first >= 0, reading.rows.padding_before, 0)
    tells = reading.has_positions or (documents.are_known and reading.tells_apart)
    if tells and is_padding(lengths):
        row = int(lengths.argmax())
        words = f"{reading.name_of(row)} begins with {lengths[row]:,} equal ids that "
        words += f"are padding, and that position {reading.rows.first[row]} sees"
        words += f" in epoch {reading.epoch}" if reading.epoch else ""
        found.count("visible_padding", np.count_nonzero(lengths), words)


def find_wrong_length(reading: EpochRecord, found: Findings) -> None:
    """Find out whether `len()` of the loader was right, if it has one."""
    said, got = reading.said_length, reading.num_batches
    if said is None or said == got or reading.is_cut:
        return
    whose = f" of rank {reading.rank}" if reading.rank else ""
    words = f"len() of the loader{whose} is {said:,}, and epoch {reading.epoch} has "
    found.count("wrong_length", abs(said - got), words + counted(got, "batch"))


# Orders


def find_same_order(
    epochs: Sequence[EpochRecord], found: Findings, undecided: dict[str, str]
) -> None:
    """Find epochs of one rank that have the same order, unless it is the stream's."""
    shuffled = [epoch for epoch in epochs if not epoch.goes_forward]
    if len(shuffled) < 2:
        return
    if (count := min(len(epoch.order) for epoch in shuffled)) < FEWEST_TO_COMPARE:
        words = f"with only {counted(count, 'row')}, two orders may agree by chance"
        undecided.setdefault("same_order", words)
        return
    for one, other in combinations(shuffled, 2):
        if np.array_equal(one.order, other.order):
            begins = ", ".join(map(str, one.rows.first[:3].tolist()))
            both = f"epochs {one.epoch} and {other.epoch} both begin"
            found.count("same_order", 1, f"{both} with the rows that start at {begins}")


def find_weak_shuffle(reading: EpochRecord, found: Findings) -> None:
    """Find an order that is none of those that lesson 11 accepts."""
    is_first = (reading.rows.first >= 0) & (reading.pass_of_rows == 0)
    firsts = reading.rows.first[is_first]
    # the number of each row, if all rows that came are put into their order
    numbers = np.unique(firsts, return_inverse=True)[1]
    size = int(numbers.max(initial=-1)) + 1
    if size < FEWEST_TO_MEASURE:
        return
    if reading.pass_goes_forward(0):
        return
    begins = ", ".join(map(str, firsts[:4].tolist()))
    whose = f"rank {reading.rank}'s " if reading.rank else ""
    words = f"{whose}epoch {reading.epoch} begins with the rows that start at {begins}"
    correlation = np.corrcoef(np.arange(len(numbers)), numbers)[0, 1]
    if correlation > IN_PASSING:
        passing = "the order of rows and their places in the stream have a correlation"
        found.count("weak_shuffle", 1, f"{words}; {passing} of {correlation:.2f}")
        return
    steps, times = np.unique(np.diff(numbers) % size, return_counts=True)
    is_plain = np.isin(steps, (1, size - 1))  # along the stream, as inside of blocks
    commonest = np.argsort(times * ~is_plain)[-MOST_STEPS:]
    share = times[commonest][~is_plain[commonest]].sum() / times.sum()
    if share >= SHARE_OF_STEPS:
        sizes = ", ".join(map(str, sorted(steps[commonest].tolist())))
        few = f"{share:.0%} of the steps from row to row are {sizes} rows"
        found.count("weak_shuffle", 1, f"{words}; modulo the number of rows, {few}")


# Calls that should be the same


def find_unrepeatable(
    first: EpochRecord, again: EpochRecord, found: Findings, where: str = ""
) -> None:
    """Find out whether the same call gives the same rows in the same order, with the
    same labels, positions and masks. `where` says where it was called again."""
    sizes = len(first.order), len(again.order)
    differs = first.order[: min(sizes)] != again.order[: min(sizes)]
    words = f"the same call gave {counted(sizes[0], 'row')}, and then {sizes[1]:,}"
    if differs.any():
        row = int(differs.argmax())
        one, other = (_positions_of(each, row) for each in (first, again))
        at = f"{first.name_of(row)} holds other positions after the same call{where}"
        words = f"{at}: {one}, and then {other}"
    count = np.count_nonzero(differs) + max(sizes) - min(sizes)
    found.count("not_repeatable", count, words)
    if not count:
        for parts, rows in told_otherwise(first, again):
            words = f"{first.name_of(rows[0])} has other {parts} after the same call"
            found.count("not_repeatable", len(rows), words + where)


TOLD = {  # what comes with the tokens of rows
    "labels_key": "labels",
    "positions_key": "positions",
    "views_key": "masks or numbers of documents",
}


def told_otherwise(
    one: EpochRecord, other: EpochRecord
) -> list[tuple[str, np.ndarray]]:
    """Say what comes otherwise with the same rows, and the numbers of these rows."""
    both = zip(
        TOLD.values(),
        (np.flatnonzero(getattr(one.rows, n) != getattr(other.rows, n)) for n in TOLD),
        strict=True,
    )
    return [(parts, rows) for parts, rows in both if rows.size]


def _positions_of(reading: EpochRecord, row: int) -> str:
    """The first positions of a row, as many as tell it from others."""
    begin = reading.rows.begin[row]
    positions = reading.places.tokens[begin : begin + reading.row_length]
    pieces = [range_words(each) for each in as_runs(positions[positions >= 0])]
    return " and ".join(pieces[:3]) or "nothing of the stream"


def find_resumed(
    expected: EpochRecord,
    resumed: EpochRecord,
    found: Findings,
    when: str,
    spared: int = 1,
) -> None:
    """Compare what a resumed loader reads with what the first one went on to read.

    Fewer targets than `spared` that are others may be what an order has put last.
    """
    surplus = resumed.targets - expected.targets
    again, left_out = surplus.clip(min=0), (-surplus).clip(min=0)
    if max(again.sum(), left_out.sum()) >= spared:
        for name, verb, targets in (
            ("resume_repeats", "repeats", again),
            ("resume_loses", "leaves out", left_out),
        ):
            words = f"{when}, the loader {verb} {counted_targets(targets)}"
            found.count(name, targets.sum(), words)
    elif not np.array_equal(expected.order, resumed.order):
        size = min(len(expected.order), len(resumed.order))
        differs = expected.order[:size] != resumed.order[:size]
        row = int(differs.argmax()) if differs.any() else 0
        one, other = expected.rows.first[row], resumed.rows.first[row]
        words = f"{when}, row {row} from there begins at {other} instead of {one}"
        found.count("resume_reorders", np.count_nonzero(differs) or 1, words)
    else:
        sizes, others = ([size for size, _ in e.shapes] for e in (expected, resumed))
        if sizes != others:
            words = f"{when}, the loader gives the same rows in "
            words += f"{counted(len(others), 'batch')} instead of {len(sizes):,}"
            if len(sizes) == len(others):
                words += f", of {others[0]} rows and others instead of {sizes[0]}"
            found.count("resume_changes", len(resumed.order), words)
        for parts, rows in told_otherwise(expected, resumed):
            words = f"{when}, row {rows[0]} from there has other {parts}"
            found.count("resume_changes", len(rows), words)


# Words


def counted(count: int, noun: str) -> str:
    """Write a number of things: 1 batch, 2 batches."""
    ending = "" if count == 1 else "es" if noun.endswith("ch") else "s"
    return f"{count:,} {noun}{ending}"


def as_runs(positions: np.ndarray) -> list[np.ndarray]:
    """Split positions where one is not the next after the one before."""
    runs = np.split(positions, np.flatnonzero(np.diff(positions) != 1) + 1)
    return [each for each in runs if each.size]


def range_words(run: np.ndarray) -> str:
    """Write the positions of a run: 3 ... 7, or 3."""
    return f"{run[0]} ... {run[-1]}" if len(run) > 1 else f"{run[0]}"


def counted_targets(times: np.ndarray) -> str:
    """Say how many targets there are, and where; times by position, shape (N,)."""
    if not times.any():
        return "no target"
    return f"{counted(int(times.sum()), 'target')}{such_as(np.flatnonzero(times))}"


def such_as(positions: np.ndarray) -> str:
    """Name the first two runs of rising positions, or the only position."""
    if len(positions) == 1:
        return f": position {positions[0]}"
    ranges = [range_words(each) for each in as_runs(positions)[:2]]
    return f", such as positions {' and '.join(ranges)}"
