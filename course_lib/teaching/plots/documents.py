"""Pictures of documents: cut into chunks, padded, and packed into rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import numpy as np
from matplotlib.figure import Figure

from course_lib.foundation import (
    Count,
    Length,
    Several,
    as_ids,
    as_integers,
    check_iterable,
    check_range,
    checked,
)
from course_lib.teaching.plots import style
from course_lib.teaching.plots.boxes import (
    IN_TURN,
    READ_BEFORE,
    Box,
    Row,
    dash,
    draw_rows,
    explain_rows,
    plot_rows,
)
from course_lib.teaching.plots.letters import row_name
from course_lib.teaching.plots.tables import Table, show_table

MOST_PANELS = 3
LISTED = 12  # packs in the table and in the picture of `inspect_packs`
PACKS_HEADER = ["", "tokens", "documents", "only in part", "filled"]


@checked
@style.styled
def plot_chunks(
    rows: Mapping[str, object], num_tokens: Count, max_length: Length
) -> Figure:
    """Draw the chunks of a document, one a line, one choice of starts after another.

    Tokens after the last chunk are drawn as never predicted.

    Args:
        rows: name to starts, each larger than the one before it.
        num_tokens: N, tokens of the document, small enough to look at.
        max_length: L.
    """
    num_tokens = style.check_few("num_tokens", num_tokens)
    rows = style.read_each("rows", rows, style.check_rising, num_tokens)
    style.check_few("number of chunks", sum(map(len, rows.values())), style.MOST_ROWS)
    lines = []
    for name, starts in rows.items():
        known = 0  # tokens that earlier chunks hold
        for number, start in enumerate(starts.tolist()):
            end = min(start + max_length, num_tokens)
            if start < known:
                meaning, shade = READ_BEFORE
                boxes = [Box(start, known - start, meaning, shade=shade)]
            else:  # this chunk cannot predict its first token, and no other holds it
                boxes = [Box(start, 1, "lost")]
            first = max(known, start + 1)
            boxes += [Box(first, end - first)] * (first < end)
            if number == len(starts) - 1 and end < num_tokens:
                # truncation drops the rest
                boxes.append(Box(end, num_tokens - end, "lost"))
            title = name if number == 0 else ""
            lines.append(Row(f"start {start}", boxes, title))
            known = end
    keys = {"read, and predicted": "inputs"}
    if any(box.meaning == "neutral" for line in lines for box in line.boxes):
        keys["also in the previous chunk"] = style.sample(*READ_BEFORE)
    keys["never predicted"] = "lost"
    label = "position in the document"
    return plot_rows(lines, num_tokens, keys=keys, height=0.27, xlabel=label)[0]


@style.styled
def plot_padding(batches: Mapping[str, Sequence[Sequence[int]]]) -> Figure:
    """Draw batches of rows, each filled up to its longest row.

    Args:
        batches: name to batches, each the lengths of its rows; one panel a name.
    """
    panels = {}
    for name, batches_of in style.read_each("batches", batches, _lengths).items():
        panels[name] = [
            Row(
                f"batch {number}" if place == 0 else "",
                [Box(0, length), *_padding(length, int(lengths.max()))],
                space=0.6 if number and not place else 0.0,
            )
            for number, lengths in enumerate(batches_of)
            for place, length in enumerate(lengths.tolist())
        ]
    rows = [row for panel in panels.values() for row in panel]
    longest = max(
        (box.start + box.width for row in rows for box in row.boxes), default=1
    )
    keys = {"a row": "inputs", "padding": "lost"}
    return _panels(panels, longest, keys, height=0.2, xlabel="ids")


def _lengths(name: str, batches: object) -> list[np.ndarray]:
    several = check_iterable(name, batches, "batches")
    lengths = [style.check_lengths(name, batch) for batch in several]
    style.check_few(f"rows of {name}", sum(map(len, lengths)), style.MOST_ROWS)
    return lengths


def _padding(length: int, wanted: int) -> list[Box]:
    return [Box(length, wanted - length, "lost")] * (length < wanted)


def _panels(
    panels: Mapping[str, list[Row]],
    length: int,
    keys: Mapping[str, object],
    *,
    height: float,
    xlabel: str,
) -> Figure:
    """Rows in panels beside one another, on one scale."""
    lines = max(sum(1 + row.space for row in rows) for rows in panels.values())
    columns = len(panels)
    figure, panes = style.new_panels(height * lines + 1.35, columns=columns)
    for axes, (name, rows) in zip(panes, panels.items(), strict=True):
        draw_rows(
            axes,
            rows,
            length,
            inches=style.WIDTH / columns,
            widest=style.WIDTH,
            xlabel=xlabel,
        )
        axes.set_ylim(lines - 0.1, -0.15)
        if name:
            axes.set_title(row_name(name))
    explain_rows(figure, [row for rows in panels.values() for row in rows], keys)
    return figure


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
    return _panels_of_packs(panels, max_length)


def _documents(name: str, packs: object, lengths: np.ndarray) -> list[Row]:
    rows = []
    for place, pack in enumerate(check_iterable(name, packs, "packs")):
        numbers = as_integers(name, pack).astype(np.int64).ravel()
        check_range(f"the documents of {name}", numbers, len(lengths))
        rows.append(_end_to_end(f"row {place}", lengths[numbers], numbers))
    return rows


def _end_to_end(
    name: str,
    lengths: np.ndarray,
    labels: Iterable[object],
    are_cut: Iterable[bool] | None = None,
) -> Row:
    """Documents, or pieces of documents, beside one another in a row."""
    ends = np.cumsum(lengths)
    are_cut = [False] * len(lengths) if are_cut is None else are_cut
    pieces = zip(ends - lengths, lengths, labels, are_cut, strict=True)
    boxes = [
        Box(int(start), int(length), "inputs", str(label), IN_TURN[number % 2], cut)
        for number, (start, length, label, cut) in enumerate(pieces)
    ]
    return Row(name, boxes)


@checked
def _panels_of_packs(panels: Mapping[str, list[Row]], max_length: Length) -> Figure:
    filled = {}
    for name, rows in panels.items():
        style.check_few(f"number of packs {name}".rstrip(), len(rows), style.MOST_ROWS)
        totals = [sum(box.width for box in row.boxes) for row in rows]
        if max(totals) > max_length:
            most = f"at most max_length {max_length} tokens"
            raise ValueError(f"packs must hold {most}, got one of {max(totals)}")
        filled[name] = [
            row._replace(boxes=[*row.boxes, *_padding(total, max_length)])
            for row, total in zip(rows, totals, strict=True)
        ]
    keys = {"a document (neighbors differ in shade)": "inputs"}
    if any(box.is_cut for rows in panels.values() for row in rows for box in row.boxes):
        piece = keys["a piece of a document that was cut"] = style.sample("inputs")
        dash(piece)
    keys["padding"] = "lost"
    return _panels(filled, max_length, keys, height=0.27, xlabel="tokens")


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
    rows, cuts, lines, chosen = _survey_packs(packs, max_length, eos_token_id)
    show_table(_listed(lines, cuts, chosen, max_length), PACKS_HEADER, align="<>>>>")
    drawn = []
    for n in chosen:
        _, sizes, documents = rows[n]
        labels = [""] * sizes.size if documents is None else documents
        drawn.append(_end_to_end(str(lines[n][0]), sizes, labels, cuts[n]))
    figure = _panels_of_packs({"": drawn}, max_length)
    if len(chosen) < len(rows):
        style.add_remark(figure, f"{len(rows) - len(chosen):,} more packs, not drawn")
    return figure


@checked
def table_of_packs(
    packs: Annotated[Iterable[object], Several("packs")],
    max_length: Length,
    *,
    eos_token_id: Count | None = None,
) -> Table:
    """Return the table of `inspect_packs`, for a terminal."""
    _, cuts, lines, chosen = _survey_packs(packs, max_length, eos_token_id)
    rows = _listed(lines, cuts, chosen, max_length)
    return Table(rows, PACKS_HEADER, align="<>>>>")


def _survey_packs(
    packs: Iterable[object], max_length: int, eos_token_id: int | None
) -> tuple[list[tuple], list[list[bool] | None], list[list], list[int]]:
    """Read all packs: each one's parts, what was cut, its counts, and whom to list."""
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
    # Spread over all of them: best fit begins with full packs, and ends with the rest.
    spread = np.linspace(0, len(rows) - 1, min(LISTED, len(rows)))
    return rows, cuts, lines, spread.round().astype(int).tolist()


def _listed(
    lines: list[list], cuts: list, chosen: list[int], max_length: int
) -> list[list]:
    """Return the lines of some packs, and that of all packs together."""
    tokens, pieces = (sum(line[column] for line in lines) for column in (1, 2))
    in_part = None if None in cuts else sum(map(sum, cuts))
    listed = [[*lines[n], _percent(lines[n][1], max_length)] for n in chosen]
    filled = _percent(tokens, len(lines) * max_length)
    return [*listed, [f"all {len(lines):,} packs", tokens, pieces, in_part, filled]]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"


def _read_pack(
    name: str, pack: object, max_length: int, eos_token_id: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The ids of a pack, the lengths of its pieces, and their documents if told."""

    def part(key: str) -> np.ndarray | None:
        is_mapping = isinstance(pack, Mapping)
        value = pack.get(key) if is_mapping else getattr(pack, key, None)
        return None if value is None else as_ids(f"{name}.{key}", value)

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
