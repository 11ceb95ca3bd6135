"""What is left after a power cut: bytes and names that were synced, and nothing else.

Killing a process shows less, because what it wrote stays in the system's cache. So this keeps, beside the real disk, a
model of a bad one: a file has the bytes of its last fsync (none, if there was none), a folder the names of its last.
"""

import copy
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest


class Disk:
    """What would be found below `root` if the power failed now."""

    def __init__(self, root: Path) -> None:
        self.root = root.stat().st_ino
        self.names: dict[int, dict[str, int]] = {}
        self.bytes: dict[int, bytes] = {}
        self.folders: set[int] = set()

    def sync(self, file: int) -> None:
        """Let reach the disk what a file holds now, or which names are in a folder."""
        status, place = os.fstat(file), Path(os.readlink(f"/proc/self/fd/{file}"))
        if stat.S_ISDIR(status.st_mode):
            with os.scandir(place) as entries:
                found = {entry.name: (entry.inode(), entry.is_dir()) for entry in entries}
            self.names[status.st_ino] = {name: inode for name, (inode, _) in found.items()}
            self.folders |= {inode for inode, is_folder in found.values() if is_folder}
        else:
            self.bytes[status.st_ino] = place.read_bytes()

    def restore(self, folder: Path, inode: int | None = None) -> None:
        """Make what is left in another folder."""
        folder.mkdir(exist_ok=True)
        for name, inside in self.names.get(inode or self.root, {}).items():
            if inside in self.folders:
                self.restore(folder / name, inside)
            else:
                (folder / name).write_bytes(self.bytes.get(inside, b""))


def power_cuts(root: Path, work: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> list[Disk]:
    """Do something below `root`; return what a power cut would leave behind each of its syncs."""
    root.mkdir()
    disk, cuts, kept = Disk(root), [], []
    real = os.fsync

    def fsync(file: int) -> None:
        real(file)
        kept.append(os.dup(file))  # a number of a file that is open is given to no other one
        disk.sync(file)
        cuts.append(copy.deepcopy(disk))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fsync)
        work()
    for file in kept:
        os.close(file)
    return cuts
