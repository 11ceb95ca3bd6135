"""The environment in which notebooks run as tests: offline, without progress bars, away from personal settings."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

import forked_kernels

WHOLE_LESSON = "test_runs_through_on_another_corpus"
CLUSTER = "tests/test_many_machines.py"
# Tables: an item is all rows of a lesson or of a module. A lesson's rows share what has been worked out for them.
TABLES = (
    "tests/test_wrong_answers.py",
    "tests/test_exercises.py",
    "tests/test_hostile_calls.py",
    "tests/test_checker_numbers.py",
)
# Other files of few tests that take long.
LONG = (
    "tests/test_grading_nbgrader.py",
    "tests/test_classroom_slides.py",
    "tests/test_long_documents.py",
    "tests/test_bpe.py",
    "tests/test_anywhere.py",
    "tests/test_token_shards.py",
    "tests/test_classroom_book.py",
    "tests/test_checker.py",
    "tests/test_layout.py",
)
LOOPBACK = ["127.0.0.1", "::1"]  # a kernel talks to whoever runs it

STARTUP = f"""
from pytest_socket import socket_allow_hosts
socket_allow_hosts({LOOPBACK}, allow_unix_socket=True)
"""


def kernel_environment(directory: Path, startup_code: str = STARTUP) -> dict[str, str]:
    """Prepare `directory` as the IPython settings of the kernels, and return the variables that make them use it."""
    startup = directory / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    (startup / "00-offline.py").write_text(startup_code, encoding="utf-8")
    return {
        "IPYTHONDIR": str(directory),
        "COURSE_PROGRESS": "0",
        # What is used with a mouse has an identity of its own each time it is shown.
        "COURSE_WIDGETS": "0",
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
    if forked_kernels.CAN_FORK and not hasattr(config, "workerinput"):  # one for all processes
        os.environ.update(forked_kernels.offer(Path(directory.name)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: those that wait for a cluster, a browser or a limit leave theirs idle."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
    """Share tests out to processes file by file, since the cells of a notebook share a kernel; but a run of a whole
    lesson within a file by itself. What takes long comes first, so that all processes end at about the same time.
    """
    return LongestFirst(config, log)


class LongestFirst(LoadScopeScheduling):
    def _split_scope(self, nodeid: str) -> str:
        if WHOLE_LESSON in nodeid:
            return nodeid
        file, _, test = nodeid.partition("::")
        if file in TABLES and "[" in test:
            return f"{TABLES[0]} and others [{test.partition('[')[2]}"
        return file

    def _assign_work_unit(self, node: object) -> None:
        self.workqueue.move_to_end(min(self.workqueue, key=self._turn), last=False)
        super()._assign_work_unit(node)

    def _turn(self, scope: str) -> tuple:
        """A cluster takes longest, then lessons, and they should not start clusters at the same time; the rest by
        the number of tests.
        """
        if scope.startswith(CLUSTER):
            return (0,)
        if scope.startswith("notebooks") or WHOLE_LESSON in scope:
            return (1, scope)
        return (2 if scope.startswith((*LONG, *TABLES)) else 3, -len(self.workqueue[scope]))
