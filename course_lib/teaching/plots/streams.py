"""Pictures of a stream, and of the windows that are cut out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from course_lib.foundation import Ids, as_integers, as_stream, check_integer
from course_lib.next_token_shifting import shift_by_one
from course_lib.teaching.plots.style import (
    BLUE,
    COLORS,
    LARGEST_PICTURE,
    ORANGE,
    block,
    labeled_box,
    new_figure,
    visible,
    without_frame,
)


def plot_shift(window: Ids, labels: Sequence[str] | None = None) -> Figure:
    """Draw a window of T + 1 ids, and under it its inputs and targets, column by
    column.

    Args:
        window: T + 1 integers.
        labels: what to write for each of them, by default the id.
    """
    stream = as_stream(window, "window")
    columns, _ = shift_by_one(np.arange(len(stream)))
    labels = (
        [str(i) for i in stream]
        if labels is None
        else [visible(label) for label in labels]
    )
    if len(labels) != len(stream):
        raise ValueError(
            f"labels must be one for each of the {len(stream)} ids, got {len(labels)}"
        )
    figure, axes = new_figure(0.62 * len(stream) + 1.6, 2.6)
    for position, label in enumerate(labels):
        labeled_box(axes, position, 2.6, label, "white")
    for column in columns:
        labeled_box(axes, column, 1.1, labels[column], BLUE)
        labeled_box(axes, column, 0, labels[column + 1], ORANGE, hatch="//")
        axes.annotate(
            "",
            (column + 0.5, 0.82),
            (column + 0.5, 1.08),
            arrowprops={"arrowstyle": "->"},
        )
    rows = {
        3.0: f"window, {len(stream)} ids",
        1.5: f"inputs, T = {len(columns)}",
        0.4: f"targets, T = {len(columns)}",
    }
    axes.set_yticks(list(rows), list(rows.values()))
    axes.set_xticks(columns + 0.5, columns)
    axes.set_xlabel("position t")
    axes.set(xlim=(-0.1, len(stream) + 0.1), ylim=(-0.1, 3.6))
    return without_frame(figure, axes)


def plot_windows(starts: object, context_length: int, num_tokens: int) -> Figure:
    """Draw the stream 0 ... N-1 and each window under it, with its last target set
    apart.

    Args:
        starts: integers, shape (num_windows,), or (num_batches, batch_size) to set
            batches apart.
        context_length: T.
        num_tokens: N, small enough to look at.
    """
    starts = as_integers("starts", starts)
    context_length = check_integer("context_length", context_length, minimum=1)
    batches = (
        starts.reshape(len(starts), -1) if starts.ndim > 1 else starts.reshape(1, -1)
    )
    for name, value in (("num_tokens", num_tokens), ("number of windows", starts.size)):
        check_integer(name, value, minimum=1, maximum=LARGEST_PICTURE)
    figure, axes = new_figure(
        min(0.34 * num_tokens + 1.6, 14), 0.27 * starts.size + 1.2
    )
    touched = {t for s in starts.flat for t in range(s, s + context_length + 1)}
    for token in range(num_tokens):
        used = token in touched
        labeled_box(
            axes,
            token,
            0.35,
            str(token),
            "white" if used else "lightgray",
            hatch="" if used else "xx",
            fontsize=8,
        )
    ticks = []
    numbered = [
        (batch, start)
        for batch, starts_of_batch in enumerate(batches)
        for start in starts_of_batch
    ]
    for row, (batch, start) in enumerate(numbered):
        y = -row - 1 - 0.4 * batch
        color = COLORS[batch % 8] if starts.ndim > 1 else BLUE
        axes.add_patch(block(start, y, context_length, 0.7, color))
        axes.add_patch(block(start + context_length, y, 1, 0.7, ORANGE, hatch="//"))
        ticks.append(
            (
                y + 0.35,
                f"start {start}" + (f", batch {batch}" if starts.ndim > 1 else ""),
            )
        )
    axes.set_yticks(
        [0.75, *(y for y, _ in ticks)],
        ["stream", *(label for _, label in ticks)],
        fontsize=8,
    )
    axes.set(xlim=(-0.2, num_tokens + 0.2), ylim=(ticks[-1][0] - 0.6, 1.3))
    axes.set_xticks([])
    handles = [block(0, 0, 1, 1, BLUE), block(0, 0, 1, 1, ORANGE, hatch="//")]
    names = [f"T = {context_length} inputs", "1 id more, for the last target"]
    figure.legend(
        handles, names, loc="outside upper right", ncols=2, fontsize=8, frameon=False
    )
    return without_frame(figure, axes)


def plot_cuts(
    rows: Mapping[str, object], context_length: int, num_tokens: int
) -> Figure:
    """Draw, one row a name, where a choice of starts cuts the stream: its windows, and
    what it leaves out.

    Args:
        rows: name to starts, shape (num_windows,), T or more apart.
        context_length: T.
        num_tokens: N.
    """
    check_integer("num_tokens", num_tokens, minimum=1, maximum=LARGEST_PICTURE)
    figure, axes = new_figure(min(0.24 * num_tokens + 1.6, 14), 0.42 * len(rows) + 1.1)
    for row, starts in enumerate(rows.values()):
        axes.add_patch(block(0, row + 0.15, num_tokens, 0.7, "gray", hatch="xx"))
        for number, start in enumerate(
            np.sort(as_integers("starts", starts), axis=None)
        ):
            rectangle = block(start, row + 0.15, context_length, 0.7, BLUE)
            # only to tell neighbors apart
            rectangle.set_facecolor(("white", "#d6ddfd")[number % 2])
            axes.add_patch(rectangle)
            axes.text(start + 0.15, row + 0.5, str(start), va="center", fontsize=8)
    axes.set_yticks(np.arange(len(rows)) + 0.5, list(rows))
    axes.set(
        xlim=(-0.2, num_tokens + 0.2),
        ylim=(len(rows) + 0.05, -0.05),
        xlabel="position in the stream",
    )
    return without_frame(figure, axes)


def plot_tracks(starts: object, num_steps: int, row_length: int) -> Figure:
    """Draw a stream folded into rows: in each row the ids 0, 1, 2, ... it reads,
    colored by batch.

    Args:
        starts: shape (num_batches, B), as from `partition_starts`.
        num_steps: T.
        row_length: inputs of a row; those that fill no batch are drawn gray.
    """
    starts = as_integers("starts", starts)
    check_integer(
        "number of ids",
        starts.shape[1] * row_length,
        minimum=1,
        maximum=LARGEST_PICTURE,
    )
    figure, axes = new_figure(
        min(0.5 * row_length + 1.6, 14), 0.55 * starts.shape[1] + 1
    )
    for row, first in enumerate(starts[0]):
        y = starts.shape[1] - 1 - row
        for column in range(row_length):
            batch = column // num_steps
            used = batch < len(starts)
            hatch = ("", "//", "..", "\\\\")[batch % 4] if used else "xx"
            labeled_box(
                axes,
                column,
                y,
                str(first + column),
                COLORS[batch % 8] if used else "lightgray",
                hatch=hatch,
            )
    centers = [(batch + 0.5) * num_steps for batch in range(len(starts))]
    axes.set_xticks(centers, [f"batch {batch}" for batch in range(len(starts))])
    axes.set_yticks(
        np.arange(starts.shape[1])[::-1] + 0.4,
        [f"row {row}" for row in range(starts.shape[1])],
    )
    axes.set(xlim=(-0.1, row_length + 0.1), ylim=(-0.15, starts.shape[1]))
    return without_frame(figure, axes)


def plot_scored_windows(
    windows: Sequence[tuple[int, int, int]], num_tokens: int
) -> Figure:
    """Draw the windows of a strided evaluation: what each reads only as context, and
    the targets it scores.

    Args:
        windows: (start, length, scored) of each, as `scored_windows` returns them.
        num_tokens: N, small enough to look at.
    """
    for name, value in (
        ("num_tokens", num_tokens),
        ("number of windows", len(windows)),
    ):
        check_integer(name, value, minimum=1, maximum=LARGEST_PICTURE)
    figure, axes = new_figure(
        min(0.34 * num_tokens + 1.6, 14), 0.27 * len(windows) + 1.2
    )
    for token in range(num_tokens):
        labeled_box(axes, token, 0.35, str(token), "white", fontsize=8)
    for row, (start, length, scored) in enumerate(windows):
        first_scored = start + length + 1 - scored
        axes.add_patch(block(start, -row - 1, first_scored - start, 0.7, BLUE))
        axes.add_patch(block(first_scored, -row - 1, scored, 0.7, ORANGE, hatch="//"))
    rows = [-row - 0.65 for row in range(len(windows))]
    axes.set_yticks(
        [0.75, *rows],
        ["stream", *(f"start {start}" for start, _, _ in windows)],
        fontsize=8,
    )
    axes.set(xlim=(-0.2, num_tokens + 0.2), ylim=(-len(windows) - 0.3, 1.3))
    axes.set_xticks([])
    handles = [block(0, 0, 1, 1, BLUE), block(0, 0, 1, 1, ORANGE, hatch="//")]
    figure.legend(
        handles,
        ["context only", "scored"],
        loc="outside upper right",
        ncols=2,
        fontsize=8,
        frameon=False,
    )
    return without_frame(figure, axes)
