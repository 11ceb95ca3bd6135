"""Tasks that may be done anywhere and twice, shards like those of one machine, ranks like one process."""

import gzip
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import BrokenExecutor
from functools import partial
from pathlib import Path

import datasets
import numpy as np
import psutil
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from torch.nn import functional as F

from any_tokenizer import tiktoken
from course_lib import many_machines
from course_lib.__main__ import main
from course_lib.bpe import train_byte_level_bpe
from course_lib.exercises.many_machines import part_of_rank
from course_lib.experiments import many_machines as experiments
from course_lib.foundation import (
    END_OF_TEXT,
    CharTokenizer,
    ConvolutionModel,
    InThisProcess,
    RandomOrder,
    encode_named,
    load_documents,
    process_group,
    run_ranks,
)
from course_lib.foundation.processes import process_context
from course_lib.many_machines import (
    NoisySamples,
    encoding_hours,
    feeding_bandwidth,
    file_tasks,
    generator_of,
    hours_between_failures,
    plan_tasks,
    rank_training,
    rows_of_documents,
    stored_bytes,
    tokenize_files,
)
from course_lib.many_machines.file_tasks import encode_task
from course_lib.many_machines.inputs import list_inputs, read_task
from course_lib.many_machines.rank_training import (
    RankReport,
    backward_by_ranks,
    backward_by_targets,
    fingerprint,
    gradient_by_ddp,
    rank_and_size,
    take_steps,
    train_on_shards,
    train_rank,
)
from course_lib.many_machines.rank_training import main as train_main
from course_lib.next_token_shifting import next_token_loss
from course_lib.sliding_windows import SlidingWindowDataset
from course_lib.token_shards import ShardedStream, load_shard, verify_shards, write_shards
from course_lib.token_shards.shard_tasks import load_tokenizer
from course_lib.tokenizer_pipeline import build_tokenizer
from deadly import encode_or_die, run_until_killed
from power_loss import power_cuts

ROOT = Path(__file__).parent.parent
TEXTS = [document.text for document in load_documents()]
SETTINGS = {"shard_size": 5_000, "val_every": 7}
SMALL = {"task_bytes": 10_000, "shard_size": 4_000, "val_every": 7}
quiet = partial(tokenize_files, progress=False, make_executor=InThisProcess, task_bytes=20_000, **SETTINGS)


def content(folder: Path) -> dict[str, bytes]:
    """All files, but for the lock of a run that was killed."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != ".lock"}


def write_lines(path: Path, texts: list[str], **fields: str) -> Path:
    rows = [json.dumps({"text": text, **fields}, ensure_ascii=False) for text in texts]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8", newline="")
    return path


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """Made without lesson 07, whose imports take longer than most tests here."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=[END_OF_TEXT], initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(TEXTS, trainer)
    made.post_processor = processors.TemplateProcessing(single=f"$A {END_OF_TEXT}", special_tokens=[(END_OF_TEXT, 0)])
    return made


@pytest.fixture(scope="module", autouse=True)
def ray_session(request, made):
    """A cluster, if a test asks for it, begun before all others: it mostly waits, and they need not."""
    wanted = any("session" in getattr(item, "fixturenames", ()) for item in request.session.items)
    if not wanted or importlib.util.find_spec("ray") is None:
        yield None
        return
    command = [sys.executable, ROOT / "tests" / "ray_session.py", made]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        yield process
        process.kill()


@pytest.fixture(scope="module")
def made(tmp_path_factory, tokenizer) -> Path:
    """Inputs in two files, the tokenizer's file, and what `write_shards` makes of them."""
    folder = tmp_path_factory.mktemp("made")
    write_lines(folder / "first.jsonl", TEXTS[:120])
    write_lines(folder / "second.jsonl", TEXTS[120:])
    write_lines(folder / "documents.jsonl", TEXTS)
    tokenizer.save(str(folder / "tokenizer.json"))
    write_shards(TEXTS, tokenizer, folder / "reference", progress=False, **SETTINGS)
    return folder


@pytest.fixture(scope="module")
def inputs(made) -> list[Path]:
    return [made / "first.jsonl", made / "second.jsonl"]


@pytest.fixture(scope="module")
def reference(made) -> dict[str, bytes]:
    return content(made / "reference")


# plan_tasks, list_inputs and read_task: files are cut anywhere, and read once and in order


ODD_TEXTS = ["", "one", "two\nlines", "Žluťoučký kůň\u2028馬", "x" * 300, "\ufeff", "end"]


def read(inputs, column="text", **options) -> list[str]:
    return [text for task in plan_tasks(inputs, **options) for _, text in read_task(task, column)]


def lines_of(texts, *, end: str = "\n", ascii_only: bool = False) -> str:
    return end.join(json.dumps({"id": 1, "text": text}, ensure_ascii=ascii_only) for text in texts)


@settings(max_examples=40)
@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=12),
    task_bytes=st.integers(1, 200),
    end=st.sampled_from(["\n", "\r\n", "\n\n"]),
    mark=st.booleans(),
    last=st.booleans(),
)
def test_lines_cut_at_any_byte_are_read_once_and_in_order(tmp_path_factory, texts, task_bytes, end, mark, last):
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    content = "\ufeff" * mark + lines_of(texts, end=end) + end * last
    path.write_bytes(content.encode())
    assert read([path], task_bytes=task_bytes) == texts


def test_all_kinds_give_the_same_documents(tmp_path):
    (tmp_path / "a.jsonl").write_text(lines_of(ODD_TEXTS), encoding="utf-8")
    (tmp_path / "b.json").write_text(lines_of(ODD_TEXTS, ascii_only=True), encoding="ascii")
    with gzip.open(tmp_path / "c.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(lines_of(ODD_TEXTS))
    with pa.CompressedOutputStream(str(tmp_path / "c.jsonl.zst"), "zstd") as file:
        file.write(lines_of(ODD_TEXTS).encode())
    rows = datasets.Dataset.from_dict({"id": range(len(ODD_TEXTS)), "text": ODD_TEXTS})
    rows.to_parquet(tmp_path / "d.parquet", batch_size=2)
    rows.save_to_disk(tmp_path / "e")
    table = pa.table({"text": pa.array(ODD_TEXTS, pa.large_string())})
    with pa.OSFile(str(tmp_path / "f.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)
    for name in ("a.jsonl", "b.json", "c.jsonl.gz", "c.jsonl.zst", "d.parquet", "e", "f.arrow"):
        for task_bytes in (1, 100, 10**6):
            assert read([tmp_path / name], task_bytes=task_bytes) == ODD_TEXTS, name


def test_a_text_file_is_one_document(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffä\r\nb\rc\n".encode())
    (tmp_path / "b.md").write_bytes(b"")
    (tmp_path / "c.PY").write_text("code")
    assert read([tmp_path]) == ["ä\nb\nc\n", ""]
    assert read([tmp_path], suffixes=[".py"]) == ["ä\nb\nc\n", "", "code"]


def test_inputs_are_read_in_the_order_given_and_folders_by_name_without_what_describes_them(tmp_path):
    aside = ["README.md", "LICENSE.txt", "readme.TXT", "CHANGELOG.md", "dataset_info.json"]
    for name in ("b/2.txt", "b/1.txt", "a.txt", "b/.hidden.txt", "b/cache-1.arrow", "b/picture.png", *aside):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert read([tmp_path / "b", tmp_path / "a.txt"]) == ["b/1.txt", "b/2.txt", "a.txt"]
    assert read([tmp_path]) == ["a.txt", "b/1.txt", "b/2.txt"]
    left_out = list_inputs([tmp_path])[1]
    assert {path.name for path in left_out} == {*aside, ".hidden.txt", "cache-1.arrow", "picture.png"}
    assert left_out[tmp_path / "b" / "picture.png"] == ".png is not read"
    assert read([tmp_path / "README.md"]) == ["README.md"]  # who names it wants it


def test_no_file_is_read_twice_and_links_are_followed(tmp_path):
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    for path in (folder / "a.txt", elsewhere / "b.txt"):
        path.parent.mkdir()
        path.write_text(path.name)
    try:
        (folder / "linked").symlink_to(elsewhere)
        (folder / "same.txt").symlink_to(folder / "a.txt")
        (elsewhere / "round").symlink_to(folder)
    except OSError:
        pytest.skip("this system lets nobody make links")
    assert read([folder, folder / "a.txt", tmp_path]) == ["a.txt", "b.txt"]
    files, left_out = list_inputs([folder])
    assert [path.name for path in files] == ["a.txt", "b.txt"]
    assert left_out == {folder / "same.txt": "was met before"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes among its files")
def test_two_names_of_one_file_are_read_once_and_hidden_folders_and_pipes_not_at_all(tmp_path):
    for name in ("data/a.txt", "data/.ipynb_checkpoints/a-checkpoint.txt", "data/.git/b.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(name)
    data = tmp_path / "data"
    (data / "link.txt").symlink_to(data / "nowhere.txt")
    os.link(data / "a.txt", data / "same.txt")
    os.mkfifo(data / "pipe.txt")
    assert read([data]) == ["data/a.txt"]
    reasons = {path.name: reason for path, reason in list_inputs([data])[1].items()}
    assert reasons == {
        ".git": "a hidden folder",
        ".ipynb_checkpoints": "a hidden folder",
        "link.txt": "a link that leads nowhere",
        "pipe.txt": "a pipe or a device",
        "same.txt": "was met before",
    }
    assert read([data / ".git"]) == ["data/.git/b.txt"]  # who names it wants it
    with pytest.raises(ValueError, match="is a pipe or a device"):
        list_inputs([data / "pipe.txt"])


def test_a_folder_without_inputs_is_told_what_to_do_with_its_files(tmp_path):
    for name in ("a.csv", "b.zip", "c.tsv"):
        (tmp_path / name).touch()
    with pytest.raises(ValueError, match=r"no input file in this folder; .*from_csv.*b\.zip: unpack it; .*sep="):
        list_inputs([tmp_path])


def test_the_parts_of_a_table_are_together_as_large_as_its_file(tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ODD_TEXTS}), path, row_group_size=2)
    tasks = plan_tasks([path], task_bytes=1)
    assert [task.num_bytes > 0 for task in tasks] == [True] * 4
    assert sum(task.num_bytes for task in tasks) == path.stat().st_size
    assert read([path], task_bytes=1) == ODD_TEXTS


@pytest.mark.parametrize("kind", ["jsonl", "txt", "jsonl.gz", "parquet"])
def test_a_file_that_changes_after_the_plan_or_while_it_is_read_is_refused(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        datasets.Dataset.from_dict({"text": ["a", "b"]}).to_parquet(path)
    else:
        data = lines_of(["a", "b"]).encode()
        path.write_bytes(gzip.compress(data) if kind.endswith("gz") else data)
    (task,) = plan_tasks([path])
    status = path.stat()
    documents = read_task(task)
    next(documents)
    with path.open("r+b") as file:  # the same size, and the old time; before anything else is found to be wrong
        file.write(b"x")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(ValueError, match="was changed"):
        list(documents)
    with pytest.raises(ValueError, match="was changed"):
        list(read_task(task))


def test_small_files_share_a_task_and_large_ones_are_cut(tmp_path):
    for number, size in enumerate((30, 30, 50, 250)):
        (tmp_path / f"{number}.jsonl").write_bytes(b" " * size)
    tasks = plan_tasks([tmp_path], task_bytes=100)
    cut = [[(piece.path[-7], piece.start, piece.stop) for piece in task.pieces] for task in tasks]
    assert cut == [[("0", 0, 30), ("1", 0, 30), ("2", 0, 50)], [("3", 0, 100)], [("3", 100, 200)], [("3", 200, 250)]]
    assert [task.number for task in tasks] == [0, 1, 2, 3]
    assert [task.num_bytes for task in tasks] == [110, 100, 100, 50]
    assert plan_tasks([tmp_path], task_bytes=100) == tasks


@pytest.mark.parametrize("task_bytes", [1, 40, 10**6])
@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "line 4: expected a JSON object"),
        (b"3", "line 4: expected a JSON object, got int"),
        (b'{"id": 1}', "line 4: there is no 'text', only id"),
        (b"{}", "line 4: there is no 'text', only an empty object"),
        (b'{"text": 3}', "line 4: text must be a str, got int"),
        (b'{"text": "\xff"}', "line 4: the line is not UTF-8 from byte 10 on"),
        (b'{"text": "\\ud800"}', "line 4: text must be Unicode"),
        (b"[" * 5_000, "line 4: "),
        (b'{"text": "a", "text": "b"}', "line 4: expected a JSON object \\('text' occurs 2 times"),
        (b'{"text": NaN}', "line 4: text must be a str, got float"),
        ('{"text": "a"}'.encode("utf-16-le"), "line 4: the line is binary, not text: byte 1 is zero"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, words, task_bytes):
    path = tmp_path / "wrong.jsonl"
    path.write_bytes(b'{"text": "a"}\n\n{"text": "b"}\n' + line + b'\n{"text": "c"}\n')
    with pytest.raises(ValueError, match=words) as raised:
        read([path], task_bytes=task_bytes)
    assert str(path) in str(raised.value)


def test_a_wrong_row_is_named_and_so_is_one_that_cannot_be_encoded(tmp_path):
    rows = datasets.Dataset.from_dict({"text": ["a"] * 10 + [None]})
    rows.to_parquet(tmp_path / "holes.parquet", batch_size=4)
    rows.save_to_disk(tmp_path / "holes")
    for name in ("holes.parquet", "holes"):
        with pytest.raises(ValueError, match=r"row 11: text must be a str, got NoneType"):
            read([tmp_path / name])
    with pytest.raises(ValueError, match=r"holes\.parquet: no column 'body', only text"):
        read([tmp_path / "holes.parquet"], "body")
    datasets.Dataset.from_dict({"text": ["a"] * 10 + ["z"]}).to_parquet(tmp_path / "z.parquet", batch_size=4)
    (tmp_path / "z.txt").write_text("z")
    (tmp_path / "z.jsonl").write_text(lines_of(["a"] * 5 + ["z"]))
    for name, place in (("z.parquet", ", row 11"), ("z.txt", ""), ("z.jsonl", ", line 6")):
        for task_bytes in (30, 10**6):
            words = rf"{re.escape(str(tmp_path / name))}{place} cannot be encoded: character 'z' at position 0"
            out = tmp_path / f"{name} {task_bytes}"
            with pytest.raises(ValueError, match=rf"^{words} is not in the alphabet$"):
                quiet([tmp_path / name], CharTokenizer("a"), out, task_bytes=task_bytes)


def test_damaged_files_are_named(tmp_path):
    for name in ("a.parquet", "a.arrow"):
        (tmp_path / name).write_bytes(b"no such format")
        with pytest.raises(ValueError, match=rf"{name}: not "):
            plan_tasks([tmp_path / name])
    (tmp_path / "a.txt").write_bytes(b"one\ntw\xf6\n")
    with pytest.raises(ValueError, match=r"a\.txt is not UTF-8 from byte 6 on, in line 2; convert it first"):
        read([tmp_path / "a.txt"])
    (tmp_path / "b.txt").write_bytes("One".encode("utf-16-le"))
    with pytest.raises(ValueError, match=r"b\.txt is binary, not text: byte 1 is zero"):
        read([tmp_path / "b.txt"])
    packed = gzip.compress(lines_of(["a"] * 1000).encode())
    (tmp_path / "a.jsonl.gz").write_bytes(packed[:-20])
    flipped = bytearray(packed)
    flipped[10] = 0xFF  # the first byte behind the header: no such kind of block
    (tmp_path / "b.jsonl.gz").write_bytes(flipped)
    (tmp_path / "c.jsonl.zst").write_bytes(b"no such format")
    datasets.Dataset.from_dict({"text": ["abc" * 1000]}).to_parquet(tmp_path / "d.parquet")
    column = bytearray((tmp_path / "d.parquet").read_bytes())
    column[40:80] = bytes(40)
    (tmp_path / "d.parquet").write_bytes(column)
    buffers = pa.array([b"a\xff"], pa.binary()).buffers()
    parquet.write_table(pa.table({"text": pa.Array.from_buffers(pa.string(), 1, buffers)}), tmp_path / "e.parquet")
    for name in ("a.jsonl.gz", "b.jsonl.gz", "c.jsonl.zst", "d.parquet", "e.parquet"):
        with pytest.raises(ValueError, match=rf"{name}: cannot be read"):
            read([tmp_path / name])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.txt.gz", r"unpack it; only JSON Lines \(.jsonl.gz\) are read as they are"),
        ("a.txt.zst", r"unpack it; only JSON Lines \(.jsonl.zst\)"),
        ("a.csv", "turn it into Parquet"),
        ("a.feather", "it is a file of Arrow by another name: rename it to .arrow"),
        ("a.bin", "it holds no text; if it holds ids, map it with np.memmap"),
        ("megatron.bin", "it holds ids of Megatron, and megatron.idx says how to read them"),
        ("megatron.idx", "it is an index of Megatron, and no text"),
        ("llm_c.bin", r"it holds ids of llm.c behind a header of 1,024 bytes: they are np.memmap"),
        ("a.pdf", r"\.pdf is not read; an input must be one of \.jsonl, "),
        ("jsonl", "a name without an ending is not read"),
    ],
)
def test_what_is_not_read_is_answered_with_what_to_do(tmp_path, name, words):
    (tmp_path / "megatron.idx").write_bytes(b"MMIDIDX\0\0")
    path = tmp_path / name
    if name != "megatron.idx":
        path.write_bytes((20240520).to_bytes(4, "little") if name == "llm_c.bin" else b"abcd")
    with pytest.raises(ValueError, match=rf"{name}: {words}"):
        plan_tasks([path])
    (tmp_path / "a.txt").touch()
    assert re.search(words.partition("; an input")[0], list_inputs([tmp_path])[1][path])


def test_a_feather_is_an_arrow_by_another_name(tmp_path):
    feather.write_feather(pa.table({"text": ODD_TEXTS}), tmp_path / "a.feather")
    (tmp_path / "a.feather").rename(tmp_path / "a.arrow")
    assert read([tmp_path / "a.arrow"]) == ODD_TEXTS


def test_what_is_no_input(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.jsonl").touch()
    assert plan_tasks([tmp_path / "a.jsonl"]) == []
    for inputs, error, words in (
        ([tmp_path / "a.jsonl"] * 2 + [tmp_path / "empty"], ValueError, "empty: no input file in this folder"),
        ([], ValueError, "inputs must hold at least one file"),
        ([tmp_path / "b.jsonl"], FileNotFoundError, "no input file at"),
        ([3], TypeError, "inputs must be a path"),
    ):
        with pytest.raises(error, match=words):
            list_inputs(inputs)
    for suffixes in (["py"], [""], [3], ".py"):
        with pytest.raises((TypeError, ValueError), match="suffixes must be"):
            list_inputs([tmp_path / "a.jsonl"], suffixes=suffixes)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.JSONL", "lines"),
        ("a.b.txt", "text"),
        ("a.txt.jsonl.gz", "gzip lines"),
        (".json.zst", "zstd lines"),
        ("a.d.ts", "text"),
    ],
)
def test_the_ending_of_a_name_tells_how_a_file_is_read(tmp_path, name, kind):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("a")
    assert plan_tasks([path], suffixes=[".D.ts"])[0].pieces[0].kind == kind


def test_the_longest_ending_decides_and_what_is_known_is_no_plain_text(tmp_path):
    write_lines(tmp_path / "a.jsonl", ["one", "two"])
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b'{"text": "three"}'))
    (tmp_path / "c.card.json").write_text("four", encoding="utf-8")
    tasks = plan_tasks([tmp_path], suffixes=[".jsonl", ".gz", ".card.json"])
    assert [text for task in tasks for _, text in read_task(task)] == ["one", "two", "three", "four"]


def test_a_number_that_nobody_needs_may_be_as_long_as_it_likes(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"text": "one", "n": [-{"9" * 5000}, {{"m": 1{"0" * 5000}}}]}}', encoding="utf-8")
    assert [text for task in plan_tasks([path]) for _, text in read_task(task)] == ["one"]
    path.write_text('{"text": 5}', encoding="utf-8")
    (task,) = plan_tasks([path])
    with pytest.raises(ValueError, match=r"a\.jsonl, line 1: text must be a str, got int"):
        list(read_task(task))


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_two_columns_of_one_name_are_refused_where_they_hold_the_text(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    table = pa.table([["a"], ["b"], ["c"]], names=["text", "title", "text"])
    if kind == "parquet":
        parquet.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    (task,) = plan_tasks([path])
    with pytest.raises(ValueError, match="2 columns are named 'text': which one holds the text"):
        list(read_task(task))
    assert [text for _, text in read_task(task, "title")] == ["b"]


def test_a_data_set_of_several_splits_is_refused_with_their_folders(tmp_path):
    splits = {name: datasets.Dataset.from_dict({"text": [name]}) for name in ("train", "test")}
    datasets.DatasetDict(splits).save_to_disk(tmp_path / "more" / "both")
    for folder in (tmp_path, tmp_path / "more" / "both"):
        with pytest.raises(ValueError, match=r"both is a DatasetDict, .* of .*both.test, .*both.train$"):
            plan_tasks([folder])
    tasks = plan_tasks([tmp_path / "more" / "both" / name for name in splits])
    assert [text for task in tasks for _, text in read_task(task)] == ["train", "test"]


# tokenize_files


@pytest.mark.parametrize("task_bytes", [3_000, 20_000, 10**9])
def test_the_shards_are_those_of_one_machine_however_the_files_are_cut(
    tmp_path, inputs, tokenizer, reference, task_bytes
):
    manifest = quiet(inputs, tokenizer, tmp_path / "out", task_bytes=task_bytes)
    assert content(tmp_path / "out") == reference
    assert verify_shards(tmp_path / "out") == manifest
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("num_workers", [1, 2, 3])
def test_the_shards_are_the_same_for_any_number_of_workers(tmp_path, inputs, tokenizer, reference, num_workers):
    quiet(inputs, tokenizer, tmp_path / "out", make_executor=None, num_workers=num_workers)
    assert content(tmp_path / "out") == reference


def test_a_tokenizer_of_the_course_and_a_limit_of_tokens(tmp_path, inputs, tokenizer):
    characters = CharTokenizer("".join(TEXTS))
    for each, limit in ((characters, None), (tokenizer, 20_000)):
        name = type(each).__name__
        one = write_shards(TEXTS, each, tmp_path / f"{name} one", max_tokens=limit, progress=False, **SETTINGS)
        quiet(inputs, each, tmp_path / f"{name} many", max_tokens=limit)
        assert content(tmp_path / f"{name} many") == content(tmp_path / f"{name} one")
    assert 15_000 < one.num_tokens("train") + one.num_tokens("val") <= 20_000


def test_a_task_that_is_done_is_not_done_again(tmp_path, inputs, tokenizer, reference, monkeypatch):
    encoded = []

    def encode_some(*arguments, limit, **options):
        if len(encoded) == limit:
            raise KeyboardInterrupt
        encoded.append(arguments)
        return encode_named(*arguments, **options)

    monkeypatch.setattr(file_tasks, "encode_named", partial(encode_some, limit=4))
    with pytest.raises(KeyboardInterrupt):
        quiet(inputs, tokenizer, tmp_path / "out")
    monkeypatch.setattr(file_tasks, "encode_named", partial(encode_some, limit=100))
    for _ in range(2):  # when the folder is finished, nothing is encoded
        quiet(inputs, tokenizer, tmp_path / "out")
        assert len(encoded) == len(plan_tasks(inputs, task_bytes=20_000)) > 5
        assert content(tmp_path / "out") == reference


def test_a_file_that_changes_between_two_runs_is_read_again(tmp_path, tokenizer):
    path, run = tmp_path / "a.jsonl", partial(quiet, tokenizer=tokenizer, out_dir=tmp_path / "out")
    write_lines(path, ["a" * 3_000] * 12)
    with path.open("a") as file:
        file.write("no JSON")
    with pytest.raises(ValueError, match="line 13"):
        run([path])
    assert (tmp_path / "out.pieces" / "00000.json").exists()
    write_lines(path, ["b" * 3_000] * 12)
    run([path])
    ids = np.asarray(ShardedStream(tmp_path / "out", "train"))
    assert set(tokenizer.decode(ids.tolist())) - {" "} == {"b"}


def test_a_damaged_result_is_noticed(tmp_path, inputs, tokenizer, monkeypatch):
    def encode_and_damage(job, task):
        result = encode_task(job, task)
        if task.number == 2:
            path = Path(job.folder) / "00002.bin"
            data = bytearray(path.read_bytes())
            data[5] ^= 1
            path.write_bytes(data)
        return result

    monkeypatch.setattr(many_machines, "encode_task", encode_and_damage)
    with pytest.raises(ValueError, match=r"00002\.bin is damaged"):
        quiet(inputs, tokenizer, tmp_path / "out")
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"text_column": "title"}, "text_column 'text' instead of 'title'"),
        ({"shard_size": 6_000}, "shard_size 5000 instead of 6000"),
        ({"val_every": 8}, "val_every 7 instead of 8"),
        ({"task_bytes": 10_000}, "task_bytes 20000 instead of 10000"),
    ],
)
def test_a_run_begun_with_other_settings_is_refused(tmp_path, inputs, tokenizer, monkeypatch, changed, words):
    def stop(job, task):
        if task.number == 1:
            raise KeyboardInterrupt
        return encode_task(job, task)

    monkeypatch.setattr(many_machines, "encode_task", stop)
    with pytest.raises(KeyboardInterrupt):
        quiet(inputs, tokenizer, tmp_path / "out")
    before = content(tmp_path / "out.pieces")
    with pytest.raises(ValueError, match=words):
        quiet(inputs, tokenizer, tmp_path / "out", **changed)
    assert content(tmp_path / "out.pieces") == before
    job = tmp_path / "out.pieces" / "job.json"
    begun = job.read_text()
    job.write_text("{}")
    with pytest.raises(ValueError, match=r"job\.json is damaged, or of another version"):
        quiet(inputs, tokenizer, tmp_path / "out")
    job.write_text(begun)
    for path in (tmp_path / "out.pieces").glob("0*"):  # nothing is done, so nothing could mix
        path.unlink()
    monkeypatch.setattr(many_machines, "encode_task", encode_task)
    if "text_column" not in changed:
        quiet(inputs, tokenizer, tmp_path / "out", **changed)


def test_another_tokenizer_in_the_folder_of_a_run_is_refused(tmp_path, tokenizer):
    (tmp_path / "tokenizer.json").write_text(tokenizer.to_str())
    with pytest.raises(ValueError, match="is not the tokenizer of this run"):
        load_tokenizer(tmp_path, "of another")


def test_a_folder_of_somebody_else_is_left_alone(tmp_path, inputs, tokenizer):
    (tmp_path / "out.pieces").mkdir()
    (tmp_path / "out.pieces" / "thesis.doc").touch()
    with pytest.raises(FileExistsError, match=r"thesis\.doc is in the way"):
        quiet(inputs, tokenizer, tmp_path / "out")
    (tmp_path / "out.pieces" / "thesis.doc").unlink()
    quiet(inputs, tokenizer, tmp_path / "out")
    for job in ("{}", '{"dtype": "uint16"}'):  # a finished folder removes nothing that is not its own
        (tmp_path / "out.pieces").mkdir(exist_ok=True)
        (tmp_path / "out.pieces" / "job.json").write_text(job)
        (tmp_path / "out.pieces" / "thesis.doc").touch()
        quiet(inputs, tokenizer, tmp_path / "out")
        assert set(content(tmp_path / "out.pieces")) == {"job.json", "thesis.doc"}


def test_a_finished_folder_is_proved_to_be_of_these_documents(tmp_path, inputs, tokenizer):
    manifest = quiet(inputs, tokenizer, tmp_path / "out")
    same = write_lines(tmp_path / "same.jsonl", TEXTS)
    assert quiet([same], tokenizer, tmp_path / "out") == manifest
    write_lines(same, [*TEXTS, "one more"])
    for others in ([same], inputs[:1], inputs[::-1]):
        with pytest.raises(ValueError, match=r"documents differ from the 196"):
            quiet(others, tokenizer, tmp_path / "out")


def test_files_without_a_document_are_named(tmp_path, tokenizer):
    blank, empty = tmp_path / "blank.jsonl", tmp_path / "empty.jsonl"
    blank.write_text("\n  \n")
    empty.touch()
    for inputs, words in (
        ([blank], r"blank\.jsonl must hold at least one document$"),
        ([empty], r"empty\.jsonl must hold at least one document$"),
        ([blank, empty], r"blank\.jsonl and the other inputs must hold at least one document$"),
        ([write_lines(tmp_path / "a.jsonl", ["abc"])], r"a\.jsonl must .* of no more than max_tokens, 1 ids$"),
    ):
        limit = 1 if "max_tokens" in words else None
        out = tmp_path / str(limit)
        with pytest.raises(ValueError, match=words):
            quiet(inputs, tokenizer, out, max_tokens=limit)
        assert not (out / "manifest.json").exists()


def test_any_tokenizer_reaches_the_workers_and_one_that_loses_characters_is_told(tmp_path):
    texts = [f"low lower {number}" for number in range(90)]
    write_lines(tmp_path / "a.jsonl", texts)
    how = {"val_every": 10**6, "progress": False, "end_of_text_id": 70_000}
    write_shards(texts, tiktoken(), tmp_path / "one", **how)
    tokenize_files([tmp_path / "a.jsonl"], tiktoken(), tmp_path / "two", num_workers=2, task_bytes=2_000, **how)
    assert content(tmp_path / "one") == content(tmp_path / "two")
    dropping = Tokenizer(models.BPE({"a": 0, "b": 1, "E": 2}, []))
    write_lines(tmp_path / "b.jsonl", ["azb"])
    with pytest.warns(UserWarning, match="loses characters of the first texts: 'z'"):
        quiet([tmp_path / "b.jsonl"], dropping, tmp_path / "three", end_of_text_id=2)


# tokenize_files: what is killed


def test_the_task_of_a_killed_worker_is_done_again(tmp_path, inputs, tokenizer, reference, monkeypatch):
    monkeypatch.setattr(many_machines, "encode_task", partial(encode_or_die, 1))
    quiet(inputs, tokenizer, tmp_path / "out", make_executor=None, num_workers=2)
    assert len(list((tmp_path / "out.deaths").iterdir())) == 1
    assert content(tmp_path / "out") == reference


def test_workers_that_die_again_and_again_end_the_run_and_the_next_one_finishes_it(
    tmp_path, inputs, tokenizer, reference, monkeypatch
):
    monkeypatch.setattr(many_machines, "encode_task", partial(encode_or_die, 4))
    with pytest.raises(BrokenExecutor, match=r"memory ran out.*run it again"):
        quiet(inputs, tokenizer, tmp_path / "out", make_executor=None, num_workers=1)
    assert not (tmp_path / "out" / "manifest.json").exists()
    quiet(inputs, tokenizer, tmp_path / "out", make_executor=None, num_workers=1)
    assert content(tmp_path / "out") == reference


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc says which file is synced")
def test_after_a_power_cut_behind_any_sync_a_run_is_finished_by_another_one(tmp_path, tokenizer, monkeypatch):
    inputs = [write_lines(tmp_path / f"{first}.jsonl", TEXTS[first : first + 30]) for first in (0, 30)]
    write_shards(TEXTS[:60], tokenizer, tmp_path / "one", progress=False, **SETTINGS)
    reference = content(tmp_path / "one")
    cuts = power_cuts(tmp_path / "root", lambda: quiet(inputs, tokenizer, tmp_path / "root" / "out"), monkeypatch)
    assert len(cuts) > 50
    monkeypatch.setattr(os, "fsync", lambda file: None)  # there are no more power cuts, and a disk may be slow
    for number, left in enumerate(cuts):
        left.restore(tmp_path / str(number))
        quiet(inputs, tokenizer, tmp_path / str(number) / "out")
        assert content(tmp_path / str(number) / "out") == reference
    left.restore(tmp_path / "end")
    assert content(tmp_path / "end" / "out") == reference  # finished means on the disk


@pytest.fixture(scope="module")
def small_reference(tmp_path_factory, tokenizer) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("small") / "one"
    write_shards(TEXTS, tokenizer, folder, progress=False, **{k: SMALL[k] for k in SETTINGS})
    return content(folder)


@pytest.mark.parametrize("number", range(2))
def test_a_killed_run_loses_nothing_and_writes_nothing_twice(
    tmp_path, inputs, made, tokenizer, small_reference, number
):
    out, pieces = tmp_path / "out", tmp_path / "out.pieces"
    # Once while workers are at work, too; to start them takes longer than the rest.
    arguments = (inputs, made / "tokenizer.json", out, SMALL, 2 * (number == 1))
    run = process_context().Process(target=run_until_killed, args=arguments)
    run.start()
    # At another point each time: behind so many tasks, or so many shards.
    waits_for = ((pieces, "*.json", 2 + 3 * number), (out, "*.bin", 4 * number))[number % 2]
    while run.is_alive() and len(list(waits_for[0].glob(waits_for[1]))) < waits_for[2]:
        time.sleep(0.001)
    workers = psutil.Process(run.pid).children(recursive=True) if run.is_alive() else []
    run.kill()
    run.join()
    psutil.wait_procs(workers)  # which notice it by themselves
    left = {path: path.stat().st_mtime_ns for path in out.glob("*_0*.bin")}
    finished = [out / path.with_suffix(".bin").name for path in pieces.glob("*_0*.json")]
    tokenize_files(inputs, tokenizer, out, make_executor=InThisProcess, progress=False, **SMALL)
    assert all(path.stat().st_mtime_ns == left[path] for path in finished)
    assert content(out) == small_reference


# The command


def tokenize(*arguments: object) -> int:
    return main(["tokenize", "--quiet", "--workers", "1", *map(str, arguments)])


def test_the_command_line_in_another_language_and_a_poor_locale(tmp_path, tokenizer):
    folder = tmp_path / "Bücher und 書"
    folder.mkdir()
    texts = [*TEXTS[:30], "Žluťoučký kůň 馬"]
    write_lines(folder / "größer.jsonl", texts, title="ß")
    tokenizer.save(str(folder / "tokenizer.json"))
    command = [sys.executable, "-m", "course_lib", "tokenize", folder / "größer.jsonl"]
    command += ["--tokenizer", folder / "tokenizer.json", "--out", folder / "aus", "--workers", "2"]
    command += ["--shard-size", "2000", "--val-every", "5", "--task-bytes", "4000"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHON"))}
    environment |= {"LC_ALL": "C", "COURSE_PROGRESS": "1"}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=True)
    write_shards(texts, tokenizer, tmp_path / "one", shard_size=2000, val_every=5, progress=False)
    assert content(folder / "aus") == content(tmp_path / "one")
    assert "val" in run.stdout
    assert "documents" in run.stdout
    assert "tokenizing" in run.stderr
    assert "Traceback" not in run.stderr


def test_the_home_directory_is_one_folder_for_shards_and_tokenizer(tmp_path, monkeypatch, capsys):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "texts.jsonl", TEXTS[:9])
    assert tokenize("~/texts.jsonl", "--out=~/made", "--vocab-size", 300) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"texts.jsonl", "made", "made.tokenizer.json"}
    assert tokenize("~/texts.jsonl", "--out=~/made") == 0
    assert "finished before" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "words"),
    [("{'text': 'no JSON'}", "expected a JSON object"), ('{"text": "half a \\ud83d"}', "half of one")],
)
def test_a_wrong_line_names_its_file_and_line(tmp_path, made, capsys, line, words):
    bad = tmp_path / "wrong.jsonl"
    rows = [json.dumps({"text": text}) for text in TEXTS[:30]]
    bad.write_text("\n".join([*rows, line, *rows]), encoding="utf-8")
    arguments = [bad, "--tokenizer", made / "tokenizer.json", "--out", tmp_path / "out"]
    arguments += ["--task-bytes", 5_000]
    assert tokenize(*arguments) == 1
    output = capsys.readouterr()
    assert output.err.startswith(f"python -m course_lib tokenize: {bad}, line 31: ")
    assert output.err.count("\n") == 1
    assert words in output.err
    assert output.out == ""
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_a_run_with_a_wrong_line_is_finished_when_the_line_is_mended(tmp_path, made, tokenizer, monkeypatch):
    bad = tmp_path / "wrong.jsonl"
    bad.write_text("no JSON", encoding="utf-8")
    run = partial(quiet, [made / "first.jsonl", bad], tokenizer, tmp_path / "out")
    with pytest.raises(ValueError, match=r"wrong\.jsonl, line 1"):
        run()
    kept = len(list((tmp_path / "out.pieces").glob("0*.json")))
    write_lines(bad, TEXTS[120:])
    encoded = []
    counted = lambda *a, **k: encoded.append(a) or encode_named(*a, **k)
    monkeypatch.setattr(file_tasks, "encode_named", counted)
    run()
    tasks = len(plan_tasks([made / "first.jsonl", bad], task_bytes=20_000))
    assert kept > 0
    assert len(encoded) == tasks - kept
    assert content(tmp_path / "out") == content(made / "reference")


def test_wrong_usage_and_what_is_not_there(tmp_path, made, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["tokenize"])
    needed = ["--tokenizer", made / "tokenizer.json", "--out", tmp_path / "out"]
    for arguments, words in (
        ([made / "nothing.jsonl", *needed], "no input file at"),
        ([made / "first.jsonl", *needed, "--tokenizer", made / "nothing.json"], "no tokenizer at"),
        ([made / "first.jsonl", *needed, "--tokenizer", made / "first.jsonl"], "is not a tokenizer.json"),
        ([made / "first.jsonl", *needed, "--workers", 0], "num_workers must be"),
        ([made / "first.jsonl", *needed, "--shard-size", 0], "shard_size must be"),
    ):
        assert tokenize(*arguments) == 1
        assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_without_a_tokenizer_one_is_trained_and_a_second_run_takes_it(tmp_path, made, capsys):
    arguments = [made / "first.jsonl", "--out", tmp_path / "out", "--vocab-size", 300, "--quiet"]
    assert tokenize(*arguments) == 0
    assert "it has 300 ids (asked for: 300)" in capsys.readouterr().out
    trained = Tokenizer.from_file(str(tmp_path / "out.tokenizer.json"))
    first = load_shard(tmp_path / "out", "train", 0)
    assert first[: 1 + first.tolist().index(0)].tolist() == [*trained.encode(TEXTS[0]).ids, 0]
    assert tokenize(*arguments) == 0
    said = capsys.readouterr().out
    assert "which an earlier run has trained" in said
    assert "nothing was encoded" in said


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (999_999, "must be an id of the tokenizer, got 999999"),
        (-1, "must be an id of the tokenizer, got -1"),
        (2**70, "must be an id of the tokenizer"),
        (None, "must be given"),
    ],
)
def test_the_id_that_ends_a_document_is_one_of_the_tokenizer(tmp_path, made, capsys, end, words):
    train_byte_level_bpe(TEXTS, vocab_size=270).save(str(tmp_path / "tokenizer.json"))
    arguments = [made / "first.jsonl", "--tokenizer", tmp_path / "tokenizer.json", "--out", tmp_path / "out"]
    assert tokenize(*arguments, *([f"--end-of-text-id={end}"] if end else [])) == 1
    said = capsys.readouterr().err
    assert words in said
    assert "its special tokens: 0 <|endoftext|>" in said


@pytest.mark.parametrize("is_special", [True, False])
def test_ends_inside_of_texts_are_counted(tmp_path, capsys, is_special):
    write_lines(tmp_path / "a.jsonl", [f"text {number} <|endoftext|> and more" for number in range(4)])
    tokenizer = json.loads(train_byte_level_bpe(TEXTS, vocab_size=270).to_str())
    tokenizer["added_tokens"][0]["special"] = is_special
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    arguments = ["--tokenizer", tmp_path / "tokenizer.json", "--end-of-text-id", 0, "--out", tmp_path / "out"]
    assert tokenize(tmp_path / "a.jsonl", *arguments) == 0
    said = capsys.readouterr().out
    assert ("8 ids are 0, which ends a document, but there are 4 documents" in said) == (not is_special)


def test_an_end_that_stands_for_unknown_words_is_named_as_that(tmp_path, capsys):
    write_lines(tmp_path / "a.jsonl", ["the tide", "the zebra"])
    unknown = Tokenizer(models.WordLevel({"<unk>": 0, "the": 1, "tide": 2}, unk_token="<unk>"))
    unknown.pre_tokenizer = pre_tokenizers.Whitespace()
    unknown.save(str(tmp_path / "tokenizer.json"))
    arguments = ["--tokenizer", tmp_path / "tokenizer.json", "--end-of-text-id", 0, "--out", tmp_path / "out"]
    assert tokenize(tmp_path / "a.jsonl", *arguments) == 0
    said = capsys.readouterr()
    assert "3 ids are 0, which ends a document, but there are 2 documents: '<unk>' also stands for whatever" in said.out
    assert "some texts hold" not in said.out
    assert said.err == (
        "note: the tokenizer does not give 1 of the first 2 texts back as they are; for example, it takes 'the zebra' "
        "for 'the <unk>'\n"
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_dropout_in_a_tokenizer_makes_no_other_shards_and_is_noted_in_one_line(tmp_path, made, workers, capsys):
    tokenizer = json.loads((made / "tokenizer.json").read_text(encoding="utf-8"))
    for name, dropout in (("with", 0.3), ("without", None)):
        tokenizer["model"]["dropout"] = dropout
        (tmp_path / f"{name}.json").write_text(json.dumps(tokenizer), encoding="utf-8")
        arguments = [made / "first.jsonl", "--tokenizer", tmp_path / f"{name}.json", "--out", tmp_path / name]
        with warnings.catch_warnings():
            warnings.simplefilter("default")  # as outside of tests
            assert tokenize(*arguments, "--workers", workers, "--task-bytes", 20_000) == 0
        noted = "note: the tokenizer has dropout=0.3, so it would cut a text in a new way each time."
        assert capsys.readouterr().err.startswith(noted) == (name == "with")
    assert content(tmp_path / "with") == content(tmp_path / "without")


@pytest.mark.parametrize("trains", [True, False])
def test_results_inside_of_the_inputs_are_refused_because_a_second_run_would_read_them(tmp_path, made, capsys, trains):
    (tmp_path / "data").mkdir()
    write_lines(tmp_path / "data" / "a.jsonl", TEXTS[:3])
    given = [] if trains else ["--tokenizer", made / "tokenizer.json"]
    assert tokenize(tmp_path / "data", *given, "--out", tmp_path / "data" / "shards") == 1
    assert "must not lie in an input folder" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["a.jsonl"]


def test_without_ray_all_else_works_and_it_says_what_to_install(tmp_path, made, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    arguments = [made / "first.jsonl", "--tokenizer", made / "tokenizer.json", "--out", tmp_path / "out"]
    assert tokenize(*arguments, "--ray") == 1
    assert "pip install" in capsys.readouterr().err
    assert tokenize(*arguments) == 0


# On a cluster


@pytest.fixture(scope="module")
def session(ray_session) -> dict:
    if ray_session is None:
        pytest.skip("Ray is not installed (extra `cluster`)")
    output, errors = ray_session.communicate()
    assert ray_session.returncode == 0, errors[-3000:]
    found = json.loads(output.splitlines()[-1])
    if found is None:
        pytest.skip("this machine is too busy: Ray's nodes take longer to start than Ray waits")
    return found


@pytest.mark.parametrize(
    "fact",
    ["same shards", "same shards after a worker was killed", "a killed run is finished", "a task outlives its node"],
)
def test_a_cluster_of_ray(session, fact):
    assert session[fact]


def test_errors_of_a_task_and_of_a_cluster_are_told_apart(session):
    assert session["wrong line"] == "ValueError: wrong.jsonl, line 3"
    assert "WorkerCrashedError" in session["given up"]


# Ranks


@pytest.fixture(scope="module")
def rows() -> tuple[torch.Tensor, torch.Tensor, int]:
    characters = CharTokenizer("".join(TEXTS), max_characters=64)
    # In the order of their lengths, so that ranks have very different numbers of targets.
    return *rows_of_documents(sorted(TEXTS, key=len)[:96], characters, 48), characters.vocab_size


def test_rows_of_documents_score_each_token_but_the_first_and_no_padding():
    inputs, targets = rows_of_documents(["ab", "", "abcabc"], CharTokenizer("abc"), 4)
    assert inputs.tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 2, 0]]
    assert targets.tolist() == [[1, 3, -100, -100], [-100] * 4, [1, 2, 0, 1]]
    with pytest.raises(ValueError, match=r"texts must .*got none"):
        rows_of_documents([], CharTokenizer("abc"), 4)


def naive_training(inputs, targets, vocab_size, batch_size, num_updates) -> tuple[list[float], torch.Tensor]:
    """Plain PyTorch, without ranks: a mean over all targets of a batch."""
    torch.manual_seed(0)
    model = ConvolutionModel(vocab_size, hidden_size=16)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses, per_epoch = [], len(inputs) // batch_size
    for step in range(num_updates):
        epoch, batch = divmod(step, per_epoch)
        order = RandomOrder(len(inputs), epoch)
        chosen = order[np.arange(batch * batch_size, (batch + 1) * batch_size)]
        loss = F.cross_entropy(model(inputs[chosen]).flatten(0, 1), targets[chosen].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, torch.cat([w.detach().flatten() for w in model.state_dict().values()])


def test_two_ranks_train_as_one_process_with_the_same_batch_does(rows):
    inputs, targets, vocab_size = rows
    before = torch.get_rng_state()
    one = train_rank(*rows, batch_size=24, num_updates=6)
    assert torch.equal(torch.get_rng_state(), before)
    means = train_rank(*rows, batch_size=24, num_updates=6, loss="mean of means")  # of one mean
    torch.testing.assert_close(means.weights, one.weights, rtol=1e-4, atol=1e-5)
    losses, weights = naive_training(inputs, targets, vocab_size, 24, 6)
    np.testing.assert_allclose(one.losses, losses, rtol=1e-5)
    torch.testing.assert_close(one.weights, weights, rtol=1e-4, atol=1e-5)
    two = run_ranks(train_rank, 2, *rows, batch_size=24, num_updates=6)
    np.testing.assert_allclose(two[0].losses, one.losses, rtol=1e-5)
    torch.testing.assert_close(two[0].weights, one.weights, rtol=1e-4, atol=1e-5)
    assert torch.equal(two[0].weights, two[1].weights)
    assert two[0].losses == two[1].losses
    # not because they read the same
    assert not set(two[0].rows[:12]) & set(two[1].rows[:12])
    assert sorted(two[0].rows[:12] + two[1].rows[:12]) == sorted(one.rows[:24])
    assert two[0].scored != two[1].scored


def test_stopped_at_two_ranks_and_resumed_at_three_nothing_is_repeated_or_skipped(rows):
    long = train_rank(*rows, batch_size=24, num_updates=10)
    begun = run_ranks(train_rank, 2, *rows, batch_size=24, num_updates=3)
    state = begun[0].state
    gone_on = run_ranks(train_rank, 3, *rows, batch_size=24, num_updates=7, state=state)
    assert begun[0].state["rows_delivered"] == begun[1].state["rows_delivered"] == 72
    steps = []
    for reports, num_updates in ((begun, 3), (gone_on, 7)):
        share = 24 // len(reports)
        for step in range(num_updates):
            steps.append(sorted(row for r in reports for row in r.rows[step * share : (step + 1) * share]))
    assert steps == [sorted(long.rows[step * 24 : (step + 1) * 24]) for step in range(10)]
    assert Counter(row for step in steps[:4] for row in step) == Counter(range(96))  # the first epoch
    torch.testing.assert_close(gone_on[0].weights, long.weights, rtol=1e-4, atol=1e-5)


def test_a_saved_training_goes_on_to_exactly_the_same_losses(rows):
    long = train_rank(*rows, batch_size=24, num_updates=10)
    begun = train_rank(*rows, batch_size=24, num_updates=3)
    for _ in range(2):  # also again: going on does not change the state
        gone_on = train_rank(*rows, batch_size=24, num_updates=7, state=begun.state)
        assert begun.losses + gone_on.losses == long.losses
        assert torch.equal(gone_on.weights, long.weights)


def test_training_goes_on_with_its_own_rows_and_seed_only(rows):
    inputs, targets, vocab_size = rows
    state = train_rank(*rows, batch_size=24, num_updates=1).state
    for others in ((inputs.flip(0), targets), (inputs, targets.flip(0)), (inputs[:-1], targets[:-1])):
        with pytest.raises(ValueError, match="saved with rows="):
            train_rank(*others, vocab_size, batch_size=24, num_updates=1, state=state)
    damages = [{"model": {}}, {"model": None}, {"optimizer": {}}, {"optimizer": {"state": {}}}]
    first = state["optimizer"]["state"][0]
    for changed in ({"exp_avg": torch.zeros(2)}, {"exp_avg": None}):
        memory = state["optimizer"]["state"] | {0: first | changed}
        damages.append({"optimizer": state["optimizer"] | {"state": memory}})
    for damage in damages:
        with pytest.raises(ValueError, match="state must hold"):
            train_rank(*rows, batch_size=24, num_updates=1, state=state | damage)
    with pytest.raises(ValueError, match="saved with base_seed=0, but this run has base_seed=3"):
        train_rank(*rows, batch_size=24, num_updates=1, base_seed=3, state=state)
    assert train_rank(*rows, batch_size=12, num_updates=1, state=state).state["rows_delivered"] == 36


def test_rows_that_fit_nothing_are_refused(rows):
    inputs, targets, vocab_size = rows
    unscored = torch.full_like(targets, -100)
    for wrong, words in (
        ((inputs, targets[:2], vocab_size), "inputs and targets must have one shape"),
        ((inputs + vocab_size, targets, vocab_size), "inputs must lie in 0"),
        ((inputs, targets, 5), "must lie in 0 ... 4"),
        ((inputs, unscored, vocab_size), "no rank has a target to score"),
    ):
        with pytest.raises(ValueError, match=words):
            train_rank(*wrong, batch_size=24, num_updates=1)
    with pytest.raises(ValueError, match="batch_size 1000"):
        train_rank(*rows, batch_size=1000, num_updates=1)
    with pytest.raises(RuntimeError, match=r"batch_size must .*2.*got 23"):
        run_ranks(train_rank, 2, *rows, batch_size=23, num_updates=1)


def test_a_loss_is_divided_by_the_targets():
    for backward in (backward_by_targets, backward_by_ranks):
        weight = torch.nn.Parameter(torch.ones(()))
        assert backward(torch.nn.ParameterList([weight]), 2 * weight, 4) == weight.grad == 0.5


def both_ways(rows: tuple, factors: tuple[float, ...]) -> list[torch.Tensor]:
    return [gradient_by_ddp(*rows, factor=factor) for factor in factors]


def test_a_gradient_of_ddp_is_right_if_the_loss_is_multiplied_by_the_number_of_ranks(rows):
    inputs, targets, vocab_size = rows
    unequal = inputs[::24], targets[::24], vocab_size  # 4 rows, of very different lengths
    torch.manual_seed(0)
    model = ConvolutionModel(vocab_size, hidden_size=16)
    F.cross_entropy(model(unequal[0]).flatten(0, 1), unequal[1].flatten()).backward()
    right = torch.cat([weight.grad.flatten() for weight in model.parameters()])
    before = torch.get_rng_state()
    with process_group():
        torch.testing.assert_close(gradient_by_ddp(*unequal), right)
    assert torch.equal(torch.get_rng_state(), before)
    for world_size in (2, 3):
        ranks = run_ranks(both_ways, world_size, unequal, (1, world_size))
        for as_it_is, multiplied in ranks:  # rank 1 drew other first weights
            torch.testing.assert_close(as_it_is, right / world_size)
            torch.testing.assert_close(multiplied, right)


def test_a_gradient_of_ddp_needs_a_target_rows_that_fit_and_a_group(rows):
    inputs, targets, vocab_size = rows
    for wrong, words in (
        ((inputs, torch.full_like(targets, -100), vocab_size), "targets must hold one to score"),
        ((inputs[:0], targets[:0], vocab_size), "targets must hold one to score"),
        ((inputs, targets[:2], vocab_size), "inputs and targets must have one shape"),
        ((inputs + vocab_size, targets, vocab_size), "inputs must lie in 0"),
        ((inputs, targets, vocab_size), "process group has not been initialized"),
    ):
        with pytest.raises(ValueError, match=words):
            gradient_by_ddp(*wrong)


def read_on_the_first_alone() -> str:
    rank, _ = rank_and_size()
    return rank_training._from_first_rank(lambda: "a checkpoint" if rank == 0 else pytest.fail("no other has the file"))


def half_used() -> list[list[float | None]]:
    """One of two weights is used on one rank alone, the one or the other, and a third one nowhere."""
    gradients = []
    for rank_that_skips in (0, 1):
        model = torch.nn.ParameterList([torch.ones(()) for _ in range(3)])
        used = model[0] if rank_and_size()[0] == rank_that_skips else model[0] + 3 * model[1]
        backward_by_targets(model, used, 1)
        gradients.append([None if weight.grad is None else weight.grad.item() for weight in model])
    return gradients


def both() -> tuple:
    return read_on_the_first_alone(), half_used()


def test_only_the_first_rank_needs_to_see_a_checkpoint_and_one_that_has_not_used_a_weight_keeps_no_other_waiting():
    assert run_ranks(both, 2, time_limit=30) == [("a checkpoint", [[1.0, 1.5, None]] * 2)] * 2


def test_a_fingerprint_tells_contents_dtypes_and_borders():
    numbers = torch.arange(12).reshape(4, 3)
    same = [fingerprint(numbers), fingerprint(numbers.clone()), fingerprint(numbers.T.contiguous().T)]
    others = [fingerprint(numbers.int()), fingerprint(numbers[:, :1], numbers[:, 1:]), fingerprint(numbers.T)]
    assert len(set(same)) == 1
    assert len({*same, *others}) == 4


def test_a_rank_waits_in_vain_for_one_that_has_fewer_steps():
    assert run_ranks(take_steps, 2, [3, 3]) == [3, 3]
    with pytest.raises(ValueError, match=r"steps_of_ranks must .*1.*got 2"):
        take_steps([3, 3])
    # Its process has ended, and which of three errors comes is a matter of chance.
    with pytest.raises(RuntimeError, match=r"rank 0 raised .*(closed|reset by peer|pipe).*; ranks that were done: 1$"):
        run_ranks(take_steps, 2, [3, 2])
    with pytest.raises(RuntimeError, match=r"rank 0 raised .*Timed out.*; ranks that were done: none$"):
        run_ranks(take_steps, 2, [3, 2], busy_seconds=3600, time_limit=2)


# Training on shards


SHARDED = {"context_length": 16, "batch_size": 12}


def as_training(reference: Path, vocab_size: int, last_step: int, **options: object) -> RankReport:
    return train_on_shards(reference, vocab_size, last_step=last_step, progress=False, **SHARDED | options)


@pytest.fixture(scope="module")
def trained(made, tokenizer) -> RankReport:
    """What 9 steps of one process come to that nobody disturbs."""
    return as_training(made / "reference", tokenizer.get_vocab_size(), 9)


def test_the_cores_of_a_machine_do_not_matter(made, tokenizer):
    how = {"context_length": 64, "batch_size": 24}
    before, weights = torch.get_num_threads(), []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        weights.append(as_training(made / "reference", tokenizer.get_vocab_size(), 9, **how).weights)
        assert torch.get_num_threads() == threads
    torch.set_num_threads(before)
    assert torch.equal(*weights)


def test_training_on_shards_is_training_on_their_windows(made, tokenizer, trained):
    windows = SlidingWindowDataset(np.asarray(ShardedStream(made / "reference", "train")), 16, 16)
    rows = *windows[np.arange(len(windows))], tokenizer.get_vocab_size()
    same = train_rank(*rows, batch_size=12, num_updates=9)
    assert (trained.losses, trained.rows, trained.scored) == (same.losses, same.rows, same.scored)
    assert torch.equal(trained.weights, same.weights)
    assert trained.state["steps"] == 9


def test_a_checkpoint_is_of_its_own_shards_seed_and_vocabulary(tmp_path, made, tokenizer):
    saved, size = tmp_path / "run.pt", tokenizer.get_vocab_size()
    as_training(made / "reference", size, 2, checkpoint=saved)
    for others, words in (
        ({"base_seed": 1}, "saved with base_seed=0"),
        ({"context_length": 8}, "saved with context_length=16"),
        ({"vocab_size": size + 1}, "saved with vocab_size="),
    ):
        with pytest.raises(ValueError, match=words):
            as_training(made / "reference", **{"vocab_size": size, "last_step": 3, "checkpoint": saved} | others)
    done = as_training(made / "reference", size, 2, checkpoint=saved)  # nothing is left to do
    assert (done.losses, done.state["steps"]) == ([], 2)
    for damaged in (saved.read_bytes()[:-100], b"", b"no checkpoint"):
        saved.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"run\.pt is not a checkpoint"):
            as_training(made / "reference", size, 3, checkpoint=saved)


def test_training_that_is_killed_again_and_again_ends_where_one_does_that_is_not(tmp_path, made, tokenizer, trained):
    saved = tmp_path / "run.pt"
    command = "{} --tokenizer {} --context-length 16 --batch-size 12 --steps 9 --save-every 2 --quiet"
    command = [*command.format(made / "reference", made / "tokenizer.json").split(), "--checkpoint", str(saved)]
    kills = 0
    while True:
        before = saved.stat().st_mtime_ns if saved.exists() else 0
        run = process_context().Process(target=train_main, args=(command,))
        run.start()
        while kills < 2 and run.is_alive() and (not saved.exists() or saved.stat().st_mtime_ns == before):
            time.sleep(0.001)
        if kills == 2 or not run.is_alive():
            break
        run.kill()  # wherever it is behind its next save
        run.join()
        kills += 1
    run.join()
    assert run.exitcode == 0
    assert kills >= 1
    assert as_training(made / "reference", tokenizer.get_vocab_size(), 9, checkpoint=saved).losses == []
    weights = torch.load(saved, weights_only=True)["model"].values()
    assert torch.equal(torch.cat([w.flatten() for w in weights]), trained.weights)


def test_two_ranks_of_torchrun_stop_and_one_goes_on(tmp_path, made, tokenizer, trained, capsys):
    train = [str(made / "reference"), "--tokenizer", str(made / "tokenizer.json"), "--quiet"]
    train += ["--context-length", "16", "--batch-size", "12", "--checkpoint", str(tmp_path / "run.pt")]
    launch = "-m torch.distributed.run --nproc-per-node 2 --rdzv-backend c10d --rdzv-endpoint 127.0.0.1:0"
    command = [sys.executable, *launch.split(), "-m", "course_lib.many_machines.rank_training", *train, "--steps", "5"]
    # one thread each, or the launcher warns that it sets that; on this machine, whatever its name leads to
    settings = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"} if sys.platform == "linux" else {}
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600, env=os.environ | settings)
    assert ran.returncode == 0, ran.stderr
    (printed,) = ran.stdout.splitlines()  # by the first rank alone
    two = json.loads(printed)
    assert (two["ranks"], two["steps"]) == (2, 5)
    train_main([*train, "--steps", "9"])
    one = json.loads(capsys.readouterr().out)
    assert (one["ranks"], one["steps"]) == (1, 9)
    np.testing.assert_allclose(two["losses"] + one["losses"], trained.losses, rtol=1e-4)
    assert one["rows"] == trained.rows[5 * 12 :]
    np.testing.assert_allclose(one["weights"], trained.weights.double().square().sum(), rtol=1e-4)


def test_shards_of_another_tokenizer_are_not_trained_on(made, tmp_path):
    other = build_tokenizer(TEXTS[:20], vocab_size=300)
    other.save(str(tmp_path / "other.json"))
    with pytest.raises(ValueError, match="was written with another tokenizer"):
        train_main([str(made / "reference"), "--tokenizer", str(tmp_path / "other.json")])


# A batch cut along the sequence


@pytest.mark.parametrize("size", [1, 2, 4])
def test_heads_and_tails_are_those_of_pytorch(size):
    balancers = pytest.importorskip("torch.distributed.tensor.experimental._context_parallel._load_balancer")
    places = balancers._HeadTailLoadBalancer(16, size, "cpu")._generate_indices().flatten().view(size, -1).tolist()
    inputs, targets = list(range(100, 116)), list(range(101, 117))
    parts = [part_of_rank.reference(inputs, targets, rank, size) for rank in range(size)]
    assert parts == [tuple([row[place] for place in own] for row in (inputs, targets)) for own in places]


# Noise


def noise_of(epoch: int, num_workers: int, samples: range = range(12)) -> dict[int, int]:
    order = [(epoch, sample) for sample in samples]
    loader = torch.utils.data.DataLoader(NoisySamples(7), batch_size=None, sampler=order, num_workers=num_workers)
    return dict(map(tuple, loader))


def test_noise_is_that_of_the_sample_and_the_epoch_whoever_reads_it():
    alone = noise_of(0, 0)
    assert [noise_of(0, workers) for workers in (1, 3)] == [alone] * 2
    assert noise_of(0, 0, range(5, 12)) == {sample: alone[sample] for sample in range(5, 12)}  # resumed
    assert noise_of(1, 0) != alone
    assert len(set(alone.values())) > 6


def test_workers_that_go_on_from_epoch_to_epoch_draw_new_noise():
    order = [(0, 0), (0, 1)]
    loader = torch.utils.data.DataLoader(
        NoisySamples(7), batch_size=None, sampler=order, num_workers=1, persistent_workers=True
    )
    first = list(loader)
    order[:] = [(1, 0), (1, 1)]
    assert list(loader) != first


def test_no_two_samples_share_a_generator():
    numbers = (0, 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**40)
    keys = [(s, e, n) for s in numbers for e in numbers[:4] for n in numbers]
    drawn = {tuple(generator_of(*key).integers(2**63, size=2)) for key in keys}
    assert len(drawn) == len(keys)


# On paper


def test_what_is_calculated_on_paper():
    assert (stored_bytes(0, 10), stored_bytes(1, 65_536), stored_bytes(np.int16(30_000), 65_537)) == (0, 2, 120_000)
    assert encoding_hours(15 * 10**12, 10**6, 1000) == pytest.approx(15_000 / 3600)
    assert encoding_hours(7_200, 1) == 2  # of one machine
    assert feeding_bandwidth(10, 50_000, 3) == 60.0
    assert (hours_between_failures(4, 10), hours_between_failures(1, 10)) == (2.5, 10)
    for endless in (lambda: encoding_hours(1e308, 1e-308), lambda: feeding_bandwidth(1e308, 5, 10**6)):
        with pytest.raises(ValueError, match="must be finite"):
            endless()


# The experiments


@pytest.mark.slow
def test_the_fate_of_a_rank_that_is_left_alone():
    fate, error = experiments.fate_of_rank_0()
    assert fate == experiments.FATES[1]
    assert error
    fate, error = experiments.fate_of_rank_0(3600)
    assert fate == experiments.FATES[2]
    assert "Timed out" in error


def test_gradients_of_two_ranks_are_joined_as_by_hand():
    inputs, targets = rows_of_documents(["ab" * 9, "b", "abc" * 5, "cab"], CharTokenizer("abc"), 8)
    vocab_size = CharTokenizer("abc").vocab_size
    errors = experiments.compare_gradients(inputs, targets, vocab_size, rows_in_a_step=4, seeds=(3, 5))
    for run, seed in enumerate((3, 5)):
        rows = np.random.default_rng(seed).permutation(4)
        torch.manual_seed(seed)
        model = ConvolutionModel(vocab_size, hidden_size=16)

        def gradient(loss, model=model):
            model.zero_grad()
            loss.backward()
            return torch.cat([weight.grad.flatten() for weight in model.parameters()])

        means = [next_token_loss(model(inputs[half]), targets[half]) for half in (rows[:2], rows[2:])]
        right = gradient(next_token_loss(model(inputs[rows]), targets[rows]))
        wrong = gradient(sum(means) / 2)
        assert errors.mean_of_means[run] == pytest.approx(float((wrong - right).norm() / right.norm()), rel=1e-4)
        assert errors.one_sum[run] < 1e-5 < 0.01 < errors.mean_of_means[run]


def test_a_command_is_killed_at_its_first_checkpoint_and_run_again(tmp_path):
    saved, program = tmp_path / "run.pt", tmp_path / "program.py"
    program.write_text(
        "import json, pathlib, sys, time, torch\n"
        "saved = pathlib.Path(sys.argv[1])\n"
        "if saved.exists():\n"
        "    print(json.dumps({'from': torch.load(saved, weights_only=True)['steps']}))\n"
        "else:\n"
        "    torch.save({'steps': 7}, saved.with_suffix('.tmp'))\n"
        "    saved.with_suffix('.tmp').rename(saved)\n"
        "    time.sleep(600)\n"
    )
    command = [sys.executable, str(program), str(saved)]
    assert experiments.kill_and_finish(command, saved) == (7, {"from": 7})
