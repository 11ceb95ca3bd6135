"""The vocabulary of figures: what is drawn, by its data, and what is refused."""

import base64
import io
import itertools
import json
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color, to_hex, to_rgb
from matplotlib.patches import Rectangle
from PIL import Image

import refresh_picture
from course_lib.auditing_loaders import audit_loader
from course_lib.foundation import token_ledger
from course_lib.sliding_windows import gather_windows
from course_lib.teaching import plots
from course_lib.teaching.plots import curves, style

NAMES = {"xlabel": "x", "ylabel": "y"}


def boxes(axes: Axes) -> list[tuple]:
    """Start, width, row and color of each box."""
    found = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    return [(p.get_x(), p.get_width(), p.get_y() + p.get_height() / 2, to_hex(p.get_edgecolor())) for p in found]


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts if text.get_text()]


def row_names(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def keys(figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


# Rows of boxes


def test_rows_come_from_the_top_down_with_titles_and_only_what_is_drawn_is_explained():
    rows = {
        "one": {"a": [(0, 2, "inputs", "x"), (2, 1, "targets")]},
        "two": {"b": [(1, 0, "lost"), (3, 1, "wrong", 7)]},
    }
    figure = plots.plot_rows(rows, {"inputs": "read", "lost": "left"}, xlabel="token", lines={"here": 2}, remark="told")
    (axes,) = figure.axes
    assert boxes(axes) == [(0, 2, 1, style.INPUTS), (2, 1, 1, style.TARGETS), (3, 1, 3, style.WRONG)]
    assert texts(axes) == ["one", "x", "two", "7", "here"]
    assert row_names(axes) == ["a", "b"]
    assert keys(figure) == ["read"]
    assert (axes.get_xlabel(), figure.get_supxlabel()) == ("token", "told")
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_side_by_side_panels_share_one_scale_and_arrows_join_boxes():
    rows = {"one": {"a": [(0, 4, "inputs")]}, "two": {"a": [(0, 1, "plain")], "b": [(0, 2, "plain")]}}
    figure = plots.plot_rows(rows, side_by_side=True)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["one", "two"]
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    (axes,) = plots.plot_rows({"a": [(0, 1, "plain")], "b": [(0, 1, "plain")]}, arrows=[((0, 0), (1, 2))]).axes
    (arrow,) = axes.texts
    assert (arrow.xyann, arrow.xy) == ((0.5, 0), (2.5, 1))


def test_a_label_is_left_out_with_those_of_all_boxes_as_wide_if_one_does_not_fit():
    rows = {"a": [(0, 1, "plain", "1"), (1, 1, "plain", "a long word"), (2, 20, "plain", "another one")]}
    assert texts(plots.plot_rows(rows).axes[0]) == ["another one"]


def test_boxes_side_by_side_differ_in_shade_and_what_is_not_filled_is_lost():
    assert plots.end_to_end([2, 1], total=5) == [(0, 2, "inputs", "0"), (2, 1, "inputs2", "1"), (3, 2, "lost")]
    assert plots.end_to_end([2], ["a b"], meaning="plain", total=2) == [(0, 2, "plain", "a␣b")]
    assert plots.in_a_row([7, "\n"], "targets") == [(0, 1, "targets", "7"), (1, 1, "targets", "↵")]


def test_windows_lie_under_their_tokens_and_above_their_ledger():
    figure = plots.plot_windows([[0, 4], [8, 2]], 4, 14, with_ledger=True)
    axes, below = figure.axes
    assert row_names(axes) == ["stream", *(f"batch {b}, start {s}" for b, s in [(0, 0), (0, 4), (1, 8), (1, 2)])]
    drawn = boxes(axes)
    assert [box[:3] for box in drawn if box[3] == style.INPUTS] == [(0, 4, 1), (4, 4, 2), (8, 4, 3), (2, 4, 4)]
    assert [box[:3] for box in drawn if box[3] == style.TARGETS] == [(4, 1, 1), (8, 1, 2), (12, 1, 3), (6, 1, 4)]
    assert [box[:3] for box in drawn if box[3] == style.LOST] == [(13, 1, 0)]
    ledger = token_ledger([0, 4, 8, 2], 14, 4)
    assert np.array_equal(below.patches[0].get_data().values, ledger.as_input)
    assert np.array_equal(below.patches[-1].get_data().values, ledger.as_target)
    assert below.get_xlim() == pytest.approx(np.array(axes.get_xlim()) - 0.5)
    assert "4 windows, 16 predictions: 12 targets" in figure.get_supxlabel()


# Ledgers


def test_a_ledger_is_drawn_token_by_token_and_what_is_lost_by_its_reason():
    ledgers = {"T": token_ledger([2, 6], 13, 4), "T + 2": token_ledger([0, 6], 13, 4)}
    figure = plots.plot_ledger(ledgers)
    for axes, ledger in zip(figure.axes, ledgers.values(), strict=True):
        drawn = {patch.get_label(): patch.get_data().values for patch in axes.patches}
        assert np.array_equal(drawn["times an input"], ledger.as_input)
        assert np.array_equal(drawn["times a target"], ledger.as_target)
        for reason in ledger.dropped:
            at = ledger.reason == ledger.reasons.index(reason)
            assert np.array_equal(drawn[f"never used: {reason}"] > 0, at)
    assert keys(figure) == [
        "times an input",
        "times a target",
        *(f"never used: {r}" for r in ("offset", "tail", "gap")),
    ]
    hatches = {patch.get_label(): patch.get_hatch() for axes in figure.axes for patch in axes.patches}
    assert len({hatches[key] for key in keys(figure)[2:]}) == 3


def test_a_long_ledger_is_drawn_in_steps_each_the_mean_of_its_tokens():
    ledger = token_ledger(range(0, 3990, 8), 4_000, 8)
    figure = plots.plot_ledger(ledger)
    inputs = figure.axes[0].patches[0].get_data()
    assert len(inputs.values) == 1000
    assert inputs.values @ np.diff(inputs.edges) == ledger.as_input.sum()
    assert figure.get_supxlabel() == "each step is the mean of 4 tokens"


# Curves


def test_curves_have_the_mean_and_spread_of_runs_levels_and_names_beside_their_ends():
    runs = np.array([[1.0, 2.0], [3.0, 6.0]])
    figure = plots.plot_curves([0, 5], {"a": runs, "b": [3, 4]}, **NAMES, lines={"floor": 1}, meanings={"b": "wrong"})
    (axes,) = figure.axes
    a, b, floor = axes.lines
    assert a.get_ydata().tolist() == [2, 4]
    assert same_color(b.get_color(), style.WRONG)
    assert set(floor.get_ydata()) == {1}
    band = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert band.min() == pytest.approx(2 - np.sqrt(2))
    assert band.max() == pytest.approx(4 + 2 * np.sqrt(2))
    assert texts(axes) == ["●", "a", "■", "b", "floor"]
    signs = [text for text in axes.texts if text.get_text() in "●■"]
    assert all(same_color(sign.get_color(), line.get_color()) for sign, line in zip(signs, (a, b), strict=False))
    (alone,) = plots.plot_curves([0, 5], {"only": [1, 2]}, **NAMES).axes
    assert alone.get_title(loc="left") == "only"


def test_intervals_reach_from_mean_minus_to_mean_plus_half_width_in_panels_with_one_y_axis():
    panel = {"a": {4: (2.0, 0.5), 1: (1.0, 0.25)}}
    figure = plots.plot_intervals({"one": panel, "two": panel}, **NAMES, spacing="logarithmic")
    one, two = figure.axes
    (bars,) = one.containers
    assert bars[0].get_xdata().tolist() == [1, 4]
    assert [segment[:, 1].tolist() for segment in bars[2][0].get_segments()] == [[0.75, 1.25], [1.5, 2.5]]
    assert one.get_ylim() == two.get_ylim()
    assert one.get_xscale() == "log"
    assert [label.get_text() for label in one.get_xticklabels()] == ["1", "4"]


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        ([0.5, 0.5], [0.45, 0.55]),
        ([0.7, 0.2, 0.21, 0.24, 0.7], [0.65, 7 / 60, 13 / 60, 19 / 60, 0.75]),
        ([0.2, 0.45, 0.25], [0.175, 0.45, 0.275]),
    ],
)
def test_names_are_moved_apart_no_more_than_they_must(wanted, places):
    assert curves.spread_out(wanted, 0.1).tolist() == pytest.approx(places)


# Dots, tables of numbers, audits


def test_each_run_is_a_dot_and_each_row_a_mean_with_one_standard_deviation():
    runs = {"a": [1.0, 3.0], "b": [2.0, 8.0]}
    figure = plots.plot_spread({"one": runs, "two": runs}, xlabel="bits", paired=True)
    (axes,) = figure.axes
    dots = [line for line in axes.lines if line.get_marker() == "o" and line.get_alpha()]
    assert [line.get_xdata().tolist() for line in dots] == [[1, 3], [2, 8]] * 2
    assert [bar[2][0].get_segments()[0][:, 0].tolist() for bar in axes.containers[:2]] == [
        pytest.approx([2 - np.sqrt(2), 2 + np.sqrt(2)]),
        pytest.approx([5 - np.sqrt(18), 5 + np.sqrt(18)]),
    ]
    joined = [line.get_xdata().tolist() for line in axes.lines if same_color(line.get_color(), "#b9bec6")]
    assert joined == [[1, 2], [3, 8]] * 2
    assert texts(axes) == ["one", "2.00", "5.00", "two", "2.00", "5.00"]
    assert row_names(axes) == ["a", "b", "a", "b"]


def test_a_sequence_is_dots_in_its_order_and_of_a_long_one_every_kth():
    figure = plots.plot_dots({"short": [3, 1, 2], "long": range(4_000)}, **NAMES)
    short, long = (axes.lines[0].get_xydata() for axes in figure.axes)
    assert short.tolist() == [[0, 3], [1, 1], [2, 2]]
    assert np.array_equal(long[:, 0], np.arange(0, 4_000, 2))
    assert figure.get_supxlabel() == "one dot for every 2"


def test_a_heatmap_masks_zeros_and_all_tables_share_its_colors():
    figure = plots.plot_heatmap({"a": [[0, 1], [2, 3]], "b": [[3, 2], [1, 1]]}, **NAMES, label="z", zero="never")
    one, two = (axes.images[0] for axes in figure.axes[:2])
    assert one.get_array().mask.tolist() == [[True, False], [False, False]]
    assert two.get_array().tolist() == [[3, 2], [1, 1]]
    assert one.norm is two.norm
    assert keys(figure) == ["never"]
    assert len(one.cmap.colors) == 3


def test_an_audit_shows_its_ledger_its_order_and_what_ranks_share():
    starts = [[0, 8, 16], [4, 8, 40]]

    def make_loader(ids, rank):
        return [gather_windows(ids, np.array(starts[rank]), 4)]

    audit = audit_loader(make_loader, num_tokens=60, world_size=2)
    figure = plots.plot_audit(audit)
    ledger, order, ranks = figure.axes
    drawn = {patch.get_label(): patch.get_data().values for patch in ledger.patches}
    assert np.array_equal(drawn["never a target"] > 0, audit.ledger.as_target == 0)
    assert [line.get_ydata().tolist() for line in order.lines] == starts
    spans = [[path.vertices[0, 0] + 0.5 for path in bar.get_paths()] for bar in ranks.collections]
    assert spans == [[0, 16], [8], [4, 40], [8]]  # of each rank, what it reads alone and what another reads too
    assert "read by several ranks" in keys(figure)
    assert figure.legends[0].get_title().get_text().startswith("found: ")


# What is refused


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: plots.plot_rows({}), "1 to 40 names"),
        (lambda: plots.plot_rows({"a": []}), "1 to 2000 boxes"),
        (lambda: plots.plot_rows({"a": [(0, 1)]}), r"\(start, width, meaning\)"),
        (lambda: plots.plot_rows({"a": [(0, 1, "blue")]}), "a meaning in rows"),
        (lambda: plots.plot_rows({"a": [(0, np.nan, "plain")]}), "finite"),
        (lambda: plots.plot_rows({"a": [(0, -1, "plain")]}), "widths of 0 or more"),
        (lambda: plots.plot_rows({"a": [(0, 1, "plain")]}, {"blue": "b"}), "a key of keys"),
        (lambda: plots.plot_windows([0], 4, 4), "starts"),
        (lambda: plots.plot_windows([0], 4, 61), "1 to 60"),
        (lambda: plots.plot_windows(range(40), 4, 50), "at most 39 windows"),
        (lambda: plots.plot_ledger(token_ledger([], 0, 4)), "must have tokens"),
        (lambda: plots.plot_curves([1], {"a": [1, 2]}, **NAMES), "a point for each x"),
        (lambda: plots.plot_curves([1], {"a": [1]}, **NAMES, meanings={"b": "right"}), "a key of meanings"),
        (lambda: plots.plot_intervals({"a": {1: (1, -1)}}, **NAMES), "none of them negative"),
        (lambda: plots.plot_intervals({"a": {0: (1, 1)}}, **NAMES, spacing="logarithmic"), "positive"),
        (lambda: plots.plot_spread({"a": []}, xlabel="x"), "at least one run"),
        (lambda: plots.plot_spread({"a": [1, 2], "b": [1]}, xlabel="x", paired=True), "the same number of runs"),
        (lambda: plots.plot_dots({str(n): [1] for n in range(7)}, **NAMES), "1 to 6 names"),
        (lambda: plots.plot_heatmap([1, 2], **NAMES, label="z"), r"shape \(rows, columns\)"),
    ],
)
def test_what_cannot_be_drawn_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()


# Style

# What eyes see that lack one of the three cones, in linear RGB (Machado, Oliveira and Fernandes, 2009, severity 1).
VISIONS = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
MEANT = {color for color, _, _ in style.LOOKS.values()}


def linear(color: str) -> np.ndarray:
    channels = np.array(to_rgb(color))
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ np.clip(rgb, 0, 1)
    x, y, z = np.cbrt(xyz / [0.95047, 1, 1.08883])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISIONS)
def test_any_two_meanings_differ_for_all_eyes_and_each_stands_out_from_white(vision):
    seen = {color: lab(VISIONS[vision] @ linear(color)) for color in MEANT}
    for one, other in itertools.combinations(MEANT, 2):
        assert np.linalg.norm(seen[one] - seen[other]) >= 20, (one, other)  # about 2 is just noticed
    for color in {*MEANT, *style.SHADES}:  # WCAG 2.2, success criterion 1.4.11
        assert 1.05 / (linear(color) @ [0.2126, 0.7152, 0.0722] + 0.05) >= 3


def test_no_look_and_no_curve_differs_by_its_color_alone():
    hatches = [hatch for color, _, hatch in style.LOOKS.values() if color in (style.TARGETS, style.LOST, style.WRONG)]
    assert all(hatches)
    assert len(set(hatches)) == 3
    looks = [style.curve_style(number) for number in range(12)]
    assert len({(str(look["linestyle"]), look["marker"]) for look in looks}) == 12


def test_a_notebook_shows_it_at_one_size_twice_as_sharp_and_in_no_style_of_the_readers():
    with plt.style.context("dark_background"):
        before = dict(plt.rcParams)
        figure = plots.plot_windows([0, 4], 4, 10)
        data, metadata = figure._repr_mimebundle_()
        assert dict(plt.rcParams) == before
    assert plt.get_fignums() == []
    assert data["text/plain"] == style.FOLDED  # what JupyterLab shows where it is folded
    assert metadata["image/png"]["width"] == 900
    assert metadata["image/png"]["alt"] == figure.words
    with Image.open(io.BytesIO(base64.b64decode(data["image/png"]))) as image:
        assert image.size == (1800, 2 * metadata["image/png"]["height"])
        pixels = np.array([color for _, color in image.convert("RGB").getcolors()]) / 255
    for color in ("white", style.INPUTS, style.TARGETS):
        assert abs(pixels - to_rgb(color)).max(axis=1).min() < 0.02, color
    assert figure.png() == figure.png()


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (
            plots.plot_curves([1, 2, 3], {"a": [3, 0.5, 2], "b": [[1, 2, 3]]}, **NAMES, lines={"floor": 0.25}),
            "Curves of y over x. a: from 3 at 1 to 2 at 3, lowest 0.5 at 2. b: from 1 at 1 to 3 at 3. "
            "A line at 0.25: floor.",
        ),
        (
            plots.plot_intervals({"left": {"A": {4: (1.5, 0.2), 1: (2, 0.1)}}}, **NAMES),
            "Means with intervals of y, for each x. left, A: 2 ± 0.1 at 1, 1.5 ± 0.2 at 4.",
        ),
        (
            plots.plot_spread({"one": [1, 2, 3], "other": [5]}, xlabel="loss"),
            "A dot for each run: loss, mean ± one deviation. one: 2.00 ± 1.00. other: 5.00.",
        ),
        (
            plots.plot_heatmap(np.eye(2), **NAMES, label="uses"),
            "A table in colors: uses, by y and x. 2 rows of 2, from 0 to 1; 50% are 0.",
        ),
        (
            plots.plot_ledger({"S = 4": token_ledger([2, 6], 12, 4)}),
            "S = 4: of 12 tokens, 8 are targets; 2 lost (offset); 1 lost (tail).",
        ),
        (
            plots.plot_rows({"r": [(0, 3, "inputs", "ab"), (3, 2, "lost"), (5, 1, "plain")]}, {"lost": "gone"}),
            "Rows of boxes. r: ab, 3 to 4 (gone), 5.",
        ),
        (
            plots.plot_windows([0, 4], 4, 10),
            "Windows in a stream of 10 tokens, each 4 inputs and one more id. They start at 0, 4.",
        ),
        (plots.plot_dots({"t": [1, 2]}, **NAMES), "Dots, y over x, for t."),
    ],
    ids=("curves", "intervals", "spread", "heatmap", "ledger", "rows", "windows", "dots"),
)
def test_each_figure_says_what_is_drawn_to_whoever_cannot_see_it(figure, words):
    assert figure.words == words


ROOT = Path(__file__).parent.parent


def saved_figures(notebook: Path) -> list[bytes]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    shown = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    in_answers = re.findall(r"data:image/png;base64,([^\"]+)", " ".join("".join(d.get("text/html", "")) for d in shown))
    return [base64.b64decode(png) for png in [*in_answers, *(d["image/png"] for d in shown if "image/png" in d)]]


def said_by(png: bytes) -> dict[str, str]:
    with Image.open(io.BytesIO(png)) as picture:
        return dict(picture.info)


@pytest.mark.parametrize("notebook", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_saved_figures_have_the_colors_of_today(notebook):
    """Else: tests/refresh_notebooks.py. Pixels are not compared, but each picture says what palette it has."""
    assert {said_by(png).get("Palette") for png in saved_figures(notebook)} == {style.PALETTE}


def test_pictures_of_the_readme_are_of_todays_lesson_and_colors():
    """Else: tests/refresh_notebooks.py 02 and tests/refresh_picture.py."""
    images = ROOT / "notebooks" / "images"
    starts, lesson = (said_by((images / name).read_bytes()) for name in ("starts.png", "lesson.png"))
    assert starts.get("Palette") == lesson.get("Palette") == style.PALETTE
    assert lesson["Cells"] == refresh_picture.sources_shown()


def test_letters_that_no_font_holds_are_code_points_and_long_names_are_shortened(monkeypatch):
    monkeypatch.setattr(style, "_held", lambda: set(map(ord, "aß␣")))
    assert style.drawable("aß 漢") == "aß␣U+6F22"
    assert style.name_of("x" * 300) == "x" * 43 + "…"
    assert [style.in_words(x) for x in (0.5, 200_000, 10_000_000)] == ["0.5", "200,000", "10 million"]
