"""Rows of labelled boxes, from the top down: the vocabulary of most figures. What a
figure shows is then plain data.

A box is `(start, width, meaning)` or `(start, width, meaning, label)`. Rows are a
mapping of names to boxes, or of titles to such mappings. A meaning is one of those in
`style.LOOKS`.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from course_lib.foundation import TokenLedger, check_choice, token_ledger
from course_lib.teaching.plots import style
from course_lib.teaching.plots.ledgers import STREAM, draw_ledger
from course_lib.teaching.plots.style import LETTER, name_of

Boxes = list[tuple]
Rows = Mapping[str, Iterable[tuple]]

WIDEST = 0.42  # inches of a unit across, such as a token
MOST_BOXES = 2000
MOST_TOLD = 12  # boxes of a row, in words
LONGEST_STREAM = 60  # tokens, in a picture of windows
MOST_NUMBERED = 32  # of them, so that numbers fit into their boxes


@style.styled
def plot_rows(
    rows: Rows | Mapping[str, Rows],
    keys: Mapping[str, str] | None = None,
    *,
    xlabel: str = "",
    lines: Mapping[str, float] | Iterable[float] = (),
    arrows: Iterable[tuple] = (),
    side_by_side: bool = False,
    remark: str = "",
) -> Figure:
    """Draw rows of boxes.

    A label that is wider than its box is left out, and so are those of all boxes that
    are equally wide.

    Args:
        rows: name to boxes, or title to such rows.
        keys: meaning to what it is called here; what is not drawn is not explained.
        xlabel: what is counted across; without it the axis has no numbers.
        lines: where vertical lines are drawn, by name or without one.
        arrows: pairs of `(row, place)`, from the middle of a box to that of another.
            Rows are counted from the top, with the titles; a place is where a box of
            width 1 begins.
        side_by_side: set what has titles beside one another, on one scale.
        remark: a line below the picture.
    """
    groups = _read(rows)
    keys = {
        check_choice("a key of keys", meaning, style.LOOKS): name
        for meaning, name in (keys or {}).items()
    }
    drawn = {box[2] for _, listed in groups for _, bs in listed for box in bs if box[1]}
    panels = groups if side_by_side else [("", _in_one(groups))]
    most = max(len(listed) for _, listed in panels)
    inches = 0.3 * most + 0.35 + 0.35 * bool(keys) + 0.45 * bool(xlabel)
    inches += 0.3 * (side_by_side + bool(remark) + isinstance(lines, Mapping))
    figure, all_axes = style.new_panels(inches, columns=len(panels))
    end = max(s + w for _, listed in groups for _, bs in listed for s, w, *_ in bs) or 1
    for axes, (title, listed) in zip(all_axes, panels, strict=True):
        _draw_rows(axes, listed, end, style.WIDTH / len(panels), xlabel)
        axes.set_ylim(most - 0.45, -0.55)
        axes.set_title(name_of(title))
        _draw_lines(axes, lines)
        for (row, place), (to_row, to_place) in arrows:
            look = {"arrowstyle": "->", "color": style.INK, "linewidth": 1.3}
            look |= {"shrinkA": 9, "shrinkB": 9}
            axes.annotate(
                "", (to_place + 0.5, to_row), (place + 0.5, row), arrowprops=look
            )
    there = {meaning: name for meaning, name in keys.items() if meaning in drawn}
    style.explain(figure, style.samples(there))
    if remark:
        style.add_remark(figure, remark)
    told = [
        ", ".join(filter(None, (title, name))) + f": {_boxes_in_words(boxes, there)}"
        for title, listed in groups
        for name, boxes in listed
    ]
    across = f"Rows of boxes, by {xlabel}" if xlabel else "Rows of boxes"
    figure.words = style.sentence(across, *told, remark)
    return figure


def _boxes_in_words(boxes: Boxes, keys: Mapping[str, str]) -> str:
    """Say what a row holds, box by box, and of a long row the first ones."""
    told = []
    for start, width, meaning, *label in boxes:
        if not width:
            continue
        end = "" if width == 1 else f" to {style.number(start + width - 1)}"
        words = f"{label[0]}" if label and str(label[0]) else ""
        words = words or f"{style.number(start)}{end}"
        kind = keys.get(meaning, "").partition(" (")[0]  # without its remark
        told.append(f"{words} ({kind})" if kind else words)
    more = f" and {len(told) - MOST_TOLD} more" * (len(told) > MOST_TOLD)
    return ", ".join(told[:MOST_TOLD]) + more


def _read(rows: Mapping) -> list[tuple[str, list[tuple[str, Boxes]]]]:
    """List titles, and under each names with their boxes."""
    style.check_names("rows", rows, style.MOST_ROWS)
    titled = all(isinstance(group, Mapping) for group in rows.values())
    groups = [
        (title, [(name, list(boxes)) for name, boxes in group.items()])
        for title, group in (rows if titled else {"": rows}).items()
    ]
    listed = [row for _, group in groups for row in group]
    boxes = [box for _, row in listed for box in row]
    if not 1 <= len(boxes) <= MOST_BOXES or len(listed) > 2 * style.MOST_ROWS:
        most = f"1 to {MOST_BOXES} boxes in {2 * style.MOST_ROWS} rows at most"
        got = f"{len(boxes)} in {len(listed)}"
        raise ValueError(f"rows must hold {most}, got {got}")
    for name, row in listed:
        for box in row:
            if not isinstance(box, Sequence) or len(box) not in (3, 4):
                wanted = "(start, width, meaning) or (start, width, meaning, label)"
                raise ValueError(f"rows[{name!r}] must hold {wanted}, got {box!r:.60}")
            if style.finite(f"rows[{name!r}]", box[:2])[1] < 0:
                raise ValueError(f"rows[{name!r}] must have widths of 0 or more")
            check_choice(f"a meaning in rows[{name!r}]", box[2], style.LOOKS)
    return groups


def _in_one(groups: list[tuple]) -> list[tuple[str | None, Boxes]]:
    """One list of rows, in which a title is a row that has no name."""
    listed = []
    for title, group in groups:
        listed += [(None, [(0, 0, "plain", title)])] * bool(title) + group
    return listed


def _draw_rows(
    axes: Axes,
    listed: list[tuple[str | None, Boxes]],
    end: float,
    inches: float,
    xlabel: str,
) -> None:
    """Draw rows at y = 0, 1, 2, ... into axes that are so many inches wide."""
    names = [name_of(name or "") for name, _ in listed]
    across = inches - 0.45 - LETTER * max(map(len, names))
    unit = min(WIDEST, (across - 0.06) / end)
    longest: dict[float, int] = {}
    for name, boxes in listed:
        for _, width, _, *label in boxes if name is not None else ():
            letters = max(map(len, map(str, label)), default=0)
            longest[width] = max(letters, longest.get(width, 0))
    for y, (name, boxes) in enumerate(listed):
        if name is None:
            title = name_of(boxes[0][3])
            axes.text(0, y + 0.1, title, va="center", fontweight="bold")
            continue
        for start, width, meaning, *label in boxes:
            if not width:
                continue
            look = style.look_of(meaning)
            # `barh`, or `add_patch`, would also reckon limits, for half of the time
            axes.add_artist(Rectangle((start, y - 0.38), width, 0.76, **look))
            if label and LETTER * longest[width] + 0.04 <= unit * width:
                ground = style.LEGIBLE if look["hatch"] and label[0] != "" else None
                middle = start + width / 2, y
                how = {"ha": "center", "va": "center", "fontsize": style.SMALL}
                axes.text(*middle, str(label[0]), bbox=ground, **how)
    named = [y for y, (name, _) in enumerate(listed) if name]
    axes.set_yticks(named, [names[y] for y in named])
    axes.set(xlim=(-0.04 / unit, across / unit), ylim=(len(listed) - 0.45, -0.55))
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set_xlabel(xlabel, loc="left")
    locator = MaxNLocator(max(2, int(1.2 * inches)), steps=[1, 2, 5, 10], integer=True)
    ticks = locator.tick_values(0, end) if xlabel else []
    axes.set_xticks([tick for tick in ticks if 0 <= tick <= end])
    axes.xaxis.set_major_formatter(style.in_words)


def _draw_lines(axes: Axes, lines: Mapping[str, float] | Iterable[float]) -> None:
    named = isinstance(lines, Mapping)
    for name, at in lines.items() if named else [("", at) for at in lines]:
        axes.axvline(at, color=style.INK, linewidth=1.6)
        options = {"xycoords": ("data", "axes fraction"), "fontsize": style.SMALL}
        axes.annotate(name, (at, 1), ha="center", va="bottom", **options)


def in_a_row(labels: Iterable[object], meaning: str = "plain", at: int = 0) -> Boxes:
    """One box of width 1 for each label, side by side."""
    return [(at + n, 1, meaning, style.drawable(x)) for n, x in enumerate(labels)]


def end_to_end(
    widths: Iterable[float],
    labels: Iterable[object] | None = None,
    *,
    meaning: str = "inputs",
    total: float | None = None,
) -> Boxes:
    """Boxes side by side, whose neighbors differ in shade.

    Args:
        widths: of the boxes, from 0 on.
        labels: one for each; by default the boxes are numbered.
        meaning: "inputs" or "plain".
        total: how wide the row is; what no box fills is lost.
    """
    check_choice("meaning", meaning, ("inputs", "plain"))
    widths = [x.item() if hasattr(x, "item") else x for x in widths]
    labels = range(len(widths)) if labels is None else list(labels)
    if len(labels) != len(widths):
        raise ValueError(
            f"labels must be one for each of {len(widths)} widths, got {len(labels)}"
        )
    starts, boxes = [sum(widths[:n]) for n in range(len(widths) + 1)], []
    for n, (start, width, label) in enumerate(
        zip(starts[:-1], widths, labels, strict=True)
    ):
        look = (meaning, f"{meaning}2")[n % 2]
        boxes.append((start, width, look, style.drawable(label)))
    if total is not None and total > starts[-1]:
        boxes.append((starts[-1], total - starts[-1], "lost"))
    return boxes


@style.styled
def plot_windows(
    starts: object,
    context_length: int,
    num_tokens: int,
    *,
    with_ledger: bool = False,
) -> Figure:
    """Draw the stream 0 ... N-1 and each window under it, its last target apart.

    Args:
        starts: shape (num_windows,), or (num_batches, batch_size) to name batches.
        context_length, num_tokens: T and N, small enough to look at.
        with_ledger: draw below the windows, on the same axis, how often each token is
            used, and say below it what that comes to.
    """
    # the ledger says what is wrong with the starts
    ledger = token_ledger(starts, num_tokens, context_length)
    if not 1 <= num_tokens <= LONGEST_STREAM:
        wanted = f"1 to {LONGEST_STREAM} to be drawn"
        raise ValueError(f"num_tokens must be {wanted}, got {num_tokens}")
    unused = ledger.as_input + ledger.as_target == 0
    stream = [
        (t, 1, "lost" if unused[t] else "plain", *[t] * (num_tokens <= MOST_NUMBERED))
        for t in range(num_tokens)
    ]
    listed = [("stream", stream)]
    starts = np.asarray(starts)
    for place in np.ndindex(starts.shape):
        start = int(starts[place])
        batch = f"batch {place[0]}, " if len(place) > 1 else ""
        last = start + context_length
        window = [(start, context_length, "inputs"), (last, 1, "targets")]
        listed.append((f"{batch}start {start}", window))
    if len(listed) > style.MOST_ROWS:
        most = f"at most {style.MOST_ROWS - 1} windows to be drawn"
        raise ValueError(f"starts must be {most}, got {starts.size}")
    heights = [0.3 * len(listed) + 0.35, 1.4][: 1 + with_ledger]
    figure, (axes, *below) = style.new_panels(
        sum(heights) + 0.4 + 0.3 * with_ledger, len(heights), height_ratios=heights
    )
    xlabel = STREAM if num_tokens > MOST_NUMBERED and not with_ledger else ""
    _draw_rows(axes, listed, num_tokens, style.WIDTH, xlabel)
    keys = {"inputs": f"T = {context_length} inputs"}
    keys["targets"] = "one more id, for the last target"
    if unused.any():
        keys["lost"] = "in no window"
    handles = style.samples(keys)
    for panel in below:
        handles += draw_ledger(panel, ledger, {"in no window": unused})
        # a token is a box from t to t + 1 above, a step around t below
        left, right = axes.get_xlim()
        panel.set_xlim(left - 0.5, right - 0.5)
        panel.set_xlabel(STREAM, loc="left")
        style.add_remark(figure, ledger_in_words(ledger))
    style.explain(figure, handles)
    places = ", ".join(map(str, starts.ravel()))
    figure.words = style.sentence(
        f"Windows in a stream of {num_tokens} tokens, each {context_length} inputs and "
        f"one more id. They start at {places}"
        if starts.size
        else "No windows",
        ledger_in_words(ledger) if with_ledger else "",
    )
    return figure


def ledger_in_words(ledger: TokenLedger) -> str:
    """What a ledger comes to, in a line."""
    windows, predictions = ledger.num_windows, int(ledger.as_target.sum())
    never = ledger.num_tokens - ledger.targets
    each = f"each {predictions / max(ledger.targets, 1):.2f} times on average"
    counts = f"{windows} window{'s' * (windows != 1)}, {predictions} predictions"
    return f"{counts}: {ledger.targets} targets, {each}; {never} never a target"
