"""Lesson 14: what any loader does, seen from the batches that it makes.

The loader gets a stream of ids that tell their own positions (`coded_stream`). So a
batch, read as rows (`batch_rows`) whose places are known (`row_positions`), says where
each of its tokens comes from. All of it is kept in columns (`epoch_record`), to which
`findings` and `coverage` ask their questions, and `report` says the answers. A version
of one screen, without their care, is `one_screen`. What no audit sees, a reader does:
`batch_view` writes a batch as text.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Annotated

import numpy as np

from course_lib.auditing_loaders.batch_view import show_batch as show_batch
from course_lib.auditing_loaders.coded_stream import NO_UINT16
from course_lib.auditing_loaders.coded_stream import CodedStream as CodedStream
from course_lib.auditing_loaders.coverage import (
    epochs_to_decide,
    find_lost,
    find_overlaps_in_passes,
    find_repeats,
    find_steps,
    other_length,
)
from course_lib.auditing_loaders.coverage import find_overlaps as find_overlaps
from course_lib.auditing_loaders.epoch_record import count_passes
from course_lib.auditing_loaders.findings import FINDINGS as FINDINGS
from course_lib.auditing_loaders.findings import Finding as Finding
from course_lib.auditing_loaders.findings import (
    Findings,
    find_same_order,
    find_weak_shuffle,
)
from course_lib.auditing_loaders.findings import find_resumed as find_resumed
from course_lib.auditing_loaders.loader_calls import (
    LoaderCall,
    LoaderError,
    make_stream,
    named_by,
    read_epoch,
)
from course_lib.auditing_loaders.one_screen import MiniAudit as MiniAudit
from course_lib.auditing_loaders.rank_epochs import (
    RankEpochs,
    read_elsewhere,
    read_epochs,
    read_rank,
    read_rank_once,
)
from course_lib.auditing_loaders.report import FACTS as FACTS
from course_lib.auditing_loaders.report import NOT_TRIED as NOT_TRIED
from course_lib.auditing_loaders.report import VERSION as VERSION
from course_lib.auditing_loaders.report import Audit, conclude
from course_lib.foundation import (
    AtLeast,
    Count,
    Integers,
    Length,
    checked,
)

TellingIds = CodedStream  # its name until version 0.1
FEWEST_TOKENS, MOST_TOKENS = 4_000, 2**22  # where the loader's batches choose
STEPS = 50  # of all ranks, that the stream then has, so that a step is 2 % of it
OF_NEXT_TOKENS = ("visible_answer", "wrong_shift", "broken_row", "lost", "ranks_lose")
# for the hashes of strings, by rank
FIRST_SEEDS, OTHER_SEEDS = range(1, 65), range(1_001, 1_065)
LONG = 1_000_000  # tokens from which on reading shows its progress


@checked
def audit_loader(
    make_loader: Callable[..., Iterable],
    *,
    num_tokens: Count | None = None,
    num_epochs: Annotated[int, AtLeast(1, 1_000)] = 2,
    world_size: Annotated[int, AtLeast(1, 64)] | None = None,
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

    It is about loaders for the prediction of the next token, and not about those whose
    labels are what was masked in the inputs.

    `make_loader(ids, ...)` returns an iterable of batches, one epoch. A batch is a pair
    (inputs, targets) of tensors, arrays or lists of shape (B, T), or a mapping with
    `input_ids` and perhaps `labels`, which stand where the inputs stand because the
    model shifts, or with `inputs` and `targets`, which are a pair. A mapping may also
    have `attention_mask`, `position_ids`, `loss_mask`, numbers of documents as
    `segment_ids`, or their ends as `cu_seqlens`. By keyword `make_loader` is given what
    it names of `epoch`, `rank`, `world_size` and `document_starts`. If it does not name
    `epoch`, the next epoch is the next iteration of the same loader, or another call
    where a loader can be iterated only once.

    No global generator is seeded, and each call gets ids of its own, an int64 array.

    Args:
        make_loader: as above. It is called for each rank, and for an epoch again.
        num_tokens: N, the length of the stream. By default the first batch decides, so
            that there are at least fifty steps of all ranks; and some epochs are read
            at another length, so that windows once fill whole batches and once don't.
        num_epochs: at least 2 to compare their orders. Where these leave it open
            whether tokens are lost by chance, more are read.
        world_size: the number of ranks. By default two, if `make_loader` names `rank`
            and `world_size`, or with `processes`; otherwise one, which shows nothing of
            what ranks do together.
        document_lengths: the stream is one document after another; N is their sum. Up
            to eight may be the sources of a mixture: a fact is the share of each.
            With a tokenizer, texts have so many tokens or a few more.
        resume_after: the number of batches after which the loader is resumed in a new
            one, if it has `state_dict` and `load_state_dict`; by default half of them.
            In the middle of what is left, that one is resumed once more. And one is
            resumed at the end of an epoch, from its state before and after it said so.
        vocab_size: ids stay below it, and a few neighbors in a row tell their place.
            Shorter documents than that cannot be identified. Of a large vocabulary,
            high ids are handed out, so that too narrow a dtype shows.
        max_batches: an epoch ends here, if a loader is endless.
        separator_ids: ids of the loader's own, such as an end of text, which may be
            scored. Any other id that was not handed out counts as padding. With
            documents, facts and notes say which of them stand before and after each.
        tokenizer: `make_loader` gets a list of texts instead of ids, each a document.
            A loader must tokenize them whole, with this tokenizer.
        processes: run ranks in processes that form one group of `torch.distributed`,
            instead of one after another; `make_loader` must be found there by name.
            Each has its own seed for the hashes of strings, as those that `torchrun`
            starts, and what is read again, or resumed, is read in others once more.
        progress: show bars; by default for a million tokens or more.

    Raises LoaderError if the loader raises, and TypeError or ValueError if it gives no
    batches, no end of them, or something that is not a batch.
    """
    if world_size is None:
        is_told = {"rank", "world_size"} <= set(named_by(make_loader))
        world_size = 2 if is_told or processes else 1
    by_default = num_tokens is None and document_lengths is None
    if by_default:
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
    ranks, found, undecided = read_and_judge(call, num_epochs, resume_after, processes)
    if ranks[0].epochs[0].fills_gaps:
        set_aside_targets(found, undecided)
        ranks[0].num_lost = 0
        by_default = False
    audit = conclude(call, ranks, found, undecided, processes)
    if by_default and tokenizer is None:
        audit = add_other_length(audit, call, ranks, num_epochs, processes)
    return audit


def read_and_judge(
    call: LoaderCall,
    num_epochs: int,
    resume_after: int | None,
    processes: bool,
    work: Callable = read_rank,
) -> tuple[list[RankEpochs], Findings, dict[str, str]]:
    """Read all ranks, and return what was read, found, and could not be decided."""
    each_rank = partial(_each_rank, call.of_ranks(), processes)
    ranks = each_rank(work, num_epochs, resume_after, hash_seeds=FIRST_SEEDS)
    if processes and work is read_rank:
        elsewhere = each_rank(read_elsewhere, ranks, hash_seeds=OTHER_SEEDS)
        for rank, more in zip(ranks, elsewhere, strict=True):
            rank.found.keep_largest(more.found)
    found, undecided = judge(call, ranks, _read_alone(call, ranks, processes))
    epochs = [rank.epochs for rank in ranks]
    loss = find_lost(epochs, call.documents)
    enough = epochs_to_decide([own[0] for own in epochs])
    if loss.by_chance and num_epochs < enough:
        with suppress(LoaderError):  # it may know no more epochs
            epochs = each_rank(read_epochs, enough, hash_seeds=FIRST_SEEDS)
            count_passes(epochs)
            loss = find_lost(epochs, call.documents)
    loss.tell(found, undecided, ranks[0].notes)
    ranks[0].num_lost = loss.in_first
    return ranks, found, undecided


def set_aside_targets(found: Findings, undecided: dict[str, str]) -> None:
    """Leave open what is asked of next tokens, where labels never are these."""
    for name in OF_NEXT_TOKENS:
        found.pop(name, None)
        undecided.pop(name, None)
    undecided["lost"] = (
        "labels stand where inputs were taken out, as in masked language modeling, but "
        "this audit is about the prediction of the next token"
    )


def add_other_length(
    audit: Audit,
    call: LoaderCall,
    ranks: Sequence[RankEpochs],
    num_epochs: int,
    processes: bool,
) -> Audit:
    """Read the loader at another length of the stream, with a last batch that is full
    or isn't, and add what only that shows, or shows more often."""
    other = other_length([rank.epochs[0] for rank in ranks])
    if other is None:
        return audit
    num_tokens, words = other
    call = replace(call, stream=call.stream.of_length(num_tokens))
    try:
        _, found, _ = read_and_judge(call, num_epochs, None, processes, read_rank_once)
    except (LoaderError, TypeError, ValueError) as error:
        said = f"a stream of {num_tokens:,} tokens, {words}, could not be read"
        return replace(audit, notes=(*audit.notes, f"{said}, because {error}"))
    where = f", in a stream of {num_tokens:,} tokens, {words}"
    both = Findings({finding.name: finding for finding in audit.findings})
    for name, finding in found.items():
        found[name] = replace(finding, evidence=finding.evidence + where)
    both.keep_largest(found)
    in_order = tuple(both[name] for name in FINDINGS if name in both)
    return replace(audit, findings=in_order)


def judge(
    call: LoaderCall, ranks: Sequence[RankEpochs], alone: np.ndarray | None
) -> tuple[Findings, dict[str, str]]:
    """Ask all readings what they show together, apart from what is lost.

    Return the findings, and what could not be decided.
    """
    found, undecided = Findings(), {}
    for rank in ranks:
        found.add(rank.found)
    epochs = [rank.epochs for rank in ranks]
    count_passes(epochs)
    for own in epochs:
        find_same_order(own, found, undecided)
        find_weak_shuffle(own[0], found)
    for number, readings in enumerate(zip(*epochs, strict=True)):
        here = Findings()
        for rank in ranks:
            here.add(rank.by_epoch[number])
        find_repeats(readings, call.documents, here, undecided)
        if len(readings) > 1:
            find_steps(readings, here)
            if readings[0].is_cut:
                find_overlaps_in_passes(readings, here)
            else:
                find_overlaps(readings, alone, here)
        found.keep_largest(here)
    if "document_starts" in call.names and len(call.documents.starts) < 2:
        undecided["crosses_documents"] = (
            "the stream was a single document; say how long your documents are "
            "(document_lengths)"
        )
    size = call.stream.vocab_size or 0
    if call.stream.ids.max() < NO_UINT16 < size and "narrow_ids" not in found:
        undecided["narrow_ids"] = (
            f"no id above {NO_UINT16 - 1:,} was handed out, although a vocabulary of "
            f"{size:,} has some; say {NO_UINT16 + 100:,} instead"
        )
    return found, undecided


def choose_num_tokens(
    make_loader: Callable,
    world_size: int,
    vocab_size: int | None,
    tokenizer: object | None,
    processes: bool,
) -> int:
    """Return how many tokens make fifty steps of all ranks, by the first batch."""
    num_tokens, ranks = FEWEST_TOKENS, world_size
    if processes:  # it may know its rank only there
        world_size = 1
    while True:
        made = make_stream(num_tokens, None, vocab_size, tokenizer)
        call = LoaderCall(make_loader, *made, max_batches=1, world_size=world_size)
        (targets,) = _each_rank([call], processes, _read_first_batch)
        if targets or num_tokens >= MOST_TOKENS:
            return int(min(MOST_TOKENS, max(num_tokens, STEPS * targets * ranks)))
        num_tokens *= 8


def _read_first_batch(call: LoaderCall) -> int:
    """Return the targets of the first batch, 0 if there is none."""
    reading = read_epoch(call, call())
    return reading.batch_size * reading.row_length


def _read_alone(
    call: LoaderCall, ranks: Sequence[RankEpochs], in_processes: bool
) -> np.ndarray | None:
    """Return how often one rank of one has each token as a target, at most, in epochs
    of the same numbers: what all ranks together should read. None if it can't be one.
    """
    epochs = ranks[0].epochs
    if len(ranks) == 1:
        return None
    if in_processes or {"rank", "world_size"} & set(call.names):
        alone = replace(call, rank=0, world_size=1)
        try:
            (epochs,) = _each_rank([alone], in_processes, read_epochs, len(epochs))
        except (LoaderError, TypeError, ValueError) as error:
            words = "ranks were compared only with one another, because one rank alone"
            ranks[0].notes.append(f"{words} could not be read: {error}")
            return None
    return np.max([epoch.targets for epoch in epochs], axis=0)


# Ranks, one after another or in processes


def _each_rank(
    calls: Sequence[LoaderCall],
    in_processes: bool,
    work: Callable,
    *rest: object,
    hash_seeds: Sequence[int] | None = None,
) -> list:
    """Do this for each rank: one after another, or in processes of one group, with
    these seeds for the hashes of strings."""
    if not in_processes:
        return [work(call, *rest) for call in calls]
    try:
        pickle.dumps(calls[0].make_loader)
    except Exception as error:
        raise TypeError(
            "make_loader must be a function that other processes can import by its "
            f"name, got {calls[0].make_loader!r:.100}"
        ) from error
    from course_lib.foundation import run_ranks  # with PyTorch

    share = partial(_on_own_rank, work)
    seeds = None if hash_seeds is None else hash_seeds[: len(calls)]
    results = run_ranks(
        share, len(calls), calls, *rest, time_limit=600.0, hash_seeds=seeds
    )
    if errors := [each for each in results if isinstance(each, Exception)]:
        raise errors[0]
    return results


def _on_own_rank(work: Callable, calls: Sequence[LoaderCall], *rest: object) -> object:
    from torch import distributed

    rank = distributed.get_rank()
    # as `torchrun` sets them, because some libraries ask nobody else
    for name, value in (("RANK", rank), ("WORLD_SIZE", len(calls))):
        os.environ[name] = os.environ[f"LOCAL_{name}"] = str(value)
    try:
        return work(calls[rank], *rest)
    except (LoaderError, TypeError, ValueError) as error:
        return error
