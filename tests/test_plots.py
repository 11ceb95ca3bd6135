"""Figures by what they are made of: windows, ledgers, curves, bars, heat maps and trees. What they refuse stands in
hostile_calls; what holds for all of them in test_plots_style.
"""

import numpy as np
import pytest
import torch
from matplotlib.collections import PolyCollection
from matplotlib.patches import StepPatch

from course_lib.foundation import token_ledger
from course_lib.teaching import (
    plot_bars,
    plot_curves,
    plot_cuts,
    plot_heatmap,
    plot_intervals,
    plot_kernels,
    plot_ledger,
    plot_losses,
    plot_merge_tree,
    plot_pieces,
    plot_scored_windows,
    plot_shift,
    plot_spread,
    plot_tracks,
    plot_windows,
)
from course_lib.teaching.plots.style import INK, INPUTS, LOST, MEANINGS, SHADES, TARGETS
from figures import LEDGERS, axes_of, drawn, keys, rectangles, row_names, texts, title


def places(axes, color: str | None = None) -> list[tuple[float, float]]:
    """Left edge and width of boxes, rounded to whole tokens: there is a small gap between them."""
    return [(round(patch.get_x()), round(patch.get_width())) for patch in rectangles(axes, color)]


@pytest.mark.parametrize("kind", [list, np.array, torch.tensor])
def test_the_shift_has_three_rows_of_ids(kind):
    axes = axes_of(plot_shift(kind([10, 11, 12, 13])))
    assert texts(axes) == ["10", "11", "12", "13", "10", "11", "12", "11", "12", "13"]
    assert len(rectangles(axes)) == 4 + 3 + 3
    assert places(axes, INPUTS) == places(axes, TARGETS) == [(0, 1), (1, 1), (2, 1)]
    assert row_names(axes) == ["window, 4 ids", "inputs, T = 3", "targets, T = 3"]


def test_each_target_stands_under_its_input():
    axes = axes_of(plot_shift(range(5)))
    inputs = {round(p.get_x()): p.get_y() for p in rectangles(axes, INPUTS)}
    targets = {round(p.get_x()): p.get_y() for p in rectangles(axes, TARGETS)}
    assert inputs.keys() == targets.keys() == {0, 1, 2, 3}
    assert all(targets[t] > inputs[t] for t in inputs)  # y counts rows from the top
    # told apart without color, too
    assert all(p.get_hatch() for p in rectangles(axes, TARGETS))
    assert not any(p.get_hatch() for p in rectangles(axes, INPUTS))


def test_labels_stand_for_ids_and_of_a_long_window_the_beginning_is_drawn():
    axes = axes_of(plot_shift([0, 1, 2, 3], labels=["a", " ", "\n", "\t"]))
    assert texts(axes)[:4] == ["a", "␣", "↵", "⇥"]
    figure = drawn("plot_shift, long")
    assert len(rectangles(axes_of(figure), INPUTS)) == 16
    assert row_names(axes_of(figure))[1] == "inputs, T = 299"
    assert figure.get_supxlabel() == "283 more ids of the window, not drawn"
    assert drawn("plot_shift").get_supxlabel() == ""


def test_of_a_kernel_that_peeks_the_input_that_is_asked_for_looks_wrong_and_its_arrow_is_dashed():
    figure = plot_kernels({"causal": [-2, -1, 0], "centered": [-1, 0, 1]}, 3, 7)
    axes = axes_of(figure)
    assert places(axes, TARGETS) == [(3, 1), (3, 1)]  # above position 3, twice
    assert texts(axes).count("4") == 2 + 2
    assert places(axes, INPUTS) == [(1, 1), (2, 1), (3, 1), (2, 1), (3, 1)]
    assert places(axes, MEANINGS["wrong"]) == [(4, 1)]
    assert keys(figure) == ["read", "asked for", "read, although it is asked for"]
    assert row_names(axes) == ["causal: asked for", "inputs", "centered: asked for", "inputs"]
    axes = axes_of(plot_kernels({"centered": [-1, 0, 1]}, 3, 7))
    arrows = [text.arrow_patch for text in axes.texts if getattr(text, "arrow_patch", None)]
    assert [arrow.get_linestyle() for arrow in arrows] == ["solid", "solid", "--"]
    assert "read, although" not in str(keys(plot_kernels({"causal": [0]}, 0, 2)))


def test_each_window_lies_under_its_tokens_with_its_last_target_apart():
    figure = plot_windows([0, 3, 6], 4, 12)
    axes = axes_of(figure)
    assert places(axes, INPUTS) == [(0, 4), (3, 4), (6, 4)]
    assert places(axes, TARGETS) == [(4, 1), (7, 1), (10, 1)]
    heights = [patch.get_y() for patch in rectangles(axes, INPUTS)]
    assert heights == sorted(set(heights))
    assert heights == [patch.get_y() for patch in rectangles(axes, TARGETS)]
    assert row_names(axes) == ["stream", "start 0", "start 3", "start 6"]
    assert keys(figure) == ["T = 4 inputs", "one more id, for the last target", "in no window"]


def test_the_stream_is_numbered_where_there_is_room_and_what_no_window_touches_is_crossed_out():
    axes = axes_of(plot_windows([2], 3, 9))
    assert texts(axes) == [str(token) for token in range(9)]
    assert places(axes, LOST) == [(0, 1), (1, 1), (6, 1), (7, 1), (8, 1)]
    assert all(patch.get_hatch() for patch in rectangles(axes, LOST))
    assert "in no window" not in keys(plot_windows([0], 3, 4))
    crowded = axes_of(drawn("plot_windows, many"))
    assert texts(crowded) == []
    assert crowded.get_xticks().tolist() == list(range(0, 61, 5))


def test_batches_are_set_apart_by_space_and_name_and_starts_drawn_as_often_as_they_occur():
    axes = axes_of(plot_windows(np.array([[0, 8], [4, 12]]), 3, 16))
    assert places(axes, INPUTS) == [(0, 3), (8, 3), (4, 3), (12, 3)]
    assert row_names(axes)[1:] == ["batch 0, start 0", "batch 0, start 8", "batch 1, start 4", "batch 1, start 12"]
    steps = np.diff([p.get_y() for p in rectangles(axes, INPUTS)])
    assert steps[1] > steps[0] == pytest.approx(steps[2])
    assert places(axes_of(plot_windows(torch.tensor([5, 1, 5]), 2, 10)), INPUTS) == [(5, 2), (1, 2), (5, 2)]


def test_below_windows_their_ledger_stands_on_the_same_axis():
    starts = [2, 5, 8]
    ledger = token_ledger(starts, 16, 4)
    above, below = plot_windows(starts, 4, 16, ledger=ledger).axes
    np.testing.assert_allclose(np.array(above.get_xlim()) - 0.5, below.get_xlim())
    as_input, as_target = (patch for patch in below.patches if isinstance(patch, StepPatch))
    assert as_input.get_data().values.tolist() == ledger.as_input.tolist()
    assert as_target.get_data().values.tolist() == ledger.as_target.tolist()
    assert [line.get_xdata()[0] + 0.5 for line in below.lines] == starts
    assert keys(above.figure)[-2:] == ["never used: offset", "never used: tail"]
    assert "in no window" not in keys(above.figure)


def test_each_scored_target_is_hatched_once_behind_its_context():
    figure = plot_scored_windows([(0, 4, 4), (2, 4, 2), (4, 3, 1)], 8)
    axes = axes_of(figure)
    assert places(axes, INK)[-3:] == [(0, 1), (2, 3), (4, 3)]  # behind the boxes of the stream
    assert places(axes, TARGETS) == [(1, 4), (5, 2), (7, 1)]
    assert all(patch.get_hatch() for patch in rectangles(axes, TARGETS))
    assert places(axes, LOST) == [(0, 1)]
    assert row_names(axes) == ["stream", "start 0", "start 2", "start 4"]
    assert keys(figure) == ["read as context only", "scored", "never scored"]


def test_cuts_show_each_window_of_each_row():
    figure = plot_cuts({"offset 0": [0, 5], "offset 2": [7, 2]}, context_length=5, num_tokens=13)
    axes = axes_of(figure)
    windows = [(p.get_x(), p.get_width()) for p in rectangles(axes, INPUTS) if p.get_facecolor()[3] < 1]
    assert windows == [(0, 5), (5, 5), (2, 5), (7, 5)]
    assert row_names(axes) == ["offset 0", "offset 2"]
    assert texts(axes) == ["0", "5", "2", "7"]
    assert "never an input" in keys(figure)


@pytest.mark.parametrize(
    ("carried", "marker", "name"), [(True, ">", "the state goes on"), (False, "X", "the state is reset")]
)
def test_what_becomes_of_the_state_is_marked_between_batches_of_every_row(carried, marker, name):
    figure = plot_tracks([[1, 11], [4, 14], [7, 17]], 3, 10, carried=carried)
    (marks,) = axes_of(figure).lines
    assert marks.get_marker() == marker
    assert sorted(zip(*marks.get_data(), strict=True)) == [(3, 0.38), (3, 1.38), (6, 0.38), (6, 1.38)]
    assert name in keys(figure)


def test_tracks_show_every_id_of_every_row():
    figure = plot_tracks(np.array([[1, 8], [4, 11]]), num_steps=3, row_length=7)
    axes = axes_of(figure)
    assert [int(text) for text in texts(axes)] == list(range(1, 15))
    unused = [text.get_text() for text, box in zip(axes.texts, axes.patches, strict=True) if box.get_hatch()]
    assert unused == ["7", "14"]
    assert row_names(axes) == ["row 0", "row 1"]
    assert keys(figure) == ["inputs, in alternating shades for batches", "left over"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["batch 0", "batch 1"]


def test_the_ledger_is_drawn_token_by_token_also_without_windows_or_without_losses():
    ledger = token_ledger([3, 5, 14], 24, 4)
    axes = axes_of(plot_ledger(ledger))
    stairs = {p.get_label(): p for p in axes.patches if isinstance(p, StepPatch)}
    assert np.array_equal(stairs["as input"].get_data().values, ledger.as_input)
    assert np.array_equal(stairs["as target"].get_data().values, ledger.as_target)
    assert np.array_equal(stairs["as target"].get_data().edges, np.arange(25) - 0.5)
    assert [line.get_xdata()[0] for line in axes.lines] == [2.5, 4.5, 13.5]
    figure = plot_ledger(token_ledger([], 5, 2))
    assert [(p.get_x(), p.get_width()) for p in rectangles(axes_of(figure))] == [(-0.5, 5)]
    assert keys(figure) == ["as input", "as target", "never used: tail"]
    assert rectangles(axes_of(plot_ledger(token_ledger([0], 5, 4)))) == []


def test_what_is_never_used_is_shaded_run_by_run_and_named_once_and_many_reasons_share_a_hatch():
    figure = plot_ledger(token_ledger([3, 10, 17], 24, 4))
    boxes = rectangles(axes_of(figure))
    spans = [(p.get_x(), p.get_x() + p.get_width()) for p in boxes]
    assert spans == [(-0.5, 2.5), (7.5, 9.5), (14.5, 16.5), (21.5, 23.5)]
    names = ["never used: offset", "never used: gap", "never used: tail"]
    assert keys(figure) == ["as input", "as target", "start of a window", *names]
    assert len({p.get_hatch() for p in boxes}) == 3
    assert {p.get_height() for p in boxes} == {1}  # of the panel
    ledger = token_ledger([], 20, 4, reasons={f"reason {i}": [i] for i in range(9)})
    assert "never used: other reasons" in keys(plot_ledger(ledger))


def test_several_ledgers_share_one_axis_and_a_long_stream_is_drawn_in_steps():
    panels = drawn("plot_ledger, three").axes
    assert list(map(title, panels)) == list(LEDGERS)
    assert {axes.get_xlim() for axes in panels} == {(-0.5, 43.5)}
    # where every token starts a window, lines would hide the picture
    assert [[line.get_xdata()[0] for line in axes.lines] for axes in panels] == [
        [],
        [-0.5, 7.5, 15.5, 23.5, 31.5],
        [-0.5, 8.5, 17.5, 26.5],
    ]
    ledger = token_ledger(np.arange(0, 2_400_000, 80), 2_400_065, 64)
    figure = plot_ledger(ledger)
    stairs = [p.get_data() for p in axes_of(figure).patches if isinstance(p, StepPatch)]
    assert [len(data.values) for data in stairs] == [1000, 1000]
    assert np.dot(stairs[0].values, np.diff(stairs[0].edges)) == pytest.approx(ledger.as_input.sum())
    assert len(rectangles(axes_of(figure))) <= 100
    remarks = "each step is the mean of 2,400 tokens; gap: 449,985 tokens in 29,999 places, not drawn"
    assert figure.get_supxlabel() == remarks


@pytest.mark.parametrize(
    ("losses", "width"), [(np.array([3.0, 2.0, 1.0]), 1), (np.arange(205.0), 4)], ids=["short", "long"]
)
def test_losses_are_the_first_and_then_means_of_neighboring_steps(losses, width):
    axes = axes_of(plot_losses({"a": losses}))
    (line,) = axes.lines
    starts = range(0, len(losses) // width * width, width)
    assert line.get_ydata().tolist() == [losses[0], *(losses[i : i + width].mean() for i in starts)]
    # the loss before the first step stands at step 0, each other one in the middle of its steps
    assert line.get_xdata().tolist() == [0, *(i + width / 2 for i in starts)]
    assert axes.get_ylim()[0] == 0


def test_several_runs_are_a_mean_and_a_band():
    axes = axes_of(plot_losses({"a": [[1.0, 2.0], [3.0, 6.0]]}))
    (line,) = axes.lines
    assert line.get_ydata().tolist() == [2, 2, 4]
    (band,) = (c for c in axes.collections if isinstance(c, PolyCollection))
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    assert corners == {(0, 1), (0.5, 1), (1.5, 2), (0, 3), (0.5, 3), (1.5, 6)}
    assert axes_of(plot_losses({"a": [1.0, 2.0]})).collections[:] == []
    runs = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])
    axes = axes_of(plot_curves([1, 2, 4], {"runs": runs, "one": [0, 0, 0]}, xlabel="x", ylabel="y", lines={"l": 2}))
    level, *curves = axes.lines
    assert curves[0].get_xydata().tolist() == [[1, 2], [2, 3], [4, 4]]
    assert curves[1].get_ydata().tolist() == [0, 0, 0]
    assert level.get_ydata() == [2, 2]
    assert len(axes.collections) == 1
    assert texts(axes) == ["●", "runs", "■", "one", "l"]


def test_levels_have_their_names_beside_them_and_a_curve_that_is_alone_as_the_title():
    figure = plot_losses({"a": [3.0, 2.0]}, {"floor": 1.5, "chance": 4.0})
    floor, chance, _ = axes_of(figure).lines
    assert (set(floor.get_ydata()), set(chance.get_ydata())) == ({1.5}, {4.0})
    assert texts(axes_of(figure)) == ["●", "a", "floor", "chance"]
    assert figure.legends == []
    axes = axes_of(plot_losses({"bigram, 5 runs": [3.0, 2.0]}))
    assert title(axes) == "bigram, 5 runs"
    assert texts(axes) == []


def test_curves_with_a_meaning_have_its_color_and_all_others_are_ink():
    meanings = {"good": "right", "bad": "wrong"}
    lines = axes_of(plot_losses({"good": [1], "other": [2], "bad": [3]}, meanings=meanings)).lines
    colors = [line.get_color() for line in lines]
    assert (colors[0], colors[2]) == (MEANINGS["right"], MEANINGS["wrong"])
    assert colors[1] in SHADES


def test_intervals_reach_from_mean_minus_to_mean_plus_half_width_in_panels_with_one_y_axis():
    figure = plot_intervals({"a": {1: (3.0, 0.5), 4: (2.0, 0.25)}, "b": {1: (5.0, 0.0)}}, xlabel="S", ylabel="bits")
    axes = axes_of(figure)
    lines = [container.lines for container in axes.containers]
    assert [line[0].get_xydata().tolist() for line in lines] == [[[1, 3], [4, 2]], [[1, 5]]]
    assert [part.tolist() for part in lines[0][2][0].get_segments()] == [[[1, 2.5], [1, 3.5]], [[4, 1.75], [4, 2.25]]]
    assert len({(line[0].get_marker(), line[0].get_linestyle()) for line in lines}) == 2
    assert texts(axes) == ["●", "a", "■", "b"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("S", "bits")
    left, right = drawn("plot_intervals, panels").axes
    assert [title(left), title(right)] == ["training", "validation"]
    assert left.get_ylim() == right.get_ylim()
    assert [texts(left), texts(right)] == [[], ["●", "epochs", "■", "steps"]]


@pytest.mark.parametrize(
    ("spacing", "at", "labels"),
    [
        ("linear", [1, 16, 17], ["1", "16", "17"]),
        ("logarithmic", [1, 16, 17], ["1", "16, 17", ""]),
    ],
)
def test_each_x_is_written_where_it_stands(spacing, at, labels):
    points = dict.fromkeys((17, 1, 16), (1.0, 0.1))
    axes = axes_of(plot_intervals({"a": points}, xlabel="S", ylabel="bits", spacing=spacing))
    assert axes.get_xticks().tolist() == at
    assert [label.get_text() for label in axes.get_xticklabels()] == labels
    assert axes.get_xscale() == ("log" if spacing == "logarithmic" else "linear")
    assert axes.containers[0].lines[0].get_xdata().tolist() == at


def test_bars_are_as_long_as_their_values_and_say_them_in_one_color():
    values = {"slow": 0.5, "middling": 76.0, "fast": 129.25}
    axes = axes_of(plot_bars(values, xlabel="million tokens per second"))
    bars = rectangles(axes)
    assert [bar.get_width() for bar in bars] == list(values.values())
    assert len({bar.get_facecolor() for bar in bars}) == 1
    assert not any(bar.get_hatch() for bar in bars)
    assert row_names(axes) == list(values)
    assert texts(axes) == ["0.50", "76.00", "129.25"]
    assert axes.get_xlabel() == "million tokens per second"
    assert axes.get_xlim() == (0, 129.25)
    assert axes.yaxis_inverted()  # the first name on top


def test_bars_can_be_sorted_percents_end_at_100_and_of_1000_bars_40_are_drawn():
    axes = axes_of(plot_bars({"low": 20, "high": 90, "zero": 0}, xlabel="%", sort=True, limit=100))
    assert row_names(axes) == ["high", "low", "zero"]
    assert texts(axes) == ["90", "20", "0"]
    assert axes.get_xlim() == (0, 100)
    figure = drawn("plot_bars, many")
    assert len(rectangles(axes_of(figure))) == 40
    assert figure.get_supxlabel() == "960 more rows, not drawn"


def test_each_run_is_a_dot_and_each_group_a_mean_with_one_standard_deviation():
    groups = {"shuffled": [1.0, 2.0, 4.0], "in order": [5.0, 5.5], "once": [3.0]}
    axes = axes_of(plot_spread(groups, xlabel="nats"))
    dots = [line for line in axes.lines if line.get_linestyle() == "None" and line.get_alpha()]
    assert [line.get_xdata().tolist() for line in dots] == list(groups.values())
    assert [set(line.get_ydata()) for line in dots] == [{0}, {1}, {2}]
    means = [container.lines[0].get_xdata().tolist() for container in axes.containers]
    assert means == [[pytest.approx(7 / 3)], [5.25], [3.0]]
    halves = [np.ptp(container.lines[2][0].get_segments()[0][:, 0]) / 2 for container in axes.containers]
    assert halves == pytest.approx([np.std([1, 2, 4], ddof=1), np.std([5, 5.5], ddof=1), 0])
    assert texts(axes) == ["2.333", "5.250", "3.000"]
    assert row_names(axes) == list(groups)
    assert axes.yaxis_inverted()


def test_rows_under_titles_look_alike_where_their_names_are_alike_and_pairs_are_joined():
    axes = axes_of(drawn("plot_spread, titles"))
    assert row_names(axes) == ["a", "b", "a"]
    assert texts(axes)[0] == "short text"
    assert "long" in texts(axes)
    markers = [container.lines[0].get_marker() for container in axes.containers]
    assert markers[0] == markers[2] != markers[1]
    axes = axes_of(plot_spread({"a": [1.0, 2.0], "b": [1.5, 2.5], "c": [0.0, 1.0]}, xlabel="", paired=True))
    joined = [line.get_xydata().tolist() for line in axes.lines if np.unique(line.get_ydata()).size == 2]
    assert joined == [[[1, 0], [1.5, 1]], [[2, 0], [2.5, 1]], [[1.5, 1], [0, 2]], [[2.5, 1], [1, 2]]]


def test_a_heatmap_masks_zeros_and_has_a_color_for_each_of_a_few_integers_or_a_scale_for_all_tables():
    values = np.array([[0, 1, 2], [3, 0, 5]])
    figure = plot_heatmap(values, xlabel="x", ylabel="y", label="context", zero="never a target")
    (image,) = figure.axes[0].images
    assert image.get_array().mask.tolist() == (values == 0).tolist()
    assert image.get_array().filled(0).tolist() == values.tolist()
    assert keys(figure) == ["0: never a target"]
    assert plot_heatmap([[1, 2]], xlabel="x", ylabel="y", label="z").legends == []
    assert keys(plot_heatmap([[0, 0]], xlabel="x", ylabel="y", label="z")) == ["0"]
    bar = plot_heatmap([[1, 8]], xlabel="x", ylabel="y", label="z").axes[-1]
    assert bar.get_yticks().tolist() == list(range(1, 9))
    image = plot_heatmap([[1, 800]], xlabel="x", ylabel="y", label="z").axes[0].images[0]
    assert (image.norm.vmin, image.norm.vmax) == (1, 800)
    first, second, _ = drawn("plot_heatmap").axes
    assert [title(first), title(second)] == ["a", "b"]
    assert first.images[0].norm is second.images[0].norm
    assert first.images[0].cmap is second.images[0].cmap


def test_a_merge_tree_has_a_node_for_each_symbol_and_each_merge_and_edges_down_to_its_parts():
    axes = axes_of(plot_merge_tree([list("abab"), ["ab", "ab"], ["abab"]]))
    nodes = [(text.get_text(), *text.get_position()) for text in axes.texts]
    assert nodes[:4] == [("a", 0.5, 0), ("b", 1.5, 0), ("a", 2.5, 0), ("b", 3.5, 0)]
    assert nodes[4:] == [("ab", 1.0, 1), ("ab", 3.0, 1), ("abab", 2.0, 2)]
    edges = {tuple(map(tuple, line.get_xydata().tolist())) for line in axes.lines}
    assert ((0.5, 0), (1.0, 1)) in edges
    assert ((3.0, 1), (2.0, 2)) in edges
    assert len(edges) == 6
    assert row_names(axes) == ["symbols", "merge 1", "merge 2"]
    axes = axes_of(plot_merge_tree([[(1,), (2,), (3,)], [(1,), (2, 3)], [(1, 2, 3)]]))
    assert texts(axes) == ["1", "2", "3", "23", "123"]
    edges = [line.get_xydata().tolist() for line in axes.lines]
    assert [[0.5, 0], [1.5, 2]] in edges
    assert [[2.0, 1], [1.5, 2]] in edges


def test_each_piece_is_a_box_as_wide_as_it_is_long_and_labels_that_fit_no_box_are_left_out():
    pieces = {"text": ["ab c"], "pieces": ["ab", " c"], "ids": ["ab", " c"]}
    axes = axes_of(plot_pieces(pieces, {"ids": ["12", "345"]}))
    assert places(axes) == [(0, 4), (0, 2), (2, 2), (0, 2), (2, 2)]
    shades = [box.get_facecolor() for box in rectangles(axes)]
    assert shades[0] == shades[1] == shades[3] != shades[2] == shades[4]
    assert texts(axes) == ["ab·c", "ab", "·c", "12", "345"]
    assert row_names(axes) == ["text", "pieces", "ids"]
    figure = drawn("plot_pieces, long")
    assert texts(axes_of(figure)) == []
    assert figure.get_supxlabel() == "2 labels that are longer than their boxes, not written"
    assert texts(axes_of(drawn("plot_pieces"))) == ["a·b", "12", "10345"]
