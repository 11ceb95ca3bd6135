"""Tables: as HTML, and as the text that outputs are compared by."""

import re

import numpy as np
import pytest
import torch

from balanced_page import Balanced
from course_lib.teaching import Table, TokenRows, show_table, show_tokens

ROWS = [["stride 1", 123456, 2.5], ["stride T", 7, 11.0]]
HEADER = ["scheme", "tokens", "bits"]


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
    assert all("white-space: pre" in style for style in cells)
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
    for module in ("tables", "tokens"):
        monkeypatch.setattr(f"course_lib.teaching.{module}.display", lambda one: shown.append(one._repr_mimebundle_()))
    show()
    show()
    assert shown[0] == shown[1]
    assert shown[0].keys() == {"text/html", "text/plain"}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: Table([["a"]], []), "header must name"),
        (lambda: Table([["a", "b"]], ["x"]), r"rows\[0\] must have 1 cells"),
        (lambda: Table([["a"]] * 201, ["x"]), "at most 200"),
        (lambda: Table([["a"]], ["x"], align="<<"), "one sign for each"),
        (lambda: Table([["a"]], ["x"], align="|"), "align must consist of"),
        (lambda: TokenRows({}), "at least one name"),
        (lambda: TokenRows({"a": ["b"] * 2001}), "at most 2000 tokens"),
    ],
)
def test_what_cannot_be_shown_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()
