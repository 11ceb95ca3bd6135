"""A progress bar for long work, in terminals and in notebooks, that leaves nothing
behind."""

from __future__ import annotations

import html
import io
import os

from IPython import get_ipython
from IPython.display import HTML, display
from tqdm import tqdm

PROGRESS_VARIABLE = "COURSE_PROGRESS"


def shows(progress: bool | None) -> bool:
    """Decide whether long work shows a progress bar: as asked, or else unless
    `COURSE_PROGRESS=0`."""
    return os.environ.get(PROGRESS_VARIABLE) != "0" if progress is None else progress


class _NotebookBar(tqdm):
    """tqdm's bar as a line of the cell's output, emptied at the end.

    tqdm's own bar for notebooks is a widget, and a widget that is gone is saved all the
    same: reopened, the notebook shows an error in its place.
    """

    def __init__(self, *args, **kwargs):
        self._handle = None
        # or it would still write a line end to stderr
        super().__init__(*args, file=io.StringIO(), **kwargs)

    def display(self, msg: str | None = None, pos: int | None = None) -> bool:
        text = str(self) if msg is None else msg
        shown = HTML(f"<pre>{html.escape(text)}</pre>" if text else "")
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)
        return True


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
        progress: show it; by default unless `COURSE_PROGRESS=0`.
    """
    in_notebook = hasattr(get_ipython(), "kernel")
    bar = _NotebookBar if in_notebook else tqdm
    return bar(
        iterable,
        description,
        total,
        leave=False,
        unit=unit,
        disable=not shows(progress),
        ncols=80,
    )
