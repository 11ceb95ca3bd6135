"""One style for every figure of the course: what a color means, and what all pictures
share. A color never carries a meaning alone: a hatch, a marker or a label also does.
What has no meaning of its own is drawn in ink, the color of text.
"""

import base64
import hashlib
import io
from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np
from matplotlib import font_manager, style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from course_lib.foundation import as_numbers, check_type, signs

INK, INPUTS, TARGETS, LOST = "#16161e", "#2f55e0", "#e8590c", "#757575"
RIGHT, WRONG = "#00523a", "#8b1c8f"
# Meaning to color, how much of it fills a box, and hatch. Each color contrasts with
# white by 3:1 or more, and with the others for all kinds of eyes. The names that end in
# 2 only tell neighbors apart.
LOOKS = {
    "inputs": (INPUTS, 0.25, ""),
    "inputs2": (INPUTS, 0.45, ""),
    "targets": (TARGETS, 0.3, "///"),
    "lost": (LOST, 0.25, "xxxx"),
    "right": (RIGHT, 0.3, ""),
    "wrong": (WRONG, 0.3, "..."),
    "plain": (INK, 0, ""),
    "plain2": (INK, 0.14, ""),
}
# Curves and rows without a meaning: shades of ink, with other dashes and markers.
SHADES = (INK, "#55606e", "#808a98")
# Every picture keeps it, so that a test finds those that are older than a change above.
PALETTE = hashlib.sha256(repr((LOOKS, SHADES)).encode()).hexdigest()[:12]
DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)))
MARKERS = {"o": "●", "s": "■", "^": "▲", "D": "◆", "v": "▼", "P": "✚", "X": "✖"}
# The ground of what is written over a hatch or a line.
LEGIBLE = {"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.85}

WIDTH = 9.0  # inches, of every figure: 900 pixels, which a usual window shows
SMALL, NORMAL = 10, 11  # points, at the size at which a notebook shows the figure
LETTER = 0.085  # inches of a small letter, on average
LONGEST_NAME = 44
MOST_ROWS, MOST_CURVES = 40, 16
EXTREME = 1e100  # larger numbers, or smaller than its inverse, no axis can hold
# What JupyterLab shows of a figure whose output is folded.
FOLDED = "A picture: guess first if you are asked, then click here to see it."
# The first one comes with matplotlib, and holds no Chinese, Japanese or Korean. Any of
# the others may be installed, and then fill in for it.
FONTS = (
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "Malgun Gothic",
    "Segoe UI Symbol",
    "Noto Emoji",
    "Arial Unicode MS",
)
INSTALLED = [name for name in FONTS if name in font_manager.get_font_names()]
RULES = {
    "font.family": INSTALLED,
    "font.size": NORMAL,
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
}
# A decorator: it draws in the style of the course, whatever the reader's own is.
styled = style.context(["default", RULES])


class LessonFigure(Figure):
    """A figure that a notebook shows at one size, and sharply on any screen.

    Its `words` say what is drawn, for whoever doesn't see it. A site makes them its
    alternative text. JupyterLab has no place for them, except inside an answer.
    """

    words = ""

    def _repr_mimebundle_(self, **_: object) -> tuple[dict, dict]:
        width, height = (round(100 * inches) for inches in self.get_size_inches())
        encoded = base64.b64encode(self.png()).decode("ascii")
        data = {"image/png": encoded, "text/plain": FOLDED}
        shown = {"width": width, "height": height, "alt": self.words}
        return data, {"image/png": shown}

    @styled
    def png(self) -> bytes:
        canvas, picture = FigureCanvasAgg(self), io.BytesIO()
        self.set_dpi(200)
        canvas.draw()  # `savefig` would draw it twice, and write a picture to be read
        pixels = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
        # as many colors as a picture needs, and a third of the bytes
        few = pixels.quantize(256, dither=Image.Dither.NONE)
        few.save(picture, format="png", pnginfo=drawn_with())
        return picture.getvalue()


def drawn_with(**more: str) -> PngInfo:
    """What a picture says of how it was made."""
    info = PngInfo()
    for name, text in {"Palette": PALETTE, **more}.items():
        info.add_text(name, text)
    return info


def new_panels(
    height: float, rows: int = 1, columns: int = 1, **how: object
) -> tuple[Figure, list[Axes]]:
    """Make a figure that no list of open figures holds, or it would be shown twice."""
    # whole pixels, also where a product of floats falls a little short of them
    size = WIDTH, round(height, 2) + 1e-9
    figure = LessonFigure(figsize=size, layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, **how).flat)


def look_of(meaning: str) -> dict[str, object]:
    """How a box looks that has this meaning."""
    color, shade, hatch = LOOKS[meaning]
    return {"facecolor": to_rgba(color, shade), "edgecolor": color, "hatch": hatch}


def curve_style(number: int, meaning: str | None = None) -> dict[str, object]:
    """Color, dashes and marker of the curve with this number: no two are alike."""
    return {
        "color": LOOKS[meaning][0] if meaning else SHADES[number % len(SHADES)],
        "linestyle": DASHES[number % len(DASHES)],
        "marker": list(MARKERS)[number % len(MARKERS)],
        "markersize": 6,
    }


def explain(figure: Figure, handles: Iterable[object]) -> None:
    """Say above the picture what is drawn, once for each name."""
    named = {handle.get_label(): handle for handle in handles}
    if named:
        inches = sum(0.075 * len(name) + 0.6 for name in named)
        lines = int(inches // (WIDTH - 0.2)) + 1
        columns = -(-len(named) // lines)
        place = {"loc": "outside upper left", "ncols": columns, "columnspacing": 1.6}
        figure.legend(handles=list(named.values()), handlelength=1.6, **place)


def samples(keys: Mapping[str, str]) -> list[Patch]:
    """A box for each meaning, called as `keys` says."""
    return [Patch(label=name, **look_of(meaning)) for meaning, name in keys.items()]


def add_remark(figure: Figure, remark: str) -> None:
    look = {"fontsize": SMALL, "fontstyle": "italic", "x": 0.01, "ha": "left"}
    figure.supxlabel(remark, **look)


def number(value: float) -> str:
    """Write a number in words about a figure: three digits are heard, more are not."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def sentence(*parts: str) -> str:
    """Join what is said of a figure; what is drawn, then each of its rows or curves."""
    return ". ".join(filter(None, parts)) + "."


def name_of(name: object) -> str:
    """The name of a row or a curve, shortened if it is long."""
    text = str(name)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def drawable(text: object) -> str:
    """Make spaces visible, and write letters that no installed font holds as code
    points, instead of the empty boxes that they would leave."""
    letters = signs(str(text))
    if letters.isascii():
        return letters
    return "".join(x if ord(x) in _held() else f"U+{ord(x):04X}" for x in letters)


@cache
def _held() -> set[int]:
    paths = [font_manager.findfont(name) for name in INSTALLED]
    return set().union(*(font_manager.get_font(path).get_charmap() for path in paths))


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


def check_names(name: str, values: Mapping, most: int) -> Mapping:
    """Return a mapping of names, a few but at least one."""
    if not 1 <= len(check_type(name, values, Mapping)) <= most:
        wanted = f"1 to {most} names"
        raise ValueError(f"{name} must have {wanted}, got {len(values)}")
    return values
