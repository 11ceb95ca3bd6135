"""Hostile calls of the writer of shards: ids that are none, documents in a wrong order, and after the end."""

import atexit
import itertools
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from course_lib.foundation import CharTokenizer
from course_lib.foundation.durable import append_line
from course_lib.token_shards.shard_files import Shard, ShardSettings
from course_lib.token_shards.shard_writer import ShardWriter

ROOM = tempfile.TemporaryDirectory(prefix="course-hostile-")
atexit.register(ROOM.cleanup)
NUMBERS = itertools.count()
SETTINGS = ShardSettings.of(CharTokenizer("abc"), shard_size=4, val_every=2)


def new():
    return Path(ROOM.name) / str(next(NUMBERS))


def written(*documents, settings=SETTINGS):
    with ShardWriter(new(), settings) as writer:
        for ids in documents:
            writer.wants(bytes(32))
            writer.place(np.asarray(ids))
        return [(shard.tokens, shard.documents) for shard in writer.finish().shards["train"]]


def wanted(digest):
    with ShardWriter(new(), SETTINGS) as writer:
        return writer.wants(digest)


def goes_on(settings=SETTINGS, **changes):
    """Go on with a run that has written down one shard, perhaps with something wrong in it."""
    folder, shard = new(), asdict(Shard(4, 1, "", ""))
    folder.mkdir()
    line = {"split": "train", "shard": shard, "next_document": 2, "ids_written": 0, "number": 1, "documents": "0"}
    append_line(folder / "progress.jsonl", {"settings": asdict(SETTINGS)})
    append_line(folder / "progress.jsonl", line | changes)
    with ShardWriter(folder, settings):
        pass


CALLS = {
    "goes_on()": FileNotFoundError("train_000000.bin is missing"),
    "goes_on(replace(SETTINGS, shard_size=5))": ValueError("were written with shard_size 4 instead of 5"),
    "goes_on(documents='zz')": ValueError("progress.jsonl is damaged: ValueError"),
    "goes_on(documents=None)": ValueError("progress.jsonl is damaged: TypeError"),
    "goes_on(next_document=-1)": ValueError("progress.jsonl is damaged: ValueError"),
    "goes_on(split='test')": ValueError("progress.jsonl is damaged: KeyError"),
    "written([1, 2, 3])": [(3, 1)],
    "written([1] * 9, [1], [2])": [(4, 1), (4, 0), (2, 1)],
    "written([1, 2**16])": ValueError("it gave the id 65536"),
    "written()": ValueError("documents must hold at least one"),
    "written([1, -1])": ValueError("it gave the id -1"),
    "written([1.5])": TypeError("ids must be integers"),
    "written(np.array([], dtype=np.uint8))": ValueError("ids must hold at least one"),
    "wanted(bytes(32))": True,
    "wanted(b'x')": ValueError("digest must be 32 bytes"),
    "wanted('x' * 32)": ValueError("digest must be 32 bytes"),
    "ShardWriter(new(), SETTINGS).manifest": None,
    "ShardWriter(new(), SETTINGS).wants(bytes(32))": ValueError("must be used inside `with`"),
    "ShardWriter(new(), SETTINGS).finish()": ValueError("must be used inside `with`"),
}
