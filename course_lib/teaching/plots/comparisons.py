"""A few named numbers beside one another, with their spread if there is one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from course_lib.teaching.plots.style import COLORS, MARKERS, STYLES, new_figure


def plot_bars(
    values: Mapping[str, float], *, xlabel: str, logarithmic: bool = False
) -> Figure:
    """Draw one labeled horizontal bar a name, with its value written behind it."""
    figure, axes = new_figure(8, 0.42 * len(values) + 1)
    bars = axes.barh(
        list(values),
        list(values.values()),
        color=[COLORS[i % 8] for i in range(len(values))],
    )
    for bar, hatch in zip(
        bars,
        ("", "//", "..", "xx", "\\\\", "++", "oo", "--") * len(values),
        strict=False,
    ):
        bar.set(hatch=hatch, edgecolor="white")
    axes.bar_label(
        bars,
        [
            f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}"
            for value in values.values()
        ],
        padding=4,
    )
    axes.invert_yaxis()
    axes.set_xlabel(xlabel)
    if logarithmic:
        axes.set_xscale("log")
    axes.margins(x=0.25)  # room for the values, on either scale
    return figure


def plot_spread(groups: Mapping[str, object], *, xlabel: str) -> Figure:
    """Draw one row a name: a dot for each run, and their mean with a bar of one
    standard deviation.

    The axis need not begin at zero: rows are compared with one another and with their
    spread.
    """
    figure, axes = new_figure(8, 0.42 * len(groups) + 1)
    for row, values in enumerate(groups.values()):
        values = np.asarray(values, dtype=float)
        axes.plot(
            values,
            np.full(len(values), row),
            "o",
            color=COLORS[row % 8],
            alpha=0.4,
            markersize=5,
        )
        deviation = values.std(ddof=1) if len(values) > 1 else 0.0
        marker = MARKERS[row % len(MARKERS)]
        axes.errorbar(
            values.mean(),
            row,
            xerr=deviation,
            color=COLORS[row % 8],
            marker=marker,
            capsize=5,
            markersize=8,
        )
        axes.annotate(
            f"{values.mean():.3f}",
            (values.mean(), row),
            (0, 9),
            textcoords="offset points",
            ha="center",
        )
    axes.set_yticks(range(len(groups)), list(groups))
    axes.set_ylim(len(groups) - 0.5, -0.7)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel(xlabel)
    return figure


def plot_intervals(
    curves: Mapping[str, Mapping[float, tuple[float, float]]],
    *,
    xlabel: str,
    ylabel: str,
    spacing: str = "linear",
) -> Figure:
    """Draw one line a name through means, each with a bar from mean - half-width to
    mean + half-width.

    Args:
        curves: name to {x: (mean, half-width)}.
        spacing: of the x axis: "linear", "logarithmic", or "even", as names of settings
            would stand.
    """
    if spacing not in ("linear", "logarithmic", "even"):
        raise ValueError(
            f"spacing must be 'linear', 'logarithmic' or 'even', got {spacing!r}"
        )
    figure, axes = new_figure(8, 3.4)
    values = sorted({x for points in curves.values() for x in points})
    places = {x: number if spacing == "even" else x for number, x in enumerate(values)}
    for number, (name, points) in enumerate(curves.items()):
        means, half_widths = np.array(list(points.values()), dtype=float).T
        style = {"color": COLORS[number % 8], "linestyle": STYLES[number % len(STYLES)]}
        style |= {
            "marker": MARKERS[number % len(MARKERS)],
            "markersize": 6,
            "capsize": 4,
            "label": name,
        }
        axes.errorbar([places[x] for x in points], means, yerr=half_widths, **style)
    if spacing == "logarithmic":
        axes.set_xscale("log", base=2)
    if len(places) <= 20 or spacing == "even":
        axes.set_xticks(list(places.values()), [f"{x:,g}" for x in places])
        axes.minorticks_off()
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.grid(axis="y", alpha=0.3)
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    return figure
