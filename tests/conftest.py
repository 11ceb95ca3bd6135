"""All tests run offline: this process by pytest-socket's options, the notebooks' kernels by their startup file."""

import os

import pytest
from hypothesis import settings

from kernel_environment import pytest_configure, pytest_xdist_auto_num_workers, pytest_xdist_make_scheduler

__all__ = ["pytest_configure", "pytest_xdist_auto_num_workers", "pytest_xdist_make_scheduler"]

# A property that takes long on a busy machine is no failure.
settings.register_profile("course", deadline=None)
settings.load_profile("course")


@pytest.fixture(scope="session")
def forks() -> dict[str, str]:
    """The variables with which Jupyter finds kernels that are forked: tests/forked_kernels.py."""
    return {name: os.environ[name] for name in ["JUPYTER_PATH"] if name in os.environ}


@pytest.fixture(autouse=True)
def kernels_start_as_readers_start_them(forks, monkeypatch):
    """Only lessons have kernels that are forked; what a test starts itself is a real one."""
    monkeypatch.delenv("JUPYTER_PATH", raising=False)
