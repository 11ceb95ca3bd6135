"""The records of a folder of shards, and the writer that another program feeds."""

from __future__ import annotations

import json

import numpy as np
import pytest

from course_lib.foundation import (
    CharTokenizer,
    ShardSettings,
    ShardWriter,
    encode_each,
    next_chain,
    open_manifest,
    shard_path,
    starts_path,
    text_digest,
    tokenizer_hash,
)
from course_lib.foundation.shard_files import NO_DOCUMENTS, check_files, files_of, shard_files
from course_lib.token_shards import write_shards

TEXTS = ["abc", "", "b" * 40, "cab", "a", "bca" * 5, "c"]
CHARACTERS = CharTokenizer("abc")
SMALL = {"shard_size": 8, "val_every": 3}


def placed(folder, max_tokens=None) -> None:
    """Write as another program does that has encoded the documents already."""
    encoded = list(encode_each(TEXTS, CHARACTERS))
    with ShardWriter(folder, ShardSettings.of(CHARACTERS, max_tokens=max_tokens, **SMALL)) as writer:
        chain = NO_DOCUMENTS
        for number, (text, ids) in enumerate(zip(TEXTS, encoded, strict=True), start=1):
            chain = next_chain(chain, text_digest(text))
            writer.check(number, chain)
            if writer.needs(number) and not writer.place(number, chain, ids):
                break
        else:
            writer.check_end(len(TEXTS))
        writer.finish()


@pytest.mark.parametrize("max_tokens", [None, 50])
def test_whoever_encodes_the_bytes_are_the_same(tmp_path, max_tokens):
    placed(tmp_path / "a", max_tokens)
    write_shards(TEXTS, CHARACTERS, tmp_path / "b", max_tokens=max_tokens, **SMALL, progress=False)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "b").iterdir())
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)


def test_a_manifest_lists_every_file(tmp_path):
    placed(tmp_path)
    manifest = open_manifest(tmp_path)
    listed = {path.name: size for path, size, _ in files_of(manifest)}
    assert set(listed) == shard_files(tmp_path)
    assert all((tmp_path / name).stat().st_size == size for name, size in listed.items())
    check_files(tmp_path, manifest, sums=True, progress=False)
    assert shard_path(tmp_path, "train", 3).name == "train_000003.bin"
    assert starts_path(tmp_path, "val", 0).name == "val_000000.starts.bin"
    # a document that reaches through whole shards starts in none of them
    starts = [np.fromfile(starts_path(tmp_path, "val", k), "<i8").tolist() for k in range(len(manifest.shards["val"]))]
    assert starts[0] == [0]
    assert starts[1:5] == [[], [], [], []]
    assert sum(map(len, starts)) == manifest.num_documents("val") == 2


def test_settings_have_one_hash_and_split_by_number():
    settings = ShardSettings.of(CHARACTERS, **SMALL)
    assert settings.hash == ShardSettings.of(CharTokenizer("cba"), **SMALL).hash
    assert settings.hash != ShardSettings.of(CHARACTERS, shard_size=8, val_every=4).hash
    assert [settings.split_of(number) for number in range(1, 7)] == ["train", "train", "val"] * 2
    assert tokenizer_hash(CHARACTERS) != tokenizer_hash(CharTokenizer("abcd"))


def test_a_document_named_by_those_before_it():
    a, b = text_digest("a"), text_digest("b")
    assert next_chain(next_chain(NO_DOCUMENTS, a), b) != next_chain(next_chain(NO_DOCUMENTS, b), a)
    assert len(next_chain(NO_DOCUMENTS, a)) == len(a) == 32


def test_a_writer_that_ends_early_leaves_what_it_has_and_no_manifest(tmp_path):
    settings = ShardSettings.of(CHARACTERS, **SMALL)
    with ShardWriter(tmp_path, settings) as writer:
        writer.place(1, next_chain(NO_DOCUMENTS, text_digest("x")), np.arange(11, dtype=np.uint16))
    names = sorted(path.name for path in tmp_path.glob("[!.]*"))
    assert names == ["progress.json", "train_000000.bin", "train_000000.starts.bin"]
    progress = json.loads((tmp_path / "progress.json").read_text())
    assert (progress["next_document"]["train"], progress["ids_written"]["train"]) == (1, 8)
    with pytest.raises(FileNotFoundError, match="run it again"):
        open_manifest(tmp_path)
