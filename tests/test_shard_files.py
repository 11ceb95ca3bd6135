"""The records of a folder of shards: what its files hold, with which settings, of which documents."""

import numpy as np

from course_lib.foundation import CharTokenizer
from course_lib.foundation.tokenizing import tokenizer_hash
from course_lib.token_shards import write_shards
from course_lib.token_shards.shard_files import (
    NO_DOCUMENTS,
    ShardSettings,
    add_document,
    check_files,
    files_of,
    names_of_shards,
    open_manifest,
    shard_path,
    starts_path,
    text_digest,
)

TEXTS = ["abc", "", "b" * 40, "cab", "a", "bca" * 5, "c"]
CHARACTERS = CharTokenizer("abc")
SMALL = {"shard_size": 8, "val_every": 3}


def test_a_manifest_lists_every_file(tmp_path):
    write_shards(TEXTS, CHARACTERS, tmp_path, **SMALL, progress=False)
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
