"""The web site of the course: whole, sound in itself, and in need of nothing from elsewhere."""

from __future__ import annotations

import argparse
import html
import importlib
import inspect
import re
import warnings
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import browser_session
from course_lib.teaching.classroom import book
from course_lib.teaching.classroom.book_files.pages import Pages, first_sentence, slug
from course_lib.teaching.classroom.book_files.reference import ROOMS, Reference, _as_markdown, code_of
from course_lib.teaching.lessons import exercise_of, find_lessons

ROOT = Path(__file__).parent.parent
LESSONS = ["sliding_windows", "random_sampling"]
SPHINX = all(importlib.util.find_spec(name) for name in book.NEEDED)
needs_sphinx = pytest.mark.skipif(not SPHINX, reason="pip install --editable '.[teach]' brings Sphinx")


TAG = re.compile(r"<(a|link|script|img|[a-z][a-z0-9]*)\b([^>]*)>")
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


class Page:
    """What a page loads, where it leads, and what can be led to."""

    def __init__(self, path: Path):
        self.path, self.links, self.loaded, self.images = path, [], [], []
        self.anchors = {""}
        # HTMLParser takes ten times as long.
        for tag, text in TAG.findall(path.read_text(encoding="utf-8")):
            attributes = {name: html.unescape(value) for name, value in ATTRIBUTE.findall(text)}
            self.anchors |= {attributes[name] for name in ("id", "name") if name in attributes}
            if tag == "link" and attributes["rel"] in ("stylesheet", "icon", "preload"):
                self.loaded.append(attributes["href"])
            elif "href" in attributes:
                self.links.append(attributes["href"])
            self.loaded += [attributes[name] for name in ("src", "srcset", "poster") if name in attributes]
            if tag == "img":
                self.images.append(attributes)


def faults_of(site: Path) -> list[str]:
    """What is loaded from elsewhere, and links that lead nowhere."""
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html")}
    faults = []
    for page in pages.values():
        name = page.path.relative_to(site)
        faults += [f"{name} loads {url}" for url in page.loaded if re.match(r"(https?:)?//", url)]
        for url in page.links + page.loaded:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path.resolve()
            if not target.is_file():
                faults.append(f"{name}: {url} is not there")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                faults.append(f"{name}: {url} has no such place")
    for style in site.rglob("*.css"):
        loaded = re.findall(r"url\(['\"]?(?!data:)([^)'\"]+)|@import", style.read_text(encoding="utf-8"))
        faults += [f"{style.name} loads {url}" for url in loaded if "//" in url]
    return faults


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    if not SPHINX:
        pytest.skip("no Sphinx")
    out = tmp_path_factory.mktemp("book") / "site"
    with warnings.catch_warnings():  # those of packages that are not the course's
        warnings.simplefilter("ignore")
        told = book.build(out, find_lessons(LESSONS), Reference(LESSONS[:1], rooms=["foundation"]))
    assert told == "", "Sphinx warns"
    return out


def read(site: Path, page: str) -> str:
    return (site / page).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def lesson(site) -> str:
    return read(site, "notebooks/02_sliding_windows.html")


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    assert len(list(site.rglob("*.html"))) > 20
    assert faults_of(site) == []


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html">b</a><a id="x" href="#x">x</a><a href="#y">y</a>')
    (tmp_path / "c.html").write_text('<script src="https://cdn.example/x.js"></script><a href="a.html#x">a</a>')
    assert sorted(faults_of(tmp_path)) == [
        "a.html: #y has no such place",
        "a.html: b.html is not there",
        "c.html loads https://cdn.example/x.js",
    ]


def test_the_landing_page_leads_to_the_lessons_of_the_site(site):
    page = read(site, "index.html")
    assert "The lessons</a>" in page or "The lessons<a" in page
    assert "Install, teach, contribute" in page
    for name in ("02_sliding_windows", "03_random_sampling"):
        assert f'href="notebooks/{name}.html"' in page
    assert "04_sequential_partitioning" not in page
    assert "4. Sequential partitioning" in page  # in the table, without a link
    for part in ("README.html", "data/README.html", "reference/index.html"):
        assert f'href="{part}"' in page


def test_pages_lead_to_one_another(lesson):
    assert 'class="next-page" href="03_random_sampling.html"' in lesson
    assert 'class="prev-page"' in lesson
    assert "On this page" in lesson
    assert 'href="03_random_sampling.html">' in lesson.split("You will learn")[0].split("<h1")[1]
    assert re.search(r'href="\.\./_downloads/\w+/02_sliding_windows\.ipynb"', lesson)


def test_what_only_installs_is_left_out(lesson):
    assert "where it is missing, as on Colab" in find_lessons([LESSONS[0]])[0].path.read_text(encoding="utf-8")
    assert "where it is missing, as on Colab" not in lesson


def test_figures_are_told_in_words(site):
    for path in (site / "notebooks").glob("??_*.html"):
        figures = [image for image in Page(path).images if "_images/" in image["src"]]
        assert figures
        for image in figures:
            assert len(image["alt"]) > 40, image
            assert int(image["width"]) > 300


def test_what_comes_after_a_guess_is_folded(lesson):
    cells = find_lessons([LESSONS[0]])[0].notebook.cells
    folded = [cell for cell in cells if cell.metadata.get("jupyter", {}).get("outputs_hidden") and cell.outputs]
    assert len(re.findall(r'<details class="[^"]*\bhide\b', lesson)) == len(folded)


def test_hints_stand_folded_below_their_exercise(lesson):
    exercises = importlib.import_module(f"course_lib.exercises.{LESSONS[0]}")
    names = [name for name in map(exercise_of, find_lessons([LESSONS[0]])[0].notebook.cells) if name]
    hints = [len(getattr(getattr(exercises, name), "hints", ())) for name in names]
    assert sum(hints) > 8
    assert lesson.count("<summary>Hint") == sum(hints)
    assert lesson.index("exercises</span><span") < lesson.index("<summary>Hint 1")


def test_formulas_need_no_script(site, lesson):
    assert "<munderover>" in lesson or "<mfrac>" in lesson
    assert not re.search("<script[^>]*(mathjax|katex)", lesson, re.IGNORECASE)
    assert not list(site.rglob("*[Mm]ath[Jj]ax*"))


def test_source_boxes_lead_to_the_reference(lesson):
    assert re.search(r'href="\.\./reference/sliding_windows\.html"[^>]*>\s*<code[^>]*>', lesson)


def test_the_reference_links_names_types_and_sources(site):
    page = read(site, "reference/sliding_windows.html")
    assert 'id="course_lib.sliding_windows.SlidingWindowDataset.cut"' in page
    assert 'href="foundation/arguments.html#course_lib.foundation.Ids"' in page
    assert "../_modules/course_lib/sliding_windows.html#gather_windows" in page
    source = read(site, "_modules/course_lib/foundation/arguments.html")
    assert "check_integer" in source


def test_the_search_knows_the_words_of_the_lessons(site):
    index = read(site, "searchindex.js")
    assert '"notebooks/02_sliding_windows"' in index
    assert "stride:" in index or '"stride":' in index


def test_nothing_of_the_machine_that_built_it_stays(site):
    private = (str(Path.home()) + "/", "course-book-", str(ROOT))
    for path in site.rglob("*"):
        if path.suffix in (".html", ".js", ".css"):
            text = path.read_text(encoding="utf-8")
            assert not [part for part in private if part in text], path
    assert (site / ".nojekyll").is_file()
    assert not list(site.rglob("*.doctree"))


def test_colors_of_the_theme_are_those_of_the_course(site):
    assert book.BLUE["dark"] in read(site, "index.html")
    assert (site / "_static/book.css").is_file()


OVERFLOW = """() => {
  const page = document.documentElement
  const narrow = page.scrollWidth <= page.clientWidth
  const colors = getComputedStyle(document.body)
  return [narrow, colors.color, colors.backgroundColor]
}"""


@pytest.mark.browser
def test_a_phone_reads_it_by_day_and_by_night_without_a_network(site):
    if why := browser_session.missing():
        pytest.skip(why)
    faults = []
    with browser_session.open_browser() as browser:
        phone = browser.new_context(viewport={"width": 390, "height": 844}, offline=True).new_page()
        phone.on("pageerror", lambda error: faults.append(str(error)))
        phone.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        # What is still on its way when the next page is opened is no fault.
        phone.on("requestfailed", lambda lost: lost.failure != "net::ERR_ABORTED" and faults.append(lost.url))
        for scheme, pages in (
            ("light", ["index.html", "notebooks/02_sliding_windows.html"]),
            ("dark", ["notebooks/03_random_sampling.html", "reference/sliding_windows.html"]),
        ):
            phone.emulate_media(color_scheme=scheme)
            for page in pages:
                phone.goto((site / page).as_uri())
                narrow, ink, paper = phone.evaluate(OVERFLOW)
                assert narrow, page
                assert (brightness(ink) < brightness(paper)) == (scheme == "light")
                assert abs(brightness(ink) - brightness(paper)) > 120
        phone.goto(f"{(site / 'search.html').as_uri()}?q=stride")
        phone.wait_for_selector("#search-results li a >> text=Sliding windows", state="attached")
    assert faults == []


def brightness(color: str) -> float:
    return sum(map(int, re.findall(r"\d+", color)[:3])) / 3


# The command


def options(out: Path, *more: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    book.add_arguments(parser)
    return parser.parse_args([str(out), *more])


@pytest.fixture
def quick(monkeypatch):
    """A build that takes no time, and notes what it is asked for."""
    asked = []

    def build(out, lessons, reference):
        asked.append(([lesson.number for lesson in lessons], reference is not None))
        out.mkdir(exist_ok=True)
        (out / "index.html").write_text("new")
        return ""

    monkeypatch.setattr(book, "build", build)
    return asked


@needs_sphinx
def test_the_command_says_how_to_open_the_site(tmp_path, quick, capsys):
    out = tmp_path / "site"
    assert book.run(options(out, "3", "2", "--no-api")) == 0
    assert quick == [([2, 3], False)]
    assert f"2 lessons, 0 MB. Open {(out / 'index.html').as_uri()} in a browser." in capsys.readouterr().out
    assert options(out).api
    assert not options(out).force


@needs_sphinx
def test_a_folder_that_is_not_empty_is_left_alone_unless_forced(tmp_path, quick):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="is not empty: name a new folder, or add --force"):
        book.run(options(tmp_path, "2"))
    assert quick == []
    assert book.run(options(tmp_path, "2", "--force", "--no-api")) == 0
    assert (tmp_path / "thesis.txt").read_text() == "mine"
    with pytest.raises(FileExistsError, match="is no folder"):
        book.run(options(tmp_path / "thesis.txt"))


def test_a_new_site_replaces_the_old_one_whole(tmp_path):
    built, out = tmp_path / "built", tmp_path / "out"
    for folder in (built, out):
        folder.mkdir()
        (folder / book.SITE_MARK).touch()
    (built / "index.html").touch()
    (out / "a_lesson_that_is_gone.html").touch()
    book._replace(out, built)
    assert sorted(path.name for path in out.iterdir()) == [book.SITE_MARK, "index.html"]


def test_without_sphinx_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(book.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"sphinx, myst_nb, furo missing: .*pip install --editable '\.\[teach\]'"):
        book.run(options(tmp_path))


# The pages


@pytest.fixture
def pages(tmp_path) -> Pages:
    modules = {"course_lib/bpe.py": "reference/bpe.md"}
    found = Pages(ROOT, tmp_path, find_lessons(LESSONS), modules)
    found.landing_anchors = {"the-lessons"}
    return found


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ('<a href="../README.md#start">start</a>', '<a href="../README.html#start">start</a>'),
        ('<a href="06_bpe.ipynb">bpe</a>', '<a href="#">bpe</a>'),
        ("[how](../.github/CONTRIBUTING.md)", "[how](../CONTRIBUTING.md)"),
        ("[two](02_sliding_windows.ipynb)", "[two](02_sliding_windows.ipynb)"),
        ("[bpe](06_bpe.ipynb), next", "bpe, next"),
        ("[`bpe.py`](../course_lib/bpe.py)", "[`bpe.py`](../reference/bpe.md)"),
        ("[all](../README.md)", "[all](../README.md)"),
        ("[all](../README.md#the-lessons)", "[all](../index.md#the-lessons)"),
        ("[start](../README.md#start)", "[start](../README.md#start)"),
        ("[tail](02_sliding_windows.ipynb#4.-Stride-and-tail)", "[tail](#4-stride-and-tail)"),
        ("[why](03_random_sampling.ipynb#2.-Why-not-T?)", "[why](03_random_sampling.ipynb#2-why-not-t)"),
        ("[away](https://example.org/a)", "[away](https://example.org/a)"),
        ("[![Binder](https://example.org/badge.svg)](https://example.org/b)", "[Binder](https://example.org/b)"),
        ("[gone](nowhere.md) [folder](../tests/)", "gone folder"),
        ("```\n[gone](nowhere.md)\n```", "```\n[gone](nowhere.md)\n```"),
        ("[secret](../../../etc/passwd)", "secret"),
    ],
)
def test_links_lead_to_what_the_site_holds(pages, text, mended):
    assert pages.mend_links(text, "notebooks/02_sliding_windows.ipynb") == mended


def test_a_file_of_the_repository_is_copied_and_offered(pages, tmp_path):
    assert pages.mend_links("[License](LICENSE)", "README.md") == "[License](LICENSE)"
    assert (tmp_path / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    picture = '<picture><img src="images/starts.png"></picture>'
    assert pages.mend_links(picture, "notebooks/02_sliding_windows.ipynb") == picture
    assert (tmp_path / "extra/notebooks/images/starts.png").is_file()


@pytest.mark.parametrize(
    ("below", "told"),
    [
        (
            "Each *row* is a window of `T = 4.5`\nids, e.g. [here](x) or there. More.\n\nAnd more.",
            "Each row is a window of T = 4.5 ids, e.g. here or there.",
        ),
        ("Left is cheap. Both cost the same: a token. Done.", "Left is cheap. Both cost the same: a token."),
        ("Left.", "Left."),
    ],
)
def test_a_figure_is_told_by_the_sentence_below_it_without_markup(below, told):
    cell = argparse.Namespace(cell_type="markdown", source=below)
    assert first_sentence(cell) == told
    assert first_sentence(None) == ""


def test_anchors_are_named_as_sphinx_names_them():
    assert slug("4. Stride and tail?") == "4-stride-and-tail"


# The reference


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference([lesson.name for lesson in find_lessons()])


def test_the_reference_tells_of_every_public_function_and_class(reference):
    for page in reference.lessons[:5]:  # the others import much else
        module = importlib.import_module(page.name)
        public = {
            name
            for name, thing in vars(module).items()
            if name[0] != "_" and inspect.getmodule(thing) is module and (inspect.isclass(thing) or callable(thing))
        }
        assert {offered.name for offered in page.offered} == public
    for room, pages in reference.rooms.items():
        names = vars(importlib.import_module(f"course_lib.{room}")).items()
        public = {name for name, thing in names if name[0] != "_" and not inspect.ismodule(thing)}
        assert {offered.name for page in pages for offered in page.offered} == public


def test_the_reference_follows_the_story(reference):
    assert [page.title for page in reference.lessons] == [lesson.name for lesson in find_lessons()]
    titles = [page.title for page in reference.rooms["foundation"]]
    assert titles[:3] == ["arguments", "progress", "corpora"]
    assert titles.index("ledger") < titles.index("packs") < titles.index("executors")
    assert list(reference.rooms) == list(ROOMS)
    names = [offered.name for offered in reference.lessons[1].offered]
    assert names[:3] == ["count_windows", "window_starts", "gather_windows"]


def test_lines_of_a_source_are_those_that_python_names():
    code, lines = code_of("course_lib.sliding_windows")
    module = importlib.import_module("course_lib.sliding_windows")
    for name, thing in (
        ("gather_windows", module.gather_windows),
        ("SlidingWindowDataset.cut", module.SlidingWindowDataset.cut),
    ):
        _, first, last = lines[name]
        source, start = inspect.getsourcelines(thing)
        assert (first, last) == (start, start + len(source) - 1)
        assert code.splitlines()[first - 1] == source[0].rstrip("\n")


def test_a_docstring_becomes_markdown():
    docstring = (
        "Cut `ids`, as `count` says.\n\nLonger\ntext.\n\nArgs:\n    ids, more: the stream,\n        of `N`.\n"
        "    **rest: others.\n\nReturns:\n    a batch: int64,\n        shape (B, T).\n\nRaises:\n    ValueError: no."
    )
    text = "\n".join(_as_markdown(docstring, {"count": "course_lib.count"}.get))
    assert "Cut `ids`, as {py:obj}`count <course_lib.count>` says." in text
    assert "\nLonger\ntext.\n" in text
    assert "**Arguments**\n\n- `ids, more`: the stream,\n  of `N`.\n- `**rest`: others." in text
    assert "**Returns**\n\na batch: int64,\nshape (B, T)." in text
    assert "**Raises**\n\n- `ValueError`: no." in text
