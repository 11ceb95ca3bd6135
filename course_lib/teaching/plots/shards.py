"""Pictures of a stream in several files, and of orders in which its windows come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from course_lib.foundation import as_integers, check_integer, check_range
from course_lib.teaching.plots.letters import row_name
from course_lib.teaching.plots.style import (
    INK,
    LARGEST_PICTURE,
    MOST_ROWS,
    SMALL,
    block,
    check_mapping,
    column_width,
    explain,
    fit_columns,
    in_words,
    new_figure,
    say,
    styled,
    without_frame,
)

HEIGHT = 0.72  # of a bar; what is left of 1 stands between bars
WIDEST = 0.42  # inches for a token
MOST_PANELS, PANELS_IN_A_ROW = 9, 3
MOST_DOTS = 2000  # in a panel: more of them are a gray square


@styled
def plot_shards(
    shard_sizes: Sequence[int],
    document_starts: Sequence[int],
    starts: Sequence[int] = (),
    context_length: int = 1,
) -> Figure:
    """Draw documents and shards of one stream, and the windows that lie across shards.

    Args:
        shard_sizes: ids in each file, 60 in all at most.
        document_starts: where documents start in the stream, the first at 0.
        starts: of windows, one line each.
        context_length: T; a window is T + 1 ids.
    """
    sizes = as_integers("shard_sizes", shard_sizes).astype(np.int64)
    if sizes.ndim != 1 or not sizes.size or sizes.min() < 1:
        raise ValueError(
            f"shard_sizes must be of one id at least, each, got {sizes.tolist()}"
        )
    num_tokens = check_integer(
        "sum of shard_sizes", int(sizes.sum()), minimum=1, maximum=LARGEST_PICTURE
    )
    begins = _rising("document_starts", document_starts, num_tokens)
    if not begins.size or begins[0]:
        raise ValueError(
            f"document_starts must begin with 0, got {begins[:3].tolist()}"
        )
    context_length = check_integer("context_length", context_length, minimum=1)
    starts = as_integers("starts", starts).astype(np.int64).ravel()
    check_integer("number of windows", len(starts), minimum=0, maximum=MOST_ROWS)
    check_range("starts", starts, num_tokens - context_length)
    lines = 2 + len(starts)
    figure, axes = new_figure(0.29 * (lines + 0.5) + 1.2)
    borders = np.cumsum(sizes)
    _row_of_boxes(axes, 0, begins, num_tokens)
    _row_of_boxes(axes, 1, np.append(0, borders[:-1]), num_tokens)
    ticks = {HEIGHT / 2: "documents", 1 + HEIGHT / 2: "shards"}
    y = 2.4
    homes = np.searchsorted(borders, [starts, starts + context_length], side="right")
    for number, start in enumerate(starts.tolist()):
        meaning = "inputs" if homes[0, number] == homes[1, number] else "lost"
        axes.add_patch(block(start, y, context_length + 1, HEIGHT, meaning))
        ticks[y + HEIGHT / 2] = f"window at {start}"
        y += 1
    for border in borders[:-1].tolist():
        axes.plot([border, border], [-0.2, y], color=INK, linewidth=1.4, zorder=3)
    for begin in begins[1:].tolist():
        style = {"color": INK, "linewidth": 0.8, "linestyle": (0, (2, 2)), "zorder": 2}
        axes.plot([begin, begin], [-0.2, y], **style)
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.set_xticks(range(0, num_tokens + 1, 5))
    axes.set_xlabel("position in the stream", loc="left")
    fit_columns(axes, num_tokens, WIDEST)
    axes.set_ylim(y, -0.3)
    if starts.size:
        keys = {"window inside one shard": block(0, 0, 1, 1, "inputs")}
        if (homes[0] != homes[1]).any():
            keys["window across a border of shards"] = block(0, 0, 1, 1, "lost")
        explain(figure, keys)
    return without_frame(figure, axes)


def _rising(name: str, positions: object, num_tokens: int) -> np.ndarray:
    positions = as_integers(name, positions).astype(np.int64)
    rising = positions.ndim == 1 and (np.diff(positions) > 0).all()
    if not rising or (
        positions.size and not 0 <= positions[0] <= positions[-1] < num_tokens
    ):
        raise ValueError(
            f"{name} must rise from 0 or more to less than {num_tokens}, got "
            f"{positions.tolist()}"
        )
    return positions


def _row_of_boxes(axes, y: float, begins: np.ndarray, num_tokens: int) -> None:
    """Boxes that lie end to end, numbered where there is room for a number."""
    ends = np.append(begins[1:], num_tokens)
    narrowest = 0.25 / column_width(num_tokens, WIDEST)
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        shade = (0.06, 0.2)[number % 2]
        axes.add_patch(block(begin, y, end - begin, HEIGHT, "neutral", shade))
        if end - begin >= narrowest:
            middle = (begin + end) / 2, y + HEIGHT / 2
            text = axes.text(*middle, str(number), ha="center", va="center")
            text.set_fontsize(SMALL)


@styled
def plot_orders(orders: Mapping[str, object], *, size: int) -> Figure:
    """Draw orders: which place of the file comes at which position, one panel each.

    Args:
        orders: name to what stands at the positions 0, 1, 2, ...; of more than 2,000
            every k-th is drawn.
        size: n, places in the file; an order may stop before it has all of them.
    """
    check_mapping("orders", orders)
    check_integer("number of orders", len(orders), minimum=1, maximum=MOST_PANELS)
    size = check_integer("size", size, minimum=1)
    entries = {
        name: as_integers(f"orders[{name!r}]", values).astype(np.int64).ravel()
        for name, values in orders.items()
    }
    for name, values in entries.items():
        if not values.size or values.min() < 0 or values.max() >= size:
            raise ValueError(
                f"orders[{name!r}] must be places in 0 ... {size - 1}, at least one, "
                f"got {values[:5].tolist()}"
            )
    columns = min(PANELS_IN_A_ROW, len(entries))
    rows = -(-len(entries) // columns)
    figure, _ = new_figure(2.6 * rows + 0.5)
    figure.clear()  # with panels of its own
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    every = max(1, -(-max(map(len, entries.values())) // MOST_DOTS))
    for axes in panels.ravel()[len(entries) :]:
        axes.set_visible(False)
    longest = max(map(len, entries.values()))
    for axes, (name, values) in zip(panels.ravel(), entries.items(), strict=False):
        positions = np.arange(0, len(values), every)
        axes.plot(positions, values[::every], ".", color=INK, markersize=2.2)
        axes.set_title(row_name(name))
        axes.set_xlim(0, longest)
        axes.set_ylim(0, size)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(in_words)
            axis.get_major_locator().set_params(nbins=4)
    below = len(entries) - columns  # panels from here on have none below them
    for number, axes in enumerate(panels.ravel()[: len(entries)]):
        axes.tick_params(labelbottom=number >= below)
        if number >= below:
            axes.set_xlabel("position in the order")
        if number % columns == 0:
            axes.set_ylabel("place in the file")
    if every > 1:
        say(figure, f"one dot for every {every} positions")
    return figure
