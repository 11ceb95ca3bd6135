"""Cut input files of any size into tasks that workers may read in any order.

The documents of a task depend only on the files, not on the number of workers, or on
what was read before. A line of JSON belongs to the task that contains its first byte,
so a file can be cut at any byte, and no line is lost or read twice.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from course_lib.foundation import (
    BYTE_ORDER_MARK,
    Length,
    Several,
    check_iterable,
    check_path,
    check_unicode,
    checked,
    decode_text,
    read_text,
    without_doubles,
)
from course_lib.token_shards.shard_files import whose_ids

KINDS = {
    ".jsonl": "lines",
    ".ndjson": "lines",
    ".json": "lines",
    ".jsonl.gz": "gzip lines",
    ".json.gz": "gzip lines",
    ".jsonl.zst": "zstd lines",
    ".json.zst": "zstd lines",
    ".txt": "text",
    ".md": "text",
    ".parquet": "parquet",
    ".arrow": "arrow",
}
TASK_BYTES = 2**24  #: default input of a task, whose ids a worker holds in memory
ROWS_AT_A_TIME = 1000
ADVICE = {  # for files that people bring, and that we don't read
    ".gz": "unpack it; only JSON Lines (.jsonl.gz) are read as they are",
    ".zst": "unpack it; only JSON Lines (.jsonl.zst) are read as they are",
    ".csv": "turn it into Parquet: datasets.Dataset.from_csv(...).to_parquet(...)",
    ".tsv": "turn it into Parquet, like .csv, with sep='\\t'",
    ".zip": "unpack it",
    ".tar": "unpack it",
    ".feather": "it is a file of Arrow by another name: rename it to .arrow",
    ".bin": "it holds no text; if it holds ids, map it with np.memmap",
}
SPLITS_OF_FOLDER = "dataset_dict.json"  # where `datasets` saves several data sets
# Names of files that accompany the documents of a folder.
NO_DOCUMENTS_IN = ("readme", "license", "changelog", "dataset_info.json", "state.json")


class Piece(NamedTuple):
    """A part of an input file."""

    path: str  #: the file
    kind: str  #: how it is read
    start: int  #: the first byte, or row group of Parquet, or record batch of Arrow
    stop: int  #: the one after the last
    #: about how many bytes are read. For Parquet and Arrow it is an estimate.
    num_bytes: int
    #: two times in nanoseconds: when the file was last written, and when the system
    #: last saw it change. No program can set the second one.
    modified: tuple[int, int]


class Place(NamedTuple):
    """Where a document is in its file, for errors, which count only when they must."""

    piece: Piece
    begin: int = 0  #: the first byte of a line, or the row in a piece of a table

    def __str__(self) -> str:
        path, kind = self.piece.path, self.piece.kind
        if kind == "text":
            return path
        if kind.endswith("lines"):
            return f"{path}, line {_line_number(self)}"
        return f"{path}, row {_row_number(self)}"


@dataclass(frozen=True)
class Task:
    """What one call of a worker reads: pieces of input files, in their order."""

    number: int
    pieces: tuple[Piece, ...]

    @property
    def num_bytes(self) -> int:
        return sum(piece.num_bytes for piece in self.pieces)


@checked
def plan_tasks(
    inputs: Annotated[Iterable[str | os.PathLike], Several("paths")],
    *,
    task_bytes: Length = TASK_BYTES,
    suffixes: Sequence[str] = (),
) -> list[Task]:
    """Cut input files into tasks of about `task_bytes`, in the order given.

    A large file becomes several tasks, and small files share one. Only sizes are read.

    Args:
        inputs: files, or folders of files, which are read in the order of their names.
            A file is JSON Lines (`.jsonl`, `.ndjson` or `.json`), plain text (`.txt` or
            `.md`, each file one document), `.parquet` or `.arrow`. JSON Lines may also
            be compressed (`.gz` or `.zst`), but then the file cannot be cut. See
            `list_inputs` for what is left out of a folder.
        task_bytes: a task ends after the piece that brings it to this many bytes.
        suffixes: further endings of plain text, for example `[".py", ".rst"]`. The
            endings above keep their kind.
    """
    parts: list[list[Piece]] = [[]]
    num_bytes = 0
    for path, kind in _find_inputs(inputs, suffixes)[0].items():
        for piece in _cut(path, kind, task_bytes):
            parts[-1].append(piece)
            num_bytes += piece.num_bytes
            if num_bytes >= task_bytes:
                parts.append([])
                num_bytes = 0
    return [Task(number, tuple(part)) for number, part in enumerate(parts) if part]


@checked
def list_inputs(
    inputs: Annotated[Iterable[str | os.PathLike], Several("paths")],
    *,
    suffixes: Sequence[str] = (),
) -> tuple[list[Path], dict[Path, str]]:
    """Find all input files, including those in folders; see `plan_tasks`.

    Links in a folder are followed. We leave out files of other kinds, hidden files and
    folders, the files that `datasets` keeps for itself, a README, a license or a
    changelog, because they describe documents, pipes and devices, and any file that was
    found before, even under another name. Returns the files in order, and the reason
    for each file or hidden folder that was left out.
    """
    files, left_out = _find_inputs(inputs, suffixes)
    reasons = {Path(path): reason for path, reason in left_out.items()}
    return list(map(Path, files)), reasons


def check_apart(inputs: Iterable[Path], out_dir: Path) -> None:
    """Refuse a folder of results in a folder that is read: a second run, which finishes
    or compares the first, would find other inputs."""
    for path in inputs:
        if path.is_dir() and out_dir.resolve().is_relative_to(path.resolve()):
            raise ValueError(
                f"out_dir must not lie in an input folder, because a second run would "
                f"read what the first one wrote: {out_dir} is in {path}"
            )


def _find_inputs(
    inputs: Iterable[str | os.PathLike], suffixes: Sequence[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the kinds of all files, in order, and why others are left out. There may
    be a hundred thousand files, so we ask the system little about each one."""
    suffixes = list(check_iterable("suffixes", suffixes, "endings such as '.py'"))
    if not all(isinstance(suffix, str) and suffix[:1] == "." for suffix in suffixes):
        raise ValueError(f"suffixes must be endings such as '.py', got {suffixes!r}")
    suffixes = tuple(suffix.lower() for suffix in suffixes)
    files: dict[str, str] = {}
    left_out: dict[str, str] = {}
    met: set[object] = set()
    for entry in inputs:
        path = str(check_path("inputs", entry))
        in_folder = os.path.isdir(path)
        if not in_folder:
            _check_file(path, suffixes)
        missing: list[str] = []
        found = _files_in(path, set()) if in_folder else [(path, os.stat(path))]
        is_empty = True
        for name, status in found:
            kind = _kind_of(name, suffixes)
            if in_folder and (reason := _reason_to_leave_out(name, kind, status)):
                left_out[name] = reason
                missing.append(f"{name}: {reason}")
                continue
            is_empty = False
            # The same for a link, and for two names of one file.
            same = (status.st_dev, status.st_ino) if status.st_ino else _place(name)
            if same in met:
                left_out[name] = "was met before"
            else:
                met.add(same)
                files[name] = kind
        if is_empty:
            shown = "".join(f"; {words}" for words in missing[:3])
            raise ValueError(f"{path}: no input file in this folder{shown}")
    if not files:
        raise ValueError("inputs must hold at least one file, got none")
    return files, left_out


def _place(path: str) -> str:
    """Name a file on a system that does not number its files."""
    return os.path.normcase(os.path.realpath(path))


def _check_file(path: str, suffixes: tuple[str, ...]) -> None:
    """Refuse a path that is neither a folder nor a file that we read."""
    if not os.path.exists(path):
        raise FileNotFoundError(f"no input file at {path}")
    if not os.path.isfile(path):
        # Its end would be waited for, and it cannot be read twice.
        raise ValueError(f"{path} is a pipe or a device: write its texts to a file")
    if _kind_of(path, suffixes) is None:
        known = f"an input must be one of {', '.join(KINDS)}, or of suffixes"
        raise ValueError(f"{path}: {_advice(path)}; {known}")


def _files_in(
    folder: str, seen: set[object]
) -> Iterator[tuple[str, os.stat_result | None]]:
    """Yield all files below a folder by name, each with what the system says of it:
    nothing, of a link that leads nowhere.

    A hidden folder is yielded, but not entered. Folders that were `seen` already, and
    to which a link leads back, are skipped.
    """
    real = os.path.realpath(folder)
    if real in seen:
        return
    seen.add(real)
    with os.scandir(folder) as entries:
        entries = sorted(entries, key=lambda entry: entry.name)
    if any(entry.name == SPLITS_OF_FOLDER for entry in entries):
        splits = [entry.path for entry in entries if entry.is_dir()]
        raise ValueError(
            f"{folder} is a DatasetDict, whose splits are kept apart: give the folders "
            f"of those to read, of {', '.join(splits) or 'which there is none'}"
        )
    for entry in entries:
        if entry.is_dir() and not entry.name.startswith("."):
            yield from _files_in(entry.path, seen)
            continue
        try:
            yield entry.path, os.stat(entry.path)
        except FileNotFoundError:
            yield entry.path, None


def _advice(path: str) -> str:
    """Say what to do with a file that is not read."""
    file = Path(path)
    if file.suffix == ".bin" and (found := whose_ids(file)):
        return f"it holds {found}"
    if file.suffix == ".idx" and whose_ids(file):
        return "it is an index of Megatron, and no text"
    ending = file.suffix or "a name without an ending"
    return ADVICE.get(file.suffix.lower(), f"{ending} is not read")


def _reason_to_leave_out(
    path: str, kind: str | None, status: os.stat_result | None
) -> str:
    name = os.path.basename(path).lower()
    if status is None:
        return "a link that leads nowhere"
    if stat.S_ISDIR(status.st_mode):
        return "a hidden folder"
    if not stat.S_ISREG(status.st_mode):
        return "a pipe or a device"
    if name.startswith((".", "cache-")):
        return "hidden, or a cache"
    if kind is None:
        return _advice(path)
    named = name.startswith(NO_DOCUMENTS_IN)
    return "describes documents, but is not one" if named else ""


def _kind_of(path: str, suffixes: tuple[str, ...]) -> str | None:
    """Say how a file is read, judging by its name; None if it is not an input.

    The longest ending decides, so `.gz` among the suffixes doesn't make plain text of
    `.jsonl.gz`. An ending that we know stays what it is, even among the suffixes.
    """
    name = path.lower()
    fitting = [ending for ending in (*KINDS, *suffixes) if name.endswith(ending)]
    return KINDS.get(max(fitting, key=len), "text") if fitting else None


def _modified(status: os.stat_result) -> tuple[int, int]:
    return status.st_mtime_ns, status.st_ctime_ns


def _cut(path: str, kind: str, task_bytes: int) -> Iterator[Piece]:
    status = os.stat(path)
    size, modified = status.st_size, _modified(status)
    if kind == "lines":
        for start in range(0, size, task_bytes):
            stop = min(size, start + task_bytes)
            yield Piece(path, kind, start, stop, stop - start, modified)
    elif kind == "text" or kind.endswith("lines"):
        # An empty file is still a document, or, for JSON Lines, a file without a line.
        yield Piece(path, kind, 0, size, size, modified)
    else:
        count = _opened(path, kind)[0]
        for number in range(count):
            part = size * (number + 1) // count - size * number // count
            yield Piece(path, kind, number, number + 1, part, modified)


def read_task(task: Task, text_column: str = "text") -> Iterator[tuple[Place, str]]:
    """Yield the documents of a task, in order, each with its place."""
    for piece in task.pieces:
        yield from read_piece(piece, text_column)


def read_piece(piece: Piece, text_column: str = "text") -> Iterator[tuple[Place, str]]:
    """Yield the documents of a piece, whose file must be as it was when planned."""
    # Before and after, or some documents could come from an old file, some from a new.
    _compare(piece)
    if piece.kind == "text":
        yield Place(piece), read_text(Path(piece.path), piece.path)
    elif piece.kind.endswith("lines"):
        yield from _read_lines(piece, text_column)
    else:
        yield from _read_rows(piece, text_column)
    _compare(piece)


def _compare(piece: Piece) -> None:
    if _modified(os.stat(piece.path)) != piece.modified:
        raise ValueError(
            f"{piece.path} was changed while it was being read, or since the tasks "
            "were planned; run it again when nobody is writing to the file"
        )


def _read_lines(piece: Piece, text_column: str) -> Iterator[tuple[Place, str]]:
    for begin, line in _lines(piece):
        if begin == 0:
            line = line.removeprefix(BYTE_ORDER_MARK)
        if not line.strip():
            continue
        place = Place(piece, begin)
        try:
            yield place, _text_in(line, text_column)
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"{place}: {error}") from None


def _lines(piece: Piece) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that begin in a piece, each with the position where it begins."""
    try:
        with _open_lines(piece) as file:
            begin = piece.start
            if begin:
                # The previous byte belongs to the last line of another task.
                file.seek(begin - 1)
                begin += len(file.readline()) - 1
            compressed = piece.kind != "lines"
            while (compressed or begin < piece.stop) and (line := file.readline()):
                yield begin, line
                begin += len(line)
    except (EOFError, OSError, zlib.error) as error:  # raised by a damaged file
        raise ValueError(f"{piece.path}: cannot be read ({error})") from None


def _open_lines(piece: Piece) -> io.BufferedIOBase:
    if piece.kind == "gzip lines":
        return gzip.open(piece.path, "rb")
    if piece.kind == "zstd lines":
        import pyarrow as pa

        return io.BufferedReader(pa.input_stream(piece.path, compression="zstd"))
    return Path(piece.path).open("rb", buffering=2**20)


def _text_in(line: bytes, text_column: str) -> str:
    text = decode_text(line, "the line")
    try:
        # Nobody needs the numbers, and Python refuses one of thousands of digits.
        row = json.loads(
            text, object_pairs_hook=without_doubles, parse_int=lambda digits: 0
        )
    except ValueError as error:
        raise ValueError(f"expected a JSON object ({error})") from None
    if not isinstance(row, dict):
        raise ValueError(f"expected a JSON object, got {type(row).__name__}")
    if text_column not in row:
        raise ValueError(
            f"there is no {text_column!r}, only {', '.join(row) or 'an empty object'}"
        )
    return check_unicode(text_column, row[text_column])


def _line_number(place: Place) -> int:
    number, position = 1, place.begin
    with _open_lines(place.piece) as file:
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
            # Batches that nobody asks for are mapped, but not read.
            batches = list(pa.ipc.open_stream(pa.memory_map(str(path))))
            return len(batches), batches.__getitem__
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{path}: not a file of {kind.title()} ({reason})") from None


def _read_rows(piece: Piece, text_column: str) -> Iterator[tuple[Place, str]]:
    import pyarrow as pa

    try:
        for row, text in enumerate(_column(piece, text_column)):
            place = Place(piece, row)
            try:
                yield place, check_unicode(text_column, text)
            except (TypeError, ValueError) as error:
                raise ValueError(f"{place}: {error}") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{piece.path}: cannot be read ({reason})") from None


def _column(piece: Piece, text_column: str) -> Iterator[object]:
    """Yield a column of a table's part, some rows at a time."""
    _, file = _opened(piece.path, piece.kind)
    is_parquet = piece.kind == "parquet"
    names = file.schema_arrow.names if is_parquet else file(piece.start).schema.names
    if text_column not in names:
        raise ValueError(
            f"{piece.path}: no column {text_column!r}, only {', '.join(names)}"
        )
    if names.count(text_column) > 1:
        raise ValueError(
            f"{piece.path}: {names.count(text_column)} columns are named "
            f"{text_column!r}: which one holds the text? Rename the others"
        )
    if is_parquet:
        parts = file.iter_batches(ROWS_AT_A_TIME, [piece.start], [text_column])
    else:
        part = file(piece.start).select([text_column])
        firsts = range(0, len(part), ROWS_AT_A_TIME)
        parts = (part.slice(first, ROWS_AT_A_TIME) for first in firsts)
    for part in parts:
        yield from part.column(0).to_pylist()


def _row_number(place: Place) -> int:
    """Count from 1, as lines are counted."""
    piece = place.piece
    _, file = _opened(piece.path, piece.kind)
    if piece.kind == "parquet":
        row_group = file.metadata.row_group
        before = sum(row_group(part).num_rows for part in range(piece.start))
    else:
        before = sum(len(file(part)) for part in range(piece.start))
    return before + place.begin + 1
