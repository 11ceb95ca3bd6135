"""The folder from which Sphinx builds the site: the lessons, and what the repository
says about itself to a reader. Each page is as deep here as in the repository, because
Sphinx finds by its links what they lead to."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from course_lib.classroom.book_files.asked import ids_on
from course_lib.teaching.lessons import Lesson, notebooks_folder

HERE = Path(__file__).parent
README = "README.md"
FILES = ("notebooks/images", "LICENSE")
INSTALLATION = "\n## Start\n"
# The site is for students: the guide has answers, and commands are run elsewhere.
NOT_FOR_STUDENTS = re.compile(r"\n## For teachers\n.*?(?=\n## )", re.DOTALL)
PICTURE = re.compile(r'<img src="notebooks/images/lesson\.png"[^>]*>')
SHORTEST_WAY = "**Only three hours?**"
# Lessons have been renumbered, and bookmarks last.
RENAMED = {
    "10_token_shards": "11_token_shards",
    "11_many_machines": "12_many_machines",
}


def write_pages(folder: Path, lessons: list[Lesson]) -> None:
    """Write the source of a site of these lessons."""
    root = notebooks_folder().parent
    for path in (*FILES, *(f"notebooks/{lesson.path.name}" for lesson in lessons)):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (root / path).is_dir() else shutil.copyfile
        copy(root / path, place)
    readme = (root / README).read_text(encoding="utf-8")
    contents = [
        _toctree("Lessons", [f"notebooks/{lesson.path.stem}" for lesson in lessons]),
        _toctree("The course", ["record"]),
    ]
    text = "".join([_start_page(readme, lessons), *contents])
    (folder / "index.md").write_text(text, encoding="utf-8")
    (folder / "record.md").write_text(_record_page(lessons), encoding="utf-8")


def _start_page(readme: str, lessons: list[Lesson]) -> str:
    """What a stranger needs first, and then what the README tells, from its table of
    the lessons on."""
    readme = NOT_FOR_STUDENTS.sub("", readme)
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
