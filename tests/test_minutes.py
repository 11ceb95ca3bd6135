"""What is counted of a lesson."""

from pathlib import Path

import nbformat

import minutes

PROMPT = 'predict({"a": 1})'


def lesson_of(tmp_path: Path, *cells: object) -> minutes.Measure:
    """A lesson of prose (text), code (bytes), and code with tags (a pair)."""
    made = []
    for cell in cells:
        if isinstance(cell, str):
            made.append(nbformat.v4.new_markdown_cell(cell))
        elif isinstance(cell, bytes):
            made.append(nbformat.v4.new_code_cell(cell.decode()))
        else:
            source, tag = cell
            made.append(nbformat.v4.new_code_cell(source, metadata={"tags": [tag]}))
    path = tmp_path / "lesson.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=made), path)
    return minutes.measure(path)


def test_words_lines_guesses_and_verdicts_make_the_minutes(tmp_path):
    prose = "## 1. Words\n\n" + "word " * 597  # 3 minutes with its heading
    code = b"\n\n".join(b"x = 1" for _ in range(20))  # 2
    prompts = [(PROMPT, "hide-input")] * 3
    verdict = ('answer = ...  # "bug" or "not a bug"?\ncheck(answer)', "exercise")
    found = lesson_of(tmp_path, prose, code, *prompts, "## 2. Bug or not? Or else?", verdict)
    assert found.core.words == 600 + 7
    assert found.core.lines == 20
    assert found.core.questions == 4
    assert found.core.minutes == 607 / 200 + 2 + 4
    assert found.minutes == (10, 10)
    assert found.lines_in_sight == 22


def test_what_is_optional_says_so_in_its_heading_and_exercises_are_apart(tmp_path):
    exercise = ("def f():\n    ...\n\nf.check(f)", "exercise")
    found = lesson_of(
        tmp_path,
        "## 1. Core\n\none\n\n### Inside (*optional*)\n\n#### Deeper\n\na b c\n\n### Core again\n\none",
        "## 2. Going further (*optional*)\n\na b\n\n### More\n\na",
        b"x = 1",
        "## 3. Exercises\n\n### `f`\n\n**Core exercise.** Write it.\n\n### `g`\n\nWrite it (*optional*).",
        b"import math",
        exercise,
        exercise,
        "## 4. Recap\n\nfive",
    )
    assert found.optional.words == 8 + 10  # with the headings
    assert found.core.words == 4 + 4 + 4
    assert (found.optional.lines, found.core.lines) == (1, 0)
    assert (found.exercises, found.core_exercises) == (2, 1)
    assert found.lines_in_sight == 1 + 1 + 3 + 3


def test_code_in_a_row_is_counted_and_a_few_words_between_do_not_hide_it(tmp_path):
    prose, folded = "word " * 20, ("x = 1\n" * 9, "hide-input")
    asked = (PROMPT, "hide-input")
    found = lesson_of(tmp_path, "## 1. A", b"x = 1", "Then:", b"x\nx", folded, b"x\n\nx\nx", prose, b"x", asked, b"x")
    assert found.longest_run == 3
    assert found.longest_wait == 4
    assert found.longest_cell == 3
    found = lesson_of(tmp_path, "## 1. A", b"x", asked, b"x", "### B", b"x", asked, "## 2. Bug or not?", b"x\n" * 9)
    assert (found.longest_run, found.longest_wait, found.longest_cell) == (1, 1, 1)


def test_a_source_is_read_where_it_is_shown_and_not_where_it_is_folded(tmp_path):
    shown = "`course_lib/a.py`\n\n```python\ndef f():\n    return 1\n```\n"
    for text, lines in ((shown, 2), (f"<details><summary>f</summary>{shown}</details>", 0)):
        data = {"text/markdown": text}
        cell = nbformat.v4.new_code_cell("show_source(f)")
        cell.outputs = [nbformat.v4.new_output("display_data", data)]
        path = tmp_path / "lesson.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
        assert minutes.measure(path).core.lines == 1 + lines
