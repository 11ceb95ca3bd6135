"""Curves over steps, or over any other number, each with its name beside it."""

from collections.abc import Mapping
from typing import Annotated

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.foundation import OneOf, check_choice, checked
from course_lib.teaching.plots import style

MOST_PANELS = 3
SPACINGS = ("linear", "logarithmic")


@style.styled
def plot_curves(
    x: object,
    curves: Mapping[str, object],
    *,
    xlabel: str,
    ylabel: str,
    lines: Mapping[str, float] | None = None,
    meanings: Mapping[str, str] | None = None,
) -> Figure:
    """Draw one curve a name over common x values.

    Args:
        x: shape (points,).
        curves: name to values, shape (points,) or (runs, points); of several runs the
            mean, and a band of one standard deviation.
        lines: name to a level to compare with.
        meanings: for some names what they mean, such as "right" or "wrong".
    """
    style.check_names("curves", curves, style.MOST_CURVES)
    x, lines, meanings = style.finite("x", x).ravel(), lines or {}, meanings or {}
    for name, meaning in meanings.items():
        check_choice("a key of meanings", name, curves)
        check_choice(f"meanings[{name!r}]", meaning, style.LOOKS)
    figure, (axes,) = style.new_panels(max(3.4, 0.2 * len(curves | lines) + 1))
    ends, told = [], [f"Curves of {ylabel} over {xlabel}"]
    for number, (name, values) in enumerate(curves.items()):
        runs = np.atleast_2d(style.finite(f"curves[{name!r}]", values))
        if runs.ndim > 2 or runs.shape[1] != len(x) or not runs.size:
            wanted = f"shape ({len(x)},) or (runs, {len(x)}), a point for each x"
            raise ValueError(
                f"curves[{name!r}] must have {wanted}, got {np.shape(values)}"
            )
        look, mean = style.curve_style(number, meanings.get(name)), runs.mean(axis=0)
        every = max(1, len(x) // 10)
        axes.plot(x, mean, markevery=(3 * number % every, every), **look)
        if len(runs) > 1:
            spread = runs.std(axis=0, ddof=1)
            band = mean - spread, mean + spread
            axes.fill_between(x, *band, color=look["color"], alpha=0.2)
        ends.append((x.max(), mean[x.argmax()], name, look))
        told.append(f"{name}: {_course_of(x, mean)}")
    for name, level in lines.items():
        level = float(style.finite(f"lines[{name!r}]", level))
        dotted = {"color": style.INK, "linewidth": 1, "linestyle": (0, (1, 2))}
        axes.axhline(level, zorder=1, **dotted)
        ends.append((None, level, name, {"color": style.INK}))
        told.append(f"A line at {style.number(level)}: {name}")
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.grid(axis="y")
    axes.xaxis.set_major_formatter(style.in_words)
    _name_ends(axes, ends)
    figure.words = style.sentence(*told)
    return figure


def _course_of(x: np.ndarray, y: np.ndarray) -> str:
    """Say where a curve begins and ends, and how high and low it is in between."""
    first, last = x.argmin(), x.argmax()
    words = f"from {style.number(y[first])} at {style.number(x[first])} "
    words += f"to {style.number(y[last])} at {style.number(x[last])}"
    for found, name in ((y.argmax(), "highest"), (y.argmin(), "lowest")):
        if y[found] not in (y[first], y[last]):
            words += f", {name} {style.number(y[found])} at {style.number(x[found])}"
    return words


@checked
@style.styled
def plot_intervals(
    curves: Mapping[str, Mapping],
    *,
    xlabel: str,
    ylabel: str,
    spacing: Annotated[str, OneOf(SPACINGS)] = "linear",
) -> Figure:
    """Draw one line a name through means, each with a bar from mean - half-width to
    mean + half-width.

    Args:
        curves: name to {x: (mean, half-width)}, or title to such a mapping: one panel
            for each, with one y axis for all.
        spacing: of the x axis: "linear" or "logarithmic".
    """
    style.check_names("curves", curves, style.MOST_CURVES)
    titled = all(
        isinstance(points, Mapping)
        for panel in curves.values()
        for points in style.check_names("curves", panel, style.MOST_CURVES).values()
    )
    panels = (
        style.check_names("curves", curves, MOST_PANELS) if titled else {"": curves}
    )
    figure, all_axes = style.new_panels(3.4, columns=len(panels), sharey=True)
    told = [f"Means with intervals of {ylabel}, for each {xlabel}"]
    names = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    for axes, (title, panel) in zip(all_axes, panels.items(), strict=True):
        ends, at = [], set()
        for name, points in panel.items():
            x, table = style.finite("x", list(points)), _pairs(name, points)
            means, half_widths = table[np.argsort(x)].T
            look = style.curve_style(names.index(name))
            axes.errorbar(np.sort(x), means, yerr=half_widths, capsize=4, **look)
            ends.append((x.max(), means[-1], name, look))
            at |= set(x)
            each = [
                f"{style.number(mean)} ± {style.number(half)} at {style.number(place)}"
                for place, mean, half in zip(
                    np.sort(x), means, half_widths, strict=True
                )
            ]
            told.append(f"{', '.join(filter(None, (title, name)))}: {', '.join(each)}")
        if spacing == "logarithmic":
            if min(at) <= 0:
                wanted = "positive on a logarithmic axis"
                raise ValueError(f"x must be {wanted}, got {min(at):g}")
            axes.set_xscale("log", base=2)
        axes.set_xticks(sorted(at), [f"{x:,g}" for x in sorted(at)])
        axes.minorticks_off()
        axes.set_xlabel(xlabel)
        axes.grid(axis="y")
        axes.set_title(style.name_of(title))
        if axes is all_axes[-1] or list(panel) != list([*panels.values()][-1]):
            _name_ends(axes, ends)
    all_axes[0].set_ylabel(ylabel)
    figure.words = style.sentence(*told)
    return figure


def _pairs(name: str, points: Mapping) -> np.ndarray:
    table = style.finite(f"curves[{name!r}]", list(points.values()))
    if table.ndim != 2 or table.shape[1] != 2 or (table[:, 1] < 0).any():
        wanted = "pairs of a mean and a half-width, none of them negative"
        raise ValueError(f"curves[{name!r}] must be {wanted}")
    return table


def _name_ends(axes: Axes, ends: list[tuple]) -> None:
    """Write names on the right, each beside the end of its curve; none over another.

    `ends` are (x, y, name, look) of each; x is `None` for a line across. A curve that
    is alone has its name as the title.
    """
    if len(ends) == 1:
        axes.set_title(style.name_of(ends[0][2]))
        return
    low, high = axes.get_ylim()
    gap = 1.35 * style.SMALL / 72 / (axes.figure.get_figheight() - 0.8)
    wanted = [(y - low) / (high - low) for _, y, _, _ in ends]
    for (x, y, name, look), place in zip(ends, spread_out(wanted, gap), strict=True):
        # Curves may end in one point: the marker tells which is which.
        sign = style.MARKERS.get(look.get("marker"), "")
        lead = {"arrowstyle": "-", "linewidth": 0.7, "color": look["color"]}
        written = {"va": "center", "fontsize": style.SMALL, "annotation_clip": False}
        axes.annotate(
            sign,
            (1, y) if x is None else (x, y),
            (1.03, place),
            xycoords=("axes fraction", "data") if x is None else "data",
            textcoords="axes fraction",
            color=look["color"],
            arrowprops=lead | {"shrinkA": 1, "shrinkB": 4},
            **written,
        )
        axes.annotate(
            style.name_of(name),
            (1.03, place),
            (13 if sign else 2, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            **written,
        )


def spread_out(wanted: list[float], gap: float) -> np.ndarray:
    """Move places apart until neighbors are `gap` away, and as little as that takes: an
    isotonic regression, a maximum of minima of means."""
    order, count = np.argsort(wanted, kind="stable"), len(wanted)
    gaps = gap * np.arange(count)
    places, moved = np.asarray(wanted)[order] - gaps, np.empty(count)
    for i in range(count):
        moved[order[i]] = gaps[i] + max(
            min(places[first:end].mean() for end in range(i + 1, count + 1))
            for first in range(i + 1)
        )
    return moved
