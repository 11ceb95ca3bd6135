"""The files of token shards, and how they are named, described and checked.

A folder is finished when it has a manifest, because that is written last.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, TypeAlias

import numpy as np

from course_lib.foundation import (
    TEMPORARY,
    AtLeast,
    FilePath,
    Length,
    check_choice,
    checked,
    checksum,
    encode_each,
    id_dtype,
    plain_tokenizer,
    progress_bar,
    read_json,
    smallest_dtype,
    write_json,
)
from course_lib.token_shards.hashing import tokenizer_hash

FORMAT_VERSION = 3
SPLITS = ("train", "val")  #: among which documents are divided
MANIFEST = "manifest.json"  #: describes a finished folder
SHARD = re.compile(rf"({'|'.join(SPLITS)})_\d+(\.starts)?\.bin")
UNFINISHED = re.compile(
    rf"({SHARD.pattern}|{re.escape(MANIFEST)})(\.\w+)*{re.escape(TEMPORARY)}"
)
NO_DOCUMENTS = 0  #: the name of no documents; see `add_document`

#: what a tokenizer encodes to show that it is the one of the shards: where tokenizers
#: differ, they differ in digits, spaces, line breaks, signs, case and accents. These
#: texts never change, or finished folders would no longer know their tokenizer. Lesson
#: 7's `VERIFICATION_SAMPLES` are for readers, and may grow.
PROBE = (
    "The tide came in.",
    "They'll say DON'T, l’été, U.S.A., e\u0301",
    "1234567 3.14 1.5e-3 2,000,000",
    "def f(my_var_2):\n    return a!=b\n\n\n\ttab  two   three \r\nend ",
    "<think>\nOkay</think> [INST] <|user|>",
    "café 中文，日本 한국어 हिन्दी 👩‍🚀 \u200b\u00a0",
)

MEGATRON_INDEX = b"MMIDIDX\0\0"  # how an index of Megatron begins
#: how a file of llm.c begins, after which the ids have this dtype
LLM_C = {
    (20240520).to_bytes(4, "little"): "uint16",
    (20240801).to_bytes(4, "little"): "uint32",
}


def as_split(name: str, value: object) -> str:
    """Return the name of a split. A number in its place comes of a call such as
    `load_shard("train", 0)`, without the folder."""
    if isinstance(value, int) and not isinstance(value, bool):
        raise TypeError(
            f"{name} must be one of {', '.join(map(repr, SPLITS))}, got {value}: the "
            "folder of the shards comes first, as in load_shard(out_dir, 'train', 0)"
        )
    return check_choice(name, value, SPLITS)


Split: TypeAlias = Annotated[str, as_split]

# What the files hold.


@dataclass(frozen=True)
class ShardSettings:
    """The settings that, with the documents, determine the bytes of all shards."""

    dtype: str  # "uint16", or "uint32" if the vocabulary needs it
    tokenizer: str  # a hash of it
    end_of_text_id: int | None  # put after each text, or None if nothing is
    shard_size: int  # ids
    val_every: int
    max_tokens: int | None

    @classmethod
    @checked
    def of(
        cls,
        tokenizer: object,
        *,
        shard_size: Length = 100_000_000,
        val_every: Annotated[int, AtLeast(1, 2**62)] = 100,
        max_tokens: Length | None = None,
        end_of_text_id: int | None = None,
    ) -> ShardSettings:
        """Check settings, and what a tokenizer needs.

        Args:
            tokenizer: what `encode_corpus` takes.
            shard_size: the most ids in a file. Documents may cross from one to the
                next.
            val_every: counted from 1, every document whose number it divides goes to
                the split `val`, and all others go to `train`.
            max_tokens: the most ids of both splits together. The first document that
                would exceed this number is left out, with all that follow.
            end_of_text_id: by default that of the tokenizer; see `encode_corpus`.
        """
        tokenizer, end_of_text_id = plain_tokenizer(tokenizer, end_of_text_id)
        widest = smallest_dtype(end_of_text_id or 0)
        return cls(
            dtype=np.promote_types(id_dtype(tokenizer), widest).name,
            tokenizer=tokenizer_hash(tokenizer),
            end_of_text_id=end_of_text_id,
            shard_size=shard_size,
            val_every=val_every,
            max_tokens=max_tokens,
        )

    @property
    def file_dtype(self) -> np.dtype:
        """The dtype of the ids in the files, with the lowest byte first everywhere."""
        return np.dtype(self.dtype).newbyteorder("<")

    def split_of(self, number: int) -> str:
        """The split of a document, given its number among all documents, from 1."""
        return "train" if number % self.val_every else "val"


@dataclass(frozen=True)
class Shard:
    """One file of ids, and the file beside it, which says where documents start."""

    tokens: int
    documents: int  # the number of documents that start in it
    sha256: str  # of the file of ids
    starts_sha256: str


@dataclass(frozen=True)
class Manifest:
    """The content of `manifest.json`, which describes a finished folder."""

    settings: ShardSettings  #: the settings that the shards were written with
    #: a name for all texts, which also depends on their numbers; see `add_document`
    documents: str = f"{NO_DOCUMENTS:064x}"
    #: for each split its shards, in order
    shards: dict[str, tuple[Shard, ...]] = field(
        default_factory=lambda: dict.fromkeys(SPLITS, ())
    )
    #: a hash of the ids that the tokenizer gives to fixed texts; see `probe_tokenizer`
    probe: str = ""

    def check_tokenizer(self, tokenizer: object) -> None:
        """Refuse a tokenizer that gives other ids than the one of these shards.

        The files of the two need not be the same. Both have to give the same ids to a
        few fixed texts, with the end that follows each.

        Raises ValueError if it doesn't, or if it ends texts in another way.
        """
        if probe_tokenizer(tokenizer, self.settings.end_of_text_id) != self.probe:
            raise ValueError(
                "tokenizer gives other ids than the one that wrote these shards. With "
                "the same vocabulary it may still have another normalizer, another "
                "pre-tokenizer or another end: compare them with those of the "
                "tokenizer.json that was used for writing"
            )

    @checked
    def num_tokens(self, split: Split) -> int:
        """Tokens of a split."""
        return sum(shard.tokens for shard in self.shards[split])

    @checked
    def num_documents(self, split: Split) -> int:
        """Documents of a split."""
        return sum(shard.documents for shard in self.shards[split])

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


def probe_tokenizer(tokenizer: object, end_of_text_id: int | None) -> str:
    """Hash the ids that a tokenizer gives to the texts of `PROBE`.

    `tokenizer_hash` tells what a tokenizer holds, and this what it does. A text that it
    refuses counts as refused. A tokenizer that isn't of `tokenizers` or `transformers`
    is not loaded from their files, so the hash of what it holds is enough.
    """
    plain, end_of_text_id = plain_tokenizer(tokenizer, end_of_text_id)
    if not hasattr(plain, "encode_batch_fast"):
        return tokenizer_hash(plain)
    sha256 = hashlib.sha256()
    for text in PROBE:
        encoded = encode_each([text], plain, end_of_text_id=end_of_text_id)
        try:
            ids = next(encoded).tolist()
        except ValueError:
            ids = None
        sha256.update(f"{ids}\n".encode())
    return sha256.hexdigest()


def shard_path(out_dir: str | os.PathLike, split: str, shard_index: int) -> Path:
    """Name the file of a shard's ids: `train_000000.bin`."""
    return Path(out_dir) / f"{split}_{shard_index:06}.bin"


def starts_path(out_dir: str | os.PathLike, split: str, shard_index: int) -> Path:
    """Name the file that says, in int64, where documents start in a shard."""
    return shard_path(out_dir, split, shard_index).with_suffix(".starts.bin")


def pieces_folder(out_dir: Path) -> Path:
    """Name the folder beside the shards in which workers leave their results."""
    return out_dir.with_name(out_dir.name + ".pieces")


# Checks of the files.


@checked
def open_manifest(out_dir: FilePath, *, check_sizes: bool = True) -> Manifest:
    """Read the manifest of a finished folder, and check the size of every file.

    Of many ranks, one is enough to check them: the others leave out `check_sizes`.

    Raises FileNotFoundError if a file is missing, and ValueError if one has another
    size, or if the manifest is damaged or of another version.
    """
    path = out_dir / MANIFEST
    if not path.is_file():
        begun = pieces_folder(out_dir).is_dir()
        reason = "the run was not finished; run it again" if begun else "no shards here"
        for other in sorted(out_dir.glob("*.bin")):
            if found := whose_ids(other):
                reason = f"{other.name} holds {found}"
                break
        raise FileNotFoundError(f"no {path}: {reason}")
    manifest = _read_manifest(path)
    if check_sizes:
        check_files(out_dir, files_of(manifest))
    return manifest


def whose_ids(path: Path) -> str:
    """Say whose ids a file holds, and how to read them, if its first bytes, or those of
    the index beside it, tell; otherwise return an empty text."""
    index = path.with_suffix(".idx")
    if index.is_file() and _first_bytes(index, len(MEGATRON_INDEX)) == MEGATRON_INDEX:
        return (
            f"ids of Megatron, and {index.name} says how to read them: use Megatron's "
            "own reader, or tokenize the texts again"
        )
    if dtype := LLM_C.get(_first_bytes(path, 4)):
        return (
            "ids of llm.c behind a header of 1,024 bytes: they are "
            f"np.memmap({path.name!r}, {dtype!r}, 'r', offset=1024)"
        )
    return ""


def _first_bytes(path: Path, count: int) -> bytes:
    with path.open("rb") as file:
        return file.read(count)


def files_of(manifest: Manifest) -> Iterator[tuple[Path, int, str]]:
    """The name, the size and the SHA-256 of every file that a manifest lists."""
    for split in SPLITS:
        for index, shard in enumerate(manifest.shards[split]):
            yield from files_of_shard(manifest.settings, split, index, shard)


def files_of_shard(
    settings: ShardSettings, split: str, index: int, shard: Shard
) -> Iterator[tuple[Path, int, str]]:
    """The same for the files of one shard: its ids, and where documents start."""
    size = shard.tokens * settings.file_dtype.itemsize
    yield shard_path("", split, index), size, shard.sha256
    yield starts_path("", split, index), shard.documents * 8, shard.starts_sha256


def check_files(
    out_dir: Path,
    files: Iterable[tuple[Path, int, str]],
    *,
    sums: bool = False,
    progress: bool | None = None,
) -> None:
    """Check the sizes of files, given as by `files_of`, and with `sums` their SHA-256.

    A missing or different file is a FileNotFoundError or a ValueError that names it.
    """
    files = [(out_dir / path, size, sha256) for path, size, sha256 in files]
    for path, size, _ in files:
        try:
            found = path.stat().st_size
        except FileNotFoundError:
            raise FileNotFoundError(f"{path} is missing, but it is listed") from None
        if found != size:
            raise ValueError(
                f"{path} must have {size:,} bytes, got {found:,}: it was cut off or "
                "altered"
            )
    if sums:
        for path, _, sha256 in progress_bar(
            files, "verifying", unit="file", progress=progress
        ):
            if checksum(path) != sha256:
                raise ValueError(f"{path} has another SHA-256: it was altered")


def surplus_files(out_dir: Path, manifest: Manifest) -> set[str]:
    """Name the shard files in a folder that a manifest does not list."""
    return names_of_shards(out_dir) - {path.name for path, _, _ in files_of(manifest)}


def names_of_shards(out_dir: Path) -> set[str]:
    """Name the files in a folder whose names are those of shard files."""
    return {name for name in os.listdir(out_dir) if SHARD.fullmatch(name)}


def check_settings(folder: Path, old: dict[str, object], new: dict) -> None:
    """Refuse to mix shards with different settings in one folder, and name these."""
    differences = [
        f"{name} {old[name]!r} instead of {value!r}"
        for name, value in new.items()
        if old[name] != value
    ]
    if differences:
        raise ValueError(
            f"{folder} holds shards that were written with {', '.join(differences)}; "
            "choose another folder"
        )


def write_manifest(out_dir: Path, manifest: Manifest) -> None:
    """Write the manifest, durably. From now on the folder is finished."""
    entries = asdict(manifest)
    entries["format_version"] = FORMAT_VERSION
    write_json(out_dir / MANIFEST, entries | {"sha256": _hash_of(entries)})


def _hash_of(entries: dict) -> str:
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()


def _read_manifest(path: Path) -> Manifest:
    """Read a manifest, and check that it is the one that was written."""
    entries = read_json(path)
    version = entries.get("format_version")
    if version != FORMAT_VERSION:
        wanted = f"format version {FORMAT_VERSION}"
        raise ValueError(f"{path} must be of {wanted}, got {version!r}")
    if entries.pop("sha256", None) != _hash_of(entries):
        raise ValueError(f"{path} is damaged: its SHA-256 is not the one that it says")
    shards = {
        split: tuple(Shard(**shard) for shard in entries["shards"][split])
        for split in SPLITS
    }
    settings = ShardSettings(**entries["settings"])
    return Manifest(settings, entries["documents"], shards, entries["probe"])


# The names of documents.


def text_digest(text: str) -> bytes:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).digest()


def add_document(name: int, number: int, digest: bytes) -> int:
    """Return a name for some documents and one more, given the name of the former.

    A name is the sum, modulo 2**256, of one hash for each document. The document's
    number, from 1, is part of its hash, so the same texts in another order have another
    name. Because it is a sum, many workers can compute parts of it in any order.
    """
    own = hashlib.sha256(number.to_bytes(8, "little") + digest).digest()
    return (name + int.from_bytes(own, "little")) % 2**256


def check_documents(folder: Path, manifest: Manifest, texts: Iterable[str]) -> None:
    """Refuse documents that are not those of a finished folder.

    With `max_tokens`, documents after the last one that was written are not compared.
    """
    count = sum(manifest.num_documents(split) for split in SPLITS)
    name, number = NO_DOCUMENTS, 0
    for number, text in enumerate(texts, start=1):
        if number > count:
            break
        name = add_document(name, number, text_digest(text))
    more = number > count and manifest.settings.max_tokens is None
    if number < count or more or f"{name:064x}" != manifest.documents:
        raise ValueError(
            f"documents differ from the {count:,} that {folder} was finished with; "
            "choose another folder"
        )
