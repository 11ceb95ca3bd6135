"""The records of a folder of shards, and the writer that another program feeds."""

from __future__ import annotations

import json

import numpy as np
import pytest

from course_lib.foundation import (
    NO_DOCUMENTS,
    CharTokenizer,
    ShardSettings,
    ShardWriter,
    add_document,
    check_files,
    encode_each,
    files_of,
    names_of_shards,
    open_manifest,
    shard_path,
    starts_path,
    text_digest,
    tokenizer_hash,
)
from course_lib.token_shards import write_shards

TEXTS = ["abc", "", "b" * 40, "cab", "a", "bca" * 5, "c"]
CHARACTERS = CharTokenizer("abc")
SMALL = {"shard_size": 8, "val_every": 3}


def placed(folder, max_tokens=None) -> None:
    """Write as another program does that has encoded the documents already."""
    encoded = list(encode_each(TEXTS, CHARACTERS))
    with ShardWriter(folder, ShardSettings.of(CHARACTERS, max_tokens=max_tokens, **SMALL)) as writer:
        for text, ids in zip(TEXTS, encoded, strict=True):
            if writer.wants(text_digest(text)) and not writer.place(ids):
                break
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
    assert set(listed) == names_of_shards(tmp_path)
    assert all((tmp_path / name).stat().st_size == size for name, size in listed.items())
    check_files(tmp_path, files_of(manifest), sums=True, progress=False)
    assert shard_path(tmp_path, "train", 3).name == "train_000003.bin"
    assert starts_path(tmp_path, "val", 0).name == "val_000000.starts.bin"
    # a document that reaches through whole shards starts in none of them
    starts = [np.fromfile(starts_path(tmp_path, "val", k), "<i8").tolist() for k in range(len(manifest.shards["val"]))]
    assert starts[0] == [0]
    assert starts[1:5] == [[], [], [], []]
    assert sum(map(len, starts)) == manifest.num_documents("val") == 2


def test_settings_are_compared_and_split_by_number():
    settings = ShardSettings.of(CHARACTERS, **SMALL)
    assert settings == ShardSettings.of(CharTokenizer("cba"), **SMALL)
    assert settings != ShardSettings.of(CHARACTERS, shard_size=8, val_every=4)
    assert [settings.split_of(number) for number in range(1, 7)] == ["train", "train", "val"] * 2
    assert tokenizer_hash(CHARACTERS) != tokenizer_hash(CharTokenizer("abcd"))


def test_documents_are_named_in_any_order_and_each_with_its_number():
    a, b = text_digest("a"), text_digest("b")
    both = add_document(add_document(NO_DOCUMENTS, 1, a), 2, b)
    assert both == add_document(add_document(NO_DOCUMENTS, 2, b), 1, a)
    assert both == (add_document(0, 1, a) + add_document(0, 2, b)) % 2**256
    assert both != add_document(add_document(NO_DOCUMENTS, 1, b), 2, a)


def test_a_writer_is_told_of_each_document_and_given_those_that_it_wants(tmp_path):
    settings = ShardSettings.of(CHARACTERS, max_tokens=20, **SMALL)
    writer = ShardWriter(tmp_path, settings)
    ids, digest = np.arange(11, dtype=np.uint16), text_digest("x")
    with pytest.raises(ValueError, match="inside `with`"):
        writer.wants(digest)
    with writer:
        with pytest.raises(ValueError, match="a document that is wanted, but none is"):
            writer.place(ids)
        with pytest.raises(ValueError, match="digest must be 32 bytes"):
            writer.wants("x")
        assert writer.wants(digest)
        with pytest.raises(ValueError, match="all documents that are wanted must be placed, 1 are not"):
            writer.finish()
        assert writer.place(ids)
        assert writer.wants(digest)
        assert not writer.place(ids)  # 22 tokens would be too many
        with pytest.raises(ValueError, match="none is"):
            writer.place(ids)
        assert writer.finish().num_documents("train") == 1
        with pytest.raises(ValueError, match="before it has finished"):
            writer.wants(digest)


def test_a_writer_that_ends_early_leaves_what_it_has_and_no_manifest(tmp_path):
    settings = ShardSettings.of(CHARACTERS, **SMALL)
    with ShardWriter(tmp_path, settings) as writer:
        writer.wants(text_digest("x"))
        writer.place(np.arange(11, dtype=np.uint16))
    names = sorted(path.name for path in tmp_path.glob("[!.]*"))
    assert names == ["progress.jsonl", "train_000000.bin", "train_000000.starts.bin"]
    _, line = map(json.loads, (tmp_path / "progress.jsonl").read_text().splitlines())
    assert (line["split"], line["next_document"], line["ids_written"]) == ("train", 1, 8)
    with pytest.raises(FileNotFoundError, match="run it again"):
        open_manifest(tmp_path)
