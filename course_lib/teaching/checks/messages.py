"""What a check says, in words, sign and color, and as a number for programs."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass, field, replace

from IPython import get_ipython
from markdown_it import MarkdownIt

CHECKS_FILE = "COURSE_CHECKS"  # names a file, in which checks say what they found
PASSED, FAILED, RAISED, NOT_ATTEMPTED = "passed", "failed", "raised", "not attempted"

SIGNS = {PASSED: "✔", FAILED: "✘", RAISED: "⚠", NOT_ATTEMPTED: "○"}
# Legible on the white and on the dark theme alike.
COLORS = {
    PASSED: "#2da44e",
    FAILED: "#e5534b",
    RAISED: "#bf8700",
    NOT_ATTEMPTED: "#808890",
}

to_html = MarkdownIt("commonmark", {"html": False}).render


@dataclass(frozen=True)
class Judgment:
    """The result of a check: an outcome, a score, words, and a recognized mistake."""

    outcome: str
    score: float
    message: str  # Markdown
    diagnosis: str | None = None
    # of a failing call: its number, and how it is shown
    failing: tuple[int, str] | None = field(default=None, repr=False, compare=False)


class Score(float):
    """The number 1.0 or 0.0 for programs, also in a saved cell, and the message of the
    check for readers."""

    judgment: Judgment

    def __new__(cls, judgment: Judgment) -> Score:
        score = super().__new__(cls, judgment.score)
        score.judgment = judgment
        return score

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {
            "text/plain": repr(float(self)),
            "text/html": as_html(self.judgment.outcome, self.judgment.message),
        }

    def __reduce__(self):
        return (Score, (self.judgment,))

    def __mul__(self, points: float) -> Score:
        """As many points as the check is worth, under the same message."""
        return Score(replace(self.judgment, score=float(self) * points))

    __rmul__ = __mul__


def as_html(outcome: str, message: str) -> str:
    """Put a sign before a message, and a bar of its color beside it."""
    sign = colored_sign(outcome)
    body = to_html(message).strip().replace("<p>", f"<p>{sign} ", 1)
    style = f"border-left: 4px solid {COLORS[outcome]}; padding-left: 0.8em"
    return f'<div style="{style}">{body}</div>'


def colored_sign(outcome: str) -> str:
    return f'<strong style="color: {COLORS[outcome]}">{SIGNS[outcome]}</strong>'


def report(item: object, judgment: Judgment) -> Score:
    """Return the score, which a notebook shows as the message, or else print it."""
    item.last_outcome = judgment.outcome
    if file := os.environ.get(CHECKS_FILE):
        with open(file, "a", encoding="utf-8") as log:
            log.write(json.dumps({"exercise": item.name, **asdict(judgment)}) + "\n")
    if get_ipython() is None:
        text = f"{SIGNS[judgment.outcome]} {judgment.message}"
        # A terminal without UTF-8 shows a question mark for a sign that it lacks.
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        print(text.encode(encoding, "replace").decode(encoding))
    return Score(judgment)
