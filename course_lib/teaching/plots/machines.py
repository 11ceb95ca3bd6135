"""Pictures of work that is shared out: which rank reads what, which worker does which
task when, and which rank waits."""

from collections.abc import Callable, Mapping, Sequence, Sized

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.foundation import (
    as_integers,
    check_iterable,
    check_range,
    checked,
)
from course_lib.teaching.plots import style
from course_lib.teaching.plots.letters import drawable

HEIGHT = 0.76  # of a bar; what is left of 1 is the space between bars
GAP = 1.0  # between groups of rows, with the name of the group
NAMES = 1.9  # inches on the left, for the names of the rows
SHADES_IN_TURN = (0.16, 0.42)  # only to tell neighbors apart


@checked
@style.styled
def plot_readers(
    readers: Mapping[str, Mapping[str, object]],
    num_samples: int,
    *,
    together: bool = True,
    lines: Mapping[str, float] | None = None,
) -> Figure:
    """Draw which samples of an epoch's order each reader reads: one row a reader.

    A last row shows samples that nobody reads, or that are read more than once.

    Args:
        readers: title to a group of readers, each a name to positions in the order.
        num_samples: of the epoch.
        together: the groups share one epoch, as before and after a resume; otherwise
            each group has an epoch of its own.
        lines: name to a position before which a line is drawn.
    """
    num_samples = style.check_few("num_samples", num_samples)
    lines = style.as_levels(lines)
    groups = _in_groups("readers", readers, _positions, num_samples)
    read = [np.concatenate(list(several.values())) for several in groups.values()]
    if together:
        read = [np.concatenate(read)] * len(groups)
    times = [np.bincount(positions, minlength=num_samples) for positions in read]
    summed = [i for i, t in enumerate(times) if (t != 1).any()]
    summed = summed[-1:] if together else summed  # the groups with a last row
    rows = sum(map(len, groups.values())) + 1.3 * len(summed) + GAP * len(groups)
    figure, axes = style.new_figure(0.3 * rows + 1.15)
    numbers_fit = style.column_width(num_samples, 0.42, NAMES) >= 0.2
    ticks, y = {}, 0.0
    for group, (title, several) in enumerate(groups.items()):
        y = _group_title(axes, title, y)
        for name, positions in several.items():
            ticks[y + HEIGHT / 2] = name
            for position in positions.tolist():
                meaning = "wrong" if times[group][position] > 1 else "inputs"
                shade = SHADES_IN_TURN[group % 2 if together else 0]
                style.block(axes, position, y, 1, HEIGHT, meaning, shade)
                if numbers_fit:
                    style.centered(axes, position + 0.5, y + HEIGHT / 2, str(position))
            y += 1
        if group in summed:
            ticks[y + 0.15 + HEIGHT / 2] = "all together"
            for position in np.flatnonzero(times[group] != 1).tolist():
                meaning = "wrong" if times[group][position] else "lost"
                style.block(axes, position, y + 0.15, 1, HEIGHT, meaning)
            y += 1.3
    for name, position in lines.items():
        axes.axvline(position, **style.DOTTED | {"linewidth": 1.6})
        at = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        axes.annotate(drawable(name), (position, 1), (3, 2), **at, fontsize=style.SMALL)
    axes.set_xticks(range(0, num_samples + 1, 5))
    style.fit_columns(axes, num_samples, 0.42, NAMES)
    keys = {"read once": "inputs"}
    if any((t == 0).any() for t in times):
        keys["read by nobody"] = "lost"
    if any((t > 1).any() for t in times):
        keys["read more than once"] = "wrong"
    xlabel = "position in the order of the epoch"
    return style.finish_rows(figure, axes, ticks, (y - 0.1, -0.2), keys, xlabel)


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
    ends = [t[1] for several in groups.values() for ts in several.values() for t in ts]
    if not ends:
        raise ValueError("workers must have at least one task, got none")
    longest = max(ends)
    if longest == 0:
        raise ValueError("workers must have a task that takes longer than 0")
    rows = sum(map(len, groups.values())) + GAP * len(groups)
    figure, axes = style.new_figure(0.34 * rows + 1.15)
    ticks, y = {}, 0.0
    for title, several in groups.items():
        y = top = _group_title(axes, title, y)
        for name, tasks in several.items():
            ticks[y + HEIGHT / 2] = name
            for number, (begin, end, label) in enumerate(tasks):
                shade = SHADES_IN_TURN[number % 2]
                width = end - begin
                style.block(axes, begin, y, width, HEIGHT, "inputs", shade)
                if width * (style.WIDTH - NAMES) / longest > 0.085 * len(label) + 0.06:
                    where = begin + width / 2, y + HEIGHT / 2
                    style.centered(axes, *where, drawable(label))
            y += 1
        last = max((t[1] for ts in several.values() for t in ts), default=0)
        _end_group(axes, [last], top, y, longest, f"{last:,.6g}")
    axes.set_xlim(-0.002 * longest, 1.1 * longest)
    axes.xaxis.set_major_formatter(style.in_words)
    keys = {"a task": "inputs"}
    return style.finish_rows(figure, axes, ticks, (y - 0.05, -0.2), keys, xlabel)


@style.styled
def plot_waits(work: Mapping[str, object], *, xlabel: str) -> Figure:
    """Draw steps that all ranks take together: each lasts as long as its slowest rank.

    Args:
        work: title to the work in each step, shape (steps, world_size).
        xlabel: what is counted from left to right.
    """
    panels = style.read_each("work", work, _steps)
    rows = sum(values.shape[1] for values in panels.values())
    style.check_few("number of ranks", rows, style.MOST_ROWS)
    longest = max(values.max(axis=1).sum() for values in panels.values())
    if longest == 0:
        raise ValueError("work must be more than 0 in one of the steps")
    figure, axes = style.new_figure(0.34 * (rows + GAP * len(panels)) + 1.15)
    ticks, y, keys = {}, 0.0, {"works": "inputs"}
    for title, values in panels.items():
        y = top = _group_title(axes, title, y)
        lasts = values.max(axis=1)
        begins = np.cumsum(lasts) - lasts
        for rank in range(values.shape[1]):
            ticks[y + HEIGHT / 2] = f"rank {rank}"
            for begin, last, own in zip(begins, lasts, values[:, rank], strict=True):
                style.block(axes, begin, y, own, HEIGHT, "inputs")
                if own < last:
                    style.block(axes, begin + own, y, last - own, HEIGHT, "lost")
                    keys["waits for the slowest; a line ends each step"] = "lost"
            y += 1
        end = lasts.sum()
        idle = 1 - values.sum() / (end * values.shape[1]) if end else 0.0
        _end_group(axes, [*begins, end], top, y, longest, f"{idle:.0%} waiting")
    axes.set_xlim(-0.002 * longest, 1.14 * longest)
    axes.xaxis.set_major_formatter(style.in_words)
    return style.finish_rows(figure, axes, ticks, (y - 0.05, -0.2), keys, xlabel)


def _in_groups(
    name: str, groups: object, read: Callable[..., Sized], *rest: object
) -> dict[str, dict[str, Sized]]:
    checked = style.read_each(name, groups, style.read_each, read, *rest)
    rows = sum(map(len, checked.values()))
    style.check_few(f"number of {name}", rows, style.MOST_ROWS)
    return checked


def _group_title(axes: Axes, title: str, y: float) -> float:
    axes.text(0, y + 0.85 * GAP, drawable(title), va="bottom", fontweight="bold")
    return y + GAP


def _end_group(
    axes: Axes, at: list[float], top: float, y: float, longest: float, words: str
) -> None:
    axes.vlines(at, top - 0.1, y - 0.12, color=style.INK, linewidth=1.6)
    where = at[-1] + 0.008 * longest, (top + y - 0.24) / 2
    axes.text(*where, words, va="center", fontsize=style.SMALL)


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
