"""Texts as tokens, and tokens as trees."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Annotated

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.foundation import Several, check_iterable, checked
from course_lib.teaching.plots import style
from course_lib.teaching.plots.boxes import LETTER, Box, Row, plot_rows
from course_lib.teaching.plots.letters import font_families, visible

MOST_STAGES = 24
NAMES_WIDTH, WIDEST = 1.6, 0.62  # inches of names, and of a symbol
SHADES_IN_TURN = (0.04, 0.2)
MONOSPACED = font_families(monospaced=True)


@checked
@style.styled
def plot_merge_tree(
    stages: Annotated[Sequence[Sequence[Sequence[object]]], Several("stages")],
) -> Figure:
    """Draw how a word grows together: its symbols at the bottom, and each merge as a
    node above its two parts.

    Args:
        stages: the word from single symbols to its tokens, one stage a merge; a token
            is the sequence of its symbols, a `str` or a tuple of ids.
    """
    stages = [
        list(check_iterable(f"stages[{number}]", stage, "tokens"))
        for number, stage in enumerate(stages)
    ]
    style.check_few("number of stages", len(stages), MOST_STAGES)
    symbols = [symbol for token in stages[0] for symbol in token]
    num_symbols = style.check_few("number of symbols", len(symbols))
    for number, stage in enumerate(stages):
        if [symbol for token in stage for symbol in token] != symbols:
            wanted = "the symbols of stages[0] in their order"
            raise ValueError(f"stages[{number}] must hold {wanted}, got {stage!r:.60}")
    figure, axes = style.new_figure(0.36 * len(stages) + 0.5)
    # the node whose token begins at a symbol: its middle, its height
    where: dict[int, tuple[float, float]] = {}
    for height, stage in enumerate(stages):
        begin, above = 0, {}
        for token in stage:
            end = begin + len(token)
            parts = [node for first, node in where.items() if begin <= first < end]
            above[begin] = parts[0] if len(parts) == 1 else ((begin + end) / 2, height)
            if len(parts) != 1:
                x, y = above[begin]
                for part in parts:
                    axes.plot([part[0], x], [part[1], y], color=style.LOST, zorder=1)
                _draw_node(axes, x, y, "".join(map(str, token)), bold=height > 0)
            begin = end
        where = above
    names = ["symbols", *(f"merge {number}" for number in range(1, len(stages)))]
    style.name_rows(axes, dict(enumerate(names)))
    axes.set_xticks([])
    columns = max(num_symbols, (style.WIDTH - NAMES_WIDTH) / WIDEST)
    axes.set_xlim(-0.1, columns + 0.1)
    axes.set_ylim(-0.6, len(stages) - 0.4)
    return style.without_frame(figure, axes)


def _draw_node(axes: Axes, x: float, y: float, label: str, *, bold: bool) -> None:
    box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": style.INK}
    box["linewidth"] = 1.8 if bold else 0.7
    style.centered(axes, x, y, visible(label), bbox=box, zorder=2)


@style.styled
def plot_pieces(
    rows: Mapping[str, Sequence[str]], labels: Mapping[str, Sequence[str]] | None = None
) -> Figure:
    """Draw one row a name: strings end to end, each in a box as wide as it is long. Two
    alternating shades only tell neighbors apart.

    Args:
        rows: name to strings. Rows that spell the same text line up.
        labels: for some rows what to write into the boxes instead, such as ids.
    """
    pieces = _with_labels(rows, labels)
    lengths = {name: [len(text) for text, _ in row] for name, row in pieces.items()}
    longest = max(map(sum, lengths.values()))
    style.check_few("longest row of rows", longest, 2 * style.LARGEST_PICTURE)
    drawn = []
    for name, row in pieces.items():
        ends = accumulate(lengths[name])
        boxes = [
            Box(
                end - len(text), len(text), "neutral", label, SHADES_IN_TURN[number % 2]
            )
            for number, (end, (text, label)) in enumerate(zip(ends, row, strict=True))
        ]
        drawn.append(Row(name, boxes))
    every = [box for row in drawn for box in row.boxes]
    # boxes get as wide as the tightest of them needs for its label
    widest = LETTER * max((len(box.label) + 0.8) / box.width for box in every)
    figure, axes, _ = plot_rows(
        drawn, longest, keys={}, height=0.42, widest=widest, family=list(MONOSPACED)
    )
    if left_out := len(every) - len(axes.texts):
        remark = f"{left_out} labels that are longer than their boxes, not written"
        style.add_remark(figure, remark)
    return figure


def _with_labels(
    rows: Mapping[str, Sequence[str]], labels: Mapping[str, Sequence[str]] | None
) -> dict[str, list[tuple[str, str]]]:
    style.check_mapping("rows", rows)
    for name in style.as_mapping("labels", labels):
        if name not in rows:
            raise ValueError(f"labels must be for rows of {list(rows)}, got {name!r}")
    pieces = {}
    for name, strings in rows.items():
        strings = list(check_iterable(f"rows[{name!r}]", strings, "strings"))
        if not all(isinstance(string, str) and string for string in strings):
            wanted = "strings of at least one letter"
            raise ValueError(f"rows[{name!r}] must be {wanted}, got {strings!r:.60}")
        written = (labels or {}).get(name, strings)
        written = list(check_iterable(f"labels[{name!r}]", written, "labels"))
        if len(written) != len(strings):
            wanted = f"one for each of the {len(strings)} strings"
            raise ValueError(f"labels[{name!r}] must be {wanted}, got {len(written)}")
        # a middle dot is narrower than the sign for a space
        labels_of_row = [visible(str(label).replace(" ", "·")) for label in written]
        pieces[name] = list(zip(strings, labels_of_row, strict=True))
    return pieces
