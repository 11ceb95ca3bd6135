"""Notebooks are tests, also when only this folder is run: in the same environment as all others."""

from kernel_environment import pytest_configure, pytest_xdist_make_scheduler

__all__ = ["pytest_configure", "pytest_xdist_make_scheduler"]
