"""Audits: what was planted is found, and nothing else; what an audit says is true; no loader gets the better of it."""

from __future__ import annotations

import inspect
import itertools
import json
import random
import re
import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from course_lib.auditing_loaders import FACTS, NOT_TRIED, Audit, LoaderError, audit_loader, show_batch
from course_lib.foundation import token_ledger
from planted_loaders import (
    BEGIN,
    CASES,
    CLEAN,
    DOCUMENTS,
    END,
    OF_DOCUMENTS,
    PLANTED,
    B,
    Bytes,
    N,
    Resumable,
    T,
    Windows,
    aligned,
    batched,
    dealt_out,
    documents_and_their_ends,
    framed_rows,
    one_screen_verdicts,
    pair,
    pairs,
    plain,
    rows,
    shuffled,
    shuffled_pairs,
    whole_batches,
    windows,
)

ROOT = Path(__file__).parent.parent


@cache
def audit_of(name: str) -> Audit:
    case = CASES[name]
    return audit_loader(case.make_loader, **{"world_size": 1} | case.arguments)  # a case says how many it needs


def audit(make_loader, num_tokens=N, **arguments) -> Audit:
    """As one rank, unless a test says how many."""
    arguments = {"world_size": 1} | arguments
    if "document_lengths" in arguments:
        return audit_loader(make_loader, **arguments)
    return audit_loader(make_loader, num_tokens=num_tokens, **arguments)


def found(name: str, which: str):
    (finding,) = (finding for finding in audit_of(name).findings if finding.name == which)
    return finding


def said(name: str) -> str:
    return f"{CASES[name].names} {[(f.name, f.count, f.evidence) for f in audit_of(name).findings]}"


# What was planted


HEAVY = {"stateful", "many_tokens", "many_narrow_ids", "uint16_and_large", "wide_enough_for_large"}


def is_heavy(name: str) -> bool:
    """Whether it starts processes or workers, loads a library, or has very many ids."""
    return name in HEAVY or "workers" in name or bool(CASES[name].arguments.get("processes"))


@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")  # by torchdata
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * is_heavy(name)) for name in CASES])
def test_it_finds_what_was_planted_and_nothing_else(name):
    audit = audit_of(name)
    assert set(audit.names) == set(CASES[name].names), said(name)
    assert audit.names == tuple(finding.name for finding in audit.findings)
    assert audit.clean == (not audit.names)
    for finding in audit.findings:
        assert finding.count >= 1
        assert re.search(r"\d", finding.evidence), "evidence that a person can check says where"
    table = str(audit)
    assert all(name in table for name in audit.names)
    assert json.loads(json.dumps(audit.as_dict()))
    ranks = CASES[name].arguments.get("world_size", 1)
    assert len(audit.starts) == ranks
    assert all(starts.ndim == 1 and starts.dtype == np.int64 for starts in audit.starts)
    assert isinstance(audit.num_batches, int if ranks == 1 else tuple)
    assert np.shape(audit.num_batches) in ((), (ranks,))


COUNTS = {  # of 62 windows at stride T, or 123 at half of it: tokens, or rows for what is wrong inside of them
    "inputs_and_targets_swapped": 62,
    "shifted_by_data_set_and_loop": 62,
    "one_row_in_four_not_shifted": 31,
    "ids_wrap_round": 1,
    "bytes_wrap_round": 1,
    "one_target_slips": 11,
    "stride_of_a_window": 57,  # each first id but that of the stream
    "one_window_is_never_read": 16,
    "long_documents_cut_in_two": 8,  # and the part's first token is not predicted
    "model_shifts_rows_at_their_length": 61,
    "two_workers_that_forget_who_they_are": 62 * T,
    "last_batch_filled_from_the_first": 2 * T,
    "every_rank_reads_all": 62 * T,
    "every_process_reads_all": 62 * T,
    "sampler_that_fills_up": T,
    "local_rank_of_machines_of_two": 31 * T,
    "stream_cut_in_two": 3,  # after the last window of a half; nobody could predict the first id of the other
    "one_token_on": 62 * T - 1,  # rank 0 reads 1 ... 992, and rank 1 reads 2 ... 993
    "a_fifth_again_3_on": 13 * T - 3,  # nobody else reads the last three
    "half_masked": 62 * T // 2,
    "rolled": 62,
    "by_multiplication": 1,  # an order is weak or not
    "through_a_buffer": 1,
    "ShufflesTheRest": 30,
    "ForgetsThePlace": 8 * B * T,
    "MixesUpItsUnits": 4 * B * T,
    "SkipsOneMore": B * T,
    "NothingIsLeft": (62 - 8 * B) * T,
}


@pytest.mark.parametrize("name", COUNTS)
def test_it_counts_as_one_counts_by_hand(name):
    (finding,) = audit_of(name).findings
    assert finding.count == COUNTS[name], said(name)


ROWS = {  # where the bug is, by batch and row
    "one_row_in_four_not_shifted": lambda batch, row: row == 3 or (batch, row) == (30, 2),
    "ids_wrap_round": lambda batch, row: (batch, row) == (15, 2),
    "bytes_wrap_round": lambda batch, row: (batch, row) == (15, 2),
    "one_target_slips": lambda batch, row: batch % 3 == 0 and row == 0,
    "last_row_filled_with_zeros": lambda batch, row: (batch, row) == (15, 2),
}


@pytest.mark.parametrize("name", ROWS)
def test_evidence_names_a_row_that_is_there(name):
    (finding,) = audit_of(name).findings
    row, batch = map(int, re.search(r"row (\d+) of batch (\d+)", finding.evidence).groups())
    assert ROWS[name](batch, row), finding.evidence


def epoch_of(evidence: str) -> int:
    """The epoch that evidence is from, which is said of all but the first."""
    return int((re.findall(r"in epoch (\d+)", evidence) or [0])[0])


def batches_of(name: str, rank: int = 0, epoch: int = 0) -> list:
    case = CASES[name]
    size = case.arguments.get("world_size", 1)
    given = {"epoch": epoch, "rank": rank, "world_size": size}
    named = inspect.signature(case.make_loader).parameters.keys() & given.keys()
    loader = case.make_loader(1_000 + np.arange(case.arguments["num_tokens"]), **{n: given[n] for n in named})
    return list(itertools.islice(loader, case.arguments.get("max_batches")))


TWO_PLACES = (
    r"position (\d+) is a target in row (\d+) of batch (\d+)(?: of rank (\d))?"
    r" and (?:again in )?row (\d+) of batch (\d+)"
)


def targets_of(batches: list, row: int, batch: int) -> list[int]:
    """Positions of the targets of a row."""
    found = batches[batch]
    if isinstance(found, dict):
        return (np.asarray(found["labels"])[row][1:] - 1_000).tolist()
    return (np.atleast_2d(found[1])[row] - 1_000).tolist()


@pytest.mark.slow  # with workers
@pytest.mark.parametrize("which", ["repeated", "ranks_overlap"])
def test_evidence_names_two_rows_that_have_the_target(which):
    names = [name for name, case in PLANTED.items() if which in case.names and "process" not in name]
    of_others = {"max_batches", "document_lengths", "vocab_size"}
    names = [name for name in names if not of_others & CASES[name].arguments.keys()]
    names = [name for name in names if CASES[name].arguments["num_tokens"]]
    # In processes, an order may depend on their hash seeds.
    names = [name for name in names if not CASES[name].arguments.get("processes")]
    assert len(names) >= 4
    for name in names:
        evidence = found(name, which).evidence
        position, row, batch, rank, twin, other = map(int, re.match(TWO_PLACES, evidence).groups(default=0))
        last = int(re.findall(r"of rank (\d)", evidence)[-1]) if which == "ranks_overlap" else rank
        epoch = epoch_of(evidence)
        assert position in targets_of(batches_of(name, rank, epoch), row, batch), evidence
        assert position in targets_of(batches_of(name, last, epoch), twin, other), evidence
        assert (rank, row, batch) != (last, twin, other)


LOSING = [name for name, case in PLANTED.items() if {"lost", "ranks_lose"} & set(case.names)]


@pytest.mark.parametrize("name", [name for name in LOSING if CASES[name].arguments.get("num_tokens", N)])
def test_evidence_names_tokens_that_are_no_targets(name):
    (finding,) = (each for each in audit_of(name).findings if each.name in ("lost", "ranks_lose"))
    count, of = (
        int(number.replace(",", "")) for number in re.match(r"([\d,]+) of ([\d,]+)", finding.evidence).groups()
    )
    runs = re.findall(r"(\d+)(?: \.\.\. (\d+))?", finding.evidence.partition("position")[2])
    ledger, times = audit_of(name).ledger, audit_of(name).ledger.as_target
    if epoch := epoch_of(finding.evidence):  # the ledger is that of the first
        batches = [batches_of(name, rank, epoch) for rank in range(CASES[name].arguments.get("world_size", 1))]
        targets = [targets_of(own, row, at) for own in batches for at, b in enumerate(own) for row in range(len(b[1]))]
        times = np.bincount(np.concatenate(targets), minlength=of)
    assert (count, of) == (finding.count, ledger.num_tokens)
    assert runs
    for begin, end in runs:
        assert not times[int(begin) : int(end or begin) + 1].any()


# What is found in several epochs


ORDERS, RANDOM = {}, np.random.default_rng(7)


def remembered(ids, epoch, rank, world_size):
    """Each epoch has its order from when it was first asked for."""
    if epoch not in ORDERS:
        ORDERS[epoch] = RANDOM.permutation(windows(ids))
    return pairs(ids, ORDERS[epoch][: len(ORDERS[epoch]) // world_size * world_size][rank::world_size])


@pytest.mark.slow  # with processes
def test_an_order_that_depends_on_which_epochs_were_read_before_is_found_in_processes():
    audit = audit_loader(remembered, num_tokens=N, world_size=2, processes=True)
    assert [(finding.name, "in another process" in finding.evidence) for finding in audit.findings] == [
        ("not_repeatable", True)
    ]


def missing(ids, k, rank, world_size):
    """A shuffle of all windows but k, one after another."""
    return pairs(ids, shuffled(np.delete(windows(ids), slice(10, 10 + k)), k)[rank::world_size])


def again(ids, k, rank, world_size):
    order = shuffled(windows(ids), k)
    return pairs(ids, np.append(order, order[:k]))


def others_too(ids, k, rank, world_size):
    order = shuffled(windows(ids), k)
    return pairs(ids, np.append(order[rank::2], order[1 - rank :: 2][: k // 2]))


def uneven(ids, k, rank, world_size):
    """k is the batches of difference, and of 60 windows, rank 1 reads fewer."""
    order = shuffled(windows(ids)[:60], k)
    return pairs(ids, np.split(order, [(60 + B * k) // 2])[rank])


def not_shifted(ids, k, rank, world_size):
    for number, (inputs, targets) in enumerate(pairs(ids, windows(ids, stride=T // 2), 1)):
        yield inputs, inputs.copy() if number < k else targets


class SaysMore:
    def __init__(self, ids, k, rank, world_size):
        self.batches, self.k = list(plain(ids)), k

    def __len__(self):
        return len(self.batches) + self.k

    def __iter__(self):
        return iter(self.batches)


WORSE = {  # loader, tokens, rows or batches for each of k, k in a better and in a worse epoch, ranks
    "lost": (missing, T, 5, 20, 1),
    "ranks_lose": (missing, T, 6, 22, 2),
    "repeated": (again, T, 1, 20, 1),
    "ranks_overlap": (others_too, T, 2, 20, 2),
    "unequal_steps": (uneven, 1, 1, 7, 2),
    "wrong_shift": (not_shifted, 1, 3, 40, 1),
    "wrong_length": (SaysMore, 1, 1, 3, 1),
}


@pytest.mark.parametrize("name", WORSE)
@pytest.mark.parametrize("worse", [0, 1])
def test_of_two_epochs_the_one_that_shows_more_of_a_finding_counts(name, worse):
    loader, each, few, many, ranks = WORSE[name]

    def make_loader(ids, epoch, rank, world_size):
        return loader(ids, many if epoch % 2 == worse else few, rank, world_size)

    num_tokens = 60 * T + 1 if name == "unequal_steps" else N
    audited = audit(make_loader, num_tokens, world_size=ranks)
    found = {each.name: each for each in audited.findings}
    assert found[name].count == each * many
    assert epoch_of(found[name].evidence) == worse or f"epoch {worse}" in found[name].evidence
    with pytest.raises(AssertionError, match=name):
        audited.check(allow=dict.fromkeys(found, 10**6) | {name: each * few})


@pytest.mark.parametrize("worse", [0, 1])
def test_what_is_left_over_is_a_fact_of_the_first_epoch_whichever_loses_more(worse):
    audited = audit(lambda ids, epoch: missing(ids, 20 if epoch % 2 == worse else 5, 0, 1))
    assert audited.facts["left_over"] == N - 1 - 62 * T


def test_of_ranks_each_epoch_is_summed_up_before_they_are_compared():
    def make_loader(ids, epoch, rank):  # each epoch has 10 wrong rows, of one of the ranks
        return not_shifted(ids, 10 * (epoch == rank), rank, 2)

    (finding,) = (each for each in audit(make_loader, world_size=2).findings if each.name == "wrong_shift")
    assert finding.count == 10


class RepeatsMoreLater(Resumable):
    """Resumed, it repeats a batch in its first epoch, and five in its second."""

    def load_state_dict(self, state):
        super().load_state_dict({**state, "done": state["done"] - (5 if state["epoch"] else 1)})


def test_of_two_stops_the_one_after_which_more_is_repeated_counts():
    (finding,) = audit(RepeatsMoreLater).findings
    assert (finding.name, finding.count) == ("resume_repeats", 5 * B * T)
    assert "of a second iteration" in finding.evidence


def test_a_mask_that_shows_the_answer_says_which_token_it_shows():
    for name, label, shown in (
        ("mask_shows_all", 1, T - 1),
        ("mask_shows_one_too_many", 1, T - 1),  # each shows the next
        ("all_to_a_prompt", 5, T),
    ):
        evidence = found(name, "visible_answer").evidence
        label_at, seen = map(
            int, re.search(r"predicts position (\d+), .+ as far as position (\d+),", evidence).groups()
        )
        first = batches_of(name)[0]
        inputs = first.get("inputs", first.get("input_ids"))[0] - 1_000
        assert (label_at - inputs[0], seen - inputs[0]) == (label, shown)


def attends_in_chunks(ids, epoch, size=4):
    """Attention stays within chunks of a window, whatever the documents are."""
    i, j = np.ogrid[:T, :T]
    mask = np.broadcast_to((j <= i) & (i // size == j // size), (1, 1, T, T))
    for inputs, targets in shuffled_pairs(ids, epoch):
        yield {"inputs": inputs, "targets": targets, "attention_mask": mask}


def test_what_a_mask_keeps_apart_may_be_chunks_where_nobody_says_what_the_documents_are():
    (finding,) = audit_loader(attends_in_chunks).findings
    assert finding.name == "scored_padding"
    assert "if what attention_mask keeps apart are documents" in finding.evidence
    *_, first = audit_loader(attends_in_chunks, document_lengths=[N // 4] * 4).findings
    assert first.name == "scored_padding"  # at the begin of a document and of a chunk
    assert first.count <= 3
    assert "keeps apart" not in first.evidence


def test_padding_that_a_mask_of_ones_shows_is_not_said_to_be_hidden():
    notes = audit_of("padding_in_sight_by_a_mask_of_ones_though_positions_begin_anew").notes
    assert not any("hidden from it" in note for note in notes)


def test_of_two_lengths_of_the_stream_the_one_that_loses_more_counts():
    def a_batch_that_is_full_at_the_end(ids, drops):
        starts = windows(ids, stride=T + 1)
        return pairs(ids, starts[:-B] if drops and len(starts) % B == 0 else starts)

    few, many = (audit_loader(partial(a_batch_that_is_full_at_the_end, drops=drops)) for drops in (False, True))
    with pytest.raises(AssertionError, match="not allowed: lost"):
        many.check(allow={finding.name: finding.count for finding in few.findings})


@pytest.mark.parametrize(
    ("size", "length", "extra"),
    # windows of T fill whole batches: once by accident; others only at another length
    [(B, T, 1), (B, T, 0), (5, T - 3, 0), (7, T, 1)],
)
def test_by_default_a_last_batch_that_is_full_and_one_that_is_not_are_read(size, length, extra):
    sizes = []

    def loader(ids):
        starts = np.arange(0, len(ids) - length + 1 - extra, length)
        sizes.append(len(starts) % size)
        for batch in batched(starts, size):
            row = rows(ids, batch, length + extra)
            yield (row[:, :-1].copy(), row[:, 1:].copy()) if extra else {"input_ids": row}

    audit_loader(loader)
    assert 0 in sizes
    assert any(sizes)


def test_evidence_of_another_length_names_it():
    (finding,) = audit_of("last_batch_is_never_read_in_order").findings
    assert finding.evidence == (
        "72 of 3,977 tokens are never a target, such as positions 3905 ... 3976, "
        "in a stream of 3,977 tokens, whose windows fill whole batches"
    )


def test_another_length_that_cannot_be_read_is_noted():
    def loader(ids):
        if len(ids) % 100:
            raise OSError("files of hundreds of ids only")
        return plain(ids)

    audited = audit_loader(loader)
    assert audited.clean
    assert any("3,977 tokens" in note and "files of hundreds" in note for note in audited.notes)


def test_evidence_of_orders_and_steps_is_true():
    for name in ("generator_made_anew", "sampler_without_set_epoch"):
        *begins, last = re.search(r"rows that start at (.+)$", found(name, "same_order").evidence)[1].split(", ")
        assert [*map(int, begins), int(last)] == audit_of(name).starts[0][:3].tolist()
    for name in ("one_window_more", "documents_dealt_out"):
        steps = re.findall(r"rank \d: (\d+)", found(name, "unequal_steps").evidence)
        assert tuple(map(int, steps)) == audit_of(name).num_batches


# What a loader does, recovered


def from_starts(ids, starts, length, size, mapping):
    for batch in batched(starts, size):
        if mapping:
            yield {"input_ids": rows(ids, batch, length + 1).tolist()}
        else:
            yield pair(ids, batch, length)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.data())
def test_a_random_scheme_is_recovered_exactly(data):
    vocab_size = data.draw(st.sampled_from([None, 256]))
    length, size, mapping = data.draw(
        st.tuples(st.integers(8 if vocab_size else 1, 16), st.integers(1, 5), st.booleans())
    )
    num_tokens = data.draw(st.integers(length + 1, 300))
    unique = data.draw(st.booleans())
    starts = data.draw(st.lists(st.integers(0, num_tokens - length - 1), min_size=1, max_size=30, unique=unique))
    loader = partial(from_starts, starts=starts, length=length, size=size, mapping=mapping)
    audit = audit_loader(loader, num_tokens=num_tokens, vocab_size=vocab_size)
    (recovered,) = audit.starts
    assert recovered.tolist() == starts
    assert audit.shift == (None if mapping else 1)
    assert audit.context_length == length + mapping
    assert audit.batch_size == min(size, len(starts))
    assert audit.num_batches == -(-len(starts) // size)
    ledger = token_ledger(starts, num_tokens, length)
    assert np.array_equal(audit.ledger.as_target, ledger.as_target)
    if not mapping:
        assert audit.ledger == ledger
    assert set(audit.names) <= {"lost", "repeated", "same_order"}
    if len(set(starts)) < len(starts):
        assert "repeated" in audit.names
    if ledger.as_target.max() <= 1:
        assert "repeated" not in audit.names
    steps = np.concatenate([np.diff(starts[place::size]) for place in range(size)])
    if 0 not in steps and len(starts) >= 6:  # fewer may be in order by chance
        assert ("same_order" in audit.names) == bool((steps < 0).any())
    never = np.flatnonzero(ledger.as_target[1:] == 0) + 1  # without the stream's first id
    counts = {each.name: each.count for each in audit.findings}
    # Not told: tails of tracks, and whole windows of a shuffled order, each of less
    # than a step.
    assert 0 <= len(never) - counts.get("lost", 0) < 2 * size * length


def right_scheme(ids, epoch, rank, world_size, *, kind, length, size, stride, seed):
    """Windows in order, shuffled, at a random offset, or in parallel tracks, shared out among ranks batch by batch."""
    generator, step = np.random.default_rng([seed, epoch]), size * world_size
    first = int(generator.integers(length)) if kind in ("offset", "tracks") else 0
    if kind == "tracks":
        track = (len(ids) - 1 - first) // step
        begins = first + track * np.arange(rank * size, (rank + 1) * size)
        return (pair(ids, begins + k, length) for k in range(0, track - length + 1, length))
    starts = windows(ids, length + 1, stride, first)
    starts = starts if kind == "file" else generator.permutation(starts)
    kept = len(starts) // step * step if kind == "drop" else len(starts)
    shares = (
        np.array_split(batch[: len(batch) // world_size * world_size], world_size)
        for batch in batched(starts[:kept], step)
    )
    return (pair(ids, share[rank], length) for share in shares if len(share[rank]))


@pytest.mark.slow
@settings(max_examples=100)
@given(st.data())
def test_no_right_scheme_of_any_size_is_accused(data):
    draw = lambda least, most: data.draw(st.integers(least, most))
    kind = data.draw(st.sampled_from(["file", "shuffled", "drop", "offset", "tracks"]))
    length, size, world_size, seed = draw(1, 20), draw(1, 5), draw(1, 3), draw(0, 999)
    stride = draw(1, length) if draw(0, 1) else length
    num_tokens = length * (size * world_size + 2) + draw(0, 300)
    vocab_size = 256 if length >= 8 and draw(0, 1) else None
    if kind == "tracks" and size * world_size == 1:
        kind = "offset"
    loader = partial(right_scheme, kind=kind, length=length, size=size, stride=stride, seed=seed)
    audited = audit_loader(loader, num_tokens=num_tokens, world_size=world_size, vocab_size=vocab_size)
    assert not audited.findings  # but too few tokens may leave it undecided


@pytest.mark.parametrize(
    ("kind", "length", "size", "world_size", "seed", "stride", "num_tokens"),
    [
        ("shuffled", 6, 1, 2, 0, 4, 24),  # a dropped window makes a step of two strides
        ("offset", 3, 1, 1, 1, 1, 10),  # five epochs begin at the same of three offsets
        ("offset", 6, 2, 2, 0, 6, 70),  # in one epoch, a shuffle of five rows looks like two tracks
        ("tracks", 3, 1, 2, 0, 3, 14),  # a window or two of each track, by epoch
        ("tracks", 12, 5, 2, 0, 12, 242),
    ],
)
def test_so_few_rows_that_chance_looks_like_a_mistake(kind, length, size, world_size, seed, stride, num_tokens):
    loader = partial(right_scheme, kind=kind, length=length, size=size, stride=stride, seed=seed)
    assert not audit_loader(loader, num_tokens=num_tokens, world_size=world_size).findings


@pytest.mark.parametrize("name", ["shifted_packs_positions", "shifted_packs_nothing", "packed_with_positions"])
def test_contexts_of_documents_that_share_a_row(name):
    ledger = audit_of(name).ledger
    place = np.concatenate([np.arange(size) for size in DOCUMENTS])
    assert np.array_equal(ledger.as_target, place > 0)
    assert np.array_equal(ledger.context_sum, place)


# What `make_loader` is given


def test_each_call_gets_ids_of_its_own():
    seen = []

    def loader(ids, epoch):
        seen.append((ids, ids.copy(), epoch))
        yield from shuffled_pairs(ids, epoch)
        ids[:] = 3

    assert audit(loader, num_epochs=3).clean
    assert {epoch for _, _, epoch in seen} == {0, 1, 2}
    assert len(seen) >= 4  # epoch 0 twice
    for ids, before, _ in seen:
        assert ids.dtype == np.int64
        assert ids.flags.writeable
        assert before.tolist() == list(range(1_000, 2_000))
    assert len({id(ids) for ids, _, _ in seen}) == len(seen)


def test_it_gives_by_keyword_what_is_named():
    seen = []

    def loader(stream, world_size, *, document_starts, rank=7, epoch=7, other=5, **rest):
        assert other == 5
        assert not rest
        seen.append((rank, world_size, epoch, document_starts.tolist()))
        return dealt_out(stream, rank, world_size, epoch)

    made = audit(loader, world_size=2, num_epochs=2)
    assert not made.findings
    assert list(made.undecided) == ["crosses_documents"]  # of a single document, nobody can tell
    by_ranks = {(rank, 2, epoch) for rank in (0, 1) for epoch in (0, 1)}
    assert {each[:3] for each in seen} == by_ranks | {(0, 1, 0), (0, 1, 1)}  # and one rank alone, to compare
    assert all(starts == [0] for *_, starts in seen)


def test_a_loader_of_documents_is_not_clean_until_it_was_given_some():
    ignores = lambda ids, document_starts: plain(ids)
    assert "document_lengths" in audit(ignores).undecided["crosses_documents"]
    assert "crosses_documents" in audit_loader(ignores, document_lengths=[40, 7, 16, 90, 3] * 12).names
    assert audit(partial(ignores, document_starts=None)).clean


class Maker:
    def __call__(self, ids, epoch):
        return shuffled_pairs(ids, epoch)


def test_anything_that_can_be_called_is_a_loader_maker():
    for make_loader in (Maker(), Maker().__call__, partial(Maker.__call__, Maker()), Resumable):
        assert audit(make_loader).clean


def test_a_loader_without_an_epoch_is_read_again_and_an_iterator_is_made_again():
    calls = []
    assert audit(lambda ids: calls.append(1) or DataLoader(Windows(ids), B), num_epochs=3).clean
    of_loader = len(calls)
    calls.clear()
    assert audit(lambda ids: calls.append(1) or plain(ids), num_epochs=3).clean
    assert len(calls) >= 4 > of_loader  # epoch 0 twice, and two more
    # one that is made anew in each call shuffles alike in each epoch, one that is read again need not
    assert audit(lambda ids: shuffled_pairs(ids, 5)).names == ("same_order",)


def test_it_draws_nothing_from_a_global_generator():
    states = lambda: (random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist())  # noqa: NPY002
    before = states()
    assert audit(plain).clean
    assert states() == before


# Shifts, rows, documents, padding


def jumping(ids, **more):
    """Rows of two pieces of 20 ids; the second is 40 further."""
    for first in (0, 20, 80, 100, 160, 180):
        yield aligned(np.concatenate([ids[first : first + 20], ids[first + 40 : first + 60]])[None], **more)


@pytest.mark.parametrize("more", [{}, {"attention_mask": np.tri(40, dtype=bool)[None]}], ids=["alone", "causal table"])
def test_a_jump_breaks_the_row_unless_it_leads_to_another_document(more):
    loader = partial(jumping, **more)
    assert audit(loader, document_lengths=[20] * 12).names == ("crosses_documents",)
    for size in ({"num_tokens": 240}, {"document_lengths": [10, 130, 100]}):
        assert "broken_row" in audit(loader, **size).names
    assert "crosses_documents" not in audit(loader, 240).names


def test_a_label_from_elsewhere_is_told_with_what_it_should_be():
    def loader(ids):
        for mapping in (aligned(rows(ids, starts, T + 1)) for starts in batched(windows(ids))):
            labels = mapping["labels"].clone()
            labels[0, 5] = int(ids[700])
            yield {**mapping, "labels": labels}

    wrong, lost = audit(loader).findings
    assert (wrong.name, wrong.count, lost.name) == ("broken_row", 16, "lost")
    assert wrong.evidence == "row 0 of batch 0 has the label 1700 where the row continues with position 5"


def test_a_label_that_is_dropped_counts_for_nobody():
    def loader(ids):
        for inputs, targets in plain(ids):
            targets[:, 3] = -100
            yield inputs, targets

    audited = audit(loader)
    assert audited.names == ("lost",)
    assert audited.findings[0].count == 62


# Orders, ranks, lost ids


def test_epochs_are_compared_in_all_pairs():
    for num_epochs, names in ((2, ()), (3, ()), (4, ("same_order",))):
        assert audit(lambda ids, epoch: shuffled_pairs(ids, epoch % 3), num_epochs=num_epochs).names == names


def test_one_epoch_decides_nothing_about_others_and_says_so():
    audited = audit(lambda ids: shuffled_pairs(ids, 0), num_epochs=1)
    assert audited.clean
    assert any("epoch" in note for note in audited.notes)


@pytest.mark.parametrize(("size", "names"), [(4, ()), (3, ("lost",))])
def test_a_tail_shorter_than_a_step_is_not_lost(size, names):
    # 55 ids are no target: less than a step of 4 rows, not of 3
    assert audit(lambda ids: pairs(ids, windows(ids)[:59], size), 59 * T + 56).names == names


def test_a_head_is_not_lost_if_it_differs():
    for heads, names in (((3, 9), ()), ((3, 3), ("lost",)), ((T, 2), ()), ((40, 2), ("lost",))):
        loader = lambda ids, epoch, heads=heads: pairs(ids, windows(ids, first=heads[epoch % 2]))
        assert audit(loader).names == names, heads


def test_windows_of_a_shuffled_order_that_make_no_step_are_not_lost():
    for left_out, names in ((3, ()), (4, ("lost",))):
        loader = lambda ids, epoch, read=62 - left_out: pairs(ids, shuffled(windows(ids), epoch)[:read])
        assert audit(loader).names == names


def test_ranks_that_read_other_parts_lose_what_nobody_reads():
    third = lambda ids, rank: pairs(ids, windows(ids)[rank * 20 : rank * 20 + 20])
    assert audit(third, world_size=3).clean  # 2 windows and a tail are less than a step
    assert audit(third, world_size=2).names == ("ranks_lose",)


# Resuming


def test_a_state_goes_through_pickle_to_a_new_loader_with_the_same_arguments():
    made = []

    class Live(Resumable):
        def __init__(self, ids, rank, world_size):
            super().__init__(ids, rank, world_size)
            made.append((rank, world_size))

        def state_dict(self):
            return self.__dict__  # which changes with the next batch

        def load_state_dict(self, state):
            assert state is not self.__dict__
            super().load_state_dict(state)

    assert audit(Live, world_size=2).clean
    assert set(made) == {(0, 2), (1, 2), (0, 1)}


def test_shares_of_sources_are_a_fact():
    def mixed(ids, document_starts):
        one, other = np.split(ids, document_starts[1:])
        for batch in range(30):
            source = one if batch % 3 else other
            yield pair(source, np.arange(4) * 8 + (batch // 3) * 32, 8)

    audit = audit_loader(mixed, document_lengths=[2_000, 1_000])
    assert audit.facts["targets_by_document"] == [0.667, 0.333]
    assert "targets_by_document" not in audit_loader(plain, num_tokens=400).facts
    assert "targets_by_document" not in audit_loader(plain, document_lengths=[50] * 9).facts


KINDS = {
    "integer": lambda value: type(value) is int,
    "integer or null": lambda value: value is None or type(value) is int,
    "number": lambda value: type(value) in (int, float),
    "integers": lambda value: all(type(each) is int for each in value),
    "numbers": lambda value: all(type(each) in (int, float) for each in value),
    "strings": lambda value: all(type(each) is str for each in value),
    "objects": lambda value: all(type(each["documents"]) is int for each in value),
}


def test_facts_are_data_of_the_types_that_their_table_says():
    seen = set()
    for name in ("lists", "two_ranks", "for_a_model_that_shifts", "inputs_only"):
        facts = json.loads(json.dumps(audit_of(name).as_dict()))["facts"]
        assert list(facts) == [each for each in FACTS if each in facts]  # in the order of the table
        assert all(KINDS[FACTS[fact].type](value) for fact, value in facts.items()), facts
        seen |= facts.keys()
    assert audit_of("two_ranks").facts["batches"] == [8, 8]
    assert audit_of("file_order").facts["batches"] == [16]
    assert audit_of("lists").facts["bytes_of_a_batch"] is None
    assert audit_of("inputs_only").facts["types_of_labels"] == []
    ends = audit(documents_and_their_ends, separator_ids=[END], **OF_DOCUMENTS)
    assert all(KINDS[FACTS[fact].type](value) for fact, value in ends.facts.items())
    assert set(FACTS) == seen | ends.facts.keys() | {"targets_by_document"}


def test_a_report_says_facts_as_a_person_reads_them():
    said = str(audit_of("lists"))
    assert re.search(r"^rows in a batch +4$", said, flags=re.MULTILINE)
    assert re.search(r"^bytes of a batch +unknown$", said, flags=re.MULTILINE)
    assert re.search(r"^correlation of successive rows +[\d.-]+ \(0 if shuffled\)$", said, flags=re.MULTILINE)
    assert re.search(r"^batches +8, 8$", str(audit_of("two_ranks")), flags=re.MULTILINE)
    ends = audit(documents_and_their_ends, separator_ids=[END], **OF_DOCUMENTS)
    assert re.search(r"^separators after documents +2 \(72\)$", str(ends), flags=re.MULTILINE)


@pytest.mark.parametrize("resume_after", [0, 1, 5, 15])
def test_it_resumes_after_exactly_so_many_batches(resume_after):
    loaded = []

    class Noting(Resumable):
        def load_state_dict(self, state):
            loaded.append(state["done"])
            super().load_state_dict(state)

    assert audit(Noting, resume_after=resume_after).clean
    later = resume_after + (16 - resume_after) // 2  # where it is resumed once more
    once_more = [resume_after, later] if resume_after < 15 else []  # the last batch leaves nothing to stop in
    at_the_end = [16, 0]  # before the iterator said so, and after
    assert loaded == [resume_after, *once_more] * 2 + at_the_end  # in a first iteration and in a second one
    loaded.clear()
    assert audit(Noting).clean
    assert loaded == [8, 8, 12] * 2 + at_the_end
    loaded.clear()
    assert audit(Noting, resume_after=16).clean
    assert loaded == at_the_end


class KeepsSkipping(Resumable):
    """It is resumed rightly, and skips as many batches in each later epoch."""

    skipped = 0

    def __iter__(self):
        return itertools.islice(super().__iter__(), self.skipped, None)

    def load_state_dict(self, state):
        self.epoch, self.skipped = state["epoch"], state["done"]


class ForgetsTheSeed(Resumable):
    """It is resumed rightly, and shuffles later epochs otherwise."""

    is_resumed = 0

    def __iter__(self):
        yield from super().__iter__()
        self.epoch += self.is_resumed

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.is_resumed = 1


class DropsOthers(ForgetsTheSeed):
    """Its later epochs also drop other rows."""

    def __init__(self, ids):
        super().__init__(ids)
        self.share = slice(60)


def test_the_epoch_after_a_resumed_one_is_compared_like_any_other():
    (finding,) = audit(KeepsSkipping).findings
    assert (finding.name, finding.count) == ("resume_loses", 8 * B * T)
    words = "in the epoch after one that was resumed after 8 batches, 8 batches instead of 16, the loader leaves out"
    assert finding.evidence.startswith(words)
    (finding,) = audit(ForgetsTheSeed, resume_after=1).findings
    assert finding.name == "resume_reorders"
    assert finding.count > 50
    assert finding.evidence.startswith("in the epoch after one that was resumed after 1 batch, row 0 from there begins")
    (finding,) = audit(DropsOthers).findings  # less than a step
    assert finding.name == "resume_reorders"
    cut = audit(KeepsSkipping, max_batches=10)  # where an epoch goes on, there is no next one
    assert not any("in the epoch after" in each.evidence for each in cut.findings)


def test_an_unseeded_shuffle_is_not_accused_of_its_next_epoch_but_of_its_size():
    class Unseeded:
        """The state holds what is left of an order, and the next one is drawn anew."""

        def __init__(self, ids, shrinks=0):
            self.ids, self.left, self.shrinks = ids, None, shrinks

        def __iter__(self):
            if self.left is None:
                self.left = np.random.default_rng().permutation(windows(self.ids))[: 60 - self.shrinks]
            while len(self.left):
                rows, self.left = self.left[:B], self.left[B:]
                yield pair(self.ids, rows)
            self.left = None

        def state_dict(self):
            return {"left": self.left}

        def load_state_dict(self, state):
            self.left = state["left"]

    assert audit(Unseeded).names == ("not_repeatable",)

    class Shrinks(Unseeded):
        def load_state_dict(self, state):
            super().load_state_dict(state)
            self.shrinks = 20

    found = {each.name: each for each in audit(Shrinks).findings}
    assert found["resume_loses"].count >= 20 * T
    assert "10 batches instead of 15" in found["resume_loses"].evidence


def test_without_both_methods_nothing_is_resumed():
    class OnlyState:
        def __init__(self, ids):
            self.ids = ids

        def __iter__(self):
            return plain(self.ids)

        def state_dict(self):
            raise AssertionError("nobody asks")

    assert audit(OnlyState).clean
    assert audit(plain, resume_after=4).clean


# Facts and notes


def padded_ends(ids, document_starts, keep_end=True):
    """Rows padded with the id that also ends a document, whose label may be dropped with those of the padding."""
    for documents in batched(np.split(ids, document_starts[1:])):
        length = max(map(len, documents)) + 2
        rows_of = np.stack([np.pad(each, (0, length - len(each)), constant_values=END) for each in documents])
        sizes = np.array([[len(each) + keep_end] for each in documents])
        labels = np.where(np.arange(length) < sizes, rows_of, -100)
        yield {"input_ids": rows_of, "labels": labels}


def test_ends_of_text_that_are_never_scored_are_told():
    ends = {"separator_ids": [END], **OF_DOCUMENTS}
    right, wrong = audit(padded_ends, **ends), audit(partial(padded_ends, keep_end=False), **ends)
    assert right.facts["separators_that_are_scored"] == right.facts["separators_that_end_texts"] == 72
    assert wrong.facts["separators_that_are_scored"] == 0
    said = "no separator is scored where a text ends"
    assert [said in " ".join(each.notes) for each in (right, wrong)] == [False, True]
    assert "separators_that_are_scored" not in audit(plain).facts


def test_labels_that_a_loss_refuses_are_told():
    def typed(ids, make):
        return ((torch.tensor(x), make(y)) for x, y in plain(ids))

    for make, kind in ((np.int32, "int32"), (np.int64, "int64"), (None, "list")):
        loader = partial(typed, make=(lambda y, make=make: torch.tensor(y.astype(make))) if make else np.ndarray.tolist)
        audited = audit(loader)
        assert audited.facts["types_of_labels"] == [kind]
        refused = any("labels are int32, and PyTorch's cross_entropy wants int64" in note for note in audited.notes)
        assert refused == (kind == "int32")
    with pytest.raises(RuntimeError, match="Long"):
        torch.nn.functional.nll_loss(torch.zeros(2, 3), torch.zeros(2, dtype=torch.int32))


def masked_language_modeling(ids, epoch=0, mask=4, share=0.15, as_pair=False, keeps=0.1, random=0.1):
    """Most of the labels' inputs are replaced by a mask, some by another id; the others are kept."""
    generator = np.random.default_rng([1, epoch])
    for starts in batched(np.arange(0, len(ids) - T + 1, T)):
        row = rows(ids, starts)
        is_label, draws = generator.random(row.shape) < share, generator.random(row.shape)
        is_label[:, 3] = True
        labels = np.where(is_label, row, -100)
        row = np.where(is_label & (draws > keeps + random), mask, row)
        row = np.where(is_label & (draws < random), generator.choice(ids, row.shape), row)
        yield (row, labels) if as_pair else {"input_ids": row, "labels": labels}


@pytest.mark.parametrize("as_pair", [False, True])
@pytest.mark.parametrize(
    "more",
    [{}, {"vocab_size": 30_522}, {"document_lengths": [300, 400]}, {"num_tokens": None}, {"share": 0.4, "mask": 103}],
)
def test_masked_language_modeling_is_told_and_not_accused_of_what_it_is(more, as_pair):
    own = {name: more[name] for name in ("share", "mask") if name in more}
    arguments = {name: value for name, value in more.items() if name not in own}
    audited = audit(partial(masked_language_modeling, as_pair=as_pair, **own), **arguments)
    assert not {"lost", "wrong_shift", "broken_row", "scored_padding"} & set(audited.names)
    assert "masked language modeling" in audited.undecided["lost"]
    assert not audited.clean
    assert not any("because the model shifts them" in note for note in audited.notes)


@pytest.mark.parametrize("with_labels", [True, False])
def test_labels_are_spoken_of_only_where_there_are_any(with_labels):
    def make_loader(ids):
        for at in range(0, len(ids) - 16, 16):
            rows = ids[at : at + 16].reshape(2, 8)
            yield {"input_ids": rows, **({"labels": rows.copy()} if with_labels else {})}

    audited = audit(make_loader)
    assert audited.shift == audited.facts["shift_of_labels"] == (0 if with_labels else None)
    assert any("labels stand where inputs stand" in note for note in audited.notes) == with_labels
    assert any("no labels were handed out" in note for note in audited.notes) != with_labels


class FailsAfterResuming:
    def __init__(self, ids):
        self.ids, self.is_resumed = ids, False

    def __iter__(self):
        if self.is_resumed:
            raise IndexError("list index out of range")
        for at in range(0, len(self.ids) - 8, 8):
            yield self.ids[None, at : at + 8].copy(), self.ids[None, at + 1 : at + 9].copy()

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        self.is_resumed = True


def test_an_error_after_resuming_says_that_the_loader_was_resumed():
    with pytest.raises(LoaderError, match=r"\(ids\), resumed, batch 0, raised IndexError"):
        audit(FailsAfterResuming)


def test_some_masked_inputs_are_still_next_token_prediction():
    def noisy(ids, epoch):
        for inputs, targets in shuffled_pairs(ids, epoch):
            yield np.where(np.arange(T) % 7 == 3, 4, inputs), targets

    assert not audit(noisy).undecided
    assert not audit(partial(framed_rows, before=(BEGIN,)), separator_ids=(BEGIN, END), **OF_DOCUMENTS).undecided


def test_short_rows_are_a_fact():
    blocks = lambda ids: ({"input_ids": [ids[at : at + 30].tolist()]} for at in range(0, len(ids), 29))
    assert audit(blocks).facts["rows_shorter_than_others"] == 1
    assert audit(plain).facts["rows_shorter_than_others"] == 0


def test_a_rank_that_was_not_compared_is_told_with_its_option():
    (note,) = [note for note in audit(dealt_out).notes if "one rank was read" in note]
    assert note == (
        "make_loader names rank and world_size, but one rank was read: world_size=2 (--world-size 2) "
        "also compares ranks with one another"
    )
    assert not any("one rank was read" in note for note in audit(dealt_out, world_size=2).notes)


@pytest.mark.parametrize(
    ("positions", "words"),
    [
        (lambda row: None, "in 3 rows, nothing but a dropped label stands between two documents"),
        (lambda row: [*range(6), *range(4)], None),
        (lambda row: [*range(3), *range(3), *range(4)], "positions begin again inside a document in 3 rows"),
        (lambda row: [0] * 10, "positions begin again inside a document in 3 rows"),
    ],
    ids=["none", "of documents", "in one document, too", "none but 0"],
)
def test_how_packed_documents_are_kept_apart_is_noted(positions, words):
    """Lesson 10: without positions or a mask, a model looks from one into the next; and where positions begin again,
    it may see nothing of what comes before."""

    def packs(ids):
        for row in ids.reshape(-1, 10):
            batch = {"input_ids": [row.tolist()], "labels": [[*row[:6].tolist(), -100, *row[7:].tolist()]]}
            if positions(row) is not None:
                batch["position_ids"] = [positions(row)]
            yield batch

    audit = audit_loader(packs, document_lengths=[6, 4] * 3)
    notes = [note for note in audit.notes if "begin again" in note or "dropped label" in note]
    assert [note.split(":")[0] for note in notes] == ([] if words is None else [words])


def test_who_names_ranks_is_read_as_two():
    """Or a loader whose mistake only two ranks show is called clean."""

    def a_shuffle_of_its_own(ids, epoch, rank, world_size):
        starts = np.random.default_rng([epoch, rank]).permutation(windows(ids))
        return pairs(ids, starts[rank::world_size])

    assert {"ranks_overlap", "ranks_lose"} <= set(audit_loader(a_shuffle_of_its_own).names)
    assert audit_loader(a_shuffle_of_its_own, world_size=1).clean
    assert len(audit_loader(dealt_out).starts) == 2
    assert len(audit_loader(lambda ids, rank: plain(ids)).starts) == 1  # it isn't told how many there are
    assert len(audit_loader(plain).starts) == 1


def test_unequal_steps_say_whether_a_run_hangs():
    words = "until their own batches end can hang or fail in step 8, but one that stops all ranks after 7 does not"
    assert words in found("one_window_more", "unequal_steps").evidence
    assert "no rank waits for another, but they drift apart" in found("out_of_step", "unequal_steps").evidence


def test_what_was_not_read_is_said_in_singular_and_plural():
    for more, words in ((["x"], "the batches' x was not looked at"), (["x", "y"], "the batches' x, y were not looked")):
        loader = lambda ids, more=more: (
            aligned(rows(ids, b, T + 1), **dict.fromkeys(more, 1)) for b in batched(windows(ids))
        )
        assert any(words in note for note in audit(loader).notes)


def test_gaps_are_named_by_the_longest_and_by_the_commonest():
    lost = found("rests_dropped", "lost")
    targets = audit_of("rests_dropped").ledger.as_target
    never = np.flatnonzero(np.delete(targets == 0, np.cumsum([0, *DOCUMENTS[:-1]])))
    assert lost.count == len(never) == 316
    words = (
        "316 of 1,000 tokens are never a target, in 84 gaps, the longest of 9 tokens, and most often of 1 (28 times)"
    )
    assert lost.evidence == f"{words}, such as positions 165 ... 173 and 38"
    assert not targets[165:174].any()
    assert targets[164]
    assert "in 60 gaps of 1 token" in found("rests_kept", "lost").evidence


def test_rows_without_a_target_and_rows_that_come_again_are_counted():
    facts, notes = audit_of("some_rows_without_labels").facts, audit_of("some_rows_without_labels").notes
    assert facts["targets_in_a_row"] == [0, 0, 0, 16, 16]
    assert facts["rows_without_a_target"] == 31
    assert "31 of 62 rows have no target" in notes
    again = audit_of("unlabeled_rows_again")
    assert again.facts["rows_that_come_again"] == 4
    assert "4 of 66 rows come again in an epoch" in again.notes
    assert "; 2 of 64 rows come again as a whole" in found("last_batch_filled_from_the_first", "repeated").evidence
    assert audit_of("by_epoch").facts["targets_in_a_row"] == [16] * 5
    assert audit_of("for_a_model_that_shifts").facts["targets_in_a_row"] == [16] * 5  # of rows of 17
    none = audit(lambda ids: ((x, np.full_like(y, -100) if at == 3 else y) for at, (x, y) in enumerate(plain(ids))))
    assert any("and 1 batch of 16 none at all, over which a mean loss is nan" in note for note in none.notes)


def test_a_chat_has_as_many_targets_as_the_view_of_a_batch_shows():
    def chat(ids):
        for starts in batched(windows(ids)):
            row = rows(ids, starts)
            asked = np.arange(T) < 5 + (starts // T)[:, None] % 7
            yield {"input_ids": row, "labels": np.where(asked, -100, row)}

    batches = list(chat(1_000 + np.arange(N)))
    kinds = [token.kind for batch in batches for _, row in shown(batch).rows for token in row]
    by_row = np.concatenate([(batch["labels"] != -100).sum(axis=1) for batch in batches])
    assert kinds.count("scored") == by_row.sum()
    spread = audit(chat).facts["targets_in_a_row"]
    assert spread == np.percentile(by_row, [0, 25, 50, 75, 100], method="nearest").tolist() == [5, 6, 8, 10, 11]


def shown(batch):
    return show_batch(batch, Letters(), num_rows=99)


class Letters:
    def decode(self, ids):
        return "abcdefgh"[ids[0] % 8]


def test_what_is_not_tried_stands_at_the_foot_of_every_report():
    for name in ("by_epoch", "half_masked"):
        foot = " ".join(str(audit_of(name)).partition("not tried: ")[2].split())
        assert foot == "; ".join(NOT_TRIED)


# In somebody's test


@pytest.fixture(scope="module")
def three_windows_missing() -> Audit:
    """Of a loader that never reads the first three windows, and of which one question stays open."""
    found = audit(lambda ids: pairs(ids, range(3 * T, N - T, T)))
    assert found.names == ("lost",)
    return replace(found, undecided={"weak_shuffle": "there are few rows"})


@pytest.mark.parametrize(
    ("allow", "words"),
    [
        ([], "lost (COUNT), undecided: weak_shuffle"),
        (["lost"], "undecided: weak_shuffle"),
        ({"lost": 1e6, "weak_shuffle": 1e6}, "undecided: weak_shuffle"),  # nobody could count it
        ({"lost": 1, "weak_shuffle": float("inf")}, "lost (COUNT)"),
        ("weak_shuffle", "lost (COUNT)"),
    ],
)
def test_what_is_not_allowed_fails_with_the_report(allow, words, three_windows_missing):
    with pytest.raises(AssertionError) as failed:
        three_windows_missing.check(allow=allow)
    first, report = str(failed.value).split("\n\n", 1)
    assert first == "not allowed: " + words.replace("COUNT", f"{three_windows_missing.findings[0].count:,}")
    assert report == str(three_windows_missing)


def test_what_is_allowed_passes_and_what_is_no_finding_is_an_error(three_windows_missing):
    three_windows_missing.check(allow=["lost", "weak_shuffle"])
    audit(plain).check()
    with pytest.raises(ValueError, match=r"allow must name findings, got 'losst'\. There are wrong_shift, "):
        three_windows_missing.check(allow=["losst"])
    with pytest.raises(ValueError, match="got 'unequal-steps'"):
        audit(plain).check(allow={"unequal-steps": 1})


def test_what_pytest_shows_of_an_audit_begins_with_the_names(three_windows_missing):
    assert not three_windows_missing.clean
    assert re.match(r"<Audit: lost \([\d,]+\), undecided: weak_shuffle>$", repr(three_windows_missing))
    assert repr(audit(plain)) == "<Audit: clean>"


def test_the_test_in_the_readme_fails_and_passes_as_it_says(monkeypatch):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (test,) = re.findall(r"```python\n(from course_lib.auditing_loaders.+?)```", readme, re.DOTALL)
    assert len(test.splitlines()) == 6
    for make_loader, is_right in ((whole_batches, True), (lambda ids: pairs(ids, [0]), False)):
        monkeypatch.setitem(sys.modules, "loader", SimpleNamespace(make_loader=make_loader))
        exec(test, names := {})
        with nullcontext() if is_right else pytest.raises(AssertionError, match="not allowed: ranks_overlap"):
            names["test_our_loader"]()


# On one screen


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")  # by torchdata
def test_the_audit_on_one_screen_finds_as_many_as_the_lesson_says():
    lesson = nbformat.read(ROOT / "notebooks" / "14_auditing_loaders.ipynb", 4)
    (words,) = (cell.source for cell in lesson.cells if "We also tried both audits on" in cell.source)
    said = set(map(int, re.findall(r"\b\d+\b", words)))
    verdicts = dict(one_screen_verdicts(CASES))
    planted = [(set(PLANTED[n].names), got) for n, got in verdicts.items() if n in PLANTED]
    accused = [bool(got) for n, got in verdicts.items() if n in CLEAN]
    exactly = sum(names == got for names, got in planted)  # neither more nor less than was planted
    assert said == {len(verdicts), len(planted), exactly, len(accused), sum(accused)}


# Loaders that fail


def endless(ids):
    while True:
        yield pair(ids, [0, 16])


def test_an_endless_loader_is_stopped():
    batches = []
    with pytest.raises((TypeError, ValueError), match=r"max_batches|endless|no end"):
        audit(lambda ids: (batches.append(1) or batch for batch in endless(ids)))
    assert len(batches) < 100_000
    audited = audit(endless, 40, max_batches=5)
    assert audited.num_batches == 5
    assert any("max_batches" in note or "5" in note for note in audited.notes)


def test_rows_of_several_lengths_are_read():
    def within(ids):
        for start in windows(ids, stride=40, length=40):
            cut = [ids[start : start + 20], ids[start + 19 : start + 41]]
            yield [row[:-1].tolist() for row in cut], [row[1:].tolist() for row in cut]

    assert audit(within).clean
    across = lambda ids: (pair(ids, [start], 10 + start % 7) for start in range(0, 990, 10))
    assert set(audit(across).names) <= {"lost", "repeated"}


class Breaks(RuntimeError):
    pass


def breaking(ids, epoch, rank, at=(0, 0, 3)):
    for number, batch in enumerate(shuffled_pairs(ids, epoch)):
        if (epoch, rank, number) == at:
            raise Breaks("the disk is full")
        yield batch


def never_made(ids):
    raise Breaks("the disk is full")


class WithoutState(Resumable):
    def state_dict(self):
        raise Breaks("the disk is full")


class WithoutLoading(Resumable):
    def load_state_dict(self, state):
        raise Breaks("the disk is full")


CRASHES = {
    "when made": (never_made, {}),
    "in a batch": (breaking, {}),
    "in another epoch": (partial(breaking, at=(1, 0, 2)), {}),
    "in another rank": (partial(breaking, at=(0, 1, 0)), {"world_size": 2}),
    "in a process": (partial(breaking, at=(0, 1, 0)), {"world_size": 2, "processes": True}),
    "for its state": (WithoutState, {"resume_after": 3}),
    "with a state": (WithoutLoading, {}),
}


@pytest.mark.parametrize(
    "when", [pytest.param(when, marks=[pytest.mark.slow] * (when == "in a process")) for when in CRASHES]
)
def test_a_crash_is_told_by_its_class_and_its_words(when):
    make_loader, arguments = CRASHES[when]
    with pytest.raises(LoaderError) as error:
        audit(make_loader, **arguments)
    assert isinstance(error.value, RuntimeError)
    assert "Breaks" in str(error.value)
    assert "the disk is full" in str(error.value)


def test_a_state_that_cannot_be_had_is_noted_unless_it_was_asked_for():
    audited = audit(WithoutState)
    assert audited.clean
    assert any("Breaks: the disk is full" in note for note in audited.notes)


# What is refused, with words that help


def names(make_loader=plain, num_tokens=200, **settings):
    return audit_loader(make_loader, num_tokens=num_tokens, **settings).names


REFUSED = {
    "no batch": (lambda: names(lambda ids: []), ValueError, r"make_loader\(ids\) must yield batches, got none"),
    "too few tokens": (lambda: names(num_tokens=T), ValueError, "must yield batches, got none"),
    "nothing": (lambda: names(lambda ids: None), TypeError, "must return an iterable of batches, got NoneType"),
    "no rows": (
        lambda: names(lambda ids: [(ids[None][:0], ids[None][:0])]),
        ValueError,
        r"the shape \(B, T\), got \(0",
    ),
    "time before rows": (
        lambda: names(lambda ids: ((x.T, y.T) for x, y in plain(ids)), N),
        ValueError,
        r"comes with time first: make_loader could return \(\(x.T, y.T\)",
    ),
    "other ids": (lambda: names(lambda ids: [([[5, 6]], [[6, 7]])]), ValueError, "must yield ids that it was given"),
    "ids alone": (
        lambda: names(lambda ids: ids),
        TypeError,
        "batch 0 of make_loader.ids. must be a pair",
    ),
    "an argument more": (lambda: names(lambda ids, other: []), LoaderError, "missing 1 required positional argument"),
    "an epoch": (lambda: names(partial(breaking, at=(1, 0, 2), rank=0), N), LoaderError, "epoch=1"),
    "a vocabulary and a tokenizer": (lambda: names(vocab_size=256, tokenizer=Bytes()), ValueError, "must be left out"),
    "a class of tokenizers": (lambda: names(tokenizer=Bytes), TypeError, r"a method encode\(text\), got a class"),
    "empty documents": (lambda: names(document_lengths=[5, 0]), ValueError, "document_lengths must be"),
    "a table of documents": (lambda: names(document_lengths=[[5]]), ValueError, "in a row, got shape"),
    "resumed too late": (lambda: names(Resumable, resume_after=99), ValueError, "resume_after must be at most"),
    "processes that cannot import it": (
        lambda: names(lambda ids: plain(ids), world_size=2, processes=True),
        TypeError,
        "a function that other processes can import by its name",
    ),
    "another option": (lambda: names(resume_in=plain), TypeError, "resume_in"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_audited_is_refused_with_words(what):
    call, kind, words = REFUSED[what]
    with pytest.raises(kind, match=words):
        call()
