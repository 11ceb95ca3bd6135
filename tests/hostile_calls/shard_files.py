"""Hostile calls of the files of shards: their names, settings, manifests, and the writer of encoded documents."""

import atexit
import itertools
import tempfile
from pathlib import Path

import numpy as np

from course_lib.foundation import CharTokenizer, ShardSettings, ShardWriter
from course_lib.foundation.shard_files import Manifest, Progress, Shard

ROOM = tempfile.TemporaryDirectory(prefix="course-hostile-")
atexit.register(ROOM.cleanup)
NUMBERS = itertools.count()
CHARACTERS = CharTokenizer("abc")
SETTINGS = ShardSettings.of(CHARACTERS, shard_size=4, val_every=2)
BARE = Manifest(SETTINGS)


def new():
    path = Path(ROOM.name) / str(next(NUMBERS))
    path.mkdir()
    return path


def holding(text):
    folder = new()
    (folder / "manifest.json").write_text(text)
    return folder


def written(*documents, settings=SETTINGS):
    with ShardWriter(new(), settings) as writer:
        for number, ids in enumerate(documents, start=1):
            writer.place(number, bytes(32), np.asarray(ids))
        return [(shard.tokens, shard.documents) for shard in writer.finish().shards["train"]]


class Strange:
    vocab_size = 2**33

    def encode(self, text):
        return []


CALLS = {
    "ShardSettings.of(CHARACTERS).dtype": "uint16",
    "ShardSettings.of(CHARACTERS, end_of_text_id=np.int32(70_000)).dtype": "uint32",
    "ShardSettings.of(CHARACTERS, shard_size=0)": ValueError("shard_size must be"),
    "ShardSettings.of(CHARACTERS, val_every=1.0)": TypeError("val_every must be"),
    "ShardSettings.of(CHARACTERS, max_tokens=False)": TypeError("max_tokens must be"),
    "ShardSettings.of(5)": TypeError("tokenizer must have a method encode(text)"),
    "ShardSettings.of(Strange(), end_of_text_id=0)": ValueError("vocab_size must be"),
    "ShardSettings.of(Strange())": ValueError("end_of_text_id must be given"),
    "SETTINGS.file_dtype.str": "<u2",
    "narrow([65_535], np.dtype('<u2'))": [65_535],
    "narrow([65_536], np.dtype('<u2'))": ValueError("65536"),
    "narrow([-1], np.dtype('<u2'))": ValueError("-1"),
    "narrow([], np.dtype('<u2'))": ValueError("ids must hold one at least"),
    "narrow([0.5], np.dtype('<u2'))": TypeError("ids must"),
    "Manifest(SETTINGS).num_tokens('val')": 0,
    "Manifest(SETTINGS).num_documents('test')": ValueError("split must be 'train' or 'val'"),
    "Manifest(SETTINGS).num_tokens(0)": TypeError("split must be a str"),
    "Progress(SETTINGS).next_document": {"train": 1, "val": 1},
    "Progress()": TypeError("missing 1 required"),
    "Shard(1, 1, 'a', 'b').tokens": 1,
    "Shard(1)": TypeError("missing 3 required"),
    "shard_path('x', 'val', 12).name": "val_000012.bin",
    "shard_path('x', 'vale', 12)": ValueError("split must be"),
    "shard_path(None, 'val', 12)": TypeError("NoneType"),
    "shard_path('x', 'val', -1)": ValueError("shard_index must be"),
    "starts_path('x', 'train', 10**7).name": "train_10000000.starts.bin",
    "starts_path('x', b'train', 1)": TypeError("split must be a str"),
    "starts_path('x', 'train', 1.0)": TypeError("shard_index must be"),
    "check_split('val')": "val",
    "check_split('Val')": ValueError("split must be 'train' or 'val', got 'Val'"),
    "check_split(None)": TypeError("split must be a str"),
    "open_manifest(new())": FileNotFoundError("no shards here"),
    "open_manifest(holding(''))": ValueError("is damaged: it holds no JSON"),
    "open_manifest(holding('{}'))": ValueError("format version 1, got None"),
    "open_manifest(holding('{\"format_version\": 1}'))": ValueError("is damaged: 'settings'"),
    "open_manifest(holding('{\"format_version\": true}'))": ValueError("format version 1, got True"),
    'open_manifest(holding(\'{"format_version": 1, "settings": 5}\'))': ValueError("is damaged"),
    "list(files_of(BARE))": [],
    "list(files_of(None))": AttributeError("settings"),
    "check_files(new(), BARE)": None,
    "check_files(new(), BARE, sums=True, progress=False)": None,
    "check_files(new(), Manifest(SETTINGS, '', {'train': (Shard(1, 1, '', ''),), 'val': ()}))": FileNotFoundError(
        "train_000000.bin is missing, but it is listed"
    ),
    "surplus_files(new(), BARE)": set(),
    "surplus_files(new(), None)": AttributeError("settings"),
    "shard_files(new())": set(),
    "shard_files(new(), '.tmp')": set(),
    "shard_files('/nowhere')": FileNotFoundError("No such file"),
    "len(text_digest(''))": 32,
    "text_digest(5)": TypeError("text must be a str"),
    "text_digest('\\ud800')": ValueError("text must be Unicode"),
    "len(next_chain(bytes(32), b''))": 32,
    "next_chain('', b'')": TypeError("concatenate"),
    "written([1, 2, 3])": [(3, 1)],
    "written([1] * 9, [1], [2])": [(4, 1), (4, 0), (2, 1)],
    "written([1, 2**16])": ValueError("it gave the id 65536"),
    "written()": ValueError("documents must hold at least one"),
    "written([1, -1])": ValueError("it gave the id -1"),
    "written([1.5])": TypeError("ids must be integers"),
    "written(np.array([], dtype=np.uint8))": ValueError("ids must hold one at least"),
    "ShardWriter(new(), SETTINGS).manifest": None,
    "ShardWriter(None, SETTINGS)": TypeError("NoneType"),
}
