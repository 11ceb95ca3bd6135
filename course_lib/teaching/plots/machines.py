"""Pictures of a stream in several files, of the orders and draws in which its windows
come, and of work that ranks and workers share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Annotated

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.foundation import (
    Integers,
    Length,
    Several,
    as_integers,
    check_integer,
    check_iterable,
    check_range,
    checked,
)
from course_lib.teaching.plots import style
from course_lib.teaching.plots.boxes import IN_TURN, Box, Row, plot_rows
from course_lib.teaching.plots.letters import drawable, row_name, shortened

LONGEST_SOURCE = 16  # letters, so that the counts have room
MOST_PANELS, PANELS_IN_A_ROW = 9, 3
MOST_DOTS = 2000  # in a panel, because more of them look like a gray square
ROOM = 1.1  # inches on the right, for what a group ends with


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
    borders = np.cumsum(sizes)
    first, last = np.searchsorted(borders, [starts, starts + context_length], "right")
    rows = [
        Row("documents", _pieces(begins, num_tokens)),
        Row("shards", _pieces(np.append(0, borders[:-1]), num_tokens)),
    ]
    for number, start in enumerate(starts.tolist()):
        meaning = "inputs" if first[number] == last[number] else "lost"
        window = Box(start, context_length + 1, meaning)
        rows.append(Row(f"window at {start}", [window], space=0.4 * (number == 0)))
    keys = {
        "window inside one shard": "inputs",
        "window across a shard boundary": "lost",
    }
    figure, axes, tops = plot_rows(
        rows, num_tokens, keys=keys, xlabel="position in the stream"
    )
    down = -0.1, tops[-1] + 0.9
    axes.vlines(borders[:-1], *down, color=style.INK, linewidth=1.4, zorder=3)
    dashed = {"linewidth": 0.8, "linestyle": (0, (2, 2)), "zorder": 2}
    axes.vlines(begins[1:], *down, color=style.INK, **dashed)
    return figure


def _pieces(begins: np.ndarray, num_tokens: int) -> list[Box]:
    """Numbered pieces of a stream, end to end."""
    ends = np.append(begins[1:], num_tokens)
    pieces = zip(begins.tolist(), ends.tolist(), strict=True)
    return [
        Box(begin, end - begin, "neutral", str(number), (0.06, 0.2)[number % 2])
        for number, (begin, end) in enumerate(pieces)
    ]


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
    figure, panels = style.new_panels(
        2.6 * rows + 0.5, rows, columns, sharex=True, sharey=True
    )
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
    rows, longest = [], 1
    for title, sources in ways.items():
        sources = as_integers(f"ways[{title!r:.40}]", sources).ravel()
        check_range(f"ways[{title!r:.40}]", sources, len(names))
        longest = max(longest, style.check_few("number of draws", len(sources)))
        for number, name in enumerate(names):
            boxes = [
                Box(draw, 1) for draw in np.flatnonzero(sources == number).tolist()
            ]
            name = f"{name}, {len(boxes)} of {len(sources)}"
            rows.append(Row(name, boxes, title="" if number else str(title)))
    return plot_rows(rows, longest, keys={}, xlabel="draw")[0]


@checked
@style.styled
def plot_ranks(
    ranks: Mapping[str, Mapping[str, object]],
    num_samples: int,
    *,
    together: bool = True,
    lines: Mapping[str, float] | None = None,
) -> Figure:
    """Draw which samples of an epoch's order each rank reads: one row a rank.

    A last row shows samples that nobody reads, or that are read more than once.

    Args:
        ranks: title to a group of ranks, each a name to positions in the order.
        num_samples: of the epoch.
        together: the groups share one epoch, as before and after a resume; otherwise
            each group has an epoch of its own.
        lines: name to a position before which a line is drawn.
    """
    num_samples = style.check_few("num_samples", num_samples)
    lines = style.as_levels(lines)
    groups = _in_groups("ranks", ranks, _positions, num_samples)
    read = [np.concatenate(list(several.values())) for several in groups.values()]
    if together:
        read = [np.concatenate(read)] * len(groups)
    rows: list[Row] = []
    for group, (title, several) in enumerate(groups.items()):
        times = np.bincount(read[group], minlength=num_samples)
        shade = IN_TURN[group % 2 if together else 0]
        for number, (name, positions) in enumerate(several.items()):
            boxes = [
                Box(
                    place,
                    1,
                    "inputs" if times[place] == 1 else "wrong",
                    str(place),
                    shade,
                )
                for place in positions.tolist()
            ]
            rows.append(Row(name, boxes, title="" if number else title))
        is_last = not together or group == len(groups) - 1
        if is_last and (times != 1).any():
            boxes = [
                Box(place, 1, "wrong" if times[place] else "lost")
                for place in np.flatnonzero(times != 1).tolist()
            ]
            rows.append(Row("all together", boxes, space=0.15))
    keys = {
        "read once": "inputs",
        "read by nobody": "lost",
        "read more than once": "wrong",
    }
    label = "position in the order of the epoch"
    figure, axes, _ = plot_rows(rows, num_samples, keys=keys, xlabel=label)
    for name, position in lines.items():
        axes.axvline(position, **style.DOTTED | {"linewidth": 1.6})
        at = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        axes.annotate(drawable(name), (position, 1), (3, 2), **at, fontsize=style.SMALL)
    return figure


@style.styled
def plot_timeline(
    workers: Mapping[str, Mapping[str, object]], *, xlabel: str
) -> Figure:
    """Draw which worker does which task when: one row a worker, one bar a task.

    Args:
        workers: title to workers, each a name to its tasks, `(begin, end, label)`.
        xlabel: what is counted from left to right.
    """
    groups = _in_groups("workers", workers, _tasks)
    rows, ends = [], []
    for title, several in groups.items():
        for number, (name, tasks) in enumerate(several.items()):
            boxes = [
                Box(begin, end - begin, "inputs", drawable(label), IN_TURN[place % 2])
                for place, (begin, end, label) in enumerate(tasks)
            ]
            rows.append(Row(name, boxes, title="" if number else title))
        ends.append(max((t[1] for ts in several.values() for t in ts), default=0.0))
    if not any(row.boxes for row in rows):
        raise ValueError("workers must have at least one task, got none")
    if (longest := max(ends)) == 0:
        raise ValueError("workers must have a task that takes longer than 0")
    figure, axes, tops = _over_time(rows, longest, {"a task": "inputs"}, xlabel)
    for several, end in zip(groups.values(), ends, strict=True):
        _end_group(axes, [end], tops[: len(several)], f"{end:,.6g}")
        tops = tops[len(several) :]
    return figure


@style.styled
def plot_waits(work: Mapping[str, object], *, xlabel: str) -> Figure:
    """Draw steps that all ranks take together: each lasts as long as its slowest rank.

    Args:
        work: title to the work in each step, shape (steps, world_size).
        xlabel: what is counted from left to right.
    """
    panels = style.read_each("work", work, _steps)
    count = sum(values.shape[1] for values in panels.values())
    style.check_few("number of ranks", count, style.MOST_ROWS)
    longest = max(values.max(axis=1).sum() for values in panels.values())
    if longest == 0:
        raise ValueError("work must be more than 0 in one of the steps")
    rows = []
    for title, values in panels.items():
        lasts = values.max(axis=1)
        begins = np.cumsum(lasts) - lasts
        for rank, works in enumerate(values.T):
            boxes = [Box(*step) for step in zip(begins, works, strict=True)]
            steps = zip(begins + works, lasts - works, strict=True)
            boxes += [Box(begin, rest, "lost") for begin, rest in steps if rest > 0]
            rows.append(Row(f"rank {rank}", boxes, title="" if rank else title))
    keys = {"works": "inputs", "waits for the slowest; a line ends each step": "lost"}
    figure, axes, tops = _over_time(rows, float(longest), keys, xlabel)
    for values in panels.values():
        ranks = values.shape[1]
        ends = np.append(0, np.cumsum(values.max(axis=1)))
        idle = 1 - values.sum() / (ends[-1] * ranks) if ends[-1] else 0.0
        _end_group(axes, ends, tops[:ranks], f"{idle:.0%} waiting")
        tops = tops[ranks:]
    return figure


def _over_time(
    rows: list[Row], longest: float, keys: Mapping[str, str], xlabel: str
) -> tuple[Figure, Axes, list[float]]:
    return plot_rows(
        rows,
        longest,
        keys=keys,
        height=0.34,
        xlabel=xlabel,
        widest=style.WIDTH / longest,
        room=ROOM,
    )


def _end_group(
    axes: Axes, at: Sequence[float], tops: Sequence[float], words: str
) -> None:
    """Draw lines through the rows of a group, and write words after the last one."""
    top, bottom = tops[0] - 0.1, tops[-1] + 0.88
    axes.vlines(at, top, bottom, color=style.INK, linewidth=1.6)
    axes.annotate(
        words,
        (at[-1], (top + bottom) / 2),
        (6, 0),
        textcoords="offset points",
        va="center",
        fontsize=style.SMALL,
    )


def _in_groups(
    name: str, groups: object, read: Callable[..., Sized], *rest: object
) -> dict[str, dict[str, Sized]]:
    checked = style.read_each(name, groups, style.read_each, read, *rest)
    rows = sum(map(len, checked.values()))
    style.check_few(f"number of {name}", rows, style.MOST_ROWS)
    return checked


def _positions(name: str, positions: object, num_samples: int) -> np.ndarray:
    positions = as_integers(name, positions).astype(np.int64).ravel()
    return check_range(name, positions, num_samples)


def _steps(name: str, work: object) -> np.ndarray:
    work = style.finite(name, work)
    if work.ndim != 2 or not work.size or (work < 0).any():
        wanted = "shape (steps, world_size), none below 0"
        raise ValueError(f"{name} must have {wanted}, got shape {work.shape}")
    return work


def _tasks(name: str, tasks: object) -> list[tuple[float, float, str]]:
    checked = []
    for task in check_iterable(name, tasks, "tasks"):
        if not isinstance(task, Sequence) or len(task) != 3:
            raise ValueError(f"{name} must hold (begin, end, label), got {task!r:.60}")
        begin, end = style.finite(name, task[:2]).tolist()
        if not 0 <= begin <= end:
            wanted = "tasks that begin at 0 or later and end after that"
            raise ValueError(f"{name} must hold {wanted}, got {begin:g} to {end:g}")
        checked.append((begin, end, str(task[2])))
    return checked
