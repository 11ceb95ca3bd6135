"""Say where the course is published: in pyproject.toml, from there in all first cells and on the site, and in README.

    python tests/publish.py https://github.com/NAME/REPOSITORY --branch main

Until then no address stands anywhere: a lesson that is opened apart from its repository says that it needs the rest,
and README tells how to get a repository that one is looking at.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TAG = "install"

# Where the kernel knows the course, this does nothing.
INSTALL = """\
# Installs the course where it is missing; else it does nothing.
import importlib.util, pathlib, subprocess as sp, sys
if not all(map(importlib.util.find_spec, ("course_lib", "torch", "pebble"))):
    course = pathlib.Path("..").resolve()
    if not (course / "course_lib").is_dir():
{elsewhere}
    sp.check_call([sys.executable, "-m", "pip", "install", "-qe", f"{{course}}[course]"])
    sys.path.append(str(course))
"""
CLONE = """\
        course = pathlib.Path("feeding-language-models").resolve()
        address = "{address}"
        if not course.is_dir():
            sp.check_call(["git", "clone", "--depth=1", address, course])"""
REFUSE = """\
        raise FileNotFoundError(
            "A lesson needs the rest of its course. Get the whole folder, in which "
            "`notebooks` and `course_lib` are side by side, and open the lesson there."
        )"""


def address() -> str:
    """Where the course is published, as pyproject.toml says."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project.get("urls", {}).get("Repository", "")


def install_source() -> str:
    """The first code cell of each lesson: without an address, it says what is missing."""
    published = address()
    elsewhere = CLONE.format(address=published) if published else REFUSE
    return INSTALL.format(elsewhere=elsewhere).strip()


def badges(address: str, branch: str) -> str:
    """The README's line of badges: whether the tests pass, and where lesson 1 can be opened without installing."""
    name = address.removeprefix("https://github.com/")
    lesson = "notebooks/01_next_token_shifting.ipynb"
    binder = f"https://mybinder.org/v2/gh/{name}/{branch}?urlpath=lab/tree/{lesson}"
    colab = f"https://colab.research.google.com/github/{name}/blob/{branch}/{lesson}"
    tests = f"{address}/actions/workflows/tests.yml"
    return " ".join(
        f"[![{text}]({picture})]({link})"
        for text, picture, link in (
            ("Tests", f"{tests}/badge.svg?branch={branch}", tests),
            ("Open in Binder", "https://mybinder.org/badge_logo.svg", binder),
            ("Open in Colab", "https://colab.research.google.com/assets/colab-badge.svg", colab),
        )
    )


def with_badges(readme: str, line: str) -> str:
    """The README with this line of badges below its title, in place of another."""
    title, rest = readme.split("\n", 1)
    rest = re.sub(r"^\n*(\[!\[.*\[!\[.*\n+)?", "", rest)
    return f"{title}\n\n{line}\n\n{rest}"


def with_source(readme: str, address: str, branch: str) -> str:
    """The README with the address in the paragraph that says how to get the course, in place of what it said."""
    where = (
        f"First get the course: `git clone --depth=1 {address}`, or download [a zip file]({address}/archive/refs/heads/"
        f"{branch}.zip) and unpack it. Then open a terminal in its folder."
    )
    changed, times = re.subn(r"(?<=<!-- where the course is -->\n)(.+\n)+", f"{where}\n", readme)
    if times != 1:
        raise ValueError("README.md must say once where the course is, below <!-- where the course is -->")
    return changed


def with_address(pyproject: str, address: str) -> str:
    """pyproject.toml with this address, in place of another."""
    table = f'[project.urls]\nRepository = "{address}"\n\n'
    without = re.sub(r"^\[project\.urls\]\n(?:(?!\[).*\n)*", "", pyproject, flags=re.MULTILINE)
    return without.replace("[project.optional-dependencies]", table + "[project.optional-dependencies]", 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", help="of the repository, on GitHub: Binder and Colab read it there")
    parser.add_argument("--branch", default="main")
    options = parser.parse_args()
    wanted = options.address.rstrip("/").removesuffix(".git")
    if not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", wanted):
        parser.error(f"{wanted} is no address like https://github.com/NAME/REPOSITORY")

    import nbformat

    import refresh_notebooks

    for path, change, values in (
        (ROOT / "pyproject.toml", with_address, (wanted,)),
        (ROOT / "README.md", with_badges, (badges(wanted, options.branch),)),
        (ROOT / "README.md", with_source, (wanted, options.branch)),
    ):
        path.write_text(change(path.read_text(encoding="utf-8"), *values), encoding="utf-8")
    for path in sorted(refresh_notebooks.NOTEBOOKS.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        path.write_text(refresh_notebooks.normalize(notebook), encoding="utf-8")
    print(f"The course is at {wanted}, branch {options.branch}. Look at `git diff`, and commit.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
