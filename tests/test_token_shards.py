"""Shards: what is written, that nothing is lost, and that they stand as one stream wherever ids are taken."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import pickle
import random
import shutil
import signal
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models
from transformers import AutoTokenizer

from course_lib import token_shards
from course_lib.experiments import token_shards as experiments
from course_lib.foundation import (
    BlockOrder,
    CharTokenizer,
    ConvolutionModel,
    FileOrder,
    RandomOrder,
    as_ids,
    encode_corpus,
    load_documents,
    token_ledger,
)
from course_lib.long_documents import chunk_ids
from course_lib.random_sampling import seq_data_iter_random
from course_lib.sequential_partitioning import seq_data_iter_sequential
from course_lib.sliding_windows import (
    BatchOrder,
    SlidingWindowDataset,
    gather_windows,
    make_dataloader,
    window_starts,
)
from course_lib.teaching import evaluate, train
from course_lib.token_shards import (
    ShardedStream,
    load_shard,
    shard_files,
    shard_tasks,
    verify_shards,
    write_shards,
)
from course_lib.token_shards.shard_files import (
    ShardSettings,
    add_document,
    pieces_folder,
    text_digest,
    whose_ids,
)
from course_lib.token_shards.shard_tasks import TaskResult, plan_shards, write_shard
from course_lib.tokenizer_pipeline import build_tokenizer, wrap_tokenizer

TEXTS = [document.text for document in load_documents()]
CHARACTERS = CharTokenizer("".join(TEXTS))


class Numbers:
    """The text "5 3" is the ids 5, 6 and 7: a stream whose ids are its positions, if the texts say so."""

    end_of_text_id = 0

    def __init__(self, vocab_size: int = 60_000, fails_after: int | None = None):
        self.vocab_size = vocab_size
        self._encoded, self._fails_after = 0, fails_after

    def __getstate__(self) -> dict[str, int]:
        return {"vocab_size": self.vocab_size}  # what it has done is not what it knows

    def encode(self, text: str) -> list[int]:
        if self._encoded == self._fails_after:
            raise KeyboardInterrupt
        self._encoded += 1
        first, count = map(int, text.split())
        return list(range(first, first + count))


LOOKED_AT = 2 * 10  # the first texts, twice, before all others


def numbered(lengths: list[int]) -> list[str]:
    return [f"{1 + sum(lengths[:k])} {length}" for k, length in enumerate(lengths)]


def naive_split(
    documents: list[list[int]], val_every: int, max_tokens: int | None = None
) -> dict[str, list[list[int]]]:
    splits, total = {"train": [], "val": []}, 0
    for number, ids in enumerate(documents, start=1):
        total += len(ids)
        if max_tokens is not None and total > max_tokens:
            break
        splits["val" if number % val_every == 0 else "train"].append(ids)
    return splits


def encoded(texts: list[str], tokenizer) -> list[list[int]]:
    return [[*map(int, tokenizer.encode(text)), tokenizer.end_of_text_id] for text in texts]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("[!.]*"))}  # the lock may stay


write = partial(write_shards, progress=False)


# write_shards: what it writes


@settings(max_examples=25)
@given(
    lengths=st.lists(st.integers(0, 12), min_size=1, max_size=30),
    shard_size=st.integers(1, 20),
    val_every=st.integers(1, 5),
    max_tokens=st.none() | st.integers(13, 120),
)
def test_shards_hold_every_document_once_in_order(tmp_path_factory, lengths, shard_size, val_every, max_tokens):
    folder, texts = tmp_path_factory.mktemp("shards"), numbered(lengths)
    manifest = write(iter(texts), Numbers(), folder, shard_size=shard_size, val_every=val_every, max_tokens=max_tokens)
    wanted = naive_split(encoded(texts, Numbers()), val_every, max_tokens)
    for split, documents in wanted.items():
        ids = [i for document in documents for i in document]
        sizes = [shard.tokens for shard in manifest.shards[split]]
        assert sizes[:-1] == [shard_size] * (len(sizes) - 1)
        assert manifest.num_tokens(split) == len(ids)
        assert manifest.num_documents(split) == len(documents)
        if not ids:
            with pytest.raises(ValueError, match="is empty"):
                ShardedStream(folder, split)
            continue
        stream = ShardedStream(folder, split)
        assert np.asarray(stream).tolist() == ids
        assert stream.document_starts.tolist() == [0, *np.cumsum([len(d) for d in documents])[:-1].tolist()]
        # with nothing of ours
        plain = [np.memmap(folder / f"{split}_{k:06}.bin", dtype=np.uint16) for k in range(len(sizes))]
        assert np.concatenate(plain).tolist() == ids
        shards = [load_shard(folder, split, k) for k in range(len(sizes))]
        assert all(isinstance(s, np.memmap) and np.array_equal(s, p) for s, p in zip(shards, plain, strict=True))
        starts = [np.fromfile(folder / f"{split}_{k:06}.starts.bin", "<i8") for k in range(len(sizes))]
        assert [len(own) for own in starts] == [shard.documents for shard in manifest.shards[split]]
    assert verify_shards(folder, progress=False) == manifest


def test_a_folder_holds_shards_starts_and_a_manifest_and_nothing_else(tmp_path):
    manifest = write(TEXTS, CHARACTERS, tmp_path, shard_size=50_000, val_every=10)
    shards = [f"train_00000{k}" for k in range(len(manifest.shards["train"]))] + ["val_000000"]
    wanted = {f"{name}{end}" for name in shards for end in (".bin", ".starts.bin")}
    assert set(contents(tmp_path)) == wanted | {"manifest.json"}
    record = json.loads((tmp_path / "manifest.json").read_text())
    assert record["format_version"] == 3
    assert record["settings"]["dtype"] == "uint16"
    assert set(record) == {"format_version", "settings", "documents", "shards", "probe", "sha256"}
    assert set(record["shards"]["train"][0]) == {"tokens", "documents", "sha256", "starts_sha256"}
    # documents and tokens are split in other proportions
    table = str(manifest).splitlines()
    assert table[2].split()[:4] == ["val", "1", "19", "9.69%"]


def test_the_vocabulary_decides_the_dtype_and_no_id_wraps_around(tmp_path):
    assert write(["1 3"], Numbers(2**16), tmp_path / "a").settings.dtype == "uint16"
    assert write(["70000 3"], Numbers(2**16 + 1), tmp_path / "b", val_every=1).settings.dtype == "uint32"
    assert np.asarray(ShardedStream(tmp_path / "b", "val")).tolist() == [70_000, 70_001, 70_002, 0]
    assert load_shard(tmp_path / "b", "val", 0).dtype == np.uint32
    with pytest.raises(ValueError, match="it gave the id 70002"):
        write(["70000 3"], Numbers(2**16), tmp_path / "c")
    assert not (tmp_path / "c" / "manifest.json").exists()


@pytest.fixture(scope="module")
def library() -> Tokenizer:
    return build_tokenizer(TEXTS[::5], vocab_size=500, progress=False)


def test_a_tokenizer_of_the_library_and_its_wrapping_write_the_same(tmp_path, library):
    texts = TEXTS[::10]
    write(texts, library, tmp_path / "a", val_every=3)
    padded = Tokenizer.from_str(library.to_str())
    padded.enable_padding(length=50)
    padded.enable_truncation(10)
    rows = [{"body": texts[:7]}, *({"body": t} for t in texts[7:])]
    write(rows, padded, tmp_path / "b", val_every=3, text_column="body")
    write(texts, wrap_tokenizer(library, model_max_length=64), tmp_path / "c", val_every=3)
    assert contents(tmp_path / "a") == contents(tmp_path / "b") == contents(tmp_path / "c")
    ids = [library.encode(text).ids for text in texts]
    assert np.asarray(ShardedStream(tmp_path / "a", "val")).tolist() == list(itertools.chain(*ids[2::3]))


def test_max_tokens_counts_both_splits_and_stops_before_the_document_that_would_exceed_it(tmp_path):
    texts = numbered([4] * 10)  # 5 ids each
    for limit, documents in ((5, 1), (9, 1), (10, 2), (49, 9), (50, 10), (10**6, 10)):
        tokenizer = Numbers()
        manifest = write(texts, tokenizer, tmp_path / str(limit), val_every=2, max_tokens=limit)
        assert manifest.num_documents("train") + manifest.num_documents("val") == documents
        assert tokenizer._encoded <= documents + 1 + LOOKED_AT
    with pytest.raises(ValueError, match="documents must hold at least one document of no more than max_tokens, 4 ids"):
        write(texts, Numbers(), tmp_path / "none", max_tokens=4)
    with pytest.raises(ValueError, match=r"documents must hold at least one document$"):
        write([], Numbers(), tmp_path / "nothing")
    assert not list(tmp_path.glob("no*/manifest.json"))


def test_the_documents_are_never_held(tmp_path):
    alive = 0

    class Text(str):
        def __del__(self):
            nonlocal alive
            alive -= 1

    def texts():
        nonlocal alive
        for k in range(5_000):
            alive += 1
            assert alive < 2_500  # a batch of a thousand that is encoded, and one that is read
            yield Text(f"{k} 3")

    write(texts(), Numbers(), tmp_path)


def test_a_tokenizer_that_loses_characters_is_told(tmp_path):
    dropping = Tokenizer(models.BPE({"a": 0, "b": 1, "E": 2}, []))
    with pytest.warns(UserWarning, match="loses characters of the first texts: 'z'"):
        write(["azb", "ab"], dropping, tmp_path, end_of_text_id=2)
    assert np.asarray(ShardedStream(tmp_path, "train")).tolist() == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"end_of_text_id": 2**32}, ValueError, "end_of_text_id must be"),
        ({"tokenizer": SimpleNamespace(encode=str.split, end_of_text_id=0)}, TypeError, "must have a vocab_size"),
        ({"documents": ["7 -"]}, ValueError, "text 0 cannot be encoded"),
        ({"out_dir": Path(__file__)}, FileExistsError, "is not a folder"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, change, error, words):
    with pytest.raises(error, match=words):
        write(**{"documents": ["1 2"], "tokenizer": Numbers(), "out_dir": tmp_path / "out"} | change)
    assert not (tmp_path / "out" / "manifest.json").exists()


# write_shards: a run that was killed


def in_a_process(work: Callable[[], None]) -> int:
    """Run something in a forked process, and return how it ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it has lost its threads, and needs none
        child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except OSError as error:
            status = 3 if "cannot be written" in str(error) else 2
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


pytest_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
LENGTHS = random.Random(0).choices(range(60), k=120)
SOME_TEXTS = numbered(LENGTHS)
SOME = {"shard_size": 500, "val_every": 4, "max_tokens": sum(LENGTHS[:110]) + 111}  # a document too few by one id


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("undisturbed") / "shards"
    write(SOME_TEXTS, Numbers(), folder, **SOME)
    return contents(folder)


def killed_at(call: int, work: Callable[[], None]) -> None:
    """Run something until its `call`-th call of the system that changes a file, or right behind that one."""
    calls = 0

    def counting(function):
        def counted(*arguments, **settings):
            nonlocal calls
            calls += 1
            if calls == call:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **settings)

        return counted

    for name in ("fsync", "replace", "unlink", "open"):
        setattr(os, name, counting(getattr(os, name)))
    work()


@pytest.mark.slow
@pytest_fork
def test_killed_at_every_step_of_making_files_durable_a_run_ends_as_if_undisturbed(tmp_path, monkeypatch):
    texts = SOME_TEXTS[:20]  # a shard that is full, and two that are not, from two tasks
    write(texts, Numbers(), tmp_path / "0", **SOME)
    undisturbed = contents(tmp_path / "0")
    assert len(undisturbed) == 7
    monkeypatch.setattr(os, "fsync", lambda file: None)  # what a killed process wrote is there, and a disk may be slow
    for call in range(1, 500):
        folder = tmp_path / str(call)
        run = partial(write, texts, Numbers(), folder, **SOME)
        was_killed = os.WIFSIGNALED(in_a_process(partial(killed_at, call, run)))
        before = set(undisturbed) & set(os.listdir(folder))
        assert all((folder / name).read_bytes() == undisturbed[name] for name in before)  # whole or not there
        run()
        assert contents(folder) == undisturbed
        if not was_killed:
            break
    assert call > 20


def stopped(folder: Path, after: int) -> int:
    """Write until so many texts are encoded, and return how many documents are kept."""
    with pytest.raises(KeyboardInterrupt):
        write(SOME_TEXTS, Numbers(fails_after=after), folder, **SOME)
    records = pieces_folder(folder).glob("[0-9]*.json")
    return sum(json.loads(path.read_text())["documents"] for path in records)


@pytest.mark.parametrize("after", [0, 1, 30, 60, 100])
def test_what_was_encoded_is_not_encoded_again(tmp_path, undisturbed, after):
    folder, tokenizer = tmp_path / "shards", Numbers()
    kept = stopped(folder, after)
    assert after - 30 - LOOKED_AT <= kept <= after
    write(iter(SOME_TEXTS), tokenizer, folder, **SOME)
    assert tokenizer._encoded == 111 - kept + LOOKED_AT  # and the one that exceeds max_tokens
    assert contents(folder) == undisturbed
    assert not pieces_folder(folder).exists()


def test_other_documents_are_named_before_anything_is_written(tmp_path):
    folder = tmp_path / "shards"
    kept = stopped(folder, 100)
    before = contents(pieces_folder(folder))
    for changed in (0, 3, kept - 1):
        texts = list(SOME_TEXTS)
        texts[changed] = "7 50"
        with pytest.raises(ValueError, match=f"was begun with: number {changed}, counted from 0, has another text"):
            write(texts, Numbers(), folder, **SOME)
    with pytest.raises(ValueError, match=f"number {kept - 1}, counted from 0, is missing"):
        write(SOME_TEXTS[: kept - 1], Numbers(), folder, **SOME)
    assert contents(pieces_folder(folder)) == before
    assert not contents(folder)


@pytest.mark.parametrize("settings", [SOME, SOME | {"max_tokens": None}], ids=["max_tokens", "all"])
def test_a_finished_folder_is_returned_to_its_own_documents_and_refused_to_others(tmp_path, settings):
    manifest = write(SOME_TEXTS, Numbers(), tmp_path, **settings)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    encodes_nothing = Numbers(fails_after=0)
    assert write(iter(SOME_TEXTS), encodes_nothing, tmp_path, **settings) == manifest
    others = [SOME_TEXTS[:50], ["7 50", *SOME_TEXTS[1:]], [*SOME_TEXTS[1::-1], *SOME_TEXTS[2:]]]
    if settings is not SOME:  # else what comes behind the last one that fits does not matter
        others.append([*SOME_TEXTS, "7 50"])
    for texts in others:
        with pytest.raises(ValueError, match=r"documents differ from the \d+ that"):
            write(texts, encodes_nothing, tmp_path, **settings)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"shard_size": 501}, "shard_size 500 instead of 501"),
        ({"val_every": 5}, "val_every 4 instead of 5"),
        ({"max_tokens": None}, "max_tokens \\d+ instead of None"),
        ({"end_of_text_id": 7}, "end_of_text_id 0 instead of 7"),
        ({"tokenizer": Numbers(59_999)}, "tokenizer '"),
    ],
)
@pytest.mark.parametrize("finished", [True, False])
def test_shards_of_other_settings_are_refused_and_stay(tmp_path, change, words, finished):
    if finished:
        write(SOME_TEXTS, Numbers(), tmp_path, **SOME)
    else:
        stopped(tmp_path, 100)
    before = contents(tmp_path)
    arguments = {"tokenizer": Numbers(), **SOME} | change
    with pytest.raises(ValueError, match=words):
        write(SOME_TEXTS, out_dir=tmp_path, **arguments)
    assert contents(tmp_path) == before


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2])


def alter(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


DAMAGES = [(cut_off, ValueError), (alter, ValueError), (Path.unlink, FileNotFoundError)]


@pytest.mark.parametrize("name", ["train_000000.bin", "val_000000.starts.bin"])
@pytest.mark.parametrize(("damage", "error"), DAMAGES)
def test_a_damaged_shard_of_a_finished_folder_is_named_and_nothing_is_overwritten(tmp_path, name, damage, error):
    folder = tmp_path / "finished"
    write(SOME_TEXTS, Numbers(), folder, **SOME)
    damage(folder / name)
    before = contents(folder)
    with pytest.raises(error, match=name):
        verify_shards(folder, progress=False)
    if damage is not alter:  # sizes are compared whenever a folder is opened
        for use in (
            lambda: ShardedStream(folder, "train"),
            lambda: load_shard(folder, "val", 0),
            lambda: write(SOME_TEXTS, Numbers(), folder, **SOME),
        ):
            with pytest.raises(error, match=name):
                use()
    assert contents(folder) == before


def stopped_while_writing(folder: Path, monkeypatch) -> None:
    """Stop when some shards are written, but not all."""
    with monkeypatch.context() as patch:
        written = []

        def write_or_stop(job, plan):
            if len(written) == 3:
                raise KeyboardInterrupt
            written.append(plan)
            return write_shard(job, plan)

        patch.setattr(shard_tasks, "write_shard", write_or_stop)
        with pytest.raises(KeyboardInterrupt):
            write(SOME_TEXTS, Numbers(), folder, **SOME)


def test_a_finished_shard_of_a_killed_run_stays_and_a_damaged_one_is_written_again(tmp_path, undisturbed, monkeypatch):
    for number, (damage, _) in enumerate(DAMAGES):
        folder = tmp_path / str(number)
        stopped_while_writing(folder, monkeypatch)
        before = {path: path.stat().st_mtime_ns for path in folder.glob("*_0*")}
        assert len(before) == 6
        damage(folder / "train_000000.bin")
        write(SOME_TEXTS, Numbers(fails_after=0), folder, **SOME)
        assert contents(folder) == undisturbed
        whole = {path for path in before if "train_000000" not in path.name}
        assert {path for path in before if path.stat().st_mtime_ns == before[path]} == whole


def test_what_was_encoded_and_is_damaged_is_named_or_encoded_again(tmp_path, undisturbed):
    folder = tmp_path / "begun"
    for name, damage in itertools.product(("00001.bin", "00001.documents", "00001.json"), (cut_off, Path.unlink)):
        stopped(folder, 100)
        damage(pieces_folder(folder) / name)
        write(SOME_TEXTS, Numbers(), folder, **SOME)
        assert contents(folder) == undisturbed
        shutil.rmtree(folder)
    stopped(folder, 100)
    alter(pieces_folder(folder) / "00001.bin")  # of the right size
    with pytest.raises(ValueError, match=r"00001.bin is damaged: remove .*00001.json, run it again"):
        write(SOME_TEXTS, Numbers(), folder, **SOME)
    (pieces_folder(folder) / "00001.json").unlink()
    write(SOME_TEXTS, Numbers(), folder, **SOME)
    assert contents(folder) == undisturbed


def test_a_manifest_that_is_damaged_or_of_another_version_is_refused(tmp_path):
    write(SOME_TEXTS, Numbers(), tmp_path, **SOME)
    path, good = tmp_path / "manifest.json", (tmp_path / "manifest.json").read_text()
    bad = {
        good[:-50]: "holds no JSON",
        "[]": "no JSON object",
        good.replace('"format_version": 3', '"format_version": 1'): "format version 3, got 1",
        good.replace('"val_every": 4', '"val_every": 5'): "its SHA-256 is not the one that it says",
    }
    for text, words in bad.items():
        path.write_text(text)
        assert text != good
        with pytest.raises(ValueError, match=words):
            verify_shards(tmp_path, progress=False)
        assert path.read_text() == text
    path.write_text(good)
    (tmp_path / "train_000099.bin").touch()
    with pytest.raises(ValueError, match=r"train_000099\.bin is not in the manifest"):
        verify_shards(tmp_path, progress=False)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"no .*manifest.json: no shards here"):
        ShardedStream(tmp_path, "train")
    with pytest.raises(FileExistsError, match="is in the way"):  # whose are these?
        write(SOME_TEXTS, Numbers(), tmp_path, **SOME)


def test_an_unfinished_folder_is_not_read(tmp_path):
    stopped(tmp_path, 60)
    with pytest.raises(FileNotFoundError, match="the run was not finished; run it again"):
        ShardedStream(tmp_path, "train")


def test_files_of_somebody_else_stay(tmp_path, undisturbed):
    tmp_path = tmp_path / "shards"
    tmp_path.mkdir()
    (tmp_path / "notes.tmp").write_text("mine")
    (tmp_path / "train.bin").write_text("mine, too")
    write(SOME_TEXTS, Numbers(), tmp_path, **SOME)
    after = contents(tmp_path)
    assert (after.pop("notes.tmp"), after.pop("train.bin")) == (b"mine", b"mine, too")
    assert after == undisturbed


def test_two_writers_at_once_are_one_too_many(tmp_path, undisturbed):
    def meddling():
        for number, text in enumerate(SOME_TEXTS):
            if number == 50:
                with pytest.raises(OSError, match="another process is writing into this folder"):
                    write(SOME_TEXTS, Numbers(), tmp_path, **SOME)
            yield text

    write(meddling(), Numbers(), tmp_path, **SOME)
    assert contents(tmp_path) == undisturbed


@pytest_fork
def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(tmp_path, undisturbed):
    run = partial(write, SOME_TEXTS, Numbers(), tmp_path, **SOME)

    def with_little_room():
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))  # bytes of any one file; a shard has 1,000
        run()

    assert os.waitstatus_to_exitcode(in_a_process(with_little_room)) == 3
    assert not (tmp_path / "manifest.json").exists()
    run()
    assert contents(tmp_path) == undisturbed


# check_tokenizer: the ids of fixed texts


def test_shards_know_the_ids_of_their_tokenizer_however_it_is_loaded(tmp_path):
    tokenizer = build_tokenizer([text for text in TEXTS if text], vocab_size=600, progress=False)
    manifest = write(SOME_TEXTS, tokenizer, tmp_path)
    files = tmp_path / "loaded"
    wrap_tokenizer(tokenizer, model_max_length=64).save_pretrained(files)
    faithful = AutoTokenizer.from_pretrained(files)
    settings = json.loads((files / "tokenizer_config.json").read_text())
    (files / "tokenizer_config.json").write_text(json.dumps(settings | {"tokenizer_class": "GPT2Tokenizer"}))
    replaced = AutoTokenizer.from_pretrained(files)
    assert replaced.get_vocab() == tokenizer.get_vocab()
    no_normalizer = Tokenizer.from_str(tokenizer.to_str())
    no_normalizer.normalizer = None
    for again in (manifest, shard_files.open_manifest(tmp_path)):
        for same in (tokenizer, Tokenizer.from_str(tokenizer.to_str()), faithful):
            again.check_tokenizer(same)
        for other in (replaced, no_normalizer):
            with pytest.raises(ValueError, match=r"^tokenizer gives other ids than the one that wrote these shards"):
                again.check_tokenizer(other)
    endless = Tokenizer.from_str(tokenizer.to_str())
    endless.post_processor = None
    with pytest.raises(ValueError, match="end_of_text_id must be given"):
        manifest.check_tokenizer(endless)


def test_a_tokenizer_that_refuses_a_text_of_the_probe_can_be_compared_all_the_same(tmp_path):
    words = [Tokenizer(models.WordLevel({"The": 0, "tide": 1, "end": 2, name: 3})) for name in ("out", "in")]
    manifest = write(["The"], words[0], tmp_path / "words", end_of_text_id=2)
    for tokenizer in words:  # both refuse all of them
        manifest.check_tokenizer(tokenizer)


def test_a_tokenizer_of_no_library_is_compared_by_what_it_holds(tmp_path):
    manifest = write(["the tide"], CharTokenizer("the tide"), tmp_path)
    manifest.check_tokenizer(CharTokenizer("the tide"))
    with pytest.raises(ValueError, match="tokenizer gives other ids"):
        manifest.check_tokenizer(CharTokenizer("the tides"))
    for no_tokenizer in (None, 5, CharTokenizer):
        with pytest.raises(TypeError, match="tokenizer must have a method"):
            manifest.check_tokenizer(no_tokenizer)


# plan_shards and add_document: what shards are made of, and what documents are called


def test_what_each_shard_is_made_of_follows_from_sums():
    """Against streams of all tokens, each known by its task and its place there, that are simply cut."""
    draw = np.random.default_rng(0)
    for _ in range(50):
        val_every, size = int(draw.integers(1, 6)), int(draw.integers(1, 40))
        lengths = [draw.integers(1, 9, size=n).tolist() for n in draw.integers(0, 12, size=draw.integers(1, 9))]
        results, streams, number = [], {"train": [], "val": []}, 0
        settings = ShardSettings("uint16", "", None, size, val_every, None)
        for k, own in enumerate(lengths):
            tokens = tuple(sum(own[i::val_every]) for i in range(min(val_every, len(own))))
            results.append(TaskResult(k, "", len(own), tokens, "", ""))
            places = Counter()
            for length in own:
                number += 1
                split = settings.split_of(number)
                streams[split] += [(k, places[split] + i) for i in range(length)]
                places[split] += length
        planned = {"train": [], "val": []}
        for plan in plan_shards(results, settings):
            assert plan.index == len(planned[plan.split]) / size
            for part in plan.parts:
                planned[plan.split] += [(part.result.number, place) for place in range(part.start, part.stop)]
        assert planned == streams


def test_documents_are_named_in_any_order_and_each_with_its_number():
    a, b = text_digest("a"), text_digest("b")
    both = add_document(add_document(0, 1, a), 2, b)
    assert both == add_document(add_document(0, 2, b), 1, a) == (add_document(0, 1, a) + add_document(0, 2, b)) % 2**256
    assert both != add_document(add_document(0, 1, b), 2, a)
    assert add_document(2**256 - 1, 1, a) < 2**256
    own = hashlib.sha256((7).to_bytes(8, "little") + a).digest()  # as folders that were written say it
    assert add_document(5, 7, a) == (5 + int.from_bytes(own, "little")) % 2**256


# Files of others


def test_ids_of_megatron_and_of_llm_c_are_named(tmp_path):
    (tmp_path / "a.bin").write_bytes(bytes(100))
    assert whose_ids(tmp_path / "a.bin") == ""
    (tmp_path / "a.idx").write_bytes(b"MMIDIDX\0\0" + bytes(8))
    header = np.zeros(256, dtype="<i4")
    for name, magic, dtype in (("b", 20240520, "uint16"), ("c", 20240801, "uint32")):
        header[:3] = magic, 1, 4
        ids = np.arange(4, dtype=dtype)
        (tmp_path / f"{name}.bin").write_bytes(header.tobytes() + ids.tobytes())
        told = whose_ids(tmp_path / f"{name}.bin")
        call = told[told.index("np.memmap") :].replace(f"'{name}.bin'", "path")
        assert np.array_equal(eval(call, {"np": np, "path": tmp_path / f"{name}.bin"}), ids)
    assert whose_ids(tmp_path / "a.bin").startswith("ids of Megatron")
    with pytest.raises(FileNotFoundError, match=r"manifest\.json: a\.bin holds ids of Megatron, and a\.idx says how"):
        ShardedStream(tmp_path, "train")


# Reading


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("shards")
    write(TEXTS[:60], CHARACTERS, folder, shard_size=4_999, val_every=10)
    return folder


@pytest.fixture(scope="module")
def ids() -> np.ndarray:
    documents = naive_split(encoded(TEXTS[:60], CHARACTERS), 10)["train"]
    return np.array([i for document in documents for i in document], dtype=np.uint16)


def test_a_shard_that_is_not_there_is_refused(folder):
    with pytest.raises(IndexError, match=r"shard_index must .*got 99"):
        load_shard(folder, "train", 99)


def test_a_stream_reads_like_an_array(folder, ids):
    stream = ShardedStream(folder, "train")
    with pytest.raises(ValueError, match="the ids lie in several files"):
        np.asarray(stream, copy=False)
    assert (len(stream), stream.dtype) == (len(ids), ids.dtype)
    assert len(stream.shard_borders) >= 5
    numbers = [0, -1, 4_999, np.int16(5), [], [[5_000, -1], [0, 4_998]], np.arange(4_000, 12_000, 3)]
    slices = [(None,), (4_990, 5_010), (None, None, -1), (-7, 3, -911), (9, 9), (12_000, 3)]
    for index in (*numbers, *(slice(*bounds) for bounds in slices)):
        assert np.array_equal(stream[index], ids[index]), index
    for index in (len(ids), -len(ids) - 1, [0, len(ids)]):
        with pytest.raises(IndexError, match="within the"):
            stream[index]
    with pytest.raises(TypeError, match="index must be integers"):
        stream[1.5]
    with pytest.raises(ValueError, match="read-only"):
        stream[:5][0] = 1
    assert np.asarray(stream, dtype=np.int64).dtype == np.int64


@pytest.mark.parametrize("stride", [1, 7, 100, 4_999, 10**9])
@pytest.mark.parametrize("context_length", [1, 100, 6_000])
def test_windows_of_a_stream_are_those_of_the_array(folder, ids, stride, context_length):
    ours = SlidingWindowDataset(ShardedStream(folder, "train"), context_length, stride)
    usual = SlidingWindowDataset(ids, context_length, stride)
    assert len(ours) == len(usual)
    assert np.array_equal(ours.starts, usual.starts)
    rows = np.unique(np.linspace(0, len(usual) - 1, 40).astype(int))
    for index in (rows, -1 - rows, 0, slice(None, None, max(1, len(usual) // 9)), rows.reshape(1, -1)):
        assert all(map(torch.equal, ours[index], usual[index]))
    batch = gather_windows(ShardedStream(folder, "train"), usual.starts[rows], context_length)
    assert all(map(torch.equal, batch, usual[rows]))
    with pytest.raises(IndexError, match="within the"):
        ours[len(usual)]


def test_without_crossing_each_shard_is_a_stream_of_its_own(folder, ids):
    stream = ShardedStream(folder, "train", cross=False)
    for context_length, stride in ((100, 100), (100, 1), (64, 97), (4_998, 1)):
        dataset = SlidingWindowDataset(stream, context_length, stride)
        sizes = np.diff(stream.shard_borders)
        each = [window_starts(n, context_length, stride) + b for n, b in zip(sizes, stream.shard_borders, strict=False)]
        assert np.array_equal(dataset.starts, np.concatenate(each))
        assert len(dataset) == len(dataset.starts)
        rows = np.arange(0, len(dataset), 50)
        assert all(map(torch.equal, dataset[rows], gather_windows(ids, dataset.starts[rows], context_length)))
        assert all(map(torch.equal, dataset[rows], gather_windows(stream, dataset.starts[rows], context_length)))
    for start in (4_999 - 100, 4_998):
        with pytest.raises(ValueError, match="crosses the border at 4999"):
            gather_windows(stream, [0, start], 100)
    with pytest.raises(ValueError, match="a piece of at least 5001 tokens"):
        SlidingWindowDataset(stream, 5_000)


def test_a_padded_tail_is_that_of_the_stream_or_without_crossing_of_each_shard(folder, ids):
    for cross in (True, False):
        stream = ShardedStream(folder, "train", cross=cross)
        plain = SlidingWindowDataset(stream, 100, 100)
        padded = SlidingWindowDataset(stream, 100, 100, pad_tail=True)
        borders = [0, len(ids)] if cross else stream.shard_borders.tolist()
        pieces = [SlidingWindowDataset(ids[a:b], 100, 100, pad_tail=True) for a, b in itertools.pairwise(borders)]
        assert len(padded) == len(plain) + len(pieces)  # none of them ends with a window
        for got, wanted in zip(padded[:], zip(*(piece[:] for piece in pieces), strict=True), strict=True):
            assert torch.equal(got, torch.cat(wanted))
        ledger = token_ledger(padded.starts, len(ids), padded.context_lengths)
        assert ledger.used == len(ids)
        assert ledger.as_target.sum() == len(ids) - len(pieces)  # the first id of each is no target
        loader = make_dataloader(pickle.loads(pickle.dumps(padded)), 7, base_seed=0)
        assert sum(int((targets != -100).sum()) for _, targets in loader) == len(ids) - len(pieces)


def test_the_ledger_reconciles_with_and_without_crossing(folder):
    for cross in (True, False):
        stream = ShardedStream(folder, "train", cross=cross)
        ledger = token_ledger(SlidingWindowDataset(stream, 100, 100).starts, len(stream), 100)
        assert ledger.used + sum(ledger.dropped.values()) == len(stream)
        assert ("gap" in ledger.dropped) is not cross  # the tails of all shards but the last
    lost = np.diff(stream.shard_borders)[:-1]
    assert ledger.dropped["gap"] == sum((n - 1) % 100 for n in lost)


def test_the_other_schemes_take_a_stream_too(folder, ids):
    for scheme in (seq_data_iter_random, seq_data_iter_sequential):
        batches = [
            list(scheme(corpus, 4, 50, generator=torch.Generator().manual_seed(1)))
            for corpus in (ShardedStream(folder, "train"), ids)
        ]
        assert len(batches[0]) == len(batches[1]) > 3
        assert all(torch.equal(a, b) for x, y in zip(*batches, strict=True) for a, b in zip(x, y, strict=True))


def test_what_wants_an_array_gets_one(folder, ids):
    stream = ShardedStream(folder, "train")
    assert CHARACTERS.decode(stream) == CHARACTERS.decode(ids)
    assert np.array_equal(as_ids("ids", stream), ids)
    assert all(map(np.array_equal, chunk_ids(stream, 4_000), chunk_ids(ids, 4_000)))


@pytest.mark.parametrize("num_workers", [0, 2])
def test_the_loader_takes_a_stream_with_and_without_workers(folder, ids, num_workers):
    dataset = SlidingWindowDataset(ShardedStream(folder, "train"), 64, 64)
    ours = make_dataloader(dataset, 8, base_seed=1, num_workers=num_workers)
    usual = make_dataloader(SlidingWindowDataset(ids, 64, 64), 8, base_seed=1)
    assert len(ours) == len(usual)
    assert all(all(map(torch.equal, batch, wanted)) for batch, wanted in zip(ours, usual, strict=True))


def test_maps_are_opened_when_they_are_read_and_travel_as_names(folder, ids):
    stream = ShardedStream(folder, "train")
    assert not stream._maps
    assert stream[5_000] == ids[5_000]
    assert list(stream._maps) == [1]
    sent = pickle.dumps(SlidingWindowDataset(stream, 64))
    assert len(sent) < 10_000
    assert torch.equal(pickle.loads(sent)[4_990][0], SlidingWindowDataset(ids, 64)[4_990][0])


def test_no_more_files_are_open_than_a_system_allows(folder, ids, monkeypatch):
    monkeypatch.setattr(token_shards, "MAPS", 2)
    stream = ShardedStream(folder, "train")
    assert len(stream.shard_borders) > 5
    order = RandomOrder(len(ids) - 64, 0)[np.arange(200)]
    for starts in (order[:1], order[1:]):  # a batch may need more of them than that
        assert np.array_equal(stream.cut(starts, 65)[0], np.lib.stride_tricks.sliding_window_view(ids, 65)[starts])
    assert stream[7:9].tolist() == ids[7:9].tolist()
    assert len(stream._maps) == 2


@pytest_fork
def test_a_forked_process_opens_maps_of_its_own(folder, ids):
    stream = ShardedStream(folder, "train")
    mapped = stream[0:1].base
    assert mapped is not None

    def read_there():
        assert stream[0] == ids[0]
        assert stream._process == os.getpid()

    assert in_a_process(read_there) == 0


def test_a_shard_that_shrinks_behind_the_back_of_a_stream_is_an_error_not_a_crash(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "copy")
    stream = ShardedStream(tmp_path / "copy", "train")
    cut_off(tmp_path / "copy" / "train_000001.bin")
    assert len(stream[:10]) == 10
    with pytest.raises(ValueError, match="was cut off"):
        stream[5_000]


def test_documents_start_after_each_end_in_all_shards(folder, ids):
    ends = np.flatnonzero(ids == CHARACTERS.end_of_text_id)
    assert np.array_equal(ShardedStream(folder, "train").document_starts, [0, *ends[:-1] + 1])


# A loader whose position counts windows


def taken(loader, number: int | None = None) -> list[int]:
    """The first ids of the windows that a loader delivers: where ids are positions, their starts."""
    starts = []
    for count, (inputs, _) in enumerate(loader, start=1):
        starts += inputs[:, 0].tolist()
        if count == number:
            break
    return starts


@pytest.fixture(scope="module")
def positions(tmp_path_factory) -> Path:
    """A stream in which every id is its position plus one, but for ends."""
    folder = tmp_path_factory.mktemp("positions")
    write([f"{1 + 50 * k} 50" for k in range(40)], Numbers(), folder, shard_size=300, val_every=1_000)
    return folder


BLOCKS = partial(BlockOrder, block_size=7, blocks_at_a_time=3)


@pytest.mark.parametrize("order", [RandomOrder, BLOCKS])
@pytest.mark.parametrize(
    ("before", "after"), [((1, 4), (3, 6)), ((2, 4), (3, 4)), ((3, 6), (2, 4)), ((2, 6), (1, 4)), ((3, 4), (3, 4))]
)
def test_a_run_goes_on_with_other_ranks_and_batches_and_sees_the_rest_once(positions, order, before, after):
    dataset = SlidingWindowDataset(ShardedStream(positions, "train"), 5, 17)

    def loaders(ranks: int, batch_size: int) -> list:
        made = partial(make_dataloader, dataset, batch_size, base_seed=3, order=order, world_size=ranks)
        return [made(rank=rank) for rank in range(ranks)]

    whole = taken(make_dataloader(dataset, 10, base_seed=3, order=order))
    first = loaders(*before)
    seen = [start for loader in first for start in taken(loader, 2)]
    assert sorted(seen) == sorted(whole[: len(seen)])
    (state,) = {json.dumps(loader.state_dict()) for loader in first}  # the same of all ranks
    rest = []
    second = loaders(*after)
    for loader in second:
        loader.load_state_dict(json.loads(state))
        rest.append(taken(loader))
    assert len({len(share) for share in rest}) == 1
    last = len(seen) + sum(map(len, rest))
    assert len(whole) - last < after[0]  # what cannot be shared out
    assert sorted(itertools.chain(seen, *rest)) == sorted(whole[:last])
    # the end is the beginning of the next epoch, which is whole again, for any number of ranks
    (end,) = {json.dumps(loader.state_dict()) for loader in second}
    (alone,), (another,) = loaders(1, 5), loaders(1, 8)
    alone.load_state_dict(json.loads(end))
    another.sampler.set_epoch(1)
    assert taken(alone) == taken(another)


def test_a_state_with_nothing_left_for_so_many_ranks_begins_the_next_epoch(positions):
    dataset = SlidingWindowDataset(ShardedStream(positions, "train"), 5, 17)
    make = partial(make_dataloader, dataset, 4, base_seed=3)
    state = make().state_dict() | {"windows_delivered": len(dataset) - 1}
    for loader, epoch in ((make(), 0), (make(rank=1, world_size=2), 1), (make(drop_last=True), 1)):
        loader.load_state_dict(state)
        assert loader.state_dict()["epoch"] == epoch
        assert len(taken(loader)) == (1 if epoch == 0 else len(dataset) // loader.sampler.step * 4)


def test_a_state_of_something_else_is_refused_and_what_differs_is_named(tmp_path, folder):
    def loader(path=folder, split="train", context_length=50, stride=50, **more):
        dataset = SlidingWindowDataset(ShardedStream(path, split), context_length, stride)
        return make_dataloader(dataset, 4, **{"base_seed": 3} | more)

    state = loader().state_dict()
    texts = [*TEXTS[:59], TEXTS[59][::-1]]
    write(texts, CHARACTERS, tmp_path / "documents", shard_size=4_999, val_every=10)
    write(TEXTS[:60], CharTokenizer("".join(TEXTS) + "☃"), tmp_path / "tokenizer", shard_size=4_999, val_every=10)
    write(TEXTS[:60], CHARACTERS, tmp_path / "sizes", shard_size=1_000, val_every=10)
    others = {
        "documents=": loader(tmp_path / "documents"),
        "tokenizer=": loader(tmp_path / "tokenizer"),
        "split='train'": loader(split="val"),
        "context_length=50": loader(context_length=49),
        "stride=50": loader(stride=49),
        "base_seed=3": loader(base_seed=4),
        "order='RandomOrder', but this loader has order='BlockOrder": loader(order=BLOCKS),
    }
    for words, other in others.items():
        with pytest.raises(ValueError, match=words.replace("(", r"\(")):
            other.load_state_dict(state)
    loader(tmp_path / "sizes").load_state_dict(state)  # the same stream, in other files
    plain = make_dataloader(SlidingWindowDataset(np.asarray(ShardedStream(folder, "train")), 50, 50), 4, base_seed=3)
    assert "fingerprint" in plain.state_dict()
    with pytest.raises(ValueError, match="state must have the keys"):
        plain.load_state_dict(state)
    for name, value in (("windows_delivered", -1), ("windows_delivered", 10**9), ("epoch", -1)):
        with pytest.raises(ValueError, match=f"{name} must be"):
            loader().load_state_dict(state | {name: value})


@pytest.mark.parametrize(
    ("one", "another"),
    [
        (lambda n, s: BlockOrder(n, s, block_size=8), lambda n, s: BlockOrder(n, s, block_size=16)),
        (partial(lambda k, n, s: BlockOrder(n, s, block_size=k), 8), partial(lambda k, n, s: BlockOrder(n, s), 64)),
    ],
    ids=["lambda", "partial"],
)
def test_an_order_is_known_by_what_it_orders_and_not_by_its_name(positions, one, another):
    make = partial(make_dataloader, SlidingWindowDataset(ShardedStream(positions, "train"), 4, 5), 4, base_seed=3)
    state = make(order=one).state_dict()
    make(order=one).load_state_dict(state)
    with pytest.raises(ValueError, match="order"):
        make(order=another).load_state_dict(state)
    with pytest.raises(ValueError, match="order must hold each window once"):
        make(order=lambda n, seed: np.zeros(n, dtype=np.int64))


def test_any_position_of_any_epoch_of_a_million_million_windows():
    for order in (RandomOrder, BlockOrder, FileOrder):
        for epoch, done in ((0, 0), (5, 10**11 + 3)):
            sampler = BatchOrder(10**12, 64, base_seed=1, order=order, rank=1, world_size=2)
            sampler.go_to(epoch, windows=done)
            first = next(iter(sampler))
            assert np.array_equal(first, order(10**12, 1 + epoch)[done + 64 + np.arange(64)])
            assert len(sampler) == -(-(10**12 - done) // 128)


# The experiments: the same loops as a reader would write them, on few texts and for few steps.


def test_a_run_is_cut_off_where_it_was_told_to_and_what_it_encoded_is_counted(monkeypatch):
    monkeypatch.setattr(experiments.CountingTokenizer, "encoded", 0)
    tokenizer, got = experiments.CountingTokenizer("abc"), []
    with pytest.raises(KeyboardInterrupt):
        got.extend(tokenizer.encode(text).tolist() for text in experiments.cut_off(["a", "ab", "abc"], after=2))
    assert tokenizer.encoded == 2
    assert list(experiments.cut_off(["a", "b"], after=2)) == ["a", "b"]
    assert vars(tokenizer).keys() == vars(CharTokenizer("abc")).keys()  # else a run couldn't be finished


def test_models_are_trained_with_copies_as_by_hand():
    texts = [text[:200] for text in TEXTS[:30]]
    alphabet = CharTokenizer("".join(texts))
    end = {"end_of_text_id": alphabet.end_of_text_id, "progress": False}

    def split_of(seed):
        return texts[seed : seed + 4], texts[seed + 4 : seed + 8], texts[seed + 8 :]

    sizes = {"context_length": 16, "stride": 8, "batch_size": 4}
    how = {"num_updates": 3, "learning_rate": 0.02}
    found = experiments.train_with_copies(texts, split_of, (0, 2), seeds=(3, 5), **sizes, **how)
    assert list(found) == [0, 2]
    for copies, losses in found.items():
        for run, seed in enumerate((3, 5)):
            val, fresh, others = split_of(seed)
            ids = encode_corpus(others + copies * val, alphabet, **end)
            torch.manual_seed(seed)
            model = ConvolutionModel(alphabet.vocab_size, kernel_size=5)
            loader = make_dataloader(SlidingWindowDataset(ids, 16, 8), 4, base_seed=1000 * seed)
            train(model, loader, **how, progress=False)
            for exam, loss in zip((val, fresh), losses, strict=True):
                assert loss[run] == evaluate(model, encode_corpus(exam, alphabet, **end), 16).bits_per_token
    assert not np.array_equal(found[0].val, found[2].val)


def test_the_deviation_of_a_mix_is_a_mean_over_batches_and_sources():
    in_turn = np.arange(8).reshape(2, 4).T.ravel()  # 0, 4, 1, 5, ...: one of each source
    assert experiments.mix_deviation(in_turn, 2, 2) == 0
    assert experiments.mix_deviation(np.arange(8), 2, 2) == 50  # one source has all, the other nothing
    assert experiments.mix_deviation([0, 1, 2, 7, 4, 5, 6, 3], 2, 4) == 25
    batches = RandomOrder(1000, 7)[np.arange(1000)][:960].reshape(-1, 64)
    each = [abs((batch // 100 == source).mean() - 0.1) for batch in batches for source in range(10)]
    assert experiments.mix_deviation(batches.ravel().tolist() + [0] * 40, 10, 64) == pytest.approx(100 * np.mean(each))


@pytest.mark.skipif(not Path("/proc/self/io").is_file(), reason="only Linux counts what a process has read")
@pytest.mark.parametrize("way", ["memory map", "memory map, MADV_RANDOM", "pread"])
def test_bytes_that_a_disk_delivers_are_counted(tmp_path, way):
    path = tmp_path / "file.bin"
    path.write_bytes(bytes(2**20))
    delivered = experiments.bytes_delivered(path, way, 512, num_windows=20)
    assert 0 <= delivered <= 2**20 / (20 * 512)  # 0 where a file system keeps all in memory
    with pytest.raises(ValueError, match=r"^way must .*got 'by post'"):
        experiments.bytes_delivered(path, "by post", 512)


def test_a_trainer_is_trained_and_resumed(tmp_path):
    import transformers

    class ReadsOurLoader(transformers.Trainer):
        def get_train_dataloader(self):
            rows = SlidingWindowDataset(np.arange(200) % 50, 8, 8).as_rows()
            share = {"rank": self.args.process_index, "world_size": self.args.world_size}
            return make_dataloader(rows, 4, base_seed=1, **share)

    how = {"num_steps": 4, "save_steps": 2}
    whole = experiments.losses_of_trainer(ReadsOurLoader, 50, tmp_path, **how)
    saved = str(tmp_path / "checkpoint-2")
    resumed = experiments.losses_of_trainer(ReadsOurLoader, 50, tmp_path, **how, resume_from=saved)
    assert len(set(whole)) == 4
    assert resumed == whole
