"""What the recipes write is what loaders of these formats read; the ids in it still tell their places."""

import json
from pathlib import Path

import datasets
import numpy as np
import pytest
from pyarrow import parquet

from course_lib.auditing_loaders import audit_loader, recipes
from planted_loaders import plain

IDS = 1_000 + np.arange(200)
STARTS = np.array([0, 30, 31, 120])


def test_flat_files_hold_uint16(tmp_path):
    path = tmp_path / "ids.bin"
    recipes.write_flat(IDS, path)
    assert np.fromfile(path, dtype="<u2").tolist() == IDS.tolist()


def test_a_loader_of_a_file_is_audited(tmp_path):
    def make_loader(ids):
        recipes.write_flat(ids, tmp_path / "ids.bin")
        return plain(np.fromfile(tmp_path / "ids.bin", "<u2"))

    assert audit_loader(make_loader).clean
    assert audit_loader(make_loader, num_tokens=40_000, vocab_size=50_257).clean
    with pytest.raises(Exception, match="must fit into uint16, got 1,039,999: this format is for"):
        audit_loader(make_loader, num_tokens=40_000)


def test_the_lines_of_other_formats_do_what_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [
        line.partition("#")[0].strip() for line in recipes.__doc__.splitlines() if "#" in line or "from_dict" in line
    ]
    known = {"np": np, "datasets": datasets, "json": json, "Path": Path}
    known |= {"ids": IDS, "document_starts": STARTS, "texts": ["a\nb", "ü"]}
    exec("\n".join(lines), known)
    documents = [each.tolist() for each in np.split(IDS, STARTS[1:])]
    header = np.fromfile("llm_c.bin", dtype="<i4", count=256)
    assert header[:3].tolist() == [20240520, 1, 200]
    assert not header[3:].any()
    assert np.fromfile("llm_c.bin", dtype="<u2", offset=1024).tolist() == IDS.tolist()
    assert np.load("ids.npy").tolist() == IDS.tolist()
    assert parquet.read_table("ids.parquet")["input_ids"].to_pylist() == documents
    assert datasets.load_from_disk("ids")["input_ids"] == documents
    texts = Path("texts.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in texts] == [{"text": "a\nb"}, {"text": "ü"}]


def test_what_a_format_cannot_hold_is_refused(tmp_path):
    for ids in ([70_000], [-1], [2**16]):
        with pytest.raises(ValueError, match="ids must fit into uint16"):
            recipes.write_flat(ids, tmp_path / "a")
