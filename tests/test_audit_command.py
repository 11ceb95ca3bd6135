"""The command that audits a loader: its exit status, its words, and what it writes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models
from tokenizers.pre_tokenizers import ByteLevel

from course_lib.__main__ import main
from course_lib.auditing_loaders import FACTS, FINDINGS, NOT_TRIED

ROOT = Path(__file__).parent.parent
LOADERS = """
import numpy as np

def rows(ids, order, length=16, size=4):
    for first in range(0, len(order), size):
        starts = order[first : first + size, None] + np.arange(length)
        yield ids[starts], ids[starts + 1]

def good(ids):
    return rows(ids, np.arange(0, len(ids) - 16, 16))

def bad(ids):
    return rows(ids, np.arange(0, len(ids) - 16, 17))

def ranks(ids, rank, world_size):
    return rows(ids, np.arange(0, len(ids) - 16, 16)[rank:60:world_size])

def documents(ids, document_starts):
    return ({"input_ids": row[None]} for row in np.split(ids.copy(), document_starts[1:]))

def endless(ids):
    while True:
        yield from good(ids)

def few(ids):  # half of the stream is left over, less than a step
    return (batch for batch in rows(ids, np.arange(0, len(ids) - 16, 16), size=31) if len(batch[0]) == 31)

def sleepy(ids):
    import time
    time.sleep(1_000)

def trying(ids):  # again and again, as a reader of remote files does
    import time
    while True:
        try:
            time.sleep(1_000)
        except Exception:
            pass

def crash(ids):
    raise OSError("the disk is full")

def leaves(ids):
    raise SystemExit(0)

def empty(ids):
    return []

def ended(ids):
    return good(np.append(ids[:500], [0, *ids[500:]]))

def texts(texts):
    assert all(isinstance(text, str) for text in texts)
    ids = np.concatenate([tokenizer().encode(text).ids for text in texts])
    return good(np.asarray(ids))

def tokenizer():
    from tokenizers import Tokenizer
    return Tokenizer.from_file("tokenizer.json")

number = 5
"""
STATUS = {
    "good": 0,
    "bad": 1,
    "good --num-tokens 500 --num-epochs 3 --vocab-size 256": 0,
    "ranks --world-size 2": 0,
    "ranks --world-size 2 --processes": 0,
    "good --world-size 2": 1,
    "documents --document-lengths 40,70,50": 0,
    "good --document-lengths 40,70,50": 1,
    "good --document-lengths 3x40,50": 1,
    "documents --document-lengths 3x40,50": 0,
    "documents --document-lengths @lengths.txt": 0,
    "documents --document-lengths @missing.txt": 2,
    "bad --allow lost": 0,
    "bad --allow lost:57": 0,
    "bad --allow lost:56": 1,
    "bad --allow repeated": 1,
    "bad --allow @allowed.txt": 0,
    "good --allow nothing": 2,
    "good --allow lost:x": 2,
    "few --num-tokens 913": 3,
    "few --num-tokens 913 --allow lost": 0,
    "few --num-tokens 913 --allow lost:900": 3,  # nobody could count them
    "documents --document-lengths -2x40,50": 2,
    "documents --document-lengths 0x40,50": 2,
    "sleepy --time-limit 1": 2,
    "trying --time-limit 1": 2,
    "good --time-limit 0": 2,
    "endless --max-batches 16": 0,
    "endless": 2,
    "ended": 1,  # an id of its own is scored
    "ended --separator-ids 0": 0,
    "texts --tokenizer tokenizer.json": 1,  # rows cross from text to text
    "texts --tokenizer tokenizer.json --document-lengths 3x300": 1,
    "crash": 2,
    "leaves": 2,
    "empty": 2,
    "number": 2,
    "missing": 2,
    "good --world-size 0": 2,
    "good --num-tokens 0": 2,
    "good --num-tokens x": 2,
    "good --document-lengths 40,,x": 2,
    "good --vocab-size 0": 2,
    "good --resume-after -1": 2,
    "good --nonsense": 2,
    "good --picture missing/folder/out.png": 2,
    "good --tokenizer missing.json": 2,
}


def plain_bytes() -> Tokenizer:
    """A tokenizer of bytes, without merges."""
    tokenizer = Tokenizer(models.BPE(vocab={sign: n for n, sign in enumerate(sorted(ByteLevel.alphabet()))}, merges=[]))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    return tokenizer


@pytest.fixture
def run(tmp_path, monkeypatch):
    (tmp_path / "loaders.py").write_text(LOADERS, encoding="utf-8")
    (tmp_path / "broken.py").write_text("import nothing_of_that_name", encoding="utf-8")
    (tmp_path / "wrong.py").write_text("def (", encoding="utf-8")
    (tmp_path / "leaving.py").write_text("raise SystemExit(0)", encoding="utf-8")
    (tmp_path / "lengths.txt").write_text("40 70\n2x50\n", encoding="utf-8")
    (tmp_path / "allowed.txt").write_text("# by design\nlost:60  # one a window\n", encoding="utf-8")
    plain_bytes().save(str(tmp_path / "tokenizer.json"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    for name in ("loaders", "broken", "wrong", "leaving"):  # of the test before
        monkeypatch.delitem(sys.modules, name, raising=False)

    def status(*words: str) -> int:
        sizes = [] if {"--num-tokens", "--document-lengths"} & set(words) else ["--num-tokens", "1000"]
        try:
            return main(["audit", *words, *sizes])
        except SystemExit as end:
            return end.code

    return status


SLOW = {"ranks --world-size 2 --processes"}


@pytest.mark.parametrize("words", [pytest.param(words, marks=[pytest.mark.slow] * (words in SLOW)) for words in STATUS])
def test_a_command_says_by_its_status(words, run, capsys):
    name, *options = words.split()
    status = run(f"loaders.py:{name}", *options)
    said = capsys.readouterr()
    assert status == STATUS[words], said.out + said.err
    assert "Traceback" not in said.err
    assert bool(said.err) == (status == 2)
    assert status == 2 or said.out
    if name == "crash":
        assert "OSError" in said.err
        assert "the disk is full" in said.err


@pytest.mark.parametrize(
    "where", ["missing.py:good", "loaders.py", "loaders.py:", ":good", "broken.py:a", "wrong.py:a", "leaving.py:a", "."]
)
def test_a_place_where_no_loader_is(where, run, capsys):
    assert run(where) == 2
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert said.err


@pytest.mark.parametrize(("name", "names"), [("good", []), ("bad", ["lost"])])
def test_it_writes_json_and_a_picture(name, names, run, capsys):
    assert run(f"loaders.py:{name}", "--json", "--picture", "out.png") == len(names)
    told = json.loads(capsys.readouterr().out)
    assert [finding["name"] for finding in told["findings"]] == names
    assert Path("out.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert told["clean"] == (not names)
    assert told["arguments"] == {"loader": f"loaders.py:{name}", "num_tokens": 1000, "allow": []}
    assert {"version", "undecided", "notes", "facts", "allowed"} <= told.keys()
    assert all(re.fullmatch(r"[a-z_]+", fact) for fact in told["facts"])


def test_what_cannot_be_run_is_json_too_and_says_where_in_the_loader(run, capsys):
    assert run("loaders.py:crash", "--json") == 2
    told = json.loads(capsys.readouterr().out)
    assert not told["clean"]
    assert re.search(r"OSError: the disk is full \(at .*loaders.py:\d+: raise OSError", told["error"])


@pytest.mark.parametrize("name", ["train-gpt.py", "2024.py", "my loader.py"])
def test_a_file_may_have_any_name(name, run, capsys):
    Path(name).write_text(LOADERS, encoding="utf-8")
    assert run(f"{name}:good") == 0
    assert run(f"{name}:bad") == 1


def test_a_wrong_limit_or_folder_is_told_before_the_loader_is_read(run, capsys):
    for words, said in ((("--time-limit", "inf"), "at most 100,000,000"), (("--picture", "no/a.png"), "no folder no")):
        assert run("loaders.py:sleepy", *words) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("asked", [True, False])
def test_a_traceback_is_shown_if_it_is_asked_for(asked, run, capsys):
    assert main([*["--traceback"] * asked, "audit", "loaders.py:crash"]) == 2
    assert asked == ("Traceback" in capsys.readouterr().err)


def test_what_a_process_of_the_loader_prints_is_not_in_the_report(run, capfd):
    echo = "import subprocess\n\n\ndef make_loader(ids):\n    subprocess.run(['echo', 'hello'])\n    return good(ids)\n"
    Path("loud.py").write_text(f"{LOADERS}\n{echo}", encoding="utf-8")
    assert run("loud.py:make_loader", "--json") == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["clean"]
    assert "hello" in err


@pytest.mark.slow
def test_it_runs_as_a_program(run, tmp_path):
    program = [sys.executable, "-m", "course_lib", "audit", str(tmp_path / "loaders.py") + ":bad"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(program, capture_output=True, text=True, env=environment)
    assert done.returncode == 1, done.stderr
    assert "lost" in done.stdout


def test_help_lists_findings_and_facts_and_says_what_is_not_tried(capsys):
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    said = capsys.readouterr().out
    assert all(name in said and words in said for name, words in FINDINGS.items())
    assert all(f"{name} " in said and f"{fact.meaning} ({fact.type})" in said for name, fact in FACTS.items())
    assert all(item in " ".join(said.split()) for item in NOT_TRIED)
    assert "for loaders that feed next-token prediction" in said
