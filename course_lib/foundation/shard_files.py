"""The files of token shards: how they are named, written and checked.

A folder of shards is finished when its manifest is there, which is written last. Until
then `progress.json` tells how far it is, and a run that was killed goes on from there.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from course_lib.foundation.arguments import as_stream, check_integer
from course_lib.foundation.durable import (
    LOCK,
    TEMPORARY,
    DurableFile,
    checksum,
    only_writer,
    read_json,
    sync_folder,
    write_durably,
    write_json,
)
from course_lib.foundation.progress import progress_bar
from course_lib.foundation.tokenizing import (
    check_unicode,
    id_dtype,
    plain_tokenizer,
    smallest_dtype,
    tokenizer_hash,
)

FORMAT_VERSION = 1
SPLITS = ("train", "val")
MANIFEST, PROGRESS = "manifest.json", "progress.json"
NO_DOCUMENTS = bytes(32)  # names the documents before the first one

# What the files hold.


@dataclass(frozen=True)
class ShardSettings:
    """What the bytes of all shards depend on, besides the documents."""

    dtype: str  # "uint16", or "uint32" if the vocabulary needs it
    tokenizer: str  # a hash of it
    end_of_text_id: int | None  # put behind each text; None: nothing is
    shard_size: int  # ids
    val_every: int
    max_tokens: int | None

    @classmethod
    def of(
        cls,
        tokenizer: object,
        *,
        shard_size: int = 100_000_000,
        val_every: int = 100,
        max_tokens: int | None = None,
        end_of_text_id: int | None = None,
    ) -> ShardSettings:
        """Check the arguments of `write_shards`, and take down what decides."""
        tokenizer, end_of_text_id = plain_tokenizer(tokenizer, end_of_text_id)
        if max_tokens is not None:
            max_tokens = check_integer("max_tokens", max_tokens, minimum=1)
        widest = smallest_dtype(end_of_text_id or 0)
        return cls(
            dtype=np.promote_types(id_dtype(tokenizer), widest).name,
            tokenizer=tokenizer_hash(tokenizer),
            end_of_text_id=end_of_text_id,
            shard_size=check_integer("shard_size", shard_size, minimum=1),
            val_every=check_integer("val_every", val_every, minimum=1),
            max_tokens=max_tokens,
        )

    @property
    def file_dtype(self) -> np.dtype:
        """That of the ids in the files: the lowest byte first, on any machine."""
        return np.dtype(self.dtype).newbyteorder("<")

    def split_of(self, number: int) -> str:
        """The split of a document, by its number over all documents, from 1."""
        return "train" if number % self.val_every else "val"

    @property
    def hash(self) -> str:
        """One name for all of them."""
        return hashlib.sha256(repr(asdict(self)).encode()).hexdigest()


@dataclass(frozen=True)
class Shard:
    """What one file of ids holds, and the file beside it: where documents start."""

    tokens: int
    documents: int  # that start in it
    sha256: str  # of the ids
    starts_sha256: str


@dataclass(frozen=True)
class Manifest:
    """What `manifest.json` says of a finished folder.

    Attributes:
        settings: what the shards were written with.
        documents: one hash of all texts, in their order.
        shards: of each split, its shards in order.
    """

    settings: ShardSettings
    documents: str = NO_DOCUMENTS.hex()
    shards: dict[str, tuple[Shard, ...]] = field(
        default_factory=lambda: dict.fromkeys(SPLITS, ())
    )

    def num_tokens(self, split: str) -> int:
        """Tokens of a split."""
        return sum(shard.tokens for shard in self.shards[check_split(split)])

    def num_documents(self, split: str) -> int:
        """Documents of a split."""
        return sum(shard.documents for shard in self.shards[check_split(split)])

    def __str__(self) -> str:
        lines = [f"{'':<6}{'shards':>8}{'documents':>14}{'tokens':>26}"]
        counts = [(self.num_documents(s), self.num_tokens(s)) for s in SPLITS]
        totals = [max(1, sum(column)) for column in zip(*counts, strict=True)]
        for split, row in zip(SPLITS, counts, strict=True):
            cells = [
                f"{count:>16,} {count / total:>8.2%}"
                for count, total in zip(row, totals, strict=True)
            ]
            lines.append(f"{split:<6}{len(self.shards[split]):>8}" + "".join(cells))
        return "\n".join(lines)


@dataclass(frozen=True)
class Progress(Manifest):
    """What `progress.json` says of a folder that is not finished: so far.

    Attributes:
        number: of the last document that `documents` counts.
        next_document: of each split, the first one that is not wholly in its shards.
        ids_written: how many ids of that one are.
    """

    number: int = 0
    next_document: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(SPLITS, 1)
    )
    ids_written: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(SPLITS, 0)
    )


def shard_path(out_dir: str | os.PathLike, split: str, shard_index: int) -> Path:
    """Name the file of a shard's ids: `train_000000.bin`."""
    index = check_integer("shard_index", shard_index, minimum=0)
    return Path(out_dir) / f"{check_split(split)}_{index:06}.bin"


def starts_path(out_dir: str | os.PathLike, split: str, shard_index: int) -> Path:
    """Name the file of where documents start in a shard, in int64."""
    return shard_path(out_dir, split, shard_index).with_suffix(".starts.bin")


def check_split(split: object) -> str:
    """Return the name of a split, "train" or "val"; refuse anything else."""
    if not isinstance(split, str):
        raise TypeError(f"split must be a str, got {type(split).__name__}")
    if split not in SPLITS:
        raise ValueError(f"split must be 'train' or 'val', got {split!r}")
    return split


# Whether the files are what they should be.


def open_manifest(out_dir: str | os.PathLike) -> Manifest:
    """Read the manifest of a finished folder, and compare the size of every file.

    Raises:
        FileNotFoundError: there is no manifest, or a file that it lists is missing.
        ValueError: it is of another version or damaged, or a file has another size.
    """
    path = Path(out_dir) / MANIFEST
    if not path.is_file():
        begun = (Path(out_dir) / PROGRESS).is_file()
        reason = "the run was not finished; run it again" if begun else "no shards here"
        raise FileNotFoundError(f"no {path}: {reason}")
    manifest = _read_record(path, Manifest)
    check_files(out_dir, manifest)
    return manifest


def files_of(manifest: Manifest) -> Iterator[tuple[Path, int, str]]:
    """The name, the size and the SHA-256 of every file that a manifest lists."""
    width = np.dtype(manifest.settings.dtype).itemsize
    for split in SPLITS:
        for index, shard in enumerate(manifest.shards[split]):
            yield shard_path("", split, index), shard.tokens * width, shard.sha256
            starts = starts_path("", split, index)
            yield starts, shard.documents * 8, shard.starts_sha256


def check_files(
    out_dir: str | os.PathLike,
    manifest: Manifest,
    *,
    sums: bool = False,
    progress: bool | None = None,
) -> None:
    """Compare all files that a manifest lists with it: sizes, and sums if asked to.

    Raises:
        FileNotFoundError, ValueError: naming the file.
    """
    files = [
        (Path(out_dir) / path, size, sha) for path, size, sha in files_of(manifest)
    ]
    for path, size, _ in files:
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing, but it is listed")
        if path.stat().st_size != size:
            raise ValueError(
                f"{path} must have {size:,} bytes, got {path.stat().st_size:,}: it was "
                "cut off or altered"
            )
    if sums:
        for path, _, sha256 in progress_bar(
            files, "verifying", unit="file", progress=progress
        ):
            if checksum(path) != sha256:
                raise ValueError(f"{path} has another SHA-256: it was altered")


def surplus_files(out_dir: str | os.PathLike, manifest: Manifest) -> set[str]:
    """Name the files of shards in a folder that a manifest does not list."""
    return shard_files(out_dir) - {path.name for path, _, _ in files_of(manifest)}


def shard_files(out_dir: str | os.PathLike, ending: str = "") -> set[str]:
    """Name the files in a folder that have names of shards, and perhaps an ending."""
    names = rf"({'|'.join(SPLITS)})_\d+(\.starts)?\.bin"
    pattern = re.compile(names + re.escape(ending))
    return {name for name in os.listdir(out_dir) if pattern.fullmatch(name)}


def _check_settings(folder: Path, old: ShardSettings, new: ShardSettings) -> None:
    differences = [
        f"{name} {before!r} instead of {now!r}"
        for (name, before), now in zip(
            asdict(old).items(), asdict(new).values(), strict=True
        )
        if before != now
    ]
    if differences:
        raise ValueError(
            f"{folder} holds shards that were written with {', '.join(differences)}; "
            "choose another folder"
        )


def _write_record(path: Path, record: Manifest) -> None:
    extras = {"format_version": FORMAT_VERSION, "settings_hash": record.settings.hash}
    write_json(path, asdict(record) | extras)


def _read_record(path: Path, kind: type[Manifest]) -> Manifest:
    """Read a manifest or a progress, and check that it makes sense."""
    entries = read_json(path)
    version = entries.pop("format_version", None)
    if type(version) is not int or version != FORMAT_VERSION:
        raise ValueError(
            f"{path} must be of format version {FORMAT_VERSION}, got {version!r}"
        )
    try:
        settings = ShardSettings(**entries["settings"])
        if entries.pop("settings_hash") != settings.hash:
            raise ValueError("the settings do not have the hash that is given")
        entries["settings"] = settings
        np.dtype(settings.dtype)
        bytes.fromhex(entries["documents"])
        entries["shards"] = {
            split: tuple(Shard(**shard) for shard in entries["shards"][split])
            for split in SPLITS
        }
        for shards in entries["shards"].values():
            for index, shard in enumerate(shards):
                is_last = kind is Manifest and index == len(shards) - 1
                least = 1 if is_last else settings.shard_size
                check_integer(
                    "tokens", shard.tokens, minimum=least, maximum=settings.shard_size
                )
                check_integer("documents", shard.documents, minimum=0)
        record = kind(**entries)
        if kind is Progress:
            check_integer("number", record.number, minimum=0)
            for split in SPLITS:
                number, written = record.next_document[split], record.ids_written[split]
                check_integer("next_document", number, minimum=1)
                check_integer("ids_written", written, minimum=0)
        return record
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None


# Writing them.


def text_digest(text: str) -> bytes:
    """Return the SHA-256 of a text."""
    check_unicode(text)
    return hashlib.sha256(text.encode()).digest()


def next_chain(chain: bytes, digest: bytes) -> bytes:
    """Name all documents so far: a hash of the name of those before, and of the last.

    So 32 bytes tell whether the first million texts are the same as last time.
    """
    return hashlib.sha256(chain + digest).digest()


class ShardWriter:
    """Places encoded documents, one after another, and makes them durable.

    It does not encode. Whoever does, here or on many machines, gives it the documents
    in their order, and the bytes are the same. Use it as a context manager: it keeps
    the folder for itself.

    `progress.json` is written anew with each full shard. What it lists is kept when a
    run is killed, and nothing else: for each split its shards, and with which document,
    after how many of its ids, the next one begins.

    Attributes:
        manifest: of a folder that is finished already, else None.
    """

    def __init__(self, out_dir: str | os.PathLike, settings: ShardSettings):
        self.folder, self.settings = Path(out_dir), settings
        self.manifest: Manifest | None = None
        self._splits: dict[str, _SplitWriter] = {}
        self._cleanup = ExitStack()

    def __enter__(self) -> ShardWriter:
        leftovers = [self.folder / name for name in (PROGRESS, LOCK)]
        if (self.folder / MANIFEST).exists() and not any(p.exists() for p in leftovers):
            self.manifest = self._finished()  # perhaps where nobody may write
            return self
        self.folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as cleanup:
            cleanup.enter_context(only_writer(self.folder))
            if (self.folder / MANIFEST).exists():
                self.manifest = self._finished()
                # it was killed right before this
                (self.folder / PROGRESS).unlink(missing_ok=True)
            else:
                self._begin()
            for split in self._splits.values():
                cleanup.callback(split.discard)
            self._cleanup = cleanup.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self._cleanup.close()

    def _finished(self) -> Manifest:
        manifest = open_manifest(self.folder)
        _check_settings(self.folder, manifest.settings, self.settings)
        return manifest

    def _begin(self) -> None:
        """Go on after the shards that are finished, if they are what they should be."""
        path, begun = self.folder / PROGRESS, Progress(self.settings)
        if path.exists():
            begun = _read_record(path, Progress)
            _check_settings(self.folder, begun.settings, self.settings)
            check_files(self.folder, begun, sums=True)
        elif found := shard_files(self.folder):
            raise FileExistsError(
                f"{self.folder / min(found)} is in the way: nothing tells what it is; "
                "choose an empty folder"
            )
        records = {name + TEMPORARY for name in (MANIFEST, PROGRESS)}
        for name in shard_files(self.folder, TEMPORARY) | records:
            (self.folder / name).unlink(missing_ok=True)  # the killed run was writing
        self._begun = begun
        self._number, self._chain = begun.number, bytes.fromhex(begun.documents)
        self._is_checked = begun.number == 0
        self._splits = {
            split: _SplitWriter(self.folder, split, begun) for split in SPLITS
        }
        self._num_tokens = sum(
            shard.tokens for shards in begun.shards.values() for shard in shards
        )
        self._save()

    def needs(self, number: int) -> bool:
        """Say whether a document must be encoded: False if finished shards hold it."""
        return number >= self._splits[self.settings.split_of(number)].next_document

    def check(self, number: int, chain: bytes) -> None:
        """Compare the documents so far with those of the run that is gone on with.

        Args:
            number: of the last document, from 1; call it for each.
            chain: `next_chain` over the digests of all of them.
        """
        if number == self._begun.number:
            if chain.hex() != self._begun.documents:
                self._refuse_documents()
            self._is_checked = True

    def check_end(self, number: int) -> None:
        """Refuse documents that end too soon, after `number` of them."""
        if number < self._begun.number:
            self._refuse_documents()

    def _refuse_documents(self) -> None:
        raise ValueError(
            f"documents differ from those of the run that {self.folder} was begun "
            f"with, somewhere in the first {self._begun.number}"
        )

    def place(self, number: int, chain: bytes, ids: np.ndarray) -> bool:
        """Write a document that is needed into its split.

        Args:
            number: counted from 1 over all documents; those that are needed come in
                order.
            chain: `next_chain` over all documents up to this one.
            ids: with its end.

        Returns:
            False if it would exceed `max_tokens`; then nothing is written, and no
            further document may be placed.
        """
        split = self._splits[self.settings.split_of(number)]
        kept = split.ids_written if number == split.next_document else 0
        ids = narrow(ids, split.dtype)
        rest = ids[kept:]
        limit = self.settings.max_tokens
        if limit is not None and self._num_tokens + len(rest) > limit:
            return False
        self._num_tokens += len(rest)
        if number > self._number:
            self._number, self._chain = number, chain
        if not kept:
            split.starts.append(split.num_tokens)
        while len(rest):
            rest = rest[split.append(rest) :]
            if split.is_full:
                if not self._is_checked:  # the same documents would not fill it yet
                    self._refuse_documents()
                split.commit()
                written = len(ids) - len(rest)
                split.next_document = number if len(rest) else number + 1
                split.ids_written = written if len(rest) else 0
                self._save()
        return True

    def _save(self) -> None:
        splits = self._splits.items()
        progress = Progress(
            self.settings,
            self._chain.hex(),
            {split: tuple(writer.shards) for split, writer in splits},
            self._number,
            {split: writer.next_document for split, writer in splits},
            {split: writer.ids_written for split, writer in splits},
        )
        _write_record(self.folder / PROGRESS, progress)

    def finish(self) -> Manifest:
        """Write what is left, and the manifest last of all: now the folder counts.

        Raises:
            ValueError: no document has been placed.
        """
        if not self._number:
            raise ValueError(
                "documents must hold at least one, of no more than max_tokens ids"
            )
        if not self._is_checked:
            self._refuse_documents()
        for split in self._splits.values():
            if split.num_tokens:
                split.commit()
        shards = {name: tuple(split.shards) for name, split in self._splits.items()}
        self.manifest = Manifest(self.settings, self._chain.hex(), shards)
        _write_record(self.folder / MANIFEST, self.manifest)
        (self.folder / PROGRESS).unlink()
        sync_folder(self.folder)
        return self.manifest


class _SplitWriter:
    """The shards of one split: the finished ones, and the one that is being written."""

    def __init__(self, folder: Path, split: str, begun: Progress):
        self.folder, self.split = folder, split
        self.shards = list(begun.shards[split])
        self.next_document = begun.next_document[split]
        self.ids_written = begun.ids_written[split]
        self.size = begun.settings.shard_size
        self.dtype = begun.settings.file_dtype
        self.file: DurableFile | None = None
        self.num_tokens, self.starts = 0, []

    @property
    def is_full(self) -> bool:
        """Whether no further id fits."""
        return self.num_tokens == self.size

    def append(self, ids: np.ndarray) -> int:
        """Write as many ids as still fit, and return how many."""
        if self.file is None:
            self.file = DurableFile(self._path(shard_path))
        part = ids[: self.size - self.num_tokens]
        self.file.write(part.data)
        self.num_tokens += len(part)
        return len(part)

    def commit(self) -> None:
        """Make the shard durable, and begin another one."""
        starts = np.array(self.starts, dtype="<i8")
        starts_sha256 = write_durably(self._path(starts_path), starts.tobytes())
        sha256 = self.file.commit()
        shard = Shard(self.num_tokens, len(starts), sha256, starts_sha256)
        self.shards.append(shard)
        self.file, self.num_tokens, self.starts = None, 0, []

    def discard(self) -> None:
        if self.file is not None:
            self.file.discard()

    def _path(self, naming: Callable[[Path, str, int], Path]) -> Path:
        return naming(self.folder, self.split, len(self.shards))


def narrow(ids: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Give the ids of a document the dtype of the files.

    `astype` alone would wrap around.

    Raises:
        ValueError: there are none, or one does not fit.
    """
    ids = as_stream(ids)
    if not ids.size:
        raise ValueError("ids must hold one at least: a document has an end")
    if ids.dtype != dtype and not (ids.min() >= 0 and ids.max() <= np.iinfo(dtype).max):
        wrong = ids.min() if ids.min() < 0 else ids.max()
        raise ValueError(
            f"tokenizer must keep to its vocabulary, whose ids are {dtype.name}; it "
            f"gave the id {wrong}"
        )
    return np.ascontiguousarray(ids, dtype=dtype)
