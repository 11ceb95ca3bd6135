"""Execute the notebooks and write them back in normal form, so that a diff shows what has changed and nothing else.

    python tests/refresh_notebooks.py                 all of them
    python tests/refresh_notebooks.py 02 05           those whose names begin so

The picture in the README is drawn anew as well. Run twice on one machine, it changes no byte the second time.
"""

import argparse
import hashlib
import os
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert.preprocessors import CoalesceStreamsPreprocessor

import publish
from kernel_environment import ROOT, kernel_environment

sys.path.insert(0, str(ROOT))  # this checkout, whichever is installed
NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
TIMEOUT_IN_SECONDS = 600  # a busy machine is no failure, a dead kernel is
GUESS_FIRST = "# Guess first: this cell holds the answer."
PROMPT = re.compile(r"^predict\(", flags=re.MULTILINE)
WIDGET = "application/vnd.jupyter.widget-view+json"
SCRIPT = re.compile(r"<script>.*</script>", flags=re.DOTALL)
FOLDED = "hide-input"  # prompts, and what prepares a figure that is asked about; the site knows this tag as well
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    # As JupyterLab writes it, so that opening a lesson does not change it (another Python writes its own version).
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": "3.11.7",
    },
}


def execute(notebook: nbformat.NotebookNode) -> None:
    """Run all cells in a new kernel, in the folder of the notebooks; an error in a cell is raised."""
    resources = {"metadata": {"path": str(NOTEBOOKS)}}
    patience = {"timeout": TIMEOUT_IN_SECONDS, "startup_timeout": TIMEOUT_IN_SECONDS}
    NotebookClient(notebook, kernel_name="python3", resources=resources, **patience).execute()


def normalize(notebook: nbformat.NotebookNode) -> str:
    """Drop what depends on the moment and the machine, number the cells, and return the text of the file.

    A cell's id is derived from its source: it stays when cells are added before it. The source of a prompt holds its
    answer, and is folded; its output is not. Below the title, folded away, comes what installs the course where it is
    missing.
    """
    title, *others = [cell for cell in notebook.cells if publish.TAG not in cell.metadata.get("tags", [])]
    install = nbformat.v4.new_code_cell(publish.install_source(), metadata={"tags": [publish.TAG, "remove-cell"]})
    notebook.cells = [title, install, *others]
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    CoalesceStreamsPreprocessor().preprocess(notebook, {})  # in how many pieces a slow cell prints is chance
    seen: Counter[str] = Counter()
    count = 0
    for cell in notebook.cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
        seen[digest] += 1
        cell.id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
        tags = cell.metadata.get("tags", [])
        is_folded = PROMPT.search(cell.source) or cell.metadata.get("jupyter", {}).get("source_hidden")
        if is_folded and publish.TAG not in tags and FOLDED not in tags:
            tags = [*tags, FOLDED]  # as somebody folded it in JupyterLab
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        if publish.TAG in tags or FOLDED in tags:  # in Colab, and in JupyterLab
            cell.metadata |= nbformat.from_dict({"cellView": "form", "jupyter": {"source_hidden": True}})
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        cell.outputs = without_scripts(cell.outputs)
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = count
            if "metadata" in output:
                # How large a figure is shown: it is drawn at twice the size, for screens of high resolution.
                shown = output.metadata.get("image/png", {})
                size = {name: shown[name] for name in ("width", "height", "alt") if name in shown}
                output.metadata = nbformat.from_dict({"image/png": size} if size else {})
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def without_scripts(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Drop what a kernel that is gone would have to draw, and scripts; what stands in their place stays."""
    for output in outputs:
        data = output.get("data", {})
        data.pop(WIDGET, None)
        if "text/html" in data:
            data["text/html"] = SCRIPT.sub("", data["text/html"])
    return [output for output in outputs if output.get("data", True)]


def draw_readme_picture() -> None:
    """Draw four windows in two batches, with the function that the lessons use."""
    from course_lib.teaching.plots import plot_windows, style  # after the environment is set

    path = NOTEBOOKS / "images" / "starts.png"
    path.parent.mkdir(exist_ok=True)
    figure = plot_windows([[8, 0], [12, 4]], context_length=4, num_tokens=20)
    figure.savefig(path, dpi=100, metadata={"Software": None, "Palette": style.PALETTE})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="beginnings of notebook names; all by default")
    options = parser.parse_args()
    wanted = tuple(options.names) or ""
    paths = [path for path in sorted(NOTEBOOKS.glob("*.ipynb")) if path.name.startswith(wanted)]
    if not paths:
        parser.error(f"no notebook of that name in {NOTEBOOKS}")
    with tempfile.TemporaryDirectory(prefix="course-ipython-") as directory:
        os.environ.update(kernel_environment(Path(directory)))
        draw_readme_picture()
        for path in paths:
            before = path.read_text(encoding="utf-8")
            notebook = nbformat.reads(before, as_version=4)
            started = time.perf_counter()
            execute(notebook)
            after = normalize(notebook)
            path.write_text(after, encoding="utf-8")
            state = "unchanged" if after == before else "written"
            print(f"{path.name:<40} {state:<20} {time.perf_counter() - started:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
