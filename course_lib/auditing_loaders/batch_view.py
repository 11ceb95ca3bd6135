"""A window into a batch: its tokens as text, with what the loss and the attention make
of each. Here a reader sees what integers that tell their positions can't show, such as
another model's tokenizer, or a document that begins twice."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import numpy as np

from course_lib.auditing_loaders.batch_rows import NO_ID, BatchRows, read_batch
from course_lib.foundation import (
    BYTE_CHARACTERS,
    IGNORED,
    SCROLLING,
    Length,
    checked,
    plain,
    spelled,
)

WIDTH = 88  # letters in a line of a terminal
BOX = "display: inline-block; font: 14px monospace; padding: 2px; margin: 1px 0; "
BOX += "box-shadow: inset 0 0 0 1px rgba(128, 128, 128, 0.6); background-color: "
# The colors of the course: what is scored is a target, and padding is lost. The signs
# say the same without them.
LOOKS = {
    "scored": (BOX + "rgba(232, 89, 12, 0.3)", "1"),
    "not scored": (BOX + "transparent", "2"),
    "padding": (BOX + "rgba(117, 117, 117, 0.35)", "2;3"),
}
BEGINS = "‖"
BETWEEN = " · "  # in the legend
LEGEND = {
    "scored": "token: scored",
    "not scored": "(token): not scored",
    "padding": "[token]: padding",
    "scored padding": "[token]!: padding, and scored",
    "begins": f"{BEGINS}: positions begin again, or a document does",
    "other label": "token→label: the label is another token",
    "unknown": "<70000?>: an id that the tokenizer doesn't have",
}


@dataclass(frozen=True)
class TokenView:
    """One place of a row, as it is shown."""

    text: str
    kind: str  #: one of `LOOKS`
    begins: bool  #: positions begin again, or a document does
    marks: frozenset[str]  #: the names in `LEGEND` that explain it
    #: the id, what it is at, and what its label is, as words
    words: str = ""


@dataclass(frozen=True)
class BatchView:
    """What `show_batch` shows: HTML in a notebook, plain signs elsewhere."""

    summary: str
    rows: tuple[tuple[str, tuple[TokenView, ...]], ...]  #: a heading, and the tokens
    notes: tuple[str, ...]

    @property
    def legend(self) -> list[str]:
        used = {
            mark for _, tokens in self.rows for each in tokens for mark in each.marks
        }
        return [words for name, words in LEGEND.items() if name in used]

    def __repr__(self) -> str:
        return self.text()

    def text(self, *, colors: bool = False) -> str:
        """Write it for a terminal, in colors if it has them."""
        lines = [self.summary, ""]
        for heading, tokens in self.rows:
            lines += [heading, *(f"  {line}" for line in _wrapped(tokens, colors)), ""]
        lines += [BETWEEN.join(self.legend)] if self.rows else []
        return "\n".join([*lines, *(f"note: {words}" for words in self.notes)])

    def _repr_html_(self) -> str:
        # JupyterLab shows the first line of what is folded: a blank, and no HTML.
        lines = [" ", f'<div style="{SCROLLING}">', f"<p>{plain(self.summary)}</p>"]
        for heading, tokens in self.rows:
            boxes = "".join(_box(each, count) for each, count in _together(tokens))
            lines += [f"<p><b>{plain(heading)}</b><br>{boxes}</p>"]
        lines += [f"<p>{plain(BETWEEN.join(self.legend))}</p>"]
        lines += [f"<p>note: {plain(words)}</p>" for words in self.notes]
        return "\n".join([*lines, "</div>"])


@checked
def show_batch(
    batch: object, tokenizer: object, *, num_rows: Length = 4, num_tokens: Length = 256
) -> BatchView:
    """Show a batch as text: which tokens are scored, and where something begins.

    A token in parentheses isn't scored, and one in brackets is padding: a mask says so.
    A token of a pair (inputs, targets) is scored if it is the target of the place
    before, so that a row of T inputs has T + 1 places. Where labels stand beside their
    inputs, the model shifts them, and nothing predicts the first token of a row.

    Args:
        batch: whatever `audit_loader` reads, a pair or a mapping.
        tokenizer: of the library `tokenizers` or `transformers`, or any object whose
            `decode` turns a list of ids into text.
        num_rows: so many rows are shown.
        num_tokens: so many tokens of each.

    Raises TypeError or ValueError if it is no batch, or if the tokenizer has no
    `decode`.
    """
    try:
        rows = read_batch(batch)
    except (TypeError, ValueError) as error:
        raise type(error)(f"batch {error}") from None
    spell = speller(tokenizer)
    scored = rows.counted
    begins = beginnings(rows)
    exists = rows.inputs != NO_ID
    if rows.labels is not None:
        exists |= rows.labels != IGNORED
    sizes = exists.shape[1] - exists[:, ::-1].argmax(axis=1)
    shown = []
    for row, size in enumerate(sizes[:num_rows].tolist()):
        heading = _heading(rows, row, int(size), scored, begins)
        places = range(min(size, num_tokens))
        tokens = [_token_view(rows, row, at, scored, begins, spell) for at in places]
        if size > num_tokens:
            heading += f"; the first {num_tokens:,} tokens"
        shown.append((heading, tuple(tokens)))
    return BatchView(_summary(rows, scored), tuple(shown), rows.remarks)


def beginnings(rows: BatchRows) -> dict[str, np.ndarray]:
    """Where something begins within a row, shape (B, M), by what says it."""
    inside = rows.is_kept & (rows.inputs != NO_ID)
    inside[:, 1:] &= inside[:, :-1]  # a first token after padding begins the row
    found = {}
    if rows.positions is not None:
        steps = np.diff(rows.positions, prepend=rows.positions[:, :1] - 1)
        found["positions"] = (steps <= 0) & inside
    for view in rows.views:
        found[view.name] = view.hides_before(inside.shape) & inside
    return found


def speller(tokenizer: object) -> Callable[[int], str]:
    """Return a function that writes the text of one id, as far as it has a text.

    Bytes that are only a part of a letter are written in hexadecimal, and an id that
    the tokenizer doesn't have as `<70000?>`.
    """
    inner = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if isinstance(inner, type | str) or not callable(getattr(inner, "decode", None)):
        kind = "a class" if isinstance(inner, type) else type(inner).__name__
        raise TypeError(f"tokenizer must have a method decode(ids), got {kind}")

    @cache
    def spell(id: int) -> str:
        if not hasattr(inner, "id_to_token"):
            try:
                return spelled(inner.decode([id]))
            except (ValueError, IndexError, KeyError, OverflowError):
                return _unknown(id)
        token = inner.id_to_token(id) if 0 <= id < 2**32 else None
        if token is None:
            return _unknown(id)
        if "▁" in token:  # whose decoder would drop the space before a first word
            return spelled(token.replace("▁", " "))
        text = inner.decode([id], skip_special_tokens=False)
        if "\ufffd" in text and set(token) <= set(BYTE_CHARACTERS):
            return spelled(bytes(map(BYTE_CHARACTERS.index, token)))
        return spelled(text or token)

    return spell


def _unknown(id: int) -> str:
    return f"<{id}?>"


def _labels(rows: BatchRows) -> np.ndarray:
    """The labels; where a loader hands out none, the tokens themselves."""
    return rows.inputs if rows.labels is None else rows.labels


def _token_view(
    rows: BatchRows,
    row: int,
    at: int,
    scored: np.ndarray,
    begins: dict[str, np.ndarray],
    spell: Callable[[int], str],
) -> TokenView:
    id, label = int(rows.inputs[row, at]), int(_labels(rows)[row, at])
    is_scored = bool(scored[row, at])
    is_last = id == NO_ID and rows.is_pair  # a target, and no input
    is_padding = not is_last and not rows.is_kept[row, at]
    text = spell(label if is_last else id)
    where = [name for name, places in begins.items() if places[row, at]]
    kind = "padding" if is_padding else "scored" if is_scored else "not scored"
    marks = {kind, *(["begins"] if where else [])}
    words = [f"place {at}, id {label if is_last else id}"]
    if rows.positions is not None and not is_last and rows.positions[row, at] >= 0:
        words.append(f"position {rows.positions[row, at]}")
    if is_scored and not is_last and label != id:
        text += f"→{spell(label)}"
        marks.add("other label")
        words.append(f"label {label}")
    if "?>" in text and _unknown(label if is_last else id) in text:
        marks.add("unknown")
    if is_padding:
        text = f"[{text}]"
        if is_scored:
            text, marks = text + "!", marks - {"padding"} | {"scored padding"}
    elif not is_scored:
        text = f"({text})"
    words += [f"begins by {name}" for name in where]
    return TokenView(text, kind, bool(where), frozenset(marks), ", ".join(words))


def _summary(rows: BatchRows, scored: np.ndarray) -> str:
    count, width = len(rows.lengths), max(rows.lengths, default=0)
    shapes = f"{count:,} row{'s' * (count != 1)} of {width:,} token"
    shapes += "s" * (width != 1)
    if min(rows.lengths, default=0) < width:
        shapes += " or fewer"
    how = "inputs and targets" if rows.is_pair else "labels beside the inputs"
    if rows.labels is None:
        how = "no labels, so inputs are scored"
    wrong = scored & (rows.inputs != NO_ID) & (_labels(rows) != rows.inputs)
    summary = f"{shapes}, {how}: {scored.sum():,} tokens are scored"
    if not wrong.any():
        return summary
    return f"{summary}, {wrong.sum():,} of them with another token as the label"


def _heading(
    rows: BatchRows,
    row: int,
    size: int,
    scored: np.ndarray,
    begins: dict[str, np.ndarray],
) -> str:
    padding = int(
        (~rows.is_kept[row, :size] & (rows.inputs[row, :size] != NO_ID)).sum()
    )
    words = [f"row {row}: {scored[row].sum():,} of {size:,} scored"]
    words[0] += f", {padding:,} padding" if padding else ""
    for name, places in begins.items():
        at = np.flatnonzero(places[row]).tolist()
        shown = ", ".join(f"{place:,}" for place in at[:8]) + " …" * (len(at) > 8)
        if name == "positions":
            words.append(
                f"positions begin again at {shown}" if at else "positions count on"
            )
        else:
            begin = f"documents begin at {shown}" if at else "one document"
            words.append(f"{name}: {begin}")
    return "; ".join(words)


def _together(tokens: tuple[TokenView, ...]) -> list[tuple[TokenView, int]]:
    """Put equal padding that stands side by side into one, with its number."""

    def key(numbered: tuple[int, TokenView]) -> object:
        at, each = numbered
        return (each.text, each.begins) if each.kind == "padding" else at

    groups = [list(group) for _, group in groupby(enumerate(tokens), key)]
    return [(group[0][1], len(group)) for group in groups]


def _wrapped(tokens: tuple[TokenView, ...], colors: bool) -> list[str]:
    """Lines of tokens, with `|` between two, or `‖` where something begins."""
    lines, length = [""], 0
    for number, (each, count) in enumerate(_together(tokens)):
        between = BEGINS if each.begins else "|" if number else ""
        text = each.text + (f" ×{count}" if count > 1 else "")
        if length and length + len(between) + len(text) > WIDTH - 2:
            lines.append("")
            length = 0
        length += len(between) + len(text)
        if colors:
            text = f"\033[{LOOKS[each.kind][1]}m{text}\033[0m"
        lines[-1] += between + text
    return lines


def _box(each: TokenView, count: int) -> str:
    text = each.text + (f" ×{count}" if count > 1 else "")
    words = html.escape(each.words)
    box = f'<span style="{LOOKS[each.kind][0]}" title="{words}">{plain(text)}</span>'
    return f"<b>{BEGINS}</b>{box}" if each.begins else box
