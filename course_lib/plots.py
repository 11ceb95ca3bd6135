"""Draw functions: each takes plain data and returns a matplotlib `Figure`; none has a state or shows anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.arguments import Ids, as_integers, as_stream, check_integer
from course_lib.ledger import TokenLedger
from course_lib.next_token_shifting import shift_by_one

# Matt Petroff's cycle of eight colors, chosen to be told apart with any color vision.
COLORS = plt.style.library["petroff8"]["axes.prop_cycle"].by_key()["color"]
BLUE, ORANGE = COLORS[:2]
STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P")
HATCHES = ("xx", "..", "//", "\\\\", "++", "oo")
LARGEST_PICTURE = 60


def plot_shift(window: Ids, labels: Sequence[str] | None = None) -> Figure:
    """Draw a window of T + 1 ids, and under it its inputs and targets, column by column.

    Args:
        window: T + 1 integers.
        labels: what to write for each of them, by default the id.
    """
    stream = as_stream(window, "window")
    columns, _ = shift_by_one(np.arange(len(stream)))
    labels = [str(i) for i in stream] if labels is None else [_visible(label) for label in labels]
    if len(labels) != len(stream):
        raise ValueError(f"labels must be one for each of the {len(stream)} ids, got {len(labels)}")
    figure, axes = _figure(0.62 * len(stream) + 1.6, 2.6)
    for position, label in enumerate(labels):
        _box(axes, position, 2.6, label, "white")
    for column in columns:
        _box(axes, column, 1.1, labels[column], BLUE)
        _box(axes, column, 0, labels[column + 1], ORANGE, hatch="//")
        axes.annotate(
            "", (column + 0.5, 0.82), (column + 0.5, 1.08), arrowprops={"arrowstyle": "->"}
        )
    rows = {
        3.0: f"window, {len(stream)} ids",
        1.5: f"inputs, T = {len(columns)}",
        0.4: f"targets, T = {len(columns)}",
    }
    axes.set_yticks(list(rows), list(rows.values()))
    axes.set_xticks(columns + 0.5, columns)
    axes.set_xlabel("position t")
    axes.set(xlim=(-0.1, len(stream) + 0.1), ylim=(-0.1, 3.6))
    return _bare(figure, axes)


def plot_windows(starts: object, context_length: int, num_tokens: int) -> Figure:
    """Draw the stream 0 ... N-1 and each window under it, with its last target set apart.

    Args:
        starts: integers, shape (num_windows,), or (num_batches, batch_size) to set batches apart.
        context_length: T.
        num_tokens: N, small enough to look at.
    """
    starts = as_integers("starts", starts)
    context_length = check_integer("context_length", context_length, minimum=1)
    batches = starts.reshape(len(starts), -1) if starts.ndim > 1 else starts.reshape(1, -1)
    for name, value in (("num_tokens", num_tokens), ("number of windows", starts.size)):
        check_integer(name, value, minimum=1, maximum=LARGEST_PICTURE)
    figure, axes = _figure(min(0.34 * num_tokens + 1.6, 14), 0.27 * starts.size + 1.2)
    touched = {t for s in starts.flat for t in range(s, s + context_length + 1)}
    for token in range(num_tokens):
        used = token in touched
        _box(
            axes,
            token,
            0.35,
            str(token),
            "white" if used else "lightgray",
            hatch="" if used else "xx",
            fontsize=8,
        )
    ticks = []
    numbered = [
        (batch, start) for batch, starts_of_batch in enumerate(batches) for start in starts_of_batch
    ]
    for row, (batch, start) in enumerate(numbered):
        y = -row - 1 - 0.4 * batch
        color = COLORS[batch % 8] if starts.ndim > 1 else BLUE
        axes.add_patch(_rectangle(start, y, context_length, 0.7, color))
        axes.add_patch(_rectangle(start + context_length, y, 1, 0.7, ORANGE, hatch="//"))
        ticks.append((y + 0.35, f"start {start}" + (f", batch {batch}" if starts.ndim > 1 else "")))
    axes.set_yticks(
        [0.75, *(y for y, _ in ticks)], ["stream", *(label for _, label in ticks)], fontsize=8
    )
    axes.set(xlim=(-0.2, num_tokens + 0.2), ylim=(ticks[-1][0] - 0.6, 1.3))
    axes.set_xticks([])
    handles = [_rectangle(0, 0, 1, 1, BLUE), _rectangle(0, 0, 1, 1, ORANGE, hatch="//")]
    names = [f"T = {context_length} inputs", "1 id more, for the last target"]
    figure.legend(handles, names, loc="outside upper right", ncols=2, fontsize=8, frameon=False)
    return _bare(figure, axes)


def plot_ledger(ledger: TokenLedger) -> Figure:
    """Draw how often each token is an input and a target, and shade what is never used."""
    figure, axes = _figure(9, 2.6)
    edges = np.arange(ledger.num_tokens + 1) - 0.5
    axes.stairs(ledger.as_input, edges, color=BLUE, alpha=0.5, fill=True, label="as input")
    axes.stairs(ledger.as_target, edges, color=ORANGE, linewidth=2, label="as target")
    for number, reason in enumerate(ledger.dropped):
        hatch = HATCHES[number % len(HATCHES)]
        positions = np.flatnonzero(ledger.reason == ledger.reasons.index(reason))
        for first, last in _runs(positions):
            label = f"never used: {reason}" if first == positions[0] else None
            axes.axvspan(
                first - 0.5,
                last + 0.5,
                facecolor="lightgray",
                hatch=hatch,
                edgecolor="gray",
                label=label,
            )
    axes.set(xlabel="position in the stream", ylabel="times used", xlim=(edges[0], edges[-1]))
    axes.set_ylim(0, max(ledger.as_input.max(initial=0), ledger.as_target.max(initial=0), 1) * 1.1)
    axes.yaxis.get_major_locator().set_params(integer=True)
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    return figure


def plot_losses(
    curves: Mapping[str, object],
    lines: Mapping[str, float] | None = None,
    *,
    ylabel: str = "nats per token",
) -> Figure:
    """Draw training losses against steps, smoothed, and levels to compare them with.

    Args:
        curves: name to losses, shape (steps,) or (runs, steps); of several runs the mean, and a band from the
            smallest to the largest.
        lines: name to a constant loss.
    """
    figure, axes = _figure(8, 3.4)
    for number, (name, losses) in enumerate(curves.items()):
        runs = np.atleast_2d(np.asarray(losses, dtype=float))
        width = max(1, runs.shape[1] // 50)
        steps = np.arange(runs.shape[1] // width) * width + width / 2
        smooth = runs[:, : len(steps) * width].reshape(len(runs), len(steps), width).mean(axis=2)
        # Smoothing would hide where a run starts, which is ln V if all is well: keep the first loss as it is.
        steps, smooth = np.concatenate([[0], steps]), np.concatenate([runs[:, :1], smooth], axis=1)
        style = {"color": COLORS[number % 8], "linestyle": STYLES[number % len(STYLES)]}
        style |= {"marker": MARKERS[number % len(MARKERS)], "markevery": 8, "markersize": 5}
        axes.plot(steps, smooth.mean(axis=0), label=name, **style)
        if len(runs) > 1:
            axes.fill_between(
                steps, smooth.min(axis=0), smooth.max(axis=0), color=COLORS[number % 8], alpha=0.25
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


def plot_bars(values: Mapping[str, float], *, xlabel: str, logarithmic: bool = False) -> Figure:
    """Draw one labeled horizontal bar a name, with its value written behind it."""
    figure, axes = _figure(8, 0.42 * len(values) + 1)
    bars = axes.barh(
        list(values), list(values.values()), color=[COLORS[i % 8] for i in range(len(values))]
    )
    for bar, hatch in zip(
        bars, ("", "//", "..", "xx", "\\\\", "++", "oo", "--") * len(values), strict=False
    ):
        bar.set(hatch=hatch, edgecolor="white")
    axes.bar_label(
        bars,
        [f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}" for value in values.values()],
        padding=4,
    )
    axes.invert_yaxis()
    axes.set_xlabel(xlabel)
    if logarithmic:
        axes.set_xscale("log")
    axes.margins(x=0.25)  # room for the values, on either scale
    return figure


def plot_spread(groups: Mapping[str, object], *, xlabel: str) -> Figure:
    """Draw one row a name: a dot for each run, and their mean with a bar of one standard deviation.

    The axis need not begin at zero: rows are compared with one another and with their spread.
    """
    figure, axes = _figure(8, 0.42 * len(groups) + 1)
    for row, values in enumerate(groups.values()):
        values = np.asarray(values, dtype=float)
        axes.plot(
            values, np.full(len(values), row), "o", color=COLORS[row % 8], alpha=0.4, markersize=5
        )
        deviation = values.std(ddof=1) if len(values) > 1 else 0.0
        marker = MARKERS[row % len(MARKERS)]
        axes.errorbar(
            values.mean(),
            row,
            xerr=deviation,
            color=COLORS[row % 8],
            marker=marker,
            capsize=5,
            markersize=8,
        )
        axes.annotate(
            f"{values.mean():.3f}",
            (values.mean(), row),
            (0, 9),
            textcoords="offset points",
            ha="center",
        )
    axes.set_yticks(range(len(groups)), list(groups))
    axes.set_ylim(len(groups) - 0.5, -0.7)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel(xlabel)
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
        curves: name to values, shape (points,) or (runs, points); of several runs the mean, and a band of one
            standard deviation.
        lines: name to a level to compare with.
    """
    figure, axes = _figure(8, 3.4)
    for number, (name, values) in enumerate(curves.items()):
        runs = np.atleast_2d(np.asarray(values, dtype=float))
        style = {"color": COLORS[number % 8], "linestyle": STYLES[number % len(STYLES)]}
        axes.plot(x, runs.mean(axis=0), marker=MARKERS[number % len(MARKERS)], label=name, **style)
        if len(runs) > 1:
            middle, deviation = runs.mean(axis=0), runs.std(axis=0, ddof=1)
            axes.fill_between(
                x, middle - deviation, middle + deviation, color=style["color"], alpha=0.25
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


def plot_cuts(rows: Mapping[str, object], context_length: int, num_tokens: int) -> Figure:
    """Draw, one row a name, where a choice of starts cuts the stream: its windows, and what it leaves out.

    Args:
        rows: name to starts, shape (num_windows,), T or more apart.
        context_length: T.
        num_tokens: N.
    """
    check_integer("num_tokens", num_tokens, minimum=1, maximum=LARGEST_PICTURE)
    figure, axes = _figure(min(0.24 * num_tokens + 1.6, 14), 0.42 * len(rows) + 1.1)
    for row, starts in enumerate(rows.values()):
        axes.add_patch(_rectangle(0, row + 0.15, num_tokens, 0.7, "gray", hatch="xx"))
        for number, start in enumerate(np.sort(as_integers("starts", starts), axis=None)):
            rectangle = _rectangle(start, row + 0.15, context_length, 0.7, BLUE)
            rectangle.set_facecolor(
                ("white", "#d6ddfd")[number % 2]
            )  # only to tell neighbors apart
            axes.add_patch(rectangle)
            axes.text(start + 0.15, row + 0.5, str(start), va="center", fontsize=8)
    axes.set_yticks(np.arange(len(rows)) + 0.5, list(rows))
    axes.set(
        xlim=(-0.2, num_tokens + 0.2),
        ylim=(len(rows) + 0.05, -0.05),
        xlabel="position in the stream",
    )
    return _bare(figure, axes)


def plot_heatmap(values: object, *, xlabel: str, ylabel: str, label: str) -> Figure:
    """Draw a table of numbers as colors, with its zeros left white and crossed out.

    Args:
        values: shape (rows, columns); row 0 is at the top.
        label: what the colors mean.
    """
    values = np.asarray(values)
    figure, axes = _figure(9, min(0.3 * len(values) + 1.4, 5))
    axes.patch.set(facecolor="white", hatch="xxxx", edgecolor="gray")
    image = axes.imshow(
        np.ma.masked_equal(values, 0), aspect="auto", cmap="viridis", interpolation="nearest"
    )
    figure.colorbar(image, label=label)
    for row in range(1, len(values)):
        axes.axhline(
            row - 0.5, color="white", linewidth=1.5
        )  # rows that are alike must not melt into one
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.yaxis.get_major_locator().set_params(integer=True)
    return figure


def plot_tracks(starts: object, num_steps: int, row_length: int) -> Figure:
    """Draw a stream folded into rows: in each row the ids 0, 1, 2, ... it reads, colored by batch.

    Args:
        starts: shape (num_batches, B), as from `partition_starts`.
        num_steps: T.
        row_length: inputs of a row; those that fill no batch are drawn gray.
    """
    starts = as_integers("starts", starts)
    check_integer("number of ids", starts.shape[1] * row_length, minimum=1, maximum=LARGEST_PICTURE)
    figure, axes = _figure(min(0.5 * row_length + 1.6, 14), 0.55 * starts.shape[1] + 1)
    for row, first in enumerate(starts[0]):
        y = starts.shape[1] - 1 - row
        for column in range(row_length):
            batch = column // num_steps
            used = batch < len(starts)
            hatch = ("", "//", "..", "\\\\")[batch % 4] if used else "xx"
            _box(
                axes,
                column,
                y,
                str(first + column),
                COLORS[batch % 8] if used else "lightgray",
                hatch=hatch,
            )
    centers = [(batch + 0.5) * num_steps for batch in range(len(starts))]
    axes.set_xticks(centers, [f"batch {batch}" for batch in range(len(starts))])
    axes.set_yticks(
        np.arange(starts.shape[1])[::-1] + 0.4, [f"row {row}" for row in range(starts.shape[1])]
    )
    axes.set(xlim=(-0.1, row_length + 0.1), ylim=(-0.15, starts.shape[1]))
    return _bare(figure, axes)


def plot_scored_windows(windows: Sequence[tuple[int, int, int]], num_tokens: int) -> Figure:
    """Draw the windows of a strided evaluation: what each reads only as context, and the targets it scores.

    Args:
        windows: (start, length, scored) of each, as `scored_windows` returns them.
        num_tokens: N, small enough to look at.
    """
    for name, value in (("num_tokens", num_tokens), ("number of windows", len(windows))):
        check_integer(name, value, minimum=1, maximum=LARGEST_PICTURE)
    figure, axes = _figure(min(0.34 * num_tokens + 1.6, 14), 0.27 * len(windows) + 1.2)
    for token in range(num_tokens):
        _box(axes, token, 0.35, str(token), "white", fontsize=8)
    for row, (start, length, scored) in enumerate(windows):
        first_scored = start + length + 1 - scored
        axes.add_patch(_rectangle(start, -row - 1, first_scored - start, 0.7, BLUE))
        axes.add_patch(_rectangle(first_scored, -row - 1, scored, 0.7, ORANGE, hatch="//"))
    rows = [-row - 0.65 for row in range(len(windows))]
    axes.set_yticks(
        [0.75, *rows], ["stream", *(f"start {start}" for start, _, _ in windows)], fontsize=8
    )
    axes.set(xlim=(-0.2, num_tokens + 0.2), ylim=(-len(windows) - 0.3, 1.3))
    axes.set_xticks([])
    handles = [_rectangle(0, 0, 1, 1, BLUE), _rectangle(0, 0, 1, 1, ORANGE, hatch="//")]
    figure.legend(
        handles,
        ["context only", "scored"],
        loc="outside upper right",
        ncols=2,
        fontsize=8,
        frameon=False,
    )
    return _bare(figure, axes)


def plot_intervals(
    curves: Mapping[str, Mapping[float, tuple[float, float]]],
    *,
    xlabel: str,
    ylabel: str,
    spacing: str = "linear",
) -> Figure:
    """Draw one line a name through means, each with a bar from mean - half-width to mean + half-width.

    Args:
        curves: name to {x: (mean, half-width)}.
        spacing: of the x axis: "linear", "logarithmic", or "even", as names of settings would stand.
    """
    if spacing not in ("linear", "logarithmic", "even"):
        raise ValueError(f"spacing must be 'linear', 'logarithmic' or 'even', got {spacing!r}")
    figure, axes = _figure(8, 3.4)
    values = sorted({x for points in curves.values() for x in points})
    places = {x: number if spacing == "even" else x for number, x in enumerate(values)}
    for number, (name, points) in enumerate(curves.items()):
        means, half_widths = np.array(list(points.values()), dtype=float).T
        style = {"color": COLORS[number % 8], "linestyle": STYLES[number % len(STYLES)]}
        style |= {
            "marker": MARKERS[number % len(MARKERS)],
            "markersize": 6,
            "capsize": 4,
            "label": name,
        }
        axes.errorbar([places[x] for x in points], means, yerr=half_widths, **style)
    if spacing == "logarithmic":
        axes.set_xscale("log", base=2)
    if len(places) <= 20 or spacing == "even":
        axes.set_xticks(list(places.values()), [f"{x:,g}" for x in places])
        axes.minorticks_off()
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.grid(axis="y", alpha=0.3)
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    return figure


def plot_merge_tree(stages: Sequence[Sequence[Sequence[object]]]) -> Figure:
    """Draw how a word grows together: its symbols at the bottom, and each merge as a node above its two parts.

    Args:
        stages: the word from single symbols to its tokens, one stage a merge; a token is the sequence of its
            symbols, so a `str` of one character each, or a tuple of ids.
    """
    if not stages or not stages[0]:
        raise ValueError("stages must hold a word of at least one symbol")
    num_symbols = sum(map(len, stages[0]))
    check_integer("number of symbols", num_symbols, minimum=1, maximum=LARGEST_PICTURE)
    figure, axes = _figure(min(0.62 * num_symbols + 2.2, 14), 0.5 * len(stages) + 1)
    where: dict[
        int, tuple[float, float]
    ] = {}  # the node whose token begins at a symbol: its middle, its height
    for height, stage in enumerate(stages):
        begin = 0
        above = {}
        for token in stage:
            middle = begin + len(token) / 2
            parts = [node for first, node in where.items() if begin <= first < begin + len(token)]
            above[begin] = parts[0] if len(parts) == 1 else (middle, height)
            if len(parts) != 1:
                for x, y in parts:
                    axes.plot([x, middle], [y, height], color="gray", linewidth=1, zorder=1)
                box = {
                    "boxstyle": "round",
                    "facecolor": "white",
                    "edgecolor": ORANGE if height else BLUE,
                }
                label = "".join(map(str, token))
                axes.text(
                    middle, height, label, ha="center", va="center", bbox=box, fontsize=9, zorder=2
                )
            begin += len(token)
        where = above
    names = ["symbols", *(f"merge {number}" for number in range(1, len(stages)))]
    axes.set_yticks(range(len(stages)), names, fontsize=8)
    axes.set_xticks([])
    axes.set(xlim=(-0.1, num_symbols + 0.1), ylim=(-0.6, len(stages) - 0.4))
    return _bare(figure, axes)


def plot_tokens(rows: Mapping[str, Sequence[str]]) -> Figure:
    """Draw one text in several tokenizations, one row each: a box around each token, neighbors in different colors.

    Args:
        rows: name to the tokens of the text, as they are to be shown; each must spell the same text.
    """
    texts = {"".join(tokens) for tokens in rows.values()}
    if len(texts) != 1:
        raise ValueError(f"rows must all spell one text, got {len(texts)}")
    (text,) = texts
    figure, axes = _figure(min(0.16 * len(text) + 2.4, 14), 0.55 * len(rows) + 0.3)
    ticks = []
    for row, (name, tokens) in enumerate(rows.items()):
        begin = 0
        for number, token in enumerate(tokens):
            axes.add_patch(
                _rectangle(begin + 0.09, -row, len(token) - 0.18, 0.7, COLORS[number % 3])
            )
            for place, character in enumerate(token):
                x = begin + place + 0.5
                axes.text(x, 0.33 - row, _visible(character), ha="center", va="center", fontsize=9)
            begin += len(token)
        ticks.append((0.35 - row, f"{name}: {len(tokens)} tokens"))
    axes.set_yticks(*zip(*ticks, strict=True), fontsize=9)
    axes.set_xticks([])
    axes.set(xlim=(0, len(text)), ylim=(-len(rows) + 0.9, 0.8))
    return _bare(figure, axes)


def plot_pieces(
    rows: Mapping[str, Sequence[str]], labels: Mapping[str, Sequence[str]] | None = None
) -> Figure:
    """Draw one row a name: strings end to end, each in a box as wide as it is long, two styles in turn.

    Args:
        rows: name to strings. Rows that spell the same text line up, however they are cut.
        labels: for some rows what to write into the boxes instead, such as ids.
    """
    longest = max((sum(map(len, strings)) for strings in rows.values()), default=0)
    check_integer("longest row of rows", longest, minimum=1, maximum=2 * LARGEST_PICTURE)
    written = {name: (labels or {}).get(name, strings) for name, strings in rows.items()}
    for name, strings in rows.items():
        if len(written[name]) != len(strings):
            count = len(written[name])
            raise ValueError(
                f"labels[{name!r}] must be one for each of the {len(strings)} strings, got {count}"
            )
    # A label may be longer than what it stands for: boxes get as wide as the tightest of them needs.
    pairs = [
        pair for name, strings in rows.items() for pair in zip(strings, written[name], strict=True)
    ]
    scale = max(0.13, *(0.085 * len(label) / max(1, len(string)) for string, label in pairs))
    figure, axes = _figure(min(scale * longest + 1.6, 15), 0.5 * len(rows) + 0.4)
    for row, (name, strings) in enumerate(rows.items()):
        column = 0
        for number, (string, label) in enumerate(zip(strings, written[name], strict=True)):
            hatch, color = (("", BLUE), ("//", ORANGE))[number % 2]
            axes.add_patch(
                _rectangle(column + 0.08, row + 0.12, len(string) - 0.16, 0.76, color, hatch)
            )
            shown = label.replace(" ", "·").replace("\n", "↵").replace("\t", "⇥")
            text = axes.text(
                column + len(string) / 2, row + 0.5, shown, ha="center", va="center", fontsize=9
            )
            text.set(
                family="monospace",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85},
            )
            column += len(string)
    axes.set_yticks(np.arange(len(rows)) + 0.5, list(rows))
    axes.set_xticks([])
    axes.set(xlim=(-0.3, longest + 0.3), ylim=(len(rows) + 0.05, -0.05))
    return _bare(figure, axes)


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    with plt.style.context(["default", "petroff8"]):
        figure, axes = plt.subplots(figsize=(width, height), layout="constrained")
    plt.close(
        figure
    )  # or the notebook would show it twice: as an open figure and as the cell's value
    return figure, axes


def _bare(figure: Figure, axes: Axes) -> Figure:
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    return figure


def _rectangle(
    x: float, y: float, width: float, height: float, color: str, hatch: str = ""
) -> Rectangle:
    return Rectangle(
        (x, y), width, height, facecolor=to_rgba(color, 0.35), edgecolor=color, hatch=hatch
    )


def _box(
    axes: Axes, x: float, y: float, label: str, color: str, *, hatch: str = "", fontsize: float = 11
) -> None:
    rectangle = _rectangle(x + 0.04, y, 0.92, 0.8, color, hatch)
    rectangle.set_edgecolor("black" if color == "white" else color)
    axes.add_patch(rectangle)
    text = axes.text(x + 0.5, y + 0.4, label, ha="center", va="center", fontsize=fontsize)
    if hatch and color != "lightgray":
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.8})


def _runs(positions: np.ndarray) -> list[tuple[int, int]]:
    """Group sorted positions into runs of neighbors: (first, last) of each."""
    pieces = np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1)
    return [(int(piece[0]), int(piece[-1])) for piece in pieces if len(piece)]


def _visible(label: str) -> str:
    return {" ": "␣", "\n": "↵", "\t": "⇥"}.get(label, label)
