"""Curves over steps, or over any other number, each with its name beside it."""

from collections.abc import Mapping
from typing import Annotated

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.foundation import OneOf, checked
from course_lib.teaching.plots import style
from course_lib.teaching.plots.letters import drawable, row_name

MOST_PANELS = 3
SPACINGS = ("linear", "logarithmic")


@style.styled
def plot_losses(
    curves: Mapping[str, object],
    lines: Mapping[str, float] | None = None,
    *,
    meanings: Mapping[str, str] | None = None,
) -> Figure:
    """Draw training losses against steps, smoothed, and levels to compare them with.

    Args:
        curves: name to losses, shape (steps,) or (runs, steps); of several runs the
            mean, and a band from the smallest to the largest.
        lines: name to a constant loss, such as a floor.
        meanings: for some names what they mean, such as "right" or "wrong".
    """
    curves = style.read_each("curves", curves, _as_runs, most=style.MOST_CURVES)
    figure, axes, levels = _with_levels(len(curves), lines)
    ends = []
    for number, (name, runs) in enumerate(curves.items()):
        width = max(1, runs.shape[1] // 50)
        steps = np.arange(runs.shape[1] // width) * width + width / 2
        smooth = runs[:, : len(steps) * width]
        smooth = smooth.reshape(len(runs), len(steps), width).mean(axis=2)
        # Smoothing would hide where a run starts, at ln V: keep the first loss.
        steps = np.append(0, steps)
        smooth = np.append(runs[:, :1], smooth, axis=1)
        look = style.curve_style(number, style.meaning_of(name, meanings, curves))
        mean = smooth.mean(axis=0)
        axes.plot(steps, mean, label=name, markevery=(3 * number, 12), **look)
        if len(runs) > 1:
            band = smooth.min(axis=0), smooth.max(axis=0)
            axes.fill_between(steps, *band, color=look["color"], alpha=0.2)
        ends.append((steps[-1], mean[-1], name, look))
    axes.set(xlabel="optimizer step", ylabel="nats per token")
    axes.set_ylim(bottom=0)
    style.name_curves(axes, ends, levels)
    return figure


@style.styled
def plot_curves(
    x: object,
    curves: Mapping[str, object],
    *,
    xlabel: str,
    ylabel: str,
    lines: Mapping[str, float] | None = None,
) -> Figure:
    """Draw one curve a name over common x values.

    Args:
        x: shape (points,).
        curves: name to values, shape (points,) or (runs, points); of several runs the
            mean, and a band of one standard deviation.
        lines: name to a level to compare with.
    """
    curves = style.read_each("curves", curves, _as_runs, most=style.MOST_CURVES)
    x = style.finite("x", x).reshape(-1)
    figure, axes, levels = _with_levels(len(curves), lines)
    ends = []
    for number, (name, runs) in enumerate(curves.items()):
        if (count := runs.shape[1]) != len(x):
            wanted = f"{len(x)} points, one for each x"
            raise ValueError(f"curves[{name!r}] must have {wanted}, got {count}")
        look = style.curve_style(number)
        middle = runs.mean(axis=0)
        axes.plot(x, middle, label=name, **look)
        if len(runs) > 1:
            deviation = runs.std(axis=0, ddof=1)
            band = middle - deviation, middle + deviation
            axes.fill_between(x, *band, color=look["color"], alpha=0.2)
        ends.append((x.max(), middle[x.argmax()], name, look))
    axes.set(xlabel=drawable(xlabel), ylabel=drawable(ylabel))
    axes.grid()
    style.name_curves(axes, ends, levels)
    return figure


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
    panels = _as_panels(curves)
    height = _height(max(map(len, panels.values())))
    figure, all_axes = style.new_panels(height, columns=len(panels), sharey=True)
    names = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    xs = [x for panel in panels.values() for points in panel.values() for x in points]
    xs = np.unique(style.finite("x values", xs))
    for axes, (title, panel) in zip(all_axes, panels.items(), strict=True):
        ends = []
        for name, points in panel.items():
            table = style.finite(f"curves[{name!r}]", list(points.values()))
            if table.ndim != 2 or table.shape[1] != 2:
                wanted = "pairs of a mean and a half-width"
                raise ValueError(f"curves[{name!r}] must be {wanted}")
            if (table[:, 1] < 0).any():
                raise ValueError(f"curves[{name!r}] must have no negative half-width")
            order = np.argsort(list(points))
            x = np.array(list(points), dtype=float)[order]
            means, half_widths = table[order].T
            look = style.curve_style(names.index(name))
            axes.errorbar(x, means, yerr=half_widths, capsize=4, label=name, **look)
            ends.append((x[-1], means[-1], name, look))
        _space_x(axes, xs, spacing == "logarithmic", 6.5 / len(panels))
        axes.set_xlabel(drawable(xlabel))
        axes.grid(axis="y")
        axes.set_title(row_name(title))
        last = axes is all_axes[-1]
        if last or list(panel) != list(list(panels.values())[-1]):
            style.name_curves(axes, ends)
    all_axes[0].set_ylabel(drawable(ylabel))
    return figure


def _height(num_names: int) -> float:
    return max(3.4, 0.2 * num_names + 1)


def _with_levels(
    num_curves: int, lines: Mapping[str, float] | None
) -> tuple[Figure, Axes, list[tuple]]:
    lines = style.as_levels(lines)
    figure, axes = style.new_figure(_height(num_curves + len(lines)))
    return figure, axes, style.draw_levels(axes, lines)


def _as_runs(name: str, values: object) -> np.ndarray:
    runs = np.atleast_2d(style.finite(name, values))
    if runs.ndim > 2 or not runs.size:
        wanted = "shape (points,) or (runs, points)"
        raise ValueError(f"{name} must have {wanted}, got {np.shape(values)}")
    return runs


def _as_panels(curves: Mapping[str, Mapping]) -> Mapping[str, Mapping]:
    style.read_each("curves", curves, style.check_mapping)
    are_panels = [isinstance(v, Mapping) for p in curves.values() for v in p.values()]
    panels = curves if all(are_panels) else {"": curves}
    few = style.check_mapping, style.MOST_CURVES
    style.read_each("curves", panels, *few, most=MOST_PANELS)
    return panels


def _space_x(axes: Axes, at: np.ndarray, logarithmic: bool, inches: float) -> None:
    """Put a tick at each x; names that would touch one another share one label."""
    if logarithmic:
        if at[0] <= 0:
            raise ValueError(f"x must be positive on a logarithmic axis, got {at[0]:g}")
        axes.set_xscale("log", base=2)
    elif len(at) > 20:
        return
    scaled = np.log(at) if logarithmic else at
    scaled = (scaled - scaled[0]) / max(np.ptp(scaled), 1e-9) * inches
    owner, written = 0, {0: []}
    for number, (x, place) in enumerate(zip(at, scaled, strict=True)):
        text = f"{x:,g}"
        letters = len(_joined(written[owner])) + len(text)
        if number and place - scaled[owner] > 0.045 * letters + 0.05:
            owner, written[number] = number, []
        written[owner].append(text)
    axes.set_xticks(at, [_joined(written.get(i, [])) for i in range(len(at))])
    axes.minorticks_off()


def _joined(group: list[str]) -> str:
    return ", ".join(group) if len(group) < 3 else f"{group[0]} … {group[-1]}"
