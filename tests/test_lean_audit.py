"""The audit runs where of all packages only NumPy is installed."""

import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ONLY = {"numpy", "course_lib"}
LOADER = """
import numpy as np

def make_loader(ids, epoch):
    starts = np.random.default_rng(epoch).permutation(np.arange(0, len(ids) - 16, 16))
    for at in range(0, len(starts) - 3, 4):
        rows = ids[starts[at : at + 4, None] + np.arange(17)]
        yield rows[:, :-1].copy(), rows[:, 1:].copy()
"""
PROGRAM = """
import sys
for name in sys.argv[2:]:
    sys.modules[name] = None  # importing it raises ModuleNotFoundError
from course_lib.__main__ import main
sys.exit(main(["audit", sys.argv[1]]))
"""


def test_the_audit_needs_numpy_alone(tmp_path):
    (tmp_path / "lean_loader.py").write_text(LOADER, encoding="utf-8")
    others = [n for n in packages_distributions() if n.isidentifier() and n not in ONLY]
    command = [sys.executable, "-c", PROGRAM, f"{tmp_path}/lean_loader.py:make_loader", *others]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("clean\n")
