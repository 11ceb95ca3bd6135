"""The site's figures can be played with: each setting tells what the notebook tells, and all of it is small."""

import base64
import html
import itertools
import json
import random
import re
import zlib
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from book_site import PHONE, build_site
from course_lib.classroom.book_files import figures
from course_lib.classroom.rendering import alternative_text
from course_lib.teaching.lessons import Lesson, find_lessons
from course_lib.teaching.plots.style import LessonFigure
from course_lib.teaching.widgets.player import Html, IntegerControl, Player, TextControl

MEGABYTE = 1_000_000
MOST_FIGURES, MOST_SITE, MOST_PAGE = 6 * MEGABYTE, 25 * MEGABYTE, 2 * MEGABYTE
PLAYED = [
    (lesson, number)
    for lesson in find_lessons()
    for number, cell in enumerate(lesson.notebook.cells)
    if cell.cell_type == "code" and figures.PLAYS.search(cell.source)
]
each_figure = pytest.mark.parametrize(("lesson", "number"), PLAYED, ids=[f"{one.number}" for one, _ in PLAYED])
# One figure with sliders, one with a line of text, one with a choice: to draw all settings of all takes two minutes.
DRAWN = [(lesson, number) for lesson, number in PLAYED if lesson.number in (2, 6, 9)]
each_drawn = pytest.mark.parametrize(("lesson", "number"), DRAWN, ids=[f"{one.number}" for one, _ in DRAWN])
LOADED = re.compile(r'<(?:img|script|link rel="stylesheet")[^>]* (?:src|href)="([^"?#]+)')


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A site of a few lessons, as a teacher puts it up."""
    return build_site(tmp_path_factory.mktemp("book") / "site", [lesson for lesson, _ in DRAWN])


def page_of(site: Path, lesson: Lesson) -> Path:
    return site / f"notebooks/{lesson.path.stem}.html"


def frames_of(site: Path, lesson: Lesson) -> list[list[str]]:
    """What the page of a lesson loads when its figure is touched."""
    (name,) = re.findall(r'data-frames="([^"]+)"', page_of(site, lesson).read_text(encoding="utf-8"))
    script = (site / f"figures/{name}.js").read_text(encoding="utf-8")
    packed = re.fullmatch(rf'FRAMES\["{name}"\] = "([\w+/=]+)";\n', script)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))["frames"]


def test_every_lesson_that_plays_is_found():
    imported = {one.number for one in find_lessons() if "import play_" in str(one.notebook.cells)}
    assert imported == {lesson.number for lesson, _ in PLAYED}
    assert len(PLAYED) >= 7


@each_figure
def test_a_figure_is_the_one_that_the_lesson_shows_and_offers_it_among_a_few_others(lesson, number):
    player = figures.player_of(lesson.notebook, number)
    (committed,) = [output.data for output in lesson.notebook.cells[number].outputs if "data" in output]
    still, _ = player._still()
    assert still["text/plain"] == committed["text/plain"]
    assert still.get("text/html") == committed.get("text/html")
    settings = list(player.settings())
    assert player.start in settings
    assert 5 <= len(settings) <= figures.MOST_SETTINGS
    for name, offered in player.offered.items():
        for value in offered.values():
            player.controls[name].check(name, value)


@each_drawn
def test_each_setting_tells_what_the_notebook_tells(site, lesson, number):
    player, frames = figures.player_of(lesson.notebook, number), frames_of(site, lesson)
    pictures = 0
    for values, (said, picture) in zip(player.settings(), frames, strict=True):
        drawn = player.drawn(**values)
        if isinstance(drawn, str):
            assert (said, picture) == (f"Not so. {drawn}", "")
        elif isinstance(drawn, Html):
            assert (said, picture) == ("", drawn.html)
        else:
            assert said == drawn.get_supxlabel()
            assert picture.startswith("<svg")
            assert said not in picture
            pictures += 1
    assert pictures > 0.6 * len(frames) or not isinstance(player.drawn(), LessonFigure)
    for values in itertools.islice(player.settings(), 3):  # and that is what a live notebook shows
        if isinstance(drawn := player.drawn(**values), LessonFigure):
            assert f'alt="{html.escape(drawn.get_supxlabel())}"' in player.show(**values)


@each_drawn
def test_a_page_shows_the_start_without_a_script_and_says_what_its_controls_are(site, lesson, number):
    player = figures.player_of(lesson.notebook, number)
    page = page_of(site, lesson).read_text(encoding="utf-8")
    form = re.search(r'<form class="play".*?</form>', page, re.DOTALL)[0]
    assert f"<noscript><p><em>{html.escape(player.invitation)}</em></p></noscript>" in form
    assert player.invitation not in re.sub(r"<noscript>.*?</noscript>", "", form)
    assert re.findall(r"<label><span>(.*?)</span>", form) == [c.label for c in player.controls.values()]
    start = list(player.settings()).index(player.start)
    said, picture = frames_of(site, lesson)[start]
    assert f'<p class="readout" role="status">{html.escape(said)}</p>' in form
    if isinstance(player.drawn(), Html):
        assert picture in form
        return
    (still,) = re.findall(r'<img src="\.\./(figures/[\w-]+\.svg)"', form)
    assert (site / still).read_text(encoding="utf-8").count("<text") == picture.count("<text") > 10
    assert f'alt="{html.escape(alternative_text(number, lesson.notebook))}"' in form


def test_of_the_cells_before_only_what_a_figure_needs_is_run():
    cells = [
        "import nothing_of_this_name\nfrom course_lib.teaching import play_merges as play",
        "sizes = [1, 2]\nunused = 1 / 0",
        "other = 'twice'\ndef doubled(word):\n    return f'{word} {other}'",
        "for size in sizes: count = size\nprint('said')",
        "play_merges = play\nplay_merges(doubled('one'), num_merges=count)",
    ]
    player = figures.player_of(new_notebook(cells=[new_code_cell(cell) for cell in cells]), 4)
    assert player.start == {"text": "one twice", "num_merges": 2}


def test_a_figure_that_offers_too_much_is_refused():
    controls = {"a": IntegerControl("a", 0, 99), "b": IntegerControl("b", 0, 99)}
    player = Player(lambda a, b: Html("", ""), controls, a=1, b=1)
    assert player.offered["a"]["99"] == 99
    with pytest.raises(ValueError, match=r"at most 500 settings, or a page gets too large, got 10000"):
        figures.packed(player)


def test_figures_share_their_frames_only_if_they_draw_the_same():
    windows = [figures.player_of(lesson.notebook, number) for lesson, number in PLAYED if lesson.number in (2, 5)]
    assert windows[0].start != windows[1].start
    assert len({figures._mark(player) for player in windows}) == 1
    letters = {"text": TextControl("text", 9)}
    other = [Player(lambda text, end=end: Html(text + end, ""), letters, text="a") for end in "bc"]
    assert len({figures._mark(player) for player in other}) == 2


def test_another_cell_stays_as_it_is(tmp_path):
    cell = new_code_cell("x = 1\nnot_a_play_windows(3)")
    nbformat.write(new_notebook(cells=[cell]), tmp_path / "02_t.ipynb")
    lesson = Lesson(tmp_path / "02_t.ipynb")
    figures.make_playable(lesson, 0, tmp_path)
    assert lesson.notebook.cells[0].outputs == []
    assert not (tmp_path / "figures").exists()


# Sizes.


def size_of(*files: Path) -> int:
    return sum(path.stat().st_size for path in files)


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_the_site_and_its_figures_are_small(site):
    assert 0 < size_of(*files_in(site / "figures")) <= MOST_FIGURES
    assert size_of(*files_in(site)) <= MOST_SITE


def test_no_page_is_large_before_its_figures_are_touched(site):
    for page in site.rglob("*.html"):
        parts = {page, *((page.parent / part).resolve() for part in LOADED.findall(page.read_text(encoding="utf-8")))}
        assert size_of(*parts) <= MOST_PAGE, page
        assert not [part for part in parts if part.suffix == ".js" and part.parent.name == "figures"]


# In a browser.


@pytest.fixture
def phone(visit) -> object:
    return visit("about:blank", **PHONE)


def open_figure(phone: object, site: Path, lesson: Lesson) -> object:
    phone.goto(page_of(site, lesson).as_uri())
    return phone.locator("form.play")


PICTURE = """async (form) => {
  const image = form.querySelector(".picture img");
  if (!image) return form.querySelector(".picture").innerHTML;
  return (await fetch(image.src)).text();
}"""
MOVE = """([control, value]) => {
  if (control.type === "range") control.value = value; else control.selectedIndex = value;
  control.dispatchEvent(new Event("input", { bubbles: true }));
}"""


@pytest.mark.browser
@each_drawn
def test_what_is_set_is_seen(site, phone, lesson, number):
    player, frames = figures.player_of(lesson.notebook, number), frames_of(site, lesson)
    loaded = []
    phone.on("request", lambda request: "/figures/" in request.url and loaded.append(request.url))
    form = open_figure(phone, site, lesson)
    assert not [url for url in loaded if url.endswith(".js")]
    controls = form.locator("input, select").element_handles()
    offered = [list(values.values()) for values in player.offered.values()]
    settings = list(player.settings())
    for values in random.Random(0).sample(settings, 5):
        said, picture = frames[settings.index(values)]
        for control, few, value in zip(controls, offered, values.values(), strict=True):
            phone.evaluate(MOVE, [control, few.index(value)])
        if said:
            form.locator(".readout").get_by_text(said, exact=True).wait_for()
        phone.wait_for_timeout(100)
        assert form.locator(".picture").is_visible() == bool(picture)
        if picture.startswith("<svg"):
            seen = form.evaluate(PICTURE).strip()
            hatches = re.search(r"<defs>(?:<pattern.*</pattern>)?</defs></svg>$", seen, re.DOTALL)[0]
            assert seen.removesuffix(hatches) == picture.strip().removesuffix("</svg>")
            assert set(re.findall(r"url\(#(h\w+)\)", picture)) == set(re.findall(r'<pattern id="(\w+)"', hatches))
            assert form.locator(".picture img").evaluate("image => image.decode().then(() => image.naturalWidth)") > 800
        elif picture:
            assert form.locator(".picture td").all_text_contents() == texts_of(picture)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert len([url for url in loaded if url.endswith(".js")]) == 1


def texts_of(table: str) -> list[str]:
    cells = re.findall(r"<td[^>]*>(.*?)</td>", table, re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in cells]


@pytest.mark.browser
def test_a_slider_is_moved_by_keys_and_tells_where_it_is(site, phone):
    lesson, number = next((lesson, number) for lesson, number in PLAYED if lesson.name == "sliding_windows")
    player = figures.player_of(lesson.notebook, number)
    form = open_figure(phone, site, lesson)
    slider = form.get_by_label("stride S")
    image = form.locator(".picture img")
    before = image.get_attribute("src")
    slider.focus()
    phone.keyboard.press("ArrowRight")
    said = player.drawn(stride=player.start["stride"] + 1).get_supxlabel()
    form.locator(".readout").get_by_text(said, exact=True).wait_for()
    assert slider.get_attribute("aria-valuetext") == str(player.start["stride"] + 1)
    assert form.locator("output").last.inner_text() == str(player.start["stride"] + 1)
    assert image.get_attribute("src") != before
    assert phone.url.endswith(f"{lesson.path.stem}.html")  # no arrow has turned the page
    phone.keyboard.press("End")
    phone.keyboard.press("Enter")
    assert phone.url.endswith(f"{lesson.path.stem}.html")
    with phone.expect_navigation():  # the picture alone, to be looked at closely
        form.locator(".picture a").click()
    assert phone.url.startswith("blob:")


@pytest.mark.browser
def test_what_cannot_be_drawn_is_told_in_place_of_the_picture(site, phone):
    lesson = next(lesson for lesson, _ in PLAYED if lesson.name == "document_packing")
    form = open_figure(phone, site, lesson)
    slider = form.get_by_label("places L")
    slider.focus()
    phone.keyboard.press("Home")
    form.locator(".readout").get_by_text("Not so. Document 0 has 7 tokens").wait_for()
    assert not form.locator(".picture").is_visible()
    phone.keyboard.press("End")
    form.locator(".picture").wait_for()
    form.get_by_label("strategy").select_option("best fit")
    form.locator(".readout").get_by_text("filled in place of").wait_for()


@pytest.mark.browser
def test_frames_that_are_missing_are_told(site, phone):
    lesson = PLAYED[0][0]
    phone.route("**/figures/*.js", lambda route: route.abort())
    form = open_figure(phone, site, lesson)
    form.locator("input").first.focus()
    phone.keyboard.press("Home")
    form.locator(".readout").get_by_text("The pictures could not be loaded.").wait_for()


@pytest.mark.browser
def test_a_token_tells_which_merge_made_it(site, phone):
    lesson = next(lesson for lesson, _ in PLAYED if lesson.name == "bpe")
    phone.goto(page_of(site, lesson).as_uri())
    box = phone.locator("span[title^='merge '][tabindex]").first
    box.click()
    told = box.evaluate("box => getComputedStyle(box, '::after').content")
    assert re.fullmatch(r'"merge [\d,]+: \S+ \+ \S+"', told), told
    row = phone.locator("td:has(> span[title][tabindex='0'])").first.locator("span[title]")
    row.first.focus()
    phone.keyboard.press("ArrowRight")
    assert row.nth(1).evaluate("box => box === document.activeElement")
    assert phone.url.endswith(f"{lesson.path.stem}.html")
