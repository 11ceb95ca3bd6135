"""Pictures of a stream in several files, and of orders in which its windows come."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from course_lib.foundation import (
    Integers,
    Length,
    as_integers,
    check_integer,
    check_range,
    checked,
)
from course_lib.teaching.plots import style
from course_lib.teaching.plots.letters import row_name

HEIGHT = 0.72  # of a bar; what is left of 1 is the space between bars
WIDEST = 0.42  # inches for a token
MOST_PANELS, PANELS_IN_A_ROW = 9, 3
MOST_DOTS = 2000  # in a panel, because more of them look like a gray square


@checked
@style.styled
def plot_shards(
    shard_sizes: Sequence[int],
    document_starts: Sequence[int],
    starts: Integers | None = None,
    context_length: Length = 1,
) -> Figure:
    """Draw documents and shards of one stream, and the windows that lie across shards.

    Args:
        shard_sizes: ids in each file, 60 in all at most.
        document_starts: where documents start in the stream, the first at 0.
        starts, context_length: where windows of T + 1 ids start, one row each.
    """
    sizes = style.check_lengths("shard_sizes", shard_sizes)
    num_tokens = style.check_few("sum of shard_sizes", int(sizes.sum()))
    begins = style.check_starts("document_starts", document_starts, num_tokens)
    starts = np.array([] if starts is None else starts, dtype=np.int64).ravel()
    check_integer("number of windows", len(starts), minimum=0, maximum=style.MOST_ROWS)
    check_range("starts", starts, num_tokens - context_length)
    figure, axes = style.new_figure(0.29 * (len(starts) + 2.5) + 1.2)
    borders = np.cumsum(sizes)
    _row_of_boxes(axes, 0, begins, num_tokens)
    _row_of_boxes(axes, 1, np.append(0, borders[:-1]), num_tokens)
    ticks = {HEIGHT / 2: "documents", 1 + HEIGHT / 2: "shards"}
    y = 2.4
    homes = np.searchsorted(borders, [starts, starts + context_length], side="right")
    for number, start in enumerate(starts.tolist()):
        meaning = "inputs" if homes[0, number] == homes[1, number] else "lost"
        style.block(axes, start, y, context_length + 1, HEIGHT, meaning)
        ticks[y + HEIGHT / 2] = f"window at {start}"
        y += 1
    axes.vlines(borders[:-1], -0.2, y, color=style.INK, linewidth=1.4, zorder=3)
    dashed = {"linewidth": 0.8, "linestyle": (0, (2, 2)), "zorder": 2}
    axes.vlines(begins[1:], -0.2, y, color=style.INK, **dashed)
    axes.set_xticks(range(0, num_tokens + 1, 5))
    style.fit_columns(axes, num_tokens, WIDEST)
    keys = {"window inside one shard": "inputs"} if starts.size else {}
    if (homes[0] != homes[1]).any():
        keys["window across a shard boundary"] = "lost"
    xlabel = "position in the stream"
    return style.finish_rows(figure, axes, ticks, (y, -0.3), keys, xlabel)


def _row_of_boxes(axes, y: float, begins: np.ndarray, num_tokens: int) -> None:
    ends = np.append(begins[1:], num_tokens)
    narrowest = 0.25 / style.column_width(num_tokens, WIDEST)
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        shade = (0.06, 0.2)[number % 2]
        style.block(axes, begin, y, end - begin, HEIGHT, "neutral", shade)
        if end - begin >= narrowest:
            style.centered(axes, (begin + end) / 2, y + HEIGHT / 2, str(number))


@checked
@style.styled
def plot_orders(orders: Mapping[str, object], *, size: Length) -> Figure:
    """Draw orders: which place of the file comes at which position, one panel each.

    Args:
        orders: name to the places at positions 0, 1, 2, ...; of more than 2,000
            positions every k-th is drawn.
        size: n, the places in the file; an order may stop before it has all of them.
    """
    entries = style.read_each("orders", orders, _places, size, most=MOST_PANELS)
    rows = -(-len(entries) // PANELS_IN_A_ROW)
    columns = -(-len(entries) // rows)
    shared = {"sharex": True, "sharey": True}
    figure, panels = style.new_panels(2.6 * rows + 0.5, rows, columns, **shared)
    for axes in panels[len(entries) :]:
        axes.set_visible(False)
    longest = max(map(len, entries.values()))
    every = max(1, -(-longest // MOST_DOTS))
    below = len(entries) - columns  # panels from here on have none below them
    for number, (name, values) in enumerate(entries.items()):
        axes = panels[number]
        positions = np.arange(0, len(values), every)
        axes.plot(positions, values[::every], ".", color=style.INK, markersize=2.2)
        axes.set_title(row_name(name))
        axes.set(xlim=(0, longest), ylim=(0, size))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(style.in_words)
            axis.get_major_locator().set_params(nbins=4)
        axes.tick_params(labelbottom=number >= below)
        if number >= below:
            axes.set_xlabel("position in the order")
        if number % columns == 0:
            axes.set_ylabel("place in the file")
    if every > 1:
        style.add_remark(figure, f"one dot for every {every} positions")
    return figure


def _places(name: str, order: object, size: int) -> np.ndarray:
    places = as_integers(name, order).astype(np.int64).ravel()
    if not places.size:
        raise ValueError(f"{name} must be at least one place, got none")
    return check_range(name, places, size)
