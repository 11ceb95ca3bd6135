"""Pictures of chunks and of padding by what they are made of: rectangles and labels."""

from __future__ import annotations

import io

import pytest
from matplotlib.colors import same_color
from matplotlib.patches import Rectangle

from course_lib.long_documents import chunk_starts
from course_lib.teaching import plot_chunks, plot_padding
from course_lib.teaching.plots.style import INK, INPUTS, LOST


def boxes(axes, color) -> list[tuple[float, float]]:
    """Where the boxes of a color begin and end, line by line."""
    found = [p for p in axes.patches if isinstance(p, Rectangle) and same_color(p.get_edgecolor(), color)]
    return [(p.get_x(), p.get_x() + p.get_width()) for p in sorted(found, key=lambda p: (p.get_y(), p.get_x()))]


def test_chunks_say_what_is_new_what_was_read_before_and_what_is_never_predicted():
    (axes,) = plot_chunks({"overlap 2": [0, 3, 6]}, num_tokens=10, max_length=5).axes
    assert boxes(axes, INPUTS) == [(1, 5), (5, 8), (8, 10)]
    assert boxes(axes, INK) == [(3, 5), (6, 8)]
    assert boxes(axes, LOST) == [(0, 1)]


def test_without_overlap_the_first_token_of_each_chunk_is_never_predicted():
    figure = plot_chunks({"none": chunk_starts(9, 4), "one": chunk_starts(9, 4, 1)}, num_tokens=9, max_length=4)
    (axes,) = figure.axes
    assert boxes(axes, LOST) == [(0, 1), (4, 5), (8, 9), (0, 1)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["none", "one"]
    assert len(figure.legends[0].get_texts()) == 3


def test_padding_reaches_to_the_longest_row_of_its_batch():
    figure = plot_padding({"random": [[3, 5], [2]], "sorted": [[2, 3], [5]]})
    first, second = figure.axes
    assert boxes(first, INPUTS) == [(0, 3), (0, 5), (0, 2)]
    assert boxes(first, LOST) == [(3, 5)]
    assert boxes(second, LOST) == [(2, 3)]
    assert [label.get_text() for label in second.get_yticklabels()] == ["batch 0", "batch 1"]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plot_chunks({"a": [0]}, 1, 1),
        lambda: plot_chunks({f"overlap {o}": chunk_starts(60, 10, o) for o in range(4)}, 60, 10),
        lambda: plot_padding({"a": [[1]]}),
        lambda: plot_padding({"x" * 80: [[300, 1]] * 20, "$b$": [[7]]}),
    ],
)
def test_figures_are_900_pixels_wide_and_can_be_drawn(draw):
    figure = draw()
    assert figure.get_size_inches()[0] == 9
    figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: plot_chunks({}, 5, 2), ValueError, "rows must have at least one name"),
        (lambda: plot_chunks({"a": [0, 5]}, 5, 2), ValueError, "must rise from 0 or more to less than 5"),
        (lambda: plot_chunks({"a": [2, 0]}, 5, 2), ValueError, "must rise"),
        (lambda: plot_chunks({"a": [0]}, 61, 2), ValueError, "num_tokens must be"),
        (lambda: plot_chunks({"a": range(60)}, 60, 1), ValueError, "number of chunks must be"),
        (lambda: plot_padding([[1]]), TypeError, "batches must be a mapping"),
        (lambda: plot_padding({"a": []}), ValueError, "rows of 'a' must be"),
        (lambda: plot_padding({"a": [[0]]}), ValueError, "at least one id each"),
        (lambda: plot_padding({"a": [[1.5]]}), TypeError, r"batches\['a'\] must"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, error, message):
    with pytest.raises(error, match=message):
        draw()
