"""Run the measured cells of a lesson with ten other base seeds, or on another text, and print which assertions fail.

    python tests/other_seeds.py 02
    python tests/other_seeds.py 02 --corpus play.txt

What a cell asserts, and what the prose says of it, should hold for more than the seeds that we happened to take, and
where it holds for the bundled story alone, a verdict is printed from what was measured instead. It is
meant for those who write lessons, and no part of the test suite: it takes ten times as long as the lesson.
"""

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from kernel_environment import kernel_environment

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
# The seed of a run is made of the run's number. Seeds that are written out belong to demonstrations, and stay.
SEED_OF_A_RUN = re.compile(r"((?:manual_seed|default_rng)\(|\b(?:base_)?seed=)((?:1_?000 [*+] )?(?:run|seed|fold))\b")
SEEDS_OF_RUNS = re.compile(r"\bseeds = range\((\d+)\)")  # what a lesson passes to its experiments
OTHER_SEEDS = re.compile(r"^ *(?:\w*seeds) = (?!range\(\d+\)).*", flags=re.MULTILINE)  # would stay as they are
EXERCISES = re.compile(r"^## \d+\. (Bug|True|Exercises)", flags=re.MULTILINE)


class NothingToVary(ValueError):
    """A lesson in which no seed of a run was found, or one that wouldn't be varied."""


def before_exercises(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the code cells before the exercises."""
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and EXERCISES.search(cell.source):
            break
        if cell.cell_type == "code":
            cells.append(nbformat.v4.new_code_cell(cell.source))
    return nbformat.v4.new_notebook(cells=cells, metadata=notebook.metadata)


def with_seeds_from(notebook: nbformat.NotebookNode, first: int) -> nbformat.NotebookNode:
    """Return the code cells before the exercises, with `first` added to the seed of each run."""
    measured, varied = before_exercises(notebook), 0
    for cell in measured.cells:
        if stays := OTHER_SEEDS.search(cell.source):
            raise NothingToVary(f"write the seeds as `seeds = range(10)`, or they stay: {stays[0].strip()}")
        source, by_hand = SEED_OF_A_RUN.subn(rf"\g<1>{first} + \2", cell.source)
        cell.source, passed = SEEDS_OF_RUNS.subn(rf"seeds = range({first}, {first} + \1)", source)
        varied += by_hand + passed
    if not varied:
        raise NothingToVary("no seed of a run was found before the exercises, so all runs would be the same")
    return measured


def failed_assertions(notebook: nbformat.NotebookNode) -> list[str]:
    """Run all cells in a new kernel, and return the line of each assertion that failed."""
    resources = {"metadata": {"path": str(NOTEBOOKS)}}
    NotebookClient(notebook, kernel_name="python3", resources=resources, timeout=600, allow_errors=True).execute()
    failed = []
    for cell in notebook.cells:
        for output in cell.outputs:
            if output.output_type == "error":
                lines = [line for line in cell.source.splitlines() if "assert" in line]
                at = lines if output.ename == "AssertionError" else cell.source.splitlines()[-1:]
                failed.append(f"{output.ename} {output.evalue}: {' | '.join(map(str.strip, at))}")
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lesson", help="its number, with two digits")
    parser.add_argument("--seeds", type=int, default=10, help="how many base seeds, ten by default")
    parser.add_argument("--corpus", metavar="FILE", help="a text to read instead, once, with the seeds as they are")
    options = parser.parse_args()
    (path,) = NOTEBOOKS.glob(f"{options.lesson}_*.ipynb")
    with tempfile.TemporaryDirectory(prefix="course-ipython-") as directory:
        os.environ.update(kernel_environment(Path(directory)))
        if options.corpus:
            os.environ["COURSE_CORPUS"] = os.path.abspath(options.corpus)
            failed = failed_assertions(before_exercises(nbformat.read(path, as_version=4)))
            print(f"{path.stem} on {options.corpus}:", *failed or ["all assertions hold"], sep="\n  ", flush=True)
            return
        lesson = nbformat.read(path, as_version=4)
        try:
            with_seeds_from(lesson, 0)
        except NothingToVary as error:
            sys.exit(f"{path.stem}: {error}")
        for first in range(100_000, 100_000 * (options.seeds + 1), 100_000):
            failed = failed_assertions(with_seeds_from(lesson, first))
            print(f"seeds from {first:,} on:", *failed or ["all assertions hold"], sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
