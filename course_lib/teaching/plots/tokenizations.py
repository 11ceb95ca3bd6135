"""One text in several tokenizations, as HTML: letters keep their size, and in a narrow
window rows take several lines."""

import html
from collections.abc import Mapping, Sequence

from IPython.display import display

from course_lib.bpe import BPETokenizer
from course_lib.foundation import check_iterable, checked
from course_lib.teaching.plots.letters import signs
from course_lib.teaching.plots.style import check_few, read_each
from course_lib.teaching.plots.tables import SCROLLING, plain

MOST_TOKENS = 2000


def show_tokens(
    rows: Mapping[str, Sequence[str | bytes]],
    *,
    merges: Sequence[tuple[int, int]] | None = None,
) -> None:
    """Display one text in several tokenizations, one row each: a box around each token.

    Args:
        rows: name to tokens, as text, or as bytes: those that are not text alone are
            written in hexadecimal.
        merges: those of a `BPETokenizer`. A box under the mouse then says which of them
            made its token.
    """
    marked = TokenRows(rows, makers=None if merges is None else makers_of(merges))
    display({"text/html": marked.html, "text/plain": marked.text}, raw=True)


def makers_of(merges: Sequence[tuple[int, int]]) -> dict[str | bytes, str]:
    """Tokens of a `BPETokenizer` to what made them."""
    tokenizer = BPETokenizer(merges)
    tokens = tokenizer.token_bytes
    makers: dict[str | bytes, str] = dict.fromkeys(tokens, "a byte")
    for number, (pair, made) in enumerate(tokenizer.merges.items(), start=1):
        left, right = (_spelled(tokens[part]) for part in pair)
        makers[tokens[made]] = f"merge {number:,}: {left} + {right}"
    return makers


class TokenRows:
    """Named rows of tokens in two forms: `html` for a notebook, `text` for a terminal.

    Args:
        rows: name to tokens.
        counted: write after each name how many tokens its row has.
        makers: token to what made it.
    """

    @checked
    def __init__(
        self,
        rows: Mapping[str, Sequence[str | bytes]],
        *,
        counted: bool = True,
        makers: Mapping[str | bytes, str] | None = None,
    ) -> None:
        counted, makers = counted, makers or {}
        self.rows, self.made_by = {}, {}
        for name, tokens in read_each("rows", rows, check_iterable, "tokens").items():
            tokens = list(tokens)
            if counted:
                name = f"{name}: {len(tokens)} token{'s' * (len(tokens) != 1)}"
            self.rows[str(name)] = [_spelled(token) for token in tokens]
            self.made_by[str(name)] = [makers.get(token, "") for token in tokens]
        total = sum(map(len, self.rows.values()))
        check_few("tokens in rows", total, MOST_TOKENS)

    @property
    def html(self) -> str:
        name_style = "text-align: left; white-space: nowrap; padding: 3px 12px 3px 0"
        # a long row goes on in the next line, between two tokens
        cell_style = "text-align: left; overflow-wrap: anywhere; padding: 3px 0"
        lines = [f'<div style="{SCROLLING}">', '<table style="margin: 0">', "<tbody>"]
        for name, tokens in self.rows.items():
            made_by = self.made_by[name]
            spans = "".join(map(_span, range(len(tokens)), tokens, made_by))
            lines.append(
                f'<tr style="background: none"><td style="{name_style}">{plain(name)}'
                f'</td><td style="{cell_style}">{spans}</td></tr>'
            )
        return "\n".join([*lines, "</tbody>", "</table>", "</div>"])

    @property
    def text(self) -> str:
        width = max(map(len, self.rows))
        rows = self.rows.items()
        return "\n".join(f"{name:<{width}}  {'|'.join(row)}" for name, row in rows)


def _spelled(token: str | bytes) -> str:
    if not isinstance(token, str | bytes):
        raise TypeError(f"tokens must be text or bytes, got {token!r:.60}")
    if isinstance(token, bytes):
        try:
            token = token.decode("utf-8")
        except UnicodeDecodeError:
            return f"<{token.hex(' ').upper()}>"
    return signs(token)


def _span(number: int, token: str, made_by: str) -> str:
    # The border overlaps the neighbor's, so that letters of all rows stay in columns.
    style = (
        "display: inline-block; font: 14px monospace; letter-spacing: 3px; "
        f"background-color: rgba(128, 128, 128, {(0.12, 0.38)[number % 2]}); "
        "box-shadow: inset 0px 0px 0px 1px rgb(128, 128, 128); padding: 3px 0"
    )
    told = ""
    if made_by:  # the tabulator stops once in each row
        told = f'title="{html.escape(made_by)}" tabindex="{-min(number, 1)}" '
    return f'<span {told}style="{style}">{plain(token)}</span>'
