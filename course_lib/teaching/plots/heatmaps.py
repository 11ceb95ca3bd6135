"""Tables of numbers, as colors."""

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from course_lib.teaching.plots import style
from course_lib.teaching.plots.letters import drawable, row_name

MOST_VALUES = 12  # as many integers get a color of their own; more share a scale
LARGEST = 200, 2000
MOST_TABLES = 3


@style.styled
def plot_heatmap(
    values: object, *, xlabel: str, ylabel: str, label: str, zero: str | None = None
) -> Figure:
    """Draw a table of numbers as colors, with its zeros left white and crossed out.

    Args:
        values: shape (rows, columns); row 0 is at the top. Or title to such a table, to
            set two or three side by side, in the same colors.
        label: what the colors mean.
        zero: what a zero means, such as "never a target".
    """
    tables = style.read_panels("values", values, _as_table, most=MOST_TABLES)
    most_rows = max(map(len, tables.values()))
    height = min(0.28 * most_rows + 1.8, 5)
    figure, panels = style.new_panels(height, columns=len(tables), sharey=True)
    numbers = np.unique(np.concatenate([t.ravel() for t in tables.values()]))
    has_zeros, numbers = (numbers == 0).any(), numbers[numbers != 0]
    colors, norm, ticks = _scale(numbers)
    for axes, (name, table) in zip(panels, tables.items(), strict=True):
        axes.patch.set(facecolor="white", hatch=style.LOST_HATCH, edgecolor=style.LOST)
        shown = np.ma.masked_equal(table, 0)
        axes.imshow(
            shown, cmap=colors, norm=norm, aspect="auto", interpolation="nearest"
        )
        if len(table) <= 40:  # rows that are alike must not melt into one
            for row in range(1, len(table)):
                axes.axhline(row - 0.5, color="white", linewidth=1.5)
        axes.set_title(row_name(name))
        axes.set_xlabel(drawable(xlabel))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(8, integer=True))
    panels[0].set_ylabel(drawable(ylabel))
    source = ScalarMappable(norm, colors)
    bar = figure.colorbar(source, ax=list(panels), label=drawable(label), ticks=ticks)
    bar.ax.minorticks_off()
    if has_zeros:
        crossed = style.sample("lost", 0)
        style.explain(figure, {f"0: {row_name(zero)}" if zero else "0": crossed})
    return figure


def _as_table(name: str, values: object) -> np.ndarray:
    table = style.finite(name, values)
    if table.ndim != 2 or not table.size or (np.array(table.shape) > LARGEST).any():
        wanted = f"shape (rows, columns), at most {LARGEST}"
        raise ValueError(f"{name} must have {wanted}, got {table.shape}")
    return table


def _scale(numbers: np.ndarray) -> tuple:
    """A color for each of a few integers, or a scale from smallest to largest."""
    if not numbers.size:
        return colormaps["viridis"], Normalize(0, 1), None
    whole = (numbers == np.round(numbers)).all() and abs(numbers).max() < 2**53
    if whole and numbers[-1] - numbers[0] < MOST_VALUES:
        steps = np.arange(numbers[0], numbers[-1] + 1)
        colors = ListedColormap(colormaps["viridis"](np.linspace(0, 0.95, len(steps))))
        edges = np.append(steps, steps[-1] + 1) - 0.5
        return colors, BoundaryNorm(edges, len(steps)), steps
    return colormaps["viridis"], Normalize(numbers[0], numbers[-1]), None
