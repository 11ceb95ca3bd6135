"""Offset, seed, B and T: an epoch of random sampling (lesson 3)."""

import numpy as np
import torch

from course_lib.foundation import token_ledger
from course_lib.random_sampling import subsequence_starts
from course_lib.teaching.plots.streams import plot_windows
from course_lib.teaching.plots.style import LessonFigure, add_remark, styled
from course_lib.teaching.widgets.player import IntegerControl, Player
from course_lib.teaching.widgets.windows import counted

MOST_WINDOWS = 18
CONTROLS = {
    "num_tokens": IntegerControl("tokens N", 2, 36, (24, 30)),
    "num_steps": IntegerControl("steps T", 1, 12, (3, 4, 5)),
    "offset": IntegerControl("offset", 0, 12, range(5)),
    "batch_size": IntegerControl("batch size B", 1, 6, (2, 4)),
    "seed": IntegerControl("seed", 0, 20, range(3)),
}


def play_batches(
    num_tokens: int = 33,
    num_steps: int = 5,
    offset: int = 4,
    batch_size: int = 2,
    seed: int = 0,
) -> Player:
    """Play with the offset, the order and the batches of an epoch."""
    return Player(
        draw_batches,
        CONTROLS,
        num_tokens=num_tokens,
        num_steps=num_steps,
        offset=offset,
        batch_size=batch_size,
        seed=seed,
    )


@styled
def draw_batches(
    num_tokens: int, num_steps: int, offset: int, batch_size: int, seed: int
) -> LessonFigure:
    """Draw the batches of one epoch, and below them how often each token is used."""
    if offset >= num_steps:
        raise ValueError(
            f"the offset is drawn from 0 to T - 1 = {num_steps - 1}; {offset} would "
            f"make the same cuts as {offset % num_steps}, except the first"
        )
    starts = subsequence_starts(num_tokens, num_steps, offset)
    if len(starts) > MOST_WINDOWS:
        raise ValueError(
            f"{len(starts)} subsequences are too many for a picture, {MOST_WINDOWS} at "
            "most: take a larger T, or a smaller N"
        )
    generator = torch.Generator().manual_seed(seed)
    shuffled = starts[torch.randperm(len(starts), generator=generator).numpy()]
    num_batches = len(starts) // batch_size
    if not num_batches:
        raise ValueError(
            f"after an offset of {offset}, N = {num_tokens} ids hold "
            f"{counted(len(starts), 'subsequence')} of T = {num_steps}, and a batch "
            f"needs B = {batch_size}: an epoch without a batch"
        )
    kept, left_over = np.split(shuffled, [num_batches * batch_size])
    dropped = (left_over[:, None] + np.arange(num_steps + 1)).ravel()
    ledger = token_ledger(kept, num_tokens, num_steps, reasons={"left over": dropped})
    batches = kept.reshape(num_batches, batch_size)
    figure = plot_windows(batches, num_steps, num_tokens, ledger=ledger)
    cut = counted(len(starts), "subsequence")
    made = f"{num_batches} {'batch' if num_batches == 1 else 'batches'} of {batch_size}"
    unused = f"{num_tokens - ledger.used} of {num_tokens} tokens not used in this epoch"
    add_remark(
        figure, f"{cut}, shuffled: {made}, and {len(left_over)} left over; {unused}"
    )
    return figure
