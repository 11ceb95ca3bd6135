"""Texts as tokens, and tokens as trees."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.foundation import Several, check_iterable, checked
from course_lib.teaching.plots import style
from course_lib.teaching.plots.letters import font_families, row_name, visible

MOST_STAGES = 24
NAMES_WIDTH = 1.6
LETTER_WIDTH = 0.088  # inches of a letter of equal width, in the small size
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
    style.fit_columns(axes, num_symbols, 0.62, NAMES_WIDTH)
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
    boxes = _with_labels(rows, labels)
    longest = max(sum(len(text) for text, _ in pairs) for pairs in boxes.values())
    style.check_few("longest row of rows", longest, 2 * style.LARGEST_PICTURE)
    pairs = [pair for row in boxes.values() for pair in row]
    available = style.WIDTH - 0.1 * max(len(row_name(name)) for name in rows) - 0.5
    # boxes get as wide as the tightest of them needs for its label
    scale = LETTER_WIDTH * max((len(label) + 0.8) / len(text) for text, label in pairs)
    scale = min(scale, available / longest)
    figure, axes = style.new_figure(0.42 * len(rows) + 0.3)
    left_out = 0
    for row, pairs in enumerate(boxes.values()):
        column = 0
        for number, (text, label) in enumerate(pairs):
            x, width = column + 0.06, len(text) - 0.12
            shade = SHADES_IN_TURN[number % 2]
            style.block(axes, x, row + 0.12, width, 0.76, "neutral", shade)
            if LETTER_WIDTH * len(label) <= scale * len(text):
                middle = column + len(text) / 2, row + 0.5
                style.centered(axes, *middle, label, family=list(MONOSPACED))
            else:
                left_out += 1
            column += len(text)
    if left_out:
        remark = f"{left_out} labels that are longer than their boxes, not written"
        style.add_remark(figure, remark)
    names = {row + 0.5: name for row, name in enumerate(rows)}
    style.name_rows(axes, names, fontsize=style.NORMAL)
    axes.set_xticks([])
    axes.set(xlim=(-0.2, available / scale), ylim=(len(rows) + 0.05, -0.05))
    return style.without_frame(figure, axes)


def _with_labels(
    rows: Mapping[str, Sequence[str]], labels: Mapping[str, Sequence[str]] | None
) -> dict[str, list[tuple[str, str]]]:
    style.check_mapping("rows", rows)
    for name in style.as_mapping("labels", labels):
        if name not in rows:
            raise ValueError(f"labels must be for rows of {list(rows)}, got {name!r}")
    boxes = {}
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
        boxes[name] = list(zip(strings, labels_of_row, strict=True))
    return boxes
