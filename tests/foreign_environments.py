"""Audit where the course isn't at home: in environments that are made anew, from a registry of packages.

    python tests/foreign_environments.py                  NumPy alone
    python tests/foreign_environments.py oldest           the oldest NumPy and PyTorch, on Python 3.10 or 3.11
    python tests/foreign_environments.py Grain litData    libraries of notebooks/AUDITING.md, with the code on that page

Each environment gets the course as a user installs it, without an extra, and then audits. You see how many packages it
has, how large it is, how long installing took, and how long the first audit. The exit status is 1 if an audit finds
something else than it should. Where no package can be had, a line says that nothing was tried, and the status is 0, or
1 with --no-skip. This file needs the standard library alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "notebooks" / "AUDITING.md"
OF_ARRAYS = """\
import numpy as np


def make_loader(ids, epoch):
    starts = np.random.default_rng(epoch).permutation(np.arange(0, len(ids) - 16, 16))
    for at in range(0, len(starts) - 3, 4):
        rows = ids[starts[at : at + 4, None] + np.arange(17)]
        yield rows[:, :-1].copy(), rows[:, 1:].copy()
"""
OF_TENSORS = """\
import torch
from torch.utils.data import DataLoader


def make_loader(ids, epoch, rank, world_size):
    windows = [torch.as_tensor(ids[at : at + 17]) for at in range(0, len(ids) - 16, 16)]
    order = torch.Generator().manual_seed(epoch)
    for rows in DataLoader(windows[rank::world_size], 4, shuffle=True, generator=order):
        yield rows[:, :-1].clone(), rows[:, 1:].clone()
"""


class Environment(NamedTuple):
    packages: tuple[str, ...]  # as pip takes them
    code: str  # of a file with a make_loader
    options: tuple[str, ...]  # of the command
    names: tuple[str, ...]  # of the findings


OWN = {
    "numpy": Environment(("numpy",), OF_ARRAYS, (), ()),
    # of even length for both ranks
    "oldest": Environment(
        ("numpy==1.23.5", "torch==2.0.1"), OF_TENSORS, ("--world-size", "2", "--num-tokens", "4001"), ()
    ),
}


def environments() -> dict[str, Environment]:
    """Those above, and one for each library of the page."""
    page, found = PAGE.read_text(encoding="utf-8"), dict(OWN)
    rows = re.findall(r"^\| \[(\w+)\]\(#\w+\).*? \| [^|]+ \| ([^|]+) \|", page, flags=re.MULTILINE)
    for name, words in rows:
        section = re.split(r"^## ", page.split(f"\n## {name}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]
        ((code, commands),) = re.findall(r"```python\n(.*?)```.*?```bash\n(.*?)```", section, flags=re.DOTALL)
        install, audit = map(shlex.split, commands.splitlines())
        assert install[:4] == ["python", "-m", "pip", "install"], install
        assert audit[:4] == ["python", "-m", "course_lib", "audit"], audit
        names = tuple(re.findall(r"`(\w+)`", words))
        found[name] = Environment(tuple(install[4:]), code, tuple(audit[5:]), names)
    return found


def audit_in(folder: Path, name: str, environment: Environment) -> str:
    """Make the environment, and audit in it. Return what is wrong, or nothing; OSError without a package."""
    began = time.monotonic()
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "install", "--quiet", str(ROOT), *environment.packages], capture_output=True, text=True
    )
    if done.returncode:
        raise OSError(done.stderr.strip().splitlines()[-1])
    installed = time.monotonic()
    (folder / "loader.py").write_text(environment.code, encoding="utf-8")
    command = [str(python), "-m", "course_lib", "audit", "loader.py:make_loader", *environment.options, "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    audited = time.monotonic()
    listed = subprocess.run([*pip, "list", "--format=json"], capture_output=True, text=True, check=True)
    packages = [each["name"] for each in json.loads(listed.stdout) if each["name"] not in ("pip", "setuptools")]
    size = sum(path.stat().st_size for path in (folder / "venv").rglob("*") if path.is_file()) / 1e6
    seconds = f"{installed - began:.0f} s to install, {audited - installed:.1f} s to audit"
    print(f"{name}: {len(packages)} packages, {size:.0f} MB, {seconds}", flush=True)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return done.stderr
    if "error" in said:
        return said["error"]
    names = tuple(finding["name"] for finding in said["findings"])
    if names != environment.names or said["undecided"]:
        return f"found {names}, undecided {said['undecided']}, and expected {environment.names}"
    return ""


def main() -> int:
    known = environments()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["numpy"], metavar="NAME", help=", ".join(known))
    parser.add_argument("--no-skip", action="store_true", help="fail if packages can't be installed")
    options = parser.parse_args()
    names = options.names
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no {unknown[0]}, but {', '.join(known)}")
    status = 0
    for name in names:
        with tempfile.TemporaryDirectory(prefix="foreign-") as folder:
            try:
                wrong = audit_in(Path(folder), name, known[name])
            except OSError as error:
                print(f"{name}: not tried, because the packages couldn't be installed: {error}")
                status = status or int(options.no_skip)
                continue
        if wrong:
            print(f"{name}: {wrong}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
