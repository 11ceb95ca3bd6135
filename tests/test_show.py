"""`python -m course_lib show`: real ids through a loader, and its batch as text."""

import subprocess
import sys

import pytest

from course_lib.__main__ import main
from course_lib.tokenizer_pipeline import build_tokenizer

TEXT = "the cat sat on the mat.\n\nthe dog ran.\n\n\n\na bird flew away over the hills and the sea.\n"
LOADERS = """
import numpy as np

def plain(ids):
    print("the loader prints")
    rows = ids[: len(ids) // 8 * 8].reshape(-1, 2, 4)
    return [(batch, np.roll(batch, -1)) for batch in rows]

def documents(ids, document_starts, epoch, rank, world_size):
    ends = [*document_starts[1:], len(ids)]
    rows = [ids[a:b].tolist() for a, b in zip(document_starts, ends)]
    return [{"input_ids": [row]} for row in rows[rank::world_size]]

def texts(texts):
    return [{"input_ids": [[len(text)]]} for text in texts]

def its_own(path="data.bin", T=4):
    return [{"input_ids": [[5, 6, 7]]}]

def endless(ids):
    while True:
        yield {"input_ids": [ids[:4].tolist()]}

def crash(ids):
    raise OSError("the disk is full")

def no_batches(ids):
    return []

def no_ids(document_starts):
    return []
"""


@pytest.fixture
def show(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(LOADERS, encoding="utf-8")
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    build_tokenizer([TEXT] * 9, vocab_size=300).save(str(tmp_path / "tokenizer.json"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))

    def status(name: str, *words: str, text: str = "a.txt") -> int:
        return main(["show", f"mine.py:{name}", "--tokenizer", "tokenizer.json", "--text", text, *words])

    return status


def test_a_loader_gets_real_ids_and_what_it_prints_goes_elsewhere(show, capsys):
    assert show("plain") == 0
    said = capsys.readouterr()
    assert "2 rows of 4 tokens" in said.out
    assert "the loader prints" not in said.out
    assert "the loader prints" in said.err


def test_a_paragraph_is_a_document_and_ranks_share_them(show, capsys):
    assert show("documents", "--world-size", "2", "--rank", "1") == 0
    shown = "".join(sign for sign in capsys.readouterr().out if sign not in "()|")
    assert "the␣dog␣ran." in shown
    assert "cat" not in shown


@pytest.mark.parametrize("name", ["its_own", "endless"])
def test_one_that_brings_its_own_data_or_never_ends_is_shown_too(name, show, capsys):
    assert show(name) == 0
    assert "scored" in capsys.readouterr().out


def test_it_says_whose_text_it_is_unless_it_is_the_readers(show, capsys, monkeypatch):
    """Or somebody reads the course's story, and takes it for their own data."""
    assert show("its_own") == 0
    assert "not your data" not in capsys.readouterr().out
    assert show("plain") == 0
    assert "not your data, but the text of a.txt" in " ".join(capsys.readouterr().out.split())
    command = ["show", "mine.py:plain", "--tokenizer", "tokenizer.json"]
    monkeypatch.delenv("COURSE_CORPUS", raising=False)
    assert main(command) == 0
    assert "not your data, but the course's story" in capsys.readouterr().out
    monkeypatch.setenv("COURSE_CORPUS", "a.txt")
    assert main(command) == 0
    assert "not your data, but the text of a.txt" in capsys.readouterr().out


def test_another_batch_and_fewer_rows(show, capsys):
    assert show("plain", "--batch", "1", "--rows", "1", "--tokens", "2") == 0
    said = capsys.readouterr().out
    assert "row 0" in said
    assert "row 1" not in said
    assert "the first 2 tokens" in said


def test_texts_are_paragraphs(show, capsys):
    assert show("texts", "--texts") == 0
    assert "1 row of 1 token," in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["crash"], "raised OSError: the disk is full (at "),
        (["no_batches"], "no_batches(ids) has no batches"),
        (["plain", "--batch", "99"], "the number of batches of plain(ids), got 99"),
        (["plain", "--batch", "-1"], "--batch must be an integer of at least 0"),
        (["plain", "--rows", "0"], "--rows must be an integer of at least 1"),
        (["plain", "--rank", "1"], "--rank must be below --world-size 1, got 1"),
        (["no_ids"], "names document_starts, but takes no ids"),
        (["nowhere"], "must have a function nowhere"),
        (["plain", "--tokenizer", "none.json"], "there is no file none.json"),
        (["plain", "--tokenizer", "a.txt"], "a.txt is no tokenizer.json"),
    ],
)
def test_what_is_wrong_is_one_line(words, said, show, capsys):
    assert show(*words) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("python -m course_lib show: ")
    assert said in error


def test_a_text_that_is_not_there(show, capsys):
    assert show("plain", text="none.txt") == 2
    assert "no text file at none.txt" in capsys.readouterr().err


def test_without_a_text_it_is_the_story(show, tmp_path):
    command = [sys.executable, "-m", "course_lib", "show", "mine.py:plain", "--tokenizer", "tokenizer.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "\033[" not in done.stdout  # no terminal, no colors
