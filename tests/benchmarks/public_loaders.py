"""What `audit_loader` says of loaders of public packages, beside what their page says.

    python tests/benchmarks/public_loaders.py                    all of them: some minutes, most of it pip's
    python tests/benchmarks/public_loaders.py --only grain trl   only these

Each package is installed into a folder of its own (`--folder` keeps them), without what it depends on and does not need
here, beside the packages of the course. Versions, lines and numbers on the page are brought up to date. Findings are
not: an audit that finds something else is an error, until somebody has read the source of the package and written into
the page what is found, and whether it is true. A new loader gets its row by hand, too.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import inspect
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(Path(__file__).parent), str(ROOT)]  # run by its path, it finds its neighbor and the course

from public_adapters import LOADERS  # noqa: E402

from course_lib.auditing_loaders import audit_loader  # noqa: E402
from course_lib.foundation import progress_bar  # noqa: E402

PAGE = Path(__file__).parent / "results" / "public_loaders.md"
NAME = re.compile(r"`(\w+)`")


def rows_of(page: str) -> dict[str, str]:
    """The row of each loader, which stand in the same order."""
    return dict(zip(LOADERS, [line for line in page.splitlines() if line.startswith("| ")][1:], strict=True))


def audit_here(name: str) -> None:
    """Audit a loader in this process, and print what is said as JSON."""
    make_loader, packages, how = LOADERS[name]
    warnings.simplefilter("ignore")
    audit = audit_loader(make_loader, progress=False, **how)
    version = importlib.metadata.version(packages.split()[0].partition("==")[0])
    print(json.dumps({**audit.as_dict(), "of": version}))


def audit_there(name: str, folder: Path) -> dict:
    """Install what a loader needs, and audit it in a process of its own."""
    packages = LOADERS[name][1].split()
    if "==" in packages[0] and not folder.exists():  # the course brings the others
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *packages]
        subprocess.run(pip, check=True, stdout=sys.stderr)
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-W", "ignore", __file__, "--here", name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(f"{name} could not be audited:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def bring_up_to_date(row: str, name: str, said: dict) -> str:
    """The row of the page with what is said now; what is written by hand stays. ValueError for other findings."""
    _, whose, _, before, truth = (cell.strip() for cell in row.strip("|").split(" | "))
    words = ", ".join(f"`{each['name']}` {each['count']:,}" for each in said["findings"]) or "clean"
    if said["undecided"] or NAME.findall(words) != NAME.findall(before):
        raise ValueError(f"{name}: {words} {said['undecided'] or ''}, and on the page {before}")
    make_loader, packages, _ = LOADERS[name]
    lines = len(inspect.getsource(make_loader).strip().splitlines())
    return f"| {packages.split()[0].partition('==')[0]} {said['of']} | {whose} | {lines} | {words} | {truth} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(LOADERS), default=list(LOADERS), metavar="NAME")
    parser.add_argument("--folder", type=Path, help="keeps the packages here, for the next run")
    parser.add_argument("--here", choices=list(LOADERS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        return audit_here(arguments.here)
    page, others = PAGE.read_text(encoding="utf-8"), []
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        for name in progress_bar(arguments.only, "loaders"):
            row = rows_of(page)[name]
            try:
                page = page.replace(row, bring_up_to_date(row, name, audit_there(name, folder / name)))
            except ValueError as error:
                others.append(str(error))
    if others:
        raise SystemExit("\n".join(["These audits say something else:", *others]))
    if arguments.only == list(LOADERS):
        page = re.sub(r"with Python [\d.]*\d", f"with Python {platform.python_version()}", page)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
