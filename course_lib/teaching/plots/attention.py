"""Pictures of who may look at whom in a row of documents, and of positions."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from course_lib.foundation import as_integers, check_dense
from course_lib.teaching.plots import style
from course_lib.teaching.plots.letters import row_name

MOST_MASKS = 2
LONGEST_ROW = 4096


@style.styled
def plot_mask(masks: object, document_starts: Sequence[int]) -> Figure:
    """Draw who may look at whom in a row of several documents.

    Args:
        masks: bool, shape (L, L): place q (down) may look at place k (across) where it
            is True. Or title to such a mask, to set two side by side.
        document_starts: the first is 0. Where a place may look at another document, or
            at what comes later, is crossed out.
    """
    tables = style.read_panels("masks", masks, _check_mask, most=MOST_MASKS)
    sizes = {len(table) for table in tables.values()}
    if len(sizes) > 1:
        raise ValueError(f"masks must be of one size, got {sorted(sizes)}")
    (length,) = sizes
    starts = style.check_starts("document_starts", document_starts, length)
    segment = np.searchsorted(starts, np.arange(length), side="right") - 1
    later = np.arange(length)[:, None] < np.arange(length)[None, :]
    forbidden = later | (segment[:, None] != segment[None, :])
    figure, panes = style.new_panels(4.7, columns=len(tables))
    for pane, (name, table) in zip(panes, tables.items(), strict=True):
        _draw_mask(pane, table, forbidden, starts)
        pane.set_title(row_name(name))
    keys = {"may look at": style.sample("inputs", 0.55)}
    wrong = forbidden & list(tables.values())
    if wrong.any():
        others = {"another document": ~later, "what comes later": later}
        seen = [name for name, there in others.items() if (there & wrong).any()]
        words = " or at ".join(seen)
        keys[f"looks at {words}"] = Line2D(
            [], [], color=style.WRONG, marker="X", markersize=9, linestyle="none"
        )
    keys["document boundaries"] = Line2D([], [], color=style.INK, linewidth=1.6)
    style.explain(figure, keys)
    return figure


def _check_mask(name: str, mask: object) -> np.ndarray:
    is_tensor = isinstance(mask, torch.Tensor)
    table = np.asarray(check_dense(name, mask) if is_tensor else mask)
    if table.dtype != np.bool_:
        raise TypeError(f"{name} must be True and False, got {table.dtype}")
    if table.ndim != 2 or len(set(table.shape)) != 1 or not table.size:
        raise ValueError(f"{name} must have shape (L, L), got {table.shape}")
    style.check_few(f"length of {name}", len(table))
    return table


def _draw_mask(
    axes: Axes, table: np.ndarray, forbidden: np.ndarray, starts: np.ndarray
) -> None:
    length = len(table)
    picture = np.ones((length, length, 3))
    picture[table & ~forbidden] = 0.55 * np.array(to_rgb(style.INPUTS)) + 0.45
    picture[table & forbidden] = 0.3 * np.array(to_rgb(style.WRONG)) + 0.7
    edge = -0.5, length - 0.5
    axes.imshow(picture, interpolation="nearest")
    for line in np.arange(0.5, length - 1):
        axes.axhline(line, color="#d9d9de", linewidth=0.6)
        axes.axvline(line, color="#d9d9de", linewidth=0.6)
    rows, columns = np.nonzero(table & forbidden)
    axes.scatter(columns, rows, marker="X", color=style.WRONG, s=3600 / length**1.5 + 4)
    borders = np.append(starts, length) - 0.5
    look = {"color": style.INK, "linewidth": 1.6, "clip_on": False}
    axes.hlines(borders, *edge, **look)
    axes.vlines(borders, *edge, **look)
    ticks = starts.tolist() if len(starts) <= 10 else range(0, length, 5)
    axes.set(xlim=edge, ylim=edge[::-1], xticks=ticks, yticks=ticks)
    axes.set_xlabel("place that is looked at", loc="left")
    axes.set_ylabel("place that looks", loc="top")
    style.without_frame(axes.figure, axes)


@style.styled
def plot_positions(
    positions: Mapping[str, Sequence[int]],
    document_starts: Sequence[int] | None = None,
    *,
    meanings: Mapping[str, str] | None = None,
) -> Figure:
    """Draw the position of each place of a row: a saw-tooth where they begin again.

    Args:
        positions: name to positions, shape (L,) each.
        document_starts: where documents begin, drawn as dotted lines.
        meanings: name to "right" or "wrong", for those that are.
    """
    most = style.MOST_CURVES
    curves = style.read_each("positions", positions, as_integers, most=most)
    shapes = {values.shape for values in curves.values()}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1:
        shapes = f"one shape, (L,), got {sorted(shapes)}"
        raise ValueError(f"positions must all have {shapes}")
    ((length,),) = shapes
    style.check_few("number of places", length, LONGEST_ROW)
    figure, axes = style.new_figure(3.2)
    xlabel = "place in the row"
    if document_starts is not None:
        xlabel += ", dotted: a document begins"
        for start in style.check_starts("document_starts", document_starts, length):
            axes.axvline(start, **style.DOTTED, zorder=1)
    ends = []
    for number, (name, values) in enumerate(curves.items()):
        look = style.curve_style(number, style.meaning_of(name, meanings, curves))
        if length > style.LARGEST_PICTURE:
            look["marker"] = ""
        # A tooth ends where the next place does not count on: there the line is broken.
        teeth = np.flatnonzero(np.diff(values) != 1) + 1
        line = np.array([np.arange(length), values], dtype=float)
        axes.plot(*np.insert(line, teeth, np.nan, axis=1), linewidth=1.6, **look)
        ends.append((length - 1, int(values[-1]), name, look))
    axes.set(xlabel=xlabel, ylabel="position")
    axes.set_xlim(-0.02 * length, length - 1 + 0.02 * length)
    style.name_curves(axes, ends)
    return figure
