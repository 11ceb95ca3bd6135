"""All tests run offline: this process by pytest-socket's options, the notebooks' kernels by their startup file."""

from hypothesis import settings

from kernel_environment import pytest_configure, pytest_xdist_auto_num_workers, pytest_xdist_make_scheduler

__all__ = ["pytest_configure", "pytest_xdist_auto_num_workers", "pytest_xdist_make_scheduler"]

# A property that takes long on a busy machine is no failure.
settings.register_profile("course", deadline=None)
settings.load_profile("course")
