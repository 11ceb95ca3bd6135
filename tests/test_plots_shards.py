"""Pictures of shards and of orders by what they are made of: rectangles, lines and dots."""

import numpy as np

from course_lib.teaching import plot_orders, plot_shards
from course_lib.teaching.plots.style import INK, INPUTS, LOST
from figures import boxes, keys, row_names, title


def test_documents_and_shards_lie_end_to_end_and_a_window_that_reaches_into_another_looks_different():
    (axes,) = plot_shards([5, 4], [0, 3, 7]).axes
    assert boxes(axes, INK) == [(0, 3), (3, 7), (7, 9), (0, 5), (5, 9)]
    assert row_names(axes) == ["documents", "shards"]
    assert sorted(x for lines in axes.collections for (x, _), _ in lines.get_segments()) == [3, 5, 7]
    figure = plot_shards([5, 4], [0], [0, 1, 4, 5], context_length=3)
    (axes,) = figure.axes
    assert boxes(axes, INPUTS) == [(0, 4), (1, 5), (5, 9)]
    assert boxes(axes, LOST) == [(4, 8)]
    assert keys(figure) == ["window inside one shard", "window across a shard boundary"]
    (axes,) = plot_shards([2, 1, 5], [0], [0, 1], context_length=3).axes
    assert boxes(axes, LOST) == [(0, 4), (1, 5)]
    assert boxes(axes, INPUTS) == []


def test_an_order_is_drawn_place_against_position_a_long_one_in_part_and_no_panel_without_one():
    figure = plot_orders({"as it is": range(4), "back": [3, 2, 1, 0]}, size=4)
    first, second = figure.axes
    assert first.lines[0].get_ydata().tolist() == [0, 1, 2, 3]
    assert second.lines[0].get_ydata().tolist() == [3, 2, 1, 0]
    assert list(map(title, figure.axes)) == ["as it is", "back"]
    assert figure.get_supxlabel() == ""
    figure = plot_orders({"long": np.arange(6000), "short": range(10)}, size=6000)
    assert figure.axes[0].lines[0].get_xdata().tolist() == list(range(0, 6000, 3))
    assert figure.get_supxlabel() == "one dot for every 3 positions"
    figure = plot_orders({str(n): [n] for n in range(5)}, size=5)
    assert [axes.get_visible() for axes in figure.axes] == [True] * 5 + [False]
