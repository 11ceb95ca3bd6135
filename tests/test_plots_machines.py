"""Pictures of shards, orders, draws and shared work by what they are made of: rectangles, lines and labels."""

from itertools import pairwise

import numpy as np
import torch

from course_lib.teaching import plot_draws, plot_orders, plot_ranks, plot_shards, plot_timeline, plot_waits
from course_lib.teaching.plots.style import INK, INPUTS, LOST, WRONG
from figures import axes_of, boxes, keys, row_names, texts, title


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


def test_readers_that_share_everything_need_no_last_row():
    (axes,) = plot_ranks({"now": {"rank 0": [0, 2], "rank 1": torch.tensor([3, 1])}}, 4).axes
    assert boxes(axes, INPUTS) == [(0, 1), (2, 3), (1, 2), (3, 4)]
    assert row_names(axes) == ["rank 0", "rank 1"]
    assert texts(axes) == ["now", "0", "2", "3", "1"]


def test_what_is_read_twice_or_by_nobody_is_told():
    figure = plot_ranks({"now": {"rank 0": [0, 1], "rank 1": [1]}}, 3)
    (axes,) = figure.axes
    assert boxes(axes, INPUTS) == [(0, 1)]
    assert boxes(axes, WRONG) == [(1, 2)] * 3  # on both ranks, and in the last row
    assert boxes(axes, LOST) == [(2, 3)]
    assert row_names(axes)[-1] == "all together"
    assert keys(figure) == ["read once", "read by nobody", "read more than once"]


def test_groups_of_readers_share_one_order_and_ways_to_do_the_same_are_judged_each_by_itself():
    groups = {"two ranks": {"a": [0], "b": [1]}, "three": {"a": [2], "b": [3], "c": []}}
    (axes,) = plot_ranks(groups, 4, lines={"stopped": 2}).axes
    assert row_names(axes) == ["a", "b", "a", "b", "c"]
    assert {"two ranks", "three", "stopped"} <= set(texts(axes))
    assert not boxes(axes, WRONG) + boxes(axes, LOST)
    ways = {"forgotten": {"a": [0, 1], "b": [0, 1]}, "right": {"a": [0], "b": [1]}}
    (axes,) = plot_ranks(ways, 2, together=False).axes
    assert row_names(axes) == ["a", "b", "all together", "a", "b"]
    assert len(boxes(axes, WRONG)) == 6
    assert boxes(axes, INPUTS) == [(0, 1), (1, 2)]


def test_a_timeline_says_when_all_is_done():
    workers = {"worker 0": [(0, 4, "task 0"), (4, 9, "task 2")], "worker 1": [(0, 5, "1"), (5, 6, "3")]}
    (axes,) = plot_timeline({"tasks": workers}, xlabel="bytes").axes
    assert boxes(axes, INPUTS) == [(0, 4), (4, 9), (0, 5), (5, 6)]
    assert "9" in texts(axes)
    assert axes.get_xlabel() == "bytes"
    assert keys(axes.figure) == ["a task"]


def test_a_step_lasts_as_long_as_its_slowest_rank():
    (axes,) = plot_waits({"masked": [[3, 1], [2, 2]]}, xlabel="pairs").axes
    assert boxes(axes, INPUTS) == [(0, 3), (3, 5), (0, 1), (3, 5)]
    assert boxes(axes, LOST) == [(1, 3)]
    assert "20% waiting" in texts(axes)
