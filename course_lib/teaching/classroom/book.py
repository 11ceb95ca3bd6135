"""The course as a web site: every lesson with its outputs, as it is committed, and a
reference of the package. It needs no network, no server and no kernel: open index.html.

    python -m course_lib book site                 all lessons, and the reference
    python -m course_lib book site 2 3 --no-api    two lessons, without the reference
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import re
import shutil
import sys
import tempfile
from pathlib import Path

import course_lib
from course_lib.foundation import progress_bar
from course_lib.teaching.classroom.book_files.pages import AS_IT_IS, FILES, Pages
from course_lib.teaching.classroom.book_files.reference import Reference
from course_lib.teaching.lessons import Lesson, find_lessons, notebooks_folder

NEEDED = ("sphinx", "myst_nb", "furo")
STATIC = Path(__file__).parent / "book_files" / "static"
# Sphinx leaves it in every site, so it tells one from other folders.
SITE_MARK = ".buildinfo"
TITLE = "Feeding Language Models"
BLUE = {"light": "#0b5cad", "dark": "#7cc0ff"}
# Known to Sphinx only once the theme is loaded, so it can't be among the others.
THEME_SETTINGS = 'pygments_dark_style = "github-dark"\n'
EXTENSIONS = (
    "myst_nb",
    "sphinx.ext.viewcode",
    "course_lib.teaching.classroom.book_files.sphinx_extension",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder of the site")
    parser.add_argument(
        "lessons",
        nargs="*",
        metavar="LESSON",
        help="2, 02 or sliding_windows; all lessons by default",
    )
    parser.add_argument(
        "--api",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="with a reference of the package (default)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="write into a folder that is not empty; a site in it is removed first",
    )


def run(options: argparse.Namespace) -> int:
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ValueError(
            f"{', '.join(missing)} missing: install what sites are made with by "
            "`pip install --editable '.[teach]'`"
        )
    lessons = find_lessons(options.lessons)
    out = options.out.expanduser().resolve()
    _check_empty(out, force=options.force)
    names = [lesson.name for lesson in lessons]
    warnings = build(out, lessons, Reference(names) if options.api else None)
    if warnings:
        print(warnings, file=sys.stderr, end="")
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    start = out / "index.html"
    number = "1 lesson" if len(lessons) == 1 else f"{len(lessons)} lessons"
    print(f"{number}, {size / 1e6:.0f} MB. Open {start.as_uri()} in a browser.")
    return 0


def build(out: Path, lessons: list[Lesson], reference: Reference | None) -> str:
    """Build the site, and return what Sphinx warns of: nothing, if all is well.

    Args:
        out: where to; a site in it is replaced.
        lessons: those that become pages.
        reference: what is told of the package, if anything.
    """
    from sphinx.application import Sphinx

    root = notebooks_folder().parent
    with tempfile.TemporaryDirectory(prefix="course-book-") as work:
        source, built = Path(work, "source"), Path(work, "site")
        (source / AS_IT_IS).mkdir(parents=True)
        modules = reference.pages_of_files() if reference else {}
        Pages(root, source, lessons, modules).write()
        if reference:
            titles = {
                lesson.name: (f"notebooks/{lesson.path.name}", lesson.title)
                for lesson in lessons
            }
            reference.write(source, titles)
        (source / "conf.py").write_text(THEME_SETTINGS, encoding="utf-8")
        warnings = io.StringIO()
        app = Sphinx(
            srcdir=source,
            confdir=source,
            outdir=built,
            doctreedir=Path(work, "doctrees"),
            buildername="html",
            confoverrides=_settings([lesson.name for lesson in lessons]),
            status=None,
            warning=warnings,
            freshenv=True,
        )
        _show_progress(app)
        app.build(force_all=True)
        (built / ".nojekyll").touch()  # GitHub's pages leave out `_static` without it
        _replace(out, built)
        # without the colors of a terminal
        told = re.sub(r"\x1b\[[\d;]*m", "", warnings.getvalue())
        return told.replace(f"{source}/", "")


def _settings(lessons: list[str]) -> dict[str, object]:
    """What a conf.py would hold."""
    colors = {
        f"{shade}_css_variables": {
            "color-brand-primary": color,
            "color-brand-content": color,
        }
        for shade, color in BLUE.items()
    }
    return {
        "project": TITLE,
        "release": course_lib.__version__,
        "html_title": TITLE,
        "extensions": list(EXTENSIONS),
        "exclude_patterns": [FILES, AS_IT_IS],
        "html_extra_path": [AS_IT_IS],
        "course_lessons": lessons,
        "nitpicky": True,
        # Without a network, only what the site itself holds can be linked.
        "nitpick_ignore_regex": [("py:.*", r"(?!course_lib\.).*")],
        "smartquotes": False,  # --force is no dash
        "nb_execution_mode": "off",
        "nb_render_markdown_format": "commonmark",
        "nb_code_prompt_show": "Show the {type}",
        "nb_code_prompt_hide": "Hide the {type}",
        "nb_ipywidgets_js": {},  # they would come from elsewhere
        "myst_enable_extensions": ["colon_fence", "dollarmath", "html_image"],
        "myst_heading_anchors": 4,
        "html_math_renderer": "mathml",
        "toc_object_entries_show_parents": "hide",
        "add_module_names": False,
        "python_use_unqualified_type_names": True,
        "python_maximum_signature_line_length": 72,
        "viewcode_follow_imported_members": True,
        "html_theme": "furo",
        "html_theme_options": {
            **colors,
            "top_of_page_buttons": [],
            "navigation_with_keys": True,
        },
        "html_static_path": [str(STATIC)],
        "html_css_files": ["book.css"],
        "html_js_files": ["book.js"],
        "html_favicon": str(STATIC / "favicon.svg"),
        "html_copy_source": False,
        "html_show_sourcelink": False,
        "html_show_copyright": False,
        "html_use_index": True,
        "html_domain_indices": False,
    }


def _show_progress(app) -> None:
    """Count the pages as they are read and written; nothing stays of it."""
    shown = None if sys.stderr.isatty() else False
    bar = progress_bar(description="pages", unit="page", progress=shown)

    def begin(_, __, names: list[str]) -> None:
        bar.total = 2 * len(names)
        bar.refresh()

    app.connect("env-before-read-docs", begin)
    app.connect("doctree-read", lambda *_: bar.update())
    app.connect("doctree-resolved", lambda *_: bar.update())
    app.connect("build-finished", lambda *_: bar.close())


def _check_empty(out: Path, *, force: bool) -> None:
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out} is no folder")
    if out.is_dir() and any(out.iterdir()) and not force:
        raise FileExistsError(
            f"{out} is not empty: name a new folder, or add --force to write into it"
        )


def _replace(out: Path, built: Path) -> None:
    """Move a site to its place, once it is whole."""
    if (out / SITE_MARK).is_file():
        shutil.rmtree(out)
    shutil.copytree(built, out, dirs_exist_ok=True)
