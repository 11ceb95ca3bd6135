"""Pictures of documents that share a row: packs, who looks at whom, and positions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from course_lib.foundation import (
    Count,
    Length,
    Several,
    as_integers,
    as_stream,
    check_dense,
    check_iterable,
    check_range,
    checked,
)
from course_lib.teaching.plots import style
from course_lib.teaching.plots.letters import row_name
from course_lib.teaching.plots.tables import show_table

HEIGHT = 0.76  # of a bar; the rest of 1 is the gap between bars
SHADES_IN_TURN = (0.18, 0.42)  # only to tell neighbors apart
MOST_PANELS = 3
MOST_MASKS = 2
LONGEST_ROW = 4096
LISTED = 12  # packs in the table and in the picture of `inspect_packs`

Row = list[tuple[int, str, bool]]
"""The pieces of a pack: length, what to write into the box, whether it was cut."""


@style.styled
def plot_packs(
    packs: Mapping[str, Sequence[Sequence[int]]],
    lengths: Sequence[int],
    max_length: int,
) -> Figure:
    """Draw packs as bars of documents, one panel for each way to choose them.

    Args:
        packs: name to packs, each the numbers of its documents, as `assign_packs`
            returns them; `[[0], [1], ...]` is what padding makes of a row.
        lengths: tokens of each document.
        max_length: L; the places of a row that hold no token are padding.
    """
    lengths = style.check_lengths("lengths", lengths)
    panels = style.read_each("packs", packs, _documents, lengths, most=MOST_PANELS)
    rows = range(max(map(len, panels.values())))
    return _panels_of_packs(panels, max_length, [f"row {row}" for row in rows])


def _documents(name: str, packs: object, lengths: np.ndarray) -> list[Row]:
    rows = []
    for pack in check_iterable(name, packs, "packs"):
        numbers = as_integers(name, pack).astype(np.int64).ravel()
        check_range(f"the documents of {name}", numbers, len(lengths))
        rows.append([(int(lengths[n]), str(n), False) for n in numbers.tolist()])
    return rows


@checked
def _panels_of_packs(
    panels: Mapping[str, list[Row]], max_length: Length, names: list[str]
) -> Figure:
    for name, rows in panels.items():
        style.check_few(f"number of packs {name}".rstrip(), len(rows), style.MOST_ROWS)
    every_row = [row for rows in panels.values() for row in rows]
    totals = [sum(length for length, _, _ in row) for row in every_row]
    if max(totals) > max_length:
        most = f"at most max_length {max_length} tokens"
        raise ValueError(f"packs must hold {most}, got one of {max(totals)}")
    lines = max(map(len, panels.values()))
    height, columns = 0.27 * lines + 1.35, len(panels)
    figure, panes = style.new_panels(height, columns=columns, sharey=True)
    inches = (style.WIDTH - 0.9 - 0.3 * columns) / columns / max_length  # of a token
    for pane, (name, rows) in zip(panes, panels.items(), strict=True):
        for y, row in enumerate(rows):
            _draw_pack(pane, y, row, max_length, inches)
        if name:
            pane.set_title(row_name(name))
        pane.set_xlim(-0.005 * max_length, 1.01 * max_length)
        pane.set_ylim(lines - 0.1, -0.15)
        pane.set_xlabel("tokens", loc="left")
        named = range(0, lines, -(-lines // 20))
        style.name_rows(pane, {y + HEIGHT / 2: names[y] for y in named})
        style.without_frame(figure, pane)
    keys = {"a document (neighbors differ in shade)": "inputs"}
    if any(cut for row in every_row for _, _, cut in row):
        piece = keys["a piece of a document that was cut"] = style.sample("inputs")
        _dash(piece)
    if min(totals) < max_length:
        keys["padding"] = "lost"
    style.explain(figure, keys)
    return figure


def _draw_pack(axes: Axes, y: float, row: Row, max_length: int, inches: float) -> None:
    place = 0
    for number, (length, label, cut) in enumerate(row):
        shade = SHADES_IN_TURN[number % 2]
        box = style.block(axes, place, y, length, HEIGHT, "inputs", shade)
        if cut:
            _dash(box)
        if label and length * inches >= 0.085 * len(label) + 0.04:
            style.centered(axes, place + length / 2, y + HEIGHT / 2, label)
        place += length
    if place < max_length:
        style.block(axes, place, y, max_length - place, HEIGHT, "lost")


def _dash(box: Rectangle) -> None:
    """What was cut has an edge of ink in dashes, drawn over its neighbors'."""
    box.set(edgecolor=style.INK, linestyle=(0, (3, 2)), linewidth=1.6, zorder=3)


@checked
@style.styled
def inspect_packs(
    packs: Annotated[Iterable[object], Several("packs")],
    max_length: Length,
    *,
    eos_token_id: Count | None = None,
) -> Figure:
    """Show a table of packs, and return a picture of them.

    If there are more than 12 packs, 12 are listed and drawn, spread from the first to
    the last. The last line of the table counts all.

    Args:
        packs: each with `input_ids` and `document_starts`, as attributes or by key, and
            perhaps `documents`, which document each piece is from.
        max_length: L.
        eos_token_id: what ends a document; a piece without it at its end was cut.
            Rows without `document_starts` are divided after it.
    """
    rows = [
        _read_pack(f"packs[{number}]", pack, max_length, eos_token_id)
        for number, pack in enumerate(packs)
    ]
    if not rows:
        raise ValueError("packs must be at least one, got none")
    cuts = _find_cuts(rows, eos_token_id)
    lines = [
        [f"pack {number}", len(ids), sizes.size, cut and sum(cut)]
        for number, ((ids, sizes, _), cut) in enumerate(zip(rows, cuts, strict=True))
    ]
    tokens, pieces = (sum(line[column] for line in lines) for column in (1, 2))
    in_part = None if None in cuts else sum(map(sum, cuts))
    # Spread over all of them: best fit begins with full packs, and ends with the rest.
    spread = np.linspace(0, len(rows) - 1, min(LISTED, len(rows)))
    chosen = spread.round().astype(int).tolist()
    listed = [[*lines[n], _percent(lines[n][1], max_length)] for n in chosen]
    filled = _percent(tokens, len(rows) * max_length)
    listed += [[f"all {len(rows):,} packs", tokens, pieces, in_part, filled]]
    header = ["", "tokens", "documents", "only in part", "filled"]
    show_table(listed, header, align="<>>>>")
    drawn = []
    for n in chosen:
        _, sizes, documents = rows[n]
        labels = [""] * sizes.size if documents is None else map(str, documents)
        marks = cuts[n] or [False] * sizes.size
        drawn.append(list(zip(sizes.tolist(), labels, marks, strict=True)))
    names = [lines[n][0] for n in chosen]
    figure = _panels_of_packs({"": drawn}, max_length, names)
    if len(chosen) < len(rows):
        style.add_remark(figure, f"{len(rows) - len(chosen):,} more packs, not drawn")
    return figure


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"


def _read_pack(
    name: str, pack: object, max_length: int, eos_token_id: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The ids of a pack, the lengths of its pieces, and their documents if told."""

    def part(key: str) -> np.ndarray | None:
        is_mapping = isinstance(pack, Mapping)
        value = pack.get(key) if is_mapping else getattr(pack, key, None)
        return None if value is None else as_stream(f"{name}.{key}", value)

    ids, starts, documents = map(part, ("input_ids", "document_starts", "documents"))
    if ids is None:
        raise TypeError(f"{name} must have `input_ids`, got {type(pack).__name__}")
    if not 1 <= (count := len(ids)) <= max_length:
        allowed = f"1 to max_length {max_length} ids"
        raise ValueError(f"{name} must hold {allowed}, got {count}")
    if starts is None and eos_token_id is None:
        raise ValueError(
            f"{name} has no `document_starts`: give `eos_token_id` to divide it after "
            "each such id"
        )
    if starts is None:
        starts = np.append(0, np.flatnonzero(ids[:-1] == eos_token_id) + 1)
    starts = style.check_starts(f"{name}.document_starts", starts, count)
    sizes = np.diff(np.append(starts, count))
    if documents is not None and documents.size != starts.size:
        wanted = f"one for each of its {starts.size} pieces"
        raise ValueError(f"{name}.documents must name {wanted}, got {documents.size}")
    return ids, sizes, documents


def _find_cuts(rows: list[tuple], eos_token_id: int | None) -> list[list[bool] | None]:
    """Whether each piece is only a part of its document; None where nothing tells."""
    told = [documents for _, _, documents in rows if documents is not None]
    seen, counts = np.unique(np.concatenate(told or [[]]), return_counts=True)
    in_parts = seen[counts > 1]
    cuts = []
    for ids, sizes, documents in rows:
        cut = np.zeros(sizes.size, dtype=bool)
        if documents is not None:
            cut |= np.isin(documents, in_parts)
        if eos_token_id is not None:
            cut |= ids[np.cumsum(sizes) - 1] != eos_token_id
        nothing_tells = documents is None and eos_token_id is None
        cuts.append(None if nothing_tells else cut.tolist())
    return cuts


@style.styled
def plot_mask(masks: object, document_starts: Sequence[int]) -> Figure:
    """Draw who may look at whom in a row of several documents.

    Args:
        masks: bool, shape (L, L): place q (down) may look at place k (across) where it
            is True. Or title to such a mask, to set two side by side.
        document_starts: the first is 0. Where a place may look at another document, or
            at what comes later, is crossed out.
    """
    tables = style.read_panels("masks", masks, _check_mask, most=MOST_MASKS)
    sizes = {len(table) for table in tables.values()}
    if len(sizes) > 1:
        raise ValueError(f"masks must be of one size, got {sorted(sizes)}")
    (length,) = sizes
    starts = style.check_starts("document_starts", document_starts, length)
    segment = np.searchsorted(starts, np.arange(length), side="right") - 1
    later = np.arange(length)[:, None] < np.arange(length)[None, :]
    forbidden = later | (segment[:, None] != segment[None, :])
    figure, panes = style.new_panels(4.7, columns=len(tables))
    for pane, (name, table) in zip(panes, tables.items(), strict=True):
        _draw_mask(pane, table, forbidden, starts)
        pane.set_title(row_name(name))
    keys = {"may look at": style.sample("inputs", 0.55)}
    wrong = forbidden & list(tables.values())
    if wrong.any():
        others = {"another document": ~later, "what comes later": later}
        seen = [name for name, there in others.items() if (there & wrong).any()]
        words = " or at ".join(seen)
        keys[f"looks at {words}"] = Line2D(
            [], [], color=style.WRONG, marker="X", markersize=9, linestyle="none"
        )
    keys["document boundaries"] = Line2D([], [], color=style.INK, linewidth=1.6)
    style.explain(figure, keys)
    return figure


def _check_mask(name: str, mask: object) -> np.ndarray:
    is_tensor = isinstance(mask, torch.Tensor)
    table = np.asarray(check_dense(name, mask) if is_tensor else mask)
    if table.dtype != np.bool_:
        raise TypeError(f"{name} must be True and False, got {table.dtype}")
    if table.ndim != 2 or len(set(table.shape)) != 1 or not table.size:
        raise ValueError(f"{name} must have shape (L, L), got {table.shape}")
    style.check_few(f"length of {name}", len(table))
    return table


def _draw_mask(
    axes: Axes, table: np.ndarray, forbidden: np.ndarray, starts: np.ndarray
) -> None:
    length = len(table)
    picture = np.ones((length, length, 3))
    picture[table & ~forbidden] = 0.55 * np.array(to_rgb(style.INPUTS)) + 0.45
    picture[table & forbidden] = 0.3 * np.array(to_rgb(style.WRONG)) + 0.7
    edge = -0.5, length - 0.5
    axes.imshow(picture, interpolation="nearest")
    for line in np.arange(0.5, length - 1):
        axes.axhline(line, color="#d9d9de", linewidth=0.6)
        axes.axvline(line, color="#d9d9de", linewidth=0.6)
    rows, columns = np.nonzero(table & forbidden)
    axes.scatter(columns, rows, marker="X", color=style.WRONG, s=3600 / length**1.5 + 4)
    borders = np.append(starts, length) - 0.5
    look = {"color": style.INK, "linewidth": 1.6, "clip_on": False}
    axes.hlines(borders, *edge, **look)
    axes.vlines(borders, *edge, **look)
    ticks = starts.tolist() if len(starts) <= 10 else range(0, length, 5)
    axes.set(xlim=edge, ylim=edge[::-1], xticks=ticks, yticks=ticks)
    axes.set_xlabel("place that is looked at", loc="left")
    axes.set_ylabel("place that looks", loc="top")
    style.without_frame(axes.figure, axes)


@style.styled
def plot_positions(
    positions: Mapping[str, Sequence[int]],
    document_starts: Sequence[int] | None = None,
    *,
    meanings: Mapping[str, str] | None = None,
) -> Figure:
    """Draw the position of each place of a row: a saw-tooth where they begin again.

    Args:
        positions: name to positions, shape (L,) each.
        document_starts: where documents begin, drawn as dotted lines.
        meanings: name to "right" or "wrong", for those that are.
    """
    most = style.MOST_CURVES
    curves = style.read_each("positions", positions, as_integers, most=most)
    shapes = {values.shape for values in curves.values()}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1:
        shapes = f"one shape, (L,), got {sorted(shapes)}"
        raise ValueError(f"positions must all have {shapes}")
    ((length,),) = shapes
    style.check_few("number of places", length, LONGEST_ROW)
    figure, axes = style.new_figure(3.2)
    xlabel = "place in the row"
    if document_starts is not None:
        xlabel += ", dotted: a document begins"
        for start in style.check_starts("document_starts", document_starts, length):
            axes.axvline(start, **style.DOTTED, zorder=1)
    ends = []
    for number, (name, values) in enumerate(curves.items()):
        look = style.curve_style(number, style.meaning_of(name, meanings, curves))
        if length > style.LARGEST_PICTURE:
            look["marker"] = ""
        # A tooth ends where the next place does not count on: there the line is broken.
        teeth = np.flatnonzero(np.diff(values) != 1) + 1
        line = np.array([np.arange(length), values], dtype=float)
        axes.plot(*np.insert(line, teeth, np.nan, axis=1), linewidth=1.6, **look)
        ends.append((length - 1, int(values[-1]), name, look))
    axes.set(xlabel=xlabel, ylabel="position")
    axes.set_xlim(-0.02 * length, length - 1 + 0.02 * length)
    style.name_curves(axes, ends)
    return figure
