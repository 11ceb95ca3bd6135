"""Pictures of documents that are cut into chunks, and of batches that are filled up."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from course_lib.foundation import Count, Length, check_iterable, checked
from course_lib.teaching.plots import style
from course_lib.teaching.plots.letters import row_name

HEIGHT = 0.72  # of a bar; the rest of 1 is between bars
READ_BEFORE = "neutral", 0.12


@checked
@style.styled
def plot_chunks(
    rows: Mapping[str, object], num_tokens: Count, max_length: Length
) -> Figure:
    """Draw the chunks of a document, one a line, one choice of starts after another.

    Tokens after the last chunk are drawn as never predicted.

    Args:
        rows: name to starts, each larger than the one before it.
        num_tokens: N, tokens of the document, small enough to look at.
        max_length: L.
    """
    num_tokens = style.check_few("num_tokens", num_tokens)
    rows = style.read_each("rows", rows, style.check_rising, num_tokens)
    lines = sum(map(len, rows.values()))
    style.check_few("number of chunks", lines, style.MOST_ROWS)
    figure, axes = style.new_figure(0.27 * (lines + 0.6 * len(rows)) + 1.1)
    starts_fit = max_length * style.column_width(num_tokens, 0.42) >= 0.5
    ticks, y, any_before = {}, 0.0, False
    for name, starts in rows.items():
        ticks[y + (len(starts) - 1 + HEIGHT) / 2] = name
        known = 0  # tokens that earlier chunks hold
        for start in starts.tolist():
            end = min(start + max_length, num_tokens)
            any_before = any_before or start < known
            if start < known:
                style.block(axes, start, y, known - start, HEIGHT, *READ_BEFORE)
            else:  # this chunk cannot predict its first token, and no other holds it
                style.block(axes, start, y, 1, HEIGHT, "lost")
            first = max(known, start + 1)
            if first < end:
                style.block(axes, first, y, end - first, HEIGHT, "inputs")
            if starts_fit and end - start > 2:
                where = start + 1.2, y + HEIGHT / 2
                text = axes.text(*where, str(start), va="center", fontsize=style.SMALL)
                text.set_bbox(style.LEGIBLE)
            known, y = end, y + 1
        if known < num_tokens:  # truncation drops the rest
            rest = num_tokens - known
            style.block(axes, known, y - 1, rest, HEIGHT, "lost")
        y += 0.6
    axes.set_xticks(range(0, num_tokens + 1, 5))
    style.fit_columns(axes, num_tokens, 0.42)
    keys = {"read, and predicted": "inputs"}
    if any_before:
        keys["also in the previous chunk"] = style.sample(*READ_BEFORE)
    keys["never predicted"] = "lost"
    xlabel = "position in the document"
    return style.finish_rows(figure, axes, ticks, (y - 0.4, -0.2), keys, xlabel)


@style.styled
def plot_padding(batches: Mapping[str, Sequence[Sequence[int]]]) -> Figure:
    """Draw batches of rows, each filled up to its longest row.

    Args:
        batches: name to batches, each the lengths of its rows; one panel a name.
    """
    panels = style.read_each("batches", batches, _lengths_by_batch)
    lines = max(sum(map(len, some)) + 0.6 * len(some) for some in panels.values())
    figure, panes = style.new_panels(0.2 * lines + 1.3, columns=len(panels))
    longest = max(int(b.max(initial=1)) for several in panels.values() for b in several)
    for axes, (name, several) in zip(panes, panels.items(), strict=True):
        y, ticks = 0.0, {}
        for number, lengths in enumerate(several):
            ticks[y + (len(lengths) - 1 + HEIGHT) / 2] = f"batch {number}"
            for length in lengths.tolist():
                style.block(axes, 0, y, length, HEIGHT, "inputs")
                filled = int(lengths.max()) - length
                if filled:
                    style.block(axes, length, y, filled, HEIGHT, "lost")
                y += 1
            y += 0.6
        axes.set_title(row_name(name))
        style.name_rows(axes, ticks)
        axes.set_xlim(0, longest * 1.02)
        axes.set_ylim(lines - 0.4, -0.2)
        axes.set_xlabel("ids", loc="left")
        style.without_frame(figure, axes)
    style.explain(figure, {"a row": "inputs", "padding": "lost"})
    return figure


def _lengths_by_batch(name: str, batches: object) -> list[np.ndarray]:
    several = check_iterable(name, batches, "batches")
    lengths = [style.check_lengths(name, batch) for batch in several]
    style.check_few(f"rows of {name}", sum(map(len, lengths)), style.MOST_ROWS)
    return lengths
