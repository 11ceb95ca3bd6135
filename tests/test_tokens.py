"""Rows of tokens: as HTML, and as the text that outputs are compared by."""

import re

import pytest

from balanced_page import Balanced
from course_lib.teaching import TokenRows


def test_tokens_are_named_counted_and_told_apart():
    rows = TokenRows({"V = 256": ["a", " b"], "V = 300": ["a b"]})
    assert rows.text == "V = 256: 2 tokens  a|␣b\nV = 300: 1 token   a␣b"
    page = Balanced(rows.html)
    spans = [style for tag, style in page.tags if tag == "span"]
    shades = [re.search(r"background-color: ([^;]+)", style).group(1) for style in spans]
    assert len(shades) == 3
    assert shades[0] == shades[2] != shades[1]
    assert all("box-shadow" in style for style in spans)  # a border, whatever the shades


def test_ids_are_no_tokens():
    with pytest.raises(TypeError, match=r"tokens must .*got 5"):
        TokenRows({"V = 256": ["a", 5]})


def test_bytes_are_text_where_they_can_be_and_tokens_neither_markup_nor_formulas():
    first, second = "漢".encode()[:2], "漢".encode()[2:]
    assert TokenRows({"bytes": [first, second, "漢".encode(), b" a"]}).text == "bytes: 4 tokens  <E6 BC>|<A2>|漢|␣a"
    page = Balanced(TokenRows({"<i>": ["<b>", "$", "a$"]}).html)
    assert "".join(page.words).replace("\n", "") == "<i>: 3 tokens<b>$a$"
    assert not any("a$" in word for word in page.words)
