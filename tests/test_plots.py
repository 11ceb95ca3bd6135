"""Figures by what they are made of: rectangles, labels and curves, not pixels."""

from __future__ import annotations

import base64
import functools
import io
import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.colors import same_color, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, StepPatch
from matplotlib.text import Text
from PIL import Image

from course_lib.foundation import token_ledger
from course_lib.teaching import (
    plot_bars,
    plot_curves,
    plot_cuts,
    plot_dots,
    plot_heatmap,
    plot_intervals,
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
from course_lib.teaching.plots import style
from course_lib.teaching.plots.letters import drawable, font_families, in_a_box, row_name, signs, visible
from course_lib.teaching.plots.style import INK, INPUTS, LOST, MEANINGS, SHADES, TARGETS

LEDGERS = {
    "stride 1": token_ledger(range(36), 44, 8),
    "stride T": token_ledger(range(0, 34, 8), 44, 8),
    "stride T + 1": token_ledger(range(0, 34, 9), 44, 8),
}
RUNS = np.random.default_rng(0).normal(2.8, 0.02, (5, 6))
FALLING = 2 + np.exp(-np.arange(200) / 40)
LINES = {"ln V": 3.4, "floor of the right shift": 2.0, "floor, two ahead": 2.02}

EXAMPLES = {
    "shift": lambda: plot_shift([5, 6, 7]),
    "long shift": lambda: plot_shift(range(300)),
    "letters": lambda: plot_shift(range(6), ["漢", "$a$", "😀", "\n", "a long word", "\u200b"]),
    "windows": lambda: plot_windows([0, 4], 4, 10),
    "batches": lambda: plot_windows([[8, 0], [12, 4]], 4, 20),
    "many windows": lambda: plot_windows(range(40), 4, 60),
    "cuts": lambda: plot_cuts({f"offset {o}": range(o, 30, 5) for o in range(5)}, 5, 35),
    "tracks": lambda: plot_tracks([[1, 11, 21], [5, 15, 25]], 4, 10),
    "scored windows": lambda: plot_scored_windows([(0, 4, 4), (2, 4, 2)], 7),
    "ledger": lambda: plot_ledger(token_ledger([1], 10, 4)),
    "three ledgers": lambda: plot_ledger(LEDGERS),
    "reasons": lambda: plot_ledger(token_ledger([3, 10, 17], 30, 4, reasons={"row remainder": [26], "$x$": [28]})),
    "losses": lambda: plot_losses({"loss": [3.0, 2.0, 1.0]}),
    "close losses": lambda: plot_losses({f"curve {i}": FALLING + 0.01 * i for i in range(5)}, LINES),
    "curves": lambda: plot_curves(
        [1, 2, 4], {"a": RUNS[:, :3], "b": [1, 2, 3]}, xlabel="x", ylabel="y", lines={"l": 2}
    ),
    "intervals": lambda: plot_intervals({"one": {1: (2.0, 0.1)}}, xlabel="x", ylabel="y"),
    "panels": lambda: plot_intervals(
        {
            t: {n: {x: (x, 0.5) for x in (1, 4, 16, 17)} for n in ("epochs", "steps")}
            for t in ("training", "validation")
        },
        xlabel="stride",
        ylabel="bits",
        spacing="logarithmic",
    ),
    "bars": lambda: plot_bars({"one": 1.0, "漢字 costs $5$": 4.25, "x" * 300: 3}, xlabel="unit"),
    "1,000 bars": lambda: plot_bars({f"bar {i}": i for i in range(1000)}, xlabel="unit"),
    "dots": lambda: plot_dots({"one": 260_000, "two": 133_000_000}, xlabel="bytes", logarithmic=True),
    "spread": lambda: plot_spread({"one": [1.0, 2.0]}, xlabel="unit"),
    "titles": lambda: plot_spread({"short text": {"a": RUNS[0], "b": RUNS[1]}, "long": {"a": RUNS[2]}}, xlabel="bits"),
    "heatmap": lambda: plot_heatmap({"a": [[0, 1], [2, 3]], "b": [[3, 2], [1, 0]]}, xlabel="x", ylabel="y", label="z"),
    "tree": lambda: plot_merge_tree([list("banana"), ["b", "an", "an", "a"], ["b", "anan", "a"]]),
    "pieces": lambda: plot_pieces({"text": ["a b"], "pieces": ["a", " b"]}, {"pieces": ["12", "10345"]}),
    "long pieces": lambda: plot_pieces({"text": ["x" * 60, "y" * 60]}),
}
each_example = pytest.mark.parametrize("name", EXAMPLES)


@functools.cache
def drawn(name: str) -> Figure:
    """An example, drawn as large as it is shown: places of texts are known then."""
    figure = EXAMPLES[name]()
    with plt.style.context(["default", style.RULES]):
        FigureCanvasAgg(figure).draw()
    return figure


def axes_of(figure: Figure):
    (axes,) = figure.axes
    return axes


def rectangles(figure: Figure, color: str | None = None) -> list[Rectangle]:
    patches = [patch for patch in axes_of(figure).patches if isinstance(patch, Rectangle)]
    return [p for p in patches if color is None or same_color(p.get_edgecolor(), color)]


def places(patches: list[Rectangle]) -> list[tuple[float, float]]:
    """Left edge and width, rounded to whole tokens: boxes have a small gap between them."""
    return [(round(patch.get_x()), round(patch.get_width())) for patch in patches]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in axes_of(figure).texts if text.get_text()]


def legend_of(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def row_labels(figure: Figure) -> list[str]:
    return [label.get_text() for label in axes_of(figure).get_yticklabels()]


def remark_of(figure: Figure) -> str:
    return figure.get_supxlabel()


def visible_texts(figure: Figure) -> list[Text]:
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    # the ticks that an axis keeps beyond its ends are not drawn
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            shown = {id(tick) for tick in axis._update_ticks()} if axis.get_visible() and axes.axison else set()
            ticks = [*axis.majorTicks, *axis.minorTicks]
            hidden |= {id(t) for tick in ticks if id(tick) not in shown for t in (tick.label1, tick.label2)}
    return [text for text in found if id(text) not in hidden]


def extent(text: Text):
    """Where the letters are, without the line that an annotation draws."""
    return Text.get_window_extent(text)


# The style


@each_example
def test_letters_are_dark_and_survive_a_projector(name):
    for text in visible_texts(drawn(name)):
        assert text.get_fontsize() >= 10, text
        assert same_color(text.get_color(), INK), text


@each_example
def test_every_letter_lies_within_the_figure(name):
    figure = drawn(name)
    width, height = figure.canvas.get_width_height()
    for text in visible_texts(figure):
        box = extent(text)
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= width + 1, text
        assert box.y1 <= height + 1, text


@pytest.mark.parametrize("name", ["close losses", "curves", "panels", "bars", "dots", "titles", "1,000 bars"])
def test_no_name_lies_over_another(name):
    boxes = [(text, extent(text)) for text in visible_texts(drawn(name))]
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        assert a.x1 <= b.x0 + 1 or b.x1 <= a.x0 + 1 or a.y1 <= b.y0 + 1 or b.y1 <= a.y0 + 1, (one, other)


@each_example
def test_each_figure_is_as_wide_as_all_others_and_not_taller_than_a_screen(name):
    width, height = drawn(name).get_size_inches()
    assert width == style.WIDTH
    assert height <= 7 or name in ("many windows", "1,000 bars")


@each_example
def test_no_box_has_a_color_without_a_meaning(name):
    allowed = [*MEANINGS.values(), "white", "black"]
    for axes in drawn(name).axes:
        for patch in axes.patches:
            if isinstance(patch, Rectangle):
                assert any(same_color(patch.get_edgecolor(), color) for color in allowed), patch


@pytest.mark.parametrize("name", ["windows", "three ledgers", "heatmap", "losses"])
def test_a_notebook_shows_it_at_one_size_and_twice_as_sharp(name):
    before = dict(plt.rcParams)
    data, metadata = EXAMPLES[name]()._repr_mimebundle_()
    assert dict(plt.rcParams) == before
    picture = base64.b64decode(data["image/png"])
    shown = metadata["image/png"]
    assert shown["width"] == 900
    with Image.open(io.BytesIO(picture)) as image:
        assert image.size == (2 * shown["width"], 2 * shown["height"])
    assert len(picture) < 150_000
    assert data["text/plain"] == repr(EXAMPLES[name]())


def test_two_pictures_of_one_thing_are_the_same_bytes_and_keep_its_colors():
    first, second = (base64.b64decode(EXAMPLES["windows"]()._repr_mimebundle_()[0]["image/png"]) for _ in range(2))
    assert first == second
    with Image.open(io.BytesIO(first)) as image:
        pixels = np.array([color for _, color in image.convert("RGB").getcolors()]) / 255
    for color in ("white", INPUTS, TARGETS, LOST):
        assert abs(pixels - to_rgb(color)).max(axis=1).min() < 0.02, color


def test_a_figure_is_in_no_list_of_open_figures_and_leaves_the_readers_style_alone():
    before = dict(plt.rcParams)
    assert isinstance(plot_shift([5, 6, 7]), Figure)
    assert plt.get_fignums() == []
    assert dict(plt.rcParams) == before


def test_a_readers_style_changes_no_colors():
    with plt.style.context("dark_background"):
        figure = plot_windows([0], 4, 10)
    assert len(rectangles(figure, INPUTS)) == 1
    assert same_color(figure.get_facecolor(), "white")


def test_spread_out_moves_no_more_than_it_must():
    assert style.spread_out(np.array([0.1, 0.9]), 0.1).tolist() == [0.1, 0.9]
    assert style.spread_out(np.array([0.5, 0.5]), 0.1).tolist() == pytest.approx([0.45, 0.55])
    places = style.spread_out(np.array([0.7, 0.2, 0.21, 0.24, 0.7]), 0.1)
    assert np.diff(np.sort(places)).min() >= 0.1 - 1e-9
    assert np.argsort(places).tolist() == [1, 2, 3, 0, 4]
    assert style.spread_out(np.array([]), 0.1).tolist() == []


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([4.37, 2.1, 1], ["4.37", "2.10", "1.00"]),
        ([1, 20, 3000], ["1", "20", "3,000"]),
        ([100, 97.5, 0], ["100.0", "97.5", "0.0"]),
        ([0.12345, 1292.4], ["0.12", "1,292.40"]),
        ([0.5, -0.25], ["0.50", "-0.25"]),
        ([1e-6, 1], ["1e-06", "1"]),
        ([1e300, 1], ["1e+300", "1"]),
        ([], []),
    ],
)
def test_numbers_of_one_figure_have_equally_many_decimals(values, written):
    assert style.same_decimals(values) == written


def test_numbers_at_ticks_are_read_in_words():
    assert [style.in_words(x) for x in (0.5, 200_000, 10_000_000, 2e9)] == ["0.5", "200,000", "10 million", "2 billion"]


def test_curves_differ_without_color():
    looks = [style.curve_style(number) for number in range(12)]
    assert len({(str(look["linestyle"]), look["marker"]) for look in looks}) == 12


# Letters


def test_blanks_are_signs_and_what_draws_nothing_is_a_code_point():
    assert signs("a b\n\t") == "a␣b↵⇥"
    assert signs("\r\u200b\xa0\ud800") == "U+000DU+200BU+00A0U+D800"


def test_a_letter_without_a_font_is_its_code_point(monkeypatch):
    assert drawable("Straße ␣ €") == "Straße ␣ €"
    monkeypatch.setattr("course_lib.teaching.plots.letters._is_drawable", lambda letter: letter < "\u3000")
    assert drawable("a漢") == "aU+6F22"
    assert visible("漢 ") == "U+6F22␣"
    assert in_a_box("漢", 5) == "U+\n6F22"


def test_long_names_are_shortened():
    assert row_name("x" * 300) == "x" * 43 + "…"
    assert in_a_box("harbour", 5) == "harb…"


def test_fonts_that_are_installed_stand_in_behind_the_first():
    assert font_families()[0] == "DejaVu Sans"
    assert font_families(monospaced=True)[:2] == ("DejaVu Sans Mono", "DejaVu Sans")


# plot_shift


@pytest.mark.parametrize("kind", [list, np.array, torch.tensor])
def test_the_shift_has_three_rows_of_ids(kind):
    figure = plot_shift(kind([10, 11, 12, 13]))
    assert texts(figure) == ["10", "11", "12", "13", "10", "11", "11", "12", "12", "13"]
    assert len(rectangles(figure)) == 4 + 3 + 3
    assert places(rectangles(figure, INPUTS)) == places(rectangles(figure, TARGETS)) == [(0, 1), (1, 1), (2, 1)]
    assert row_labels(figure) == ["window, 4 ids", "inputs, T = 3", "targets, T = 3"]


def test_each_target_stands_under_its_input():
    figure = plot_shift(range(5))
    inputs = {round(p.get_x()): p.get_y() for p in rectangles(figure, INPUTS)}
    targets = {round(p.get_x()): p.get_y() for p in rectangles(figure, TARGETS)}
    assert inputs.keys() == targets.keys() == {0, 1, 2, 3}
    assert all(targets[t] < inputs[t] for t in inputs)
    # told apart without color, too
    assert all(p.get_hatch() for p in rectangles(figure, TARGETS))
    assert not any(p.get_hatch() for p in rectangles(figure, INPUTS))


def test_labels_stand_for_ids_and_blanks_are_made_visible():
    assert texts(plot_shift([0, 1, 2, 3], labels=["a", " ", "\n", "\t"]))[:4] == ["a", "␣", "↵", "⇥"]


def test_of_a_long_window_the_beginning_is_drawn_and_the_figure_says_so():
    figure = drawn("long shift")
    assert len(rectangles(figure, INPUTS)) == 16
    assert row_labels(figure)[1] == "inputs, T = 299"
    assert remark_of(figure) == "283 more ids of the window, not drawn"
    assert remark_of(drawn("shift")) == ""


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
    assert places(rectangles(figure, INPUTS)) == [(0, 4), (3, 4), (6, 4)]
    assert places(rectangles(figure, TARGETS)) == [(4, 1), (7, 1), (10, 1)]
    heights = [patch.get_y() for patch in rectangles(figure, INPUTS)]
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == 3
    assert heights == [patch.get_y() for patch in rectangles(figure, TARGETS)]
    assert row_labels(figure) == ["stream", "start 0", "start 3", "start 6"]
    assert legend_of(figure) == ["T = 4 inputs", "one id more, for the last target", "in no window"]


def test_the_stream_is_numbered_and_what_no_window_touches_is_crossed_out():
    figure = plot_windows([2], 3, 9)
    assert texts(figure) == [str(token) for token in range(9)]
    assert places(rectangles(figure, LOST)) == [(0, 1), (1, 1), (6, 1), (7, 1), (8, 1)]
    assert all(patch.get_hatch() for patch in rectangles(figure, LOST))
    assert "in no window" not in legend_of(plot_windows([0], 3, 4))


def test_numbers_that_would_touch_stand_above_every_fifth_token():
    assert texts(drawn("many windows")) == [str(token) for token in range(0, 60, 5)]


def test_batches_are_set_apart_by_space_and_name():
    figure = plot_windows(np.array([[0, 8], [4, 12]]), 3, 16)
    assert places(rectangles(figure, INPUTS)) == [(0, 3), (8, 3), (4, 3), (12, 3)]
    assert row_labels(figure)[1:] == ["batch 0, start 0", "batch 0, start 8", "batch 1, start 4", "batch 1, start 12"]
    steps = -np.diff([p.get_y() for p in rectangles(figure, INPUTS)])
    assert steps[1] > steps[0] == pytest.approx(steps[2])


def test_repeated_starts_are_drawn_as_often_as_they_occur():
    assert places(rectangles(plot_windows(torch.tensor([5, 1, 5]), 2, 10), INPUTS)) == [(5, 2), (1, 2), (5, 2)]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([], 4, 10), ValueError, "number of windows must be .*got 0"),
        ((range(41), 4, 60), ValueError, "number of windows must be .*at most 40, got 41"),
        (([0], 4, 0), ValueError, "num_tokens must be .*got 0"),
        (([0], 4, 61), ValueError, "num_tokens must be .*at most 60, got 61"),
        (([0], 0, 10), ValueError, "context_length must be .*got 0"),
        (([0], 2.0, 10), TypeError, r"context_length must be .*got 2\.0"),
        (([0.5], 4, 10), TypeError, "starts must be integers, got list of float64"),
        (("0", 4, 10), TypeError, "starts must be integers, got text"),
        (([0, 6], 4, 10), ValueError, "starts must leave room for 5 ids in a stream of 10, got a window at 6"),
        (([-1], 4, 10), ValueError, "starts must leave room for 5 ids in a stream of 10, got a window at -1"),
    ],
)
def test_what_is_no_picture_of_windows_is_refused(arguments, error, message):
    with pytest.raises(error, match=f"^{message}"):
        plot_windows(*arguments)


def test_below_windows_their_ledger_stands_on_the_same_axis():
    starts = [2, 5, 8]
    ledger = token_ledger(starts, 16, 4)
    above, below = plot_windows(starts, 4, 16, ledger=ledger).axes
    np.testing.assert_allclose(np.array(above.get_xlim()) - 0.5, below.get_xlim())
    as_input, as_target = (patch for patch in below.patches if isinstance(patch, StepPatch))
    assert as_input.get_data().values.tolist() == ledger.as_input.tolist()
    assert as_target.get_data().values.tolist() == ledger.as_target.tolist()
    assert [line.get_xdata()[0] + 0.5 for line in below.lines] == starts
    keys = legend_of(above.figure)
    assert keys[-2:] == ["never used: offset", "never used: tail"]
    assert "in no window" not in keys


# plot_scored_windows


def test_each_scored_target_is_hatched_once_behind_its_context():
    figure = plot_scored_windows([(0, 4, 4), (2, 4, 2), (4, 3, 1)], 8)
    context = [box for box in rectangles(figure, INK) if box.get_y() < 0]
    assert places(context) == [(0, 1), (2, 3), (4, 3)]
    scored = rectangles(figure, TARGETS)
    assert places(scored) == [(1, 4), (5, 2), (7, 1)]
    assert all(patch.get_hatch() for patch in scored)
    assert places(rectangles(figure, LOST)) == [(0, 1)]
    assert row_labels(figure) == ["stream", "start 0", "start 2", "start 4"]
    assert legend_of(figure) == ["read as context only", "scored", "never scored"]


@pytest.mark.parametrize(
    ("windows", "num_tokens", "message"),
    [
        ([], 5, "number of windows must be an integer of at least 1 and at most 40"),
        ([(0, 2, 2)], 61, "num_tokens must be an integer of at least 1 and at most 60"),
        ([(0, 2, 2)] * 41, 5, "number of windows must be .* at most 40"),
        ([(0, 2, 2)], 0, "num_tokens must be an integer of at least 1"),
        ([(0, 5, 2)], 5, "windows must leave room for 6 ids in a stream of 5"),
        ([(0, 3, 4)], 5, "scored must be an integer of at least 0 and at most 3, got 4"),
        ([(0, 0, 0)], 5, "length must be an integer of at least 1"),
        ([(0, 2)], 5, r"windows must be rows of \(start, length, scored\)"),
    ],
)
def test_what_is_no_picture_of_scored_windows_is_refused(windows, num_tokens, message):
    with pytest.raises(ValueError, match=rf"^{message}"):
        plot_scored_windows(windows, num_tokens)


# plot_cuts and plot_tracks


def test_cuts_show_each_window_of_each_row():
    figure = plot_cuts({"offset 0": [0, 5], "offset 2": [7, 2]}, context_length=5, num_tokens=13)
    windows = [(p.get_x(), p.get_width()) for p in rectangles(figure, INPUTS) if p.get_facecolor()[3] < 1]
    assert windows == [(0, 5), (5, 5), (2, 5), (7, 5)]
    assert row_labels(figure) == ["offset 0", "offset 2"]
    assert texts(figure) == ["0", "5", "2", "7"]
    assert "never an input" in legend_of(figure)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"a": [0, 4]}, r"rows\['a'\] must be starts at least 5 apart, got 0 and 4"),
        ({"a": [9]}, r"rows\['a'\] must hold windows of 5 in a stream of 13, got a start at 9"),
        ({"a": [-1]}, r"rows\['a'\] must hold windows of 5 in a stream of 13, got a start at -1"),
        ({}, "rows must have at least one name"),
        ({str(i): [0] for i in range(41)}, "number of rows must be .* at most 40, got 41"),
    ],
)
def test_impossible_cuts_are_refused(rows, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        plot_cuts(rows, 5, 13)


@pytest.mark.parametrize(
    ("carried", "marker", "name"), [(True, ">", "the state goes on"), (False, "X", "the state is reset")]
)
def test_what_becomes_of_the_state_is_marked_between_batches_of_every_row(carried, marker, name):
    figure = plot_tracks([[1, 11], [4, 14], [7, 17]], 3, 10, carried=carried)
    (marks,) = axes_of(figure).lines
    assert marks.get_marker() == marker
    assert sorted(zip(*marks.get_data(), strict=True)) == [(3, 0.4), (3, 1.4), (6, 0.4), (6, 1.4)]
    assert name in legend_of(figure)


def test_tracks_show_every_id_of_every_row():
    starts = np.array([[1, 8], [4, 11]])
    figure = plot_tracks(starts, num_steps=3, row_length=7)
    axes = axes_of(figure)
    assert [int(text) for text in texts(figure)] == list(range(1, 15))
    unused = [text.get_text() for text, box in zip(axes.texts, axes.patches, strict=True) if box.get_hatch()]
    assert unused == ["7", "14"]
    assert legend_of(figure) == ["inputs, two shades for batches in turn", "fills no batch"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["batch 0", "batch 1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 7]], 0, 7), "num_steps must be an integer of at least 1, got 0"),
        ((np.zeros((0, 2), int), 3, 7), r"starts must have shape \(num_batches, B\), got shape \(0, 2\)"),
        (([0, 7], 3, 7), r"starts must have shape \(num_batches, B\), got shape \(2,\)"),
        (([[0, 7]], 3, 25), "row_length must be .* at most 24, got 25"),
        (([[0], [3], [6]], 3, 7), "starts must fit into rows of 7, got 3 batches of 3 steps"),
        (([[0, 7], [4, 11]], 3, 7), "starts must go on 3 ids later in every batch"),
        ((np.zeros((1, 21), int), 3, 7), "number of rows must be .* at most 20"),
    ],
)
def test_what_is_no_picture_of_tracks_is_refused(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        plot_tracks(*arguments)


# plot_ledger


def test_the_ledger_is_drawn_token_by_token():
    ledger = token_ledger([3, 5, 14], 24, 4)
    axes = axes_of(plot_ledger(ledger))
    stairs = {p.get_label(): p for p in axes.patches if isinstance(p, StepPatch)}
    assert np.array_equal(stairs["as input"].get_data().values, ledger.as_input)
    assert np.array_equal(stairs["as target"].get_data().values, ledger.as_target)
    assert np.array_equal(stairs["as target"].get_data().edges, np.arange(25) - 0.5)
    assert [line.get_xdata()[0] for line in axes.lines] == [2.5, 4.5, 13.5]


def test_what_is_never_used_is_shaded_run_by_run_and_named_once():
    figure = plot_ledger(token_ledger([3, 10, 17], 24, 4))
    spans = [(p.get_x(), p.get_x() + p.get_width()) for p in rectangles(figure)]
    assert spans == [(-0.5, 2.5), (7.5, 9.5), (14.5, 16.5), (21.5, 23.5)]
    names = ["never used: offset", "never used: gap", "never used: tail"]
    assert legend_of(figure) == ["as input", "as target", "start of a window", *names]
    assert len({p.get_hatch() for p in rectangles(figure)}) == 3
    assert {p.get_height() for p in rectangles(figure)} == {1}  # of the panel


def test_a_ledger_without_windows_and_one_without_losses_are_drawn():
    figure = plot_ledger(token_ledger([], 5, 2))
    assert [(p.get_x(), p.get_width()) for p in rectangles(figure)] == [(-0.5, 5)]
    assert legend_of(figure) == ["as input", "as target", "never used: tail"]
    assert rectangles(plot_ledger(token_ledger([0], 5, 4))) == []


def test_several_ledgers_share_one_axis_of_positions():
    panels = drawn("three ledgers").axes
    assert [axes.get_title(loc="left") for axes in panels] == list(LEDGERS)
    assert {axes.get_xlim() for axes in panels} == {(-0.5, 43.5)}
    # where every token starts a window, lines would hide the picture
    assert [[line.get_xdata()[0] for line in axes.lines] for axes in panels] == [
        [],
        [-0.5, 7.5, 15.5, 23.5, 31.5],
        [-0.5, 8.5, 17.5, 26.5],
    ]


def test_a_long_stream_is_drawn_in_steps_and_the_figure_says_so():
    ledger = token_ledger(np.arange(0, 2_400_000, 80), 2_400_065, 64)
    figure = plot_ledger(ledger)
    stairs = [p.get_data() for p in axes_of(figure).patches if isinstance(p, StepPatch)]
    assert [len(data.values) for data in stairs] == [1000, 1000]
    assert np.dot(stairs[0].values, np.diff(stairs[0].edges)) == pytest.approx(ledger.as_input.sum())
    assert len(rectangles(figure)) <= 100
    assert remark_of(figure) == "each step is the mean of 2,400 tokens; gap: 449,985 tokens in 29,999 places, not drawn"


def test_many_reasons_share_a_hatch():
    ledger = token_ledger([], 20, 4, reasons={f"reason {i}": [i] for i in range(9)})
    assert "never used: other reasons" in legend_of(plot_ledger(ledger))


@pytest.mark.parametrize(
    ("ledgers", "error", "message"),
    [
        (None, TypeError, "ledgers must be a ledger, or names and ledgers, got None"),
        ({}, TypeError, "ledgers must be a ledger, or names and ledgers"),
        ({"a": 3}, TypeError, r"ledgers\['a'\] must be a ledger, got 3"),
        (token_ledger([], 0, 4), ValueError, "a ledger must have tokens to be drawn"),
        (dict.fromkeys("abcdefg", LEDGERS["stride T"]), ValueError, "ledgers must be at most 6, got 7"),
    ],
)
def test_what_is_no_ledger_is_not_drawn(ledgers, error, message):
    with pytest.raises(error, match=f"^{message}"):
        plot_ledger(ledgers)


# plot_losses and plot_curves


def test_a_short_run_is_drawn_as_it_is():
    axes = axes_of(plot_losses({"a": [3.0, 2.0, 1.0]}))
    (line,) = axes.lines
    # the loss before the first step stands at step 0, each other one in the middle of its step
    assert line.get_ydata().tolist() == [3, 3, 2, 1]
    assert line.get_xdata().tolist() == [0, 0.5, 1.5, 2.5]
    assert axes.get_ylabel() == "nats per token"
    assert axes.get_ylim()[0] == 0


def test_a_long_run_is_the_mean_of_neighboring_steps():
    losses = np.arange(205.0)
    (line,) = axes_of(plot_losses({"a": losses})).lines
    naive = [losses[i : i + 4].mean() for i in range(0, 204, 4)]
    assert line.get_ydata().tolist() == [losses[0], *naive]
    assert line.get_xdata().tolist() == [0, *(i + 2 for i in range(0, 204, 4))]


def test_several_runs_are_a_mean_and_a_band_from_the_smallest_to_the_largest():
    axes = axes_of(plot_losses({"a": [[1.0, 2.0], [3.0, 6.0]]}))
    (line,) = axes.lines
    assert line.get_ydata().tolist() == [2, 2, 4]
    (band,) = (c for c in axes.collections if isinstance(c, PolyCollection))
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    assert corners == {(0, 1), (0.5, 1), (1.5, 2), (0, 3), (0.5, 3), (1.5, 6)}
    assert axes_of(plot_losses({"a": [1.0, 2.0]})).collections[:] == []


def test_levels_are_lines_across_with_their_names_beside_them():
    figure = plot_losses({"a": [3.0, 2.0]}, {"floor": 1.5, "chance": 4.0}, ylabel="bits")
    floor, chance, _ = axes_of(figure).lines
    assert (set(floor.get_ydata()), set(chance.get_ydata())) == ({1.5}, {4.0})
    assert texts(figure) == ["● a", "floor", "chance"]
    assert figure.legends == []
    assert axes_of(figure).get_ylabel() == "bits"


def test_a_curve_that_is_alone_has_its_name_as_the_title():
    figure = plot_losses({"bigram, 5 runs": [3.0, 2.0]})
    assert axes_of(figure).get_title(loc="left") == "bigram, 5 runs"
    assert texts(figure) == []
    assert figure.legends == []


def test_curves_with_a_meaning_have_its_color_and_all_others_are_ink():
    meanings = {"good": "right", "bad": "wrong"}
    lines = axes_of(plot_losses({"good": [1], "other": [2], "bad": [3]}, meanings=meanings)).lines
    colors = [line.get_color() for line in lines]
    assert (colors[0], colors[2]) == (MEANINGS["right"], MEANINGS["wrong"])
    assert colors[1] in SHADES


def test_curves_are_drawn_as_means_with_a_band():
    runs = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])
    figure = plot_curves([1, 2, 4], {"two runs": runs, "one": [0, 0, 0]}, xlabel="x", ylabel="y", lines={"l": 2})
    level, *curves = axes_of(figure).lines
    assert curves[0].get_xydata().tolist() == [[1, 2], [2, 3], [4, 4]]
    assert curves[1].get_ydata().tolist() == [0, 0, 0]
    assert level.get_ydata() == [2, 2]
    assert len(axes_of(figure).collections) == 1
    assert texts(figure) == ["● two runs", "■ one", "l"]


def test_x_may_be_in_powers_of_two():
    axes = axes_of(plot_curves([256, 500, 1000], {"a": [1, 2, 3]}, xlabel="V", ylabel="y", logarithmic=True))
    assert axes.get_xscale() == "log"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["256", "500", "1,000"]


# plot_intervals


def test_intervals_reach_from_mean_minus_to_mean_plus_half_width():
    figure = plot_intervals({"a": {1: (3.0, 0.5), 4: (2.0, 0.25)}, "b": {1: (5.0, 0.0)}}, xlabel="S", ylabel="bits")
    axes = axes_of(figure)
    lines = [container.lines for container in axes.containers]
    assert [line[0].get_xydata().tolist() for line in lines] == [[[1, 3], [4, 2]], [[1, 5]]]
    assert [part.tolist() for part in lines[0][2][0].get_segments()] == [[[1, 2.5], [1, 3.5]], [[4, 1.75], [4, 2.25]]]
    assert len({(line[0].get_marker(), line[0].get_linestyle()) for line in lines}) == 2
    assert texts(figure) == ["● a", "■ b"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("S", "bits")


@pytest.mark.parametrize(
    ("spacing", "at", "labels"),
    [
        ("linear", [1, 16, 17], ["1", "16", "17"]),
        ("logarithmic", [1, 16, 17], ["1", "16, 17", ""]),
        ("even", [0, 1, 2], ["1", "16", "17"]),
    ],
)
def test_each_x_is_written_where_it_stands(spacing, at, labels):
    points = dict.fromkeys((17, 1, 16), (1.0, 0.1))
    axes = axes_of(plot_intervals({"a": points}, xlabel="S", ylabel="bits", spacing=spacing))
    assert axes.get_xticks().tolist() == at
    assert [label.get_text() for label in axes.get_xticklabels()] == labels
    assert axes.get_xscale() == ("log" if spacing == "logarithmic" else "linear")
    assert axes.containers[0].lines[0].get_xdata().tolist() == at


def test_titles_make_panels_with_one_y_axis_and_names_once():
    left, right = drawn("panels").axes
    assert [axes.get_title(loc="left") for axes in (left, right)] == ["training", "validation"]
    assert left.get_ylim() == right.get_ylim()
    assert [[text.get_text() for text in axes.texts] for axes in (left, right)] == [[], ["● epochs", "■ steps"]]


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"spacing": "log"}, ValueError, "spacing must be 'linear', 'logarithmic' or 'even', got 'log'"),
        (
            {"spacing": "logarithmic", "curves": {"a": {0: (1, 1)}}},
            ValueError,
            "x must be positive on a logarithmic axis",
        ),
        ({"curves": {"a": {1: (1, -1)}}}, ValueError, r"curves\['a'\] must have no negative half-width"),
        ({"curves": {"a": {1: (1, np.nan)}}}, ValueError, r"curves\['a'\] must be finite to be drawn, got nan"),
        ({"curves": {"a": {1: 1}}}, ValueError, r"curves\['a'\] must be pairs of a mean and a half-width"),
        ({"curves": {"a": {"x": (1, 1)}}}, TypeError, "x values must be numbers"),
        ({"curves": {}}, ValueError, "curves must have at least one name"),
        ({"curves": {"a": {}}}, ValueError, r"curves\['a'\] must have at least one name"),
        ({"curves": {t: {"a": {1: (1, 1)}} for t in "abcd"}}, ValueError, "curves must be at most 3 panels, got 4"),
        ({"meanings": {"b": "right"}}, ValueError, r"meanings must be for \['a'\], got 'b'"),
        ({"meanings": {"a": "red"}}, ValueError, "meanings must be some of .*got 'red'"),
        ({"lines": {"a": np.inf}}, ValueError, "lines must be finite to be drawn, got inf"),
    ],
)
def test_intervals_that_cannot_be_drawn_are_refused(changed, error, message):
    arguments = {"curves": {"a": {1: (1.0, 0.1)}}, "xlabel": "S", "ylabel": "bits"} | changed
    with pytest.raises(error, match=f"^{message}"):
        plot_intervals(**arguments)


# plot_bars and plot_dots


def test_bars_are_as_long_as_their_values_and_say_them():
    values = {"slow": 0.5, "middling": 76.0, "fast": 129.25}
    figure = plot_bars(values, xlabel="million tokens per second")
    assert [bar.get_width() for bar in rectangles(figure)] == list(values.values())
    assert row_labels(figure) == list(values)
    assert texts(figure) == ["0.50", "76.00", "129.25"]
    assert axes_of(figure).get_xlabel() == "million tokens per second"
    assert axes_of(figure).get_xlim() == (0, 129.25)
    assert axes_of(figure).yaxis_inverted()  # the first name on top


def test_bars_that_are_labelled_share_one_color_and_have_no_hatch():
    bars = rectangles(plot_bars({str(i): 1.0 for i in range(8)}, xlabel=""))
    assert len({bar.get_facecolor() for bar in bars}) == 1
    assert not any(bar.get_hatch() for bar in bars)


def test_bars_can_be_sorted_and_percents_end_at_100():
    figure = plot_bars({"low": 20, "high": 90, "zero": 0}, xlabel="%", sort=True, limit=100)
    assert row_labels(figure) == ["high", "low", "zero"]
    assert axes_of(figure).get_xlim() == (0, 100)
    with pytest.raises(ValueError, match=r"^limit must be at least the largest value, got 80"):
        plot_bars({"a": 90}, xlabel="%", limit=80)


def test_of_1000_bars_40_are_drawn_and_the_figure_says_so():
    assert len(rectangles(drawn("1,000 bars"))) == 40
    assert remark_of(drawn("1,000 bars")) == "960 more rows, not drawn"


def test_bars_have_no_logarithmic_axis():
    with pytest.raises(ValueError, match=r"^logarithmic must be False: .*use plot_dots"):
        plot_bars({"a": 1}, xlabel="", logarithmic=True)


@pytest.mark.parametrize("logarithmic", [True, False])
def test_dots_stand_at_their_values_and_say_them(logarithmic):
    values = {"small": 12, "large": 1234567}
    figure = plot_dots(values, xlabel="bytes", logarithmic=logarithmic)
    (dots,) = axes_of(figure).lines
    assert dots.get_xydata().tolist() == [[12, 0], [1234567, 1]]
    assert dots.get_linestyle() == "None"
    assert row_labels(figure) == list(values)
    assert texts(figure) == ["12", "1,234,567"]
    assert axes_of(figure).get_xscale() == ("log" if logarithmic else "linear")


@pytest.mark.parametrize("plot", [plot_bars, plot_dots])
@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({}, ValueError, "values must have at least one name, got none"),
        ({"a": np.nan}, ValueError, "values must be finite to be drawn, got nan"),
        ({"a": "1"}, TypeError, "values must be numbers"),
        ([1, 2], TypeError, "values must be a mapping of names"),
        ({"a": [1, 2]}, ValueError, r"values must be single numbers, got shape \(1, 2\)"),
    ],
)
def test_values_that_are_no_numbers_are_not_drawn(plot, values, error, message):
    with pytest.raises(error, match=f"^{message}"):
        plot(values, xlabel="")


@pytest.mark.parametrize("value", [0, -1])
def test_a_logarithmic_axis_has_no_zero(value):
    with pytest.raises(ValueError, match=f"^values must be positive on a logarithmic axis, got {value}"):
        plot_dots({"a": value, "b": 1}, xlabel="", logarithmic=True)


# plot_spread


def test_each_run_is_a_dot_and_each_group_a_mean_with_one_standard_deviation():
    groups = {"shuffled": [1.0, 2.0, 4.0], "in order": [5.0, 5.5], "once": [3.0]}
    figure = plot_spread(groups, xlabel="nats")
    axes = axes_of(figure)
    dots = [line for line in axes.lines if line.get_linestyle() == "None" and line.get_alpha()]
    assert [line.get_xdata().tolist() for line in dots] == list(groups.values())
    assert [set(line.get_ydata()) for line in dots] == [{0}, {1}, {2}]
    means = [container.lines[0].get_xdata().tolist() for container in axes.containers]
    assert means == [[pytest.approx(7 / 3)], [5.25], [3.0]]
    halves = [np.ptp(container.lines[2][0].get_segments()[0][:, 0]) / 2 for container in axes.containers]
    assert halves == pytest.approx([np.std([1, 2, 4], ddof=1), np.std([5, 5.5], ddof=1), 0])
    assert texts(figure) == ["2.333", "5.250", "3.000"]
    assert row_labels(figure) == list(groups)
    assert axes.yaxis_inverted()


def test_rows_under_titles_look_alike_where_their_names_are_alike():
    figure = drawn("titles")
    assert row_labels(figure) == ["a", "b", "a"]
    assert texts(figure)[0] == "short text"
    assert "long" in texts(figure)
    markers = [container.lines[0].get_marker() for container in axes_of(figure).containers]
    assert markers[0] == markers[2] != markers[1]


def test_pairs_are_joined():
    figure = plot_spread({"a": [1.0, 2.0], "b": [1.5, 2.5], "c": [0.0, 1.0]}, xlabel="", paired=True)
    joined = [line.get_xydata().tolist() for line in axes_of(figure).lines if np.unique(line.get_ydata()).size == 2]
    assert joined == [[[1, 0], [1.5, 1]], [[2, 0], [2.5, 1]], [[1.5, 1], [0, 2]], [[2.5, 1], [1, 2]]]
    with pytest.raises(ValueError, match=r"^groups must have equally many runs to be paired"):
        plot_spread({"a": [1.0, 2.0], "b": [1.5]}, xlabel="", paired=True)


def test_rows_may_be_compared_with_a_line_that_has_a_name():
    for figure in (
        plot_spread({"a": [-1.0, 1.0]}, xlabel="difference", lines={"the course's rules": 0}),
        plot_bars({"a": 0.9, "b": 1.2}, xlabel="ratio", lines={"unchanged": 1}),
    ):
        assert [line for line in axes_of(figure).lines if line.get_linestyle() == ":" or line.get_linewidth() == 1]
        assert {"the course's rules", "unchanged"} & set(texts(figure))


# plot_heatmap


def test_a_heatmap_masks_zeros_and_says_what_they_are():
    values = np.array([[0, 1, 2], [3, 0, 5]])
    figure = plot_heatmap(values, xlabel="x", ylabel="y", label="context", zero="never a target")
    (image,) = figure.axes[0].images
    assert image.get_array().mask.tolist() == (values == 0).tolist()
    assert image.get_array().filled(0).tolist() == values.tolist()
    assert legend_of(figure) == ["0: never a target"]
    assert plot_heatmap([[1, 2]], xlabel="x", ylabel="y", label="z").legends == []


def test_a_few_integers_have_a_color_each_and_many_share_a_scale():
    bar = plot_heatmap([[1, 8]], xlabel="x", ylabel="y", label="z").axes[-1]
    assert bar.get_yticks().tolist() == list(range(1, 9))
    image = plot_heatmap([[1, 800]], xlabel="x", ylabel="y", label="z").axes[0].images[0]
    assert (image.norm.vmin, image.norm.vmax) == (1, 800)


def test_heatmaps_side_by_side_share_their_colors():
    first, second, _ = drawn("heatmap").axes
    assert [axes.get_title(loc="left") for axes in (first, second)] == ["a", "b"]
    assert first.images[0].norm is second.images[0].norm
    assert first.images[0].cmap is second.images[0].cmap


@pytest.mark.parametrize("values", [[], [1, 2], [[]], np.ones((201, 2)), {}, {t: [[1]] for t in "abcd"}])
def test_what_is_no_table_is_not_drawn(values):
    with pytest.raises(ValueError, match=r"^values must"):
        plot_heatmap(values, xlabel="x", ylabel="y", label="z")


def test_a_table_of_zeros_alone_is_drawn():
    assert legend_of(plot_heatmap([[0, 0]], xlabel="x", ylabel="y", label="z")) == ["0"]


# plot_merge_tree and plot_pieces


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


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([], "stages must hold a word"),
        ([[]], "stages must hold a word"),
        ([list("ab"), ["ba"]], r"stages\[1\] must hold the symbols of stages\[0\] in their order, got \['ba'\]"),
        ([list("ab"), ["abc"]], r"stages\[1\] must hold the symbols"),
        ([["a"] * 61], "number of symbols must be .* at most 60, got 61"),
        ([["a"]] * 25, "number of stages must be .* at most 24, got 25"),
    ],
)
def test_what_is_no_tree_is_refused(stages, message):
    with pytest.raises(ValueError, match=rf"^{message}"):
        plot_merge_tree(stages)


def test_each_piece_is_a_box_as_wide_as_it_is_long_two_shades_in_turn():
    figure = plot_pieces({"text": ["ab c"], "pieces": ["ab", " c"], "ids": ["ab", " c"]}, {"ids": ["12", "345"]})
    assert places(rectangles(figure)) == [(0, 4), (0, 2), (2, 2), (0, 2), (2, 2)]
    shades = [box.get_facecolor() for box in rectangles(figure)]
    assert shades[0] == shades[1] == shades[3] != shades[2] == shades[4]
    assert texts(figure) == ["ab·c", "ab", "·c", "12", "345"]
    assert row_labels(figure) == ["text", "pieces", "ids"]


def test_labels_that_fit_no_box_are_left_out_and_the_figure_says_so():
    assert texts(drawn("long pieces")) == []
    assert remark_of(drawn("long pieces")) == "2 labels that are longer than their boxes, not written"
    assert texts(drawn("pieces")) == ["a·b", "12", "10345"]


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        ({}, None, "rows must have at least one name"),
        ({"a": []}, None, "longest row of rows must be an integer of at least 1"),
        ({"a": ["x" * 200]}, None, ".*at most 120, got 200"),
        ({"a": ["x", ""]}, None, r"rows\['a'\] must be strings of at least one letter"),
        ({"a": ["x", 5]}, None, r"rows\['a'\] must be strings of at least one letter"),
        ({"a": ["x", "y"]}, {"a": ["1"]}, r"labels\['a'\] must be one for each of the 2 strings, got 1"),
        ({"a": ["x"]}, {"b": ["1"]}, r"labels must be for rows of \['a'\], got 'b'"),
    ],
)
def test_pieces_that_cannot_be_drawn_are_refused(rows, labels, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        plot_pieces(rows, labels)
