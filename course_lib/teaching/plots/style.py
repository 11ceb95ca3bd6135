"""One style for every figure of the course: what a color means, sizes, and the shapes
that pictures share."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

# Matt Petroff's cycle of eight colors, chosen to be told apart with any color vision.
COLORS = plt.style.library["petroff8"]["axes.prop_cycle"].by_key()["color"]
BLUE, ORANGE = COLORS[:2]
STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P")
HATCHES = ("xx", "..", "//", "\\\\", "++", "oo")
LARGEST_PICTURE = 60


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    with plt.style.context(["default", "petroff8"]):
        figure, axes = plt.subplots(figsize=(width, height), layout="constrained")
    # or the notebook would show it twice: as an open figure and as the cell's value
    plt.close(figure)
    return figure, axes


def without_frame(figure: Figure, axes: Axes) -> Figure:
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    return figure


def block(
    x: float, y: float, width: float, height: float, color: str, hatch: str = ""
) -> Rectangle:
    return Rectangle(
        (x, y),
        width,
        height,
        facecolor=to_rgba(color, 0.35),
        edgecolor=color,
        hatch=hatch,
    )


def labeled_box(
    axes: Axes,
    x: float,
    y: float,
    label: str,
    color: str,
    *,
    hatch: str = "",
    fontsize: float = 11,
) -> None:
    rectangle = block(x + 0.04, y, 0.92, 0.8, color, hatch)
    rectangle.set_edgecolor("black" if color == "white" else color)
    axes.add_patch(rectangle)
    text = axes.text(
        x + 0.5, y + 0.4, label, ha="center", va="center", fontsize=fontsize
    )
    if hatch and color != "lightgray":
        text.set_bbox(
            {"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.8}
        )


def runs_of(positions: np.ndarray) -> list[tuple[int, int]]:
    """Group sorted positions into runs of neighbors: (first, last) of each."""
    pieces = np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1)
    return [(int(piece[0]), int(piece[-1])) for piece in pieces if len(piece)]


def visible(label: str) -> str:
    return {" ": "␣", "\n": "↵", "\t": "⇥"}.get(label, label)
