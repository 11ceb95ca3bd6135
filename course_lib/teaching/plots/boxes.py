"""The vocabulary of most figures: rows of labelled boxes, from the top down. What a
figure shows is then data, a list of `Row`s.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from course_lib.teaching.plots import style
from course_lib.teaching.plots.letters import drawable, row_name, shortened

HEIGHT = 0.76  # of a box; the rest of 1 is the space between rows
MIDDLE = HEIGHT / 2
WIDEST = 0.42  # inches of a unit across, such as a token
MARGIN = 0.06  # inches
LETTER = 0.085  # inches of a letter, on average
LONGEST_TITLE = 60
IN_TURN = (0.16, 0.42)  # two shades that only tell neighbors apart
READ_BEFORE = "neutral", 0.12


class Box(NamedTuple):
    """A box from `start` to `start + width`, in the color of what it means."""

    start: float
    width: float
    meaning: str = "inputs"
    label: str = ""
    shade: float = 0.3
    is_cut: bool = False  # an edge of ink in dashes


class Row(NamedTuple):
    """Boxes beside one another. `title` stands above the row, in a line of its own, and
    `space` is left free above it, in rows."""

    name: str
    boxes: Sequence[Box]
    title: str = ""
    space: float = 0.0


def plot_rows(
    rows: Sequence[Row],
    length: float,
    *,
    keys: Mapping[str, str | Artist],
    height: float = 0.3,
    xlabel: str = "",
    **layout: object,
) -> tuple[Figure, Axes, list[float]]:
    """Make a figure of rows; return it, its axes, and the top of each row.

    Args:
        rows: from the top down.
        length: units across.
        keys: name to the meaning that it explains, left out where no box has it, or to
            a sample of what else is drawn.
        height: inches of a row.
        xlabel, layout: see `draw_rows`.
    """
    lines = sum(1 + row.space + bool(row.title) for row in rows)
    around = 0.4 + 0.35 * bool(keys) + 0.4 * bool(xlabel)
    figure, axes = style.new_figure(height * lines + around)
    tops = draw_rows(axes, rows, length, xlabel=xlabel, **layout)
    explain_rows(figure, rows, keys)
    return figure, axes, tops


def explain_rows(
    figure: Figure, rows: Sequence[Row], keys: Mapping[str, str | Artist]
) -> None:
    """Say above the figure what its boxes mean: only of what is there."""
    drawn = {box.meaning for row in rows for box in row.boxes}
    there = {
        name: key
        for name, key in keys.items()
        if not isinstance(key, str) or key in drawn
    }
    if there:
        style.explain(figure, there)


def draw_rows(
    axes: Axes,
    rows: Sequence[Row],
    length: float,
    *,
    inches: float = style.WIDTH,
    widest: float = WIDEST,
    room: float = MARGIN,
    xlabel: str = "",
    **letters: object,
) -> list[float]:
    """Draw rows into axes, and return the top of each: y counts rows, downwards.

    A label that is wider than its box is not written, nor are those of boxes that are
    equally wide.

    Args:
        length: units across, all of which fit in.
        inches: width of these axes, with the names of the rows.
        widest: inches of a unit at most.
        room: inches to leave free on the right.
        xlabel: what is counted across; without it the axis has no numbers.
        letters: how labels look.
    """
    unit = unit_of(rows, length, inches=inches, widest=widest, room=room)
    fitting = fitting_labels(rows, unit)
    y, tops = 0.0, []
    for row in rows:
        y += row.space
        if row.title:
            title = shortened(drawable(row.title), LONGEST_TITLE)
            axes.text(0, y + 0.85, title, va="bottom", fontweight="bold")
            y += 1
        tops.append(y)
        for box in row.boxes:
            drawn = draw_box(axes, y, box)
            if box in fitting:
                middle = box.start + box.width / 2, y + MIDDLE
                text = style.centered(axes, *middle, box.label, **letters)
                if drawn.get_hatch():
                    text.set_bbox(style.LEGIBLE)
        y += 1
    named = {y + MIDDLE: row.name for y, row in zip(tops, rows, strict=True)}
    style.name_rows(axes, {y: name for y, name in named.items() if name})
    axes.set_ylim(y - 0.1, -0.15)
    axes.set_xlim(-0.04 / unit, (inches - _names(rows)) / unit)
    axes.set_xlabel(drawable(xlabel), loc="left")
    bins = max(2, int(1.4 * inches))
    locator = MaxNLocator(bins, steps=[1, 2, 5, 10], integer=isinstance(length, int))
    ticks = locator.tick_values(0, length) if xlabel else []
    axes.set_xticks([tick for tick in ticks if 0 <= tick <= length])
    axes.xaxis.set_major_formatter(style.in_words)
    style.without_frame(axes.figure, axes)
    return tops


def draw_box(axes: Axes, y: float, box: Box) -> Rectangle:
    drawn = style.sample(box.meaning, box.shade)
    drawn.set_bounds(box.start, y, box.width, HEIGHT)
    if box.is_cut:
        dash(drawn)
    return axes.add_patch(drawn)


def dash(box: Rectangle) -> None:
    """What was cut has an edge of ink in dashes, drawn over its neighbors'."""
    box.set(edgecolor=style.INK, linestyle=(0, (3, 2)), linewidth=1.6, zorder=3)


def unit_of(
    rows: Sequence[Row],
    length: float,
    *,
    inches: float = style.WIDTH,
    widest: float = WIDEST,
    room: float = MARGIN,
) -> float:
    """Inches of a unit across, beside the names of the rows."""
    return min(widest, (inches - _names(rows) - room) / length)


def _names(rows: Sequence[Row]) -> float:
    """Inches of the longest name, and of the margins."""
    return 0.45 + LETTER * max(len(row_name(row.name)) for row in rows)


def fitting_labels(rows: Sequence[Row], unit: float) -> set[Box]:
    """Boxes whose labels fit, together with those of all boxes of their width: numbers
    of which the long ones are missing look like a mistake."""
    labelled = [box for row in rows for box in row.boxes if box.label]
    longest: dict[float, int] = {}
    for box in labelled:
        letters = max(map(len, box.label.split("\n")))
        longest[box.width] = max(letters, longest.get(box.width, 0))
    return {
        box
        for box in labelled
        if LETTER * longest[box.width] + 0.04 <= box.width * unit
    }


def uncovered(boxes: Sequence[Box], num_tokens: int) -> list[Box]:
    """Boxes of what these, in their order, leave out of 0 ... `num_tokens`."""
    edges = [0, *(edge for box in boxes for edge in (box.start, box.start + box.width))]
    pairs = zip(edges[::2], [*edges[1::2], num_tokens], strict=True)
    return [Box(a, b - a, "lost", shade=0.25) for a, b in pairs if b > a]
