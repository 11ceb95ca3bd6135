"""Pictures of documents that share a row: packs, who looks at whom, and positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from course_lib.foundation import as_integers, check_flag, check_integer
from course_lib.teaching.plots.letters import row_name, visible
from course_lib.teaching.plots.style import (
    INK,
    INPUTS,
    LARGEST_PICTURE,
    MOST_CURVES,
    MOST_ROWS,
    SMALL,
    WIDTH,
    WRONG,
    block,
    check_mapping,
    curve_style,
    explain,
    label_curves,
    meaning_of,
    new_figure,
    say,
    styled,
    without_frame,
)
from course_lib.teaching.plots.tables import show_table

HEIGHT = 0.76  # of a bar; what is left of 1 stands between bars
SHADES_IN_TURN = (0.18, 0.42)
"""Only to tell the documents of a pack apart."""
MOST_PANELS = 3
MOST_MASKS = 2
LONGEST_ROW = 4096
LISTED = 12  # packs in the table and in the picture of `inspect_packs`


@styled
def plot_packs(
    packs: Mapping[str, Sequence[Sequence[int]]],
    lengths: Sequence[int],
    max_length: int,
    *,
    xlabel: str = "tokens",
) -> Figure:
    """Draw packs as bars of documents, one panel for each way to choose them.

    Each document alone, `[[0], [1], ...]`, is what padding makes of a row.

    Args:
        packs: name to packs, each the numbers of its documents, as `assign_packs`
            returns them.
        lengths: tokens of each document.
        max_length: L; what is left of a row of so many tokens is padding.
    """
    lengths = as_integers("lengths", lengths).astype(np.int64)
    if lengths.ndim != 1 or (lengths < 1).any():
        raise ValueError(
            f"lengths must be of at least one token each, got {lengths.tolist()!s:.60}"
        )
    check_mapping("packs", packs)
    check_integer("number of panels", len(packs), minimum=1, maximum=MOST_PANELS)
    panels = {}
    for name, several in packs.items():
        several = [_numbers(f"packs[{name!r}]", pack, len(lengths)) for pack in several]
        panels[name] = [
            [(int(lengths[n]), str(n), False) for n in pack.tolist()]
            for pack in several
        ]
    rows = range(max((len(several) for several in panels.values()), default=0))
    return _panels_of_packs(panels, max_length, xlabel, [f"row {row}" for row in rows])


@styled
def plot_pieces_of_packs(
    packs: Sequence[Sequence[int]],
    max_length: int,
    *,
    cut: Sequence[Sequence[bool]] | None = None,
    labels: Sequence[Sequence[object]] | None = None,
    names: Sequence[str] | None = None,
) -> Figure:
    """Draw what stands in packs: a box for each piece, dashed if its document was cut.

    Args:
        packs: the lengths of the pieces of each, in their order.
        max_length: L; what is left of a row of so many tokens is padding.
        cut: of the same form; whether a piece is only a part of its document.
        labels: of the same form; what is written into the box of a piece.
        names: of the packs; by default they are numbered.
    """
    packs = list(packs)
    if len(packs) > MOST_ROWS:
        raise ValueError(f"packs must be at most {MOST_ROWS}, got {len(packs)}")
    rows = []
    for number, pack in enumerate(packs):
        sizes = as_integers(f"packs[{number}]", pack).astype(np.int64)
        if sizes.ndim != 1 or (sizes < 1).any():
            raise ValueError(
                f"packs[{number}] must be lengths of at least 1, got {sizes.tolist()}"
            )
        cuts = _beside("cut", cut, number, sizes.size, False)
        cuts = [check_flag(f"cut[{number}]", one) for one in cuts]
        texts = map(
            visible, map(str, _beside("labels", labels, number, sizes.size, ""))
        )
        rows.append(list(zip(sizes.tolist(), texts, cuts, strict=True)))
    if names is None:
        names = [f"pack {number}" for number in range(len(rows))]
    if isinstance(names, str) or len(names) != len(rows):
        raise ValueError(f"names must be one for each of the {len(rows)} packs")
    return _panels_of_packs({"": rows}, max_length, "tokens", [*map(row_name, names)])


def _beside(
    name: str, values: Sequence | None, number: int, count: int, default: object
) -> list:
    if values is None:
        return [default] * count
    if number >= len(values) or len(values[number]) != count:
        raise ValueError(f"{name} must have one value a piece of packs[{number}]")
    return list(values[number])


def _numbers(name: str, pack: object, count: int) -> np.ndarray:
    numbers = as_integers(name, pack).astype(np.int64)
    if numbers.ndim != 1 or (numbers < 0).any() or (numbers >= count).any():
        raise ValueError(
            f"{name} must hold numbers of the {count} documents in lengths, got "
            f"{numbers.tolist()!s:.60}"
        )
    return numbers


Row = list[tuple[int, str, bool]]
"""The pieces of a pack: length, what to write into the box, whether it was cut."""


def _panels_of_packs(
    panels: Mapping[str, list[Row]], max_length: int, xlabel: str, names: list[str]
) -> Figure:
    max_length = check_integer("max_length", max_length, minimum=1)
    for name, rows in panels.items():
        check_integer(
            f"packs of {name!r}" if name else "number of packs",
            len(rows),
            minimum=1,
            maximum=MOST_ROWS,
        )
        for row in rows:
            total = sum(length for length, _, _ in row)
            if total > max_length:
                raise ValueError(
                    f"packs must hold at most max_length {max_length} tokens, got one "
                    f"of {total}" + (f" in {name!r}" if name else "")
                )
    lines = max(map(len, panels.values()))
    figure, axes = new_figure(0.27 * lines + 1.35, columns=len(panels))
    panes = np.atleast_1d(axes)
    inches = (WIDTH - 0.9 - 0.3 * len(panels)) / len(panels) / max_length  # of a token
    for pane, (name, rows) in zip(panes, panels.items(), strict=True):
        for y, row in enumerate(rows):
            _draw_pack(pane, y, row, max_length, inches)
        if name:
            pane.set_title(row_name(name))
        pane.set_xlim(-0.005 * max_length, 1.01 * max_length)
        pane.set_ylim(lines - 0.1, -0.15)
        pane.set_xlabel(row_name(xlabel), loc="left")
        every = -(-lines // 20)
        shown = range(0, lines, every)
        ticks = [y + HEIGHT / 2 for y in shown]
        pane.set_yticks(ticks, [names[y] for y in shown])
        without_frame(figure, pane)
    every_row = [row for rows in panels.values() for row in rows]
    keys = {"a document, two shades in turn": block(0, 0, 1, 1, "inputs")}
    if any(cut for row in every_row for _, _, cut in row):
        box = block(0, 0, 1, 1, "inputs")
        keys["a piece of a document that was cut"] = _dashed(box)
    if any(sum(length for length, _, _ in row) < max_length for row in every_row):
        keys["padding"] = block(0, 0, 1, 1, "lost")
    explain(figure, keys)
    return figure


def _draw_pack(axes: Axes, y: float, row: Row, max_length: int, inches: float) -> None:
    place = 0
    for number, (length, label, cut) in enumerate(row):
        box = block(place, y, length, HEIGHT, "inputs", SHADES_IN_TURN[number % 2])
        axes.add_patch(_dashed(box) if cut else box)
        if label and length * inches >= 0.085 * len(label) + 0.04:
            where = place + length / 2, y + HEIGHT / 2
            axes.text(*where, label, ha="center", va="center", fontsize=SMALL)
        place += length
    if place < max_length:
        axes.add_patch(block(place, y, max_length - place, HEIGHT, "lost"))


def _dashed(box):
    """What was cut has an edge of ink in dashes, drawn over its neighbors'."""
    box.set(edgecolor=INK, linestyle=(0, (3, 2)), linewidth=1.6, zorder=3)
    return box


def inspect_packs(
    packs: Iterable[object],
    max_length: int,
    *,
    eos_token_id: int | None = None,
    limit: int = LISTED,
) -> Figure:
    """Show a table of packs, and return a picture of them.

    Args:
        packs: each with `input_ids` and `document_starts`, as attributes or by key:
            what `pack_documents` returns, the rows of a packed data set, or its columns
            as a mapping. `documents`, which document each piece is from, is used where
            it is there.
        max_length: L.
        eos_token_id: what ends a document; a piece without it at its end was cut.
            Rows without `document_starts` are divided behind it.
        limit: so many packs, from the first to the last, are listed and drawn; the last
            line of the table counts all.
    """
    max_length = check_integer("max_length", max_length, minimum=1)
    limit = check_integer("limit", limit, minimum=1, maximum=MOST_ROWS)
    if eos_token_id is not None:
        eos_token_id = check_integer("eos_token_id", eos_token_id, minimum=0)
    rows = [
        _read_pack(number, pack, max_length, eos_token_id)
        for number, pack in enumerate(_each_pack(packs))
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
    spread = np.linspace(0, len(rows) - 1, min(limit, len(rows)))
    chosen = spread.round().astype(int).tolist()
    listed = [[*lines[n], _percent(lines[n][1], max_length)] for n in chosen]
    name = f"all {len(rows):,} packs"
    listed += [
        [name, tokens, pieces, in_part, _percent(tokens, len(rows) * max_length)]
    ]
    header = ["", "tokens", "documents", "only in part", "filled"]
    show_table(listed, header, align="<>>>>")
    figure = plot_pieces_of_packs(
        [rows[n][1] for n in chosen],
        max_length,
        cut=[cuts[n] or [False] * rows[n][1].size for n in chosen],
        labels=[
            [""] * rows[n][1].size if rows[n][2] is None else rows[n][2].tolist()
            for n in chosen
        ],
        names=[lines[n][0] for n in chosen],
    )
    if len(chosen) < len(rows):
        say(figure, f"{len(rows) - len(chosen):,} more packs, not drawn")
    return figure


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"


def _each_pack(packs: Iterable[object]) -> Iterable[object]:
    if isinstance(packs, Mapping):  # columns
        names = [n for n in ("input_ids", "document_starts", "documents") if n in packs]
        columns = [packs[name] for name in names]
        return [
            dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)
        ]
    if isinstance(packs, str | bytes) or not isinstance(packs, Iterable):
        raise TypeError(f"packs must be several packs, got {type(packs).__name__}")
    return packs


def _read_pack(
    number: int, pack: object, max_length: int, eos_token_id: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The ids of a pack, the lengths of its pieces, and their documents if told."""

    def part(name: str) -> np.ndarray | None:
        value = (
            pack.get(name) if isinstance(pack, Mapping) else getattr(pack, name, None)
        )
        if value is None:
            return None
        values = as_integers(f"packs[{number}].{name}", value)
        if values.ndim != 1:
            raise ValueError(
                f"packs[{number}].{name} must have one dimension, got shape "
                f"{values.shape}"
            )
        return values

    ids, starts, documents = map(part, ("input_ids", "document_starts", "documents"))
    if ids is None:
        raise TypeError(
            f"packs[{number}] must have `input_ids`, got {type(pack).__name__}"
        )
    if not 1 <= len(ids) <= max_length:
        raise ValueError(
            f"packs[{number}] must hold 1 to max_length {max_length} ids, got "
            f"{len(ids)}"
        )
    if starts is None:
        if eos_token_id is None:
            raise ValueError(
                f"packs[{number}] has no `document_starts`: give `eos_token_id` to "
                "divide it behind each such id"
            )
        starts = np.append(0, np.flatnonzero(ids[:-1] == eos_token_id) + 1)
    starts = starts.astype(np.int64)
    sizes = np.diff(np.append(starts, len(ids)))
    if not starts.size or starts[0] != 0 or (sizes < 1).any():
        raise ValueError(
            f"packs[{number}].document_starts must rise from 0 to less than "
            f"{len(ids)}, got {starts.tolist()!s:.60}"
        )
    if documents is not None and documents.size != starts.size:
        raise ValueError(
            f"packs[{number}].documents must name one for each of its {starts.size} "
            f"pieces, got {documents.size}"
        )
    return ids, sizes, documents


def _find_cuts(rows: list[tuple], eos_token_id: int | None) -> list[list[bool] | None]:
    """Whether each piece is only a part of its document; None where nothing tells."""
    told = [documents for _, _, documents in rows if documents is not None]
    seen, counts = np.unique(np.concatenate(told or [[]]), return_counts=True)
    in_parts = set(seen[counts > 1].tolist())
    cuts = []
    for ids, sizes, documents in rows:
        if documents is None and eos_token_id is None:
            cuts.append(None)
            continue
        cut = np.zeros(sizes.size, dtype=bool)
        if documents is not None:
            cut |= [number in in_parts for number in documents.tolist()]
        if eos_token_id is not None:
            cut |= ids[np.cumsum(sizes) - 1] != eos_token_id
        cuts.append(cut.tolist())
    return cuts


@styled
def plot_mask(masks: object, document_starts: Sequence[int]) -> Figure:
    """Draw who may look at whom in a row of several documents.

    Args:
        masks: bool, shape (L, L): place q (down) may look at place k (across) where it
            is True. Or title to such a mask, to set two side by side.
        document_starts: where each document begins; the first is 0. Where a place may
            look at another document, or at what comes later, is crossed out.
    """
    panels = masks if isinstance(masks, Mapping) else {"": masks}
    check_mapping("masks", panels)
    check_integer("number of masks", len(panels), minimum=1, maximum=MOST_MASKS)
    tables = {name: _check_mask(name, mask) for name, mask in panels.items()}
    sizes = {len(table) for table in tables.values()}
    if len(sizes) > 1:
        raise ValueError(f"masks must be of one size, got {sorted(sizes)}")
    (length,) = sizes
    starts = _check_starts(document_starts, length)
    segment = np.searchsorted(starts, np.arange(length), side="right") - 1
    later = np.arange(length)[:, None] < np.arange(length)[None, :]
    forbidden = later | (segment[:, None] != segment[None, :])
    figure, _ = new_figure(4.7)
    figure.clear()
    panes = figure.subplots(1, len(panels), squeeze=False)[0]
    for pane, (name, table) in zip(panes, tables.items(), strict=True):
        _draw_mask(pane, table, forbidden, starts)
        pane.set_title(row_name(name))
    keys = {"may look at": block(0, 0, 1, 1, "inputs", 0.55)}
    wrong = [table & forbidden for table in tables.values()]
    if any(table.any() for table in wrong):
        names = {
            "another document": any((table & ~later).any() for table in wrong),
            "what comes later": any((table & later).any() for table in wrong),
        }
        words = " or at ".join(name for name, there in names.items() if there)
        keys[f"looks at {words}"] = _crossed()
    keys["the bounds of the documents"] = Line2D([], [], color=INK, linewidth=1.6)
    explain(figure, keys)
    return figure


def _check_mask(name: str, mask: object) -> np.ndarray:
    name = f"masks[{name!r}]" if name else "masks"
    table = np.asarray(mask)
    if table.dtype != np.bool_:
        raise TypeError(f"{name} must be True and False, got {table.dtype}")
    if table.ndim != 2 or len(set(table.shape)) != 1 or not table.size:
        raise ValueError(f"{name} must have shape (L, L), got {table.shape}")
    check_integer(f"length of {name}", len(table), minimum=1, maximum=LARGEST_PICTURE)
    return table


def _check_starts(document_starts: object, length: int) -> np.ndarray:
    starts = as_integers("document_starts", document_starts).astype(np.int64)
    fits = starts.ndim == 1 and starts.size and starts[0] == 0 and starts[-1] < length
    if not fits or (np.diff(starts) <= 0).any():
        raise ValueError(
            f"document_starts must rise from 0 to less than {length}, got "
            f"{starts.tolist()!s:.60}"
        )
    return starts


def _crossed() -> Line2D:
    look = {"color": "white", "markerfacecolor": WRONG, "markeredgecolor": WRONG}
    return Line2D([], [], marker="X", markersize=9, **look)


def _draw_mask(
    axes: Axes, table: np.ndarray, forbidden: np.ndarray, starts: np.ndarray
) -> None:
    length = len(table)
    picture = np.ones((length, length, 3))
    picture[table & ~forbidden] = 0.55 * np.array(to_rgb(INPUTS)) + 0.45
    picture[table & forbidden] = 0.3 * np.array(to_rgb(WRONG)) + 0.7
    edge = -0.5, length - 0.5
    axes.imshow(picture, interpolation="nearest")
    for line in np.arange(0.5, length - 1):
        axes.axhline(line, color="#d9d9de", linewidth=0.6)
        axes.axvline(line, color="#d9d9de", linewidth=0.6)
    rows, columns = np.nonzero(table & forbidden)
    axes.scatter(columns, rows, marker="X", color=WRONG, s=3600 / length**1.5 + 4)
    for start in [*starts.tolist(), length]:
        axes.plot(edge, (start - 0.5,) * 2, color=INK, linewidth=1.6, clip_on=False)
        axes.plot((start - 0.5,) * 2, edge, color=INK, linewidth=1.6, clip_on=False)
    axes.set(xlim=edge, ylim=edge[::-1])
    ticks = starts.tolist() if len(starts) <= 10 else range(0, length, 5)
    axes.set_xticks(ticks)
    axes.set_yticks(ticks)
    axes.set_xlabel("place that is looked at", loc="left")
    axes.set_ylabel("place that looks", loc="top")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


@styled
def plot_positions(
    positions: Mapping[str, Sequence[int]],
    document_starts: Sequence[int] | None = None,
    *,
    meanings: Mapping[str, str] | None = None,
) -> Figure:
    """Draw the position of each place of a row: a saw-tooth where they begin again.

    Args:
        positions: name to positions, shape (L,) each, all of one length.
        document_starts: where documents begin, drawn as dotted lines.
        meanings: name to "right" or "wrong", for those that are.
    """
    check_mapping("positions", positions)
    check_integer("number of rows", len(positions), minimum=1, maximum=MOST_CURVES)
    curves = {
        name: as_integers(f"positions[{name!r}]", values).astype(np.int64)
        for name, values in positions.items()
    }
    shapes = {values.shape for values in curves.values()}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1:
        raise ValueError(
            f"positions must all have one shape, (L,), got {sorted(shapes)}"
        )
    ((length,),) = shapes
    check_integer("number of places", length, minimum=1, maximum=LONGEST_ROW)
    figure, axes = new_figure(3.2)
    few = length <= LARGEST_PICTURE
    if document_starts is not None:
        for start in _check_starts(document_starts, length).tolist():
            look = {"color": INK, "linewidth": 1, "linestyle": (0, (1, 2))}
            axes.axvline(start, **look, zorder=1)
    ends = []
    for number, (name, values) in enumerate(curves.items()):
        look = curve_style(number, meaning_of(name, meanings, curves))
        if not few:
            look["marker"] = ""
        # A tooth ends where the next place does not count on: there the line is broken.
        teeth = np.flatnonzero(np.diff(values) != 1) + 1
        places, heights = (
            np.insert(numbers.astype(float), teeth, np.nan)
            for numbers in (np.arange(length), values)
        )
        axes.plot(places, heights, linewidth=1.6, **look)
        ends.append((length - 1, int(values[-1]), name, look))
    axes.set_xlabel(
        "place in the row"
        + (", dotted: a document begins" if document_starts is not None else "")
    )
    axes.set_ylabel("position")
    axes.set_xlim(-0.02 * length, length - 1 + 0.02 * length)
    if len(curves) > 1:
        label_curves(axes, ends)
    else:
        axes.set_title(row_name(*curves))
    return figure
