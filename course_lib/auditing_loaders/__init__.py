"""Lesson 14: what any loader does, told by the batches that it makes.

The loader gets a stream of ids that tell their own positions. So a batch says where
each of its tokens comes from, and from batches alone follow the starts, the ledger, the
order, what ranks share, and what a resumed run repeats. `handed_out` keeps all of it in
one table, and `findings` asks the table its questions.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated

import numpy as np
from torch import distributed

from course_lib.auditing_loaders.batch_rows import BatchRows
from course_lib.auditing_loaders.findings import (
    FINDINGS,
    Finding,
    Findings,
    commonest_stride,
    epochs_to_decide,
    find_in_rows,
    find_lost,
    find_overlaps,
    find_overlaps_in_turns,
    find_repeats,
    find_resumed,
    find_resumed_elsewhere,
    find_same_order,
    find_steps,
    find_unrepeatable,
    find_weak_shuffle,
    left_over,
)
from course_lib.auditing_loaders.handed_out import Reading, count_turns, ledger_of
from course_lib.auditing_loaders.loader_reading import (
    END,
    LoaderCall,
    MadeLoader,
    check_that_ids_are_told,
    guarded,
    make_stream,
    read_epoch,
)
from course_lib.auditing_loaders.loader_reading import LoaderError as LoaderError
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

FEWEST_TOKENS, MOST_TOKENS = 4_000, 2**22  # where the loader's batches choose
STEPS = 50  # of all ranks, that the stream then has, so that a step is 2 % of it
SHUFFLED = {  # what the measures of lesson 11 are near, in an order of all rows
    "correlation of successive rows": "0",
    "distance of successive rows": "1/3",
    "distinct steps between rows": "0.63",  # 1 - 1/e, as of random steps
}
VERSION = 2  # of what `Audit.as_dict` holds
MOST_SOURCES = 8  # documents that may be the sources of a mixture
LONG = 1_000_000  # tokens from which on reading shows its progress


# What one rank reads


@dataclass
class RankReading:
    """What one rank has read: its epochs, the first of them again, and resumed."""

    epochs: list[Reading] = field(default_factory=list)
    found: Findings = field(default_factory=Findings)
    notes: list[str] = field(default_factory=list)


def read_rank(
    call: LoaderCall, num_epochs: int, resume_after: int | None
) -> RankReading:
    """Read the epochs of one rank, the first of them twice, and resume the first."""
    rank = RankReading()
    made = call()
    for epoch in range(num_epochs):
        anew = epoch > 0 and call.begins_anew(made, rank.epochs[-1].is_cut)
        if anew:
            made = call(epoch)
        seen = _read(call, made, epoch, rank.found)
        if epoch and not seen.num_batches:  # it can be iterated only once
            made = call(epoch)
            seen = _read(call, made, epoch, rank.found)
        check_that_ids_are_told(seen, call, made)
        is_next = epoch > 0 and not anew
        seen.goes_on = is_next and isinstance(made.loader, Iterator)
        rank.epochs.append(seen)
    if rank.epochs[0].views_stream:
        words = "writing into them changes it"
        rank.notes.append(f"batches are views of the stream: {words}")
    find_unrepeatable(rank.epochs[0], read_epoch(call, call()), rank.found)
    if call.can_resume(made):
        resume(call, resume_after, rank)
        if not call.begins_anew(made):
            resume(call, resume_after, rank, iterations=1)
    else:
        words = "it has no state_dict and load_state_dict"
        rank.notes.append(f"resuming the loader was not tried, because {words}")
    return rank


def _read(call: LoaderCall, made: MadeLoader, epoch: int, found: Findings) -> Reading:
    """Read an epoch, and find what is wrong inside its rows and in memory."""
    memory: list[tuple[np.ndarray, np.ndarray]] = []
    here = Findings()

    def look(batch: BatchRows, at: str) -> None:
        memory[:] = find_shared_memory(batch, memory, here, at)

    seen = read_epoch(call, made, look=look, epoch=epoch)
    find_in_rows(seen, call.documents, here)
    found.update(here | found)  # the first epoch that shows it
    return seen


def find_shared_memory(
    batch: BatchRows, before: list, found: Findings, at: str
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Find what lies in the same memory: inputs and labels, or two batches.

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


def resume(
    call: LoaderCall,
    resume_after: int | None,
    rank: RankReading,
    iterations: int = 0,
) -> None:
    """Stop a loader, go on in a new one, and compare with what the first one gives.

    It is stopped after so many whole iterations, in which some loaders count epochs.
    """
    num_batches = rank.epochs[0].num_batches
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
        rank.notes.append(f"resuming was not tried, because {error}")
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
    find_resumed(expected, read_epoch(left, new), found, when)
    rank.found.update(found | rank.found)  # the first that shows it
    is_cut = call.max_batches is not None  # then the epoch goes on
    if not call.begins_anew(new) and not iterations and not is_cut:
        wanted, after = read_epoch(call, stopped), read_epoch(call, new)
        words = "the epoch after a resumed one"
        if 0 < after.num_batches != wanted.num_batches:
            counts = f"{after.num_batches} batches instead of {wanted.num_batches}"
            rank.notes.append(f"{words} has {counts}")
        elif "not_repeatable" not in rank.found and not np.array_equal(
            wanted.order, after.order
        ):
            rank.notes.append(f"{words} has another order than without a stop")


def resume_elsewhere(
    call: LoaderCall,
    other: LoaderCall,
    stop: int,
    in_processes: bool,
) -> Findings:
    """Stop all ranks of one loader, and go on with all ranks of another one: of other
    ranks, or of another batch size. Each gets the state of the rank of its number, and
    round again where there were fewer."""
    calls, others = call.of_ranks(), other.of_ranks()
    told = _each_rank(_stop_and_save, calls, stop, in_processes=in_processes)
    before, states, expected = zip(*told, strict=True)
    resumed = _each_rank(_load_and_read, others, states, in_processes=in_processes)
    found = Findings()
    when = f"after {stop} batches of {call.world_size} ranks on {other.world_size}"
    find_resumed_elsewhere(before, expected, resumed, found, when)
    return found


def _stop_and_save(call: LoaderCall, stop: int) -> tuple[Reading, object, Reading]:
    made = _resumable(call)
    batches = guarded(made.words, iter, made.loader)
    before = read_epoch(replace(call, max_batches=stop), made, batches=batches)
    state = guarded(f"state_dict() of {made.words}", made.loader.state_dict)
    state = guarded(f"saving the state of {made.words}", _saved, state)
    return before, state, read_epoch(call, made, batches=batches)


def _load_and_read(call: LoaderCall, states: Sequence[object]) -> Reading:
    made = _resumable(call)
    state = states[call.rank % len(states)]
    guarded(f"load_state_dict of {made.words}", made.loader.load_state_dict, state)
    return read_epoch(call, made)


def _resumable(call: LoaderCall) -> MadeLoader:
    made = call()
    if not call.can_resume(made):
        kind = type(made.loader).__name__
        raise TypeError(
            "a loader that is resumed elsewhere must have state_dict and "
            f"load_state_dict, but {made.words} returned {kind}"
        )
    return made


def _saved(state: object) -> object:
    """Return a state as a checkpoint would keep it."""
    return pickle.loads(pickle.dumps(state))


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
        several = "s" * (len(self.findings) != 1)
        lines = [f"{len(self.findings)} finding{several}"] if self.findings else []
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


@checked
def audit_loader(
    make_loader: Callable[..., Iterable],
    *,
    num_tokens: Count | None = None,
    num_epochs: Annotated[int, AtLeast(1, 1_000)] = 2,
    world_size: Annotated[int, AtLeast(1, 64)] = 1,
    document_lengths: object | None = None,
    resume_after: Count | None = None,
    resume_world_size: Annotated[int, AtLeast(1, 64)] | None = None,
    resume_in: Callable[..., Iterable] | None = None,
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
    have `attention_mask`, `position_ids`, `loss_mask`, numbers of documents as
    `segment_ids`, or their ends as `cu_seqlens`. By keyword
    `make_loader` is given what it names of `epoch`, `rank`, `world_size` and
    `document_starts`. If it
    does not name `epoch`, the next epoch is the next iteration of the same loader, or
    another call where a loader can be iterated only once.

    No global generator is seeded, and each call gets ids of its own, an int64 array.

    Args:
        make_loader: as above. It is called for each rank, and for an epoch again.
        num_tokens: N, the length of the stream. By default the first batch decides, so
            that there are at least fifty steps of all ranks.
        num_epochs: at least 2 to compare their orders. Where these leave it open
            whether tokens are lost by chance, more are read.
        world_size: the number of ranks.
        document_lengths: the stream is one document after another; N is their sum. Up
            to eight may be the sources of a mixture: a fact is the share of each.
            With a tokenizer, texts have so many tokens or a few more.
        resume_after: the number of batches after which the loader is resumed in a new
            one, if it has `state_dict` and `load_state_dict`; by default half of them.
        resume_world_size: resume also on so many ranks, which together must read what
            the others would have read.
        resume_in: resume also in what this makes, such as a loader of another batch
            size. It is called like `make_loader`.
        vocab_size: ids stay below it, and a few neighbors in a row tell their place.
            Documents that are shorter than that cannot be told.
        max_batches: an epoch ends here, if a loader is endless.
        separator_ids: ids of the loader's own, such as an end of text, which may be
            scored. Any other id that was not handed out counts as padding.
        tokenizer: `make_loader` gets a list of texts instead of ids, each a document.
            A loader must tokenize them whole, with this tokenizer.
        processes: run ranks in processes that form one group of `torch.distributed`,
            instead of one after another; `make_loader` must be found there by name.
        progress: show bars; by default for a million tokens or more.

    Raises LoaderError if the loader raises, and TypeError or ValueError if it gives no
    batches, no end of them, or something that is not a batch.
    """
    is_elsewhere = resume_world_size is not None or resume_in is not None
    if is_elsewhere and max_batches is not None:
        raise ValueError(
            "resume_world_size and resume_in need an epoch that ends, and max_batches "
            "is for one without an end: there is no rest to compare"
        )
    if num_tokens is None and document_lengths is None:
        num_tokens = choose_num_tokens(
            make_loader, world_size, vocab_size, tokenizer, processes
        )
    stream, documents, texts = make_stream(
        2 if num_tokens is None else num_tokens,
        document_lengths,
        vocab_size,
        tokenizer,
    )
    if progress is None and len(stream) < LONG:
        progress = False
    call = LoaderCall(
        make_loader,
        stream,
        documents,
        texts,
        separator_ids,
        max_batches,
        progress,
        world_size=world_size,
    )
    run = partial(_each_rank, read_rank, call.of_ranks(), in_processes=processes)
    ranks = run(num_epochs, resume_after)
    found, undecided, is_open = judge(call, ranks, _read_alone(call, ranks, processes))
    enough = epochs_to_decide([rank.epochs[0] for rank in ranks])
    if is_open and num_epochs < enough:
        with suppress(LoaderError):  # it may know no more epochs
            more = run(enough, resume_after)
            more_found, more_undecided, _ = judge(call, more, None)
            for name in ("lost", "ranks_lose"):
                for said, now in ((found, more_found), (undecided, more_undecided)):
                    said.pop(name, None)
                    said |= {name: now[name]} if name in now else {}
    if is_elsewhere:
        other = replace(
            call,
            make_loader=resume_in or make_loader,
            world_size=resume_world_size or world_size,
        )
        half = min(rank.epochs[0].num_batches for rank in ranks) // 2
        stop = half if resume_after is None else resume_after
        elsewhere = resume_elsewhere(call, other, stop, processes)
        found.update(elsewhere | found)
    return _conclude(call, ranks, found, undecided, processes)


def choose_num_tokens(
    make_loader: Callable,
    world_size: int,
    vocab_size: int | None,
    tokenizer: object | None,
    processes: bool,
) -> int:
    """Return how many tokens make fifty steps of all ranks, by the first batch."""
    if processes:  # it may know its rank only there
        world_size, ranks = 1, world_size
    else:
        ranks = world_size
    num_tokens = FEWEST_TOKENS
    while True:
        stream, documents, texts = make_stream(num_tokens, None, vocab_size, tokenizer)
        call = LoaderCall(
            make_loader,
            stream,
            documents,
            texts,
            np.zeros(0, np.int64),
            1,
            False,
            world_size=world_size,
        )
        if processes:
            (rank,) = _in_processes(_read_first_batch, [call])
        else:
            rank = _read_first_batch([call])
        if rank or num_tokens >= MOST_TOKENS:
            return int(min(MOST_TOKENS, max(num_tokens, STEPS * rank * ranks)))
        num_tokens *= 8


def _read_first_batch(calls: Sequence[LoaderCall]) -> int:
    """Return the targets of the first batch, 0 if there is none."""
    made = calls[0]()
    reading = read_epoch(calls[0], made)
    return reading.batch_size * reading.row_length


def _each_rank(
    work: Callable, calls: Sequence[LoaderCall], *rest: object, in_processes: bool
) -> list:
    """Do this for each rank: one after another, or in processes of one group."""
    if in_processes:
        return _in_processes(partial(_on_own_rank, work), calls, *rest)
    return [work(call, *rest) for call in calls]


def _on_own_rank(work: Callable, calls: Sequence[LoaderCall], *rest: object) -> object:
    return work(calls[distributed.get_rank()], *rest)


def _in_processes(work: Callable, calls: Sequence[LoaderCall], *rest: object) -> list:
    """Let each rank do this in a process of its own, in one group."""
    try:
        pickle.dumps(calls[0].make_loader)
    except Exception as error:
        raise TypeError(
            "make_loader must be a function that other processes can import by its "
            f"name, got {calls[0].make_loader!r:.100}"
        ) from error
    share = partial(_work_on_own_rank, work)
    results = run_ranks(share, len(calls), calls, *rest, time_limit=600.0)
    if errors := [each for each in results if isinstance(each, Exception)]:
        raise errors[0]
    return results


def _work_on_own_rank(
    work: Callable, calls: Sequence[LoaderCall], *rest: object
) -> object:
    rank = distributed.get_rank()
    # as `torchrun` sets them, because some libraries ask nobody else
    for name, value in (("RANK", rank), ("WORLD_SIZE", len(calls))):
        os.environ[name] = os.environ[f"LOCAL_{name}"] = str(value)
    try:
        return work(calls, *rest)
    except (LoaderError, TypeError, ValueError) as error:
        return error


def _read_alone(
    call: LoaderCall, ranks: Sequence[RankReading], in_processes: bool
) -> np.ndarray | None:
    """Return how often one rank of one has each token as a target, at most, in epochs
    of the same numbers: what all ranks together should read. None if it can't be one.
    """
    num_epochs = len(ranks[0].epochs)
    if len(ranks) == 1:
        return None
    if not in_processes and not {"rank", "world_size"} & set(call.names):
        return np.max([epoch.targets for epoch in ranks[0].epochs], axis=0)
    alone = replace(call, rank=0, world_size=1)
    try:
        if in_processes:
            (epochs,) = _in_processes(_read_epochs, [alone], num_epochs)
        else:
            epochs = _read_epochs([alone], num_epochs)
    except (LoaderError, TypeError, ValueError) as error:
        words = f"one rank alone could not be read, because {error}"
        ranks[0].notes.append(f"{words}: ranks were compared with one another")
        return None
    return np.max([epoch.targets for epoch in epochs], axis=0)


def _read_epochs(calls: Sequence[LoaderCall], num_epochs: int) -> list[Reading]:
    (call,) = calls
    made, epochs = call(), []
    for epoch in range(num_epochs):
        if epoch and call.begins_anew(made, epochs[-1].is_cut):
            made = call(epoch)
        epochs.append(read_epoch(call, made, epoch=epoch))
    return epochs


def judge(
    call: LoaderCall, ranks: Sequence[RankReading], alone: np.ndarray | None
) -> tuple[Findings, dict[str, str], bool]:
    """Ask all readings what they show together.

    Return the findings, what could not be decided, and whether it is open if lost
    tokens are lost by chance.
    """
    found, undecided = Findings(), {}
    for rank in ranks:
        for finding in rank.found.values():
            found.add(finding.name, finding.count, finding.evidence)
    epochs = [rank.epochs for rank in ranks]
    count_turns(epochs)
    for own in epochs:
        find_same_order(own, found, undecided)
        find_weak_shuffle(own[0], found)
    by_epoch = list(zip(*epochs, strict=True))
    for readings in by_epoch:
        here = Findings()
        find_repeats(readings, call.documents, here, undecided)
        if len(readings) > 1:
            find_steps(readings, here)
            if readings[0].is_cut:
                find_overlaps_in_turns(readings, here)
            else:
                find_overlaps(readings, alone, here)
        found.update(here | found)  # the first epoch that shows it
    is_open = find_lost(by_epoch, call.documents, found, undecided, ranks[0].notes)
    return found, undecided, is_open


def _conclude(
    call: LoaderCall,
    ranks: Sequence[RankReading],
    found: Findings,
    undecided: dict[str, str],
    in_processes: bool,
) -> Audit:
    epochs = [rank.epochs[0] for rank in ranks]
    first = epochs[0]
    ledger = ledger_of(epochs)
    notes = [note for rank in ranks for note in rank.notes]
    notes += [remark for epoch in epochs for remark in epoch.remarks]
    if len(ranks) > 1 and not in_processes and "rank" not in call.names:
        words = "make_loader does not name rank, so all ranks get the same call"
        notes.append(
            f"{words}; if it asks torch.distributed or the environment, run "
            "the ranks in processes"
        )
    if len(ranks) == 1 and "rank" in call.names:
        notes.append("make_loader names rank, but one rank was read: none was compared")
    if not first.is_pair:
        notes.append("labels stand where inputs stand, because the model shifts them")
    if any(epoch.is_cut for rank in ranks for epoch in rank.epochs):
        notes.append(f"each epoch was ended after max_batches={call.max_batches}")
    if len(ranks[0].epochs) == 1:
        notes.append("one epoch alone cannot tell whether orders and offsets change")
    starts = tuple(epoch.starts for epoch in epochs)
    steps = [epoch.num_batches for epoch in epochs]
    ahead = first.commonest_ahead
    shift = None if ahead is None else ahead + first.is_pair
    facts: dict[str, object] = {
        "tokens": len(call.stream),
        "tokens in a row": first.row_length,
        "rows in a batch": first.batch_size,
        "batches": steps[0] if len(ranks) == 1 else ", ".join(map(str, steps)),
        "shift of labels": "none" if shift is None else shift,
        "stride": commonest_stride(np.concatenate(starts)),
        "share that is a target": ledger.targets / ledger.num_tokens,
        "left over": left_over(ledger, call.documents.starts, found),
        "most turns as a target": int(ledger.as_target.max()),
        "bytes of a batch": first.num_bytes or "unknown, as of lists",
        "blocks of memory": first.num_blocks or "unknown, as of lists",
    }
    starts_of_documents = call.documents.starts
    if 1 < len(starts_of_documents) <= MOST_SOURCES:
        of_each = np.add.reduceat(ledger.as_target, starts_of_documents)
        shares = of_each / max(1, of_each.sum())
        facts["targets by document"] = [round(float(share), 3) for share in shares]
    rows = np.unique(first.firsts, return_inverse=True)[1]
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
        firsts=tuple(epoch.firsts for epoch in epochs),
        ledger=ledger,
        findings=tuple(found[name] for name in FINDINGS if name in found),
        facts=facts,
        undecided=undecided,
        notes=tuple(dict.fromkeys(notes)),
    )
