"""Writing token shards, one document after another, so that a killed run loses nothing.

`progress.jsonl` gets a line for each full shard. What it lists is kept when a run is
killed, and nothing else; the next run goes on from its last line.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from course_lib.foundation.arguments import check_flag, check_integer, check_path
from course_lib.foundation.durable import (
    DurableFile,
    append_line,
    make_folder,
    only_writer,
    read_lines,
    sync_folder,
    write_durably,
)
from course_lib.foundation.shard_files import (
    MANIFEST,
    NO_DOCUMENTS,
    PROGRESS,
    SPLITS,
    Manifest,
    Shard,
    ShardSettings,
    add_document,
    check_files,
    check_settings,
    check_shards,
    files_of,
    names_of_shards,
    narrow,
    open_manifest,
    remove_unfinished,
    shard_path,
    starts_path,
    write_manifest,
)


@dataclass
class Progress:
    """How far a run is: what the lines of `progress.jsonl` come to.

    Attributes:
        number: of the last document that `documents` counts.
        documents: names all documents up to that one; see `add_document`.
        shards: of each split, those that are finished.
        next_document: of each split, the first one that is not wholly in its shards.
        ids_written: how many ids of that one are.
    """

    number: int = 0
    documents: int = NO_DOCUMENTS
    shards: dict[str, list[Shard]] = field(
        default_factory=lambda: {split: [] for split in SPLITS}
    )
    next_document: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(SPLITS, 1)
    )
    ids_written: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(SPLITS, 0)
    )


class ShardWriter:
    """Places encoded documents, one after another, and makes them durable.

    It does not encode. It is told of every document in turn by `wants`, which says
    whether its ids are needed; and `place` takes the ids of those that are, in the same
    order, as soon as they are known. Use it as a context manager: it keeps the folder
    for itself.

    Args:
        out_dir: a folder of its own; made if it is not there.
        settings: what the shards depend on.
        verify: of a run that is gone on with, read the finished shards and compare
            their SHA-256; else their sizes are compared.

    Attributes:
        manifest: of a folder that is finished already, else None.
    """

    def __init__(
        self,
        out_dir: str | os.PathLike,
        settings: ShardSettings,
        *,
        verify: bool = False,
    ):
        self.folder, self.settings = check_path("out_dir", out_dir), settings
        self.verify = check_flag("verify", verify)
        self.manifest: Manifest | None = None
        self._is_open = False
        self._cleanup = ExitStack()

    def __enter__(self) -> ShardWriter:
        begun = (self.folder / PROGRESS).exists()
        if (self.folder / MANIFEST).exists() and not begun:
            self._open_finished()  # perhaps where nobody may write
            return self
        make_folder(self.folder)
        with ExitStack() as cleanup:
            cleanup.enter_context(only_writer(self.folder))
            if (self.folder / MANIFEST).exists():
                self._open_finished()
                # it was killed right before this
                (self.folder / PROGRESS).unlink(missing_ok=True)
            else:
                self._begin()
                cleanup.callback(self._discard)
            self._cleanup = cleanup.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self._is_open = False
        self._cleanup.close()

    def _open_finished(self) -> None:
        self.manifest = open_manifest(self.folder)
        check_settings(self.folder, self.manifest.settings, self.settings)

    def _begin(self) -> None:
        """Go on after the shards that are finished, if they are what they should be."""
        begun = _read_progress(self.folder, self.settings, self.verify)
        remove_unfinished(self.folder)
        if not begun.number:  # nothing is kept, whatever its settings were
            first_line = json.dumps({"settings": asdict(self.settings)}) + "\n"
            write_durably(self.folder / PROGRESS, first_line.encode())
        self._begun = begun
        self._is_checked = begun.number == 0
        self._seen, self._seen_name = 0, NO_DOCUMENTS  # what `wants` was told of
        self._placed, self._placed_name = begun.number, begun.documents
        self._waiting: deque[tuple[int, int]] = deque()  # number and name, wanted
        self._splits = {
            split: _SplitWriter(self.folder, split, begun, self.settings)
            for split in SPLITS
        }
        self._num_tokens = sum(
            shard.tokens for shards in begun.shards.values() for shard in shards
        )
        self._is_full, self._is_open = False, True

    def _discard(self) -> None:
        for split in self._splits.values():
            split.discard()

    def wants(self, digest: bytes) -> bool:
        """Take note of the next document; say whether its ids are needed.

        They are not, if finished shards hold all of them.

        Args:
            digest: `text_digest` of its text.

        Raises:
            ValueError: the documents are not those that the run was begun with.
        """
        self._check_open()
        if not isinstance(digest, bytes) or len(digest) != 32:
            raise ValueError(f"digest must be 32 bytes, got {digest!r}")
        self._seen += 1
        number = self._seen
        self._seen_name = add_document(self._seen_name, number, digest)
        if number == self._begun.number:
            if self._seen_name != self._begun.documents:
                self._refuse_documents()
            self._is_checked = True
        needed = number >= self._splits[self.settings.split_of(number)].next_document
        if needed:
            self._waiting.append((number, self._seen_name))
        return needed

    def place(self, ids: np.ndarray) -> bool:
        """Write the next document that is wanted into its split.

        Args:
            ids: with its end.

        Returns:
            False if it would exceed `max_tokens`; then nothing is written, and no
            further document may be placed.
        """
        self._check_open()
        if self._is_full or not self._waiting:
            raise ValueError("ids must be of a document that is wanted, but none is")
        number, name = self._waiting.popleft()
        split = self._splits[self.settings.split_of(number)]
        kept = split.ids_written if number == split.next_document else 0
        ids = narrow(ids, self.settings.file_dtype)
        rest = ids[kept:]
        limit = self.settings.max_tokens
        if limit is not None and self._num_tokens + len(rest) > limit:
            self._is_full = True
            return False
        self._num_tokens += len(rest)
        if number > self._placed:
            self._placed, self._placed_name = number, name
        if not kept:
            split.starts.append(split.num_tokens)
        while len(rest):
            rest = rest[split.append(rest) :]
            if split.is_full:
                if not self._is_checked:  # the same documents would not fill it yet
                    self._refuse_documents()
                split.commit()
                split.next_document = number if len(rest) else number + 1
                split.ids_written = len(ids) - len(rest) if len(rest) else 0
                self._note(split)
        return True

    def _note(self, split: _SplitWriter) -> None:
        """Write down that a shard is finished."""
        line = {
            "split": split.split,
            "shard": asdict(split.shards[-1]),
            "next_document": split.next_document,
            "ids_written": split.ids_written,
            "number": self._placed,
            "documents": f"{self._placed_name:064x}",
        }
        append_line(self.folder / PROGRESS, line)

    def finish(self) -> Manifest:
        """Write what is left, and the manifest last of all: now the folder counts.

        Raises:
            ValueError: no document has been placed, one that is wanted has not, or they
                ended before those that the run was begun with.
        """
        self._check_open()
        if self._waiting and not self._is_full:
            raise ValueError(
                f"all documents that are wanted must be placed, {len(self._waiting)} "
                "are not"
            )
        if not self._is_checked or self._seen < self._begun.number:
            self._refuse_documents()
        if not self._placed:
            raise ValueError(
                "documents must hold at least one, of no more than max_tokens ids"
            )
        for split in self._splits.values():
            if split.num_tokens:
                split.commit()
        shards = {name: tuple(split.shards) for name, split in self._splits.items()}
        self.manifest = Manifest(self.settings, f"{self._placed_name:064x}", shards)
        write_manifest(self.folder, self.manifest)
        (self.folder / PROGRESS).unlink()
        sync_folder(self.folder)
        self._is_open = False
        return self.manifest

    def _check_open(self) -> None:
        if not self._is_open:
            raise ValueError(
                "ShardWriter must be used inside `with`, before it has finished"
            )

    def _refuse_documents(self) -> None:
        raise ValueError(
            f"documents differ from those of the run that {self.folder} was begun "
            f"with, somewhere in the first {self._begun.number}"
        )


def _read_progress(folder: Path, settings: ShardSettings, verify: bool) -> Progress:
    """Add up what a run has written down about the shards that it has finished.

    Raises:
        FileExistsError: there are shards, and nothing is written down.
        ValueError: it had other settings, what it wrote down is damaged, or a shard is
            not what it should be.
    """
    path, progress = folder / PROGRESS, Progress()
    if not path.exists():
        if found := names_of_shards(folder):
            raise FileExistsError(
                f"{folder / min(found)} is in the way: nothing tells what it is; "
                "choose an empty folder"
            )
        return progress
    first, *lines = read_lines(path) or [{}]
    if not lines:
        return progress
    try:
        check_settings(folder, ShardSettings(**first["settings"]), settings)
        for line in lines:
            counts = ("number", "next_document", "ids_written")
            number, following, written = (
                check_integer(name, line[name], minimum=0) for name in counts
            )
            split = line["split"]
            progress.shards[split].append(Shard(**line["shard"]))
            progress.next_document[split] = following
            progress.ids_written[split] = written
            progress.number, progress.documents = number, int(line["documents"], 16)
        for shards in progress.shards.values():
            check_shards(shards, settings.shard_size)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is damaged: {error!r}") from None
    shards = {split: tuple(progress.shards[split]) for split in SPLITS}
    check_files(folder, files_of(Manifest(settings, "", shards)), sums=verify)
    return progress


class _SplitWriter:
    """The shards of one split: the finished ones, and the one that is being written."""

    def __init__(
        self, folder: Path, split: str, begun: Progress, settings: ShardSettings
    ):
        self.folder, self.split = folder, split
        self.shards = list(begun.shards[split])
        self.next_document = begun.next_document[split]
        self.ids_written = begun.ids_written[split]
        self.size = settings.shard_size
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
