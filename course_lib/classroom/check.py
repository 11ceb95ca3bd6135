"""Is everything installed and working? One line for each point:

    ok     works
    note   works, but is worth knowing
    WRONG  does not work, and the line below says what to type

The first cells of a lesson run in their own kernel, as JupyterLab would run them. The
check changes nothing and uses no network. The exit status is 1 if anything is wrong.
"""

# The standard library alone: what is missing must not keep this from saying so.
import argparse
import hashlib
import importlib.metadata
import json
import multiprocessing
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTION = "feeding-language-models"
OK, NOTE, WRONG = "ok", "note", "WRONG"
EXTRAS = {
    "test": "to run the course's tests",
    "cluster": "for the cluster of lesson 12, which is skipped without it",
    "teach": "for a web site of the course, and for nbgrader",
}
FIRST_LESSON, FIRST_CELLS = "01_next_token_shifting.ipynb", 3
KERNEL, KERNEL_SECONDS = "python3", 90
GIGABYTE = 10**9
GET_A_COPY = "Get a copy of the repository, and install the course in its folder."
# The heavy ones, which may be damaged although installed; the kernel imports the rest.
IMPORTED = ("tokenizers", "regex", "pyarrow", "datasets", "transformers", "accelerate")


@dataclass(frozen=True)
class Point:
    """One line of the report: a sign, what is said, and what to do about it."""

    sign: str
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        more = (f"\n       {line}" for line in self.remedy.splitlines())
        return f"{self.sign:<6} {self.text}{''.join(more)}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--all", action="store_true", help="list every package, the fine ones too"
    )
    parser.add_argument(
        "--no-kernel",
        action="store_true",
        help="start no kernel and import no package: quicker, but knows less",
    )


def run(options: argparse.Namespace) -> int:
    wrong = 0
    for point in examine(every_package=options.all, kernel=not options.no_kernel):
        print(point, flush=True)
        wrong += point.sign == WRONG
    if not wrong:
        print("\nEverything works. Begin with notebooks/01_next_token_shifting.ipynb.")
        return 0
    things = "One thing is" if wrong == 1 else f"{wrong} things are"
    print(f"\n{things} wrong: see the lines that begin with {WRONG}.")
    return 1


def examine(*, every_package: bool, kernel: bool) -> Iterator[Point]:
    """Yield all points. The slow ones are at work while the quick ones are told."""
    quick: list[Callable[[], Iterable[Point]]] = [
        check_python,
        lambda: check_packages(every_package=every_package),
        check_widgets,
        check_texts,
        check_notebooks,
        check_folders,
        check_machine,
        check_locks,
        check_extras,
    ]
    slow = (check_imports, check_kernel) if kernel else ()
    told = set()
    with ThreadPoolExecutor(2) as pool:
        begun = [pool.submit(lambda points=points: [*points()]) for points in slow]
        for points in [*quick, *(future.result for future in begun)]:
            for point in _points_of(points):
                if point.text not in told:  # several need the package that is missing
                    yield point
                told.add(point.text)


def _points_of(points: Callable[[], Iterable[Point]]) -> Iterator[Point]:
    """Whatever fails in a check is a point itself: the others are still told."""
    try:
        yield from points()
    except ModuleNotFoundError as error:
        yield Point(WRONG, f"{error.name} is not installed", install_again())
    except Exception as error:
        text = f"a check broke off: {type(error).__name__}: {error}"
        yield Point(WRONG, text, install_again())


def install_again(extra: str = "") -> str:
    return _pip("--editable", f"{ROOT}{extra}") if in_repository() else GET_A_COPY


def in_repository() -> bool:
    """A package alone has no texts and no lessons, and its folder installs nothing."""
    return (ROOT / "pyproject.toml").is_file()


def _typed(*words: str) -> str:
    words = (sys.executable, *words)
    return " ".join(f'"{w}"' if re.search(r"[ <>\[]", w) else w for w in words)


def _pip(*words: str) -> str:
    return f"Type: {_typed('-m', 'pip', 'install', *words)}"


def ranges() -> tuple[list[str], str]:
    """What the course asks for: as its files say, else as it said when installed."""
    path = ROOT / "pyproject.toml"
    if path.is_file():
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        requirements = list(project["dependencies"])
        for extra, names in project["optional-dependencies"].items():
            requirements += [f"{name}; extra == '{extra}'" for name in names]
        return requirements, project["requires-python"]
    asked = importlib.metadata.metadata(DISTRIBUTION)
    return asked.get_all("Requires-Dist") or [], asked["Requires-Python"] or ""


def check_python() -> Iterator[Point]:
    """Its version, and where it lies: it may not be the one that was meant."""
    version, (_, wanted) = platform.python_version().rstrip("+"), ranges()
    text = f"Python {version}, {sys.executable}"
    if fits(version, wanted):
        yield Point(OK, text)
    else:
        remedy = f"Install a Python {wanted} from https://www.python.org, then retry."
        yield Point(WRONG, f"{text}: the course needs {wanted}", remedy)


def check_packages(*, every_package: bool) -> Iterator[Point]:
    """Each package that the lessons need: is it there, in a version that was tried?"""
    fine = 0
    for name, wanted in required():
        version = installed_version(name)
        install = _pip(f"{name}{wanted}")
        if version is None:
            yield Point(WRONG, f"{name} is not installed", install)
        elif not fits(version, wanted):
            text = f"{name} {version} is not a version that the course was tried with"
            yield Point(WRONG, f"{text} ({wanted})", install)
        else:
            fine += 1
            if every_package:
                yield Point(OK, f"{name} {version}")
    if fine:
        which = "packages are" if fine > 1 else "package is"
        yield Point(OK, f"{fine} {which} installed, in the versions that are needed")
    if installed_version(DISTRIBUTION) is None:
        text = "the course itself is not installed: not every notebook finds it"
        yield Point(NOTE, text, install_again())


def check_extras() -> Iterator[Point]:
    for extra, purpose in EXTRAS.items():
        packages = required(extra)
        missing = [n for n, w in packages if not fits(installed_version(n), w)]
        if missing:
            text = f"optional, {purpose}: {', '.join(missing)} not installed"
            yield Point(NOTE, text, install_again(f"[{extra}]"))
        else:
            yield Point(OK, f"optional, {purpose}: installed")


def required(extra: str = "") -> list[tuple[str, str]]:
    """Name and range of what the lessons need, or of what an extra adds."""
    from packaging.requirements import Requirement

    def holds(one: Requirement, extra: str) -> bool:
        return one.marker is None or one.marker.evaluate({"extra": extra})

    asked = [Requirement(requirement) for requirement in ranges()[0]]
    return [
        (one.name, str(one.specifier))
        for one in asked
        if holds(one, extra) and not (extra and holds(one, ""))
    ]


def installed_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def fits(version: str | None, wanted: str) -> bool:
    from packaging.specifiers import SpecifierSet

    allowed = SpecifierSet(wanted, prereleases=True)
    return version is not None and version in allowed


def check_widgets() -> Iterator[Point]:
    """Buttons and sliders: a package, and the part of it that runs in JupyterLab."""
    from jupyter_core import paths

    part = Path("@jupyter-widgets", "jupyterlab-manager", "package.json")
    if any(Path(f, part).is_file() for f in paths.jupyter_path("labextensions")):
        yield Point(OK, "buttons and sliders: JupyterLab can show them")
        return
    again = _pip("--force-reinstall", "--no-deps", "jupyterlab_widgets")
    more = "and reload the page in the browser. The lessons also run without them."
    text = "buttons and sliders: JupyterLab cannot show them"
    yield Point(NOTE, text, f"{again}\n{more}")


def check_texts() -> Iterator[Point]:
    """The bundled texts, by their checksums: every number in the lessons is theirs."""
    sums = ROOT / "data" / "SHA256SUMS"
    restore = f'Take it from a new copy of the course; or: git -C "{ROOT}" restore data'
    if not sums.is_file():
        remedy = restore if in_repository() else GET_A_COPY
        yield Point(WRONG, f"{sums} is missing", remedy)
        return
    names = []
    for line in sums.read_text(encoding="utf-8").splitlines():
        expected, name = line.split(maxsplit=1)
        path = sums.parent / name.lstrip("*")
        if not path.is_file():
            yield Point(WRONG, f"{path} is missing", restore)
        elif hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            text = f"{path} is not as it came with the course: no number will be right"
            yield Point(WRONG, text, restore)
        else:
            names.append(path.name)
    if names:
        yield Point(OK, f"texts: {', '.join(names)} are as they came")
    own = os.environ.get("COURSE_CORPUS")
    if own and Path(own).expanduser().is_file():
        text = f"COURSE_CORPUS is set: the lessons read {own}, not the story"
        yield Point(NOTE, text)
    elif own:
        text = f"COURSE_CORPUS names {own}, and there is no such file"
        yield Point(WRONG, text, "Correct the variable, or remove it.")


def check_notebooks() -> Iterator[Point]:
    """All lessons can be read: a merge or an editor may have damaged one."""
    folder = ROOT / "notebooks"
    restore = f'This loses your answers in it: git -C "{ROOT}" restore notebooks'
    paths = sorted(folder.glob("??_*.ipynb"))
    fine = 0
    for path in paths:
        try:
            if not json.loads(path.read_text(encoding="utf-8"))["cells"]:
                raise ValueError("no cells")
            fine += 1
        except (OSError, ValueError, LookupError, TypeError):
            yield Point(WRONG, f"{path} is not a notebook any more", restore)
    if fine:
        yield Point(OK, f"{fine} lessons in {folder}")
    if not paths:
        text = f"no lessons in {folder}: they come with the course's repository"
        yield Point(WRONG, text, GET_A_COPY)


def folders_to_write() -> dict[str, Path]:
    """Where the lessons write, and Jupyter, by what for."""
    cache = os.environ.get("HF_HOME") or "~/.cache/huggingface"
    folders = {
        "the lessons": ROOT / "notebooks",
        "temporary files": Path(tempfile.gettempdir()),
        "downloaded or converted texts": Path(cache).expanduser(),
    }
    if find_spec("jupyter_core"):
        from jupyter_core.paths import jupyter_runtime_dir

        folders["Jupyter's own files"] = Path(jupyter_runtime_dir())
    return folders


def check_folders() -> Iterator[Point]:
    fine = []
    for purpose, folder in folders_to_write().items():
        place = next(p for p in (folder, *folder.parents) if p.exists())
        try:
            # os.access knows no full disks and no network folders: write something.
            with tempfile.TemporaryFile(dir=place) as file:
                file.write(b"0" * 4096)
        except OSError as error:
            text = f"nothing can be written to {folder}, the folder for {purpose}"
            sign = NOTE if folder == ROOT / "notebooks" else WRONG
            remedy = "Change its permissions, or copy the course to your own folder."
            yield Point(sign, f"{text} ({error.strerror})", remedy)
            continue
        free = shutil.disk_usage(place).free
        if free < GIGABYTE:
            text = f"only {free / GIGABYTE:.1f} GB free for {purpose}, in {place}"
            yield Point(NOTE, text, "Free some: 1 GB is enough for every lesson.")
        else:
            fine.append(purpose)
    if fine:
        yield Point(OK, f"folders that can be written: for {', '.join(fine)}")


def check_machine() -> Iterator[Point]:
    import psutil

    memory = psutil.virtual_memory()
    total, free = memory.total / GIGABYTE, memory.available / GIGABYTE
    text = f"memory: {total:.1f} GB, {free:.1f} GB of it free"
    remedy = "A lesson takes up to 2 GB: close what you do not need."
    yield Point(NOTE, text, remedy) if free < 2 else Point(OK, text)
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    text = f"processor cores: {cores}"
    slow = f"{text}; lessons take longer than they say, with only one"
    yield Point(NOTE, slow) if cores < 2 else Point(OK, text)


def check_locks() -> Iterator[Point]:
    """Processes that work together share locks: a loader with workers needs them."""
    try:
        multiprocessing.Lock()
        yield Point(OK, "processes can work together")
    except (OSError, ImportError) as error:
        text = f"processes cannot share a lock, as loaders with workers do: {error}"
        remedy = "On Linux the folder /dev/shm must be there, and let you write."
        yield Point(WRONG, text, remedy)


def check_imports() -> Iterator[Point]:
    """Import packages in a new process: one that is damaged cannot end this one."""
    names = [name for name in IMPORTED if find_spec(name)]
    each = "for name in sys.argv[1:]: print(name, flush=True); __import__(name)"
    command = [sys.executable, "-c", f"import sys\n{each}", *names]
    as_text = {"encoding": "utf-8", "errors": "replace"}
    done = subprocess.run(command, capture_output=True, env=_environment(), **as_text)
    if not done.returncode:
        yield Point(OK, "packages can be imported")
        return
    name = (done.stdout.split() or ["Python"])[-1]
    reason = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    text = f"{name} is installed, but cannot be imported: {reason}"
    yield Point(WRONG, text, _pip("--force-reinstall", name))


def _environment() -> dict[str, str]:
    """What a check starts uses no network, and shows no progress."""
    quiet = {"COURSE_PROGRESS": "0", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    return {**os.environ, "HF_HUB_OFFLINE": "1", **quiet}


def check_kernel() -> list[Point]:
    """Start a kernel as JupyterLab does, and run the first cells of a lesson in it."""
    import nbformat
    from jupyter_client.kernelspec import NoSuchKernel
    from nbclient import NotebookClient

    folder, began = ROOT / "notebooks", time.monotonic()
    notebook = nbformat.read(folder / FIRST_LESSON, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"][:FIRST_CELLS]
    where = nbformat.v4.new_code_cell("import sys; print(sys.prefix)")
    notebook.cells = [*cells, where]
    patience = {"timeout": KERNEL_SECONDS, "startup_timeout": KERNEL_SECONDS}
    how = {"kernel_name": KERNEL, "allow_errors": True, **patience}
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, resources=resources, **how)
    register = f"Type: {_typed('-m', 'ipykernel', 'install', '--sys-prefix')}"
    nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        with client.setup_kernel(env=_environment(), **nowhere):
            for index, cell in enumerate(notebook.cells):
                client.execute_cell(cell, index)
    except NoSuchKernel:
        text = f"Jupyter knows no kernel {KERNEL!r}: notebooks cannot run"
        return [Point(WRONG, text, register)]
    except (RuntimeError, TimeoutError) as error:
        reason = str(error).partition("\n")[0]
        text = f"the kernel {KERNEL!r} starts, but does not answer: {reason}"
        return [Point(WRONG, text, _pip("--force-reinstall", "ipykernel"))]
    except OSError as error:
        text = f"the kernel {KERNEL!r} cannot be started: {error}"
        remedy = f"It may be that of a removed Python. {register}"
        return [Point(WRONG, text, remedy)]
    for number, cell in enumerate(cells, start=1):
        for output in cell.outputs:
            if output.output_type == "error":
                text = f"cell {number} of {FIRST_LESSON} does not run: {output.ename}"
                text = f"{text}: {output.evalue[:200]}"
                return [Point(WRONG, text, install_again())]
    points = []
    prefix = "".join(output.get("text", "") for output in where.outputs).strip()
    if prefix and not os.path.samefile(prefix, sys.prefix):
        text = f"notebooks run in another Python than this one: {prefix}"
        remedy = f"That works, but install packages there. To change it: {register}"
        points.append(Point(NOTE, text, remedy))
    text = f"a kernel starts and runs the first cells of {FIRST_LESSON}"
    return [*points, Point(OK, f"{text}, in {time.monotonic() - began:.0f} s")]
