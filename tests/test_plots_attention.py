"""Pictures of masks and positions by what they are made of."""

import numpy as np
import torch
from matplotlib.colors import same_color, to_rgb

from course_lib.document_boundaries import document_mask, position_ids_from_starts
from course_lib.teaching import plot_mask, plot_positions
from course_lib.teaching.plots.style import INPUTS, RIGHT, WRONG
from figures import keys


def test_a_mask_shows_what_is_seen_across_a_boundary_and_of_the_future():
    starts = [0, 2]
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    figure = plot_mask({"causal": causal, "document": document_mask(starts, 5)}, starts)
    first, second = figure.axes
    crosses = {tuple(place) for place in first.collections[0].get_offsets().astype(int).tolist()}
    assert crosses == {(column, row) for row in (2, 3, 4) for column in (0, 1)}
    assert len(second.collections[0].get_offsets()) == 0
    picture = first.images[0].get_array()
    assert np.allclose(picture[0, 0], 0.55 * np.array(to_rgb(INPUTS)) + 0.45)
    assert np.allclose(picture[0, 1], 1)
    assert keys(figure) == ["may look at", "looks at another document", "document boundaries"]
    figure = plot_mask(np.ones((4, 4), dtype=bool), [0, 2])
    assert keys(figure)[1] == "looks at another document or at what comes later"
    assert keys(plot_mask(document_mask([0, 2], 4), [0, 2])) == ["may look at", "document boundaries"]


def test_positions_are_teeth_that_begin_where_they_are_not_counted_on():
    starts = [0, 3, 7]
    figure = plot_positions(
        {"running": range(9), "reset": position_ids_from_starts(starts, 9)}, starts, meanings={"reset": "right"}
    )
    (axes,) = figure.axes
    *dotted, running, reset = axes.lines
    assert [line.get_xdata()[0] for line in dotted] == starts
    np.testing.assert_equal(running.get_ydata(), range(9))
    nan = float("nan")
    np.testing.assert_equal(reset.get_xdata(), [0, 1, 2, nan, 3, 4, 5, 6, nan, 7, 8])
    np.testing.assert_equal(reset.get_ydata(), [0, 1, 2, nan, 0, 1, 2, 3, nan, 0, 1])
    assert same_color(reset.get_color(), RIGHT)
    assert not same_color(running.get_color(), WRONG)
