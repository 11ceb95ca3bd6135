"""Tables that a notebook shows as tables: numbers line up, nothing wraps, and a narrow
window scrolls. Each is text as well, for terminals."""

import math
import re
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Annotated

from IPython.display import display

from course_lib.foundation import SCROLLING, Several, check_iterable, checked, plain

LARGEST_TABLE = 200
MOST_DECIMALS = 3
SIDES = {"<": "left", ">": "right", "^": "center"}
# A number, whatever stands around it: "12", "1,024", "-0.5", "96 %", "2.1 ± 0.1"
NUMBER = re.compile(r"[-+−~]?\$?\d[\d,. ]*(?:e[-+]?\d+)?[^\W\d_]?(?: ?%| ?± ?[\d.,]+)?")
NOTHING = ("", "-", "–", "nan", "inf")  # says nothing of what a column holds


def show_table(
    rows: Iterable[Sequence[object]],
    header: Sequence[str],
    *,
    align: str | None = None,
    caption: str | None = None,
) -> None:
    """Display rows of cells below a header; see `Table`."""
    display(Table(rows, header, align=align, caption=caption))


class Table:
    """Rows of cells below a header: `html` for a notebook, `text` for a terminal.

    Integers get commas. The floats of a column get the same number of decimals, three
    at most. Text stays as it is.

    Args:
        rows: of as many cells as the header has. `None` is an empty cell.
        align: one of `<`, `>` and `^` for each column, as in a format string; by
            default numbers are on the right, all else on the left.
        caption: a line above the table.
    """

    @checked
    def __init__(
        self,
        rows: Annotated[Iterable[object], Several("rows")],
        header: Annotated[Sequence[str], Several("names")],
        *,
        align: str | None = None,
        caption: str | None = None,
    ) -> None:
        self.header, self.caption = [str(name) for name in header], caption
        rows = [
            list(check_iterable(f"rows[{number}]", row, "cells"))
            for number, row in enumerate(rows)
        ]
        width = len(self.header)
        if not width:
            raise ValueError("header must name at least one column, got none")
        for number, row in enumerate(rows):
            if len(row) != width:
                wanted = f"{width} cells, one for each name in header"
                raise ValueError(f"rows[{number}] must have {wanted}, got {len(row)}")
        if (count := len(rows)) > LARGEST_TABLE:
            most = f"at most {LARGEST_TABLE} to be looked at"
            raise ValueError(f"rows must be {most}, got {count}")
        written = [_written([row[column] for row in rows]) for column in range(width)]
        self.rows = [list(row) for row in zip(*written, strict=True)]
        self.align = "".join(map(_side, written)) if align is None else align
        if not set(self.align) <= set(SIDES):
            raise ValueError(f"align must consist of '<', '>' and '^', got {align!r}")
        if len(self.align) != width:
            wanted = f"one sign for each of the {width} columns"
            raise ValueError(f"align must have {wanted}, got {align!r}")

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}

    @property
    def html(self) -> str:
        # JupyterLab shows the first line of what is folded: a blank, and no HTML.
        lines = [" ", f'<div style="{SCROLLING}">', '<table style="margin: 0">']
        if self.caption:
            style = "caption-side: top; text-align: left"
            lines.append(f'<caption style="{style}">{plain(self.caption)}</caption>')
        lines += ["<thead>", self._html_row("th", self.header), "</thead>", "<tbody>"]
        lines += [self._html_row("td", row) for row in self.rows]
        return "\n".join([*lines, "</tbody>", "</table>", "</div>"])

    def __repr__(self) -> str:
        return self.text

    def _html_row(self, tag: str, cells: Sequence[str]) -> str:
        # Each cell says it, as JupyterLab's own rules for cells win over the table's.
        # `pre`: several spaces in a row are what some tables are about.
        # A corner that is empty heads nothing: a screen reader would announce it.
        tags = [tag if cell else "td" for cell in cells]
        row = "".join(
            f'<{tag} style="text-align: {SIDES[side]}; white-space: pre">'
            f"{plain(cell)}</{tag}>"
            for tag, cell, side in zip(tags, cells, self.align, strict=True)
        )
        return f"<tr>{row}</tr>"

    @property
    def text(self) -> str:
        lines = [self.header, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, ["-" * width for width in widths])
        columns = zip(self.align, widths, strict=True)
        form = "  ".join(f"{{:{side}{width}}}" for side, width in columns)
        written = [form.format(*line).rstrip() for line in lines]
        return "\n".join([self.caption, *written] if self.caption else written)


def _written(column: list[object]) -> list[str]:
    cells = [c.item() if getattr(c, "shape", None) == () else c for c in column]
    floats = [cell for cell in cells if _is_float(cell) and math.isfinite(cell)]
    decimals = 1
    while any(round(x, decimals) != round(x, MOST_DECIMALS) for x in floats):
        decimals += 1
    return [_cell(cell, decimals) for cell in cells]


def _cell(cell: object, decimals: int) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Integral) and not isinstance(cell, bool):
        return f"{int(cell):,}"
    if _is_float(cell):
        return f"{float(cell):,.{decimals}f}"
    # half a surrogate pair cannot be sent to a browser
    return str(cell).encode("utf-8", "replace").decode("utf-8")


def _is_float(cell: object) -> bool:
    return isinstance(cell, Real) and not isinstance(cell, Integral)


def _side(column: Sequence[str]) -> str:
    filled = [cell for cell in column if cell not in NOTHING]
    return ">" if filled and all(map(NUMBER.fullmatch, filled)) else "<"
