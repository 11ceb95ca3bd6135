"""One text in several tokenizations, as HTML: letters keep their size, and in a narrow
window rows take several lines.

A batch has a renderer of its own, `show_batch`: a token's color says there what becomes
of it, and here only where it ends, and letters must stay in columns. What both need is
in `foundation/visible.py`.
"""

from collections.abc import Iterable, Mapping

from IPython.display import display

from course_lib.foundation import (
    SCROLLING,
    check_iterable,
    check_type,
    checked,
    plain,
    spelled,
)

MOST_TOKENS = 2000
TO_THE_LEFT = "text-align: left; padding: 3px 12px 3px 0"
# The border overlaps the neighbor's, so that letters of all rows stay in columns.
BOX = (
    "display: inline-block; font: 14px monospace; letter-spacing: 3px; padding: 3px 0; "
    "box-shadow: inset 0px 0px 0px 1px rgb(128, 128, 128); "
    "background-color: rgba(128, 128, 128, {})"
)


def show_tokens(
    rows: Mapping[str, Iterable[str | bytes]], *, counted: bool = True
) -> None:
    """Display one text in several tokenizations; see `TokenRows`."""
    display(TokenRows(rows, counted=counted))


class TokenRows:
    """One row a name, a box around each token: `html` for a notebook, and `text`.

    Args:
        rows: name to tokens, as text, or as bytes: those that are not text alone are
            written in hexadecimal.
        counted: write after each name how many tokens its row has.
    """

    @checked
    def __init__(
        self, rows: Mapping[str, Iterable[str | bytes]], *, counted: bool = True
    ) -> None:
        if not check_type("rows", rows, Mapping):
            raise ValueError("rows must have at least one name, got none")
        self.rows = {}
        for name, tokens in rows.items():
            tokens = list(check_iterable(f"rows[{name!r}]", tokens, "tokens"))
            if counted:
                name = f"{name}: {len(tokens)} token{'s' * (len(tokens) != 1)}"
            self.rows[str(name)] = [spelled(token) for token in tokens]
        if (total := sum(map(len, self.rows.values()))) > MOST_TOKENS:
            raise ValueError(
                f"rows must hold at most {MOST_TOKENS} tokens, got {total}"
            )

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}

    @property
    def html(self) -> str:
        lines = [f'<div style="{SCROLLING}">', '<table style="margin: 0">', "<tbody>"]
        for name, tokens in self.rows.items():
            boxes = "".join(
                f'<span style="{BOX.format((0.12, 0.38)[number % 2])}">'
                f"{plain(token)}</span>"
                for number, token in enumerate(tokens)
            )
            # a long row goes on in the next line, between two tokens
            lines.append(
                f'<tr style="background: none"><td style="{TO_THE_LEFT}; white-space: '
                f'nowrap">{plain(name)}</td><td style="{TO_THE_LEFT}; overflow-wrap: '
                f'anywhere">{boxes}</td></tr>'
            )
        return "\n".join([*lines, "</tbody>", "</table>", "</div>"])

    @property
    def text(self) -> str:
        width = max(map(len, self.rows))
        rows = self.rows.items()
        return "\n".join(f"{name:<{width}}  {'|'.join(row)}" for name, row in rows)
