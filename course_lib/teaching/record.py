"""What a reader has guessed, judged and solved: one record.

It is one file beside the lessons, `progress.json`, for all kernels, kept until it is
deleted, where a person works: in a kernel that runs in the folder of the lessons and
shows widgets. Elsewhere it lasts as long as the kernel. Tests and programs set
`COURSE_WIDGETS=0`. A file that cannot be read or written harms nothing; the reader is
told once.
"""

import json
import os
import sys
from collections.abc import Container
from pathlib import Path

from filelock import FileLock
from IPython import get_ipython

import course_lib
from course_lib.foundation import checked, write_durably

WIDGETS_VARIABLE = "COURSE_WIDGETS"
NAME, LOCK = "progress.json", ".progress.lock"
OTHER = "is not a file of this course: rename it, or delete it"
ABOUT = "What you have done in the lessons. Delete this file to begin again."
LARGEST = 2**20  # bytes; all prompts and exercises of the course take 20,000
PATIENCE = 5.0  # seconds, while another kernel writes
# Not a disk that can be written, not a text of this kind, not a disk with locks.
TROUBLE = (OSError, ValueError, NotImplementedError)

_told: list[str] = []
_of_this_kernel: dict[str, str] = {}


def kernel_listens() -> bool:
    """Say whether this is a notebook's kernel, without `COURSE_WIDGETS=0`."""
    asked = os.environ.get(WIDGETS_VARIABLE, "").strip().lower()
    return asked not in ("0", "false", "no", "off") and hasattr(get_ipython(), "kernel")


def progress_file() -> Path | None:
    """The path of `progress.json`, if a person works in the folder of the lessons."""
    folder = Path(course_lib.__file__).resolve().parent.parent / "notebooks"
    try:
        here = kernel_listens() and folder.samefile(Path.cwd())
    except OSError:  # one of the two is not there
        return None
    return folder / NAME if here else None


@checked
def record_outcome(name: str, outcome: str, *, over: Container[str] = ()) -> None:
    """Keep the outcome of a prompt or an exercise, as the latest that was done.

    Args:
        over: which outcomes, kept before, it replaces; all others stay.
    """
    _keep(_of_this_kernel, name, outcome, over)
    path = progress_file()
    if path is None:
        return
    try:
        with FileLock(path.with_name(LOCK), timeout=PATIENCE):
            done = _read(path)
            _keep(done, name, outcome, over)
            content = {"about": ABOUT, "done": done}
            text = json.dumps(content, indent=1, ensure_ascii=False)
            write_durably(path, f"{text}\n".encode())
    except TROUBLE as error:
        _tell_once(f"Your progress is not kept: {error}")


def _keep(done: dict[str, str], name: str, outcome: str, over: Container[str]) -> None:
    before = done.pop(name, outcome)
    done[name] = outcome if before in over else before


def recorded_outcomes() -> dict[str, str]:
    """The outcomes by name, the latest at the end."""
    path = progress_file()
    try:
        return dict(_of_this_kernel) if path is None else _read(path)
    except TROUBLE as error:
        _tell_once(f"Your progress is unknown: {error}")
        return dict(_of_this_kernel)


def _read(path: Path) -> dict[str, str]:
    """Read such a file; none if it is not there. Raises ValueError if it is another."""
    if not path.exists():
        return {}
    if not path.is_file() or path.stat().st_size > LARGEST:
        raise ValueError(f"{path} {OTHER}")
    try:
        done = json.loads(path.read_bytes())["done"]
        if all(isinstance(outcome, str) for outcome in done.values()):
            return done
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        pass
    raise ValueError(f"{path} {OTHER}")


def _tell_once(words: str) -> None:
    if not _told:
        _told.append(words)
        print(words, file=sys.stderr)
