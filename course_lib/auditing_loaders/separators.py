"""Which separators stand before and after each document, such as the beginning and the
end of a text: once, twice, or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from course_lib.auditing_loaders.epoch_record import EpochRecord
from course_lib.auditing_loaders.findings import counted
from course_lib.auditing_loaders.loader_calls import Documents

MOST_ROWS = 3 / 4  # that show how rows follow one another
MOST_NAMED = 3  # documents in a note

Run = tuple[int, ...]  # ids of separators that stand side by side


@dataclass
class Row:
    """The inputs of a row: positions, -1 where none is identified, and separators, -1
    where there is none."""

    tokens: np.ndarray
    separators: np.ndarray
    scored: np.ndarray

    def __post_init__(self) -> None:
        places = np.flatnonzero(self.tokens >= 0)
        self.first, self.last = (places[0], places[-1]) if places.size else (0, -1)
        self.head = self.run_before(self.first)[0] if places.size else ()
        self.tail, ends = self.run_after(self.last) if places.size else ((), False)
        self.is_full = bool(places.size) and ends  # to its last place

    def run_before(self, place: int) -> tuple[Run, bool]:
        """The separators right before a place, and whether they begin the row."""
        begin = place
        while begin and self.separators[begin - 1] >= 0:
            begin -= 1
        return tuple(self.separators[begin:place].tolist()), begin == 0

    def run_after(self, place: int) -> tuple[Run, bool]:
        """The separators right after a place, and whether they end the row.

        An end of text that fills up the row, and isn't scored, is padding.
        """
        end = size = len(self.tokens)
        if (others := np.flatnonzero(self.separators[place + 1 :] < 0)).size:
            end = place + 1 + int(others[0])
        if end == size or self.tokens[end] < 0:
            while end > place + 2 and not self.scored[end - 1]:
                if self.separators[end - 1] != self.separators[end - 2]:
                    break
                end -= 1
        return tuple(self.separators[place + 1 : end].tolist()), end == size

    def touches(self, place: int) -> bool:
        """Whether no token stands at a place: padding, or the end of the row."""
        return not 0 <= place < len(self.tokens) or self.tokens[place] < 0


@dataclass(frozen=True)
class Frames:
    """The runs on one side of the documents, by the number of the document.

    `whole` are those between two tokens; `cut` those at the edge of a row, or beside
    padding.
    """

    side: str
    whole: dict[int, Run]
    cut: dict[int, Run]
    cut_anywhere: bool  #: rows are cut without regard to documents

    @property
    def is_stream(self) -> bool:
        """Whether documents follow one another, so that cut runs say little."""
        return self.cut_anywhere and bool(self.whole)

    @property
    def counts(self) -> list[tuple[Run, int]]:
        """How many documents have each run, the commonest first."""
        cut = {} if self.is_stream else self.cut
        return Counter((cut | self.whole).values()).most_common()

    def odd(self) -> dict[int, Run]:
        """The documents with another run than most, by number."""
        usual, usual_cut = _commonest(self.whole), _commonest(self.cut)
        found = {n: run for n, run in self.whole.items() if run != usual}
        for number, run in self.cut.items():
            if self.is_stream:
                fits = run in parts_of(usual, self.side)
            else:
                fits = run in (usual, usual_cut)
            if number not in self.whole and not fits:
                found[number] = run
        return dict(sorted(found.items()))


def parts_of(run: Run, side: str) -> list[Run]:
    """What may be left of a run beside a document, where a row was cut."""
    lengths = range(len(run) + 1)
    if side == "before":
        return [run[len(run) - length :] for length in lengths]
    return [run[:length] for length in lengths]


def _commonest(runs: dict[int, Run]) -> Run | None:
    return Counter(runs.values()).most_common(1)[0][0] if runs else None


def frames_of(
    readings: Sequence[EpochRecord], documents: Documents
) -> tuple[Frames, Frames]:
    """Return what stands before and after the documents, in an epoch of all ranks."""
    rows = [row for reading in readings for row in rows_of(reading)]
    num_tokens = readings[0].num_tokens
    starts = {int(start): number for number, start in enumerate(documents.starts)}
    last = [*(documents.starts[1:] - 1).tolist(), num_tokens - 1]
    ends = {end: number for number, end in enumerate(last)}
    before, after, overlap = neighbors_of(rows)
    begins = [bool(row.head) or row.tokens[row.first] in starts for row in rows]
    anywhere = np.mean(begins) < MOST_ROWS if begins else False
    found = Frames("before", {}, {}, anywhere), Frames("after", {}, {}, anywhere)
    for number, row in enumerate(rows):
        for place in np.flatnonzero(np.isin(row.tokens, documents.starts)).tolist():
            document = starts[int(row.tokens[place])]
            run, is_edge = row.run_before(place)
            cut = row.touches(place - len(run) - 1)
            if is_edge and (other := before.get(number)) is not None:
                if overlap and not run:  # that row has it, too
                    continue
                run, cut = rows[other].tail + run[overlap:], False
            (found[0].cut if cut else found[0].whole).setdefault(document, run)
        for place in np.flatnonzero(np.isin(row.tokens, last)).tolist():
            document = ends[int(row.tokens[place])]
            run, is_edge = row.run_after(place)
            cut = row.touches(place + len(run) + 1)
            if is_edge and (other := after.get(number)) is not None:
                if overlap and not run:
                    continue
                run, cut = run + rows[other].head[overlap:], False
            (found[1].cut if cut else found[1].whole).setdefault(document, run)
    return found


def rows_of(reading: EpochRecord) -> list[Row]:
    """Return the inputs of each row that has a token; a pair's last place has none."""
    places, size = reading.places, len(reading.places.tokens)
    begins = reading.rows.begin
    rows = []
    for begin, end in pairwise([*begins.tolist(), size]):
        stop = end - reading.is_pair
        tokens = places.tokens[begin:stop]
        if (tokens >= 0).any():
            separators = reading.separators[begin:stop]
            rows.append(Row(tokens, separators, places.scored[begin:stop]))
    return rows


def neighbors_of(rows: Sequence[Row]) -> tuple[dict[int, int], dict[int, int], int]:
    """Return for each row the row that goes on before it and after it, and by how many
    places they overlap; nothing where rows don't go on, as those of packed documents.

    They may follow one another as they come, or, if they were shuffled, in the stream.
    """
    by_place = np.argsort([row.tokens[row.first] for row in rows], kind="stable")
    for order in (range(len(rows)), by_place.tolist()):
        steps = Counter(
            int(rows[b].tokens[rows[b].first] - rows[a].tokens[rows[a].last])
            for a, b in pairwise(order)
            if rows[a].is_full and not rows[a].tail and not rows[b].head
        )
        for overlap, step in enumerate((1, 0)):
            if steps[step] > 2 and steps[step] >= MOST_ROWS * steps.total():
                pairs = [(a, b) for a, b in pairwise(order) if rows[a].is_full]
                return {b: a for a, b in pairs}, dict(pairs), overlap
    return {}, {}, 0


def notes_on(frames: Sequence[Frames], documents: Documents) -> list[str]:
    """Say which documents have other separators than most, and which come twice."""
    notes, doubled = [], set()
    for each in frames:
        verb = {"before": "preceded", "after": "followed"}[each.side]
        odd = each.odd()
        for run in dict.fromkeys(odd.values()):
            which = [number for number, other in odd.items() if other == run]
            named = ", ".join(map(str, which[:MOST_NAMED]))
            at = ", ".join(str(documents.starts[n]) for n in which[:MOST_NAMED])
            more = " and more" * (len(which) > MOST_NAMED)
            s = "s" * (len(which) > 1)
            begin = "begin" if s else "begins"
            notes.append(
                f"unlike most, {documents_are(len(which))} {verb} by {run_words(run)}: "
                f"number{s} {named}{more}, which {begin} at position{s} {at}{more}"
            )
        for run, count in each.counts:
            is_twice = any(one == other for one, other in pairwise(run))
            if is_twice and run not in {*doubled, *odd.values()}:
                doubled.add(run)
                words = f"{documents_are(count)} {verb} by {run_words(run)}"
                notes.append(f"{words}: the same separator twice")
    return notes


def run_words(run: Run) -> str:
    return " ".join(map(str, run)) or "no separator"


def documents_are(count: int) -> str:
    return f"{counted(count, 'document')} {'is' if count == 1 else 'are'}"
