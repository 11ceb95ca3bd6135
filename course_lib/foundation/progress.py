"""A progress bar for terminals and notebooks, which disappears when the work is done.

In a notebook, all bars of a cell share one line of its output, and a bar inside another
is not shown, so 25 training runs in a loop give one bar that counts runs.
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

from course_lib.foundation.arguments import Count, checked
from course_lib.foundation.checks import check_flag

PROGRESS_VARIABLE = "COURSE_PROGRESS"
OFF = ("0", "false", "no", "off")


def is_switched_off(variable: str) -> bool:
    """Say whether a variable of the environment is 0, false, no or off."""
    return os.environ.get(variable, "").strip().lower() in OFF


def shows(progress: bool | None) -> bool:
    """Say whether long work shows a progress bar; with None, it does unless the
    environment says `COURSE_PROGRESS=0` (or false, no, off)."""
    if progress is not None:
        return check_flag("progress", progress)
    return not is_switched_off(PROGRESS_VARIABLE)


class _Bar(tqdm):
    """tqdm's bar with a lock of its own process. tqdm's own lock is shared with forked
    processes, which wait forever if a worker is killed while it holds that lock."""


_Bar.set_lock(threading.RLock())


class _NotebookBar(_Bar):
    """tqdm's bar, in a line that all bars of a cell share and that is empty at the end.

    Of tqdm's own bars for notebooks, one is a widget, which leaves an error in a saved
    notebook, and the other writes to stderr, which leaves an empty red strip.
    """

    # The last cell that showed a bar, with its line, and the cell whose bar is open.
    _line: ClassVar[tuple[int | None, DisplayHandle | None]] = None, None
    _busy: ClassVar[int | None] = None

    def __init__(self, *args, disable: bool, **kwargs):
        self._cell, self._handle = get_ipython().execution_count, None
        disable = disable or self._cell == _NotebookBar._busy
        # Without a file of its own, it would still write a line end to stderr.
        kwargs |= {"disable": disable, "file": io.StringIO(), "ascii": False}
        super().__init__(*args, **kwargs)
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


@checked
def progress_bar(
    iterable=None,
    description: str = "",
    *,
    unit: str = "it",
    total: Count | None = None,
    progress: bool | None = None,
) -> tqdm:
    """Wrap an iterable, or count by hand with `.update()`, as `tqdm` does.

    The `description`, `unit` and `total` are written beside the bar. It is shown unless
    `progress` or `COURSE_PROGRESS` says no, but in a notebook not inside an open one.
    """
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
