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


_Bar.set_lock(threading.RLock())


class _NotebookBar(_Bar):
    """tqdm's bar, as the line that all bars of a cell share; emptied at the end.

    Of tqdm's own two, one is a widget, of which a saved notebook keeps an error, and
    the other writes to stderr, of which it keeps an empty red strip.
    """

    # The cell that showed a bar last, with its line; and the cell whose bar is open.
    _line: ClassVar[tuple[int | None, DisplayHandle | None]] = None, None
    _busy: ClassVar[int | None] = None

    def __init__(self, *args, disable: bool, **kwargs):
        self._cell, self._handle = get_ipython().execution_count, None
        disable = disable or self._cell == _NotebookBar._busy
        # A file of its own, or it would still write a line end to stderr.
        super().__init__(
            *args, disable=disable, file=io.StringIO(), ascii=False, **kwargs
        )
        if not disable:
            _NotebookBar._busy = self._cell

    def display(self, msg: str | None = None, pos: int | None = None) -> bool:
        text = str(self) if msg is None else msg
        shown = HTML(f"<pre>{html.escape(text)}</pre>" if text else "")
        if self._handle is None:
            if self._line[0] != self._cell:
                _NotebookBar._line = self._cell, display(shown, display_id=True)
            self._handle = self._line[1]
        self._handle.update(shown)
        return True

    def close(self) -> None:
        if not self.disable and self._busy == self._cell:
            _NotebookBar._busy = None
        super().close()


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
