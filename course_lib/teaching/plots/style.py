"""One style for every figure of the course: what a color means, sizes, and the shapes
that pictures share. A color never carries a meaning alone: a hatch, a marker or a label
also does. What has no meaning of its own is drawn in ink, the color of text.
"""

import base64
import functools
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec

import numpy as np
from matplotlib import style
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from PIL import Image

from course_lib.foundation import (
    as_integers,
    as_numbers,
    check_choice,
    check_integer,
    check_range,
)
from course_lib.teaching.plots.letters import font_families, row_name

# Each contrasts with white by 3:1 or more, and with the others for all kinds of eyes.
MEANINGS = {
    "inputs": "#2f55e0",
    "targets": "#e8590c",
    "lost": "#757575",
    "right": "#00523a",
    "wrong": "#8b1c8f",
    "neutral": "#16161e",
}
INPUTS, TARGETS, LOST, RIGHT, WRONG, INK = MEANINGS.values()

# Curves and rows without a meaning: shades of ink, with other dashes and markers.
SHADES = (INK, "#55606e", "#808a98")
DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)))
MARKERS = {"o": "●", "s": "■", "^": "▲", "D": "◆", "v": "▼", "P": "✚", "X": "✖"}
TARGETS_HATCH, LOST_HATCH = "///", "xxxx"
DOTTED = {"color": INK, "linewidth": 1, "linestyle": (0, (1, 2))}
LEADS_TO_A_NAME = {"arrowstyle": "-", "linewidth": 0.7, "shrinkA": 1, "shrinkB": 4}
# The ground of what is written over a hatch or a line.
LEGIBLE = {"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.85}

WIDTH = 9.0  # inches, of every figure: 900 pixels, which a usual window shows
SHOWN_DPI, SHARPNESS = 100, 2
SMALL, NORMAL = 10, 11  # points, at the size at which a notebook shows the figure
LARGEST_PICTURE, MOST_ROWS, MOST_CURVES = 60, 40, 16
# What JupyterLab shows of a figure whose output is folded.
FOLDED = "A picture: guess first if you are asked, then click here to see it."
EXTREME = 1e100  # larger numbers, or smaller than its inverse, no axis can hold

RULES = {
    "font.family": list(font_families()),
    "font.size": NORMAL,
    "axes.labelsize": NORMAL,
    "axes.titlesize": NORMAL,
    "axes.titlelocation": "left",
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#d9d9de",
    "hatch.linewidth": 0.7,
    "text.parse_math": False,  # a label with two $ is no formula
    "figure.dpi": SHOWN_DPI,
}

P = ParamSpec("P")


class LessonFigure(Figure):
    """A figure that a notebook shows at one size, and sharply on any screen."""

    def _repr_mimebundle_(self, **_: object) -> tuple[dict, dict]:
        encoded = base64.b64encode(self.png()).decode("ascii")
        width, height = self.shown_size
        data = {"image/png": encoded, "text/plain": FOLDED}
        return data, {"image/png": {"width": width, "height": height}}

    @property
    def shown_size(self) -> tuple[int, int]:
        """Width and height in a notebook, in pixels of its page."""
        width, height = self.get_size_inches()
        return round(width * SHOWN_DPI), round(height * SHOWN_DPI)

    def png(self) -> bytes:
        drawn, picture = io.BytesIO(), io.BytesIO()
        with style.context(["default", RULES]):
            self.savefig(drawn, dpi=SHOWN_DPI * SHARPNESS, format="png")
        pixels = Image.open(drawn).convert("RGB")
        # as many colors as a picture needs, and a third of the bytes
        pixels.quantize(256, dither=Image.Dither.NONE).save(picture, format="png")
        return picture.getvalue()


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Let a function draw in the style of the course, whatever the reader's own is."""

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with style.context(["default", RULES]):
            return draw(*args, **kwargs)

    return drawn


def new_figure(height: float) -> tuple[Figure, Axes]:
    """Make a figure that no list of open figures holds, or it would be shown twice."""
    figure, (axes,) = new_panels(height)
    return figure, axes


def new_panels(
    height: float, rows: int = 1, columns: int = 1, **how: object
) -> tuple[Figure, np.ndarray]:
    # whole pixels, also where a product of floats falls a little short of them
    size = WIDTH, round(height * SHOWN_DPI) / SHOWN_DPI + 1e-9
    figure = LessonFigure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **how).ravel()


def without_frame(figure: Figure, axes: Axes) -> Figure:
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    return figure


def name_rows(axes: Axes, names: Mapping[float, str], **look: object) -> None:
    axes.set_yticks(list(names), list(map(row_name, names.values())), **look)


def sample(meaning: str, shade: float = 0.3) -> Rectangle:
    """A box in the color of a meaning, with the hatch that goes with it."""
    color = MEANINGS[meaning]
    hatch = {"targets": TARGETS_HATCH, "lost": LOST_HATCH}.get(meaning, "")
    return Rectangle((0, 0), 1, 1, fc=to_rgba(color, shade), ec=color, hatch=hatch)


def centered(axes: Axes, x: float, y: float, label: str, **look: object) -> Text:
    look = {"fontsize": SMALL, "ha": "center", "va": "center"} | look
    return axes.text(x, y, label, **look)


def explain(figure: Figure, keys: Mapping[str, str | Artist]) -> None:
    """Say above the picture what its boxes mean: name to a meaning, or to a sample."""
    widths = [0.075 * len(name) + 0.55 for name in keys]
    available = WIDTH - 0.2
    one_line = sum(widths) <= available
    figure.legend(
        [sample(key) if isinstance(key, str) else key for key in keys.values()],
        list(keys),
        loc="outside upper left",
        ncols=len(keys) if one_line else max(1, int(available / max(widths))),
        handlelength=1.6,
        borderaxespad=0.2,
        columnspacing=1.6,
    )


def add_remark(figure: Figure, remark: str) -> None:
    figure.supxlabel(remark, fontsize=SMALL, fontstyle="italic", x=0.01, ha="left")


def curve_style(number: int, meaning: str | None = None) -> dict[str, object]:
    """Color, dashes and marker of the curve with this number: no two are alike."""
    shade = SHADES[number % len(SHADES)]
    return {
        "color": MEANINGS[meaning] if meaning else shade,
        "linestyle": DASHES[number % len(DASHES)],
        "marker": list(MARKERS)[number % len(MARKERS)],
        "markersize": 6,
    }


def meaning_of(
    name: str, meanings: Mapping[str, str] | None, names: Iterable[str]
) -> str | None:
    """Look up what a row or curve means; every key must be one of `names`."""
    meanings = as_mapping("meanings", meanings)
    for key, meaning in meanings.items():
        check_choice("a key of meanings", key, names)
        check_choice(f"meanings[{key!r}]", meaning, MEANINGS)
    return meanings.get(name)


def as_levels(lines: Mapping[str, float] | None) -> Mapping[str, float]:
    """Return named numbers, none of them for None, to be drawn as lines."""
    lines = as_mapping("lines", lines, MOST_CURVES)
    if finite("lines", list(lines.values())).ndim != 1:
        raise ValueError(f"lines must be single numbers, got {lines!r:.60}")
    return lines


def draw_levels(axes: Axes, levels: Mapping[str, float]) -> list[tuple]:
    for level in levels.values():
        axes.axhline(level, **DOTTED, zorder=1)
    return [(None, y, name, {"color": INK}) for name, y in levels.items()]


def name_curves(axes: Axes, ends: list[tuple], levels: Iterable[tuple] = ()) -> None:
    """Write names on the right, each beside the end of its curve; none over another.

    `ends` are (x, y, name, look) of each; x is `None` for a line across. A curve that
    is alone has its name as the title.
    """
    ends = [*ends, *levels]
    if len(ends) == 1:
        axes.set_title(row_name(ends[0][2]))
        return
    bottom, top = axes.get_ylim()
    height = axes.figure.get_figheight() - 0.8
    wanted = np.array([(y - bottom) / (top - bottom) for _, y, _, _ in ends])
    places = spread_out(wanted, 1.35 * SMALL / 72 / height)
    for (x, y, name, look), place in zip(ends, places, strict=True):
        # Curves may end in one point: the marker tells which is which.
        sign = MARKERS.get(look.get("marker"))
        label = axes.annotate(
            sign or row_name(name),
            (1, y) if x is None else (x, y),
            (1.05, place),
            xycoords=("axes fraction", "data") if x is None else "data",
            textcoords="axes fraction",
            va="center",
            color=look["color"] if sign else INK,
            fontsize=SMALL,
            annotation_clip=False,
            arrowprops=LEADS_TO_A_NAME | {"color": look["color"]},
        )
        if sign:
            axes.annotate(
                row_name(name),
                (1, place),
                (4, 0),
                xycoords=(label, "axes fraction"),  # across, and up
                textcoords="offset points",
                va="center",
                fontsize=SMALL,
                annotation_clip=False,
            )


def spread_out(wanted: np.ndarray, gap: float) -> np.ndarray:
    """Move places apart until neighbors are `gap` away, and as little as that takes: an
    isotonic regression, a maximum of minima of means."""
    order, count = np.argsort(wanted, kind="stable"), len(wanted)
    gaps = gap * np.arange(count)
    places, moved = np.asarray(wanted)[order] - gaps, np.empty(count)
    for i in range(count):
        moved[order[i]] = gaps[i] + max(
            min(places[first:end].mean() for end in range(i + 1, count + 1))
            for first in range(i + 1)
        )
    return moved


def same_decimals(values: Sequence[float]) -> list[str]:
    """Write numbers with equally many decimals: enough for three digits of the largest
    and two of the smallest, and no more than three."""
    sizes = [abs(value) for value in values if value]
    decimals = 0
    if sizes and any(value != round(value) for value in values):
        smallest, largest = np.floor(np.log10([min(sizes), max(sizes)]))
        decimals = int(np.clip(max(1 - smallest, 2 - largest), 1, 3))
        # nobody needs zeros at the end of all of them
        while decimals > 1 and np.allclose(np.round(values, decimals - 1), values):
            decimals -= 1
    if sizes and not 0.001 <= min(sizes) <= max(sizes) < 1e12:
        return [f"{value:.3g}" for value in values]
    return [f"{value:,.{decimals}f}" for value in values]


def in_words(value: float, _: object = None) -> str:
    """Write a number at a tick: 10,000 and 10 million."""
    for size, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if abs(value) >= size:
            return f"{value / size:g} {name}"
    return f"{value:,g}"


def finite(name: str, values: object) -> np.ndarray:
    """View what is to be drawn as numbers; NaN, infinity, what is masked can't be."""
    array = as_numbers(name, values, "biuf")
    sizes = np.abs(array)
    bad = array[~(sizes <= EXTREME) | ((sizes > 0) & (sizes < 1 / EXTREME))]
    if bad.size:
        sizes = f"what is not 0 must be of {1 / EXTREME:g} ... {EXTREME:g}"
        raise ValueError(f"{name} must be finite to be drawn, got {bad[0]}; {sizes}")
    return array


def check_mapping(name: str, values: object, most: int | None = None) -> None:
    if not isinstance(values, Mapping):
        raise TypeError(f"{name} must be a mapping of names, got {values!r:.60}")
    if not values:
        raise ValueError(f"{name} must have at least one name, got none")
    if most is not None and len(values) > most:
        raise ValueError(f"{name} must have at most {most} names, got {len(values)}")


def as_mapping(name: str, values: object, most: int | None = None) -> Mapping:
    """Return a mapping, which may be empty; None is an empty one."""
    if values is None or (isinstance(values, Mapping) and not values):
        return {}
    check_mapping(name, values, most)
    return values


def read_each(
    name: str, values: object, read: Callable, *rest: object, most: int | None = None
) -> dict[str, Any]:
    """Read each value of a mapping by `read(its name in messages, value, *rest)`."""
    check_mapping(name, values, most)
    return {
        key: read(name if key == "" else f"{name}[{key!r}]", value, *rest)
        for key, value in values.items()
    }


def read_panels(name: str, values: object, *how: object, most: int) -> dict:
    """Read panels by title; anything else is one panel without a title."""
    panels = values if isinstance(values, Mapping) else {"": values}
    return read_each(name, panels, *how, most=most)


def check_few(name: str, number: object, most: int = LARGEST_PICTURE) -> int:
    """Return a number of things that are few enough to be looked at."""
    return check_integer(name, number, minimum=1, maximum=most)


def check_lengths(name: str, values: object) -> np.ndarray:
    lengths = as_integers(name, values).astype(np.int64)
    if lengths.ndim != 1 or (lengths < 1).any():
        got = f"got {lengths.tolist()!s:.60}"
        raise ValueError(f"{name} must be lengths of at least 1, {got}")
    return lengths


def check_rising(name: str, values: object, size: int) -> np.ndarray:
    """Return positions, each larger than the one before, in 0 ... `size` - 1."""
    positions = as_integers(name, values).astype(np.int64)
    if positions.ndim != 1 or (np.diff(positions) <= 0).any():
        raise ValueError(f"{name} must rise, got {positions.tolist()!s:.60}")
    return check_range(name, positions, size)


def check_starts(name: str, values: object, size: int) -> np.ndarray:
    """Return where pieces of something begin that has so many places: at 0, first."""
    starts = check_rising(name, values, size)
    if not starts.size or starts[0]:
        raise ValueError(f"{name} must begin with 0, got {starts.tolist()!s:.60}")
    return starts


def check_inside(name: str, starts: np.ndarray, length: int, num_tokens: int) -> None:
    """Refuse windows of so many ids that reach over an end of the stream."""
    outside = starts[(starts < 0) | (starts > num_tokens - length)]
    if outside.size:
        room = f"room for {length} ids in a stream of {num_tokens}"
        raise ValueError(f"{name} must leave {room}, got a window at {outside[0]}")
