"""The folder from which Sphinx builds the site: the lessons, what the repository says
about itself, and pages on which Sphinx puts the docstrings. Each page is as deep here
as in the repository, because Sphinx finds by its links what they lead to."""

import ast
import importlib
import inspect
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from course_lib.classroom.book_files.asked import ids_on
from course_lib.classroom.book_files.lesson_pages import page_of
from course_lib.teaching.lessons import Lesson, notebooks_folder

HERE = Path(__file__).parent
README = "README.md"
# Web servers hide names that begin with a dot.
CONTRIBUTING, SPEED = ".github/CONTRIBUTING.md", "tests/benchmarks/results"
TOLD = ("notebooks/TEACHING.md", CONTRIBUTING, "data/README.md", f"{SPEED}/README.md")
FILES = (*TOLD, "notebooks/images", f"{SPEED}/speed.png", "LICENSE")
INSTALLATION = "\n## Start\n"
PICTURE = re.compile(r'<img src="notebooks/images/lesson\.png"[^>]*>')
SHORTEST_WAY = "**Only three hours?**"
# Lessons have been renumbered, and bookmarks last.
RENAMED = {
    "10_token_shards": "11_token_shards",
    "11_many_machines": "12_many_machines",
}
ROOMS = {
    "foundation": "Foundation: what the lessons build on",
    "teaching": "Teaching: what shows and judges them",
}
ABOUT = """
Every public function and class, from the docstrings: first the lessons, in their order,
then the rooms that they share. What a room's page lists is imported from the
room. A letter means the same everywhere: ``N`` tokens in the stream, ``T`` the
context length, ``S`` the stride, ``B`` the batch size.
"""


def write_pages(folder: Path, lessons: list[Lesson], *, api: bool = True) -> None:
    """Write the source of a site of these lessons; `api`: and of the package."""
    root = notebooks_folder().parent
    for path in (*FILES, *(f"notebooks/{lesson.path.name}" for lesson in lessons)):
        place = folder / path.lstrip(".")
        place.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (root / path).is_dir() else shutil.copyfile
        copy(root / path, place)
    readme = (root / README).read_text(encoding="utf-8")
    contents = [
        _toctree("Lessons", [f"notebooks/{lesson.path.stem}" for lesson in lessons]),
        _toctree("The course", ["record", *(path.lstrip(".") for path in TOLD)]),
    ]
    if api:
        contents.append(_toctree("Reference", ["reference/index"]))
        write_reference(folder, lessons)
    text = "".join([_start_page(readme, lessons), *contents])
    (folder / "index.md").write_text(text, encoding="utf-8")
    (folder / "record.md").write_text(_record_page(lessons), encoding="utf-8")


def _start_page(readme: str, lessons: list[Lesson]) -> str:
    """What a stranger needs first, and then what the README tells, from its table of
    the lessons on."""
    readme = readme.replace(CONTRIBUTING, CONTRIBUTING.lstrip("."))
    picture = PICTURE.search(readme)
    first, *others = lessons
    start = (HERE / "start.md").read_text(encoding="utf-8")
    start = start.format(
        lessons=f"{len(lessons)} lessons" if others else "1 lesson",
        first=f"notebooks/{first.path.name}",
        number=first.number,
        picture=picture[0] if picture else "",
    )
    _, heading, told = readme.partition("\n## ")
    told = (heading + told).replace(
        SHORTEST_WAY, f"## The shortest way\n\n{SHORTEST_WAY}"
    )
    before, installation, after = told.partition(INSTALLATION)
    how_to_read = (HERE / "how_to_read.md").read_text(encoding="utf-8")
    return "".join([start, before, how_to_read, installation, after])


def _record_page(lessons: list[Lesson]) -> str:
    """A table of what can be guessed and judged; static/record_page.js fills it."""
    rows = []
    for lesson in lessons:
        title = f"{lesson.number}. {lesson.title}"
        rows.append(f'<tr><td><a href="notebooks/{lesson.path.stem}.html">{title}</a>')
        for kind, ids in zip(("guesses", "verdicts"), ids_on(lesson), strict=True):
            cell = f'<td class="{kind}" data-ids="{" ".join(ids)}">0 of {len(ids)}'
            rows.append(cell)
    text = (HERE / "record.md").read_text(encoding="utf-8")
    return text.replace("ROWS", "\n".join(rows))


def write_redirects(site: Path) -> None:
    """Lead from the pages of lessons that had another number to what they are now."""
    redirect = (HERE / "redirect.html").read_text(encoding="utf-8")
    for before, now in RENAMED.items():
        if (site / "notebooks" / f"{now}.html").is_file():
            page = site / "notebooks" / f"{before}.html"
            page.write_text(redirect.format(now=now), encoding="utf-8")


def _toctree(caption: str, pages: Iterable[str]) -> str:
    listed = "\n".join(pages)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"


def write_reference(folder: Path, lessons: list[Lesson]) -> None:
    """Write a page for each lesson's module, and for each module of the rooms."""
    modules = []
    for lesson in lessons:
        modules.append(f"course_lib.{lesson.name}")
        notebook = f"The lesson: :doc:`/notebooks/{lesson.path.stem}`."
        _write_module(folder, modules[-1], "", notebook)
        for module, names in dict(_offered_by(modules[-1])).items():
            if module.startswith(f"course_lib.{lesson.name}."):
                modules.append(module)
                _write_module(folder, module, " " + ", ".join(names), notebook)
    rooms = []
    for room, title in ROOMS.items():
        rooms.append(f"reference/{room}")
        offered = dict(_offered_by(f"course_lib.{room}"))
        for module, names in offered.items():
            _write_module(folder, module, " " + ", ".join(names))
        _write(folder, rooms[-1], title, *_listed(offered))
    _write(folder, "reference/index", "Reference", ABOUT, *_listed(modules, rooms))


def _offered_by(room: str) -> Iterator[tuple[str, list[str]]]:
    """Which names the front door of a room imports from which module."""
    source = inspect.getsource(importlib.import_module(room))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(room):
            yield node.module, [alias.name for alias in node.names]


def _write_module(folder: Path, module: str, members: str, *above: str) -> None:
    told = f".. automodule:: {module}\n   :members:{members}"
    _write(folder, page_of(module), module.rpartition(".")[2], *above, told)


def _listed(modules: Iterable[str], more: Iterable[str] = ()) -> Iterator[str]:
    """List modules with the first sentence of each, and put their pages in order."""
    names = "\n   ".join(modules)
    yield f".. autosummary::\n   :nosignatures:\n\n   {names}"
    yield "\n".join(f"- :doc:`/{page}`" for page in more)
    pages = "\n   /".join([*map(page_of, modules), *more])
    yield f".. toctree::\n   :hidden:\n\n   /{pages}"


def _write(folder: Path, page: str, title: str, *paragraphs: str) -> None:
    path = folder / f"{page}.rst"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n\n".join([f"{title}\n{'=' * len(title)}", *paragraphs])
    path.write_text(f"{text}\n", encoding="utf-8")
