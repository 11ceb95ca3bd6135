"""Write token shards, one document after another, so that a killed run can be resumed.

`progress.jsonl` gets a line for each full shard. If a run is killed, only the shards in
this list are kept, and the next run continues after its last line.
"""

from __future__ import annotations

import json
from collections import deque
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import numpy as np

from course_lib.foundation import durable
from course_lib.foundation.arguments import (
    FilePath,
    check_integer,
    checked,
)
from course_lib.foundation.durable import DurableFile
from course_lib.token_shards import shard_files
from course_lib.token_shards.shard_files import (
    MANIFEST,
    NO_DOCUMENTS,
    NONE_FITS,
    PROGRESS,
    SPLITS,
    Manifest,
    Shard,
    ShardSettings,
    shard_path,
    starts_path,
)


class ShardWriter:
    """Places encoded documents, one after another, and makes them durable.

    You call `wants` for every document, in order, and it says whether the ids of this
    document are needed. You then pass the ids of those to `place`, in the same order,
    as soon as you have them. Use the writer as a context manager, so that no other
    process writes into the folder. If the folder is already finished, `manifest` is its
    manifest.

    Args:
        out_dir: a folder of its own, which is created if it does not exist.
        settings: the settings that the shards depend on.
        verify: of a resumed run, read the finished shards and compare their SHA-256,
            not their sizes alone.
    """

    @checked
    def __init__(
        self,
        out_dir: FilePath,
        settings: ShardSettings,
        *,
        verify: bool = False,
    ):
        self.folder = out_dir
        self.settings = settings
        self.verify = verify
        self.manifest: Manifest | None = None
        self._is_open = False
        self._cleanup = ExitStack()

    def __enter__(self) -> ShardWriter:
        begun = (self.folder / PROGRESS).exists()
        if (self.folder / MANIFEST).exists() and not begun:
            self._open_finished()  # which may be in a folder that is read-only
            return self
        durable.make_folder(self.folder)
        with ExitStack() as cleanup:
            cleanup.enter_context(durable.only_writer(self.folder))
            if (self.folder / MANIFEST).exists():
                self._open_finished()
                # The run was killed just before it would have removed this file.
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
        self.manifest = shard_files.open_manifest(self.folder)
        shard_files.check_settings(self.folder, self.manifest.settings, self.settings)

    def _begin(self) -> None:
        """Continue after the finished shards if these are as they should be."""
        self._splits = {split: _SplitWriter(self.folder, split) for split in SPLITS}
        # The last document that finished shards know of, and that `wants` has seen.
        self._begun, self._begun_name = self._read_progress()
        self._seen, self._seen_name = 0, NO_DOCUMENTS
        self._placed, self._placed_name = self._begun, self._begun_name
        self._waiting: deque[tuple[int, int]] = deque()  # number and name, wanted
        splits = self._splits.values()
        self._num_tokens = sum(s.tokens for split in splits for s in split.shards)
        shard_files.remove_unfinished(self.folder)
        if not self._begun:  # then nothing is kept, and old settings do not matter
            first_line = json.dumps({"settings": asdict(self.settings)}) + "\n"
            durable.write_durably(self.folder / PROGRESS, first_line.encode())
        self._is_full, self._is_open = False, True

    def _read_progress(self) -> tuple[int, int]:
        """Restore the splits from an earlier run. Return the number of the last
        document that it knew of, and the name of all documents up to it."""
        path, number, name = self.folder / PROGRESS, 0, NO_DOCUMENTS
        if not path.exists():
            shard_files.refuse_shards(self.folder)
            return number, name
        first, *lines = durable.read_lines(path) or [{}]
        if not lines:
            return number, name
        try:
            old = ShardSettings(**first["settings"])
            for line in lines:
                split = self._splits[line["split"]]
                split.shards.append(Shard(**line["shard"]))
                split.next_document, split.ids_written, number = (
                    check_integer(count, line[count], minimum=0)
                    for count in ("next_document", "ids_written", "number")
                )
                name = int(line["documents"], 16)
            for split in self._splits.values():
                shard_files.check_shards(split.shards, old.shard_size)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"{path} is damaged: {error!r}") from None
        shard_files.check_settings(self.folder, old, self.settings)
        files = shard_files.files_of(self._manifest(name))
        shard_files.check_files(self.folder, files, sums=self.verify)
        return number, name

    def _manifest(self, name: int) -> Manifest:
        shards = {split: tuple(w.shards) for split, w in self._splits.items()}
        return Manifest(self.settings, f"{name:064x}", shards)

    def _discard(self) -> None:
        for split in self._splits.values():
            if split.file is not None:
                split.file.discard()

    def wants(self, digest: bytes) -> bool:
        """Take note of the next document, and say whether its ids are needed.

        They are not if finished shards hold all of them. The `digest` is `text_digest`
        of its text. Raises ValueError if the documents are not those that the run was
        started with.
        """
        self._check_open()
        if not isinstance(digest, bytes) or len(digest) != 32:
            raise ValueError(f"digest must be 32 bytes, got {digest!r}")
        number = self._seen + 1
        name = shard_files.add_document(self._seen_name, number, digest)
        if number == self._begun and name != self._begun_name:
            self._refuse_documents()
        self._seen, self._seen_name = number, name
        needed = number >= self._splits[self.settings.split_of(number)].next_document
        if needed:
            self._waiting.append((number, name))
        return needed

    def place(self, ids: np.ndarray) -> bool:
        """Write the next document that is wanted into its split, its end included.

        Returns False if it would exceed `max_tokens`; then nothing is written, and no
        further document may be placed.
        """
        self._check_open()
        if self._is_full or not self._waiting:
            raise ValueError("ids must be of a document that is wanted, but none is")
        number, name = self._waiting.popleft()
        split = self._splits[self.settings.split_of(number)]
        kept = split.ids_written if number == split.next_document else 0
        ids = shard_files.narrow(ids, self.settings.file_dtype)
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
            part = rest[: self.settings.shard_size - split.num_tokens]
            split.append(part)
            rest = rest[len(part) :]
            if split.num_tokens == self.settings.shard_size:
                if self._seen < self._begun:  # the old documents did not fill it yet
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
        durable.append_line(self.folder / PROGRESS, line)

    def finish(self) -> Manifest:
        """Write the last shards, and then the manifest, which finishes the folder.

        Raises ValueError if none was placed, a wanted one was not, or there were fewer
        documents than when the run was started.
        """
        self._check_open()
        if self._waiting and not self._is_full:
            left = len(self._waiting)
            raise ValueError(f"all documents wanted must be placed, {left} are not")
        if self._seen < self._begun:
            self._refuse_documents()
        if not self._placed:
            raise ValueError(NONE_FITS)
        for split in self._splits.values():
            if split.num_tokens:
                split.commit()
        self.manifest = self._manifest(self._placed_name)
        shard_files.write_manifest(self.folder, self.manifest)
        (self.folder / PROGRESS).unlink()
        durable.sync_folder(self.folder)
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
            f"with, somewhere in the first {self._begun}"
        )


class _SplitWriter:
    """The shards of one split: the finished ones, and the one that is being written."""

    def __init__(self, folder: Path, split: str):
        self.folder, self.split = folder, split
        self.shards: list[Shard] = []
        # the first document that is not wholly in finished shards, and its ids that are
        self.next_document, self.ids_written = 1, 0
        self.file: DurableFile | None = None
        self.num_tokens, self.starts = 0, []

    def append(self, ids: np.ndarray) -> None:
        """Write ids, no more than still fit."""
        if self.file is None:
            path = shard_path(self.folder, self.split, len(self.shards))
            self.file = DurableFile(path)
        self.file.write(ids.data)
        self.num_tokens += len(ids)

    def commit(self) -> None:
        """Make the shard durable, and begin another one."""
        starts = np.array(self.starts, dtype="<i8")
        path = starts_path(self.folder, self.split, len(self.shards))
        starts_sha256 = durable.write_durably(path, starts.tobytes())
        sha256 = self.file.commit()
        shard = Shard(self.num_tokens, len(starts), sha256, starts_sha256)
        self.shards.append(shard)
        self.file, self.num_tokens, self.starts = None, 0, []
