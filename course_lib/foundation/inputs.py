"""Input files of any size, cut into tasks that anyone may read, in any order.

What a task reads depends on the files alone: not on the number of workers, nor on what
was read before. A line of JSON belongs to the task in which its first byte lies, so a
file can be cut at any byte, and no line is lost or read twice.
"""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from course_lib.foundation.arguments import check_integer
from course_lib.foundation.tokenizing import check_unicode

KINDS = {
    ".jsonl": "lines",
    ".ndjson": "lines",
    ".json": "lines",
    ".jsonl.gz": "zipped lines",
    ".json.gz": "zipped lines",
    ".txt": "text",
    ".md": "text",
    ".parquet": "parquet",
    ".arrow": "arrow",
}
TASK_BYTES = 2**26  #: of input that a task reads, by default
ROWS_AT_A_TIME = 1000
BYTE_ORDER_MARK = "\ufeff".encode()


@dataclass(frozen=True)
class Piece:
    """A part of an input file.

    Attributes:
        path: the file.
        kind: how it is read.
        start, stop: first byte and the one behind the last; of Parquet the row groups,
            of Arrow the record batches.
        num_bytes: about so many are read; of Parquet and Arrow an estimate.
        modified: when the file was written last, in nanoseconds.
    """

    path: str
    kind: str
    start: int
    stop: int
    num_bytes: int
    modified: int


@dataclass(frozen=True)
class Task:
    """What one call of a worker reads: pieces of input files, in their order."""

    number: int
    pieces: tuple[Piece, ...]

    @property
    def num_bytes(self) -> int:
        return sum(piece.num_bytes for piece in self.pieces)


def plan_tasks(
    inputs: Iterable[str | os.PathLike], *, task_bytes: int = TASK_BYTES
) -> list[Task]:
    """Cut input files into tasks of about `task_bytes`, in the order given.

    Large files become several tasks, small ones share one. Nothing is read but sizes.

    Args:
        inputs: files: JSON Lines (`.jsonl`, `.ndjson`, `.json`, with `.gz` too, which
            cannot be cut), plain text (`.txt`, `.md`: each file is one document),
            `.parquet` or `.arrow`; or folders of them, read in the order of their
            names.
        task_bytes: a task is closed behind the piece that brings it to so many.

    Raises:
        FileNotFoundError: an input is not there.
        ValueError: there are none, or a file is of no such kind.
    """
    task_bytes = check_integer("task_bytes", task_bytes, minimum=1)
    tasks: list[Task] = []
    pieces: list[Piece] = []
    for path in list_files(inputs):
        for piece in _cut(path, task_bytes):
            pieces.append(piece)
            if sum(piece.num_bytes for piece in pieces) >= task_bytes:
                tasks.append(Task(len(tasks), tuple(pieces)))
                pieces = []
    if pieces:
        tasks.append(Task(len(tasks), tuple(pieces)))
    return tasks


def list_files(inputs: Iterable[str | os.PathLike]) -> list[Path]:
    """Return all input files, those in folders too; see `plan_tasks`."""
    if isinstance(inputs, str | os.PathLike) or not isinstance(inputs, Iterable):
        raise TypeError(
            f"inputs must be several paths, got {type(inputs).__name__}: use [path] "
            "for a single one"
        )
    files: list[Path] = []
    for entry in inputs:
        if not isinstance(entry, str | os.PathLike):
            raise TypeError(f"inputs must be paths, got {type(entry).__name__}")
        path = Path(entry)
        if path.is_dir():
            # Hidden files and what `datasets` caches beside its own are no input.
            found = [
                inside
                for inside in sorted(path.rglob("*"))
                if inside.is_file()
                and kind_of(inside) is not None
                and not inside.name.startswith((".", "cache-"))
                and inside.name not in ("dataset_info.json", "state.json")
            ]
            if not found:
                raise ValueError(f"{path}: no input file in this folder")
            files += found
        elif not path.is_file():
            raise FileNotFoundError(f"no input file at {path}")
        elif kind_of(path) is None:
            raise ValueError(
                f"{path}: an input must be one of {', '.join(KINDS)}, got "
                f"{path.suffix or 'a name without an ending'}"
            )
        else:
            files.append(path)
    if not files:
        raise ValueError("inputs must hold at least one file, got none")
    return files


def kind_of(path: str | os.PathLike) -> str | None:
    """Say by its name how a file is read; None if it is no input."""
    name = Path(path).name.lower()
    return next((kind for end, kind in KINDS.items() if name.endswith(end)), None)


def _cut(path: Path, task_bytes: int) -> Iterator[Piece]:
    kind, size, modified = kind_of(path), path.stat().st_size, path.stat().st_mtime_ns
    if kind == "lines":
        for start in range(0, size, task_bytes):
            stop = min(size, start + task_bytes)
            yield Piece(str(path), kind, start, stop, stop - start, modified)
    elif kind in ("text", "zipped lines"):
        # A file without a byte is a document all the same, or a file without a line.
        yield Piece(str(path), kind, 0, size, size, modified)
    else:
        count = _opened(path, kind)[0]
        for number in range(count):
            part = size * (number + 1) // count - size * number // count
            yield Piece(str(path), kind, number, number + 1, part, modified)


def read_task(task: Task, text_column: str = "text") -> Iterator[str]:
    """Yield the documents of a task, in order.

    Raises:
        ValueError: naming the file and the line or row that is wrong.
    """
    for piece in task.pieces:
        yield from read_piece(piece, text_column)


def read_piece(piece: Piece, text_column: str = "text") -> Iterator[str]:
    """Yield the documents of a piece of a file; see `read_task`."""
    if not isinstance(text_column, str):
        raise TypeError(f"text_column must be a str, got {type(text_column).__name__}")
    if piece.kind == "text":
        return _read_text(piece)
    if piece.kind in ("lines", "zipped lines"):
        return _read_lines(piece, text_column)
    return _read_rows(piece, text_column)


def _read_text(piece: Piece) -> Iterator[str]:
    data = Path(piece.path).read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{piece.path}, line {line}: expected UTF-8, got the byte "
            f"{data[error.start]:#x}; convert it first"
        ) from None
    yield text.replace("\r\n", "\n").replace("\r", "\n")


def _read_lines(piece: Piece, text_column: str) -> Iterator[str]:
    with _open_lines(piece) as file:
        if piece.start:
            # The line that the byte before belongs to is the last one of another task.
            file.seek(piece.start - 1)
            file.readline()
        zipped = piece.kind == "zipped lines"
        while zipped or file.tell() < piece.stop:
            begin = file.tell()
            try:
                line = file.readline()
            except (EOFError, OSError) as error:  # what gzip says of a damaged file
                raise ValueError(f"{piece.path}: cannot be read ({error})") from None
            if not line:
                return
            if begin == 0:
                line = line.removeprefix(BYTE_ORDER_MARK)
            if not line.strip():
                continue
            try:
                yield _text_in(line, text_column)
            except (ValueError, TypeError, RecursionError) as error:
                number = _line_number(piece, begin)
                raise ValueError(f"{piece.path}, line {number}: {error}") from None


def _open_lines(piece: Piece) -> io.BufferedIOBase:
    if piece.kind == "zipped lines":
        return gzip.open(piece.path, "rb")
    return Path(piece.path).open("rb", buffering=2**20)


def _text_in(line: bytes, text_column: str) -> str:
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"expected UTF-8 ({error})") from None
    except ValueError as error:
        raise ValueError(f"expected a JSON object ({error})") from None
    if not isinstance(row, dict):
        raise ValueError(f"expected a JSON object, got {type(row).__name__}")
    if text_column not in row:
        raise ValueError(
            f"there is no {text_column!r}, only {', '.join(row) or 'an empty object'}"
        )
    check_unicode(row[text_column], text_column)
    return row[text_column]


def _line_number(piece: Piece, position: int) -> int:
    """Count the lines before a byte; only where one is wrong."""
    number = 1
    with _open_lines(piece) as file:
        while position > 0 and (block := file.read(min(position, 2**20))):
            number += block.count(b"\n")
            position -= len(block)
    return number


def _opened(path: str | os.PathLike, kind: str) -> tuple[int, object]:
    """Return the number of parts of an Arrow or Parquet file, and a way to get one."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        if kind == "parquet":
            file = parquet.ParquetFile(path, memory_map=True)
            return file.num_row_groups, file
        source = pa.memory_map(str(path))
        try:
            file = pa.ipc.open_file(source)
            return file.num_record_batches, file.get_batch
        except pa.ArrowInvalid:  # a stream, as `datasets` writes it
            # What is not asked for is mapped, not read.
            batches = list(pa.ipc.open_stream(pa.memory_map(str(path))))
            return len(batches), batches.__getitem__
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{path}: no {kind.title()} file ({reason})") from None


def _read_rows(piece: Piece, text_column: str) -> Iterator[str]:
    _, file = _opened(piece.path, piece.kind)
    is_parquet = piece.kind == "parquet"
    for part in range(piece.start, piece.stop):
        names = file.schema_arrow.names if is_parquet else file(part).schema.names
        if text_column not in names:
            raise ValueError(
                f"{piece.path}: there is no column {text_column!r}, only "
                f"{', '.join(names)}"
            )
        if is_parquet:
            batches = file.iter_batches(ROWS_AT_A_TIME, [part], [text_column])
        else:
            batch = file(part).select([text_column])
            batches = (
                batch.slice(first, ROWS_AT_A_TIME)
                for first in range(0, len(batch), ROWS_AT_A_TIME)
            )
        row = 0
        for batch in batches:
            for text in batch.column(0).to_pylist():
                try:
                    check_unicode(text, text_column)
                except (TypeError, ValueError) as error:
                    before = _rows_before(file, piece, part)
                    raise ValueError(
                        f"{piece.path}, row {before + row}: {error}"
                    ) from None
                yield text
                row += 1


def _rows_before(file: object, piece: Piece, part: int) -> int:
    if piece.kind == "parquet":
        metadata = file.metadata
        return sum(metadata.row_group(number).num_rows for number in range(part))
    return sum(len(file(number)) for number in range(part))
