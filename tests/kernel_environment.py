"""The environment in which notebooks run as tests: offline, without progress bars, away from personal settings."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

LOOPBACK = ["127.0.0.1", "::1"]  # a kernel talks to whoever runs it

STARTUP = f"""
from pytest_socket import socket_allow_hosts
socket_allow_hosts({LOOPBACK}, allow_unix_socket=True)
"""


def kernel_environment(directory: Path) -> dict[str, str]:
    """Prepare `directory` as the IPython settings of the kernels, and return the variables that make them use it."""
    startup = directory / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    (startup / "00-offline.py").write_text(STARTUP, encoding="utf-8")
    return {
        "IPYTHONDIR": str(directory),
        "COURSE_PROGRESS": "0",
        "HF_HUB_OFFLINE": "1",
        # Sums of floats depend on how many threads share them; outputs must not depend on a machine's cores.
        "OMP_NUM_THREADS": "1",
        # Tests share the cores already: threads of a tokenizer on top would only wait for one another.
        "TOKENIZERS_PARALLELISM": "false",
    }


def pytest_configure(config: pytest.Config) -> None:
    """What conftest.py imports: kernels inherit the environment of the process that starts them."""
    directory = tempfile.TemporaryDirectory(prefix="course-ipython-")
    config.add_cleanup(directory.cleanup)
    os.environ.update(kernel_environment(Path(directory.name)))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Share tests out to processes file by file, a notebook's cells sharing a kernel; but a run of a whole lesson
    within a file by itself. What takes longest begins first, so that no process is left alone with it at the end.
    """

    def is_a_lesson(item: pytest.Item) -> bool:
        return item.path.suffix == ".ipynb" or item.get_closest_marker("whole_lesson") is not None

    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            alone = item.get_closest_marker("whole_lesson") is not None
            item.add_marker(pytest.mark.xdist_group(item.nodeid if alone else str(item.path)))
    items.sort(key=lambda item: not is_a_lesson(item))
