"""Tables and rows of tokens: as HTML, and as the text that outputs are compared by."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
import torch

from course_lib.bpe import BPETokenizer
from course_lib.teaching import show_table, show_tokens
from course_lib.teaching.plots.tables import Table
from course_lib.teaching.plots.tokenizations import TokenRows, makers_of

ROWS = [["stride 1", 123456, 2.5], ["stride T", 7, 11.0]]
HEADER = ["scheme", "tokens", "bits"]


class Balanced(HTMLParser):
    """Fails on tags that are not closed in their order, and collects what they hold."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open, self.tags, self.words = [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes).get("style", "")))
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        (np.int16(5), "5"),
        (np.float32(0.5), "0.5"),
        (-1234, "-1,234"),
        (True, "True"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (torch.tensor(5), "5"),
        (np.bool_(True), "True"),
        ("a b", "a b"),
        (10**20, "100,000,000,000,000,000,000"),
    ],
)
def test_each_kind_of_cell_has_one_form(cell, written):
    assert Table([[cell]], ["x"]).rows == [[written]]


@pytest.mark.parametrize(
    ("column", "side"),
    [
        ([1, 2], ">"),
        ([1.5, None], ">"),
        (["2.1 ± 0.1", "12.0 ± 0.3"], ">"),
        (["96 %", "4 %"], ">"),
        (["1,024", "-3"], ">"),
        (["16 kB", "x"], "<"),
        (["1 and 2"], "<"),
        ([None], "<"),
    ],
)
def test_numbers_stand_on_the_right_and_all_else_on_the_left(column, side):
    assert Table([[cell] for cell in column], ["x"]).align == side


def test_as_html_it_scrolls_and_no_cell_wraps():
    page = Balanced(Table(ROWS, HEADER, align="<^>", caption="Two strides").html)
    assert "overflow-x: auto" in page.tags[0][1]
    cells = [style for tag, style in page.tags if tag in ("td", "th")]
    assert len(cells) == 9
    assert all("white-space: nowrap" in style for style in cells)
    assert [re.search(r"text-align: (\w+)", style).group(1) for style in cells[:3]] == ["left", "center", "right"]
    assert [word for word in page.words if word.strip()][:4] == ["Two strides", *HEADER]


def test_cells_are_neither_markup_nor_formulas_and_a_table_without_rows_is_its_header():
    page = Balanced(Table([["<b>", "$x$", "a & b"]], ["<i>", r"\(", "c"]).html)
    assert "".join(page.words).replace("\n", "").strip() == r"<i>\(c<b>$x$a & b"
    assert "<b>" not in Table([["<b>"]], ["x"]).html
    # between two $ in one piece of text JupyterLab would typeset a formula
    assert not any("$x" in word or "x$" in word for word in page.words)
    assert Table([], ["a", "bc"]).text == "a  bc\n-  --"
    assert "<td" not in Table([], ["a"]).html


@pytest.mark.parametrize("show", [lambda: show_table(ROWS, HEADER), lambda: show_tokens({"a": ["b"]})])
def test_both_forms_are_shown_and_the_same_each_time(show, monkeypatch):
    shown = []
    for module in ("tables", "tokenizations"):
        monkeypatch.setattr(f"course_lib.teaching.plots.{module}.display", lambda data, raw: shown.append(data))
    show()
    show()
    assert shown[0] == shown[1]
    assert shown[0].keys() == {"text/html", "text/plain"}


def test_tokens_are_named_counted_and_told_apart():
    rows = TokenRows({"V = 256": ["a", " b"], "V = 300": ["a b"]})
    assert rows.text == "V = 256: 2 tokens  a|␣b\nV = 300: 1 token   a␣b"
    page = Balanced(rows.html)
    spans = [style for tag, style in page.tags if tag == "span"]
    shades = [re.search(r"background-color: ([^;]+)", style).group(1) for style in spans]
    assert len(shades) == 3
    assert shades[0] == shades[2] != shades[1]
    assert all("box-shadow" in style for style in spans)  # a border, whatever the shades


def test_a_box_says_which_merge_made_its_token_and_the_tabulator_stops_once_in_a_row():
    makers = makers_of(list(BPETokenizer.train("the the", 258).merges))
    assert (makers[b"he"], makers[b"the"], makers[b"e"]) == ("merge 1: h + e", "merge 2: t + he", "a byte")
    page = TokenRows({"one": [b"the", b"t", b"?!"], "two": ["text"]}, makers=makers).html
    assert re.findall(r' title="(.*?)" tabindex="(.*?)"', page) == [("merge 2: t + he", "0"), ("a byte", "-1")]
    assert " title=" not in TokenRows({"one": [b"the"]}).html


def test_bytes_are_text_where_they_can_be_and_tokens_neither_markup_nor_formulas():
    first, second = "漢".encode()[:2], "漢".encode()[2:]
    assert TokenRows({"bytes": [first, second, "漢".encode(), b" a"]}).text == "bytes: 4 tokens  <E6 BC>|<A2>|漢|␣a"
    page = Balanced(TokenRows({"<i>": ["<b>", "$", "a$"]}).html)
    assert "".join(page.words).replace("\n", "") == "<i>: 3 tokens<b>$a$"
    assert not any("a$" in word for word in page.words)
