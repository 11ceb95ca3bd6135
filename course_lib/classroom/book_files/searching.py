"""What the search quotes: the words of each page, in a script of their own, because a
page that is opened as a file may not read its neighbors."""

import html
import json
from pathlib import Path

from bs4 import BeautifulSoup

# Marks of links to headings, code, and answers that are still to be guessed.
NOT_QUOTED = ".headerlink, .cell_input, .asked, details"


def excerpt_of(body: str) -> str:
    """The words of a page as Sphinx looks for them: by section, in the main part."""
    page = BeautifulSoup(body, "html.parser")
    for part in page.select(NOT_QUOTED):
        part.decompose()
    sections = []
    for section in reversed(page.find_all("section")):  # the inner ones first
        words = html.escape(" ".join(section.extract().get_text().split()))
        sections.append(f'<section id="{section["id"]}">{words}</section>')
    return f'<div role="main">{"".join(reversed(sections))}</div>'


def write_excerpts(path: Path, excerpts: dict[str, str]) -> None:
    data = json.dumps(excerpts, ensure_ascii=False, separators=(",", ":"))
    path.write_text(f"const EXCERPTS = {data};\n", encoding="utf-8")
