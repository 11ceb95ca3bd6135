"""Pictures of documents that are cut into chunks, and of batches that are filled up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from course_lib.foundation import as_integers, check_integer
from course_lib.teaching.plots.letters import drawable, row_name
from course_lib.teaching.plots.style import (
    LARGEST_PICTURE,
    MOST_ROWS,
    SMALL,
    block,
    check_mapping,
    column_width,
    explain,
    fit_columns,
    new_figure,
    styled,
    without_frame,
)

HEIGHT = 0.72  # of a bar; what is left of 1 stands between bars


@styled
def plot_chunks(rows: Mapping[str, object], num_tokens: int, max_length: int) -> Figure:
    """Draw the chunks of a document, one a line, one choice of starts after another.

    Args:
        rows: name to starts, each larger than the one before.
        num_tokens: N, tokens of the document, small enough to look at.
        max_length: L.
    """
    num_tokens = check_integer(
        "num_tokens", num_tokens, minimum=1, maximum=LARGEST_PICTURE
    )
    max_length = check_integer("max_length", max_length, minimum=1)
    check_mapping("rows", rows)
    rows = {name: _check_starts(name, rows[name], num_tokens) for name in rows}
    lines = sum(map(len, rows.values()))
    check_integer("number of chunks", lines, minimum=1, maximum=MOST_ROWS)
    figure, axes = new_figure(0.27 * (lines + 0.6 * len(rows)) + 1.1)
    starts_fit = max_length * column_width(num_tokens, 0.42) >= 0.5
    ticks, y, any_before = {}, 0.0, False
    for name, starts in rows.items():
        ticks[y + (len(starts) - 1 + HEIGHT) / 2] = row_name(name)
        known = 0  # tokens that earlier chunks hold
        for start in starts.tolist():
            end = min(start + max_length, num_tokens)
            any_before = any_before or start < known
            if start < known:
                axes.add_patch(block(start, y, known - start, HEIGHT, "neutral", 0.12))
            else:  # nothing in this chunk predicts its first token, and no other has it
                axes.add_patch(block(start, y, 1, HEIGHT, "lost"))
            first = max(known, start + 1)
            if first < end:
                axes.add_patch(block(first, y, end - first, HEIGHT, "inputs"))
            if starts_fit and end - start > 2:
                where = start + 1.2, y + HEIGHT / 2
                text = axes.text(*where, str(start), va="center", fontsize=SMALL)
                text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.6})
            known, y = end, y + 1
        y += 0.6
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.set_xticks(range(0, num_tokens + 1, 5))
    axes.set_xlabel("position in the document", loc="left")
    fit_columns(axes, num_tokens, 0.42)
    axes.set_ylim(y - 0.4, -0.2)
    keys = {"read, and predicted": block(0, 0, 1, 1, "inputs")}
    if any_before:
        keys["stands in the chunk before, too"] = block(0, 0, 1, 1, "neutral", 0.12)
    keys["never predicted"] = block(0, 0, 1, 1, "lost")
    explain(figure, keys)
    return without_frame(figure, axes)


def _check_starts(name: str, starts: object, num_tokens: int) -> np.ndarray:
    starts = as_integers(f"rows[{name!r}]", starts).astype(np.int64)
    rising = starts.ndim == 1 and (np.diff(starts) > 0).all()
    if not rising or (starts.size and not 0 <= starts[0] <= starts[-1] < num_tokens):
        raise ValueError(
            f"rows[{name!r}] must rise from 0 or more to less than {num_tokens}, got "
            f"{starts.tolist()}"
        )
    return starts


@styled
def plot_padding(
    batches: Mapping[str, Sequence[Sequence[int]]], *, xlabel: str = "ids"
) -> Figure:
    """Draw batches of rows, each filled up to its longest row.

    Args:
        batches: name to batches, each the lengths of its rows; one panel a name.
        xlabel: what a length counts.
    """
    check_mapping("batches", batches)
    panels = {
        name: [
            as_integers(f"batches[{name!r}]", lengths).astype(np.int64)
            for lengths in several
        ]
        for name, several in batches.items()
    }
    for name, several in panels.items():
        count = sum(lengths.size for lengths in several)
        check_integer(f"rows of {name!r}", count, minimum=1, maximum=MOST_ROWS)
        for lengths in several:
            if not lengths.size or lengths.ndim != 1 or lengths.min() < 1:
                raise ValueError(
                    f"batches[{name!r}] must be rows of at least one id each, got "
                    f"{lengths.tolist()}"
                )
    lines = max(
        sum(map(len, several)) + 0.6 * len(several) for several in panels.values()
    )
    figure, _ = new_figure(0.2 * lines + 1.3)
    figure.clear()  # not columns that share an axis: each has batches of its own
    panes = figure.subplots(1, len(panels), squeeze=False)[0]
    longest = max(int(b.max()) for several in panels.values() for b in several)
    for axes, (name, several) in zip(panes, panels.items(), strict=True):
        y, ticks = 0.0, {}
        for number, lengths in enumerate(several):
            ticks[y + (len(lengths) - 1 + HEIGHT) / 2] = f"batch {number}"
            for length in lengths.tolist():
                axes.add_patch(block(0, y, length, HEIGHT, "inputs"))
                filled = int(lengths.max()) - length
                if filled:
                    axes.add_patch(block(length, y, filled, HEIGHT, "lost"))
                y += 1
            y += 0.6
        axes.set_title(row_name(name))
        axes.set_yticks(list(ticks), list(ticks.values()))
        axes.set_xlim(0, longest * 1.02)
        axes.set_ylim(lines - 0.4, -0.2)
        axes.set_xlabel(drawable(xlabel), loc="left")
        without_frame(figure, axes)
    keys = {
        "a row": block(0, 0, 1, 1, "inputs"),
        "padding": block(0, 0, 1, 1, "lost"),
    }
    explain(figure, keys)
    return figure
