"""Lengths, L and a strategy: documents in packs (lesson 9)."""

from course_lib.document_packing import assign_packs
from course_lib.teaching.plots.documents import plot_packs
from course_lib.teaching.plots.style import LessonFigure, add_remark, styled
from course_lib.teaching.widgets.player import (
    ChoiceControl,
    IntegerControl,
    Player,
    TextControl,
    numbers_of,
)
from course_lib.teaching.widgets.windows import counted

MOST_DOCUMENTS = 24
STRATEGIES = {"greedy": "greedy", "first fit": "first_fit", "best fit": "best_fit"}
FEW = ("8 7 6 5 4 3 2 1", "1 2 3 4 5 6 7 8", "6 6 6 6 4 4 4 4 2 2 2 2", "5 5 5 5 5")
CONTROLS = {
    "lengths": TextControl("lengths", 120, FEW),
    "max_length": IntegerControl("places L", 1, 40, (6, 7, 8, 9, 10, 12, 16)),
    "strategy": ChoiceControl("strategy", STRATEGIES),
}


def play_packs(
    lengths: str = "7 2 5 3 1 6 4 2 5 3",
    max_length: int = 8,
    strategy: str = "best_fit",
) -> Player:
    """Play with documents, the length L of a row, and the strategy that packs them.

    Args:
        lengths: tokens of each document, as text with spaces between the numbers.
        strategy: "greedy", "first_fit" or "best_fit".
    """
    return Player(
        draw_packs, CONTROLS, lengths=lengths, max_length=max_length, strategy=strategy
    )


@styled
def draw_packs(lengths: str, max_length: int, strategy: str) -> LessonFigure:
    """Draw documents in rows of their own, and packed."""
    sizes = numbers_of("lengths", lengths, most=MOST_DOCUMENTS)
    for document, size in enumerate(sizes):
        if not 1 <= size <= max_length:
            raise ValueError(
                f"document {document} has {counted(size, 'token')}; between 1 and "
                f"L = {max_length} it could be packed: a longer one is split first"
            )
    packs = assign_packs(sizes, max_length, strategy=strategy)
    (name,) = (name for name, value in STRATEGIES.items() if value == strategy)
    alone = [[document] for document in range(len(sizes))]
    figure = plot_packs({"padding": alone, name: packs}, sizes, max_length)
    fewest = -(-sum(sizes) // max_length)
    before, after = (sum(sizes) / len(rows) / max_length for rows in (alone, packs))
    rows = f"{counted(len(packs), 'row')} in place of {len(alone)}"
    filled = f"{after:.0%} filled in place of {before:.0%}"
    add_remark(figure, f"{rows}, {filled}; {sum(sizes)} tokens need {fewest} at least")
    return figure
