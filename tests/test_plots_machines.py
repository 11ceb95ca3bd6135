"""Pictures of shared work by what they are made of: rectangles, lines and labels."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch
from matplotlib.colors import same_color
from matplotlib.patches import Rectangle

from course_lib.teaching import plot_readers, plot_timeline, plot_waits
from course_lib.teaching.plots.style import INPUTS, LOST, WRONG


def boxes(axes, color) -> list[tuple[float, float]]:
    """Where the boxes of a color begin and end, line by line."""
    found = [p for p in axes.patches if isinstance(p, Rectangle) and same_color(p.get_edgecolor(), color)]
    return [(p.get_x(), p.get_x() + p.get_width()) for p in sorted(found, key=lambda p: (p.get_y(), p.get_x()))]


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def names(axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def test_readers_that_share_everything_need_no_last_row():
    (axes,) = plot_readers({"rank 0": [0, 2], "rank 1": torch.tensor([3, 1])}, 4).axes
    assert boxes(axes, INPUTS) == [(0, 1), (2, 3), (1, 2), (3, 4)]
    assert names(axes) == ["rank 0", "rank 1"]
    assert texts(axes) == ["0", "2", "3", "1"]


def test_what_is_read_twice_or_by_nobody_is_told():
    figure = plot_readers({"rank 0": [0, 1], "rank 1": [1]}, 3)
    (axes,) = figure.axes
    assert boxes(axes, INPUTS) == [(0, 1)]
    assert boxes(axes, WRONG) == [(1, 2)] * 3  # on both ranks, and in the last row
    assert boxes(axes, LOST) == [(2, 3)]
    assert names(axes)[-1] == "all together"
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert told == ["read once", "read by nobody", "read more than once"]


def test_groups_of_readers_have_their_names_and_share_one_order():
    groups = {"two ranks": {"a": [0], "b": [1]}, "three": {"a": [2], "b": [3], "c": []}}
    (axes,) = plot_readers(groups, 4, lines={"stopped": 2}).axes
    assert names(axes) == ["a", "b", "a", "b", "c"]
    assert {"two ranks", "three", "stopped"} <= set(texts(axes))
    assert not boxes(axes, WRONG) + boxes(axes, LOST)


def test_ways_to_do_the_same_are_judged_each_by_itself():
    ways = {"forgotten": {"a": [0, 1], "b": [0, 1]}, "right": {"a": [0], "b": [1]}}
    (axes,) = plot_readers(ways, 2, together=False).axes
    assert names(axes) == ["a", "b", "all together", "a", "b"]
    assert len(boxes(axes, WRONG)) == 6
    assert boxes(axes, INPUTS) == [(0, 1), (1, 2)]


def test_a_timeline_says_when_all_is_done():
    workers = {"worker 0": [(0, 4, "task 0"), (4, 9, "task 2")], "worker 1": [(0, 5, "1", "lost"), (5, 6, "1")]}
    (axes,) = plot_timeline(workers, xlabel="bytes").axes
    assert boxes(axes, INPUTS) == [(0, 4), (4, 9), (5, 6)]
    assert boxes(axes, LOST) == [(0, 5)]
    assert "9" in texts(axes)
    assert axes.get_xlabel() == "bytes"


def test_a_step_lasts_as_long_as_its_slowest_rank():
    (axes,) = plot_waits({"masked": [[3, 1], [2, 2]]}, xlabel="pairs").axes
    assert boxes(axes, INPUTS) == [(0, 3), (3, 5), (0, 1), (3, 5)]
    assert boxes(axes, LOST) == [(1, 3)]
    assert "20% waiting" in texts(axes)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plot_readers({"a": []}, 1),
        lambda: plot_readers({str(i): np.arange(i, 60, 40) for i in range(40)}, 60),
        lambda: plot_timeline({"$a$": [(0, 1, "x" * 80)]}, xlabel="$b$"),
        lambda: plot_timeline({"a": {"w": [(0, 1, "0")], "v": []}, "b": {"w": []}}, xlabel=""),
        lambda: plot_waits({"a": torch.ones(50, 4), "b": np.array([[0, 1]], dtype=np.uint8)}, xlabel=""),
    ],
)
def test_figures_are_900_pixels_wide_and_can_be_drawn(draw):
    figure = draw()
    assert figure.get_size_inches()[0] == 9
    figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: plot_readers({}, 4), ValueError, "readers must have at least one name"),
        (lambda: plot_readers([[0]], 4), TypeError, "readers must be a mapping"),
        (lambda: plot_readers({"a": {}}, 4), ValueError, "must have at least one name"),
        (lambda: plot_readers({"a": [4]}, 4), ValueError, r"readers\['a'\] must lie in 0 ... 3"),
        (lambda: plot_readers({"a": [-1]}, 4), ValueError, "must lie in"),
        (lambda: plot_readers({"a": [0.5]}, 4), TypeError, r"readers\['a'\] must"),
        (lambda: plot_readers({"a": [0]}, 61), ValueError, "num_samples must be"),
        (lambda: plot_readers({str(i): [0] for i in range(41)}, 4), ValueError, "number of readers must be"),
        (lambda: plot_readers({"a": [0]}, 4, lines={"b": float("nan")}), ValueError, "lines must be finite"),
        (lambda: plot_readers({"a": [0]}, 4, together="no"), TypeError, "together must be"),
        (lambda: plot_timeline({"a": []}, xlabel=""), ValueError, "at least one task, got none"),
        (lambda: plot_timeline({"a": [(2, 1, "0")]}, xlabel=""), ValueError, "end after that, got 2 to 1"),
        (lambda: plot_timeline({"a": [(0, 1)]}, xlabel=""), ValueError, "must hold .begin, end, label."),
        (lambda: plot_timeline({"a": "ab"}, xlabel=""), TypeError, "must be several tasks"),
        (lambda: plot_timeline({"a": [(0, 1, "0", "red")]}, xlabel=""), ValueError, "meanings must be some of"),
        (lambda: plot_timeline({"a": [(0, 0, "0")]}, xlabel=""), ValueError, "takes longer than 0"),
        (lambda: plot_waits({"a": [1, 2]}, xlabel=""), ValueError, r"must have shape \(num_steps, world_size\)"),
        (lambda: plot_waits({"a": [[-1]]}, xlabel=""), ValueError, "none below 0"),
        (lambda: plot_waits({"a": [[0, 0]]}, xlabel=""), ValueError, "work must be more than 0"),
        (lambda: plot_waits({"a": [[float("nan")]]}, xlabel=""), ValueError, "must be finite"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, error, message):
    with pytest.raises(error, match=message):
        draw()
