"""Extract the text of a web page, before a tokenizer sees it.

How a text must be cleaned depends on where it comes from, which no tokenizer knows.
"""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

# Elements of HTML that begin and end a line, and elements within a line.
_BLOCKS = """
    address article aside blockquote body br caption dd details dialog div dl dt
    fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html li main
    nav ol option p pre section summary table tbody tfoot thead title tr ul
"""
_INLINE = """
    a abbr acronym audio b base bdi bdo big button canvas center cite code col
    colgroup data del dfn em embed font i iframe img input ins kbd label legend link map
    mark meta meter noscript object output param picture progress q s samp script select
    small source span strike strong style sub sup svg td template textarea th time track
    tt u var video wbr
"""
_BLOCK_TAGS = frozenset(_BLOCKS.split())
_ATTRIBUTES = r"""(?:[\s/](?:"[^"]*"|'[^']*'|[^<>"'])*)?"""
_MARKUP = rf"/?(?:{'|'.join((_BLOCKS + _INLINE).split())}){_ATTRIBUTES}>"
_MARKUP += r"|!doctype\b[^<>]*>|\?xml\b[^<>]*>"
_TAG = re.compile(rf"<(?:{_MARKUP})", re.IGNORECASE)
_OTHER_LESS_THAN = re.compile(rf"<(?!{_MARKUP})", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#[0-9]+|#x[0-9a-f]+|[a-z][a-z0-9]*);", re.IGNORECASE)


def strip_html(text: str) -> str:
    """Return what a reader of the page would see.

    Tags, comments, scripts and styles are removed, and entities are decoded once. A
    line break marks the beginning and the end of a block, and a space separates table
    cells.

    Only elements of HTML count as tags, so `a < b` and `List<int>` are text. But
    `#include <map>` and `a<b && c>d` do contain elements, so this function should not
    be used on source code. In a text without tags and comments, only the entities
    change.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, got {type(text).__name__}")
    without_comments = _cut_comments(text)
    if without_comments == text and not _TAG.search(text):
        return _ENTITY.sub(lambda entity: html.unescape(entity.group()), text)
    page = _Page()
    # A lenient parser would take any < before a letter for a tag: escape the others.
    page.feed(_OTHER_LESS_THAN.sub("&lt;", without_comments))
    page.close()
    return re.sub(r"\n{3,}", "\n\n", "".join(page.parts)).strip()


def _cut_comments(text: str) -> str:
    """Cut out `<!-- ... -->`. A comment without an end is text."""
    parts, end = [], 0
    while (first := text.find("<!--", end)) >= 0:
        last = text.find("-->", first + 4)
        if last < 0:
            break
        parts.append(text[end:first])
        end = last + 3
    return "".join([*parts, text[end:]])


class _Page(HTMLParser):
    """Collect the visible text of a page."""

    def __init__(self):
        # Entities are decoded by the parser, after it has found the tags.
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.hidden = False
        self.preformatted = 0

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.hidden = tag in ("script", "style")
        self.preformatted += tag == "pre"
        if tag in _BLOCK_TAGS:
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self.hidden = False
        if tag == "pre":  # there may be more ends than beginnings
            self.preformatted = max(0, self.preformatted - 1)
        if tag in _BLOCK_TAGS - {"br", "hr"}:  # these two are empty, and break once
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self.hidden:
            return
        # Outside of <pre>, indentation belongs to the markup and not to the text.
        kept = data if self.preformatted else re.sub(r"\n[ \t]+", "\n", data)
        self.parts.append(kept)
