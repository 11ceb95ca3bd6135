"""Write files that are either complete or absent, with a checksum, by one writer.

A file that is written in place is incomplete for a while, and stays so if the program
is killed or the machine fails. We therefore write it under another name, in four steps:
write, fsync (the bytes reach the disk), rename (one step, all or nothing), and fsync of
the folder (the name reaches the disk).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

TEMPORARY = ".tmp"  #: ends the name of a file that is not complete yet
LOCK = ".lock"  # may be left over: removing a lock that others wait for is unsafe
BUFFER_BYTES = 2**20


class DurableFile:
    """A file that appears under its name only when it is complete.

    Its checksum is computed while it is written. Until the commit, the file has a name
    that no other attempt has, such as `train.bin.5f0e….tmp`, and keeps it if the
    program ends.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        own = f"{self.path.name}.{uuid.uuid4().hex}{TEMPORARY}"
        self._temporary = self.path.with_name(own)
        self._digest = hashlib.sha256()
        with naming_the_file(self.path):
            self._file = self._temporary.open("xb", buffering=BUFFER_BYTES)

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes, or any object whose memory is one contiguous piece."""
        with naming_the_file(self.path):
            self._file.write(data)
        self._digest.update(data)

    def commit(self) -> str:
        """Give the file its name, for good, and return its SHA-256."""
        with naming_the_file(self.path):
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self._temporary, self.path)
            sync_folder(self.path.parent)
        return self._digest.hexdigest()

    def discard(self) -> None:
        """Remove what has been written so far. After `commit`, this does nothing."""
        with suppress(OSError):  # a full disk raises it once more
            self._file.close()
        self._temporary.unlink(missing_ok=True)


def write_durably(path: str | os.PathLike, data: bytes) -> str:
    """Write a complete file, replace any old one, and return the SHA-256.

    At any moment, a program that reads `path` finds either the old file or the new one.
    """
    file = DurableFile(path)
    try:
        file.write(data)
        return file.commit()
    finally:
        file.discard()


def write_json(path: str | os.PathLike, content: object) -> str:
    """Write plain values as JSON, durably. The same values give the same bytes.

    Raises TypeError or ValueError where JSON has no such values, as NaN.
    """
    text = json.dumps(content, indent=2, sort_keys=True, allow_nan=False)
    return write_durably(path, f"{text}\n".encode())


def read_json(path: str | os.PathLike) -> dict:
    """Read a JSON object."""
    try:
        content = json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: it holds no JSON ({error})") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} is damaged: it holds no JSON object")
    return content


def checksum(path: str | os.PathLike) -> str:
    """Read a file and return its SHA-256, as `sha256sum` prints it."""
    with open(path, "rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, and wait until their names are on the disk.

    Raises FileExistsError if there is a file of that name.
    """
    if not folder.is_dir():
        make_folder(folder.parent)
        with suppress(FileExistsError):  # another process has just made it
            folder.mkdir()
        if not folder.is_dir():
            raise FileExistsError(f"{folder} is not a folder")
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder have reached the disk.

    A rename changes the folder, not the file.
    """
    if os.name != "posix":  # where a folder cannot be opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def only_writer(folder: str | os.PathLike) -> Iterator[None]:
    """Let one process at a time write into a folder.

    The lock, the operating system's own, is on a file in the folder and ends with the
    process, no matter how. Raises BlockingIOError if another process is writing there
    now.
    """
    lock = FileLock(Path(folder) / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise BlockingIOError(
            errno.EAGAIN, "another process is writing into this folder", str(folder)
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def naming_the_file(path: str | os.PathLike) -> Iterator[None]:
    """Make an OSError in writing name its file, and say that finished files stay."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(
            error.errno,
            f"cannot be written ({reason}); finished files are kept",
            str(path),
        ) from error
