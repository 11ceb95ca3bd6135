"""Figures by what they are made of: rectangles, labels and curves, not pixels."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.collections import PolyCollection
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, StepPatch

from course_lib.foundation import token_ledger
from course_lib.teaching import (
    plot_bars,
    plot_curves,
    plot_cuts,
    plot_heatmap,
    plot_intervals,
    plot_ledger,
    plot_losses,
    plot_merge_tree,
    plot_pieces,
    plot_scored_windows,
    plot_shift,
    plot_spread,
    plot_tokens,
    plot_tracks,
    plot_windows,
)
from course_lib.teaching.plots.style import BLUE, COLORS, ORANGE


def axes_of(figure: Figure):
    (axes,) = figure.axes
    return axes


def rectangles(figure: Figure, color: str | None = None) -> list[Rectangle]:
    patches = [patch for patch in axes_of(figure).patches if isinstance(patch, Rectangle)]
    return [p for p in patches if color is None or same_color(p.get_facecolor()[:3], color)]


def places(patches: list[Rectangle]) -> list[tuple[float, float]]:
    """Left edge and width, rounded to whole tokens: boxes have a small gap between them."""
    return [(round(patch.get_x()), round(patch.get_width())) for patch in patches]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in axes_of(figure).texts if text.get_text()]


def legend_of(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def row_labels(figure: Figure) -> list[str]:
    return [label.get_text() for label in axes_of(figure).get_yticklabels()]


EXAMPLES = {
    "shift": lambda: plot_shift([5, 6, 7]),
    "windows": lambda: plot_windows([0, 4], 4, 10),
    "ledger": lambda: plot_ledger(token_ledger([1], 10, 4)),
    "losses": lambda: plot_losses({"loss": [3.0, 2.0, 1.0]}),
    "bars": lambda: plot_bars({"one": 1.0}, xlabel="unit"),
    "scored windows": lambda: plot_scored_windows([(0, 4, 4), (2, 4, 2)], 7),
    "intervals": lambda: plot_intervals({"one": {1: (2.0, 0.1)}}, xlabel="x", ylabel="y"),
    "pieces": lambda: plot_pieces({"text": ["a b"], "pieces": ["a", " b"]}),
    "spread": lambda: plot_spread({"one": [1.0, 2.0]}, xlabel="unit"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_figure_is_returned_drawable_and_nothing_stays_open(name):
    before = dict(plt.rcParams)
    figure = EXAMPLES[name]()
    assert isinstance(figure, Figure)
    assert plt.get_fignums() == []
    assert dict(plt.rcParams) == before
    figure.canvas.draw()


def test_a_readers_style_changes_no_colors():
    with plt.style.context("dark_background"):
        assert len(rectangles(plot_windows([0], 4, 10), BLUE)) == 1


# plot_shift


@pytest.mark.parametrize("kind", [list, np.array, torch.tensor])
def test_the_shift_has_three_rows_of_ids(kind):
    figure = plot_shift(kind([10, 11, 12, 13]))
    assert texts(figure) == ["10", "11", "12", "13", "10", "11", "11", "12", "12", "13"]
    assert len(rectangles(figure)) == 4 + 3 + 3
    assert places(rectangles(figure, BLUE)) == places(rectangles(figure, ORANGE)) == [(0, 1), (1, 1), (2, 1)]
    assert row_labels(figure) == ["window, 4 ids", "inputs, T = 3", "targets, T = 3"]


def test_each_target_stands_under_its_input():
    figure = plot_shift(range(5))
    inputs = {round(p.get_x()): p.get_y() for p in rectangles(figure, BLUE)}
    targets = {round(p.get_x()): p.get_y() for p in rectangles(figure, ORANGE)}
    assert inputs.keys() == targets.keys() == {0, 1, 2, 3}
    assert all(targets[t] < inputs[t] for t in inputs)
    # told apart without color, too
    assert all(p.get_hatch() for p in rectangles(figure, ORANGE))
    assert not any(p.get_hatch() for p in rectangles(figure, BLUE))


def test_labels_stand_for_ids_and_blanks_are_made_visible():
    assert texts(plot_shift([0, 1, 2, 3], labels=["a", " ", "\n", "\t"]))[:4] == ["a", "␣", "↵", "⇥"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1],), ValueError, "window must have at least 2 ids"),
        (([],), ValueError, "window must have at least 2 ids"),
        (("text",), TypeError, "window must be integers, got text"),
        (([[1, 2], [3, 4]],), ValueError, r"window must be one-dimensional, got shape \(2, 2\)"),
        (([1, 2, 3], ["a", "b"]), ValueError, "labels must be one for each of the 3 ids, got 2"),
    ],
)
def test_what_cannot_be_shifted_is_not_drawn(arguments, error, message):
    with pytest.raises(error, match=f"^{message}"):
        plot_shift(*arguments)


# plot_windows


def test_each_window_lies_under_its_tokens_with_its_last_target_apart():
    figure = plot_windows([0, 3, 6], 4, 12)
    assert places(rectangles(figure, BLUE)) == [(0, 4), (3, 4), (6, 4)]
    assert places(rectangles(figure, ORANGE)) == [(4, 1), (7, 1), (10, 1)]
    heights = [patch.get_y() for patch in rectangles(figure, BLUE)]
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == 3
    assert heights == [patch.get_y() for patch in rectangles(figure, ORANGE)]
    assert row_labels(figure) == ["stream", "start 0", "start 3", "start 6"]
    assert legend_of(figure) == ["T = 4 inputs", "1 id more, for the last target"]


def test_the_stream_is_numbered_and_what_no_window_touches_is_crossed_out():
    figure = plot_windows([2], 3, 9)
    assert texts(figure) == [str(token) for token in range(9)]
    unused = [patch for patch in rectangles(figure) if patch.get_hatch() == "xx"]
    assert places(unused) == [(0, 1), (1, 1), (6, 1), (7, 1), (8, 1)]


def test_batches_are_set_apart_by_color_space_and_name():
    figure = plot_windows(np.array([[0, 8], [4, 12]]), 3, 16)
    assert places(rectangles(figure, COLORS[0])) == [(0, 3), (8, 3)]
    # the second color is the one of last targets as well, which are one token wide
    assert [place for place in places(rectangles(figure, COLORS[1])) if place[1] == 3] == [(4, 3), (12, 3)]
    assert row_labels(figure)[1:] == ["start 0, batch 0", "start 8, batch 0", "start 4, batch 1", "start 12, batch 1"]
    heights = [p.get_y() for p in rectangles(figure) if round(p.get_width()) == 3]
    steps = -np.diff(heights)
    assert steps[1] > steps[0] == pytest.approx(steps[2])


def test_repeated_starts_are_drawn_as_often_as_they_occur():
    assert places(rectangles(plot_windows(torch.tensor([5, 1, 5]), 2, 10), BLUE)) == [(5, 2), (1, 2), (5, 2)]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([], 4, 10), ValueError, "number of windows must be .*got 0"),
        ((range(61), 4, 10), ValueError, "number of windows must be .*at most 60, got 61"),
        (([0], 4, 0), ValueError, "num_tokens must be .*got 0"),
        (([0], 4, 61), ValueError, "num_tokens must be .*at most 60, got 61"),
        (([0], 0, 10), ValueError, "context_length must be .*got 0"),
        (([0], 2.0, 10), TypeError, r"context_length must be .*got 2\.0"),
        (([0.5], 4, 10), TypeError, "starts must be integers, got list of float64"),
        (("0", 4, 10), TypeError, "starts must be integers, got text"),
    ],
)
def test_what_is_no_picture_of_windows_is_refused(arguments, error, message):
    with pytest.raises(error, match=f"^{message}"):
        plot_windows(*arguments)


# plot_ledger


def test_the_ledger_is_drawn_token_by_token():
    ledger = token_ledger([3, 5, 14], 24, 4)
    figure = plot_ledger(ledger)
    stairs = {p.get_label(): p for p in axes_of(figure).patches if isinstance(p, StepPatch)}
    assert np.array_equal(stairs["as input"].get_data().values, ledger.as_input)
    assert np.array_equal(stairs["as target"].get_data().values, ledger.as_target)
    assert np.array_equal(stairs["as target"].get_data().edges, np.arange(25) - 0.5)


def test_what_is_never_used_is_shaded_run_by_run_and_named_once():
    figure = plot_ledger(token_ledger([3, 10, 17], 24, 4))
    spans = [(p.get_x(), p.get_x() + p.get_width()) for p in rectangles(figure)]
    assert spans == [(-0.5, 2.5), (7.5, 9.5), (14.5, 16.5), (21.5, 23.5)]
    names = ["never used: offset", "never used: gap", "never used: tail"]
    assert legend_of(figure) == ["as input", "as target", *names]
    assert all(p.get_hatch() for p in rectangles(figure))


def test_a_ledger_without_windows_and_one_without_losses_are_drawn():
    figure = plot_ledger(token_ledger([], 5, 2))
    assert [(p.get_x(), p.get_width()) for p in rectangles(figure)] == [(-0.5, 5)]
    assert rectangles(plot_ledger(token_ledger([0], 5, 4))) == []


# plot_losses


def test_a_short_run_is_drawn_as_it_is():
    figure = plot_losses({"a": [3.0, 2.0, 1.0]})
    (line,) = axes_of(figure).lines
    # the loss before the first step stands at step 0, each other one in the middle of its step
    assert line.get_ydata().tolist() == [3, 3, 2, 1]
    assert line.get_xdata().tolist() == [0, 0.5, 1.5, 2.5]
    assert legend_of(figure) == ["a"]
    assert axes_of(figure).get_ylabel() == "nats per token"
    assert axes_of(figure).get_ylim()[0] == 0


def test_a_long_run_is_the_mean_of_neighboring_steps():
    losses = np.arange(205.0)
    (line,) = axes_of(plot_losses({"a": losses})).lines
    naive = [losses[i : i + 4].mean() for i in range(0, 204, 4)]
    assert line.get_ydata().tolist() == [losses[0], *naive]
    assert line.get_xdata().tolist() == [0, *(i + 2 for i in range(0, 204, 4))]


def test_several_runs_are_a_mean_and_a_band_from_the_smallest_to_the_largest():
    figure = plot_losses({"a": [[1.0, 2.0], [3.0, 6.0]]})
    (line,) = axes_of(figure).lines
    assert line.get_ydata().tolist() == [2, 2, 4]
    (band,) = (c for c in axes_of(figure).collections if isinstance(c, PolyCollection))
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    assert corners == {(0, 1), (0.5, 1), (1.5, 2), (0, 3), (0.5, 3), (1.5, 6)}
    assert axes_of(plot_losses({"a": [1.0, 2.0]})).collections[:] == []


def test_levels_are_lines_across():
    figure = plot_losses({"a": [3.0, 2.0]}, {"floor": 1.5, "chance": 4.0}, ylabel="bits")
    _, floor, chance = axes_of(figure).lines
    assert (set(floor.get_ydata()), set(chance.get_ydata())) == ({1.5}, {4.0})
    assert legend_of(figure) == ["a", "floor", "chance"]
    assert axes_of(figure).get_ylabel() == "bits"


def test_any_number_of_curves_can_be_drawn_and_the_first_ones_differ_without_color():
    lines = axes_of(plot_losses({str(i): [1.0, 2.0] for i in range(12)})).lines
    assert len(lines) == 12
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == 12
    assert len({line.get_color() for line in lines}) == 8


# plot_bars


@pytest.mark.parametrize("logarithmic", [True, False])
def test_bars_are_as_long_as_their_values_and_say_them(logarithmic):
    values = {"slow": 0.12345, "middling": 76.0, "fast": 1292.4, "huge": 1234567.0}
    figure = plot_bars(values, xlabel="million tokens per second", logarithmic=logarithmic)
    assert [bar.get_width() for bar in rectangles(figure)] == list(values.values())
    assert row_labels(figure) == list(values)
    assert texts(figure) == ["0.1235", "76", "1,292", "1,234,567"]
    assert axes_of(figure).get_xlabel() == "million tokens per second"
    assert axes_of(figure).get_xscale() == ("log" if logarithmic else "linear")
    assert axes_of(figure).yaxis_inverted()  # the first name on top


def test_bars_differ_without_color():
    assert len({bar.get_hatch() for bar in rectangles(plot_bars({str(i): 1.0 for i in range(8)}, xlabel=""))}) == 8
    assert len(rectangles(plot_bars({str(i): 1.0 for i in range(20)}, xlabel=""))) == 20


# plot_spread


def test_each_run_is_a_dot_and_each_group_a_mean_with_one_standard_deviation():
    groups = {"shuffled": [1.0, 2.0, 4.0], "in order": [5.0, 5.5], "once": [3.0]}
    figure = plot_spread(groups, xlabel="nats")
    axes = axes_of(figure)
    dots = [line for line in axes.lines if line.get_linestyle() == "None" and line.get_alpha() == 0.4]
    assert [line.get_xdata().tolist() for line in dots] == list(groups.values())
    assert [set(line.get_ydata()) for line in dots] == [{0}, {1}, {2}]
    means = [container.lines[0].get_xdata().tolist() for container in axes.containers]
    assert means == [[pytest.approx(7 / 3)], [5.25], [3.0]]
    halves = [np.ptp(container.lines[2][0].get_segments()[0][:, 0]) / 2 for container in axes.containers]
    assert halves == pytest.approx([np.std([1, 2, 4], ddof=1), np.std([5, 5.5], ddof=1), 0])
    assert texts(figure) == ["2.333", "5.250", "3.000"]
    assert row_labels(figure) == list(groups)
    assert axes.yaxis_inverted()


def test_curves_are_drawn_as_means_with_a_band():
    runs = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])
    figure = plot_curves([1, 2, 4], {"two runs": runs, "one": [0, 0, 0]}, xlabel="x", ylabel="y", lines={"l": 2})
    (axes,) = figure.axes
    assert axes.lines[0].get_xydata().tolist() == [[1, 2], [2, 3], [4, 4]]
    assert axes.lines[1].get_ydata().tolist() == [0, 0, 0]
    assert axes.lines[2].get_ydata() == [2, 2]
    assert len(axes.collections) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["two runs", "one", "l"]


def test_cuts_show_each_window_of_each_row():
    figure = plot_cuts({"offset 0": [0, 5], "offset 2": [7, 2]}, context_length=5, num_tokens=13)
    (axes,) = figure.axes
    windows = [(p.get_x(), p.get_width()) for p in axes.patches if p.get_width() == 5]
    assert windows == [(0, 5), (5, 5), (2, 5), (7, 5)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["offset 0", "offset 2"]
    assert [text.get_text() for text in axes.texts] == ["0", "5", "2", "7"]


def test_a_heatmap_masks_zeros():
    values = np.array([[0, 1, 2], [3, 0, 5]])
    figure = plot_heatmap(values, xlabel="x", ylabel="y", label="context")
    (image,) = figure.axes[0].images
    assert image.get_array().mask.tolist() == (values == 0).tolist()
    assert image.get_array().filled(0).tolist() == values.tolist()


def test_tracks_show_every_id_of_every_row():
    starts = np.array([[1, 8], [4, 11]])
    (axes,) = plot_tracks(starts, num_steps=3, row_length=7).axes
    assert [int(text.get_text()) for text in axes.texts] == list(range(1, 15))
    unused = [text.get_text() for text, box in zip(axes.texts, axes.patches, strict=True) if box.get_hatch() == "xx"]
    assert unused == ["7", "14"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["batch 0", "batch 1"]


# plot_scored_windows


def test_each_scored_target_is_hatched_once_behind_its_context():
    figure = plot_scored_windows([(0, 4, 4), (2, 4, 2), (4, 3, 1)], 8)
    assert places(rectangles(figure, BLUE)) == [(0, 1), (2, 3), (4, 3)]
    scored = rectangles(figure, ORANGE)
    assert places(scored) == [(1, 4), (5, 2), (7, 1)]
    assert all(patch.get_hatch() for patch in scored)
    assert row_labels(figure) == ["stream", "start 0", "start 2", "start 4"]
    assert legend_of(figure) == ["context only", "scored"]


@pytest.mark.parametrize(
    ("windows", "num_tokens"), [([], 5), ([(0, 2, 2)], 61), ([(0, 2, 2)] * 61, 5), ([(0, 2, 2)], 0)]
)
def test_too_many_or_no_scored_windows_are_not_drawn(windows, num_tokens):
    with pytest.raises(ValueError, match=r"must be an integer of at least 1 and at most 60"):
        plot_scored_windows(windows, num_tokens)


# plot_intervals


def test_intervals_reach_from_mean_minus_to_mean_plus_half_width():
    figure = plot_intervals({"a": {1: (3.0, 0.5), 4: (2.0, 0.25)}, "b": {1: (5.0, 0.0)}}, xlabel="S", ylabel="bits")
    axes = axes_of(figure)
    lines = [container.lines for container in axes.containers]
    assert [line[0].get_xydata().tolist() for line in lines] == [[[1, 3], [4, 2]], [[1, 5]]]
    assert [part.tolist() for part in lines[0][2][0].get_segments()] == [[[1, 2.5], [1, 3.5]], [[4, 1.75], [4, 2.25]]]
    assert len({(line[0].get_marker(), line[0].get_linestyle()) for line in lines}) == 2
    assert legend_of(figure) == ["a", "b"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("S", "bits")


@pytest.mark.parametrize(
    ("spacing", "at"), [("linear", [1, 16, 17]), ("logarithmic", [1, 16, 17]), ("even", [0, 1, 2])]
)
def test_each_x_is_written_where_it_stands(spacing, at):
    points = dict.fromkeys((17, 1, 16), (1.0, 0.1))
    axes = axes_of(plot_intervals({"a": points}, xlabel="S", ylabel="bits", spacing=spacing))
    assert axes.get_xticks().tolist() == at
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "16", "17"]
    assert axes.get_xscale() == ("log" if spacing == "logarithmic" else "linear")
    assert sorted(axes.containers[0].lines[0].get_xdata()) == at


def test_an_unknown_spacing_is_refused():
    with pytest.raises(ValueError, match=r"^spacing must be 'linear', 'logarithmic' or 'even', got 'log'"):
        plot_intervals({"a": {1: (1.0, 0.1)}}, xlabel="S", ylabel="bits", spacing="log")


# plot_merge_tree and plot_tokens


def test_a_merge_tree_has_a_node_for_each_symbol_and_each_merge():
    stages = [list("abab"), ["ab", "ab"], ["abab"]]
    axes = axes_of(plot_merge_tree(stages))
    nodes = [(text.get_text(), *text.get_position()) for text in axes.texts]
    assert nodes[:4] == [("a", 0.5, 0), ("b", 1.5, 0), ("a", 2.5, 0), ("b", 3.5, 0)]
    assert nodes[4:] == [("ab", 1.0, 1), ("ab", 3.0, 1), ("abab", 2.0, 2)]
    edges = {tuple(map(tuple, line.get_xydata().tolist())) for line in axes.lines}
    assert ((0.5, 0), (1.0, 1)) in edges
    assert ((3.0, 1), (2.0, 2)) in edges
    assert len(edges) == 6
    assert [label.get_text() for label in axes.get_yticklabels()] == ["symbols", "merge 1", "merge 2"]


def test_an_edge_of_a_merge_tree_reaches_down_to_where_its_part_was_made():
    axes = axes_of(plot_merge_tree([[(1,), (2,), (3,)], [(1,), (2, 3)], [(1, 2, 3)]]))
    assert [text.get_text() for text in axes.texts] == ["1", "2", "3", "23", "123"]
    edges = [line.get_xydata().tolist() for line in axes.lines]
    assert [[0.5, 0], [1.5, 2]] in edges
    assert [[2.0, 1], [1.5, 2]] in edges


@pytest.mark.parametrize("stages", [[], [[]]])
def test_a_merge_tree_of_nothing_is_refused(stages):
    with pytest.raises(ValueError, match=r"^stages must hold a word"):
        plot_merge_tree(stages)


def test_each_token_is_a_box_as_wide_as_its_text():
    figure = plot_tokens({"V = 1": ["a", " b", "c"], "V = 2": ["a b", "c"]})
    boxes = [(round(box.get_x()), round(box.get_width())) for box in rectangles(figure)]
    assert boxes == [(0, 1), (1, 2), (3, 1), (0, 3), (3, 1)]
    assert [text.get_text() for text in axes_of(figure).texts] == ["a", "␣", "b", "c"] * 2
    colors = [box.get_edgecolor() for box in rectangles(figure)]
    assert len(set(colors[:3])) == 3
    assert [tick.get_text() for tick in axes_of(figure).get_yticklabels()] == ["V = 1: 3 tokens", "V = 2: 2 tokens"]


@pytest.mark.parametrize("rows", [{}, {"a": ["x"], "b": ["y"]}])
def test_tokens_of_different_texts_are_refused(rows):
    with pytest.raises(ValueError, match=r"^rows must all spell one text, got [02]"):
        plot_tokens(rows)


def test_each_piece_is_a_box_as_wide_as_it_is_long_two_styles_in_turn():
    figure = plot_pieces({"text": ["ab c"], "pieces": ["ab", " c"], "ids": ["ab", " c"]}, {"ids": ["12", "345"]})
    assert places(rectangles(figure)) == [(0, 4), (0, 2), (2, 2), (0, 2), (2, 2)]
    assert [box.get_hatch() or "" for box in rectangles(figure)] == ["", "", "//", "", "//"]
    assert texts(figure) == ["ab·c", "ab", "·c", "12", "345"]
    assert row_labels(figure) == ["text", "pieces", "ids"]


def test_boxes_of_pieces_are_wide_enough_for_long_labels():
    narrow, wide = (plot_pieces({"ids": ["a", "b"]}, {"ids": labels}) for labels in (["1", "2"], ["1", "12345"]))
    assert wide.get_figwidth() > narrow.get_figwidth()


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        ({}, None, "longest row of rows must be an integer of at least 1"),
        ({"a": ["x" * 200]}, None, "at most 120, got 200"),
        ({"a": ["x", "y"]}, {"a": ["1"]}, r"labels\['a'\] must be one for each of the 2 strings, got 1"),
    ],
)
def test_pieces_that_cannot_be_drawn_are_refused(rows, labels, message):
    with pytest.raises(ValueError, match=message):
        plot_pieces(rows, labels)
