"""The writer of shards, as another program feeds it that has encoded the documents already."""

import json

import numpy as np
import pytest

from course_lib.foundation import CharTokenizer, encode_each
from course_lib.token_shards import write_shards
from course_lib.token_shards.shard_files import ShardSettings, open_manifest, text_digest
from course_lib.token_shards.shard_writer import ShardWriter

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
        with pytest.raises(ValueError, match="all documents wanted must be placed, 1 are not"):
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
