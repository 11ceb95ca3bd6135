"""Chunks, streams of them that can be shared out and resumed, and padding."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import re
import subprocess
import sys
import warnings
from functools import partial
from multiprocessing import get_all_start_methods
from pathlib import Path
from types import SimpleNamespace

import datasets
import numpy as np
import pytest
import torch
from datasets.distributed import split_dataset_by_node
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models
from torch.utils.data import DataLoader
from transformers import PreTrainedTokenizerFast

from any_tokenizer import KINDS, TEXTS, framed
from course_lib.foundation import END_OF_TEXT, CharTokenizer, load_documents
from course_lib.long_documents import (
    NaiveTextDataset,
    OneScreenStream,
    PaddingCollator,
    StreamingTextDataset,
    batches_by_length,
    chunk_examples,
    chunk_ids,
    chunk_rows,
    chunk_starts,
    count_chunks,
    padding_share,
    streaming,
)
from course_lib.tokenizer_pipeline import build_tokenizer, wrap_tokenizer

ROOT = Path(__file__).parent.parent
EXAMPLES = settings(max_examples=40)


@pytest.fixture(scope="module")
def documents() -> list[str]:
    return [document.text for document in load_documents()]


@pytest.fixture(scope="module")
def tokenizer(documents):
    return build_tokenizer(documents, vocab_size=1_000, progress=False)


@pytest.fixture(scope="module")
def wrapped(tokenizer) -> PreTrainedTokenizerFast:
    return wrap_tokenizer(tokenizer, model_max_length=64)


@pytest.fixture(scope="module")
def on_disk(documents, tmp_path_factory) -> datasets.Dataset:
    folder = tmp_path_factory.mktemp("arrow") / "documents"
    datasets.disable_progress_bars()
    datasets.Dataset.from_dict({"text": documents, "row": list(range(len(documents)))}).save_to_disk(folder)
    return datasets.load_from_disk(folder)


@pytest.fixture(scope="module")
def characters(documents) -> CharTokenizer:
    return CharTokenizer("".join(documents))


def make(dataset, tokenizer, **changes) -> StreamingTextDataset:
    return StreamingTextDataset(dataset, tokenizer, **({"max_length": 256, "overlap": 16, "base_seed": 3} | changes))


def keys(items) -> list[tuple[int, int]]:
    return [(item["document"], item["chunk"]) for item in items]


# count_chunks, chunk_starts, chunk_ids, chunk_rows


def naive_starts(num_tokens: int, max_length: int, overlap: int) -> list[int]:
    starts, start = [], 0
    while num_tokens:
        starts.append(start)
        if start + max_length >= num_tokens:
            break
        start += max_length - overlap
    return starts


lengths_and_steps = st.integers(1, 40).flatmap(lambda length: st.tuples(st.just(length), st.integers(0, length - 1)))


@given(st.integers(0, 200), lengths_and_steps)
def test_chunks_are_those_of_the_loop_and_counted_in_closed_form(num_tokens, shape):
    max_length, overlap = shape
    starts = chunk_starts(num_tokens, max_length, overlap)
    assert starts.dtype == np.int64
    assert starts.tolist() == naive_starts(num_tokens, max_length, overlap)
    assert count_chunks(num_tokens, max_length, overlap) == len(starts)
    chunks = chunk_ids(np.arange(num_tokens), max_length, overlap)
    assert [chunk.tolist() for chunk in chunks] == [[*range(num_tokens)][s : s + max_length] for s in starts]


def test_chunks_of_the_largest_numbers_do_not_overflow():
    assert count_chunks(10**15 + 1, 2048, 48) == 1 + -(-(10**15 + 1 - 2048) // 2000)
    assert count_chunks(np.int16(30_000), np.int16(20_000), np.int16(19_999)) == 10_001
    assert chunk_starts(2**62, 2**61).tolist() == [0, 2**61]


@pytest.mark.parametrize("cut", [partial(count_chunks, 0), partial(chunk_starts, 9), partial(chunk_ids, range(9))])
@pytest.mark.parametrize("overlap", [4, 5])
def test_an_overlap_of_a_whole_chunk_would_never_end(cut, overlap):
    with pytest.raises(ValueError, match=r"^overlap must be .*4"):
        cut(4, overlap)


def test_chunks_are_views_that_nobody_can_write_into():
    ids = np.arange(10, dtype=np.uint16)
    chunks = chunk_ids(ids, 4, 1)
    assert all(np.shares_memory(chunk, ids) for chunk in chunks)
    with pytest.raises(ValueError, match="read-only"):
        chunks[0][0] = 5


@pytest.mark.parametrize(("max_length", "overlap"), [(16, 0), (16, 5), (64, 63), (7, 3)])
def test_chunks_are_those_of_the_fast_tokenizer_without_special_tokens(documents, wrapped, max_length, overlap):
    for text in documents[::20]:
        ids = wrapped(text, add_special_tokens=False)["input_ids"]
        theirs = wrapped(
            text,
            add_special_tokens=False,
            truncation=True,
            max_length=max_length,
            stride=overlap,  # there it means the overlap
            return_overflowing_tokens=True,
        )["input_ids"]
        assert [chunk.tolist() for chunk in chunk_ids(ids, max_length, overlap)] == theirs


def test_with_an_end_the_library_cuts_the_body_and_ends_each_chunk(documents, wrapped):
    for text in documents[::20]:
        body = wrapped(text, add_special_tokens=False)["input_ids"]
        theirs = wrapped(text, truncation=True, max_length=16, stride=5, return_overflowing_tokens=True)["input_ids"]
        assert [[*chunk.tolist(), wrapped.eos_token_id] for chunk in chunk_ids(body, 15, 5)] == theirs


def test_chunks_are_drawn_as_what_is_new_what_was_there_and_what_is_missing():
    assert chunk_rows([0], 3, 2) == {"start 0": [(0, 1, "lost"), (1, 1, "inputs"), (2, 1, "lost")]}
    for starts in ([], [0, 9], [-1]):
        with pytest.raises(ValueError, match=r"^starts must be one or more of 0 \.\.\. 8"):
            chunk_rows(starts, 9, 3)
    assert chunk_rows([0, 2], 5, 3)["start 2"] == [(2, 1, "plain2"), (3, 2, "inputs")]


# chunk_examples


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ({"text": "ab"}, "use map with batched=True"),
        ({"body": ["ab"]}, r"features must .*got \['body'\]"),
        ({"text": ["ab", "az"]}, "text 1 cannot be encoded: character 'z'"),
    ],
)
def test_a_batch_that_cannot_be_encoded_is_refused(features, words):
    with pytest.raises((TypeError, ValueError), match=words):
        chunk_examples(features, CharTokenizer("ab"), max_length=4)


def test_an_end_of_text_may_be_said_and_need_not_fit_into_16_bits():
    made = chunk_examples({"text": ["ab", ""]}, CharTokenizer("ab"), max_length=4, end_of_text_id=70_000)
    assert made == {"input_ids": [[0, 1, 70_000], [70_000]]}
    assert chunk_examples({"text": []}, CharTokenizer("ab"), max_length=4) == {"input_ids": []}


# NaiveTextDataset


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_naive_stream_gives_every_worker_everything(on_disk, characters, num_workers):
    naive = NaiveTextDataset(on_disk.select(range(5)), characters, 256)
    once = keys(make(on_disk.select(range(5)), characters, base_seed=None, overlap=0))
    assert sorted(keys(DataLoader(naive, batch_size=None, num_workers=num_workers))) == sorted(
        once * max(1, num_workers)
    )


# OneScreenStream


def both_streams(lengths: list[int], shape: tuple[int, int], **shares: int) -> tuple:
    """A stream on one screen and the one to train with, of texts in which no two characters are alike."""
    texts = ["".join(chr(200 * number + place + 33) for place in range(n)) for number, n in enumerate(lengths, start=1)]
    characters = CharTokenizer(" ".join(texts) + " ")
    max_length, overlap = shape
    dataset = datasets.Dataset.from_dict({"text": texts})
    real = StreamingTextDataset(dataset, characters, max_length=max_length, overlap=overlap, **shares)
    return OneScreenStream(dataset["text"], characters, max_length, overlap, **shares), real


def items_of(stream) -> list[tuple]:
    return [(item["document"], item["chunk"], item["input_ids"].tolist()) for item in stream]


lists_of_lengths = st.lists(st.integers(0, 20), min_size=1, max_size=7)
chunk_shapes = st.integers(1, 6).flatmap(lambda longest: st.tuples(st.just(longest), st.integers(0, longest - 1)))


@EXAMPLES
@given(lists_of_lengths, chunk_shapes, st.integers(1, 3), st.data())
def test_the_stream_on_one_screen_does_what_the_one_to_train_with_does(lengths, shape, world_size, data):
    shares = {"rank": data.draw(st.integers(0, world_size - 1)), "world_size": world_size}
    small, real = both_streams(lengths, shape, **shares)
    everything = items_of(real)
    assert items_of(small) == items_of(small) == everything  # an epoch, and the next
    stop = data.draw(st.integers(min(1, len(everything)), len(everything)))
    for stream in (small, real):
        next(iter(stream), None)  # a peek does no harm
        assert items_of(itertools.islice(iter(stream), stop)) == everything[:stop]
    state, in_real = small.state_dict(), real.state_dict()
    # Behind the last item, the real one is at the beginning of the next epoch.
    assert stop == len(everything) or state == {name: in_real[name] for name in state}
    resumed, _ = both_streams(lengths, shape, **shares)
    resumed.load_state_dict(json.loads(json.dumps(state)))
    assert items_of(resumed) == everything[stop:]
    assert items_of(resumed) == everything


def test_the_stream_on_one_screen_is_shared_out_to_workers():
    for rank in range(2):
        small, real = both_streams([3, 0, 9, 5, 1, 7, 2], (4, 1), rank=rank, world_size=2)
        shared = [items_of(DataLoader(stream, batch_size=None, num_workers=2)) for stream in (small, real)]
        assert shared[0] == shared[1]


# StreamingTextDataset


@pytest.mark.parametrize("name", KINDS)
def test_the_stream_holds_the_chunks_of_every_document_of_any_tokenizer(name):
    kind = KINDS[name]
    tokenizer, texts = kind.make(), [TEXTS[2] * 9, *TEXTS]
    documents = [framed(kind, tokenizer, text) for text in texts]
    data = datasets.Dataset.from_dict({"text": texts})
    stream = make(data, tokenizer, max_length=20, overlap=3, base_seed=None, end_of_text_id=kind.end_of_text_id)
    items = list(stream)
    assert items[0]["input_ids"].dtype == torch.int64
    assert keys(items) == [(row, n) for row, ids in enumerate(documents) for n in range(count_chunks(len(ids), 20, 3))]
    wanted = [chunk.tolist() for ids in documents for chunk in chunk_ids(ids, 20, 3)]
    assert [item["input_ids"].tolist() for item in items] == wanted
    settings = {"max_length": 20, "overlap": 3, "end_of_text_id": kind.end_of_text_id}
    assert chunk_examples({"text": texts}, tokenizer, **settings) == {"input_ids": wanted}
    assert stream.count_chunks() == len(items)


def test_a_data_set_may_have_any_format_and_more_columns(on_disk, characters):
    assert keys(make(on_disk.with_format("torch"), characters)) == keys(make(on_disk, characters))


def test_a_document_that_cannot_be_encoded_is_named_by_its_row(on_disk):
    texts = ["ab"] * 90 + ["abz"] + ["ab"] * 9
    stream = make(datasets.Dataset.from_dict({"text": texts}), CharTokenizer("ab"))
    for read in (lambda: list(stream), stream.count_chunks):
        with pytest.raises(ValueError, match="text 90 cannot be encoded: character 'z' at position 2"):
            read()


DATA = datasets.Dataset.from_dict({"text": ["abcde", "", "ab", "abcabcabcabc"], "row": [0, 1, 2, 3]})


@pytest.mark.parametrize(
    ("dataset", "settings", "words"),
    [
        (datasets.DatasetDict({"train": DATA}), {}, "dataset must be one split, got a DatasetDict of ['train']"),
        (DATA.to_iterable_dataset(), {}, "got IterableDataset: it shares itself out and resumes already"),
        (DATA.select([]), {}, "dataset must hold at least one document"),
        (datasets.Dataset.from_dict({"text": ["a", None]}), {}, "row 1 is None"),
        (datasets.Dataset.from_dict({"text": [["a"]]}), {}, "must hold texts"),
        (DATA, {"text_column": "body"}, "text_column must be one of 'text', 'row', got 'body'"),
        (DATA, {"tokenizer": None}, "tokenizer must have a method encode"),
        (DATA, {"overlap": 4}, "overlap must be less than max_length 4"),
        (DATA, {"rank": 1}, "rank must be"),
    ],
)
def test_what_cannot_be_read_to_its_end_is_refused_before_any_work(dataset, settings, words):
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        StreamingTextDataset(dataset, **{"tokenizer": CharTokenizer("abcde"), "max_length": 4} | settings)


def test_a_row_without_text_that_was_not_selected_does_no_harm(characters):
    rows = datasets.Dataset.from_dict({"text": ["a", None, "b"]})
    StreamingTextDataset(rows.select([0, 2]), characters, max_length=8)


def test_a_tokenizer_that_loses_characters_is_told_once_where_the_stream_begins():
    dropping = Tokenizer(models.BPE({"a": 0, "b": 1, "E": 2}, []))
    texts = datasets.Dataset.from_dict({"text": ["azb"] * 20})
    with pytest.warns(UserWarning, match="loses characters of the first texts: 'z'"):
        stream = StreamingTextDataset(texts, dropping, max_length=4, end_of_text_id=2)
    assert [item["input_ids"].tolist() for item in stream] == [[0, 1, 2]] * 20  # without another warning


# Each data set is read in a fresh process: a copy of one that has imported what it needs, and read nothing.
MEMORY_PROGRAM = """
import os, sys
import datasets
from course_lib.foundation import CharTokenizer
from course_lib.long_documents import StreamingTextDataset
for folder in sys.argv[1:]:
    if os.fork() == 0:
        stream = StreamingTextDataset(
            datasets.load_from_disk(folder), CharTokenizer("abc "), max_length=512, base_seed=0
        )
        count = sum(1 for _ in stream)
        # Not getrusage: its peak is inherited from the process that started this one.
        (peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
        print(count, peak, flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_twenty_times_the_documents_take_no_more_memory(tmp_path):
    folders = [str(tmp_path / str(times)) for times in (1, 20)]
    for folder, times in zip(folders, (1, 20), strict=True):
        datasets.Dataset.from_dict({"text": ["ab c" * 12_500] * 20 * times}).save_to_disk(folder)
    program = [sys.executable, "-c", MEMORY_PROGRAM, *folders]
    lines = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    counts, peaks = zip(*(map(int, line.split()) for line in lines), strict=True)
    assert counts[1] == 20 * counts[0]
    assert peaks[1] < 1.1 * peaks[0]


# StreamingTextDataset: workers and ranks


@pytest.mark.parametrize("method", sorted({*get_all_start_methods()} - {"fork"}))
def test_workers_may_be_started_in_any_way(on_disk, characters, method):
    stream = make(on_disk.select(range(8)), characters)
    loader = DataLoader(stream, batch_size=None, num_workers=1, multiprocessing_context=method)
    assert sorted(keys(loader)) == sorted(keys(stream))


@pytest.mark.parametrize("num_workers", [0, 2, 4])
@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_shares_of_ranks_and_workers_are_disjoint_and_complete(on_disk, characters, num_workers, world_size):
    small = on_disk.select(range(7))  # where there are more readers than that, some are idle
    everything = keys(make(small, characters))
    shared = []
    for rank in range(world_size):
        stream = make(small, characters, rank=rank, world_size=world_size)
        shared += keys(DataLoader(stream, batch_size=None, num_workers=num_workers))
    assert sorted(shared) == sorted(everything)


@pytest.mark.parametrize("shards", [1, 3])
def test_a_stream_of_the_library_shares_and_resumes_what_it_is_mapped_to(on_disk, characters, shards):
    settings = {"tokenizer": characters, "max_length": 256, "overlap": 16}

    def mapped() -> datasets.IterableDataset:
        data = on_disk.select_columns(["text"]).to_iterable_dataset(num_shards=shards)
        columns = data.column_names
        return data.map(chunk_examples, batched=True, batch_size=20, remove_columns=columns, fn_kwargs=settings)

    everything = [tuple(row["input_ids"]) for row in mapped()]
    assert len(everything) == len(keys(make(on_disk, characters)))
    for world_size in (1, 2):
        parts = [split_dataset_by_node(mapped(), rank, world_size) for rank in range(world_size)]
        assert sorted(tuple(row["input_ids"]) for part in parts for row in part) == sorted(everything)
    stream = mapped()
    iterator = iter(stream)
    begun = [tuple(next(iterator)["input_ids"]) for _ in range(47)]
    resumed = mapped()
    resumed.load_state_dict(json.loads(json.dumps(stream.state_dict())))
    assert begun + [tuple(row["input_ids"]) for row in resumed] == everything


# StreamingTextDataset.set_epoch


def test_each_epoch_has_its_order_fixed_by_seed_and_epoch(on_disk, characters):
    stream = make(on_disk, characters)
    first, second = keys(stream), keys(stream)  # epoch follows epoch
    next(iter(stream))  # which has not reached its end
    stream.set_epoch(1)
    assert keys(stream) == second != first
    stream.set_epoch(0)
    assert keys(stream) == first
    assert sorted(second) == sorted(first)
    assert keys(make(on_disk, characters, base_seed=4)) == second
    in_order = keys(make(on_disk, characters, base_seed=None))
    assert in_order == sorted(first)


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_see_a_new_epoch(on_disk, characters, persistent):
    stream = make(on_disk.select(range(20)), characters)
    loader = DataLoader(stream, batch_size=None, num_workers=1, persistent_workers=persistent)
    first = keys(loader)
    stream.set_epoch(1)
    assert keys(loader) == keys(stream) != first


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_that_are_not_told_of_a_new_epoch_warn(on_disk, characters, persistent, capfd, monkeypatch):
    # As an error, which a warning is here, it would end a worker, and PyTorch would wait ten seconds: they write it.
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: print(message, file=sys.stderr, flush=True))
    warnings.simplefilter("always")
    stream = make(on_disk.select(range(20)), characters)
    # A fork server writes where an earlier test was captured.
    method = "fork" if multiprocessing.get_start_method() == "fork" else "spawn"
    how = {"num_workers": 2, "persistent_workers": persistent, "multiprocessing_context": method}
    loader = DataLoader(stream, batch_size=None, **how)
    words = "read epoch 0 once more, in the same order"
    first = keys(loader)
    assert words not in capfd.readouterr().err
    assert keys(loader) == first
    assert capfd.readouterr().err.count(words) == 1  # the first worker alone
    in_order = DataLoader(make(on_disk.select(range(20)), characters, base_seed=None), batch_size=None, num_workers=2)
    assert keys(in_order) == keys(in_order)  # there every epoch has one order
    assert words not in capfd.readouterr().err


def test_a_worker_that_ends_before_the_first_one_begins_has_read_no_epoch_before(on_disk, characters, monkeypatch):
    stream = make(on_disk.select(range(7)), characters)

    def read_as(worker: int) -> list:
        info = SimpleNamespace(id=worker, num_workers=2)
        monkeypatch.setattr(streaming, "get_worker_info", lambda: info)
        return keys(stream)

    second, first = read_as(1), read_as(0)  # here a warning is an error
    monkeypatch.undo()
    assert sorted(first + second) == sorted(keys(make(on_disk.select(range(7)), characters)))
    with pytest.warns(UserWarning, match="read epoch 0 once more"):
        read_as(0)


def test_a_worker_that_ends_late_does_not_undo_the_epoch_that_was_set(on_disk, characters, monkeypatch):
    stream = make(on_disk.select(range(5)), characters)
    of_epoch_1 = make(on_disk.select(range(5)), characters)
    of_epoch_1.set_epoch(1)
    monkeypatch.setattr(streaming, "get_worker_info", lambda: SimpleNamespace(id=0, num_workers=1))
    late = iter(stream)
    next(late)
    stream._position.epoch.fill_(1)  # as `set_epoch` does in the process that the worker belongs to
    list(late)
    assert stream.epoch == 1
    again = keys(stream)
    monkeypatch.undo()
    assert again == keys(of_epoch_1)


def test_a_worker_that_lives_on_reads_the_next_epoch_from_its_beginning(on_disk, characters, monkeypatch):
    stream = make(on_disk.select(range(5)), characters)
    whole = make(on_disk.select(range(5)), characters)
    whole.set_epoch(1)
    monkeypatch.setattr(streaming, "get_worker_info", lambda: SimpleNamespace(id=0, num_workers=1))
    saved = make(on_disk.select(range(5)), characters)
    read = keys(itertools.islice(iter(saved), 3))
    stream.load_state_dict(saved.state_dict())
    assert read + keys(stream) == keys(make(on_disk.select(range(5)), characters))
    stream._position.epoch.fill_(1)
    assert keys(stream) == keys(whole)


# StreamingTextDataset.count_chunks


@pytest.mark.parametrize("num_proc", [None, 2])
def test_a_length_is_known_once_it_is_counted(on_disk, characters, num_proc):
    stream = make(on_disk, characters)
    with pytest.raises(TypeError, match="call count_chunks"):
        len(stream)
    everything = keys(stream)
    assert stream.count_chunks(num_proc) == len(everything) == len(stream)
    share = make(on_disk, characters, rank=1, world_size=3)
    assert share.count_chunks() == len(everything)
    for _ in range(2):
        assert len(share) == len(keys(share))


def test_counts_are_kept_beside_the_data(on_disk, characters, monkeypatch):
    make(on_disk, characters).count_chunks()
    stream = make(on_disk, characters, max_length=100)
    monkeypatch.setattr(streaming, "encode_named", lambda *arguments, **named: pytest.fail("counted again"))
    assert stream.count_chunks() > 0


@pytest.mark.parametrize("asked", ["0", "1"])
@pytest.mark.parametrize("before", [True, False])
def test_bars_of_the_library_are_hidden_with_those_of_the_course_and_come_back(characters, monkeypatch, asked, before):
    monkeypatch.setenv("COURSE_PROGRESS", asked)
    monkeypatch.setattr(datasets.Dataset, "map", lambda data, *_, **__: seen.append(bars()) or data.add_column(*column))
    column, seen, bars = ("num_tokens", [2]), [], lambda: not datasets.are_progress_bars_disabled()
    try:
        (datasets.enable_progress_bars if before else datasets.disable_progress_bars)()
        assert make(datasets.Dataset.from_dict({"text": ["a"]}), characters).count_chunks() == 1
        assert (seen, bars()) == ([before and asked == "1"], before)
    finally:
        datasets.disable_progress_bars()


# StreamingTextDataset.state_dict, .load_state_dict


@pytest.mark.parametrize("delivered", [0, 1, 37, 38, 300])
def test_a_stream_goes_on_exactly_where_it_was(on_disk, characters, delivered):
    stream = make(on_disk, characters)
    stream.set_epoch(2)
    everything = keys(stream)
    stream.set_epoch(2)
    iterator = iter(stream)
    assert keys(itertools.islice(iterator, delivered)) == everything[:delivered]
    resumed = make(on_disk, characters)
    resumed.load_state_dict(json.loads(json.dumps(stream.state_dict())))
    iterator = iter(resumed)
    assert keys(itertools.islice(iterator, 5)) == everything[delivered : delivered + 5]
    again = make(on_disk, characters)  # a second time
    again.load_state_dict(json.loads(json.dumps(resumed.state_dict())))
    with pytest.raises(ValueError, match=r"^epoch must .*got 0"):
        again.set_epoch(0)
    again.set_epoch(2)  # as a training loop does before each epoch
    assert keys(again) == everything[delivered + 5 :]
    stream.set_epoch(3)
    assert keys(again) == keys(stream)


def test_a_loop_that_ends_does_not_undo_a_state_loaded_meanwhile(on_disk, characters):
    stream = make(on_disk.select(range(10)), characters)
    iterator = iter(stream)
    first = keys(itertools.islice(iterator, 3))
    state = stream.state_dict()
    rest = keys(iterator)
    stream.set_epoch(0)
    iterator = iter(stream)
    next(iterator)
    stream.load_state_dict(state)
    assert first + rest == keys(make(on_disk.select(range(10)), characters))
    list(iterator)
    assert keys(stream) == rest


def test_a_state_after_the_last_item_begins_the_next_epoch(on_disk, characters):
    stream = make(on_disk, characters)
    num_chunks = len(keys(make(on_disk, characters)))
    for _ in zip(range(num_chunks), stream, strict=False):
        pass  # to the last item, but not to the end
    state = stream.state_dict()
    assert (state["epoch"], state["documents"], state["chunks"]) == (1, 0, 0)
    stream.set_epoch(1)
    for place in ({}, {"epoch": 0, "documents": len(on_disk)}):  # as a worker would say it
        resumed = make(on_disk, characters)
        resumed.load_state_dict(state | place)
        assert resumed.epoch == 1
        assert keys(itertools.islice(resumed, 9)) == keys(itertools.islice(stream, 9))


@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")
@pytest.mark.parametrize("num_workers", [0, 2])
def test_the_stateful_loader_of_torchdata_resumes_it(on_disk, characters, num_workers):
    stateful = pytest.importorskip("torchdata.stateful_dataloader").StatefulDataLoader
    small = on_disk.select(range(25))

    def loader():
        return stateful(make(small, characters), batch_size=None, num_workers=num_workers)

    everything = keys(loader())
    saved = loader()
    iterator = iter(saved)
    assert keys(itertools.islice(iterator, 11)) == everything[:11]
    resumed = loader()
    resumed.load_state_dict(saved.state_dict())
    assert keys(resumed) == everything[11:]


@pytest.mark.parametrize("delivered", [0, 20])
def test_a_state_of_this_process_is_not_gone_on_with_by_workers(on_disk, characters, delivered):
    stream = make(on_disk, characters)
    iterator = iter(stream)
    for _ in range(delivered):
        next(iterator)
    resumed = make(on_disk, characters)
    resumed.load_state_dict(stream.state_dict())
    loader = DataLoader(resumed, batch_size=None, num_workers=2)
    if not delivered:  # at the beginning of an epoch nothing can be lost
        assert sorted(keys(loader)) == sorted(keys(stream))
        return
    with pytest.raises(ValueError, match="is of worker 0 of 1, which only that one can go on from"):
        keys(loader)
    resumed.set_epoch(1)
    assert len(keys(loader)) == len(keys(make(on_disk, characters)))


@pytest.mark.parametrize(
    "changes", [{"max_length": 128}, {"overlap": 0}, {"base_seed": 4}, {"rank": 1, "world_size": 2}, {"world_size": 2}]
)
def test_a_state_of_other_settings_is_refused_by_name(on_disk, characters, changes):
    state = make(on_disk, characters).state_dict()
    with pytest.raises(ValueError, match=f"saved with {next(iter(changes))}="):
        make(on_disk, characters, **changes).load_state_dict(state)


def test_a_state_of_another_order_of_texts_or_another_tokenizer_is_refused(on_disk, characters, tokenizer):
    backward = on_disk.select(range(len(on_disk))[::-1])
    for data in (on_disk, on_disk.shuffle(seed=1)):
        state = make(data, characters).state_dict()
        others = make(backward, characters), make(on_disk.shuffle(seed=2), characters), make(data, tokenizer)
        for other in others:
            with pytest.raises(ValueError, match="saved with fingerprint="):
                other.load_state_dict(state)


def test_a_state_is_refused_by_a_tokenizer_that_differs_in_a_word_of_no_text(on_disk, tokenizer):
    other = type(tokenizer).from_str(tokenizer.to_str())
    state = make(on_disk, tokenizer).state_dict()
    make(on_disk, other).load_state_dict(state)
    other.enable_truncation(7)  # which a stream doesn't use
    make(on_disk, other).load_state_dict(state)
    other.add_tokens(["zzzyzx"])
    with pytest.raises(ValueError, match="saved with fingerprint="):
        make(on_disk, other).load_state_dict(state)


def test_a_fingerprint_is_of_the_texts_that_are_read_however_they_are_stored(documents, on_disk, characters):
    state = make(on_disk.select([5, 194, 7]), characters).state_dict()
    again = datasets.Dataset.from_dict({"text": [documents[row] for row in (5, 194, 7)]})
    make(again, characters).load_state_dict(state)


SELECTIONS = {
    "all": lambda data: data,
    "shuffled": lambda data: data.shuffle(seed=1),
    "filtered": lambda data: data.filter(lambda row: len(row["text"]) > 35),
    "selected": lambda data: data.select([5, 194, 7, 0, *range(100, 196)]),
    "sliced": lambda data: data.select(range(3, 196)),
    "joined": lambda data: datasets.concatenate_datasets([data, data.select(range(9))]),
}


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
def test_a_state_is_refused_where_a_single_text_has_changed(documents, on_disk, characters, selection):
    def state_of(texts):
        return make(selection(datasets.Dataset.from_dict({"text": texts})), characters)

    state = make(selection(on_disk.select_columns(["text"])), characters).state_dict()
    state_of(documents).load_state_dict(state)
    for row in (5, 194):
        # longer by a character, and then of the same length
        for other in (documents[row] + ".", documents[row][::-1]):
            changed = [*documents[:row], other, *documents[row + 1 :]]
            with pytest.raises(ValueError, match="saved with fingerprint="):
                state_of(changed).load_state_dict(state)


@pytest.mark.parametrize(
    ("documents", "chunks", "left"),
    [(3, 3, [(3, 3)]), (2, 1, [(3, 0), (3, 1), (3, 2), (3, 3)]), (4, 0, [(0, 0), (0, 1), (1, 0), (2, 0)])],
)
def test_a_place_at_the_end_of_a_document_is_the_beginning_of_the_next(documents, chunks, left):
    stream = make(DATA, CharTokenizer("abcde"), max_length=4, overlap=0, base_seed=None)
    stream.load_state_dict(stream.state_dict() | {"documents": documents, "chunks": chunks})
    assert keys(stream)[:4] == left


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"epoch": -1}, "epoch must be"),
        ({"documents": 5}, "documents must be"),
        ({"documents": 4, "chunks": 1}, "chunks must be"),
        ({"documents": 1, "chunks": 10**6}, "chunks of the state must be at most 1, as row 1 has, got 1000000"),
    ],
)
def test_a_place_that_is_not_there_is_refused(entry, words):
    stream = make(DATA, CharTokenizer("abcde"), max_length=4, overlap=0, base_seed=None)

    with pytest.raises(ValueError, match=rf"^{words}"):  # the last one when its document is read
        stream.load_state_dict(stream.state_dict() | entry) or next(iter(stream))


# PaddingCollator


def rows_of(*lengths: int) -> list[dict]:
    return [{"input_ids": torch.arange(5, 5 + length)} for length in lengths]


class Wrapped:
    pad_token_id = 1


@given(st.lists(st.integers(1, 12), min_size=1, max_size=6), st.one_of(st.none(), st.integers(12, 20)))
def test_padding_stands_behind_its_row_and_is_never_scored(lengths, max_length):
    batch = PaddingCollator(Wrapped(), max_length)(rows_of(*lengths))
    width = max_length or max(lengths)
    assert {name: tuple(values.shape) for name, values in batch.items()} == dict.fromkeys(
        ("input_ids", "attention_mask", "labels"), (len(lengths), width)
    )
    for row, length in enumerate(lengths):
        assert batch["input_ids"][row].tolist() == [*range(5, 5 + length)] + [1] * (width - length)
        assert batch["attention_mask"][row].tolist() == [1] * length + [0] * (width - length)
        assert batch["labels"][row].tolist() == [-100, *range(6, 5 + length)] + [-100] * (width - length)


def test_an_end_that_is_also_the_padding_is_scored_where_it_is_an_end(tokenizer):
    wrapped = wrap_tokenizer(tokenizer, model_max_length=64, pad_token=END_OF_TEXT)
    ends = wrapped.eos_token_id
    batch = PaddingCollator(wrapped)([{"input_ids": [7, 8, ends]}, {"input_ids": [7, ends]}])
    assert batch["input_ids"].tolist() == [[7, 8, ends], [7, ends, ends]]
    assert batch["labels"].tolist() == [[-100, 8, ends], [-100, ends, -100]]


def test_ids_past_16_bits_keep_their_value():
    batch = PaddingCollator(Wrapped())([{"input_ids": np.array([70_000], dtype=np.uint32)}, {"input_ids": [3, 4]}])
    assert batch["input_ids"].tolist() == [[70_000, 1], [3, 4]]


def test_labels_that_rows_bring_are_kept():
    rows = [{"input_ids": [5, 6, 7], "labels": [5, -100, 7]}, {"input_ids": [7, 8], "labels": [7, 8]}]
    assert PaddingCollator(Wrapped())(rows)["labels"].tolist() == [[-100, -100, 7], [-100, 8, -100]]


def test_rows_are_no_longer_than_asked_and_all_have_labels_or_none():
    with pytest.raises(ValueError, match="no longer than max_length 2, got 3 in row 0"):
        PaddingCollator(Wrapped(), 2)([{"input_ids": [1, 2, 3]}])
    with pytest.raises(ValueError, match="labels must be"):
        PaddingCollator(Wrapped())([{"input_ids": [5], "labels": [5]}, {"input_ids": [7]}])


def test_a_tokenizer_without_padding_is_refused():
    for tokenizer in (CharTokenizer("ab"), SimpleNamespace(pad_token_id=None)):
        with pytest.raises(ValueError, match=r"^tokenizer must have a pad token"):
            PaddingCollator(tokenizer)


# padding_share, batches_by_length


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(1, 8), st.integers(1, 5), st.integers(0, 9))
def test_batches_of_similar_length_hold_every_row_once(lengths, batch_size, pools, seed):
    batches = batches_by_length(lengths, batch_size, pool_size=batch_size * pools, seed=seed)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    assert max(map(len, batches)) <= batch_size
    filled = sum(max(lengths[i] for i in batch) * len(batch) for batch in batches)
    assert padding_share(lengths, batches) == pytest.approx(1 - sum(lengths) / filled)


def test_similar_lengths_waste_less():
    lengths = np.random.default_rng(0).integers(1, 500, 2_000)
    random_batches = np.random.default_rng(1).permutation(2_000).reshape(-1, 20)
    wasted = [padding_share(lengths, batches_by_length(lengths, 20, pool_size=p, seed=0)) for p in (20, 200, 2_000)]
    assert padding_share(lengths, random_batches) > 0.4
    assert wasted[0] > 0.4 > wasted[1] > wasted[2]
    assert wasted[2] < 0.02


def test_the_padding_of_the_largest_lengths_does_not_overflow():
    assert padding_share([2**62] * 4, [[0, 1, 2, 3]]) == 0
    assert padding_share(np.array([100, 28], dtype=np.int8), [[0, 1]]) == 0.36
    assert padding_share([3, 4], iter([[0, 1]])) == 0.125


@pytest.mark.parametrize(
    ("lengths", "batches", "words"),
    [
        ([1, 2, 3, 4], [[[0, 1], [2, 3]]], "batches must be one-dimensional, got shape (2, 2)"),
        ([3, 4], [[0, 2]], "batches must lie in 0 ... 1, got 0 ... 2"),
        ([3], [[]], "batches must hold at least one row each"),
        ([3], [], "batches must hold at least one batch"),
        ([], [[0]], "lengths must hold at least one"),
        ([0], [[0]], "lengths must be at least 1"),
    ],
)
def test_batches_hold_rows_whose_lengths_are_known(lengths, batches, words):
    with pytest.raises(ValueError, match=rf"^{re.escape(words)}"):
        padding_share(lengths, batches)


def test_a_pool_holds_at_least_a_batch():
    assert sorted(map(len, batches_by_length([7] * 5, 2, pool_size=4, seed=0))) == [1, 2, 2]
    for lengths, pool_size, words in (([3], 1, "pool_size must be"), ([], 2, "lengths must hold at least one")):
        with pytest.raises(ValueError, match=rf"^{words}"):
            batches_by_length(lengths, 2, pool_size=pool_size, seed=0)
