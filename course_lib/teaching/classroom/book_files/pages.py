"""The pages that Sphinx reads: the lessons as they are committed, and what the
repository says about itself, each at its own path, so that links among them hold."""

from __future__ import annotations

import base64
import copy
import importlib
import posixpath
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib.teaching.lessons import Lesson, exercise_of

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
ABOUT = "README.md"
# What else becomes a page, and where: web servers hide names that begin with a dot.
TEXTS = {
    ABOUT: ABOUT,
    "notebooks/TEACHING.md": "notebooks/TEACHING.md",
    ".github/CONTRIBUTING.md": "CONTRIBUTING.md",
    "data/README.md": "data/README.md",
}
LANDING = "index.md"
SHORT = 40  # letters of a sentence that hardly tells what a figure shows
INSTALLS = "install"  # the tag of what gets the course where a lesson runs elsewhere
LESSON_TABLE = "The lessons"
# What is downloaded as it is, and not read as a page.
FILES = "files"
# What becomes part of the site at its own path.
AS_IT_IS = "extra"

_LINK = re.compile(r"(!?)\[((?:[^][]|!?\[[^][]*\](?:\([^)]*\))?)*)\]\(([^()\s]+)\)")
_HTML_LINK = re.compile(r'\b(src|href)="([^"]+)"')
_CODE = re.compile(r"(```.*?```|~~~.*?~~~|`+[^`]*`+)", re.DOTALL)
_EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


class Pages:
    """The folder from which Sphinx builds the site.

    Args:
        root: the repository.
        folder: an empty folder, filled here.
        lessons: those that become pages.
        modules: paths of modules in the repository, and the page of the reference that
            tells of each.
    """

    def __init__(
        self,
        root: Path,
        folder: Path,
        lessons: list[Lesson],
        modules: dict[str, str],
    ):
        self.root, self.folder, self.lessons = root, folder, lessons
        self.modules = modules
        self.texts = {path: p for path, p in TEXTS.items() if (root / path).is_file()}
        # By path in the repository: where it stands in the site.
        self.places = {LANDING: LANDING, **self.texts, **modules}
        for lesson in lessons:
            path = f"notebooks/{lesson.path.name}"
            self.places[path] = path
        self.landing_anchors: set[str] = set()

    def write(self) -> None:
        """Write all pages, and what they show or offer for download."""
        first_screen, rest = _split_readme(self._read(ABOUT))
        self.landing_anchors = set(map(slug, _headings(first_screen)))
        self._put(LANDING, f"{first_screen}\n{HOW_TO_READ}\n{self._contents()}")
        for path in self.texts:
            self._put(path, rest if path == ABOUT else self._read(path))
        for lesson in self.lessons:
            self.write_lesson(lesson)

    def write_lesson(self, lesson: Lesson) -> None:
        """Write a lesson: as it is committed, with alt texts, hints and folds."""
        path = f"notebooks/{lesson.path.name}"
        self._copy(path, f"{FILES}/{lesson.path.name}")
        notebook = copy.deepcopy(lesson.notebook)
        notebook.metadata.pop("widgets", None)
        notebook.cells = [
            cell
            for cell in notebook.cells
            if INSTALLS not in cell.metadata.get("tags", [])
        ]
        for cell, following in zip(
            notebook.cells, [*notebook.cells[1:], None], strict=True
        ):
            if cell.cell_type == "markdown":
                cell.source = self.mend_links(cell.source, path)
            elif cell.cell_type == "code":
                self._prepare_code(cell, following, path)
        notebook.cells = list(_with_hints(notebook.cells, lesson))
        opening = notebook.cells[0]
        opening.source += (
            "\n\n{download}"
            + f"`Download this notebook <../{FILES}/{lesson.path.name}>`"
        )
        nbformat.write(notebook, self._place(path))

    def mend_links(self, text: str, page: str) -> str:
        """Lead the links of Markdown to pages and files of the site.

        Links to a page stay. A module's leads to its reference, a file is copied and
        offered for download, and what the site does not hold loses its link.

        Args:
            text: Markdown.
            page: where it stands, as a path in the repository.
        """
        parts = _CODE.split(text)
        for number in range(0, len(parts), 2):
            parts[number] = _HTML_LINK.sub(
                lambda match: f'{match[1]}="{self._mend_html(match[2], page)}"',
                parts[number],
            )
        # A link may hold code: so the links are looked for in the whole.
        text = "".join(parts)
        fences = re.split(r"(?ms)(^```.*?^```[^\n]*$)", text)
        for number in range(0, len(fences), 2):
            fences[number] = _LINK.sub(
                lambda match: self._mend(match, page), fences[number]
            )
        return "".join(fences)

    def _mend(self, match: re.Match, page: str) -> str:
        is_image, label, target = match.groups()
        if is_image and _EXTERNAL.match(target):
            return label  # a badge: nothing is loaded from elsewhere
        if not is_image:
            label = _LINK.sub(lambda inner: self._mend(inner, page), label)
        target = self._target(target, page)
        return f"{is_image}[{label}]({target})" if target else label

    def _mend_html(self, target: str, page: str) -> str:
        """Mend a link in HTML, which Sphinx passes on as it is."""
        found = self._target(target, page)
        if found is None:
            return "#"
        if _EXTERNAL.match(found):
            return found
        path, _, anchor = found.partition("#")
        place = posixpath.normpath(
            posixpath.join(posixpath.dirname(self.places[page]), path)
        )
        if place in self.places.values():
            path = f"{posixpath.splitext(path)[0]}.html"
        elif path:
            shutil.copyfile(self._place(place), self._place(f"{AS_IT_IS}/{place}"))
        return f"{path}#{anchor}" if anchor else path

    def _target(self, target: str, page: str) -> str | None:
        """Where a link leads in the site; None if the site does not hold it."""
        if _EXTERNAL.match(target):
            return target
        path, _, anchor = target.partition("#")
        folder = posixpath.dirname(page)
        wanted = posixpath.normpath(posixpath.join(folder, path)) if path else page
        anchor = slug(anchor)
        # The README is two pages.
        if wanted == ABOUT and anchor in self.landing_anchors:
            wanted = LANDING
        elif wanted == LANDING and anchor and anchor not in self.landing_anchors:
            wanted = ABOUT
        if wanted == page and anchor:
            return f"#{anchor}"
        place = self.places.get(wanted)
        if place is None:
            place, anchor = self._offer(wanted), ""
        if place is None:
            return None
        here = posixpath.dirname(self.places[page])
        return posixpath.relpath(place, here or ".") + (f"#{anchor}" if anchor else "")

    def _offer(self, path: str) -> str | None:
        """Copy a file of the repository that is no page; None if there is none."""
        is_lesson = path.startswith("notebooks/") and path.endswith(".ipynb")
        if path.startswith("..") or is_lesson or not (self.root / path).is_file():
            return None
        # Sphinx would take these for pages.
        is_text = path.endswith((".md", ".rst", ".ipynb"))
        place = f"{FILES}/{path.lstrip('.')}" if is_text else path.lstrip(".")
        self._copy(path, place)
        return place

    def _prepare_code(
        self, cell: NotebookNode, following: NotebookNode | None, page: str
    ) -> None:
        if cell.metadata.get("jupyter", {}).get("outputs_hidden"):
            cell.metadata.setdefault("tags", []).append("hide-output")
        for output in cell.outputs:
            data = output.get("data", {})
            data.pop(WIDGET_VIEW, None)
            if "text/markdown" in data:
                data["text/markdown"] = self._link_place(data["text/markdown"], page)
            if "image/png" in data:
                # With its width told, a figure becomes a link to itself in full size.
                image = {"alt": first_sentence(following), "width": _width(output)}
                cell.metadata["mystnb"] = {"image": image}

    def _link_place(self, shown: str, page: str) -> str:
        """Link the file that `show_source` names to its page of the reference."""

        # Sphinx does not look into outputs: so this is a link to what it will write.
        def link(match: re.Match) -> str:
            if match[1] not in self.modules:
                return match[0]
            target = self._target(f"../{match[1]}", page).removesuffix(".md")
            return f"[{match[0]}]({target}.html)"

        return re.sub(r"(?<!`)`(course_lib/[\w/]+\.py)`", link, shown, count=1)

    def _contents(self) -> str:
        lessons = [f"notebooks/{lesson.path.stem}" for lesson in self.lessons]
        others = [place.removesuffix(".md") for place in self.texts.values()]
        text = _toctree("Lessons", lessons) + _toctree("The course", others)
        return text + (_toctree("Reference", ["reference/index"]) * bool(self.modules))

    def _read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def _put(self, path: str, text: str) -> None:
        place = self._place(self.places[path])
        place.write_text(self.mend_links(text, path), encoding="utf-8")

    def _copy(self, path: str, place: str) -> None:
        shutil.copyfile(self.root / path, self._place(place))

    def _place(self, path: str) -> Path:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


HOW_TO_READ = """
## How to read this site

Each lesson stands here with its outputs, as it was last run. What comes after a
**Predict** is folded: guess first. To work through a lesson, to solve its exercises and
to play with its figures, [install the course](README.md) and open the notebooks.
Without either, each exercise here has its hints below it, folded too. On a phone, a
figure that is wider than the screen can be pushed aside, and opens alone when touched.
Everything on this site works without a network, the search as well.
"""


def _toctree(caption: str, pages: Iterable[str]) -> str:
    listed = "\n".join(pages)
    return (
        f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n:maxdepth: 3\n\n"
        f"{listed}\n```\n"
    )


def _split_readme(text: str) -> tuple[str, str]:
    """Split it into what stands on the first page, up to the table of the lessons, and
    the rest, under a heading of its own."""
    sections = re.split(r"(?m)^(?=## )", text)
    last = max(
        (n for n, part in enumerate(sections) if part.startswith(f"## {LESSON_TABLE}")),
        default=0,
    )
    rest = "".join(sections[last + 1 :])
    return "".join(sections[: last + 1]), f"# Install, teach, contribute\n\n{rest}"


def _headings(text: str) -> list[str]:
    return re.findall(r"(?m)^#+ (.+)$", text)


def slug(heading: str) -> str:
    """Name the anchor of a heading as Sphinx does, and GitHub."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def _with_hints(cells: list[NotebookNode], lesson: Lesson) -> Iterable[NotebookNode]:
    """Put the hints of each exercise below it, folded."""
    if any(map(exercise_of, cells)):
        exercises = importlib.import_module(f"course_lib.exercises.{lesson.name}")
    for number, cell in enumerate(cells):
        yield cell
        name = exercise_of(cell)
        hints = getattr(getattr(exercises, name), "hints", ()) if name else ()
        if hints:
            folded = "\n\n".join(
                f"<details><summary>Hint {n}</summary>\n\n{hint}\n\n</details>"
                for n, hint in enumerate(hints, start=1)
            )
            added = nbformat.v4.new_markdown_cell(
                f'<div class="hints">\n\n{folded}\n\n</div>', id=f"hints-{number}"
            )
            yield added


def _width(output: NotebookNode) -> str:
    """The width at which JupyterLab shows a figure."""
    shown = output.metadata.get("image/png", {}).get("width")
    if shown is None:
        # the first chunk of a PNG, behind 16 bytes that all of them share
        start = base64.b64decode(output.data["image/png"][:64])
        shown = int.from_bytes(start[16:20], "big")
    return f"{shown}px"


def first_sentence(cell: NotebookNode | None) -> str:
    """What stands below a figure, without markup: a sentence, or two short ones."""
    if cell is None or cell.cell_type != "markdown":
        return ""
    paragraph = cell.source.split("\n\n")[0].replace("\n", " ")
    first, *others = re.split(r"(?<=[.!?]) (?=[A-Z(*`])", paragraph)
    sentence = first
    while len(sentence) < SHORT and others:
        sentence += f" {others.pop(0)}"
    sentence = _LINK.sub(lambda match: match[2], sentence)
    return re.sub(r"[*`]", "", sentence).strip()
