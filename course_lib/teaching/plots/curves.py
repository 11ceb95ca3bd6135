"""Curves over steps, or over any other number."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from course_lib.teaching.plots.style import COLORS, MARKERS, STYLES, new_figure


def plot_losses(
    curves: Mapping[str, object],
    lines: Mapping[str, float] | None = None,
    *,
    ylabel: str = "nats per token",
) -> Figure:
    """Draw training losses against steps, smoothed, and levels to compare them with.

    Args:
        curves: name to losses, shape (steps,) or (runs, steps); of several runs the
            mean, and a band from the smallest to the largest.
        lines: name to a constant loss.
    """
    figure, axes = new_figure(8, 3.4)
    for number, (name, losses) in enumerate(curves.items()):
        runs = np.atleast_2d(np.asarray(losses, dtype=float))
        width = max(1, runs.shape[1] // 50)
        steps = np.arange(runs.shape[1] // width) * width + width / 2
        smooth = (
            runs[:, : len(steps) * width]
            .reshape(len(runs), len(steps), width)
            .mean(axis=2)
        )
        # Smoothing would hide where a run starts, which is ln V if all is well: keep
        # the first loss as it is.
        steps, smooth = (
            np.concatenate([[0], steps]),
            np.concatenate([runs[:, :1], smooth], axis=1),
        )
        style = {"color": COLORS[number % 8], "linestyle": STYLES[number % len(STYLES)]}
        style |= {
            "marker": MARKERS[number % len(MARKERS)],
            "markevery": 8,
            "markersize": 5,
        }
        axes.plot(steps, smooth.mean(axis=0), label=name, **style)
        if len(runs) > 1:
            axes.fill_between(
                steps,
                smooth.min(axis=0),
                smooth.max(axis=0),
                color=COLORS[number % 8],
                alpha=0.25,
            )
    for number, (name, level) in enumerate((lines or {}).items()):
        axes.axhline(
            level,
            color="black",
            linewidth=1,
            linestyle=STYLES[(number + 1) % len(STYLES)],
            label=name,
        )
    axes.set(xlabel="optimizer step", ylabel=ylabel)
    axes.set_ylim(bottom=0)
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    return figure


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
    figure, axes = new_figure(8, 3.4)
    for number, (name, values) in enumerate(curves.items()):
        runs = np.atleast_2d(np.asarray(values, dtype=float))
        style = {"color": COLORS[number % 8], "linestyle": STYLES[number % len(STYLES)]}
        axes.plot(
            x,
            runs.mean(axis=0),
            marker=MARKERS[number % len(MARKERS)],
            label=name,
            **style,
        )
        if len(runs) > 1:
            middle, deviation = runs.mean(axis=0), runs.std(axis=0, ddof=1)
            axes.fill_between(
                x,
                middle - deviation,
                middle + deviation,
                color=style["color"],
                alpha=0.25,
            )
    for number, (name, level) in enumerate((lines or {}).items()):
        axes.axhline(
            level,
            color="black",
            linewidth=1,
            linestyle=STYLES[(number + 1) % len(STYLES)],
            label=name,
        )
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    return figure
