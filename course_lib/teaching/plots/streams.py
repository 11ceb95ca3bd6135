"""Pictures of a stream, and of the windows that are cut out of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from course_lib.foundation import (
    Count,
    Ids,
    Integers,
    Length,
    TokenLedger,
    as_integers,
    check_integer,
    check_iterable,
    checked,
)
from course_lib.next_token_shifting import shift_by_one
from course_lib.teaching.plots import style
from course_lib.teaching.plots.boxes import (
    HEIGHT,
    IN_TURN,
    MIDDLE,
    READ_BEFORE,
    Box,
    Row,
    draw_rows,
    explain_rows,
    plot_rows,
    uncovered,
)
from course_lib.teaching.plots.ledgers import draw_ledger, hatches_of, keys_of
from course_lib.teaching.plots.letters import in_a_box

LARGE_BOX = 0.7  # inches
MOST_SHIFTED = 17
MOST_KERNELS = 4
MOST_NUMBERED = 32  # tokens of a stream, so that numbers fit into their boxes
LONGEST_ROW = 24
LEDGER_HEIGHT = 1.0
BELOW_STREAM = 0.3  # rows
STREAM = "position in the stream"


@checked
@style.styled
def plot_shift(window: Ids, labels: Sequence[str] | None = None) -> Figure:
    """Draw a window of T + 1 ids, and under it its inputs and targets.

    Args:
        window: T + 1 integers, of which the first 17 are drawn.
        labels: what to write for each of them, by default the id.
    """
    shift_by_one(window)  # says what is wrong with a window of one id
    labels = window if labels is None else [*check_iterable("labels", labels, "labels")]
    if len(labels) != len(window):
        wanted = f"one for each of the {len(window)} ids"
        raise ValueError(f"labels must be {wanted}, got {len(labels)}")
    num_drawn = min(len(window), MOST_SHIFTED)
    letters = int(min(LARGE_BOX, 7 / num_drawn) / 0.1)
    written = [in_a_box(str(label), letters) for label in labels[:num_drawn]]
    inputs, targets = written[:-1], written[1:]
    length = len(window) - 1
    rows = [
        Row(f"window, {length + 1} ids", in_a_row(written, "neutral", shade=0)),
        Row(f"inputs, T = {length}", in_a_row(inputs, "inputs"), space=0.8),
        Row(f"targets, T = {length}", in_a_row(targets, "targets"), space=0.4),
    ]
    figure, axes, (_, above, below) = plot_rows(
        rows,
        num_drawn,
        keys={},
        height=0.5,
        widest=LARGE_BOX,
        xlabel="position t",
        fontsize=style.NORMAL,
    )
    columns = np.arange(num_drawn - 1)
    for column in columns:
        draw_arrow(axes, (column, above + HEIGHT), (column, below))
    axes.set_xticks(columns + 0.5, columns)
    if more := len(window) - num_drawn:
        style.add_remark(figure, f"{more:,} more ids of the window, not drawn")
    return figure


def in_a_row(labels: Sequence[str], meaning: str, shade: float = 0.3) -> list[Box]:
    """One box for each label, from 0 on."""
    return [Box(place, 1, meaning, label, shade) for place, label in enumerate(labels)]


def draw_arrow(axes: Axes, tail: tuple, head: tuple, **look: object) -> None:
    """Draw an arrow from the middle of a box to that of another one; each is a column,
    and the height at which the arrow touches it."""
    look = {"arrowstyle": "->", "color": style.INK, "shrinkA": 2, "shrinkB": 2} | look
    (column, y), (other, end) = tail, head
    axes.annotate("", (other + 0.5, end), (column + 0.5, y), arrowprops=look)


@style.styled
def plot_kernels(
    kernels: Mapping[str, Iterable[int]], position: int, num_tokens: int
) -> Figure:
    """Draw which inputs a model reads where it is asked for the next token.

    Args:
        kernels: name to what is read, as distances from the position: 0 is the input
            there, -1 the one before it, and 1 the one that is asked for.
        position: where the model is asked, with at least one input after it.
        num_tokens: N, inputs 0 ... N-1, few enough to look at.
    """
    num_tokens = check_integer(
        "num_tokens", num_tokens, minimum=2, maximum=MOST_SHIFTED
    )
    position = check_integer("position", position, minimum=0, maximum=num_tokens - 2)
    sizes = position, num_tokens
    read = style.read_each("kernels", kernels, _places, *sizes, most=MOST_KERNELS)
    rows = []
    for name, places in read.items():
        asked = Box(position, 1, "targets", str(position + 1))
        inputs = in_a_row([str(token) for token in range(num_tokens)], "neutral", 0)
        for place in places:
            meaning = "wrong" if place == position + 1 else "inputs"
            inputs[place] = Box(place, 1, meaning, str(place))
        rows += [Row(f"{name}: asked for", [asked], space=0.6 * bool(rows))]
        rows += [Row("inputs", inputs, space=0.6)]
    keys = {
        "read": "inputs",
        "asked for": "targets",
        "read, although it is asked for": "wrong",
    }
    figure, axes, tops = plot_rows(
        rows, num_tokens, keys=keys, height=0.45, widest=LARGE_BOX
    )
    for top, bottom, places in zip(tops[::2], tops[1::2], read.values(), strict=True):
        for place in places:
            look = {}
            if place == position + 1:
                look = {"color": style.WRONG, "linestyle": "--", "linewidth": 1.8}
            draw_arrow(axes, (place, bottom), (position, top + HEIGHT), **look)
    return figure


def _places(name: str, distances: object, position: int, num_tokens: int) -> set[int]:
    distances = as_integers(name, [*check_iterable(name, distances, "distances")])
    places = {position + int(distance) for distance in distances.ravel()}
    for place in places:
        check_integer(f"position + {name}", place, minimum=0, maximum=num_tokens - 1)
    return places


@checked
@style.styled
def plot_windows(
    starts: Integers,
    context_length: Length,
    num_tokens: Count,
    *,
    ledger: TokenLedger | None = None,
) -> Figure:
    """Draw the stream 0 ... N-1 and each window under it, its last target apart.

    Args:
        starts: shape (num_windows,), or (num_batches, batch_size) to set batches apart.
        context_length, num_tokens: T and N, small enough to look at.
        ledger: of these starts, to be drawn below the windows, on the same axis.
    """
    starts = starts.astype(np.int64)
    num_tokens = style.check_few("num_tokens", num_tokens)
    style.check_few("number of windows", starts.size, style.MOST_ROWS)
    if starts.ndim not in (1, 2):
        wanted = "shape (num_windows,) or (num_batches, batch_size)"
        raise ValueError(f"starts must have {wanted}, got shape {starts.shape}")
    style.check_inside("starts", starts, context_length + 1, num_tokens)
    used = {int(s) + t for s in starts.flat for t in range(context_length + 1)}
    rows = [_stream(num_tokens, used)]
    for number, batch in enumerate(np.atleast_2d(starts).tolist()):
        prefix = f"batch {number}, " if starts.ndim > 1 else ""
        for place, start in enumerate(batch):
            window = [
                Box(start, context_length, "inputs"),
                Box(start + context_length, 1, "targets"),
            ]
            space = 0.0 if place else BELOW_STREAM if number == 0 else 0.45
            rows.append(Row(f"{prefix}start {start}", window, space=space))
    keys = {
        f"T = {context_length} inputs": "inputs",
        "one more id, for the last target": "targets",
        "in no window": "lost",
    }
    if ledger is None:
        return plot_rows(rows, num_tokens, keys=keys, xlabel=_axis(num_tokens))[0]
    return _above_ledger(rows, num_tokens, keys, ledger)


def _stream(num_tokens: int, used: set[int]) -> Row:
    """A box for each token, crossed out where it is not used."""
    tokens = []
    for token in range(num_tokens):
        look = ("neutral", 0) if token in used else ("lost", 0.25)
        label = str(token) if num_tokens <= MOST_NUMBERED else ""
        tokens.append(Box(token, 1, look[0], label, look[1]))
    return Row("stream", tokens)


def _axis(num_tokens: int) -> str:
    """The name of the axis, where tokens have no numbers of their own."""
    return "" if num_tokens <= MOST_NUMBERED else STREAM


@checked
def _above_ledger(
    rows: list[Row], num_tokens: Count, keys: dict, ledger: TokenLedger
) -> Figure:
    if ledger.num_tokens != num_tokens:
        wanted = f"of a stream of {num_tokens} tokens"
        raise ValueError(f"ledger must be {wanted}, got one of {ledger.num_tokens}")
    lines = sum(1 + row.space for row in rows)
    # Many rows are flatter, so that the picture fits on a screen.
    heights = min(0.3, max(0.2, 4.2 / lines)) * lines, LEDGER_HEIGHT
    total = sum(heights) + 1.4
    figure, (axes, below) = style.new_panels(total, 2, height_ratios=heights)
    draw_rows(axes, rows, num_tokens)
    hatches = hatches_of([ledger])
    draw_ledger(below, ledger, hatches)
    below.set_xlabel(STREAM, loc="left")
    below.xaxis.get_major_locator().set_params(integer=True)
    # a token is a box from t to t + 1 above, a step around t below
    left, right = axes.get_xlim()
    below.set_xlim(left - 0.5, right - 0.5)
    names = "times an input", "times a target", "start of a window"
    keys = {name: key for name, key in keys.items() if key != "lost"}
    keys |= keys_of([below], hatches, [f"below: {name}" for name in names])
    explain_rows(figure, rows, keys)
    return figure


@checked
@style.styled
def plot_scored_windows(windows: Integers, num_tokens: int) -> Figure:
    """Draw the windows of a strided evaluation: what each only reads, and what it
    scores.

    Args:
        windows: (start, length, scored) of each, as `scored_windows` returns them.
        num_tokens: N, small enough to look at.
    """
    num_tokens = style.check_few("num_tokens", num_tokens)
    table = windows.astype(np.int64)
    style.check_few("number of windows", len(np.atleast_1d(table)), style.MOST_ROWS)
    if table.ndim != 2 or table.shape[1] != 3:
        wanted = "rows of (start, length, scored)"
        raise ValueError(f"windows must be {wanted}, got shape {table.shape}")
    used: set[int] = set()
    rows = []
    for start, length, scored in table.tolist():
        check_integer("length", length, minimum=1)
        check_integer("scored", scored, minimum=0, maximum=length)
        style.check_inside("windows", np.array([start]), length + 1, num_tokens)
        first = start + length + 1 - scored
        used.update(range(first, first + scored))
        meaning, shade = READ_BEFORE
        context = Box(start, first - start, meaning, shade=shade)
        space = 0.0 if rows else BELOW_STREAM
        boxes = [context, Box(first, scored, "targets")]
        rows.append(Row(f"start {start}", boxes, space=space))
    keys = {
        "read as context only": style.sample(*READ_BEFORE),
        "scored": "targets",
        "never scored": "lost",
    }
    rows.insert(0, _stream(num_tokens, used))
    return plot_rows(rows, num_tokens, keys=keys, xlabel=_axis(num_tokens))[0]


@checked
@style.styled
def plot_cuts(
    rows: Mapping[str, object], context_length: Length, num_tokens: Count
) -> Figure:
    """Draw, one row a name, where starts cut the stream: windows, and what they leave
    out.

    Args:
        rows: name to starts, shape (num_windows,), T or more apart.
        context_length, num_tokens: T and N.
    """
    num_tokens = style.check_few("num_tokens", num_tokens)
    sizes = context_length, num_tokens
    cuts = style.read_each("rows", rows, _cuts, *sizes, most=style.MOST_ROWS)
    drawn = []
    for name, starts in cuts.items():
        windows = [
            Box(start, context_length, "inputs", str(start), IN_TURN[number % 2])
            for number, start in enumerate(starts.tolist())
        ]
        drawn.append(Row(name, [*windows, *uncovered(windows, num_tokens)]))
    keys = {
        f"windows of T = {context_length} inputs, each with its start": "inputs",
        "never an input": "lost",
    }
    return plot_rows(drawn, num_tokens, keys=keys, height=0.38, xlabel=STREAM)[0]


def _cuts(
    name: str, starts: object, context_length: int, num_tokens: int
) -> np.ndarray:
    starts = np.sort(as_integers(name, starts).astype(np.int64), axis=None)
    style.check_inside(name, starts, context_length, num_tokens)
    near = np.flatnonzero(np.diff(starts) < context_length)
    if near.size:
        one, other = starts[near[0]], starts[near[0] + 1]
        wanted = f"starts at least {context_length} apart"
        raise ValueError(f"{name} must be {wanted}, got {one} and {other}")
    return starts


@checked
@style.styled
def plot_tracks(
    starts: Integers, num_steps: Length, row_length: int, *, carried: bool | None = None
) -> Figure:
    """Draw a stream folded into rows: in each the ids it reads, batch by batch.

    Args:
        starts: shape (num_batches, B), as from `partition_starts`.
        num_steps, row_length: T, and inputs of a row; what is left over is shaded.
        carried: whether the state is carried on between batches, an arrow, or reset, a
            cross; by default it is not drawn.
    """
    starts = starts.astype(np.int64)
    row_length = style.check_few("row_length", row_length, LONGEST_ROW)
    if starts.ndim != 2 or not starts.size:
        got = f"got shape {starts.shape}"
        raise ValueError(f"starts must have shape (num_batches, B), {got}")
    num_batches, batch_size = starts.shape
    style.check_few("number of rows", batch_size, style.MOST_ROWS // 2)
    used = num_batches * num_steps
    if used > row_length:
        got = f"{num_batches} batches of {num_steps} steps"
        raise ValueError(f"starts must fit into rows of {row_length}, got {got}")
    if (np.diff(starts, axis=0) != num_steps).any():
        wanted = f"go on {num_steps} ids later in every batch"
        raise ValueError(f"starts must {wanted}, got {starts}")
    rows = []
    for number, first in enumerate(starts[0].tolist()):
        boxes = [
            Box(c, 1, "inputs", str(first + c), IN_TURN[c // num_steps % 2])
            for c in range(used)
        ]
        boxes += [
            Box(c, 1, "lost", str(first + c), 0.25) for c in range(used, row_length)
        ]
        rows.append(Row(f"row {number}", boxes))
    ends = num_steps * np.arange(1, num_batches + 1)
    keys = {"inputs, in alternating shades for batches": "inputs"}
    marks, at = _marks_of_state(carried), ends[:-1]
    if carried is not None and at.size:
        keys["the state goes on" if carried else "the state is reset"] = marks
    keys["left over"] = "lost"
    figure, axes, tops = plot_rows(rows, row_length, keys=keys, height=0.5, widest=0.5)
    axes.vlines(ends[ends < row_length], -0.15, batch_size, color="black", linewidth=2)
    word = "batch " if num_steps > 1 else ""  # would not fit over a single column
    names = [f"{word}{batch}" for batch in range(num_batches)]
    axes.set_xticks(ends - num_steps / 2, names)
    if carried is not None and at.size:
        x, y = np.meshgrid(at, np.array(tops) + MIDDLE)
        marks.set(data=(x.ravel(), y.ravel()), zorder=4)
        axes.add_line(marks)
    return figure


def _marks_of_state(carried: bool | None) -> Line2D:
    """An arrow where the state goes on, a cross where it is reset."""
    return Line2D(
        [],
        [],
        marker=">" if carried else "X",
        color=style.INK,
        markersize=12,
        linestyle="none",
    )
