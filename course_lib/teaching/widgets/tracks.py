"""B, T and the state: rows that go on from batch to batch (lesson 4)."""

from course_lib.sequential_partitioning import partition_starts, row_length
from course_lib.teaching.plots.streams import plot_tracks
from course_lib.teaching.plots.style import LessonFigure, add_remark, styled
from course_lib.teaching.widgets.player import ChoiceControl, IntegerControl, Player
from course_lib.teaching.widgets.windows import counted

LONGEST_ROW = 24
CONTROLS = {
    "num_tokens": IntegerControl("tokens N", 3, 60, (31, 40)),
    "batch_size": IntegerControl("rows B", 1, 6, (2, 3, 4)),
    "num_steps": IntegerControl("steps T", 1, 12, (3, 4, 6)),
    "offset": IntegerControl("offset", 0, 12, (0, 1, 2, 4)),
    "state": ChoiceControl("state", {"carried on": "carried", "reset": "reset"}),
}


def play_tracks(
    num_tokens: int = 31,
    batch_size: int = 3,
    num_steps: int = 4,
    offset: int = 1,
    state: str = "carried",
) -> Player:
    """Play with rows, T, the offset and the state of a partition."""
    return Player(
        draw_tracks,
        CONTROLS,
        num_tokens=num_tokens,
        batch_size=batch_size,
        num_steps=num_steps,
        offset=offset,
        state=state,
    )


@styled
def draw_tracks(
    num_tokens: int, batch_size: int, num_steps: int, offset: int, state: str
) -> LessonFigure:
    """Draw the rows of a partition, and across which bounds the state goes on."""
    if offset > num_steps:
        raise ValueError(f"the offset is drawn from 0 to T = {num_steps}, not {offset}")
    length = row_length(num_tokens, batch_size, offset)
    if length > LONGEST_ROW:
        raise ValueError(
            f"rows of {length} are too long to be drawn, {LONGEST_ROW} at most: take "
            "more rows, or fewer tokens"
        )
    starts = partition_starts(num_tokens, batch_size, num_steps, offset)
    if not len(starts):
        raise ValueError(
            f"a row of {length} has no window of T = {num_steps}: take more tokens, "
            "fewer rows, or a smaller T"
        )
    carried = state == "carried"
    figure = plot_tracks(starts, num_steps, length, carried=carried)
    last = len(starts) - 1
    read = (last if carried else 0) * num_steps
    rows = f"{len(starts)} batch{'es' * (last > 0)} of {counted(batch_size, 'row')}"
    state = f"is read with {counted(read, 'id')} of its row in the state"
    first = f"in batch {last} a row's first input {state}"
    add_remark(figure, f"{rows}, {num_steps} steps each; {first}")
    return figure
