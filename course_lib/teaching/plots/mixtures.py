"""Pictures of a mixture: which source each draw takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from matplotlib.figure import Figure

from course_lib.foundation import (
    Several,
    as_integers,
    check_range,
    checked,
)
from course_lib.teaching.plots import style
from course_lib.teaching.plots.letters import drawable, shortened

HEIGHT = 0.76  # of a box; what is left of 1 is the space between rows
GAP = 1.0  # above each group, with its title
LONGEST_TITLE, LONGEST_SOURCE = 60, 16  # letters, so that the counts have room


@checked
@style.styled
def plot_draws(
    ways: Mapping[str, object], names: Annotated[Sequence[str], Several()]
) -> Figure:
    """Draw which source each draw takes: one row a source, one column a draw.

    Args:
        ways: title to the numbers of the sources, in order, 60 at most; the groups are
            drawn one below another.
        names: the names of the sources. All groups together may have 40 rows.
    """
    style.check_mapping("ways", ways)
    names = [shortened(drawable(name), LONGEST_SOURCE) for name in names]
    style.check_few("number of rows", len(ways) * len(names), style.MOST_ROWS)
    rows = len(ways) * (len(names) + GAP)
    figure, axes = style.new_figure(0.3 * rows + 0.9)
    ticks, y, widest = {}, 0.0, 1
    for title, sources in ways.items():
        sources = as_integers(f"ways[{title!r:.40}]", sources).ravel()
        check_range(f"ways[{title!r:.40}]", sources, len(names))
        widest = max(widest, style.check_few("number of draws", len(sources)))
        y += GAP
        heading = shortened(drawable(title), LONGEST_TITLE)
        axes.text(0, y - 0.2, heading, va="bottom", weight="bold")
        for number, name in enumerate(names):
            mine = (sources == number).nonzero()[0].tolist()
            ticks[y + HEIGHT / 2] = f"{name}, {len(mine)} of {len(sources)}"
            for draw in mine:
                style.block(axes, draw, y, 1, HEIGHT, "inputs")
            y += 1
    axes.set_xticks(range(0, widest + 1, 5))
    style.fit_columns(axes, widest, 0.42, 1.7)
    return style.finish_rows(figure, axes, ticks, (y, 0.1), {}, "draw")
