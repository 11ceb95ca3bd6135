"""Pictures of shared work by what they are made of: rectangles, lines and labels."""

import torch

from course_lib.teaching import plot_readers, plot_timeline, plot_waits
from course_lib.teaching.plots.style import INPUTS, LOST, WRONG
from figures import boxes, keys, row_names, texts


def test_readers_that_share_everything_need_no_last_row():
    (axes,) = plot_readers({"now": {"rank 0": [0, 2], "rank 1": torch.tensor([3, 1])}}, 4).axes
    assert boxes(axes, INPUTS) == [(0, 1), (2, 3), (1, 2), (3, 4)]
    assert row_names(axes) == ["rank 0", "rank 1"]
    assert texts(axes) == ["now", "0", "2", "3", "1"]


def test_what_is_read_twice_or_by_nobody_is_told():
    figure = plot_readers({"now": {"rank 0": [0, 1], "rank 1": [1]}}, 3)
    (axes,) = figure.axes
    assert boxes(axes, INPUTS) == [(0, 1)]
    assert boxes(axes, WRONG) == [(1, 2)] * 3  # on both ranks, and in the last row
    assert boxes(axes, LOST) == [(2, 3)]
    assert row_names(axes)[-1] == "all together"
    assert keys(figure) == ["read once", "read by nobody", "read more than once"]


def test_groups_of_readers_share_one_order_and_ways_to_do_the_same_are_judged_each_by_itself():
    groups = {"two ranks": {"a": [0], "b": [1]}, "three": {"a": [2], "b": [3], "c": []}}
    (axes,) = plot_readers(groups, 4, lines={"stopped": 2}).axes
    assert row_names(axes) == ["a", "b", "a", "b", "c"]
    assert {"two ranks", "three", "stopped"} <= set(texts(axes))
    assert not boxes(axes, WRONG) + boxes(axes, LOST)
    ways = {"forgotten": {"a": [0, 1], "b": [0, 1]}, "right": {"a": [0], "b": [1]}}
    (axes,) = plot_readers(ways, 2, together=False).axes
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
