"""What can be written into a figure: spaces as signs, and code points instead of the
empty boxes that a missing letter leaves."""

import unicodedata
from functools import cache

from matplotlib import font_manager

LONGEST_NAME = 44
SIGNS = {" ": "␣", "\n": "↵", "\t": "⇥"}
# The first one comes with matplotlib, and holds no Chinese, Japanese or Korean. Any of
# the others may be installed, and then fill in for it.
FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "Malgun Gothic",
    "Noto Sans",
    "Segoe UI Symbol",
    "Noto Emoji",
    "Arial Unicode MS",
)


@cache
def font_families(*, monospaced: bool = False) -> tuple[str, ...]:
    """Name the fonts of all figures, in the order in which a letter is looked up."""
    installed = {font.name for font in font_manager.fontManager.ttflist}
    first = ("DejaVu Sans Mono", "DejaVu Sans") if monospaced else ("DejaVu Sans",)
    return (*first, *(name for name in FONTS if name in installed))


def signs(text: str) -> str:
    """Make spaces, tabs and line ends visible, and write control characters as code
    points."""
    return "".join(SIGNS.get(letter, _named(letter)) for letter in text)


def drawable(text: str) -> str:
    """Write each letter that no installed font holds as its code point, as `U+6F22`."""
    return "".join(
        letter if letter == "\n" or _is_drawable(letter) else code_point(letter)
        for letter in str(text)
    )


def visible(text: str) -> str:
    """Do both: what a token looks like in a figure."""
    return drawable(signs(text))


def in_a_box(text: str, letters: int) -> str:
    """Like `visible`, shortened to so many letters; a code point alone takes two
    lines."""
    if len(text) == 1:
        return visible(text).replace("U+", "U+\n")
    return shortened(visible(text), letters)


def row_name(name: object) -> str:
    """Write the name of a row or a curve, shortened if it is long."""
    return drawable(shortened(str(name), LONGEST_NAME))


def shortened(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: max(1, letters - 1)] + "…"


def code_point(letter: str) -> str:
    return f"U+{ord(letter):04X}"


def _named(letter: str) -> str:
    # Control and format characters, half surrogates, other spaces: all draw nothing.
    hidden = unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Zs", "Zl", "Zp")
    return code_point(letter) if hidden else letter


@cache
def _is_drawable(letter: str) -> bool:
    if unicodedata.category(letter) in ("Cc", "Cs"):
        return False
    return any(
        font_manager.get_font(font_manager.findfont(family)).get_char_index(ord(letter))
        for family in font_families()
    )
