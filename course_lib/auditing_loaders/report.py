"""What an audit says: findings with their evidence, what is open, facts and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.auditing_loaders.coverage import commonest_stride
from course_lib.auditing_loaders.findings import (
    FINDINGS,
    Finding,
    Findings,
    counted,
)
from course_lib.auditing_loaders.handed_out import ledger_of
from course_lib.auditing_loaders.loader_reading import LoaderCall
from course_lib.auditing_loaders.rank_reading import RankReading
from course_lib.foundation import TokenLedger, measure_mixing

SHUFFLED = {  # what the measures of lesson 11 are near, in an order of all rows
    "correlation of successive rows": "0",
    "distance of successive rows": "1/3",
    "distinct steps between rows": "0.63",  # 1 - 1/e, as of random steps
}
VERSION = 2  # of what `Audit.as_dict` holds
MOST_SOURCES = 8  # documents that may be the sources of a mixture


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
            "facts": {name.replace(" ", "_"): v for name, v in self.facts.items()},
            "notes": list(self.notes),
        }

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
        facts = [f"{name:<{width}}  {_shown(v)}" for name, v in self.facts.items()]
        for number, name in enumerate(self.facts):
            if name in SHUFFLED:
                facts[number] += f" (shuffled: {SHUFFLED[name]})"
        return "\n".join([*lines, "", *facts])


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def conclude(
    call: LoaderCall,
    ranks: Sequence[RankReading],
    found: Findings,
    undecided: dict[str, str],
    in_processes: bool,
) -> Audit:
    """Put together what was found, facts and notes."""
    epochs = [rank.epochs[0] for rank in ranks]
    first = epochs[0]
    ledger = ledger_of(epochs)
    starts = tuple(epoch.starts for epoch in epochs)
    steps = [epoch.num_batches for epoch in epochs]
    ahead = first.commonest_ahead
    shift = None if ahead is None else ahead + first.is_pair
    never = ledger.as_target == 0
    never[call.documents.starts] = False
    lost = sum(found[name].count for name in ("lost", "ranks_lose") if name in found)
    lengths = np.concatenate([np.array(epoch.lengths) for epoch in epochs])
    types = dict.fromkeys(name for epoch in epochs for name in epoch.label_types)
    facts: dict[str, object] = {
        "tokens": len(call.stream),
        "tokens in a row": first.row_length,
        "rows in a batch": first.batch_size,
        "rows shorter than others": int((lengths < lengths.max()).sum()),
        "batches": steps[0] if len(ranks) == 1 else ", ".join(map(str, steps)),
        "shift of labels": "none" if shift is None else shift,
        "type of labels": " and ".join(types),
        "stride": commonest_stride(np.concatenate(starts)),
        "share that is a target": ledger.targets / ledger.num_tokens,
        "left over": max(0, int(np.count_nonzero(never)) - lost),
        "most turns as a target": int(ledger.as_target.max()),
        "bytes of a batch": first.num_bytes or "unknown, as of lists",
        "blocks of memory": first.num_blocks or "unknown, as of lists",
    }
    ends, scored = (sum(getattr(e, n) for e in epochs) for n in ("ends", "ends_scored"))
    if np.size(call.separator_ids):
        facts["separators that are scored"] = f"{scored:,} of {ends:,}"
    if 1 < len(call.documents.starts) <= MOST_SOURCES:
        of_each = np.add.reduceat(ledger.as_target, call.documents.starts)
        shares = of_each / max(1, of_each.sum())
        facts["targets by document"] = [round(float(share), 3) for share in shares]
    rows = np.unique(first.rows.first, return_inverse=True)[1]
    if rows.max() >= 2:
        mixing = measure_mixing(rows, int(rows.max()) + 1)
        measures = mixing.correlation, mixing.distance, mixing.distinct_steps
        facts |= {n: round(m, 3) for n, m in zip(SHUFFLED, measures, strict=True)}
    return Audit(
        context_length=first.row_length,
        batch_size=first.batch_size,
        shift=shift,
        num_batches=steps[0] if len(ranks) == 1 else tuple(steps),
        starts=starts,
        firsts=tuple(epoch.rows.first for epoch in epochs),
        ledger=ledger,
        findings=tuple(found[name] for name in FINDINGS if name in found),
        facts=facts,
        undecided=undecided,
        notes=tuple(dict.fromkeys(notes_of(call, ranks, in_processes, ends, scored))),
    )


def notes_of(
    call: LoaderCall,
    ranks: Sequence[RankReading],
    in_processes: bool,
    ends: int,
    scored: int,
) -> list[str]:
    """Say what is no finding, but good to know."""
    epochs = [rank.epochs[0] for rank in ranks]
    notes = [note for rank in ranks for note in rank.notes]
    notes += [remark for epoch in epochs for remark in epoch.remarks]
    if ends and not scored:
        words = "a model that learns only from these labels never learns to end a text"
        notes.append(f"no separator is scored where a text ends: {words}")
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
    if not epochs[0].is_pair:
        notes.append("labels stand where inputs stand, because the model shifts them")
    if any(epoch.is_cut for rank in ranks for epoch in rank.epochs):
        notes.append(f"each epoch was ended after max_batches={call.max_batches}")
    if len(ranks[0].epochs) == 1:
        notes.append("one epoch alone cannot tell whether orders and offsets change")
    return notes
