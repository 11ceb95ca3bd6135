"""Tables of numbers, as colors."""

from collections.abc import Mapping

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import BoundaryNorm, ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from course_lib.teaching.plots import style

MOST_VALUES = 12  # as many integers get a color of their own; more share a scale
LARGEST = 200, 2000
MOST_TABLES = 3


@style.styled
def plot_heatmap(
    values: object, *, xlabel: str, ylabel: str, label: str, zero: str = "0"
) -> Figure:
    """Draw a table of numbers as colors, with its zeros left white and crossed out.

    Args:
        values: shape (rows, columns); row 0 is at the top. Or title to such a table, to
            set two or three side by side, in the same colors.
        label: what the colors mean.
        zero: what a zero means, such as "never a target".
    """
    named = values if isinstance(values, Mapping) else {"": values}
    style.check_names("values", named, MOST_TABLES)
    tables = {title: _as_table(title, table) for title, table in named.items()}
    numbers = np.concatenate([table.ravel() for table in tables.values()])
    there = np.unique(numbers[numbers != 0]) if numbers.any() else np.ones(1)
    colors, norm, ticks = colormaps["viridis"], Normalize(there[0], there[-1]), None
    if (there % 1 == 0).all() and there[-1] - there[0] < MOST_VALUES:
        ticks = np.arange(there[0], there[-1] + 1)
        colors = ListedColormap(colors(np.linspace(0, 0.95, len(ticks))))
        norm = BoundaryNorm(np.append(ticks, ticks[-1] + 1) - 0.5, len(ticks))
    height = min(0.28 * max(map(len, tables.values())) + 1.8, 5)
    figure, panels = style.new_panels(height, columns=len(tables), sharey=True)
    crossed = {"facecolor": "white", "edgecolor": style.LOST, "hatch": "xxxx"}
    for axes, (title, table) in zip(panels, tables.items(), strict=True):
        axes.patch.set(**crossed)
        shown = np.ma.masked_equal(table, 0)
        how = {"aspect": "auto", "interpolation": "nearest"}
        image = axes.imshow(shown, cmap=colors, norm=norm, **how)
        if len(table) <= 40:  # rows that are alike must not melt into one
            between = np.arange(1, len(table)) - 0.5
            axes.hlines(between, *axes.get_xlim(), color="white", linewidth=1.5)
        axes.set_title(style.name_of(title))
        axes.set_xlabel(xlabel)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(8, integer=True))
    panels[0].set_ylabel(ylabel)
    bar = figure.colorbar(image, ax=panels, label=label, ticks=ticks)
    bar.ax.minorticks_off()
    if not numbers.all():
        style.explain(figure, [Patch(label=zero, **crossed)])
    told = [
        f"{title + ': ' if title else ''}{len(table)} rows of {table.shape[1]}, "
        f"from {style.number(table.min())} to {style.number(table.max())}"
        + f"; {(table == 0).mean():.0%} are {zero}"
        * (not table.all())
        for title, table in tables.items()
    ]
    what = f"A table in colors: {label}, by {ylabel} and {xlabel}"
    figure.words = style.sentence(what, *told)
    return figure


def _as_table(name: str, values: object) -> np.ndarray:
    table = style.finite(f"values[{name!r}]", values)
    if table.ndim != 2 or not table.size or (np.array(table.shape) > LARGEST).any():
        wanted = f"shape (rows, columns), at most {LARGEST}"
        raise ValueError(f"values[{name!r}] must have {wanted}, got {table.shape}")
    return table
