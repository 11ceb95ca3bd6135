"""What the site asks by itself: prompts and verdicts, judged as in a notebook; what it remembers, and what it finds."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

import publish
from book_site import PHONE, build_site
from course_lib.classroom import book
from course_lib.classroom.book_files import asked, lesson_pages
from course_lib.classroom.rendering import PROMPT
from course_lib.teaching import predict, record
from course_lib.teaching.guesses import answers, prompts
from course_lib.teaching.guesses.prompts import Prompt
from course_lib.teaching.lessons import exercise_of, find_lessons
from guess_cases import JUDGED, NONSENSE, UNREADABLE, WRITTEN

STATIC = book.FILES / "static"
(LESSON,) = find_lessons(["sliding_windows"])
PAGE = "notebooks/02_sliding_windows.html"
ASKED = sum("predict(" in cell.source for cell in LESSON.notebook.cells if cell.cell_type == "code")
# What else may be typed: small and large, signs, and what is no number after all.
TYPED = ["0", "4.4", "-0.00001", "1e-9", "12345.678", "999.96", "1e15", "1/0", "0^-1", "9e999", "3 %", "3 yes", "yes"]
NO_STORAGE = """Object.defineProperty(window, "localStorage", {
  configurable: true, get() { throw new DOMException("denied", "SecurityError") }
})"""


@pytest.fixture(autouse=True)
def new_session(monkeypatch):
    monkeypatch.setattr(prompts, "_replies", {})
    monkeypatch.setattr(record, "_of_this_kernel", {})


def as_shown(prompt: Prompt) -> Prompt:
    """What the site reads in a notebook that shows a prompt."""
    data = json.loads(json.dumps(prompt._repr_mimebundle_()))
    return asked.prompt_in(nbformat.v4.new_output("display_data", data))


def every_prompt() -> Iterator[tuple[Prompt, list[str]]]:
    """Each answer that is asked for in the tables, with guesses."""
    typed = {guess for row in WRITTEN.values() for guess in row if isinstance(guess, str)}
    typed |= {guess for guess in NONSENSE if isinstance(guess, str)}
    typed |= {guess for *_, right, wrong in JUDGED for guess in right + wrong if isinstance(guess, str)}
    typed |= set(TYPED)
    rows = [(answer, {}) for answer in WRITTEN] + [row[:2] for row in JUDGED]
    rows += [(answer, options) for answer, _, options, _ in UNREADABLE]
    for answer, options in rows:
        prompt = predict("How many?", answer, **options)
        yield prompt, prompt.labels or sorted(typed)


def test_a_prompt_is_read_from_what_its_cell_shows():
    for prompt, _ in every_prompt():
        read = as_shown(prompt)
        assert (read.question, read.labels, read.within) == (prompt.question, prompt.labels, prompt.within)
        assert answers.written(read.answer) == answers.without_marks(answers.written(prompt.answer))
        if not prompt.choices:
            assert type(read.answer) is type(prompt.answer)
    assert asked.prompt_in(nbformat.v4.new_output("display_data", {"text/plain": "7", "text/html": "<b>7</b>"})) is None


def test_every_prompt_and_every_verdict_of_the_course_is_asked_on_its_page():
    for lesson in find_lessons():
        cells = [cell for cell in lesson.notebook.cells if cell.cell_type == "code"]
        shown = [prompt for cell in cells for prompt in asked.prompts_of(cell)]
        assert len(shown) == sum(len(PROMPT.findall(cell.source)) for cell in cells) >= 5
        assert all(prompt.guess(prompt.answer).outcome == "passed" for prompt in shown)
        withins = [cell.source.count("within=") for cell in cells if PROMPT.search(cell.source)]
        assert sum(withins) == sum(prompt.within is not None for prompt in shown)
        guesses, verdicts = asked.ids_on(lesson)
        assert len({*guesses, *verdicts}) == len(guesses) + len(verdicts)
        assert len(verdicts) == sum('# "' in cell.source for cell in cells if exercise_of(cell)) >= 3


@pytest.mark.browser
def test_a_page_reads_and_judges_as_a_notebook_does(browser, tmp_path):
    page = browser.new_page()
    asked.write_guess_words(tmp_path / "guess_words.js")
    for script in (tmp_path / "guess_words.js", STATIC / "judging.js"):
        page.add_script_tag(path=script)
    cases = []
    for prompt, guesses in every_prompt():
        read = as_shown(prompt)
        for guess in guesses:
            prompts._replies.clear()
            record._of_this_kernel.clear()
            cases.append((asked.asked_by(read), guess, read.guess(guess)))
    judged = page.evaluate("cases => cases.map(c => judge(...c))", [case[:2] for case in cases])
    page.close()
    assert len(cases) > 2000
    for (question, text, reply), page_reply in zip(cases, judged, strict=True):
        assert page_reply["outcome"] == reply.outcome, (question, text, page_reply)
        said = answers.without_marks(reply.message)
        # A page shows a guess as it was typed.
        assert said.split(" You guessed")[0] == page_reply["message"].split(" You guessed")[0], text
        assert page_reply["message"].endswith(question["note"]) or reply.outcome != "failed", text


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    return build_site(tmp_path_factory.mktemp("book") / "site", [LESSON])


@pytest.fixture
def visit(visit, site):
    """Opens a page of the site by its path."""
    return lambda path, *scripts, **options: visit(f"{site.as_uri()}/{path}", *scripts, **options)


def prompt(page: object, number: int) -> object:
    return page.locator(".asked:has(.question)").nth(number)


def guess(page: object, number: int, text: str) -> str:
    """Type a guess, press Enter, and return what is said."""
    asked = prompt(page, number)
    asked.get_by_role("textbox").fill(text)
    asked.get_by_role("textbox").press("Enter")
    return said(asked)


def said(asked: object) -> str:
    return asked.get_by_role("status").inner_text().strip()


@pytest.mark.browser
def test_a_guess_is_judged_and_the_first_one_counts_and_lasts(visit):
    page = visit(PAGE)
    folded = prompt(page, 1).locator("xpath=following::details[contains(@class, 'below-input')]").first
    assert prompt(page, 1).get_by_role("textbox").get_attribute("aria-label").startswith("Your guess: N = 32")
    assert guess(page, 1, "many") == (
        "“many” is not understood. Please give 2 numbers, with spaces between. That was not counted."
    )
    assert folded.get_attribute("open") is None
    assert guess(page, 1, "7, 3") == "Right. The answer: 7, 3."
    assert folded.get_attribute("open") is not None, "what comes after the guess unfolds"
    why = "A window at 196 would have no id left for its last target."
    wrong = f"Not this time. The answer: 196, 195. You guessed 197 196. {why}"
    assert guess(page, 0, "197 196") == wrong
    assert guess(page, 0, "196 195") == "Right. The answer: 196, 195. Your first guess counts."
    assert page.locator(".tally strong").first.inner_text().strip() == f"1 of {ASKED} guesses right"
    assert page.locator(".tally p").first.locator(".failed").inner_text() == "✘"
    page.reload()
    assert said(prompt(page, 0)) == wrong
    assert said(prompt(page, 2)) == ""


@pytest.mark.browser
def test_a_choice_is_a_button_and_who_looks_first_is_not_counted(visit):
    page = visit(PAGE, **PHONE, color_scheme="dark")
    chosen, seen = prompt(page, 5), prompt(page, 3)
    chosen.get_by_role("button", name="stride 1, in order").focus()
    page.keyboard.press("Enter")
    assert said(chosen) == "Right. The answer: stride 1, in order."
    seen.locator("summary").focus()
    page.keyboard.press("Enter")
    assert seen.get_by_text("4", exact=True).is_visible()
    page.wait_for_function("document.querySelectorAll('.tally .seen').length")
    assert guess(page, 3, "4") == "Right. The answer: 4. (Not counted: you saw the answer.)"
    assert page.locator(".tally strong").first.inner_text().strip() == f"1 of {ASKED} guesses right"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
def test_a_verdict_is_judged_and_the_reason_unfolds(visit):
    page = visit(PAGE)
    verdicts = page.locator(".asked:not(:has(.question))")
    assert verdicts.count() == 5
    first, second = verdicts.nth(0), verdicts.nth(1)
    assert not first.get_by_text("counts windows of T ids").is_visible()
    first.get_by_role("group", name="bug or not a bug?").get_by_role("button", name="bug", exact=True).click()
    assert said(first) == "Right."
    assert first.get_by_text("counts windows of T ids").is_visible()
    second.get_by_role("button", name="bug", exact=True).click()
    assert said(second) == "Not this time."
    assert second.get_by_text("It is not a bug. It is right in all").is_visible()
    second.get_by_role("button", name="not a bug").click()
    assert said(second) == "Right. Your first guess counts."
    assert page.locator(".tally strong").last.inner_text().strip() == "1 of 5 verdicts right"


@pytest.mark.browser
def test_what_a_reader_did_is_added_up_and_can_be_forgotten(visit, site):
    page = visit(PAGE)
    guess(page, 1, "7 3")
    page.goto((site / "record.html").as_uri())
    assert page.locator("tbody .guesses").inner_text() == f"1 of {ASKED}, {ASKED - 1} open"
    assert page.locator("tfoot .guesses").inner_text() == f"1 of {ASKED}"
    assert page.locator("tfoot .verdicts").inner_text() == "0 of 5"
    assert not page.locator(".unkept").is_visible()
    page.emulate_media(media="print")
    assert page.locator("tbody .guesses").is_visible()
    assert not page.get_by_role("button", name="Print").is_visible()
    page.emulate_media(media="screen")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Forget everything").click()
    assert page.locator("tbody .guesses").inner_text() == f"0 of {ASKED}"
    assert page.evaluate("Object.keys(localStorage)") == []


@pytest.mark.browser
def test_a_browser_that_keeps_nothing_takes_guesses_too(visit):
    page = visit(PAGE, NO_STORAGE)
    assert guess(page, 1, "7 3") == "Right. The answer: 7, 3."
    assert page.locator(".tally strong").first.inner_text().strip() == f"1 of {ASKED} guesses right"
    page.reload()
    assert said(prompt(page, 1)) == ""
    assert visit("record.html", NO_STORAGE).locator(".unkept").is_visible()
    found = visit("search.html?q=stride", NO_STORAGE)
    found.wait_for_selector("#search-results li a >> text=Sliding windows")


@pytest.mark.browser
def test_without_a_script_answers_and_verdicts_are_there_to_be_unfolded(visit):
    page = visit(PAGE, java_script_enabled=False)
    assert page.locator(".asked form").count() == 0
    page.get_by_text("Guess, then unfold the answer").first.click()
    assert page.get_by_text("196, 195").first.is_visible()
    page.get_by_text("Decide, then unfold the verdict").first.click()
    assert page.get_by_text("counts windows of T ids").is_visible()


@pytest.mark.browser
def test_the_search_quotes_what_it_finds_in_a_folder_too_but_no_answer(visit, site):
    page = visit("search.html?q=torchtitan")
    assert "reported such a loader" in page.locator("#search-results li .context").first.inner_text()
    assert "196, 195" not in (site / "_static" / "excerpts.js").read_text(encoding="utf-8")


def test_a_page_says_once_how_to_open_its_lesson(site, tmp_path, monkeypatch):
    page = (site / PAGE).read_text(encoding="utf-8")
    assert page.count("Open this lesson</summary>") == 1
    told = re.sub(r"<[^>]+>", "", page)
    assert ".venv/bin/jupyter lab --ServerApp.root_dir=. notebooks/02_sliding_windows.ipynb\n" in told
    assert "mybinder" not in page
    assert "0 of 12 solved" not in page
    # a copy that was published has addresses
    line = publish.badges("https://github.com/name/course", "main")
    (tmp_path / "README.md").write_text(publish.with_badges("# Title\n", line))
    monkeypatch.setattr(lesson_pages, "notebooks_folder", lambda: tmp_path / "notebooks")
    told = lesson_pages._how_to_open(SimpleNamespace(path=LESSON.path))
    for address in (
        "[Binder](https://mybinder.org/v2/gh/name/course/main?urlpath=lab/tree/notebooks/02_sliding_windows.ipynb)",
        "[Colab](https://colab.research.google.com/github/name/course/blob/main/notebooks/02_sliding_windows.ipynb)",
    ):
        assert address in told


def test_the_start_tells_a_stranger_what_this_is_and_where_to_begin(site):
    page = (site / "index.html").read_text(encoding="utf-8")
    start = page[page.index("<h1>") : page.index("The lessons<a")]
    assert f'href="{PAGE}"' in start
    assert 'href="#the-shortest-way"' in start
    assert 'id="the-shortest-way"' in page
    assert 'href="record.html"' in start
    assert len(re.findall("<img[^>]* alt=", start)) == 1


def test_the_scripts_are_readable():
    lines = [line for path in STATIC.glob("*.js") for line in path.read_text(encoding="utf-8").splitlines()]
    assert max(map(len, lines)) <= 120
