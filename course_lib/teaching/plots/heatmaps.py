"""Tables of numbers, as colors."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from course_lib.teaching.plots.style import new_figure


def plot_heatmap(values: object, *, xlabel: str, ylabel: str, label: str) -> Figure:
    """Draw a table of numbers as colors, with its zeros left white and crossed out.

    Args:
        values: shape (rows, columns); row 0 is at the top.
        label: what the colors mean.
    """
    values = np.asarray(values)
    figure, axes = new_figure(9, min(0.3 * len(values) + 1.4, 5))
    axes.patch.set(facecolor="white", hatch="xxxx", edgecolor="gray")
    image = axes.imshow(
        np.ma.masked_equal(values, 0),
        aspect="auto",
        cmap="viridis",
        interpolation="nearest",
    )
    figure.colorbar(image, label=label)
    for row in range(1, len(values)):
        # rows that are alike must not melt into one
        axes.axhline(row - 0.5, color="white", linewidth=1.5)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.yaxis.get_major_locator().set_params(integer=True)
    return figure
