"""Pictures of a whole stream in rows: cut in several ways, or folded into tracks."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from course_lib.foundation import (
    Count,
    Integers,
    Length,
    as_integers,
    checked,
)
from course_lib.teaching.plots import style

LONGEST_ROW = 24
SHADES_IN_TURN = (0.12, 0.4)  # only to tell neighbors apart


@checked
@style.styled
def plot_cuts(
    rows: Mapping[str, object], context_length: Length, num_tokens: Count
) -> Figure:
    """Draw, one row a name, where starts cut the stream: windows, and what they leave
    out.

    Args:
        rows: name to starts, shape (num_windows,), T or more apart.
        context_length, num_tokens: T and N.
    """
    num_tokens = style.check_few("num_tokens", num_tokens)
    sizes = context_length, num_tokens
    cuts = style.read_each("rows", rows, _cuts, *sizes, most=style.MOST_ROWS)
    figure, axes = style.new_figure(0.4 * len(rows) + 1.1)
    # Starts are written where they fit.
    wide_enough = context_length * style.column_width(num_tokens, 0.42) >= 0.22
    for row, starts in enumerate(cuts.values()):
        style.block(axes, 0, row + 0.15, num_tokens, 0.7, "lost", 0.25)
        for number, start in enumerate(starts):
            where = start, row + 0.15, context_length, 0.7
            white = style.block(axes, *where, "inputs")
            white.set_facecolor("white")  # hides the hatch of what is left out
            style.block(axes, *where, "inputs", SHADES_IN_TURN[number % 2])
            if wide_enough:
                style.centered(axes, start + 0.15, row + 0.5, str(start), ha="left")
    style.fit_columns(axes, num_tokens, 0.42)
    axes.set_xticks(range(0, num_tokens + 1, 5))
    names = {row + 0.5: name for row, name in enumerate(rows)}
    name = f"windows of T = {context_length} inputs, in two alternating shades"
    keys = {name: "inputs", "never an input": "lost"}
    ends = len(rows) + 0.05, -0.05
    xlabel = "position in the stream"
    return style.finish_rows(figure, axes, names, ends, keys, xlabel)


def _cuts(
    name: str, starts: object, context_length: int, num_tokens: int
) -> np.ndarray:
    starts = np.sort(as_integers(name, starts).astype(np.int64), axis=None)
    style.check_inside(name, starts, context_length, num_tokens)
    near = np.flatnonzero(np.diff(starts) < context_length)
    if near.size:
        one, other = starts[near[0]], starts[near[0] + 1]
        wanted = f"starts at least {context_length} apart"
        raise ValueError(f"{name} must be {wanted}, got {one} and {other}")
    return starts


@checked
@style.styled
def plot_tracks(
    starts: Integers, num_steps: Length, row_length: int, *, carried: bool | None = None
) -> Figure:
    """Draw a stream folded into rows: in each the ids it reads, batch by batch.

    Args:
        starts: shape (num_batches, B), as from `partition_starts`.
        num_steps, row_length: T, and inputs of a row; what is left over is shaded.
        carried: whether the state is carried on between batches, an arrow, or reset, a
            cross; by default it is not drawn.
    """
    starts = starts.astype(np.int64)
    row_length = style.check_few("row_length", row_length, LONGEST_ROW)
    if starts.ndim != 2 or not starts.size:
        got = f"got shape {starts.shape}"
        raise ValueError(f"starts must have shape (num_batches, B), {got}")
    num_batches, batch_size = starts.shape
    style.check_few("number of rows", batch_size, style.MOST_ROWS // 2)
    if num_batches * num_steps > row_length:
        got = f"{num_batches} batches of {num_steps} steps"
        raise ValueError(f"starts must fit into rows of {row_length}, got {got}")
    if (np.diff(starts, axis=0) != num_steps).any():
        wanted = f"go on {num_steps} ids later in every batch"
        raise ValueError(f"starts must {wanted}, got {starts}")
    figure, axes = style.new_figure(0.5 * batch_size + 1.1)
    for row, first in enumerate(starts[0]):
        y = batch_size - 1 - row
        for column in range(row_length):
            batch = column // num_steps
            used = batch < num_batches
            meaning = "inputs" if used else "lost"
            shade = SHADES_IN_TURN[batch % 2] if used else 0.25
            style.labeled_box(axes, column, y, str(first + column), meaning, shade)
    ends = num_steps * np.arange(1, num_batches + 1)
    axes.vlines(ends[ends < row_length], -0.15, batch_size, color="black", linewidth=2)
    centers = ends - num_steps / 2
    word = "batch " if num_steps > 1 else ""  # would not fit over a single column
    axes.set_xticks(centers, [f"{word}{batch}" for batch in range(num_batches)])
    style.fit_columns(axes, row_length, 0.5)
    rows = {batch_size - 0.6 - row: f"row {row}" for row in range(batch_size)}
    keys = {"inputs, in alternating shades for batches": "inputs"}
    if carried is not None and num_batches > 1:
        keys |= _draw_state(axes, carried, ends[:-1], batch_size)
    if num_batches * num_steps < row_length:
        keys["left over"] = "lost"
    return style.finish_rows(figure, axes, rows, (-0.15, batch_size), keys)


def _draw_state(
    axes: Axes, carried: bool, bounds: np.ndarray, batch_size: int
) -> dict[str, Line2D]:
    places, rows = np.meshgrid(bounds, np.arange(batch_size) + 0.4)
    look = {"marker": ">" if carried else "X", "color": style.INK, "zorder": 4}
    look |= {"markersize": 13, "markeredgewidth": 1.5, "linestyle": "none"}
    axes.plot(places.ravel(), rows.ravel(), **look)
    name = "the state goes on" if carried else "the state is reset"
    return {name: Line2D([], [], **look | {"markersize": 10})}
