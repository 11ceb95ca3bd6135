"""A few named numbers beside one another, with their spread if there is one."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.foundation import checked
from course_lib.teaching.plots import style
from course_lib.teaching.plots.letters import drawable, row_name

BAR = "#aab2bd"


@checked
@style.styled
def plot_bars(
    values: Mapping[str, float],
    *,
    xlabel: str,
    sort: bool = False,
    limit: float | None = None,
) -> Figure:
    """Draw one horizontal bar a name, all in one color, with its value after it.

    Args:
        values: of names to numbers; of more than 40 the first are drawn.
        sort: the largest on top, instead of the order of `values`.
        limit: where the axis ends, such as 100 for percent; by default at the largest.
    """
    style.check_mapping("values", values)
    numbers = style.finite("values", list(values.values()))
    if numbers.ndim != 1:
        raise ValueError(f"values must be single numbers, got shape {numbers.shape}")
    order = np.argsort(-numbers, kind="stable") if sort else np.arange(len(numbers))
    order, more = order[: style.MOST_ROWS], len(numbers) - style.MOST_ROWS
    names, numbers = [list(values)[place] for place in order], numbers[order]
    figure, axes = style.new_figure(0.36 * len(names) + 0.9)
    if more > 0:
        style.add_remark(figure, f"{more:,} more rows, not drawn")
    axes.barh(range(len(names)), numbers, height=0.65, color=BAR, edgecolor=style.INK)
    low, high = min(0.0, numbers.min()), max(0.0, numbers.max())
    if limit is not None:
        limit = float(style.finite("limit", limit))
        if limit < high:
            raise ValueError(f"limit must be at least the largest value, got {limit}")
        high = limit
    axes.set_xlim(low, high if high > low else 1)
    for row, text in enumerate(style.same_decimals(numbers)):
        _write_beside(axes, max(numbers[row], 0), row, text, (5, 0), va="center")
    axes.axvline(0, color=style.INK, linewidth=0.8)
    style.name_rows(axes, dict(enumerate(names)), fontsize=style.NORMAL)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel(drawable(xlabel))
    return figure


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
    style.check_mapping("groups", groups)
    titled = all(isinstance(section, Mapping) for section in groups.values())
    sections = groups if titled else {"": groups}
    rows = [
        (title, name, _as_runs(f"groups[{name!r}]", runs))
        for title, section in sections.items()
        for name, runs in section.items()
    ]
    style.check_few("number of rows", len(rows), style.MOST_ROWS)
    known = list(dict.fromkeys(name for _, name, _ in rows))
    decimals = _decimals_of([runs for _, _, runs in rows])
    titles = 0.38 * titled * len(sections)
    figure, axes = style.new_figure(0.46 * len(rows) + titles + 0.9)
    ticks, y, before = {}, 0.0, None
    for title, name, runs in rows:
        if titled and (before is None or before[0] != title):
            at_the_left = axes.get_yaxis_transform()
            axes.text(
                0,
                y,
                row_name(title),
                va="center",
                fontweight="bold",
                transform=at_the_left,
            )
            y += 0.85
        if paired and before and before[0] == title:
            if len(runs) != len(before[1]):
                raise ValueError("groups must have equally many runs to be paired")
            axes.plot(
                [before[1], runs], [y - 1, y], color="#b9bec6", linewidth=1, zorder=1
            )
        marker = list(style.MARKERS)[known.index(name) % len(style.MARKERS)]
        _draw_runs(axes, y, runs, decimals, marker)
        ticks[y] = name
        before = title, runs
        y += 1
    style.name_rows(axes, ticks, fontsize=style.NORMAL)
    axes.set_ylim(y - 0.5, -0.5 if titled else -0.8)
    axes.margins(x=0.06)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_xlabel(drawable(xlabel))
    return figure


def _as_runs(name: str, runs: object) -> np.ndarray:
    runs = style.finite(name, runs).reshape(-1)
    if not runs.size:
        raise ValueError(f"{name} must have at least one run, got none")
    return runs


def _draw_runs(
    axes: Axes, y: float, runs: np.ndarray, decimals: int, marker: str
) -> None:
    dots = {"color": style.INK, "alpha": 0.35, "markersize": 5}
    axes.plot(runs, np.full(len(runs), y), "o", **dots)
    mean, deviation = runs.mean(), runs.std(ddof=1) if len(runs) > 1 else 0.0
    axes.errorbar(
        mean, y, xerr=deviation, color=style.INK, marker=marker, capsize=5, markersize=8
    )
    written = f"{mean:,.{decimals}f}" if abs(mean) < 1e12 else f"{mean:.4g}"
    _write_beside(axes, mean, y, written, (0, 8), ha="center", fontsize=style.SMALL)


def _decimals_of(rows: list[np.ndarray]) -> int:
    """Enough to tell runs apart: two digits of the smallest spread, three at most."""
    spreads = [np.ptp(runs) for runs in [*rows, np.concatenate(rows)] if np.ptp(runs)]
    return int(np.clip(2 - np.floor(np.log10(min(spreads))), 0, 3)) if spreads else 1


def _write_beside(
    axes: Axes, x: float, y: float, text: str, offset: tuple, **look: object
) -> None:
    look |= {"textcoords": "offset points", "bbox": style.LEGIBLE}
    axes.annotate(text, (x, y), offset, annotation_clip=False, **look)
