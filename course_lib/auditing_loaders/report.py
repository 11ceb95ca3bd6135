"""What an audit says: findings with their evidence, what is open, facts and notes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from course_lib.auditing_loaders.coverage import commonest_stride
from course_lib.auditing_loaders.epoch_record import EpochRecord, ledger_of
from course_lib.auditing_loaders.findings import (
    FINDINGS,
    Finding,
    Findings,
    counted,
    is_padding,
)
from course_lib.auditing_loaders.loader_calls import LoaderCall
from course_lib.auditing_loaders.rank_epochs import RankEpochs
from course_lib.auditing_loaders.separators import (
    Frames,
    frames_of,
    notes_on,
    run_words,
)
from course_lib.foundation import TokenLedger, measure_mixing

VERSION = 3  # of what `Audit.as_dict` holds
MOST_SOURCES = 8  # documents that may be the sources of a mixture


NOT_TRIED = (  # which the command's help, the report and lesson 14 say, all from here
    "what several ranks read, unless make_loader names rank and world_size, or you say "
    "how many there are (world_size)",
    "rows that cross documents, unless you say how long these are (document_lengths)",
    "resuming with another number of ranks",
    "one more epoch after a loader was resumed twice",
    "whether validation data are among the training data",
    "sub-samples that change by epoch: tokens are lost or not within one epoch",
    "parallel tracks: whether a row of the next batch goes on where this one ends, as "
    "a model that keeps its state needs",
    "whether a batch has as many rows as you meant",
    "which tokens ought to be scored, as in a chat",
    "ids that mean something, such as an end of text that is dropped as padding",
    "which documents a loader chooses, and what its text says",
    "orders that depend on the hashes of strings, or on which epochs were read before, "
    "unless it runs ranks in processes",
    "ids as large as yours, and labels computed as id + 1, which here is the next id, "
    "unless you say how large your vocabulary is (vocab_size)",
)


class Fact(NamedTuple):
    """What a fact means, and of which type its value is in JSON."""

    meaning: str
    type: str


FACTS = {
    "tokens": Fact("in the stream", "integer"),
    "tokens_in_a_row": Fact("T, in the longest row", "integer"),
    "rows_in_a_batch": Fact("B, in the largest batch", "integer"),
    "rows_shorter_than_others": Fact(
        "those with fewer tokens than the longest", "integer"
    ),
    "batches": Fact("in an epoch, for each rank", "integers"),
    "shift_of_labels": Fact(
        "how far they are ahead, null without labels", "integer or null"
    ),
    "types_of_labels": Fact("dtypes, and devices if not the inputs'", "strings"),
    "stride": Fact("the most common step from window to window", "integer"),
    "share_that_is_a_target": Fact("of the stream's tokens", "number"),
    "left_over": Fact("tokens that are never a target, but not lost", "integer"),
    "most_turns_as_a_target": Fact("of any one token, in an epoch", "integer"),
    "targets_in_a_row": Fact("fewest, quartiles, most", "integers"),
    "rows_without_a_target": Fact("of those that hold tokens of the stream", "integer"),
    "rows_that_come_again": Fact(
        "with the same tokens as one before, in one rank's epoch", "integer"
    ),
    "bytes_of_a_batch": Fact("of the largest batch, null for lists", "integer or null"),
    "blocks_of_memory": Fact(
        "that hold inputs and labels, null for lists", "integer or null"
    ),
    "separators_that_end_texts": Fact("those after a token of the stream", "integer"),
    "separators_that_are_scored": Fact(
        "those that end texts, and are scored", "integer"
    ),
    "separators_before_documents": Fact(
        "ids, and how many documents they come before", "objects"
    ),
    "separators_after_documents": Fact(
        "ids, and how many documents they come after", "objects"
    ),
    "targets_by_document": Fact("the share of each document, up to eight", "numbers"),
    # with what the measures of lesson 11 are near in an order of all rows
    "correlation_of_successive_rows": Fact("0 if shuffled", "number"),
    "distance_of_successive_rows": Fact("1/3 if shuffled", "number"),
    "distinct_steps_between_rows": Fact("0.63 (1 - 1/e) if shuffled", "number"),
}
# whose meaning the report says beside their value
EXPLAINED = [n for n, fact in FACTS.items() if "if shuffled" in fact.meaning]
EXPLAINED.append("targets_in_a_row")
WIDTH = 88  # letters in a line of the report's foot


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
    facts: dict[str, object]  #: by their names in `FACTS`
    undecided: dict[str, str]  #: what too little was seen of, by name, and why
    notes: tuple[str, ...]  #: what is no finding

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the findings."""
        return tuple(finding.name for finding in self.findings)

    @property
    def clean(self) -> bool:
        """Whether everything was decided, and nothing found."""
        return not self.findings and not self.undecided

    def as_dict(self) -> dict[str, object]:
        """Return all that it says, ready for JSON; names stay what they are."""
        return {
            "version": VERSION,
            "clean": self.clean,
            "findings": [vars(finding) for finding in self.findings],
            "undecided": self.undecided,
            "facts": self.facts,
            "notes": list(self.notes),
        }

    def check(self, allow: Mapping[str, float] | Collection[str] = ()) -> None:
        """Fail a test, unless all that was found or left open is allowed.

        Args:
            allow: names of findings that are by design, as in `["lost"]`, or
                up to which count, as in `{"lost": 31}`. What couldn't be decided has no
                count, so only the name alone allows it.

        Raises AssertionError, with what isn't allowed and then the whole report, and
        ValueError if a name in `allow` isn't that of a finding.
        """
        __tracebackhide__ = True  # pytest then shows the caller's line, not these
        allow = [allow] if isinstance(allow, str) else allow
        most = allow if isinstance(allow, Mapping) else dict.fromkeys(allow, math.inf)
        if unknown := sorted(set(most) - set(FINDINGS)):
            raise ValueError(
                f"allow must name findings, got {', '.join(map(repr, unknown))}. There "
                f"are {', '.join(FINDINGS)}"
            )
        wrong = [each for each in self.findings if each.count > most.get(each.name, 0)]
        open_ = [name for name in self.undecided if most.get(name, 0) < math.inf]
        if wrong or open_:
            raise AssertionError(f"not allowed: {_in_short(wrong, open_)}\n\n{self}")

    def __repr__(self) -> str:
        # what pytest shows of `assert audit.clean, audit`
        return f"<Audit: {_in_short(self.findings, self.undecided) or 'clean'}>"

    def __str__(self) -> str:
        lines = [counted(len(self.findings), "finding")] if self.findings else []
        for each in self.findings:
            lines.append(f"  {each.name} ({each.count:,}): {FINDINGS[each.name]}")
            lines.append(f"      {each.evidence}")
        lines += [
            f"  undecided: {name}, because {why}"
            for name, why in self.undecided.items()
        ]
        if not self.findings:
            lines.insert(0, "clean" if self.clean else "nothing found, but not clean")
        lines += [f"  note: {note}" for note in self.notes]
        width = max(map(len, self.facts))
        facts = [
            f"{name.replace('_', ' '):<{width}}  {_shown(value)}"
            + f" ({FACTS[name].meaning})" * (name in EXPLAINED)
            for name, value in self.facts.items()
        ]
        foot = f"not tried: {'; '.join(NOT_TRIED)}"
        return "\n".join([*lines, "", *facts, "", *textwrap.wrap(foot, WIDTH)])


def _in_short(findings: Iterable[Finding], undecided: Iterable[str]) -> str:
    """Name findings with their counts, and what is undecided."""
    words = [f"{each.name} ({each.count:,})" for each in findings]
    return ", ".join([*words, *(f"undecided: {name}" for name in undecided)])


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if isinstance(value, dict):  # separators
        return f"{run_words(tuple(value['separators']))} ({value['documents']:,})"
    if isinstance(value, float):
        return f"{value:.3f}"
    if value is None:
        return "unknown"
    return f"{value:,}" if isinstance(value, int) else str(value)


def conclude(
    call: LoaderCall,
    ranks: Sequence[RankEpochs],
    found: Findings,
    undecided: dict[str, str],
    in_processes: bool,
) -> Audit:
    """Put together what was found, facts and notes."""
    epochs = [rank.epochs[0] for rank in ranks]
    first, steps = epochs[0], [epoch.num_batches for epoch in epochs]
    ledger = ledger_of(epochs)
    frames: Sequence[Frames] = ()
    if np.size(call.separator_ids) and call.documents.are_known:
        frames = frames_of(epochs, call.documents)
    notes = [*notes_on(frames, call.documents), *notes_of(call, ranks, in_processes)]
    notes += [] if first.fills_gaps else notes_on_rows(epochs, found)
    return Audit(
        context_length=first.row_length,
        batch_size=first.batch_size,
        shift=shift_of(first),
        num_batches=steps[0] if len(ranks) == 1 else tuple(steps),
        starts=tuple(epoch.starts for epoch in epochs),
        firsts=tuple(epoch.rows.first for epoch in epochs),
        ledger=ledger,
        findings=tuple(found[name] for name in FINDINGS if name in found),
        facts=facts_of(call, epochs, ledger, ranks[0].num_lost, frames),
        undecided=undecided,
        notes=tuple(dict.fromkeys(notes)),
    )


def shift_of(reading: EpochRecord) -> int | None:
    """Return how far labels are ahead of inputs as they are handed out."""
    ahead = reading.commonest_ahead if reading.label_types else None
    return None if ahead is None else ahead + reading.is_pair


def facts_of(
    call: LoaderCall,
    epochs: Sequence[EpochRecord],
    ledger: TokenLedger,
    num_lost: int,
    frames: Sequence[Frames],
) -> dict[str, object]:
    """Return the facts by their names in `FACTS`, as JSON holds them."""
    first, starts = epochs[0], call.documents.starts
    never = ledger.as_target == 0
    never[starts] = False
    types = list(dict.fromkeys(kind for e in epochs for kind in e.label_types))
    lengths = np.concatenate([np.array(epoch.lengths) for epoch in epochs])
    num_targets = np.concatenate([targets_of_rows(epoch) for epoch in epochs])
    facts: dict[str, object] = {
        "tokens": len(call.stream),
        "tokens_in_a_row": first.row_length,
        "rows_in_a_batch": first.batch_size,
        "rows_shorter_than_others": int((lengths < lengths.max()).sum()),
        "batches": [epoch.num_batches for epoch in epochs],
        "shift_of_labels": shift_of(first),
        "types_of_labels": types,
        "stride": commonest_stride(np.concatenate([epoch.starts for epoch in epochs])),
        "share_that_is_a_target": ledger.targets / ledger.num_tokens,
        "left_over": max(0, int(np.count_nonzero(never)) - num_lost),
        "most_turns_as_a_target": int(ledger.as_target.max()),
        "targets_in_a_row": spread_of(num_targets),
        "rows_without_a_target": int((num_targets == 0).sum()),
        "rows_that_come_again": sum(int(each.comes_again.sum()) for each in epochs),
        "bytes_of_a_batch": first.num_bytes or None,
        "blocks_of_memory": first.num_blocks or None,
    }
    if np.size(call.separator_ids):
        facts["separators_that_end_texts"] = sum(e.ends for e in epochs)
        facts["separators_that_are_scored"] = sum(e.ends_scored for e in epochs)
    for each in frames:
        facts[f"separators_{each.side}_documents"] = [
            {"separators": list(run), "documents": count} for run, count in each.counts
        ]
    if 1 < len(starts) <= MOST_SOURCES:
        of_each = np.add.reduceat(ledger.as_target, starts)
        shares = of_each / max(1, of_each.sum())
        facts["targets_by_document"] = [round(float(share), 3) for share in shares]
    rows = np.unique(first.rows.first, return_inverse=True)[1]
    if rows.max() >= 2:
        mixing = measure_mixing(rows, int(rows.max()) + 1)
        facts["correlation_of_successive_rows"] = round(mixing.correlation, 3)
        facts["distance_of_successive_rows"] = round(mixing.distance, 3)
        facts["distinct_steps_between_rows"] = round(mixing.distinct_steps, 3)
    return facts


def targets_of_rows(reading: EpochRecord) -> np.ndarray:
    """Return how many tokens count in the loss, of each row that holds tokens."""
    return reading.rows.num_targets[reading.rows.first >= 0]


def spread_of(numbers: np.ndarray) -> list[int]:
    """Return the least and the greatest number, and three that cut them in quarters."""
    if not numbers.size:
        return []
    return np.percentile(numbers, [0, 25, 50, 75, 100], method="nearest").tolist()


def notes_on_rows(epochs: Sequence[EpochRecord], found: Findings) -> list[str]:
    """Say which rows have no target or come again, and what their padding is."""
    notes = []
    num_targets = np.concatenate([targets_of_rows(epoch) for epoch in epochs])
    rows = counted(len(num_targets), "row")
    if none := int((num_targets == 0).sum()):
        words = f"{none:,} of {rows} {'has' if none == 1 else 'have'} no target"
        batches = [np.bincount(e.rows.batch, e.rows.num_targets) for e in epochs]
        empty = int((np.concatenate(batches) == 0).sum())
        if empty:
            words += f", and {counted(empty, 'batch')} of {sum(map(len, batches)):,} "
            words += "none at all, over which a mean loss is nan"
        notes.append(words)
    again = sum(int(epoch.comes_again.sum()) for epoch in epochs)
    if again and "repeated" not in found:
        come = "comes" if again == 1 else "come"
        notes.append(f"{again:,} of {rows} {come} again in an epoch")
    if firsts := sum(epoch.firsts_after_padding for epoch in epochs):
        words = f"the first token of {counted(firsts, 'row')} is scored, after padding"
        notes.append(f"{words} that is hidden from it, so that no model can know it")
    for side, harm in (
        ("before", "its tokens see it, unless your model hides it itself"),
        ("after", "harmless where attention looks back alone"),
    ):
        lengths = [getattr(epoch.rows, f"padding_{side}") for epoch in epochs]
        lengths = np.concatenate(lengths)
        if is_padding(lengths) and "visible_padding" not in found:
            count = counted(int(np.count_nonzero(lengths)), "row")
            words = f"nothing hides the padding {side} the text of {count}"
            notes.append(f"{words}: {harm}")
    return notes


def notes_of(
    call: LoaderCall,
    ranks: Sequence[RankEpochs],
    in_processes: bool,
) -> list[str]:
    """Say what is no finding, but good to know."""
    epochs = [rank.epochs[0] for rank in ranks]
    notes = [note for rank in ranks for note in rank.notes]
    notes += [remark for epoch in epochs for remark in epoch.remarks]
    if any(each.ends for each in epochs) and not any(e.ends_scored for e in epochs):
        words = "a model that learns only from these labels never learns to end a text"
        notes.append(f"no separator is scored where a text ends, so {words}")
    if split := sum(epoch.rows_split for epoch in epochs):
        words = f"positions begin again inside a document in {counted(split, 'row')}"
        notes.append(f"{words}: a model that tells documents by them sees only parts")
    if open_ := sum(epoch.rows_open for epoch in epochs):
        words = (
            f"in {counted(open_, 'row')}, nothing but a dropped label stands between "
        )
        words += "two documents"
        notes.append(f"{words}: a model may look from one into the next")
    if len(ranks) > 1 and not in_processes and "rank" not in call.names:
        words = "make_loader does not name rank, so all ranks get the same call"
        notes.append(
            f"{words}; if it asks torch.distributed or the environment, run "
            "the ranks in processes"
        )
    if len(ranks) == 1 and {"rank", "world_size"} & set(call.names):
        named = " and ".join(n for n in ("rank", "world_size") if n in call.names)
        notes.append(
            f"make_loader names {named}, but one rank was read: world_size=2 "
            "(--world-size 2) also compares ranks with one another"
        )
    if not epochs[0].is_pair and not epochs[0].fills_gaps:
        words = "labels stand where inputs stand, because the model shifts them"
        if not epochs[0].label_types:
            words = "no labels were handed out, so the inputs were taken for labels, "
            words += "which the model would have to shift"
        notes.append(words)
    if any(epoch.is_cut for rank in ranks for epoch in rank.epochs):
        notes.append(f"each epoch was ended after max_batches={call.max_batches}")
    if len(ranks[0].epochs) == 1:
        notes.append("one epoch alone cannot tell whether orders and offsets change")
    return notes
