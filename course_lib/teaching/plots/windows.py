"""Pictures of a stream, and of single windows that are cut out of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
from course_lib.teaching.plots.ledgers import draw_ledger, hatches_of, keys_of
from course_lib.teaching.plots.letters import in_a_box

MOST_SHIFTED = 17
MOST_KERNELS = 4
LEDGER_HEIGHT = 1.0


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
    letters = int(style.column_width(num_drawn, 0.7) / 0.1)
    written = [in_a_box(str(label), letters) for label in labels[:num_drawn]]
    columns, _ = shift_by_one(np.arange(num_drawn))
    figure, axes = style.new_figure(2.8)
    for position, label in enumerate(written):
        style.labeled_box(axes, position, 2.6, label, "neutral", 0)
    for column in columns:
        style.labeled_box(axes, column, 1.1, written[column], "inputs")
        style.labeled_box(axes, column, 0, written[column + 1], "targets")
        ends = (column + 0.5, 0.82), (column + 0.5, 1.08)
        axes.annotate("", *ends, arrowprops={"arrowstyle": "->", "color": style.INK})
    rows = {
        3.0: f"window, {len(window)} ids",
        1.5: f"inputs, T = {len(window) - 1}",
        0.4: f"targets, T = {len(window) - 1}",
    }
    style.name_rows(axes, rows, fontsize=style.NORMAL)
    axes.set_xticks(columns + 0.5, columns)
    axes.set_xlabel("position t", loc="left")
    style.fit_columns(axes, num_drawn, 0.7)
    axes.set_ylim(-0.1, 3.6)
    if more := len(window) - num_drawn:
        style.add_remark(figure, f"{more:,} more ids of the window, not drawn")
    return style.without_frame(figure, axes)


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
    figure, axes = style.new_figure(1.5 * len(read) + 0.8)
    ticks: dict[float, str] = {}
    for number, (name, places) in enumerate(read.items()):
        y = -3.2 * number
        for token in range(num_tokens):
            is_read = ("wrong" if token == position + 1 else "inputs",)
            look = is_read if token in places else ("neutral", 0)
            style.labeled_box(axes, token, y, str(token), *look)
        style.labeled_box(axes, position, y + 1.6, str(position + 1), "targets")
        for token in places:
            look = {"arrowstyle": "->", "color": style.INK}
            if token == position + 1:
                look |= {"color": style.WRONG, "linestyle": "--", "linewidth": 1.8}
            ends = (position + 0.5, y + 1.56), (token + 0.5, y + 0.84)
            axes.annotate("", *ends, arrowprops=look)
        ticks |= {y + 2.0: f"{name}: asked for", y + 0.4: "inputs"}
    keys = {"read": "inputs", "asked for": "targets"}
    if any(position + 1 in places for places in read.values()):
        keys["read, although it is asked for"] = "wrong"
    style.fit_columns(axes, num_tokens, 0.7)
    axes.set_xticks([])
    return style.finish_rows(figure, axes, ticks, (min(ticks) - 0.6, 2.6), keys)


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
    in_batches = starts.ndim > 1
    batches = np.atleast_2d(starts)
    rows = starts.size + 0.45 * (len(batches) - 1)
    if ledger is None:
        figure, axes = style.new_figure(0.3 * rows + 1.1)
    else:
        figure, axes = _with_ledger(ledger, num_tokens, rows)
    touched = {int(s) + t for s in starts.flat for t in range(context_length + 1)}
    top = _draw_stream(axes, num_tokens, touched)
    ticks, y = {0.75: "stream"}, 0.0
    for number, batch in enumerate(batches):
        for start in batch:
            y -= 1
            style.block(axes, start, y, context_length, 0.72, "inputs")
            style.block(axes, start + context_length, y, 1, 0.72, "targets")
            name = f"batch {number}, " if in_batches else ""
            ticks[y + 0.36] = f"{name}start {start}"
        y -= 0.45
    keys = {f"T = {context_length} inputs": "inputs"}
    keys |= {"one more id, for the last target": "targets"}
    if ledger is not None:
        left, right = axes.get_xlim()
        # a token is a box from t to t + 1 above, a step around t below
        below = figure.axes[1]
        below.set_xlim(left - 0.5, right - 0.5)
        names = "times an input", "times a target", "start of a window"
        keys |= keys_of([below], hatches_of([ledger]), [f"below: {n}" for n in names])
    elif len(touched) < num_tokens:
        keys["in no window"] = "lost"
    return style.finish_rows(figure, axes, ticks, (min(ticks) - 0.5, top), keys)


@checked
def _with_ledger(
    ledger: TokenLedger, num_tokens: Count, rows: float
) -> tuple[Figure, Axes]:
    if ledger.num_tokens != num_tokens:
        wanted = f"of a stream of {num_tokens} tokens"
        raise ValueError(f"ledger must be {wanted}, got one of {ledger.num_tokens}")
    # Many rows are flatter, so that the picture fits on a screen.
    heights = min(0.3, max(0.2, 4.2 / rows)) * (rows + 1.5), LEDGER_HEIGHT
    total = sum(heights) + 1.3
    figure, (axes, below) = style.new_panels(total, 2, height_ratios=heights)
    draw_ledger(below, ledger, hatches_of([ledger]))
    below.set_xlabel("position in the stream", loc="left")
    below.xaxis.get_major_locator().set_params(integer=True)
    return figure, axes


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
    for start, length, scored in table.tolist():
        check_integer("length", length, minimum=1)
        check_integer("scored", scored, minimum=0, maximum=length)
        style.check_inside("windows", np.array([start]), length + 1, num_tokens)
        used.update(range(start + length + 1 - scored, start + length + 1))
    figure, axes = style.new_figure(0.3 * len(table) + 1.1)
    top = _draw_stream(axes, num_tokens, used)
    ticks = {0.75: "stream"}
    for row, (start, length, scored) in enumerate(table, start=1):
        first = start + length + 1 - scored
        style.block(axes, start, -row, first - start, 0.72, "neutral", 0.12)
        style.block(axes, first, -row, scored, 0.72, "targets")
        ticks[0.36 - row] = f"start {start}"
    keys = {"read as context only": style.sample("neutral", 0.12)}
    keys |= {"scored": "targets", "never scored": "lost"}
    return style.finish_rows(figure, axes, ticks, (min(ticks) - 0.5, top), keys)


def _draw_stream(axes: Axes, num_tokens: int, used: set[int]) -> float:
    """Draw the boxes of the stream across the axes, and return how high they reach."""
    style.fit_columns(axes, num_tokens, 0.42)
    axes.set_xticks([])
    # Numbers that would touch one another are written above every fifth token.
    is_tight = style.column_width(num_tokens, 0.42) < 0.24
    for token in range(num_tokens):
        label = "" if is_tight else str(token)
        look = ("neutral", 0) if token in used else ("lost", 0.25)
        style.labeled_box(axes, token, 0.35, label, *look, fontsize=style.SMALL)
        if is_tight and token % 5 == 0:
            style.centered(axes, token + 0.5, 1.4, str(token))
    return 1.7 if is_tight else 1.3
