"""Hostile calls of durable files."""

import atexit
import itertools
import tempfile
from pathlib import Path

from course_lib.foundation.durable import DurableFile, naming_the_file, only_writer

ROOM = tempfile.TemporaryDirectory(prefix="course-hostile-")
atexit.register(ROOM.cleanup)
NUMBERS = itertools.count()


def new(data=None):
    path = Path(ROOM.name) / str(next(NUMBERS))
    if data is not None:
        path.write_bytes(data)
    return path


def wrote(data):
    path = new()
    file = DurableFile(path)
    try:
        file.write(data)
        file.commit()
    finally:
        file.discard()
    return path.read_bytes()


def within(context):
    with context:
        raise OSError(28, "No space left on device")


SHA_OF_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
CALLS = {
    "make_folder(new() / 'a' / 'b')": None,
    "make_folder(new(b''))": FileExistsError("is not a folder"),
    "DurableFile(new()).commit()": SHA_OF_NOTHING,
    "DurableFile(new() / 'a')": FileNotFoundError("cannot be written (No such file or directory)"),
    "wrote(b'ab')": b"ab",
    "wrote('ab')": TypeError("data must be bytes, got str"),
    "wrote(None)": TypeError("data must be bytes, got NoneType"),
    "write_durably(new(), 'ab')": TypeError("data must be bytes, got str"),
    "write_durably(new(), None)": TypeError("data must be bytes, got NoneType"),
    "write_durably(str(new()), b'')": SHA_OF_NOTHING,
    "write_durably(new() / 'a', b'')": FileNotFoundError("cannot be written"),
    "write_durably(Path('/'), b'')": ValueError("empty name"),
    "write_json(new(), {1, 2})": TypeError("not JSON serializable"),
    "write_json(new(), float)": TypeError(
        "content must be what JSON holds: Object of type type is not JSON serializable"
    ),
    "write_json(new(), {'a': nan})": ValueError("content must be what JSON holds: Out of range float values"),
    "write_json(new(), {'a': [-inf]})": ValueError("content must be what JSON holds"),
    "write_json(new(), {1: 'a'})": TypeError("content must be what JSON holds: a key must be a str, got 1"),
    "write_json(new(), {'a': [{'b': {None: 2}}]})": TypeError("a key must be a str, got None"),
    "write_json(new(), {'a': 1, 2: 3})": TypeError("content must be what JSON holds"),
    "write_json(Path('/'), {})": ValueError("empty name"),
    "write_json([], {})": TypeError("path must be a path"),
    "write_durably(5, b'')": TypeError("path must be a path"),
    "read_json(new(b'{}'))": {},
    "read_json(new(b'5'))": ValueError("is damaged: it holds no JSON object"),
    "read_json(new(b''))": ValueError("is damaged: it holds no JSON"),
    "read_json(new(b'[' * 10**5))": ValueError("is damaged"),
    "read_json(new())": FileNotFoundError("No such file"),
    "checksum(new(b''))": SHA_OF_NOTHING,
    "checksum(str(new(b'')))": SHA_OF_NOTHING,
    "checksum(new())": FileNotFoundError("No such file"),
    "checksum('/')": IsADirectoryError("Is a directory"),
    "sync_folder('/tmp')": None,
    "sync_folder(new())": FileNotFoundError("No such file"),
    "within(only_writer(ROOM.name))": OSError("No space left on device"),
    "within(naming_the_file('a.bin'))": OSError("cannot be written (No space left on device)"),
    "within(naming_the_file(Path('a.bin')))": OSError("finished files are kept: 'a.bin'"),
}
