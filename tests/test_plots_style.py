"""The style of all figures: colors that any eye tells apart, on paper and on a wall, in every figure, and letters that
can be read.
"""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from course_lib.document_packing import document_mask
from course_lib.foundation import token_ledger
from course_lib.teaching import inspect_packs, plots
from course_lib.teaching.plots import style
from course_lib.teaching.plots.style import INK, MEANINGS, SHADES
from test_plots import EXAMPLES

MASKS = {"causal": document_mask([0], 6), "document": document_mask([0, 3], 6)}
STEPS = {"tokenize": {"worker 0": [(0, 2, "a"), (2, 3, "b")], "worker 1": [(0, 1, "c")]}}
# Of each public function one figure with as many kinds of things in it as there are; the others stand in test_plots.
FIGURES = {
    "plot_shift": EXAMPLES["long shift"],
    "plot_windows": lambda: plots.plot_windows([[8, 0], [12, 4]], 4, 24, ledger=token_ledger([8, 0, 12, 4], 24, 4)),
    "plot_cuts": EXAMPLES["cuts"],
    "plot_tracks": lambda: plots.plot_tracks([[1, 11, 21], [5, 15, 25]], 4, 10, carried=True),
    "plot_scored_windows": EXAMPLES["scored windows"],
    "plot_ledger": EXAMPLES["reasons"],
    "plot_losses": lambda: plots.plot_losses({"a": [3, 2], "b": [3, 1]}, {"floor": 1}, meanings={"a": "right"}),
    "plot_curves": EXAMPLES["curves"],
    "plot_intervals": EXAMPLES["panels"],
    "plot_bars": EXAMPLES["bars"],
    "plot_dots": EXAMPLES["dots"],
    "plot_spread": lambda: plots.plot_spread(
        {"a": [1, 2], "b": [2, 3]}, xlabel="bits", meanings={"b": "wrong"}, paired=True
    ),
    "plot_heatmap": EXAMPLES["heatmap"],
    "plot_merge_tree": EXAMPLES["tree"],
    "plot_pieces": EXAMPLES["pieces"],
    "plot_chunks": lambda: plots.plot_chunks({"overlap 2": [0, 6, 12]}, 20, 8),
    "plot_padding": lambda: plots.plot_padding({"as they come": [[5, 2], [3, 1]]}),
    "plot_packs": lambda: plots.plot_packs({"padding": [[0], [1]], "packing": [[0, 1]]}, [5, 3], 9),
    "plot_pieces_of_packs": lambda: plots.plot_pieces_of_packs([[3, 5], [4]], 8, cut=[[False, True], [True]]),
    "plot_mask": lambda: plots.plot_mask(MASKS, [0, 3]),
    "plot_positions": lambda: plots.plot_positions(
        {"running": range(6), "reset": [0, 1, 2, 0, 1, 2]}, [0, 3], meanings={"reset": "right"}
    ),
    "plot_shards": lambda: plots.plot_shards([6, 6, 3], [0, 4, 9], [0, 5, 10], 3),
    "plot_orders": lambda: plots.plot_orders({"shuffled": [3, 0, 2, 1]}, size=4),
    "plot_readers": lambda: plots.plot_readers({"rank 0": [0, 2, 4], "rank 1": [1, 2]}, 7),
    "plot_timeline": lambda: plots.plot_timeline(STEPS, xlabel="seconds"),
    "plot_waits": lambda: plots.plot_waits({"in order": [[1, 2], [2, 1]]}, xlabel="tokens"),
    "inspect_packs": lambda: inspect_packs(
        [{"input_ids": [5, 0, 6], "document_starts": [0, 2]}, {"input_ids": [7], "document_starts": [0]}],
        4,
        eos_token_id=0,
    ),
}
each_figure = pytest.mark.parametrize("name", FIGURES)


def test_every_public_function_that_draws_has_its_figure_here():
    drawing = [
        name for name, value in vars(plots).items() if inspect.isfunction(value) and not name.startswith("show_")
    ]
    assert set(drawing) == set(FIGURES)


# Colors


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


@each_figure
def test_every_color_is_one_of_the_style(name, capsys):
    figure = FIGURES[name]()
    for color, artist in colors_of(figure).items():
        assert is_of_the_style(color) or is_on_the_scale(color, name), (to_hex(color), artist)


def is_on_the_scale(color: tuple, name: str) -> bool:
    """Heat maps alone have a scale of colors, beside which its numbers stand."""
    scale = np.array(colormaps["viridis"].colors)
    return name == "plot_heatmap" and bool(np.isclose(scale, color, atol=0.01).all(axis=1).any())


# Letters and sizes


@each_figure
def test_letters_are_large_and_dark_enough_and_the_figure_is_sharp(name, capsys):
    figure = FIGURES[name]()
    for text in figure.findobj(Text):
        if text.get_text():
            assert text.get_fontsize() >= style.SMALL, text
            assert to_hex(text.get_color()) == INK, text
    assert isinstance(figure, style.LessonFigure)
    assert figure.get_size_inches()[0] == style.WIDTH
    assert style.SHARPNESS >= 2
    height = figure.get_size_inches()[1] * style.SHOWN_DPI
    assert height == pytest.approx(round(height), abs=1e-4)  # whole pixels, or the picture is not twice as large
