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

import nbformat
from nbformat import NotebookNode

from course_lib.classroom.cutting import alternative_text
from course_lib.teaching.lessons import Lesson, exercise_of, notebooks_folder

HERE = Path(__file__).parent
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
README = "README.md"
# Web servers hide names that begin with a dot.
CONTRIBUTING, SPEED = ".github/CONTRIBUTING.md", "tests/benchmarks/results"
TOLD = ("notebooks/TEACHING.md", CONTRIBUTING, "data/README.md", f"{SPEED}/README.md")
FILES = (*TOLD, "notebooks/images", f"{SPEED}/speed.png", "LICENSE")
INSTALLATION = "\n## Start\n"
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
    readme = readme.replace(CONTRIBUTING, CONTRIBUTING.lstrip("."))
    first, start, rest = readme.partition(INSTALLATION)
    contents = [
        _toctree("Lessons", [f"notebooks/{lesson.path.stem}" for lesson in lessons]),
        _toctree("The course", [path.lstrip(".") for path in TOLD]),
    ]
    if api:
        contents.append(_toctree("Reference", ["reference/index"]))
        write_reference(folder, lessons)
    how_to_read = (HERE / "how_to_read.md").read_text(encoding="utf-8")
    parts = [first, how_to_read, start, rest, *contents]
    (folder / "index.md").write_text("".join(parts), encoding="utf-8")


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
    rooms = []
    for room, title in ROOMS.items():
        rooms.append(f"reference/{room}")
        offered = dict(_offered_by(f"course_lib.{room}"))
        for module, names in offered.items():
            _write_module(folder, module, " " + ", ".join(names))
        _write(folder, rooms[-1], title, *_listed(offered))
    _write(folder, "reference/index", "Reference", ABOUT, *_listed(modules, rooms))


def page_of(module: str) -> str:
    """Name the page that tells of a module: what lies deeper in a room shares one."""
    return "/".join(["reference", *module.split(".")[1:3]])


def _offered_by(room: str) -> Iterator[tuple[str, list[str]]]:
    """Which names the front door of a room imports from which module."""
    source = inspect.getsource(importlib.import_module(room))
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom):
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


def prepare(path: Path, folder: Path, text: str) -> str:
    """Return what Sphinx reads in place of the text of a page in the folder of all: a
    lesson gets alternative texts, hints, and links from shown sources to the reference.
    """
    if path.suffix == ".ipynb":
        text = nbformat.writes(_prepared(Lesson(path), folder))
    return text.replace("](../README.md", "](../index.md")


def _prepared(lesson: Lesson, folder: Path) -> NotebookNode:
    notebook = lesson.notebook
    notebook.metadata.pop("widgets", None)
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        if cell.metadata.get("jupyter", {}).get("outputs_hidden"):
            cell.metadata.setdefault("tags", []).append("hide-output")
        for output in cell.outputs:
            data = output.get("data", {})
            data.pop(WIDGET_VIEW, None)
            if "text/markdown" in data:
                data["text/markdown"] = _link_source(data["text/markdown"], folder)
            if "image/png" in data:
                image = {"alt": alternative_text(number, notebook)}
                # With its width told, a figure becomes a link to itself in full size.
                if width := output.metadata.get("image/png", {}).get("width"):
                    image["width"] = f"{width}px"
                cell.metadata["mystnb"] = {"image": image}
    notebook.cells = list(_with_hints(lesson))
    download = f"{{download}}`Download this notebook <{lesson.path.name}>`"
    notebook.cells[0].source += f"\n\n{download}"
    return notebook


def _link_source(shown: str, folder: Path) -> str:
    """Link the file that `show_source` names to its page of the reference."""

    # Sphinx does not look into outputs: so this is a link to what it will write.
    def link(match: re.Match) -> str:
        page = page_of(match[1].replace("/", "."))
        exists = (folder / f"{page}.rst").is_file()
        return f"[{match[0]}](../{page}.html)" if exists else match[0]

    return re.sub(r"^`(course_lib/[\w/]+)\.py`", link, shown)


def _with_hints(lesson: Lesson) -> Iterator[NotebookNode]:
    """Put the hints of each exercise below it, folded."""
    for number, cell in enumerate(lesson.notebook.cells):
        yield cell
        if not (name := exercise_of(cell)):
            continue
        exercises = importlib.import_module(f"course_lib.exercises.{lesson.name}")
        if hints := getattr(getattr(exercises, name), "hints", ()):
            folded = "\n\n".join(
                f"<details><summary>Hint {n}</summary>\n\n{hint}\n\n</details>"
                for n, hint in enumerate(hints, start=1)
            )
            text = f'<div class="hints">\n\n{folded}\n\n</div>'
            yield nbformat.v4.new_markdown_cell(text, id=f"hints-{number}")
