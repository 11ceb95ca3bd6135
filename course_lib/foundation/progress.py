"""A progress bar for long work, in terminals and notebooks, that leaves nothing behind.

In a notebook all bars of a cell share one line of its output, and a bar inside another
one stays silent: 25 runs of a loop are one bar that counts runs.
"""

from __future__ import annotations

import html
import io
import os
import threading
from typing import ClassVar
from weakref import WeakSet

from IPython import get_ipython
from IPython.display import HTML, DisplayHandle, display
from tqdm import tqdm

from course_lib.foundation.arguments import check_flag, check_integer

PROGRESS_VARIABLE = "COURSE_PROGRESS"
OFF = ("0", "false", "no", "off")


def shows(progress: bool | None) -> bool:
    """Decide whether long work shows a progress bar.

    As asked; or else unless the environment says `COURSE_PROGRESS=0` (or false, no,
    off).
    """
    if progress is not None:
        return check_flag("progress", progress)
    return os.environ.get(PROGRESS_VARIABLE, "").strip().lower() not in OFF


class _Bar(tqdm):
    """tqdm's bar, with a lock that ends with its process.

    tqdm's own is shared with forked processes: a worker that is killed while it holds
    it leaves everybody else waiting for ever.
    """

    _lock = threading.RLock()


class _NotebookBar(_Bar):
    """tqdm's bar, as the line that all bars of a cell share; emptied at the end.

    tqdm's own bar for notebooks is a widget, and a widget that is gone is saved all the
    same: reopened, the notebook shows an error in its place.
    """

    # The cell that showed a bar last, and its line; and all bars that are still open.
    _line: ClassVar[tuple[int, DisplayHandle] | None] = None
    _open: ClassVar[WeakSet[_NotebookBar]] = WeakSet()

    def __init__(self, *args, disable: bool, **kwargs):
        self._cell = get_ipython().execution_count
        self._handle = None
        # Only in the same cell: an error may have left a bar of an earlier one open.
        inside = any(bar._cell == self._cell for bar in self._open)
        disable = disable or inside
        # A file of its own, or it would still write a line end to stderr.
        super().__init__(
            *args, disable=disable, file=io.StringIO(), ascii=False, **kwargs
        )
        if not self.disable:
            self._open.add(self)

    def display(self, msg: str | None = None, pos: int | None = None) -> bool:
        text = str(self) if msg is None else msg
        shown = HTML(f"<pre>{html.escape(text)}</pre>" if text else "")
        if self._handle is None and self._line and self._line[0] == self._cell:
            self._handle = self._line[1]
        if self._handle is None:
            self._handle = display(shown, display_id=True)
            _NotebookBar._line = (self._cell, self._handle)
        else:
            self._handle.update(shown)
        return True

    def close(self) -> None:
        super().close()
        self._open.discard(self)


def progress_bar(
    iterable=None,
    description: str = "",
    *,
    unit: str = "it",
    total: int | None = None,
    progress: bool | None = None,
) -> tqdm:
    """Wrap an iterable, or count by hand with `.update()`, as `tqdm` does.

    Args:
        iterable: what to go through, or None.
        description, unit, total: what is written beside the bar.
        progress: show it; by default unless `COURSE_PROGRESS=0`. In a notebook, a bar
            inside an open one is not shown.
    """
    if total is not None:
        total = check_integer("total", total, minimum=0)
    in_notebook = hasattr(get_ipython(), "kernel")
    bar = _NotebookBar if in_notebook else _Bar
    return bar(
        iterable,
        description,
        total,
        leave=False,
        unit=unit,
        disable=not shows(progress),
        ncols=80,
    )
