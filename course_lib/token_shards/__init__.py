"""Lesson 11: a corpus as flat files of ids, complete or not there, read as one stream.

Tokenizing is done once and kept, in files without a header that `np.memmap` reads
without this package, and in a manifest that says what they hold. A killed run loses
nothing, and files that differ from what was written are refused. The shards serve as
one stream wherever the course takes ids.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import asdict
from functools import cached_property
from itertools import chain, islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import DTypeLike

from course_lib.foundation import (
    Count,
    FilePath,
    Stream,
    as_places,
    checked,
    encode_named,
    iterate_texts,
    look_at_first_texts,
    plain_tokenizer,
    progress_bar,
)
from course_lib.token_shards import shard_files
from course_lib.token_shards.shard_files import Manifest, ShardSettings, Split
from course_lib.token_shards.shard_tasks import (
    Job,
    TaskResult,
    TaskWriter,
    check_texts,
    find_result,
    run_job,
)

MAPS = 2**14  # a quarter of the maps that Linux lets a process have

# Writing.


@checked
def write_shards(
    documents: Iterable,
    tokenizer: object,
    out_dir: FilePath,
    *,
    text_column: str = "text",
    progress: bool | None = None,
    **settings: int | None,
) -> Manifest:
    """Tokenize documents once, into flat files of ids that any program can map.

    Some documents at a time are encoded into `OUT_DIR.pieces`, and the shards are put
    together from there, so that twice the room is needed until all is done. A run that
    was killed is finished by running it again with the same documents. What it has
    encoded is kept, and the texts are compared by a hash instead of being encoded
    again. The result is the same, byte for byte. A folder that is already finished is
    compared with the documents in the same way, and returned as it is.

    Args:
        documents: texts, lists of texts, or rows with a column of texts; they are read
            once, and not kept.
        tokenizer: what `encode_corpus` takes; one of `tokenizers` uses all cores.
        out_dir: a folder for these shards alone; it is made if it is not there.
        text_column: which column of rows holds the texts.
        progress: show a progress bar; by default unless `COURSE_PROGRESS=0`.
        settings: `shard_size` (by default 100 million ids), `val_every` (100),
            `max_tokens` and `end_of_text_id`; see `ShardSettings.of`.

    Raises ValueError if there is no document, or if the folder holds shards of another
    tokenizer, other settings or other documents, or has lost some, and then overwrites
    nothing. Bytes that have changed since are found by `verify_shards` alone. Raises
    OSError, for example, if another run is writing there.
    """
    tokenizer, end = plain_tokenizer(tokenizer, settings.pop("end_of_text_id", None))
    settings = ShardSettings.of(tokenizer, end_of_text_id=end, **settings)
    job = Job(out_dir, settings, tokenizer=tokenizer)
    texts = progress_bar(
        iterate_texts(documents, text_column),
        "encoding documents",
        total=len(documents) if isinstance(documents, Sized) else None,
        unit="text",
        progress=progress,
    )
    with contextlib.closing(iter(texts)) as texts:
        results = encode_in_tasks(job, texts)
        return run_job(job, tokenizer, texts, results, progress=progress)


def encode_in_tasks(job: Job, texts: Iterator[str]) -> Iterator[TaskResult]:
    """Encode texts in tasks of about a shard each.

    The texts of tasks that a killed run has done are compared, and not encoded again.
    """
    settings, number, documents = job.settings, 0, 0
    left = settings.max_tokens or np.inf
    while result := find_result(job, number):
        check_texts(job, result, documents, texts)
        yield result
        number, documents = number + 1, documents + result.documents
        left -= sum(result.tokens)
    first = list(islice(texts, 10))
    look_at_first_texts(first, job.tokenizer)
    encoded = encode_named(
        enumerate(chain(first, texts), start=documents),
        job.tokenizer,
        end_of_text_id=settings.end_of_text_id,
    )
    while True:
        with TaskWriter(job, number) as writer:
            for text, ids in encoded:
                writer.write(text, ids)
                if writer.num_tokens >= min(settings.shard_size, left):
                    break
            if not writer.num_tokens:
                return
            yield writer.commit()
        number, left = number + 1, left - writer.num_tokens


# Reading.


@checked
def verify_shards(out_dir: FilePath, *, progress: bool | None = None) -> Manifest:
    """Read every file of a finished folder and compare its SHA-256 with the manifest's.

    Returns the manifest. Raises FileNotFoundError or ValueError with the name of a file
    that is missing, damaged, or not in the manifest.
    """
    manifest = shard_files.open_manifest(out_dir)
    files = shard_files.files_of(manifest)
    shard_files.check_files(out_dir, files, sums=True, progress=progress)
    if surplus := shard_files.surplus_files(out_dir, manifest):
        raise ValueError(f"{out_dir / min(surplus)} is not in the manifest")
    return manifest


@checked
def load_shard(out_dir: FilePath, split: Split, shard_index: Count) -> np.memmap:
    """Map one shard into memory: its ids, uint16 or uint32, read-only.

    Raises FileNotFoundError or ValueError if the folder is not what its manifest says,
    and IndexError if the split has no such shard.
    """
    manifest = shard_files.open_manifest(out_dir)
    shards = manifest.shards[split]
    if shard_index >= len(shards):
        raise IndexError(f"shard_index must be below {len(shards)}, got {shard_index}")
    return _map(out_dir, manifest, split, shard_index)


def _map(
    out_dir: str | os.PathLike, manifest: Manifest, split: str, index: int
) -> np.memmap:
    path = shard_files.shard_path(out_dir, split, index)
    tokens = manifest.shards[split][index].tokens
    dtype = manifest.settings.file_dtype
    try:
        return np.memmap(path, dtype=dtype, mode="r", shape=(tokens,))
    except ValueError:  # shorter than when the stream was opened
        raise ValueError(f"{path} must hold {tokens:,} ids, but was cut off") from None


def _view(path: Path, size: int, dtype: DTypeLike) -> np.ndarray:
    """Map `size` numbers of a file, read-only.

    `np.memmap` would keep the file open, and systems limit how many may be. And slicing
    it takes ten times as long as slicing a plain array.
    """
    if not size:  # nothing can be mapped
        return np.empty(0, dtype=dtype)
    num_bytes = size * np.dtype(dtype).itemsize
    name = os.fsencode(path).decode()  # PyTorch takes UTF-8, whatever the locale is
    try:
        mapped = torch.from_file(name, shared=False, size=num_bytes, dtype=torch.uint8)
    except RuntimeError:  # shorter than when the stream was opened, or gone
        path.stat()
        raise ValueError(f"{path} must hold {size:,} ids, but was cut off") from None
    view = mapped.numpy().view(dtype)
    view.flags.writeable = False
    return view


class ShardedStream(Stream):
    """The shards of a split as one stream of N ids, read from their files.

    It serves wherever the course takes `ids`. `gather_windows` and all that uses it
    read only the windows that they need, and what wants an array gets a copy of all.
    But around what is read, a system may read megabytes ahead, so if the files don't
    fit into memory, read them in large blocks (`BlockOrder`).

    A shard is mapped when it is read, again in each process: a worker gets the names of
    files, not their contents. Systems limit how many maps a process may have, so only
    the `MAPS` shards that were read last stay mapped. The sizes of all files are
    checked here, and the contents by `verify_shards`. If a file is cut off while it is
    mapped, the system ends the process (SIGBUS), and no program can help that.

    Args:
        out_dir: what `write_shards` wrote.
        split: "train" or "val".
        cross: windows may cross from a shard into the next one; otherwise each shard is
            a stream of its own, with a tail of its own.
        check_sizes: look at the size of every file; of many ranks, one is enough.

    Raises FileNotFoundError or ValueError if the folder is not what its manifest says.
    """

    @checked
    def __init__(
        self,
        out_dir: FilePath,
        split: Split,
        *,
        cross: bool = True,
        check_sizes: bool = True,
    ):
        self.folder = out_dir.resolve()
        self.split = split
        self.cross = cross
        self.manifest = shard_files.open_manifest(self.folder, check_sizes=check_sizes)
        tokens = [shard.tokens for shard in self.manifest.shards[split]]
        if not tokens:
            raise ValueError(
                f"split {split!r} of {out_dir} is empty: val_every was "
                f"{self.manifest.settings.val_every}"
            )
        self.dtype = np.dtype(self.manifest.settings.dtype)
        # of shard k, the first id is number shard_borders[k] of the stream
        self.shard_borders = np.cumsum([0, *tokens], dtype=np.int64)
        self.borders = self.shard_borders[[0, -1]] if cross else self.shard_borders
        self._maps: OrderedDict[int, np.ndarray] = OrderedDict()
        self._process = os.getpid()

    @cached_property
    def document_starts(self) -> np.ndarray:
        """Where documents start in the stream, int64, in order."""
        starts = []
        for shard, of_shard in enumerate(self.manifest.shards[self.split]):
            path = shard_files.starts_path(self.folder, self.split, shard)
            inside = _view(path, of_shard.documents, "<i8")
            starts.append(inside + self.shard_borders[shard])
        return np.concatenate(starts)

    @cached_property
    def identity(self) -> dict[str, str | int | bool | None]:
        """What the ids depend on, by name, but not the files that they are cut into."""
        settings = asdict(self.manifest.settings)
        if self.cross:
            del settings["shard_size"]
        settings["tokenizer"] = settings["tokenizer"][:16]
        documents = self.manifest.documents[:16]
        return {"documents": documents, "split": self.split, **settings}

    @property
    def fingerprint(self) -> str:
        """One name for all of `identity`."""
        named = repr(sorted(self.identity.items()))
        return hashlib.sha256(named.encode()).hexdigest()[:16]

    def copy_whole(self, starts: np.ndarray, length: int) -> np.ndarray:
        """Copy `length` ids from each start, across borders of shards too. One slice
        for each window is faster than grouping a batch by shard."""
        flat = starts.ravel()
        shards = np.searchsorted(self.shard_borders, flat, side="right") - 1
        places = flat - self.shard_borders[shards]
        crossing = np.flatnonzero(flat + length > self.shard_borders[shards + 1])
        shards, places, maps = shards.tolist(), places.tolist(), self._mapped(shards)
        pieces = [
            maps[shard][place : place + length]
            for shard, place in zip(shards, places, strict=True)
        ]
        for row in crossing[::-1].tolist():
            pieces[row : row + 1] = self._pieces(int(flat[row]), length)
        if not pieces:
            return np.empty((*starts.shape, length), dtype=self.dtype)
        return np.concatenate(pieces).reshape(*starts.shape, length)

    def _pieces(self, start: int, length: int) -> list[np.ndarray]:
        """View neighboring ids, shard by shard."""
        stop = start + length
        begins = self.shard_borders
        first, last = np.searchsorted(begins, [start, stop - 1], side="right") - 1
        shards = range(first, last + 1)
        maps = self._mapped(shards)
        return [maps[k][max(0, start - begins[k]) : stop - begins[k]] for k in shards]

    def _mapped(self, shards: Iterable[int]) -> Mapping[int, np.ndarray]:
        """Map the shards that are needed, and forget those not read for longest."""
        if self._process != os.getpid():  # a worker that was forked
            self._maps, self._process = OrderedDict(), os.getpid()
        asked = set(shards)
        for shard in asked:
            if shard not in self._maps:
                path = shard_files.shard_path(self.folder, self.split, shard)
                tokens = self.manifest.shards[self.split][shard].tokens
                self._maps[shard] = _view(
                    path, tokens, self.manifest.settings.file_dtype
                )
            self._maps.move_to_end(shard)
        while len(self._maps) > max(MAPS, len(asked)):
            self._maps.popitem(last=False)
        return self._maps

    def __getitem__(self, index: object) -> np.ndarray:
        if not isinstance(index, slice):
            return self.copy_whole(as_places(index, len(self)), 1)[..., 0][()]
        chosen = range(*index.indices(len(self)))
        if not chosen:
            return np.empty(0, dtype=self.dtype)
        low, high = min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1])
        pieces = self._pieces(low, high + 1 - low)
        ids = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        return ids[:: chosen.step]

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("copy must not be False: the ids lie in several files")
        return np.concatenate(self._pieces(0, len(self))).astype(dtype or self.dtype)

    def __getstate__(self) -> dict:
        return self.__dict__ | {"_maps": OrderedDict()}
