"""Slides: where a lesson is cut, how a slide is written, and that nothing overflows."""

import os
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import course_lib.__main__ as command_line
from browser_session import PATIENCE
from course_lib.classroom import slides
from course_lib.classroom.cutting import Slide, alternative_text, cut
from course_lib.classroom.rendering import (
    as_html,
    as_words,
    code_as_html,
    count_rows,
    formula_as_html,
    output_as_html,
    split_blocks,
)
from course_lib.teaching.lessons import Lesson, exercise_of, find_lessons

LESSONS = find_lessons()
SMALLEST_LETTERS = 14  # pixels, of a slide of 1280 x 720
SMALLEST_FIGURE = 0.7  # of the size at which a notebook shows it
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def figure(height: int = 300) -> nbformat.NotebookNode:
    size = {"image/png": {"width": 900, "height": height}}
    return new_output("display_data", {"image/png": PIXEL, "text/plain": "<Figure>"}, metadata=size)


def printed(text: str) -> nbformat.NotebookNode:
    return new_output("stream", text=text)


def texts(slide: Slide) -> list[str]:
    return [block.source for block in slide.blocks]


def test_headings_begin_slides_and_what_one_does_alone_is_left_out():
    stub = 'def {0}(x):\n    """Return what\n    {0} says."""\n    ...\n\nexercises.{0}.check({0})'
    count, measure = (new_code_cell(stub.format(x), metadata={"tags": ["exercise"]}) for x in ("count", "measure"))
    lesson = new_notebook(
        cells=[
            new_markdown_cell(
                "# 3. Title\n\n[Lesson before: x](02_x.ipynb) ·\n[Lesson after: y](04_y.ipynb)\n\nYou learn."
            ),
            new_code_cell("%pip install it", metadata={"tags": ["remove-cell"]}),
            new_markdown_cell("## 1. First\n\nOne.\n\n### Part\n\nTwo:"),
            new_code_cell("x = 1", outputs=[printed("1\n")]),
            new_code_cell("import numpy as np\n\nfrom math import pi"),
            new_markdown_cell("## 2. Exercises\n\nWrite the body.\n\n### `count`\n\nCount them."),
            count,
            new_markdown_cell("### 2. Measure\n\nHow long is each?"),
            measure,
            new_code_cell("show_scores(exercises)", outputs=[printed("0 of 2")]),
            new_markdown_cell("## 3. Recap\n\n- This."),
            new_markdown_cell("## Where everything lives\n\n| a | b |\n|---|---|\n\n**Next**: more."),
        ]
    )
    made = cut(lesson)
    assert [(slide.level, slide.title) for slide in made] == [
        (1, "3. Title"),
        (2, "First"),
        (3, "Part"),
        (2, "Exercises"),
        (2, "Recap"),
        (3, "Next"),
    ]
    assert [texts(slide) for slide in made] == [
        ["You learn."],
        ["One."],
        ["Two:", "x = 1", "1\n"],
        ["Each gives 3 points.", "- `count`: what count says.", "- `measure`: what measure says."],
        ["- This."],
        ["More."],
    ]


def test_an_answer_does_not_stand_beside_its_question():
    lesson = new_notebook(
        cells=[
            new_markdown_cell("# 1. T\n\nText.\n\n**Predict.** How many?"),
            new_code_cell('predict("How many?", 4)', outputs=[printed("folded")]),
            new_code_cell("print(4)", outputs=[printed("4")]),
            new_markdown_cell("Four.\n\n**Predict** another.\n\nThink of the end."),
            new_code_cell("print(5)", outputs=[printed("5")]),
        ]
    )
    made = cut(lesson)
    assert [texts(slide) for slide in made] == [
        ["Text.", "**Predict.** How many?", "folded"],
        ["print(4)", "4", "Four.", "**Predict** another.", "Think of the end."],
        ["print(5)", "5"],
    ]
    assert [block.kind for block in made[0].blocks] == ["prose", "prose", "prompt"]
    assert [slide.continued for slide in made] == [False, True, True]


def test_a_figure_keeps_its_sentence_which_is_its_alternative_text():
    code = "\n".join(["line = 1"] * 12)
    lesson = new_notebook(
        cells=[
            new_markdown_cell("## 1. S\n\nHere it is:"),
            new_code_cell(code, outputs=[figure(500)]),
            new_markdown_cell("It *rises*.\n\nMore."),
        ]
    )
    first, second = cut(lesson)
    assert texts(first) == ["Here it is:", code]
    assert [block.kind for block in second.blocks] == ["figure", "prose", "prose"]
    assert second.blocks[0].alt == "It rises."


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


def test_too_much_for_a_slide_is_divided_but_no_line_stands_alone():
    paragraph = "word " * 120
    lesson = new_notebook(cells=[new_markdown_cell("\n\n".join(["## 1. S", *[paragraph] * 5, "Short."]))])
    made = cut(lesson)
    assert [len(slide.blocks) for slide in made] == [2, 2, 2]
    assert [slide.level for slide in made] == [2, 3, 3]
    assert len(cut(lesson, room=10_000)) == 1


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


def test_rows_of_prose_are_counted_as_they_are_set():
    assert count_rows("one\nparagraph", letters=20) == 1
    assert count_rows("one paragraph", letters=10) == 2
    assert count_rows("| a | b |\n|---|---|\n| c | d |\n\n- e\n- f\n\n```\ng\n\nh\n```", letters=20) == 7


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_lesson_is_cut_into_slides_with_all_its_figures(lesson):
    made = cut(lesson.notebook)
    assert made[0].title == f"{lesson.number}. {lesson.title}"
    assert made[-1].title == "Next" or lesson is LESSONS[-1]
    assert all(slide.blocks and slide.title for slide in made)
    figures = [block for slide in made for block in slide.blocks if block.kind == "figure"]
    cells = lesson.notebook.cells
    (exercises,) = (
        number for number, cell in enumerate(cells) if re.search(r"^## \d+\. Exercises$", cell.source, re.M)
    )
    shown = [output for cell in cells[:exercises] for output in cell.get("outputs", [])]
    assert len(figures) == sum("image/png" in output.get("data", {}) for output in shown)
    assert all(len(block.alt) > 20 for block in figures)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_exercise_is_named_with_what_it_asks_for(lesson):
    tasks = [name for cell in lesson.notebook.cells if "def " in cell.source and (name := exercise_of(cell))]
    slides = [slide for slide in cut(lesson.notebook) if slide.title == "Exercises"]
    points, *asked = [text for slide in slides for text in texts(slide)]
    assert points == "Each gives 3 points."
    assert [re.fullmatch(r"- `(\w+)`: .{32,130}\.", sentence)[1] for sentence in asked] == tasks
    assert not any("Return" in sentence for sentence in asked)


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


def test_outputs_become_html():
    assert output_as_html(printed("a < \x1b[31mb\x1b[0m\n")) == '<pre class="printed">a &lt; b</pre>'
    picture = output_as_html(figure(), alt='"x" & y')
    assert picture.startswith(f'<img src="data:image/png;base64,{PIXEL}" width="900" height="300"')
    assert 'alt="&quot;x&quot; &amp; y"' in picture
    table = new_output("display_data", {"text/html": "<table></table>", "text/plain": "t"})
    assert output_as_html(table) == '<div class="html"><table></table></div>'
    assert output_as_html(new_output("display_data", {"text/markdown": "**a**"})) == "<p><strong>a</strong></p>"
    assert output_as_html(new_output("execute_result", {"text/plain": "7 < 8"})).count("7 &lt; 8") == 1


def test_a_page_needs_nothing_beside_it(tmp_path, capsys):
    out = tmp_path / "slides"
    assert command_line.main(["slides", str(out), "1", "2"]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["01_next_token_shifting.html", "02_sliding_windows.html"]
    text = (out / "02_sliding_windows.html").read_text(encoding="utf-8")
    asked = re.findall(r'<(?:script|img|link|iframe|video|audio|source)\b[^>]*?\b(?:src|href)="([^"]+)"', text)
    assert len(asked) > 4
    assert all(address.startswith("data:") for address in asked)
    assert not re.findall(r'<img(?![^>]*\balt="[^"])[^>]*>', text)
    assert "url(" not in text
    assert "@import" not in text
    # links lead to slides where there are some
    assert 'href="01_next_token_shifting.html"' in text
    for target in re.findall(r'<a href="([^"#]+)"', text):
        assert target.startswith("http") or (out / target).exists(), target
    assert command_line.main(["slides", str(out), "2"]) == 1
    assert "is there already" in capsys.readouterr().err


def test_a_page_holds_what_the_guide_says_of_its_lesson(tmp_path):
    notes = slides.notes_on(LESSONS[1])
    assert notes.startswith("[The lesson](02_sliding_windows.ipynb)")
    assert "**To discuss**" in notes
    assert notes.endswith("Without overlap they are different text.")
    assert slides.notes_on(LESSONS[-1]).count("**Where students stumble**") == 1
    assert "no notes" in slides.notes_on(Lesson(tmp_path / "02_mine.ipynb"))
    (tmp_path / "TEACHING.md").write_text("### 2. Mine\n\nSay `x < y`.", encoding="utf-8")
    assert slides.notes_on(Lesson(tmp_path / "02_mine.ipynb")) == "Say `x < y`."


def test_an_answer_is_folded_and_source_code_is_not():
    folded = "<details><summary>Guess</summary>4</details>"
    prompt = new_code_cell('predict("?", 4)', outputs=[new_output("execute_result", {"text/html": folded})])
    shown = new_code_cell("show_source(f)", outputs=[new_output("display_data", {"text/markdown": folded})])
    made = cut(new_notebook(cells=[new_markdown_cell("# 1. T\n\nText."), prompt, shown]))
    page = slides.as_page(LESSONS[0], made, str)
    assert page.count('<details class="answer">') == page.count("<details open>") == 1


def test_notebooks_for_jupyterlab_rise_are_cut_alike(tmp_path):
    assert command_line.main(["slides", str(tmp_path), "2", "--notebooks"]) == 0
    made = nbformat.read(tmp_path / "02_sliding_windows.ipynb", as_version=4)
    nbformat.validate(made)
    (lesson,) = find_lessons(["2"])
    kinds = [cell.metadata.slideshow.slide_type for cell in made.cells]
    assert kinds[0] == "slide"
    assert kinds.count("slide") + kinds.count("subslide") >= 40
    assert set(kinds) <= {"slide", "subslide", "-", "skip", "fragment"}
    assert not any("outputs_hidden" in str(cell.metadata) for cell in made.cells)
    code = [cell.source for cell in made.cells if cell.cell_type == "code"]
    assert code == [cell.source for cell in lesson.notebook.cells if cell.cell_type == "code"]
    exercises = [cell for cell in made.cells if "exercise" in cell.metadata.get("tags", [])]
    assert {cell.metadata.slideshow.slide_type for cell in exercises} == {"skip"}
    shown = "\n".join(cell.source for cell in made.cells if cell.metadata.slideshow.slide_type != "skip")
    assert "## How many windows are there?" in shown
    assert "**Predict" in shown


# In a browser

MEASURE = """() => {
  const found = [];
  const frames = [...document.querySelectorAll(".frame")];
  let figures = 0;
  frames.forEach((frame, index) => {
    frames.forEach((other) => other.classList.toggle("now", other === frame));
    frame.querySelectorAll("details").forEach((answer) => (answer.open = true));
    const slide = frame.querySelector(".slide"), body = frame.querySelector(".body");
    const report = (what) => found.push(`${index + 1} (${slide.firstElementChild.textContent}): ${what}`);
    const room = body.getBoundingClientRect();
    if (!body.textContent.trim() && !body.querySelector("img")) report("is empty");
    for (const element of body.querySelectorAll("*")) {
      const box = element.getBoundingClientRect();
      const beyond = Math.max(
        box.right - room.right, box.bottom - room.bottom, room.left - box.left, room.top - box.top);
      if (box.width && beyond > 2) report(`${element.tagName} reaches ${beyond} pixels beyond it`);
      const block = getComputedStyle(element).display !== "inline" && element.clientWidth;
      if (block && element.scrollWidth > element.clientWidth + 2) report(`${element.tagName} has to be scrolled`);
    }
    const texts = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const letters = parseFloat(getComputedStyle(texts.currentNode.parentElement).fontSize);
      if (texts.currentNode.textContent.trim() && letters < SMALLEST_LETTERS) report(`letters of ${letters} pixels`);
    }
    for (const image of body.querySelectorAll(".figure img")) {
      const box = image.getBoundingClientRect();
      const scale = Math.min(box.width / image.getAttribute("width"), box.height / image.getAttribute("height"));
      figures += 1;
      if (scale < SMALLEST_FIGURE) report(`a figure at ${scale} of its size`);
    }
  });
  return { slides: frames.length, figures, found };
}"""


@pytest.fixture(scope="module")
def tab(browser):
    """One for all tests: each that is opened starts a process of its own, which costs as much as a lesson's slides."""
    tab = browser.new_page()
    tab.set_default_timeout(1_000 * PATIENCE)
    tab.problems = []
    tab.on("pageerror", lambda error: tab.problems.append(str(error)))
    tab.on("console", lambda message: message.type == "error" and tab.problems.append(message.text))
    asked = tab.problems.append
    tab.on("request", lambda one: one.url.startswith(("file:", "data:")) or asked(one.url))
    return tab


@pytest.fixture
def page(tab):
    tab.set_viewport_size({"width": 1280, "height": 720})
    tab.problems.clear()
    return tab


def show(page: object, lesson: Lesson, notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Open the slides of a notebook, as those of a lesson."""
    path = folder / "slides.html"
    path.write_text(slides.as_page(lesson, cut(notebook), str), encoding="utf-8")
    page.goto(path.as_uri())
    page.wait_for_selector("body.ready")


@pytest.mark.browser
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_nothing_overflows_a_slide(lesson, page, tmp_path):
    show(page, lesson, lesson.notebook, tmp_path)
    if folder := os.environ.get("COURSE_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"slides_{lesson.number:02}.png")
    limits = f"const SMALLEST_LETTERS = {SMALLEST_LETTERS}, SMALLEST_FIGURE = {SMALLEST_FIGURE};"
    measured = page.evaluate(f"(() => {{ {limits} return ({MEASURE})(); }})()")
    assert measured["found"] == []
    assert measured["slides"] >= 30
    assert measured["figures"] >= 3
    assert page.problems == []


@pytest.mark.browser
def test_short_neighbors_are_joined_but_no_answer_to_its_question(page, tmp_path):
    asked = new_code_cell('predict("?", 4)', outputs=[new_output("execute_result", {"text/html": "<p>Four?</p>"})])
    long = "\n\n".join(["word " * 60] * 4)
    sections = ("# 1. T\n\nText.", "## 1. S\n\nOne.", "### A `part`\n\nTwo.", "### Asking\n\n**Predict.** How many?")
    after = ("It is four.", "### Longer\n\n" + long, "### Last\n\nThree.", "## 2. End\n\nDone.")
    cells = [*map(new_markdown_cell, sections), asked, *map(new_markdown_cell, after)]
    show(page, LESSONS[0], new_notebook(cells=cells), tmp_path)
    said = page.locator(".frame .slide").all_text_contents()
    assert [re.split(" word| Feeding", re.sub(r"\s+", " ", text).strip())[0] for text in said] == [
        "1. T Text.",
        "S One. A partTwo.AskingPredict. How many?Four?",
        "Asking It is four.",
        "Longer",
        "Last Three.",
        "End Done.",
    ]
    assert page.locator(".body > h3 code").inner_text() == "part"
    assert page.locator(".frame .number").last.text_content() == "6 of 6"


@pytest.mark.browser
def test_a_presenter_sees_what_comes_next_the_time_and_the_notes(page, tmp_path):
    folded = "<details><summary>Guess</summary><p>four</p></details>"
    prompt = new_code_cell('predict("?", 4)', outputs=[new_output("execute_result", {"text/html": folded})])
    texts = ("# 1. T\n\nText.", "## 1. Q\n\n**Predict.**"), ("## 2. Last\n\nDone.",)
    cells = [*map(new_markdown_cell, texts[0]), prompt, *map(new_markdown_cell, texts[1])]
    show(page, LESSONS[1], new_notebook(cells=cells), tmp_path)
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    view = opened.value
    view.on("pageerror", lambda error: page.problems.append(str(error)))
    view.set_viewport_size({"width": 1280, "height": 800})

    def sees(now, following):
        """What the room sees, and what the presenter sees besides; both open only if they are not folded."""
        shown = page.locator(".frame.now .slide").inner_text().split("Feeding")[0].split()
        assert shown == view.locator(".pane.now .slide").inner_text().split("Feeding")[0].split() == now.split()
        assert view.locator(".pane.next").inner_text().split("Feeding")[0].split() == following.split()

    sees("1. T Text.", "Q Predict. Guess")
    assert re.fullmatch(r"\d\d:\d\d( [AP]M)? · 0 min", view.locator(".clock").inner_text())
    notes = view.locator(".notes")
    assert "a fence with n posts has n - 1 gaps" in notes.inner_text()
    pane, drawn = view.locator(".pane.now").bounding_box(), view.locator(".pane.now .slide").bounding_box()
    assert all(abs(pane[side] - drawn[side]) < 1 for side in pane)
    assert view.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if folder := os.environ.get("COURSE_SCREENSHOTS"):
        view.screenshot(path=Path(folder) / "presenter.png")
    # keys do the same in both windows
    view.keyboard.press("PageDown")
    sees("Q Predict. Guess", "Q Predict. Guess four")
    page.keyboard.press("PageDown")
    sees("Q Predict. Guess four", "Last Done.")
    view.keyboard.press("ArrowLeft")
    sees("1. T Text.", "Q Predict. Guess")
    view.keyboard.press("End")
    sees("Last Done.", "")
    # but once the notes are clicked on, arrows scroll them
    notes.click()
    view.keyboard.press("ArrowUp")
    view.keyboard.press("ArrowDown")
    view.wait_for_function("document.querySelector('.notes').scrollTop > 0")
    sees("Last Done.", "")
    # a second key opens no third window, and none is left when the slides are
    page.keyboard.press("s")
    assert len(page.context.pages) == 2
    with view.expect_event("close"):
        page.goto("about:blank")
    assert page.problems == []


@pytest.mark.browser
def test_keys_go_through_the_slides_and_unfold_answers(page, tmp_path):
    folded = '<details><summary>Guess</summary><p id="four">4</p></details>'
    cells = [
        new_markdown_cell("# 1. T\n\nText."),
        new_markdown_cell("## 1. Q\n\n**Predict.**"),
        new_code_cell('predict("?", 4)', outputs=[new_output("execute_result", {"text/html": folded})]),
        new_markdown_cell("## 2. Long"),
        new_code_cell("x", outputs=[printed("\n".join(map(str, range(100))))]),
        new_markdown_cell("## 3. List\n\n" + "\n".join(f"1. item {number}" for number in range(60))),
        new_markdown_cell("## 4. Table\n\n| head |\n|---|\n" + "\n".join(f"| row {number} |" for number in range(60))),
    ]
    show(page, LESSONS[0], new_notebook(cells=cells), tmp_path)
    number = page.locator(".frame.now .number")
    count = int(number.inner_text().split()[-1])
    assert number.inner_text() == f"1 of {count}"
    page.keyboard.press("ArrowRight")
    assert not page.locator("#four").is_visible()
    page.keyboard.press("ArrowRight")
    assert page.locator("#four").is_visible()
    assert number.inner_text() == f"2 of {count}"
    page.keyboard.press("PageDown")
    assert number.inner_text() == f"3 of {count}"
    # what is too long goes on, and nothing of it is lost
    rows = " ".join(page.locator("pre.printed").all_text_contents()).split()
    assert rows == list(map(str, range(100)))
    assert page.locator("li").all_text_contents() == [f"item {number}" for number in range(60)]
    starts = page.evaluate("[...document.querySelectorAll('ol')].map((list) => [list.start, list.children.length])")
    assert len(starts) > 1
    assert [start for start, _ in starts] == [1 + sum(n for _, n in starts[:k]) for k in range(len(starts))]
    assert page.locator("td").all_text_contents() == [f"row {number}" for number in range(60)]
    assert page.locator("th").count() == page.locator("table").count() > 1
    page.keyboard.press("End")
    assert number.inner_text() == f"{count} of {count}"
    assert page.url.endswith(f"#{count}")
    page.keyboard.press("o")
    assert page.locator(".frame").first.is_visible()
    page.locator(".frame").first.click()
    assert number.inner_text() == f"1 of {count}"
    # the whole slide is seen in any window
    page.set_viewport_size({"width": 390, "height": 700})
    page.wait_for_function(
        """() => {
          const box = document.querySelector(".frame.now").getBoundingClientRect();
          return innerWidth === 390 && box.left >= 0 && box.right <= 390 && box.width > 380;
        }"""
    )
    # on paper every slide is whole
    page.emulate_media(media="print")
    assert page.evaluate("[...document.querySelectorAll('.frame')].map((frame) => frame.offsetHeight)") == [720] * count
    page.emulate_media(media="screen")
    assert page.problems == []
