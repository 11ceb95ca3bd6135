"""The web site of the course: whole, sound in itself, and in need of nothing from elsewhere."""

import argparse
import html
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import course_lib.__main__ as command_line
from book_site import PHONE, build_site
from course_lib.classroom import book
from course_lib.classroom.book_files.lesson_pages import prepare
from course_lib.classroom.book_files.pages import RENAMED, write_redirects
from course_lib.classroom.rendering import PROMPT
from course_lib.teaching.lessons import find_lessons, items_of

ROOT = Path(__file__).parent.parent
LESSONS = find_lessons(["sliding_windows", "random_sampling"])

TAG = re.compile(r"<([a-z][a-z0-9]*)\b([^>]*)>")
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


def tags_of(page: Path) -> list[tuple[str, dict[str, str]]]:
    """Every tag with its attributes. HTMLParser takes ten times as long."""
    return [
        (tag, {name: html.unescape(value) for name, value in ATTRIBUTE.findall(attributes)})
        for tag, attributes in TAG.findall(page.read_text(encoding="utf-8"))
    ]


def anchors_of(page: Path) -> set[str]:
    return {attributes[name] for _, attributes in tags_of(page) for name in ("id", "name") if name in attributes}


def faults_of(site: Path) -> list[str]:
    """What is loaded from elsewhere, and links that lead nowhere."""
    anchors = {path.resolve(): {"", *anchors_of(path)} for path in site.rglob("*.html")}
    faults = []
    for path in anchors:
        name = path.relative_to(site.resolve())
        for tag, attributes in tags_of(path):
            for url in (attributes[key] for key in ("href", "src", "srcset", "poster") if key in attributes):
                parts = urlsplit(url)
                if parts.scheme or parts.netloc:
                    faults += [f"{name} loads {url}"] * (tag != "a" and parts.scheme != "data")
                    continue
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                if not target.is_file():
                    faults.append(f"{name}: {url} is not there")
                elif unquote(parts.fragment) not in anchors.get(target, {"", parts.fragment}):
                    faults.append(f"{name}: {url} has no such place")
    for style in site.rglob("*.css"):
        loaded = re.findall(r"url\(['\"]?(?!data:)([^)'\"]+)|@import", style.read_text(encoding="utf-8"))
        faults += [f"{style.name} loads {url}" for url in loaded if "//" in url]
    return faults


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    return build_site(tmp_path_factory.mktemp("book") / "site", LESSONS)


def read(site: Path, page: str) -> str:
    return (site / page).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def lesson(site) -> str:
    return read(site, "notebooks/02_sliding_windows.html")


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    assert len(list(site.rglob("*.html"))) >= 6
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
    for part in (*(f"notebooks/{lesson.path.stem}" for lesson in LESSONS), "record"):
        assert f'href="{part}.html"' in page
    assert "04_sequential_partitioning" not in page
    assert "4. Sequential partitioning" in page  # in the table, without a link
    assert page.index("The lessons<a") < page.index("How to read this site<a") < page.index("Start<a")


def test_pages_lead_to_one_another_and_to_files(site, lesson):
    assert 'class="next-page" href="03_random_sampling.html"' in lesson
    assert 'class="prev-page"' in lesson
    assert "On this page" in lesson
    assert 'href="03_random_sampling.html">' in lesson.split("You will learn")[0].split("<h1")[1]
    assert 'href="../index.html"' in lesson.split("a text of your own")[0].rpartition("<a ")[2]
    # a lesson is downloaded as it is committed
    (place,) = re.findall(r'href="([^"]+/02_sliding_windows\.ipynb)"', lesson)
    assert (site / "notebooks" / place).read_bytes() == LESSONS[0].path.read_bytes()
    assert re.search(r'href="[^"]+/LICENSE"', read(site, "index.html"))


def test_what_is_for_teachers_is_not_on_the_site_for_students(site):
    page = read(site, "index.html")
    assert "For teachers" not in page
    assert "scores of a class" not in page
    assert not list(site.rglob("TEACHING*"))


def test_a_lesson_that_got_another_number_is_found_at_its_old_address(tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "11_token_shards.html").write_text("<title>Token shards</title>")
    write_redirects(tmp_path)
    assert 'url=11_token_shards.html"' in read(tmp_path, "notebooks/10_token_shards.html")
    assert faults_of(tmp_path) == []
    assert not (tmp_path / "notebooks" / "11_many_machines.html").exists(), "that lesson is not in this site"
    assert set(RENAMED.values()) <= {path.stem for path in ROOT.glob("notebooks/*.ipynb")}


def test_what_only_installs_is_left_out_and_formulas_need_no_script(lesson):
    assert "where it is missing; else it does nothing" in LESSONS[0].path.read_text(encoding="utf-8")
    assert "where it is missing; else it does nothing" not in lesson
    assert '<div class="math"><math' in lesson
    assert "<mfrac>" in lesson


def test_figures_are_told_in_words(site):
    for path in (site / "notebooks").glob("??_*.html"):
        figures = [image for tag, image in tags_of(path) if tag == "img" and "_images/" in image["src"]]
        assert figures
        for image in figures:
            assert len(image["alt"]) >= 40, image
            assert int(image["width"]) > 300


def test_a_figure_of_a_lesson_that_somebody_has_changed_need_not_tell_its_width(tmp_path):
    sizes = ({}, {"image/png": {"width": 900}})
    outputs = [new_output("display_data", {"image/png": ""}, metadata=size) for size in sizes]
    cells = [new_markdown_cell("# 2. T"), *(new_code_cell("x", outputs=[output]) for output in outputs)]
    path = tmp_path / "02_t.ipynb"
    nbformat.write(new_notebook(cells=[*cells, new_markdown_cell("It rises.")]), path)
    made = nbformat.reads(prepare(path, tmp_path, ""), as_version=4)
    images = [cell.metadata.mystnb.image for cell in made.cells[1:3]]
    assert images == [{"alt": "It rises."}, {"alt": "It rises.", "width": "900px"}]


def test_what_comes_after_a_guess_is_folded_as_are_hints_below_their_exercise(lesson):
    cells = LESSONS[0].notebook.cells
    folded = [cell for cell in cells if cell.metadata.get("jupyter", {}).get("outputs_hidden") and cell.outputs]
    # the source of a prompt, and what prepares one
    set_up = [cell for cell in cells if "hide-input" in cell.metadata.get("tags", []) or PROMPT.search(cell.source)]
    assert len(re.findall(r'<details class="[^"]*\bhide\b', lesson)) == len(folded) + len(set_up)
    hints = [len(getattr(item, "hints", ())) for item in items_of("sliding_windows").values()]
    assert sum(hints) > 8
    assert lesson.count("<summary>Hint") == sum(hints)
    assert lesson.index("exercises</span><span") < lesson.index("<summary>Hint 1")


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
    assert (site / ".nojekyll").is_file()  # GitHub's pages leave out `_static` without it
    assert not list(site.rglob("*.doctree"))


LOOK = """() => {
  const page = document.documentElement
  const narrow = page.scrollWidth <= page.clientWidth
  const colors = getComputedStyle(document.body)
  return [narrow, colors.color, colors.backgroundColor]
}"""


@pytest.mark.browser
@pytest.mark.parametrize(
    ("scheme", "pages"),
    [
        ("light", ["index", "notebooks/02_sliding_windows"]),
        ("dark", ["notebooks/03_random_sampling", "record"]),
    ],
)
def test_a_phone_reads_it_by_day_and_by_night_without_a_network(site, visit, scheme, pages):
    for page in pages:
        phone = visit((site / f"{page}.html").as_uri(), **PHONE, color_scheme=scheme)
        narrow, ink, paper = phone.evaluate(LOOK)
        assert narrow, page
        assert (brightness(ink) < brightness(paper)) == (scheme == "light")
        assert abs(brightness(ink) - brightness(paper)) > 120


@pytest.mark.browser
def test_a_lesson_is_printed_whole(site, visit):
    page = visit((site / "notebooks/02_sliding_windows.html").as_uri())
    folded = page.locator("details.below-input:not([open])").count()
    assert folded > 5
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.below-input:not([open])").count() == 0
    assert page.locator(".asked details[open]").count() == 0, "no answer is printed below its question"
    assert not page.locator(".skip-to-content").first.is_visible()
    wide = """() => [...document.querySelectorAll("div.highlight pre")].filter(
      (block) => block.scrollWidth > block.clientWidth + 1).length"""
    assert page.evaluate(wide) == 0, "no line of code is cut off"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.below-input:not([open])").count() == folded


def brightness(color: str) -> float:
    return sum(map(int, re.findall(r"\d+", color)[:3])) / 3


def options(out: Path, *more: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    book.add_arguments(parser)
    return parser.parse_args([str(out), *more])


@pytest.fixture
def sphinx(monkeypatch):
    """A Sphinx that takes no time, and notes which pages it is given; what is in `status` is its exit status."""
    build = pytest.importorskip("sphinx.cmd.build")
    asked = argparse.Namespace(pages=None, status=0)

    def quick(arguments: list[str]) -> int:
        source, site = map(Path, arguments[-2:])
        asked.pages = sorted(str(path.relative_to(source)) for path in source.rglob("*.*") if path.suffix != ".png")
        site.mkdir()
        for name in ("index.html", book.SITE_MARK):
            (site / name).write_text("new")
        return asked.status

    monkeypatch.setattr(build, "build_main", quick)
    return asked


def test_the_command_builds_what_it_is_asked_for_and_says_how_to_open_it(tmp_path, sphinx, capsys):
    out = tmp_path / "site"
    assert book.run(options(out, "3", "2")) == 0
    assert sphinx.pages == [
        *("index.md", "notebooks/02_sliding_windows.ipynb", "notebooks/03_random_sampling.ipynb", "record.md"),
    ]
    said = capsys.readouterr().out
    assert "2 lessons" in said
    assert f"0 MB. Open {(out / 'index.html').as_uri()} in a browser." in said


def test_a_folder_that_is_not_empty_is_left_alone_unless_forced(tmp_path, sphinx):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"thesis\.txt is there already; `--force` writes over it"):
        book.run(options(tmp_path, "2"))
    assert sphinx.pages is None
    assert book.run(options(tmp_path, "2", "--force")) == 0
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_a_new_site_replaces_the_old_one_whole_or_not_at_all(tmp_path, sphinx):
    for name in (book.SITE_MARK, "a_lesson_that_is_gone.html"):
        (tmp_path / name).touch()
    sphinx.status = 2
    assert book.run(options(tmp_path, "2", "--force")) == 2
    assert (tmp_path / "a_lesson_that_is_gone.html").exists()
    sphinx.status = 0
    assert book.run(options(tmp_path, "2", "--force")) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [book.SITE_MARK, "index.html"]


def test_without_sphinx_it_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "sphinx", None)
    assert command_line.main(["book", str(tmp_path / "site"), "2"]) == 1
    said = capsys.readouterr().err
    assert "it needs the package 'sphinx', which is not installed" in said
    assert 'pip install --editable ".[teach]"' in said
    assert not (tmp_path / "site").exists()
