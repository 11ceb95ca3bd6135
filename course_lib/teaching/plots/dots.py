"""Runs as dots with their mean and spread, and long sequences as dots."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.foundation import checked
from course_lib.teaching.plots import style

MOST_DOTS = 2000  # in a panel, because more of them look like a gray square
MOST_PANELS = 6


@checked
@style.styled
def plot_spread(
    groups: Mapping[str, object], *, xlabel: str, paired: bool = False
) -> Figure:
    """Draw one row a name: a dot for each run, and their mean with a bar of one
    standard deviation. The axis need not begin at zero.

    Args:
        groups: name to runs, or title to such a mapping: its rows come together, and
            rows of one name look alike under every title.
        paired: join run i of each row with run i of the next one, where rows share
            their seeds or their data.
    """
    style.check_names("groups", groups, style.MOST_ROWS)
    titled = all(isinstance(group, Mapping) for group in groups.values())
    rows: list[tuple[str, np.ndarray | None]] = []
    for title, group in groups.items() if titled else [("", groups)]:
        named = style.check_names("groups", group, style.MOST_ROWS)
        rows += [(title, None)] * titled
        rows += [(name, _as_runs(name, runs)) for name, runs in named.items()]
    known = list(dict.fromkeys(name for name, runs in rows if runs is not None))
    spreads = [np.ptp(runs) for _, runs in rows if runs is not None and np.ptp(runs)]
    # two digits of the smallest spread, to tell runs apart
    smallest = min(spreads, default=1)
    decimals = int(np.clip(2 - np.floor(np.log10(smallest)), 0, 3))
    figure, (axes,) = style.new_panels(0.46 * len(rows) + 0.9)
    before, told = None, [f"A dot for each run: {xlabel}, mean ± one deviation"]
    for y, (name, runs) in enumerate(rows):
        if runs is None:
            at_the_left = {"transform": axes.get_yaxis_transform(), "va": "center"}
            axes.text(0.01, y + 0.1, style.name_of(name), **at_the_left, weight="bold")
            told.append(name)
        else:
            if paired and before is not None:
                if len(runs) != len(before):
                    raise ValueError(
                        "groups must have the same number of runs to be paired"
                    )
                joined = {"color": "#b9bec6", "linewidth": 1, "zorder": 1}
                axes.plot([before, runs], [y - 1, y], **joined)
            _draw_runs(axes, y, runs, decimals, known.index(name))
            spread = f" ± {runs.std(ddof=1):,.{decimals}f}" if len(runs) > 1 else ""
            told.append(f"{name}: {runs.mean():,.{decimals}f}{spread}")
        before = runs
    named = [y for y, (_, runs) in enumerate(rows) if runs is not None]
    axes.set_yticks(named, [style.name_of(rows[y][0]) for y in named])
    axes.tick_params(axis="y", labelsize=style.NORMAL)
    axes.set_ylim(len(rows) - 0.5, -0.5 if titled else -0.8)
    axes.margins(x=0.06)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_xlabel(xlabel)
    figure.words = style.sentence(*told)
    return figure


def _as_runs(name: str, runs: object) -> np.ndarray:
    runs = style.finite(f"groups[{name!r}]", runs).reshape(-1)
    if not runs.size:
        raise ValueError(f"groups[{name!r}] must have at least one run, got none")
    return runs


def _draw_runs(
    axes: Axes, y: float, runs: np.ndarray, decimals: int, number: int
) -> None:
    dots = {"color": style.INK, "alpha": 0.35, "markersize": 5}
    axes.plot(runs, np.full(len(runs), y), "o", **dots)
    mean, deviation = runs.mean(), runs.std(ddof=1) if len(runs) > 1 else 0.0
    look = {"color": style.INK, "marker": style.curve_style(number)["marker"]}
    axes.errorbar(mean, y, xerr=deviation, capsize=5, markersize=8, **look)
    axes.annotate(
        f"{mean:,.{decimals}f}" if abs(mean) < 1e12 else f"{mean:.4g}",
        (mean, y),
        (0, 8),
        textcoords="offset points",
        ha="center",
        fontsize=style.SMALL,
        bbox=style.LEGIBLE,
    )


@style.styled
def plot_dots(sequences: Mapping[str, object], *, xlabel: str, ylabel: str) -> Figure:
    """Draw sequences as dots, a panel for each: element i over i.

    Of more than 2,000 elements every k-th is drawn.

    Args:
        sequences: title to numbers, shape (n,).
    """
    style.check_names("sequences", sequences, MOST_PANELS)
    rows = -(-len(sequences) // 3)
    columns = -(-len(sequences) // rows)
    figure, panels = style.new_panels(
        2.6 * rows + 0.5, rows, columns, sharex=True, sharey=True
    )
    most = 1
    for axes, (title, values) in zip(panels, sequences.items(), strict=False):
        most = max(most, draw_dots(axes, style.finite(title, values).ravel()))
        axes.set_title(style.name_of(title))
    for number, axes in enumerate(panels):
        axes.set_visible(number < len(sequences))
        below = number >= len(sequences) - columns
        axes.set_xlabel(xlabel if below else "")
        axes.tick_params(labelbottom=below)
    for axes in panels[::columns]:
        axes.set_ylabel(ylabel)
    if most > 1:
        style.add_remark(figure, f"one dot for every {most}")
    titles = "; ".join(map(str, sequences))
    figure.words = style.sentence(f"Dots, {ylabel} over {xlabel}, for {titles}")
    return figure


def draw_dots(axes: Axes, values: np.ndarray, **look: object) -> int:
    """Draw some of the values, every k-th, and return k."""
    every = max(1, -(-len(values) // MOST_DOTS))
    look = {"color": style.INK, "marker": ".", "markersize": 2.5} | look
    axes.plot(np.arange(0, len(values), every), values[::every], linestyle="", **look)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(style.in_words)
        axis.get_major_locator().set_params(nbins=4, integer=True)
    return every
