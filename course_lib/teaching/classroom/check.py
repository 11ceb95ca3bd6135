"""Is everything installed and working? One line for each point:

    ok     works
    note   works, and is worth knowing
    WRONG  does not work; the line below says what to type

A lesson's first cells are run in a kernel of their own, as JupyterLab would run them.
Nothing is changed, and no network is used. The exit status is 1 if anything is wrong.
"""

# The standard library alone: what is missing must not keep this from saying so.
from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DISTRIBUTION = "feeding-language-models"
OK, NOTE, WRONG = "ok", "note", "WRONG"
# For what each extra is; the lessons themselves need none.
EXTRAS = {
    "test": "to run the course's tests",
    "cluster": "for the cluster of lesson 11, which is skipped without it",
    "teach": "for a web site of the course, and for nbgrader",
    "bench": "for one of the benchmarks",
}
FIRST_CELLS = 3
KERNEL_SECONDS = 90
GIGABYTE = 10**9
# Imported as a lesson would, in a process of its own: an installed package may still be
# damaged. The heavy ones; the kernel imports the rest.
IMPORTED = ("tokenizers", "regex", "pyarrow", "datasets", "transformers", "accelerate")


@dataclass(frozen=True)
class Point:
    """One line of the report: a sign, what is said, and what to do about it."""

    sign: str
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.sign:<6} {self.text}" + "".join(
            f"\n       {line}" for line in self.remedy.splitlines()
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--all", action="store_true", help="list every package, the fine ones too"
    )
    parser.add_argument(
        "--no-kernel",
        action="store_true",
        help="start no kernel and import no package: ends at once, and knows less",
    )


def run(options: argparse.Namespace) -> int:
    """Print the points as they are found; 1 if one of them is wrong."""
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


def examine(*, every_package: bool = False, kernel: bool = True) -> Iterator[Point]:
    """Yield all points. The slow ones are at work while the quick ones are told."""
    with ThreadPoolExecutor(2) as pool:
        slow = []
        if kernel:
            slow = [
                (check_imports, pool.submit(lambda: list(check_imports()))),
                (check_kernel, pool.submit(lambda: list(check_kernel()))),
            ]
        requirements, python_range = ranges()
        quick: list[Callable[[], Iterable[Point]]] = [
            lambda: check_python(python_range),
            lambda: check_packages(requirements, every_package=every_package),
            check_widgets,
            check_texts,
            check_notebooks,
            check_folders,
            check_machine,
            lambda: check_extras(requirements),
        ]
        for points in quick:
            yield from _points_of(points)
        for _, future in slow:
            yield from _points_of(future.result)


def _points_of(points: Callable[[], Iterable[Point]]) -> Iterator[Point]:
    """Whatever fails in a check is a point itself: the others are still told."""
    try:
        yield from points()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        yield Point(WRONG, f"a check broke off: {reason}", install_again())


def install_again() -> str:
    """Say what to type to have the packages that the course needs."""
    return _pip("--editable", str(ROOT))


def _typed(*words: str) -> str:
    words = (sys.executable, *words)
    return " ".join(f'"{w}"' if re.search(r"[ <>\[]", w) else w for w in words)


def _pip(*words: str) -> str:
    return f"Type: {_typed('-m', 'pip', 'install', *words)}"


def ranges(root: Path = ROOT) -> tuple[list[str], str]:
    """What the course asks for: as its files say, else as it said when installed."""
    path = root / "pyproject.toml"
    if path.is_file():
        import tomllib

        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        requirements = list(project["dependencies"])
        for extra, names in project["optional-dependencies"].items():
            requirements += [f"{name}; extra == '{extra}'" for name in names]
        return requirements, project["requires-python"]
    installed = importlib.metadata.metadata(DISTRIBUTION)
    requirements = installed.get_all("Requires-Dist") or []
    return requirements, installed["Requires-Python"] or ""


def check_python(
    wanted: str, version: str = platform.python_version()
) -> Iterator[Point]:
    """Its version, and where it lies: it may not be the one that was meant."""
    text = f"Python {version}, {sys.executable}"
    if wanted and not fits(version, wanted):
        remedy = f"Install a Python {wanted} from https://www.python.org; begin anew."
        yield Point(WRONG, f"{text}: the course needs {wanted}", remedy)
    else:
        yield Point(OK, text)


def check_packages(
    requirements: Iterable[str],
    version_of: Callable[[str], str | None] | None = None,
    *,
    every_package: bool = False,
) -> Iterator[Point]:
    """Each package that the lessons need: is it there, in a version that was tried?"""
    version_of = version_of or installed_version
    fine = 0
    for name, wanted in required(requirements):
        version = version_of(name)
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
    if version_of(DISTRIBUTION) is None:
        text = "the course itself is not installed: not every notebook finds it"
        yield Point(NOTE, text, install_again())


def check_extras(
    requirements: Iterable[str],
    version_of: Callable[[str], str | None] | None = None,
) -> Iterator[Point]:
    """What is not needed, and what it would be good for."""
    version_of = version_of or installed_version
    requirements = list(requirements)
    for extra, purpose in EXTRAS.items():
        missing = [
            name
            for name, wanted in required(requirements, extra)
            if not fits(version_of(name), wanted)
        ]
        if missing:
            text = f"optional, {purpose}: {', '.join(missing)} not installed"
            remedy = _pip("--editable", f"{ROOT}[{extra}]")
            yield Point(NOTE, text, remedy)
        else:
            yield Point(OK, f"optional, {purpose}: installed")


def required(
    requirements: Iterable[str], extra: str | None = None
) -> Iterator[tuple[str, str]]:
    """Yield name and range of what the lessons need, or of what an extra adds."""
    for requirement in requirements:
        what, _, condition = requirement.partition(";")
        of_extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", condition)
        if (of_extra.group(1) if of_extra else None) == extra:
            name, wanted = re.fullmatch(r"\s*([\w.-]+)\s*\(?(.*?)\)?\s*", what).groups()
            yield name, wanted


def installed_version(name: str) -> str | None:
    """The version of a distribution, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def fits(version: str | None, wanted: str) -> bool:
    """Say whether a version lies in a range such as `>=2.6,<2.14`."""
    if version is None:
        return False
    for comparison in filter(None, wanted.split(",")):
        sign, bound = re.fullmatch(
            r"\s*(>=|<=|==|!=|<|>)\s*([\d.]+)\s*", comparison
        ).groups()
        have, limit = _numbers(version), _numbers(bound)
        if not {
            ">=": have >= limit,
            "<=": have <= limit,
            "==": have == limit,
            "!=": have != limit,
            "<": have < limit,
            ">": have > limit,
        }[sign]:
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    """2.13.0+cpu is (2, 13): neither the rest counts in a range, nor do zeros."""
    numbers = [int(part) for part in re.match(r"[\d.]*", version)[0].split(".") if part]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def check_widgets(folders: Iterable[str] | None = None) -> Iterator[Point]:
    """Buttons and sliders: a package, and the part of it that runs in JupyterLab."""
    if folders is None:
        if importlib.util.find_spec("jupyter_core") is None:
            return  # said already, among the packages
        from jupyter_core.paths import jupyter_path

        folders = jupyter_path("labextensions")
    part = Path("@jupyter-widgets", "jupyterlab-manager", "package.json")
    if any((Path(folder) / part).is_file() for folder in folders):
        yield Point(OK, "buttons and sliders: JupyterLab can show them")
        return
    again = _pip("--force-reinstall", "--no-deps", "jupyterlab_widgets")
    remedy = (
        f"{again}\n"
        "and load the page in the browser anew. The lessons run without them, too."
    )
    yield Point(NOTE, "buttons and sliders: JupyterLab cannot show them", remedy)


def check_texts(folder: Path = ROOT / "data") -> Iterator[Point]:
    """The bundled texts, by their checksums: every number in the lessons is theirs."""
    sums = folder / "SHA256SUMS"
    restore = f'Take it from a new copy of the course; or: git -C "{ROOT}" restore data'
    if not sums.is_file():
        yield Point(WRONG, f"{sums} is missing", restore)
        return
    names = []
    for line in sums.read_text(encoding="utf-8").splitlines():
        expected, name = line.split(maxsplit=1)
        path = folder / name.lstrip("*")
        if not path.is_file():
            yield Point(WRONG, f"{path} is missing", restore)
        elif hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            text = f"{path} is not as it came with the course: no number will be right"
            yield Point(WRONG, text, restore)
        else:
            names.append(path.name)
    if names:
        yield Point(OK, f"texts: {' and '.join(names)} are as they came")
    if own := os.environ.get("COURSE_CORPUS"):
        if Path(own).expanduser().is_file():
            text = f"COURSE_CORPUS is set: the lessons read {own}, not the story"
            yield Point(NOTE, text)
        else:
            text = f"COURSE_CORPUS names {own}, and there is no such file"
            yield Point(WRONG, text, "Correct the variable, or remove it.")


def check_notebooks(folder: Path = ROOT / "notebooks") -> Iterator[Point]:
    """All lessons can be read: a merge or an editor may have damaged one."""
    restore = (
        f'Your answers in it are lost if you type: git -C "{ROOT}" restore notebooks'
    )
    paths = sorted(folder.glob("??_*.ipynb"))
    fine = 0
    for path in paths:
        try:
            if not json.loads(path.read_text(encoding="utf-8"))["cells"]:
                raise ValueError("no cells")
            fine += 1
        except (OSError, ValueError, LookupError, TypeError):
            yield Point(WRONG, f"{path} is no notebook any more", restore)
    if fine:
        yield Point(OK, f"{fine} lessons in {folder}")
    if not paths:
        text = f"no lessons in {folder}: they come with the course's repository"
        remedy = "Get a copy of the repository, and install the course in its folder."
        yield Point(WRONG, text, remedy)


def check_folders(folders: dict[str, Path] | None = None) -> Iterator[Point]:
    """Where the lessons write, and Jupyter: each must let them, and have room."""
    if folders is None:
        temporary = Path(tempfile.gettempdir())
        cache = os.environ.get("HF_HOME") or "~/.cache/huggingface"
        folders = {
            "the lessons": ROOT / "notebooks",
            "temporary files": temporary,
            "downloaded or converted texts": Path(cache).expanduser(),
        }
        if importlib.util.find_spec("jupyter_core"):
            from jupyter_core.paths import jupyter_runtime_dir

            folders["Jupyter's own files"] = Path(jupyter_runtime_dir())
    fine = []
    for purpose, folder in folders.items():
        place = next(p for p in (folder, *folder.parents) if p.exists())
        try:
            # os.access knows no full disks and no network folders: write something.
            with tempfile.TemporaryFile(dir=place) as file:
                file.write(b"0" * 4096)
        except OSError as error:
            text = f"nothing can be written to {folder}, the folder for {purpose}"
            essential = folder != ROOT / "notebooks"
            remedy = "Change its permissions, or copy the course to your own folder."
            yield Point(
                WRONG if essential else NOTE, f"{text} ({error.strerror})", remedy
            )
            continue
        free = shutil.disk_usage(place).free
        if free < GIGABYTE:
            text = f"only {free / GIGABYTE:.1f} GB free for {purpose}, in {place}"
            yield Point(NOTE, text, "Free some: 1 GB is enough for every lesson.")
        else:
            fine.append(purpose)
    if fine:
        yield Point(OK, f"folders that can be written: for {', '.join(fine)}")


def check_machine(
    memory: tuple[int, int] | None = None, cores: int | None = None
) -> Iterator[Point]:
    """Memory, all of it and what is free, and processor cores."""
    if memory is None and importlib.util.find_spec("psutil"):
        import psutil

        found = psutil.virtual_memory()
        memory = found.total, found.available
    if memory:
        total, free = (size / GIGABYTE for size in memory)
        text = f"memory: {total:.1f} GB, {free:.1f} GB of it free"
        if free < 2:
            remedy = "A lesson takes up to 2 GB: close what you do not need."
            yield Point(NOTE, text, remedy)
        else:
            yield Point(OK, text)
    if cores is None:
        affinity = getattr(os, "sched_getaffinity", None)
        cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    text = f"processor cores: {cores}"
    if cores < 2:
        yield Point(NOTE, f"{text}; lessons take longer than they say, with only one")
    else:
        yield Point(OK, text)


def check_imports(names: Iterable[str] = IMPORTED) -> Iterator[Point]:
    """Import packages in a new process: one that is damaged cannot end this one."""
    names = [name for name in names if importlib.util.find_spec(name)]
    program = (
        "import sys\n"
        "for name in sys.argv[1:]: print(name, flush=True); __import__(name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *names],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env=_environment(),
    )
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


def check_kernel(
    notebook: Path | None = None,
    kernel_name: str = "python3",
    seconds: float = KERNEL_SECONDS,
) -> Iterator[Point]:
    """Start a kernel as JupyterLab does, and run the first cells of a lesson in it."""
    if importlib.util.find_spec("jupyter_client") is None:
        yield Point(
            WRONG, "no kernel: jupyter_client is not installed", install_again()
        )
        return
    from jupyter_client.kernelspec import NoSuchKernel
    from jupyter_client.manager import KernelManager

    notebook = notebook or ROOT / "notebooks" / "01_next_token_shifting.ipynb"
    cells = [
        "".join(cell["source"])
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ][:FIRST_CELLS]
    began = time.monotonic()
    manager = KernelManager(kernel_name=kernel_name)
    register = _typed("-m", "ipykernel", "install", "--sys-prefix")
    try:
        manager.start_kernel(
            cwd=str(notebook.parent),
            env=_environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except NoSuchKernel:
        text = f"Jupyter knows no kernel {kernel_name!r}: notebooks cannot run"
        yield Point(WRONG, text, f"Type: {register}")
        return
    except OSError as error:
        text = f"the kernel {kernel_name!r} cannot be started: {error}"
        yield Point(
            WRONG, text, f"It may be that of a removed Python. Type: {register}"
        )
        return
    client = manager.client()
    try:
        client.start_channels()
        try:
            client.wait_for_ready(timeout=seconds)
        except RuntimeError:
            text = f"the kernel {kernel_name!r} starts, but does not answer"
            remedy = _pip("--force-reinstall", "ipykernel")
            yield Point(WRONG, text, remedy)
            return
        for number, source in enumerate(cells, start=1):
            if problem := _run_cell(manager, client, source, seconds):
                text = f"cell {number} of {notebook.name} does not run: {problem}"
                yield Point(WRONG, text, install_again())
                return
        prefix = []
        probe = "import sys; print(sys.prefix)"
        _run_cell(manager, client, probe, seconds, output=prefix.append)
        took = time.monotonic() - began
        other = "".join(prefix).strip()
        if other and not os.path.samefile(other, sys.prefix):
            text = f"notebooks run in another Python than this one: {other}"
            remedy = f"It works; but install packages there. To change it: {register}"
            yield Point(NOTE, text, remedy)
        text = f"a kernel starts and runs the first cells of {notebook.name}"
        yield Point(OK, f"{text}, in {took:.0f} s")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _run_cell(
    manager: object,
    client: object,
    source: str,
    seconds: float,
    output: Callable[[str], object] = lambda text: None,
) -> str:
    """Run a cell; return what went wrong, or nothing."""
    asked = client.execute(source, store_history=False)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            message = client.get_iopub_msg(timeout=0.5)
        except queue.Empty:
            if not manager.is_alive():
                return "the kernel has died"
            continue
        if message["parent_header"].get("msg_id") != asked:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "error":
            return f"{content['ename']}: {content['evalue'].splitlines()[0][:200]}"
        if kind == "stream":
            output(content["text"])
        if kind == "status" and content["execution_state"] == "idle":
            return ""
    return f"it has not ended after {seconds:.0f} seconds"
