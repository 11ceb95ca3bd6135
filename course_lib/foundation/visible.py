"""Text that is looked at, token by token: what draws nothing is written as a sign, and
what a browser would take for markup is not."""

import html
import unicodedata

SCROLLING = "overflow-x: auto; margin-bottom: 1em"  # for HTML wider than the window
SIGNS = {" ": "␣", "\n": "↵", "\t": "⇥"}
HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zs", "Zl", "Zp")  # categories that draw nothing


def _byte_characters() -> list[str]:
    """Give each byte a visible character, as GPT-2 does: itself, or one from 256 on."""
    printable = {
        *range(ord("!"), ord("~") + 1),
        *range(ord("¡"), ord("¬") + 1),
        *range(ord("®"), ord("ÿ") + 1),
    }
    others = iter(range(256, 512))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


BYTE_CHARACTERS = _byte_characters()


def signs(text: str) -> str:
    """Make spaces, tabs and line ends visible, and write control characters as code
    points."""
    return "".join(SIGNS.get(letter, _named(letter)) for letter in text)


def _named(letter: str) -> str:
    hidden = unicodedata.category(letter) in HIDDEN
    return f"U+{ord(letter):04X}" if hidden else letter


def spelled(token: str | bytes) -> str:
    """Write a token with signs; bytes that are not text alone, in hexadecimal."""
    if not isinstance(token, str | bytes):
        raise TypeError(f"tokens must be text or bytes, got {token!r:.60}")
    if isinstance(token, bytes):
        try:
            token = token.decode("utf-8")
        except UnicodeDecodeError:
            return f"<{token.hex(' ').upper()}>"
    return signs(token)


def plain(text: str) -> str:
    """Write text for HTML so that none of it is markup, nor a formula between `$`."""
    escaped = html.escape(text, quote=False).replace("\n", "<br>")
    return escaped.replace("$", "<span>$</span>").replace("\\", "<span>\\</span>")
