"""Texts as tokens, and tokens as trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from IPython.display import display
from matplotlib.figure import Figure

from course_lib.foundation import check_integer
from course_lib.teaching.plots.style import (
    BLUE,
    COLORS,
    LARGEST_PICTURE,
    ORANGE,
    block,
    new_figure,
    visible,
    without_frame,
)
from course_lib.teaching.plots.tables import SCROLLING, plain

MOST_TOKENS = 2000


def plot_merge_tree(stages: Sequence[Sequence[Sequence[object]]]) -> Figure:
    """Draw how a word grows together: its symbols at the bottom, and each merge as a
    node above its two parts.

    Args:
        stages: the word from single symbols to its tokens, one stage a merge; a token
            is the sequence of its symbols, so a `str` of one character each, or a tuple
            of ids.
    """
    if not stages or not stages[0]:
        raise ValueError("stages must hold a word of at least one symbol")
    num_symbols = sum(map(len, stages[0]))
    check_integer("number of symbols", num_symbols, minimum=1, maximum=LARGEST_PICTURE)
    figure, axes = new_figure(min(0.62 * num_symbols + 2.2, 14), 0.5 * len(stages) + 1)
    # the node whose token begins at a symbol: its middle, its height
    where: dict[int, tuple[float, float]] = {}
    for height, stage in enumerate(stages):
        begin = 0
        above = {}
        for token in stage:
            middle = begin + len(token) / 2
            parts = [
                node
                for first, node in where.items()
                if begin <= first < begin + len(token)
            ]
            above[begin] = parts[0] if len(parts) == 1 else (middle, height)
            if len(parts) != 1:
                for x, y in parts:
                    axes.plot(
                        [x, middle], [y, height], color="gray", linewidth=1, zorder=1
                    )
                box = {
                    "boxstyle": "round",
                    "facecolor": "white",
                    "edgecolor": ORANGE if height else BLUE,
                }
                label = "".join(map(str, token))
                axes.text(
                    middle,
                    height,
                    label,
                    ha="center",
                    va="center",
                    bbox=box,
                    fontsize=9,
                    zorder=2,
                )
            begin += len(token)
        where = above
    names = ["symbols", *(f"merge {number}" for number in range(1, len(stages)))]
    axes.set_yticks(range(len(stages)), names, fontsize=8)
    axes.set_xticks([])
    axes.set(xlim=(-0.1, num_symbols + 0.1), ylim=(-0.6, len(stages) - 0.4))
    return without_frame(figure, axes)


def plot_tokens(rows: Mapping[str, Sequence[str]]) -> Figure:
    """Draw one text in several tokenizations, one row each: a box around each token,
    neighbors in different colors.

    Args:
        rows: name to the tokens of the text, as they are to be shown; each must spell
            the same text.
    """
    texts = {"".join(tokens) for tokens in rows.values()}
    if len(texts) != 1:
        raise ValueError(f"rows must all spell one text, got {len(texts)}")
    (text,) = texts
    figure, axes = new_figure(min(0.16 * len(text) + 2.4, 14), 0.55 * len(rows) + 0.3)
    ticks = []
    for row, (name, tokens) in enumerate(rows.items()):
        begin = 0
        for number, token in enumerate(tokens):
            axes.add_patch(
                block(begin + 0.09, -row, len(token) - 0.18, 0.7, COLORS[number % 3])
            )
            for place, character in enumerate(token):
                x = begin + place + 0.5
                axes.text(
                    x,
                    0.33 - row,
                    visible(character),
                    ha="center",
                    va="center",
                    fontsize=9,
                )
            begin += len(token)
        ticks.append((0.35 - row, f"{name}: {len(tokens)} tokens"))
    axes.set_yticks(*zip(*ticks, strict=True), fontsize=9)
    axes.set_xticks([])
    axes.set(xlim=(0, len(text)), ylim=(-len(rows) + 0.9, 0.8))
    return without_frame(figure, axes)


def show_tokens(rows: Mapping[str, Sequence[str | bytes]]) -> None:
    """Display one text in several tokenizations, one row each: a box around each token.

    Two shades in turn only tell neighbors apart; they mean nothing.

    Args:
        rows: name to tokens, as text, or as bytes: those that are no text by themselves
            are written in hexadecimal.
    """
    marked = TokenRows(rows)
    display({"text/html": marked.html, "text/plain": marked.text}, raw=True)


class TokenRows:
    """Named rows of tokens in two forms.

    Attributes:
        html: for a notebook.
        text: for a terminal.
    """

    def __init__(self, rows: Mapping[str, Sequence[str | bytes]]) -> None:
        total = sum(map(len, rows.values()))
        check_integer("tokens in rows", total, minimum=1, maximum=MOST_TOKENS)
        self.rows = {
            f"{name}: {len(tokens)} token{'s' * (len(tokens) != 1)}": [
                _spelled(token) for token in tokens
            ]
            for name, tokens in rows.items()
        }

    @property
    def html(self) -> str:
        name_style = "text-align: left; white-space: nowrap; padding: 3px 12px 3px 0"
        cell_style = "text-align: left; white-space: nowrap; padding: 3px 0"
        lines = [f'<div style="{SCROLLING}">', '<table style="margin: 0">', "<tbody>"]
        for name, tokens in self.rows.items():
            spans = "".join(map(_span, range(len(tokens)), tokens))
            lines.append(
                f'<tr style="background: none"><td style="{name_style}">{plain(name)}'
                f'</td><td style="{cell_style}">{spans}</td></tr>'
            )
        return "\n".join([*lines, "</tbody>", "</table>", "</div>"])

    @property
    def text(self) -> str:
        width = max(map(len, self.rows))
        return "\n".join(
            f"{name:<{width}}  {'|'.join(tokens)}" for name, tokens in self.rows.items()
        )


def _spelled(token: str | bytes) -> str:
    if isinstance(token, bytes):
        try:
            token = token.decode("utf-8")
        except UnicodeDecodeError:
            return f"<{token.hex(' ').upper()}>"
    return "".join(map(visible, token))


def _span(number: int, token: str) -> str:
    # The border overlaps the neighbor's, so that letters of all rows stay in columns.
    style = (
        "display: inline-block; font: 14px monospace; letter-spacing: 3px; "
        f"background-color: rgba(128, 128, 128, {(0.12, 0.38)[number % 2]}); "
        "box-shadow: inset 0px 0px 0px 1px rgb(128, 128, 128); padding: 3px 0"
    )
    return f'<span style="{style}">{plain(token)}</span>'


def plot_pieces(
    rows: Mapping[str, Sequence[str]], labels: Mapping[str, Sequence[str]] | None = None
) -> Figure:
    """Draw one row a name: strings end to end, each in a box as wide as it is long, two
    styles in turn.

    Args:
        rows: name to strings. Rows that spell the same text line up, however they are
            cut.
        labels: for some rows what to write into the boxes instead, such as ids.
    """
    longest = max((sum(map(len, strings)) for strings in rows.values()), default=0)
    check_integer(
        "longest row of rows", longest, minimum=1, maximum=2 * LARGEST_PICTURE
    )
    written = {
        name: (labels or {}).get(name, strings) for name, strings in rows.items()
    }
    for name, strings in rows.items():
        if len(written[name]) != len(strings):
            count = len(written[name])
            raise ValueError(
                f"labels[{name!r}] must be one for each of the {len(strings)} strings, "
                f"got {count}"
            )
    # A label may be longer than what it stands for: boxes get as wide as the tightest
    # of them needs.
    pairs = [
        pair
        for name, strings in rows.items()
        for pair in zip(strings, written[name], strict=True)
    ]
    scale = max(
        0.13, *(0.085 * len(label) / max(1, len(string)) for string, label in pairs)
    )
    figure, axes = new_figure(min(scale * longest + 1.6, 15), 0.5 * len(rows) + 0.4)
    for row, (name, strings) in enumerate(rows.items()):
        column = 0
        for number, (string, label) in enumerate(
            zip(strings, written[name], strict=True)
        ):
            hatch, color = (("", BLUE), ("//", ORANGE))[number % 2]
            axes.add_patch(
                block(column + 0.08, row + 0.12, len(string) - 0.16, 0.76, color, hatch)
            )
            shown = label.replace(" ", "·").replace("\n", "↵").replace("\t", "⇥")
            text = axes.text(
                column + len(string) / 2,
                row + 0.5,
                shown,
                ha="center",
                va="center",
                fontsize=9,
            )
            text.set(
                family="monospace",
                bbox={
                    "facecolor": "white",
                    "edgecolor": "none",
                    "pad": 0.6,
                    "alpha": 0.85,
                },
            )
            column += len(string)
    axes.set_yticks(np.arange(len(rows)) + 0.5, list(rows))
    axes.set_xticks([])
    axes.set(xlim=(-0.3, longest + 0.3), ylim=(len(rows) + 0.05, -0.05))
    return without_frame(figure, axes)
