"""What `audit_loader` says of loaders of public packages, written down as a page.

    python tests/benchmarks/public_loaders.py                    all of them: some minutes, most of it pip's
    python tests/benchmarks/public_loaders.py --only grain trl   only these, and no page

Each package is installed into a folder of its own (`--folder` keeps them), without what it depends on and does not need
here, beside the packages of the course. An audit that says something else than `public_adapters.py` is an error.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import inspect
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(Path(__file__).parent), str(ROOT)]  # run by its path, it finds its neighbors and the course

from public_adapters import LOADERS  # noqa: E402

from course_lib.auditing_loaders import audit_loader  # noqa: E402
from course_lib.foundation import progress_bar  # noqa: E402

PAGE = Path(__file__).parent / "results" / "public_loaders.md"
BROUGHT = {"torch", "torchdata", "datasets", "transformers", "trl", "accelerate"}  # by the course's test extra
HEAD = """# What the audit says of public loaders

Written by `python tests/benchmarks/public_loaders.py`, with Python {python}. *Lines* are those of the adapter in
[public_adapters.py](../public_adapters.py). A finding is a fact, and its number counts tokens, rows or steps, as
its name says; where a shuffle has no seed, it differs a little from run to run. The last column is not computed:
for each finding, somebody read the source of the package. No loader here is accused of what it does not do.

| package | loader | lines | what is said | is it true? |
|---|---|---:|---|---|
"""


def audit_here(name: str) -> None:
    """Audit a loader in this process, and print what is said as JSON."""
    loader = LOADERS[name]
    warnings.simplefilter("ignore")
    audit = audit_loader(loader.make_loader, progress=False, **loader.audit)
    version = importlib.metadata.version(loader.packages.split()[0].split("==")[0])
    print(json.dumps({**audit.as_dict(), "of": version}))


def audit_there(name: str, folder: Path) -> dict:
    """Install what a loader needs, and audit it in a process of its own."""
    first, *others = LOADERS[name].packages.split()
    if first not in BROUGHT and not folder.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), first, *others]
        subprocess.run(pip, check=True, stdout=sys.stderr)
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-W", "ignore", __file__, "--here", name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(f"{name} could not be audited:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def row_of(name: str, said: dict) -> str:
    loader = LOADERS[name]
    package = loader.packages.split()[0].split("==")[0]
    lines = len(inspect.getsource(loader.make_loader).strip().splitlines())
    found = ", ".join(f"`{each['name']}` {each['count']:,}" for each in said["findings"])
    undecided = ", ".join(f"undecided: `{each}`" for each in said["undecided"])
    words = "; ".join(filter(None, [found, undecided])) or "clean"
    return f"| {package} {said['of']} | {loader.whose} | {lines} | {words} | {loader.truth} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(LOADERS), default=list(LOADERS), metavar="NAME")
    parser.add_argument("--folder", type=Path, help="keeps the packages here, for the next run")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    parser.add_argument("--here", choices=list(LOADERS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        audit_here(arguments.here)
        return
    rows, others = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        for name in progress_bar(arguments.only, "loaders"):
            said = audit_there(name, folder / name)
            rows.append(row_of(name, said))
            names = [each["name"] for each in said["findings"]]
            if names != list(LOADERS[name].findings) or said["undecided"]:
                others.append(f"{name}: {names} {said['undecided'] or ''}, and not {list(LOADERS[name].findings)}")
    text = HEAD.format(python=sys.version.split()[0]) + "\n".join(rows) + "\n"
    if others:
        raise SystemExit("\n".join(["These audits say something else:", *others, "", text]))
    if len(rows) == len(LOADERS):
        arguments.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
