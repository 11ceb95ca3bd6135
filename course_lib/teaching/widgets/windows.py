"""N, T and S: the windows of a stream, and their ledger (lessons 2 and 5)."""

from __future__ import annotations

from course_lib.foundation import token_ledger
from course_lib.sliding_windows import window_starts
from course_lib.teaching.plots.streams import plot_windows
from course_lib.teaching.plots.style import LessonFigure, add_remark, styled
from course_lib.teaching.widgets.player import IntegerControl, Player

CONTROLS = {
    "num_tokens": IntegerControl("tokens N", 2, 24, (12, 20, 22, 23)),
    "context_length": IntegerControl("inputs T", 1, 12, (2, 3, 4, 6, 8)),
    "stride": IntegerControl("stride S", 1, 16, (1, 2, 3, 4, 5, 6, 8, 9, 12)),
}


def play_windows(
    num_tokens: int = 23, context_length: int = 4, stride: int = 2
) -> Player:
    """Play with a stream, its windows and their ledger."""
    return Player(
        draw_windows,
        CONTROLS,
        num_tokens=num_tokens,
        context_length=context_length,
        stride=stride,
    )


@styled
def draw_windows(num_tokens: int, context_length: int, stride: int) -> LessonFigure:
    """Draw the windows of N, T and S, and below them how often each token is used."""
    starts = window_starts(num_tokens, context_length, stride)
    if not len(starts):
        raise ValueError(
            f"a stream of N = {num_tokens} ids has no window of T + 1 = "
            f"{context_length + 1}: take a larger N, or a smaller T"
        )
    ledger = token_ledger(starts, num_tokens, context_length)
    figure = plot_windows(starts, context_length, num_tokens, ledger=ledger)
    predictions = int(ledger.as_target.sum())
    never = num_tokens - ledger.targets
    cut = f"{counted(len(starts), 'window')}, {counted(predictions, 'prediction')}"
    times = f"each {predictions / ledger.targets:.2f} times on average"
    targets = f"{counted(ledger.targets, 'token')} a target, {times}"
    add_remark(figure, f"{cut}; {targets}; {never} never a target")
    return figure


def counted(count: int, name: str) -> str:
    """Write a number of things: 1 window, 2 windows."""
    return f"{count} {name}{'s' * (count != 1)}"
