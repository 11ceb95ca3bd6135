"""What holds for every figure: colors that any eye tells apart, on paper and on a wall, letters that can be read, one
size, and the reader's own style left alone.
"""

import base64
import inspect
import io
import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.collections import Collection
from matplotlib.colors import same_color, to_hex, to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from PIL import Image

from course_lib.teaching import plots
from course_lib.teaching.plots import style
from course_lib.teaching.plots.letters import drawable, font_families, in_a_box, row_name, signs, visible
from course_lib.teaching.plots.style import INK, INPUTS, LOST, MEANINGS, SHADES, TARGETS
from figures import EXAMPLES, TALL, axes_of, drawn, rectangles

each_example = pytest.mark.parametrize("name", EXAMPLES)


def test_every_public_function_that_draws_has_an_example():
    functions = [name for name, value in vars(plots).items() if inspect.isfunction(value)]
    drawing = {name for name in functions if not name.startswith(("show_", "table_"))}
    assert {name.split(",")[0] for name in EXAMPLES} == drawing


def luminance(color: str) -> float:
    return float(linear(color) @ [0.2126, 0.7152, 0.0722])


def linear(color: str) -> np.ndarray:
    channels = np.array(to_rgb(color))
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


# What eyes see that lack one of the three cones, in linear RGB (Machado, Oliveira and Fernandes, 2009, severity 1).
VISIONS = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def lab(rgb: np.ndarray) -> np.ndarray:
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ np.clip(rgb, 0, 1)
    x, y, z = np.cbrt(xyz / [0.95047, 1, 1.08883])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


# In a lit room the black of a projector's picture is hardly darker than a tenth of its white.
GLARE = 0.1
LEAST_CONTRAST, LEAST_CONTRAST_OF_TEXT = 3, 4.5  # WCAG 2.2, success criteria 1.4.11 and 1.4.3
LEAST_DISTANCE, LEAST_DISTANCE_IN_GLARE = 20, 8  # in CIELAB; about 2 is just noticed


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize(("glare", "least"), [(0, LEAST_DISTANCE), (GLARE, LEAST_DISTANCE_IN_GLARE)])
def test_any_two_meanings_differ_for_all_eyes_and_on_a_wall(vision, glare, least):
    seen = {
        name: lab((np.clip(VISIONS[vision] @ linear(c), 0, 1) + glare) / (1 + glare)) for name, c in MEANINGS.items()
    }
    for (one, a), (other, b) in itertools.combinations(seen.items(), 2):
        assert np.linalg.norm(a - b) >= least, (one, other)


@pytest.mark.parametrize("color", [*MEANINGS.values(), *SHADES])
def test_each_color_stands_out_from_white_also_on_a_wall(color):
    assert 1.05 / (luminance(color) + 0.05) >= LEAST_CONTRAST
    assert (1 + GLARE) / (luminance(color) + GLARE) >= LEAST_CONTRAST


def test_text_stands_out_from_white_and_from_every_fill():
    fills = ["white", *(to_hex(tint(color, 0.45)) for color in MEANINGS.values() if color != INK)]
    for fill in fills:
        assert (luminance(fill) + 0.05) / (luminance(INK) + 0.05) >= LEAST_CONTRAST_OF_TEXT, fill


@pytest.mark.parametrize("vision", VISIONS)
def test_the_colors_of_few_integers_are_told_apart_and_get_lighter(vision):
    """Heat maps: as many integers as have a color each."""
    steps = colormaps["viridis"](np.linspace(0, 0.95, 8))[:, :3]
    seen = [lab(VISIONS[vision] @ linear(color)) for color in steps]
    assert (np.diff([lightness for lightness, *_ in seen]) > 3).all()
    assert min(np.linalg.norm(a - b) for a, b in itertools.pairwise(seen)) >= 8


def tint(color: str, share: float) -> np.ndarray:
    """A color over white, of which so much is left."""
    return share * np.array(to_rgb(color)) + 1 - share


def colors_of(figure: Figure) -> dict[tuple, object]:
    """Every color in which something of a figure is drawn, and what that is."""
    found = {}
    for artist in figure.findobj():
        colors = []
        if isinstance(artist, Patch):
            colors = [artist.get_facecolor(), artist.get_edgecolor()]
        elif isinstance(artist, Line2D):
            colors = [artist.get_color(), artist.get_markerfacecolor(), artist.get_markeredgecolor()]
        elif isinstance(artist, Collection) and artist.get_array() is None:
            colors = [*artist.get_facecolor(), *artist.get_edgecolor()]
        elif isinstance(artist, Text):
            colors = [artist.get_color()]
        elif isinstance(artist, AxesImage) and artist.get_array().ndim == 3:
            colors = np.unique(np.asarray(artist.get_array()).reshape(-1, 3), axis=0)
        found |= {to_rgba(color)[:3]: artist for color in colors if to_rgba(color)[3] > 0}
    return found


def is_of_the_style(color: tuple) -> bool:
    """Whether it is a color that has a meaning, a shade of ink, or one of these over white."""
    missing = 1 - np.array(color)
    for known in [*MEANINGS.values(), *SHADES, "black", style.RULES["grid.color"]]:
        full = 1 - np.array(to_rgb(known))
        share = missing @ full / (full @ full)
        if -0.001 <= share <= 1.001 and np.allclose(missing, share * full, atol=0.01):
            return True
    return False


@each_example
def test_every_color_is_one_of_the_style(name):
    for color, artist in colors_of(drawn(name)).items():
        assert is_of_the_style(color) or is_on_the_scale(color, name), (to_hex(color), artist)


def is_on_the_scale(color: tuple, name: str) -> bool:
    """Heat maps alone have a scale of colors, beside which its numbers stand."""
    scale = np.array(colormaps["viridis"].colors)
    return name == "plot_heatmap" and bool(np.isclose(scale, color, atol=0.01).all(axis=1).any())


def test_curves_differ_without_color():
    looks = [style.curve_style(number) for number in range(12)]
    assert len({(str(look["linestyle"]), look["marker"]) for look in looks}) == 12


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


@each_example
def test_letters_are_dark_survive_a_projector_and_lie_within_the_figure(name):
    figure = drawn(name)
    width, height = figure.canvas.get_width_height()
    for text in visible_texts(figure):
        assert text.get_fontsize() >= style.SMALL, text
        # A mark beside a name has the color of its curve.
        assert same_color(text.get_color(), INK) or text.get_text() in style.MARKERS.values(), text
        box = extent(text)
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= width + 1, text
        assert box.y1 <= height + 1, text


@pytest.mark.parametrize(
    "name",
    ["plot_losses, close", "plot_curves", "plot_intervals, panels", "plot_bars", "plot_spread, titles"],
)
def test_no_name_lies_over_another(name):
    boxes = [(text, extent(text)) for text in visible_texts(drawn(name))]
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        assert a.x1 <= b.x0 + 1 or b.x1 <= a.x0 + 1 or a.y1 <= b.y0 + 1 or b.y1 <= a.y0 + 1, (one, other)


@each_example
def test_each_figure_is_as_wide_as_all_others_and_not_taller_than_a_screen(name):
    figure = drawn(name)
    width, height = figure.get_size_inches()
    assert isinstance(figure, style.LessonFigure)
    assert width == style.WIDTH
    assert height <= 7 or name in TALL
    pixels = height * style.SHOWN_DPI
    assert pixels == pytest.approx(round(pixels), abs=1e-4)  # whole ones, or the picture is not twice as large


@pytest.mark.parametrize("name", ["plot_windows", "plot_ledger, three", "plot_heatmap", "plot_losses"])
def test_a_notebook_shows_it_at_one_size_and_twice_as_sharp(name):
    before = dict(plt.rcParams)
    data, metadata = EXAMPLES[name]()._repr_mimebundle_()
    assert dict(plt.rcParams) == before
    assert plt.get_fignums() == []
    picture = base64.b64decode(data["image/png"])
    shown = metadata["image/png"]
    assert shown["width"] == 900
    with Image.open(io.BytesIO(picture)) as image:
        assert image.size == (2 * shown["width"], 2 * shown["height"])
    assert len(picture) < 150_000
    assert data["text/plain"] == style.FOLDED  # a sentence, where JupyterLab folds it


def test_two_pictures_of_one_thing_are_the_same_bytes_and_keep_its_colors():
    first, second = (EXAMPLES["plot_windows"]().png() for _ in range(2))
    assert first == second
    with Image.open(io.BytesIO(first)) as image:
        pixels = np.array([color for _, color in image.convert("RGB").getcolors()]) / 255
    for color in ("white", INPUTS, TARGETS, LOST):
        assert abs(pixels - to_rgb(color)).max(axis=1).min() < 0.02, color


def test_a_readers_style_changes_no_colors():
    with plt.style.context("dark_background"):
        figure = EXAMPLES["plot_windows"]()
    assert len(rectangles(axes_of(figure), INPUTS)) == 2
    assert same_color(figure.get_facecolor(), "white")


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        ([0.1, 0.9], [0.1, 0.9]),
        ([0.5, 0.5], [0.45, 0.55]),
        ([0.7, 0.2, 0.21, 0.24, 0.7], [0.65, 7 / 60, 13 / 60, 19 / 60, 0.75]),
        ([0.2, 0.45, 0.25], [0.175, 0.45, 0.275]),
        ([], []),
    ],
)
def test_spread_out_moves_no_more_than_it_must(wanted, places):
    assert style.spread_out(np.array(wanted), 0.1).tolist() == pytest.approx(places)


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


def test_what_cannot_be_drawn_is_a_sign_or_a_code_point_and_long_names_are_shortened(monkeypatch):
    assert signs("a b\n\t") == "a␣b↵⇥"
    assert signs("\r\u200b\xa0\ud800") == "U+000DU+200BU+00A0U+D800"
    assert row_name("x" * 300) == "x" * 43 + "…"
    assert in_a_box("harbour", 5) == "harb…"
    assert font_families()[0] == "DejaVu Sans"
    assert font_families(monospaced=True)[:2] == ("DejaVu Sans Mono", "DejaVu Sans")
    assert drawable("Straße ␣ €") == "Straße ␣ €"
    monkeypatch.setattr("course_lib.teaching.plots.letters._is_drawable", lambda letter: letter < "\u3000")
    assert drawable("a漢") == "aU+6F22"
    assert visible("漢 ") == "U+6F22␣"
    assert in_a_box("漢", 5) == "U+\n6F22"
