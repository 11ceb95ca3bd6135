"""Pictures of draws by what they are made of: a box for each draw, in the row of its source."""

from itertools import pairwise

from course_lib.teaching import plot_draws
from course_lib.teaching.plots.style import INPUTS
from figures import axes_of, boxes, keys, row_names, texts


def test_each_draw_is_a_box_in_the_row_of_its_source():
    figure = plot_draws({"blocks": [0, 1, 1, 0], "random": [1, 1]}, ["a", "b", "c"])
    axes = axes_of(figure)
    assert boxes(axes, INPUTS) == [(0, 1), (3, 4), (1, 2), (2, 3), (0, 1), (1, 2)]
    assert row_names(axes) == ["a, 2 of 4", "b, 2 of 4", "c, 0 of 4", "a, 0 of 2", "b, 2 of 2", "c, 0 of 2"]
    assert texts(axes) == ["blocks", "random"]
    assert axes.get_xlabel() == "draw"
    assert axes.yaxis_inverted()  # the first group above
    assert keys(figure) == []


def test_rows_do_not_overlap_and_boxes_lie_in_the_row_that_is_named():
    axes = axes_of(plot_draws({"one": [0, 1], "two": [1, 0]}, ["a", "b"]))
    rows = sorted({patch.get_y() for patch in axes.patches})
    assert all(below - above >= 1 for above, below in pairwise(rows))
    named = axes.get_yticks().tolist()
    assert [y + patch / 2 for y, patch in zip(rows, [axes.patches[0].get_height()] * 4, strict=True)] == named


def test_long_names_leave_room_for_the_counts():
    axes = axes_of(plot_draws({"x" * 300: [0]}, ["y" * 300]))
    (name,), (title,) = row_names(axes), texts(axes)
    assert name == "y" * 15 + "…, 1 of 1"
    assert len(title) == 60
