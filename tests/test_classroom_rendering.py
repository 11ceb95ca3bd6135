"""Markdown and what is in it, as the site and the guide show it."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_lib.classroom.rendering import (
    alternative_text,
    as_html,
    as_words,
    code_as_html,
    formula_as_html,
    split_blocks,
)
from course_lib.teaching.lessons import find_lessons

LESSONS = find_lessons()


@pytest.mark.parametrize(
    ("below", "told"),
    [
        (
            "Each *row* is a window of `T = 4.5`\nids, e.g. [here](x) or there. More.\n\nAnd more.",
            "Each row is a window of T = 4.5 ids, e.g. here or there.",
        ),
        ("Left is cheap. Both cost the same: a token. Done.", "Left is cheap. Both cost the same: a token."),
        ("## What now?\n\nText.", ""),
    ],
)
def test_a_figure_is_told_by_the_sentence_below_it_without_marks(below, told):
    lesson = new_notebook(cells=[new_code_cell("x"), new_markdown_cell(below)])
    assert alternative_text(0, lesson) == told
    assert alternative_text(1, lesson) == ""


@pytest.mark.parametrize(
    ("markdown", "blocks"),
    [
        ("a\nb\n\nc", ["a\nb", "c"]),
        ("## H\ntext", ["## H", "text"]),
        ("- a\n\n- b\n\n  of b\n\nc", ["- a\n\n- b\n\n  of b", "c"]),
        ("So:\n\n$$\nx\n$$\n\n| a |\n|---|\n| b |", ["So:", "$$\nx\n$$", "| a |\n|---|\n| b |"]),
        ("```\n# no heading\n\nx\n```\n\ny", ["```\n# no heading\n\nx\n```", "y"]),
        ("", [""]),
    ],
)
def test_markdown_is_split_where_a_paragraph_ends(markdown, blocks):
    assert split_blocks(markdown) == blocks


def test_markdown_becomes_html_with_code_tables_and_formulas():
    text = as_html("a **b** `x < y`\n\n```python\nprint(1)\n```\n\n| a |\n|---|\n| 1 |")
    assert "<strong>b</strong> <code>x &lt; y</code>" in text
    assert '<pre class="code"><code><span class="nb">print</span>' in text
    assert "<table>" in text
    assert as_words("An *old* `a < b`,\n[linked](x.html).") == "An old a < b, linked."
    assert "x &lt; y" in code_as_html("x < y", "no such language")


def test_every_formula_of_the_course_is_drawn_and_what_is_not_known_is_shown():
    texts = (cell.source for lesson in LESSONS for cell in lesson.notebook.cells if cell.cell_type == "markdown")
    formulas = re.findall(r"\$\$(.+?)\$\$", "\n\n".join(texts), re.DOTALL)
    assert formulas
    for formula in formulas:
        assert "\\" not in formula_as_html(formula), formula
    assert r"<mi>\nonsense</mi>" in formula_as_html(r"\nonsense < 1")
    assert '<div class="math block">\n<math' in as_html("$$\nx\n$$")
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"' in as_html("An $x$.")
