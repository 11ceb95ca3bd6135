"""Hostile calls of the files of shards: their names, settings and manifests."""

import atexit
import itertools
import tempfile
from pathlib import Path

import numpy as np

from course_lib.foundation import CharTokenizer
from course_lib.token_shards.shard_files import Manifest, Shard, ShardSettings

ROOM = tempfile.TemporaryDirectory(prefix="course-hostile-")
atexit.register(ROOM.cleanup)
NUMBERS = itertools.count()
CHARACTERS = CharTokenizer("abc")
SETTINGS = ShardSettings.of(CHARACTERS, shard_size=4, val_every=2)
BARE, ONE = Manifest(SETTINGS), Shard(1, 1, "", "")


def new():
    path = Path(ROOM.name) / str(next(NUMBERS))
    path.mkdir()
    return path


def holding(text):
    folder = new()
    (folder / "manifest.json").write_text(text)
    return folder


class Strange:
    vocab_size = 2**33

    def encode(self, text):
        return []


CALLS = {
    "ShardSettings.of(CHARACTERS).dtype": "uint16",
    "ShardSettings.of(CHARACTERS, end_of_text_id=np.int32(70_000)).dtype": "uint32",
    "ShardSettings.of(CHARACTERS, shard_size=2**63).shard_size": 2**63,
    "ShardSettings.of(5)": TypeError("tokenizer must have a method encode(text)"),
    "ShardSettings.of(Strange(), end_of_text_id=0)": ValueError("vocab_size must be"),
    "ShardSettings.of(Strange())": ValueError("end_of_text_id must be given"),
    "SETTINGS.file_dtype.str": "<u2",
    "narrow(np.array([65_535]), np.dtype('<u2'))": [65_535],
    "narrow(np.array([0, 7]), np.dtype('<u2'))": [0, 7],
    "narrow(np.array([0, 65_536]), np.dtype('<u2'))": ValueError("it gave the id 65536"),
    "narrow(np.array([65_536]), np.dtype('<u2'))": ValueError("65536"),
    "narrow(np.array([-1]), np.dtype('<u2'))": ValueError("-1"),
    "narrow(np.array([]), np.dtype('<u2'))": ValueError("ids must hold at least one"),
    "Manifest(SETTINGS).num_tokens('val')": 0,
    "Shard(1, 1, 'a', 'b').tokens": 1,
    "Shard(1)": TypeError("missing 3 required"),
    "shard_path('x', 'val', 12).name": "val_000012.bin",
    "starts_path('x', 'train', 10**7).name": "train_10000000.starts.bin",
    "open_manifest(new())": FileNotFoundError("no shards here"),
    "open_manifest(holding(''))": ValueError("is damaged: it holds no JSON"),
    "open_manifest(holding('{}'))": ValueError("format version 2, got None"),
    "open_manifest(holding('{\"format_version\": 2}'))": ValueError("is damaged: its SHA-256 is not"),
    "open_manifest(holding('{\"format_version\": true}'))": ValueError("format version 2, got True"),
    'open_manifest(holding(\'{"format_version": 2, "settings": 5}\'))': ValueError("is damaged"),
    "list(files_of(BARE))": [],
    "check_files(new(), [])": None,
    "check_files(new(), [], sums=True, progress=False)": None,
    "check_files(new(), files_of_shard(SETTINGS, 'train', 0, ONE))": FileNotFoundError("train_000000.bin is missing"),
    "len(list(files_of_shard(SETTINGS, 'val', 3, ONE)))": 2,
    "check_shards([ONE], 4)": None,
    "check_shards([ONE, ONE], 4)": ValueError("tokens must be an integer of at least 4"),
    "check_shards([Shard(1, -1, '', '')], 4)": ValueError("documents must be"),
    "check_settings(new(), SETTINGS, SETTINGS)": None,
    "check_settings(new(), SETTINGS, ShardSettings.of(CHARACTERS, shard_size=4))": ValueError("val_every 2 instead of"),
    "write_manifest(new(), BARE)": None,
    "write_manifest('/nowhere', BARE)": OSError("cannot be written"),
    "pieces_folder('a/b').name": "b.pieces",
    "surplus_files(new(), BARE)": set(),
    "names_of_shards(new())": set(),
    "refuse_shards(new())": None,
    "refuse_shards('/nowhere')": FileNotFoundError("No such file"),
    "names_of_shards('/nowhere')": FileNotFoundError("No such file"),
    "remove_unfinished(new())": None,
    "remove_unfinished('/nowhere')": FileNotFoundError("No such file"),
    "len(text_digest(''))": 32,
    "add_document(0, 1, b'') < 2**256": True,
    "add_document(2**256 - 1, 1, b'') < 2**256": True,
    "check_documents(new(), BARE, [])": None,
    "check_documents(new(), BARE, [bytes(32)])": ValueError("documents differ from the 0 that"),
}
TAKES_NO_DATA = {
    "Manifest": "a record; its methods declare what they take",
    **dict.fromkeys(
        ("shard_path", "starts_path", "files_of", "surplus_files", "text_digest"),
        "called with what writing and reading have checked",
    ),
}
