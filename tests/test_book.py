"""The course as a web site: what a student reads, guesses and judges without a kernel."""

import contextlib
import html
import importlib.util
import io
import json
import re
import shutil
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest

from course_lib.__main__ import main
from course_lib.commands import book
from course_lib.teaching.checker import Question
from course_lib.teaching.lessons import Lesson, find_lessons, items_of

LESSONS = find_lessons(["2", "14"])
AXE, RULES = "4.14.1", ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A site of two lessons, about which Sphinx doesn't warn."""
    if not all(importlib.util.find_spec(name) for name in book.NEEDED):
        pytest.skip("no Sphinx")
    out, told = tmp_path_factory.mktemp("book") / "site", io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stderr(told):
        warnings.simplefilter("ignore")  # those of packages that are not the course's
        status = book.build(out, LESSONS)
    assert (status, told.getvalue()) == (0, "")
    return out


def page(site: Path, lesson: Lesson) -> str:
    return (site / "notebooks" / f"{lesson.path.stem}.html").read_text(encoding="utf-8")


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for link in map(unquote, re.findall(r'(?:href|src)="([^"]*)"', text)):
            target, _, place = link.partition("#")
            if not target.startswith(("http", "data:", "mailto:")):
                leads_to = path.parent / target.partition("?")[0] if target else path
                assert leads_to.exists(), (path.name, link)
                if place and leads_to.suffix == ".html":
                    ids = re.findall(r'\bid="([^"]+)"', leads_to.read_text(encoding="utf-8"))
                    assert place in ids, (path.name, link)
        loaded = re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(https?:[^"]*)"', text)
        assert not loaded, path.name


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_page_asks_what_the_lesson_asks_and_hides_what_it_answers(site, lesson):
    text = page(site, lesson)
    sources = [cell["source"] for cell in lesson.cells if cell["cell_type"] == "code"]
    prompts = sum("predict(" in source for source in sources)
    verdicts = [item for item in items_of(lesson.name).values() if isinstance(item, Question)]
    assert text.count('class="guess"') == prompts + len(verdicts)
    words = " ".join(html.unescape(re.sub("<[^>]*>", "", text)).split())
    assert all(item.explanation.split("`")[0].strip()[:15] in words for item in verdicts)
    hints = sum(len(getattr(item, "hints", ())) for item in items_of(lesson.name).values())
    assert len(re.findall(r"<summary>Hint \d", text)) == hints
    assert "Shift+Enter" not in text
    assert "pip install" not in text  # the cell that installs the course
    assert 'href="../index.html#get-the-course"' in text
    assert f"notebooks/{lesson.path.name}" in words


def unpacked(site: Path, to: Path) -> Path:
    (packed,) = site.rglob("*.zip")
    with zipfile.ZipFile(packed) as opened:
        opened.extractall(to)
    return to / book.COURSE


def test_the_site_brings_the_course_along_and_says_what_to_type(site, tmp_path):
    """What is downloaded opens: the course in the zip file finds its lessons and its texts."""
    course, index = unpacked(site, tmp_path), (site / "index.html").read_text(encoding="utf-8")
    assert len(list(course.glob("notebooks/??_*.ipynb"))) == len(find_lessons())
    assert (course / "data" / "story.txt").is_file()
    assert not [path for path in course.rglob("*") if path.name in ("__pycache__", ".venv", ".git")]
    program = "import course_lib.__main__ as m; from course_lib.foundation import load_text; load_text(); m.main([])"
    done = subprocess.run([sys.executable, "-c", program], cwd=course, capture_output=True, text=True)
    assert f"{course / 'notebooks' / '01_next_token_shifting.ipynb'}" in done.stdout, done.stderr
    opening = re.search(
        r"<!-- open command -->\s*```bash\n(.+?)\n```", (course / "README.md").read_text(encoding="utf-8")
    )
    words = html.unescape(re.sub("<[^>]*>", "", index))
    assert opening[1].split(" && ") == [line for line in words.splitlines() if ".venv" in line]
    assert " ".join(book.NO_ADDRESS.split()) in " ".join(words.split())
    assert not {"MEGABYTES", "NEWEST", "OPENING"} & set(re.findall(r"\w+", words))


def test_the_site_says_where_the_newest_version_is_if_that_is_known():
    page = book.first_page("https://example.org/course", 3.2)
    assert "The newest version is at <https://example.org/course>." in page
    assert book.NO_ADDRESS not in page
    assert "(3 MB)" in page
    assert book.check_address("") == ""
    with pytest.raises(ValueError, match=r"^--address must be one like https"):
        book.check_address("example.org")


@pytest.mark.parametrize("has_git", [True, False])
def test_only_what_belongs_to_the_course_is_given_away(tmp_path, monkeypatch, has_git):
    """With git, what it knows; without, what is in the folder, but nothing hidden."""
    there = ["pyproject.toml", "notebooks/01_a.ipynb", "course_lib/a.py", ".github/CONTRIBUTING.md"]
    private = ["notebooks/.ipynb_checkpoints/01_a.ipynb", "course_lib/__pycache__/a.pyc", ".venv/lib/x.py", ".env"]
    mine = "notebooks/my answers.ipynb"
    for name in [*there, *private, mine]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(book, "notebooks_folder", lambda: tmp_path / "notebooks")
    if has_git:
        for command in (["init", "-q"], ["add", *there]):
            subprocess.run(["git", *command], cwd=tmp_path, check=True)
    assert set(book.files_of_course()) == {*there} | (set() if has_git else {mine})


def test_figures_are_told_in_words(site):
    images = re.findall(r"<img[^>]*_images/[^>]*>", page(site, LESSONS[0]))
    assert images
    assert all(re.search(r'alt="[^"]{20,}"', image) for image in images if ".png" in image)


@pytest.mark.browser
def test_the_search_quotes_no_answers(site, visit):
    reader = visit((site / "search.html").as_uri())
    found = '<div role="main">asked <details><p>told</p><details>deep</details></details> after</div>'
    quoted = reader.evaluate("page => Search.htmlToText(page)", found)
    assert quoted.split() == ["asked", "after"]
    assert not reader.evaluate("DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY")  # of a file, nothing can be quoted


def test_folded_code_that_holds_an_answer_says_so_and_sliders_move(site):
    text, (lesson, _) = page(site, LESSONS[0]), LESSONS
    sources = [cell["source"] for cell in lesson.cells if cell["cell_type"] == "code"]
    assert text.count("Show the source, which holds the answer") == sum("predict(" in source for source in sources)
    assert text.count('class="frames"') == sum("play(" in source for source in sources) == 1


def test_the_front_page_says_what_each_lesson_asks(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    assert all(f'href="notebooks/{lesson.path.stem}.html"' in text for lesson in LESSONS)
    assert "How can all windows of a stream cost no memory" in text


@pytest.mark.browser
@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("token ledger", "2. Sliding windows > 7. The token ledger"),
        ("set_epoch", "2. Sliding windows > What if you forget set_epoch?"),
        ("block_size", "Questions people ask"),
    ],
)
def test_the_search_finds_headings_first_and_then_questions(site, visit, words, first):
    reader = visit(f"{(site / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    found = reader.locator("#search-results li a").first
    found.wait_for()
    assert found.inner_text() == first


@pytest.mark.browser
def test_a_slider_moved_by_keyboard_shows_pictures_that_were_drawn_ahead(site, visit):
    reader = visit((site / "notebooks" / f"{LESSONS[0].path.stem}.html").as_uri())
    block = reader.locator(".frames")
    before = block.locator("img").get_attribute("src")
    block.locator("input").focus()
    reader.keyboard.press("ArrowRight")
    assert block.locator("output").inner_text() == "4"
    after = block.locator("img").get_attribute("src")
    assert after != before
    assert (site / "notebooks" / after).is_file()
    assert "They start at 0, 4, 8, 12, 16." in block.locator("img").get_attribute("alt")


@pytest.fixture(scope="module")
def axe(tmp_path_factory) -> str:
    """The checks of accessibility that browsers' own tools run, of the version that is named here."""
    folder = tmp_path_factory.mktemp("axe")
    npm = shutil.which("npm")
    command = [npm or "", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), f"axe-core@{AXE}"]
    if npm is None or subprocess.run(command, capture_output=True, timeout=120).returncode:
        pytest.skip(f"npm can't bring axe-core {AXE}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def assert_that_axe_finds_nothing(site, visit, axe, theme):
    for path in sorted(site.glob("*.html")) + sorted(site.glob("notebooks/*.html")):
        reader = visit(path.as_uri(), color_scheme=theme)
        reader.evaluate(axe)
        for is_open in ("false", "true"):
            reader.evaluate(f"document.querySelectorAll('details').forEach((one) => {{ one.open = {is_open} }})")
            reader.wait_for_timeout(500)  # colors of what opens change slowly
            options = {"preload": False, "resultTypes": ["violations"], "runOnly": RULES}
            found = reader.evaluate("options => axe.run(document, options)", options)
            told = [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found["violations"]]
            assert told == [], (path.name, is_open)
        reader.close()


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_with_folds_open_and_closed(site, visit, axe, theme):
    assert_that_axe_finds_nothing(site, visit, axe, theme)


@pytest.mark.browser
@pytest.mark.weekly
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(visit, axe, theme, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of packages that are not the course's
        assert book.build(tmp_path, find_lessons([])) == 0
    assert_that_axe_finds_nothing(tmp_path, visit, axe, theme)


@pytest.mark.browser
def test_a_page_is_walked_by_keyboard_alone(site, visit):
    reader = visit(
        (site / "notebooks" / f"{LESSONS[0].path.stem}.html").as_uri(), viewport={"width": 700, "height": 900}
    )
    listing = reader.locator("article [tabindex='0']").first  # one that is too wide here
    listing.focus()
    reader.keyboard.press("ArrowRight")
    reader.wait_for_function("document.activeElement.scrollLeft > 0")
    prompt = reader.locator(".guess").first
    prompt.locator("input").first.focus()
    for _ in range(prompt.locator("input").count()):
        reader.keyboard.type("1")
        reader.keyboard.press("Tab")
    reader.keyboard.press("Enter")  # on the button
    prompt.locator("details[open]").wait_for()
    fold = reader.locator("details.hide summary").first
    fold.focus()
    reader.keyboard.press("Enter")
    assert fold.locator("xpath=..").get_attribute("open") is not None


@pytest.mark.browser
def test_on_a_phone_a_guess_unfolds_the_answer_and_nothing_is_cut(site, visit):
    reader = visit((site / "notebooks" / f"{LESSONS[0].path.stem}.html").as_uri(), **PHONE)
    prompt = reader.locator(".guess").first
    answer = prompt.locator("details p").first
    assert not answer.is_visible()
    for box in prompt.locator("input[type=text]").all():
        box.fill("1")
    prompt.get_by_role("button", name="Guess").click()
    answer.wait_for()
    assert "Not this time" in prompt.get_by_role("status").inner_text()
    verdict = reader.locator(".guess").last
    verdict.get_by_role("radio").first.check()
    verdict.get_by_role("button", name="Guess").click()
    verdict.locator("details pre, details p").first.wait_for()
    assert reader.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
    # a figure scrolls in its own box, so that its letters, of 14 pixels at 900, are never below 8
    widths = "[...document.querySelectorAll('.cell_output img')].map((one) => one.clientWidth)"
    assert min(reader.evaluate(widths)) >= 8 / 14 * 900
    answers = reader.locator(".guess img")
    assert answers.count() == reader.locator(".guess a > img").count() > 0  # each opens at its full size


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_no_page_is_wider_than_the_window_and_sources_fit(site, visit, lesson, width):
    reader = visit((site / "notebooks" / f"{lesson.path.stem}.html").as_uri(), viewport={"width": width, "height": 900})
    reader.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    assert reader.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
    listing = "[...document.querySelectorAll('.cell_input pre, .cell_output pre:has(.k)')]"
    widest = reader.evaluate(f"Math.max(...{listing}.map((one) => one.scrollWidth - one.clientWidth))")
    assert width == 390 or widest <= 0


def test_notebooks_that_somebody_has_worked_in_are_refused(tmp_path, monkeypatch, capsys):
    lesson = LESSONS[0]
    for change in ("solve", "run"):
        notebook = json.loads(lesson.path.read_text(encoding="utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        if change == "solve":
            (cell,) = [cell for cell in cells if "smallest_stream.check(" in "".join(cell["source"])]
            cell["source"] = ["def smallest_stream(n, T, S):\n", "    return 7\n", "\n", *cell["source"][-1:]]
        else:
            cells[5]["execution_count"] = 99
        path = tmp_path / lesson.path.name
        path.write_text(json.dumps(notebook), encoding="utf-8")
        monkeypatch.setattr(book, "find_lessons", lambda wanted=(), path=path: [Lesson(path)])
        assert main(["book", str(tmp_path / "site")]) == 1
        assert "has been worked in" in capsys.readouterr().err


def test_a_folder_that_is_not_empty_is_left_alone_unless_forced(tmp_path, capsys):
    pytest.importorskip("sphinx")
    (tmp_path / "mine.txt").touch()
    assert main(["book", str(tmp_path), "2"]) == 1
    assert "`--force` writes over it" in capsys.readouterr().err
