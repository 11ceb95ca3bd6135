"""Pictures of shards and of orders by what they are made of: rectangles, lines and dots."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.patches import Rectangle

from course_lib.teaching import plot_orders, plot_shards
from course_lib.teaching.plots.style import INK, INPUTS, LOST


def boxes(axes, color) -> list[tuple[float, float]]:
    """Where the boxes of a color begin and end, line by line."""
    found = [p for p in axes.patches if isinstance(p, Rectangle) and same_color(p.get_edgecolor(), color)]
    return [(p.get_x(), p.get_x() + p.get_width()) for p in sorted(found, key=lambda p: (p.get_y(), p.get_x()))]


def test_documents_and_shards_lie_end_to_end():
    (axes,) = plot_shards([5, 4], [0, 3, 7]).axes
    assert boxes(axes, INK) == [(0, 3), (3, 7), (7, 9), (0, 5), (5, 9)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["documents", "shards"]
    assert sorted(line.get_xdata()[0] for line in axes.lines) == [3, 5, 7]


def test_a_window_that_reaches_into_the_next_shard_looks_different():
    figure = plot_shards([5, 4], [0], [0, 1, 4, 5], context_length=3)
    (axes,) = figure.axes
    assert boxes(axes, INPUTS) == [(0, 4), (1, 5), (5, 9)]
    assert boxes(axes, LOST) == [(4, 8)]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "window inside one shard",
        "window across a border of shards",
    ]


def test_a_window_that_lies_across_two_borders_is_one_that_crosses():
    (axes,) = plot_shards([2, 1, 5], [0], [0, 1], context_length=3).axes
    assert boxes(axes, LOST) == [(0, 4), (1, 5)]
    assert boxes(axes, INPUTS) == []


def test_an_order_is_drawn_place_against_position():
    figure = plot_orders({"as it is": range(4), "back": [3, 2, 1, 0]}, size=4)
    first, second = figure.axes
    assert first.lines[0].get_ydata().tolist() == [0, 1, 2, 3]
    assert second.lines[0].get_ydata().tolist() == [3, 2, 1, 0]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["as it is", "back"]
    assert figure.get_supxlabel() == ""


def test_of_a_long_order_some_positions_are_drawn_and_it_says_so():
    figure = plot_orders({"long": np.arange(6000), "short": range(10)}, size=6000)
    assert figure.axes[0].lines[0].get_xdata().tolist() == list(range(0, 6000, 3))
    assert figure.get_supxlabel() == "one dot for every 3 positions"


def test_panels_without_an_order_are_not_seen():
    figure = plot_orders({str(n): [n] for n in range(4)}, size=5)
    assert [axes.get_visible() for axes in figure.axes] == [True] * 4 + [False] * 2


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plot_shards([1], [0]),
        lambda: plot_shards([20] * 3, range(60), range(40), 19),
        lambda: plot_shards([1] * 60, [0]),
        lambda: plot_orders({"a": [0]}, size=1),
        lambda: plot_orders({"x" * 80: range(9), "$b$": [7]}, size=2**62),
        lambda: plot_orders({str(n): range(5) for n in range(9)}, size=5),
    ],
)
def test_figures_are_900_pixels_wide_and_can_be_drawn(draw):
    figure = draw()
    assert figure.get_size_inches()[0] == 9
    figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: plot_shards([], [0]), ValueError, "shard_sizes must be"),
        (lambda: plot_shards([3, 0], [0]), ValueError, "shard_sizes must be"),
        (lambda: plot_shards([61], [0]), ValueError, "sum of shard_sizes must be"),
        (lambda: plot_shards([1.5], [0]), TypeError, "shard_sizes must"),
        (lambda: plot_shards([5], []), ValueError, "document_starts must begin with 0"),
        (lambda: plot_shards([5], [1]), ValueError, "document_starts must begin with 0"),
        (lambda: plot_shards([5], [0, 5]), ValueError, "document_starts must rise"),
        (lambda: plot_shards([5], [0, 2, 2]), ValueError, "document_starts must rise"),
        (lambda: plot_shards([5], [0], [3], 2), ValueError, "starts must lie in 0 ... 2"),
        (lambda: plot_shards([5], [0], [-1], 2), ValueError, "starts must lie"),
        (lambda: plot_shards([5], [0], [0], 0), ValueError, "context_length must be"),
        (lambda: plot_shards([5], [0], [0] * 41, 1), ValueError, "number of windows must be"),
        (lambda: plot_orders({}, size=3), ValueError, "orders must have at least one name"),
        (lambda: plot_orders([[0]], size=3), TypeError, "orders must be a mapping"),
        (lambda: plot_orders({"a": []}, size=3), ValueError, r"orders\['a'\] must be places"),
        (lambda: plot_orders({"a": [3]}, size=3), ValueError, r"orders\['a'\] must be places"),
        (lambda: plot_orders({"a": [0.5]}, size=3), TypeError, r"orders\['a'\] must"),
        (lambda: plot_orders({str(n): [0] for n in range(10)}, size=1), ValueError, "number of orders must be"),
        (lambda: plot_orders({"a": [0]}, size=0), ValueError, "size must be"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, error, message):
    with pytest.raises(error, match=message):
        draw()
